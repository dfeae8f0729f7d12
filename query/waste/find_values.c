/*
 * Equal values, from the leaves up: two blocks are of one class if they have the same type, tag and
 * size, and the same words, where a pointer to an immutable value stands for the class of that and
 * any other pointer for itself.  So every block is looked at twice and hashed once, at any depth of
 * sharing.  Values in a cycle are equal to none.
 *
 * Costs 4 bytes per block, and 24 for each different value with its place in the table.
 */
#include "query/waste/find.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/grow.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { UNSEEN = 0, OPEN = UINT32_MAX - 1, ALONE = UINT32_MAX }; /* else the class + 1 */
enum { LOWEST_NO_VALUE_TAG = 244 };                             /* lazies, closures, objects */

struct value_class {
	uint32_t first; /* the block that is kept */
	uint32_t type;
	uint32_t hash;
	uint32_t heap, all; /* blocks: in the heap, and with static ones */
};

struct values {
	struct waste *waste;
	struct hg_snapshot *snapshot;
	uint32_t *state; /* of a block */
	struct value_class *classes;
	uint64_t class_count, class_capacity;
	uint32_t *slots; /* class + 1; at most half full */
	uint64_t mask;
	uint32_t *stack;
	uint64_t depth, stack_capacity;
	uint64_t *key, *other; /* of the block at hand, and of one to compare it with */
	uint64_t key_room, other_room;
	struct hg_error *error;
};

/* What is known of the words of a block. */
enum substance { NO_VALUE, FIELDS, CONTENT, MUTABLE_CONTENT };

/* Bytes of content that tell the value: all of them, but for int32, which has rubbish behind. */
static size_t content_length(const struct retype_declaration *declaration, size_t size)
{
	bool is_short = declaration && declaration->base && strcmp(declaration->base, "int32") == 0;
	return is_short && size > 12 ? 12 : size;
}

static bool is_boxed_integer(const struct retype_declaration *declaration)
{
	return declaration && declaration->base &&
	       (strcmp(declaration->base, "int32") == 0 ||
		       strcmp(declaration->base, "int64") == 0 ||
		       strcmp(declaration->base, "nativeint") == 0);
}

static bool has_mutable_field(const struct retype_fit *fit)
{
	for (uint32_t i = 0; i < fit->field_count; i++)
		if (fit->fields[i].mutability != RETYPE_IMMUTABLE)
			return true;
	return false;
}

static enum substance substance_of(struct values *v, const struct query_shape *shape)
{
	const struct retype_declaration *declaration = waste_declaration(v->snapshot, shape->type);
	bool plain = shape->fit.match == RETYPE_LEAF;
	switch (shape->tag) {
	case SNAP_TAG_STRING:
		if (shape->type.n == 0)
			return CONTENT;
		if (!declaration || (declaration->base && !strcmp(declaration->base, "bytes")))
			return MUTABLE_CONTENT;
		return CONTENT;
	case SNAP_TAG_DOUBLE:
		return CONTENT;
	case SNAP_TAG_DOUBLE_ARRAY:
		/* Of floats only: a record, whose fields are known, or an array. */
		return plain && shape->fit.field_count == shape->wosize &&
				       !has_mutable_field(&shape->fit)
			       ? CONTENT
			       : NO_VALUE;
	case SNAP_TAG_CUSTOM:
		return is_boxed_integer(declaration) ? CONTENT : NO_VALUE;
	default:
		break;
	}
	if (shape->tag >= LOWEST_NO_VALUE_TAG)
		return NO_VALUE;
	if (shape->fit.match == RETYPE_TAGGED)
		return FIELDS;
	return shape->fit.match == RETYPE_FIELDS && shape->fit.field_count == shape->wosize &&
			       !has_mutable_field(&shape->fit)
		       ? FIELDS
		       : NO_VALUE;
}

/* Several types at once, or a guess, tell nothing that could be relied on. */
static bool is_well_typed(struct values *v, const struct query_shape *shape)
{
	enum hg_confidence confidence;
	query_type(v->snapshot, shape->rank, shape->tag, &confidence);
	if (shape->type.n == 0 || confidence == HG_GUESSED || confidence == HG_UNKNOWN_ORIGIN)
		return shape->tag == SNAP_TAG_STRING;
	enum retype_kind kind = retype_view_of(&v->snapshot->retype.types, shape->type).kind;
	return kind != RETYPE_SET && kind != RETYPE_MANY;
}

static enum hg_status reserve_key(struct values *v, uint64_t **key, uint64_t *room, uint64_t words)
{
	if (words <= *room)
		return HG_OK;
	uint64_t wanted = words + words / 8 + 64;
	uint64_t *grown = realloc(*key, wanted * sizeof(*grown));
	if (!grown)
		return base_no_memory(v->error, wanted * sizeof(*grown));
	*key = grown;
	*room = wanted;
	return HG_OK;
}

/* What stands for the word of a field: the number of a class is even, and no address. */
static uint64_t word_of_key(const struct values *v, uint64_t word)
{
	uint32_t to = word & 1 ? HG_NO_NODE : snap_resolve_node(&v->snapshot->snap, word);
	if (to == HG_NO_NODE || v->state[to] == ALONE || v->state[to] == UNSEEN ||
		v->state[to] == OPEN)
		return word;
	uint32_t number = v->state[to] - 1;
	return v->classes[number].type == 0 ? word : (uint64_t)number << 1 | UINT64_C(1) << 63;
}

/* The words that tell the value of a block; 0: the file does not have them. */
static enum hg_status make_key(struct values *v, const struct query_shape *shape,
	enum substance substance, uint64_t **key, uint64_t *room, uint64_t *words)
{
	const uint8_t *content;
	bool cut;
	struct snap_cell cell;
	*words = 0;
	if (substance == FIELDS) {
		BASE_TRY(reserve_key(v, key, room, shape->wosize));
		if (!snap_block(&v->snapshot->lookup, (struct snap_rank){shape->rank}, &cell))
			return HG_OK;
		for (uint64_t i = 0; i < cell.field_count && i < shape->wosize; i++)
			(*key)[i] = word_of_key(v, cell.fields[i]);
		*words = cell.field_count;
		return HG_OK;
	}
	size_t size =
		query_content(v->snapshot, shape->rank, shape->tag, shape->wosize, &content, &cut);
	bool is_empty = shape->tag == SNAP_TAG_STRING && shape->wosize == 1 &&
			v->snapshot->snap.format->content;
	if (cut || (size == 0 && !is_empty))
		return HG_OK;
	size = content_length(waste_declaration(v->snapshot, shape->type), size);
	*words = size / 8 + 2;
	BASE_TRY(reserve_key(v, key, room, *words));
	(*key)[*words - 2] = 0;
	(*key)[*words - 1] = size;
	if (size)
		memcpy(*key, content, size);
	return HG_OK;
}

static uint64_t hash_of_key(
	const uint64_t *key, uint64_t words, const struct query_shape *shape, uint32_t type)
{
	const struct base_secret *secret = base_process_secret();
	uint64_t hash = base_hash(secret, (uint64_t)type << 8 | shape->tag);
	return base_hash_join(secret, hash, base_hash_bytes(secret, key, words * sizeof(*key)));
}

/* Whether the first block of a class has the key that was made. */
static enum hg_status class_has_key(struct values *v, const struct value_class *class,
	const struct query_shape *shape, enum substance substance, uint64_t words, bool *equal)
{
	struct query_shape other;
	uint64_t other_words;
	*equal = false;
	if (!query_read_shape(v->snapshot, class->first, RETYPE_NOTHING, &other) ||
		other.tag != shape->tag || other.wosize != shape->wosize)
		return HG_OK;
	BASE_TRY(make_key(v, &other, substance, &v->other, &v->other_room, &other_words));
	*equal = words == other_words && memcmp(v->key, v->other, words * sizeof(*v->key)) == 0;
	return HG_OK;
}

static enum hg_status grow_slots(struct values *v)
{
	uint64_t size = v->mask ? 2 * (v->mask + 1) : 1024;
	uint32_t *slots = calloc(size, sizeof(*slots));
	if (!slots)
		return base_no_memory(v->error, size * sizeof(*slots));
	free(v->slots);
	v->slots = slots;
	v->mask = size - 1;
	for (uint64_t i = 0; i < v->class_count; i++) {
		uint64_t at = v->classes[i].hash & v->mask;
		while (slots[at])
			at = (at + 1) & v->mask;
		slots[at] = (uint32_t)i + 1;
	}
	return HG_OK;
}

/* Mutable contents have classes, but nobody who points to them may be taken for another. */
static enum hg_status add_class(struct values *v, const struct query_shape *shape, uint32_t type,
	uint32_t hash, uint64_t at, uint32_t *out)
{
	BASE_TRY(base_grow(
		&v->classes, v->class_count, &v->class_capacity, sizeof(*v->classes), v->error));
	v->classes[v->class_count] =
		(struct value_class){.first = shape->rank, .type = type, .hash = hash};
	*out = (uint32_t)v->class_count++;
	v->slots[at] = *out + 1;
	return 2 * v->class_count > v->mask ? grow_slots(v) : HG_OK;
}

static enum hg_status find_class_of_value(struct values *v, const struct query_shape *shape,
	enum substance substance, uint64_t words, uint32_t *out)
{
	uint32_t type = waste_type(v->waste, shape->type.n);
	type = substance == MUTABLE_CONTENT ? 0 : type ? type : UINT32_MAX;
	uint32_t hash = (uint32_t)hash_of_key(v->key, words, shape, type);
	uint64_t at;
	if (!v->slots)
		BASE_TRY(grow_slots(v));
	for (at = hash & v->mask; v->slots[at]; at = (at + 1) & v->mask) {
		const struct value_class *class = &v->classes[v->slots[at] - 1];
		bool equal = false;
		if (class->hash == hash && class->type == type)
			BASE_TRY(class_has_key(v, class, shape, substance, words, &equal));
		if (equal) {
			*out = v->slots[at] - 1;
			return HG_OK;
		}
	}
	return add_class(v, shape, type, hash, at, out);
}

/* Gives a block its class when those that it points to have theirs. */
static enum hg_status close_value(
	struct values *v, const struct query_shape *shape, enum substance substance)
{
	uint64_t words;
	uint32_t number;
	BASE_TRY(make_key(v, shape, substance, &v->key, &v->key_room, &words));
	v->state[shape->rank] = ALONE;
	if (words == 0)
		return HG_OK;
	BASE_TRY(find_class_of_value(v, shape, substance, words, &number));
	struct value_class *class = &v->classes[number];
	bool in_heap = !waste_is_static(v->snapshot, shape->rank);
	/* What is not in the heap is kept anyhow. */
	if (!in_heap && class->heap == class->all)
		class->first = shape->rank;
	class->all++;
	class->heap += in_heap;
	v->state[shape->rank] = number + 1;
	return HG_OK;
}

/* Puts those on the stack that a block points to. */
static enum hg_status push_parts(struct values *v, const struct query_shape *shape)
{
	struct snap_cell cell;
	if (!snap_block(&v->snapshot->lookup, (struct snap_rank){shape->rank}, &cell))
		return HG_OK;
	for (uint64_t i = 0; i < cell.field_count; i++) {
		uint32_t to = cell.fields[i] & 1
				      ? HG_NO_NODE
				      : snap_resolve_node(&v->snapshot->snap, cell.fields[i]);
		if (to == HG_NO_NODE || v->state[to] != UNSEEN)
			continue;
		BASE_TRY(base_grow(
			&v->stack, v->depth, &v->stack_capacity, sizeof(*v->stack), v->error));
		v->stack[v->depth++] = to;
	}
	return HG_OK;
}

static bool points_to_open(struct values *v, const struct query_shape *shape)
{
	struct snap_cell cell;
	if (!snap_block(&v->snapshot->lookup, (struct snap_rank){shape->rank}, &cell))
		return true;
	for (uint64_t i = 0; i < cell.field_count; i++) {
		uint32_t to = cell.fields[i] & 1
				      ? HG_NO_NODE
				      : snap_resolve_node(&v->snapshot->snap, cell.fields[i]);
		if (to != HG_NO_NODE && v->state[to] == OPEN)
			return true;
	}
	return false;
}

/* The block on top of the stack: its parts first, then itself. */
static enum hg_status step_value(struct values *v)
{
	struct query_shape shape;
	uint32_t rank = v->stack[v->depth - 1];
	uint32_t state = v->state[rank];
	if (state != UNSEEN && state != OPEN) {
		v->depth--;
		return HG_OK;
	}
	enum substance substance = NO_VALUE;
	if (query_read_shape(v->snapshot, rank, RETYPE_NOTHING, &shape) && is_well_typed(v, &shape))
		substance = substance_of(v, &shape);
	if (substance == FIELDS && state == UNSEEN) {
		v->state[rank] = OPEN;
		return push_parts(v, &shape);
	}
	v->depth--;
	v->state[rank] = ALONE;
	if (substance == NO_VALUE || (substance == FIELDS && points_to_open(v, &shape)))
		return HG_OK;
	return close_value(v, &shape, substance);
}

static enum hg_status classify_values(struct values *v)
{
	const struct hg_snapshot *snapshot = v->snapshot;
	BASE_TRY(base_progress(snapshot->session, "looking for equal values", 0, 0));
	BASE_TRY(base_arena_zalloc(&v->waste->arena, snapshot->snap.block_count + 1,
		sizeof(*v->state), (void **)&v->state, v->error));
	for (uint32_t rank = 0; rank < snapshot->snap.block_count; rank++) {
		if (!graph_reaches(snapshot->graph.position[rank]) || v->state[rank] != UNSEEN)
			continue;
		BASE_TRY(base_grow(
			&v->stack, v->depth, &v->stack_capacity, sizeof(*v->stack), v->error));
		v->stack[v->depth++] = rank;
		while (v->depth)
			BASE_TRY(step_value(v));
	}
	return HG_OK;
}

/* Whether sharing would save a block: another one of its class is kept. */
static bool is_saved(const struct values *v, uint32_t rank)
{
	if (v->state[rank] == ALONE || v->state[rank] == UNSEEN)
		return false;
	const struct value_class *class = &v->classes[v->state[rank] - 1];
	return class->type != 0 && class->first != rank && !waste_is_static(v->snapshot, rank);
}

/* Marks what saved values point to: copies that are parts of a copy. */
static void mark_inner(struct values *v, uint64_t *inner)
{
	for (uint32_t rank = 0; rank < v->snapshot->snap.block_count; rank++) {
		struct snap_cell cell;
		if (!is_saved(v, rank) ||
			!snap_block(&v->snapshot->lookup, (struct snap_rank){rank}, &cell))
			continue;
		for (uint64_t i = 0; i < cell.field_count; i++) {
			uint64_t word = cell.fields[i];
			uint32_t to =
				word & 1 ? HG_NO_NODE : snap_resolve_node(&v->snapshot->snap, word);
			if (to != HG_NO_NODE)
				base_bit_set(inner, to);
		}
	}
}

static uint64_t bytes_of(const struct values *v, uint32_t rank)
{
	const struct graph *g = &v->snapshot->graph;
	return graph_shallow(g, g->position[rank]);
}

static enum hg_status add_strings(struct values *v)
{
	for (uint64_t i = 0; i < v->class_count; i++) {
		const struct value_class *class = &v->classes[i];
		struct snap_cell cell;
		if (class->all < 2 || !class->heap ||
			!snap_block(
				&v->snapshot->lookup, (struct snap_rank){class->first}, &cell) ||
			cell.tag != SNAP_TAG_STRING)
			continue;
		uint64_t bytes = bytes_of(v, class->first), kept = class->heap == class->all;
		enum hg_confidence confidence;
		BASE_TRY(waste_add(v->waste,
			&(struct hg_waste_row){
				.section = class->type ? HG_WASTE_STRINGS : HG_WASTE_BYTES,
				.type = query_type(v->snapshot, class->first, cell.tag, &confidence)
						.n,
				.example = class->first,
				.blocks = class->all,
				.bytes = bytes * class->all,
				.saved_bytes = bytes * (class->heap - kept)}));
	}
	return HG_OK;
}

static enum hg_status tally_values(
	struct values *v, const uint64_t *inner, struct hg_waste_row *by_type, uint32_t types)
{
	for (uint32_t rank = 0; rank < v->snapshot->snap.block_count; rank++) {
		if (!is_saved(v, rank))
			continue;
		const struct value_class *class = &v->classes[v->state[rank] - 1];
		struct hg_waste_row *row = &by_type[class->type == UINT32_MAX ? 0 : class->type];
		uint64_t bytes = bytes_of(v, rank);
		if (!row->blocks)
			row->example = class->first;
		row->blocks++;
		row->bytes += bytes;
		row->saved_bytes += bytes;
		row->outer += !base_bit(inner, rank);
	}
	for (uint64_t i = 0; i < v->class_count; i++) {
		const struct value_class *class = &v->classes[i];
		if (class->type && class->heap && class->all > 1)
			by_type[class->type == UINT32_MAX ? 0 : class->type].groups++;
	}
	for (uint32_t type = 0; type < types; type++) {
		by_type[type].section = HG_WASTE_VALUES;
		by_type[type].type = type;
		BASE_TRY(waste_add(v->waste, &by_type[type]));
	}
	return HG_OK;
}

static enum hg_status add_values(struct values *v)
{
	uint32_t types = retype_term_count(&v->snapshot->retype.types) + 1;
	struct hg_waste_row *by_type = calloc(types, sizeof(*by_type));
	uint64_t *inner = calloc(base_bit_words(v->snapshot->snap.block_count) + 1, sizeof(*inner));
	enum hg_status status = by_type && inner ? HG_OK : base_no_memory(v->error, types);
	if (status == HG_OK) {
		mark_inner(v, inner);
		status = tally_values(v, inner, by_type, types);
	}
	free(by_type);
	free(inner);
	return status;
}

enum hg_status waste_find_equal(struct waste *waste)
{
	struct values v = {.waste = waste,
		.snapshot = waste->snapshot,
		.error = &waste->snapshot->session->error};
	enum hg_status status = classify_values(&v);
	if (status == HG_OK)
		status = add_strings(&v);
	if (status == HG_OK && waste->snapshot->retype.has_types)
		status = add_values(&v);
	free(v.classes);
	free(v.slots);
	free(v.stack);
	free(v.key);
	free(v.other);
	return status;
}
