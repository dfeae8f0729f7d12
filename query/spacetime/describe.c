/* What a series holds, and whether its numbers agree. */
#include "query/spacetime/spacetime.h"

#include "query/spacetime/points.h"

#include "base/grow.h"

/* Annotations are the numbers of allocation points in the order of their first allocation. */
enum { ANNOTATION_END = 1 << 26 };

struct spacetime_description {
	struct hg_trace *trace;
	struct hg_spacetime_info *info;
	struct hg_spacetime_moment *moments;
	struct hg_error *error;
	/* words allocated by annotation, at the last snapshot; then of the tries */
	int64_t *last_totals;
	uint64_t total_count, total_capacity;
	struct spacetime_walk walk;
	/* By annotation: entries of snapshots for which the walk has not met a point. */
	uint32_t *unknown;
	uint64_t met, unknown_capacity;
	uint64_t blocks, words, allocated; /* of the snapshot that is being read */
};

/* The versions of OCaml that write boxed integers, and counts, as they stand here. */
static const char *compiler_of(const struct spacetime_series *series)
{
	enum { HEADER = 20, CELL = 0xa0, CUSTOM = 0x12, CUSTOM_FIXED = 0x19 };
	struct base_cursor c = series->file;
	uint8_t list = 0, pair = 0, code = 0;
	if (!series->call_counts)
		return "OCaml 4.04 or 4.05";
	if (series->complete && base_cursor_seek(&c, series->shapes) &&
		base_cursor_skip(&c, HEADER) && base_cursor_u8(&c, &list) &&
		base_cursor_u8(&c, &pair) && base_cursor_u8(&c, &code) && list == CELL &&
		pair == CELL && (code == CUSTOM || code == CUSTOM_FIXED))
		return code == CUSTOM ? "OCaml 4.06 or 4.07" : "OCaml 4.08 to 4.11";
	return "OCaml 4.06 to 4.11";
}

static uint64_t unsigned_of(int64_t number)
{
	return number > 0 ? (uint64_t)number : 0;
}

static void describe_gc(const int64_t *gc, struct hg_spacetime_moment *moment)
{
	enum { WORDS_AGAIN = 8 }; /* all versions divide words by 8, as if they were bytes */
	uint64_t *const numbers[SPACETIME_GC_NUMBERS] = {&moment->minor_words,
		&moment->promoted_words, &moment->major_words, &moment->minor_collections,
		&moment->major_collections, &moment->heap_words, &moment->heap_chunks,
		&moment->compactions, &moment->top_heap_words};
	for (unsigned i = 0; i < SPACETIME_GC_NUMBERS; i++)
		*numbers[i] = unsigned_of(gc[i]);
	moment->heap_words *= WORDS_AGAIN;
	moment->top_heap_words *= WORDS_AGAIN;
}

/* Totals since the start never fall. */
static enum hg_status describe_totals(
	void *data, const struct spacetime_total *totals, uint64_t count)
{
	struct spacetime_description *d = data;
	for (uint64_t i = 0; i < count; i++) {
		const struct spacetime_total *total = &totals[i];
		d->allocated += unsigned_of(total->words);
		if (total->annotation >= ANNOTATION_END || total->words < 0) {
			d->info->contradictions++;
			continue;
		}
		while (d->total_count <= total->annotation) {
			BASE_TRY(base_huge_grow(&d->last_totals, d->total_count, 1,
				&d->total_capacity, sizeof(*d->last_totals), d->error));
			d->last_totals[d->total_count++] = 0;
		}
		d->info->contradictions += total->words < d->last_totals[total->annotation];
		d->last_totals[total->annotation] = total->words;
	}
	return HG_OK;
}

static enum hg_status describe_entries(
	void *data, const struct spacetime_entry *entries, uint64_t count)
{
	struct spacetime_description *d = data;
	for (uint64_t i = 0; i < count; i++) {
		const struct spacetime_entry *entry = &entries[i];
		d->blocks += unsigned_of(entry->blocks);
		d->words += unsigned_of(entry->words);
		if (entry->annotation >= ANNOTATION_END) {
			d->info->contradictions++;
			continue;
		}
		while (d->met <= entry->annotation) {
			BASE_TRY(base_huge_grow(&d->unknown, d->met, 1, &d->unknown_capacity,
				sizeof(*d->unknown), d->error));
			d->unknown[d->met++] = 0;
		}
		d->unknown[entry->annotation]++;
	}
	return HG_OK;
}

static enum hg_status describe_moment(struct spacetime_description *d, uint64_t number)
{
	const struct spacetime_moment *from = &d->trace->series.moments[number];
	const struct spacetime_visitor visitor = {describe_entries, describe_totals, d};
	struct hg_spacetime_moment *to = &d->moments[number];
	struct spacetime_snapshot snapshot;
	*to = (struct hg_spacetime_moment){
		.is_event = from->is_event, .time = from->time, .name = from->name};
	if (from->is_event)
		return HG_OK;
	d->blocks = d->words = d->allocated = 0;
	enum hg_status status =
		spacetime_visit_snapshot(&d->trace->series, from, &visitor, &snapshot, d->error);
	if (status == HG_OK) {
		to->readable = true;
		to->scanned = unsigned_of(snapshot.scanned);
		to->places = snapshot.entry_count;
		to->blocks = d->blocks;
		to->words = d->words;
		to->allocated = d->allocated;
		describe_gc(snapshot.gc, to);
		d->info->contradictions += d->words != unsigned_of(snapshot.annotated);
	} else {
		status = query_spacetime_skip(
			d->trace, status, from->offset, "a snapshot that cannot be read");
	}
	spacetime_snapshot_release(&snapshot);
	return status;
}

/* What the tries count at the end is at least what the last snapshot has. */
static enum hg_status describe_point(
	struct spacetime_description *d, const struct spacetime_step *step)
{
	if (!step->annotation && !step->words)
		return HG_OK;
	d->info->points++;
	d->info->allocated += unsigned_of(step->words);
	if (step->caller + UINT64_C(1) > d->info->deepest)
		d->info->deepest = step->caller + UINT64_C(1);
	if (step->annotation < d->total_count)
		d->info->contradictions += step->words < d->last_totals[step->annotation];
	if (step->annotation < d->met)
		d->unknown[step->annotation] = 0;
	return HG_OK;
}

static enum hg_status describe_step(void *data, const struct spacetime_step *step)
{
	struct spacetime_description *d = data;
	if (step->kind == SPACETIME_ALLOCATES || step->kind == SPACETIME_C_ALLOCATES)
		return describe_point(d, step);
	d->info->calls += step->kind != SPACETIME_NODE;
	return HG_OK;
}

static enum hg_status describe_calls(struct spacetime_description *d)
{
	BASE_TRY(query_spacetime_walk_all(d->trace, &d->walk));
	if (d->walk.deepest > d->info->deepest)
		d->info->deepest = d->walk.deepest;
	d->info->tries = d->walk.tries;
	d->info->nodes = d->walk.nodes;
	d->info->repaired = d->walk.repaired;
	/* Every annotation of a snapshot is one of a point in the tries. */
	for (uint64_t i = 0; i < d->met; i++)
		d->info->contradictions += d->unknown[i];
	return HG_OK;
}

static enum hg_status describe_tables(struct spacetime_description *d)
{
	struct spacetime_tables tables;
	enum hg_status status = spacetime_read_shapes(&d->trace->series, &tables, d->error);
	d->info->frames = tables.frame_count;
	d->info->shapes = tables.shape_count;
	if (status == HG_OK)
		status = spacetime_walk_init(&d->walk, &tables, describe_step, d, d->error);
	d->walk.path_only = true;
	if (status == HG_OK)
		status = describe_calls(d);
	spacetime_walk_release(&d->walk);
	spacetime_tables_release(&tables);
	return status;
}

static enum hg_status describe_series(struct spacetime_description *d)
{
	struct hg_trace *trace = d->trace;
	const struct spacetime_series *series = &trace->series;
	void *memory;
	BASE_TRY(base_pool_alloc(
		&trace->series_pool, 1, sizeof(struct hg_spacetime_info), &memory, d->error));
	d->info = memory;
	BASE_TRY(base_pool_alloc(
		&trace->series_pool, series->moment_count, sizeof(*d->moments), &memory, d->error));
	d->moments = memory;
	*d->info = (struct hg_spacetime_info){.path = trace->path,
		.file_bytes = trace->file.size,
		.compiler = compiler_of(series),
		.call_counts = series->call_counts,
		.moments = d->moments,
		.moment_count = series->moment_count,
		.snapshot_count = series->snapshot_count,
		.event_count = series->event_count,
		.complete = series->complete,
		.close_time = series->close_time};
	for (uint64_t i = 0; i < series->moment_count; i++)
		BASE_TRY(describe_moment(d, i));
	if (series->complete)
		BASE_TRY(describe_tables(d));
	return query_spacetime_end(trace, &d->info->losses);
}

enum hg_status hg_describe_spacetime(struct hg_trace *trace, const struct hg_spacetime_info **out)
{
	BASE_TRY(query_spacetime_begin(trace, (void *)out));
	if (trace->series_info) {
		*out = trace->series_info;
		return HG_OK;
	}
	struct spacetime_description d = {.trace = trace, .error = &trace->session->error};
	enum hg_status status = describe_series(&d);
	base_huge_release(d.last_totals, d.total_capacity, sizeof(*d.last_totals));
	base_huge_release(d.unknown, d.unknown_capacity, sizeof(*d.unknown));
	if (status != HG_OK)
		return query_trace_failed(trace, status);
	*out = trace->series_info = d.info;
	return HG_OK;
}
