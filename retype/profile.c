#include "retype/profile.h"

#include "retype/types.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum hg_status retype_open_profile(
	const struct snap *snap, const char *named, struct base_file *file, struct hg_error *error)
{
	return base_file_open(file, named, &snap->session->unpack, error);
}

static enum hg_status judge(void *data, const uint8_t *bytes, size_t size, struct hg_error *error)
{
	(void)data;
	return retype_is_hgprof(bytes, size) ? HG_OK : base_corrupt(error, 0, "is no profile");
}

/* Whether there is a profile of that name; it is open then.  'other' is one that is none. */
static bool try_file(const struct snap *snap, const char *path, struct base_file *file, char *other)
{
	struct hg_error unread;
	if (access(path, R_OK) != 0)
		return false;
	base_error_clear(&unread);
	if (!other[0])
		snprintf(other, PATH_MAX, "%s", path);
	return base_file_open_judged(file, path, &snap->session->unpack, judge, NULL, &unread) ==
	       HG_OK;
}

static bool try_folder(const struct snap *snap, const char *folder, const char *program,
	struct base_file *file, char *path, char *other)
{
	static const char *const ends[] = {".prof", ".prof.zst"};
	const char *names[2] = {"exe", program};
	for (unsigned name = 0; name < 2; name++)
		for (unsigned end = 0; end < 2; end++) {
			const char *slash = strcmp(folder, ".") == 0 ? "" : "/";
			int length = snprintf(path, PATH_MAX, "%s%s%s%s", *slash ? folder : "",
				slash, names[name], ends[end]);
			if (names[name][0] && length > 0 && length < PATH_MAX &&
				try_file(snap, path, file, other))
				return true;
		}
	return false;
}

enum hg_status retype_find_profile(const struct snap *snap, struct base_pool *pool,
	struct base_file *file, const char **path, const char **note, struct hg_error *error)
{
	char folders[3][PATH_MAX], found[PATH_MAX], other[PATH_MAX] = "", text[PATH_MAX + 512];
	const char *program = base_file_name(snap->program);
	unsigned count = 0;
	*path = *note = "";
	if (snap->session->no_host_files) {
		*note = SNAP_NO_PROFILE_LOOKED_FOR;
		return HG_OK;
	}
	if (snap->session->no_host_files) {
		*note = SNAP_NO_PROFILE_LOOKED_FOR;
		return HG_OK;
	}
	base_file_folder(snap->path, folders[count++], PATH_MAX);
	if (snap->executable[0])
		base_file_folder(snap->executable, folders[count++], PATH_MAX);
	snprintf(folders[count++], PATH_MAX, ".");
	for (unsigned i = 0; i < count; i++)
		if (try_folder(snap, folders[i], program, file, found, other))
			return base_pool_string(pool, found, strlen(found), path, error);
	int length = 0;
	if (other[0])
		length = snprintf(text, sizeof(text),
			"none: %s is not of heapgraph-prof; name one that is with --prof", other);
	else
		length = snprintf(text, sizeof(text),
			"none: no exe.prof%s%.200s%s beside the snapshot%s or in the current "
			"folder; make "
			"it with heapgraph-prof, name it with --prof",
			*program ? " or " : "", program, *program ? ".prof" : "",
			snap->executable[0] ? ", beside the program" : "");
	return base_pool_string(pool, text, (uint64_t)length, note, error);
}
