/* Items of a value of known form, one after the other. */
#include "trace/spacetime/stream.h"

/* Below it a value is never too large to be read whole. */
#define MOST_DATA ((UINT64_C(1) << 29) - 2)

struct spacetime_stream spacetime_stream_at(const struct spacetime_series *series, uint64_t offset)
{
	struct spacetime_stream stream = {.data = series->file};
	stream.usual = base_cursor_seek(&stream.data, offset) &&
		       snap_item_read_header(&stream.data, &stream.header, NULL) == HG_OK &&
		       !stream.header.ids && stream.header.data <= MOST_DATA;
	stream.data.end = stream.data.next + (stream.usual ? stream.header.data : 0);
	return stream;
}

bool spacetime_stream_ends(const struct spacetime_stream *stream)
{
	return stream->usual && !base_cursor_left(&stream->data) &&
	       stream->objects == stream->header.objects && stream->words <= stream->header.words64;
}

struct snap_item spacetime_stream_item(struct spacetime_stream *stream, enum snap_item_kind kind)
{
	struct snap_item item;
	if (stream->usual && snap_item_read(&stream->data, false, &item, NULL) == HG_OK &&
		item.kind == kind) {
		stream->objects +=
			kind != SNAP_ITEM_INTEGER && (kind != SNAP_ITEM_BLOCK || item.count);
		return item;
	}
	stream->usual = false;
	return (struct snap_item){.kind = kind};
}

uint64_t spacetime_stream_large_block(struct spacetime_stream *stream)
{
	const struct snap_item block = spacetime_stream_item(stream, SNAP_ITEM_BLOCK);
	stream->usual =
		stream->usual && block.tag == 0 && block.count <= base_cursor_left(&stream->data);
	stream->words += block.count ? block.count + 1 : 0;
	return stream->usual ? block.count : 0;
}
