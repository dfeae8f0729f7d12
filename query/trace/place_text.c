/* Places as text. */
#include "query/trace/place_text.h"

#include <inttypes.h>
#include <stdio.h>

char *query_place_text(const struct memtrace_locations *locations, uint32_t number, uint32_t index)
{
	const struct memtrace_code *code = &locations->codes[number];
	char *text;
	int length;
	if (index < code->count) {
		const struct memtrace_location *location =
			&locations->locations[code->first + index];
		length = asprintf(&text, "%s@%s:%" PRIu32 ":%u-%u",
			trace_name(&locations->names, location->function),
			trace_name(&locations->names, location->file), location->line,
			location->start, location->end);
	} else {
		length = asprintf(&text, "$%" PRIu64, code->code);
	}
	return length < 0 ? NULL : text;
}
