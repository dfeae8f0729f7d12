/*
 * Builds OCamlmemprof 0.1 dumps for tests: bytes first, then a file in a temporary folder.
 */
#ifndef TESTS_UNIT_DUMP_H
#define TESTS_UNIT_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether all is wanted, however long it takes ('make test-all'); otherwise samples are enough. */
static inline bool is_thorough(void)
{
	return getenv("THOROUGH") != NULL;
}

struct dump {
	uint8_t *bytes;
	size_t size, capacity;
	char path[64];
};

static inline void dump_u8(struct dump *d, unsigned value)
{
	if (d->size == d->capacity) {
		d->capacity = d->capacity ? 2 * d->capacity : 4096;
		d->bytes = realloc(d->bytes, d->capacity);
		if (!d->bytes)
			abort();
	}
	d->bytes[d->size++] = (uint8_t)value;
}

static inline void dump_word(struct dump *d, uint64_t value)
{
	for (unsigned i = 0; i < 64; i += 8)
		dump_u8(d, (unsigned)(value >> i & 0xff));
}

static inline void dump_start(struct dump *d, const char *program)
{
	d->size = 0;
	dump_u8(d, 8);
	dump_word(d, strlen(program));
	for (const char *c = program; *c; c++)
		dump_u8(d, (unsigned char)*c);
}

static inline void dump_chunk(struct dump *d, uint64_t start, uint64_t end)
{
	dump_u8(d, 0);
	dump_word(d, start);
	dump_word(d, end);
}

/* Without its fields, which the caller adds as words when tag < 251. */
static inline void dump_block(
	struct dump *d, uint64_t address, unsigned tag, uint64_t wosize, uint64_t id)
{
	dump_u8(d, 1);
	dump_word(d, address);
	dump_u8(d, tag);
	dump_word(d, wosize);
	dump_word(d, id);
}

/* Ends the records; the stack and the other roots follow, each ended by its own call. */
static inline void dump_end_blocks(struct dump *d, uint64_t globals)
{
	dump_u8(d, 0xff);
	dump_word(d, 0x1000);
	dump_word(d, 0x2000);
	dump_word(d, 3);
	dump_word(d, globals);
}

static inline void dump_roots(struct dump *d, uint64_t globals, const uint64_t *stack,
	size_t stack_count, const uint64_t *others, size_t other_count)
{
	dump_end_blocks(d, globals);
	dump_word(d, 2 * stack_count + 1);
	for (size_t i = 0; i < stack_count; i++) {
		dump_word(d, 1);
		dump_word(d, stack[i]);
	}
	dump_word(d, 0);
	/* The writer repeats globals and stack in the list of roots. */
	if (globals && !(globals & 1))
		dump_word(d, globals);
	for (size_t i = 0; i < stack_count; i++)
		dump_word(d, stack[i]);
	for (size_t i = 0; i < other_count; i++)
		dump_word(d, others[i]);
	dump_word(d, 1);
}

/* Writes the first 'size' bytes to a temporary file, d->path. */
static inline void dump_write_part(struct dump *d, size_t size)
{
	if (!d->path[0]) {
		snprintf(d->path, sizeof(d->path), "/tmp/heapgraph-test.XXXXXX");
		int fd = mkstemp(d->path);
		if (fd < 0)
			abort();
		close(fd);
	}
	FILE *file = fopen(d->path, "wb");
	if (!file || (size && fwrite(d->bytes, 1, size, file) != size) || fclose(file))
		abort();
}

static inline void dump_write(struct dump *d)
{
	dump_write_part(d, d->size);
}

static inline void dump_release(struct dump *d)
{
	if (d->path[0])
		unlink(d->path);
	free(d->bytes);
	memset(d, 0, sizeof(*d));
}

#endif
