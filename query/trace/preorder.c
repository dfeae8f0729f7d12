/*
 * Places in preorder: a node stands behind its parent and the subtrees of the siblings before it,
 * whose sizes are known when they are summed from below.
 */
#include "query/trace/preorder.h"

#include "query/shared/result.h"

#include <stdlib.h>
#include <string.h>

struct preorder {
	const struct hg_trace_node *nodes;
	uint64_t count;
	struct preorder_row {
		const char *name;
		uint64_t samples; /* below it; 0 if names alone count */
		uint32_t node;
		uint32_t parent; /* number + 1; of the root 0 */
	} * rows;
	uint32_t *sizes, *next, *places;
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

/* Children of one node together, of parents with smaller numbers first. */
static int compare_preorder_rows(const void *a, const void *b)
{
	const struct preorder_row *x = a, *y = b;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	int order = strcmp(x->name, y->name);
	return order ? order : x->node < y->node ? -1 : x->node > y->node;
}

static void find_places(struct preorder *p, enum hg_trace_order order)
{
	for (uint64_t i = 0; i < p->count; i++) {
		const struct hg_trace_node *node = &p->nodes[i];
		p->rows[i] = (struct preorder_row){.name = node->name,
			.samples = order == HG_TRACE_BY_NAME ? 0 : node->total.samples,
			.node = (uint32_t)i,
			.parent = i ? node->parent + 1 : 0};
		p->sizes[i] = 1;
	}
	for (uint64_t i = p->count; i-- > 1;)
		p->sizes[p->nodes[i].parent] += p->sizes[i];
	qsort(p->rows, p->count, sizeof(*p->rows), compare_preorder_rows);
	/* The parent's place is known: parents have smaller numbers, and so have theirs. */
	for (uint64_t i = 0; i < p->count; i++) {
		uint32_t node = p->rows[i].node, parent = p->nodes[node].parent;
		if (!node)
			continue;
		p->next[parent] = p->next[parent] ? p->next[parent] : p->places[parent] + 1;
		p->places[node] = p->next[parent];
		p->next[parent] += p->sizes[node];
	}
}

static enum hg_status move_to_places(
	struct preorder *p, struct hg_error *error, struct hg_trace_tree *out)
{
	struct hg_trace_node *nodes = calloc(p->count, sizeof(*nodes));
	if (!nodes)
		return base_no_memory(error, p->count * sizeof(*nodes));
	for (uint64_t i = 0; i < p->count; i++) {
		nodes[p->places[i]] = p->nodes[i];
		nodes[p->places[i]].parent = p->places[p->nodes[i].parent];
	}
	out->count = p->count;
	return query_keep_rows_of(error, out, nodes, p->count, sizeof(*nodes), &out->nodes);
}

enum hg_status query_make_trace_tree(struct hg_error *error, struct hg_trace_node *nodes,
	uint64_t count, enum hg_trace_order order, struct hg_trace_tree *out)
{
	struct preorder p = {.nodes = nodes,
		.count = count,
		.rows = calloc(count, sizeof(*p.rows)),
		.sizes = malloc(count * sizeof(*p.sizes)),
		.next = calloc(count, sizeof(*p.next)),
		.places = calloc(count, sizeof(*p.places))};
	enum hg_status status = HG_OK;
	if (!p.rows || !p.sizes || !p.next || !p.places)
		status = base_no_memory(error, count * (sizeof(*p.rows) + 12));
	else
		find_places(&p, order);
	free(p.rows);
	free(p.sizes);
	free(p.next);
	if (status == HG_OK)
		status = move_to_places(&p, error, out);
	free(p.places);
	free(nodes);
	return status;
}
