/* Verbs about profiles over time: opening, and what was lost. */
#include "cli/trace/trace.h"

#include <stdlib.h>
#include <string.h>

const struct cli_option cli_trace_options[] = {
	{"strict", 0, CLI_FLAG, offsetof(struct cli_values, strict), NULL, NULL,
		"refuse a file with any damage (exit code 3) rather than read on and say what was "
		"lost (exit code 4)"},
	{0},
};

static const char *series_count(unsigned index)
{
	return rep_series_count_name(index);
}

const char *cli_count_of_places(unsigned index)
{
	return index <= HG_SPACETIME_BLOCKS ? series_count(index) : NULL;
}

const struct cli_option cli_trace_series_options[] = {
	{"count", 0, CLI_CHOICE, offsetof(struct cli_values, counted), "WHAT", series_count,
		"of a series of Spacetime, what is counted: bytes allocated (the default; with "
		"--at up to the snapshot), bytes live or blocks live in the snapshot (live is the "
		"default from the allocation outwards), calls or indirect-calls, of closures, up "
		"to the end"},
	{"recursion", 0, CLI_FLAG, offsetof(struct cli_values, all_frames), NULL, NULL,
		"of a series of Spacetime, keep all frames of recursive calls"},
	CLI_TRACE_EXE,
	{0},
};

struct hg_spacetime_choice cli_read_series_moment(const char *at)
{
	struct hg_spacetime_choice choice = {.of = HG_SPACETIME_END};
	char *end;
	if (!at || !strcmp(at, "end"))
		return choice;
	choice.of = HG_SPACETIME_LAST;
	if (!strcmp(at, "last"))
		return choice;
	choice.of = strcmp(at, "peak") ? HG_SPACETIME_AFTER_EVENT : HG_SPACETIME_PEAK;
	choice.event = at;
	choice.number = strtoull(at, &end, 10);
	if (*at >= '0' && *at <= '9' && !*end)
		choice.of = HG_SPACETIME_NUMBER;
	return choice;
}

struct hg_spacetime_view cli_read_series_view(
	const struct cli_run *run, enum hg_spacetime_count usual)
{
	struct hg_spacetime_view view = {.size = sizeof(view),
		.at = cli_read_series_moment(run->values.at),
		.count = usual,
		.all_frames = run->values.all_frames};
	if (run->values.counted != CLI_UNSET)
		view.count = (enum hg_spacetime_count)run->values.counted;
	return view;
}

enum hg_status cli_report_series_callers(struct cli_run *run, struct rep_trace_context *context,
	const struct hg_spacetime_view *view, const struct hg_trace_callers_options *options)
{
	struct hg_trace_callers_options wanted = *options;
	wanted.min_samples = 0;
	if (run->values.min_samples != CLI_UNSET)
		return cli_usage_error(run, "--min-samples: a series of Spacetime has no samples");
	return view->all_frames
		       ? cli_usage_error(run, "--recursion: only from the outermost call inwards")
		       : rep_series_callers(context, view, &wanted);
}

enum hg_status cli_check_no_view(struct cli_run *run)
{
	const struct cli_values *v = &run->values;
	return v->counted != CLI_UNSET || v->all_frames
		       ? cli_usage_error(run, "--count and --recursion are for series of Spacetime")
		       : HG_OK;
}

void cli_say_what_was_lost(struct cli_run *run, const struct rep_trace_context *context)
{
	if (!context->lost)
		return;
	cli_say_losses(hg_trace_header(context->trace)->path, &context->losses);
	run->partial = true;
}

enum hg_status cli_report_trace_info(struct cli_run *run, struct rep_trace_context *context)
{
	(void)run;
	return hg_trace_header(context->trace)->format == HG_TRACE_SPACETIME
		       ? rep_trace_series(context)
		       : rep_trace_info(context);
}

enum hg_status cli_open_trace(struct cli_run *run, const char *path, const char *program,
	struct rep_trace_context *context)
{
	struct hg_trace_options options = {.size = sizeof(options), .strict = run->values.strict};
	*context = (struct rep_trace_context){
		.session = run->session, .emitter = &run->emitter, .error = &run->error};
	enum hg_status status = hg_trace_open(run->session, path, &options, &context->trace);
	if (status == HG_OK && program)
		status = hg_spacetime_set_program(context->trace, program);
	if (status == HG_OK)
		return cli_filter_trace(run, context);
	return cli_library_failed(run, status);
}

enum hg_status cli_report_trace(struct cli_run *run, cli_trace_fn *report)
{
	struct rep_trace_context context;
	enum hg_status status =
		cli_open_trace(run, run->operands[0], run->values.executable, &context);
	if (status == HG_OK)
		status = report(run, &context);
	cli_progress_end(&run->progress);
	if (status == HG_OK)
		cli_say_what_was_lost(run, &context);
	hg_trace_close(context.trace);
	return status;
}

enum hg_status cli_with_trace(struct cli_run *run, cli_trace_fn *report)
{
	BASE_TRY(cli_begin(run));
	return cli_report_trace(run, report);
}
