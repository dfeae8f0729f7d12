/* What a trace of memtrace has, for a comparison. */
#include "query/difference/difference.h"

#include <string.h>

static struct query_diff_amounts convert_samples(const struct hg_trace_amounts *amounts)
{
	struct query_diff_amounts samples = {0};
	samples.of[HG_TRACE_DIFF_ALLOCATED] = amounts->samples;
	samples.of[HG_TRACE_DIFF_LIVE] = amounts->live;
	samples.of[HG_TRACE_DIFF_PEAK] = amounts->peak;
	samples.of[HG_TRACE_DIFF_PROMOTED] = amounts->promoted;
	return samples;
}

static enum hg_status add_calls_of_trace(struct query_diff *diff, unsigned side,
	struct hg_trace *trace, struct hg_trace_losses *losses)
{
	struct hg_trace_tree *tree;
	BASE_TRY(hg_list_trace_calls(trace, HG_TRACE_BY_NAME, &tree));
	*losses = tree->losses;
	enum hg_status status = query_diff_add_calls(diff, side, tree, convert_samples);
	hg_trace_tree_release(&tree);
	return status;
}

static enum hg_status add_rows_of_trace(struct query_diff *diff, unsigned side,
	struct hg_trace *trace, enum hg_trace_key key, struct hg_trace_losses *losses)
{
	struct hg_trace_rows *rows;
	uint32_t node;
	BASE_TRY(hg_list_trace(trace, key, &rows));
	struct query_diff_amounts amounts = convert_samples(&rows->totals);
	enum hg_status status = query_diff_add_root(diff, side, &amounts);
	for (size_t i = 0; i < rows->count && status == HG_OK; i++) {
		const struct hg_trace_row *row = rows->rows[i];
		amounts = convert_samples(&row->amounts);
		status = query_diff_add(
			diff, 0, row->name, strlen(row->name), side, &amounts, &node);
	}
	*losses = rows->losses;
	hg_trace_rows_release(&rows);
	return status;
}

enum hg_status query_diff_add_trace(struct query_diff *diff, unsigned side, struct hg_trace *trace,
	const struct hg_trace_diff_options *options, struct hg_trace_diff_side *out)
{
	static const enum hg_trace_key keys[] = {[HG_TRACE_DIFF_LOCATION] = HG_TRACE_BY_LOCATION,
		[HG_TRACE_DIFF_FUNCTION] = HG_TRACE_BY_FUNCTION,
		[HG_TRACE_DIFF_FILE] = HG_TRACE_BY_FILE};
	BASE_TRY(hg_describe_trace(trace, &out->trace));
	return options->by == HG_TRACE_DIFF_TREE
		       ? add_calls_of_trace(diff, side, trace, &out->losses)
		       : add_rows_of_trace(diff, side, trace, keys[options->by], &out->losses);
}
