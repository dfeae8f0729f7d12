/* Paths of the retention tree in words. */
#include "report/paths.h"

#include "report/common.h"

#include <string.h>

typedef size_t text_of_row(const struct hg_retention *tree, size_t row, char *buffer, size_t size);

static void put_from_tree(
	struct rep_text *text, text_of_row *ask, const struct hg_retention *tree, size_t row)
{
	size_t length = ask(tree, row, NULL, 0);
	char *room = rep_text_room(text, length);
	if (!room)
		return;
	ask(tree, row, room, length + 1);
	rep_text_filled(text, length);
}

void rep_path_name(struct rep_text *text, const struct hg_retention *tree, size_t row)
{
	put_from_tree(text, hg_retention_path, tree, row);
}

void rep_path_made_at(struct rep_text *text, const struct hg_retention *tree, size_t row)
{
	put_from_tree(text, hg_retention_made_at, tree, row);
}

void rep_path_defined_at(struct rep_text *text, const struct hg_retention *tree, size_t row)
{
	put_from_tree(text, hg_retention_defined_at, tree, row);
}

static bool has_place(const char *places, const char *place, size_t length)
{
	while (*places) {
		size_t one = strcspn(places, ";");
		if (one == length && memcmp(places, place, length) == 0)
			return true;
		places += one + (places[one] == ';');
	}
	return false;
}

void rep_path_other_places(struct rep_text *text, const char *places, const char *but)
{
	while (*places) {
		size_t length = strcspn(places, ";");
		if (!has_place(but, places, length)) {
			rep_text_put(text, *rep_text_string(text) ? ";" : "");
			rep_text_add(text, places, length);
		}
		places += length + (places[length] == ';');
	}
}

/* A line, if there is something to say. */
static void prose_place(
	struct rep_emitter *emitter, const char *indent, const char *what, const char *place)
{
	struct rep_text escaped = {0};
	if (*place)
		rep_prose(emitter, REP_PLAIN, "%s%s %s\n", indent, what,
			rep_escaped(&escaped, place));
	emitter->failed |= escaped.failed;
	rep_text_release(&escaped);
}

const char *rep_path_definition(const char *held_by, const char *root)
{
	if (*held_by)
		return "these are defined at";
	bool is_stack = strncmp(root, "stack", 5) == 0 && (root[5] == ' ' || !root[5]);
	return is_stack ? "the frame is at" : "the root is defined at";
}

void rep_path_prose_places(
	struct rep_emitter *emitter, const char *indent, const struct rep_path_places *places)
{
	struct rep_text made_at = {0};
	rep_path_other_places(&made_at, places->made_at, places->defined_at);
	prose_place(emitter, indent, "made at", rep_text_string(&made_at));
	prose_place(emitter, indent, "held by", places->held_by);
	prose_place(emitter, indent, rep_path_definition(places->held_by, places->root),
		places->defined_at);
	emitter->failed |= made_at.failed;
	rep_text_release(&made_at);
}

void rep_path_field(struct rep_text *text, const struct hg_retention *tree, size_t row)
{
	put_from_tree(text, hg_retention_field, tree, row);
}

void rep_path_remark(
	struct rep_text *text, const struct hg_retention_row *row, const struct rep_text *made_at)
{
	if (row->offheap_bytes) {
		rep_text_put(text, ", ");
		rep_text_size(text, row->offheap_bytes);
		rep_text_put(text, " off-heap");
	}
	if (made_at->length)
		rep_text_printf(text, "  (%s)", rep_text_string(made_at));
}

void rep_path_sharers(struct rep_text *text, const struct hg_retention *tree,
	const struct hg_cross_edges *sharers, size_t most)
{
	for (size_t i = 0; i < sharers->count && i < most; i++) {
		const struct hg_cross_edge *sharer = sharers->rows[i];
		rep_text_printf(
			text, "%s%s (", i ? ", " : "", hg_retention_at(tree, sharer->from)->name);
		rep_text_count(text, sharer->pointers);
		rep_text_put(text, i ? ")" : sharer->pointers == 1 ? " pointer)" : " pointers)");
	}
	if (sharers->count > most) {
		rep_text_put(text, " and ");
		rep_text_count(text, sharers->count - most);
		rep_text_put(text, " more");
	}
}
