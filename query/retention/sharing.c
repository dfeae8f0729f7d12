/* Pointers to blocks that their dominator may not point to itself, by the nodes they come from. */
#include "query/retention/sharing.h"

#include "query/retention/made_at.h"
#include "query/shared/pairs.h"
#include "query/shared/result.h"

#include "base/bits.h"
#include "graph/pointers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of everything; of the blocks of a node that can be shared: what points to fewer is a chance. */
enum { LEAST_PART = 10000, LEAST_SHARED = 16 };

/* Pointers to blocks of a node. */
struct holding {
	uint32_t to, from; /* nodes */
	uint32_t top;      /* the one of depth 1 above 'from', or itself */
	bool passes;       /* that */
	uint64_t pointers;
};

struct sharing {
	struct hg_snapshot *snapshot;
	struct query_retention *tree;
	uint64_t *selected;       /* a bit by node of the snapshot: blocks that can be shared */
	uint32_t *entries;        /* by node of the tree: how many those are */
	uint32_t *last;           /* by node of the tree: the number of the holding met last */
	struct query_pairs pairs; /* of each, 'to' and 'from' */
	struct holding *holdings;
	uint64_t capacity;
};

static bool is_asked_about(const struct query_retention *tree, uint32_t number)
{
	const struct query_retention_node *node = &tree->nodes[number], *all = &tree->nodes[0];
	uint64_t weight = node->retained + node->retained_offheap;
	return number && !tree->classes.all[node->class].is_root && weight >= HG_LEAST_GROWTH &&
	       weight >= (all->retained + all->retained_offheap) / LEAST_PART;
}

/* Blocks of these nodes that a block of the node above dominates. */
static enum hg_status select_entries(struct sharing *s)
{
	const struct graph *g = &s->snapshot->graph;
	const struct query_retention *tree = s->tree;
	uint64_t *asked;
	BASE_TRY(query_alloc(s->snapshot, base_bit_words(g->node_count), sizeof(*s->selected),
		(void **)&s->selected));
	BASE_TRY(query_alloc(s->snapshot, tree->count, sizeof(*s->entries), (void **)&s->entries));
	BASE_TRY(query_alloc(
		s->snapshot, base_bit_words(tree->count), sizeof(*asked), (void **)&asked));
	for (uint32_t i = 0; i < tree->count; i++)
		if (is_asked_about(tree, i))
			base_bit_set(asked, i);
	for (uint32_t p = 1; p < g->live_count; p++) {
		uint32_t number = tree->of_position[p];
		if (!base_bit(asked, number) ||
			tree->of_position[g->idom[p].n] != tree->nodes[number].parent)
			continue;
		base_bit_set(s->selected, g->node[p]);
		s->entries[number]++;
	}
	free(asked);
	return HG_OK;
}

static uint32_t tree_node_of(const struct sharing *s, uint32_t node)
{
	return s->tree->of_position[s->snapshot->graph.position[node].n];
}

static uint32_t top_of(const struct query_retention *tree, uint32_t number)
{
	while (tree->nodes[number].depth > 1)
		number = tree->nodes[number].parent;
	return number;
}

static enum hg_status add_holding(struct sharing *s, uint32_t to, uint32_t from)
{
	const struct query_retention *tree = s->tree;
	uint32_t known = s->pairs.count, number;
	BASE_TRY(query_grow(s->snapshot, &s->holdings, known, &s->capacity, sizeof(*s->holdings)));
	BASE_TRY(query_pairs_number(&s->pairs, to, from, &number, &s->snapshot->session->error));
	if (number == known) {
		uint32_t top = top_of(tree, from);
		bool passes = query_path_class_passes(
			s->snapshot, &tree->classes.all[tree->nodes[top].class]);
		s->holdings[number] = (struct holding){to, from, top, passes, 0};
	}
	s->last[to] = number;
	return HG_OK;
}

static enum hg_status count_pointer(void *data, const struct graph_pointer *pointer)
{
	struct sharing *s = data;
	uint32_t to = tree_node_of(s, pointer->target), from = tree_node_of(s, pointer->holder);
	if (from == to || from == s->tree->nodes[to].parent)
		return HG_OK;
	uint32_t last = s->last[to];
	if (last >= s->pairs.count || s->holdings[last].to != to || s->holdings[last].from != from)
		BASE_TRY(add_holding(s, to, from));
	s->holdings[s->last[to]].pointers++;
	return HG_OK;
}

static enum hg_status count_pointers(struct sharing *s)
{
	BASE_TRY(select_entries(s));
	BASE_TRY(query_alloc(s->snapshot, s->tree->count, sizeof(*s->last), (void **)&s->last));
	return graph_pointers(
		&s->snapshot->graph, s->selected, count_pointer, s, &s->snapshot->session->error);
}

static enum hg_status keep_sharings(struct sharing *s)
{
	struct query_retention *tree = s->tree;
	uint32_t count = s->pairs.count;
	BASE_TRY(
		query_alloc(s->snapshot, count, sizeof(*tree->sharings), (void **)&tree->sharings));
	for (uint32_t i = 0; i < count; i++) {
		const struct holding *h = &s->holdings[i];
		if (h->pointers >= (s->entries[h->to] + LEAST_SHARED - 1) / LEAST_SHARED)
			tree->sharings[tree->sharing_count++] =
				(struct query_sharing){h->to, h->from};
	}
	return HG_OK;
}

static int compare_by_top(const void *a, const void *b)
{
	const struct holding *x = a, *y = b;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->top > y->top) - (x->top < y->top);
}

/* Those of one node together, in the order in which they are told. */
static int compare_as_told(const void *a, const void *b)
{
	const struct holding *x = a, *y = b;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->passes != y->passes)
		return y->passes ? -1 : 1;
	if (x->pointers != y->pointers)
		return x->pointers > y->pointers ? -1 : 1;
	return (x->top > y->top) - (x->top < y->top);
}

/* Leaves one for each that holds, of nodes of depth 1; returns how many these are. */
static uint32_t merge_by_top(struct sharing *s)
{
	uint32_t count = 0;
	if (s->pairs.count)
		qsort(s->holdings, s->pairs.count, sizeof(*s->holdings), compare_by_top);
	for (uint32_t i = 0; i < s->pairs.count; i++) {
		const struct holding h = s->holdings[i];
		if (s->tree->nodes[h.to].depth != 1 || h.top == h.to)
			continue;
		if (count && compare_by_top(&s->holdings[count - 1], &h) == 0)
			s->holdings[count - 1].pointers += h.pointers;
		else
			s->holdings[count++] = h;
	}
	if (count)
		qsort(s->holdings, count, sizeof(*s->holdings), compare_as_told);
	return count;
}

/* Of one node: those told first, and how many more there are. */
static void name_holders(const struct sharing *s, const struct holding *holders, uint32_t count,
	char *text, size_t size)
{
	size_t length = 0;
	text[0] = '\0';
	for (uint32_t i = 0; i < count && i < QUERY_MOST_HOLDERS && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ";" : "",
			query_retention_name(s->tree, holders[i].top));
	if (count > QUERY_MOST_HOLDERS && length < size)
		snprintf(text + length, size - length, ";%u more", count - QUERY_MOST_HOLDERS);
}

/* The lines of those roots, each once. */
static void place_holders(const struct sharing *s, const struct holding *holders, uint32_t count,
	char *text, size_t size)
{
	text[0] = '\0';
	for (uint32_t i = 0; i < count && i < QUERY_MOST_HOLDERS; i++)
		query_add_definition(s->snapshot, s->tree, holders[i].top, text, size);
}

static enum hg_status keep_holders(struct sharing *s, const struct holding *holders, uint32_t count)
{
	struct query_held *held = &s->tree->held[holders[0].to];
	struct hg_error *error = &s->snapshot->session->error;
	char text[QUERY_LONGEST_HELD_BY];
	name_holders(s, holders, count, text, sizeof(text));
	BASE_TRY(base_pool_string(&s->tree->held_names, text, strlen(text), &held->by, error));
	place_holders(s, holders, count, text, sizeof(text));
	return base_pool_string(&s->tree->held_names, text, strlen(text), &held->at, error);
}

static enum hg_status keep_held(struct sharing *s)
{
	struct query_held *held;
	uint32_t count = merge_by_top(s);
	BASE_TRY(query_alloc(s->snapshot, s->tree->count, sizeof(*held), (void **)&held));
	s->tree->held = held;
	for (uint32_t first = 0, end; first < count; first = end) {
		end = first;
		while (end < count && s->holdings[end].to == s->holdings[first].to)
			end++;
		BASE_TRY(keep_holders(s, &s->holdings[first], end - first));
	}
	return HG_OK;
}

enum hg_status query_find_sharing(struct hg_snapshot *snapshot, struct query_retention *tree)
{
	struct sharing s = {.snapshot = snapshot, .tree = tree};
	enum hg_status status = count_pointers(&s);
	if (status == HG_OK)
		status = keep_sharings(&s);
	if (status == HG_OK)
		status = keep_held(&s);
	query_pairs_release(&s.pairs);
	free(s.holdings);
	free(s.last);
	free(s.entries);
	free(s.selected);
	return status;
}
