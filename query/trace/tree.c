/* The tree of calls as a result, in preorder. */
#include "query/trace/trace.h"

#include "query/trace/alive.h"
#include "query/trace/calls.h"
#include "query/trace/pass.h"

#include "base/grow.h"
#include "query/shared/result.h"

#include <stdlib.h>
#include <string.h>

/* A pass over all events, and the order of its nodes. */
struct trace_calls {
	struct hg_trace *trace;
	struct query_pass pass;
	struct query_alive alive;
	struct query_calls calls;
	enum hg_trace_order wanted;
	struct call_order {
		const char *name;
		uint64_t samples; /* below it; 0 if names alone count */
		uint32_t node;
		uint32_t parent; /* number + 1; of the root 0 */
	} * order;
	uint32_t *places; /* of each node in preorder */
};

static enum hg_status count_call_events(struct trace_calls *tree)
{
	struct hg_error *error = &tree->trace->session->error;
	struct memtrace_event event;
	uint32_t node = 0;
	while (query_pass_next(&tree->pass, &event)) {
		if (event.kind == MEMTRACE_ALLOCATION) {
			BASE_TRY(query_calls_node(&tree->calls, &event, &node, error));
			BASE_TRY(query_alive_group(&tree->alive, node, error));
		}
		query_alive_add(&tree->alive, &event, node);
	}
	query_alive_end(&tree->alive);
	if (tree->calls.count)
		return query_alive_group(&tree->alive, (uint32_t)tree->calls.count - 1, error);
	return HG_OK;
}

/* Children of one node together, of parents with smaller numbers first. */
static int compare_calls(const void *a, const void *b)
{
	const struct call_order *x = a, *y = b;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	int order = strcmp(x->name, y->name);
	return order ? order : x->node < y->node ? -1 : x->node > y->node;
}

/*
 * Places in preorder: a node stands behind its parent and the subtrees of the siblings before it,
 * whose sizes are known when they are summed from below.
 */
static enum hg_status order_calls(struct trace_calls *tree)
{
	const struct query_call *nodes = tree->calls.nodes;
	const struct trace_names *names = &tree->calls.locations->names;
	uint64_t count = tree->calls.count;
	struct call_order *order = calloc(count, sizeof(*order));
	uint32_t *sizes = malloc(count * sizeof(*sizes));
	uint32_t *next = calloc(count, sizeof(*next));
	tree->order = order;
	tree->places = calloc(count, sizeof(*tree->places));
	bool good = order && sizes && next && tree->places;
	for (uint64_t i = 0; good && i < count; i++) {
		order[i] = (struct call_order){.name = trace_name(names, nodes[i].function),
			.samples = tree->alive.groups[i].amounts.samples,
			.node = (uint32_t)i,
			.parent = i ? nodes[i].parent + 1 : 0};
		sizes[i] = 1;
	}
	for (uint64_t i = count; good && i-- > 1;) {
		sizes[nodes[i].parent] += sizes[i];
		order[nodes[i].parent].samples += order[i].samples;
	}
	for (uint64_t i = 0; good && tree->wanted == HG_TRACE_BY_NAME && i < count; i++)
		order[i].samples = 0;
	if (good)
		qsort(order, count, sizeof(*order), compare_calls);
	/* The parent's place is known: parents have smaller numbers, and so have theirs. */
	for (uint64_t i = 0; good && i < count; i++) {
		uint32_t node = order[i].node, parent = nodes[node].parent;
		if (!node)
			continue;
		next[parent] = next[parent] ? next[parent] : tree->places[parent] + 1;
		tree->places[node] = next[parent];
		next[parent] += sizes[node];
	}
	free(sizes);
	free(next);
	return good ? HG_OK : base_no_memory(&tree->trace->session->error, count * 40);
}

static void sum_up_calls(struct hg_trace_node *nodes, uint64_t count)
{
	for (uint64_t i = count; i-- > 1;) {
		struct hg_trace_amounts *to = &nodes[nodes[i].parent].total;
		to->samples += nodes[i].total.samples;
		to->promoted += nodes[i].total.promoted;
		to->live += nodes[i].total.live;
		to->peak += nodes[i].total.peak;
	}
}

static enum hg_status make_trace_nodes(struct trace_calls *tree, struct hg_trace_tree *out)
{
	struct hg_error *error = &tree->trace->session->error;
	const struct query_call *calls = tree->calls.nodes;
	uint64_t count = tree->calls.count;
	struct hg_trace_node *nodes = calloc(count, sizeof(*nodes));
	if (!nodes)
		return base_no_memory(error, count * sizeof(*nodes));
	for (uint64_t i = 0; i < count; i++) {
		struct hg_trace_node *node = &nodes[tree->places[i]];
		node->parent = tree->places[calls[i].parent];
		node->depth = calls[i].depth;
		node->name = trace_name(&tree->calls.locations->names, calls[i].function);
		node->own = node->total = tree->alive.groups[i].amounts;
	}
	sum_up_calls(nodes, count);
	out->count = count;
	return query_keep_rows_of(error, out, nodes, count, sizeof(*nodes), &out->nodes);
}

static enum hg_status fill_trace_calls(struct trace_calls *tree, struct hg_trace_tree *out)
{
	struct hg_trace *trace = tree->trace;
	BASE_TRY(query_pass_begin(&tree->pass, trace, &trace->filter));
	BASE_TRY(query_alive_init(&tree->alive, trace, &trace->filter));
	BASE_TRY(query_calls_init(&tree->calls, memtrace_places(trace->reader), &trace->filter,
		&trace->session->error));
	BASE_TRY(count_call_events(tree));
	BASE_TRY(query_pass_end(&tree->pass, tree->alive.unknown, &out->losses));
	BASE_TRY(order_calls(tree));
	return make_trace_nodes(tree, out);
}

enum hg_status hg_list_trace_calls(
	struct hg_trace *trace, enum hg_trace_order order, struct hg_trace_tree **out)
{
	BASE_TRY(query_trace_begin(trace, (void *)out));
	if (order != HG_TRACE_BY_SAMPLES && order != HG_TRACE_BY_NAME)
		return base_fail(&trace->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no such order of calls");
	BASE_TRY(query_answer_of(&trace->session->error, sizeof(**out), out));
	struct trace_calls tree = {.trace = trace, .wanted = order};
	enum hg_status status = fill_trace_calls(&tree, *out);
	query_pass_release(&tree.pass);
	query_alive_release(&tree.alive);
	query_calls_release(&tree.calls);
	free(tree.order);
	free(tree.places);
	if (status != HG_OK)
		hg_trace_tree_release(out);
	return status;
}

void hg_trace_tree_release(struct hg_trace_tree **tree)
{
	query_free(tree);
}
