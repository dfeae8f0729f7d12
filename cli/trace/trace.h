/*
 * What the verbs about profiles over time share.
 */
#ifndef CLI_TRACE_TRACE_H
#define CLI_TRACE_TRACE_H

#include "cli/verbs.h"
#include "report/trace/trace.h"

extern const struct cli_option cli_trace_options[];        /* --strict */
extern const struct cli_option cli_trace_series_options[]; /* what is counted, --exe */
extern const struct cli_option cli_trace_filter_options[]; /* what counts */

/* The names of what is counted of places, for a choice of options: the first of what is of calls.
 */
cli_choice_fn cli_count_of_places;

/* A row of options. */
#define CLI_TRACE_MIN_SAMPLES                                                                      \
	{                                                                                          \
		"min-samples", 0, CLI_NUMBER, offsetof(struct cli_values, min_samples), "N", NULL, \
			"leave out what has fewer samples: default 1"                              \
	}

#define CLI_TRACE_EXE                                                                              \
	{                                                                                          \
		"exe", 0, CLI_FILE, offsetof(struct cli_values, executable), "FILE", NULL,         \
			"of a series of Spacetime, the program that wrote it: its symbols name C " \
			"functions and code without places"                                        \
	}

typedef enum hg_status cli_trace_fn(struct cli_run *run, struct rep_trace_context *context);

/*
 * Opens the only operand, has it reported, and says on stderr what of it was lost, for which the
 * exit code is CLI_EXIT_PARTIAL.
 */
enum hg_status cli_with_trace(struct cli_run *run, cli_trace_fn *report);
/* The same where the session and the output are open. */
enum hg_status cli_report_trace(struct cli_run *run, cli_trace_fn *report);

/*
 * Opens a file and sets what of it counts; 'program' may be NULL.  The context's trace is closed by
 * the caller, after failures too.
 */
enum hg_status cli_open_trace(struct cli_run *run, const char *path, const char *program,
	struct rep_trace_context *context);
/* After a report: what of the file was lost, if anything, for which the exit code is
 * CLI_EXIT_PARTIAL. */
void cli_say_what_was_lost(struct cli_run *run, const struct rep_trace_context *context);

/* The moment that a value of --at says; of NULL the end. */
enum hg_status cli_read_trace_moment(
	struct cli_run *run, const char *at, struct rep_trace_moment *moment);

/* The snapshot of a series that a value of --at says; of NULL the last. */
struct hg_spacetime_choice cli_read_series_moment(const char *at);

/* What the options ask of the calls of a series; 'usual' is counted if they do not say. */
struct hg_spacetime_view cli_read_series_view(
	const struct cli_run *run, enum hg_spacetime_count usual);
enum hg_status cli_report_series_callers(struct cli_run *run, struct rep_trace_context *context,
	const struct hg_spacetime_view *view, const struct hg_trace_callers_options *options);
/* Of traces of memtrace: HG_ERROR_USAGE if there are options of series. */
enum hg_status cli_check_no_view(struct cli_run *run);

/* Sets the filter that the options ask for, if any; of a series --at is no filter. */
enum hg_status cli_filter_trace(struct cli_run *run, struct rep_trace_context *context);

/* What the file is. */
enum hg_status cli_report_trace_info(struct cli_run *run, struct rep_trace_context *context);

#endif
