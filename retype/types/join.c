/*
 * The join of types.
 *
 * A type is, at each position, a set of heads with arguments.  Heads are ordered: each has at most
 * one that it stands above at once (its parent), so that what lies below a head is a chain, heads
 * form a forest, and sets of heads none of which lies below another form a semilattice under "unite
 * and keep the topmost".  In a forest that never makes a set smaller, hence neither does "more than
 * RETYPE_MOST_ALTERNATIVES are too many" break associativity.  Arguments belong to a head and are
 * joined by the same rule, one position further down.
 */
#include "retype/types/join.h"

#include "retype/types/instance.h"
#include "retype/types/memo.h"
#include "retype/types/nodes.h"
#include "retype/types/predefined.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_HEADS = 2 * RETYPE_MOST_ALTERNATIVES };

/* What a type is by, apart from its arguments. */
struct head {
	enum retype_kind kind; /* RETYPE_UNKNOWN: none */
	uint64_t id;
	const char *const *labels; /* of a tuple, whose parts are as many as 'id'; NULL none */
};

struct retype_joins {
	struct retype_memo made;  /* by both terms and room */
	struct retype_memo named; /* terms with names kept, by both terms */
	struct head *parents;     /* by declaration; made when first needed */
	uint32_t parent_count;
};

struct heads {
	struct retype_term terms[MOST_HEADS];
	uint32_t count;
};

static struct head head_of(const struct retype_types *types, struct retype_term term)
{
	const struct retype_node *node = retype_node_of(types, term);
	struct head head = {(enum retype_kind)node->kind, node->number, NULL};
	if (node->kind == RETYPE_TUPLE) {
		head.id = node->count;
		head.labels = node->names;
	}
	if (node->kind == RETYPE_ARROW)
		head.id = (uint64_t)(uintptr_t)node->names[0];
	return head;
}

static bool is_same_head(struct head a, struct head b)
{
	return a.kind == b.kind && a.id == b.id &&
	       retype_are_labels_equal(a.labels, b.labels, a.id);
}

/* Parents of declarations */

static struct head constructed_head(uint32_t declaration)
{
	return (struct head){RETYPE_CONSTRUCTED, declaration, NULL};
}

/* Of what values of an unboxed type are made, if the declaration alone tells that. */
static struct head unboxed_parent(
	struct retype_types *types, const struct retype_declaration *declaration)
{
	struct retype_term inner = retype_instance(types, declaration->inner, NULL, 0);
	inner = retype_expand(types, inner, RETYPE_DEEPEST);
	struct head head = head_of(types, inner);
	if (retype_is_abstract(types, inner) || head.kind == RETYPE_SET || head.kind == RETYPE_MANY)
		head.kind = RETYPE_UNKNOWN;
	return head;
}

static struct head head_above(
	struct retype_types *types, const struct retype_memo *bodies, uint32_t number)
{
	const struct retype_declaration *declaration = &types->declarations[number];
	uint32_t body;
	if (declaration->origin != RETYPE_NONE &&
		retype_memo_find(bodies, declaration->origin, 0, &body) && body != number)
		return constructed_head(body);
	/* "Digest.t = string", and integers that are abstract: the same values by another name. */
	if (declaration->base) {
		uint32_t base = retype_base_declaration(declaration->base);
		if (base != RETYPE_NONE && base != number)
			return constructed_head(base);
	}
	if (declaration->form == RETYPE_EXTENSIBLE)
		return constructed_head(RETYPE_BASE_EXTCON);
	if (declaration->form == RETYPE_UNBOXED)
		return unboxed_parent(types, declaration);
	return (struct head){0};
}

/* Declarations that lie above themselves lie above nothing. */
static void break_cycles(struct head *parents, uint32_t count, uint32_t *seen)
{
	for (uint32_t start = 0; start < count; start++) {
		uint32_t at = start;
		while (!seen[at] && parents[at].kind == RETYPE_CONSTRUCTED) {
			seen[at] = start + 1;
			at = (uint32_t)parents[at].id;
		}
		if (seen[at] == start + 1)
			parents[at].kind = RETYPE_UNKNOWN;
		seen[at] = start + 1;
	}
}

/*
 * Abstract types that hide one type, as promises and their resolvers do: values may be seen as any
 * of them.  The first one lies above the second, and so on, so that they are the first one.
 */
static void chain_hidden(struct retype_types *types, struct head *parents, uint32_t count)
{
	struct retype_memo next = {0};
	for (uint32_t i = count; i-- > 0;) {
		const struct retype_declaration *declaration = &types->declarations[i];
		uint32_t following, hidden = (uint32_t)parents[i].id;
		if (declaration->form != RETYPE_UNBOXED || !declaration->unboxed.name ||
			declaration->unboxed.name[0] || parents[i].kind != RETYPE_CONSTRUCTED)
			continue;
		if (retype_memo_find(&next, hidden, 0, &following))
			parents[i] = constructed_head(following);
		retype_keep_status(types, retype_memo_set(&next, hidden, 0, i, types->error));
	}
	retype_memo_release(&next);
}

static void find_head_parents(struct retype_types *types)
{
	uint32_t count = types->declaration_count;
	struct retype_memo bodies = {0};
	struct head *parents = calloc((size_t)count + 1, sizeof(*parents));
	uint32_t *seen = calloc((size_t)count + 1, sizeof(*seen));
	for (uint32_t i = count; i-- > 0;)
		if (types->declarations[i].origin != RETYPE_NONE &&
			!types->declarations[i].is_instance)
			retype_keep_status(
				types, retype_memo_set(&bodies, types->declarations[i].origin, 0, i,
					       types->error));
	if (parents && seen) {
		for (uint32_t i = 0; i < count; i++)
			parents[i] = head_above(types, &bodies, i);
		chain_hidden(types, parents, count);
		break_cycles(parents, count, seen);
		free(types->joins->parents);
		types->joins->parents = parents;
		types->joins->parent_count = count;
	} else {
		free(parents);
		retype_keep_status(types, base_no_memory(types->error, count * sizeof(*parents)));
	}
	free(seen);
	retype_memo_release(&bodies);
}

static bool lies_above(const struct retype_types *types, struct head above, struct head below)
{
	while (above.kind == RETYPE_CONSTRUCTED && above.id < types->joins->parent_count) {
		above = types->joins->parents[above.id];
		if (is_same_head(above, below))
			return true;
	}
	return false;
}

/* The order of alternatives: by kind, then by name. */

static int compare_names(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_unsigned(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* By their sizes, then those without labels first. */
static int compare_tuples(const struct retype_node *a, const struct retype_node *b)
{
	int order = compare_unsigned(a->count, b->count);
	if (order == 0)
		order = (a->names != NULL) - (b->names != NULL);
	for (uint32_t i = 0; order == 0 && a->names && i < a->count; i++)
		order = compare_names(a->names[i], b->names[i]);
	return order;
}

static int compare_heads(
	const struct retype_types *types, struct retype_term a, struct retype_term b)
{
	const struct retype_node *x = retype_node_of(types, a), *y = retype_node_of(types, b);
	int order = 0;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->kind == RETYPE_ARROW)
		return compare_names(x->names[0], y->names[0]);
	if (x->kind == RETYPE_TUPLE)
		return compare_tuples(x, y);
	if (x->kind == RETYPE_CONSTRUCTED && x->number < types->declaration_count &&
		y->number < types->declaration_count)
		order = compare_names(
			types->declarations[x->number].name, types->declarations[y->number].name);
	if (x->kind == RETYPE_MODULE && x->number < types->layout_count &&
		y->number < types->layout_count)
		order = compare_names(
			types->layouts[x->number].name, types->layouts[y->number].name);
	return order ? order : compare_unsigned(x->number, y->number);
}

static void sort_heads(const struct retype_types *types, struct heads *heads)
{
	for (uint32_t i = 1; i < heads->count; i++)
		for (uint32_t j = i;
			j > 0 && compare_heads(types, heads->terms[j], heads->terms[j - 1]) < 0;
			j--) {
			struct retype_term swapped = heads->terms[j];
			heads->terms[j] = heads->terms[j - 1];
			heads->terms[j - 1] = swapped;
		}
}

/* Joining */

static struct retype_term join_within(struct retype_types *types, struct retype_term a,
	struct retype_term b, uint32_t room, bool *conflict);

/* Tags and methods that both have once, those of one as they are, in the order of both. */
static struct retype_term join_named(struct retype_types *types, struct retype_term a,
	struct retype_term b, uint32_t room, bool *conflict)
{
	struct retype_node x = *retype_node_of(types, a), y = *retype_node_of(types, b);
	size_t most = (size_t)x.count + y.count;
	const char **names = calloc(most + 1, sizeof(*names));
	struct retype_term *terms = calloc(most + 1, sizeof(*terms)), made = RETYPE_NOTHING;
	uint32_t count = 0;
	if (!names || !terms)
		retype_keep_status(types, base_no_memory(types->error, most * sizeof(*names)));
	for (uint32_t i = 0, j = 0; names && terms && (i < x.count || j < y.count); count++) {
		int order = i == x.count ? 1 : -1;
		if (i < x.count && j < y.count && x.kind == RETYPE_POLY_VARIANT)
			order = (retype_hash_name(x.names[i]) > retype_hash_name(y.names[j])) -
				(retype_hash_name(x.names[i]) < retype_hash_name(y.names[j]));
		else if (i < x.count && j < y.count)
			order = 0;
		if (i < x.count && j < y.count && order == 0)
			order = strcmp(x.names[i], y.names[j]);
		struct retype_term left = RETYPE_NOTHING, right = RETYPE_NOTHING;
		names[count] = order <= 0 ? x.names[i] : y.names[j];
		if (order <= 0)
			left = retype_argument(types, a, i++);
		if (order >= 0)
			right = retype_argument(types, b, j++);
		terms[count] = join_within(types, left, right, room - 1, conflict);
	}
	if (names && terms)
		made = retype_make(types, (enum retype_kind)x.kind, 0, names, terms, count);
	free(names);
	free(terms);
	return made;
}

/* Two terms with the same head. */
static struct retype_term join_arguments(struct retype_types *types, struct retype_term a,
	struct retype_term b, uint32_t room, bool *conflict)
{
	struct retype_nodes *nodes = types->nodes;
	struct retype_node x = *retype_node_of(types, a);
	uint32_t count = retype_node_of(types, b)->count;
	if (retype_is(a, b))
		return a;
	if (x.kind == RETYPE_POLY_VARIANT || x.kind == RETYPE_OBJECT)
		return join_named(types, a, b, room, conflict);
	if (count < x.count)
		count = x.count;
	uint64_t before = nodes->scratch_count;
	for (uint32_t i = 0; i < count; i++)
		retype_push(types, join_within(types, retype_argument(types, a, i),
					   retype_argument(types, b, i), room - 1, conflict));
	struct retype_term made = RETYPE_NOTHING;
	if (nodes->scratch_count - before == count)
		made = retype_make(types, (enum retype_kind)x.kind, x.number, x.names,
			nodes->scratch + before, count);
	nodes->scratch_count = before;
	return made;
}

static void gather_heads(
	const struct retype_types *types, struct retype_term term, struct heads *heads)
{
	const struct retype_node *node = retype_node_of(types, term);
	*heads = (struct heads){.terms = {term}, .count = 1};
	if (node->kind != RETYPE_SET)
		return;
	base_assert(node->count <= RETYPE_MOST_ALTERNATIVES);
	heads->count = node->count;
	memcpy(heads->terms, types->nodes->arguments + node->first,
		node->count * sizeof(*heads->terms));
}

static void unite_heads(struct retype_types *types, struct heads *all, const struct heads *more,
	uint32_t room, bool *conflict)
{
	uint32_t before = all->count;
	for (uint32_t i = 0; i < more->count; i++) {
		struct head head = head_of(types, more->terms[i]);
		uint32_t at = 0;
		while (at < before && !is_same_head(head_of(types, all->terms[at]), head))
			at++;
		if (at < before)
			all->terms[at] = join_arguments(
				types, all->terms[at], more->terms[i], room, conflict);
		else
			all->terms[all->count++] = more->terms[i];
		base_assert(all->count <= MOST_HEADS);
	}
}

/* Keeps concrete types if there are any, and of these the topmost. */
static bool keep_topmost_heads(const struct retype_types *types, struct heads *heads)
{
	struct heads kept = {.count = 0};
	bool concrete = false;
	for (uint32_t i = 0; i < heads->count; i++)
		concrete |= !retype_is_abstract(types, heads->terms[i]);
	for (uint32_t i = 0; i < heads->count; i++) {
		bool is_topmost = !concrete || !retype_is_abstract(types, heads->terms[i]);
		for (uint32_t j = 0; concrete && is_topmost && j < heads->count; j++)
			is_topmost = retype_is_abstract(types, heads->terms[j]) ||
				     !lies_above(types, head_of(types, heads->terms[j]),
					     head_of(types, heads->terms[i]));
		if (is_topmost)
			kept.terms[kept.count++] = heads->terms[i];
	}
	*heads = kept;
	return concrete;
}

static struct retype_term join_heads(struct retype_types *types, struct retype_term a,
	struct retype_term b, uint32_t room, bool *conflict)
{
	struct heads all, more;
	gather_heads(types, a, &all);
	gather_heads(types, b, &more);
	uint32_t most = all.count > more.count ? all.count : more.count;
	unite_heads(types, &all, &more, room, conflict);
	bool concrete = keep_topmost_heads(types, &all);
	if (concrete && all.count > most)
		*conflict = true;
	if (concrete && all.count > RETYPE_MOST_ALTERNATIVES)
		return RETYPE_TOO_MANY;
	if (all.count == 1)
		return all.terms[0];
	sort_heads(types, &all);
	for (uint32_t i = 1; i < all.count; i++)
		base_assert(compare_heads(types, all.terms[i - 1], all.terms[i]) <= 0);
	if (all.count > RETYPE_MOST_ALTERNATIVES)
		all.count = RETYPE_MOST_ALTERNATIVES;
	return retype_make(types, RETYPE_SET, 0, NULL, all.terms, all.count);
}

/* Whether the depth of what comes of it may be more than that of the term itself. */
static bool has_aliases(struct retype_types *types, struct retype_term term)
{
	struct retype_node node = *retype_node_of(types, term);
	if (node.aliases)
		return node.aliases == RETYPE_WITH_ALIASES;
	const struct retype_declaration *declaration = retype_declared(types, term);
	bool has =
		(declaration && declaration->form == RETYPE_ALIAS) || node.depth > RETYPE_DEEPEST;
	for (uint32_t i = 0; !has && i < node.count; i++)
		has = has_aliases(types, retype_argument(types, term, i));
	types->nodes->all[term.n].aliases = has ? RETYPE_WITH_ALIASES : RETYPE_WITHOUT_ALIASES;
	return has;
}

static struct retype_term join_within(struct retype_types *types, struct retype_term a,
	struct retype_term b, uint32_t room, bool *conflict)
{
	enum { CONFLICT = 1u << 31 }; /* terms are fewer */
	if (room == 0)
		return RETYPE_NOTHING;
	if (retype_is(a, b) || retype_is(b, RETYPE_NOTHING))
		return a;
	if (retype_is(a, RETYPE_NOTHING))
		return b;
	if (retype_is(a, RETYPE_TOO_MANY) || retype_is(b, RETYPE_TOO_MANY))
		return RETYPE_TOO_MANY;
	uint64_t pair = a.n < b.n ? (uint64_t)a.n << 32 | b.n : (uint64_t)b.n << 32 | a.n;
	uint64_t depth = has_aliases(types, a) || has_aliases(types, b) ? room : RETYPE_BOTTOMLESS;
	uint32_t found;
	if (!retype_memo_find(&types->joins->made, pair, depth, &found)) {
		bool clash = false;
		a = retype_expand(types, a, room);
		b = retype_expand(types, b, room);
		struct retype_term joined = RETYPE_TOO_MANY;
		if (retype_is(a, b))
			joined = a;
		else if (!retype_is(a, RETYPE_TOO_MANY) && !retype_is(b, RETYPE_TOO_MANY))
			joined = join_heads(types, a, b, room, &clash);
		base_assert(joined.n < types->nodes->count);
		found = joined.n | (clash ? CONFLICT : 0);
		if (types->status == HG_OK)
			retype_keep_status(types, retype_memo_set(&types->joins->made, pair, depth,
							  found, types->error));
	}
	*conflict |= (found & CONFLICT) != 0;
	return (struct retype_term){found & ~CONFLICT};
}

struct retype_term retype_join(
	struct retype_types *types, struct retype_term a, struct retype_term b, bool *conflict)
{
	bool clash = false;
	if (types->joins->parent_count != types->declaration_count)
		find_head_parents(types);
	struct retype_term joined = join_within(types, a, b, RETYPE_DEEPEST, &clash);
	if (conflict)
		*conflict |= clash;
	return joined;
}

/* Two terms with the same head and as many arguments. */
static struct retype_term keep_names_inside(
	struct retype_types *types, struct retype_term term, struct retype_term named)
{
	struct retype_nodes *nodes = types->nodes;
	struct retype_node node = *retype_node_of(types, term);
	struct retype_term made = RETYPE_NOTHING;
	uint64_t before = nodes->scratch_count;
	for (uint32_t i = 0; i < node.count; i++)
		retype_push(types, retype_keep_names(types, retype_argument(types, term, i),
					   retype_argument(types, named, i)));
	if (nodes->scratch_count - before == node.count)
		made = retype_make(types, (enum retype_kind)node.kind, node.number, node.names,
			nodes->scratch + before, node.count);
	nodes->scratch_count = before;
	return made;
}

static bool has_same_names(const struct retype_node *a, const struct retype_node *b)
{
	uint32_t count = a->kind == RETYPE_POLY_VARIANT || a->kind == RETYPE_OBJECT ? a->count : 0;
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(a->names[i], b->names[i]) != 0)
			return false;
	return true;
}

struct retype_term retype_keep_names(
	struct retype_types *types, struct retype_term term, struct retype_term named)
{
	uint32_t found;
	if (retype_is(term, named) || !has_aliases(types, named))
		return term;
	if (retype_memo_find(&types->joins->named, term.n, named.n, &found))
		return (struct retype_term){found};
	struct retype_term stands_for = retype_expand(types, named, RETYPE_DEEPEST), kept = term;
	const struct retype_node *a = retype_node_of(types, term);
	const struct retype_node *b = retype_node_of(types, stands_for);
	if (!retype_is(term, stands_for) && a->kind != RETYPE_SET && a->count == b->count &&
		is_same_head(head_of(types, term), head_of(types, stands_for)) &&
		has_same_names(a, b))
		kept = keep_names_inside(types, term, stands_for);
	if (retype_is(kept, stands_for))
		kept = named;
	if (types->status == HG_OK)
		retype_keep_status(types, retype_memo_set(&types->joins->named, term.n, named.n,
						  kept.n, types->error));
	return kept;
}

enum hg_status retype_joins_init(struct retype_types *types)
{
	types->joins = calloc(1, sizeof(*types->joins));
	return types->joins ? HG_OK : base_no_memory(types->error, sizeof(*types->joins));
}

void retype_joins_release(struct retype_types *types)
{
	if (types->joins) {
		retype_memo_release(&types->joins->made);
		retype_memo_release(&types->joins->named);
		free(types->joins->parents);
	}
	free(types->joins);
	types->joins = NULL;
}
