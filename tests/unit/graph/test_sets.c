/*
 * What sets of nodes retain and share, against a brute-force oracle: small random graphs whose sets
 * are bits of a word, from which the nodes of a set are taken away.  Roots are of all tiers, and
 * some edges are links.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph/sets.h"
#include "query/shared/query.h"
#include "tests/unit/dump.h"

enum { MOST_BLOCKS = 56, MOST_FIELDS = 6, MOST_ROOTS = 7, MOST_SETS = 4, TIERS = 3 };

/* Random graphs, and how often sets are chosen of each. */
enum { GRAPHS = 1000, ALL_GRAPHS = 10000, CHOICES = 4 };

#define BASE 0x7f1200000000u

static uint64_t below(uint64_t *state, uint64_t n)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (*state >> 11) % n;
}

static uint64_t bit(unsigned number)
{
	return (uint64_t)1 << number;
}

/* Nodes are blocks, then roots, by their numbers. */
struct graph_model {
	unsigned blocks, roots;
	uint64_t address[MOST_BLOCKS], bytes[MOST_BLOCKS], offheap[MOST_BLOCKS];
	unsigned fields[MOST_BLOCKS], tag[MOST_BLOCKS], tier_of_root[MOST_ROOTS];
	int target[MOST_BLOCKS][MOST_FIELDS];
	uint64_t edges[MOST_BLOCKS + MOST_ROOTS]; /* all of them */
	uint64_t holds[MOST_BLOCKS + MOST_ROOTS]; /* those within a tier */
	uint64_t reachable;
};

static void make_graph(struct graph_model *m, uint64_t *r)
{
	uint64_t address = BASE;
	unsigned sparse = 1 + (unsigned)below(r, 5);
	memset(m, 0, sizeof(*m));
	m->blocks = 1 + (unsigned)below(r, MOST_BLOCKS);
	m->roots = (unsigned)below(r, MOST_ROOTS + 1);
	for (unsigned i = 0; i < m->blocks; i++) {
		m->fields[i] = 1 + (unsigned)below(r, MOST_FIELDS);
		m->tag[i] = (unsigned)below(r, 4);
		m->bytes[i] = 8 * (1 + (uint64_t)m->fields[i]);
		m->address[i] = address + 8;
		address += m->bytes[i];
		for (unsigned j = 0; j < m->fields[i]; j++) {
			bool pointer = below(r, 1 + sparse) == 0;
			m->target[i][j] = pointer ? (int)below(r, m->blocks) : -1;
			if (pointer)
				m->edges[i] |= bit((unsigned)m->target[i][j]);
		}
	}
	for (unsigned i = 0; i < m->roots; i++)
		m->edges[m->blocks + i] = bit((unsigned)below(r, m->blocks));
}

static void write_graph(const struct graph_model *m, struct dump *d)
{
	uint64_t others[MOST_ROOTS];
	dump_start(d, "./sets");
	dump_chunk(d, BASE, m->address[m->blocks - 1] + m->bytes[m->blocks - 1] - 8);
	for (unsigned i = 0; i < m->blocks; i++) {
		dump_block(d, m->address[i], m->tag[i], m->fields[i], 0);
		for (unsigned j = 0; j < m->fields[i]; j++)
			dump_word(d, m->target[i][j] < 0 ? 2 * j + 1 : m->address[m->target[i][j]]);
	}
	for (unsigned i = 0; i < m->roots; i++)
		others[i] = m->address[__builtin_ctzll(m->edges[m->blocks + i])];
	dump_roots(d, 1, NULL, 0, others, m->roots);
	dump_write(d);
}

/* All that some nodes lead to by these edges, themselves included, around others. */
static uint64_t closure(uint64_t start, const uint64_t *edges, uint64_t without)
{
	uint64_t seen = 0, next = start & ~without;
	while (next) {
		unsigned i = (unsigned)__builtin_ctzll(next);
		seen |= bit(i);
		next = (next | edges[i]) & ~seen & ~without;
	}
	return seen;
}

static uint64_t all_roots(const struct graph_model *m)
{
	return (bit(m->roots) - 1) << m->blocks;
}

/* A node is of the first tier whose roots reach it; no edge that leads to a lower one holds. */
static void find_holds(struct graph_model *m)
{
	uint64_t lower = 0;
	for (unsigned tier = 0; tier < TIERS; tier++) {
		uint64_t start = 0;
		for (unsigned i = 0; i < m->roots; i++)
			if (m->tier_of_root[i] == tier)
				start |= bit(m->blocks + i);
		uint64_t of_tier = closure(start, m->edges, 0) & ~lower;
		for (uint64_t left = of_tier; left; left &= left - 1)
			m->holds[__builtin_ctzll(left)] = m->edges[__builtin_ctzll(left)] & of_tier;
		lower |= of_tier;
	}
	m->reachable = lower;
}

static struct hg_amount amount_of(const struct graph_model *m, uint64_t nodes)
{
	struct hg_amount amount = {0};
	for (nodes &= bit(m->blocks) - 1; nodes; nodes &= nodes - 1) {
		unsigned i = (unsigned)__builtin_ctzll(nodes);
		amount.blocks++;
		amount.bytes += m->bytes[i];
		amount.offheap_bytes += m->offheap[i];
	}
	return amount;
}

static void check_amount(const struct hg_amount *got, struct hg_amount wanted)
{
	assert_int_equal(got->blocks, wanted.blocks);
	assert_int_equal(got->bytes, wanted.bytes);
	assert_int_equal(got->offheap_bytes, wanted.offheap_bytes);
}

/* What is no longer reached. */
static uint64_t lost_without(const struct graph_model *m, uint64_t set)
{
	return m->reachable & ~closure(all_roots(m), m->holds, set);
}

static uint64_t shared_by(const struct graph_model *m, uint64_t set)
{
	uint64_t lost = lost_without(m, set);
	return closure(lost, m->edges, 0) & ~lost;
}

/* The one that all other dominators of a node dominate; -1: the virtual root. */
static int immediate_dominator(const struct graph_model *m, unsigned node)
{
	int best = -1;
	uint64_t most = m->reachable;
	for (unsigned i = 0; i < m->blocks + m->roots; i++) {
		uint64_t lost = i == node ? 0 : lost_without(m, bit(i));
		if (lost & bit(node) && (best < 0 || (most & bit(i)))) {
			best = (int)i;
			most = lost;
		}
	}
	return best;
}

/* Into a loaded snapshot what no format of this kind has; before it is analysed. */
static void add_by_hand(struct graph_model *m, struct snap *snap, uint64_t *r)
{
	static const enum hg_root_kind kinds[TIERS] = {
		HG_ROOT_GLOBAL, HG_ROOT_STACK, HG_ROOT_FINALISER};
	snap->links = calloc(m->blocks, sizeof(*snap->links));
	snap->offheap = calloc(m->blocks, sizeof(*snap->offheap));
	for (unsigned i = 0; i < m->roots; i++) {
		m->tier_of_root[i] = (unsigned)below(r, TIERS);
		snap->roots[i].kind = kinds[m->tier_of_root[i]];
		snap->roots[i].hold = m->tier_of_root[i] == 2 ? SNAP_HOLD_LAST : SNAP_HOLD_ALWAYS;
	}
	for (uint32_t i = 0; i < m->blocks; i++) {
		if (below(r, 4) == 0) {
			uint32_t to = (uint32_t)below(r, m->blocks);
			snap->links[snap->link_count++] = (struct snap_link){i, to};
			m->edges[i] |= bit(to);
		}
		if (below(r, 3) == 0) {
			m->offheap[i] = below(r, bit(40));
			snap->offheap[snap->offheap_count++] =
				(struct snap_offheap){i, m->offheap[i]};
		}
	}
}

static struct hg_snapshot *open_graph(
	struct hg_session **session, const char *path, struct graph_model *m, uint64_t *r)
{
	struct hg_input input = {.size = sizeof(input), .path = path, .format = "memprof01"};
	struct hg_snapshot *snapshot;
	assert_int_equal(hg_session_open(NULL, session), HG_OK);
	assert_int_equal(hg_snapshot_open(*session, &input, &snapshot), HG_OK);
	add_by_hand(m, &snapshot->snap, r);
	find_holds(m);
	assert_int_equal(hg_snapshot_analyse(snapshot), HG_OK);
	return snapshot;
}

/* A set of the caller's: its nodes in some order, some twice; the same as bits. */
struct choice {
	struct hg_set set;
	hg_node nodes[2 * (MOST_BLOCKS + MOST_ROOTS)];
	uint64_t bits;
};

static void choose(const struct graph_model *m, struct choice *c, uint64_t *r)
{
	unsigned all = m->blocks + m->roots, one_of = 1 + (unsigned)below(r, all);
	c->bits = 0;
	c->set = (struct hg_set){c->nodes, 0};
	for (unsigned i = all; i-- > 0;) {
		if (below(r, one_of))
			continue;
		c->bits |= bit(i);
		c->nodes[c->set.count++] = i;
		if (below(r, 5) == 0)
			c->nodes[c->set.count++] = i;
	}
}

static void check_row(const struct graph_model *m, const struct hg_set_row *row, uint64_t set)
{
	assert_int_equal(row->nodes, __builtin_popcountll(set));
	assert_int_equal(row->reachable, __builtin_popcountll(set & m->reachable));
	check_amount(&row->own, amount_of(m, set & m->reachable));
	check_amount(&row->retained, amount_of(m, lost_without(m, set)));
	check_amount(&row->shared, amount_of(m, shared_by(m, set)));
	assert_true(row->own.bytes <= row->retained.bytes);
}

static struct hg_amount sum_holders(
	struct hg_set_holder *const *rows, size_t count, bool members_only)
{
	struct hg_amount sum = {0};
	for (size_t i = 0; i < count; i++) {
		assert_true(rows[i]->nodes > 0 && *rows[i]->name);
		if (members_only && !rows[i]->is_member)
			continue;
		sum.blocks += rows[i]->held.blocks;
		sum.bytes += rows[i]->held.bytes;
		sum.offheap_bytes += rows[i]->held.offheap_bytes;
	}
	return sum;
}

static void check_dominators(const struct graph_model *m, const struct hg_sets *sets, uint64_t set)
{
	uint64_t by_members = 0, holders = 0, counted = 0;
	bool by_top = false;
	for (unsigned i = 0; i < m->blocks + m->roots; i++) {
		if (!(set & m->reachable & bit(i)))
			continue;
		int idom = immediate_dominator(m, i);
		by_top |= idom < 0;
		holders |= idom < 0 ? 0 : bit((unsigned)idom);
		by_members |= idom >= 0 && set & bit((unsigned)idom) ? bit(i) : 0;
	}
	for (size_t i = 0; i < sets->dominators_count; i++)
		counted += sets->dominators[i]->nodes;
	assert_int_equal(counted, (unsigned)__builtin_popcountll(holders) + by_top);
	check_amount(&sets->all.own, sum_holders(sets->dominators, sets->dominators_count, false));
	struct hg_amount sum = sum_holders(sets->dominators, sets->dominators_count, true);
	check_amount(&sum, amount_of(m, by_members));
}

/* Nodes that avoid the set, to which it does not lead, and from which a shared one is one step. */
static void check_sharers(const struct graph_model *m, const struct hg_sets *sets, uint64_t set)
{
	uint64_t led_to = closure(lost_without(m, set), m->edges, 0), fine = 0;
	for (unsigned i = 0; i < m->blocks + m->roots; i++)
		if (m->reachable & ~led_to & bit(i) && m->edges[i] & led_to)
			fine |= bit(i);
	for (size_t i = 0; i < sets->sharers_count; i++) {
		assert_false(sets->sharers[i]->is_member);
		assert_true(sets->sharers[i]->largest < m->blocks + m->roots);
		assert_true(fine & bit(sets->sharers[i]->largest));
		assert_true(sets->sharers[i]->nodes <= (unsigned)__builtin_popcountll(fine));
	}
	check_amount(&sets->all.shared, sum_holders(sets->sharers, sets->sharers_count, false));
}

static void check_sets(struct hg_snapshot *snapshot, const struct graph_model *m, uint64_t *r)
{
	struct choice choices[MOST_SETS];
	struct hg_set given[MOST_SETS];
	struct hg_sets *sets;
	size_t count = 1 + below(r, MOST_SETS);
	uint64_t all = 0, alone = 0;
	for (size_t i = 0; i < count; i++) {
		choose(m, &choices[i], r);
		given[i] = choices[i].set;
		all |= choices[i].bits;
		alone |= lost_without(m, choices[i].bits);
	}
	assert_int_equal(hg_compare_sets(snapshot, given, count, &sets), HG_OK);
	assert_int_equal(sets->sets_count, count);
	for (size_t i = 0; i < count; i++) {
		check_row(m, sets->sets[i], choices[i].bits);
		/* More is lost with more. */
		assert_true(sets->sets[i]->retained.bytes <= sets->all.retained.bytes);
	}
	check_row(m, &sets->all, all);
	check_amount(&sets->jointly, amount_of(m, count > 1 ? lost_without(m, all) & ~alone : 0));
	check_dominators(m, sets, all);
	check_sharers(m, sets, all);
	hg_sets_release(&sets);
	assert_null(sets);
}

/* Of one node the set retains what the dominator tree says. */
static void check_single(struct hg_snapshot *snapshot, const struct graph_model *m, uint64_t *r)
{
	hg_node node = (hg_node)below(r, m->blocks + m->roots);
	struct hg_set set = {&node, 1};
	struct hg_sets *sets;
	assert_int_equal(hg_compare_sets(snapshot, &set, 1, &sets), HG_OK);
	assert_int_equal(
		sets->all.retained.bytes, hg_describe_block(snapshot, node)->retained_bytes);
	hg_sets_release(&sets);
}

static void sets_of_random_graphs(void **state)
{
	uint64_t r = 424242;
	struct dump d = {0};
	(void)state;
	for (unsigned n = 0; n < (is_thorough() ? ALL_GRAPHS : GRAPHS); n++) {
		struct graph_model m;
		struct hg_session *session;
		make_graph(&m, &r);
		write_graph(&m, &d);
		struct hg_snapshot *snapshot = open_graph(&session, d.path, &m, &r);
		for (unsigned i = 0; i < CHOICES; i++)
			check_sets(snapshot, &m, &r);
		check_single(snapshot, &m, &r);
		hg_snapshot_close(snapshot);
		hg_session_close(session);
	}
	dump_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_of_random_graphs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
