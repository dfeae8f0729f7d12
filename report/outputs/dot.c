/*
 * A picture of what holds the memory, by Graphviz: libcgraph writes DOT, and libgvc draws it.  All
 * of it happens in a process of its own (apart.h).
 */
#include "report/outputs/outputs.h"

#include "report/common.h"
#include "report/outputs/apart.h"
#include "report/outputs/picture.h"

#include <graphviz/gvc.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_COLUMNS = 46 }; /* in a box */

struct drawing {
	struct rep_context *context;
	const struct rep_picture *picture;
	Agraph_t *graph;
	Agnode_t **nodes;
	struct rep_text text; /* the value being built */
};

/* cgraph copies the strings, but takes them as char pointers. */
static void set_attribute(void *object, const char *name, const char *value)
{
	agsafeset(object, (char *)name, (char *)value, (char *)"");
}

static void set_default(struct drawing *drawing, int kind, const char *name, const char *value)
{
	agattr(drawing->graph, kind, (char *)name, (char *)value);
}

static void set_text(struct drawing *drawing, void *object, const char *name)
{
	set_attribute(object, name, rep_text_string(&drawing->text));
	rep_text_clear(&drawing->text);
}

/* A name for a label: the end of it if it is long, escaped. */
static void put_label_name(struct drawing *drawing, const char *name)
{
	size_t length = strlen(name), cut = 0;
	for (size_t columns = rep_text_columns(name, length); columns > NAME_COLUMNS; columns--)
		do
			cut++;
		while (((unsigned char)name[cut] & 0xc0) == 0x80);
	if (cut)
		rep_text_put(&drawing->text, "...");
	rep_text_escape_dot(&drawing->text, name + cut, length - cut);
}

/* A type for a label: the beginning of it if it is long, escaped. */
static void put_label_type(struct drawing *drawing, struct rep_text *type)
{
	rep_text_shorten(type, 0, NAME_COLUMNS + 3, REP_GUESS_MARK);
	rep_text_escape_dot(&drawing->text, rep_text_string(type), type->length);
}

static uint64_t share_of_picture(const struct drawing *drawing, uint64_t bytes)
{
	return rep_basis_points(bytes, drawing->picture->total_bytes);
}

/* Between two colours, 'points' of 10000 on the way from the first to the second. */
static void blend(
	struct rep_text *text, const uint8_t from[3], const uint8_t to[3], uint64_t points)
{
	rep_text_put(text, "#");
	for (int i = 0; i < 3; i++) {
		uint64_t part = (from[i] * (10000 - points) + to[i] * points) / 10000;
		rep_text_printf(text, "%02x", (unsigned)part);
	}
}

/* Pale blue for little, sand for a fifth, red for everything. */
static void add_colour(struct drawing *drawing, uint64_t points)
{
	static const uint8_t stops[3][3] = {
		{0xf1, 0xf5, 0xf9}, {0xfd, 0xe6, 0xc3}, {0xee, 0x7f, 0x66}};
	if (points < 2000)
		blend(&drawing->text, stops[0], stops[1], points * 5);
	else
		blend(&drawing->text, stops[1], stops[2],
			(points > 10000 ? 8000 : points - 2000) * 10 / 8);
}

static void add_retained(struct drawing *drawing, uint64_t bytes)
{
	rep_text_size(&drawing->text, bytes);
	rep_text_put(&drawing->text, "   ");
	rep_text_percent(&drawing->text, bytes, drawing->picture->total_bytes);
}

/* Of a chain: "49 blocks of 2 words, one holding the next". */
static void add_shape(
	struct drawing *drawing, const struct hg_block *block, const struct rep_drawn_node *node)
{
	bool typed = hg_has_types(drawing->context->snapshot);
	if (node->chain == 0) {
		if (!typed)
			rep_name_shape(&drawing->text, block);
		else if (block->type)
			rep_name_amount(&drawing->text, block->words, "word", "words");
		/* Of an unknown one the name tells the shape. */
		return;
	}
	rep_text_count(&drawing->text, node->chain + 1);
	if (node->endless)
		rep_text_put(&drawing->text, " or more");
	rep_text_printf(&drawing->text, " %ss of ", rep_tag_word(block->tag));
	rep_name_amount(&drawing->text, block->words, "word", "words");
	rep_text_put(&drawing->text, ",\\none holding the next");
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
		rep_text_put(&drawing->text, "\\n");
		rep_text_clear(&name);
	}
	if (block->location)
		rep_name_location(&name, snapshot, block->location);
	else if (!typed)
		rep_name_node(&name, snapshot, block->node);
	if (name.length) {
		put_label_name(drawing, rep_text_string(&name));
		rep_text_put(&drawing->text, "\\n");
	}
	size_t before = drawing->text.length;
	add_shape(drawing, block, node);
	rep_text_put(&drawing->text, drawing->text.length > before ? "\\n" : "");
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
	rep_text_put(&drawing->text, "\\n");
	add_retained(drawing, block->retained_bytes);
	rep_text_release(&name);
}

static Agnode_t *new_node(struct drawing *drawing, const char *name)
{
	return agnode(drawing->graph, (char *)name, 1);
}

/* Node names are addresses, so that a script finds a block in the DOT text. */
static Agnode_t *draw_block(struct drawing *drawing, size_t position)
{
	const struct rep_drawn_node *node = &drawing->picture->nodes[position];
	struct hg_block block = *hg_describe_block(drawing->context->snapshot, node->node);
	uint64_t points = share_of_picture(drawing, block.retained_bytes);
	if (block.is_root)
		rep_text_printf(&drawing->text, "root%zu", position);
	else
		rep_text_address(&drawing->text, block.address);
	Agnode_t *drawn = new_node(drawing, rep_text_string(&drawing->text));
	if (!drawn)
		return NULL;
	set_text(drawing, drawn, "tooltip");
	if (block.is_root)
		label_root(drawing, &block);
	else
		label_block(drawing, &block, node);
	set_text(drawing, drawn, "label");
	add_colour(drawing, points);
	set_text(drawing, drawn, "fillcolor");
	rep_text_printf(&drawing->text, "%u", 10 + (unsigned)(points * 6 / 10000));
	set_text(drawing, drawn, "fontsize");
	if (node->chain)
		set_attribute(drawn, "peripheries", "2");
	if (block.is_root) {
		set_attribute(drawn, "shape", "ellipse");
		set_attribute(drawn, "style", "filled");
	}
	return drawn;
}

/* What was folded: "1,234 more, 56.0 KB,\nmostly x.ml:3:4-5". */
static Agnode_t *add_group(struct drawing *drawing, size_t position)
{
	const struct rep_drawn_node *node = &drawing->picture->nodes[position];
	rep_text_printf(&drawing->text, "more%zu", position);
	Agnode_t *drawn = new_node(drawing, rep_text_string(&drawing->text));
	if (!drawn)
		return NULL;
	rep_text_clear(&drawing->text);
	rep_text_count(&drawing->text, node->folded);
	rep_text_put(&drawing->text, " more, ");
	rep_text_size(&drawing->text, node->retained_bytes);
	struct rep_text name = {0};
	if (node->type)
		rep_name_type(&name, drawing->context->snapshot, node->type);
	else
		rep_name_location(&name, drawing->context->snapshot, node->location);
	if (name.length) {
		rep_text_put(&drawing->text, ",\\nmostly ");
		if (node->type)
			put_label_type(drawing, &name);
		else
			put_label_name(drawing, rep_text_string(&name));
	}
	rep_text_release(&name);
	set_text(drawing, drawn, "label");
	set_attribute(drawn, "shape", "note");
	set_attribute(drawn, "style", "dashed");
	set_attribute(drawn, "fontcolor", "#555555");
	set_attribute(drawn, "color", "#999999");
	set_attribute(drawn, "fontsize", "9");
	set_attribute(drawn, "tooltip", "left out of the picture");
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

static void style_edge(struct drawing *drawing, Agedge_t *drawn, const struct hg_picture_edge *edge)
{
	const struct rep_drawn_node *to = &drawing->picture->nodes[edge->to];
	if (edge->kind == HG_EDGE_REFERS) {
		set_attribute(drawn, "color", "#b0b7bf");
		set_attribute(drawn, "penwidth", "0.6");
		set_attribute(drawn, "arrowsize", "0.5");
		set_attribute(drawn, "constraint", "false");
		return;
	}
	unsigned tenths =
		8 + (unsigned)(share_of_picture(drawing, to->retained_bytes) * 40 / 10000);
	rep_text_printf(&drawing->text, "%u.%u", tenths / 10, tenths % 10);
	set_text(drawing, drawn, "penwidth");
	if (edge->kind == HG_EDGE_DOMINATES || to->folded)
		set_attribute(drawn, "style", "dashed");
	if (edge->kind == HG_EDGE_HOLDS && edge->field != HG_UNKNOWN && !to->folded) {
		struct rep_text name = {0};
		rep_name_field(&name, drawing->context->snapshot,
			drawing->picture->nodes[edge->from].node, edge->field);
		put_label_name(drawing, rep_text_string(&name));
		set_text(drawing, drawn, "label");
		rep_text_release(&name);
	}
}

static bool add_edges(struct drawing *drawing)
{
	for (size_t i = 0; i < drawing->picture->edges_count; i++) {
		const struct hg_picture_edge *edge = &drawing->picture->edges[i];
		Agedge_t *drawn = agedge(drawing->graph, drawing->nodes[edge->from],
			drawing->nodes[edge->to], NULL, 1);
		if (!drawn)
			return false;
		style_edge(drawing, drawn, edge);
	}
	return true;
}

static void set_defaults(struct drawing *drawing)
{
	static const struct {
		int kind;
		const char *name, *value;
	} defaults[] = {
		{AGRAPH, "rankdir", "LR"},
		{AGRAPH, "nodesep", "0.18"},
		{AGRAPH, "ranksep", "0.55"},
		{AGRAPH, "fontname", "Helvetica"},
		{AGRAPH, "fontsize", "12"},
		{AGRAPH, "labelloc", "t"},
		{AGRAPH, "labeljust", "l"},
		{AGRAPH, "bgcolor", "white"},
		{AGRAPH, "pad", "0.3"},
		{AGNODE, "shape", "box"},
		{AGNODE, "style", "filled,rounded"},
		{AGNODE, "fillcolor", "white"},
		{AGNODE, "color", "#5b6770"},
		{AGNODE, "fontname", "Helvetica"},
		{AGNODE, "fontsize", "10"},
		{AGNODE, "fontcolor", "#1c1f22"},
		{AGNODE, "margin", "0.12,0.06"},
		{AGNODE, "height", "0.3"},
		{AGNODE, "peripheries", "1"},
		{AGNODE, "label", "\\N"},
		{AGNODE, "tooltip", ""},
		{AGEDGE, "color", "#5b6770"},
		{AGEDGE, "fontname", "Helvetica"},
		{AGEDGE, "fontsize", "8"},
		{AGEDGE, "fontcolor", "#5b6770"},
		{AGEDGE, "arrowsize", "0.6"},
		{AGEDGE, "penwidth", "0.8"},
		{AGEDGE, "style", "solid"},
		{AGEDGE, "constraint", "true"},
		{AGEDGE, "label", ""},
	};
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
		set_default(drawing, defaults[i].kind, defaults[i].name, defaults[i].value);
}

static bool has_edge_kind(const struct rep_picture *picture, enum hg_picture_edge_kind kind)
{
	for (size_t i = 0; i < picture->edges_count; i++)
		if (picture->edges[i].kind == kind && !picture->nodes[picture->edges[i].to].folded)
			return true;
	return false;
}

/* What the picture shows, in the words of a legend, and that it is partial if it is. */
static void set_title(
	struct drawing *drawing, const struct hg_info *info, const struct hg_totals *totals)
{
	struct rep_text *text = &drawing->text;
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
	set_text(drawing, drawing->graph, "label");
}

static bool draw_graph(struct drawing *drawing, const struct hg_totals *totals)
{
	struct hg_info info = *hg_snapshot_info(drawing->context->snapshot);
	drawing->graph = agopen((char *)"heapgraph", Agdirected, NULL);
	drawing->nodes = calloc(drawing->picture->nodes_count ? drawing->picture->nodes_count : 1,
		sizeof(Agnode_t *));
	if (!drawing->graph || !drawing->nodes)
		return false;
	set_defaults(drawing);
	set_title(drawing, &info, totals);
	return add_nodes(drawing) && add_edges(drawing) && !drawing->text.failed;
}

/* Graphviz writes its warnings (a font that is not there) to stderr unless told otherwise. */
static int ignore_message(char *message)
{
	(void)message;
	return 0;
}

static enum hg_status render(
	struct drawing *drawing, const char *format, FILE *stream, struct hg_error *error)
{
	enum hg_status status = HG_OK;
	char *data = NULL;
	unsigned length = 0;
	GVC_t *graphviz = gvContext();
	if (!graphviz)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "out of memory");
	if (gvLayout(graphviz, drawing->graph, "dot")) {
		gvFreeContext(graphviz);
		return base_fail(error, HG_ERROR_OUTPUT, HG_NO_OFFSET,
			"Graphviz cannot lay out the picture");
	}
	if (gvRenderData(graphviz, drawing->graph, format, &data, &length) || length == 0)
		status = base_fail(error, HG_ERROR_OUTPUT, HG_NO_OFFSET,
			"this installation of Graphviz cannot write %s", format);
	else
		fwrite(data, 1, length, stream);
	return status;
}

struct order {
	struct drawing drawing;
	const struct hg_totals *totals;
	const char *format; /* NULL: DOT */
};

/* In a process that ends with it: nothing is given back. */
static enum hg_status draw_and_write(void *data, FILE *out, struct hg_error *error)
{
	struct order *order = data;
	struct drawing *drawing = &order->drawing;
	agseterrf(ignore_message);
	enum hg_status status = HG_OK;
	if (!draw_graph(drawing, order->totals))
		status = base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "out of memory");
	else if (order->format)
		status = render(drawing, order->format, out, error);
	else
		agwrite(drawing->graph, out);
	/* Some mistakes are only said, and the picture lacks what they are about. */
	if (status == HG_OK && rep_text_lost())
		status = base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "out of memory");
	if (status == HG_OK && agreseterrors() >= AGERR)
		status = base_fail(error, HG_ERROR_OUTPUT, HG_NO_OFFSET,
			"Graphviz cannot draw all of the picture");
	return status;
}

enum hg_status rep_dot(
	struct rep_context *context, const struct rep_dot_request *request, FILE *stream)
{
	struct rep_picture picture = {0};
	const struct hg_totals *totals;
	enum hg_status status = hg_count_totals(context->snapshot, &totals);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	BASE_TRY(rep_draw_picture(context, request->from, request->max_nodes,
		rep_share_bytes(totals, request->min_share), &picture));
	struct order order = {.drawing = {.context = context, .picture = &picture},
		.totals = totals,
		.format = request->picture};
	status = rep_apart(draw_and_write, &order, "Graphviz", stream, context->error);
	rep_picture_release(&picture);
	return status;
}
