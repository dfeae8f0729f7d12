/* Names as reports spell them, from the pieces that the library gives. */
#include "report/names.h"

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

void rep_name_type(struct rep_text *text, const struct hg_snapshot *snapshot, uint32_t type)
{
	if (type)
		APPEND_NAME(text, hg_type_name(snapshot, type, buffer, size));
}

void rep_name_declared(struct rep_text *text, const struct hg_snapshot *snapshot, uint32_t id,
	enum hg_declared_part part)
{
	APPEND_NAME(text, hg_declared_text(snapshot, id, part, buffer, size));
}

static void append_unknown(struct rep_text *text, const struct hg_block *block)
{
	if (block->is_continuation)
		rep_text_put(text, "unknown (continuation, ");
	else if (block->tag < 246)
		rep_text_printf(text, "unknown (tag %u, ", block->tag);
	else
		rep_text_printf(text, "unknown (%s, ", rep_tag_word(block->tag));
	rep_name_amount(text, block->words, "word", "words");
	rep_text_put(text, ")");
}

void rep_name_block_type(
	struct rep_text *text, const struct hg_snapshot *snapshot, const struct hg_block *block)
{
	if (!block->type) {
		append_unknown(text, block);
		return;
	}
	rep_name_type(text, snapshot, block->type);
	if (block->type_confidence == HG_GUESSED)
		rep_text_put(text, REP_GUESS_MARK);
}

static void append_field(
	struct rep_text *text, struct hg_snapshot *snapshot, hg_node node, uint64_t field)
{
	APPEND_NAME(text, hg_field_name(snapshot, node, field, buffer, size));
}

void rep_name_field(
	struct rep_text *text, struct hg_snapshot *snapshot, hg_node node, uint64_t field)
{
	size_t before = text->length;
	append_field(text, snapshot, node, field);
	if (text->length == before)
		rep_text_printf(text, "field %llu", (unsigned long long)field);
}

void rep_name_value(struct rep_text *text, struct hg_snapshot *snapshot, hg_node node,
	const struct hg_text_options *options)
{
	APPEND_NAME(text, hg_value_text(snapshot, node, options, buffer, size));
}

void rep_name_field_value(struct rep_text *text, struct hg_snapshot *snapshot, hg_node node,
	uint64_t field, const struct hg_text_options *options)
{
	APPEND_NAME(text, hg_field_text(snapshot, node, field, options, buffer, size));
}

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
	bool typed = hg_has_types(snapshot);
	if (typed) {
		rep_name_block_type(text, snapshot, block);
		if (block->type) {
			rep_text_put(text, ", ");
			rep_name_amount(text, block->words, "word", "words");
		}
	}
	if (block->location) {
		rep_text_put(text, typed ? ", " : "");
		rep_name_location(text, snapshot, block->location);
		if (block->location_confidence == HG_GUESSED)
			rep_text_put(text, REP_GUESS_MARK);
		rep_text_put(text, typed ? "" : ", ");
	}
	if (!typed)
		rep_name_shape(text, block);
}

void rep_name_amount(struct rep_text *text, uint64_t count, const char *one, const char *many)
{
	rep_text_count(text, count);
	rep_text_printf(text, " %s", count == 1 ? one : many);
}
