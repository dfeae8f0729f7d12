/*
 * Of heapgraph.h: what changed between two profiles over time, two traces of memtrace or two series
 * of Spacetime.
 *
 * Amounts of traces are estimates in bytes, each by the rate of its own trace; those of series are
 * exact.  What is compared goes together by its name: locations have lines and columns, which
 * another build moves, while names of functions and files stay.
 */
#ifndef HEAPGRAPH_TRACE_DIFF_H
#define HEAPGRAPH_TRACE_DIFF_H

#include "heapgraph/spacetime.h"

enum hg_trace_diff_key {
	HG_TRACE_DIFF_LOCATION, /* of the allocation, as hg_list_trace(), or the places of series */
	HG_TRACE_DIFF_FUNCTION, /* with all that it calls; not of series */
	HG_TRACE_DIFF_FILE,     /* of the location */
	HG_TRACE_DIFF_TREE      /* calls from the outermost one inwards, recursion removed */
};

enum hg_trace_diff_measure {
	HG_TRACE_DIFF_ALLOCATED, /* bytes; of series in the whole run, or up to the snapshot */
	HG_TRACE_DIFF_LIVE,      /* bytes alive at the end, or in the snapshot */
	HG_TRACE_DIFF_PEAK,      /* bytes alive when most was; not of series */
	HG_TRACE_DIFF_PROMOTED,  /* bytes; not of series */
	HG_TRACE_DIFF_BLOCKS,    /* alive in the snapshot; of series alone */
	HG_TRACE_DIFF_MEASURES
};

struct hg_trace_diff_options {
	size_t size;
	enum hg_trace_diff_key by;
	enum hg_trace_diff_measure count; /* by which rows are ordered */
	struct hg_spacetime_choice at;    /* of both series */
};

/*
 * 'error' is the standard error of the difference by sampling: the root of the sum of the squares
 * of those of both.  It is 0 where all is exact.
 */
struct hg_trace_change {
	uint64_t before, after;
	uint64_t error;
	/*
	 * They differ by more than twice the error, and twice what two samplings of one amount at
	 * these rates do: 5 % do so by chance.
	 */
	bool beyond_noise;
};

struct hg_trace_diff_node {
	uint32_t parent, depth; /* of node 0: 0 */
	const char *name;       /* as of rows and nodes of one profile; lives as long as 'newer' */
	uint64_t samples_before, samples_after; /* of traces: allocated */
	struct hg_trace_change changes[HG_TRACE_DIFF_MEASURES];
	bool changed;     /* some measure of it, or of a node below it, differs */
	uint64_t largest; /* difference in what is counted, of it and the nodes below it */
};

/* What was compared. */
struct hg_trace_diff_side {
	const struct hg_trace_info *trace;      /* NULL: a series */
	const struct hg_spacetime_info *series; /* NULL: a trace */
	bool any_snapshot;                      /* of series; else nothing is known to be alive */
	uint64_t snapshot;
	double time;
	uint64_t unknown; /* words in the snapshot that have no place of allocation */
	struct hg_trace_losses losses;
};

/*
 * Node 0 is all that counts.  By tree the nodes are in preorder, else all stand below node 0; those
 * come first whose 'largest' is, then by name.  What did not change is there too.
 */
struct hg_trace_diff {
	size_t count;
	const struct hg_trace_diff_node *const *nodes;
	struct hg_trace_diff_side older, newer;
};

/*
 * Both must be open in one session, be of one format and have words of one size, else
 * HG_ERROR_USAGE; filters of traces apply.  HG_ERROR_INPUT for a series that is not complete, as
 * its places are not known.  NULL options: by location, what is allocated.
 */
HG_API enum hg_status hg_diff_traces(struct hg_trace *older, struct hg_trace *newer,
	const struct hg_trace_diff_options *options, struct hg_trace_diff **out);
HG_API void hg_trace_diff_release(struct hg_trace_diff **diff);

#endif
