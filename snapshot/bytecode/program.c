/* Sections of a program of ocamlc, and its table of global variables. */
#include "snapshot/bytecode/program.h"

#include "base/grow.h"

#include <string.h>

enum { MAGIC_BYTES = 12, TRAILER_BYTES = 4 + MAGIC_BYTES, ENTRY_BYTES = 8, NAME_BYTES = 4 };

bool snap_bytecode_ends(const uint8_t *bytes, size_t size)
{
	static const char magic[] = "Caml1999X";
	if (size < TRAILER_BYTES)
		return false;
	const uint8_t *at = bytes + size - MAGIC_BYTES;
	if (memcmp(at, magic, sizeof(magic) - 1) != 0)
		return false;
	for (size_t i = sizeof(magic) - 1; i < MAGIC_BYTES; i++)
		if (at[i] < '0' || at[i] > '9')
			return false;
	return true;
}

bool snap_bytecode_start(const uint8_t *tail, size_t tail_size, uint64_t file_size, uint64_t *start)
{
	struct base_cursor c = base_cursor_over(tail, tail_size);
	uint64_t count, length, all = TRAILER_BYTES;
	if (!snap_bytecode_ends(tail, tail_size))
		return false;
	base_cursor_seek(&c, tail_size - TRAILER_BYTES);
	if (!base_cursor_be(&c, 4, &count) || count > (tail_size - TRAILER_BYTES) / ENTRY_BYTES)
		return false;
	all += ENTRY_BYTES * count;
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t entry = tail_size - TRAILER_BYTES - ENTRY_BYTES * (count - i);
		base_cursor_seek(&c, entry + NAME_BYTES);
		if (!base_cursor_be(&c, 4, &length))
			return false;
		all += length;
	}
	*start = file_size - all;
	return all <= file_size;
}

enum hg_status snap_bytecode_section(const uint8_t *bytes, size_t size, const char *name,
	struct base_cursor *out, bool *found, struct hg_error *error)
{
	struct base_cursor c = base_cursor_over(bytes, size);
	uint64_t count, length = 0;
	*found = false;
	*out = c;
	if (!snap_bytecode_ends(bytes, size))
		return base_corrupt(error, size, "does not end as a bytecode program of OCaml");
	base_cursor_seek(&c, size - TRAILER_BYTES);
	base_cursor_be(&c, 4, &count);
	if (count > (size - TRAILER_BYTES) / ENTRY_BYTES)
		return base_corrupt(error, size - TRAILER_BYTES,
			"has a table of %llu sections, more than it has room for",
			(unsigned long long)count);
	const uint64_t table = size - TRAILER_BYTES - ENTRY_BYTES * count;
	uint64_t end = table;
	for (uint64_t i = count; i-- > 0;) {
		const uint8_t *entry = bytes + table + ENTRY_BYTES * i;
		base_cursor_seek(&c, table + ENTRY_BYTES * i + NAME_BYTES);
		base_cursor_be(&c, 4, &length);
		if (length > end)
			return base_corrupt(error, table + ENTRY_BYTES * i,
				"has a section of %llu bytes, of which only %llu are there",
				(unsigned long long)length, (unsigned long long)end);
		if (memcmp(entry, name, NAME_BYTES) == 0) {
			*found = true;
			*out = (struct base_cursor){bytes, bytes + end - length, bytes + end};
			return HG_OK;
		}
		end -= length;
	}
	return HG_OK;
}

/* GETPUBMET: the second of its operands is where it found the method the last time. */
static bool is_cache(const struct base_cursor *code, size_t at)
{
	enum { GETPUBMET = 141, BEFORE = 8 }; /* runtime/caml/instruct.h */
	return at >= BEFORE && base_load_u32le(code->next + at) == 0 &&
	       base_load_u32le(code->next + at - BEFORE) == GETPUBMET;
}

bool snap_bytecode_is_loaded(const struct base_cursor *code, const uint8_t *loaded, size_t got)
{
	enum { OPCODES = 256 };
	uint32_t threaded[OPCODES] = {0};
	for (size_t i = 0; loaded && i + 4 <= got && i + 4 <= base_cursor_left(code); i += 4) {
		uint32_t word = base_load_u32le(code->next + i), now = base_load_u32le(loaded + i);
		if (word == now || is_cache(code, i))
			continue;
		if (word >= OPCODES || (threaded[word] && threaded[word] != now))
			return false;
		threaded[word] = now;
	}
	return true;
}

/* Globals */

/*
 * The name in a key of the table: Ident.t, whose first field is its name (4.13 to 5.1), or
 * Symtable.Global.t over constructors that may be unboxed (5.2 on).
 */
static bool name_of_key(
	const struct snap_marshal *m, struct snap_value key, struct snap_bytecode_text *out)
{
	enum { MOST_BOXES = 3 };
	for (unsigned i = 0; i < MOST_BOXES; i++) {
		key = snap_marshal_field(m, key, 0);
		if (snap_marshal_string(m, key, &out->bytes, &out->length))
			return out->length > 0;
	}
	return false;
}

/* Ident.Predef is the fourth constructor of Ident.t, Glob_predef the second of Global.t. */
static bool is_predefined(const struct snap_marshal *m, struct snap_value key)
{
	int tag = snap_marshal_tag(m, key);
	return tag == 3 || (tag == 1 && snap_marshal_size(m, key) == 1);
}

static enum hg_status add_global(const struct snap_marshal *m, struct snap_value node,
	struct snap_bytecode_globals *globals, struct hg_error *error)
{
	struct snap_value key = snap_marshal_field(m, node, 1);
	struct snap_bytecode_global global = {.is_predefined = is_predefined(m, key)};
	int64_t number;
	if (!name_of_key(m, key, &global.name) ||
		!snap_marshal_int(m, snap_marshal_field(m, node, 2), &number) || number < 0 ||
		(uint64_t)number >= globals->count)
		return base_corrupt(error, m->offset, "has a damaged table of global variables");
	globals->items[number] = global;
	return HG_OK;
}

/* Map.t: Empty, or Node of {l; v; d; r; h}; the number of nodes bounds the walk. */
enum hg_status snap_bytecode_read_globals(const struct snap_marshal *m, struct snap_value table,
	struct snap_bytecode_globals *globals, struct hg_error *error)
{
	enum { MOST_DEPTH = 128, NODE_FIELDS = 5, LEFT = 0, RIGHT = 3, MOST_GLOBALS = 1 << 24 };
	struct snap_value waiting[MOST_DEPTH];
	unsigned depth = 0;
	int64_t count;
	*globals = (struct snap_bytecode_globals){0};
	if (!snap_marshal_int(m, snap_marshal_field(m, table, 0), &count) || count < 0 ||
		count > MOST_GLOBALS)
		return base_corrupt(error, m->offset, "has no table of global variables");
	/* One more, as nothing may be asked for 0 bytes. */
	globals->items = calloc((uint64_t)count + 1, sizeof(*globals->items));
	if (!globals->items)
		return base_no_memory(error, ((uint64_t)count + 1) * sizeof(*globals->items));
	globals->count = globals->capacity = (uint64_t)count;
	struct snap_value node = snap_marshal_field(m, table, 1);
	for (uint32_t left = m->objects; left > 0; left--) {
		while (!snap_value_is_block(node) && depth > 0)
			node = waiting[--depth];
		if (!snap_value_is_block(node))
			return HG_OK;
		if (snap_marshal_size(m, node) != NODE_FIELDS || depth == MOST_DEPTH)
			break;
		BASE_TRY(add_global(m, node, globals, error));
		waiting[depth++] = snap_marshal_field(m, node, RIGHT);
		node = snap_marshal_field(m, node, LEFT);
	}
	return base_corrupt(error, m->offset, "has a damaged table of global variables");
}
