/* The verbs trace sizes and trace lifetimes. */
#include "cli/trace/trace.h"

typedef enum hg_status distribution_fn(
	struct rep_trace_context *context, const struct rep_distribution_request *request);

static enum hg_status report_a_distribution(
	struct cli_run *run, struct rep_trace_context *context, distribution_fn *report)
{
	const struct rep_distribution_request request = {
		run->values.as_printed, cli_number(run->values.table, REP_NO_TABLE)};
	if (request.as_notebooks && context->filtered)
		return cli_usage_error(
			run, "--compat: the notebooks count what they count, nothing else");
	return report(context, &request);
}

static enum hg_status report_trace_sizes(struct cli_run *run, struct rep_trace_context *context)
{
	return report_a_distribution(run, context, rep_trace_sizes);
}

static enum hg_status report_trace_lifetimes(struct cli_run *run, struct rep_trace_context *context)
{
	return report_a_distribution(run, context, rep_trace_lifetimes);
}

static enum hg_status run_trace_sizes(struct cli_run *run)
{
	return cli_with_trace(run, report_trace_sizes);
}

static enum hg_status run_trace_lifetimes(struct cli_run *run)
{
	return cli_with_trace(run, report_trace_lifetimes);
}

#define TABLE(choice, usual)                                                                       \
	{                                                                                          \
		"table", 0, CLI_CHOICE, offsetof(struct cli_values, table), "NAME", choice,        \
			"print only this table: default for csv " usual ", for json all"           \
	}
#define COMPAT                                                                                     \
	{                                                                                          \
		"compat", 0, CLI_FLAG, offsetof(struct cli_values, as_printed), NULL, NULL,        \
			"count as the notebooks of ocaml-alloc-stats do, with their mistakes: "    \
			"events, of what is promoted or allocated in the major heap"               \
	}

static const struct cli_option own_of_sizes[] = {TABLE(rep_sizes_table, "sizes"), COMPAT, {0}};

static const struct cli_option own_of_lifetimes[] = {
	TABLE(rep_lifetimes_table, "powers"), COMPAT, {0}};

static const struct cli_option *const tables_of_sizes[] = {own_of_sizes, cli_trace_filter_options,
	cli_trace_options, cli_format_options, cli_output_options, cli_work_options,
	cli_help_options, NULL};

static const struct cli_option *const tables_of_lifetimes[] = {own_of_lifetimes,
	cli_trace_filter_options, cli_trace_options, cli_format_options, cli_output_options,
	cli_work_options, cli_help_options, NULL};

#define ESTIMATES                                                                                  \
	"Large blocks are sampled more often than small ones, so 'events', the samples of "        \
	"blocks, say little; 'blocks' and 'bytes' are estimates of what the program allocated"

const struct cli_verb cli_verb_trace_sizes = {
	.name = "trace sizes",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "how large the blocks of a memtrace trace are",
	.description =
		"Sizes in words without header: how many blocks and bytes have each, mean, "
		"standard deviation, share of large blocks, also of parts of the run (1/2 is its "
		"first half by events, 'middle' all but the first and last 100), and histograms. "
		" " ESTIMATES ".  --not-on minor leaves out what does not outlive the minor heap.",
	.tables = tables_of_sizes,
	.run = run_trace_sizes,
};

const struct cli_verb cli_verb_trace_lifetimes = {
	.name = "trace lifetimes",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "how long the blocks of a memtrace trace live",
	.description =
		"Time from allocation to collection, of what is alive at the end up to then, in "
		"microseconds and in ticks, the number of allocations and collections between. "
		" " ESTIMATES
		".  With --not-on minor only blocks that are promoted count, from then on.",
	.tables = tables_of_lifetimes,
	.run = run_trace_lifetimes,
};
