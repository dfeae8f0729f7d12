/*
 * The registers of processors, the one list of them: their places in struct user_regs_struct
 * (sys/user.h), which the kernel gives a tracer and writes to core files (NT_PRSTATUS), and their
 * numbers in DWARF.  The names are those of <sys/ucontext.h> and of Capstone, too, after their
 * prefixes.
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

/* All processors */

enum {
	/* The most that any has: arrays have this size. */
	SNAP_USER_REGISTERS = SNAP_X86_64_PLACES, /* by their places, SNAP_USER_... */
	SNAP_REGISTERS = 17,                      /* by their numbers in DWARF */
	/* In the header of ELF files, as <elf.h> has them. */
	SNAP_MACHINE_X86_64 = 62
};

/* How many registers the kernel gives of a thread; 0 for a machine that is not known. */
static inline unsigned snap_places_of_machine(unsigned machine)
{
	return machine == SNAP_MACHINE_X86_64 ? SNAP_X86_64_PLACES : 0;
}

/* For messages about other machines. */
#define SNAP_KNOWN_MACHINES "x86-64 (62)"

#endif
