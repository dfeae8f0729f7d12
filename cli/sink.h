/*
 * Where a report goes: standard output, or a file that appears whole or not at all.  Signals that
 * end the program remove the unfinished file first, where it needs a name.
 */
#ifndef CLI_SINK_H
#define CLI_SINK_H

#include "base/output.h"

enum cli_sink_kind {
	CLI_SINK_STANDARD, /* standard output */
	CLI_SINK_DEVICE,   /* or a pipe: written to as it is */
	CLI_SINK_FILE      /* appears whole or not at all */
};

struct cli_sink {
	enum cli_sink_kind kind;
	FILE *stream;            /* NULL: not open */
	struct base_output file; /* of CLI_SINK_FILE */
	const char *name;        /* for messages; borrowed */
};

/*
 * Fills the places of standard input, output and error that are closed, so that no file takes them:
 * what is printed would land in it.  Reading and writing there fails as before, and programs that
 * are run have them closed.  Before any file is opened.
 */
void cli_standard_files_init(void);

/* Installs the handlers of signals; once, at the start of the program. */
void cli_signals_init(void);

/* 'path' NULL or "-" is standard output.  Fails with HG_ERROR_OUTPUT. */
enum hg_status cli_sink_open(struct cli_sink *sink, const char *path, struct hg_error *error);

/* Whether two names are of one file, which may be one that is not there yet; of devices never. */
bool cli_same_file(const char *one, const char *other);

/* Writes what is left and closes; every failure to write so far is reported here. */
enum hg_status cli_sink_commit(struct cli_sink *sink, struct hg_error *error);

/* Removes what a file has on its way, from a handler of signals. */
void cli_sink_remove_now(void);

/* Closes without a trace as far as that is possible. */
void cli_sink_abandon(struct cli_sink *sink);

/* Whether the reader of a pipe went away, which ends the program without a word. */
bool cli_reader_gone(void);

#endif
