/*
 * Names that occur again and again in a trace, each kept once: functions and files.  A name is any
 * bytes; its number is the order of its first occurrence, so that no result depends on a hash.
 */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include "base/hash.h"
#include "base/pool.h"

/* A zeroed one is empty.  About 40 bytes a name and its bytes. */
struct trace_names {
	struct trace_names_entry {
		const char *bytes; /* with a NUL after it; of the pool */
		uint32_t length;
		uint32_t next; /* with the same hash: number + 1, 0 ends */
	} * names;
	uint64_t count, capacity;
	struct base_map by_hash; /* to the last name of a hash */
	struct base_pool pool;
};

void trace_names_release(struct trace_names *names);

/* The number of a name, which is added if it is new.  HG_ERROR_LIMIT if memory runs out. */
enum hg_status trace_names_add(struct trace_names *names, const void *bytes, size_t length,
	uint32_t *number, struct hg_error *error);

/* With a NUL at its end; valid as long as the names. */
static inline const char *trace_name(const struct trace_names *names, uint32_t number)
{
	return names->names[number].bytes;
}

#endif
