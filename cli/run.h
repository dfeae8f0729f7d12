/*
 * A verb at work: its entry in the table of verbs, and what it has at hand when it runs.
 */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/options.h"
#include "cli/progress.h"
#include "cli/sink.h"
#include "report/report.h"

/* Exit codes; documented in the manual page. */
enum cli_exit {
	CLI_EXIT_FINE = 0,
	CLI_EXIT_CHECK = 1, /* a check said no */
	CLI_EXIT_USAGE = 2,
	CLI_EXIT_INPUT = 3,
	CLI_EXIT_PARTIAL = 4,
	CLI_EXIT_RESOURCE = 5, /* memory, or output that cannot be written */
	CLI_EXIT_INTERNAL = 70,
	CLI_EXIT_CANCELLED = 130
};

struct cli_run;

/* What completion offers for an operand. */
enum cli_operand { CLI_OPERAND_SNAPSHOT, CLI_OPERAND_VERB, CLI_OPERAND_SHELL };

/* What the report itself tells, so that standard error need not. */
enum cli_tells { CLI_TELLS_TYPES = 1, CLI_TELLS_LOCATIONS = 2 };

struct cli_verb {
	const char *name;
	const char *operands; /* as help writes them */
	int min_operands, max_operands;
	enum cli_operand operand_kind;
	const char *summary;                    /* a line without full stop */
	const char *description;                /* sentences; a blank line between paragraphs */
	const struct cli_option *const *tables; /* NULL at the end */
	unsigned tells;                         /* of enum cli_tells */
	const char *const *extensions; /* of -o, besides those of --format; NULL at the end */
	bool hidden;                   /* not in lists */
	/* Returns HG_OK or what went wrong, described in run->error. */
	enum hg_status (*run)(struct cli_run *run);
};

struct cli_run {
	const struct cli_verb *verb;
	struct cli_values values;
	const char **operands;
	int operand_count;

	const char *types, *locations; /* of --prof, by what the files are; NULL */
	const char *extension;         /* of -o, if it is one of the verb's own; else NULL */

	struct hg_error error;
	struct hg_session *session;
	struct cli_progress progress;
	struct cli_sink sink;
	struct rep_emitter emitter;
	struct rep_text words;      /* of the context */
	struct rep_context context; /* of the session, emitter and error above */
	bool in_series;             /* snapshots are opened to be compared */
	bool partial;               /* an input was cut short */
	bool has_exit;              /* the exit code is that of a program that was run */
	int exit;
	enum hg_status incomplete; /* HG_OK, or what 'error' says of a snapshot that was closed */
	bool keep_output;          /* what was written is an answer in spite of the failure */
};

/* Tables of options that verbs share. */
extern const struct cli_option cli_input_options[];  /* --prof, --as, --partial */
extern const struct cli_option cli_work_options[];   /* --threads, --max-memory, --progress */
extern const struct cli_option cli_format_options[]; /* --format */
extern const struct cli_option cli_output_options[]; /* -o */
/* The same where a chart can be drawn, and the extensions that it then has. */
extern const struct cli_option cli_chart_options[];
extern const char *const cli_chart_extensions[];
extern const struct cli_option cli_limit_options[];  /* --limit */
extern const struct cli_option cli_weight_options[]; /* --weight */
extern const struct cli_option cli_help_options[];   /* --help; of every verb */

const char *cli_key_choice(unsigned index); /* names of enum hg_key */

/* --by, or types if the snapshot (and the other one, unless NULL) has them, else locations. */
enum hg_key cli_key(const struct cli_run *run, const struct hg_snapshot *other);

/*
 * Runs a verb with options and operands already read: session, output, errors, exit code.
 * Only the verb, values and operands of 'run' are set.
 */
int cli_execute(struct cli_run *run);

/* Opens a session and what the report is written to; verbs about snapshots begin with it. */
enum hg_status cli_begin(struct cli_run *run);

/* Opens, and analyses unless told otherwise; the result becomes context.snapshot. */
enum hg_status cli_open(struct cli_run *run, const char *path, bool analyse);
/* cli_begin() and cli_open() of the only operand. */
enum hg_status cli_begin_with_snapshot(struct cli_run *run);
/* Closes context.snapshot and leaves 'next' in its place. */
void cli_close(struct cli_run *run, struct hg_snapshot *next);

/* Takes over the session's error. */
enum hg_status cli_library_failed(struct cli_run *run, enum hg_status status);
enum hg_status cli_usage_error(struct cli_run *run, const char *format, ...) BASE_PRINTF(2, 3);

/* What --sort takes: a table of the verb, whose names are the choice; no name ends it. */
struct cli_column {
	const char *name;
	enum rep_sort sort;
};
enum rep_sort cli_sort(const struct cli_run *run, const struct cli_column *columns);

/* --limit with its default: 'text_default' rows of text, everything for machines. */
uint64_t cli_limit(const struct cli_run *run, uint64_t text_default);
/* Whether the writer that --format names writes for people. */
bool cli_for_people(const struct cli_run *run);
/* Any other number with its default. */
uint64_t cli_number(uint64_t value, uint64_t fallback);

/* The node that a pattern of --from selects; of several, the one that retains most. */
enum hg_status cli_from_node(struct cli_run *run, hg_node *node);

/* "heapgraph: FILE: message, at offset N" on stderr, in one line. */
void cli_print_error(const struct hg_error *error);
/* On stderr, of a snapshot that is partial, for what is no table and has no place to say it. */
void cli_say_partial(const struct hg_info *info);
/* The same of a profile over time of which something was lost. */
void cli_say_losses(const char *path, const struct hg_trace_losses *losses);
/* "heapgraph: FILE: message" about something that is no failure. */
void cli_print_note(const char *file, const char *message);

#endif
