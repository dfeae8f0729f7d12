/* The notes of a core: those of the kernel, and our own (docs/formats.md). */
#include "snapshot/capture/core_writer.h"

#include "snapshot/image/core_note.h"

#include <string.h>

enum {
	NOTE_HEAD = 32,  /* more than header and owner */
	NOTE_TEXT = 4096 /* of our own note, without the files */
};

/* Notes are written to the file one after the other; 'at' counts from their beginning. */
struct notes {
	struct snap_core *core;
	uint64_t at;
};

static uint64_t padded_size(uint64_t size)
{
	return (size + 3) & ~(uint64_t)3;
}

static int put_padded(struct notes *notes, const void *bytes, size_t size)
{
	if (padded_size(size) > notes->core->notes_room - notes->at)
		return snap_core_failed(notes->core, "too many threads or mappings", 0);
	SNAP_CORE_TRY(
		snap_core_put(notes->core, bytes, size, notes->core->notes_offset + notes->at));
	notes->at += padded_size(size); /* what is skipped is a hole: zeros */
	return 0;
}

static int put_note(
	struct notes *notes, const char *owner, uint32_t type, const void *desc, size_t size)
{
	Elf64_Nhdr header = {.n_namesz = (uint32_t)strlen(owner) + 1,
		.n_descsz = (uint32_t)size,
		.n_type = type};
	SNAP_CORE_TRY(put_padded(notes, &header, sizeof(header)));
	SNAP_CORE_TRY(put_padded(notes, owner, header.n_namesz));
	return put_padded(notes, desc, size);
}

static int put_thread_note(struct notes *notes, const struct snap_core_thread *thread)
{
	enum { GIVEN_BYTES = SNAP_NATIVE_GIVEN * sizeof(*thread->registers) };
	uint8_t status[SNAP_STATUS_SIZE(SNAP_NATIVE_GIVEN)] = {0};
	memcpy(status + SNAP_STATUS_ID, &thread->id, sizeof(thread->id));
	memcpy(status + SNAP_STATUS_REGISTERS, thread->registers, GIVEN_BYTES);
	SNAP_CORE_TRY(put_note(notes, "CORE", NT_PRSTATUS, status, sizeof(status)));
	if (SNAP_NATIVE_REGISTERS == SNAP_NATIVE_GIVEN)
		return 0;
	return put_note(notes, "LINUX", NT_ARM_TLS, &thread->registers[SNAP_NATIVE_THREAD],
		sizeof(*thread->registers));
}

static int put_process_note(struct notes *notes)
{
	const struct snap_core *core = notes->core;
	uint8_t process[SNAP_PROCESS_SIZE] = {0};
	uint32_t id = (uint32_t)core->process->origin;
	process[SNAP_PROCESS_LETTER] = 'R';
	memcpy(process + SNAP_PROCESS_ID, &id, sizeof(id));
	memcpy(process + SNAP_PROCESS_NAME, core->name, sizeof(core->name));
	memcpy(process + SNAP_PROCESS_ARGUMENTS, core->arguments, sizeof(core->arguments));
	return put_note(notes, "CORE", NT_PRPSINFO, process, sizeof(process));
}

/* The kernel lists what maps a file (fs/binfmt_elf.c). */
static bool is_listed(const struct snap_core_map *map)
{
	return map->path[0] == '/' && map->kind != SNAP_CORE_LEFT_OUT;
}

/* Count, page size, {start, end, offset in pages} of each, then the paths. */
static int put_maps_note(struct notes *notes)
{
	const struct snap_core *core = notes->core;
	uint64_t size = 0, listed = 0;
	for (size_t i = 0; i < core->map_count; i++) {
		const struct snap_core_map *map = &core->maps[i];
		if (is_listed(map))
			size += 3 * sizeof(uint64_t) + strlen(map->path) + 1;
		listed += is_listed(map);
	}
	size += 2 * sizeof(uint64_t);
	uint64_t *numbers = snap_core_alloc(notes->core, size);
	if (!numbers || size > UINT32_MAX)
		return snap_core_failed(notes->core, "too many mappings", 0);
	char *path = (char *)(numbers + 2 + 3 * listed);
	uint64_t *next = numbers;
	*next++ = listed;
	*next++ = SNAP_CORE_PAGE;
	for (size_t i = 0; i < core->map_count; i++) {
		const struct snap_core_map *map = &core->maps[i];
		if (!is_listed(map))
			continue;
		*next++ = map->start;
		*next++ = map->end;
		*next++ = map->offset / SNAP_CORE_PAGE;
		size_t length = strlen(map->path) + 1;
		memcpy(path, map->path, length);
		path += length;
	}
	return put_note(notes, "CORE", NT_FILE, numbers, size);
}

/* Our own note: lines KEY=VALUE */

/* A value: what would end the line, and %, as % and two hexadecimal digits. */
static void add_escaped(struct snap_core_text *text, const char *value, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		char one[2] = {value[i], '\0'};
		uint8_t byte = (uint8_t)value[i];
		if (byte >= ' ' && byte != '%' && byte != 127) {
			snap_core_add_text(text, one);
			continue;
		}
		snap_core_add_text(text, byte < 16 ? "%0" : "%");
		snap_core_add_number(text, byte, 16);
	}
}

static void add_line(struct snap_core_text *text, const char *key, const char *value)
{
	if (!value)
		return;
	snap_core_add_text(text, key);
	snap_core_add_text(text, "=");
	add_escaped(text, value, strlen(value));
	snap_core_add_text(text, "\n");
}

static void add_number_line(struct snap_core_text *text, const char *key, uint64_t number)
{
	snap_core_add_text(text, key);
	snap_core_add_text(text, "=");
	snap_core_add_number(text, number, 10);
	snap_core_add_text(text, "\n");
}

/* "file=OFFSET SIZE BUILD-ID PATH", or "skipped=REASON: PATH" */
static void add_copy_line(struct snap_core_text *text, const struct snap_core_copy *copy)
{
	struct snap_core_text before = *text;
	if (copy->skipped) {
		snap_core_add_text(text, "skipped=");
		snap_core_add_text(text, copy->skipped);
		snap_core_add_text(text, ": ");
	} else {
		snap_core_add_text(text, "file=");
		snap_core_add_number(text, copy->offset, 10);
		snap_core_add_text(text, " ");
		snap_core_add_number(text, copy->size, 10);
		snap_core_add_text(text, " ");
		for (unsigned i = 0; i < copy->build_id_size; i++) {
			snap_core_add_number(text, copy->build_id[i] >> 4, 16);
			snap_core_add_number(text, copy->build_id[i] & 15, 16);
		}
		snap_core_add_text(text, copy->build_id_size ? " " : "- ");
	}
	add_escaped(text, copy->map->path, snap_core_path_length(copy->map));
	snap_core_add_text(text, "\n");
	/* Half a line would be a wrong one. */
	if (text->cut)
		*text = before;
}

/* "OFFSET SIZE PATH" */
static void add_bytecode_line(struct snap_core_text *text, const struct snap_core *core,
	const struct snap_core_facts *facts)
{
	const struct snap_core_text before = *text;
	snap_core_add_text(text, "bytecode=");
	snap_core_add_number(text, core->bytecode_offset, 10);
	snap_core_add_text(text, " ");
	snap_core_add_number(text, facts->bytecode_size, 10);
	snap_core_add_text(text, " ");
	add_escaped(text, facts->bytecode_path, strlen(facts->bytecode_path));
	snap_core_add_text(text, "\n");
	/* Half a line would be a wrong one. */
	if (text->cut)
		*text = before;
}

static int put_own_note(struct notes *notes, const struct snap_core_facts *facts)
{
	struct snap_core *core = notes->core;
	uint64_t left = core->notes_room - notes->at, room = snap_core_arena_left(core);
	struct snap_core_text text = {.size = left < room ? left : room};
	text.size = text.size < 2 * NOTE_HEAD ? 0 : text.size - NOTE_HEAD;
	text.start = snap_core_alloc(core, text.size);
	if (!text.start || text.size == 0)
		return snap_core_failed(core, "too many threads or mappings", 0);
	add_number_line(&text, "version", SNAP_CORE_VERSION);
	add_number_line(&text, "pid", (uint64_t)core->process->origin);
	add_number_line(&text, "index", facts->index);
	add_number_line(&text, "time_ns", facts->time);
	add_line(&text, "trigger", facts->trigger);
	add_line(&text, "method", facts->method);
	add_line(&text, "consistency", facts->consistency);
	add_line(&text, "ocaml", facts->ocaml_version);
	if (facts->memory.resident) {
		add_number_line(&text, "resident_bytes", facts->memory.resident);
		add_number_line(&text, "peak_resident_bytes", facts->memory.peak);
		add_number_line(&text, "resident_anonymous_bytes", facts->memory.anonymous);
		add_number_line(&text, "resident_file_bytes", facts->memory.file);
		add_number_line(&text, "resident_shared_bytes", facts->memory.shared);
		add_number_line(&text, "swapped_bytes", facts->memory.swapped);
	}
	if (core->unreadable_bytes)
		add_number_line(&text, "unreadable_bytes", core->unreadable_bytes);
	if (core->later_bytes)
		add_number_line(&text, "later_bytes", core->later_bytes);
	if (facts->not_inherited_bytes)
		add_number_line(&text, "not_inherited_bytes", facts->not_inherited_bytes);
	for (size_t i = 0; i < core->copy_count; i++)
		add_copy_line(&text, &core->copies[i]);
	if (core->bytecode_offset)
		add_bytecode_line(&text, core, facts);
	return put_note(notes, SNAP_CORE_OWNER, SNAP_CORE_NOTE, text.start, text.used);
}

int snap_core_write_runs(struct snap_core *core)
{
	uint64_t size = core->run_count * sizeof(*core->runs);
	if (core->runs_incomplete || size == 0)
		return 0;
	Elf64_Nhdr header = {.n_namesz = sizeof(SNAP_CORE_OWNER),
		.n_descsz = (uint32_t)size,
		.n_type = SNAP_CORE_RESIDENT_NOTE};
	core->runs_offset = (core->end + 7) & ~(uint64_t)7;
	uint64_t owner = core->runs_offset + sizeof(header);
	uint64_t desc = owner + padded_size(header.n_namesz);
	SNAP_CORE_TRY(snap_core_put(core, &header, sizeof(header), core->runs_offset));
	SNAP_CORE_TRY(snap_core_put(core, SNAP_CORE_OWNER, header.n_namesz, owner));
	SNAP_CORE_TRY(snap_core_put(core, core->runs, size, desc));
	core->end = desc + size;
	core->runs_size = core->end - core->runs_offset;
	return 0;
}

uint64_t snap_core_notes_room(const struct snap_core *core)
{
	uint64_t room = SNAP_PROCESS_SIZE + core->auxv_size + 2 * sizeof(uint64_t) + 8 * NOTE_HEAD +
			NOTE_TEXT +
			core->process->thread_count *
				(SNAP_STATUS_SIZE(SNAP_NATIVE_REGISTERS) + 2 * NOTE_HEAD);
	for (size_t i = 0; i < core->map_count; i++) {
		const struct snap_core_map *map = &core->maps[i];
		uint64_t length = strlen(map->path);
		if (is_listed(map))
			room += 3 * sizeof(uint64_t) + length + 1;
		/* In our own note, every byte of the path may need three. */
		if (is_listed(map) && map->flags & PF_X)
			room += 3 * length + 256;
	}
	return room;
}

int snap_core_write_notes(
	struct snap_core *core, const struct snap_core_facts *facts, uint64_t *size)
{
	const struct snap_core_process *process = core->process;
	struct notes notes = {.core = core};
	/* gdb takes the first thread for the current one, and its process from what follows. */
	SNAP_CORE_TRY(put_thread_note(&notes, &process->threads[0]));
	SNAP_CORE_TRY(put_process_note(&notes));
	SNAP_CORE_TRY(put_note(&notes, "CORE", NT_AUXV, core->auxv, core->auxv_size));
	SNAP_CORE_TRY(put_maps_note(&notes));
	for (size_t i = 1; i < process->thread_count; i++)
		SNAP_CORE_TRY(put_thread_note(&notes, &process->threads[i]));
	SNAP_CORE_TRY(put_own_note(&notes, facts));
	*size = notes.at;
	return 0;
}
