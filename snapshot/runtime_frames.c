/*
 * Frame descriptors: for every return address into OCaml code, which words of the frame are live
 * and where the call is in the source (runtime/caml/stack.h, backtrace_nat.c of the versions).
 */
#include "snapshot/runtime_parts.h"

#include <stdio.h>

struct place {
	uint64_t return_address, descriptor;
	const char *name; /* NULL until it is asked for */
};

/* Open addressing by return address. */
struct snap_frame_table {
	struct place *places;
	uint64_t mask, count;
	uint64_t *tables;
	uint64_t table_count, table_capacity;
};

static uint64_t slot_of(const struct snap_frame_table *frames, uint64_t return_address)
{
	uint64_t slot = return_address * UINT64_C(0x9e3779b97f4a7c15) >> 20 & frames->mask;
	while (frames->places[slot].return_address &&
		frames->places[slot].return_address != return_address)
		slot = (slot + 1) & frames->mask;
	return slot;
}

static enum hg_status make_room(struct snap_frame_table *frames, struct hg_error *error)
{
	if (frames->places && 2 * (frames->count + 1) <= frames->mask)
		return HG_OK;
	struct snap_frame_table bigger = *frames;
	bigger.mask = frames->places ? 2 * frames->mask + 1 : 0xfff;
	bigger.places = calloc(bigger.mask + 1, sizeof(*bigger.places));
	if (!bigger.places)
		return base_no_memory(error, (bigger.mask + 1) * sizeof(*bigger.places));
	for (uint64_t i = 0; frames->places && i <= frames->mask; i++)
		if (frames->places[i].return_address)
			bigger.places[slot_of(&bigger, frames->places[i].return_address)] =
				frames->places[i];
	free(frames->places);
	*frames = bigger;
	return HG_OK;
}

static bool read_descriptor(
	const struct snap_runtime *runtime, uint64_t address, struct snap_descriptor *out)
{
	uint8_t bytes[12];
	uint16_t halves[2];
	if (!snap_image_read(runtime->image, address, bytes, sizeof(bytes)))
		return false;
	memcpy(halves, bytes + 8, sizeof(halves));
	*out = (struct snap_descriptor){.address = address,
		.return_address = base_load_u64le(bytes),
		.frame_size = halves[0],
		.live_count = halves[1]};
	return true;
}

static uint64_t align(uint64_t address, uint64_t to)
{
	return (address + to - 1) & ~(to - 1);
}

/* Of the debuginfo offsets of a descriptor: where they begin and how many there are. */
static bool debuginfo_places(const struct snap_runtime *runtime,
	const struct snap_descriptor *descriptor, uint64_t *start, unsigned *count, uint64_t *end)
{
	uint64_t next = descriptor->address + 12 + 2 * (uint64_t)descriptor->live_count;
	uint8_t allocations = 1;
	*count = 0;
	if (descriptor->frame_size != SNAP_RETURN_TO_C) {
		if (descriptor->frame_size & SNAP_FRAME_ALLOCATIONS) {
			if (!snap_image_read(runtime->image, next, &allocations, 1))
				return false;
			next += 1 + (uint64_t)allocations;
		}
		if (descriptor->frame_size & SNAP_FRAME_DEBUGINFO) {
			*start = align(next, 4);
			*count = allocations;
			next = *start + 4 * (uint64_t)allocations;
		}
	}
	*end = align(next, 8);
	return true;
}

static enum hg_status read_table(
	struct snap_runtime *runtime, uint64_t table, struct hg_error *error)
{
	struct snap_frame_table *frames = runtime->frames;
	struct snap_descriptor descriptor;
	uint64_t count = snap_word(runtime, table), start;
	unsigned places;
	for (uint64_t i = 0, next = table + 8; i < count; i++) {
		if (!read_descriptor(runtime, next, &descriptor) ||
			!debuginfo_places(runtime, &descriptor, &start, &places, &next)) {
			snap_note_line(runtime, "the frame table at 0x%llx is cut short",
				(unsigned long long)table);
			return HG_OK;
		}
		if (descriptor.return_address == 0)
			continue;
		BASE_TRY(make_room(frames, error));
		struct place *place = &frames->places[slot_of(frames, descriptor.return_address)];
		frames->count += place->return_address == 0;
		*place = (struct place){descriptor.return_address, descriptor.address, NULL};
	}
	return HG_OK;
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static enum hg_status add_table(
	struct snap_frame_table *frames, uint64_t table, struct hg_error *error)
{
	BASE_TRY(base_grow(&frames->tables, frames->table_count, &frames->table_capacity,
		sizeof(*frames->tables), error));
	frames->tables[frames->table_count++] = table;
	return HG_OK;
}

/* caml_frametable of the program, and the list of those that were registered. */
static enum hg_status find_tables(struct snap_runtime *runtime, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	struct snap_frame_table *frames = runtime->frames;
	struct snap_list walk = {0};
	uint64_t table, at = snap_variable(runtime, "caml_frametable");
	for (; (table = snap_word(runtime, at)) != 0; at += 8)
		BASE_TRY(add_table(frames, table, error));
	uint64_t link = l->caml_frame_descrs_frametables == SNAP_ABSENT
				? snap_variable_word(runtime, "frametables")
				: snap_variable(runtime, "current_frame_descrs");
	if (link && l->caml_frame_descrs_frametables != SNAP_ABSENT)
		link = snap_word(runtime, link + l->caml_frame_descrs_frametables);
	for (; snap_list_goes_on(&walk, link); link = snap_word(runtime, link + l->link_next))
		BASE_TRY(add_table(frames, snap_word(runtime, link + l->link_data), error));
	qsort(frames->tables, frames->table_count, sizeof(*frames->tables), by_address);
	uint64_t kept = 0;
	for (uint64_t i = 0; i < frames->table_count; i++)
		if (frames->tables[i] &&
			(kept == 0 || frames->tables[i] != frames->tables[kept - 1]))
			frames->tables[kept++] = frames->tables[i];
	frames->table_count = kept;
	return HG_OK;
}

enum hg_status snap_read_frame_tables(struct snap_runtime *runtime, struct hg_error *error)
{
	runtime->frames = calloc(1, sizeof(*runtime->frames));
	if (!runtime->frames)
		return base_no_memory(error, sizeof(*runtime->frames));
	BASE_TRY(make_room(runtime->frames, error));
	BASE_TRY(find_tables(runtime, error));
	for (uint64_t i = 0; i < runtime->frames->table_count; i++)
		BASE_TRY(read_table(runtime, runtime->frames->tables[i], error));
	return HG_OK;
}

void snap_release_frame_tables(struct snap_runtime *runtime)
{
	if (!runtime->frames)
		return;
	free(runtime->frames->places);
	free(runtime->frames->tables);
	free(runtime->frames);
	runtime->frames = NULL;
}

uint64_t snap_frame_table_count(const struct snap_runtime *runtime)
{
	return runtime->frames->table_count;
}

uint64_t snap_descriptor_count(const struct snap_runtime *runtime)
{
	return runtime->frames->count;
}

static struct place *find_place(struct snap_runtime *runtime, uint64_t return_address)
{
	struct place *place = &runtime->frames->places[slot_of(runtime->frames, return_address)];
	return return_address && place->return_address ? place : NULL;
}

bool snap_find_descriptor(
	struct snap_runtime *runtime, uint64_t return_address, struct snap_descriptor *out)
{
	struct place *place = find_place(runtime, return_address);
	return place && read_descriptor(runtime, place->descriptor, out);
}

/* Debuginfo: two words of 32 bits, and the name of the function and its file. */

struct debuginfo {
	uint64_t address;
	uint32_t low, high;
};

enum {
	DEBUGINFO_INLINED = 1, /* in low: the one of the caller follows */
	NAME_OFFSET = 0x3fffffc
};

static bool read_debuginfo(
	const struct snap_runtime *runtime, uint64_t address, struct debuginfo *out)
{
	out->address = address;
	return snap_image_u32(runtime->image, address, &out->low) &&
	       snap_image_u32(runtime->image, address + 4, &out->high);
}

static const char *string_at(struct snap_runtime *runtime, uint64_t address)
{
	char text[4096];
	const char *kept;
	struct hg_error unused;
	base_error_clear(&unused);
	if (!snap_image_string(runtime->image, address, text, sizeof(text)) ||
		base_pool_string(&runtime->pool, text, strlen(text), &kept, &unused) != HG_OK)
		return "";
	return kept;
}

/* 5.2 and later, when the position does not fit: 16-bit columns stand before the name. */
static uint64_t wide_location(
	struct snap_runtime *runtime, const struct debuginfo *info, struct snap_code_place *out)
{
	uint64_t name = info->address + (info->low & NAME_OFFSET);
	out->line = info->high >> 12 & 0x7ffff;
	out->start = snap_half(runtime, name + 4) & 0xffff;
	out->end = snap_half(runtime, name + 8);
	return name + 12;
}

static void location_of(
	struct snap_runtime *runtime, const struct debuginfo *info, struct snap_code_place *out)
{
	uint64_t name = info->address + (info->low & NAME_OFFSET), function = name + 4;
	uint32_t file = snap_half(runtime, name);
	if (runtime->layout->debuginfo_end_lines == 0) {
		out->line = info->high >> 12;
		out->start = info->high >> 4 & 0xff;
		out->end = (info->high & 15) << 6 | info->low >> 26;
	} else if (info->high >> 31) {
		function = wide_location(runtime, info, out);
	} else {
		out->line = info->high >> 19;
		out->start = info->high >> 10 & 0x3f;
		out->end = (info->high >> 3 & 0x7f) + ((info->high & 7) << 6 | info->low >> 26);
	}
	out->function = string_at(runtime, function);
	out->file = string_at(runtime, name + (uint64_t)(int64_t)(int32_t)file);
}

enum { MOST_INLINED = 1000 };

static size_t locations_of(struct snap_runtime *runtime, uint64_t address,
	struct snap_code_place *out, size_t capacity)
{
	struct debuginfo info;
	size_t count = 0;
	while (count < MOST_INLINED && read_debuginfo(runtime, address, &info)) {
		if (count < capacity)
			location_of(runtime, &info, &out[count]);
		count++;
		if (!(info.low & DEBUGINFO_INLINED))
			break;
		address += 8;
	}
	return count;
}

/* Of several allocations in one frame, the first that has one. */
static uint64_t debuginfo_of(
	const struct snap_runtime *runtime, const struct snap_descriptor *descriptor)
{
	uint64_t start, end;
	unsigned count;
	if (!debuginfo_places(runtime, descriptor, &start, &count, &end))
		return 0;
	for (unsigned i = 0; i < count; i++) {
		uint32_t offset = snap_half(runtime, start + 4 * (uint64_t)i);
		if (offset)
			return start + 4 * (uint64_t)i + offset;
	}
	return 0;
}

/*
 * A slot is a descriptor, or the debuginfo of one of its allocations plus 2 (caml_debuginfo of
 * backtrace_nat.c), as an OCaml integer.
 */
size_t snap_runtime_locations(
	struct snap_runtime *runtime, uint64_t slot, struct snap_code_place *out, size_t capacity)
{
	struct snap_descriptor descriptor, known;
	uint64_t word = slot & ~(uint64_t)1;
	if (word & 2)
		return locations_of(runtime, word - 2, out, capacity);
	if (!read_descriptor(runtime, word, &descriptor) ||
		!snap_find_descriptor(runtime, descriptor.return_address, &known) ||
		known.address != word)
		return 0;
	uint64_t info = debuginfo_of(runtime, &descriptor);
	return info ? locations_of(runtime, info, out, capacity) : 0;
}

const char *snap_frame_name(struct snap_runtime *runtime, uint64_t return_address)
{
	struct place *place = find_place(runtime, return_address);
	struct snap_descriptor descriptor;
	struct snap_code_place at;
	char function[256];
	if (place && place->name)
		return place->name;
	const char *name;
	uint64_t info = place && read_descriptor(runtime, place->descriptor, &descriptor)
				? debuginfo_of(runtime, &descriptor)
				: 0;
	if (info && locations_of(runtime, info, &at, 1) > 0)
		name = snap_print(
			runtime, "%s %s:%u:%u-%u", at.function, at.file, at.line, at.start, at.end);
	else if (snap_runtime_function(runtime, return_address - 1, function, sizeof(function)))
		name = snap_print(runtime, "%s", function);
	else
		name = snap_print(runtime, "code 0x%llx", (unsigned long long)return_address);
	if (place)
		place->name = name;
	return name;
}

/* Names of code */

/*
 * Symbols are caml, the unit, "." (5.1 on) or "__", the function and a number.  A unit's parts
 * begin with capitals and the names of functions with small letters, except functors: the first
 * "__" that is not followed by a capital ends the unit.
 */
static const char *end_of_unit(const char *name, size_t *separator)
{
	const char *dot = strchr(name, '.');
	*separator = 1;
	if (dot)
		return dot;
	*separator = 2;
	for (const char *at = strstr(name, "__"); at; at = strstr(at + 2, "__"))
		if (at[2] < 'A' || at[2] > 'Z')
			return at;
	return NULL;
}

bool snap_runtime_function(
	struct snap_runtime *runtime, uint64_t address, char *buffer, size_t size)
{
	struct snap_symbol symbol;
	uint64_t offset;
	size_t separator;
	if (!snap_image_symbol_at(runtime->image, address, &symbol, &offset))
		return false;
	const char *name = symbol.name;
	if (strncmp(name, "caml", 4) != 0 || name[4] < 'A' || name[4] > 'Z') {
		snprintf(buffer, size, "%s", name);
		return true;
	}
	name += 4;
	const char *end = end_of_unit(name, &separator);
	if (!end) {
		snprintf(buffer, size, "%s", name);
		return true;
	}
	const char *function = end + separator, *number = strrchr(function, '_');
	size_t length = strlen(function);
	if (number && number != function && number[1] &&
		strspn(number + 1, "0123456789") == strlen(number + 1))
		length = (size_t)(number - function);
	snprintf(buffer, size, "%.*s.%.*s", (int)(end - name), name, (int)length, function);
	return true;
}
