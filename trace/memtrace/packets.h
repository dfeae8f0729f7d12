/*
 * Packets of a memtrace trace: their headers, and one after the other in a file that may be cut or
 * damaged anywhere.
 */
#ifndef TRACE_MEMTRACE_PACKETS_H
#define TRACE_MEMTRACE_PACKETS_H

#include "trace/memtrace/backtraces.h"
#include "trace/memtrace/window.h"

struct memtrace_packet {
	uint64_t offset, size; /* in bytes, with the header */
	uint64_t header_size;
	unsigned version;
	uint64_t begin, end; /* microseconds since the epoch */
	uint64_t pid;
	uint16_t domain;
	struct memtrace_verifier verifier;
	uint64_t first_object, end_object; /* ids of its allocations */
};

enum memtrace_found {
	MEMTRACE_PACKET,
	MEMTRACE_NO_PACKET, /* here: what follows is damaged */
	MEMTRACE_CUT,       /* the file ends within it */
	MEMTRACE_END,       /* of the file */
	MEMTRACE_UNREADABLE /* the error says why */
};

enum {
	MEMTRACE_MAGIC = 0xC1FC1FC1,
	MEMTRACE_LATEST = 3,
	MEMTRACE_HEADER_V1 = 66,
	MEMTRACE_TIME_BITS = 25 /* the lowest of an event's header; the others are its kind */
};

/* The packet at 'offset', whose version is not judged. */
enum memtrace_found memtrace_packet_at(struct memtrace_window *window, uint64_t offset,
	struct memtrace_packet *packet, struct hg_error *error);

/*
 * Looks for the first packet at 'offset' or behind it that may be one of a trace of this version
 * and process.
 */
bool memtrace_packet_behind(struct base_cursor file, uint64_t offset, unsigned version,
	uint64_t pid, struct memtrace_packet *packet);

#endif
