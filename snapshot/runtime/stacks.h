/*
 * Stacks of OCaml frames, and where the threads of the image left them (stacks_innermost.c).
 */
#ifndef SNAPSHOT_RUNTIME_STACKS_H
#define SNAPSHOT_RUNTIME_STACKS_H

#include "snapshot/arch/arch.h"
#include "snapshot/runtime/state.h"

/* What a thread of the image was doing. */
struct snap_innermost {
	bool has_ocaml;                     /* unwinding came to a frame of OCaml code */
	unsigned c_frames;                  /* inside of it; 0: was stopped right in OCaml code */
	bool is_repaired;                   /* saved state is stale: use what follows */
	bool is_leaving;                    /* or coming back: gc_regs is stale, too */
	struct snap_frame stopped;          /* the innermost frame */
	struct snap_frame frame;            /* the innermost OCaml frame, on its own stack */
	const struct snap_frame *registers; /* that may hold values */
	uint64_t start_sp, start_return;    /* where frames with descriptors begin */
	uint64_t words_start, words_end;    /* besides: words that may hold values */
};
/* Of all threads, and which of them runs the current stack of a domain. */
enum hg_status snap_find_innermost(struct snap_runtime *runtime, struct hg_error *error);
/* What the function of a frame says about the process. */
void snap_look_at_function(struct snap_runtime *runtime, uint64_t pc);

/* One walk over the frames of a stack. */
struct snap_stack_walk {
	struct snap_runtime_roots *roots;
	bool count_slots;   /* in runtime->root_slots */
	const char *suffix; /* of names: " (thread 2)" or "" */
	uint32_t stack;     /* for snap_runtime_root.stack */
	bool is_current;    /* of bytecode: a thread may be interpreting on it */
	uint64_t frames, fibers;
};
/* From the frame at 'sp' that returns to 'return_address', 4.x; false: not walked to the end. */
enum hg_status snap_walk_stack4(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	uint64_t sp, uint64_t return_address, uint64_t gc_regs, bool *complete,
	struct hg_error *error);
/* A stack_info and its parents, 5.x; 'inner' repairs the first, or is NULL. */
enum hg_status snap_walk_stack5(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	uint64_t stack, uint64_t gc_regs, const struct snap_innermost *inner, bool *complete,
	struct hg_error *error);
/* The slot of a frame; a word that is a root if it leads to a block. */
enum hg_status snap_add_stack_value(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	uint64_t slot, uint64_t index, const char *name, struct hg_error *error);
enum hg_status snap_add_stack_word(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	uint64_t value, uint64_t slot, const char *name, struct hg_error *error);
/* Words of the frames without descriptors, and registers. */
enum hg_status snap_add_conservative(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	const struct snap_innermost *inner, struct hg_error *error);
enum hg_status snap_new_stack(struct snap_runtime *runtime, uint32_t domain, uint32_t systhread,
	uint32_t *out, struct hg_error *error);

/*
 * Appends the roots of a suspended continuation: 'stack' is the address of its struct stack_info,
 * which is field 0 of a block with Cont_tag (5.x) less 1.  Its parents belong to it.  *frames and
 * *fibers may be NULL.  False when the chain is damaged; what was read is kept.
 */
bool snap_runtime_fiber(struct snap_runtime *runtime, uint64_t stack,
	struct snap_runtime_roots *out, uint64_t *frames, uint64_t *fibers);

#endif
