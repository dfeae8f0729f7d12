/* Stacks of OCaml frames, and what their frames hold (runtime/stack.h, runtime/fiber.c). */
#include "snapshot/runtime/stacks.h"

#include "snapshot/bytecode/interpreter.h"
#include "snapshot/runtime/areas.h"
#include "snapshot/runtime/frames.h"
#include "snapshot/runtime/reader.h"
#include "snapshot/runtime/roots.h"

#include <stdio.h>
#include <string.h>

struct frame {
	uint64_t sp, return_address, gc_regs;
};

static const char *name_of(
	struct snap_runtime *runtime, struct snap_stack_walk *walk, uint64_t return_address)
{
	const char *name = snap_frame_name(runtime, return_address);
	return walk->suffix[0] ? snap_print(runtime, "%s%s", name, walk->suffix) : name;
}

/* The live slots of a frame: odd offsets are registers that caml_call_gc has saved. */
static enum hg_status add_frame(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	const struct frame *frame, const struct snap_descriptor *descriptor, struct hg_error *error)
{
	const char *name = NULL;
	walk->frames++;
	for (uint64_t i = 0; i < descriptor->live_count; i++) {
		uint16_t offset;
		if (!snap_image_read(runtime->image, descriptor->address + 12 + 2 * i, &offset,
			    sizeof(offset)))
			break;
		if (!name)
			name = name_of(runtime, walk, frame->return_address);
		uint64_t slot = offset & 1 ? frame->gc_regs + 8 * (uint64_t)(offset >> 1)
					   : frame->sp + offset;
		BASE_TRY(snap_add_stack_value(runtime, walk, slot, i, name, error));
	}
	return HG_OK;
}

/*
 * Frames up to one that returns to C, which *frame then is; false when a return address has no
 * descriptor, so that nothing more can be told of the stack.
 */
static enum hg_status walk_frames(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	struct frame *frame, bool *found, struct hg_error *error)
{
	struct snap_descriptor descriptor;
	*found = false;
	for (;;) {
		if (!snap_find_descriptor(runtime, frame->return_address, &descriptor)) {
			snap_note_line(runtime,
				"a stack ends at 0x%llx: 0x%llx is no return address of OCaml code",
				(unsigned long long)frame->sp,
				(unsigned long long)frame->return_address);
			return HG_OK;
		}
		if (descriptor.frame_size == SNAP_RETURN_TO_C) {
			*found = true;
			return HG_OK;
		}
		uint64_t size = descriptor.frame_size & ~(uint64_t)3;
		if (size == 0 || !snap_spend(runtime, 1 + (uint64_t)descriptor.live_count))
			return HG_OK;
		BASE_TRY(add_frame(runtime, walk, frame, &descriptor, error));
		frame->sp += size;
		frame->return_address = snap_return_address(runtime, frame->sp - 8);
	}
}

enum hg_status snap_walk_stack4(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	uint64_t sp, uint64_t return_address, uint64_t gc_regs, bool *complete,
	struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	struct frame frame = {sp, return_address, gc_regs};
	bool found;
	*complete = false;
	while (frame.sp) {
		uint64_t before = frame.sp;
		BASE_TRY(walk_frames(runtime, walk, &frame, &found, error));
		if (!found)
			return HG_OK;
		/* C called OCaml here: caml_start_program has saved where OCaml called C. */
		uint64_t context = frame.sp + 16;
		frame.sp = snap_word(runtime, context + l->caml_context_bottom_of_stack);
		frame.return_address = snap_word(runtime, context + l->caml_context_last_retaddr);
		frame.gc_regs = snap_word(runtime, context + l->caml_context_gc_regs);
		if (frame.sp && frame.sp <= before)
			return HG_OK;
	}
	*complete = true;
	return HG_OK;
}

/* One stack of 5.x up to its handler. */
static enum hg_status walk_fiber(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	uint64_t stack, uint64_t gc_regs, const struct snap_innermost *inner, bool *complete,
	struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t handler = snap_word(runtime, stack + l->stack_info_handler);
	struct frame frame = {
		.sp = snap_word(runtime, stack + l->stack_info_sp), .gc_regs = gc_regs};
	bool found;
	*complete = false;
	if (runtime->bytecode) {
		const struct snap_range words = {stack, handler};
		return snap_walk_bytecode(runtime, walk, words, frame.sp, complete, error);
	}
	while (frame.sp != handler) {
		uint64_t before = frame.sp;
		if (inner) {
			frame.sp = inner->start_sp;
			frame.return_address = inner->start_return;
			before = 0;
			inner = NULL;
		} else {
			frame.sp += snap_arch_of(runtime->image)->first_frame;
			frame.return_address = snap_return_address(runtime, frame.sp - 8);
		}
		BASE_TRY(walk_frames(runtime, walk, &frame, &found, error));
		if (!found)
			return HG_OK;
		/* C called OCaml here: link, gc_regs and trap frame are skipped. */
		frame.gc_regs = snap_word(runtime, frame.sp + 24);
		frame.sp += 32;
		if (frame.sp <= before || frame.sp > handler)
			return HG_OK;
	}
	*complete = true;
	return HG_OK;
}

enum hg_status snap_walk_stack5(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	uint64_t stack, uint64_t gc_regs, const struct snap_innermost *inner, bool *complete,
	struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	const struct {
		uint16_t offset;
		const char *name;
	} handlers[] = {{l->stack_handler_handle_value, "effect handler: value"},
		{l->stack_handler_handle_exn, "effect handler: exception"},
		{l->stack_handler_handle_effect, "effect handler: effect"}};
	struct snap_list list = {.words = SNAP_CELL_WORDS};
	bool whole = true;
	for (; snap_list_goes_on(runtime, &list, stack); inner = NULL, gc_regs = 0) {
		bool fiber_whole;
		BASE_TRY(walk_fiber(runtime, walk, stack, gc_regs, inner, &fiber_whole, error));
		whole &= fiber_whole;
		walk->fibers++;
		uint64_t handler = snap_word(runtime, stack + l->stack_info_handler);
		for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
			const char *name = walk->suffix[0] ? snap_print(runtime, "%s%s",
								     handlers[i].name, walk->suffix)
							   : handlers[i].name;
			BASE_TRY(snap_add_stack_value(runtime, walk, handler + handlers[i].offset,
				HG_UNKNOWN, name, error));
		}
		stack = snap_word(runtime, handler + l->stack_handler_parent);
	}
	*complete = whole;
	return HG_OK;
}

bool snap_runtime_fiber(struct snap_runtime *runtime, uint64_t stack,
	struct snap_runtime_roots *out, uint64_t *frames, uint64_t *fibers)
{
	struct snap_stack_walk walk = {.roots = out, .suffix = "", .stack = SNAP_NO_INDEX};
	struct hg_error unused;
	bool complete = false;
	base_error_clear(&unused);
	enum hg_status status =
		runtime->is_5 ? snap_walk_stack5(runtime, &walk, stack, 0, NULL, &complete, &unused)
			      : HG_ERROR_USAGE;
	if (frames)
		*frames = walk.frames;
	if (fibers)
		*fibers = walk.fibers;
	return status == HG_OK && complete;
}

/* Frames without descriptors */

enum hg_status snap_add_conservative(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	const struct snap_innermost *inner, struct hg_error *error)
{
	const char *name = name_of(runtime, walk, snap_frame_pc(&inner->frame));
	uint64_t value;
	const struct snap_arch *arch = inner->frame.arch;
	for (unsigned r = 0; r < arch->general_count; r++)
		if (r != arch->sp && r != arch->domain_state && r != arch->young_pointer &&
			snap_frame_knows(inner->registers, r))
			BASE_TRY(snap_add_stack_word(runtime, walk, inner->registers->registers[r],
				HG_UNKNOWN, name, error));
	for (uint64_t at = inner->words_start; at < inner->words_end; at += 8) {
		if (!snap_image_u64(runtime->image, at, &value))
			break;
		BASE_TRY(snap_add_stack_word(runtime, walk, value, at, name, error));
	}
	return HG_OK;
}

enum hg_status snap_new_stack(struct snap_runtime *runtime, uint32_t domain, uint32_t systhread,
	uint32_t *out, struct hg_error *error)
{
	char owner[64] = "";
	BASE_TRY(base_grow(&runtime->stacks, runtime->stack_count, &runtime->stack_capacity,
		sizeof(*runtime->stacks), error));
	if (runtime->is_5 && runtime->domain_count > 1)
		snprintf(owner, sizeof(owner), "domain %llu%s",
			(unsigned long long)runtime->domains[domain].id, systhread ? " " : "");
	if (systhread)
		snprintf(owner + strlen(owner), sizeof(owner) - strlen(owner), "thread %u",
			systhread);
	*out = (uint32_t)runtime->stack_count;
	runtime->stacks[runtime->stack_count++] =
		(struct snap_stack){.name = owner[0] ? snap_print(runtime, "%s", owner) : "main",
			.domain = domain,
			.systhread = systhread};
	return HG_OK;
}
