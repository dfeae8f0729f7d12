/*
 * The compact graph is written in slices, one for each thread, from the heap as it lies in the
 * file; roots follow.
 */
#include "graph/compact.h"

#include "base/assert.h"
#include "base/grow.h"
#include "base/threads.h"
#include "snapshot/walk.h"

#include <stdlib.h>
#include <string.h>

struct snap_slot graph_compact_slot(const struct graph_compact *c, uint32_t node)
{
	const struct snap *snap = c->snap;
	base_assert(node <= snap_virtual_root(snap));
	if (node >= snap->block_count)
		return graph_compact_root_slot(c, node - snap->block_count);
	struct snap_header_address header =
		snap_ranks_header(&snap->ranks, (struct snap_rank){node});
	return snap_line_slot(snap_ranks_line_of(&snap->ranks, header), header);
}

uint32_t graph_compact_node(const struct graph_compact *c, struct snap_slot slot)
{
	const struct snap *snap = c->snap;
	base_assert(slot.n < c->count);
	/* Roots, and after them the virtual one. */
	if (slot.n >= c->heap_slots)
		return (uint32_t)snap->block_count + (slot.n - c->heap_slots) / 2;
	struct snap_header_address header = snap_ranks_slot_header(&snap->ranks, slot);
	return snap_line_rank(snap_ranks_line_of(&snap->ranks, header), header).n;
}

/*
 * What one thread emits.  What changes with every block is in locals of the loop and goes through
 * its functions by value: memory that others may point to is read and written every time.
 */
struct emitter {
	const struct snap *snap;
	uint32_t *words;
	uint32_t limit; /* where the next slice begins */
	uint64_t link;  /* next link from a block of this slice */
	struct snap_census census;
	struct graph_dangling dangling;
	bool overrun;
	bool no_memory;
};

static void add_dangling(struct emitter *e, uint32_t self)
{
	struct graph_dangling *d = &e->dangling;
	if (base_grow(&d->slots, d->count, &d->capacity, sizeof(*d->slots), NULL) == HG_OK)
		d->slots[d->count++] = self;
	else
		e->no_memory = true;
}

/* An even word that leads to no header bit of a block: an infix pointer, or the block itself. */
static uint32_t emit_other(struct emitter *e, uint64_t value, uint32_t self)
{
	struct snap_header_address header;
	enum snap_outcome outcome = snap_resolve(e->snap, value, &header);
	e->census.outcomes[outcome]++;
	e->census.outcomes[SNAP_BLOCK]--;
	if (outcome == SNAP_DANGLING)
		add_dangling(e, self);
	if (!snap_outcome_is_block(outcome))
		return self;
	return snap_line_slot(snap_ranks_line_of(&e->snap->ranks, header), header).n;
}

/* The edge of a field that pass 1 has kept. */
static inline uint32_t emit_edge(
	struct emitter *e, const struct snap_ranks *ranks, uint64_t value, uint32_t self)
{
	/* An address that was kept has 48 bits; should the file have changed, it still has. */
	struct snap_header_address header = snap_pointed_header(value);
	header.a &= SNAP_ADDRESS_LIMIT - 1;
	const struct snap_line *line = snap_ranks_line_of(ranks, header);
	if (__builtin_expect(snap_line_is_block(line, header), 1))
		return snap_line_slot(line, header).n;
	return emit_other(e, value, self);
}

static void reverse(uint32_t *first, uint32_t *end)
{
	while (first + 1 < end) {
		uint32_t edge = *first;
		*first++ = *--end;
		*end = edge;
	}
}

/*
 * Writes the edges of a block after its header, the last field first, for the fields that pass 1
 * has kept; returns the slot after them, or 0 when they run over.
 */
static inline uint32_t emit_fields(struct emitter *e, const struct snap_ranks *ranks,
	const struct snap_cell *cell, uint32_t *words, uint32_t self, uint32_t limit)
{
	uint32_t next = self + 1;
	uint64_t first = snap_header_word(cell->address) + 1;
	/* Over several lines they are written in order and turned round at the end. */
	bool spread = (first & 63) + cell->field_count > 64;
	for (uint64_t j = 0; j < cell->field_count;) {
		uint64_t left = cell->field_count - j, bit = (first + j) & 63;
		uint64_t kept = snap_ranks_line(ranks, first + j)->kept >> bit;
		if (left < 64)
			kept &= ((uint64_t)1 << left) - 1;
		uint32_t count = (uint32_t)__builtin_popcountll(kept);
		if (count > limit - next)
			return 0;
		uint32_t *edge = words + (spread ? next : next + count - 1);
		ptrdiff_t step = spread ? 1 : -1;
		for (; kept; kept &= kept - 1, edge += step) {
			uint64_t value = cell->fields[j + (uint64_t)__builtin_ctzll(kept)];
			*edge = emit_edge(e, ranks, value, self);
		}
		next += count;
		j += 64 - bit;
	}
	if (spread)
		reverse(words + self + 1, words + next);
	return next;
}

/* The rank of the next block with links; UINT32_MAX if there is none. */
static uint32_t linked_rank(const struct emitter *e)
{
	const struct snap *snap = e->snap;
	return e->link < snap->link_count ? snap->links[e->link].from : UINT32_MAX;
}

static uint32_t skip_links(struct emitter *e, uint32_t rank)
{
	while (linked_rank(e) == rank)
		e->link++;
	return linked_rank(e);
}

/* Emits the blocks of a walk, which fill the slots [next, e->limit). */
static void emit_blocks(struct emitter *e, struct snap_walk *walk, uint32_t next, uint32_t rank)
{
	const struct snap_ranks ranks = e->snap->ranks;
	uint32_t *words = e->words;
	uint32_t limit = e->limit, linked = linked_rank(e);
	uint64_t edges = 0;
	struct snap_run run;
	while (snap_walk_next(walk, &run)) {
		struct snap_scan scan = snap_scan_run(e->snap, &run);
		struct snap_cell cell;
		while (snap_scan_next(&scan, &cell)) {
			uint32_t self = next;
			next = self < limit ? emit_fields(e, &ranks, &cell, words, self, limit) : 0;
			if (next == 0) {
				e->overrun = true;
				return;
			}
			uint64_t size = cell.wosize + 1;
			uint32_t header = size < GRAPH_LABEL ? (uint32_t)size : GRAPH_LABEL;
			if (rank == linked) {
				linked = skip_links(e, rank);
				header |= GRAPH_LINKS;
			}
			if (next == self + 1)
				header |= GRAPH_LEAF;
			else
				words[next - 1] |= GRAPH_LAST;
			words[self] = header;
			edges += next - self - 1;
			rank++;
		}
	}
	e->overrun = next != limit;
	e->census.outcomes[SNAP_BLOCK] += edges;
}

struct emission {
	struct snap *snap;
	struct graph_compact *compact;
	struct snap_walk *walks;
	struct emitter *emitters;
};

/* Slot of the first block of an index entry; the end of the heap's slots after the last one. */
static uint32_t entry_slot(const struct emission *emission, uint64_t entry)
{
	const struct snap *snap = emission->snap;
	if (entry >= snap->entry_count)
		return emission->compact->heap_slots;
	struct snap_header_address first = snap->entries[entry].address;
	return snap_line_slot(snap_ranks_line_of(&snap->ranks, first), first).n;
}

static uint64_t first_link(const struct snap *snap, uint32_t node)
{
	uint64_t first, end;
	snap_links(snap, node, &first, &end);
	return first;
}

static void emit_slice(void *context, unsigned slice, unsigned slices)
{
	struct emission *emission = context;
	struct snap *snap = emission->snap;
	struct emitter *shared = &emission->emitters[slice];
	uint64_t n = snap->entry_count;
	uint64_t first = n * slice / slices, end = n * (slice + 1) / slices;
	if (first == end)
		return;
	/* A local copy, so that threads do not share cache lines. */
	uint32_t rank = snap->entries[first].first_rank;
	struct emitter e = {.snap = snap,
		.words = emission->compact->words,
		.limit = entry_slot(emission, end),
		.link = first_link(snap, rank)};
	struct snap_walk *walk = &emission->walks[slice];
	snap_walk_range(walk, first, end);
	emit_blocks(&e, walk, entry_slot(emission, first), rank);
	*shared = e;
}

static void emit_root(struct graph_compact *c, uint64_t number)
{
	const struct snap *snap = c->snap;
	const struct snap_root *root = &snap->roots[number];
	uint32_t self = graph_compact_root_slot(c, number).n;
	uint32_t target = snap_resolve_node(snap, root->value);
	uint64_t first, end;
	snap_links(snap, snap_root_node(snap, number), &first, &end);
	bool is_special = first < end || (root->hold != SNAP_HOLD_BLOCK &&
						 snap_root_tier(snap, root) != SNAP_TIER_LASTING);
	c->words[self] = (target == HG_NO_NODE ? GRAPH_LEAF : 0) | (is_special ? GRAPH_LINKS : 0);
	if (target != HG_NO_NODE)
		c->words[self + 1] = graph_compact_slot(c, target).n | GRAPH_LAST;
}

/* The roots and the virtual root, after the heap. */
static void emit_roots(struct graph_compact *c)
{
	const struct snap *snap = c->snap;
	uint32_t top = graph_compact_virtual_root(c).n, edge = top;
	for (uint64_t i = 0; i < snap->root_count; i++)
		emit_root(c, i);
	for (unsigned tier = SNAP_TIERS; tier-- > 0;)
		for (uint64_t i = snap->root_count; i-- > 0;)
			if (snap_root_in_tier(snap, &snap->roots[i], (enum snap_tier)tier))
				c->words[++edge] = graph_compact_root_slot(c, i).n;
	base_assert(edge < c->count);
	c->words[top] = edge == top ? GRAPH_LEAF : 0;
	if (edge != top)
		c->words[edge] |= GRAPH_LAST;
}

static enum hg_status gather_dangling(
	struct graph_dangling *all, const struct graph_dangling *some, struct hg_error *error)
{
	BASE_TRY(base_grow_by(
		&all->slots, all->count, some->count, &all->capacity, sizeof(*all->slots), error));
	if (some->count)
		memcpy(all->slots + all->count, some->slots, some->count * sizeof(*all->slots));
	all->count += some->count;
	return HG_OK;
}

static enum hg_status emit_heap(struct graph_compact *c, struct snap *snap,
	struct snap_census *census, struct graph_dangling *dangling, struct hg_error *error)
{
	unsigned threads = snap->session->threads;
	struct emission emission = {.snap = snap, .compact = c};
	emission.emitters = calloc(threads, sizeof(*emission.emitters));
	if (!emission.emitters)
		return base_no_memory(error, threads * sizeof(*emission.emitters));
	enum hg_status status = snap_walks_open(snap, threads, &emission.walks, error);
	if (status == HG_OK) {
		base_run_slices(threads, emit_slice, &emission);
		snap_walks_close(emission.walks, threads);
	}
	for (unsigned i = 0; i < threads && status == HG_OK; i++) {
		const struct emitter *e = &emission.emitters[i];
		if (e->no_memory)
			status = base_no_memory(error, e->dangling.count * sizeof(uint32_t));
		else if (e->overrun)
			status = base_corrupt(error, HG_NO_OFFSET, "changed while it was read");
		if (census && status == HG_OK) {
			snap_census_add(census, &e->census);
			status = gather_dangling(dangling, &e->dangling, error);
		}
	}
	for (unsigned i = 0; i < threads; i++)
		free(emission.emitters[i].dangling.slots);
	free(emission.emitters);
	return status;
}

enum hg_status graph_compact_build(struct graph_compact *c, struct snap *snap,
	struct base_arena *arena, struct snap_census *census, struct graph_dangling *dangling,
	struct hg_error *error)
{
	uint64_t count = snap->ranks.slot_count + 3 * snap->root_count + 1;
	if (count >= GRAPH_TARGET)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"%llu blocks, pointers and roots: more than the 2^31 that this version can "
			"hold",
			(unsigned long long)count);
	*c = (struct graph_compact){
		.snap = snap, .heap_slots = (uint32_t)snap->ranks.slot_count, .count = count};
	BASE_TRY(base_arena_alloc(arena, count, sizeof(uint32_t), (void **)&c->words, error));
	BASE_TRY(emit_heap(c, snap, census, dangling, error));
	emit_roots(c);
	return HG_OK;
}
