/*
 * Terms with their variables replaced, each computed once, and aliases with what they stand for.
 */
#include "retype/types/instance.h"

#include "retype/types/memo.h"
#include "retype/types/nodes.h"
#include "retype/types/predefined.h"

#include <stdlib.h>

struct retype_instances {
	struct retype_memo made; /* by term, arguments and room */
};

/*
 * Substitution.  Arguments are themselves kept as a tuple, so that an instance is known by two
 * numbers, and by the room it has if it may have to be cut.
 */
struct substitution {
	struct retype_types *types;
	struct retype_term arguments;
	bool keeps_variables; /* nothing is put in their place */
};

static struct retype_term instantiate(
	const struct substitution *s, struct retype_term term, uint32_t room);

static struct retype_term cut_term(
	struct retype_types *types, struct retype_term term, uint32_t room)
{
	struct substitution none = {types, RETYPE_NOTHING, true};
	return instantiate(&none, term, room);
}

static struct retype_term rebuild_term(
	const struct substitution *s, struct retype_term term, uint32_t room)
{
	struct retype_types *types = s->types;
	struct retype_nodes *nodes = types->nodes;
	struct retype_node node = *retype_node_of(types, term);
	uint32_t below = node.kind == RETYPE_SET ? room : room - 1;
	uint64_t before = nodes->scratch_count;
	for (uint32_t i = 0; i < node.count; i++)
		retype_push(types, instantiate(s, nodes->arguments[node.first + i], below));
	struct retype_term made = RETYPE_NOTHING;
	if (nodes->scratch_count - before == node.count)
		made = retype_make(types, (enum retype_kind)node.kind, node.number, node.names,
			nodes->scratch + before, node.count);
	nodes->scratch_count = before;
	return made;
}

static struct retype_term instantiate(
	const struct substitution *s, struct retype_term term, uint32_t room)
{
	struct retype_types *types = s->types;
	const struct retype_node *node = retype_node_of(types, term);
	if (room == 0)
		return RETYPE_NOTHING;
	if ((!node->is_open || s->keeps_variables) && node->depth <= room)
		return term;
	if (node->kind == RETYPE_VARIABLE)
		return cut_term(types, retype_argument(types, s->arguments, node->number), room);
	uint32_t deepest = (uint32_t)node->depth + retype_node_of(types, s->arguments)->depth;
	uint64_t depth = deepest <= room ? RETYPE_BOTTOMLESS : room;
	uint64_t with = s->keeps_variables ? UINT32_MAX : s->arguments.n;
	uint64_t key = (uint64_t)term.n << 32 | with;
	uint32_t found;
	if (retype_memo_find(&types->instances->made, key, depth, &found))
		return (struct retype_term){found};
	struct retype_term made = rebuild_term(s, term, room);
	base_assert(retype_node_of(types, made)->depth <= room);
	if (types->status == HG_OK)
		retype_keep_status(types,
			retype_memo_set(&types->instances->made, key, depth, made.n, types->error));
	return made;
}

struct retype_term retype_instance(struct retype_types *types, struct retype_term term,
	const struct retype_term *arguments, uint32_t count)
{
	struct substitution s = {types, RETYPE_NOTHING, false};
	const struct retype_node *node = retype_node_of(types, term);
	if (!node->is_open && node->depth <= RETYPE_DEEPEST)
		return term;
	if (count > 0)
		s.arguments = retype_tuple(types, arguments, count);
	return instantiate(&s, term, RETYPE_DEEPEST);
}

struct retype_term retype_apply(struct retype_types *types, struct retype_term term,
	struct retype_term applied, uint32_t room)
{
	const struct retype_node *node = retype_node_of(types, term);
	if (!node->is_open && node->depth <= room)
		return term;
	struct substitution s = {types, applied, false};
	return instantiate(&s, term, room);
}

struct retype_term retype_expand(struct retype_types *types, struct retype_term term, uint32_t room)
{
	struct retype_term expanded = term;
	for (unsigned i = 0; i < RETYPE_MOST_EXPANSIONS; i++) {
		const struct retype_declaration *declaration = retype_declared(types, expanded);
		if (declaration && declaration->form == RETYPE_SLOT)
			return retype_constructed(types, RETYPE_BASE_EXTCON, NULL, 0);
		if (!declaration || declaration->form != RETYPE_ALIAS)
			return cut_term(types, expanded, room);
		expanded = retype_apply(types, declaration->inner, expanded, room);
		if (retype_is(expanded, RETYPE_NOTHING))
			break;
	}
	return cut_term(types, term, room);
}

bool retype_is_abstract(const struct retype_types *types, struct retype_term expanded)
{
	const struct retype_node *node = retype_node_of(types, expanded);
	if (node->kind != RETYPE_CONSTRUCTED)
		return node->kind == RETYPE_UNKNOWN || node->kind == RETYPE_VARIABLE;
	const struct retype_declaration *declaration = retype_declared(types, expanded);
	return !declaration || declaration->form == RETYPE_ABSTRACT ||
	       declaration->form == RETYPE_ALIAS || declaration->form == RETYPE_ANY;
}

enum hg_status retype_instances_init(struct retype_types *types)
{
	types->instances = calloc(1, sizeof(*types->instances));
	return types->instances ? HG_OK : base_no_memory(types->error, sizeof(*types->instances));
}

void retype_instances_release(struct retype_types *types)
{
	if (types->instances)
		retype_memo_release(&types->instances->made);
	free(types->instances);
	types->instances = NULL;
}
