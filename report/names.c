#include "report/names.h"

#include <string.h>

/*
 * Calls a function that fills 'buffer' of 'size' bytes as snprintf(3) does, with as much room as
 * it takes.
 */
#define APPEND_NAME(text, call)                                                                    \
	do {                                                                                       \
		size_t size = 160;                                                                 \
		for (;;) {                                                                         \
			char *buffer = rep_text_room(text, size);                                  \
			if (!buffer)                                                               \
				return;                                                            \
			size_t length = (call);                                                    \
			if (length < size) {                                                       \
				rep_text_filled(text, length);                                     \
				break;                                                             \
			}                                                                          \
			size = length + 1;                                                         \
		}                                                                                  \
	} while (0)

void rep_name_location(struct rep_text *text, const struct hg_snapshot *snapshot, uint32_t location)
{
	if (location)
		APPEND_NAME(text, hg_location_name(snapshot, location, buffer, size));
}

void rep_name_node(struct rep_text *text, const struct hg_snapshot *snapshot, hg_node node)
{
	if (node == hg_virtual_root(snapshot))
		rep_text_put(text, "root");
	else
		APPEND_NAME(text, hg_node_name(snapshot, node, buffer, size));
}

void rep_name_root(struct rep_text *text, const struct hg_snapshot *snapshot, hg_node node)
{
	APPEND_NAME(text, hg_root_name(snapshot, node, buffer, size));
}

void rep_name_class(
	struct rep_text *text, const struct hg_snapshot *snapshot, enum hg_key key, uint32_t id)
{
	if (key == HG_BY_ROOT)
		rep_name_root(text, snapshot, id);
	else
		APPEND_NAME(text, hg_class_name(snapshot, key, id, buffer, size));
}

const char *rep_tag_word(unsigned tag)
{
	static const char *const words[] = {"lazy value", "closure", "object", "infix closure",
		"forwarding block", "abstract block", "string", "float", "float array",
		"custom block"};
	return tag < 246 ? "block" : tag < 256 ? words[tag - 246] : "unknown";
}

void rep_name_shape(struct rep_text *text, const struct hg_block *block)
{
	if (block->is_continuation) {
		rep_text_put(text, "continuation");
		return;
	}
	rep_text_printf(text, "%s of ", rep_tag_word(block->tag));
	rep_name_amount(text, block->words, "word", "words");
	if (block->tag > 0 && block->tag < 246)
		rep_text_printf(text, " with tag %u", block->tag);
}

void rep_name_label(
	struct rep_text *text, const struct hg_snapshot *snapshot, const struct hg_block *block)
{
	if (block->node == hg_virtual_root(snapshot)) {
		rep_text_put(text, "all roots");
		return;
	}
	rep_name_node(text, snapshot, block->node);
	if (block->is_root)
		return;
	rep_text_put(text, " ");
	if (block->location) {
		rep_name_location(text, snapshot, block->location);
		if (block->location_confidence == HG_GUESSED)
			rep_text_put(text, REP_GUESS_MARK);
		rep_text_put(text, ", ");
	}
	rep_name_shape(text, block);
}

void rep_name_amount(struct rep_text *text, uint64_t count, const char *one, const char *many)
{
	rep_text_count(text, count);
	rep_text_printf(text, " %s", count == 1 ? one : many);
}
