/* Who points to the blocks of a set: holders by class and field, in one pass over the heap. */
#include "query/retention/path_classes.h"
#include "query/shared/result.h"

#include "base/assert.h"
#include "base/bits.h"
#include "graph/pointers.h"

#include <stdlib.h>
#include <string.h>

/* Fields are told apart in 24 bits; those of arrays are one, and links are none. */
enum { MOST_FIELD = (1 << 24) - 3, LINK, ELEMENTS, MOST_TOLD_APART = 16 };

/* A row while it is counted. */
struct pointing {
	struct hg_referring row;
	uint32_t class;
	uint32_t last; /* holder counted last */
};

struct referring {
	struct hg_snapshot *snapshot;
	uint64_t *selected; /* a bit by node */
	struct query_path_classes classes;
	uint32_t holder, class; /* met last, its class, and what it is unless a root */
	struct snap_cell cell;
	struct pointing *rows;
	uint64_t count, capacity;
	struct base_map by_field; /* rows by class, tag and field of the holders */
	uint64_t *pairs;          /* row << 33 | target << 1 | 1 unless the holder dominates it */
	uint64_t pair_count, pair_capacity;
};

/* What points, and of which class it is. */
struct pointer {
	uint32_t holder, class, target;
	unsigned tag;
	uint64_t field, fields; /* of how many */
};

static uint64_t field_key(const struct pointer *p, uint64_t field)
{
	return (uint64_t)p->class << 32 | (uint64_t)p->tag << 24 | field;
}

/* Elements of arrays are alike, and so are the words of large blocks of which nothing is known. */
static bool is_element(struct hg_snapshot *snapshot, const struct pointer *p)
{
	char name[64];
	hg_field_name(snapshot, p->holder, p->field, name, sizeof(name));
	return *name ? *name == '[' : p->fields > MOST_TOLD_APART;
}

static enum hg_status find_pointing(struct referring *r, const struct pointer *p, uint64_t *out)
{
	uint64_t field = p->field == HG_UNKNOWN ? LINK : p->field;
	if (base_map_get(&r->by_field, field_key(p, ELEMENTS), out))
		return HG_OK;
	if (field > MOST_FIELD && p->field != HG_UNKNOWN)
		field = MOST_FIELD;
	if (base_map_get(&r->by_field, field_key(p, field), out))
		return HG_OK;
	bool is_block = p->holder < r->snapshot->snap.block_count;
	if (is_block && field != LINK && is_element(r->snapshot, p))
		field = ELEMENTS;
	BASE_TRY(query_grow(r->snapshot, &r->rows, r->count, &r->capacity, sizeof(*r->rows)));
	r->rows[r->count] = (struct pointing){
		.row = {.node = p->holder,
			.field = field == LINK ? HG_UNKNOWN : p->field,
			.is_element = field == ELEMENTS,
			.is_root = !is_block},
		.class = p->class,
		.last = HG_NO_NODE,
	};
	*out = r->count++;
	return base_map_set(&r->by_field, field_key(p, field), *out, &r->snapshot->session->error);
}

static enum hg_status add_pointer(struct referring *r, const struct pointer *p)
{
	const struct graph *g = &r->snapshot->graph;
	uint64_t at;
	BASE_TRY(find_pointing(r, p, &at));
	struct pointing *pointing = &r->rows[at];
	pointing->row.pointers++;
	pointing->row.holders += pointing->last != p->holder;
	pointing->last = p->holder;
	bool dominates = g->idom[g->position[p->target].n].n == g->position[p->holder].n;
	BASE_TRY(query_grow(
		r->snapshot, &r->pairs, r->pair_count, &r->pair_capacity, sizeof(*r->pairs)));
	r->pairs[r->pair_count++] = at << 33 | (uint64_t)p->target << 1 | !dominates;
	return HG_OK;
}

/* The class of a holder is asked for once, however many of its fields point to the set. */
static enum hg_status find_class_of_holder(struct referring *r, const struct graph_pointer *pointer)
{
	const struct snap *snap = &r->snapshot->snap;
	uint32_t holder = pointer->holder;
	if (holder == r->holder)
		return HG_OK;
	r->holder = holder;
	r->cell = (struct snap_cell){0};
	r->class = QUERY_NO_CLASS;
	if (holder >= snap->block_count)
		return query_path_class_of_root(&r->classes, holder - snap->block_count, &r->class);
	if (pointer->cell)
		r->cell = *pointer->cell;
	else if (!snap_block(&r->snapshot->lookup, (struct snap_rank){holder}, &r->cell))
		return HG_OK; /* the file has changed meanwhile */
	return query_path_class_of_block(&r->classes, holder, &r->cell, &r->class);
}

static enum hg_status meet_pointer(void *data, const struct graph_pointer *pointer)
{
	struct referring *r = data;
	BASE_TRY(find_class_of_holder(r, pointer));
	if (r->class == QUERY_NO_CLASS)
		return HG_OK;
	struct pointer p = {.holder = pointer->holder,
		.class = r->class,
		.target = pointer->target,
		.tag = r->cell.tag,
		.field = pointer->field,
		.fields = r->cell.field_count};
	return add_pointer(r, &p);
}

static int compare_pairs(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Targets of each row, each once; where one pointer to it is its dominator's, that comes first. */
static void count_targets(struct referring *r)
{
	if (r->pair_count)
		qsort(r->pairs, r->pair_count, sizeof(*r->pairs), compare_pairs);
	for (uint64_t i = 0; i < r->pair_count; i++) {
		struct hg_referring *row = &r->rows[r->pairs[i] >> 33].row;
		if (i > 0 && r->pairs[i] >> 1 == r->pairs[i - 1] >> 1)
			continue;
		row->targets++;
		row->dominated += !(r->pairs[i] & 1);
	}
}

static int compare_referring(const void *a, const void *b)
{
	const struct hg_referring *x = a, *y = b;
	if (x->pointers != y->pointers)
		return x->pointers > y->pointers ? -1 : 1;
	int order = strcmp(x->name, y->name);
	if (order)
		return order;
	if (x->field != y->field)
		return x->field < y->field ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* Rows, with the names of their classes. */
static enum hg_status keep_referring(struct referring *r, struct hg_referrers *out)
{
	size_t length = 1;
	char *text;
	struct hg_referring *rows;
	for (uint64_t i = 0; i < r->count; i++)
		length += strlen(r->classes.all[r->rows[i].class].name) + 1;
	BASE_TRY(query_alloc(r->snapshot, length, 1, (void **)&text));
	query_keep(out, text);
	BASE_TRY(query_alloc(r->snapshot, r->count, sizeof(*rows), (void **)&rows));
	for (uint64_t i = 0; i < r->count; i++) {
		const struct query_path_class *class = &r->classes.all[r->rows[i].class];
		rows[i] = r->rows[i].row;
		rows[i].name = text;
		rows[i].type = class->type;
		text = stpcpy(text, class->name) + 1;
	}
	if (r->count)
		qsort(rows, r->count, sizeof(*rows), compare_referring);
	out->count = r->count;
	return query_keep_rows(r->snapshot, out, rows, r->count, sizeof(*rows), &out->rows);
}

static enum hg_status select_targets(
	struct referring *r, const hg_node *nodes, size_t count, struct hg_referrers *out)
{
	const struct hg_snapshot *snapshot = r->snapshot;
	BASE_TRY(query_alloc(r->snapshot, base_bit_words(snapshot->graph.node_count),
		sizeof(*r->selected), (void **)&r->selected));
	for (size_t i = 0; i < count; i++) {
		if (!graph_reaches(query_position(snapshot, nodes[i]))) {
			out->unreachable++;
			continue;
		}
		out->reached++;
		base_bit_set(r->selected, nodes[i]);
	}
	return query_path_classes_init(&r->classes, r->snapshot);
}

static enum hg_status find_referring(
	struct referring *r, const hg_node *nodes, size_t count, struct hg_referrers *out)
{
	if (!nodes && count)
		return base_fail(&r->snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no nodes are given");
	BASE_TRY(select_targets(r, nodes, count, out));
	BASE_TRY(graph_pointers(
		&r->snapshot->graph, r->selected, meet_pointer, r, &r->snapshot->session->error));
	count_targets(r);
	return keep_referring(r, out);
}

enum hg_status hg_list_referrers(
	struct hg_snapshot *snapshot, const hg_node *nodes, size_t count, struct hg_referrers **out)
{
	struct referring r = {.snapshot = snapshot, .holder = HG_NO_NODE};
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	enum hg_status status = find_referring(&r, nodes, count, *out);
	query_path_classes_release(&r.classes);
	base_map_release(&r.by_field);
	free(r.selected);
	free(r.rows);
	free(r.pairs);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_referrers_release(struct hg_referrers **referrers)
{
	query_free(referrers);
}
