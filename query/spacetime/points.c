/* Places of allocation points, in the order of the walk. */
#include "query/spacetime/points.h"

#include "base/grow.h"

struct points_walk {
	struct hg_trace *trace;
	struct query_spacetime_points *points;
	struct query_spacetime_places names;
	struct spacetime_walk walk;
	struct points_frame {
		uint32_t place;
		uint32_t function; /* of C frames: the outermost of them; else QUERY_NO_PLACE */
	} * places;                /* of frames of the walk */
	uint64_t place_count, place_capacity;
};

/* The C function that OCaml code called, below which an address is; where none did, its own. */
static enum hg_status find_c_function(
	struct points_walk *w, uint32_t caller, uint64_t pc, uint32_t *function)
{
	const struct points_frame *outer = &w->places[caller];
	*function = outer->place == QUERY_NO_PLACE ? QUERY_NO_PLACE : outer->function;
	return *function == QUERY_NO_PLACE ? query_spacetime_symbol(&w->names, pc - 1, function)
					   : HG_OK;
}

/* Of all frames that the walk has made: callers stand before those that they call. */
static enum hg_status find_places_of_frames(struct points_walk *w)
{
	while (w->place_count < w->walk.frame_count) {
		const struct spacetime_frame *frame = &w->walk.frames[w->place_count];
		struct points_frame found = {QUERY_NO_PLACE, QUERY_NO_PLACE};
		if (w->place_count && !frame->in_c)
			BASE_TRY(query_spacetime_place(&w->names, frame->pc, &found.place));
		if (w->place_count && frame->in_c)
			BASE_TRY(find_c_function(w, frame->caller, frame->pc, &found.function));
		if (w->place_count && found.place == QUERY_NO_PLACE)
			found.place = w->places[frame->caller].place;
		BASE_TRY(base_grow(&w->places, w->place_count, &w->place_capacity,
			sizeof(*w->places), &w->trace->session->error));
		w->places[w->place_count++] = found;
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
		.function = QUERY_NO_PLACE,
		.in_c = step->kind == SPACETIME_C_ALLOCATES,
		.words = step->words > 0 ? (uint64_t)step->words : 0};
	if (step->kind != SPACETIME_ALLOCATES && !point.in_c)
		return HG_OK;
	BASE_TRY(find_places_of_frames(w));
	if (point.in_c)
		BASE_TRY(find_c_function(w, step->caller, step->pc, &point.function));
	else
		BASE_TRY(query_spacetime_place(&w->names, step->pc, &point.place));
	if (point.place == QUERY_NO_PLACE)
		point.place = w->places[step->caller].place;
	BASE_TRY(base_map_set(&points->by_annotation, step->annotation, points->count, error));
	BASE_TRY(base_grow(
		&points->points, points->count, &points->capacity, sizeof(*points->points), error));
	points->points[points->count++] = point;
	return HG_OK;
}

static enum hg_status walk_points(struct points_walk *w)
{
	struct hg_error *error = &w->trace->session->error;
	BASE_TRY(query_spacetime_places_init(&w->names, w->trace));
	BASE_TRY(spacetime_walk_init(&w->walk, &w->names.tables, add_point, w, error));
	return query_spacetime_walk_all(w->trace, &w->walk);
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
	query_spacetime_places_release(&w.names);
	free(w.places);
	return status;
}

void query_spacetime_points_release(struct query_spacetime_points *points)
{
	free(points->points);
	base_map_release(&points->by_annotation);
	*points = (struct query_spacetime_points){0};
}
