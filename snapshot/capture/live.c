/* What a program that runs is, by its executable and by words of its memory. */
#include "snapshot/capture/live.h"

#include "base/proc.h"
#include "snapshot/arch/arch.h"
#include "snapshot/runtime/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_live_words(
	const struct snap_live *live, uint64_t address, uint64_t *words, size_t count)
{
	size_t size = count * sizeof(*words);
	return base_proc_read_memory(live->process, address, words, size) == size;
}

/* Address in the process of a symbol of the executable; 0 if there is none. */
static uint64_t live_address_of(struct snap_live *live, const char *name)
{
	struct snap_elf_symbol symbol;
	if (!snap_elf_find_symbol(&live->executable, name, &symbol) || symbol.type == STT_TLS)
		return 0;
	return symbol.value + live->bias;
}

/* Opening */

uint64_t snap_live_start_time(pid_t process)
{
	struct base_proc_stat stat;
	return !base_proc_has_ended(process, 0) && base_proc_read_stat(process, 0, &stat)
		       ? stat.start_time
		       : 0;
}

bool snap_live_is_there(const struct snap_live *live)
{
	return snap_live_start_time(live->process) == live->started;
}

enum { MOST_PAGE_BYTES = 1 << 14 };

static enum hg_status refuse_process(
	struct snap_live *live, struct hg_error *error, const char *why)
{
	return base_fail(
		error, HG_ERROR_INPUT, HG_NO_OFFSET, "process %d %s", (int)live->process, why);
}

static enum hg_status open_executable(struct snap_live *live, struct hg_error *error)
{
	char path[BASE_PROC_PATH], target[8];
	struct base_file file;
	base_proc_path(path, live->process, 0, "exe");
	if (readlink(path, target, sizeof(target)) < 0) {
		if (errno == EACCES || errno == EPERM)
			return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
				"not permitted to look at process %d: be the same user or root, or "
				"have CAP_SYS_PTRACE",
				(int)live->process);
		return refuse_process(live, error, "has no executable");
	}
	BASE_TRY(base_file_open(&file, path, NULL, error));
	return snap_elf_open(&live->executable, &file, error);
}

static enum hg_status find_bias(struct snap_live *live, struct hg_error *error)
{
	uint64_t pair[2];
	FILE *file = base_proc_open(live->process, 0, "auxv");
	bool found = false;
	if (!file)
		return base_system_failure(error, HG_ERROR_INPUT, "/proc", "cannot be read");
	while (!found && fread(pair, sizeof(pair), 1, file) == 1)
		found = pair[0] == AT_ENTRY;
	fclose(file);
	if (!found)
		return refuse_process(live, error, "does not tell where it was loaded");
	live->bias = pair[1] - live->executable.view.header.e_entry;
	return HG_OK;
}

/* Where the kernel's rights would do, but a filter of system calls forbids what they are for. */
static enum hg_status check_reading(struct snap_live *live, struct hg_error *error)
{
	uint64_t word, entry = live->executable.view.header.e_entry + live->bias;
	errno = 0;
	if (read_live_words(live, entry & ~(uint64_t)7, &word, 1) ||
		(errno != EPERM && errno != ENOSYS))
		return HG_OK;
	FILE *memory = base_proc_open(live->process, 0, "mem");
	if (!memory)
		return HG_OK;
	fclose(memory);
	return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
		"the memory of process %d cannot be read: a filter of system calls (seccomp) keeps "
		"heapgraph from process_vm_readv",
		(int)live->process);
}

static bool live_has_symbol(void *live, const char *name)
{
	return live_address_of(live, name) != 0;
}

/* Every native program has tables of its stack frames, all others have the interpreter. */
static enum hg_status find_live_runtime(struct snap_live *live, struct hg_error *error)
{
	struct snap_elf_symbol symbol;
	bool is_in_library = !live_address_of(live, "caml_frametable") &&
			     !snap_has_interpreter(live_has_symbol, live);
	if (is_in_library && !snap_live_find_library(live))
		return snap_live_find_runtime(live, error);
	bool is_native = live_address_of(live, "caml_frametable") != 0;
	bool is_5 = snap_elf_find_symbol(&live->executable, "caml_state", &symbol) &&
		    symbol.type == STT_TLS;
	if (!is_native)
		snap_bytecode_file_open(&live->bytecode, live->process);
	if (is_in_library && is_5)
		live->fibers.hidden = "has OCaml 5 in a library, where what stack a thread is on "
				      "cannot be told";
	live->domain_state = is_5 ? 0 : live_address_of(live, "Caml_state");
	live->major_cycles = is_5 ? live_address_of(live, "caml_major_cycles_completed") : 0;
	return HG_OK;
}

/* Sys.ocaml_version is a string among the fields of the module's block. */
static void find_live_version(struct snap_live *live)
{
	enum { FIELDS = 64, WORDS = 2 };
	uint64_t module = 0, fields[FIELDS];
	for (unsigned i = 0; !module && snap_sys_symbol(i); i++)
		module = live_address_of(live, snap_sys_symbol(i));
	if (!module || !read_live_words(live, module, fields, FIELDS))
		return;
	for (unsigned i = 0; i < FIELDS; i++) {
		union {
			uint64_t words[WORDS + 1];
			char text[sizeof(uint64_t) * (WORDS + 1)];
		} string = {{0}};
		if (fields[i] % 8 == 0 && read_live_words(live, fields[i], string.words, WORDS) &&
			snap_is_version(string.text)) {
			memcpy(live->ocaml_version, string.text, sizeof(live->ocaml_version) - 1);
			return;
		}
	}
}

/* *ends: of the interpreter, behind which no frame is of the runtime's work for it. */
static enum snap_moment amid_address(struct snap_live *live, uint64_t address, bool *ends)
{
	struct snap_elf_symbol symbol;
	Elf64_Phdr segment;
	uint64_t inside = address - live->bias;
	*ends = false;
	if (!snap_elf_segment_at(&live->executable.view, inside, &segment) ||
		!(segment.p_flags & PF_X) ||
		!snap_elf_symbol_at(&live->executable, inside, &symbol))
		return SNAP_MOMENT_NONE;
	bool is_ahead;
	enum snap_moment moment = snap_moment_of_function(symbol.name, &is_ahead);
	*ends = snap_is_interpreter(symbol.name);
	return is_ahead ? SNAP_MOMENT_NONE : moment;
}

static const char *live_version(struct snap_live *live)
{
	return *live->ocaml_version
		       ? live->ocaml_version
		       : snap_version_of_symbols(live->domain_state == 0, live_has_symbol, live);
}

/* NULL for a version that is not known. */
static const struct snap_layout *live_layout(struct snap_live *live)
{
	if (live->has_no_symbols && !*live->ocaml_version)
		return NULL;
	return snap_layout_of(live_version(live));
}

static void refuse_version(struct snap_live *live)
{
	const char *version = live_version(live);
	if (live->has_no_symbols && !*live->ocaml_version)
		snprintf(live->unreadable, sizeof(live->unreadable),
			"it has neither symbols nor Stdlib.Sys: which OCaml it is of cannot be "
			"told");
	else
		snprintf(live->unreadable, sizeof(live->unreadable),
			"it is of OCaml %s; this heapgraph reads " SNAP_OCAML_SUPPORTED "%s",
			version, snap_layout_remedy(version));
}

/* Caml_state of 5.x is a variable of each thread. */
static void find_fibers(struct snap_live *live)
{
	struct snap_elf_symbol symbol;
	int64_t state;
	const struct snap_layout *layout = live_layout(live);
	if (!layout || live->fibers.hidden || layout->caml_domain_state_c_stack == SNAP_ABSENT ||
		!snap_elf_find_symbol(&live->executable, "caml_state", &symbol) ||
		symbol.type != STT_TLS ||
		!snap_thread_local_offset(&live->executable.view, symbol.value, &state))
		return;
	live->fibers = (struct snap_fibers){.are_used = true,
		.state = state,
		.c_stack = layout->caml_domain_state_c_stack,
		.current_stack = layout->caml_domain_state_current_stack,
		.handler = layout->stack_info_handler};
}

static enum hg_status open_live(struct snap_live *live, struct hg_error *error)
{
	errno = 0;
	live->started = snap_live_start_time(live->process);
	if (!live->started && base_is_shortage(errno))
		return base_system_failure(error, HG_ERROR_LIMIT, "/proc", "cannot be read");
	if (!live->started)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET, "there is no process %d",
			(int)live->process);
	if (live->process == getpid())
		return refuse_process(live, error, "is this very program");
	if (sysconf(_SC_PAGESIZE) > MOST_PAGE_BYTES)
		return refuse_process(live, error,
			"has pages of more than 16 KB, with which no capture was ever tried");
	BASE_TRY(open_executable(live, error));
	BASE_TRY(find_bias(live, error));
	BASE_TRY(check_reading(live, error));
	BASE_TRY(find_live_runtime(live, error));
	find_live_version(live);
	find_fibers(live);
	/* 4.10 to 4.12 have the state, but other fields in it. */
	if (!live_layout(live)) {
		refuse_version(live);
		live->domain_state = 0;
	}
	/* The index of symbols by address is made when it is first asked for: not in the pause. */
	bool ends;
	amid_address(live, live->executable.view.header.e_entry + live->bias, &ends);
	return HG_OK;
}

enum hg_status snap_live_open(struct snap_live *live, pid_t process, struct hg_error *error)
{
	*live = (struct snap_live){.process = process};
	enum hg_status status = open_live(live, error);
	if (status != HG_OK)
		snap_live_close(live);
	return status;
}

void snap_live_close(struct snap_live *live)
{
	snap_bytecode_file_close(&live->bytecode);
	snap_elf_close(&live->executable);
	*live = (struct snap_live){0};
}

/* Counters */

/* A word of the domain state of 4.x, where 4.13 and 4.14 have it in the same place. */
static uint64_t state_word(const struct snap_live *live, uint16_t offset)
{
	uint64_t state, word;
	if (!live->domain_state || !read_live_words(live, live->domain_state, &state, 1) ||
		!read_live_words(live, state + offset, &word, 1))
		return HG_UNKNOWN;
	return word;
}

uint64_t snap_live_major_collections(const struct snap_live *live)
{
	const struct snap_layout *layout = snap_layout_at(SNAP_OCAML_4_14);
	uint64_t count;
	if (live->major_cycles)
		return read_live_words(live, live->major_cycles, &count, 1) ? count : HG_UNKNOWN;
	return state_word(live, layout->caml_domain_state_stat_major_collections);
}

uint64_t snap_live_heap_bytes(const struct snap_live *live)
{
	const struct snap_layout *layout = snap_layout_at(SNAP_OCAML_4_14);
	uint64_t words = state_word(live, layout->caml_domain_state_stat_heap_wsz), kilobytes;
	if (words != HG_UNKNOWN)
		return words * 8;
	kilobytes = base_proc_number(live->process, 0, "status", "RssAnon");
	return kilobytes == BASE_PROC_UNKNOWN ? HG_UNKNOWN : kilobytes * 1024;
}

/* Consistency */

/*
 * Looks at the innermost frames only, as far as the collector's own reach: what lies deeper may be
 * left over from earlier calls, as is what lies behind the return to an interpreter of bytecode.
 */
static enum snap_moment thread_moment(struct snap_live *live, const struct snap_core_thread *thread)
{
	enum { WORDS = 256, LEAF_WORDS = 4 };
	uint64_t words[WORDS] = {0};
	bool ends;
	enum snap_moment moment = amid_address(live, thread->registers[SNAP_NATIVE_PC], &ends);
	size_t got = base_proc_read_memory(
		live->process, thread->registers[SNAP_NATIVE_SP], words, sizeof(words));
	/* A function that fills a block does so itself, or calls memcpy to do it. */
	for (size_t i = 0; !moment && !ends && i < got / sizeof(*words); i++) {
		moment = amid_address(live, words[i], &ends);
		if (moment == SNAP_MOMENT_FILLING && i >= LEAF_WORDS)
			moment = SNAP_MOMENT_NONE;
	}
	return moment;
}

enum snap_moment snap_live_moment(struct snap_live *live, const struct snap_trace *trace)
{
	const struct snap_layout *layout = snap_layout_at(SNAP_OCAML_4_14);
	uint64_t flag = state_word(live, layout->caml_domain_state_in_minor_collection);
	enum snap_moment moment = SNAP_MOMENT_NONE;
	for (uint64_t i = 0; !moment && i < trace->count; i++)
		moment = thread_moment(live, &trace->registers[i]);
	/* The runtime of 4.x knows about minor collections itself. */
	if (flag != HG_UNKNOWN && moment != SNAP_MOMENT_COMPACTION) {
		if ((uint32_t)flag)
			moment = SNAP_MOMENT_MINOR_COLLECTION;
		else if (moment == SNAP_MOMENT_MINOR_COLLECTION)
			moment = SNAP_MOMENT_NONE;
	}
	return moment;
}
