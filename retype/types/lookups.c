/*
 * What leads to types by name: units, functions, extensions, classes.  The tables are made when the
 * first question is asked; readers have added everything by then.
 */
#include "retype/types/lookups.h"

#include "retype/types/memo.h"
#include "retype/types/terms.h"

#include "base/assert.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

struct retype_lookups {
	struct retype_memo functions, units, extensions, classes;
};

static uint64_t hash_unit_name(const char *name)
{
	return base_hash_bytes(base_process_secret(), name, strlen(name));
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
	while (nth < MOST_ALIKE && retype_memo_find(memo, hash, nth, &other))
		nth++;
	if (nth < MOST_ALIKE)
		retype_keep_status(types, retype_memo_set(memo, hash, nth, number, types->error));
}

/* Symbols */

/*
 * Symbols are UNIT, a separator, IDENT.  Letters that assemblers do not take are "$" and two
 * hexadecimal digits; the separator is "__", since OCaml 5.1 ".".  The hash leaves out both.
 */
static int hexadecimal_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The next character of a symbol, decoded. */
static char next_of_symbol(const char **symbol)
{
	const char *s = *symbol;
	if (s[0] == '$' && hexadecimal_digit(s[1]) >= 0 && hexadecimal_digit(s[2]) >= 0) {
		*symbol += 3;
		return (char)(hexadecimal_digit(s[1]) << 4 | hexadecimal_digit(s[2]));
	}
	*symbol += 1;
	return s[0];
}

static uint64_t hash_symbol_part(uint64_t hash, const char *part, bool is_encoded)
{
	const struct base_secret *secret = base_process_secret();
	while (*part) {
		char c = is_encoded ? next_of_symbol(&part) : *part++;
		if (c != '_' && c != '.')
			hash = base_fold(hash ^ (unsigned char)c, secret->multiply);
	}
	return hash;
}

static const char *match_part(const char *symbol, const char *part)
{
	while (*part && *symbol)
		if (next_of_symbol(&symbol) != *part++)
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
	uint64_t hash = hash_symbol_part(
		base_process_secret()->add, unit_name(types, function->unit), false);
	add_hashed(types, &types->lookups->functions,
		hash_symbol_part(hash, function->ident, false), number);
}

/* Classes, by the hashes of their methods */

static int compare_hashes(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

static uint64_t hash_of_hashes(const int32_t *hashes, uint32_t count)
{
	return base_hash_bytes(base_process_secret(), hashes, count * sizeof(*hashes));
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
	for (uint32_t i = 1; hashes && i < class->method_count; i++)
		base_assert(hashes[i - 1] <= hashes[i]);
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
	const struct retype_memo *memo = &types->lookups->classes;
	uint32_t number;
	for (uint64_t nth = 0; retype_memo_find(memo, hash, nth, &number); nth++) {
		base_assert(number < types->class_count);
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
			uint64_t hash = hash_of_hashes(hashes, class->method_count);
			merge_class(types, hash, class, hashes);
			add_hashed(types, &types->lookups->classes, hash, i);
		} else {
			retype_keep_status(
				types, base_no_memory(types->error, class->method_count));
		}
		free(hashes);
	}
}

/* Extensions by what dots and underscores leave of their names: "A__B.E" is "A.B.E". */
static uint64_t hash_extension(const char *name)
{
	return hash_symbol_part(base_process_secret()->add, name, false);
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
	struct retype_memo *memo = &types->lookups->extensions;
	uint64_t hash = hash_extension(extension->name);
	uint32_t other;
	for (uint64_t nth = 0; retype_memo_find(memo, hash, nth, &other); nth++) {
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

static void index_all(struct retype_types *types)
{
	struct retype_lookups *lookups = types->lookups;
	retype_keep_status(types,
		retype_memo_reserve(&lookups->functions, types->function_count, types->error));
	for (uint32_t i = 0; i < types->unit_count; i++)
		add_hashed(types, &lookups->units, hash_unit_name(types->units[i].name), i);
	for (uint32_t i = 0; i < types->extension_count; i++)
		index_extension(types, i);
	/* Functions without name have no symbol that could be told from its name. */
	for (uint32_t i = 0; i < types->function_count; i++)
		if (strcmp(types->functions[i].ident, "fun") != 0)
			index_function(types, i);
	index_classes(types);
}

void retype_lookups_make(struct retype_types *types)
{
	if (types->lookups)
		return;
	types->lookups = calloc(1, sizeof(*types->lookups));
	if (types->lookups)
		index_all(types);
	else
		retype_keep_status(types, base_no_memory(types->error, sizeof(*types->lookups)));
}

void retype_lookups_release(struct retype_types *types)
{
	struct retype_lookups *lookups = types->lookups;
	if (lookups) {
		retype_memo_release(&lookups->functions);
		retype_memo_release(&lookups->units);
		retype_memo_release(&lookups->extensions);
		retype_memo_release(&lookups->classes);
	}
	free(lookups);
	types->lookups = NULL;
}

/* The tables that the questions below look into, which are constant in all but that. */
static const struct retype_lookups *lookups_of(const struct retype_types *types)
{
	static const struct retype_lookups none;
	retype_lookups_make((struct retype_types *)(uintptr_t)types);
	return types->lookups ? types->lookups : &none;
}

uint32_t retype_unit_named(const struct retype_types *types, const char *name)
{
	const struct retype_memo *memo = &lookups_of(types)->units;
	uint64_t hash = hash_unit_name(name);
	uint32_t number;
	for (uint64_t nth = 0; retype_memo_find(memo, hash, nth, &number); nth++)
		if (strcmp(types->units[number].name, name) == 0)
			return number;
	return RETYPE_NONE;
}

const struct retype_extension *retype_extension_named(
	const struct retype_types *types, const char *name)
{
	const struct retype_memo *memo = &lookups_of(types)->extensions;
	uint64_t hash = hash_extension(name);
	uint32_t number;
	for (uint64_t nth = 0; retype_memo_find(memo, hash, nth, &number); nth++)
		if (is_extension_name(types->extensions[number].name, name))
			return &types->extensions[number];
	return NULL;
}

const struct retype_function *retype_function_symbol(
	const struct retype_types *types, const char *symbol)
{
	const struct retype_memo *memo = &lookups_of(types)->functions;
	uint64_t hash = hash_symbol_part(base_process_secret()->add, symbol, true);
	uint32_t number;
	for (uint64_t nth = 0; retype_memo_find(memo, hash, nth, &number); nth++) {
		base_assert(number < types->function_count);
		const struct retype_function *function = &types->functions[number];
		if (is_symbol_of(symbol, unit_name(types, function->unit), function->ident))
			return function;
	}
	return NULL;
}

const struct retype_class *retype_class_of(
	const struct retype_types *types, int32_t *hashes, uint32_t count, uint64_t field_count)
{
	const struct retype_memo *memo = &lookups_of(types)->classes;
	if (count)
		qsort(hashes, count, sizeof(*hashes), compare_hashes);
	uint64_t hash = hash_of_hashes(hashes, count);
	const struct retype_class *best = NULL, *any = NULL;
	unsigned several = 0;
	uint32_t number;
	for (uint64_t nth = 0; retype_memo_find(memo, hash, nth, &number); nth++) {
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
