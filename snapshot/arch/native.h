/*
 * The processor that this program itself runs on: what a capture of a process beside us, or of the
 * program by itself, has to know of it.  One file a processor, native_NAME.c, is empty on all
 * others.
 *
 * It stands for itself alone, as registers.h does.
 */
#ifndef SNAPSHOT_ARCH_NATIVE_H
#define SNAPSHOT_ARCH_NATIVE_H

#include "snapshot/arch/registers.h"

#include <stdint.h>
#include <ucontext.h>

#if defined(__x86_64__)

/* Places of registers.  Arguments of a system call are in order. */
enum {
	SNAP_NATIVE_MACHINE = SNAP_MACHINE_X86_64,
	SNAP_NATIVE_REGISTERS = SNAP_X86_64_PLACES, /* how many there are */
	SNAP_NATIVE_GIVEN = SNAP_X86_64_PLACES, /* in NT_PRSTATUS; others have notes of their own */
	SNAP_NATIVE_PC = SNAP_USER_RIP,
	SNAP_NATIVE_SP = SNAP_USER_RSP,
	SNAP_NATIVE_THREAD = SNAP_USER_FS_BASE, /* where the thread's own data are */
	SNAP_NATIVE_NUMBER = SNAP_USER_RAX,     /* of the system call to make */
	SNAP_NATIVE_RESULT = SNAP_USER_RAX,
	SNAP_NATIVE_ARGUMENTS = 5,
	/* Bytes that a function may use below its stack pointer (System V ABI for AMD64). */
	SNAP_NATIVE_RED_ZONE = 128
};
__attribute__((unused)) static const unsigned char snap_native_arguments[SNAP_NATIVE_ARGUMENTS] = {
	SNAP_USER_RDI, SNAP_USER_RSI, SNAP_USER_RDX, SNAP_USER_R10, SNAP_USER_R8};

/*
 * Of a thread that is to make a call: the one that it was stopped in is not to be made anew with
 * these registers.  What comes after the call is on the stack.
 */
static inline void snap_native_leave_call(uint64_t registers[SNAP_NATIVE_REGISTERS], uint64_t after)
{
	(void)after;
	registers[SNAP_USER_ORIG_RAX] = UINT64_MAX;
}

#elif defined(__aarch64__)

enum {
	SNAP_NATIVE_MACHINE = SNAP_MACHINE_AARCH64,
	SNAP_NATIVE_REGISTERS = SNAP_AARCH64_PLACES,
	SNAP_NATIVE_GIVEN = SNAP_AARCH64_GIVEN,
	SNAP_NATIVE_PC = SNAP_USER_A64_PC,
	SNAP_NATIVE_SP = SNAP_USER_A64_SP,
	SNAP_NATIVE_THREAD = SNAP_USER_A64_TP,
	SNAP_NATIVE_NUMBER = SNAP_USER_A64_X8,
	SNAP_NATIVE_RESULT = SNAP_USER_A64_X0,
	SNAP_NATIVE_ARGUMENTS = 5,
	/* AAPCS64, 6.4.5.1: nothing below the stack pointer is kept. */
	SNAP_NATIVE_RED_ZONE = 0
};
__attribute__((unused)) static const unsigned char snap_native_arguments[SNAP_NATIVE_ARGUMENTS] = {
	SNAP_USER_A64_X0, SNAP_USER_A64_X1, SNAP_USER_A64_X2, SNAP_USER_A64_X3, SNAP_USER_A64_X4};

/*
 * The kernel has put the registers back to before the call that the thread was stopped in
 * (do_signal in arch/arm64/kernel/signal.c).  The address of the code to go on with after a call is
 * in a register.
 */
static inline void snap_native_leave_call(uint64_t registers[SNAP_NATIVE_REGISTERS], uint64_t after)
{
	registers[SNAP_USER_A64_X30] = after;
}

#else
#error "captures are not made on this processor yet: CONTRIBUTING.md says what they need"
#endif

/* Where the calling thread is, by getcontext(), which writes what a function must preserve. */
void snap_native_from_context(uint64_t registers[SNAP_NATIVE_REGISTERS], const ucontext_t *context);

#endif
