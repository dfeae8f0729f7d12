/*
 * Fills every register that a program can have with values of its own, over and over, and notices
 * when one of them is another: what a capture that disturbs its target would do.
 */
#ifdef __aarch64__

#include "tests/targets/registers.h"

#include <stddef.h>
#include <string.h>

enum {
	VECTORS = 32,
	GENERAL = 30, /* all but sp, and x30, which counts */
	SPINS = 20000
};

/* Round down, flush to zero.  All exceptions and saturation noted.  N, Z, C, V. */
#define FPCR UINT64_C(0x1800000)
#define FPSR UINT64_C(0x800009f)
#define NZCV UINT64_C(0xf0000000)

/* What the code below reads and writes; it knows the offsets. */
struct state {
	uint64_t general[GENERAL + 1]; /* 0 */
	uint64_t nzcv;                 /* 248 */
	uint64_t spins;                /* 256 */
	uint64_t fpcr, fpsr;           /* 264, 272 */
	uint64_t spare;
	uint64_t vectors[VECTORS][2]; /* 288 */
};

_Static_assert(offsetof(struct state, nzcv) == 248, "offset used below");
_Static_assert(offsetof(struct state, spins) == 256, "offset used below");
_Static_assert(offsetof(struct state, fpcr) == 264, "offset used below");
_Static_assert(offsetof(struct state, fpsr) == 272, "offset used below");
_Static_assert(offsetof(struct state, vectors) == 288, "offset used below");
_Static_assert(sizeof(struct state) == 800, "size used below");

/* Replaces the state by what is found after the spins. */
void registers_spin(struct state *state);

/* A copy of the state lies above sp while all registers are in use, so that it can be reached. */
__asm__(".text\n"
	".globl registers_spin\n"
	".hidden registers_spin\n"
	".type registers_spin, %function\n"
	"registers_spin:\n"
	"	stp x29, x30, [sp, #-160]!\n"
	"	stp x19, x20, [sp, #16]; stp x21, x22, [sp, #32]; stp x23, x24, [sp, #48]\n"
	"	stp x25, x26, [sp, #64]; stp x27, x28, [sp, #80]; stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]; stp d12, d13, [sp, #128]; stp d14, d15, [sp, #144]\n"
	"	sub sp, sp, #832\n"
	"	mrs x1, fpcr\n"
	"	str x0, [sp, #800]; str x1, [sp, #808]\n"
	"	mov x2, #0\n"
	"1:	ldr x3, [x0, x2]; str x3, [sp, x2]; add x2, x2, #8; cmp x2, #800; b.ne 1b\n"
	"	ldr x1, [sp, #264]; msr fpcr, x1\n"
	"	ldr x1, [sp, #272]; msr fpsr, x1\n"
	"	ldr x1, [sp, #248]; msr nzcv, x1\n"
	".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,"
	"16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"	ldr q\\i, [sp, #(288+\\i*16)]\n"
	".endr\n"
	"	ldp x0, x1, [sp, #0]; ldp x2, x3, [sp, #16]; ldp x4, x5, [sp, #32]\n"
	"	ldp x6, x7, [sp, #48]; ldp x8, x9, [sp, #64]; ldp x10, x11, [sp, #80]\n"
	"	ldp x12, x13, [sp, #96]; ldp x14, x15, [sp, #112]; ldp x16, x17, [sp, #128]\n"
	"	ldp x18, x19, [sp, #144]; ldp x20, x21, [sp, #160]; ldp x22, x23, [sp, #176]\n"
	"	ldp x24, x25, [sp, #192]; ldp x26, x27, [sp, #208]; ldp x28, x29, [sp, #224]\n"
	"	ldr x30, [sp, #256]\n"
	"2:\n"
	"	add x0, x0, x1; add x0, x0, #1\n"
	"	add x1, x1, x2; add x1, x1, #1\n"
	"	add x2, x2, x3; add x2, x2, #1\n"
	"	add x3, x3, x4; add x3, x3, #1\n"
	"	add x4, x4, x5; add x4, x4, #1\n"
	"	add x5, x5, x6; add x5, x5, #1\n"
	"	add x6, x6, x7; add x6, x6, #1\n"
	"	add x7, x7, x8; add x7, x7, #1\n"
	"	add x8, x8, x9; add x8, x8, #1\n"
	"	add x9, x9, x10; add x9, x9, #1\n"
	"	add x10, x10, x11; add x10, x10, #1\n"
	"	add x11, x11, x12; add x11, x11, #1\n"
	"	add x12, x12, x13; add x12, x12, #1\n"
	"	add x13, x13, x14; add x13, x13, #1\n"
	"	add x14, x14, x15; add x14, x14, #1\n"
	"	add x15, x15, x16; add x15, x15, #1\n"
	"	add x16, x16, x17; add x16, x16, #1\n"
	"	add x17, x17, x18; add x17, x17, #1\n"
	"	add x18, x18, x19; add x18, x18, #1\n"
	"	add x19, x19, x20; add x19, x19, #1\n"
	"	add x20, x20, x21; add x20, x20, #1\n"
	"	add x21, x21, x22; add x21, x21, #1\n"
	"	add x22, x22, x23; add x22, x22, #1\n"
	"	add x23, x23, x24; add x23, x23, #1\n"
	"	add x24, x24, x25; add x24, x24, #1\n"
	"	add x25, x25, x26; add x25, x25, #1\n"
	"	add x26, x26, x27; add x26, x26, #1\n"
	"	add x27, x27, x28; add x27, x27, #1\n"
	"	add x28, x28, x29; add x28, x28, #1\n"
	"	add x29, x29, x0; add x29, x29, #1\n"
	"	sub x30, x30, #1\n"
	"	cbnz x30, 2b\n"
	"	stp x0, x1, [sp, #0]; stp x2, x3, [sp, #16]; stp x4, x5, [sp, #32]\n"
	"	stp x6, x7, [sp, #48]; stp x8, x9, [sp, #64]; stp x10, x11, [sp, #80]\n"
	"	stp x12, x13, [sp, #96]; stp x14, x15, [sp, #112]; stp x16, x17, [sp, #128]\n"
	"	stp x18, x19, [sp, #144]; stp x20, x21, [sp, #160]; stp x22, x23, [sp, #176]\n"
	"	stp x24, x25, [sp, #192]; stp x26, x27, [sp, #208]; stp x28, x29, [sp, #224]\n"
	"	str x30, [sp, #240]\n"
	"	mrs x1, nzcv; str x1, [sp, #248]\n"
	"	mrs x1, fpcr; str x1, [sp, #264]\n"
	"	mrs x1, fpsr; str x1, [sp, #272]\n"
	".irp i,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,"
	"16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"	str q\\i, [sp, #(288+\\i*16)]\n"
	".endr\n"
	"	ldr x0, [sp, #800]; ldr x1, [sp, #808]\n"
	"	msr fpcr, x1\n"
	"	mov x2, #0\n"
	"3:	ldr x3, [sp, x2]; str x3, [x0, x2]; add x2, x2, #8; cmp x2, #800; b.ne 3b\n"
	"	add sp, sp, #832\n"
	"	ldp x19, x20, [sp, #16]; ldp x21, x22, [sp, #32]; ldp x23, x24, [sp, #48]\n"
	"	ldp x25, x26, [sp, #64]; ldp x27, x28, [sp, #80]; ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]; ldp d12, d13, [sp, #128]; ldp d14, d15, [sp, #144]\n"
	"	ldp x29, x30, [sp], #160\n"
	"	ret\n"
	".size registers_spin, . - registers_spin\n");

static void fill(struct state *state, uint64_t seed)
{
	uint64_t *words = (uint64_t *)state;
	for (size_t i = 0; i < sizeof(*state) / sizeof(*words); i++)
		words[i] = (seed + i) * 0x9e3779b97f4a7c15u;
	state->spins = SPINS;
	state->nzcv = NZCV;
	state->fpcr = FPCR;
	state->fpsr = FPSR;
}

/* The same in C. */
static void expect(struct state *state)
{
	uint64_t *general = state->general;
	for (uint64_t i = 0; i < SPINS; i++)
		for (int j = 0; j < GENERAL; j++)
			general[j] += general[(j + 1) % GENERAL] + 1;
	general[GENERAL] = 0;
}

bool registers_survive(uint64_t seed)
{
	struct state found, expected;
	fill(&found, seed);
	expected = found;
	registers_spin(&found);
	expect(&expected);
	return memcmp(&found, &expected, sizeof(found)) == 0;
}

#endif
