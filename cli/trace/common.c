/* Verbs about profiles over time: opening, and what was lost. */
#include "cli/trace/trace.h"

const struct cli_option cli_trace_options[] = {
	{"strict", 0, CLI_FLAG, offsetof(struct cli_values, strict), NULL, NULL,
		"refuse a file with any damage (exit code 3) rather than read on and say what was "
		"lost (exit code 4)"},
	{0},
};

static void say_what_was_lost(const char *path, const struct hg_trace_losses *losses)
{
	struct rep_text text = {0};
	rep_text_printf(&text, "PARTIAL: %s", losses->first);
	if (losses->first_offset != HG_NO_OFFSET)
		rep_text_printf(
			&text, ", at offset %llu", (unsigned long long)losses->first_offset);
	rep_text_put(&text, "; the rest was read (trace info counts what was lost)");
	cli_print_note(path, rep_text_string(&text));
	rep_text_release(&text);
}

enum hg_status cli_report_trace_info(struct cli_run *run, struct rep_trace_context *context)
{
	(void)run;
	return hg_trace_header(context->trace)->format == HG_TRACE_SPACETIME
		       ? rep_trace_series(context)
		       : rep_trace_info(context);
}

enum hg_status cli_report_trace(struct cli_run *run, cli_trace_fn *report)
{
	const char *path = run->operands[0];
	struct hg_trace_options options = {.size = sizeof(options), .strict = run->values.strict};
	struct rep_trace_context context = {
		.session = run->session, .emitter = &run->emitter, .error = &run->error};
	enum hg_status status = hg_trace_open(run->session, path, &options, &context.trace);
	if (status != HG_OK)
		return cli_library_failed(run, status);
	status = cli_filter_trace(run, &context);
	if (status == HG_OK)
		status = report(run, &context);
	cli_progress_end(&run->progress);
	if (status == HG_OK && context.lost) {
		say_what_was_lost(path, &context.losses);
		run->partial = true;
	}
	hg_trace_close(context.trace);
	return status;
}

enum hg_status cli_with_trace(struct cli_run *run, cli_trace_fn *report)
{
	BASE_TRY(cli_begin(run));
	return cli_report_trace(run, report);
}
