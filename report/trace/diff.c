/* What changed between two traces of memtrace, or two series of Spacetime. */
#include "report/trace/trace.h"

#include "report/common.h"

#include <stdlib.h>
#include <string.h>

enum { DIFF_WORD_BYTES = 8 }; /* of series */

/* Columns of a measure for programs: of the two, the change and its error. */
#define MEASURE_OF_TRACE(name)                                                                     \
	{name "_old", NULL, REP_BYTES, 0}, {name "_new", NULL, REP_BYTES, 0},                      \
		{name "_delta", NULL, REP_CHANGE_BYTES, 0},                                        \
	{                                                                                          \
		name "_error", NULL, REP_BYTES, 0                                                  \
	}
#define MEASURE_OF_SERIES(name, kind)                                                              \
	{name "_old", NULL, REP_##kind, 0}, {name "_new", NULL, REP_##kind, 0},                    \
	{                                                                                          \
		name "_delta", NULL, REP_CHANGE_##kind, 0                                          \
	}

static const struct rep_column trace_diff_columns[] = {
	{"samples_old", NULL, REP_COUNT, 0},
	{"samples_new", NULL, REP_COUNT, 0},
	MEASURE_OF_TRACE("bytes"),
	MEASURE_OF_TRACE("live_bytes"),
	MEASURE_OF_TRACE("peak_bytes"),
	MEASURE_OF_TRACE("promoted_bytes"),
	{"beyond_noise", NULL, REP_NUMBER, 0},
};
static const struct rep_column series_diff_columns[] = {
	MEASURE_OF_SERIES("allocated_bytes", BYTES),
	MEASURE_OF_SERIES("live_bytes", BYTES),
	MEASURE_OF_SERIES("blocks", COUNT),
};

static const struct diff_measure {
	const char *name;                 /* of --count */
	const char *of_trace, *of_series; /* as people see it; NULL: not known there */
	const char *key;                  /* of totals, before _old and _new */
} diff_measures[] = {
	[HG_TRACE_DIFF_ALLOCATED] = {"allocated", "allocated", "allocated", "bytes"},
	[HG_TRACE_DIFF_LIVE] = {"live", "live at end", "live", "live_bytes"},
	[HG_TRACE_DIFF_PEAK] = {"peak", "live at peak", NULL, "peak_bytes"},
	[HG_TRACE_DIFF_PROMOTED] = {"promoted", "promoted", NULL, "promoted_bytes"},
	[HG_TRACE_DIFF_BLOCKS] = {"blocks", NULL, "live blocks", "blocks"},
};

static const struct diff_key {
	const char *name, *column, *plural;
} diff_keys[] = {
	[HG_TRACE_DIFF_LOCATION] = {"location", "location", "locations"},
	[HG_TRACE_DIFF_FUNCTION] = {"function", "function", "functions"},
	[HG_TRACE_DIFF_FILE] = {"file", "file", "files"},
	[HG_TRACE_DIFF_TREE] = {"tree", "function", "calls"},
};

const char *rep_trace_diff_key_name(unsigned key)
{
	return key <= HG_TRACE_DIFF_TREE ? diff_keys[key].name : NULL;
}

const char *rep_trace_diff_measure_name(unsigned measure)
{
	return measure < HG_TRACE_DIFF_MEASURES ? diff_measures[measure].name : NULL;
}

/* What is written, and which of it. */
struct diff_table {
	struct rep_emitter *emitter;
	const struct hg_trace_diff *diff;
	const struct hg_trace_diff_options *options;
	bool is_series;
	enum hg_trace_diff_measure beside; /* what people see beside what is counted */
	struct rep_text label;
	size_t first;       /* node of the table: the root only of trees */
	bool *kept;         /* of nodes from there on */
	size_t shown, all;  /* rows; also of those that a limit leaves out */
	size_t small, same; /* rows that changed by less than was asked for; not at all */
};

/* How people see a measure; NULL where it is not known. */
static const char *title_of_measure(const struct diff_table *table, unsigned measure)
{
	return table->is_series ? diff_measures[measure].of_series
				: diff_measures[measure].of_trace;
}

/* For people: the new amount, the change, and of traces its error. */
static void put_people_columns(const struct diff_table *table, struct rep_column *columns,
	unsigned *count, enum hg_trace_diff_measure measure)
{
	bool is_count = measure == HG_TRACE_DIFF_BLOCKS;
	columns[(*count)++] = (struct rep_column){NULL, title_of_measure(table, measure),
		is_count ? REP_COUNT : REP_BYTES, REP_NOT_CSV};
	columns[(*count)++] = (struct rep_column){
		NULL, "change", is_count ? REP_CHANGE_COUNT : REP_CHANGE_BYTES, REP_NOT_CSV};
	if (!table->is_series)
		columns[(*count)++] = (struct rep_column){NULL, "+-", REP_BYTES, REP_NOT_CSV};
}

static unsigned list_diff_columns(const struct diff_table *table, struct rep_column *columns)
{
	const struct diff_key *key = &diff_keys[table->options->by];
	bool is_tree = table->options->by == HG_TRACE_DIFF_TREE;
	const struct rep_column *measures =
		table->is_series ? series_diff_columns : trace_diff_columns;
	size_t size = table->is_series ? sizeof(series_diff_columns) : sizeof(trace_diff_columns);
	unsigned count = 0;
	if (is_tree)
		columns[count++] = (struct rep_column){"depth", NULL, REP_NUMBER, 0};
	columns[count++] = (struct rep_column){
		key->column, key->column, REP_NAME, REP_LAST | (is_tree ? REP_LABEL : 0)};
	memcpy(columns + count, measures, size);
	count += (unsigned)(size / sizeof(*measures));
	put_people_columns(table, columns, &count, table->options->count);
	columns[count++] = (struct rep_column){NULL, "", REP_WORD, REP_NOT_CSV};
	put_people_columns(table, columns, &count, table->beside);
	return count;
}

static void write_people_cells(const struct diff_table *table, const struct hg_trace_change *change)
{
	rep_cell_number(table->emitter, change->after);
	rep_cell_change(table->emitter, change->before, change->after);
	if (!table->is_series)
		rep_cell_number(table->emitter, change->error);
}

/* Whether one of the two sides has nothing of it at all. */
static bool is_missing(const struct hg_trace_diff_node *node, bool before)
{
	bool has_any = before ? node->samples_before : node->samples_after;
	for (unsigned i = 0; i < HG_TRACE_DIFF_MEASURES; i++)
		has_any |= before ? node->changes[i].before : node->changes[i].after;
	return !has_any;
}

static const char *verdict_on(
	const struct hg_trace_diff_node *node, const struct hg_trace_change *change)
{
	if (change->before == change->after)
		return "same";
	if (!change->beyond_noise)
		return "within noise";
	return is_missing(node, true) ? "new" : is_missing(node, false) ? "gone" : "changed";
}

static void write_program_cells(
	const struct diff_table *table, const struct hg_trace_diff_node *node)
{
	struct rep_emitter *emitter = table->emitter;
	if (!table->is_series) {
		rep_cell_number(emitter, node->samples_before);
		rep_cell_number(emitter, node->samples_after);
	}
	for (unsigned i = 0; i < HG_TRACE_DIFF_MEASURES; i++) {
		const struct hg_trace_change *change = &node->changes[i];
		if (!title_of_measure(table, i))
			continue;
		rep_cell_number(emitter, change->before);
		rep_cell_number(emitter, change->after);
		rep_cell_change(emitter, change->before, change->after);
		if (!table->is_series)
			rep_cell_number(emitter, change->error);
	}
	if (!table->is_series)
		rep_cell_bool(emitter, node->changes[table->options->count].beyond_noise);
}

static void write_diff_node(struct diff_table *table, const struct hg_trace_diff_node *node)
{
	struct rep_emitter *emitter = table->emitter;
	const struct hg_trace_change *change = &node->changes[table->options->count];
	if (table->options->by == HG_TRACE_DIFF_TREE) {
		rep_cell_number(emitter, node->depth);
		rep_trace_cell_call(emitter, node->depth, node->name, &table->label);
	} else {
		rep_cell_labelled(emitter, node->name,
			*node->name        ? node->name
			: table->is_series ? "(no place known)"
					   : "(not told by the backtrace)");
	}
	write_program_cells(table, node);
	write_people_cells(table, change);
	rep_cell_string(emitter, verdict_on(node, change));
	write_people_cells(table, &node->changes[table->beside]);
	rep_row_end(emitter);
}

/* One of the two for programs. */
static void write_diff_side(
	struct diff_table *table, const char *key, const struct hg_trace_diff_side *side)
{
	struct rep_emitter *emitter = table->emitter;
	char number[40];
	if (!emitter->writer->tells_all)
		return;
	rep_section_begin(emitter, key, NULL);
	if (side->trace) {
		rep_value_string(emitter, "file", NULL, REP_PATH, side->trace->path);
		rep_value_string(emitter, "format", NULL, REP_WORD, "memtrace");
		snprintf(number, sizeof(number), "%.17g", side->trace->rate);
		rep_value_string(emitter, "rate", NULL, REP_WORD, number);
		rep_value_number(emitter, "end_us", NULL, REP_COUNT, side->trace->end_us);
	} else if (side->series) {
		rep_value_string(emitter, "file", NULL, REP_PATH, side->series->path);
		rep_value_string(emitter, "format", NULL, REP_WORD, "spacetime");
		rep_value_string(emitter, "compiler", NULL, REP_WORD, side->series->compiler);
		snprintf(number, sizeof(number), "%.6g", side->series->close_time);
		rep_value_string(emitter, "closed_at", NULL, REP_WORD, number);
		rep_value_bool(emitter, "any_snapshot", NULL, side->any_snapshot);
		rep_value_number(emitter, "snapshot", NULL, REP_COUNT, side->snapshot);
		snprintf(number, sizeof(number), "%.6g", side->time);
		rep_value_string(emitter, "time", NULL, REP_WORD, number);
		rep_value_number(
			emitter, "unknown_bytes", NULL, REP_BYTES, DIFF_WORD_BYTES * side->unknown);
	}
	rep_section_end(emitter);
}

/* What both are in all, for programs. */
static void write_diff_totals(struct diff_table *table)
{
	static const char *const parts[] = {"_old", "_new", "_error"};
	struct rep_emitter *emitter = table->emitter;
	const struct hg_trace_diff_node *root = table->diff->nodes[0];
	char key[40];
	if (!emitter->writer->tells_all)
		return;
	rep_section_begin(emitter, "totals", NULL);
	if (!table->is_series) {
		rep_value_number(emitter, "samples_old", NULL, REP_COUNT, root->samples_before);
		rep_value_number(emitter, "samples_new", NULL, REP_COUNT, root->samples_after);
	}
	for (unsigned i = 0; i < HG_TRACE_DIFF_MEASURES; i++) {
		const struct diff_measure *measure = &diff_measures[i];
		const struct hg_trace_change *change = &root->changes[i];
		const uint64_t numbers[] = {change->before, change->after, change->error};
		if (!title_of_measure(table, i))
			continue;
		for (unsigned part = 0; part < (table->is_series ? 2 : 3); part++) {
			snprintf(key, sizeof(key), "%s%s%s",
				table->is_series && i == HG_TRACE_DIFF_ALLOCATED ? "allocated_"
										 : "",
				measure->key, parts[part]);
			rep_value_number(emitter, key, NULL,
				i == HG_TRACE_DIFF_BLOCKS ? REP_COUNT : REP_BYTES, numbers[part]);
		}
	}
	rep_section_end(emitter);
}

static void put_diff_amount(
	struct rep_text *line, enum hg_trace_diff_measure measure, uint64_t amount)
{
	if (measure == HG_TRACE_DIFF_BLOCKS)
		rep_text_count(line, amount);
	else
		rep_text_size(line, amount);
}

/* "allocated  1.0 MB -> 2.0 MB (+1.0 MB +- 20.0 KB)" */
static void prose_diff_total(struct diff_table *table, enum hg_trace_diff_measure measure)
{
	const struct hg_trace_change *change = &table->diff->nodes[0]->changes[measure];
	struct rep_text line = {0};
	put_diff_amount(&line, measure, change->before);
	rep_text_put(&line, " -> ");
	put_diff_amount(&line, measure, change->after);
	rep_text_put(&line, change->after < change->before ? " (-" : " (+");
	put_diff_amount(&line, measure, rep_difference(change->before, change->after));
	if (!table->is_series) {
		rep_text_put(&line, " +- ");
		put_diff_amount(&line, measure, change->error);
		rep_text_put(&line, change->beyond_noise || change->before == change->after
					    ? ""
					    : ", within noise");
	}
	rep_prose(table->emitter, REP_PLAIN, "  %-13s %s)\n", title_of_measure(table, measure),
		rep_text_string(&line));
	rep_text_release(&line);
}

/* How long both ran, which how much they allocate goes with; and what rates they were sampled at.
 */
static void prose_diff_runs(struct diff_table *table, bool filtered)
{
	const struct hg_trace_diff *diff = table->diff;
	const struct hg_trace_change *allocated = &diff->nodes[0]->changes[HG_TRACE_DIFF_ALLOCATED];
	double old_time, new_time;
	struct rep_text line = {0};
	if (table->is_series) {
		old_time = diff->older.series->close_time;
		new_time = diff->newer.series->close_time;
		rep_text_printf(&line, "%.3f -> %.3f CPU s; ", old_time, new_time);
		if (diff->older.any_snapshot && diff->newer.any_snapshot)
			rep_text_printf(&line, "live in snapshot %llu -> %llu",
				(unsigned long long)diff->older.snapshot,
				(unsigned long long)diff->newer.snapshot);
		else
			rep_text_put(&line, "not both have a snapshot");
	} else {
		old_time = (double)diff->older.trace->end_us * 1e-6;
		new_time = (double)diff->newer.trace->end_us * 1e-6;
		rep_text_printf(&line, "%.3f -> %.3f s; ", old_time, new_time);
		if (old_time > 0 && new_time > 0 && !filtered) {
			rep_text_size(&line, (uint64_t)((double)allocated->before / old_time));
			rep_text_put(&line, " -> ");
			rep_text_size(&line, (uint64_t)((double)allocated->after / new_time));
			rep_text_put(&line, " allocated per second; ");
		}
		rep_text_printf(&line, "sampled at %.1e -> %.1e", diff->older.trace->rate,
			diff->newer.trace->rate);
	}
	rep_prose(table->emitter, REP_PLAIN, "  %-13s %s\n", "length", rep_text_string(&line));
	rep_text_release(&line);
}

static void write_diff_prose(struct diff_table *table, bool filtered)
{
	const struct hg_trace_diff *diff = table->diff;
	struct rep_text old_name = {0}, new_name = {0};
	rep_prose(table->emitter, REP_BOLD, "%s -> %s\n",
		rep_escaped(&old_name, rep_base_name(table->is_series ? diff->older.series->path
								      : diff->older.trace->path)),
		rep_escaped(&new_name, rep_base_name(table->is_series ? diff->newer.series->path
								      : diff->newer.trace->path)));
	rep_text_release(&old_name);
	rep_text_release(&new_name);
	for (unsigned i = 0; i < HG_TRACE_DIFF_MEASURES; i++)
		if (title_of_measure(table, i))
			prose_diff_total(table, (enum hg_trace_diff_measure)i);
	prose_diff_runs(table, filtered);
}

/* Below the table: what is not in it. */
static void write_diff_rest(struct diff_table *table)
{
	struct rep_text line = {0};
	const char *plural = diff_keys[table->options->by].plural;
	rep_more_rows(table->emitter, table->all - table->shown, plural, "--limit 0");
	if (table->small) {
		rep_text_count(&line, table->small);
		rep_prose(table->emitter, REP_PLAIN, "(%s %s changed by less than --min)\n",
			rep_text_string(&line), plural);
	}
	rep_text_clear(&line);
	if (table->same) {
		rep_text_count(&line, table->same);
		rep_prose(table->emitter, REP_PLAIN, "(%s %s did not change)\n",
			rep_text_string(&line), plural);
	}
	rep_text_release(&line);
}

static void write_trace_diff(struct diff_table *table, struct rep_trace_context *context)
{
	struct rep_emitter *emitter = table->emitter;
	struct rep_column columns[REP_MAX_COLUMNS];
	const char *key = diff_keys[table->options->by].name;
	rep_document_begin(emitter, "trace diff");
	rep_value_string(emitter, "by", NULL, REP_WORD, key);
	rep_value_string(
		emitter, "count", NULL, REP_WORD, diff_measures[table->options->count].name);
	write_diff_side(table, "old_trace", &table->diff->older);
	write_diff_side(table, "new_trace", &table->diff->newer);
	write_diff_totals(table);
	rep_value_number(emitter, "rows_total", NULL, REP_COUNT, table->all);
	rep_value_number(emitter, "rows_same", NULL, REP_COUNT, table->same);
	write_diff_prose(table, context->filtered);
	rep_trace_say_filtered(context);
	if (!table->is_series && table->all)
		rep_prose(emitter, REP_PLAIN,
			"Within noise are changes of up to twice the standard error of sampling "
			"(+-), or "
			"what the trace of a\nlower rate may have missed; by chance alone one row "
			"in "
			"twenty is beyond it.\n");
	rep_prose(emitter, REP_PLAIN, "%s", table->all ? "\n" : "");
	if (!emitter->writer->for_people || table->shown) {
		rep_table_begin(emitter, "rows", columns, list_diff_columns(table, columns));
		for (size_t i = 0; i + table->first < table->diff->count; i++)
			if (table->kept[i] && !rep_emitter_broken(emitter))
				write_diff_node(table, table->diff->nodes[i + table->first]);
		rep_table_end(emitter);
	} else {
		rep_prose(emitter, REP_PLAIN, "No difference by %s%s.\n", key,
			table->small ? " that these options show" : "");
	}
	write_diff_rest(table);
	rep_document_end(emitter);
	emitter->failed |= table->label.failed;
}

/* The largest of what changed by enough. */
static enum hg_status choose_diff_rows(
	struct diff_table *table, const struct rep_trace_diff_request *request)
{
	size_t count = table->diff->count - table->first;
	uint64_t *amounts = calloc(count + 1, sizeof(*amounts));
	table->kept = calloc(count + 1, sizeof(*table->kept));
	bool good = amounts && table->kept;
	for (size_t i = 0; i < count && good; i++) {
		const struct hg_trace_diff_node *node = table->diff->nodes[i + table->first];
		bool is_large = node->largest >= request->min;
		table->same += !node->changed;
		table->small += node->changed && !is_large;
		amounts[i] = node->changed && is_large ? node->largest + 1 : 0;
	}
	good = good && rep_keep_largest(amounts, count, request->limit, table->kept);
	for (size_t i = 0; i < count && good; i++) {
		table->kept[i] = table->kept[i] && amounts[i];
		table->all += amounts[i] != 0;
		table->shown += table->kept[i];
	}
	free(amounts);
	return good ? HG_OK : HG_ERROR_LIMIT;
}

static enum hg_status write_diff_of_contexts(struct rep_trace_context *context,
	const struct hg_trace_diff *diff, const struct rep_trace_diff_request *request)
{
	struct diff_table table = {.emitter = context->emitter,
		.diff = diff,
		.options = &request->options,
		.is_series = diff->newer.series != NULL,
		.beside = request->options.count == HG_TRACE_DIFF_ALLOCATED
				  ? HG_TRACE_DIFF_LIVE
				  : HG_TRACE_DIFF_ALLOCATED,
		.first = request->options.by != HG_TRACE_DIFF_TREE};
	enum hg_status status = choose_diff_rows(&table, request);
	if (status == HG_OK)
		write_trace_diff(&table, context);
	else
		status = base_no_memory(context->error, diff->count * sizeof(uint64_t));
	free(table.kept);
	rep_text_release(&table.label);
	return status;
}

enum hg_status rep_trace_diff(struct rep_trace_context *older, struct rep_trace_context *newer,
	const struct rep_trace_diff_request *request)
{
	struct hg_trace_diff *diff;
	enum hg_status status =
		hg_diff_traces(older->trace, newer->trace, &request->options, &diff);
	if (status != HG_OK)
		return rep_trace_failed(newer, status);
	rep_trace_note(older, &diff->older.losses);
	rep_trace_note(newer, &diff->newer.losses);
	status = write_diff_of_contexts(newer, diff, request);
	hg_trace_diff_release(&diff);
	return status;
}
