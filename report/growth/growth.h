/*
 * What trend, diff and check share: which rows of a series are shown, and how they are spelled.
 */
#ifndef REPORT_GROWTH_GROWTH_H
#define REPORT_GROWTH_GROWTH_H

#include "report/common.h"

/* "path", or the name of the key. */
const char *rep_growth_key(const struct rep_growth_request *request);

/*
 * The numbers of the rows that the request wants, in its order, and how many there are before the
 * limit; from malloc.  HG_ERROR_USAGE for a bad expression.
 */
enum hg_status rep_growth_rows(struct rep_context *context,
	const struct rep_growth_request *request, size_t **rows, size_t *shown, size_t *all);

/* The key columns: path, or those of the key; and their cells. */
unsigned rep_growth_columns(const struct rep_growth_request *request, struct rep_column *columns);
void rep_growth_key_cells(struct rep_emitter *emitter, const struct rep_growth_request *request,
	const struct hg_series_row *row);

/*
 * What makes a trend a baseline (query/baseline.c reads it): whether 'shown' rows are all there
 * are, and which program it is of; then, if they are all, how they hang together.  For formats that
 * tell all.
 */
void rep_baseline_values(struct rep_emitter *emitter, const struct hg_series *series, size_t shown);
void rep_baseline_names(struct rep_emitter *emitter, const struct hg_series *series, size_t shown);

/* Ten-thousandths, which may be negative. */
void rep_growth_share_cell(struct rep_emitter *emitter, int64_t share);
/* "97.3 %" of the growth; nothing if there was none. */
void rep_growth_share(struct rep_text *text, int64_t share);
/* "97.3 % of the growth", or of what stands for others: "61.7 % of the growth, 97.3 % with ..." */
void rep_growth_shares(struct rep_text *text, int64_t alone, int64_t all);

/*
 * The next row from 'from' on that is one leak with the path of this number, which stands for it;
 * as many as there are rows if there is none.
 */
size_t rep_growth_next_part(const struct hg_series *series, uint32_t number, size_t from);
/* Of such a row: "+216.1 KB, 15.4 %, made at a.ml:9: global A.all / A.entry list", escaped. */
void rep_growth_part(struct rep_text *text, const struct hg_series_row *part);
/* For people, a line for each of them behind 'indent'. */
void rep_growth_prose_parts(struct rep_emitter *emitter, const char *indent,
	const struct hg_series *series, uint32_t number);

/* From the first snapshot to the last; 0: not known. */
uint64_t rep_growth_period(const struct hg_series *series);
/* "+9.4 MB", "-16 B" */
void rep_growth_change(struct rep_text *text, uint64_t from, uint64_t to);
/* ", +1.2 GB per hour"; nothing if the period is not known. */
void rep_growth_rate(struct rep_text *text, uint64_t elapsed_ns, uint64_t from, uint64_t to);
/* "4.0 MB -> 13.4 MB held by roots: +9.4 MB in 28 s, +1.2 GB per hour" */
void rep_growth_line(
	struct rep_text *text, const char *what, uint64_t elapsed_ns, uint64_t from, uint64_t to);

#endif
