/*
 * libheapgraph: what fills the memory of an OCaml program.
 *
 * The library opens a heap snapshot, computes reachability, immediate dominators and retained
 * sizes of every block, and answers questions about them.  The order of calls:
 *
 *     hg_session_open()  ->  hg_snapshot_open()  ->  hg_snapshot_analyse()  ->  hg_list_top(), ...
 *
 * Words: a block is a heap object, header and fields; a location is where a block was allocated; a
 * root is a place outside the heap that holds a block; retained bytes of a block are what would be
 * freed with it.  Sizes are bytes unless a name says words.  Addresses are those of field 0.
 * HG_UNKNOWN stands for a number that is not known.
 *
 * Errors: functions that can fail return an hg_status; hg_session_error() then tells what, in
 * which file and at which offset.  Of two snapshots it is the session of the second one, the new
 * one, that tells.  Nothing prints, exits or aborts; there are no globals.
 *
 * Ownership: a snapshot belongs to its session and must be closed before it.  What a function hands
 * out through its last argument is the caller's, who may change what is in it: results are freed by
 * hg_X_release(), which sets the pointer to NULL, handles by hg_X_close(); both take NULL.  After a
 * failure the pointer is NULL.  What is 'const' is not the caller's: it belongs to what it was
 * asked of, and is valid as long as that, or as its comment says.
 *
 * Arguments: structs of options begin with their size and may be NULL, or shorter than this header
 * has them: the rest is as if zero, or what their comments say.  Handles and places for results
 * that are NULL, values that no enum has, strings that are NULL where the comment does not allow it
 * are HG_ERROR_USAGE; functions without a status return what they do for a thing that there is not:
 * false, 0, NULL or HG_NO_NODE, the text "", or "?" for the names of constants.  Those that are
 * asked for the text of a key or part that there is not set the session's error as well.
 *
 * Text: results hold numbers, whose names are asked for.  Functions that take a buffer and its size
 * cut and count as snprintf(3); a buffer that is NULL has no room.
 *
 * Growth: what is compiled with this header goes on working with every later library of the same
 * soname (libheapgraph.so.0), which changes when one of these rules is broken.  Structs grow at
 * their end only: those that the caller makes begin with their size; all others come from the
 * library by pointer, rows of arrays too, so that nobody needs to know how long they are.  Enums
 * get further constants after the last one, so that a value may come which the header does not
 * have; the constants HG_KEYS, HG_FORMATS, ... that count them are those of the header.  Functions
 * keep their arguments and meaning; new ones are added.  Text (names, messages) may change.
 *
 * Files of input are mapped and must stay as they are while a snapshot is open.  The thread that
 * reads one which somebody cuts short gets SIGBUS.  The library installs no handler of signals: a
 * program that must outlive that, as the command ends with a message, installs its own.
 *
 * Threads: one session is used by one thread at a time; sessions do not share anything.
 */
#ifndef HEAPGRAPH_H
#define HEAPGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HG_API __attribute__((visibility("default")))

/* Of this header. */
#define HG_VERSION "0.1.0"
#define HG_VERSION_MAJOR 0
#define HG_VERSION_MINOR 1
#define HG_VERSION_PATCH 0

/* Of the library that runs, and what serves its memory: "0.1.0 (jemalloc 5.3.0-0)". */
HG_API void hg_version(char *buffer, size_t size);

enum hg_status {
	HG_OK = 0,
	HG_ERROR_USAGE,     /* an argument: unknown format, bad pattern, no such block */
	HG_ERROR_INPUT,     /* a file that cannot be read, or contradicts its format */
	HG_ERROR_OUTPUT,    /* a file that cannot be written */
	HG_ERROR_LIMIT,     /* memory, or a size beyond what the program can hold */
	HG_ERROR_CANCELLED, /* the progress callback said so */
	HG_ERROR_INTERNAL
};

/* "ok", "usage", "input", "output", "limit", "cancelled", "internal" */
HG_API const char *hg_status_name(enum hg_status status);

#define HG_UNKNOWN UINT64_MAX /* for numbers */
#define HG_NO_OFFSET UINT64_MAX

struct hg_error {
	enum hg_status status;
	uint64_t offset;   /* in bytes from the start of the file, or HG_NO_OFFSET */
	char file[4096];   /* empty when no file is concerned */
	char message[512]; /* one line, lower case, without file and offset */
};

/* Sessions */

struct hg_session;

/*
 * Called from time to time during long work with the name of the phase and how much of it is done;
 * 'total' is 0 when unknown.  Returning true cancels the work (HG_ERROR_CANCELLED).
 */
typedef bool hg_progress_fn(void *data, const char *phase, uint64_t done, uint64_t total);

struct hg_options {
	size_t size;
	unsigned threads;    /* for the passes over the heap; 0 means 1 */
	uint64_t max_memory; /* bytes of anonymous memory the session may use; 0: no limit */
	hg_progress_fn *progress;
	void *progress_data;
	uint64_t max_decompressed; /* bytes, zeros included, that a compressed file may decompress
				      to; 0: 1000 times its size, at least 256 MiB, and with zeros
				      at least 16 GiB */
	bool no_host_files; /* use only files that the caller names, and what is in them: none that
			       a core names, and none that lies beside the snapshot */
};

/* On failure only the status tells why. */
HG_API enum hg_status hg_session_open(const struct hg_options *options, struct hg_session **out);
HG_API void hg_session_close(struct hg_session *session);

/* The last failure of this session; valid until its next call.  NULL of none. */
HG_API const struct hg_error *hg_session_error(const struct hg_session *session);

/* Bytes of big arrays now, and at most so far. */
HG_API void hg_session_memory(const struct hg_session *session, uint64_t *used, uint64_t *peak);

/* Snapshots */

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
	bool require_types; /* fail (HG_ERROR_INPUT) if there is nothing that tells types */
	bool without_types; /* none are needed: they are not looked for unless 'types',
				'directories' or 'require_types' say so */
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
};

HG_API enum hg_status hg_count_totals(struct hg_snapshot *snapshot, const struct hg_totals **out);

/* Nodes: blocks 0 .. blocks-1 by ascending address, then the roots, then the virtual root */

typedef uint32_t hg_node;
#define HG_NO_NODE UINT32_MAX

enum hg_confidence { HG_UNKNOWN_ORIGIN, HG_GUESSED, HG_INFERRED, HG_EXACT };

HG_API const char *hg_confidence_name(enum hg_confidence confidence);

/*
 * One node.  For roots address, tag, words and bytes are 0 and location is 0.  Of a node that there
 * is not, 'node' is HG_NO_NODE and all else 0.
 */
struct hg_block {
	hg_node node;
	bool is_root; /* a root node or the virtual root */
	bool reachable;
	bool is_continuation; /* of OCaml 5: its fields are not values, it holds a fiber */
	uint8_t tag;
	enum hg_segment segment;
	uint64_t address;        /* of field 0 */
	uint64_t words;          /* wosize: fields, without the header */
	uint64_t bytes;          /* header included */
	uint64_t retained_bytes; /* 0 when unreachable */
	uint64_t offheap_bytes;
	hg_node idom;      /* HG_NO_NODE when unreachable and for the virtual root */
	uint32_t location; /* for hg_location_name(); 0: none */
	enum hg_confidence location_confidence;
	uint32_t type; /* for hg_type_name(); 0: unknown */
	enum hg_confidence type_confidence;
};

HG_API hg_node hg_virtual_root(const struct hg_snapshot *snapshot);

/* Never NULL; valid until a block of the snapshot is described again: copy it if need be. */
HG_API const struct hg_block *hg_describe_block(struct hg_snapshot *snapshot, hg_node node);

/* The block that holds this address (field 0, or inside), or HG_NO_NODE. */
HG_API hg_node hg_block_at(struct hg_snapshot *snapshot, uint64_t address);

/* The block that a root leads to; HG_NO_NODE if to none, or if the node is no root. */
HG_API hg_node hg_root_target(const struct hg_snapshot *snapshot, hg_node node);

/*
 * Every block in order of addresses, faster than hg_describe_block() one by one; NULL at the end.
 * A block is valid until the next one is asked for.
 */
struct hg_objects;

HG_API enum hg_status hg_objects_open(struct hg_snapshot *snapshot, struct hg_objects **out);
HG_API const struct hg_block *hg_objects_next(struct hg_objects *objects);
HG_API void hg_objects_close(struct hg_objects *objects);

/* Names */

/*
 * "0x..." for a block, "kind name" for a root, "root" for the virtual one; and of a root its kind
 * (HG_ROOT_OTHER of another node) and its name alone.
 */
HG_API size_t hg_node_name(
	const struct hg_snapshot *snapshot, hg_node node, char *buffer, size_t size);
HG_API enum hg_root_kind hg_kind_of_root(const struct hg_snapshot *snapshot, hg_node node);
HG_API size_t hg_root_name(
	const struct hg_snapshot *snapshot, hg_node node, char *buffer, size_t size);

/* "file:line:start-end"; "[name]" for a predefined id, "" for none. */
HG_API size_t hg_location_name(
	const struct hg_snapshot *snapshot, uint32_t location, char *buffer, size_t size);

/*
 * A type in OCaml's syntax, "(string, int list) Hashtbl.t", "_" for what is not known inside; ""
 * for none.
 */
HG_API size_t hg_type_name(
	const struct hg_snapshot *snapshot, uint32_t type, char *buffer, size_t size);

/*
 * The field of a block, as one writes it after the block: ".visits" of a record, "Some.0" of a
 * constructor, ".0" of a tuple, "[12]" of an array, "hd" and "tl" of a list, ".table" of a module;
 * "" when the type does not tell.
 */
HG_API size_t hg_field_name(
	struct hg_snapshot *snapshot, hg_node node, uint64_t field, char *buffer, size_t size);

/*
 * What cores tell besides: the function at a code address ("Stdlib__List.map"), the kind of a
 * custom block ("_bigarr02"), a frame of the call stack that allocated a block which Gc.Memprof
 * tracks ("Foo.bar foo.ml:12:3-8", frame 0 innermost).
 */
HG_API size_t hg_code_name(
	const struct hg_snapshot *snapshot, uint64_t address, char *buffer, size_t size);
HG_API size_t hg_custom_name(
	const struct hg_snapshot *snapshot, hg_node node, char *buffer, size_t size);
HG_API size_t hg_call_frame(const struct hg_snapshot *snapshot, hg_node node, uint64_t frame,
	char *buffer, size_t size);

/* The number that a profiler keeps with a block: memtrace's object id.  False if there is none. */
HG_API bool hg_sample_id(const struct hg_snapshot *snapshot, hg_node node, int64_t *id);

/* Classes: blocks that share a key */

enum hg_key {
	HG_BY_LOCATION,
	HG_BY_TAG,
	HG_BY_MODULE,
	HG_BY_ROOT,
	HG_BY_TYPE,
	HG_BY_TYPE_LOCATION,
	HG_BY_CALL_STACK, /* of blocks that Gc.Memprof tracks */
	HG_KEYS
};

/* "location", ...; and back, false when there is no such key. */
HG_API const char *hg_key_name(enum hg_key key);
HG_API bool hg_key_parse(const char *name, enum hg_key *out);

/*
 * A row.  Blocks and bytes count reachable and unreachable ones; retained bytes are the sum over
 * blocks of the class that no other block of it dominates.  Of a root: blocks and bytes are its
 * direct targets, retained bytes those of its node.
 */
struct hg_class {
	uint32_t id; /* for hg_class_name() */
	enum hg_confidence confidence;
	uint64_t blocks, bytes, retained_bytes;
	/*
	 * If Gc.Memprof tracks some of the blocks: 'blocks' and 'bytes' are of those that it tracks
	 * where the key is a location or call stack.  The bytes of all that were allocated alike,
	 * by the rate with which words were sampled, and the standard error of that; HG_UNKNOWN.
	 */
	uint64_t estimated_bytes, estimated_error;
};

struct hg_top {
	enum hg_key key;
	size_t count;
	struct hg_class **rows; /* by retained bytes descending, then name */
	uint64_t blocks, bytes; /* of all rows */
};

/*
 * 'type' may be NULL; else it is a POSIX extended regular expression: only blocks that have a type
 * which matches count, and of roots those that point to such a block.
 */
HG_API enum hg_status hg_list_top(
	struct hg_snapshot *snapshot, enum hg_key key, const char *type, struct hg_top **out);
HG_API void hg_top_release(struct hg_top **top);

/*
 * Name of a class.  For HG_BY_ROOT use hg_kind_of_root() and hg_root_name() with the id as node;
 * the parts of a class by type and location, which has the name "TYPE @ LOCATION", tells
 * hg_class_parts().
 */
HG_API size_t hg_class_name(const struct hg_snapshot *snapshot, enum hg_key key, uint32_t id,
	char *buffer, size_t size);
HG_API void hg_class_parts(
	const struct hg_snapshot *snapshot, uint32_t id, uint32_t *type, uint32_t *location);

/*
 * Root slots: each with the block that it points to.  Several are one of the runtime's stacks that
 * a continuation holds: 'target' is none then, 'targets' are its blocks.
 */
struct hg_root_slot {
	hg_node node;   /* for hg_kind_of_root(), hg_root_name() */
	hg_node target; /* for hg_describe_block(); HG_NO_NODE: an integer, code, out of the heap */
	uint64_t targets, bytes; /* the reachable blocks it points to, 0 or 1 but of stacks */
	uint64_t retained_bytes; /* of the slot: what it alone keeps */
	bool reachable;          /* false of a stack that only garbage holds */
};

struct hg_root_slots {
	size_t count;
	struct hg_root_slot **rows; /* by retained bytes descending, then in order of the file */
	uint64_t with_target;       /* of these, slots that point to a block */
};

/* 'type' as in hg_list_top(): only slots that point to such a block. */
HG_API enum hg_status hg_list_root_slots(
	struct hg_snapshot *snapshot, const char *type, struct hg_root_slots **out);
HG_API void hg_root_slots_release(struct hg_root_slots **slots);

/*
 * The table of types: one row for each declared type whose blocks were met, whatever its arguments,
 * and one for each other kind of type (tuples by size, functions, ...).  All rows together are the
 * typed blocks.
 */
struct hg_declared {
	uint32_t id; /* for hg_declared_text() */
	uint64_t blocks, bytes;
};

struct hg_types {
	size_t count;
	struct hg_declared **rows; /* by bytes descending, then name */
	uint64_t blocks, bytes;    /* of all rows */
};

/* 'unused' adds the declared types that no block has. */
HG_API enum hg_status hg_list_types(
	struct hg_snapshot *snapshot, bool unused, struct hg_types **out);
HG_API void hg_types_release(struct hg_types **types);

/* "('a, 'b) Hashtbl.t", "record", "{ mutable size : int; ... }", "Stdlib__Hashtbl" */
enum hg_declared_part { HG_DECLARED_NAME, HG_DECLARED_KIND, HG_DECLARED_LAYOUT, HG_DECLARED_UNIT };
HG_API size_t hg_declared_text(const struct hg_snapshot *snapshot, uint32_t id,
	enum hg_declared_part part, char *buffer, size_t size);

/*
 * Shape clashes: where types led to blocks that no value of them can be, by type and place.  All
 * rows together are hg_totals.shape_clashes, unless there are more than a million.
 */
struct hg_clash {
	uint32_t type;     /* what was said of the blocks; for hg_type_name() */
	uint32_t found;    /* the type that they have; 0: none */
	uint32_t holder;   /* of the blocks whose fields say so; 0: a root, or not known */
	uint32_t location; /* where the blocks were allocated, for hg_location_name(); 0: none */
	uint64_t words;    /* of the blocks, without header */
	unsigned tag;
	uint64_t clashes;
	uint64_t address; /* of the first of the blocks */
};

struct hg_clashes {
	size_t count;
	struct hg_clash **rows; /* by number of clashes descending, then address */
	uint64_t clashes;       /* of all rows */
};

HG_API enum hg_status hg_list_clashes(struct hg_snapshot *snapshot, struct hg_clashes **out);
HG_API void hg_clashes_release(struct hg_clashes **clashes);

/*
 * Where pointers lead that lead to no block: out of the recorded heap, or into it but not to a
 * block (dangling).  All rows together are hg_totals.outside_pointers, dangling_pointers and
 * unreachable_dangling_pointers.
 */
struct hg_outside_row {
	uint64_t address; /* the lowest that they hold; for hg_outside_name() */
	uint64_t pointers;
	uint64_t holder; /* address of the first block that holds one */
};

struct hg_outside {
	size_t count;
	struct hg_outside_row **rows; /* by number of pointers descending, then address */
	uint64_t pointers;            /* of all rows */
};

HG_API enum hg_status hg_list_outside(struct hg_snapshot *snapshot, struct hg_outside **out);
HG_API void hg_outside_release(struct hg_outside **outside);

/* "/usr/lib/libfoo.so", "memory mapped at 0x7f1200000000", "heap, but no block" */
HG_API size_t hg_outside_name(
	const struct hg_snapshot *snapshot, uint64_t address, char *buffer, size_t size);

/* Growth between two snapshots of the same program, rows matched by name. */
struct hg_growth {
	uint32_t old_id, new_id; /* class in either snapshot; UINT32_MAX when it has none there */
	uint64_t blocks_old, blocks_new;
	uint64_t bytes_old, bytes_new;
	uint64_t retained_old, retained_new;
};

struct hg_diff {
	enum hg_key key;
	size_t count;
	struct hg_growth **rows; /* by |bytes_new - bytes_old| descending, then name; unchanged
				   classes are left out */
};

HG_API enum hg_status hg_compare_snapshots(struct hg_snapshot *old_snapshot,
	struct hg_snapshot *new_snapshot, enum hg_key key, struct hg_diff **out);
HG_API void hg_diff_release(struct hg_diff **diff);

/* Dominator tree */

struct hg_tree_options {
	size_t size;
	hg_node from;          /* subtree to show; HG_NO_NODE, or left out: everything */
	uint32_t max_depth;    /* 0: no limit */
	uint32_t max_children; /* shown per node, the largest first; 0: all */
	uint64_t min_bytes;    /* nodes that retain less are left out */
};

/* Depth first, children by retained bytes descending, then node. */
struct hg_tree_row {
	hg_node node;
	uint32_t depth;
	uint64_t children;        /* in the whole tree */
	uint64_t hidden_children; /* of these, left out below this row */
	uint64_t hidden_bytes;    /* what they retain together */
};

struct hg_tree {
	size_t count;
	struct hg_tree_row **rows; /* the first is the virtual root or 'from' */
};

HG_API enum hg_status hg_list_tree(
	struct hg_snapshot *snapshot, const struct hg_tree_options *options, struct hg_tree **out);
HG_API void hg_tree_release(struct hg_tree **tree);

/* Retention graph: the part of the dominator tree that matters, for drawing. */
struct hg_picture_options {
	size_t size;
	hg_node from;       /* HG_NO_NODE, or left out: the virtual root */
	uint32_t max_nodes; /* 0: 80 */
	uint64_t min_bytes; /* nodes that retain less are folded */
};

/* Either a node, or what was folded below one: 'folded' nodes, of which the rest is a summary. */
struct hg_picture_node {
	hg_node node;    /* HG_NO_NODE for a folded group */
	uint64_t folded; /* how many dominated nodes the group stands for; 0 for a node */
	uint64_t bytes;  /* shallow; of a group: 0 */
	uint64_t retained_bytes;
	uint32_t location; /* of a group: the one that retains half of it or more, 0 if none */
	uint32_t type;     /* the same */
};

enum hg_picture_edge_kind {
	HG_EDGE_HOLDS,     /* the holder points to it and dominates it */
	HG_EDGE_DOMINATES, /* dominates it without pointing to it */
	HG_EDGE_REFERS     /* points to it, but does not dominate it */
};

struct hg_picture_edge {
	uint32_t from, to; /* positions in nodes */
	enum hg_picture_edge_kind kind;
	uint64_t field; /* HG_UNKNOWN when no single field makes the edge */
};

struct hg_picture {
	size_t nodes_count;
	struct hg_picture_node **nodes; /* the first is the top */
	size_t edges_count;
	struct hg_picture_edge **edges;
	uint64_t total_bytes; /* retained by the virtual root: what shares are shares of */
};

HG_API enum hg_status hg_draw_picture(struct hg_snapshot *snapshot,
	const struct hg_picture_options *options, struct hg_picture **out);
HG_API void hg_picture_release(struct hg_picture **picture);

/*
 * Suspects: nodes right below the virtual root or below roots that retain at least a tenth of the
 * reachable bytes, followed down to where the memory is gathered.
 */
#define HG_LONGEST_CHAIN 10000

struct hg_suspect {
	hg_node node;         /* the top of it */
	hg_node accumulation; /* the deepest node that still has nearly all of it */
	uint64_t retained_bytes;
	uint64_t chain;    /* blocks alike from the accumulation point on, each holding the
			      next, as the cells of a list; 1 if there is no such chain;
			      counted up to HG_LONGEST_CHAIN */
	uint64_t children; /* of the accumulation point */
	uint32_t location; /* that retains most below the accumulation point; 0 if unknown */
	uint64_t location_bytes;
	uint32_t type; /* the same */
	uint64_t type_bytes;
};

struct hg_suspects {
	size_t count;
	struct hg_suspect **rows; /* by retained bytes descending */
};

HG_API enum hg_status hg_list_suspects(struct hg_snapshot *snapshot, struct hg_suspects **out);
HG_API void hg_suspects_release(struct hg_suspects **suspects);

/* Patterns, and paths from the roots */

/*
 * A pattern is "type:RE", "loc:RE", "root:RE", "addr:0x..." or, bare, an address when it begins
 * with 0x, a location or its file or its file and line, a type as hg_type_name() gives it; if there
 * is none such, an RE for locations if it has a colon and a digit or no types are known, else for
 * types.  RE is a POSIX extended regular expression, unanchored.  A pattern selects blocks (of a
 * type or location, at an address) or root nodes.
 */
struct hg_selection {
	size_t count;
	hg_node *nodes;          /* ascending */
	uint64_t blocks;         /* how many of them are blocks */
	uint64_t bytes;          /* shallow */
	uint64_t retained_bytes; /* over the nodes that no other of them dominates */
};

HG_API enum hg_status hg_select(
	struct hg_snapshot *snapshot, const char *pattern, struct hg_selection **out);
HG_API void hg_selection_release(struct hg_selection **selection);

/* One step of the shortest path from the virtual root to a node, holder before held. */
struct hg_step {
	hg_node node;
	uint64_t field; /* of the holder that leads here; HG_UNKNOWN after roots */
};

/*
 * Merged paths: the shortest path of every selected block, drawn together where their steps have
 * the same root, or the same location and type (tag, if it is unknown).  Steps that repeat the one
 * before them (the cells of a list, the nodes of a tree) are one row.
 */
struct hg_path_row {
	hg_node node;      /* the first of them that the search met */
	uint32_t depth;    /* 0: a root */
	uint32_t location; /* of all of them */
	uint8_t tag;       /* of 'node' */
	uint64_t nodes;    /* merged in this row */
	uint64_t targets;  /* selected nodes reached through it, itself included */
	uint64_t bytes;    /* their shallow bytes */
	uint32_t type;     /* of all of them; 0 unknown */
};

struct hg_why {
	uint64_t selected, reached, unreachable; /* of the nodes */
	size_t steps_count;
	struct hg_step **steps; /* to the selected node that retains most */
	size_t rows_count;
	struct hg_path_row **rows; /* depth first, most targets first */
};

HG_API enum hg_status hg_explain_nodes(
	struct hg_snapshot *snapshot, const hg_node *nodes, size_t count, struct hg_why **out);
HG_API void hg_why_release(struct hg_why **why);

/* One block */

enum hg_value_kind {
	HG_VALUE_INT,      /* 'value' is the integer */
	HG_VALUE_SOME_INT, /* an integer that the format does not record */
	HG_VALUE_BLOCK,    /* 'node'; 'value' is the raw word */
	HG_VALUE_CODE,
	HG_VALUE_OUTSIDE,  /* a pointer out of the heap */
	HG_VALUE_DANGLING, /* into the heap, but not to a block */
	HG_VALUE_RAW,      /* not a value: infix header, code information */
	HG_VALUE_ATOM      /* to a block without fields, like [||] */
};

struct hg_field {
	uint64_t index;
	enum hg_value_kind kind;
	int64_t value;
	hg_node node;  /* HG_NO_NODE unless kind is HG_VALUE_BLOCK */
	uint32_t type; /* of the block, else what the field has by the type of its own block; 0 */
};

struct hg_referrer {
	hg_node node;
	uint64_t field; /* the first that leads here; HG_UNKNOWN for roots, and for what
			   holds it otherwise: a key its ephemeron's data, a fiber */
};

struct hg_object {
	struct hg_block *block;
	size_t fields_count; /* of those recorded and asked for */
	struct hg_field **fields;
	size_t holds_count; /* what it holds besides its fields: a fiber, data of ephemerons */
	hg_node *holds;
	bool fields_recorded; /* false for strings, floats, ... in formats without contents */
	uint64_t referrers_total;
	size_t referrers_count;
	struct hg_referrer **referrers; /* fields by node, then other holders, then roots */
	size_t dominators_count;
	hg_node *dominators;    /* from the immediate one up to the virtual root */
	size_t content_size;    /* bytes known of a string or number, 0 for none */
	const uint8_t *content; /* in the file: valid as long as the snapshot is open */
	bool content_cut;       /* the file holds only the beginning */
};

/* At most 'max_fields' fields and 'max_referrers' referrers (0: all). */
HG_API enum hg_status hg_describe_object(struct hg_snapshot *snapshot, hg_node node,
	uint64_t max_fields, uint64_t max_referrers, struct hg_object **out);
HG_API void hg_object_release(struct hg_object **object);

/*
 * A value, or that of one field of a block, as OCaml's toplevel prints it, in one line: "Some {user
 * = \"ann\"; visits = 3}", "_" for what is not known, "..." for what is left out.  Contents are
 * bytes of the program: they may be anything.
 */
struct hg_text_options {
	size_t size;
	uint32_t depth;       /* levels of blocks; 0: 10; at most 50 */
	uint32_t most_parts;  /* fields or elements of one value; 0: 20 */
	uint32_t most_bytes;  /* of one string; 0: 60 */
	uint32_t most_values; /* in all; 0: 100 */
	bool redact;          /* no strings, no numbers: what is left are names of the program */
};

HG_API size_t hg_value_text(struct hg_snapshot *snapshot, hg_node node,
	const struct hg_text_options *options, char *buffer, size_t size);
HG_API size_t hg_field_text(struct hg_snapshot *snapshot, hg_node node, uint64_t field,
	const struct hg_text_options *options, char *buffer, size_t size);

/* Snapshots of running programs */

/* A native OCaml program, of the same user or for root; opening it neither stops nor changes it. */
struct hg_process;

/* Fails with HG_ERROR_INPUT, which says why or what to do, when it cannot be captured. */
HG_API enum hg_status hg_process_open(struct hg_session *session, int pid, struct hg_process **out);
HG_API void hg_process_close(struct hg_process *process);

/* What the program counts, read without stopping it; HG_UNKNOWN for what cannot be told. */
struct hg_counters {
	uint64_t major_collections; /* finished */
	uint64_t heap_bytes;        /* of OCaml 4: the major heap; of 5: all private memory */
};

/* NULL when the process has ended; valid until the next call with it. */
HG_API const struct hg_counters *hg_process_counters(struct hg_process *process);

struct hg_capture_options {
	size_t size;
	const char *path; /* a file, which is replaced; or a folder (NULL: the current one), for
			     heap.dump.PID.N with the next free N */
	enum hg_capture_method method;
	const char *trigger; /* what made you do it, for the note in the file; may be NULL */
};

struct hg_capture {
	char path[4096];
	uint64_t index;            /* N; 0 if the file was named */
	uint64_t pause_ns;         /* from the first thread stopped to the last one resumed */
	uint64_t stops;            /* 1, or more when it was amid a minor collection before */
	uint64_t earlier_pause_ns; /* of the stops before, together */
	uint64_t written_bytes;    /* to the file, which is sparse */
	uint64_t missing_bytes;    /* of memory that could not be read */
	enum hg_capture_method method;
	enum hg_moment moment; /* that it was stopped at */
	bool left_zombie;  /* the forked child could not be waited for: the process did not stop */
	char instead[512]; /* HG_CAPTURE_ANY: why there was no fork, as a sentence; or "" */
};

/*
 * Writes a core file of the process, which goes on unharmed; also after every failure, and when the
 * caller is killed (docs/capture.md).  What was written is valid until the next call with the
 * process, and told of a failure too, as far as it went.  It uses a thread and a process of its
 * own, which have ended when it returns.  While it works, signals of the calling thread wait;
 * SIGINT, SIGTERM and SIGHUP end it as HG_ERROR_CANCELLED.
 */
HG_API enum hg_status hg_capture_process(struct hg_process *process,
	const struct hg_capture_options *options, const struct hg_capture **out);

#ifdef __cplusplus
}
#endif

#endif
