/* What changed between two profiles over time, of either format. */
#include "query/spacetime/spacetime.h"

#include "heapgraph/trace_diff.h"
#include "query/trace/diff.h"

#include "query/shared/result.h"

#include <string.h>

struct diff_question {
	struct hg_trace *traces[QUERY_SIDES];
	struct hg_trace_diff_options options;
	struct query_diff diff;
};

/* Of "file:line:start-end" the file. */
static size_t length_of_file(const char *location)
{
	size_t length = strlen(location);
	for (unsigned colons = 0; colons < 2; colons++) {
		const char *colon = memrchr(location, ':', length);
		length = colon ? (size_t)(colon - location) : length;
	}
	return length;
}

static struct query_diff_amounts amounts_of_site(
	const struct diff_question *question, const struct hg_spacetime_site *site)
{
	bool whole_run = question->options.at.of == HG_SPACETIME_END;
	struct query_diff_amounts words = {0};
	words.of[HG_TRACE_DIFF_ALLOCATED] = whole_run ? site->ever_allocated : site->allocated;
	words.of[HG_TRACE_DIFF_LIVE] = site->words;
	words.of[HG_TRACE_DIFF_BLOCKS] = site->blocks;
	return words;
}

/* What C code allocates counts at the place in OCaml that called it. */
static enum hg_status add_sites_to_diff(
	struct diff_question *question, unsigned side, const struct hg_spacetime_sites *sites)
{
	struct query_diff_amounts amounts = amounts_of_site(question, &sites->totals);
	bool by_file = question->options.by == HG_TRACE_DIFF_FILE;
	uint32_t node;
	BASE_TRY(query_diff_add_root(&question->diff, side, &amounts));
	for (size_t i = 0; i < sites->count; i++) {
		const char *location = sites->rows[i]->location;
		size_t length = by_file ? length_of_file(location) : strlen(location);
		amounts = amounts_of_site(question, sites->rows[i]);
		BASE_TRY(query_diff_add(
			&question->diff, 0, location, length, side, &amounts, &node));
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

static enum hg_status add_series_calls_to_diff(
	struct diff_question *question, unsigned side, struct hg_trace_losses *losses)
{
	const struct hg_spacetime_view view = {
		.size = sizeof(view), .at = question->options.at, .count = HG_SPACETIME_ALLOCATED};
	struct hg_trace_tree *tree;
	BASE_TRY(hg_list_spacetime_calls(question->traces[side], &view, HG_TRACE_BY_NAME, &tree));
	*losses = tree->losses;
	enum hg_status status = query_diff_add_calls(&question->diff, side, tree, convert_words);
	hg_trace_tree_release(&tree);
	return status;
}

static enum hg_status add_series_to_diff(
	struct diff_question *question, unsigned side, struct hg_trace_diff_side *out)
{
	struct hg_trace *trace = question->traces[side];
	const struct spacetime_series *series = &trace->series;
	struct hg_spacetime_sites *sites;
	if (!series->complete)
		return query_trace_failed(trace,
			base_fail(&trace->session->error, HG_ERROR_INPUT, series->lost_offset,
				"the series has no places to compare: %s", series->lost));
	BASE_TRY(hg_describe_spacetime(trace, &out->series));
	BASE_TRY(hg_list_spacetime_sites(trace, &question->options.at, &sites));
	out->any_snapshot = sites->any_snapshot;
	out->snapshot = sites->snapshot;
	out->time = sites->time;
	out->unknown = sites->unknown;
	out->losses = sites->losses;
	enum hg_status status = question->options.by == HG_TRACE_DIFF_TREE
					? add_series_calls_to_diff(question, side, &out->losses)
					: add_sites_to_diff(question, side, sites);
	hg_spacetime_sites_release(&sites);
	return status;
}

static enum hg_status answer_diff(struct diff_question *question, struct hg_trace_diff *out)
{
	struct hg_trace *const *traces = question->traces;
	struct hg_trace_diff_side *sides[QUERY_SIDES] = {&out->older, &out->newer};
	double rates[QUERY_SIDES];
	for (unsigned side = 0; side < QUERY_SIDES; side++) {
		bool is_series = traces[side]->header.format == HG_TRACE_SPACETIME;
		rates[side] = traces[side]->header.rate;
		BASE_TRY(is_series ? add_series_to_diff(question, side, sides[side])
				   : query_diff_add_trace(&question->diff, side, traces[side],
					     question->options.by, sides[side]));
	}
	return query_diff_finish(&question->diff, rates, traces[QUERY_NEWER]->header.word_bytes,
		question->options.count, out);
}

/* That the two can be compared, and by this. */
static enum hg_status check_diff(const struct diff_question *question)
{
	const struct hg_trace_info *older = &question->traces[QUERY_OLDER]->header;
	const struct hg_trace_info *newer = &question->traces[QUERY_NEWER]->header;
	const struct hg_trace_diff_options *o = &question->options;
	bool is_series = newer->format == HG_TRACE_SPACETIME;
	const char *wrong = NULL;
	if (older->format != newer->format)
		wrong = "a trace of memtrace and a series of Spacetime have nothing to compare";
	else if (older->word_bytes != newer->word_bytes)
		wrong = "the words of the two traces have different sizes";
	else if ((unsigned)o->by > HG_TRACE_DIFF_TREE ||
		 (unsigned)o->count >= HG_TRACE_DIFF_MEASURES)
		wrong = "no such key or count";
	else if (is_series && o->by == HG_TRACE_DIFF_FUNCTION)
		wrong = "series of Spacetime know no functions: compare by location, file or tree";
	else if (is_series &&
		 (o->count == HG_TRACE_DIFF_PEAK || o->count == HG_TRACE_DIFF_PROMOTED))
		wrong = "of series of Spacetime, allocated, live or blocks are counted";
	else if (!is_series && o->count == HG_TRACE_DIFF_BLOCKS)
		wrong = "of traces of memtrace, allocated, live, peak or promoted is counted";
	return wrong ? base_fail(question->diff.error, HG_ERROR_USAGE, HG_NO_OFFSET, "%s", wrong)
		     : HG_OK;
}

enum hg_status hg_diff_traces(struct hg_trace *older, struct hg_trace *newer,
	const struct hg_trace_diff_options *options, struct hg_trace_diff **out)
{
	if (out)
		*out = NULL;
	if (!older || !newer)
		return HG_ERROR_USAGE;
	struct hg_error *error = &newer->session->error;
	struct diff_question question = {
		.traces = {older, newer}, .diff = {.error = error, .names = &newer->names}};
	base_error_clear(error);
	if (!out || older->session != newer->session ||
		(options && options->size < sizeof(options->size)))
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no place for the result, no options, or traces of two sessions");
	if (options)
		memcpy(&question.options, options,
			options->size < sizeof(*options) ? options->size : sizeof(*options));
	BASE_TRY(check_diff(&question));
	BASE_TRY(query_answer_of(error, sizeof(**out), out));
	enum hg_status status = answer_diff(&question, *out);
	query_diff_release(&question.diff);
	if (status != HG_OK)
		hg_trace_diff_release(out);
	return status;
}

void hg_trace_diff_release(struct hg_trace_diff **diff)
{
	query_free(diff);
}
