/* A process that interprets bytecode, and what the sections of its file say. */
#include "snapshot/bytecode/process.h"

#include "snapshot/runtime/reader.h"

#include <stdlib.h>
#include <string.h>

static enum hg_status read_symbols(
	struct snap_runtime *runtime, struct base_cursor *section, struct hg_error *error)
{
	struct snap_bytecode *bytecode = runtime->bytecode;
	struct snap_marshal m;
	BASE_TRY(snap_marshal_read(section, &bytecode->pool, &m, error));
	return snap_bytecode_read_globals(&m, m.root, &bytecode->globals, error);
}

static enum hg_status read_file_sections(struct snap_runtime *runtime, struct hg_error *error)
{
	struct snap_bytecode *bytecode = runtime->bytecode;
	struct base_cursor section;
	bool found;
	BASE_TRY(snap_bytecode_section(
		bytecode->bytes, bytecode->size, "SYMB", &section, &found, error));
	if (found)
		BASE_TRY(read_symbols(runtime, &section, error));
	BASE_TRY(snap_bytecode_section(
		bytecode->bytes, bytecode->size, "CODE", &bytecode->instructions, &found, error));
	BASE_TRY(snap_bytecode_section(
		bytecode->bytes, bytecode->size, "DBUG", &section, &found, error));
	if (!found) {
		snap_note_line(runtime, "the program was linked without -g: its functions have no "
					"names and its code no lines");
		return HG_OK;
	}
	bytecode->debug = section;
	return snap_bytecode_read_events(section, &bytecode->events, error);
}

/*
 * Programs of -output-complete-exe have their sections in static data (bytecomp/bytelink.ml,
 * link_bytecode_as_c): a list, from 5.2 on an array, of names and values.
 */
static enum hg_status read_static_sections(
	struct snap_runtime *runtime, bool *found, struct hg_error *error)
{
	struct snap_bytecode *bytecode = runtime->bytecode;
	uint64_t table = snap_variable_word(runtime, "caml_section_table");
	uint64_t bytes = snap_variable_word(runtime, "caml_section_table_size");
	struct snap_marshal m;
	size_t got;
	const uint8_t *at = table ? snap_image_at(runtime->image, table, bytes, &got) : NULL;
	*found = at && got == bytes && bytes > 0;
	if (!*found)
		return HG_OK;
	struct base_cursor c = base_cursor_over(at, got);
	BASE_TRY(snap_marshal_read(&c, &bytecode->pool, &m, error));
	struct snap_value rest = m.root, first = snap_marshal_field(&m, rest, 0);
	/* SYMB is the first of the list, and of the array. */
	struct snap_bytecode_text name = {0};
	if (!snap_marshal_string(&m, snap_marshal_field(&m, first, 0), &name.bytes, &name.length) ||
		name.length != 4 || memcmp(name.bytes, "SYMB", 4) != 0)
		return base_corrupt(error, m.offset, "has no table of global variables");
	return snap_bytecode_read_globals(
		&m, snap_marshal_field(&m, first, 1), &bytecode->globals, error);
}

/* What cannot be read is noted; that there is no memory is not. */
static enum hg_status note_failure(struct snap_runtime *runtime, enum hg_status status,
	const struct hg_error *unread, struct hg_error *error)
{
	if (status == HG_ERROR_LIMIT && unread->offset == HG_NO_OFFSET) {
		*error = *unread;
		return status;
	}
	if (status != HG_OK)
		snap_note_line(runtime, "the bytecode file %s", unread->message);
	return HG_OK;
}

static enum hg_status read_program(struct snap_runtime *runtime, struct hg_error *error)
{
	struct hg_error unread;
	enum hg_status status;
	bool found = true;
	base_error_clear(&unread);
	if (runtime->bytecode->has_file)
		status = read_file_sections(runtime, &unread);
	else
		status = read_static_sections(runtime, &found, &unread);
	if (!found)
		snap_note_line(runtime, "the bytecode file of the program was not found: globals, "
					"functions and lines have no names; name it with --exe");
	else if (!runtime->bytecode->has_file && status == HG_OK)
		snap_note_line(runtime,
			"programs of -output-complete-exe have no debug information: "
			"functions have no names and code no lines");
	return note_failure(runtime, status, &unread, error);
}

enum hg_status snap_find_bytecode(struct snap_runtime *runtime, struct hg_error *error)
{
	uint64_t start = snap_variable_word(runtime, "caml_start_code");
	uint64_t size = snap_variable_word(runtime, "caml_code_size");
	runtime->bytecode = calloc(1, sizeof(*runtime->bytecode));
	if (!runtime->bytecode)
		return base_no_memory(error, sizeof(*runtime->bytecode));
	if (start % 4 || size % 4 || size >> 32 || start + size < start || start == 0)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"'%s' interprets bytecode, but has loaded none: not started, or its data "
			"are missing",
			runtime->image->program);
	runtime->bytecode->code = (struct snap_range){start, start + size};
	BASE_TRY(snap_find_bytecode_file(runtime, error));
	return read_program(runtime, error);
}

void snap_release_bytecode(struct snap_runtime *runtime)
{
	struct snap_bytecode *bytecode = runtime->bytecode;
	if (!bytecode)
		return;
	if (bytecode->is_opened)
		base_file_close(&bytecode->file);
	base_pool_release(&bytecode->pool);
	free(bytecode->globals.items);
	free(bytecode->events.items);
	free(bytecode->events.captured.items);
	free(bytecode);
	runtime->bytecode = NULL;
}
