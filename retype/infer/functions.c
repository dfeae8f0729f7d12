#include "retype/infer/functions.h"

#include <stdio.h>
#include <string.h>

/* Where functions are */

/* Keys of the maps; 64 bits of a hash do not collide. */
static uint64_t place_key(const char *file, uint32_t line, uint32_t start, uint32_t end)
{
	uint64_t place = retype_map_hash(retype_map_hash(line, start), end);
	return retype_map_hash_string(place, file, strlen(file));
}

static uint64_t line_key(const char *file, uint32_t line)
{
	const char *name = base_file_name(file);
	return retype_map_hash_string(line, name, strlen(name));
}

/* Of two functions with the same key neither is found. */
static enum hg_status add_once(
	struct retype_map *map, uint64_t key, uint32_t number, struct hg_error *error)
{
	uint64_t there;
	uint64_t value = retype_map_get(map, key, &there) ? 0 : (uint64_t)number + 1;
	return retype_map_set(map, key, value, error);
}

static const struct retype_function *get(
	const struct retype_functions *f, const struct retype_map *map, uint64_t key)
{
	uint64_t number;
	if (!retype_map_get(map, key, &number) || number == 0)
		return NULL;
	return &f->r->types->functions[number - 1];
}

static bool is_anonymous(const struct retype_function *function)
{
	return strncmp(function->ident, "fun", 3) == 0 &&
	       (function->ident[3] == '\0' || function->ident[3] == '_');
}

enum hg_status retype_functions_init(struct retype_functions *f, struct retyping *r)
{
	*f = (struct retype_functions){.r = r};
	for (uint32_t i = 0; i < r->types->function_count; i++) {
		const struct retype_function *function = &r->types->functions[i];
		uint64_t key =
			place_key(function->file, function->line, function->start, function->end);
		BASE_TRY(add_once(&f->by_place, key, i, r->error));
		if (is_anonymous(function))
			BASE_TRY(add_once(&f->by_line, line_key(function->file, function->line), i,
				r->error));
	}
	return HG_OK;
}

void retype_functions_release(struct retype_functions *f)
{
	retype_map_clear(&f->by_code);
	retype_map_clear(&f->by_place);
	retype_map_clear(&f->by_line);
	free(f->places);
}

const struct retype_function *retype_function_at(
	struct retype_functions *f, const struct snap_location *at)
{
	if (!at->file || at->line <= 0)
		return NULL;
	return get(f, &f->by_place, place_key(at->file, (uint32_t)at->line, at->start, at->end));
}

/* By votes: each place in the code is in some function. */

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

static void vote_for_place(
	struct retype_functions *f, const struct snap_location *at, struct vote *votes)
{
	const struct retyping *r = f->r;
	uint32_t count;
	const struct retype_location *place =
		at->line <= 0 ? NULL
			      : retype_locations_at(r->types, at->file, (uint32_t)at->line,
					at->start, at->end, r->snap->clamped_places, &count);
	for (uint32_t i = 0; place && i < count; i++)
		if (place[i].function != RETYPE_NONE)
			add_vote(votes, place[i].function);
}

static uint64_t places_of(struct retype_functions *f, struct snap_range code)
{
	const struct snap *snap = f->r->snap;
	uint64_t count = snap->format->code_places(snap, code, f->places, f->place_capacity);
	if (count > f->place_capacity) {
		struct snap_location *more = calloc(count, sizeof(*more));
		if (!more)
			return f->place_capacity;
		free(f->places);
		f->places = more;
		f->place_capacity = count;
		count = snap->format->code_places(snap, code, f->places, count);
	}
	return count;
}

/* The function with most votes; none if two have as many. */
static const struct retype_function *elect(struct retype_functions *f, struct snap_range code)
{
	struct vote votes[MOST_CANDIDATES] = {{0}};
	uint64_t count = f->r->snap->format->code_places ? places_of(f, code) : 0;
	for (uint64_t i = 0; i < count && i < f->place_capacity; i++)
		vote_for_place(f, &f->places[i], votes);
	const struct vote *best = &votes[0];
	bool tie = false;
	for (unsigned i = 1; i < MOST_CANDIDATES; i++) {
		tie = votes[i].count == best->count || (tie && votes[i].count < best->count);
		if (votes[i].count > best->count)
			best = &votes[i];
	}
	return best->count && !tie ? &f->r->types->functions[best->function] : NULL;
}

/* By the line where the code begins, which is that of "fun" or of the body. */
static const struct retype_function *function_on_line(struct retype_functions *f, uint64_t code)
{
	const struct snap *snap = f->r->snap;
	struct snap_location at;
	if (!snap->format->code_line || !snap->format->code_line(snap, code, &at) || !at.file)
		return NULL;
	return get(f, &f->by_line, line_key(at.file, (uint32_t)at.line));
}

static const struct retype_function *search(struct retype_functions *f, uint64_t code)
{
	const struct snap *snap = f->r->snap;
	struct snap_code_symbol symbol;
	if (!snap->format->code_symbol || !snap->format->code_symbol(snap, code, &symbol) ||
		symbol.code.start != code || strncmp(symbol.name, "caml", 4) != 0 ||
		symbol.name[4] < 'A' || symbol.name[4] > 'Z')
		return NULL;
	const struct retype_function *function =
		retype_function_symbol(f->r->types, symbol.name + 4);
	if (!function)
		function = elect(f, symbol.code);
	return function ? function : function_on_line(f, code);
}

const struct retype_function *retype_function_of(struct retype_functions *f, uint64_t code)
{
	struct retyping *r = f->r;
	uint64_t number;
	if (code == 0)
		return NULL;
	if (retype_map_get(&f->by_code, code, &number))
		return number ? &r->types->functions[number - 1] : NULL;
	const struct retype_function *function = search(f, code);
	number = function ? (uint64_t)(function - r->types->functions) + 1 : 0;
	if (r->status == HG_OK)
		r->status = retype_map_set(&f->by_code, code, number, r->error);
	return function;
}

unsigned retype_partial(struct retype_functions *f, uint64_t code)
{
	const struct snap *snap = f->r->snap;
	struct snap_code_symbol symbol;
	unsigned arity, arguments;
	if (!snap->format->code_symbol || !snap->format->code_symbol(snap, code, &symbol) ||
		symbol.code.start != code ||
		sscanf(symbol.name, "caml_curry%u_%u", &arity, &arguments) != 2)
		return 0;
	return arguments;
}
