/* Tables by key, and their growth between two snapshots. */
#include "query/shared/classes.h"
#include "query/shared/result.h"
#include "query/shared/types.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* A row with its name, for sorting. */
struct named {
	struct hg_class row;
	uint64_t retained; /* by the weight of the session */
	char *name;
};

struct table {
	size_t count;
	struct named *rows;
};

static void release_table(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->rows[i].name);
	free(table->rows);
	*table = (struct table){0};
}

/* What orders classes: the name, or one name and then the other. */
static void class_key(const struct hg_snapshot *snapshot, enum hg_key key, uint32_t id,
	char name[2 * QUERY_LONGEST_NAME], size_t size)
{
	uint32_t type, location;
	if (key != HG_BY_TYPE_LOCATION) {
		hg_class_name(snapshot, key, id, name, size);
		return;
	}
	hg_class_parts(snapshot, id, &type, &location);
	hg_type_name(snapshot, type, name, QUERY_LONGEST_NAME);
	size_t length = strlen(name);
	name[length++] = '\1';
	hg_location_name(snapshot, location, name + length, size - length);
}

static enum hg_status add_class_row(struct hg_snapshot *snapshot, struct table *table,
	enum hg_key key, const struct hg_class *row)
{
	char name[2 * QUERY_LONGEST_NAME];
	class_key(snapshot, key, row->id, name, sizeof(name));
	struct named *named = &table->rows[table->count];
	*named = (struct named){*row,
		base_weigh(snapshot->session->weight, row->retained_bytes,
			row->retained_offheap_bytes),
		strdup(name)};
	if (!named->name)
		return base_no_memory(&snapshot->session->error, strlen(name));
	table->count++;
	return HG_OK;
}

static enum hg_status list_class_rows(
	struct hg_snapshot *snapshot, enum hg_key key, const bool *wanted, struct table *table)
{
	struct query_classes classes;
	BASE_TRY(query_classes_open(&classes, snapshot, key, wanted));
	enum hg_status status =
		query_alloc(snapshot, classes.count, sizeof(*table->rows), (void **)&table->rows);
	for (uint32_t i = 0; i < classes.count && status == HG_OK; i++)
		if (classes.rows[i].blocks)
			status = add_class_row(snapshot, table, key, &classes.rows[i]);
	query_classes_close(&classes);
	return status;
}

/* Of a root: its direct targets, and what the root's node retains. */
static enum hg_status list_root_rows(
	struct hg_snapshot *snapshot, const bool *wanted, struct table *table)
{
	const struct snap *snap = &snapshot->snap;
	BASE_TRY(query_begin(snapshot));
	BASE_TRY(query_alloc(
		snapshot, snap->root_count, sizeof(*table->rows), (void **)&table->rows));
	for (uint64_t i = 0; i < snap->root_count; i++) {
		struct hg_root_slot slot = query_root_slot(snapshot, i);
		struct hg_class row = {.id = slot.node,
			.confidence = HG_EXACT,
			.blocks = slot.targets,
			.bytes = slot.bytes,
			.retained_bytes = slot.retained_bytes,
			.offheap_bytes = slot.offheap_bytes,
			.retained_offheap_bytes = slot.retained_offheap_bytes,
			.estimated_bytes = HG_UNKNOWN,
			.estimated_error = HG_UNKNOWN};
		if (wanted && !query_root_points_to(snapshot, &slot, wanted))
			continue;
		BASE_TRY(add_class_row(snapshot, table, HG_BY_ROOT, &row));
	}
	return HG_OK;
}

static enum hg_status open_table(
	struct hg_snapshot *snapshot, enum hg_key key, const bool *wanted, struct table *table)
{
	*table = (struct table){0};
	BASE_TRY(query_begin(snapshot));
	BASE_TRY(query_check_key(snapshot, key));
	enum hg_status status = key == HG_BY_ROOT ? list_root_rows(snapshot, wanted, table)
						  : list_class_rows(snapshot, key, wanted, table);
	if (status != HG_OK)
		release_table(table);
	return status;
}

static int compare_row_names(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : (x->row.id > y->row.id) - (x->row.id < y->row.id);
}

static int compare_retained(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	if (x->retained != y->retained)
		return x->retained > y->retained ? -1 : 1;
	return compare_row_names(a, b);
}

static void sort_table(struct table *table, int (*order)(const void *, const void *))
{
	base_assert(table->rows || table->count == 0);
	if (table->count)
		qsort(table->rows, table->count, sizeof(*table->rows), order);
}

static enum hg_status fill_top(
	struct hg_snapshot *snapshot, enum hg_key key, const bool *wanted, struct hg_top *out)
{
	struct table table;
	BASE_TRY(open_table(snapshot, key, wanted, &table));
	sort_table(&table, compare_retained);
	struct hg_class *rows;
	enum hg_status status = query_alloc(snapshot, table.count, sizeof(*rows), (void **)&rows);
	for (size_t i = 0; i < table.count && status == HG_OK; i++) {
		base_assert(i == 0 || compare_retained(&table.rows[i - 1], &table.rows[i]) < 0);
		rows[out->count++] = table.rows[i].row;
		out->blocks += table.rows[i].row.blocks;
		out->bytes += table.rows[i].row.bytes;
		out->offheap_bytes += table.rows[i].row.offheap_bytes;
	}
	if (status == HG_OK)
		status =
			query_keep_rows(snapshot, out, rows, out->count, sizeof(*rows), &out->rows);
	release_table(&table);
	return status;
}

enum hg_status hg_list_top(
	struct hg_snapshot *snapshot, enum hg_key key, const char *type, struct hg_top **out)
{
	bool *wanted;
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	(*out)->key = key;
	enum hg_status status = query_types_of_pattern(snapshot, type, &wanted);
	if (status == HG_OK) {
		status = fill_top(snapshot, key, wanted, *out);
		free(wanted);
	}
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_top_release(struct hg_top **top)
{
	query_free(top);
}

/* Rows of equal names next to each other; names of either table order the result. */
struct grown {
	struct hg_growth growth;
	const char *name;
};

static uint64_t growth_size(const struct hg_growth *g)
{
	return g->bytes_new > g->bytes_old ? g->bytes_new - g->bytes_old
					   : g->bytes_old - g->bytes_new;
}

static int compare_growth(const void *a, const void *b)
{
	const struct grown *x = a, *y = b;
	if (growth_size(&x->growth) != growth_size(&y->growth))
		return growth_size(&x->growth) > growth_size(&y->growth) ? -1 : 1;
	int order = strcmp(x->name, y->name);
	if (order)
		return order;
	if (x->growth.old_id != y->growth.old_id)
		return x->growth.old_id < y->growth.old_id ? -1 : 1;
	return (x->growth.new_id > y->growth.new_id) - (x->growth.new_id < y->growth.new_id);
}

static struct hg_growth pair_rows(const struct named *old_row, const struct named *new_row)
{
	static const struct hg_class nothing = {.id = UINT32_MAX};
	const struct hg_class *o = old_row ? &old_row->row : &nothing;
	const struct hg_class *n = new_row ? &new_row->row : &nothing;
	return (struct hg_growth){o->id, n->id, o->blocks, n->blocks, o->bytes, n->bytes,
		o->retained_bytes, n->retained_bytes};
}

static bool is_unchanged(const struct hg_growth *g)
{
	return g->blocks_old == g->blocks_new && g->bytes_old == g->bytes_new &&
	       g->retained_old == g->retained_new;
}

/* Merges two tables sorted by name. */
static size_t merge_tables(
	const struct table *old_table, const struct table *new_table, struct grown *out)
{
	size_t i = 0, j = 0, count = 0;
	while (i < old_table->count || j < new_table->count) {
		const struct named *o = i < old_table->count ? &old_table->rows[i] : NULL;
		const struct named *n = j < new_table->count ? &new_table->rows[j] : NULL;
		int order = o && n ? strcmp(o->name, n->name) : 0;
		if (order > 0)
			o = NULL;
		else if (order < 0)
			n = NULL;
		struct hg_growth growth = pair_rows(o, n);
		/* No name comes twice. */
		base_assert(!o || i == 0 || strcmp(old_table->rows[i - 1].name, o->name) < 0);
		base_assert(!n || j == 0 || strcmp(new_table->rows[j - 1].name, n->name) < 0);
		i += o != NULL;
		j += n != NULL;
		if (!is_unchanged(&growth))
			out[count++] = (struct grown){growth, o ? o->name : n->name};
	}
	return count;
}

/* Roots of one name, as the frames of a recursion, are one row: which is which cannot be told. */
static void merge_equal_names(struct table *table)
{
	size_t kept = 0;
	for (size_t i = 0; i < table->count; i++) {
		struct named *row = &table->rows[i], *last = kept ? &table->rows[kept - 1] : NULL;
		if (!last || strcmp(last->name, row->name) != 0) {
			table->rows[kept++] = *row;
			continue;
		}
		last->row.blocks += row->row.blocks;
		last->row.bytes += row->row.bytes;
		last->row.retained_bytes += row->row.retained_bytes;
		free(row->name);
	}
	table->count = kept;
}

static enum hg_status diff_tables(struct hg_snapshot *snapshot, struct table *old_table,
	struct table *new_table, struct hg_diff *out)
{
	struct grown *grown;
	size_t most = old_table->count + new_table->count;
	sort_table(old_table, compare_row_names);
	sort_table(new_table, compare_row_names);
	merge_equal_names(old_table);
	merge_equal_names(new_table);
	BASE_TRY(query_alloc(snapshot, most, sizeof(*grown), (void **)&grown));
	size_t count = merge_tables(old_table, new_table, grown);
	base_assert(count <= most);
	qsort(grown, count, sizeof(*grown), compare_growth);
	struct hg_growth *rows;
	enum hg_status status = query_alloc(snapshot, count, sizeof(*rows), (void **)&rows);
	for (size_t i = 0; i < count && status == HG_OK; i++)
		rows[out->count++] = grown[i].growth;
	free(grown);
	BASE_TRY(status);
	return query_keep_rows(snapshot, out, rows, out->count, sizeof(*rows), &out->rows);
}

/* A failure with the old snapshot is told by the session of the new one. */
static enum hg_status open_old(struct hg_snapshot *old_snapshot, struct hg_snapshot *new_snapshot,
	enum hg_key key, struct table *table)
{
	if (!old_snapshot)
		return base_fail(&new_snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no old snapshot is given");
	enum hg_status status = open_table(old_snapshot, key, NULL, table);
	if (status != HG_OK)
		new_snapshot->session->error = old_snapshot->session->error;
	return status;
}

static enum hg_status compare_tables(struct hg_snapshot *old_snapshot,
	struct hg_snapshot *new_snapshot, enum hg_key key, struct hg_diff *out)
{
	struct table old_table, new_table;
	out->key = key;
	BASE_TRY(open_old(old_snapshot, new_snapshot, key, &old_table));
	enum hg_status status = open_table(new_snapshot, key, NULL, &new_table);
	if (status == HG_OK) {
		status = diff_tables(new_snapshot, &old_table, &new_table, out);
		release_table(&new_table);
	}
	release_table(&old_table);
	return status;
}

enum hg_status hg_compare_snapshots(struct hg_snapshot *old_snapshot,
	struct hg_snapshot *new_snapshot, enum hg_key key, struct hg_diff **out)
{
	BASE_TRY(query_answer(new_snapshot, sizeof(**out), out));
	enum hg_status status = compare_tables(old_snapshot, new_snapshot, key, *out);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_diff_release(struct hg_diff **diff)
{
	query_free(diff);
}
