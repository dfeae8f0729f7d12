/*
 * What code copies from word to word, by what it does between two instructions of which nothing is
 * known: jumps, calls, everything but a few kinds of moves.
 */
#include "snapshot/arch/x86_64.h"

#include "base/bits.h"
#include "snapshot/arch/disassembler.h"

#include <stdlib.h>
#include <string.h>

/* What a register holds. */
struct content {
	enum { UNKNOWN, ADDRESS, WORD } kind; /* an address, or the word that was there */
	uint64_t address;
	uint64_t since; /* the first of the instructions that put it there */
};

/* Of a word that is written: by which instructions. */
struct writer {
	uint32_t writes;     /* that were seen */
	uint32_t first, end; /* in the function: what led to the last of them, and its end */
};

struct copies {
	const struct snap_image *image;
	struct snap_range code, to;
	uint64_t initialize;
	uint64_t *sources;
	struct writer *writers;
	uint64_t *targets; /* bits by byte of the code: jumps lead there */
	uint64_t entries;  /* of tables of jumps, that may still be read */
	bool has_table;    /* the table of the jump to come was read */
	bool goes_astray;  /* jumps lead to where nobody knows */
	struct content registers[SNAP_RIP];
};

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

static struct content *content_of(struct copies *c, const cs_x86_op *op)
{
	enum snap_x86_64_register r = op->type == X86_OP_REG
					      ? register_of((unsigned)op->reg)
					      : (enum snap_x86_64_register)SNAP_REGISTERS;
	return r < SNAP_RIP ? &c->registers[r] : NULL;
}

static void forget_registers(struct copies *c)
{
	memset(c->registers, 0, sizeof(c->registers));
	c->has_table = false;
}

static void mark_target(struct copies *c, uint64_t address)
{
	if (address - c->code.start >= c->code.end - c->code.start)
		return;
	base_bit_set(c->targets, address - c->code.start);
}

/* Where an operand in memory is, if that is known. */
static struct content operand_address(
	const struct copies *c, const cs_insn *insn, const cs_x86_op *op)
{
	struct content place = {.kind = ADDRESS, .since = insn->address};
	const struct content unknown = {.kind = UNKNOWN};
	place.address = (uint64_t)op->mem.disp;
	if (op->mem.segment != X86_REG_INVALID || op->mem.index != X86_REG_INVALID)
		return unknown;
	if (op->mem.base == X86_REG_RIP) {
		place.address += insn->address + insn->size;
	} else if (op->mem.base != X86_REG_INVALID) {
		enum snap_x86_64_register base = register_of((unsigned)op->mem.base);
		if (base >= SNAP_RIP || c->registers[base].kind != ADDRESS)
			return unknown;
		place.address += c->registers[base].address;
		place.since = c->registers[base].since;
	}
	return place;
}

/* A write of one word, or of 'bytes' that nothing is known of, to an address that is known. */
static void note_write(struct copies *c, const cs_insn *insn, const struct content *to,
	const struct content *what, uint64_t bytes)
{
	int64_t size = (int64_t)(c->to.end - c->to.start);
	int64_t at = (int64_t)(to->address - c->to.start);
	if (at >= size || at + (int64_t)bytes <= 0)
		return;
	uint64_t last = (uint64_t)(at + (int64_t)bytes - 1) / 8;
	uint64_t index = at < 0 ? 0 : (uint64_t)at / 8;
	bool is_copy = at >= 0 && at % 8 == 0 && bytes == 8 && what->kind == WORD;
	struct writer *writer = &c->writers[index];
	if (!is_copy) {
		for (uint64_t i = index; i < (uint64_t)size / 8 && i <= last; i++)
			c->writers[i].writes = UINT32_MAX;
		return;
	}
	uint64_t first = what->since < to->since ? what->since : to->since;
	if (writer->writes < UINT32_MAX)
		writer->writes++;
	writer->first = (uint32_t)(first - c->code.start);
	writer->end = (uint32_t)(insn->address + insn->size - c->code.start);
	c->sources[index] = what->address;
}

/* The offsets of a table of jumps, up to one that leads out of the function. */
static void read_jump_table(struct copies *c, uint64_t table)
{
	uint32_t offset;
	for (uint64_t at = table; c->entries; at += 4, c->entries--) {
		if (!snap_image_u32(c->image, at, &offset))
			break;
		uint64_t target = table + (uint64_t)(int64_t)(int32_t)offset;
		if (target - c->code.start >= c->code.end - c->code.start)
			break;
		mark_target(c, target);
	}
	c->has_table = c->entries > 0;
}

/* True: it leaves all registers but the one it names as they were. */
static bool follow_move(
	struct copies *c, const cs_insn *insn, const cs_x86_op *to, const cs_x86_op *from)
{
	struct content what = {.kind = UNKNOWN}, *place = content_of(c, to);
	if (from->type == X86_OP_REG && from->size == 8) {
		const struct content *other = content_of(c, from);
		if (other)
			what = *other;
	} else if (from->type == X86_OP_MEM && from->size == 8) {
		what = operand_address(c, insn, from);
		if (what.kind == ADDRESS)
			what.kind = WORD;
	} else if (from->type == X86_OP_IMM) {
		what = (struct content){ADDRESS, (uint64_t)from->imm, insn->address};
	}
	if (to->type == X86_OP_MEM) {
		struct content address = operand_address(c, insn, to);
		if (address.kind == ADDRESS)
			note_write(c, insn, &address, &what, to->size);
		return true;
	}
	if (!place)
		return false;
	*place = what;
	return true;
}

static bool follow_add(struct copies *c, const cs_x86_op *to, const cs_x86_op *what)
{
	struct content *place = content_of(c, to);
	if (!place)
		return false;
	if (what->type == X86_OP_IMM && place->kind == ADDRESS)
		place->address += (uint64_t)what->imm;
	else
		place->kind = UNKNOWN;
	return true;
}

static bool follow_lea(
	struct copies *c, const cs_insn *insn, const cs_x86_op *to, const cs_x86_op *from)
{
	struct content *place = content_of(c, to);
	if (!place)
		return false;
	*place = operand_address(c, insn, from);
	/* Exception handlers are entered so. */
	if (place->kind == ADDRESS)
		mark_target(c, place->address);
	return true;
}

/* "movslq (table,index,4), register" before "jmp *register". */
static bool follow_extension(
	struct copies *c, const cs_insn *insn, const cs_x86_op *to, const cs_x86_op *from)
{
	struct content *place = content_of(c, to);
	if (!place)
		return false;
	if (from->type == X86_OP_MEM && from->mem.scale == 4) {
		cs_x86_op table = *from;
		table.mem.index = X86_REG_INVALID;
		struct content address = operand_address(c, insn, &table);
		if (address.kind == ADDRESS)
			read_jump_table(c, address.address);
	}
	place->kind = UNKNOWN;
	return true;
}

static void follow_jump(struct copies *c, const cs_insn *insn, const cs_x86_op *to)
{
	bool is_call = snap_insn_is(insn, CS_GRP_CALL);
	if (to->type == X86_OP_IMM)
		mark_target(c, (uint64_t)to->imm);
	else if (!is_call && !c->has_table)
		c->goes_astray = true;
	const struct content *address = &c->registers[SNAP_RDI], *what = &c->registers[SNAP_RSI];
	if (is_call && to->type == X86_OP_IMM && (uint64_t)to->imm == c->initialize &&
		address->kind == ADDRESS)
		note_write(c, insn, address, what, 8);
}

/* Other instructions may write to memory, too; Capstone does not know that of all of them. */
static void note_writes(struct copies *c, const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const struct content unknown = {.kind = UNKNOWN};
	for (unsigned i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];
		if (op->type != X86_OP_MEM || op->size == 0)
			continue;
		struct content address = operand_address(c, insn, op);
		if (address.kind == ADDRESS)
			note_write(c, insn, &address, &unknown, op->size);
	}
}

static void follow_instruction(struct copies *c, const cs_insn *insn)
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
	forget_registers(c);
}

/* Compilers put the instructions of a copy side by side. */
enum { MOST_BYTES = 256 };

static bool is_straight(const struct copies *c, const struct writer *writer)
{
	if (writer->end - writer->first > MOST_BYTES)
		return false;
	for (uint32_t at = writer->first + 1; at < writer->end; at++)
		if (base_bit(c->targets, at))
			return false;
	return true;
}

/* Leaves the sources of words that one copy was seen of, into which no jump leads. */
static void keep_certain_sources(struct copies *c, bool is_whole)
{
	for (uint64_t i = 0; i < (c->to.end - c->to.start) / 8; i++) {
		const struct writer *writer = &c->writers[i];
		if (!is_whole || c->goes_astray || writer->writes != 1 || !is_straight(c, writer))
			c->sources[i] = 0;
	}
}

static enum hg_status follow_code(struct copies *c, const uint8_t *code, struct hg_error *error)
{
	uint64_t address = c->code.start;
	size_t left = (size_t)(c->code.end - c->code.start);
	struct snap_disassembler d;
	BASE_TRY(snap_disassembler_open(&d, CS_ARCH_X86, CS_MODE_64, error));
	while (left && snap_disassembler_next(&d, &code, &left, &address))
		follow_instruction(c, d.insn);
	keep_certain_sources(c, left == 0);
	snap_disassembler_close(&d);
	return HG_OK;
}

enum hg_status snap_x86_64_copied_from(const struct snap_image *image, struct snap_range code,
	struct snap_range to, uint64_t initialize, uint64_t *sources, struct hg_error *error)
{
	uint64_t words = (to.end - to.start) / 8, size = code.end - code.start;
	struct copies c = {.image = image,
		.code = code,
		.to = to,
		.initialize = initialize,
		.sources = sources,
		.entries = size};
	size_t got;
	memset(sources, 0, words * sizeof(*sources));
	if (size == 0 || size >= UINT32_MAX || words == 0)
		return HG_OK;
	/* Code lies in one piece of a file; what is shorter is not all there. */
	const uint8_t *bytes = snap_image_at(image, code.start, (size_t)size, &got);
	if (got < size)
		return HG_OK;
	c.writers = calloc(words, sizeof(*c.writers));
	c.targets = calloc(base_bit_words(size), sizeof(*c.targets));
	enum hg_status status = c.writers && c.targets
					? follow_code(&c, bytes, error)
					: base_no_memory(error, words * sizeof(*c.writers));
	free(c.writers);
	free(c.targets);
	return status;
}
