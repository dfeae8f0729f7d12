/*
 * Names as reports spell them, appended to a rep_text.  What comes out of a snapshot is not escaped
 * here: the emitter does that for the sink it writes to.
 */
#ifndef REPORT_NAMES_H
#define REPORT_NAMES_H

#include "report/writers/escape.h"

#include "heapgraph.h"

/* What the mark says of locations, and of types. */
#define REP_GUESS_MEANING                                                                          \
	"? a guess: the writer of this format gives closures and some other blocks wrong "         \
	"locations"

#define REP_TYPE_GUESS_MEANING                                                                     \
	"? a guess: the profile does not quite fit the program, or a place allocates several "     \
	"types"

void rep_name_type(struct rep_text *text, const struct hg_snapshot *snapshot, uint32_t type);
/* A part of a declared type, of hg_list_types(). */
void rep_name_declared(struct rep_text *text, const struct hg_snapshot *snapshot, uint32_t id,
	enum hg_declared_part part);
/*
 * The type, with a mark if it is a guess; or "unknown (tag 2, 3 words)", "unknown (closure, 4
 * words)".
 */
void rep_name_block_type(
	struct rep_text *text, const struct hg_snapshot *snapshot, const struct hg_block *block);
/* ".visits", "Some.0"; "field 3" if the type does not tell. */
void rep_name_field(
	struct rep_text *text, struct hg_snapshot *snapshot, hg_node node, uint64_t field);

/* A value in one line, as hg_value_text() prints it, and that of one field of a block. */
void rep_name_value(struct rep_text *text, struct hg_snapshot *snapshot, hg_node node,
	const struct hg_text_options *options);
void rep_name_field_value(struct rep_text *text, struct hg_snapshot *snapshot, hg_node node,
	uint64_t field, const struct hg_text_options *options);

void rep_name_location(
	struct rep_text *text, const struct hg_snapshot *snapshot, uint32_t location);
/* "0x..." for a block, "kind name" for a root, "root" for the virtual root. */
void rep_name_node(struct rep_text *text, const struct hg_snapshot *snapshot, hg_node node);
void rep_name_root(struct rep_text *text, const struct hg_snapshot *snapshot, hg_node node);
void rep_name_class(
	struct rep_text *text, const struct hg_snapshot *snapshot, enum hg_key key, uint32_t id);

/* "closure", "string", ...: what the runtime keeps under a tag; "block" for constructors. */
const char *rep_tag_word(unsigned tag);

/* "string of 12 words", "block of 3 words with tag 2". */
void rep_name_shape(struct rep_text *text, const struct hg_block *block);

/*
 * A node for people: "0x7f12 string list, 2 words, cache.ml:3:4-5"; "0x7f12 cache.ml:3:4-5, block
 * of 3 words" if no types are known; or the name of the root.
 */
void rep_name_label(
	struct rep_text *text, const struct hg_snapshot *snapshot, const struct hg_block *block);

/* "1,234 blocks", "1 block". */
void rep_name_amount(struct rep_text *text, uint64_t count, const char *one, const char *many);

#endif
