/*
 * Hash-consing: a term that is there already is found by the hash of its parts, whose arguments are
 * terms with numbers of their own.  A node is never changed or freed before the table is.
 */
#include "retype/types/nodes.h"

#include "base/assert.h"
#include "base/grow.h"
#include "base/hash.h"

#include <string.h>

enum { FIRST_NODE_SLOTS = 1024 };

/* How many of its names there are: those of a tuple are NULL where no part has a label. */
static uint32_t name_count(enum retype_kind kind, const char *const *names, uint32_t count)
{
	if (!names)
		return 0;
	return kind == RETYPE_ARROW ? 1 : count;
}

/* One multiplication for each part, as base_hash_bytes() spends two, and another one at the end. */
static uint32_t hash_parts(enum retype_kind kind, uint32_t number, const char *const *names,
	const struct retype_term *arguments, uint32_t count)
{
	const struct base_secret *secret = base_process_secret();
	uint64_t hash = base_hash(secret, (uint64_t)kind << 32 | number) + count;
	for (uint32_t i = 0; i < count; i++)
		hash = base_fold(hash ^ arguments[i].n, secret->multiply);
	for (uint32_t i = 0; i < name_count(kind, names, count); i++)
		hash = base_fold(hash ^ (uint64_t)(uintptr_t)names[i], secret->multiply);
	return (uint32_t)base_hash(secret, hash);
}

static bool has_parts(const struct retype_types *types, const struct retype_node *node,
	enum retype_kind kind, uint32_t number, const char *const *names,
	const struct retype_term *arguments, uint32_t count)
{
	uint32_t named = name_count(kind, names, count);
	if (node->kind != kind || node->number != number || node->count != count ||
		name_count(kind, node->names, count) != named)
		return false;
	if (count > 0 && memcmp(types->nodes->arguments + node->first, arguments,
				 count * sizeof(*arguments)) != 0)
		return false;
	for (uint32_t i = 0; i < named; i++)
		if (node->names[i] != names[i])
			return false;
	return true;
}

static enum hg_status resize_node_slots(struct retype_types *types, uint64_t size)
{
	struct retype_nodes *nodes = types->nodes;
	uint32_t *bigger = calloc(size, sizeof(*bigger));
	base_assert((size & (size - 1)) == 0 && nodes->count <= size / 2);
	if (!bigger)
		return base_no_memory(types->error, size * sizeof(*bigger));
	for (uint64_t i = 0; i < nodes->count; i++) {
		uint64_t at = nodes->all[i].hash & (size - 1);
		while (bigger[at])
			at = (at + 1) & (size - 1);
		bigger[at] = (uint32_t)i + 1;
	}
	free(nodes->slots);
	nodes->slots = bigger;
	nodes->slot_mask = size - 1;
	return HG_OK;
}

enum hg_status retype_nodes_reserve(struct retype_types *types, uint64_t count)
{
	struct retype_nodes *nodes = types->nodes;
	uint64_t size = FIRST_NODE_SLOTS;
	BASE_TRY(base_grow_by(&nodes->all, nodes->count, count, &nodes->capacity,
		sizeof(*nodes->all), types->error));
	while (size / 2 < nodes->count + count + 1)
		size *= 2;
	return size > nodes->slot_mask + 1 ? resize_node_slots(types, size) : HG_OK;
}

static void sum_up_arguments(const struct retype_types *types, struct retype_node *node,
	const struct retype_term *arguments)
{
	unsigned deepest = 0;
	node->is_open = node->kind == RETYPE_VARIABLE;
	for (uint32_t i = 0; i < node->count; i++) {
		/* Arguments are there before what has them, so that no term is a part of itself. */
		const struct retype_node *argument = retype_node_of(types, arguments[i]);
		node->is_open |= argument->is_open;
		if (argument->depth > deepest)
			deepest = argument->depth;
	}
	/* Alternatives are all at the position of their set. */
	if (node->kind != RETYPE_UNKNOWN && node->kind != RETYPE_SET && deepest < UINT8_MAX)
		deepest++;
	node->depth = (uint8_t)deepest;
}

static enum hg_status append_node(struct retype_types *types, struct retype_node *node,
	const char *const *names, const struct retype_term *arguments)
{
	struct retype_nodes *nodes = types->nodes;
	uint32_t count = node->count, named = name_count(node->kind, names, count);
	/* Arguments may be a view of another term's, which moves when the array grows. */
	bool are_ours = nodes->arguments && arguments >= nodes->arguments &&
			arguments < nodes->arguments + nodes->argument_count;
	uint64_t offset = are_ours ? (uint64_t)(arguments - nodes->arguments) : 0;
	if (nodes->count >= INT32_MAX)
		return base_fail(types->error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"more than %d type expressions", INT32_MAX);
	if (nodes->count > nodes->slot_mask / 2)
		BASE_TRY(resize_node_slots(types, 2 * (nodes->slot_mask + 1)));
	BASE_TRY(base_grow(
		&nodes->all, nodes->count, &nodes->capacity, sizeof(*node), types->error));
	BASE_TRY(base_grow_by(&nodes->arguments, nodes->argument_count, count,
		&nodes->argument_capacity, sizeof(*arguments), types->error));
	if (are_ours)
		arguments = nodes->arguments + offset;
	if (named > 0) {
		void *copy;
		BASE_TRY(base_pool_alloc(&types->pool, named, sizeof(*names), &copy, types->error));
		memcpy(copy, names, named * sizeof(*names));
		node->names = copy;
	}
	base_assert(node->kind != RETYPE_SET || (count > 1 && count <= RETYPE_MOST_ALTERNATIVES));
	node->first = nodes->argument_count;
	sum_up_arguments(types, node, arguments);
	if (nodes->arguments && count > 0)
		memcpy(nodes->arguments + node->first, arguments, count * sizeof(*arguments));
	nodes->argument_count += count;
	nodes->all[nodes->count++] = *node;
	uint64_t at = node->hash & nodes->slot_mask;
	while (nodes->slots[at])
		at = (at + 1) & nodes->slot_mask;
	nodes->slots[at] = (uint32_t)nodes->count;
	return HG_OK;
}

struct retype_term retype_make(struct retype_types *types, enum retype_kind kind, uint32_t number,
	const char *const *names, const struct retype_term *arguments, uint32_t count)
{
	struct retype_nodes *nodes = types->nodes;
	uint32_t hash = hash_parts(kind, number, names, arguments, count);
	for (uint64_t at = hash & nodes->slot_mask; nodes->all && nodes->slots[at];
		at = (at + 1) & nodes->slot_mask) {
		base_assert(nodes->slots[at] <= nodes->count);
		uint32_t found = nodes->slots[at] - 1;
		if (nodes->all[found].hash == hash &&
			has_parts(types, &nodes->all[found], kind, number, names, arguments, count))
			return (struct retype_term){found};
	}
	struct retype_node node = {
		.kind = (uint8_t)kind, .number = number, .count = count, .hash = hash};
	enum hg_status status = append_node(types, &node, names, arguments);
	if (status != HG_OK) {
		retype_keep_status(types, status);
		return RETYPE_NOTHING;
	}
	return (struct retype_term){(uint32_t)nodes->count - 1};
}

void retype_push(struct retype_types *types, struct retype_term term)
{
	struct retype_nodes *nodes = types->nodes;
	enum hg_status status = base_grow(&nodes->scratch, nodes->scratch_count,
		&nodes->scratch_capacity, sizeof(term), types->error);
	if (status == HG_OK)
		nodes->scratch[nodes->scratch_count++] = term;
	retype_keep_status(types, status);
}

const struct retype_declaration *retype_declared(
	const struct retype_types *types, struct retype_term term)
{
	const struct retype_node *node = retype_node_of(types, term);
	if (node->kind != RETYPE_CONSTRUCTED || node->number >= types->declaration_count)
		return NULL;
	return &types->declarations[node->number];
}

enum hg_status retype_nodes_init(struct retype_types *types)
{
	types->nodes = calloc(1, sizeof(*types->nodes));
	if (!types->nodes)
		return base_no_memory(types->error, sizeof(*types->nodes));
	BASE_TRY(resize_node_slots(types, FIRST_NODE_SLOTS));
	retype_make(types, RETYPE_UNKNOWN, 0, NULL, NULL, 0);
	retype_make(types, RETYPE_MANY, 0, NULL, NULL, 0);
	base_assert(types->status != HG_OK || types->nodes->count == RETYPE_TOO_MANY.n + 1);
	return types->status;
}

void retype_nodes_release(struct retype_types *types)
{
	struct retype_nodes *nodes = types->nodes;
	if (nodes) {
		free(nodes->all);
		free(nodes->arguments);
		free(nodes->slots);
		free(nodes->scratch);
	}
	free(nodes);
	types->nodes = NULL;
}
