/*
 * Seeds in the blocks of units that nothing names: dumps of 4.00.1 have the table of globals, or
 * the fields of modules, but no symbols.
 *
 * A block is that of a unit if it has as many fields, every field can be a value of its type, and
 * some were allocated in the unit's own source: its functions, references, lists.  Where two blocks
 * look so for one unit, neither is taken.
 */
#include "retype/infer/parts.h"

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
	struct retyping *r;
	struct globals now;
	struct likeness *units; /* by unit */
};

static void add(struct search *s, uint64_t index, uint64_t value)
{
	struct globals *now = &s->now;
	if (s->r->status == HG_OK)
		s->r->status = base_grow(&now->fields, now->count, &now->capacity,
			sizeof(*now->fields), s->r->error);
	if (s->r->status == HG_OK && now->fields)
		now->fields[now->count++] = (struct global){index, value};
}

/* Where a block was allocated, if that is sure; NULL if not, or if the value leads to none. */
static const struct snap_location *location_of(struct retyping *r, uint64_t value)
{
	struct snap_cell cell;
	enum hg_confidence confidence;
	uint32_t rank;
	struct snap_header_address header;
	bool is_infix;
	if (!retyping_resolve(r, value, &rank, &header, &is_infix) ||
		!snap_find(&r->aside, (struct snap_rank){rank}, header, &cell))
		return NULL;
	uint32_t id = snap_header_reserved(cell.header, r->snap->reserved);
	uint32_t site = snap_sites_find(&r->snap->sites, id, cell.tag, &confidence);
	const struct snap_location *location = &r->snap->sites.locations[site];
	return location->file && confidence > HG_GUESSED ? location : NULL;
}

static bool is_from(struct retyping *r, uint64_t value, const char *source)
{
	const struct snap_location *location = location_of(r, value);
	return location && strcmp(location->file, source) == 0;
}

static bool is_at(struct retyping *r, uint64_t value, const struct retype_definition *definition)
{
	const struct snap_location *location = location_of(r, value);
	return location && (uint32_t)location->line == definition->line &&
	       location->start == definition->start && location->end == definition->end &&
	       strcmp(location->file, definition->file) == 0;
}

/* Whether a value leads to a block; and whether such a one may be of a type. */
static bool leads_to(struct retyping *r, uint64_t value, struct retype_term type, bool *fits)
{
	uint32_t rank;
	struct snap_header_address header;
	uint64_t wosize;
	unsigned tag;
	bool is_infix;
	*fits = true;
	type = retype_instance(r->types, type, NULL, 0);
	if (!retyping_resolve(r, value, &rank, &header, &is_infix))
		return false;
	if (!type.n)
		return true;
	if (is_infix)
		type = r->any_function;
	retyping_shape(r, rank, header, &tag, &wosize);
	*fits = retyping_fit(r, &type, tag, wosize).match != RETYPE_MISFIT;
	return true;
}

/* 0: it is not that unit's block; else how many of its fields were made in its source, plus 1. */
static uint64_t compare(
	struct retyping *r, const struct globals *block, const struct retype_unit *unit)
{
	uint64_t evidence = 1;
	if (!unit->fields || !unit->source[0] || (block->size && block->size != unit->field_count))
		return 0;
	for (uint64_t i = 0; i < block->count; i++) {
		uint64_t index = block->fields[i].index, value = block->fields[i].value;
		bool fits;
		if (index >= unit->field_count)
			continue;
		if (leads_to(r, value, unit->fields[index].type, &fits) && !fits)
			return 0;
		evidence += is_from(r, value, unit->source);
	}
	return evidence;
}

static void keep(struct search *s, struct likeness *best, uint64_t evidence)
{
	struct retyping *r = s->r;
	if (evidence <= 1 || evidence < best->evidence)
		return;
	best->is_ambiguous = evidence == best->evidence;
	best->evidence = evidence;
	best->fields.count = 0;
	if (r->status == HG_OK)
		r->status = base_grow_by(&best->fields.fields, 0, s->now.count,
			&best->fields.capacity, sizeof(*best->fields.fields), r->error);
	if (r->status != HG_OK || !best->fields.fields)
		return;
	memcpy(best->fields.fields, s->now.fields, s->now.count * sizeof(*s->now.fields));
	best->fields.count = s->now.count;
}

/* Compares the block whose fields were gathered with every unit. */
static void finish_block(struct search *s)
{
	for (uint32_t i = 0; i < s->r->types->unit_count && s->now.count; i++)
		keep(s, &s->units[i], compare(s->r, &s->now, &s->r->types->units[i]));
	s->now.count = 0;
	s->now.size = 0;
}

/* A global of bytecode, which may be the block of a unit. */
static void look_at_global(struct search *s, uint64_t value)
{
	struct retyping *r = s->r;
	struct snap_cell cell;
	uint32_t rank;
	struct snap_header_address header;
	bool is_infix;
	if (!retyping_resolve(r, value, &rank, &header, &is_infix) || is_infix ||
		!snap_find(&r->aside, (struct snap_rank){rank}, header, &cell) || cell.tag != 0)
		return;
	for (uint64_t i = 0; i < cell.field_count; i++)
		add(s, i, cell.fields[i]);
	s->now.size = cell.wosize;
	finish_block(s);
}

/* The table of globals of bytecode. */
static void look_at_table(struct search *s, uint64_t table)
{
	struct retyping *r = s->r;
	struct snap_cell cell;
	uint32_t rank;
	struct snap_header_address header;
	bool is_infix;
	if (!retyping_resolve(r, table, &rank, &header, &is_infix) ||
		!snap_find(&r->finder, (struct snap_rank){rank}, header, &cell))
		return;
	for (uint64_t i = 0; i < cell.field_count && r->status == HG_OK; i++)
		look_at_global(s, cell.fields[i]);
}

static void look_at_roots(struct search *s)
{
	const struct snap *snap = s->r->snap;
	const char *module = NULL;
	for (uint64_t i = 0; i < snap->root_count && s->r->status == HG_OK; i++) {
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
		add(s, root->index, root->value);
	}
	finish_block(s);
}

static void seed_unit(struct retyping *r, uint32_t number, const struct likeness *best)
{
	const struct retype_unit *unit = &r->types->units[number];
	for (uint64_t i = 0; i < best->fields.count && !best->is_ambiguous; i++)
		if (best->fields.fields[i].index < unit->field_count)
			retyping_seed_value(r, HG_INFERRED, number, best->fields.fields[i].value,
				unit->fields[best->fields.fields[i].index].type);
}

/* The unit that was being initialised: bytecode keeps what it has defined on the stack. */

/* Values on the stack, the oldest first; and those of them that are taken for definitions. */
struct stack {
	struct retyping *r;
	uint64_t *values;
	uint64_t count, next;
	const struct retype_definition **taken; /* by position; NULL */
	uint64_t sure; /* positions before have been confirmed by a location */
};

static bool can_be(struct retyping *r, uint64_t value, struct retype_term type)
{
	bool fits;
	return leads_to(r, value, type, &fits) && fits;
}

/* Finds the value of a definition whose location is known, from the next one on. */
static bool synchronise(struct stack *s, const struct retype_definition *definition, bool only_next)
{
	uint64_t at = s->next;
	while (at < s->count && !is_at(s->r, s->values[at], definition)) {
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
		} else if (follows && can_be(s->r, s->values[s->next], definition->type)) {
			s->taken[s->next++] = definition;
		}
	}
}

static void seed_stack(struct stack *s, uint32_t number)
{
	for (uint64_t i = 0; i < s->sure; i++)
		if (s->taken[i])
			retyping_seed_value(
				s->r, HG_INFERRED, number, s->values[i], s->taken[i]->type);
}

static enum hg_status seed_initialised(struct retyping *r)
{
	const struct snap *snap = r->snap;
	struct stack s = {.r = r};
	s.values = calloc(snap->root_count + 1, sizeof(*s.values));
	s.taken = calloc(snap->root_count + 1, sizeof(const struct retype_definition *));
	if (!s.values || !s.taken) {
		free(s.values);
		free(s.taken);
		return base_no_memory(r->error, snap->root_count * 16);
	}
	for (uint64_t i = snap->root_count; i-- > 0;)
		if (snap->roots[i].kind == HG_ROOT_STACK)
			s.values[s.count++] = snap->roots[i].value;
	for (uint32_t i = 0; i < r->types->unit_count && r->status == HG_OK; i++) {
		match_unit(&s, &r->types->units[i]);
		seed_stack(&s, i);
	}
	free(s.values);
	free(s.taken);
	return r->status;
}

enum hg_status retyping_seed_recognised(struct retyping *r)
{
	uint32_t count = r->types->unit_count;
	struct search s = {.r = r};
	if (!r->types->is_400 || count == 0)
		return HG_OK;
	s.units = calloc(count, sizeof(*s.units));
	if (!s.units)
		return base_no_memory(r->error, count * sizeof(*s.units));
	r->finder.count = 0;
	r->aside.count = 0;
	look_at_roots(&s);
	for (uint32_t i = 0; i < count; i++) {
		seed_unit(r, i, &s.units[i]);
		free(s.units[i].fields.fields);
	}
	free(s.units);
	free(s.now.fields);
	if (r->status == HG_OK && !r->snap->native)
		return seed_initialised(r);
	return r->status;
}
