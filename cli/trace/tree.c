/* The verb trace tree. */
#include "cli/trace/trace.h"

/* Behind the formats of all tables. */
static const char *const texts[] = {"folded", NULL};

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
	return index < writers ? rep_writer_name(index) : texts[index - writers];
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

static enum hg_status report_trace_tree(struct cli_run *run, struct rep_trace_context *context)
{
	struct hg_trace_callers_options options = {.size = sizeof(options),
		.places = true,
		.min_samples = cli_number(run->values.min_samples, 1),
		.limit = cli_limit(run, 20)};
	if (begins_at_allocation(run))
		return rep_trace_callers(context, &options);
	return run->extension ? rep_trace_folded(context, run->sink.stream)
			      : rep_trace_tree(context, options.min_samples, options.limit);
}

static enum hg_status run_trace_tree(struct cli_run *run)
{
	if (begins_at_allocation(run) && !run->values.at && !run->values.alive)
		run->values.at = "end";
	uint64_t format = run->values.format;
	if (format != CLI_UNSET && format >= count_of_writers()) {
		run->extension = trace_tree_format((unsigned)format);
		run->values.format = CLI_UNSET;
	}
	if (begins_at_allocation(run) && run->extension)
		return base_fail(&run->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"--from allocation has no folded stacks: these begin at the outermost "
			"function");
	return cli_with_trace(run, report_trace_tree);
}

static const struct cli_option own[] = {
	{"format", 0, CLI_CHOICE, offsetof(struct cli_values, format), "FORMAT", trace_tree_format,
		"text for people (the default), csv or json for programs, folded for flame graphs: "
		"a line 'outer;inner SAMPLES' for each stack, as memtrace's flamegraph prints"},
	{"from", 0, CLI_CHOICE, offsetof(struct cli_values, begin_at), "END", place_to_begin,
		"main: from the outermost function inwards (the default); allocation: from the "
		"place of allocation outwards, by place in the source with all recursion, and only "
		"what is alive at the end (or --at, --alive): the view of statmemprof-emacs"},
	CLI_TRACE_MIN_SAMPLES,
	{0},
};

static const struct cli_option *const tables[] = {own, cli_limit_options, cli_trace_filter_options,
	cli_trace_options, cli_output_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_trace_tree = {
	.name = "trace tree",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "what a memtrace trace allocates by call stack, as a tree",
	.description =
		"From the outermost function inwards, a row for each function that is called in "
		"that way, with all that is allocated below it.  Recursion is removed: of several "
		"calls of a function on one stack the outermost stays.  'itself' is what the "
		"function allocates on its own.",
	.tables = tables,
	.run = run_trace_tree,
};
