/*
 * A series of snapshots: its rows, found again by parent and name, each with its numbers where they
 * changed; and what is known of the snapshots.  Gathered by series.c or baseline.c, then judged.
 */
#ifndef QUERY_RETENTION_SERIES_H
#define QUERY_RETENTION_SERIES_H

#include "query/shared/query.h"

#include "base/hash.h"
#include "base/pool.h"

#include <sys/types.h>

#define QUERY_NO_ROW UINT32_MAX

/* That show growth at every step, and not just a difference. */
enum { QUERY_LEAST_MOMENTS = 3 };

/* What a row has from one addition on. */
struct query_point {
	uint32_t moment;           /* number of the addition */
	struct hg_measure measure; /* its weight is 0 */
};

struct query_series_row {
	struct hg_series_row shown;
	const char *own_name; /* of a path: its last name */
	uint32_t parent;      /* QUERY_NO_ROW: none */
	bool is_root;         /* of a path: its last name is of a root */
	bool passes;          /* of a path: its first name is of a root that passes */
	/* What frames hold of it in some snapshots only (moved.h): by how much that grew. */
	int64_t moved;
	uint32_t next; /* of the same hash */
	const char *made_at,
		*defined_at;        /* also if it did not change: hg_series_options.describe */
	struct query_point *points; /* where the numbers are others than before; from malloc */
	uint32_t point_count;
	uint64_t point_capacity;
};

struct query_series {
	struct hg_error *error;        /* of the call that is going on */
	struct base_pool pool;         /* of names */
	struct query_series_row *rows; /* parents before their children */
	uint32_t row_count;
	uint64_t row_capacity;
	struct base_map by_name;
	struct hg_series_sharing *sharings; /* each once, in the order in which they were met */
	uint64_t sharing_count, sharing_capacity;
	struct base_map sharing_numbers;
	uint32_t moment_count; /* additions */
};

/* A snapshot that is about to be added. */
struct query_addition {
	const struct hg_info *info;
	const char *program; /* what is compared; the name of info->program without its folder */
	const char *source;  /* the file that is read */
	dev_t device;        /* that file; inode 0: not known, or told already */
	ino_t inode;
	uint64_t blocks, bytes, reachable_blocks, reachable_bytes, offheap_bytes;
};

/*
 * Checks that it goes with those before, and keeps what is told of it.  What it has is added to the
 * rows then, and query_series_end_moment() called.  Failures are told in error of the rows.
 */
enum hg_status query_series_begin_moment(
	struct hg_series *series, const struct query_addition *addition);

/* What must be the same of all snapshots, and what tells a file. */
struct query_kin {
	const char *program, *source;
	unsigned word_size, reserved_bits;
	bool all_roots_alike;
	dev_t device;
	ino_t inode;
};

struct hg_series {
	struct query_series all;
	struct hg_series_options options;
	struct hg_series_moment *moments; /* in their order, once finished */
	struct query_kin *kin;            /* of each addition */
	uint64_t moment_capacity, kin_capacity;
	struct hg_session *session; /* of errors but those of additions */
	uint32_t *order;            /* rows that are shown, once finished */
	uint32_t shown_count;
	struct hg_measure *scratch; /* of one row in order of moments */
	struct hg_measure *totals;  /* of each moment */
	bool is_finished, is_sorted;
};

/* The row of this name below a parent, a new one if there is none. */
enum hg_status query_series_find(struct query_series *series, uint32_t parent, const char *kind,
	const char *name, uint32_t *out);

/* Adds to what a row has in the addition that is going on, which is the last one. */
enum hg_status query_series_add(
	struct query_series *series, uint32_t row, const struct hg_measure *measure);

/* What holds a row of depth 1: what is below it is held so, too, once the series is finished. */
enum hg_status query_series_hold(struct query_series *series, uint32_t row, const char *holders);

enum hg_status query_series_share(struct query_series *series, uint32_t shared, uint32_t holder);

/* Rows that nothing was added to since the last addition have nothing any more. */
enum hg_status query_series_end_moment(struct query_series *series);

/* Whether a row has changed so far, after the end of a moment. */
bool query_series_has_changed(const struct query_series_row *row);
/*
 * Where a row is made that the addition which has ended has: shown if it has changed so far, which
 * is as the latest snapshot says in which it is not as in the first.
 */
enum hg_status query_series_describe(struct query_series *series, struct query_series_row *row,
	const char *made_at, const char *defined_at);

/* What a row has in each addition. */
void query_series_expand(
	const struct query_series *series, uint32_t row, struct hg_measure *points);

/* Sets what it retains as the session weighs. */
void query_series_weigh(const struct hg_series *series, struct hg_measure *measure);

/* What a row is in each snapshot, in their order, once they are sorted. */
void query_series_read(const struct hg_series *series, uint32_t row, struct hg_measure *points);

/* Of what is weighed. */
static inline int64_t query_growth_of(const struct hg_measure *first, const struct hg_measure *last)
{
	return (int64_t)(last->weight - first->weight);
}

/* Numbers of a baseline are anything: a sum that is too large is the largest. */
static inline int64_t query_add_growth(int64_t x, int64_t y)
{
	int64_t sum;
	if (__builtin_add_overflow(x, y, &sum))
		return x < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

/* What the row grew by, and what frames held of it. */
static inline int64_t query_growth_of_row(const struct query_series_row *row)
{
	return query_add_growth(query_growth_of(&row->shown.first, &row->shown.last), row->moved);
}

/* Keeps a string as long as the series. */
enum hg_status query_series_keep(struct query_series *series, const char *string, const char **out);

void query_series_release(struct query_series *series);

#endif
