/* Walking up stacks and reading addresses out of code: of real programs and of made-up ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dwarf.h>

#include "snapshot/arch/arch.h"
#include "tests/unit/core.h"

static void must_open(struct snap_image *image, const char *core, const char *executable)
{
	struct snap_image_options options = {
		.core = core, .executable = executable, .libraries = CORES "/lib"};
	struct hg_error error;
	if (snap_image_open(image, &options, &error) != HG_OK)
		fail_msg("%s: %s: %s", core, error.file, error.message);
}

/* Call frame information: one CIE, then a description per function of 0x40 bytes */

struct frames {
	struct bytes *exe;
	size_t end;
	unsigned functions;
};

/* CIE: CFA = rsp + 8, return address at CFA - 8, no augmentation: addresses are plain words. */
static void frames_start(struct frames *f, struct bytes *exe)
{
	static const uint8_t cie[] = {1, '\0', 1, 0x78, SNAP_RIP, DW_CFA_def_cfa, SNAP_RSP, 8,
		DW_CFA_offset | SNAP_RIP, 1, DW_CFA_nop, DW_CFA_nop};
	*f = (struct frames){.exe = exe, .end = EXE_FRAMES};
	put_u32(exe, f->end, 4 + sizeof(cie));
	put_u32(exe, f->end + 4, 0);
	put(exe, f->end + 8, cie, sizeof(cie));
	f->end += 8 + sizeof(cie);
	put_u32(exe, f->end, 0);
}

/* The next function; returns its address in the program. */
static uint64_t frames_add(struct frames *f, const uint8_t *rules, size_t size)
{
	uint64_t address = EXE_TEXT + 0x40 * f->functions++;
	size_t padded = (size + 7) & ~(size_t)7;
	put_u32(f->exe, f->end, (uint32_t)(4 + 16 + padded));
	put_u32(f->exe, f->end + 4, (uint32_t)(f->end + 4 - EXE_FRAMES));
	put_u64(f->exe, f->end + 8, address);
	put_u64(f->exe, f->end + 16, 0x40);
	memset(f->exe->data + f->end + 24, DW_CFA_nop, padded);
	put(f->exe, f->end + 24, rules, size);
	f->end += 24 + padded;
	put_u32(f->exe, f->end, 0);
	return address;
}

#define ADD(frames, ...)                                                                           \
	frames_add(frames, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* A process stopped in a function, with words on its stack from rsp on. */
static void stop_in(struct process *p, struct snap_image *image, uint64_t function,
	const uint64_t *stack, size_t words)
{
	p->registers[SNAP_USER_RIP] = CORE_BIAS + function + 4;
	core_build(p, NULL);
	for (size_t i = 0; i < words; i++)
		put_u64(&p->core, core_page(LOAD_STACK) + 0x100 + 8 * i, stack[i]);
	process_write(p);
	must_open(image, p->core_path, NULL);
}

static void simple_rules(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	struct frames f;
	struct snap_frame frame, caller;
	process_start(&p);
	frames_start(&f, &p.exe);
	uint64_t leaf = ADD(&f, DW_CFA_def_cfa_offset, 24, DW_CFA_offset | SNAP_RBP, 2,
		DW_CFA_register, SNAP_R12, SNAP_R15, DW_CFA_undefined, SNAP_R13);
	uint64_t top = ADD(&f, DW_CFA_undefined, SNAP_RIP);
	const uint64_t stack[] = {1, 0xb1b1, CORE_BIAS + top + 0x40};
	p.registers[SNAP_USER_RBX] = 0xb0b0;
	p.registers[SNAP_USER_R15] = 0xf0f0;
	p.registers[SNAP_USER_RAX] = 0xa0a0;
	stop_in(&p, &image, leaf, stack, LENGTH(stack));
	snap_frame_of_thread(&image, image.threads, &frame);
	assert_int_equal(frame.registers[SNAP_RAX], 0xa0a0);
	assert_true(frame.interrupted);
	assert_int_equal(snap_frame_caller(&image, &frame, &caller), SNAP_CALLER);
	assert_true(frame.has_cfa);
	assert_int_equal(frame.cfa, CORE_STACK + 0x118);
	assert_int_equal(caller.registers[SNAP_RSP], CORE_STACK + 0x118);
	/* The call was the last instruction of 'top': what returns after it is still in it. */
	assert_int_equal(caller.registers[SNAP_RIP], CORE_BIAS + top + 0x40);
	assert_int_equal(caller.registers[SNAP_RBP], 0xb1b1);
	assert_int_equal(caller.registers[SNAP_RBX], 0xb0b0);
	assert_int_equal(caller.registers[SNAP_R12], 0xf0f0);
	assert_true(snap_frame_knows(&caller, SNAP_RBX));
	assert_false(snap_frame_knows(&caller, SNAP_R13));
	assert_false(snap_frame_knows(&caller, SNAP_RAX));
	assert_false(caller.interrupted);
	assert_int_equal(snap_frame_caller(&image, &caller, &frame), SNAP_OUTERMOST);
	assert_int_equal(caller.cfa, CORE_STACK + 0x120);
	snap_image_close(&image);
	process_release(&p);
}

static void expressions(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	struct frames f;
	struct snap_frame frame, caller;
	process_start(&p);
	frames_start(&f, &p.exe);
	/* The stack was switched: the old rsp is in the word at rsp + 8.  rbx is the sum of 1..4.
	 */
	uint64_t leaf = ADD(&f, DW_CFA_def_cfa_expression, 5, DW_OP_breg0 + SNAP_RSP, 8,
		DW_OP_deref, DW_OP_plus_uconst, 8, DW_CFA_val_expression, SNAP_RBX, 21, DW_OP_lit0,
		DW_OP_lit4, /* CFA sum n */
		DW_OP_dup, DW_OP_nop, DW_OP_bra, 4, 0, DW_OP_drop, DW_OP_skip, 9,
		0, /* n = 0: leave the sum */
		DW_OP_swap, DW_OP_over, DW_OP_plus, DW_OP_swap, DW_OP_lit1, DW_OP_minus, DW_OP_skip,
		0xee, 0xff, DW_OP_nop, DW_CFA_expression, SNAP_R12, 3, DW_OP_lit16, DW_OP_minus,
		DW_OP_nop, DW_CFA_val_expression, SNAP_R13, 9, DW_OP_const2s, 0x00, 0x80,
		DW_OP_lit4, DW_OP_shra, DW_OP_const2u, 0xff, 0x0f, DW_OP_and, DW_CFA_val_expression,
		SNAP_R14, 7, DW_OP_lit7, DW_OP_lit5, DW_OP_gt, DW_OP_lit3, DW_OP_shl, DW_OP_not,
		DW_OP_abs, DW_CFA_val_expression, SNAP_R15, 6, DW_OP_bregx, SNAP_RSP, 0,
		DW_OP_deref_size, 2, DW_OP_nop);
	const uint64_t stack[] = {
		0x12345678, CORE_STACK + 0x100 + 24, 0xcccc, CORE_BIAS + leaf + 8};
	stop_in(&p, &image, leaf, stack, LENGTH(stack));
	snap_frame_of_thread(&image, image.threads, &frame);
	assert_int_equal(snap_frame_caller(&image, &frame, &caller), SNAP_CALLER);
	assert_int_equal(frame.cfa, CORE_STACK + 0x120);
	assert_int_equal(caller.registers[SNAP_RIP], CORE_BIAS + leaf + 8);
	assert_int_equal(caller.registers[SNAP_RBX], 4 + 3 + 2 + 1);
	assert_int_equal(caller.registers[SNAP_R12], 0xcccc);
	assert_int_equal(caller.registers[SNAP_R13], 0x800);
	assert_int_equal(caller.registers[SNAP_R14], 9);
	assert_int_equal(caller.registers[SNAP_R15], 0x5678);
	snap_image_close(&image);
	process_release(&p);
}

/* Tables that lie end the walk; they neither hang nor crash it. */
static void bad_tables(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	struct frames f;
	struct snap_frame frame, caller;
	process_start(&p);
	frames_start(&f, &p.exe);
	const uint64_t functions[] = {
		/* for ever */
		ADD(&f, DW_CFA_def_cfa_expression, 4, DW_OP_lit0, DW_OP_skip, 0xfd, 0xff),
		/* out of the expression */
		ADD(&f, DW_CFA_def_cfa_expression, 4, DW_OP_lit0, DW_OP_skip, 0x40, 0),
		/* nothing on the stack */
		ADD(&f, DW_CFA_def_cfa_expression, 1, DW_OP_plus),
		ADD(&f, DW_CFA_def_cfa_expression, 1, DW_OP_deref),
		ADD(&f, DW_CFA_def_cfa_expression, 1, DW_OP_nop),
		ADD(&f, DW_CFA_def_cfa_expression, 3, DW_OP_bra, 0, 0),
		/* too much on it */
		ADD(&f, DW_CFA_def_cfa_expression, 4, DW_OP_lit0, DW_OP_skip, 0xfc, 0xff),
		/* absent memory */
		ADD(&f, DW_CFA_def_cfa_expression, 2, DW_OP_lit0, DW_OP_deref),
		ADD(&f, DW_CFA_def_cfa_offset, 0xff, 0xff, 0x7f),
		/* no such register, no such operation */
		ADD(&f, DW_CFA_def_cfa_expression, 3, DW_OP_bregx, 99, 0),
		ADD(&f, DW_CFA_def_cfa_expression, 1, DW_OP_push_object_address),
		/* itself */
		ADD(&f, DW_CFA_def_cfa_offset, 0, DW_CFA_same_value, SNAP_RIP),
	};
	for (size_t i = 0; i < LENGTH(functions); i++) {
		stop_in(&p, &image, functions[i], NULL, 0);
		snap_frame_of_thread(&image, image.threads, &frame);
		if (snap_frame_caller(&image, &frame, &caller) != SNAP_BAD_TABLE)
			fail_msg("function %zu", i);
		snap_image_close(&image);
	}
	stop_in(&p, &image, EXE_TEXT + 0x800, NULL, 0);
	snap_frame_of_thread(&image, image.threads, &frame);
	assert_int_equal(snap_frame_caller(&image, &frame, &caller), SNAP_NO_TABLE);
	frame.registers[SNAP_RIP] = 0;
	assert_int_equal(snap_frame_caller(&image, &frame, &caller), SNAP_NO_TABLE);
	frame.registers[SNAP_RIP] = CORE_STACK;
	assert_int_equal(snap_frame_caller(&image, &frame, &caller), SNAP_NO_TABLE);
	snap_image_close(&image);
	process_release(&p);
}

static void flipped_bits_of_tables(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	struct frames f;
	struct snap_frame frame, caller;
	process_start(&p);
	frames_start(&f, &p.exe);
	uint64_t leaf = ADD(&f, DW_CFA_advance_loc | 1, DW_CFA_remember_state,
		DW_CFA_def_cfa_expression, 5, DW_OP_breg0 + SNAP_RSP, 8, DW_OP_deref,
		DW_OP_plus_uconst, 8, DW_CFA_offset_extended, SNAP_RBP, 3, DW_CFA_restore_state,
		DW_CFA_val_expression, SNAP_RBX, 2, DW_OP_lit3, DW_OP_plus);
	for (size_t i = EXE_FRAMES; i < f.end + 4; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			p.exe.data[i] ^= (uint8_t)(1u << bit);
			stop_in(&p, &image, leaf, NULL, 0);
			snap_frame_of_thread(&image, image.threads, &frame);
			for (unsigned n = 0; n < 8; n++) {
				if (snap_frame_caller(&image, &frame, &caller) != SNAP_CALLER)
					break;
				frame = caller;
			}
			snap_image_close(&image);
			p.exe.data[i] ^= (uint8_t)(1u << bit);
		}
	process_release(&p);
}

/* Operands */

static const char operand_code[] = "\x48\x8d\x05\x00\x20\x00\x00"     /* lea 0x2000(%rip),%rax */
				   "\x48\x8b\x1d\x10\x20\x00\x00"     /* mov 0x2010(%rip),%rbx */
				   "\x89\x0d\x20\x20\x00\x00"         /* mov %ecx,0x2020(%rip) */
				   "\x48\x83\x05\x30\x20\x00\x00\x01" /* addq $1,0x2030(%rip) */
				   "\x74\xe2"                         /* je to the beginning */
				   "\xe8\x00\x01\x00\x00"             /* call 0x100 after  */
				   "\x64\x48\x8b\x04\x25\0\0\0\0"     /* mov %fs:0,%rax */
				   "\x48\xc7\xc0\x00\x30\x00\x00"     /* mov $0x3000,%rax */
				   "\xff\x15\x40\x20\x00\x00"         /* call *0x2040(%rip) */
				   "\xc3";

static void operands(void **state)
{
	(void)state;
	enum { SIZE = sizeof(operand_code) - 1 };
	const struct snap_operand expected[] = {
		{0, 7 + 0x2000, 0, SNAP_USE_ADDRESS},
		{7, 14 + 0x2010, 8, SNAP_USE_READ},
		{14, 20 + 0x2020, 4, SNAP_USE_WRITE},
		{20, 28 + 0x2030, 8, SNAP_USE_UPDATE},
		{30, 35 + 0x100, 0, SNAP_USE_CALL},
		{51, 57 + 0x2040, 8, SNAP_USE_READ},
	};
	struct process p;
	struct snap_image image;
	struct snap_operand found[8];
	struct hg_error error;
	size_t count;
	uint64_t function = CORE_BIAS + EXE_TEXT + 0x100;
	process_start(&p);
	core_build(&p, NULL);
	put(&p.exe, EXE_TEXT + 0x100, operand_code, SIZE);
	put(&p.exe, EXE_TEXT + 0x200, "\x06", 1); /* push %es is no instruction of 64 bits */
	process_write(&p);
	must_open(&image, p.core_path, NULL);
	assert_int_equal(
		snap_operands(&image, function, SIZE, found, LENGTH(found), &count, &error), HG_OK);
	assert_int_equal(count, LENGTH(expected));
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(found[i].instruction, function + expected[i].instruction);
		assert_int_equal(found[i].address, function + expected[i].address);
		assert_int_equal(found[i].bytes, expected[i].bytes);
		assert_int_equal(found[i].use, expected[i].use);
	}
	assert_int_equal(snap_operands(&image, function, SIZE, found, 1, &count, &error), HG_OK);
	assert_int_equal(count, LENGTH(expected));
	assert_int_equal(snap_operands(&image, CORE_BIAS + EXE_TEXT + 0x200, 4, found,
				 LENGTH(found), &count, &error),
		HG_ERROR_INPUT);
	assert_int_equal(snap_operands(&image, 0x1000, 4, found, LENGTH(found), &count, &error),
		HG_ERROR_INPUT);
	assert_int_equal(
		snap_operands(&image, function, UINT64_MAX, found, LENGTH(found), &count, &error),
		HG_ERROR_INPUT);
	snap_image_close(&image);
	process_release(&p);
}

/* A program at a fixed address names its data by plain numbers. */
static void operands_of_fixed_programs(void **state)
{
	(void)state;
	static const char code[] = "\xbf\x10\x30\x00\x00"             /* mov $0x3010,%edi */
				   "\x48\x8b\x04\x25\x20\x30\x00\x00" /* mov 0x3020,%rax */
				   "\xb8\x07\x00\x00\x00";            /* mov $7,%eax: below all */
	enum { SIZE = sizeof(code) - 1 };
	struct process p;
	struct snap_image image;
	struct snap_operand found[4];
	struct hg_error error;
	size_t count;
	process_start(&p);
	put_u16(&p.exe, offsetof(Elf64_Ehdr, e_type), ET_EXEC);
	put(&p.exe, EXE_TEXT, code, SIZE);
	core_build(&p, NULL);
	process_write(&p);
	must_open(&image, p.core_path, NULL);
	/* The process is where it is; pretend that its addresses are those of the file. */
	image.main->start = EXE_TEXT;
	image.main->end = EXE_BSS;
	assert_int_equal(snap_operands(&image, CORE_BIAS + EXE_TEXT, SIZE, found, LENGTH(found),
				 &count, &error),
		HG_OK);
	assert_int_equal(count, 2);
	assert_int_equal(found[0].address, 0x3010);
	assert_int_equal(found[0].use, SNAP_USE_ADDRESS);
	assert_int_equal(found[1].address, 0x3020);
	assert_int_equal(found[1].use, SNAP_USE_READ);
	snap_image_close(&image);
	process_release(&p);
}

static const struct {
	uint8_t code[24];
	bool is_constant;
	uint64_t value;
} functions[] = {
	{{0x48, 0xb8, 0xff, 0xff, 0xff, 0xff, 0x03, 0, 0, 0, 0xc3}, true, 0x3ffffffff},
	{{0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 0xc3}, true,
		0x0807060504030201},
	/* push %rbp; mov %rsp,%rbp; movabs; pop %rbp; ret */
	{{0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 1, 0, 0, 0, 0, 0, 0, 0, 0x5d, 0xc3}, true, 1},
	{{0xb8, 0xff, 0xff, 0xff, 0xff, 0xc3}, true, 0xffffffff},
	{{0x48, 0xc7, 0xc0, 0xff, 0xff, 0xff, 0xff, 0xc3}, true, UINT64_MAX},
	{{0xbb, 1, 0, 0, 0, 0xc3}, false, 0},                   /* mov $1,%ebx */
	{{0xb8, 1, 0, 0, 0, 0x48, 0x01, 0xd8, 0xc3}, false, 0}, /* add %rbx,%rax */
	{{0xb8, 1, 0, 0, 0, 0xb8, 2, 0, 0, 0, 0xc3}, false, 0},
	{{0xc3}, false, 0},
	{{0xeb, 0xfe}, false, 0},
	{{0x06}, false, 0},
};

static void constant_functions(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	uint64_t value;
	struct hg_error error;
	process_start(&p);
	for (size_t i = 0; i < LENGTH(functions); i++)
		put(&p.exe, EXE_TEXT + 32 * i, functions[i].code, sizeof(functions[i].code));
	core_build(&p, NULL);
	process_write(&p);
	must_open(&image, p.core_path, NULL);
	for (size_t i = 0; i < LENGTH(functions); i++) {
		bool is_constant;
		assert_int_equal(snap_constant_function(&image, CORE_BIAS + EXE_TEXT + 32 * i,
					 &value, &is_constant, &error),
			HG_OK);
		if (is_constant != functions[i].is_constant)
			fail_msg("function %zu", i);
		if (is_constant)
			assert_int_equal(value, functions[i].value);
	}
	bool found;
	assert_int_equal(snap_constant_function(&image, 0x1000, &value, &found, &error), HG_OK);
	assert_false(found);
	snap_image_close(&image);
	process_release(&p);
}

/* Allocations, as compiled: the place after each instruction, and what is taken there. */
static const struct {
	uint8_t code[32];
	uint8_t ends[5]; /* of sub, cmp, jb, lea and what follows */
	uint64_t taken;
} allocations[] = {
	{{0x49, 0x83, 0xef, 0x18, 0x4d, 0x3b, 0x3e, 0x72, 0x10, 0x49, 0x8d, 0x7f, 0x08, 0x48, 0xc7,
		 0x47, 0xf8, 0x00, 0x08, 0x00, 0x00},
		{4, 7, 9, 13, 21}, 0x18},
	{{0x49, 0x81, 0xef, 0x08, 0x04, 0x00, 0x00, 0x4d, 0x3b, 0x3e, 0x0f, 0x82, 0xb2, 0x00, 0x00,
		 0x00, 0x49, 0x8d, 0x47, 0x08, 0x48, 0xc7, 0x40, 0xf8, 0x00, 0x00, 0x02, 0x00},
		{7, 10, 16, 20, 28}, 0x408},
};

static void taken_by_code(void **state)
{
	(void)state;
	struct process p;
	struct snap_image image;
	process_start(&p);
	for (size_t i = 0; i < LENGTH(allocations); i++)
		put(&p.exe, EXE_TEXT + 64 * i + 32, allocations[i].code,
			sizeof(allocations[i].code));
	core_build(&p, NULL);
	process_write(&p);
	must_open(&image, p.core_path, NULL);
	for (size_t i = 0; i < LENGTH(allocations); i++) {
		uint64_t start = CORE_BIAS + EXE_TEXT + 64 * i + 32;
		assert_int_equal(snap_taken_by_code(&image, start), 0);
		for (size_t k = 0; k < 4; k++)
			assert_int_equal(snap_taken_by_code(&image, start + allocations[i].ends[k]),
				allocations[i].taken);
		/* A header is written: from here on the blocks themselves tell. */
		assert_int_equal(snap_taken_by_code(&image, start + allocations[i].ends[4]), 0);
	}
	assert_int_equal(snap_taken_by_code(&image, 0x1000), 0);
	assert_int_equal(snap_taken_by_code(&image, 0), 0);
	snap_image_close(&image);
	process_release(&p);
}

/* Stacks of real programs */

static bool is_ocaml(struct snap_image *image, const struct snap_frame *frame)
{
	struct snap_symbol symbol;
	uint64_t offset;
	uint64_t pc = frame->registers[SNAP_RIP] - (frame->interrupted ? 0 : 1);
	return snap_image_symbol_at(image, pc, &symbol, &offset) &&
	       strncmp(symbol.name, "caml", 4) == 0 && symbol.name[4] >= 'A' &&
	       symbol.name[4] <= 'Z';
}

/* Walks a stack to its end; the first frame of OCaml goes to *ocaml.  How many steps before it. */
static bool walk(struct snap_image *image, const struct snap_thread *thread,
	struct snap_frame *ocaml, unsigned *steps)
{
	struct snap_frame frame, caller;
	bool found = false;
	enum snap_unwinding result = SNAP_CALLER;
	snap_frame_of_thread(image, thread, &frame);
	for (unsigned i = 0; result == SNAP_CALLER && i < 1000; i++) {
		result = snap_frame_caller(image, &frame, &caller);
		if (!found && is_ocaml(image, &frame)) {
			found = true;
			*ocaml = frame;
			*steps = i;
		}
		if (result == SNAP_CALLER)
			frame = caller;
	}
	assert_int_equal(result, SNAP_OUTERMOST);
	return found;
}

struct stacks {
	const char *core;
	unsigned threads;
	unsigned in_ocaml; /* threads with a frame of OCaml; the others serve the runtime */
};

static void stacks_of_real_programs(void **state)
{
	(void)state;
	need_real_cores();
	static const struct stacks all[] = {
		{"413-gt/gt1.darken-roots", 1, 1},
		{"413-gt/gt1.mark", 1, 1},
		{"413-gt/gt1.minor-1bad", 1, 1},
		{"413-gt/gt1.minor", 1, 1},
		{"413-gt/gt1.ocaml", 1, 1},
		{"413-gt/gt1.sweep", 1, 1},
		{"413-gt/gth.noalloc-a", 1, 1},
		{"413-gt/gth.noalloc-b", 1, 1},
		{"413-gt/gtt.ocaml", 5, 4},
		{"53-gt/gt1.midalloc", 1, 1},
		{"53-gt/gt1.minor-1bad", 1, 1},
		{"53-gt/gt1.minor", 1, 1},
		{"53-gt/gt1.ocaml", 1, 1},
		{"53-gt/gtd.ocaml", 8, 4},
		{"53-gt/gtd.runtime", 8, 4},
		{"53-gt/gth.noalloc-a", 1, 1},
		{"53-gt/gth.noalloc-b", 1, 1},
		{"53-gt/gtt.minor", 5, 4},
		{"413-busy/big.minor", 1, 1},
		{"413-busy/big.sweep", 1, 1},
		{"53-busy/big.minor", 1, 1},
	};
	for (size_t i = 0; i < LENGTH(all); i++) {
		struct snap_image image;
		struct snap_frame ocaml;
		char core[256];
		unsigned found = 0, steps;
		snprintf(core, sizeof(core), "%s/%s.core.zst", CORES, all[i].core);
		must_open(&image, core, NULL);
		assert_int_equal(image.thread_count, all[i].threads);
		for (uint64_t t = 0; t < image.thread_count; t++)
			found += walk(&image, &image.threads[t], &ocaml, &steps);
		if (found != all[i].in_ocaml)
			fail_msg("%s: %u threads in OCaml", all[i].core, found);
		snap_image_close(&image);
	}
}

static uint64_t word(struct snap_image *image, uint64_t address)
{
	uint64_t value;
	assert_true(snap_image_u64(image, address, &value));
	return value;
}

/*
 * 4.13 saves where OCaml called the runtime: bottom_of_stack (offset 208 of the domain state) and
 * last_return_address (216).  The walk must come to the same pair, except out of C functions that
 * are called without telling the runtime.
 */
static void saved_state_of_413(void **state)
{
	(void)state;
	need_real_cores();
	static const struct {
		const char *core;
		bool saved;
	} all[] = {{"gt1.darken-roots", true}, {"gt1.mark", true}, {"gt1.minor", true},
		{"gt1.minor-1bad", true}, {"gt1.sweep", true}, {"gth.noalloc-a", false},
		{"gth.noalloc-b", false}};
	for (size_t i = 0; i < LENGTH(all); i++) {
		struct snap_image image;
		struct snap_symbol symbol;
		struct snap_frame ocaml;
		char core[256];
		unsigned steps;
		snprintf(core, sizeof(core), "%s/413-gt/%s.core.zst", CORES, all[i].core);
		must_open(&image, core, NULL);
		assert_true(snap_image_main_symbol(&image, "Caml_state", &symbol));
		uint64_t domain = word(&image, symbol.address);
		assert_true(walk(&image, image.threads, &ocaml, &steps));
		assert_true(steps > 0);
		bool equal = ocaml.registers[SNAP_RSP] == word(&image, domain + 208) &&
			     ocaml.registers[SNAP_RIP] == word(&image, domain + 216);
		assert_int_equal(equal, all[i].saved);
		assert_true(snap_frame_knows(&ocaml, SNAP_R14));
		assert_int_equal(ocaml.registers[SNAP_R14], domain);
		snap_image_close(&image);
	}
}

/*
 * 5.3 calls C functions on the stack of C, with its own rsp in rbx: the frame of OCaml then has
 * rsp = c_stack (offset 64 of the domain state) and rbx between current_stack (40) and its handler
 * (16 of the stack), and its table leads back there.  r14 is the domain, though C has used it.
 */
static void switched_stack_of_53(void **state)
{
	(void)state;
	need_real_cores();
	static const char *const cores[] = {"gth.noalloc-a", "gth.noalloc-b"};
	for (size_t i = 0; i < LENGTH(cores); i++) {
		struct snap_image image;
		struct snap_symbol symbol;
		struct snap_frame ocaml;
		char core[256];
		unsigned steps;
		uint64_t place;
		snprintf(core, sizeof(core), "%s/53-gt/%s.core.zst", CORES, cores[i]);
		must_open(&image, core, NULL);
		assert_true(snap_image_main_symbol(&image, "caml_state", &symbol));
		assert_true(snap_thread_variable(&image, image.threads, &symbol, &place));
		uint64_t domain = word(&image, place), stack = word(&image, domain + 40);
		assert_true(walk(&image, image.threads, &ocaml, &steps));
		assert_int_equal(steps, i + 1);
		assert_int_equal(ocaml.registers[SNAP_R14], domain);
		assert_int_not_equal(image.threads[0].registers[SNAP_USER_R14], domain);
		assert_int_equal(ocaml.registers[SNAP_RSP], word(&image, domain + 64));
		assert_true(ocaml.registers[SNAP_RBX] >= stack &&
			    ocaml.registers[SNAP_RBX] <= word(&image, stack + 16));
		assert_true(ocaml.has_cfa);
		assert_true(ocaml.cfa >= ocaml.registers[SNAP_RBX] &&
			    ocaml.cfa <= word(&image, stack + 16));
		snap_image_close(&image);
	}
}

/* Where the code of exported functions shows the static variables that strip takes away. */

struct hidden {
	const char *function, *variable;
};

static void check_hidden(struct snap_image *whole, struct snap_image *stripped,
	const struct hidden *hidden, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct snap_symbol function, variable;
		struct snap_operand found[64];
		struct hg_error error;
		size_t operands, hits = 0;
		assert_true(snap_image_main_symbol(stripped, hidden[i].function, &function));
		assert_true(snap_image_main_symbol(whole, hidden[i].variable, &variable));
		assert_int_equal(snap_operands(stripped, function.address, function.size, found,
					 LENGTH(found), &operands, &error),
			HG_OK);
		assert_true(operands <= LENGTH(found));
		for (size_t k = 0; k < operands; k++)
			hits += found[k].address - variable.address < variable.size;
		if (hits == 0)
			fail_msg("%s in %s", hidden[i].variable, hidden[i].function);
	}
}

static void hidden_variables(void **state)
{
	(void)state;
	need_real_cores();
	static const struct hidden of_4[] = {{"caml_final_do_roots", "finalisable_first"},
		{"caml_final_do_roots", "finalisable_last"}, {"caml_final_do_roots", "to_do_hd"},
		{"caml_memprof_do_roots", "entries_global"},
		{"caml_named_value", "named_value_table"}, {"caml_thread_self", "curr_thread"},
		{"caml_register_dyn_global", "caml_dyn_globals"},
		{"caml_page_table_lookup", "caml_page_table"},
		{"caml_find_code_fragment_by_pc", "code_fragments_by_pc"}};
	static const struct hidden of_5[] = {{"caml_get_frame_descrs", "current_frame_descrs"},
		{"caml_accum_orphan_heap_stats", "pool_freelist"},
		{"caml_interrupt_all_signal_safe", "all_domains"},
		{"caml_thread_self", "thread_table"}, {"caml_named_value", "named_value_table"},
		{"caml_register_dyn_globals", "caml_dyn_globals"}, {"caml_atom", "atoms"}};
	struct snap_image whole, stripped;
	must_open(&whole, CORES "/413-cache/core.zst", CORES "/413-cache/cache.zst");
	must_open(&stripped, CORES "/413-cache/core.zst", CORES "/413-cache/cache.stripped.zst");
	check_hidden(&whole, &stripped, of_4, LENGTH(of_4));
	snap_image_close(&whole);
	snap_image_close(&stripped);
	must_open(&whole, CORES "/53-cache/core.zst", CORES "/53-cache/cache.zst");
	must_open(&stripped, CORES "/53-cache/core.zst", CORES "/53-cache/cache.stripped.zst");
	check_hidden(&whole, &stripped, of_5, LENGTH(of_5));
	snap_image_close(&whole);
	snap_image_close(&stripped);
}

static void largest_block(void **state)
{
	(void)state;
	need_real_cores();
	static const char *const cores[] = {
		"413-gt/gth.noalloc-a.core", "53-gt/gth.noalloc-a.core"};
	for (size_t i = 0; i < LENGTH(cores); i++) {
		struct snap_image image;
		struct snap_symbol symbol;
		struct hg_error error;
		char core[256];
		uint64_t value;
		snprintf(core, sizeof(core), "%s/%s.zst", CORES, cores[i]);
		must_open(&image, core, NULL);
		assert_true(snap_image_main_symbol(&image, "caml_sys_const_max_wosize", &symbol));
		bool found;
		assert_int_equal(
			snap_constant_function(&image, symbol.address, &value, &found, &error),
			HG_OK);
		assert_true(found);
		assert_int_equal(value, 0x7fffffffffffff);
		snap_image_close(&image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simple_rules),
		cmocka_unit_test(expressions),
		cmocka_unit_test(bad_tables),
		cmocka_unit_test(flipped_bits_of_tables),
		cmocka_unit_test(operands),
		cmocka_unit_test(operands_of_fixed_programs),
		cmocka_unit_test(constant_functions),
		cmocka_unit_test(taken_by_code),
		cmocka_unit_test(stacks_of_real_programs),
		cmocka_unit_test(saved_state_of_413),
		cmocka_unit_test(switched_stack_of_53),
		cmocka_unit_test(hidden_variables),
		cmocka_unit_test(largest_block),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
