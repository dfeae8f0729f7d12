/*
 * Seeds from closures: a function's captured variables, and the arguments of partial applications.
 *
 * A closure is one or several functions, each [code; info] or [code; info; direct code], with an
 * infix header between them, and what they capture (runtime/caml/mlvalues.h).  The profile has the
 * captured variables in the compiler's order; they are believed if every slot has the shape of its
 * variable, and else where only one variable fits a slot and no other.
 */
#include "retype/infer/functions.h"

#include <string.h>

enum { MOST_SLOTS = 64, MOST_FUNCTIONS = 64, MOST_PARTIALS = 16 };

struct closures {
	struct retype_functions functions;
	bool is_flambda; /* its closures have another order */
};

/* The functions of a closure, each by the code that takes all arguments. */
static unsigned codes_of(const struct retyping *r, const struct snap_cell *cell, uint64_t start,
	uint64_t codes[MOST_FUNCTIONS])
{
	unsigned count = 0;
	for (uint64_t i = 0; i + 1 < start && count < MOST_FUNCTIONS;) {
		int arity = (int)((int64_t)cell->fields[i + 1] >> 56);
		bool is_short = arity == 0 || arity == 1;
		if (!is_short && i + 2 >= start)
			break;
		codes[count++] = cell->fields[is_short ? i : i + 2];
		i += is_short ? 2 : 3;
		if (i >= start || !snap_is_infix_header(cell->fields[i], i, r->snap->reserved))
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
	struct retyping *r = c->functions.r;
	*match = (struct match){.count = count, .in_order = !c->is_flambda};
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j < count; j++)
			if (retyping_may_be(r, values[i], function->captures[j].type))
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
static bool settle_slots(struct match *match)
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
	struct retyping *r = c->functions.r;
	struct match match;
	if (function->capture_count != count || !match_slots(c, function, values, count, &match) ||
		(!match.in_order && !settle_slots(&match)))
		return false;
	uint32_t origin = (uint32_t)(function - r->types->functions);
	for (unsigned i = 0; i < count; i++) {
		uint64_t variables = match.variables[i];
		bool is_sure = (variables & (variables - 1)) == 0;
		unsigned variable = match.in_order ? i : (unsigned)__builtin_ctzll(variables);
		if (match.in_order || is_sure)
			retyping_seed_value(r, HG_INFERRED, origin, values[i],
				function->captures[variable].type);
	}
	return true;
}

/* Partial applications: the argument, and the closure that it was given to. */

static bool next_closure(
	struct retyping *r, uint64_t value, struct snap_cell *cell, uint64_t *start)
{
	uint32_t rank;
	struct snap_header_address header;
	bool is_infix;
	if (!retyping_resolve(r, value, &rank, &header, &is_infix) || is_infix ||
		!snap_find(&r->aside, (struct snap_rank){rank}, header, cell) ||
		cell->tag != SNAP_TAG_CLOSURE)
		return false;
	*start = snap_first_value(r->snap, cell);
	return true;
}

static void seed_partial(struct closures *c, const uint64_t *values, unsigned argument)
{
	struct retyping *r = c->functions.r;
	struct snap_cell cell;
	uint64_t start, codes[MOST_FUNCTIONS], holder = values[1];
	for (unsigned i = 0; i < MOST_PARTIALS; i++) {
		if (!next_closure(r, holder, &cell, &start))
			return;
		if (retype_partial(&c->functions, cell.fields[0]) == 0)
			break;
		if (cell.field_count != start + 2)
			return;
		holder = cell.fields[start + 1];
	}
	if (codes_of(r, &cell, start, codes) == 0)
		return;
	const struct retype_function *function = retype_function_of(&c->functions, codes[0]);
	if (function && argument <= function->parameter_count)
		retyping_seed_value(r, HG_INFERRED, (uint32_t)(function - r->types->functions),
			values[0], function->parameters[argument - 1]);
}

/*
 * Where the compiler knows the function, a partial application is a closure without a name that has
 * the arguments and, behind them, the function.
 */
static void seed_applied(struct closures *c, const uint64_t *values, unsigned count)
{
	struct retyping *r = c->functions.r;
	struct snap_cell cell;
	uint64_t start, codes[MOST_FUNCTIONS];
	if (count < 2 || !next_closure(r, values[count - 1], &cell, &start) ||
		codes_of(r, &cell, start, codes) == 0)
		return;
	const struct retype_function *function = retype_function_of(&c->functions, codes[0]);
	if (!function || function->parameter_count < count)
		return;
	for (unsigned i = 0; i + 1 < count; i++)
		if (!retyping_may_be(r, values[i], function->parameters[i]))
			return;
	for (unsigned i = 0; i + 1 < count; i++)
		retyping_seed_value(r, HG_INFERRED, (uint32_t)(function - r->types->functions),
			values[i], function->parameters[i]);
}

/* All closures */

static const struct snap_location *place_of(struct retyping *r, const struct snap_cell *cell)
{
	const struct snap *snap = r->snap;
	enum hg_confidence sure = HG_EXACT;
	uint32_t site = snap->format->ids == SNAP_IDS_NONE
				? (snap->sampled_count ? snap_sampled_site(snap, cell->address) : 0)
				: snap_sites_find(&snap->sites,
					  snap_header_reserved(cell->header, snap->reserved),
					  cell->tag, &sure);
	return site && sure != HG_GUESSED ? &snap->sites.locations[site] : NULL;
}

static void seed_closure(
	struct retyping *r, uint32_t rank, const struct snap_cell *cell, void *context)
{
	(void)rank;
	struct closures *c = context;
	uint64_t values[MOST_SLOTS], codes[MOST_FUNCTIONS];
	uint64_t start = snap_first_value(r->snap, cell);
	if (start < 2 || start >= cell->field_count || cell->field_count - start > MOST_SLOTS)
		return;
	unsigned count = (unsigned)(cell->field_count - start);
	for (unsigned i = 0; i < count; i++)
		values[i] = cell->fields[start + i];
	unsigned argument = count == 2 ? retype_partial(&c->functions, cell->fields[0]) : 0;
	if (argument) {
		seed_partial(c, values, argument);
		return;
	}
	const struct snap_location *at = place_of(r, cell);
	const struct retype_function *function = at ? retype_function_at(&c->functions, at) : NULL;
	if (function && seed_captures(c, function, values, count))
		return;
	unsigned functions = codes_of(r, cell, start, codes);
	for (unsigned i = 0; i < functions; i++) {
		function = retype_function_of(&c->functions, codes[i]);
		if (function && seed_captures(c, function, values, count))
			return;
	}
	seed_applied(c, values, count);
}

/* With flambda units have blocks of their interfaces' values only. */
static bool has_flambda(const struct retyping *r)
{
	for (uint64_t i = 0; i < r->snap->unit_count; i++) {
		const struct snap_unit *block = &r->snap->units[i];
		uint32_t number = retype_unit_named(r->types, block->name);
		if (number == RETYPE_NONE)
			continue;
		const struct retype_unit *unit = &r->types->units[number];
		if (block->wosize == unit->exported && unit->field_count > unit->exported)
			return true;
	}
	return false;
}

enum hg_status retyping_seed_closures(struct retyping *r)
{
	struct closures c = {.is_flambda = has_flambda(r)};
	if (r->types->function_count == 0 || !r->snap->has_closinfo)
		return HG_OK;
	enum hg_status status = retype_functions_init(&c.functions, r);
	if (status == HG_OK)
		status = retyping_sweep_tag(r, SNAP_TAG_CLOSURE, false, seed_closure, &c);
	retype_functions_release(&c.functions);
	return status;
}
