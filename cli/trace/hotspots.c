/* The verb trace hotspots. */
#include "cli/trace/trace.h"

static enum hg_status report_trace_hotspots(struct cli_run *run, struct rep_trace_context *context)
{
	return rep_trace_hotspots(context, run->sink.stream);
}

static enum hg_status run_trace_hotspots(struct cli_run *run)
{
	return cli_with_trace(run, report_trace_hotspots);
}

static const struct cli_option *const tables[] = {
	cli_trace_options, cli_output_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_trace_hotspots = {
	.name = "trace hotspots",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "who allocates most in a memtrace trace, as its own tool says",
	.description =
		"Functions that allocate more than 0.5 % of what was sampled, the places where "
		"they do, and the functions above them that account for much of it: the text that "
		"memtrace's own hotspots prints, to the byte, also where that counts events "
		"instead of samples.  'trace sites' and 'trace functions' are exact.",
	.tables = tables,
	.run = run_trace_hotspots,
};
