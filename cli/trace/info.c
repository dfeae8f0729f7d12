/* The verb trace info. */
#include "cli/trace/trace.h"

static enum hg_status run_trace_info(struct cli_run *run)
{
	return cli_with_trace(run, cli_report_trace_info);
}

static const struct cli_option *const tables[] = {cli_trace_options, cli_format_options,
	cli_output_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_trace_info = {
	.name = "trace info",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "what a trace or series is of, its totals, and what is damaged",
	.description =
		"Reads a trace that a program wrote with memtrace (MEMTRACE=FILE.ctf), versions 1 "
		"to 3, to its end: program and settings, what was allocated, alive at most and at "
		"the end, rates and sizes.  Samples stand for words, with the standard error that "
		"sampling has.  Of a series of Spacetime (OCaml 4.04 to 4.11) it says which "
		"compilers write such ones, its snapshots and events, how many calls and "
		"allocation points there are, and whether its numbers agree.",
	.tables = tables,
	.run = run_trace_info,
};
