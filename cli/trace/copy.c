/* The verbs trace subsample and trace anonymise. */
#include "cli/trace/trace.h"

static bool write_copied_bytes(void *stream, const char *bytes, size_t length)
{
	return fwrite(bytes, 1, length, stream) == length;
}

static enum hg_status copy_trace(struct cli_run *run, struct rep_trace_context *context,
	const struct hg_trace_copy_options *options)
{
	enum hg_status status =
		hg_copy_trace(context->trace, options, write_copied_bytes, run->sink.stream);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	rep_trace_note(context, hg_trace_last_losses(context->trace));
	return HG_OK;
}

static enum hg_status report_subsample(struct cli_run *run, struct rep_trace_context *context)
{
	struct hg_trace_copy_options options = {.size = sizeof(options),
		.one_in = cli_number(run->values.one_in, 1),
		.seed = cli_number(run->values.seed, 1)};
	return copy_trace(run, context, &options);
}

static enum hg_status run_trace_subsample(struct cli_run *run)
{
	if (run->values.one_in == 0)
		return base_fail(&run->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"--one-in: '0' is not a number from 1 on");
	return cli_with_trace(run, report_subsample);
}

static enum hg_status report_anonymise(struct cli_run *run, struct rep_trace_context *context)
{
	struct hg_trace_copy_options options = {
		.size = sizeof(options), .one_in = 1, .anonymous = true};
	return copy_trace(run, context, &options);
}

static enum hg_status run_trace_anonymise(struct cli_run *run)
{
	return cli_with_trace(run, report_anonymise);
}

static const struct cli_option subsample_options[] = {
	{"one-in", 0, CLI_NUMBER, offsetof(struct cli_values, one_in), "K", NULL,
		"keep each sample with probability 1 / K: default 1, all"},
	{"seed", 0, CLI_NUMBER, offsetof(struct cli_values, seed), "N", NULL,
		"which samples: the same number keeps the same ones (default 1)"},
	{0},
};

static const struct cli_option *const subsample_tables[] = {subsample_options,
	cli_trace_filter_options, cli_trace_options, cli_output_options, cli_work_options,
	cli_help_options, NULL};

static const struct cli_option *const anonymise_tables[] = {cli_trace_filter_options,
	cli_trace_options, cli_output_options, cli_work_options, cli_help_options, NULL};

static const char *const extensions[] = {"ctf", NULL};

const struct cli_verb cli_verb_trace_subsample = {
	.name = "trace subsample",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "a smaller memtrace trace: some samples, or a part",
	.description =
		"Writes a trace with fewer samples, and a rate that says so: estimates stay what "
		"they are, with larger errors.  The options that say what counts say what is "
		"written: --allocated keeps a span of time.  Blocks are numbered anew.  Where the "
		"backtrace does not tell the place of allocation, it is <unknown>.",
	.tables = subsample_tables,
	.extensions = extensions,
	.run = run_trace_subsample,
};

const struct cli_verb cli_verb_trace_anonymise = {
	.name = "trace anonymise",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "a memtrace trace that does not tell whose program it is",
	.description =
		"Writes a trace with all events and sizes, but without backtraces, names of "
		"program and host, context, process and time of day.  What the runtime parameters "
		"say stays.",
	.tables = anonymise_tables,
	.extensions = extensions,
	.run = run_trace_anonymise,
};
