/*
 * Runs of calls that account for much, as the hot paths of memtrace_viewer; exact, where the viewer
 * counts with a tolerance.  A fragment is a run of functions that follow each other on a stack, and
 * stands for what all stacks that it is on allocate.  It is whole if no function can be added at
 * either end without losing some of that.
 *
 * Cursors are the places in the tree where a fragment occurs.  Whole fragments are found from each
 * function inwards; where all that a fragment's cursors began at is called by one function, no
 * fragment that goes on from there is whole either.
 */
#include "query/trace/trace.h"

#include "query/trace/counts.h"
#include "query/trace/preorder.h"

#include "base/grow.h"
#include "query/shared/result.h"

#include <stdlib.h>
#include <string.h>

struct hot_cursor {
	uint32_t begin, end; /* calls: the first one and the last one of the fragment */
};

struct hot_paths {
	struct hg_error *error;
	struct query_counts counts;
	struct hg_trace_amounts *below; /* of each call; the groups' */
	uint32_t *first_child, *next;   /* of calls; 0: none */
	uint64_t least;                 /* samples that a fragment stands for */

	struct hot_cursor *cursors; /* of all fragments to be looked at, the last one's last */
	uint64_t cursor_count, cursor_capacity;
	struct hot_fragment {
		uint64_t first; /* cursor */
		uint32_t length;
	} * fragments;
	uint64_t fragment_count, fragment_capacity;
	struct hot_cursor *children; /* of the fragment that is looked at, by function */
	uint64_t child_count, child_capacity;

	struct hot_path {
		struct hg_trace_amounts amounts;
		uint32_t end, length; /* the call that it ends at, one of them */
	} * paths;
	uint64_t path_count, path_capacity;
};

static uint32_t function_of_call(const struct hot_paths *h, uint32_t call)
{
	return h->counts.calls.nodes[call].function;
}

static enum hg_status add_hot_cursor(struct hot_paths *h, uint32_t begin, uint32_t end)
{
	BASE_TRY(base_grow(
		&h->cursors, h->cursor_count, &h->cursor_capacity, sizeof(*h->cursors), h->error));
	h->cursors[h->cursor_count++] = (struct hot_cursor){begin, end};
	return HG_OK;
}

static enum hg_status add_hot_fragment(struct hot_paths *h, uint64_t first, uint32_t length)
{
	BASE_TRY(base_grow(&h->fragments, h->fragment_count, &h->fragment_capacity,
		sizeof(*h->fragments), h->error));
	h->fragments[h->fragment_count++] = (struct hot_fragment){first, length};
	return HG_OK;
}

/* Whether all of the last cursors, from 'first' on, are called by one function. */
static bool is_always_called_by_one(const struct hot_paths *h, uint64_t first)
{
	const struct query_call *calls = h->counts.calls.nodes;
	uint32_t caller = calls[h->cursors[first].begin].parent;
	for (uint64_t i = first; i < h->cursor_count && caller; i++) {
		uint32_t other = calls[h->cursors[i].begin].parent;
		if (!other || calls[other].function != calls[caller].function)
			return false;
	}
	return caller != 0;
}

static int compare_hot_children(const void *a, const void *b, void *data)
{
	const struct hot_cursor *x = a, *y = b;
	uint32_t one = function_of_call(data, x->end), other = function_of_call(data, y->end);
	if (one != other)
		return one < other ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* What is called at the end of the last fragment, which is taken away. */
static enum hg_status list_hot_children(struct hot_paths *h, uint64_t first)
{
	h->child_count = 0;
	for (uint64_t i = first; i < h->cursor_count; i++) {
		struct hot_cursor *cursor = &h->cursors[i];
		for (uint32_t child = h->first_child[cursor->end]; child; child = h->next[child]) {
			BASE_TRY(base_grow(&h->children, h->child_count, &h->child_capacity,
				sizeof(*h->children), h->error));
			h->children[h->child_count++] = (struct hot_cursor){cursor->begin, child};
		}
	}
	h->cursor_count = first;
	if (h->child_count)
		qsort_r(h->children, h->child_count, sizeof(*h->children), compare_hot_children, h);
	return HG_OK;
}

/* Fragments with one function more, of those that account for enough; the largest one's samples. */
static enum hg_status extend_hot_fragment(struct hot_paths *h, uint32_t length, uint64_t *largest)
{
	*largest = 0;
	for (uint64_t i = 0, end; i < h->child_count; i = end) {
		uint64_t samples = 0, first = h->cursor_count;
		uint32_t function = function_of_call(h, h->children[i].end);
		for (end = i; end < h->child_count &&
			      function_of_call(h, h->children[end].end) == function;
			end++)
			samples += h->below[h->children[end].end].samples;
		*largest = samples > *largest ? samples : *largest;
		if (samples < h->least)
			continue;
		for (uint64_t j = i; j < end; j++)
			BASE_TRY(add_hot_cursor(h, h->children[j].begin, h->children[j].end));
		BASE_TRY(add_hot_fragment(h, first, length + 1));
	}
	return HG_OK;
}

static enum hg_status follow_last_fragment(struct hot_paths *h)
{
	struct hot_fragment fragment = h->fragments[--h->fragment_count];
	struct hot_path path = {.length = fragment.length, .end = h->cursors[fragment.first].end};
	uint64_t largest;
	if (is_always_called_by_one(h, fragment.first)) {
		h->cursor_count = fragment.first;
		return HG_OK;
	}
	for (uint64_t i = fragment.first; i < h->cursor_count; i++)
		query_add_amounts(&path.amounts, &h->below[h->cursors[i].end]);
	BASE_TRY(list_hot_children(h, fragment.first));
	BASE_TRY(extend_hot_fragment(h, fragment.length, &largest));
	if (largest == path.amounts.samples)
		return HG_OK;
	BASE_TRY(base_grow(
		&h->paths, h->path_count, &h->path_capacity, sizeof(*h->paths), h->error));
	h->paths[h->path_count++] = path;
	return HG_OK;
}

/* Calls by function: those of one together. */
static int compare_calls_by_function(const void *a, const void *b, void *data)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t one = function_of_call(data, x), other = function_of_call(data, y);
	if (one != other)
		return one < other ? -1 : 1;
	return x < y ? -1 : x > y;
}

static enum hg_status find_paths_from(struct hot_paths *h, const uint32_t *calls, uint64_t count)
{
	uint64_t samples = 0;
	for (uint64_t i = 0; i < count; i++)
		samples += h->below[calls[i]].samples;
	if (samples < h->least)
		return HG_OK;
	for (uint64_t i = 0; i < count; i++)
		BASE_TRY(add_hot_cursor(h, calls[i], calls[i]));
	BASE_TRY(add_hot_fragment(h, 0, 1));
	while (h->fragment_count)
		BASE_TRY(follow_last_fragment(h));
	return HG_OK;
}

static enum hg_status find_hot_paths(struct hot_paths *h)
{
	uint64_t count = h->counts.calls.count;
	uint32_t *order = calloc(count, sizeof(*order));
	enum hg_status status = HG_OK;
	if (!order)
		return base_no_memory(h->error, count * sizeof(*order));
	for (uint64_t i = 1; i < count; i++)
		order[i - 1] = (uint32_t)i;
	qsort_r(order, count - 1, sizeof(*order), compare_calls_by_function, h);
	for (uint64_t i = 0, end; i + 1 < count && status == HG_OK; i = end) {
		for (end = i; end + 1 < count &&
			      function_of_call(h, order[end]) == function_of_call(h, order[i]);)
			end++;
		status = find_paths_from(h, order + i, end - i);
	}
	free(order);
	return status;
}

/* 0.5 % of what counts, as the viewer has it. */
static enum hg_status prepare_hot_paths(struct hot_paths *h)
{
	enum { PARTS = 200 };
	const struct query_call *calls = h->counts.calls.nodes;
	uint64_t count = h->counts.calls.count, samples = h->counts.alive.totals.samples;
	h->below = calloc(count, sizeof(*h->below));
	h->first_child = calloc(count, sizeof(*h->first_child));
	h->next = calloc(count, sizeof(*h->next));
	if (!h->below || !h->first_child || !h->next)
		return base_no_memory(h->error, count * sizeof(*h->below));
	h->least = samples < PARTS ? 1 : (samples + PARTS - 1) / PARTS;
	for (uint64_t i = count; i-- > 1;) {
		uint32_t parent = calls[i].parent;
		query_add_amounts(&h->below[i], &h->counts.alive.groups[i]);
		query_add_amounts(&h->below[parent], &h->below[i]);
		h->next[i] = h->first_child[parent];
		h->first_child[parent] = (uint32_t)i;
	}
	return HG_OK;
}

/* The most first; of those that account for as much the longest, then in the order of the tree. */
static int compare_hot_paths(const void *a, const void *b)
{
	const struct hot_path *x = a, *y = b;
	if (x->amounts.samples != y->amounts.samples)
		return x->amounts.samples < y->amounts.samples ? 1 : -1;
	if (x->length != y->length)
		return x->length < y->length ? 1 : -1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* Whether a path has another one in it; both end at calls of the tree, and go outwards. */
static bool path_contains(
	const struct hot_paths *h, const struct hot_path *path, const struct hot_path *other)
{
	const struct query_call *calls = h->counts.calls.nodes;
	uint32_t from = path->end;
	for (uint32_t left = path->length; left >= other->length; left--) {
		uint32_t a = from, b = other->end, same = 0;
		while (same < other->length && calls[a].function == calls[b].function) {
			same++;
			a = calls[a].parent;
			b = calls[b].parent;
		}
		if (same == other->length)
			return true;
		from = calls[from].parent;
	}
	return false;
}

/* Leaves out what only goes on from a path before it; how many are left. */
static uint64_t drop_extensions(struct hot_paths *h)
{
	uint64_t kept = 0;
	if (h->path_count)
		qsort(h->paths, h->path_count, sizeof(*h->paths), compare_hot_paths);
	for (uint64_t i = 0; i < h->path_count; i++) {
		bool goes_on = false;
		for (uint64_t j = 0; j < kept && !goes_on; j++)
			goes_on = path_contains(h, &h->paths[i], &h->paths[j]);
		if (!goes_on)
			h->paths[kept++] = h->paths[i];
	}
	return kept;
}

static enum hg_status make_hot_paths(struct hot_paths *h, struct hg_hot_paths *out)
{
	uint64_t count = drop_extensions(h), functions = 0;
	for (uint64_t i = 0; i < count; i++)
		functions += h->paths[i].length;
	struct hg_hot_path *rows = calloc(count + 1, sizeof(*rows));
	const char **names = calloc(functions + 1, sizeof(*names));
	query_keep(out, names);
	if (!rows || !names) {
		free(rows);
		return base_no_memory(h->error, functions * sizeof(*names));
	}
	for (uint64_t i = 0; i < count; i++) {
		const struct hot_path *path = &h->paths[i];
		uint32_t call = path->end;
		rows[i] = (struct hg_hot_path){path->amounts, path->length, names};
		for (uint32_t j = path->length; j-- > 0;) {
			names[j] = query_call_name(&h->counts.calls, call);
			call = h->counts.calls.nodes[call].parent;
		}
		names += path->length;
	}
	out->count = count;
	out->totals = h->counts.alive.totals;
	return query_keep_rows_of(h->error, out, rows, count, sizeof(*rows), &out->rows);
}

static enum hg_status fill_hot_paths(
	struct hot_paths *h, struct hg_trace *trace, struct hg_hot_paths *out)
{
	BASE_TRY(query_counts_init(&h->counts, trace, QUERY_FUNCTIONS, &out->losses));
	BASE_TRY(prepare_hot_paths(h));
	BASE_TRY(find_hot_paths(h));
	return make_hot_paths(h, out);
}

enum hg_status hg_list_hot_paths(struct hg_trace *trace, struct hg_hot_paths **out)
{
	BASE_TRY(query_trace_begin(trace, (void *)out));
	struct hot_paths h = {.error = &trace->session->error};
	BASE_TRY(query_answer_of(h.error, sizeof(**out), out));
	enum hg_status status = fill_hot_paths(&h, trace, *out);
	query_counts_release(&h.counts);
	free(h.below);
	free(h.first_child);
	free(h.next);
	free(h.cursors);
	free(h.fragments);
	free(h.children);
	free(h.paths);
	if (status != HG_OK)
		hg_hot_paths_release(out);
	return status;
}

void hg_hot_paths_release(struct hg_hot_paths **paths)
{
	query_free(paths);
}
