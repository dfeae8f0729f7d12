/*
 * The note of a core of ours: lines KEY=VALUE, of which those with an unknown key are skipped; and
 * the words in it, which writers ask for by the same functions as readers.
 */
#include "snapshot/image/capture_note.h"

#include "base/cursor.h"
#include "base/grow.h"
#include "snapshot/image/core_note.h"

#include <stdlib.h>
#include <string.h>

const char *hg_capture_method_name(enum hg_capture_method method)
{
	static const char *const names[HG_CAPTURE_METHODS] = {
		[HG_CAPTURE_FORK] = "fork", [HG_CAPTURE_VMREAD] = "vmread"};
	return (unsigned)method < HG_CAPTURE_METHODS ? names[method] : NULL;
}

const char *hg_moment_name(enum hg_moment moment)
{
	static const char *const names[HG_MOMENTS] = {[HG_MOMENT_UNKNOWN] = "unknown",
		[HG_MOMENT_CLEAN] = "clean",
		[HG_MOMENT_MINOR_COLLECTION] = "minor-collection",
		[HG_MOMENT_COMPACTION] = "compaction",
		[HG_MOMENT_FILLING] = "filling",
		[HG_MOMENT_INSIDE] = "inside"};
	return (unsigned)moment < HG_MOMENTS ? names[moment] : "?";
}

/* Where the lines are read from and to. */
struct note_source {
	struct snap_capture_note *capture;
	const struct base_file *core;
	struct base_pool *pool;
	uint64_t offset; /* of the note in the core */
	bool partial;
};

/* A line KEY=VALUE, or what is left of one. */
struct text {
	const char *at, *end;
};

static struct text next_note_line(struct text *note)
{
	size_t left = (size_t)(note->end - note->at);
	const char *end = left ? memchr(note->at, '\n', left) : NULL;
	struct text line = {note->at, end ? end : note->end};
	note->at = end ? end + 1 : note->end;
	return line;
}

static bool skip_note_key(struct text *line, const char *key)
{
	size_t length = strlen(key);
	if ((size_t)(line->end - line->at) <= length || memcmp(line->at, key, length) != 0 ||
		line->at[length] != '=')
		return false;
	line->at += length + 1;
	return true;
}

static bool read_decimal(struct text *line, uint64_t *number)
{
	const char *start = line->at;
	uint64_t value = 0;
	for (; line->at < line->end && *line->at >= '0' && *line->at <= '9'; line->at++) {
		unsigned digit = (unsigned)(*line->at - '0');
		if (value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*number = value;
	return line->at > start;
}

static int hex_value(char c)
{
	const char *digits = "0123456789abcdef", *found = c ? strchr(digits, c) : NULL;
	return found ? (int)(found - digits) : -1;
}

static bool read_hex_byte(const struct text *text, uint8_t *byte)
{
	int high = text->end - text->at < 2 ? -1 : hex_value(text->at[0]);
	int low = high < 0 ? -1 : hex_value(text->at[1]);
	*byte = (uint8_t)(high * 16 + low);
	return low >= 0;
}

static bool read_build_id(struct text *line, struct snap_build_id *id)
{
	id->size = 0;
	while (id->size < SNAP_BUILD_ID_MOST && read_hex_byte(line, &id->bytes[id->size])) {
		id->size++;
		line->at += 2;
	}
	if (id->size == 0 && line->at < line->end && *line->at == '-')
		line->at++;
	return line->at < line->end && *line->at++ == ' ';
}

/* A value with its bytes %xx as they were. */
static enum hg_status unescape_value(
	struct base_pool *pool, struct text line, const char **out, struct hg_error *error)
{
	void *memory;
	BASE_TRY(base_pool_alloc(pool, (uint64_t)(line.end - line.at) + 1, 1, &memory, error));
	char *to = memory;
	*out = memory;
	while (line.at < line.end) {
		struct text rest = {line.at + 1, line.end};
		uint8_t byte;
		bool escaped = *line.at == '%' && read_hex_byte(&rest, &byte);
		*to++ = escaped ? (char)byte : *line.at;
		line.at += escaped ? 3 : 1;
	}
	return HG_OK;
}

static bool skip_blank(struct text *line)
{
	return line->at < line->end && *line->at++ == ' ';
}

/* "OFFSET SIZE BUILD-ID PATH" */
static enum hg_status read_copy(
	const struct note_source *source, struct text line, struct hg_error *error)
{
	struct snap_capture_note *capture = source->capture;
	const uint64_t size = source->core->size;
	struct snap_capture_file file;
	if (!read_decimal(&line, &file.offset) || !skip_blank(&line) ||
		!read_decimal(&line, &file.size) || !skip_blank(&line) ||
		!read_build_id(&line, &file.build_id))
		return base_corrupt(error, source->offset, "the table of files is damaged");
	if (file.offset > size || file.size > size - file.offset) {
		capture->is_cut = true;
		if (source->partial)
			return HG_OK;
		return base_corrupt(error, source->offset,
			"the core is cut short: a file is to end at offset %llu "
			"(--partial reads what is there)",
			(unsigned long long)(file.offset + file.size));
	}
	BASE_TRY(unescape_value(source->pool, line, &file.path, error));
	BASE_TRY(base_grow(&capture->files, capture->file_count, &capture->file_capacity,
		sizeof(file), error));
	capture->files[capture->file_count++] = file;
	capture->file_bytes += file.size;
	if (capture->file_bytes > size)
		return base_corrupt(error, source->offset, "files share their bytes in the core");
	return HG_OK;
}

/* "OFFSET SIZE PATH" */
static enum hg_status read_bytecode_copy(
	const struct note_source *source, struct text line, struct hg_error *error)
{
	struct snap_capture_file file = {0};
	const uint64_t size = source->core->size;
	if (!read_decimal(&line, &file.offset) || !skip_blank(&line) ||
		!read_decimal(&line, &file.size) || !skip_blank(&line))
		return base_corrupt(
			error, source->offset, "where the copy of the bytecode is, is damaged");
	if (file.offset > size || file.size > size - file.offset) {
		source->capture->is_cut = true;
		if (source->partial)
			return HG_OK;
		return base_corrupt(error, source->offset,
			"the core is cut short: the bytecode is to end at offset %llu "
			"(--partial reads what is there)",
			(unsigned long long)(file.offset + file.size));
	}
	BASE_TRY(unescape_value(source->pool, line, &file.path, error));
	source->capture->bytecode = file;
	return HG_OK;
}

static enum hg_status read_note_line(
	const struct note_source *source, struct text line, struct hg_error *error)
{
	struct snap_capture_note *capture = source->capture;
	const struct {
		const char *key;
		uint64_t *number;
		const char **string;
	} keys[] = {
		{"version", &capture->version, NULL},
		{"index", &capture->index, NULL},
		{"time_ns", &capture->time, NULL},
		{"resident_bytes", &capture->resident, NULL},
		{"peak_resident_bytes", &capture->peak_resident, NULL},
		{"resident_anonymous_bytes", &capture->anonymous, NULL},
		{"resident_file_bytes", &capture->file, NULL},
		{"resident_shared_bytes", &capture->shared, NULL},
		{"swapped_bytes", &capture->swapped, NULL},
		{"trigger", NULL, &capture->trigger},
		{"method", NULL, &capture->method},
		{"consistency", NULL, &capture->consistency},
		{"ocaml", NULL, &capture->ocaml_version},
	};
	if (skip_note_key(&line, "file"))
		return read_copy(source, line, error);
	if (skip_note_key(&line, "bytecode"))
		return read_bytecode_copy(source, line, error);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (!skip_note_key(&line, keys[i].key))
			continue;
		if (keys[i].string)
			return unescape_value(source->pool, line, keys[i].string, error);
		if (!read_decimal(&line, keys[i].number) || line.at != line.end)
			return base_corrupt(error, source->offset, "%s is no number", keys[i].key);
	}
	return HG_OK;
}

static enum hg_capture_method method_named(const char *word)
{
	for (unsigned i = HG_CAPTURE_ANY + 1; i < HG_CAPTURE_METHODS; i++)
		if (strcmp(word, hg_capture_method_name((enum hg_capture_method)i)) == 0)
			return (enum hg_capture_method)i;
	return HG_CAPTURE_ANY;
}

static enum hg_moment moment_named(const char *word)
{
	for (unsigned i = HG_MOMENT_CLEAN; i < HG_MOMENTS; i++)
		if (strcmp(word, hg_moment_name((enum hg_moment)i)) == 0)
			return (enum hg_moment)i;
	return HG_MOMENT_UNKNOWN;
}

static int compare_copies(const void *left, const void *right)
{
	const struct snap_capture_file *a = left, *b = right;
	int order = strcmp(a->path, b->path);
	return order ? order : a->offset < b->offset ? -1 : a->offset > b->offset;
}

void snap_capture_note_init(struct snap_capture_note *capture)
{
	*capture = (struct snap_capture_note){.index = HG_UNKNOWN,
		.resident = HG_UNKNOWN,
		.peak_resident = HG_UNKNOWN,
		.anonymous = HG_UNKNOWN,
		.file = HG_UNKNOWN,
		.shared = HG_UNKNOWN,
		.swapped = HG_UNKNOWN,
		.time = HG_UNKNOWN,
		.trigger = "",
		.method = "",
		.consistency = "",
		.ocaml_version = ""};
}

enum hg_status snap_capture_note_read(struct snap_capture_note *capture,
	const struct snap_note *note, const struct base_file *core, bool partial,
	struct base_pool *pool, struct hg_error *error)
{
	const struct note_source source = {.capture = capture,
		.core = core,
		.pool = pool,
		.offset = (uint64_t)(note->desc - core->bytes),
		.partial = partial};
	const char *start = (const char *)note->desc;
	struct text text = {start, start + note->desc_size};
	snap_capture_note_init(capture);
	capture->is_ours = true;
	while (text.at < text.end)
		BASE_TRY(read_note_line(&source, next_note_line(&text), error));
	if (capture->version != SNAP_CORE_VERSION)
		return base_corrupt(error, source.offset,
			"was written by a heapgraph with format %llu, "
			"this one reads %d",
			(unsigned long long)capture->version, SNAP_CORE_VERSION);
	capture->capture_method = method_named(capture->method);
	capture->moment = moment_named(capture->consistency);
	if (capture->file_count)
		qsort(capture->files, capture->file_count, sizeof(*capture->files), compare_copies);
	return HG_OK;
}

void snap_capture_note_release(struct snap_capture_note *capture)
{
	free(capture->files);
	capture->files = NULL;
	capture->file_count = 0;
}

struct snap_range snap_capture_note_run(const struct snap_capture_note *capture, uint64_t i)
{
	const uint8_t *run = capture->runs + 16 * i;
	return (struct snap_range){base_load_u64le(run), base_load_u64le(run + 8)};
}

void snap_capture_note_runs(struct snap_capture_note *capture, const struct snap_note *note)
{
	enum { PAGE = 4096 };
	uint64_t before = 0;
	capture->runs = note->desc;
	capture->run_count = note->desc_size / 16;
	for (uint64_t i = 0; i < capture->run_count && capture->runs; i++) {
		struct snap_range run = snap_capture_note_run(capture, i);
		if (run.start < before || run.start >= run.end || (run.start | run.end) % PAGE)
			capture->runs = NULL;
		before = run.end;
	}
	if (!capture->runs)
		capture->run_count = 0;
}

static int compare_path(const void *path, const void *copy)
{
	return strcmp(path, ((const struct snap_capture_file *)copy)->path);
}

const struct snap_capture_file *snap_capture_note_find(const struct snap_capture_note *capture,
	const char *path, const struct snap_build_id *build_id)
{
	if (capture->file_count == 0)
		return NULL;
	const struct snap_capture_file *end = capture->files + capture->file_count;
	const struct snap_capture_file *copy =
		bsearch(path, capture->files, capture->file_count, sizeof(*copy), compare_path);
	/* A path has two copies when it was replaced while the process mapped both. */
	while (copy && copy > capture->files && strcmp(copy[-1].path, path) == 0)
		copy--;
	for (; copy && copy < end && strcmp(copy->path, path) == 0; copy++)
		if (build_id->size == 0 || snap_build_id_equal(&copy->build_id, build_id))
			return copy;
	return NULL;
}
