/*
 * Walking up a machine stack by call frame information, which libdw reads: the same for every
 * processor but for the numbers of its registers.
 */
#include "snapshot/arch/arch.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

#include <dwarf.h>
#include <elfutils/libdw.h>

/* Frames */

void snap_frame_of_thread(
	const struct snap_image *image, const struct snap_thread *thread, struct snap_frame *frame)
{
	const struct snap_arch *arch = snap_arch_of(image);
	const unsigned count = arch->general_count + 1u;
	*frame = (struct snap_frame){
		.arch = arch, .known = ((uint64_t)1 << count) - 1, .interrupted = true};
	for (unsigned r = 0; r < count; r++)
		frame->registers[r] = thread->registers[arch->places[r]];
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

static bool push_value(struct machine *m, uint64_t value)
{
	if (m->depth == MOST_STACK)
		return false;
	m->stack[m->depth++] = value;
	return true;
}

static bool push_frame_register(struct machine *m, uint64_t number, uint64_t offset)
{
	if (number >= SNAP_REGISTERS || !(m->frame->known >> number & 1))
		return false;
	return push_value(m, m->frame->registers[number] + offset);
}

/* The entry so many below the top; NULL if there is none. */
static uint64_t *peek_value(struct machine *m, uint64_t below)
{
	return below < m->depth ? &m->stack[m->depth - 1 - below] : NULL;
}

static bool pick_value(struct machine *m, uint64_t below)
{
	const uint64_t *entry = peek_value(m, below);
	return entry && push_value(m, *entry);
}

static bool dereference_value(struct machine *m, uint64_t size)
{
	uint64_t *top = peek_value(m, 0), value = 0;
	if (!top || size == 0 || size > sizeof(value) ||
		!snap_image_read(m->image, *top, &value, (size_t)size))
		return false;
	*top = value;
	return true;
}

static bool compute_number(uint8_t atom, uint64_t left, uint64_t right, uint64_t *result)
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
static bool compare_numbers(uint8_t atom, int64_t left, int64_t right, uint64_t *result)
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

static bool run_binary(struct machine *m, uint8_t atom)
{
	if (m->depth < 2)
		return false;
	uint64_t right = m->stack[--m->depth], left = m->stack[m->depth - 1];
	uint64_t *result = &m->stack[m->depth - 1];
	return compute_number(atom, left, right, result) ||
	       compare_numbers(atom, (int64_t)left, (int64_t)right, result);
}

static bool swap_values(struct machine *m)
{
	if (m->depth < 2)
		return false;
	uint64_t top = m->stack[m->depth - 1];
	m->stack[m->depth - 1] = m->stack[m->depth - 2];
	m->stack[m->depth - 2] = top;
	return true;
}

static bool run_unary(struct machine *m, const Dwarf_Op *op)
{
	uint64_t *top = peek_value(m, 0);
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
		return push_value(m, *top);
	case DW_OP_over:
		return pick_value(m, 1);
	case DW_OP_pick:
		return pick_value(m, op->number);
	case DW_OP_swap:
		return swap_values(m);
	case DW_OP_drop:
		m->depth--;
		return true;
	case DW_OP_deref:
		return dereference_value(m, 8);
	case DW_OP_deref_size:
		return dereference_value(m, op->number);
	default:
		return run_binary(m, op->atom);
	}
}

static bool run_operation(struct machine *m, const Dwarf_Op *op)
{
	uint8_t atom = op->atom;
	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return push_value(m, atom - DW_OP_lit0);
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return push_frame_register(m, atom - DW_OP_breg0, op->number);
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
		return push_value(m, op->number);
	case DW_OP_bregx:
		return push_frame_register(m, op->number, op->number2);
	case DW_OP_call_frame_cfa:
		return m->cfa && push_value(m, *m->cfa);
	case DW_OP_stack_value:
		m->is_value = true;
		return true;
	default:
		return run_unary(m, op);
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
		} else if (!jump && !run_operation(m, op)) {
			return false;
		}
		if (jump)
			i = branch_target(ops, count, op);
	}
	base_assert(m->depth <= MOST_STACK);
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
	uint64_t pc = snap_frame_pc(frame);
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

/* What a register held before the call. */
static enum recovery recover_register(const struct snap_image *image,
	const struct snap_frame *frame, Dwarf_Frame *rules, unsigned number, uint64_t *value)
{
	struct machine m = {.image = image, .frame = frame, .cfa = &frame->cfa};
	Dwarf_Op memory[3], *ops;
	size_t count;
	bool known;
	if (dwarf_frame_register(rules, (int)number, memory, &ops, &count) != 0)
		return IMPOSSIBLE;
	if (count == 0) {
		/* The table names the column of the return address, which may be any. */
		if (number >= SNAP_REGISTERS || !frame->arch->keeps_value(number, ops == NULL) ||
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

static enum snap_unwinding apply_rules(const struct snap_image *image, struct snap_frame *frame,
	Dwarf_Frame *rules, struct snap_frame *caller)
{
	bool is_signal = false;
	int column = dwarf_frame_info(rules, NULL, NULL, &is_signal);
	if (!find_cfa(image, frame, rules, &frame->cfa))
		return SNAP_BAD_TABLE;
	frame->has_cfa = true;
	const struct snap_arch *arch = frame->arch;
	*caller = (struct snap_frame){.arch = arch, .interrupted = is_signal};
	for (unsigned r = 0; r < arch->general_count; r++)
		if (recover_register(image, frame, rules, r, &caller->registers[r]) == RECOVERED)
			caller->known |= (uint64_t)1 << r;
	/* A rule of its own has the stack pointer of signals and of stack switches. */
	if (!snap_frame_knows(caller, arch->sp))
		caller->registers[arch->sp] = frame->cfa;
	caller->known |= (uint64_t)1 << arch->sp | (uint64_t)1 << arch->pc;
	uint64_t *pc = &caller->registers[arch->pc];
	enum recovery found = recover_register(image, frame, rules, (unsigned)column, pc);
	if (found == IMPOSSIBLE)
		return SNAP_BAD_TABLE;
	*pc = snap_image_code(image, *pc);
	if (found == UNDEFINED || *pc == 0)
		return SNAP_OUTERMOST;
	bool stays = *pc == snap_frame_pc(frame) && snap_frame_sp(caller) == snap_frame_sp(frame);
	return stays ? SNAP_BAD_TABLE : SNAP_CALLER;
}

enum snap_unwinding snap_frame_caller(
	struct snap_image *image, struct snap_frame *frame, struct snap_frame *caller)
{
	frame->has_cfa = false;
	Dwarf_Frame *rules = frame_rules(image, frame);
	if (!rules)
		return SNAP_NO_TABLE;
	enum snap_unwinding result = apply_rules(image, frame, rules, caller);
	free(rules);
	return result;
}

/* C calls that do not allocate */

/* The CFA of a frame, if it were at 'pc' with the stack pointer 'sp', in the keeper, too. */
static bool cfa_at(struct snap_image *image, const struct snap_frame *frame, uint64_t pc,
	uint64_t sp, unsigned keeper, uint64_t *cfa)
{
	struct snap_frame moved = *frame;
	moved.registers[frame->arch->pc] = pc;
	moved.registers[frame->arch->sp] = sp;
	moved.registers[keeper] = sp;
	moved.known |= (uint64_t)1 << keeper;
	Dwarf_Frame *rules = frame_rules(image, &moved);
	if (!rules)
		return false;
	bool found = find_cfa(image, &moved, rules, cfa);
	free(rules);
	return found;
}

uint64_t snap_noalloc_pushed(
	struct snap_image *image, const struct snap_frame *frame, unsigned keeper)
{
	const struct snap_arch *arch = frame->arch;
	uint64_t pc = snap_frame_pc(frame), sp = snap_frame_sp(frame), before, after;
	uint64_t push = arch->noalloc_push ? arch->noalloc_push(image, pc) : 0;
	if (!push)
		return 0;
	/* That of a call that returns is looked up in the call, that of the push before it. */
	bool knows =
		cfa_at(image, frame, frame->interrupted ? push : push + 1, sp, keeper, &before) &&
		cfa_at(image, frame, pc, sp, keeper, &after) && before != after;
	return knows ? 0 : arch->noalloc_push_bytes;
}
