/*
 * The shapes of the runtime's variables: places in the data of its C code that look like what they
 * are, and that lead to what they should.  Those of each family are a table (shapes_4.c,
 * shapes_5.c), in the order in which they are looked for, as some are known by others.
 */
#ifndef SNAPSHOT_RUNTIME_FOUND_SHAPES_H
#define SNAPSHOT_RUNTIME_FOUND_SHAPES_H

#include "snapshot/runtime/found/found.h"

/* A place that has a shape. */
struct snap_candidate {
	uint64_t address;
	uint64_t says;   /* what it leads to: places that say the same are the same */
	uint64_t weight; /* how much it leads to, at least 1 */
};

/* Looks at the word at an address; what it fills in begins as {address, word, 1}. */
typedef bool snap_shape_fits(struct snap_found *found, uint64_t word, struct snap_candidate *out);

struct snap_shape {
	const char *names[3]; /* of the variable; of several that look alike: any of them */
	snap_shape_fits *fits;
	bool is_needed;    /* the program cannot be read without it */
	bool takes_most;   /* of two that differ, the one that leads to more */
	bool is_constant;  /* it is in data that nobody writes to */
	const char *holds; /* roots that are not known without it; NULL: it holds none */
	/* Called once it was found, with the address. */
	enum hg_status (*use)(struct snap_found *found, uint64_t address, struct hg_error *error);
};

/* Ends with one without names, as do these. */
extern const struct snap_shape snap_shapes_4[], snap_shapes_5[];

/* What both have. */
bool snap_fits_named_values(struct snap_found *found, uint64_t word, struct snap_candidate *out);
bool snap_fits_c_roots(struct snap_found *found, uint64_t word, struct snap_candidate *out);
/* How far a list was followed; of one that leads back into itself a position is met again. */
struct snap_found_list {
	uint64_t count, kept;
};
/* False once a list at this position is known to have no end, or is too long. */
bool snap_found_goes_on(struct snap_found_list *list, uint64_t at);
/* Whether an address is in a minor heap, once the states of domains are known. */
bool snap_found_is_young(const struct snap_found *found, uint64_t address);
/* 256 headers of blocks without fields. */
bool snap_is_atom_table(const struct snap_found *found, uint64_t address);
/* A ring of threads of the library systhreads; 5.x: all of them of a domain. */
bool snap_is_thread_ring(const struct snap_found *found, uint64_t thread, uint64_t domain);
/* Finalisers: 'count' of them from 'table' on. */
bool snap_is_finaliser_table(const struct snap_found *found, uint64_t table, uint64_t count);
/* struct finalisable; *count is how many finalisers it has. */
bool snap_is_finalisable(const struct snap_found *found, uint64_t address, uint64_t *count);
/* How many ephemerons a list has; 0: it is none. */
uint64_t snap_ephemeron_list_length(const struct snap_found *found, uint64_t first);

#endif
