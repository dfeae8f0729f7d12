/*
 * How a place in the source is written: function@file:line:start-end, as memtrace's tools do.
 */
#ifndef QUERY_TRACE_PLACE_TEXT_H
#define QUERY_TRACE_PLACE_TEXT_H

#include "trace/memtrace/locations.h"

/*
 * Of location 'index' of a code, outermost first; "$CODE" where a code has none.  From malloc; NULL
 * if there is no memory.
 */
char *query_place_text(const struct memtrace_locations *locations, uint32_t number, uint32_t index);

#endif
