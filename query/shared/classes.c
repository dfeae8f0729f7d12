/*
 * Classes in two passes: the blocks in order of addresses for what they are and come to, then the
 * dominator tree in order of positions for what they retain.
 */
#include "query/shared/classes.h"

#include "base/assert.h"

#include "query/shared/aliases.h"
#include "query/shared/functions.h"
#include "query/shared/types.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TAGS = 256, LONGEST_NAME = 1 << 16 }; /* of call stacks */

/*
 * For each number of a class by this key, from 'first' on, the first one that has the same name and
 * stands for all.
 */
static enum hg_status find_class_aliases(
	struct hg_snapshot *snapshot, enum hg_key key, uint32_t first, uint32_t end, uint32_t **out)
{
	struct query_aliases aliases = {0};
	enum hg_status status = query_alloc(snapshot, end, sizeof(**out), (void **)out);
	for (uint32_t i = first; i < end && status == HG_OK; i++) {
		char name[LONGEST_NAME];
		hg_class_name(snapshot, key, i, name, sizeof(name));
		status = query_aliases_add(snapshot, &aliases, name, i);
	}
	if (status == HG_OK)
		query_aliases_resolve(&aliases, *out);
	query_aliases_release(&aliases);
	return status;
}

struct classifier {
	struct query_classes *classes;
	struct hg_snapshot *snapshot;
	enum hg_key key;
	const bool *wanted;  /* by type, or NULL */
	uint32_t *modules;   /* by location, when that is the key */
	uint32_t *types;     /* which stands for a type of the same name, when the key needs it */
	uint32_t *stacks;    /* by number of a sample, when the key is its call stack */
	uint32_t *functions; /* by number of a function, when that is the key */
	/* By number of a sample: the class of its block.  Blocks come in the order of samples. */
	uint32_t *of_sample;
	uint64_t next_sample;
	uint64_t next_offheap; /* in snap.offheap, the same */
};

/* A class by type and location; new ones get a row.  A location that is unknown says nothing. */
static enum hg_status pair_class(struct classifier *c, const struct snap_cell *cell, uint32_t type,
	enum hg_confidence *confidence, uint32_t *class)
{
	struct hg_snapshot *snapshot = c->snapshot;
	struct query_classes *classes = c->classes;
	struct hg_error *error = &snapshot->session->error;
	enum hg_confidence of_location;
	uint32_t location = query_location(&snapshot->snap, cell, &of_location);
	if (location && of_location < *confidence)
		*confidence = of_location;
	BASE_TRY(query_pairs_number(&snapshot->classes, type, location, class, error));
	while (classes->count < snapshot->classes.count) {
		BASE_TRY(query_grow(snapshot, &classes->rows, classes->count, &classes->capacity,
			sizeof(*classes->rows)));
		classes->rows[classes->count] = (struct hg_class){.id = classes->count};
		classes->count++;
	}
	return HG_OK;
}

/* The number of a block's sample, from 1 on; 0 if it has none. */
static uint32_t sample_of_cell(struct classifier *c, const struct snap_cell *cell)
{
	const struct snap *snap = &c->snapshot->snap;
	while (c->next_sample < snap->sampled_count &&
		snap->sampled[c->next_sample].address.a < cell->address.a)
		c->next_sample++;
	bool found = c->next_sample < snap->sampled_count &&
		     snap->sampled[c->next_sample].address.a == cell->address.a;
	return found ? (uint32_t)c->next_sample + 1 : 0;
}

static inline enum hg_status classify(struct classifier *c, uint32_t rank,
	const struct snap_cell *cell, struct retype_term type, enum hg_confidence *confidence,
	uint32_t *class)
{
	switch (c->key) {
	case HG_BY_TAG:
		*confidence = HG_EXACT;
		*class = cell->tag;
		return HG_OK;
	case HG_BY_TYPE:
		*class = c->types[type.n];
		return HG_OK;
	case HG_BY_TYPE_LOCATION:
		return pair_class(c, cell, c->types[type.n], confidence, class);
	case HG_BY_CALL_STACK:
		*class = c->stacks[sample_of_cell(c, cell)];
		*confidence = *class ? HG_EXACT : HG_UNKNOWN_ORIGIN;
		return HG_OK;
	case HG_BY_FUNCTION:
		*class = QUERY_NO_CLASS;
		if (cell->tag != SNAP_TAG_CLOSURE)
			return HG_OK;
		BASE_TRY(query_function_number(c->snapshot, rank, class));
		*confidence =
			c->snapshot->functions.all[*class].name[0] ? HG_EXACT : HG_UNKNOWN_ORIGIN;
		*class = c->functions[*class];
		return HG_OK;
	default:
		*class = query_location(&c->snapshot->snap, cell, confidence);
		if (c->key == HG_BY_MODULE)
			*class = c->modules[*class];
		return HG_OK;
	}
}

/* A class is as sure as its least sure block. */
static inline void add_to_class(struct hg_class *row, uint64_t bytes, enum hg_confidence confidence)
{
	if (row->blocks == 0 || confidence < row->confidence)
		row->confidence = confidence;
	row->blocks++;
	row->bytes += bytes;
}

static inline enum hg_status classify_block(
	struct classifier *c, uint32_t rank, const struct snap_cell *cell)
{
	struct hg_snapshot *snapshot = c->snapshot;
	enum hg_confidence confidence;
	uint32_t class;
	struct retype_term type = query_type(snapshot, rank, cell->tag, &confidence);
	if (c->wanted && !c->wanted[type.n])
		return HG_OK;
	BASE_TRY(classify(c, rank, cell, type, &confidence, &class));
	if (class == QUERY_NO_CLASS)
		return HG_OK;
	base_assert(rank < snapshot->snap.block_count && class < c->classes->count);
	struct graph_position position = snapshot->graph.position[rank];
	add_to_class(&c->classes->rows[class], snap_block_bytes(cell->wosize), confidence);
	uint32_t sample = c->of_sample ? sample_of_cell(c, cell) : 0;
	if (sample)
		c->of_sample[sample - 1] = class;
	if (graph_reaches(position))
		c->classes->of_position[position.n] = class;
	while (c->next_offheap < snapshot->snap.offheap_count &&
		snapshot->snap.offheap[c->next_offheap].rank < rank)
		c->next_offheap++;
	if (c->next_offheap < snapshot->snap.offheap_count &&
		snapshot->snap.offheap[c->next_offheap].rank == rank)
		c->classes->rows[class].offheap_bytes +=
			snapshot->snap.offheap[c->next_offheap].bytes;
	return HG_OK;
}

static uint64_t blocks_of_classes(const struct query_classes *classes)
{
	uint64_t blocks = 0;
	for (uint32_t i = 0; i < classes->count; i++)
		blocks += classes->rows[i].blocks;
	return blocks;
}

static enum hg_status classify_blocks(struct classifier *c)
{
	struct hg_snapshot *snapshot = c->snapshot;
	const uint64_t count = snapshot->snap.block_count;
	struct snap_walk walk;
	struct snap_run run;
	uint32_t rank = 0;
	enum hg_status status = HG_OK;
	BASE_TRY(snap_walk_init(&walk, &snapshot->snap, &snapshot->session->error));
	snap_walk_range(&walk, 0, snapshot->snap.entry_count);
	while (status == HG_OK && snap_walk_next(&walk, &run)) {
		struct snap_scan scan = snap_scan_run(&snapshot->snap, &run);
		struct snap_cell cell;
		while (status == HG_OK && rank < count && snap_scan_next(&scan, &cell))
			status = classify_block(c, rank++, &cell);
	}
	snap_walk_release(&walk);
	base_assert(c->wanted || c->key == HG_BY_FUNCTION || status != HG_OK ||
		    blocks_of_classes(c->classes) == rank);
	return status;
}

/* What was sampled of a class, in bytes. */
struct estimate {
	double bytes, variance;
	bool is_known, is_unknown;
};

/*
 * Each word was sampled or not, with the same chance and by itself: n of them stand for n / rate
 * words, and the variance of n is that of a binomial distribution.
 */
static void add_sample(struct estimate *estimate, const struct snap_sampled *sample)
{
	double words = sample->words, rate = sample->rate;
	if (sample->words == 0)
		return; /* for data outside the heap */
	if (rate > 0) {
		estimate->bytes += 8 * words / rate;
		estimate->variance += 64 * words * (1 - rate) / (rate * rate);
		estimate->is_known = true;
	} else {
		estimate->is_unknown = true;
	}
}

static uint64_t rounded(double bytes)
{
	return bytes < 0x1p63 ? (uint64_t)(bytes + 0.5) : HG_UNKNOWN;
}

static enum hg_status begin_samples(struct classifier *c)
{
	uint64_t count = c->snapshot->snap.sampled_count;
	BASE_TRY(query_alloc(c->snapshot, count, sizeof(*c->of_sample), (void **)&c->of_sample));
	memset(c->of_sample, 0xff, count * sizeof(*c->of_sample));
	return HG_OK;
}

static enum hg_status sum_samples(struct classifier *c)
{
	const struct snap *snap = &c->snapshot->snap;
	struct query_classes *classes = c->classes;
	struct estimate *estimates;
	for (uint32_t i = 0; i < classes->count; i++)
		classes->rows[i].estimated_bytes = classes->rows[i].estimated_error = HG_UNKNOWN;
	if (!c->of_sample)
		return HG_OK;
	BASE_TRY(query_alloc(c->snapshot, classes->count, sizeof(*estimates), (void **)&estimates));
	for (uint64_t i = 0; i < snap->sampled_count; i++)
		if (c->of_sample[i] != QUERY_NO_CLASS)
			add_sample(&estimates[c->of_sample[i]], &snap->sampled[i]);
	for (uint32_t i = 0; i < classes->count; i++) {
		base_assert(!estimates[i].is_known || classes->rows[i].blocks > 0);
		if (!estimates[i].is_known || estimates[i].is_unknown)
			continue;
		classes->rows[i].estimated_bytes = rounded(estimates[i].bytes);
		classes->rows[i].estimated_error = rounded(sqrt(estimates[i].variance));
	}
	free(estimates);
	return HG_OK;
}

/*
 * Sums what the blocks of each class retain that lie in no other block's subtree of their class.
 * In order of positions a subtree is an interval, and the intervals of one class come in order.
 */
static enum hg_status sum_class_retained(
	struct query_classes *classes, struct hg_snapshot *snapshot)
{
	const struct graph *g = &snapshot->graph;
	uint32_t *end;
	BASE_TRY(query_alloc(snapshot, classes->count, sizeof(*end), (void **)&end));
	for (uint32_t p = 0; p < g->live_count; p++) {
		uint32_t class = classes->of_position[p];
		if (class == QUERY_NO_CLASS || p < end[class])
			continue;
		classes->rows[class].retained_bytes +=
			graph_retained(g, (struct graph_position){p});
		classes->rows[class].retained_offheap_bytes +=
			graph_retained_offheap(g, (struct graph_position){p});
		end[class] = p + g->extent[p];
		base_assert(end[class] <= g->live_count);
		base_assert(classes->rows[class].retained_bytes <= g->bytes[g->live_count]);
	}
	free(end);
	return HG_OK;
}

static uint32_t class_count(const struct hg_snapshot *snapshot, enum hg_key key)
{
	switch (key) {
	case HG_BY_TAG:
		return TAGS;
	case HG_BY_TYPE:
		return retype_term_count(&snapshot->retype.types) + 1;
	case HG_BY_TYPE_LOCATION:
		return snapshot->classes.count;
	case HG_BY_CALL_STACK:
		return (uint32_t)snapshot->snap.sampled_count + 1;
	case HG_BY_FUNCTION:
		return snapshot->functions.codes.count;
	default:
		return snapshot->snap.locations.count;
	}
}

static enum hg_status fill_classes(struct query_classes *classes, struct hg_snapshot *snapshot,
	enum hg_key key, const bool *wanted)
{
	struct graph *g = &snapshot->graph;
	struct classifier c = {
		.classes = classes, .snapshot = snapshot, .key = key, .wanted = wanted};
	BASE_TRY(base_arena_alloc(&classes->arena, g->live_count, sizeof(*classes->of_position),
		(void **)&classes->of_position, &snapshot->session->error));
	if (key == HG_BY_FUNCTION)
		BASE_TRY(query_functions_open(snapshot));
	classes->count = class_count(snapshot, key);
	classes->capacity = classes->count;
	BASE_TRY(query_alloc(
		snapshot, classes->count, sizeof(*classes->rows), (void **)&classes->rows));
	for (uint32_t i = 0; i < classes->count; i++)
		classes->rows[i].id = i;
	/* Roots take no part. */
	memset(classes->of_position, 0xff, g->live_count * sizeof(*classes->of_position));
	enum hg_status status = HG_OK;
	if (key == HG_BY_MODULE)
		status = find_class_aliases(snapshot, key, 0, classes->count, &c.modules);
	else if (key == HG_BY_TYPE || key == HG_BY_TYPE_LOCATION)
		status = query_types_by_name(snapshot, &c.types);
	else if (key == HG_BY_CALL_STACK)
		status = find_class_aliases(snapshot, key, 1, classes->count, &c.stacks);
	else if (key == HG_BY_FUNCTION)
		status = find_class_aliases(snapshot, key, 0, classes->count, &c.functions);
	if (status == HG_OK && snapshot->snap.sampled_count)
		status = begin_samples(&c);
	if (status == HG_OK)
		status = classify_blocks(&c);
	if (status == HG_OK)
		status = sum_samples(&c);
	free(c.modules);
	free(c.types);
	free(c.stacks);
	free(c.functions);
	free(c.of_sample);
	return status == HG_OK ? sum_class_retained(classes, snapshot) : status;
}

enum hg_status query_classes_open(struct query_classes *classes, struct hg_snapshot *snapshot,
	enum hg_key key, const bool *wanted)
{
	*classes = (struct query_classes){0};
	BASE_TRY(query_begin(snapshot));
	BASE_TRY(base_arena_init(
		&classes->arena, &snapshot->session->budget, "classes", &snapshot->session->error));
	enum hg_status status = fill_classes(classes, snapshot, key, wanted);
	if (status != HG_OK)
		query_classes_close(classes);
	return status;
}

void query_classes_close(struct query_classes *classes)
{
	free(classes->rows);
	base_arena_release(&classes->arena);
	*classes = (struct query_classes){0};
}
