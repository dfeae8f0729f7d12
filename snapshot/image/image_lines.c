/* Lines of the source, from the files of the process themselves: cores hold no DWARF. */
#include "snapshot/image/image.h"

#include <unistd.h>

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
