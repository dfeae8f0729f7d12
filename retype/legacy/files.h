#ifndef RETYPE_LEGACY_FILES_H
#define RETYPE_LEGACY_FILES_H

#include "retype/legacy/parts.h"

/* Lists the files of the folders given, beside the snapshot, and of the current folder. */
enum hg_status cmt_find_files(struct cmt_reader *r, const char *const *directories, size_t count);
enum hg_status cmt_look_in(struct cmt_reader *r, const char *folder, unsigned levels);

/* Whether a name and the 'length' bytes of another are those of the same module. */
bool cmt_same_module(const char *a, const char *b, size_t length);

/* "FILE tells no types: MESSAGE, at offset N" among the notes of the snapshot, up to some. */
enum hg_status cmt_note(
	struct cmt_reader *r, const char *path, uint64_t offset, const char *message);

#endif
