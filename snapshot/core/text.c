/* Words about blocks of a core: their code, their kind, where they come from. */
#include "snapshot/core/text.h"

#include "base/search.h"
#include "snapshot/bytecode/process.h"
#include "snapshot/bytecode/variables.h"

#include <stdio.h>

static size_t counted(int length)
{
	return length < 0 ? 0 : (size_t)length;
}

static struct snap_location place_of(const struct snap_code_location *location)
{
	return (struct snap_location){.file = location->file,
		.line = (int32_t)location->line,
		.start = location->start,
		.end = location->end};
}

size_t elfcore_code_name(const struct snap *snap, uint64_t value, char *buffer, size_t size)
{
	struct elfcore *core = elfcore_of(snap);
	char name[1024];
	struct snap_code_location at;
	if (core->runtime.bytecode) {
		if (!snap_bytecode_function(&core->runtime, value, &at))
			return 0;
		return counted(snprintf(buffer, size, "%s", at.function));
	}
	if (!snap_runtime_function(&core->runtime, value, name, sizeof(name)))
		return 0;
	return counted(snprintf(buffer, size, "%s", name));
}

bool elfcore_code_symbol(const struct snap *snap, uint64_t address, struct snap_code_symbol *out)
{
	struct elfcore *core = elfcore_of(snap);
	struct snap_symbol symbol;
	uint64_t offset;
	if (core->runtime.bytecode)
		return snap_bytecode_symbol(&core->runtime, address, out);
	if (!snap_image_symbol_at(&core->image, address, &symbol, &offset))
		return false;
	out->name = symbol.name;
	out->code = (struct snap_range){symbol.address, symbol.address + symbol.size};
	return true;
}

uint64_t elfcore_code_locations(const struct snap *snap, struct snap_range code,
	struct snap_location *out, uint64_t capacity)
{
	struct elfcore *core = elfcore_of(snap);
	struct snap_code_location locations[SNAP_CODE_LOCATIONS];
	uint64_t count = 0, start = code.start;
	size_t got;
	do {
		got = snap_runtime_code_locations(&core->runtime, &start, code.end, locations);
		for (size_t i = 0; i < got; i++, count++)
			if (count < capacity)
				out[count] = (struct snap_location){.file = locations[i].file,
					.line = (int32_t)locations[i].line,
					.start = locations[i].start,
					.end = locations[i].end};
	} while (got == SNAP_CODE_LOCATIONS);
	return count;
}

bool elfcore_captured(
	const struct snap *snap, uint64_t code, uint64_t field, struct snap_captured *out)
{
	struct elfcore *core = elfcore_of(snap);
	return core->runtime.bytecode && snap_bytecode_captured(&core->runtime, code, field, out);
}

bool elfcore_code_line(const struct snap *snap, uint64_t address, struct snap_location *out)
{
	struct elfcore *core = elfcore_of(snap);
	uint32_t line;
	struct snap_code_location place;
	*out = (struct snap_location){0};
	if (core->runtime.bytecode) {
		if (!snap_bytecode_function(&core->runtime, address, &place))
			return false;
		*out = place_of(&place);
		return out->line > 0;
	}
	if (!snap_image_line(&core->image, address, &out->file, &line) || line > INT32_MAX)
		return false;
	out->line = (int32_t)line;
	return true;
}

size_t elfcore_custom_name(
	const struct snap *snap, struct snap_rank rank, char *buffer, size_t size)
{
	struct elfcore *core = elfcore_of(snap);
	struct snap_header_address address = snap_ranks_header(&snap->ranks, rank);
	uint64_t header;
	struct snap_custom custom;
	if (!snap_image_u64(&core->image, address.a, &header) ||
		snap_header_tag(header) != SNAP_TAG_CUSTOM)
		return 0;
	snap_runtime_custom(&core->runtime, snap_block_of(address),
		snap_header_wosize(header, snap->reserved), &custom);
	return counted(snprintf(buffer, size, "%s", custom.identifier));
}

static const struct snap_sample *find_sample(
	const struct elfcore *core, struct snap_header_address address)
{
	uint64_t i = BASE_FIRST_FROM(core->sampled, core->sampled_count, address, address.a);
	bool found = i < core->sampled_count && core->sampled[i].address.a == address.a;
	return found ? &core->runtime.samples[core->sampled[i].sample] : NULL;
}

static const struct snap_sample *sample_of_block(const struct elfcore *core, struct snap_rank rank)
{
	return find_sample(core, snap_ranks_header(&core->snap->ranks, rank));
}

/* Slots of a call stack that are shown, and functions inlined at one of them. */
enum { MOST_SLOTS = 256, MOST_INLINED = 32 };

/* How many slots there are, of which at most MOST_SLOTS are stored; 0 if they are not known. */
static uint64_t slots_of(
	struct elfcore *core, const struct snap_sample *sample, uint64_t slots[MOST_SLOTS])
{
	struct snap_runtime *runtime = &core->runtime;
	uint64_t count = 0;
	bool known = sample->stash
			     ? snap_runtime_stash(runtime, sample->stash, slots, MOST_SLOTS, &count)
			     : snap_runtime_callstack(
				       runtime, sample->user_data, slots, MOST_SLOTS, &count);
	return known ? count : 0;
}

static size_t locations_of(
	struct elfcore *core, uint64_t slot, struct snap_code_location locations[MOST_INLINED])
{
	return snap_runtime_locations(&core->runtime, slot, locations, MOST_INLINED);
}

static bool find_call_frame(struct elfcore *core, const struct snap_sample *sample, uint64_t frame,
	struct snap_code_location *location)
{
	struct snap_code_location locations[MOST_INLINED];
	uint64_t slots[MOST_SLOTS], seen = 0;
	uint64_t count = slots_of(core, sample, slots);
	for (uint64_t i = 0; i < count && i < MOST_SLOTS; i++) {
		size_t inlined = locations_of(core, slots[i], locations);
		if (frame < seen + inlined) {
			*location = locations[frame - seen];
			return true;
		}
		seen += inlined;
	}
	return false;
}

size_t elfcore_call_frame(
	const struct snap *snap, struct snap_rank rank, uint64_t frame, char *buffer, size_t size)
{
	struct elfcore *core = elfcore_of(snap);
	const struct snap_sample *sample = sample_of_block(core, rank);
	struct snap_code_location location;
	if (!sample || !find_call_frame(core, sample, frame, &location))
		return 0;
	struct snap_location at = place_of(&location);
	return snap_put_frame(location.function, &at, buffer, size);
}

uint64_t elfcore_call_locations(const struct snap *snap, struct snap_rank rank,
	struct snap_location *out, uint64_t capacity)
{
	struct elfcore *core = elfcore_of(snap);
	const struct snap_sample *sample = sample_of_block(core, rank);
	struct snap_code_location locations[MOST_INLINED];
	uint64_t slots[MOST_SLOTS], found = 0;
	uint64_t count = sample ? slots_of(core, sample, slots) : 0;
	for (uint64_t i = 0; i < count && i < MOST_SLOTS; i++) {
		size_t inlined = locations_of(core, slots[i], locations);
		for (size_t j = 0; j < inlined; j++) {
			if (!locations[j].file[0] || locations[j].line > INT32_MAX)
				continue;
			if (found < capacity)
				out[found] = place_of(&locations[j]);
			found++;
		}
	}
	return found;
}

size_t elfcore_call_stack(
	const struct snap *snap, struct snap_header_address address, char *buffer, size_t size)
{
	struct elfcore *core = elfcore_of(snap);
	const struct snap_sample *sample = find_sample(core, address);
	struct snap_code_location locations[MOST_INLINED];
	uint64_t slots[MOST_SLOTS];
	uint64_t count = sample ? slots_of(core, sample, slots) : 0;
	size_t length = 0;
	for (uint64_t i = 0; i < count && i < MOST_SLOTS; i++) {
		size_t inlined = locations_of(core, slots[i], locations);
		for (size_t j = 0; j < inlined; j++) {
			struct snap_location at = place_of(&locations[j]);
			snap_append_frame(locations[j].function, &at, buffer, size, &length);
		}
	}
	if (count > MOST_SLOTS)
		snap_append_rest(buffer, size, &length);
	return length;
}

bool elfcore_is_call_stack(const struct snap *snap, const struct snap_cell *cell, bool is_likely)
{
	uint64_t slots[MOST_SLOTS];
	uint64_t count = cell->field_count < MOST_SLOTS ? cell->field_count : MOST_SLOTS;
	struct elfcore *core = elfcore_of(snap);
	if (cell->tag != 0 || count == 0 || !(cell->fields[0] & 1))
		return false;
	for (uint64_t i = 0; i < count; i++)
		slots[i] = cell->fields[i];
	return snap_runtime_is_callstack(&core->runtime, slots, count, is_likely);
}

/* While a callback runs, and before the first one has, its result is not there. */
static bool keeps_id(const struct snap_sample *sample, int64_t *id)
{
	if (!sample->is_settled || !(sample->user_data & 1) || sample->user_data >> 63)
		return false;
	*id = (int64_t)sample->user_data >> 1;
	return true;
}

bool elfcore_sample_id(const struct snap *snap, struct snap_rank rank, int64_t *id)
{
	const struct snap_sample *sample = sample_of_block(elfcore_of(snap), rank);
	return sample && keeps_id(sample, id);
}

bool elfcore_tracked(const struct snap *snap, uint64_t index, struct snap_tracked *out)
{
	const struct elfcore *core = elfcore_of(snap);
	if (index >= core->sampled_count)
		return false;
	const struct elfcore_sampled *at = &core->sampled[index];
	const struct snap_sample *sample = &core->runtime.samples[at->sample];
	*out = (struct snap_tracked){.address = at->address,
		.wosize = sample->wosize,
		.samples = sample->samples,
		.rate = sample->rate,
		.is_outside = sample->source == SNAP_SAMPLE_CUSTOM};
	out->has_id = keeps_id(sample, &out->id);
	return true;
}
