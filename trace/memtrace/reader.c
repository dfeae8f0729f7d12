/* Events of a memtrace trace. */
#include "trace/memtrace/reader.h"

#include "trace/memtrace/packets.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/grow.h"

#include <string.h>

enum { MOST_DOMAINS = 1 << 16, OBJECTS_AT_ONCE = 10000 };

/* The kind of an event, in the highest 7 bits of its header; the rest are those of its time. */
enum {
	EVENT_INFO = 0,
	EVENT_LOCATION = 1,
	EVENT_LONG = 2,
	EVENT_PROMOTION = 3,
	EVENT_COLLECTION = 4,
	EVENT_SHORT = 100, /* and the words of the block, up to 16 */
	LONGEST_SHORT = 16,
	EVENT_BIT = 25
};
static const uint32_t time_mask = (UINT32_C(1) << EVENT_BIT) - 1;

struct memtrace {
	struct base_cursor file;
	struct memtrace_info info;
	struct base_pool pool; /* of the strings of info */
	struct memtrace_locations locations;
	struct memtrace_losses losses;
	bool strict;

	struct memtrace_domain **domains; /* in the order of the file */
	uint32_t *domain_indices;         /* of each number + 1; 0: not met */
	uint64_t domain_count, domain_capacity;

	uint64_t packet_count, objects;
	uint64_t *
		given; /* bits: ids that packets had; from version 3 on, where ids come in chunks */

	/* what is being read */
	uint64_t offset; /* of the next packet */
	struct memtrace_packet packet;
	struct base_cursor cursor; /* in the packet; at its end: the next one is to be read */
	struct memtrace_domain *domain;
	uint32_t domain_index;
	uint64_t next_object, expected_object;
	enum hg_status status;
	struct hg_error error;
};

bool memtrace_begins(const uint8_t *bytes, size_t size)
{
	struct base_cursor c = base_cursor_over(bytes, size);
	uint32_t magic;
	return base_cursor_u32le(&c, &magic) && magic == MEMTRACE_MAGIC;
}

/* A loss; in strict readers the end. */
static void note_loss(
	struct memtrace *trace, uint64_t *count, uint64_t by, uint64_t offset, const char *what)
{
	*count += by;
	if (!trace->losses.first) {
		trace->losses.first = what;
		trace->losses.first_offset = offset;
	}
	if (trace->strict && trace->status == HG_OK)
		trace->status = base_corrupt(&trace->error, offset, "%s", what);
}

static uint64_t offset_of_cursor(const struct memtrace *trace)
{
	return base_cursor_offset(&trace->cursor);
}

/* Of the whole file, by the headers of packets alone: how many, and the ids they have. */
static void count_packets(struct memtrace *trace)
{
	struct memtrace_packet packet;
	uint64_t offset = 0, most = 0;
	for (;;) {
		enum memtrace_found found = memtrace_packet_at(trace->file, offset, &packet);
		if (found == MEMTRACE_END || found == MEMTRACE_CUT)
			break;
		if (found == MEMTRACE_NO_PACKET &&
			!memtrace_packet_behind(
				trace->file, offset, trace->info.version, trace->info.pid, &packet))
			break;
		trace->packet_count++;
		offset = packet.offset + packet.size;
		/* Ids come in chunks, of which each packet begins one at most; some may be lost. */
		uint64_t limit = (trace->packet_count + 64) * (4 * OBJECTS_AT_ONCE);
		if (packet.end_object > most && packet.end_object <= limit)
			most = packet.end_object;
	}
	trace->objects = most;
}

static bool read_text(struct memtrace *trace, const char **out)
{
	const uint8_t *bytes;
	size_t length;
	if (!base_cursor_string(&trace->cursor, &bytes, &length))
		return false;
	trace->status = base_pool_string(&trace->pool, bytes, length, out, &trace->error);
	return trace->status == HG_OK;
}

static bool read_info_event(struct memtrace *trace)
{
	struct memtrace_info *info = &trace->info;
	struct base_cursor *c = &trace->cursor;
	uint64_t rate, pid;
	uint32_t header;
	uint8_t bits;
	info->version = trace->packet.version;
	info->start_time = trace->packet.begin;
	info->context = "";
	if (!base_cursor_u32le(c, &header) || header >> EVENT_BIT != EVENT_INFO ||
		!base_cursor_u64le(c, &rate) || !base_cursor_u8(c, &bits) ||
		!read_text(trace, &info->executable) || !read_text(trace, &info->host) ||
		!read_text(trace, &info->parameters) || !base_cursor_u64le(c, &pid) ||
		(info->version > 1 && !read_text(trace, &info->context)))
		return false;
	memcpy(&info->sample_rate, &rate, sizeof(rate));
	info->pid = pid;
	info->word_bytes = bits / 8;
	/* The comparison is false for what is no number. */
	return info->sample_rate > 0 && info->sample_rate <= 1 && (bits == 64 || bits == 32);
}

static enum hg_status read_first_packet(struct memtrace *trace, struct hg_error *error)
{
	enum memtrace_found found = memtrace_packet_at(trace->file, 0, &trace->packet);
	unsigned version = trace->packet.version;
	if (found == MEMTRACE_END)
		return base_corrupt(error, HG_NO_OFFSET, "the file is empty");
	if (found == MEMTRACE_CUT && !version)
		return base_corrupt(error, 0,
			"memtrace trace that ends within its first packet: nothing of it can be "
			"read");
	if (found == MEMTRACE_NO_PACKET && version && version <= MEMTRACE_LATEST)
		return base_corrupt(
			error, 4, "memtrace trace whose first packet has a size that cannot be");
	if (found == MEMTRACE_NO_PACKET && !version)
		return base_corrupt(
			error, 0, "neither a trace of memtrace nor a series of Spacetime");
	if (version == 0)
		return base_corrupt(error, 28,
			"memtrace trace of version 0, written by memtrace before its first release "
			"(early 2020): versions 1 to %d can be read",
			MEMTRACE_LATEST);
	if (version > MEMTRACE_LATEST)
		return base_corrupt(error, 28,
			"memtrace trace of version %u: versions 1 to %d can be read", version,
			MEMTRACE_LATEST);
	if (found == MEMTRACE_CUT)
		return base_corrupt(error, base_cursor_left(&trace->file),
			"memtrace trace that ends within its first packet: nothing of it can be "
			"read");
	trace->cursor = trace->packet.body;
	if (!read_info_event(trace)) {
		if (trace->status == HG_OK)
			return base_corrupt(error, offset_of_cursor(trace),
				"memtrace trace whose first packet does not say what it is of");
		*error = trace->error;
		return trace->status;
	}
	trace->offset = trace->packet.size;
	trace->cursor.next = trace->cursor.end;
	return HG_OK;
}

enum hg_status memtrace_open(struct memtrace **out, const uint8_t *bytes, size_t size, bool strict,
	struct hg_error *error)
{
	*out = NULL;
	struct memtrace *trace = calloc(1, sizeof(*trace));
	if (!trace)
		return base_no_memory(error, sizeof(*trace));
	trace->file = base_cursor_over(bytes, size);
	trace->strict = strict;
	trace->domain_indices = calloc(MOST_DOMAINS, sizeof(*trace->domain_indices));
	enum hg_status status = HG_OK;
	if (!trace->domain_indices)
		status = base_no_memory(error, MOST_DOMAINS * sizeof(*trace->domain_indices));
	if (status == HG_OK)
		status = memtrace_locations_init(&trace->locations, error);
	if (status == HG_OK)
		status = read_first_packet(trace, error);
	if (status != HG_OK) {
		memtrace_close(trace);
		return status;
	}
	count_packets(trace);
	trace->given = calloc(base_bit_words(trace->objects) + 1, sizeof(*trace->given));
	if (!trace->given) {
		status = base_no_memory(error, trace->objects / 8);
		memtrace_close(trace);
		return status;
	}
	*out = trace;
	return HG_OK;
}

static void close_domains(struct memtrace *trace)
{
	for (uint64_t i = 0; i < trace->domain_count; i++)
		memtrace_domain_close(trace->domains[i]);
	trace->domain_count = 0;
	memset(trace->domain_indices, 0, MOST_DOMAINS * sizeof(*trace->domain_indices));
}

void memtrace_close(struct memtrace *trace)
{
	if (!trace)
		return;
	if (trace->domain_indices)
		close_domains(trace);
	free(trace->domains);
	free(trace->domain_indices);
	free(trace->given);
	memtrace_locations_release(&trace->locations);
	base_pool_release(&trace->pool);
	free(trace);
}

enum hg_status memtrace_rewind(struct memtrace *trace, struct hg_error *error)
{
	struct memtrace_packet first;
	close_domains(trace);
	trace->losses = (struct memtrace_losses){0};
	trace->status = HG_OK;
	trace->expected_object = trace->next_object = 0;
	trace->domain = NULL;
	memset(trace->given, 0, base_bit_words(trace->objects) * sizeof(*trace->given));
	if (memtrace_packet_at(trace->file, 0, &first) != MEMTRACE_PACKET)
		return base_corrupt(error, 0, "the file was cut meanwhile");
	trace->offset = first.size;
	trace->cursor.next = trace->cursor.end;
	return memtrace_locations_restart(&trace->locations, error);
}

/* Takes the ids from 'from' to before 'to'; false if some were taken before. */
static bool give_ids(uint64_t *given, uint64_t from, uint64_t to)
{
	enum { BITS = 64 };
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint64_t at = from, next; at < to; at = next) {
			uint64_t in_word = BITS - at % BITS, left = to - at;
			uint64_t mask = UINT64_MAX << at % BITS;
			if (left < in_word)
				mask &= (UINT64_C(1) << (at % BITS + left)) - 1;
			next = at + (left < in_word ? left : in_word);
			if (pass == 0 && given[at / BITS] & mask)
				return false;
			given[at / BITS] |= pass == 0 ? 0 : mask;
		}
	}
	return true;
}

/* What the ids of a packet's allocations say; false if they cannot be. */
static bool check_objects(struct memtrace *trace)
{
	enum { LEAST_ALLOCATION = 6 }; /* bytes */
	const struct memtrace_packet *packet = &trace->packet;
	uint64_t count = packet->end_object - packet->first_object;
	if (packet->end_object < packet->first_object || packet->end_object > trace->objects ||
		count > packet->size / LEAST_ALLOCATION)
		return false;
	if (trace->info.version >= 3)
		return give_ids(trace->given, packet->first_object, packet->end_object);
	if (packet->first_object < trace->expected_object)
		return false;
	if (packet->first_object > trace->expected_object)
		note_loss(trace, &trace->losses.missing_objects,
			packet->first_object - trace->expected_object, packet->offset,
			"objects are missing before this packet");
	trace->expected_object = packet->end_object;
	return true;
}

/* The state of the packet's domain. */
static bool find_domain(struct memtrace *trace)
{
	uint32_t *index = &trace->domain_indices[trace->packet.domain];
	if (!*index) {
		struct memtrace_domain *domain;
		trace->status = base_grow(&trace->domains, trace->domain_count,
			&trace->domain_capacity, sizeof(struct memtrace_domain *), &trace->error);
		if (trace->status == HG_OK)
			trace->status = memtrace_domain_open(&domain, &trace->error);
		if (trace->status != HG_OK)
			return false;
		trace->domains[trace->domain_count++] = domain;
		*index = (uint32_t)trace->domain_count;
	}
	trace->domain_index = *index - 1;
	trace->domain = trace->domains[trace->domain_index];
	return true;
}

static void check_cache(struct memtrace *trace)
{
	const struct memtrace_verifier *verifier = &trace->packet.verifier;
	if (verifier->slot == MEMTRACE_NO_SLOT)
		return;
	if (memtrace_domain_agrees(trace->domain, &trace->locations, verifier)) {
		trace->domain->suspect = false;
		return;
	}
	note_loss(trace, &trace->losses.unverified_packets, 1, trace->packet.offset,
		"backtraces cannot be trusted: the cache of this packet is another one");
	trace->domain->suspect = true;
}

/* Moves to the next packet of this trace. */
static bool next_packet(struct memtrace *trace)
{
	struct memtrace_packet *packet = &trace->packet;
	struct memtrace_losses *losses = &trace->losses;
	while (trace->status == HG_OK) {
		enum memtrace_found found = memtrace_packet_at(trace->file, trace->offset, packet);
		uint64_t left = base_cursor_left(&trace->file) - trace->offset;
		if (found == MEMTRACE_END)
			return false;
		if (found == MEMTRACE_CUT) {
			note_loss(trace, &losses->cut_bytes, left, trace->offset,
				"the file ends within this packet");
			trace->offset += left;
			return false;
		}
		if (found == MEMTRACE_NO_PACKET) {
			uint64_t from = trace->offset;
			bool any = memtrace_packet_behind(
				trace->file, from, trace->info.version, trace->info.pid, packet);
			trace->offset = any ? packet->offset : from + left;
			note_loss(trace, &losses->skipped_bytes, trace->offset - from, from,
				"no packet where one should begin");
			continue;
		}
		trace->offset = packet->offset + packet->size;
		if (packet->pid != trace->info.pid) {
			note_loss(trace, &losses->foreign_packets, 1, packet->offset,
				"a packet of another process");
			continue;
		}
		if (packet->version != trace->info.version || !check_objects(trace)) {
			note_loss(trace, &losses->damaged_packets, 1, packet->offset,
				"a packet whose header cannot be");
			continue;
		}
		trace->cursor = packet->body;
		trace->next_object = packet->first_object;
		if (trace->status != HG_OK || !find_domain(trace))
			return false;
		check_cache(trace);
		return trace->status == HG_OK;
	}
	return false;
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
		note_loss(trace, &trace->losses.clamped_times, 1, offset_of_cursor(trace) - 4,
			"the clock steps back");
	if (packet->end >= packet->begin && time > packet->end)
		time = packet->end;
	if (time < least)
		time = least;
	trace->domain->last_time = time;
	return time - trace->info.start_time;
}

/* A number of variable length; of those of 32 bits the sign counts. */
static inline bool read_vint(struct base_cursor *c, uint64_t *out)
{
	enum { FOLLOWS_16 = 253, FOLLOWS_32, FOLLOWS_64 };
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

/* What stands between the header of an allocation and its backtrace. */
static bool read_long_allocation(struct base_cursor *c, struct memtrace_event *event)
{
	uint8_t source;
	if (!read_vint(c, &event->length) || !read_vint(c, &event->samples) ||
		!base_cursor_u8(c, &source) || source > MEMTRACE_EXTERNAL || !event->samples ||
		event->samples >= UINT32_MAX || event->length >= UINT64_C(1) << 61)
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
	if ((is_long && !read_long_allocation(&c, event)) || !read_vint(&c, &event->common) ||
		(is_long ? !base_cursor_u16le(&c, &words) : !base_cursor_u8(&c, &few)) ||
		trace->next_object == trace->packet.end_object)
		return false;
	event->kept = event->common < domain->depth ? event->common : domain->depth;
	trace->status = memtrace_read_backtrace(domain, &trace->locations, &c, event->common,
		is_long ? words : few, &event->truncated, &good, &trace->error);
	if (trace->status != HG_OK || !good)
		return false;
	event->object = trace->next_object++;
	event->stack = domain->stack;
	event->depth = domain->depth;
	if (domain->suspect)
		trace->losses.suspect_backtraces++;
	trace->cursor = c;
	return true;
}

/* Of a promotion or collection: an object by how long ago its id was given away. */
static bool read_end_of_object(struct memtrace *trace, struct memtrace_event *event)
{
	uint64_t delta;
	if (!read_vint(&trace->cursor, &delta))
		return false;
	event->object = trace->next_object - 1 - delta;
	return event->object < trace->objects;
}

static bool read_location_event(struct memtrace *trace, uint32_t header)
{
	bool recovered = false, good = false;
	uint64_t offset = offset_of_cursor(trace);
	trace->status = memtrace_read_location(&trace->locations, &trace->domain->recent,
		&trace->cursor, header, &recovered, &good, &trace->error);
	if (recovered && good)
		note_loss(trace, &trace->losses.recovered_places, 1, offset,
			"columns of long lines spoilt names of files (memtrace before v0.2.4)");
	return good && trace->status == HG_OK;
}

/* Leaves the packet where it cannot be read. */
static void leave_packet(struct memtrace *trace, uint64_t offset)
{
	trace->domain->suspect = true;
	trace->cursor.next = trace->cursor.end;
	note_loss(trace, &trace->losses.damaged_packets, 1, offset,
		"an event that cannot be read: the rest of its packet is left out");
}

/* The event at the cursor; *is_location where it is none for the caller. */
static bool read_event(struct memtrace *trace, struct memtrace_event *event, bool *is_location)
{
	uint32_t header;
	if (!base_cursor_u32le(&trace->cursor, &header))
		return false;
	unsigned kind = header >> EVENT_BIT;
	*is_location = kind == EVENT_LOCATION;
	if (*is_location)
		return read_location_event(trace, header);
	event->time = time_of_event(trace, header);
	event->domain = trace->packet.domain;
	event->domain_index = trace->domain_index;
	if (trace->status != HG_OK)
		return false;
	if (kind == EVENT_LONG || (kind > EVENT_SHORT && kind <= EVENT_SHORT + LONGEST_SHORT))
		return read_allocation(trace, kind, event);
	if (kind != EVENT_PROMOTION && kind != EVENT_COLLECTION)
		return false;
	event->kind = kind == EVENT_PROMOTION ? MEMTRACE_PROMOTION : MEMTRACE_COLLECTION;
	return read_end_of_object(trace, event);
}

bool memtrace_next(struct memtrace *trace, struct memtrace_event *event)
{
	while (trace->status == HG_OK) {
		bool is_location = false;
		if (base_cursor_left(&trace->cursor) == 0) {
			if (!next_packet(trace))
				return false;
			continue;
		}
		uint64_t offset = offset_of_cursor(trace);
		if (!read_event(trace, event, &is_location)) {
			if (trace->status == HG_OK)
				leave_packet(trace, offset);
			continue;
		}
		if (!is_location && trace->status == HG_OK)
			return true;
	}
	return false;
}

enum hg_status memtrace_status(const struct memtrace *trace, struct hg_error *error)
{
	if (trace->status != HG_OK)
		*error = trace->error;
	return trace->status;
}

const struct memtrace_info *memtrace_about(const struct memtrace *trace)
{
	return &trace->info;
}

const struct memtrace_losses *memtrace_lost(const struct memtrace *trace)
{
	return &trace->losses;
}

const struct memtrace_locations *memtrace_places(const struct memtrace *trace)
{
	return &trace->locations;
}

uint64_t memtrace_objects(const struct memtrace *trace)
{
	return trace->objects;
}

uint64_t memtrace_packets(const struct memtrace *trace)
{
	return trace->packet_count;
}

uint64_t memtrace_offset(const struct memtrace *trace)
{
	return trace->offset;
}
