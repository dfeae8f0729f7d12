#include "graph/compact.h"

#include "base/threads.h"
#include "snapshot/walk.h"

#include <stdlib.h>

struct snap_slot graph_compact_slot(const struct graph_compact *c, uint32_t node)
{
	const struct snap *snap = c->snap;
	if (node >= snap->block_count)
		return graph_compact_root_slot(c, node - snap->block_count);
	uint64_t word = snap_ranks_word(&snap->ranks, (struct snap_rank){node});
	return snap_line_slot(snap_ranks_line(&snap->ranks, word), word);
}

uint32_t graph_compact_node(const struct graph_compact *c, struct snap_slot slot)
{
	const struct snap *snap = c->snap;
	if (slot.n >= c->heap_slots)
		return snap_root_node(snap, (slot.n - c->heap_slots) / 2);
	uint64_t word = snap_ranks_slot_word(&snap->ranks, slot);
	return snap_line_rank(snap_ranks_line(&snap->ranks, word), word).n;
}

/* First link from a node not below the given one. */
static uint64_t links_from(const struct snap *snap, uint64_t node)
{
	uint64_t low = 0, high = snap->link_count;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (snap->links[middle].from < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void graph_compact_links(
	const struct graph_compact *c, uint32_t node, uint64_t *first, uint64_t *end)
{
	*first = links_from(c->snap, node);
	*end = links_from(c->snap, (uint64_t)node + 1);
}

/* What one thread emits; 'limit' is where the next slice begins. */
struct emitter {
	const struct snap *snap;
	uint32_t *words;
	uint32_t next, limit;
	uint64_t link; /* next link from a block of this slice */
	uint32_t rank;
	struct snap_census census;
	bool overrun;
};

/* An even word that leads to no header bit of a block: an infix pointer, or the block itself. */
static uint32_t emit_other(struct emitter *e, uint64_t value, uint32_t self)
{
	uint64_t word;
	enum snap_outcome outcome = snap_resolve(e->snap, value, &word);
	e->census.outcomes[outcome]++;
	if (outcome > SNAP_INFIX)
		return self;
	return snap_line_slot(snap_ranks_line(&e->snap->ranks, word), word).n;
}

/*
 * Writes the edges of a block behind its header, for the fields that pass 1 has kept; returns the
 * slot after them.
 */
static inline uint32_t emit_fields(struct emitter *e, const struct snap_ranks *ranks,
	const struct snap_cell *cell, uint32_t self)
{
	uint32_t next = self + 1, limit = e->limit;
	uint32_t *words = e->words;
	uint64_t first = (cell->address >> 3) + 1, blocks = 0;
	for (uint64_t j = 0; j < cell->field_count;) {
		uint64_t left = cell->field_count - j, bit = (first + j) & 63;
		uint64_t kept = snap_ranks_line(ranks, first + j)->kept >> bit;
		if (left < 64)
			kept &= ((uint64_t)1 << left) - 1;
		if ((uint32_t)__builtin_popcountll(kept) > limit - next) {
			e->overrun = true;
			break;
		}
		for (; kept; kept &= kept - 1) {
			uint64_t value = cell->fields[j + (uint64_t)__builtin_ctzll(kept)];
			uint64_t word = (value >> 3) - 1;
			/* True unless the file has changed since it was kept. */
			if (!snap_ranks_spans(ranks, word))
				word = ranks->first_word;
			const struct snap_line *line = snap_ranks_line(ranks, word);
			if (__builtin_expect(snap_line_is_block(line, word), 1)) {
				words[next++] = snap_line_slot(line, word).n;
				blocks++;
			} else {
				words[next++] = emit_other(e, value, self);
			}
		}
		j += 64 - bit;
	}
	e->census.outcomes[SNAP_BLOCK] += blocks;
	return next;
}

static bool skip_links(struct emitter *e)
{
	const struct snap *snap = e->snap;
	uint64_t first = e->link;
	while (e->link < snap->link_count && snap->links[e->link].from == e->rank)
		e->link++;
	return e->link > first;
}

static inline void emit_block(
	struct emitter *e, const struct snap_ranks *ranks, const struct snap_cell *cell)
{
	uint32_t self = e->next;
	uint32_t next = emit_fields(e, ranks, cell, self);
	uint64_t size = cell->wosize + 1;
	uint32_t header = size < GRAPH_LABEL ? (uint32_t)size : GRAPH_LABEL;
	if (skip_links(e))
		header |= GRAPH_LINKS;
	if (next == self + 1)
		header |= GRAPH_LEAF;
	else
		e->words[next - 1] |= GRAPH_LAST;
	e->words[self] = header;
	e->next = next;
	e->rank++;
}

struct emission {
	struct snap *snap;
	struct graph_compact *compact;
	struct snap_walk *walks;
	struct emitter *emitters;
};

/* Slot of the first block of a stretch; the end of the heap's slots behind the last one. */
static uint32_t stretch_slot(const struct emission *emission, uint64_t stretch)
{
	const struct snap *snap = emission->snap;
	if (stretch >= snap->stretch_count)
		return emission->compact->heap_slots;
	uint64_t word = snap->stretches[stretch].address >> 3;
	return snap_line_slot(snap_ranks_line(&snap->ranks, word), word).n;
}

static void emit_slice(void *context, unsigned slice, unsigned slices)
{
	struct emission *emission = context;
	struct snap *snap = emission->snap;
	struct emitter *shared = &emission->emitters[slice];
	uint64_t n = snap->stretch_count;
	uint64_t first = n * slice / slices, end = n * (slice + 1) / slices;
	if (first == end)
		return;
	/* A local copy, so that threads do not share cache lines. */
	struct emitter e = {.snap = snap,
		.words = emission->compact->words,
		.next = stretch_slot(emission, first),
		.limit = stretch_slot(emission, end),
		.rank = snap->stretches[first].first_rank};
	e.link = links_from(snap, e.rank);
	const struct snap_ranks ranks = snap->ranks;
	struct snap_walk *walk = &emission->walks[slice];
	struct snap_run run;
	snap_walk_range(walk, first, end);
	while (!e.overrun && snap_walk_next(walk, &run)) {
		struct snap_scan scan = snap_scan_run(snap, &run);
		struct snap_cell cell;
		while (!e.overrun && snap_scan_next(&scan, &cell)) {
			if (e.next >= e.limit)
				e.overrun = true;
			else
				emit_block(&e, &ranks, &cell);
		}
	}
	e.overrun |= e.next != e.limit;
	*shared = e;
}

static void emit_root(struct graph_compact *c, uint64_t number)
{
	const struct snap *snap = c->snap;
	const struct snap_root *root = &snap->roots[number];
	uint32_t self = graph_compact_root_slot(c, number).n;
	uint32_t target = snap_resolve_node(snap, root->value);
	uint64_t first, end;
	graph_compact_links(c, snap_root_node(snap, number), &first, &end);
	c->words[self] = (target == HG_NO_NODE ? GRAPH_LEAF : 0) |
			 (first < end || root->last ? GRAPH_LINKS : 0);
	if (target != HG_NO_NODE)
		c->words[self + 1] = graph_compact_slot(c, target).n | GRAPH_LAST;
}

/* The roots and the virtual root, behind the heap. */
static void emit_roots(struct graph_compact *c)
{
	const struct snap *snap = c->snap;
	uint32_t top = graph_compact_virtual_root(c).n, edge = top;
	for (uint64_t i = 0; i < snap->root_count; i++)
		emit_root(c, i);
	for (unsigned last = 0; last < 2; last++)
		for (uint64_t i = 0; i < snap->root_count; i++)
			if (snap->roots[i].last == last)
				c->words[++edge] = graph_compact_root_slot(c, i).n;
	c->words[top] = edge == top ? GRAPH_LEAF : 0;
	if (edge != top)
		c->words[edge] |= GRAPH_LAST;
}

static enum hg_status emit_heap(struct graph_compact *c, struct snap *snap,
	struct snap_census *census, struct hg_error *error)
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
		if (emission.emitters[i].overrun)
			status = base_corrupt(error, HG_NO_OFFSET, "changed while it was read");
		else if (census)
			snap_census_add(census, &emission.emitters[i].census);
	}
	free(emission.emitters);
	return status;
}

enum hg_status graph_compact_build(struct graph_compact *c, struct snap *snap,
	struct base_arena *arena, struct snap_census *census, struct hg_error *error)
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
	BASE_TRY(emit_heap(c, snap, census, error));
	emit_roots(c);
	return HG_OK;
}
