/* What cannot be tested where the tests run on another processor than the machine's (tests/run). */
#ifndef TESTS_UNIT_EMULATED_H
#define TESTS_UNIT_EMULATED_H

#include <stdio.h>
#include <stdlib.h>

/* Leaves a test out, and says so; qemu-user has neither ptrace() nor process_vm_readv(). */
static inline void skip_if_emulated(const char *test)
{
	if (!getenv("EMULATOR"))
		return;
	printf("skip %s: qemu-user reads no memory of processes and traces none\n", test);
	fflush(stdout);
	skip();
}

#endif
