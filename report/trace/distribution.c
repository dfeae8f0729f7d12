/* Sizes and lifetimes of blocks as tables: moments, every size, histograms. */
#include "report/trace/trace.h"

#include <math.h>
#include <string.h>

static const char *const tables_of_sizes[] = {"statistics", "sizes", "powers", "to_32", "to_256",
	"to_10000", "above_10000", "in_8", "in_1000", "to_100", "to_9000", NULL};
static const char *const tables_of_lifetimes[] = {
	"statistics", "powers", "ticks", "microseconds", NULL};

const char *rep_sizes_table(unsigned index)
{
	return tables_of_sizes[index];
}

const char *rep_lifetimes_table(unsigned index)
{
	return tables_of_lifetimes[index];
}

/* What is shown of an answer. */
struct distribution_report {
	struct rep_trace_context *context;
	const struct rep_distribution_request *request;
	const struct hg_trace_distribution *answer;
	const struct hg_trace_info *info;
	const char *table; /* the only one; NULL: some for people, else all */
	bool lifetimes, notebooks;
};

static uint64_t rounded(double number)
{
	return number < 9e18 ? (uint64_t)llround(number) : UINT64_MAX;
}

/* A lifetime may be negative, but in the notebooks only. */
static void cell_of_value(struct rep_emitter *emitter, int64_t value)
{
	if (value < 0)
		rep_cell_change(emitter, 0 - (uint64_t)value, 0);
	else
		rep_cell_number(emitter, (uint64_t)value);
}

/* Fifteen digits for programs, some of them for people. */
static void cell_of_statistic(struct rep_emitter *emitter, double number, const char *unit)
{
	struct rep_text exact = {0}, brief = {0};
	rep_text_printf(&exact, "%.15g", number);
	if (number >= 1000 && number < 1e15)
		rep_text_count(&brief, rounded(number));
	else
		rep_text_printf(&brief, "%.3g", number);
	rep_text_put(&brief, unit);
	rep_cell_labelled(emitter, rep_text_string(&exact), rep_text_string(&brief));
	emitter->failed |= exact.failed || brief.failed;
	rep_text_release(&exact);
	rep_text_release(&brief);
}

static void cell_of_percent(struct rep_emitter *emitter, double part, double whole)
{
	cell_of_statistic(emitter, whole > 0 ? 100 * part / whole : 0,
		emitter->writer->for_people ? " %" : "");
}

/* Whether a table is among those that are asked for. */
static bool shows_table(const struct distribution_report *report, const char *name)
{
	const struct rep_writer *writer = report->context->emitter->writer;
	const char *usual = report->lifetimes ? (report->notebooks ? "microseconds" : "powers")
					      : (report->notebooks ? "to_32" : "powers");
	if (report->table)
		return !strcmp(report->table, name);
	if (writer->one_part)
		return !strcmp(report->lifetimes ? usual : "sizes", name);
	return !writer->for_people || !strcmp(name, "statistics") || !strcmp(name, usual);
}

/* A sum of weights: of samples, as bytes. */
static uint64_t weight_of_sum(
	const struct distribution_report *report, enum hg_trace_weight weight, double sum)
{
	return weight == HG_TRACE_WEIGH_SAMPLES ? rep_trace_bytes(report->info, rounded(sum))
						: rounded(sum);
}

/* For people with its unit, as a column of weights has several. */
static void cell_of_weight(
	const struct distribution_report *report, enum hg_trace_weight weight, double sum)
{
	struct rep_emitter *emitter = report->context->emitter;
	struct rep_text brief = {0};
	uint64_t number = weight_of_sum(report, weight, sum);
	if (weight == HG_TRACE_WEIGH_SAMPLES)
		rep_text_size(&brief, number);
	else
		rep_text_count(&brief, number);
	if (emitter->writer->for_people)
		rep_cell_string(emitter, rep_text_string(&brief));
	else
		rep_cell_number(emitter, number);
	emitter->failed |= brief.failed;
	rep_text_release(&brief);
}

static const char *const weight_names[] = {"events", "blocks", "bytes"};

static const struct rep_column size_statistics[] = {
	{"part", "of", REP_WORD, 0},
	{"weight", "by", REP_WORD, 0},
	{"from_us", NULL, REP_COUNT, 0},
	{"to_us", NULL, REP_COUNT, 0},
	{"count", "count", REP_COUNT, 0},
	{"words", NULL, REP_COUNT, 0},
	{"mean", "mean words", REP_COUNT, 0},
	{"variance", NULL, REP_COUNT, 0},
	{"deviation", "deviation", REP_COUNT, 0},
	{"largest", "largest", REP_COUNT, 0},
	{"above_127", NULL, REP_COUNT, 0},
	{"above_256", NULL, REP_COUNT, 0},
	{"above_127_percent", "> 127", REP_COUNT, 0},
	{"above_256_percent", "> 256", REP_COUNT, 0},
};

static const struct rep_column lifetime_statistics[] = {
	{"unit", "in", REP_WORD, 0},
	{"weight", "by", REP_WORD, 0},
	{"count", "count", REP_COUNT, 0},
	{"mean", "mean", REP_COUNT, 0},
	{"variance", NULL, REP_COUNT, 0},
	{"deviation", "deviation", REP_COUNT, 0},
	{"longest", "longest", REP_COUNT, 0},
};

static void write_moments(const struct distribution_report *report,
	const struct hg_trace_part *part, enum hg_trace_weight weight)
{
	struct rep_emitter *emitter = report->context->emitter;
	const struct hg_trace_moments *m = &part->by[weight];
	rep_cell_string(emitter, part->name);
	rep_cell_string(emitter, weight_names[weight]);
	if (!report->lifetimes) {
		rep_cell_number(emitter, part->from_us);
		rep_cell_number(emitter, part->to_us);
	}
	cell_of_weight(report, weight, m->count);
	if (!report->lifetimes && weight == HG_TRACE_WEIGH_SAMPLES)
		rep_cell_none(emitter); /* a sum of words times bytes is nothing */
	else if (!report->lifetimes)
		cell_of_statistic(emitter, m->total, "");
	cell_of_statistic(emitter, m->mean, "");
	cell_of_statistic(emitter, m->variance, "");
	cell_of_statistic(emitter, m->deviation, "");
	cell_of_value(emitter, part->largest);
	if (!report->lifetimes) {
		rep_cell_number(emitter, weight_of_sum(report, weight, m->above_127));
		rep_cell_number(emitter, weight_of_sum(report, weight, m->above_256));
		cell_of_percent(emitter, m->above_127, m->count);
		cell_of_percent(emitter, m->above_256, m->count);
	}
	rep_row_end(emitter);
}

/* Without being asked, people get no more than halves. */
static bool shows_part(const struct distribution_report *report, const struct hg_trace_part *part)
{
	static const char *const names[] = {"all", "above_256", "1/2", "2/2"};
	if (report->lifetimes || report->notebooks || report->table ||
		!report->context->emitter->writer->for_people)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(part->name, names[i]))
			return true;
	return false;
}

static void write_statistics(const struct distribution_report *report)
{
	struct rep_emitter *emitter = report->context->emitter;
	const struct hg_trace_distribution *answer = report->answer;
	enum hg_trace_weight last =
		report->notebooks ? HG_TRACE_WEIGH_EVENTS : HG_TRACE_WEIGH_SAMPLES;
	if (!shows_table(report, "statistics"))
		return;
	if (report->lifetimes)
		rep_table_begin(emitter, "statistics", lifetime_statistics,
			sizeof(lifetime_statistics) / sizeof(*lifetime_statistics));
	else
		rep_table_begin(emitter, "statistics", size_statistics,
			sizeof(size_statistics) / sizeof(*size_statistics));
	for (size_t i = 0; i < answer->part_count; i++)
		for (unsigned j = 0; j <= last && shows_part(report, answer->parts[i]); j++)
			write_moments(report, answer->parts[i], (enum hg_trace_weight)j);
	rep_table_end(emitter);
}

/* Cells of what a row counts, and the shares. */
static void write_counts(const struct distribution_report *report,
	const struct hg_trace_counts *counts, uint64_t alive)
{
	struct rep_emitter *emitter = report->context->emitter;
	const struct hg_trace_counts *all = &report->answer->counts;
	rep_cell_number(emitter, counts->events);
	if (report->lifetimes)
		rep_cell_number(emitter, alive);
	if (report->notebooks) {
		rep_cell_share(emitter, counts->events, all->events);
	} else {
		rep_cell_number(emitter, counts->samples);
		rep_cell_number(emitter, counts->blocks);
		rep_cell_number(emitter, rep_trace_bytes(report->info, counts->samples));
		rep_cell_share(emitter, counts->blocks, all->blocks);
		rep_cell_share(emitter, counts->samples, all->samples);
	}
	rep_row_end(emitter);
}

/* Their columns; returns how many. */
static unsigned put_count_columns(
	const struct distribution_report *report, struct rep_column *columns)
{
	unsigned count = 0;
	columns[count++] = (struct rep_column){"events", "events", REP_COUNT, 0};
	if (report->lifetimes)
		columns[count++] = (struct rep_column){"alive", "alive at end", REP_COUNT, 0};
	if (report->notebooks) {
		columns[count++] = (struct rep_column){
			"share_of_events", "  of events", REP_SHARE, REP_NOT_CSV};
		return count;
	}
	columns[count++] = (struct rep_column){"samples", NULL, REP_COUNT, 0};
	columns[count++] = (struct rep_column){"blocks", "blocks", REP_COUNT, 0};
	columns[count++] = (struct rep_column){"bytes", "bytes", REP_BYTES, 0};
	columns[count++] =
		(struct rep_column){"share_of_blocks", "  of blocks", REP_SHARE, REP_NOT_CSV};
	columns[count++] =
		(struct rep_column){"share_of_bytes", "  of bytes", REP_SHARE, REP_NOT_CSV};
	return count;
}

enum { DISTRIBUTION_COLUMNS = 10 };

static void write_sizes(const struct distribution_report *report)
{
	struct rep_emitter *emitter = report->context->emitter;
	const struct hg_trace_distribution *answer = report->answer;
	struct rep_column columns[DISTRIBUTION_COLUMNS] = {{"words", "words", REP_COUNT, 0}};
	unsigned count = 1;
	if (report->lifetimes || !shows_table(report, "sizes"))
		return;
	if (report->notebooks)
		columns[count++] =
			(struct rep_column){"every_events", "of all allocations", REP_COUNT, 0};
	count += put_count_columns(report, columns + count);
	rep_table_begin(emitter, "sizes", columns, count);
	for (size_t i = 0; i < answer->value_count && !rep_emitter_broken(emitter); i++) {
		cell_of_value(emitter, answer->values[i]->value);
		if (report->notebooks)
			rep_cell_number(emitter, answer->values[i]->every);
		write_counts(report, &answer->values[i]->counts, 0);
	}
	rep_table_end(emitter);
}

/* "33 - 64" */
static void write_bounds(struct rep_emitter *emitter, const struct hg_trace_bin *bin)
{
	struct rep_text text = {0};
	rep_text_put(&text, bin->from < 0 ? "-" : "");
	rep_text_count(&text, bin->from < 0 ? 0 - (uint64_t)bin->from : (uint64_t)bin->from);
	if (bin->to > bin->from) {
		rep_text_put(&text, bin->to < 0 ? " - -" : " - ");
		rep_text_count(&text, bin->to < 0 ? 0 - (uint64_t)bin->to : (uint64_t)bin->to);
	}
	cell_of_value(emitter, bin->from);
	cell_of_value(emitter, bin->to);
	rep_cell_string(emitter, rep_text_string(&text));
	emitter->failed |= text.failed;
	rep_text_release(&text);
}

/* People see no bins that are empty. */
static void write_histogram(
	const struct distribution_report *report, const struct hg_trace_histogram *histogram)
{
	struct rep_emitter *emitter = report->context->emitter;
	bool in_ticks = !strcmp(histogram->name, "ticks");
	const char *title = !report->lifetimes ? "words" : in_ticks ? "ticks" : "microseconds";
	struct rep_column columns[DISTRIBUTION_COLUMNS] = {{"from", NULL, REP_COUNT, 0},
		{"to", NULL, REP_COUNT, 0}, {NULL, title, REP_COUNT, 0}};
	if (!shows_table(report, histogram->name))
		return;
	unsigned count = 3 + put_count_columns(report, columns + 3);
	rep_prose(emitter, REP_PLAIN, "\n");
	rep_table_begin(emitter, histogram->name, columns, count);
	for (size_t i = 0; i < histogram->count && !rep_emitter_broken(emitter); i++) {
		const struct hg_trace_bin *bin = histogram->bins[i];
		if (emitter->writer->for_people && !bin->counts.events)
			continue;
		write_bounds(emitter, bin);
		write_counts(report, &bin->counts, bin->alive);
	}
	rep_table_end(emitter);
}

static void write_distribution_head(const struct distribution_report *report)
{
	struct rep_emitter *emitter = report->context->emitter;
	const struct hg_trace_distribution *answer = report->answer;
	const struct hg_trace_counts *counts = &answer->counts;
	uint64_t bytes = rep_trace_bytes(report->info, counts->samples);
	struct rep_text line = {0};
	rep_prose(emitter, REP_BOLD, report->lifetimes ? "Lifetimes of blocks" : "Sizes of blocks");
	rep_text_count(&line, counts->events);
	rep_text_put(&line, report->notebooks ? " were promoted or not allocated in the minor heap"
					      : " sampled, which stand for ");
	if (!report->notebooks) {
		rep_text_count(&line, counts->blocks);
		rep_text_put(&line, " blocks, ");
		rep_text_size(&line, bytes);
	}
	if (report->lifetimes) {
		rep_text_put(&line, "; ");
		rep_text_count(&line, answer->alive);
		rep_text_put(&line, " of them alive at the end");
	}
	rep_prose(emitter, REP_PLAIN, ": %s\n", rep_text_string(&line));
	rep_trace_say_filtered(report->context);
	rep_value_bool(emitter, "as_notebooks", NULL, report->notebooks);
	rep_value_number(emitter, "events_total", NULL, REP_COUNT, counts->events);
	rep_value_number(emitter, "samples_total", NULL, REP_COUNT, counts->samples);
	rep_value_number(emitter, "blocks_total", NULL, REP_COUNT, counts->blocks);
	rep_value_number(emitter, "bytes_total", NULL, REP_BYTES, bytes);
	if (report->lifetimes) {
		rep_value_number(emitter, "ticks_total", NULL, REP_COUNT, answer->ticks);
		rep_value_number(emitter, "alive_total", NULL, REP_COUNT, answer->alive);
		rep_value_number(emitter, "end_us", NULL, REP_COUNT, answer->end_us);
	}
	emitter->failed |= line.failed;
	rep_text_release(&line);
}

static void write_distribution(const struct distribution_report *report)
{
	const struct hg_trace_distribution *answer = report->answer;
	struct rep_emitter *emitter = report->context->emitter;
	rep_document_begin(emitter, report->lifetimes ? "trace lifetimes" : "trace sizes");
	write_distribution_head(report);
	write_statistics(report);
	write_sizes(report);
	for (size_t i = 0; i < answer->histogram_count; i++)
		write_histogram(report, answer->histograms[i]);
	if (!report->table)
		rep_prose(
			emitter, REP_PLAIN, "Other tables: --table; all of them: --format json\n");
	rep_document_end(emitter);
}

typedef enum hg_status list_distribution_fn(struct hg_trace *,
	const struct hg_trace_statistics_options *, struct hg_trace_distribution **);

static enum hg_status report_distribution(
	struct distribution_report *report, const char *const *tables, list_distribution_fn *list)
{
	struct rep_trace_context *context = report->context;
	struct hg_trace_distribution *answer;
	struct hg_trace_statistics_options options = {
		.size = sizeof(options), .as_notebooks = report->request->as_notebooks};
	report->info = hg_trace_header(context->trace);
	report->notebooks = options.as_notebooks;
	if (report->request->table != REP_NO_TABLE)
		report->table = tables[report->request->table];
	if (report->notebooks && report->table && !strcmp(report->table, "powers"))
		return base_fail(context->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"--table powers: the notebooks have no such table (--compat)");
	enum hg_status status = list(context->trace, &options, &answer);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	report->answer = answer;
	write_distribution(report);
	rep_trace_note(context, &answer->losses);
	hg_trace_distribution_release(&answer);
	return HG_OK;
}

enum hg_status rep_trace_sizes(
	struct rep_trace_context *context, const struct rep_distribution_request *request)
{
	struct distribution_report report = {.context = context, .request = request};
	return report_distribution(&report, tables_of_sizes, hg_list_trace_sizes);
}

enum hg_status rep_trace_lifetimes(
	struct rep_trace_context *context, const struct rep_distribution_request *request)
{
	struct distribution_report report = {
		.context = context, .request = request, .lifetimes = true};
	return report_distribution(&report, tables_of_lifetimes, hg_list_trace_lifetimes);
}
