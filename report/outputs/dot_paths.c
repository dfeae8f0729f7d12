/*
 * A picture of what holds the memory by path, by Graphviz: what stands in the nodes of the
 * retention tree and on their arrows, and which way they go so that it fits a screen.
 */
#include "report/outputs/outputs.h"

#include "report/common.h"
#include "report/outputs/drawing.h"
#include "report/outputs/path_picture.h"
#include "report/paths.h"
#include "report/writers/fit.h"

#include <stdlib.h>
#include <string.h>

enum {
	WIDE_COLUMNS = 28, /* of the lines in a box, where there is room */
	NARROW_COLUMNS = 20,
	COLUMNS_STEP = 4,
	NAME_COLUMNS_IN_ALL = 76,
	SHARER_COLUMNS = 44,
	FIELD_COLUMNS = 18,
	NOTE_COLUMNS = 16,
	TITLE_COLUMNS = 60,
	TOOLTIP_COLUMNS = 400,
	MANY_BLOCKS = 16,
	SCREEN = 920,         /* points: 1280 pixels are 960 of them */
	MOST_ESTIMATED = 1000 /* nodes; pictures of more fit no screen anyway */
};

/* What is known of a node before it is drawn. */
struct path_label {
	struct rep_text text, field; /* as Graphviz takes them */
	size_t columns, field_columns;
};

struct path_drawing {
	struct rep_drawing base;
	struct rep_context *context;
	const struct rep_path_picture *picture;
	const char *from; /* the pattern asked for, or NULL */
	struct path_label *labels;
	uint32_t *levels; /* how deep each node stands */
	size_t *widths;   /* points, while the direction is chosen */
	struct rep_node **nodes;
	struct rep_node *top; /* above all roots */
	bool downward;
};

static const struct hg_retention_row *row_of_node(const struct path_drawing *drawing, size_t node)
{
	return hg_retention_at(drawing->picture->tree, drawing->picture->nodes[node].row);
}

static uint64_t share_of_paths(const struct path_drawing *drawing, uint64_t bytes)
{
	return rep_basis_points(bytes, drawing->picture->total_bytes);
}

/* A name of any bytes as one that can be seen, without its middle if it is long. */
static void show_name(struct rep_text *text, const char *name, size_t columns)
{
	struct rep_text shown = {0};
	rep_text_escape_terminal(&shown, name, strlen(name));
	rep_fit_cut(text, rep_text_string(&shown), shown.length, columns, 0, "...");
	rep_text_release(&shown);
}

/*
 * Where a line ends that has room for 'columns': behind a blank or a comma, or else between the
 * parts of a name.
 */
static size_t end_of_line(const char *name, size_t length, size_t columns)
{
	size_t end = rep_fit_prefix(name, length, columns);
	if (end == length || end == 0)
		return length;
	for (size_t i = end; i > end / 3; i--)
		if (name[i - 1] == ' ' || name[i - 1] == ',')
			return i;
	for (size_t i = end; i > end / 3; i--)
		if ((name[i] == '.' && name[i - 1] != '.') || name[i] == '(' || name[i - 1] == '_')
			return i;
	return end;
}

/* The line of a label; 'columns' is that of its longest. */
static void put_label_line(struct rep_text *text, size_t *columns, const char *line, size_t length)
{
	size_t width = rep_text_width(line, length);
	*columns = width > *columns ? width : *columns;
	rep_text_put(text, text->length ? "\\n" : "");
	rep_text_escape_dot(text, line, length);
}

static void put_label_lines(struct path_label *label, const char *name, size_t columns)
{
	struct rep_text shown = {0};
	show_name(&shown, name, NAME_COLUMNS_IN_ALL);
	const char *line = rep_text_string(&shown);
	size_t left = shown.length;
	while (left) {
		size_t end = end_of_line(line, left, columns), length = end;
		while (length && line[length - 1] == ' ')
			length--;
		put_label_line(&label->text, &label->columns, line, length);
		line += end;
		left -= end;
	}
	rep_text_release(&shown);
}

/* Adds what was built as a line and empties it. */
static void finish_label_line(struct path_label *label, struct rep_text *line)
{
	if (line->length)
		put_label_line(&label->text, &label->columns, rep_text_string(line), line->length);
	rep_text_clear(line);
}

/* The first of the lines where a class is made, or of a root where it is defined. */
static void name_source_line(
	struct rep_text *line, const struct path_drawing *drawing, size_t node, size_t columns)
{
	const struct hg_retention_row *row = row_of_node(drawing, node);
	const struct hg_retention *tree = drawing->picture->tree;
	struct rep_text places = {0};
	size_t number = drawing->picture->nodes[node].row;
	if (row->is_root && row->depth == 1)
		rep_path_defined_at(&places, tree, number);
	else if (row->blocks >= MANY_BLOCKS)
		rep_path_made_at(&places, tree, number);
	if (places.length) {
		char *end = strchr(places.bytes, ';');
		if (end)
			*end = '\0';
		show_name(line, rep_base_name(places.bytes), columns);
	}
	rep_text_release(&places);
}

/* Who holds it that no arrow comes from. */
static void label_sharers(struct path_drawing *drawing, size_t node, size_t columns)
{
	const struct rep_path_node *at = &drawing->picture->nodes[node];
	struct rep_text line = {0};
	if (at->sharers == 0 || (at->sharers == 1 && at->stands != REP_NOWHERE))
		return;
	if (at->stands == REP_NOWHERE) {
		rep_text_put(&line, "held by ");
		show_name(&line, hg_retention_at(drawing->picture->tree, at->sharer)->name,
			SHARER_COLUMNS);
		if (at->sharers > 1)
			rep_text_printf(
				&line, " and %llu more", (unsigned long long)(at->sharers - 1));
	} else {
		rep_text_put(&line, "shared by ");
		rep_name_amount(&line, at->sharers, "holder", "holders");
	}
	put_label_lines(&drawing->labels[node], rep_text_string(&line), columns);
	rep_text_release(&line);
}

static void label_path(struct path_drawing *drawing, size_t node, size_t columns)
{
	const struct rep_path_node *at = &drawing->picture->nodes[node];
	const struct hg_retention_row *row = row_of_node(drawing, node);
	struct path_label *label = &drawing->labels[node];
	struct rep_text line = {0};
	rep_text_clear(&label->text);
	label->columns = 0;
	put_label_lines(label, row->name, columns);
	if (at->content)
		put_label_lines(
			label, hg_retention_at(drawing->picture->tree, at->content)->name, columns);
	rep_text_size(&line, row->weight);
	rep_text_put(&line, "   ");
	rep_text_percent(&line, row->weight, drawing->picture->total_bytes);
	finish_label_line(label, &line);
	if (row->retained_offheap_bytes) {
		rep_text_put(&line, "off-heap ");
		rep_text_size(&line, row->retained_offheap_bytes);
		finish_label_line(label, &line);
	}
	if (row->blocks)
		rep_name_amount(&line, row->blocks, "block", "blocks");
	finish_label_line(label, &line);
	label_sharers(drawing, node, columns);
	name_source_line(&line, drawing, node, columns);
	finish_label_line(label, &line);
	rep_text_release(&line);
}

static void label_field(struct path_drawing *drawing, size_t node)
{
	struct path_label *label = &drawing->labels[node];
	const struct rep_path_node *at = &drawing->picture->nodes[node];
	struct rep_text field = {0}, shown = {0};
	if (at->parent == REP_NOWHERE)
		return;
	rep_path_field(&field, drawing->picture->tree, at->row);
	show_name(&shown, rep_text_string(&field), FIELD_COLUMNS);
	if (shown.length)
		put_label_line(&label->field, &label->field_columns, rep_text_string(&shown),
			shown.length);
	rep_text_release(&field);
	rep_text_release(&shown);
}

static bool has_note(const struct rep_path_picture *picture, uint64_t hidden, uint64_t bytes)
{
	return hidden && bytes && bytes >= picture->min_bytes;
}

static bool node_has_note(const struct rep_path_picture *picture, size_t node)
{
	return has_note(picture, picture->nodes[node].hidden, picture->nodes[node].hidden_bytes);
}

/* Points that a box takes across, and one beside its arrow. */
static size_t box_points(size_t columns)
{
	return columns * 6 + 20;
}

static uint32_t level_of_node(const struct rep_path_picture *picture, uint32_t node)
{
	uint32_t level = 0;
	while (picture->nodes[node].stands != REP_NOWHERE) {
		node = picture->nodes[node].stands;
		level++;
	}
	return level;
}

/* How wide it gets with a column for each level. */
static size_t width_rightward(const struct path_drawing *drawing)
{
	const struct rep_path_picture *picture = drawing->picture;
	size_t *widths = drawing->widths, sum = 0;
	memset(widths, 0, (picture->nodes_count + 1) * sizeof(*widths));
	for (size_t i = 0; i < picture->nodes_count; i++) {
		const struct path_label *label = &drawing->labels[i];
		uint32_t level = drawing->levels[i];
		size_t width = box_points(label->columns) + 30 + label->field_columns * 5;
		size_t note = node_has_note(picture, i) ? box_points(NOTE_COLUMNS) : 0;
		if (width > widths[level])
			widths[level] = width;
		if (note > widths[level + 1])
			widths[level + 1] = note;
	}
	for (size_t i = 0; i <= picture->nodes_count; i++)
		sum += widths[i];
	return sum;
}

/* Of a node with what stands below it, of which 'below' points are known. */
static size_t width_of_branch(const struct path_drawing *drawing, size_t node, size_t below)
{
	size_t width = box_points(drawing->labels[node].columns) + 8;
	if (node_has_note(drawing->picture, node))
		below += box_points(NOTE_COLUMNS);
	return below > width ? below : width;
}

/* And with a row for each: what stands below a node is beside what stands below the next. */
static size_t width_downward(const struct path_drawing *drawing)
{
	const struct rep_path_picture *picture = drawing->picture;
	size_t *below = drawing->widths, sum = 0;
	uint32_t deepest = 0;
	memset(below, 0, (picture->nodes_count + 1) * sizeof(*below));
	for (size_t i = 0; i < picture->nodes_count; i++)
		deepest = drawing->levels[i] > deepest ? drawing->levels[i] : deepest;
	for (uint32_t level = deepest + 1; level-- > 0;)
		for (size_t i = 0; i < picture->nodes_count; i++) {
			if (drawing->levels[i] != level)
				continue;
			uint32_t above = picture->nodes[i].stands;
			size_t width = width_of_branch(drawing, i, below[i]);
			*(above == REP_NOWHERE ? &sum : &below[above]) += width;
		}
	return sum;
}

/* Lets the levels go to the right or downward, whichever fits the screen; says how wide it gets. */
static size_t choose_direction(struct path_drawing *drawing)
{
	if (drawing->picture->nodes_count > MOST_ESTIMATED)
		return 0;
	size_t right = width_rightward(drawing), down = width_downward(drawing);
	drawing->downward = right > SCREEN && down < right;
	return drawing->downward ? down : right;
}

/* Lines as long as fits. */
static bool label_all(struct path_drawing *drawing)
{
	const struct rep_path_picture *picture = drawing->picture;
	size_t count = picture->nodes_count;
	drawing->labels = calloc(count + 1, sizeof(*drawing->labels));
	drawing->levels = calloc(count + 1, sizeof(*drawing->levels));
	drawing->widths = calloc(count + 1, sizeof(*drawing->widths));
	if (!drawing->labels || !drawing->levels || !drawing->widths)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		label_field(drawing, i);
		if (count <= MOST_ESTIMATED)
			drawing->levels[i] = level_of_node(picture, i);
	}
	for (size_t columns = WIDE_COLUMNS; columns >= NARROW_COLUMNS; columns -= COLUMNS_STEP) {
		for (size_t i = 0; i < count; i++)
			label_path(drawing, i, columns);
		if (choose_direction(drawing) <= SCREEN)
			break;
	}
	return true;
}

static void set_path_tooltip(struct path_drawing *drawing, struct rep_node *drawn, size_t row)
{
	struct rep_text path = {0}, shown = {0};
	rep_path_name(&path, drawing->picture->tree, row);
	show_name(&shown, rep_text_string(&path), TOOLTIP_COLUMNS);
	rep_text_escape_tooltip(&drawing->base.text, rep_text_string(&shown), shown.length);
	rep_set_text(&drawing->base, drawn, "tooltip");
	rep_text_release(&path);
	rep_text_release(&shown);
}

static struct rep_node *draw_path(struct path_drawing *drawing, size_t node)
{
	const struct hg_retention_row *row = row_of_node(drawing, node);
	size_t number = drawing->picture->nodes[node].row;
	struct rep_drawing *base = &drawing->base;
	rep_text_printf(&base->text, "row%zu", number);
	struct rep_node *drawn = rep_new_node(base, rep_text_string(&base->text));
	rep_text_clear(&base->text);
	if (!drawn)
		return NULL;
	rep_set_attribute(drawn, "label", rep_text_string(&drawing->labels[node].text));
	rep_set_share_colour(base, drawn, share_of_paths(drawing, row->weight));
	set_path_tooltip(drawing, drawn, number);
	if (row->is_root) {
		rep_set_attribute(drawn, "shape", "folder");
		rep_set_attribute(drawn, "style", "filled");
	}
	return drawn;
}

/* What keeps roots in their order: nothing that is seen. */
static bool draw_top(struct path_drawing *drawing)
{
	drawing->top = rep_new_node(&drawing->base, "roots");
	if (!drawing->top)
		return false;
	rep_set_attribute(drawing->top, "style", "invis");
	rep_set_attribute(drawing->top, "label", "");
	rep_set_attribute(drawing->top, "width", "0.01");
	rep_set_attribute(drawing->top, "height", "0.01");
	return true;
}

/* "1,234 more, 56.0 KB" below a node, or alone for roots. */
static bool draw_note(struct path_drawing *drawing, struct rep_node *above, size_t row,
	uint64_t hidden, uint64_t bytes)
{
	struct rep_drawing *base = &drawing->base;
	rep_text_printf(&base->text, "more%zu", row);
	struct rep_node *drawn = rep_new_node(base, rep_text_string(&base->text));
	if (!drawn)
		return false;
	rep_text_clear(&base->text);
	rep_text_count(&base->text, hidden);
	rep_text_put(&base->text, row ? " more,\\n" : " more roots,\\n");
	rep_text_size(&base->text, bytes);
	rep_set_text(base, drawn, "label");
	rep_set_note_style(drawn);
	struct rep_edge *edge = rep_new_edge(base, above, drawn);
	if (!edge)
		return false;
	rep_set_attribute(edge, "color", "#999999");
	rep_set_attribute(edge, "style", row ? "solid" : "invis");
	return true;
}

static bool draw_paths_nodes(struct path_drawing *drawing)
{
	const struct rep_path_picture *picture = drawing->picture;
	size_t count = picture->nodes_count;
	drawing->nodes = calloc(count ? count : 1, sizeof(*drawing->nodes));
	for (size_t i = 0; drawing->nodes && i < count; i++) {
		drawing->nodes[i] = draw_path(drawing, i);
		if (!drawing->nodes[i])
			return false;
	}
	return drawing->nodes != NULL;
}

static bool draw_notes(struct path_drawing *drawing)
{
	const struct rep_path_picture *picture = drawing->picture;
	for (size_t i = 0; i < picture->nodes_count; i++) {
		const struct rep_path_node *node = &picture->nodes[i];
		if (node_has_note(picture, i) && !draw_note(drawing, drawing->nodes[i], node->row,
							 node->hidden, node->hidden_bytes))
			return false;
	}
	bool rest = picture->hidden &&
		    (picture->nodes_count == 0 ||
			    has_note(picture, picture->hidden, picture->hidden_bytes));
	return !rest || draw_note(drawing, drawing->top, 0, picture->hidden, picture->hidden_bytes);
}

static bool draw_holding(struct path_drawing *drawing, size_t node)
{
	const struct rep_path_node *at = &drawing->picture->nodes[node];
	struct rep_node *above =
		at->parent == REP_NOWHERE ? drawing->top : drawing->nodes[at->parent];
	if (at->parent == REP_NOWHERE && at->stands != REP_NOWHERE)
		return true;
	struct rep_edge *edge = rep_new_edge(&drawing->base, above, drawing->nodes[node]);
	if (!edge)
		return false;
	if (at->parent == REP_NOWHERE) {
		rep_set_attribute(edge, "style", "invis");
		return true;
	}
	rep_set_share_width(
		&drawing->base, edge, share_of_paths(drawing, row_of_node(drawing, node)->weight));
	/* Blanks keep it off the arrow beside which it stands. */
	if (drawing->labels[node].field.length)
		rep_text_printf(&drawing->base.text, "%s%s", drawing->downward ? "  " : "",
			rep_text_string(&drawing->labels[node].field));
	rep_set_text(&drawing->base, edge, "label");
	return true;
}

static bool draw_cross(struct path_drawing *drawing, const struct rep_path_cross *cross)
{
	const struct rep_path_node *to = &drawing->picture->nodes[cross->to];
	bool places = to->parent == REP_NOWHERE && to->stands == cross->from;
	struct rep_edge *edge = rep_new_edge(
		&drawing->base, drawing->nodes[cross->from], drawing->nodes[cross->to]);
	if (!edge)
		return false;
	rep_text_count(&drawing->base.text, cross->pointers);
	rep_set_text(&drawing->base, edge, "label");
	rep_set_attribute(edge, "style", "dashed");
	rep_set_attribute(edge, "color", "#8d969e");
	rep_set_attribute(edge, "fontcolor", "#6b747c");
	rep_set_attribute(edge, "constraint", places ? "true" : "false");
	return true;
}

static bool draw_arrows(struct path_drawing *drawing)
{
	const struct rep_path_picture *picture = drawing->picture;
	for (size_t i = 0; i < picture->nodes_count; i++)
		if (!draw_holding(drawing, i))
			return false;
	for (size_t i = 0; i < picture->crosses_count; i++)
		if (!draw_cross(drawing, &picture->crosses[i]))
			return false;
	return true;
}

static void set_path_defaults(struct path_drawing *drawing)
{
	const struct rep_drawing_default defaults[] = {
		{REP_GRAPH, "rankdir", drawing->downward ? "TB" : "LR"},
		{REP_GRAPH, "nodesep", "0.15"},
		{REP_GRAPH, "ordering", "out"},
		{REP_GRAPH, "ranksep", drawing->downward ? "0.3" : "0.15"},
		{REP_GRAPH, "fontname", "Helvetica"},
		{REP_GRAPH, "fontsize", "12"},
		{REP_GRAPH, "labelloc", "t"},
		{REP_GRAPH, "labeljust", "l"},
		{REP_GRAPH, "bgcolor", "white"},
		{REP_GRAPH, "pad", "0.15"},
		{REP_NODES, "shape", "box"},
		{REP_NODES, "style", "filled,rounded"},
		{REP_NODES, "fillcolor", "white"},
		{REP_NODES, "color", "#5b6770"},
		{REP_NODES, "fontname", "Helvetica"},
		{REP_NODES, "fontsize", "11"},
		{REP_NODES, "fontcolor", "#1c1f22"},
		{REP_NODES, "margin", "0.09,0.05"},
		{REP_NODES, "height", "0.3"},
		{REP_NODES, "width", "0.5"},
		{REP_NODES, "label", "\\N"},
		{REP_NODES, "tooltip", ""},
		{REP_EDGES, "color", "#5b6770"},
		{REP_EDGES, "fontname", "Helvetica"},
		{REP_EDGES, "fontsize", "9"},
		{REP_EDGES, "fontcolor", "#3d474f"},
		{REP_EDGES, "arrowsize", "0.6"},
		{REP_EDGES, "penwidth", "0.8"},
		{REP_EDGES, "style", "solid"},
		{REP_EDGES, "constraint", "true"},
		{REP_EDGES, "label", ""},
	};
	rep_set_defaults(&drawing->base, defaults, sizeof(defaults) / sizeof(defaults[0]));
}

/* A name for the title. */
static void put_shown(struct rep_text *text, const char *name)
{
	struct rep_text shown = {0};
	show_name(&shown, name, TITLE_COLUMNS);
	rep_text_escape_dot(text, rep_text_string(&shown), shown.length);
	rep_text_release(&shown);
}

/* What the picture shows, in the words of a legend, and that it is partial if it is. */
static void set_path_title(struct path_drawing *drawing)
{
	struct rep_text *text = &drawing->base.text;
	const struct rep_path_picture *picture = drawing->picture;
	const struct hg_retention_row *top = hg_retention_at(picture->tree, 0);
	struct hg_info info = *hg_snapshot_info(drawing->context->snapshot);
	if (*info.partial) {
		struct rep_text reason = {0};
		rep_partial_reason(&reason, &info);
		rep_text_put(text, "PARTIAL: ");
		rep_text_escape_dot(text, rep_text_string(&reason), reason.length);
		rep_text_put(text, "\\l");
		rep_text_release(&reason);
	}
	put_shown(text, rep_base_name(info.path));
	rep_text_put(text, ": ");
	rep_text_size(text, picture->total_bytes);
	rep_text_put(text, drawing->from ? " held by what matches " : " reachable");
	if (drawing->from)
		put_shown(text, drawing->from);
	if (top->retained_offheap_bytes) {
		rep_text_put(text, ", ");
		rep_text_size(text, top->retained_offheap_bytes);
		rep_text_put(text, " of it off-heap");
	}
	rep_text_put(text, "\\lBoxes: the blocks of one type on one path from a root (a box with a "
			   "tab), what would "
			   "be freed with them,\\land a line that makes them, or defines the root. "
			   " Arrows: hold "
			   "alone, in the field named");
	if (picture->crosses_count)
		rep_text_put(text, "; dashed: point there, too, so many times");
	rep_text_put(text, ".\\l");
	rep_set_text(&drawing->base, drawing->base.graph, "label");
}

static bool draw_path_graph(struct rep_drawing *base)
{
	struct path_drawing *drawing = (struct path_drawing *)base;
	if (!label_all(drawing))
		return false;
	set_path_defaults(drawing);
	set_path_title(drawing);
	return draw_top(drawing) && draw_paths_nodes(drawing) && draw_arrows(drawing) &&
	       draw_notes(drawing);
}

enum hg_status rep_dot(
	struct rep_context *context, const struct rep_dot_request *request, FILE *stream)
{
	struct rep_path_picture picture;
	BASE_TRY(rep_choose_paths(context, request, &picture));
	struct path_drawing drawing = {
		.context = context, .picture = &picture, .from = request->from};
	enum hg_status status = rep_draw_apart(
		&drawing.base, draw_path_graph, request->picture, stream, context->error);
	rep_path_picture_release(&picture);
	return status;
}
