/* Whether a series keeps its limits; without any, whether a path of it grows at every step. */
#include "query/retention/path_text.h"
#include "query/retention/series.h"
#include "query/shared/result.h"

#include "base/assert.h"
#include "base/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct checker {
	const struct hg_series *series;
	struct hg_check_options options;
	struct hg_check_row *rows;
	uint64_t count, capacity;
	bool *used;        /* suppressions */
	const char **idle; /* globs of limits that match nothing */
	size_t idle_count;
	struct hg_error *error;
};

/* Of the path itself, or of one that it hangs below. */
static bool matches_path(const char *glob, const char *path)
{
	return query_glob_matches(glob, path, strlen(path)) || query_glob_matches_above(glob, path);
}

static const struct hg_suppression *find_suppression(struct checker *c, const char *path)
{
	for (size_t i = 0; i < c->options.suppression_count; i++) {
		const struct hg_suppression *s = &c->options.suppressions[i];
		if (s->until < c->options.now || !matches_path(s->path, path))
			continue;
		c->used[i] = true;
		return s;
	}
	return NULL;
}

static enum hg_status add_check_row(struct checker *c, const struct hg_check_row *row)
{
	BASE_TRY(base_grow(&c->rows, c->count, &c->capacity, sizeof(*c->rows), c->error));
	c->rows[c->count] = *row;
	c->rows[c->count++].suppressed = find_suppression(c, row->path);
	return HG_OK;
}

static struct hg_check_row row_of_path(enum hg_check_kind kind, const struct hg_series_row *row)
{
	return (struct hg_check_row){.kind = kind,
		.path = row->name,
		.made_at = row->made_at,
		.defined_at = row->defined_at,
		.held_by = row->held_by,
		.first = row->first,
		.last = row->last,
		.growth_share = row->growth_share,
		.alone_share = row->alone_share,
		.number = row->number};
}

static bool has_limits(const struct hg_check_options *options)
{
	return options->growth_bytes != HG_UNKNOWN || options->growth_parts != HG_UNKNOWN ||
	       options->total_bytes != HG_UNKNOWN || options->path_count || options->type_count;
}

static enum hg_status check_growing(struct checker *c)
{
	for (size_t i = 0; i < hg_series_count(c->series); i++) {
		const struct hg_series_row *row = hg_series_at(c->series, i);
		if (!row->grows || row->growth_share < HG_GROWTH_FAILS)
			continue;
		struct hg_check_row found = row_of_path(HG_CHECK_GROWS, row);
		snprintf(found.limit, sizeof(found.limit), "%d %% of the growth",
			HG_GROWTH_FAILS / 100);
		BASE_TRY(add_check_row(c, &found));
	}
	return HG_OK;
}

/* What all roots retain, against the snapshot before the last. */
static enum hg_status check_totals(struct checker *c)
{
	struct hg_measure before, last;
	size_t moments = hg_series_moments(c->series);
	hg_series_total(c->series, moments - 2, &before);
	hg_series_total(c->series, moments - 1, &last);
	uint64_t from = before.weight, to = last.weight;
	uint64_t growth = to > from ? to - from : 0;
	__extension__ unsigned __int128 parts = growth, allowed = from;
	parts *= 1000000;
	allowed *= c->options.growth_parts;
	struct hg_check_row row = {.path = "all roots",
		.made_at = "",
		.defined_at = "",
		.held_by = "",
		.first = before,
		.last = last,
		.kind = HG_CHECK_GROWTH,
		.growth_share = growth ? 10000 : 0,
		.number = UINT32_MAX};
	if (c->options.growth_parts != HG_UNKNOWN && parts > allowed) {
		uint64_t percent = c->options.growth_parts / 10000;
		snprintf(row.limit, sizeof(row.limit), "%llu.%02llu %% growth",
			(unsigned long long)percent,
			(unsigned long long)(c->options.growth_parts / 100 % 100));
		BASE_TRY(add_check_row(c, &row));
	}
	if (growth > c->options.growth_bytes) {
		snprintf(row.limit, sizeof(row.limit), "%llu bytes growth",
			(unsigned long long)c->options.growth_bytes);
		BASE_TRY(add_check_row(c, &row));
	}
	if (to <= c->options.total_bytes)
		return HG_OK;
	row.kind = HG_CHECK_TOTAL;
	snprintf(row.limit, sizeof(row.limit), "%llu bytes",
		(unsigned long long)c->options.total_bytes);
	return add_check_row(c, &row);
}

/* Of paths below one another the uppermost one that matches. */
static enum hg_status check_path(struct checker *c, const struct hg_path_limit *limit)
{
	bool is_idle = true;
	for (size_t i = 0; i < hg_series_count(c->series); i++) {
		const struct hg_series_row *row = hg_series_at(c->series, i);
		if (!query_glob_matches(limit->path, row->name, strlen(row->name)))
			continue;
		is_idle = false;
		if (row->last.weight <= limit->bytes ||
			query_glob_matches_above(limit->path, row->name))
			continue;
		struct hg_check_row found = row_of_path(HG_CHECK_PATH, row);
		snprintf(found.limit, sizeof(found.limit), "%llu bytes",
			(unsigned long long)limit->bytes);
		BASE_TRY(add_check_row(c, &found));
	}
	if (is_idle)
		c->idle[c->idle_count++] = limit->path;
	return HG_OK;
}

static enum hg_status check_type(struct checker *c, const struct hg_type_limit *limit)
{
	struct hg_check_row row = {.kind = HG_CHECK_TYPE,
		.path = limit->type,
		.made_at = "",
		.defined_at = "",
		.held_by = "",
		.last = {.blocks = limit->found},
		.number = UINT32_MAX};
	if (limit->found <= limit->most)
		return HG_OK;
	snprintf(row.limit, sizeof(row.limit), "%llu blocks", (unsigned long long)limit->most);
	return add_check_row(c, &row);
}

static int compare_check_rows(const void *a, const void *b)
{
	const struct hg_check_row *x = a, *y = b;
	if (!x->suppressed != !y->suppressed)
		return x->suppressed ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	uint64_t left = x->last.weight, right = y->last.weight;
	if (left != right)
		return left > right ? -1 : 1;
	return strcmp(x->path, y->path);
}

static enum hg_status check_all(struct checker *c)
{
	size_t moments = hg_series_moments(c->series);
	if (!has_limits(&c->options)) {
		if (moments < QUERY_LEAST_MOMENTS)
			return base_fail(c->error, HG_ERROR_USAGE, HG_NO_OFFSET,
				"it takes three snapshots to see what grows at every step, or a "
				"limit");
		return check_growing(c);
	}
	if (moments < 2)
		return base_fail(
			c->error, HG_ERROR_USAGE, HG_NO_OFFSET, "there is nothing to compare with");
	BASE_TRY(check_totals(c));
	for (size_t i = 0; i < c->options.path_count; i++)
		BASE_TRY(check_path(c, &c->options.paths[i]));
	for (size_t i = 0; i < c->options.type_count; i++)
		BASE_TRY(check_type(c, &c->options.types[i]));
	return HG_OK;
}

/* The rows become the result's, whatever happens. */
static enum hg_status keep_check(struct checker *c, struct hg_check *out)
{
	if (c->count)
		qsort(c->rows, c->count, sizeof(*c->rows), compare_check_rows);
	out->count = c->count;
	out->idle_count = c->idle_count;
	for (uint64_t i = 0; i < c->count; i++)
		out->failures += !c->rows[i].suppressed;
	for (size_t i = 0; i < c->options.suppression_count; i++)
		out->unused += !c->used[i];
	return query_keep_rows_of(c->error, out, c->rows, c->count, sizeof(*c->rows), &out->rows);
}

static enum hg_status run_checker(struct checker *c, struct hg_check *out)
{
	c->idle = calloc(c->options.path_count + 1, sizeof(*c->idle));
	if (!c->idle)
		return base_no_memory(c->error, c->options.path_count * sizeof(*c->idle));
	query_keep(out, c->idle);
	out->idle = c->idle;
	c->used = calloc(c->options.suppression_count + 1, sizeof(*c->used));
	if (!c->used)
		return base_no_memory(c->error, c->options.suppression_count);
	enum hg_status status = check_all(c);
	if (status == HG_OK)
		status = keep_check(c, out);
	else
		free(c->rows);
	free(c->used);
	return status;
}

enum hg_status hg_check_series(
	struct hg_series *series, const struct hg_check_options *options, struct hg_check **out)
{
	struct checker c = {.series = series,
		.options = {.growth_bytes = HG_UNKNOWN,
			.growth_parts = HG_UNKNOWN,
			.total_bytes = HG_UNKNOWN}};
	if (out)
		*out = NULL;
	if (!series || !out)
		return HG_ERROR_USAGE;
	c.error = &series->session->error;
	if (options)
		memcpy(&c.options, options,
			options->size < sizeof(c.options) ? options->size : sizeof(c.options));
	BASE_TRY(query_answer_of(c.error, sizeof(**out), out));
	enum hg_status status = run_checker(&c, *out);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_check_release(struct hg_check **check)
{
	query_free(check);
}
