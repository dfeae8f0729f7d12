/*
 * The process behind a snapshot: what can be asked where the file has its memory and its code, as a
 * core has.  Other formats have none, and every question is answered as if nothing were known.
 */
#ifndef SNAPSHOT_PROCESS_H
#define SNAPSHOT_PROCESS_H

#include "snapshot/snapshot.h"
#include "snapshot/walk.h"

/* Memory of the process as the file has it: bytes[0] is that at 'start'. */
struct snap_extent {
	uint64_t start, end;
	const uint8_t *bytes;
};

/* A block that the program's own profiler has sampled. */
struct snap_tracked {
	struct snap_header_address address;
	uint64_t wosize;  /* as sampled: of a custom block the words outside the heap */
	uint64_t samples; /* its words that were sampled */
	double rate;      /* with which each word was; 0 unknown */
	bool has_id;
	int64_t id;      /* the integer that the program keeps with it */
	bool is_outside; /* what was sampled is not in the heap */
};

/* What lies at an address that leads to no block. */
enum snap_region_kind {
	SNAP_REGION_LOW,  /* too low for an address */
	SNAP_REGION_HIGH, /* too high for one */
	SNAP_REGION_CHUNK,
	SNAP_REGION_FILE,
	SNAP_REGION_MEMORY, /* of the process, of no file */
	SNAP_REGION_UNKNOWN
};
struct snap_region {
	enum snap_region_kind kind;
	uint64_t start;   /* differs from region to region */
	const char *name; /* of the file or the segment, or NULL */
};

/* A table of all these functions, which a loader sets in the snapshot. */
struct snap_process {
	/*
	 * Words for people, counted and cut as by snprintf(3), 0 if there are none.  The function
	 * at a code address; the kind of a custom block; a frame of the call stack that allocated a
	 * block, the innermost first; all of that call stack in one line.
	 */
	size_t (*code_name)(const struct snap *snap, uint64_t value, char *buffer, size_t size);
	size_t (*custom_name)(
		const struct snap *snap, struct snap_rank rank, char *buffer, size_t size);
	size_t (*call_frame)(const struct snap *snap, struct snap_rank rank, uint64_t frame,
		char *buffer, size_t size);
	size_t (*call_stack)(const struct snap *snap, struct snap_header_address address,
		char *buffer, size_t size);
	/* Whether a block is a call stack as Gc.Memprof hands it over; 'is_likely': of a single
	 * frame, too, which may as well be an integer. */
	bool (*is_call_stack)(
		const struct snap *snap, const struct snap_cell *cell, bool is_likely);
	/*
	 * Where the frames of that call stack are in the source, the innermost first: how many are
	 * known, of which at most 'capacity' are stored.
	 */
	uint64_t (*call_locations)(const struct snap *snap, struct snap_rank rank,
		struct snap_location *out, uint64_t capacity);
	/* The integer that the program's own profiler keeps with a block; false if none. */
	bool (*sample_id)(const struct snap *snap, struct snap_rank rank, int64_t *id);
	/* The blocks that it tracks, by address, once blocks have ranks; false past the last. */
	bool (*tracked)(const struct snap *snap, uint64_t index, struct snap_tracked *out);
	/* Memory around a block in which blocks lie as they did in the process; false if that one
	 * does not.  A word of the process. */
	bool (*extent)(const struct snap *snap, struct snap_header_address address,
		struct snap_extent *out);
	bool (*word_at)(const struct snap *snap, uint64_t address, uint64_t *word);
	/*
	 * The symbol of the function at a code address.  Where the calls and allocations of some
	 * code are in the source, each as of the function that the code belongs to: how many there
	 * are, of which at most 'capacity' are stored.  The line of a code address.
	 */
	bool (*code_symbol)(
		const struct snap *snap, uint64_t address, struct snap_code_symbol *out);
	uint64_t (*code_locations)(const struct snap *snap, struct snap_range code,
		struct snap_location *out, uint64_t capacity);
	bool (*code_line)(const struct snap *snap, uint64_t address, struct snap_location *out);
	/* Of bytecode: the variable in a field of a closure whose first code is at an address. */
	bool (*captured)(
		const struct snap *snap, uint64_t code, uint64_t field, struct snap_captured *out);
	/* The mapping that holds an address; false if the file knows of none. */
	bool (*region)(const struct snap *snap, uint64_t address, struct snap_region *out);
	/*
	 * The addresses of the words that the code of a unit copies to the fields of its block, or
	 * 0: 'wosize' of them.  With flambda it does so when it ends; the fields are () until then.
	 */
	enum hg_status (*unit_sources)(const struct snap *snap, const struct snap_unit *unit,
		uint64_t *sources, struct hg_error *error);
	/* How the memory of the process adds up, once blocks have ranks. */
	enum hg_status (*memory)(
		const struct snap *snap, struct hg_memory *out, struct hg_error *error);
	/* Whether memory ran out where the functions above could not say so. */
	bool (*lost)(const struct snap *snap);
};

static inline size_t snap_process_code_name(
	const struct snap *snap, uint64_t value, char *buffer, size_t size)
{
	return snap->process ? snap->process->code_name(snap, value, buffer, size) : 0;
}

static inline size_t snap_process_custom_name(
	const struct snap *snap, struct snap_rank rank, char *buffer, size_t size)
{
	return snap->process ? snap->process->custom_name(snap, rank, buffer, size) : 0;
}

/* Of a block whose call stack somebody else tells; else 0. */
static inline uint32_t snap_process_told_call(const struct snap *snap, struct snap_rank rank)
{
	return snap->told.call_count
		       ? snap_sampled_call(snap, snap_ranks_header(&snap->ranks, rank))
		       : 0;
}

static inline size_t snap_process_call_frame(
	const struct snap *snap, struct snap_rank rank, uint64_t frame, char *buffer, size_t size)
{
	uint32_t call = snap_process_told_call(snap, rank);
	if (call)
		return snap_put_told_frame(&snap->told, call, frame, buffer, size);
	return snap->process ? snap->process->call_frame(snap, rank, frame, buffer, size) : 0;
}

static inline uint64_t snap_process_call_locations(const struct snap *snap, struct snap_rank rank,
	struct snap_location *out, uint64_t capacity)
{
	uint32_t call = snap_process_told_call(snap, rank);
	if (call)
		return snap_told_locations(&snap->told, call, out, capacity);
	return snap->process ? snap->process->call_locations(snap, rank, out, capacity) : 0;
}

static inline size_t snap_process_call_stack(
	const struct snap *snap, struct snap_header_address address, char *buffer, size_t size)
{
	uint32_t call = snap_sampled_call(snap, address);
	if (call)
		return snap_put_told_stack(&snap->told, call, buffer, size);
	return snap->process ? snap->process->call_stack(snap, address, buffer, size) : 0;
}

static inline bool snap_process_is_call_stack(
	const struct snap *snap, const struct snap_cell *cell, bool is_likely)
{
	return snap->process && snap->process->is_call_stack(snap, cell, is_likely);
}

static inline bool snap_process_sample_id(
	const struct snap *snap, struct snap_rank rank, int64_t *id)
{
	return snap->process && snap->process->sample_id(snap, rank, id);
}

static inline bool snap_process_tracked(
	const struct snap *snap, uint64_t index, struct snap_tracked *out)
{
	return snap->process && snap->process->tracked(snap, index, out);
}

static inline bool snap_process_extent(
	const struct snap *snap, struct snap_header_address address, struct snap_extent *out)
{
	return snap->process && snap->process->extent(snap, address, out);
}

static inline bool snap_process_word(const struct snap *snap, uint64_t address, uint64_t *word)
{
	return snap->process && snap->process->word_at(snap, address, word);
}

static inline bool snap_process_code_symbol(
	const struct snap *snap, uint64_t address, struct snap_code_symbol *out)
{
	return snap->process && snap->process->code_symbol(snap, address, out);
}

static inline uint64_t snap_process_code_locations(const struct snap *snap, struct snap_range code,
	struct snap_location *out, uint64_t capacity)
{
	return snap->process ? snap->process->code_locations(snap, code, out, capacity) : 0;
}

static inline bool snap_process_code_line(
	const struct snap *snap, uint64_t address, struct snap_location *out)
{
	return snap->process && snap->process->code_line(snap, address, out);
}

static inline bool snap_process_captured(
	const struct snap *snap, uint64_t code, uint64_t field, struct snap_captured *out)
{
	return snap->process && snap->process->captured(snap, code, field, out);
}

static inline bool snap_process_region(
	const struct snap *snap, uint64_t address, struct snap_region *out)
{
	return snap->process && snap->process->region(snap, address, out);
}

/* All 0 if there is no process. */
static inline enum hg_status snap_process_unit_sources(const struct snap *snap,
	const struct snap_unit *unit, uint64_t *sources, struct hg_error *error)
{
	if (snap->process)
		return snap->process->unit_sources(snap, unit, sources, error);
	for (uint64_t i = 0; i < unit->wosize; i++)
		sources[i] = 0;
	return HG_OK;
}

static inline bool snap_process_lost(const struct snap *snap)
{
	return snap->process && snap->process->lost(snap);
}

#endif
