/*
 * The registers of processors, the one list of them: their places in struct user_regs_struct
 * (sys/user.h), which the kernel gives a tracer and writes to core files (NT_PRSTATUS), and their
 * numbers in DWARF (System V ABI for AMD64, figure 3.36).  The names are those of <sys/ucontext.h>
 * and of Capstone, too, after their prefixes.
 *
 * It stands for itself alone, so that the writer of core files can do without the rest.
 */
#ifndef SNAPSHOT_ARCH_REGISTERS_H
#define SNAPSHOT_ARCH_REGISTERS_H

/*
 * x86-64, in the order of struct user_regs_struct: NUMBERED(name, DWARF number) has a number in
 * DWARF and a place in the frame of a signal, PLAIN(name) has neither.  Number 16 is the column of
 * the return address.
 */
#define SNAP_X86_64_REGISTERS(NUMBERED, PLAIN)                                                     \
	NUMBERED(R15, 15)                                                                          \
	NUMBERED(R14, 14)                                                                          \
	NUMBERED(R13, 13)                                                                          \
	NUMBERED(R12, 12)                                                                          \
	NUMBERED(RBP, 6)                                                                           \
	NUMBERED(RBX, 3)                                                                           \
	NUMBERED(R11, 11)                                                                          \
	NUMBERED(R10, 10)                                                                          \
	NUMBERED(R9, 9)                                                                            \
	NUMBERED(R8, 8)                                                                            \
	NUMBERED(RAX, 0)                                                                           \
	NUMBERED(RCX, 2)                                                                           \
	NUMBERED(RDX, 1)                                                                           \
	NUMBERED(RSI, 4)                                                                           \
	NUMBERED(RDI, 5)                                                                           \
	PLAIN(ORIG_RAX)                                                                            \
	NUMBERED(RIP, 16)                                                                          \
	PLAIN(CS)                                                                                  \
	PLAIN(EFLAGS)                                                                              \
	NUMBERED(RSP, 7)                                                                           \
	PLAIN(SS)                                                                                  \
	PLAIN(FS_BASE)                                                                             \
	PLAIN(GS_BASE)                                                                             \
	PLAIN(DS)                                                                                  \
	PLAIN(ES)                                                                                  \
	PLAIN(FS)                                                                                  \
	PLAIN(GS)

/* Places in what the kernel gives. */
enum snap_user_register {
#define SNAP_NUMBERED(name, number) SNAP_USER_##name,
#define SNAP_PLAIN(name) SNAP_USER_##name,
	SNAP_X86_64_REGISTERS(SNAP_NUMBERED, SNAP_PLAIN)
#undef SNAP_NUMBERED
#undef SNAP_PLAIN
		SNAP_USER_REGISTERS
};

/* Numbers in DWARF. */
enum snap_register {
#define SNAP_NUMBERED(name, number) SNAP_##name = number,
#define SNAP_PLAIN(name)
	SNAP_X86_64_REGISTERS(SNAP_NUMBERED, SNAP_PLAIN)
#undef SNAP_NUMBERED
#undef SNAP_PLAIN
};

/* The most that any processor has with a number: arrays have this size. */
enum { SNAP_REGISTERS = 17 };

/*
 * What those of the machine are for on which a capture runs, as it is of a process beside us; their
 * places.  Arguments of a system call are in order.
 */
enum {
	SNAP_NATIVE_MACHINE = 62, /* EM_X86_64 of <elf.h> */
	SNAP_NATIVE_PC = SNAP_USER_RIP,
	SNAP_NATIVE_SP = SNAP_USER_RSP,
	SNAP_NATIVE_THREAD = SNAP_USER_FS_BASE, /* where the thread's own data are */
	SNAP_NATIVE_NUMBER = SNAP_USER_RAX,     /* of the system call to make */
	SNAP_NATIVE_RESULT = SNAP_USER_RAX,
	SNAP_NATIVE_CALLED = SNAP_USER_ORIG_RAX, /* number of the one it is in; -1: none */
	SNAP_NATIVE_ARGUMENTS = 5
};
__attribute__((unused)) static const unsigned char snap_native_arguments[SNAP_NATIVE_ARGUMENTS] = {
	SNAP_USER_RDI, SNAP_USER_RSI, SNAP_USER_RDX, SNAP_USER_R10, SNAP_USER_R8};

#endif
