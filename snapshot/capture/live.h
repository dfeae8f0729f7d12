/*
 * An OCaml program that runs: what its executable tells, what its runtime counts, and whether
 * it has been stopped amid a minor collection or a compaction, when its heap cannot be read well.
 */
#ifndef SNAPSHOT_CAPTURE_LIVE_H
#define SNAPSHOT_CAPTURE_LIVE_H

#include "snapshot/capture/bytecode_file.h"
#include "snapshot/image/elf_file.h"
#include "snapshot/capture/room.h"
#include "snapshot/capture/trace.h"
#include "snapshot/runtime/layout.h"

struct snap_live {
	pid_t process;
	struct snap_elf executable; /* or the library that has the OCaml runtime */
	uint64_t bias;              /* address in the process - address in the file */
	uint64_t started;           /* ticks since the machine began */
	uint64_t domain_state;      /* address of the pointer Caml_state; 0 on 5.x */
	uint64_t major_cycles;      /* address of the counter of 5.x, 0 if there is none */
	struct snap_fibers fibers;
	struct snap_bytecode_file bytecode;
	bool has_no_symbols;
	char ocaml_version[16]; /* "4.13.1"; "" unknown */
	char unreadable[192];   /* why files of it cannot be read, a sentence; or "" */
};

/*
 * Fails with HG_ERROR_INPUT when there is no such process, when it is not permitted to look at it,
 * and when it is no OCaml program, or one without symbols whose runtime is not found by the
 * shape of its data.
 */
enum hg_status snap_live_open(struct snap_live *live, pid_t process, struct hg_error *error);
void snap_live_close(struct snap_live *live);

/* A part of opening: what is found without symbols, of a process whose executable is open. */
enum hg_status snap_live_find_runtime(struct snap_live *live, struct hg_error *error);

/*
 * Another: of a process whose executable has no runtime, the first library that has one takes the
 * executable's place; false if there is none, or nothing can be read of it.
 */
bool snap_live_find_library(struct snap_live *live);

/* When a process began; 0 when there is none, or it has ended. */
uint64_t snap_live_start_time(pid_t process);

/* Whether it is still the same process: not ended, and its id not given to another. */
bool snap_live_is_there(const struct snap_live *live);

/* Read while it runs; HG_UNKNOWN for what cannot be told. */
uint64_t snap_live_major_collections(const struct snap_live *live);
/* Bytes: of the major heap on 4.x, of private memory in use on 5.x. */
uint64_t snap_live_heap_bytes(const struct snap_live *live);

/* What the stopped process is amid. */
enum snap_moment snap_live_moment(struct snap_live *live, const struct snap_trace *trace);

#endif
