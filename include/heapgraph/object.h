/*
 * Of heapgraph.h: one block, and its value as text.
 */
#ifndef HEAPGRAPH_OBJECT_H
#define HEAPGRAPH_OBJECT_H

#include "heapgraph/nodes.h"

enum hg_value_kind {
	HG_VALUE_INT,      /* 'value' is the integer */
	HG_VALUE_SOME_INT, /* an integer that the format does not record */
	HG_VALUE_BLOCK,    /* 'node'; 'value' is the raw word */
	HG_VALUE_CODE,
	HG_VALUE_OUTSIDE,  /* a pointer out of the heap */
	HG_VALUE_DANGLING, /* into the heap, but not to a block */
	HG_VALUE_RAW,      /* not a value: infix header, code information */
	HG_VALUE_ATOM      /* to a block without fields, like [||] */
};

struct hg_field {
	uint64_t index;
	enum hg_value_kind kind;
	int64_t value;
	hg_node node;  /* HG_NO_NODE unless kind is HG_VALUE_BLOCK */
	uint32_t type; /* of the block, else what the field has by the type of its own block; 0 */
};

struct hg_referrer {
	hg_node node;
	uint64_t field; /* the first that leads here; HG_UNKNOWN for roots, and for what
			   holds it otherwise: a key its ephemeron's data, a fiber */
};

struct hg_object {
	struct hg_block *block;
	size_t fields_count; /* of those recorded and asked for */
	struct hg_field **fields;
	size_t holds_count; /* what it holds besides its fields: a fiber, data of ephemerons */
	hg_node *holds;
	bool fields_recorded; /* false for strings, floats, ... in formats without contents */
	uint64_t referrers_total;
	size_t referrers_count;
	struct hg_referrer **referrers; /* fields by node, then other holders, then roots */
	size_t dominators_count;
	hg_node *dominators;    /* from the immediate one up to the virtual root */
	size_t content_size;    /* bytes known of a string or number, 0 for none */
	const uint8_t *content; /* in the file: valid as long as the snapshot is open */
	bool content_cut;       /* the file holds only the beginning */
};

/* At most 'max_fields' fields and 'max_referrers' referrers (0: all). */
HG_API enum hg_status hg_describe_object(struct hg_snapshot *snapshot, hg_node node,
	uint64_t max_fields, uint64_t max_referrers, struct hg_object **out);
HG_API void hg_object_release(struct hg_object **object);

/*
 * A value, or that of one field of a block, as OCaml's toplevel prints it, in one line: "Some {user
 * = \"ann\"; visits = 3}", "_" for what is not known, "..." for what is left out.  Contents are
 * bytes of the program: they may be anything.
 */
struct hg_text_options {
	size_t size;
	uint32_t depth;       /* levels of blocks; 0: 10; at most 50 */
	uint32_t most_parts;  /* fields or elements of one value; 0: 20 */
	uint32_t most_bytes;  /* of one string; 0: 60 */
	uint32_t most_values; /* in all; 0: 100 */
	bool redact;          /* no strings, no numbers: what is left are names of the program */
};

HG_API size_t hg_value_text(struct hg_snapshot *snapshot, hg_node node,
	const struct hg_text_options *options, char *buffer, size_t size);
HG_API size_t hg_field_text(struct hg_snapshot *snapshot, hg_node node, uint64_t field,
	const struct hg_text_options *options, char *buffer, size_t size);

#endif
