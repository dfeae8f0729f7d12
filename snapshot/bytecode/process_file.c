/* The file of a bytecode program: found, and compared with the process. */
#include "snapshot/bytecode/process.h"

#include "snapshot/image/capture_note.h"
#include "snapshot/runtime/reader.h"

#include <elf.h>
#include <limits.h>
#include <string.h>

/* HG_ERROR_INPUT if a file is not the one that the process runs. */
static enum hg_status check_program(const struct snap_runtime *runtime, const uint8_t *bytes,
	size_t size, const char *path, struct hg_error *error)
{
	const struct snap_range *range = &runtime->bytecode->code;
	struct base_cursor code;
	bool found;
	size_t got;
	const uint8_t *loaded =
		snap_image_at(runtime->image, range->start, range->end - range->start, &got);
	enum hg_status status = snap_bytecode_section(bytes, size, "CODE", &code, &found, error);
	if (status == HG_OK && (!found || base_cursor_left(&code) != range->end - range->start ||
				       !snap_bytecode_is_loaded(&code, loaded, got)))
		status = base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"is not the bytecode of the process: its code of %llu bytes is not the "
			"%llu bytes in the core",
			(unsigned long long)(found ? base_cursor_left(&code) : 0),
			(unsigned long long)(runtime->bytecode->code.end -
					     runtime->bytecode->code.start));
	if (status != HG_OK)
		base_error_file(error, path);
	return status;
}

static enum hg_status use_program(
	struct snap_runtime *runtime, const char *path, struct hg_error *error)
{
	struct snap_bytecode *bytecode = runtime->bytecode;
	BASE_TRY(base_file_open(&bytecode->file, path, runtime->image->unpack, error));
	enum hg_status status =
		check_program(runtime, bytecode->file.bytes, bytecode->file.size, path, error);
	bytecode->is_opened = bytecode->has_file = status == HG_OK;
	bytecode->bytes = bytecode->file.bytes;
	bytecode->size = bytecode->file.size;
	if (!bytecode->has_file)
		base_file_close(&bytecode->file);
	return status;
}

/* The copy that a capture has; of a file that was another one by then it is of no use. */
static void use_program_copy(struct snap_runtime *runtime, const char **wrong)
{
	const struct snap_image *image = runtime->image;
	const struct snap_capture_file *copy = &image->capture->bytecode;
	struct snap_bytecode *bytecode = runtime->bytecode;
	struct hg_error unread;
	base_error_clear(&unread);
	if (!copy->path)
		return;
	bytecode->bytes = image->core.bytes + copy->offset;
	bytecode->size = copy->size;
	bytecode->has_file = check_program(runtime, bytecode->bytes, bytecode->size, copy->path,
				     &unread) == HG_OK;
	if (!bytecode->has_file)
		*wrong = snap_print(runtime, "%s %s", copy->path, unread.message);
}

/* One that may be it; what is wrong with the first that ends as a program is kept in *wrong. */
static enum hg_status try_program(
	struct snap_runtime *runtime, const char *path, const char **wrong, struct hg_error *error)
{
	struct hg_error unread;
	base_error_clear(&unread);
	enum hg_status status = use_program(runtime, path, &unread);
	if (status == HG_ERROR_LIMIT) {
		*error = unread;
		return status;
	}
	if (status != HG_OK && !*wrong && strstr(unread.message, "is not the bytecode"))
		*wrong = snap_print(runtime, "%s %s", path, unread.message);
	return HG_OK;
}

/* By its name, or beside the core: a relative one is of a folder that nobody remembers. */
static enum hg_status try_argument(
	struct snap_runtime *runtime, const char *word, const char **wrong, struct hg_error *error)
{
	char folder[PATH_MAX];
	if (word[0] == '\0' || word[0] == '-' || runtime->bytecode->has_file)
		return HG_OK;
	BASE_TRY(try_program(runtime, word, wrong, error));
	base_file_folder(runtime->image->path, folder, sizeof(folder));
	if (!runtime->bytecode->has_file && folder[0])
		BASE_TRY(try_program(runtime,
			snap_print(runtime, "%s/%s", folder, base_file_name(word)), wrong, error));
	return HG_OK;
}

/*
 * The words of the command line: the interpreter, its options, the program.  The kernel puts them
 * above the words that auxv tells of (fs/binfmt_elf.c, create_elf_tables); what a core says of them
 * itself is cut, and nothing in those of gdb.
 */
static enum hg_status try_arguments(
	struct snap_runtime *runtime, const char **wrong, struct hg_error *error)
{
	enum { MOST_WORDS = 16, RANDOM_BYTES = 16, MOST_PADDING = 8192 + 64, PLATFORM_BYTES = 32 };
	const struct snap_image *image = runtime->image;
	char word[PATH_MAX];
	uint64_t at, platform;
	uint8_t byte = 0;
	if (!snap_image_auxv(image, AT_RANDOM, &at))
		return HG_OK;
	at += RANDOM_BYTES;
	if (snap_image_auxv(image, AT_PLATFORM, &platform) &&
		snap_image_string(image, platform, word, PLATFORM_BYTES) && platform >= at)
		at = platform + strlen(word) + 1;
	for (unsigned i = 0; i < MOST_PADDING && snap_image_read(image, at, &byte, 1) && !byte; i++)
		at++;
	for (unsigned i = 0; i < MOST_WORDS; i++) {
		if (!snap_image_string(image, at, word, sizeof(word)))
			break;
		BASE_TRY(try_argument(runtime, word, wrong, error));
		at += strlen(word) + 1;
	}
	return HG_OK;
}

enum hg_status snap_find_bytecode_file(struct snap_runtime *runtime, struct hg_error *error)
{
	const struct snap_image *image = runtime->image;
	const char *wrong = NULL;
	if (image->bytecode)
		return use_program(runtime, image->bytecode, error);
	use_program_copy(runtime, &wrong);
	if (!runtime->bytecode->has_file && image->main->found)
		BASE_TRY(try_program(runtime, image->main->found, &wrong, error));
	if (!runtime->bytecode->has_file && !image->no_host_files) {
		BASE_TRY(try_program(runtime, image->main->path, &wrong, error));
		if (!runtime->bytecode->has_file)
			BASE_TRY(try_arguments(runtime, &wrong, error));
	}
	if (!runtime->bytecode->has_file && wrong)
		snap_note_line(runtime, "%s", wrong);
	return HG_OK;
}
