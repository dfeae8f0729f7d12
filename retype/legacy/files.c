/*
 * The folders that are searched, in their order, and the notes about files that cannot be read.
 */
#include "retype/legacy/files.h"

#include "base/folder.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH = 4, MOST_FILES = 1 << 20 };

static const char *const suffixes[] = {
	[CMT_CMT] = ".cmt", [CMT_CMTI] = ".cmti", [CMT_CMI] = ".cmi"};

enum hg_status cmt_note(
	struct cmt_reader *r, const char *path, uint64_t offset, const char *message)
{
	struct snap *snap = r->snap;
	size_t room = sizeof(snap->notes) / sizeof(snap->notes[0]);
	char text[PATH_MAX + 600];
	if (r->notes >= CMT_MOST_NOTES || snap->note_count == room)
		return HG_OK;
	int length;
	if (++r->notes == CMT_MOST_NOTES)
		length = snprintf(text, sizeof(text), "more .cmt files cannot be used");
	else if (offset == HG_NO_OFFSET)
		length = snprintf(text, sizeof(text), "%s tells no types: %s", path, message);
	else
		length = snprintf(text, sizeof(text), "%s tells no types: %s, at offset %llu", path,
			message, (unsigned long long)offset);
	if (length < 0 || (size_t)length >= sizeof(text))
		length = (int)sizeof(text) - 1;
	return base_pool_string(
		&snap->pool, text, (uint64_t)length, &snap->notes[snap->note_count++], r->error);
}

static bool has_cmt_suffix(const char *name, enum cmt_suffix *suffix)
{
	size_t length = strlen(name);
	for (unsigned i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t tail = strlen(suffixes[i]);
		if (length > tail && strcmp(name + length - tail, suffixes[i]) == 0) {
			*suffix = (enum cmt_suffix)i;
			return true;
		}
	}
	return false;
}

static enum hg_status add_cmt_file(
	struct cmt_reader *r, const char *path, const char *name, enum cmt_suffix suffix)
{
	struct stat about;
	struct cmt_file file = {.suffix = suffix};
	bool is_there;
	BASE_TRY(base_look_at(path, &about, &is_there, r->error));
	if (!is_there || !S_ISREG(about.st_mode) || r->file_count >= MOST_FILES)
		return HG_OK;
	file.device = about.st_dev;
	file.inode = about.st_ino;
	size_t stem = strlen(name) - strlen(suffixes[suffix]);
	BASE_TRY(base_pool_string(r->pool, path, strlen(path), &file.path, r->error));
	BASE_TRY(base_pool_string(r->pool, name, stem, &file.stem, r->error));
	BASE_TRY(base_grow(
		&r->files, r->file_count, &r->file_capacity, sizeof(*r->files), r->error));
	r->files[r->file_count++] = file;
	return HG_OK;
}

static enum hg_status search_cmt_folder(struct cmt_reader *r, const char *folder, unsigned levels);

static enum hg_status look_at_entry(
	struct cmt_reader *r, const char *folder, const struct dirent *entry, unsigned levels)
{
	char path[PATH_MAX];
	enum cmt_suffix suffix;
	int length = strcmp(folder, ".") == 0
			     ? snprintf(path, sizeof(path), "%s", entry->d_name)
			     : snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
	if (entry->d_name[0] == '.' || length <= 0 || (size_t)length >= sizeof(path))
		return HG_OK;
	if (has_cmt_suffix(entry->d_name, &suffix))
		return add_cmt_file(r, path, entry->d_name, suffix);
	return levels && base_entry_is_folder(entry, path) ? search_cmt_folder(r, path, levels - 1)
							   : HG_OK;
}

/* Folders that cannot be read hold nothing; the depth bounds the recursion. */
static enum hg_status search_cmt_folder(struct cmt_reader *r, const char *folder, unsigned levels)
{
	struct base_folder stream;
	struct dirent *entry = NULL;
	BASE_TRY(base_folder_open(&stream, folder, r->error));
	enum hg_status status = base_folder_next(&stream, &entry, r->error);
	while (status == HG_OK && entry) {
		status = look_at_entry(r, folder, entry, levels);
		if (status == HG_OK)
			status = base_folder_next(&stream, &entry, r->error);
	}
	base_folder_close(&stream);
	return status;
}

static int by_path(const void *left, const void *right)
{
	return strcmp(
		((const struct cmt_file *)left)->path, ((const struct cmt_file *)right)->path);
}

/* A folder is read in any order, and may be named twice, also by a link. */
static enum hg_status sort_found_files(
	struct cmt_reader *r, struct base_map *inodes, uint64_t first)
{
	uint64_t found = r->file_count;
	if (found > first)
		qsort(r->files + first, found - first, sizeof(*r->files), by_path);
	r->file_count = first;
	for (uint64_t i = first; i < found; i++) {
		const struct cmt_file *file = &r->files[i];
		uint64_t key = cmt_key(file->device, file->inode);
		uint32_t other;
		if (base_map_number(inodes, key, &other))
			continue;
		BASE_TRY(base_map_set(inodes, key, 0, r->error));
		base_assert(r->file_count <= i);
		r->files[r->file_count++] = *file;
	}
	return HG_OK;
}

static enum hg_status search_root(struct cmt_reader *r, struct base_map *inodes, const char *folder,
	unsigned levels, uint32_t root)
{
	uint64_t first = r->file_count;
	BASE_TRY(search_cmt_folder(r, folder, levels));
	BASE_TRY(sort_found_files(r, inodes, first));
	for (uint64_t i = first; i < r->file_count; i++) {
		base_assert(i == first || by_path(&r->files[i - 1], &r->files[i]) <= 0);
		r->files[i].root = root;
	}
	return HG_OK;
}

enum hg_status cmt_find_files(struct cmt_reader *r, const char *const *directories, size_t count)
{
	struct base_map inodes = {0};
	char beside[PATH_MAX];
	enum hg_status status = HG_OK;
	for (size_t i = 0; status == HG_OK && i < count; i++)
		status = search_root(r, &inodes, directories[i], DEPTH, (uint32_t)i);
	base_file_folder(r->snap->path, beside, PATH_MAX);
	bool beyond = !r->snap->session->no_host_files;
	if (status == HG_OK && beyond)
		status = search_root(r, &inodes, beside, 0, (uint32_t)count);
	if (status == HG_OK && beyond)
		status = search_root(r, &inodes, ".", DEPTH, CMT_BY_CHANCE);
	base_map_release(&inodes);
	return status;
}

/* Names of files may begin with either case: Foo is foo.cmt or Foo.cmt. */
bool cmt_same_module(const char *a, const char *b, size_t length)
{
	return length && strlen(a) == length &&
	       tolower((unsigned char)a[0]) == tolower((unsigned char)b[0]) &&
	       strncmp(a + 1, b + 1, length - 1) == 0;
}
