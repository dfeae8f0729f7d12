/* What a series of Spacetime is: its snapshots and events, and what its numbers say of it. */
#include "report/trace/trace.h"

enum { SERIES_WORD_BYTES = 8 };

static void write_series_file(struct rep_emitter *emitter, const struct hg_spacetime_info *info)
{
	struct rep_text line = {0};
	rep_section_begin(emitter, "trace", "Series of Spacetime");
	rep_value_string(emitter, "file", "file", REP_PATH, info->path);
	rep_value_string(emitter, "format", NULL, REP_WORD, "spacetime");
	rep_value_number(emitter, "file_bytes", "size", REP_BYTES, info->file_bytes);
	rep_value_string(emitter, "compiler", "written by", REP_WORD, info->compiler);
	rep_value_bool(emitter, "call_counts", "counts calls", info->call_counts);
	rep_value_bool(emitter, "complete", "complete", info->complete);
	rep_value_number(emitter, "snapshots", "snapshots", REP_COUNT, info->snapshot_count);
	rep_value_number(emitter, "events", "events", REP_COUNT, info->event_count);
	if (info->complete) {
		rep_text_printf(&line, "%.6g", info->close_time);
		rep_value_string(emitter, "closed_at", "ends at CPU second", REP_WORD,
			rep_text_string(&line));
	}
	rep_text_release(&line);
	rep_section_end(emitter);
}

static void write_series_calls(struct rep_emitter *emitter, const struct hg_spacetime_info *info)
{
	if (!info->complete)
		return;
	rep_section_begin(emitter, "calls", "Calls and allocation points of the whole run");
	rep_value_number(emitter, "tries", "tries", REP_COUNT, info->tries);
	rep_value_number(emitter, "nodes", "OCaml nodes", REP_COUNT, info->nodes);
	rep_value_number(emitter, "edges", "calls", REP_COUNT, info->calls);
	rep_value_number(emitter, "points", "allocation points", REP_COUNT, info->points);
	rep_value_number(emitter, "allocated_bytes", "allocated", REP_BYTES,
		SERIES_WORD_BYTES * info->allocated);
	rep_value_number(emitter, "deepest", "deepest backtrace", REP_COUNT, info->deepest);
	rep_value_number(emitter, "frames", "return addresses", REP_COUNT, info->frames);
	rep_value_number(emitter, "shapes", "functions", REP_COUNT, info->shapes);
	rep_value_number(emitter, "repaired_nodes", info->repaired ? "nodes put in order" : NULL,
		REP_COUNT, info->repaired);
	rep_section_end(emitter);
}

static const struct rep_column moment_columns[] = {
	{"moment", "", REP_COUNT, 0},
	{"time", "CPU s", REP_WORD, 0},
	{"live_bytes", "live", REP_BYTES, 0},
	{"blocks", "blocks", REP_COUNT, 0},
	{"unknown_bytes", "unknown", REP_BYTES, 0},
	{"allocated_bytes", "allocated", REP_BYTES, 0},
	{"heap_bytes", "heap", REP_BYTES, 0},
	{"minor_collections", "minor", REP_COUNT, 0},
	{"major_collections", "major", REP_COUNT, 0},
	{"compactions", "compact", REP_COUNT, 0},
	{"event", "event", REP_NAME, 0},
};

static void write_series_moment(
	struct rep_emitter *emitter, uint64_t snapshot, const struct hg_spacetime_moment *moment)
{
	struct rep_text time = {0};
	uint64_t unknown = moment->scanned > moment->words ? moment->scanned - moment->words : 0;
	const uint64_t numbers[] = {SERIES_WORD_BYTES * moment->words, moment->blocks,
		SERIES_WORD_BYTES * unknown, SERIES_WORD_BYTES * moment->allocated,
		SERIES_WORD_BYTES * moment->heap_words, moment->minor_collections,
		moment->major_collections, moment->compactions};
	rep_text_printf(&time, "%.6g", moment->time);
	if (moment->is_event)
		rep_cell_none(emitter);
	else
		rep_cell_number(emitter, snapshot);
	rep_cell_string(emitter, rep_text_string(&time));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (moment->is_event || !moment->readable)
			rep_cell_none(emitter);
		else
			rep_cell_number(emitter, numbers[i]);
	if (moment->is_event)
		rep_cell_string(emitter, moment->name);
	else
		rep_cell_none(emitter);
	rep_row_end(emitter);
	rep_text_release(&time);
}

static void write_series_moments(struct rep_emitter *emitter, const struct hg_spacetime_info *info)
{
	uint64_t snapshot = 0;
	rep_headline(emitter, "Snapshots and events");
	rep_table_begin(emitter, "moments", moment_columns,
		sizeof(moment_columns) / sizeof(moment_columns[0]));
	for (uint64_t i = 0; i < info->moment_count; i++) {
		write_series_moment(emitter, snapshot, &info->moments[i]);
		snapshot += !info->moments[i].is_event;
	}
	rep_table_end(emitter);
}

/* People see those that there are. */
static void write_series_losses(struct rep_emitter *emitter, const struct hg_spacetime_info *info)
{
	const struct hg_trace_losses *losses = &info->losses;
	const struct {
		const char *key, *label;
		uint64_t count;
	} rows[] = {
		{"cut_bytes", "bytes that are no whole value", losses->cut_bytes},
		{"damaged_values", "snapshots and tries unreadable", losses->damaged_values},
		{"damaged_nodes", "nodes that lead nowhere", losses->damaged_nodes},
		{"unknown_nodes", "nodes whose fields are not known", losses->unknown_nodes},
		{"contradictions", "numbers that contradict each other", info->contradictions},
	};
	rep_section_begin(emitter, "losses",
		losses->first || info->contradictions ? "Lost or damaged" : NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		rep_value_number(emitter, rows[i].key, rows[i].count ? rows[i].label : NULL,
			REP_COUNT, rows[i].count);
	rep_section_end(emitter);
}

enum hg_status rep_trace_series(struct rep_trace_context *context)
{
	const struct hg_spacetime_info *info;
	struct rep_emitter *emitter = context->emitter;
	enum hg_status status = hg_describe_spacetime(context->trace, &info);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	rep_document_begin(emitter, "trace info");
	write_series_file(emitter, info);
	write_series_moments(emitter, info);
	write_series_calls(emitter, info);
	write_series_losses(emitter, info);
	if (info->moment_count)
		rep_prose(emitter, REP_PLAIN,
			"Live is what no sweep had freed; unknown is what has no place of "
			"allocation.\n");
	rep_document_end(emitter);
	rep_trace_note(context, &info->losses);
	return HG_OK;
}
