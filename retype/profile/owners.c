/*
 * Profiles say it of each unit (docs/exe-prof.md); older ones do not, nor does what the compiler of
 * 4.00.1 left.  Then the standard library is known by its names, and of other units those are
 * libraries that were compiled elsewhere than the unit which was linked last, the main one.
 */
#include "retype/profile/owners.h"

#include "retype/types/standard.h"

#include <string.h>

/*
 * Where the unit was compiled that was linked last; "" if that is not known.  Behind Std_exit,
 * which ends every program, come the units of plugins.
 */
static const char *folder_of_main(const struct retype_types *types, const struct snap *snap)
{
	uint64_t end = snap->unit_count;
	for (uint64_t i = 0; i < snap->unit_count; i++)
		if (strcmp(snap->units[i].name, "Std_exit") == 0)
			end = i;
	for (uint64_t i = end; i-- > 0;) {
		uint32_t number = retype_unit_named(types, snap->units[i].name);
		if (number != RETYPE_NONE && !retype_is_standard_unit(snap->units[i].name))
			return types->units[number].builddir;
	}
	return "";
}

void retype_find_owners(struct retype_types *types, const struct snap *snap)
{
	const char *folder = types->unit_count ? folder_of_main(types, snap) : "";
	for (uint32_t i = 0; i < types->unit_count; i++) {
		struct retype_unit *unit = &types->units[i];
		if (unit->owner != RETYPE_OWNER_UNTOLD)
			continue;
		bool elsewhere = folder[0] && unit->builddir && unit->builddir[0] &&
				 strcmp(unit->builddir, folder) != 0;
		unit->owner = retype_is_standard_unit(unit->name) || elsewhere ? RETYPE_LIBRARY
									       : RETYPE_OWN;
	}
}
