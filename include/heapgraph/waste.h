/*
 * Of heapgraph.h: memory that a program could do without.
 */
#ifndef HEAPGRAPH_WASTE_H
#define HEAPGRAPH_WASTE_H

#include "heapgraph/nodes.h"

enum hg_waste_section {
	HG_WASTE_STRINGS,     /* equal ones: a row for each content */
	HG_WASTE_BYTES,       /* the same of bytes, which cannot be shared as long as they change */
	HG_WASTE_VALUES,      /* equal immutable values of all types: a row for each type */
	HG_WASTE_TABLES,      /* empty buckets of hash tables: a row for each table */
	HG_WASTE_TAILS,       /* unused ends of buffers and growing arrays: a row for each */
	HG_WASTE_NUMBERS,     /* boxed, in lists and arrays: a row for each type of these */
	HG_WASTE_OPTIONS,     /* blocks of Some: a row for each type */
	HG_WASTE_BOXES,       /* of one field that could be unboxed: a row for each type */
	HG_WASTE_UNREACHABLE, /* a row for each type */
	HG_WASTE_SECTIONS
};

HG_API const char *hg_waste_section_name(enum hg_waste_section section);

/* What does not apply to a section is 0. */
struct hg_waste_row {
	enum hg_waste_section section;
	uint32_t type;   /* for hg_type_name(); 0: unknown */
	hg_node example; /* the first one, of equal ones the one to keep */
	uint64_t blocks; /* that there are; of values: that could be saved; of tables: bindings */
	uint64_t bytes;  /* theirs; of tables and tails, of what has the room */
	uint64_t saved_bytes;
	uint64_t groups; /* of values: how many different ones have copies */
	uint64_t outer;  /* of values: those saved that are not part of another one */
	uint64_t room;   /* of tables: buckets; of tails: bytes or elements */
	uint64_t used;   /* of tables: buckets in use; of tails: as room; of options: of integers */
	uint64_t longest; /* of tables: bindings in one bucket */
};

struct hg_waste_sum {
	bool answered; /* false: 'missing' says what is wanting */
	const char *missing;
	uint64_t rows, blocks, bytes, saved_bytes;
};

struct hg_waste {
	size_t count;
	struct hg_waste_row **rows; /* by section, then saved bytes descending, then example */
	size_t sums_count;
	struct hg_waste_sum **sums; /* of each section; what they save overlaps */
};

HG_API enum hg_status hg_list_waste(struct hg_snapshot *snapshot, struct hg_waste **out);
HG_API void hg_waste_release(struct hg_waste **waste);

#endif
