/* With a stack of its own, as a trie is as deep as the program's calls were. */
#include "trace/spacetime/walk.h"

#include "trace/spacetime/fit.h"

#include "base/bits.h"
#include "base/grow.h"

#include <string.h>

enum { ADDRESS, TAIL_LINK, NODE_PARTS };                         /* fields of an OCaml node */
enum { C_ADDRESS, C_CALLEE, C_COUNT, C_LINK, C_NEXT, C_FIELDS }; /* of a C node */
enum { OCAML_TAG, C_TAG };

/* What is to be done; the last one first. */
enum task { ENTER_OCAML, GO_ON_IN_OCAML, GO_ON_IN_C, GO_ON_WITH_CALLEES };

struct todo {
	enum task task;
	uint32_t caller;
	struct snap_field value; /* a node, or the rest of a list of C nodes */
	/* Of an OCaml node: what is left of its fields, the next part, and its first field. */
	struct snap_fields fields;
	uint32_t part, at;
	uint32_t shape;
	uint32_t places; /* index + 1 of those of its parts; 0: they follow each other */
};

struct trie_walk {
	struct spacetime_walk *walk;
	struct snap_sparse trie;
	uint64_t *visited; /* bits of objects */
	struct todo *todo;
	uint64_t depth, capacity;
	uint32_t *places;
	uint64_t place_count, place_capacity;
};

static enum hg_status push_todo(
	struct trie_walk *w, enum task task, struct snap_field value, uint32_t caller)
{
	BASE_TRY(base_grow(&w->todo, w->depth, &w->capacity, sizeof(*w->todo), w->walk->error));
	w->todo[w->depth++] = (struct todo){.task = task, .value = value, .caller = caller};
	return HG_OK;
}

static void pop_todo(struct trie_walk *w)
{
	const struct todo *top = &w->todo[--w->depth];
	if (top->task == GO_ON_IN_OCAML && top->places)
		w->place_count = top->places - 1;
}

static enum hg_status add_walk_frame(
	struct spacetime_walk *walk, uint64_t pc, uint32_t caller, bool in_c, uint32_t *frame)
{
	if (walk->path_only) {
		*frame = caller + 1;
		if (*frame > walk->deepest)
			walk->deepest = *frame;
		return HG_OK;
	}
	if (walk->frame_count == UINT32_MAX)
		return base_fail(walk->error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many calls");
	BASE_TRY(base_grow(&walk->frames, walk->frame_count, &walk->frame_capacity,
		sizeof(*walk->frames), walk->error));
	*frame = (uint32_t)walk->frame_count;
	walk->frames[walk->frame_count++] = (struct spacetime_frame){pc, caller, in_c};
	return HG_OK;
}

static uint64_t function_of_node(int64_t first)
{
	return spacetime_word(first) & ~UINT64_C(1);
}

/* With the shape of its function, + 1: looking it up while reading takes less time than later. */
static uint32_t mark_node(const void *data, int64_t first)
{
	const struct spacetime_tables *tables = data;
	uint32_t shape;
	return base_map_number(&tables->shape_of, function_of_node(first), &shape) ? shape + 1 : 0;
}

enum node_kind { NO_NODE, OCAML_NODE, C_NODE };

static enum node_kind node_kind_of(const struct snap_object *object)
{
	if (object->tag == OCAML_TAG && object->fields.size >= NODE_PARTS)
		return OCAML_NODE;
	return object->tag == C_TAG && object->fields.size == C_FIELDS ? C_NODE : NO_NODE;
}

/* What a field leads to; fields are those of a node only. */
static enum node_kind find_node(
	const struct trie_walk *w, const struct snap_field *value, struct snap_fields *fields)
{
	if (value->kind != SNAP_FIELD_OBJECT)
		return NO_NODE;
	const struct snap_object object = snap_sparse_object(&w->trie, value->object);
	*fields = object.fields;
	const uint32_t mark = w->trie.extents[value->object].mark;
	if (mark)
		__builtin_prefetch(&w->walk->tables->shapes[mark - 1]);
	return node_kind_of(&object);
}

/* False if it was before. */
static bool visit(struct trie_walk *w, uint32_t object)
{
	if (base_bit(w->visited, object))
		return false;
	base_bit_set(w->visited, object);
	return true;
}

static enum hg_status push_node(struct trie_walk *w, enum node_kind kind,
	const struct snap_field *node, const struct snap_fields *fields, uint32_t caller)
{
	BASE_TRY(push_todo(w, kind == OCAML_NODE ? ENTER_OCAML : GO_ON_IN_C, *node, caller));
	w->todo[w->depth - 1].fields = *fields;
	return HG_OK;
}

/* A node of either kind, or an int: nothing was called. */
static enum hg_status push_callee(
	struct trie_walk *w, const struct snap_field *callee, uint32_t caller)
{
	struct snap_fields fields;
	const enum node_kind kind = find_node(w, callee, &fields);
	if (kind == NO_NODE) {
		w->walk->damaged += callee->kind != SNAP_FIELD_INT;
		return HG_OK;
	}
	return push_node(w, kind, callee, &fields, caller);
}

/* Where the parts of a node are; none if that is not known. */
static enum hg_status find_parts(
	struct trie_walk *w, struct todo *todo, const struct spacetime_shape *shape)
{
	struct spacetime_walk *walk = w->walk;
	if (NODE_PARTS + shape->words == todo->fields.size)
		return HG_OK;
	const struct snap_object node = snap_sparse_object(&w->trie, todo->value.object);
	BASE_TRY(base_grow_by(&w->places, w->place_count, shape->count, &w->place_capacity,
		sizeof(*w->places), walk->error));
	if (!spacetime_fit(walk->tables, &w->trie, &node, shape, &walk->fit_work,
		    w->places + w->place_count)) {
		walk->misfits++;
		todo->part = shape->count;
		return HG_OK;
	}
	walk->repaired++;
	todo->places = (uint32_t)w->place_count + 1;
	w->place_count += shape->count;
	return HG_OK;
}

/* A function without a shape has no parts. */
static enum hg_status enter_ocaml(struct trie_walk *w)
{
	struct spacetime_walk *walk = w->walk;
	struct todo *top = &w->todo[w->depth - 1];
	uint32_t caller = top->caller;
	if (!visit(w, top->value.object)) {
		pop_todo(w);
		return HG_OK;
	}
	const uint32_t mark = w->trie.extents[top->value.object].mark;
	const int64_t first = snap_sparse_next(&w->trie, &top->fields).number;
	const struct snap_field link = snap_sparse_next(&w->trie, &top->fields);
	walk->nodes++;
	const struct spacetime_step step = {
		.kind = SPACETIME_NODE, .function = function_of_node(first), .caller = caller};
	BASE_TRY(walk->step(walk->data, &step));
	bool alone = link.kind == SNAP_FIELD_OBJECT && link.object == top->value.object;
	top->shape = mark - 1;
	if (mark || base_map_number(&walk->tables->shape_of, step.function, &top->shape)) {
		top->task = GO_ON_IN_OCAML;
		top->at = NODE_PARTS;
		BASE_TRY(find_parts(w, top, &walk->tables->shapes[top->shape]));
	} else {
		pop_todo(w);
	}
	if (alone)
		return HG_OK;
	struct snap_fields fields;
	if (find_node(w, &link, &fields) == OCAML_NODE)
		return push_node(w, OCAML_NODE, &link, &fields, caller);
	walk->damaged++;
	return HG_OK;
}

/* A field of the node at the top of what is to be done; no earlier one is asked for then. */
static struct snap_field field_of_top(struct trie_walk *w, uint32_t at)
{
	return snap_sparse_field(&w->trie, &w->todo[w->depth - 1].fields, at);
}

/* Whether that field is the int 0, as it is mostly written; what is left then begins behind it. */
static bool is_zero_at(const struct trie_walk *w, struct snap_fields *fields, uint32_t at)
{
	while (fields->number <= at) {
		snap_sparse_pass_zeros(&w->trie, fields);
		if (fields->number >= at)
			return fields->number > at;
		snap_sparse_next(&w->trie, fields);
	}
	return true;
}

static uint64_t pc_of_part(const struct spacetime_walk *walk, uint32_t part)
{
	return walk->path_only ? 0 : walk->tables->parts[part].pc;
}

static enum hg_status walk_direct_call(
	struct trie_walk *w, uint32_t part, uint32_t at, uint32_t caller)
{
	struct spacetime_walk *walk = w->walk;
	const struct snap_field field = field_of_top(w, at), *callee = &field;
	uint32_t frame;
	if (callee->kind == SNAP_FIELD_INT)
		return HG_OK;
	struct snap_fields fields;
	const enum node_kind kind = find_node(w, callee, &fields);
	if (kind == NO_NODE) {
		walk->damaged++;
		return HG_OK;
	}
	const uint64_t pc = pc_of_part(walk, part);
	const struct spacetime_step step = {
		.kind = kind == OCAML_NODE ? SPACETIME_CALLS : SPACETIME_CALLS_C,
		.pc = pc,
		.caller = caller,
		.function = walk->path_only ? 0 : walk->tables->parts[part].callee,
		.count = walk->tables->call_counts ? field_of_top(w, at + 1).number : 0};
	BASE_TRY(walk->step(walk->data, &step));
	BASE_TRY(add_walk_frame(walk, pc, caller, false, &frame));
	return push_node(w, kind, callee, &fields, frame);
}

static enum hg_status walk_allocation(
	struct trie_walk *w, uint32_t part, uint32_t at, uint32_t caller)
{
	const int64_t named = field_of_top(w, at).number, words = field_of_top(w, at + 1).number;
	const struct spacetime_step step = {.kind = SPACETIME_ALLOCATES,
		.pc = pc_of_part(w->walk, part),
		.caller = caller,
		.annotation = (uint32_t)(spacetime_word(named) >> 38),
		.words = words};
	return named || w->walk->unused ? w->walk->step(w->walk->data, &step) : HG_OK;
}

static enum hg_status walk_part(struct trie_walk *w, uint32_t part, uint32_t at)
{
	struct spacetime_walk *walk = w->walk;
	const enum spacetime_part_kind kind = spacetime_form_kind(walk->tables->forms[part]);
	const uint32_t caller = w->todo[w->depth - 1].caller;
	uint32_t frame;
	if (kind == SPACETIME_DIRECT)
		return walk_direct_call(w, part, at, caller);
	if (kind == SPACETIME_ALLOCATION)
		return walk_allocation(w, part, at, caller);
	const struct snap_field field = field_of_top(w, at);
	if (field.kind == SNAP_FIELD_INT)
		return HG_OK;
	BASE_TRY(add_walk_frame(walk, pc_of_part(walk, part), caller, false, &frame));
	return push_todo(w, GO_ON_WITH_CALLEES, field, frame);
}

/* The same for parts with gaps between them, or of which those are steps that hold but zeros. */
static enum hg_status go_on_with_any_part(struct trie_walk *w, const struct spacetime_shape *shape)
{
	const uint64_t depth = w->depth;
	while (w->depth == depth && w->todo[depth - 1].part < shape->count) {
		struct todo *top = &w->todo[depth - 1];
		const uint32_t part = shape->first + top->part;
		const uint32_t at = top->places ? w->places[top->places - 1 + top->part] : top->at;
		top->at += spacetime_form_words(w->walk->tables->forms[part]);
		top->part++;
		if (w->walk->unused || !is_zero_at(w, &top->fields, at))
			BASE_TRY(walk_part(w, part, at));
	}
	if (w->depth == depth)
		pop_todo(w);
	return HG_OK;
}

/* Part after part that is something, until something was called. */
static enum hg_status go_on_in_ocaml(struct trie_walk *w)
{
	struct todo *top = &w->todo[w->depth - 1];
	const struct spacetime_shape *shape = &w->walk->tables->shapes[top->shape];
	const uint8_t *const forms = w->walk->tables->forms + shape->first;
	const uint64_t depth = w->depth;
	if (w->walk->unused || top->places)
		return go_on_with_any_part(w, shape);
	for (uint32_t part = top->part, at = top->at;;) {
		snap_sparse_pass_zeros(&w->trie, &top->fields);
		const uint32_t number = top->fields.number;
		while (part < shape->count && at + spacetime_form_words(forms[part]) <= number)
			at += spacetime_form_words(forms[part++]);
		if (part == shape->count || number == top->fields.size) {
			pop_todo(w);
			return HG_OK;
		}
		if (number != at) { /* of what was never reached */
			snap_sparse_next(&w->trie, &top->fields);
			continue;
		}
		BASE_TRY(walk_part(w, shape->first + part, at));
		if (w->depth != depth) {
			top = &w->todo[depth - 1];
			top->part = part;
			top->at = at;
			return HG_OK;
		}
	}
}

/* A node of a list. */
struct c_node {
	uint64_t word; /* address and what it is */
	struct snap_field callee;
	int64_t count;
	uint32_t caller;
};

/* The next one of a list of C nodes, which goes off what is to be done; false at its end. */
static bool next_c_node(struct trie_walk *w, struct c_node *node)
{
	struct todo *top = &w->todo[w->depth - 1];
	const struct snap_sparse *trie = &w->trie;
	struct snap_fields fields;
	if (find_node(w, &top->value, &fields) != C_NODE || !visit(w, top->value.object)) {
		w->walk->damaged += top->value.kind != SNAP_FIELD_INT;
		pop_todo(w);
		return false;
	}
	node->caller = top->caller;
	node->word = spacetime_word(snap_sparse_next(trie, &fields).number);
	node->callee = snap_sparse_next(trie, &fields);
	node->count = snap_sparse_next(trie, &fields).number;
	snap_sparse_next(trie, &fields); /* C_LINK */
	top->value = snap_sparse_next(trie, &fields);
	return true;
}

static enum hg_status go_on_in_c(struct trie_walk *w)
{
	struct spacetime_walk *walk = w->walk;
	struct c_node node;
	uint32_t frame;
	if (!next_c_node(w, &node))
		return HG_OK;
	struct spacetime_step step = {
		.kind = SPACETIME_C_CALLS, .pc = node.word >> 2, .caller = node.caller};
	if (node.word & 2) {
		BASE_TRY(walk->step(walk->data, &step));
		BASE_TRY(add_walk_frame(walk, step.pc, node.caller, true, &frame));
		return push_callee(w, &node.callee, frame);
	}
	step.kind = SPACETIME_C_ALLOCATES;
	step.annotation = (uint32_t)(spacetime_word(node.callee.number) >> 38);
	step.words = node.count;
	return walk->step(walk->data, &step);
}

/* Of an indirect call, whose site is the caller's frame. */
static enum hg_status go_on_with_callees(struct trie_walk *w)
{
	struct spacetime_walk *walk = w->walk;
	struct c_node node;
	if (!next_c_node(w, &node))
		return HG_OK;
	const bool called = node.callee.kind != SNAP_FIELD_INT;
	const struct spacetime_frame *site = &walk->frames[walk->path_only ? 0 : node.caller];
	const struct spacetime_step step = {.kind = SPACETIME_CALLS_INDIRECTLY,
		.pc = site->pc,
		.caller = walk->path_only ? node.caller - 1 : site->caller,
		.function = node.word >> 2,
		.count = walk->tables->call_counts && called ? node.count : 0};
	BASE_TRY(walk->step(walk->data, &step));
	return push_callee(w, &node.callee, node.caller);
}

static enum hg_status walk_from_root(struct trie_walk *w, const struct snap_field *root)
{
	BASE_TRY(push_callee(w, root, 0));
	while (w->depth) {
		switch (w->todo[w->depth - 1].task) {
		case ENTER_OCAML:
			BASE_TRY(enter_ocaml(w));
			break;
		case GO_ON_IN_OCAML:
			BASE_TRY(go_on_in_ocaml(w));
			break;
		case GO_ON_IN_C:
			BASE_TRY(go_on_in_c(w));
			break;
		case GO_ON_WITH_CALLEES:
			BASE_TRY(go_on_with_callees(w));
			break;
		}
	}
	return HG_OK;
}

static enum hg_status walk_trie_value(struct trie_walk *w, bool *any)
{
	const struct snap_field root = snap_sparse_root(&w->trie);
	*any = root.kind != SNAP_FIELD_INT;
	if (!*any)
		return HG_OK;
	w->walk->tries++;
	uint64_t words = base_bit_words(w->trie.objects);
	w->visited = calloc(words + 1, sizeof(*w->visited));
	if (!w->visited)
		return base_no_memory(w->walk->error, words * sizeof(*w->visited));
	return walk_from_root(w, &root);
}

enum hg_status spacetime_walk_trie(struct spacetime_walk *walk,
	const struct spacetime_series *series, uint64_t offset, bool *any)
{
	struct trie_walk w = {.walk = walk};
	struct base_cursor c = series->file;
	if (!base_cursor_seek(&c, offset))
		return base_corrupt(walk->error, offset, "the file was cut meanwhile");
	const bool is_first = walk->damaged + walk->misfits == 0;
	const struct snap_sparse_marks marks = {mark_node, walk->tables};
	enum hg_status status = snap_sparse_read(&c, &marks, &w.trie, walk->error);
	if (status == HG_OK)
		status = walk_trie_value(&w, any);
	if (is_first)
		walk->first_damage = offset;
	free(w.visited);
	free(w.todo);
	free(w.places);
	snap_sparse_release(&w.trie);
	return status;
}

enum hg_status spacetime_walk_init(struct spacetime_walk *walk,
	const struct spacetime_tables *tables, spacetime_step_fn *step, void *data,
	struct hg_error *error)
{
	uint32_t root;
	*walk = (struct spacetime_walk){
		.tables = tables, .step = step, .data = data, .error = error};
	return add_walk_frame(walk, 0, 0, false, &root);
}

void spacetime_walk_release(struct spacetime_walk *walk)
{
	free(walk->frames);
	*walk = (struct spacetime_walk){0};
}
