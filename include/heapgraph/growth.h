/*
 * Of heapgraph.h: what several snapshots of a program show.
 */
#ifndef HEAPGRAPH_GROWTH_H
#define HEAPGRAPH_GROWTH_H

#include "heapgraph/classes.h"

/* Growth between two snapshots of the same program, rows matched by name. */
struct hg_growth {
	uint32_t old_id, new_id; /* class in either snapshot; UINT32_MAX when it has none there */
	uint64_t blocks_old, blocks_new;
	uint64_t bytes_old, bytes_new;
	uint64_t retained_old, retained_new;
};

struct hg_diff {
	enum hg_key key;
	size_t count;
	struct hg_growth **rows; /* by |bytes_new - bytes_old| descending, then name; unchanged
				   classes are left out */
};

HG_API enum hg_status hg_compare_snapshots(struct hg_snapshot *old_snapshot,
	struct hg_snapshot *new_snapshot, enum hg_key key, struct hg_diff **out);
HG_API void hg_diff_release(struct hg_diff **diff);

/*
 * A series of snapshots of one program: what grew from the first to the last.  Rows are paths of
 * the retention tree, or classes by a key; those of all snapshots with one name are one row.
 *
 *     hg_series_open()  ->  hg_series_add() of each snapshot, which can be closed then
 *                       ->  hg_series_finish()  ->  rows, and what they were in each snapshot
 */
struct hg_series;

struct hg_series_options {
	size_t size;
	bool by_key; /* rows are classes by 'key', roots without their index; else paths */
	enum hg_key key;
	bool keep_order;  /* snapshots stay in the order in which they were added; else they are
			     sorted by time, or if that is not known of all by number */
	bool any_program; /* do not refuse snapshots of a program of another name */
	bool distinct;    /* refuse the same file twice */
};

/* The session tells of failures, but of those of hg_series_add() that of the snapshot. */
HG_API enum hg_status hg_series_open(struct hg_session *session,
	const struct hg_series_options *options, struct hg_series **out);
HG_API void hg_series_close(struct hg_series *series);

/*
 * Takes what an analysed snapshot has.  HG_ERROR_INPUT if it cannot be compared with those before:
 * another program, header or size of words.  A series to which that was not added cannot go on.
 */
HG_API enum hg_status hg_series_add(struct hg_series *series, struct hg_snapshot *snapshot);

struct hg_measure {
	uint64_t blocks, bytes, retained_bytes;
	uint64_t offheap_bytes, retained_offheap_bytes;
};

/*
 * Of paths blocks and bytes are the own ones of the node; of roots those they point to.  Strings
 * are valid as long as the series.
 */
struct hg_series_row {
	const char *kind; /* of a root its kind, by type and location the type; else "" */
	const char *name;
	const char *made_at;    /* "cache.ml:12;cache.ml:30", as hg_retention_made_at() in the last
				   snapshot where it differs from the first; "" */
	const char *defined_at; /* of the root of a path; "" */
	uint32_t depth;         /* of a path; else 0 */
	bool is_memprof;        /* records of Gc.Memprof itself, which are no growth */
	bool changed;           /* between any two of the snapshots */
	/*
	 * Its blocks grow in every step while those of its parent do not (of classes: its blocks
	 * do), by HG_LEAST_GROWTH bytes and a hundredth of all growth or more.  False where there
	 * are less than three snapshots.
	 */
	bool grows;
	uint32_t steps_up; /* in which the blocks grew */
	struct hg_measure first, last;
	int64_t growth_share; /* of the growth of all rows in retained bytes, in and outside of the
				 heap: ten-thousandths; 0 if there was none */
};
#define HG_LEAST_GROWTH 4096

/* What is known of a snapshot of the series. */
struct hg_series_moment {
	const char *path, *program, *partial;
	uint64_t pid, index, time_ns; /* HG_UNKNOWN */
	uint64_t blocks, bytes, reachable_blocks, reachable_bytes, offheap_bytes;
	uint32_t added; /* as which, from 0 */
};

/* Sorts the snapshots and finds what grew; after it nothing can be added. */
HG_API enum hg_status hg_series_finish(struct hg_series *series);
HG_API size_t hg_series_moments(const struct hg_series *series);
/* In order; NULL past the end. */
HG_API const struct hg_series_moment *hg_series_moment_at(
	const struct hg_series *series, size_t moment);
/* Whether that is another order than that of the additions. */
HG_API bool hg_series_is_sorted(const struct hg_series *series);

HG_API size_t hg_series_count(const struct hg_series *series);
/* Growing rows first, then by how much retained bytes changed, then name; NULL past the end. */
HG_API const struct hg_series_row *hg_series_at(const struct hg_series *series, size_t row);
/* What a row was in each snapshot: as many as there are moments; zeros where it had no blocks. */
HG_API bool hg_series_points(const struct hg_series *series, size_t row, struct hg_measure *points);
/* Of all rows together but those of Gc.Memprof itself: what the roots retain. */
HG_API void hg_series_total(
	const struct hg_series *series, struct hg_measure *first, struct hg_measure *last);

#endif
