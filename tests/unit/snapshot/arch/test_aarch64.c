/* What the code of arm64 says: operands, copies, constants, allocations, thread-local data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "snapshot/arch/arch.h"
#include "tests/unit/core.h"

#define CODE (CORE_BIAS + EXE_TEXT)

struct arm_test {
	struct process p;
	struct snap_image image;
};

/* A process with this code; opened as one of x86-64, whose notes it has, and then taken for arm64.
 */
static void code_start(struct arm_test *t, const uint32_t *code, size_t words)
{
	struct hg_error error;
	process_start(&t->p);
	core_build(&t->p, NULL);
	for (size_t i = 0; i < words; i++)
		put_u32(&t->p.exe, EXE_TEXT + 4 * i, code[i]);
	process_write(&t->p);
	struct snap_image_options options = {.core = t->p.core_path, .libraries = CORES "/lib"};
	assert_int_equal(snap_image_open(&t->image, &options, &error), HG_OK);
	t->image.view.header.e_machine = EM_AARCH64;
}

static void code_end(struct arm_test *t)
{
	snap_image_close(&t->image);
	process_release(&t->p);
}

/* Addresses of what is expected count from CODE on. */
static void check_operands(struct arm_test *t, size_t words, const struct snap_operand *expected,
	size_t expected_count)
{
	struct snap_operand found[8];
	struct hg_error error;
	size_t count;
	assert_int_equal(
		snap_operands(&t->image, CODE, 4 * words, found, LENGTH(found), &count, &error),
		HG_OK);
	assert_int_equal(count, expected_count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(found[i].instruction, CODE + expected[i].instruction);
		assert_int_equal(found[i].address, CODE + expected[i].address);
		assert_int_equal(found[i].bytes, expected[i].bytes);
		assert_int_equal(found[i].use, expected[i].use);
	}
}

/* Once as the call of a descriptor, which leaves x3 alone, and once with another argument. */
static void operands_behind_thread_descriptors(void **state)
{
	(void)state;
	uint32_t code[] = {
		0xb0000003, /* adrp x3, page 1 */
		0xd0000000, /* adrp x0, page 2 */
		0xf947a802, /* ldr x2, [x0, #3920] */
		0x913d4000, /* add x0, x0, #3920 */
		0xd63f0040, /* blr x2 */
		0xf9402861, /* ldr x1, [x3, #80] */
		0xf8606820, /* ldr x0, [x1, x0] */
		0xd65f03c0, /* ret */
	};
	const struct snap_operand expected[] = {
		{8, 0x2f50, 8, SNAP_USE_READ},
		{20, 0x1050, 8, SNAP_USE_READ},
	};
	const struct snap_operand expected_of_other[] = {
		{8, 0x2f50, 8, SNAP_USE_READ},
		{12, 0x2f58, 0, SNAP_USE_ADDRESS},
	};
	struct arm_test t;
	code_start(&t, code, LENGTH(code));
	check_operands(&t, LENGTH(code), expected, LENGTH(expected));
	code_end(&t);
	code[3] = 0x913d6000; /* add x0, x0, #3928 */
	code_start(&t, code, LENGTH(code));
	check_operands(&t, LENGTH(code), expected_of_other, LENGTH(expected_of_other));
	code_end(&t);
}

/* As caml_atom() reaches its table from what lies before it. */
static void operands_behind_an_index(void **state)
{
	(void)state;
	static const uint32_t code[] = {
		0xb0000001, /* adrp x1, page 1 */
		0x913ec021, /* add x1, x1, #4016 */
		0x8b204c20, /* add x0, x1, w0, uxtw #3 */
		0x9104e000, /* add x0, x0, #312 */
		0xd65f03c0, /* ret */
	};
	const struct snap_operand expected[] = {{4, 0x1fb0 + 312, 0, SNAP_USE_ADDRESS}};
	struct arm_test t;
	code_start(&t, code, LENGTH(code));
	check_operands(&t, LENGTH(code), expected, LENGTH(expected));
	code_end(&t);
}

static void operands_of_pairs(void **state)
{
	(void)state;
	/* Pages from the one of the code on. */
	static const uint32_t code[] = {
		0xd503245f, /* bti c */
		0xb0000000, /* adrp x0, page 1 */
		0x91004001, /* add x1, x0, #16 */
		0xf9401002, /* ldr x2, [x0, #32] */
		0xb9002822, /* str w2, [x1, #40] */
		0xf8e20023, /* ldaddal x2, x3, [x1] */
		0xb4000062, /* cbz x2, +12 */
		0xaa0103e0, /* mov x0, x1 */
		0x14000400, /* b 0x1000 on: a call in the end */
		0xf9402403, /* ldr x3, [x0, #72]: x0 as at the cbz */
		0xd65f03c0, /* ret */
	};
	const struct snap_operand expected[] = {
		{12, 0x1020, 8, SNAP_USE_READ},
		{16, 0x1038, 4, SNAP_USE_WRITE},
		{20, 0x1010, 8, SNAP_USE_UPDATE},
		{8, 0x1010, 0, SNAP_USE_ADDRESS}, /* in x0, and still in x1 */
		{8, 0x1010, 0, SNAP_USE_ADDRESS},
		{32, 32 + 0x1000, 0, SNAP_USE_CALL},
		{36, 0x1048, 8, SNAP_USE_READ},
	};
	struct arm_test t;
	struct snap_operand found[8];
	struct hg_error error;
	size_t count;
	code_start(&t, code, LENGTH(code));
	check_operands(&t, LENGTH(code), expected, LENGTH(expected));
	assert_int_equal(
		snap_operands(&t.image, CODE + 0x100, 4, found, LENGTH(found), &count, &error),
		HG_ERROR_INPUT);
	assert_int_equal(snap_operands(&t.image, 0x1000, 4, found, LENGTH(found), &count, &error),
		HG_ERROR_INPUT);
	code_end(&t);
}

static void constants_of_arm64(void **state)
{
	(void)state;
	static const struct {
		uint32_t code[3];
		bool is_constant;
		uint64_t value;
	} functions[] = {
		{{0xd503245f, 0xb240dbe0, 0xd65f03c0}, true, 0x7fffffffffffff},
		{{0xd503233f, 0xd28000e0, 0xd65f03c0}, true, 7},  /* paciasp, mov x0, #7 */
		{{0x528000e1, 0xd65f03c0}, false, 0},             /* mov w1, #7 */
		{{0xd28000e0, 0xd28000e0, 0xd65f03c0}, false, 0}, /* twice */
	};
	struct hg_error error;
	for (size_t i = 0; i < LENGTH(functions); i++) {
		struct arm_test t;
		uint64_t value;
		bool is_constant;
		code_start(&t, functions[i].code, 3);
		assert_int_equal(
			snap_constant_function(&t.image, CODE, &value, &is_constant, &error),
			HG_OK);
		if (is_constant != functions[i].is_constant)
			fail_msg("function %zu", i);
		if (is_constant)
			assert_int_equal(value, functions[i].value);
		code_end(&t);
	}
}

static void taken_by_allocations(void **state)
{
	(void)state;
	static const uint32_t code[] = {
		0xf9400390, /* ldr x16, [x28] */
		0xd100637b, /* sub x27, x27, #24 */
		0xeb10037f, /* cmp x27, x16 */
		0x54000103, /* b.lo */
		0x91002360, /* add x0, x27, #8 */
		0xd503201f, /* nop */
		0xd503201f,
		0xd503201f,
	};
	static const uint64_t taken[] = {0, 0, 24, 24, 24, 24, 24, 0};
	struct arm_test t;
	code_start(&t, code, LENGTH(code));
	for (size_t i = 0; i < LENGTH(taken); i++)
		assert_int_equal(snap_taken_by_code(&t.image, CODE + 4 * i), taken[i]);
	code_end(&t);
}

/* A word of the code's second page is copied to one of its third. */
static void copies_of_arm64(void **state)
{
	(void)state;
	static const uint32_t code[] = {
		0xb0000001, /* adrp x1, page 1 */
		0xf9400820, /* ldr x0, [x1, #16] */
		0xd0000002, /* adrp x2, page 2 */
		0xf9000440, /* str x0, [x2, #8] */
		0xf9000043, /* str x3, [x2] */
		0xd65f03c0, /* ret */
	};
	struct arm_test t;
	struct hg_error error;
	uint64_t sources[2];
	struct snap_range to = {CODE + 0x2000, CODE + 0x2010};
	code_start(&t, code, LENGTH(code));
	assert_int_equal(snap_copied_from(&t.image, (struct snap_range){CODE, CODE + sizeof(code)},
				 to, 0, sources, &error),
		HG_OK);
	assert_int_equal(sources[0], 0);
	assert_int_equal(sources[1], CODE + 0x1010);
	code_end(&t);
}

/* The executable's data are behind two words; where the core lacks the pointer nothing is told. */
static void thread_variables_of_arm64(void **state)
{
	(void)state;
	const uint32_t nop = 0xd503201f;
	struct arm_test t;
	uint64_t address;
	code_start(&t, &nop, 1);
	struct snap_symbol symbol = {.file = t.image.main, .is_tls = true, .address = 8};
	struct snap_thread thread = {0};
	t.image.main->elf.view.header.e_machine = EM_AARCH64;
	assert_false(snap_thread_variable(&t.image, &thread, &symbol, &address));
	thread.registers[SNAP_USER_A64_TP] = 0x7f0000000000;
	assert_true(snap_thread_variable(&t.image, &thread, &symbol, &address));
	assert_int_equal(address, 0x7f0000000000 + 16 + 8);
	code_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_of_pairs),
		cmocka_unit_test(operands_behind_thread_descriptors),
		cmocka_unit_test(operands_behind_an_index),
		cmocka_unit_test(constants_of_arm64),
		cmocka_unit_test(taken_by_allocations),
		cmocka_unit_test(copies_of_arm64),
		cmocka_unit_test(thread_variables_of_arm64),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
