#include "snapshot/image/match.h"

#include <string.h>

enum { PAGE = 4096 };

static enum hg_status refuse_match(
	const struct snap_image_file *file, struct hg_error *error, const char *what, uint64_t at)
{
	base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
		"is not the file of the process: %s at 0x%llx differ from those in the core", what,
		(unsigned long long)at);
	base_error_file(error, file->found);
	return HG_ERROR_INPUT;
}

/* Sections and offsets are another matter: a stripped file has others, and is the same program. */
static bool has_same_segments(const struct snap_elf_view *ours, const struct snap_elf_view *theirs)
{
	if (ours->phdr_count != theirs->phdr_count ||
		ours->header.e_entry != theirs->header.e_entry ||
		ours->header.e_type != theirs->header.e_type)
		return false;
	for (uint64_t i = 0; i < ours->phdr_count; i++) {
		Elf64_Phdr a = snap_elf_phdr(ours, i), b = snap_elf_phdr(theirs, i);
		if (a.p_type != b.p_type ||
			(a.p_type == PT_LOAD &&
				(a.p_vaddr != b.p_vaddr || a.p_flags != b.p_flags ||
					a.p_filesz != b.p_filesz || a.p_memsz != b.p_memsz)))
			return false;
	}
	return true;
}

/* The address at which the two differ from 'from' on, in the file's terms; the end if nowhere. */
static uint64_t first_difference(const struct snap_image *image, const struct snap_image_file *file,
	const Elf64_Phdr *phdr, uint64_t from)
{
	const struct snap_elf_view *view = &file->elf.view;
	const uint64_t end = phdr->p_vaddr + phdr->p_filesz;
	for (uint64_t at = from, next; at < end; at = next) {
		uint64_t size;
		const uint8_t *theirs = snap_core_bytes(image, at + file->bias, &size);
		next = (at | (PAGE - 1)) + 1 < end ? (at | (PAGE - 1)) + 1 : end;
		if (theirs && size >= next - at && !snap_core_is_hole(image, at + file->bias) &&
			memcmp(view->bytes + phdr->p_offset + (at - phdr->p_vaddr), theirs,
				next - at) != 0)
			return at;
	}
	return end;
}

/* Data that are only read; debuggers write breakpoints into code. */
static enum hg_status match_segment(const struct snap_image *image,
	const struct snap_image_file *file, const Elf64_Phdr *phdr, struct hg_error *error)
{
	const struct snap_elf_view *view = &file->elf.view;
	uint64_t first = phdr->p_vaddr, size, end;
	struct snap_elf_view theirs;
	if (phdr->p_type != PT_LOAD || phdr->p_flags & (PF_W | PF_X) ||
		__builtin_add_overflow(phdr->p_vaddr, phdr->p_filesz, &end) ||
		phdr->p_offset > view->size || phdr->p_filesz > view->size - phdr->p_offset)
		return HG_OK;
	if (phdr->p_offset == 0) {
		const uint8_t *bytes = snap_core_bytes(image, first + file->bias, &size);
		if (bytes && snap_elf_open_view(&theirs, bytes, size, NULL) == HG_OK &&
			!has_same_segments(view, &theirs))
			return refuse_match(file, error, "the program headers", first);
		first += PAGE;
	}
	uint64_t at = first < end ? first_difference(image, file, phdr, first) : end;
	return at == end ? HG_OK : refuse_match(file, error, "the constant data", at);
}

enum hg_status snap_match_file(
	const struct snap_image *image, const struct snap_image_file *file, struct hg_error *error)
{
	const struct snap_elf_view *view = &file->elf.view;
	for (uint64_t i = 0; i < view->phdr_count; i++) {
		Elf64_Phdr phdr = snap_elf_phdr(view, i);
		BASE_TRY(match_segment(image, file, &phdr, error));
	}
	return HG_OK;
}
