#include "retype/types/types_parts.h"

#include "base/grow.h"

#include <string.h>
#include <sys/random.h>

struct retype_memo_slot {
	uint64_t a, b;
	uint32_t value;
	bool is_used;
};

enum { FIRST_SLOTS = 1024 };

void retype_failed(struct retype_types *types, enum hg_status status)
{
	if (types->status == HG_OK)
		types->status = status;
}

struct retype_field *retype_new_fields(struct retype_types *types, uint32_t count)
{
	void *fields;
	enum hg_status status = base_pool_alloc(
		&types->pool, count, sizeof(struct retype_field), &fields, types->error);
	if (status == HG_OK)
		return fields;
	retype_failed(types, status);
	return NULL;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t retype_mix(const struct retype_types *types, uint64_t a, uint64_t b)
{
	return mix(a ^ types->terms->seed, b ^ UINT64_C(0x9e3779b97f4a7c15));
}

uint64_t retype_hash_bytes(const struct retype_types *types, const void *bytes, size_t length)
{
	const uint8_t *next = bytes;
	uint64_t hash = types->terms->seed ^ length, word = 0;
	for (; length >= 8; next += 8, length -= 8) {
		memcpy(&word, next, 8);
		hash = mix(hash ^ word, UINT64_C(0xa0761d6478bd642f));
	}
	word = 0;
	if (length > 0)
		memcpy(&word, next, length);
	return mix(hash ^ word, UINT64_C(0xe7037ed1a0b428db));
}

/* Memos */

static uint64_t memo_slot(
	const struct retype_types *types, const struct retype_memo *memo, uint64_t a, uint64_t b)
{
	uint64_t at = retype_mix(types, a, retype_mix(types, b, 1)) & memo->mask;
	while (memo->slots[at].is_used && (memo->slots[at].a != a || memo->slots[at].b != b))
		at = (at + 1) & memo->mask;
	return at;
}

bool retype_memo_find(const struct retype_types *types, const struct retype_memo *memo, uint64_t a,
	uint64_t b, uint32_t *value)
{
	if (!memo->slots)
		return false;
	const struct retype_memo_slot *slot = &memo->slots[memo_slot(types, memo, a, b)];
	*value = slot->value;
	return slot->is_used;
}

static bool resize_memo(struct retype_types *types, struct retype_memo *memo, uint64_t size)
{
	struct retype_memo bigger = {.used = memo->used, .mask = size - 1};
	bigger.slots = calloc(size, sizeof(*bigger.slots));
	if (!bigger.slots) {
		retype_failed(types, base_no_memory(types->error, size * sizeof(*bigger.slots)));
		return false;
	}
	for (uint64_t i = 0; memo->slots && i <= memo->mask; i++) {
		const struct retype_memo_slot *slot = &memo->slots[i];
		if (slot->is_used)
			bigger.slots[memo_slot(types, &bigger, slot->a, slot->b)] = *slot;
	}
	free(memo->slots);
	*memo = bigger;
	return true;
}

static bool grow_memo(struct retype_types *types, struct retype_memo *memo)
{
	return resize_memo(types, memo, memo->slots ? 2 * (memo->mask + 1) : FIRST_SLOTS);
}

void retype_memo_reserve(struct retype_types *types, struct retype_memo *memo, uint64_t count)
{
	uint64_t size = FIRST_SLOTS;
	while (size / 2 < memo->used + count + 1)
		size *= 2;
	if (!memo->slots || size > memo->mask + 1)
		resize_memo(types, memo, size);
}

void retype_memo_set(struct retype_types *types, struct retype_memo *memo, uint64_t a, uint64_t b,
	uint32_t value)
{
	if ((!memo->slots || memo->used > memo->mask / 2) && !grow_memo(types, memo))
		return;
	struct retype_memo_slot *slot = &memo->slots[memo_slot(types, memo, a, b)];
	memo->used += !slot->is_used;
	*slot = (struct retype_memo_slot){a, b, value, true};
}

/* Strings */

static struct retype_string *string_slot(
	const struct retype_terms *terms, const void *bytes, size_t length, uint32_t hash)
{
	uint64_t at = hash & terms->string_mask;
	for (;; at = (at + 1) & terms->string_mask) {
		struct retype_string *string = &terms->strings[at];
		if (!string->text || (string->hash == hash && string->length == length &&
					     memcmp(string->text, bytes, length) == 0))
			return string;
	}
}

static enum hg_status resize_strings(struct retype_types *types, uint64_t size)
{
	struct retype_terms *terms = types->terms;
	struct retype_string *bigger = calloc(size, sizeof(*bigger));
	if (!bigger)
		return base_no_memory(types->error, size * sizeof(*bigger));
	for (uint64_t i = 0; terms->strings && i <= terms->string_mask; i++) {
		uint64_t at = terms->strings[i].hash & (size - 1);
		while (bigger[at].text)
			at = (at + 1) & (size - 1);
		if (terms->strings[i].text)
			bigger[at] = terms->strings[i];
	}
	free(terms->strings);
	terms->strings = bigger;
	terms->string_mask = size - 1;
	return HG_OK;
}

static enum hg_status add_string(struct retype_types *types, const void *bytes, size_t length,
	uint32_t hash, const char **copy)
{
	struct retype_terms *terms = types->terms;
	if (terms->string_count > terms->string_mask / 2)
		BASE_TRY(resize_strings(types, 4 * (terms->string_mask + 1)));
	BASE_TRY(base_pool_string(&types->pool, bytes, length, copy, types->error));
	*string_slot(terms, bytes, length, hash) =
		(struct retype_string){*copy, (uint32_t)length, hash};
	terms->string_count++;
	return HG_OK;
}

const char *retype_intern(struct retype_types *types, const void *bytes, size_t length)
{
	struct retype_terms *terms = types->terms;
	/* Strings end at a NUL, which no name has. */
	length = length ? strnlen(bytes, length) : 0;
	if (length == 0 || length > UINT32_MAX)
		return terms->empty;
	uint32_t hash = (uint32_t)retype_hash_bytes(types, bytes, length);
	const char *copy = string_slot(terms, bytes, length, hash)->text;
	if (copy)
		return copy;
	enum hg_status status = add_string(types, bytes, length, hash, &copy);
	if (status == HG_OK)
		return copy;
	retype_failed(types, status);
	return terms->empty;
}

const char *retype_interned(const struct retype_types *types, const char *string)
{
	const struct retype_terms *terms = types->terms;
	size_t length = strlen(string);
	if (length == 0)
		return terms->empty;
	uint32_t hash = (uint32_t)retype_hash_bytes(types, string, length);
	return string_slot(terms, string, length, hash)->text;
}

/* Terms */

static uint32_t hash_parts(const struct retype_types *types, enum retype_kind kind, uint32_t number,
	const char *const *names, const struct retype_term *arguments, uint32_t count)
{
	uint64_t hash = retype_mix(types, (uint64_t)kind << 32 | number, count);
	for (uint32_t i = 0; i < count; i++)
		hash = mix(hash ^ arguments[i].n, UINT64_C(0xa0761d6478bd642f));
	for (uint32_t i = 0; names && i < (kind == RETYPE_ARROW ? 1 : count); i++)
		hash = mix(hash ^ (uint64_t)(uintptr_t)names[i], UINT64_C(0xe7037ed1a0b428db));
	return (uint32_t)hash;
}

static uint32_t name_count(enum retype_kind kind, uint32_t count)
{
	if (kind == RETYPE_ARROW)
		return 1;
	return kind == RETYPE_POLY_VARIANT || kind == RETYPE_OBJECT ? count : 0;
}

static bool has_parts(const struct retype_types *types, const struct retype_node *node,
	enum retype_kind kind, uint32_t number, const char *const *names,
	const struct retype_term *arguments, uint32_t count)
{
	if (node->kind != kind || node->number != number || node->count != count)
		return false;
	if (count > 0 && memcmp(types->terms->arguments + node->first, arguments,
				 count * sizeof(*arguments)) != 0)
		return false;
	for (uint32_t i = 0; i < name_count(kind, count); i++)
		if (node->names[i] != names[i])
			return false;
	return true;
}

static enum hg_status resize_slots(struct retype_types *types, uint64_t size)
{
	struct retype_terms *terms = types->terms;
	uint32_t *bigger = calloc(size, sizeof(*bigger));
	if (!bigger)
		return base_no_memory(types->error, size * sizeof(*bigger));
	for (uint64_t i = 0; i < terms->count; i++) {
		uint64_t at = terms->nodes[i].hash & (size - 1);
		while (bigger[at])
			at = (at + 1) & (size - 1);
		bigger[at] = (uint32_t)i + 1;
	}
	free(terms->slots);
	terms->slots = bigger;
	terms->slot_mask = size - 1;
	return HG_OK;
}

enum hg_status retype_reserve_terms(struct retype_types *types, uint64_t count)
{
	struct retype_terms *terms = types->terms;
	uint64_t size = FIRST_SLOTS;
	BASE_TRY(base_grow_by(&terms->nodes, terms->count, count, &terms->capacity,
		sizeof(*terms->nodes), types->error));
	while (size / 2 < terms->count + count + 1)
		size *= 2;
	return size > terms->slot_mask + 1 ? resize_slots(types, size) : HG_OK;
}

static void sum_up_arguments(const struct retype_types *types, struct retype_node *node,
	const struct retype_term *arguments)
{
	unsigned deepest = 0;
	node->is_open = node->kind == RETYPE_VARIABLE;
	for (uint32_t i = 0; i < node->count; i++) {
		const struct retype_node *argument = retype_node(types, arguments[i]);
		node->is_open |= argument->is_open;
		if (argument->depth > deepest)
			deepest = argument->depth;
	}
	/* Alternatives are all at the position of their set. */
	if (node->kind != RETYPE_UNKNOWN && node->kind != RETYPE_SET && deepest < UINT8_MAX)
		deepest++;
	node->depth = (uint8_t)deepest;
}

static enum hg_status add_node(struct retype_types *types, struct retype_node *node,
	const char *const *names, const struct retype_term *arguments)
{
	struct retype_terms *terms = types->terms;
	uint32_t count = node->count, named = name_count(node->kind, count);
	/* Arguments may be a view of another term's, which moves when the array grows. */
	bool are_ours = terms->arguments && arguments >= terms->arguments &&
			arguments < terms->arguments + terms->argument_count;
	uint64_t offset = are_ours ? (uint64_t)(arguments - terms->arguments) : 0;
	if (terms->count >= INT32_MAX)
		return base_fail(types->error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"more than %d type expressions", INT32_MAX);
	if (terms->count > terms->slot_mask / 2)
		BASE_TRY(resize_slots(types, 2 * (terms->slot_mask + 1)));
	BASE_TRY(base_grow(
		&terms->nodes, terms->count, &terms->capacity, sizeof(*node), types->error));
	BASE_TRY(base_grow_by(&terms->arguments, terms->argument_count, count,
		&terms->argument_capacity, sizeof(*arguments), types->error));
	if (are_ours)
		arguments = terms->arguments + offset;
	if (named > 0) {
		void *copy;
		BASE_TRY(base_pool_alloc(&types->pool, named, sizeof(*names), &copy, types->error));
		memcpy(copy, names, named * sizeof(*names));
		node->names = copy;
	}
	node->first = terms->argument_count;
	sum_up_arguments(types, node, arguments);
	if (terms->arguments && count > 0)
		memcpy(terms->arguments + node->first, arguments, count * sizeof(*arguments));
	terms->argument_count += count;
	terms->nodes[terms->count++] = *node;
	uint64_t at = node->hash & terms->slot_mask;
	while (terms->slots[at])
		at = (at + 1) & terms->slot_mask;
	terms->slots[at] = (uint32_t)terms->count;
	return HG_OK;
}

struct retype_term retype_make(struct retype_types *types, enum retype_kind kind, uint32_t number,
	const char *const *names, const struct retype_term *arguments, uint32_t count)
{
	struct retype_terms *terms = types->terms;
	uint32_t hash = hash_parts(types, kind, number, names, arguments, count);
	for (uint64_t at = hash & terms->slot_mask; terms->slots[at];
		at = (at + 1) & terms->slot_mask) {
		uint32_t found = terms->slots[at] - 1;
		if (terms->nodes[found].hash == hash && has_parts(types, &terms->nodes[found], kind,
								number, names, arguments, count))
			return (struct retype_term){found};
	}
	struct retype_node node = {
		.kind = (uint8_t)kind, .number = number, .count = count, .hash = hash};
	enum hg_status status = add_node(types, &node, names, arguments);
	if (status != HG_OK) {
		retype_failed(types, status);
		return RETYPE_NOTHING;
	}
	return (struct retype_term){(uint32_t)terms->count - 1};
}

void retype_push(struct retype_types *types, struct retype_term term)
{
	struct retype_terms *terms = types->terms;
	enum hg_status status = base_grow(&terms->scratch, terms->scratch_count,
		&terms->scratch_capacity, sizeof(term), types->error);
	if (status == HG_OK)
		terms->scratch[terms->scratch_count++] = term;
	else
		retype_failed(types, status);
}

struct retype_term retype_variable(struct retype_types *types, uint32_t index)
{
	if (index >= RETYPE_MOST_VARIABLES)
		return RETYPE_NOTHING;
	return retype_make(types, RETYPE_VARIABLE, index, NULL, NULL, 0);
}

struct retype_term retype_constructed(struct retype_types *types, uint32_t declaration,
	const struct retype_term *arguments, uint32_t count)
{
	return retype_make(types, RETYPE_CONSTRUCTED, declaration, NULL, arguments, count);
}

struct retype_term retype_tuple(
	struct retype_types *types, const struct retype_term *parts, uint32_t count)
{
	return retype_make(types, RETYPE_TUPLE, 0, NULL, parts, count);
}

struct retype_term retype_arrow(struct retype_types *types, const char *label,
	struct retype_term parameter, struct retype_term result)
{
	const char *name = retype_intern(types, label, strlen(label));
	return retype_make(
		types, RETYPE_ARROW, 0, &name, (struct retype_term[]){parameter, result}, 2);
}

struct retype_term retype_module(struct retype_types *types, uint32_t layout)
{
	return retype_make(types, RETYPE_MODULE, layout, NULL, NULL, 0);
}

struct named {
	const char *name;
	int32_t hash;
	uint32_t order;
	struct retype_term term;
};

static int compare_tags(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	int names = strcmp(x->name, y->name);
	return names ? names : (x->order > y->order) - (x->order < y->order);
}

/* Poly variants (by hash) and objects (hashes 0: by name), each name once: what was given first. */
static struct retype_term make_named(
	struct retype_types *types, enum retype_kind kind, struct named *all, uint32_t count)
{
	uint32_t kept = 0;
	if (count > 0)
		qsort(all, count, sizeof(*all), compare_tags);
	for (uint32_t i = 0; i < count; i++)
		if (kept == 0 || all[kept - 1].name != all[i].name)
			all[kept++] = all[i];
	const char **names = calloc((size_t)kept + 1, sizeof(*names));
	struct retype_term *terms = calloc((size_t)kept + 1, sizeof(*terms));
	struct retype_term made = RETYPE_NOTHING;
	for (uint32_t i = 0; names && terms && i < kept; i++) {
		names[i] = all[i].name;
		terms[i] = all[i].term;
	}
	if (names && terms)
		made = retype_make(types, kind, 0, names, terms, kept);
	else
		retype_failed(types, base_no_memory(types->error, kept * sizeof(*names)));
	free(names);
	free(terms);
	return made;
}

static struct retype_term sort_named(struct retype_types *types, enum retype_kind kind,
	const char *const *names, const struct retype_term *terms, uint32_t count)
{
	struct named *all = calloc((size_t)count + 1, sizeof(*all));
	if (!all) {
		retype_failed(types, base_no_memory(types->error, count * sizeof(*all)));
		return RETYPE_NOTHING;
	}
	for (uint32_t i = 0; i < count; i++) {
		const char *name = retype_intern(types, names[i], strlen(names[i]));
		int32_t hash = kind == RETYPE_POLY_VARIANT ? retype_hash_name(name) : 0;
		all[i] = (struct named){name, hash, i, terms[i]};
	}
	struct retype_term made = make_named(types, kind, all, count);
	free(all);
	return made;
}

struct retype_term retype_poly_variant(struct retype_types *types, const char *const *tags,
	const struct retype_term *arguments, uint32_t count)
{
	return sort_named(types, RETYPE_POLY_VARIANT, tags, arguments, count);
}

struct retype_term retype_object(struct retype_types *types, const char *const *methods,
	const struct retype_term *results, uint32_t count)
{
	return sort_named(types, RETYPE_OBJECT, methods, results, count);
}

uint32_t retype_term_count(const struct retype_types *types)
{
	return (uint32_t)types->terms->count;
}

struct retype_view retype_view(const struct retype_types *types, struct retype_term term)
{
	const struct retype_node *node = retype_node(types, term);
	return (struct retype_view){
		.kind = (enum retype_kind)node->kind,
		.number = node->number,
		.count = node->count,
		.arguments = node->count ? types->terms->arguments + node->first : NULL,
		.names = node->names,
	};
}

const struct retype_declaration *retype_declared(
	const struct retype_types *types, struct retype_term term)
{
	const struct retype_node *node = retype_node(types, term);
	if (node->kind != RETYPE_CONSTRUCTED || node->number >= types->declaration_count)
		return NULL;
	return &types->declarations[node->number];
}

/* h * 223 + c over the bytes, 31 bits of it with their sign (Btype.hash_variant). */
int32_t retype_hash_name(const char *name)
{
	uint32_t hash = 0;
	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		hash = hash * 223 + *c;
	return (int32_t)(hash << 1) >> 1;
}

/* The table */

/* Arrays of both double from 64 on, so that their size follows from the count. */
static bool make_room(struct retype_types *types, void *array, uint32_t count, size_t size)
{
	uint64_t capacity = count < 64 ? 64 : count;
	void **pointer = array;
	if (*pointer && (count < 64 || (count & (count - 1)) != 0))
		return true;
	if (!*pointer)
		capacity = 0;
	enum hg_status status = count == UINT32_MAX
					? base_no_memory(types->error, UINT64_MAX)
					: base_grow(array, count, &capacity, size, types->error);
	if (status != HG_OK)
		retype_failed(types, status);
	return status == HG_OK;
}

uint32_t retype_declare(struct retype_types *types, const struct retype_declaration *declaration)
{
	if (!make_room(types, &types->declarations, types->declaration_count, sizeof(*declaration)))
		return RETYPE_NONE;
	types->declarations[types->declaration_count] = *declaration;
	return types->declaration_count++;
}

uint32_t retype_add_layout(struct retype_types *types, const struct retype_layout *layout)
{
	if (!make_room(types, &types->layouts, types->layout_count, sizeof(*layout)))
		return RETYPE_NONE;
	types->layouts[types->layout_count] = *layout;
	return types->layout_count++;
}

static enum hg_status fill_empty(struct retype_types *types)
{
	BASE_TRY(resize_slots(types, FIRST_SLOTS));
	BASE_TRY(resize_strings(types, FIRST_SLOTS));
	types->terms->empty = "";
	retype_make(types, RETYPE_UNKNOWN, 0, NULL, NULL, 0);
	retype_make(types, RETYPE_MANY, 0, NULL, NULL, 0);
	if (types->status == HG_OK)
		retype_declare_predefined(types);
	return types->status;
}

enum hg_status retype_types_init(struct retype_types *types, struct hg_error *error)
{
	*types = (struct retype_types){.error = error, .ocaml_version = ""};
	types->terms = calloc(1, sizeof(*types->terms));
	if (!types->terms)
		return base_no_memory(error, sizeof(*types->terms));
	/* Without it files could still not crash anything, only choose what takes long. */
	if (getrandom(&types->terms->seed, sizeof(types->terms->seed), GRND_NONBLOCK) < 0)
		types->terms->seed = (uint64_t)(uintptr_t)types->terms;
	enum hg_status status = fill_empty(types);
	if (status != HG_OK)
		retype_types_release(types);
	return status;
}

void retype_types_release(struct retype_types *types)
{
	struct retype_terms *terms = types->terms;
	if (!terms)
		return;
	retype_lookups_release(types);
	free(terms->nodes);
	free(terms->arguments);
	free(terms->slots);
	free(terms->strings);
	free(terms->scratch);
	free(terms->instances.slots);
	free(terms->joins.slots);
	free(terms->fits.slots);
	free(terms->fit_results);
	free(terms->parents);
	free(terms);
	free(types->declarations);
	free(types->layouts);
	base_pool_release(&types->pool);
	*types = (struct retype_types){0};
}
