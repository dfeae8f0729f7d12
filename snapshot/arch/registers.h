/*
 * The registers of processors, the one list of them: their places in struct user_regs_struct
 * (sys/user.h), which the kernel gives a tracer and writes to core files (NT_PRSTATUS), and their
 * numbers in DWARF.  The names are those of Capstone, too, after their prefixes, and of x86-64
 * those of <sys/ucontext.h>.
 *
 * It stands for itself alone, so that the writer of core files can do without the rest.
 */
#ifndef SNAPSHOT_ARCH_REGISTERS_H
#define SNAPSHOT_ARCH_REGISTERS_H

/*
 * x86-64, in the order of struct user_regs_struct: NUMBERED(name, DWARF number) has a number in
 * DWARF (System V ABI for AMD64, figure 3.36) and a place in the frame of a signal, PLAIN(name) has
 * neither.  Number 16 is the column of the return address.
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
enum snap_x86_64_place {
#define SNAP_NUMBERED(name, number) SNAP_USER_##name,
#define SNAP_PLAIN(name) SNAP_USER_##name,
	SNAP_X86_64_REGISTERS(SNAP_NUMBERED, SNAP_PLAIN)
#undef SNAP_NUMBERED
#undef SNAP_PLAIN
		SNAP_X86_64_PLACES
};

/* Numbers in DWARF. */
enum snap_x86_64_register {
#define SNAP_NUMBERED(name, number) SNAP_##name = (number),
#define SNAP_PLAIN(name)
	SNAP_X86_64_REGISTERS(SNAP_NUMBERED, SNAP_PLAIN)
#undef SNAP_NUMBERED
#undef SNAP_PLAIN
};

/*
 * arm64, in the order of struct user_pt_regs; numbers in DWARF are those of "DWARF for the Arm
 * 64-bit Architecture", 4.1, which has none for the register of the code but leaves 32 to it.
 */
#define SNAP_AARCH64_REGISTERS(NUMBERED, PLAIN)                                                    \
	NUMBERED(X0, 0)                                                                            \
	NUMBERED(X1, 1)                                                                            \
	NUMBERED(X2, 2)                                                                            \
	NUMBERED(X3, 3)                                                                            \
	NUMBERED(X4, 4)                                                                            \
	NUMBERED(X5, 5)                                                                            \
	NUMBERED(X6, 6)                                                                            \
	NUMBERED(X7, 7)                                                                            \
	NUMBERED(X8, 8)                                                                            \
	NUMBERED(X9, 9)                                                                            \
	NUMBERED(X10, 10)                                                                          \
	NUMBERED(X11, 11)                                                                          \
	NUMBERED(X12, 12)                                                                          \
	NUMBERED(X13, 13)                                                                          \
	NUMBERED(X14, 14)                                                                          \
	NUMBERED(X15, 15)                                                                          \
	NUMBERED(X16, 16)                                                                          \
	NUMBERED(X17, 17)                                                                          \
	NUMBERED(X18, 18)                                                                          \
	NUMBERED(X19, 19)                                                                          \
	NUMBERED(X20, 20)                                                                          \
	NUMBERED(X21, 21)                                                                          \
	NUMBERED(X22, 22)                                                                          \
	NUMBERED(X23, 23)                                                                          \
	NUMBERED(X24, 24)                                                                          \
	NUMBERED(X25, 25)                                                                          \
	NUMBERED(X26, 26)                                                                          \
	NUMBERED(X27, 27)                                                                          \
	NUMBERED(X28, 28)                                                                          \
	NUMBERED(X29, 29)                                                                          \
	NUMBERED(X30, 30)                                                                          \
	NUMBERED(SP, 31)                                                                           \
	NUMBERED(PC, 32)                                                                           \
	PLAIN(PSTATE)

/* Places in what the kernel gives; the pointer to the thread's data is in a note of its own. */
enum snap_aarch64_place {
#define SNAP_NUMBERED(name, number) SNAP_USER_A64_##name,
#define SNAP_PLAIN(name) SNAP_USER_A64_##name,
	SNAP_AARCH64_REGISTERS(SNAP_NUMBERED, SNAP_PLAIN)
#undef SNAP_NUMBERED
#undef SNAP_PLAIN
		SNAP_AARCH64_GIVEN,
	SNAP_USER_A64_TP = SNAP_AARCH64_GIVEN, /* 0: not known */
	SNAP_AARCH64_PLACES
};

/* Numbers in DWARF. */
enum snap_aarch64_register {
#define SNAP_NUMBERED(name, number) SNAP_A64_##name = (number),
#define SNAP_PLAIN(name)
	SNAP_AARCH64_REGISTERS(SNAP_NUMBERED, SNAP_PLAIN)
#undef SNAP_NUMBERED
#undef SNAP_PLAIN
};

/* All processors */

enum {
	/* The most that any has: arrays have this size. */
	SNAP_USER_REGISTERS = SNAP_AARCH64_PLACES, /* by their places, SNAP_USER_... */
	SNAP_REGISTERS = 33,                       /* by their numbers in DWARF */
	/* In the header of ELF files, as <elf.h> has them. */
	SNAP_MACHINE_X86_64 = 62,
	SNAP_MACHINE_AARCH64 = 183
};

#endif
