/*
 * The record stream that OCamlmemprof 0.1 and 0.2 share: word size, program name, chunk and block
 * records, code area, globals, stack, roots.  Writers: byterun/major_gc.c (0.1) and
 * byterun/memprof.c (0.2) of the 4.00.1+memprof compilers; all words are little endian.
 *
 *     u8 word size; word n, n bytes of program name
 *     0x00 word start, word end                                  a chunk
 *     0x01 word ptr, u8 tag, word wosize, word id, fields        a block (fields if tag < 251)
 *     0x0A                                                       nothing
 *     0xFF                                                       the end of records
 *     word code start, word code end
 *     bytecode: word 3, word globals, word 2n+1, n x {word 1, word value}, word 0, roots, word 1
 *     native:   word 0, modules {word 1, word m, word n, n words | word 1, word 0}, word 0,
 *               infos {word 1, word n, n bytes}, word 0, roots, word 1
 *
 * docs/formats.md tells more.
 */
#ifndef SNAPSHOT_LEGACY_MEMPROF_H
#define SNAPSHOT_LEGACY_MEMPROF_H

#include "snapshot/walk.h"

/* Loads everything; fills snap->program, native, code area, roots. */
enum hg_status snap_records_load(struct snap *snap, struct hg_error *error);

/* For the format table. */
bool snap_records_next_run(struct snap_walk *walk, struct snap_run *run);

/* Whether the bytes begin like such a file: a word size and a name that fits. */
bool snap_records_recognise(const struct base_file *file);

#endif
