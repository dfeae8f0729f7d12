/* Global variables of bytecode: caml_global_data, a block with a field for each of them. */
#include "snapshot/bytecode/process.h"

#include "snapshot/runtime/reader.h"
#include "snapshot/runtime/roots.h"

#include <string.h>

/* The fields of a block, as far as they are there; 0 if there is none. */
static uint64_t fields_there(const struct snap_runtime *runtime, uint64_t block)
{
	uint64_t header;
	if (block == 0 || block % 8 ||
		!snap_image_u64(runtime->image, snap_pointed_header(block).a, &header) ||
		!snap_tag_has_fields(snap_header_tag(header)))
		return 0;
	uint64_t wosize = snap_runtime_wosize(runtime, header);
	return wosize >> 40 ? 0 : snap_image_present(runtime->image, block, 8 * wosize) / 8;
}

bool snap_bytecode_version(struct snap_runtime *runtime, char *text, size_t size)
{
	enum { MOST_FIELDS = 64 };
	uint64_t table = snap_variable_word(runtime, "caml_global_data"), header;
	uint64_t count = fields_there(runtime, table);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t block = snap_word(runtime, table + 8 * i);
		uint64_t fields = block & 1 ? 0 : fields_there(runtime, block);
		for (uint64_t j = 0; j < fields && j < MOST_FIELDS && snap_spend(runtime, 1); j++) {
			uint64_t field = snap_word(runtime, block + 8 * j);
			if (field && field % 8 == 0 &&
				snap_image_u64(
					runtime->image, snap_pointed_header(field).a, &header) &&
				snap_header_tag(header) == SNAP_TAG_STRING &&
				snap_image_string(runtime->image, field, text, size) &&
				snap_is_version(text))
				return true;
		}
	}
	return false;
}

static const char *name_of_global(struct snap_runtime *runtime, uint64_t number)
{
	const struct snap_bytecode_globals *globals = &runtime->bytecode->globals;
	const struct snap_bytecode_text *name =
		number < globals->count ? &globals->items[number].name : NULL;
	if (name && name->length && name->length < 256 && !memchr(name->bytes, 0, name->length))
		return snap_print(runtime, "%.*s", (int)name->length, (const char *)name->bytes);
	return globals->count ? "constants" : "global";
}

static bool is_unit(const struct snap_runtime *runtime, uint64_t number)
{
	const struct snap_bytecode_globals *globals = &runtime->bytecode->globals;
	return number < globals->count && globals->items[number].name.length &&
	       !globals->items[number].is_predefined;
}

/* A unit's block, which its global leads to once it is initialised, and the values in it. */
static enum hg_status add_bytecode_unit(
	struct snap_runtime *runtime, const char *name, uint64_t block, struct hg_error *error)
{
	struct snap_root_source source = {
		.kind = HG_ROOT_GLOBAL, .name = name, .stack = SNAP_NO_INDEX};
	uint64_t wosize = fields_there(runtime, block);
	if (wosize == 0 || !snap_spend(runtime, wosize))
		return HG_OK;
	BASE_TRY(base_grow(&runtime->units, runtime->unit_count, &runtime->unit_capacity,
		sizeof(*runtime->units), error));
	runtime->units[runtime->unit_count++] = (struct snap_unit){name, {block}, wosize, ""};
	for (uint64_t i = 0; i < wosize; i++)
		BASE_TRY(snap_read_root(runtime, &source, block + 8 * i, i, error));
	return HG_OK;
}

enum hg_status snap_read_bytecode_units(struct snap_runtime *runtime, struct hg_error *error)
{
	uint64_t variable = snap_variable(runtime, "caml_global_data");
	uint64_t table = variable ? snap_word(runtime, variable) : 0;
	uint64_t count = fields_there(runtime, table);
	struct snap_root_source source = {
		.kind = HG_ROOT_OTHER, .name = "table of globals", .stack = SNAP_NO_INDEX};
	if (count == 0) {
		snap_note_line(
			runtime, "caml_global_data is missing: no module's values are roots");
		return HG_OK;
	}
	BASE_TRY(snap_read_root(runtime, &source, variable, HG_UNKNOWN, error));
	source.kind = HG_ROOT_GLOBAL;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t value = snap_word(runtime, table + 8 * i);
		bool unit = is_unit(runtime, i) && !(value & 1);
		source.name = name_of_global(runtime, i);
		BASE_TRY(snap_read_root(
			runtime, &source, table + 8 * i, unit ? HG_UNKNOWN : i, error));
		if (unit)
			BASE_TRY(add_bytecode_unit(runtime, source.name, value, error));
	}
	return HG_OK;
}
