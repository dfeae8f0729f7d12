/*
 * Arguments that make no sense: options that are NULL or cut short, values that no enum has, nodes,
 * types and locations that there are not.  None crashes, and none is answered as something else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "heapgraph.h"
#include "tests/unit/emulated.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef FIXTURES
#define FIXTURES "tests/fixtures"
#endif

#define TINY FIXTURES "/v01/tiny/heap.dump.29370.0"
#define CORE FIXTURES "/cores/tiny-4.13.1.core.zst"
#define TYPES FIXTURES "/cores/tiny-4.13.1.prof.zst"
#define TRACE FIXTURES "/memtrace/trees-1e-6.ctf"

static const unsigned beyond[] = {1000, INT_MAX, UINT_MAX};
enum { BEYOND = sizeof(beyond) / sizeof(*beyond) };

static struct hg_session *session;
static struct hg_snapshot *snapshot;

static int open_snapshot(void **state)
{
	(void)state;
	struct hg_input input = {.size = sizeof(input), .path = CORE, .types = TYPES};
	if (hg_session_open(NULL, &session) != HG_OK)
		return -1;
	return hg_snapshot_open(session, &input, &snapshot) == HG_OK &&
			       hg_snapshot_analyse(snapshot) == HG_OK
		       ? 0
		       : -1;
}

static int close_snapshot(void **state)
{
	(void)state;
	hg_snapshot_close(snapshot);
	hg_session_close(session);
	return 0;
}

static void assert_usage(enum hg_status status)
{
	assert_int_equal(status, HG_ERROR_USAGE);
	assert_int_equal(hg_session_error(session)->status, HG_ERROR_USAGE);
	assert_true(hg_session_error(session)->message[0]);
}

static void names_of_constants(void **state)
{
	(void)state;
	assert_string_equal(hg_key_name(HG_KEYS), "?");
	assert_string_equal(hg_root_kind_name(HG_ROOT_KINDS), "?");
	assert_string_equal(hg_edge_kind_name((enum hg_edge_kind)(HG_EDGE_LAST + 1)), "?");
	assert_string_equal(hg_waste_section_name(HG_WASTE_SECTIONS), "?");
	assert_string_equal(hg_segment_name((enum hg_segment)(HG_SEGMENT_STATIC + 1)), "?");
	assert_string_equal(hg_confidence_name((enum hg_confidence)(HG_EXACT + 1)), "?");
	assert_null(hg_capture_method_name(HG_CAPTURE_METHODS));
	assert_null(hg_capture_method_name(HG_CAPTURE_ANY));
	for (unsigned i = 0; i < BEYOND; i++) {
		assert_string_equal(hg_key_name((enum hg_key)beyond[i]), "?");
		assert_string_equal(hg_root_kind_name((enum hg_root_kind)beyond[i]), "?");
		assert_string_equal(hg_segment_name((enum hg_segment)beyond[i]), "?");
		assert_string_equal(hg_confidence_name((enum hg_confidence)beyond[i]), "?");
		assert_null(hg_capture_method_name((enum hg_capture_method)beyond[i]));
		assert_string_equal(hg_status_name((enum hg_status)beyond[i]), "?");
		assert_string_equal(hg_moment_name((enum hg_moment)beyond[i]), "?");
		assert_null(hg_format_name((enum hg_format)beyond[i]));
	}
	for (unsigned i = 0; i < HG_FORMATS; i++)
		assert_non_null(hg_format_name((enum hg_format)i));
	assert_null(hg_format_name(HG_FORMATS));
	assert_string_equal(hg_format_name(HG_FORMAT_ELFCORE), "elfcore");
	assert_string_equal(hg_format_name(HG_FORMAT_OCP2014), "ocp2014");
	assert_string_equal(hg_format_name(HG_FORMAT_MEMPROF01), "memprof01");
	assert_string_equal(hg_format_name(HG_FORMAT_MEMPROF02), "memprof02");
	assert_string_equal(hg_status_name(HG_OK), "ok");
	assert_string_equal(hg_status_name(HG_ERROR_INTERNAL), "internal");
	assert_string_equal(hg_moment_name(HG_MOMENT_INSIDE), "inside");
	enum hg_key key;
	assert_false(hg_key_parse("tag", NULL));
	assert_false(hg_key_parse(NULL, &key));
	assert_false(hg_key_parse("?", &key));
}

/* They were answered as if they were locations. */
static void keys_that_there_are_not(void **state)
{
	struct hg_top *top;
	struct hg_diff *diff;
	char name[64];
	(void)state;
	for (unsigned i = 0; i <= BEYOND; i++) {
		enum hg_key key = i < BEYOND ? (enum hg_key)beyond[i] : HG_KEYS;
		assert_usage(hg_list_top(snapshot, key, NULL, &top));
		assert_null(top);
		assert_usage(hg_list_top(snapshot, key, "string", &top));
		assert_usage(hg_compare_snapshots(snapshot, snapshot, key, &diff));
		assert_null(diff);
		for (uint32_t id = 0; id < 4; id++) {
			assert_int_equal(hg_class_name(snapshot, key, id, name, sizeof(name)), 0);
			assert_string_equal(name, "");
			assert_usage(HG_ERROR_USAGE);
		}
		hg_top_release(&top);
		hg_diff_release(&diff);
	}
}

static void options_that_are_missing(void **state)
{
	struct hg_tree *tree, *whole;
	struct hg_picture *picture;
	char text[4096], same[4096];
	size_t nothing = 0;
	(void)state;
	assert_int_equal(hg_list_tree(snapshot, NULL, &whole), HG_OK);
	assert_int_equal(hg_list_tree(snapshot, (const void *)&nothing, &tree), HG_OK);
	assert_int_equal(tree->count, whole->count);
	hg_tree_release(&tree);
	hg_tree_release(&whole);
	assert_int_equal(hg_draw_picture(snapshot, NULL, &picture), HG_OK);
	assert_int_equal(picture->nodes[0]->node, hg_virtual_root(snapshot));
	hg_picture_release(&picture);
	assert_int_equal(hg_draw_picture(snapshot, (const void *)&nothing, &picture), HG_OK);
	hg_picture_release(&picture);
	size_t length = hg_value_text(snapshot, 0, NULL, text, sizeof(text));
	assert_int_equal(length, strlen(text));
	hg_value_text(snapshot, 0, (const void *)&nothing, same, sizeof(same));
	assert_string_equal(same, text);
	hg_field_text(snapshot, 0, 0, NULL, text, sizeof(text));
}

static void texts_that_are_missing(void **state)
{
	struct hg_selection *selection;
	struct hg_why *why;
	enum hg_profile_kind kind;
	struct hg_snapshot *other;
	char line[64];
	const char *directories[] = {".", NULL};
	(void)state;
	assert_usage(hg_select(snapshot, NULL, &selection));
	assert_null(selection);
	assert_usage(hg_explain_nodes(snapshot, NULL, 1, &why));
	assert_usage(hg_identify_profile(session, NULL, &kind));
	assert_usage(hg_identify(session, NULL, line, sizeof(line)));
	assert_int_equal(hg_identify(session, CORE, NULL, 0), HG_OK);
	assert_usage(hg_snapshot_open(session, NULL, &other));
	assert_null(other);
	struct hg_input inputs[] = {{.size = sizeof(inputs[0])},
		{.size = offsetof(struct hg_input, path), .path = TINY},
		{.size = sizeof(inputs[0]), .path = TINY, .format = "none such"},
		{.size = sizeof(inputs[0]), .path = TINY, .directory_count = 1},
		{.size = sizeof(inputs[0]),
			.path = TINY,
			.directories = directories,
			.directory_count = 2},
		{.size = sizeof(inputs[0]), .path = TINY, .memtrace = TRACE}};
	for (unsigned i = 0; i < sizeof(inputs) / sizeof(*inputs); i++) {
		assert_usage(hg_snapshot_open(session, &inputs[i], &other));
		assert_null(other);
	}
}

/*
 * A text has the same length wherever it goes: a place with room, one for the NUL alone, none, and
 * none that is said to have room.
 */
#define COUNTED(call)                                                                              \
	do {                                                                                       \
		char place[8192], *buffer = place;                                                 \
		size_t size = sizeof(place), length = call;                                        \
		assert_int_equal(strlen(place), length);                                           \
		size = 1;                                                                          \
		assert_int_equal(call, length);                                                    \
		assert_string_equal(place, "");                                                    \
		buffer = NULL;                                                                     \
		assert_int_equal(call, length);                                                    \
		size = 0;                                                                          \
		assert_int_equal(call, length);                                                    \
	} while (0)

static void texts_without_a_place(void **state)
{
	hg_node root = hg_virtual_root(snapshot);
	struct hg_top *top;
	(void)state;
	for (hg_node node = 0; node <= root + 1; node += node < root - 20 ? 1 + root / 40 : 1) {
		COUNTED(hg_node_name(snapshot, node, buffer, size));
		COUNTED(hg_root_name(snapshot, node, buffer, size));
		COUNTED(hg_field_name(snapshot, node, 0, buffer, size));
		COUNTED(hg_value_text(snapshot, node, NULL, buffer, size));
		COUNTED(hg_field_text(snapshot, node, 0, NULL, buffer, size));
		COUNTED(hg_custom_name(snapshot, node, buffer, size));
		COUNTED(hg_call_frame(snapshot, node, 0, buffer, size));
		COUNTED(hg_function_place(snapshot, node, buffer, size, NULL));
		COUNTED(hg_defined_at(snapshot, node, buffer, size));
	}
	for (uint32_t number = 0; number < 40; number++) {
		COUNTED(hg_location_name(snapshot, number, buffer, size));
		COUNTED(hg_type_name(snapshot, number, buffer, size));
		for (unsigned part = HG_DECLARED_NAME; part <= HG_DECLARED_UNIT + 1; part++)
			COUNTED(hg_declared_text(
				snapshot, number, (enum hg_declared_part)part, buffer, size));
		COUNTED(hg_code_name(snapshot, number << 16, buffer, size));
		COUNTED(hg_code_place(snapshot, number << 16, buffer, size, NULL));
		for (unsigned part = HG_MADE_ANYWHERE; part <= HG_MADE_IN_LIBRARIES + 1; part++)
			COUNTED(hg_made_at(
				snapshot, number, (enum hg_made_part)part, 3, buffer, size));
		COUNTED(hg_outside_name(snapshot, number << 16, buffer, size));
	}
	for (unsigned key = 0; key <= HG_KEYS; key++) {
		if (hg_list_top(snapshot, (enum hg_key)key, NULL, &top) != HG_OK)
			continue;
		for (size_t i = 0; i < top->count && i < 40; i++)
			COUNTED(hg_class_name(
				snapshot, (enum hg_key)key, top->rows[i]->id, buffer, size));
		hg_top_release(&top);
	}
	COUNTED(hg_class_name(snapshot, HG_KEYS, 0, buffer, size));
	struct hg_retention *tree;
	assert_int_equal(hg_retention_open(snapshot, NULL, &tree), HG_OK);
	for (size_t i = 0; i < hg_retention_count(tree); i += 5) {
		COUNTED(hg_retention_path(tree, i, buffer, size));
		COUNTED(hg_retention_made_at(tree, i, buffer, size));
		COUNTED(hg_retention_defined_at(tree, i, buffer, size));
		COUNTED(hg_retention_field(tree, i, buffer, size));
		COUNTED(hg_retention_pattern(tree, i, buffer, size));
	}
	hg_retention_close(tree);
	assert_int_equal(hg_path_first_name(NULL), 0);
	hg_version(NULL, 64);
	assert_int_equal(hg_identify(session, CORE, NULL, 64), HG_OK);
}

static void nodes_that_there_are_not(void **state)
{
	hg_node root = hg_virtual_root(snapshot);
	char name[64];
	struct hg_block block;
	struct hg_object *object;
	struct hg_tree *tree;
	struct hg_picture *picture;
	struct hg_why *why;
	int64_t id;
	(void)state;
	for (unsigned i = 0; i < BEYOND; i++) {
		hg_node node = i == 0 ? root + 1 : beyond[i];
		block = *hg_describe_block(snapshot, node);
		assert_false(block.reachable);
		assert_int_equal(block.idom, HG_NO_NODE);
		assert_int_equal(hg_node_name(snapshot, node, name, sizeof(name)), 0);
		assert_string_equal(name, "");
		assert_int_equal(hg_kind_of_root(snapshot, node), HG_ROOT_OTHER);
		assert_int_equal(hg_root_name(snapshot, node, name, sizeof(name)), 0);
		assert_int_equal(hg_field_name(snapshot, node, 0, name, sizeof(name)), 0);
		assert_int_equal(hg_value_text(snapshot, node, NULL, name, sizeof(name)), 0);
		assert_int_equal(hg_field_text(snapshot, node, 0, NULL, name, sizeof(name)), 0);
		assert_int_equal(hg_custom_name(snapshot, node, name, sizeof(name)), 0);
		assert_int_equal(hg_call_frame(snapshot, node, 0, name, sizeof(name)), 0);
		bool own = true;
		assert_int_equal(hg_function_place(snapshot, node, name, sizeof(name), &own), 0);
		assert_false(own);
		assert_int_equal(hg_function_code(snapshot, node), 0);
		assert_int_equal(hg_defined_at(snapshot, node, name, sizeof(name)), 0);
		assert_false(hg_sample_id(snapshot, node, &id));
		assert_usage(hg_describe_object(snapshot, node, 0, 0, &object));
		struct hg_tree_options below = {.size = sizeof(below), .from = node};
		struct hg_picture_options drawn = {.size = sizeof(drawn), .from = node};
		if (node != HG_NO_NODE) {
			assert_usage(hg_list_tree(snapshot, &below, &tree));
			assert_usage(hg_draw_picture(snapshot, &drawn, &picture));
		}
		assert_int_equal(hg_explain_nodes(snapshot, &node, 1, &why), HG_OK);
		assert_int_equal(why->unreachable, 1);
		hg_why_release(&why);
	}
	hg_node_name(snapshot, root, name, sizeof(name));
	assert_string_equal(name, "root");
	assert_int_equal(hg_explain_nodes(snapshot, &root, 1, &why), HG_OK);
	hg_why_release(&why);
	struct hg_picture_options all = {
		.size = sizeof(all), .from = HG_NO_NODE, .max_nodes = UINT32_MAX};
	assert_int_equal(hg_draw_picture(snapshot, &all, &picture), HG_OK);
	hg_picture_release(&picture);
}

static void numbers_that_there_are_not(void **state)
{
	char name[64];
	uint32_t type, location;
	(void)state;
	for (unsigned i = 0; i < BEYOND; i++) {
		uint32_t number = i == 0 ? 1 << 24 : beyond[i];
		assert_int_equal(hg_type_name(snapshot, number, name, sizeof(name)), 0);
		struct hg_places *places;
		assert_int_equal(hg_list_places(snapshot, number, &places), HG_OK);
		assert_int_equal(places->count, 0);
		hg_places_release(&places);
		assert_int_equal(
			hg_made_at(snapshot, number, HG_MADE_ANYWHERE, 3, name, sizeof(name)), 0);
		assert_int_equal(
			hg_made_at(snapshot, 1, (enum hg_made_part)(number | 4), 3, name, 64), 0);
		assert_usage(HG_ERROR_USAGE);
		assert_int_equal(hg_location_name(snapshot, number, name, sizeof(name)), 0);
		for (unsigned part = 0; part < 6; part++)
			assert_int_equal(hg_declared_text(snapshot, number,
						 (enum hg_declared_part)part, name, sizeof(name)),
				0);
		assert_int_equal(hg_declared_text(snapshot, 0, (enum hg_declared_part)number, name,
					 sizeof(name)),
			0);
		assert_usage(HG_ERROR_USAGE);
		hg_class_parts(snapshot, number, &type, &location);
		assert_int_equal(type + location, 0);
		assert_null(hg_snapshot_chunk(snapshot, number));
		assert_int_equal(hg_field_name(snapshot, 0, number, name, sizeof(name)), 0);
		assert_int_equal(hg_call_frame(snapshot, 0, UINT64_MAX - i, name, sizeof(name)), 0);
	}
	assert_int_equal(hg_block_at(snapshot, UINT64_MAX), HG_NO_NODE);
}

static void rows_that_there_are_not(void **state)
{
	struct hg_retention *tree;
	struct hg_cross_edges *edges;
	(void)state;
	assert_int_equal(hg_retention_open(snapshot, NULL, &tree), HG_OK);
	assert_int_equal(hg_list_cross_edges(tree, &edges), HG_OK);
	hg_cross_edges_release(&edges);
	struct hg_holders *holders;
	assert_int_equal(hg_list_holders(NULL, &holders), HG_ERROR_USAGE);
	assert_null(holders);
	assert_usage(hg_list_holders(tree, NULL));
	assert_int_equal(hg_list_holders(tree, &holders), HG_OK);
	hg_holders_release(&holders);
	for (unsigned i = 0; i < BEYOND; i++) {
		assert_null(hg_retention_at(tree, beyond[i] + hg_retention_count(tree)));
		assert_usage(hg_list_sharers(tree, SIZE_MAX - beyond[i], &edges));
		assert_null(edges);
	}
	hg_retention_close(tree);
}

static void functions_that_there_are_not(void **state)
{
	(void)state;
	for (unsigned i = 0; i < BEYOND; i++) {
		assert_int_equal(hg_declared_type(snapshot, beyond[i]), 0);
		assert_int_equal(hg_function_closure(snapshot, beyond[i]), HG_NO_NODE);
	}
	assert_int_equal(hg_declared_type(NULL, 0), 0);
	assert_int_equal(hg_function_closure(NULL, 1), HG_NO_NODE);
}

static void series_that_there_are_not(void **state)
{
	struct hg_series *series;
	struct hg_series_link link;
	struct hg_series_sharing sharing;
	const char *partial;
	struct hg_measure first = {.blocks = 1}, last, points[2];
	(void)state;
	assert_int_equal(hg_series_open(NULL, NULL, &series), HG_ERROR_USAGE);
	assert_null(series);
	assert_usage(hg_series_open(session, NULL, NULL));
	for (unsigned i = 0; i < BEYOND; i++) {
		struct hg_series_options options = {
			.size = sizeof(options), .by_key = true, .key = (enum hg_key)beyond[i]};
		assert_usage(hg_series_open(session, &options, &series));
		assert_null(series);
	}
	assert_int_equal(hg_series_finish(NULL), HG_ERROR_USAGE);
	assert_usage(hg_series_add(NULL, snapshot));
	assert_int_equal(hg_series_moments(NULL) + hg_series_count(NULL), 0);
	assert_null(hg_series_moment_at(NULL, 0));
	assert_null(hg_series_at(NULL, 0));
	assert_false(hg_series_points(NULL, 0, points));
	assert_false(hg_series_is_sorted(NULL));
	assert_false(hg_series_total(NULL, 0, &first));
	assert_int_equal(hg_series_links(NULL), 0);
	assert_false(hg_series_link_at(NULL, 0, &link));
	assert_false(hg_series_sharing_at(NULL, 0, &sharing));
	assert_int_equal(hg_series_read(NULL, "x", NULL, &partial), HG_ERROR_USAGE);
	assert_string_equal(partial, "");
	assert_false(hg_is_baseline(NULL, "x"));
	assert_false(hg_is_baseline(session, NULL));
	assert_false(hg_is_baseline(session, "."));
	assert_false(hg_is_baseline(session, "no such file"));
	assert_int_equal(hg_series_open(session, NULL, &series), HG_OK);
	assert_int_equal(hg_series_add(series, NULL), HG_ERROR_USAGE);
	assert_usage(hg_series_read(series, NULL, NULL, NULL));
	assert_false(hg_series_link_at(series, 0, &link));
	assert_false(hg_series_sharing_at(series, 0, &sharing));
	assert_int_equal(hg_series_add(series, snapshot), HG_OK);
	/* Before the end there is nothing. */
	assert_int_equal(hg_series_moments(series) + hg_series_count(series), 0);
	assert_int_equal(hg_series_finish(series), HG_OK);
	assert_int_equal(hg_series_finish(series), HG_ERROR_USAGE);
	assert_usage(hg_series_add(series, snapshot));
	assert_int_equal(hg_series_moments(series), 1);
	assert_null(hg_series_moment_at(series, 1));
	assert_int_equal(hg_series_read(series, "x", NULL, NULL), HG_ERROR_USAGE);
	assert_true(hg_series_links(series) > 0);
	assert_true(hg_series_link_at(series, 0, &link));
	assert_int_equal(link.parent, UINT32_MAX);
	assert_false(hg_series_link_at(series, 0, NULL));
	assert_false(hg_series_sharing_at(series, 0, NULL));
	assert_false(hg_series_sharing_at(series, SIZE_MAX, &sharing));
	assert_false(hg_series_link_at(series, (uint32_t)hg_series_links(series), &link));
	assert_int_equal(hg_series_count(series), 0);
	assert_false(hg_series_points(series, 0, points));
	assert_false(hg_series_total(series, 0, NULL));
	assert_false(hg_series_total(series, 1, &last));
	assert_true(hg_series_total(series, 0, &first));
	assert_true(first.bytes > 0);
	struct hg_suppressions *known;
	assert_int_equal(hg_suppressions_read(NULL, CORE, &known), HG_ERROR_USAGE);
	assert_usage(hg_suppressions_read(session, NULL, &known));
	assert_null(known);
	assert_usage(hg_suppressions_read(session, CORE, NULL));
	assert_int_equal(hg_suppressions_read(session, CORE, &known), HG_ERROR_INPUT);
	hg_suppressions_release(&known);
	struct hg_check *check;
	assert_int_equal(hg_check_series(NULL, NULL, &check), HG_ERROR_USAGE);
	assert_null(check);
	assert_usage(hg_check_series(series, NULL, &check));
	assert_null(check);
	struct hg_check_options limits = {.size = sizeof(limits)};
	assert_usage(hg_check_series(series, &limits, &check));
	hg_check_release(&check);
	hg_series_close(series);
	hg_series_close(NULL);
}

/* Handles that are NULL: nothing is answered, and nobody can tell more. */
static void handles_that_are_missing(void **state)
{
	struct hg_snapshot *none = NULL, *other;
	struct hg_session *no_session = NULL;
	struct hg_process *process;
	enum hg_profile_kind kind;
	char name[64];
	uint64_t used = 1, peak = 1;
	uint32_t type = 1, location = 1;
	int64_t id;
	(void)state;
	assert_null(hg_session_error(no_session));
	hg_session_memory(no_session, &used, &peak);
	hg_session_memory(no_session, NULL, NULL);
	assert_int_equal(used + peak, 0);
	hg_session_close(no_session);
	assert_int_equal(hg_identify_profile(no_session, TYPES, &kind), HG_ERROR_USAGE);
	assert_int_equal(hg_identify(no_session, CORE, name, sizeof(name)), HG_ERROR_USAGE);
	struct hg_input input = {.size = sizeof(input), .path = TINY};
	assert_int_equal(hg_snapshot_open(no_session, &input, &other), HG_ERROR_USAGE);
	assert_null(other);
	assert_int_equal(hg_process_open(no_session, 1, &process), HG_ERROR_USAGE);
	static const int nobody[] = {0, -1, INT_MIN, INT_MAX};
	for (unsigned i = 0; i < sizeof(nobody) / sizeof(*nobody); i++) {
		assert_int_equal(hg_process_open(session, nobody[i], &process), HG_ERROR_INPUT);
		assert_null(process);
	}
	hg_process_close(NULL);
	assert_null(hg_process_counters(NULL));
	assert_string_equal(hg_process_unreadable(NULL), "");
	hg_snapshot_close(none);
	assert_null(hg_snapshot_info(none));
	assert_null(hg_snapshot_chunk(none, 0));
	assert_int_equal(hg_snapshot_estimate(none), 0);
	assert_int_equal(hg_snapshot_analyse(none), HG_ERROR_USAGE);
	assert_int_equal(hg_snapshot_complete(none), HG_ERROR_USAGE);
	assert_int_equal(hg_virtual_root(none), HG_NO_NODE);
	assert_int_equal(hg_describe_block(none, 0)->node, HG_NO_NODE);
	assert_int_equal(hg_block_at(none, 0), HG_NO_NODE);
	assert_false(hg_has_types(none));
	assert_int_equal(hg_kind_of_root(none, 0), HG_ROOT_OTHER);
	assert_int_equal(hg_root_target(none, 0), HG_NO_NODE);
	assert_null(hg_objects_next(NULL));
	hg_objects_close(NULL);
	assert_null(hg_edges_next(NULL));
	hg_edges_close(NULL);
	assert_false(hg_sample_id(none, 0, &id));
	assert_null(hg_snapshot_join(none));
	hg_class_parts(none, 0, &type, &location);
	hg_class_parts(none, 0, NULL, NULL);
	assert_int_equal(type + location, 0);
	assert_int_equal(hg_location_name(none, 1, name, sizeof(name)), 0);
	assert_int_equal(hg_node_name(none, 1, name, sizeof(name)), 0);
	assert_int_equal(hg_type_name(none, 1, name, sizeof(name)), 0);
	assert_int_equal(hg_field_name(none, 1, 0, name, sizeof(name)), 0);
	assert_int_equal(hg_root_name(none, 1, name, sizeof(name)), 0);
	assert_int_equal(hg_class_name(none, HG_BY_TAG, 1, name, sizeof(name)), 0);
	assert_int_equal(hg_declared_text(none, 1, HG_DECLARED_NAME, name, sizeof(name)), 0);
	assert_int_equal(hg_outside_name(none, 1, name, sizeof(name)), 0);
	assert_int_equal(hg_value_text(none, 1, NULL, name, sizeof(name)), 0);
	assert_int_equal(hg_field_text(none, 1, 0, NULL, name, sizeof(name)), 0);
	assert_int_equal(hg_code_name(none, 1, name, sizeof(name)), 0);
	assert_int_equal(hg_code_place(none, 1, name, sizeof(name), NULL), 0);
	assert_int_equal(hg_function_place(none, 1, name, sizeof(name), NULL), 0);
	assert_int_equal(hg_function_code(none, 1), 0);
	assert_int_equal(hg_defined_at(none, 1, name, sizeof(name)), 0);
	assert_int_equal(hg_made_at(none, 1, HG_MADE_ANYWHERE, 3, name, sizeof(name)), 0);
	assert_int_equal(hg_custom_name(none, 1, name, sizeof(name)), 0);
	assert_int_equal(hg_call_frame(none, 1, 0, name, sizeof(name)), 0);
	assert_string_equal(name, "");
	hg_version(NULL, 0);
	hg_version(name, sizeof(name));
	assert_memory_equal(name, HG_VERSION, strlen(HG_VERSION));
	snprintf(name, sizeof(name), "%d.%d.%d", HG_VERSION_MAJOR, HG_VERSION_MINOR,
		HG_VERSION_PATCH);
	assert_string_equal(name, HG_VERSION);
}

/* A question to a snapshot that is none, and one without a place for the answer. */
#define REFUSED(type, call, release)                                                               \
	do {                                                                                       \
		type *result = (void *)&session;                                                   \
		type **out = &result;                                                              \
		struct hg_snapshot *asked = NULL;                                                  \
		assert_int_equal(call, HG_ERROR_USAGE);                                            \
		assert_null(result);                                                               \
		asked = snapshot;                                                                  \
		out = NULL;                                                                        \
		assert_usage(call);                                                                \
		release;                                                                           \
	} while (0)

static void places_that_are_missing(void **state)
{
	struct hg_snapshot *before = NULL;
	const struct hg_capture *capture;
	(void)state;
	assert_int_equal(hg_session_open(NULL, NULL), HG_ERROR_USAGE);
	assert_usage(hg_identify_profile(session, TYPES, NULL));
	assert_usage(hg_snapshot_open(session, NULL, NULL));
	assert_usage(hg_process_open(session, 1, NULL));
	assert_int_equal(hg_capture_process(NULL, NULL, &capture), HG_ERROR_USAGE);
	REFUSED(const struct hg_totals, hg_count_totals(asked, out), );
	REFUSED(const struct hg_memory, hg_reconcile_memory(asked, out), );
	REFUSED(struct hg_objects, hg_objects_open(asked, out), );
	REFUSED(struct hg_edges, hg_edges_open(asked, out), );
	REFUSED(struct hg_waste, hg_list_waste(asked, out), hg_waste_release(out));
	REFUSED(struct hg_top, hg_list_top(asked, HG_BY_TAG, NULL, out), hg_top_release(out));
	REFUSED(struct hg_types, hg_list_types(asked, true, out), hg_types_release(out));
	REFUSED(struct hg_clashes, hg_list_clashes(asked, out), hg_clashes_release(out));
	REFUSED(struct hg_outside, hg_list_outside(asked, out), hg_outside_release(out));
	REFUSED(struct hg_diff, hg_compare_snapshots(snapshot, asked, HG_BY_TAG, out),
		hg_diff_release(out));
	REFUSED(struct hg_tree, hg_list_tree(asked, NULL, out), hg_tree_release(out));
	REFUSED(struct hg_selection, hg_select(asked, "loc:.", out), hg_selection_release(out));
	REFUSED(struct hg_why, hg_explain_nodes(asked, NULL, 0, out), hg_why_release(out));
	REFUSED(struct hg_sets, hg_compare_sets(asked, &(struct hg_set){NULL, 0}, 1, out),
		hg_sets_release(out));
	REFUSED(struct hg_referrers, hg_list_referrers(asked, NULL, 0, out),
		hg_referrers_release(out));
	REFUSED(struct hg_nearest, hg_find_nearest(asked, "cache", out), hg_nearest_release(out));
	REFUSED(struct hg_object, hg_describe_object(asked, 0, 0, 0, out), hg_object_release(out));
	REFUSED(struct hg_picture, hg_draw_picture(asked, NULL, out), hg_picture_release(out));
	REFUSED(struct hg_retention, hg_retention_open(asked, NULL, out), );
	REFUSED(struct hg_suspects, hg_list_suspects(asked, out), hg_suspects_release(out));
	REFUSED(struct hg_root_slots, hg_list_root_slots(asked, NULL, out),
		hg_root_slots_release(out));
	REFUSED(struct hg_places, hg_list_places(asked, 1, out), hg_places_release(out));
	REFUSED(struct hg_join_sites, hg_list_join_sites(asked, out), hg_join_sites_release(out));
	struct hg_diff *diff;
	assert_usage(hg_compare_snapshots(before, snapshot, HG_BY_TAG, &diff));
	assert_null(diff);
}

/* Of two sessions that of the new snapshot tells what was wrong with the old one. */
static void the_new_session_tells(void **state)
{
	struct hg_session *old_session;
	struct hg_snapshot *before;
	struct hg_input input = {.size = sizeof(input), .path = TINY};
	struct hg_diff *diff;
	(void)state;
	assert_int_equal(hg_session_open(NULL, &old_session), HG_OK);
	assert_int_equal(hg_snapshot_open(old_session, &input, &before), HG_OK);
	assert_usage(hg_compare_snapshots(before, snapshot, HG_BY_TAG, &diff));
	hg_snapshot_close(before);
	hg_session_close(old_session);
}

static void roots_lead_to_blocks(void **state)
{
	struct hg_root_slots *slots;
	const struct hg_info *info = hg_snapshot_info(snapshot);
	uint64_t roots = 0;
	(void)state;
	assert_int_equal(info->format, HG_FORMAT_ELFCORE);
	assert_int_equal(info->type_state, HG_TYPES_FRESH);
	assert_int_equal(info->root_kinds, HG_ROOT_KINDS);
	for (size_t i = 0; i < info->root_kinds; i++)
		roots += info->roots[i];
	assert_int_equal(hg_list_root_slots(snapshot, NULL, &slots), HG_OK);
	assert_int_equal(slots->count, roots);
	for (size_t i = 0; i < slots->count; i++)
		assert_int_equal(
			hg_root_target(snapshot, slots->rows[i]->node), slots->rows[i]->target);
	hg_root_slots_release(&slots);
	assert_null(slots);
	assert_int_equal(hg_root_target(snapshot, 0), HG_NO_NODE);
	assert_int_equal(hg_root_target(snapshot, hg_virtual_root(snapshot)), HG_NO_NODE);
}

/* The target of the tests of captures, which passes for an OCaml program; it ends with its input.
 */
struct target {
	pid_t pid;
	int input;
};

static void start_target(struct target *target)
{
	char path[PATH_MAX], ready[5] = "";
	int in[2], out[2];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 16);
	assert_true(length > 0);
	path[length] = '\0';
	for (unsigned i = 0; i < 2; i++)
		*strrchr(path, '/') = '\0';
	strcat(path, "/target");
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	target->pid = fork();
	assert_true(target->pid >= 0);
	if (target->pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		execl(path, path, "sleep", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	target->input = in[1];
	assert_int_equal(read(out[0], ready, sizeof(ready)), sizeof(ready));
	assert_memory_equal(ready, "READY", sizeof(ready));
}

static void stop_target(struct target *target)
{
	int status;
	close(target->input);
	assert_int_equal(waitpid(target->pid, &status, 0), target->pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* NULL crashed; the first field alone, and methods that there are not, were read beyond. */
static void captures_without_options(void **state)
{
	char folder[] = "/tmp/heapgraph-arguments.XXXXXX", before[PATH_MAX], wanted[64];
	struct target target;
	struct hg_process *process;
	const struct hg_capture *capture;
	size_t size = sizeof(size);
	(void)state;
	skip_if_emulated("captures_without_options");
	start_target(&target);
	assert_non_null(getcwd(before, sizeof(before)));
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(hg_process_open(session, target.pid, &process), HG_OK);
	assert_usage(hg_capture_process(process, NULL, NULL));
	for (unsigned i = 0; i < BEYOND; i++) {
		struct hg_capture_options options = {
			.size = sizeof(options), .method = (enum hg_capture_method)beyond[i]};
		assert_usage(hg_capture_process(process, &options, &capture));
	}
	struct hg_capture_options none = {.size = sizeof(none), .method = HG_CAPTURE_METHODS};
	assert_usage(hg_capture_process(process, &none, &capture));
	for (unsigned i = 0; i < 2; i++) {
		if (hg_capture_process(process, i ? (const void *)&size : NULL, &capture) != HG_OK)
			fail_msg("%s", hg_session_error(session)->message);
		snprintf(wanted, sizeof(wanted), "heap.dump.%d.%u", (int)target.pid, i);
		assert_int_equal(capture->index, i);
		assert_string_equal(strrchr(capture->path, '/') ? strrchr(capture->path, '/') + 1
								: capture->path,
			wanted);
		assert_int_equal(unlink(wanted), 0);
		if (i == 0)
			fclose(fopen(wanted, "w"));
	}
	snprintf(wanted, sizeof(wanted), "heap.dump.%d.0", (int)target.pid);
	unlink(wanted);
	hg_process_close(process);
	stop_target(&target);
	assert_int_equal(chdir(before), 0);
	assert_int_equal(rmdir(folder), 0);
}

#define SERIES "tests/fixtures/spacetime/p1-4.08.1.spacetime.zst"

static bool write_nothing(void *data, const char *bytes, size_t length)
{
	(void)data;
	(void)bytes;
	return length == 0;
}

/* The same of series. */
static void series_that_are_missing(void **state)
{
	struct hg_trace_tree *tree;
	(void)state;
	const struct hg_spacetime_info *series;
	assert_int_equal(hg_describe_spacetime(NULL, &series), HG_ERROR_USAGE);
	assert_null(series);
	assert_int_equal(hg_dump_spacetime(NULL, write_nothing, NULL), HG_ERROR_USAGE);
	struct hg_spacetime_sites *sites;
	const struct hg_spacetime_choice last = {.of = HG_SPACETIME_LAST};
	assert_int_equal(hg_list_spacetime_sites(NULL, &last, &sites), HG_ERROR_USAGE);
	assert_null(sites);
	hg_spacetime_sites_release(NULL);
	struct hg_spacetime_trend *trend;
	assert_int_equal(hg_list_spacetime_trend(NULL, HG_SPACETIME_LIVE, &trend), HG_ERROR_USAGE);
	assert_null(trend);
	hg_spacetime_trend_release(NULL);
	struct hg_spacetime_call_counts *counts;
	assert_int_equal(hg_count_spacetime_calls(NULL, &counts), HG_ERROR_USAGE);
	assert_null(counts);
	hg_spacetime_call_counts_release(NULL);
	const struct hg_spacetime_view view = {.size = sizeof(view)};
	struct hg_trace_stacks *stacks_of_series;
	assert_int_equal(
		hg_list_spacetime_calls(NULL, &view, HG_TRACE_BY_NAME, &tree), HG_ERROR_USAGE);
	assert_int_equal(hg_list_spacetime_callers(NULL, &view, NULL, &tree), HG_ERROR_USAGE);
	assert_int_equal(hg_list_spacetime_stacks(NULL, &view, &stacks_of_series), HG_ERROR_USAGE);
	assert_int_equal(hg_spacetime_set_program(NULL, "program"), HG_ERROR_USAGE);
	assert_null(tree);
}

/* Traces that are missing, and questions that there are not. */
static void traces_that_are_missing(void **state)
{
	struct hg_trace *trace = (void *)&session;
	const struct hg_trace_info *info;
	struct hg_trace_rows *rows;
	struct hg_trace_tree *tree;
	(void)state;
	assert_false(hg_is_trace(NULL, TRACE));
	assert_false(hg_is_trace(session, NULL));
	assert_false(hg_is_trace(session, "/nonexistent/trace"));
	assert_false(hg_is_trace(session, "tests/fixtures/README.md"));
	assert_true(hg_is_trace(session, TRACE));
	assert_int_equal(hg_trace_open(NULL, TRACE, NULL, &trace), HG_ERROR_USAGE);
	assert_null(trace);
	assert_usage(hg_trace_open(session, NULL, NULL, &trace));
	assert_usage(hg_trace_open(session, TRACE, NULL, NULL));
	assert_int_equal(hg_describe_trace(NULL, &info), HG_ERROR_USAGE);
	assert_int_equal(hg_dump_trace(NULL, write_nothing, NULL), HG_ERROR_USAGE);
	assert_int_equal(hg_list_trace(NULL, HG_TRACE_BY_LOCATION, &rows), HG_ERROR_USAGE);
	assert_int_equal(hg_list_trace_calls(NULL, HG_TRACE_BY_NAME, &tree), HG_ERROR_USAGE);
	struct hg_hotspots *hotspots;
	assert_int_equal(hg_list_hotspots(NULL, &hotspots), HG_ERROR_USAGE);
	assert_null(hotspots);
	hg_hotspots_release(NULL);
	struct hg_trace_course *course;
	assert_int_equal(hg_list_trace_course(NULL, 9, &course), HG_ERROR_USAGE);
	hg_trace_course_release(NULL);
	assert_null(hg_trace_header(NULL));
	assert_null(hg_trace_last_losses(NULL));
	struct hg_trace_callers_options callers = {.size = 1};
	assert_int_equal(hg_list_trace_callers(NULL, NULL, &tree), HG_ERROR_USAGE);
	struct hg_trace_copy_options copy = {.size = sizeof(copy)};
	assert_int_equal(hg_copy_trace(NULL, NULL, write_nothing, NULL), HG_ERROR_USAGE);
	struct hg_trace_bands *bands;
	assert_int_equal(hg_list_trace_bands(NULL, 9, 9, &bands), HG_ERROR_USAGE);
	hg_trace_bands_release(NULL);
	struct hg_hot_paths *paths;
	assert_int_equal(hg_list_hot_paths(NULL, &paths), HG_ERROR_USAGE);
	hg_hot_paths_release(NULL);
	struct hg_trace_stacks *stacks;
	assert_int_equal(hg_list_trace_stacks(NULL, HG_TRACE_AT_END, 0, &stacks), HG_ERROR_USAGE);
	hg_trace_stacks_release(NULL);
	struct hg_trace_filter filter;
	hg_trace_filter_init(&filter);
	assert_int_equal(hg_trace_set_filter(NULL, &filter), HG_ERROR_USAGE);
	hg_trace_rows_release(NULL);
	hg_trace_tree_release(NULL);
	hg_trace_close(NULL);
	assert_int_equal(hg_trace_open(session, TRACE, NULL, &trace), HG_OK);
	assert_usage(hg_describe_trace(trace, NULL));
	filter.functions = (struct hg_trace_function_filter[65]){{.name = "f"}};
	filter.function_count = 65;
	assert_usage(hg_trace_set_filter(trace, &filter));
	filter.functions = (struct hg_trace_function_filter[1]){{.name = NULL}};
	filter.function_count = 1;
	assert_usage(hg_trace_set_filter(trace, &filter));
	assert_usage(hg_list_trace_callers(trace, &callers, &tree));
	assert_int_equal(hg_list_trace_callers(trace, NULL, &tree), HG_OK);
	hg_trace_tree_release(&tree);
	assert_usage(hg_list_trace_stacks(trace, (enum hg_trace_moment_of)9, 0, &stacks));
	assert_null(stacks);
	assert_usage(hg_list_trace_bands(trace, 0, 0, &bands));
	assert_usage(hg_list_trace_bands(trace, 10001, 0, &bands));
	assert_null(bands);
	assert_usage(hg_copy_trace(trace, NULL, NULL, NULL));
	assert_usage(hg_copy_trace(trace, &copy, write_nothing, NULL));
	assert_int_equal(hg_copy_trace(trace, NULL, write_nothing, NULL), HG_ERROR_OUTPUT);
	filter.size = 1;
	assert_usage(hg_trace_set_filter(trace, &filter));
	assert_int_equal(hg_trace_set_filter(trace, NULL), HG_OK);
	assert_usage(hg_list_trace(trace, (enum hg_trace_key)9, &rows));
	assert_null(rows);
	assert_usage(hg_list_trace_calls(trace, (enum hg_trace_order)9, &tree));
	assert_usage(hg_dump_trace(trace, NULL, NULL));
	assert_usage(hg_list_trace_course(trace, 0, &course));
	assert_usage(hg_list_trace_course(trace, UINT64_MAX, &course));
	assert_null(course);
	assert_int_equal(hg_dump_trace(trace, write_nothing, NULL), HG_ERROR_OUTPUT);
	hg_trace_close(trace);
}

/* Two traces that cannot be compared, and two that can. */
static void differences_of_traces(void **state)
{
	struct hg_trace *trace, *series;
	struct hg_trace_diff *diff;
	struct hg_trace_diff_options options = {.size = sizeof(options)};
	struct hg_session *other;
	(void)state;
	hg_trace_diff_release(NULL);
	assert_int_equal(hg_trace_open(session, TRACE, NULL, &trace), HG_OK);
	assert_int_equal(hg_trace_open(session, SERIES, NULL, &series), HG_OK);
	diff = (void *)trace;
	assert_int_equal(hg_diff_traces(NULL, trace, NULL, &diff), HG_ERROR_USAGE);
	assert_null(diff);
	assert_int_equal(hg_diff_traces(trace, NULL, NULL, &diff), HG_ERROR_USAGE);
	assert_usage(hg_diff_traces(trace, trace, NULL, NULL));
	assert_usage(hg_diff_traces(trace, series, NULL, &diff));
	options.size = 1;
	assert_usage(hg_diff_traces(trace, trace, &options, &diff));
	options.size = sizeof(options);
	options.by = (enum hg_trace_diff_key)9;
	assert_usage(hg_diff_traces(trace, trace, &options, &diff));
	options.by = HG_TRACE_DIFF_FUNCTION;
	assert_usage(hg_diff_traces(series, series, &options, &diff));
	options.count = HG_TRACE_DIFF_MEASURES;
	assert_usage(hg_diff_traces(trace, trace, &options, &diff));
	options.count = HG_TRACE_DIFF_BLOCKS;
	assert_usage(hg_diff_traces(trace, trace, &options, &diff));
	assert_null(diff);
	assert_int_equal(hg_session_open(NULL, &other), HG_OK);
	struct hg_trace *elsewhere;
	assert_int_equal(hg_trace_open(other, TRACE, NULL, &elsewhere), HG_OK);
	assert_usage(hg_diff_traces(elsewhere, trace, NULL, &diff));
	hg_trace_close(elsewhere);
	hg_session_close(other);

	assert_int_equal(hg_diff_traces(trace, trace, NULL, &diff), HG_OK);
	assert_int_equal(diff->count, 2);
	assert_int_equal(diff->nodes[0]->samples_before, 33);
	assert_int_equal(diff->nodes[1]->samples_after, 33);
	assert_int_equal(diff->nodes[1]->changes[HG_TRACE_DIFF_ALLOCATED].after, 264000000);
	/* 8 bytes of a word; of 33 samples at 1e-6 each, the root of 66 and of 1 - 1e-6. */
	assert_true(diff->nodes[1]->changes[HG_TRACE_DIFF_ALLOCATED].error >= 64992275 &&
		    diff->nodes[1]->changes[HG_TRACE_DIFF_ALLOCATED].error <= 64992308);
	assert_false(diff->nodes[1]->changed);
	assert_int_equal(diff->newer.trace->end_us, 81722);
	assert_null(diff->newer.series);
	hg_trace_diff_release(&diff);
	assert_null(diff);
	hg_trace_close(trace);
	hg_trace_close(series);
}

static void distributions_that_are_missing(void **state)
{
	struct hg_trace *trace;
	struct hg_trace_distribution *distribution;
	struct hg_trace_statistics_options statistics = {.size = 1};
	(void)state;
	assert_int_equal(hg_list_trace_sizes(NULL, NULL, &distribution), HG_ERROR_USAGE);
	assert_null(distribution);
	assert_int_equal(hg_list_trace_lifetimes(NULL, NULL, &distribution), HG_ERROR_USAGE);
	assert_null(distribution);
	hg_trace_distribution_release(NULL);
	assert_int_equal(hg_trace_open(session, TRACE, NULL, &trace), HG_OK);
	assert_usage(hg_list_trace_sizes(trace, &statistics, &distribution));
	assert_null(distribution);
	assert_usage(hg_list_trace_lifetimes(trace, &statistics, &distribution));
	assert_usage(hg_list_trace_sizes(trace, NULL, NULL));
	assert_usage(hg_list_trace_lifetimes(trace, NULL, NULL));
	hg_trace_close(trace);
}

/* Of a trace that was decoded by hand: 33 blocks, of which 31 are collected. */
static void distributions_may_be_asked_again(void **state)
{
	struct hg_trace *trace;
	struct hg_trace_distribution *sizes, *lifetimes;
	struct hg_trace_statistics_options options = {.size = sizeof(options)};
	(void)state;
	assert_int_equal(hg_trace_open(session, TRACE, NULL, &trace), HG_OK);
	for (int i = 0; i < 2; i++) {
		options.as_notebooks = i;
		assert_int_equal(hg_list_trace_sizes(trace, &options, &sizes), HG_OK);
		assert_int_equal(hg_list_trace_lifetimes(trace, &options, &lifetimes), HG_OK);
		assert_int_equal(sizes->counts.events, i ? 4 : 33);
		assert_int_equal(lifetimes->counts.events, i ? 4 : 33);
		assert_int_equal(lifetimes->alive, 2);
		assert_string_equal(sizes->parts[0]->name, "all");
		assert_int_equal(sizes->value_count, 1);
		assert_int_equal(sizes->values[0]->value, 3);
		assert_int_equal(sizes->values[0]->every, i ? 33 : 0);
		assert_string_equal(sizes->histograms[0]->name, i ? "to_32" : "powers");
		if (!i)
			assert_int_equal(sizes->counts.blocks, 8250000);
		hg_trace_distribution_release(&sizes);
		hg_trace_distribution_release(&lifetimes);
		assert_null(sizes);
	}
	hg_trace_close(trace);
}

/* The figures of a trace that was decoded by hand, asked for in any order. */
static void traces_may_be_asked_again(void **state)
{
	struct hg_trace *trace;
	const struct hg_trace_info *info;
	struct hg_trace_rows *rows;
	struct hg_trace_tree *tree;
	struct hg_hotspots *hotspots;
	(void)state;
	assert_int_equal(hg_trace_open(session, TRACE, NULL, &trace), HG_OK);
	assert_int_equal(hg_trace_header(trace)->pid, 28543);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(hg_list_trace_calls(trace, HG_TRACE_BY_SAMPLES, &tree), HG_OK);
		assert_int_equal(tree->count, 3);
		assert_int_equal(tree->nodes[2]->own.samples, 33);
		assert_string_equal(tree->nodes[2]->name, "Dune__exe__Trees.make");
		assert_int_equal(hg_describe_trace(trace, &info), HG_OK);
		assert_int_equal(info->allocations, 33);
		assert_int_equal(info->peak_us, 41591);
		assert_int_equal(info->end_us, 81722);
		assert_int_equal(hg_list_trace(trace, HG_TRACE_BY_FUNCTION, &rows), HG_OK);
		assert_int_equal(rows->count, 2);
		assert_int_equal(rows->rows[0]->amounts.samples, 33);
		assert_int_equal(rows->rows[0]->amounts.live, 2);
		assert_int_equal(rows->totals.peak, 2);
		assert_null(hg_trace_last_losses(trace)->first);
		assert_int_equal(hg_list_hotspots(trace, &hotspots), HG_OK);
		assert_int_equal(hotspots->count, 1);
		assert_string_equal(hotspots->rows[0]->file, "trees.ml");
		assert_int_equal(hotspots->rows[0]->place_count, 1);
		assert_int_equal(hotspots->rows[0]->places[0].line, 2);
		assert_int_equal(hotspots->rows[0]->caller_count, 0);
		hg_hotspots_release(&hotspots);
		hg_trace_rows_release(&rows);
		hg_trace_tree_release(&tree);
	}
	hg_trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_constants),
		cmocka_unit_test(keys_that_there_are_not),
		cmocka_unit_test(options_that_are_missing),
		cmocka_unit_test(texts_that_are_missing),
		cmocka_unit_test(texts_without_a_place),
		cmocka_unit_test(nodes_that_there_are_not),
		cmocka_unit_test(numbers_that_there_are_not),
		cmocka_unit_test(rows_that_there_are_not),
		cmocka_unit_test(functions_that_there_are_not),
		cmocka_unit_test(series_that_there_are_not),
		cmocka_unit_test(handles_that_are_missing),
		cmocka_unit_test(places_that_are_missing),
		cmocka_unit_test(the_new_session_tells),
		cmocka_unit_test(roots_lead_to_blocks),
		cmocka_unit_test(captures_without_options),
		cmocka_unit_test(series_that_are_missing),
		cmocka_unit_test(traces_that_are_missing),
		cmocka_unit_test(distributions_that_are_missing),
		cmocka_unit_test(distributions_may_be_asked_again),
		cmocka_unit_test(traces_may_be_asked_again),
		cmocka_unit_test(differences_of_traces),
	};
	return cmocka_run_group_tests(tests, open_snapshot, close_snapshot);
}
