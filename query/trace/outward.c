/*
 * The tree of calls from the inside out: who calls what allocates.  Each stack that allocates is a
 * cursor, which climbs from its innermost frame to the root; the cursors of a node of the result
 * stand together, and are parted by the frame that comes next.  The largest node is parted first,
 * so that where only some are asked for, no others are made.
 */
#include "query/trace/trace.h"

#include "query/trace/counts.h"
#include "query/trace/preorder.h"

#include "base/grow.h"
#include "query/shared/result.h"

#include <stdlib.h>
#include <string.h>

/* 8 bytes for each call, 64 for each node that is met, 88 for each one of the result. */
struct outward {
	struct hg_error *error;
	const struct query_call_list *calls;
	bool below;                /* cursors have what is allocated below their calls, too */
	struct trace_names *names; /* of the result */
	struct outward_cursor {
		uint32_t call;  /* the frame that it is at; 0: all of the stack is behind it */
		uint32_t stack; /* a call too: of what it allocates */
	} * cursors;
	uint64_t cursor_count;

	struct outward_node {
		uint32_t parent, place; /* in the result */
		uint32_t depth, call;   /* call: one that it stands for; 0: the root */
		uint64_t begin, end;    /* cursors */
		struct hg_trace_amounts total;
	} * nodes;
	uint64_t count, capacity;
	uint32_t *heap; /* nodes that are not in the result yet, the largest first */
	uint64_t heap_count, heap_capacity;
	struct hg_trace_node *result;
	uint64_t result_count, result_capacity;
	bool cut; /* something was left out as it is small */
};

static uint32_t label_of_cursor(const struct outward *o, const struct outward_cursor *cursor)
{
	return cursor->call ? o->calls->labels[cursor->call] : UINT32_MAX;
}

static const struct hg_trace_amounts *amounts_of_cursor(const struct outward *o, uint64_t index)
{
	const struct hg_trace_node *node = &o->calls->nodes[o->cursors[index].stack];
	return o->below ? &node->total : &node->own;
}

static bool is_larger(const struct outward *o, uint32_t a, uint32_t b)
{
	const struct outward_node *x = &o->nodes[a], *y = &o->nodes[b];
	return x->total.samples != y->total.samples ? x->total.samples > y->total.samples : a < b;
}

static enum hg_status push_outward(struct outward *o, uint32_t node)
{
	BASE_TRY(base_grow(&o->heap, o->heap_count, &o->heap_capacity, sizeof(*o->heap), o->error));
	if (!o->heap)
		return base_no_memory(o->error, sizeof(*o->heap));
	uint64_t at = o->heap_count++;
	for (; at && is_larger(o, node, o->heap[(at - 1) / 2]); at = (at - 1) / 2)
		o->heap[at] = o->heap[(at - 1) / 2];
	o->heap[at] = node;
	return HG_OK;
}

static uint32_t pop_outward(struct outward *o)
{
	uint32_t first = o->heap[0], last = o->heap[--o->heap_count];
	uint64_t at = 0;
	for (uint64_t child = 1; child < o->heap_count; child = 2 * at + 1) {
		if (child + 1 < o->heap_count && is_larger(o, o->heap[child + 1], o->heap[child]))
			child++;
		if (is_larger(o, last, o->heap[child]))
			break;
		o->heap[at] = o->heap[child];
		at = child;
	}
	o->heap[at] = last;
	return first;
}

static enum hg_status add_outward(struct outward *o, const struct outward_node *node)
{
	if (o->count == UINT32_MAX)
		return base_fail(o->error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"too many callers: --limit or --min-samples leaves small ones out");
	BASE_TRY(base_grow(&o->nodes, o->count, &o->capacity, sizeof(*o->nodes), o->error));
	o->nodes[o->count] = *node;
	return push_outward(o, (uint32_t)o->count++);
}

/* By the next frame; those that have none first. */
static int compare_cursors(const void *a, const void *b, void *data)
{
	const struct outward_cursor *x = a, *y = b;
	uint32_t one = label_of_cursor(data, x) + 1, other = label_of_cursor(data, y) + 1;
	if (one != other)
		return one < other ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* Parts the cursors of a node by the frames that they are at, and moves them on. */
static enum hg_status part_outward(
	struct outward *o, const struct outward_node *of, uint64_t min_samples)
{
	struct hg_trace_node *parent = &o->result[of->place];
	uint64_t begin = of->begin;
	qsort_r(o->cursors + begin, of->end - begin, sizeof(*o->cursors), compare_cursors, o);
	while (begin < of->end) {
		uint32_t label = label_of_cursor(o, &o->cursors[begin]);
		struct outward_node node = {.parent = of->place,
			.depth = of->depth + 1,
			.call = o->cursors[begin].call,
			.begin = begin};
		for (; begin < of->end && label_of_cursor(o, &o->cursors[begin]) == label; begin++)
			query_add_amounts(&node.total, amounts_of_cursor(o, begin));
		node.end = begin;
		if (!node.call)
			parent->own = node.total;
		else if (node.total.samples < min_samples)
			o->cut = true;
		else
			BASE_TRY(add_outward(o, &node));
	}
	return HG_OK;
}

/* The cursors of a node go on to the frame outside it. */
static void climb(struct outward *o, const struct outward_node *node)
{
	for (uint64_t i = node->begin; i < node->end && node->call; i++)
		o->cursors[i].call = o->calls->nodes[o->cursors[i].call].parent;
}

static bool is_anything(const struct hg_trace_amounts *amounts)
{
	return amounts->samples || amounts->promoted || amounts->live || amounts->peak;
}

/* Of all stacks that allocate, or of the calls of one function with all that is below it. */
static enum hg_status list_cursors(struct outward *o, const char *of)
{
	const struct query_call_list *calls = o->calls;
	o->below = of != NULL;
	o->cursors = calloc(calls->count, sizeof(*o->cursors));
	if (!o->cursors)
		return base_no_memory(o->error, calls->count * sizeof(*o->cursors));
	for (uint64_t i = 0; i < calls->count; i++) {
		const struct hg_trace_node *node = &calls->nodes[i];
		if (is_anything(of ? &node->total : &node->own) &&
			(!of || (i && !strcmp(node->name, of))))
			o->cursors[o->cursor_count++] =
				(struct outward_cursor){(uint32_t)i, (uint32_t)i};
	}
	return HG_OK;
}

/* The largest node becomes one of the result. */
static enum hg_status take_largest(struct outward *o, uint64_t min_samples)
{
	struct outward_node node = o->nodes[pop_outward(o)];
	const char *name = o->calls->nodes[node.call].name;
	uint32_t number;
	BASE_TRY(trace_names_add(o->names, name, strlen(name), &number, o->error));
	BASE_TRY(base_grow(
		&o->result, o->result_count, &o->result_capacity, sizeof(*o->result), o->error));
	node.place = (uint32_t)o->result_count++;
	o->result[node.place] = (struct hg_trace_node){.parent = node.parent,
		.depth = node.depth,
		.name = trace_name(o->names, number),
		.total = node.total};
	climb(o, &node);
	return part_outward(o, &node, min_samples);
}

static enum hg_status take_nodes(struct outward *o, const struct hg_trace_callers_options *options,
	struct hg_trace_tree *out)
{
	struct outward_node root = {0};
	BASE_TRY(list_cursors(o, options->of));
	root.end = o->cursor_count;
	for (uint64_t i = 0; i < o->cursor_count; i++)
		query_add_amounts(&root.total, amounts_of_cursor(o, i));
	BASE_TRY(add_outward(o, &root));
	while (o->heap_count && (!options->limit || o->result_count < options->limit))
		BASE_TRY(take_largest(o, options->min_samples));
	out->cut = o->cut || o->heap_count;
	out->all_samples = o->calls->nodes[0].total.samples;
	struct hg_trace_node *nodes = o->result;
	o->result = NULL;
	return query_make_trace_tree(o->error, nodes, o->result_count, HG_TRACE_BY_SAMPLES, out);
}

enum hg_status query_make_callers(struct hg_trace *trace, const struct query_call_list *calls,
	const struct hg_trace_callers_options *options, struct hg_trace_tree *out)
{
	struct outward o = {
		.error = &trace->session->error, .calls = calls, .names = &trace->names};
	enum hg_status status = take_nodes(&o, options, out);
	free(o.cursors);
	free(o.nodes);
	free(o.heap);
	free(o.result);
	return status;
}

enum hg_status query_callers_options(struct hg_trace *trace,
	const struct hg_trace_callers_options *options, struct hg_trace_callers_options *wanted)
{
	*wanted = (struct hg_trace_callers_options){0};
	if (options && options->size < sizeof(options->size))
		return base_fail(
			&trace->session->error, HG_ERROR_USAGE, HG_NO_OFFSET, "no options");
	if (options)
		memcpy(wanted, options,
			options->size < sizeof(*wanted) ? options->size : sizeof(*wanted));
	return HG_OK;
}

enum hg_status hg_list_trace_callers(struct hg_trace *trace,
	const struct hg_trace_callers_options *options, struct hg_trace_tree **out)
{
	struct hg_trace_callers_options wanted;
	struct query_counts counts;
	struct query_call_list calls = {0};
	BASE_TRY(query_trace_begin(trace, (void *)out));
	BASE_TRY(query_callers_options(trace, options, &wanted));
	BASE_TRY(query_answer_of(&trace->session->error, sizeof(**out), out));
	enum hg_status status = query_counts_init(
		&counts, trace, wanted.places ? QUERY_PLACES : QUERY_FUNCTIONS, &(*out)->losses);
	if (status == HG_OK)
		status = query_counts_list(&counts, &calls);
	if (status == HG_OK)
		status = query_make_callers(trace, &calls, &wanted, *out);
	query_counts_release(&counts);
	free(calls.nodes);
	free(calls.labels);
	if (status != HG_OK)
		hg_trace_tree_release(out);
	return status;
}
