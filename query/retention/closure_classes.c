/* Votes: of each function, how many live closures that are not sampled have a type, and have none.
 */
#include "query/retention/closure_classes.h"

#include "query/shared/types.h"
#include "query/shared/walk.h"

#include <stdlib.h>
#include <string.h>

/* As many closures with a type as without one. */
enum { EVEN = 1 << 30 };

/* What is known of a type. */
enum { NOT_ASKED, TELLS, TELLS_NOT };

struct count {
	struct hg_snapshot *snapshot;
	struct base_map *votes;
	uint8_t *of_type; /* by number of a type */
};

bool query_tells_nothing(const char *type)
{
	return strspn(type, "_ ->()") == strlen(type);
}

uint64_t query_code_of_cell(
	struct hg_snapshot *snapshot, uint32_t rank, const struct snap_cell *cell)
{
	if (cell->tag != SNAP_TAG_CLOSURE || cell->field_count == 0 || !snapshot->snap.process)
		return 0;
	return query_code(snapshot, rank, 0);
}

static bool type_tells(struct count *c, uint32_t type)
{
	char name[QUERY_LONGEST_NAME];
	if (type == 0)
		return false;
	if (c->of_type[type] == NOT_ASKED) {
		hg_type_name(c->snapshot, type, name, sizeof(name));
		c->of_type[type] = query_tells_nothing(name) ? TELLS_NOT : TELLS;
	}
	return c->of_type[type] == TELLS;
}

static enum hg_status count_closure(struct count *c, uint32_t rank, const struct snap_cell *cell)
{
	enum hg_confidence confidence;
	uint32_t vote = EVEN;
	uint64_t code = query_code_of_cell(c->snapshot, rank, cell);
	if (!code || snap_sampled_location(&c->snapshot->snap, cell->address))
		return HG_OK;
	base_map_number(c->votes, code, &vote);
	if (!type_tells(c, query_type(c->snapshot, rank, cell->tag, &confidence).n))
		vote--;
	else if (vote < UINT32_MAX)
		vote++;
	return base_map_set(c->votes, code, vote, &c->snapshot->session->error);
}

static enum hg_status count_live_closures(struct count *c)
{
	const struct graph_position *position = c->snapshot->graph.position;
	struct query_walk walk;
	struct snap_cell cell;
	uint32_t rank;
	enum hg_status status = HG_OK;
	BASE_TRY(query_walk_open(&walk, c->snapshot));
	while (status == HG_OK && query_walk_next(&walk, &rank, &cell))
		if (cell.tag == SNAP_TAG_CLOSURE && graph_reaches(position[rank]))
			status = count_closure(c, rank, &cell);
	query_walk_close(&walk);
	return status;
}

enum hg_status query_count_closures(struct hg_snapshot *snapshot, struct base_map *votes)
{
	struct count c = {.snapshot = snapshot, .votes = votes};
	if (!snapshot->snap.sampled_count || !snapshot->snap.process)
		return HG_OK;
	BASE_TRY(query_alloc(snapshot, (uint64_t)retype_term_count(&snapshot->retype.types) + 1,
		sizeof(*c.of_type), (void **)&c.of_type));
	enum hg_status status = count_live_closures(&c);
	free(c.of_type);
	return status;
}

bool query_is_by_function(struct hg_snapshot *snapshot, const struct base_map *votes, uint32_t rank,
	const struct snap_cell *cell)
{
	uint32_t vote;
	if (cell->tag != SNAP_TAG_CLOSURE || !votes->count ||
		!snap_sampled_location(&snapshot->snap, cell->address))
		return false;
	uint64_t code = query_code_of_cell(snapshot, rank, cell);
	return code && base_map_number(votes, code, &vote) && vote < EVEN;
}
