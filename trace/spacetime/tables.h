/*
 * The two tables of a series: where in the source a frame is, and what the fields of a function's
 * nodes are.  Addresses are those of the process.
 */
#ifndef TRACE_SPACETIME_TABLES_H
#define TRACE_SPACETIME_TABLES_H

#include "trace/names.h"
#include "trace/spacetime/series.h"

/* 28 bytes each. */
struct spacetime_location {
	uint32_t file; /* a name */
	int64_t line, start, end;
	bool known, is_raise;
};

/* What the fields of a node are for, behind the first two; in their order. */
enum spacetime_part_kind { SPACETIME_DIRECT, SPACETIME_INDIRECT, SPACETIME_ALLOCATION };

struct spacetime_part {
	enum spacetime_part_kind kind;
	uint64_t pc, callee; /* callee: of direct calls */
};

struct spacetime_span {
	uint32_t first, count;
};

struct spacetime_tables {
	bool call_counts;
	struct trace_names files;
	struct base_map frame_of; /* by return address: an index of frames */
	struct spacetime_span *frames;
	uint64_t frame_count, frame_capacity;
	struct spacetime_location *locations; /* of a frame innermost first */
	uint64_t location_count, location_capacity;

	struct base_map shape_of; /* by address of the function: an index of shapes */
	struct spacetime_shape {
		uint32_t first, count; /* parts */
		uint64_t words;        /* of all */
	} * shapes;
	uint64_t *functions; /* of each shape */
	uint64_t shape_count, shape_capacity, function_capacity;
	struct spacetime_part *parts;
	/* Of each part its words in a node << 2 | kind: all that most parts are asked for. */
	uint8_t *forms;
	uint64_t part_count, part_capacity, form_capacity;
};

/* Of a complete series; released by the caller, after failures too. */
enum hg_status spacetime_read_tables(const struct spacetime_series *series,
	struct spacetime_tables *tables, struct hg_error *error);
/* The same without frames, of which there is but their count. */
enum hg_status spacetime_read_shapes(const struct spacetime_series *series,
	struct spacetime_tables *tables, struct hg_error *error);
void spacetime_tables_release(struct spacetime_tables *tables);

/* Words of a part in a node. */
static inline uint32_t spacetime_part_words(
	const struct spacetime_tables *tables, const struct spacetime_part *part)
{
	static const uint32_t words[] = {1, 1, 3};
	return words[part->kind] + (part->kind == SPACETIME_DIRECT && tables->call_counts);
}

static inline uint32_t spacetime_form_words(uint8_t form)
{
	return form >> 2;
}

static inline enum spacetime_part_kind spacetime_form_kind(uint8_t form)
{
	return (enum spacetime_part_kind)(form & 3);
}

#endif
