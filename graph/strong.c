/*
 * Marking as the runtime does it: an ephemeron waits at each slot that must be reached first, and
 * fires when nothing is missing.
 */
#include "graph/strong.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/search.h"

#include <stdlib.h>

/* An ephemeron waits until a slot is reached: that of a key, or its own, which counts as the last.
 */
struct wait {
	uint32_t slot, ephemeron, key;
};

/* The conditions of an ephemeron. */
struct condition {
	uint32_t missing; /* that are not yet met */
	uint32_t holder;  /* the first of those met in the last tier in which any was: it holds the
			     data */
	enum snap_tier tier;
};

struct marker {
	struct snap *snap;
	struct graph_compact *compact;
	struct base_arena *arena;
	uint64_t *marked, *watched; /* a bit per slot */
	uint32_t *stack;
	uint64_t depth, deepest;
	struct wait *waits; /* by slot */
	uint64_t wait_count;
	struct snap_link *fired; /* at most one for each ephemeron */
	uint64_t fired_count;
	struct condition *conditions; /* of each ephemeron */
	enum snap_tier tier;          /* of the roots whose values are marked */
	struct hg_error *error;
};

static int compare_waits(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->ephemeron != y->ephemeron)
		return x->ephemeron < y->ephemeron ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

static void add_wait(struct marker *m, uint32_t node, uint64_t ephemeron, uint32_t key)
{
	uint32_t slot = graph_compact_slot(m->compact, node).n;
	m->waits[m->wait_count++] = (struct wait){slot, (uint32_t)ephemeron, key};
	m->conditions[ephemeron].missing++;
	base_bit_set(m->watched, slot);
}

static enum hg_status add_waits(struct marker *m)
{
	const struct snap *snap = m->snap;
	uint64_t count = snap->ephemeron_count;
	for (uint64_t i = 0; i < snap->ephemeron_count; i++)
		count += snap->ephemerons[i].key_count;
	BASE_TRY(
		base_arena_alloc(m->arena, count, sizeof(*m->waits), (void **)&m->waits, m->error));
	for (uint64_t i = 0; i < snap->ephemeron_count; i++) {
		const struct snap_ephemeron *e = &snap->ephemerons[i];
		add_wait(m, e->self, i, e->key_count);
		for (uint32_t j = 0; j < e->key_count; j++)
			add_wait(m, snap->ephemeron_keys[e->first_key + j], i, j);
	}
	base_assert(m->wait_count == count);
	qsort(m->waits, m->wait_count, sizeof(*m->waits), compare_waits);
	base_assert(BASE_IS_SORTED(m->waits, m->wait_count, slot));
	return HG_OK;
}

static void push_marked(struct marker *m, uint32_t slot)
{
	if (base_bit(m->marked, slot))
		return;
	base_bit_set(m->marked, slot);
	base_assert(slot < m->compact->count && m->depth < m->compact->count);
	m->stack[m->depth++] = slot;
	if (m->depth > m->deepest)
		m->deepest = m->depth;
}

/* All conditions are met: the data are alive. */
static void fire_ephemeron(struct marker *m, uint32_t number)
{
	const struct snap *snap = m->snap;
	const struct snap_ephemeron *e = &snap->ephemerons[number];
	uint32_t key = m->conditions[number].holder;
	uint32_t holder = key < e->key_count ? snap->ephemeron_keys[e->first_key + key] : e->self;
	struct snap_slot slot = graph_compact_slot(m->compact, holder);
	base_assert(m->fired_count < snap->ephemeron_count);
	m->fired[m->fired_count++] = (struct snap_link){holder, e->data};
	m->compact->words[slot.n] |= GRAPH_LINKS;
	push_marked(m, graph_compact_slot(m->compact, e->data).n);
}

static void meet_conditions(struct marker *m, uint32_t slot)
{
	uint64_t i = BASE_FIRST_FROM(m->waits, m->wait_count, slot, slot);
	for (; i < m->wait_count && m->waits[i].slot == slot; i++) {
		const struct wait *wait = &m->waits[i];
		struct condition *c = &m->conditions[wait->ephemeron];
		if (c->tier != m->tier || wait->key < c->holder)
			c->holder = wait->key;
		c->tier = m->tier;
		base_assert(c->missing > 0);
		if (--c->missing == 0)
			fire_ephemeron(m, wait->ephemeron);
	}
}

static void push_marked_links(struct marker *m, uint32_t slot)
{
	uint32_t node = graph_compact_node(m->compact, (struct snap_slot){slot});
	uint64_t first, end;
	snap_links(m->snap, node, &first, &end);
	for (; first < end; first++)
		push_marked(m, graph_compact_slot(m->compact, m->snap->links[first].to).n);
}

static enum hg_status mark_stacked(struct marker *m)
{
	const uint32_t *words = m->compact->words;
	while (m->depth) {
		uint32_t slot = m->stack[--m->depth], header = words[slot];
		if (base_bit(m->watched, slot))
			meet_conditions(m, slot);
		if (header & GRAPH_LINKS)
			push_marked_links(m, slot);
		for (const uint32_t *edge = words + slot; !(header & GRAPH_LEAF);) {
			push_marked(m, *++edge & GRAPH_TARGET);
			if (*edge & GRAPH_LAST)
				break;
		}
	}
	return base_arena_touch(m->arena, m->stack, m->deepest * sizeof(*m->stack), m->error);
}

static enum hg_status mark_all(struct marker *m)
{
	const struct snap *snap = m->snap;
	for (unsigned tier = 0; tier < SNAP_TIERS; tier++) {
		m->tier = (enum snap_tier)tier;
		for (uint64_t i = 0; i < snap->root_count; i++)
			if (snap_root_in_tier(snap, &snap->roots[i], m->tier))
				push_marked(m, graph_compact_root_slot(m->compact, i).n);
		BASE_TRY(mark_stacked(m));
	}
	return HG_OK;
}

static int compare_link_sources(const void *a, const void *b)
{
	const struct snap_link *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static enum hg_status mark_and_link(struct marker *m)
{
	uint64_t bits = base_bit_words(m->compact->count);
	BASE_TRY(base_arena_zalloc(
		m->arena, bits, sizeof(*m->marked), (void **)&m->marked, m->error));
	BASE_TRY(base_arena_zalloc(
		m->arena, bits, sizeof(*m->watched), (void **)&m->watched, m->error));
	BASE_TRY(base_arena_zalloc(m->arena, m->snap->ephemeron_count, sizeof(*m->conditions),
		(void **)&m->conditions, m->error));
	/* Every slot waits on the stack at most once. */
	BASE_TRY(base_arena_reserve(
		m->arena, m->compact->count, sizeof(*m->stack), (void **)&m->stack, m->error));
	BASE_TRY(base_arena_alloc(m->arena, m->snap->ephemeron_count, sizeof(*m->fired),
		(void **)&m->fired, m->error));
	BASE_TRY(add_waits(m));
	BASE_TRY(mark_all(m));
	for (uint64_t i = 0; i < m->fired_count; i++)
		BASE_TRY(snap_add_link(m->snap, m->fired[i].from, m->fired[i].to, m->error));
	if (m->snap->link_count)
		qsort(m->snap->links, m->snap->link_count, sizeof(*m->snap->links),
			compare_link_sources);
	return HG_OK;
}

enum hg_status graph_strong_ephemerons(struct graph_compact *compact, struct snap *snap,
	struct base_arena *arena, struct hg_error *error)
{
	struct marker m = {.snap = snap, .compact = compact, .arena = arena, .error = error};
	if (snap->ephemeron_count == 0)
		return HG_OK;
	enum hg_status status = mark_and_link(&m);
	base_arena_free(arena, m.marked);
	base_arena_free(arena, m.watched);
	base_arena_free(arena, m.conditions);
	base_arena_free(arena, m.stack);
	base_arena_free(arena, m.waits);
	base_arena_free(arena, m.fired);
	return status;
}
