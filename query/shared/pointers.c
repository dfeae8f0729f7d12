/* Fields that pass 1 has kept, each with the bit of what it leads to. */
#include "query/shared/pointers.h"

#include "query/shared/walk.h"

#include "base/bits.h"

struct pointing {
	struct hg_snapshot *snapshot;
	const uint64_t *selected;
	query_pointer_fn *met;
	void *data;
};

static inline bool is_selected(const struct pointing *p, uint32_t target)
{
	return target != HG_NO_NODE && base_bit(p->selected, target);
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

static enum hg_status meet_fields(struct pointing *p, uint32_t rank, const struct snap_cell *cell)
{
	const struct snap *snap = &p->snapshot->snap;
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
			if (is_selected(p, target))
				BASE_TRY(p->met(p->data,
					&(struct query_pointer){rank, target, field, cell}));
		}
	}
	return HG_OK;
}

static enum hg_status meet_blocks(struct pointing *p)
{
	const struct graph_position *position = p->snapshot->graph.position;
	struct query_walk walk;
	struct snap_cell cell;
	uint32_t rank;
	enum hg_status status = HG_OK;
	BASE_TRY(query_walk_open(&walk, p->snapshot));
	while (status == HG_OK && query_walk_next(&walk, &rank, &cell))
		if (graph_reaches(position[rank]))
			status = meet_fields(p, rank, &cell);
	query_walk_close(&walk);
	return status;
}

/* A link, or what a root's value is. */
static enum hg_status meet_other(struct pointing *p, uint32_t holder, uint32_t target)
{
	struct hg_snapshot *snapshot = p->snapshot;
	struct query_pointer pointer = {holder, target, HG_UNKNOWN, NULL};
	struct snap_cell cell;
	if (!is_selected(p, target) || !graph_reaches(snapshot->graph.position[holder]))
		return HG_OK;
	if (holder < snapshot->snap.block_count) {
		if (!snap_block(&snapshot->lookup, (struct snap_rank){holder}, &cell))
			return HG_OK;
		pointer.cell = &cell;
	}
	return p->met(p->data, &pointer);
}

enum hg_status query_pointers_to(
	struct hg_snapshot *snapshot, const uint64_t *selected, query_pointer_fn *met, void *data)
{
	struct pointing p = {snapshot, selected, met, data};
	const struct snap *snap = &snapshot->snap;
	BASE_TRY(meet_blocks(&p));
	for (uint64_t i = 0; i < snap->root_count; i++)
		BASE_TRY(meet_other(&p, snap_root_node(snap, i),
			snap_resolve_node(snap, snap->roots[i].value)));
	for (uint64_t i = 0; i < snap->link_count; i++)
		BASE_TRY(meet_other(&p, snap->links[i].from, snap->links[i].to));
	return HG_OK;
}
