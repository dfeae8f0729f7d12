/* Names: where code is from in the source, and what its symbols call it. */
#include "snapshot/runtime/frames.h"

#include "snapshot/bytecode/process.h"
#include "snapshot/runtime/reader.h"
#include "snapshot/symbol_name.h"

#include <stdio.h>
#include <string.h>

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

/* Strings of the image, each once: many calls are in few files and functions. */
static const char *string_at(struct snap_runtime *runtime, uint64_t address)
{
	char text[4096];
	struct hg_error unused;
	uint64_t kept;
	bool added;
	if (address == 0)
		return "";
	if (base_map_get(&runtime->strings, address, &kept))
		return (const char *)(uintptr_t)kept;
	if (!snap_image_string(runtime->image, address, text, sizeof(text)))
		text[0] = '\0';
	const char *string = snap_print(runtime, "%s", text);
	kept = (uintptr_t)string;
	base_error_clear(&unused);
	/* When there is no memory for more, they are read again every time. */
	(void)base_map_add(&runtime->strings, address, &kept, &added, &unused);
	return string;
}

/* 5.2 and later, when the position does not fit: 16-bit columns stand before the name. */
static uint64_t wide_location(
	struct snap_runtime *runtime, const struct debuginfo *info, struct snap_code_location *out)
{
	uint64_t name = info->address + (info->low & NAME_OFFSET);
	out->line = info->high >> 12 & 0x7ffff;
	out->start = snap_half(runtime, name + 4) & 0xffff;
	out->end = snap_half(runtime, name + 8);
	return name + 12;
}

static void decode_location(
	struct snap_runtime *runtime, const struct debuginfo *info, struct snap_code_location *out)
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

static size_t read_locations(struct snap_runtime *runtime, uint64_t address,
	struct snap_code_location *out, size_t capacity)
{
	struct debuginfo info;
	size_t count = 0;
	while (count < capacity && count < MOST_INLINED &&
		read_debuginfo(runtime, address, &info)) {
		decode_location(runtime, &info, &out[count++]);
		if (!(info.low & DEBUGINFO_INLINED))
			break;
		address += 8;
	}
	return count;
}

/*
 * A slot is a descriptor, or the debuginfo of one of its allocations plus 2 (caml_debuginfo of
 * backtrace_nat.c), as an OCaml integer.
 */
size_t snap_runtime_locations(struct snap_runtime *runtime, uint64_t slot,
	struct snap_code_location *out, size_t capacity)
{
	struct snap_descriptor descriptor, known;
	uint64_t word = slot & ~(uint64_t)1;
	if (runtime->bytecode)
		return capacity && snap_bytecode_call(runtime, word, out) ? 1 : 0;
	if (word & 2)
		return read_locations(runtime, word - 2, out, capacity);
	if (!snap_read_descriptor(runtime, word, &descriptor) ||
		!snap_find_descriptor(runtime, descriptor.return_address, &known) ||
		known.address != word)
		return 0;
	uint64_t info = snap_debuginfo_of(runtime, &descriptor);
	return info ? read_locations(runtime, info, out, capacity) : 0;
}

/* The location in the function itself comes after those in functions inlined into it. */
static bool outermost_location(struct snap_runtime *runtime,
	const struct snap_descriptor *descriptor, struct snap_code_location *out)
{
	struct debuginfo info;
	uint64_t address = snap_debuginfo_of(runtime, descriptor);
	if (!address)
		return false;
	for (unsigned i = 0; i < MOST_INLINED && read_debuginfo(runtime, address, &info) &&
			     (i == 0 || snap_spend(runtime, 1));
		i++) {
		if (!(info.low & DEBUGINFO_INLINED)) {
			decode_location(runtime, &info, out);
			return true;
		}
		address += 8;
	}
	return false;
}

size_t snap_runtime_code_locations(struct snap_runtime *runtime, uint64_t *start, uint64_t end,
	struct snap_code_location out[SNAP_CODE_LOCATIONS])
{
	struct snap_descriptor descriptors[SNAP_CODE_LOCATIONS];
	size_t count = 0;
	if (runtime->bytecode)
		return snap_bytecode_locations(runtime, start, end, out);
	while (count < SNAP_CODE_LOCATIONS) {
		size_t wanted = SNAP_CODE_LOCATIONS - count;
		size_t got = snap_next_descriptors(runtime, *start, descriptors, wanted);
		for (size_t i = 0; i < got; i++) {
			if (descriptors[i].return_address > end)
				return count;
			*start = descriptors[i].return_address;
			count += outermost_location(runtime, &descriptors[i], &out[count]);
		}
		if (got < wanted)
			break;
	}
	return count;
}

/* Of the code before a return address, with its descriptor or 0. */
static const char *name_code(
	struct snap_runtime *runtime, uint64_t return_address, uint64_t address)
{
	struct snap_descriptor descriptor;
	struct snap_code_location at;
	char function[256];
	uint64_t info = address && snap_read_descriptor(runtime, address, &descriptor)
				? snap_debuginfo_of(runtime, &descriptor)
				: 0;
	if (info && read_locations(runtime, info, &at, 1) > 0)
		return snap_print(
			runtime, "%s %s:%u:%u-%u", at.function, at.file, at.line, at.start, at.end);
	if (snap_runtime_function(runtime, return_address - 1, function, sizeof(function)))
		return snap_print(runtime, "%s", function);
	return snap_print(runtime, "code 0x%llx", (unsigned long long)return_address);
}

const char *snap_frame_name(struct snap_runtime *runtime, uint64_t return_address)
{
	uint64_t descriptor;
	const char **kept = snap_kept_name(runtime, return_address, &descriptor);
	if (!kept)
		return name_code(runtime, return_address, 0);
	if (!*kept)
		*kept = name_code(runtime, return_address, descriptor);
	return *kept;
}

/* Names of code */

/* Of a unit itself there is nothing but its name behind "caml". */
static bool is_of_unit(const char *symbol)
{
	return strncmp(symbol, "caml", 4) == 0 && symbol[4] >= 'A' && symbol[4] <= 'Z';
}

bool snap_runtime_function(
	struct snap_runtime *runtime, uint64_t address, char *buffer, size_t size)
{
	struct snap_symbol symbol;
	struct snap_symbol_name name;
	uint64_t offset;
	if (!snap_image_symbol_at(runtime->image, address, &symbol, &offset))
		return false;
	if (snap_split_symbol(symbol.name, &name))
		snprintf(buffer, size, "%.*s.%.*s", (int)name.unit_length, name.unit,
			(int)name.function_length, name.function);
	else
		snprintf(buffer, size, "%s", symbol.name + (is_of_unit(symbol.name) ? 4 : 0));
	return true;
}
