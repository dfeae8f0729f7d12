/*
 * What is read of a file now: a part of it that moves on.  Reading into one buffer again and again
 * costs a third of what it costs to touch the pages of a mapping first (113 MB: 25 and 80 ms).
 */
#ifndef TRACE_MEMTRACE_WINDOW_H
#define TRACE_MEMTRACE_WINDOW_H

#include "base/cursor.h"
#include "base/error.h"

/* The buffer is as large as what was read at once. */
struct memtrace_window {
	struct base_cursor file; /* all of it; mapped */
	int descriptor;          /* of the file, which is not closed; -1: the mapping is read */
	uint64_t ahead;          /* at least so many bytes are read at once */
	uint8_t *buffer;
	uint64_t capacity;
	uint64_t offset, filled; /* of the file, what is in the buffer */
	enum hg_status status;   /* of the last reading */
};

void memtrace_window_release(struct memtrace_window *window);

/*
 * The bytes from 'offset' to before 'offset' + 'size', or the end of the file, as a window of their
 * own, which lasts until the next call.  HG_ERROR_INPUT if they cannot be read, or are no longer
 * there.
 */
enum hg_status memtrace_window_at(struct memtrace_window *window, uint64_t offset, uint64_t size,
	struct base_cursor *out, struct hg_error *error);

#endif
