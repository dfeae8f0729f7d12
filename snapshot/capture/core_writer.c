/*
 * Which pages of a process are written, and where; the headers that tell of them.
 */
#include "snapshot/capture/core_writer.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Pages that a mapping lacks, between some that it has, make two segments from this many on. */
enum {
	GAP_OF_ZEROS = (64 << 20) / SNAP_CORE_PAGE, /* holes of the file cost nothing */
	GAP_OF_FILE = 32                            /* pages of the file would be written */
};

/* /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst) */
#define PAGE_PRESENT ((uint64_t)1 << 63)
#define PAGE_SWAPPED ((uint64_t)1 << 62)
#define PAGE_OF_FILE ((uint64_t)1 << 61) /* or shared memory: not a private copy */
/*
 * madvise(MADV_GUARD_INSTALL): whoever touches the page gets a SIGSEGV, as with the stacks of
 * threads of glibc 2.42.  There is nothing in it.  Told since Linux 6.15; 6.13 and 6.14 have such
 * pages, and tell of them only that they are swapped, which they are not.
 */
#define PAGE_GUARDED ((uint64_t)1 << 58)

/*
 * What a pagemap says of 'wanted' pages of SNAP_CORE_PAGE, of which a page of the kernel is several
 * where it is larger.  Returns of how many it does.
 */
static uint64_t read_page_map(int page_map, uint64_t *entries, uint64_t page, uint64_t wanted)
{
	uint64_t pages = (uint64_t)sysconf(_SC_PAGESIZE) / SNAP_CORE_PAGE;
	uint64_t first = page / pages, count = (page + wanted - 1) / pages - first + 1;
	if (page_map < 0)
		return 0;
	count = snap_core_pread(
			page_map, entries, count * sizeof(*entries), first * sizeof(*entries)) /
		sizeof(*entries);
	uint64_t told = (first + count) * pages;
	if (count == 0 || told <= page)
		return 0;
	told = told - page < wanted ? told - page : wanted;
	for (uint64_t i = told; pages > 1 && i-- > 0;)
		entries[i] = entries[(page + i) / pages - first];
	return told;
}

/* Of one page, when its mapping is not read in batches. */
static bool is_guarded(int page_map, uint64_t page)
{
	uint64_t entry;
	return read_page_map(page_map, &entry, page, 1) == 1 && entry & PAGE_GUARDED;
}

/*
 * Copies [start, end) to an offset of the core.  Pages that cannot be read are counted, but for
 * those that nobody can read.
 */
static int copy_memory(
	struct snap_core *core, int page_map, uint64_t start, uint64_t end, uint64_t offset)
{
	while (start < end) {
		size_t wanted =
			end - start < SNAP_CORE_BUFFER ? (size_t)(end - start) : SNAP_CORE_BUFFER;
		size_t got = snap_core_get(core, start, core->buffer, wanted);
		if (got == SNAP_CORE_STOP)
			return snap_core_failed(core, "cancelled", ECANCELED);
		SNAP_CORE_TRY(snap_core_put_pages(core, core->buffer, got, offset));
		if (got < wanted) {
			/* Up to the next page. */
			size_t next = (got / SNAP_CORE_PAGE + 1) * SNAP_CORE_PAGE;
			if (!is_guarded(page_map, (start + got) / SNAP_CORE_PAGE))
				core->unreadable_bytes += next - got;
			got = next < wanted ? next : wanted;
		}
		start += got;
		offset += got;
	}
	return 0;
}

/* Argument of PAGEMAP_SCAN of Linux 6.7 (include/uapi/linux/fs.h). */
struct scan_region {
	uint64_t start, end, categories;
};

struct scan {
	uint64_t size, flags, start, end, walk_end, regions, region_count, most_pages;
	uint64_t inverted, all_of, any_of, returned;
};

#define SCAN_PAGES _IOWR('f', 16, struct scan)

enum {
	SCAN_PRESENT = 1 << 3,
	SCAN_SWAPPED = 1 << 4,
	SCAN_ZEROS = 1 << 5,
	SCAN_FROM = (1 << 30) / SNAP_CORE_PAGE
};

/*
 * In mappings of many gigabytes, of which mostly few pages are there, the next one that is; without
 * the help of the kernel 'page' itself.
 */
static uint64_t skip_absent(const struct snap_core_map *map, int fd, uint64_t page)
{
	struct scan_region region = {0};
	struct scan scan = {.size = sizeof(scan),
		.start = page * SNAP_CORE_PAGE,
		.end = map->end,
		.regions = (uintptr_t)&region,
		.region_count = 1,
		.most_pages = 1,
		.any_of = SCAN_PRESENT | SCAN_SWAPPED,
		.returned = SCAN_PRESENT | SCAN_SWAPPED};
	if (fd < 0 || (map->end - scan.start) / SNAP_CORE_PAGE < SCAN_FROM)
		return page;
	int found = ioctl(fd, SCAN_PAGES, &scan);
	if (found < 0)
		return page;
	return (found ? region.start : scan.end) / SNAP_CORE_PAGE;
}

/* Which pages of a mapping are wanted, read in batches. */
struct pages {
	struct snap_core *core;
	const struct snap_core_map *map;
	int fd;
	uint64_t first, count; /* those whose entries are at hand, by number of page */
};

/*
 * Pages that were only ever read are all one page of zeros, which counts for nobody: they are as
 * good as absent.  Only the scan tells them.
 */
static void drop_zeros(struct pages *pages)
{
	enum { REGIONS = 64 };
	struct scan_region regions[REGIONS];
	uint64_t end = (pages->first + pages->count) * SNAP_CORE_PAGE;
	struct scan scan = {.size = sizeof(scan),
		.walk_end = pages->first * SNAP_CORE_PAGE,
		.end = end,
		.regions = (uintptr_t)regions,
		.region_count = REGIONS,
		.all_of = SCAN_ZEROS,
		.returned = SCAN_ZEROS};
	while (scan.walk_end < end) {
		scan.start = scan.walk_end;
		int found = ioctl(pages->fd, SCAN_PAGES, &scan);
		if (found < 0 || scan.walk_end <= scan.start)
			return;
		for (int i = 0; i < found; i++)
			memset(pages->core->page_entries + regions[i].start / SNAP_CORE_PAGE -
					pages->first,
				0,
				(regions[i].end - regions[i].start) / SNAP_CORE_PAGE *
					sizeof(uint64_t));
	}
}

static bool load_entries(struct pages *pages, uint64_t page)
{
	uint64_t left = pages->map->end / SNAP_CORE_PAGE - page;
	uint64_t wanted = left < SNAP_CORE_ENTRIES ? left : SNAP_CORE_ENTRIES;
	pages->first = page;
	pages->count = read_page_map(pages->fd, pages->core->page_entries, page, wanted);
	if (pages->count > 0 && pages->map->kind == SNAP_CORE_ANONYMOUS)
		drop_zeros(pages);
	return pages->count > 0;
}

/* Without a pagemap, all pages that may have been written to. */
static bool is_wanted(struct pages *pages, uint64_t page)
{
	const struct snap_core_map *map = pages->map;
	bool of_file = map->kind == SNAP_CORE_FILE;
	if (map->kind == SNAP_CORE_WHOLE)
		return true;
	/* The first page of a file holds its build-id. */
	if (of_file && map->offset == 0 && page == map->start / SNAP_CORE_PAGE)
		return true;
	if (page - pages->first >= pages->count && !load_entries(pages, page))
		return !of_file || (map->flags & PF_W);
	uint64_t entry = pages->core->page_entries[page - pages->first];
	return entry & (PAGE_PRESENT | PAGE_SWAPPED) && !(entry & PAGE_GUARDED) &&
	       !(of_file && entry & PAGE_OF_FILE);
}

enum { MOST_RUNS = 1 << 18 };

/*
 * Notes a page just met whose bytes are the process's own and were in memory: what its resident
 * size counts, unlike pages that were swapped out, and those of files.
 */
static void note_resident(struct pages *pages, uint64_t page)
{
	struct snap_core *core = pages->core;
	enum snap_core_kind kind = pages->map->kind;
	if (kind != SNAP_CORE_ANONYMOUS && kind != SNAP_CORE_FILE)
		return;
	if (page - pages->first >= pages->count && !load_entries(pages, page)) {
		core->runs_incomplete = true;
		return;
	}
	uint64_t entry = core->page_entries[page - pages->first];
	if (!(entry & PAGE_PRESENT) || entry & PAGE_OF_FILE)
		return;
	uint64_t start = page * SNAP_CORE_PAGE;
	struct snap_core_run *last = core->run_count ? &core->runs[core->run_count - 1] : NULL;
	if (last && last->end == start)
		last->end += SNAP_CORE_PAGE;
	else if (core->runs && core->run_count < MOST_RUNS)
		core->runs[core->run_count++] =
			(struct snap_core_run){start, start + SNAP_CORE_PAGE};
	else
		core->runs_incomplete = true;
}

/* The next run of wanted pages from *start on; false when there is none. */
static bool next_wanted_run(struct pages *pages, uint64_t *start, uint64_t *end)
{
	uint64_t page = *start / SNAP_CORE_PAGE, last = pages->map->end / SNAP_CORE_PAGE;
	while (page < last && !is_wanted(pages, page)) {
		page++;
		/* The batch is used up. */
		if (page - pages->first >= pages->count)
			page = skip_absent(pages->map, pages->fd, page);
	}
	*start = page * SNAP_CORE_PAGE;
	for (; page < last && is_wanted(pages, page); page++)
		note_resident(pages, page);
	*end = page * SNAP_CORE_PAGE;
	return *start < *end;
}

static void add_core_load(struct snap_core *core, const struct snap_core_map *map, uint64_t start,
	uint64_t end, uint64_t bytes)
{
	if (start == end)
		return;
	core->loads[core->load_count++] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = map->flags,
		.p_offset = core->end,
		.p_vaddr = start,
		.p_filesz = bytes,
		.p_memsz = end - start,
		.p_align = SNAP_CORE_PAGE,
	};
	core->end += bytes;
}

/*
 * Writes a mapping as one segment or several: those with bytes begin and end with a wanted page.
 * In memory without a file what lacks is zero and becomes a hole; next to a file it is the file's,
 * and the few pages between two that differ are written.
 */
static int write_mapping(struct snap_core *core, const struct snap_core_map *map)
{
	bool of_file = map->kind == SNAP_CORE_FILE;
	bool shared = map->kind == SNAP_CORE_SHARED;
	if (map->kind == SNAP_CORE_NO_BYTES) {
		add_core_load(core, map, map->start, map->end, 0);
		return 0;
	}
	uint64_t gap = of_file ? GAP_OF_FILE : GAP_OF_ZEROS;
	struct pages pages = {core, map, shared ? core->origin_page_map : core->page_map, 0, 0};
	uint64_t open = map->start, open_end = map->start;
	for (uint64_t start = map->start, end; next_wanted_run(&pages, &start, &end); start = end) {
		/* The last places are for the mappings still to come. */
		bool room =
			core->load_count + 4 + (size_t)(core->maps + core->map_count - map) * 2 <
			core->load_capacity;
		if (open == open_end || (room && (start - open_end) / SNAP_CORE_PAGE >= gap)) {
			add_core_load(core, map, open, open_end, open_end - open);
			add_core_load(core, map, open_end, start, 0);
			open = open_end = start;
		}
		uint64_t from = of_file ? open_end : start;
		SNAP_CORE_TRY(copy_memory(core, pages.fd, from, end, core->end + (from - open)));
		if (shared && core->process->id != core->process->origin)
			core->later_bytes += end - from;
		open_end = end;
	}
	add_core_load(core, map, open, open_end, open_end - open);
	add_core_load(core, map, open_end, map->end, 0);
	return 0;
}

int snap_core_write_memory(struct snap_core *core, const struct snap_core_process *process)
{
	core->process = process;
	if (process->thread_count == 0)
		return snap_core_failed(core, "a core needs a thread", EINVAL);
	SNAP_CORE_TRY(snap_core_read_proc(core));
	core->page_map = snap_core_open_proc(process->id, "pagemap");
	core->origin_page_map = snap_core_open_proc(process->origin, "pagemap");
	core->load_capacity = 4 * core->map_count + 1024;
	core->loads = snap_core_alloc(core, core->load_capacity * sizeof(*core->loads));
	if (!core->loads)
		return snap_core_failed(core, "too many mappings", ENOMEM);
	core->runs = snap_core_alloc(core, MOST_RUNS * sizeof(*core->runs));
	/* Header, one section header (PN_XNUM), program headers, notes. */
	core->notes_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr) +
			     (core->load_capacity + 2) * sizeof(Elf64_Phdr);
	core->notes_room = snap_core_notes_room(core);
	core->end = (core->notes_offset + core->notes_room + SNAP_CORE_PAGE - 1) &
		    ~(uint64_t)(SNAP_CORE_PAGE - 1);
	for (size_t i = 0; i < core->map_count; i++)
		if (core->maps[i].kind != SNAP_CORE_LEFT_OUT)
			SNAP_CORE_TRY(write_mapping(core, &core->maps[i]));
	snap_core_close(&core->page_map);
	snap_core_close(&core->origin_page_map);
	return 0;
}

static int write_headers(struct snap_core *core, uint64_t notes_size)
{
	uint64_t count = core->load_count + 1 + (core->runs_size != 0);
	Elf64_Shdr section = {.sh_info = (uint32_t)count};
	Elf64_Phdr notes = {.p_type = PT_NOTE,
		.p_offset = core->notes_offset,
		.p_filesz = notes_size,
		.p_align = 4};
	Elf64_Phdr runs = notes;
	runs.p_offset = core->runs_offset;
	runs.p_filesz = core->runs_size;
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = SNAP_NATIVE_MACHINE,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header) + sizeof(section),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (uint16_t)(count < PN_XNUM ? count : PN_XNUM),
	};
	if (count >= PN_XNUM) {
		header.e_shoff = sizeof(header);
		header.e_shentsize = sizeof(section);
		header.e_shnum = 1;
	}
	SNAP_CORE_TRY(snap_core_put(core, &section, sizeof(section), sizeof(header)));
	SNAP_CORE_TRY(snap_core_put(core, &notes, sizeof(notes), header.e_phoff));
	uint64_t loads_size = core->load_count * sizeof(*core->loads);
	uint64_t at = header.e_phoff + sizeof(notes);
	SNAP_CORE_TRY(snap_core_put(core, core->loads, loads_size, at));
	if (core->runs_size)
		SNAP_CORE_TRY(snap_core_put(core, &runs, sizeof(runs), at + loads_size));
	return snap_core_put(core, &header, sizeof(header), 0);
}

int snap_core_finish(struct snap_core *core, const struct snap_core_facts *facts)
{
	uint64_t notes_size;
	SNAP_CORE_TRY(snap_core_write_copies(core));
	SNAP_CORE_TRY(snap_core_write_bytecode(core, facts));
	SNAP_CORE_TRY(snap_core_write_notes(core, facts, &notes_size));
	SNAP_CORE_TRY(snap_core_write_runs(core));
	if (ftruncate(core->fd, (off_t)core->end))
		return snap_core_failed(core, "cannot be written", errno);
	return write_headers(core, notes_size);
}

int snap_core_take(struct snap_core *core, const struct snap_core *other)
{
	off_t start = 0, end;
	while ((start = lseek(other->fd, start, SEEK_DATA)) >= 0) {
		end = lseek(other->fd, start, SEEK_HOLE);
		while (start < end) {
			size_t left = (size_t)(end - start);
			size_t got = snap_core_pread(other->fd, core->buffer,
				left < SNAP_CORE_BUFFER ? left : SNAP_CORE_BUFFER, (uint64_t)start);
			if (got == 0)
				return snap_core_failed(core, "cannot be read again", EIO);
			SNAP_CORE_TRY(
				snap_core_put_pages(core, core->buffer, got, (uint64_t)start));
			start += (off_t)got;
		}
	}
	if (ftruncate(core->fd, (off_t)other->end))
		return snap_core_failed(core, "cannot be written", errno);
	return 0;
}
