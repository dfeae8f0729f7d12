#include "snapshot/image/capture_note.h"

#include "base/grow.h"
#include "snapshot/capture/core_writer.h"

#include <stdlib.h>
#include <string.h>

/* A line KEY=VALUE, or what is left of one. */
struct text {
	const char *at, *end;
};

static struct text next_line(struct text *note)
{
	size_t left = (size_t)(note->end - note->at);
	const char *end = left ? memchr(note->at, '\n', left) : NULL;
	struct text line = {note->at, end ? end : note->end};
	note->at = end ? end + 1 : note->end;
	return line;
}

static bool skip_key(struct text *line, const char *key)
{
	size_t length = strlen(key);
	if ((size_t)(line->end - line->at) <= length || memcmp(line->at, key, length) != 0 ||
		line->at[length] != '=')
		return false;
	line->at += length + 1;
	return true;
}

static bool read_number(struct text *line, uint64_t *number)
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

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *found = c ? strchr(digits, c) : NULL;
	return found ? (int)(found - digits) : -1;
}

static bool read_byte(const struct text *text, uint8_t *byte)
{
	int high = text->end - text->at < 2 ? -1 : hex_digit(text->at[0]);
	int low = high < 0 ? -1 : hex_digit(text->at[1]);
	*byte = (uint8_t)(high * 16 + low);
	return low >= 0;
}

static bool read_build_id(struct text *line, struct snap_build_id *id)
{
	id->size = 0;
	while (id->size < SNAP_BUILD_ID_MOST && read_byte(line, &id->bytes[id->size])) {
		id->size++;
		line->at += 2;
	}
	if (id->size == 0 && line->at < line->end && *line->at == '-')
		line->at++;
	return line->at < line->end && *line->at++ == ' ';
}

/* A value with its bytes %xx as they were. */
static enum hg_status read_value(
	struct snap_image *image, struct text line, const char **out, struct hg_error *error)
{
	void *memory;
	BASE_TRY(base_pool_alloc(
		&image->pool, (uint64_t)(line.end - line.at) + 1, 1, &memory, error));
	char *to = memory;
	*out = memory;
	while (line.at < line.end) {
		struct text rest = {line.at + 1, line.end};
		uint8_t byte;
		bool escaped = *line.at == '%' && read_byte(&rest, &byte);
		*to++ = escaped ? (char)byte : *line.at;
		line.at += escaped ? 3 : 1;
	}
	return HG_OK;
}

static bool skip_space(struct text *line)
{
	return line->at < line->end && *line->at++ == ' ';
}

/* "OFFSET SIZE BUILD-ID PATH" */
static enum hg_status read_file(struct snap_image *image, struct snap_capture *capture,
	struct text line, uint64_t note_offset, bool partial, struct hg_error *error)
{
	struct snap_capture_file file;
	if (!read_number(&line, &file.offset) || !skip_space(&line) ||
		!read_number(&line, &file.size) || !skip_space(&line) ||
		!read_build_id(&line, &file.build_id))
		return base_corrupt(error, note_offset, "the table of files is damaged");
	if (file.offset > image->core.size || file.size > image->core.size - file.offset) {
		/* The copies lie behind the memory, of which nothing need be missing. */
		if (partial && image->cut_offset == HG_NO_OFFSET) {
			image->cut_offset = image->core.size;
			image->cut_part = "the copies of the program's files";
		}
		if (partial)
			return HG_OK;
		return base_corrupt(error, note_offset,
			"the core is cut short: a file is to end at offset %llu "
			"(--partial reads what is there)",
			(unsigned long long)(file.offset + file.size));
	}
	BASE_TRY(read_value(image, line, &file.path, error));
	BASE_TRY(base_grow(&capture->files, capture->file_count, &capture->file_capacity,
		sizeof(file), error));
	capture->files[capture->file_count++] = file;
	capture->file_bytes += file.size;
	if (capture->file_bytes > image->core.size)
		return base_corrupt(error, note_offset, "files share their bytes in the core");
	return HG_OK;
}

static enum hg_status read_line(struct snap_image *image, struct snap_capture *capture,
	struct text line, uint64_t note_offset, bool partial, struct hg_error *error)
{
	const struct {
		const char *key;
		uint64_t *number;
		const char **string;
	} keys[] = {
		{"version", &capture->version, NULL},
		{"index", &capture->index, NULL},
		{"time_ns", &capture->time, NULL},
		{"trigger", NULL, &capture->trigger},
		{"method", NULL, &capture->method},
		{"consistency", NULL, &capture->consistency},
		{"ocaml", NULL, &capture->ocaml_version},
	};
	if (skip_key(&line, "file"))
		return read_file(image, capture, line, note_offset, partial, error);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (!skip_key(&line, keys[i].key))
			continue;
		if (keys[i].string)
			return read_value(image, line, keys[i].string, error);
		if (!read_number(&line, keys[i].number) || line.at != line.end)
			return base_corrupt(error, note_offset, "%s is no number", keys[i].key);
	}
	return HG_OK;
}

static int compare_files(const void *left, const void *right)
{
	const struct snap_capture_file *a = left, *b = right;
	int order = strcmp(a->path, b->path);
	return order ? order : a->offset < b->offset ? -1 : a->offset > b->offset;
}

enum hg_status snap_capture_read(struct snap_image *image, struct snap_capture *capture,
	bool partial, struct hg_error *error)
{
	struct snap_note note;
	*capture = (struct snap_capture){.index = HG_UNKNOWN,
		.time = HG_UNKNOWN,
		.trigger = "",
		.method = "",
		.consistency = "",
		.ocaml_version = ""};
	if (!snap_image_note(image, SNAP_CORE_OWNER, SNAP_CORE_NOTE, &note))
		return HG_OK;
	uint64_t offset = (uint64_t)(note.desc - image->core.bytes);
	const char *start = (const char *)note.desc;
	struct text text = {start, start + note.desc_size};
	capture->is_ours = true;
	while (text.at < text.end)
		BASE_TRY(read_line(image, capture, next_line(&text), offset, partial, error));
	if (capture->version != SNAP_CORE_VERSION)
		return base_corrupt(error, offset,
			"was written by a heapgraph with format %llu, "
			"this one reads %d",
			(unsigned long long)capture->version, SNAP_CORE_VERSION);
	if (capture->file_count)
		qsort(capture->files, capture->file_count, sizeof(*capture->files), compare_files);
	return HG_OK;
}

void snap_capture_release(struct snap_capture *capture)
{
	free(capture->files);
	capture->files = NULL;
	capture->file_count = 0;
}

const struct snap_capture_file *snap_capture_find(
	const struct snap_capture *capture, const char *path, const struct snap_build_id *build_id)
{
	uint64_t low = 0, high = capture->file_count;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (strcmp(capture->files[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	/* A path has two copies when it was replaced while the process mapped both. */
	for (; low < capture->file_count && strcmp(capture->files[low].path, path) == 0; low++)
		if (build_id->size == 0 ||
			snap_build_id_equal(&capture->files[low].build_id, build_id))
			return &capture->files[low];
	return NULL;
}
