/*
 * How blocks of a type look.  Tags are those of the runtime (caml/mlvalues.h); constructors without
 * arguments and those with arguments are numbered apart, each in the order of the source.
 */
#include "retype/types/fit.h"

#include "base/grow.h"
#include "retype/types/instance.h"
#include "retype/types/join.h"
#include "retype/types/memo.h"
#include "retype/types/nodes.h"
#include "retype/types/predefined.h"
#include "snapshot/header.h"

#include <stdlib.h>

enum {
	TAG_FORCING = 244, /* since OCaml 5.0 */
	TAG_LAZY = 246,
	MOST_SETS_IN_SETS = 4, /* unboxed types of sets, of which each alternative may be one */
};

struct retype_fits {
	struct retype_memo numbers; /* in 'results', by term, tag and size */
	struct retype_fit *results;
	uint64_t count, capacity;
	unsigned sets_in_sets; /* how many sets retype_find_fit() is in */
};

struct shape {
	unsigned tag;
	uint64_t wosize;
};

static const struct retype_fit misfit = {.match = RETYPE_MISFIT, .constructor = ""};
static const struct retype_fit untold = {.match = RETYPE_UNTOLD, .constructor = ""};

static struct retype_fit fit_if(bool fits, enum retype_match match)
{
	return (struct retype_fit){.match = fits ? match : RETYPE_MISFIT, .constructor = ""};
}

/* GADTs: what the arguments of a type say of the variables of a constructor. */

struct bindings {
	struct retype_types *types;
	struct retype_term *variables; /* RETYPE_MOST_VARIABLES */
	uint32_t count;
	uint32_t steps; /* so far: terms share parts, and as trees they may be huge */
	bool conflict;  /* a variable stands for types that do not go together */
};
enum { MOST_STEPS = 1 << 16 };

/* Two types that no value has both, if their declarations are what they seem. */
static bool exclude_each_other(
	const struct retype_declaration *a, const struct retype_declaration *b)
{
	const struct retype_declaration *both[2] = {a, b};
	for (unsigned i = 0; i < 2; i++)
		if (!both[i] || both[i]->form == RETYPE_ABSTRACT || both[i]->form == RETYPE_ALIAS ||
			both[i]->form == RETYPE_ANY || both[i]->form == RETYPE_UNBOXED ||
			both[i]->form == RETYPE_EITHER)
			return false;
	return a != b && (a->origin == RETYPE_NONE || a->origin != b->origin);
}

static bool bind_variables(struct bindings *bindings, struct retype_term pattern,
	struct retype_term actual, uint32_t room)
{
	struct retype_types *types = bindings->types;
	if (room == 0 || bindings->steps == MOST_STEPS)
		return true;
	bindings->steps++;
	struct retype_node p = *retype_node_of(types, pattern);
	if (p.kind == RETYPE_VARIABLE) {
		base_assert(p.number < RETYPE_MOST_VARIABLES);
		struct retype_term *variable = &bindings->variables[p.number];
		*variable = retype_join(types, *variable, actual, &bindings->conflict);
		if (bindings->count <= p.number)
			bindings->count = p.number + 1;
		return true;
	}
	pattern = retype_expand(types, pattern, RETYPE_BOTTOMLESS);
	actual = retype_expand(types, actual, RETYPE_DEEPEST);
	p = *retype_node_of(types, pattern);
	struct retype_node a = *retype_node_of(types, actual);
	if (retype_is_abstract(types, pattern) || retype_is_abstract(types, actual) ||
		a.kind == RETYPE_SET || a.kind == RETYPE_MANY || p.kind == RETYPE_OBJECT ||
		a.kind == RETYPE_OBJECT)
		return true;
	if (p.kind != a.kind)
		return false;
	if (p.kind == RETYPE_CONSTRUCTED && p.number != a.number)
		return !exclude_each_other(
			retype_declared(types, pattern), retype_declared(types, actual));
	if (p.kind == RETYPE_TUPLE &&
		(p.count != a.count || !retype_are_labels_equal(p.names, a.names, p.count)))
		return false;
	if (p.kind == RETYPE_ARROW && p.names[0] != a.names[0])
		return false;
	if (p.kind == RETYPE_POLY_VARIANT || p.kind == RETYPE_MODULE)
		return true;
	for (uint32_t i = 0; i < p.count; i++)
		if (!bind_variables(bindings, retype_argument(types, pattern, i),
			    retype_argument(types, actual, i), room - 1))
			return false;
	return true;
}

/* Whether a type is several ones somewhere. */
static bool is_several(struct bindings *bindings, struct retype_term term)
{
	const struct retype_node *node = retype_node_of(bindings->types, term);
	uint32_t count = node->count;
	if (node->kind == RETYPE_SET || node->kind == RETYPE_MANY || bindings->steps == MOST_STEPS)
		return true;
	bindings->steps++;
	for (uint32_t i = 0; i < count; i++)
		if (is_several(bindings, retype_argument(bindings->types, term, i)))
			return true;
	return false;
}

struct retype_term retype_bind(
	struct retype_types *types, struct retype_term open, struct retype_term actual)
{
	struct bindings bindings = {.types = types};
	struct retype_term arguments = RETYPE_NOTHING;
	bool any = false;
	bindings.variables = calloc(RETYPE_MOST_VARIABLES, sizeof(*bindings.variables));
	if (!bindings.variables) {
		retype_keep_status(types, base_no_memory(types->error, RETYPE_MOST_VARIABLES));
		return RETYPE_NOTHING;
	}
	bool fits = bind_variables(&bindings, open, actual, RETYPE_DEEPEST) && !bindings.conflict;
	for (uint32_t i = 0; i < bindings.count; i++) {
		if (is_several(&bindings, bindings.variables[i]))
			bindings.variables[i] = RETYPE_NOTHING;
		any |= bindings.variables[i].n != 0;
	}
	if (fits && any)
		arguments = retype_tuple(types, bindings.variables, bindings.count);
	free(bindings.variables);
	return arguments;
}

/* Notes which variables occur in a term, as far as the steps go. */
static void note_variables(
	struct bindings *bindings, struct retype_term term, bool *occurs, uint32_t room)
{
	const struct retype_node *node = retype_node_of(bindings->types, term);
	uint32_t count = node->count;
	if (!node->is_open || room == 0 || bindings->steps == MOST_STEPS)
		return;
	bindings->steps++;
	if (node->kind == RETYPE_VARIABLE && node->number < bindings->count)
		occurs[node->number] = true;
	for (uint32_t i = 0; i < count; i++)
		note_variables(
			bindings, retype_argument(bindings->types, term, i), occurs, room - 1);
}

struct retype_term retype_narrow_bindings(struct retype_types *types, struct retype_term bound,
	const struct retype_field *fields, uint32_t count)
{
	bool occurs[RETYPE_MOST_VARIABLES] = {false}, any = false;
	struct retype_term variables[RETYPE_MOST_VARIABLES];
	struct bindings bindings = {.types = types, .count = retype_node_of(types, bound)->count};
	base_assert(bindings.count <= RETYPE_MOST_VARIABLES);
	for (uint32_t i = 0; i < count; i++)
		note_variables(&bindings, fields[i].type, occurs, RETYPE_DEEPEST);
	for (uint32_t i = 0; i < bindings.count; i++) {
		variables[i] = occurs[i] ? retype_argument(types, bound, i) : RETYPE_NOTHING;
		any |= variables[i].n != 0;
	}
	return any ? retype_tuple(types, variables, bindings.count) : RETYPE_NOTHING;
}

/*
 * The arguments for the fields of a constructor of 'term', as a term that has them; false if no
 * value of this type has that constructor.
 */
static bool arguments_for(struct retype_types *types, const struct retype_constructor *constructor,
	struct retype_term term, struct retype_term *arguments)
{
	struct bindings bindings = {.types = types};
	bool fits = true;
	*arguments = term;
	if (!constructor->is_gadt)
		return true;
	bindings.variables = calloc(RETYPE_MOST_VARIABLES, sizeof(*bindings.variables));
	if (!bindings.variables) {
		retype_keep_status(types, base_no_memory(types->error, RETYPE_MOST_VARIABLES));
		return false;
	}
	for (uint32_t i = 0; fits && i < constructor->result_count; i++)
		fits = bind_variables(&bindings, constructor->result[i],
			retype_argument(types, term, i), RETYPE_DEEPEST);
	*arguments = retype_tuple(types, bindings.variables, bindings.count);
	free(bindings.variables);
	return fits;
}

/* Fields */

static struct retype_fit close_fields(struct retype_types *types, const char *constructor,
	const struct retype_field *fields, uint32_t count, struct retype_term arguments)
{
	bool is_open = false;
	for (uint32_t i = 0; i < count; i++) {
		const struct retype_node *node = retype_node_of(types, fields[i].type);
		is_open |= node->is_open || node->depth > RETYPE_DEEPEST;
	}
	struct retype_fit fit = {.match = RETYPE_FIELDS,
		.constructor = constructor,
		.field_count = count,
		.fields = fields};
	if (!is_open)
		return fit;
	struct retype_field *closed = retype_new_fields(types, count);
	if (!closed)
		return untold;
	for (uint32_t i = 0; i < count; i++) {
		closed[i] = fields[i];
		closed[i].type = retype_apply(types, fields[i].type, arguments, RETYPE_DEEPEST);
		base_assert(retype_node_of(types, closed[i].type)->depth <= RETYPE_DEEPEST);
	}
	fit.fields = closed;
	return fit;
}

static struct retype_fit one_field(struct retype_types *types, struct retype_term type)
{
	struct retype_field *field = retype_new_fields(types, 1);
	if (!field)
		return untold;
	*field = (struct retype_field){.name = "", .type = type};
	return (struct retype_fit){
		.match = RETYPE_FIELDS, .constructor = "", .field_count = 1, .fields = field};
}

/* The first 'count' arguments of a term, with the labels of a tuple; NULL without memory. */
static const struct retype_field *argument_fields(
	struct retype_types *types, struct retype_term term, uint32_t count)
{
	struct retype_field *fields = retype_new_fields(types, count);
	struct retype_node node = *retype_node_of(types, term);
	bool has_labels = node.kind == RETYPE_TUPLE && node.names;
	for (uint32_t i = 0; fields && i < count; i++)
		fields[i] = (struct retype_field){
			.name = has_labels && i < node.count ? node.names[i] : "",
			.type = retype_argument(types, term, i)};
	return fields;
}

static struct retype_fit fit_tuple(struct retype_types *types, struct retype_term term)
{
	uint32_t count = retype_node_of(types, term)->count;
	const struct retype_field *fields = argument_fields(types, term, count);
	if (!fields)
		return untold;
	return (struct retype_fit){
		.match = RETYPE_FIELDS, .constructor = "", .field_count = count, .fields = fields};
}

static struct retype_fit fit_variant(struct retype_types *types,
	const struct retype_declaration *declaration, struct retype_term term, struct shape shape)
{
	const struct retype_constructor *constructor = NULL;
	unsigned tag = 0;
	for (uint32_t i = 0; i < declaration->constructor_count && !constructor; i++) {
		if (declaration->constructors[i].is_constant)
			continue;
		if (tag++ == shape.tag)
			constructor = &declaration->constructors[i];
	}
	struct retype_term arguments;
	if (!constructor || constructor->field_count != shape.wosize ||
		!arguments_for(types, constructor, term, &arguments))
		return misfit;
	return close_fields(
		types, constructor->name, constructor->fields, constructor->field_count, arguments);
}

static struct retype_fit fit_float_record(
	const struct retype_declaration *declaration, struct shape shape)
{
	if (shape.tag != SNAP_TAG_DOUBLE_ARRAY || shape.wosize != declaration->field_count)
		return misfit;
	return (struct retype_fit){.match = RETYPE_LEAF,
		.constructor = "",
		.field_count = declaration->field_count,
		.fields = declaration->fields};
}

/* Tags 246 and 244 hold the function that is to be called, 250 the value; else it is the value. */
static struct retype_fit fit_lazy(
	struct retype_types *types, struct retype_term inner, struct shape shape)
{
	if (shape.tag == TAG_LAZY || shape.tag == TAG_FORCING) {
		struct retype_term unit = retype_constructed(types, RETYPE_BASE_UNIT, NULL, 0);
		return shape.wosize == 1 ? one_field(types, retype_arrow(types, "", unit, inner))
					 : misfit;
	}
	if (shape.tag == SNAP_TAG_FORWARD)
		return shape.wosize == 1 ? one_field(types, inner) : misfit;
	return (struct retype_fit){.match = RETYPE_INNER, .constructor = "", .inner = inner};
}

/* What a type is made of below the names of unboxed types. */
static struct retype_term unwrap_unboxed(struct retype_types *types, struct retype_term term)
{
	for (unsigned i = 0; i < RETYPE_MOST_EXPANSIONS; i++) {
		term = retype_expand(types, term, RETYPE_DEEPEST);
		const struct retype_declaration *declaration = retype_declared(types, term);
		struct retype_term arguments;
		if (!declaration || declaration->form != RETYPE_UNBOXED)
			return term;
		if (!arguments_for(types, &declaration->unboxed, term, &arguments))
			return RETYPE_NOTHING;
		term = retype_apply(types, declaration->inner, arguments, RETYPE_DEEPEST);
	}
	return RETYPE_NOTHING;
}

struct retype_term retype_alternatives(struct retype_types *types, struct retype_term term)
{
	struct retype_term expanded = retype_expand(types, term, RETYPE_DEEPEST);
	const struct retype_declaration *declaration = retype_declared(types, expanded);
	struct retype_term all = RETYPE_NOTHING;
	if (!declaration || declaration->form != RETYPE_EITHER)
		return term;
	for (uint32_t i = 0; i < declaration->field_count; i++) {
		struct retype_term one =
			retype_apply(types, declaration->fields[i].type, expanded, RETYPE_DEEPEST);
		if (retype_is_abstract(types, retype_expand(types, one, RETYPE_DEEPEST)))
			return RETYPE_NOTHING;
		all = retype_join(types, all, one, NULL);
	}
	return all;
}

static struct retype_fit fit_array(
	struct retype_types *types, struct retype_term element, struct shape shape)
{
	if (shape.tag == 0)
		return (struct retype_fit){
			.match = RETYPE_ELEMENTS, .constructor = "", .inner = element};
	if (shape.tag != SNAP_TAG_DOUBLE_ARRAY)
		return misfit;
	element = retype_alternatives(types, unwrap_unboxed(types, element));
	const struct retype_node *node = retype_node_of(types, element);
	bool may_be_float = retype_is_abstract(types, element) || node->kind == RETYPE_SET ||
			    node->kind == RETYPE_MANY ||
			    (node->kind == RETYPE_CONSTRUCTED && node->number == RETYPE_BASE_FLOAT);
	return fit_if(may_be_float, RETYPE_LEAF);
}

/* A slot is [name; number] with tag 248 since OCaml 4.02, before it was [name] with tag 0. */
static bool is_slot_shape(const struct retype_types *types, struct shape shape)
{
	return types->is_400 ? shape.tag == 0 && shape.wosize == 1
			     : shape.tag == SNAP_TAG_OBJECT && shape.wosize == 2;
}

/* Forms that a tag alone tells. */
static struct retype_fit fit_simple(
	const struct retype_types *types, enum retype_form form, struct shape shape)
{
	switch (form) {
	case RETYPE_STRING:
		return fit_if(shape.tag == SNAP_TAG_STRING, RETYPE_LEAF);
	case RETYPE_FLOAT:
		return fit_if(shape.tag == SNAP_TAG_DOUBLE && shape.wosize == 1, RETYPE_LEAF);
	case RETYPE_FLOAT_ARRAY:
		return fit_if(shape.tag == SNAP_TAG_DOUBLE_ARRAY, RETYPE_LEAF);
	case RETYPE_CUSTOM:
		return fit_if(shape.tag == SNAP_TAG_CUSTOM, RETYPE_LEAF);
	case RETYPE_CONTINUATION:
		return fit_if(shape.tag == SNAP_TAG_CONT, RETYPE_LEAF);
	case RETYPE_SOME_OBJECT:
		return fit_if(shape.tag == SNAP_TAG_OBJECT, RETYPE_INSTANCE);
	case RETYPE_SLOT:
		return fit_if(is_slot_shape(types, shape), RETYPE_EXTENSION);
	case RETYPE_EXTENSIBLE:
		return fit_if((shape.tag == 0 && shape.wosize >= 1) || is_slot_shape(types, shape),
			RETYPE_EXTENSION);
	case RETYPE_IMMEDIATE:
		return misfit;
	default:
		return untold;
	}
}

/* Weak arrays are ephemerons without data, whose elements are the keys. */
static struct retype_fit fit_ephemeron(
	struct retype_types *types, struct retype_term term, bool has_data, struct shape shape)
{
	uint32_t count = retype_node_of(types, term)->count,
		 keys = has_data && count ? count - 1 : count;
	struct retype_fit fit = fit_if(shape.tag == SNAP_TAG_ABSTRACT, RETYPE_LEAF);
	if (fit.match == RETYPE_MISFIT || keys == 0)
		return fit;
	const struct retype_field *fields = argument_fields(types, term, keys);
	if (!fields)
		return untold;
	return (struct retype_fit){.match = RETYPE_WEAKLY,
		.constructor = "",
		.field_count = keys,
		.fields = fields,
		.inner = has_data ? retype_argument(types, term, keys) : RETYPE_NOTHING};
}

static struct retype_fit fit_declared(
	struct retype_types *types, struct retype_term term, struct shape shape)
{
	const struct retype_declaration *declaration = retype_declared(types, term);
	if (!declaration)
		return untold;
	switch (declaration->form) {
	case RETYPE_RECORD:
		if (shape.tag != 0 || shape.wosize != declaration->field_count)
			return misfit;
		return close_fields(types, "", declaration->fields, declaration->field_count, term);
	case RETYPE_FLOAT_RECORD:
		return fit_float_record(declaration, shape);
	case RETYPE_VARIANT:
		return fit_variant(types, declaration, term, shape);
	case RETYPE_ARRAY:
		return fit_array(types, retype_argument(types, term, 0), shape);
	case RETYPE_LAZY:
		return fit_lazy(types, retype_argument(types, term, 0), shape);
	case RETYPE_ATOMIC:
		return shape.tag == 0 && shape.wosize == 1
			       ? one_field(types, retype_argument(types, term, 0))
			       : misfit;
	case RETYPE_WEAK:
		return fit_ephemeron(types, term, false, shape);
	case RETYPE_EPHEMERON:
		return fit_ephemeron(types, term, true, shape);
	default:
		return fit_simple(types, declaration->form, shape);
	}
}

/* Neither alias nor unboxed nor set. */
static struct retype_fit fit_one(
	struct retype_types *types, struct retype_term term, struct shape shape)
{
	const struct retype_node *node = retype_node_of(types, term);
	switch (node->kind) {
	case RETYPE_CONSTRUCTED:
		return fit_declared(types, term, shape);
	case RETYPE_TUPLE:
		return shape.tag == 0 && shape.wosize == node->count ? fit_tuple(types, term)
								     : misfit;
	case RETYPE_ARROW:
		return fit_if(shape.tag == SNAP_TAG_CLOSURE || shape.tag == SNAP_TAG_INFIX,
			RETYPE_FUNCTION);
	case RETYPE_POLY_VARIANT:
		return fit_if(shape.tag == 0 && shape.wosize == 2, RETYPE_TAGGED);
	case RETYPE_OBJECT:
		return fit_if(shape.tag == SNAP_TAG_OBJECT && shape.wosize >= 2, RETYPE_INSTANCE);
	case RETYPE_MODULE: {
		if (node->number >= types->layout_count)
			return untold;
		const struct retype_layout *layout = &types->layouts[node->number];
		/* The block of a unit, "module H = Hashtbl", has values after those of its
		 * interface. */
		if (shape.tag != 0 || shape.wosize < layout->field_count)
			return misfit;
		return close_fields(types, "", layout->fields, layout->field_count, RETYPE_NOTHING);
	}
	default:
		return untold;
	}
}

/* Sets: what the types that fit say of fields, joined. */

static struct retype_term field_of(const struct retype_fit *fit, uint32_t i)
{
	if (fit->match == RETYPE_ELEMENTS)
		return fit->inner;
	return fit->match == RETYPE_FIELDS && i < fit->field_count ? fit->fields[i].type
								   : RETYPE_NOTHING;
}

static struct retype_fit join_fits(
	struct retype_types *types, const struct retype_fit *all, unsigned count)
{
	const struct retype_fit *with_fields = NULL, *with_elements = NULL;
	for (unsigned i = count; i-- > 0;) {
		if (all[i].match == RETYPE_FIELDS)
			with_fields = &all[i];
		if (all[i].match == RETYPE_ELEMENTS)
			with_elements = &all[i];
	}
	struct retype_fit joined = with_fields     ? *with_fields
				   : with_elements ? *with_elements
						   : all[0];
	for (unsigned i = 0; !with_fields && i < count; i++)
		if (all[i].match == joined.match)
			joined.inner = retype_join(types, joined.inner, all[i].inner, NULL);
	if (!with_fields || count == 1)
		return joined;
	struct retype_field *fields = retype_new_fields(types, joined.field_count);
	if (!fields)
		return untold;
	for (uint32_t f = 0; f < joined.field_count; f++) {
		fields[f] = joined.fields[f];
		for (unsigned i = 0; i < count; i++)
			fields[f].type =
				retype_join(types, fields[f].type, field_of(&all[i], f), NULL);
	}
	joined.fields = fields;
	return joined;
}

static struct retype_fit fit_set(
	struct retype_types *types, struct retype_term term, struct shape shape)
{
	struct retype_fit all[RETYPE_MOST_ALTERNATIVES];
	unsigned count = 0;
	bool says_nothing = false;
	uint32_t alternatives = retype_node_of(types, term)->count;
	if (types->fits->sets_in_sets == MOST_SETS_IN_SETS)
		return untold;
	types->fits->sets_in_sets++;
	for (uint32_t i = 0; i < alternatives && count < RETYPE_MOST_ALTERNATIVES; i++) {
		struct retype_fit fit = retype_find_fit(
			types, retype_argument(types, term, i), shape.tag, shape.wosize);
		says_nothing |= fit.match == RETYPE_UNTOLD;
		if (fit.match != RETYPE_MISFIT && fit.match != RETYPE_UNTOLD)
			all[count++] = fit;
	}
	types->fits->sets_in_sets--;
	base_assert(types->fits->sets_in_sets < MOST_SETS_IN_SETS);
	if (count == 0)
		return says_nothing ? untold : misfit;
	return join_fits(types, all, count);
}

static bool is_worth_keeping(const struct retype_fit *fit)
{
	return fit->match == RETYPE_FIELDS || fit->match == RETYPE_LEAF ||
	       fit->match == RETYPE_WEAKLY;
}

static enum hg_status keep_fit(
	struct retype_types *types, uint64_t key, uint64_t wosize, const struct retype_fit *fit)
{
	struct retype_fits *fits = types->fits;
	BASE_TRY(base_grow(
		&fits->results, fits->count, &fits->capacity, sizeof(*fit), types->error));
	fits->results[fits->count++] = *fit;
	return retype_memo_set(
		&fits->numbers, key, wosize, (uint32_t)fits->count - 1, types->error);
}

/*
 * Kept is only what has fields, whose number is that of the block, so that strings and arrays of
 * all sizes do not fill the memo.
 */
struct retype_fit retype_find_fit(
	struct retype_types *types, struct retype_term term, unsigned tag, uint64_t wosize)
{
	struct retype_fits *fits = types->fits;
	uint64_t key = (uint64_t)term.n << 8 | (tag & 255);
	uint32_t found;
	if (retype_memo_find(&fits->numbers, key, wosize, &found)) {
		base_assert(found < fits->count);
		return fits->results[found];
	}
	struct shape shape = {tag & 255, wosize};
	struct retype_term inner = retype_alternatives(types, unwrap_unboxed(types, term));
	struct retype_fit fit = retype_node_of(types, inner)->kind == RETYPE_SET
					? fit_set(types, inner, shape)
					: fit_one(types, inner, shape);
	base_assert(fit.match != RETYPE_FIELDS || fit.fields || fit.field_count == 0);
	if (is_worth_keeping(&fit) && fit.fields && types->status == HG_OK)
		retype_keep_status(types, keep_fit(types, key, wosize, &fit));
	return fit;
}

struct retype_term retype_tagged(
	struct retype_types *types, struct retype_term term, int64_t hash, const char **name)
{
	struct retype_term argument = RETYPE_NOTHING;
	const char *found = NULL;
	term = unwrap_unboxed(types, term);
	bool is_set = retype_node_of(types, term)->kind == RETYPE_SET;
	uint32_t alternatives = is_set ? retype_node_of(types, term)->count : 1;
	for (uint32_t i = 0; i < alternatives; i++) {
		struct retype_term one = term;
		if (is_set)
			one = unwrap_unboxed(types, retype_argument(types, term, i));
		struct retype_node node = *retype_node_of(types, one);
		for (uint32_t tag = 0; node.kind == RETYPE_POLY_VARIANT && tag < node.count;
			tag++) {
			if (retype_hash_name(node.names[tag]) != hash)
				continue;
			found = found ? found : node.names[tag];
			argument = retype_join(
				types, argument, retype_argument(types, one, tag), NULL);
		}
	}
	if (name)
		*name = found;
	return argument;
}

enum hg_status retype_fits_init(struct retype_types *types)
{
	types->fits = calloc(1, sizeof(*types->fits));
	return types->fits ? HG_OK : base_no_memory(types->error, sizeof(*types->fits));
}

void retype_fits_release(struct retype_types *types)
{
	if (types->fits) {
		retype_memo_release(&types->fits->numbers);
		free(types->fits->results);
	}
	free(types->fits);
	types->fits = NULL;
}
