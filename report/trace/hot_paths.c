/* Hot paths as a table. */
#include "report/trace/trace.h"

#include "report/common.h"

#include <string.h>

enum { PATH_COLUMNS = 2 + REP_TRACE_AMOUNTS + 1 };

/* Names joined by " / "; one that holds that itself stands in quotation marks. */
static void put_hot_path(struct rep_text *text, const struct hg_hot_path *path)
{
	rep_text_clear(text);
	for (size_t i = 0; i < path->length; i++) {
		bool quoted = strstr(path->functions[i], " / ") != NULL;
		rep_text_printf(text, "%s%s%s%s", i ? " / " : "", quoted ? "\"" : "",
			path->functions[i], quoted ? "\"" : "");
	}
}

static void write_hot_path(
	struct rep_trace_context *context, const struct hg_hot_path *path, uint64_t all)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_text text = {0};
	put_hot_path(&text, path);
	rep_cell_string(emitter, rep_text_string(&text));
	rep_cell_number(emitter, path->length);
	rep_trace_amount_cells(emitter, hg_trace_header(context->trace), &path->amounts);
	rep_cell_share(emitter, path->amounts.samples, all);
	rep_row_end(emitter);
	emitter->failed |= text.failed;
	rep_text_release(&text);
}

static void write_hot_paths(
	struct rep_trace_context *context, const struct hg_hot_paths *paths, uint64_t limit)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_column columns[PATH_COLUMNS] = {
		{"path", "calls, the outermost first", REP_NAME, REP_LAST},
		{"length", NULL, REP_NUMBER, 0}};
	size_t shown = limit && limit < paths->count ? (size_t)limit : paths->count;
	memcpy(columns + 2, rep_trace_amount_columns, sizeof(rep_trace_amount_columns));
	columns[PATH_COLUMNS - 1] = (struct rep_column){"share", "  share", REP_SHARE, REP_NOT_CSV};
	rep_document_begin(emitter, "trace hot-paths");
	rep_prose(emitter, REP_BOLD, "Runs of calls");
	rep_prose(emitter, REP_PLAIN, " that at least 0.5 %% is allocated on behalf of\n");
	rep_trace_say_filtered(context);
	rep_value_number(emitter, "samples_total", NULL, REP_COUNT, paths->totals.samples);
	rep_value_number(emitter, "rows_total", NULL, REP_COUNT, paths->count);
	rep_table_begin(emitter, "rows", columns, PATH_COLUMNS);
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++)
		write_hot_path(context, paths->rows[i], paths->totals.samples);
	rep_table_end(emitter);
	rep_more_rows(emitter, paths->count - shown, "paths", "--limit 0");
	rep_document_end(emitter);
}

enum hg_status rep_trace_hot_paths(struct rep_trace_context *context, uint64_t limit)
{
	struct hg_hot_paths *paths;
	enum hg_status status = hg_list_hot_paths(context->trace, &paths);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	write_hot_paths(context, paths, limit);
	rep_trace_note(context, &paths->losses);
	hg_hot_paths_release(&paths);
	return HG_OK;
}
