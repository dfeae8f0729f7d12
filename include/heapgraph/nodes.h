/*
 * Of heapgraph.h: nodes, which are blocks 0 .. blocks-1 by ascending address, then the roots, then
 * the virtual root; and names.
 */
#ifndef HEAPGRAPH_NODES_H
#define HEAPGRAPH_NODES_H

#include "heapgraph/snapshot.h"

typedef uint32_t hg_node;
#define HG_NO_NODE UINT32_MAX

enum hg_confidence { HG_UNKNOWN_ORIGIN, HG_GUESSED, HG_INFERRED, HG_EXACT };

HG_API const char *hg_confidence_name(enum hg_confidence confidence);

/*
 * One node.  For roots address, tag, words and bytes are 0 and location is 0.  Of a node that there
 * is not, 'node' is HG_NO_NODE and all else 0.
 */
struct hg_block {
	hg_node node;
	bool is_root; /* a root node or the virtual root */
	bool reachable;
	bool is_continuation; /* of OCaml 5: its fields are not values, it holds a fiber */
	uint8_t tag;
	enum hg_segment segment;
	uint64_t address;        /* of field 0 */
	uint64_t words;          /* wosize: fields, without the header */
	uint64_t bytes;          /* header included */
	uint64_t retained_bytes; /* 0 when unreachable */
	uint64_t offheap_bytes;
	hg_node idom;      /* HG_NO_NODE when unreachable and for the virtual root */
	uint32_t location; /* for hg_location_name(); 0: none */
	enum hg_confidence location_confidence;
	uint32_t type; /* for hg_type_name(); 0: unknown */
	enum hg_confidence type_confidence;
	uint64_t retained_offheap_bytes; /* owned outside the heap by what the node retains */
	hg_node root; /* that alone holds it; HG_NO_NODE: unreachable, or several hold it together
		       */
};

HG_API hg_node hg_virtual_root(const struct hg_snapshot *snapshot);

/* Never NULL; valid until a block of the snapshot is described again: copy it if need be. */
HG_API const struct hg_block *hg_describe_block(struct hg_snapshot *snapshot, hg_node node);

/* The block that holds this address (field 0, or inside), or HG_NO_NODE. */
HG_API hg_node hg_block_at(struct hg_snapshot *snapshot, uint64_t address);

/* The block that a root leads to; HG_NO_NODE if to none, or if the node is no root. */
HG_API hg_node hg_root_target(const struct hg_snapshot *snapshot, hg_node node);

/*
 * Every block in order of addresses, faster than hg_describe_block() one by one; NULL at the end.
 * A block is valid until the next one is asked for.
 */
struct hg_objects;

HG_API enum hg_status hg_objects_open(struct hg_snapshot *snapshot, struct hg_objects **out);
HG_API const struct hg_block *hg_objects_next(struct hg_objects *objects);
HG_API void hg_objects_close(struct hg_objects *objects);

/* What makes an edge.  Roots of each kind hold only what those of the kinds before do not. */
enum hg_edge_kind {
	HG_EDGE_FIELD,
	HG_EDGE_EPHEMERON, /* from a key to the data that live as long as it does */
	HG_EDGE_FIBER,     /* from a continuation to its stack, and from that to blocks */
	HG_EDGE_ROOT,      /* from a root that lasts */
	HG_EDGE_PASSING,   /* from a stack, a register or a local root */
	HG_EDGE_LAST       /* from a finaliser to its value, or a global that is others again */
};

HG_API const char *hg_edge_kind_name(enum hg_edge_kind kind);

struct hg_edge {
	hg_node from, to;
	uint64_t field; /* HG_UNKNOWN unless kind is HG_EDGE_FIELD */
	enum hg_edge_kind kind;
};

/*
 * Every pointer to a block, those of unreachable blocks too, by node: fields in order, then what
 * the node holds otherwise.  NULL at the end.  An edge is valid until the next one is asked for.
 */
struct hg_edges;

HG_API enum hg_status hg_edges_open(struct hg_snapshot *snapshot, struct hg_edges **out);
HG_API const struct hg_edge *hg_edges_next(struct hg_edges *edges);
HG_API void hg_edges_close(struct hg_edges *edges);

/* Names */

/*
 * "0x..." for a block, "kind name" for a root, "root" for the virtual one; and of a root its kind
 * (HG_ROOT_OTHER of another node) and its name alone.
 */
HG_API size_t hg_node_name(
	const struct hg_snapshot *snapshot, hg_node node, char *buffer, size_t size);
HG_API enum hg_root_kind hg_kind_of_root(const struct hg_snapshot *snapshot, hg_node node);
HG_API size_t hg_root_name(
	const struct hg_snapshot *snapshot, hg_node node, char *buffer, size_t size);

/* "file:line:start-end"; "[name]" for a predefined id, "" for none. */
HG_API size_t hg_location_name(
	const struct hg_snapshot *snapshot, uint32_t location, char *buffer, size_t size);

/*
 * A type in OCaml's syntax, "(string, int list) Hashtbl.t", "_" for what is not known inside; ""
 * for none.
 */
HG_API size_t hg_type_name(
	const struct hg_snapshot *snapshot, uint32_t type, char *buffer, size_t size);

/*
 * The field of a block, as one writes it after the block: ".visits" of a record, "Some.0" of a
 * constructor, ".0" of a tuple, "[12]" of an array, "hd" and "tl" of a list, ".table" of a module;
 * "" when the type does not tell.
 */
HG_API size_t hg_field_name(
	struct hg_snapshot *snapshot, hg_node node, uint64_t field, char *buffer, size_t size);

/*
 * What cores tell besides: the function at a code address ("Stdlib__List.map"), the kind of a
 * custom block ("_bigarr02"), a frame of the call stack that allocated a block which Gc.Memprof
 * tracks ("Foo.bar foo.ml:12:3-8", frame 0 innermost).
 */
HG_API size_t hg_code_name(
	const struct hg_snapshot *snapshot, uint64_t address, char *buffer, size_t size);
HG_API size_t hg_custom_name(
	const struct hg_snapshot *snapshot, hg_node node, char *buffer, size_t size);
HG_API size_t hg_call_frame(const struct hg_snapshot *snapshot, hg_node node, uint64_t frame,
	char *buffer, size_t size);

/* The number that a profiler keeps with a block: memtrace's object id.  False if there is none. */
HG_API bool hg_sample_id(const struct hg_snapshot *snapshot, hg_node node, int64_t *id);

#endif
