/*
 * Call stacks of blocks that the snapshot itself does not have, and somebody else tells: a trace of
 * the program.  They are a tree, each call with its caller, so that deep stacks which are nearly
 * the same cost little.  struct snap_sampled says which call allocated a block.
 */
#ifndef SNAPSHOT_TOLD_H
#define SNAPSHOT_TOLD_H

#include "snapshot/locations.h"

/* Names live as long as the snapshot. */
struct snap_told_frame {
	struct snap_location at; /* its file is never NULL */
	const char *function;    /* "" if it is not known */
};

struct snap_told_call {
	uint32_t caller; /* a smaller number; 0: nobody */
	uint32_t place;
};

/* A place in the code: the functions that are inlined there, the innermost first. */
struct snap_told_place {
	uint64_t first;
	uint32_t count; /* 0: nothing is known of it */
};

/* Arrays from malloc; a zeroed one has none. */
struct snap_told {
	struct snap_told_call *calls; /* number 0 is none */
	uint32_t call_count;
	struct snap_told_place *places;
	struct snap_told_frame *frames;
};

static inline void snap_told_release(struct snap_told *told)
{
	free(told->calls);
	free(told->places);
	free(told->frames);
	*told = (struct snap_told){0};
}

/*
 * The frames of the stack that ends with a call, the innermost first: one of them, and all in one
 * line, as text, counted and cut as by snprintf(3), 0 if there is none; and how many have a line,
 * of which at most 'capacity' are stored.
 */
size_t snap_put_told_frame(
	const struct snap_told *told, uint32_t call, uint64_t frame, char *buffer, size_t size);
size_t snap_put_told_stack(const struct snap_told *told, uint32_t call, char *buffer, size_t size);
uint64_t snap_told_locations(
	const struct snap_told *told, uint32_t call, struct snap_location *out, uint64_t capacity);

/* "Foo.bar foo.ml:12:3-8". */
size_t snap_put_frame(
	const char *function, const struct snap_location *at, char *buffer, size_t size);

/* The same at the end of a line of such frames, whose length so far is *length. */
void snap_append_frame(const char *function, const struct snap_location *at, char *buffer,
	size_t size, size_t *length);

/* Calls of a stack that are shown; what follows them is "...". */
enum { SNAP_MOST_CALLS = 256 };
void snap_append_rest(char *buffer, size_t size, size_t *length);

#endif
