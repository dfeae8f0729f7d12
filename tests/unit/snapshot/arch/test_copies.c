/* Which words code copies to others: read out of machine code of every kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "snapshot/arch/arch.h"
#include "tests/unit/core.h"

#define CODE (CORE_BIAS + EXE_TEXT + 0x100)

/* Addresses in code, by their distance from it: the block, what is copied, caml_initialize. */
enum { TO = 0x2000, FROM = 0x2100, INITIALIZE = 0x1800, TABLE = 0x600, WORDS = 4 };

struct code {
	uint8_t bytes[256];
	size_t size;
};

static void emit(struct code *c, const char *bytes, size_t count)
{
	memcpy(c->bytes + c->size, bytes, count);
	c->size += count;
}

/* Bytes, and the distance from their end to 'target'. */
static void emit_to(struct code *c, const char *bytes, size_t count, int32_t target)
{
	emit(c, bytes, count);
	int32_t distance = target - (int32_t)(c->size + 4);
	emit(c, (const char *)&distance, 4);
}

#define EMIT(c, bytes) emit(c, bytes, sizeof(bytes) - 1)
#define EMIT_TO(c, bytes, target) emit_to(c, bytes, sizeof(bytes) - 1, target)

/* As OCaml 5 does it: lea from,%rax; mov d(%rax),%rsi; lea to,%rdi; add $8*i,%rdi; ... */
static void load(struct code *c, int32_t from)
{
	EMIT_TO(c, "\x48\x8d\x05", from - 0x10);
	EMIT(c, "\x48\x8b\x70\x10");
}

static void store(struct code *c, unsigned i)
{
	const char add[] = {0x48, (char)0x83, (char)0xc7, (char)(8 * i)};
	EMIT_TO(c, "\x48\x8d\x3d", TO);
	emit(c, add, sizeof(add));
	EMIT(c, "\x48\x89\xe3\x49\x8b\x66\x40"); /* mov %rsp,%rbx; mov 0x40(%r14),%rsp */
	EMIT_TO(c, "\xe8", INITIALIZE);
	EMIT(c, "\x48\x89\xdc");
}

struct copy_test {
	struct process p;
	struct snap_image image;
	uint64_t sources[WORDS];
};

/* The sources that code of a program shows, as distances from it; 'initialize' or not. */
static void follow(struct copy_test *t, const struct code *c, bool initialize)
{
	struct hg_error error;
	struct snap_image_options options = {.libraries = CORES "/lib"};
	put(&t->p.exe, EXE_TEXT + 0x100, c->bytes, sizeof(c->bytes));
	process_write(&t->p);
	options.core = t->p.core_path;
	assert_int_equal(snap_image_open(&t->image, &options, &error), HG_OK);
	memset(t->sources, 0xff, sizeof(t->sources));
	assert_int_equal(snap_copied_from(&t->image, (struct snap_range){CODE, CODE + c->size},
				 (struct snap_range){CODE + TO, CODE + TO + 8 * WORDS},
				 initialize ? CODE + INITIALIZE : 0, t->sources, &error),
		HG_OK);
	snap_image_close(&t->image);
	for (unsigned i = 0; i < WORDS; i++)
		if (t->sources[i])
			t->sources[i] -= CODE;
}

static int start(void **state)
{
	struct copy_test *t = calloc(1, sizeof(*t));
	assert_non_null(t);
	process_start(&t->p);
	core_build(&t->p, NULL);
	*state = t;
	return 0;
}

static int release(void **state)
{
	struct copy_test *t = *state;
	process_release(&t->p);
	free(t);
	return 0;
}

#define ASSERT_SOURCES(t, a, b, c, d)                                                              \
	do {                                                                                       \
		const uint64_t wanted[WORDS] = {a, b, c, d};                                       \
		assert_memory_equal((t)->sources, wanted, sizeof(wanted));                         \
	} while (0)

static void by_the_runtime(void **state)
{
	struct copy_test *t = *state;
	struct code c = {.size = 0};
	load(&c, FROM);
	store(&c, 3);
	load(&c, FROM + 0x40);
	store(&c, 0);
	load(&c, FROM);
	store(&c, 1);
	EMIT(&c, "\xb8\x01\0\0\0\xc3"); /* mov $1,%eax; ret */
	follow(t, &c, true);
	ASSERT_SOURCES(t, FROM + 0x40, FROM, 0, FROM);
	follow(t, &c, false);
	ASSERT_SOURCES(t, 0, 0, 0, 0);
}

/* As OCaml 4 does it. */
static void by_stores(void **state)
{
	struct copy_test *t = *state;
	struct code c = {.size = 0};
	EMIT_TO(&c, "\x48\x8b\x05", FROM);    /* mov FROM(%rip),%rax */
	EMIT_TO(&c, "\x48\x8d\x1d", TO);      /* lea TO(%rip),%rbx */
	EMIT(&c, "\x48\x89\x43\x08");         /* mov %rax,8(%rbx) */
	EMIT(&c, "\x49\x89\xc0");             /* mov %rax,%r8 */
	EMIT_TO(&c, "\x4c\x89\x05", TO + 16); /* mov %r8,TO+16(%rip) */
	EMIT_TO(&c, "\x89\x05", TO);          /* mov %eax,TO(%rip): half a word */
	/* movb: into what lies before and after; the distance is one short */
	EMIT_TO(&c, "\xc6\x05", TO - 2);
	EMIT(&c, "\x05");
	EMIT_TO(&c, "\xc6\x05", TO + 8 * WORDS - 1);
	EMIT(&c, "\x05");
	EMIT_TO(&c, "\x0f\x11\x05", TO - 16); /* movups %xmm0 */
	EMIT(&c, "\xc3");
	follow(t, &c, true);
	ASSERT_SOURCES(t, 0, FROM, FROM, 0);
}

/* What is done to the word on its way, and to the address. */
static void other_values(void **state)
{
	struct copy_test *t = *state;
	static const struct {
		const char *between;
		size_t size;
	} cases[] = {
		{"\x48\x8b\x36", 3},         /* mov (%rsi),%rsi: it leads to the word */
		{"\x48\x83\xc6\x08", 4},     /* add $8,%rsi */
		{"\x48\x01\xc6", 3},         /* add %rax,%rsi */
		{"\xbe\x01\0\0\0", 5},       /* mov $1,%esi */
		{"\x40\xb6\x01", 3},         /* mov $1,%sil */
		{"\x48\x31\xf6", 3},         /* xor %rsi,%rsi */
		{"\x48\x0f\x44\xf0", 4},     /* cmove %rax,%rsi */
		{"\x48\x8b\x74\x24\x08", 5}, /* mov 8(%rsp),%rsi */
		{"\x5e", 1},                 /* pop %rsi */
		{"\x48\x87\xc6", 3},         /* xchg %rax,%rsi */
		{"\xe8\0\0\0\0", 5},         /* call */
		{"\x74\0", 2},               /* je */
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct code c = {.size = 0};
		load(&c, FROM + 8);
		emit(&c, cases[i].between, cases[i].size);
		store(&c, 1);
		load(&c, FROM);
		store(&c, 2);
		EMIT(&c, "\xc3");
		follow(t, &c, true);
		ASSERT_SOURCES(t, 0, 0, FROM, 0);
	}
}

/* A word that is written twice, or partly, is not that of either source. */
static void other_writes(void **state)
{
	struct copy_test *t = *state;
	static const struct {
		const char *code;
		size_t size;
		int32_t target;
		const char *end;
		size_t end_size;
	} cases[] = {
		{"\x48\x89\x05", 3, TO + 8, "", 0},             /* mov %rax,TO+8 */
		{"\xc6\x05", 2, TO + 14, "\x05", 1},            /* movb: distance one short */
		{"\x48\x83\x05", 3, TO + 7, "\x02", 1},         /* addq */
		{"\xf2\x0f\x11\x05", 4, TO + 4, "", 0},         /* movsd %xmm0,TO+4 */
		{"\x0f\x11\x05", 3, TO + 1, "", 0},             /* movups %xmm0,TO+1 */
		{"\x48\xc7\x05", 3, TO + 4, "\x01\0\0\0", 4},   /* movq $1 */
		{"\x48\x8d\x3d", 3, TO + 8, "\x48\x89\x07", 3}, /* lea TO+8,%rdi; mov %rax,(%rdi) */
		{"\x48\x8d\x3d", 3, TO + 8, "\x48\x89\x7f\x04", 4}, /* mov %rdi,4(%rdi) */
	};
	for (size_t i = 0; i < LENGTH(cases); i++)
		for (unsigned before = 0; before < 2; before++) {
			struct code c = {.size = 0};
			for (unsigned j = 0; j < 2; j++) {
				if (j != before) {
					load(&c, FROM);
					store(&c, 1);
					continue;
				}
				emit_to(&c, cases[i].code, cases[i].size, cases[i].target);
				emit(&c, cases[i].end, cases[i].end_size);
			}
			load(&c, FROM + 24);
			store(&c, 3);
			EMIT(&c, "\xc3");
			follow(t, &c, true);
			ASSERT_SOURCES(t, 0, 0, 0, FROM + 24);
		}
}

/* A jump between the load and the store brings another word there. */
static void jumps_between(void **state)
{
	struct copy_test *t = *state;
	enum { BEFORE, BEHIND, HANDLER, LOOP, JUMPS };
	for (unsigned kind = 0; kind < JUMPS; kind++)
		for (unsigned inside = 0; inside < 2; inside++) {
			struct code c = {.size = 0};
			enum { FIRST = 20 };
			/* The load takes 11 bytes; to its beginning anyone may jump. */
			int32_t target = FIRST + (inside ? 11 : 0);
			if (kind == BEFORE)
				EMIT_TO(&c, "\xe9", target); /* jmp */
			if (kind == HANDLER)
				EMIT_TO(&c, "\x4c\x8d\x1d", target); /* lea target,%r11 */
			while (c.size < FIRST)
				EMIT(&c, "\x90");
			load(&c, FROM);
			store(&c, 2);
			if (kind == BEHIND)
				EMIT_TO(&c, "\x0f\x84", target); /* je */
			if (kind == LOOP) {
				const char back[] = {
					(char)0xeb, (char)(target - (int32_t)c.size - 2)};
				emit(&c, back, 2);
			}
			EMIT(&c, "\xc3");
			follow(t, &c, true);
			ASSERT_SOURCES(t, 0, 0, inside ? 0 : FROM, 0);
		}
}

/* lea table,%rdx; movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax */
static void tables_of_jumps(void **state)
{
	struct copy_test *t = *state;
	for (unsigned inside = 0; inside < 2; inside++) {
		struct code c = {.size = 0};
		EMIT_TO(&c, "\x48\x8d\x15", TABLE);
		EMIT(&c, "\x48\x63\x04\x82\x48\x01\xd0\xff\xe0");
		int32_t first = (int32_t)c.size;
		load(&c, FROM);
		store(&c, 2);
		EMIT(&c, "\xc3");
		put_u32(&t->p.exe, EXE_TEXT + 0x100 + TABLE, (uint32_t)(first - TABLE));
		put_u32(&t->p.exe, EXE_TEXT + 0x100 + TABLE + 4,
			(uint32_t)(first + (inside ? 7 : 0) - TABLE));
		put_u32(&t->p.exe, EXE_TEXT + 0x100 + TABLE + 8, 0x7fffffff);
		follow(t, &c, true);
		ASSERT_SOURCES(t, 0, 0, inside ? 0 : FROM, 0);
	}
	/* Whose table is not known: it may lead anywhere. */
	struct code c = {.size = 0};
	EMIT(&c, "\xff\xe0");
	load(&c, FROM);
	store(&c, 2);
	EMIT(&c, "\xc3");
	follow(t, &c, true);
	ASSERT_SOURCES(t, 0, 0, 0, 0);
}

static void code_that_is_not_whole(void **state)
{
	struct copy_test *t = *state;
	struct code c = {.size = 0};
	struct hg_error error;
	load(&c, FROM);
	store(&c, 2);
	size_t whole = c.size;
	EMIT(&c, "\x06"); /* no instruction of 64 bits */
	follow(t, &c, true);
	ASSERT_SOURCES(t, 0, 0, 0, 0);
	/* The instruction after the call is of three bytes. */
	for (c.size = 0; c.size < whole; c.size++) {
		follow(t, &c, true);
		ASSERT_SOURCES(t, 0, 0, c.size == whole - 3 ? FROM : 0, 0);
	}
	struct snap_image_options options = {.core = t->p.core_path, .libraries = CORES "/lib"};
	assert_int_equal(snap_image_open(&t->image, &options, &error), HG_OK);
	const struct snap_range absent[] = {{0x1000, 0x1010}, {CODE, UINT64_MAX}, {CODE, CODE}};
	for (size_t i = 0; i < LENGTH(absent); i++) {
		assert_int_equal(snap_copied_from(&t->image, absent[i],
					 (struct snap_range){CODE + TO, CODE + TO + 8 * WORDS},
					 CODE + INITIALIZE, t->sources, &error),
			HG_OK);
		ASSERT_SOURCES(t, 0, 0, 0, 0);
	}
	snap_image_close(&t->image);
}

/* Whatever the bytes are, nothing is read beyond them, and only what they refer to is told. */
static void flipped_bits(void **state)
{
	struct copy_test *t = *state;
	struct code c = {.size = 0};
	EMIT_TO(&c, "\x48\x8d\x15", TABLE);
	EMIT(&c, "\x48\x63\x04\x82\x48\x01\xd0\xff\xe0");
	load(&c, FROM);
	store(&c, 2);
	EMIT(&c, "\xc3");
	for (size_t i = 0; i < c.size; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			c.bytes[i] ^= (uint8_t)(1u << bit);
			follow(t, &c, true);
			c.bytes[i] ^= (uint8_t)(1u << bit);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_the_runtime, start, release),
		cmocka_unit_test_setup_teardown(by_stores, start, release),
		cmocka_unit_test_setup_teardown(other_values, start, release),
		cmocka_unit_test_setup_teardown(other_writes, start, release),
		cmocka_unit_test_setup_teardown(jumps_between, start, release),
		cmocka_unit_test_setup_teardown(tables_of_jumps, start, release),
		cmocka_unit_test_setup_teardown(code_that_is_not_whole, start, release),
		cmocka_unit_test_setup_teardown(flipped_bits, start, release),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
