/* Packets of a memtrace trace, and the events in them one by one. */
#include "trace/memtrace/reader.h"

#include "trace/memtrace/events.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/grow.h"

#include <string.h>

enum { MOST_DOMAINS = 1 << 16, OBJECTS_AT_ONCE = 10000, READ_AT_ONCE = 1 << 18, EVENT_INFO = 0 };

bool memtrace_begins(const uint8_t *bytes, size_t size)
{
	struct base_cursor c = base_cursor_over(bytes, size);
	uint32_t magic;
	return base_cursor_u32le(&c, &magic) && magic == MEMTRACE_MAGIC;
}

/* Of the whole file, by the headers of packets alone: how many, and the ids they have. */
static void count_packets(struct memtrace *trace)
{
	struct memtrace_packet packet;
	uint64_t offset = 0, most = 0;
	for (;;) {
		enum memtrace_found found =
			memtrace_packet_at(&trace->window, offset, &packet, NULL);
		if (found != MEMTRACE_PACKET &&
			(found != MEMTRACE_NO_PACKET ||
				!memtrace_packet_behind(trace->window.file, offset,
					trace->info.version, trace->info.pid, &packet)))
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
	if (!base_cursor_u32le(c, &header) || header >> MEMTRACE_TIME_BITS != EVENT_INFO ||
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

/* To the first event of the packet whose header was read. */
static enum hg_status go_to_packet(struct memtrace *trace, struct hg_error *error)
{
	const struct memtrace_packet *packet = &trace->packet;
	BASE_TRY(memtrace_window_at(
		&trace->window, packet->offset, packet->size, &trace->cursor, error));
	base_cursor_skip(&trace->cursor, packet->header_size);
	trace->next_object = packet->first_object;
	return HG_OK;
}

static enum hg_status read_first_packet(struct memtrace *trace, struct hg_error *error)
{
	enum memtrace_found found = memtrace_packet_at(&trace->window, 0, &trace->packet, error);
	unsigned version = trace->packet.version;
	if (found == MEMTRACE_UNREADABLE)
		return trace->window.status;
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
		return base_corrupt(error, base_cursor_left(&trace->window.file),
			"memtrace trace that ends within its first packet: nothing of it can be "
			"read");
	BASE_TRY(go_to_packet(trace, error));
	if (!read_info_event(trace)) {
		if (trace->status == HG_OK)
			return base_corrupt(error, memtrace_cursor_offset(trace),
				"memtrace trace whose first packet does not say what it is of");
		*error = trace->error;
		return trace->status;
	}
	trace->offset = trace->packet.size;
	trace->cursor.next = trace->cursor.end;
	return HG_OK;
}

enum hg_status memtrace_open(struct memtrace **out, const uint8_t *bytes, size_t size,
	int descriptor, bool strict, struct hg_error *error)
{
	*out = NULL;
	struct memtrace *trace = calloc(1, sizeof(*trace));
	if (!trace)
		return base_no_memory(error, sizeof(*trace));
	trace->window = (struct memtrace_window){
		.file = base_cursor_over(bytes, size), .descriptor = descriptor};
	trace->strict = strict;
	trace->domain_indices = calloc(MOST_DOMAINS, sizeof(*trace->domain_indices));
	enum hg_status status = HG_OK;
	if (!trace->domain_indices)
		status = base_no_memory(error, MOST_DOMAINS * sizeof(*trace->domain_indices));
	if (status == HG_OK)
		status = memtrace_locations_init(&trace->locations, error);
	if (status == HG_OK)
		status = memtrace_batch_init(&trace->batch, error);
	if (status == HG_OK)
		status = read_first_packet(trace, error);
	if (status != HG_OK) {
		memtrace_close(trace);
		return status;
	}
	count_packets(trace);
	trace->window.ahead = READ_AT_ONCE;
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
}

void memtrace_close(struct memtrace *trace)
{
	if (!trace)
		return;
	close_domains(trace);
	free(trace->domains);
	free(trace->domain_indices);
	free(trace->given);
	free(trace->batch.frames);
	memtrace_window_release(&trace->window);
	memtrace_locations_release(&trace->locations);
	base_pool_release(&trace->pool);
	free(trace);
}

/* What packets have left behind; before the first one these arrays have not been touched. */
static void forget_packets(struct memtrace *trace)
{
	if (!trace->begun)
		return;
	trace->begun = false;
	close_domains(trace);
	memset(trace->domain_indices, 0, MOST_DOMAINS * sizeof(*trace->domain_indices));
	memset(trace->given, 0, base_bit_words(trace->objects) * sizeof(*trace->given));
}

enum hg_status memtrace_rewind(struct memtrace *trace, struct hg_error *error)
{
	struct memtrace_packet first;
	forget_packets(trace);
	trace->losses = (struct memtrace_losses){0};
	trace->status = HG_OK;
	trace->expected_object = trace->next_object = 0;
	trace->domain = NULL;
	trace->batch.count = trace->next_event = 0;
	if (memtrace_packet_at(&trace->window, 0, &first, NULL) != MEMTRACE_PACKET)
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
		memtrace_note_loss(trace, &trace->losses.missing_objects,
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
	trace->batch.domain = trace->packet.domain;
	trace->batch.domain_index = *index - 1;
	trace->domain = trace->domains[*index - 1];
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
	memtrace_note_loss(trace, &trace->losses.unverified_packets, 1, trace->packet.offset,
		"backtraces cannot be trusted: the cache of this packet is another one");
	trace->domain->suspect = true;
}

/* Moves to the next packet of this trace. */
static bool next_packet(struct memtrace *trace)
{
	struct memtrace_packet *packet = &trace->packet;
	struct memtrace_losses *losses = &trace->losses;
	trace->begun = true;
	while (trace->status == HG_OK) {
		enum memtrace_found found =
			memtrace_packet_at(&trace->window, trace->offset, packet, &trace->error);
		uint64_t left = base_cursor_left(&trace->window.file) - trace->offset;
		if (found == MEMTRACE_UNREADABLE)
			trace->status = trace->window.status;
		if (found == MEMTRACE_END || found == MEMTRACE_UNREADABLE)
			return false;
		if (found == MEMTRACE_CUT) {
			memtrace_note_loss(trace, &losses->cut_bytes, left, trace->offset,
				"the file ends within this packet");
			trace->offset += left;
			return false;
		}
		if (found == MEMTRACE_NO_PACKET) {
			uint64_t from = trace->offset;
			bool any = memtrace_packet_behind(trace->window.file, from,
				trace->info.version, trace->info.pid, packet);
			trace->offset = any ? packet->offset : from + left;
			memtrace_note_loss(trace, &losses->skipped_bytes, trace->offset - from,
				from, "no packet where one should begin");
			continue;
		}
		trace->offset = packet->offset + packet->size;
		if (packet->pid != trace->info.pid) {
			memtrace_note_loss(trace, &losses->foreign_packets, 1, packet->offset,
				"a packet of another process");
			continue;
		}
		if (packet->version != trace->info.version || !check_objects(trace)) {
			memtrace_note_loss(trace, &losses->damaged_packets, 1, packet->offset,
				"a packet whose header cannot be");
			continue;
		}
		if (trace->status != HG_OK || !find_domain(trace))
			return false;
		trace->status = go_to_packet(trace, &trace->error);
		if (trace->status != HG_OK)
			return false;
		check_cache(trace);
		return trace->status == HG_OK;
	}
	return false;
}

bool memtrace_next_batch(struct memtrace *trace, const struct memtrace_batch **batch)
{
	trace->next_event = trace->next_frame = 0;
	*batch = &trace->batch;
	trace->batch.count = 0;
	while (trace->status == HG_OK && !trace->batch.count) {
		if (base_cursor_left(&trace->cursor) == 0 && !next_packet(trace))
			return false;
		memtrace_read_events(trace);
	}
	return trace->status == HG_OK;
}

/* What the domain's stack was, with the frames of an event. */
static bool put_frames_on_stack(struct memtrace *trace, struct memtrace_event *event)
{
	struct memtrace_domain *domain = trace->domain;
	if (event->depth > domain->stack_capacity)
		trace->status =
			base_grow_by(&domain->stack, event->kept, event->depth - event->kept,
				&domain->stack_capacity, sizeof(*domain->stack), &trace->error);
	if (trace->status != HG_OK)
		return false;
	for (; trace->next_frame <= event->frame; trace->next_frame++) {
		const struct memtrace_frame *frame = &trace->batch.frames[trace->next_frame];
		if (frame->code != MEMTRACE_NO_FRAME)
			domain->stack[frame->depth] = frame->code;
	}
	event->stack = domain->stack;
	return true;
}

bool memtrace_next(struct memtrace *trace, struct memtrace_event *event)
{
	const struct memtrace_batch *batch = &trace->batch;
	if (trace->next_event == batch->count && !memtrace_next_batch(trace, &batch))
		return false;
	*event = batch->events[trace->next_event++];
	event->domain = batch->domain;
	event->domain_index = batch->domain_index;
	return event->kind != MEMTRACE_ALLOCATION || put_frames_on_stack(trace, event);
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
