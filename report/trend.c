/*
 * Growth over a series of snapshots, of which one is open at a time: of each, the bytes of every
 * class are kept, found again in the next by name.
 */
#include "report/report.h"

#include "base/hash.h"
#include "report/common.h"

#include <stdlib.h>
#include <string.h>

enum { CURVE_COLUMNS = 32 };
#define NO_SERIES SIZE_MAX

/* One class in one snapshot. */
struct point {
	uint32_t snapshot;
	uint64_t blocks, bytes, retained_bytes;
};

/* One class over all of them; points only where it has blocks, in order of snapshots. */
struct series {
	char *kind, *name;
	struct point *points;
	size_t count, capacity;
	size_t next; /* of the same hash, or NO_SERIES */
};

/* What is kept of a snapshot after it is closed. */
struct moment {
	char *file;
	char *partial; /* the reason, or "" */
	uint64_t pid, index;
	struct hg_totals totals;
};

struct rep_trend {
	enum hg_key key;
	struct moment *moments;
	size_t moments_count, moments_capacity;
	struct series *series;
	size_t series_count, series_capacity;
	struct base_map by_name; /* the first series of each hash of kind and name */
};

struct rep_trend *rep_trend_begin(enum hg_key key)
{
	struct rep_trend *trend = calloc(1, sizeof(*trend));
	if (trend)
		trend->key = key;
	return trend;
}

void rep_trend_release(struct rep_trend *trend)
{
	if (!trend)
		return;
	for (size_t i = 0; i < trend->moments_count; i++) {
		free(trend->moments[i].file);
		free(trend->moments[i].partial);
	}
	for (size_t i = 0; i < trend->series_count; i++) {
		free(trend->series[i].kind);
		free(trend->series[i].name);
		free(trend->series[i].points);
	}
	free(trend->moments);
	free(trend->series);
	base_map_release(&trend->by_name);
	free(trend);
}

/* Makes room for one more element; false when memory runs out. */
static bool grow_array(void **array, size_t count, size_t *capacity, size_t size)
{
	if (count < *capacity)
		return true;
	size_t more = *capacity ? *capacity * 2 : 16;
	void *bigger = realloc(*array, more * size);
	if (!bigger)
		return false;
	*array = bigger;
	*capacity = more;
	return true;
}

/* The series of a name; NULL when memory runs out. */
static struct series *get_series(
	struct rep_trend *trend, const char *kind, const char *name, struct hg_error *error)
{
	const struct base_secret *secret = base_process_secret();
	uint64_t hash = base_hash_join(secret, base_hash_bytes(secret, kind, strlen(kind)),
		base_hash_bytes(secret, name, strlen(name)));
	uint64_t first = trend->series_count;
	bool added;
	if (base_map_add(&trend->by_name, hash, &first, &added, error) != HG_OK)
		return NULL;
	for (uint64_t i = first; !added && i != NO_SERIES; i = trend->series[i].next)
		if (strcmp(trend->series[i].name, name) == 0 &&
			strcmp(trend->series[i].kind, kind) == 0)
			return &trend->series[i];
	if (!grow_array((void **)&trend->series, trend->series_count, &trend->series_capacity,
		    sizeof(*trend->series)))
		return NULL;
	struct series series = {.kind = strdup(kind), .name = strdup(name), .next = NO_SERIES};
	if (!series.kind || !series.name) {
		free(series.kind);
		free(series.name);
		return NULL;
	}
	if (!added) {
		series.next = trend->series[first].next;
		trend->series[first].next = trend->series_count;
	}
	trend->series[trend->series_count] = series;
	return &trend->series[trend->series_count++];
}

/* Names that are the same for two classes of a snapshot (two stack slots) are added up. */
static bool add_point(
	struct rep_trend *trend, const char *kind, const char *name, const struct hg_class *row)
{
	uint32_t snapshot = (uint32_t)(trend->moments_count - 1);
	struct hg_error error; /* it can only be want of memory, which the caller says */
	struct series *series = get_series(trend, kind, name, &error);
	if (!series)
		return false;
	if (series->count && series->points[series->count - 1].snapshot == snapshot) {
		struct point *point = &series->points[series->count - 1];
		point->blocks += row->blocks;
		point->bytes += row->bytes;
		point->retained_bytes += row->retained_bytes;
		return true;
	}
	if (!grow_array((void **)&series->points, series->count, &series->capacity,
		    sizeof(*series->points)))
		return false;
	series->points[series->count++] =
		(struct point){snapshot, row->blocks, row->bytes, row->retained_bytes};
	return true;
}

static bool add_moment(
	struct rep_trend *trend, struct hg_snapshot *snapshot, const struct hg_totals *totals)
{
	struct hg_info info;
	if (!grow_array((void **)&trend->moments, trend->moments_count, &trend->moments_capacity,
		    sizeof(*trend->moments)))
		return false;
	info = *hg_snapshot_info(snapshot);
	struct moment *moment = &trend->moments[trend->moments_count++];
	struct rep_text reason = {0};
	if (*info.partial)
		rep_partial_reason(&reason, &info);
	*moment = (struct moment){.file = strdup(info.path),
		.partial = strdup(rep_text_string(&reason)),
		.pid = info.pid,
		.index = info.index,
		.totals = *totals};
	rep_text_release(&reason);
	return moment->file && moment->partial;
}

enum hg_status rep_trend_add(struct rep_trend *trend, struct rep_context *context)
{
	struct rep_text kind = {0}, name = {0};
	struct hg_top *top = NULL;
	const struct hg_totals *totals;
	enum hg_status status = hg_count_totals(context->snapshot, &totals);
	if (status == HG_OK)
		status = hg_list_top(context->snapshot, trend->key, NULL, &top);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	bool fine = add_moment(trend, context->snapshot, totals);
	for (size_t i = 0; i < top->count && fine; i++) {
		const struct hg_class *row = top->rows[i];
		rep_text_clear(&kind);
		rep_text_clear(&name);
		rep_class_names(context->snapshot, trend->key, row->id, &kind, &name);
		fine = !kind.failed && !name.failed &&
		       add_point(trend, rep_text_string(&kind), rep_text_string(&name), row);
	}
	rep_text_release(&kind);
	rep_text_release(&name);
	hg_top_release(&top);
	return fine ? HG_OK : rep_no_memory(context);
}

/* Bytes of a class in a snapshot, 0 where it has none; 'at' advances through the points. */
static uint64_t bytes_at(const struct series *series, size_t *at, size_t snapshot)
{
	while (*at < series->count && series->points[*at].snapshot < snapshot)
		(*at)++;
	bool there = *at < series->count && series->points[*at].snapshot == snapshot;
	return there ? series->points[*at].bytes : 0;
}

static uint64_t first_bytes(const struct series *series)
{
	size_t at = 0;
	return bytes_at(series, &at, 0);
}

static uint64_t last_bytes(const struct rep_trend *trend, const struct series *series)
{
	size_t at = 0;
	return bytes_at(series, &at, trend->moments_count - 1);
}

/* How many of the steps from one snapshot to the next made it bigger. */
static uint64_t steps_up(const struct rep_trend *trend, const struct series *series)
{
	size_t at = 0;
	uint64_t before = bytes_at(series, &at, 0), steps = 0;
	for (size_t i = 1; i < trend->moments_count; i++) {
		uint64_t now = bytes_at(series, &at, i);
		steps += now > before;
		before = now;
	}
	return steps;
}

/* The curve of bytes in one line, each column the largest of the snapshots it stands for. */
static void draw_curve(
	struct rep_text *text, const struct rep_trend *trend, const struct series *series)
{
	static const char levels[] = " .:-=+*#";
	size_t columns =
		trend->moments_count < CURVE_COLUMNS ? trend->moments_count : CURVE_COLUMNS;
	uint64_t most = 1;
	for (size_t i = 0; i < series->count; i++)
		if (series->points[i].bytes > most)
			most = series->points[i].bytes;
	size_t at = 0, snapshot = 0;
	for (size_t column = 0; column < columns; column++) {
		uint64_t height = 0;
		for (; snapshot < (column + 1) * trend->moments_count / columns; snapshot++) {
			uint64_t bytes = bytes_at(series, &at, snapshot);
			height = bytes > height ? bytes : height;
		}
		uint64_t points = rep_basis_points(height, most);
		rep_text_add(text, &levels[height ? 1 + points * 6 / 10000 : 0], 1);
	}
}

/* The series by how much they changed; NULL when memory runs out. */
static struct rep_ranked *rank_series(const struct rep_trend *trend)
{
	size_t count = trend->series_count;
	struct rep_ranked *rows = calloc(count ? count : 1, sizeof(*rows));
	for (size_t i = 0; rows && i < count; i++) {
		const struct series *series = &trend->series[i];
		uint64_t from = first_bytes(series), to = last_bytes(trend, series);
		struct rep_text name = {0};
		rep_text_printf(&name, "%s %s", series->kind, series->name);
		rows[i].amount = rep_difference(from, to);
		rows[i].position = i;
		rows[i].name = name.bytes;
		if (name.failed) {
			rep_ranked_free(rows, count);
			return NULL;
		}
	}
	if (rows)
		rep_rank(rows, count);
	return rows;
}

static void write_moments(struct rep_emitter *emitter, const struct rep_trend *trend)
{
	static const struct rep_column columns[] = {
		{"position", "#", REP_NUMBER, 0},
		{"file", "snapshot", REP_PATH, REP_LAST},
		{"pid", NULL, REP_NUMBER, 0},
		{"index", NULL, REP_NUMBER, 0},
		{"blocks", "blocks", REP_COUNT, 0},
		{"bytes", "bytes", REP_BYTES, 0},
		{"reachable_blocks", "reachable", REP_COUNT, 0},
		{"reachable_bytes", "bytes", REP_BYTES, 0},
	};
	if (emitter->writer->one_part)
		return;
	rep_table_begin(emitter, "snapshots", columns, 8);
	for (size_t i = 0; i < trend->moments_count; i++) {
		const struct moment *moment = &trend->moments[i];
		rep_cell_number(emitter, i);
		rep_cell_string(emitter, moment->file);
		rep_cell_known(emitter, moment->pid);
		rep_cell_known(emitter, moment->index);
		rep_cell_number(emitter, moment->totals.blocks);
		rep_cell_number(emitter, moment->totals.bytes);
		rep_cell_number(emitter, moment->totals.reachable_blocks);
		rep_cell_number(emitter, moment->totals.reachable_bytes);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
}

static void write_curve_row(
	struct rep_emitter *emitter, const struct rep_trend *trend, const struct series *series)
{
	struct rep_text curve = {0}, steps = {0};
	uint64_t from = first_bytes(series), to = last_bytes(trend, series);
	draw_curve(&curve, trend, series);
	rep_text_printf(&steps, "%llu of %zu", (unsigned long long)steps_up(trend, series),
		trend->moments_count - 1);
	rep_key_cells(emitter, trend->key, series->kind, series->name);
	rep_cell_number(emitter, from);
	rep_cell_number(emitter, to);
	rep_cell_change(emitter, from, to);
	rep_cell_string(emitter, rep_text_string(&steps));
	rep_cell_string(emitter, rep_text_string(&curve));
	rep_row_end(emitter);
	emitter->failed |= curve.failed || steps.failed;
	rep_text_release(&curve);
	rep_text_release(&steps);
}

static void write_curves(struct rep_emitter *emitter, const struct rep_trend *trend,
	const struct rep_ranked *ranked, size_t shown)
{
	static const struct rep_column measures[] = {
		{NULL, "first", REP_BYTES, 0},
		{NULL, "last", REP_BYTES, 0},
		{NULL, "change", REP_CHANGE_BYTES, 0},
		{NULL, "steps up", REP_WORD, 0},
		{NULL, "curve", REP_WORD, REP_DRAWING},
	};
	struct rep_column columns[REP_MAX_COLUMNS];
	unsigned count = rep_key_columns(trend->key, columns);
	memcpy(columns + count, measures, sizeof(measures));
	rep_headline(emitter, "Bytes from the first snapshot to the last; most change first");
	rep_table_begin(emitter, "rows", columns, count + 5);
	for (size_t i = 0; i < shown; i++)
		write_curve_row(emitter, trend, &trend->series[ranked[i].position]);
	rep_table_end(emitter);
}

/* CSV and JSON: one row for every class in every snapshot that has it. */
static void write_points(struct rep_emitter *emitter, const struct rep_trend *trend,
	const struct rep_ranked *ranked, size_t shown)
{
	static const struct rep_column measures[] = {
		{"blocks", NULL, REP_COUNT, 0},
		{"bytes", NULL, REP_BYTES, 0},
		{"retained_bytes", NULL, REP_BYTES, 0},
	};
	struct rep_column columns[REP_MAX_COLUMNS] = {{"index", NULL, REP_NUMBER, 0}};
	unsigned count = 1 + rep_key_columns(trend->key, columns + 1);
	memcpy(columns + count, measures, sizeof(measures));
	rep_table_begin(emitter, "rows", columns, count + 3);
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++) {
		const struct series *series = &trend->series[ranked[i].position];
		for (size_t j = 0; j < series->count; j++) {
			const struct point *point = &series->points[j];
			rep_cell_number(emitter, point->snapshot);
			rep_key_cells(emitter, trend->key, series->kind, series->name);
			rep_cell_number(emitter, point->blocks);
			rep_cell_number(emitter, point->bytes);
			rep_cell_number(emitter, point->retained_bytes);
			rep_row_end(emitter);
		}
	}
	rep_table_end(emitter);
}

static void write_trend_head(struct rep_emitter *emitter, const struct rep_trend *trend)
{
	struct rep_text file = {0}, reason = {0};
	const char *first = NULL;
	for (size_t i = 0; i < trend->moments_count; i++) {
		const struct moment *moment = &trend->moments[i];
		if (!*moment->partial)
			continue;
		first = first ? first : moment->partial;
		rep_prose(emitter, REP_BAD, "PARTIAL: %s: %s\n", rep_escaped(&file, moment->file),
			rep_escaped(&reason, moment->partial));
	}
	if (first)
		rep_value_string(emitter, "partial", NULL, REP_WORD, first);
	rep_value_string(emitter, "by", NULL, REP_WORD, hg_key_name(trend->key));
	rep_text_release(&file);
	rep_text_release(&reason);
}

enum hg_status rep_trend_write(struct rep_trend *trend, struct rep_context *context, uint64_t limit)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_ranked *ranked = rank_series(trend);
	if (!ranked)
		return rep_no_memory(context);
	size_t shown = limit && limit < trend->series_count ? (size_t)limit : trend->series_count;
	rep_document_begin(emitter, "trend");
	write_trend_head(emitter, trend);
	write_moments(emitter, trend);
	if (emitter->writer->for_people)
		write_curves(emitter, trend, ranked, shown);
	else
		write_points(emitter, trend, ranked, shown);
	rep_more_rows(
		emitter, trend->series_count - shown, rep_key_plural(trend->key), "--limit 0");
	rep_document_end(emitter);
	rep_ranked_free(ranked, trend->series_count);
	return HG_OK;
}
