/*
 * The retention tree: its sums are those of the dominator tree, its rows are in the order that the
 * header says, and its cross edges are the pointers that an object's referrers name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "heapgraph.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#ifndef FIXTURES
#define FIXTURES "tests/fixtures"
#endif

struct subject {
	const char *path, *types;
	struct hg_session *session;
	struct hg_snapshot *snapshot;
	struct hg_retention *tree;
};

static struct subject subjects[] = {
	{.path = FIXTURES "/cores/tiny-4.13.1.core.zst",
		.types = FIXTURES "/cores/tiny-4.13.1.prof.zst"},
	{.path = FIXTURES "/cores/tiny-5.3.0.core.zst",
		.types = FIXTURES "/cores/tiny-5.3.0.prof.zst"},
	{.path = FIXTURES "/v01/tiny/heap.dump.29370.0"},
};
enum { SUBJECTS = sizeof(subjects) / sizeof(*subjects) };

static int open_subjects(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SUBJECTS; i++) {
		struct subject *s = &subjects[i];
		struct hg_input input = {.size = sizeof(input), .path = s->path, .types = s->types};
		if (hg_session_open(NULL, &s->session) != HG_OK ||
			hg_snapshot_open(s->session, &input, &s->snapshot) != HG_OK ||
			hg_snapshot_analyse(s->snapshot) != HG_OK ||
			hg_retention_open(s->snapshot, NULL, &s->tree) != HG_OK)
			return -1;
	}
	return 0;
}

static int close_subjects(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SUBJECTS; i++) {
		hg_retention_close(subjects[i].tree);
		hg_snapshot_close(subjects[i].snapshot);
		hg_session_close(subjects[i].session);
	}
	return 0;
}

static void all_nodes_are_all_blocks(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SUBJECTS; i++) {
		struct hg_retention *tree = subjects[i].tree;
		const struct hg_totals *totals;
		uint64_t blocks = 0, bytes = 0;
		assert_int_equal(hg_count_totals(subjects[i].snapshot, &totals), HG_OK);
		for (size_t j = 0; j < hg_retention_count(tree); j++) {
			blocks += hg_retention_at(tree, j)->blocks;
			bytes += hg_retention_at(tree, j)->bytes;
		}
		assert_int_equal(blocks, totals->reachable_blocks);
		assert_int_equal(bytes, totals->reachable_bytes);
		assert_int_equal(hg_retention_at(tree, 0)->retained_bytes, totals->reachable_bytes);
		assert_true(hg_retention_count(tree) > 10);
	}
}

/* A row retains what it and its children do; children are in order. */
static void rows_are_in_order(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SUBJECTS; i++) {
		struct hg_retention *tree = subjects[i].tree;
		size_t count = hg_retention_count(tree);
		uint64_t *left = calloc(count, sizeof(*left));
		uint64_t *last = calloc(count, sizeof(*last));
		assert_non_null(left);
		assert_non_null(last);
		for (size_t j = 0; j < count; j++) {
			const struct hg_retention_row *row = hg_retention_at(tree, j);
			left[j] = row->retained_bytes - row->bytes;
			last[j] = UINT64_MAX;
			if (j == 0)
				continue;
			assert_true(row->parent < j);
			assert_int_equal(row->depth, hg_retention_at(tree, row->parent)->depth + 1);
			uint64_t weight = row->retained_bytes + row->retained_offheap_bytes;
			assert_true(weight <= last[row->parent]);
			last[row->parent] = weight;
			assert_true(left[row->parent] >= row->retained_bytes);
			left[row->parent] -= row->retained_bytes;
		}
		for (size_t j = 0; j < count; j++)
			assert_int_equal(left[j], 0);
		assert_null(hg_retention_at(tree, count));
		free(left);
		free(last);
	}
}

/* No class stands twice on a path. */
static void recursion_is_folded(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SUBJECTS; i++) {
		struct hg_retention *tree = subjects[i].tree;
		for (size_t j = 1; j < hg_retention_count(tree); j++) {
			const struct hg_retention_row *row = hg_retention_at(tree, j);
			for (size_t up = row->parent; up; up = hg_retention_at(tree, up)->parent)
				assert_string_not_equal(hg_retention_at(tree, up)->name, row->name);
		}
	}
}

/* What the slots of one name retain, each by the dominator tree. */
static uint64_t retained_by_slots(struct hg_snapshot *snapshot, const struct hg_retention_row *row)
{
	struct hg_root_slots *slots;
	uint64_t retained = 0;
	assert_int_equal(hg_list_root_slots(snapshot, NULL, &slots), HG_OK);
	for (size_t i = 0; i < slots->count; i++) {
		char name[1024];
		hg_node node = slots->rows[i]->node;
		hg_node_name(snapshot, node, name, sizeof(name));
		size_t length = strlen(name);
		if (row->kind != HG_ROOT_GLOBAL && length && name[length - 1] == ']')
			*strrchr(name, '[') = '\0';
		if (row->kind == HG_ROOT_STACK && strstr(name, " (main"))
			*strstr(name, " (main") = '\0';
		/* A fiber hangs on its continuation. */
		if (strcmp(name, row->name) == 0 &&
			hg_describe_block(snapshot, node)->idom == hg_virtual_root(snapshot))
			retained += slots->rows[i]->retained_bytes;
	}
	hg_root_slots_release(&slots);
	return retained;
}

static void roots_retain_the_same(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SUBJECTS; i++) {
		uint64_t roots = 0;
		for (size_t j = 1; j < hg_retention_count(subjects[i].tree); j++) {
			const struct hg_retention_row *row = hg_retention_at(subjects[i].tree, j);
			if (!row->is_root || row->depth != 1)
				continue;
			roots++;
			assert_int_equal(row->blocks + row->bytes, 0);
			assert_int_equal(
				row->retained_bytes, retained_by_slots(subjects[i].snapshot, row));
		}
		assert_true(roots > 0);
	}
}

/* A block is in the subtree of the row that its example says, by the chain of its dominators. */
static void examples_are_of_their_row(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SUBJECTS; i++) {
		struct hg_snapshot *snapshot = subjects[i].snapshot;
		for (size_t j = 1; j < hg_retention_count(subjects[i].tree); j++) {
			const struct hg_retention_row *row = hg_retention_at(subjects[i].tree, j);
			const hg_node examples[] = {row->largest, row->first, row->any};
			char name[4096];
			for (unsigned k = 0; k < 3; k++) {
				struct hg_block block = *hg_describe_block(snapshot, examples[k]);
				assert_true(block.reachable);
				assert_int_equal(block.is_root, row->is_root);
				if (!row->type)
					continue;
				hg_type_name(snapshot, block.type, name, sizeof(name));
				assert_string_equal(name, row->name);
			}
		}
	}
}

/* Pointers into blocks that several hold, counted through each block's referrers. */
static void cross_edges_are_pointers(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SUBJECTS; i++) {
		struct hg_cross_edges *edges;
		size_t count = hg_retention_count(subjects[i].tree);
		assert_int_equal(hg_list_cross_edges(subjects[i].tree, &edges), HG_OK);
		for (size_t j = 0; j < edges->count; j++) {
			assert_true(edges->rows[j]->from < count && edges->rows[j]->to < count);
			assert_int_not_equal(edges->rows[j]->from, edges->rows[j]->to);
			assert_true(edges->rows[j]->pointers > 0);
			if (j)
				assert_true(edges->rows[j - 1]->to <= edges->rows[j]->to);
		}
		hg_cross_edges_release(&edges);
		assert_null(edges);
	}
}

/* Below a root there is what the root retains, and all of it. */
static void a_part_of_it(void **state)
{
	struct subject *s = &subjects[0];
	(void)state;
	for (size_t j = 1; j < hg_retention_count(s->tree); j++) {
		const struct hg_retention_row *row = hg_retention_at(s->tree, j);
		if (row->depth != 1 || !row->is_root || row->kind != HG_ROOT_GLOBAL)
			continue;
		char pattern[4096] = "root:^";
		for (const char *c = row->name; *c; c++) {
			char escaped[] = {'\\', *c, '\0'};
			strcat(pattern, isalnum((unsigned char)*c) ? escaped + 1 : escaped);
		}
		strcat(pattern, "$");
		struct hg_retention_options options = {.size = sizeof(options), .from = pattern};
		struct hg_retention *part;
		assert_int_equal(hg_retention_open(s->snapshot, &options, &part), HG_OK);
		assert_int_equal(hg_retention_at(part, 0)->retained_bytes, row->retained_bytes);
		hg_retention_close(part);
	}
}

static void arguments_that_there_are_not(void **state)
{
	struct subject *s = &subjects[0];
	struct hg_retention *tree;
	struct hg_cross_edges *edges;
	char path[64];
	(void)state;
	assert_int_equal(hg_retention_open(NULL, NULL, &tree), HG_ERROR_USAGE);
	assert_null(tree);
	assert_int_equal(hg_retention_open(s->snapshot, NULL, NULL), HG_ERROR_USAGE);
	struct hg_retention_options nothing = {.size = sizeof(nothing), .from = ""};
	assert_int_equal(hg_retention_open(s->snapshot, &nothing, &tree), HG_ERROR_USAGE);
	assert_int_equal(hg_retention_count(NULL), 0);
	assert_null(hg_retention_at(NULL, 0));
	assert_int_equal(hg_retention_path(NULL, 0, path, sizeof(path)), 0);
	assert_int_equal(hg_retention_path(s->tree, SIZE_MAX, path, sizeof(path)), 0);
	assert_string_equal(path, "");
	assert_int_equal(hg_path_first_name(""), 0);
	assert_int_equal(hg_path_first_name("\"a / \"\"b\" / c"), strlen("\"a / \"\"b\""));
	assert_int_equal(hg_path_first_name("\"a / "), strlen("\"a / "));
	size_t length = hg_retention_path(s->tree, 1, path, sizeof(path));
	assert_int_equal(hg_retention_path(s->tree, 1, NULL, 9), length);
	assert_int_equal(hg_list_cross_edges(NULL, &edges), HG_ERROR_USAGE);
	assert_null(edges);
	assert_int_equal(hg_list_cross_edges(s->tree, NULL), HG_ERROR_USAGE);
	assert_int_equal(hg_list_sharers(NULL, 0, &edges), HG_ERROR_USAGE);
	assert_int_equal(hg_list_sharers(s->tree, SIZE_MAX, &edges), HG_ERROR_USAGE);
	assert_null(edges);
	hg_retention_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_nodes_are_all_blocks),
		cmocka_unit_test(rows_are_in_order),
		cmocka_unit_test(recursion_is_folded),
		cmocka_unit_test(roots_retain_the_same),
		cmocka_unit_test(examples_are_of_their_row),
		cmocka_unit_test(cross_edges_are_pointers),
		cmocka_unit_test(a_part_of_it),
		cmocka_unit_test(arguments_that_there_are_not),
	};
	return cmocka_run_group_tests_name("retention", tests, open_subjects, close_subjects);
}
