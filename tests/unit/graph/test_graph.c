/*
 * Reachability, dominators, retained sizes, classes and paths against a brute-force oracle: small
 * random graphs whose sets of nodes are bits of a word, and whose dominators are found by taking
 * each node away.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph/dominators.h"
#include "graph/graph.h"
#include "graph/paths.h"
#include "tests/unit/dump.h"

enum { MOST_BLOCKS = 64, MOST_FIELDS = 12, MOST_ROOTS = 6 };

/* How many random graphs each test makes: of those with a search each, and of the others. */
enum { GRAPHS = 1000, ALL_GRAPHS = 4000, LINKED = 250, ALL_LINKED = 1000 };

#define BASE 0x7f1200000000u

struct random {
	uint64_t state;
};

static uint64_t below(struct random *r, uint64_t n)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return (r->state >> 11) % n;
}

/* A graph as the oracle sees it: sets are bits. */
struct model {
	unsigned blocks, roots;
	uint64_t address[MOST_BLOCKS]; /* of field 0 */
	unsigned fields[MOST_BLOCKS], tag[MOST_BLOCKS];
	int target[MOST_BLOCKS][MOST_FIELDS]; /* -1: an integer */
	uint64_t edges[MOST_BLOCKS];
	int root[MOST_ROOTS];
	uint64_t offheap[MOST_BLOCKS];
};

static void make_blocks(struct model *m, struct random *r)
{
	uint64_t address = BASE;
	unsigned sparse = 1 + (unsigned)below(r, 4);
	for (unsigned i = 0; i < m->blocks; i++) {
		/* Gaps, now and then over several granules. */
		address += 8 * below(r, 3) + (below(r, 20) == 0 ? 8 * below(r, 20000) : 0);
		m->fields[i] = 1 + (unsigned)below(r, MOST_FIELDS);
		m->tag[i] = below(r, 8) ? (unsigned)below(r, 5) : 252;
		m->address[i] = address + 8;
		m->edges[i] = 0;
		for (unsigned j = 0; j < m->fields[i]; j++) {
			bool pointer = m->tag[i] < 251 && below(r, 2 + sparse) < 2;
			m->target[i][j] = pointer ? (int)below(r, m->blocks) : -1;
			if (pointer)
				m->edges[i] |= (uint64_t)1 << m->target[i][j];
		}
		address += 8 * (1 + (uint64_t)m->fields[i]);
		m->offheap[i] = 0;
	}
}

static void make(struct model *m, struct random *r)
{
	m->blocks = 1 + (unsigned)below(r, MOST_BLOCKS);
	m->roots = (unsigned)below(r, MOST_ROOTS + 1);
	make_blocks(m, r);
	for (unsigned i = 0; i < m->roots; i++)
		m->root[i] = (int)below(r, m->blocks);
}

static void write_model(const struct model *m, struct dump *d)
{
	uint64_t others[MOST_ROOTS];
	uint64_t end = m->address[m->blocks - 1] + 8 * (uint64_t)m->fields[m->blocks - 1];
	dump_start(d, "./random");
	dump_chunk(d, BASE, end);
	for (unsigned i = 0; i < m->blocks; i++) {
		dump_block(d, m->address[i], m->tag[i], m->fields[i], i % 7);
		for (unsigned j = 0; j < m->fields[i] && m->tag[i] < 251; j++)
			dump_word(d, m->target[i][j] < 0 ? 2 * j + 1 : m->address[m->target[i][j]]);
	}
	for (unsigned i = 0; i < m->roots; i++)
		others[i] = m->address[m->root[i]];
	dump_roots(d, 1, NULL, 0, others, m->roots);
	dump_write(d);
}

/* Blocks reached from the roots without passing a block of 'without'. */
static uint64_t reach(const struct model *m, uint64_t without)
{
	uint64_t seen = 0, next = 0;
	for (unsigned i = 0; i < m->roots; i++)
		next |= (uint64_t)1 << m->root[i];
	next &= ~without;
	while (next) {
		unsigned i = (unsigned)__builtin_ctzll(next);
		seen |= (uint64_t)1 << i;
		next = (next | m->edges[i]) & ~seen & ~without;
	}
	return seen;
}

struct truth {
	uint64_t reachable;
	uint64_t dominated[MOST_BLOCKS]; /* by block i, itself included */
	uint64_t dominators[MOST_BLOCKS];
};

static void find_truth(const struct model *m, struct truth *t)
{
	t->reachable = reach(m, 0);
	memset(t->dominators, 0, sizeof(t->dominators));
	for (unsigned i = 0; i < m->blocks; i++) {
		uint64_t self = (uint64_t)1 << i;
		t->dominated[i] = t->reachable & self ? t->reachable & ~reach(m, self) : 0;
		for (unsigned j = 0; j < m->blocks; j++)
			if (t->dominated[i] >> j & 1)
				t->dominators[j] |= self;
	}
}

static uint64_t sum_bytes(const struct model *m, uint64_t set)
{
	uint64_t bytes = 0;
	for (; set; set &= set - 1)
		bytes += 8 * (1 + (uint64_t)m->fields[__builtin_ctzll(set)]);
	return bytes;
}

/* The dominator that all others of the block dominate; -1: a root. */
static int immediate(const struct truth *t, unsigned block)
{
	uint64_t strict = t->dominators[block] & ~((uint64_t)1 << block);
	for (uint64_t left = strict; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		if (t->dominators[i] == strict)
			return (int)i;
	}
	return -1;
}

static struct hg_snapshot *open_snapshot(
	struct hg_session **session, const char *path, unsigned threads)
{
	struct hg_options options = {.size = sizeof(options), .threads = threads};
	struct hg_input input = {.size = sizeof(input), .path = path, .format = "memprof01"};
	struct hg_snapshot *snapshot;
	assert_int_equal(hg_session_open(&options, session), HG_OK);
	if (hg_snapshot_open(*session, &input, &snapshot) != HG_OK)
		fail_msg("%s", hg_session_error(*session)->message);
	assert_int_equal(hg_snapshot_analyse(snapshot), HG_OK);
	return snapshot;
}

/* What stands below the virtual root in the chain of a node, if it is a root. */
static hg_node climb_to_root(struct hg_snapshot *snapshot, unsigned blocks, hg_node node)
{
	hg_node below = node;
	for (; node != hg_virtual_root(snapshot); node = hg_describe_block(snapshot, node)->idom)
		below = node;
	return below >= blocks ? below : HG_NO_NODE;
}

static void check_blocks(struct hg_snapshot *snapshot, const struct model *m, const struct truth *t)
{
	struct hg_objects *objects;
	const struct hg_block *block;
	assert_int_equal(hg_objects_open(snapshot, &objects), HG_OK);
	for (unsigned i = 0; i < m->blocks; i++) {
		block = hg_objects_next(objects);
		assert_non_null(block);
		assert_int_equal(block->node, i);
		assert_int_equal(block->address, m->address[i]);
		assert_int_equal(block->tag, m->tag[i]);
		assert_int_equal(block->words, m->fields[i]);
		assert_int_equal(block->reachable, t->reachable >> i & 1);
		assert_int_equal(block->retained_bytes, sum_bytes(m, t->dominated[i]));
		if (!block->reachable) {
			assert_int_equal(block->idom, HG_NO_NODE);
			assert_int_equal(block->root, HG_NO_NODE);
			continue;
		}
		assert_int_equal(block->root, climb_to_root(snapshot, m->blocks, i));
		int idom = immediate(t, i);
		if (idom < 0)
			assert_true(block->idom >= m->blocks);
		else
			assert_int_equal(block->idom, idom);
	}
	assert_null(hg_objects_next(objects));
	hg_objects_close(objects);
}

/* Σ over the blocks of a class that no other block of it dominates. */
static uint64_t class_retained(const struct model *m, const struct truth *t, uint64_t class)
{
	uint64_t bytes = 0;
	for (unsigned i = 0; i < m->blocks; i++) {
		uint64_t strict = t->dominators[i] & ~((uint64_t)1 << i);
		if (class >> i & t->reachable >> i & 1 && !(strict & class))
			bytes += sum_bytes(m, t->dominated[i]);
	}
	return bytes;
}

static void check_classes(
	struct hg_snapshot *snapshot, const struct model *m, const struct truth *t)
{
	struct hg_top *top;
	uint64_t blocks = 0;
	assert_int_equal(hg_list_top(snapshot, HG_BY_TAG, NULL, &top), HG_OK);
	for (size_t row = 0; row < top->count; row++) {
		uint64_t class = 0;
		for (unsigned i = 0; i < m->blocks; i++)
			if (m->tag[i] == top->rows[row]->id)
				class |= (uint64_t)1 << i;
		assert_int_equal(top->rows[row]->blocks, __builtin_popcountll(class));
		assert_int_equal(top->rows[row]->bytes, sum_bytes(m, class));
		assert_int_equal(top->rows[row]->retained_bytes, class_retained(m, t, class));
		blocks += top->rows[row]->blocks;
	}
	assert_int_equal(blocks, m->blocks);
	hg_top_release(&top);
}

/* Steps from the virtual root to a block, by breadth. */
static unsigned distance(const struct model *m, unsigned block)
{
	uint64_t seen = 0, now = 0;
	for (unsigned i = 0; i < m->roots; i++)
		now |= (uint64_t)1 << m->root[i];
	for (unsigned steps = 2;; steps++) {
		if (now >> block & 1)
			return steps;
		seen |= now;
		uint64_t next = 0;
		for (; now; now &= now - 1)
			next |= m->edges[__builtin_ctzll(now)];
		now = next & ~seen;
	}
}

static void check_path(
	struct hg_snapshot *snapshot, const struct model *m, const struct truth *t, unsigned block)
{
	char pattern[32];
	struct hg_selection *selection;
	struct hg_why *why;
	snprintf(pattern, sizeof(pattern), "0x%llx", (unsigned long long)m->address[block]);
	assert_int_equal(hg_select(snapshot, pattern, &selection), HG_OK);
	assert_int_equal(selection->count, 1);
	assert_int_equal(selection->nodes[0], block);
	assert_int_equal(selection->retained_bytes, sum_bytes(m, t->dominated[block]));
	assert_int_equal(
		hg_explain_nodes(snapshot, selection->nodes, selection->count, &why), HG_OK);
	assert_int_equal(why->reached, t->reachable >> block & 1);
	if (why->reached) {
		assert_int_equal(why->steps_count, distance(m, block));
		assert_int_equal(why->steps[why->steps_count - 1]->node, block);
		for (size_t i = 2; i < why->steps_count; i++) {
			const struct hg_step *step = why->steps[i];
			assert_int_equal(m->target[step[-1].node][step->field], step->node);
		}
	}
	hg_why_release(&why);
	hg_selection_release(&selection);
}

static void check_object(struct hg_snapshot *snapshot, const struct model *m, unsigned block)
{
	struct hg_object *object;
	uint64_t holders = 0, roots = 0;
	assert_int_equal(hg_describe_object(snapshot, block, 0, 0, &object), HG_OK);
	for (unsigned i = 0; i < m->blocks; i++)
		holders += m->edges[i] >> block & 1;
	for (unsigned i = 0; i < m->roots; i++)
		roots += m->root[i] == (int)block;
	assert_int_equal(object->referrers_total, holders + roots);
	assert_int_equal(object->fields_count, m->tag[block] < 251 ? m->fields[block] : 0);
	for (unsigned j = 0; j < object->fields_count; j++) {
		int target = m->target[block][j];
		assert_int_equal(
			object->fields[j]->node, target < 0 ? HG_NO_NODE : (hg_node)target);
		if (target < 0)
			assert_int_equal(object->fields[j]->value, j);
	}
	hg_object_release(&object);
}

static void check_totals(struct hg_snapshot *snapshot, const struct model *m, const struct truth *t)
{
	const struct hg_totals *totals;
	uint64_t all = m->blocks == 64 ? UINT64_MAX : ((uint64_t)1 << m->blocks) - 1;
	assert_int_equal(hg_count_totals(snapshot, &totals), HG_OK);
	assert_int_equal(totals->blocks, m->blocks);
	assert_int_equal(totals->bytes, sum_bytes(m, all));
	assert_int_equal(totals->reachable_blocks, __builtin_popcountll(t->reachable));
	assert_int_equal(totals->reachable_bytes, sum_bytes(m, t->reachable));
	assert_int_equal(totals->retained_bytes, totals->reachable_bytes);
	assert_int_equal(totals->unreachable_bytes, sum_bytes(m, all & ~t->reachable));
}

static void random_graphs(void **state)
{
	struct random r = {0x9e3779b97f4a7c15u};
	struct dump d = {0};
	(void)state;
	for (unsigned n = 0; n < (is_thorough() ? ALL_GRAPHS : GRAPHS); n++) {
		struct model m;
		struct truth t;
		struct hg_session *session;
		make(&m, &r);
		write_model(&m, &d);
		find_truth(&m, &t);
		struct hg_snapshot *snapshot = open_snapshot(&session, d.path, 1 + n % 3);
		check_blocks(snapshot, &m, &t);
		check_totals(snapshot, &m, &t);
		check_classes(snapshot, &m, &t);
		check_path(snapshot, &m, &t, (unsigned)below(&r, m.blocks));
		check_object(snapshot, &m, (unsigned)below(&r, m.blocks));
		hg_snapshot_close(snapshot);
		hg_session_close(session);
	}
	dump_release(&d);
}

/* Links are edges that no field holds, and off-heap bytes a second weight: no format read so far
 * has them, so they are put into a loaded snapshot by hand. */
static void check_links(struct model *m, const char *path, struct random *r)
{
	struct hg_session *session;
	struct snap snap;
	struct graph graph;
	struct truth t;
	struct hg_error error;
	struct hg_input input = {.size = sizeof(input), .path = path, .format = "memprof01"};
	assert_int_equal(hg_session_open(NULL, &session), HG_OK);
	assert_int_equal(snap_open(&snap, session, &input, &error), HG_OK);
	snap.links = calloc(m->blocks, sizeof(*snap.links));
	snap.offheap = calloc(m->blocks, sizeof(*snap.offheap));
	for (uint32_t i = 0; i < m->blocks; i++) {
		if (below(r, 3) == 0) {
			uint32_t to = (uint32_t)below(r, m->blocks);
			snap.links[snap.link_count++] = (struct snap_link){i, to};
			m->edges[i] |= (uint64_t)1 << to;
		}
		if (below(r, 3) == 0) {
			m->offheap[i] = below(r, (uint64_t)1 << 40);
			snap.offheap[snap.offheap_count++] =
				(struct snap_offheap){i, m->offheap[i]};
		}
	}
	find_truth(m, &t);
	assert_int_equal(graph_open(&graph, &snap, &error), HG_OK);
	for (unsigned i = 0; i < m->blocks; i++) {
		struct graph_position p = graph.position[i];
		assert_int_equal(graph_reaches(p), t.reachable >> i & 1);
		if (!graph_reaches(p))
			continue;
		assert_int_equal(graph_retained(&graph, p), sum_bytes(m, t.dominated[i]));
		uint64_t offheap = 0;
		for (uint64_t left = t.dominated[i]; left; left &= left - 1)
			offheap += m->offheap[__builtin_ctzll(left)];
		if (graph.offheap)
			assert_int_equal(
				graph.offheap[p.n + graph.extent[p.n]] - graph.offheap[p.n],
				offheap);
		else
			assert_int_equal(snap.offheap_count, 0);
	}
	graph_close(&graph);
	snap_release(&snap);
	hg_session_close(session);
}

static void links_and_offheap_bytes(void **state)
{
	struct random r = {88172645463325252u};
	struct dump d = {0};
	(void)state;
	for (unsigned n = 0; n < (is_thorough() ? ALL_LINKED : LINKED); n++) {
		struct model m;
		make(&m, &r);
		write_model(&m, &d);
		check_links(&m, d.path, &r);
	}
	dump_release(&d);
}

/*
 * Tiers.  The oracle gives each block the first tier whose roots, with those of the tiers before,
 * reach it, and takes away every edge from a block to one of an earlier tier: what a block
 * dominates is what can then no longer be reached without it.
 */
enum { TIERS = 3, MOST_EPHEMERONS = 6, MOST_KEYS = 3 };

struct ephemerons {
	unsigned count;
	unsigned self[MOST_EPHEMERONS], data[MOST_EPHEMERONS], keys[MOST_EPHEMERONS];
	unsigned key[MOST_EPHEMERONS][MOST_KEYS];
};

static void make_ephemerons(
	struct ephemerons *e, struct snap *snap, const struct model *m, struct random *r)
{
	uint32_t first = 0;
	e->count = m->blocks > 3 ? (unsigned)below(r, MOST_EPHEMERONS + 1) : 0;
	snap->ephemerons = calloc(MOST_EPHEMERONS, sizeof(*snap->ephemerons));
	snap->ephemeron_keys =
		calloc((size_t)MOST_EPHEMERONS * MOST_KEYS, sizeof(*snap->ephemeron_keys));
	snap->ephemeron_count = e->count;
	for (unsigned i = 0; i < e->count; i++) {
		e->self[i] = (unsigned)below(r, m->blocks);
		e->data[i] = (unsigned)below(r, m->blocks);
		e->keys[i] = (unsigned)below(r, MOST_KEYS + 1);
		snap->ephemerons[i] =
			(struct snap_ephemeron){e->self[i], e->data[i], first, e->keys[i]};
		for (unsigned j = 0; j < e->keys[i]; j++)
			snap->ephemeron_keys[first++] = e->key[i][j] =
				(unsigned)below(r, m->blocks);
	}
}

/* The first of the keys and the ephemeron that was not reached before; -1: one is not yet. */
static int holder_of_data(const struct ephemerons *e, unsigned i, uint64_t reached, uint64_t before)
{
	int holder = -1;
	for (unsigned j = e->keys[i] + 1; j-- > 0;) {
		unsigned node = j < e->keys[i] ? e->key[i][j] : e->self[i];
		if (!(reached >> node & 1))
			return -1;
		if (!(before >> node & 1))
			holder = (int)node;
	}
	return holder;
}

/* What some roots reach, with the data of ephemerons that this makes alive: an edge for each. */
static uint64_t reach_data(
	struct model *m, const struct model *some, const struct ephemerons *e, uint64_t before)
{
	for (;;) {
		struct model now = *m;
		memcpy(now.root, some->root, sizeof(now.root));
		now.roots = some->roots;
		uint64_t reached = reach(&now, 0);
		bool is_new = false;
		for (unsigned i = 0; i < e->count; i++) {
			int holder = holder_of_data(e, i, reached, before);
			uint64_t data = (uint64_t)1 << e->data[i];
			is_new |= holder >= 0 && !(m->edges[holder] & data);
			if (holder >= 0)
				m->edges[holder] |= data;
		}
		if (!is_new)
			return reached;
	}
}

static void forget_edges_downwards(
	struct model *m, const unsigned *tier_of_root, const struct ephemerons *e)
{
	uint64_t reached[TIERS];
	struct model some = {.roots = 0};
	int kept[MOST_ROOTS] = {0};
	unsigned kept_count = 0;
	for (unsigned tier = 0; tier < TIERS; tier++) {
		for (unsigned i = 0; i < m->roots; i++)
			if (tier_of_root[i] == tier)
				some.root[some.roots++] = m->root[i];
		reached[tier] = reach_data(m, &some, e, tier ? reached[tier - 1] : 0);
	}
	for (unsigned i = 0; i < m->roots; i++)
		if (!tier_of_root[i] || !(reached[tier_of_root[i] - 1] & (uint64_t)1 << m->root[i]))
			kept[kept_count++] = m->root[i];
	for (unsigned i = 0; i < m->blocks; i++)
		for (unsigned tier = TIERS - 1; tier > 0; tier--)
			if (!(reached[tier - 1] & (uint64_t)1 << i))
				m->edges[i] &= ~reached[tier - 1];
	memcpy(m->root, kept, sizeof(kept));
	m->roots = kept_count;
}

static const struct {
	enum hg_root_kind kind;
	enum snap_hold hold;
	unsigned tier, tier_when_alike;
} root_samples[] = {
	{HG_ROOT_GLOBAL, SNAP_HOLD_ALWAYS, 0, 0},
	{HG_ROOT_OTHER, SNAP_HOLD_ALWAYS, 0, 0},
	{HG_ROOT_FINALISER, SNAP_HOLD_ALWAYS, 0, 0},
	{HG_ROOT_STACK, SNAP_HOLD_ALWAYS, 1, 0},
	{HG_ROOT_LOCAL, SNAP_HOLD_ALWAYS, 1, 0},
	{HG_ROOT_STACK, SNAP_HOLD_ALWAYS, 1, 0},
	{HG_ROOT_FINALISER, SNAP_HOLD_LAST, 2, 2},
};

static void open_by_hand(struct snap *snap, struct hg_session **session, const char *path)
{
	struct hg_error error;
	struct hg_input input = {.size = sizeof(input), .path = path, .format = "memprof01"};
	assert_int_equal(hg_session_open(NULL, session), HG_OK);
	assert_int_equal(snap_open(snap, *session, &input, &error), HG_OK);
}

/* Whether the shortest path to a block begins at a root of the block's own tier. */
static void check_path_tier(const struct graph_paths *paths, const struct snap *snap,
	const struct model *all, const unsigned *tier_of_root, unsigned block)
{
	uint32_t number = graph_paths_number(paths, block);
	struct model lower = *all;
	lower.roots = 0;
	assert_int_not_equal(number, GRAPH_NONE);
	while (paths->holder[number] != 0)
		number = paths->holder[number];
	uint32_t root = graph_paths_node(paths, number) - (uint32_t)snap->block_count;
	assert_true(root < all->roots);
	for (unsigned i = 0; i < all->roots; i++)
		if (tier_of_root[i] < tier_of_root[root])
			lower.root[lower.roots++] = all->root[i];
	assert_int_equal(reach(&lower, 0) >> block & 1, 0);
}

/* The roots that lead to a block, alone, however far. */
static void check_roots_to(const struct graph_paths *paths, const struct snap *snap,
	const struct model *all, unsigned block)
{
	struct hg_error error;
	struct base_budget budget = {0};
	struct base_arena arena;
	uint32_t *roots, count, found = 0, wanted = 0;
	assert_int_equal(base_arena_init(&arena, &budget, "test", &error), HG_OK);
	assert_int_equal(graph_paths_roots_to(paths, graph_paths_number(paths, block), &arena,
				 &roots, &count, &error),
		HG_OK);
	for (uint32_t i = 0; i < count; i++)
		found |= 1U << (roots[i] - snap->block_count);
	for (unsigned i = 0; i < all->roots; i++) {
		struct model one = *all;
		one.root[0] = all->root[i];
		one.roots = 1;
		wanted |= (uint32_t)(reach(&one, 0) >> block & 1) << i;
	}
	assert_int_equal(found, wanted);
	assert_int_equal(__builtin_popcount(wanted), count);
	base_arena_release(&arena);
}

static void check_tiers(struct model *m, const char *path, struct random *r)
{
	struct hg_session *session;
	struct snap snap;
	struct graph graph;
	struct graph_paths paths;
	struct hg_error error;
	struct truth t;
	struct model all;
	struct ephemerons e;
	unsigned tier_of_root[MOST_ROOTS] = {0};
	bool alike = below(r, 4) == 0;
	open_by_hand(&snap, &session, path);
	snap.all_roots_alike = alike;
	for (unsigned i = 0; i < m->roots; i++) {
		size_t n = below(r, sizeof(root_samples) / sizeof(root_samples[0]));
		snap.roots[i].kind = root_samples[n].kind;
		snap.roots[i].hold = root_samples[n].hold;
		tier_of_root[i] = alike ? root_samples[n].tier_when_alike : root_samples[n].tier;
	}
	make_ephemerons(&e, &snap, m, r);
	all = *m;
	forget_edges_downwards(m, tier_of_root, &e);
	find_truth(m, &t);
	assert_int_equal(graph_open(&graph, &snap, &error), HG_OK);
	assert_int_equal(graph_paths_open(&paths, &graph, &error), HG_OK);
	for (unsigned i = 0; i < m->blocks; i++) {
		struct graph_position p = graph.position[i];
		assert_int_equal(graph_reaches(p), t.reachable >> i & 1);
		if (!graph_reaches(p))
			continue;
		assert_int_equal(graph_retained(&graph, p), sum_bytes(m, t.dominated[i]));
		if (e.count > 0)
			continue;
		check_path_tier(&paths, &snap, &all, tier_of_root, i);
		check_roots_to(&paths, &snap, &all, i);
	}
	graph_paths_close(&paths);
	graph_close(&graph);
	snap_release(&snap);
	hg_session_close(session);
}

static void tiers_of_roots(void **state)
{
	struct random r = {777};
	struct dump d = {0};
	(void)state;
	for (unsigned n = 0; n < (is_thorough() ? 4 * ALL_LINKED : 4 * LINKED); n++) {
		struct model m;
		make(&m, &r);
		write_model(&m, &d);
		check_tiers(&m, d.path, &r);
	}
	dump_release(&d);
}

/* A list of n cells, all of them also in a table: climbing alone needs n^2 steps here. */
static void make_list_in_table(
	uint32_t n, struct graph_preorder *parent, uint32_t *first, struct graph_preorder *sources)
{
	/* 0 leads to the first cell, 1, and then to the table, n - 1; cell i to cell i + 1. */
	parent[0].n = parent[n - 1].n = 0;
	first[0] = first[1] = 0;
	for (uint32_t i = 1; i < n - 1; i++) {
		parent[i].n = i - 1;
		sources[i - 1].n = n - 1;
		first[i + 1] = i;
	}
	first[n] = first[n - 1];
}

static void compare_methods(const struct graph_flow *flow, bool climb_too)
{
	struct hg_error error;
	struct base_budget budget = {0};
	struct base_arena arena;
	struct graph_preorder *idom[3];
	enum graph_method methods[] = {
		GRAPH_METHOD_ADAPTIVE, GRAPH_METHOD_BUCKETS, GRAPH_METHOD_CLIMB};
	assert_int_equal(base_arena_init(&arena, &budget, "test", &error), HG_OK);
	for (unsigned i = 0; i < (climb_too ? 3 : 2); i++) {
		void *scratch, *semi;
		assert_int_equal(
			base_arena_alloc(&arena, flow->count, GRAPH_SCRATCH, &scratch, &error),
			HG_OK);
		assert_int_equal(
			base_arena_alloc(&arena, flow->count, sizeof(uint32_t), &semi, &error),
			HG_OK);
		assert_int_equal(
			graph_dominators(flow, methods[i], scratch, semi, &arena, &idom[i], &error),
			HG_OK);
		assert_memory_equal(idom[0], idom[i], flow->count * sizeof(**idom));
	}
	base_arena_release(&arena);
}

static void methods_agree_on_lists_in_tables(void **state)
{
	(void)state;
	for (uint32_t n = 3; n < 2000000; n = n * 5 + 1) {
		struct graph_preorder *parent = calloc(n, sizeof(*parent));
		struct graph_preorder *sources = calloc(n, sizeof(*sources));
		uint32_t *first = calloc((size_t)n + 1, sizeof(*first));
		make_list_in_table(n, parent, first, sources);
		struct graph_flow flow = {n, parent, first, sources};
		compare_methods(&flow, n < 10000);
		free(parent);
		free(sources);
		free(first);
	}
}

/* Search trees with random further edges, which may go to any later node or to ancestors. */
static void methods_agree_on_random_flows(void **state)
{
	struct random r = {12345};
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		enum { MOST = 400 };
		uint32_t n = 2 + (uint32_t)below(&r, MOST - 2), edges = 0;
		struct graph_preorder parent[MOST], from[4 * MOST], to[4 * MOST];
		struct graph_preorder sources[4 * MOST];
		uint32_t first[MOST + 1] = {0}, last[MOST];
		parent[0].n = 0;
		/* Preorder: each node hangs on the path to the one before. */
		for (uint32_t v = 1; v < n; v++) {
			parent[v].n = v - 1;
			while (parent[v].n && below(&r, 3) == 0)
				parent[v] = parent[parent[v].n];
		}
		/* An edge u -> v of a depth-first search has v < u, or v below u. */
		for (uint32_t v = 0; v < n; v++)
			last[v] = v;
		for (uint32_t v = n - 1; v > 0; v--)
			if (last[v] > last[parent[v].n])
				last[parent[v].n] = last[v];
		for (uint32_t i = 0; i < 3 * n; i++) {
			uint32_t u = (uint32_t)below(&r, n), v = 1 + (uint32_t)below(&r, n - 1);
			if (v > last[u])
				continue;
			from[edges].n = u;
			to[edges++].n = v;
		}
		graph_group_edges(n, edges, from, to, first, sources);
		struct graph_flow flow = {n, parent, first, sources};
		compare_methods(&flow, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(links_and_offheap_bytes),
		cmocka_unit_test(tiers_of_roots),
		cmocka_unit_test(methods_agree_on_lists_in_tables),
		cmocka_unit_test(methods_agree_on_random_flows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
