#include "graph/compact.h"

#include "base/threads.h"
#include "snapshot/walk.h"

#include <stdlib.h>

uint32_t compact_slot(const struct compact *c, uint32_t node)
{
	const struct snap *snap = c->snap;
	if (node >= snap->block_count)
		return compact_root_slot(c, node - snap->block_count);
	uint64_t word = snap_ranks_word(&snap->ranks, node);
	return snap_line_slot(snap_ranks_line(&snap->ranks, word), word);
}

uint32_t compact_node(const struct compact *c, uint32_t slot)
{
	const struct snap *snap = c->snap;
	if (slot >= c->heap_slots)
		return snap_root_node(snap, (slot - c->heap_slots) / 2);
	uint64_t word = snap_ranks_slot_word(&snap->ranks, slot);
	return snap_line_rank(snap_ranks_line(&snap->ranks, word), word);
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

void compact_links(const struct compact *c, uint32_t node, uint64_t *first, uint64_t *end)
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
	struct graph_census census;
	bool overrun;
};

/* An even word that may lead to a block: the slot of its header, or the block's own. */
static inline uint32_t emit_target(struct emitter *e, uint64_t value, uint32_t self)
{
	uint64_t word = (value >> 3) - 1;
	const struct snap_line *line = snap_ranks_line(&e->snap->ranks, word);
	if (snap_line_is_block(line, word)) {
		e->census.outcomes[SNAP_BLOCK]++;
		return snap_line_slot(line, word);
	}
	enum snap_outcome outcome = snap_resolve(e->snap, value, &word);
	e->census.outcomes[outcome]++;
	if (outcome > SNAP_INFIX)
		return self;
	return snap_line_slot(snap_ranks_line(&e->snap->ranks, word), word);
}

static inline void emit_block(struct emitter *e, const struct snap_cell *cell)
{
	const struct snap *snap = e->snap;
	uint32_t self = e->next++;
	for (uint64_t j = 0; j < cell->field_count; j++) {
		uint64_t value = cell->fields[j];
		if (value & 1) {
			e->census.immediates++;
			continue;
		}
		if ((value & 7) || !snap_ranks_spans(&snap->ranks, (value >> 3) - 1)) {
			uint64_t unused;
			e->census.outcomes[snap_resolve(snap, value, &unused)]++;
			continue;
		}
		if (e->next >= e->limit) {
			e->overrun = true;
			return;
		}
		e->words[e->next++] = emit_target(e, value, self);
	}
	uint64_t size = cell->wosize + 1;
	uint32_t header = size < COMPACT_LABEL ? (uint32_t)size : COMPACT_LABEL;
	if (e->link < snap->link_count && snap->links[e->link].from == e->rank) {
		header |= COMPACT_LINKS;
		while (e->link < snap->link_count && snap->links[e->link].from == e->rank)
			e->link++;
	}
	if (e->next == self + 1)
		header |= COMPACT_LEAF;
	else
		e->words[e->next - 1] |= COMPACT_LAST;
	e->words[self] = header;
	e->rank++;
}

struct emission {
	struct snap *snap;
	struct compact *compact;
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
	return snap_line_slot(snap_ranks_line(&snap->ranks, word), word);
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
				emit_block(&e, &cell);
		}
	}
	e.overrun |= e.next != e.limit;
	*shared = e;
}

static void add_census(struct graph_census *to, const struct graph_census *from)
{
	for (unsigned i = 0; i < SNAP_OUTCOMES; i++)
		to->outcomes[i] += from->outcomes[i];
	to->immediates += from->immediates;
}

/* The roots and the virtual root, behind the heap. */
static void emit_roots(struct compact *c)
{
	const struct snap *snap = c->snap;
	uint32_t top = compact_virtual_root(c), edge = top;
	for (uint64_t i = 0; i < snap->root_count; i++) {
		uint32_t self = compact_root_slot(c, i);
		uint32_t node = snap_resolve_node(snap, snap->roots[i].value);
		uint64_t first, end;
		compact_links(c, snap_root_node(snap, i), &first, &end);
		c->words[self] = (node == HG_NO_NODE ? COMPACT_LEAF : 0) |
				 (first < end ? COMPACT_LINKS : 0);
		if (node != HG_NO_NODE)
			c->words[self + 1] = compact_slot(c, node) | COMPACT_LAST;
		c->words[++edge] = self;
	}
	c->words[top] = edge == top ? COMPACT_LEAF : 0;
	if (edge != top)
		c->words[edge] |= COMPACT_LAST;
}

static enum hg_status emit_heap(struct compact *c, struct snap *snap, struct graph_census *census,
	struct hg_error *error)
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
			add_census(census, &emission.emitters[i].census);
	}
	free(emission.emitters);
	return status;
}

enum hg_status compact_build(struct compact *c, struct snap *snap, struct base_arena *arena,
	struct graph_census *census, struct hg_error *error)
{
	uint64_t count = snap->ranks.slot_count + 3 * snap->root_count + 1;
	if (count >= COMPACT_TARGET)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"%llu blocks, pointers and roots: more than the 2^31 that this version can "
			"hold",
			(unsigned long long)count);
	*c = (struct compact){.snap = snap,
		.heap_slots = (uint32_t)snap->ranks.slot_count,
		.count = count};
	BASE_TRY(base_arena_alloc(arena, count, sizeof(uint32_t), (void **)&c->words, error));
	BASE_TRY(emit_heap(c, snap, census, error));
	emit_roots(c);
	return HG_OK;
}
