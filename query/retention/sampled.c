/* Samples sorted by node, and their lines counted when a node is asked about. */
#include "query/retention/sampled.h"

#include "base/search.h"
#include "query/places/places.h"
#include "query/shared/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Samples that are looked at, different lines among them, and those told. */
enum { MOST_SAMPLES = 1000, MOST_LINES = 32, MOST_TOLD = 3 };

struct counted_line {
	struct query_sample_line line;
	uint64_t samples;
};

static int compare_sampled_blocks(const void *a, const void *b)
{
	const struct query_sampled_block *x = a, *y = b;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

enum hg_status query_sampled_init(
	struct query_sampled *sampled, struct hg_snapshot *snapshot, const uint32_t *of_position)
{
	const struct snap *snap = &snapshot->snap;
	*sampled = (struct query_sampled){0};
	BASE_TRY(query_alloc(snapshot, snap->sampled_count, sizeof(*sampled->blocks),
		(void **)&sampled->blocks));
	for (uint64_t i = 0; i < snap->sampled_count; i++) {
		uint32_t rank = snap_resolve_node(snap, snap_block_of(snap->sampled[i].address).a);
		struct graph_position p = query_position(snapshot, rank);
		if (graph_reaches(p))
			sampled->blocks[sampled->count++] =
				(struct query_sampled_block){of_position[p.n], rank};
	}
	if (sampled->count)
		qsort(sampled->blocks, sampled->count, sizeof(*sampled->blocks),
			compare_sampled_blocks);
	return HG_OK;
}

void query_sampled_release(struct query_sampled *sampled)
{
	free(sampled->blocks);
	*sampled = (struct query_sampled){0};
}

static int compare_counted_lines(const void *a, const void *b)
{
	const struct counted_line *x = a, *y = b;
	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	int order = strcmp(x->line.file, y->line.file);
	return order ? order : (x->line.line > y->line.line) - (x->line.line < y->line.line);
}

/* Those that there is no room for are not counted. */
static unsigned count_line(
	struct counted_line *lines, unsigned count, const struct query_sample_line *line)
{
	unsigned i = 0;
	while (i < count &&
		(lines[i].line.line != line->line || strcmp(lines[i].line.file, line->file) != 0))
		i++;
	if (i == MOST_LINES)
		return count;
	if (i == count)
		lines[count++] = (struct counted_line){*line, 0};
	lines[i].samples++;
	return count;
}

void query_sampled_lines(const struct query_sampled *sampled, struct hg_snapshot *snapshot,
	uint32_t node, bool own, char *buffer, size_t size)
{
	struct counted_line lines[MOST_LINES];
	unsigned count = 0;
	size_t length = 0;
	uint64_t first = BASE_FIRST_FROM(sampled->blocks, sampled->count, node, node);
	uint64_t end =
		first + MOST_SAMPLES < sampled->count ? first + MOST_SAMPLES : sampled->count;
	for (uint64_t i = first; i < end && sampled->blocks[i].node == node; i++) {
		struct query_sample_line line;
		if (query_line_of_sample(snapshot, sampled->blocks[i].rank, own, &line))
			count = count_line(lines, count, &line);
	}
	if (count)
		qsort(lines, count, sizeof(*lines), compare_counted_lines);
	buffer[0] = '\0';
	for (unsigned i = 0; i < count && i < MOST_TOLD && length < size; i++)
		length += (size_t)snprintf(buffer + length, size - length, "%s%s:%u", i ? ";" : "",
			lines[i].line.file, lines[i].line.line);
}
