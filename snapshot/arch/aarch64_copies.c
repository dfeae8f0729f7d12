/* arm64: what code copies from word to word. */
#include "snapshot/arch/aarch64.h"

#include "snapshot/arch/copies.h"

static struct snap_content *content_in(struct snap_copies *c, unsigned reg)
{
	unsigned number = snap_aarch64_register_of(reg);
	return number < SNAP_A64_SP ? &c->registers[number] : NULL;
}

static struct snap_content content_of_operand(struct snap_copies *c, const cs_arm64_op *op)
{
	const struct snap_content *place =
		op->type == ARM64_OP_REG ? content_in(c, (unsigned)op->reg) : NULL;
	return place ? *place : (struct snap_content){SNAP_CONTENT_UNKNOWN, 0, 0};
}

/* Writes to registers that are none of these, as zero and the stack pointer, change nothing. */
static void set_content(struct snap_copies *c, const cs_arm64_op *to, struct snap_content what)
{
	struct snap_content *place = content_in(c, (unsigned)to->reg);
	if (place)
		*place = what;
}

/* adrp, adr: handlers of exceptions and tables of jumps are at the addresses of the latter. */
static void follow_address(struct snap_copies *c, const cs_insn *insn)
{
	const cs_arm64_op *op = insn->detail->arm64.operands;
	if (insn->id == ARM64_INS_ADR)
		snap_copies_target(c, (uint64_t)op[1].imm);
	set_content(c, op,
		(struct snap_content){SNAP_CONTENT_ADDRESS, (uint64_t)op[1].imm, insn->address});
}

static void follow_sum(struct snap_copies *c, const cs_insn *insn)
{
	const cs_arm64_op *op = insn->detail->arm64.operands;
	struct snap_content sum = content_of_operand(c, &op[1]);
	bool is_address = sum.kind == SNAP_CONTENT_ADDRESS;
	/* "add table, table, index, lsl #2" before "br table", of a table of branches. */
	c->has_table |= is_address && op[2].type == ARM64_OP_REG && op[2].shift.value == 2;
	if (is_address && op[2].type == ARM64_OP_IMM)
		sum.address += (uint64_t)op[2].imm << op[2].shift.value;
	else
		sum.kind = SNAP_CONTENT_UNKNOWN;
	set_content(c, op, sum);
}

static void follow_memory(struct snap_copies *c, const cs_insn *insn, uint8_t bytes)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	const cs_arm64_op *memory = NULL;
	unsigned registers = 0;
	while (registers < arm->op_count && arm->operands[registers].type == ARM64_OP_REG)
		registers++;
	if (registers < arm->op_count && arm->operands[registers].type == ARM64_OP_MEM)
		memory = &arm->operands[registers];
	struct snap_content *base = memory ? content_in(c, (unsigned)memory->mem.base) : NULL;
	struct snap_content place = {SNAP_CONTENT_UNKNOWN, 0, 0};
	if (base && memory->mem.index == ARM64_REG_INVALID)
		place = *base;
	place.address += memory ? (uint64_t)(int64_t)memory->mem.disp : 0;
	bool stores = insn->mnemonic[0] == 's';
	for (unsigned i = 0; i < registers; i++, place.address += bytes) {
		struct snap_content what = content_of_operand(c, &arm->operands[i]);
		if (stores && place.kind == SNAP_CONTENT_ADDRESS)
			snap_copies_write(c, insn, &place, &what, bytes);
		if (stores)
			continue;
		what = place;
		if (bytes != 8 || place.kind != SNAP_CONTENT_ADDRESS)
			what.kind = SNAP_CONTENT_UNKNOWN;
		else if (!snap_aarch64_linked_address(c->image, place.address, &what.address))
			what.kind = SNAP_CONTENT_WORD;
		set_content(c, &arm->operands[i], what);
	}
	if (arm->writeback && base)
		base->kind = SNAP_CONTENT_UNKNOWN;
}

static void follow_call(struct snap_copies *c, const cs_insn *insn, uint64_t to)
{
	const struct snap_content *address = &c->registers[SNAP_A64_X0];
	if (to == c->initialize && address->kind == SNAP_CONTENT_ADDRESS)
		snap_copies_write(c, insn, address, &c->registers[SNAP_A64_X1], 8);
}

static void follow_jump_to(struct snap_copies *c, const cs_insn *insn)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	const cs_arm64_op *last = &arm->operands[arm->op_count ? arm->op_count - 1 : 0];
	if (insn->id == ARM64_INS_BR)
		c->goes_astray |= !c->has_table;
	if (arm->op_count == 0 || last->type != ARM64_OP_IMM)
		return;
	snap_copies_target(c, (uint64_t)last->imm);
	if (insn->id == ARM64_INS_BL)
		follow_call(c, insn, (uint64_t)last->imm);
}

static void follow_copying(struct snap_copies *c, const cs_insn *insn)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	const cs_arm64_op *op = arm->operands;
	uint8_t bytes = snap_aarch64_access_bytes(insn);
	if (insn->id == ARM64_INS_ADRP || insn->id == ARM64_INS_ADR) {
		follow_address(c, insn);
	} else if (insn->id == ARM64_INS_ADD && arm->op_count == 3) {
		follow_sum(c, insn);
	} else if (insn->id == ARM64_INS_MOV && arm->op_count == 2) {
		set_content(c, op, content_of_operand(c, &op[1]));
	} else if (bytes) {
		follow_memory(c, insn, bytes);
	} else if (insn->id == ARM64_INS_MOVZ || insn->id == ARM64_INS_MOVN) {
		set_content(c, op, (struct snap_content){SNAP_CONTENT_UNKNOWN, 0, 0});
	} else if (insn->id != ARM64_INS_DMB) {
		follow_jump_to(c, insn);
		snap_copies_forget(c);
	}
}

enum hg_status snap_aarch64_copied_from(const struct snap_image *image, struct snap_range code,
	struct snap_range to, uint64_t initialize, uint64_t *sources, struct hg_error *error)
{
	static const struct snap_copies_code how = {
		CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, follow_copying, 4};
	return snap_copies_find(&how, image, code, to, initialize, sources, error);
}
