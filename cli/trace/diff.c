/* The verb trace diff. */
#include "cli/trace/trace.h"

enum { MOST_PROGRAMS = 2 };

/* Of one program both are. */
static const char *program_of_operand(const struct cli_run *run, unsigned operand)
{
	const struct cli_files *programs = &run->values.programs;
	return operand < programs->count ? programs->names[operand]
	       : programs->count         ? programs->names[programs->count - 1]
					 : NULL;
}

static enum hg_status report_trace_diff(struct cli_run *run, struct rep_trace_context *contexts)
{
	const struct cli_values *v = &run->values;
	const struct rep_trace_diff_request request = {
		.options = {.size = sizeof(request.options),
			.by = (enum hg_trace_diff_key)cli_number(v->by, HG_TRACE_DIFF_LOCATION),
			.count = (enum hg_trace_diff_measure)cli_number(
				v->counted, HG_TRACE_DIFF_ALLOCATED),
			.at = cli_read_series_moment(v->at)},
		.min = cli_number(v->min_size, 0),
		.limit = cli_limit(run, 20)};
	for (unsigned i = 0; i < 2; i++)
		BASE_TRY(cli_open_trace(
			run, run->operands[i], program_of_operand(run, i), &contexts[i]));
	return rep_trace_diff(&contexts[0], &contexts[1], &request);
}

static enum hg_status run_trace_diff(struct cli_run *run)
{
	struct rep_trace_context contexts[2] = {0};
	if (run->values.programs.count > MOST_PROGRAMS)
		return cli_usage_error(run, "--exe: one program for both, or one for each");
	BASE_TRY(cli_begin(run));
	enum hg_status status = report_trace_diff(run, contexts);
	cli_progress_end(&run->progress);
	for (unsigned i = 0; i < 2; i++) {
		if (status == HG_OK)
			cli_say_what_was_lost(run, &contexts[i]);
		hg_trace_close(contexts[i].trace);
	}
	return status;
}

static const struct cli_option own[] = {
	{"by", 0, CLI_CHOICE, offsetof(struct cli_values, by), "KEY", rep_trace_diff_key_name,
		"what is compared: location of the allocation (the default), function with all "
		"that it calls, file, or tree of calls; of series of Spacetime location, file or "
		"tree"},
	{"count", 0, CLI_CHOICE, offsetof(struct cli_values, counted), "WHAT",
		rep_trace_diff_measure_name,
		"what orders the rows: bytes allocated (the default), live, peak or promoted; of "
		"series of Spacetime allocated, live or blocks"},
	{"min", 0, CLI_SIZE, offsetof(struct cli_values, min_size), "SIZE", NULL,
		"leave out what changed by less: 100K, 2M"},
	{"exe", 0, CLI_FILES, offsetof(struct cli_values, programs), "FILE", NULL,
		"of series of Spacetime, the program that wrote both, or given twice the one of "
		"OLD "
		"and the one of NEW: their symbols name C functions and code without places"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_limit_options, cli_trace_filter_options,
	cli_trace_options, cli_format_options, cli_output_options, cli_work_options,
	cli_help_options, NULL};

const struct cli_verb cli_verb_trace_diff = {
	.name = "trace diff",
	.operands = "OLD NEW",
	.min_operands = 2,
	.max_operands = 2,
	.summary = "what changed between two traces, or two series",
	.description =
		"Compares two traces of memtrace, each by its own sampling rate, or two series of "
		"Spacetime: one row for each location, function, file or call that changed, the "
		"largest change first.  Beside the change of a trace stands the standard error "
		"that sampling gives it: what is within twice that may be chance, and is marked "
		"'within noise'; what is beyond is 'changed', or 'new' or 'gone' if only one of "
		"the two has it.  One in twenty is beyond it by chance.\n\n"
		"Runs of different length allocate different amounts: above the table stand the "
		"length and the totals of both.  Options that say what counts apply to both, and "
		"of series so does --at, a snapshot: a number, an event or peak; without it "
		"'allocated' is that of the whole run and 'live' that of the last snapshot.\n\n"
		"Locations have lines and columns, which another version of the source moves: "
		"between versions --by function or --by file says more.",
	.tables = tables,
	.run = run_trace_diff,
};
