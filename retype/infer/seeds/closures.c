/*
 * Seeds from closures: a function's captured variables, and the arguments of partial applications.
 *
 * A closure is one or several functions, each [code; info] or [code; info; direct code], with an
 * infix header between them, and what they capture (runtime/caml/mlvalues.h).  The profile has the
 * captured variables in the compiler's order; they are believed if every slot has the shape of its
 * variable, and else where only one variable fits a slot and no other.
 *
 * A function inside of a polymorphic one has captured variables of types with variables.  What
 * these stand for in one closure tells the type of which that is known to be: they are bound
 * outside of the function, so that all types of the closure agree in them.  Of a partial
 * application, which is a closure of what is left of the function's type, the same is true of all
 * its variables.
 */
#include "retype/infer/seeds/functions.h"
#include "retype/infer/seeds/seeds.h"
#include "retype/infer/seeds/variables.h"

#include "base/assert.h"
#include "snapshot/process.h"

#include <string.h>

enum { MOST_SLOTS = 64, MOST_FUNCTIONS = 64, MOST_PARTIALS = 16 };

struct closures {
	struct infer_seeder *seeder;
	struct seeds_functions functions;
	struct seeds_variables variables;
	bool is_flambda; /* its closures have another order */
	/* Only what the types of closures tell of variables is wanted, of which that of this one
	 * is: */
	bool of_instances;
	struct retype_term known; /* or nothing */
	struct base_map bindings; /* by function, that type and arguments applied */
	uint32_t origin;          /* of seeds: the function, or the bindings found last */
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

/* Instances */

/* The type of which a closure was known to be when the stratum began. */
static struct retype_term known_type(const struct infer_seeder *seeder, uint32_t rank)
{
	struct retype_term type = {infer_type_before(seeder->sweeper->undo, rank)};
	bool is_arrow = retype_view_of(seeder->in->types, type).kind == RETYPE_ARROW;
	return is_arrow ? type : RETYPE_NOTHING;
}

/* The type of a function's parameter, or of what is left with so many arguments applied. */
static struct retype_term part_of_function(const struct retype_types *types,
	struct retype_term function, unsigned applied, bool is_parameter)
{
	for (unsigned i = 0;; i++) {
		if (i == applied && !is_parameter)
			return function;
		struct retype_view view = retype_view_of(types, function);
		if (view.kind != RETYPE_ARROW)
			return RETYPE_NOTHING;
		if (i == applied)
			return view.arguments[0];
		function = view.arguments[1];
	}
}

/*
 * What the variables of the function stand for in the closure that is looked at.  Those of one
 * function and type are one origin, as the blocks of others may well be what they seem.
 */
static struct retype_term find_bindings(
	struct closures *c, const struct retype_function *function, unsigned applied)
{
	enum { MOST_APPLIED = 31 };
	struct infer_seeder *seeder = c->seeder;
	struct retype_types *types = seeder->in->types;
	uint64_t number = (uint64_t)(function - types->functions), found;
	uint64_t key = base_hash_join(base_process_secret(), number << 5 | applied, c->known.n);
	struct retype_term bound = RETYPE_NOTHING;
	if (!function->general.n || !c->known.n || applied > MOST_APPLIED)
		return RETYPE_NOTHING;
	if (!base_map_get(&c->bindings, key, &found)) {
		struct retype_term left =
			part_of_function(types, function->general, applied, false);
		if (left.n)
			bound = retype_bind(types, left, c->known);
		found = (c->bindings.count + 1) << 32 | bound.n;
		if (seeder->failure->status == HG_OK)
			seeder->failure->status =
				base_map_set(&c->bindings, key, found, seeder->failure->error);
	}
	c->origin = (uint32_t)(found >> 32);
	return (struct retype_term){(uint32_t)found};
}

/* The type as the closure's own type tells; nothing if that tells nothing of it. */
static struct retype_term bind_type(
	struct closures *c, struct retype_term open, struct retype_term bindings)
{
	struct retype_types *types = c->seeder->in->types;
	if (!bindings.n || !open.n || retype_is_closed(types, open))
		return RETYPE_NOTHING;
	return retype_apply(types, open, bindings, RETYPE_DEEPEST);
}

/* The type of a parameter of a function of which so many have been applied. */
static struct retype_term type_of_argument(struct closures *c,
	const struct retype_function *function, unsigned number, unsigned applied)
{
	struct retype_types *types = c->seeder->in->types;
	if (!c->of_instances)
		return function->parameters[number];
	return bind_type(c, part_of_function(types, function->general, number, true),
		find_bindings(c, function, applied));
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

static struct retype_term type_of_capture(struct closures *c,
	const struct retype_function *function, uint32_t i, struct retype_term bindings)
{
	if (!c->of_instances)
		return function->captures[i].type;
	return bindings.n ? bind_type(c, function->general_captures[i].type, bindings)
			  : RETYPE_NOTHING;
}

static bool seed_captures(struct closures *c, const struct retype_function *function,
	const uint64_t *values, unsigned count)
{
	struct infer_seeder *seeder = c->seeder;
	struct retype_term bindings = RETYPE_NOTHING;
	struct match match;
	if (function->capture_count != count || !match_slots(c, function, values, count, &match) ||
		(!match.in_order && !separate_slots(&match)))
		return false;
	c->origin = (uint32_t)(function - seeder->in->types->functions);
	if (c->of_instances)
		bindings = find_bindings(c, function, 0);
	for (unsigned i = 0; i < count; i++) {
		uint64_t variables = match.variables[i];
		bool is_sure = (variables & (variables - 1)) == 0;
		unsigned variable = match.in_order ? i : (unsigned)__builtin_ctzll(variables);
		base_assert(variable < function->capture_count && variables >> variable & 1);
		struct retype_term type = type_of_capture(c, function, variable, bindings);
		if (match.in_order || is_sure)
			infer_seed_value(seeder, HG_INFERRED, c->origin, values[i], type);
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

static void seed_argument(struct closures *c, const struct retype_function *function,
	unsigned number, unsigned applied, uint64_t value)
{
	if (number >= function->parameter_count)
		return;
	c->origin = (uint32_t)(function - c->seeder->in->types->functions);
	struct retype_term type = type_of_argument(c, function, number, applied);
	infer_seed_value(c->seeder, HG_INFERRED, c->origin, value, type);
}

/*
 * The closure of a function that was applied: as far as its captured variables have type variables
 * in common with it, the bindings are those of the closure, too.  It may be polymorphic in others.
 */
static void seed_function(struct closures *c, const struct retype_function *function,
	unsigned applied, uint64_t value)
{
	struct retype_types *types = c->seeder->in->types;
	if (!c->of_instances || function->capture_count == 0)
		return;
	struct retype_term bindings = find_bindings(c, function, applied);
	if (bindings.n)
		bindings = retype_narrow_bindings(
			types, bindings, function->general_captures, function->capture_count);
	infer_seed_value(c->seeder, HG_INFERRED, c->origin, value,
		bind_type(c, function->general, bindings));
}

/* Each argument is in a closure of its own, that holds the one with the arguments before. */
static void seed_partial(struct closures *c, const uint64_t *values, unsigned applied)
{
	struct infer_seeder *seeder = c->seeder;
	struct snap_cell cell;
	struct {
		uint64_t value;
		unsigned number; /* from 1 on */
	} arguments[MOST_PARTIALS + 1] = {{values[0], applied}};
	unsigned count = 1;
	uint64_t start, codes[MOST_FUNCTIONS], holder = values[1];
	for (; count <= MOST_PARTIALS; count++) {
		if (!next_closure(seeder, holder, &cell, &start))
			return;
		unsigned number = seeds_count_applied(&c->functions, cell.fields[0]);
		if (number == 0)
			break;
		if (cell.field_count != start + 2)
			return;
		arguments[count].value = cell.fields[start];
		arguments[count].number = number;
		holder = cell.fields[start + 1];
	}
	if (codes_of_closure(seeder, &cell, start, codes) == 0)
		return;
	const struct retype_function *function = seeds_function_of(&c->functions, codes[0]);
	/* Those before are seen in their own closures; only this one's type may tell of them. */
	for (unsigned i = 0; function && i < (c->of_instances ? count : 1); i++)
		seed_argument(c, function, arguments[i].number - 1, applied, arguments[i].value);
	if (function)
		seed_function(c, function, applied, holder);
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
		seed_argument(c, function, i, count - 1, values[i]);
	seed_function(c, function, count - 1, values[count - 1]);
}

/* Bytecode, of whose variables the compiler tells which is where */

/* The one capture of that name; those that are not alone are not believed. */
static uint32_t capture_named(
	const struct retype_function *function, const struct snap_captured *captured)
{
	uint32_t found = RETYPE_NONE;
	for (uint32_t i = 0; i < function->capture_count; i++) {
		const char *name = function->captures[i].name;
		if (strlen(name) != captured->name_length ||
			memcmp(name, captured->variable, captured->name_length) != 0)
			continue;
		if (found != RETYPE_NONE)
			return RETYPE_NONE;
		found = i;
	}
	return found;
}

/*
 * A field by its variable: of the toplevel, which native code does not capture, or of the function.
 * False if nobody knows what is in it.
 */
static bool seed_variable(struct closures *c, const struct snap_cell *cell, uint64_t field,
	const struct retype_function *function)
{
	struct infer_seeder *seeder = c->seeder;
	struct snap_captured captured;
	if (!snap_process_captured(seeder->in->snap, cell->fields[0], field, &captured))
		return false;
	const struct retype_value *value = seeds_captured_value(&c->variables, &captured);
	if (value && !c->of_instances) {
		c->origin = (uint32_t)(value - seeder->in->types->values);
		infer_seed_value(seeder, HG_INFERRED, c->origin, cell->fields[field], value->type);
	}
	uint32_t i = value || !function ? RETYPE_NONE : capture_named(function, &captured);
	if (i == RETYPE_NONE ||
		!infer_may_be(seeder->blocks, cell->fields[field], function->captures[i].type))
		return true;
	struct retype_term bindings =
		c->of_instances ? find_bindings(c, function, 0) : RETYPE_NOTHING;
	if (!c->of_instances)
		c->origin = (uint32_t)(function - seeder->in->types->functions);
	infer_seed_value(seeder, HG_INFERRED, c->origin, cell->fields[field],
		type_of_capture(c, function, i, bindings));
	return true;
}

/*
 * RESTART is the instruction before the function's: after it the closure has the function's, and
 * the arguments given.
 */
static bool seed_restart(struct closures *c, const struct snap_cell *cell, uint64_t start)
{
	enum { INSTRUCTION_BYTES = 4 };
	struct snap_code_symbol symbol;
	const uint64_t code = cell->fields[0];
	if (!snap_process_code_symbol(c->seeder->in->snap, code, &symbol) ||
		strcmp(symbol.name, SNAP_NAME_OF_RESTART) != 0)
		return false;
	const struct retype_function *function =
		seeds_function_of(&c->functions, code + INSTRUCTION_BYTES);
	const unsigned applied = (unsigned)(cell->field_count - start) - 1;
	for (unsigned i = 0; function && i < applied && i < function->parameter_count; i++)
		if (!infer_may_be(c->seeder->blocks, cell->fields[start + 1 + i],
			    function->parameters[i]))
			return true;
	for (unsigned i = 0; function && i < applied; i++)
		seed_argument(c, function, i, applied, cell->fields[start + 1 + i]);
	if (function)
		seed_function(c, function, applied, cell->fields[start]);
	return true;
}

static void seed_bytecode(struct closures *c, const struct snap_cell *cell, uint64_t start)
{
	if (seed_restart(c, cell, start))
		return;
	const struct retype_function *function = seeds_function_of(&c->functions, cell->fields[0]);
	for (uint64_t i = start; i < cell->field_count; i++)
		if (!seed_variable(c, cell, i, function))
			return;
}

/* All closures */

static const struct snap_location *location_of_closure(
	struct infer_seeder *seeder, const struct snap_cell *cell)
{
	const struct snap *snap = seeder->in->snap;
	enum hg_confidence sure = HG_EXACT;
	bool by_sample = snap->sampled_count && !seeder->in->without_samples;
	uint32_t number = snap->format->ids == SNAP_IDS_NONE
				  ? (by_sample ? snap_sampled_location(snap, cell->address) : 0)
				  : snap_locations_find(&snap->locations,
					    snap_header_reserved(cell->header, snap->reserved),
					    cell->tag, &sure);
	return number && sure != HG_GUESSED ? &snap->locations.items[number] : NULL;
}

static void seed_closure(void *context, uint32_t rank, const struct snap_cell *cell)
{
	struct closures *c = context;
	struct infer_seeder *seeder = c->seeder;
	seeder->source = rank;
	if (c->of_instances) {
		c->known = known_type(seeder, rank);
		if (!c->known.n)
			return;
	}
	uint64_t values[MOST_SLOTS], codes[MOST_FUNCTIONS];
	uint64_t start = snap_first_value(seeder->in->snap, cell);
	if (start < 2 || start >= cell->field_count || cell->field_count - start > MOST_SLOTS)
		return;
	unsigned count = (unsigned)(cell->field_count - start);
	if (!seeder->in->snap->native) {
		seed_bytecode(c, cell, start);
		return;
	}
	for (unsigned i = 0; i < count; i++)
		values[i] = cell->fields[start + i];
	unsigned argument = count == 2 ? seeds_count_applied(&c->functions, cell->fields[0]) : 0;
	if (argument) {
		seed_partial(c, values, argument);
		return;
	}
	unsigned functions = codes_of_closure(seeder, cell, start, codes);
	/* The type of a closure of several functions is that of the first one. */
	unsigned most = c->of_instances && functions > 1 ? 1 : functions;
	const struct snap_location *at =
		most == functions ? location_of_closure(seeder, cell) : NULL;
	const struct retype_function *function = at ? seeds_function_at(&c->functions, at) : NULL;
	if (function && seed_captures(c, function, values, count))
		return;
	for (unsigned i = 0; i < most; i++) {
		function = seeds_function_of(&c->functions, codes[i]);
		if (function && seed_captures(c, function, values, count))
			return;
	}
	seed_applied(c, values, count);
}

/* With flambda units have blocks of their interfaces' values only. */
static bool has_flambda(const struct infer_seeder *seeder)
{
	if (!seeder->in->snap->native)
		return false;
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

static enum hg_status seed_closures(struct infer_seeder *seeder, bool of_instances)
{
	struct closures c = {
		.seeder = seeder, .is_flambda = has_flambda(seeder), .of_instances = of_instances};
	if (seeder->in->types->function_count == 0 || !seeder->in->snap->has_closinfo)
		return HG_OK;
	enum hg_status status = seeds_functions_init(&c.functions, seeder->in, seeder->failure);
	if (status == HG_OK)
		status = seeds_variables_init(&c.variables, seeder);
	if (status == HG_OK)
		status = infer_sweep_tag(seeder->sweeper, SNAP_TAG_CLOSURE, seed_closure, &c);
	seeder->source = RETYPE_NO_HOLDER;
	seeds_functions_release(&c.functions);
	seeds_variables_release(&c.variables);
	base_map_release(&c.bindings);
	return status;
}

enum hg_status seeds_closures(struct infer_seeder *seeder)
{
	return seed_closures(seeder, false);
}

enum hg_status seeds_instances(struct infer_seeder *seeder)
{
	return seed_closures(seeder, true);
}

enum hg_status seeds_sampled_instances(struct infer_seeder *seeder)
{
	return seeder->in->snap->sampled_count && !seeder->in->without_samples
		       ? seed_closures(seeder, true)
		       : HG_OK;
}
