/* Programs of other languages that have OCaml in a library (ocamlopt -output-complete-obj). */
#include "snapshot/capture/live.h"

#include "base/proc.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { ROOT_PATH = BASE_PROC_PATH + sizeof(((struct base_proc_map *)0)->name) };

/* As the process sees it; examined before it is opened, as to open a device may do something. */
static bool open_library(struct snap_elf *library, pid_t process, const char *name)
{
	char path[ROOT_PATH], root[BASE_PROC_PATH];
	struct base_file file;
	struct stat about;
	struct hg_error unread;
	base_error_clear(&unread);
	base_proc_path(root, process, 0, "root");
	int length = snprintf(path, sizeof(path), "%s%s", root, name);
	return length > 0 && (size_t)length < sizeof(path) && stat(path, &about) == 0 &&
	       S_ISREG(about.st_mode) && base_file_open(&file, path, NULL, &unread) == HG_OK &&
	       snap_elf_open(library, &file, &unread) == HG_OK;
}

static bool library_has_symbol(void *library, const char *name)
{
	struct snap_elf_symbol symbol;
	return snap_elf_find_symbol(library, name, &symbol);
}

/* Address in the process - address in the file, whose first page is mapped at 'start'. */
static uint64_t bias_of(const struct snap_elf *library, uint64_t start)
{
	for (uint64_t i = 0; i < library->view.phdr_count; i++) {
		Elf64_Phdr phdr = snap_elf_phdr(&library->view, i);
		if (phdr.p_type == PT_LOAD)
			return start - (phdr.p_vaddr - phdr.p_offset);
	}
	return start;
}

/* Whether what is mapped from 'start' on has a runtime, which then is the live one's. */
static bool use_library(struct snap_live *live, const char *name, uint64_t start)
{
	struct snap_elf library = {0};
	bool found = open_library(&library, live->process, name) &&
		     (library_has_symbol(&library, "caml_frametable") ||
			     snap_has_interpreter(library_has_symbol, &library));
	if (!found) {
		snap_elf_close(&library);
		return false;
	}
	snap_elf_close(&live->executable);
	live->executable = library;
	live->bias = bias_of(&live->executable, start);
	return true;
}

/* The parts of a file follow each other, and one of them is code. */
bool snap_live_find_library(struct snap_live *live)
{
	struct base_proc_map map;
	char name[sizeof(map.name)] = "";
	uint64_t start = 0;
	bool found = false;
	FILE *maps = base_proc_open(live->process, 0, "maps");
	while (maps && !found && base_proc_next_map(maps, &map)) {
		if (strcmp(map.name, name) != 0)
			start = map.start;
		snprintf(name, sizeof(name), "%s", map.name);
		if (map.name[0] == '/' && strchr(map.permissions, 'x'))
			found = use_library(live, name, start);
	}
	if (maps)
		fclose(maps);
	return found;
}
