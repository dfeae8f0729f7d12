/*
 * Places in preorder: a node stands behind its parent and the subtrees of the siblings before it,
 * whose sizes are known when they are summed from below.
 */
#include "query/trace/preorder.h"

#include "base/grow.h"
#include "query/shared/result.h"

#include <stdlib.h>
#include <string.h>

/* 20 bytes a node, and 8 that stay. */
struct preorder {
	struct hg_trace_node *nodes;
	uint64_t count;
	enum hg_trace_order order;
	uint32_t
		*parents; /* of nodes, which are so large that they are not asked again and again */
	uint32_t *ends;   /* of each node, in 'children' behind the last of its own */
	uint32_t *children; /* nodes, by their parents, and then as they are to stand */
	uint32_t *sizes;    /* of a node with all below */
	uint32_t *places;
};

void query_add_amounts(struct hg_trace_amounts *to, const struct hg_trace_amounts *amounts)
{
	to->samples += amounts->samples;
	to->promoted += amounts->promoted;
	to->live += amounts->live;
	to->peak += amounts->peak;
}

void query_sum_up_nodes(struct hg_trace_node *nodes, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		nodes[i].total = nodes[i].own;
	for (uint64_t i = count; i-- > 1;)
		query_add_amounts(&nodes[nodes[i].parent].total, &nodes[i].total);
}

static int compare_siblings(const void *a, const void *b, void *data)
{
	const struct preorder *p = data;
	const struct hg_trace_node *x = &p->nodes[*(const uint32_t *)a];
	const struct hg_trace_node *y = &p->nodes[*(const uint32_t *)b];
	if (p->order != HG_TRACE_BY_NAME && x->total.samples != y->total.samples)
		return x->total.samples < y->total.samples ? 1 : -1;
	int order = strcmp(x->name, y->name);
	return order ? order : x < y ? -1 : x > y;
}

/* The root is nobody's child. */
static void sort_children(struct preorder *p)
{
	uint32_t begin = 0;
	for (uint64_t i = 0; i < p->count; i++)
		p->parents[i] = p->nodes[i].parent;
	for (uint64_t i = 1; i < p->count; i++)
		p->ends[p->parents[i]]++;
	for (uint64_t i = 0; i < p->count; i++) {
		uint32_t own = p->ends[i];
		p->ends[i] = begin;
		begin += own;
	}
	for (uint64_t i = 1; i < p->count; i++)
		p->children[p->ends[p->parents[i]]++] = (uint32_t)i;
	begin = 0;
	for (uint64_t i = 0; i < p->count; begin = p->ends[i++])
		if (p->ends[i] - begin > 1)
			qsort_r(p->children + begin, p->ends[i] - begin, sizeof(*p->children),
				compare_siblings, p);
}

/* The parent's place is known: parents have smaller numbers, and so have theirs. */
static void find_places(struct preorder *p)
{
	uint32_t child = 0;
	for (uint64_t i = 0; i < p->count; i++)
		p->sizes[i] = 1;
	for (uint64_t i = p->count; i-- > 1;)
		p->sizes[p->parents[i]] += p->sizes[i];
	p->places[0] = 0;
	for (uint64_t i = 0; i < p->count; i++) {
		uint32_t place = p->places[i] + 1;
		for (; child < p->ends[i]; child++) {
			p->places[p->children[child]] = place;
			place += p->sizes[p->children[child]];
		}
	}
}

/* Nodes stay where they are: to move them would cost more than to go where they are. */
static void point_to_places(struct preorder *p, struct hg_trace_node **pointers)
{
	for (uint64_t i = 0; i < p->count; i++) {
		p->nodes[i].parent = p->places[p->parents[i]];
		pointers[p->places[i]] = &p->nodes[i];
	}
}

enum hg_status query_make_trace_tree(struct hg_error *error, struct hg_trace_node *nodes,
	uint64_t count, enum hg_trace_order order, struct hg_trace_tree *out)
{
	uint32_t *numbers = base_huge_alloc(5 * count, sizeof(*numbers));
	struct hg_trace_node **pointers = base_huge_alloc(count + 1, sizeof(*pointers));
	struct preorder p = {.nodes = nodes, .count = count, .order = order};
	query_keep(out, nodes);
	query_keep(out, pointers);
	if (!numbers || !pointers) {
		free(numbers);
		return base_no_memory(error, count * 28);
	}
	p.parents = numbers;
	p.ends = memset(numbers + count, 0, count * sizeof(*numbers));
	p.children = numbers + 2 * count;
	p.sizes = numbers + 3 * count;
	p.places = numbers + 4 * count;
	sort_children(&p);
	find_places(&p);
	point_to_places(&p, pointers);
	free(numbers);
	pointers[count] = NULL;
	out->count = count;
	memcpy(&out->nodes, &pointers, sizeof(pointers));
	return HG_OK;
}
