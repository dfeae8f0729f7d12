/* The verbs trace sites and trace functions. */
#include "cli/trace/trace.h"

static enum hg_status report_trace_sites(struct cli_run *run, struct rep_trace_context *context)
{
	const struct hg_spacetime_choice choice = cli_read_series_moment(run->values.at);
	if (hg_trace_header(context->trace)->format == HG_TRACE_SPACETIME)
		return rep_series_sites(context, &choice, cli_limit(run, 20));
	return rep_trace_rows(context, HG_TRACE_BY_LOCATION, cli_limit(run, 20));
}

static enum hg_status report_trace_functions(struct cli_run *run, struct rep_trace_context *context)
{
	return rep_trace_rows(context, HG_TRACE_BY_FUNCTION, cli_limit(run, 20));
}

static enum hg_status run_trace_sites(struct cli_run *run)
{
	return cli_with_trace(run, report_trace_sites);
}

static enum hg_status run_trace_functions(struct cli_run *run)
{
	return cli_with_trace(run, report_trace_functions);
}

static const struct cli_option *const tables[] = {cli_limit_options, cli_trace_filter_options,
	cli_trace_options, cli_format_options, cli_output_options, cli_work_options,
	cli_help_options, NULL};

#define AMOUNTS                                                                                    \
	"allocated over the whole run, with the standard error of sampling (95 % lie within "      \
	"twice that), still alive at the end, alive when most was, and promoted to the major heap"

const struct cli_verb cli_verb_trace_sites = {
	.name = "trace sites",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "where a trace allocates: bytes by location",
	.description =
		"One row for each location, function@file:line:start-end, where blocks were "
		"allocated: bytes " AMOUNTS ".  Where the trace does not tell the innermost call, "
		"as the writer cut the backtrace short, there is a row without a name.  Of a "
		"series of Spacetime it is what 'trace top' prints, where --at is a snapshot.",
	.tables = tables,
	.run = run_trace_sites,
};

const struct cli_verb cli_verb_trace_functions = {
	.name = "trace functions",
	.operands = "TRACE",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "what functions of a memtrace trace allocate, with all below",
	.description =
		"One row for each function, with all that it calls, recursion counted once: "
		"bytes " AMOUNTS ".  Every sample is counted; none is left out for being rare.",
	.tables = tables,
	.run = run_trace_functions,
};
