/*
 * What the files of the runtime reader share.  Functions that fill one part of struct snap_runtime
 * say no more than that they ran out of memory: what they cannot read they note.
 */
#ifndef SNAPSHOT_RUNTIME_PARTS_H
#define SNAPSHOT_RUNTIME_PARTS_H

#include "base/grow.h"
#include "snapshot/arch/x86_64.h"
#include "snapshot/runtime/runtime.h"

/* Remembers a line for the user; the first ones are kept. */
void snap_note_line(struct snap_runtime *runtime, const char *format, ...) BASE_PRINTF(2, 3);

/* A word of the image, 0 where there is none. */
static inline uint64_t snap_word(const struct snap_runtime *runtime, uint64_t address)
{
	uint64_t word;
	return snap_image_u64(runtime->image, address, &word) ? word : 0;
}

static inline uint32_t snap_half(const struct snap_runtime *runtime, uint64_t address)
{
	uint32_t half;
	return snap_image_u32(runtime->image, address, &half) ? half : 0;
}

/*
 * Finds cycles in lists by Brent's method: call for every node; false when it was there before.
 * Nodes that overlap are more than memory has room for: each is charged for its 'words' (0: 1).
 */
struct snap_list {
	uint64_t words;
	uint64_t marked, steps, limit;
};

/* Words of the smallest node that a list of a kind can have, so that some nodes may be missing. */
enum {
	SNAP_CELL_WORDS = 3,    /* skip lists, named values, ephemerons, large blocks, fibers */
	SNAP_THREAD_WORDS = 48, /* threads with their stacks; tables of Gc.Memprof */
	SNAP_POOL_WORDS = 64    /* of the 4096, as pages of zeros may be missing */
};

static inline bool snap_list_goes_on(
	struct snap_runtime *runtime, struct snap_list *list, uint64_t node)
{
	if (node == 0 || node == list->marked ||
		!snap_spend(runtime, list->words ? list->words : 1))
		return false;
	if (list->steps++ == list->limit) {
		list->marked = node;
		list->limit = 2 * list->limit + 1;
	}
	return true;
}

/*
 * Address of a variable of the runtime; 0 if it is not there.  Static ones of a stripped executable
 * are found by what exported functions do with them.
 */
uint64_t snap_variable(struct snap_runtime *runtime, const char *name);
/* The value in it; 0 if it is not there. */
uint64_t snap_variable_word(struct snap_runtime *runtime, const char *name);

/* Ranges of code and static data; atoms; page table (ranges.c). */
enum hg_status snap_read_ranges(struct snap_runtime *runtime, struct hg_error *error);
bool snap_in_ranges(const struct snap_range *ranges, uint64_t count, uint64_t address);
/* Puts ranges in order, joins those that touch or overlap; returns how many are left. */
uint64_t snap_sort_ranges(struct snap_range *ranges, uint64_t count);

/* Frame descriptors (frames.c). */
struct snap_descriptor {
	uint64_t address, return_address;
	uint16_t frame_size; /* with its flags; SNAP_RETURN_TO_C */
	uint16_t live_count;
};
enum { SNAP_RETURN_TO_C = 0xffff, SNAP_FRAME_DEBUGINFO = 1, SNAP_FRAME_ALLOCATIONS = 2 };
enum hg_status snap_read_frame_tables(struct snap_runtime *runtime, struct hg_error *error);
void snap_release_frame_tables(struct snap_runtime *runtime);
uint64_t snap_frame_table_count(const struct snap_runtime *runtime);
uint64_t snap_descriptor_count(const struct snap_runtime *runtime);
bool snap_find_descriptor(
	struct snap_runtime *runtime, uint64_t return_address, struct snap_descriptor *out);
bool snap_read_descriptor(
	const struct snap_runtime *runtime, uint64_t address, struct snap_descriptor *out);
/* The first descriptors with return addresses behind 'start', in order of these. */
size_t snap_next_descriptors(const struct snap_runtime *runtime, uint64_t start,
	struct snap_descriptor *out, size_t capacity);
/* Address of its debuginfo, of several the first; 0: none. */
uint64_t snap_debuginfo_of(
	const struct snap_runtime *runtime, const struct snap_descriptor *descriptor);
/* "Foo.bar foo.ml:12:3-8", or the function alone, or the address; lives with the runtime. */
const char *snap_frame_name(struct snap_runtime *runtime, uint64_t return_address);

/* Names (names.c): of the code before a return address, with its descriptor or 0. */
const char *snap_code_name(
	struct snap_runtime *runtime, uint64_t return_address, uint64_t descriptor);

/* Tops of stacks (tops.c). */

/* What a thread of the image was doing. */
struct snap_thread_top {
	bool has_ocaml;                     /* unwinding came to a frame of OCaml code */
	unsigned c_frames;                  /* inside of it; 0: was stopped right in OCaml code */
	bool is_repaired;                   /* saved state is stale: use what follows */
	bool is_leaving;                    /* or coming back: gc_regs is stale, too */
	struct snap_frame stopped;          /* the innermost frame */
	struct snap_frame frame;            /* the innermost OCaml frame; rsp of its own stack */
	const struct snap_frame *registers; /* that may hold values */
	uint64_t start_sp, start_return;    /* where frames with descriptors begin */
	uint64_t words_start, words_end;    /* besides: words that may hold values */
};
enum hg_status snap_read_tops(struct snap_runtime *runtime, struct hg_error *error);

/* Heap areas (areas.c, areas4.c, areas5.c). */
enum hg_status snap_read_areas4(struct snap_runtime *runtime, struct hg_error *error);
enum hg_status snap_read_domains5(struct snap_runtime *runtime, struct hg_error *error);
enum hg_status snap_read_areas5(struct snap_runtime *runtime, struct hg_error *error);
enum hg_status snap_add_area(
	struct snap_runtime *runtime, const struct snap_area *area, struct hg_error *error);
/* The used part of a minor heap: from 'young_ptr', or what r15 of a running thread says. */
enum hg_status snap_add_minor_area(struct snap_runtime *runtime, uint32_t domain,
	uint64_t young_ptr, uint64_t end, struct hg_error *error);
void snap_sort_areas(struct snap_runtime *runtime);

/* Roots (roots.c, roots4.c, roots5.c). */

/* What the roots read next have in common. */
struct snap_root_source {
	enum hg_root_kind kind;
	const char *name;
	uint32_t stack;
	bool last;
};
/* Counts a slot; fails when there are more than the image can hold. */
enum hg_status snap_count_slot(
	struct snap_runtime *runtime, enum hg_root_kind kind, struct hg_error *error);
/* Reads the slot at an address; integers are counted but not kept. */
enum hg_status snap_read_root(struct snap_runtime *runtime, const struct snap_root_source *source,
	uint64_t slot_address, uint64_t index, struct hg_error *error);
enum hg_status snap_push_root(struct snap_runtime *runtime, struct snap_runtime_roots *roots,
	const struct snap_runtime_root *root, struct hg_error *error);
enum hg_status snap_read_common_roots(struct snap_runtime *runtime, struct hg_error *error);
enum hg_status snap_read_roots4(struct snap_runtime *runtime, struct hg_error *error);
enum hg_status snap_read_roots5(struct snap_runtime *runtime, struct hg_error *error);
/* One root per slot: the more specific kind wins. */
void snap_settle_roots(struct snap_runtime *runtime);
enum hg_status snap_read_local_roots(struct snap_runtime *runtime, uint64_t local_roots,
	const char *name, uint32_t stack, struct hg_error *error);
enum hg_status snap_read_thread_roots(
	struct snap_runtime *runtime, uint64_t thread, struct hg_error *error);
/* table of struct final with 'count' entries: functions and values. */
enum hg_status snap_read_finalisers(struct snap_runtime *runtime, uint64_t table, uint64_t count,
	const char *name, bool waiting, struct hg_error *error);
enum hg_status snap_read_finaliser_queue(
	struct snap_runtime *runtime, uint64_t head, const char *name, struct hg_error *error);
enum hg_status snap_add_ephemerons(
	struct snap_runtime *runtime, uint64_t list, struct hg_error *error);
const char *snap_print(struct snap_runtime *runtime, const char *format, ...) BASE_PRINTF(2, 3);

/* Units and the roots in their blocks (units.c). */
enum hg_status snap_read_units(struct snap_runtime *runtime, struct hg_error *error);

/* Stacks (stacks.c). */
struct snap_stack_walk {
	struct snap_runtime_roots *roots;
	bool count_slots;   /* in runtime->root_slots */
	const char *suffix; /* of names: " (thread 2)" or "" */
	uint32_t stack;     /* for snap_root.stack */
	uint64_t frames, fibers;
};
/* From the frame at 'sp' that returns to 'return_address', 4.x; false: not walked to the end. */
enum hg_status snap_walk_stack4(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	uint64_t sp, uint64_t return_address, uint64_t gc_regs, bool *complete,
	struct hg_error *error);
/* A stack_info and its parents, 5.x; 'top' repairs the first, or is NULL. */
enum hg_status snap_walk_stack5(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	uint64_t stack, uint64_t gc_regs, const struct snap_thread_top *top, bool *complete,
	struct hg_error *error);
/* Words of the frames without descriptors, and registers. */
enum hg_status snap_add_conservative(struct snap_runtime *runtime, struct snap_stack_walk *walk,
	const struct snap_thread_top *top, struct hg_error *error);
enum hg_status snap_new_stack(struct snap_runtime *runtime, uint32_t domain, uint32_t systhread,
	uint32_t *out, struct hg_error *error);

/* Gc.Memprof (memprof.c). */
enum hg_status snap_read_memprof4(struct snap_runtime *runtime, struct hg_error *error);
enum hg_status snap_read_memprof4_thread(
	struct snap_runtime *runtime, uint64_t context, struct hg_error *error);
enum hg_status snap_read_memprof5(
	struct snap_runtime *runtime, uint64_t memprof, struct hg_error *error);
enum hg_status snap_read_memprof5_orphans(
	struct snap_runtime *runtime, uint64_t list, struct hg_error *error);

#endif
