/*
 * Reading an image that is open: its memory, its mappings, symbols by name and by address, lines of
 * the source.
 */
#include "snapshot/image/image.h"

#include "base/assert.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the core holds */

const struct snap_load *snap_image_load(const struct snap_image *image, uint64_t address)
{
	uint64_t i = BASE_FIRST_ABOVE(image->loads, image->load_count, end, address);
	const struct snap_load *load = image->loads + i;
	return i < image->load_count && load->address <= address ? load : NULL;
}

/* Bytes that the core itself holds. */
const uint8_t *snap_core_bytes(const struct snap_image *image, uint64_t address, uint64_t *size)
{
	const struct snap_load *load = snap_image_load(image, address);
	*size = 0;
	if (!load || address - load->address >= load->held)
		return NULL;
	*size = load->held - (address - load->address);
	return image->core.bytes + load->offset + (address - load->address);
}

bool snap_image_auxv(const struct snap_image *image, uint64_t type, uint64_t *value)
{
	for (uint64_t i = 0; i < image->auxv_pairs; i++) {
		const uint8_t *pair = image->auxv + 16 * i;
		if (base_load_u64le(pair) != type)
			continue;
		*value = base_load_u64le(pair + 8);
		return true;
	}
	return false;
}

static int compare_maps(const void *left, const void *right)
{
	const struct snap_file_map *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

enum hg_status snap_sort_maps(struct snap_image *image, struct hg_error *error)
{
	if (image->map_count)
		qsort(image->maps, image->map_count, sizeof(*image->maps), compare_maps);
	base_assert(BASE_IS_SORTED(image->maps, image->map_count, start));
	for (uint64_t i = 1; i < image->map_count; i++)
		if (image->maps[i].start < image->maps[i - 1].end)
			return base_corrupt(error, HG_NO_OFFSET,
				"mappings of files overlap at 0x%llx",
				(unsigned long long)image->maps[i].start);
	return HG_OK;
}

/* Memory */

const struct snap_piece *snap_image_piece(const struct snap_image *image, uint64_t address)
{
	uint64_t i = BASE_FIRST_ABOVE(image->pieces, image->piece_count, end, address);
	const struct snap_piece *piece = image->pieces + i;
	return i < image->piece_count && piece->address <= address ? piece : NULL;
}

const uint8_t *snap_image_at(
	const struct snap_image *image, uint64_t address, size_t wanted, size_t *got)
{
	const struct snap_piece *piece = snap_image_piece(image, address);
	*got = 0;
	if (!piece)
		return NULL;
	uint64_t left = piece->end - address;
	*got = wanted < left ? wanted : (size_t)left;
	return piece->bytes + (address - piece->address);
}

uint64_t snap_image_bytes(const struct snap_image *image)
{
	uint64_t bytes = image->core.size;
	for (uint32_t i = 0; i < image->file_count; i++)
		bytes += image->files[i].elf.view.size;
	return bytes;
}

uint64_t snap_image_present(const struct snap_image *image, uint64_t start, uint64_t size)
{
	uint64_t at = start;
	while (at - start < size) {
		const struct snap_piece *piece = snap_image_piece(image, at);
		if (!piece)
			return at - start;
		at = piece->end;
	}
	return size;
}

bool snap_image_read(const struct snap_image *image, uint64_t address, void *buffer, size_t size)
{
	uint8_t *to = buffer;
	while (size) {
		size_t got;
		const uint8_t *bytes = snap_image_at(image, address, size, &got);
		if (!bytes)
			return false;
		memcpy(to, bytes, got);
		to += got;
		address += got;
		size -= got;
	}
	return true;
}

bool snap_image_u64(const struct snap_image *image, uint64_t address, uint64_t *out)
{
	return snap_image_read(image, address, out, sizeof(*out));
}

bool snap_image_u32(const struct snap_image *image, uint64_t address, uint32_t *out)
{
	return snap_image_read(image, address, out, sizeof(*out));
}

bool snap_image_string(const struct snap_image *image, uint64_t address, char *buffer, size_t size)
{
	while (size) {
		size_t got;
		const uint8_t *bytes = snap_image_at(image, address, size, &got);
		if (!bytes)
			return false;
		const uint8_t *end = memchr(bytes, '\0', got);
		if (end)
			got = (size_t)(end - bytes) + 1;
		memcpy(buffer, bytes, got);
		if (end)
			return true;
		buffer += got;
		address += got;
		size -= got;
	}
	return false;
}

const struct snap_file_map *snap_image_map(const struct snap_image *image, uint64_t address)
{
	uint64_t i = BASE_FIRST_ABOVE(image->maps, image->map_count, end, address);
	return i < image->map_count && snap_map_holds(&image->maps[i], address) ? &image->maps[i]
										: NULL;
}

struct snap_image_file *snap_image_file_at(struct snap_image *image, uint64_t address)
{
	const struct snap_file_map *map = snap_image_map(image, address);
	if (map)
		return map->file == SNAP_NO_FILE ? NULL : &image->files[map->file];
	/* The vDSO is on no list; .bss lies after the mappings of its file. */
	uint64_t i = BASE_FIRST_ABOVE(image->segments, image->segment_count, end, address);
	bool found = i < image->segment_count && image->segments[i].start <= address;
	return found ? &image->files[image->segments[i].file] : NULL;
}

/* Symbols */

static void describe_symbol(const struct snap_image_file *file,
	const struct snap_elf_symbol *symbol, struct snap_symbol *out)
{
	*out = (struct snap_symbol){
		.name = symbol->name,
		.file = file,
		.address = symbol->value,
		.size = symbol->size,
		.type = symbol->type,
		.is_tls = symbol->type == STT_TLS,
		.is_global = symbol->is_global,
	};
	if (!out->is_tls && !symbol->is_absolute)
		out->address += file->bias;
}

bool snap_image_file_symbol(struct snap_image_file *file, const char *name, struct snap_symbol *out)
{
	struct snap_elf_symbol symbol;
	if (!file->found || !snap_elf_find_symbol(&file->elf, name, &symbol))
		return false;
	describe_symbol(file, &symbol, out);
	return true;
}

bool snap_image_main_symbol(struct snap_image *image, const char *name, struct snap_symbol *out)
{
	return snap_image_file_symbol(image->main, name, out);
}

bool snap_image_symbol(struct snap_image *image, const char *name, struct snap_symbol *out)
{
	if (snap_image_file_symbol(image->main, name, out))
		return true;
	for (uint32_t i = 0; i < image->file_count; i++)
		if (&image->files[i] != image->main && !image->files[i].is_foreign &&
			snap_image_file_symbol(&image->files[i], name, out))
			return true;
	return false;
}

bool snap_image_symbol_at(
	struct snap_image *image, uint64_t address, struct snap_symbol *out, uint64_t *offset)
{
	struct snap_image_file *file = snap_image_file_at(image, address);
	struct snap_elf_symbol symbol;
	if (!file || !file->found || !snap_elf_symbol_at(&file->elf, address - file->bias, &symbol))
		return false;
	describe_symbol(file, &symbol, out);
	*offset = address - out->address;
	return true;
}

/* Lines of the source, from the files of the process themselves: cores hold no DWARF */

/* The file that a copy in the core is of, if it is still there and has the same build-id. */
static struct snap_elf *whole_file(struct snap_image_file *file)
{
	struct base_file bytes;
	if (file->whole_tried)
		return file->whole.elf ? &file->whole : NULL;
	file->whole_tried = true;
	if (file->build_id.size == 0 || file->path[0] != '/' || access(file->path, R_OK) != 0)
		return NULL;
	enum hg_status status = base_file_open(&bytes, file->path, NULL, NULL);
	if (status == HG_OK)
		status = snap_elf_open(&file->whole, &bytes, NULL);
	file->elf.lost |= status == HG_ERROR_LIMIT;
	if (status != HG_OK)
		return NULL;
	if (snap_build_id_equal(&file->whole.build_id, &file->build_id))
		return &file->whole;
	snap_elf_close(&file->whole);
	return NULL;
}

bool snap_image_line(
	struct snap_image *image, uint64_t address, const char **source, uint32_t *line)
{
	struct snap_image_file *file = snap_image_file_at(image, address);
	if (!file || !file->found)
		return false;
	uint64_t inside = address - file->bias;
	if (!file->is_copy)
		return snap_elf_line(&file->elf, inside, source, line);
	/* Copies have no DWARF.  What claims to be some might name files, which libdw opens. */
	struct snap_elf *whole = image->no_host_files ? NULL : whole_file(file);
	return whole && snap_elf_line(whole, inside, source, line);
}

bool snap_image_lost(const struct snap_image *image)
{
	bool lost = image->lost;
	for (uint32_t i = 0; i < image->file_count; i++)
		lost |= image->files[i].elf.lost || image->files[i].whole.lost;
	return lost;
}
