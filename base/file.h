/*
 * Files: read-only mappings of input, and output that appears whole or not at all.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

/* The bytes of a regular file.  A zstd-compressed one is held decompressed. */
struct base_file {
	const uint8_t *bytes; /* never NULL while open */
	size_t size;
	bool compressed;
};

/*
 * Maps 'path'.  Directories, FIFOs, devices and unreadable files are HG_ERROR_INPUT; the error
 * names the file.  A file that begins with the zstd magic is decompressed into an unlinked
 * temporary file (in $TMPDIR, else /tmp; blocks of zeros become holes), of at most 'max_size' bytes
 * when that is not 0, and that one is mapped.
 */
enum hg_status base_file_open(
	struct base_file *file, const char *path, uint64_t max_size, struct hg_error *error);
void base_file_close(struct base_file *file);

/* Advice for the pages of the mapping: about to be read from start to end, or at random. */
void base_file_sequential(const struct base_file *file);

/* What a path names, for messages: "a directory", "a FIFO", ...; NULL for a regular file. */
enum hg_status base_file_kind(const char *path, const char **kind, struct hg_error *error);

/* What stands behind the last slash of a path: a part of it. */
const char *base_file_name(const char *path);

/* The folder that a path is in, "." if it names none; cut if it has 'size' characters or more. */
void base_file_folder(const char *path, char *folder, size_t size);

/*
 * An output file under a temporary name in the same folder until base_output_commit() gives it its
 * own; base_output_abandon() removes it.  Not committed means not there: a file of that name that
 * existed before is kept until then.
 */
struct base_output {
	FILE *stream;
	char *path;
	char *temporary;
};

enum hg_status base_output_open(
	struct base_output *output, const char *path, struct hg_error *error);

/* Flushes, syncs, renames.  On failure (a full disk) the output is abandoned. */
enum hg_status base_output_commit(struct base_output *output, struct hg_error *error);
void base_output_abandon(struct base_output *output);

#endif
