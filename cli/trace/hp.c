/* The verb trace hp. */
#include "cli/trace/trace.h"

static enum hg_status report_trace_hp(struct cli_run *run, struct rep_trace_context *context)
{
	enum { POINTS = 100 };
	uint64_t most = run->values.limit == CLI_UNSET ? 0 : run->values.limit;
	if (hg_trace_header(context->trace)->format == HG_TRACE_SPACETIME) {
		if (run->values.points != CLI_UNSET)
			return cli_usage_error(
				run, "--points: a series of Spacetime has its snapshots");
		return rep_series_hp(context,
			(enum hg_spacetime_count)cli_number(run->values.counted, HG_SPACETIME_LIVE),
			most, run->sink.stream);
	}
	BASE_TRY(cli_check_no_view(run));
	return rep_trace_hp(
		context, cli_number(run->values.points, POINTS), most, run->sink.stream);
}

static enum hg_status run_trace_hp(struct cli_run *run)
{
	return cli_with_trace(run, report_trace_hp);
}

static const struct cli_option own[] = {
	{"points", 0, CLI_NUMBER, offsetof(struct cli_values, points), "N", NULL,
		"so many samples, at equal steps of time: default 100"},
	{"count", 0, CLI_CHOICE, offsetof(struct cli_values, counted), "WHAT", cli_count_of_places,
		"of a series of Spacetime: bytes live (the default), blocks live or bytes "
		"allocated"},
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
		"the start of the trace.  Of a series of Spacetime it has a sample for each "
		"snapshot and a mark for each event, in CPU seconds; a time that is before the one "
		"in front of it is taken for that, as hp2ps wants them in order.",
	.tables = tables,
	.extensions = extensions,
	.run = run_trace_hp,
};
