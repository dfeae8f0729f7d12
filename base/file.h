/*
 * Files of input: read-only mappings.
 *
 * A mapped file that somebody cuts short meanwhile has no bytes any more where it is read: that is
 * a SIGBUS, which the command handles (cli/fault.h) and the library leaves to its host.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/unpack.h"

#include <sys/stat.h>

/* The bytes of a regular file.  A zstd-compressed one is held decompressed. */
struct base_file {
	const uint8_t *bytes; /* never NULL while open */
	size_t size;
	bool compressed;

	/* The file as it was when it was opened: for base_file_check(). */
	dev_t device;
	ino_t inode;
	uint64_t stored_size;
	struct timespec changed;
};

/*
 * Maps 'path'.  Directories, FIFOs, devices and unreadable files are HG_ERROR_INPUT, and are not
 * opened at all; the error names the file.  A file that begins with the zstd magic is decompressed
 * aside (unpack.h, where 'limits' and 'judge' are explained; both may be NULL).  The judge sees the
 * whole of a file that is not compressed.
 */
enum hg_status base_file_open(struct base_file *file, const char *path,
	const struct base_unpack_limits *limits, struct hg_error *error);
enum hg_status base_file_open_judged(struct base_file *file, const char *path,
	const struct base_unpack_limits *limits, base_judge_fn *judge, void *judge_data,
	struct hg_error *error);
void base_file_close(struct base_file *file);

/*
 * Fails with HG_ERROR_INPUT if the file, that was opened as 'path', was cut or written to since:
 * what was read of it is then neither its old nor its new contents.
 */
enum hg_status base_file_check(
	const struct base_file *file, const char *path, struct hg_error *error);

/* Opens a regular file for reading, and nothing else; the caller closes it. */
enum hg_status base_file_descriptor(
	const char *path, int *fd, struct stat *about, struct hg_error *error);

/*
 * A descriptor of the very file that was opened as 'path', for reading what is mapped; the caller
 * closes it.  -1 if the file was compressed, or the path leads to another one now.
 */
int base_file_reopen(const struct base_file *file, const char *path);

/* Advice for the pages of the mapping: they are about to be read from start to end. */
void base_file_sequential(const struct base_file *file);

/* Advice too: a part from the start that has been read, and need not stay in memory. */
void base_file_forget(const struct base_file *file, uint64_t end);

/* What a path names, for messages: "directory", "FIFO", ...; NULL for a regular file. */
enum hg_status base_file_kind(const char *path, const char **kind, struct hg_error *error);

/* What stands after the last slash of a path: a part of it. */
const char *base_file_name(const char *path);

/* The folder that a path is in, "." if it names none; cut if it has 'size' characters or more. */
void base_file_folder(const char *path, char *folder, size_t size);

#endif
