/*
 * Of what is asked about a snapshot the part that is about the retention tree, sets, waste,
 * pointers and growth; included by answers.h, which has struct context.
 */
#ifndef TESTS_FUZZ_ANSWERS_RETENTION_H
#define TESTS_FUZZ_ANSWERS_RETENTION_H

enum { ROWS_NAMED = 40, SETS = 3, SET_NODES = 5 };

typedef size_t row_text(const struct hg_retention *, size_t, char *, size_t);

/* As long as it says, whatever the room is. */
static void check_row_text(const struct hg_retention *tree, size_t row, row_text *text)
{
	char cut[7], name[MOST_NAMES];
	size_t length = text(tree, row, NULL, 0);
	CHECK(text(tree, row, name, sizeof(name)) == length);
	CHECK(strlen(name) == (length < sizeof(name) ? length : sizeof(name) - 1));
	CHECK(text(tree, row, cut, sizeof(cut)) == length);
	CHECK(strncmp(name, cut, strlen(cut)) == 0);
}

static void check_path_row(const struct hg_retention *tree, size_t number)
{
	const struct hg_retention_row *row = hg_retention_at(tree, number);
	CHECK(row && row->retained_bytes >= row->bytes);
	if (number == 0)
		return;
	const struct hg_retention_row *parent = hg_retention_at(tree, row->parent);
	CHECK(row->parent < number && row->depth == parent->depth + 1);
	CHECK(row->retained_bytes <= parent->retained_bytes);
	CHECK(row->is_root ? row->blocks == 0 : row->blocks > 0);
	if (number >= ROWS_NAMED)
		return;
	check_row_text(tree, number, hg_retention_path);
	check_row_text(tree, number, hg_retention_made_at);
	check_row_text(tree, number, hg_retention_defined_at);
	check_row_text(tree, number, hg_retention_field);
	check_row_text(tree, number, hg_retention_pattern);
}

static void check_cross_edges(struct context *c, struct hg_retention *tree)
{
	struct hg_cross_edges *edges;
	if (!answered(c->session, hg_list_cross_edges(tree, &edges)))
		return;
	for (size_t i = 0; i < edges->count; i++) {
		const struct hg_cross_edge *edge = edges->rows[i];
		CHECK(edge->from < hg_retention_count(tree) && edge->to < hg_retention_count(tree));
		CHECK(edge->from != edge->to && edge->pointers > 0);
	}
	hg_cross_edges_release(&edges);
}

static void check_holders(struct context *c, struct hg_retention *tree)
{
	struct hg_holders *holders;
	if (!answered(c->session, hg_list_holders(tree, &holders)))
		return;
	for (size_t i = 0; i < holders->count; i++) {
		const struct hg_holder *h = holders->rows[i];
		CHECK(h->accumulation >= h->row && h->accumulation < hg_retention_count(tree));
		CHECK(hg_retention_at(tree, h->row)->depth == 1);
		CHECK(h->retained_bytes + h->retained_offheap_bytes >= holders->threshold);
		CHECK(h->part_count <= HG_HOLDER_PARTS);
	}
	hg_holders_release(&holders);
}

/* What all rows have themselves is what is reachable. */
static void check_retention(struct context *c)
{
	struct hg_retention *tree;
	uint64_t blocks = 0, bytes = 0;
	if (!answered(c->session, hg_retention_open(c->snapshot, NULL, &tree)))
		return;
	CHECK(hg_retention_count(tree) > 0);
	for (size_t i = 0; i < hg_retention_count(tree); i++) {
		check_path_row(tree, i);
		blocks += hg_retention_at(tree, i)->blocks;
		bytes += hg_retention_at(tree, i)->bytes;
	}
	CHECK(blocks == c->totals->reachable_blocks && bytes == c->totals->reachable_bytes);
	CHECK(hg_retention_at(tree, 0)->retained_bytes == bytes);
	check_cross_edges(c, tree);
	check_holders(c, tree);
	hg_retention_close(tree);
}

static void check_sets(struct context *c)
{
	hg_node nodes[SETS * SET_NODES];
	struct hg_set sets[SETS];
	struct hg_sets *answer;
	uint64_t held = 0, shared = 0;
	if (c->root == 0)
		return;
	for (uint64_t i = 0; i < SETS * SET_NODES; i++)
		nodes[i] = (hg_node)(i * 7919 % c->root);
	for (unsigned i = 0; i < SETS; i++)
		sets[i] = (struct hg_set){nodes + (size_t)i * SET_NODES, SET_NODES};
	if (!answered(c->session, hg_compare_sets(c->snapshot, sets, SETS, &answer)))
		return;
	CHECK(answer->sets_count == SETS);
	CHECK(answer->everything.bytes == c->totals->reachable_bytes);
	for (unsigned i = 0; i < SETS; i++) {
		const struct hg_set_row *set = answer->sets[i];
		CHECK(set->reachable <= set->nodes && set->nodes <= SET_NODES);
		CHECK(set->retained.bytes <= answer->all.retained.bytes);
		CHECK(set->own.bytes <= set->retained.bytes || set->reachable < set->nodes);
	}
	for (size_t i = 0; i < answer->dominators_count; i++)
		held += answer->dominators[i]->held.bytes;
	for (size_t i = 0; i < answer->sharers_count; i++)
		shared += answer->sharers[i]->held.bytes;
	CHECK(held == answer->all.own.bytes && shared == answer->all.shared.bytes);
	CHECK(answer->all.retained.bytes + answer->all.shared.bytes <= answer->everything.bytes);
	hg_sets_release(&answer);
}

static void check_waste(struct context *c)
{
	struct hg_waste *waste;
	uint64_t saved[HG_WASTE_SECTIONS] = {0};
	if (!answered(c->session, hg_list_waste(c->snapshot, &waste)))
		return;
	CHECK(waste->sums_count == HG_WASTE_SECTIONS);
	for (size_t i = 0; i < waste->count; i++) {
		const struct hg_waste_row *row = waste->rows[i];
		CHECK(row->section < HG_WASTE_SECTIONS && waste->sums[row->section]->answered);
		CHECK(i == 0 || waste->rows[i - 1]->section <= row->section);
		CHECK(row->example < c->totals->blocks);
		saved[row->section] += row->saved_bytes;
	}
	for (unsigned i = 0; i < HG_WASTE_SECTIONS; i++) {
		CHECK(waste->sums[i]->saved_bytes == saved[i] && saved[i] <= c->totals->bytes);
		CHECK(*hg_waste_section_name(i));
	}
	hg_waste_release(&waste);
}

static void check_edges(struct context *c)
{
	struct hg_edges *edges;
	const struct hg_edge *edge;
	uint64_t before = 0;
	if (!answered(c->session, hg_edges_open(c->snapshot, &edges)))
		return;
	while ((edge = hg_edges_next(edges))) {
		CHECK(edge->from < c->root && edge->to < c->root && edge->from >= before);
		before = edge->from;
	}
	hg_edges_close(edges);
}

/* Of a snapshot and itself nothing grows, whatever the rows are. */
static void check_series(struct context *c, bool by_key, enum hg_key key)
{
	struct hg_series *series;
	struct hg_check *check;
	struct hg_measure first, last;
	const struct hg_series_options options = {
		.size = sizeof(options), .by_key = by_key, .key = key, .keep_order = true};
	const struct hg_path_limit limit = {"*", 0};
	const struct hg_check_options limits = {.size = sizeof(limits),
		.growth_bytes = 0,
		.growth_parts = HG_UNKNOWN,
		.total_bytes = HG_UNKNOWN,
		.paths = &limit,
		.path_count = 1};
	if (!answered(c->session, hg_series_open(c->session, &options, &series)))
		return;
	if (answered(c->session, hg_series_add(series, c->snapshot)) &&
		answered(c->session, hg_series_add(series, c->snapshot)) &&
		answered(c->session, hg_series_finish(series))) {
		CHECK(hg_series_moments(series) == 2 && hg_series_count(series) == 0);
		CHECK(hg_series_total(series, 0, &first) && hg_series_total(series, 1, &last));
		CHECK(memcmp(&first, &last, sizeof(first)) == 0);
		if (answered(c->session, hg_check_series(series, &limits, &check))) {
			CHECK(check->failures == 0);
			hg_check_release(&check);
		}
	}
	hg_series_close(series);
}

static void check_growth(struct context *c)
{
	check_series(c, false, 0);
	for (enum hg_key key = 0; key < HG_KEYS; key++)
		check_series(c, true, key);
}

#endif
