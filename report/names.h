/*
 * Names as reports spell them, appended to a rep_text.  What comes out of a snapshot is not escaped
 * here: the emitter does that for the sink it writes to.
 */
#ifndef REPORT_NAMES_H
#define REPORT_NAMES_H

#include "report/text.h"

#include "heapgraph.h"

/* Behind a location in text that the writer of the snapshot may have got wrong, and what it means.
 */
#define REP_GUESS_MARK " ?"
#define REP_GUESS_MEANING                                                                          \
	"? a guess: the writer of this format gives closures and some other blocks wrong "         \
	"locations"

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

/* A node for people: "0x7f12 cache.ml:3:4-5, block of 3 words" or the name of the root. */
void rep_name_label(
	struct rep_text *text, const struct hg_snapshot *snapshot, const struct hg_block *block);

/* "1,234 blocks", "1 block". */
void rep_name_amount(struct rep_text *text, uint64_t count, const char *one, const char *many);

#endif
