/*
 * Of heapgraph.h: profiles over time.  A trace of memtrace holds samples of what a program
 * allocated, with call stacks, and when each sampled block was promoted and collected.
 *
 * Estimates: every word allocated, headers included, is sampled with the probability 'rate', so
 * that n samples stand for n / rate words; the standard error of that is about its sqrt(n)-th part.
 */
#ifndef HEAPGRAPH_TRACE_H
#define HEAPGRAPH_TRACE_H

#include "heapgraph/session.h"

struct hg_trace;

struct hg_trace_options {
	size_t size;
	bool strict; /* what is damaged is HG_ERROR_INPUT, and not left out */
};

/* Whether a file begins like a trace or a series; false too if it cannot be read. */
HG_API bool hg_is_trace(struct hg_session *session, const char *path);

/* The file stays mapped until the trace is closed; a trace belongs to its session. */
HG_API enum hg_status hg_trace_open(struct hg_session *session, const char *path,
	const struct hg_trace_options *options, struct hg_trace **out);
HG_API void hg_trace_close(struct hg_trace *trace);

/* What was left out, or is not as it should be; all 0 in a file without damage. */
struct hg_trace_losses {
	uint64_t cut_bytes;          /* at the end, of a packet that is not all there */
	uint64_t skipped_bytes;      /* where a packet should begin and none does */
	uint64_t damaged_packets;    /* left where they could not be read */
	uint64_t foreign_packets;    /* of other processes */
	uint64_t missing_objects;    /* ids that no packet has */
	uint64_t unknown_objects;    /* promotions and collections of such */
	uint64_t clamped_times;      /* events before others of their domain, or their packet */
	uint64_t recovered_places;   /* locations that long lines spoilt */
	uint64_t suspect_backtraces; /* after a loss, until it was sure that they are right */
	uint64_t unverified_packets; /* whose backtraces are not as they were written */
	/* of series */
	uint64_t unknown_nodes;  /* of calls, whose fields could not be told apart */
	uint64_t damaged_nodes;  /* that lead nowhere, or to where they must not */
	uint64_t damaged_values; /* snapshots and tries that could not be read */
	const char *first;       /* of all these, in words; NULL: nothing is lost */
	uint64_t first_offset;
};

/* Words are 'word_bytes' bytes; samples stand for words. */
enum hg_trace_format { HG_TRACE_MEMTRACE, HG_TRACE_SPACETIME };

struct hg_trace_info {
	const char *path;
	enum hg_trace_format format; /* of Spacetime nothing else is told here: spacetime.h */
	unsigned version;            /* of the format */
	uint64_t file_bytes;
	const char *executable, *host, *parameters, *context; /* "" if not known */
	uint64_t pid;
	uint64_t start_us; /* since the epoch */
	double rate;
	unsigned word_bytes;

	uint64_t packets, domains;
	uint64_t allocations, minor_allocations, major_allocations, external_allocations;
	uint64_t promotions, collections; /* events, of objects that are not known too */
	uint64_t truncated_backtraces;    /* the place of allocation is not known */
	uint64_t frames, deepest;         /* of all backtraces, and of the deepest one */
	uint64_t samples, minor_samples, promoted_samples;
	uint64_t major_collected_samples;                     /* promoted or allocated there */
	uint64_t samples_to_4, samples_to_16, samples_to_256; /* of blocks of so many words */
	uint64_t longest;                                     /* words of the largest block */
	uint64_t peak_samples, peak_us; /* most alive at once, and when that was first so */
	uint64_t live_samples;          /* never collected */
	uint64_t end_us;                /* time of the last event */
	struct hg_trace_losses losses;
};

/* What the file says of itself, without a look at its events: totals and losses are 0. */
HG_API const struct hg_trace_info *hg_trace_header(const struct hg_trace *trace);

/* What was lost when all events were read last. */
HG_API const struct hg_trace_losses *hg_trace_last_losses(const struct hg_trace *trace);

/* Reads all of the file.  The result belongs to the trace. */
HG_API enum hg_status hg_describe_trace(struct hg_trace *trace, const struct hg_trace_info **info);

/* What writes text: false ends it with HG_ERROR_OUTPUT. */
typedef bool hg_write_fn(void *data, const char *bytes, size_t length);

/*
 * Which allocations count for all further questions but hg_describe_trace() and hg_list_hotspots().
 * All clauses must hold; ranges are closed, times in microseconds since the start.
 */
struct hg_trace_range {
	uint64_t from, to;
};

enum hg_trace_heap { HG_TRACE_MINOR_HEAP, HG_TRACE_MAJOR_HEAP, HG_TRACE_EXTERNAL };

enum hg_trace_clause {
	HG_TRACE_INSIDE,     /* a frame of the stack is of it, or of what is inlined there */
	HG_TRACE_NOT_INSIDE, /* none is */
	HG_TRACE_HIDE        /* its frames are left out of stacks; nothing else is */
};

struct hg_trace_function_filter {
	enum hg_trace_clause clause;
	bool contains; /* the name is a part of the function's; else all of it */
	const char *name;
};

struct hg_trace_filter {
	size_t size;
	struct hg_trace_range allocated;
	struct hg_trace_range collected; /* what is alive at the end, then */
	struct hg_trace_range alive;     /* at some time of it */
	bool alive_at_peak;              /* of all that is allocated */
	bool alive_at_end;
	struct hg_trace_range block_bytes; /* without header */
	struct hg_trace_range lifetime;    /* microseconds; up to the end if never collected */
	/*
	 * A bit for each enum hg_trace_heap that does not count.  Without the minor heap, what is
	 * allocated there comes when it is promoted; without the major heap it is gone then.
	 */
	unsigned without;
	const struct hg_trace_function_filter *functions; /* at most 64 */
	size_t function_count;
};

/* One that all allocations fit. */
HG_API void hg_trace_filter_init(struct hg_trace_filter *filter);
/* NULL: all count.  The filter is copied. */
HG_API enum hg_status hg_trace_set_filter(
	struct hg_trace *trace, const struct hg_trace_filter *filter);

/* Every event, a line for each: what memtrace's dump_trace prints. */
HG_API enum hg_status hg_dump_trace(struct hg_trace *trace, hg_write_fn *write, void *data);

/*
 * Writes what counts as a trace of its own, of version 2 or above.  What must count as alive later
 * than it is allocated (HG_TRACE_MINOR_HEAP left out) is written as it was allocated.
 */
struct hg_trace_copy_options {
	size_t size;
	uint64_t one_in; /* each sample stays with the probability 1 / one_in; at least 1 */
	uint64_t seed;   /* of these: the same number, the same trace */
	bool anonymous;  /* without backtraces, program, host, process and time of day */
};

HG_API enum hg_status hg_copy_trace(struct hg_trace *trace,
	const struct hg_trace_copy_options *options, hg_write_fn *write, void *data);

/* What is alive over time, at 'points' equal steps up to the end: the last values at or before. */
struct hg_trace_moment {
	uint64_t time_us;
	uint64_t live;      /* samples */
	uint64_t allocated; /* since the start */
};

struct hg_trace_course {
	size_t count;
	const struct hg_trace_moment *const *rows;
	uint64_t peak, peak_us; /* of all moments, also between these */
	struct hg_trace_losses losses;
};

/* HG_ERROR_USAGE for 0 points, or more than 10,000,000. */
HG_API enum hg_status hg_list_trace_course(
	struct hg_trace *trace, uint64_t points, struct hg_trace_course **out);
HG_API void hg_trace_course_release(struct hg_trace_course **course);

/*
 * The same by place of allocation: of so many places that have most over the whole time, and the
 * rest in one.  At most 10,000 points; 'most' 0: all places.  Names live as long as the trace.
 */
struct hg_trace_band {
	const char
		*name; /* function@file:line:start-end; "" where it is not told, and of the rest */
	bool is_rest;
	const uint64_t *alive; /* samples, at each point */
};

struct hg_trace_bands {
	size_t count, point_count;
	const struct hg_trace_band *const *rows; /* the most first, the rest last */
	const uint64_t *times_us;                /* since the start */
	struct hg_trace_losses losses;
	const uint64_t *all;    /* samples alive at each point, also of what does not count */
	uint64_t peak, peak_us; /* of what counts, between these points too */
};

HG_API enum hg_status hg_list_trace_bands(
	struct hg_trace *trace, uint64_t points, uint64_t most, struct hg_trace_bands **out);
HG_API void hg_trace_bands_release(struct hg_trace_bands **bands);

/*
 * Functions that allocate more than 0.5 % of all samples, as memtrace's hotspots has them: where,
 * and on behalf of whom.  'events' count allocations, not samples.
 */
struct hg_hotspot_place {
	uint32_t line;
	uint16_t start, end;
};

struct hg_hotspot_caller {
	const char *function;
	uint64_t events;  /* allocations of the hotspot below it */
	uint64_t samples; /* allocated by it and below it in all */
};

struct hg_hotspot {
	const char *function, *file;
	uint64_t samples;
	size_t place_count, caller_count; /* both the most first */
	const struct hg_hotspot_place *places;
	const struct hg_hotspot_caller *callers;
};

struct hg_hotspots {
	size_t count;
	const struct hg_hotspot *const *rows;
	uint64_t samples; /* in all */
	struct hg_trace_losses losses;
};

/* Names live as long as the trace. */
HG_API enum hg_status hg_list_hotspots(struct hg_trace *trace, struct hg_hotspots **out);
HG_API void hg_hotspots_release(struct hg_hotspots **hotspots);

/* What rows are about. */
enum hg_trace_key {
	HG_TRACE_BY_LOCATION, /* function@file:line:start-end of the allocation */
	HG_TRACE_BY_FUNCTION, /* with all that it calls; several times on a stack count once */
	HG_TRACE_BY_FILE      /* of the location of the allocation */
};

struct hg_trace_amounts {
	uint64_t samples;  /* allocated */
	uint64_t promoted; /* to the major heap, of those allocated in the minor one */
	uint64_t live;     /* at the end */
	uint64_t peak;     /* alive when most was */
};

struct hg_trace_row {
	const char *name; /* "" where the stack does not tell */
	struct hg_trace_amounts amounts;
};

struct hg_trace_rows {
	size_t count;
	const struct hg_trace_row *const *rows; /* by samples, the most first, then by name */
	struct hg_trace_amounts totals;         /* of all events */
	struct hg_trace_losses losses;
};

HG_API enum hg_status hg_list_trace(
	struct hg_trace *trace, enum hg_trace_key key, struct hg_trace_rows **out);
HG_API void hg_trace_rows_release(struct hg_trace_rows **rows);

/*
 * The tree of calls by function, recursion removed: of several calls of a function on one stack the
 * outermost stays.  Node 0 is the root; children come after their parents.
 */
enum hg_trace_order {
	HG_TRACE_BY_SAMPLES, /* of all below a node, the most first; then by name */
	HG_TRACE_BY_NAME
};

struct hg_trace_node {
	uint32_t parent; /* of the root: 0 */
	uint32_t depth;  /* of the root: 0 */
	const char *name;
	struct hg_trace_amounts own;   /* of stacks that end here */
	struct hg_trace_amounts total; /* with all below */
};

struct hg_trace_tree {
	size_t count;
	const struct hg_trace_node *const *nodes; /* in preorder */
	uint64_t all_samples; /* of all that counts, also if it is not in the tree */
	bool cut;             /* not all nodes are there */
	struct hg_trace_losses losses;
};

HG_API enum hg_status hg_list_trace_calls(
	struct hg_trace *trace, enum hg_trace_order order, struct hg_trace_tree **out);
/*
 * The same from the inside out: the children of a node are its callers, those that allocate stand
 * below the root.  Names live as long as the trace.
 */
struct hg_trace_callers_options {
	size_t size;
	const char *of; /* the calls of this function, with all below it; NULL: of what allocates */
	bool places; /* by place in the source, function@file:line:start-end, recursion and all */
	uint64_t min_samples; /* nodes with fewer are left out */
	uint64_t limit;       /* so many of the largest nodes; 0: all */
};

HG_API enum hg_status hg_list_trace_callers(struct hg_trace *trace,
	const struct hg_trace_callers_options *options, struct hg_trace_tree **out);
HG_API void hg_trace_tree_release(struct hg_trace_tree **tree);

/*
 * Runs of calls that account for at least 0.5 % of what counts, each as long as it can be; the most
 * first, without those that have one before them in them.  Names live as long as the trace.
 */
struct hg_hot_path {
	struct hg_trace_amounts amounts; /* of all stacks that the run is on */
	size_t length;
	const char *const *functions; /* the outermost first */
};

struct hg_hot_paths {
	size_t count;
	const struct hg_hot_path *const *rows;
	struct hg_trace_amounts totals;
	struct hg_trace_losses losses;
};

HG_API enum hg_status hg_list_hot_paths(struct hg_trace *trace, struct hg_hot_paths **out);
HG_API void hg_hot_paths_release(struct hg_hot_paths **paths);

/*
 * Call stacks by place in the source, of several calls at one place on a stack the outermost, for
 * other viewers: with what was allocated, and of that what is alive at one moment.
 */
enum hg_trace_moment_of { HG_TRACE_AT_END, HG_TRACE_AT_PEAK, HG_TRACE_AT_TIME };

struct hg_trace_frame {
	const char *function, *file; /* "$CODE" and "" where nothing is known */
	uint32_t line;               /* 0: not known */
};

struct hg_trace_stack {
	uint32_t parent; /* stands before it; of stack 0, which has no frame: 0 */
	uint32_t depth;
	uint32_t frame;                  /* the innermost one */
	uint64_t samples, alive_samples; /* of what is allocated by just this stack */
	/* estimates: a block of n words, its header too, is sampled n times as often as one word */
	uint64_t blocks, alive_blocks;
};

struct hg_trace_stacks {
	size_t count, frame_count;
	const struct hg_trace_stack *const *stacks;
	const struct hg_trace_frame *const *frames;
	uint64_t time_us; /* the moment */
	struct hg_trace_losses losses;
};

/* 'time_us' is of HG_TRACE_AT_TIME.  Names live as long as the trace. */
HG_API enum hg_status hg_list_trace_stacks(struct hg_trace *trace, enum hg_trace_moment_of moment,
	uint64_t time_us, struct hg_trace_stacks **out);
HG_API void hg_trace_stacks_release(struct hg_trace_stacks **stacks);

#endif
