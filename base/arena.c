/* Arrays of arenas are kept in a list each, with what the budget was charged for them. */
#include "base/arena.h"

#include "base/assert.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)

/* Book-keeping of one array, so that the budget is right whoever frees it. */
struct base_array {
	struct base_array *next;
	void *data;
	size_t bytes;
	uint64_t charged;
};

#ifdef BASE_ARENA_SYSTEM

static enum hg_status backend_init(struct base_arena *arena, struct hg_error *error)
{
	(void)arena;
	(void)error;
	return HG_OK;
}

static void *backend_alloc(struct base_arena *arena, size_t bytes, bool zero)
{
	(void)arena;
	return zero ? calloc(1, bytes) : malloc(bytes);
}

static void backend_free(struct base_arena *arena, struct base_array *array)
{
	(void)arena;
	free(array->data);
}

static void backend_release(struct base_arena *arena)
{
	(void)arena;
}

void base_arena_backend(char *buffer, size_t size)
{
	snprintf(buffer, size, "system");
}

#else

#include <jemalloc/jemalloc.h>

/* Freed pages must not linger: the next phase needs the memory. */
static int decay_at_once(unsigned index, const char *which)
{
	char name[64];
	ssize_t now = 0;
	snprintf(name, sizeof(name), "arena.%u.%s", index, which);
	return mallctl(name, NULL, NULL, &now, sizeof(now));
}

/* Extent hooks of our own would do as well, but jemalloc 5.3 crashes when it destroys such arenas.
 */
static enum hg_status backend_init(struct base_arena *arena, struct hg_error *error)
{
	unsigned index;
	size_t size = sizeof(index);
	if (mallctl("arenas.create", &index, &size, NULL, 0) ||
		decay_at_once(index, "dirty_decay_ms") || decay_at_once(index, "muzzy_decay_ms"))
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"jemalloc gives no arena for phase '%s'", arena->phase);
	arena->jemalloc_index = index;
	return HG_OK;
}

static int arena_flags(const struct base_arena *arena)
{
	return MALLOCX_ARENA((int)arena->jemalloc_index) | MALLOCX_TCACHE_NONE;
}

/* Zeroes what nobody has touched, or need not keep, by giving its pages back. */
static void zero_pages(char *data, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = bytes - bytes % page;
	if (madvise(data, whole, MADV_DONTNEED))
		memset(data, 0, whole);
	memset(data + whole, 0, bytes - whole);
}

static void *backend_alloc(struct base_arena *arena, size_t bytes, bool zero)
{
	int flags = arena_flags(arena);
	if (bytes <= HUGE_PAGE)
		return mallocx(bytes, flags | (zero ? MALLOCX_ZERO : 0));
	/* Random access is a fifth cheaper in huge pages, and so is to touch an eighth of one. */
	void *data = mallocx(bytes, flags | MALLOCX_ALIGN(HUGE_PAGE));
	if (!data)
		return NULL;
	size_t tail = bytes % HUGE_PAGE, usable = sallocx(data, flags);
	size_t huge = tail > HUGE_PAGE / 8 ? bytes - tail + HUGE_PAGE : bytes - tail;
	madvise(data, huge < usable ? huge : usable, MADV_HUGEPAGE);
	/* jemalloc would touch the pages while they are still small. */
	if (zero)
		zero_pages(data, bytes);
	return data;
}

static void backend_free(struct base_arena *arena, struct base_array *array)
{
	dallocx(array->data, arena_flags(arena));
}

static void backend_release(struct base_arena *arena)
{
	char name[64];
	snprintf(name, sizeof(name), "arena.%u.destroy", arena->jemalloc_index);
	mallctl(name, NULL, NULL, NULL, 0);
}

void base_arena_backend(char *buffer, size_t size)
{
	const char *version = "?";
	size_t length = sizeof(version);
	mallctl("version", &version, &length, NULL, 0);
	snprintf(buffer, size, "jemalloc %.20s", version);
}

#endif

enum hg_status base_arena_init(struct base_arena *arena, struct base_budget *budget,
	const char *phase, struct hg_error *error)
{
	*arena = (struct base_arena){.budget = budget, .phase = phase};
	return backend_init(arena, error);
}

void base_arena_release(struct base_arena *arena)
{
	if (!arena->budget)
		return;
	while (arena->arrays)
		base_arena_free(arena, arena->arrays->data);
	/* What the phase was charged, by whichever call, has come back with its arrays. */
	base_assert(arena->charged == 0);
	backend_release(arena);
	*arena = (struct base_arena){0};
}

enum hg_status base_budget_charge(
	struct base_budget *budget, const char *phase, uint64_t bytes, struct hg_error *error)
{
	uint64_t used;
	if (__builtin_add_overflow(budget->used, bytes, &used))
		return base_no_memory(error, bytes);
	if (budget->limit && used > budget->limit)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"phase '%s' needs %llu bytes, more than the memory limit of %llu", phase,
			(unsigned long long)used, (unsigned long long)budget->limit);
	budget->used = used;
	if (used > budget->peak)
		budget->peak = used;
	return HG_OK;
}

void base_budget_return(struct base_budget *budget, uint64_t bytes)
{
	base_assert(budget->used >= bytes);
	budget->used -= bytes;
}

static enum hg_status charge(struct base_arena *arena, uint64_t bytes, struct hg_error *error)
{
	BASE_TRY(base_budget_charge(arena->budget, arena->phase, bytes, error));
	arena->charged += bytes;
	base_assert(arena->charged <= arena->budget->used);
	return HG_OK;
}

static void give_back_charge(struct base_arena *arena, uint64_t bytes)
{
	base_assert(arena->charged >= bytes && arena->budget->used >= arena->charged);
	arena->charged -= bytes;
	base_budget_return(arena->budget, bytes);
}

static enum hg_status add_array(struct base_arena *arena, uint64_t count, size_t size, bool zero,
	bool charged, void **out, struct hg_error *error)
{
	uint64_t bytes;
	if (__builtin_mul_overflow(count, (uint64_t)size, &bytes) || bytes > SIZE_MAX / 2)
		return base_no_memory(error, UINT64_MAX);
	if (bytes == 0)
		bytes = 1;
	uint64_t charge_bytes = charged ? bytes : 0;
	BASE_TRY(charge(arena, charge_bytes, error));
	struct base_array *array = malloc(sizeof(*array));
	void *data = array ? backend_alloc(arena, (size_t)bytes, zero) : NULL;
	if (!data) {
		free(array);
		give_back_charge(arena, charge_bytes);
		return base_no_memory(error, bytes);
	}
	*array = (struct base_array){arena->arrays, data, (size_t)bytes, charge_bytes};
	arena->arrays = array;
	*out = data;
	return HG_OK;
}

enum hg_status base_arena_alloc(
	struct base_arena *arena, uint64_t count, size_t size, void **out, struct hg_error *error)
{
	return add_array(arena, count, size, false, true, out, error);
}

enum hg_status base_arena_zalloc(
	struct base_arena *arena, uint64_t count, size_t size, void **out, struct hg_error *error)
{
	return add_array(arena, count, size, true, true, out, error);
}

enum hg_status base_arena_reserve(
	struct base_arena *arena, uint64_t count, size_t size, void **out, struct hg_error *error)
{
	BASE_TRY(add_array(arena, count, size, true, false, out, error));
	/* Huge pages would round up what is touched. */
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = ((uintptr_t)*out + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)*out + count * size) & ~(page - 1);
	if (start < end)
		madvise((void *)start, end - start, MADV_NOHUGEPAGE);
	return HG_OK;
}

enum hg_status base_arena_touch(
	struct base_arena *arena, void *data, uint64_t bytes, struct hg_error *error)
{
	for (struct base_array *array = arena->arrays; array; array = array->next) {
		if (array->data != data || bytes <= array->charged)
			continue;
		base_assert(bytes <= array->bytes);
		BASE_TRY(charge(arena, bytes - array->charged, error));
		array->charged = bytes;
	}
	return HG_OK;
}

void base_arena_free(struct base_arena *arena, void *data)
{
	for (struct base_array **link = &arena->arrays; *link; link = &(*link)->next) {
		struct base_array *array = *link;
		if (array->data != data)
			continue;
		*link = array->next;
		give_back_charge(arena, array->charged);
		backend_free(arena, array);
		free(array);
		return;
	}
}

/* Pages wholly inside; the address space stays. */
static void give_back_pages(char *start, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)start + page - 1) & ~(page - 1);
	uintptr_t to = ((uintptr_t)start + bytes) & ~(page - 1);
	if (from < to)
		madvise((void *)from, to - from, MADV_DONTNEED);
}

void base_arena_shrink(struct base_arena *arena, void *data, uint64_t bytes)
{
	for (struct base_array *array = arena->arrays; array; array = array->next) {
		if (array->data != data || bytes >= array->bytes)
			continue;
		give_back_pages((char *)data + bytes, array->bytes - bytes);
		if (array->charged > bytes) {
			give_back_charge(arena, array->charged - bytes);
			array->charged = bytes;
		}
		array->bytes = (size_t)bytes;
		return;
	}
}

enum hg_status base_arena_check(struct hg_error *error)
{
	struct base_budget budget = {0};
	struct base_arena arena;
	void *array = NULL;
	BASE_TRY(base_arena_init(&arena, &budget, "start-up", error));
	enum hg_status status = base_arena_zalloc(&arena, 4, HUGE_PAGE, &array, error);
	if (status == HG_OK && ((char *)array)[4 * HUGE_PAGE - 1] != 0)
		status = base_fail(
			error, HG_ERROR_INTERNAL, HG_NO_OFFSET, "an arena is not zero-filled");
	base_arena_release(&arena);
	return status;
}
