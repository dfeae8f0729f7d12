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

/* Ten-thousandths, which may be negative. */
void rep_growth_share_cell(struct rep_emitter *emitter, int64_t share);
/* "97.3 %" of the growth; nothing if there was none. */
void rep_growth_share(struct rep_text *text, int64_t share);

#endif
