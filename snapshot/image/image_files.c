/*
 * The files of a process: which of its mappings are programs, where their bytes are found, and
 * which of them is the executable.
 */
#include "snapshot/image/image.h"

#include "base/folder.h"
#include "snapshot/arch/machines.h"
#include "snapshot/image/capture_note.h"
#include "snapshot/image/match.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* Files: which mappings are programs */

static int compare_map_paths(const void *left, const void *right)
{
	const struct snap_file_map *a = *(struct snap_file_map *const *)left,
				   *b = *(struct snap_file_map *const *)right;
	int order = strcmp(a->path, b->path);
	return order ? order : a->start < b->start ? -1 : a->start > b->start;
}

/* The beginning of an ELF file where the core has it: build-id and all program headers. */
static bool view_first_page(
	const struct snap_image *image, const struct snap_file_map *map, struct snap_elf_view *view)
{
	enum { MOST = 64 * 1024 };
	uint64_t size;
	const uint8_t *bytes = map->offset == 0 ? snap_core_bytes(image, map->start, &size) : NULL;
	return bytes && snap_elf_open_view(view, bytes, size < MOST ? size : MOST, NULL) == HG_OK;
}

/*
 * Adds a file for the mappings of one path if they are of a program: the core shows the header of
 * an ELF file, or that they are executable, or the program began there, or, for cores without the
 * pages that were only read, there are several as a dynamic linker makes them.
 */
static enum hg_status add_program(struct snap_image *image, uint64_t first, uint64_t count,
	const uint64_t *entry, struct hg_error *error)
{
	/* Linux gives a process no more mappings than this many, and a program has several. */
	enum { MOST_FILES = 65536 / 4, MOST_HEADERS = 8 };
	unsigned headers = 0;
	struct snap_image_file *file = &image->files[image->file_count];
	struct snap_file_map **maps = image->by_path + first;
	struct snap_elf_view view;
	bool is_program = count > 2 && maps[0]->offset == 0;
	*file = (struct snap_image_file){.path = maps[0]->path,
		.start = maps[0]->start,
		.first_map = first,
		.map_count = count};
	for (uint64_t i = 0; i < count; i++) {
		const struct snap_load *load = snap_image_load(image, maps[i]->start);
		is_program |=
			(load && load->flags & PF_X) || (entry && snap_map_holds(maps[i], *entry));
		file->end = maps[i]->end;
		if (file->build_id.size == 0 && headers < MOST_HEADERS &&
			view_first_page(image, maps[i], &view)) {
			headers++;
			is_program = true;
			snap_read_build_id(&view, &file->build_id);
		} else if (!file->has_holes && maps[i]->offset == 0 && load &&
			   snap_core_is_hole(image, maps[i]->start)) {
			file->has_holes = true;
		}
	}
	if (!is_program)
		return HG_OK;
	if (image->file_count == MOST_FILES)
		return base_corrupt(error, HG_NO_OFFSET,
			"lists more than %d files of programs, more than a process can have",
			MOST_FILES);
	for (uint64_t i = 0; i < count; i++)
		maps[i]->file = image->file_count;
	image->file_count++;
	return HG_OK;
}

/* Room for two more than there are paths: for the vDSO, and an executable that the core does not
 * list. */
static enum hg_status group_maps(struct snap_image *image, struct hg_error *error)
{
	uint64_t count = image->map_count, paths = 2, entry;
	bool has_entry = snap_image_auxv(image, AT_ENTRY, &entry);
	void *memory;
	if (count > UINT32_MAX / 2)
		return base_corrupt(error, HG_NO_OFFSET, "too many mapped files");
	BASE_TRY(base_pool_alloc(&image->pool, count, sizeof(image->maps), &memory, error));
	struct snap_file_map **order = memory;
	image->by_path = order;
	for (uint64_t i = 0; i < count; i++)
		order[i] = &image->maps[i];
	if (count)
		qsort(order, count, sizeof(*order), compare_map_paths);
	for (uint64_t i = 0; i < count; i++)
		paths += i == 0 || strcmp(order[i]->path, order[i - 1]->path) != 0;
	BASE_TRY(base_pool_alloc(&image->pool, paths, sizeof(*image->files), &memory, error));
	image->files = memory;
	for (uint64_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count; next++)
			if (strcmp(order[next]->path, order[i]->path) != 0)
				break;
		BASE_TRY(add_program(image, i, next - i, has_entry ? &entry : NULL, error));
	}
	return HG_OK;
}

/* Files: where their bytes are */

struct search {
	struct snap_image *image;
	const struct snap_image_options *options;
	struct snap_image_file *file;
	/* Of the first file that was there and did not do, or that could not be looked at. */
	struct hg_error error;
	bool is_script;
};

/* A base_judge_fn; programs of ocamlc begin with the interpreter's name, as scripts do. */
static enum hg_status judge_executable(
	void *is_script, const uint8_t *bytes, size_t size, struct hg_error *error)
{
	*(bool *)is_script = size >= 2 && memcmp(bytes, "#!", 2) == 0;
	return snap_elf_judge(NULL, bytes, size, error);
}

static enum hg_status compare_build_ids(
	const struct snap_image_file *file, const struct snap_elf *elf, struct hg_error *error)
{
	char ours[SNAP_BUILD_ID_TEXT], theirs[SNAP_BUILD_ID_TEXT];
	if (file->build_id.size == 0 || snap_build_id_equal(&file->build_id, &elf->build_id))
		return HG_OK;
	snap_build_id_text(&elf->build_id, ours);
	snap_build_id_text(&file->build_id, theirs);
	return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
		"is not the file of the process: its build-id is %s, in the core it is %s", ours,
		theirs);
}

static enum hg_status compare_machines(
	const struct snap_image *image, const struct snap_elf *elf, struct hg_error *error)
{
	uint16_t ours = elf->view.header.e_machine, theirs = image->view.header.e_machine;
	if (ours == theirs)
		return HG_OK;
	return base_fail(error, HG_ERROR_INPUT, offsetof(Elf64_Ehdr, e_machine),
		"is not the file of the process: it is for %s, the core is of %s",
		snap_machine_name(ours), snap_machine_name(theirs));
}

static enum hg_status use_file(struct search *search, const char *path, struct hg_error *error)
{
	struct snap_image_file *file = search->file;
	struct base_file bytes;
	BASE_TRY(base_file_open_judged(&bytes, path, search->options->unpack, judge_executable,
		&search->is_script, error));
	enum hg_status status = snap_elf_open(&file->elf, &bytes, error);
	if (status == HG_OK) {
		status = compare_machines(search->image, &file->elf, error);
		if (status == HG_OK)
			status = compare_build_ids(file, &file->elf, error);
		if (status == HG_OK)
			status = base_pool_string(
				&search->image->pool, path, strlen(path), &file->found, error);
		if (status != HG_OK)
			snap_elf_close(&file->elf);
	}
	if (status != HG_OK)
		base_error_file(error, path);
	return status;
}

/* Tries a path, and the path with .zst after it. */
static bool BASE_PRINTF(2, 3) try_path(struct search *search, const char *format, ...)
{
	static const char packed[] = ".zst";
	char path[PATH_MAX];
	struct hg_error error = {0};
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= sizeof(path) - sizeof(packed))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		if (i == 1)
			memcpy(path + length, packed, sizeof(packed));
		struct stat about;
		bool is_there;
		enum hg_status status = base_look_at(path, &about, &is_there, &error);
		if (status == HG_OK && !is_there)
			continue;
		if (status == HG_OK && use_file(search, path, &error) == HG_OK)
			return true;
		if (search->error.status == HG_OK || error.status == HG_ERROR_LIMIT)
			search->error = error;
	}
	return false;
}

/* The copy that a core of ours holds. */
static bool use_copy(struct search *search)
{
	const struct snap_image *image = search->image;
	struct snap_image_file *file = search->file;
	const struct snap_capture_file *copy =
		snap_capture_note_find(image->capture, file->path, &file->build_id);
	if (!copy)
		return false;
	if (snap_elf_over(&file->elf, image->core.bytes + copy->offset, copy->size,
		    &search->error) != HG_OK ||
		compare_build_ids(file, &file->elf, &search->error) != HG_OK) {
		snap_elf_close(&file->elf);
		return false;
	}
	file->found = search->options->core;
	file->is_copy = true;
	return true;
}

/*
 * The core itself, the folder that the user named, and, unless only these are to be used, the path
 * in the core and the folder of the core.
 */
static bool find_file(struct search *search)
{
	const char *path = search->file->path, *name = base_file_name(path);
	const char *core = search->options->core, *libraries = search->options->libraries;
	int folder = (int)(base_file_name(core) - core);
	if (*name == '\0')
		return false;
	if (use_copy(search))
		return true;
	if (libraries && *path == '/' && try_path(search, "%s%s", libraries, path))
		return true;
	if (libraries && try_path(search, "%s/%s", libraries, name))
		return true;
	if (search->options->no_host_files)
		return false;
	if (*path == '/' && try_path(search, "%s", path))
		return true;
	return try_path(search, "%.*s%s", folder, core, name);
}

/* What the kernel that ran the process rounds addresses and offsets of mappings down to. */
static uint64_t page_bytes(const struct snap_image *image)
{
	enum { MOST = 1 << 16 };
	uint64_t bytes;
	bool is_told = snap_image_auxv(image, AT_PAGESZ, &bytes) && bytes >= PAGE &&
		       bytes <= MOST && (bytes & (bytes - 1)) == 0;
	return is_told ? bytes : PAGE;
}

/* Where a mapping says that its file lies; false if it is of no segment of it. */
static bool bias_of(const struct snap_elf_view *view, const struct snap_file_map *map,
	uint64_t page, uint64_t *bias)
{
	bool found = false;
	for (uint64_t i = 0; i < view->phdr_count; i++) {
		Elf64_Phdr phdr = snap_elf_phdr(view, i);
		uint64_t inside = map->offset - phdr.p_offset;
		bool starts = map->offset == (phdr.p_offset & ~(page - 1));
		if (phdr.p_type != PT_LOAD || (!starts && (found || inside >= phdr.p_filesz)))
			continue;
		*bias = map->start - (phdr.p_vaddr + inside);
		found = true;
		/* A page of two segments is mapped for the one that starts in it. */
		if (starts)
			break;
	}
	return found;
}

/* Lets a file that has its bias reach over all of its segments: .bss is in no mapping of it. */
static void extend_over_segments(struct snap_image_file *file)
{
	const struct snap_elf_view *view = &file->elf.view;
	for (uint64_t i = 0; i < view->phdr_count; i++) {
		Elf64_Phdr phdr = snap_elf_phdr(view, i);
		uint64_t start = phdr.p_vaddr + file->bias, end;
		if (phdr.p_type != PT_LOAD || __builtin_add_overflow(start, phdr.p_memsz, &end))
			continue;
		if (start < file->start)
			file->start = start;
		if (end > file->end)
			file->end = end;
	}
}

/*
 * Finds the bias of a file: the one on which most of its mappings agree, since a program may have
 * mapped parts of itself or of a library once more, as data.
 */
static void bias_file(const struct snap_image *image, struct snap_image_file *file)
{
	uint64_t votes = 0, bias = 0, page = page_bytes(image);
	const struct snap_elf_view *view = &file->elf.view;
	for (uint64_t i = 0; i < file->map_count; i++) {
		if (!bias_of(view, image->by_path[file->first_map + i], page, &bias))
			continue;
		if (votes == 0)
			file->bias = bias;
		votes = bias == file->bias ? votes + 1 : votes - 1;
	}
	extend_over_segments(file);
}

static void forget_bytes(struct snap_image_file *file, const char *why)
{
	snap_elf_close(&file->elf);
	file->found = NULL;
	file->missing = why;
}

static enum hg_status find_library(struct snap_image *image,
	const struct snap_image_options *options, struct snap_image_file *file,
	struct hg_error *error)
{
	struct search search = {.image = image, .options = options, .file = file};
	if (find_file(&search)) {
		bias_file(image, file);
		return HG_OK;
	}
	forget_bytes(file, "not found");
	if (search.error.status == HG_OK)
		return HG_OK;
	if (search.error.status == HG_ERROR_LIMIT) {
		*error = search.error;
		return HG_ERROR_LIMIT;
	}
	const char *message = search.error.message;
	return base_pool_string(&image->pool, message, strlen(message), &file->missing, error);
}

/* The executable */

/* Index of the file that the process began in, or SNAP_NO_FILE. */
static uint32_t listed_main(const struct snap_image *image)
{
	uint64_t address;
	const struct snap_file_map *map = NULL;
	if (snap_image_auxv(image, AT_ENTRY, &address))
		map = snap_image_map(image, address);
	if ((!map || map->file == SNAP_NO_FILE) && snap_image_auxv(image, AT_PHDR, &address))
		map = snap_image_map(image, address);
	if (map)
		return map->file;
	/* No auxiliary vector: executables lie below libraries. */
	for (uint64_t i = 0; image->auxv_pairs == 0 && i < image->map_count; i++)
		if (image->maps[i].file != SNAP_NO_FILE)
			return image->maps[i].file;
	return SNAP_NO_FILE;
}

/*
 * Which of the core's files the user's executable is: the one with its build-id, for a program that
 * was started through the dynamic linker (ld.so PROGRAM) is not the one of the auxiliary vector.
 */
static uint32_t named_main(const struct snap_image *image, const struct snap_elf *elf)
{
	for (uint32_t i = 0; elf->build_id.size && i < image->file_count; i++)
		if (snap_build_id_equal(&image->files[i].build_id, &elf->build_id))
			return i;
	return listed_main(image);
}

/* Adds mappings of an executable that the core does not list, from its program headers. */
static enum hg_status add_unlisted_maps(
	struct snap_image *image, const struct snap_image_file *file, struct hg_error *error)
{
	const struct snap_elf_view *view = &file->elf.view;
	uint64_t count = image->map_count, page = page_bytes(image);
	void *memory;
	BASE_TRY(base_pool_alloc(
		&image->pool, count + view->phdr_count, sizeof(*image->maps), &memory, error));
	struct snap_file_map *maps = memory;
	if (count)
		memcpy(maps, image->maps, count * sizeof(*maps));
	for (uint64_t i = 0; i < view->phdr_count; i++) {
		Elf64_Phdr phdr = snap_elf_phdr(view, i);
		uint64_t over = phdr.p_vaddr % page, start = phdr.p_vaddr - over + file->bias;
		uint64_t size = (phdr.p_filesz + over + page - 1) & ~(page - 1);
		if (phdr.p_type != PT_LOAD || phdr.p_offset < over || phdr.p_filesz == 0 ||
			phdr.p_filesz > view->size || start > UINT64_MAX - size)
			continue;
		maps[count++] = (struct snap_file_map){start, start + size, phdr.p_offset - over,
			file->path, (uint32_t)(file - image->files)};
	}
	image->maps = maps;
	image->map_count = count;
	return snap_sort_maps(image, error);
}

static enum hg_status add_unlisted_main(
	struct snap_image *image, struct snap_image_file *file, struct hg_error *error)
{
	uint64_t entry = 0;
	bool placed = snap_image_auxv(image, AT_ENTRY, &entry);
	if (!placed && file->elf.view.header.e_type != ET_EXEC)
		return base_corrupt(error, HG_NO_OFFSET,
			"the core does not tell where the executable was loaded");
	file->path = file->found;
	file->bias = placed ? entry - file->elf.view.header.e_entry : 0;
	file->start = UINT64_MAX;
	extend_over_segments(file);
	return add_unlisted_maps(image, file, error);
}

static enum hg_status open_listed_main(
	struct snap_image *image, const struct snap_image_options *options, struct hg_error *error)
{
	uint32_t index = listed_main(image);
	if (index == SNAP_NO_FILE)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"the core does not name the executable; name it with --exe");
	struct snap_image_file *file = &image->files[index];
	struct search search = {.image = image, .options = options, .file = file};
	if (find_file(&search)) {
		bias_file(image, file);
		image->main = file;
		return HG_OK;
	}
	if (search.error.status != HG_OK) {
		*error = search.error;
		return error->status;
	}
	return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
		"the executable of the process, %.300s, is not %s; name it with --exe", file->path,
		options->no_host_files ? "in the core" : "here");
}

/* The executable that the user named, or the bytecode that the one which the core names runs. */
static enum hg_status open_named_main(
	struct snap_image *image, const struct snap_image_options *options, struct hg_error *error)
{
	struct snap_image_file given = {0};
	struct search search = {.image = image, .options = options, .file = &given};
	struct hg_error unread;
	base_error_clear(&unread);
	enum hg_status status = use_file(&search, options->executable, &unread);
	if (status != HG_OK && search.is_script) {
		image->bytecode = options->executable;
		return open_listed_main(image, options, error);
	}
	if (status != HG_OK) {
		*error = unread;
		return status;
	}
	uint32_t index = named_main(image, &given.elf);
	bool is_listed = index != SNAP_NO_FILE;
	if (!is_listed)
		index = image->file_count++;
	struct snap_image_file *file = &image->files[index];
	status = compare_build_ids(file, &given.elf, error);
	/* From here on it is closed with the image. */
	file->elf = given.elf;
	file->found = given.found;
	image->main = file;
	if (status != HG_OK) {
		base_error_file(error, options->executable);
		return status;
	}
	if (!is_listed)
		return add_unlisted_main(image, file, error);
	bias_file(image, file);
	return HG_OK;
}

static enum hg_status open_main_file(
	struct snap_image *image, const struct snap_image_options *options, struct hg_error *error)
{
	if (options->executable)
		BASE_TRY(open_named_main(image, options, error));
	else
		BASE_TRY(open_listed_main(image, options, error));
	struct snap_image_file *file = image->main;
	if (file->build_id.size == 0 && !file->is_copy)
		BASE_TRY(snap_match_file(image, file, error));
	char folder[PATH_MAX];
	int length = (int)(base_file_name(file->found) - file->found);
	snprintf(folder, sizeof(folder), "%.*s.", length, file->found);
	if (!options->no_host_files)
		snap_elf_add_debug(&file->elf, folder, options->unpack);
	image->program = base_file_name(file->path);
	return HG_OK;
}

/* The library that the kernel puts into every process; the core has all of it. */
static enum hg_status add_vdso(struct snap_image *image, struct hg_error *error)
{
	uint64_t address, size;
	if (!snap_image_auxv(image, AT_SYSINFO_EHDR, &address))
		return HG_OK;
	const uint8_t *bytes = snap_core_bytes(image, address, &size);
	struct snap_image_file *file = &image->files[image->file_count];
	Elf64_Phdr first;
	if (!bytes)
		return HG_OK;
	enum hg_status status = snap_elf_over(&file->elf, bytes, size, error);
	if (status != HG_OK)
		return status == HG_ERROR_LIMIT ? status : HG_OK;
	*file = (struct snap_image_file){.path = "[vdso]",
		.found = "[vdso]",
		.start = address,
		.end = address + size,
		.build_id = file->elf.build_id,
		.elf = file->elf};
	file->bias = address;
	if (snap_elf_segment(&file->elf.view, PT_LOAD, &first))
		file->bias = address + first.p_offset - first.p_vaddr;
	image->file_count++;
	return HG_OK;
}

enum hg_status snap_image_find_files(
	struct snap_image *image, const struct snap_image_options *options, struct hg_error *error)
{
	BASE_TRY(group_maps(image, error));
	BASE_TRY(open_main_file(image, options, error));
	for (uint32_t i = 0; i < image->file_count; i++)
		if (&image->files[i] != image->main)
			BASE_TRY(find_library(image, options, &image->files[i], error));
	BASE_TRY(add_vdso(image, error));
	return snap_image_lay_out(image, error);
}
