/*
 * The reports: each asks the library for one answer and writes it through the emitter.  A report
 * computes everything that can fail before it writes its first byte, so that a failure leaves no
 * half answer behind; it returns the status and fills context->error.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "report/writers/emitter.h"
#include "report/writers/escape.h"

#include "heapgraph.h"

/* What every report works with; all borrowed. */
struct rep_context {
	struct hg_session *session;
	struct hg_snapshot *snapshot; /* analysed, except for rep_info() */
	struct rep_emitter *emitter;
	struct hg_error *error;
	enum hg_weight weight; /* as in the options of the session */
	const char *words; /* the options of input and the snapshot, for command lines; or NULL */
};

/*
 * For a pattern that selects nothing: HG_ERROR_USAGE, and an error that names what it may have been
 * meant for.  'option' is the one that it was given with, or NULL.
 */
enum hg_status rep_nothing_matches(
	struct rep_context *context, const char *option, const char *pattern);

enum rep_sort {
	REP_SORT_DEFAULT,
	REP_SORT_RETAINED,
	REP_SORT_BYTES,
	REP_SORT_BLOCKS,
	REP_SORT_WORDS,
	REP_SORT_NAME,
	REP_SORT_ADDRESS,
	REP_SORT_TAG,
	REP_SORT_OFFHEAP,
	REP_SORT_RETAINED_OFFHEAP
};

/* "all" or "lasting": what --roots takes, and documents say. */
const char *rep_roots_word(bool all_alike);

/*
 * One screen about the snapshot; with where pointers lead that lead to no block (CSV: only that).
 * HG_ERROR_INTERNAL, with the report written, when its numbers do not reconcile.
 */
struct rep_summary_request {
	bool outside; /* where pointers lead that lead to no block */
	bool sums;    /* how the totals add up, one by one */
};
enum hg_status rep_summary(struct rep_context *context, const struct rep_summary_request *request);

enum hg_status rep_info(struct rep_context *context);
/* For a file that no loader takes; 'identity' is the line of hg_identify(). */
void rep_info_refused(struct rep_context *context, const char *path, const char *identity,
	const struct hg_error *reason);

/* Limits: 0 shows all rows. */
struct rep_top_request {
	enum hg_key key;
	const char *type; /* as in hg_list_top(), or NULL */
	enum rep_sort sort;
	uint64_t limit;
};
enum hg_status rep_top(struct rep_context *context, const struct rep_top_request *request);

/* Root slots with what they point to; 'type' as in hg_list_root_slots(). */
enum hg_status rep_roots(
	struct rep_context *context, const char *type, enum rep_sort sort, uint64_t limit);

/* The table of types, and with a pattern the places where they are made. */
struct rep_types_request {
	const char *pattern; /* what the name of a type must match, or NULL */
	bool unused;         /* with declared types that no block has */
	bool places_only;
	uint64_t limit;
};
enum hg_status rep_types(struct rep_context *context, const struct rep_types_request *request);

/* Where types and blocks do not go together, by type and location. */
enum hg_status rep_clashes(struct rep_context *context, uint64_t limit);

/* The retention tree. */
struct rep_tree_request {
	const char *from;   /* a pattern, or NULL: everything */
	uint32_t max_depth; /* 0: no limit, here and below */
	uint32_t max_children;
	uint64_t min_share; /* of what all roots retain, in parts per million */
	uint64_t limit;     /* rows, those that retain most */
};
enum hg_status rep_tree(struct rep_context *context, const struct rep_tree_request *request);
/* The table of it alone, of a tree that is open and whose cross edges were asked for. */
void rep_tree_part(struct rep_context *context, struct hg_retention *tree,
	const struct rep_tree_request *request);

/* What holds a tenth of the memory or more. */
enum hg_status rep_holders(struct rep_context *context, uint64_t limit);

/* The dominator tree, block by block; limits as above. */
struct rep_tree_blocks_request {
	hg_node from; /* HG_NO_NODE: everything */
	uint32_t max_depth;
	uint32_t max_children;
	uint64_t min_share;
	uint64_t limit;
};
enum hg_status rep_tree_blocks(
	struct rep_context *context, const struct rep_tree_blocks_request *request);

/* With 'referrers' who points to the blocks, instead of paths. */
enum hg_status rep_why(
	struct rep_context *context, const char *pattern, bool referrers, uint64_t limit);

/* Selected sets, each with the pattern that it is called by; at least one. */
struct rep_retained_request {
	const char *const *patterns;
	const struct hg_set *sets;
	size_t count;
};
/* 'limit' is of the classes of holders that text shows. */
enum hg_status rep_retained(
	struct rep_context *context, const struct rep_retained_request *request, uint64_t limit);

struct rep_object_request {
	hg_node node;
	uint64_t max_fields, max_referrers;
	uint32_t depth; /* of values; 0: the library's */
};
enum hg_status rep_object(struct rep_context *context, const struct rep_object_request *request);
enum hg_status rep_objects(struct rep_context *context, enum rep_sort sort, uint64_t limit);

enum hg_status rep_edges(struct rep_context *context, uint64_t limit);
/* 'limit' of each section. */
enum hg_status rep_waste(struct rep_context *context, uint64_t limit);

/* Rows of a series of snapshots that is finished. */
struct rep_growth_request {
	struct hg_series *series;
	bool by_path; /* else by key */
	enum hg_key key;
	enum rep_sort sort; /* by default what grows first, then by the change in retained bytes */
	const char *type;   /* an expression that names must match, or NULL */
	uint64_t min_bytes; /* leave out what retains changed by less */
	uint64_t limit;     /* rows; 0: all */
};

/* Of a series of two. */
enum hg_status rep_diff(struct rep_context *context, const struct rep_growth_request *request);

/* Growth over all of them. */
enum hg_status rep_trend(struct rep_context *context, const struct rep_growth_request *request);

/* What exceeds the limits of a series; 'suppressions' were asked for, of which some may be used. */
void rep_check(struct rep_context *context, const struct rep_growth_request *request,
	const struct hg_check *check);
/* "grows at every step", "retains 12.3 MB, more than 10 MB": what is wrong with a row. */
void rep_check_reason(struct rep_text *text, const struct hg_check_row *row);

/* "the place of allocation of 95 of 97 sampled blocks; 2 are not in the trace: ...". */
void rep_put_join(struct rep_text *text, const struct hg_join *join);

/* "the file ends in the middle of a block, at offset 4711". */
void rep_partial_reason(struct rep_text *text, const struct hg_info *info);

uint64_t rep_part_of(uint64_t whole, uint64_t parts_per_million);
/* The share of what the virtual root retains, in bytes. */
uint64_t rep_share_bytes(const struct hg_totals *totals, uint64_t parts_per_million);

#endif
