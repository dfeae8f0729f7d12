/*
 * Which rows of a series a chart stacks, and how much each is in each snapshot: what grows first,
 * then what was largest, of which a thousandth of the largest sum or less is left to the rest.
 *
 * No byte is in two areas.  What a path retains has all that is retained below it, so that of two
 * paths one of which leads to the other only one is an area: those left have nothing in common, and
 * with the rest they come to what all roots retain.  Roots have nothing in common either, but for
 * those inside what something else retains, which are no areas.  What types and the like retain
 * does overlap: of them the blocks' own bytes are stacked.
 */
#ifndef REPORT_GROWTH_AREAS_H
#define REPORT_GROWTH_AREAS_H

#include "report/report.h"

enum { REP_MOST_AREAS = 10 };

/* Released with rep_areas_release(). */
struct rep_areas {
	bool retained; /* what rows retain; else own bytes, of which some may be unreachable */
	size_t moments, count;
	size_t rows[REP_MOST_AREAS]; /* of the series, for hg_series_at() */
	size_t growing_left;         /* rows that grow, and are no area nor below one */
	uint64_t *amounts;           /* 'moments' of each area, then of the rest */
	uint64_t *totals;            /* of each moment: the sum of those */
};

/*
 * Of rows that the request wants, at most as many as its limit.  The series has all rows
 * (hg_series_options.unchanged).  HG_ERROR_INPUT if they do not add up.
 */
enum hg_status rep_choose_areas(struct rep_context *context,
	const struct rep_growth_request *request, struct rep_areas *out);
void rep_areas_release(struct rep_areas *areas);

/* What an area is in each moment; that of number 'count' is the rest. */
static inline const uint64_t *rep_area_amounts(const struct rep_areas *areas, size_t area)
{
	return areas->amounts + area * areas->moments;
}

#endif
