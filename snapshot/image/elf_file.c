/* ELF files: their structure by hand, symbols by libelf, unwinding tables and lines by libdw. */
#include "snapshot/image/elf_file.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/search.h"
#include "snapshot/arch/machines.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <libelf.h>

/*
 * Of an executable or library; linkers make a dozen segments, which are gone through for every
 * mapping, and some dozens of sections, of which libelf makes a structure for each.
 */
enum { MOST_SEGMENTS = 256, MOST_SECTIONS = 8192 };

/* A symbol with an address: 16 bytes, sorted. */
struct snap_symbol_address {
	uint64_t value;
	uint32_t symbol;
};

static enum hg_status check_ident(const uint8_t *bytes, uint64_t size, struct hg_error *error)
{
	if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return base_corrupt(error, 0, "is not an ELF file");
	if (size < sizeof(Elf64_Ehdr))
		return base_corrupt(error, size, "is cut short within its ELF header");
	uint16_t machine;
	bool is_big = bytes[EI_DATA] == ELFDATA2MSB;
	memcpy(&machine, bytes + offsetof(Elf64_Ehdr, e_machine), sizeof(machine));
	machine = is_big ? be16toh(machine) : le16toh(machine);
	const char *name = snap_machine_name(machine);
	if (name && !snap_machine_of(machine))
		return base_corrupt(error, offsetof(Elf64_Ehdr, e_machine),
			"is for %s; " SNAP_KNOWN_MACHINES " can be read", name);
	if (bytes[EI_CLASS] != ELFCLASS64)
		return base_corrupt(error, EI_CLASS, "is an ELF file for %s, not for 64 bits",
			bytes[EI_CLASS] == ELFCLASS32 ? "32 bits" : "an unknown word size");
	if (bytes[EI_DATA] != ELFDATA2LSB)
		return base_corrupt(error, EI_DATA, "is %s ELF file, not a little-endian one",
			is_big ? "a big-endian" : "an odd-endian");
	if (!name)
		return base_corrupt(error, offsetof(Elf64_Ehdr, e_machine),
			"is for machine %u; " SNAP_KNOWN_MACHINES " can be read", machine);
	return HG_OK;
}

/* The count proper when it does not fit e_phnum. */
static enum hg_status extended_count(struct snap_elf_view *view, struct hg_error *error)
{
	Elf64_Shdr first;
	uint64_t offset = view->header.e_shoff;
	if (offset == 0 || offset > view->size || view->size - offset < sizeof(first))
		return base_corrupt(error, offsetof(Elf64_Ehdr, e_phnum),
			"has more program headers than its header can tell, and no section header "
			"that tells");
	memcpy(&first, view->bytes + offset, sizeof(first));
	view->phdr_count = first.sh_info;
	return HG_OK;
}

enum hg_status snap_elf_open_view(
	struct snap_elf_view *view, const void *bytes, uint64_t size, struct hg_error *error)
{
	*view = (struct snap_elf_view){.bytes = bytes, .size = size};
	BASE_TRY(check_ident(bytes, size, error));
	memcpy(&view->header, bytes, sizeof(view->header));
	view->phdr_count = view->header.e_phnum;
	if (view->phdr_count == PN_XNUM)
		BASE_TRY(extended_count(view, error));
	if (view->phdr_count == 0)
		return HG_OK;
	if (view->header.e_phentsize != sizeof(Elf64_Phdr))
		return base_corrupt(error, offsetof(Elf64_Ehdr, e_phentsize),
			"has program headers of %u bytes, not %zu", view->header.e_phentsize,
			sizeof(Elf64_Phdr));
	uint64_t offset = view->header.e_phoff;
	if (offset > size || view->phdr_count > (size - offset) / sizeof(Elf64_Phdr))
		return base_corrupt(error, offset,
			"has %llu program headers here, which run past the end of the file",
			(unsigned long long)view->phdr_count);
	return HG_OK;
}

Elf64_Phdr snap_elf_phdr(const struct snap_elf_view *view, uint64_t index)
{
	Elf64_Phdr phdr;
	memcpy(&phdr, view->bytes + view->header.e_phoff + index * sizeof(phdr), sizeof(phdr));
	return phdr;
}

/* Rounds what has been read of the notes up; the last note may go without its padding. */
static void skip_padding(struct base_cursor *notes, uint64_t align)
{
	uint64_t over = base_cursor_offset(notes) % align;
	uint64_t padding = over ? align - over : 0;
	uint64_t left = base_cursor_left(notes);
	base_cursor_skip(notes, padding < left ? padding : left);
}

bool snap_note_next(struct base_cursor *notes, uint64_t align, struct snap_note *out)
{
	struct base_cursor c = *notes;
	align = align == 8 ? 8 : 4;
	if (!base_cursor_u32le(&c, &out->name_size) || !base_cursor_u32le(&c, &out->desc_size) ||
		!base_cursor_u32le(&c, &out->type) ||
		!base_cursor_bytes(&c, out->name_size, &out->name))
		return false;
	skip_padding(&c, align);
	if (!base_cursor_bytes(&c, out->desc_size, &out->desc))
		return false;
	skip_padding(&c, align);
	if (out->name_size && out->name[out->name_size - 1] == '\0')
		out->name_size--;
	*notes = c;
	return true;
}

bool snap_note_is(const struct snap_note *note, const char *name, uint32_t type)
{
	return note->type == type && note->name_size == strlen(name) &&
	       memcmp(note->name, name, note->name_size) == 0;
}

void snap_read_build_id(const struct snap_elf_view *view, struct snap_build_id *out)
{
	/* Of all segments; linkers make a handful. */
	unsigned notes_left = 64;
	out->size = 0;
	for (uint64_t i = 0; i < view->phdr_count && i < MOST_SEGMENTS && out->size == 0; i++) {
		Elf64_Phdr phdr = snap_elf_phdr(view, i);
		if (phdr.p_type != PT_NOTE || phdr.p_offset > view->size ||
			phdr.p_filesz > view->size - phdr.p_offset)
			continue;
		struct base_cursor notes =
			base_cursor_over(view->bytes + phdr.p_offset, phdr.p_filesz);
		struct snap_note note;
		while (notes_left && snap_note_next(&notes, phdr.p_align, &note)) {
			notes_left--;
			if (!snap_note_is(&note, "GNU", NT_GNU_BUILD_ID) ||
				note.desc_size > SNAP_BUILD_ID_MOST)
				continue;
			memcpy(out->bytes, note.desc, note.desc_size);
			out->size = (uint8_t)note.desc_size;
			break;
		}
	}
}

bool snap_build_id_equal(const struct snap_build_id *a, const struct snap_build_id *b)
{
	return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

void snap_build_id_text(const struct snap_build_id *id, char text[SNAP_BUILD_ID_TEXT])
{
	memcpy(text, "none", sizeof("none"));
	for (unsigned i = 0; i < id->size; i++)
		snprintf(text + (size_t)2 * i, 3, "%02x", id->bytes[i]);
}

bool snap_elf_segment_at(const struct snap_elf_view *view, uint64_t address, Elf64_Phdr *out)
{
	for (uint64_t i = 0; i < view->phdr_count; i++) {
		*out = snap_elf_phdr(view, i);
		if (out->p_type == PT_LOAD && address >= out->p_vaddr &&
			address - out->p_vaddr < out->p_memsz)
			return true;
	}
	return false;
}

bool snap_elf_segment(const struct snap_elf_view *view, uint32_t type, Elf64_Phdr *out)
{
	for (uint64_t i = 0; i < view->phdr_count; i++) {
		*out = snap_elf_phdr(view, i);
		if (out->p_type == type)
			return true;
	}
	return false;
}

/*
 * Sections: tables of symbols.  Their headers are copied out by gelf_getshdr(): what
 * elf64_getshdr() gives lies where the file has it, at any address.
 */

static Elf64_Sym symbol_entry(const struct snap_symbol_table *table, uint32_t index)
{
	Elf64_Sym symbol;
	memcpy(&symbol, table->entries + (uint64_t)index * sizeof(symbol), sizeof(symbol));
	return symbol;
}

/* Adds a table if both it and its strings lie in the file; a damaged one does not count. */
static void add_symbol_table(
	struct snap_elf *elf, Elf *source, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *entries = elf_getdata(section, NULL);
	Elf_Data *strings = elf_getdata(elf_getscn(source, header->sh_link), NULL);
	if (!entries || !strings || !entries->d_buf || !strings->d_buf ||
		elf->table_count == SNAP_SYMBOL_TABLES)
		return;
	/* Cut back to the last NUL, so that every name within ends. */
	const char *end = memrchr(strings->d_buf, '\0', strings->d_size);
	uint64_t count = entries->d_size / sizeof(Elf64_Sym);
	if (!end || count >= UINT32_MAX / 4 - elf->symbol_count)
		return;
	elf->tables[elf->table_count++] = (struct snap_symbol_table){
		.entries = entries->d_buf,
		.strings = strings->d_buf,
		.string_bytes = (uint64_t)(end - (const char *)strings->d_buf) + 1,
		.count = (uint32_t)count,
		.first = elf->symbol_count,
	};
	elf->symbol_count += (uint32_t)count;
}

static bool find_symbol_tables(struct snap_elf *elf, Elf *source, uint32_t type)
{
	/* A file has one; getting the data of a section may copy them. */
	enum { MOST_TRIED = 4 };
	uint32_t before = elf->table_count;
	Elf_Scn *section = NULL;
	errno = 0;
	for (unsigned tried = 0; tried < MOST_TRIED && (section = elf_nextscn(source, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || header.sh_type != type)
			continue;
		add_symbol_table(elf, source, section, &header);
		tried++;
	}
	elf->lost |= errno == ENOMEM;
	return elf->table_count > before;
}

static Elf *open_libelf(const struct snap_elf_view *view)
{
	if (elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	/* It only reads what it is given, though the prototype does not say const. */
	return elf_memory((char *)(uintptr_t)view->bytes, view->size);
}

enum hg_status snap_elf_over(
	struct snap_elf *elf, const void *bytes, uint64_t size, struct hg_error *error)
{
	*elf = (struct snap_elf){0};
	BASE_TRY(snap_elf_open_view(&elf->view, bytes, size, error));
	uint16_t type = elf->view.header.e_type;
	if (type != ET_EXEC && type != ET_DYN)
		return base_corrupt(error, offsetof(Elf64_Ehdr, e_type),
			"is neither an executable nor a shared library");
	if (elf->view.phdr_count > MOST_SEGMENTS)
		return base_corrupt(error, offsetof(Elf64_Ehdr, e_phnum),
			"has %llu program headers, more than any program",
			(unsigned long long)elf->view.phdr_count);
	/* Beyond 65279 the header has 0 and the first section tells. */
	if (elf->view.header.e_shnum > MOST_SECTIONS ||
		(elf->view.header.e_shnum == 0 && elf->view.header.e_shoff != 0))
		return base_corrupt(
			error, offsetof(Elf64_Ehdr, e_shnum), "has more sections than any program");
	errno = 0;
	elf->elf = open_libelf(&elf->view);
	if (!elf->elf && errno != ENOMEM)
		return base_corrupt(
			error, HG_NO_OFFSET, "is a damaged ELF file: %s", elf_errmsg(-1));
	if (!elf->elf)
		return base_no_memory(error, size);
	snap_read_build_id(&elf->view, &elf->build_id);
	find_symbol_tables(elf, elf->elf, SHT_SYMTAB);
	find_symbol_tables(elf, elf->elf, SHT_DYNSYM);
	return elf->lost ? base_no_memory(error, size) : HG_OK;
}

enum hg_status snap_elf_judge(void *data, const uint8_t *bytes, size_t size, struct hg_error *error)
{
	(void)data;
	return check_ident(bytes, size, error);
}

enum hg_status snap_elf_open(struct snap_elf *elf, struct base_file *file, struct hg_error *error)
{
	enum hg_status status = snap_elf_over(elf, file->bytes, file->size, error);
	elf->file = *file;
	*file = (struct base_file){0};
	if (status != HG_OK)
		snap_elf_close(elf);
	return status;
}

void snap_elf_close(struct snap_elf *elf)
{
	if (elf->cfi[0])
		dwarf_cfi_end(elf->cfi[0]);
	/* cfi[1] belongs to it. */
	if (elf->dwarf)
		dwarf_end(elf->dwarf);
	free(elf->slots);
	free(elf->by_address);
	elf_end(elf->elf);
	elf_end(elf->debug_elf);
	base_file_close(&elf->file);
	base_file_close(&elf->debug);
	*elf = (struct snap_elf){0};
}

/* Takes the symbols of a debug file if it belongs to this one. */
static bool take_debug(
	struct snap_elf *elf, const char *path, const struct base_unpack_limits *unpack)
{
	struct base_file file;
	struct snap_elf_view view;
	struct snap_build_id id;
	enum hg_status status =
		base_file_open_judged(&file, path, unpack, snap_elf_judge, NULL, NULL);
	elf->lost |= status == HG_ERROR_LIMIT;
	if (status != HG_OK)
		return false;
	bool fits = snap_elf_open_view(&view, file.bytes, file.size, NULL) == HG_OK;
	if (fits) {
		snap_read_build_id(&view, &id);
		fits = snap_build_id_equal(&id, &elf->build_id);
	}
	errno = 0;
	Elf *source = fits ? open_libelf(&view) : NULL;
	elf->lost |= fits && !source && errno == ENOMEM;
	if (!source || !find_symbol_tables(elf, source, SHT_SYMTAB)) {
		elf_end(source);
		base_file_close(&file);
		return false;
	}
	elf->debug = file;
	elf->debug_elf = source;
	return true;
}

static bool BASE_PRINTF(3, 4) try_debug(
	struct snap_elf *elf, const struct base_unpack_limits *unpack, const char *format, ...)
{
	char path[PATH_MAX];
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	return length > 0 && (size_t)length < sizeof(path) && take_debug(elf, path, unpack);
}

void snap_elf_add_debug(
	struct snap_elf *elf, const char *folder, const struct base_unpack_limits *unpack)
{
	char id[SNAP_BUILD_ID_TEXT];
	if (elf->debug_elf || elf->build_id.size < 2)
		return;
	snap_build_id_text(&elf->build_id, id);
	if (try_debug(elf, unpack, "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2))
		return;
	GElf_Word checksum; /* unused: the build-id is the stronger proof */
	const char *name = dwelf_elf_gnu_debuglink(elf->elf, &checksum);
	if (!name || strchr(name, '/'))
		return;
	if (!try_debug(elf, unpack, "%s/%s", folder, name) &&
		!try_debug(elf, unpack, "%s/.debug/%s", folder, name))
		try_debug(elf, unpack, "/usr/lib/debug%s/%s", folder, name);
}

/* Symbols */

static bool is_symbol_defined(const Elf64_Sym *symbol, const struct snap_symbol_table *table)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);
	return symbol->st_shndx != SHN_UNDEF && symbol->st_name < table->string_bytes &&
	       table->strings[symbol->st_name] != '\0' && type != STT_SECTION && type != STT_FILE;
}

bool snap_elf_has_symbols(const struct snap_elf *elf)
{
	for (uint32_t t = 0; t < elf->table_count; t++) {
		for (uint32_t i = 0; i < elf->tables[t].count; i++) {
			Elf64_Sym symbol = symbol_entry(&elf->tables[t], i);
			if (is_symbol_defined(&symbol, &elf->tables[t]))
				return true;
		}
	}
	return false;
}

static struct snap_elf_symbol describe_elf_symbol(const struct snap_elf *elf, uint32_t number)
{
	base_assert(number < elf->symbol_count);
	const struct snap_symbol_table *table = elf->tables;
	while (number - table->first >= table->count)
		table++;
	Elf64_Sym symbol = symbol_entry(table, number - table->first);
	return (struct snap_elf_symbol){
		.name = table->strings + symbol.st_name,
		.value = symbol.st_value,
		.size = symbol.st_size,
		.type = ELF64_ST_TYPE(symbol.st_info),
		.is_global = ELF64_ST_BIND(symbol.st_info) != STB_LOCAL,
		.section = symbol.st_shndx,
		.is_absolute = symbol.st_shndx == SHN_ABS,
	};
}

/* The slot of a name, or the free one where it belongs. */
static uint32_t *find_name_slot(struct snap_elf *elf, const char *name, size_t length)
{
	uint64_t at = base_hash_bytes(base_process_secret(), name, length);
	for (;; at++, elf->probes++) {
		uint32_t *slot = &elf->slots[at & elf->slot_mask];
		if (*slot == 0 || strcmp(describe_elf_symbol(elf, *slot - 1).name, name) == 0)
			return slot;
	}
}

/*
 * A name beyond 4 KiB is nothing to ask for.  Many may be the end of one long string, but linkers
 * share no more than a few: '*name_bytes' are what may still be read of names.
 */
static void index_symbol(struct snap_elf *elf, uint32_t number, uint64_t *name_bytes)
{
	enum { MOST_NAME = 4096 };
	struct snap_elf_symbol symbol = describe_elf_symbol(elf, number);
	size_t length = *name_bytes < MOST_NAME ? MOST_NAME : strnlen(symbol.name, MOST_NAME);
	if (*name_bytes >= MOST_NAME)
		*name_bytes -= length;
	if (length == MOST_NAME)
		return;
	uint32_t *slot = find_name_slot(elf, symbol.name, length);
	if (*slot == 0 || (symbol.is_global && !describe_elf_symbol(elf, *slot - 1).is_global))
		*slot = number + 1;
	if (symbol.type != STT_TLS && !symbol.is_absolute)
		elf->by_address[elf->address_count++] =
			(struct snap_symbol_address){symbol.value, number};
}

static int compare_symbol_addresses(const void *left, const void *right)
{
	const struct snap_symbol_address *a = left, *b = right;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->symbol < b->symbol ? -1 : a->symbol > b->symbol;
}

/* Both indexes: 8 bytes of hash and 16 of address per symbol. */
static bool index_symbols(struct snap_elf *elf)
{
	enum { SHARED_NAMES = 8 };
	if (elf->indexed)
		return elf->slots != NULL;
	elf->indexed = true;
	uint32_t slots = 16;
	while (slots < 2 * elf->symbol_count)
		slots *= 2;
	elf->slots = calloc(slots, sizeof(*elf->slots));
	elf->by_address = calloc((size_t)elf->symbol_count + 1, sizeof(*elf->by_address));
	if (!elf->slots || !elf->by_address) {
		free(elf->slots);
		elf->slots = NULL;
		elf->lost = true;
		return false;
	}
	elf->slot_mask = slots - 1;
	uint64_t name_bytes = 65536;
	for (uint32_t t = 0; t < elf->table_count; t++) {
		const struct snap_symbol_table *table = &elf->tables[t];
		name_bytes += SHARED_NAMES * table->string_bytes;
		for (uint32_t i = 0; i < table->count; i++) {
			Elf64_Sym symbol = symbol_entry(table, i);
			if (is_symbol_defined(&symbol, table))
				index_symbol(elf, table->first + i, &name_bytes);
		}
	}
	qsort(elf->by_address, elf->address_count, sizeof(*elf->by_address),
		compare_symbol_addresses);
	base_assert(elf->address_count <= elf->symbol_count);
	base_assert(BASE_IS_SORTED(elf->by_address, elf->address_count, value));
	return true;
}

bool snap_elf_find_symbol(struct snap_elf *elf, const char *name, struct snap_elf_symbol *out)
{
	if (!index_symbols(elf))
		return false;
	const uint32_t *slot = find_name_slot(elf, name, strlen(name));
	if (*slot == 0)
		return false;
	*out = describe_elf_symbol(elf, *slot - 1);
	return true;
}

/* How well a symbol names an address it holds. */
static unsigned rank_symbol(const struct snap_elf_symbol *symbol)
{
	bool typed = symbol->type == STT_FUNC || symbol->type == STT_OBJECT ||
		     symbol->type == STT_GNU_IFUNC;
	return (typed ? 2u : 0u) + (symbol->is_global ? 1u : 0u);
}

/* How many symbols, by address, lie at or below one. */
static uint32_t symbols_below(const struct snap_elf *elf, uint64_t address)
{
	return (uint32_t)BASE_FIRST_ABOVE(elf->by_address, elf->address_count, value, address);
}

/* A label ends with its section; without one, nobody knows. */
static bool is_in_section(const struct snap_elf *elf, uint32_t index, uint64_t address)
{
	Elf_Scn *section = elf_getscn(elf->elf, index);
	GElf_Shdr header;
	return section && gelf_getshdr(section, &header) && address >= header.sh_addr &&
	       address - header.sh_addr < header.sh_size;
}

bool snap_elf_symbol_at(struct snap_elf *elf, uint64_t address, struct snap_elf_symbol *out)
{
	/* Labels within a function are few; after more of them, one of them is the answer. */
	enum { NEAR = 64 };
	Elf64_Phdr segment;
	if (!snap_elf_segment_at(&elf->view, address, &segment) || !index_symbols(elf))
		return false;
	struct snap_elf_symbol holder = {0}, label = {0};
	uint32_t low = symbols_below(elf, address);
	for (uint32_t i = low; i-- > 0 && low - i <= NEAR;) {
		uint64_t value = elf->by_address[i].value;
		if (value < segment.p_vaddr || (holder.name && value != holder.value))
			break;
		struct snap_elf_symbol symbol = describe_elf_symbol(elf, elf->by_address[i].symbol);
		struct snap_elf_symbol *best = symbol.size ? &holder : &label;
		if (symbol.size ? address - value >= symbol.size
				: !is_in_section(elf, symbol.section, address))
			continue;
		if (!best->name ||
			(value == best->value && rank_symbol(&symbol) > rank_symbol(best)))
			*best = symbol;
	}
	*out = holder.name ? holder : label;
	return out->name != NULL;
}

/* Unwinding tables and lines: libdw */

/* Where libdw leaves to when memory runs out; it would end the process. */
static _Thread_local jmp_buf without_memory;

__attribute__((noreturn)) static void leave_libdw(void)
{
	longjmp(without_memory, 1);
}

static Dwarf *begin_dwarf(struct snap_elf *elf, Elf *source)
{
	errno = 0;
	Dwarf *dwarf = source ? dwarf_begin_elf(source, DWARF_C_READ, NULL) : NULL;
	elf->lost |= source && !dwarf && errno == ENOMEM;
	if (dwarf)
		dwarf_new_oom_handler(dwarf, leave_libdw);
	return dwarf;
}

static Dwarf *open_dwarf(struct snap_elf *elf)
{
	if (!elf->dwarf_opened)
		elf->dwarf = begin_dwarf(elf, elf->elf);
	if (!elf->dwarf_opened && !elf->dwarf)
		elf->dwarf = begin_dwarf(elf, elf->debug_elf);
	elf->dwarf_opened = true;
	return elf->dwarf;
}

/* What libdw was in the middle of is in no state to be used again, nor to be freed. */
static void give_up_dwarf(struct snap_elf *elf)
{
	elf->lost = true;
	elf->dwarf = NULL;
	elf->cfi[1] = NULL;
}

static struct Dwarf_CFI_s *debug_frame(struct snap_elf *elf)
{
	Dwarf *dwarf = open_dwarf(elf);
	if (!dwarf)
		return NULL;
	if (setjmp(without_memory)) {
		give_up_dwarf(elf);
		return NULL;
	}
	return dwarf_getcfi(dwarf);
}

struct Dwarf_CFI_s *snap_elf_cfi(struct snap_elf *elf, unsigned which)
{
	if (elf->cfi_opened[which])
		return elf->cfi[which];
	elf->cfi_opened[which] = true;
	errno = 0;
	elf->cfi[which] = which == 0 ? dwarf_getcfi_elf(elf->elf) : debug_frame(elf);
	elf->lost |= !elf->cfi[which] && errno == ENOMEM;
	return elf->cfi[which];
}

struct Dwarf_Frame_s *snap_elf_frame(struct snap_elf *elf, unsigned which, uint64_t address)
{
	Dwarf_CFI *cfi = snap_elf_cfi(elf, which);
	Dwarf_Frame *rules;
	if (!cfi)
		return NULL;
	if (setjmp(without_memory)) {
		give_up_dwarf(elf);
		return NULL;
	}
	errno = 0;
	if (dwarf_cfi_addrframe(cfi, address, &rules) == 0)
		return rules;
	elf->lost |= errno == ENOMEM;
	return NULL;
}

static bool find_source_line(Dwarf *dwarf, uint64_t address, const char **file, uint32_t *line)
{
	Dwarf_Die unit;
	int number;
	if (!dwarf_addrdie(dwarf, address, &unit))
		return false;
	Dwarf_Line *found = dwarf_getsrc_die(&unit, address);
	const char *source = found ? dwarf_linesrc(found, NULL, NULL) : NULL;
	if (!source || dwarf_lineno(found, &number) != 0 || number <= 0)
		return false;
	*file = source;
	*line = (uint32_t)number;
	return true;
}

bool snap_elf_line(struct snap_elf *elf, uint64_t address, const char **file, uint32_t *line)
{
	Dwarf *dwarf = open_dwarf(elf);
	if (!dwarf)
		return false;
	if (setjmp(without_memory)) {
		give_up_dwarf(elf);
		return false;
	}
	errno = 0;
	bool found = find_source_line(dwarf, address, file, line);
	elf->lost |= !found && errno == ENOMEM;
	return found;
}
