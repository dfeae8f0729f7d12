/*
 * Which .cmt, .cmti and .cmi files there are.
 */
#ifndef RETYPE_LEGACY_FILES_H
#define RETYPE_LEGACY_FILES_H

#include "retype/legacy/reader.h"

/* The root of files below the current folder: nobody said that they are of the program. */
#define CMT_BY_CHANCE UINT32_MAX

/* A file by the unit it is of, as its name tells. */
struct cmt_file {
	const char *path;
	const char *stem; /* without folder and suffix */
	enum cmt_suffix { CMT_CMT, CMT_CMTI, CMT_CMI } suffix;
	uint64_t device, inode;
	uint32_t root; /* which of the folders that were searched; the first ones go before */
	enum { CMT_UNREAD, CMT_READ, CMT_UNUSABLE } state;
	uint32_t unit;
};

/* Lists the files of the folders given, beside the snapshot, and of the current folder. */
enum hg_status cmt_find_files(struct cmt_reader *r, const char *const *directories, size_t count);

/* Whether a name and the 'length' bytes of another are those of the same module. */
bool cmt_same_module(const char *a, const char *b, size_t length);

/* "FILE tells no types: MESSAGE, at offset N" among the notes of the snapshot, up to some. */
enum hg_status cmt_note(
	struct cmt_reader *r, const char *path, uint64_t offset, const char *message);

#endif
