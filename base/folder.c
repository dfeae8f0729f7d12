/* Folders, read entry by entry; what cannot be read is told from what is not there. */
#include "base/folder.h"

#include <errno.h>

static bool is_absence(int number)
{
	return !base_is_shortage(number) && number != EIO;
}

enum hg_status base_look_at(
	const char *path, struct stat *about, bool *is_there, struct hg_error *error)
{
	*is_there = stat(path, about) == 0;
	if (*is_there || is_absence(errno))
		return HG_OK;
	return base_system_failure(error, HG_ERROR_INPUT, path, "cannot be examined");
}

enum hg_status base_folder_open(
	struct base_folder *folder, const char *path, struct hg_error *error)
{
	*folder = (struct base_folder){.stream = opendir(path), .path = path};
	if (folder->stream || is_absence(errno))
		return HG_OK;
	return base_system_failure(error, HG_ERROR_INPUT, path, "cannot be read");
}

enum hg_status base_folder_next(
	struct base_folder *folder, struct dirent **entry, struct hg_error *error)
{
	errno = 0;
	*entry = folder->stream ? readdir(folder->stream) : NULL;
	if (*entry || errno == 0)
		return HG_OK;
	return base_system_failure(error, HG_ERROR_INPUT, folder->path, "cannot be read");
}

void base_folder_close(struct base_folder *folder)
{
	if (folder->stream)
		closedir(folder->stream);
	*folder = (struct base_folder){0};
}

/* File systems that do not tell the kinds of entries are asked for each. */
bool base_entry_is_folder(const struct dirent *entry, const char *path)
{
	struct stat about;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return lstat(path, &about) == 0 && S_ISDIR(about.st_mode);
}
