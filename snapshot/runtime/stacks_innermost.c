/*
 * Where threads left OCaml code.  The runtime knows the innermost frame of a stack only if it was
 * left through caml_c_call or caml_call_gc; in OCaml code, and in C functions that were called
 * directly because they do not allocate, what it has saved is stale.  Then the unwinding tables of
 * the compiler tell.
 */
#include "snapshot/runtime/stacks.h"

#include "snapshot/runtime/areas.h"
#include "snapshot/runtime/frames.h"
#include "snapshot/runtime/reader.h"
#include "snapshot/runtime/roots.h"

enum {
	MOST_C_FRAMES = 512,
	MOST_ODD_FRAMES = 64,
	/* About, and what unwinding one costs: many threads may be made to stand on one stack. */
	C_FRAME_WORDS = 16,
	MOST_PUSHED_WORDS = 64
};

enum hg_status snap_add_stack_value(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	uint64_t slot, uint64_t index, const char *name, struct hg_error *error)
{
	uint64_t value;
	if (!snap_image_u64(runtime->image, slot, &value))
		return HG_OK;
	if (walk->count_slots)
		BASE_TRY(snap_count_slot(runtime, HG_ROOT_STACK, error));
	if (value & 1 || value == 0)
		return HG_OK;
	struct snap_runtime_root root = {.kind = HG_ROOT_STACK,
		.stack = walk->stack,
		.name = name,
		.index = index,
		.slot_address = slot,
		.value = value};
	return snap_push_root(runtime, walk->roots, &root, error);
}

enum hg_status snap_add_stack_word(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	uint64_t value, uint64_t slot, const char *name, struct hg_error *error)
{
	if (value % 8 || !snap_runtime_area(runtime, value))
		return HG_OK;
	struct snap_runtime_root root = {.kind = HG_ROOT_STACK,
		.conservative = true,
		.stack = walk->stack,
		.name = name,
		.index = HG_UNKNOWN,
		.slot_address = slot,
		.value = value};
	return snap_push_root(runtime, walk->roots, &root, error);
}

void snap_look_at_function(struct snap_runtime *runtime, uint64_t pc)
{
	struct snap_symbol symbol;
	uint64_t offset;
	bool is_ahead;
	if (!snap_image_symbol_at(runtime->image, pc, &symbol, &offset))
		return;
	enum snap_moment moment = snap_moment_of_function(symbol.name, &is_ahead);
	runtime->in_minor_collection |= moment == SNAP_MOMENT_MINOR_COLLECTION;
	runtime->in_compaction |= moment == SNAP_MOMENT_COMPACTION;
}

static void find_innermost(struct snap_runtime *runtime, const struct snap_thread *thread,
	struct snap_innermost *inner)
{
	struct snap_frame frame, caller;
	snap_frame_of_thread(runtime->image, thread, &inner->stopped);
	frame = inner->stopped;
	for (unsigned n = 0; n < MOST_C_FRAMES; n++) {
		if (snap_runtime_is_code(runtime, snap_frame_pc(&frame))) {
			inner->has_ocaml = true;
			inner->c_frames = n;
			inner->frame = frame;
			return;
		}
		snap_look_at_function(runtime, snap_frame_pc(&frame));
		if (!snap_spend(runtime, C_FRAME_WORDS) ||
			snap_frame_caller(runtime->image, &frame, &caller) != SNAP_CALLER)
			return;
		frame = caller;
	}
}

/* From the innermost OCaml frame to the first that has a descriptor. */
static bool find_start(struct snap_runtime *runtime, struct snap_innermost *inner)
{
	struct snap_frame frame = inner->frame, caller;
	struct snap_descriptor descriptor;
	inner->words_start = snap_frame_sp(&frame);
	for (unsigned n = 0; n < MOST_ODD_FRAMES; n++) {
		if (!snap_spend(runtime, C_FRAME_WORDS) ||
			snap_frame_caller(runtime->image, &frame, &caller) != SNAP_CALLER)
			return false;
		inner->words_end = frame.cfa - 8;
		if (snap_find_descriptor(runtime, snap_frame_pc(&caller), &descriptor)) {
			inner->start_sp = snap_frame_sp(&caller);
			inner->start_return = snap_frame_pc(&caller);
			return true;
		}
		frame = caller;
	}
	return false;
}

static void repair(struct snap_runtime *runtime, struct snap_innermost *inner)
{
	if (find_start(runtime, inner)) {
		inner->is_repaired = true;
		inner->registers = &inner->frame;
	} else {
		snap_note_line(runtime, "a running thread was not unwound to a frame with a "
					"descriptor: roots on its "
					"stack may be missing");
	}
}

/*
 * Whether OCaml code was left by a call that saves where: only such calls, and those of OCaml
 * functions, have a descriptor.
 */
static bool left_by_call(struct snap_runtime *runtime, const struct snap_innermost *inner,
	struct snap_descriptor *descriptor)
{
	return inner->c_frames > 0 &&
	       snap_find_descriptor(runtime, snap_frame_pc(&inner->frame), descriptor);
}

/*
 * The thread is on the way out or back, in caml_c_call or caml_call_gc: frames begin where OCaml
 * code was left, whatever is saved.  Values that are live in registers are there, or just where
 * they were pushed to: below the frame (4.x), or in a block of words that a register leads to (5.x,
 * SAVE_ALL_REGS of runtime/amd64.S and arm64.S).
 */
static void start_at_call(struct snap_runtime *runtime, const struct snap_domain *domain,
	struct snap_innermost *inner)
{
	uint64_t sp = snap_frame_sp(&inner->frame);
	const struct snap_arch *arch = inner->frame.arch;
	uint64_t pushed = inner->stopped.registers[runtime->is_5 ? arch->saving_block : arch->sp];
	uint64_t end = pushed + 8 * (uint64_t)arch->gc_saved_words;
	if (!runtime->is_5)
		end = sp - arch->call_pushes;
	bool is_young = pushed >= domain->minor.start && pushed < domain->minor.end;
	inner->is_repaired = true;
	inner->is_leaving = inner->c_frames == 1;
	inner->registers = &inner->stopped;
	inner->start_sp = sp;
	inner->start_return = snap_frame_pc(&inner->frame);
	if (pushed % 8 || end < pushed || end - pushed > 8 * MOST_PUSHED_WORDS || is_young)
		return;
	inner->words_start = pushed;
	inner->words_end = end;
}

/* 4.x: whether an address is on the stack of a thread that waits for the master lock. */
static bool on_waiting_stack(struct snap_runtime *runtime, uint64_t sp)
{
	const struct snap_layout *l = runtime->layout;
	const struct snap_load *load = snap_image_load(runtime->image, sp);
	uint64_t current = snap_variable_word(runtime, "curr_thread");
	struct snap_list walk = {0};
	if (!current || !load)
		return false;
	for (uint64_t t = snap_word(runtime, current + l->caml_thread_struct_next);
		t != current && snap_list_goes_on(runtime, &walk, t);
		t = snap_word(runtime, t + l->caml_thread_struct_next)) {
		uint64_t bottom = snap_word(runtime, t + l->caml_thread_struct_bottom_of_stack);
		if (bottom >= load->address && bottom < load->end)
			return true;
	}
	return false;
}

static bool is_current4(struct snap_runtime *runtime, const struct snap_domain *domain,
	struct snap_innermost *inner)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t saved_sp =
		snap_word(runtime, domain->state + l->caml_domain_state_bottom_of_stack);
	uint64_t saved_return =
		snap_word(runtime, domain->state + l->caml_domain_state_last_return_address);
	uint64_t sp = snap_frame_sp(&inner->frame);
	struct snap_descriptor descriptor;
	if (on_waiting_stack(runtime, sp))
		return false;
	if (!left_by_call(runtime, inner, &descriptor)) {
		repair(runtime, inner);
		return true;
	}
	/* caml_c_call jumps to the C function; only caml_call_gc saves registers, too. */
	bool is_saved = sp == saved_sp && snap_frame_pc(&inner->frame) == saved_return;
	bool by_gc = descriptor.frame_size & SNAP_FRAME_ALLOCATIONS;
	if (!is_saved || (by_gc && inner->c_frames == 1))
		start_at_call(runtime, domain, inner);
	return true;
}

/*
 * 5.x: a C function that does not allocate runs on the C stack of the domain; the OCaml code that
 * called it keeps the stack pointer of its fiber in a register, as its tables say for its frame,
 * but not as the stack pointer.
 */
static bool switch_back(struct snap_runtime *runtime, const struct snap_domain *domain,
	struct snap_innermost *inner, uint64_t stack, uint64_t handler)
{
	const struct snap_layout *l = runtime->layout;
	const unsigned keeper = inner->frame.arch->noalloc_keepers[l->noalloc_keeper];
	uint64_t *registers = inner->frame.registers, sp = snap_frame_sp(&inner->frame);
	if (sp <= stack || sp > handler) {
		if (sp != snap_word(runtime, domain->state + l->caml_domain_state_c_stack) ||
			!snap_frame_knows(&inner->frame, keeper))
			return false;
		sp = registers[keeper];
	}
	if (sp <= stack || sp > handler)
		return false;
	registers[inner->frame.arch->sp] = sp;
	/* As if it had not been pushed: the tables do not know of it. */
	uint64_t pushed = snap_noalloc_pushed(runtime->image, &inner->frame, keeper);
	if (registers[keeper] == sp)
		registers[keeper] += pushed;
	registers[inner->frame.arch->sp] += pushed;
	return true;
}

static bool is_current5(struct snap_runtime *runtime, const struct snap_domain *domain,
	struct snap_innermost *inner)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t stack = snap_word(runtime, domain->state + l->caml_domain_state_current_stack);
	uint64_t saved_sp = snap_word(runtime, stack + l->stack_info_sp);
	uint64_t handler = snap_word(runtime, stack + l->stack_info_handler);
	struct snap_descriptor descriptor;
	if (!switch_back(runtime, domain, inner, stack, handler))
		return false;
	/* The saved frame begins after the return address, and what is beside that. */
	if (!left_by_call(runtime, inner, &descriptor))
		repair(runtime, inner);
	else if (inner->c_frames == 1 ||
		 snap_frame_sp(&inner->frame) != saved_sp + inner->frame.arch->first_frame)
		start_at_call(runtime, domain, inner);
	return true;
}

/* OCaml code keeps the address of its domain's state in a register. */
static enum hg_status find_domain_frames(
	struct snap_runtime *runtime, struct base_map *by_state, struct hg_error *error)
{
	bool added;
	for (uint64_t d = 0; d < runtime->domain_count; d++) {
		uint64_t number = d;
		BASE_TRY(base_map_add(by_state, runtime->domains[d].state, &number, &added, error));
	}
	for (uint64_t i = 0; i < runtime->image->thread_count; i++) {
		struct snap_innermost *inner = &runtime->innermost[i];
		uint64_t d;
		if (!inner->has_ocaml ||
			!snap_frame_knows(&inner->frame, inner->frame.arch->domain_state) ||
			!base_map_get(by_state,
				inner->frame.registers[inner->frame.arch->domain_state], &d))
			continue;
		struct snap_domain *domain = &runtime->domains[d];
		if (!domain->innermost && (runtime->is_5 ? is_current5(runtime, domain, inner)
							 : is_current4(runtime, domain, inner)))
			domain->innermost = inner;
	}
	return HG_OK;
}

enum hg_status snap_find_innermost(struct snap_runtime *runtime, struct hg_error *error)
{
	void *frames;
	struct base_map by_state = {0};
	BASE_TRY(base_pool_alloc(&runtime->pool, runtime->image->thread_count,
		sizeof(struct snap_innermost), &frames, error));
	runtime->innermost = frames;
	for (uint64_t i = 0; i < runtime->image->thread_count; i++)
		find_innermost(runtime, &runtime->image->threads[i], &runtime->innermost[i]);
	enum hg_status status = find_domain_frames(runtime, &by_state, error);
	base_map_release(&by_state);
	return status;
}
