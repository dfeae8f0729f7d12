/*
 * One ELF file of 64 bits over bytes that nobody vouches for: header, program headers, notes,
 * build-id, symbols, unwinding tables.  Formats: System V ABI, elf(5).
 *
 * Cores and the first pages of files found in cores are read here field by field, because libelf
 * refuses a file that is not complete; sections and symbols of whole files come through libelf, and
 * unwinding tables through libdw.
 */
#ifndef SNAPSHOT_IMAGE_ELF_FILE_H
#define SNAPSHOT_IMAGE_ELF_FILE_H

#include "base/cursor.h"
#include "base/file.h"
#include "base/pool.h"

#include <elf.h>

/* Header and program headers, inside their window. */
struct snap_elf_view {
	const uint8_t *bytes;
	uint64_t size;
	Elf64_Ehdr header;
	uint64_t phdr_count;
};

/*
 * Checks magic, class, byte order, machine, and that the table of program headers lies within the
 * bytes.  A count beyond 65534 is taken from the first section header (elf(5), PN_XNUM).
 */
enum hg_status snap_elf_open_view(
	struct snap_elf_view *view, const void *bytes, uint64_t size, struct hg_error *error);

/* Of entry i < phdr_count; the table may be unaligned. */
Elf64_Phdr snap_elf_phdr(const struct snap_elf_view *view, uint64_t index);

struct snap_note {
	const uint8_t *name; /* without the NUL it ends with */
	const uint8_t *desc;
	uint32_t name_size, desc_size;
	uint32_t type;
};

/*
 * The next note; false at the end, and when one runs over: then the cursor stands before it, with
 * at least the 12 bytes of a note's header left.  'align' is p_align of the segment: 8, else 4.
 */
bool snap_note_next(struct base_cursor *notes, uint64_t align, struct snap_note *out);
bool snap_note_is(const struct snap_note *note, const char *name, uint32_t type);

/* NT_GNU_BUILD_ID; 20 bytes (SHA-1) in practice.  Size 0: none. */
enum { SNAP_BUILD_ID_MOST = 64, SNAP_BUILD_ID_TEXT = 2 * SNAP_BUILD_ID_MOST + 1 };

struct snap_build_id {
	uint8_t size;
	uint8_t bytes[SNAP_BUILD_ID_MOST];
};

void snap_read_build_id(const struct snap_elf_view *view, struct snap_build_id *out);
bool snap_build_id_equal(const struct snap_build_id *a, const struct snap_build_id *b);
/* Lower-case hex; "none" for size 0. */
void snap_build_id_text(const struct snap_build_id *id, char text[SNAP_BUILD_ID_TEXT]);

/* One table of symbols; entries are read by value because the bytes may be unaligned. */
struct snap_symbol_table {
	const uint8_t *entries;
	const char *strings; /* ends with a NUL */
	uint64_t string_bytes;
	uint32_t count;
	uint32_t first; /* number of its first symbol, counted over all tables */
};

/* .symtab, .dynsym, and .symtab of a debug file */
enum { SNAP_SYMBOL_TABLES = 3 };

struct Elf;
struct Dwarf;
struct Dwarf_CFI_s;
struct Dwarf_Frame_s;

/*
 * A whole file.  Symbols and unwinding tables are indexed when first asked for, so that functions
 * which take a struct snap_elf that is not const are for one thread at a time.
 */
struct snap_elf {
	struct snap_elf_view view;
	struct snap_build_id build_id;
	struct base_file file;  /* empty when the bytes belong to somebody else */
	struct base_file debug; /* symbols split off by objcopy --only-keep-debug; mostly empty */
	struct Elf *elf, *debug_elf;
	struct snap_symbol_table tables[SNAP_SYMBOL_TABLES];
	uint32_t table_count;
	uint32_t symbol_count;
	bool indexed;
	uint32_t *slots; /* hash of names: number of the symbol + 1; a power of two */
	uint32_t slot_mask;
	uint64_t probes; /* of slots taken by other names, so far */
	struct snap_symbol_address *by_address;
	uint32_t address_count;
	bool cfi_opened[2], dwarf_opened;
	struct Dwarf *dwarf;
	struct Dwarf_CFI_s *cfi[2]; /* .eh_frame, .debug_frame; NULL where absent */
	bool lost;                  /* memory or descriptors ran out: what is absent may be there */
};

/* Whether a file begins as an ELF file that is read here: a base_judge_fn without data. */
enum hg_status snap_elf_judge(
	void *data, const uint8_t *bytes, size_t size, struct hg_error *error);

/* The bytes of 'file' become the elf's (also on failure); or of a window that outlives it. */
enum hg_status snap_elf_open(struct snap_elf *elf, struct base_file *file, struct hg_error *error);
enum hg_status snap_elf_over(
	struct snap_elf *elf, const void *bytes, uint64_t size, struct hg_error *error);
void snap_elf_close(struct snap_elf *elf);

/*
 * Adds .symtab of the file with the debug information of a stripped one, when it is installed and
 * has the same build-id: /usr/lib/debug/.build-id/xx/yyy.debug, or the name in .gnu_debuglink in
 * 'folder', its .debug, and the folder of that name under /usr/lib/debug.
 */
void snap_elf_add_debug(
	struct snap_elf *elf, const char *folder, const struct base_unpack_limits *unpack);

/* Whether any symbol is defined: false for a static and stripped program. */
bool snap_elf_has_symbols(const struct snap_elf *elf);

struct snap_elf_symbol {
	const char *name;
	uint64_t value; /* address without load bias; offset in the TLS segment if STT_TLS */
	uint64_t size;  /* bytes; 0 unknown */
	uint16_t section;
	uint8_t type; /* STT_OBJECT, ... */
	bool is_global;
	bool is_absolute; /* value is no address of the file */
};

/* A defined symbol of this name, a global one if there is one, .symtab before .dynsym. */
bool snap_elf_find_symbol(struct snap_elf *elf, const char *name, struct snap_elf_symbol *out);

/*
 * The symbol that holds an address (without load bias): the nearest one whose size reaches to it,
 * else the nearest before it without a size, in the same section.
 */
bool snap_elf_symbol_at(struct snap_elf *elf, uint64_t address, struct snap_elf_symbol *out);

/* The segment of a kind (PT_LOAD, ...) that holds an address without bias; or the first, PT_TLS. */
bool snap_elf_segment_at(const struct snap_elf_view *view, uint64_t address, Elf64_Phdr *out);
bool snap_elf_segment(const struct snap_elf_view *view, uint32_t type, Elf64_Phdr *out);

/* The line of the source of a code address (without bias), by DWARF; false if that does not tell.
 */
bool snap_elf_line(struct snap_elf *elf, uint64_t address, const char **file, uint32_t *line);

/* Call frame information through libdw, .eh_frame at which = 0, .debug_frame at 1; or NULL. */
struct Dwarf_CFI_s *snap_elf_cfi(struct snap_elf *elf, unsigned which);

/* What it says of an address (without bias), to be freed; or NULL. */
struct Dwarf_Frame_s *snap_elf_frame(struct snap_elf *elf, unsigned which, uint64_t address);

#endif
