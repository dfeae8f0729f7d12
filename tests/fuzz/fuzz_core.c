/*
 * Cores of OCaml programs: small ones with one of everything (tests/fuzz/make_core.py), into which
 * the input writes.
 *
 * Input: byte 0 says which core (bit 0: 4.13 or 5.3), and how to open it (bit 2: one that is cut
 * short is accepted; bits 4 and 5: threads - 1); then changes of 12 bytes, each a place of 32 bits
 * and a value of 64.  Bits 0 and 1 of a place say what is changed, the next 3 how, the others
 * where.
 */
#include "tests/fuzz/answers.h"

#include <elf.h>

enum { FIVE_BIT = 1, PARTIAL_BIT = 4, THREADS_SHIFT = 4, CHANGE_BYTES = 12 };

enum target { CORE, EXECUTABLE, NOTES, CORE_LENGTH };

/* SET: the value itself; POINT: an address in the core; ADD and FLIP: what was there, changed;
   COPY: a word from elsewhere; RUN: the value in several words; HEADER: of a block. */
enum how { SET, POINT, ADD, FLIP, COPY, RUN, HEADER, HALF };

/* Bytes of headers and notes of the core. */
enum { NOTES_BYTES = 4096 };

struct bytes {
	uint8_t *data;
	size_t size;
};

static struct bytes pristine[2][2], core, executable;
static struct memory_file core_file, executable_file;

static struct bytes read_all(const char *path)
{
	struct bytes b = {NULL, 0};
	FILE *file = fopen(path, "rb");
	CHECK(file && fseek(file, 0, SEEK_END) == 0);
	b.size = (size_t)ftell(file);
	b.data = malloc(b.size);
	rewind(file);
	CHECK(b.data && fread(b.data, 1, b.size, file) == b.size);
	fclose(file);
	return b;
}

static void read_cores(void)
{
	pristine[0][0] = read_all("tests/fuzz/cores/4.13.core");
	pristine[0][1] = read_all("tests/fuzz/cores/4.13.exe");
	pristine[1][0] = read_all("tests/fuzz/cores/5.3.core");
	pristine[1][1] = read_all("tests/fuzz/cores/5.3.exe");
	core_file = create();
	executable_file = create();
}

static void restore(struct bytes *to, const struct bytes *from)
{
	to->data = realloc(to->data, from->size);
	CHECK(to->data);
	memcpy(to->data, from->data, from->size);
	to->size = from->size;
}

static uint64_t word_at(const struct bytes *b, uint64_t index)
{
	uint64_t word;
	memcpy(&word, b->data + index % (b->size / 8) * 8, sizeof(word));
	return word;
}

/* An address in the memory of one of the segments, as the core had them at first. */
static uint64_t some_address(const struct bytes *from, uint64_t value)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	memcpy(&header, from->data, sizeof(header));
	uint64_t number = 1 + value % (header.e_phnum - 1u);
	memcpy(&segment, from->data + header.e_phoff + number * sizeof(segment), sizeof(segment));
	return segment.p_vaddr + (value >> 8) * 8 % segment.p_memsz;
}

static uint64_t changed(enum how how, uint64_t old, uint64_t value, const struct bytes *from)
{
	switch (how) {
	case POINT:
		return some_address(from, value);
	case ADD:
		return old + (uint64_t)(int64_t)(int16_t)value;
	case FLIP:
		return old ^ (uint64_t)1 << value % 64;
	case COPY:
		return word_at(from, value);
	case HEADER:
		return value >> 8 % 54 << 10 | (value & 0x3ff);
	case HALF:
		return (old & ~(uint64_t)UINT32_MAX) | (uint32_t)value;
	default:
		return value;
	}
}

static void change(uint32_t place, uint64_t value, const struct bytes *from)
{
	enum target target = place & 3;
	enum how how = place >> 2 & 7;
	uint32_t where = place >> 5;
	struct bytes *b = target == EXECUTABLE ? &executable : &core;
	if (target == CORE_LENGTH) {
		if (where < core.size)
			core.size = where;
		return;
	}
	uint64_t words = (target == NOTES && b->size > NOTES_BYTES ? NOTES_BYTES : b->size) / 8;
	uint64_t count = how == RUN ? value >> 58 : 1;
	for (uint64_t i = 0; i < count && words; i++) {
		uint64_t at = (where + i) % words;
		uint64_t word = changed(how, word_at(b, at), value, from);
		memcpy(b->data + 8 * at, &word, sizeof(word));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	if (!core_file.path[0])
		read_cores();
	const struct bytes *from = pristine[data[0] & FIVE_BIT];
	restore(&core, &from[0]);
	restore(&executable, &from[1]);
	for (size_t at = 1; at + CHANGE_BYTES <= size; at += CHANGE_BYTES) {
		uint32_t place;
		uint64_t value;
		memcpy(&place, data + at, sizeof(place));
		memcpy(&value, data + at + sizeof(place), sizeof(value));
		change(place, value, from);
	}
	set_file(&core_file, core.data, core.size);
	set_file(&executable_file, executable.data, executable.size);
	struct hg_options options = {.size = sizeof(options),
		.threads = (data[0] >> THREADS_SHIFT & 3u) + 1,
		.max_memory = (uint64_t)64 << 20};
	struct hg_input input = {.size = sizeof(input),
		.path = core_file.path,
		.format = "elfcore",
		.partial = data[0] & PARTIAL_BIT,
		.executable = executable_file.path,
		.libraries = "/nonexistent"};
	ask_everything(&options, &input);
	return 0;
}
