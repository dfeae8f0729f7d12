/* Registers of a thread of our own, and that our list of them is that of the system: x86-64. */
#ifdef __x86_64__

#include "snapshot/arch/native.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>

_Static_assert(sizeof(struct user_regs_struct) == SNAP_NATIVE_REGISTERS * sizeof(uint64_t),
	"registers as in core files");
#define IN_PLACE(member, place)                                                                    \
	_Static_assert(                                                                            \
		offsetof(struct user_regs_struct, member) == (place) * sizeof(uint64_t), #member)
IN_PLACE(r15, SNAP_USER_R15);
IN_PLACE(rax, SNAP_USER_RAX);
IN_PLACE(orig_rax, SNAP_USER_ORIG_RAX);
IN_PLACE(rip, SNAP_USER_RIP);
IN_PLACE(rsp, SNAP_USER_RSP);
IN_PLACE(fs_base, SNAP_USER_FS_BASE);
IN_PLACE(gs, SNAP_USER_GS);

/* Segments of user programs on 64 bit Linux; a code of arch_prctl(2). */
enum { USER_CS = 0x33, USER_SS = 0x2b, GET_FS_BASE = 0x1003 };

void snap_native_from_context(uint64_t registers[SNAP_NATIVE_REGISTERS], const ucontext_t *context)
{
	/* Those that getcontext() writes. */
	static const struct {
		int to, from;
	} map[] = {{SNAP_USER_R15, REG_R15}, {SNAP_USER_R14, REG_R14}, {SNAP_USER_R13, REG_R13},
		{SNAP_USER_R12, REG_R12}, {SNAP_USER_RBP, REG_RBP}, {SNAP_USER_RBX, REG_RBX},
		{SNAP_USER_RIP, REG_RIP}, {SNAP_USER_RSP, REG_RSP}, {SNAP_USER_RDI, REG_RDI},
		{SNAP_USER_RSI, REG_RSI}, {SNAP_USER_RDX, REG_RDX}, {SNAP_USER_RCX, REG_RCX},
		{SNAP_USER_R8, REG_R8}, {SNAP_USER_R9, REG_R9}};
	uint64_t base = 0;
	for (size_t i = 0; i < sizeof(map) / sizeof(*map); i++)
		registers[map[i].to] = (uint64_t)context->uc_mcontext.gregs[map[i].from];
	registers[SNAP_USER_ORIG_RAX] = UINT64_MAX; /* not in a system call */
	registers[SNAP_USER_CS] = USER_CS;
	registers[SNAP_USER_SS] = USER_SS;
	syscall(SYS_arch_prctl, GET_FS_BASE, &base);
	registers[SNAP_USER_FS_BASE] = base;
}

#endif
