/* Patterns: which blocks or roots a user means. */
#include "query/shared/result.h"
#include "query/shared/types.h"

#include "base/assert.h"
#include "snapshot/offheap.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum what { BY_ADDRESS, BY_LOCATION, BY_ROOT, BY_TYPE };

struct pattern {
	enum what what;
	uint64_t address;
	const char *literal; /* a type or location as reports print it, or its file or line */
	struct base_pattern regex;
};

static enum hg_status fail_usage(struct hg_snapshot *snapshot, const char *format, const char *text)
	__attribute__((format(printf, 2, 0)));

static enum hg_status fail_usage(struct hg_snapshot *snapshot, const char *format, const char *text)
{
	return base_fail(&snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET, format, text);
}

static enum hg_status parse_address(
	struct hg_snapshot *snapshot, const char *text, struct pattern *out)
{
	char *end;
	out->what = BY_ADDRESS;
	errno = 0;
	out->address = strtoull(text, &end, 16);
	if (errno || *end || strncmp(text, "0x", 2) != 0)
		return fail_usage(snapshot, "'%.200s' is no address like 0x7f1200000010", text);
	return HG_OK;
}

static enum hg_status parse_regex(
	struct hg_snapshot *snapshot, enum what what, const char *text, struct pattern *out)
{
	out->what = what;
	return query_pattern(snapshot, text, &out->regex);
}

/* The whole name, or what stands before one of its colons: the file, the file and line. */
static bool is_name_or_part(const char *name, const char *text)
{
	size_t length = strlen(text);
	return strncmp(name, text, length) == 0 && (name[length] == '\0' || name[length] == ':');
}

static bool is_location(struct hg_snapshot *snapshot, const char *text)
{
	char name[QUERY_LONGEST_NAME];
	for (uint32_t i = 1; i < snapshot->snap.locations.count && *text; i++) {
		hg_location_name(snapshot, i, name, sizeof(name));
		if (is_name_or_part(name, text))
			return true;
	}
	return false;
}

static bool has_digit(const char *text)
{
	for (; *text; text++)
		if (isdigit((unsigned char)*text))
			return true;
	return false;
}

/* Copied from a report it means what it says, though it may look like an expression. */
static enum hg_status parse_bare(
	struct hg_snapshot *snapshot, const char *text, struct pattern *out)
{
	bool is_type = false;
	if (is_location(snapshot, text)) {
		out->what = BY_LOCATION;
		out->literal = text;
		return HG_OK;
	}
	BASE_TRY(query_types_have(snapshot, text, &is_type));
	if (is_type && *text) {
		out->what = BY_TYPE;
		out->literal = text;
		return HG_OK;
	}
	bool like_location = strchr(text, ':') && has_digit(text);
	bool by_type = snapshot->retype.has_types && !like_location;
	return parse_regex(snapshot, by_type ? BY_TYPE : BY_LOCATION, text, out);
}

static enum hg_status parse_pattern(
	struct hg_snapshot *snapshot, const char *text, struct pattern *out)
{
	if (strncmp(text, "addr:", 5) == 0)
		return parse_address(snapshot, text + 5, out);
	if (strncmp(text, "0x", 2) == 0)
		return parse_address(snapshot, text, out);
	if (strncmp(text, "loc:", 4) == 0)
		return parse_regex(snapshot, BY_LOCATION, text + 4, out);
	if (strncmp(text, "root:", 5) == 0)
		return parse_regex(snapshot, BY_ROOT, text + 5, out);
	if (strncmp(text, "type:", 5) == 0)
		return parse_regex(snapshot, BY_TYPE, text + 5, out);
	return parse_bare(snapshot, text, out);
}

struct selecting {
	struct hg_snapshot *snapshot;
	struct hg_selection *out;
	hg_node *nodes;
	uint64_t capacity;
};

static enum hg_status add_selected(struct selecting *s, hg_node node, uint64_t bytes)
{
	struct hg_selection *out = s->out;
	BASE_TRY(query_grow(s->snapshot, &s->nodes, out->count, &s->capacity, sizeof(*s->nodes)));
	s->nodes[out->count++] = node;
	out->bytes += bytes;
	if (node < s->snapshot->snap.block_count)
		out->offheap_bytes += snap_offheap_bytes(&s->snapshot->snap, node);
	out->blocks += node < s->snapshot->snap.block_count;
	return HG_OK;
}

static enum hg_status select_address(struct selecting *s, uint64_t address)
{
	hg_node node = hg_block_at(s->snapshot, address);
	struct hg_block block;
	if (node == HG_NO_NODE)
		return base_fail(&s->snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no block at 0x%llx", (unsigned long long)address);
	query_block(s->snapshot, node, &block);
	return add_selected(s, node, block.bytes);
}

static enum hg_status select_roots(struct selecting *s, const struct base_pattern *regex)
{
	const struct snap *snap = &s->snapshot->snap;
	for (uint64_t i = 0; i < snap->root_count; i++) {
		char name[QUERY_LONGEST_NAME];
		hg_node node = snap_root_node(snap, i);
		bool matches;
		hg_node_name(s->snapshot, node, name, sizeof(name));
		BASE_TRY(base_pattern_match(regex, name, &matches, &s->snapshot->session->error));
		if (matches)
			BASE_TRY(add_selected(s, node, 0));
	}
	return HG_OK;
}

/* Which locations match: each is asked once, not once for each block. */
static enum hg_status match_locations(
	struct hg_snapshot *snapshot, const struct pattern *pattern, bool *matched)
{
	struct hg_error *error = &snapshot->session->error;
	for (uint32_t i = 1; i < snapshot->snap.locations.count; i++) {
		char name[QUERY_LONGEST_NAME];
		hg_location_name(snapshot, i, name, sizeof(name));
		if (pattern->literal)
			matched[i] = is_name_or_part(name, pattern->literal);
		else
			BASE_TRY(base_pattern_match(&pattern->regex, name, &matched[i], error));
	}
	return HG_OK;
}

/* 'matched' is by type or by location. */
static enum hg_status select_matched(struct selecting *s, const bool *matched, bool by_type)
{
	struct snap *snap = &s->snapshot->snap;
	const uint64_t count = snap->block_count;
	struct snap_walk walk;
	struct snap_run run;
	uint32_t rank = 0;
	enum hg_status status = HG_OK;
	BASE_TRY(snap_walk_init(&walk, snap, &s->snapshot->session->error));
	snap_walk_range(&walk, 0, snap->entry_count);
	while (status == HG_OK && snap_walk_next(&walk, &run)) {
		struct snap_scan scan = snap_scan_run(snap, &run);
		struct snap_cell cell;
		for (; status == HG_OK && rank < count && snap_scan_next(&scan, &cell); rank++) {
			enum hg_confidence confidence;
			uint32_t key =
				by_type ? query_type(s->snapshot, rank, cell.tag, &confidence).n
					: query_location(snap, &cell, &confidence);
			if (matched[key])
				status = add_selected(s, rank, snap_block_bytes(cell.wosize));
		}
	}
	snap_walk_release(&walk);
	return status;
}

static enum hg_status select_locations(struct selecting *s, const struct pattern *pattern)
{
	bool *matched;
	uint32_t count = s->snapshot->snap.locations.count;
	BASE_TRY(query_alloc(s->snapshot, count, sizeof(*matched), (void **)&matched));
	enum hg_status status = match_locations(s->snapshot, pattern, matched);
	if (status == HG_OK)
		status = select_matched(s, matched, false);
	free(matched);
	return status;
}

static enum hg_status select_types(struct selecting *s, const struct pattern *pattern)
{
	bool *matched;
	BASE_TRY(query_types_match(s->snapshot, &pattern->regex, pattern->literal, &matched));
	enum hg_status status = select_matched(s, matched, true);
	free(matched);
	return status;
}

static int compare_positions(const void *a, const void *b)
{
	const struct graph_position *x = a, *y = b;
	return (x->n > y->n) - (x->n < y->n);
}

/* Subtrees are intervals of positions: those that lie in an earlier one do not count. */
static enum hg_status sum_selected_retained(struct hg_snapshot *snapshot, struct hg_selection *out)
{
	const struct graph *g = &snapshot->graph;
	struct graph_position *positions;
	uint64_t count = 0, end = 0;
	BASE_TRY(query_alloc(snapshot, out->count, sizeof(*positions), (void **)&positions));
	for (size_t i = 0; i < out->count; i++)
		if (graph_reaches(query_position(snapshot, out->nodes[i])))
			positions[count++] = query_position(snapshot, out->nodes[i]);
	qsort(positions, count, sizeof(*positions), compare_positions);
	for (uint64_t i = 0; i < count; i++) {
		if (positions[i].n < end)
			continue;
		out->retained_bytes += graph_retained(g, positions[i]);
		out->retained_offheap_bytes += graph_retained_offheap(g, positions[i]);
		base_assert(out->retained_bytes <= g->bytes[g->live_count]);
		end = (uint64_t)positions[i].n + g->extent[positions[i].n];
		base_assert(end <= g->live_count);
	}
	free(positions);
	return HG_OK;
}

static enum hg_status select_by(struct selecting *s, const struct pattern *pattern)
{
	switch (pattern->what) {
	case BY_ADDRESS:
		return select_address(s, pattern->address);
	case BY_ROOT:
		return select_roots(s, &pattern->regex);
	case BY_TYPE:
		return select_types(s, pattern);
	default:
		return select_locations(s, pattern);
	}
}

static enum hg_status select_text(
	struct hg_snapshot *snapshot, const char *text, struct hg_selection *out)
{
	struct selecting s = {.snapshot = snapshot, .out = out};
	struct pattern pattern = {0};
	if (!text)
		return base_fail(&snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no pattern is given");
	BASE_TRY(parse_pattern(snapshot, text, &pattern));
	enum hg_status status = select_by(&s, &pattern);
	/* No nodes are an answer, too, that hg_explain_nodes() takes. */
	if (status == HG_OK && !s.nodes)
		status = query_alloc(snapshot, 0, sizeof(*s.nodes), (void **)&s.nodes);
	for (size_t i = 1; i < out->count; i++)
		base_assert(s.nodes[i - 1] < s.nodes[i]);
	query_keep(out, s.nodes);
	out->nodes = s.nodes;
	if (status == HG_OK && pattern.what == BY_TYPE && !out->count &&
		!snapshot->retype.has_types)
		status = fail_usage(snapshot,
			"'%.200s': no types are known but those of strings, numbers and "
			"functions; name an exe.prof with --prof",
			text);
	if (status == HG_OK && out->count)
		status = sum_selected_retained(snapshot, out);
	base_pattern_release(&pattern.regex);
	return status;
}

enum hg_status hg_select(struct hg_snapshot *snapshot, const char *text, struct hg_selection **out)
{
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	enum hg_status status = select_text(snapshot, text, *out);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_selection_release(struct hg_selection **selection)
{
	query_free(selection);
}
