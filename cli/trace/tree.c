/* The verb trace tree. */
#include "cli/trace/trace.h"

#include <string.h>

/* Behind the formats of all tables. */
static const struct stacks_format {
	const char *name;
	rep_trace_stacks_fn *write;
	bool has_moment; /* --at is of what is alive in it, and leaves nothing else out */
} stacks_formats[] = {{"folded", rep_trace_folded, false}, {"pprof", rep_trace_pprof, true},
	{"speedscope", rep_trace_speedscope, true}, {0}};

static unsigned count_of_writers(void)
{
	unsigned count = 0;
	while (rep_writer_name(count))
		count++;
	return count;
}

static const char *trace_tree_format(unsigned index)
{
	unsigned writers = count_of_writers();
	return index < writers ? rep_writer_name(index) : stacks_formats[index - writers].name;
}

static const char *place_to_begin(unsigned index)
{
	static const char *const places[] = {"main", "allocation", NULL};
	return places[index];
}

static bool begins_at_allocation(const struct cli_run *run)
{
	return run->values.begin_at == 1;
}

static const struct stacks_format *format_of_stacks(const struct cli_run *run)
{
	uint64_t format = run->values.format;
	unsigned writers = count_of_writers();
	return format == CLI_UNSET || format < writers ? NULL : &stacks_formats[format - writers];
}

static enum hg_status report_stacks(struct cli_run *run, struct rep_trace_context *context)
{
	const struct stacks_format *format = stacks_formats;
	struct rep_trace_moment moment = {0};
	struct hg_spacetime_view view;
	while (strcmp(format->name, run->extension))
		format++;
	if (hg_trace_header(context->trace)->format == HG_TRACE_SPACETIME) {
		view = cli_read_series_view(run, HG_SPACETIME_ALLOCATED);
		if (run->values.in_use_at)
			view.at = cli_read_series_moment(run->values.in_use_at);
		moment.view = &view;
	} else {
		BASE_TRY(cli_check_no_view(run));
		BASE_TRY(cli_read_trace_moment(run, run->values.in_use_at, &moment));
	}
	return format->write(context, &moment, run->sink.stream);
}

static enum hg_status report_series_tree(struct cli_run *run, struct rep_trace_context *context,
	const struct hg_trace_callers_options *options)
{
	const struct hg_spacetime_view view = cli_read_series_view(
		run, begins_at_allocation(run) ? HG_SPACETIME_LIVE : HG_SPACETIME_ALLOCATED);
	if (begins_at_allocation(run))
		return cli_report_series_callers(run, context, &view, options);
	if (run->values.min_samples != CLI_UNSET)
		return cli_usage_error(run, "--min-samples: a series of Spacetime has no samples");
	return rep_series_tree(context, &view, options->limit);
}

static enum hg_status report_trace_tree(struct cli_run *run, struct rep_trace_context *context)
{
	struct hg_trace_callers_options options = {.size = sizeof(options),
		.places = true,
		.min_samples = cli_number(run->values.min_samples, 1),
		.limit = cli_limit(run, 20)};
	if (hg_trace_header(context->trace)->format == HG_TRACE_SPACETIME)
		return report_series_tree(run, context, &options);
	BASE_TRY(cli_check_no_view(run));
	return begins_at_allocation(run)
		       ? rep_trace_callers(context, &options)
		       : rep_trace_tree(context, options.min_samples, options.limit);
}

static enum hg_status run_trace_tree(struct cli_run *run)
{
	const struct stacks_format *format = format_of_stacks(run);
	if (begins_at_allocation(run) && format)
		return base_fail(&run->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"--from allocation has no --format %s: its stacks begin at the outermost "
			"function",
			format->name);
	if (begins_at_allocation(run) && !run->values.at && !run->values.alive)
		run->values.at = "end";
	if (!format)
		return cli_with_trace(run, report_trace_tree);
	run->extension = format->name;
	if (format->has_moment) {
		run->values.in_use_at = run->values.at;
		run->values.at = NULL;
	}
	run->values.format = CLI_UNSET;
	return cli_with_trace(run, report_stacks);
}

static const struct cli_option own[] = {
	{"format", 0, CLI_CHOICE, offsetof(struct cli_values, format), "FORMAT", trace_tree_format,
		"text for people (the default), csv or json for programs, folded for flame graphs: "
		"a line 'outer;inner SAMPLES' for each stack, as memtrace's flamegraph prints; "
		"pprof and speedscope for these viewers, with what is allocated and what is in use "
		"at the end, or at --at"},
	{"from", 0, CLI_CHOICE, offsetof(struct cli_values, begin_at), "END", place_to_begin,
		"main: from the outermost function inwards (the default); allocation: from the "
		"place of allocation outwards, by place in the source with all recursion, and only "
		"what is alive at the end (or --at, --alive): the view of statmemprof-emacs"},
	CLI_TRACE_MIN_SAMPLES,
	{0},
};

static const struct cli_option *const tables[] = {own, cli_limit_options, cli_trace_filter_options,
	cli_trace_series_options, cli_trace_options, cli_output_options, cli_work_options,
	cli_help_options, NULL};

const struct cli_verb cli_verb_trace_tree = {
	.name = "trace tree",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "what a trace or series allocates by call stack, as a tree",
	.description =
		"From the outermost function inwards, a row for each function that is called in "
		"that way, with all that is allocated below it.  Recursion is removed: of several "
		"calls of a function on one stack the outermost stays.  'itself' is what the "
		"function allocates on its own.  Of a series of Spacetime the rows are places, "
		"with what was allocated in the whole run and what is alive in the last snapshot; "
		"or both in the snapshot that --at says (a number, an event, peak or last).",
	.tables = tables,
	.run = run_trace_tree,
};
