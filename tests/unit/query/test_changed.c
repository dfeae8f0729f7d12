/*
 * A file that somebody writes to after its analysis: answers may be wrong, but blocks that were not
 * there before lead nowhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef FIXTURES
#define FIXTURES "tests/fixtures"
#endif

/* Opens a copy of a snapshot that is not compressed, and analyses it. */
static struct hg_snapshot *open_copy(struct hg_session *session, const char *path, char copy[64])
{
	struct base_file file;
	struct hg_error error;
	struct hg_input input = {.size = sizeof(input), .path = copy};
	struct hg_snapshot *snapshot;
	strcpy(copy, "/tmp/heapgraph-changed.XXXXXX");
	int fd = mkstemp(copy);
	assert_true(fd >= 0);
	assert_int_equal(base_file_open(&file, path, NULL, &error), HG_OK);
	assert_int_equal(write(fd, file.bytes, file.size), file.size);
	base_file_close(&file);
	close(fd);
	assert_int_equal(hg_snapshot_open(session, &input, &snapshot), HG_OK);
	assert_int_equal(hg_snapshot_analyse(snapshot), HG_OK);
	return snapshot;
}

/* Puts the header of a block with one field wherever there is a word. */
static void fill_with_headers(const char *path, uint64_t header)
{
	FILE *file = fopen(path, "r+");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	long words = ftell(file) / 8;
	rewind(file);
	while (words-- > 0)
		assert_int_equal(fwrite(&header, sizeof(header), 1, file), 1);
	fclose(file);
}

static void ask_for_tables(struct hg_snapshot *snapshot)
{
	struct hg_top *top;
	struct hg_types *types;
	struct hg_outside *outside;
	struct hg_clashes *clashes;
	struct hg_suspects *suspects;
	struct hg_root_slots *slots;
	const struct hg_totals *totals;
	hg_count_totals(snapshot, &totals);
	for (unsigned key = 0; key < HG_KEYS; key++)
		if (hg_list_top(snapshot, (enum hg_key)key, NULL, &top) == HG_OK)
			hg_top_release(&top);
	if (hg_list_types(snapshot, true, &types) == HG_OK)
		hg_types_release(&types);
	if (hg_list_outside(snapshot, &outside) == HG_OK)
		hg_outside_release(&outside);
	if (hg_list_clashes(snapshot, &clashes) == HG_OK)
		hg_clashes_release(&clashes);
	if (hg_list_suspects(snapshot, &suspects) == HG_OK)
		hg_suspects_release(&suspects);
	if (hg_list_root_slots(snapshot, NULL, &slots) == HG_OK)
		hg_root_slots_release(&slots);
}

static void ask_for_blocks(struct hg_snapshot *snapshot)
{
	static const char *const patterns[] = {"loc:.", "type:.", "root:."};
	struct hg_selection *selection;
	struct hg_why *why;
	struct hg_tree *tree;
	struct hg_picture *picture;
	struct hg_object *object;
	struct hg_objects *objects;
	uint64_t blocks = hg_snapshot_info(snapshot)->blocks;
	char text[256];
	for (unsigned i = 0; i < 3; i++) {
		if (hg_select(snapshot, patterns[i], &selection) != HG_OK)
			continue;
		if (hg_explain_nodes(snapshot, selection->nodes, selection->count, &why) == HG_OK)
			hg_why_release(&why);
		hg_selection_release(&selection);
	}
	if (hg_list_tree(snapshot, NULL, &tree) == HG_OK)
		hg_tree_release(&tree);
	if (hg_draw_picture(snapshot, NULL, &picture) == HG_OK)
		hg_picture_release(&picture);
	for (uint64_t node = 0; node < blocks; node += 1 + blocks / 20) {
		if (hg_describe_object(snapshot, (hg_node)node, 0, 0, &object) == HG_OK)
			hg_object_release(&object);
		hg_value_text(snapshot, (hg_node)node, NULL, text, sizeof(text));
		hg_field_name(snapshot, (hg_node)node, 0, text, sizeof(text));
	}
	assert_int_equal(hg_objects_open(snapshot, &objects), HG_OK);
	uint64_t met = 0;
	while (hg_objects_next(objects))
		met++;
	assert_true(met <= blocks);
	hg_objects_close(objects);
}

static void more_blocks_than_before(void **state)
{
	static const char *const paths[] = {FIXTURES "/cores/tiny-4.13.1.core.zst",
		FIXTURES "/cores/fibers-5.3.0.core.zst", FIXTURES "/v01/tiny/heap.dump.29370.0",
		FIXTURES "/ocp/byte-noloc/memprof.8911.9.after_major_collection.dump",
		FIXTURES "/v02/objs-opt/memprof.28958.0.dump"};
	/* One field: of OCaml, and of a memprof image with 22 reserved bits. */
	static const uint64_t headers[] = {0x700, 0x0101010101010101};
	(void)state;
	for (unsigned i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		for (unsigned j = 0; j < sizeof(headers) / sizeof(*headers); j++) {
			struct hg_session *session;
			char copy[64];
			assert_int_equal(hg_session_open(NULL, &session), HG_OK);
			struct hg_snapshot *snapshot = open_copy(session, paths[i], copy);
			fill_with_headers(copy, headers[j]);
			ask_for_tables(snapshot);
			ask_for_blocks(snapshot);
			hg_snapshot_close(snapshot);
			hg_session_close(session);
			unlink(copy);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(more_blocks_than_before)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
