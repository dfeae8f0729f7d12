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

static enum hg_status report_trace_tree(struct cli_run *run, struct rep_trace_context *context)
{
	return run->extension ? rep_trace_folded(context, run->sink.stream)
			      : rep_trace_tree(context, cli_limit(run, 20));
}

static enum hg_status run_trace_tree(struct cli_run *run)
{
	uint64_t format = run->values.format;
	if (format != CLI_UNSET && format >= count_of_writers()) {
		run->extension = trace_tree_format((unsigned)format);
		run->values.format = CLI_UNSET;
	}
	return cli_with_trace(run, report_trace_tree);
}

static const struct cli_option own[] = {
	{"format", 0, CLI_CHOICE, offsetof(struct cli_values, format), "FORMAT", trace_tree_format,
		"text for people (the default), csv or json for programs, folded for flame graphs: "
		"a line 'outer;inner SAMPLES' for each stack, as memtrace's flamegraph prints"},
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
