/*
 * Of heapgraph.h: snapshots, what they say of themselves, the analysis and its totals.
 */
#ifndef HEAPGRAPH_SNAPSHOT_H
#define HEAPGRAPH_SNAPSHOT_H

#include "heapgraph/session.h"

struct hg_snapshot;

/* In the order in which the bytes of a file are compared with them. */
enum hg_format {
	HG_FORMAT_ELFCORE,
	HG_FORMAT_OCP2014,
	HG_FORMAT_MEMPROF01,
	HG_FORMAT_MEMPROF02,
	HG_FORMATS
};

/* "elfcore", ...: what can be given in hg_input.format; NULL from HG_FORMATS on. */
HG_API const char *hg_format_name(enum hg_format format);

struct hg_input {
	size_t size;
	const char *path;    /* the snapshot, needed; a zstd-compressed one is decompressed aside */
	const char *format;  /* a name of hg_format_name(), or NULL: recognised by name and bytes */
	const char *profile; /* the location source (.prof, .locations, process_info), or NULL:
				looked for beside the snapshot, then in the current folder */
	bool partial;        /* accept a file cut short: analyse what is there */
	const char *executable; /* of a core, or NULL: the one that the core names */
	const char *libraries;  /* folder with the files of the machine a core comes from, by full
				   path below it or by name; or NULL */
	const char *types;      /* the type profile (exe.prof as heapgraph-prof writes it), or NULL:
				   looked for */
	const char *const *directories; /* of the .cmt files of a historical program */
	size_t directory_count;
	bool require_types;   /* fail (HG_ERROR_INPUT) if there is nothing that tells types */
	bool without_types;   /* none are needed: they are not looked for unless 'types',
				  'directories' or 'require_types' say so */
	bool all_roots_alike; /* stack slots, registers and local roots hold what other roots hold
				 as well, and so do globals that are copies of others; if false
				 only what no other does */
	bool in_series;       /* it will be compared with others of the program: types that only
				 the samples of Gc.Memprof tell are left out, as these are of other
				 blocks in each */
	const char *memtrace; /* a trace of the same run, which tells where the blocks were made
				 whose object ids Gc.Memprof keeps (join.h); or NULL */
};

/*
 * Maps the file, checks its structure to the end and counts its blocks; no graph yet.  Fails with
 * HG_ERROR_INPUT naming the offset of the first contradiction.
 */
HG_API enum hg_status hg_snapshot_open(
	struct hg_session *session, const struct hg_input *input, struct hg_snapshot **out);
HG_API void hg_snapshot_close(struct hg_snapshot *snapshot);

/*
 * What a file is, also when no loader takes it ("ELF core file", "directory", "empty file").
 * Writes one line without newline; fails only when the path cannot be examined.
 */
HG_API enum hg_status hg_identify(
	struct hg_session *session, const char *path, char *buffer, size_t size);

/*
 * Both kinds of profiles are called .prof: what the bytes of one are.  HG_ERROR_INPUT if it cannot
 * be read.
 */
enum hg_profile_kind { HG_PROFILE_LOCATIONS, HG_PROFILE_TYPES };
HG_API enum hg_status hg_identify_profile(
	struct hg_session *session, const char *path, enum hg_profile_kind *out);

/* What the file says of itself */

enum hg_root_kind {
	HG_ROOT_GLOBAL,
	HG_ROOT_STACK,
	HG_ROOT_LOCAL,
	HG_ROOT_C_GLOBAL,
	HG_ROOT_FINALISER,
	HG_ROOT_NAMED_VALUE,
	HG_ROOT_EPHEMERON,
	HG_ROOT_MEMPROF,
	HG_ROOT_OTHER,
	HG_ROOT_KINDS
};

/* "global", "stack", ...: the words of reports. */
HG_API const char *hg_root_kind_name(enum hg_root_kind kind);

enum hg_segment { HG_SEGMENT_HEAP, HG_SEGMENT_MINOR, HG_SEGMENT_STATIC };

HG_API const char *hg_segment_name(enum hg_segment segment);

/* In the middle of what a process was when it was stopped. */
enum hg_moment {
	HG_MOMENT_UNKNOWN,
	HG_MOMENT_CLEAN, /* of nothing: the heap is as between two allocations */
	HG_MOMENT_MINOR_COLLECTION,
	HG_MOMENT_COMPACTION,
	HG_MOMENT_FILLING, /* of a block just allocated, or of an array */
	HG_MOMENT_INSIDE,  /* of a call that the program itself made to write the core */
	HG_MOMENTS
};

/* "unknown", "clean", "minor-collection", "compaction", "filling", "inside": as in cores. */
HG_API const char *hg_moment_name(enum hg_moment moment);

/* Whether there is a table of types; else only tags tell. */
enum hg_type_state {
	HG_TYPES_UNREAD,  /* the snapshot has not been analysed, or without types */
	HG_TYPES_ABSENT,  /* nothing was found that tells them */
	HG_TYPES_REFUSED, /* what was found is of another program or damaged, and not used */
	HG_TYPES_STALE,   /* units of the program were built anew since; not all are used */
	HG_TYPES_FRESH
};

/* How heapgraph captures a running program; of a core, how it was. */
enum hg_capture_method {
	HG_CAPTURE_ANY,    /* the first that the system allows; of a core: not known */
	HG_CAPTURE_FORK,   /* stop, fork it, resume: the copy is read while the program runs */
	HG_CAPTURE_VMREAD, /* stop, copy its memory, resume: needs as much memory */
	HG_CAPTURE_METHODS
};

/* "fork", "vmread"; NULL for anything else. */
HG_API const char *hg_capture_method_name(enum hg_capture_method method);

/* Strings are never NULL: "" is nothing, or not known. */
struct hg_info {
	/* The file, and the program that it is of. */
	const char *path;
	enum hg_format format;
	const char *title;       /* "OCamlmemprof 0.1 heap dump", ... */
	uint64_t file_bytes;     /* decompressed */
	const char *partial;     /* in the middle of what a file cut short ends */
	uint64_t partial_offset; /* where, or HG_NO_OFFSET */
	const char *program;     /* its name as recorded */
	const char *ocaml_version;
	uint64_t pid, index;    /* as the file or its name tells */
	const char *trigger;    /* why or under which name the file was written */
	uint64_t time_ns;       /* when, since 1970 */
	bool native;            /* code of ocamlopt */
	unsigned word_size;     /* bytes */
	unsigned reserved_bits; /* R: wosize has 54 - R bits */
	unsigned note_count;
	const char *const *notes; /* a line each: what could not be read */

	/* The heap. */
	uint64_t chunks, chunk_bytes;
	uint64_t blocks, bytes; /* all blocks recorded, headers included */
	size_t root_kinds;      /* as the library has them */
	const uint64_t *roots;  /* slots by hg_root_kind, so many kinds */
	/*
	 * Of the major heap: what Gc.stat counts as live, and free blocks and slots.  In cores
	 * heap_bytes = 8 * live_words + free + fragments + damaged; live_words has the 2 words in
	 * front of each large block of 5.x that Gc.stat counts.
	 */
	uint64_t live_words, live_blocks, free_bytes;
	/* Of cores, else HG_UNKNOWN. */
	uint64_t heap_bytes, free_blocks, fragment_bytes, damaged_bytes;
	uint64_t large_blocks;  /* of 5.x */
	uint64_t minor_bytes;   /* of the minor heaps, the part in use */
	uint64_t static_blocks; /* in the program's data, found by pointers to them; 0 none */

	/*
	 * Of cores: the moment as their memory tells; and of those that heapgraph wrote, what their
	 * note says, as constants and in its words, which may be those of another version.
	 */
	enum hg_moment moment;
	enum hg_moment capture_moment;
	enum hg_capture_method capture_method;
	const char *capture_consistency, *method;

	/* Locations. */
	const char *profile;         /* their source in use */
	const char *profile_note;    /* why there is none, or what is odd about it */
	uint64_t locations;          /* entries of the source */
	uint64_t location_conflicts; /* ids of the source that share their low 21 bits */
	/* Of cores: what Gc.Memprof tracks in the program; else HG_UNKNOWN. */
	uint64_t samples;            /* blocks, also some that have been freed since */
	uint64_t samples_with_stack; /* of these, with a call stack */
	uint64_t sampling_rate_ppb;  /* sampled words per 10^9; HG_UNKNOWN also if rates differ */

	/* Types, once analysed. */
	enum hg_type_state type_state;
	bool has_types;           /* it is HG_TYPES_STALE or HG_TYPES_FRESH */
	const char *type_profile; /* where they are from */
	const char *type_note;    /* why there are none, or what is odd about them */

	bool all_roots_alike; /* as asked for */
};

/* It is filled anew, where it is, when the snapshot is analysed. */
HG_API const struct hg_info *hg_snapshot_info(const struct hg_snapshot *snapshot);
HG_API bool hg_has_types(const struct hg_snapshot *snapshot); /* as in hg_info */

/* A piece of address space of the heap. */
struct hg_chunk {
	uint64_t address;
	uint64_t bytes;
	enum hg_segment segment;
};

/* By ascending address; NULL past the end.  Valid until this is asked again of the snapshot. */
HG_API const struct hg_chunk *hg_snapshot_chunk(struct hg_snapshot *snapshot, uint64_t index);

/* The analysis */

/* Anonymous memory that hg_snapshot_analyse() will need at its peak, in bytes. */
HG_API uint64_t hg_snapshot_estimate(const struct hg_snapshot *snapshot);

/*
 * Reachability, dominators and retained sizes; needed once before any question below.  Time and
 * memory are near linear in blocks and pointers, whatever the shape of the heap.  After a failure
 * or a cancellation the snapshot can only be closed.
 */
HG_API enum hg_status hg_snapshot_analyse(struct hg_snapshot *snapshot);

/*
 * HG_ERROR_LIMIT if memory ran out in one of the functions that have no status to say so: those
 * that fill in a block, a name or a text.  What they answered since the snapshot was opened is then
 * not to be believed.  Ask once, at the end.
 */
HG_API enum hg_status hg_snapshot_complete(struct hg_snapshot *snapshot);

/*
 * Totals.  They reconcile: reachable + unreachable = all blocks of the file, and the shallow bytes
 * of the reachable ones = retained_bytes, what the virtual root retains.
 */
struct hg_totals {
	uint64_t blocks, bytes;
	uint64_t reachable_blocks, reachable_bytes;
	uint64_t unreachable_blocks, unreachable_bytes;
	uint64_t unreachable_heap_blocks;     /* of these, in the major heap */
	uint64_t static_blocks, static_bytes; /* of all blocks, in the program's data */
	uint64_t minor_blocks, minor_bytes;   /* of all blocks, in minor heaps */
	uint64_t retained_bytes;              /* of the virtual root, by the dominator tree */
	uint64_t pointers;                    /* fields that lead to a block, infix ones included */
	uint64_t infix_pointers;
	uint64_t code_pointers;      /* into the program's code, as far as the file tells */
	uint64_t outside_pointers;   /* out of every chunk: static data, atoms, young blocks */
	uint64_t atom_pointers;      /* to blocks without fields, which are no nodes */
	uint64_t forwarded_pointers; /* of the pointers, those to where a block was before */
	uint64_t dangling_pointers;  /* into a chunk but not to a block, in reachable blocks */
	uint64_t unreachable_dangling_pointers; /* the same in others: garbage may dangle */
	uint64_t immediates;          /* fields that are integers; HG_UNKNOWN if not recorded */
	uint64_t roots, root_targets; /* root slots, and those that lead to a block */
	uint64_t offheap_bytes;       /* HG_UNKNOWN if the file has none */
	uint64_t located_blocks, located_bytes; /* with a location or a predefined id */
	uint64_t recovered_blocks;          /* of these, by restoring the lost bit 21 of the id */
	uint64_t typed_blocks, typed_bytes; /* of all blocks, with a type */
	uint64_t shape_clashes;    /* a type led to a block that none of its values can be */
	uint64_t type_conflicts;   /* blocks of the heap with types that do not go together */
	uint64_t static_conflicts; /* the same in static data: constants that types share */
	/*
	 * Blocks without a type that were given up: what leads to them contradicted what others
	 * say, or led to the same as what does, which was not told apart to the end.
	 */
	uint64_t given_up_blocks;
	uint64_t sampled_blocks; /* of those with a location: Gc.Memprof sampled some words */
	/*
	 * Of offheap_bytes, those of reachable blocks; 0 if there are none.  And files that blocks
	 * map (Unix.map_file), which are not in offheap_bytes.
	 */
	uint64_t retained_offheap_bytes;
	uint64_t mapped_file_bytes;
	/*
	 * What Gc.Memprof keeps for itself while it samples: call stacks.  They are not among the
	 * typed blocks, and no share of these counts them as untyped.
	 */
	uint64_t memprof_blocks, memprof_bytes;
};

/*
 * The memory of the process behind a core, in bytes, each in one place:
 *
 *     total = heap + offheap + stacks + data + rest + files + shared
 *         + uncounted - overcounted
 *
 * If it is resident, 'total' is what the kernel counted when heapgraph stopped the process (VmRSS),
 * and the parts that are the process's own are the pages that were in memory.  Of other cores
 * 'total' is the memory that the core holds, of which nobody knows whether it was resident.
 */
struct hg_memory {
	bool is_resident;
	uint64_t total;
	uint64_t heap;    /* OCaml's: the major heap with its free parts, minor heaps */
	uint64_t offheap; /* of blocks of it, as hg_totals.offheap_bytes says */
	uint64_t stacks;  /* of threads, and of the fibers that are suspended */
	uint64_t data;    /* of the program and its libraries, static blocks among it */
	uint64_t rest;    /* malloc() of C and of the runtime, and all other private memory */
	uint64_t files;   /* mapped: code, read-only data, what Bigarrays map */
	uint64_t shared;  /* with other processes, without a file */
	uint64_t uncounted, overcounted; /* the kernel counts more than it lists pages, or less */
	/* Not in the sum; HG_UNKNOWN. */
	uint64_t peak;           /* of the resident memory so far (VmHWM) */
	uint64_t swapped;        /* that was not in memory */
	uint64_t offheap_absent; /* of hg_totals.offheap_bytes: never touched, or not in the core */
	uint64_t heap_absent;    /* of the heap, the same */
	uint64_t offheap_unplaced; /* of hg_totals.offheap_bytes: somewhere in the rest */
};

/* NULL if there is no process behind the file.  Valid as long as the snapshot. */
HG_API enum hg_status hg_reconcile_memory(
	struct hg_snapshot *snapshot, const struct hg_memory **out);

HG_API enum hg_status hg_count_totals(struct hg_snapshot *snapshot, const struct hg_totals **out);

#endif
