/* What a series holds, and whether its numbers agree. */
#include "query/spacetime/spacetime.h"

#include "query/spacetime/points.h"

#include "base/bits.h"
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
	uint32_t *depths; /* of frames of the walk */
	uint64_t depth_count, depth_capacity;
	uint64_t *known; /* bits: annotations that a point of the tries has */
	uint64_t met;    /* annotations that snapshots have */
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
static enum hg_status compare_totals(
	struct spacetime_description *d, const struct spacetime_snapshot *snapshot)
{
	for (uint64_t i = 0; i < snapshot->total_count; i++) {
		const struct spacetime_total *total = &snapshot->totals[i];
		if (total->annotation >= ANNOTATION_END || total->words < 0) {
			d->info->contradictions++;
			continue;
		}
		while (d->total_count <= total->annotation) {
			BASE_TRY(base_grow(&d->last_totals, d->total_count, &d->total_capacity,
				sizeof(*d->last_totals), d->error));
			d->last_totals[d->total_count++] = 0;
		}
		d->info->contradictions += total->words < d->last_totals[total->annotation];
		d->last_totals[total->annotation] = total->words;
	}
	return HG_OK;
}

static enum hg_status describe_snapshot(struct spacetime_description *d,
	const struct spacetime_snapshot *snapshot, struct hg_spacetime_moment *moment)
{
	uint64_t words = 0;
	moment->readable = true;
	moment->scanned = unsigned_of(snapshot->scanned);
	moment->places = snapshot->entry_count;
	describe_gc(snapshot->gc, moment);
	for (uint64_t i = 0; i < snapshot->entry_count; i++) {
		const struct spacetime_entry *entry = &snapshot->entries[i];
		moment->blocks += unsigned_of(entry->blocks);
		words += unsigned_of(entry->words);
		if (entry->annotation >= ANNOTATION_END)
			d->info->contradictions++;
		else if (entry->annotation >= d->met)
			d->met = entry->annotation + UINT64_C(1);
	}
	for (uint64_t i = 0; i < snapshot->total_count; i++)
		moment->allocated += unsigned_of(snapshot->totals[i].words);
	moment->words = words;
	d->info->contradictions += words != unsigned_of(snapshot->annotated);
	return compare_totals(d, snapshot);
}

static enum hg_status describe_moment(struct spacetime_description *d, uint64_t number)
{
	const struct spacetime_moment *from = &d->trace->series.moments[number];
	struct hg_spacetime_moment *to = &d->moments[number];
	struct spacetime_snapshot snapshot;
	*to = (struct hg_spacetime_moment){
		.is_event = from->is_event, .time = from->time, .name = from->name};
	if (from->is_event)
		return HG_OK;
	enum hg_status status =
		spacetime_read_snapshot(&d->trace->series, from, &snapshot, d->error);
	if (status == HG_OK)
		status = describe_snapshot(d, &snapshot, to);
	else
		status = query_spacetime_skip(
			d->trace, status, from->offset, "a snapshot that cannot be read");
	spacetime_snapshot_release(&snapshot);
	return status;
}

/* Of the frame that the walk made last, and of those before it that it did not tell of. */
static enum hg_status note_depths(struct spacetime_description *d)
{
	while (d->depth_count < d->walk.frame_count) {
		BASE_TRY(base_grow(&d->depths, d->depth_count, &d->depth_capacity,
			sizeof(*d->depths), d->error));
		d->depths[d->depth_count] =
			d->depth_count ? d->depths[d->walk.frames[d->depth_count].caller] + 1 : 0;
		if (d->depths[d->depth_count] > d->info->deepest)
			d->info->deepest = d->depths[d->depth_count];
		d->depth_count++;
	}
	return HG_OK;
}

/* What the tries count at the end is at least what the last snapshot has. */
static enum hg_status describe_point(
	struct spacetime_description *d, const struct spacetime_step *step)
{
	if (!step->annotation && !step->words)
		return HG_OK;
	d->info->points++;
	d->info->allocated += unsigned_of(step->words);
	if (d->depths[step->caller] + UINT64_C(1) > d->info->deepest)
		d->info->deepest = d->depths[step->caller] + UINT64_C(1);
	if (step->annotation < d->total_count)
		d->info->contradictions += step->words < d->last_totals[step->annotation];
	if (step->annotation < d->met)
		base_bit_set(d->known, step->annotation);
	return HG_OK;
}

static enum hg_status describe_step(void *data, const struct spacetime_step *step)
{
	struct spacetime_description *d = data;
	BASE_TRY(note_depths(d));
	if (step->kind == SPACETIME_ALLOCATES || step->kind == SPACETIME_C_ALLOCATES)
		return describe_point(d, step);
	d->info->calls += step->kind != SPACETIME_NODE;
	return HG_OK;
}

/* Every annotation of a snapshot is one of a point in the tries. */
static enum hg_status check_annotations(
	struct spacetime_description *d, const struct spacetime_moment *moment)
{
	struct spacetime_snapshot snapshot;
	enum hg_status status =
		spacetime_read_snapshot(&d->trace->series, moment, &snapshot, d->error);
	for (uint64_t i = 0; status == HG_OK && i < snapshot.entry_count; i++) {
		uint32_t annotation = snapshot.entries[i].annotation;
		d->info->contradictions += annotation < d->met && !base_bit(d->known, annotation);
	}
	spacetime_snapshot_release(&snapshot);
	if (status == HG_ERROR_INPUT) {
		base_error_clear(d->error);
		return HG_OK;
	}
	return status;
}

static enum hg_status describe_calls(struct spacetime_description *d)
{
	const struct spacetime_series *series = &d->trace->series;
	d->known = calloc(base_bit_words(d->met), sizeof(*d->known));
	if (!d->known)
		return base_no_memory(d->error, d->met / 8);
	BASE_TRY(query_spacetime_walk_all(d->trace, &d->walk));
	BASE_TRY(note_depths(d));
	d->info->tries = d->walk.tries;
	d->info->nodes = d->walk.nodes;
	d->info->repaired = d->walk.repaired;
	for (uint64_t i = 0; i < series->moment_count; i++)
		if (!series->moments[i].is_event)
			BASE_TRY(check_annotations(d, &series->moments[i]));
	return HG_OK;
}

static enum hg_status describe_tables(struct spacetime_description *d)
{
	struct spacetime_tables tables;
	enum hg_status status = spacetime_read_tables(&d->trace->series, &tables, d->error);
	d->info->frames = tables.frame_count;
	d->info->shapes = tables.shape_count;
	if (status == HG_OK)
		status = spacetime_walk_init(&d->walk, &tables, describe_step, d, d->error);
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
	free(d.last_totals);
	free(d.depths);
	free(d.known);
	if (status != HG_OK)
		return query_trace_failed(trace, status);
	*out = trace->series_info = d.info;
	return HG_OK;
}
