/*
 * Growth over a series of snapshots.  What is kept of each is its rows' numbers where they changed,
 * so that snapshots are open one at a time.
 *
 * What leaks is where the number of blocks grows in every step: of all such paths those whose
 * parent does not grow so, as what hangs on growing blocks grows with them.  (Shark's heap growth,
 * square/leakcanary: docs/heap-growth.md, keeps what grows at each step of a repeated scenario.)
 */
#include "query/retention/held_by.h"
#include "query/retention/made_at.h"
#include "query/shared/result.h"
#include "query/retention/tree.h"
#include "query/retention/series.h"

#include "base/assert.h"
#include "base/file.h"
#include "base/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LEAST_MOMENTS = 3, LEAST_SHARE = 100 };

/* What must be the same of all snapshots, and what tells a file. */
struct kin {
	const char *program, *source;
	unsigned word_size, reserved_bits;
	bool all_roots_alike;
	dev_t device;
	ino_t inode;
};

struct hg_series {
	struct query_series all;
	struct hg_series_options options;
	struct hg_series_moment *moments; /* in their order, once finished */
	struct kin *kin;                  /* of each addition */
	uint64_t moment_capacity, kin_capacity;
	struct hg_session *session; /* of errors but those of additions */
	uint32_t *order;            /* rows that are shown, once finished */
	uint32_t shown_count;
	struct hg_measure *scratch; /* of one row in order of moments */
	struct hg_measure *totals;  /* of each moment */
	bool is_finished, is_sorted;
};

enum hg_status hg_series_open(
	struct hg_session *session, const struct hg_series_options *options, struct hg_series **out)
{
	if (out)
		*out = NULL;
	if (!session)
		return HG_ERROR_USAGE;
	base_error_clear(&session->error);
	if (!out)
		return base_fail(&session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no place for the result is given");
	struct hg_series *series = calloc(1, sizeof(*series));
	if (!series)
		return base_no_memory(&session->error, sizeof(*series));
	series->session = session;
	if (options)
		memcpy(&series->options, options,
			options->size < sizeof(series->options) ? options->size
								: sizeof(series->options));
	if (series->options.by_key && (unsigned)series->options.key >= HG_KEYS) {
		enum hg_status status = base_fail(&session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"there is no key %u", (unsigned)series->options.key);
		free(series);
		return status;
	}
	*out = series;
	return HG_OK;
}

void hg_series_close(struct hg_series *series)
{
	if (!series)
		return;
	query_series_release(&series->all);
	free(series->moments);
	free(series->kin);
	free(series->order);
	free(series->scratch);
	free(series->totals);
	free(series);
}

static enum hg_status refuse_pair(
	struct hg_series *series, const struct kin *now, const struct kin *other, const char *what)
{
	struct hg_error *error = series->all.error;
	enum hg_status status = base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
		"cannot be compared with %s: %s", other->source, what);
	base_error_file(error, now->source);
	return status;
}

/* Each is compared with the first one, and by file with all. */
static enum hg_status check_kin(struct hg_series *series, const struct kin *now)
{
	const struct kin *first = series->kin;
	char what[512];
	if (series->all.moment_count == 0)
		return HG_OK;
	if (now->word_size != first->word_size)
		return refuse_pair(series, now, first, "their words have other sizes");
	if (now->reserved_bits != first->reserved_bits)
		return refuse_pair(series, now, first, "their headers have another layout");
	if (!series->options.any_program && *now->program && *first->program &&
		strcmp(now->program, first->program) != 0) {
		snprintf(what, sizeof(what), "one is of the program '%s', the other of '%s'",
			now->program, first->program);
		return refuse_pair(series, now, first, what);
	}
	if (now->all_roots_alike != first->all_roots_alike)
		return refuse_pair(series, now, first,
			first->all_roots_alike
				? "that was analysed with --roots all, this was not"
				: "this was analysed with --roots all, that was not");
	for (uint32_t i = 0; i < series->all.moment_count; i++)
		if (now->inode && now->inode == series->kin[i].inode &&
			now->device == series->kin[i].device && series->options.distinct)
			return refuse_pair(series, now, &series->kin[i], "it is the same file");
	return HG_OK;
}

/* A copy whose strings are the series', without what belongs to the snapshot. */
static enum hg_status keep_info(
	struct query_series *all, const struct hg_info *info, const struct hg_info **out)
{
	struct hg_info *copy;
	BASE_TRY(base_pool_alloc(&all->pool, 1, sizeof(*copy), (void **)&copy, all->error));
	*copy = *info;
	const char **strings[] = {&copy->path, &copy->title, &copy->partial, &copy->program,
		&copy->ocaml_version, &copy->trigger, &copy->capture_consistency, &copy->method,
		&copy->profile, &copy->profile_note, &copy->type_profile, &copy->type_note};
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++)
		BASE_TRY(query_series_keep(all, *strings[i] ? *strings[i] : "", strings[i]));
	copy->note_count = 0;
	copy->notes = NULL;
	copy->root_kinds = 0;
	copy->roots = NULL;
	*out = copy;
	return HG_OK;
}

static enum hg_status keep_moment(
	struct hg_series *series, const struct query_addition *addition, struct kin *kin)
{
	struct query_series *all = &series->all;
	struct hg_error *error = all->error;
	const struct hg_info *info;
	BASE_TRY(keep_info(all, addition->info, &info));
	struct hg_series_moment moment = {.path = info->path,
		.program = info->program,
		.partial = info->partial,
		.pid = info->pid,
		.index = info->index,
		.time_ns = info->time_ns,
		.blocks = addition->blocks,
		.bytes = addition->bytes,
		.reachable_blocks = addition->reachable_blocks,
		.reachable_bytes = addition->reachable_bytes,
		.offheap_bytes = addition->offheap_bytes,
		.added = all->moment_count,
		.info = info};
	BASE_TRY(query_series_keep(all, kin->program, &kin->program));
	BASE_TRY(query_series_keep(all, kin->source, &kin->source));
	BASE_TRY(base_grow(&series->moments, all->moment_count, &series->moment_capacity,
		sizeof(*series->moments), error));
	BASE_TRY(base_grow(&series->kin, all->moment_count, &series->kin_capacity,
		sizeof(*series->kin), error));
	series->moments[all->moment_count] = moment;
	series->kin[all->moment_count] = *kin;
	all->moment_count++;
	return HG_OK;
}

enum hg_status query_series_begin_moment(
	struct hg_series *series, const struct query_addition *addition)
{
	struct kin kin = {.program = addition->program,
		.source = addition->source,
		.word_size = addition->info->word_size,
		.reserved_bits = addition->info->reserved_bits,
		.all_roots_alike = addition->info->all_roots_alike,
		.device = addition->device,
		.inode = addition->inode};
	BASE_TRY(check_kin(series, &kin));
	return keep_moment(series, addition, &kin);
}

static struct hg_measure measure_of_node(const struct query_retention_node *node)
{
	return (struct hg_measure){.blocks = node->blocks,
		.bytes = node->bytes,
		.retained_bytes = node->retained,
		.offheap_bytes = node->offheap,
		.retained_offheap_bytes = node->retained_offheap};
}

/* Lines of what did not change are nobody's question, and take time. */
static bool wants_lines(const struct hg_series *series, const struct query_series_row *row)
{
	return series->options.describe || query_series_has_changed(row);
}

static enum hg_status describe_row(struct hg_series *series, struct hg_snapshot *snapshot,
	const struct query_retention *tree, uint32_t node, struct query_series_row *row)
{
	char made_at[QUERY_LONGEST_MADE_AT], defined_at[QUERY_LONGEST_MADE_AT];
	if (!wants_lines(series, row))
		return HG_OK;
	query_made_at(snapshot, tree, node, made_at, sizeof(made_at));
	query_defined_at(snapshot, tree, node, defined_at, sizeof(defined_at));
	return query_series_describe(&series->all, row, made_at, defined_at);
}

static enum hg_status add_paths(struct hg_series *series, struct hg_snapshot *snapshot,
	const struct query_retention *tree, uint32_t *row_of)
{
	struct query_series *all = &series->all;
	for (uint32_t i = 0; i < tree->count; i++) {
		uint32_t parent = i ? row_of[tree->nodes[i].parent] : QUERY_NO_ROW;
		struct hg_measure measure = measure_of_node(&tree->nodes[i]);
		BASE_TRY(query_series_find(
			all, parent, "", query_retention_name(tree, i), &row_of[i]));
		struct query_series_row *row = &all->rows[row_of[i]];
		row->shown.depth = tree->nodes[i].depth;
		row->shown.is_memprof = query_retention_is_memprof(tree, i);
		const struct query_path_class *class = &tree->classes.all[tree->nodes[i].class];
		row->is_root = i && class->is_root;
		row->passes = row->shown.depth > 1 ? all->rows[parent].passes
						   : i && query_path_class_passes(snapshot, class);
		BASE_TRY(query_series_add(all, row_of[i], &measure));
	}
	BASE_TRY(query_series_end_moment(all));
	for (uint32_t i = 1; i < tree->count; i++)
		BASE_TRY(describe_row(series, snapshot, tree, i, &all->rows[row_of[i]]));
	return HG_OK;
}

struct held_rows {
	struct hg_series *series;
	const uint32_t *row_of;
};

static enum hg_status keep_held_by(void *data, uint32_t node, const char *holders)
{
	const struct held_rows *held = data;
	return query_series_hold(&held->series->all, held->row_of[node], holders);
}

static enum hg_status add_tree(struct hg_series *series, struct hg_snapshot *snapshot)
{
	struct query_retention tree;
	uint32_t *row_of;
	BASE_TRY(graph_nodes(&snapshot->graph, &snapshot->session->error));
	BASE_TRY(query_retention_open(&tree, snapshot, NULL, true));
	enum hg_status status =
		query_alloc(snapshot, tree.count, sizeof(*row_of), (void **)&row_of);
	if (status == HG_OK) {
		status = add_paths(series, snapshot, &tree, row_of);
		struct held_rows held = {series, row_of};
		if (status == HG_OK)
			status = query_held_by(snapshot, &tree, keep_held_by, &held);
		free(row_of);
	}
	query_retention_close(&tree);
	return status;
}

/* The names that a class has in every snapshot: of roots without the index of a slot. */
static void name_class(struct hg_snapshot *snapshot, enum hg_key key, uint32_t id, char *kind,
	char *name, size_t size)
{
	uint32_t type, location;
	kind[0] = '\0';
	if (key == HG_BY_ROOT) {
		snprintf(kind, size, "%s", hg_root_kind_name(hg_kind_of_root(snapshot, id)));
		query_root_class_name(snapshot, id, true, name, size);
	} else if (key == HG_BY_TYPE_LOCATION) {
		hg_class_parts(snapshot, id, &type, &location);
		hg_type_name(snapshot, type, kind, size);
		hg_location_name(snapshot, location, name, size);
	} else {
		hg_class_name(snapshot, key, id, name, size);
	}
}

/* As describe_row() of paths. */
static enum hg_status describe_class(struct hg_series *series, struct hg_snapshot *snapshot,
	uint32_t id, struct query_series_row *row)
{
	enum { MOST_PLACES = 3 };
	char text[QUERY_LONGEST_MADE_AT] = "";
	if (!wants_lines(series, row))
		return HG_OK;
	if (series->options.key == HG_BY_TYPE)
		hg_made_at(snapshot, id, HG_MADE_ANYWHERE, MOST_PLACES, text, sizeof(text));
	else if (series->options.key == HG_BY_FUNCTION)
		hg_function_place(
			snapshot, hg_function_closure(snapshot, id), text, sizeof(text), NULL);
	else if (series->options.key == HG_BY_ROOT)
		hg_defined_at(snapshot, id, text, sizeof(text));
	return query_series_describe(&series->all, row, text, "");
}

enum { LONGEST_CLASS = 1 << 16 }; /* of call stacks */

static bool is_root_inside(struct hg_snapshot *snapshot, hg_node root)
{
	struct hg_block block = *hg_describe_block(snapshot, root);
	return block.idom != HG_NO_NODE && block.idom != hg_virtual_root(snapshot);
}

/* 'names' has room for two of them. */
static enum hg_status add_class(struct hg_series *series, struct hg_snapshot *snapshot,
	const struct hg_class *class, char *names, uint32_t *row)
{
	char *name = names + LONGEST_CLASS;
	struct hg_measure measure = {.blocks = class->blocks,
		.bytes = class->bytes,
		.retained_bytes = class->retained_bytes,
		.offheap_bytes = class->offheap_bytes,
		.retained_offheap_bytes = class->retained_offheap_bytes};
	name_class(snapshot, series->options.key, class->id, names, name, LONGEST_CLASS);
	BASE_TRY(query_series_find(&series->all, QUERY_NO_ROW, names, name, row));
	if (series->options.key == HG_BY_ROOT)
		series->all.rows[*row].shown.is_inside |= is_root_inside(snapshot, class->id);
	return query_series_add(&series->all, *row, &measure);
}

static enum hg_status add_top(struct hg_series *series, struct hg_snapshot *snapshot,
	const struct hg_top *top, uint32_t *row_of)
{
	char *names;
	enum hg_status status = query_alloc(snapshot, 2, LONGEST_CLASS, (void **)&names);
	BASE_TRY(status);
	for (size_t i = 0; i < top->count && status == HG_OK; i++)
		status = add_class(series, snapshot, top->rows[i], names, &row_of[i]);
	free(names);
	BASE_TRY(status);
	BASE_TRY(query_series_end_moment(&series->all));
	for (size_t i = 0; i < top->count; i++)
		BASE_TRY(describe_class(
			series, snapshot, top->rows[i]->id, &series->all.rows[row_of[i]]));
	return HG_OK;
}

static enum hg_status add_classes(struct hg_series *series, struct hg_snapshot *snapshot)
{
	struct hg_top *top;
	uint32_t *row_of;
	BASE_TRY(hg_list_top(snapshot, series->options.key, NULL, &top));
	enum hg_status status =
		query_alloc(snapshot, top->count + 1, sizeof(*row_of), (void **)&row_of);
	if (status == HG_OK) {
		status = add_top(series, snapshot, top, row_of);
		free(row_of);
	}
	hg_top_release(&top);
	return status;
}

static enum hg_status add_snapshot(struct hg_series *series, struct hg_snapshot *snapshot)
{
	const struct hg_totals *totals;
	struct stat about = {0};
	BASE_TRY(hg_count_totals(snapshot, &totals));
	struct query_addition addition = {.info = &snapshot->info,
		.program = base_file_name(snapshot->info.program),
		.source = snapshot->info.path,
		.blocks = totals->blocks,
		.bytes = totals->bytes,
		.reachable_blocks = totals->reachable_blocks,
		.reachable_bytes = totals->reachable_bytes,
		.offheap_bytes = totals->offheap_bytes == HG_UNKNOWN ? 0 : totals->offheap_bytes};
	if (stat(snapshot->info.path, &about) == 0) {
		addition.device = about.st_dev;
		addition.inode = about.st_ino;
	}
	BASE_TRY(query_series_begin_moment(series, &addition));
	return series->options.by_key ? add_classes(series, snapshot) : add_tree(series, snapshot);
}

enum hg_status hg_series_add(struct hg_series *series, struct hg_snapshot *snapshot)
{
	BASE_TRY(query_begin(snapshot));
	if (!series || series->is_finished)
		return base_fail(&snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			series ? "the series is finished" : "no series is given");
	series->all.error = &snapshot->session->error;
	enum hg_status status = add_snapshot(series, snapshot);
	series->all.error = NULL;
	return status;
}

/* Time first, if all have one; then the number of the dump, if all are of one process. */
static int compare_moments(const void *a, const void *b)
{
	const struct hg_series_moment *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->pid == y->pid && x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return (x->added > y->added) - (x->added < y->added);
}

static void sort_moments(struct hg_series *series)
{
	uint32_t count = series->all.moment_count;
	bool all_timed = true, one_process = true;
	for (uint32_t i = 0; i < count; i++) {
		all_timed &= series->moments[i].time_ns != HG_UNKNOWN;
		one_process &= series->moments[i].pid == series->moments[0].pid;
	}
	if (series->options.keep_order || count == 0 || (!all_timed && !one_process))
		return;
	/* Of some the time is known, of others not: only numbers go together. */
	for (uint32_t i = 0; i < count && !all_timed; i++)
		if (series->moments[i].time_ns != HG_UNKNOWN)
			return;
	qsort(series->moments, count, sizeof(*series->moments), compare_moments);
	for (uint32_t i = 0; i < count; i++)
		series->is_sorted |= series->moments[i].added != i;
}

static void weigh_measure(const struct hg_series *series, struct hg_measure *measure)
{
	measure->weight = base_weigh(
		series->session->weight, measure->retained_bytes, measure->retained_offheap_bytes);
}

/* The numbers of a row in the order of the moments, in the scratch array. */
static void read_points(const struct hg_series *series, uint32_t row, struct hg_measure *points)
{
	uint32_t count = series->all.moment_count;
	query_series_expand(&series->all, row, series->scratch);
	for (uint32_t i = 0; i < count; i++)
		points[i] = series->scratch[series->moments[i].added];
	for (uint32_t i = 0; i < count; i++)
		weigh_measure(series, &points[i]);
}

static void measure_row(struct hg_series *series, uint32_t number, struct hg_measure *points)
{
	struct hg_series_row *row = &series->all.rows[number].shown;
	uint32_t count = series->all.moment_count;
	read_points(series, number, points);
	row->number = number;
	row->first = points[0];
	row->last = points[count - 1];
	row->steps_up = 0;
	/* The blocks that a root points to are as many as its slots. */
	bool by_root = series->options.by_key && series->options.key == HG_BY_ROOT;
	for (uint32_t i = 1; i < count; i++) {
		row->steps_up += by_root ? points[i].weight > points[i - 1].weight
					 : points[i].blocks > points[i - 1].blocks;
		row->changed |= memcmp(&points[i], &points[i - 1], sizeof(*points)) != 0;
	}
}

/* Ten-thousandths of 'whole', rounded to zero; both may be negative. */
static int64_t signed_share(int64_t part, int64_t whole)
{
	__extension__ __int128 scaled = part;
	scaled *= 10000;
	return whole ? (int64_t)(scaled / whole) : 0;
}

static int64_t growth_of(const struct hg_measure *first, const struct hg_measure *last)
{
	return (int64_t)(last->weight - first->weight);
}

/*
 * Of paths own bytes add up to what the roots retain; classes overlap, and only the totals of the
 * snapshots tell.
 */
static void sum_row(struct hg_series *series, uint32_t number, const struct hg_measure *points)
{
	const struct hg_series_row *row = &series->all.rows[number].shown;
	for (uint32_t i = 0; i < series->all.moment_count && !row->is_memprof; i++) {
		struct hg_measure *total = &series->totals[i];
		total->blocks += points[i].blocks;
		total->bytes += points[i].bytes;
		total->offheap_bytes += points[i].offheap_bytes;
	}
}

static void complete_totals(struct hg_series *series)
{
	for (uint32_t i = 0; i < series->all.moment_count; i++) {
		const struct hg_series_moment *moment = &series->moments[i];
		struct hg_measure *total = &series->totals[i];
		if (series->options.by_key)
			*total = (struct hg_measure){.blocks = moment->reachable_blocks,
				.bytes = moment->reachable_bytes,
				.offheap_bytes = moment->offheap_bytes};
		total->retained_bytes = total->bytes;
		total->retained_offheap_bytes = total->offheap_bytes;
		weigh_measure(series, total);
	}
}

/* The nearest row above whose own blocks can grow: roots within a path have none. */
static const struct hg_series_row *counted_parent(const struct hg_series *series, uint32_t number)
{
	const struct query_series_row *rows = series->all.rows;
	uint32_t parent = rows[number].parent;
	while (parent != QUERY_NO_ROW && rows[parent].is_root && rows[parent].shown.depth > 1)
		parent = rows[parent].parent;
	return parent == QUERY_NO_ROW ? NULL : &rows[parent].shown;
}

static bool row_grows(const struct hg_series *series, uint32_t number, int64_t growth)
{
	const struct hg_series_row *row = &series->all.rows[number].shown;
	const struct hg_series_row *parent = counted_parent(series, number);
	uint32_t steps = series->all.moment_count - 1;
	int64_t own = growth_of(&row->first, &row->last);
	return series->all.moment_count >= LEAST_MOMENTS && row->steps_up == steps &&
	       (!parent || parent->steps_up < steps) && !row->is_memprof &&
	       own >= HG_LEAST_GROWTH && growth > 0 && row->growth_share >= LEAST_SHARE;
}

/* The largest growth of a path that grows. */
static int64_t share_growth(struct hg_series *series, int64_t growth, bool lasting_only)
{
	int64_t most = 0;
	for (uint32_t i = 0; i < series->all.row_count; i++) {
		struct hg_series_row *row = &series->all.rows[i].shown;
		int64_t own = growth_of(&row->first, &row->last);
		row->growth_share = row->is_memprof ? 0 : signed_share(own, growth);
		row->grows = row_grows(series, i, growth) &&
			     !(lasting_only && series->all.rows[i].passes);
		if (row->grows && own > most)
			most = own;
	}
	return most;
}

/* How many growing rows hang below each row, that one not counted; from malloc. */
static enum hg_status count_growing(const struct hg_series *series, uint32_t **out)
{
	const struct query_series_row *rows = series->all.rows;
	*out = calloc((uint64_t)series->all.row_count + 1, sizeof(**out));
	if (!*out)
		return base_no_memory(series->all.error, series->all.row_count * sizeof(**out));
	for (uint32_t i = series->all.row_count; i-- > 0;)
		if (rows[i].parent != QUERY_NO_ROW)
			(*out)[rows[i].parent] += (*out)[i] + rows[i].shown.grows;
	return HG_OK;
}

/* What a row's own blocks grew by, in bytes. */
static int64_t own_growth(const struct hg_series_row *row)
{
	return (int64_t)(row->last.bytes + row->last.offheap_bytes - row->first.bytes -
			 row->first.offheap_bytes);
}

/*
 * An array that is made larger for its elements is no more blocks, but grows with them: what holds
 * nothing else that grows has its own growth counted with that.
 */
static enum hg_status share_of_holders(struct hg_series *series, int64_t growth)
{
	struct query_series_row *rows = series->all.rows;
	uint32_t *growing;
	BASE_TRY(count_growing(series, &growing));
	for (uint32_t i = 0; i < series->all.row_count; i++) {
		int64_t holders = 0;
		if (!rows[i].shown.grows)
			continue;
		for (uint32_t at = rows[i].parent; at != QUERY_NO_ROW && growing[at] == 1;
			at = rows[at].parent)
			if (rows[at].shown.depth > 0)
				holders += own_growth(&rows[at].shown);
		int64_t own = growth_of(&rows[i].shown.first, &rows[i].shown.last);
		rows[i].shown.growth_share = signed_share(own + holders, growth);
	}
	free(growing);
	return HG_OK;
}

/*
 * What is held by frames alone is of the moment, as the copy of a list that a function makes just
 * then, and grows as what it is made of grows: that is left out where a lasting path has most of
 * the growth.  Where none has, it leaks from a frame.
 */
static enum hg_status find_growth(struct hg_series *series)
{
	uint32_t last = series->all.moment_count;
	int64_t growth = last ? growth_of(&series->totals[0], &series->totals[last - 1]) : 0;
	int64_t passing = 0;
	for (uint32_t i = 0; i < series->all.row_count; i++) {
		const struct query_series_row *row = &series->all.rows[i];
		if (row->passes && row->shown.depth == 1)
			passing += growth_of(&row->shown.first, &row->shown.last);
	}
	int64_t lasting = growth - passing;
	int64_t most = share_growth(series, lasting, true);
	if (most > 0 && most > growth / 2)
		return share_of_holders(series, lasting);
	share_growth(series, growth, false);
	return share_of_holders(series, growth);
}

/* The names from the root on, written from the last one back. */
static enum hg_status name_path(struct hg_series *series, uint32_t number)
{
	struct query_series *all = &series->all;
	const struct query_series_row *rows = all->rows;
	size_t joint = strlen(QUERY_PATH_JOINT), length = 0;
	char *path;
	for (uint32_t i = number; rows[i].parent != QUERY_NO_ROW; i = rows[i].parent)
		length += query_path_name(rows[i].own_name, NULL, 0) + joint;
	length -= joint;
	BASE_TRY(base_pool_alloc(&all->pool, length + 1, 1, (void **)&path, all->error));
	for (uint32_t i = number; rows[i].parent != QUERY_NO_ROW; i = rows[i].parent) {
		size_t part = query_path_name(rows[i].own_name, NULL, 0);
		char after = path[length];
		length -= part;
		query_path_name(rows[i].own_name, path + length, part + 1);
		path[length + part] = after;
		if (length) {
			length -= joint;
			memcpy(path + length, QUERY_PATH_JOINT, joint);
		}
	}
	base_assert(length == 0);
	all->rows[number].shown.name = path;
	return HG_OK;
}

static int compare_shown_rows(const void *a, const void *b, void *data)
{
	const struct query_series_row *rows = data;
	const struct hg_series_row *x = &rows[*(const uint32_t *)a].shown;
	const struct hg_series_row *y = &rows[*(const uint32_t *)b].shown;
	int64_t left = growth_of(&x->first, &x->last), right = growth_of(&y->first, &y->last);
	uint64_t by_left = left < 0 ? -(uint64_t)left : (uint64_t)left;
	uint64_t by_right = right < 0 ? -(uint64_t)right : (uint64_t)right;
	if (x->grows != y->grows)
		return x->grows ? -1 : 1;
	if (by_left != by_right)
		return by_left > by_right ? -1 : 1;
	int order = strcmp(x->kind, y->kind);
	return order ? order : strcmp(x->name, y->name);
}

/* Rows of which something changed, or all of them; but not the one of all roots. */
static enum hg_status order_series(struct hg_series *series)
{
	struct query_series *all = &series->all;
	bool by_path = !series->options.by_key;
	series->order = calloc(all->row_count + 1, sizeof(*series->order));
	if (!series->order)
		return base_no_memory(all->error, all->row_count * sizeof(*series->order));
	for (uint32_t i = 0; i < all->row_count; i++) {
		bool is_top = by_path && all->rows[i].parent == QUERY_NO_ROW;
		if ((!all->rows[i].shown.changed && !series->options.unchanged) || is_top)
			continue;
		if (by_path)
			BASE_TRY(name_path(series, i));
		series->order[series->shown_count++] = i;
	}
	if (series->shown_count)
		qsort_r(series->order, series->shown_count, sizeof(*series->order),
			compare_shown_rows, all->rows);
	return HG_OK;
}

static enum hg_status finish_series(struct hg_series *series)
{
	uint32_t count = series->all.moment_count;
	struct hg_measure *points = calloc(count + 1, sizeof(*points));
	series->scratch = calloc(count + 1, sizeof(*series->scratch));
	series->totals = calloc(count + 1, sizeof(*series->totals));
	if (!points || !series->scratch || !series->totals) {
		free(points);
		return base_no_memory(series->all.error, count * sizeof(*points));
	}
	sort_moments(series);
	for (uint32_t i = 0; i < series->all.row_count && count; i++) {
		if (series->all.rows[i].shown.depth > 1)
			series->all.rows[i].shown.held_by =
				series->all.rows[series->all.rows[i].parent].shown.held_by;
		measure_row(series, i, points);
		sum_row(series, i, points);
	}
	free(points);
	complete_totals(series);
	BASE_TRY(find_growth(series));
	return order_series(series);
}

enum hg_status hg_series_finish(struct hg_series *series)
{
	if (!series || series->is_finished)
		return HG_ERROR_USAGE;
	base_error_clear(&series->session->error);
	series->all.error = &series->session->error;
	enum hg_status status = finish_series(series);
	series->is_finished = status == HG_OK;
	return status;
}

size_t hg_series_moments(const struct hg_series *series)
{
	return series && series->is_finished ? series->all.moment_count : 0;
}

const struct hg_series_moment *hg_series_moment_at(const struct hg_series *series, size_t moment)
{
	return moment < hg_series_moments(series) ? &series->moments[moment] : NULL;
}

bool hg_series_is_sorted(const struct hg_series *series)
{
	return series && series->is_sorted;
}

size_t hg_series_count(const struct hg_series *series)
{
	return series && series->is_finished ? series->shown_count : 0;
}

const struct hg_series_row *hg_series_at(const struct hg_series *series, size_t row)
{
	return row < hg_series_count(series) ? &series->all.rows[series->order[row]].shown : NULL;
}

bool hg_series_points(const struct hg_series *series, size_t row, struct hg_measure *points)
{
	if (!points || row >= hg_series_count(series))
		return false;
	read_points(series, series->order[row], points);
	return true;
}

bool hg_series_total(const struct hg_series *series, size_t moment, struct hg_measure *out)
{
	if (!out || moment >= hg_series_moments(series))
		return false;
	*out = series->totals[moment];
	return true;
}

struct hg_error *query_series_error(const struct hg_series *series)
{
	return &series->session->error;
}

struct query_series *query_series_rows(struct hg_series *series)
{
	return &series->all;
}

const struct hg_series_options *query_series_options(const struct hg_series *series)
{
	return &series->options;
}

struct hg_session *query_series_session(const struct hg_series *series)
{
	return series->is_finished ? NULL : series->session;
}

size_t hg_series_links(const struct hg_series *series)
{
	return series && series->is_finished ? series->all.row_count : 0;
}

bool hg_series_link_at(const struct hg_series *series, uint32_t number, struct hg_series_link *out)
{
	if (!out || number >= hg_series_links(series))
		return false;
	const struct query_series_row *row = &series->all.rows[number];
	*out = (struct hg_series_link){.parent = row->parent,
		.name = row->own_name,
		.is_root = row->is_root,
		.passes = row->passes,
		.made_at = row->made_at,
		.defined_at = row->defined_at,
		.row = &row->shown};
	return true;
}
