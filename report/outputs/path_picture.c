/* Chooses the rows of the retention tree that a picture shows, and the pointers between them. */
#include "report/outputs/path_picture.h"

#include "report/common.h"
#include "report/paths.h"

#include <stdlib.h>
#include <string.h>

enum {
	CROSSES_PER_NODE = 3, /* more of them hide the tree */
	LEAST_OF_LARGEST = 20 /* parts of the largest that the others have to be one of */
};

/* Row numbers to nodes, while the picture is made. */
struct choice {
	struct rep_path_picture *picture;
	size_t rows;
	uint32_t *node;  /* of a row that is drawn, else REP_NOWHERE */
	uint32_t *drawn; /* of the nearest row at or above it that is drawn */
};

static const struct hg_retention_row *row_of(const struct choice *choice, size_t row)
{
	return hg_retention_at(choice->picture->tree, row);
}

/* A root and its only block retain the same, and say more in one box. */
static bool is_content(const struct choice *choice, const struct hg_retention_row *at)
{
	const struct hg_retention_row *parent = row_of(choice, at->parent);
	return parent->is_root && parent->children == 1 && !at->is_root && at->blocks == 1;
}

/* The largest rows, of which none exceeds its parent, and row 0 with them. */
static bool choose_drawn_rows(
	struct choice *choice, const struct rep_dot_request *request, bool *kept)
{
	uint64_t *amounts = calloc(choice->rows, sizeof(*amounts)), candidates = 0;
	uint64_t total = choice->picture->total_bytes;
	uint64_t least = rep_part_of(total, request->min_share);
	if (!amounts)
		return false;
	for (size_t i = 0; i < choice->rows; i++) {
		uint64_t bytes = row_of(choice, i)->weight;
		bool enough = i == 0 || (bytes >= least && bytes);
		amounts[i] = enough ? bytes + 1 : 0;
		candidates += enough;
	}
	uint64_t limit = (uint64_t)request->max_nodes + 1;
	bool fine = rep_keep_largest(
		amounts, choice->rows, limit < candidates ? limit : candidates, kept);
	free(amounts);
	return fine;
}

static void add_drawn_row(struct choice *choice, uint32_t row)
{
	struct rep_path_picture *picture = choice->picture;
	const struct hg_retention_row *at = row_of(choice, row);
	uint32_t parent = choice->node[at->parent];
	if (is_content(choice, at)) {
		picture->nodes[parent].content = row;
		choice->node[row] = choice->drawn[row] = parent;
		return;
	}
	choice->node[row] = choice->drawn[row] = (uint32_t)picture->nodes_count;
	picture->nodes[picture->nodes_count++] =
		(struct rep_path_node){.row = row, .parent = parent, .stands = parent};
	uint64_t bytes = at->weight;
	if (picture->nodes_count == 1 || bytes < picture->min_bytes)
		picture->min_bytes = bytes;
}

static void add_hidden_row(struct choice *choice, uint32_t row)
{
	const struct hg_retention_row *at = row_of(choice, row);
	uint32_t parent = choice->node[at->parent];
	struct rep_path_picture *picture = choice->picture;
	choice->drawn[row] = choice->drawn[at->parent];
	if (at->parent == 0) {
		picture->hidden++;
		picture->hidden_bytes += at->weight;
	} else if (parent != REP_NOWHERE) {
		picture->nodes[parent].hidden++;
		picture->nodes[parent].hidden_bytes += at->weight;
	}
}

static bool add_rows(struct choice *choice, const struct rep_dot_request *request)
{
	bool *kept = calloc(choice->rows, sizeof(*kept));
	bool fine = kept && choose_drawn_rows(choice, request, kept);
	size_t count = 0;
	for (size_t i = 1; fine && i < choice->rows; i++) {
		const struct hg_retention_row *row = row_of(choice, i);
		kept[i] |= kept[row->parent] && is_content(choice, row);
		count += kept[i];
	}
	choice->picture->nodes = calloc(count ? count : 1, sizeof(*choice->picture->nodes));
	fine = fine && choice->picture->nodes;
	for (uint32_t i = 1; fine && i < choice->rows; i++) {
		if (kept[i])
			add_drawn_row(choice, i);
		else
			add_hidden_row(choice, i);
	}
	free(kept);
	return fine;
}

static bool is_below(const struct rep_path_picture *picture, uint32_t node, uint32_t above)
{
	while (node != REP_NOWHERE && node != above)
		node = picture->nodes[node].parent;
	return node == above;
}

/* Whether it says who shares what: pointers up and down one path do not. */
static bool is_shared_by(const struct rep_path_picture *picture, uint32_t from, uint32_t to)
{
	return from != REP_NOWHERE && !is_below(picture, from, to) && !is_below(picture, to, from);
}

/* Node numbers instead of rows; what was left out counts with the row drawn above it. */
static size_t collect_crosses(
	const struct choice *choice, const struct hg_cross_edges *edges, struct rep_path_cross *out)
{
	size_t count = 0;
	for (size_t i = 0; i < edges->count; i++) {
		const struct hg_cross_edge *edge = edges->rows[i];
		uint32_t from = choice->drawn[edge->from], to = choice->node[edge->to];
		if (to != REP_NOWHERE && is_shared_by(choice->picture, from, to))
			out[count++] = (struct rep_path_cross){from, to, edge->pointers};
	}
	return count;
}

static int by_both_ends(const void *left, const void *right)
{
	const struct rep_path_cross *a = left, *b = right;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static int by_pointers(const void *left, const void *right)
{
	const struct rep_path_cross *a = left, *b = right;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	if (a->pointers != b->pointers)
		return a->pointers > b->pointers ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static size_t merge_crosses(struct rep_path_cross *crosses, size_t count)
{
	size_t merged = 0;
	if (count)
		qsort(crosses, count, sizeof(*crosses), by_both_ends);
	for (size_t i = 0; i < count; i++) {
		if (merged && by_both_ends(&crosses[merged - 1], &crosses[i]) == 0)
			crosses[merged - 1].pointers += crosses[i].pointers;
		else
			crosses[merged++] = crosses[i];
	}
	return merged;
}

/* Of each target the few with most pointers, unless those are few for its blocks. */
static void keep_many(struct choice *choice, size_t count)
{
	struct rep_path_picture *picture = choice->picture;
	struct rep_path_cross *crosses = picture->crosses;
	uint64_t most = 0;
	unsigned told = 0;
	if (count)
		qsort(crosses, count, sizeof(*crosses), by_pointers);
	for (size_t i = 0; i < count; i++) {
		const struct rep_path_cross cross = crosses[i];
		const struct rep_path_node *to = &picture->nodes[cross.to];
		uint64_t blocks = row_of(choice, to->content ? to->content : to->row)->blocks;
		if (i == 0 || cross.to != crosses[i - 1].to) {
			most = cross.pointers > blocks ? cross.pointers : blocks;
			told = 0;
		}
		if (told < CROSSES_PER_NODE && cross.pointers >= most / LEAST_OF_LARGEST) {
			told++;
			crosses[picture->crosses_count++] = cross;
		}
	}
}

/* What several hold together is drawn beside the one of them that points to it most often. */
static void place_shared(struct rep_path_picture *picture)
{
	for (size_t i = 0; i < picture->crosses_count; i++) {
		const struct rep_path_cross *cross = &picture->crosses[i];
		struct rep_path_node *to = &picture->nodes[cross->to];
		uint32_t above = cross->from;
		while (above != REP_NOWHERE && above != cross->to)
			above = picture->nodes[above].stands;
		if (to->stands == REP_NOWHERE && above == REP_NOWHERE)
			to->stands = cross->from;
	}
}

static bool count_sharers(struct rep_path_picture *picture)
{
	for (size_t i = 0; i < picture->nodes_count; i++) {
		struct rep_path_node *node = &picture->nodes[i];
		struct hg_cross_edges *sharers;
		if (node->parent != REP_NOWHERE ||
			hg_retention_at(picture->tree, node->row)->is_root)
			continue;
		/* The edges are made already: this can only fail for want of memory. */
		if (hg_list_sharers(picture->tree, node->row, &sharers) != HG_OK)
			return false;
		node->sharers = sharers->count;
		node->sharer = sharers->count ? sharers->rows[0]->from : 0;
		hg_cross_edges_release(&sharers);
	}
	return true;
}

static bool add_crosses(struct choice *choice, const struct hg_cross_edges *edges)
{
	struct rep_path_picture *picture = choice->picture;
	picture->crosses = calloc(edges->count ? edges->count : 1, sizeof(*picture->crosses));
	if (!picture->crosses)
		return false;
	size_t count = collect_crosses(choice, edges, picture->crosses);
	keep_many(choice, merge_crosses(picture->crosses, count));
	place_shared(picture);
	return count_sharers(picture);
}

static bool choose_from_tree(const struct rep_dot_request *request,
	const struct hg_cross_edges *edges, struct rep_path_picture *out)
{
	struct choice choice = {.picture = out, .rows = hg_retention_count(out->tree)};
	choice.node = malloc(choice.rows * sizeof(*choice.node));
	choice.drawn = malloc(choice.rows * sizeof(*choice.drawn));
	bool fine = choice.node && choice.drawn;
	if (fine) {
		memset(choice.node, 0xff, choice.rows * sizeof(*choice.node));
		memset(choice.drawn, 0xff, choice.rows * sizeof(*choice.drawn));
		out->total_bytes = hg_retention_at(out->tree, 0)->weight;
		fine = add_rows(&choice, request) && add_crosses(&choice, edges);
	}
	free(choice.node);
	free(choice.drawn);
	return fine;
}

enum hg_status rep_choose_paths(struct rep_context *context, const struct rep_dot_request *request,
	struct rep_path_picture *out)
{
	struct hg_retention_options options = {.size = sizeof(options), .from = request->from};
	struct hg_cross_edges *edges = NULL;
	*out = (struct rep_path_picture){0};
	enum hg_status status = hg_retention_open(context->snapshot, &options, &out->tree);
	if (status == HG_OK)
		status = hg_list_cross_edges(out->tree, &edges);
	if (status != HG_OK)
		status = rep_library_failed(context, status);
	else if (!choose_from_tree(request, edges, out))
		status = rep_no_memory(context);
	hg_cross_edges_release(&edges);
	if (status != HG_OK)
		rep_path_picture_release(out);
	return status;
}

void rep_path_picture_release(struct rep_path_picture *picture)
{
	hg_retention_close(picture->tree);
	free(picture->nodes);
	free(picture->crosses);
	*picture = (struct rep_path_picture){0};
}
