/*
 * A snapshot in memory, and everything there is to ask about it: what must be true of the answers
 * whatever its bytes are.
 */
#ifndef TESTS_FUZZ_ANSWERS_H
#define TESTS_FUZZ_ANSWERS_H

#include "tests/fuzz/fuzz.h"

#include "heapgraph.h"

#include <sys/mman.h>
#include <unistd.h>

enum { MOST_OBJECTS = 8, MOST_NAMES = 300, TREE_DEPTH = 6, TREE_CHILDREN = 5 };

struct memory_file {
	int fd;
	char path[64];
};

static struct memory_file create(void)
{
	struct memory_file file = {.fd = memfd_create("fuzz", MFD_CLOEXEC)};
	CHECK(file.fd >= 0);
	snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	return file;
}

static void set_file(const struct memory_file *file, const uint8_t *data, size_t size)
{
	CHECK(ftruncate(file->fd, 0) == 0);
	CHECK(size == 0 || pwrite(file->fd, data, size, 0) == (ssize_t)size);
}

static void check_failure(const struct hg_session *session, enum hg_status status)
{
	const struct hg_error *error = hg_session_error(session);
	CHECK(status == HG_ERROR_INPUT || status == HG_ERROR_LIMIT);
	CHECK(error->status == status);
	check_line(error->message, sizeof(error->message));
}

/* A question may fail for want of memory only. */
static bool answered(struct hg_session *session, enum hg_status status)
{
	if (status == HG_OK)
		return true;
	CHECK(status == HG_ERROR_LIMIT);
	check_failure(session, status);
	return false;
}

struct context {
	struct hg_session *session;
	struct hg_snapshot *snapshot;
	const struct hg_totals *totals;
	struct hg_info info;
	hg_node root;
};

/* Whether edges may be no fields: those of fibers, and to the data of ephemerons. */
static bool has_links(const struct context *c)
{
	return c->info.format == HG_FORMAT_ELFCORE;
}

static void check_totals(struct context *c)
{
	CHECK(hg_count_totals(c->snapshot, &c->totals) == HG_OK);
	const struct hg_totals *t = c->totals;
	CHECK(t->blocks == c->info.blocks && t->bytes == c->info.bytes);
	CHECK(t->reachable_blocks + t->unreachable_blocks == t->blocks);
	CHECK(t->reachable_bytes + t->unreachable_bytes == t->bytes);
	CHECK(t->retained_bytes == t->reachable_bytes);
	CHECK(t->located_blocks <= t->blocks && t->located_bytes <= t->bytes);
	CHECK(t->recovered_blocks <= t->located_blocks);
	CHECK(t->root_targets <= t->roots && t->infix_pointers <= t->pointers);
	CHECK(t->reachable_blocks == 0 || t->root_targets > 0);
	CHECK(c->root == t->blocks + t->roots);
	if (t->offheap_bytes == HG_UNKNOWN)
		CHECK(t->retained_offheap_bytes == 0);
	else
		CHECK(t->retained_offheap_bytes <= t->offheap_bytes &&
			t->offheap_bytes < (uint64_t)1 << 48);
}

/* What is off-heap lies in the memory of the process, and in no part of it twice. */
static void check_memory(struct context *c)
{
	const struct hg_memory *m;
	CHECK(hg_reconcile_memory(c->snapshot, &m) == HG_OK);
	if (!m)
		return;
	CHECK(m->total + m->overcounted == m->heap + m->offheap + m->stacks + m->data + m->rest +
						   m->files + m->shared + m->uncounted);
	if (c->totals->offheap_bytes != HG_UNKNOWN)
		CHECK(m->offheap + m->offheap_absent + m->offheap_unplaced ==
			c->totals->offheap_bytes);
}

static void check_names(struct context *c, hg_node node, uint32_t location)
{
	char name[MOST_NAMES], cut[7];
	size_t length = hg_node_name(c->snapshot, node, name, sizeof(name));
	CHECK(length > 0 && strlen(name) <= length);
	CHECK(hg_node_name(c->snapshot, node, cut, sizeof(cut)) == length);
	CHECK(strncmp(name, cut, strlen(cut)) == 0);
	length = hg_location_name(c->snapshot, location, name, sizeof(name));
	CHECK((length == 0) == (location == 0));
}

/* Every block in order of addresses; each can be found by its address. */
static void check_objects(struct context *c)
{
	struct hg_objects *objects;
	const struct hg_block *next;
	uint64_t count = 0, bytes = 0, reachable_bytes = 0, end = 0;
	if (!answered(c->session, hg_objects_open(c->snapshot, &objects)))
		return;
	while ((next = hg_objects_next(objects))) {
		struct hg_block block = *next, again;
		CHECK(block.node == count++ && !block.is_root);
		CHECK(block.address >= end + 8 && block.bytes == 8 * (block.words + 1));
		CHECK(block.words > 0);
		end = block.address + 8 * block.words;
		bytes += block.bytes;
		reachable_bytes += block.reachable ? block.bytes : 0;
		CHECK(block.retained_bytes >= block.bytes || !block.reachable);
		CHECK(block.reachable == (block.idom != HG_NO_NODE));
		CHECK(block.idom != block.node && (block.idom <= c->root || !block.reachable));
		again = *hg_describe_block(c->snapshot, block.node);
		CHECK(memcmp(&again.address, &block.address, 3 * sizeof(uint64_t)) == 0);
		CHECK(again.idom == block.idom && again.retained_bytes == block.retained_bytes);
		CHECK(hg_block_at(c->snapshot, block.address) == block.node);
		CHECK(hg_block_at(c->snapshot, end - 1) == block.node);
		if (count <= MOST_NAMES)
			check_names(c, block.node, block.location);
	}
	hg_objects_close(objects);
	CHECK(count == c->totals->blocks && bytes == c->totals->bytes);
	CHECK(reachable_bytes == c->totals->reachable_bytes);
}

static void check_row(struct context *c, const struct hg_top *top, size_t i)
{
	char name[MOST_NAMES];
	const struct hg_class *row = top->rows[i];
	CHECK(i == 0 || top->rows[i - 1]->retained_bytes >= row->retained_bytes);
	CHECK(row->confidence <= HG_EXACT);
	CHECK(row->retained_bytes <= c->totals->reachable_bytes);
	if (top->key == HG_BY_ROOT) {
		CHECK(hg_kind_of_root(c->snapshot, row->id) < HG_ROOT_KINDS);
		CHECK(hg_root_name(c->snapshot, row->id, name, sizeof(name)) > 0);
		CHECK(row->blocks <= c->totals->reachable_blocks &&
			row->bytes <= c->totals->reachable_bytes);
	} else {
		CHECK(row->blocks > 0 && row->bytes >= 16 * row->blocks);
		hg_class_name(c->snapshot, top->key, row->id, name, sizeof(name));
	}
}

static void check_top(struct context *c, enum hg_key key)
{
	struct hg_top *top;
	uint64_t blocks = 0, bytes = 0;
	if (!answered(c->session, hg_list_top(c->snapshot, key, NULL, &top)))
		return;
	for (size_t i = 0; i < top->count; i++) {
		check_row(c, top, i);
		blocks += top->rows[i]->blocks;
		bytes += top->rows[i]->bytes;
	}
	CHECK(top->blocks == blocks && top->bytes == bytes);
	if (key == HG_BY_ROOT)
		/* Stacks of fibers lead to several blocks. */
		CHECK(top->count == c->totals->roots && blocks >= c->totals->root_targets);
	else if (key == HG_BY_FUNCTION)
		/* Closures only. */
		CHECK(blocks <= c->totals->blocks && bytes <= c->totals->bytes);
	else
		CHECK(blocks == c->totals->blocks && bytes == c->totals->bytes);
	/* Several roots may lead to one block. */
	if (key != HG_BY_ROOT && c->totals->offheap_bytes != HG_UNKNOWN)
		CHECK(top->offheap_bytes <= c->totals->offheap_bytes);
	hg_top_release(&top);
	hg_top_release(&top);
}

/* Nothing grows between a snapshot and itself. */
static void check_diff(struct context *c, enum hg_key key)
{
	struct hg_diff *diff;
	if (!answered(c->session, hg_compare_snapshots(c->snapshot, c->snapshot, key, &diff)))
		return;
	CHECK(diff->count == 0);
	hg_diff_release(&diff);
}

static void check_tree(struct context *c, hg_node from)
{
	struct hg_tree *tree;
	struct hg_block block;
	struct hg_tree_options options = {.size = sizeof(options),
		.from = from,
		.max_depth = TREE_DEPTH,
		.max_children = TREE_CHILDREN};
	if (!answered(c->session, hg_list_tree(c->snapshot, &options, &tree)))
		return;
	CHECK(tree->count > 0 && tree->rows[0]->depth == 0);
	CHECK(tree->rows[0]->node == (from == HG_NO_NODE ? c->root : from));
	block = *hg_describe_block(c->snapshot, tree->rows[0]->node);
	uint64_t below = tree->rows[0]->hidden_bytes, children = tree->rows[0]->hidden_children;
	uint64_t retained = block.retained_bytes - block.bytes;
	for (size_t i = 1; i < tree->count; i++) {
		const struct hg_tree_row *row = tree->rows[i];
		block = *hg_describe_block(c->snapshot, row->node);
		CHECK(row->depth > 0 && row->depth <= tree->rows[i - 1]->depth + 1);
		CHECK(row->depth <= TREE_DEPTH && row->hidden_bytes <= block.retained_bytes);
		CHECK(row->hidden_children <= row->children && block.reachable);
		below += row->depth == 1 ? block.retained_bytes : 0;
		children += row->depth == 1;
	}
	CHECK(children == tree->rows[0]->children && below == retained);
	hg_tree_release(&tree);
}

/* What is reachable has a holder. */
static void check_referrers(struct context *c, const struct hg_selection *selection)
{
	struct hg_referrers *r;
	uint64_t targets = 0;
	if (!answered(c->session,
		    hg_list_referrers(c->snapshot, selection->nodes, selection->count, &r)))
		return;
	CHECK(r->reached + r->unreachable == selection->count);
	for (size_t i = 0; i < r->count; i++) {
		const struct hg_referring *row = r->rows[i];
		CHECK(row->dominated <= row->targets && row->targets <= row->pointers);
		CHECK(row->holders <= row->pointers && row->targets <= r->reached);
		CHECK(row->holders > 0 && row->node < c->root && *row->name);
		CHECK(i == 0 || r->rows[i - 1]->pointers >= row->pointers);
		targets += row->targets;
	}
	CHECK(targets >= r->reached || selection->blocks < selection->count);
	hg_referrers_release(&r);
}

static void check_nearest(struct context *c, const char *pattern)
{
	struct hg_nearest *nearest;
	if (!answered(c->session, hg_find_nearest(c->snapshot, pattern, &nearest)))
		return;
	CHECK(nearest->count <= 5 && strstr(nearest->message, "nothing matches"));
	for (size_t i = 0; i < nearest->count; i++)
		CHECK(*nearest->patterns[i]);
	hg_nearest_release(&nearest);
}

static void check_why(struct context *c, const char *pattern)
{
	struct hg_selection *selection;
	struct hg_why *why;
	if (!answered(c->session, hg_select(c->snapshot, pattern, &selection)))
		return;
	CHECK(selection->retained_bytes <= c->totals->reachable_bytes);
	CHECK(selection->blocks <= selection->count && selection->bytes <= c->totals->bytes);
	for (size_t i = 1; i < selection->count; i++)
		CHECK(selection->nodes[i - 1] < selection->nodes[i]);
	if (selection->count && answered(c->session, hg_explain_nodes(c->snapshot, selection->nodes,
							     selection->count, &why))) {
		CHECK(why->selected == selection->count);
		CHECK(why->reached + why->unreachable == why->selected);
		CHECK((why->steps_count > 0) == (why->reached > 0));
		CHECK((why->rows_count > 0) == (why->reached > 0));
		uint64_t targets = 0;
		for (size_t i = 0; i < why->rows_count; i++)
			targets += why->rows[i]->depth == 0 ? why->rows[i]->targets : 0;
		CHECK(targets == why->reached);
		for (size_t i = 0; i < why->steps_count; i++)
			CHECK((i == 0) == (why->steps[i]->node >= c->totals->blocks) ||
				has_links(c));
		for (size_t i = 2; i < why->steps_count; i++)
			CHECK(why->steps[i]->field != HG_UNKNOWN || has_links(c));
		size_t step = 0;
		for (size_t i = 0; i < why->runs_count; i++) {
			const struct hg_step_run *run = why->runs[i];
			CHECK(run->first == step && run->period >= 1 && run->times >= 1);
			step += run->period * run->times;
		}
		CHECK(step == why->steps_count);
		uint64_t roots = 0;
		for (size_t i = 0; i < why->also_held_count; i++)
			roots += why->also_held[i]->roots;
		CHECK(roots == why->also_held_roots);
		hg_why_release(&why);
		check_referrers(c, selection);
	}
	hg_selection_release(&selection);
}

static void check_picture(struct context *c)
{
	struct hg_picture *picture;
	struct hg_picture_options options = {
		.size = sizeof(options), .from = HG_NO_NODE, .max_nodes = 10};
	if (!answered(c->session, hg_draw_picture(c->snapshot, &options, &picture)))
		return;
	CHECK(picture->nodes_count > 0 && picture->nodes[0]->node == c->root);
	CHECK(picture->total_bytes == c->totals->retained_bytes);
	uint64_t drawn = 0;
	for (size_t i = 0; i < picture->nodes_count; i++) {
		const struct hg_picture_node *node = picture->nodes[i];
		CHECK((node->node == HG_NO_NODE) == (node->folded > 0));
		CHECK(node->retained_bytes <= picture->total_bytes);
		CHECK(node->bytes <= node->retained_bytes);
		drawn += node->folded == 0;
	}
	CHECK(drawn <= options.max_nodes);
	for (size_t i = 0; i < picture->edges_count; i++) {
		CHECK(picture->edges[i]->from < picture->nodes_count);
		CHECK(picture->edges[i]->to < picture->nodes_count);
	}
	hg_picture_release(&picture);
}

static void check_suspects(struct context *c)
{
	struct hg_suspects *suspects;
	if (!answered(c->session, hg_list_suspects(c->snapshot, &suspects)))
		return;
	for (size_t i = 0; i < suspects->count; i++) {
		const struct hg_suspect *s = suspects->rows[i];
		CHECK(i == 0 || suspects->rows[i - 1]->retained_bytes >= s->retained_bytes);
		CHECK(s->node <= c->root && s->accumulation <= c->root);
		CHECK(10 * s->retained_bytes + 9 >= c->totals->reachable_bytes);
		CHECK(s->chain >= 1 && s->chain <= HG_LONGEST_CHAIN);
		CHECK(s->location_bytes <= s->retained_bytes);
	}
	hg_suspects_release(&suspects);
}

static void check_object(struct context *c, hg_node node)
{
	struct hg_object *o;
	uint64_t retained = 0;
	if (!answered(c->session, hg_describe_object(c->snapshot, node, 100, 0, &o)))
		return;
	CHECK(o->block->node == node && o->fields_count <= o->block->words);
	CHECK(o->referrers_count == o->referrers_total);
	CHECK(o->content_size <= 8 * o->block->words);
	for (size_t i = 0; i < o->fields_count; i++)
		CHECK((o->fields[i]->kind == HG_VALUE_BLOCK) == (o->fields[i]->node != HG_NO_NODE));
	for (size_t i = 0; i < o->referrers_count; i++) {
		CHECK(o->referrers[i]->node < c->root);
		CHECK(i == 0 || has_links(c) || o->referrers[i - 1]->node < o->referrers[i]->node);
	}
	CHECK(o->block->reachable == (o->dominators_count > 0));
	CHECK(!o->block->reachable || o->referrers_total > 0 || has_links(c));
	for (size_t i = 0; i < o->dominators_count; i++) {
		struct hg_block holder = *hg_describe_block(c->snapshot, o->dominators[i]);
		CHECK(holder.retained_bytes >= o->block->retained_bytes);
		CHECK(holder.retained_bytes >= retained);
		retained = holder.retained_bytes;
	}
	CHECK(!o->block->reachable || o->dominators[o->dominators_count - 1] == c->root);
	hg_object_release(&o);
}

static void check_some_objects(struct context *c)
{
	uint64_t count = c->totals->blocks;
	uint64_t step = count / MOST_OBJECTS + 1;
	for (uint64_t node = 0; node < count; node += step) {
		char pattern[32];
		struct hg_block block;
		check_object(c, (hg_node)node);
		block = *hg_describe_block(c->snapshot, (hg_node)node);
		snprintf(
			pattern, sizeof(pattern), "addr:0x%llx", (unsigned long long)block.address);
		check_why(c, pattern);
		if (block.reachable)
			check_tree(c, (hg_node)node);
	}
}

#include "tests/fuzz/answers_retention.h"

static void check_answers(struct context *c)
{
	c->root = hg_virtual_root(c->snapshot);
	check_totals(c);
	check_memory(c);
	check_objects(c);
	for (enum hg_key key = 0; key < HG_KEYS; key++) {
		check_top(c, key);
		check_diff(c, key);
	}
	check_tree(c, HG_NO_NODE);
	check_why(c, "loc:.");
	check_why(c, "root:.");
	check_nearest(c, "Cahce.entyr list");
	check_nearest(c, "root:tabel");
	check_nearest(c, "loc:a.ml:1");
	check_picture(c);
	check_suspects(c);
	check_retention(c);
	check_sets(c);
	check_waste(c);
	check_edges(c);
	check_growth(c);
	check_some_objects(c);
}

static void check_info(struct context *c, const struct hg_input *input)
{
	const struct hg_chunk *chunk;
	uint64_t end = 0, bytes = 0, heap = 0, count = 0, chunks = 0;
	c->info = *hg_snapshot_info(c->snapshot);
	CHECK(!input->format || strcmp(hg_format_name(c->info.format), input->format) == 0);
	CHECK(input->partial || !*c->info.partial);
	CHECK(!*c->info.partial == (c->info.partial_offset == HG_NO_OFFSET));
	CHECK(!input->profile ||
		(c->info.locations == 2 && strcmp(c->info.profile, input->profile) == 0));
	for (; (chunk = hg_snapshot_chunk(c->snapshot, count)); count++) {
		CHECK(chunk->address >= end);
		end = chunk->address + chunk->bytes;
		bytes += chunk->bytes;
		if (chunk->segment != HG_SEGMENT_HEAP)
			continue;
		heap += chunk->bytes;
		chunks++;
	}
	CHECK(chunks == c->info.chunks && heap == c->info.chunk_bytes);
	CHECK(c->info.bytes <= bytes && c->info.blocks <= c->info.bytes / 16);
}

static void run(struct hg_session *session, const struct hg_input *input)
{
	struct context c = {.session = session};
	char line[512];
	if (hg_identify(session, input->path, line, sizeof(line)) == HG_OK)
		check_line(line, sizeof(line));
	enum hg_status status = hg_snapshot_open(session, input, &c.snapshot);
	if (status == HG_OK) {
		check_info(&c, input);
		status = hg_snapshot_analyse(c.snapshot);
		if (status == HG_OK)
			check_answers(&c);
		else
			check_failure(session, status);
	} else {
		CHECK(!c.snapshot);
		check_failure(session, status);
	}
	hg_snapshot_close(c.snapshot);
}

/* Opens, analyses and asks; all memory is given back. */
static void ask_everything(const struct hg_options *options, const struct hg_input *input)
{
	struct hg_session *session;
	uint64_t used, peak;
	CHECK(hg_session_open(options, &session) == HG_OK);
	run(session, input);
	hg_session_memory(session, &used, &peak);
	CHECK(used == 0 && (!options->max_memory || peak <= options->max_memory));
	hg_session_close(session);
}

#endif
