/*
 * The writer of core files: what it writes of this very process is compared with the process, and
 * read back by our reader.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "snapshot/arch/arch.h"
#include "snapshot/arch/native.h"
#include "snapshot/image/capture_note.h"
#include "snapshot/image/core_note.h"
#include "snapshot/image/image.h"
#include "snapshot/capture/core_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 300 };

static char folder[] = "/tmp/test_core_writer.XXXXXX";
static char path[sizeof(folder) + 32];
static uint64_t in_data = 0x1122334455667788;
static const uint64_t in_rodata = 0x99aabbccddeeff00;

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/core", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static unsigned files_in_folder(void)
{
	char command[sizeof(folder) + 32];
	unsigned count = 0;
	snprintf(command, sizeof(command), "ls -A %s | wc -l", folder);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%u", &count), 1);
	pclose(pipe);
	return count;
}

/* The frame of the function that the registers are of must stay. */
static struct snap_core_thread thread_at(const ucontext_t *context)
{
	struct snap_core_thread thread = {.id = (uint32_t)getpid()};
	snap_native_from_context(thread.registers, context);
	return thread;
}

/* What a child does: exit status 0, or the errno. */
static int write_core(
	const struct snap_core_thread *threads, size_t count, pid_t origin, bool replace)
{
	struct snap_core core;
	struct snap_core_process process = {
		.id = getpid(), .origin = origin, .threads = threads, .thread_count = count};
	struct snap_core_facts facts = {.time = 1234567890123456789,
		.index = 7,
		.trigger = "a name\nof 100%",
		.method = "in-process",
		.consistency = "clean"};
	int status = snap_core_open(&core, path, replace);
	if (status == 0)
		status = snap_core_write_memory(&core, &process);
	if (status == 0)
		status = snap_core_finish(&core, &facts);
	if (status == 0)
		status = snap_core_commit(&core);
	if (status)
		snap_core_abandon(&core);
	return status;
}

/* Writes the core from a forked child, as a program does; threads beyond the first are made up. */
static int fork_and_write(size_t count, bool replace)
{
	ucontext_t context;
	getcontext(&context);
	struct snap_core_thread threads[3] = {
		thread_at(&context), {.id = 1000001}, {.id = 1000002}};
	pid_t origin = getpid(), child = fork();
	int status = -1;
	if (child == 0)
		_exit(write_core(threads, count, origin, replace));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void open_image(struct snap_image *image)
{
	struct hg_error error = {0};
	struct snap_image_options options = {.core = path};
	if (snap_image_open(image, &options, &error) != HG_OK)
		fail_msg("%s: %s", error.file, error.message);
}

static uint64_t word_of(const struct snap_image *image, const void *address)
{
	uint64_t value = 0;
	assert_true(snap_image_u64(image, (uint64_t)(uintptr_t)address, &value));
	return value;
}

/* Memory with and without pages, of zeros, unreadable, shared. */
struct memory {
	uint64_t *sparse, *forbidden, *shared, *huge;
};

static void *map(size_t pages, int protection, int flags)
{
	void *memory = mmap(NULL, pages * PAGE, protection, flags | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	return memory;
}

static struct memory make_memory(void)
{
	enum { WORDS = PAGE / 8 };
	struct memory m = {map(PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE),
		map(PAGES, PROT_NONE, MAP_PRIVATE), map(PAGES, PROT_READ | PROT_WRITE, MAP_SHARED),
		map((size_t)1 << 28, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE)};
	for (uint64_t page = 0; page < PAGES; page += 3)
		m.sparse[page * WORDS] = page + 1;
	m.sparse[WORDS] = 0; /* present, but zero */
	m.shared[5 * WORDS] = 55;
	m.huge[0] = 1;
	m.huge[((uint64_t)1 << 27) * WORDS] = 2;
	return m;
}

static void drop_memory(const struct memory *m)
{
	munmap(m->sparse, PAGES * PAGE);
	munmap(m->forbidden, PAGES * PAGE);
	munmap(m->shared, PAGES * PAGE);
	munmap(m->huge, ((size_t)1 << 28) * PAGE);
}

static void test_memory(void **state)
{
	enum { WORDS = PAGE / 8 };
	struct memory m = make_memory();
	struct snap_image image;
	uint64_t unused;
	(void)state;
	in_data ^= 1;
	assert_int_equal(fork_and_write(1, true), 0);
	open_image(&image);
	for (uint64_t page = 0; page < PAGES - 3; page++)
		assert_int_equal(
			word_of(&image, m.sparse + page * WORDS), page % 3 == 0 ? page + 1 : 0);
	assert_int_equal(word_of(&image, m.shared + 5 * WORDS), 55);
	assert_int_equal(word_of(&image, m.huge), 1);
	assert_int_equal(word_of(&image, m.huge + ((uint64_t)1 << 27) * WORDS), 2);
	assert_int_equal(word_of(&image, &in_data), in_data);
	assert_int_equal(word_of(&image, &in_rodata), in_rodata);
	/* Mapped, but without bytes. */
	assert_false(snap_image_u64(&image, (uint64_t)(uintptr_t)m.forbidden, &unused));
	assert_non_null(snap_image_load(&image, (uint64_t)(uintptr_t)m.forbidden));
	snap_image_close(&image);
	drop_memory(&m);
}

/* A number of our own note; 0 if it is not there. */
static unsigned long long noted_number(const char *key)
{
	struct snap_image image;
	struct snap_note note;
	open_image(&image);
	assert_true(snap_image_note(&image, SNAP_CORE_OWNER, SNAP_CORE_NOTE, &note));
	const char *line = memmem(note.desc, note.desc_size, key, strlen(key));
	unsigned long long number = line ? strtoull(line + strlen(key), NULL, 10) : 0;
	snap_image_close(&image);
	return number;
}

/* A private mapping of a file without a name, of which 'left' pages are left. */
static uint64_t *map_file(size_t pages, size_t left)
{
	FILE *file = tmpfile();
	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), (off_t)(pages * PAGE)), 0);
	void *memory =
		mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
	assert_true(memory != MAP_FAILED);
	assert_int_equal(ftruncate(fileno(file), (off_t)(left * PAGE)), 0);
	fclose(file);
	return memory;
}

/* MADV_GUARD_INSTALL; whether there is one now, and the kernel says so in the pagemap. */
static bool guard_page(void *page)
{
	enum { INSTALL = 102 };
	uint64_t entry = 0;
	if (madvise(page, PAGE, INSTALL) != 0)
		return false;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	ssize_t got = pread(fd, &entry, sizeof(entry), (off_t)((uintptr_t)page / PAGE * 8));
	close(fd);
	return got == sizeof(entry) && entry >> 58 & 1;
}

/* Pages that nobody can read are not missing; of a file that was cut since, they are. */
static void test_guarded_pages(void **state)
{
	enum { WORDS = PAGE / 8 };
	uint64_t *memory[] = {map(4, PROT_READ | PROT_WRITE, MAP_PRIVATE), map_file(4, 4),
		map(4, PROT_READ | PROT_WRITE, MAP_SHARED)};
	struct snap_image image;
	bool guarded = true;
	(void)state;
	for (int i = 0; i < 3; i++) {
		for (uint64_t page = 0; page < 3; page++)
			memory[i][page * WORDS] = page + 1;
		guarded &= guard_page(memory[i] + WORDS);
	}
	if (!guarded)
		skip();
	assert_int_equal(fork_and_write(1, true), 0);
	assert_int_equal(noted_number("\nunreadable_bytes="), 0);
	open_image(&image);
	for (int i = 0; i < 3; i++)
		for (uint64_t page = 0; page < 3; page++)
			assert_int_equal(word_of(&image, memory[i] + page * WORDS),
				page == 1 ? 0 : page + 1);
	snap_image_close(&image);
	uint64_t *cut = map_file(1, 0);
	assert_int_equal(fork_and_write(1, true), 0);
	assert_int_equal(noted_number("\nunreadable_bytes="), PAGE);
	munmap(cut, PAGE);
	for (int i = 0; i < 3; i++)
		munmap(memory[i], (size_t)4 * PAGE);
}

/* Of what the program cannot read, though there are pages, and of files mapped shared. */
static void test_no_bytes(void **state)
{
	char name[] = "/tmp/test_core_writer_XXXXXX";
	int fd = mkstemp(name);
	uint64_t *hidden = map(2, PROT_READ | PROT_WRITE, MAP_PRIVATE), unused;
	struct snap_image image;
	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	uint64_t *of_file = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(of_file != MAP_FAILED);
	*of_file = *hidden = 1;
	assert_int_equal(mprotect(hidden, (size_t)2 * PAGE, PROT_NONE), 0);
	assert_int_equal(fork_and_write(1, true), 0);
	assert_int_equal(noted_number("\nunreadable_bytes="), 0);
	open_image(&image);
	assert_false(snap_image_u64(&image, (uint64_t)(uintptr_t)hidden, &unused));
	assert_false(snap_image_u64(&image, (uint64_t)(uintptr_t)of_file, &unused));
	assert_non_null(snap_image_load(&image, (uint64_t)(uintptr_t)of_file));
	snap_image_close(&image);
	munmap(hidden, (size_t)2 * PAGE);
	munmap(of_file, PAGE);
	close(fd);
	unlink(name);
}

/* A terabyte of address space with two pages in it must not make a file of a terabyte. */
static void test_size(void **state)
{
	struct memory m = make_memory();
	struct stat about;
	(void)state;
	assert_int_equal(fork_and_write(1, true), 0);
	assert_int_equal(stat(path, &about), 0);
	assert_true(about.st_size < (off_t)1 << 30);
	assert_true(about.st_blocks * 512 < (off_t)64 << 20);
	assert_int_equal(about.st_mode & 0777, 0600);
	drop_memory(&m);
}

static void test_notes(void **state)
{
	struct snap_image image;
	struct snap_note note;
	uint64_t entry;
	(void)state;
	assert_int_equal(fork_and_write(3, true), 0);
	open_image(&image);
	assert_int_equal(image.pid, getpid());
	assert_string_equal(image.program, "test_core_writer");
	assert_int_equal(image.thread_count, 3);
	assert_int_equal(image.threads[0].id, getpid());
	assert_int_equal(image.threads[2].id, 1000002);
	assert_true(snap_image_auxv(&image, AT_ENTRY, &entry));
	assert_int_equal(entry, image.main->elf.view.header.e_entry + image.main->bias);
	assert_true(snap_image_note(&image, SNAP_CORE_OWNER, SNAP_CORE_NOTE, &note));
	char text[4096];
	assert_true(note.desc_size < sizeof(text));
	memcpy(text, note.desc, note.desc_size);
	text[note.desc_size] = '\0';
	static const char *const lines[] = {"version=1\n", "\nindex=7\n",
		"\ntime_ns=1234567890123456789\n", "\ntrigger=a name%0aof 100%25\n",
		"\nmethod=in-process\n", "\nconsistency=clean\n", "/test_core_writer\n"};
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_non_null(strstr(text, lines[i]));
	snap_image_close(&image);
}

/* The copy of the executable has its bytes at its offsets, but no debug information. */
static void test_copy(void **state)
{
	struct snap_image image;
	struct snap_note note;
	struct snap_elf copy;
	struct snap_elf_symbol symbol;
	unsigned long long offset = 0, size = 0;
	(void)state;
	assert_int_equal(fork_and_write(1, true), 0);
	open_image(&image);
	assert_true(snap_image_note(&image, SNAP_CORE_OWNER, SNAP_CORE_NOTE, &note));
	const char *line = memmem(note.desc, note.desc_size, "\nfile=", 6);
	assert_non_null(line);
	assert_int_equal(sscanf(line, "\nfile=%llu %llu", &offset, &size), 2);
	assert_true(offset + size <= image.core.size);
	assert_int_equal(snap_elf_over(&copy, image.core.bytes + offset, size, NULL), HG_OK);
	assert_true(snap_build_id_equal(&copy.build_id, &image.main->build_id));
	assert_true(snap_elf_find_symbol(&copy, "in_rodata", &symbol));
	Elf64_Phdr segment;
	assert_true(snap_elf_segment_at(&copy.view, symbol.value, &segment));
	uint64_t value;
	memcpy(&value, copy.view.bytes + segment.p_offset + (symbol.value - segment.p_vaddr), 8);
	assert_int_equal(value, in_rodata);
	assert_non_null(snap_elf_cfi(&copy, 0));
	assert_null(snap_elf_cfi(&copy, 1));
	snap_elf_close(&copy);
	snap_image_close(&image);
}

/* What is read of the core of a program that is not there any more. */
static void test_deleted_program(void **state)
{
	char program[sizeof(folder) + 32], own[PATH_MAX], command[2 * PATH_MAX];
	struct snap_image image;
	struct snap_symbol symbol;
	struct snap_frame frame, caller;
	uint64_t value = 0, offset;
	(void)state;
	snprintf(program, sizeof(program), "%s/program", folder);
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own));
	assert_true(length > 0);
	snprintf(command, sizeof(command), "cp '%.*s' %s && %s --write %s", (int)length, own,
		program, program, path);
	assert_int_equal(system(command), 0);
	unlink(program);
	open_image(&image);
	assert_string_equal(image.program, "program");
	assert_string_equal(image.main->found, path);
	assert_true(image.capture->is_ours);
	assert_int_equal(image.capture->index, 7);
	assert_string_equal(image.capture->trigger, "a name\nof 100%");
	assert_true(snap_image_main_symbol(&image, "in_rodata", &symbol));
	assert_true(snap_image_u64(&image, symbol.address, &value));
	assert_int_equal(value, in_rodata);
	assert_true(snap_image_main_symbol(&image, "in_data", &symbol));
	assert_true(snap_image_u64(&image, symbol.address, &value));
	assert_int_equal(value, 4711);
	/* Through libc, whose tables are in the core too, to where the program began. */
	enum snap_unwinding result = SNAP_CALLER;
	snap_frame_of_thread(&image, &image.threads[0], &caller);
	for (int i = 0; i < 20 && result == SNAP_CALLER; i++) {
		frame = caller;
		result = snap_frame_caller(&image, &frame, &caller);
	}
	assert_int_equal(result, SNAP_OUTERMOST);
	assert_true(snap_image_symbol_at(&image, snap_frame_pc(&frame), &symbol, &offset));
	assert_string_equal(symbol.name, "_start");
	for (uint32_t i = 0; i < image.file_count; i++)
		if (strcmp(image.files[i].path, "[vdso]") != 0)
			assert_string_equal(image.files[i].found, path);
	snap_image_close(&image);
}

/* Where the notes hold text, and what follows it there: memory may hold the same, left over. */
static off_t find_in_notes(const char *text, char *rest, size_t rest_size)
{
	struct snap_image image;
	const uint8_t *found = NULL;
	open_image(&image);
	for (uint64_t i = 0; i < image.view.phdr_count && !found; i++) {
		Elf64_Phdr phdr = snap_elf_phdr(&image.view, i);
		if (phdr.p_type == PT_NOTE)
			found = memmem(image.core.bytes + phdr.p_offset, phdr.p_filesz, text,
				strlen(text));
	}
	assert_non_null(found);
	off_t offset = found - image.core.bytes;
	snprintf(rest, rest_size, "%s", (const char *)found + strlen(text));
	snap_image_close(&image);
	return offset;
}

static void overwrite_at(off_t offset, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, text, strlen(text), offset), strlen(text));
	close(fd);
}

static void overwrite(const char *old, const char *new)
{
	char rest[8];
	overwrite_at(find_in_notes(old, rest, sizeof(rest)), new);
}

/* The first file is said to begin beyond any core, in a line as long as it was. */
static void move_first_file(void)
{
	char line[512], text[512];
	off_t offset = find_in_notes("\nfile=", line, sizeof(line));
	size_t size = strcspn(line, " ");
	for (int field = 1; field < 3; field++)
		size += 1 + strcspn(line + size + 1, " ");
	size_t digits = 14 + (size - 3) % 2;
	assert_true(size > digits + 3 && size < sizeof(text) - 16);
	snprintf(text, sizeof(text), "\nfile=%.*s 1 ", (int)digits, "999999999999999");
	memset(text + strlen(text), 'a', size - digits - 3);
	text[6 + size] = '\0';
	overwrite_at(offset, text);
}

static void refused(const char *old, const char *new, const char *why)
{
	struct snap_image image;
	struct hg_error error = {0};
	struct snap_image_options options = {.core = path};
	assert_int_equal(fork_and_write(1, true), 0);
	if (new)
		overwrite(old, new);
	else
		move_first_file();
	assert_int_equal(snap_image_open(&image, &options, &error), HG_ERROR_INPUT);
	if (!strstr(error.message, why))
		fail_msg("'%s' does not say '%s'", error.message, why);
}

static void test_lying_notes(void **state)
{
	(void)state;
	refused("version=1\n", "version=2\n", "format 2");
	refused("\nindex=7\n", "\nindex=x\n", "index is no number");
	refused("\nfile=", NULL, "a file is to end at offset");
	refused("\nfile=", "\nfile=-", "damaged");
}

static void test_existing_file(void **state)
{
	struct stat before, after;
	(void)state;
	assert_int_equal(fork_and_write(1, true), 0);
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(fork_and_write(1, false), EEXIST);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(fork_and_write(1, true), 0);
	assert_int_equal(files_in_folder(), 1);
	unlink(path);
	assert_int_equal(fork_and_write(1, false), 0);
	assert_int_equal(files_in_folder(), 1);
}

/*
 * Runs in a child: with what a process of its number left lying, and the core to be written in its
 * place through a link.
 */
static int write_beside_leftover(void)
{
	char left[sizeof(path) + 32], target[sizeof(path) + 8];
	struct stat about;
	struct snap_core_thread thread = {.id = (uint32_t)getpid()};
	snprintf(left, sizeof(left), "%s.old.part-%d", path, getpid());
	snprintf(target, sizeof(target), "%s.old", path);
	int fd = open(left, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, "left", 4) != 4 || close(fd) != 0 || symlink("core.old", path))
		return 101;
	for (int i = 0; i < 2; i++) {
		int status = write_core(&thread, 1, getpid(), true);
		if (status)
			return status;
		if (chmod(target, 0640))
			return 102;
	}
	if (lstat(path, &about) || !S_ISLNK(about.st_mode) || stat(path, &about) ||
		(about.st_mode & 0777) != 0640 || about.st_size < PAGE)
		return 103;
	if (write_core(&thread, 1, getpid(), true) || stat(target, &about) ||
		(about.st_mode & 0777) != 0640)
		return 104;
	if (files_in_folder() != 3 || stat(left, &about) || about.st_size != 4)
		return 105;
	return unlink(left) || unlink(path) || rename(target, path) ? 106 : 0;
}

static void test_leftover(void **state)
{
	int status = -1;
	(void)state;
	unlink(path);
	pid_t child = fork();
	if (child == 0)
		_exit(write_beside_leftover());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(files_in_folder(), 1);
}

/* Where the copies begin: after the last byte of memory. */
static uint64_t end_of_memory(const struct snap_image *image)
{
	uint64_t end = 0;
	for (uint64_t i = 0; i < image->load_count; i++)
		if (image->loads[i].held && image->loads[i].offset + image->loads[i].held > end)
			end = image->loads[i].offset + image->loads[i].held;
	return end;
}

static uint64_t end_of_copies(const struct snap_image *image)
{
	uint64_t end = 0;
	for (uint64_t i = 0; i < image->capture->file_count; i++) {
		const struct snap_capture_file *file = &image->capture->files[i];
		if (file->offset + file->size > end)
			end = file->offset + file->size;
	}
	return end;
}

/* A core of ours that ends anywhere is read as far as it goes, as those of the kernel are. */
static void test_cut_core(void **state)
{
	struct snap_image image;
	struct hg_error error = {0};
	(void)state;
	assert_int_equal(fork_and_write(1, true), 0);
	open_image(&image);
	uint64_t size = end_of_copies(&image), memory = end_of_memory(&image);
	uint64_t start = image.loads[0].offset;
	snap_image_close(&image);
	assert_true(start < memory && memory < size);
	for (uint64_t i = 31; i > 0; i--) {
		/* Half of the places in the copies. */
		uint64_t cut = i >= 16 ? memory + (size - memory) * (i - 16) / 15 - (i == 31)
				       : start + (memory - start) * i / 16;
		assert_int_equal(truncate(path, (off_t)cut), 0);
		struct snap_image_options options = {.core = path};
		assert_int_equal(snap_image_open(&image, &options, &error), HG_ERROR_INPUT);
		assert_non_null(strstr(error.message, "--partial"));
		options.partial = true;
		if (snap_image_open(&image, &options, &error) != HG_OK)
			fail_msg("cut at %llu of %llu: %s", (unsigned long long)cut,
				(unsigned long long)size, error.message);
		assert_int_equal(image.cut_offset, cut);
		assert_non_null(strstr(image.cut_part, cut >= memory ? "copies" : "memory"));
		snap_image_close(&image);
	}
}

/* What fails midway leaves nothing behind. */
static void test_no_room(void **state)
{
	(void)state;
	unlink(path);
	struct snap_core core;
	pid_t self = getpid();
	struct snap_core_thread thread = {.id = 1};
	struct snap_core_process process = {
		.id = self, .origin = self, .threads = &thread, .thread_count = 1};
	assert_int_equal(snap_core_open(&core, path, false), 0);
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(full >= 0);
	assert_int_equal(dup2(full, core.fd), core.fd);
	close(full);
	assert_int_equal(snap_core_write_memory(&core, &process), ENOSPC);
	assert_string_equal(core.failed, "cannot be written");
	snap_core_abandon(&core);
	assert_int_equal(files_in_folder(), 0);
}

static void test_bad_targets(void **state)
{
	struct snap_core core;
	(void)state;
	assert_int_equal(snap_core_open(&core, folder, true), EISDIR);
	snap_core_abandon(&core);
	assert_int_equal(snap_core_open(&core, "/dev/null", true), EINVAL);
	snap_core_abandon(&core);
	assert_int_equal(snap_core_open(&core, "/nowhere/at/all", true), ENOENT);
	snap_core_abandon(&core);
	assert_int_equal(snap_core_open(&core, "", true), ENAMETOOLONG);
	snap_core_abandon(&core);
}

/* With --write CORE it writes its own core. */
/* Memory for writing that is handed out to its last byte. */
static void test_end_of_memory(void **state)
{
	(void)state;
	_Alignas(16) uint8_t arena[48] = {0};
	struct snap_core core = {.arena = arena, .arena_size = sizeof(arena)};
	assert_ptr_equal(snap_core_alloc(&core, 1), arena);
	assert_ptr_equal(snap_core_alloc(&core, 17), arena + 16);
	assert_int_equal(snap_core_arena_left(&core), 0);
	assert_null(snap_core_alloc(&core, 1));
	assert_null(snap_core_alloc(&core, UINT64_MAX));
	assert_ptr_equal(snap_core_alloc(&core, 0), arena + sizeof(arena));
}

int main(int count, char **arguments)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_guarded_pages),
		cmocka_unit_test(test_no_bytes),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_deleted_program),
		cmocka_unit_test(test_lying_notes),
		cmocka_unit_test(test_existing_file),
		cmocka_unit_test(test_leftover),
		cmocka_unit_test(test_cut_core),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_end_of_memory),
		cmocka_unit_test(test_bad_targets),
	};
	if (count == 3 && strcmp(arguments[1], "--write") == 0) {
		in_data = 4711;
		snprintf(path, sizeof(path), "%s", arguments[2]);
		return fork_and_write(1, true);
	}
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
