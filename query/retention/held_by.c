/* Pointers to blocks that nothing holds alone, by the nodes of depth 1 that they come from. */
#include "query/retention/held_by.h"

#include "query/shared/pairs.h"
#include "query/shared/result.h"

#include "base/bits.h"
#include "graph/pointers.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEAST_PART = 100 };

/* Who points to a node, both of depth 1. */
struct holder {
	uint32_t to, from;
	bool passes;
	uint64_t pointers;
};

struct holding {
	struct hg_snapshot *snapshot;
	const struct query_retention *tree;
	uint32_t *top;            /* of each node the one of depth 1 above it, or itself */
	uint64_t *shared;         /* a bit by node of the snapshot: of those asked about */
	struct query_pairs pairs; /* of each, 'to' and 'from' */
	struct holder *holders;
	uint64_t capacity;
};

static bool is_asked_about(const struct query_retention *tree, uint32_t number)
{
	const struct query_retention_node *node = &tree->nodes[number], *all = &tree->nodes[0];
	return node->depth == 1 && !tree->classes.all[node->class].is_root &&
	       node->retained + node->retained_offheap >=
		       (all->retained + all->retained_offheap) / LEAST_PART;
}

static void find_tops(struct holding *h)
{
	h->top[0] = 0;
	for (uint32_t i = 1; i < h->tree->count; i++)
		h->top[i] = h->tree->nodes[i].depth == 1 ? i : h->top[h->tree->nodes[i].parent];
}

/* A bit for each block of these nodes that only the virtual root dominates. */
static enum hg_status select_shared(struct holding *h)
{
	const struct graph *g = &h->snapshot->graph;
	struct graph_position root = {0}, child = graph_first_child(g, root);
	BASE_TRY(query_alloc(h->snapshot, base_bit_words(g->node_count), sizeof(*h->shared),
		(void **)&h->shared));
	for (; graph_reaches(child); child = graph_next_child(g, root, child))
		if (is_asked_about(h->tree, h->tree->of_position[child.n]))
			base_bit_set(h->shared, g->node[child.n]);
	return HG_OK;
}

static uint32_t tree_node_of(const struct holding *h, uint32_t node)
{
	return h->tree->of_position[h->snapshot->graph.position[node].n];
}

static bool node_passes(const struct holding *h, uint32_t node)
{
	return query_path_class_passes(
		h->snapshot, &h->tree->classes.all[h->tree->nodes[node].class]);
}

static enum hg_status count_pointer(void *data, const struct graph_pointer *pointer)
{
	struct holding *h = data;
	uint32_t to = tree_node_of(h, pointer->target), known = h->pairs.count, number;
	uint32_t from = h->top[tree_node_of(h, pointer->holder)];
	if (from == to)
		return HG_OK;
	BASE_TRY(query_grow(h->snapshot, &h->holders, known, &h->capacity, sizeof(*h->holders)));
	BASE_TRY(query_pairs_number(&h->pairs, to, from, &number, &h->snapshot->session->error));
	if (number == known)
		h->holders[number] = (struct holder){to, from, node_passes(h, from), 0};
	h->holders[number].pointers++;
	return HG_OK;
}

/* Those of one node together, in the order in which they are told. */
static int compare_holders(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->passes != y->passes)
		return y->passes ? -1 : 1;
	if (x->pointers != y->pointers)
		return x->pointers > y->pointers ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* Of one node: those told first, and how many more there are. */
static void name_holders(const struct holding *h, const struct holder *holders, uint32_t count,
	char *text, size_t size)
{
	size_t length = 0;
	text[0] = '\0';
	for (uint32_t i = 0; i < count && i < QUERY_MOST_HOLDERS && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ";" : "",
			query_retention_name(h->tree, holders[i].from));
	if (count > QUERY_MOST_HOLDERS && length < size)
		snprintf(text + length, size - length, ";%u more", count - QUERY_MOST_HOLDERS);
}

static enum hg_status tell_holders(struct holding *h, query_held_by_fn *told, void *data)
{
	char text[QUERY_LONGEST_HELD_BY];
	uint32_t count = h->pairs.count;
	if (count)
		qsort(h->holders, count, sizeof(*h->holders), compare_holders);
	for (uint32_t first = 0, end; first < count; first = end) {
		end = first;
		while (end < count && h->holders[end].to == h->holders[first].to)
			end++;
		name_holders(h, &h->holders[first], end - first, text, sizeof(text));
		BASE_TRY(told(data, h->holders[first].to, text));
	}
	return HG_OK;
}

static enum hg_status find_holders(struct holding *h)
{
	BASE_TRY(graph_nodes(&h->snapshot->graph, &h->snapshot->session->error));
	BASE_TRY(query_alloc(h->snapshot, h->tree->count, sizeof(*h->top), (void **)&h->top));
	find_tops(h);
	BASE_TRY(select_shared(h));
	return graph_pointers(
		&h->snapshot->graph, h->shared, count_pointer, h, &h->snapshot->session->error);
}

enum hg_status query_held_by(struct hg_snapshot *snapshot, const struct query_retention *tree,
	query_held_by_fn *told, void *data)
{
	struct holding h = {.snapshot = snapshot, .tree = tree};
	uint32_t node = 1;
	while (node < tree->count && !is_asked_about(tree, node))
		node++;
	if (node == tree->count)
		return HG_OK;
	enum hg_status status = find_holders(&h);
	if (status == HG_OK)
		status = tell_holders(&h, told, data);
	query_pairs_release(&h.pairs);
	free(h.holders);
	free(h.shared);
	free(h.top);
	return status;
}
