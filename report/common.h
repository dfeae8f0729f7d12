/*
 * What several reports share: the head of a document, the columns and cells of a class, and the
 * choice of the largest rows.
 */
#ifndef REPORT_COMMON_H
#define REPORT_COMMON_H

#include "report/names.h"
#include "report/report.h"

/* Takes over the session's error. */
enum hg_status rep_library_failed(struct rep_context *context, enum hg_status status);
enum hg_status rep_no_memory(struct rep_context *context);

/* Begins a document: its frame, what the snapshot is (JSON), and that it is partial if it is. */
void rep_begin(struct rep_context *context, const char *verb);
/* The same of two snapshots. */
void rep_begin_pair(struct rep_context *context, const char *verb, const struct hg_info *older,
	const struct hg_info *newer);

/* The members of a JSON object, or values of a section, that say what a snapshot is. */
void rep_snapshot_values(struct rep_emitter *emitter, const struct hg_info *info);
/* A table of its notes, where there are any: "not_read". */
void rep_not_read(struct rep_emitter *emitter, const struct hg_info *info);

/* A value of a section, unless it is HG_UNKNOWN. */
void rep_value_known(struct rep_emitter *emitter, const char *key, const char *label,
	enum rep_kind kind, uint64_t number);

/* The part of a path after the last slash. */
const char *rep_base_name(const char *path);

/* What order and shares go by: bytes of the heap alone, or with those outside. */
uint64_t rep_weigh(const struct rep_context *context, uint64_t heap_bytes, uint64_t offheap_bytes);
/* The same of all that is reachable: what shares are shares of. */
uint64_t rep_weigh_all(const struct rep_context *context, const struct hg_totals *totals);

/*
 * Columns of memory outside the heap; text has them only if reachable blocks own any, and of both
 * that of what is retained, which 'retained' goes together with.
 */
bool rep_has_offheap(struct hg_snapshot *snapshot);
struct rep_column rep_offheap_column(bool in_text);
struct rep_column rep_retained_offheap_column(bool in_text);
/* " and 1.2 MB off-heap", or nothing for 0. */
void rep_put_offheap(struct rep_text *text, uint64_t bytes);

/* A name out of the snapshot or of a file, escaped for prose.  Returns text's string. */
const char *rep_escaped(struct rep_text *text, const char *name);

enum { REP_KEY_COLUMNS = 2 };

/*
 * Fills the key columns of a class: one, or kind and name for roots, or type and location.  Returns
 * how many.
 */
unsigned rep_key_columns(enum hg_key key, struct rep_column *columns);
/* Their cells; of the first of two columns 'kind' is the cell. */
void rep_key_cells(
	struct rep_emitter *emitter, enum hg_key key, const char *kind, const char *name);
/* The same for a class of a snapshot; in text a guess is marked. */
void rep_class_cells(struct rep_emitter *emitter, const struct hg_snapshot *snapshot,
	enum hg_key key, uint32_t id, enum hg_confidence confidence);

/* The two cells of a class as rep_key_cells() takes them. */
void rep_class_names(const struct hg_snapshot *snapshot, enum hg_key key, uint32_t id,
	struct rep_text *kind, struct rep_text *name);

/* What --sort by name compares: numbers as numbers, roots by kind first.  NULL: no memory. */
char *rep_sort_name(const struct hg_snapshot *snapshot, enum hg_key key, uint32_t id);

/* Cells of names (names.h): of a node, a type, a location, and a node for people. */
void rep_cell_node(struct rep_context *context, hg_node node);
void rep_cell_type(struct rep_context *context, uint32_t type);
void rep_cell_location(struct rep_context *context, uint32_t location);
void rep_cell_label(struct rep_context *context, const struct hg_block *block);
/* Empty if it is HG_UNKNOWN. */
void rep_cell_known(struct rep_emitter *emitter, uint64_t number);

/* Blocks of one type, location and size: they may be drawn as one where they are a chain. */
bool rep_look_the_same(const struct hg_block *a, const struct hg_block *b);

/*
 * Where blocks have locations because Gc.Memprof sampled some of their words: what that stands for,
 * and its standard error, beside the exact counts of those sampled.  Text has these columns only
 * where a key tells locations and something was sampled.
 */
#define REP_ESTIMATE_MEANING                                                                       \
	"  counted are the blocks that Gc.Memprof sampled; estimated: all that were made alike, "  \
	"with the\n  standard error (95 % lie within twice that)\n"
/* "one of 10,000 words": those that Gc.Memprof sampled. */
void rep_sampling_rate(struct rep_text *text, const struct hg_info *info);
bool rep_is_sampled(enum hg_key key, const struct hg_totals *totals);
struct rep_column rep_estimated_column(bool in_text);
struct rep_column rep_error_column(bool in_text);
void rep_estimate_cells(struct rep_emitter *emitter, const struct hg_class *row);

/* "types: 97.3 % of blocks (99.1 % of bytes), 3 shape clashes": never the one without the other. */
void rep_coverage(struct rep_text *text, const struct hg_totals *totals);

/* "locations", "tags", ...: what the rows are. */
const char *rep_key_plural(enum hg_key key);

/* A row of an order: by amount descending, then name if given, then position. */
struct rep_ranked {
	uint64_t amount;
	char *name; /* owned, or NULL */
	size_t position;
};
void rep_rank(struct rep_ranked *rows, size_t count);
void rep_ranked_free(struct rep_ranked *rows, size_t count);

/*
 * A curve of 'count' amounts in one line, for people: each column is the largest of those that it
 * stands for.  'first' is a uint64_t; the others follow at steps of 'stride' bytes.
 */
void rep_curve(struct rep_text *text, const void *first, size_t stride, size_t count);

/*
 * Marks the 'limit' largest of the amounts of a tree's rows (0: all), earlier rows first among
 * equals.  Where no row exceeds its parent, the marked rows are a tree, too.  False: no memory.
 */
bool rep_keep_largest(const uint64_t *amounts, size_t count, uint64_t limit, bool *kept);

/* Text: that 'hidden' of the rows were not shown, and the options that show them. */
void rep_more_rows(
	struct rep_emitter *emitter, uint64_t hidden, const char *what, const char *options);

#endif
