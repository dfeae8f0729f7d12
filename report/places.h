/*
 * How reports speak of places in the source: where values of a type are made, and where functions
 * are.
 */
#ifndef REPORT_PLACES_H
#define REPORT_PLACES_H

#include "report/report.h"

/* Places that are told one by one: of more than that there is but their number. */
enum { REP_PLACES_FOR_PEOPLE = 3, REP_PLACES_FOR_PROGRAMS = 16 };

/* "cache.ml:12;cache.ml:30" of a type, or "7 places", or nothing (hg_made_at()). */
void rep_put_made_at(struct rep_text *text, struct hg_snapshot *snapshot, uint32_t type,
	enum hg_made_part part, unsigned most);

/* The last column of tables of types and functions; text has it only where places are known. */
struct rep_column rep_made_at_column(struct rep_context *context, const struct hg_totals *totals);
/* Of a type, for people with a mark if samples tell it; and of a class by HG_BY_FUNCTION. */
void rep_cell_made_at(struct rep_context *context, uint32_t type);
void rep_cell_function_place(struct rep_context *context, uint32_t id);

/* All places where values of some types are made. */
struct rep_places {
	size_t count, rows;
	struct hg_places **of_types;
};

/* Of the types of blocks that match an expression. */
enum hg_status rep_collect_places(
	struct rep_context *context, const char *pattern, struct rep_places *out);
void rep_write_places(struct rep_context *context, const struct rep_places *places, uint64_t limit);
void rep_places_release(struct rep_places *places);

#endif
