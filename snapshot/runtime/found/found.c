/* The tables that ocamlopt makes for a program, found by their shape; see found.h. */
#include "snapshot/runtime/found/found.h"

#include "base/grow.h"
#include "base/search.h"
#include "snapshot/arch/machines.h"
#include "snapshot/marshal/marshal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_UNITS = 1 << 20, MOST_ROOTS = 1 << 16, MOST_NAME = 255 };

/* Memory */

enum hg_status snap_found_add_codes(struct snap_found *found, const struct snap_elf_view *view,
	uint64_t bias, struct hg_error *error)
{
	const struct snap_machine *machine = snap_machine_of(view->header.e_machine);
	found->alignment = machine ? machine->struct_alignment : 8;
	for (uint64_t i = 0; i < view->phdr_count; i++) {
		Elf64_Phdr phdr = snap_elf_phdr(view, i);
		uint64_t start = phdr.p_vaddr + bias, end;
		if (phdr.p_type != PT_LOAD || !(phdr.p_flags & PF_X) ||
			__builtin_add_overflow(start, phdr.p_memsz, &end))
			continue;
		BASE_TRY(base_grow(&found->codes, found->code_count, &found->code_capacity,
			sizeof(*found->codes), error));
		found->codes[found->code_count++] = (struct snap_range){start, end};
	}
	return HG_OK;
}

enum hg_status snap_found_add_space(
	struct snap_found *found, struct snap_range range, bool is_writable, struct hg_error *error)
{
	BASE_TRY(base_grow(&found->spaces, found->space_count, &found->space_capacity,
		sizeof(*found->spaces), error));
	found->spaces[found->space_count++] = (struct snap_found_space){range, is_writable};
	return HG_OK;
}

bool snap_found_is_data(const struct snap_found *found, uint64_t address)
{
	uint64_t i = BASE_FIRST_ABOVE(found->spaces, found->space_count, range.end, address);
	return i < found->space_count && found->spaces[i].range.start <= address;
}

bool snap_found_is_code(const struct snap_found *found, uint64_t address)
{
	for (uint64_t i = 0; i < found->code_count; i++)
		if (address >= found->codes[i].start && address < found->codes[i].end)
			return true;
	return false;
}

bool snap_found_is_block(
	const struct snap_found *found, uint64_t value, int tag, uint64_t least_words)
{
	uint64_t header;
	if (!snap_found_is_there(found, value) ||
		!found->read(found->data, snap_pointed_header(value).a, &header, sizeof(header)))
		return false;
	if (header == 0)
		return snap_found_is_there(found, snap_found_word(found, value));
	return (tag < 0 || snap_header_tag(header) == (unsigned)tag) &&
	       header >> 10 >= least_words && header >> 10 < SNAP_ADDRESS_LIMIT / 8;
}

void snap_found_scan(
	struct snap_found *found, struct snap_range range, snap_found_look *look, void *data)
{
	enum { WORDS = 512 };
	uint64_t words[WORDS];
	for (uint64_t at = (range.start + 7) & ~(uint64_t)7;
		at < range.end && range.end - at >= 8;) {
		uint64_t left = (range.end - at) / 8;
		/* Whole pages after the first, as pages of zeros may be absent. */
		uint64_t count = WORDS - at / 8 % WORDS;
		count = count < left ? count : left;
		if (found->read(found->data, at, words, 8 * count))
			for (uint64_t i = 0; i < count; i++)
				if (!look(found, at + 8 * i, words[i], data))
					return;
		at += 8 * count;
	}
}

/* Tables */

struct tables {
	uint64_t globals, map, data_segments, code_segments, frame_table, unit_count;
};

/* The value of a header in static data: its words, or 0 if it is no such header. */
static uint64_t static_words(const struct snap_found *found, uint64_t block)
{
	uint64_t header = snap_found_word(found, snap_pointed_header(block).a);
	return snap_header_color(header) == SNAP_COLOR_BLACK ? header >> 10 : 0;
}

/* The end of pairs of addresses, the word after the 0 that ends them; 0: they are no such pairs. */
static uint64_t end_of_segments(const struct snap_found *found, uint64_t table,
	bool (*holds)(const struct snap_found *found, uint64_t address), uint64_t *count)
{
	for (*count = 0; *count < MOST_UNITS; (*count)++, table += 16) {
		uint64_t start, end;
		if (!found->read(found->data, table, &start, sizeof(start)))
			return 0;
		if (start == 0)
			return table + 8;
		end = snap_found_word(found, table + 8);
		if (end < start || !holds(found, start) || (end > start && !holds(found, end - 1)))
			return 0;
	}
	return 0;
}

/* Frame tables: a count, and descriptors that begin with a return address. */
static uint64_t end_of_frame_tables(
	const struct snap_found *found, uint64_t table, uint64_t *count, uint64_t *descriptors)
{
	*descriptors = 0;
	for (*count = 0; *count < MOST_UNITS; (*count)++, table += 8) {
		uint64_t frames, first;
		if (!found->read(found->data, table, &frames, sizeof(frames)))
			return 0;
		if (frames == 0)
			return table + 8;
		if (!snap_found_is_data(found, frames) ||
			!found->read(found->data, frames, &first, sizeof(first)) || first >> 32)
			return 0;
		if (first && !snap_found_is_code(found, snap_found_word(found, frames + 8)))
			return 0;
		*descriptors += first;
	}
	return 0;
}

/* caml_globals[i]: the blocks of a unit, ended by 0. */
static bool is_list_of_roots(const struct snap_found *found, uint64_t list)
{
	if (list % 8 || !snap_found_is_data(found, list))
		return false;
	for (uint64_t i = 0; i < MOST_ROOTS; i++, list += 8) {
		uint64_t block;
		if (!found->read(found->data, list, &block, sizeof(block)))
			return false;
		if (block == 0)
			return true;
		if (block % 8 || !snap_found_is_data(found, block) ||
			!snap_found_is_data(found, snap_pointed_header(block).a))
			return false;
		uint64_t header = snap_found_word(found, snap_pointed_header(block).a);
		if (snap_header_color(header) != SNAP_COLOR_BLACK ||
			!snap_tag_has_fields(snap_header_tag(header)))
			return false;
	}
	return false;
}

/* Whether caml_globals_map is at an address, with the other tables around it. */
static bool is_group(const struct snap_found *found, uint64_t map, struct tables *out)
{
	uint64_t header = snap_found_word(found, snap_pointed_header(map).a), data, code, frames;
	uint64_t descriptors;
	uint64_t words = static_words(found, map);
	if (snap_header_tag(header) != SNAP_TAG_STRING || words == 0 || words >> 27)
		return false;
	out->map = map;
	out->data_segments = map + 8 * words;
	out->code_segments = end_of_segments(found, out->data_segments, snap_found_is_data, &data);
	if (!out->code_segments || data < 2)
		return false;
	out->frame_table = end_of_segments(found, out->code_segments, snap_found_is_code, &code);
	/* With -function-sections there is one more, "_hot". */
	if (!out->frame_table || code < data || code > data + 1 ||
		!end_of_frame_tables(found, out->frame_table, &frames, &descriptors))
		return false;
	/* Besides the units there are "_startup", and "_system" with frames only. */
	out->unit_count = data - 1;
	if (frames != data + 1 || descriptors == 0 || map < 16 + 8 * out->unit_count)
		return false;
	out->globals = map - 16 - 8 * out->unit_count;
	for (uint64_t i = 0; i < out->unit_count; i++)
		if (!is_list_of_roots(found, snap_found_word(found, out->globals + 8 * i)))
			return false;
	return snap_found_word(found, map - 16) == 0;
}

struct group_search {
	struct tables tables;
	uint64_t other; /* the map of a second group */
};

static bool look_for_group(struct snap_found *found, uint64_t address, uint64_t word, void *data)
{
	static const uint32_t magic = 0xbea69584; /* as bytes, runtime/caml/intext.h */
	struct group_search *search = data;
	struct tables tables = {0};
	if ((uint32_t)word != magic || !is_group(found, address, &tables))
		return true;
	if (search->tables.globals)
		search->other = address;
	else
		search->tables = tables;
	return search->other == 0;
}

/* Units */

static enum hg_status add_name(struct snap_found *found, const struct snap_marshal *m,
	struct snap_value name, uint64_t *count, struct hg_error *error)
{
	const uint8_t *bytes;
	uint32_t length;
	bool fits = *count < found->unit_count && snap_marshal_string(m, name, &bytes, &length) &&
		    length > 0 && length <= MOST_NAME && !memchr(bytes, 0, length);
	if (fits)
		BASE_TRY(base_pool_string(
			&found->pool, bytes, length, &found->names[*count], error));
	*count = fits ? *count + 1 : MOST_UNITS;
	return HG_OK;
}

/*
 * caml_globals_map is a list of (name, interface, implementation, symbols); those whose code is
 * linked have symbols, in the order of caml_globals.
 */
static enum hg_status name_units(
	struct snap_found *found, const struct snap_marshal *m, struct hg_error *error)
{
	enum { SYMBOLS = 3 };
	uint64_t count = 0;
	uint32_t left = m->objects;
	struct snap_value list = m->root;
	void *names;
	BASE_TRY(base_pool_alloc(
		&found->pool, found->unit_count, sizeof(*found->names), &names, error));
	found->names = names;
	for (; snap_marshal_size(m, list) == 2 && left; list = snap_marshal_field(m, list, 1)) {
		struct snap_value symbols =
			snap_marshal_field(m, snap_marshal_field(m, list, 0), SYMBOLS);
		left--;
		for (; snap_marshal_size(m, symbols) == 2 && left && count < MOST_UNITS;
			left--, symbols = snap_marshal_field(m, symbols, 1))
			BASE_TRY(add_name(
				found, m, snap_marshal_field(m, symbols, 0), &count, error));
	}
	if (count != found->unit_count)
		found->names = NULL;
	return HG_OK;
}

static enum hg_status read_names(struct snap_found *found, uint64_t map, struct hg_error *error)
{
	uint64_t size = 8 * static_words(found, map);
	void *bytes;
	struct snap_marshal value;
	struct hg_error unread;
	BASE_TRY(base_pool_alloc(&found->pool, size, 1, &bytes, error));
	if (!found->read(found->data, map, bytes, size))
		return HG_OK;
	struct base_cursor cursor = base_cursor_over(bytes, size);
	base_error_clear(&unread);
	enum hg_status status = snap_marshal_read(&cursor, &found->pool, &value, &unread);
	if (status == HG_OK)
		return name_units(found, &value, error);
	if (status != HG_ERROR_LIMIT || unread.offset != HG_NO_OFFSET)
		return HG_OK;
	*error = unread;
	return status;
}

/* Whether a unit is Stdlib.Sys: its name is what follows "caml" in a symbol. */
static bool is_sys(const char *name)
{
	for (unsigned i = 0; snap_sys_symbol(i); i++)
		if (strcmp(snap_sys_symbol(i) + strlen("caml"), name) == 0)
			return true;
	return false;
}

/* Sys.ocaml_version is the only string of its form in the block of the module. */
static void read_version(struct snap_found *found, uint64_t block)
{
	uint64_t words = static_words(found, block);
	for (uint64_t i = 0; i < words && i < 64; i++) {
		char text[sizeof(found->version)] = "";
		uint64_t field = snap_found_word(found, block + 8 * i);
		if (snap_found_is_block(found, field, SNAP_TAG_STRING, 1) &&
			found->read(found->data, field, text, sizeof(text) - 1) &&
			snap_is_version(text)) {
			memcpy(found->version, text, sizeof(text));
			return;
		}
	}
}

static int compare_starts(const void *a, const void *b)
{
	const struct snap_range *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

/* The data of units, in order of addresses; the end of a segment is the address of its last word.
 */
static enum hg_status keep_statics(
	struct snap_found *found, uint64_t segments, struct hg_error *error)
{
	uint64_t count = found->unit_count + 1;
	void *statics;
	BASE_TRY(base_pool_alloc(&found->pool, count, sizeof(*found->statics), &statics, error));
	found->statics = statics;
	for (uint64_t i = 0; i < count; i++)
		found->statics[i] = (struct snap_range){snap_found_word(found, segments + 16 * i),
			snap_found_word(found, segments + 16 * i + 8) + 8};
	found->static_count = count;
	qsort(found->statics, count, sizeof(*found->statics), compare_starts);
	return HG_OK;
}

static enum hg_status keep_tables(
	struct snap_found *found, const struct tables *tables, struct hg_error *error)
{
	found->globals = tables->globals;
	found->unit_count = tables->unit_count;
	BASE_TRY(snap_found_name(found, "caml_globals", tables->globals, error));
	BASE_TRY(snap_found_name(found, "caml_globals_map", tables->map, error));
	BASE_TRY(snap_found_name(found, "caml_data_segments", tables->data_segments, error));
	BASE_TRY(snap_found_name(found, "caml_code_segments", tables->code_segments, error));
	BASE_TRY(snap_found_name(found, "caml_frametable", tables->frame_table, error));
	BASE_TRY(keep_statics(found, tables->data_segments, error));
	BASE_TRY(read_names(found, tables->map, error));
	for (uint64_t i = 0; found->names && i < found->unit_count; i++) {
		uint64_t block, list = snap_found_word(found, tables->globals + 8 * i);
		for (; is_sys(found->names[i]) && (block = snap_found_word(found, list)); list += 8)
			read_version(found, block);
	}
	return HG_OK;
}

/* Segments overlap in no executable, and stand in the order of addresses. */
static enum hg_status check_spaces(const struct snap_found *found, struct hg_error *error)
{
	for (uint64_t i = 1; i < found->space_count; i++)
		if (found->spaces[i].range.start < found->spaces[i - 1].range.end)
			return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
				"the segments of '%s' are not in the order of their addresses",
				found->program);
	return HG_OK;
}

enum hg_status snap_found_tables(struct snap_found *found, struct hg_error *error)
{
	struct group_search search = {0};
	BASE_TRY(check_spaces(found, error));
	for (uint64_t i = 0; i < found->space_count && !search.other; i++)
		if (found->spaces[i].is_writable)
			snap_found_scan(found, found->spaces[i].range, look_for_group, &search);
	if (search.other)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"'%s' has no symbols, and the tables of two OCaml programs in its data, "
			"at 0x%llx and 0x%llx: which it runs cannot be told",
			found->program, (unsigned long long)search.tables.map,
			(unsigned long long)search.other);
	return search.tables.globals ? keep_tables(found, &search.tables, error) : HG_OK;
}

/* Names */

enum hg_status snap_found_name(
	struct snap_found *found, const char *name, uint64_t address, struct hg_error *error)
{
	if (found->variable_count == SNAP_FOUND_VARIABLES)
		return base_no_memory(error, sizeof(found->variables));
	found->variables[found->variable_count++] = (struct snap_found_place){name, address};
	return HG_OK;
}

uint64_t snap_found_variable(const struct snap_found *found, const char *name)
{
	for (unsigned i = 0; i < found->variable_count; i++)
		if (strcmp(found->variables[i].name, name) == 0)
			return found->variables[i].address;
	return 0;
}

void snap_found_release(struct snap_found *found)
{
	free(found->spaces);
	free(found->codes);
	free(found->states);
	base_pool_release(&found->pool);
	*found = (struct snap_found){0};
}
