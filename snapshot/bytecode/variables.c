/* Variables: in closures, and in the frame of a unit's own code. */
#include "snapshot/bytecode/variables.h"

#include "snapshot/bytecode/process.h"
#include "snapshot/runtime/reader.h"

#include <stdlib.h>

/* "table_277": each once, as many closures are of one function. */
static const char *print_variable(
	struct snap_runtime *runtime, const struct snap_bytecode_variable *variable)
{
	struct hg_error unused;
	uint64_t key = (uint64_t)(uintptr_t)variable, kept;
	bool added;
	if (base_map_get(&runtime->strings, key, &kept))
		return (const char *)(uintptr_t)kept;
	const char *name = snap_print(runtime, "%.*s_%u", (int)variable->name.length,
		(const char *)variable->name.bytes, variable->stamp);
	kept = (uintptr_t)name;
	base_error_clear(&unused);
	/* When there is no memory for more, it is printed again every time. */
	(void)base_map_add(&runtime->strings, key, &kept, &added, &unused);
	return name;
}

static bool is_printable(const struct snap_bytecode_text *text)
{
	enum { MOST_LENGTH = 256 };
	return text->length > 0 && text->length < MOST_LENGTH;
}

bool snap_bytecode_captured(
	struct snap_runtime *runtime, uint64_t code, uint64_t field, struct snap_captured *out)
{
	const struct snap_bytecode_event *event = snap_bytecode_event_of_closure(runtime, code);
	const struct snap_bytecode_variables *all = &runtime->bytecode->events.captured;
	for (uint32_t i = 0; event && i < event->captured_count; i++) {
		const struct snap_bytecode_variable *variable =
			&all->items[event->first_captured + i];
		if (variable->place != field || !is_printable(&variable->name) ||
			!is_printable(&event->unit))
			continue;
		*out = (struct snap_captured){snap_bytecode_print(runtime, &event->unit),
			print_variable(runtime, variable), variable->name.length};
		return true;
	}
	return false;
}

static enum hg_status add_frame_unit(struct snap_runtime *runtime,
	const struct snap_bytecode_event *event, const struct snap_bytecode_variable *variable,
	uint64_t end, struct hg_error *error)
{
	uint64_t slot = end - 8 * (uint64_t)variable->place;
	if (!is_printable(&variable->name) || !is_printable(&event->unit) || variable->place == 0 ||
		!snap_spend(runtime, 1))
		return HG_OK;
	const char *name = snap_print(runtime, "%.*s__%.*s_%u", (int)event->unit.length,
		(const char *)event->unit.bytes, (int)variable->name.length,
		(const char *)variable->name.bytes, variable->stamp);
	BASE_TRY(base_grow(&runtime->units, runtime->unit_count, &runtime->unit_capacity,
		sizeof(*runtime->units), error));
	runtime->units[runtime->unit_count++] = (struct snap_unit){name, {slot}, 1, ""};
	return HG_OK;
}

/* Few threads are in the code of units; the event of each is decoded again. */
static bool is_first_read(struct snap_runtime *runtime, uint32_t position)
{
	struct snap_bytecode *bytecode = runtime->bytecode;
	enum { MOST_FRAMES = sizeof(bytecode->read_frames) / sizeof(bytecode->read_frames[0]) };
	for (uint32_t i = 0; i < bytecode->read_count; i++)
		if (bytecode->read_frames[i] == position)
			return false;
	if (bytecode->read_count == MOST_FRAMES)
		return false;
	bytecode->read_frames[bytecode->read_count++] = position;
	return true;
}

enum hg_status snap_add_frame_units(
	struct snap_runtime *runtime, uint64_t code, uint64_t end, struct hg_error *error)
{
	const struct snap_bytecode_event *event = snap_bytecode_event_of_call(runtime, code);
	struct snap_bytecode_variables variables = {0};
	struct hg_error unread;
	if (!event || !is_first_read(runtime, event->position))
		return HG_OK;
	base_error_clear(&unread);
	enum hg_status status = snap_bytecode_read_frame(
		runtime->bytecode->debug, event->position, &variables, &unread);
	if (status == HG_ERROR_LIMIT && unread.offset == HG_NO_OFFSET)
		*error = unread;
	else
		status = HG_OK;
	for (uint64_t i = 0; i < variables.count && status == HG_OK; i++)
		status = add_frame_unit(runtime, event, &variables.items[i], end, error);
	free(variables.items);
	return status;
}
