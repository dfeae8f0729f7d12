/*
 * What code copies from word to word, the part of snap_copied_from() that is the same for every
 * processor.  Each has a function that follows one instruction: it keeps what registers hold, and
 * tells of writes and jumps.  Between two instructions of which nothing is known (jumps, calls,
 * everything but a few kinds of moves) nothing is kept.
 */
#ifndef SNAPSHOT_ARCH_COPIES_H
#define SNAPSHOT_ARCH_COPIES_H

#include "snapshot/arch/arch.h"
#include "snapshot/arch/disassembler.h"

/* What a register holds. */
struct snap_content {
	enum { SNAP_CONTENT_UNKNOWN, SNAP_CONTENT_ADDRESS, SNAP_CONTENT_WORD } kind;
	uint64_t address; /* an address, or that of the word that was there */
	uint64_t since;   /* the first of the instructions that put it there */
};

struct snap_copies {
	const struct snap_image *image;
	struct snap_range code, to;
	uint64_t initialize;
	uint64_t *sources;
	struct snap_writer *writers; /* of each word of 'to' */
	uint64_t *targets;           /* bits by byte of the code: jumps lead there */
	uint64_t entries;            /* of tables of jumps, that may still be read */
	bool has_table;              /* the table of the jump to come was read */
	bool goes_astray;            /* jumps lead to where nobody knows */
	struct snap_content registers[SNAP_REGISTERS];
};

typedef void snap_copies_follow(struct snap_copies *copies, const cs_insn *insn);

/* snap_copied_from() by a processor's Capstone and function. */
struct snap_copies_code {
	cs_arch arch;
	cs_mode mode;
	snap_copies_follow *follow;
	uint8_t step; /* bytes of an instruction that Capstone does not know; 0: there is no going
			 on */
};
enum hg_status snap_copies_find(const struct snap_copies_code *how, const struct snap_image *image,
	struct snap_range code, struct snap_range to, uint64_t initialize, uint64_t *sources,
	struct hg_error *error);

/* For the functions that follow an instruction. */

void snap_copies_forget(struct snap_copies *copies); /* what all registers hold */
void snap_copies_target(struct snap_copies *copies, uint64_t address);

/* A write of one word, or of 'bytes' that nothing is known of, to an address that is known. */
void snap_copies_write(struct snap_copies *copies, const cs_insn *insn,
	const struct snap_content *to, const struct snap_content *what, uint64_t bytes);

#endif
