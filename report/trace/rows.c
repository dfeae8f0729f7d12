/* Tables of locations and functions by what they allocate. */
#include "report/trace/trace.h"

#include "report/common.h"

#include <string.h>

enum { ROW_COLUMNS = 1 + REP_TRACE_AMOUNTS + 1 };

static void write_trace_row(struct rep_emitter *emitter, const struct hg_trace_info *info,
	const struct hg_trace_row *row, uint64_t all)
{
	rep_cell_labelled(
		emitter, row->name, *row->name ? row->name : "(not told by the backtrace)");
	rep_trace_amount_cells(emitter, info, &row->amounts);
	rep_cell_share(emitter, row->amounts.samples, all);
	rep_row_end(emitter);
}

static void write_trace_head(struct rep_emitter *emitter, const struct hg_trace_info *info,
	const struct hg_trace_rows *rows, bool by_function)
{
	struct rep_text line = {0};
	rep_prose(emitter, REP_BOLD, by_function ? "Functions" : "Locations");
	rep_text_put(&line, " by what they allocate");
	rep_text_put(&line, by_function ? ", with all that they call: " : ": ");
	rep_text_size(&line, rep_trace_bytes(info, rows->totals.samples));
	rep_text_put(&line, " +- ");
	rep_text_size(&line, rep_trace_error(info, rows->totals.samples));
	rep_text_put(&line, " in all, ");
	rep_text_size(&line, rep_trace_bytes(info, rows->totals.peak));
	rep_text_put(&line, " alive at the peak, ");
	rep_text_size(&line, rep_trace_bytes(info, rows->totals.live));
	rep_text_put(&line, " at the end");
	rep_prose(emitter, REP_PLAIN, "%s\n", rep_text_string(&line));
	rep_text_release(&line);
	rep_value_number(emitter, "samples_total", NULL, REP_COUNT, rows->totals.samples);
	rep_value_number(emitter, "bytes_total", NULL, REP_BYTES,
		rep_trace_bytes(info, rows->totals.samples));
	rep_value_number(emitter, "rows_total", NULL, REP_COUNT, rows->count);
}

enum hg_status rep_trace_rows(
	struct rep_trace_context *context, enum hg_trace_key key, uint64_t limit)
{
	struct rep_emitter *emitter = context->emitter;
	bool by_function = key == HG_TRACE_BY_FUNCTION;
	struct rep_column columns[ROW_COLUMNS] = {{by_function ? "function" : "location",
		by_function ? "function" : "location", REP_NAME, REP_LAST}};
	columns[ROW_COLUMNS - 1] = (struct rep_column){"share", "  share", REP_SHARE, REP_NOT_CSV};
	const struct hg_trace_info *info = hg_trace_header(context->trace);
	struct hg_trace_rows *rows;
	enum hg_status status = hg_list_trace(context->trace, key, &rows);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	memcpy(columns + 1, rep_trace_amount_columns, sizeof(rep_trace_amount_columns));
	size_t shown = limit && limit < rows->count ? (size_t)limit : rows->count;
	rep_document_begin(emitter, by_function ? "trace functions" : "trace sites");
	write_trace_head(emitter, info, rows, by_function);
	rep_trace_say_filtered(context);
	rep_table_begin(emitter, "rows", columns, ROW_COLUMNS);
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++)
		write_trace_row(emitter, info, rows->rows[i], rows->totals.samples);
	rep_table_end(emitter);
	rep_more_rows(
		emitter, rows->count - shown, by_function ? "functions" : "locations", "--limit 0");
	rep_document_end(emitter);
	rep_trace_note(context, &rows->losses);
	hg_trace_rows_release(&rows);
	return HG_OK;
}
