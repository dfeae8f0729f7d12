/*
 * Values of a series whose form is known, read without being kept: what a program writes is mostly
 * one block after the other, with nothing shared.  What is asked for and is not there, or not as it
 * is usually written, makes the stream unusual, from then on it gives zeros: the value must be read
 * whole (marshal.h) instead, which tells what is wrong with it, if anything is.
 */
#ifndef TRACE_SPACETIME_STREAM_H
#define TRACE_SPACETIME_STREAM_H

#include "snapshot/marshal/item.h"
#include "trace/spacetime/series.h"

struct spacetime_stream {
	struct base_cursor data;
	struct snap_item_header header;
	uint64_t objects, words; /* passed so far; of blocks with fields, headers included */
	bool usual;
};

/* The value at an offset. */
struct spacetime_stream spacetime_stream_at(const struct spacetime_series *series, uint64_t offset);

/* After all was read: whether the value is at its end, and is what its header says. */
bool spacetime_stream_ends(const struct spacetime_stream *stream);

/* Any item, a look at the end of the data included; 'kind' or the stream is unusual. */
struct snap_item spacetime_stream_item(struct spacetime_stream *stream, enum snap_item_kind kind);

static inline bool spacetime_stream_is_fast(const struct spacetime_stream *stream)
{
	return base_cursor_left(&stream->data) >= SNAP_ITEM_MOST_BYTES;
}

static inline int64_t spacetime_stream_int(struct spacetime_stream *stream)
{
	static const uint8_t bytes[] = {1, 2, 4, 8};
	const uint8_t *at = stream->data.next;
	if (!spacetime_stream_is_fast(stream))
		return spacetime_stream_item(stream, SNAP_ITEM_INTEGER).number;
	if ((*at & 0xc0) == SNAP_CODE_SMALL_INT) {
		stream->data.next++;
		return *at & 63;
	}
	if (*at > SNAP_CODE_INT64) {
		stream->usual = false;
		return 0;
	}
	const unsigned count = bytes[*at];
	stream->data.next += 1 + count;
	/* OCaml's integers have 63 bits. */
	return snap_item_sign_extend(snap_item_number(at + 1, count), count == 8 ? 63 : 8 * count);
}

/* Whether a block of so many fields, at most 7, comes next; it is passed over. */
static inline bool spacetime_stream_block(
	struct spacetime_stream *stream, unsigned tag, unsigned fields)
{
	if (!base_cursor_left(&stream->data) ||
		*stream->data.next != (SNAP_CODE_SMALL_BLOCK | fields << 4 | tag))
		return false;
	stream->data.next++;
	stream->objects++;
	stream->words += fields + 1;
	return true;
}

/* The same, where there must be one. */
static inline void spacetime_stream_need_block(
	struct spacetime_stream *stream, unsigned tag, unsigned fields)
{
	if (!spacetime_stream_block(stream, tag, fields))
		stream->usual = false;
}

/* Fields of a block of tag 0. */
uint64_t spacetime_stream_large_block(struct spacetime_stream *stream);

/* A boxed integer of 64 bits. */
static inline uint64_t spacetime_stream_address(struct spacetime_stream *stream)
{
	enum { CODE = 1, NAME = 3 };
	const uint8_t *at = stream->data.next;
	if (!spacetime_stream_is_fast(stream) ||
		(*at != SNAP_CODE_CUSTOM && *at != SNAP_CODE_CUSTOM_FIXED) ||
		memcmp(at + CODE, "_j", NAME) != 0) {
		const struct snap_item item = spacetime_stream_item(stream, SNAP_ITEM_CUSTOM);
		stream->usual = stream->usual && item.custom == 'j';
		return (uint64_t)item.number;
	}
	stream->data.next += CODE + NAME + sizeof(uint64_t);
	stream->objects++;
	return snap_item_number(at + CODE + NAME, sizeof(uint64_t));
}

#endif
