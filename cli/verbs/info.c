/* The verb info, also about files that no loader takes. */
#include "cli/trace/trace.h"
#include "cli/verbs.h"

/* Says what a file is although it cannot be read; returns the reason why it cannot. */
static enum hg_status identify_refused(struct cli_run *run, const char *path, enum hg_status status)
{
	struct hg_error reason = run->error;
	char identity[4096];
	enum hg_status identified = hg_identify(run->session, path, identity, sizeof(identity));
	if (identified == HG_ERROR_LIMIT)
		return cli_library_failed(run, identified);
	if (identified != HG_OK)
		return status;
	rep_info_refused(&run->context, path, identity, &reason);
	run->keep_output = true;
	return status;
}

static enum hg_status run_info(struct cli_run *run)
{
	const char *path = run->operands[0];
	BASE_TRY(cli_begin(run));
	if (run->values.as == CLI_UNSET && hg_is_trace(run->session, path))
		return cli_report_trace(run, cli_report_trace_info);
	enum hg_status status = cli_open(run, path, false);
	if (status == HG_ERROR_INPUT)
		return identify_refused(run, path, status);
	return status == HG_OK ? rep_info(&run->context) : status;
}

static const struct cli_option *const tables[] = {cli_format_options, cli_output_options,
	cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_info = {
	.name = "info",
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "what a file is: format, producer, header layout, roots by kind",
	.description =
		"Reads the file to its end without analysing it.  Of a file that is no snapshot "
		"heapgraph can read, it says what the file is and why it was refused (exit code "
		"3).  Of a trace it says what 'trace info' does.",
	.tables = tables,
	.tells = CLI_TELLS_LOCATIONS,
	.run = run_info,
};
