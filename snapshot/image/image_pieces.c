/*
 * The address space that a core and the files of its process make together: pieces of consecutive
 * bytes, and where the segments of files are.
 */
#include "snapshot/image/image.h"

#include "base/assert.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

bool snap_core_is_hole(const struct snap_image *image, uint64_t address)
{
	uint64_t size;
	const uint8_t *bytes = snap_core_bytes(image, address, &size);
	return bytes && size >= PAGE && bytes[0] == 0 && memcmp(bytes, bytes + 1, PAGE - 1) == 0;
}

/* Pieces: loads with bytes, and between them what the files have */

static int compare_pieces(const void *left, const void *right)
{
	const struct snap_piece *a = left, *b = right;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* Of a part of a mapping that the core lacks, as far as the file goes. */
static void add_file_piece(
	struct snap_image *image, const struct snap_file_map *map, uint64_t start, uint64_t end)
{
	const struct snap_elf_view *view = &image->files[map->file].elf.view;
	uint64_t offset = map->offset + (start - map->start);
	if (offset >= view->size)
		return;
	if (end - start > view->size - offset)
		end = start + (view->size - offset);
	Elf64_Phdr segment = {.p_flags = PF_R};
	uint64_t address = start - image->files[map->file].bias;
	if (!snap_elf_segment_at(view, address, &segment))
		segment.p_flags = PF_R;
	image->pieces[image->piece_count++] = (struct snap_piece){start, end, view->bytes + offset,
		segment.p_flags & (PF_R | PF_W | PF_X), map->file};
}

static void add_missing_parts(struct snap_image *image, const struct snap_file_map *map)
{
	uint64_t start = map->start;
	uint64_t i = BASE_FIRST_ABOVE(image->loads, image->load_count, end, start);
	for (; i < image->load_count && image->loads[i].address < map->end; i++) {
		const struct snap_load *load = &image->loads[i];
		if (load->held == 0)
			continue;
		if (load->address > start)
			add_file_piece(image, map, start, load->address);
		if (load->address + load->held > start)
			start = load->address + load->held;
	}
	if (start < map->end)
		add_file_piece(image, map, start, map->end);
}

/* Joins neighbours whose bytes are neighbours too, so that what straddles them is contiguous. */
static void join_pieces(struct snap_image *image)
{
	struct snap_piece *pieces = image->pieces;
	uint64_t kept = 0;
	for (uint64_t i = 0; i < image->piece_count; i++) {
		struct snap_piece piece = pieces[i];
		struct snap_piece *last = kept ? &pieces[kept - 1] : NULL;
		if (last && piece.address < last->end) {
			/* Only of an executable that the core does not list. */
			if (piece.end <= last->end)
				continue;
			piece.bytes += last->end - piece.address;
			piece.address = last->end;
		}
		if (last && piece.address == last->end && piece.flags == last->flags &&
			piece.file == last->file &&
			piece.bytes == last->bytes + (last->end - last->address))
			last->end = piece.end;
		else
			pieces[kept++] = piece;
	}
	base_assert(BASE_IS_SORTED(pieces, kept, end));
	image->piece_count = kept;
}

static void add_core_piece(
	struct snap_image *image, const struct snap_load *load, uint64_t start, uint64_t end)
{
	if (start < end)
		image->pieces[image->piece_count++] = (struct snap_piece){start, end,
			image->core.bytes + load->offset + (start - load->address), load->flags,
			SNAP_NO_FILE};
}

/* The map to whose file the pages of zeros in a load belong; NULL where zeros are zeros. */
static const struct snap_file_map *holey_map(
	const struct snap_image *image, const struct snap_load *load)
{
	const struct snap_file_map *map = snap_image_map(image, load->address);
	if (!map || load->flags & PF_W || load->held > map->end - load->address ||
		map->file == SNAP_NO_FILE)
		return NULL;
	const struct snap_image_file *file = &image->files[map->file];
	bool holey =
		file->found && file->has_holes && load->held / PAGE <= file->elf.view.size / PAGE;
	return holey ? map : NULL;
}

/* Of a load page by page: zeros from the file, the rest from the core. */
static void add_holey_load(
	struct snap_image *image, const struct snap_load *load, const struct snap_file_map *map)
{
	uint64_t end = load->address + load->held, start = load->address;
	for (uint64_t page = start; page < end && end - page >= PAGE; page += PAGE) {
		if (!snap_core_is_hole(image, page))
			continue;
		add_core_piece(image, load, start, page);
		add_file_piece(image, map, page, page + PAGE);
		start = page + PAGE;
	}
	add_core_piece(image, load, start, end);
}

/*
 * How many pieces there can be: a part that is missing begins where a mapping does, or where the
 * bytes of a load end; a hole has a page, and a piece of the core before it.
 */
static uint64_t most_pieces(const struct snap_image *image)
{
	uint64_t most = 2 * image->load_count + image->map_count;
	for (uint64_t i = 0; i < image->load_count; i++)
		if (image->loads[i].held && holey_map(image, &image->loads[i]))
			most += 2 * (image->loads[i].held / PAGE);
	return most;
}

static enum hg_status build_pieces(struct snap_image *image, struct hg_error *error)
{
	void *memory;
	const uint64_t most = most_pieces(image);
	BASE_TRY(base_pool_alloc(&image->pool, most, sizeof(*image->pieces), &memory, error));
	image->pieces = memory;
	for (uint64_t i = 0; i < image->load_count; i++) {
		const struct snap_load *load = &image->loads[i];
		const struct snap_file_map *map = load->held ? holey_map(image, load) : NULL;
		if (map)
			add_holey_load(image, load, map);
		else
			add_core_piece(image, load, load->address, load->address + load->held);
	}
	for (uint64_t i = 0; i < image->map_count; i++) {
		const struct snap_file_map *map = &image->maps[i];
		if (map->file != SNAP_NO_FILE && image->files[map->file].found)
			add_missing_parts(image, map);
	}
	base_assert(image->piece_count <= most);
	if (image->piece_count)
		qsort(image->pieces, image->piece_count, sizeof(*image->pieces), compare_pieces);
	join_pieces(image);
	return HG_OK;
}

/* Where the segments of files are */

static int compare_segments(const void *left, const void *right)
{
	const struct snap_file_segment *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->file > b->file) - (a->file < b->file);
}

static bool segment_of(
	const struct snap_image_file *file, uint64_t index, struct snap_file_segment *out)
{
	Elf64_Phdr phdr = snap_elf_phdr(&file->elf.view, index);
	out->start = phdr.p_vaddr + file->bias;
	return phdr.p_type == PT_LOAD &&
	       !__builtin_add_overflow(out->start, phdr.p_memsz, &out->end);
}

/* Of two that overlap, which files do not, the second begins where the first ends. */
static enum hg_status index_segments(struct snap_image *image, struct hg_error *error)
{
	uint64_t count = 0, kept = 0;
	void *memory;
	for (uint32_t f = 0; f < image->file_count; f++)
		count += image->files[f].found ? image->files[f].elf.view.phdr_count : 0;
	BASE_TRY(base_pool_alloc(&image->pool, count, sizeof(*image->segments), &memory, error));
	struct snap_file_segment *segments = image->segments = memory;
	count = 0;
	for (uint32_t f = 0; f < image->file_count; f++) {
		const struct snap_image_file *file = &image->files[f];
		for (uint64_t i = 0; file->found && i < file->elf.view.phdr_count; i++) {
			segments[count].file = f;
			count += segment_of(file, i, &segments[count]);
		}
	}
	if (count)
		qsort(segments, count, sizeof(*segments), compare_segments);
	for (uint64_t i = 0; i < count; i++) {
		struct snap_file_segment segment = segments[i];
		if (kept && segment.start < segments[kept - 1].end)
			segment.start = segments[kept - 1].end;
		if (segment.start < segment.end)
			segments[kept++] = segment;
	}
	base_assert(BASE_IS_SORTED(segments, kept, end));
	image->segment_count = kept;
	return HG_OK;
}

enum hg_status snap_image_lay_out(struct snap_image *image, struct hg_error *error)
{
	BASE_TRY(index_segments(image, error));
	return build_pieces(image, error);
}
