/* Places of allocation points, in the order of the walk. */
#include "query/spacetime/points.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct points_walk {
	struct hg_trace *trace;
	struct query_spacetime_points *points;
	struct spacetime_tables tables;
	struct spacetime_walk walk;
	struct base_map place_of; /* by return address, of those that have one */
	uint32_t *places;         /* of frames of the walk */
	uint64_t place_count, place_capacity;
};

static enum hg_status name_location(
	struct points_walk *w, const struct spacetime_location *location, uint32_t *place)
{
	char numbers[80];
	const char *file = trace_name(&w->tables.files, location->file);
	struct hg_error *error = &w->trace->session->error;
	int length = snprintf(numbers, sizeof(numbers), ":%" PRId64 ":%" PRId64 "-%" PRId64,
		location->line, location->start, location->end);
	size_t before = strlen(file);
	char *text = malloc(before + (size_t)length + 1);
	if (!text)
		return base_no_memory(error, before);
	memcpy(text, file, before);
	memcpy(text + before, numbers, (size_t)length + 1);
	enum hg_status status =
		trace_names_add(&w->trace->names, text, before + (size_t)length, place, error);
	free(text);
	return status;
}

/* Of a return address in OCaml; QUERY_NO_PLACE if none is known. */
static enum hg_status place_of_address(struct points_walk *w, uint64_t pc, uint32_t *place)
{
	uint32_t frame;
	*place = QUERY_NO_PLACE;
	if (base_map_number(&w->place_of, pc, place) ||
		!base_map_number(&w->tables.frame_of, pc, &frame))
		return HG_OK;
	const struct spacetime_span *span = &w->tables.frames[frame];
	for (uint32_t i = 0; i < span->count && *place == QUERY_NO_PLACE; i++)
		if (w->tables.locations[span->first + i].known)
			BASE_TRY(name_location(w, &w->tables.locations[span->first + i], place));
	return base_map_set(&w->place_of, pc, *place, &w->trace->session->error);
}

/* Of all frames that the walk has made: callers stand before those that they call. */
static enum hg_status find_places_of_frames(struct points_walk *w)
{
	while (w->place_count < w->walk.frame_count) {
		const struct spacetime_frame *frame = &w->walk.frames[w->place_count];
		uint32_t place = QUERY_NO_PLACE;
		if (w->place_count && !frame->in_c)
			BASE_TRY(place_of_address(w, frame->pc, &place));
		if (w->place_count && place == QUERY_NO_PLACE)
			place = w->places[frame->caller];
		BASE_TRY(base_grow(&w->places, w->place_count, &w->place_capacity,
			sizeof(*w->places), &w->trace->session->error));
		w->places[w->place_count++] = place;
	}
	return HG_OK;
}

static enum hg_status add_point(void *data, const struct spacetime_step *step)
{
	struct points_walk *w = data;
	struct query_spacetime_points *points = w->points;
	struct hg_error *error = &w->trace->session->error;
	struct query_spacetime_point point = {.annotation = step->annotation,
		.place = QUERY_NO_PLACE,
		.in_c = step->kind == SPACETIME_C_ALLOCATES,
		.words = step->words > 0 ? (uint64_t)step->words : 0};
	if (step->kind != SPACETIME_ALLOCATES && !point.in_c)
		return HG_OK;
	BASE_TRY(find_places_of_frames(w));
	if (!point.in_c)
		BASE_TRY(place_of_address(w, step->pc, &point.place));
	if (point.place == QUERY_NO_PLACE)
		point.place = w->places[step->caller];
	BASE_TRY(base_map_set(&points->by_annotation, step->annotation, points->count, error));
	BASE_TRY(base_grow(
		&points->points, points->count, &points->capacity, sizeof(*points->points), error));
	points->points[points->count++] = point;
	return HG_OK;
}

static enum hg_status walk_points(struct points_walk *w)
{
	const struct spacetime_series *series = &w->trace->series;
	struct hg_error *error = &w->trace->session->error;
	BASE_TRY(spacetime_read_tables(series, &w->tables, error));
	BASE_TRY(spacetime_walk_init(&w->walk, &w->tables, add_point, w, error));
	for (uint64_t i = 0; i < 2 * series->thread_count; i++) {
		bool any;
		base_file_forget(&w->trace->file, series->tries[i]);
		BASE_TRY(query_spacetime_skip(w->trace,
			spacetime_walk_trie(&w->walk, series, series->tries[i], &any),
			series->tries[i], "a trie of calls that cannot be read"));
	}
	return query_spacetime_note_walk(w->trace, &w->walk);
}

enum hg_status query_spacetime_points_init(
	struct query_spacetime_points *points, struct hg_trace *trace)
{
	struct points_walk w = {.trace = trace, .points = points};
	*points = (struct query_spacetime_points){0};
	if (!trace->series.complete)
		return HG_OK;
	enum hg_status status = walk_points(&w);
	spacetime_walk_release(&w.walk);
	spacetime_tables_release(&w.tables);
	base_map_release(&w.place_of);
	free(w.places);
	return status;
}

void query_spacetime_points_release(struct query_spacetime_points *points)
{
	free(points->points);
	base_map_release(&points->by_annotation);
	*points = (struct query_spacetime_points){0};
}
