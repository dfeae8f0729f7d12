/*
 * Compilation units: where their blocks are (caml_globals, caml_dyn_globals), and the digests of
 * their interfaces (caml_globals_map, caml_plugin_header); where their values are before.
 */
#include "snapshot/runtime/roots.h"

#include "base/cursor.h"
#include "snapshot/arch/arch.h"
#include "snapshot/marshal/marshal.h"
#include "snapshot/runtime/found/found.h"
#include "snapshot/runtime/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks */

/* 'unit' and 'index': the name and which of its blocks it is, of a program without symbols. */
static const char *name_of_block(
	struct snap_runtime *runtime, uint64_t block, const char *unit, uint64_t index)
{
	struct snap_symbol symbol;
	uint64_t offset;
	if (unit)
		return index ? snap_print(runtime, "%s, block %llu", unit,
				       (unsigned long long)index + 1)
			     : snap_print(runtime, "%s", unit);
	if (!snap_image_symbol_at(runtime->image, block, &symbol, &offset) || offset != 0)
		return snap_print(runtime, "module 0x%llx", (unsigned long long)block);
	bool is_unit = strncmp(symbol.name, "caml", 4) == 0 && symbol.name[4] >= 'A' &&
		       symbol.name[4] <= 'Z';
	return snap_print(runtime, "%s", symbol.name + (is_unit ? 4 : 0));
}

static enum hg_status add_runtime_unit(struct snap_runtime *runtime, uint64_t block,
	uint64_t wosize, const char *name, struct hg_error *error)
{
	struct snap_root_source source = {
		.kind = HG_ROOT_GLOBAL, .name = name, .stack = SNAP_NO_INDEX};
	BASE_TRY(base_grow(&runtime->units, runtime->unit_count, &runtime->unit_capacity,
		sizeof(*runtime->units), error));
	runtime->units[runtime->unit_count++] = (struct snap_unit){name, {block}, wosize, ""};
	for (uint64_t i = 0; i < wosize; i++)
		BASE_TRY(snap_read_root(runtime, &source, block + 8 * i, i, error));
	return HG_OK;
}

/* Blocks of units, the list ended by 0; of the unit of that name, or NULL: symbols tell. */
static enum hg_status read_unit_list(
	struct snap_runtime *runtime, uint64_t list, const char *unit, struct hg_error *error)
{
	uint64_t block, header, first = list;
	/* Many lists may be the same one. */
	for (; (block = snap_word(runtime, list)) != 0 && snap_spend(runtime, 1); list += 8) {
		if (!snap_image_u64(runtime->image, snap_pointed_header(block).a, &header))
			continue;
		uint64_t wosize = snap_runtime_wosize(runtime, header);
		if (snap_image_present(runtime->image, block, 8 * wosize) < 8 * wosize) {
			snap_note_line(runtime, "the module at 0x%llx is cut short",
				(unsigned long long)block);
			continue;
		}
		const char *name = name_of_block(runtime, block, unit, (list - first) / 8);
		BASE_TRY(add_runtime_unit(runtime, block, wosize, name, error));
	}
	return HG_OK;
}

/* Digests */

struct digest {
	char unit[256];
	char crc[33];
};

struct digests {
	struct digest *items;
	uint64_t count, capacity;
};

static bool copy_name(const struct snap_marshal *m, struct snap_value value, char *out, size_t size)
{
	const uint8_t *bytes;
	uint32_t length;
	if (!snap_marshal_string(m, value, &bytes, &length) || length == 0 || length >= size ||
		memchr(bytes, 0, length))
		return false;
	memcpy(out, bytes, length);
	out[length] = '\0';
	return true;
}

/* Some digest: 16 bytes (Digest.t). */
static bool copy_digest(const struct snap_marshal *m, struct snap_value option, char *out)
{
	const uint8_t *bytes;
	uint32_t length;
	struct snap_value digest = snap_marshal_field(m, option, 0);
	if (!snap_marshal_string(m, digest, &bytes, &length) || length != 16)
		return false;
	for (unsigned i = 0; i < 16; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
	return true;
}

/*
 * A list whose elements begin with the name of a unit and an option of the digest of its interface:
 * caml_globals_map is (name, interface, implementation, symbols) list (asmcomp/asmlink.ml), imports
 * of plugins are (name, interface) pairs.  False if it is no such list.
 */
static enum hg_status add_digests(struct digests *digests, const struct snap_marshal *m,
	struct snap_value list, bool *is_list, struct hg_error *error)
{
	uint32_t left = m->objects;
	*is_list = false;
	for (; snap_marshal_size(m, list) == 2 && left; list = snap_marshal_field(m, list, 1)) {
		struct snap_value pair = snap_marshal_field(m, list, 0);
		struct digest digest;
		left--;
		if (!copy_name(m, snap_marshal_field(m, pair, 0), digest.unit, sizeof(digest.unit)))
			return HG_OK;
		*is_list = true;
		if (!copy_digest(m, snap_marshal_field(m, pair, 1), digest.crc))
			continue;
		BASE_TRY(base_grow(&digests->items, digests->count, &digests->capacity,
			sizeof(*digests->items), error));
		digests->items[digests->count++] = digest;
	}
	return HG_OK;
}

/*
 * Field 'field' of each element of the list in field 1: caml_plugin_header is {magic; units} and
 * units have {name; crc; imports_cmi; ...} (file_formats/cmxs_format.mli).
 */
static enum hg_status add_plugin(
	struct digests *digests, const struct snap_marshal *m, struct hg_error *error)
{
	enum { UNITS = 1, IMPORTS = 2 };
	struct snap_value units = snap_marshal_field(m, m->root, UNITS);
	uint32_t left = m->objects;
	bool is_list;
	for (; snap_marshal_size(m, units) == 2 && left; units = snap_marshal_field(m, units, 1)) {
		struct snap_value unit = snap_marshal_field(m, units, 0);
		left--;
		BASE_TRY(add_digests(
			digests, m, snap_marshal_field(m, unit, IMPORTS), &is_list, error));
	}
	return HG_OK;
}

/* The bytes of the string at an address; a marshalled value knows its own end. */
static bool string_bytes(
	const struct snap_runtime *runtime, uint64_t address, struct base_cursor *out)
{
	uint64_t header;
	size_t got;
	if (!snap_image_u64(runtime->image, snap_pointed_header(address).a, &header) ||
		snap_header_tag(header) != SNAP_TAG_STRING)
		return false;
	uint64_t bytes = 8 * snap_runtime_wosize(runtime, header);
	const uint8_t *at = snap_image_at(runtime->image, address, bytes, &got);
	if (!at || got < bytes)
		return false;
	*out = base_cursor_over(at, got);
	return true;
}

/* What cannot be read leaves units without digests. */
static enum hg_status read_digests(struct snap_runtime *runtime, uint64_t address, bool is_plugin,
	struct digests *digests, bool *found, struct hg_error *error)
{
	struct base_cursor cursor;
	struct snap_marshal value;
	struct hg_error unread;
	*found = false;
	if (!string_bytes(runtime, address, &cursor))
		return HG_OK;
	base_error_clear(&unread);
	/* Strings that begin like a value may overlap. */
	if (!snap_spend(runtime, base_cursor_left(&cursor) / 8))
		return HG_OK;
	enum hg_status status = snap_marshal_read(&cursor, &runtime->pool, &value, &unread);
	/* What the value says is at an offset; a want of memory is not. */
	if (status == HG_ERROR_LIMIT && unread.offset == HG_NO_OFFSET)
		*error = unread;
	if (status != HG_OK)
		return status == HG_ERROR_LIMIT && unread.offset == HG_NO_OFFSET ? status : HG_OK;
	if (is_plugin)
		return add_plugin(digests, &value, error);
	return add_digests(digests, &value, value.root, found, error);
}

/* Of a stripped program: a marshalled list of units is in its data. */
static enum hg_status search_digests(
	struct snap_runtime *runtime, struct digests *digests, struct hg_error *error)
{
	static const uint8_t magic[4] = {0x84, 0x95, 0xa6, 0xbe}; /* runtime/caml/intext.h */
	bool found = false;
	for (uint64_t i = 0; i < runtime->static_count && !found; i++) {
		const struct snap_range *range = &runtime->statics[i];
		size_t got;
		const uint8_t *bytes = snap_image_at(
			runtime->image, range->start, range->end - range->start, &got);
		for (size_t at = 8; bytes && at + 8 <= got && !found; at += 8)
			if (memcmp(bytes + at, magic, sizeof(magic)) == 0 && snap_spend(runtime, 1))
				BASE_TRY(read_digests(
					runtime, range->start + at, false, digests, &found, error));
	}
	return HG_OK;
}

static enum hg_status find_digests(
	struct snap_runtime *runtime, struct digests *digests, struct hg_error *error)
{
	struct snap_image *image = runtime->image;
	struct snap_symbol symbol;
	bool found = false;
	uint64_t map = runtime->found ? snap_variable(runtime, "caml_globals_map") : 0;
	if (!map && snap_image_main_symbol(image, "caml_globals_map", &symbol))
		map = symbol.address;
	if (map)
		BASE_TRY(read_digests(runtime, map, false, digests, &found, error));
	if (!found)
		BASE_TRY(search_digests(runtime, digests, error));
	for (uint32_t i = 0; i < image->file_count; i++)
		if (&image->files[i] != image->main &&
			snap_image_file_symbol(&image->files[i], "caml_plugin_header", &symbol))
			BASE_TRY(read_digests(
				runtime, symbol.address, true, digests, &found, error));
	return HG_OK;
}

static int compare_digests(const void *a, const void *b)
{
	return strcmp(((const struct digest *)a)->unit, ((const struct digest *)b)->unit);
}

static void name_digests(struct snap_runtime *runtime, const struct digests *digests)
{
	for (uint64_t i = 0; i < runtime->unit_count; i++) {
		struct digest key;
		snprintf(key.unit, sizeof(key.unit), "%s", runtime->units[i].name);
		const struct digest *digest =
			bsearch(&key, digests->items, digests->count, sizeof(key), compare_digests);
		if (digest)
			runtime->units[i].crc = snap_print(runtime, "%s", digest->crc);
	}
}

static enum hg_status read_unit_digests(struct snap_runtime *runtime, struct hg_error *error)
{
	struct digests digests = {0};
	enum hg_status status = find_digests(runtime, &digests, error);
	if (status == HG_OK && digests.count) {
		qsort(digests.items, digests.count, sizeof(*digests.items), compare_digests);
		name_digests(runtime, &digests);
	}
	free(digests.items);
	return status;
}

enum hg_status snap_read_units(struct snap_runtime *runtime, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	const struct snap_found *found = runtime->found;
	uint64_t globals = snap_variable(runtime, "caml_globals"), list, index = 0;
	struct snap_list walk = {0};
	if (!globals)
		snap_note_line(runtime, "caml_globals is missing: no module's values are roots");
	for (; globals && (list = snap_word(runtime, globals)) != 0 && snap_spend(runtime, 1);
		globals += 8, index++)
		BASE_TRY(read_unit_list(runtime, list,
			found && found->names && index < found->unit_count ? found->names[index]
									   : NULL,
			error));
	uint64_t link = snap_variable_word(runtime, "caml_dyn_globals");
	for (; snap_list_goes_on(runtime, &walk, link);
		link = snap_word(runtime, link + l->link_next))
		BASE_TRY(read_unit_list(
			runtime, snap_word(runtime, link + l->link_data), NULL, error));
	return read_unit_digests(runtime, error);
}

/* What is not copied yet */

/* The code that runs when a unit is initialised: camlUnit.entry, before 5.1 camlUnit__entry. */
static bool find_unit_entry(
	struct snap_runtime *runtime, const struct snap_unit *unit, struct snap_symbol *out)
{
	static const char *const separators[] = {".", "__"};
	char name[512];
	struct snap_image_file *file = snap_image_file_at(runtime->image, unit->block.a);
	for (unsigned i = 0; file && i < sizeof(separators) / sizeof(*separators); i++) {
		int length =
			snprintf(name, sizeof(name), "caml%s%sentry", unit->name, separators[i]);
		if ((size_t)length < sizeof(name) && snap_image_file_symbol(file, name, out))
			return true;
	}
	return false;
}

enum hg_status snap_runtime_unit_sources(struct snap_runtime *runtime, const struct snap_unit *unit,
	uint64_t *sources, struct hg_error *error)
{
	struct snap_symbol entry, initialize;
	memset(sources, 0, unit->wosize * sizeof(*sources));
	if (!find_unit_entry(runtime, unit, &entry) || !snap_spend(runtime, entry.size / 8 + 1))
		return HG_OK;
	if (!snap_image_main_symbol(runtime->image, "caml_initialize", &initialize))
		initialize.address = 0;
	return snap_copied_from(runtime->image,
		(struct snap_range){entry.address, entry.address + entry.size},
		(struct snap_range){unit->block.a, snap_unit_field(unit, unit->wosize)},
		initialize.address, sources, error);
}
