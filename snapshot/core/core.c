/*
 * Cores of OCaml programs: an address space (image.h), what the runtime in it knows
 * (runtime.h), and the blocks between.
 */
#include "snapshot/core/state.h"

#include "base/search.h"
#include "snapshot/core/counters.h"
#include "snapshot/core/heap.h"
#include "snapshot/core/memory.h"
#include "snapshot/core/nodes.h"
#include "snapshot/core/static.h"
#include "snapshot/core/text.h"
#include "snapshot/file_names.h"
#include "snapshot/formats.h"
#include "snapshot/image/capture_note.h"
#include "snapshot/image/core_name.h"
#include "snapshot/image/image.h"
#include "snapshot/process.h"
#include "snapshot/walk.h"

#include <stdlib.h>
#include <string.h>

static bool recognise_core(const char *name, const struct base_file *file)
{
	(void)name;
	Elf64_Ehdr header;
	if (file->size < sizeof(header))
		return false;
	memcpy(&header, file->bytes, sizeof(header));
	return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type == ET_CORE;
}

static enum hg_status open_process(
	struct elfcore *core, const struct hg_input *input, struct hg_error *error)
{
	struct snap *snap = core->snap;
	struct snap_image_options options = {.core = snap->path,
		.opened = &snap->file,
		.executable = input->executable,
		.libraries = input->libraries,
		.partial = input->partial,
		.unpack = &snap->session->unpack,
		.no_host_files = snap->session->no_host_files};
	BASE_TRY(base_progress(snap->session, "reading the core", 0, 0));
	BASE_TRY(snap_image_open(&core->image, &options, error));
	core->has_image = true;
	BASE_TRY(base_progress(snap->session, "reading the runtime", 0, 0));
	BASE_TRY(snap_runtime_open(&core->runtime, &core->image, error));
	core->has_runtime = true;
	if (core->image.cut_offset != HG_NO_OFFSET) {
		snap->partial = core->image.cut_part;
		snap->partial_offset = core->image.cut_offset;
	}
	return HG_OK;
}

static enum hg_status describe_core(struct elfcore *core, struct hg_error *error)
{
	struct snap *snap = core->snap;
	const struct snap_runtime *runtime = &core->runtime;
	const struct snap_capture_note *capture = core->image.capture;
	struct snap_name name = snap_name_split(snap->path);
	snap->reserved = runtime->reserved_bits;
	snap->has_closinfo = true;
	snap->has_continuations = runtime->is_5;
	snap->native = !runtime->bytecode;
	snap->ocaml_version = runtime->version;
	snap->program = core->image.program;
	snap->executable =
		core->image.main->is_copy ? core->image.main->path : core->image.main->found;
	snap->pid = core->image.pid;
	snap->atoms = runtime->atoms;
	snap->units = runtime->units;
	snap->unit_count = runtime->unit_count;
	snap->clamped_locations = runtime->layout->debuginfo_end_lines == 0;
	if (capture && capture->is_ours) {
		snap->trigger = capture->trigger;
		snap->method = capture->method;
		snap->capture_consistency = capture->consistency;
		snap->capture_method = capture->capture_method;
		snap->capture_moment = capture->moment;
		snap->time = capture->time;
		snap->index = capture->index;
	} else if (snap_name_part_is(&name, 0, "heap") && snap_name_part_is(&name, 1, "dump")) {
		snap_name_part_number(&name, 3, &snap->index);
	}
	snap->moment = runtime->in_compaction         ? HG_MOMENT_COMPACTION
		       : runtime->in_minor_collection ? HG_MOMENT_MINOR_COLLECTION
						      : HG_MOMENT_UNKNOWN;
	for (uint64_t i = 0; i < runtime->code_count; i++)
		BASE_TRY(
			snap_add_code(snap, runtime->codes[i].start, runtime->codes[i].end, error));
	return HG_OK;
}

static void free_scaffold(struct elfcore *core)
{
	free(core->granule_top);
	free(core->granules);
	base_map_release(&core->static_seen);
	free(core->statics.items);
	free(core->customs.items);
	free(core->continuations.items);
	free(core->load_ends);
	core->granule_top = NULL;
	core->granules = NULL;
	core->load_ends = NULL;
	core->statics = core->customs = core->continuations = (struct elfcore_list){0};
}

/* Index entries of copied blocks hold one block each; they are in order of addresses now. */
static enum hg_status list_copied(struct elfcore *core, struct hg_error *error)
{
	const struct snap *snap = core->snap;
	for (uint64_t i = 0; i < snap->entry_count; i++)
		if (snap->entries[i].offset & ELFCORE_COPY)
			BASE_TRY(elfcore_append(&core->copied, snap->entries[i].address.a, error));
	return HG_OK;
}

/* The part of a piece of memory between the copied blocks around an address. */
static bool core_extent(
	const struct snap *snap, struct snap_header_address header, struct snap_extent *out)
{
	const struct elfcore *core = elfcore_of(snap);
	const uint64_t address = header.a;
	const struct snap_piece *piece = snap_image_piece(&core->image, address);
	const struct elfcore_list *all = &core->copied;
	if (!piece)
		return false;
	uint64_t after = BASE_FIRST_NUMBER_ABOVE(all->items, all->count, address);
	uint64_t before = after > 0 ? all->items[after - 1] : 0;
	if (before == address)
		return false;
	/* The header of a copied block stays where it is. */
	struct snap_header_address copied = {before};
	uint64_t start = before > piece->address ? snap_field_address(copied, 0) : piece->address;
	out->start = start;
	out->end = piece->end;
	if (after < all->count && all->items[after] < piece->end)
		out->end = all->items[after];
	out->bytes = piece->bytes + (start - piece->address);
	return true;
}

static bool core_word(const struct snap *snap, uint64_t address, uint64_t *word)
{
	return snap_image_u64(&elfcore_of(snap)->image, address, word);
}

static bool core_region(const struct snap *snap, uint64_t address, struct snap_region *out)
{
	struct elfcore *core = elfcore_of(snap);
	const struct snap_file_map *map = snap_image_map(&core->image, address);
	const struct snap_image_file *file = snap_image_file_at(&core->image, address);
	const struct snap_load *load = snap_image_load(&core->image, address);
	if (file)
		*out = (struct snap_region){SNAP_REGION_FILE, file->start, file->path};
	else if (map)
		*out = (struct snap_region){SNAP_REGION_FILE, map->start, map->path};
	else if (load && address < load->end)
		*out = (struct snap_region){SNAP_REGION_MEMORY, load->address, NULL};
	else
		return false;
	return true;
}

static enum hg_status core_unit_sources(const struct snap *snap, const struct snap_unit *unit,
	uint64_t *sources, struct hg_error *error)
{
	return snap_runtime_unit_sources(&elfcore_of(snap)->runtime, unit, sources, error);
}

static bool core_lost(const struct snap *snap)
{
	const struct elfcore *core = elfcore_of(snap);
	return core->has_image && snap_image_lost(&core->image);
}

static const struct snap_process core_process = {
	.code_name = elfcore_code_name,
	.custom_name = elfcore_custom_name,
	.call_frame = elfcore_call_frame,
	.call_locations = elfcore_call_locations,
	.call_stack = elfcore_call_stack,
	.is_call_stack = elfcore_is_call_stack,
	.sample_id = elfcore_sample_id,
	.tracked = elfcore_tracked,
	.extent = core_extent,
	.word_at = core_word,
	.code_symbol = elfcore_code_symbol,
	.code_locations = elfcore_code_locations,
	.code_line = elfcore_code_line,
	.captured = elfcore_captured,
	.region = core_region,
	.unit_sources = core_unit_sources,
	.memory = elfcore_memory,
	.lost = core_lost,
};

static enum hg_status load_core_parts(
	struct elfcore *core, const struct hg_input *input, struct hg_error *error)
{
	struct snap *snap = core->snap;
	BASE_TRY(open_process(core, input, error));
	BASE_TRY(describe_core(core, error));
	BASE_TRY(elfcore_load_heap(core, error));
	elfcore_compare_counters(core);
	BASE_TRY(elfcore_load_nodes(core, error));
	BASE_TRY(elfcore_load_static(core, error));
	BASE_TRY(snap_end_blocks(snap, error));
	BASE_TRY(list_copied(core, error));
	snap->largest_block = 0;
	/* Walking fibers may have added some. */
	snap->note_count = core->runtime.note_count;
	memcpy(snap->notes, core->runtime.notes, sizeof(snap->notes));
	free_scaffold(core);
	return HG_OK;
}

/* Where memory ran out unseen, neither success nor what else went wrong is to be believed. */
static enum hg_status load_core(
	struct snap *snap, const struct hg_input *input, struct hg_error *error)
{
	struct elfcore *core = calloc(1, sizeof(*core));
	if (!core)
		return base_no_memory(error, sizeof(*core));
	snap->format_data = core;
	core->snap = snap;
	snap->process = &core_process;
	enum hg_status status = load_core_parts(core, input, error);
	if (status != HG_ERROR_LIMIT && core_lost(snap))
		status = base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"out of memory for the symbols and tables of the program");
	return status;
}

static void release_elfcore(struct snap *snap)
{
	struct elfcore *core = elfcore_of(snap);
	if (!core)
		return;
	free_scaffold(core);
	free(core->copies.items);
	free(core->copied.items);
	free(core->fibers);
	free(core->fiber_values.items);
	free(core->offheap);
	free(core->conservative.items);
	free(core->sampled);
	if (core->has_runtime)
		snap_runtime_close(&core->runtime);
	if (core->has_image)
		snap_image_close(&core->image);
	free(core);
	snap->format_data = NULL;
}

static bool copied_run(
	const struct elfcore *core, const struct snap_walk *walk, struct snap_run *run)
{
	uint64_t at = walk->offset & ~ELFCORE_COPY;
	uint64_t header = core->copies.items[at];
	uint64_t words = snap_header_wosize(header, core->snap->reserved) + 1;
	run->words = (const snap_field *)(core->copies.items + at);
	run->count = snap_tag_has_fields(snap_header_tag(header)) ? words : 1;
	run->elided = true;
	return true;
}

/* The blocks of an index entry lie in one piece of the image, and in one area or in static data. */
static bool next_core_run(struct snap_walk *walk, struct snap_run *run)
{
	const struct elfcore *core = elfcore_of(walk->snap);
	const struct snap_runtime *runtime = &core->runtime;
	*run = (struct snap_run){.address = walk->address};
	walk->blocks_left = 0;
	if (walk->offset & ELFCORE_COPY)
		return copied_run(core, walk, run);
	const struct snap_area *area = snap_runtime_area(runtime, walk->address.a);
	if (area && area->kind == SNAP_AREA_POOL)
		run->stride = area->slot_words;
	if (area)
		run->dead_colors = snap_dead_colors(runtime, area->kind);
	size_t got, bytes = walk->offset - walk->address.a;
	const uint8_t *memory = snap_image_at(&core->image, walk->address.a, bytes, &got);
	run->count = got / 8;
	run->words = (const snap_field *)(const void *)memory;
	return run->count != 0;
}

/*
 * Contents of strings and other opaque blocks.  The last byte of a string says how many bytes
 * before it are not of the string (runtime/caml/mlvalues.h).
 */
static size_t core_content(const struct snap *snap, struct snap_rank rank, uint64_t bytes,
	const uint8_t **out, bool *cut)
{
	const struct elfcore *core = elfcore_of(snap);
	struct snap_header_address address = snap_ranks_header(&snap->ranks, rank);
	uint64_t contents = snap_field_address(address, 0), header;
	size_t got;
	uint8_t padding;
	if (snap_image_u64(&core->image, address.a, &header) &&
		snap_header_tag(header) == SNAP_TAG_STRING &&
		snap_image_read(&core->image, contents + bytes - 1, &padding, 1) && padding < 8)
		bytes -= 1 + (uint64_t)padding;
	*out = snap_image_at(&core->image, contents, bytes, &got);
	*cut = got < bytes;
	return got;
}

const struct snap_format snap_elfcore = {
	.name = "elfcore",
	.title = "ELF core of an OCaml program",
	.recognise = recognise_core,
	.load = load_core,
	.describe = snap_core_describe,
	.finalise = elfcore_finalise,
	.release = release_elfcore,
	.next_run = next_core_run,
	.content = core_content,
	.ids = SNAP_IDS_NONE,
};
