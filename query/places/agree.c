/*
 * Types are compared position by position, without making new ones.  Terms are at most
 * RETYPE_DEEPEST deep; as they share their parts the work is limited, too.
 */
#include "query/places/agree.h"

enum { MOST_HIDDEN = 8 };

struct retype_term query_bare_type(struct retype_types *types, struct retype_term type)
{
	type = retype_expand(types, type, RETYPE_DEEPEST);
	for (unsigned i = 0; i < MOST_HIDDEN; i++) {
		struct retype_view view = retype_view_of(types, type);
		if (view.kind != RETYPE_CONSTRUCTED)
			break;
		const struct retype_declaration *declaration = &types->declarations[view.number];
		/* Unboxed types with a constructor or field are types of their own. */
		if (declaration->form != RETYPE_UNBOXED || !declaration->unboxed.name ||
			declaration->unboxed.name[0])
			break;
		struct retype_term hidden =
			retype_apply(types, declaration->inner, type, RETYPE_DEEPEST);
		hidden = retype_expand(types, hidden, RETYPE_DEEPEST);
		if (!hidden.n)
			break;
		type = hidden;
	}
	return type;
}

enum { KIND_SHIFT = 40, ORIGIN_BIT = 36 };

/*
 * The predefined type that a declared one is by another name, as Digest.t is string; the number
 * itself if it is none.  Custom blocks have nothing in common.
 */
static uint32_t predefined_of(const struct retype_types *types, uint32_t number)
{
	const char *name = types->declarations[number].base;
	uint32_t base = name ? retype_base_declaration(name) : RETYPE_NONE;
	return base <= RETYPE_BASE_NATIVEINT ? base : number;
}

/* Instances of a functor are as its body. */
static uint64_t head_of_constructor(const struct retype_types *types, uint32_t number)
{
	uint32_t origin = types->declarations[number].origin, base = predefined_of(types, number);
	return base != number || origin == RETYPE_NONE ? base : (uint64_t)1 << ORIGIN_BIT | origin;
}

/* Of any type but a function; 0: it may agree with any. */
static uint64_t head_of_value(const struct retype_types *types, struct retype_term type)
{
	struct retype_view view = retype_view_of(types, type);
	uint64_t kind = (uint64_t)view.kind << KIND_SHIFT;
	switch (view.kind) {
	case RETYPE_CONSTRUCTED:
		return kind | head_of_constructor(types, view.number);
	case RETYPE_TUPLE:
		return kind | view.count;
	case RETYPE_MODULE:
		return kind | view.number;
	case RETYPE_ARROW:
	case RETYPE_POLY_VARIANT:
	case RETYPE_OBJECT:
		return kind;
	default:
		return 0;
	}
}

/* There are many functions: they are told apart by their parameter, folded into the bits there are.
 */
static uint64_t head_of_parameter(struct retype_types *types, struct retype_term function)
{
	struct retype_term type =
		query_bare_type(types, retype_view_of(types, function).arguments[0]);
	uint64_t head =
		type.n == 0 || retype_is_abstract(types, type) ? 0 : head_of_value(types, type);
	return head == 0 ? 0 : (head * UINT64_C(0x9e3779b97f4a7c15) >> (64 - KIND_SHIFT)) | 1;
}

uint64_t query_type_head(struct retype_types *types, struct retype_term type)
{
	uint64_t head = head_of_value(types, type);
	bool is_function = retype_view_of(types, type).kind == RETYPE_ARROW;
	return is_function ? head | head_of_parameter(types, type) : head;
}

uint64_t query_general_head(uint64_t head)
{
	uint64_t kind = head >> KIND_SHIFT << KIND_SHIFT;
	return kind == (uint64_t)RETYPE_ARROW << KIND_SHIFT ? kind : head;
}

uint64_t query_last_head(uint64_t head)
{
	bool is_any_function = head == (uint64_t)RETYPE_ARROW << KIND_SHIFT;
	return is_any_function ? head | (((uint64_t)1 << KIND_SHIFT) - 1) : head;
}

static enum query_agreement worse(enum query_agreement a, enum query_agreement b)
{
	return a < b ? a : b;
}

static struct retype_term part_of(
	const struct retype_types *types, struct retype_term type, uint32_t i)
{
	return retype_view_of(types, type).arguments[i];
}

static enum query_agreement agree_in_parts(struct retype_types *types, struct retype_term wanted,
	struct retype_term made, unsigned *work)
{
	uint32_t count = retype_view_of(types, wanted).count;
	enum query_agreement all = QUERY_AGREES;
	if (count != retype_view_of(types, made).count)
		return QUERY_DISAGREES;
	for (uint32_t i = 0; i < count && all != QUERY_DISAGREES; i++)
		all = worse(all, query_agree(types, part_of(types, wanted, i),
					 part_of(types, made, i), work));
	return all;
}

/* Tags of poly variants and methods of objects: what both have must agree. */
static enum query_agreement agree_in_names(struct retype_types *types, struct retype_term wanted,
	struct retype_term made, unsigned *work)
{
	uint32_t count = retype_view_of(types, wanted).count;
	uint32_t others = retype_view_of(types, made).count, common = 0;
	enum query_agreement all = QUERY_AGREES;
	for (uint32_t i = 0; i < count && all != QUERY_DISAGREES; i++) {
		const char *name = retype_view_of(types, wanted).names[i];
		uint32_t j = 0;
		while (j < others && retype_view_of(types, made).names[j] != name)
			j++;
		if (j == others)
			continue;
		common++;
		all = worse(all, query_agree(types, part_of(types, wanted, i),
					 part_of(types, made, j), work));
	}
	if (common == 0 && count && others)
		return QUERY_DISAGREES;
	return common == count && common == others ? all : worse(all, QUERY_AGREES_IN_GENERAL);
}

/* Of equal kinds. */
static enum query_agreement agree_in_heads(struct retype_types *types, struct retype_term wanted,
	struct retype_term made, unsigned *work)
{
	struct retype_view x = retype_view_of(types, wanted), y = retype_view_of(types, made);
	switch (x.kind) {
	case RETYPE_CONSTRUCTED: {
		if (x.number == y.number)
			return agree_in_parts(types, wanted, made, work);
		const struct retype_declaration *a = &types->declarations[x.number],
						*b = &types->declarations[y.number];
		if (a->origin != RETYPE_NONE && a->origin == b->origin)
			return a->is_instance && b->is_instance ? QUERY_DISAGREES
								: QUERY_AGREES_IN_GENERAL;
		return predefined_of(types, x.number) == predefined_of(types, y.number)
			       ? QUERY_AGREES_IN_GENERAL
			       : QUERY_DISAGREES;
	}
	case RETYPE_TUPLE:
		return x.count == y.count && retype_are_labels_equal(x.names, y.names, x.count)
			       ? agree_in_parts(types, wanted, made, work)
			       : QUERY_DISAGREES;
	case RETYPE_ARROW:
		return x.names[0] == y.names[0] ? agree_in_parts(types, wanted, made, work)
						: QUERY_DISAGREES;
	case RETYPE_POLY_VARIANT:
	case RETYPE_OBJECT:
		return agree_in_names(types, wanted, made, work);
	case RETYPE_MODULE:
		return x.number == y.number ? QUERY_AGREES : QUERY_DISAGREES;
	default:
		return agree_in_parts(types, wanted, made, work);
	}
}

/* The best of a type that is several at once. */
static enum query_agreement agree_with_any(struct retype_types *types, struct retype_term wanted,
	struct retype_term made, bool wanted_is_set, unsigned *work)
{
	struct retype_term set = wanted_is_set ? wanted : made;
	uint32_t count = retype_view_of(types, set).count;
	enum query_agreement best = QUERY_DISAGREES;
	for (uint32_t i = 0; i < count && best != QUERY_AGREES; i++) {
		struct retype_term one = part_of(types, set, i);
		enum query_agreement found = wanted_is_set ? query_agree(types, one, made, work)
							   : query_agree(types, wanted, one, work);
		best = found > best ? found : best;
	}
	return best;
}

enum query_agreement query_agree_bare(struct retype_types *types, struct retype_term wanted,
	struct retype_term made, unsigned *work)
{
	if (retype_is(wanted, made))
		return QUERY_AGREES;
	enum retype_kind a = retype_view_of(types, wanted).kind;
	enum retype_kind b = retype_view_of(types, made).kind;
	if (a == RETYPE_SET || b == RETYPE_SET)
		return agree_with_any(types, wanted, made, a == RETYPE_SET, work);
	if (a == RETYPE_MANY || b == RETYPE_MANY || retype_is_abstract(types, wanted) ||
		retype_is_abstract(types, made))
		return QUERY_AGREES_IN_GENERAL;
	return a == b ? agree_in_heads(types, wanted, made, work) : QUERY_DISAGREES;
}

enum query_agreement query_agree(struct retype_types *types, struct retype_term wanted,
	struct retype_term made, unsigned *work)
{
	if (retype_is(wanted, made) || wanted.n == 0)
		return QUERY_AGREES;
	if (made.n == 0 || *work == 0)
		return QUERY_AGREES_IN_GENERAL;
	--*work;
	return query_agree_bare(
		types, query_bare_type(types, wanted), query_bare_type(types, made), work);
}
