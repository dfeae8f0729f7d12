/*
 * Growth over a series of snapshots.  What is kept of each is its rows' numbers where they changed,
 * so that snapshots are open one at a time.
 */
#include "query/retention/growing.h"
#include "query/retention/passing.h"
#include "query/retention/sharing.h"
#include "query/retention/made_at.h"
#include "query/shared/result.h"
#include "query/retention/tree.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static enum hg_status refuse_pair(struct hg_series *series, const struct query_kin *now,
	const struct query_kin *other, const char *what)
{
	struct hg_error *error = series->all.error;
	enum hg_status status = base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
		"cannot be compared with %s: %s", other->source, what);
	base_error_file(error, now->source);
	return status;
}

/* Each is compared with the first one, and by file with all. */
static enum hg_status check_kin(struct hg_series *series, const struct query_kin *now)
{
	const struct query_kin *first = series->kin;
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
	struct hg_series *series, const struct query_addition *addition, struct query_kin *kin)
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
	struct query_kin kin = {.program = addition->program,
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
	const struct hg_measure here = measure_of_node(&tree->nodes[node]);
	/* What retains nothing is not in this snapshot, as baselines have it. */
	if (!wants_lines(series, row) || here.retained_bytes + here.retained_offheap_bytes == 0)
		return HG_OK;
	query_made_at(snapshot, tree, node, made_at, sizeof(made_at));
	query_defined_at(snapshot, tree, node, defined_at, sizeof(defined_at));
	/* What held it, and was so large that it was asked, is told of a later snapshot, too. */
	if (!*defined_at)
		return query_series_describe(&series->all, row, made_at, row->defined_at);
	return query_series_describe(&series->all, row, made_at, defined_at);
}

static enum hg_status add_paths(struct hg_series *series, struct hg_snapshot *snapshot,
	const struct query_retention *tree, const uint64_t *passing, uint32_t *row_of)
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
		row->passes =
			row->shown.depth > 1 ? all->rows[parent].passes : base_bit(passing, i);
		BASE_TRY(query_series_add(all, row_of[i], &measure));
	}
	BASE_TRY(query_series_end_moment(all));
	for (uint32_t i = 0; i < tree->sharing_count; i++)
		BASE_TRY(query_series_share(
			all, row_of[tree->sharings[i].shared], row_of[tree->sharings[i].holder]));
	for (uint32_t i = 1; i < tree->count; i++) {
		BASE_TRY(describe_row(series, snapshot, tree, i, &all->rows[row_of[i]]));
		if (tree->held && tree->held[i].by)
			BASE_TRY(query_series_hold(all, row_of[i], tree->held[i].by));
	}
	return HG_OK;
}

static enum hg_status add_tree(struct hg_series *series, struct hg_snapshot *snapshot)
{
	struct query_retention tree;
	uint32_t *row_of = NULL;
	uint64_t *passing = NULL;
	BASE_TRY(graph_nodes(&snapshot->graph, &snapshot->session->error));
	BASE_TRY(query_retention_open(&tree, snapshot, NULL, true));
	enum hg_status status =
		query_alloc(snapshot, tree.count, sizeof(*row_of), (void **)&row_of);
	if (status == HG_OK)
		status = query_find_passing(snapshot, &tree, &passing);
	if (status == HG_OK)
		status = query_find_sharing(snapshot, &tree);
	if (status == HG_OK)
		status = add_paths(series, snapshot, &tree, passing, row_of);
	free(passing);
	free(row_of);
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

enum hg_status hg_series_finish(struct hg_series *series)
{
	if (!series || series->is_finished)
		return HG_ERROR_USAGE;
	base_error_clear(&series->session->error);
	series->all.error = &series->session->error;
	enum hg_status status = query_series_judge(series);
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
	query_series_read(series, series->order[row], points);
	return true;
}

bool hg_series_total(const struct hg_series *series, size_t moment, struct hg_measure *out)
{
	if (!out || moment >= hg_series_moments(series))
		return false;
	*out = series->totals[moment];
	return true;
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

bool hg_series_sharing_at(
	const struct hg_series *series, size_t sharing, struct hg_series_sharing *out)
{
	if (!out || !series || !series->is_finished || sharing >= series->all.sharing_count)
		return false;
	*out = series->all.sharings[sharing];
	return true;
}
