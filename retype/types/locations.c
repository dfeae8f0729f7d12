/*
 * Locations, those of a file together and sorted.  The index is made when the first question is
 * asked; readers have added everything by then.
 */
#include "retype/types/locations.h"

#include "retype/types/strings.h"

#include "base/assert.h"
#include "base/grow.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* OCaml 4.00 to 5.1 cut the numbers of locations to what their frame tables have bits for. */
enum { MOST_LINE = 0xfffff, MOST_START = 255, MOST_END = 1023 };

static uint32_t at_most(uint32_t number, uint32_t most)
{
	return number < most ? number : most;
}

static int compare_number(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* By the numbers as they may have been cut, so that locations that look alike are neighbours. */
static int compare_cut(const struct retype_location *a, uint32_t line, uint32_t start, uint32_t end)
{
	int order = compare_number(at_most(a->line, MOST_LINE), at_most(line, MOST_LINE));
	if (!order)
		order = compare_number(at_most(a->start, MOST_START), at_most(start, MOST_START));
	return order ? order : compare_number(at_most(a->end, MOST_END), at_most(end, MOST_END));
}

static int compare_exact(
	const struct retype_location *a, uint32_t line, uint32_t start, uint32_t end)
{
	int order = compare_cut(a, line, start, end);
	if (!order)
		order = compare_number(a->line, line);
	if (!order)
		order = compare_number(a->start, start);
	return order ? order : compare_number(a->end, end);
}

/* Of one file. */
static int compare_locations(const void *a, const void *b)
{
	const struct retype_location *x = a, *y = b;
	int order = compare_exact(x, y->line, y->start, y->end);
	if (!order)
		order = compare_number(x->unit, y->unit);
	return order ? order : compare_number(x->function, y->function);
}

/* Locations of one file that come one after the other. */
struct run {
	const char *file;
	uint32_t first, last;
	bool is_sorted;
};

struct runs {
	struct run *all;
	uint64_t count, capacity;
};

/* Each file has one run then. */
struct retype_location_index {
	struct runs files;
	struct base_map by_file; /* numbers of runs by the pointer of the interned name */
};

static int compare_runs(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	int order = x->file == y->file ? 0 : strcmp(x->file, y->file);
	return order ? order : compare_number(x->first, y->first);
}

/* One pass over what is most of a table. */
static enum hg_status find_runs(const struct retype_types *types, struct runs *runs)
{
	runs->count = 0;
	for (uint32_t i = 0; i < types->location_count;) {
		const struct retype_location *first = &types->locations[i];
		struct run run = {.file = first->file, .first = i, .is_sorted = true};
		while (++i < types->location_count && types->locations[i].file == run.file)
			run.is_sorted = run.is_sorted && compare_locations(&types->locations[i - 1],
								 &types->locations[i]) <= 0;
		run.last = i;
		BASE_TRY(base_grow(
			&runs->all, runs->count, &runs->capacity, sizeof(run), types->error));
		runs->all[runs->count++] = run;
	}
	return HG_OK;
}

static enum hg_status move_runs(struct retype_types *types, const struct runs *runs)
{
	size_t size = sizeof(*types->locations);
	struct retype_location *old = malloc((types->location_count + (size_t)1) * size);
	if (!old)
		return base_no_memory(types->error, types->location_count * size);
	memcpy(old, types->locations, types->location_count * size);
	for (uint64_t i = 0, next = 0; i < runs->count; i++) {
		const struct run *run = &runs->all[i];
		memcpy(&types->locations[next], &old[run->first], (run->last - run->first) * size);
		next += run->last - run->first;
		base_assert(next <= types->location_count);
	}
	free(old);
	return HG_OK;
}

/* Brings together what is of one file; readers find most files in one piece and in order. */
static enum hg_status gather_files(struct retype_types *types, struct runs *runs)
{
	bool is_scattered = false;
	BASE_TRY(find_runs(types, runs));
	if (runs->count > 0)
		qsort(runs->all, runs->count, sizeof(*runs->all), compare_runs);
	for (uint64_t i = 1; i < runs->count; i++)
		is_scattered |= runs->all[i - 1].file == runs->all[i].file;
	if (is_scattered) {
		BASE_TRY(move_runs(types, runs));
		BASE_TRY(find_runs(types, runs));
	}
	for (uint64_t i = 0; i < runs->count; i++) {
		const struct run *run = &runs->all[i];
		if (!run->is_sorted)
			qsort(&types->locations[run->first], run->last - run->first,
				sizeof(*types->locations), compare_locations);
		for (uint32_t at = run->first + 1; at < run->last; at++)
			base_assert(compare_locations(
					    &types->locations[at - 1], &types->locations[at]) <= 0);
	}
	return HG_OK;
}

static enum hg_status index_files(struct retype_types *types, struct retype_location_index *index)
{
	BASE_TRY(gather_files(types, &index->files));
	for (uint64_t i = 0; i < index->files.count; i++) {
		uint64_t number = i;
		bool is_new;
		BASE_TRY(
			base_map_add(&index->by_file, (uint64_t)(uintptr_t)index->files.all[i].file,
				&number, &is_new, types->error));
		base_assert(is_new);
	}
	return HG_OK;
}

void retype_locations_index(struct retype_types *types)
{
	if (types->location_index)
		return;
	types->location_index = calloc(1, sizeof(*types->location_index));
	retype_keep_status(types, types->location_index ? index_files(types, types->location_index)
							: base_no_memory(types->error,
								  sizeof(*types->location_index)));
}

void retype_locations_release(struct retype_types *types)
{
	if (types->location_index) {
		free(types->location_index->files.all);
		base_map_release(&types->location_index->by_file);
	}
	free(types->location_index);
	types->location_index = NULL;
}

/* The locations of a file; NULL if there are none.  The index is made with the first question. */
static const struct run *run_of_file(const struct retype_types *types, const char *file)
{
	retype_locations_index((struct retype_types *)(uintptr_t)types);
	const struct retype_location_index *index = types->location_index;
	const char *name = retype_interned(types, file);
	uint64_t number;
	if (!index || !name || !base_map_get(&index->by_file, (uint64_t)(uintptr_t)name, &number))
		return NULL;
	base_assert(number < index->files.count);
	return &index->files.all[number];
}

struct position {
	uint32_t line, start, end;
	bool clamped;
};

static int compare_position(const void *key, const void *element)
{
	const struct position *position = key;
	const struct retype_location *location = element;
	uint32_t line = position->line, start = position->start, end = position->end;
	return -(position->clamped ? compare_cut(location, line, start, end)
				   : compare_exact(location, line, start, end));
}

const struct retype_location *retype_locations_at(const struct retype_types *types,
	const char *file, uint32_t line, uint32_t start, uint32_t end, bool clamped,
	uint32_t *count)
{
	const struct run *run = run_of_file(types, file);
	const struct position position = {line, start, end, clamped};
	*count = 0;
	if (!run)
		return NULL;
	const struct retype_location *first, *last, *all = types->locations;
	first = bsearch(&position, all + run->first, run->last - run->first, sizeof(*all),
		compare_position);
	if (!first)
		return NULL;
	/* Few have the same numbers, and whoever asks looks at all of them. */
	for (last = first; last + 1 < all + run->last && !compare_position(&position, last + 1);)
		last++;
	while (first > all + run->first && !compare_position(&position, first - 1))
		first--;
	*count = (uint32_t)(last - first) + 1;
	return first;
}

enum retype_maker retype_maker_of(const char *kind)
{
	static const char primitive[] = "prim.";
	if (strcmp(kind, "call") == 0)
		return RETYPE_MADE_BY_CALL;
	if (strncmp(kind, primitive, strlen(primitive)) != 0)
		return RETYPE_MADE_HERE;
	bool reads = strstr(kind, "input_value") || strstr(kind, "unmarshal");
	return reads ? RETYPE_MADE_BY_READER : RETYPE_MADE_BY_PRIMITIVE;
}

const struct retype_made *retype_location_made(
	struct retype_types *types, const struct retype_location *location, uint32_t *count)
{
	if (location->made_count == RETYPE_NONE)
		types->deferred.read_made(types, &types->locations[location - types->locations]);
	base_assert(location->made_count != RETYPE_NONE);
	*count = location->made_count;
	return location->made;
}
