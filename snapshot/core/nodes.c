/*
 * Nodes of a core that are no blocks: roots, suspended fibers; and what hangs on blocks besides
 * their fields: ephemeron data, the places where profiled blocks were allocated.
 */
#include "snapshot/core/nodes.h"

#include "snapshot/core/offheap.h"
#include "snapshot/core/static.h"
#include "snapshot/runtime/reader.h"
#include "snapshot/runtime/roots.h"
#include "snapshot/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Roots */

/* In a frame whose live slots are not known any word may look like a pointer: those that lead to
 * blocks are kept, when ranks tell. */
static enum hg_status load_core_roots(struct elfcore *core, struct hg_error *error)
{
	const struct snap_runtime_roots *roots = &core->runtime.roots;
	struct snap *snap = core->snap;
	if (!snap->all_roots_alike)
		BASE_TRY(snap_find_copied_roots(&core->runtime, error));
	for (uint64_t i = 0; i < roots->count; i++) {
		const struct snap_runtime_root *root = &roots->items[i];
		BASE_TRY(elfcore_meet(core, root->value, error));
		if (root->conservative) {
			BASE_TRY(elfcore_append(&core->conservative, i, error));
			continue;
		}
		BASE_TRY(snap_add_root(
			snap, root->kind, root->name, root->index, root->value, error));
		if (root->last)
			snap->roots[snap->root_count - 1].hold = SNAP_HOLD_LAST;
	}
	return HG_OK;
}

static enum hg_status finalise_conservative(struct elfcore *core, struct hg_error *error)
{
	struct snap *snap = core->snap;
	for (uint64_t i = 0; i < core->conservative.count; i++) {
		const struct snap_runtime_root *root =
			&core->runtime.roots.items[core->conservative.items[i]];
		if (snap_resolve_node(snap, root->value) != HG_NO_NODE)
			BASE_TRY(snap_add_root(
				snap, root->kind, root->name, root->index, root->value, error));
	}
	return HG_OK;
}

/* Fibers */

static enum hg_status name_fiber(struct elfcore *core, const struct snap_runtime_roots *roots,
	const char **out, struct hg_error *error)
{
	char name[1024];
	*out = "suspended fiber";
	for (uint64_t i = 0; i < roots->count; i++) {
		const struct snap_runtime_root *root = &roots->items[i];
		if (root->kind != HG_ROOT_STACK || !root->name || !*root->name)
			continue;
		int length = snprintf(name, sizeof(name), "suspended fiber, %s", root->name);
		uint64_t stored =
			(uint64_t)length < sizeof(name) ? (uint64_t)length : sizeof(name) - 1;
		if (!snap_spend(&core->runtime, stored / 8))
			break;
		return base_pool_string(&core->snap->pool, name, stored, out, error);
	}
	return HG_OK;
}

static enum hg_status load_fiber(struct elfcore *core, struct snap_header_address continuation,
	const struct snap_runtime_roots *roots, struct hg_error *error)
{
	struct snap *snap = core->snap;
	const char *name;
	struct elfcore_fiber fiber = {.continuation = continuation,
		.root = snap->root_count,
		.first_value = core->fiber_values.count,
		.count = roots->count};
	BASE_TRY(name_fiber(core, roots, &name, error));
	BASE_TRY(snap_add_root(snap, HG_ROOT_STACK, name, HG_UNKNOWN, 0, error));
	snap->roots[fiber.root].hold = SNAP_HOLD_BLOCK;
	for (uint64_t i = 0; i < roots->count; i++) {
		BASE_TRY(elfcore_meet(core, roots->items[i].value, error));
		BASE_TRY(elfcore_append(&core->fiber_values, roots->items[i].value, error));
	}
	BASE_TRY(base_grow(&core->fibers, core->fiber_count, &core->fiber_capacity,
		sizeof(*core->fibers), error));
	core->fibers[core->fiber_count++] = fiber;
	return HG_OK;
}

static enum hg_status load_fibers(struct elfcore *core, struct hg_error *error)
{
	/* Millions of continuations may have the same deep stack. */
	for (uint64_t i = 0; i < core->continuations.count && !core->runtime.gave_up; i++) {
		struct snap_header_address header = {core->continuations.items[i]};
		uint64_t stack;
		struct snap_runtime_roots roots = {0};
		/* 1: it was resumed already. */
		if (!snap_image_u64(&core->image, snap_field_address(header, 0), &stack) ||
			stack <= 1)
			continue;
		snap_runtime_fiber(&core->runtime, stack & ~(uint64_t)1, &roots, NULL, NULL);
		enum hg_status status = load_fiber(core, header, &roots, error);
		snap_roots_release(&roots);
		BASE_TRY(status);
	}
	return HG_OK;
}

static uint32_t block_node(const struct snap *snap, struct snap_header_address header)
{
	return snap_resolve_node(snap, snap_block_of(header).a);
}

static enum hg_status finalise_fibers(struct elfcore *core, struct hg_error *error)
{
	struct snap *snap = core->snap;
	for (uint64_t i = 0; i < core->fiber_count; i++) {
		const struct elfcore_fiber *fiber = &core->fibers[i];
		uint32_t self = snap_root_node(snap, fiber->root);
		uint32_t holder = block_node(snap, fiber->continuation);
		if (holder != HG_NO_NODE)
			BASE_TRY(snap_add_link(snap, holder, self, error));
		for (uint64_t j = 0; j < fiber->count; j++) {
			uint64_t value = core->fiber_values.items[fiber->first_value + j];
			uint32_t target = snap_resolve_node(snap, value);
			if (target != HG_NO_NODE)
				BASE_TRY(snap_add_link(snap, self, target, error));
		}
	}
	return HG_OK;
}

/* Ephemerons */

static uint64_t ephemeron_words(const struct elfcore *core, struct snap_block_address block)
{
	uint64_t header;
	if (!snap_image_u64(&core->image, snap_header_of(block).a, &header) ||
		snap_header_tag(header) != SNAP_TAG_ABSTRACT)
		return 0;
	uint64_t words = snap_header_wosize(header, core->snap->reserved);
	bool whole = words > SNAP_EPHEMERON_DATA &&
		     snap_image_present(&core->image, block.a, 8 * words) == 8 * words;
	return whole ? words : 0;
}

static bool ephemeron_field(const struct elfcore *core, struct snap_block_address block,
	uint64_t field, uint64_t *value)
{
	return snap_image_u64(&core->image, block.a + 8 * field, value) && !(*value & 1) &&
	       *value != core->runtime.ephemeron_none;
}

/* Keys and data may be static blocks, which only this leads to. */
static enum hg_status load_ephemerons(struct elfcore *core, struct hg_error *error)
{
	const struct snap_runtime *runtime = &core->runtime;
	uint64_t value;
	for (uint64_t i = 0; i < runtime->ephemeron_count; i++) {
		struct snap_block_address block = runtime->ephemerons[i];
		uint64_t words = ephemeron_words(core, block);
		if (words && ephemeron_field(core, block, SNAP_EPHEMERON_DATA, &value))
			BASE_TRY(elfcore_meet(core, value, error));
	}
	return HG_OK;
}

/* Keys that are always alive do not count: integers, static data. */
static uint32_t key_node(const struct snap *snap, uint64_t value)
{
	uint32_t node = snap_resolve_node(snap, value);
	if (node == HG_NO_NODE)
		return HG_NO_NODE;
	struct snap_header_address header =
		snap_ranks_header(&snap->ranks, (struct snap_rank){node});
	const struct snap_chunk *chunk = snap_chunk_at(snap, header.a);
	return chunk && chunk->segment == HG_SEGMENT_STATIC ? HG_NO_NODE : node;
}

static enum hg_status finalise_ephemeron(struct elfcore *core, struct snap_block_address block,
	uint64_t *capacities, uint64_t *keys, struct hg_error *error)
{
	struct snap *snap = core->snap;
	uint64_t words = ephemeron_words(core, block), value;
	struct snap_ephemeron e = {
		.self = snap_resolve_node(snap, block.a), .first_key = (uint32_t)*keys};
	if (*keys > UINT32_MAX)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"more keys of ephemerons than the 2^32 that this version can number");
	if (!words || e.self == HG_NO_NODE ||
		!ephemeron_field(core, block, SNAP_EPHEMERON_DATA, &value))
		return HG_OK;
	e.data = snap_resolve_node(snap, value);
	if (e.data == HG_NO_NODE)
		return HG_OK;
	for (uint64_t j = SNAP_EPHEMERON_FIRST_KEY; j < words; j++) {
		if (!ephemeron_field(core, block, j, &value))
			continue;
		uint32_t key = key_node(snap, value);
		if (key == HG_NO_NODE)
			continue;
		BASE_TRY(base_grow(&snap->ephemeron_keys, *keys, &capacities[0],
			sizeof(*snap->ephemeron_keys), error));
		snap->ephemeron_keys[(*keys)++] = key;
		e.key_count++;
	}
	BASE_TRY(base_grow(&snap->ephemerons, snap->ephemeron_count, &capacities[1],
		sizeof(*snap->ephemerons), error));
	snap->ephemerons[snap->ephemeron_count++] = e;
	return HG_OK;
}

static enum hg_status finalise_ephemerons(struct elfcore *core, struct hg_error *error)
{
	const struct snap_runtime *runtime = &core->runtime;
	uint64_t capacities[2] = {0}, keys = 0;
	struct base_map seen = {0};
	enum hg_status status = HG_OK;
	for (uint64_t i = 0; i < runtime->ephemeron_count && status == HG_OK; i++) {
		struct snap_block_address block = runtime->ephemerons[i];
		bool added;
		/* Lists that are damaged may lead to one again. */
		status = base_map_note(&seen, block.a, &added, error);
		if (status == HG_OK && added)
			status = finalise_ephemeron(core, block, capacities, &keys, error);
	}
	base_map_release(&seen);
	return status;
}

/* Samples */

/* A sample whose call stack is known, and its innermost location. */
struct located {
	struct snap_header_address block;
	const struct snap_sample *sample;
	struct snap_code_location at;
};

/* The slot of the call stack where the block was allocated; false if it is not recorded. */
static bool innermost_slot(
	struct snap_runtime *runtime, const struct snap_sample *sample, uint64_t *slot)
{
	uint64_t count = 0;
	if (runtime->gave_up)
		return false;
	bool ok = sample->stash
			  ? snap_runtime_stash(runtime, sample->stash, slot, 1, &count)
			  : snap_runtime_callstack(runtime, sample->user_data, slot, 1, &count);
	/* Many samples may have the same long stack, of which that many slots were looked at. */
	return ok && count > 0 &&
	       snap_spend(runtime, count < SNAP_PROOF_SLOTS ? count : SNAP_PROOF_SLOTS);
}

static int samples_by_location(const void *a, const void *b)
{
	const struct snap_code_location *x = &((const struct located *)a)->at;
	const struct snap_code_location *y = &((const struct located *)b)->at;
	int order = strcmp(x->file, y->file);
	if (order)
		return order;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static int by_sampled_address(const void *a, const void *b)
{
	const struct snap_sampled *x = a, *y = b;
	return (x->address.a > y->address.a) - (x->address.a < y->address.a);
}

/* Of what is sampled for data outside the heap nothing follows for the heap. */
static struct snap_sampled sampled_at(const struct located *one, uint32_t location)
{
	const struct snap_sample *sample = one->sample;
	uint64_t words = sample->source == SNAP_SAMPLE_CUSTOM ? 0 : sample->samples;
	return (struct snap_sampled){.address = one->block,
		.location = location,
		.words = words < UINT32_MAX ? (uint32_t)words : UINT32_MAX,
		.rate = sample->rate};
}

static enum hg_status number_locations(
	struct elfcore *core, struct located *located, uint64_t count, struct hg_error *error)
{
	struct snap *snap = core->snap;
	uint32_t number = 0;
	qsort(located, count, sizeof(*located), samples_by_location);
	for (uint64_t i = 0; i < count; i++) {
		const struct snap_code_location *at = &located[i].at;
		struct snap_location location = {.file = at->file,
			.line = (int32_t)at->line,
			.start = at->start,
			.end = at->end};
		if (i == 0 || samples_by_location(&located[i - 1], &located[i]) != 0) {
			BASE_TRY(snap_locations_add(&snap->locations, &location, &number, error));
			snap->locations.entries++;
		}
		BASE_TRY(base_grow(&snap->sampled, snap->sampled_count, &snap->sampled_capacity,
			sizeof(*snap->sampled), error));
		snap->sampled[snap->sampled_count++] = sampled_at(&located[i], number);
	}
	if (snap->sampled_count)
		qsort(snap->sampled, snap->sampled_count, sizeof(*snap->sampled),
			by_sampled_address);
	return HG_OK;
}

static int samples_by_block(const void *a, const void *b)
{
	const struct elfcore_sampled *x = a, *y = b;
	if (x->address.a != y->address.a)
		return x->address.a < y->address.a ? -1 : 1;
	return (x->sample > y->sample) - (x->sample < y->sample);
}

/* Which samples are of blocks that are there, and where those with a call stack were allocated. */
static enum hg_status find_locations(
	struct elfcore *core, struct located *located, struct hg_error *error)
{
	struct snap_runtime *runtime = &core->runtime;
	struct snap_header_address header;
	uint64_t slot, count = 0;
	for (uint64_t i = 0; i < runtime->sample_count; i++) {
		const struct snap_sample *sample = &runtime->samples[i];
		struct located *one = &located[count];
		if (sample->block & 7 ||
			!snap_outcome_is_block(snap_resolve(core->snap, sample->block, &header)))
			continue;
		one->block = header;
		one->sample = sample;
		core->sampled[core->sampled_count++] = (struct elfcore_sampled){header, i};
		if (innermost_slot(runtime, sample, &slot) &&
			snap_runtime_locations(runtime, slot, &one->at, 1) && one->at.file[0])
			count++;
	}
	if (core->sampled_count)
		qsort(core->sampled, core->sampled_count, sizeof(*core->sampled), samples_by_block);
	return number_locations(core, located, count, error);
}

static enum hg_status finalise_samples(struct elfcore *core, struct hg_error *error)
{
	uint64_t count = core->runtime.sample_count;
	if (count == 0)
		return HG_OK;
	struct located *located = calloc(count, sizeof(*located));
	core->sampled = calloc(count, sizeof(*core->sampled));
	enum hg_status status = located && core->sampled
					? find_locations(core, located, error)
					: base_no_memory(error, count * sizeof(*located));
	free(located);
	return status;
}

static void count_samples(struct elfcore *core)
{
	struct snap_runtime *runtime = &core->runtime;
	struct snap *snap = core->snap;
	uint64_t slot;
	snap->tracked_count = runtime->sample_count;
	snap->tracked_stacks = 0;
	for (uint64_t i = 0; i < runtime->sample_count; i++) {
		const struct snap_sample *sample = &runtime->samples[i];
		snap->tracked_stacks += innermost_slot(runtime, sample, &slot);
		if (i == 0)
			snap->sampling_rate = sample->rate;
		else if (snap->sampling_rate < sample->rate || snap->sampling_rate > sample->rate)
			snap->sampling_rate = 0;
	}
}

enum hg_status elfcore_load_nodes(struct elfcore *core, struct hg_error *error)
{
	count_samples(core);
	BASE_TRY(load_core_roots(core, error));
	BASE_TRY(load_fibers(core, error));
	BASE_TRY(load_ephemerons(core, error));
	return elfcore_load_offheap(core, error);
}

static int links_by_from(const void *a, const void *b)
{
	const struct snap_link *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

enum hg_status elfcore_finalise(struct snap *snap, struct hg_error *error)
{
	struct elfcore *core = elfcore_of(snap);
	/* Numbers of nodes count all roots. */
	BASE_TRY(finalise_conservative(core, error));
	BASE_TRY(finalise_fibers(core, error));
	BASE_TRY(finalise_ephemerons(core, error));
	BASE_TRY(elfcore_finalise_offheap(core, error));
	BASE_TRY(finalise_samples(core, error));
	if (snap->link_count)
		qsort(snap->links, snap->link_count, sizeof(*snap->links), links_by_from);
	return HG_OK;
}
