/* Tables of a trace: locations of allocation and their files, and functions with all they call. */
#include "query/trace/trace.h"

#include "query/trace/alive.h"
#include "query/trace/calls.h"
#include "query/trace/pass.h"
#include "query/trace/place_text.h"
#include "query/trace/preorder.h"

#include "base/grow.h"
#include "query/shared/result.h"

#include <stdlib.h>
#include <string.h>

/* A pass over all events and what comes out of it. */
struct trace_table {
	struct hg_trace *trace;
	struct query_pass pass;
	struct query_alive alive;
	struct query_calls calls;         /* of functions */
	struct trace_names names;         /* of rows */
	struct hg_trace_amounts *amounts; /* of each name */
	uint64_t amounts_count, amounts_capacity;
};

static enum hg_status count_by_function(struct trace_table *table)
{
	struct hg_error *error = &table->trace->session->error;
	const struct memtrace_batch *batch;
	const uint32_t *nodes;
	while (query_pass_next_batch(&table->pass, &batch)) {
		BASE_TRY(query_calls_follow(&table->calls, batch, &nodes, error));
		BASE_TRY(query_alive_add_batch(&table->alive, batch, nodes, error));
	}
	query_calls_end(&table->calls);
	return query_alive_end(&table->alive, table->calls.count, error);
}

/* Groups are codes, the innermost ones; 0 where that is not known. */
static enum hg_status count_by_code(struct trace_table *table)
{
	struct hg_error *error = &table->trace->session->error;
	struct memtrace_event event;
	while (query_pass_next(&table->pass, &event)) {
		uint32_t code = 0;
		if (event.kind == MEMTRACE_ALLOCATION && event.depth && !event.truncated)
			code = event.stack[event.depth - 1];
		BASE_TRY(query_alive_add(&table->alive, &event,
			query_hides_code(table->trace, code) ? 0 : code, error));
	}
	return query_alive_end(
		&table->alive, memtrace_places(table->trace->reader)->code_count, error);
}

/* Adds to the row of a name. */
static enum hg_status add_to_named_row(
	struct trace_table *table, const char *name, const struct hg_trace_amounts *amounts)
{
	struct hg_error *error = &table->trace->session->error;
	uint32_t number;
	BASE_TRY(trace_names_add(&table->names, name, strlen(name), &number, error));
	while (table->amounts_count <= number) {
		BASE_TRY(base_grow(&table->amounts, table->amounts_count, &table->amounts_capacity,
			sizeof(*table->amounts), error));
		table->amounts[table->amounts_count++] = (struct hg_trace_amounts){0};
	}
	query_add_amounts(&table->amounts[number], amounts);
	return HG_OK;
}

static enum hg_status add_row_of_file(
	struct trace_table *table, uint32_t number, const struct hg_trace_amounts *amounts)
{
	const struct memtrace_locations *locations = memtrace_places(table->trace->reader);
	const struct memtrace_code *code = &locations->codes[number];
	const char *file = "";
	if (number && code->count)
		file = trace_name(&locations->names,
			locations->locations[code->first + code->count - 1].file);
	return add_to_named_row(table, file, amounts);
}

/* Of the innermost location. */
static enum hg_status add_row_of_code(
	struct trace_table *table, uint32_t number, const struct hg_trace_amounts *amounts)
{
	const struct memtrace_locations *locations = memtrace_places(table->trace->reader);
	if (!number)
		return add_to_named_row(table, "", amounts);
	char *name = query_place_text(locations, number, locations->codes[number].count - 1);
	if (!name)
		return base_no_memory(&table->trace->session->error, 64);
	enum hg_status status = add_to_named_row(table, name, amounts);
	free(name);
	return status;
}

static enum hg_status add_rows_of_codes(struct trace_table *table, bool by_file)
{
	for (uint64_t i = 0; i < table->alive.group_count; i++) {
		const struct hg_trace_amounts *amounts = &table->alive.groups[i];
		if (amounts->samples)
			BASE_TRY(by_file ? add_row_of_file(table, (uint32_t)i, amounts)
					 : add_row_of_code(table, (uint32_t)i, amounts));
	}
	return HG_OK;
}

/* Parents come before their children, and no function is twice on a path. */
static enum hg_status sum_up_functions(struct trace_table *table, struct hg_trace_amounts *sums)
{
	const struct memtrace_locations *locations = memtrace_places(table->trace->reader);
	const struct query_call *nodes = table->calls.nodes;
	struct hg_trace_amounts *groups = table->alive.groups;
	for (uint64_t i = table->alive.group_count; i-- > 1;) {
		query_add_amounts(&sums[nodes[i].function], &groups[i]);
		if (nodes[i].parent)
			query_add_amounts(&groups[nodes[i].parent], &groups[i]);
	}
	if (groups[0].samples)
		BASE_TRY(add_to_named_row(table, "", &groups[0]));
	for (uint64_t i = 0; i < locations->names.count; i++)
		if (sums[i].samples)
			BASE_TRY(add_to_named_row(
				table, trace_name(&locations->names, (uint32_t)i), &sums[i]));
	return HG_OK;
}

static enum hg_status add_rows_of_functions(struct trace_table *table)
{
	uint64_t count = memtrace_places(table->trace->reader)->names.count;
	struct hg_trace_amounts *sums = calloc(count + 1, sizeof(*sums));
	enum hg_status status =
		sums ? sum_up_functions(table, sums)
		     : base_no_memory(&table->trace->session->error, count * sizeof(*sums));
	free(sums);
	return status;
}

static int compare_trace_rows(const void *a, const void *b)
{
	const struct hg_trace_row *x = a, *y = b;
	if (x->amounts.samples != y->amounts.samples)
		return x->amounts.samples < y->amounts.samples ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Bytes that the names of all rows take. */
static uint64_t text_of_rows(const struct trace_table *table)
{
	uint64_t bytes = 0;
	for (uint64_t i = 0; i < table->amounts_count; i++)
		bytes += table->names.names[i].length + UINT64_C(1);
	return bytes;
}

static enum hg_status make_trace_rows(struct trace_table *table, struct hg_trace_rows *out)
{
	struct hg_error *error = &table->trace->session->error;
	uint64_t count = table->amounts_count;
	struct hg_trace_row *rows = calloc(count + 1, sizeof(*rows));
	char *text = malloc(text_of_rows(table) + 1);
	query_keep(out, text);
	if (!rows || !text) {
		free(rows);
		return base_no_memory(error, count * sizeof(*rows));
	}
	for (uint64_t i = 0; i < count; i++) {
		rows[i] = (struct hg_trace_row){text, table->amounts[i]};
		text = stpcpy(text, trace_name(&table->names, (uint32_t)i)) + 1;
	}
	qsort(rows, count, sizeof(*rows), compare_trace_rows);
	out->count = count;
	out->totals = table->alive.totals;
	return query_keep_rows_of(error, out, rows, count, sizeof(*rows), &out->rows);
}

static enum hg_status fill_trace_table(
	struct trace_table *table, enum hg_trace_key key, struct hg_trace_rows *out)
{
	struct hg_trace *trace = table->trace;
	BASE_TRY(query_pass_begin(&table->pass, trace, &trace->filter));
	BASE_TRY(query_alive_init(&table->alive, trace, &trace->filter, true));
	BASE_TRY(query_calls_init(&table->calls, memtrace_places(trace->reader),
		&trace->session->budget, QUERY_FUNCTIONS, &trace->filter, &trace->session->error));
	BASE_TRY(key == HG_TRACE_BY_FUNCTION ? count_by_function(table) : count_by_code(table));
	BASE_TRY(query_pass_end(&table->pass, table->alive.unknown, &out->losses));
	BASE_TRY(key == HG_TRACE_BY_FUNCTION ? add_rows_of_functions(table)
					     : add_rows_of_codes(table, key == HG_TRACE_BY_FILE));
	return make_trace_rows(table, out);
}

enum hg_status hg_list_trace(
	struct hg_trace *trace, enum hg_trace_key key, struct hg_trace_rows **out)
{
	BASE_TRY(query_trace_begin(trace, (void *)out));
	struct hg_error *error = &trace->session->error;
	if (key != HG_TRACE_BY_LOCATION && key != HG_TRACE_BY_FUNCTION && key != HG_TRACE_BY_FILE)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "no such key of a trace");
	BASE_TRY(query_answer_of(error, sizeof(**out), out));
	struct trace_table table = {
		.trace = trace,
	};
	enum hg_status status = fill_trace_table(&table, key, *out);
	query_pass_release(&table.pass);
	query_alive_release(&table.alive);
	query_calls_release(&table.calls);
	free(table.amounts);
	trace_names_release(&table.names);
	if (status != HG_OK)
		hg_trace_rows_release(out);
	return status;
}

void hg_trace_rows_release(struct hg_trace_rows **rows)
{
	query_free(rows);
}
