/*
 * Frames of signals, code for system calls, interrupted calls: Linux on x86-64.
 *
 * A system call is made at an instruction 'syscall; ret' with rsp at one of the frames; the first
 * word of each is the address of libc's code that asks the kernel to return from a signal.  Layout
 * of the frames: arch/x86/include/asm/sigframe.h, asm/fpu/signal.h and uapi/asm/sigcontext.h of
 * Linux, System V ABI for AMD64.
 */
#ifdef __x86_64__

#include "snapshot/arch/net.h"
#include "snapshot/arch/net_sequences.h"

#include "base/proc.h"

#include <cpuid.h>
#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>

/* Code */

enum { SYSCALL_BYTES = 2 };

/* syscall; ret.  mov $15, %rax; syscall */
const struct snap_net_sequences snap_net_sequences = {
	.call = {"\x0f\x05\xc3", 3}, .return_from_signal = {"\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9}};

/* Interrupted system calls */

/* What the kernel leaves in rax (include/linux/errno.h). */
enum {
	RESTART_SYSTEM_CALL = -512,
	RESTART_NOT_INTERRUPTED = -513,
	RESTART_NO_HANDLER = -514,
	RESTART_BLOCK = -516
};

/* Calls of which the kernel notes what is left, and has that go on as restart_syscall(2). */
static bool is_noted_call(uint64_t number)
{
	return number == SYS_poll || number == SYS_nanosleep || number == SYS_futex ||
	       number == SYS_clock_nanosleep;
}

/* Code of at most this many bytes before an instruction. */
enum { BEFORE = 24 };

static bool read_before(pid_t process, uint64_t address, uint8_t code[BEFORE])
{
	return base_proc_read_memory(process, address - BEFORE, code, BEFORE) == BEFORE;
}

/* mov $NUMBER, %eax */
static bool number_in_code(const uint8_t code[BEFORE], uint64_t *number)
{
	enum { MOVE = 0xb8, MOVE_BYTES = 5, EXTENDED = 0x41 };
	for (size_t at = BEFORE - MOVE_BYTES; at > 0; at--) {
		uint32_t moved;
		memcpy(&moved, code + at + 1, sizeof(moved));
		if (code[at] != MOVE || code[at - 1] == EXTENDED || !is_noted_call(moved))
			continue;
		*number = moved;
		return true;
	}
	return false;
}

/* A load from the stack, mov OFFSET(%rsp), by its bytes before the offset: the last one. */
static bool number_on_stack(pid_t process, const uint8_t code[BEFORE], const uint8_t load[4],
	uint64_t stack, uint64_t *number)
{
	enum { LOAD_BYTES = 4 };
	for (size_t at = BEFORE - LOAD_BYTES; at-- > 0;) {
		if (memcmp(code + at, load, LOAD_BYTES) != 0)
			continue;
		return base_proc_read_memory(process, stack + code[at + LOAD_BYTES], number,
			       sizeof(*number)) == sizeof(*number) &&
		       is_noted_call(*number);
	}
	return false;
}

/*
 * Which call restart_syscall(2) stands for, whose note is lost with a return from a signal.  The
 * instruction before has the number, or it has come on the stack to the functions that glibc has
 * for all calls that cancel a thread since 2.41 (nptl/cancellation.c and, for programs with several
 * threads, syscall_cancel.S, whose caller has it).  False when it is not told.
 */
static bool first_number(pid_t process, const uint64_t *registers, uint64_t *number)
{
	static const uint8_t to_rax[4] = {0x48, 0x8b, 0x44, 0x24};
	static const uint8_t to_rsi[4] = {0x48, 0x8b, 0x74, 0x24};
	uint64_t call = registers[SNAP_USER_RIP] - SYSCALL_BYTES, stack = registers[SNAP_USER_RSP];
	uint64_t caller;
	uint8_t code[BEFORE];
	if (!read_before(process, call, code))
		return false;
	if (number_in_code(code, number) || number_on_stack(process, code, to_rax, stack, number))
		return true;
	return base_proc_read_memory(process, stack, &caller, sizeof(caller)) == sizeof(caller) &&
	       read_before(process, caller, code) &&
	       number_on_stack(process, code, to_rsi, stack + sizeof(caller), number);
}

/* Has an interrupted call made anew, where the kernel would do so for a signal or a stop. */
static void make_call_anew(pid_t process, uint64_t *registers)
{
	int64_t result = (int64_t)registers[SNAP_USER_RAX];
	uint64_t number = registers[SNAP_USER_ORIG_RAX];
	bool interrupted = result == RESTART_SYSTEM_CALL || result == RESTART_NOT_INTERRUPTED ||
			   result == RESTART_NO_HANDLER || result == RESTART_BLOCK;
	if ((int64_t)number < 0 || !interrupted)
		return;
	uint64_t first;
	if (number == SYS_restart_syscall && first_number(process, registers, &first))
		number = first;
	registers[SNAP_USER_RAX] = number;
	registers[SNAP_USER_RIP] -= SYSCALL_BYTES;
}

/* A tracer sees what the kernel goes by, and can put it back. */
bool snap_net_must_settle(pid_t thread, const uint64_t registers[SNAP_NATIVE_REGISTERS])
{
	(void)thread;
	(void)registers;
	return false;
}

/* Vector registers */

/* The XSAVE area: Intel's manual, volume 1, chapter 13; where Linux notes what it is of. */
enum {
	XSAVE_MOST = 16384,
	XSAVE_ALIGN = 64,
	XSAVE_NOTE = 464,
	XSAVE_HEADER = 512,
	XSAVE_EXTENDED = 576,
	XSAVE_FEATURES = 63,
	TILE_DATA = 18, /* only for those who asked for it: not in every thread's frames */
	MAGIC_1 = 0x46505853,
	MAGIC_2 = 0x46505845,
	MAGIC_2_BYTES = 4
};

struct xsave_note {
	uint32_t magic, size_with_magic;
	uint64_t features;
	uint32_t size, unused[7];
};
_Static_assert(sizeof(struct xsave_note) == XSAVE_HEADER - XSAVE_NOTE, "struct _fpx_sw_bytes");

struct xsave {
	uint8_t bytes[XSAVE_MOST + MAGIC_2_BYTES];
	uint32_t size; /* without the second magic number */
};

/* Bytes of the standard form with these features. */
static uint32_t xsave_bytes(uint64_t features)
{
	uint32_t bytes = XSAVE_EXTENDED, size, offset, unused[2];
	for (unsigned i = 2; i < XSAVE_FEATURES; i++)
		if (features >> i & 1 &&
			__get_cpuid_count(13, i, &size, &offset, &unused[0], &unused[1]) &&
			offset + size > bytes)
			bytes = offset + size;
	return bytes;
}

/* The thread's, with what makes the kernel take it; false when it holds what would not fit. */
static bool read_xsave(pid_t thread, struct xsave *xsave)
{
	struct iovec io = {xsave->bytes, XSAVE_MOST};
	struct xsave_note note = {.magic = MAGIC_1};
	uint32_t end = MAGIC_2;
	uint64_t in_use;
	if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_X86_XSTATE, &io) != 0 ||
		io.iov_len < XSAVE_EXTENDED)
		return false;
	memcpy(&note.features, xsave->bytes + XSAVE_NOTE, sizeof(note.features));
	memcpy(&in_use, xsave->bytes + XSAVE_HEADER, sizeof(in_use));
	note.features &= ~((uint64_t)1 << TILE_DATA);
	xsave->size = note.size = xsave_bytes(note.features);
	note.size_with_magic = note.size + MAGIC_2_BYTES;
	if (in_use & ~note.features || note.size > io.iov_len)
		return false;
	memcpy(xsave->bytes + XSAVE_NOTE, &note, sizeof(note));
	memcpy(xsave->bytes + note.size, &end, MAGIC_2_BYTES);
	return true;
}

/* Frames */

/* struct rt_sigframe up to the mask; siginfo, which follows, is not read on return. */
struct frame {
	uint64_t code; /* where 'ret' goes */
	uint64_t flags, link;
	uint64_t alternate_stack[3]; /* a size of 0 is too small, and the thread's stays as it is */
	greg_t registers[NGREG];
	uint64_t xsave;
	uint64_t reserved[8];
	uint64_t mask;
};
_Static_assert(offsetof(struct frame, registers) - sizeof(uint64_t) ==
		       offsetof(ucontext_t, uc_mcontext.gregs),
	"struct ucontext");
_Static_assert(offsetof(struct frame, mask) - sizeof(uint64_t) == offsetof(ucontext_t, uc_sigmask),
	"struct ucontext");

/* UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS of uapi/asm/ucontext.h */
enum { FRAME_FLAGS = 1 | 2 | 4 };

static const struct {
	uint8_t frame, user;
} same_registers[] = {
#define SNAP_NUMBERED(name, number) {REG_##name, SNAP_USER_##name},
#define SNAP_PLAIN(name)
	SNAP_X86_64_REGISTERS(SNAP_NUMBERED, SNAP_PLAIN)
#undef SNAP_NUMBERED
#undef SNAP_PLAIN
		{REG_EFL, SNAP_USER_EFLAGS},
};

static struct frame frame_of(
	const struct snap_net_code *code, const uint64_t *registers, uint64_t mask, uint64_t xsave)
{
	struct frame frame = {.code = code->return_from_signal,
		.flags = FRAME_FLAGS,
		.xsave = xsave,
		.mask = mask};
	for (size_t i = 0; i < sizeof(same_registers) / sizeof(*same_registers); i++)
		frame.registers[same_registers[i].frame] =
			(greg_t)registers[same_registers[i].user];
	frame.registers[REG_CSGSFS] = (greg_t)((registers[SNAP_USER_CS] & 0xffff) |
					       (registers[SNAP_USER_SS] & 0xffff) << 48);
	return frame;
}

/* A system call, after which rsp leads to another frame. */
static struct frame call_of(const struct snap_net_code *code, const uint64_t *registers,
	uint64_t xsave, uint64_t number, uint64_t first, uint64_t then)
{
	struct frame frame = frame_of(code, registers, UINT64_MAX, xsave);
	frame.registers[REG_RAX] = (greg_t)number;
	frame.registers[REG_RDI] = (greg_t)first;
	frame.registers[REG_RSI] = 0;
	frame.registers[REG_RDX] = __WALL;
	frame.registers[REG_R10] = 0;
	frame.registers[REG_RIP] = (greg_t)code->call;
	frame.registers[REG_RSP] = (greg_t)then;
	return frame;
}

static uint64_t frame_below(uint64_t address)
{
	return ((address - sizeof(struct frame)) & ~(uint64_t)15) - sizeof(uint64_t);
}

bool snap_net_spread(struct snap_net *net, pid_t process, pid_t thread,
	const struct snap_net_code *code, const uint64_t registers[SNAP_NATIVE_REGISTERS],
	uint64_t mask, uint64_t limit)
{
	enum { NO_CHILD = INT32_MAX }; /* to wait for it fails at once */
	struct xsave xsave;
	uint64_t own[SNAP_NATIVE_REGISTERS];
	if (!read_xsave(thread, &xsave))
		return false;
	memcpy(own, registers, sizeof(own));
	make_call_anew(process, own);
	/* Handlers of signals that come before all are blocked use what is below the last one. */
	uint64_t area = (limit - xsave.size - MAGIC_2_BYTES) & ~(uint64_t)(XSAVE_ALIGN - 1);
	net->home = frame_below(area);
	net->end = frame_below(net->home);
	net->wait = frame_below(net->end);
	net->child = net->wait + offsetof(struct frame, registers) + REG_RDI * sizeof(uint64_t);
	struct frame home = frame_of(code, own, mask, area);
	struct frame end = call_of(code, registers, 0, SYS_exit_group, 0, net->end);
	struct frame wait = call_of(code, registers, area, SYS_wait4, NO_CHILD, net->home);
	return snap_net_write(process, area, xsave.bytes, xsave.size + MAGIC_2_BYTES) &&
	       snap_net_write(process, net->home, &home, sizeof(home)) &&
	       snap_net_write(process, net->end, &end, sizeof(end)) &&
	       snap_net_write(process, net->wait, &wait, sizeof(wait));
}

/* Threads without a net */

/* With a shadow stack (Intel CET) a return to where no call came from ends a process. */
const char *snap_net_obstacle_in_status(const char *line)
{
	static const char features[] = "x86_Thread_features:";
	bool is_told = strncmp(line, features, sizeof(features) - 1) == 0;
	return is_told && strstr(line, "shstk") ? "has a shadow stack" : NULL;
}

const char *snap_net_obstacle_in_registers(
	pid_t thread, const uint64_t registers[SNAP_NATIVE_REGISTERS])
{
	enum { CODE_64_BIT = 0x33 };
	(void)thread;
	return registers[SNAP_USER_CS] == CODE_64_BIT ? NULL : "runs 32-bit code";
}

#endif
