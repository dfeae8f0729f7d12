/* The verb trace live. */
#include "cli/trace/trace.h"

static enum hg_status report_trace_live(struct cli_run *run, struct rep_trace_context *context)
{
	enum { FOR_PEOPLE = 20, FOR_PROGRAMS = 450 };
	if (run->extension)
		return rep_trace_chart(context, cli_number(run->values.points, 0), run->extension,
			run->sink.stream);
	return rep_trace_live(context,
		cli_number(run->values.points, cli_for_people(run) ? FOR_PEOPLE : FOR_PROGRAMS));
}

static enum hg_status run_trace_live(struct cli_run *run)
{
	return cli_with_trace(run, report_trace_live);
}

static const struct cli_option own[] = {
	{"points", 0, CLI_NUMBER, offsetof(struct cli_values, points), "N", NULL,
		"so many rows, at equal steps of time: default 20 for text, 450 for csv, json "
		"and charts"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_trace_filter_options, cli_trace_options,
	cli_format_options, cli_chart_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_trace_live = {
	.name = "trace live",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "what is alive in a memtrace trace over time",
	.description =
		"Time since the start of the trace in equal steps up to its end, and at each of "
		"them what is alive then: allocated, and not yet collected.  The peak is that of "
		"all events, also between these.  A chart (-o x.svg) shows it by place of "
		"allocation: the ten places that have most alive over the whole time, and all "
		"others; of a part of the allocations also what is alive in all.",
	.tables = tables,
	.extensions = cli_chart_extensions,
	.run = run_trace_live,
};
