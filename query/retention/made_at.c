/* Lines for nodes of the retention tree, gathered from what tells of types, functions and roots. */
#include "query/retention/made_at.h"

#include <stdio.h>
#include <string.h>

enum {
	MOST_PLACES = 3,      /* of one class; more say nothing */
	MOST_CANDIDATES = 24, /* classes below, tried in the order of what they retain */
	LONGEST_PLACES = 1024
};

/* Lines joined by ";", each once. */
struct lines {
	char *text;
	size_t size, length;
};

static bool has_line(const struct lines *lines, const char *line, size_t length)
{
	for (const char *at = lines->text; *at;
		at += strcspn(at, ";") + (at[strcspn(at, ";")] != 0))
		if (strcspn(at, ";") == length && strncmp(at, line, length) == 0)
			return true;
	return false;
}

static void add_line(struct lines *lines, const char *line, size_t length)
{
	bool joined = lines->length > 0;
	if (!length || has_line(lines, line, length) ||
		lines->length + joined + length + 1 > lines->size)
		return;
	if (joined)
		lines->text[lines->length++] = ';';
	memcpy(lines->text + lines->length, line, length);
	lines->length += length;
	lines->text[lines->length] = '\0';
}

/* Not "12 places". */
static bool are_lines(const char *places)
{
	size_t length = strlen(places);
	static const char number[] = " places";
	return length &&
	       (length < strlen(number) || strcmp(places + length - strlen(number), number) != 0);
}

static bool add_lines(struct lines *lines, const char *places)
{
	if (!are_lines(places))
		return false;
	for (const char *at = places; *at;) {
		size_t length = strcspn(at, ";");
		add_line(lines, at, length);
		at += length + (at[length] != 0);
	}
	return true;
}

/* The functions of a node's example closures, if they are of this part of the source. */
static bool add_functions(struct hg_snapshot *snapshot, const struct query_retention_node *node,
	bool own, struct lines *lines)
{
	const uint32_t examples[] = {node->largest, node->first, node->any};
	bool found = false;
	for (unsigned i = 0; i < 3; i++) {
		char place[LONGEST_PLACES];
		bool is_own = false;
		if (examples[i] == GRAPH_NONE)
			continue;
		hg_function_place(
			snapshot, snapshot->graph.node[examples[i]], place, sizeof(place), &is_own);
		if (is_own == own)
			found |= add_lines(lines, place);
	}
	return found;
}

/* "cache.ml:30" of "cache.ml:30:4-18": of blocks whose type is not known. */
static bool add_location(
	struct hg_snapshot *snapshot, const struct query_retention_node *node, struct lines *lines)
{
	char place[LONGEST_PLACES];
	struct hg_block block;
	if (node->largest == GRAPH_NONE)
		return false;
	query_block(snapshot, snapshot->graph.node[node->largest], &block);
	hg_location_name(snapshot, block.location, place, sizeof(place));
	char *columns = strrchr(place, ':');
	if (!columns)
		return false;
	*columns = '\0';
	return add_lines(lines, place);
}

static bool add_sampled_lines(struct hg_snapshot *snapshot, const struct query_retention *tree,
	uint32_t number, bool own, struct lines *lines)
{
	char places[LONGEST_PLACES];
	query_sampled_lines(&tree->sampled, snapshot, number, own, places, sizeof(places));
	return add_lines(lines, places);
}

/* Lines that make blocks of this one class, in the program's own source or in libraries. */
static bool add_class_lines(struct hg_snapshot *snapshot, const struct query_retention *tree,
	uint32_t number, bool own, struct lines *lines)
{
	const struct query_retention_node *node = &tree->nodes[number];
	const struct query_path_class *class = &tree->classes.all[node->class];
	char places[LONGEST_PLACES];
	if (class->is_root || number == 0)
		return false;
	if (add_functions(snapshot, node, own, lines))
		return true;
	if (class->type == 0 && snapshot->snap.sampled_count)
		return add_sampled_lines(snapshot, tree, number, own, lines);
	if (class->type == 0)
		return own && add_location(snapshot, node, lines);
	hg_made_at(snapshot, class->type, own ? HG_MADE_IN_PROGRAM : HG_MADE_IN_LIBRARIES,
		MOST_PLACES, places, sizeof(places));
	return add_lines(lines, places);
}

static uint64_t weight_of(const struct query_retention_node *node)
{
	return node->retained + node->retained_offheap;
}

/* Nodes below one, waiting to be tried: the heaviest first. */
struct frontier {
	uint32_t nodes[MOST_CANDIDATES];
	unsigned count;
};

/* Those that are too light for the room there is are left out. */
static void add_candidate(
	struct frontier *f, const struct query_retention *tree, uint32_t candidate)
{
	unsigned at = f->count;
	uint64_t weight = weight_of(&tree->nodes[candidate]);
	while (at > 0 && weight_of(&tree->nodes[f->nodes[at - 1]]) < weight)
		at--;
	if (at == MOST_CANDIDATES)
		return;
	if (f->count < MOST_CANDIDATES)
		f->count++;
	memmove(&f->nodes[at + 1], &f->nodes[at], (f->count - at - 1) * sizeof(*f->nodes));
	f->nodes[at] = candidate;
}

static void add_candidates_below(
	struct frontier *f, const struct query_retention *tree, uint32_t node)
{
	for (uint32_t i = tree->nodes[node].first_child; i != QUERY_NO_CLASS;
		i = tree->nodes[i].next_sibling)
		add_candidate(f, tree, i);
}

/* Strings and numbers are made everywhere. */
static bool is_plain(struct hg_snapshot *snapshot, const struct query_retention_node *node)
{
	struct hg_block block;
	if (node->largest == GRAPH_NONE)
		return false;
	query_block(snapshot, snapshot->graph.node[node->largest], &block);
	return block.tag >= SNAP_TAG_STRING && block.tag <= SNAP_TAG_DOUBLE_ARRAY;
}

/* Of the classes below the one that retains most among those that the program itself makes. */
static bool add_lines_below(struct hg_snapshot *snapshot, const struct query_retention *tree,
	uint32_t node, bool plain, struct lines *lines)
{
	struct frontier f = {.count = 0};
	add_candidates_below(&f, tree, node);
	for (unsigned tried = 0; f.count && tried < MOST_CANDIDATES; tried++) {
		uint32_t heaviest = f.nodes[0];
		if (is_plain(snapshot, &tree->nodes[heaviest]) == plain &&
			add_class_lines(snapshot, tree, heaviest, true, lines))
			return true;
		memmove(&f.nodes[0], &f.nodes[1], --f.count * sizeof(*f.nodes));
		add_candidates_below(&f, tree, heaviest);
	}
	return false;
}

static void add_definition(struct hg_snapshot *snapshot, const struct query_retention *tree,
	uint32_t number, struct lines *lines)
{
	char place[LONGEST_PLACES];
	while (number && tree->nodes[number].parent)
		number = tree->nodes[number].parent;
	const struct query_retention_node *root = &tree->nodes[number];
	if (tree->held && tree->held[number].at)
		add_lines(lines, tree->held[number].at);
	if (number == 0 || !tree->classes.all[root->class].is_root || root->first == GRAPH_NONE)
		return;
	hg_defined_at(snapshot, snapshot->graph.node[root->first], place, sizeof(place));
	add_lines(lines, place);
}

void query_made_at(struct hg_snapshot *snapshot, const struct query_retention *tree, uint32_t node,
	char *buffer, size_t size)
{
	struct lines lines = {buffer, size, 0};
	buffer[0] = '\0';
	if (node == 0)
		return;
	if (!add_class_lines(snapshot, tree, node, true, &lines) &&
		!add_lines_below(snapshot, tree, node, false, &lines))
		add_lines_below(snapshot, tree, node, true, &lines);
	add_definition(snapshot, tree, node, &lines);
	add_class_lines(snapshot, tree, node, false, &lines);
}

void query_add_definition(struct hg_snapshot *snapshot, const struct query_retention *tree,
	uint32_t node, char *buffer, size_t size)
{
	struct lines lines = {buffer, size, strlen(buffer)};
	add_definition(snapshot, tree, node, &lines);
}

void query_defined_at(struct hg_snapshot *snapshot, const struct query_retention *tree,
	uint32_t node, char *buffer, size_t size)
{
	struct lines lines = {buffer, size, 0};
	buffer[0] = '\0';
	add_definition(snapshot, tree, node, &lines);
}
