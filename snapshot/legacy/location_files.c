/*
 * Finds the file that says what location ids mean: named by the user, or beside the snapshot by
 * program name or pid, then in the current folder, for 0.1 as its profiler looked there (*.prof,
 * three levels deep).  One of another name is used only if it has the ids of all blocks.  Two
 * sources are never merged.
 */
#include "snapshot/legacy/location_files.h"

#include "base/folder.h"
#include "snapshot/legacy/location_source.h"
#include "snapshot/walk.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH = 3 };

/* What is looked for, and what has been met of it. */
struct search {
	char wanted[NAME_MAX + 1]; /* base name that fits this snapshot */
	const char *suffix;        /* files of this kind, or NULL if only 'wanted' will do */
	char found[PATH_MAX];      /* path of a file named 'wanted' */
	char other[PATH_MAX];      /* of one that only has the suffix */
	unsigned others;
	struct stat other_file; /* which it is: a folder may be looked at twice */
};

static bool join(char *out, const char *folder, const char *name)
{
	int length = strcmp(folder, ".") == 0 ? snprintf(out, PATH_MAX, "%s", name)
					      : snprintf(out, PATH_MAX, "%s/%s", folder, name);
	return length > 0 && length < PATH_MAX;
}

static bool ends_with(const char *name, const char *suffix)
{
	size_t length = strlen(name), tail = strlen(suffix);
	return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static enum hg_status look_at(
	struct search *search, const char *path, const char *name, struct hg_error *error)
{
	struct stat about;
	bool is_there;
	bool wanted = strcmp(name, search->wanted) == 0;
	if (!wanted && !(search->suffix && ends_with(name, search->suffix)))
		return HG_OK;
	BASE_TRY(base_look_at(path, &about, &is_there, error));
	if (!is_there || !S_ISREG(about.st_mode))
		return HG_OK;
	if (wanted) {
		/* Folders are read in any order: the first by name is chosen. */
		if (!search->found[0] || strcmp(path, search->found) < 0)
			snprintf(search->found, sizeof(search->found), "%s", path);
	} else if (!(search->others && about.st_ino == search->other_file.st_ino &&
			   about.st_dev == search->other_file.st_dev)) {
		search->others++;
		search->other_file = about;
		snprintf(search->other, sizeof(search->other), "%s", path);
	}
	return HG_OK;
}

/* Looks at the files of a folder; 'levels' more below it. */
static enum hg_status look_in(
	struct search *search, const char *name, unsigned levels, struct hg_error *error)
{
	struct base_folder folder;
	struct dirent *entry = NULL;
	BASE_TRY(base_folder_open(&folder, name, error));
	enum hg_status status = base_folder_next(&folder, &entry, error);
	while (status == HG_OK && entry) {
		char path[PATH_MAX];
		if (entry->d_name[0] != '.' && join(path, name, entry->d_name)) {
			status = look_at(search, path, entry->d_name, error);
			if (status == HG_OK && levels && base_entry_is_folder(entry, path))
				status = look_in(search, path, levels - 1, error);
		}
		if (status == HG_OK)
			status = base_folder_next(&folder, &entry, error);
	}
	base_folder_close(&folder);
	return status;
}

/* Without a pid, as in a file that was renamed, any file with the suffix will do. */
static void wanted_by_pid(const struct snap *snap, struct search *search, const char *suffix)
{
	size_t size = sizeof(search->wanted);
	if (snap->pid == HG_UNKNOWN) {
		search->suffix = suffix;
		snprintf(search->wanted, size, "memprof.PID%s", suffix);
	} else {
		snprintf(search->wanted, size, "memprof.%llu%s", (unsigned long long)snap->pid,
			suffix);
	}
}

/* The linker of 0.1 lower-cased the whole output name. */
static void wanted_name(const struct snap *snap, struct search *search)
{
	const char *slash = strrchr(snap->program, '/');
	const char *program = slash ? slash + 1 : snap->program;
	size_t size = sizeof(search->wanted);
	switch (snap->format->ids) {
	case SNAP_IDS_NONE:
		break;
	case SNAP_IDS_MEMPROF01:
		search->suffix = ".prof";
		snprintf(search->wanted, size, "%.200s.prof", program);
		for (char *c = search->wanted; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		break;
	case SNAP_IDS_MEMPROF02:
		wanted_by_pid(snap, search, ".locations");
		break;
	case SNAP_IDS_OCP2014:
		wanted_by_pid(snap, search, ".process_info");
		break;
	}
}

static enum hg_status keep_note(struct snap *snap, struct hg_error *error, const char *beginning,
	const char *format, va_list arguments)
{
	char text[2 * PATH_MAX];
	size_t begun = strlen(beginning);
	memcpy(text, beginning, begun);
	int length = vsnprintf(text + begun, sizeof(text) - begun, format, arguments);
	size_t size = length < 0 ? begun : begun + (size_t)length;
	if (size >= sizeof(text))
		size = sizeof(text) - 1;
	return base_pool_string(&snap->pool, text, size, &snap->profile_note, error);
}

static enum hg_status note_none(struct snap *snap, struct hg_error *error, const char *format, ...)
	BASE_PRINTF(3, 4);

/* Why there is no source. */
static enum hg_status note_none(struct snap *snap, struct hg_error *error, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	enum hg_status status = keep_note(snap, error, "none: ", format, arguments);
	va_end(arguments);
	return status;
}

static enum hg_status note_odd(struct snap *snap, struct hg_error *error, const char *format, ...)
	BASE_PRINTF(3, 4);

/* What is odd about the source. */
static enum hg_status note_odd(struct snap *snap, struct hg_error *error, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	enum hg_status status = keep_note(snap, error, "", format, arguments);
	va_end(arguments);
	return status;
}

/*
 * The path of the source, or "" and a note that says why there is none.  'is_stray': nothing but
 * its suffix says that it is this program's.
 */
static enum hg_status discover(
	struct snap *snap, char *path, bool *is_stray, struct hg_error *error)
{
	struct search search = {0};
	char folder[PATH_MAX];
	path[0] = '\0';
	if (snap->session->no_host_files)
		return note_none(snap, error, "%s", SNAP_NO_PROFILE_LOOKED_FOR);
	base_file_folder(snap->path, folder, PATH_MAX);
	wanted_name(snap, &search);
	BASE_TRY(look_in(&search, folder, 0, error));
	if (!search.found[0])
		BASE_TRY(look_in(&search, ".",
			snap->format->ids == SNAP_IDS_MEMPROF01 ? DEPTH - 1 : 0, error));
	*is_stray = !search.found[0];
	if (search.found[0]) {
		memcpy(path, search.found, PATH_MAX);
		return HG_OK;
	}
	if (search.others == 1) {
		memcpy(path, search.other, PATH_MAX);
		return note_odd(
			snap, error, "the only one found; the program is '%s'", snap->program);
	}
	if (search.others)
		return note_none(snap, error,
			"no %s, but several other %s files; name one with --prof", search.wanted,
			search.suffix);
	return note_none(snap, error,
		"no %s beside the snapshot or in the current folder; name one with --prof",
		search.wanted);
}

static enum hg_status read_profile(struct snap *snap, const char *path, struct hg_error *error)
{
	struct base_file file;
	BASE_TRY(base_file_open(&file, path, &snap->session->unpack, error));
	enum hg_status status = snap_source_load(
		&snap->locations, snap->format->ids, snap->native, file.bytes, file.size, error);
	base_file_close(&file);
	if (status != HG_OK) {
		base_error_file(error, path);
		return status;
	}
	return base_pool_string(&snap->pool, path, strlen(path), &snap->profile, error);
}

/* Blocks with ids of locations, and those of them whose ids the source does not have. */
struct tally {
	uint64_t blocks, strangers;
};

static enum hg_status count_strangers(
	const struct snap *snap, struct tally *tally, struct hg_error *error)
{
	struct snap_walk walk;
	struct snap_run run;
	struct snap_cell cell;
	*tally = (struct tally){0};
	BASE_TRY(snap_walk_init(&walk, snap, error));
	snap_walk_range(&walk, 0, snap->entry_count);
	while (snap_walk_next(&walk, &run)) {
		struct snap_scan scan = snap_scan_run(snap, &run);
		while (snap_scan_next(&scan, &cell)) {
			uint32_t id = snap_header_reserved(cell.header, snap->reserved);
			tally->blocks++;
			tally->strangers += id && !snap_locations_know(&snap->locations, id);
		}
	}
	snap_walk_release(&walk);
	return HG_OK;
}

static enum hg_status forget(struct snap *snap, struct hg_error *error)
{
	snap_locations_release(&snap->locations);
	snap->profile = "";
	return snap_source_init(&snap->locations, snap->format->ids, snap->native, error);
}

/*
 * A source of another name may be that of the same program, renamed: then it has the ids of all
 * blocks.  Those of other programs lack most of them, but not all: the compilers of 0.1 drew the
 * ids of equal units alike, and 0.2 and OCP count from the same number.
 */
static enum hg_status drop_foreign(struct snap *snap, const char *path, struct hg_error *error)
{
	struct tally tally;
	BASE_TRY(count_strangers(snap, &tally, error));
	if (!tally.strangers)
		return HG_OK;
	BASE_TRY(forget(snap, error));
	return note_none(snap, error,
		"%s is of another program: of %llu blocks it lacks the ids of %llu; name one "
		"with --prof",
		path, (unsigned long long)tally.blocks, (unsigned long long)tally.strangers);
}

enum hg_status snap_load_location_file(struct snap *snap, const char *named, struct hg_error *error)
{
	char path[PATH_MAX];
	bool is_stray;
	BASE_TRY(snap_source_init(&snap->locations, snap->format->ids, snap->native, error));
	if (named)
		return read_profile(snap, named, error);
	BASE_TRY(discover(snap, path, &is_stray, error));
	if (!path[0])
		return HG_OK;
	struct hg_error trouble;
	base_error_clear(&trouble);
	enum hg_status status = read_profile(snap, path, &trouble);
	/* What the file says is at an offset; a want of memory is not. */
	bool is_unusable = status == HG_ERROR_INPUT ||
			   (status == HG_ERROR_LIMIT && trouble.offset != HG_NO_OFFSET);
	if (status == HG_OK)
		return is_stray ? drop_foreign(snap, path, error) : HG_OK;
	if (!is_unusable) {
		*error = trouble;
		return status;
	}
	/* A file nobody named must not keep the snapshot from being read. */
	BASE_TRY(forget(snap, error));
	return note_none(snap, error, "%s is unusable: %s", path, trouble.message);
}
