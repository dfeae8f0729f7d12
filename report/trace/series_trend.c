/*
 * Growth of places of allocation over the snapshots of a series: in text what grows at every step,
 * then what else changed, with columns that the events before them name; for programs every place
 * in every snapshot that has something of it.
 */
#include "report/trace/trace.h"

#include "report/common.h"
#include "report/growth/growth.h"
#include "report/writers/fit.h"

#include <stdlib.h>
#include <string.h>

enum { GROWTH_WORD_BYTES = 8, MOST_SHOWN_SNAPSHOTS = 5, HEADING_COLUMNS = 16 };

static const struct trend_count {
	const char *what, *grows, *unit; /* unit: of what 'title' counts */
	enum rep_kind kind, change;
} trend_counts[] = {
	[HG_SPACETIME_ALLOCATED] = {"allocated", "What allocates at every step", "bytes allocated",
		REP_BYTES, REP_CHANGE_BYTES},
	[HG_SPACETIME_LIVE] = {"alive", "What grows at every step, most likely a leak",
		"bytes alive", REP_BYTES, REP_CHANGE_BYTES},
	[HG_SPACETIME_BLOCKS] = {"blocks alive", "What grows at every step, most likely a leak",
		"blocks alive", REP_COUNT, REP_CHANGE_COUNT},
};

struct series_trend {
	struct rep_emitter *emitter;
	const struct hg_spacetime_trend *trend;
	enum hg_spacetime_count count;
	const struct trend_count *words;
	struct rep_text *events;            /* before each snapshot; "" for none */
	uint64_t *amounts;                  /* of one row, in each snapshot */
	size_t shown[MOST_SHOWN_SNAPSHOTS]; /* those with a column in text */
	unsigned shown_count;
	struct rep_text headings[MOST_SHOWN_SNAPSHOTS];
};

static uint64_t counted_amount(const struct series_trend *t, uint64_t amount)
{
	return t->count == HG_SPACETIME_BLOCKS ? amount : GROWTH_WORD_BYTES * amount;
}

static bool name_events(struct series_trend *t)
{
	const struct hg_spacetime_trend *trend = t->trend;
	t->events = calloc(trend->moment_count + 1, sizeof(*t->events));
	t->amounts = calloc(trend->moment_count + 1, sizeof(*t->amounts));
	if (!t->events || !t->amounts)
		return false;
	for (size_t i = 0; i < trend->event_count; i++) {
		struct rep_text *text = &t->events[trend->events[i]->snapshot];
		rep_text_put(text, text->length ? ", " : "");
		rep_text_put(text, trend->events[i]->name);
	}
	return true;
}

static void name_column(struct series_trend *t, size_t snapshot)
{
	struct rep_text *heading = &t->headings[t->shown_count];
	const struct rep_text *name = &t->events[snapshot];
	struct rep_text escaped = {0};
	rep_text_escape_terminal(&escaped, rep_text_string(name), name->length);
	if (name->length)
		rep_fit_cut(heading, rep_text_string(&escaped), escaped.length, HEADING_COLUMNS, 0,
			"...");
	else
		rep_text_printf(heading, "#%zu", snapshot);
	rep_text_release(&escaped);
	t->shown[t->shown_count++] = snapshot;
}

/* The 'number'th of those between the first and the last: of those behind an event, or of all. */
static size_t find_between(const struct series_trend *t, bool behind_events, size_t number)
{
	for (size_t snapshot = 1;; snapshot++)
		if ((!behind_events || t->events[snapshot].length) && number-- == 0)
			return snapshot;
}

/* The first, the last, and between them at equal steps those behind an event, if there are any. */
static void choose_shown_snapshots(struct series_trend *t)
{
	size_t count = t->trend->moment_count, behind = 0;
	for (size_t i = 1; i + 1 < count; i++)
		behind += t->events[i].length != 0;
	bool few = count <= MOST_SHOWN_SNAPSHOTS;
	size_t between = behind && !few ? behind : count > 2 ? count - 2 : 0;
	size_t most = MOST_SHOWN_SNAPSHOTS - 2, wanted = between < most ? between : most;
	name_column(t, 0);
	for (size_t i = 0; i < wanted; i++)
		name_column(
			t, find_between(t, behind && !few, (2 * i + 1) * between / (2 * wanted)));
	if (count > 1)
		name_column(t, count - 1);
}

static void put_time(struct rep_text *text, double time)
{
	rep_text_clear(text);
	rep_text_printf(text, "%.6g", time);
}

static void write_trend_moments(struct series_trend *t)
{
	static const struct rep_column columns[] = {
		{"index", "#", REP_NUMBER, 0},
		{"time", "CPU s", REP_WORD, 0},
		{"live_bytes", "live", REP_BYTES, 0},
		{"blocks", "blocks", REP_COUNT, 0},
		{"unknown_bytes", "unknown", REP_BYTES, 0},
		{"allocated_bytes", "allocated", REP_BYTES, 0},
		{"event", "events before it", REP_NAME, REP_LAST},
	};
	struct rep_emitter *emitter = t->emitter;
	struct rep_text time = {0};
	if (emitter->writer->one_part)
		return;
	rep_headline(emitter, "Snapshots");
	rep_table_begin(emitter, "snapshots", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < t->trend->moment_count; i++) {
		const struct hg_spacetime_trend_moment *moment = t->trend->moments[i];
		const uint64_t numbers[] = {GROWTH_WORD_BYTES * moment->words, moment->blocks,
			GROWTH_WORD_BYTES * moment->unknown, GROWTH_WORD_BYTES * moment->allocated};
		put_time(&time, moment->time);
		rep_cell_number(emitter, i);
		rep_cell_string(emitter, rep_text_string(&time));
		for (size_t j = 0; j < sizeof(numbers) / sizeof(numbers[0]); j++)
			if (moment->readable)
				rep_cell_number(emitter, numbers[j]);
			else
				rep_cell_none(emitter);
		rep_cell_string(emitter, rep_text_string(&t->events[i]));
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
	rep_text_release(&time);
}

/* For programs: those behind the last snapshot, too. */
static void write_trend_events(struct series_trend *t)
{
	static const struct rep_column columns[] = {
		{"event", NULL, REP_NAME, 0},
		{"time", NULL, REP_WORD, 0},
		{"snapshot", NULL, REP_NUMBER, 0},
	};
	struct rep_emitter *emitter = t->emitter;
	struct rep_text time = {0};
	if (emitter->writer->one_part || emitter->writer->for_people)
		return;
	rep_table_begin(emitter, "events", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < t->trend->event_count; i++) {
		const struct hg_spacetime_trend_event *event = t->trend->events[i];
		put_time(&time, event->time);
		rep_cell_string(emitter, event->name);
		rep_cell_string(emitter, rep_text_string(&time));
		if (event->snapshot < t->trend->moment_count)
			rep_cell_number(emitter, event->snapshot);
		else
			rep_cell_none(emitter);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
	rep_text_release(&time);
}

static void fill_amounts(struct series_trend *t, const struct hg_spacetime_trend_row *row)
{
	memset(t->amounts, 0, t->trend->moment_count * sizeof(*t->amounts));
	for (size_t i = 0; i < row->point_count; i++) {
		const struct hg_spacetime_trend_point *point = &row->points[i];
		t->amounts[point->snapshot] =
			counted_amount(t, t->count == HG_SPACETIME_LIVE     ? point->words
					  : t->count == HG_SPACETIME_BLOCKS ? point->blocks
									    : point->allocated);
	}
}

static void write_growing_place(struct series_trend *t, const struct hg_spacetime_trend_row *row)
{
	struct rep_emitter *emitter = t->emitter;
	struct rep_text label = {0}, steps = {0}, curve = {0};
	fill_amounts(t, row);
	for (unsigned i = 0; i < t->shown_count; i++)
		rep_cell_number(emitter, t->amounts[t->shown[i]]);
	rep_cell_change(emitter, counted_amount(t, row->first), counted_amount(t, row->last));
	rep_growth_share(&label, row->growth_share);
	rep_cell_string(emitter, rep_text_string(&label));
	rep_text_printf(&steps, "%llu of %llu", (unsigned long long)row->steps_up,
		(unsigned long long)(t->trend->readable ? t->trend->readable - 1 : 0));
	rep_cell_string(emitter, rep_text_string(&steps));
	rep_curve(&curve, t->amounts, sizeof(*t->amounts), t->trend->moment_count);
	rep_cell_string(emitter, rep_text_string(&curve));
	rep_text_clear(&label);
	rep_text_put(&label, *row->location ? row->location : "(no place known)");
	rep_text_put(&label, row->in_c ? " (in C)" : "");
	rep_cell_string(emitter, rep_text_string(&label));
	rep_row_end(emitter);
	rep_text_release(&label);
	rep_text_release(&steps);
	rep_text_release(&curve);
}

/* The first rows from 'from' up to 'to', of which 'limit' (0: all) are shown. */
static void write_growing_places(
	struct series_trend *t, const char *headline, size_t from, size_t to, uint64_t limit)
{
	struct rep_column columns[MOST_SHOWN_SNAPSHOTS + 5];
	unsigned count = 0;
	size_t shown = limit && limit < to - from ? (size_t)limit : to - from;
	rep_headline(t->emitter, headline);
	if (from == to) {
		rep_prose(t->emitter, REP_PLAIN, "  nothing%s\n",
			from == 0 && t->trend->readable < 3 ? ": it takes three snapshots to tell"
							    : "");
		return;
	}
	for (; count < t->shown_count; count++)
		columns[count] = (struct rep_column){
			NULL, rep_text_string(&t->headings[count]), t->words->kind, 0};
	columns[count++] = (struct rep_column){NULL, "change", t->words->change, 0};
	columns[count++] = (struct rep_column){NULL, "of growth", REP_WORD, 0};
	columns[count++] = (struct rep_column){NULL, "steps up", REP_WORD, 0};
	columns[count++] = (struct rep_column){NULL, "curve", REP_WORD, REP_DRAWING};
	columns[count++] = (struct rep_column){NULL, "place", REP_NAME, REP_LAST};
	rep_table_begin(t->emitter, "rows", columns, count);
	for (size_t i = from; i < from + shown && !rep_emitter_broken(t->emitter); i++)
		write_growing_place(t, t->trend->rows[i]);
	rep_table_end(t->emitter);
	rep_more_rows(t->emitter, to - from - shown, "places", "--limit 0");
}

static bool has_changed(const struct hg_spacetime_trend_row *row)
{
	return row->first != row->last || row->steps_up;
}

/* What never changed has no row; of what ended as it began it stands behind the rest. */
static void write_trend_for_people(struct series_trend *t, uint64_t limit)
{
	const struct hg_spacetime_trend *trend = t->trend;
	size_t growing = 0, changed;
	struct rep_text headline = {0};
	while (growing < trend->count && trend->rows[growing]->grows)
		growing++;
	for (changed = growing; changed < trend->count; changed++)
		if (!has_changed(trend->rows[changed]))
			break;
	if (!trend->moment_count) {
		rep_prose(t->emitter, REP_PLAIN, "There is no snapshot.\n");
		return;
	}
	choose_shown_snapshots(t);
	write_growing_places(t, t->words->grows, 0, growing, limit);
	rep_text_printf(&headline, "What else changed: %s, most change first", t->words->unit);
	write_growing_places(t, rep_text_string(&headline), growing, changed, limit);
	if (changed < trend->count)
		rep_prose(t->emitter, REP_PLAIN, "  (%zu places were the same in every snapshot)\n",
			trend->count - changed);
	rep_text_release(&headline);
}

static void write_trend_rows(struct series_trend *t, uint64_t limit)
{
	static const struct rep_column columns[] = {
		{"index", NULL, REP_NUMBER, 0},
		{"location", NULL, REP_NAME, 0},
		{"in_c", NULL, REP_NUMBER, 0},
		{"live_bytes", NULL, REP_BYTES, 0},
		{"blocks", NULL, REP_COUNT, 0},
		{"allocated_bytes", NULL, REP_BYTES, 0},
		{"grows", NULL, REP_NUMBER, 0},
		{"growth_share", NULL, REP_CHANGE_COUNT, 0},
		{"time", NULL, REP_WORD, 0},
		{"event", NULL, REP_NAME, 0},
	};
	struct rep_emitter *emitter = t->emitter;
	const struct hg_spacetime_trend *trend = t->trend;
	struct rep_text time = {0};
	size_t shown = limit && limit < trend->count ? (size_t)limit : trend->count;
	rep_table_begin(emitter, "rows", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++) {
		const struct hg_spacetime_trend_row *row = trend->rows[i];
		for (size_t j = 0; j < row->point_count; j++) {
			const struct hg_spacetime_trend_point *point = &row->points[j];
			put_time(&time, trend->moments[point->snapshot]->time);
			rep_cell_number(emitter, point->snapshot);
			rep_cell_string(emitter, row->location);
			rep_cell_bool(emitter, row->in_c);
			rep_cell_number(emitter, GROWTH_WORD_BYTES * point->words);
			rep_cell_number(emitter, point->blocks);
			rep_cell_number(emitter, GROWTH_WORD_BYTES * point->allocated);
			rep_cell_bool(emitter, row->grows);
			rep_growth_share_cell(emitter, row->growth_share);
			rep_cell_string(emitter, rep_text_string(&time));
			rep_cell_string(emitter, rep_text_string(&t->events[point->snapshot]));
			rep_row_end(emitter);
		}
	}
	rep_table_end(emitter);
	rep_text_release(&time);
}

static void write_growth_head(struct series_trend *t)
{
	const struct hg_spacetime_trend *trend = t->trend;
	uint64_t first = counted_amount(t, trend->first), last = counted_amount(t, trend->last);
	bool bytes = t->count != HG_SPACETIME_BLOCKS;
	struct rep_text line = {0};
	rep_prose(t->emitter, REP_BOLD, "Growth by place of allocation");
	rep_text_put(&line, " in ");
	rep_name_amount(&line, trend->moment_count, "snapshot", "snapshots");
	rep_text_put(&line, ": ");
	(bytes ? rep_text_size : rep_text_count)(&line, first);
	rep_text_put(&line, " -> ");
	(bytes ? rep_text_size : rep_text_count)(&line, last);
	rep_prose(t->emitter, REP_PLAIN, "%s %s\n", rep_text_string(&line), t->words->what);
	rep_text_release(&line);
	rep_value_string(t->emitter, "count", NULL, REP_WORD, rep_series_count_name(t->count));
	rep_value_number(t->emitter, "first_total", NULL, REP_COUNT, first);
	rep_value_number(t->emitter, "last_total", NULL, REP_COUNT, last);
	rep_value_number(t->emitter, "places_total", NULL, REP_COUNT, trend->count);
}

static enum hg_status write_series_trend(struct series_trend *t, uint64_t limit)
{
	if (!name_events(t))
		return HG_ERROR_LIMIT;
	rep_document_begin(t->emitter, "trace trend");
	write_growth_head(t);
	write_trend_moments(t);
	write_trend_events(t);
	if (t->emitter->writer->for_people)
		write_trend_for_people(t, limit);
	else
		write_trend_rows(t, limit);
	rep_document_end(t->emitter);
	return HG_OK;
}

enum hg_status rep_series_trend(
	struct rep_trace_context *context, enum hg_spacetime_count count, uint64_t limit)
{
	struct hg_spacetime_trend *trend;
	enum hg_status status = hg_list_spacetime_trend(context->trace, count, &trend);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	struct series_trend t = {.emitter = context->emitter,
		.trend = trend,
		.count = count,
		.words = &trend_counts[count]};
	status = write_series_trend(&t, limit);
	if (status != HG_OK)
		status = base_no_memory(context->error, trend->moment_count * sizeof(*t.events));
	for (size_t i = 0; t.events && i <= trend->moment_count; i++)
		rep_text_release(&t.events[i]);
	for (unsigned i = 0; i < t.shown_count; i++)
		rep_text_release(&t.headings[i]);
	free(t.events);
	free(t.amounts);
	rep_trace_note(context, &trend->losses);
	hg_spacetime_trend_release(&trend);
	return status;
}
