/*
 * What depends on the processor: registers, walking up a machine stack by call frame information,
 * reading addresses out of compiled code, where OCaml code keeps what the runtime needs.  Each
 * processor is a row, struct snap_arch, that is found by the machine of the process's ELF files:
 * x86-64 (x86_64.c, x86_64_copies.c) and arm64 (aarch64.c, aarch64_operands.c, aarch64_copies.c),
 * over disassembler.c.
 *
 * Another one is a list in registers.h, and rows in machines.c and arch.c with its file.  What
 * captures need of the processor that they run on is apart: native.h, and net.h over it.
 */
#ifndef SNAPSHOT_ARCH_ARCH_H
#define SNAPSHOT_ARCH_ARCH_H

#include "snapshot/arch/registers.h"
#include "snapshot/header.h"
#include "snapshot/image/image.h"

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

/* A row. */
struct snap_arch {
	uint16_t machine; /* e_machine of ELF files */

	/* Registers, by numbers in DWARF: the general ones come first, then that of the code. */
	uint8_t general_count;
	uint8_t pc, sp;
	/* Of the bytecode interpreter: where its next instruction and its stack pointer
	   are (runtime/interp.c) */
	uint8_t interpreter_pc, interpreter_sp;
	uint8_t domain_state, young_pointer; /* which OCaml code never moves elsewhere */
	/* While 5.x saves registers, one leads to the block that it saves them in, of so many words
	   (floats aside). */
	uint8_t saving_block, gc_saved_words;
	uint8_t call_pushes; /* bytes: of the return address that a call puts on the stack */
	/* From the stack pointer that 5.x saves to the first frame; the return address is the word
	   below that (First_frame() of runtime/caml/stack.h). */
	uint8_t first_frame;
	uint8_t mutex_bytes; /* sizeof(pthread_mutex_t) with glibc */
	/* During a C call that does not allocate, 5.x keeps the stack pointer of a fiber in one of
	   them: layout.h says which. */
	uint8_t noalloc_keepers[3];
	const uint8_t *places;  /* by number: in what the kernel gives */
	uint8_t thread_pointer; /* its place; the register may be 0: not known */

	/*
	 * Whether a register that the tables of a frame do not mention keeps its value through a
	 * call; 'libdw_says' so.
	 */
	bool (*keeps_value)(unsigned number, bool libdw_says);
	/* How far from the thread pointer 'inside' of the segment of thread-local data is. */
	int64_t (*thread_local_offset)(uint64_t size, uint64_t align, uint64_t inside);

	/* The functions below of these names. */
	enum hg_status (*operands)(struct snap_image *image, uint64_t function, uint64_t size,
		struct snap_operand *out, size_t capacity, size_t *count, struct hg_error *error);
	enum hg_status (*copied_from)(const struct snap_image *image, struct snap_range code,
		struct snap_range to, uint64_t initialize, uint64_t *sources,
		struct hg_error *error);
	enum hg_status (*constant_function)(struct snap_image *image, uint64_t function,
		uint64_t *value, bool *found, struct hg_error *error);
	uint64_t (*taken_by_code)(const struct snap_image *image, uint64_t pc);
	/*
	 * Where OCaml code has pushed noalloc_push_bytes for a C call that does not allocate, if
	 * 'pc' is between that and their removal; 0 if not.  NULL: it never does.
	 */
	uint64_t (*noalloc_push)(const struct snap_image *image, uint64_t pc);
	uint8_t noalloc_push_bytes;
};

/* That of an image; every file that is read as an ELF file is of one. */
const struct snap_arch *snap_arch_of(const struct snap_image *image);

/* Frames of machine stacks (arch_frames.c) */

/*
 * A frame of a stack: the registers as they were when its function was left, by a call or by the
 * stop.  In callers those that a C function may change are not known.
 */
struct snap_frame {
	const struct snap_arch *arch;
	uint64_t registers[SNAP_REGISTERS]; /* by their numbers in DWARF */
	uint64_t known;                     /* bit per register */
	bool interrupted; /* it is where it was stopped, not where a call returns to */
	bool has_cfa;
	uint64_t cfa; /* stack pointer of the caller after the return, once snap_frame_caller() went
			 on */
};

static inline bool snap_frame_knows(const struct snap_frame *frame, unsigned r)
{
	return frame->known >> r & 1;
}

static inline uint64_t snap_frame_pc(const struct snap_frame *frame)
{
	return frame->registers[frame->arch->pc];
}

static inline uint64_t snap_frame_sp(const struct snap_frame *frame)
{
	return frame->registers[frame->arch->sp];
}

/* The innermost frame of a thread. */
void snap_frame_of_thread(
	const struct snap_image *image, const struct snap_thread *thread, struct snap_frame *frame);

enum snap_unwinding {
	SNAP_CALLER,    /* *caller is filled */
	SNAP_OUTERMOST, /* the frame has no caller, as its table says, or returns to 0 */
	SNAP_NO_TABLE,  /* no table covers its code: jumped nowhere, or a file that is missing */
	SNAP_BAD_TABLE, /* a rule needs what is not there: absent memory, an unknown register */
};

/*
 * One step up the stack.  Fills frame->cfa also when it then cannot go on.  Every step makes
 * progress, but a damaged stack may be a long one: callers bound the number of steps.
 */
enum snap_unwinding snap_frame_caller(
	struct snap_image *image, struct snap_frame *frame, struct snap_frame *caller);

/* Code */

/*
 * The addresses that the instructions of a function refer to, in order: relative to the place of
 * the instruction, and in executables that are not position independent also absolute ones of the
 * executable.  *count is how many there are, of which at most 'capacity' are stored.  Fails with
 * HG_ERROR_INPUT when the code is absent or no code; what came before is then stored nevertheless.
 */
enum hg_status snap_operands(struct snap_image *image, uint64_t function, uint64_t size,
	struct snap_operand *out, size_t capacity, size_t *count, struct hg_error *error);

/*
 * Where the words of 'to' are copied from by code that runs once: their addresses, or 0 where the
 * code does not show that without doubt.  There are (to.end - to.start) / 8 sources.  A copy is a
 * load from an address that is a constant, and a store to one, or a call of 'initialize' (0: there
 * is none) with the address and the word as arguments; no jump leads between, and nothing else
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
 * Bytes of the minor heap that OCaml code stopped at 'pc' has taken, by moving its allocation
 * pointer, for blocks of which it has written no header yet; 0 if it is not in the few instructions
 * that do so.
 */
uint64_t snap_taken_by_code(const struct snap_image *image, uint64_t pc);

/*
 * Bytes that OCaml code stopped in 'frame' has pushed for a C call that does not allocate, and that
 * the tables of the frame do not reckon with.  During the call 'keeper' has the stack pointer.
 */
uint64_t snap_noalloc_pushed(
	struct snap_image *image, const struct snap_frame *frame, unsigned keeper);

/* Data of threads */

/* The thread pointer; 0 when the core does not have it. */
uint64_t snap_thread_pointer(const struct snap_image *image, const struct snap_thread *thread);

/*
 * How far from the thread pointer the instance of a TLS symbol of an executable is, whose value is
 * 'inside'; false if it has no such segment.
 */
bool snap_thread_local_offset(const struct snap_elf_view *view, uint64_t inside, int64_t *offset);

/*
 * Address of a thread's instance of a TLS symbol of the executable; false for those of libraries,
 * which only the dynamic linker can tell.
 */
bool snap_thread_variable(const struct snap_image *image, const struct snap_thread *thread,
	const struct snap_symbol *symbol, uint64_t *address);

#endif
