/* The verb trace top. */
#include "cli/trace/trace.h"

static enum hg_status report_trace_top(struct cli_run *run, struct rep_trace_context *context)
{
	const struct hg_spacetime_choice choice = cli_read_series_moment(run->values.in_use_at);
	return rep_series_sites(context, &choice, cli_limit(run, 20));
}

static enum hg_status run_trace_top(struct cli_run *run)
{
	return cli_with_trace(run, report_trace_top);
}

static const struct cli_option own[] = {
	{"at", 0, CLI_STRING, offsetof(struct cli_values, in_use_at), "N|EVENT|peak", NULL,
		"the snapshot: its number, counted from 0, the first one after this event, or the "
		"one with the most memory; default the last"},
	CLI_TRACE_EXE,
	{0},
};

static const struct cli_option *const tables[] = {own, cli_limit_options, cli_trace_options,
	cli_format_options, cli_output_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_trace_top = {
	.name = "trace top",
	.operands = "SERIES",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "what fills memory at a snapshot of Spacetime, by place",
	.description =
		"One row for each place in OCaml code where blocks were allocated, of a series of "
		"Spacetime: bytes and blocks alive, bytes allocated up to the snapshot and up to "
		"the end of the program, and what part of the former survives.  What C code "
		"allocates counts at the OCaml code that called it, and with --exe at the C "
		"function that this called.",
	.tables = tables,
	.run = run_trace_top,
};
