/* x86-64: what code copies from word to word. */
#include "snapshot/arch/x86_64.h"

#include "snapshot/arch/copies.h"

static enum snap_x86_64_register register_of(unsigned reg)
{
	switch (reg) {
#define SNAP_NUMBERED(name, number)                                                                \
	case X86_REG_##name:                                                                       \
		return (enum snap_x86_64_register)(number);
#define SNAP_PLAIN(name)
		SNAP_X86_64_REGISTERS(SNAP_NUMBERED, SNAP_PLAIN)
#undef SNAP_NUMBERED
#undef SNAP_PLAIN
	default:
		return (enum snap_x86_64_register)SNAP_REGISTERS;
	}
}

static struct snap_content *content_of(struct snap_copies *c, const cs_x86_op *op)
{
	enum snap_x86_64_register r = op->type == X86_OP_REG
					      ? register_of((unsigned)op->reg)
					      : (enum snap_x86_64_register)SNAP_REGISTERS;
	return r < SNAP_RIP ? &c->registers[r] : NULL;
}

static struct snap_content register_content(const struct snap_copies *c, const cs_x86_op *op)
{
	enum snap_x86_64_register r = register_of((unsigned)op->reg);
	return r < SNAP_RIP ? c->registers[r] : (struct snap_content){.kind = SNAP_CONTENT_UNKNOWN};
}

/* Where an operand in memory is, if that is known. */
static struct snap_content operand_address(
	const struct snap_copies *c, const cs_insn *insn, const cs_x86_op *op)
{
	struct snap_content place = {.kind = SNAP_CONTENT_ADDRESS, .since = insn->address};
	const struct snap_content unknown = {.kind = SNAP_CONTENT_UNKNOWN};
	place.address = (uint64_t)op->mem.disp;
	if (op->mem.segment != X86_REG_INVALID || op->mem.index != X86_REG_INVALID)
		return unknown;
	if (op->mem.base == X86_REG_RIP) {
		place.address += insn->address + insn->size;
	} else if (op->mem.base != X86_REG_INVALID) {
		enum snap_x86_64_register base = register_of((unsigned)op->mem.base);
		if (base >= SNAP_RIP || c->registers[base].kind != SNAP_CONTENT_ADDRESS)
			return unknown;
		place.address += c->registers[base].address;
		place.since = c->registers[base].since;
	}
	return place;
}

/* The offsets of a table of jumps, up to one that leads out of the function. */
static void read_jump_table(struct snap_copies *c, uint64_t table)
{
	uint32_t offset;
	for (uint64_t at = table; c->entries; at += 4, c->entries--) {
		if (!snap_image_u32(c->image, at, &offset))
			break;
		uint64_t target = table + (uint64_t)(int64_t)(int32_t)offset;
		if (target - c->code.start >= c->code.end - c->code.start)
			break;
		snap_copies_target(c, target);
	}
	c->has_table = c->entries > 0;
}

/* True: it leaves all registers but the one it names as they were. */
static bool follow_move(
	struct snap_copies *c, const cs_insn *insn, const cs_x86_op *to, const cs_x86_op *from)
{
	struct snap_content what = {.kind = SNAP_CONTENT_UNKNOWN}, *place = content_of(c, to);
	if (from->type == X86_OP_REG && from->size == 8) {
		what = register_content(c, from);
	} else if (from->type == X86_OP_MEM && from->size == 8) {
		what = operand_address(c, insn, from);
		if (what.kind == SNAP_CONTENT_ADDRESS)
			what.kind = SNAP_CONTENT_WORD;
	} else if (from->type == X86_OP_IMM) {
		what = (struct snap_content){
			SNAP_CONTENT_ADDRESS, (uint64_t)from->imm, insn->address};
	}
	if (to->type == X86_OP_MEM) {
		struct snap_content address = operand_address(c, insn, to);
		if (address.kind == SNAP_CONTENT_ADDRESS)
			snap_copies_write(c, insn, &address, &what, to->size);
		return true;
	}
	if (!place)
		return false;
	*place = what;
	return true;
}

static bool follow_add(struct snap_copies *c, const cs_x86_op *to, const cs_x86_op *what)
{
	struct snap_content *place = content_of(c, to);
	if (!place)
		return false;
	if (what->type == X86_OP_IMM && place->kind == SNAP_CONTENT_ADDRESS)
		place->address += (uint64_t)what->imm;
	else
		place->kind = SNAP_CONTENT_UNKNOWN;
	return true;
}

static bool follow_lea(
	struct snap_copies *c, const cs_insn *insn, const cs_x86_op *to, const cs_x86_op *from)
{
	struct snap_content *place = content_of(c, to);
	if (!place)
		return false;
	*place = operand_address(c, insn, from);
	/* Exception handlers are entered so. */
	if (place->kind == SNAP_CONTENT_ADDRESS)
		snap_copies_target(c, place->address);
	return true;
}

/* "movslq (table,index,4), register" before "jmp *register". */
static bool follow_extension(
	struct snap_copies *c, const cs_insn *insn, const cs_x86_op *to, const cs_x86_op *from)
{
	struct snap_content *place = content_of(c, to);
	if (!place)
		return false;
	if (from->type == X86_OP_MEM && from->mem.scale == 4) {
		cs_x86_op table = *from;
		table.mem.index = X86_REG_INVALID;
		struct snap_content address = operand_address(c, insn, &table);
		if (address.kind == SNAP_CONTENT_ADDRESS)
			read_jump_table(c, address.address);
	}
	place->kind = SNAP_CONTENT_UNKNOWN;
	return true;
}

static void follow_jump(struct snap_copies *c, const cs_insn *insn, const cs_x86_op *to)
{
	bool is_call = snap_insn_is(insn, CS_GRP_CALL);
	if (to->type == X86_OP_IMM)
		snap_copies_target(c, (uint64_t)to->imm);
	else if (!is_call && !c->has_table)
		c->goes_astray = true;
	const struct snap_content *address = &c->registers[SNAP_RDI],
				  *what = &c->registers[SNAP_RSI];
	if (is_call && to->type == X86_OP_IMM && (uint64_t)to->imm == c->initialize &&
		address->kind == SNAP_CONTENT_ADDRESS)
		snap_copies_write(c, insn, address, what, 8);
}

/* Other instructions may write to memory, too; Capstone does not know that of all of them. */
static void note_writes(struct snap_copies *c, const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const struct snap_content unknown = {.kind = SNAP_CONTENT_UNKNOWN};
	for (unsigned i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];
		if (op->type != X86_OP_MEM || op->size == 0)
			continue;
		struct snap_content address = operand_address(c, insn, op);
		if (address.kind == SNAP_CONTENT_ADDRESS)
			snap_copies_write(c, insn, &address, &unknown, op->size);
	}
}

static void follow_instruction(struct snap_copies *c, const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *first = &x86->operands[0], *second = &x86->operands[1];
	bool is_known = false;
	if (x86->op_count == 2 && (insn->id == X86_INS_MOV || insn->id == X86_INS_MOVABS))
		is_known = follow_move(c, insn, first, second);
	else if (x86->op_count == 2 && insn->id == X86_INS_ADD)
		is_known = follow_add(c, first, second);
	else if (x86->op_count == 2 && insn->id == X86_INS_LEA)
		is_known = follow_lea(c, insn, first, second);
	else if (x86->op_count == 2 && insn->id == X86_INS_MOVSXD)
		is_known = follow_extension(c, insn, first, second);
	else if (x86->op_count == 1 &&
		 (snap_insn_is(insn, CS_GRP_JUMP) || snap_insn_is(insn, CS_GRP_CALL)))
		follow_jump(c, insn, first);
	if (is_known)
		return;
	note_writes(c, insn);
	snap_copies_forget(c);
}

enum hg_status snap_x86_64_copied_from(const struct snap_image *image, struct snap_range code,
	struct snap_range to, uint64_t initialize, uint64_t *sources, struct hg_error *error)
{
	static const struct snap_copies_code how = {CS_ARCH_X86, CS_MODE_64, follow_instruction, 0};
	return snap_copies_find(&how, image, code, to, initialize, sources, error);
}
