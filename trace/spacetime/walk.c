/* With a stack of its own, as a trie is as deep as the program's calls were. */
#include "trace/spacetime/walk.h"

#include "trace/spacetime/fit.h"

#include "base/bits.h"
#include "base/grow.h"

#include <string.h>

enum { ADDRESS, TAIL_LINK, NODE_PARTS };                         /* fields of an OCaml node */
enum { C_ADDRESS, C_CALLEE, C_COUNT, C_LINK, C_NEXT, C_FIELDS }; /* of a C node */
enum { OCAML_TAG, C_TAG };

/* What is to be done with a value; the last one first. */
enum task { ENTER, ENTER_OCAML, GO_ON_IN_OCAML, GO_ON_IN_C, GO_ON_WITH_CALLEES };

struct todo {
	uint32_t task;
	uint32_t value;
	uint32_t caller;
	uint32_t part, at; /* of an OCaml node: the next part, and its first field */
	uint32_t shape;
	uint32_t places; /* index + 1 of those of its parts; 0: they follow each other */
};

struct trie_walk {
	struct spacetime_walk *walk;
	struct snap_marshal m;
	uint64_t *visited; /* bits of cells */
	struct todo *todo;
	uint64_t depth, capacity;
	uint32_t *places;
	uint64_t place_count, place_capacity;
};

static enum hg_status push_todo(
	struct trie_walk *w, enum task task, struct snap_value value, uint32_t caller)
{
	BASE_TRY(base_grow(&w->todo, w->depth, &w->capacity, sizeof(*w->todo), w->walk->error));
	w->todo[w->depth++] = (struct todo){.task = task, .value = value.bits, .caller = caller};
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
	if (walk->frame_count == UINT32_MAX)
		return base_fail(walk->error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many calls");
	BASE_TRY(base_grow(&walk->frames, walk->frame_count, &walk->frame_capacity,
		sizeof(*walk->frames), walk->error));
	*frame = (uint32_t)walk->frame_count;
	walk->frames[walk->frame_count++] = (struct spacetime_frame){pc, caller, in_c};
	return HG_OK;
}

static struct snap_value field_of(const struct trie_walk *w, uint32_t value, uint64_t index)
{
	return snap_marshal_field(&w->m, (struct snap_value){value}, index);
}

static int64_t number_of(const struct trie_walk *w, uint32_t value, uint64_t index)
{
	int64_t number = 0;
	snap_marshal_int(&w->m, field_of(w, value, index), &number);
	return number;
}

static bool is_node(const struct trie_walk *w, struct snap_value value, int tag)
{
	uint32_t size = snap_marshal_size(&w->m, value);
	return snap_marshal_tag(&w->m, value) == tag &&
	       (tag == C_TAG ? size == C_FIELDS : size >= NODE_PARTS);
}

/* False if it was before. */
static bool visit(struct trie_walk *w, uint32_t value)
{
	uint32_t cell = snap_marshal_cell((struct snap_value){value});
	if (base_bit(w->visited, cell))
		return false;
	base_bit_set(w->visited, cell);
	return true;
}

/* Where the parts of a node are; none if that is not known. */
static enum hg_status find_parts(
	struct trie_walk *w, struct todo *todo, const struct spacetime_shape *shape)
{
	struct spacetime_walk *walk = w->walk;
	struct snap_value node = {todo->value};
	if (NODE_PARTS + shape->words == snap_marshal_size(&w->m, node))
		return HG_OK;
	BASE_TRY(base_grow_by(&w->places, w->place_count, shape->count, &w->place_capacity,
		sizeof(*w->places), walk->error));
	if (!spacetime_fit(walk->tables, &w->m, node, shape, &walk->fit_work,
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
	uint64_t function = spacetime_word(number_of(w, top->value, ADDRESS)) & ~UINT64_C(1);
	struct snap_value link = field_of(w, top->value, TAIL_LINK);
	uint32_t caller = top->caller;
	if (!visit(w, top->value)) {
		pop_todo(w);
		return HG_OK;
	}
	walk->nodes++;
	const struct spacetime_step step = {
		.kind = SPACETIME_NODE, .function = function, .caller = caller};
	BASE_TRY(walk->step(walk->data, &step));
	if (base_map_number(&walk->tables->shape_of, function, &top->shape)) {
		top->task = GO_ON_IN_OCAML;
		top->at = NODE_PARTS;
		BASE_TRY(find_parts(w, top, &walk->tables->shapes[top->shape]));
	} else {
		pop_todo(w);
	}
	if (is_node(w, link, OCAML_TAG))
		return push_todo(w, ENTER_OCAML, link, caller);
	walk->damaged++;
	return HG_OK;
}

static enum hg_status walk_direct_call(struct trie_walk *w, const struct spacetime_part *part,
	uint32_t node, uint32_t at, uint32_t caller)
{
	struct spacetime_walk *walk = w->walk;
	struct snap_value callee = field_of(w, node, at);
	bool to_ocaml = is_node(w, callee, OCAML_TAG);
	uint32_t frame;
	if (snap_marshal_is_int(&w->m, callee))
		return HG_OK;
	if (!to_ocaml && !is_node(w, callee, C_TAG)) {
		walk->damaged++;
		return HG_OK;
	}
	const struct spacetime_step step = {.kind = to_ocaml ? SPACETIME_CALLS : SPACETIME_CALLS_C,
		.pc = part->pc,
		.caller = caller,
		.function = part->callee,
		.count = walk->tables->call_counts ? number_of(w, node, at + UINT64_C(1)) : 0};
	BASE_TRY(walk->step(walk->data, &step));
	BASE_TRY(add_walk_frame(walk, part->pc, caller, false, &frame));
	return push_todo(w, to_ocaml ? ENTER_OCAML : GO_ON_IN_C, callee, frame);
}

static enum hg_status walk_part(struct trie_walk *w, const struct spacetime_part *part,
	uint32_t node, uint32_t at, uint32_t caller)
{
	struct spacetime_walk *walk = w->walk;
	struct snap_value field = field_of(w, node, at);
	uint32_t frame;
	if (part->kind == SPACETIME_DIRECT)
		return walk_direct_call(w, part, node, at, caller);
	if (part->kind == SPACETIME_ALLOCATION) {
		const struct spacetime_step step = {.kind = SPACETIME_ALLOCATES,
			.pc = part->pc,
			.caller = caller,
			.annotation = (uint32_t)(spacetime_word(number_of(w, node, at)) >> 38),
			.words = number_of(w, node, at + UINT64_C(1))};
		return walk->step(walk->data, &step);
	}
	if (snap_marshal_is_int(&w->m, field))
		return HG_OK;
	BASE_TRY(add_walk_frame(walk, part->pc, caller, false, &frame));
	return push_todo(w, GO_ON_WITH_CALLEES, field, frame);
}

/* Part after part, until something was called. */
static enum hg_status go_on_in_ocaml(struct trie_walk *w)
{
	struct todo *top = &w->todo[w->depth - 1];
	const struct spacetime_tables *tables = w->walk->tables;
	const struct spacetime_shape *shape = &tables->shapes[top->shape];
	const uint64_t depth = w->depth;
	while (w->depth == depth && top->part < shape->count) {
		uint32_t part = shape->first + top->part;
		uint32_t at = top->places ? w->places[top->places - 1 + top->part] : top->at;
		top->at += tables->words[part];
		top->part++;
		if (w->walk->unused || !snap_value_is_zero(field_of(w, top->value, at)))
			BASE_TRY(walk_part(w, &tables->parts[part], top->value, at, top->caller));
	}
	if (w->depth == depth)
		pop_todo(w);
	return HG_OK;
}

/* The next one of a list of C nodes goes to the top of what is to be done; false at its end. */
static bool next_c_node(struct trie_walk *w, struct todo *now)
{
	struct todo *top = &w->todo[w->depth - 1];
	struct snap_value value = {top->value};
	*now = *top;
	if (!snap_marshal_is_int(&w->m, value) &&
		(!is_node(w, value, C_TAG) || !visit(w, top->value))) {
		w->walk->damaged++;
		pop_todo(w);
		return false;
	}
	if (snap_marshal_is_int(&w->m, value)) {
		pop_todo(w);
		return false;
	}
	top->value = field_of(w, top->value, C_NEXT).bits;
	return true;
}

static enum hg_status go_on_in_c(struct trie_walk *w)
{
	struct spacetime_walk *walk = w->walk;
	struct todo now;
	uint32_t frame;
	if (!next_c_node(w, &now))
		return HG_OK;
	uint64_t word = spacetime_word(number_of(w, now.value, C_ADDRESS));
	struct spacetime_step step = {
		.kind = SPACETIME_C_CALLS, .pc = word >> 2, .caller = now.caller};
	if (word & 2) {
		BASE_TRY(walk->step(walk->data, &step));
		BASE_TRY(add_walk_frame(walk, step.pc, now.caller, true, &frame));
		return push_todo(w, ENTER, field_of(w, now.value, C_CALLEE), frame);
	}
	step.kind = SPACETIME_C_ALLOCATES;
	step.annotation = (uint32_t)(spacetime_word(number_of(w, now.value, C_CALLEE)) >> 38);
	step.words = number_of(w, now.value, C_COUNT);
	return walk->step(walk->data, &step);
}

/* Of an indirect call, whose site is the caller's frame. */
static enum hg_status go_on_with_callees(struct trie_walk *w)
{
	struct spacetime_walk *walk = w->walk;
	struct todo now;
	if (!next_c_node(w, &now))
		return HG_OK;
	struct snap_value callee = field_of(w, now.value, C_CALLEE);
	bool called = !snap_marshal_is_int(&w->m, callee);
	const struct spacetime_frame *site = &walk->frames[now.caller];
	const struct spacetime_step step = {.kind = SPACETIME_CALLS_INDIRECTLY,
		.pc = site->pc,
		.caller = site->caller,
		.function = spacetime_word(number_of(w, now.value, C_ADDRESS)) >> 2,
		.count =
			walk->tables->call_counts && called ? number_of(w, now.value, C_COUNT) : 0};
	BASE_TRY(walk->step(walk->data, &step));
	return push_todo(w, ENTER, callee, now.caller);
}

/* A node of either kind, or an int: nothing was called. */
static void enter_any(struct trie_walk *w)
{
	struct todo *top = &w->todo[w->depth - 1];
	struct snap_value value = {top->value};
	if (is_node(w, value, OCAML_TAG)) {
		top->task = ENTER_OCAML;
	} else if (is_node(w, value, C_TAG)) {
		top->task = GO_ON_IN_C;
	} else {
		w->walk->damaged += !snap_marshal_is_int(&w->m, value);
		pop_todo(w);
	}
}

static enum hg_status walk_from_root(struct trie_walk *w)
{
	BASE_TRY(push_todo(w, ENTER, w->m.root, 0));
	while (w->depth) {
		switch ((enum task)w->todo[w->depth - 1].task) {
		case ENTER:
			enter_any(w);
			break;
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
	*any = !snap_marshal_is_int(&w->m, w->m.root);
	if (!*any)
		return HG_OK;
	w->walk->tries++;
	uint64_t words = base_bit_words(snap_marshal_cells(&w->m));
	w->visited = calloc(words, sizeof(*w->visited));
	if (!w->visited)
		return base_no_memory(w->walk->error, words * sizeof(*w->visited));
	return walk_from_root(w);
}

enum hg_status spacetime_walk_trie(struct spacetime_walk *walk,
	const struct spacetime_series *series, uint64_t offset, bool *any)
{
	struct trie_walk w = {.walk = walk};
	struct base_pool pool = {0};
	enum hg_status status = spacetime_value_at(series, offset, &pool, &w.m, walk->error);
	if (status == HG_OK)
		status = walk_trie_value(&w, any);
	free(w.visited);
	free(w.todo);
	free(w.places);
	base_pool_release(&pool);
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
