/* What a series of Spacetime has, for a comparison. */
#include "query/difference/difference.h"

#include <string.h>

/*
 * Of "file:line:start-end" all, or the file.  What has only an annotation, as its node is damaged,
 * has no name: annotations are those of one run.
 */
static size_t length_of_place(const char *location, bool by_file)
{
	size_t length = strchr(location, ':') ? strlen(location) : 0;
	for (unsigned colons = 0; by_file && colons < 2; colons++) {
		const char *colon = memrchr(location, ':', length);
		length = colon ? (size_t)(colon - location) : length;
	}
	return length;
}

static struct query_diff_amounts amounts_of_site(
	const struct hg_trace_diff_options *options, const struct hg_spacetime_site *site)
{
	bool whole_run = options->at.of == HG_SPACETIME_END;
	struct query_diff_amounts words = {0};
	words.of[HG_TRACE_DIFF_ALLOCATED] = whole_run ? site->ever_allocated : site->allocated;
	words.of[HG_TRACE_DIFF_LIVE] = site->words;
	words.of[HG_TRACE_DIFF_BLOCKS] = site->blocks;
	return words;
}

/* What C code allocates counts at the place in OCaml that called it. */
static enum hg_status add_sites_to_diff(struct query_diff *diff, unsigned side,
	const struct hg_trace_diff_options *options, const struct hg_spacetime_sites *sites)
{
	struct query_diff_amounts amounts = amounts_of_site(options, &sites->totals);
	bool by_file = options->by == HG_TRACE_DIFF_FILE;
	uint32_t node;
	BASE_TRY(query_diff_add_root(diff, side, &amounts));
	for (size_t i = 0; i < sites->count; i++) {
		const char *location = sites->rows[i]->location;
		size_t length = length_of_place(location, by_file);
		amounts = amounts_of_site(options, sites->rows[i]);
		BASE_TRY(query_diff_add(diff, 0, location, length, side, &amounts, &node));
	}
	return HG_OK;
}

static struct query_diff_amounts convert_words(const struct hg_trace_amounts *amounts)
{
	struct query_diff_amounts words = {0};
	words.of[HG_TRACE_DIFF_ALLOCATED] = amounts->promoted;
	words.of[HG_TRACE_DIFF_LIVE] = amounts->live;
	words.of[HG_TRACE_DIFF_BLOCKS] = amounts->peak;
	return words;
}

static enum hg_status add_series_calls_to_diff(struct query_diff *diff, unsigned side,
	struct hg_trace *trace, const struct hg_spacetime_choice *at,
	struct hg_trace_losses *losses)
{
	const struct hg_spacetime_view view = {
		.size = sizeof(view), .at = *at, .count = HG_SPACETIME_ALLOCATED};
	struct hg_trace_tree *tree;
	BASE_TRY(hg_list_spacetime_calls(trace, &view, HG_TRACE_BY_NAME, &tree));
	*losses = tree->losses;
	enum hg_status status = query_diff_add_calls(diff, side, tree, convert_words);
	hg_trace_tree_release(&tree);
	return status;
}

enum hg_status query_diff_add_series(struct query_diff *diff, unsigned side, struct hg_trace *trace,
	const struct hg_trace_diff_options *options, struct hg_trace_diff_side *out)
{
	const struct spacetime_series *series = &trace->series;
	struct hg_spacetime_sites *sites;
	if (!series->complete)
		return query_trace_failed(trace,
			base_fail(&trace->session->error, HG_ERROR_INPUT, series->lost_offset,
				"the series has no places to compare: %s", series->lost));
	BASE_TRY(hg_describe_spacetime(trace, &out->series));
	BASE_TRY(hg_list_spacetime_sites(trace, &options->at, &sites));
	out->any_snapshot = sites->any_snapshot;
	out->snapshot = sites->snapshot;
	out->time = sites->time;
	out->unknown = sites->unknown;
	out->losses = sites->losses;
	enum hg_status status =
		options->by == HG_TRACE_DIFF_TREE
			? add_series_calls_to_diff(diff, side, trace, &options->at, &out->losses)
			: add_sites_to_diff(diff, side, options, sites);
	hg_spacetime_sites_release(&sites);
	return status;
}
