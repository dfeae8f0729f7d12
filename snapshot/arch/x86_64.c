#include "snapshot/arch/x86_64.h"

#include "snapshot/arch/disassembler.h"

#include <stdlib.h>
#include <string.h>

#include <dwarf.h>
#include <elfutils/libdw.h>

/* Frames */

void snap_frame_of_thread(const struct snap_thread *thread, struct snap_frame *frame)
{
	static const uint8_t places[SNAP_REGISTERS] = {
		[SNAP_RAX] = SNAP_USER_RAX,
		[SNAP_RDX] = SNAP_USER_RDX,
		[SNAP_RCX] = SNAP_USER_RCX,
		[SNAP_RBX] = SNAP_USER_RBX,
		[SNAP_RSI] = SNAP_USER_RSI,
		[SNAP_RDI] = SNAP_USER_RDI,
		[SNAP_RBP] = SNAP_USER_RBP,
		[SNAP_RSP] = SNAP_USER_RSP,
		[SNAP_R8] = SNAP_USER_R8,
		[SNAP_R9] = SNAP_USER_R9,
		[SNAP_R10] = SNAP_USER_R10,
		[SNAP_R11] = SNAP_USER_R11,
		[SNAP_R12] = SNAP_USER_R12,
		[SNAP_R13] = SNAP_USER_R13,
		[SNAP_R14] = SNAP_USER_R14,
		[SNAP_R15] = SNAP_USER_R15,
		[SNAP_RIP] = SNAP_USER_RIP,
	};
	*frame = (struct snap_frame){
		.known = ((uint32_t)1 << SNAP_REGISTERS) - 1, .interrupted = true};
	for (unsigned r = 0; r < SNAP_REGISTERS; r++)
		frame->registers[r] = thread->registers[places[r]];
}

/* DWARF expressions (DWARF 5, section 2.5), as far as call frame information may use them */

enum { MOST_STACK = 64, MOST_STEPS = 1024 };

struct machine {
	const struct snap_image *image;
	const struct snap_frame *frame;
	const uint64_t *cfa; /* NULL while it is being computed */
	uint64_t stack[MOST_STACK];
	unsigned depth;
	bool is_value; /* the result is the value itself, not where it lies */
};

static bool push(struct machine *m, uint64_t value)
{
	if (m->depth == MOST_STACK)
		return false;
	m->stack[m->depth++] = value;
	return true;
}

static bool push_register(struct machine *m, uint64_t number, uint64_t offset)
{
	if (number >= SNAP_REGISTERS || !(m->frame->known >> number & 1))
		return false;
	return push(m, m->frame->registers[number] + offset);
}

/* The entry so many below the top; NULL if there is none. */
static uint64_t *peek(struct machine *m, uint64_t below)
{
	return below < m->depth ? &m->stack[m->depth - 1 - below] : NULL;
}

static bool pick(struct machine *m, uint64_t below)
{
	const uint64_t *entry = peek(m, below);
	return entry && push(m, *entry);
}

static bool dereference(struct machine *m, uint64_t size)
{
	uint64_t *top = peek(m, 0), value = 0;
	if (!top || size == 0 || size > sizeof(value) ||
		!snap_image_read(m->image, *top, &value, (size_t)size))
		return false;
	*top = value;
	return true;
}

static bool compute(uint8_t atom, uint64_t left, uint64_t right, uint64_t *result)
{
	bool fits = right < 64;
	switch (atom) {
	case DW_OP_plus:
		*result = left + right;
		return true;
	case DW_OP_minus:
		*result = left - right;
		return true;
	case DW_OP_mul:
		*result = left * right;
		return true;
	case DW_OP_and:
		*result = left & right;
		return true;
	case DW_OP_or:
		*result = left | right;
		return true;
	case DW_OP_xor:
		*result = left ^ right;
		return true;
	case DW_OP_shl:
		*result = fits ? left << right : 0;
		return true;
	case DW_OP_shr:
		*result = fits ? left >> right : 0;
		return true;
	case DW_OP_shra:
		*result = (uint64_t)((int64_t)left >> (fits ? right : 63));
		return true;
	default:
		return false;
	}
}

/* Comparisons are of signed numbers. */
static bool compare(uint8_t atom, int64_t left, int64_t right, uint64_t *result)
{
	switch (atom) {
	case DW_OP_eq:
		*result = left == right;
		return true;
	case DW_OP_ne:
		*result = left != right;
		return true;
	case DW_OP_lt:
		*result = left < right;
		return true;
	case DW_OP_le:
		*result = left <= right;
		return true;
	case DW_OP_gt:
		*result = left > right;
		return true;
	case DW_OP_ge:
		*result = left >= right;
		return true;
	default:
		return false;
	}
}

static bool binary(struct machine *m, uint8_t atom)
{
	if (m->depth < 2)
		return false;
	uint64_t right = m->stack[--m->depth], left = m->stack[m->depth - 1];
	uint64_t *result = &m->stack[m->depth - 1];
	return compute(atom, left, right, result) ||
	       compare(atom, (int64_t)left, (int64_t)right, result);
}

static bool swap(struct machine *m)
{
	if (m->depth < 2)
		return false;
	uint64_t top = m->stack[m->depth - 1];
	m->stack[m->depth - 1] = m->stack[m->depth - 2];
	m->stack[m->depth - 2] = top;
	return true;
}

static bool unary(struct machine *m, const Dwarf_Op *op)
{
	uint64_t *top = peek(m, 0);
	if (!top)
		return false;
	switch (op->atom) {
	case DW_OP_neg:
		*top = -*top;
		return true;
	case DW_OP_not:
		*top = ~*top;
		return true;
	case DW_OP_abs:
		*top = (int64_t)*top < 0 ? -*top : *top;
		return true;
	case DW_OP_plus_uconst:
		*top += op->number;
		return true;
	case DW_OP_dup:
		return push(m, *top);
	case DW_OP_over:
		return pick(m, 1);
	case DW_OP_pick:
		return pick(m, op->number);
	case DW_OP_swap:
		return swap(m);
	case DW_OP_drop:
		m->depth--;
		return true;
	case DW_OP_deref:
		return dereference(m, 8);
	case DW_OP_deref_size:
		return dereference(m, op->number);
	default:
		return binary(m, op->atom);
	}
}

static bool step(struct machine *m, const Dwarf_Op *op)
{
	uint8_t atom = op->atom;
	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return push(m, atom - DW_OP_lit0);
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return push_register(m, atom - DW_OP_breg0, op->number);
	switch (atom) {
	case DW_OP_nop:
		return true;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return push(m, op->number);
	case DW_OP_bregx:
		return push_register(m, op->number, op->number2);
	case DW_OP_call_frame_cfa:
		return m->cfa && push(m, *m->cfa);
	case DW_OP_stack_value:
		m->is_value = true;
		return true;
	default:
		return unary(m, op);
	}
}

/* Where a branch leads, as an index; beyond 'count' if to no operation (or, as in libdw, the end).
 */
static size_t branch_target(const Dwarf_Op *ops, size_t count, const Dwarf_Op *branch)
{
	/* libdw keeps the distance that the operand has; the operator itself takes three bytes. */
	uint64_t target = branch->offset + 3 + (uint64_t)(int16_t)branch->number;
	for (size_t i = 0; i < count; i++)
		if (ops[i].offset == target)
			return i;
	return count + 1;
}

/* Runs an expression; its result is the top of the stack. */
static bool evaluate(struct machine *m, const Dwarf_Op *ops, size_t count, uint64_t *result)
{
	size_t i = 0;
	for (unsigned steps = 0; i < count; steps++) {
		const Dwarf_Op *op = &ops[i++];
		bool jump = op->atom == DW_OP_skip;
		if (steps == MOST_STEPS)
			return false;
		if (op->atom == DW_OP_bra) {
			if (m->depth == 0)
				return false;
			jump = m->stack[--m->depth] != 0;
		} else if (!jump && !step(m, op)) {
			return false;
		}
		if (jump)
			i = branch_target(ops, count, op);
	}
	if (i != count || m->depth == 0)
		return false;
	*result = m->stack[m->depth - 1];
	return true;
}

/* The rule that is no expression: the value is in another register. */
static bool register_rule(
	const struct snap_frame *frame, const Dwarf_Op *op, uint64_t *value, bool *known)
{
	uint64_t number = op->atom == DW_OP_regx ? op->number : (uint64_t)op->atom - DW_OP_reg0;
	if (op->atom != DW_OP_regx && (op->atom < DW_OP_reg0 || op->atom > DW_OP_reg31))
		return false;
	*known = number < SNAP_REGISTERS && frame->known >> number & 1;
	if (*known)
		*value = frame->registers[number];
	return true;
}

/* Unwinding */

/* The tables' state at the place where a frame is, and the file it is in. */
static Dwarf_Frame *frame_rules(struct snap_image *image, const struct snap_frame *frame)
{
	uint64_t pc = frame->registers[SNAP_RIP];
	/* A call may be the last instruction of a function that never gets back. */
	if (!frame->interrupted)
		pc--;
	struct snap_image_file *file = snap_image_file_at(image, pc);
	if (!file || !file->found)
		return NULL;
	for (unsigned which = 0; which < 2; which++) {
		Dwarf_Frame *rules = snap_elf_frame(&file->elf, which, pc - file->bias);
		if (rules)
			return rules;
	}
	return NULL;
}

static bool find_cfa(const struct snap_image *image, const struct snap_frame *frame,
	Dwarf_Frame *rules, uint64_t *cfa)
{
	struct machine m = {.image = image, .frame = frame};
	Dwarf_Op *ops;
	size_t count;
	return dwarf_frame_cfa(rules, &ops, &count) == 0 && evaluate(&m, ops, count, cfa);
}

enum recovery { RECOVERED, UNDEFINED, IMPOSSIBLE };

/*
 * Whether a register that the tables do not mention keeps its value through a call.  libdw knows,
 * but for one mistake: its list of saved registers (backends/x86_64_cfi.c, seen in 0.188) has
 * number 0 for rbx, which is 3; 0 is rax.
 */
static bool keeps_value(unsigned number, bool libdw_says)
{
	if (number == SNAP_RBX)
		return true;
	return libdw_says && number != SNAP_RAX;
}

/* What a register held before the call. */
static enum recovery recover(const struct snap_image *image, const struct snap_frame *frame,
	Dwarf_Frame *rules, unsigned number, uint64_t *value)
{
	struct machine m = {.image = image, .frame = frame, .cfa = &frame->cfa};
	Dwarf_Op memory[3], *ops;
	size_t count;
	bool known;
	if (dwarf_frame_register(rules, (int)number, memory, &ops, &count) != 0)
		return IMPOSSIBLE;
	if (count == 0) {
		/* The table names the column of the return address, which may be any. */
		if (number >= SNAP_REGISTERS || !keeps_value(number, ops == NULL) ||
			!(frame->known >> number & 1))
			return UNDEFINED;
		*value = frame->registers[number];
		return RECOVERED;
	}
	if (count == 1 && register_rule(frame, ops, value, &known))
		return known ? RECOVERED : UNDEFINED;
	if (!evaluate(&m, ops, count, value))
		return IMPOSSIBLE;
	if (!m.is_value && !snap_image_u64(image, *value, value))
		return IMPOSSIBLE;
	return RECOVERED;
}

static enum snap_unwinding apply(const struct snap_image *image, struct snap_frame *frame,
	Dwarf_Frame *rules, struct snap_frame *caller)
{
	bool is_signal = false;
	int column = dwarf_frame_info(rules, NULL, NULL, &is_signal);
	if (!find_cfa(image, frame, rules, &frame->cfa))
		return SNAP_BAD_TABLE;
	frame->has_cfa = true;
	*caller = (struct snap_frame){.interrupted = is_signal};
	for (unsigned r = 0; r < SNAP_RIP; r++)
		if (recover(image, frame, rules, r, &caller->registers[r]) == RECOVERED)
			caller->known |= (uint32_t)1 << r;
	/* A rule of its own has the rsp of signals and of stack switches. */
	if (!snap_frame_knows(caller, SNAP_RSP))
		caller->registers[SNAP_RSP] = frame->cfa;
	caller->known |= (uint32_t)1 << SNAP_RSP | (uint32_t)1 << SNAP_RIP;
	uint64_t *pc = &caller->registers[SNAP_RIP];
	enum recovery found = recover(image, frame, rules, (unsigned)column, pc);
	if (found == IMPOSSIBLE)
		return SNAP_BAD_TABLE;
	if (found == UNDEFINED || *pc == 0)
		return SNAP_OUTERMOST;
	bool stays = *pc == frame->registers[SNAP_RIP] &&
		     caller->registers[SNAP_RSP] == frame->registers[SNAP_RSP];
	return stays ? SNAP_BAD_TABLE : SNAP_CALLER;
}

enum snap_unwinding snap_frame_caller(
	struct snap_image *image, struct snap_frame *frame, struct snap_frame *caller)
{
	frame->has_cfa = false;
	Dwarf_Frame *rules = frame_rules(image, frame);
	if (!rules)
		return SNAP_NO_TABLE;
	enum snap_unwinding result = apply(image, frame, rules, caller);
	free(rules);
	return result;
}

/* Operands */

struct disassembly {
	const struct snap_image *image;
	uint64_t function, end;
	struct snap_operand *out;
	size_t capacity, count;
	csh handle;
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
	bool branches = cs_insn_group(d->handle, insn, CS_GRP_JUMP) ||
			cs_insn_group(d->handle, insn, CS_GRP_CALL);
	if (branches && (value < d->function || value >= d->end))
		add_operand(d, insn, value, SNAP_USE_CALL, 0);
	else if (!branches && (insn->id == X86_INS_MOV || insn->id == X86_INS_MOVABS) &&
		 is_absolute_address(d->image, value))
		add_operand(d, insn, value, SNAP_USE_ADDRESS, 0);
}

static enum hg_status disassemble(
	struct disassembly *d, const uint8_t *code, cs_insn *insn, struct hg_error *error)
{
	uint64_t address = d->function;
	size_t left = (size_t)(d->end - d->function);
	while (left) {
		if (!cs_disasm_iter(d->handle, &code, &left, &address, insn))
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

enum hg_status snap_operands(struct snap_image *image, uint64_t function, uint64_t size,
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
	BASE_TRY(snap_disassembler_open(&disassembler, error));
	d.handle = disassembler.handle;
	enum hg_status status = disassemble(&d, code, disassembler.insn, error);
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

static bool read_constant(csh handle, const uint8_t *code, size_t size, uint64_t function,
	cs_insn *insn, uint64_t *value)
{
	bool found = false;
	while (cs_disasm_iter(handle, &code, &size, &function, insn)) {
		if (insn->id == X86_INS_RET)
			return found;
		if (!found && sets_rax(insn, value))
			found = true;
		else if (!is_framing(insn))
			return false;
	}
	return false;
}

enum hg_status snap_constant_function(struct snap_image *image, uint64_t function, uint64_t *value,
	bool *found, struct hg_error *error)
{
	/* endbr64, push, mov, movabs, pop, ret */
	enum { MOST = 4 + 1 + 3 + 10 + 1 + 1 };
	size_t size;
	const uint8_t *code = snap_image_at(image, function, MOST, &size);
	*found = false;
	if (!code)
		return HG_OK;
	struct snap_disassembler d;
	BASE_TRY(snap_disassembler_open(&d, error));
	*found = read_constant(d.handle, code, size, function, d.insn, value);
	snap_disassembler_close(&d);
	return HG_OK;
}

/* Allocations */

uint64_t snap_taken_by_code(const struct snap_image *image, uint64_t rip)
{
	/* Bytes behind the sub: none, cmp, then jb of 2 or 6 bytes, then lea. */
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
