/*
 * Writer of memtrace traces, versions 2 and 3, as memtrace's own writes them: packets of at most 32
 * KiB, locations before the events that use them, backtraces by what differs from the last one of
 * their domain.  Events of a domain are given in the order of time.
 *
 *     memtrace_writer_open(&writer, &options, &error);
 *     memtrace_write_allocation(writer, domain, &allocation, &object, &error); ...
 *     status = memtrace_writer_close(writer, &error);
 *
 * Version 2 has one domain, 0, and ids without holes; in version 3 a domain takes 10,000 ids at a
 * time.
 *
 * Source of the format: memtrace, src/trace.ml and src/backtrace_codec.ml (development version,
 * January 2026).
 */
#ifndef TRACE_MEMTRACE_WRITER_H
#define TRACE_MEMTRACE_WRITER_H

#include "trace/memtrace/reader.h"

struct memtrace_writer;

/* False if the bytes cannot be written, which ends it with HG_ERROR_OUTPUT. */
typedef bool memtrace_write_fn(void *data, const void *bytes, size_t size);

struct memtrace_place {
	const char *file, *function;
	uint32_t line, start, end; /* what is too large for its field is written as the largest */
};

/* The places of a code, outermost first; how many.  They live until the next call. */
typedef size_t memtrace_places_fn(void *data, uint64_t code, const struct memtrace_place **places);

struct memtrace_writer_options {
	const struct memtrace_info *info; /* version 2 or 3 */
	memtrace_write_fn *write;
	memtrace_places_fn *places;
	void *data; /* of both */
};

struct memtrace_allocation {
	uint64_t time; /* microseconds since the epoch */
	enum memtrace_source source;
	uint64_t length; /* words, without header */
	uint64_t samples;
	const uint64_t *codes; /* outermost first */
	uint64_t depth;
};

/* HG_ERROR_USAGE for other versions; what the info points to is not needed afterwards. */
enum hg_status memtrace_writer_open(struct memtrace_writer **out,
	const struct memtrace_writer_options *options, struct hg_error *error);

/* Writes what is left, and frees the writer; nothing is written after a failure. */
enum hg_status memtrace_writer_close(struct memtrace_writer *writer, struct hg_error *error);
/* Frees it without that. */
void memtrace_writer_drop(struct memtrace_writer *writer);

/* *object is its id.  'error' may be filled in whatever is called. */
enum hg_status memtrace_write_allocation(struct memtrace_writer *writer, uint16_t domain,
	const struct memtrace_allocation *allocation, uint64_t *object, struct hg_error *error);

/* Promotion or collection of an object. */
enum hg_status memtrace_write_end(struct memtrace_writer *writer, uint16_t domain,
	enum memtrace_kind kind, uint64_t time, uint64_t object, struct hg_error *error);

#endif
