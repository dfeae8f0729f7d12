/* The verb summary, which is the default. */
#include "cli/trace/trace.h"
#include "cli/verbs.h"

static enum hg_status run_summary(struct cli_run *run)
{
	BASE_TRY(cli_begin(run));
	if (run->values.as == CLI_UNSET && hg_is_trace(run->session, run->operands[0]))
		return cli_report_trace(run, cli_report_trace_info);
	BASE_TRY(cli_open(run, run->operands[0], true));
	struct rep_summary_request request = {
		.outside = run->values.outside, .sums = run->values.sums};
	enum hg_status status = rep_summary(&run->context, &request);
	/* Numbers that do not add up are shown, so that the mistake can be found. */
	run->keep_output = status == HG_ERROR_INTERNAL;
	return status;
}

static const struct cli_option own[] = {
	{"outside", 0, CLI_FLAG, offsetof(struct cli_values, outside), NULL, NULL,
		"also where pointers lead that lead to no block"},
	{"sums", 0, CLI_FLAG, offsetof(struct cli_values, sums), NULL, NULL,
		"also how the totals add up, one by one"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_weight_options, cli_format_options,
	cli_output_options, cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_summary = {
	.name = "summary",
	.operands = "SNAPSHOT",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "one screen: totals, biggest types and dominators, suspects",
	.description = "Says what the snapshot is, how many blocks and bytes it holds and how the "
		       "numbers add up, of what types the blocks are (where they were allocated, "
		       "if no types are known), what holds it, and what looks "
		       "suspicious.  'heapgraph SNAPSHOT' is the same.  Of a trace it says what "
		       "'trace info' does.",
	.tables = tables,
	.tells = CLI_TELLS_TYPES | CLI_TELLS_LOCATIONS,
	.run = run_summary,
};
