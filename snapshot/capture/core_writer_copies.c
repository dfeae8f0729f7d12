/*
 * Copies of the executable and the libraries into the core: the headers, what is loaded, and the
 * symbols, at the offsets they have in the file.  Debug information stays out; its sections become
 * ones without bytes.  The files are not trusted: they are only read, and what does not fit is
 * left out.
 */
#include "snapshot/capture/core_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MOST_SEGMENTS = 256,
	MOST_SECTIONS = 65535,
	MOST_NAMES = 1 << 20, /* bytes of the table of names of sections */
	MOST_NOTES = 64 << 10
};

/* A file under way. */
struct source {
	struct snap_core *core;
	struct snap_core_copy *copy;
	int fd;
	uint64_t size;
	Elf64_Ehdr header;
	Elf64_Phdr *segments;
	Elf64_Shdr *sections; /* NULL: none */
	char *names;          /* of sections */
	uint64_t names_size;
};

/* The file itself: paths may lead to another one by now, or into another mount namespace */

static int open_map_file(const struct snap_core *core, const struct snap_core_map *map)
{
	char name[64];
	struct snap_core_text text = {.start = name, .size = sizeof(name)};
	snap_core_add_text(&text, "map_files/");
	snap_core_add_number(&text, map->start, 16);
	snap_core_add_text(&text, "-");
	snap_core_add_number(&text, map->end, 16);
	return snap_core_open_proc(core->process->id, name);
}

/* Examines what has the name before it is opened: to open a device may do something. */
static int open_plain(const char *path)
{
	char own[64];
	struct stat about;
	struct snap_core_text text = {.start = own, .size = sizeof(own)};
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1;
	if (place < 0)
		return -1;
	snap_core_add_text(&text, "/proc/self/fd/");
	snap_core_add_number(&text, (uint64_t)place, 10);
	if (fstat(place, &about) == 0 && S_ISREG(about.st_mode))
		fd = open(own, O_RDONLY | O_CLOEXEC);
	close(place);
	return fd;
}

static int open_path(const struct snap_core *core, const struct snap_core_map *map, bool in_root)
{
	char path[PATH_MAX + 32], name[PATH_MAX + 8];
	struct snap_core_text text = {
		.start = in_root ? name : path, .size = in_root ? sizeof(name) : sizeof(path)};
	snap_core_add_text(&text, in_root ? "root" : "");
	snap_core_add_text(&text, map->path);
	size_t length = (in_root ? 4 : 0) + snap_core_path_length(map);
	if (text.cut || length > text.used)
		return -1;
	text.start[length] = '\0';
	if (!in_root)
		return open_plain(path);
	char proc[PATH_MAX + 64];
	struct snap_core_text full = {.start = proc, .size = sizeof(proc)};
	snap_core_add_text(&full, "/proc/");
	snap_core_add_number(&full, (uint64_t)core->process->id, 10);
	snap_core_add_text(&full, "/");
	snap_core_add_text(&full, name);
	return full.cut ? -1 : open_plain(proc);
}

static int open_candidate(const struct snap_core *core, const struct snap_core_map *map, int which)
{
	switch (which) {
	case 0:
		return open_map_file(core, map); /* mostly for root only */
	case 1:
		return snap_core_open_proc(core->process->id, "exe");
	case 2:
		return open_path(core, map, true);
	default:
		return open_path(core, map, false);
	}
}

/* Whether a file begins like the mapping of its beginning, which nobody writes to. */
static bool is_same_beginning(
	const struct snap_core *core, const struct snap_core_map *beginning, int fd)
{
	uint8_t ours[SNAP_CORE_PAGE], theirs[SNAP_CORE_PAGE];
	struct stat about;
	if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
		return false;
	size_t size = snap_core_pread(fd, ours, sizeof(ours), 0);
	return size >= sizeof(Elf64_Ehdr) &&
	       snap_core_get(core, beginning->start, theirs, size) == size &&
	       memcmp(ours, theirs, size) == 0;
}

static bool is_same_file(const struct snap_core_map *a, const struct snap_core_map *b)
{
	return a->inode == b->inode && a->device == b->device && strcmp(a->path, b->path) == 0;
}

static const struct snap_core_map *beginning_of(
	const struct snap_core *core, const struct snap_core_map *map)
{
	for (size_t i = 0; i < core->map_count; i++)
		if (core->maps[i].kind == SNAP_CORE_FILE && core->maps[i].offset == 0 &&
			is_same_file(&core->maps[i], map))
			return &core->maps[i];
	return NULL;
}

static const char *open_copied_file(struct source *source)
{
	const struct snap_core *core = source->core;
	const struct snap_core_map *map = source->copy->map, *beginning = beginning_of(core, map);
	bool any = false;
	if (!beginning)
		return "its beginning is not mapped";
	for (int which = 0; which < 4; which++) {
		source->fd = open_candidate(core, map, which);
		if (source->fd < 0)
			continue;
		any |= which != 1; /* the executable of the process is always there */
		if (is_same_beginning(core, beginning, source->fd))
			return NULL;
		close(source->fd);
	}
	source->fd = -1;
	return any ? "the file is another one now" : "cannot be opened";
}

/* Its structure */

static bool read_file_part(
	struct source *source, void **out, uint64_t offset, uint64_t size, uint64_t most)
{
	if (size == 0 || size > most || offset > source->size || size > source->size - offset)
		return false;
	*out = snap_core_alloc(source->core, size);
	return *out && snap_core_pread(source->fd, *out, size, offset) == size;
}

static const char *read_structure(struct source *source)
{
	struct stat about;
	Elf64_Ehdr *h = &source->header;
	void *part;
	if (fstat(source->fd, &about) != 0 ||
		snap_core_pread(source->fd, h, sizeof(*h), 0) != sizeof(*h))
		return "cannot be read";
	source->size = (uint64_t)about.st_size;
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
		h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_phentsize != sizeof(Elf64_Phdr) ||
		h->e_phnum > MOST_SEGMENTS)
		return "is no ELF file of 64 bits";
	if (!read_file_part(source, &part, h->e_phoff, h->e_phnum * sizeof(Elf64_Phdr), UINT32_MAX))
		return "cannot be read";
	source->segments = part;
	/* Programs run without sections; then there are no symbols either. */
	if (h->e_shentsize == sizeof(Elf64_Shdr) &&
		read_file_part(
			source, &part, h->e_shoff, h->e_shnum * sizeof(Elf64_Shdr), UINT32_MAX))
		source->sections = part;
	if (!source->sections) {
		h->e_shoff = 0;
		h->e_shnum = h->e_shstrndx = 0;
		return NULL;
	}
	if (h->e_shstrndx < h->e_shnum) {
		const Elf64_Shdr *names = &source->sections[h->e_shstrndx];
		if (read_file_part(source, &part, names->sh_offset, names->sh_size, MOST_NAMES)) {
			source->names = part;
			source->names_size = names->sh_size;
		}
	}
	return NULL;
}

static void find_build_id(struct source *source)
{
	static const char owner[4] = "GNU";
	struct snap_core_copy *copy = source->copy;
	for (unsigned i = 0; i < source->header.e_phnum && copy->build_id_size == 0; i++) {
		const Elf64_Phdr *segment = &source->segments[i];
		void *part;
		if (segment->p_type != PT_NOTE || !read_file_part(source, &part, segment->p_offset,
							  segment->p_filesz, MOST_NOTES))
			continue;
		const uint8_t *notes = part;
		uint64_t align = segment->p_align == 8 ? 8 : 4;
		Elf64_Nhdr note;
		for (uint64_t at = 0; at + sizeof(note) <= segment->p_filesz;) {
			memcpy(&note, notes + at, sizeof(note));
			uint64_t name = at + sizeof(note);
			uint64_t desc = (name + note.n_namesz + align - 1) & ~(align - 1);
			at = (desc + note.n_descsz + align - 1) & ~(align - 1);
			if (desc + note.n_descsz > segment->p_filesz)
				break;
			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(owner) ||
				memcmp(notes + name, owner, sizeof(owner)) != 0 ||
				note.n_descsz > sizeof(copy->build_id))
				continue;
			copy->build_id_size = (uint8_t)note.n_descsz;
			memcpy(copy->build_id, notes + desc, note.n_descsz);
		}
	}
}

/* Copying */

static int copy_range(struct source *source, uint64_t offset, uint64_t size)
{
	struct snap_core *core = source->core;
	if (offset >= source->size)
		return 0;
	/* From the start of a page, so that pages of zeros stay holes. */
	uint64_t end = size < source->size - offset ? offset + size : source->size;
	offset -= offset % SNAP_CORE_PAGE;
	while (offset < end) {
		size_t wanted =
			end - offset < SNAP_CORE_BUFFER ? (size_t)(end - offset) : SNAP_CORE_BUFFER;
		size_t got = snap_core_pread(source->fd, core->buffer, wanted, offset);
		SNAP_CORE_TRY(snap_core_put_pages(
			core, core->buffer, got, source->copy->offset + offset));
		if (got < wanted)
			return 0; /* cut while we read */
		offset += got;
	}
	return 0;
}

static bool is_section_named(
	const struct source *source, const Elf64_Shdr *section, const char *name)
{
	return section->sh_name < source->names_size &&
	       strncmp(source->names + section->sh_name, name,
		       source->names_size - section->sh_name) == 0;
}

/* Whether a section has its bytes in the copy; those that are loaded are there with the segments.
 */
static bool is_section_kept(const struct source *source, unsigned index)
{
	const Elf64_Shdr *section = &source->sections[index];
	if (section->sh_type == SHT_SYMTAB || index == source->header.e_shstrndx ||
		is_section_named(source, section, ".gnu_debuglink"))
		return true;
	/* Names of the symbols. */
	for (unsigned i = 0; section->sh_type == SHT_STRTAB && i < source->header.e_shnum; i++)
		if (source->sections[i].sh_type == SHT_SYMTAB &&
			source->sections[i].sh_link == index)
			return true;
	return false;
}

static int copy_sections(struct source *source)
{
	for (unsigned i = 0; source->sections && i < source->header.e_shnum; i++) {
		Elf64_Shdr *section = &source->sections[i];
		if (section->sh_type == SHT_NOBITS || section->sh_type == SHT_NULL)
			continue;
		if (is_section_kept(source, i))
			SNAP_CORE_TRY(copy_range(source, section->sh_offset, section->sh_size));
		else if (!(section->sh_flags & SHF_ALLOC))
			section->sh_type = SHT_NOBITS;
	}
	return 0;
}

static int copy_file(struct source *source)
{
	const Elf64_Ehdr *h = &source->header;
	uint64_t at = source->copy->offset;
	SNAP_CORE_TRY(copy_range(source, 0, SNAP_CORE_PAGE));
	for (unsigned i = 0; i < h->e_phnum; i++)
		if (source->segments[i].p_type == PT_LOAD)
			SNAP_CORE_TRY(copy_range(source, source->segments[i].p_offset,
				source->segments[i].p_filesz));
	SNAP_CORE_TRY(copy_sections(source));
	/* The headers last: copies of whole pages have put the old ones there. */
	SNAP_CORE_TRY(snap_core_put(
		source->core, source->segments, h->e_phnum * sizeof(Elf64_Phdr), at + h->e_phoff));
	if (source->sections)
		SNAP_CORE_TRY(snap_core_put(source->core, source->sections,
			h->e_shnum * sizeof(Elf64_Shdr), at + h->e_shoff));
	return snap_core_put(source->core, h, sizeof(*h), at);
}

static int write_copy(struct snap_core *core, struct snap_core_copy *copy)
{
	struct source source = {.core = core, .copy = copy, .fd = -1};
	size_t used = core->arena_used;
	int status = 0;
	copy->skipped = open_copied_file(&source);
	if (!copy->skipped)
		copy->skipped = read_structure(&source);
	if (!copy->skipped) {
		find_build_id(&source);
		copy->offset = core->end;
		copy->size = source.size;
		status = copy_file(&source);
		core->end += (copy->size + SNAP_CORE_PAGE - 1) & ~(uint64_t)(SNAP_CORE_PAGE - 1);
	}
	if (source.fd >= 0)
		close(source.fd);
	/* What was read of this file is not needed any more, and fresh memory is zeroed. */
	memset(core->arena + used, 0, core->arena_used - used);
	core->arena_used = used;
	return status;
}

static bool has_copy(const struct snap_core *core, const struct snap_core_map *map)
{
	for (size_t i = 0; i < core->copy_count; i++)
		if (is_same_file(core->copies[i].map, map))
			return true;
	return false;
}

int snap_core_write_copies(struct snap_core *core)
{
	size_t most = 0;
	for (size_t i = 0; i < core->map_count; i++)
		most += core->maps[i].kind == SNAP_CORE_FILE && core->maps[i].flags & PF_X;
	core->copies = snap_core_alloc(core, most * sizeof(*core->copies));
	if (most && !core->copies)
		return snap_core_failed(core, "too many mappings", ENOMEM);
	for (size_t i = 0; i < core->map_count; i++) {
		const struct snap_core_map *map = &core->maps[i];
		if (map->kind != SNAP_CORE_FILE || !(map->flags & PF_X) || has_copy(core, map))
			continue;
		core->copies[core->copy_count] = (struct snap_core_copy){.map = map};
		SNAP_CORE_TRY(write_copy(core, &core->copies[core->copy_count]));
		core->copy_count++;
	}
	return 0;
}

/* One that is cut while it is read has no table at its end, and is none. */
int snap_core_write_bytecode(struct snap_core *core, const struct snap_core_facts *facts)
{
	uint64_t done = 0;
	if (facts->bytecode_size == 0)
		return 0;
	while (done < facts->bytecode_size) {
		uint64_t left = facts->bytecode_size - done;
		size_t wanted = left < SNAP_CORE_BUFFER ? (size_t)left : SNAP_CORE_BUFFER;
		size_t got = snap_core_pread(
			facts->bytecode_fd, core->buffer, wanted, facts->bytecode_start + done);
		SNAP_CORE_TRY(snap_core_put_pages(core, core->buffer, got, core->end + done));
		if (got < wanted)
			break;
		done += got;
	}
	core->bytecode_offset = core->end;
	core->end += (facts->bytecode_size + SNAP_CORE_PAGE - 1) & ~(uint64_t)(SNAP_CORE_PAGE - 1);
	return 0;
}
