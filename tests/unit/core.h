/*
 * Builds a small program and the core of a process of it, for tests: two ELF files in a folder of
 * their own.
 */
#ifndef TESTS_UNIT_CORE_H
#define TESTS_UNIT_CORE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Real cores with known answers; they are no part of the repository. */
#ifndef CORES
#define CORES "../shared/data/cores"
#endif

#define CORE_BIAS ((uint64_t)0x555500000000)
#define CORE_STACK ((uint64_t)0x7ffc00000000)
#define CORE_TLS ((uint64_t)0x7f0000000800)

/* Offsets in the program, which are its addresses too. */
enum {
	EXE_NOTE = 0x200,
	EXE_LINK = 0x300, /* .gnu_debuglink */
	EXE_TEXT = 0x1000,
	EXE_FRAMES = 0x2000, /* .eh_frame */
	EXE_DATA = 0x3000,
	EXE_BSS = 0x4000,
	EXE_SYMBOLS = 0x4000,
	EXE_STRINGS = 0x4800,
	EXE_SECTIONS = 0x5000,
	EXE_SIZE = 0x5200,
	EXE_TLS_BYTES = 0x1c,
	EXE_PHDRS = 4,
	CORE_PHDRS = 6,
	CORE_NOTES = 0x400,
	CORE_PAGE = 0x1000
};

/* Skips a test; cmocka.h must be included before this file. */
static inline void need_real_cores(void)
{
	if (access(CORES "/README.md", R_OK) == 0)
		return;
	print_message("no cores of real programs in %s\n", CORES);
	skip();
}

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct bytes {
	uint8_t *data;
	size_t size;
};

static inline void put(struct bytes *b, size_t offset, const void *from, size_t size)
{
	if (offset + size > b->size) {
		uint8_t *bigger = realloc(b->data, offset + size);
		if (!bigger)
			abort();
		memset(bigger + b->size, 0, offset + size - b->size);
		b->data = bigger;
		b->size = offset + size;
	}
	memcpy(b->data + offset, from, size);
}

static inline void put_u64(struct bytes *b, size_t offset, uint64_t value)
{
	put(b, offset, &value, sizeof(value));
}

static inline void put_u32(struct bytes *b, size_t offset, uint32_t value)
{
	put(b, offset, &value, sizeof(value));
}

static inline void put_u16(struct bytes *b, size_t offset, uint16_t value)
{
	put(b, offset, &value, sizeof(value));
}

static inline void put_header(struct bytes *b, uint16_t type, uint16_t phdrs)
{
	Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = type,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = phdrs,
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	put(b, 0, &header, sizeof(header));
}

static inline void put_phdr(struct bytes *b, unsigned index, Elf64_Phdr phdr)
{
	put(b, sizeof(Elf64_Ehdr) + index * sizeof(phdr), &phdr, sizeof(phdr));
}

/* Appends a note at *offset and moves that behind it. */
static inline void put_note(struct bytes *b, size_t *offset, const char *owner, uint32_t type,
	const void *desc, uint32_t size)
{
	uint32_t name = (uint32_t)strlen(owner) + 1;
	put_u32(b, *offset, name);
	put_u32(b, *offset + 4, size);
	put_u32(b, *offset + 8, type);
	put(b, *offset + 12, owner, name);
	*offset += 12 + ((name + 3) & ~3u);
	put(b, *offset, desc, size);
	*offset += (size + 3) & ~3u;
	put(b, *offset, "", 0);
}

/* The program */

struct exe_symbol {
	const char *name;
	uint64_t value, size;
	unsigned type, bind;
	uint16_t section; /* 1 .text, 2 .data */
};

static inline void put_symbols(struct bytes *exe, const struct exe_symbol *symbols, size_t count)
{
	size_t string = 1;
	for (size_t i = 0; i < count; i++) {
		Elf64_Sym symbol = {
			.st_name = (uint32_t)string,
			.st_info = (unsigned char)ELF64_ST_INFO(symbols[i].bind, symbols[i].type),
			.st_shndx = symbols[i].section,
			.st_value = symbols[i].value,
			.st_size = symbols[i].size,
		};
		put(exe, EXE_SYMBOLS + (i + 1) * sizeof(symbol), &symbol, sizeof(symbol));
		put(exe, EXE_STRINGS + string, symbols[i].name, strlen(symbols[i].name) + 1);
		string += strlen(symbols[i].name) + 1;
	}
	static const char names[] = "\0.text\0.data\0.symtab\0.strtab\0.eh_frame\0.gnu_debuglink";
	put(exe, EXE_STRINGS + 0x600, names, sizeof(names));
	Elf64_Shdr sections[] = {
		{0},
		{.sh_name = 0x601,
			.sh_type = SHT_PROGBITS,
			.sh_addr = EXE_TEXT,
			.sh_offset = EXE_TEXT,
			.sh_size = CORE_PAGE,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR},
		{.sh_name = 0x607,
			.sh_type = SHT_PROGBITS,
			.sh_addr = EXE_DATA,
			.sh_offset = EXE_DATA,
			.sh_size = CORE_PAGE,
			.sh_flags = SHF_ALLOC},
		{.sh_name = 0x60d,
			.sh_type = SHT_SYMTAB,
			.sh_offset = EXE_SYMBOLS,
			.sh_size = (count + 1) * sizeof(Elf64_Sym),
			.sh_link = 4,
			.sh_entsize = sizeof(Elf64_Sym),
			.sh_info = 1},
		{.sh_name = 0x615,
			.sh_type = SHT_STRTAB,
			.sh_offset = EXE_STRINGS,
			.sh_size = 0x800},
		{.sh_name = 0x61d,
			.sh_type = SHT_PROGBITS,
			.sh_addr = EXE_FRAMES,
			.sh_offset = EXE_FRAMES,
			.sh_size = CORE_PAGE,
			.sh_flags = SHF_ALLOC},
		{.sh_name = 0x627, .sh_type = SHT_PROGBITS, .sh_offset = EXE_LINK, .sh_size = 20},
	};
	put(exe, EXE_SECTIONS, sections, sizeof(sections));
	put_u64(exe, offsetof(Elf64_Ehdr, e_shoff), EXE_SECTIONS);
	put_u16(exe, offsetof(Elf64_Ehdr, e_shnum), LENGTH(sections));
	put_u16(exe, offsetof(Elf64_Ehdr, e_shstrndx), 4);
}

/* A position-independent executable with an empty .text; its build-id is 20 times 'id'. */
static inline void exe_start(struct bytes *exe, unsigned id)
{
	uint8_t build_id[20];
	size_t note = EXE_NOTE;
	memset(build_id, (int)id, sizeof(build_id));
	put(exe, EXE_SIZE - 1, "", 1);
	put_header(exe, ET_DYN, EXE_PHDRS);
	put_u64(exe, offsetof(Elf64_Ehdr, e_entry), EXE_TEXT);
	put_note(exe, &note, "GNU", NT_GNU_BUILD_ID, build_id, sizeof(build_id));
	put(exe, EXE_LINK, "program.debug", 14);
	put_phdr(exe, 0,
		(Elf64_Phdr){.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_filesz = EXE_DATA,
			.p_memsz = EXE_DATA,
			.p_align = CORE_PAGE});
	put_phdr(exe, 1,
		(Elf64_Phdr){.p_type = PT_LOAD,
			.p_flags = PF_R | PF_W,
			.p_offset = EXE_DATA,
			.p_vaddr = EXE_DATA,
			.p_filesz = CORE_PAGE,
			.p_memsz = 2 * CORE_PAGE,
			.p_align = CORE_PAGE});
	put_phdr(exe, 2,
		(Elf64_Phdr){.p_type = PT_TLS,
			.p_offset = EXE_DATA,
			.p_vaddr = EXE_DATA,
			.p_memsz = EXE_TLS_BYTES,
			.p_align = 16});
	put_phdr(exe, 3,
		(Elf64_Phdr){.p_type = PT_NOTE,
			.p_offset = EXE_NOTE,
			.p_vaddr = EXE_NOTE,
			.p_filesz = 36,
			.p_memsz = 36,
			.p_align = 4});
	static const struct exe_symbol symbols[] = {
		{"caml_start", EXE_TEXT, 0x40, STT_FUNC, STB_GLOBAL, 1},
		{"caml_label", EXE_TEXT + 0x20, 0, STT_NOTYPE, STB_GLOBAL, 1},
		{"caml_tail", EXE_TEXT + 0x80, 0, STT_NOTYPE, STB_LOCAL, 1},
		{"twice", EXE_DATA + 0x10, 8, STT_OBJECT, STB_LOCAL, 2},
		{"twice", EXE_DATA + 0x20, 8, STT_OBJECT, STB_GLOBAL, 2},
		{"straddler", EXE_BSS - 8, 16, STT_OBJECT, STB_GLOBAL, 2},
		{"own_state", 0x10, 8, STT_TLS, STB_GLOBAL, 2},
		{"elsewhere", 0, 0, STT_FUNC, STB_GLOBAL, SHN_UNDEF},
		{"number", 42, 0, STT_OBJECT, STB_GLOBAL, SHN_ABS},
	};
	put_symbols(exe, symbols, LENGTH(symbols));
}

/* The core */

struct process {
	char folder[32], core_path[64], exe_path[64];
	struct bytes exe, core;
	uint64_t registers[27];
};

enum {
	LOAD_FIRST = 1, /* first page of the program, with the addresses of all up to .data */
	LOAD_DATA,
	LOAD_BSS, /* behind .data in memory, but not in the file */
	LOAD_STACK,
	LOAD_TLS,
	/* Notes one behind the other: 12 + 8 bytes of header and owner, then the rest. */
	NOTE_STATUS = CORE_NOTES,
	NOTE_PROCESS = NOTE_STATUS + 20 + 336,
	NOTE_AUXV = NOTE_PROCESS + 20 + 136,
	NOTE_FILES = NOTE_AUXV + 20 + 48,
	NOTE_LIST = NOTE_FILES + 20, /* of mapped files: count, page size, 24 bytes each, paths */
	CORE_SEGMENTS = 0x1000,
	CORE_SIZE = CORE_SEGMENTS + 7 * CORE_PAGE
};

static inline void core_notes(struct process *p, const char *mapped_as)
{
	size_t end = CORE_NOTES;
	struct bytes desc = {0};
	put(&desc, 335, "", 1);
	put_u16(&desc, 12, 6);
	put_u32(&desc, 32, 4711);
	put(&desc, 112, p->registers, sizeof(p->registers));
	put_note(&p->core, &end, "CORE", NT_PRSTATUS, desc.data, (uint32_t)desc.size);
	memset(desc.data, 0, desc.size);
	put_u32(&desc, 24, 4710);
	put(&desc, 40, "program", 8);
	put(&desc, 56, "./program -v ", 14);
	put_note(&p->core, &end, "CORE", NT_PRPSINFO, desc.data, 136);
	const uint64_t auxv[] = {AT_PAGESZ, CORE_PAGE, AT_ENTRY, CORE_BIAS + EXE_TEXT, AT_NULL, 0};
	put_note(&p->core, &end, "CORE", NT_AUXV, auxv, sizeof(auxv));
	const uint64_t maps[] = {2, CORE_PAGE, CORE_BIAS, CORE_BIAS + EXE_DATA, 0,
		CORE_BIAS + EXE_DATA, CORE_BIAS + EXE_BSS, EXE_DATA / CORE_PAGE};
	desc.size = 0;
	put(&desc, 0, maps, sizeof(maps));
	for (unsigned i = 0; i < 2; i++)
		put(&desc, desc.size, mapped_as, strlen(mapped_as) + 1);
	put_note(&p->core, &end, "CORE", NT_FILE, desc.data, (uint32_t)desc.size);
	put_note(&p->core, &end, "heapgraph", 1, "note", 4);
	put_phdr(&p->core, 0,
		(Elf64_Phdr){.p_type = PT_NOTE,
			.p_offset = CORE_NOTES,
			.p_filesz = end - CORE_NOTES,
			.p_align = 4});
	free(desc.data);
}

static inline void core_load(struct process *p, unsigned index, uint64_t address, uint64_t memory,
	uint32_t flags, unsigned page)
{
	put_phdr(&p->core, index,
		(Elf64_Phdr){.p_type = PT_LOAD,
			.p_flags = flags,
			.p_vaddr = address,
			.p_memsz = memory,
			.p_offset = CORE_SEGMENTS + page * CORE_PAGE,
			.p_filesz = CORE_PAGE,
			.p_align = CORE_PAGE});
}

/*
 * A process whose program is listed as 'mapped_as' (NULL: its real path).  Registers are zero but
 * for rip, rsp and fs_base; change them before, bytes after.
 */
static inline void core_build(struct process *p, const char *mapped_as)
{
	p->core.size = 0;
	put(&p->core, CORE_SIZE - 1, "", 1);
	put_header(&p->core, ET_CORE, CORE_PHDRS);
	core_notes(p, mapped_as ? mapped_as : p->exe_path);
	core_load(p, LOAD_FIRST, CORE_BIAS, EXE_DATA, PF_R | PF_X, 0);
	core_load(p, LOAD_DATA, CORE_BIAS + EXE_DATA, CORE_PAGE, PF_R | PF_W, 1);
	core_load(p, LOAD_BSS, CORE_BIAS + EXE_BSS, CORE_PAGE, PF_R | PF_W, 3);
	core_load(p, LOAD_STACK, CORE_STACK, CORE_PAGE, PF_R | PF_W, 5);
	core_load(p, LOAD_TLS, CORE_TLS - 0x800, CORE_PAGE, PF_R | PF_W, 6);
	put(&p->core, CORE_SEGMENTS, p->exe.data, CORE_PAGE);
}

/* Where the bytes of a load are in the core. */
static inline size_t core_page(unsigned load)
{
	static const uint8_t pages[] = {[LOAD_FIRST] = 0,
		[LOAD_DATA] = 1,
		[LOAD_BSS] = 3,
		[LOAD_STACK] = 5,
		[LOAD_TLS] = 6};
	return CORE_SEGMENTS + pages[load] * (size_t)CORE_PAGE;
}

static inline void write_file(const char *path, const struct bytes *b, size_t size)
{
	FILE *file = fopen(path, "wb");
	if (!file || fwrite(b->data, 1, size, file) != size || fclose(file))
		abort();
}

static inline void process_start(struct process *p)
{
	*p = (struct process){.folder = "/tmp/heapgraph.XXXXXX"};
	if (!mkdtemp(p->folder))
		abort();
	snprintf(p->core_path, sizeof(p->core_path), "%s/core", p->folder);
	snprintf(p->exe_path, sizeof(p->exe_path), "%s/program", p->folder);
	exe_start(&p->exe, 0xab);
	p->registers[16] = CORE_BIAS + EXE_TEXT;
	p->registers[19] = CORE_STACK + 0x100;
	p->registers[21] = CORE_TLS;
}

static inline void process_write(struct process *p)
{
	write_file(p->exe_path, &p->exe, p->exe.size);
	write_file(p->core_path, &p->core, p->core.size);
}

static inline void process_release(struct process *p)
{
	unlink(p->core_path);
	unlink(p->exe_path);
	rmdir(p->folder);
	free(p->exe.data);
	free(p->core.data);
}

#endif
