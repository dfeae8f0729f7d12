/*
 * What sets of nodes retain as a whole, from one removal for each of them and one for all together.
 */
#include "query/retention/path_classes.h"
#include "query/shared/result.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/grow.h"
#include "graph/sets.h"

#include <stdlib.h>
#include <string.h>

/* Classes of holders, as they are met. */
struct holders {
	struct hg_set_holder *rows; /* names are of the classes */
	uint64_t count, capacity;
	uint64_t *counted; /* a bit per node: it is counted in its row */
	struct base_map by_class;
};

struct comparing {
	struct hg_snapshot *snapshot;
	struct hg_sets *out;
	const struct hg_set *sets;
	size_t count;
	uint32_t *nodes;   /* of the set that is looked at, or of all, ascending */
	uint64_t *members; /* a bit per node: the same */
	uint64_t *alone;   /* a bit per node: some set retains it alone; NULL if there is one set */
	struct query_path_classes classes;
	struct holders dominators, sharers;
};

static enum hg_status comparing_failed(const struct comparing *c, const char *what)
{
	return base_fail(&c->snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET, "%s", what);
}

static bool is_block(const struct comparing *c, uint32_t node)
{
	return node < c->snapshot->snap.block_count;
}

static void add_amount(const struct comparing *c, uint32_t node, struct hg_amount *amount)
{
	const struct graph *g = &c->snapshot->graph;
	struct graph_position p = g->position[node];
	if (!is_block(c, node) || !graph_reaches(p))
		return;
	amount->blocks++;
	amount->bytes += graph_shallow(g, p);
	amount->offheap_bytes += graph_offheap(g, p);
}

/* Makes these sets the one that is looked at: their nodes, each once. */
static enum hg_status gather_nodes(
	struct comparing *c, const struct hg_set *sets, size_t count, struct hg_set_row *row)
{
	uint32_t top = snap_virtual_root(&c->snapshot->snap);
	memset(c->members, 0, base_bit_words(top) * sizeof(*c->members));
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < sets[i].count; j++) {
			if (sets[i].nodes[j] >= top)
				return comparing_failed(c, "no node that can be removed");
			base_bit_set(c->members, sets[i].nodes[j]);
		}
	}
	for (uint32_t node = 0; node < top; node++) {
		if (!base_bit(c->members, node))
			continue;
		row->nodes++;
		if (!graph_reaches(c->snapshot->graph.position[node]))
			continue;
		add_amount(c, node, &row->own);
		c->nodes[row->reachable++] = node;
	}
	return HG_OK;
}

static enum hg_status class_of_holder(struct comparing *c, uint32_t node, uint32_t *out)
{
	const struct snap *snap = &c->snapshot->snap;
	struct snap_cell cell;
	if (node == snap_virtual_root(snap))
		return query_path_class_named(&c->classes, "all roots", out);
	if (!is_block(c, node))
		return query_path_class_of_root(&c->classes, node - snap->block_count, out);
	if (!snap_block(&c->snapshot->lookup, (struct snap_rank){node}, &cell))
		return base_corrupt(
			&c->snapshot->session->error, HG_NO_OFFSET, "changed while it was read");
	return query_path_class_of_block(&c->classes, node, &cell, out);
}

/* The row of a holder's class, where it is counted if it has not been. */
static enum hg_status find_row(
	struct comparing *c, struct holders *holders, uint32_t node, uint64_t *row)
{
	struct hg_error *error = &c->snapshot->session->error;
	bool is_top = node == snap_virtual_root(&c->snapshot->snap);
	bool is_member = !is_top && base_bit(c->members, node), is_new;
	uint32_t class;
	BASE_TRY(class_of_holder(c, node, &class));
	*row = holders->count;
	BASE_TRY(base_map_add(
		&holders->by_class, (uint64_t) class << 1 | is_member, row, &is_new, error));
	if (is_new) {
		BASE_TRY(base_grow(&holders->rows, holders->count, &holders->capacity,
			sizeof(*holders->rows), error));
		holders->rows[holders->count++] = (struct hg_set_holder){
			.name = c->classes.all[class].name,
			.type = c->classes.all[class].type,
			.is_root = !is_block(c, node),
			.is_member = is_member,
			.largest = node,
		};
	}
	struct hg_set_holder *holder = &holders->rows[*row];
	if (base_bit(holders->counted, node))
		return HG_OK;
	base_bit_set(holders->counted, node);
	holder->nodes++;
	if (query_by_retained(c->snapshot, c->snapshot->graph.position[node],
		    c->snapshot->graph.position[holder->largest]) < 0)
		holder->largest = node;
	return HG_OK;
}

/* Whose children in the dominator tree the members are. */
static enum hg_status find_dominators(struct comparing *c, uint64_t count)
{
	const struct graph *g = &c->snapshot->graph;
	for (uint64_t i = 0; i < count; i++) {
		struct graph_position idom = g->idom[g->position[c->nodes[i]].n];
		uint64_t row;
		BASE_TRY(find_row(c, &c->dominators, query_node(c->snapshot, idom), &row));
		add_amount(c, c->nodes[i], &c->dominators.rows[row].held);
	}
	return HG_OK;
}

/* Who holds what is shared; neighbours often have the same holder. */
static enum hg_status find_sharers(
	struct comparing *c, const struct graph_removal *removal, struct hg_set_row *row)
{
	uint32_t last = GRAPH_NONE;
	uint64_t found = 0;
	for (uint32_t i = 1; i < removal->count; i++) {
		if (!base_bit(removal->shared, i))
			continue;
		uint32_t node = graph_removal_node(removal, i);
		add_amount(c, node, &row->shared);
		if (row != &c->out->all)
			continue;
		if (removal->holder[i] != last)
			BASE_TRY(find_row(c, &c->sharers,
				graph_removal_node(removal, removal->holder[i]), &found));
		last = removal->holder[i];
		add_amount(c, node, &c->sharers.rows[found].held);
	}
	return HG_OK;
}

/* Those that are lost, in a bit for each or, for all sets, against these bits. */
static void sum_lost(
	struct comparing *c, const struct graph_removal *removal, struct hg_set_row *row)
{
	for (unsigned tier = 0; tier < SNAP_TIERS; tier++) {
		for (uint32_t i = removal->lost[tier].first; i < removal->lost[tier].end; i++) {
			uint32_t node = graph_removal_node(removal, i);
			add_amount(c, node, &row->retained);
			if (row != &c->out->all && c->alone)
				base_bit_set(c->alone, node);
			else if (c->alone && !base_bit(c->alone, node))
				add_amount(c, node, &c->out->jointly);
		}
	}
}

/* One set, or all of them together: that row is filled last. */
static enum hg_status remove_nodes(
	struct comparing *c, const struct hg_set *sets, size_t count, struct hg_set_row *row)
{
	struct hg_error *error = &c->snapshot->session->error;
	struct graph_removal removal;
	BASE_TRY(gather_nodes(c, sets, count, row));
	if (row == &c->out->all)
		BASE_TRY(find_dominators(c, row->reachable));
	BASE_TRY(
		graph_removal_open(&removal, &c->snapshot->graph, c->nodes, row->reachable, error));
	enum hg_status status = graph_removal_share(&removal, error);
	if (status == HG_OK) {
		sum_lost(c, &removal, row);
		status = find_sharers(c, &removal, row);
	}
	graph_removal_close(&removal);
	return status;
}

static uint64_t held_bytes(const struct hg_set_holder *holder, enum hg_weight weight)
{
	return base_weigh(weight, holder->held.bytes, holder->held.offheap_bytes);
}

static int compare_set_holders(
	const struct hg_set_holder *a, const struct hg_set_holder *b, enum hg_weight weight)
{
	if (held_bytes(a, weight) != held_bytes(b, weight))
		return held_bytes(a, weight) > held_bytes(b, weight) ? -1 : 1;
	if (a->held.blocks != b->held.blocks)
		return a->held.blocks > b->held.blocks ? -1 : 1;
	int order = strcmp(a->name, b->name);
	return order ? order : a->is_member - b->is_member;
}

static int compare_holders_by_total(const void *a, const void *b)
{
	return compare_set_holders(a, b, HG_WEIGHT_TOTAL);
}

static int compare_holders_by_heap(const void *a, const void *b)
{
	return compare_set_holders(a, b, HG_WEIGHT_HEAP);
}

/* Sorted, with their names in 'names', whose end moves on. */
static enum hg_status keep_holders(struct comparing *c, struct holders *holders, char **names,
	size_t *count, struct hg_set_holder ***rows)
{
	struct hg_set_holder *all = holders->rows;
	uint64_t found = holders->count;
	bool by_total = c->snapshot->session->weight == HG_WEIGHT_TOTAL;
	if (found)
		qsort(all, found, sizeof(*all),
			by_total ? compare_holders_by_total : compare_holders_by_heap);
	for (uint64_t i = 0; i < found; i++) {
		size_t size = strlen(all[i].name) + 1;
		all[i].name = memcpy(*names, all[i].name, size);
		*names += size;
	}
	*count = found;
	holders->rows = NULL;
	return query_keep_rows(c->snapshot, c->out, all, found, sizeof(*all), rows);
}

static enum hg_status keep_all_holders(struct comparing *c)
{
	struct hg_sets *out = c->out;
	const struct holders *both[] = {&c->dominators, &c->sharers};
	size_t size = 0;
	char *names;
	for (unsigned i = 0; i < 2; i++)
		for (uint64_t j = 0; j < both[i]->count; j++)
			size += strlen(both[i]->rows[j].name) + 1;
	BASE_TRY(query_alloc(c->snapshot, size, 1, (void **)&names));
	query_keep(out, names);
	BASE_TRY(keep_holders(c, &c->dominators, &names, &out->dominators_count, &out->dominators));
	return keep_holders(c, &c->sharers, &names, &out->sharers_count, &out->sharers);
}

/* What is worked with, but for the bits that more than one set needs. */
static enum hg_status begin_comparing(struct comparing *c)
{
	uint32_t top = snap_virtual_root(&c->snapshot->snap);
	uint64_t words = base_bit_words((uint64_t)top + 1);
	struct hg_snapshot *s = c->snapshot;
	BASE_TRY(graph_nodes(&s->graph, &s->session->error));
	BASE_TRY(query_path_classes_init(&c->classes, s));
	BASE_TRY(query_alloc(s, top, sizeof(*c->nodes), (void **)&c->nodes));
	BASE_TRY(query_alloc(s, words, sizeof(*c->members), (void **)&c->members));
	BASE_TRY(query_alloc(s, words, sizeof(uint64_t), (void **)&c->dominators.counted));
	return query_alloc(s, words, sizeof(uint64_t), (void **)&c->sharers.counted);
}

static void sum_everything(const struct comparing *c, struct hg_amount *out)
{
	const struct graph *g = &c->snapshot->graph;
	for (uint32_t node = 0; node < c->snapshot->snap.block_count; node++)
		out->blocks += graph_reaches(g->position[node]);
	out->bytes = g->bytes[g->live_count];
	out->offheap_bytes = g->offheap ? g->offheap[g->live_count] : 0;
}

static enum hg_status compare_all_sets(struct comparing *c)
{
	struct hg_set_row *rows;
	BASE_TRY(begin_comparing(c));
	BASE_TRY(query_alloc(c->snapshot, c->count, sizeof(*rows), (void **)&rows));
	c->out->sets_count = c->count;
	sum_everything(c, &c->out->everything);
	BASE_TRY(
		query_keep_rows(c->snapshot, c->out, rows, c->count, sizeof(*rows), &c->out->sets));
	if (c->count > 1)
		BASE_TRY(query_alloc(c->snapshot,
			base_bit_words(snap_virtual_root(&c->snapshot->snap)), sizeof(*c->alone),
			(void **)&c->alone));
	for (size_t i = 0; i < c->count && c->count > 1; i++)
		BASE_TRY(remove_nodes(c, &c->sets[i], 1, &rows[i]));
	BASE_TRY(remove_nodes(c, c->sets, c->count, &c->out->all));
	if (c->count == 1)
		rows[0] = c->out->all;
	return keep_all_holders(c);
}

static void holders_release(struct holders *holders)
{
	free(holders->rows);
	free(holders->counted);
	base_map_release(&holders->by_class);
}

enum hg_status hg_compare_sets(
	struct hg_snapshot *snapshot, const struct hg_set *sets, size_t count, struct hg_sets **out)
{
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	struct comparing c = {.snapshot = snapshot, .out = *out, .sets = sets, .count = count};
	enum hg_status status =
		sets && count ? compare_all_sets(&c) : comparing_failed(&c, "no set is given");
	query_path_classes_release(&c.classes);
	holders_release(&c.dominators);
	holders_release(&c.sharers);
	free(c.nodes);
	free(c.members);
	free(c.alone);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_sets_release(struct hg_sets **sets)
{
	query_free(sets);
}
