/*
 * The trace of memtrace that tells of the blocks of a snapshot where they were allocated: opened
 * with the snapshot, read when blocks have ranks and before they get types, closed then.
 */
#ifndef QUERY_JOIN_JOIN_H
#define QUERY_JOIN_JOIN_H

#include "query/shared/query.h"
#include "query/trace/calls.h"

struct query_join {
	struct hg_trace *trace; /* NULL once it was read */
	char *path;
	struct hg_join result;
	bool is_read;
};

/*
 * HG_ERROR_USAGE if the file is no trace of memtrace, or there is no process behind the snapshot;
 * HG_ERROR_INPUT if it cannot be read, or is of another process.
 */
enum hg_status query_join_open(struct hg_snapshot *snapshot, const char *path);

/*
 * Finds the allocations of blocks in the trace, if there is one, and adds where they were to the
 * snapshot.  HG_ERROR_INPUT if no block has an id, or the trace is of another run.
 */
enum hg_status query_join_read(struct hg_snapshot *snapshot);

void query_join_release(struct query_join *join);

/* A block with an id, and what the trace says of it. */
struct query_joined {
	struct snap_tracked tracked;
	enum {
		QUERY_JOIN_MISSING,
		QUERY_JOIN_DIFFERS,
		QUERY_JOIN_UNPLACED,
		QUERY_JOIN_PLACED
	} state;
	uint32_t node, code; /* of a placed one: in the tree of calls, and the innermost */
};

/* All of the trace: each node of the tree of calls is a code. */
struct query_joining {
	struct hg_snapshot *snapshot;
	struct hg_trace *trace;
	struct hg_error *error;
	struct query_joined *blocks; /* by address */
	uint64_t count, capacity;
	struct base_map by_id;
	struct query_calls calls;
	uint32_t *codes; /* each its number: what the nodes are told by */
	uint64_t code_count, code_capacity;
};

/* Adds the locations and call stacks of placed blocks to the snapshot. */
enum hg_status query_join_place(struct query_joining *joining);

#endif
