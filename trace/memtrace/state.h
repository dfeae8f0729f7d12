/*
 * What a reader of memtrace has in hand: reader.c goes from packet to packet, events.c reads what
 * is in them.
 */
#ifndef TRACE_MEMTRACE_STATE_H
#define TRACE_MEMTRACE_STATE_H

#include "trace/memtrace/packets.h"
#include "trace/memtrace/reader.h"
#include "trace/memtrace/window.h"

struct memtrace {
	struct memtrace_window window;
	struct memtrace_info info;
	struct base_pool pool; /* of the strings of info */
	struct memtrace_locations locations;
	struct memtrace_losses losses;
	bool strict;

	struct memtrace_domain **domains; /* in the order of the file */
	uint32_t *domain_indices;         /* of each number + 1; 0: not met */
	uint64_t domain_count, domain_capacity;

	uint64_t packet_count, objects;
	/* bits: ids that packets had; from version 3 on, where ids come in chunks */
	uint64_t *given;

	/* what is being read */
	bool begun;      /* a packet was asked for */
	uint64_t offset; /* of the next packet */
	struct memtrace_packet packet;
	struct base_cursor cursor; /* in the packet; at its end: the next one is to be read */
	struct memtrace_domain *domain;
	uint64_t next_object, expected_object;
	struct memtrace_batch batch;
	uint32_t next_event, next_frame; /* of the batch: for those who take events one by one */
	enum hg_status status;
	struct hg_error error;
};

/* A loss; in strict readers the end. */
void memtrace_note_loss(
	struct memtrace *trace, uint64_t *count, uint64_t by, uint64_t offset, const char *what);

/* In the file, of the cursor. */
static inline uint64_t memtrace_cursor_offset(const struct memtrace *trace)
{
	return trace->packet.offset + trace->packet.size - base_cursor_left(&trace->cursor);
}

#endif
