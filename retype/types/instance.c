#include "retype/types/types_parts.h"

/*
 * Substitution.  Arguments are themselves kept as a tuple, so that an instance is known by two
 * numbers, and by the room it has if it may have to be cut.
 */
struct substitution {
	struct retype_types *types;
	struct retype_term arguments;
	bool keeps_variables; /* nothing is put in their place */
};

static struct retype_term instance(
	const struct substitution *s, struct retype_term term, uint32_t room);

static struct retype_term cut(struct retype_types *types, struct retype_term term, uint32_t room)
{
	struct substitution none = {types, RETYPE_NOTHING, true};
	return instance(&none, term, room);
}

static struct retype_term rebuild(
	const struct substitution *s, struct retype_term term, uint32_t room)
{
	struct retype_types *types = s->types;
	struct retype_terms *terms = types->terms;
	struct retype_node node = *retype_node(types, term);
	uint32_t below = node.kind == RETYPE_SET ? room : room - 1;
	uint64_t before = terms->scratch_count;
	for (uint32_t i = 0; i < node.count; i++)
		retype_push(types, instance(s, terms->arguments[node.first + i], below));
	struct retype_term made = RETYPE_NOTHING;
	if (terms->scratch_count - before == node.count)
		made = retype_make(types, (enum retype_kind)node.kind, node.number, node.names,
			terms->scratch + before, node.count);
	terms->scratch_count = before;
	return made;
}

static struct retype_term instance(
	const struct substitution *s, struct retype_term term, uint32_t room)
{
	struct retype_types *types = s->types;
	const struct retype_node *node = retype_node(types, term);
	if (room == 0)
		return RETYPE_NOTHING;
	if ((!node->is_open || s->keeps_variables) && node->depth <= room)
		return term;
	if (node->kind == RETYPE_VARIABLE)
		return cut(types, retype_argument(types, s->arguments, node->number), room);
	uint32_t deepest = (uint32_t)node->depth + retype_node(types, s->arguments)->depth;
	uint64_t depth = deepest <= room ? RETYPE_BOTTOMLESS : room;
	uint64_t with = s->keeps_variables ? UINT32_MAX : s->arguments.n;
	uint32_t found;
	if (retype_memo_find(
		    types, &types->terms->instances, (uint64_t)term.n << 32 | with, depth, &found))
		return (struct retype_term){found};
	struct retype_term made = rebuild(s, term, room);
	if (types->status == HG_OK)
		retype_memo_set(types, &types->terms->instances, (uint64_t)term.n << 32 | with,
			depth, made.n);
	return made;
}

struct retype_term retype_instance_within(struct retype_types *types, struct retype_term term,
	const struct retype_term *arguments, uint32_t count, uint32_t room)
{
	struct substitution s = {types, RETYPE_NOTHING, false};
	const struct retype_node *node = retype_node(types, term);
	if (!node->is_open && node->depth <= room)
		return term;
	if (count > 0)
		s.arguments = retype_tuple(types, arguments, count);
	return instance(&s, term, room);
}

struct retype_term retype_instance(struct retype_types *types, struct retype_term term,
	const struct retype_term *arguments, uint32_t count)
{
	return retype_instance_within(types, term, arguments, count, RETYPE_DEEPEST);
}

struct retype_term retype_apply(struct retype_types *types, struct retype_term term,
	struct retype_term applied, uint32_t room)
{
	const struct retype_node *node = retype_node(types, term);
	if (!node->is_open && node->depth <= room)
		return term;
	struct substitution s = {types, applied, false};
	return instance(&s, term, room);
}

struct retype_term retype_expand(struct retype_types *types, struct retype_term term, uint32_t room)
{
	struct retype_term expanded = term;
	for (unsigned i = 0; i < RETYPE_MOST_EXPANSIONS; i++) {
		const struct retype_declaration *declaration = retype_declared(types, expanded);
		if (declaration && declaration->form == RETYPE_SLOT)
			return retype_constructed(types, types->terms->slot_declaration, NULL, 0);
		if (!declaration || declaration->form != RETYPE_ALIAS)
			return cut(types, expanded, room);
		expanded = retype_apply(types, declaration->inner, expanded, room);
		if (retype_is(expanded, RETYPE_NOTHING))
			break;
	}
	return cut(types, term, room);
}

bool retype_is_abstract(const struct retype_types *types, struct retype_term expanded)
{
	const struct retype_node *node = retype_node(types, expanded);
	if (node->kind != RETYPE_CONSTRUCTED)
		return node->kind == RETYPE_UNKNOWN || node->kind == RETYPE_VARIABLE;
	const struct retype_declaration *declaration = retype_declared(types, expanded);
	return !declaration || declaration->form == RETYPE_ABSTRACT ||
	       declaration->form == RETYPE_ALIAS || declaration->form == RETYPE_ANY;
}
