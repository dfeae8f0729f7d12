/* The walk over all tries makes the nodes; one snapshot says what of it is alive. */
#include "query/spacetime/calls.h"

#include "base/grow.h"

#include <string.h>

static enum hg_status add_call_node(struct query_series_calls *c, uint32_t parent, uint32_t place)
{
	struct query_call_list *list = &c->list;
	if (list->count == UINT32_MAX)
		return base_fail(c->error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many calls");
	BASE_TRY(base_grow(
		&list->labels, list->count, &c->label_capacity, sizeof(*list->labels), c->error));
	BASE_TRY(
		base_grow(&list->nodes, list->count, &c->capacity, sizeof(*list->nodes), c->error));
	list->labels[list->count] = place;
	list->nodes[list->count] = (struct hg_trace_node){.parent = parent,
		.depth = list->count ? list->nodes[parent].depth + 1 : 0,
		.name = list->count ? trace_name(&c->trace->names, place) : ""};
	list->count++;
	return HG_OK;
}

/* Whoever marked the place later keeps it. */
static void unmark_place(struct query_series_calls *c, uint32_t node)
{
	uint32_t *mark = &c->marks[c->list.labels[node]];
	if (*mark == node)
		*mark = 0;
}

/* Leaves marked the places from a node to the root, and no others; nodes come as the walk goes. */
static void mark_path(struct query_series_calls *c, uint32_t node)
{
	const struct query_call_list *list = &c->list;
	uint32_t from = c->marked;
	c->marked = node;
	while (from != node) {
		if (list->nodes[from].depth >= list->nodes[node].depth) {
			unmark_place(c, from);
			from = list->nodes[from].parent;
		} else {
			c->marks[list->labels[node]] = node;
			node = list->nodes[node].parent;
		}
	}
}

static enum hg_status find_place_on_path(
	struct query_series_calls *c, uint32_t node, uint32_t place, bool *found)
{
	const uint64_t before = c->mark_capacity;
	if (place >= before) {
		BASE_TRY(base_grow_by(&c->marks, before, place - before + 1, &c->mark_capacity,
			sizeof(*c->marks), c->error));
		memset(c->marks + before, 0, (c->mark_capacity - before) * sizeof(*c->marks));
	}
	mark_path(c, node);
	*found = c->marks[place] != 0;
	return HG_OK;
}

static enum hg_status enter_place_of_call(
	struct query_series_calls *c, uint32_t *node, uint32_t place)
{
	uint64_t child = c->list.count;
	bool added, found = false;
	if (!c->view.all_frames)
		BASE_TRY(find_place_on_path(c, *node, place, &found));
	if (found)
		return HG_OK;
	BASE_TRY(base_map_add(
		&c->children, (uint64_t)*node << 32 | place, &child, &added, c->error));
	if (added)
		BASE_TRY(add_call_node(c, *node, place));
	*node = (uint32_t)child;
	return HG_OK;
}

/* All places of a return address, the outermost first. */
static enum hg_status enter_address(
	struct query_series_calls *c, uint32_t *node, uint64_t pc, bool in_c)
{
	const struct spacetime_tables *tables = &c->names.tables;
	uint32_t frame, place, found = 0;
	struct spacetime_span span = {0};
	if (!in_c && base_map_number(&tables->frame_of, pc, &frame))
		span = tables->frames[frame];
	for (uint32_t i = span.count; i-- > 0;) {
		if (!tables->locations[span.first + i].known)
			continue;
		BASE_TRY(query_spacetime_name(&c->names, span.first + i, &place));
		BASE_TRY(enter_place_of_call(c, node, place));
		found++;
	}
	if (found)
		return HG_OK;
	BASE_TRY(query_spacetime_symbol(&c->names, pc - 1, &place));
	return place == QUERY_NO_PLACE ? HG_OK : enter_place_of_call(c, node, place);
}

/* Of all frames that the walk has made. */
static enum hg_status find_nodes_of_frames(struct query_series_calls *c)
{
	while (c->frame_count < c->walk.frame_count) {
		const struct spacetime_frame *frame = &c->walk.frames[c->frame_count];
		uint32_t node = c->frame_count ? c->node_of[frame->caller] : 0;
		if (c->frame_count)
			BASE_TRY(enter_address(c, &node, frame->pc, frame->in_c));
		BASE_TRY(base_grow(&c->node_of, c->frame_count, &c->frame_capacity,
			sizeof(*c->node_of), c->error));
		c->node_of[c->frame_count++] = node;
	}
	return HG_OK;
}

static enum hg_status node_of_step(
	struct query_series_calls *c, const struct spacetime_step *step, uint32_t *node)
{
	BASE_TRY(find_nodes_of_frames(c));
	*node = c->node_of[step->caller];
	return enter_address(c, node, step->pc, step->kind == SPACETIME_C_ALLOCATES);
}

static uint64_t or_none(int64_t number)
{
	return number > 0 ? (uint64_t)number : 0;
}

static enum hg_status add_point_to_calls(void *data, const struct spacetime_step *step)
{
	struct query_series_calls *c = data;
	uint32_t node;
	if (step->kind != SPACETIME_ALLOCATES && step->kind != SPACETIME_C_ALLOCATES)
		return HG_OK;
	BASE_TRY(node_of_step(c, step, &node));
	if (c->view.at.of == HG_SPACETIME_END)
		c->list.nodes[node].own.promoted += or_none(step->words);
	return base_map_set(&c->by_annotation, step->annotation, node, c->error);
}

static enum hg_status add_count_to_calls(void *data, const struct spacetime_step *step)
{
	struct query_series_calls *c = data;
	uint32_t node;
	bool indirect = step->kind == SPACETIME_CALLS_INDIRECTLY;
	bool direct = step->kind == SPACETIME_CALLS || step->kind == SPACETIME_CALLS_C;
	if (!(c->view.count == HG_SPACETIME_INDIRECT_CALLS ? indirect : direct))
		return HG_OK;
	BASE_TRY(node_of_step(c, step, &node));
	c->list.nodes[node].own.samples += or_none(step->count);
	return HG_OK;
}

static struct hg_trace_amounts *amounts_of(struct query_series_calls *c, uint32_t annotation)
{
	uint32_t node = 0;
	base_map_number(&c->by_annotation, annotation, &node);
	return &c->list.nodes[node].own;
}

static enum hg_status add_snapshot_to_calls(
	struct query_series_calls *c, const struct spacetime_moment *moment)
{
	struct spacetime_snapshot snapshot;
	enum hg_status status =
		spacetime_read_snapshot(&c->trace->series, moment, &snapshot, c->error);
	for (uint64_t i = 0; status == HG_OK && i < snapshot.entry_count; i++) {
		const struct spacetime_entry *entry = &snapshot.entries[i];
		struct hg_trace_amounts *amounts = amounts_of(c, entry->annotation);
		amounts->live += or_none(entry->words);
		amounts->peak += or_none(entry->blocks);
	}
	for (uint64_t i = 0;
		status == HG_OK && c->view.at.of != HG_SPACETIME_END && i < snapshot.total_count;
		i++)
		amounts_of(c, snapshot.totals[i].annotation)->promoted +=
			or_none(snapshot.totals[i].words);
	spacetime_snapshot_release(&snapshot);
	return query_spacetime_skip(
		c->trace, status, moment->offset, "a snapshot that cannot be read");
}

static void choose_samples(struct query_series_calls *c)
{
	for (uint64_t i = 0; i < c->list.count; i++) {
		struct hg_trace_amounts *own = &c->list.nodes[i].own;
		if (c->view.count == HG_SPACETIME_ALLOCATED)
			own->samples = own->promoted;
		else if (c->view.count == HG_SPACETIME_LIVE)
			own->samples = own->live;
		else if (c->view.count == HG_SPACETIME_BLOCKS)
			own->samples = own->peak;
	}
}

static enum hg_status check_view(struct hg_trace *trace, const struct hg_spacetime_view *view)
{
	struct hg_error *error = &trace->session->error;
	bool calls =
		view->count == HG_SPACETIME_CALLS || view->count == HG_SPACETIME_INDIRECT_CALLS;
	if (!calls && view->count != HG_SPACETIME_ALLOCATED && view->count != HG_SPACETIME_LIVE &&
		view->count != HG_SPACETIME_BLOCKS)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "no such count");
	return query_spacetime_need_calls(trace, calls);
}

enum hg_status query_series_calls_init(struct query_series_calls *calls, struct hg_trace *trace,
	const struct hg_spacetime_view *view)
{
	const struct spacetime_moment *moment;
	uint64_t number;
	*calls = (struct query_series_calls){.trace = trace, .error = &trace->session->error};
	if (!view || view->size < sizeof(view->size))
		return base_fail(calls->error, HG_ERROR_USAGE, HG_NO_OFFSET, "no view of calls");
	memcpy(&calls->view, view,
		view->size < sizeof(calls->view) ? view->size : sizeof(calls->view));
	BASE_TRY(check_view(trace, &calls->view));
	bool counts_calls = calls->view.count == HG_SPACETIME_CALLS ||
			    calls->view.count == HG_SPACETIME_INDIRECT_CALLS;
	BASE_TRY(query_spacetime_choose(trace, &calls->view.at, &moment, &number));
	BASE_TRY(add_call_node(calls, 0, QUERY_NO_PLACE));
	BASE_TRY(query_spacetime_places_init(&calls->names, trace));
	BASE_TRY(spacetime_walk_init(&calls->walk, &calls->names.tables,
		counts_calls ? add_count_to_calls : add_point_to_calls, calls, calls->error));
	BASE_TRY(query_spacetime_walk_all(trace, &calls->walk));
	if (moment && !counts_calls)
		BASE_TRY(add_snapshot_to_calls(calls, moment));
	choose_samples(calls);
	query_sum_up_nodes(calls->list.nodes, calls->list.count);
	return HG_OK;
}

void query_series_calls_release(struct query_series_calls *calls)
{
	spacetime_walk_release(&calls->walk);
	query_spacetime_places_release(&calls->names);
	base_map_release(&calls->children);
	base_map_release(&calls->by_annotation);
	free(calls->node_of);
	free(calls->marks);
	free(calls->list.nodes);
	free(calls->list.labels);
	*calls = (struct query_series_calls){0};
}
