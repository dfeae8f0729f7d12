/*
 * The shape of Typedtree of 4.00.1, as a table, and the walk that it drives.
 */
#include "retype/legacy/walk.h"

#include "retype/legacy/scopes.h"
#include "retype/legacy/unit.h"

enum node {
	NONE,
	EXPRESSION,
	CASE,     /* (pattern, expression) */
	ARGUMENT, /* (label, expression option, optional) */
	FIELD,    /* (path, lid, label, expression) */
	OVERRIDE, /* (path, name, expression); also (ident, name, expression) of classes */
	STRUCTURE,
	ITEM,
	RECMODULE, /* (ident, name, module type, module expression) */
	MODULE,
	CLASS_TRIPLE, /* (class_declaration, _, _) */
	CLASS_INFOS,
	CLASS,
	CLASS_STRUCTURE,
	CLASS_FIELD,
	CLASS_KIND,
	PART, /* of a unit that does not compile */
	NODES
};

enum how { ONE, OPTION, LIST };

struct rule {
	uint8_t field, how, node;
};

enum { MOST_RULES = 4, MOST_TAGS = 29 };

/* Rules by tag: of the description in field 0, or of the node itself. */
struct shape {
	bool is_described;
	struct rule rules[MOST_TAGS][MOST_RULES];
};

static const struct shape shapes[NODES] = {
	[EXPRESSION] = {true,
		{
			[2] = {{1, LIST, CASE}, {2, ONE, EXPRESSION}},
			[3] = {{1, LIST, CASE}},
			[4] = {{0, ONE, EXPRESSION}, {1, LIST, ARGUMENT}},
			[5] = {{0, ONE, EXPRESSION}, {1, LIST, CASE}},
			[6] = {{0, ONE, EXPRESSION}, {1, LIST, CASE}},
			[7] = {{0, LIST, EXPRESSION}},
			[8] = {{3, LIST, EXPRESSION}},
			[9] = {{1, OPTION, EXPRESSION}},
			[10] = {{0, LIST, FIELD}, {1, OPTION, EXPRESSION}},
			[11] = {{0, ONE, EXPRESSION}},
			[12] = {{0, ONE, EXPRESSION}, {4, ONE, EXPRESSION}},
			[13] = {{0, LIST, EXPRESSION}},
			[14] = {{0, ONE, EXPRESSION}, {1, ONE, EXPRESSION},
				{2, OPTION, EXPRESSION}},
			[15] = {{0, ONE, EXPRESSION}, {1, ONE, EXPRESSION}},
			[16] = {{0, ONE, EXPRESSION}, {1, ONE, EXPRESSION}},
			[17] = {{2, ONE, EXPRESSION}, {3, ONE, EXPRESSION}, {5, ONE, EXPRESSION}},
			[18] = {{0, ONE, EXPRESSION}, {1, ONE, EXPRESSION}},
			[19] = {{0, ONE, EXPRESSION}, {2, OPTION, EXPRESSION}},
			[22] = {{3, ONE, EXPRESSION}},
			[23] = {{1, LIST, OVERRIDE}},
			[24] = {{2, ONE, MODULE}, {3, ONE, EXPRESSION}},
			[25] = {{0, ONE, EXPRESSION}},
			[26] = {{0, ONE, EXPRESSION}},
			[27] = {{0, ONE, CLASS_STRUCTURE}},
			[28] = {{0, ONE, MODULE}},
		}},
	[CASE] = {false, {[0] = {{1, ONE, EXPRESSION}}}},
	[ARGUMENT] = {false, {[0] = {{1, OPTION, EXPRESSION}}}},
	[FIELD] = {false, {[0] = {{3, ONE, EXPRESSION}}}},
	[OVERRIDE] = {false, {[0] = {{2, ONE, EXPRESSION}}}},
	[STRUCTURE] = {false, {[0] = {{0, LIST, ITEM}}}},
	[ITEM] = {true,
		{
			[0] = {{0, ONE, EXPRESSION}},
			[1] = {{1, LIST, CASE}},
			[6] = {{2, ONE, MODULE}},
			[7] = {{0, LIST, RECMODULE}},
			[10] = {{0, LIST, CLASS_TRIPLE}},
			[12] = {{0, ONE, MODULE}},
		}},
	[RECMODULE] = {false, {[0] = {{3, ONE, MODULE}}}},
	[MODULE] = {true,
		{
			[1] = {{0, ONE, STRUCTURE}},
			[2] = {{3, ONE, MODULE}},
			[3] = {{0, ONE, MODULE}, {1, ONE, MODULE}},
			[4] = {{0, ONE, MODULE}},
			[5] = {{0, ONE, EXPRESSION}},
		}},
	[CLASS_TRIPLE] = {false, {[0] = {{0, ONE, CLASS_INFOS}}}},
	[CLASS_INFOS] = {false, {[0] = {{7, ONE, CLASS}}}},
	[CLASS] = {true,
		{
			[1] = {{0, ONE, CLASS_STRUCTURE}},
			[2] = {{2, LIST, OVERRIDE}, {3, ONE, CLASS}},
			[3] = {{0, ONE, CLASS}, {1, LIST, ARGUMENT}},
			[4] = {{1, LIST, CASE}, {2, LIST, OVERRIDE}, {3, ONE, CLASS}},
			[5] = {{0, ONE, CLASS}},
		}},
	[CLASS_STRUCTURE] = {false, {[0] = {{1, LIST, CLASS_FIELD}}}},
	[CLASS_FIELD] = {true,
		{
			[0] = {{1, ONE, CLASS}},
			[1] = {{4, ONE, CLASS_KIND}},
			[2] = {{3, ONE, CLASS_KIND}},
			[4] = {{0, ONE, EXPRESSION}},
		}},
	[CLASS_KIND] = {false, {[1] = {{0, ONE, EXPRESSION}}}},
	[PART] = {false,
		{
			[0] = {{0, ONE, STRUCTURE}},
			[1] = {{0, ONE, ITEM}},
			[2] = {{0, ONE, EXPRESSION}},
			[4] = {{0, ONE, CLASS}},
		}},
};

/* Tags of descriptions that define something. */
enum { EXPRESSION_LET_MODULE = 24, ITEM_MODULE = 6, ITEM_INCLUDE = 12 };
enum { MODULE_FUNCTOR = 2, MODULE_APPLY = 3 };

struct step {
	struct snap_value value;
	uint32_t scope;
	uint8_t node;
};

struct walk {
	struct cmt_reader *r;
	const struct snap_marshal *m;
	uint32_t unit;
	struct step *steps;
	uint64_t count, capacity;
	struct base_map seen; /* blocks met: in a damaged file the tree may be none */
};

static void push_step(struct walk *w, struct snap_value value, enum node node, uint32_t scope)
{
	struct cmt_reader *r = w->r;
	if (r->status == HG_OK)
		r->status =
			base_grow(&w->steps, w->count, &w->capacity, sizeof(*w->steps), r->error);
	if (r->status == HG_OK)
		w->steps[w->count++] = (struct step){value, scope, (uint8_t)node};
}

static uint32_t inner_scope(struct walk *w, uint32_t parent, const char *name, uint32_t stamp)
{
	return cmt_scope_new(w->r,
		(struct cmt_scope){
			.unit = w->unit, .parent = parent, .name = name, .functor_stamp = stamp});
}

/* The scope of what a rule leads to: modules have one of their own, others that of the node. */
static uint32_t scope_within(
	struct walk *w, const struct step *step, struct snap_value desc, const struct rule *rule)
{
	const struct snap_marshal *m = w->m;
	struct cmt_reader *r = w->r;
	int tag = snap_marshal_tag(m, desc);
	struct snap_value ident = snap_marshal_field(m, desc, 0);
	if (rule->node != MODULE)
		return step->scope;
	if (step->node == EXPRESSION && tag == EXPRESSION_LET_MODULE) {
		cmt_register_module(r, ident, snap_marshal_field(m, desc, 2), step->scope);
		return inner_scope(
			w, step->scope, cmt_string(r, m, snap_marshal_field(m, ident, 1)), 0);
	}
	if (step->node == ITEM && tag == ITEM_MODULE)
		return inner_scope(
			w, step->scope, cmt_string(r, m, snap_marshal_field(m, ident, 1)), 0);
	if (step->node == RECMODULE)
		return inner_scope(w, step->scope,
			cmt_string(r, m,
				snap_marshal_field(m, snap_marshal_field(m, step->value, 0), 1)),
			0);
	if (step->node == MODULE && tag == MODULE_FUNCTOR) {
		/* ident, name, Typedtree.module_type, body */
		int64_t stamp = cmt_int(m, ident, 0, 0);
		uint32_t scope = inner_scope(w, step->scope, NULL,
			stamp > 0 && stamp <= INT32_MAX ? (uint32_t)stamp : 0);
		if (scope != RETYPE_NONE)
			cmt_register_parameter(r, ident,
				snap_marshal_field(m, snap_marshal_field(m, desc, 2), 1), scope);
		return scope;
	}
	if (step->node == MODULE && tag != MODULE_APPLY)
		return step->scope;
	return inner_scope(w, step->scope, NULL, 0);
}

/* Each block is visited once, also the cells of lists. */
static bool is_unvisited(struct walk *w, struct snap_value value)
{
	uint32_t number;
	if (w->r->status != HG_OK || snap_marshal_tag(w->m, value) < 0 ||
		base_map_number(&w->seen, value.bits, &number))
		return false;
	w->r->status = base_map_set(&w->seen, value.bits, 0, w->r->error);
	return w->r->status == HG_OK;
}

static void push_list(struct walk *w, struct snap_value value, enum node node, uint32_t scope)
{
	struct cmt_list list = cmt_read_list(w->m, value);
	struct snap_value element;
	uint64_t first = w->count;
	while (is_unvisited(w, list.rest) && cmt_next(&list, &element))
		push_step(w, element, node, scope);
	/* The first one is to be popped first. */
	for (uint64_t i = first, j = w->count; i + 1 < j; i++) {
		struct step step = w->steps[--j];
		w->steps[j] = w->steps[i];
		w->steps[i] = step;
	}
}

static void follow_rule(
	struct walk *w, const struct step *step, struct snap_value desc, const struct rule *rule)
{
	struct snap_value value = snap_marshal_field(w->m, desc, rule->field);
	uint32_t scope = scope_within(w, step, desc, rule);
	if (scope == RETYPE_NONE)
		return;
	if (rule->how == LIST)
		push_list(w, value, (enum node)rule->node, scope);
	else
		push_step(w, rule->how == OPTION ? cmt_some(w->m, value) : value,
			(enum node)rule->node, scope);
}

/* Definitions are registered before what refers to them, as those of a structure may be recursive.
 */
static void define_step(struct walk *w, const struct step *step)
{
	const struct snap_marshal *m = w->m;
	if (step->node == STRUCTURE) {
		struct cmt_list list = cmt_read_list(m, snap_marshal_field(m, step->value, 0));
		struct snap_value item;
		while (cmt_next_definition(w->r, step->scope, &list, &item))
			cmt_register_item(w->r, item, step->scope);
		cmt_register_signature(w->r, snap_marshal_field(m, step->value, 1), step->scope);
	}
	if (step->node == STRUCTURE || step->node == MODULE)
		cmt_scope_remember(w->r, w->unit, step->value, step->scope);
}

static void visit_step(struct walk *w, struct step step, cmt_meet_fn *meet)
{
	const struct shape *shape = &shapes[step.node];
	if (!is_unvisited(w, step.value))
		return;
	struct snap_value desc =
		shape->is_described ? snap_marshal_field(w->m, step.value, 0) : step.value;
	int tag = snap_marshal_tag(w->m, desc);
	define_step(w, &step);
	if (step.node == EXPRESSION && meet)
		meet(w->r, w->unit, step.value);
	if (tag < 0 || tag >= MOST_TAGS)
		return;
	const struct rule *rules = shape->rules[tag];
	for (unsigned i = MOST_RULES; i-- > 0;)
		if (rules[i].node != NONE)
			follow_rule(w, &step, desc, &rules[i]);
}

/* A unit that did not compile is an array of parts, of which each is defined in the same scope. */
static void push_parts(struct walk *w, struct snap_value parts, uint32_t scope)
{
	for (uint32_t i = snap_marshal_size(w->m, parts); i-- > 0;) {
		struct snap_value part = snap_marshal_field(w->m, parts, i);
		if (snap_marshal_tag(w->m, part) == 1)
			cmt_register_item(w->r, snap_marshal_field(w->m, part, 0), scope);
		push_step(w, part, PART, scope);
	}
}

void cmt_walk(struct cmt_reader *r, uint32_t unit, cmt_meet_fn *meet)
{
	struct cmt_unit *u = r->units[unit];
	struct walk w = {.r = r, .m = &u->m, .unit = unit};
	if (u->scope == RETYPE_NONE)
		u->scope = cmt_scope_new(r,
			(struct cmt_scope){.unit = unit, .parent = RETYPE_NONE, .name = u->name});
	if (u->scope == RETYPE_NONE)
		return;
	if (u->is_partial)
		push_parts(&w, u->tree, u->scope);
	else if (!snap_value_absent(u->tree))
		push_step(&w, u->tree, STRUCTURE, u->scope);
	else
		cmt_register_signature(r, u->facade, u->scope);
	while (w.count && r->status == HG_OK)
		visit_step(&w, w.steps[--w.count], meet);
	base_assert(w.count == 0 || r->status != HG_OK);
	u->is_registered = true;
	base_map_release(&w.seen);
	free(w.steps);
}
