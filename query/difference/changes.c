/*
 * How much amounts differ, and whether sampling alone may have made that.
 *
 * Of n samples at the rate r the estimate is n / r words, with the variance n (1 - r) / r^2; that
 * of a difference is the sum of both.  But it is 0 for what one side has not met, however seldom
 * that looks.  So noise is also what two samplings of one amount differ by: the best estimate of it
 * is (n1 + n2) / (r1 + r2) words, and w words have the variance w (1 - r) / r.  For equal rates the
 * two variances are the same.
 */
#include "query/difference/difference.h"

#include "query/shared/result.h"
#include "query/trace/preorder.h"

#include <math.h>
#include <stdlib.h>

static uint64_t whole_amount(double amount)
{
	return amount < 9e18 ? (uint64_t)llround(amount) : UINT64_MAX;
}

static struct hg_trace_change change_of_amounts(
	uint64_t before, uint64_t after, const double *rates, unsigned unit)
{
	double old_rate = rates[QUERY_OLDER], new_rate = rates[QUERY_NEWER];
	double first = (double)before / old_rate, second = (double)after / new_rate;
	double old_noise = (1 - old_rate) / old_rate, new_noise = (1 - new_rate) / new_rate;
	double same = ((double)before + (double)after) / (old_rate + new_rate);
	double error = sqrt(first * old_noise + second * new_noise);
	double chance = sqrt(same * (old_noise + new_noise));
	return (struct hg_trace_change){.before = whole_amount(first * unit),
		.after = whole_amount(second * unit),
		.error = whole_amount(error * unit),
		.beyond_noise = fabs(second - first) > 2 * fmax(error, chance)};
}

static uint64_t size_of_change(const struct hg_trace_change *change)
{
	return change->before < change->after ? change->after - change->before
					      : change->before - change->after;
}

static void fill_changes(const struct query_diff *diff, const double *rates, unsigned word_bytes,
	enum hg_trace_diff_measure count, struct hg_trace_diff_node *nodes)
{
	for (uint64_t i = 0; i < diff->count; i++) {
		const struct query_diff_node *from = &diff->nodes[i];
		const uint64_t *before = from->amounts[QUERY_OLDER].of;
		const uint64_t *after = from->amounts[QUERY_NEWER].of;
		struct hg_trace_diff_node *node = &nodes[i];
		*node = (struct hg_trace_diff_node){.parent = from->parent,
			.depth = from->depth,
			.name = trace_name(diff->names, from->name),
			.samples_before = before[HG_TRACE_DIFF_ALLOCATED],
			.samples_after = after[HG_TRACE_DIFF_ALLOCATED]};
		for (unsigned j = 0; j < HG_TRACE_DIFF_MEASURES; j++) {
			node->changes[j] = change_of_amounts(before[j], after[j], rates,
				j == HG_TRACE_DIFF_BLOCKS ? 1 : word_bytes);
			node->changed |= node->changes[j].before != node->changes[j].after;
		}
		node->largest = size_of_change(&node->changes[count]);
	}
	for (uint64_t i = diff->count; i-- > 1;) {
		struct hg_trace_diff_node *parent = &nodes[nodes[i].parent];
		parent->changed |= nodes[i].changed;
		if (parent->largest < nodes[i].largest)
			parent->largest = nodes[i].largest;
	}
}

/* As a tree whose nodes have what orders them as samples, and their number as what is their own. */
static enum hg_status order_changes(struct hg_error *error, const struct hg_trace_diff_node *nodes,
	uint64_t count, struct hg_trace_tree *order)
{
	struct hg_trace_node *tree = calloc(count, sizeof(*tree));
	if (!tree)
		return base_no_memory(error, count * sizeof(*tree));
	for (uint64_t i = 0; i < count; i++) {
		tree[i].parent = nodes[i].parent;
		tree[i].name = nodes[i].name;
		tree[i].total.samples = nodes[i].largest;
		tree[i].own.samples = i;
	}
	return query_make_trace_tree(error, tree, count, HG_TRACE_BY_SAMPLES, order);
}

static enum hg_status list_changes(struct hg_error *error, const struct hg_trace_diff_node *nodes,
	uint64_t count, struct hg_trace_diff *out)
{
	struct hg_trace_tree *order;
	struct hg_trace_diff_node *ordered = calloc(count, sizeof(*ordered));
	if (!ordered)
		return base_no_memory(error, count * sizeof(*ordered));
	enum hg_status status = query_answer_of(error, sizeof(*order), &order);
	if (status == HG_OK)
		status = order_changes(error, nodes, count, order);
	for (uint64_t i = 0; i < count && status == HG_OK; i++) {
		ordered[i] = nodes[order->nodes[i]->own.samples];
		ordered[i].parent = order->nodes[i]->parent;
	}
	hg_trace_tree_release(&order);
	if (status != HG_OK) {
		free(ordered);
		return status;
	}
	out->count = count;
	return query_keep_rows_of(error, out, ordered, count, sizeof(*ordered), &out->nodes);
}

enum hg_status query_diff_finish(const struct query_diff *diff, const double *rates,
	unsigned word_bytes, enum hg_trace_diff_measure count, struct hg_trace_diff *out)
{
	struct hg_trace_diff_node *nodes = calloc(diff->count, sizeof(*nodes));
	if (!nodes)
		return base_no_memory(diff->error, diff->count * sizeof(*nodes));
	fill_changes(diff, rates, word_bytes, count, nodes);
	enum hg_status status = list_changes(diff->error, nodes, diff->count, out);
	free(nodes);
	return status;
}
