/*
 * Capstone, with details of operands.
 *
 * It is loaded when it is needed first: its tables for all processors have 89,000 relocations,
 * which would be half of the time that the command takes to start.
 *
 * Capstone uses what its allocator gives without a look whether it gave anything.  So what it needs
 * is taken beforehand, in one piece that is given to it bit by bit: its allocator
 * (CS_OPT_MEM, which is of the whole process) is replaced by one that does so between open and
 * close in the same thread, and is malloc() elsewhere.
 */
#ifndef SNAPSHOT_ARCH_DISASSEMBLER_H
#define SNAPSHOT_ARCH_DISASSEMBLER_H

#include "base/error.h"

#include <capstone/capstone.h>
#include <stdbool.h>

struct snap_disassembler {
	csh handle;
	cs_insn *insn; /* the last one that was read */
	char *memory;  /* what Capstone's allocations are cut from */
	size_t used;
	struct snap_disassembler *outer; /* the one opened before in this thread */
};

/* One that is open must not move; those of a thread are closed in the opposite order. */
enum hg_status snap_disassembler_open(
	struct snap_disassembler *disassembler, cs_arch arch, cs_mode mode, struct hg_error *error);
void snap_disassembler_close(struct snap_disassembler *disassembler);

/* Reads an instruction and moves 'code', 'size' and 'address' behind it; false if it is none. */
bool snap_disassembler_next(struct snap_disassembler *disassembler, const uint8_t **code,
	size_t *size, uint64_t *address);

/* Whether an instruction is of a group: CS_GRP_JUMP and such. */
bool snap_insn_is(const cs_insn *insn, cs_group_type group);

#endif
