/* Pointers that are no dominance, added up by the nodes of depth 1 that they come from. */
#include "query/retention/held_by.h"

#include "graph/cross.h"
#include "query/shared/result.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEAST_PART = 100 };

struct holding {
	struct hg_snapshot *snapshot;
	const struct query_retention *tree;
	uint32_t *top;             /* of each node the one of depth 1 above it, or itself */
	struct graph_cross *pairs; /* from nodes of depth 1 to those asked about */
	uint64_t count;
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

static int compare_pairs(const void *a, const void *b)
{
	const struct graph_cross *x = a, *y = b;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* Equal pairs become one. */
static void add_up_pairs(struct holding *h)
{
	uint64_t kept = 0;
	if (h->count)
		qsort(h->pairs, h->count, sizeof(*h->pairs), compare_pairs);
	for (uint64_t i = 0; i < h->count; i++) {
		struct graph_cross *last = kept ? &h->pairs[kept - 1] : NULL;
		if (last && compare_pairs(last, &h->pairs[i]) == 0)
			last->pointers += h->pairs[i].pointers;
		else
			h->pairs[kept++] = h->pairs[i];
	}
	h->count = kept;
}

static enum hg_status find_pairs(struct holding *h)
{
	uint64_t count, kept = 0;
	BASE_TRY(graph_count_cross(&h->snapshot->graph, h->tree->of_position, &h->pairs, &count,
		&h->snapshot->session->error));
	for (uint64_t i = 0; i < count; i++) {
		struct graph_cross pair = {
			h->top[h->pairs[i].from], h->top[h->pairs[i].to], h->pairs[i].pointers};
		if (pair.from != pair.to && is_asked_about(h->tree, pair.to))
			h->pairs[kept++] = pair;
	}
	h->count = kept;
	add_up_pairs(h);
	return HG_OK;
}

static bool node_passes(const struct holding *h, uint32_t node)
{
	return query_path_class_passes(
		h->snapshot, &h->tree->classes.all[h->tree->nodes[node].class]);
}

/* Whether a pair is to be told before another one. */
static bool is_told_first(
	const struct holding *h, const struct graph_cross *a, const struct graph_cross *b)
{
	bool a_passes = node_passes(h, a->from), b_passes = node_passes(h, b->from);
	if (a_passes != b_passes)
		return b_passes;
	return a->pointers != b->pointers ? a->pointers > b->pointers : a->from < b->from;
}

/* The pairs of one node: those told first, and how many more there are. */
static void name_holders(
	const struct holding *h, uint64_t first, uint64_t end, char *text, size_t size)
{
	const struct graph_cross *told[QUERY_MOST_HOLDERS];
	size_t count = 0, length = 0;
	for (uint64_t i = first; i < end; i++) {
		size_t at = count;
		for (; at > 0 && is_told_first(h, &h->pairs[i], told[at - 1]); at--)
			if (at < QUERY_MOST_HOLDERS)
				told[at] = told[at - 1];
		if (at < QUERY_MOST_HOLDERS)
			told[at] = &h->pairs[i];
		count += count < QUERY_MOST_HOLDERS;
	}
	text[0] = '\0';
	for (size_t i = 0; i < count && length < size; i++)
		length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ";" : "",
			query_retention_name(h->tree, told[i]->from));
	if (end - first > count && length < size)
		snprintf(text + length, size - length, ";%llu more",
			(unsigned long long)(end - first - count));
}

static enum hg_status tell_holders(struct holding *h, query_held_by_fn *told, void *data)
{
	char text[QUERY_LONGEST_HELD_BY];
	BASE_TRY(find_pairs(h));
	for (uint64_t first = 0, end; first < h->count; first = end) {
		end = first;
		while (end < h->count && h->pairs[end].to == h->pairs[first].to)
			end++;
		name_holders(h, first, end, text, sizeof(text));
		BASE_TRY(told(data, h->pairs[first].to, text));
	}
	return HG_OK;
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
	BASE_TRY(query_alloc(snapshot, tree->count, sizeof(*h.top), (void **)&h.top));
	find_tops(&h);
	enum hg_status status = tell_holders(&h, told, data);
	free(h.top);
	free(h.pairs);
	return status;
}
