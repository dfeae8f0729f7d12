/*
 * Of heapgraph.h: series of Spacetime, the profiler of OCaml 4.04 to 4.11.  A series is opened as a
 * trace (hg_trace_open); it holds snapshots of the heap by place of allocation, events that the
 * program named, and a trie of all calls with exact counts of what was allocated.
 *
 * What stands in a series is exact, but "live" is what no sweep had freed: garbage that was not
 * reached yet counts, the minor heap does not.  Words include headers and have 8 bytes.
 */
#ifndef HEAPGRAPH_SPACETIME_H
#define HEAPGRAPH_SPACETIME_H

#include "heapgraph/trace.h"

/* A snapshot or an event, in the order of the file. */
struct hg_spacetime_moment {
	bool is_event;
	double time; /* CPU seconds of the process, unless the program gave a time of its own */
	const char *name; /* of events */

	/* of snapshots */
	bool readable;          /* else all that follows is 0 */
	uint64_t blocks, words; /* not freed yet, where the place of allocation is known */
	uint64_t scanned;       /* words, known or not */
	uint64_t allocated;     /* words since the start */
	uint64_t places;        /* allocation points that have anything alive */
	uint64_t minor_words, promoted_words, major_words;
	uint64_t minor_collections, major_collections, heap_words, heap_chunks, compactions,
		top_heap_words;
};

struct hg_spacetime_info {
	const char *path;
	uint64_t file_bytes;
	const char *compiler; /* the versions of OCaml that write such a series */
	bool call_counts;
	const struct hg_spacetime_moment *moments;
	uint64_t moment_count, snapshot_count, event_count;

	bool complete;     /* the program ended by itself: all that follows is known */
	double close_time; /* CPU seconds */
	uint64_t tries, frames, shapes;
	uint64_t nodes, calls, points; /* points: of allocation, that were reached */
	uint64_t allocated;            /* words, of all points */
	uint64_t deepest;              /* frames of the deepest backtrace */
	uint64_t repaired; /* nodes that OCaml 4.11 wrote with parts missing, put in order */
	/* What must agree and does not: entries and their sum, totals that fall, places unknown. */
	uint64_t contradictions;
	struct hg_trace_losses losses;
};

/* Reads all of the file.  The result belongs to the trace. */
HG_API enum hg_status hg_describe_spacetime(
	struct hg_trace *trace, const struct hg_spacetime_info **info);

/* A snapshot of a series. */
enum hg_spacetime_snapshot_of {
	HG_SPACETIME_END, /* what is alive in the last one, and allocated up to the end */
	HG_SPACETIME_LAST,
	HG_SPACETIME_NUMBER,     /* in the order of the file, from 0 */
	HG_SPACETIME_PEAK,       /* the first with the most words alive */
	HG_SPACETIME_AFTER_EVENT /* the first after an event; if there is none, the last before it
				  */
};

struct hg_spacetime_choice {
	enum hg_spacetime_snapshot_of of;
	uint64_t number;
	const char *event;
};

/*
 * What is alive and was allocated at a place: the innermost one in OCaml that is known.  Names live
 * as long as the trace: "file:line:start-end"; "annotation N" where the series is not complete;
 * "" if no frame of the backtrace has a place.
 */
struct hg_spacetime_site {
	const char *location;
	bool in_c;               /* C code that was called there allocated */
	uint64_t blocks, words;  /* not freed yet in the snapshot */
	uint64_t allocated;      /* words up to the snapshot */
	uint64_t ever_allocated; /* words up to the end; 0 if the series is not complete */
	uint64_t points;         /* allocation points, one for each backtrace */
	const char *c_function;  /* that the place called, if the program is known; each is a row */
};

struct hg_spacetime_sites {
	size_t count;
	const struct hg_spacetime_site *const
		*rows;     /* the most words alive first, then allocated */
	bool any_snapshot; /* else nothing is known of what is alive */
	uint64_t snapshot;
	double time;
	struct hg_spacetime_site totals;
	uint64_t unknown; /* words scanned without a place of allocation */
	struct hg_trace_losses losses;
};

/* HG_ERROR_USAGE where there is no such snapshot or event. */
HG_API enum hg_status hg_list_spacetime_sites(struct hg_trace *trace,
	const struct hg_spacetime_choice *choice, struct hg_spacetime_sites **out);
HG_API void hg_spacetime_sites_release(struct hg_spacetime_sites **sites);

/* What is counted of calls, and the first three of places. */
enum hg_spacetime_count {
	HG_SPACETIME_ALLOCATED,     /* words, up to the end or the snapshot */
	HG_SPACETIME_LIVE,          /* words not freed yet in the snapshot */
	HG_SPACETIME_BLOCKS,        /* the same in blocks */
	HG_SPACETIME_CALLS,         /* direct calls up to the end, which OCaml 4.06 to 4.11 count */
	HG_SPACETIME_INDIRECT_CALLS /* calls of closures */
};

/*
 * Places of allocation over all snapshots.  A place 'grows' where what is counted becomes more from
 * every snapshot to the next, of three at least, by HG_LEAST_GROWTH bytes (of blocks: any number)
 * and a hundredth of the growth of all places in all.
 */
struct hg_spacetime_trend_moment {
	double time;
	bool readable; /* else all that follows is 0 */
	uint64_t blocks, words, allocated;
	uint64_t unknown; /* words scanned without a place of allocation */
};

struct hg_spacetime_trend_event {
	const char *name;
	double time;
	uint64_t snapshot; /* the number of the first one after it; as many as there are: none */
};

struct hg_spacetime_trend_point {
	uint64_t snapshot;
	uint64_t blocks, words; /* not freed yet */
	uint64_t allocated;     /* words since the start */
};

struct hg_spacetime_trend_row {
	const char *location; /* these as of hg_spacetime_site */
	bool in_c;
	const char *c_function;
	bool grows;
	uint64_t first, last; /* what is counted, in the first and the last readable snapshot */
	uint64_t most;        /* in any */
	uint64_t steps_up;    /* from one readable snapshot to the next */
	int64_t growth_share; /* ten-thousandths of the growth of all */
	size_t point_count;   /* snapshots that have something of it, in their order */
	const struct hg_spacetime_trend_point *points;
};

struct hg_spacetime_trend {
	size_t count, moment_count, event_count;
	/* What grows first, then what changed most; what ended as it began by what it was at most.
	 */
	const struct hg_spacetime_trend_row *const *rows;
	const struct hg_spacetime_trend_moment *const *moments; /* snapshots */
	const struct hg_spacetime_trend_event *const *events;
	uint64_t readable;    /* snapshots */
	uint64_t first, last; /* what is counted of all, in the first and the last readable one */
	struct hg_trace_losses losses;
};

/* HG_ERROR_USAGE for a count of calls.  Names live as long as the trace. */
HG_API enum hg_status hg_list_spacetime_trend(
	struct hg_trace *trace, enum hg_spacetime_count count, struct hg_spacetime_trend **out);
HG_API void hg_spacetime_trend_release(struct hg_spacetime_trend **trend);

struct hg_spacetime_view {
	size_t size;
	struct hg_spacetime_choice at;
	enum hg_spacetime_count count;
	bool all_frames; /* recursion stays, and trees are as deep as the program was */
};

/*
 * The tree of calls by place, from the outermost one inwards.  Unless all frames are asked for,
 * recursion is removed: of several calls at a place on one backtrace the outermost stays.  Frames
 * without a place, as those of C code, are left out; with a program (hg_spacetime_set_program) they
 * have the names of their functions.  Of amounts, 'samples' are what the view counts, 'promoted'
 * words allocated, 'live' words and 'peak' blocks alive in the snapshot; of calls the first alone.
 * HG_ERROR_USAGE if calls were not counted, HG_ERROR_INPUT if the series is not complete.
 */
HG_API enum hg_status hg_list_spacetime_calls(struct hg_trace *trace,
	const struct hg_spacetime_view *view, enum hg_trace_order order,
	struct hg_trace_tree **out);
/* The same from the inside out; 'places' of the options makes no difference. */
HG_API enum hg_status hg_list_spacetime_callers(struct hg_trace *trace,
	const struct hg_spacetime_view *view, const struct hg_trace_callers_options *options,
	struct hg_trace_tree **out);
/*
 * The same for other viewers: 'samples' are words allocated and 'alive_samples' words alive, of
 * blocks only those alive are known.
 */
HG_API enum hg_status hg_list_spacetime_stacks(
	struct hg_trace *trace, const struct hg_spacetime_view *view, struct hg_trace_stacks **out);

/*
 * Calls that OCaml code made, by the place that calls and the function that is called, summed over
 * all backtraces, up to the end.  Calls by C code are not counted in series.
 */
enum hg_spacetime_call_kind {
	HG_SPACETIME_DIRECT,
	HG_SPACETIME_INDIRECT, /* of a closure */
	HG_SPACETIME_TO_C
};

struct hg_spacetime_call {
	enum hg_spacetime_call_kind kind;
	/* "file:line:start-end"; the function that calls, if a program is known; or an address. */
	const char *site;
	/*
	 * "Unit.function" or the symbol of C code, if a program is known; else "function at
	 * FILE:LINE"; or an address.
	 */
	const char *callee;
	const char *callee_at; /* "file:line" of the first place in it that is known; "" */
	uint64_t calls;
	uint64_t paths; /* backtraces */
};

struct hg_spacetime_call_counts {
	size_t count;
	const struct hg_spacetime_call *const *rows; /* the most calls first, then by names */
	uint64_t direct, indirect, to_c;             /* calls */
	uint64_t paths, paths_by_c;                  /* of these, and of calls that C code made */
	struct hg_trace_losses losses;
};

/* HG_ERROR_USAGE if calls were not counted, HG_ERROR_INPUT if the series is not complete.  Names
 * live as long as the trace. */
HG_API enum hg_status hg_count_spacetime_calls(
	struct hg_trace *trace, struct hg_spacetime_call_counts **out);
HG_API void hg_spacetime_call_counts_release(struct hg_spacetime_call_counts **counts);

/*
 * The program that wrote the series: an ELF executable, whose symbols name the functions of C code
 * and of OCaml code without places.  How far it was moved in memory is found by the table of
 * functions.  HG_ERROR_INPUT if it has no symbols, or is not that program.
 */
HG_API enum hg_status hg_spacetime_set_program(struct hg_trace *trace, const char *path);

/* Every snapshot, node, call and allocation point, a line for each; backtraces innermost first. */
HG_API enum hg_status hg_dump_spacetime(struct hg_trace *trace, hg_write_fn *write, void *data);

#endif
