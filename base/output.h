/*
 * Output files that appear whole or not at all: until then they have no name, where the file system
 * can do that (O_TMPFILE), so that nothing is left of one whose writer is killed; else they have a
 * temporary one in the same folder.
 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

struct base_output {
	FILE *stream;
	char *path;
	char *temporary; /* "" while there is none */
	bool is_private; /* a new file is for its owner only; to be set before the commit */
};

/* The path is copied.  A file of that name that is there is kept until the commit. */
enum hg_status base_output_open(
	struct base_output *output, const char *path, struct hg_error *error);

/*
 * Flushes, syncs, and gives the file its name.  One that replaces another of the same owner has its
 * mode, others what the umask leaves of 0666, or 0600.  On failure (a full disk) the output is
 * abandoned.
 */
enum hg_status base_output_commit(struct base_output *output, struct hg_error *error);
void base_output_abandon(struct base_output *output);

#endif
