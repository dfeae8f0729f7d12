/*
 * Of heapgraph.h: a snapshot and a trace of memtrace of the same run (hg_input.memtrace).  memtrace
 * has Gc.Memprof keep the number of each sampled block in the trace, its object id; so blocks of a
 * core get the call stacks that the trace has of them.  They are where all else that tells where
 * blocks were allocated is: locations, keys, frames.
 */
#ifndef HEAPGRAPH_JOIN_H
#define HEAPGRAPH_JOIN_H

#include "heapgraph/nodes.h"
#include "heapgraph/trace.h"

/* Of the blocks of the snapshot that have an id: ids = placed + unplaced + missing + differing. */
struct hg_join {
	const char *trace;
	uint64_t ids;
	uint64_t placed;    /* the trace tells where they were allocated */
	uint64_t unplaced;  /* it has them without: a call stack cut short, code without -g */
	uint64_t missing;   /* it has no such id: it was not written yet, or is lost */
	uint64_t differing; /* it has another size there, or other samples */
	struct hg_trace_losses losses;
};

/* NULL without a trace, and before the analysis.  It lives as long as the snapshot. */
HG_API const struct hg_join *hg_snapshot_join(const struct hg_snapshot *snapshot);

/*
 * A place where blocks were allocated that Gc.Memprof samples: what of it there is.  The estimate
 * is of all bytes made there that are in the snapshot, sampled or not, with its standard error;
 * both HG_UNKNOWN if the rate is not known.  Retained is what the sampled blocks do.
 */
struct hg_join_site {
	uint32_t location; /* for hg_location_name() */
	uint64_t blocks, bytes;
	uint64_t estimated_bytes, estimated_error;
	uint64_t retained_bytes, retained_offheap_bytes;
	uint32_t type; /* of most of the blocks, for hg_type_name(); 0: it is not known */
	uint64_t type_blocks;
	hg_node holder; /* the root that alone keeps most of them; HG_NO_NODE: none does */
	uint64_t holder_blocks;
};

struct hg_join_sites {
	size_t count;
	struct hg_join_site *
		*rows;          /* by retained bytes (hg_options.weight) descending, then name */
	uint64_t blocks, bytes; /* of all rows */
};

/* Of a snapshot without any: no rows. */
HG_API enum hg_status hg_list_join_sites(struct hg_snapshot *snapshot, struct hg_join_sites **out);
HG_API void hg_join_sites_release(struct hg_join_sites **sites);

#endif
