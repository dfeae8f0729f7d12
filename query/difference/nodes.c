/* The nodes of two profiles, by their names. */
#include "query/difference/difference.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

void query_diff_release(struct query_diff *diff)
{
	base_map_release(&diff->children);
	free(diff->nodes);
	*diff = (struct query_diff){0};
}

static void add_diff_amounts(
	struct query_diff_amounts *to, const struct query_diff_amounts *amounts)
{
	for (unsigned i = 0; i < HG_TRACE_DIFF_MEASURES; i++)
		to->of[i] += amounts->of[i];
}

static enum hg_status add_diff_node(struct query_diff *diff, const struct query_diff_node *node)
{
	if (diff->count == UINT32_MAX)
		return base_fail(diff->error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many calls");
	BASE_TRY(base_grow(
		&diff->nodes, diff->count, &diff->capacity, sizeof(*diff->nodes), diff->error));
	diff->nodes[diff->count++] = *node;
	return HG_OK;
}

enum hg_status query_diff_add_root(
	struct query_diff *diff, unsigned side, const struct query_diff_amounts *amounts)
{
	struct query_diff_node root = {0};
	if (!diff->count) {
		BASE_TRY(trace_names_add(diff->names, "", 0, &root.name, diff->error));
		BASE_TRY(add_diff_node(diff, &root));
	}
	add_diff_amounts(&diff->nodes[0].amounts[side], amounts);
	return HG_OK;
}

enum hg_status query_diff_add(struct query_diff *diff, uint32_t parent, const char *name,
	size_t length, unsigned side, const struct query_diff_amounts *amounts, uint32_t *node)
{
	struct query_diff_node new = {.parent = parent, .depth = diff->nodes[parent].depth + 1};
	uint64_t number = diff->count;
	bool added;
	BASE_TRY(trace_names_add(diff->names, name, length, &new.name, diff->error));
	BASE_TRY(base_map_add(
		&diff->children, (uint64_t)parent << 32 | new.name, &number, &added, diff->error));
	if (added)
		BASE_TRY(add_diff_node(diff, &new));
	add_diff_amounts(&diff->nodes[number].amounts[side], amounts);
	*node = (uint32_t)number;
	return HG_OK;
}

enum hg_status query_diff_add_calls(struct query_diff *diff, unsigned side,
	const struct hg_trace_tree *tree, query_diff_convert_fn *convert)
{
	struct query_diff_amounts amounts = convert(&tree->nodes[0]->total);
	uint32_t *node_of = calloc(tree->count, sizeof(*node_of)); /* of the tree's */
	if (!node_of)
		return base_no_memory(diff->error, tree->count * sizeof(*node_of));
	enum hg_status status = query_diff_add_root(diff, side, &amounts);
	for (size_t i = 1; i < tree->count && status == HG_OK; i++) {
		const struct hg_trace_node *node = tree->nodes[i];
		amounts = convert(&node->total);
		status = query_diff_add(diff, node_of[node->parent], node->name, strlen(node->name),
			side, &amounts, &node_of[i]);
	}
	free(node_of);
	return status;
}
