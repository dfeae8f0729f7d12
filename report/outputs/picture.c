/* Makes the graph that the library chose smaller, for drawing: chains, siblings, groups. */
#include "report/outputs/picture.h"

#include "report/common.h"

#include <stdlib.h>
#include <string.h>

/* More nodes than will be drawn are asked for, as chains shrink to one. */
enum { NODES_PER_NODE = 8, MOST_NODES = 2000, ALIKE_SIBLINGS = 4 };

#define NOWHERE UINT32_MAX

/* The library's picture, and for each of its nodes: */
struct work {
	struct hg_picture *in;
	struct hg_block *blocks; /* unset for groups */
	uint32_t *parent;        /* who holds it; NOWHERE for the top */
	uint32_t *head;          /* the first node of its chain, often itself */
	uint32_t *largest;       /* the largest it holds, NOWHERE for none */
	uint32_t *position;      /* in the picture to draw, of heads that are kept; else NOWHERE */
	uint32_t *group;         /* of what is folded below it in the picture to draw */
};

static bool allocate_work(struct work *work)
{
	size_t count = work->in->nodes_count ? work->in->nodes_count : 1;
	uint32_t **arrays[] = {
		&work->parent, &work->head, &work->largest, &work->position, &work->group};
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		*arrays[i] = malloc(count * sizeof(uint32_t));
		if (!*arrays[i])
			return false;
		memset(*arrays[i], 0xff, count * sizeof(uint32_t));
	}
	work->blocks = calloc(count, sizeof(*work->blocks));
	return work->blocks != NULL;
}

static void release_work(struct work *work)
{
	hg_picture_release(&work->in);
	free(work->blocks);
	free(work->parent);
	free(work->head);
	free(work->largest);
	free(work->position);
	free(work->group);
}

static bool is_group_node(const struct work *work, uint32_t node)
{
	return work->in->nodes[node]->folded != 0;
}

static void find_drawn_parents(struct work *work)
{
	for (size_t i = 0; i < work->in->edges_count; i++) {
		const struct hg_picture_edge *edge = work->in->edges[i];
		if (edge->kind != HG_EDGE_REFERS)
			work->parent[edge->to] = edge->from;
	}
	/* Nodes come by retained bytes, so the first one met is the largest. */
	for (uint32_t i = 1; i < work->in->nodes_count; i++) {
		uint32_t parent = work->parent[i];
		if (parent != NOWHERE && !is_group_node(work, i) &&
			work->largest[parent] == NOWHERE)
			work->largest[parent] = i;
	}
}

/* The rest of a list is most of it; a branch of a tree is not. */
static bool is_most_of(const struct hg_picture_node *held, const struct hg_picture_node *holder)
{
	return held->retained_bytes >= holder->retained_bytes / 10 * 7;
}

static bool continues_chain(const struct work *work, uint32_t node)
{
	uint32_t parent = work->parent[node];
	return parent != NOWHERE && !is_group_node(work, node) && work->largest[parent] == node &&
	       is_most_of(work->in->nodes[node], work->in->nodes[parent]) &&
	       rep_look_the_same(&work->blocks[node], &work->blocks[parent]);
}

static void find_heads(struct work *work, struct hg_snapshot *snapshot)
{
	for (uint32_t i = 0; i < work->in->nodes_count; i++) {
		if (!is_group_node(work, i))
			work->blocks[i] = *hg_describe_block(snapshot, work->in->nodes[i]->node);
		work->head[i] = continues_chain(work, i) ? work->head[work->parent[i]] : i;
	}
}

/* Who holds the chain a node belongs to; NOWHERE for the top. */
static uint32_t holder_of(const struct work *work, uint32_t node)
{
	uint32_t parent = work->parent[work->head[node]];
	return parent == NOWHERE ? NOWHERE : work->head[parent];
}

/* Whether a head is worth drawing: its holder is drawn, and not yet enough of its like with it.
 */
static bool worth_drawing(const struct work *work, uint32_t node)
{
	uint32_t holder = holder_of(work, node);
	unsigned alike = 0;
	if (holder == NOWHERE)
		return true;
	if (work->position[holder] == NOWHERE)
		return false;
	for (uint32_t i = holder + 1; i < node && alike < ALIKE_SIBLINGS; i++)
		alike += work->position[i] != NOWHERE && holder_of(work, i) == holder &&
			 rep_look_the_same(&work->blocks[i], &work->blocks[node]);
	return alike < ALIKE_SIBLINGS;
}

/* The largest heads are kept; a holder comes before what it holds, so they are a tree. */
static void keep_nodes(struct work *work, uint32_t max_nodes, struct rep_picture *out)
{
	for (uint32_t i = 0; i < work->in->nodes_count; i++) {
		const struct hg_picture_node *node = work->in->nodes[i];
		uint32_t head = work->head[i];
		if (is_group_node(work, i))
			continue;
		if (head != i) {
			if (work->position[head] != NOWHERE)
				out->nodes[work->position[head]].chain++;
		} else if (out->nodes_count < max_nodes && worth_drawing(work, i)) {
			work->position[i] = (uint32_t)out->nodes_count;
			out->nodes[out->nodes_count++] = (struct rep_drawn_node){
				.node = node->node, .retained_bytes = node->retained_bytes};
		}
	}
}

/* Adds what was left out, a node or a group of the library, to the group of its kept holder. */
static void fold_into_group(
	struct work *work, uint32_t left_out, struct rep_picture *out, uint64_t *largest)
{
	const struct hg_picture_node *node = work->in->nodes[left_out];
	uint32_t holder = holder_of(work, left_out);
	if (holder == NOWHERE || work->position[holder] == NOWHERE)
		return;
	if (work->group[holder] == NOWHERE) {
		work->group[holder] = (uint32_t)out->nodes_count;
		out->nodes[out->nodes_count++] = (struct rep_drawn_node){.node = HG_NO_NODE};
		largest[holder] = 0;
	}
	struct rep_drawn_node *group = &out->nodes[work->group[holder]];
	uint32_t parent = work->parent[left_out];
	out->nodes[work->position[holder]].endless |=
		parent != holder && is_most_of(node, work->in->nodes[parent]);
	group->folded += node->folded ? node->folded : 1;
	group->retained_bytes += node->retained_bytes;
	if (node->retained_bytes > largest[holder]) {
		largest[holder] = node->retained_bytes;
		group->location = node->location;
		group->type = node->type;
	}
}

static bool fold_rest(struct work *work, struct rep_picture *out)
{
	uint64_t *largest = calloc(work->in->nodes_count, sizeof(*largest));
	if (!largest)
		return false;
	for (uint32_t i = 1; i < work->in->nodes_count; i++)
		if (is_group_node(work, i) || (work->head[i] == i && work->position[i] == NOWHERE))
			fold_into_group(work, i, out, largest);
	free(largest);
	return true;
}

static int compare_edges(const void *left, const void *right)
{
	const struct hg_picture_edge *a = left, *b = right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (a->kind > b->kind) - (a->kind < b->kind);
}

/* Edges between nodes that were merged become edges of their chains; one for each pair is left. */
static void connect_chains(struct work *work, struct rep_picture *out)
{
	for (size_t i = 0; i < work->in->edges_count; i++) {
		struct hg_picture_edge edge = *work->in->edges[i];
		if (is_group_node(work, edge.to))
			continue;
		bool inner = work->head[edge.from] != edge.from;
		edge.from = work->position[work->head[edge.from]];
		edge.to = work->position[work->head[edge.to]];
		if (edge.from == NOWHERE || edge.to == NOWHERE || edge.from == edge.to)
			continue;
		if (inner)
			edge.field = HG_UNKNOWN;
		out->edges[out->edges_count++] = edge;
	}
	for (uint32_t i = 0; i < work->in->nodes_count; i++)
		if (work->group[i] != NOWHERE)
			out->edges[out->edges_count++] = (struct hg_picture_edge){
				work->position[i], work->group[i], HG_EDGE_DOMINATES, HG_UNKNOWN};
	if (out->edges_count)
		qsort(out->edges, out->edges_count, sizeof(*out->edges), compare_edges);
	size_t kept = 0;
	for (size_t i = 0; i < out->edges_count; i++) {
		const struct hg_picture_edge *last = kept ? &out->edges[kept - 1] : NULL;
		if (!last || last->from != out->edges[i].from || last->to != out->edges[i].to)
			out->edges[kept++] = out->edges[i];
	}
	out->edges_count = kept;
}

static bool build(struct work *work, struct hg_snapshot *snapshot, uint32_t max_nodes,
	struct rep_picture *out)
{
	/* At most one group for each node that is kept, and one edge for each group. */
	size_t nodes = 2 * work->in->nodes_count + 1;
	out->total_bytes = work->in->total_bytes;
	out->nodes = calloc(nodes, sizeof(*out->nodes));
	out->edges = calloc(work->in->edges_count + nodes, sizeof(*out->edges));
	if (!out->nodes || !out->edges || !allocate_work(work))
		return false;
	find_drawn_parents(work);
	find_heads(work, snapshot);
	keep_nodes(work, max_nodes, out);
	if (!fold_rest(work, out))
		return false;
	connect_chains(work, out);
	return true;
}

enum hg_status rep_draw_picture(struct rep_context *context, hg_node from, uint32_t max_nodes,
	uint64_t min_bytes, struct rep_picture *out)
{
	struct work work = {0};
	uint32_t more =
		max_nodes > MOST_NODES / NODES_PER_NODE ? MOST_NODES : max_nodes * NODES_PER_NODE;
	struct hg_picture_options options = {.size = sizeof(options),
		.from = from,
		.max_nodes = more > max_nodes ? more : max_nodes,
		.min_bytes = min_bytes};
	*out = (struct rep_picture){0};
	enum hg_status status = hg_draw_picture(context->snapshot, &options, &work.in);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	if (!build(&work, context->snapshot, max_nodes, out)) {
		rep_picture_release(out);
		status = rep_no_memory(context);
	}
	release_work(&work);
	return status;
}

void rep_picture_release(struct rep_picture *picture)
{
	free(picture->nodes);
	free(picture->edges);
	*picture = (struct rep_picture){0};
}
