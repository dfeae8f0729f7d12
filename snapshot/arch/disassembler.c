/* Capstone is loaded, and gets memory that was taken before it asks for any. */
#include "snapshot/arch/disassembler.h"

#include <dlfcn.h>
#include <pthread.h>
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

#ifndef SNAP_CAPSTONE_LINKED
/* Of the version whose header this was compiled with. */
#define TEXT_OF(number) #number
#define NAME_OF_MAJOR(number) "libcapstone.so." TEXT_OF(number)
static const char library_name[] = NAME_OF_MAJOR(CS_API_MAJOR);
#endif

static struct {
	__typeof__(cs_option) *option;
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_disasm_iter) *disasm_iter;
} capstone;
static bool is_loaded;

#ifdef SNAP_CAPSTONE_LINKED
static enum hg_status find_functions(struct hg_error *error)
{
	(void)error;
	capstone.option = cs_option;
	capstone.open = cs_open;
	capstone.close = cs_close;
	capstone.malloc = cs_malloc;
	capstone.free = cs_free;
	capstone.disasm_iter = cs_disasm_iter;
	return HG_OK;
}
#else
/* POSIX lets pointers to functions be read as such to data. */
static bool find_function(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);
	memcpy(function, &found, sizeof(found));
	return found;
}

static enum hg_status find_functions(struct hg_error *error)
{
	void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
	if (!library || !find_function(library, "cs_option", &capstone.option) ||
		!find_function(library, "cs_open", &capstone.open) ||
		!find_function(library, "cs_close", &capstone.close) ||
		!find_function(library, "cs_malloc", &capstone.malloc) ||
		!find_function(library, "cs_free", &capstone.free) ||
		!find_function(library, "cs_disasm_iter", &capstone.disasm_iter))
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"the library that reads machine code, Capstone, cannot be loaded: %s",
			dlerror());
	return HG_OK;
}
#endif

/* Once it is loaded it stays so; where memory ran out it may be tried again. */
static enum hg_status load(struct hg_error *error)
{
	cs_opt_mem functions = {take_piece, take_zeroed_piece, resize_piece, free_piece, vsnprintf};
	if (is_loaded)
		return HG_OK;
	BASE_TRY(find_functions(error));
	capstone.option(0, CS_OPT_MEM, (size_t)(uintptr_t)&functions);
	is_loaded = true;
	return HG_OK;
}

enum hg_status snap_disassembler_open(
	struct snap_disassembler *d, cs_arch arch, cs_mode mode, struct hg_error *error)
{
	static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&loading);
	enum hg_status status = load(error);
	pthread_mutex_unlock(&loading);
	BASE_TRY(status);
	*d = (struct snap_disassembler){.outer = current, .memory = malloc(MEMORY)};
	if (!d->memory)
		return base_no_memory(error, MEMORY);
	current = d;
	if (capstone.open(arch, mode, &d->handle) != CS_ERR_OK) {
		d->handle = 0;
		snap_disassembler_close(d);
		return base_fail(
			error, HG_ERROR_INTERNAL, HG_NO_OFFSET, "the disassembler does not start");
	}
	capstone.option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	d->insn = capstone.malloc(d->handle);
	if (d->insn)
		return HG_OK;
	snap_disassembler_close(d);
	return base_no_memory(error, sizeof(*d->insn));
}

void snap_disassembler_close(struct snap_disassembler *d)
{
	if (d->insn)
		capstone.free(d->insn, 1);
	if (d->handle)
		capstone.close(&d->handle);
	current = d->outer;
	free(d->memory);
	*d = (struct snap_disassembler){0};
}

bool snap_disassembler_next(
	struct snap_disassembler *d, const uint8_t **code, size_t *size, uint64_t *address)
{
	return capstone.disasm_iter(d->handle, code, size, address, d->insn);
}

bool snap_insn_is(const cs_insn *insn, cs_group_type group)
{
	for (uint8_t i = 0; i < insn->detail->groups_count; i++)
		if (insn->detail->groups[i] == group)
			return true;
	return false;
}
