/* What is read of a file now. */
#include "trace/memtrace/window.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* What is larger is read where it is mapped. */
enum { MOST_BUFFERED = 1 << 24 };

void memtrace_window_release(struct memtrace_window *window)
{
	free(window->buffer);
	window->buffer = NULL;
	window->capacity = window->filled = 0;
}

static enum hg_status make_room_in_window(
	struct memtrace_window *window, uint64_t size, struct hg_error *error)
{
	if (size <= window->capacity)
		return HG_OK;
	uint8_t *bigger = realloc(window->buffer, size);
	if (!bigger)
		return base_no_memory(error, size);
	window->buffer = bigger;
	window->capacity = size;
	return HG_OK;
}

/* Reads what is missing up to 'wanted' bytes, of which the file has so many. */
static enum hg_status fill_window(
	struct memtrace_window *window, uint64_t wanted, struct hg_error *error)
{
	while (window->filled < wanted) {
		ssize_t count = pread(window->descriptor, window->buffer + window->filled,
			wanted - window->filled, (off_t)(window->offset + window->filled));
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return base_system_failure(error, HG_ERROR_INPUT, NULL, "cannot be read");
		if (count == 0)
			return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
				"was cut short while it was read");
		window->filled += (uint64_t)count;
	}
	return HG_OK;
}

/* What the buffer has behind 'offset' moves to its start. */
static void move_window(struct memtrace_window *window, uint64_t offset)
{
	uint64_t behind = offset - window->offset;
	if (offset < window->offset || behind >= window->filled) {
		window->filled = 0;
	} else {
		window->filled -= behind;
		memmove(window->buffer, window->buffer + behind, window->filled);
	}
	window->offset = offset;
}

/* Whether the buffer has all of it. */
static bool has_window(const struct memtrace_window *window, uint64_t offset, uint64_t size)
{
	return offset >= window->offset && offset - window->offset <= window->filled &&
	       size <= window->filled - (offset - window->offset);
}

static enum hg_status read_window(struct memtrace_window *window, uint64_t offset, uint64_t size,
	uint64_t left, struct hg_error *error)
{
	uint64_t wanted = size > window->ahead ? size : window->ahead;
	wanted = wanted < left ? wanted : left;
	move_window(window, offset);
	BASE_TRY(make_room_in_window(window, wanted, error));
	return fill_window(window, wanted, error);
}

enum hg_status memtrace_window_at(struct memtrace_window *window, uint64_t offset, uint64_t size,
	struct base_cursor *out, struct hg_error *error)
{
	*out = window->file;
	if (!base_cursor_seek(out, offset))
		out->next = out->end;
	uint64_t left = base_cursor_left(out);
	uint64_t length = size < left ? size : left;
	if (window->descriptor < 0 || length > MOST_BUFFERED) {
		*out = base_cursor_over(out->next, length);
		return HG_OK;
	}
	if (!has_window(window, offset, length))
		BASE_TRY(window->status = read_window(window, offset, length, left, error));
	*out = base_cursor_over(window->buffer + (offset - window->offset), length);
	return HG_OK;
}
