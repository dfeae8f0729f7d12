/* Memory for Capstone, taken before it asks for any. */
#include "snapshot/arch/disassembler.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Capstone 4 takes 20 KB for a handle and an instruction, and nothing more from then on. */
enum { MEMORY = 128 << 10, HEADER = 16 };

static _Thread_local struct snap_disassembler *current;

/* The size stands before each piece, for realloc. */
static void *take_piece(size_t size)
{
	struct snap_disassembler *d = current;
	if (!d)
		return malloc(size);
	size_t whole = size > MEMORY ? size : (size + HEADER + 15) & ~(size_t)15;
	if (whole > MEMORY - d->used)
		return malloc(size);
	char *piece = d->memory + d->used;
	d->used += whole;
	memcpy(piece, &size, sizeof(size));
	return piece + HEADER;
}

static bool is_piece(const void *bytes)
{
	for (const struct snap_disassembler *d = current; d; d = d->outer)
		if ((uintptr_t)bytes - (uintptr_t)d->memory < MEMORY)
			return true;
	return false;
}

static void *take_zeroed_piece(size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	void *taken = take_piece(bytes);
	return taken ? memset(taken, 0, bytes) : NULL;
}

static void free_piece(void *bytes)
{
	if (!is_piece(bytes))
		free(bytes);
}

static void *resize_piece(void *bytes, size_t size)
{
	if (!bytes || !is_piece(bytes))
		return realloc(bytes, size);
	size_t before;
	memcpy(&before, (char *)bytes - HEADER, sizeof(before));
	void *taken = take_piece(size);
	return taken ? memcpy(taken, bytes, before < size ? before : size) : NULL;
}

static void install_allocator(void)
{
	cs_opt_mem functions = {take_piece, take_zeroed_piece, resize_piece, free_piece, vsnprintf};
	cs_option(0, CS_OPT_MEM, (size_t)(uintptr_t)&functions);
}

enum hg_status snap_disassembler_open(
	struct snap_disassembler *d, cs_arch arch, cs_mode mode, struct hg_error *error)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, install_allocator);
	*d = (struct snap_disassembler){.outer = current, .memory = malloc(MEMORY)};
	if (!d->memory)
		return base_no_memory(error, MEMORY);
	current = d;
	if (cs_open(arch, mode, &d->handle) != CS_ERR_OK) {
		d->handle = 0;
		snap_disassembler_close(d);
		return base_fail(
			error, HG_ERROR_INTERNAL, HG_NO_OFFSET, "the disassembler does not start");
	}
	cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	d->insn = cs_malloc(d->handle);
	if (d->insn)
		return HG_OK;
	snap_disassembler_close(d);
	return base_no_memory(error, sizeof(*d->insn));
}

void snap_disassembler_close(struct snap_disassembler *d)
{
	if (d->insn)
		cs_free(d->insn, 1);
	if (d->handle)
		cs_close(&d->handle);
	current = d->outer;
	free(d->memory);
	*d = (struct snap_disassembler){0};
}
