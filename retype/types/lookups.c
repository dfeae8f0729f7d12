/*
 * What leads to types, by name and by place.  The tables are made when the first question is asked;
 * readers have added everything by then.
 */
#include "retype/types/types_parts.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

/* OCaml 4.00 to 5.1 cut the numbers of places to what their frame tables have bits for. */
enum { MOST_LINE = 0xfffff, MOST_START = 255, MOST_END = 1023 };

static uint64_t string_hash(const struct retype_types *types, const char *string)
{
	return retype_hash_bytes(types, string, strlen(string));
}

enum { MOST_ALIKE = 64 };

/*
 * Entries by a hash.  In the memo, which has one number for each pair, those with equal hashes are
 * told apart by counting them; what has more namesakes than MOST_ALIKE is not found.
 */
static void add_hashed(
	struct retype_types *types, struct retype_memo *memo, uint64_t hash, uint32_t number)
{
	uint32_t other;
	uint64_t nth = 0;
	while (nth < MOST_ALIKE && retype_memo_find(types, memo, hash, nth, &other))
		nth++;
	if (nth < MOST_ALIKE)
		retype_memo_set(types, memo, hash, nth, number);
}

/* Symbols */

/*
 * Symbols are UNIT, a separator, IDENT.  Letters that assemblers do not take are "$" and two
 * hexadecimal digits; the separator is "__", since OCaml 5.1 ".".  The hash leaves out both.
 */
static int hexadecimal(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The next character of a symbol, decoded. */
static char next_character(const char **symbol)
{
	const char *s = *symbol;
	if (s[0] == '$' && hexadecimal(s[1]) >= 0 && hexadecimal(s[2]) >= 0) {
		*symbol += 3;
		return (char)(hexadecimal(s[1]) << 4 | hexadecimal(s[2]));
	}
	*symbol += 1;
	return s[0];
}

static uint64_t hash_symbol_part(uint64_t hash, const char *part, bool is_encoded)
{
	while (*part) {
		char c = is_encoded ? next_character(&part) : *part++;
		if (c != '_' && c != '.')
			hash = (hash ^ (unsigned char)c) * UINT64_C(0x100000001b3);
	}
	return hash;
}

static const char *match_part(const char *symbol, const char *part)
{
	while (*part && *symbol)
		if (next_character(&symbol) != *part++)
			return NULL;
	return *part ? NULL : symbol;
}

static bool is_symbol_of(const char *symbol, const char *unit, const char *ident)
{
	symbol = match_part(symbol, unit);
	if (!symbol)
		return false;
	if (symbol[0] == '_' && symbol[1] == '_')
		symbol += 2;
	else if (symbol[0] == '.')
		symbol++;
	else
		return false;
	symbol = match_part(symbol, ident);
	return symbol && !*symbol;
}

static const char *unit_name(const struct retype_types *types, uint32_t unit)
{
	return unit < types->unit_count ? types->units[unit].name : "";
}

static void index_function(struct retype_types *types, uint32_t number)
{
	const struct retype_function *function = &types->functions[number];
	uint64_t hash =
		hash_symbol_part(types->terms->seed, unit_name(types, function->unit), false);
	add_hashed(types, &types->terms->functions, hash_symbol_part(hash, function->ident, false),
		number);
}

/* Places, those of a file together */

static uint32_t at_most(uint32_t number, uint32_t most)
{
	return number < most ? number : most;
}

static int compare_numbers(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* By the numbers as they may have been cut, so that places that look alike are neighbours. */
static int compare_cut(const struct retype_place *a, uint32_t line, uint32_t start, uint32_t end)
{
	int order = compare_numbers(at_most(a->line, MOST_LINE), at_most(line, MOST_LINE));
	if (!order)
		order = compare_numbers(at_most(a->start, MOST_START), at_most(start, MOST_START));
	return order ? order : compare_numbers(at_most(a->end, MOST_END), at_most(end, MOST_END));
}

static int compare_exact(const struct retype_place *a, uint32_t line, uint32_t start, uint32_t end)
{
	int order = compare_cut(a, line, start, end);
	if (!order)
		order = compare_numbers(a->line, line);
	if (!order)
		order = compare_numbers(a->start, start);
	return order ? order : compare_numbers(a->end, end);
}

/* Of one file. */
static int compare_places(const void *a, const void *b)
{
	const struct retype_place *x = a, *y = b;
	int order = compare_exact(x, y->line, y->start, y->end);
	if (!order)
		order = compare_numbers(x->unit, y->unit);
	return order ? order : compare_numbers(x->function, y->function);
}

/* Places of one file that come one after the other. */
struct run {
	const char *file;
	uint32_t first, last;
	bool is_sorted;
};

struct runs {
	struct run *all;
	uint64_t count, capacity;
};

static int compare_runs(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	int order = x->file == y->file ? 0 : strcmp(x->file, y->file);
	return order ? order : compare_numbers(x->first, y->first);
}

/* One pass over what is most of a table. */
static enum hg_status find_runs(const struct retype_types *types, struct runs *runs)
{
	runs->count = 0;
	for (uint32_t i = 0; i < types->place_count;) {
		const struct retype_place *first = &types->places[i];
		struct run run = {.file = first->file, .first = i, .is_sorted = true};
		while (++i < types->place_count && types->places[i].file == run.file)
			run.is_sorted = run.is_sorted && compare_places(&types->places[i - 1],
								 &types->places[i]) <= 0;
		run.last = i;
		BASE_TRY(base_grow(
			&runs->all, runs->count, &runs->capacity, sizeof(run), types->error));
		runs->all[runs->count++] = run;
	}
	return HG_OK;
}

static enum hg_status move_runs(struct retype_types *types, const struct runs *runs)
{
	size_t size = sizeof(*types->places);
	struct retype_place *old = malloc((types->place_count + (size_t)1) * size);
	if (!old)
		return base_no_memory(types->error, types->place_count * size);
	memcpy(old, types->places, types->place_count * size);
	for (uint64_t i = 0, next = 0; i < runs->count; i++) {
		const struct run *run = &runs->all[i];
		memcpy(&types->places[next], &old[run->first], (run->last - run->first) * size);
		next += run->last - run->first;
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
			qsort(&types->places[run->first], run->last - run->first,
				sizeof(*types->places), compare_places);
	}
	return HG_OK;
}

static struct retype_place_file *file_slot(const struct retype_types *types, const char *file)
{
	const struct retype_terms *terms = types->terms;
	uint64_t at = retype_mix(types, (uint64_t)(uintptr_t)file, 1) & terms->place_file_mask;
	while (terms->place_files[at].file && terms->place_files[at].file != file)
		at = (at + 1) & terms->place_file_mask;
	return &terms->place_files[at];
}

static enum hg_status index_files(struct retype_types *types, struct runs *runs)
{
	struct retype_terms *terms = types->terms;
	uint64_t size = 64;
	BASE_TRY(gather_files(types, runs));
	while (size < 2 * runs->count)
		size *= 2;
	terms->place_files = calloc(size, sizeof(*terms->place_files));
	if (!terms->place_files)
		return base_no_memory(types->error, size * sizeof(*terms->place_files));
	terms->place_file_mask = size - 1;
	for (uint64_t i = 0; i < runs->count; i++) {
		const struct run *run = &runs->all[i];
		*file_slot(types, run->file) =
			(struct retype_place_file){run->file, run->first, run->last};
	}
	return HG_OK;
}

static void index_places(struct retype_types *types)
{
	struct runs runs = {0};
	enum hg_status status = index_files(types, &runs);
	if (status != HG_OK)
		retype_failed(types, status);
	free(runs.all);
}

/* The index as a whole */

static int compare_hashes(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

static uint64_t hash_of_hashes(
	const struct retype_types *types, const int32_t *hashes, uint32_t count)
{
	return retype_hash_bytes(types, hashes, count * sizeof(*hashes));
}

/*
 * What nothing tells apart is one with the fields that all have: local exceptions of one name,
 * exceptions that hide others, classes with the same methods.
 */
static const struct retype_field *common_fields(struct retype_types *types,
	const struct retype_field *a, const struct retype_field *b, uint32_t count)
{
	bool differ = false;
	for (uint32_t i = 0; i < count; i++)
		differ |= !retype_is(a[i].type, b[i].type) || strcmp(a[i].name, b[i].name) != 0;
	if (!differ)
		return a;
	struct retype_field *common = retype_new_fields(types, count);
	if (!common)
		return a;
	for (uint32_t i = 0; i < count; i++) {
		common[i] = a[i];
		if (!retype_is(a[i].type, b[i].type))
			common[i].type = RETYPE_NOTHING;
		if (strcmp(a[i].name, b[i].name) != 0)
			common[i].name = "";
	}
	return common;
}

/* The hashes of a class's methods, ascending, in memory of the caller; NULL: out of memory. */
static int32_t *method_hashes(const struct retype_class *class)
{
	int32_t *hashes = calloc((size_t) class->method_count + 1, sizeof(*hashes));
	for (uint32_t i = 0; hashes && i < class->method_count; i++)
		hashes[i] = retype_hash_name(class->methods[i]);
	if (hashes)
		qsort(hashes, class->method_count, sizeof(*hashes), compare_hashes);
	return hashes;
}

static bool has_methods(const struct retype_class *class, const int32_t *hashes, uint32_t count)
{
	if (class->method_count != count)
		return false;
	int32_t *own = method_hashes(class);
	bool equal = own && (count == 0 || memcmp(own, hashes, count * sizeof(*hashes)) == 0);
	free(own);
	return equal;
}

/* Adds what a class has to the first one that looks like it, if there is one. */
static void merge_class(struct retype_types *types, uint64_t hash, const struct retype_class *class,
	const int32_t *hashes)
{
	const struct retype_memo *memo = &types->terms->classes;
	uint32_t number;
	for (uint64_t nth = 0; retype_memo_find(types, memo, hash, nth, &number); nth++) {
		struct retype_class *first = &types->classes[number];
		if (first->field_count != class->field_count ||
			!has_methods(first, hashes, class->method_count))
			continue;
		first->fields =
			common_fields(types, first->fields, class->fields, class->field_count);
		if (strcmp(first->name, class->name) != 0)
			first->name = "<object>";
		return;
	}
}

static void index_classes(struct retype_types *types)
{
	for (uint32_t i = 0; i < types->class_count; i++) {
		const struct retype_class *class = &types->classes[i];
		int32_t *hashes = method_hashes(class);
		if (hashes) {
			uint64_t hash = hash_of_hashes(types, hashes, class->method_count);
			merge_class(types, hash, class, hashes);
			add_hashed(types, &types->terms->classes, hash, i);
		} else {
			retype_failed(types, base_no_memory(types->error, class->method_count));
		}
		free(hashes);
	}
}

/* Extensions by what dots and underscores leave of their names: "A__B.E" is "A.B.E". */
static uint64_t hash_extension(const struct retype_types *types, const char *name)
{
	return hash_symbol_part(types->terms->seed, name, false);
}

static char next_of_name(const char **name)
{
	if ((*name)[0] == '_' && (*name)[1] == '_') {
		*name += 2;
		return '.';
	}
	return *(*name)++;
}

static bool is_extension_name(const char *a, const char *b)
{
	char c;
	do {
		c = next_of_name(&a);
		if (c != next_of_name(&b))
			return false;
	} while (c);
	return true;
}

static void index_extension(struct retype_types *types, uint32_t number)
{
	const struct retype_extension *extension = &types->extensions[number];
	struct retype_memo *memo = &types->terms->extensions;
	uint64_t hash = hash_extension(types, extension->name);
	uint32_t other;
	for (uint64_t nth = 0; retype_memo_find(types, memo, hash, nth, &other); nth++) {
		struct retype_extension *first = &types->extensions[other];
		if (first->field_count != extension->field_count ||
			!is_extension_name(first->name, extension->name))
			continue;
		first->fields = common_fields(
			types, first->fields, extension->fields, extension->field_count);
		break;
	}
	add_hashed(types, memo, hash, number);
}

void retype_lookups_make(struct retype_types *types)
{
	struct retype_terms *terms = types->terms;
	if (terms->has_lookups)
		return;
	terms->has_lookups = true;
	retype_memo_reserve(types, &terms->functions, types->function_count);
	for (uint32_t i = 0; i < types->unit_count; i++)
		add_hashed(types, &terms->units, string_hash(types, types->units[i].name), i);
	for (uint32_t i = 0; i < types->extension_count; i++)
		index_extension(types, i);
	/* Functions without name have no symbol that could be told from its name. */
	for (uint32_t i = 0; i < types->function_count; i++)
		if (strcmp(types->functions[i].ident, "fun") != 0)
			index_function(types, i);
	index_classes(types);
	index_places(types);
}

void retype_lookups_release(struct retype_types *types)
{
	struct retype_terms *terms = types->terms;
	free(terms->functions.slots);
	free(terms->units.slots);
	free(terms->extensions.slots);
	free(terms->classes.slots);
	free(terms->place_files);
}

void retype_lookups_forget(struct retype_types *types)
{
	struct retype_terms *terms = types->terms;
	retype_lookups_release(types);
	terms->functions = terms->units = terms->extensions = terms->classes =
		(struct retype_memo){0};
	terms->place_files = NULL;
	terms->has_lookups = false;
}

/* The table that the questions below look into, which are constant in all but that. */
static const struct retype_terms *lookups(const struct retype_types *types)
{
	if (!types->terms->has_lookups) {
		struct retype_types *completed = (struct retype_types *)(uintptr_t)types;
		retype_lookups_make(completed);
	}
	return types->terms;
}

uint32_t retype_unit_named(const struct retype_types *types, const char *name)
{
	const struct retype_memo *memo = &lookups(types)->units;
	uint64_t hash = string_hash(types, name);
	uint32_t number;
	for (uint64_t nth = 0; retype_memo_find(types, memo, hash, nth, &number); nth++)
		if (strcmp(types->units[number].name, name) == 0)
			return number;
	return RETYPE_NONE;
}

const struct retype_extension *retype_extension_named(
	const struct retype_types *types, const char *name)
{
	const struct retype_memo *memo = &lookups(types)->extensions;
	uint64_t hash = hash_extension(types, name);
	uint32_t number;
	for (uint64_t nth = 0; retype_memo_find(types, memo, hash, nth, &number); nth++)
		if (is_extension_name(types->extensions[number].name, name))
			return &types->extensions[number];
	return NULL;
}

const struct retype_function *retype_function_symbol(
	const struct retype_types *types, const char *symbol)
{
	const struct retype_memo *memo = &lookups(types)->functions;
	uint64_t hash = hash_symbol_part(types->terms->seed, symbol, true);
	uint32_t number;
	for (uint64_t nth = 0; retype_memo_find(types, memo, hash, nth, &number); nth++) {
		const struct retype_function *function = &types->functions[number];
		if (is_symbol_of(symbol, unit_name(types, function->unit), function->ident))
			return function;
	}
	return NULL;
}

const struct retype_class *retype_class_of(const struct retype_types *types, const int32_t *hashes,
	uint32_t count, uint64_t field_count)
{
	const struct retype_memo *memo = &lookups(types)->classes;
	uint64_t hash = hash_of_hashes(types, hashes, count);
	const struct retype_class *best = NULL, *any = NULL;
	unsigned several = 0;
	uint32_t number;
	for (uint64_t nth = 0; retype_memo_find(types, memo, hash, nth, &number); nth++) {
		const struct retype_class *class = &types->classes[number];
		if (!has_methods(class, hashes, count))
			continue;
		several++;
		any = class;
		if (class->field_count >= field_count &&
			(!best || class->field_count < best->field_count))
			best = class;
	}
	return best || several != 1 ? best : any;
}

/* Places */

typedef int compare_fn(const struct retype_place *a, uint32_t line, uint32_t start, uint32_t end);

/* The first place in a range that is not before these numbers, or (past) that is behind them. */
static uint32_t bound(const struct retype_types *types, const struct retype_place_file *range,
	compare_fn *compare, const uint32_t numbers[3], bool past)
{
	uint32_t low = range->first, high = range->last;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = compare(&types->places[middle], numbers[0], numbers[1], numbers[2]);
		if (order < 0 || (past && order == 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct retype_place *retype_places_at(const struct retype_types *types, const char *file,
	uint32_t line, uint32_t start, uint32_t end, bool clamped, uint32_t *count)
{
	*count = 0;
	const struct retype_terms *terms = lookups(types);
	const char *name = retype_interned(types, file);
	if (!name || !terms->place_files)
		return NULL;
	const struct retype_place_file *range = file_slot(types, name);
	if (!range->file)
		return NULL;
	const uint32_t numbers[3] = {line, start, end};
	compare_fn *compare = clamped ? compare_cut : compare_exact;
	uint32_t first = bound(types, range, compare, numbers, false);
	*count = bound(types, range, compare, numbers, true) - first;
	return *count ? &types->places[first] : NULL;
}

const struct retype_made *retype_place_made(
	struct retype_types *types, const struct retype_place *place, uint32_t *count)
{
	if (place->made_count == RETYPE_NONE)
		retype_hgprof_read_made(types, &types->places[place - types->places]);
	*count = place->made_count;
	return place->made;
}
