/* Names and places of bytecode: by the events of its compiler. */
#include "snapshot/bytecode/process.h"

#include "base/search.h"
#include "snapshot/bytecode/loaded.h"
#include "snapshot/runtime/reader.h"

/* An instruction of GRAB with its operand, and the PUSH that an event may have been moved behind.
 */
enum { ENTRY_BYTES = 12, MOVED_BYTES = 4 };

static bool is_of_program(const struct snap_runtime *runtime, uint64_t code)
{
	const struct snap_range *range = &runtime->bytecode->code;
	return code - range->start < range->end - range->start;
}

/* Code of the program, of what it has loaded, or of the runtime; NULL: none. */
static const struct snap_range *fragment_of(const struct snap_runtime *runtime, uint64_t word)
{
	uint64_t i = BASE_FIRST_ABOVE(runtime->codes, runtime->code_count, end, word);
	bool found = i < runtime->code_count && runtime->codes[i].start <= word;
	return found ? &runtime->codes[i] : NULL;
}

bool snap_is_bytecode(const struct snap_runtime *runtime, uint64_t word)
{
	if (!runtime->bytecode || word % 4)
		return false;
	return is_of_program(runtime, word) || fragment_of(runtime, word);
}

/* runtime/callback.c: callback_code has 7 words, that of the smallest unit some 20. */
bool snap_is_bytecode_glue(const struct snap_runtime *runtime, uint64_t code)
{
	enum { GLUE_BYTES = 32 };
	const struct snap_range *range = fragment_of(runtime, code);
	return !is_of_program(runtime, code) && range && range->end - range->start <= GLUE_BYTES;
}

static const struct snap_bytecode_events *events_of(const struct snap_runtime *runtime)
{
	return &runtime->bytecode->events;
}

static uint64_t position_of(const struct snap_runtime *runtime, uint64_t code)
{
	return code - runtime->bytecode->code.start;
}

/* Texts lie in the file and are many times the same: each once. */
const char *snap_bytecode_print(struct snap_runtime *runtime, const struct snap_bytecode_text *text)
{
	struct hg_error unused;
	uint64_t key = (uint64_t)(uintptr_t)text->bytes, kept;
	bool added;
	if (text->length == 0 || text->length > 4096)
		return "";
	if (base_map_get(&runtime->strings, key, &kept))
		return (const char *)(uintptr_t)kept;
	const char *string =
		snap_print(runtime, "%.*s", (int)text->length, (const char *)text->bytes);
	kept = (uintptr_t)string;
	base_error_clear(&unused);
	/* When there is no memory for more, they are read again every time. */
	(void)base_map_add(&runtime->strings, key, &kept, &added, &unused);
	return string;
}

static void place_of_event(struct snap_runtime *runtime, const struct snap_bytecode_event *event,
	struct snap_code_location *out)
{
	*out = (struct snap_code_location){.file = snap_bytecode_print(runtime, &event->file),
		.function = snap_bytecode_print(
			runtime, event->function.length ? &event->function : &event->unit),
		.line = event->line,
		.start = event->start,
		.end = event->end};
}

/* The first event from a position on, if it is not further than 'most' bytes. */
static const struct snap_bytecode_event *event_from(
	const struct snap_runtime *runtime, uint64_t position, uint64_t most)
{
	const struct snap_bytecode_events *events = events_of(runtime);
	uint64_t i = BASE_FIRST_FROM(events->items, events->count, position, position);
	bool near = i < events->count && events->items[i].position - position <= most;
	return near ? &events->items[i] : NULL;
}

/* runtime/backtrace_byt.c: it is at the return address, or one instruction behind. */
const struct snap_bytecode_event *snap_bytecode_event_of_call(
	const struct snap_runtime *runtime, uint64_t return_address)
{
	if (return_address % 4 || !is_of_program(runtime, return_address))
		return NULL;
	return event_from(runtime, position_of(runtime, return_address), MOVED_BYTES);
}

bool snap_bytecode_call(
	struct snap_runtime *runtime, uint64_t return_address, struct snap_code_location *out)
{
	struct snap_loaded_query query = {.code = return_address, .most = MOVED_BYTES};
	if (!snap_is_bytecode(runtime, return_address))
		return false;
	if (!is_of_program(runtime, return_address))
		return snap_find_loaded_event(runtime, &query, out);
	const struct snap_bytecode_event *event =
		snap_bytecode_event_of_call(runtime, return_address);
	if (!event)
		return false;
	place_of_event(runtime, event, out);
	return true;
}

bool snap_bytecode_near(struct snap_runtime *runtime, uint64_t code, struct snap_code_location *out)
{
	const struct snap_bytecode_events *events = events_of(runtime);
	struct snap_loaded_query query = {.code = code, .most = MOVED_BYTES, .is_last = true};
	if (!snap_is_bytecode(runtime, code))
		return false;
	if (!is_of_program(runtime, code))
		return snap_find_loaded_event(runtime, &query, out);
	if (snap_bytecode_call(runtime, code, out))
		return true;
	uint64_t position = position_of(runtime, code);
	uint64_t i = BASE_FIRST_ABOVE(events->items, events->count, position, position);
	if (i > 0)
		place_of_event(runtime, &events->items[i - 1], out);
	return i > 0;
}

/* The event of a function's body comes right after its GRAB. */
static const struct snap_bytecode_event *function_event(
	const struct snap_runtime *runtime, uint64_t code)
{
	const struct snap_bytecode_events *events = events_of(runtime);
	const struct snap_bytecode_event *event =
		event_from(runtime, position_of(runtime, code), ENTRY_BYTES);
	const struct snap_bytecode_event *first = event;
	for (; event && event < events->items + events->count &&
		event->position - first->position <= MOVED_BYTES;
		event++)
		if (event->is_function)
			return event;
	return first;
}

bool snap_bytecode_function(
	struct snap_runtime *runtime, uint64_t code, struct snap_code_location *out)
{
	struct snap_loaded_query query = {.code = code, .most = ENTRY_BYTES};
	if (!snap_is_bytecode(runtime, code))
		return false;
	if (!is_of_program(runtime, code))
		return snap_find_loaded_event(runtime, &query, out);
	const struct snap_bytecode_event *event = function_event(runtime, code);
	if (event)
		place_of_event(runtime, event, out);
	return event != NULL;
}

/* RESTART begins closures of functions that have been given some of their arguments. */
static bool is_applied(const struct snap_runtime *runtime, uint64_t code)
{
	enum { RESTART = 41 }; /* runtime/caml/instruct.h */
	const struct base_cursor *section = &runtime->bytecode->instructions;
	uint64_t position = position_of(runtime, code);
	return position + 4 > base_cursor_left(section) ||
	       base_load_u32le(section->next + position) == RESTART;
}

const struct snap_bytecode_event *snap_bytecode_event_of_closure(
	const struct snap_runtime *runtime, uint64_t code)
{
	if (!snap_is_bytecode(runtime, code) || !is_of_program(runtime, code) ||
		!runtime->bytecode->has_file || is_applied(runtime, code))
		return NULL;
	const struct snap_bytecode_event *event = function_event(runtime, code);
	return event && event->is_function ? event : NULL;
}

bool snap_bytecode_symbol(struct snap_runtime *runtime, uint64_t code, struct snap_code_symbol *out)
{
	const struct snap_bytecode_events *events = events_of(runtime);
	const struct snap_bytecode_event *event = snap_bytecode_event_of_closure(runtime, code);
	if (!event && runtime->bytecode->has_file && is_of_program(runtime, code) &&
		is_applied(runtime, code)) {
		*out = (struct snap_code_symbol){SNAP_NAME_OF_RESTART, {code, code + 4}};
		return true;
	}
	if (!event)
		return false;
	const struct snap_bytecode_event *next = event + 1;
	while (next < events->items + events->count && !next->is_function)
		next++;
	struct snap_code_location at;
	place_of_event(runtime, event, &at);
	out->name = snap_print(runtime, "caml%s", at.function);
	out->code = (struct snap_range){code, runtime->bytecode->code.end};
	if (next < events->items + events->count)
		out->code.end = runtime->bytecode->code.start + next->position;
	return true;
}

size_t snap_bytecode_locations(struct snap_runtime *runtime, uint64_t *start, uint64_t end,
	struct snap_code_location out[SNAP_CODE_LOCATIONS])
{
	const struct snap_bytecode_events *events = events_of(runtime);
	size_t count = 0;
	if (!is_of_program(runtime, *start))
		return 0;
	uint64_t position = position_of(runtime, *start);
	uint64_t i = BASE_FIRST_ABOVE(events->items, events->count, position, position);
	for (; i < events->count && count < SNAP_CODE_LOCATIONS; i++) {
		uint64_t code = runtime->bytecode->code.start + events->items[i].position;
		if (code > end)
			break;
		*start = code;
		place_of_event(runtime, &events->items[i], &out[count++]);
	}
	return count;
}
