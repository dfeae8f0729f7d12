/* The address space of a process: cores that were found in the field, and cores that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "snapshot/arch/arch.h"
#include "snapshot/image/image.h"
#include "tests/unit/core.h"

#include <sys/inotify.h>
#include <sys/stat.h>

static enum hg_status open_core(struct snap_image *image, const char *core, const char *executable,
	const char *libraries, struct hg_error *error)
{
	struct snap_image_options options = {
		.core = core, .executable = executable, .libraries = libraries};
	base_error_clear(error);
	return snap_image_open(image, &options, error);
}

static void must_open(struct snap_image *image, const char *core, const char *executable)
{
	struct hg_error error;
	if (open_core(image, core, executable, CORES "/lib", &error) != HG_OK)
		fail_msg("%s: %s: %s", core, error.file, error.message);
}

/* The core, as it is now, must be refused with a message that has 'what' in it. */
static void refuse_as(struct process *p, const char *executable, const char *what)
{
	struct snap_image image;
	struct hg_error error;
	process_write(p);
	assert_int_equal(open_core(&image, p->core_path, executable, NULL, &error), HG_ERROR_INPUT);
	if (!strstr(error.message, what))
		fail_msg("'%s' does not say '%s'", error.message, what);
	assert_true(error.file[0] == '/');
}

static void refuse(struct process *p, const char *what)
{
	refuse_as(p, NULL, what);
	core_build(p, NULL);
}

/* A core of our own making */

static void whole_process(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	struct snap_note note;
	uint64_t value;
	process_start(&p);
	core_build(&p, NULL);
	process_write(&p);
	must_open(&image, p.core_path, NULL);
	assert_int_equal(image.pid, 4710);
	assert_string_equal(image.program, "program");
	assert_string_equal(image.arguments, "./program -v");
	assert_int_equal(image.thread_count, 1);
	assert_int_equal(image.threads[0].id, 4711);
	assert_int_equal(image.threads[0].signal, 6);
	assert_int_equal(image.threads[0].registers[SNAP_USER_RSP], CORE_STACK + 0x100);
	assert_true(snap_image_auxv(&image, AT_ENTRY, &value));
	assert_int_equal(value, CORE_BIAS + EXE_TEXT);
	assert_false(snap_image_auxv(&image, AT_BASE, &value));
	assert_int_equal(image.main->bias, CORE_BIAS);
	assert_int_equal(image.main->build_id.size, 20);
	assert_int_equal(image.map_count, 2);
	assert_string_equal(snap_image_map(&image, CORE_BIAS + EXE_DATA)->path, p.exe_path);
	assert_null(snap_image_map(&image, CORE_BIAS + EXE_BSS));
	assert_ptr_equal(snap_image_file_at(&image, CORE_BIAS + EXE_BSS), image.main);
	assert_null(snap_image_file_at(&image, CORE_STACK));
	assert_true(snap_image_note(&image, "heapgraph", 1, &note));
	assert_memory_equal(note.desc, "note", 4);
	assert_false(snap_image_note(&image, "heapgraph", 2, &note));
	snap_image_close(&image);
	process_release(&p);
}

/* How often a file was opened since the last look. */
static unsigned opened(int watch)
{
	char events[4096];
	ssize_t size = read(watch, events, sizeof(events));
	return size > 0 ? (unsigned)((size_t)size / sizeof(struct inotify_event)) : 0;
}

static int watch_opening(const char *path)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(watch >= 0);
	assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
	return watch;
}

/* What a core names is opened only if it is a plain file, and if files of the host may be. */
static void files_that_are_not_opened(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	struct hg_error error;
	process_start(&p);
	core_build(&p, NULL);
	process_write(&p);
	struct snap_image_options options = {.core = p.core_path, .no_host_files = true};
	int watch = watch_opening(p.exe_path);
	assert_int_equal(snap_image_open(&image, &options, &error), HG_ERROR_INPUT);
	assert_non_null(strstr(error.message, "is not in the core; name it with --exe"));
	assert_int_equal(opened(watch), 0);
	options.executable = p.exe_path;
	assert_int_equal(snap_image_open(&image, &options, &error), HG_OK);
	snap_image_close(&image);
	options = (struct snap_image_options){
		.core = p.core_path, .no_host_files = true, .libraries = p.folder};
	assert_int_equal(snap_image_open(&image, &options, &error), HG_OK);
	snap_image_close(&image);
	assert_true(opened(watch) > 0);
	close(watch);
	unlink(p.exe_path);
	assert_int_equal(mkfifo(p.exe_path, 0600), 0);
	watch = watch_opening(p.exe_path);
	options = (struct snap_image_options){.core = p.core_path};
	assert_int_equal(snap_image_open(&image, &options, &error), HG_ERROR_INPUT);
	assert_non_null(strstr(error.message, "is a FIFO, not a regular file"));
	assert_int_equal(opened(watch), 0);
	close(watch);
	process_release(&p);
}

static void bytes_of_core_and_file(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	uint64_t value = 0;
	size_t got;
	process_start(&p);
	core_build(&p, NULL);
	put_u64(&p.exe, EXE_TEXT + 8, 1); /* read only: absent from the core */
	put_u64(&p.exe, EXE_DATA + 8, 2); /* overwritten by the process */
	put_u64(&p.core, core_page(LOAD_DATA) + 8, 3);
	process_write(&p);
	must_open(&image, p.core_path, NULL);
	assert_true(snap_image_u64(&image, CORE_BIAS + EXE_TEXT + 8, &value));
	assert_int_equal(value, 1);
	assert_true(snap_image_u64(&image, CORE_BIAS + EXE_DATA + 8, &value));
	assert_int_equal(value, 3);
	assert_int_equal(snap_image_piece(&image, CORE_BIAS + EXE_TEXT)->flags, PF_R | PF_X);
	assert_int_equal(snap_image_piece(&image, CORE_BIAS + EXE_DATA)->file, SNAP_NO_FILE);
	/* Between the header, which the core has, and .text, which it has not. */
	assert_true(snap_image_u64(&image, CORE_BIAS + EXE_TEXT - 4, &value));
	assert_non_null(snap_image_at(&image, CORE_BIAS + EXE_TEXT - 4, 8, &got));
	assert_int_equal(got, 4);
	assert_null(snap_image_at(&image, CORE_STACK + CORE_PAGE, 8, &got));
	assert_int_equal(got, 0);
	assert_false(snap_image_u64(&image, CORE_STACK + CORE_PAGE - 4, &value));
	assert_false(snap_image_u64(&image, UINT64_MAX - 3, &value));
	snap_image_close(&image);
	process_release(&p);
}

/* .data ends on one segment of the core, .bss begins on the next: an object may lie on both. */
static void object_on_two_segments(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	struct snap_symbol symbol;
	uint64_t words[2];
	char text[16];
	process_start(&p);
	core_build(&p, NULL);
	put(&p.core, core_page(LOAD_DATA) + CORE_PAGE - 8, "12345678", 8);
	put(&p.core, core_page(LOAD_BSS), "90", 3);
	process_write(&p);
	must_open(&image, p.core_path, NULL);
	assert_true(snap_image_symbol(&image, "straddler", &symbol));
	assert_int_equal(symbol.address, CORE_BIAS + EXE_BSS - 8);
	assert_true(snap_image_read(&image, symbol.address, words, sizeof(words)));
	assert_memory_equal(words, "1234567890\0\0\0\0\0\0", sizeof(words));
	assert_true(snap_image_string(&image, symbol.address, text, sizeof(text)));
	assert_string_equal(text, "1234567890");
	assert_false(snap_image_string(&image, symbol.address, text, 10));
	assert_true(snap_image_string(&image, symbol.address, text, 11));
	snap_image_close(&image);

	/* Neighbours in the file too, as kernels write them: one piece. */
	put_u64(&p.core, sizeof(Elf64_Ehdr) + LOAD_BSS * sizeof(Elf64_Phdr) + 8,
		core_page(LOAD_DATA) + CORE_PAGE);
	process_write(&p);
	must_open(&image, p.core_path, NULL);
	size_t got;
	assert_non_null(snap_image_at(&image, CORE_BIAS + EXE_BSS - 8, 16, &got));
	assert_int_equal(got, 16);
	snap_image_close(&image);
	process_release(&p);
}

/* A capture that has zeros for the pages of files nobody had read. */
static void holes(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	uint64_t value;
	process_start(&p);
	core_build(&p, NULL);
	memset(p.core.data + core_page(LOAD_FIRST), 0, CORE_PAGE);
	put_u64(&p.exe, EXE_DATA, 5);
	process_write(&p);
	must_open(&image, p.core_path, NULL);
	assert_int_equal(image.main->build_id.size, 0);
	assert_true(snap_image_u64(&image, CORE_BIAS, &value));
	assert_memory_equal(&value, p.exe.data, sizeof(value));
	/* What the process could write to may be zero indeed. */
	assert_true(snap_image_u64(&image, CORE_BIAS + EXE_DATA, &value));
	assert_int_equal(value, 0);
	snap_image_close(&image);
	process_release(&p);
}

static void symbols(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	struct snap_symbol symbol;
	uint64_t offset, address;
	process_start(&p);
	core_build(&p, NULL);
	process_write(&p);
	must_open(&image, p.core_path, NULL);
	assert_true(snap_image_symbol(&image, "twice", &symbol));
	assert_true(symbol.is_global);
	assert_int_equal(symbol.address, CORE_BIAS + EXE_DATA + 0x20);
	assert_int_equal(symbol.size, 8);
	assert_int_equal(symbol.type, STT_OBJECT);
	assert_true(snap_image_symbol(&image, "number", &symbol));
	assert_int_equal(symbol.address, 42);
	assert_false(snap_image_symbol(&image, "elsewhere", &symbol));
	assert_false(snap_image_symbol(&image, "", &symbol));
	assert_false(snap_image_main_symbol(&image, "nowhere", &symbol));
	assert_true(snap_image_main_symbol(&image, "own_state", &symbol));
	assert_true(symbol.is_tls);
	assert_true(snap_thread_variable(&image, image.threads, &symbol, &address));
	assert_int_equal(address, CORE_TLS - 0x20 + 0x10);

	assert_true(snap_image_symbol_at(&image, CORE_BIAS + EXE_TEXT + 0x3f, &symbol, &offset));
	assert_string_equal(symbol.name, "caml_start");
	assert_int_equal(offset, 0x3f);
	assert_true(snap_image_symbol_at(&image, CORE_BIAS + EXE_TEXT + 0x48, &symbol, &offset));
	assert_string_equal(symbol.name, "caml_label");
	assert_true(snap_image_symbol_at(&image, CORE_BIAS + EXE_TEXT + 0x90, &symbol, &offset));
	assert_string_equal(symbol.name, "caml_tail");
	assert_int_equal(offset, 0x10);
	assert_false(snap_image_symbol_at(&image, CORE_BIAS + EXE_FRAMES, &symbol, &offset));
	assert_false(snap_image_symbol_at(&image, CORE_BIAS + EXE_DATA, &symbol, &offset));
	assert_false(snap_image_symbol_at(&image, CORE_STACK, &symbol, &offset));
	snap_image_close(&image);
	process_release(&p);
}

static void find_the_executable(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	process_start(&p);
	/* Beside the core when the path leads nowhere, also when it is marked as deleted. */
	core_build(&p, "/nowhere/bin/program (deleted)");
	process_write(&p);
	must_open(&image, p.core_path, NULL);
	assert_string_equal(image.main->path, "/nowhere/bin/program");
	assert_string_equal(image.main->found, p.exe_path);
	snap_image_close(&image);
	/* Under another name only when the user gives it. */
	core_build(&p, "/nowhere/bin/other");
	refuse_as(&p, NULL, "/nowhere/bin/other, is not here");
	must_open(&image, p.core_path, p.exe_path);
	assert_int_equal(image.main->bias, CORE_BIAS);
	snap_image_close(&image);
	/* One that is not listed at all is placed by its entry. */
	core_build(&p, NULL);
	put_u32(&p.core, NOTE_FILES + 8, 0);
	refuse_as(&p, NULL, "does not name the executable");
	must_open(&image, p.core_path, p.exe_path);
	assert_int_equal(image.main->bias, CORE_BIAS);
	assert_int_equal(snap_image_piece(&image, CORE_BIAS + EXE_TEXT)->file, 0);
	snap_image_close(&image);
	process_release(&p);
}

static void wrong_executables(void **state)
{
	(void)state;
	struct process p;
	process_start(&p);
	core_build(&p, NULL);
	p.exe.size = 0;
	exe_start(&p.exe, 0xcd);
	refuse(&p, "its build-id is cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd, in the core it is "
		   "abababababababababababababababababababab");
	core_build(&p, NULL);
	memset(p.core.data + core_page(LOAD_FIRST) + EXE_NOTE + 16, 0xab, 20);
	refuse_as(&p, p.exe_path, "in the core it is abababababababababababababababababababab");

	p.exe.size = 0;
	core_build(&p, NULL);
	exe_start(&p.exe, 0xab);
	put_u16(&p.exe, offsetof(Elf64_Ehdr, e_machine), EM_AARCH64);
	refuse(&p, "it is for arm64, the core is of x86-64");
	exe_start(&p.exe, 0xab);
	put_u16(&p.exe, offsetof(Elf64_Ehdr, e_machine), EM_RISCV);
	refuse(&p, "is for RISC-V; x86-64 and arm64 can be read");
	exe_start(&p.exe, 0xab);
	put_u16(&p.exe, offsetof(Elf64_Ehdr, e_machine), 4711);
	refuse(&p, "is for machine 4711; x86-64 and arm64 can be read");
	exe_start(&p.exe, 0xab);
	put_u16(&p.exe, offsetof(Elf64_Ehdr, e_type), ET_REL);
	refuse(&p, "neither an executable");
	exe_start(&p.exe, 0xab);
	put_u16(&p.exe, offsetof(Elf64_Ehdr, e_phnum), 300);
	refuse(&p, "300 program headers");
	p.exe.size = 100;
	refuse(&p, "run past the end");
	put(&p.exe, 0, "#!/bin/sh\n", 10);
	refuse(&p, "is not an ELF file");
	process_release(&p);
}

/* Symbols that were split off come back when the file with them is beside the program. */
static void debug_file(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	struct snap_symbol symbol;
	char path[64];
	process_start(&p);
	core_build(&p, NULL);
	snprintf(path, sizeof(path), "%s/program.debug", p.folder);
	write_file(path, &p.exe, p.exe.size);
	put_u32(&p.exe, EXE_SECTIONS + 3 * sizeof(Elf64_Shdr) + 4, SHT_NULL);
	process_write(&p);
	must_open(&image, p.core_path, NULL);
	assert_true(snap_image_main_symbol(&image, "straddler", &symbol));
	assert_int_equal(symbol.address, CORE_BIAS + EXE_BSS - 8);
	snap_image_close(&image);
	/* That of another build does not do. */
	struct bytes other = {0};
	exe_start(&other, 0xcd);
	write_file(path, &other, other.size);
	process_write(&p);
	must_open(&image, p.core_path, NULL);
	assert_false(snap_image_main_symbol(&image, "straddler", &symbol));
	snap_image_close(&image);
	unlink(path);
	free(other.data);
	process_release(&p);
}

static void not_cores(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	struct hg_error error;
	process_start(&p);
	core_build(&p, NULL);
	process_write(&p);
	assert_int_equal(open_core(&image, p.exe_path, NULL, NULL, &error), HG_ERROR_INPUT);
	assert_non_null(strstr(error.message, "not a core file"));
	assert_int_equal(open_core(&image, "/tmp", NULL, NULL, &error), HG_ERROR_INPUT);
	put(&p.core, EI_CLASS, "\1", 1);
	refuse(&p, "for 32 bits");
	put(&p.core, EI_DATA, "\2", 1);
	refuse(&p, "big-endian");
	put_u16(&p.core, offsetof(Elf64_Ehdr, e_machine), EM_386);
	refuse(&p, "is for i386; x86-64 and arm64 can be read");
	put_u16(&p.core, offsetof(Elf64_Ehdr, e_type), ET_REL);
	refuse(&p, "object file");
	put_u16(&p.core, offsetof(Elf64_Ehdr, e_type), 0xff00);
	refuse(&p, "another type");
	put(&p.core, 0, "MZ", 2);
	refuse(&p, "not an ELF file");
	process_release(&p);
}

/* A field of a program header, by its offset in it. */
static void lie(struct process *p, unsigned index, size_t field, uint64_t value)
{
	put_u64(&p->core, sizeof(Elf64_Ehdr) + index * sizeof(Elf64_Phdr) + field, value);
}

static void lying_headers(void **state)
{
	(void)state;
	enum {
		OFFSET = offsetof(Elf64_Phdr, p_offset),
		ADDRESS = offsetof(Elf64_Phdr, p_vaddr),
		HELD = offsetof(Elf64_Phdr, p_filesz),
		MEMORY = offsetof(Elf64_Phdr, p_memsz)
	};
	struct process p;
	process_start(&p);
	core_build(&p, NULL);
	put_u16(&p.core, offsetof(Elf64_Ehdr, e_phnum), 0xfffe);
	refuse(&p, "65534 program headers");
	put_u16(&p.core, offsetof(Elf64_Ehdr, e_phnum), PN_XNUM);
	refuse(&p, "no section header");
	put_u64(&p.core, offsetof(Elf64_Ehdr, e_phoff), UINT64_MAX - 8);
	refuse(&p, "past the end");
	put_u16(&p.core, offsetof(Elf64_Ehdr, e_phentsize), 32);
	refuse(&p, "of 32 bytes");
	put_u16(&p.core, offsetof(Elf64_Ehdr, e_phnum), 0);
	refuse(&p, "no threads");
	for (unsigned i = LOAD_STACK; i <= LOAD_TLS; i++)
		put_phdr(&p.core, i,
			(Elf64_Phdr){.p_type = PT_NOTE,
				.p_offset = CORE_SEGMENTS + CORE_PAGE,
				.p_filesz = 5 * CORE_PAGE});
	refuse(&p, "segments of notes overlap");
	lie(&p, LOAD_STACK, ADDRESS, CORE_TLS);
	refuse(&p, "segments overlap");
	lie(&p, LOAD_STACK, MEMORY, UINT64_MAX);
	refuse(&p, "wraps around");
	lie(&p, LOAD_STACK, MEMORY, 8);
	refuse(&p, "more bytes in the file than in memory");
	lie(&p, LOAD_STACK, OFFSET, UINT64_MAX - 1);
	refuse(&p, "beyond any file");
	lie(&p, LOAD_STACK, OFFSET, CORE_SIZE - 8);
	refuse(&p, "cut short");
	lie(&p, 0, OFFSET, CORE_SIZE - 8);
	refuse(&p, "cut short");
	process_release(&p);
}

static void lying_notes(void **state)
{
	(void)state;
	struct process p;
	process_start(&p);
	core_build(&p, NULL);
	put_u32(&p.core, NOTE_FILES + 4, UINT32_MAX);
	refuse(&p, "runs over");
	put_u32(&p.core, NOTE_STATUS, UINT32_MAX);
	refuse(&p, "runs over");
	put_u32(&p.core, NOTE_STATUS + 4, 332);
	refuse(&p, "note on a thread has 332 bytes");
	put_u32(&p.core, NOTE_PROCESS + 4, 100);
	refuse(&p, "note on the process has 100 bytes");
	put_u64(&p.core, NOTE_LIST, 3);
	refuse(&p, "impossible");
	put_u64(&p.core, NOTE_LIST, UINT64_MAX / 24);
	refuse(&p, "runs over its note");
	put_u64(&p.core, NOTE_LIST + 8, UINT64_MAX);
	refuse(&p, "impossible");
	put_u64(&p.core, NOTE_LIST + 16 + 8, CORE_BIAS);
	refuse(&p, "impossible");
	put_u64(&p.core, NOTE_LIST + 16 + 8, CORE_BIAS + EXE_BSS);
	refuse(&p, "overlap");
	memset(p.core.data + NOTE_LIST + 16 + 48, 'x', 2 * (strlen(p.exe_path) + 1));
	refuse(&p, "fewer paths");
	process_release(&p);
}

/* What opens must also be readable; whatever it is, it must not crash. */
static void poke(const char *core, bool partial)
{
	struct snap_image image;
	struct snap_symbol symbol;
	struct hg_error error;
	uint64_t value;
	struct snap_image_options options = {.core = core, .partial = partial};
	enum hg_status status = snap_image_open(&image, &options, &error);
	if (status != HG_OK) {
		assert_int_equal(status, HG_ERROR_INPUT);
		return;
	}
	for (uint64_t i = 0; i < image.piece_count; i++) {
		const struct snap_piece *piece = &image.pieces[i];
		uint8_t last;
		assert_true(i == 0 || piece->address >= image.pieces[i - 1].end);
		assert_true(snap_image_read(&image, piece->end - 1, &last, 1));
	}
	snap_image_symbol(&image, "twice", &symbol);
	snap_image_symbol_at(&image, CORE_BIAS + EXE_TEXT + 0x48, &symbol, &value);
	if (snap_image_main_symbol(&image, "own_state", &symbol))
		snap_thread_variable(&image, image.threads, &symbol, &value);
	snap_image_close(&image);
}

static void every_truncation(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	struct hg_error error;
	process_start(&p);
	core_build(&p, NULL);
	process_write(&p);
	for (size_t size = 0; size < p.core.size; size += size < CORE_SEGMENTS ? 7 : 509) {
		write_file(p.core_path, &p.core, size);
		assert_int_equal(
			open_core(&image, p.core_path, NULL, NULL, &error), HG_ERROR_INPUT);
		poke(p.core_path, true);
	}
	write_file(p.core_path, &p.core, core_page(LOAD_TLS) + 8);
	struct snap_image_options options = {.core = p.core_path, .partial = true};
	assert_int_equal(snap_image_open(&image, &options, &error), HG_OK);
	assert_int_equal(image.cut_offset, core_page(LOAD_TLS) + 8);
	uint64_t value;
	assert_true(snap_image_u64(&image, CORE_STACK, &value));
	assert_true(snap_image_u64(&image, CORE_TLS - 0x800, &value));
	assert_false(snap_image_u64(&image, CORE_TLS, &value));
	snap_image_close(&image);
	for (size_t size = 0; size < p.exe.size; size += 61) {
		write_file(p.core_path, &p.core, p.core.size);
		write_file(p.exe_path, &p.exe, size);
		poke(p.core_path, false);
	}
	process_release(&p);
}

static void flipped_bits(void **state)
{
	(void)state;
	static const uint8_t masks[] = {0x01, 0x80, 0xff};
	struct process p;
	process_start(&p);
	core_build(&p, NULL);
	process_write(&p);
	for (size_t i = 0; i < CORE_NOTES + 0x400; i++) {
		p.core.data[i] ^= masks[i % sizeof(masks)];
		write_file(p.core_path, &p.core, p.core.size);
		poke(p.core_path, false);
		p.core.data[i] ^= masks[i % sizeof(masks)];
	}
	write_file(p.core_path, &p.core, p.core.size);
	for (size_t i = 0; i < p.exe.size; i += i < EXE_NOTE || i >= EXE_SECTIONS ? 1 : 13) {
		p.exe.data[i] ^= masks[i % sizeof(masks)];
		write_file(p.exe_path, &p.exe, p.exe.size);
		poke(p.core_path, false);
		p.exe.data[i] ^= masks[i % sizeof(masks)];
	}
	process_release(&p);
}

/* Cores of real programs */

struct real {
	const char *core, *executable; /* below CORES; the executable without .zst */
	unsigned major, threads;
};

static const struct real real_cores[] = {
	{"413-busy/big.minor.core", "413-busy/big", 4, 1},
	{"413-busy/big.sweep.core", "413-busy/big", 4, 1},
	{"413-cache/core", "413-cache/cache", 4, 5},
	{"413-dyn/core", "413-dyn/maind", 4, 1},
	{"413-gt/gt1.darken-roots.core", "413-gt/gt1", 4, 1},
	{"413-gt/gt1.mark.core", "413-gt/gt1", 4, 1},
	{"413-gt/gt1.minor-1bad.core", "413-gt/gt1", 4, 1},
	{"413-gt/gt1.minor.core", "413-gt/gt1", 4, 1},
	{"413-gt/gt1.ocaml.core", "413-gt/gt1", 4, 1},
	{"413-gt/gt1.sweep.core", "413-gt/gt1", 4, 1},
	{"413-gt/gth.noalloc-a.core", "413-gt/gth", 4, 1},
	{"413-gt/gth.noalloc-b.core", "413-gt/gth", 4, 1},
	{"413-gt/gtt.ocaml.core", "413-gt/gtt", 4, 5},
	{"413-mprof/core", "413-mprof/mprof", 4, 1},
	{"413-mprof/core.fork", "413-mprof/mprof", 4, 1},
	{"413-mprof/core.gcore", "413-mprof/mprof", 4, 1},
	{"53-busy/big.minor.core", "53-busy/big", 5, 1},
	{"53-cache/core", "53-cache/cache", 5, 5},
	{"53-fib/core", "53-fib/fib", 5, 8},
	{"53-gt/gt1.midalloc.core", "53-gt/gt1", 5, 1},
	{"53-gt/gt1.minor-1bad.core", "53-gt/gt1", 5, 1},
	{"53-gt/gt1.minor.core", "53-gt/gt1", 5, 1},
	{"53-gt/gt1.ocaml.core", "53-gt/gt1", 5, 1},
	{"53-gt/gtd.ocaml.core", "53-gt/gtd", 5, 8},
	{"53-gt/gtd.runtime.core", "53-gt/gtd", 5, 8},
	{"53-gt/gth.noalloc-a.core", "53-gt/gth", 5, 1},
	{"53-gt/gth.noalloc-b.core", "53-gt/gth", 5, 1},
	{"53-gt/gtt.minor.core", "53-gt/gtt", 5, 5},
	{"53-mprof/core", "53-mprof/mprof", 5, 1},
	{"53-mprof/core.fork", "53-mprof/mprof", 5, 1},
	{"53-mprof/core.gcore", "53-mprof/mprof", 5, 1},
};

static void real_path(char path[256], const char *name)
{
	snprintf(path, 256, "%s/%s.zst", CORES, name);
}

static const char *const both_versions[] = {"caml_gc_phase", "caml_globals", "caml_globals_inited",
	"caml_data_segments", "caml_code_segments", "caml_frametable", "caml_global_roots",
	"caml_global_roots_young", "caml_global_roots_old", "caml_ephe_none",
	"caml_sys_const_max_wosize", "camlStdlib__Sys"};
static const char *const only_4[] = {"Caml_state", "caml_heap_start", "caml_gc_sweep_hp",
	"caml_frame_descriptors", "caml_frame_descriptors_mask", "caml_ephe_list_head",
	"caml_atom_table", "caml_memprof_main_ctx"};
static const char *const only_5[] = {
	"caml_state", "caml_global_heap_state", "caml_minor_heaps_start", "caml_minor_heaps_end"};
/* Static ones, which strip takes away. */
static const char *const static_4[] = {"caml_page_table", "caml_dyn_globals", "named_value_table",
	"finalisable_first", "finalisable_last", "to_do_hd", "entries_global", "frametables",
	"code_fragments_by_pc"};
static const char *const static_5[] = {"caml_dyn_globals", "named_value_table",
	"current_frame_descrs", "all_domains", "stw_domains", "pool_freelist", "orph_structs",
	"atoms", "wsize_sizeclass", "wastage_sizeclass", "code_fragments_by_pc", "orphans"};

static void check_names(
	struct snap_image *image, const char *const *names, size_t count, bool there)
{
	struct snap_symbol symbol;
	for (size_t i = 0; i < count; i++)
		if (snap_image_main_symbol(image, names[i], &symbol) != there)
			fail_msg("%s of %s", names[i], image->main->found);
}

static void check_symbols(struct snap_image *image, unsigned major, bool stripped)
{
	check_names(image, both_versions, LENGTH(both_versions), true);
	check_names(image, only_4, LENGTH(only_4), major == 4);
	check_names(image, only_5, LENGTH(only_5), major == 5);
	if (major == 4)
		check_names(image, static_4, LENGTH(static_4), !stripped);
	else
		check_names(image, static_5, LENGTH(static_5), !stripped);
}

/* A thread of OCaml has the state of its domain: young_start is a mapped address. */
static unsigned threads_with_domain(struct snap_image *image, unsigned major)
{
	struct snap_symbol symbol;
	unsigned count = 0;
	assert_true(snap_image_symbol(image, major == 4 ? "Caml_state" : "caml_state", &symbol));
	for (uint64_t i = 0; i < image->thread_count; i++) {
		uint64_t place = symbol.address, domain, young;
		if (major == 5)
			assert_true(
				snap_thread_variable(image, &image->threads[i], &symbol, &place));
		assert_true(snap_image_u64(image, place, &domain));
		if (domain == 0)
			continue;
		assert_true(snap_image_u64(image, domain + (major == 4 ? 32 : 16), &young));
		assert_non_null(snap_image_load(image, young));
		count++;
	}
	return count;
}

static void real_processes(void **state)
{
	(void)state;
	need_real_cores();
	for (size_t i = 0; i < LENGTH(real_cores); i++) {
		const struct real *real = &real_cores[i];
		struct snap_image image;
		char core[256], executable[256];
		real_path(core, real->core);
		real_path(executable, real->executable);
		must_open(&image, core, NULL);
		assert_string_equal(image.main->found, executable);
		assert_int_equal(image.thread_count, real->threads);
		/* Cores that our first capture wrote lack the pages that were only read. */
		bool compared = !strstr(real->core, "core.fork");
		for (uint32_t f = 0; f < image.file_count; f++) {
			assert_int_equal(image.files[f].build_id.size,
				compared || image.files[f].path[0] == '[' ? 20 : 0);
			assert_true(image.files[f].found ||
				    strstr(image.files[f].path, "libdl") != NULL);
		}
		check_symbols(&image, real->major, false);
		/* The only thread of these is blocked, and 5.x has no state of that then. */
		bool blocked = strstr(real->core, "53-mprof") != NULL;
		assert_int_equal(threads_with_domain(&image, real->major) > 0, !blocked);
		uint64_t entry;
		assert_true(snap_image_auxv(&image, AT_ENTRY, &entry));
		assert_int_equal(entry, image.main->elf.view.header.e_entry + image.main->bias);
		snap_image_close(&image);
	}
}

static void stripped_executables(void **state)
{
	(void)state;
	need_real_cores();
	static const struct real stripped[] = {
		{"413-cache/core", "413-cache/cache.stripped", 4, 5},
		{"53-cache/core", "53-cache/cache.stripped", 5, 5},
		{"53-fib/core", "53-fib/fib.stripped", 5, 8},
	};
	for (size_t i = 0; i < LENGTH(stripped); i++) {
		struct snap_image image;
		char core[256], executable[256];
		real_path(core, stripped[i].core);
		real_path(executable, stripped[i].executable);
		must_open(&image, core, executable);
		check_symbols(&image, stripped[i].major, true);
		assert_true(threads_with_domain(&image, stripped[i].major) > 0);
		snap_image_close(&image);
	}
}

static void executable_of_another_build(void **state)
{
	(void)state;
	need_real_cores();
	struct snap_image image;
	struct hg_error error;
	assert_int_equal(open_core(&image, CORES "/413-cache/core.zst", CORES "/53-cache/cache.zst",
				 NULL, &error),
		HG_ERROR_INPUT);
	assert_string_equal(error.file, CORES "/53-cache/cache.zst");
	assert_non_null(strstr(error.message, "b142b7be14d158777a490afc0c83b81faa99d7db"));
	assert_non_null(strstr(error.message, "841d5df7ac84dc215b215dd9a22b4fa33d7f22a3"));
}

/* pool_freelist, 632 bytes, begins on the last page of .data and ends on .bss. */
static void pool_freelist_on_two_segments(void **state)
{
	(void)state;
	need_real_cores();
	struct snap_image image;
	struct snap_symbol symbol;
	uint8_t bytes[632];
	must_open(&image, CORES "/53-gt/gth.noalloc-a.core.zst", NULL);
	assert_true(snap_image_main_symbol(&image, "pool_freelist", &symbol));
	assert_int_equal(symbol.size, sizeof(bytes));
	const struct snap_load *load = snap_image_load(&image, symbol.address);
	assert_non_null(load);
	assert_true(symbol.address + symbol.size > load->end);
	assert_true(snap_image_read(&image, symbol.address, bytes, sizeof(bytes)));
	snap_image_close(&image);
}

/* Nothing says that the headers of sections lie at multiples of 8: UBSan looks at this one. */
static void file_at_an_odd_address(void **state)
{
	(void)state;
	struct bytes exe = {0};
	struct snap_elf elf;
	struct snap_elf_symbol symbol;
	struct hg_error error;
	exe_start(&exe, 0xab);
	uint8_t *memory = malloc(exe.size + 1);
	assert_non_null(memory);
	memcpy(memory + 1, exe.data, exe.size);
	base_error_clear(&error);
	assert_int_equal(snap_elf_over(&elf, memory + 1, exe.size, &error), HG_OK);
	assert_true(snap_elf_find_symbol(&elf, "caml_start", &symbol));
	assert_int_equal(symbol.value, EXE_TEXT);
	/* A label ends with its section, whose header tells where that is. */
	assert_true(snap_elf_symbol_at(&elf, EXE_TEXT + 0x90, &symbol));
	assert_string_equal(symbol.name, "caml_tail");
	snap_elf_close(&elf);
	free(memory);
	free(exe.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(file_at_an_odd_address),
		cmocka_unit_test(whole_process),
		cmocka_unit_test(files_that_are_not_opened),
		cmocka_unit_test(bytes_of_core_and_file),
		cmocka_unit_test(object_on_two_segments),
		cmocka_unit_test(holes),
		cmocka_unit_test(symbols),
		cmocka_unit_test(find_the_executable),
		cmocka_unit_test(wrong_executables),
		cmocka_unit_test(debug_file),
		cmocka_unit_test(not_cores),
		cmocka_unit_test(lying_headers),
		cmocka_unit_test(lying_notes),
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(flipped_bits),
		cmocka_unit_test(real_processes),
		cmocka_unit_test(stripped_executables),
		cmocka_unit_test(executable_of_another_build),
		cmocka_unit_test(pool_freelist_on_two_segments),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
