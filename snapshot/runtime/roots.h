/*
 * Roots: slots outside the heap that hold values, read one by one; those of units
 * (roots_units.c) and of Gc.Memprof, with the blocks that it tracks (roots_memprof.c).
 */
#ifndef SNAPSHOT_RUNTIME_ROOTS_H
#define SNAPSHOT_RUNTIME_ROOTS_H

#include "snapshot/runtime/state.h"

void snap_roots_release(struct snap_runtime_roots *roots);

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
enum hg_status snap_read_named_values(struct snap_runtime *runtime, struct hg_error *error);
/* Those that C code has registered. */
enum hg_status snap_read_c_roots(struct snap_runtime *runtime, struct hg_error *error);

/* Leaves one root per slot: the more specific kind wins. */
void snap_sort_roots(struct snap_runtime *runtime);

/*
 * Marks globals that hold what other globals are: the value of one before, or a block of nothing
 * but such values.  After snap_sort_roots().
 */
enum hg_status snap_find_copied_roots(struct snap_runtime *runtime, struct hg_error *error);

/* CAMLparam and CAMLlocal. */
enum hg_status snap_read_local_roots(struct snap_runtime *runtime, uint64_t local_roots,
	const char *name, uint32_t stack, struct hg_error *error);
/* What the library systhreads keeps for a thread. */
enum hg_status snap_read_thread_roots(
	struct snap_runtime *runtime, uint64_t thread, struct hg_error *error);
/* Of a table of struct final with 'count' entries: functions and values. */
enum hg_status snap_read_finalisers(struct snap_runtime *runtime, uint64_t table, uint64_t count,
	const char *name, bool waiting, struct hg_error *error);
/* Finalisers whose values were found dead, and that wait to be run. */
enum hg_status snap_read_finaliser_queue(
	struct snap_runtime *runtime, uint64_t head, const char *name, struct hg_error *error);
/* The ephemerons of a list of the runtime. */
enum hg_status snap_add_ephemerons(
	struct snap_runtime *runtime, uint64_t list, struct hg_error *error);

/* Units and the roots in their blocks. */
enum hg_status snap_read_units(struct snap_runtime *runtime, struct hg_error *error);

/*
 * For each field of a unit's block the address of the word that the unit's code copies there, or 0
 * if the code does not show it.
 */
enum hg_status snap_runtime_unit_sources(struct snap_runtime *runtime, const struct snap_unit *unit,
	uint64_t *sources, struct hg_error *error);

/* Blocks that Gc.Memprof tracks, and its own roots. */
enum hg_status snap_read_memprof4(struct snap_runtime *runtime, struct hg_error *error);
enum hg_status snap_read_memprof4_thread(
	struct snap_runtime *runtime, uint64_t context, struct hg_error *error);
enum hg_status snap_read_memprof5(
	struct snap_runtime *runtime, uint64_t memprof, struct hg_error *error);
enum hg_status snap_read_memprof5_orphans(
	struct snap_runtime *runtime, uint64_t list, struct hg_error *error);

/*
 * The call stack in a value: an array of Printexc.raw_backtrace_entry.  *count is how many slots
 * it has, of which at most 'capacity' are stored; false if the value is no such thing.
 */
enum { SNAP_PROOF_SLOTS = 64 }; /* of one that is not stored in full, looked at to prove it */
bool snap_runtime_callstack(struct snap_runtime *runtime, uint64_t value, uint64_t *slots,
	uint64_t capacity, uint64_t *count);
/*
 * Whether these fields of a block are a call stack: the innermost slot and then frames only.  A
 * single slot that may also be an integer is one only if that is likely from elsewhere.
 */
bool snap_runtime_is_callstack(
	struct snap_runtime *runtime, const uint64_t *slots, uint64_t count, bool is_likely);
/* As snap_runtime_callstack(), for snap_sample.stash. */
bool snap_runtime_stash(struct snap_runtime *runtime, uint64_t stash, uint64_t *slots,
	uint64_t capacity, uint64_t *count);

#endif
