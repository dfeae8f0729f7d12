/* Which row an allocation point is of. */
#include "query/spacetime/site_rows.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdio.h>

enum hg_status query_site_rows_init(struct query_site_rows *rows, struct hg_trace *trace)
{
	*rows = (struct query_site_rows){.trace = trace};
	return query_spacetime_points_init(&rows->points, trace);
}

void query_site_rows_release(struct query_site_rows *rows)
{
	query_spacetime_points_release(&rows->points);
	base_map_release(&rows->row_of);
	free(rows->rows);
	*rows = (struct query_site_rows){0};
}

enum hg_status query_site_row(
	struct query_site_rows *rows, const struct query_spacetime_point *point, uint64_t *row)
{
	/* Names are never so many that the last numbers are of any. */
	static const uint32_t in_ocaml = QUERY_NO_PLACE - 1;
	struct hg_error *error = &rows->trace->session->error;
	uint32_t function = point->in_c ? point->function : in_ocaml;
	bool added;
	*row = rows->count;
	BASE_TRY(base_map_add(
		&rows->row_of, (uint64_t)point->place << 32 | function, row, &added, error));
	if (!added)
		return HG_OK;
	BASE_TRY(base_grow(&rows->rows, rows->count, &rows->capacity, sizeof(*rows->rows), error));
	rows->rows[rows->count++] =
		(struct query_site_key){point->place, point->in_c, point->function};
	return HG_OK;
}

enum hg_status query_site_row_of(struct query_site_rows *rows, uint32_t annotation, uint64_t *row)
{
	char text[32];
	uint64_t number;
	struct query_spacetime_point point = {.function = QUERY_NO_PLACE};
	if (base_map_get(&rows->points.by_annotation, annotation, &number))
		return query_site_row(rows, &rows->points.points[number], row);
	int length = snprintf(text, sizeof(text), "annotation %" PRIu32, annotation);
	BASE_TRY(trace_names_add(&rows->trace->names, text, (size_t)length, &point.place,
		&rows->trace->session->error));
	return query_site_row(rows, &point, row);
}

static const char *name_of_site(const struct query_site_rows *rows, uint32_t name)
{
	return name == QUERY_NO_PLACE ? "" : trace_name(&rows->trace->names, name);
}

const char *query_site_location(const struct query_site_rows *rows, uint64_t row)
{
	return name_of_site(rows, rows->rows[row].place);
}

const char *query_site_function(const struct query_site_rows *rows, uint64_t row)
{
	return name_of_site(rows, rows->rows[row].function);
}
