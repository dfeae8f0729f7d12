/* The verb trace hp. */
#include "cli/trace/trace.h"

static enum hg_status report_trace_hp(struct cli_run *run, struct rep_trace_context *context)
{
	enum { POINTS = 100 };
	return rep_trace_hp(context, cli_number(run->values.points, POINTS),
		run->values.limit == CLI_UNSET ? 0 : run->values.limit, run->sink.stream);
}

static enum hg_status run_trace_hp(struct cli_run *run)
{
	return cli_with_trace(run, report_trace_hp);
}

static const struct cli_option own[] = {
	{"points", 0, CLI_NUMBER, offsetof(struct cli_values, points), "N", NULL,
		"so many samples, at equal steps of time: default 100"},
	{"limit", 0, CLI_NUMBER, offsetof(struct cli_values, limit), "N", NULL,
		"locations that stand for themselves, those with most over the whole time; all "
		"others are one line: default 0, all stand for themselves"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_trace_filter_options, cli_trace_options,
	cli_output_options, cli_work_options, cli_help_options, NULL};

static const char *const extensions[] = {"hp", NULL};

const struct cli_verb cli_verb_trace_hp = {
	.name = "trace hp",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "what is alive over time by location, for hp2ps",
	.description =
		"A heap profile for hp2ps(1), which draws it: at equal steps of time, up to the "
		"end, the bytes of each location that are alive then.  Time is in seconds since "
		"the start of the trace.",
	.tables = tables,
	.extensions = extensions,
	.run = run_trace_hp,
};
