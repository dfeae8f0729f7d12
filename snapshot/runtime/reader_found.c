/* Programs without symbols: what is found by its shape in the image of a core (found/found.h). */
#include "snapshot/runtime/reader.h"

#include "base/search.h"
#include "snapshot/runtime/found/found.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is read of an image; words that may still be read, as lists may lead to lists. */
struct found_image {
	struct snap_found found;
	const struct snap_image *image;
	uint64_t left;
	bool gave_up;
};

static bool read_image(void *data, uint64_t address, void *buffer, size_t size)
{
	struct found_image *all = data;
	uint64_t words = size / 8 + 1;
	all->gave_up |= words > all->left;
	if (all->gave_up)
		return false;
	all->left -= words;
	return snap_image_read(all->image, address, buffer, size);
}

/* The parts of a segment that are there. */
static enum hg_status add_segment(struct snap_found *found, const struct snap_image *image,
	const Elf64_Phdr *phdr, struct hg_error *error)
{
	uint64_t start = phdr->p_vaddr + image->main->bias, end;
	if (phdr->p_type != PT_LOAD || phdr->p_flags & PF_X ||
		__builtin_add_overflow(start, phdr->p_memsz, &end))
		return HG_OK;
	uint64_t i = BASE_FIRST_ABOVE(image->pieces, image->piece_count, end, start);
	for (; i < image->piece_count && image->pieces[i].address < end; i++) {
		const struct snap_piece *piece = &image->pieces[i];
		struct snap_range part = {piece->address > start ? piece->address : start,
			piece->end < end ? piece->end : end};
		if (part.start < part.end)
			BASE_TRY(snap_found_add_space(
				found, part, (phdr->p_flags & PF_W) != 0, error));
	}
	return HG_OK;
}

static enum hg_status search_tables(
	struct snap_runtime *runtime, struct found_image *all, struct hg_error *error)
{
	enum { READINGS = 64, LEAST = 1 << 20 };
	struct snap_image *image = runtime->image;
	struct snap_found *found = &all->found;
	const struct snap_elf_view *view = &image->main->elf.view;
	all->image = image;
	all->left = READINGS * (snap_image_bytes(image) / 8) + LEAST;
	found->read = read_image;
	found->data = all;
	found->program = image->program;
	BASE_TRY(snap_found_add_codes(found, view, image->main->bias, error));
	for (uint64_t i = 0; i < view->phdr_count; i++) {
		Elf64_Phdr phdr = snap_elf_phdr(view, i);
		BASE_TRY(add_segment(found, image, &phdr, error));
	}
	return snap_found_tables(found, error);
}

enum hg_status snap_find_tables(struct snap_runtime *runtime, struct hg_error *error)
{
	struct found_image *all = calloc(1, sizeof(*all));
	if (!all)
		return base_no_memory(error, sizeof(*all));
	enum hg_status status = search_tables(runtime, all, error);
	if (status == HG_OK && all->found.globals) {
		runtime->found = &all->found;
		return HG_OK;
	}
	snap_found_release(&all->found);
	free(all);
	return status;
}

void snap_release_found(struct snap_runtime *runtime)
{
	if (!runtime->found)
		return;
	struct found_image *all = runtime->found->data;
	snap_found_release(runtime->found);
	free(all);
	runtime->found = NULL;
}

/* What of roots there was nothing of; more than a line has room for is cut. */
static void note_missing(struct snap_runtime *runtime)
{
	const struct snap_found *found = runtime->found;
	char text[192] = "";
	for (unsigned i = 0; i < found->missing_count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			i ? ", " : "; there are none, or none were found, of: ", found->missing[i]);
	snap_note_line(
		runtime, "no symbols: the runtime was found by the shape of its data%s", text);
}

enum hg_status snap_find_variables(struct snap_runtime *runtime, struct hg_error *error)
{
	struct found_image *all = runtime->found->data;
	enum hg_status status = snap_found_variables(runtime->found, runtime->layout, error);
	if (all->gave_up)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"'%s' has no symbols, and its data lead to the same places again and "
			"again: the OCaml runtime in it was not found",
			runtime->image->program);
	BASE_TRY(status);
	note_missing(runtime);
	return HG_OK;
}

/*
 * Headers with reserved bits look like those of blocks that are too large.  One alone tells, if it
 * is of a block of the size that its place has, once some bits are left out.
 */
static bool has_reserved_bits(uint64_t header, uint64_t most_words)
{
	const uint64_t words = header >> 10;
	const unsigned least = 54 - 31; /* bits of sizes, if as many as can be are reserved */
	if (words < most_words)
		return false;
	return (words & (((uint64_t)1 << least) - 1)) < most_words;
}

static bool area_has_reserved_bits(struct snap_runtime *runtime, const struct snap_area *area)
{
	uint64_t header, step;
	for (uint64_t at = area->start; at < area->end; at += step) {
		if (!snap_image_u64(runtime->image, at, &header))
			return false;
		uint64_t words = header >> 10, most = (area->end - at) / 8;
		bool is_free = snap_header_color(header) == SNAP_COLOR_BLACK &&
			       snap_header_tag(header) == SNAP_TAG_ABSTRACT;
		if (area->kind == SNAP_AREA_POOL) {
			/* In 5.5 free slots know how many free ones follow. */
			step = 8 * (uint64_t)area->slot_words * (is_free ? words % most + 1 : 1);
			most = is_free ? most : area->slot_words;
		} else {
			step = snap_block_bytes(words % most);
		}
		if (has_reserved_bits(header, most))
			return true;
	}
	return false;
}

enum hg_status snap_check_headers(struct snap_runtime *runtime, struct hg_error *error)
{
	for (uint64_t i = 0; i < runtime->area_count; i++)
		if (runtime->areas[i].kind != SNAP_AREA_MINOR &&
			area_has_reserved_bits(runtime, &runtime->areas[i]))
			return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
				"'%s' has no symbols, and headers in its heap have reserved bits: "
				"how many cannot be told",
				runtime->image->program);
	return HG_OK;
}
