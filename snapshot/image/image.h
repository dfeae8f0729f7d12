/*
 * The address space of one process, as far as an ELF core file and the files that were mapped tell:
 * cores of the kernel (core(5)), of gdb's gcore, and our own.
 *
 * A core holds what the process wrote to; what it only read (.text, .rodata, .eh_frame) is served
 * from the executable and the libraries, which are found by the paths in the core and compared by
 * build-id; our own cores hold copies of them.  Memory that is in neither is absent, which is not
 * the same as zero.
 *
 * Opening maps the files and reads headers and notes only.  Symbols and unwinding tables are read
 * when first asked for: functions that take a struct snap_image that is not const are for one
 * thread at a time, the others for any number.
 */
#ifndef SNAPSHOT_IMAGE_IMAGE_H
#define SNAPSHOT_IMAGE_IMAGE_H

#include "snapshot/arch/registers.h"
#include "snapshot/image/elf_file.h"

struct snap_thread {
	uint32_t id;
	uint32_t signal;                         /* that stopped it; 0 none */
	uint64_t registers[SNAP_USER_REGISTERS]; /* by their places, SNAP_USER_... */
};

#define SNAP_NO_FILE UINT32_MAX

/* One line of the core's list of mapped files. */
struct snap_file_map {
	uint64_t start, end;
	uint64_t offset; /* in the file, of 'start' */
	const char *path;
	uint32_t file; /* index of its snap_image_file, or SNAP_NO_FILE for what is no program */
};

/* An executable or library of the process. */
struct snap_image_file {
	const char *path;              /* as mapped, without " (deleted)"; "[vdso]" */
	const char *found;             /* where its bytes are read; NULL if nowhere */
	const char *missing;           /* why 'found' is NULL */
	uint64_t start, end;           /* of all its mappings, and of .bss */
	uint64_t first_map, map_count; /* in by_path */
	uint64_t bias; /* address in the process - address in the file, modulo 2^64 */
	struct snap_build_id build_id; /* as the core has it; size 0: not compared */
	struct snap_elf elf;           /* if found */
	bool is_copy;                  /* its bytes are parts of it that the core holds */
	struct snap_elf whole;         /* of a copy, when more was asked for and it is there */
	bool whole_tried;
	bool has_holes;  /* pages of zeros in the core are pages of the file */
	bool is_foreign; /* its symbols are of another program in the same process */
};

/* Consecutive bytes of the address space. */
struct snap_piece {
	uint64_t address, end;
	const uint8_t *bytes;
	uint32_t flags; /* PF_R | PF_W | PF_X */
	uint32_t file;  /* whose file holds the bytes; SNAP_NO_FILE: the core does */
};

/* A PT_LOAD of the core: memory that was mapped, with or without bytes. */
struct snap_load {
	uint64_t address, end;
	uint64_t held; /* bytes that the core holds, from 'address' */
	uint64_t offset;
	uint32_t flags;
};

struct snap_image_options {
	const char *core;
	const struct base_file *opened; /* its bytes, when somebody else keeps it open; or NULL */
	const char *executable; /* or bytecode that it runs; NULL: the one that the core names */
	const char *libraries;  /* folder with files of the machine the core comes from, by full
				   path below it or by name; or NULL */
	bool partial;           /* accept a core that is cut short */
	const struct base_unpack_limits *unpack; /* of compressed files; or NULL */
	bool no_host_files; /* only those named above and the copies that the core holds */
};

/* A segment of a file that was found. */
struct snap_file_segment {
	uint64_t start, end;
	uint32_t file;
};

struct snap_capture_note; /* capture_note.h */

struct snap_image {
	struct base_file core;
	bool core_is_borrowed;
	bool no_host_files; /* as the options say */
	struct snap_elf_view view;
	struct base_pool pool;

	struct snap_load *loads; /* by address, disjoint */
	uint64_t load_count;
	struct snap_piece *pieces; /* by address, disjoint */
	uint64_t piece_count;
	struct snap_file_map *maps; /* by address, disjoint */
	struct snap_file_map **by_path;
	uint64_t map_count;
	struct snap_image_file *files;
	uint32_t file_count;
	struct snap_image_file *main;       /* the executable, found */
	struct snap_file_segment *segments; /* by address, disjoint */
	uint64_t segment_count;

	struct snap_thread
		*threads; /* in the order of the core: kernels put the one that died first */
	uint64_t thread_count, thread_capacity;
	uint64_t
		no_address_bits; /* that return addresses may have besides; see snap_image_code() */
	const uint8_t *auxv;     /* pairs of words, of which the last need not be AT_NULL */
	uint64_t auxv_pairs;
	uint64_t pid;         /* HG_UNKNOWN if neither process nor threads are recorded */
	const char *path;     /* of the core */
	const char *bytecode; /* file of the bytecode that it runs, as the user says; or NULL */
	const struct base_unpack_limits *unpack; /* of compressed files; or NULL */
	const char *program;                     /* name without folder */
	const char *arguments;                   /* the first 79 bytes of the command line, or "" */
	uint64_t cut_offset;  /* where the first bytes are missing; HG_NO_OFFSET: none are */
	const char *cut_part; /* what they are of */
	struct snap_capture_note *capture; /* what a core of ours says of itself; never NULL */
	bool lost; /* memory ran out in a function that has no status to say so */
};

/* On failure *image needs no release; the error names the file it is about. */
enum hg_status snap_image_open(
	struct snap_image *image, const struct snap_image_options *options, struct hg_error *error);
void snap_image_close(struct snap_image *image);

/*
 * Whether memory, or descriptors, ran out for symbols, names, lines or unwinding tables, the
 * functions for which answer as if there were none.
 */
bool snap_image_lost(const struct snap_image *image);

/*
 * The bytes at an address, 'wanted' of them or as many as are contiguous in a file; NULL and 0 when
 * there are none.  They live as long as the image.
 */
const uint8_t *snap_image_at(
	const struct snap_image *image, uint64_t address, size_t wanted, size_t *got);

/* Bytes of the core and of the files that were found: bounds what can be in them. */
uint64_t snap_image_bytes(const struct snap_image *image);

/* How many of the bytes from an address on are there, without a hole. */
uint64_t snap_image_present(const struct snap_image *image, uint64_t start, uint64_t size);

/* Copies bytes that may lie in several pieces; false when one of them is absent. */
bool snap_image_read(const struct snap_image *image, uint64_t address, void *buffer, size_t size);
bool snap_image_u64(const struct snap_image *image, uint64_t address, uint64_t *out);
bool snap_image_u32(const struct snap_image *image, uint64_t address, uint32_t *out);

/*
 * The C string at an address, with its NUL; false when it is absent or does not end within the
 * buffer.
 */
bool snap_image_string(const struct snap_image *image, uint64_t address, char *buffer, size_t size);

/* Where code is that a word of a stack returns to: without signatures and marks. */
static inline uint64_t snap_image_code(const struct snap_image *image, uint64_t word)
{
	return word & ~image->no_address_bits;
}

/* The piece, or the mapping of the core, that holds an address; NULL if none does. */
const struct snap_piece *snap_image_piece(const struct snap_image *image, uint64_t address);
const struct snap_load *snap_image_load(const struct snap_image *image, uint64_t address);

/* The file mapped at an address, and what the core knows of the mapping; NULL if none is. */
const struct snap_file_map *snap_image_map(const struct snap_image *image, uint64_t address);
struct snap_image_file *snap_image_file_at(struct snap_image *image, uint64_t address);

/* A value of the auxiliary vector (AT_ENTRY, ...); false if it is not there. */
bool snap_image_auxv(const struct snap_image *image, uint64_t type, uint64_t *value);

/* The first note of an owner and type, in the mapping of the core; false if there is none. */
bool snap_image_note(
	const struct snap_image *image, const char *owner, uint32_t type, struct snap_note *out);

struct snap_symbol {
	const char *name;
	const struct snap_image_file *file;
	uint64_t address; /* in the process; of TLS symbols the offset in the TLS segment */
	uint64_t size;    /* bytes; 0 unknown */
	uint8_t type;     /* STT_OBJECT, STT_FUNC, ... */
	bool is_tls;
	bool is_global;
};

/* A symbol by its name: of the executable, else of its libraries in order of paths. */
bool snap_image_symbol(struct snap_image *image, const char *name, struct snap_symbol *out);
/* Of the executable only. */
bool snap_image_main_symbol(struct snap_image *image, const char *name, struct snap_symbol *out);

/* Of one file of the image. */
bool snap_image_file_symbol(
	struct snap_image_file *file, const char *name, struct snap_symbol *out);

/* The symbol that holds an address, and how far after its beginning that is. */
bool snap_image_symbol_at(
	struct snap_image *image, uint64_t address, struct snap_symbol *out, uint64_t *offset);

/* File and line of the source of a code address, by DWARF; false if that is not at hand. */
bool snap_image_line(
	struct snap_image *image, uint64_t address, const char **source, uint32_t *line);

/*
 * Between the files of this module: image_open.c reads the core, image_files.c finds its files,
 * image_pieces.c makes one address space of both.
 */

static inline bool snap_map_holds(const struct snap_file_map *map, uint64_t address)
{
	return address >= map->start && address < map->end;
}

/* Bytes that the core itself holds, up to the end of their segment; NULL and 0 if it has none. */
const uint8_t *snap_core_bytes(const struct snap_image *image, uint64_t address, uint64_t *size);

/*
 * Whether a page of the core is all zeros.  A capture from a forked child may write so the pages of
 * files that the child has not read, and which its page tables therefore lack.
 */
bool snap_core_is_hole(const struct snap_image *image, uint64_t address);

/* Puts mappings in order of addresses; fails when they overlap. */
enum hg_status snap_sort_maps(struct snap_image *image, struct hg_error *error);

/* After the core has been read: finds and opens the files it maps, and lays out the pieces. */
enum hg_status snap_image_find_files(
	struct snap_image *image, const struct snap_image_options *options, struct hg_error *error);

/* After the files have been found: the segments and the pieces. */
enum hg_status snap_image_lay_out(struct snap_image *image, struct hg_error *error);

#endif
