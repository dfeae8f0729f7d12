/* Whether and where a process can be made to do a system call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "snapshot/arch/net.h"
#include "tests/unit/emulated.h"

#include <unistd.h>

/* libc has it. */
static void test_code(void **state)
{
	(void)state;
	skip_if_emulated("test_code");
	struct snap_net_code code;
	assert_true(snap_net_find_code(getpid(), &code));
	assert_int_not_equal(code.call, code.return_from_signal);
	assert_true(snap_net_code_is(getpid(), &code));
	code.call++;
	assert_false(snap_net_code_is(getpid(), &code));
	code.call = 8;
	assert_false(snap_net_code_is(getpid(), &code));
}

static void test_obstacles(void **state)
{
	(void)state;
#ifdef __x86_64__
	uint64_t registers[SNAP_NATIVE_REGISTERS] = {[SNAP_USER_CS] = 0x23};
	assert_string_equal(snap_net_obstacle_in_registers(0, registers), "runs 32-bit code");
	registers[SNAP_USER_CS] = 0x33;
	assert_null(snap_net_obstacle_in_registers(0, registers));
	assert_string_equal(snap_net_obstacle_in_status("x86_Thread_features:\tshstk wrss \n"),
		"has a shadow stack");
	assert_null(snap_net_obstacle_in_status("x86_Thread_features_locked:\tshstk \n"));
#endif
	assert_null(snap_net_obstacle_in_status("x86_Thread_features:\t\n"));
	assert_null(snap_net_obstacle_in_status("Name:\tshstk\n"));
	assert_null(snap_net_obstacle_in_status(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_obstacles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
