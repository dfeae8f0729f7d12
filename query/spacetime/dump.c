/*
 * A series as text, line for line what a program prints that walks it with OCaml's own
 * raw_spacetime_lib: the snapshots, the tries, and the frames that the walk met.
 */
#include "query/spacetime/spacetime.h"

#include "base/grow.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct series_dump {
	struct hg_trace *trace;
	hg_write_fn *write;
	void *data;
	struct hg_error *error;
	char *text;
	uint64_t used, room;
	char kind[40]; /* of the trie being walked */
	uint64_t allocations, calls;
	const struct spacetime_tables *tables;
	struct spacetime_walk walk;
	struct base_map seen; /* return addresses in OCaml code */
	uint64_t *addresses;  /* of these */
	uint64_t address_count, address_capacity;
};

enum { SERIES_TEXT_AT_ONCE = 1 << 16 };

static enum hg_status put_text(struct series_dump *dump, const char *text, size_t length)
{
	BASE_TRY(base_grow_by(&dump->text, dump->used, length, &dump->room, 1, dump->error));
	memcpy(dump->text + dump->used, text, length);
	dump->used += length;
	return HG_OK;
}

static enum hg_status flush_text(struct series_dump *dump, uint64_t from)
{
	if (dump->used < from || !dump->used)
		return HG_OK;
	if (!dump->write(dump->data, dump->text, dump->used))
		return base_fail(dump->error, HG_ERROR_OUTPUT, HG_NO_OFFSET,
			"the text of the series cannot be written");
	dump->used = 0;
	return base_progress(dump->trace->session, "writing the text of the series", 0, 0);
}

static enum hg_status BASE_PRINTF(2, 3)
	print_text(struct series_dump *dump, const char *format, ...)
{
	char line[512];
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	return put_text(dump, line, (size_t)length);
}

/* As OCaml's %h writes it, which differs from C's %a in these alone. */
static enum hg_status print_time(struct series_dump *dump, const char *before, double time)
{
	if (isnan(time))
		return print_text(dump, "%snan", before);
	if (isinf(time))
		return print_text(dump, "%s%sinfinity", before, time < 0 ? "-" : "");
	return print_text(dump, "%s%a", before, time);
}

/* As OCaml's %S. */
static enum hg_status put_quoted(struct series_dump *dump, const char *bytes, uint64_t length)
{
	static const char special[] = "\n\t\r\b\"\\", letters[] = "ntrb\"\\";
	BASE_TRY(put_text(dump, "\"", 1));
	for (uint64_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)bytes[i];
		const char *found = c ? strchr(special, c) : NULL;
		if (found)
			BASE_TRY(print_text(dump, "\\%c", letters[found - special]));
		else if (c < ' ' || c > '~')
			BASE_TRY(print_text(dump, "\\%03u", c));
		else
			BASE_TRY(put_text(dump, &bytes[i], 1));
	}
	return put_text(dump, "\"", 1);
}

static enum hg_status dump_backtrace(struct series_dump *dump, uint64_t pc, uint32_t caller)
{
	BASE_TRY(put_text(dump, " :", 2));
	if (pc)
		BASE_TRY(print_text(dump, " %" PRIx64, pc));
	else if (!caller)
		BASE_TRY(put_text(dump, " ", 1));
	for (; caller; caller = dump->walk.frames[caller].caller) {
		BASE_TRY(print_text(dump, " %" PRIx64, dump->walk.frames[caller].pc));
		BASE_TRY(flush_text(dump, SERIES_TEXT_AT_ONCE));
	}
	return put_text(dump, "\n", 1);
}

static enum hg_status note_address(struct series_dump *dump, uint64_t pc)
{
	bool added;
	BASE_TRY(base_map_note(&dump->seen, pc, &added, dump->error));
	if (!added)
		return HG_OK;
	BASE_TRY(base_grow(&dump->addresses, dump->address_count, &dump->address_capacity,
		sizeof(*dump->addresses), dump->error));
	dump->addresses[dump->address_count++] = pc;
	return HG_OK;
}

static enum hg_status dump_step(void *data, const struct spacetime_step *step)
{
	static const struct {
		const char *word;
		bool allocates, by_ocaml;
	} kinds[] = {
		[SPACETIME_NODE] = {"node", false, false},
		[SPACETIME_ALLOCATES] = {"alloc", true, true},
		[SPACETIME_C_ALLOCATES] = {"calloc", true, false},
		[SPACETIME_CALLS] = {"direct", false, true},
		[SPACETIME_CALLS_C] = {"foreign", false, true},
		[SPACETIME_CALLS_INDIRECTLY] = {"indirect", false, true},
		[SPACETIME_C_CALLS] = {"ccall", false, false},
	};
	struct series_dump *dump = data;
	const char *word = kinds[step->kind].word;
	BASE_TRY(print_text(dump, "%s %s", dump->kind, word));
	if (step->kind == SPACETIME_NODE)
		BASE_TRY(print_text(dump, " %" PRIx64, step->function));
	else if (kinds[step->kind].allocates)
		dump->allocations++;
	else
		dump->calls++;
	if (kinds[step->kind].by_ocaml)
		BASE_TRY(note_address(dump, step->pc));
	if (kinds[step->kind].allocates)
		BASE_TRY(print_text(dump, " %" PRIu32 " %" PRId64, step->annotation, step->words));
	else if (kinds[step->kind].by_ocaml && dump->tables->call_counts)
		BASE_TRY(print_text(
			dump, " %" PRId64 " callee %" PRIx64, step->count, step->function));
	else if (kinds[step->kind].by_ocaml)
		BASE_TRY(print_text(dump, " - callee %" PRIx64, step->function));
	BASE_TRY(dump_backtrace(dump, step->pc, step->caller));
	return flush_text(dump, SERIES_TEXT_AT_ONCE);
}

static enum hg_status dump_snapshot_text(
	struct series_dump *dump, uint64_t number, const struct spacetime_snapshot *snapshot)
{
	BASE_TRY(print_text(dump, "snapshot %" PRIu64, number));
	BASE_TRY(print_time(dump, " ", snapshot->time));
	BASE_TRY(put_text(dump, " gc", 3));
	for (unsigned i = 0; i < SPACETIME_GC_NUMBERS; i++)
		BASE_TRY(print_text(dump, " %" PRId64, snapshot->gc[i]));
	BASE_TRY(print_text(dump, " scanned %" PRId64 " with %" PRId64 "\n", snapshot->scanned,
		snapshot->annotated));
	for (uint64_t i = 0; i < snapshot->entry_count; i++) {
		const struct spacetime_entry *entry = &snapshot->entries[i];
		BASE_TRY(print_text(dump, "live %" PRIu64 " %" PRIu32 " %" PRId64 " %" PRId64 "\n",
			number, entry->annotation, entry->blocks, entry->words));
		BASE_TRY(flush_text(dump, SERIES_TEXT_AT_ONCE));
	}
	for (uint64_t i = 0; i < snapshot->total_count; i++) {
		const struct spacetime_total *total = &snapshot->totals[i];
		BASE_TRY(print_text(dump, "total %" PRIu64 " %" PRIu32 " %" PRId64 "\n", number,
			total->annotation, total->words));
		BASE_TRY(flush_text(dump, SERIES_TEXT_AT_ONCE));
	}
	return HG_OK;
}

static enum hg_status dump_moments(struct series_dump *dump)
{
	const struct spacetime_series *series = &dump->trace->series;
	uint64_t number = 0;
	for (uint64_t i = 0; i < series->moment_count; i++) {
		const struct spacetime_moment *moment = &series->moments[i];
		if (!moment->is_event)
			continue;
		BASE_TRY(print_time(dump, "event ", moment->time));
		BASE_TRY(put_text(dump, " ", 1));
		BASE_TRY(put_quoted(dump, moment->name, moment->name_length));
		BASE_TRY(put_text(dump, "\n", 1));
	}
	for (uint64_t i = 0; i < series->moment_count; i++) {
		const struct spacetime_moment *moment = &series->moments[i];
		struct spacetime_snapshot snapshot;
		if (moment->is_event)
			continue;
		enum hg_status status =
			spacetime_read_snapshot(series, moment, &snapshot, dump->error);
		if (status == HG_OK)
			status = dump_snapshot_text(dump, number, &snapshot);
		else
			status = query_spacetime_skip(dump->trace, status, moment->offset,
				"a snapshot that cannot be read");
		spacetime_snapshot_release(&snapshot);
		BASE_TRY(status);
		number++;
	}
	return HG_OK;
}

static enum hg_status dump_tries(struct series_dump *dump)
{
	static const char *const kinds[] = {"normal", "finaliser"};
	const struct spacetime_series *series = &dump->trace->series;
	BASE_TRY(print_text(dump, "threads %" PRIu64 "\n", series->thread_count));
	for (uint64_t i = 0; i < 2 * series->thread_count; i++) {
		bool any = true;
		snprintf(dump->kind, sizeof(dump->kind), "%s%" PRIu64, kinds[i % 2], i / 2);
		enum hg_status status =
			spacetime_walk_trie(&dump->walk, series, series->tries[i], &any);
		BASE_TRY(query_spacetime_skip(dump->trace, status, series->tries[i],
			"a trie of calls that cannot be read"));
		if (!any)
			BASE_TRY(print_text(dump, "%s no trie\n", dump->kind));
	}
	return HG_OK;
}

static enum hg_status dump_location(
	struct series_dump *dump, const struct spacetime_location *location)
{
	const char *raise = location->is_raise ? " raise" : "";
	if (!location->known)
		return print_text(dump, "none%s", raise);
	const char *file = trace_name(&dump->tables->files, location->file);
	BASE_TRY(put_text(dump, file, strlen(file)));
	return print_text(dump, ":%" PRId64 ":%" PRId64 "-%" PRId64 "%s", location->line,
		location->start, location->end, raise);
}

static int compare_addresses(const void *a, const void *b)
{
	int64_t x = (int64_t) * (const uint64_t *)a, y = (int64_t) * (const uint64_t *)b;
	return (x > y) - (x < y);
}

static enum hg_status dump_frames(struct series_dump *dump)
{
	if (dump->address_count)
		qsort(dump->addresses, dump->address_count, sizeof(*dump->addresses),
			compare_addresses);
	for (uint64_t i = 0; i < dump->address_count; i++) {
		uint32_t number;
		BASE_TRY(print_text(dump, "frame %" PRIx64 " ", dump->addresses[i]));
		if (!base_map_number(&dump->tables->frame_of, dump->addresses[i], &number)) {
			BASE_TRY(put_text(dump, "unknown\n", 8));
			continue;
		}
		const struct spacetime_span *span = &dump->tables->frames[number];
		for (uint32_t j = 0; j < span->count; j++) {
			if (j)
				BASE_TRY(put_text(dump, "; ", 2));
			BASE_TRY(dump_location(dump, &dump->tables->locations[span->first + j]));
		}
		BASE_TRY(put_text(dump, "\n", 1));
		BASE_TRY(flush_text(dump, SERIES_TEXT_AT_ONCE));
	}
	return print_text(
		dump, "sum allocs %" PRIu64 " calls %" PRIu64 "\n", dump->allocations, dump->calls);
}

static enum hg_status dump_calls(struct series_dump *dump)
{
	struct spacetime_tables tables;
	enum hg_status status = spacetime_read_tables(&dump->trace->series, &tables, dump->error);
	dump->tables = &tables;
	if (status == HG_OK)
		status = spacetime_walk_init(&dump->walk, &tables, dump_step, dump, dump->error);
	dump->walk.unused = true;
	if (status == HG_OK)
		status = dump_tries(dump);
	if (status == HG_OK)
		status = dump_frames(dump);
	if (status == HG_OK)
		status = query_spacetime_note_walk(dump->trace, &dump->walk);
	spacetime_walk_release(&dump->walk);
	spacetime_tables_release(&tables);
	return status;
}

static enum hg_status dump_series_text(struct series_dump *dump)
{
	const struct spacetime_series *series = &dump->trace->series;
	struct hg_trace_losses losses;
	BASE_TRY(print_text(dump, "call counts %s\n", series->call_counts ? "true" : "false"));
	if (series->complete) {
		BASE_TRY(print_time(dump, "close ", series->close_time));
		BASE_TRY(put_text(dump, "\n", 1));
	}
	BASE_TRY(dump_moments(dump));
	if (series->complete)
		BASE_TRY(dump_calls(dump));
	BASE_TRY(flush_text(dump, 1));
	return query_spacetime_end(dump->trace, &losses);
}

enum hg_status hg_dump_spacetime(struct hg_trace *trace, hg_write_fn *write, void *data)
{
	void *no_result;
	BASE_TRY(query_spacetime_begin(trace, &no_result));
	if (!write)
		return base_fail(&trace->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"nothing to write the text with");
	struct series_dump dump = {
		.trace = trace, .write = write, .data = data, .error = &trace->session->error};
	enum hg_status status = dump_series_text(&dump);
	free(dump.text);
	free(dump.addresses);
	base_map_release(&dump.seen);
	return status == HG_OK ? HG_OK : query_trace_failed(trace, status);
}
