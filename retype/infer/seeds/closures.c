/*
 * Seeds from closures: a function's captured variables, and the arguments of partial applications.
 *
 * A closure is one or several functions, each [code; info] or [code; info; direct code], with an
 * infix header between them, and what they capture (runtime/caml/mlvalues.h).  The profile has the
 * captured variables in the compiler's order; they are believed if every slot has the shape of its
 * variable, and else where only one variable fits a slot and no other.
 */
#include "retype/infer/seeds/functions.h"
#include "retype/infer/seeds/seeds.h"

#include "base/assert.h"

enum { MOST_SLOTS = 64, MOST_FUNCTIONS = 64, MOST_PARTIALS = 16 };

struct closures {
	struct infer_seeder *seeder;
	struct seeds_functions functions;
	bool is_flambda; /* its closures have another order */
};

/* The functions of a closure, each by the code that takes all arguments. */
static unsigned codes_of_closure(const struct infer_seeder *seeder, const struct snap_cell *cell,
	uint64_t start, uint64_t codes[MOST_FUNCTIONS])
{
	unsigned count = 0;
	for (uint64_t i = 0; i + 1 < start && count < MOST_FUNCTIONS;) {
		int arity = (int)((int64_t)cell->fields[i + 1] >> 56);
		bool is_short = arity == 0 || arity == 1;
		if (!is_short && i + 2 >= start)
			break;
		base_assert(i < cell->field_count);
		codes[count++] = cell->fields[is_short ? i : i + 2];
		i += is_short ? 2 : 3;
		if (i >= start ||
			!snap_is_infix_header(cell->fields[i], i, seeder->in->snap->reserved))
			break;
		i++;
	}
	return count;
}

/* Captured variables */

/* Which variables may be in which slots, a bit each. */
struct match {
	unsigned count;
	uint64_t variables[MOST_SLOTS]; /* by slot: those that fit */
	bool in_order;
};

static bool match_slots(struct closures *c, const struct retype_function *function,
	const uint64_t *values, unsigned count, struct match *match)
{
	struct infer_seeder *seeder = c->seeder;
	*match = (struct match){.count = count, .in_order = !c->is_flambda};
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j < count; j++)
			if (infer_may_be(seeder->blocks, values[i], function->captures[j].type))
				match->variables[i] |= (uint64_t)1 << j;
		match->in_order &= match->variables[i] >> i & 1;
		if (!match->variables[i])
			return false;
	}
	return true;
}

/*
 * Leaves a slot's variable to it alone when it is its only one, and a variable's slot to it alone
 * when it fits nowhere else, until nothing changes.  False if a slot is left without.
 */
static bool separate_slots(struct match *match)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (unsigned i = 0; i < match->count; i++) {
			uint64_t mine = match->variables[i], others = 0;
			if (!mine)
				return false;
			for (unsigned j = 0; j < match->count; j++) {
				if (j == i)
					continue;
				if ((mine & (mine - 1)) == 0 && match->variables[j] & mine) {
					match->variables[j] &= ~mine;
					changed = true;
				}
				others |= match->variables[j];
			}
			uint64_t only = mine & ~others;
			if (only & (only - 1))
				return false;
			if (only && only != mine) {
				match->variables[i] = only;
				changed = true;
			}
		}
	}
	return true;
}

static bool seed_captures(struct closures *c, const struct retype_function *function,
	const uint64_t *values, unsigned count)
{
	struct infer_seeder *seeder = c->seeder;
	struct match match;
	if (function->capture_count != count || !match_slots(c, function, values, count, &match) ||
		(!match.in_order && !separate_slots(&match)))
		return false;
	uint32_t origin = (uint32_t)(function - seeder->in->types->functions);
	for (unsigned i = 0; i < count; i++) {
		uint64_t variables = match.variables[i];
		bool is_sure = (variables & (variables - 1)) == 0;
		unsigned variable = match.in_order ? i : (unsigned)__builtin_ctzll(variables);
		base_assert(variable < function->capture_count && variables >> variable & 1);
		if (match.in_order || is_sure)
			infer_seed_value(seeder, HG_INFERRED, origin, values[i],
				function->captures[variable].type);
	}
	return true;
}

/* Partial applications: the argument, and the closure that it was given to. */

static bool next_closure(
	struct infer_seeder *seeder, uint64_t value, struct snap_cell *cell, uint64_t *start)
{
	struct infer_target to;
	if (!infer_find(&seeder->heap->aside, value, &to, cell) || to.is_infix ||
		cell->tag != SNAP_TAG_CLOSURE)
		return false;
	*start = snap_first_value(seeder->in->snap, cell);
	return true;
}

static void seed_partial(struct closures *c, const uint64_t *values, unsigned argument)
{
	struct infer_seeder *seeder = c->seeder;
	struct snap_cell cell;
	uint64_t start, codes[MOST_FUNCTIONS], holder = values[1];
	for (unsigned i = 0; i < MOST_PARTIALS; i++) {
		if (!next_closure(seeder, holder, &cell, &start))
			return;
		if (seeds_count_applied(&c->functions, cell.fields[0]) == 0)
			break;
		if (cell.field_count != start + 2)
			return;
		holder = cell.fields[start + 1];
	}
	if (codes_of_closure(seeder, &cell, start, codes) == 0)
		return;
	const struct retype_function *function = seeds_function_of(&c->functions, codes[0]);
	if (function && argument <= function->parameter_count)
		infer_seed_value(seeder, HG_INFERRED,
			(uint32_t)(function - seeder->in->types->functions), values[0],
			function->parameters[argument - 1]);
}

/*
 * Where the compiler knows the function, a partial application is a closure without a name that has
 * the arguments and, after them, the function.
 */
static void seed_applied(struct closures *c, const uint64_t *values, unsigned count)
{
	struct infer_seeder *seeder = c->seeder;
	struct snap_cell cell;
	uint64_t start, codes[MOST_FUNCTIONS];
	if (count < 2 || !next_closure(seeder, values[count - 1], &cell, &start) ||
		codes_of_closure(seeder, &cell, start, codes) == 0)
		return;
	const struct retype_function *function = seeds_function_of(&c->functions, codes[0]);
	if (!function || function->parameter_count < count)
		return;
	for (unsigned i = 0; i + 1 < count; i++)
		if (!infer_may_be(seeder->blocks, values[i], function->parameters[i]))
			return;
	for (unsigned i = 0; i + 1 < count; i++)
		infer_seed_value(seeder, HG_INFERRED,
			(uint32_t)(function - seeder->in->types->functions), values[i],
			function->parameters[i]);
}

/* All closures */

static const struct snap_location *location_of_closure(
	struct infer_seeder *seeder, const struct snap_cell *cell)
{
	const struct snap *snap = seeder->in->snap;
	enum hg_confidence sure = HG_EXACT;
	uint32_t number =
		snap->format->ids == SNAP_IDS_NONE
			? (snap->sampled_count ? snap_sampled_location(snap, cell->address) : 0)
			: snap_locations_find(&snap->locations,
				  snap_header_reserved(cell->header, snap->reserved), cell->tag,
				  &sure);
	return number && sure != HG_GUESSED ? &snap->locations.items[number] : NULL;
}

static void seed_closure(void *context, uint32_t rank, const struct snap_cell *cell)
{
	struct closures *c = context;
	struct infer_seeder *seeder = c->seeder;
	(void)rank;
	uint64_t values[MOST_SLOTS], codes[MOST_FUNCTIONS];
	uint64_t start = snap_first_value(seeder->in->snap, cell);
	if (start < 2 || start >= cell->field_count || cell->field_count - start > MOST_SLOTS)
		return;
	unsigned count = (unsigned)(cell->field_count - start);
	for (unsigned i = 0; i < count; i++)
		values[i] = cell->fields[start + i];
	unsigned argument = count == 2 ? seeds_count_applied(&c->functions, cell->fields[0]) : 0;
	if (argument) {
		seed_partial(c, values, argument);
		return;
	}
	const struct snap_location *at = location_of_closure(seeder, cell);
	const struct retype_function *function = at ? seeds_function_at(&c->functions, at) : NULL;
	if (function && seed_captures(c, function, values, count))
		return;
	unsigned functions = codes_of_closure(seeder, cell, start, codes);
	for (unsigned i = 0; i < functions; i++) {
		function = seeds_function_of(&c->functions, codes[i]);
		if (function && seed_captures(c, function, values, count))
			return;
	}
	seed_applied(c, values, count);
}

/* With flambda units have blocks of their interfaces' values only. */
static bool has_flambda(const struct infer_seeder *seeder)
{
	for (uint64_t i = 0; i < seeder->in->snap->unit_count; i++) {
		const struct snap_unit *block = &seeder->in->snap->units[i];
		uint32_t number = retype_unit_named(seeder->in->types, block->name);
		if (number == RETYPE_NONE)
			continue;
		const struct retype_unit *unit = &seeder->in->types->units[number];
		if (block->wosize == unit->exported && unit->field_count > unit->exported)
			return true;
	}
	return false;
}

enum hg_status seeds_closures(struct infer_seeder *seeder)
{
	struct closures c = {.seeder = seeder, .is_flambda = has_flambda(seeder)};
	if (seeder->in->types->function_count == 0 || !seeder->in->snap->has_closinfo)
		return HG_OK;
	enum hg_status status = seeds_functions_init(&c.functions, seeder->in, seeder->failure);
	if (status == HG_OK)
		status = infer_sweep_tag(seeder->sweeper, SNAP_TAG_CLOSURE, seed_closure, &c);
	seeds_functions_release(&c.functions);
	return status;
}
