/* Fields that pass 1 has kept, each with the bit of what it leads to. */
#include "graph/pointers.h"

#include "base/bits.h"

struct pointing {
	const struct graph *graph;
	const uint64_t *selected;
	graph_pointer_fn *met;
	void *data;
};

static inline bool is_target(const struct pointing *p, uint32_t target)
{
	return target != HG_NO_NODE && (!p->selected || base_bit(p->selected, target));
}

/* As snap_resolve_node(), which most pointers need not go through. */
static inline uint32_t find_target(const struct snap *snap, uint64_t value)
{
	struct snap_header_address header = snap_pointed_header(value);
	if (value % 8 == 0 && snap_ranks_spans(&snap->ranks, header)) {
		const struct snap_line *line = snap_ranks_line_of(&snap->ranks, header);
		if (snap_line_is_block(line, header))
			return snap_line_rank(line, header).n;
	}
	return snap_resolve_node(snap, value);
}

static enum hg_status meet_fields(
	const struct pointing *p, uint32_t rank, const struct snap_cell *cell)
{
	const struct snap *snap = p->graph->snap;
	uint64_t first = snap_header_word(cell->address) + 1;
	for (uint64_t j = 0, line_end; j < cell->field_count; j = line_end) {
		uint64_t bit = (first + j) & 63;
		uint64_t kept = snap_ranks_line(&snap->ranks, first + j)->kept >> bit;
		line_end = j + 64 - bit;
		if (line_end > cell->field_count)
			kept &= ((uint64_t)1 << (cell->field_count - j)) - 1;
		for (; kept; kept &= kept - 1) {
			uint64_t field = j + (uint64_t)__builtin_ctzll(kept);
			uint32_t target = find_target(snap, cell->fields[field]);
			if (is_target(p, target))
				BASE_TRY(p->met(p->data,
					&(struct graph_pointer){rank, target, field, cell}));
		}
	}
	return HG_OK;
}

static enum hg_status meet_run(const struct pointing *p, const struct snap_run *run, uint32_t *rank)
{
	const struct snap *snap = p->graph->snap;
	struct snap_scan scan = snap_scan_run(snap, run);
	struct snap_cell cell;
	for (; *rank < snap->block_count && snap_scan_next(&scan, &cell); ++*rank)
		if (graph_reaches(p->graph->position[*rank]))
			BASE_TRY(meet_fields(p, *rank, &cell));
	return HG_OK;
}

static enum hg_status meet_blocks(const struct pointing *p, struct hg_error *error)
{
	const struct snap *snap = p->graph->snap;
	struct snap_walk walk;
	struct snap_run run;
	uint32_t rank = 0;
	enum hg_status status = HG_OK;
	BASE_TRY(snap_walk_init(&walk, snap, error));
	snap_walk_range(&walk, 0, snap->entry_count);
	while (status == HG_OK && snap_walk_next(&walk, &run))
		status = meet_run(p, &run, &rank);
	snap_walk_release(&walk);
	return status;
}

static enum hg_status meet_other(const struct pointing *p, uint32_t holder, uint32_t target)
{
	if (!is_target(p, target) || !graph_reaches(p->graph->position[holder]))
		return HG_OK;
	return p->met(p->data, &(struct graph_pointer){holder, target, HG_UNKNOWN, NULL});
}

enum hg_status graph_pointers(const struct graph *graph, const uint64_t *selected,
	graph_pointer_fn *met, void *data, struct hg_error *error)
{
	struct pointing p = {graph, selected, met, data};
	const struct snap *snap = graph->snap;
	BASE_TRY(meet_blocks(&p, error));
	for (uint64_t i = 0; i < snap->root_count; i++)
		BASE_TRY(meet_other(&p, snap_root_node(snap, i),
			snap_resolve_node(snap, snap->roots[i].value)));
	for (uint64_t i = 0; i < snap->link_count; i++)
		BASE_TRY(meet_other(&p, snap->links[i].from, snap->links[i].to));
	return HG_OK;
}
