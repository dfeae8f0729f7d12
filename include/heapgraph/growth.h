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
	bool unchanged;   /* rows are also what never changed */
	bool describe;    /* say of all rows where they are made: baselines do */
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

/*
 * A baseline is what 'heapgraph trend --format json' writes: a series without its snapshots, to be
 * compared with others later.  Whether a file is one its first bytes tell; false of what cannot be
 * read.
 */
HG_API bool hg_is_baseline(struct hg_session *session, const char *path);

struct hg_baseline_options {
	size_t size;
	bool partial;   /* accept snapshots that were cut short */
	bool only_last; /* of its snapshots, no other is added */
};

/*
 * Adds the snapshots of a baseline, in their order, as if they were added themselves.
 * HG_ERROR_INPUT also if it has other rows than the series; a series to which it was not added
 * cannot go on.  If 'partial' is not NULL it is set to what the first of them that was cut short
 * says of that, "" if none was; valid as long as the series.
 */
HG_API enum hg_status hg_series_read(struct hg_series *series, const char *path,
	const struct hg_baseline_options *options, const char **partial);

struct hg_measure {
	uint64_t blocks, bytes, retained_bytes;
	uint64_t offheap_bytes, retained_offheap_bytes;
	uint64_t weight; /* what it retains, as hg_options.weight: both, or only the first */
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
	const char *defined_at; /* of the root of a path, as hg_defined_at(), or of those that hold
				   it; "" */
	const char *held_by;    /* of a path that begins with no root, and with what retains
				   HG_LEAST_GROWTH and a ten-thousandth of all: what holds that in
				   the last snapshot in which it does, "global Cache.by_name;global
				   Cache.by_age;2 more"; else "" */
	uint32_t depth;         /* of a path; else 0 */
	bool is_memprof;        /* records of Gc.Memprof itself, which are no growth */
	bool changed;           /* between any two of the snapshots */
	/*
	 * Its blocks grow in every step while those of its parent do not (of classes: its blocks
	 * do; of roots: what it retains does), by HG_LEAST_GROWTH bytes and a hundredth of all
	 * growth or more.  False where there are less than three snapshots.
	 */
	bool grows;
	uint32_t steps_up; /* in which the blocks grew; all if they did with what frames held of
			      them in some snapshots */
	struct hg_measure first, last;
	int64_t growth_share; /* of the growth of all rows in retained bytes, in and outside of the
				 heap: ten-thousandths; 0 if there was none.  Where growing
				 paths came to more than that, of all that own blocks of paths
				 grew by, without what shrank */
	uint32_t number;      /* for hg_series_link_at() */
	bool is_inside; /* of a root: what it retains something else does, too, as of the stack of a
			   suspended fiber what holds the fiber */
	/*
	 * Of a path that would grow, but is one leak with another: the number of that, which stands
	 * for all of them and has the share of all; else UINT32_MAX.  They hold the same values,
	 * and their blocks become more in step; or it is an array that became larger for these.
	 */
	uint32_t part_of;
	int64_t alone_share; /* of what grows or is part of that: growth_share without the others */
};
#define HG_LEAST_GROWTH 4096

/* What is known of a snapshot of the series. */
struct hg_series_moment {
	const char *path, *program, *partial;
	uint64_t pid, index, time_ns; /* HG_UNKNOWN */
	uint64_t blocks, bytes, reachable_blocks, reachable_bytes, offheap_bytes;
	uint32_t added; /* as which, from 0 */
	/* Of the snapshot, but for its notes and slots of roots; valid as long as the series. */
	const struct hg_info *info;
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
/*
 * How rows hang together: of each of them, shown or not, by number; parents come before their
 * children.  False past the end.
 */
struct hg_series_link {
	uint32_t parent;  /* of a path; UINT32_MAX: none */
	const char *name; /* of a path its last name, as it is and not as it stands in paths */
	bool is_root;     /* that is the name of a root */
	bool passes;      /* the path begins with a root that passes: a stack slot, a local root */
	/* As those of rows, in the last snapshot that has it, whether it changed or not; "" unless
	 * that was asked for. */
	const char *made_at, *defined_at;
	const struct hg_series_row *row;
};
HG_API size_t hg_series_links(const struct hg_series *series);
HG_API bool hg_series_link_at(
	const struct hg_series *series, uint32_t number, struct hg_series_link *out);
/*
 * Which rows of paths hold the same: blocks of the one are held by blocks of the other, which is
 * not the one above it, in any of the snapshots.  False past the end.
 */
struct hg_series_sharing {
	uint32_t shared, holder; /* numbers */
};
HG_API bool hg_series_sharing_at(
	const struct hg_series *series, size_t sharing, struct hg_series_sharing *out);
/* What the roots retain in a snapshot, without the records of Gc.Memprof itself. */
HG_API bool hg_series_total(const struct hg_series *series, size_t moment, struct hg_measure *out);

/* What a series may come to.  Numbers that are HG_UNKNOWN, and lists that are empty, limit nothing.
 */
struct hg_path_limit {
	const char *path; /* a glob: * and ? match any characters, " / " too */
	uint64_t bytes;   /* that each path which matches may retain in the last snapshot */
};

struct hg_type_limit {
	const char *type; /* an expression, as it was asked for */
	uint64_t most;    /* blocks */
	uint64_t found;   /* in the last snapshot: hg_list_top() by type tells */
};

/* A path that is known to grow, and until when that is no failure: seconds since 1970. */
struct hg_suppression {
	const char *path; /* a glob as above; paths below it are meant, too */
	const char *reason;
	uint64_t until;
};

/* Lines "GLOB until YYYY-MM-DD: REASON" of a file; others that are empty or begin with '#'. */
struct hg_suppressions {
	size_t count;
	const struct hg_suppression *rows; /* in the order of the file */
};
HG_API enum hg_status hg_suppressions_read(
	struct hg_session *session, const char *path, struct hg_suppressions **out);
HG_API void hg_suppressions_release(struct hg_suppressions **suppressions);

struct hg_check_options {
	size_t size;
	uint64_t
		growth_bytes; /* of what roots retain, from the last snapshot but one to the last */
	uint64_t growth_parts; /* the same, per million of what they retained before */
	uint64_t total_bytes;  /* that roots may retain in the last */
	const struct hg_path_limit *paths;
	size_t path_count;
	const struct hg_type_limit *types;
	size_t type_count;
	const struct hg_suppression *suppressions;
	size_t suppression_count;
	uint64_t now; /* seconds since 1970: later suppressions count no more */
};

/* Of a path that grows: so many ten-thousandths of the growth or more are a failure. */
#define HG_GROWTH_FAILS 500

enum hg_check_kind {
	HG_CHECK_GROWS, /* a path grows at every step, and no limits were given */
	HG_CHECK_GROWTH,
	HG_CHECK_TOTAL,
	HG_CHECK_PATH,
	HG_CHECK_TYPE
};

/* What exceeds a limit.  Strings are valid as long as the series and the options. */
struct hg_check_row {
	enum hg_check_kind kind;
	const char *path; /* "all roots" of the growth and the total, "type:RE" of a type */
	const char *made_at, *defined_at, *held_by; /* of a path; "" */
	struct hg_measure first, last;
	int64_t growth_share;
	const struct hg_suppression *suppressed; /* NULL: it is a failure */
	char limit[64];                          /* "10 % growth", "10485760 bytes" */
	int64_t alone_share;                     /* of a path, as hg_series_row has it */
	uint32_t number;                         /* the same; of what is no path UINT32_MAX */
};

struct hg_check {
	size_t count;
	struct hg_check_row **rows; /* failures first, then what is suppressed */
	size_t failures;
	size_t unused; /* suppressions that no row needs */
	/* Globs of limits that no path of the last snapshot, or of any before, matches. */
	size_t idle_count;
	const char *const *idle;
};

/*
 * Of a finished series by path.  HG_ERROR_USAGE if there is only one snapshot, or if there are two
 * and no limits.
 */
HG_API enum hg_status hg_check_series(
	struct hg_series *series, const struct hg_check_options *options, struct hg_check **out);
HG_API void hg_check_release(struct hg_check **check);

#endif
