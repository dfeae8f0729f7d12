/* Rows of a series: the choice, the order and the cells that several reports have. */
#include "report/growth/growth.h"

#include "report/paths.h"

#include "base/pattern.h"

#include <stdlib.h>

enum { NS_PER_SECOND = 1000000000, HOUR = 3600 };

const char *rep_growth_key(const struct rep_growth_request *request)
{
	return request->by_path ? "path" : hg_key_name(request->key);
}

static uint64_t amount_of_row(const struct hg_series_row *row, enum rep_sort sort)
{
	switch (sort) {
	case REP_SORT_BYTES:
		return rep_difference(row->first.bytes + row->first.offheap_bytes,
			row->last.bytes + row->last.offheap_bytes);
	case REP_SORT_BLOCKS:
		return rep_difference(row->first.blocks, row->last.blocks);
	case REP_SORT_NAME:
		return 0;
	default:
		return rep_difference(row->first.weight, row->last.weight);
	}
}

/* What --sort by name compares; NULL when memory runs out. */
static char *name_of_row(const struct hg_series_row *row)
{
	struct rep_text name = {0};
	rep_text_printf(&name, "%s %s", row->kind, row->name);
	if (!name.failed)
		return name.bytes;
	rep_text_release(&name);
	return NULL;
}

/* Whether a row passes --type and --min. */
static enum hg_status is_wanted_row(struct rep_context *context,
	const struct rep_growth_request *request, const struct base_pattern *pattern,
	const struct hg_series_row *row, bool *wanted)
{
	const char *name =
		*row->kind && request->key == HG_BY_TYPE_LOCATION ? row->kind : row->name;
	*wanted = amount_of_row(row, REP_SORT_RETAINED) >= request->min_bytes;
	if (*wanted && request->type)
		return base_pattern_match(pattern, name, wanted, context->error);
	return HG_OK;
}

static enum hg_status choose_rows(struct rep_context *context,
	const struct rep_growth_request *request, const struct base_pattern *pattern,
	struct rep_ranked *ranked, size_t *count)
{
	size_t rows = hg_series_count(request->series);
	for (size_t i = 0; i < rows; i++) {
		const struct hg_series_row *row = hg_series_at(request->series, i);
		bool wanted;
		BASE_TRY(is_wanted_row(context, request, pattern, row, &wanted));
		if (!wanted)
			continue;
		struct rep_ranked *at = &ranked[(*count)++];
		*at = (struct rep_ranked){.position = i};
		/* The library's order is that of what grows, then of retained bytes. */
		if (request->sort == REP_SORT_DEFAULT)
			continue;
		at->amount = amount_of_row(row, request->sort);
		at->name = name_of_row(row);
		if (!at->name)
			return rep_no_memory(context);
	}
	return HG_OK;
}

enum hg_status rep_growth_rows(struct rep_context *context,
	const struct rep_growth_request *request, size_t **rows, size_t *shown, size_t *all)
{
	size_t count = hg_series_count(request->series), chosen = 0;
	struct base_pattern pattern = {0};
	struct rep_ranked *ranked = calloc(count + 1, sizeof(*ranked));
	*rows = calloc(count + 1, sizeof(**rows));
	enum hg_status status = HG_OK;
	if (!ranked || !*rows) {
		free(ranked);
		free(*rows);
		*rows = NULL;
		return rep_no_memory(context);
	}
	if (request->type)
		status = base_pattern_compile(&pattern, request->type, context->error);
	if (status == HG_OK)
		status = choose_rows(context, request, &pattern, ranked, &chosen);
	if (status == HG_OK) {
		if (request->sort != REP_SORT_DEFAULT)
			rep_rank(ranked, chosen);
		*all = chosen;
		*shown =
			request->limit && request->limit < chosen ? (size_t)request->limit : chosen;
		for (size_t i = 0; i < chosen; i++)
			(*rows)[i] = ranked[i].position;
	} else {
		free(*rows);
		*rows = NULL;
	}
	if (request->type)
		base_pattern_release(&pattern);
	rep_ranked_free(ranked, chosen);
	return status;
}

unsigned rep_growth_columns(const struct rep_growth_request *request, struct rep_column *columns)
{
	if (!request->by_path)
		return rep_key_columns(request->key, columns);
	columns[0] = (struct rep_column){"path", "path", REP_NAME, REP_LAST};
	return 1;
}

void rep_growth_key_cells(struct rep_emitter *emitter, const struct rep_growth_request *request,
	const struct hg_series_row *row)
{
	if (request->by_path)
		rep_cell_string(emitter, row->name);
	else
		rep_key_cells(emitter, request->key, row->kind, row->name);
}

void rep_growth_share(struct rep_text *text, int64_t share)
{
	if (share < 0)
		rep_text_put(text, "-");
	rep_text_percent(text, share < 0 ? -(uint64_t)share : (uint64_t)share, 10000);
}

void rep_growth_shares(struct rep_text *text, int64_t alone, int64_t all)
{
	rep_growth_share(text, alone);
	rep_text_put(text, " of the growth");
	if (all == alone)
		return;
	rep_text_put(text, ", ");
	rep_growth_share(text, all);
	rep_text_put(text, " with what is in step");
}

void rep_growth_share_cell(struct rep_emitter *emitter, int64_t share)
{
	uint64_t size = share < 0 ? -(uint64_t)share : (uint64_t)share;
	rep_cell_change(emitter, share < 0 ? size : 0, share < 0 ? 0 : size);
}

size_t rep_growth_next_part(const struct hg_series *series, uint32_t number, size_t from)
{
	size_t count = hg_series_count(series);
	while (from < count && hg_series_at(series, from)->part_of != number)
		from++;
	return from;
}

void rep_growth_part(struct rep_text *text, const struct hg_series_row *part)
{
	struct rep_text escaped = {0}, places = {0};
	rep_growth_change(text, part->first.weight, part->last.weight);
	rep_text_put(text, ", ");
	rep_growth_share(text, part->alone_share);
	rep_path_other_places(&places, part->made_at, part->defined_at);
	if (places.length)
		rep_text_printf(
			text, ", made at %s", rep_escaped(&escaped, rep_text_string(&places)));
	rep_text_printf(text, ": %s", rep_escaped(&escaped, part->name));
	rep_text_release(&places);
	rep_text_release(&escaped);
}

void rep_growth_prose_parts(struct rep_emitter *emitter, const char *indent,
	const struct hg_series *series, uint32_t number)
{
	size_t count = hg_series_count(series);
	for (size_t i = 0; (i = rep_growth_next_part(series, number, i)) < count; i++) {
		struct rep_text line = {0};
		rep_growth_part(&line, hg_series_at(series, i));
		rep_prose(emitter, REP_PLAIN, "%sin step with it %s\n", indent,
			rep_text_string(&line));
		emitter->failed |= line.failed;
		rep_text_release(&line);
	}
}

uint64_t rep_growth_period(const struct hg_series *series)
{
	size_t count = hg_series_moments(series);
	if (count == 0)
		return 0;
	uint64_t first = hg_series_moment_at(series, 0)->time_ns;
	uint64_t last = hg_series_moment_at(series, count - 1)->time_ns;
	return first == HG_UNKNOWN || last == HG_UNKNOWN || last < first ? 0 : last - first;
}

void rep_growth_change(struct rep_text *text, uint64_t from, uint64_t to)
{
	rep_text_put(text, to < from ? "-" : "+");
	rep_text_size(text, rep_difference(from, to));
}

void rep_growth_rate(struct rep_text *text, uint64_t elapsed_ns, uint64_t from, uint64_t to)
{
	__extension__ unsigned __int128 change = rep_difference(from, to);
	if (elapsed_ns == 0)
		return;
	uint64_t rate = (uint64_t)(change * HOUR * NS_PER_SECOND / elapsed_ns);
	rep_text_put(text, to < from ? ", -" : ", +");
	rep_text_size(text, rate);
	rep_text_put(text, " per hour");
}

static void put_elapsed(struct rep_text *text, uint64_t elapsed_ns)
{
	uint64_t seconds = elapsed_ns / NS_PER_SECOND;
	if (seconds < 2)
		rep_text_printf(text, "%llu ms", (unsigned long long)(elapsed_ns / 1000000));
	else if (seconds >= 2 * HOUR)
		rep_text_printf(text, "%llu h", (unsigned long long)(seconds / HOUR));
	else if (seconds >= 120)
		rep_text_printf(text, "%llu min", (unsigned long long)(seconds / 60));
	else
		rep_text_printf(text, "%llu s", (unsigned long long)seconds);
}

void rep_growth_line(
	struct rep_text *text, const char *what, uint64_t elapsed_ns, uint64_t from, uint64_t to)
{
	rep_text_size(text, from);
	rep_text_put(text, " -> ");
	rep_text_size(text, to);
	rep_text_printf(text, " %s: ", what);
	rep_growth_change(text, from, to);
	if (elapsed_ns) {
		rep_text_put(text, " in ");
		put_elapsed(text, elapsed_ns);
	}
	rep_growth_rate(text, elapsed_ns, from, to);
}
