/*
 * arm64: its row, functions that return a constant, what OCaml code that was stopped amid an
 * allocation has taken.
 */
#include "snapshot/arch/aarch64.h"

/* Constants */

/* The constant that an instruction puts into x0. */
static bool sets_x0(const cs_insn *insn, uint64_t *value)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	if (arm->op_count < 2 || arm->operands[0].type != ARM64_OP_REG ||
		snap_aarch64_register_of((unsigned)arm->operands[0].reg) != SNAP_A64_X0)
		return false;
	const cs_arm64_op *last = &arm->operands[arm->op_count - 1];
	bool is_or = insn->id == ARM64_INS_ORR && (arm->operands[1].reg == ARM64_REG_XZR ||
							  arm->operands[1].reg == ARM64_REG_WZR);
	bool is_move = insn->id == ARM64_INS_MOVN || insn->id == ARM64_INS_MOVZ ||
		       insn->id == ARM64_INS_MOV;
	if (last->type != ARM64_OP_IMM || !(is_or || is_move))
		return false;
	*value = (uint64_t)last->imm << last->shift.value;
	if (insn->id == ARM64_INS_MOVN)
		*value = ~*value;
	if (snap_aarch64_register_bytes((unsigned)arm->operands[0].reg) == 4)
		*value &= UINT32_MAX;
	return true;
}

/*
 * Whether it only marks the entry or signs the return address, which are hints (of which capstone 5
 * names some by themselves), or sets up or takes down a frame.
 */
static bool is_framing(const cs_insn *insn)
{
	const uint32_t hint = 0xd503201f, hint_mask = 0xfffff01f;
	const cs_arm64 *arm = &insn->detail->arm64;
	if ((base_load_u32le(insn->bytes) & hint_mask) == hint)
		return true;
	switch (insn->id) {
	case ARM64_INS_STP:
	case ARM64_INS_LDP:
	case ARM64_INS_MOV:
		return arm->operands[0].reg == ARM64_REG_X29;
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
		if (insn->id == ARM64_INS_RET)
			return found;
		if (!found && sets_x0(insn, value))
			found = true;
		else if (!is_framing(insn))
			return false;
	}
	return false;
}

static enum hg_status aarch64_constant_function(struct snap_image *image, uint64_t function,
	uint64_t *value, bool *found, struct hg_error *error)
{
	/* paciasp, stp, mov, the constant, ldp, autiasp, ret */
	enum { MOST = 7 * 4 };
	size_t size;
	const uint8_t *code = snap_image_at(image, function, MOST, &size);
	*found = false;
	if (!code)
		return HG_OK;
	struct snap_disassembler d;
	BASE_TRY(snap_disassembler_open(&d, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, error));
	*found = read_constant(&d, code, size, function, value);
	snap_disassembler_close(&d);
	return HG_OK;
}

/* Allocations */

static uint32_t code_word(const struct snap_image *image, uint64_t address)
{
	uint32_t word;
	return snap_image_u32(image, address, &word) ? word : 0;
}

/*
 * They are sub, cmp, b.lo (or b.hs and b, when what it leads to is far) and add (asmcomp/arm64/
 * emit.mlp, assembly_code_for_allocation).
 */
static uint64_t aarch64_taken_by_code(const struct snap_image *image, uint64_t pc)
{
	enum { LONGEST = 5 };
	/* sub x27, x27, #n; cmp x27, x16 */
	const uint32_t sub = 0xd100037b, sub_mask = 0xffc003ff, cmp = 0xeb10037f;
	for (unsigned after = 0; after < LONGEST; after++) {
		uint32_t word = code_word(image, pc - 4 * (1 + (uint64_t)after));
		if ((word & sub_mask) != sub)
			continue;
		if (after && code_word(image, pc - 4 * (uint64_t)after) != cmp)
			return 0;
		return word >> 10 & 0xfff;
	}
	return 0;
}

/*
 * Around a C call that does not allocate: str x29, [sp, #-16]!; mov x29, sp; ldr of the C stack;
 * mov sp; bl; mov sp, x29; ldr x29, [sp], #16 (asmcomp/arm64/emit.mlp of 5.3, Iextcall; before that
 * without the first and the last).
 */
static uint64_t aarch64_noalloc_push(const struct snap_image *image, uint64_t pc)
{
	enum { INSTRUCTIONS = 7 };
	const uint32_t push = 0xf81f0ffd, keep = 0x910003fd, back = 0x910003bf, pop = 0xf84107fd;
	for (uint64_t before = 1; before < INSTRUCTIONS; before++) {
		uint64_t first = pc - 4 * before;
		if (code_word(image, first) == push && code_word(image, first + 4) == keep &&
			code_word(image, first + 20) == back && code_word(image, first + 24) == pop)
			return first;
	}
	return 0;
}

/* Registers */

static bool aarch64_keeps_value(unsigned number, bool libdw_says)
{
	(void)number;
	return libdw_says;
}

/* Variant I of the ABI of thread-local data: the executable's are behind two words of libc. */
static int64_t aarch64_thread_local_offset(uint64_t size, uint64_t align, uint64_t inside)
{
	(void)size;
	enum { CONTROL_BLOCK = 16 };
	return (int64_t)(((CONTROL_BLOCK + align - 1) & ~(align - 1)) + inside);
}

static const uint8_t places[] = {
#define SNAP_NUMBERED(name, number) [number] = SNAP_USER_A64_##name,
#define SNAP_PLAIN(name)
	SNAP_AARCH64_REGISTERS(SNAP_NUMBERED, SNAP_PLAIN)
#undef SNAP_NUMBERED
#undef SNAP_PLAIN
};
_Static_assert(sizeof(places) <= SNAP_REGISTERS, "a frame has room for all");
_Static_assert(SNAP_MACHINE_AARCH64 == EM_AARCH64, "registers.h does without <elf.h>");

const struct snap_arch snap_aarch64 = {
	.machine = EM_AARCH64,
	.general_count = SNAP_A64_PC,
	.pc = SNAP_A64_PC,
	.sp = SNAP_A64_SP,
	/* asmcomp/arm64/proc.ml */
	.domain_state = SNAP_A64_X28,
	.young_pointer = SNAP_A64_X27,
	.interpreter_pc = SNAP_A64_X19,
	.interpreter_sp = SNAP_A64_X20,
	/* SAVE_ALL_REGS of runtime/arm64.S: two words, and 24 registers */
	.saving_block = SNAP_A64_X16,
	.gc_saved_words = 2 + 24,
	.call_pushes = 0,
	.first_frame = 16,
	.mutex_bytes = 48,
	.noalloc_keepers = {SNAP_A64_X29, SNAP_A64_X29, SNAP_A64_X19}, /* 5.0, 5.1 and 5.4 on */
	.places = places,
	.thread_pointer = SNAP_USER_A64_TP,
	.keeps_value = aarch64_keeps_value,
	.thread_local_offset = aarch64_thread_local_offset,
	.operands = snap_aarch64_operands,
	.copied_from = snap_aarch64_copied_from,
	.constant_function = aarch64_constant_function,
	.taken_by_code = aarch64_taken_by_code,
	.noalloc_push = aarch64_noalloc_push,
	.noalloc_push_bytes = 16,
};
