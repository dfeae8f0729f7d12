/* The public interface: options, errors, limits, and questions about real dumps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "heapgraph.h"
#include "tests/unit/dump.h"

#ifndef FIXTURES
#define FIXTURES "tests/fixtures"
#endif

#define TINY FIXTURES "/v01/tiny/heap.dump.29370.0"

static struct hg_snapshot *open_in(struct hg_session *session, const char *path)
{
	struct hg_input input = {.size = sizeof(input), .path = path};
	struct hg_snapshot *snapshot;
	if (hg_snapshot_open(session, &input, &snapshot) != HG_OK)
		fail_msg("%s", hg_session_error(session)->message);
	return snapshot;
}

static struct hg_snapshot *analyse_in(struct hg_session *session, const char *path)
{
	struct hg_snapshot *snapshot = open_in(session, path);
	assert_int_equal(hg_snapshot_analyse(snapshot), HG_OK);
	return snapshot;
}

static void questions_need_an_analysis(void **state)
{
	struct hg_session *session;
	struct hg_top *top;
	const struct hg_totals *totals;
	(void)state;
	assert_int_equal(hg_session_open(NULL, &session), HG_OK);
	struct hg_snapshot *snapshot = open_in(session, TINY);
	assert_int_equal(hg_list_top(snapshot, HG_BY_TAG, NULL, &top), HG_ERROR_USAGE);
	assert_int_equal(hg_count_totals(snapshot, &totals), HG_ERROR_USAGE);
	hg_snapshot_close(snapshot);
	hg_session_close(session);
}

/* A caller built with an older, shorter struct of options gets the defaults of the rest. */
static void short_structs_are_accepted(void **state)
{
	struct hg_options options = {.size = offsetof(struct hg_options, max_memory), .threads = 2};
	struct hg_session *session;
	(void)state;
	options.max_memory = 1;
	assert_int_equal(hg_session_open(&options, &session), HG_OK);
	hg_snapshot_close(analyse_in(session, TINY));
	hg_session_close(session);
	options.size = 1;
	assert_int_equal(hg_session_open(&options, &session), HG_ERROR_USAGE);
	assert_null(session);
}

static void the_memory_limit_is_kept(void **state)
{
	struct hg_options options = {.size = sizeof(options), .max_memory = 1 << 20};
	struct hg_session *session;
	(void)state;
	assert_int_equal(hg_session_open(&options, &session), HG_OK);
	struct hg_snapshot *snapshot = open_in(session, TINY);
	assert_true(hg_snapshot_estimate(snapshot) > options.max_memory);
	assert_int_equal(hg_snapshot_analyse(snapshot), HG_ERROR_LIMIT);
	assert_string_equal(hg_session_error(session)->file, TINY);
	hg_snapshot_close(snapshot);
	hg_session_close(session);
}

/* What is estimated is enough, and not several times too much. */
static void the_estimate_is_a_bound(void **state)
{
	struct hg_session *session;
	uint64_t used, peak;
	(void)state;
	assert_int_equal(hg_session_open(NULL, &session), HG_OK);
	struct hg_snapshot *snapshot = open_in(session, TINY);
	uint64_t estimate = hg_snapshot_estimate(snapshot);
	assert_int_equal(hg_snapshot_analyse(snapshot), HG_OK);
	hg_session_memory(session, &used, &peak);
	assert_true(peak <= estimate);
	assert_true(used <= peak);
	hg_snapshot_close(snapshot);
	hg_session_memory(session, &used, &peak);
	assert_int_equal(used, 0);
	hg_session_close(session);
}

struct cancel {
	unsigned calls, at;
};

static bool cancel_at(void *data, const char *phase, uint64_t done, uint64_t total)
{
	struct cancel *cancel = data;
	assert_true(phase[0]);
	assert_true(total == 0 || done <= total);
	return ++cancel->calls == cancel->at;
}

/* Cancelled at any call, the work stops there and leaves nothing behind. */
static void work_can_be_cancelled(void **state)
{
	(void)state;
	for (unsigned at = 1;; at++) {
		struct cancel cancel = {0, at};
		struct hg_options options = {
			.size = sizeof(options), .progress = cancel_at, .progress_data = &cancel};
		struct hg_input input = {.size = sizeof(input), .path = TINY};
		struct hg_session *session;
		struct hg_snapshot *snapshot;
		uint64_t used, peak;
		assert_int_equal(hg_session_open(&options, &session), HG_OK);
		enum hg_status status = hg_snapshot_open(session, &input, &snapshot);
		if (status == HG_OK)
			status = hg_snapshot_analyse(snapshot);
		hg_snapshot_close(snapshot);
		hg_session_memory(session, &used, &peak);
		assert_int_equal(used, 0);
		hg_session_close(session);
		if (cancel.calls < at) {
			assert_int_equal(status, HG_OK);
			assert_true(at > 4);
			return;
		}
		assert_int_equal(status, HG_ERROR_CANCELLED);
	}
}

static void unreadable_inputs(void **state)
{
	static const struct {
		const char *path, *what;
	} cases[] = {{"/nonexistent/heap.dump.1.1", "No such file"}, {"/tmp", "directory"},
		{"/dev/null", "character device"},
		{FIXTURES "/v01/tiny/t1.prof", "no heap snapshot"}};
	struct hg_session *session;
	(void)state;
	assert_int_equal(hg_session_open(NULL, &session), HG_OK);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hg_input input = {.size = sizeof(input), .path = cases[i].path};
		struct hg_snapshot *snapshot;
		assert_int_equal(hg_snapshot_open(session, &input, &snapshot), HG_ERROR_INPUT);
		assert_null(snapshot);
		const struct hg_error *error = hg_session_error(session);
		assert_string_equal(error->file, cases[i].path);
		assert_non_null(strstr(error->message, cases[i].what));
	}
	hg_session_close(session);
}

static void patterns(void **state)
{
	static const struct {
		const char *pattern;
		uint64_t count; /* UINT64_MAX: a mistake in the pattern */
	} cases[] = {{"t1.ml:6:25-35", 10}, {"loc:^\\[string\\]$", 51}, {"root:^global ", 1},
		{"root:stack", 2}, {"nothing like it", 0}, {"0x10", UINT64_MAX},
		{"addr:zz", UINT64_MAX}, {"loc:(", UINT64_MAX}};
	struct hg_session *session;
	(void)state;
	assert_int_equal(hg_session_open(NULL, &session), HG_OK);
	struct hg_snapshot *snapshot = analyse_in(session, TINY);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hg_selection *selection;
		enum hg_status status = hg_select(snapshot, cases[i].pattern, &selection);
		if (cases[i].count == UINT64_MAX) {
			assert_int_equal(status, HG_ERROR_USAGE);
			continue;
		}
		assert_int_equal(status, HG_OK);
		assert_int_equal(selection->count, cases[i].count);
		hg_selection_release(&selection);
		hg_selection_release(&selection);
	}
	hg_snapshot_close(snapshot);
	hg_session_close(session);
}

/* Shares of a picture add up: what a node retains is its own bytes and what hangs below it. */
static void pictures_reconcile(void **state)
{
	struct hg_session *session;
	struct hg_picture *picture;
	struct hg_picture_options options = {
		.size = sizeof(options), .from = HG_NO_NODE, .max_nodes = 25};
	(void)state;
	assert_int_equal(hg_session_open(NULL, &session), HG_OK);
	struct hg_snapshot *snapshot = analyse_in(session, TINY);
	assert_int_equal(hg_draw_picture(snapshot, &options, &picture), HG_OK);
	assert_int_equal(picture->nodes[0]->retained_bytes, picture->total_bytes);
	assert_int_equal(picture->nodes[0]->node, hg_virtual_root(snapshot));
	unsigned drawn = 0;
	for (size_t i = 0; i < picture->nodes_count; i++) {
		const struct hg_picture_node *node = picture->nodes[i];
		uint64_t below = node->bytes;
		drawn += node->folded == 0;
		for (size_t e = 0; e < picture->edges_count && !node->folded; e++)
			if (picture->edges[e]->from == i &&
				picture->edges[e]->kind != HG_EDGE_REFERS)
				below += picture->nodes[picture->edges[e]->to]->retained_bytes;
		if (!node->folded)
			assert_int_equal(below, node->retained_bytes);
	}
	assert_int_equal(drawn, 25);
	hg_picture_release(&picture);
	hg_snapshot_close(snapshot);
	hg_session_close(session);
}

/* The whole tree has every reachable node once, and hides nothing. */
static void trees_are_complete(void **state)
{
	struct hg_session *session;
	struct hg_tree *tree;
	const struct hg_totals *totals;
	(void)state;
	assert_int_equal(hg_session_open(NULL, &session), HG_OK);
	struct hg_snapshot *snapshot = analyse_in(session, TINY);
	assert_int_equal(hg_count_totals(snapshot, &totals), HG_OK);
	assert_int_equal(hg_list_tree(snapshot, NULL, &tree), HG_OK);
	assert_int_equal(tree->count, totals->reachable_blocks + totals->roots + 1);
	for (size_t i = 0; i < tree->count; i++)
		assert_int_equal(tree->rows[i]->hidden_children, 0);
	hg_tree_release(&tree);
	struct hg_tree_options options = {
		.size = sizeof(options), .from = HG_NO_NODE, .max_depth = 2, .max_children = 3};
	assert_int_equal(hg_list_tree(snapshot, &options, &tree), HG_OK);
	assert_true(tree->count <= 1 + 3 + 9);
	assert_true(tree->rows[0]->hidden_children == tree->rows[0]->children - 3);
	hg_tree_release(&tree);
	hg_snapshot_close(snapshot);
	hg_session_close(session);
}

static void growth_is_antisymmetric(void **state)
{
	struct hg_session *session;
	struct hg_diff *there, *back, *none;
	(void)state;
	assert_int_equal(hg_session_open(NULL, &session), HG_OK);
	struct hg_snapshot *a = analyse_in(session, TINY);
	struct hg_snapshot *b = analyse_in(session, FIXTURES "/v01/recty/heap.dump.30155.0");
	for (unsigned key = 0; key < HG_KEYS; key++) {
		assert_int_equal(hg_compare_snapshots(a, a, (enum hg_key)key, &none), HG_OK);
		assert_int_equal(none->count, 0);
		hg_diff_release(&none);
		assert_int_equal(hg_compare_snapshots(a, b, (enum hg_key)key, &there), HG_OK);
		assert_int_equal(hg_compare_snapshots(b, a, (enum hg_key)key, &back), HG_OK);
		assert_int_equal(there->count, back->count);
		assert_true(there->count > 0);
		for (size_t i = 0; i < there->count; i++) {
			const struct hg_growth *x = there->rows[i], *y = back->rows[i];
			assert_int_equal(x->old_id, y->new_id);
			assert_int_equal(x->new_id, y->old_id);
			assert_int_equal(x->bytes_old, y->bytes_new);
			assert_int_equal(x->bytes_new, y->bytes_old);
			assert_int_equal(x->retained_old, y->retained_new);
		}
		hg_diff_release(&there);
		hg_diff_release(&back);
	}
	hg_snapshot_close(a);
	hg_snapshot_close(b);
	hg_session_close(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(questions_need_an_analysis),
		cmocka_unit_test(short_structs_are_accepted),
		cmocka_unit_test(the_memory_limit_is_kept),
		cmocka_unit_test(the_estimate_is_a_bound),
		cmocka_unit_test(work_can_be_cancelled),
		cmocka_unit_test(unreadable_inputs),
		cmocka_unit_test(patterns),
		cmocka_unit_test(pictures_reconcile),
		cmocka_unit_test(trees_are_complete),
		cmocka_unit_test(growth_is_antisymmetric),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
