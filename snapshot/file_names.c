/* Names of snapshots, cut at their dots. */
#include "snapshot/file_names.h"

#include <string.h>

struct snap_name snap_name_split(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *start = slash ? slash + 1 : path;
	size_t length = strlen(start);
	if (length > 4 && memcmp(start + length - 4, ".zst", 4) == 0)
		length -= 4;
	const char *end = start + length;
	struct snap_name name = {0};
	while (start <= end) {
		const char *dot = memchr(start, '.', (size_t)(end - start));
		if (!dot || name.count == SNAP_NAME_PARTS - 1)
			dot = end;
		name.parts[name.count] = start;
		name.lengths[name.count++] = (unsigned)(dot - start);
		start = dot + 1;
	}
	return name;
}

bool snap_name_part_is(const struct snap_name *name, unsigned part, const char *text)
{
	return part < name->count && strlen(text) == name->lengths[part] &&
	       memcmp(name->parts[part], text, name->lengths[part]) == 0;
}

bool snap_name_part_number(const struct snap_name *name, unsigned part, uint64_t *out)
{
	if (part >= name->count || name->lengths[part] == 0 || name->lengths[part] > 18)
		return false;
	uint64_t value = 0;
	for (unsigned i = 0; i < name->lengths[part]; i++) {
		char digit = name->parts[part][i];
		if (digit < '0' || digit > '9')
			return false;
		value = value * 10 + (uint64_t)(digit - '0');
	}
	*out = value;
	return true;
}
