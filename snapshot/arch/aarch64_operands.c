/*
 * arm64: the operands of its code.  An address is made by two instructions, adrp and one that adds
 * the rest, which may be far from each other and share the first; so registers are followed through
 * the function, along its jumps forwards.
 */
#include "snapshot/arch/aarch64.h"

#include <string.h>

enum { INSTRUCTION = 4, FOLLOWED = SNAP_A64_X30 + 1, ARGUMENTS = 8, MOST_TARGETS = 48 };

/* What a register holds. */
struct held {
	bool is_known;
	bool is_address; /* not only the page that adrp gives */
	bool is_told;    /* as an operand that takes it */
	uint64_t value;
	uint64_t instruction; /* that made it */
	/* Of what is not known: the address that it was loaded from; or the operand, counted from
	   1, that names 'value', to which an index was added.  0: neither. */
	uint64_t loaded_from;
	size_t indexes;
};

struct registers {
	struct held r[FOLLOWED];
};

/* Where jumps lead to that is still ahead, with what all of them have in common. */
struct target {
	uint64_t address;
	struct registers registers;
};

struct walk {
	struct snap_image *image;
	uint64_t function, end;
	struct snap_operand *out;
	size_t capacity, count;
	bool is_reached; /* from the instruction before */
	struct registers now;
	struct target targets[MOST_TARGETS];
	unsigned target_count;
};

static void add_operand(
	struct walk *w, uint64_t instruction, uint64_t address, enum snap_use use, uint8_t bytes)
{
	if (w->count < w->capacity)
		w->out[w->count] = (struct snap_operand){instruction, address, bytes, use};
	w->count++;
}

static struct held *held_in(struct walk *w, unsigned reg)
{
	unsigned number = snap_aarch64_register_of(reg);
	return number < FOLLOWED ? &w->now.r[number] : NULL;
}

static void note_load(struct walk *w, unsigned reg, uint64_t from)
{
	struct held *held = held_in(w, reg);
	if (held)
		*held = (struct held){.loaded_from = from};
}

static void forget(struct walk *w, unsigned reg)
{
	note_load(w, reg, 0);
}

/* The value of a register is used as such: whatever made the address took it. */
static void tell_address(struct walk *w, struct held *held)
{
	if (!held || !held->is_known || !held->is_address || held->is_told)
		return;
	held->is_told = true;
	add_operand(w, held->instruction, held->value, SNAP_USE_ADDRESS, 0);
}

/* Jumps */

static void keep_common(struct registers *kept, const struct registers *other)
{
	for (unsigned i = 0; i < FOLLOWED; i++)
		if (!other->r[i].is_known || other->r[i].value != kept->r[i].value)
			kept->r[i] = (struct held){0};
}

static void note_jump(struct walk *w, const cs_insn *insn, uint64_t to)
{
	if (to <= insn->address)
		return;
	for (unsigned i = 0; i < w->target_count; i++)
		if (w->targets[i].address == to) {
			keep_common(&w->targets[i].registers, &w->now);
			return;
		}
	/* Of one that there is no room for nothing is known when it is reached. */
	if (w->target_count < MOST_TARGETS)
		w->targets[w->target_count++] = (struct target){to, w->now};
}

/* The registers as the next instruction finds them, whichever way it is come to. */
static void arrive(struct walk *w, uint64_t address)
{
	for (unsigned i = 0; i < w->target_count; i++) {
		if (w->targets[i].address != address)
			continue;
		if (w->is_reached)
			keep_common(&w->now, &w->targets[i].registers);
		else
			w->now = w->targets[i].registers;
		w->targets[i] = w->targets[--w->target_count];
		w->is_reached = true;
	}
	if (!w->is_reached)
		memset(&w->now, 0, sizeof(w->now));
	w->is_reached = true;
}

/* Calls */

/*
 * Atomic instructions of ARMv8.1, which Capstone 4 does not know and 5 does (Arm ARM, C4.1: compare
 * and swap, atomic memory operations): the register that leads to memory, or FOLLOWED.
 */
static unsigned atomic_base(uint32_t word, uint8_t *bytes)
{
	bool is_swap = (word & 0x3fa07c00) == 0x08a07c00,
	     is_other = (word & 0x3f200c00) == 0x38200000;
	*bytes = (uint8_t)(1u << (word >> 30));
	unsigned base = word >> 5 & 31;
	return (is_swap || is_other) && base < FOLLOWED ? base : FOLLOWED;
}

/* A helper of the compiler's for an atomic instruction, which begins with a look whether there are
   such: what it updates. */
static void tell_atomic_helper(struct walk *w, const cs_insn *insn, uint64_t helper)
{
	enum { MOST_WORDS = 5 };
	uint32_t word;
	uint8_t bytes;
	for (uint64_t i = 0; i < MOST_WORDS; i++) {
		if (!snap_image_u32(w->image, helper + INSTRUCTION * i, &word))
			return;
		unsigned base = atomic_base(word, &bytes);
		if (base == FOLLOWED)
			continue;
		const struct held *held = &w->now.r[base];
		if (held->is_known)
			add_operand(w, insn->address, held->value, SNAP_USE_UPDATE, bytes);
		return;
	}
}

static void tell_call(struct walk *w, const cs_insn *insn, const uint64_t *to)
{
	if (to)
		tell_atomic_helper(w, insn, *to);
	for (unsigned i = 0; i < ARGUMENTS; i++)
		tell_address(w, &w->now.r[i]);
	if (to)
		add_operand(w, insn->address, *to, SNAP_USE_CALL, 0);
	/* What a function may change (AAPCS64). */
	memset(w->now.r, 0, (SNAP_A64_X18 + 1) * sizeof(*w->now.r));
	w->now.r[SNAP_A64_X30] = (struct held){0};
}

/*
 * The function that a descriptor of a thread's variable names, which is its argument: it changes x0
 * and x30 only (sysvabi64, "TLS descriptors").
 */
static bool is_thread_descriptor(const struct walk *w, const struct held *function)
{
	const struct held *argument = &w->now.r[SNAP_A64_X0];
	return function && argument->is_known && function->loaded_from == argument->value;
}

static void follow_call_of_register(struct walk *w, const cs_insn *insn)
{
	unsigned reg = (unsigned)insn->detail->arm64.operands[0].reg;
	if (!is_thread_descriptor(w, held_in(w, reg))) {
		tell_call(w, insn, NULL);
		return;
	}
	w->now.r[SNAP_A64_X0] = w->now.r[SNAP_A64_X30] = (struct held){0};
}

static void follow_branch(struct walk *w, const cs_insn *insn)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	const cs_arm64_op *last = &arm->operands[arm->op_count ? arm->op_count - 1 : 0];
	bool has_target = arm->op_count && last->type == ARM64_OP_IMM;
	uint64_t to = has_target ? (uint64_t)last->imm : 0;
	bool leaves = to < w->function || to >= w->end;
	switch (insn->id) {
	case ARM64_INS_BL:
		tell_call(w, insn, &to);
		return;
	case ARM64_INS_BLR:
		follow_call_of_register(w, insn);
		return;
	case ARM64_INS_RET:
		tell_address(w, &w->now.r[SNAP_A64_X0]);
		w->is_reached = false;
		return;
	case ARM64_INS_BR:
		w->is_reached = false;
		return;
	default:
		break;
	}
	bool always =
		insn->id == ARM64_INS_B && (arm->cc == ARM64_CC_INVALID || arm->cc == ARM64_CC_AL);
	if (has_target && leaves && always)
		tell_call(w, insn, &to);
	else if (has_target && leaves)
		add_operand(w, insn->address, to, SNAP_USE_CALL, 0);
	else if (has_target)
		note_jump(w, insn, to);
	w->is_reached = !always;
}

static bool is_branch(const cs_insn *insn)
{
	switch (insn->id) {
	case ARM64_INS_B:
	case ARM64_INS_BL:
	case ARM64_INS_BR:
	case ARM64_INS_BLR:
	case ARM64_INS_RET:
	case ARM64_INS_CBZ:
	case ARM64_INS_CBNZ:
	case ARM64_INS_TBZ:
	case ARM64_INS_TBNZ:
		return true;
	default:
		return false;
	}
}

/* Loads and stores */

static bool is_store(const cs_insn *insn)
{
	return insn->mnemonic[0] == 's';
}

static bool is_exclusive_store(const cs_insn *insn)
{
	return insn->id == ARM64_INS_STXR || insn->id == ARM64_INS_STLXR;
}

static const cs_arm64_op *memory_of(const cs_insn *insn)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	for (unsigned i = 0; i < arm->op_count; i++)
		if (arm->operands[i].type == ARM64_OP_MEM)
			return &arm->operands[i];
	return NULL;
}

static void follow_access(struct walk *w, const cs_insn *insn, uint8_t bytes)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	const cs_arm64_op *memory = memory_of(insn);
	bool stores = is_store(insn), is_plain = memory && memory->mem.index == ARM64_REG_INVALID;
	enum snap_use use = is_exclusive_store(insn) ? SNAP_USE_UPDATE
			    : stores                 ? SNAP_USE_WRITE
						     : SNAP_USE_READ;
	struct held *base = memory ? held_in(w, (unsigned)memory->mem.base) : NULL;
	uint64_t at =
		base && base->is_known ? base->value + (uint64_t)(int64_t)memory->mem.disp : 0;
	uint64_t from = is_plain ? at : 0;
	if (!is_plain)
		tell_address(w, base);
	for (unsigned i = 0; i < arm->op_count; i++) {
		const cs_arm64_op *op = &arm->operands[i];
		if (op->type == ARM64_OP_IMM && !memory)
			add_operand(w, insn->address, (uint64_t)op->imm, use, bytes);
		if (op->type != ARM64_OP_REG)
			continue;
		if (at && is_plain && !(i == 0 && is_exclusive_store(insn))) {
			add_operand(w, insn->address, at, use, bytes);
			at += bytes;
		}
		if (stores && !(i == 0 && is_exclusive_store(insn)))
			tell_address(w, held_in(w, (unsigned)op->reg));
		else
			note_load(w, (unsigned)op->reg, insn->id == ARM64_INS_LDR ? from : 0);
	}
	if (arm->writeback && memory)
		forget(w, (unsigned)memory->mem.base);
}

/* "ldr xN, [page, #rest]" of the global offset table; true: it was one. */
static bool follow_linked_address(struct walk *w, const cs_insn *insn)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	const cs_arm64_op *op = arm->operands;
	uint64_t linked;
	if (insn->id != ARM64_INS_LDR || arm->op_count != 2 || op[1].type != ARM64_OP_MEM ||
		op[1].mem.index != ARM64_REG_INVALID || snap_aarch64_access_bytes(insn) != 8)
		return false;
	struct held *to = held_in(w, (unsigned)op[0].reg);
	const struct held *base = held_in(w, (unsigned)op[1].mem.base);
	if (!to || !base || !base->is_known ||
		!snap_aarch64_linked_address(
			w->image, base->value + (uint64_t)(int64_t)op[1].mem.disp, &linked))
		return false;
	*to = (struct held){.is_known = true,
		.is_address = true,
		.value = linked,
		.instruction = insn->address};
	return true;
}

/* Everything else */

static void follow_made_address(struct walk *w, const cs_insn *insn)
{
	const cs_arm64_op *to = &insn->detail->arm64.operands[0];
	struct held *held = held_in(w, (unsigned)to->reg);
	if (held)
		*held = (struct held){.is_known = true,
			.is_address = insn->id == ARM64_INS_ADR,
			.value = (uint64_t)to[1].imm,
			.instruction = insn->address};
}

/* An array that is reached from what lies before it: the constant comes behind the index. */
static void follow_indexed(
	struct walk *w, struct held *to, const struct held *from, uint64_t constant)
{
	w->out[from->indexes - 1].address = from->value + constant;
	*to = (struct held){0};
}

/* True: an address and a constant were added. */
static bool follow_addition(struct walk *w, const cs_insn *insn)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	const cs_arm64_op *op = arm->operands;
	if (insn->id != ARM64_INS_ADD || arm->op_count != 3 || op[2].type != ARM64_OP_IMM)
		return false;
	uint64_t constant = (uint64_t)op[2].imm << op[2].shift.value;
	struct held *to = held_in(w, (unsigned)op[0].reg), *from = held_in(w, (unsigned)op[1].reg);
	if (!to || !from || !(from->is_known || from->indexes))
		return false;
	if (from->indexes)
		follow_indexed(w, to, from, constant);
	else
		*to = (struct held){.is_known = true,
			.is_address = true,
			.value = from->value + constant,
			.instruction = insn->address};
	return true;
}

/* True: an address and a register were added. */
static bool follow_indexing(struct walk *w, const cs_insn *insn)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	const cs_arm64_op *op = arm->operands;
	if (insn->id != ARM64_INS_ADD || arm->op_count != 3 || op[2].type != ARM64_OP_REG)
		return false;
	struct held *to = held_in(w, (unsigned)op[0].reg), *from = held_in(w, (unsigned)op[1].reg);
	if (!to || !from || !from->is_address || from->is_told || w->count >= w->capacity)
		return false;
	tell_address(w, from);
	*to = (struct held){.indexes = w->count, .value = from->value};
	return true;
}

static bool follow_copy(struct walk *w, const cs_insn *insn)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	const cs_arm64_op *op = arm->operands;
	if (insn->id != ARM64_INS_MOV || arm->op_count != 2 || op[1].type != ARM64_OP_REG)
		return false;
	struct held *to = held_in(w, (unsigned)op[0].reg), *from = held_in(w, (unsigned)op[1].reg);
	if (!to || !from)
		return false;
	*to = *from;
	return true;
}

static void follow_other(struct walk *w, const cs_insn *insn)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	for (unsigned i = 0; i < arm->op_count; i++)
		if (arm->operands[i].type == ARM64_OP_REG && arm->operands[i].access & CS_AC_READ)
			tell_address(w, held_in(w, (unsigned)arm->operands[i].reg));
	for (unsigned i = 0; i < arm->op_count; i++)
		if (arm->operands[i].type == ARM64_OP_REG && arm->operands[i].access & CS_AC_WRITE)
			forget(w, (unsigned)arm->operands[i].reg);
}

static void follow(struct walk *w, const cs_insn *insn)
{
	uint8_t bytes = snap_aarch64_access_bytes(insn);
	if (is_branch(insn))
		follow_branch(w, insn);
	else if (bytes && !follow_linked_address(w, insn))
		follow_access(w, insn, bytes);
	else if (bytes)
		return;
	else if (insn->id == ARM64_INS_ADRP || insn->id == ARM64_INS_ADR)
		follow_made_address(w, insn);
	else if (!follow_addition(w, insn) && !follow_indexing(w, insn) && !follow_copy(w, insn))
		follow_other(w, insn);
}

/* An atomic one, or one that Capstone does not know: it updates memory, and a register if at all.
 */
static void follow_unknown(struct walk *w, uint64_t address, uint32_t word)
{
	uint8_t bytes;
	unsigned base = atomic_base(word, &bytes);
	if (base < FOLLOWED && w->now.r[base].is_known)
		add_operand(w, address, w->now.r[base].value, SNAP_USE_UPDATE, bytes);
	if ((word & 31) < FOLLOWED)
		w->now.r[word & 31] = (struct held){0};
	if ((word >> 16 & 31) < FOLLOWED)
		w->now.r[word >> 16 & 31] = (struct held){0};
}

static enum hg_status walk_function(struct walk *w, struct snap_disassembler *d,
	const uint8_t *code, size_t size, struct hg_error *error)
{
	uint64_t address = w->function;
	while (size >= INSTRUCTION) {
		uint32_t word;
		uint8_t bytes;
		memcpy(&word, code, sizeof(word));
		arrive(w, address);
		/* The architecture sets these words aside as no instruction: 'udf' of Capstone 5.
		 */
		if (word >> 16 == 0)
			return base_corrupt(error, HG_NO_OFFSET,
				"bytes at 0x%llx are no instruction", (unsigned long long)address);
		bool is_atomic = atomic_base(word, &bytes) != FOLLOWED;
		if (!is_atomic && snap_disassembler_next(d, &code, &size, &address)) {
			follow(w, d->insn);
			continue;
		}
		follow_unknown(w, address, word);
		code += INSTRUCTION;
		size -= INSTRUCTION;
		address += INSTRUCTION;
	}
	return HG_OK;
}

enum hg_status snap_aarch64_operands(struct snap_image *image, uint64_t function, uint64_t size,
	struct snap_operand *out, size_t capacity, size_t *count, struct hg_error *error)
{
	struct walk w = {.image = image,
		.function = function,
		.end = function + size,
		.out = out,
		.capacity = capacity,
		.is_reached = true};
	size_t got;
	*count = 0;
	/* Code lies in one piece of a file; what is shorter is not all there. */
	const uint8_t *code = snap_image_at(image, function, (size_t)size, &got);
	if (got < size || w.end < function)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"the code at 0x%llx is neither in the core nor in a file",
			(unsigned long long)function);
	struct snap_disassembler d;
	BASE_TRY(snap_disassembler_open(&d, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, error));
	enum hg_status status = walk_function(&w, &d, code, got, error);
	snap_disassembler_close(&d);
	*count = w.count;
	return status;
}
