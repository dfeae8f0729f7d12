/*
 * What is in a folder, and whether something is there at all.  Not to be there, or not for this
 * user, is an answer; that the system had no memory or no descriptor left to look is a failure, as
 * what is there would be passed over.
 */
#ifndef BASE_FOLDER_H
#define BASE_FOLDER_H

#include "base/error.h"

#include <dirent.h>
#include <stdbool.h>
#include <sys/stat.h>

/* What is at a path; follows links. */
enum hg_status base_look_at(
	const char *path, struct stat *about, bool *is_there, struct hg_error *error);

struct base_folder {
	DIR *stream; /* NULL: there is none, or it cannot be read */
	const char *path;
};

/* 'path' is borrowed. */
enum hg_status base_folder_open(
	struct base_folder *folder, const char *path, struct hg_error *error);

/* *entry is NULL at the end. */
enum hg_status base_folder_next(
	struct base_folder *folder, struct dirent **entry, struct hg_error *error);
void base_folder_close(struct base_folder *folder);

/* Whether an entry is a folder, and no link to one. */
bool base_entry_is_folder(const struct dirent *entry, const char *path);

#endif
