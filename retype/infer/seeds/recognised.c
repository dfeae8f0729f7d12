/*
 * Seeds in the blocks of units that nothing names: dumps of 4.00.1 have the table of globals, or
 * the fields of modules, but no symbols.
 *
 * A block is that of a unit if it has as many fields, every field can be a value of its type, and
 * some were allocated in the unit's own source: its functions, references, lists.  Where two blocks
 * look so for one unit, neither is taken.
 */
#include "retype/infer/seeds/seeds.h"

#include "base/assert.h"
#include "base/grow.h"

#include <string.h>

struct global {
	uint64_t index, value;
};

/* One block, or what is known of it. */
struct globals {
	struct global *fields;
	uint64_t count, capacity;
	uint64_t size; /* of the block; 0: at least the fields */
};

/* The block that looks most like a unit's. */
struct likeness {
	struct globals fields; /* a copy; NULL for none */
	uint64_t evidence;
	bool is_ambiguous;
};

struct search {
	struct infer_seeder *seeder;
	struct globals now;
	struct likeness *units; /* by unit */
};

static void add_global(struct search *s, uint64_t index, uint64_t value)
{
	struct globals *now = &s->now;
	if (s->seeder->failure->status == HG_OK)
		s->seeder->failure->status = base_grow(&now->fields, now->count, &now->capacity,
			sizeof(*now->fields), s->seeder->failure->error);
	if (s->seeder->failure->status == HG_OK && now->fields)
		now->fields[now->count++] = (struct global){index, value};
}

/* Where a block was allocated, if that is sure; NULL if not, or if the value leads to none. */
static const struct snap_location *location_of_value(struct infer_seeder *seeder, uint64_t value)
{
	struct snap_cell cell;
	struct infer_target to;
	enum hg_confidence confidence;
	if (!infer_find(&seeder->heap->aside, value, &to, &cell))
		return NULL;
	uint32_t id = snap_header_reserved(cell.header, seeder->in->snap->reserved);
	uint32_t number =
		snap_locations_find(&seeder->in->snap->locations, id, cell.tag, &confidence);
	const struct snap_location *location = &seeder->in->snap->locations.items[number];
	return location->file && confidence > HG_GUESSED ? location : NULL;
}

static bool is_from(struct infer_seeder *seeder, uint64_t value, const char *source)
{
	const struct snap_location *location = location_of_value(seeder, value);
	return location && strcmp(location->file, source) == 0;
}

static bool is_at(
	struct infer_seeder *seeder, uint64_t value, const struct retype_definition *definition)
{
	const struct snap_location *location = location_of_value(seeder, value);
	return location && (uint32_t)location->line == definition->line &&
	       location->start == definition->start && location->end == definition->end &&
	       strcmp(location->file, definition->file) == 0;
}

/* Whether a value leads to a block; and whether such a one may be of a type. */
static bool leads_to(
	struct infer_seeder *seeder, uint64_t value, struct retype_term type, bool *fits)
{
	struct infer_target to;
	*fits = true;
	type = retype_instance(seeder->in->types, type, NULL, 0);
	if (!infer_resolve(seeder->in->snap, value, &to))
		return false;
	if (!type.n)
		return true;
	if (to.is_infix)
		type = infer_any_function(seeder->in);
	struct infer_shape shape = infer_read_shape(seeder->heap, to.rank, to.header);
	*fits = !infer_is_misfit(seeder->fits, type, shape.tag, shape.wosize);
	return true;
}

/* 0: it is not that unit's block; else how many of its fields were made in its source, plus 1. */
static uint64_t compare_with_unit(
	struct infer_seeder *seeder, const struct globals *block, const struct retype_unit *unit)
{
	uint64_t evidence = 1;
	if (!unit->fields || !unit->source[0] || (block->size && block->size != unit->field_count))
		return 0;
	for (uint64_t i = 0; i < block->count; i++) {
		uint64_t index = block->fields[i].index, value = block->fields[i].value;
		bool fits;
		if (index >= unit->field_count)
			continue;
		if (leads_to(seeder, value, unit->fields[index].type, &fits) && !fits)
			return 0;
		evidence += is_from(seeder, value, unit->source);
	}
	return evidence;
}

static void keep_likeness(struct search *s, struct likeness *best, uint64_t evidence)
{
	struct infer_seeder *seeder = s->seeder;
	if (evidence <= 1 || evidence < best->evidence)
		return;
	best->is_ambiguous = evidence == best->evidence;
	best->evidence = evidence;
	best->fields.count = 0;
	if (seeder->failure->status == HG_OK)
		seeder->failure->status =
			base_grow_by(&best->fields.fields, 0, s->now.count, &best->fields.capacity,
				sizeof(*best->fields.fields), seeder->failure->error);
	if (seeder->failure->status != HG_OK || !best->fields.fields)
		return;
	memcpy(best->fields.fields, s->now.fields, s->now.count * sizeof(*s->now.fields));
	best->fields.count = s->now.count;
}

/* Compares the block whose fields were gathered with every unit. */
static void finish_block(struct search *s)
{
	for (uint32_t i = 0; i < s->seeder->in->types->unit_count && s->now.count; i++)
		keep_likeness(s, &s->units[i],
			compare_with_unit(s->seeder, &s->now, &s->seeder->in->types->units[i]));
	s->now.count = 0;
	s->now.size = 0;
}

/* A global of bytecode, which may be the block of a unit. */
static void look_at_global(struct search *s, uint64_t value)
{
	struct infer_seeder *seeder = s->seeder;
	struct snap_cell cell;
	struct infer_target to;
	if (!infer_find(&seeder->heap->aside, value, &to, &cell) || to.is_infix || cell.tag != 0)
		return;
	for (uint64_t i = 0; i < cell.field_count; i++)
		add_global(s, i, cell.fields[i]);
	s->now.size = cell.wosize;
	finish_block(s);
}

/* The table of globals of bytecode. */
static void look_at_table(struct search *s, uint64_t table)
{
	struct infer_seeder *seeder = s->seeder;
	struct snap_cell cell;
	struct infer_target to;
	if (!infer_find(&seeder->heap->finder, table, &to, &cell))
		return;
	for (uint64_t i = 0; i < cell.field_count && seeder->failure->status == HG_OK; i++)
		look_at_global(s, cell.fields[i]);
}

static void look_at_roots(struct search *s)
{
	const struct snap *snap = s->seeder->in->snap;
	const char *module = NULL;
	for (uint64_t i = 0; i < snap->root_count && s->seeder->failure->status == HG_OK; i++) {
		const struct snap_root *root = &snap->roots[i];
		if (root->kind != HG_ROOT_GLOBAL)
			continue;
		if (root->index == HG_UNKNOWN) {
			look_at_table(s, root->value);
			continue;
		}
		/* Fields of one module have one name. */
		if (module && strcmp(module, root->name) != 0)
			finish_block(s);
		module = root->name;
		add_global(s, root->index, root->value);
	}
	finish_block(s);
}

static void seed_recognised_unit(
	struct infer_seeder *seeder, uint32_t number, const struct likeness *best)
{
	const struct retype_unit *unit = &seeder->in->types->units[number];
	for (uint64_t i = 0; i < best->fields.count && !best->is_ambiguous; i++)
		if (best->fields.fields[i].index < unit->field_count)
			infer_seed_value(seeder, HG_INFERRED, number, best->fields.fields[i].value,
				unit->fields[best->fields.fields[i].index].type);
}

/* The unit that was being initialised: bytecode keeps what it has defined on the stack. */

/* Values on the stack, the oldest first; and those of them that are taken for definitions. */
struct stack {
	struct infer_seeder *seeder;
	uint64_t *values;
	uint64_t count, next;
	const struct retype_definition **taken; /* by position; NULL */
	uint64_t sure; /* positions before have been confirmed by a location */
};

static bool can_be(struct infer_seeder *seeder, uint64_t value, struct retype_term type)
{
	bool fits;
	return leads_to(seeder, value, type, &fits) && fits;
}

/* Finds the value of a definition whose location is known, from the next one on. */
static bool synchronise(struct stack *s, const struct retype_definition *definition, bool only_next)
{
	uint64_t at = s->next;
	while (at < s->count && !is_at(s->seeder, s->values[at], definition)) {
		if (only_next)
			return false;
		at++;
	}
	if (at == s->count)
		return false;
	s->taken[at] = definition;
	s->next = s->sure = at + 1;
	return true;
}

/* Integers are not among the values: where nothing fits, the definition may be one. */
static void match_unit(struct stack *s, const struct retype_unit *unit)
{
	bool follows = true; /* the next value is that of the next definition */
	s->next = s->sure = 0;
	memset(s->taken, 0, s->count * sizeof(*s->taken));
	for (uint32_t i = 0; i < unit->definition_count && s->next < s->count; i++) {
		const struct retype_definition *definition = &unit->definitions[i];
		if (definition->is_unknown) {
			follows = false;
		} else if (definition->file) {
			bool found = synchronise(s, definition, follows);
			if (!found && follows) {
				/* What was taken since the last location is not what it seemed. */
				s->next = s->sure;
				found = synchronise(s, definition, false);
			}
			if (!found)
				break;
			follows = true;
		} else if (follows && can_be(s->seeder, s->values[s->next], definition->type)) {
			s->taken[s->next++] = definition;
		}
	}
}

static void seed_stack(struct stack *s, uint32_t number)
{
	base_assert(s->sure <= s->next && s->next <= s->count);
	for (uint64_t i = 0; i < s->sure; i++)
		if (s->taken[i])
			infer_seed_value(
				s->seeder, HG_INFERRED, number, s->values[i], s->taken[i]->type);
}

static enum hg_status seed_initialised(struct infer_seeder *seeder)
{
	const struct snap *snap = seeder->in->snap;
	struct stack s = {.seeder = seeder};
	s.values = calloc(snap->root_count + 1, sizeof(*s.values));
	s.taken = calloc(snap->root_count + 1, sizeof(const struct retype_definition *));
	if (!s.values || !s.taken) {
		free(s.values);
		free(s.taken);
		return base_no_memory(seeder->failure->error, snap->root_count * 16);
	}
	for (uint64_t i = snap->root_count; i-- > 0;)
		if (snap->roots[i].kind == HG_ROOT_STACK)
			s.values[s.count++] = snap->roots[i].value;
	for (uint32_t i = 0; i < seeder->in->types->unit_count && seeder->failure->status == HG_OK;
		i++) {
		match_unit(&s, &seeder->in->types->units[i]);
		seed_stack(&s, i);
	}
	free(s.values);
	free(s.taken);
	return seeder->failure->status;
}

enum hg_status seeds_recognised(struct infer_seeder *seeder)
{
	uint32_t count = seeder->in->types->unit_count;
	struct search s = {.seeder = seeder};
	if (!seeder->in->types->is_400 || count == 0)
		return HG_OK;
	s.units = calloc(count, sizeof(*s.units));
	if (!s.units)
		return base_no_memory(seeder->failure->error, count * sizeof(*s.units));
	infer_forget_walk(&seeder->heap->finder);
	infer_forget_walk(&seeder->heap->aside);
	look_at_roots(&s);
	for (uint32_t i = 0; i < count; i++) {
		seed_recognised_unit(seeder, i, &s.units[i]);
		free(s.units[i].fields.fields);
	}
	free(s.units);
	free(s.now.fields);
	if (seeder->failure->status == HG_OK && !seeder->in->snap->native)
		return seed_initialised(seeder);
	return seeder->failure->status;
}
