/* One row for every pointer, as the library walks them. */
#include "report/report.h"

#include "report/common.h"

static const struct rep_column columns[] = {
	{"from", "from", REP_NAME, 0},
	{"field", "field", REP_NUMBER, 0},
	{"to", "to", REP_NAME, 0},
	{"kind", "kind", REP_WORD, 0},
	{"from_node", NULL, REP_NUMBER, 0},
	{"to_node", NULL, REP_NUMBER, 0},
};

/* Edges of one node follow each other, so its name is kept. */
struct edges_writer {
	struct rep_context *context;
	struct rep_text from, to;
	hg_node last_from;
};

static void write_edge(struct edges_writer *writer, const struct hg_edge *edge)
{
	struct rep_emitter *emitter = writer->context->emitter;
	const struct hg_snapshot *snapshot = writer->context->snapshot;
	if (edge->from != writer->last_from) {
		rep_text_clear(&writer->from);
		rep_name_node(&writer->from, snapshot, edge->from);
		writer->last_from = edge->from;
	}
	rep_text_clear(&writer->to);
	rep_name_node(&writer->to, snapshot, edge->to);
	rep_cell_string(emitter, rep_text_string(&writer->from));
	rep_cell_known(emitter, edge->field);
	rep_cell_string(emitter, rep_text_string(&writer->to));
	rep_cell_string(emitter, hg_edge_kind_name(edge->kind));
	rep_cell_number(emitter, edge->from);
	rep_cell_number(emitter, edge->to);
	rep_row_end(emitter);
}

static void write_edges(struct edges_writer *writer, struct hg_edges *edges, uint64_t limit)
{
	struct rep_emitter *emitter = writer->context->emitter;
	const struct hg_edge *edge;
	uint64_t shown = 0, hidden = 0;
	rep_begin(writer->context, "edges");
	rep_table_begin(emitter, "rows", columns, sizeof(columns) / sizeof(columns[0]));
	for (; !rep_emitter_broken(emitter) && (edge = hg_edges_next(edges)); shown++) {
		if (!limit || shown < limit)
			write_edge(writer, edge);
		else if (emitter->writer->for_people)
			hidden++;
		else
			break;
	}
	rep_table_end(emitter);
	rep_more_rows(emitter, hidden, "edges", "--limit 0");
	rep_document_end(emitter);
}

enum hg_status rep_edges(struct rep_context *context, uint64_t limit)
{
	struct edges_writer writer = {.context = context, .last_from = HG_NO_NODE};
	struct hg_edges *edges;
	enum hg_status status = hg_edges_open(context->snapshot, &edges);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	write_edges(&writer, edges, limit);
	context->emitter->failed |= writer.from.failed || writer.to.failed;
	hg_edges_close(edges);
	rep_text_release(&writer.from);
	rep_text_release(&writer.to);
	return HG_OK;
}
