/*
 * Frames of signals and code for system calls: Linux on arm64.
 *
 * A system call is made at an instruction 'svc #0; ret' with sp at one of the frames and x30 at the
 * kernel's code that asks it to return from a signal.  Layout of the frames: struct rt_sigframe in
 * arch/arm64/kernel/signal.c and uapi/asm/sigcontext.h of Linux.
 *
 * When a system call is interrupted, a tracer sees the registers as they were before it (do_signal
 * in arch/arm64/kernel/signal.c), and with these it is made anew.  For one of which the kernel has
 * noted how much of a wait is left, it would put in restart_syscall(2) itself, but only where
 * nobody has changed the registers meanwhile.
 */
#ifdef __aarch64__

#include "snapshot/arch/net.h"
#include "snapshot/arch/net_sequences.h"

#include "base/proc.h"

#include <asm/ptrace.h>
#include <asm/sigcontext.h>
#include <elf.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* svc #0; ret.  mov x8, #139; svc #0 */
const struct snap_net_sequences snap_net_sequences = {
	.call = {"\x01\x00\x00\xd4\xc0\x03\x5f\xd6", 8},
	.return_from_signal = {"\x68\x11\x80\xd2\x01\x00\x00\xd4", 8}};

/* Interrupted system calls */

/* Calls of which the kernel notes what is left of a time, for restart_syscall(2). */
static bool is_noted_call(uint64_t number, const uint64_t *registers)
{
	uint64_t operation = (unsigned)registers[SNAP_USER_A64_X1] & (unsigned)FUTEX_CMD_MASK;
	return number == SYS_nanosleep || number == SYS_clock_nanosleep ||
	       (number == SYS_futex && operation == FUTEX_WAIT && registers[SNAP_USER_A64_X3]);
}

static bool is_at_call(pid_t thread, const uint64_t *registers)
{
	uint32_t instruction = 0;
	const uint32_t call = 0xd4000001; /* svc #0 */
	return base_proc_read_memory(thread, registers[SNAP_USER_A64_PC], &instruction,
		       sizeof(instruction)) == sizeof(instruction) &&
	       instruction == call;
}

bool snap_net_must_settle(pid_t thread, const uint64_t registers[SNAP_NATIVE_REGISTERS])
{
	return is_noted_call(registers[SNAP_USER_A64_X8], registers) &&
	       is_at_call(thread, registers);
}

/*
 * Which call restart_syscall(2) stands for, whose note is lost with a return from a signal: a move
 * to x8 or w8 not far before the call.  Where there is none, the call reports EINTR.
 */
static void make_call_anew(pid_t thread, uint64_t *registers)
{
	enum { BEFORE = 8, NUMBER_SHIFT = 5, NUMBER_MASK = 0xffff };
	const uint32_t move = 0x52800008, other_bits = 0x7fe0001f;
	uint32_t code[BEFORE];
	if (registers[SNAP_USER_A64_X8] != SYS_restart_syscall || !is_at_call(thread, registers) ||
		base_proc_read_memory(thread, registers[SNAP_USER_A64_PC] - sizeof(code), code,
			sizeof(code)) != sizeof(code))
		return;
	for (unsigned i = BEFORE; i-- > 0;) {
		uint64_t number = code[i] >> NUMBER_SHIFT & NUMBER_MASK;
		if ((code[i] & other_bits) != move)
			continue;
		if (is_noted_call(number, registers))
			registers[SNAP_USER_A64_X8] = number;
		return;
	}
}

/* Frames */

enum { FRAME_ALIGN = 16 };

/* struct rt_sigframe, of which siginfo is not read on return, up to the record that ends it. */
struct frame {
	uint8_t siginfo[128];
	uint64_t flags, link;
	uint64_t alternate_stack[3]; /* a size of 0 is too small, and the thread's stays as it is */
	uint64_t mask;
	uint8_t unused[128];
	uint64_t fault_address;
	uint64_t registers[31], sp, pc, pstate;
	uint64_t padding;
	struct fpsimd_context vectors;
	struct _aarch64_ctx end;
} __attribute__((aligned(FRAME_ALIGN)));
_Static_assert(offsetof(struct frame, fault_address) - offsetof(struct frame, flags) ==
		       offsetof(ucontext_t, uc_mcontext),
	"struct ucontext");
_Static_assert(offsetof(struct frame, mask) - offsetof(struct frame, flags) ==
		       offsetof(ucontext_t, uc_sigmask),
	"struct ucontext");
_Static_assert(offsetof(struct frame, vectors) - offsetof(struct frame, fault_address) ==
		       offsetof(struct sigcontext, __reserved),
	"struct sigcontext");

static bool read_vectors(pid_t thread, struct fpsimd_context *vectors)
{
	struct user_fpsimd_state state;
	struct iovec io = {&state, sizeof(state)};
	if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_FPREGSET, &io) != 0 ||
		io.iov_len < sizeof(state))
		return false;
	*vectors = (struct fpsimd_context){
		.head = {FPSIMD_MAGIC, sizeof(*vectors)}, .fpsr = state.fpsr, .fpcr = state.fpcr};
	_Static_assert(sizeof(vectors->vregs) == sizeof(state.vregs), "vector registers");
	memcpy(vectors->vregs, state.vregs, sizeof(state.vregs));
	return true;
}

static struct frame frame_of(
	const uint64_t *registers, uint64_t mask, const struct fpsimd_context *vectors)
{
	struct frame frame = {.mask = mask,
		.sp = registers[SNAP_USER_A64_SP],
		.pc = registers[SNAP_USER_A64_PC],
		.pstate = registers[SNAP_USER_A64_PSTATE],
		.vectors = *vectors};
	memcpy(frame.registers, &registers[SNAP_USER_A64_X0], sizeof(frame.registers));
	return frame;
}

/* A system call, after which sp leads to another frame. */
static struct frame call_of(const struct snap_net_code *code, const uint64_t *registers,
	const struct fpsimd_context *vectors, uint64_t number, uint64_t first, uint64_t then)
{
	enum { LINK = 30, NUMBER = 8 };
	struct frame frame = frame_of(registers, UINT64_MAX, vectors);
	frame.registers[0] = first;
	frame.registers[1] = 0;
	frame.registers[2] = __WALL;
	frame.registers[3] = 0;
	frame.registers[NUMBER] = number;
	frame.registers[LINK] = code->return_from_signal;
	frame.pc = code->call;
	frame.sp = then;
	return frame;
}

static uint64_t frame_below(uint64_t address)
{
	return (address - sizeof(struct frame)) & ~(uint64_t)(FRAME_ALIGN - 1);
}

bool snap_net_spread(struct snap_net *net, pid_t process, pid_t thread,
	const struct snap_net_code *code, const uint64_t registers[SNAP_NATIVE_REGISTERS],
	uint64_t mask, uint64_t limit)
{
	enum { NO_CHILD = INT32_MAX }; /* to wait for it fails at once */
	struct fpsimd_context vectors;
	uint64_t own[SNAP_NATIVE_REGISTERS];
	if (!read_vectors(thread, &vectors))
		return false;
	memcpy(own, registers, sizeof(own));
	make_call_anew(thread, own);
	/* Handlers of signals that come before all are blocked use what is below the last one. */
	net->home = frame_below(limit);
	net->end = frame_below(net->home);
	net->wait = frame_below(net->end);
	net->child = net->wait + offsetof(struct frame, registers);
	struct frame home = frame_of(own, mask, &vectors);
	struct frame end = call_of(code, registers, &vectors, SYS_exit_group, 0, net->end);
	struct frame wait = call_of(code, registers, &vectors, SYS_wait4, NO_CHILD, net->home);
	return snap_net_write(process, net->home, &home, sizeof(home)) &&
	       snap_net_write(process, net->end, &end, sizeof(end)) &&
	       snap_net_write(process, net->wait, &wait, sizeof(wait));
}

/* Threads without a net */

const char *snap_net_obstacle_in_status(const char *line)
{
	(void)line;
	return NULL;
}

/* Whether the first words of a set of registers could be read. */
static bool read_header(pid_t thread, uintptr_t set, void *header, size_t size)
{
	struct iovec io = {header, size};
	return ptrace(PTRACE_GETREGSET, thread, (void *)set, &io) == 0 && io.iov_len == size;
}

/* Vectors that are longer than 128 bits, and matrices: a frame of ours does not have them. */
static bool uses_long_vectors(pid_t thread)
{
	enum { STREAMING = 0x40b, MATRIX = 0x40c }; /* NT_ARM_SSVE, NT_ARM_ZA */
	struct user_sve_header header;
	if (read_header(thread, NT_ARM_SVE, &header, sizeof(header)) &&
		(header.flags & SVE_PT_REGS_MASK) == SVE_PT_REGS_SVE)
		return true;
	if (read_header(thread, STREAMING, &header, sizeof(header)) &&
		(header.flags & SVE_PT_REGS_MASK) == SVE_PT_REGS_SVE)
		return true;
	return read_header(thread, MATRIX, &header, sizeof(header)) && header.size > sizeof(header);
}

/* Guarded control stacks: the kernel wants a token on them for a return from a signal. */
static bool has_guarded_stack(pid_t thread)
{
	enum { GUARDED = 0x410 }; /* NT_ARM_GCS */
	uint64_t features[3];
	return read_header(thread, GUARDED, features, sizeof(features)) && features[0] & 1;
}

const char *snap_net_obstacle_in_registers(
	pid_t thread, const uint64_t registers[SNAP_NATIVE_REGISTERS])
{
	enum { PSTATE_32_BIT = 1 << 4 };
	if (registers[SNAP_USER_A64_PSTATE] & PSTATE_32_BIT)
		return "runs 32-bit code";
	if (uses_long_vectors(thread))
		return "uses vectors of more than 128 bits";
	return has_guarded_stack(thread) ? "has a guarded control stack" : NULL;
}

#endif
