/* Packets, and the events in them. */
#include "trace/memtrace/writer.h"

#include "trace/memtrace/encoder.h"
#include "trace/memtrace/packets.h"
#include "trace/memtrace/places.h"

#include "base/grow.h"

#include <string.h>

enum {
	PACKET_ROOM = 1 << 15,
	LEAST_ROOM = 4196, /* of an event: its code, and less than 100 bytes */
	MOST_NEW_CODES = 128,
	MOST_SPAN = 30000000, /* microseconds */
	OBJECTS_AT_ONCE = 10000
};
enum { CODE_INFO = 0, CODE_LOCATION = 1, CODE_LONG = 2, CODE_PROMOTION = 3, CODE_COLLECTION = 4 };
enum { CODE_SHORT = 100, LONGEST_SHORT = 16, TIME_BITS = 25, WITH_DOMAIN = 3 };

/* Bytes of a packet behind its header. */
struct packet_bytes {
	uint8_t bytes[PACKET_ROOM];
	unsigned length;
};

struct writing_domain {
	uint16_t number;
	uint64_t index;   /* of all that are written */
	bool has_written; /* packets of events: from the second one on they have a verifier */
	struct memtrace_encoder encoder;
	struct memtrace_verifier verifier; /* before the packet's first event */
	struct memtrace_written written;
	struct base_map known; /* codes whose places are written, or wait to be */
	uint64_t *new_codes;   /* those that wait */
	uint64_t new_count, new_capacity;
	struct packet_bytes packet;
	uint64_t begin, end; /* of its events, microseconds since the epoch */
	uint64_t first_object, next_object, end_of_objects;
};

struct memtrace_writer {
	struct memtrace_info info; /* without its strings */
	memtrace_write_fn *write;
	memtrace_places_fn *places;
	void *data;
	struct trace_names names;
	struct writing_domain **domains;
	uint64_t domain_count, domain_capacity;
	uint64_t next_object; /* of no domain yet */
	uint64_t *owners;     /* number of the domain that has each OBJECTS_AT_ONCE ids */
	uint64_t owner_count, owner_capacity;
	struct packet_bytes places_packet;
};

static void put_number(struct packet_bytes *to, uint64_t number, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to->bytes[to->length++] = (uint8_t)(number >> 8 * i);
}

static void put_vint(struct packet_bytes *to, int64_t number)
{
	enum { SMALL = 252, IN_16 = 253, IN_32 = 254, IN_64 = 255 };
	if (number >= 0 && number <= SMALL) {
		put_number(to, (uint64_t)number, 1);
	} else if (number >= 0 && number <= UINT16_MAX) {
		put_number(to, IN_16, 1);
		put_number(to, (uint64_t)number, 2);
	} else if (number >= INT32_MIN && number <= INT32_MAX) {
		put_number(to, IN_32, 1);
		put_number(to, (uint64_t)number, 4);
	} else {
		put_number(to, IN_64, 1);
		put_number(to, (uint64_t)number, 8);
	}
}

static void put_event(struct packet_bytes *to, unsigned code, uint64_t time)
{
	put_number(to, (uint64_t)code << TIME_BITS | (time & ((UINT64_C(1) << TIME_BITS) - 1)), 4);
}

struct packet_head {
	uint16_t domain;
	uint64_t begin, end, first_object, end_object;
	const struct memtrace_verifier *verifier; /* NULL: none */
};

static enum hg_status write_packet(struct memtrace_writer *w, const struct packet_head *head,
	struct packet_bytes *packet, struct hg_error *error)
{
	static const struct memtrace_verifier none = {.slot = MEMTRACE_NO_SLOT};
	const struct memtrace_verifier *verifier = head->verifier ? head->verifier : &none;
	struct packet_bytes header;
	bool has_domain = w->info.version >= WITH_DOMAIN;
	unsigned size = (has_domain ? 2u : 0u) + MEMTRACE_HEADER_V1 + packet->length;
	header.length = 0;
	put_number(&header, MEMTRACE_MAGIC, 4);
	put_number(&header, size * UINT64_C(8), 4);
	put_number(&header, head->begin, 8);
	put_number(&header, head->end, 8);
	put_number(&header, 0, 4);
	put_number(&header, w->info.version, 2);
	put_number(&header, w->info.pid, 8);
	if (has_domain)
		put_number(&header, head->domain, 2);
	put_number(&header, verifier->slot, 2);
	put_number(&header, verifier->next, 2);
	put_number(&header, verifier->code, 8);
	put_number(&header, head->first_object, 8);
	put_number(&header, head->end_object, 8);
	bool good = w->write(w->data, header.bytes, header.length) &&
		    (!packet->length || w->write(w->data, packet->bytes, packet->length));
	packet->length = 0;
	return good ? HG_OK
		    : base_fail(
			      error, HG_ERROR_OUTPUT, HG_NO_OFFSET, "the trace cannot be written");
}

static enum hg_status write_info(
	struct memtrace_writer *w, const struct memtrace_info *info, struct hg_error *error)
{
	enum { LONGEST = 8000 };
	const char *strings[] = {info->executable, info->host, info->parameters};
	struct packet_bytes *packet = &w->places_packet;
	uint64_t rate;
	size_t lengths[] = {strlen(info->executable), strlen(info->host), strlen(info->parameters),
		strlen(info->context)};
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		if (lengths[i] > LONGEST)
			return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
				"a trace cannot say so much of its program");
	memcpy(&rate, &info->sample_rate, sizeof(rate));
	put_event(packet, CODE_INFO, info->start_time);
	put_number(packet, rate, 8);
	put_number(packet, info->word_bytes * UINT64_C(8), 1);
	for (unsigned i = 0; i < 3; i++) {
		memcpy(packet->bytes + packet->length, strings[i], lengths[i] + 1);
		packet->length += (unsigned)lengths[i] + 1;
	}
	put_number(packet, info->pid, 8);
	memcpy(packet->bytes + packet->length, info->context, lengths[3] + 1);
	packet->length += (unsigned)lengths[3] + 1;
	struct packet_head head = {.begin = info->start_time, .end = info->start_time};
	return write_packet(w, &head, packet, error);
}

enum hg_status memtrace_writer_open(struct memtrace_writer **out,
	const struct memtrace_writer_options *options, struct hg_error *error)
{
	*out = NULL;
	if (options->info->version < 2 || options->info->version > MEMTRACE_LATEST)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"traces of version %u cannot be written", options->info->version);
	struct memtrace_writer *w = calloc(1, sizeof(*w));
	if (!w)
		return base_no_memory(error, sizeof(*w));
	w->info = *options->info;
	w->write = options->write;
	w->places = options->places;
	w->data = options->data;
	enum hg_status status = write_info(w, options->info, error);
	if (status != HG_OK)
		memtrace_writer_drop(w);
	else
		*out = w;
	return status;
}

void memtrace_writer_drop(struct memtrace_writer *w)
{
	for (uint64_t i = 0; i < w->domain_count; i++) {
		memtrace_encoder_release(&w->domains[i]->encoder);
		base_map_release(&w->domains[i]->known);
		free(w->domains[i]->new_codes);
		free(w->domains[i]);
	}
	free(w->domains);
	free(w->owners);
	trace_names_release(&w->names);
	free(w);
}

/* Ids that follow each other are the domain's; it has none left. */
static enum hg_status take_objects(
	struct memtrace_writer *w, struct writing_domain *d, struct hg_error *error)
{
	BASE_TRY(base_grow(
		&w->owners, w->owner_count, &w->owner_capacity, sizeof(*w->owners), error));
	w->owners[w->owner_count++] = d->index;
	uint64_t count = w->info.version >= WITH_DOMAIN ? OBJECTS_AT_ONCE : UINT64_MAX;
	d->first_object = d->next_object = w->next_object;
	d->end_of_objects = count == UINT64_MAX ? count : w->next_object + count;
	w->next_object = d->end_of_objects;
	return HG_OK;
}

static enum hg_status find_writing_domain(struct memtrace_writer *w, uint16_t number,
	struct writing_domain **domain, struct hg_error *error)
{
	for (uint64_t i = 0; i < w->domain_count; i++) {
		*domain = w->domains[i];
		if ((*domain)->number == number)
			return HG_OK;
	}
	if (number && w->info.version < WITH_DOMAIN)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"traces of version %u have one domain", w->info.version);
	BASE_TRY(base_grow(
		&w->domains, w->domain_count, &w->domain_capacity, sizeof(*w->domains), error));
	*domain = calloc(1, sizeof(**domain));
	if (!*domain)
		return base_no_memory(error, sizeof(**domain));
	(*domain)->number = number;
	(*domain)->index = w->domain_count;
	w->domains[w->domain_count++] = *domain;
	return take_objects(w, *domain, error);
}

/* Locations that wait, in packets of their own, which have the time of the events' begin. */
static enum hg_status write_new_places(
	struct memtrace_writer *w, struct writing_domain *d, struct hg_error *error)
{
	struct packet_bytes *packet = &w->places_packet;
	struct packet_head head = {.domain = d->number,
		.begin = d->begin,
		.end = d->begin,
		.first_object = d->first_object,
		.end_object = d->first_object};
	for (uint64_t i = 0; i < d->new_count; i++) {
		const struct memtrace_place *places;
		size_t count = w->places(w->data, d->new_codes[i], &places);
		if (packet->length + LEAST_ROOM > PACKET_ROOM)
			BASE_TRY(write_packet(w, &head, packet, error));
		put_event(packet, CODE_LOCATION, d->begin);
		put_number(packet, d->new_codes[i], 8);
		BASE_TRY(memtrace_put_places(&d->written, &w->names, places, count, packet->bytes,
			&packet->length, error));
	}
	d->new_count = 0;
	return packet->length ? write_packet(w, &head, packet, error) : HG_OK;
}

static enum hg_status flush_domain(
	struct memtrace_writer *w, struct writing_domain *d, struct hg_error *error)
{
	struct packet_head head = {.domain = d->number,
		.begin = d->begin,
		.end = d->end,
		.first_object = d->first_object,
		.end_object = d->next_object,
		.verifier = d->has_written ? &d->verifier : NULL};
	if (!d->packet.length)
		return HG_OK;
	BASE_TRY(write_new_places(w, d, error));
	BASE_TRY(write_packet(w, &head, &d->packet, error));
	d->has_written = true;
	d->first_object = d->next_object;
	return HG_OK;
}

/* Before an event: a packet with room for it. */
static enum hg_status begin_event(struct memtrace_writer *w, uint16_t number, uint64_t time,
	struct writing_domain **domain, struct hg_error *error)
{
	BASE_TRY(find_writing_domain(w, number, domain, error));
	struct writing_domain *d = *domain;
	if (time < d->end || time < w->info.start_time)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"events of a domain are written in the order of time");
	if (d->packet.length + LEAST_ROOM > PACKET_ROOM || d->new_count > MOST_NEW_CODES ||
		(d->packet.length && time - d->begin > MOST_SPAN))
		BASE_TRY(flush_domain(w, d, error));
	if (!d->packet.length) {
		unsigned slot = d->encoder.victim ? d->encoder.victim - 1 : 0;
		d->begin = time;
		d->verifier = (struct memtrace_verifier){.slot = (uint16_t)slot,
			.next = d->encoder.slots[slot].next,
			.code = d->encoder.slots[slot].code};
	}
	d->end = time;
	return HG_OK;
}

static enum hg_status note_new_code(void *data, uint64_t code, struct hg_error *error)
{
	struct writing_domain *d = data;
	bool added;
	BASE_TRY(base_map_note(&d->known, code, &added, error));
	if (!added)
		return HG_OK;
	BASE_TRY(base_grow(
		&d->new_codes, d->new_count, &d->new_capacity, sizeof(*d->new_codes), error));
	d->new_codes[d->new_count++] = code;
	return HG_OK;
}

enum hg_status memtrace_write_allocation(struct memtrace_writer *w, uint16_t number,
	const struct memtrace_allocation *allocation, uint64_t *object, struct hg_error *error)
{
	uint8_t code[MEMTRACE_MOST_CODE];
	unsigned length, words;
	uint64_t common;
	struct writing_domain *d;
	BASE_TRY(begin_event(w, number, allocation->time, &d, error));
	if (d->next_object == d->end_of_objects) {
		BASE_TRY(flush_domain(w, d, error));
		BASE_TRY(take_objects(w, d, error));
		BASE_TRY(begin_event(w, number, allocation->time, &d, error));
	}
	BASE_TRY(memtrace_encode(&d->encoder, allocation->codes, allocation->depth, &common, code,
		&length, &words, note_new_code, d, error));
	bool is_short = allocation->length > 0 && allocation->length <= LONGEST_SHORT &&
			allocation->samples == 1 && allocation->source == MEMTRACE_MINOR &&
			words <= UINT8_MAX;
	put_event(&d->packet, is_short ? CODE_SHORT + (unsigned)allocation->length : CODE_LONG,
		allocation->time);
	if (!is_short) {
		put_vint(&d->packet, (int64_t)allocation->length);
		put_vint(&d->packet, (int64_t)allocation->samples);
		put_number(&d->packet, allocation->source, 1);
	}
	put_vint(&d->packet, (int64_t)common);
	put_number(&d->packet, words, is_short ? 1 : 2);
	memcpy(d->packet.bytes + d->packet.length, code, length);
	d->packet.length += length;
	*object = d->next_object++;
	return HG_OK;
}

enum hg_status memtrace_write_end(struct memtrace_writer *w, uint16_t number,
	enum memtrace_kind kind, uint64_t time, uint64_t object, struct hg_error *error)
{
	struct writing_domain *d;
	BASE_TRY(begin_event(w, number, time, &d, error));
	/* What happened to it before stands before this in the file. */
	uint64_t chunk = w->info.version >= WITH_DOMAIN ? object / OBJECTS_AT_ONCE : 0;
	if (chunk < w->owner_count && w->owners[chunk] != d->index)
		BASE_TRY(flush_domain(w, w->domains[w->owners[chunk]], error));
	put_event(&d->packet, kind == MEMTRACE_PROMOTION ? CODE_PROMOTION : CODE_COLLECTION, time);
	put_vint(&d->packet, (int64_t)(d->next_object - 1 - object));
	return HG_OK;
}

enum hg_status memtrace_writer_close(struct memtrace_writer *w, struct hg_error *error)
{
	enum hg_status status = HG_OK;
	for (uint64_t i = 0; i < w->domain_count && status == HG_OK; i++)
		status = flush_domain(w, w->domains[i], error);
	memtrace_writer_drop(w);
	return status;
}
