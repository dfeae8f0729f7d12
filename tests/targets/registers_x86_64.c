/*
 * Fills every register that a program can have with values of its own, over and over, and notices
 * when one of them is another: what a capture that disturbs its target would do.
 */
#ifdef __x86_64__

#include "tests/targets/registers.h"

#include <cpuid.h>
#include <stddef.h>
#include <string.h>

enum {
	VECTORS = 32,
	VECTOR_WORDS = 8,
	MASKS = 7,    /* k1 to k7 */
	GENERAL = 14, /* all but rsp, and rcx, which counts */
	RED_ZONE_WORDS = 16,
	FLAGS = 0xcd5, /* all arithmetic flags, and the direction flag */
	FLAGS_SET = FLAGS | 0x2,
	SPINS = 20000,
	MXCSR = 0xbf80 /* round down, flush to zero, all exceptions masked */
};

/* What the code below reads and writes; it knows the offsets. */
struct state {
	uint64_t general[16];              /* 0: rax rbx rdx rsi rdi rbp r8..r15, then rcx, flags */
	uint64_t red_zone[RED_ZONE_WORDS]; /* 128 */
	uint64_t kind;                     /* 256: 0 SSE, 1 AVX, 2 AVX-512 */
	uint64_t spins;                    /* 264 */
	uint32_t mxcsr[2];                 /* 272 */
	uint8_t x87[16];                   /* 280: 10 bytes */
	uint64_t masks[MASKS + 1];         /* 296 */
	uint64_t flags_at_first;           /* 360 */
	uint64_t spare[2];
	uint64_t vectors[VECTORS][VECTOR_WORDS]; /* 384 */
};

_Static_assert(offsetof(struct state, red_zone) == 128, "offset used below");
_Static_assert(offsetof(struct state, kind) == 256, "offset used below");
_Static_assert(offsetof(struct state, spins) == 264, "offset used below");
_Static_assert(offsetof(struct state, mxcsr) == 272, "offset used below");
_Static_assert(offsetof(struct state, x87) == 280, "offset used below");
_Static_assert(offsetof(struct state, masks) == 296, "offset used below");
_Static_assert(offsetof(struct state, flags_at_first) == 360, "offset used below");
_Static_assert(offsetof(struct state, vectors) == 384, "offset used below");
_Static_assert(sizeof(struct state) == 2432, "size used below");

/* Replaces the state by what is found after the spins. */
void registers_spin(struct state *state);

/*
 * A copy of the state lies above rsp while all registers are in use, so that it can be reached; the
 * instructions in the loop, and those that store, leave the flags alone.
 */
__asm__(".text\n"
	".globl registers_spin\n"
	".hidden registers_spin\n"
	".type registers_spin, @function\n"
	"registers_spin:\n"
	"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"	sub $2456, %rsp\n"
	"	mov %rdi, 2432(%rsp)\n"
	"	stmxcsr 2440(%rsp)\n"
	"	mov %rdi, %rsi\n"
	"	mov %rsp, %rdi\n"
	"	mov $304, %ecx\n"
	"	rep movsq\n"
	"	ldmxcsr 272(%rsp)\n"
	"	fldt 280(%rsp)\n"
	"	cmpq $1, 256(%rsp)\n"
	"	ja 3f\n"
	"	je 2f\n"
	".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	movdqu (384+\\i*64)(%rsp), %xmm\\i\n"
	".endr\n"
	"	jmp 4f\n"
	"2:\n"
	".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	vmovdqu (384+\\i*64)(%rsp), %ymm\\i\n"
	".endr\n"
	"	jmp 4f\n"
	"3:\n"
	".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,"
	"16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"	vmovdqu64 (384+\\i*64)(%rsp), %zmm\\i\n"
	".endr\n"
	".irp i,1,2,3,4,5,6,7\n"
	"	kmovw (296+\\i*8)(%rsp), %k\\i\n"
	".endr\n"
	"4:\n"
	/* The flags come by the stack, so they are there before the red zone. */
	"	pushq 360(%rsp)\n"
	"	popfq\n"
	".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	mov (128+\\i*8)(%rsp), %rax\n"
	"	mov %rax, (-128+\\i*8)(%rsp)\n"
	".endr\n"
	"	mov 0(%rsp), %rax; mov 8(%rsp), %rbx; mov 16(%rsp), %rdx; mov 24(%rsp), %rsi\n"
	"	mov 32(%rsp), %rdi; mov 40(%rsp), %rbp; mov 48(%rsp), %r8; mov 56(%rsp), %r9\n"
	"	mov 64(%rsp), %r10; mov 72(%rsp), %r11; mov 80(%rsp), %r12; mov 88(%rsp), %r13\n"
	"	mov 96(%rsp), %r14; mov 104(%rsp), %r15; mov 264(%rsp), %rcx\n"
	"5:\n"
	"	lea 1(%rax,%rbx), %rax; lea 1(%rbx,%rdx), %rbx; lea 1(%rdx,%rsi), %rdx\n"
	"	lea 1(%rsi,%rdi), %rsi; lea 1(%rdi,%rbp), %rdi; lea 1(%rbp,%r8), %rbp\n"
	"	lea 1(%r8,%r9), %r8; lea 1(%r9,%r10), %r9; lea 1(%r10,%r11), %r10\n"
	"	lea 1(%r11,%r12), %r11; lea 1(%r12,%r13), %r12; lea 1(%r13,%r14), %r13\n"
	"	lea 1(%r14,%r15), %r14; lea 1(%r15,%rax), %r15\n"
	"	lea -1(%rcx), %rcx\n"
	"	jrcxz 6f\n"
	"	jmp 5b\n"
	"6:\n"
	"	mov %rax, 0(%rsp); mov %rbx, 8(%rsp); mov %rdx, 16(%rsp); mov %rsi, 24(%rsp)\n"
	"	mov %rdi, 32(%rsp); mov %rbp, 40(%rsp); mov %r8, 48(%rsp); mov %r9, 56(%rsp)\n"
	"	mov %r10, 64(%rsp); mov %r11, 72(%rsp); mov %r12, 80(%rsp); mov %r13, 88(%rsp)\n"
	"	mov %r14, 96(%rsp); mov %r15, 104(%rsp); mov %rcx, 112(%rsp)\n"
	".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	mov (-128+\\i*8)(%rsp), %rax\n"
	"	mov %rax, (128+\\i*8)(%rsp)\n"
	".endr\n"
	"	pushfq\n"
	"	popq 120(%rsp)\n"
	"	cld\n"
	"	stmxcsr 272(%rsp)\n"
	"	fstpt 280(%rsp)\n"
	"	cmpq $1, 256(%rsp)\n"
	"	ja 3f\n"
	"	je 2f\n"
	".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	movdqu %xmm\\i, (384+\\i*64)(%rsp)\n"
	".endr\n"
	"	jmp 4f\n"
	"2:\n"
	".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	vmovdqu %ymm\\i, (384+\\i*64)(%rsp)\n"
	".endr\n"
	"	vzeroupper\n"
	"	jmp 4f\n"
	"3:\n"
	".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,"
	"16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"	vmovdqu64 %zmm\\i, (384+\\i*64)(%rsp)\n"
	".endr\n"
	".irp i,1,2,3,4,5,6,7\n"
	"	kmovw %k\\i, (296+\\i*8)(%rsp)\n"
	".endr\n"
	"	vzeroupper\n"
	"4:\n"
	"	ldmxcsr 2440(%rsp)\n"
	"	mov 2432(%rsp), %rdi\n"
	"	mov %rsp, %rsi\n"
	"	mov $304, %ecx\n"
	"	rep movsq\n"
	"	add $2456, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"	ret\n"
	".size registers_spin, . - registers_spin\n");

/* 0 SSE, 1 AVX, 2 AVX-512: what the processor has and the kernel saves. */
static uint64_t vector_kind(void)
{
	unsigned a, b, c, d, low, high;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_AVX))
		return 0;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	if ((low & 0x6) != 0x6)
		return 0;
	if ((low & 0xe0) != 0xe0 || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX512F))
		return 1;
	return 2;
}

static void fill(struct state *state, uint64_t seed)
{
	uint64_t *words = (uint64_t *)state;
	for (size_t i = 0; i < sizeof(*state) / sizeof(*words); i++)
		words[i] = (seed + i) * 0x9e3779b97f4a7c15u;
	state->kind = vector_kind();
	state->spins = SPINS;
	state->mxcsr[0] = MXCSR;
	/* A number that is none of the special ones: its top bit is set. */
	memset(state->x87, 0, sizeof(state->x87));
	memcpy(state->x87, (uint64_t[]){seed | UINT64_C(1) << 63}, sizeof(uint64_t));
	memcpy(state->x87 + 8, (uint16_t[]){0x3fff}, sizeof(uint16_t));
	for (int i = 0; i <= MASKS; i++)
		state->masks[i] &= 0xffff;
	state->flags_at_first = FLAGS_SET;
}

/* The same in C. */
static void expect(struct state *state)
{
	uint64_t *general = state->general;
	for (uint64_t i = 0; i < SPINS; i++)
		for (int j = 0; j < GENERAL; j++)
			general[j] += general[(j + 1) % GENERAL] + 1;
	general[14] = 0;
}

bool registers_survive(uint64_t seed)
{
	struct state found, expected;
	size_t vector_bytes;
	fill(&found, seed);
	expected = found;
	registers_spin(&found);
	expect(&expected);
	vector_bytes = (size_t)16 << expected.kind;
	for (int i = 0; i < VECTORS; i++)
		if ((i < 16 || expected.kind == 2) &&
			memcmp(found.vectors[i], expected.vectors[i], vector_bytes) != 0)
			return false;
	return memcmp(found.general, expected.general, 15 * sizeof(uint64_t)) == 0 &&
	       (found.general[15] & FLAGS) == FLAGS && found.mxcsr[0] == MXCSR &&
	       memcmp(found.red_zone, expected.red_zone, sizeof(found.red_zone)) == 0 &&
	       memcmp(found.x87, expected.x87, 10) == 0 &&
	       memcmp(&found.masks[1], &expected.masks[1], MASKS * sizeof(uint64_t)) == 0;
}

#endif
