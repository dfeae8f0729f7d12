/*
 * A profile that nobody named is looked for in a few folders, by a few names; what looks like one
 * and is none is remembered, so that the reason can say so.
 */
#include "retype/profile/profile.h"

#include "base/folder.h"
#include "retype/profile/hgprof.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Files with the name of a profile that are none, or cannot be read: the first of each. */
struct attempt {
	const struct snap *snap;
	char other[PATH_MAX];
	struct hg_error error;
};

enum hg_status retype_open_profile(
	const struct snap *snap, const char *named, struct base_file *file, struct hg_error *error)
{
	return base_file_open(file, named, &snap->session->unpack, error);
}

static enum hg_status judge(void *data, const uint8_t *bytes, size_t size, struct hg_error *error)
{
	bool *is_other = data;
	*is_other = !retype_is_hgprof(bytes, size);
	return *is_other ? base_corrupt(error, 0, "is no profile") : HG_OK;
}

/* Whether there is a profile of that name; it is open then. */
static bool try_file(struct attempt *attempt, const char *path, struct base_file *file)
{
	struct stat about;
	bool is_there;
	struct hg_error error;
	base_error_clear(&error);
	enum hg_status status = base_look_at(path, &about, &is_there, &error);
	if (status == HG_OK && !is_there)
		return false;
	if (!attempt->other[0])
		snprintf(attempt->other, sizeof(attempt->other), "%s", path);
	bool is_other = false;
	if (status == HG_OK)
		status = base_file_open_judged(
			file, path, &attempt->snap->session->unpack, judge, &is_other, &error);
	if (status != HG_OK && !is_other &&
		(attempt->error.status == HG_OK || status == HG_ERROR_LIMIT))
		attempt->error = error;
	return status == HG_OK;
}

static bool try_folder(struct attempt *attempt, const char *folder, const char *program,
	struct base_file *file, char *path)
{
	static const char *const ends[] = {".prof", ".prof.zst"};
	const char *names[2] = {"exe", program};
	for (unsigned name = 0; name < 2; name++)
		for (unsigned end = 0; end < 2; end++) {
			const char *slash = strcmp(folder, ".") == 0 ? "" : "/";
			int length = snprintf(path, PATH_MAX, "%s%s%s%s", *slash ? folder : "",
				slash, names[name], ends[end]);
			if (names[name][0] && length > 0 && length < PATH_MAX &&
				try_file(attempt, path, file))
				return true;
		}
	return false;
}

enum hg_status retype_find_profile(const struct snap *snap, struct base_pool *pool,
	struct base_file *file, const char **path, enum hg_type_state *state, const char **reason,
	struct hg_error *error)
{
	char folders[3][PATH_MAX], found[PATH_MAX], text[PATH_MAX + 1024];
	struct attempt attempt = {.snap = snap};
	const char *program = base_file_name(snap->program);
	unsigned count = 0;
	*path = *reason = "";
	*state = HG_TYPES_ABSENT;
	if (snap->session->no_host_files) {
		*reason = SNAP_NO_PROFILE_LOOKED_FOR;
		return HG_OK;
	}
	base_file_folder(snap->path, folders[count++], PATH_MAX);
	if (snap->executable[0])
		base_file_folder(snap->executable, folders[count++], PATH_MAX);
	snprintf(folders[count++], PATH_MAX, ".");
	for (unsigned i = 0; i < count; i++)
		if (try_folder(&attempt, folders[i], program, file, found))
			return base_pool_string(pool, found, strlen(found), path, error);
	if (attempt.error.status == HG_ERROR_LIMIT) {
		*error = attempt.error;
		return HG_ERROR_LIMIT;
	}
	int length = 0;
	if (attempt.error.status != HG_OK || attempt.other[0])
		*state = HG_TYPES_REFUSED;
	if (attempt.error.status != HG_OK)
		length = snprintf(
			text, sizeof(text), "%s %s", attempt.error.file, attempt.error.message);
	else if (attempt.other[0])
		length = snprintf(text, sizeof(text),
			"%s is not of heapgraph-prof; name one that is with --prof", attempt.other);
	else
		length = snprintf(text, sizeof(text),
			"no exe.prof%s%.200s%s beside the snapshot%s or in the current folder; "
			"make it with heapgraph-prof, name it with --prof",
			*program ? " or " : "", program, *program ? ".prof" : "",
			snap->executable[0] ? ", beside the program" : "");
	return base_pool_string(pool, text, (uint64_t)length, reason, error);
}
