/*
 * What a trace tells, in the words of the snapshot: the calls on stacks of its blocks, where these
 * are in the source, and the location of each block.
 */
#include "query/join/join.h"

#include "base/grow.h"

#include <string.h>

/* While names and calls are taken over. */
struct placing {
	struct query_joining *joining;
	struct snap *snap;
	const struct memtrace_locations *locations;
	struct snap_told told;
	uint64_t frame_count, frame_capacity;
	uint32_t *numbers;  /* of nodes among the calls; 0: none */
	const char **names; /* of the trace's, in the snapshot's pool; NULL until needed */
};

static enum hg_status take_name(struct placing *p, uint32_t number, const char **out)
{
	const struct trace_names_entry *name = &p->locations->names.names[number];
	if (!p->names[number])
		BASE_TRY(base_pool_string(&p->snap->pool, name->bytes, name->length,
			&p->names[number], p->joining->error));
	*out = p->names[number];
	return HG_OK;
}

/* The frames of a code, once. */
static enum hg_status take_place(struct placing *p, uint32_t number)
{
	struct snap_told_place *place = &p->told.places[number];
	const struct memtrace_code *code = &p->locations->codes[number];
	if (place->count)
		return HG_OK;
	place->first = p->frame_count;
	for (uint32_t i = code->count; i-- > 0;) {
		const struct memtrace_location *from = &p->locations->locations[code->first + i];
		struct snap_told_frame frame = {.at = {.line = (int32_t)from->line,
							.start = from->start,
							.end = from->end}};
		BASE_TRY(take_name(p, from->file, &frame.at.file));
		BASE_TRY(take_name(p, from->function, &frame.function));
		BASE_TRY(base_grow(&p->told.frames, p->frame_count, &p->frame_capacity,
			sizeof(*p->told.frames), p->joining->error));
		p->told.frames[p->frame_count++] = frame;
		place->count++;
	}
	return HG_OK;
}

static enum hg_status new_table(
	const struct query_joining *joining, uint64_t count, size_t size, void *out)
{
	void *table = calloc(count ? count : 1, size);
	if (!table)
		return base_no_memory(joining->error, count * size);
	memcpy(out, &table, sizeof(table));
	return HG_OK;
}

/* The calls that are on the stack of a placed block, in the order of the tree. */
static enum hg_status take_calls(struct placing *p)
{
	const struct query_joining *j = p->joining;
	uint32_t count = 1;
	for (uint64_t i = 0; i < j->count; i++) {
		if (j->blocks[i].state != QUERY_JOIN_PLACED)
			continue;
		for (uint32_t node = j->blocks[i].node; node && !p->numbers[node];
			node = j->calls.nodes[node].parent)
			p->numbers[node] = 1;
	}
	for (uint64_t node = 1; node < j->calls.count; node++)
		if (p->numbers[node])
			p->numbers[node] = count++;
	BASE_TRY(new_table(j, count, sizeof(*p->told.calls), &p->told.calls));
	p->told.call_count = count;
	for (uint64_t node = 1; node < j->calls.count; node++) {
		const struct query_call *call = &j->calls.nodes[node];
		if (!p->numbers[node])
			continue;
		p->told.calls[p->numbers[node]] =
			(struct snap_told_call){p->numbers[call->parent], call->function};
		BASE_TRY(take_place(p, call->function));
	}
	return HG_OK;
}

/* A block with the frame that allocated it. */
struct located_block {
	const struct snap_told_frame *frame;
	const struct query_joined *block;
};

static int compare_frames(const struct snap_told_frame *x, const struct snap_told_frame *y)
{
	int order = strcmp(x->at.file, y->at.file);
	if (order)
		return order;
	if (x->at.line != y->at.line)
		return x->at.line < y->at.line ? -1 : 1;
	if (x->at.start != y->at.start)
		return x->at.start < y->at.start ? -1 : 1;
	return (x->at.end > y->at.end) - (x->at.end < y->at.end);
}

static int compare_located(const void *a, const void *b)
{
	const struct located_block *x = a, *y = b;
	int order = compare_frames(x->frame, y->frame);
	return order ? order : (x->block > y->block) - (x->block < y->block);
}

static int compare_sampled_at(const void *a, const void *b)
{
	const struct snap_sampled *x = a, *y = b;
	return (x->address.a > y->address.a) - (x->address.a < y->address.a);
}

static struct snap_sampled sampled_of(
	const struct placing *p, const struct query_joined *block, uint32_t location)
{
	const struct snap_tracked *tracked = &block->tracked;
	double rate = tracked->rate > 0 ? tracked->rate : p->joining->trace->header.rate;
	uint64_t words = tracked->is_outside ? 0 : tracked->samples;
	return (struct snap_sampled){.address = tracked->address,
		.location = location,
		.words = words < UINT32_MAX ? (uint32_t)words : UINT32_MAX,
		.call = p->numbers[block->node],
		.rate = rate};
}

/* Numbers the locations of blocks in the order of their names, and tells of each block its own. */
static enum hg_status number_joined(
	struct placing *p, struct located_block *located, uint64_t count)
{
	struct snap *snap = p->snap;
	struct hg_error *error = p->joining->error;
	uint32_t number = 0;
	qsort(located, count, sizeof(*located), compare_located);
	for (uint64_t i = 0; i < count; i++) {
		const struct snap_told_frame *frame = located[i].frame;
		if (i == 0 || compare_frames(located[i - 1].frame, frame) != 0) {
			BASE_TRY(snap_locations_add(&snap->locations, &frame->at, &number, error));
			snap->locations.entries++;
		}
		BASE_TRY(base_grow(&snap->sampled, snap->sampled_count, &snap->sampled_capacity,
			sizeof(*snap->sampled), error));
		snap->sampled[snap->sampled_count++] = sampled_of(p, located[i].block, number);
	}
	qsort(snap->sampled, snap->sampled_count, sizeof(*snap->sampled), compare_sampled_at);
	return HG_OK;
}

static enum hg_status locate_joined(struct placing *p)
{
	const struct query_joining *j = p->joining;
	struct located_block *located = NULL;
	uint64_t count = 0;
	BASE_TRY(new_table(j, j->count, sizeof(*located), &located));
	for (uint64_t i = 0; i < j->count; i++) {
		const struct query_joined *block = &j->blocks[i];
		/* Another profile of the program may have its call stack. */
		if (block->state == QUERY_JOIN_PLACED &&
			!snap_sampled_location(p->snap, block->tracked.address))
			located[count++] = (struct located_block){
				&p->told.frames[p->told.places[block->code].first], block};
	}
	enum hg_status status = number_joined(p, located, count);
	free(located);
	return status;
}

static enum hg_status take_over(struct placing *p)
{
	enum { FIRST_FRAMES = 64 };
	const struct query_joining *j = p->joining;
	BASE_TRY(new_table(j, FIRST_FRAMES, sizeof(*p->told.frames), &p->told.frames));
	p->frame_capacity = FIRST_FRAMES;
	BASE_TRY(new_table(j, j->calls.count, sizeof(*p->numbers), &p->numbers));
	BASE_TRY(new_table(j, p->locations->names.count, sizeof(*p->names), &p->names));
	BASE_TRY(new_table(j, p->locations->code_count, sizeof(*p->told.places), &p->told.places));
	BASE_TRY(take_calls(p));
	return locate_joined(p);
}

enum hg_status query_join_place(struct query_joining *joining)
{
	struct snap *snap = &joining->snapshot->snap;
	struct placing placing = {
		.joining = joining, .snap = snap, .locations = joining->calls.locations};
	enum hg_status status = take_over(&placing);
	free(placing.numbers);
	free(placing.names);
	if (status != HG_OK) {
		snap_told_release(&placing.told);
		return status;
	}
	snap->told = placing.told;
	snap->tracked_stacks += joining->snapshot->join->result.placed;
	return HG_OK;
}
