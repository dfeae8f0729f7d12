/*
 * Events of a packet.  Nearly all are plain: nothing is wrong with them, and they end so far before
 * the packet's end that their bytes need not be counted one by one.  Whatever is not is read by
 * read_any_event(), with the same meaning.
 */
#include "trace/memtrace/events.h"

#include "base/grow.h"

/* The kind of an event, in the highest 7 bits of its header; the rest are those of its time. */
enum {
	EVENT_LOCATION = 1,
	EVENT_LONG = 2,
	EVENT_PROMOTION = 3,
	EVENT_COLLECTION = 4,
	EVENT_SHORT = 100, /* and the words of the block, up to 16 */
	LONGEST_SHORT = 16,
	EVENT_BIT = MEMTRACE_TIME_BITS
};
static const uint32_t time_mask = (UINT32_C(1) << EVENT_BIT) - 1;

/* Bytes: of all before the backtrace of a long allocation, and of a word of a backtrace. */
enum { MOST_HEAD = 4 + 9 + 9 + 1 + 9 + 2, MOST_WORD = 2 + 8 };

/* A batch with so many is full; behind them is room for one backtrace of a short allocation. */
enum { FRAMES_AT_ONCE = 4096, MOST_PLAIN_WORDS = 255 };

/* First bytes of numbers of variable length that do not stand for themselves. */
enum { FOLLOWS_16 = 253, FOLLOWS_32, FOLLOWS_64 };

enum hg_status memtrace_batch_init(struct memtrace_batch *batch, struct hg_error *error)
{
	return base_grow_by(&batch->frames, 0,
		FRAMES_AT_ONCE + MOST_PLAIN_WORDS * MEMTRACE_FRAMES_OF_WORD, &batch->frame_capacity,
		sizeof(*batch->frames), error);
}

static inline bool is_batch_full(const struct memtrace_batch *batch)
{
	return batch->count == MEMTRACE_AT_ONCE || batch->frame_count >= FRAMES_AT_ONCE;
}

/* Of an event; where clocks stepped back, at least that of the event before. */
static uint64_t time_of_event(struct memtrace *trace, uint32_t header)
{
	const struct memtrace_packet *packet = &trace->packet;
	uint64_t low = header & time_mask, begin = packet->begin & time_mask;
	uint64_t time = packet->begin - begin + low + (low < begin ? (uint64_t)time_mask + 1 : 0);
	uint64_t least = trace->domain->last_time;
	if (least < trace->info.start_time)
		least = trace->info.start_time;
	bool is_wrong = time < least || packet->end < packet->begin || time > packet->end;
	if (is_wrong)
		memtrace_note_loss(trace, &trace->losses.clamped_times, 1,
			memtrace_cursor_offset(trace) - 4, "the clock steps back");
	if (packet->end >= packet->begin && time > packet->end)
		time = packet->end;
	if (time < least)
		time = least;
	trace->domain->last_time = time;
	return time - trace->info.start_time;
}

/* A number of variable length; of those of 32 bits the sign counts. */
static bool read_number(struct base_cursor *c, uint64_t *out)
{
	uint8_t first;
	uint16_t u16;
	uint32_t u32;
	if (!base_cursor_u8(c, &first))
		return false;
	switch (first) {
	default:
		*out = first;
		return true;
	case FOLLOWS_16:
		if (!base_cursor_u16le(c, &u16))
			return false;
		*out = u16;
		return true;
	case FOLLOWS_32:
		if (!base_cursor_u32le(c, &u32))
			return false;
		*out = (uint64_t)(int64_t)(int32_t)u32;
		return true;
	case FOLLOWS_64:
		return base_cursor_u64le(c, out);
	}
}

static inline bool is_good_long(uint64_t length, uint64_t samples, uint8_t source)
{
	return source <= MEMTRACE_EXTERNAL && samples && samples < UINT32_MAX &&
	       length < UINT64_C(1) << 61;
}

/* What stands between the header of an allocation and its backtrace. */
static bool read_long_allocation(struct base_cursor *c, struct memtrace_event *event)
{
	uint8_t source;
	if (!read_number(c, &event->length) || !read_number(c, &event->samples) ||
		!base_cursor_u8(c, &source) || !is_good_long(event->length, event->samples, source))
		return false;
	event->source = (enum memtrace_source)source;
	return true;
}

static bool read_allocation(struct memtrace *trace, unsigned kind, struct memtrace_event *event)
{
	struct memtrace_domain *domain = trace->domain;
	struct base_cursor c = trace->cursor;
	uint16_t words = 0;
	uint8_t few = 0;
	bool good, is_long = kind == EVENT_LONG;
	event->kind = MEMTRACE_ALLOCATION;
	event->source = MEMTRACE_MINOR;
	event->length = kind - EVENT_SHORT;
	event->samples = 1;
	if ((is_long && !read_long_allocation(&c, event)) || !read_number(&c, &event->common) ||
		(is_long ? !base_cursor_u16le(&c, &words) : !base_cursor_u8(&c, &few)) ||
		trace->next_object == trace->packet.end_object)
		return false;
	event->truncated = event->common > domain->depth;
	event->kept = (uint32_t)(event->truncated ? domain->depth : event->common);
	trace->status = memtrace_read_backtrace(domain, &trace->locations, &c, event->common,
		is_long ? words : few, &trace->batch, &good, &trace->error);
	if (trace->status != HG_OK || !good)
		return false;
	event->object = trace->next_object++;
	event->depth = (uint32_t)domain->depth;
	event->frame = trace->batch.frame_count - 1;
	if (domain->suspect)
		trace->losses.suspect_backtraces++;
	trace->cursor = c;
	return true;
}

/* Of a promotion or collection: an object by how long ago its id was given away. */
static bool read_end_of_object(struct memtrace *trace, struct memtrace_event *event)
{
	uint64_t delta;
	if (!read_number(&trace->cursor, &delta))
		return false;
	event->object = trace->next_object - 1 - delta;
	return event->object < trace->objects;
}

static bool read_location_event(struct memtrace *trace, uint32_t header)
{
	bool recovered = false, good = false;
	uint64_t offset = memtrace_cursor_offset(trace);
	trace->status = memtrace_read_location(&trace->locations, &trace->domain->recent,
		&trace->cursor, header, &recovered, &good, &trace->error);
	if (recovered && good)
		memtrace_note_loss(trace, &trace->losses.recovered_places, 1, offset,
			"columns of long lines spoilt names of files (memtrace before v0.2.4)");
	return good && trace->status == HG_OK;
}

/* Leaves the packet where it cannot be read. */
static void leave_packet(struct memtrace *trace, uint64_t offset)
{
	trace->domain->suspect = true;
	trace->cursor.next = trace->cursor.end;
	memtrace_note_loss(trace, &trace->losses.damaged_packets, 1, offset,
		"an event that cannot be read: the rest of its packet is left out");
}

/* The event at the cursor, which is moved; only if it is none of a location, it is added. */
static bool read_event(struct memtrace *trace)
{
	struct memtrace_event *event = &trace->batch.events[trace->batch.count];
	uint32_t header;
	if (!base_cursor_u32le(&trace->cursor, &header))
		return false;
	unsigned kind = header >> EVENT_BIT;
	if (kind == EVENT_LOCATION)
		return read_location_event(trace, header);
	event->time = time_of_event(trace, header);
	if (trace->status != HG_OK)
		return false;
	if (kind == EVENT_LONG || (kind > EVENT_SHORT && kind <= EVENT_SHORT + LONGEST_SHORT)) {
		if (!read_allocation(trace, kind, event))
			return false;
	} else if (kind == EVENT_PROMOTION || kind == EVENT_COLLECTION) {
		event->kind = kind == EVENT_PROMOTION ? MEMTRACE_PROMOTION : MEMTRACE_COLLECTION;
		if (!read_end_of_object(trace, event))
			return false;
	} else {
		return false;
	}
	trace->batch.count++;
	return true;
}

/* Whether new locations come for a code that has been met. */
static bool is_known_location(const struct memtrace *trace)
{
	struct base_cursor c = trace->cursor;
	uint32_t header, number;
	uint64_t code;
	return base_cursor_u32le(&c, &header) && header >> EVENT_BIT == EVENT_LOCATION &&
	       base_cursor_u64le(&c, &code) &&
	       base_map_number(&trace->locations.numbers, code, &number);
}

/* Any event at all; false if the batch must end before it. */
static bool read_any_event(struct memtrace *trace)
{
	uint64_t offset = memtrace_cursor_offset(trace);
	const uint32_t frames = trace->batch.frame_count;
	if (trace->batch.count && is_known_location(trace))
		return false;
	if (!read_event(trace)) {
		trace->batch.frame_count = frames;
		if (trace->status == HG_OK)
			leave_packet(trace, offset);
	}
	return trace->status == HG_OK;
}

/* What every event changes. */
struct plain_reader {
	const uint8_t *next;
	struct memtrace_slot *cache;
	struct memtrace_frame *frame; /* the next one */
	uint64_t depth, object, last_time;
};

static inline uint64_t take_number(const uint8_t **next)
{
	const uint8_t first = *(*next)++, *at = *next;
	if (__builtin_expect(first < FOLLOWS_16, 1))
		return first;
	*next += (size_t)2 << (first - FOLLOWS_16);
	return first == FOLLOWS_16   ? base_load_u16le(at)
	       : first == FOLLOWS_32 ? (uint64_t)(int64_t)(int32_t)base_load_u32le(at)
				     : base_load_u64le(at);
}

/* A word that names a code, or says how many frames are predicted. */
static inline enum hg_status take_rare_word(struct memtrace *trace, struct plain_reader *r,
	uint32_t slot, bool is_new, uint32_t *previous)
{
	unsigned predicted = 0;
	if (is_new) {
		uint64_t code = base_load_u64le(r->next);
		r->next += sizeof(code);
		BASE_TRY(memtrace_code_number(
			&trace->locations, code, &r->cache[slot].code, &trace->error));
	} else {
		predicted = *r->next++;
	}
	*r->frame++ = (struct memtrace_frame){r->cache[slot].code, (uint32_t)r->depth++};
	for (; predicted; predicted--) {
		slot = r->cache[slot].next;
		*r->frame++ = (struct memtrace_frame){r->cache[slot].code, (uint32_t)r->depth++};
	}
	*previous = slot;
	return HG_OK;
}

/* Most words stand for one frame or two, and which cannot be foreseen: so both are written. */
static inline enum hg_status take_words(
	struct memtrace *trace, struct plain_reader *r, unsigned words)
{
	uint32_t previous = 0;
	for (; words; words--) {
		uint16_t word = base_load_u16le(r->next);
		uint32_t slot = word >> 2, tag = word & 3;
		r->next += sizeof(word);
		r->cache[previous].next = (uint16_t)slot;
		if (tag > MEMTRACE_PREDICT_ONE) {
			BASE_TRY(take_rare_word(trace, r, slot, tag == MEMTRACE_MISS, &previous));
			continue;
		}
		uint32_t next = r->cache[slot].next;
		r->frame[0] = (struct memtrace_frame){r->cache[slot].code, (uint32_t)r->depth};
		r->frame[1] = (struct memtrace_frame){r->cache[next].code, (uint32_t)r->depth + 1};
		r->frame += 1 + tag;
		r->depth += 1 + tag;
		previous = tag ? next : slot;
	}
	return HG_OK;
}

/* False if the allocation is not plain; then nothing has changed but *event and r->next. */
static inline bool take_allocation(
	struct memtrace *trace, struct plain_reader *r, unsigned kind, struct memtrace_event *event)
{
	unsigned words;
	event->kind = MEMTRACE_ALLOCATION;
	event->truncated = false;
	if (kind > EVENT_SHORT && kind <= EVENT_SHORT + LONGEST_SHORT) {
		event->source = MEMTRACE_MINOR;
		event->length = kind - EVENT_SHORT;
		event->samples = 1;
		event->common = take_number(&r->next);
		words = *r->next++;
	} else if (kind == EVENT_LONG) {
		event->length = take_number(&r->next);
		event->samples = take_number(&r->next);
		event->source = (enum memtrace_source) * r->next++;
		event->common = take_number(&r->next);
		words = base_load_u16le(r->next);
		r->next += 2;
		if (words > MOST_PLAIN_WORDS ||
			!is_good_long(event->length, event->samples, (uint8_t)event->source))
			return false;
	} else {
		return false;
	}
	if (event->common > r->depth || event->common > MEMTRACE_DEEPEST / 2 ||
		r->object == trace->packet.end_object ||
		(size_t)(trace->cursor.end - r->next) < (size_t)words * MOST_WORD)
		return false;
	event->object = r->object++;
	r->depth = event->common;
	event->kept = (uint32_t)r->depth;
	if (!words)
		*r->frame++ = (struct memtrace_frame){MEMTRACE_NO_FRAME, event->kept};
	else
		trace->status = take_words(trace, r, words);
	event->depth = (uint32_t)r->depth;
	event->frame = (uint32_t)(r->frame - trace->batch.frames) - 1;
	return true;
}

static inline bool take_event(
	struct memtrace *trace, struct plain_reader *r, struct memtrace_event *event)
{
	const struct memtrace_packet *packet = &trace->packet;
	uint32_t header = base_load_u32le(r->next);
	uint64_t low = header & time_mask, begin = packet->begin & time_mask;
	uint64_t time = packet->begin - begin + low + (low < begin ? (uint64_t)time_mask + 1 : 0);
	unsigned kind = header >> EVENT_BIT;
	if (time < r->last_time || time > packet->end)
		return false;
	event->time = time - trace->info.start_time;
	r->next += sizeof(header);
	if (kind == EVENT_COLLECTION || kind == EVENT_PROMOTION) {
		event->kind = kind == EVENT_PROMOTION ? MEMTRACE_PROMOTION : MEMTRACE_COLLECTION;
		event->object = r->object - 1 - take_number(&r->next);
		if (event->object >= trace->objects)
			return false;
	} else if (!take_allocation(trace, r, kind, event)) {
		return false;
	}
	r->last_time = time;
	return true;
}

/* Plain events, as many as follow and have room. */
static void read_plain_events(struct memtrace *trace)
{
	struct memtrace_domain *domain = trace->domain;
	struct memtrace_batch *batch = &trace->batch;
	uint64_t start = trace->info.start_time;
	struct plain_reader r = {.next = trace->cursor.next,
		.cache = domain->cache,
		.frame = batch->frames + batch->frame_count,
		.depth = domain->depth,
		.object = trace->next_object,
		.last_time = domain->last_time < start ? start : domain->last_time};
	const struct memtrace_frame *full = batch->frames + FRAMES_AT_ONCE;
	uint32_t count = batch->count;
	if (trace->packet.end < trace->packet.begin)
		return;
	while (count < MEMTRACE_AT_ONCE && r.frame < full && trace->status == HG_OK &&
		trace->cursor.end - r.next >= MOST_HEAD) {
		if (!take_event(trace, &r, &batch->events[count]))
			break;
		trace->cursor.next = r.next;
		count++;
	}
	if (domain->suspect)
		trace->losses.suspect_backtraces += r.object - trace->next_object;
	if (count > batch->count)
		domain->last_time = r.last_time;
	batch->count = count;
	batch->frame_count = (uint32_t)(r.frame - batch->frames);
	domain->depth = r.depth;
	trace->next_object = r.object;
}

void memtrace_read_events(struct memtrace *trace)
{
	struct memtrace_batch *batch = &trace->batch;
	batch->count = batch->frame_count = 0;
	while (trace->status == HG_OK && !is_batch_full(batch) &&
		base_cursor_left(&trace->cursor) > 0) {
		read_plain_events(trace);
		if (is_batch_full(batch) || base_cursor_left(&trace->cursor) == 0)
			return;
		if (trace->status != HG_OK || !read_any_event(trace))
			return;
	}
}
