/*
 * Events as text, line for line what dump_trace of memtrace's development version prints.  Nearly
 * all of it are the frames of backtraces, whose text is made once for each code.
 */
#include "query/trace/trace.h"

#include "query/trace/pass.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Text on its way out, and that of each code; a domain's backtraces share their beginnings. */
struct dump {
	hg_write_fn *write;
	void *data;
	struct hg_error *error;
	char *line;
	uint64_t used, room;
	const struct query_filter *filter; /* NULL: nothing is hidden */

	char *texts; /* of all codes, one after the other */
	uint64_t texts_used, texts_room;
	struct dumped_code {
		uint64_t start, length; /* in texts */
		bool made, hidden;      /* hidden: its innermost location is */
	} * codes;
	uint64_t code_count, code_capacity;
};

enum { DUMP_AT_ONCE = 1 << 16 };

static enum hg_status put_in_dump(struct dump *dump, const char *text, size_t length)
{
	BASE_TRY(base_grow_by(&dump->line, dump->used, length, &dump->room, 1, dump->error));
	memcpy(dump->line + dump->used, text, length);
	dump->used += length;
	return HG_OK;
}

static enum hg_status flush_dump(struct dump *dump, uint64_t from)
{
	if (dump->used < from || !dump->used)
		return HG_OK;
	if (!dump->write(dump->data, dump->line, dump->used))
		return base_fail(dump->error, HG_ERROR_OUTPUT, HG_NO_OFFSET,
			"the text of the trace cannot be written");
	dump->used = 0;
	return HG_OK;
}

static enum hg_status add_text_of_code(struct dump *dump, const char *text, size_t length)
{
	if (!length)
		return HG_OK;
	BASE_TRY(base_grow_by(
		&dump->texts, dump->texts_used, length, &dump->texts_room, 1, dump->error));
	memcpy(dump->texts + dump->texts_used, text, length);
	dump->texts_used += length;
	return HG_OK;
}

static enum hg_status add_text_of_location(struct dump *dump,
	const struct memtrace_locations *locations, const struct memtrace_location *location)
{
	char numbers[64];
	const char *function = trace_name(&locations->names, location->function);
	const char *file = trace_name(&locations->names, location->file);
	int length = snprintf(numbers, sizeof(numbers), ":%" PRIu32 ":%u-%u", location->line,
		location->start, location->end);
	BASE_TRY(add_text_of_code(dump, " ", 1));
	BASE_TRY(add_text_of_code(dump, function, strlen(function)));
	BASE_TRY(add_text_of_code(dump, "@", 1));
	BASE_TRY(add_text_of_code(dump, file, strlen(file)));
	return add_text_of_code(dump, numbers, (size_t)length);
}

static enum hg_status make_text_of_code(
	struct dump *dump, const struct memtrace_locations *locations, uint32_t number)
{
	const struct memtrace_code *code = &locations->codes[number];
	char bare[32];
	bool hidden = false;
	while (dump->code_count <= number) {
		BASE_TRY(base_grow(&dump->codes, dump->code_count, &dump->code_capacity,
			sizeof(*dump->codes), dump->error));
		dump->codes[dump->code_count++] = (struct dumped_code){0};
	}
	dump->codes[number].start = dump->texts_used;
	if (!code->count) {
		int length = snprintf(bare, sizeof(bare), " $%" PRId64, (int64_t)code->code);
		BASE_TRY(add_text_of_code(dump, bare, (size_t)length));
	}
	for (uint32_t i = 0; i < code->count; i++) {
		const struct memtrace_location *location = &locations->locations[code->first + i];
		hidden = dump->filter && query_filter_hides(dump->filter,
						 trace_name(&locations->names, location->function));
		if (!hidden)
			BASE_TRY(add_text_of_location(dump, locations, location));
	}
	dump->codes[number].made = true;
	dump->codes[number].hidden = hidden;
	dump->codes[number].length = dump->texts_used - dump->codes[number].start;
	return HG_OK;
}

static enum hg_status dump_stack(struct dump *dump, const struct memtrace_locations *locations,
	const struct memtrace_event *event)
{
	for (uint64_t i = 0; i < event->depth; i++) {
		uint32_t number = event->stack[i];
		if (number >= dump->code_count || !dump->codes[number].made)
			BASE_TRY(make_text_of_code(dump, locations, number));
		const struct dumped_code *code = &dump->codes[number];
		BASE_TRY(put_in_dump(dump, dump->texts + code->start, code->length));
		BASE_TRY(flush_dump(dump, DUMP_AT_ONCE));
	}
	if (event->depth && dump->codes[event->stack[event->depth - 1]].hidden)
		return put_in_dump(dump, " (hidden)", 9);
	return HG_OK;
}

static enum hg_status dump_event(struct dump *dump, const struct memtrace_locations *locations,
	const struct memtrace_event *event)
{
	static const char *const kinds[] = {[MEMTRACE_MINOR] = "alloc",
		[MEMTRACE_MAJOR] = "alloc_major",
		[MEMTRACE_EXTERNAL] = "alloc_ext"};
	char text[256];
	int length;
	if (event->kind != MEMTRACE_ALLOCATION) {
		length = snprintf(text, sizeof(text), "%010" PRIu64 " %010" PRIu64 " %s\n",
			event->time, event->object,
			event->kind == MEMTRACE_PROMOTION ? "promote" : "collect");
		return put_in_dump(dump, text, (size_t)length);
	}
	length = snprintf(text, sizeof(text),
		"%010" PRIu64 " %010" PRIu64 " %s %" PRIu64 " len=%" PRIu64 " dom=%u % 4" PRId64
		":",
		event->time, event->object, kinds[event->source], event->samples, event->length,
		event->domain, (int64_t)event->common);
	BASE_TRY(put_in_dump(dump, text, (size_t)length));
	BASE_TRY(dump_stack(dump, locations, event));
	return put_in_dump(dump, "\n", 1);
}

static enum hg_status dump_pass(struct query_pass *pass, struct dump *dump)
{
	struct memtrace_event event;
	while (query_pass_next(pass, &event)) {
		BASE_TRY(dump_event(dump, memtrace_places(pass->trace->reader), &event));
		if (dump->used < DUMP_AT_ONCE)
			continue;
		BASE_TRY(flush_dump(dump, 1));
		BASE_TRY(query_trace_progress(pass->trace));
	}
	return flush_dump(dump, 1);
}

static enum hg_status dump_events(struct hg_trace *trace, struct dump *dump)
{
	struct query_pass pass;
	struct hg_trace_losses losses;
	dump->room = 2 * DUMP_AT_ONCE;
	dump->line = malloc(dump->room);
	if (!dump->line)
		return base_no_memory(dump->error, dump->room);
	enum hg_status status = query_pass_begin(&pass, trace, &trace->filter);
	if (status == HG_OK)
		status = dump_pass(&pass, dump);
	if (status == HG_OK)
		status = query_pass_end(&pass, 0, &losses);
	query_pass_release(&pass);
	return status;
}

enum hg_status hg_dump_trace(struct hg_trace *trace, hg_write_fn *write, void *data)
{
	void *no_result;
	BASE_TRY(query_trace_begin(trace, &no_result));
	if (!write)
		return base_fail(&trace->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"nothing to write the text with");
	struct dump dump = {.write = write,
		.data = data,
		.error = &trace->session->error,
		.filter = trace->filter.hides ? &trace->filter : NULL};
	enum hg_status status = dump_events(trace, &dump);
	free(dump.line);
	free(dump.texts);
	free(dump.codes);
	return status;
}
