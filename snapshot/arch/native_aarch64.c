/* Registers of a thread of our own, and that our list of them is that of the system: arm64. */
#ifdef __aarch64__

#include "snapshot/arch/native.h"

#include <stddef.h>
#include <sys/user.h>

_Static_assert(sizeof(struct user_regs_struct) == SNAP_NATIVE_GIVEN * sizeof(uint64_t),
	"registers as in core files");
#define IN_PLACE(member, place)                                                                    \
	_Static_assert(                                                                            \
		offsetof(struct user_regs_struct, member) == (place) * sizeof(uint64_t), #member)
IN_PLACE(regs[30], SNAP_USER_A64_X30);
IN_PLACE(sp, SNAP_USER_A64_SP);
IN_PLACE(pc, SNAP_USER_A64_PC);
IN_PLACE(pstate, SNAP_USER_A64_PSTATE);

void snap_native_from_context(uint64_t registers[SNAP_NATIVE_REGISTERS], const ucontext_t *context)
{
	for (unsigned i = 0; i <= 30; i++)
		registers[SNAP_USER_A64_X0 + i] = context->uc_mcontext.regs[i];
	registers[SNAP_USER_A64_SP] = context->uc_mcontext.sp;
	registers[SNAP_USER_A64_PC] = context->uc_mcontext.pc;
	registers[SNAP_USER_A64_PSTATE] = context->uc_mcontext.pstate;
	registers[SNAP_USER_A64_TP] = (uint64_t)(uintptr_t)__builtin_thread_pointer();
}

#endif
