/*
 * x86-64: its row, the operands of its code, what OCaml code that was stopped amid an allocation
 * has taken.
 */
#include "snapshot/arch/x86_64.h"

#include "snapshot/arch/disassembler.h"

#include <string.h>

/* Operands */

struct disassembly {
	const struct snap_image *image;
	uint64_t function, end;
	struct snap_operand *out;
	size_t capacity, count;
};

static void add_operand(struct disassembly *d, const cs_insn *insn, uint64_t address,
	enum snap_use use, uint8_t bytes)
{
	if (d->count < d->capacity)
		d->out[d->count] = (struct snap_operand){insn->address, address, bytes, use};
	d->count++;
}

/* Whether an absolute number may be an address of the executable. */
static bool is_absolute_address(const struct snap_image *image, uint64_t value)
{
	return image->main->elf.view.header.e_type == ET_EXEC && value >= image->main->start &&
	       value < image->main->end;
}

static void memory_operand(struct disassembly *d, const cs_insn *insn, const cs_x86_op *op)
{
	uint64_t address = (uint64_t)op->mem.disp;
	if (op->mem.base == X86_REG_RIP)
		address += insn->address + insn->size;
	else if (op->mem.segment != X86_REG_INVALID || op->mem.base != X86_REG_INVALID ||
		 !is_absolute_address(d->image, address))
		return;
	if (insn->id == X86_INS_LEA)
		add_operand(d, insn, address, SNAP_USE_ADDRESS, 0);
	if (insn->id == X86_INS_LEA || insn->id == X86_INS_NOP)
		return;
	bool reads = op->access & CS_AC_READ, writes = op->access & CS_AC_WRITE;
	enum snap_use use = reads && writes ? SNAP_USE_UPDATE
			    : writes        ? SNAP_USE_WRITE
					    : SNAP_USE_READ;
	add_operand(d, insn, address, use, op->size);
}

static void immediate_operand(struct disassembly *d, const cs_insn *insn, const cs_x86_op *op)
{
	uint64_t value = (uint64_t)op->imm;
	bool branches = snap_insn_is(insn, CS_GRP_JUMP) || snap_insn_is(insn, CS_GRP_CALL);
	if (branches && (value < d->function || value >= d->end))
		add_operand(d, insn, value, SNAP_USE_CALL, 0);
	else if (!branches && (insn->id == X86_INS_MOV || insn->id == X86_INS_MOVABS) &&
		 is_absolute_address(d->image, value))
		add_operand(d, insn, value, SNAP_USE_ADDRESS, 0);
}

static enum hg_status disassemble_function(struct disassembly *d,
	struct snap_disassembler *disassembler, const uint8_t *code, struct hg_error *error)
{
	const cs_insn *insn = disassembler->insn;
	uint64_t address = d->function;
	size_t left = (size_t)(d->end - d->function);
	while (left) {
		if (!snap_disassembler_next(disassembler, &code, &left, &address))
			return base_corrupt(error, HG_NO_OFFSET,
				"bytes at 0x%llx are no instruction", (unsigned long long)address);
		const cs_x86 *x86 = &insn->detail->x86;
		for (unsigned i = 0; i < x86->op_count; i++) {
			if (x86->operands[i].type == X86_OP_MEM)
				memory_operand(d, insn, &x86->operands[i]);
			else if (x86->operands[i].type == X86_OP_IMM)
				immediate_operand(d, insn, &x86->operands[i]);
		}
	}
	return HG_OK;
}

static enum hg_status x86_64_operands(struct snap_image *image, uint64_t function, uint64_t size,
	struct snap_operand *out, size_t capacity, size_t *count, struct hg_error *error)
{
	struct disassembly d = {.image = image,
		.function = function,
		.end = function + size,
		.out = out,
		.capacity = capacity};
	size_t got;
	*count = 0;
	/* Code lies in one piece of a file; what is shorter is not all there. */
	const uint8_t *code = snap_image_at(image, function, (size_t)size, &got);
	if (got < size || d.end < function)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"the code at 0x%llx is neither in the core nor in a file",
			(unsigned long long)function);
	struct snap_disassembler disassembler;
	BASE_TRY(snap_disassembler_open(&disassembler, CS_ARCH_X86, CS_MODE_64, error));
	enum hg_status status = disassemble_function(&d, &disassembler, code, error);
	snap_disassembler_close(&disassembler);
	*count = d.count;
	return status;
}

/* The constant that an instruction puts into rax. */
static bool sets_rax(const cs_insn *insn, uint64_t *value)
{
	const cs_x86 *x86 = &insn->detail->x86;
	if ((insn->id != X86_INS_MOV && insn->id != X86_INS_MOVABS) || x86->op_count != 2 ||
		x86->operands[0].type != X86_OP_REG || x86->operands[1].type != X86_OP_IMM)
		return false;
	*value = (uint64_t)x86->operands[1].imm;
	if (x86->operands[0].reg == X86_REG_EAX)
		*value &= UINT32_MAX;
	return x86->operands[0].reg == X86_REG_RAX || x86->operands[0].reg == X86_REG_EAX;
}

/* Whether an instruction only marks the entry, or sets up or takes down a frame pointer. */
static bool is_framing(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	switch (insn->id) {
	case X86_INS_NOP:
	case X86_INS_ENDBR64:
	case X86_INS_LEAVE:
		return true;
	case X86_INS_PUSH:
	case X86_INS_POP:
		return x86->operands[0].reg == X86_REG_RBP;
	case X86_INS_MOV:
		return x86->operands[0].reg == X86_REG_RBP && x86->operands[1].reg == X86_REG_RSP;
	default:
		return false;
	}
}

static bool read_constant(struct snap_disassembler *d, const uint8_t *code, size_t size,
	uint64_t function, uint64_t *value)
{
	const cs_insn *insn = d->insn;
	bool found = false;
	while (snap_disassembler_next(d, &code, &size, &function)) {
		if (insn->id == X86_INS_RET)
			return found;
		if (!found && sets_rax(insn, value))
			found = true;
		else if (!is_framing(insn))
			return false;
	}
	return false;
}

static enum hg_status x86_64_constant_function(struct snap_image *image, uint64_t function,
	uint64_t *value, bool *found, struct hg_error *error)
{
	/* endbr64, push, mov, movabs, pop, ret */
	enum { MOST = 4 + 1 + 3 + 10 + 1 + 1 };
	size_t size;
	const uint8_t *code = snap_image_at(image, function, MOST, &size);
	*found = false;
	if (!code)
		return HG_OK;
	struct snap_disassembler d;
	BASE_TRY(snap_disassembler_open(&d, CS_ARCH_X86, CS_MODE_64, error));
	*found = read_constant(&d, code, size, function, value);
	snap_disassembler_close(&d);
	return HG_OK;
}

/* Allocations */

/* They are sub, cmp, jb and lea (asmcomp/amd64/emit.mlp, Ialloc). */
static uint64_t x86_64_taken_by_code(const struct snap_image *image, uint64_t rip)
{
	/* Bytes after the sub: none, cmp, then jb of 2 or 6 bytes, then lea. */
	static const uint8_t distances[] = {0, 3, 3 + 2, 3 + 6, 3 + 2 + 4, 3 + 6 + 4};
	static const uint8_t sub8[] = {0x49, 0x83, 0xef}, sub32[] = {0x49, 0x81, 0xef},
			     cmp[] = {0x4d, 0x3b, 0x3e};
	enum { LONGEST = 7 + 3 + 6 + 4 };
	uint8_t code[LONGEST];
	uint32_t taken;
	if (!snap_image_read(image, rip - LONGEST, code, sizeof(code)))
		return 0;
	for (size_t i = 0; i < sizeof(distances); i++) {
		const uint8_t *end = code + LONGEST - distances[i];
		if (distances[i] && memcmp(end, cmp, sizeof(cmp)) != 0)
			continue;
		if (memcmp(end - 4, sub8, sizeof(sub8)) == 0)
			return end[-1];
		if (memcmp(end - 7, sub32, sizeof(sub32)) == 0) {
			memcpy(&taken, end - sizeof(taken), sizeof(taken));
			return taken;
		}
	}
	return 0;
}

/* Registers */

/*
 * libdw knows which registers keep their values through a call,
 * but for one mistake: its list of saved registers (backends/x86_64_cfi.c, seen in 0.188) has
 * number 0 for rbx, which is 3; 0 is rax.
 */
static bool x86_64_keeps_value(unsigned number, bool libdw_says)
{
	if (number == SNAP_RBX)
		return true;
	return libdw_says && number != SNAP_RAX;
}

/* Variant II of the ABI of thread-local data: the executable's end at the thread pointer. */
static int64_t x86_64_thread_local_offset(uint64_t size, uint64_t align, uint64_t inside)
{
	uint64_t block = (size + align - 1) & ~(align - 1);
	return (int64_t)(inside - block);
}

static const uint8_t places[] = {
#define SNAP_NUMBERED(name, number) [number] = SNAP_USER_##name,
#define SNAP_PLAIN(name)
	SNAP_X86_64_REGISTERS(SNAP_NUMBERED, SNAP_PLAIN)
#undef SNAP_NUMBERED
#undef SNAP_PLAIN
};
_Static_assert(sizeof(places) <= SNAP_REGISTERS, "a frame has room for all");
_Static_assert(SNAP_MACHINE_X86_64 == EM_X86_64, "registers.h does without <elf.h>");

const struct snap_arch snap_x86_64 = {
	.machine = EM_X86_64,
	.general_count = SNAP_RIP,
	.pc = SNAP_RIP, /* the column of the return address */
	.sp = SNAP_RSP,
	/* asmcomp/amd64/proc.ml */
	.domain_state = SNAP_R14,
	.young_pointer = SNAP_R15,
	.interpreter_pc = SNAP_R15,
	.interpreter_sp = SNAP_R14,
	/* SAVE_ALL_REGS of runtime/amd64.S */
	.saving_block = SNAP_R15,
	.gc_saved_words = 13,
	.call_pushes = 8,
	.first_frame = 8,
	.mutex_bytes = 40,
	.noalloc_keepers = {SNAP_RBP, SNAP_RBX, SNAP_RBX}, /* 5.0, 5.1 and 5.4 on */
	.places = places,
	.thread_pointer = SNAP_USER_FS_BASE,
	.keeps_value = x86_64_keeps_value,
	.thread_local_offset = x86_64_thread_local_offset,
	.operands = x86_64_operands,
	.copied_from = snap_x86_64_copied_from,
	.constant_function = x86_64_constant_function,
	.taken_by_code = x86_64_taken_by_code,
};
