/*
 * Texts of a trace for other programs: folded stacks, as memtrace's flamegraph prints them and
 * flamegraph.pl and its relatives read them; and the dump of all events.
 */
#include "report/trace/trace.h"

#include <inttypes.h>
#include <stdlib.h>

static bool write_to_stream(void *data, const char *bytes, size_t length)
{
	return fwrite(bytes, 1, length, data) == length;
}

enum hg_status rep_trace_dump(struct rep_trace_context *context, FILE *stream)
{
	enum hg_status status = hg_trace_header(context->trace)->format == HG_TRACE_SPACETIME
					? hg_dump_spacetime(context->trace, write_to_stream, stream)
					: hg_dump_trace(context->trace, write_to_stream, stream);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	const struct hg_trace_losses *losses = hg_trace_last_losses(context->trace);
	rep_trace_note(context, losses);
	return HG_OK;
}

/* Stacks of one function are left out, as the original does, unless 'all' are wanted. */
static void write_folded(
	const struct hg_trace_tree *tree, bool all, struct rep_text *path, FILE *stream)
{
	size_t *ends = calloc(tree->count + 1, sizeof(*ends)); /* of the path at each depth */
	path->failed |= !ends;
	if (all && tree->nodes[0]->own.samples)
		fprintf(stream, "(no place known) %" PRIu64 "\n", tree->nodes[0]->own.samples);
	for (size_t i = 1; i < tree->count && !path->failed && !ferror(stream); i++) {
		const struct hg_trace_node *node = tree->nodes[i];
		path->length = ends[node->depth - 1];
		if (node->depth > 1)
			rep_text_put(path, ";");
		rep_text_put(path, node->name);
		ends[node->depth] = path->length;
		if (node->own.samples && (all || node->depth > 1))
			fprintf(stream, "%s %" PRIu64 "\n", rep_text_string(path),
				node->own.samples);
	}
	free(ends);
}

enum hg_status rep_trace_folded(
	struct rep_trace_context *context, const struct rep_trace_moment *moment, FILE *stream)
{
	struct hg_trace_tree *tree;
	struct rep_text path = {0};
	enum hg_status status =
		moment->view ? hg_list_spacetime_calls(
				       context->trace, moment->view, HG_TRACE_BY_NAME, &tree)
			     : hg_list_trace_calls(context->trace, HG_TRACE_BY_NAME, &tree);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	write_folded(tree, moment->view != NULL, &path, stream);
	if (path.failed)
		status = base_no_memory(context->error, tree->count * sizeof(size_t));
	rep_text_release(&path);
	rep_trace_note(context, &tree->losses);
	hg_trace_tree_release(&tree);
	return status;
}
