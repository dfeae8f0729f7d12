/* How often which place calls which function. */
#include "query/spacetime/spacetime.h"

#include "query/spacetime/points.h"

#include "query/shared/result.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct call_counter {
	struct hg_trace *trace;
	struct hg_error *error;
	struct query_spacetime_places names;
	struct spacetime_walk walk;
	struct base_map site_of;        /* by return address: a name of the trace's */
	struct base_map callee_of;      /* by address: an index of callees */
	struct base_map callee_by_name; /* the same, by both its names */
	struct call_callee {
		uint32_t name, at; /* names of the trace's */
	} * callees;
	uint64_t callee_count, callee_capacity;
	struct base_map row_of; /* by site, callee and kind */
	struct hg_spacetime_call *rows;
	uint64_t count, capacity;
	uint64_t paths_by_c;
};

static enum hg_status name_address(struct call_counter *c, uint64_t address, uint32_t *name)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "0x%" PRIx64, address);
	return trace_names_add(&c->trace->names, text, (size_t)length, name, c->error);
}

static enum hg_status find_call_site(struct call_counter *c, uint64_t pc, uint32_t *site)
{
	if (base_map_number(&c->site_of, pc, site))
		return HG_OK;
	BASE_TRY(query_spacetime_place(&c->names, pc, site));
	if (*site == QUERY_NO_PLACE)
		BASE_TRY(query_spacetime_symbol(&c->names, pc - 1, site));
	if (*site == QUERY_NO_PLACE)
		BASE_TRY(name_address(c, pc, site));
	return base_map_set(&c->site_of, pc, *site, c->error);
}

/* The outermost location of a frame, which is in the function itself and not in what is inlined. */
static const struct spacetime_location *location_in_function(
	const struct spacetime_tables *tables, uint64_t pc)
{
	uint32_t frame;
	if (!base_map_number(&tables->frame_of, pc, &frame))
		return NULL;
	const struct spacetime_span *span = &tables->frames[frame];
	const struct spacetime_location *last =
		span->count ? &tables->locations[span->first + span->count - 1] : NULL;
	return last && last->known ? last : NULL;
}

/* Calls and allocations of a function are in the order of its code: the first of known place. */
static enum hg_status find_line_of_function(
	struct call_counter *c, uint64_t function, const char *before, uint32_t *line)
{
	const struct spacetime_tables *tables = &c->names.tables;
	const struct spacetime_location *location = NULL;
	struct trace_names *names = &c->trace->names;
	char number[32];
	uint32_t shape;
	if (base_map_number(&tables->shape_of, function, &shape))
		for (uint32_t i = 0; i < tables->shapes[shape].count && !location; i++)
			location = location_in_function(
				tables, tables->parts[tables->shapes[shape].first + i].pc);
	if (!location)
		return trace_names_add(names, "", 0, line, c->error);
	const char *file = trace_name(&tables->files, location->file);
	snprintf(number, sizeof(number), ":%" PRId64, location->line);
	size_t length = strlen(before) + strlen(file) + strlen(number);
	char *text = malloc(length + 1);
	if (!text)
		return base_no_memory(c->error, length);
	snprintf(text, length + 1, "%s%s%s", before, file, number);
	enum hg_status status = trace_names_add(names, text, length, line, c->error);
	free(text);
	return status;
}

static enum hg_status name_callee(struct call_counter *c, uint64_t address, struct call_callee *out)
{
	BASE_TRY(find_line_of_function(c, address, "", &out->at));
	BASE_TRY(query_spacetime_symbol(&c->names, address, &out->name));
	if (out->name != QUERY_NO_PLACE)
		return HG_OK;
	return *trace_name(&c->trace->names, out->at)
		       ? find_line_of_function(c, address, "function at ", &out->name)
		       : name_address(c, address, &out->name);
}

static enum hg_status find_callee(struct call_counter *c, uint64_t address, uint32_t *callee)
{
	struct call_callee found;
	uint64_t number = c->callee_count;
	bool added;
	if (base_map_number(&c->callee_of, address, callee))
		return HG_OK;
	BASE_TRY(name_callee(c, address, &found));
	BASE_TRY(base_map_add(&c->callee_by_name, (uint64_t)found.name << 32 | found.at, &number,
		&added, c->error));
	if (added) {
		BASE_TRY(base_grow(&c->callees, c->callee_count, &c->callee_capacity,
			sizeof(*c->callees), c->error));
		c->callees[c->callee_count++] = found;
	}
	*callee = (uint32_t)number;
	return base_map_set(&c->callee_of, address, number, c->error);
}

static enum hg_status find_call_row(struct call_counter *c, const struct spacetime_step *step,
	enum hg_spacetime_call_kind kind, struct hg_spacetime_call **row)
{
	enum { KINDS = 4, MOST_CALLEES = 1 << 30 };
	const struct trace_names *names = &c->trace->names;
	uint32_t site, callee;
	uint64_t number = c->count;
	bool added;
	BASE_TRY(find_call_site(c, step->pc, &site));
	BASE_TRY(find_callee(c, step->function, &callee));
	if (callee >= MOST_CALLEES)
		return base_fail(c->error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many functions");
	BASE_TRY(base_map_add(&c->row_of, (uint64_t)site << 32 | (callee * KINDS + kind), &number,
		&added, c->error));
	if (added) {
		BASE_TRY(base_grow(&c->rows, c->count, &c->capacity, sizeof(*c->rows), c->error));
		c->rows[c->count++] = (struct hg_spacetime_call){.kind = kind,
			.site = trace_name(names, site),
			.callee = trace_name(names, c->callees[callee].name),
			.callee_at = trace_name(names, c->callees[callee].at)};
	}
	*row = &c->rows[number];
	return HG_OK;
}

static enum hg_status count_call(void *data, const struct spacetime_step *step)
{
	struct call_counter *c = data;
	enum hg_spacetime_call_kind kind = HG_SPACETIME_DIRECT;
	struct hg_spacetime_call *row = NULL;
	if (step->kind == SPACETIME_C_CALLS) {
		c->paths_by_c++;
		return HG_OK;
	}
	if (step->kind == SPACETIME_CALLS_INDIRECTLY)
		kind = HG_SPACETIME_INDIRECT;
	else if (step->kind == SPACETIME_CALLS_C)
		kind = HG_SPACETIME_TO_C;
	else if (step->kind != SPACETIME_CALLS)
		return HG_OK;
	BASE_TRY(find_call_row(c, step, kind, &row));
	row->calls += step->count > 0 ? (uint64_t)step->count : 0;
	row->paths++;
	return HG_OK;
}

static int compare_call_rows(const void *a, const void *b)
{
	const struct hg_spacetime_call *x = a, *y = b;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	int order = strcmp(x->site, y->site);
	if (!order)
		order = strcmp(x->callee, y->callee);
	if (!order)
		order = strcmp(x->callee_at, y->callee_at);
	return order ? order : (int)x->kind - (int)y->kind;
}

static enum hg_status make_call_rows(struct call_counter *c, struct hg_spacetime_call_counts *out)
{
	for (uint64_t i = 0; i < c->count; i++) {
		const struct hg_spacetime_call *row = &c->rows[i];
		*(row->kind == HG_SPACETIME_DIRECT           ? &out->direct
			: row->kind == HG_SPACETIME_INDIRECT ? &out->indirect
							     : &out->to_c) += row->calls;
		out->paths += row->paths;
	}
	if (c->count)
		qsort(c->rows, c->count, sizeof(*c->rows), compare_call_rows);
	out->count = c->count;
	out->paths_by_c = c->paths_by_c;
	struct hg_spacetime_call *rows = c->rows;
	c->rows = NULL;
	return query_keep_rows_of(c->error, out, rows, out->count, sizeof(*rows), &out->rows);
}

static enum hg_status count_all_calls(struct call_counter *c, struct hg_spacetime_call_counts *out)
{
	BASE_TRY(query_spacetime_need_calls(c->trace, true));
	BASE_TRY(query_spacetime_places_init(&c->names, c->trace));
	BASE_TRY(spacetime_walk_init(&c->walk, &c->names.tables, count_call, c, c->error));
	BASE_TRY(query_spacetime_walk_all(c->trace, &c->walk));
	BASE_TRY(make_call_rows(c, out));
	return query_spacetime_end(c->trace, &out->losses);
}

enum hg_status hg_count_spacetime_calls(
	struct hg_trace *trace, struct hg_spacetime_call_counts **out)
{
	BASE_TRY(query_spacetime_begin(trace, (void *)out));
	struct call_counter c = {.trace = trace, .error = &trace->session->error};
	BASE_TRY(query_answer_of(c.error, sizeof(**out), out));
	enum hg_status status = count_all_calls(&c, *out);
	spacetime_walk_release(&c.walk);
	query_spacetime_places_release(&c.names);
	base_map_release(&c.site_of);
	base_map_release(&c.callee_of);
	base_map_release(&c.callee_by_name);
	base_map_release(&c.row_of);
	free(c.callees);
	free(c.rows);
	if (status != HG_OK)
		hg_spacetime_call_counts_release(out);
	return status == HG_OK ? HG_OK : query_trace_failed(trace, status);
}

void hg_spacetime_call_counts_release(struct hg_spacetime_call_counts **counts)
{
	query_free(counts);
}
