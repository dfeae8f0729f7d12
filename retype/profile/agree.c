/*
 * Units are compared one by one with those that the program has: the digest of the interface, if
 * both are known, and the number of fields of the unit's block.
 */
#include "retype/profile/agree.h"

#include "base/assert.h"
#include "snapshot/process.h"

#include <stdio.h>
#include <string.h>

/*
 * The last field of a unit whose code calls methods of objects: an array of integers, one for each
 * call, in which the runtime notes where it found the method.
 */
static bool ends_with_method_cache(const struct snap_unit *block, const struct snap *snap)
{
	enum { MOST_CALLS = 1 << 20 };
	uint64_t cache, header, word;
	if (!snap_process_word(snap, snap_unit_field(block, block->wosize - 1), &cache) ||
		cache & 7 || !snap_process_word(snap, snap_pointed_header(cache).a, &header))
		return false;
	uint64_t wosize = snap_header_wosize(header, snap->reserved);
	if ((header & 255) != 0 || wosize == 0 || wosize > MOST_CALLS)
		return false;
	for (uint64_t i = 0; i < wosize; i++)
		if (!snap_process_word(snap, cache + 8 * i, &word) || !(word & 1))
			return false;
	return true;
}

static enum retype_agreement compare(
	const struct retype_unit *unit, const struct snap_unit *block, const struct snap *snap)
{
	if (unit->crc[0] && block->crc[0] && strcmp(unit->crc, block->crc) != 0)
		return RETYPE_UNIT_STALE;
	/* With flambda a unit's block has only the fields of its interface, and of some units only
	 * the interface is known. */
	bool is_size =
		block->wosize == unit->field_count || block->wosize == unit->exported ||
		(unit->from_interface && block->wosize >= unit->exported) ||
		(block->wosize == unit->field_count + 1 && ends_with_method_cache(block, snap));
	return is_size ? RETYPE_UNIT_SAME : RETYPE_UNIT_REBUILT;
}

struct tally {
	uint64_t same, rebuilt, stale;
	const char *first_rebuilt, *first_stale;
};

static void count_unit(struct retype_unit *unit, const struct snap_unit *block,
	const struct snap *snap, struct tally *tally)
{
	enum retype_agreement agreement = compare(unit, block, snap);
	/* Units of one name, as of a plugin, are believed if all of them agree. */
	if (agreement > unit->agreement)
		unit->agreement = agreement;
	switch (agreement) {
	case RETYPE_UNIT_SAME:
		tally->same++;
		break;
	case RETYPE_UNIT_REBUILT:
		if (!tally->rebuilt++)
			tally->first_rebuilt = block->name;
		break;
	case RETYPE_UNIT_STALE:
		if (!tally->stale++)
			tally->first_stale = block->name;
		break;
	}
}

enum hg_status retype_check_program(struct retype_types *types, const struct snap *snap, char *odd,
	size_t size, struct hg_error *error)
{
	struct tally tally = {0};
	uint64_t compared = 0;
	odd[0] = '\0';
	for (uint64_t i = 0; i < snap->unit_count; i++) {
		uint32_t number = retype_unit_named(types, snap->units[i].name);
		if (number == RETYPE_NONE || !types->units[number].fields)
			continue;
		count_unit(&types->units[number], &snap->units[i], snap, &tally);
		compared++;
	}
	uint64_t wrong = tally.stale + tally.rebuilt;
	base_assert(wrong + tally.same == compared);
	base_assert(compared <= snap->unit_count);
	(void)compared;
	const char *first = tally.first_stale ? tally.first_stale : tally.first_rebuilt;
	if (wrong > tally.same)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"is of another program or stale: %llu of its %llu units are not those of "
			"the snapshot, unit %s for one",
			(unsigned long long)wrong, (unsigned long long)(wrong + tally.same), first);
	if (snap->unit_count && tally.same == 0)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"is of another program: it has none of the snapshot's %llu units",
			(unsigned long long)snap->unit_count);
	if (tally.stale)
		snprintf(odd, size,
			"unit %s%s of the program %s another interface; %s types are not used",
			tally.first_stale, tally.stale > 1 ? " and others" : "",
			tally.stale > 1 ? "have" : "has", tally.stale > 1 ? "their" : "its");
	else if (tally.rebuilt)
		snprintf(odd, size, "unit %s%s of the program %s other values; only %s used",
			tally.first_rebuilt, tally.rebuilt > 1 ? " and others" : "",
			tally.rebuilt > 1 ? "have" : "has",
			tally.rebuilt > 1 ? "interfaces are" : "its interface is");
	return HG_OK;
}
