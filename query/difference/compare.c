/* What changed between two profiles over time, of either format. */
#include "query/difference/difference.h"

#include "query/shared/result.h"

#include <string.h>

struct diff_question {
	struct hg_trace *traces[QUERY_SIDES];
	struct hg_trace_diff_options options;
	struct query_diff diff;
};

static enum hg_status answer_diff(struct diff_question *question, struct hg_trace_diff *out)
{
	struct hg_trace *const *traces = question->traces;
	struct hg_trace_diff_side *sides[QUERY_SIDES] = {&out->older, &out->newer};
	double rates[QUERY_SIDES];
	for (unsigned side = 0; side < QUERY_SIDES; side++) {
		query_diff_add_fn *add = traces[side]->header.format == HG_TRACE_SPACETIME
						 ? query_diff_add_series
						 : query_diff_add_trace;
		rates[side] = traces[side]->header.rate;
		BASE_TRY(add(&question->diff, side, traces[side], &question->options, sides[side]));
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
