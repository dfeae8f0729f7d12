/* The choice of rows that have nothing in common, and the sums of what hangs on them. */
#include "report/growth/areas.h"

#include "report/common.h"
#include "report/growth/growth.h"

#include <stdlib.h>

/* What a row of the series is to the areas. */
enum { NO_AREA = -1, ABOVE_AREA = -2 };

/* Of the largest sum: what is less is too thin to be seen, and stays in the rest unless it grows.
 */
enum { THINNEST_PART = 1000 };

struct candidate {
	size_t row;
	uint64_t most; /* that it ever was */
	uint32_t depth;
	unsigned rank; /* 2: it grows; 1: it is one leak with such; 0 */
};

struct area_choice {
	struct rep_context *context;
	const struct rep_growth_request *request;
	struct rep_areas *areas;
	size_t row_count;
	int *area_of; /* by hg_series_row.number: its number if it is one, or the above */
	struct candidate *candidates;
	size_t candidate_count;
	struct hg_measure *points; /* of one row */
	uint64_t thinnest;         /* area that is drawn */
};

static bool stacks_retained(const struct rep_growth_request *request)
{
	return request->by_path || request->key == HG_BY_ROOT;
}

static uint64_t area_amount(const struct area_choice *choice, const struct hg_measure *measure)
{
	return choice->areas->retained
		       ? rep_weigh(choice->context, measure->retained_bytes,
				 measure->retained_offheap_bytes)
		       : rep_weigh(choice->context, measure->bytes, measure->offheap_bytes);
}

static unsigned rank_of(const struct hg_series_row *row)
{
	return row->grows ? 2 : row->part_of != UINT32_MAX;
}

/*
 * By default what grows stays first, as the series has it, and what is one leak with it; then comes
 * what was largest.
 */
static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if (!x->rank && x->most != y->most)
		return x->most > y->most ? -1 : 1;
	if (!x->rank && x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static enum hg_status list_candidates(struct area_choice *choice)
{
	const struct rep_growth_request *request = choice->request;
	size_t *rows, shown, all;
	BASE_TRY(rep_growth_rows(choice->context, request, &rows, &shown, &all));
	choice->candidates = calloc(all + 1, sizeof(*choice->candidates));
	for (size_t i = 0; i < all && choice->candidates; i++) {
		const struct hg_series_row *row = hg_series_at(request->series, rows[i]);
		struct candidate *candidate = &choice->candidates[choice->candidate_count];
		if (row->is_memprof || row->is_inside)
			continue;
		*candidate = (struct candidate){
			.row = rows[i], .depth = row->depth, .rank = rank_of(row)};
		hg_series_points(request->series, rows[i], choice->points);
		for (size_t j = 0; j < choice->areas->moments; j++) {
			uint64_t amount = area_amount(choice, &choice->points[j]);
			candidate->most = amount > candidate->most ? amount : candidate->most;
		}
		choice->candidate_count += candidate->rank || candidate->most > choice->thinnest;
	}
	free(rows);
	if (!choice->candidates)
		return rep_no_memory(choice->context);
	if (request->sort == REP_SORT_DEFAULT && choice->candidate_count)
		qsort(choice->candidates, choice->candidate_count, sizeof(*choice->candidates),
			compare_candidates);
	return HG_OK;
}

static uint32_t number_of_row(const struct area_choice *choice, size_t row)
{
	return hg_series_at(choice->request->series, row)->number;
}

/* UINT32_MAX: nothing. */
static uint32_t number_above(const struct area_choice *choice, uint32_t number)
{
	struct hg_series_link link;
	return hg_series_link_at(choice->request->series, number, &link) ? link.parent : UINT32_MAX;
}

/* The area that a row is or hangs below; NO_AREA. */
static int area_above(const struct area_choice *choice, size_t row)
{
	uint32_t number = number_of_row(choice, row);
	while (number != UINT32_MAX && choice->area_of[number] < 0)
		number = number_above(choice, number);
	return number == UINT32_MAX ? NO_AREA : choice->area_of[number];
}

static void choose_areas(struct area_choice *choice)
{
	struct rep_areas *areas = choice->areas;
	uint64_t limit = choice->request->limit;
	size_t most = limit && limit < REP_MOST_AREAS ? (size_t)limit : REP_MOST_AREAS;
	for (size_t i = 0; i < choice->candidate_count && areas->count < most; i++) {
		size_t row = choice->candidates[i].row;
		uint32_t number = number_of_row(choice, row);
		if (choice->area_of[number] == ABOVE_AREA || area_above(choice, row) != NO_AREA)
			continue;
		choice->area_of[number] = (int)areas->count;
		areas->rows[areas->count++] = row;
		for (uint32_t above = number_above(choice, number); above != UINT32_MAX;
			above = number_above(choice, above))
			choice->area_of[above] = ABOVE_AREA;
	}
	for (size_t i = 0; i < choice->row_count; i++)
		areas->growing_left += hg_series_at(choice->request->series, i)->grows &&
				       area_above(choice, i) == NO_AREA;
}

/*
 * Of a path the own bytes of all that hangs on it, which is what it retains but for records of
 * Gc.Memprof, as these are not in the total of the series.
 */
static void sum_areas(struct area_choice *choice)
{
	struct rep_areas *areas = choice->areas;
	const struct hg_series *series = choice->request->series;
	for (size_t i = 0; i < choice->row_count; i++) {
		int area = area_above(choice, i);
		if (area == NO_AREA || hg_series_at(series, i)->is_memprof)
			continue;
		hg_series_points(series, i, choice->points);
		for (size_t j = 0; j < areas->moments; j++) {
			const struct hg_measure *point = &choice->points[j];
			areas->amounts[(size_t)area * areas->moments + j] +=
				choice->request->by_path ? rep_weigh(choice->context, point->bytes,
								   point->offheap_bytes)
							 : area_amount(choice, point);
		}
	}
}

/* Only closures have functions: other blocks are no part of such a chart. */
static void sum_rows(struct area_choice *choice)
{
	for (size_t i = 0; i < choice->row_count; i++) {
		hg_series_points(choice->request->series, i, choice->points);
		for (size_t j = 0; j < choice->areas->moments; j++)
			choice->areas->totals[j] += area_amount(choice, &choice->points[j]);
	}
}

static void sum_totals(struct area_choice *choice)
{
	struct rep_areas *areas = choice->areas;
	const struct hg_series *series = choice->request->series;
	bool of_rows = !areas->retained && choice->request->key == HG_BY_FUNCTION;
	if (of_rows)
		sum_rows(choice);
	for (size_t i = 0; i < areas->moments; i++) {
		const struct hg_series_moment *moment = hg_series_moment_at(series, i);
		struct hg_measure total = {
			.bytes = moment->bytes, .offheap_bytes = moment->offheap_bytes};
		if (areas->retained)
			hg_series_total(series, i, &total);
		if (!of_rows)
			areas->totals[i] = area_amount(choice, &total);
		if (areas->totals[i] / THINNEST_PART > choice->thinnest)
			choice->thinnest = areas->totals[i] / THINNEST_PART;
	}
}

static enum hg_status sum_rest(struct area_choice *choice)
{
	struct rep_areas *areas = choice->areas;
	for (size_t i = 0; i < areas->moments; i++) {
		const struct hg_series_moment *moment =
			hg_series_moment_at(choice->request->series, i);
		uint64_t sum = 0;
		for (size_t area = 0; area < areas->count; area++)
			sum += rep_area_amounts(areas, area)[i];
		if (sum > areas->totals[i])
			return base_fail(choice->context->error, HG_ERROR_INPUT, HG_NO_OFFSET,
				"%s: its rows come to %llu bytes, all of it to %llu", moment->path,
				(unsigned long long)sum, (unsigned long long)areas->totals[i]);
		areas->amounts[areas->count * areas->moments + i] = areas->totals[i] - sum;
	}
	return HG_OK;
}

static enum hg_status fill_areas(struct area_choice *choice)
{
	struct rep_areas *areas = choice->areas;
	areas->amounts = calloc((REP_MOST_AREAS + 1) * areas->moments + 1, sizeof(uint64_t));
	areas->totals = calloc(areas->moments + 1, sizeof(uint64_t));
	choice->points = calloc(areas->moments + 1, sizeof(*choice->points));
	size_t links = hg_series_links(choice->request->series);
	choice->area_of = malloc((links + 1) * sizeof(*choice->area_of));
	if (!areas->amounts || !areas->totals || !choice->points || !choice->area_of)
		return rep_no_memory(choice->context);
	for (size_t i = 0; i < links; i++)
		choice->area_of[i] = NO_AREA;
	sum_totals(choice);
	BASE_TRY(list_candidates(choice));
	choose_areas(choice);
	sum_areas(choice);
	return sum_rest(choice);
}

enum hg_status rep_choose_areas(struct rep_context *context,
	const struct rep_growth_request *request, struct rep_areas *out)
{
	*out = (struct rep_areas){.retained = stacks_retained(request),
		.moments = hg_series_moments(request->series)};
	struct area_choice choice = {.context = context,
		.request = request,
		.areas = out,
		.row_count = hg_series_count(request->series)};
	enum hg_status status = fill_areas(&choice);
	free(choice.area_of);
	free(choice.points);
	free(choice.candidates);
	if (status != HG_OK)
		rep_areas_release(out);
	return status;
}

void rep_areas_release(struct rep_areas *areas)
{
	free(areas->amounts);
	free(areas->totals);
	*areas = (struct rep_areas){0};
}
