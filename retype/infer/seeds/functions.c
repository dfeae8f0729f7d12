/* By symbols, else by votes of the locations in the code, else by the line where it begins. */
#include "retype/infer/seeds/functions.h"

#include "snapshot/process.h"

#include <stdio.h>
#include <string.h>

/* Where functions are */

/* Keys of the maps; 64 bits of a hash do not collide. */
static uint64_t function_key(const char *file, uint32_t line, uint32_t start, uint32_t end)
{
	const struct base_secret *secret = base_process_secret();
	uint64_t location = base_hash_join(secret, base_hash(secret, line), start);
	location = base_hash_join(secret, location, end);
	return base_hash_join(secret, location, base_hash_bytes(secret, file, strlen(file)));
}

static uint64_t line_key(const char *file, uint32_t line)
{
	const char *name = base_file_name(file);
	const struct base_secret *secret = base_process_secret();
	return base_hash_join(secret, line, base_hash_bytes(secret, name, strlen(name)));
}

/* Of two functions with the same key neither is found. */
static enum hg_status add_function(
	struct base_map *map, uint64_t key, uint32_t number, struct hg_error *error)
{
	uint64_t there;
	uint64_t value = base_map_get(map, key, &there) ? 0 : (uint64_t)number + 1;
	return base_map_set(map, key, value, error);
}

static const struct retype_function *get_function(
	const struct seeds_functions *f, const struct base_map *map, uint64_t key)
{
	uint64_t number;
	if (!base_map_get(map, key, &number) || number == 0)
		return NULL;
	return &f->in->types->functions[number - 1];
}

static bool is_anonymous(const struct retype_function *function)
{
	return strncmp(function->ident, "fun", 3) == 0 &&
	       (function->ident[3] == '\0' || function->ident[3] == '_');
}

enum hg_status seeds_functions_init(
	struct seeds_functions *f, const struct infer_input *in, struct infer_failure *failure)
{
	*f = (struct seeds_functions){.in = in, .failure = failure};
	for (uint32_t i = 0; i < f->in->types->function_count; i++) {
		const struct retype_function *function = &f->in->types->functions[i];
		uint64_t key = function_key(
			function->file, function->line, function->start, function->end);
		BASE_TRY(add_function(&f->by_location, key, i, failure->error));
		if (is_anonymous(function))
			BASE_TRY(add_function(&f->by_line, line_key(function->file, function->line),
				i, failure->error));
	}
	return HG_OK;
}

void seeds_functions_release(struct seeds_functions *f)
{
	base_map_release(&f->by_code);
	base_map_release(&f->by_location);
	base_map_release(&f->by_line);
	free(f->locations);
}

const struct retype_function *seeds_function_at(
	struct seeds_functions *f, const struct snap_location *at)
{
	if (!at->file || at->line <= 0)
		return NULL;
	return get_function(
		f, &f->by_location, function_key(at->file, (uint32_t)at->line, at->start, at->end));
}

/* By votes: each location in the code is in some function. */

enum { MOST_CANDIDATES = 32 };

struct vote {
	uint32_t function, count;
};

static void add_vote(struct vote votes[MOST_CANDIDATES], uint32_t function)
{
	for (unsigned i = 0; i < MOST_CANDIDATES; i++) {
		if (votes[i].count && votes[i].function != function)
			continue;
		votes[i].function = function;
		votes[i].count++;
		return;
	}
}

static void vote_for_location(
	struct seeds_functions *f, const struct snap_location *at, struct vote *votes)
{
	uint32_t count;
	const struct retype_location *location =
		at->line <= 0 ? NULL
			      : retype_locations_at(f->in->types, at->file, (uint32_t)at->line,
					at->start, at->end, f->in->snap->clamped_locations, &count);
	for (uint32_t i = 0; location && i < count; i++)
		if (location[i].function != RETYPE_NONE)
			add_vote(votes, location[i].function);
}

static uint64_t locations_of_code(struct seeds_functions *f, struct snap_range code)
{
	const struct snap *snap = f->in->snap;
	uint64_t count =
		snap_process_code_locations(snap, code, f->locations, f->location_capacity);
	if (count > f->location_capacity) {
		struct snap_location *more = calloc(count, sizeof(*more));
		if (!more)
			return f->location_capacity;
		free(f->locations);
		f->locations = more;
		f->location_capacity = count;
		count = snap_process_code_locations(snap, code, f->locations, count);
	}
	return count;
}

/* The function with most votes; none if two have as many. */
static const struct retype_function *elect_function(
	struct seeds_functions *f, struct snap_range code)
{
	struct vote votes[MOST_CANDIDATES] = {{0}};
	uint64_t count = locations_of_code(f, code);
	for (uint64_t i = 0; i < count && i < f->location_capacity; i++)
		vote_for_location(f, &f->locations[i], votes);
	const struct vote *best = &votes[0];
	bool tie = false;
	for (unsigned i = 1; i < MOST_CANDIDATES; i++) {
		tie = votes[i].count == best->count || (tie && votes[i].count < best->count);
		if (votes[i].count > best->count)
			best = &votes[i];
	}
	return best->count && !tie ? &f->in->types->functions[best->function] : NULL;
}

/* By the line where the code begins, which is that of "fun" or of the body. */
static const struct retype_function *function_on_line(struct seeds_functions *f, uint64_t code)
{
	const struct snap *snap = f->in->snap;
	struct snap_location at;
	if (!snap_process_code_line(snap, code, &at) || !at.file)
		return NULL;
	return get_function(f, &f->by_line, line_key(at.file, (uint32_t)at.line));
}

static const struct retype_function *find_function_of_code(struct seeds_functions *f, uint64_t code)
{
	const struct snap *snap = f->in->snap;
	struct snap_code_symbol symbol;
	if (!snap_process_code_symbol(snap, code, &symbol) || symbol.code.start != code ||
		strncmp(symbol.name, "caml", 4) != 0 || symbol.name[4] < 'A' ||
		symbol.name[4] > 'Z')
		return NULL;
	const struct retype_function *function =
		retype_function_symbol(f->in->types, symbol.name + 4);
	if (!function)
		function = elect_function(f, symbol.code);
	return function ? function : function_on_line(f, code);
}

const struct retype_function *seeds_function_of(struct seeds_functions *f, uint64_t code)
{
	uint64_t number;
	if (code == 0)
		return NULL;
	if (base_map_get(&f->by_code, code, &number))
		return number ? &f->in->types->functions[number - 1] : NULL;
	const struct retype_function *function = find_function_of_code(f, code);
	number = function ? (uint64_t)(function - f->in->types->functions) + 1 : 0;
	if (f->failure->status == HG_OK)
		f->failure->status = base_map_set(&f->by_code, code, number, f->failure->error);
	return function;
}

unsigned seeds_count_applied(struct seeds_functions *f, uint64_t code)
{
	const struct snap *snap = f->in->snap;
	struct snap_code_symbol symbol;
	unsigned arity, arguments;
	if (!snap_process_code_symbol(snap, code, &symbol) || symbol.code.start != code ||
		sscanf(symbol.name, "caml_curry%u_%u", &arity, &arguments) != 2)
		return 0;
	return arguments;
}
