/*
 * What depends on x86-64: walking up a machine stack by call frame information, and reading the
 * addresses out of compiled code.
 */
#ifndef SNAPSHOT_ARCH_X86_64_H
#define SNAPSHOT_ARCH_X86_64_H

#include "snapshot/header.h"
#include "snapshot/image/image.h"

/* Numbers of DWARF (System V ABI for AMD64, figure 3.36). */
enum snap_register {
	SNAP_RAX,
	SNAP_RDX,
	SNAP_RCX,
	SNAP_RBX,
	SNAP_RSI,
	SNAP_RDI,
	SNAP_RBP,
	SNAP_RSP,
	SNAP_R8,
	SNAP_R9,
	SNAP_R10,
	SNAP_R11,
	SNAP_R12,
	SNAP_R13,
	SNAP_R14,
	SNAP_R15,
	SNAP_RIP, /* the column of the return address */
	SNAP_REGISTERS
};

/*
 * A frame of a stack: the registers as they were when its function was left, by a call or by the
 * stop.  In callers those that a C function may change are not known, but rbx, rbp and r12-r15 are.
 */
struct snap_frame {
	uint64_t registers[SNAP_REGISTERS];
	uint32_t known;   /* bit per register */
	bool interrupted; /* rip is where it was stopped, not where a call returns to */
	bool has_cfa;
	uint64_t cfa; /* rsp of the caller after the return, once snap_frame_caller() went on */
};

static inline bool snap_frame_knows(const struct snap_frame *frame, enum snap_register r)
{
	return frame->known >> r & 1;
}

/* The innermost frame of a thread. */
void snap_frame_of_thread(const struct snap_thread *thread, struct snap_frame *frame);

enum snap_unwinding {
	SNAP_CALLER,    /* *caller is filled */
	SNAP_OUTERMOST, /* the frame has no caller, as its table says, or returns to 0 */
	SNAP_NO_TABLE,  /* no table covers its rip: jumped nowhere, or a file that is missing */
	SNAP_BAD_TABLE, /* a rule needs what is not there: absent memory, an unknown register */
};

/*
 * One step up the stack.  Fills frame->cfa also when it then cannot go on.  Every step makes
 * progress, but a damaged stack may be a long one: callers bound the number of steps.
 */
enum snap_unwinding snap_frame_caller(
	struct snap_image *image, struct snap_frame *frame, struct snap_frame *caller);

/* How an instruction uses an address. */
enum snap_use {
	SNAP_USE_ADDRESS, /* takes it: lea, mov $address */
	SNAP_USE_READ,
	SNAP_USE_WRITE,
	SNAP_USE_UPDATE, /* reads and writes */
	SNAP_USE_CALL,   /* calls it, or jumps to it from out of the function */
};

struct snap_operand {
	uint64_t instruction; /* its address */
	uint64_t address;
	uint8_t bytes; /* that it reads or writes; 0 for SNAP_USE_ADDRESS and SNAP_USE_CALL */
	enum snap_use use;
};

/*
 * The addresses that the instructions of a function refer to, in order: relative to rip, and in
 * executables that are not position independent also absolute ones of the executable.  *count is
 * how many there are, of which at most 'capacity' are stored.  Fails with HG_ERROR_INPUT when the
 * code is absent or no code; what came before is then stored nevertheless.
 */
enum hg_status snap_operands(struct snap_image *image, uint64_t function, uint64_t size,
	struct snap_operand *out, size_t capacity, size_t *count, struct hg_error *error);

/*
 * Where the words of 'to' are copied from by code that runs once: their addresses, or 0 where the
 * code does not show that without doubt.  There are (to.end - to.start) / 8 sources.  A copy is a
 * load from an address that is a constant, and a store to one, or a call of 'initialize' (0: there
 * is none) with the address in rdi and the word in rsi; no jump leads between, and nothing else
 * that is seen writes there.  The time it takes grows with the code.
 */
enum hg_status snap_copied_from(const struct snap_image *image, struct snap_range code,
	struct snap_range to, uint64_t initialize, uint64_t *sources, struct hg_error *error);

/*
 * What a function that only returns a constant returns; not found if it does more.  Of OCaml's
 * caml_sys_const_max_wosize: (max_wosize << 1) + 1, which tells the reserved bits of headers.
 */
enum hg_status snap_constant_function(struct snap_image *image, uint64_t function, uint64_t *value,
	bool *found, struct hg_error *error);

/*
 * Bytes of the minor heap that OCaml code stopped at 'rip' has taken, by moving r15, for blocks of
 * which it has written no header yet; 0 if it is not in these few instructions, which are sub, cmp,
 * jb and lea (asmcomp/amd64/emit.mlp, Ialloc).
 */
uint64_t snap_taken_by_code(const struct snap_image *image, uint64_t rip);

#endif
