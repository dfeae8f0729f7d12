/*
 * How reports speak of nodes of the retention tree: their paths, where they are made and defined,
 * and who shares them.
 */
#ifndef REPORT_PATHS_H
#define REPORT_PATHS_H

#include "report/writers/emitter.h"
#include "report/writers/spelling.h"

#include "heapgraph.h"

/* The names from the root on, as hg_retention_path() joins them. */
void rep_path_name(struct rep_text *text, const struct hg_retention *tree, size_t row);

/* "cache.ml:12;cache.ml:30", or ""; and of a root. */
void rep_path_made_at(struct rep_text *text, const struct hg_retention *tree, size_t row);
void rep_path_defined_at(struct rep_text *text, const struct hg_retention *tree, size_t row);

/*
 * For people, of a path in a series, a line each behind 'indent': where its blocks are made, what
 * holds it if it has no root, and where that or its root is defined, which the first leaves out.
 */
struct rep_path_places {
	const char *held_by, *made_at, *defined_at; /* "" */
	const char *root;                           /* the path, or its root, or the root's kind */
};
void rep_path_prose_places(
	struct rep_emitter *emitter, const char *indent, const struct rep_path_places *places);

/* What is said of 'defined_at', by the same: "the root is defined at". */
const char *rep_path_definition(const char *held_by, const char *root);

/* Adds the places of a list but for those of another. */
void rep_path_other_places(struct rep_text *text, const char *places, const char *but);

/* ".data", "[]", or "": as hg_retention_field() says. */
void rep_path_field(struct rep_text *text, const struct hg_retention *tree, size_t row);

/* For people, behind the name: " (cache.ml:12)", and what lies outside the heap. */
void rep_path_remark(
	struct rep_text *text, const struct hg_retention_row *row, const struct rep_text *made_at);

/* "global Big.by_name (412,000 pointers), global Big.by_age (412,000) and 3 more". */
void rep_path_sharers(struct rep_text *text, const struct hg_retention *tree,
	const struct hg_cross_edges *sharers, size_t most);

#endif
