/* A picture of what holds the memory block by block, by Graphviz. */
#include "report/outputs/outputs.h"

#include "report/common.h"
#include "report/outputs/drawing.h"
#include "report/outputs/picture.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_COLUMNS = 46 }; /* in a box */

struct drawing {
	struct rep_drawing base;
	const struct hg_totals *totals;
	struct rep_context *context;
	const struct rep_picture *picture;
	struct rep_node **nodes;
};

/* A name for a label: the end of it if it is long, escaped. */
static void put_label_name(struct drawing *drawing, const char *name)
{
	size_t length = strlen(name), cut = 0;
	for (size_t columns = rep_text_columns(name, length); columns > NAME_COLUMNS; columns--)
		do
			cut++;
		while (((unsigned char)name[cut] & 0xc0) == 0x80);
	if (cut)
		rep_text_put(&drawing->base.text, "...");
	rep_text_escape_dot(&drawing->base.text, name + cut, length - cut);
}

/* A type for a label: the beginning of it if it is long, escaped. */
static void put_label_type(struct drawing *drawing, struct rep_text *type)
{
	rep_text_shorten(type, 0, NAME_COLUMNS + 3, REP_GUESS_MARK);
	rep_text_escape_dot(&drawing->base.text, rep_text_string(type), type->length);
}

static uint64_t share_of_picture(const struct drawing *drawing, uint64_t bytes)
{
	return rep_basis_points(bytes, drawing->picture->total_bytes);
}

static void add_retained(struct drawing *drawing, uint64_t bytes)
{
	rep_text_size(&drawing->base.text, bytes);
	rep_text_put(&drawing->base.text, "   ");
	rep_text_percent(&drawing->base.text, bytes, drawing->picture->total_bytes);
}

/* Of a chain: "49 blocks of 2 words, one holding the next". */
static void add_shape(
	struct drawing *drawing, const struct hg_block *block, const struct rep_drawn_node *node)
{
	bool typed = hg_has_types(drawing->context->snapshot);
	if (node->chain == 0) {
		if (!typed)
			rep_name_shape(&drawing->base.text, block);
		else if (block->type)
			rep_name_amount(&drawing->base.text, block->words, "word", "words");
		/* Of an unknown one the name tells the shape. */
		return;
	}
	rep_text_count(&drawing->base.text, node->chain + 1);
	if (node->endless)
		rep_text_put(&drawing->base.text, " or more");
	rep_text_printf(&drawing->base.text, " %ss of ", rep_tag_word(block->tag));
	rep_name_amount(&drawing->base.text, block->words, "word", "words");
	rep_text_put(&drawing->base.text, ",\\none holding the next");
}

static void label_block(
	struct drawing *drawing, const struct hg_block *block, const struct rep_drawn_node *node)
{
	const struct hg_snapshot *snapshot = drawing->context->snapshot;
	struct rep_text name = {0};
	bool typed = hg_has_types(snapshot);
	if (typed) {
		rep_name_block_type(&name, snapshot, block);
		put_label_type(drawing, &name);
		rep_text_put(&drawing->base.text, "\\n");
		rep_text_clear(&name);
	}
	if (block->location)
		rep_name_location(&name, snapshot, block->location);
	else if (!typed)
		rep_name_node(&name, snapshot, block->node);
	if (name.length) {
		put_label_name(drawing, rep_text_string(&name));
		rep_text_put(&drawing->base.text, "\\n");
	}
	size_t before = drawing->base.text.length;
	add_shape(drawing, block, node);
	rep_text_put(&drawing->base.text, drawing->base.text.length > before ? "\\n" : "");
	add_retained(drawing, block->retained_bytes);
	rep_text_release(&name);
}

static void label_root(struct drawing *drawing, const struct hg_block *block)
{
	const struct hg_snapshot *snapshot = drawing->context->snapshot;
	struct rep_text name = {0};
	if (block->node == hg_virtual_root(snapshot))
		rep_text_put(&name, "all roots");
	else
		rep_name_node(&name, snapshot, block->node);
	put_label_name(drawing, rep_text_string(&name));
	rep_text_put(&drawing->base.text, "\\n");
	add_retained(drawing, block->retained_bytes);
	rep_text_release(&name);
}

/* Node names are addresses, so that a script finds a block in the DOT text. */
static struct rep_node *draw_block(struct drawing *drawing, size_t position)
{
	const struct rep_drawn_node *node = &drawing->picture->nodes[position];
	struct hg_block block = *hg_describe_block(drawing->context->snapshot, node->node);
	uint64_t points = share_of_picture(drawing, block.retained_bytes);
	if (block.is_root)
		rep_text_printf(&drawing->base.text, "root%zu", position);
	else
		rep_text_address(&drawing->base.text, block.address);
	struct rep_node *drawn = rep_new_node(&drawing->base, rep_text_string(&drawing->base.text));
	if (!drawn)
		return NULL;
	rep_set_text(&drawing->base, drawn, "tooltip");
	if (block.is_root)
		label_root(drawing, &block);
	else
		label_block(drawing, &block, node);
	rep_set_text(&drawing->base, drawn, "label");
	rep_set_share_colour(&drawing->base, drawn, points);
	rep_text_printf(&drawing->base.text, "%u", 10 + (unsigned)(points * 6 / 10000));
	rep_set_text(&drawing->base, drawn, "fontsize");
	if (node->chain)
		rep_set_attribute(drawn, "peripheries", "2");
	if (block.is_root) {
		rep_set_attribute(drawn, "shape", "ellipse");
		rep_set_attribute(drawn, "style", "filled");
	}
	return drawn;
}

/* What was folded: "1,234 more, 56.0 KB,\nmostly x.ml:3:4-5". */
static struct rep_node *add_group(struct drawing *drawing, size_t position)
{
	const struct rep_drawn_node *node = &drawing->picture->nodes[position];
	rep_text_printf(&drawing->base.text, "more%zu", position);
	struct rep_node *drawn = rep_new_node(&drawing->base, rep_text_string(&drawing->base.text));
	if (!drawn)
		return NULL;
	rep_text_clear(&drawing->base.text);
	rep_text_count(&drawing->base.text, node->folded);
	rep_text_put(&drawing->base.text, " more, ");
	rep_text_size(&drawing->base.text, node->retained_bytes);
	struct rep_text name = {0};
	if (node->type)
		rep_name_type(&name, drawing->context->snapshot, node->type);
	else
		rep_name_location(&name, drawing->context->snapshot, node->location);
	if (name.length) {
		rep_text_put(&drawing->base.text, ",\\nmostly ");
		if (node->type)
			put_label_type(drawing, &name);
		else
			put_label_name(drawing, rep_text_string(&name));
	}
	rep_text_release(&name);
	rep_set_text(&drawing->base, drawn, "label");
	rep_set_note_style(drawn);
	return drawn;
}

static bool add_nodes(struct drawing *drawing)
{
	const struct rep_picture *picture = drawing->picture;
	for (size_t i = 0; i < picture->nodes_count; i++) {
		drawing->nodes[i] =
			picture->nodes[i].folded ? add_group(drawing, i) : draw_block(drawing, i);
		if (!drawing->nodes[i])
			return false;
	}
	return true;
}

static void style_edge(
	struct drawing *drawing, struct rep_edge *drawn, const struct hg_picture_edge *edge)
{
	const struct rep_drawn_node *to = &drawing->picture->nodes[edge->to];
	if (edge->kind == HG_EDGE_REFERS) {
		rep_set_attribute(drawn, "color", "#b0b7bf");
		rep_set_attribute(drawn, "penwidth", "0.6");
		rep_set_attribute(drawn, "arrowsize", "0.5");
		rep_set_attribute(drawn, "constraint", "false");
		return;
	}
	rep_set_share_width(&drawing->base, drawn, share_of_picture(drawing, to->retained_bytes));
	if (edge->kind == HG_EDGE_DOMINATES || to->folded)
		rep_set_attribute(drawn, "style", "dashed");
	if (edge->kind == HG_EDGE_HOLDS && edge->field != HG_UNKNOWN && !to->folded) {
		struct rep_text name = {0};
		rep_name_field(&name, drawing->context->snapshot,
			drawing->picture->nodes[edge->from].node, edge->field);
		put_label_name(drawing, rep_text_string(&name));
		rep_set_text(&drawing->base, drawn, "label");
		rep_text_release(&name);
	}
}

static bool add_edges(struct drawing *drawing)
{
	for (size_t i = 0; i < drawing->picture->edges_count; i++) {
		const struct hg_picture_edge *edge = &drawing->picture->edges[i];
		struct rep_edge *drawn = rep_new_edge(
			&drawing->base, drawing->nodes[edge->from], drawing->nodes[edge->to]);
		if (!drawn)
			return false;
		style_edge(drawing, drawn, edge);
	}
	return true;
}

static void set_block_defaults(struct drawing *drawing)
{
	static const struct rep_drawing_default defaults[] = {
		{REP_GRAPH, "rankdir", "LR"},
		{REP_GRAPH, "nodesep", "0.18"},
		{REP_GRAPH, "ranksep", "0.55"},
		{REP_GRAPH, "fontname", "Helvetica"},
		{REP_GRAPH, "fontsize", "12"},
		{REP_GRAPH, "labelloc", "t"},
		{REP_GRAPH, "labeljust", "l"},
		{REP_GRAPH, "bgcolor", "white"},
		{REP_GRAPH, "pad", "0.3"},
		{REP_NODES, "shape", "box"},
		{REP_NODES, "style", "filled,rounded"},
		{REP_NODES, "fillcolor", "white"},
		{REP_NODES, "color", "#5b6770"},
		{REP_NODES, "fontname", "Helvetica"},
		{REP_NODES, "fontsize", "10"},
		{REP_NODES, "fontcolor", "#1c1f22"},
		{REP_NODES, "margin", "0.12,0.06"},
		{REP_NODES, "height", "0.3"},
		{REP_NODES, "peripheries", "1"},
		{REP_NODES, "label", "\\N"},
		{REP_NODES, "tooltip", ""},
		{REP_EDGES, "color", "#5b6770"},
		{REP_EDGES, "fontname", "Helvetica"},
		{REP_EDGES, "fontsize", "8"},
		{REP_EDGES, "fontcolor", "#5b6770"},
		{REP_EDGES, "arrowsize", "0.6"},
		{REP_EDGES, "penwidth", "0.8"},
		{REP_EDGES, "style", "solid"},
		{REP_EDGES, "constraint", "true"},
		{REP_EDGES, "label", ""},
	};
	rep_set_defaults(&drawing->base, defaults, sizeof(defaults) / sizeof(defaults[0]));
}

static bool has_edge_kind(const struct rep_picture *picture, enum hg_picture_edge_kind kind)
{
	for (size_t i = 0; i < picture->edges_count; i++)
		if (picture->edges[i].kind == kind && !picture->nodes[picture->edges[i].to].folded)
			return true;
	return false;
}

/* What the picture shows, in the words of a legend, and that it is partial if it is. */
static void set_title(struct drawing *drawing, const struct hg_info *info)
{
	const struct hg_totals *totals = drawing->totals;
	struct rep_text *text = &drawing->base.text;
	if (*info->partial) {
		struct rep_text reason = {0};
		rep_partial_reason(&reason, info);
		rep_text_put(text, "PARTIAL: ");
		rep_text_escape_dot(text, rep_text_string(&reason), reason.length);
		rep_text_put(text, "\\l");
		rep_text_release(&reason);
	}
	const char *name = rep_base_name(info->path);
	rep_text_escape_dot(text, name, strlen(name));
	rep_text_put(text, ": ");
	rep_name_amount(text, totals->reachable_blocks, "reachable block", "reachable blocks");
	rep_text_put(text, ", ");
	rep_text_size(text, totals->reachable_bytes);
	rep_text_put(text, "; ");
	rep_name_amount(text, totals->unreachable_blocks, "unreachable", "unreachable");
	rep_text_put(text, ", ");
	rep_text_size(text, totals->unreachable_bytes);
	rep_text_put(text, "\\lSizes are what would be freed with a block.  Arrow: holds alone");
	if (has_edge_kind(drawing->picture, HG_EDGE_DOMINATES))
		rep_text_put(text, "; dashed: holds through several others");
	if (has_edge_kind(drawing->picture, HG_EDGE_REFERS))
		rep_text_put(text, "; grey: points to, among others");
	rep_text_put(text, ".\\l");
	rep_set_text(&drawing->base, drawing->base.graph, "label");
}

static bool draw_block_graph(struct rep_drawing *base)
{
	struct drawing *drawing = (struct drawing *)base;
	struct hg_info info = *hg_snapshot_info(drawing->context->snapshot);
	drawing->nodes = calloc(drawing->picture->nodes_count ? drawing->picture->nodes_count : 1,
		sizeof(struct rep_node *));
	if (!drawing->nodes)
		return false;
	set_block_defaults(drawing);
	set_title(drawing, &info);
	return add_nodes(drawing) && add_edges(drawing);
}

enum hg_status rep_dot_blocks(
	struct rep_context *context, const struct rep_dot_blocks_request *request, FILE *stream)
{
	struct rep_picture picture = {0};
	const struct hg_totals *totals;
	enum hg_status status = hg_count_totals(context->snapshot, &totals);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	BASE_TRY(rep_draw_picture(context, request->from, request->max_nodes,
		rep_share_bytes(totals, request->min_share), &picture));
	struct drawing drawing = {.context = context, .picture = &picture, .totals = totals};
	status = rep_draw_apart(
		&drawing.base, draw_block_graph, request->picture, stream, context->error);
	rep_picture_release(&picture);
	return status;
}
