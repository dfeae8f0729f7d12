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
		assert_null(hg_format_name(beyond[i]));
	}
	enum hg_key key;
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
	assert_usage(hg_explain_nodes(snapshot, NULL, 0, &why));
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
			.directory_count = 2}};
	for (unsigned i = 0; i < sizeof(inputs) / sizeof(*inputs); i++) {
		assert_usage(hg_snapshot_open(session, &inputs[i], &other));
		assert_null(other);
	}
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
		assert_int_equal(hg_location_name(snapshot, number, name, sizeof(name)), 0);
		for (unsigned part = 0; part < 6; part++)
			assert_int_equal(hg_declared_text(snapshot, number,
						 (enum hg_declared_part)part, name, sizeof(name)),
				0);
		assert_int_equal(hg_declared_text(snapshot, 0, (enum hg_declared_part)number, name,
					 sizeof(name)),
			0);
		hg_class_parts(snapshot, number, &type, &location);
		assert_int_equal(type + location, 0);
		assert_null(hg_snapshot_chunk(snapshot, number));
		assert_int_equal(hg_field_name(snapshot, 0, number, name, sizeof(name)), 0);
		assert_int_equal(hg_call_frame(snapshot, 0, UINT64_MAX - i, name, sizeof(name)), 0);
	}
	assert_int_equal(hg_block_at(snapshot, UINT64_MAX), HG_NO_NODE);
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
	start_target(&target);
	assert_non_null(getcwd(before, sizeof(before)));
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(hg_process_open(session, target.pid, &process), HG_OK);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_constants),
		cmocka_unit_test(keys_that_there_are_not),
		cmocka_unit_test(options_that_are_missing),
		cmocka_unit_test(texts_that_are_missing),
		cmocka_unit_test(nodes_that_there_are_not),
		cmocka_unit_test(numbers_that_there_are_not),
		cmocka_unit_test(captures_without_options),
	};
	return cmocka_run_group_tests(tests, open_snapshot, close_snapshot);
}
