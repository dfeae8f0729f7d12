/* The verb trace dump. */
#include "cli/trace/trace.h"

static enum hg_status report_trace_dump(struct cli_run *run, struct rep_trace_context *context)
{
	if (run->values.at && hg_trace_header(context->trace)->format == HG_TRACE_SPACETIME)
		return cli_usage_error(run, "--at: all of a series of Spacetime is dumped");
	return rep_trace_dump(context, run->sink.stream);
}

static enum hg_status run_trace_dump(struct cli_run *run)
{
	return cli_with_trace(run, report_trace_dump);
}

static const struct cli_option *const tables[] = {cli_trace_filter_options, cli_trace_options,
	cli_output_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_trace_dump = {
	.name = "trace dump",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "all of a trace or series as text, a line for each event",
	.description =
		"Time in microseconds, number of the block, and what happened; of allocations "
		"samples, length in words, domain, how many frames are those of the backtrace "
		"before, and the backtrace, outermost first.  This is the text that memtrace's "
		"own dump_trace prints, to the byte.  With --hide, an allocation whose own place "
		"is hidden ends with '(hidden)'.  Of a series of Spacetime: snapshots, and every "
		"node, call and allocation point with its backtrace, innermost first, as "
		"addresses; at last the places of these.  Filters are for traces of memtrace.",
	.tables = tables,
	.run = run_trace_dump,
};
