/*
 * How the parts of the reader of a runtime read: words, lists that may not end, variables; and what
 * they say to the user.  Functions that fill one part of struct snap_runtime report no more than
 * that they ran out of memory: what they cannot read they note.
 */
#ifndef SNAPSHOT_RUNTIME_READER_H
#define SNAPSHOT_RUNTIME_READER_H

#include "base/grow.h"
#include "snapshot/runtime/state.h"

/* Remembers a line for the user; the first ones are kept. */
void snap_note_line(struct snap_runtime *runtime, const char *format, ...) BASE_PRINTF(2, 3);

/* Text that lives as long as the runtime; "" when there is no memory or budget for it. */
const char *snap_print(struct snap_runtime *runtime, const char *format, ...) BASE_PRINTF(2, 3);

/*
 * Takes from the work budget what is followed: nodes of lists, frames and their slots, descriptors,
 * words of names. Each has memory of its own, so that more of them than the image has words means
 * structures made to share what they lead to; from then on false.
 */
bool snap_spend(struct snap_runtime *runtime, uint64_t items);

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

/* The code that a frame returns to: a word of a stack, which may be signed or marked. */
static inline uint64_t snap_return_address(const struct snap_runtime *runtime, uint64_t address)
{
	return snap_image_code(runtime->image, snap_word(runtime, address));
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
 * are found by what exported functions do with them; without any symbols all by their shape.
 */
uint64_t snap_variable(struct snap_runtime *runtime, const char *name);
/* Of what may be empty, and then is not found by its shape: that others are missing is noted. */
uint64_t snap_variable_or_note(struct snap_runtime *runtime, const char *name);
/* The value in it; 0 if it is not there. */
uint64_t snap_variable_word(struct snap_runtime *runtime, const char *name);

/*
 * Of a program without symbols: runtime->found, or NULL if it has no tables of OCaml code; then,
 * once the layout is known, the variables of its runtime.
 */
enum hg_status snap_find_tables(struct snap_runtime *runtime, struct hg_error *error);
enum hg_status snap_find_variables(struct snap_runtime *runtime, struct hg_error *error);
/* Fails when headers have reserved bits, which nothing but symbols tells the number of. */
enum hg_status snap_check_headers(struct snap_runtime *runtime, struct hg_error *error);
void snap_release_found(struct snap_runtime *runtime);

#endif
