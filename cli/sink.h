/*
 * Where a report goes: standard output, or a file that appears whole or not at all.  Signals that
 * end the program remove the unfinished file first.
 */
#ifndef CLI_SINK_H
#define CLI_SINK_H

#include "base/file.h"

struct cli_sink {
	FILE *stream;
	struct base_output file; /* of a regular file */
	bool is_file, is_device;
	const char *name; /* for messages; borrowed */
};

/* Installs the handlers of signals; once, at the start of the program. */
void cli_signals_init(void);

/* 'path' NULL or "-" is standard output.  Fails with HG_ERROR_OUTPUT. */
enum hg_status cli_sink_open(struct cli_sink *sink, const char *path, struct hg_error *error);

/* Writes what is left and closes; every failure to write so far is reported here. */
enum hg_status cli_sink_commit(struct cli_sink *sink, struct hg_error *error);

/* Closes without a trace as far as that is possible. */
void cli_sink_abandon(struct cli_sink *sink);

/* Whether the reader of a pipe went away, which ends the program without a word. */
bool cli_reader_gone(void);

#endif
