/* Programs without symbols: what is found by its shape in the memory of a process (found/found.h).
 */
#include "snapshot/capture/live.h"

#include "base/proc.h"
#include "snapshot/runtime/found/found.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is larger is no data of a program; it takes a second for each of them. */
static const uint64_t most_data = (uint64_t)4 << 30;

enum { PAGE = 4096, PAGES = 256 };

/* Pages are kept, as a system call for each word takes minutes; they may be of different moments.
 */
struct live_pages {
	pid_t process;
	uint64_t addresses[PAGES]; /* 0: none is kept there */
	uint8_t bytes[PAGES][PAGE];
};

static bool read_live_memory(void *data, uint64_t address, void *buffer, size_t size)
{
	struct live_pages *pages = data;
	uint64_t page = address & ~(uint64_t)(PAGE - 1);
	unsigned place = page / PAGE % PAGES;
	if (size > PAGE - (address - page))
		return base_proc_read_memory(pages->process, address, buffer, size) == size;
	if (pages->addresses[place] != page) {
		pages->addresses[place] = 0;
		if (base_proc_read_memory(pages->process, page, pages->bytes[place], PAGE) != PAGE)
			return false;
		pages->addresses[place] = page;
	}
	memcpy(buffer, pages->bytes[place] + (address - page), size);
	return true;
}

static enum hg_status add_live_spaces(
	const struct snap_live *live, struct snap_found *found, struct hg_error *error)
{
	const struct snap_elf_view *view = &live->executable.view;
	BASE_TRY(snap_found_add_codes(found, view, live->bias, error));
	for (uint64_t i = 0; i < view->phdr_count; i++) {
		Elf64_Phdr phdr = snap_elf_phdr(view, i);
		uint64_t start = phdr.p_vaddr + live->bias;
		if (phdr.p_type != PT_LOAD || phdr.p_flags & PF_X)
			continue;
		if (phdr.p_memsz > most_data)
			return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
				"process %d has no symbols, and too much static data to look for "
				"the OCaml runtime in",
				(int)live->process);
		BASE_TRY(snap_found_add_space(found,
			(struct snap_range){start, start + phdr.p_memsz},
			(phdr.p_flags & PF_W) != 0, error));
	}
	return HG_OK;
}

/*
 * While the process runs: where tables are does not change, but what most variables lead to does.
 * Only that of 4.x which has the counters of its heap is looked for; all others are when the file
 * is read.  A version that is not known is said later.
 */
static enum hg_status find_without_symbols(
	struct snap_live *live, struct snap_found *found, struct hg_error *error)
{
	char program[32];
	snprintf(program, sizeof(program), "process %d", (int)live->process);
	found->program = program;
	BASE_TRY(add_live_spaces(live, found, error));
	BASE_TRY(snap_found_tables(found, error));
	if (!found->globals)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"process %d is no OCaml program: neither it nor a library that it "
			"has loaded has symbols caml_... or tables of OCaml code",
			(int)live->process);
	memcpy(live->ocaml_version, found->version, sizeof(live->ocaml_version));
	live->has_no_symbols = true;
	const struct snap_layout *layout = snap_layout_of(found->version);
	if (layout && layout->version < SNAP_OCAML_5_0)
		BASE_TRY(snap_found_domain_state(found, layout, error));
	live->domain_state = snap_found_variable(found, "Caml_state");
	if (!live->domain_state)
		live->fibers.hidden =
			"has no symbols, which tell what stack a thread of OCaml 5 is on";
	return HG_OK;
}

enum hg_status snap_live_find_runtime(struct snap_live *live, struct hg_error *error)
{
	struct live_pages *pages = calloc(1, sizeof(*pages));
	if (!pages)
		return base_no_memory(error, sizeof(*pages));
	pages->process = live->process;
	struct snap_found found = {.read = read_live_memory, .data = pages};
	enum hg_status status = find_without_symbols(live, &found, error);
	snap_found_release(&found);
	free(pages);
	return status;
}
