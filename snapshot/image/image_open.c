/*
 * Opening an image: the core's headers and notes.  Headers are not believed; what overlaps, wraps
 * around or runs past the end of the file is refused, or cut if that is asked for.
 */
#include "snapshot/image/image.h"

#include "base/assert.h"
#include "base/grow.h"
#include "snapshot/arch/machines.h"
#include "snapshot/image/capture_note.h"
#include "snapshot/image/core_note.h"

#include <stdlib.h>
#include <string.h>

/* Loads: what of the address space the core describes */

static enum hg_status check_load(const Elf64_Phdr *phdr, uint64_t where, struct hg_error *error)
{
	uint64_t end;
	if (__builtin_add_overflow(phdr->p_vaddr, phdr->p_memsz, &end))
		return base_corrupt(error, where, "segment at 0x%llx wraps around",
			(unsigned long long)phdr->p_vaddr);
	if (phdr->p_filesz > phdr->p_memsz)
		return base_corrupt(error, where,
			"segment at 0x%llx holds more bytes in the file than in memory",
			(unsigned long long)phdr->p_vaddr);
	if (__builtin_add_overflow(phdr->p_offset, phdr->p_filesz, &end))
		return base_corrupt(error, where, "segment at 0x%llx lies beyond any file",
			(unsigned long long)phdr->p_vaddr);
	return HG_OK;
}

/* How many bytes of a segment the file has; fewer than it says only if that is accepted. */
static enum hg_status held_bytes(struct snap_image *image, const Elf64_Phdr *phdr, bool partial,
	uint64_t *held, struct hg_error *error)
{
	uint64_t size = image->core.size, left = phdr->p_offset < size ? size - phdr->p_offset : 0;
	*held = phdr->p_filesz;
	if (phdr->p_filesz <= left)
		return HG_OK;
	if (!partial)
		return base_corrupt(error, size,
			"the core is cut short: the segment at 0x%llx is to end at offset %llu "
			"(--partial reads what is there)",
			(unsigned long long)phdr->p_vaddr,
			(unsigned long long)(phdr->p_offset + phdr->p_filesz));
	*held = left;
	image->cut_offset = size;
	image->cut_part = "the memory of the process";
	return HG_OK;
}

/* 'left' bounds what all segments hold: headers may name the same bytes many times. */
static enum hg_status add_load(struct snap_image *image, uint64_t index, const Elf64_Phdr *phdr,
	bool partial, uint64_t *left, struct hg_error *error)
{
	uint64_t where = image->view.header.e_phoff + index * sizeof(*phdr), held;
	if (phdr->p_memsz == 0)
		return HG_OK;
	BASE_TRY(check_load(phdr, where, error));
	BASE_TRY(held_bytes(image, phdr, partial, &held, error));
	if (held > *left)
		return base_corrupt(error, where, "segments share their bytes in the file");
	*left -= held;
	image->loads[image->load_count++] = (struct snap_load){
		.address = phdr->p_vaddr,
		.end = phdr->p_vaddr + phdr->p_memsz,
		.held = held,
		.offset = phdr->p_offset,
		.flags = phdr->p_flags & (PF_R | PF_W | PF_X),
	};
	return HG_OK;
}

static int compare_loads(const void *left, const void *right)
{
	const struct snap_load *a = left, *b = right;
	return a->address < b->address ? -1 : a->address > b->address;
}

static enum hg_status sort_loads(struct snap_image *image, struct hg_error *error)
{
	qsort(image->loads, image->load_count, sizeof(*image->loads), compare_loads);
	for (uint64_t i = 1; i < image->load_count; i++) {
		const struct snap_load *before = &image->loads[i - 1], *load = &image->loads[i];
		if (load->address < before->end)
			return base_corrupt(error, load->held ? load->offset : HG_NO_OFFSET,
				"segments overlap: 0x%llx lies in the one at 0x%llx",
				(unsigned long long)load->address,
				(unsigned long long)before->address);
	}
	base_assert(BASE_IS_SORTED(image->loads, image->load_count, end));
	return HG_OK;
}

/* Notes */

static uint32_t load_u32(const uint8_t *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return value;
}

static const struct snap_machine *machine_of(const struct snap_image *image)
{
	return snap_machine_of(image->view.header.e_machine);
}

static enum hg_status read_thread(struct snap_image *image, const struct snap_note *note,
	uint64_t offset, struct hg_error *error)
{
	const unsigned count = machine_of(image)->register_count;
	if (note->desc_size < SNAP_STATUS_SIZE(count))
		return base_corrupt(error, offset, "note on a thread has %u bytes, not %u",
			note->desc_size, SNAP_STATUS_SIZE(count));
	BASE_TRY(base_grow(&image->threads, image->thread_count, &image->thread_capacity,
		sizeof(*image->threads), error));
	struct snap_thread *thread = &image->threads[image->thread_count++];
	*thread = (struct snap_thread){0};
	thread->id = load_u32(note->desc + SNAP_STATUS_ID);
	thread->signal = load_u32(note->desc + SNAP_STATUS_SIGNAL) & 0xffff;
	memcpy(thread->registers, note->desc + SNAP_STATUS_REGISTERS,
		count * sizeof(*thread->registers));
	return HG_OK;
}

/* What some processors have in notes of their own, each behind the note on its thread. */
static void read_processor_note(struct snap_image *image, const struct snap_note *note)
{
	const struct snap_machine *machine = machine_of(image);
	if (note->type == 0)
		return;
	if (note->type == machine->thread_note && image->thread_count && note->desc_size >= 8)
		image->threads[image->thread_count - 1].registers[machine->thread_pointer] =
			base_load_u64le(note->desc);
	/* struct user_pac_mask: of data, of code */
	if (note->type == machine->signatures_note && note->desc_size >= 16)
		image->no_address_bits |= base_load_u64le(note->desc + 8);
}

static enum hg_status read_process_note(struct snap_image *image, const struct snap_note *note,
	uint64_t offset, struct hg_error *error)
{
	if (note->desc_size < SNAP_PROCESS_SIZE)
		return base_corrupt(error, offset, "note on the process has %u bytes, not %u",
			note->desc_size, SNAP_PROCESS_SIZE);
	const char *name = (const char *)note->desc + SNAP_PROCESS_NAME;
	const char *arguments = (const char *)note->desc + SNAP_PROCESS_ARGUMENTS;
	size_t length = strnlen(arguments, SNAP_PROCESS_SIZE - SNAP_PROCESS_ARGUMENTS);
	while (length && arguments[length - 1] == ' ')
		length--;
	image->pid = load_u32(note->desc + SNAP_PROCESS_ID);
	BASE_TRY(base_pool_string(&image->pool, name,
		strnlen(name, SNAP_PROCESS_ARGUMENTS - SNAP_PROCESS_NAME), &image->program, error));
	return base_pool_string(&image->pool, arguments, length, &image->arguments, error);
}

/* Puts the next path of the list into a map, without the mark of deleted files (d_path()). */
static bool read_path(struct snap_image *image, struct base_cursor *paths,
	struct snap_file_map *map, enum hg_status *status, struct hg_error *error)
{
	static const char mark[] = " (deleted)";
	size_t left = base_cursor_left(paths);
	const uint8_t *end = left ? memchr(paths->next, '\0', left) : NULL;
	if (!end)
		return false;
	size_t length = (size_t)(end - paths->next), marked = sizeof(mark) - 1;
	map->path = (const char *)paths->next;
	if (length > marked && strcmp(map->path + length - marked, mark) == 0)
		*status = base_pool_string(
			&image->pool, paths->next, length - marked, &map->path, error);
	paths->next = end + 1;
	return true;
}

/*
 * NT_FILE (fs/binfmt_elf.c): count, page size, {start, end, offset in pages} for each, then the
 * paths one after the other.
 */
static enum hg_status read_maps(struct snap_image *image, const struct snap_note *note,
	uint64_t offset, struct hg_error *error)
{
	enum { LINE = 24 };
	struct base_cursor lines = base_cursor_over(note->desc, note->desc_size), paths = lines;
	uint64_t count, page, first = 0;
	if (!base_cursor_u64le(&lines, &count) || !base_cursor_u64le(&lines, &page) ||
		count > base_cursor_left(&lines) / (LINE + 1))
		return base_corrupt(error, offset, "list of mapped files runs over its note");
	base_cursor_seek(&paths, base_cursor_offset(&lines) + count * LINE);
	void *maps;
	BASE_TRY(base_pool_alloc(&image->pool, count, sizeof(*image->maps), &maps, error));
	image->maps = maps;
	image->map_count = count;
	enum hg_status status = HG_OK;
	for (uint64_t i = 0; i < count && status == HG_OK; i++) {
		struct snap_file_map *map = &image->maps[i];
		uint64_t end;
		base_cursor_u64le(&lines, &map->start);
		base_cursor_u64le(&lines, &map->end);
		base_cursor_u64le(&lines, &first);
		map->file = SNAP_NO_FILE;
		if (map->start >= map->end || __builtin_mul_overflow(first, page, &map->offset) ||
			__builtin_add_overflow(map->offset, map->end - map->start, &end))
			return base_corrupt(error, offset,
				"mapping %llu of the list of files is impossible",
				(unsigned long long)i);
		if (!read_path(image, &paths, map, &status, error))
			return base_corrupt(error, offset,
				"the list of mapped files has fewer paths than mappings");
	}
	return status;
}

static enum hg_status read_note(struct snap_image *image, const struct snap_note *note,
	uint64_t offset, struct hg_error *error)
{
	if (snap_note_is(note, "CORE", NT_PRSTATUS))
		return read_thread(image, note, offset, error);
	if (snap_note_is(note, "CORE", NT_PRPSINFO))
		return read_process_note(image, note, offset, error);
	if (snap_note_is(note, "CORE", NT_FILE) && !image->maps)
		return read_maps(image, note, offset, error);
	if (snap_note_is(note, "LINUX", note->type))
		read_processor_note(image, note);
	if (snap_note_is(note, "CORE", NT_AUXV)) {
		image->auxv = note->desc;
		image->auxv_pairs = note->desc_size / 16;
	}
	return HG_OK;
}

/* The notes of a segment; none if it is not one of notes. */
static bool notes_of(
	const struct snap_image *image, const Elf64_Phdr *phdr, struct base_cursor *notes)
{
	if (phdr->p_type != PT_NOTE || phdr->p_offset > image->core.size ||
		phdr->p_filesz > image->core.size - phdr->p_offset)
		return false;
	*notes = base_cursor_over(image->core.bytes + phdr->p_offset, phdr->p_filesz);
	return true;
}

/* 'left' bounds what all segments of notes have: headers may name the same bytes many times. */
static enum hg_status read_notes(
	struct snap_image *image, const Elf64_Phdr *phdr, uint64_t *left, struct hg_error *error)
{
	enum { HEADER = 12 };
	struct base_cursor notes;
	struct snap_note note;
	if (!notes_of(image, phdr, &notes))
		return base_corrupt(error, phdr->p_offset,
			"the core is cut short: its notes here run past the end of the file%s",
			image->thread_count ? " (--partial reads what is there)" : "");
	if (phdr->p_filesz > *left)
		return base_corrupt(error, phdr->p_offset, "segments of notes overlap");
	*left -= phdr->p_filesz;
	for (;;) {
		uint64_t offset = phdr->p_offset + base_cursor_offset(&notes);
		if (!snap_note_next(&notes, phdr->p_align, &note))
			break;
		BASE_TRY(read_note(image, &note, offset, error));
	}
	if (base_cursor_left(&notes) >= HEADER)
		return base_corrupt(error, phdr->p_offset + base_cursor_offset(&notes),
			"note runs over the end of its segment");
	return HG_OK;
}

bool snap_image_note(
	const struct snap_image *image, const char *owner, uint32_t type, struct snap_note *out)
{
	struct base_cursor notes;
	for (uint64_t i = 0; i < image->view.phdr_count; i++) {
		Elf64_Phdr phdr = snap_elf_phdr(&image->view, i);
		if (!notes_of(image, &phdr, &notes))
			continue;
		while (snap_note_next(&notes, phdr.p_align, out))
			if (snap_note_is(out, owner, type))
				return true;
	}
	return false;
}

/* The core as a whole */

static enum hg_status check_type(const struct snap_elf_view *view, struct hg_error *error)
{
	static const char *const names[] = {
		[ET_NONE] = "file of no type",
		[ET_REL] = "object file",
		[ET_EXEC] = "executable",
		[ET_DYN] = "executable or shared library",
	};
	uint16_t type = view->header.e_type;
	if (type == ET_CORE)
		return HG_OK;
	return base_corrupt(error, offsetof(Elf64_Ehdr, e_type), "is an ELF %s, not a core file",
		type <= ET_DYN ? names[type] : "file of another type");
}

/* What a core of ours says of itself; the copies of files lie after the memory. */
static enum hg_status read_capture(struct snap_image *image, bool partial, struct hg_error *error)
{
	void *capture;
	struct snap_note note;
	enum hg_status status = HG_OK;
	BASE_TRY(base_pool_alloc(&image->pool, 1, sizeof(*image->capture), &capture, error));
	image->capture = capture;
	snap_capture_note_init(image->capture);
	if (snap_image_note(image, SNAP_CORE_OWNER, SNAP_CORE_NOTE, &note))
		status = snap_capture_note_read(
			image->capture, &note, &image->core, partial, &image->pool, error);
	if (image->capture->is_ours &&
		snap_image_note(image, SNAP_CORE_OWNER, SNAP_CORE_RESIDENT_NOTE, &note))
		snap_capture_note_runs(image->capture, &note);
	/* Of the memory nothing need be missing. */
	if (image->capture->is_cut && image->cut_offset == HG_NO_OFFSET) {
		image->cut_offset = image->core.size;
		image->cut_part = "the copies of the program's files";
	}
	return status;
}

/* Notes after the memory, in a core cut short: what threads there were is told before it. */
static bool is_cut_off(const struct snap_image *image, const Elf64_Phdr *phdr, bool partial)
{
	struct base_cursor notes;
	return partial && image->thread_count && !notes_of(image, phdr, &notes);
}

static enum hg_status read_core(
	struct snap_image *image, const struct snap_image_options *options, struct hg_error *error)
{
	void *loads;
	BASE_TRY(snap_elf_open_view(&image->view, image->core.bytes, image->core.size, error));
	BASE_TRY(check_type(&image->view, error));
	image->no_address_bits = machine_of(image)->no_address_bits;
	BASE_TRY(base_pool_alloc(
		&image->pool, image->view.phdr_count, sizeof(*image->loads), &loads, error));
	image->loads = loads;
	uint64_t left = image->core.size, left_for_loads = left;
	bool lacks_notes = false;
	for (uint64_t i = 0; i < image->view.phdr_count; i++) {
		Elf64_Phdr phdr = snap_elf_phdr(&image->view, i);
		if (phdr.p_type == PT_LOAD)
			BASE_TRY(add_load(
				image, i, &phdr, options->partial, &left_for_loads, error));
		else if (phdr.p_type == PT_NOTE && is_cut_off(image, &phdr, options->partial))
			lacks_notes = true;
		else if (phdr.p_type == PT_NOTE)
			BASE_TRY(read_notes(image, &phdr, &left, error));
	}
	if (image->thread_count == 0)
		return base_corrupt(error, HG_NO_OFFSET, "the core records no threads");
	if (image->pid == HG_UNKNOWN)
		image->pid = image->threads[0].id;
	BASE_TRY(sort_loads(image, error));
	BASE_TRY(snap_sort_maps(image, error));
	BASE_TRY(read_capture(image, options->partial, error));
	if (lacks_notes && image->cut_offset == HG_NO_OFFSET) {
		image->cut_offset = image->core.size;
		image->cut_part = "what follows the copies of the program's files";
	}
	return HG_OK;
}

enum hg_status snap_image_open(
	struct snap_image *image, const struct snap_image_options *options, struct hg_error *error)
{
	*image = (struct snap_image){
		.program = "", .arguments = "", .pid = HG_UNKNOWN, .cut_offset = HG_NO_OFFSET};
	image->no_host_files = options->no_host_files;
	image->unpack = options->unpack;
	image->path = options->core;
	if (options->opened) {
		image->core = *options->opened;
		image->core_is_borrowed = true;
	} else {
		BASE_TRY(base_file_open(&image->core, options->core, options->unpack, error));
	}
	enum hg_status status = read_core(image, options, error);
	if (status == HG_OK)
		status = snap_image_find_files(image, options, error);
	if (status != HG_OK) {
		base_error_file(error, options->core);
		snap_image_close(image);
	}
	return status;
}

void snap_image_close(struct snap_image *image)
{
	for (uint32_t i = 0; i < image->file_count; i++) {
		snap_elf_close(&image->files[i].elf);
		snap_elf_close(&image->files[i].whole);
	}
	free(image->threads);
	if (image->capture)
		snap_capture_note_release(image->capture);
	base_pool_release(&image->pool);
	if (!image->core_is_borrowed)
		base_file_close(&image->core);
	*image = (struct snap_image){0};
}
