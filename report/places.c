/* Places in the source: cells of other tables, and the table of all places. */
#include "report/places.h"

#include "base/pattern.h"
#include "report/common.h"

#include <stdlib.h>
#include <string.h>

void rep_put_made_at(struct rep_text *text, struct hg_snapshot *snapshot, uint32_t type,
	enum hg_made_part part, unsigned most)
{
	size_t length = hg_made_at(snapshot, type, part, most, NULL, 0);
	char *room = rep_text_room(text, length);
	if (!room)
		return;
	hg_made_at(snapshot, type, part, most, room, length + 1);
	rep_text_filled(text, length);
}

struct rep_column rep_made_at_column(struct rep_context *context, const struct hg_totals *totals)
{
	bool known = hg_has_types(context->snapshot) || totals->located_blocks;
	return (struct rep_column){
		"made_at", known ? "made at" : NULL, REP_NAME, REP_LAST | REP_DRAWING};
}

static bool is_located(struct hg_snapshot *snapshot, uint32_t type)
{
	struct hg_places *places;
	if (hg_list_places(snapshot, type, &places) != HG_OK)
		return false;
	bool located = places->count && places->rows[0]->located_blocks;
	hg_places_release(&places);
	return located;
}

static void text_cell(struct rep_emitter *emitter, struct rep_text *text)
{
	rep_cell_string(emitter, rep_text_string(text));
	emitter->failed |= text->failed;
	rep_text_release(text);
}

void rep_cell_made_at(struct rep_context *context, uint32_t type)
{
	struct rep_emitter *emitter = context->emitter;
	bool for_people = emitter->writer->for_people;
	struct rep_text text = {0};
	const struct hg_totals *totals;
	rep_put_made_at(&text, context->snapshot, type, HG_MADE_ANYWHERE,
		for_people ? REP_PLACES_FOR_PEOPLE : REP_PLACES_FOR_PROGRAMS);
	if (for_people && text.length && hg_count_totals(context->snapshot, &totals) == HG_OK &&
		totals->sampled_blocks && is_located(context->snapshot, type))
		rep_text_put(&text, " (sampled)");
	text_cell(emitter, &text);
}

void rep_cell_function_place(struct rep_context *context, uint32_t id)
{
	struct rep_text text = {0};
	hg_node closure = hg_function_closure(context->snapshot, id);
	size_t length = hg_function_place(context->snapshot, closure, NULL, 0, NULL);
	char *room = rep_text_room(&text, length);
	if (room) {
		hg_function_place(context->snapshot, closure, room, length + 1, NULL);
		rep_text_filled(&text, length);
	}
	text_cell(context->emitter, &text);
}

/* The table */

static const struct rep_column place_columns[] = {
	{"type", "type", REP_NAME, REP_LAST | REP_HEAD},
	{"place", "made at", REP_NAME, 0},
	{"own", NULL, REP_NUMBER, 0},
	{NULL, "source", REP_WORD, 0},
	{"exact", NULL, REP_NUMBER, 0},
	{"direct", NULL, REP_NUMBER, 0},
	{"kind", "by", REP_NAME, 0},
	{"located_blocks", "blocks known", REP_COUNT, 0},
	{"located_bytes", "bytes", REP_BYTES, 0},
};

static enum hg_status add_places(struct rep_context *context, uint32_t type, struct rep_places *out)
{
	struct hg_places *places;
	enum hg_status status = hg_list_places(context->snapshot, type, &places);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	out->rows += places->count;
	out->of_types[out->count++] = places;
	return HG_OK;
}

/* "Hashtbl.t" of "(string, int list) Hashtbl.t": what a type is of; "" of tuples and functions. */
static const char *head_of_name(const char *name)
{
	const char *head = name;
	int depth = 0;
	for (const char *c = name; *c; c++) {
		depth += strchr("([<{", *c) != NULL;
		depth -= strchr(")]}", *c) != NULL || (*c == '>' && c > name && c[-1] == ' ');
		if (depth > 0 || *c != ' ')
			continue;
		if (strncmp(c, " -> ", 4) == 0 || strncmp(c, " * ", 3) == 0)
			return "";
		head = c + 1;
	}
	return depth == 0 ? head : name;
}

/* Keeps the types that match not only by what they are applied to, if there are any. */
static enum hg_status keep_heads(
	struct rep_context *context, const char *pattern, struct hg_top *top)
{
	struct base_pattern wanted = {0};
	enum hg_status status = HG_OK;
	size_t kept = 0;
	BASE_TRY(base_pattern_compile(&wanted, pattern, context->error));
	bool *matches = calloc(top->count + 1, sizeof(*matches));
	if (!matches) {
		base_pattern_release(&wanted);
		return rep_no_memory(context);
	}
	for (size_t i = 0; i < top->count && status == HG_OK; i++) {
		struct rep_text name = {0};
		rep_name_type(&name, context->snapshot, top->rows[i]->id);
		status = base_pattern_match(
			&wanted, head_of_name(rep_text_string(&name)), &matches[i], context->error);
		rep_text_release(&name);
		kept += matches[i];
	}
	for (size_t i = 0, next = 0; i < top->count && status == HG_OK && kept; i++)
		if (matches[i])
			top->rows[next++] = top->rows[i];
	if (kept)
		top->count = kept;
	free(matches);
	base_pattern_release(&wanted);
	return status;
}

enum hg_status rep_collect_places(
	struct rep_context *context, const char *pattern, struct rep_places *out)
{
	struct hg_top *top;
	*out = (struct rep_places){0};
	enum hg_status status = hg_list_top(context->snapshot, HG_BY_TYPE, pattern, &top);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	out->of_types = calloc(top->count + 1, sizeof(*out->of_types));
	if (!out->of_types)
		status = rep_no_memory(context);
	if (status == HG_OK && pattern)
		status = keep_heads(context, pattern, top);
	for (size_t i = 0; i < top->count && status == HG_OK; i++)
		if (top->rows[i]->id)
			status = add_places(context, top->rows[i]->id, out);
	hg_top_release(&top);
	if (status != HG_OK)
		rep_places_release(out);
	return status;
}

void rep_places_release(struct rep_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		hg_places_release(&places->of_types[i]);
	free(places->of_types);
	*places = (struct rep_places){0};
}

/* What of a row is told in words: whose source it is, and how near it comes to the type. */
static void place_source(struct rep_text *text, const struct hg_place *place)
{
	rep_text_put(text, place->own ? "own" : "library");
	if (!place->exact)
		rep_text_put(text, ", general");
}

static void place_row(struct rep_context *context, uint32_t type, const struct hg_place *place)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_text text = {0};
	rep_cell_type(context, type);
	rep_text_printf(&text, "%s:%u", place->file, place->line);
	text_cell(emitter, &text);
	rep_cell_number(emitter, place->own);
	place_source(&text, place);
	text_cell(emitter, &text);
	rep_cell_number(emitter, place->exact);
	rep_cell_number(emitter, place->direct);
	rep_cell_string(emitter, place->kind);
	rep_cell_number(emitter, place->located_blocks);
	rep_cell_number(emitter, place->located_bytes);
	rep_row_end(emitter);
}

static bool has_located(const struct rep_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		if (places->of_types[i]->count && places->of_types[i]->rows[0]->located_blocks)
			return true;
	return false;
}

void rep_write_places(struct rep_context *context, const struct rep_places *places, uint64_t limit)
{
	enum { COLUMNS = sizeof(place_columns) / sizeof(place_columns[0]) };
	struct rep_emitter *emitter = context->emitter;
	struct rep_column columns[COLUMNS];
	uint64_t shown = 0;
	for (unsigned i = 0; i < COLUMNS; i++) {
		columns[i] = place_columns[i];
		if (i >= COLUMNS - 2 && !has_located(places))
			columns[i].title = NULL;
	}
	rep_prose(emitter, REP_BOLD, "Made at");
	rep_prose(emitter, REP_PLAIN,
		": the places in the source where values of these types are "
		"made\n");
	rep_table_begin(emitter, "places", columns, COLUMNS);
	for (size_t i = 0; i < places->count && !rep_emitter_broken(emitter); i++)
		for (size_t j = 0; j < places->of_types[i]->count && (!limit || shown < limit);
			j++, shown++)
			place_row(context, places->of_types[i]->type, places->of_types[i]->rows[j]);
	rep_table_end(emitter);
	rep_more_rows(emitter, places->rows - shown, "places", "--limit 0");
}
