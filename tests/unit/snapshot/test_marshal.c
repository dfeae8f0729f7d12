/* The reader of OCaml's Marshal format: every code, sharing, limits, and files that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "snapshot/marshal/marshal.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef FIXTURES
#define FIXTURES "tests/fixtures"
#endif

#define STANDARD 0x8495A6BEu
#define IDS_01 0x00000042u
#define IDS_02 0x8495A6BFu

/* Bytes in front of the value, so that offsets are those of the file and not of the value. */
#define LEAD 3u
#define HEADER 20u
#define DATA (LEAD + HEADER) /* offset of the first item */

/* A value read from a heap copy of just its bytes, so that the sanitizers see every overrun. */
struct sample {
	uint8_t *bytes;
	struct base_cursor cursor;
	struct base_pool pool;
	struct snap_marshal value;
	struct hg_error error;
	enum hg_status status;
};

static void put_be(uint8_t *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* 'claimed' bytes in the header, 'size' in fact, and 'words' on a 64-bit machine. */
static struct sample read_claiming(uint32_t magic, const void *data, size_t size, uint32_t claimed,
	uint32_t objects, uint32_t words)
{
	struct sample s = {.bytes = malloc(DATA + size)};
	assert_non_null(s.bytes);
	memset(s.bytes, 0xEE, LEAD);
	put_be(s.bytes + LEAD, magic);
	put_be(s.bytes + LEAD + 4, claimed);
	put_be(s.bytes + LEAD + 8, objects);
	put_be(s.bytes + LEAD + 12, words);
	put_be(s.bytes + LEAD + 16, words);
	memcpy(s.bytes + DATA, data, size);
	s.cursor = base_cursor_over(s.bytes, DATA + size);
	base_cursor_seek(&s.cursor, LEAD);
	base_error_clear(&s.error);
	s.status = snap_marshal_read(&s.cursor, &s.pool, &s.value, &s.error);
	return s;
}

static struct sample read_data(uint32_t magic, uint32_t objects, const void *data, size_t size)
{
	return read_claiming(magic, data, size, (uint32_t)size, objects, 1000000);
}

#define READ(magic, objects, text) read_data(magic, objects, text, sizeof(text) - 1)

static void release(struct sample *s)
{
	base_pool_release(&s->pool);
	free(s->bytes);
}

static void good(const struct sample *s)
{
	if (s->status != HG_OK)
		fail_msg("offset %llu: %s", (unsigned long long)s->error.offset, s->error.message);
	assert_int_equal(base_cursor_left(&s->cursor), 0);
}

static void bad_status(struct sample s, enum hg_status status, uint64_t offset, const char *message)
{
	assert_int_equal(s.status, status);
	assert_int_equal(s.error.status, status);
	assert_int_equal(s.error.offset, offset);
	if (!strstr(s.error.message, message))
		fail_msg("\"%s\" does not hold \"%s\"", s.error.message, message);
	assert_int_equal(base_cursor_offset(&s.cursor), LEAD);
	release(&s);
}

static void bad(struct sample s, uint64_t offset, const char *message)
{
	bad_status(s, HG_ERROR_INPUT, offset, message);
}

/* What a value that is not of some shape answers. */
static void not_block(const struct snap_marshal *m, struct snap_value value)
{
	assert_true(snap_value_absent(snap_marshal_field(m, value, 0)));
	assert_true(snap_value_absent(snap_marshal_field(m, value, UINT64_MAX)));
}

static void not_int(const struct snap_marshal *m, struct snap_value value)
{
	int64_t number = 17;
	assert_false(snap_marshal_is_int(m, value));
	assert_false(snap_marshal_int(m, value, &number));
	assert_int_equal(number, 17);
}

static void not_string(const struct snap_marshal *m, struct snap_value value)
{
	const uint8_t *bytes;
	uint32_t length;
	assert_false(snap_marshal_string(m, value, &bytes, &length));
}

static void not_number(const struct snap_marshal *m, struct snap_value value)
{
	double number;
	int64_t integer;
	char kind;
	assert_false(snap_marshal_double(m, value, 0, &number));
	assert_false(snap_marshal_custom(m, value, &kind, &integer));
}

static void check_int(struct sample s, int64_t expected)
{
	int64_t number;
	good(&s);
	assert_true(snap_marshal_is_int(&s.value, s.value.root));
	assert_true(snap_marshal_int(&s.value, s.value.root, &number));
	assert_int_equal(number, expected);
	assert_int_equal(snap_marshal_tag(&s.value, s.value.root), -1);
	assert_int_equal(snap_marshal_size(&s.value, s.value.root), 0);
	not_block(&s.value, s.value.root);
	not_string(&s.value, s.value.root);
	not_number(&s.value, s.value.root);
	release(&s);
}

static void integers(void **state)
{
	(void)state;
	static const uint32_t magics[] = {STANDARD, IDS_01, IDS_02};
	for (int i = 0; i < 3; i++) {
		uint32_t magic = magics[i];
		check_int(READ(magic, 0, "\x40"), 0);
		check_int(READ(magic, 0, "\x7f"), 63);
		check_int(READ(magic, 0, "\x00\x80"), -128);
		check_int(READ(magic, 0, "\x00\x7f"), 127);
		check_int(READ(magic, 0, "\x01\xff\xfe"), -2);
		check_int(READ(magic, 0, "\x01\x03\x69"), 873);
		check_int(READ(magic, 0, "\x02\x80\x00\x00\x00"), INT32_MIN);
		check_int(READ(magic, 0, "\x02\x7f\xff\xff\xff"), INT32_MAX);
		/* Around the 31 bits that fit a cell. */
		check_int(READ(magic, 0, "\x02\x3f\xff\xff\xff"), 0x3fffffff);
		check_int(READ(magic, 0, "\x02\x40\x00\x00\x00"), 0x40000000);
		check_int(READ(magic, 0, "\x02\xc0\x00\x00\x00"), -0x40000000);
		check_int(READ(magic, 0, "\x02\xbf\xff\xff\xff"), -0x40000001);
		check_int(READ(magic, 0, "\x03\x3f\xff\xff\xff\xff\xff\xff\xff"), INT64_MAX / 2);
		check_int(READ(magic, 0, "\x03\xc0\x00\x00\x00\x00\x00\x00\x00"), INT64_MIN / 2);
		/* Beyond 63 bits the highest is lost, as in OCaml. */
		check_int(READ(magic, 0, "\x03\x80\x00\x00\x00\x00\x00\x00\x05"), 5);
	}
}

static void check_string(struct sample s, const char *text, size_t size)
{
	const uint8_t *bytes;
	uint32_t length;
	good(&s);
	assert_true(snap_marshal_string(&s.value, s.value.root, &bytes, &length));
	assert_int_equal(length, size);
	assert_memory_equal(bytes, text, size);
	assert_int_equal(snap_marshal_tag(&s.value, s.value.root), SNAP_TAG_STRING);
	assert_int_equal(snap_marshal_size(&s.value, s.value.root), 0);
	assert_int_equal(s.value.objects, 1);
	not_block(&s.value, s.value.root);
	not_int(&s.value, s.value.root);
	not_number(&s.value, s.value.root);
	release(&s);
}

static void strings(void **state)
{
	(void)state;
	check_string(READ(STANDARD, 1, "\x20"), "", 0);
	check_string(READ(STANDARD, 1,
			     "\x23"
			     "a\0c"),
		"a\0c", 3);
	check_string(READ(STANDARD, 1, "\x09\x02xy"), "xy", 2);
	check_string(READ(STANDARD, 1, "\x0a\0\0\0\x04wxyz"), "wxyz", 4);
	check_string(READ(IDS_01, 1, "\x20\1\2\3"), "", 0);
	check_string(READ(IDS_02, 1, "\x22\1\2\3xy"), "xy", 2);
	check_string(READ(IDS_01, 1, "\x09\x02\1\2\3xy"), "xy", 2);
	check_string(READ(IDS_02, 1, "\x0a\0\0\0\x02\1\2\3xy"), "xy", 2);
}

static void check_doubles(struct sample s, int tag, uint32_t count)
{
	static const double expected[] = {1.5, -2.0};
	double number;
	good(&s);
	assert_int_equal(snap_marshal_tag(&s.value, s.value.root), tag);
	assert_int_equal(snap_marshal_size(&s.value, s.value.root), count);
	for (uint32_t i = 0; i < count; i++) {
		assert_true(snap_marshal_double(&s.value, s.value.root, i, &number));
		assert_true(number == expected[i]);
	}
	assert_false(snap_marshal_double(&s.value, s.value.root, count, &number));
	assert_false(snap_marshal_double(&s.value, s.value.root, UINT32_MAX, &number));
	assert_int_equal(s.value.objects, 1);
	not_block(&s.value, s.value.root);
	not_int(&s.value, s.value.root);
	not_string(&s.value, s.value.root);
	release(&s);
}

#define P "\1\2\3"
#define BIG "\x3f\xf8\0\0\0\0\0\0"
#define BIGS BIG "\xc0\0\0\0\0\0\0\0"
#define LITTLE "\0\0\0\0\0\0\xf8\x3f"
#define LITTLES LITTLE "\0\0\0\0\0\0\0\xc0"

static void doubles(void **state)
{
	(void)state;
	check_doubles(READ(STANDARD, 1, "\x0b" BIG), SNAP_TAG_DOUBLE, 1);
	check_doubles(READ(STANDARD, 1, "\x0c" LITTLE), SNAP_TAG_DOUBLE, 1);
	check_doubles(READ(STANDARD, 1, "\x0d\2" BIGS), SNAP_TAG_DOUBLE_ARRAY, 2);
	check_doubles(READ(STANDARD, 1, "\x0e\2" LITTLES), SNAP_TAG_DOUBLE_ARRAY, 2);
	check_doubles(READ(STANDARD, 1, "\x0f\0\0\0\2" BIGS), SNAP_TAG_DOUBLE_ARRAY, 2);
	check_doubles(READ(STANDARD, 1, "\x07\0\0\0\2" LITTLES), SNAP_TAG_DOUBLE_ARRAY, 2);
	check_doubles(READ(IDS_01, 1, "\x0b" P BIG), SNAP_TAG_DOUBLE, 1);
	check_doubles(READ(IDS_02, 1, "\x0c" P LITTLE), SNAP_TAG_DOUBLE, 1);
	check_doubles(READ(IDS_01, 1, "\x0d\2" P BIGS), SNAP_TAG_DOUBLE_ARRAY, 2);
	check_doubles(READ(IDS_02, 1, "\x0e\2" P LITTLES), SNAP_TAG_DOUBLE_ARRAY, 2);
	check_doubles(READ(IDS_01, 1, "\x0f\0\0\0\2" P BIGS), SNAP_TAG_DOUBLE_ARRAY, 2);
	check_doubles(READ(IDS_02, 1, "\x07\0\0\0\2" P LITTLES), SNAP_TAG_DOUBLE_ARRAY, 2);
	check_doubles(READ(IDS_02, 1, "\x07\0\0\0\0" P), SNAP_TAG_DOUBLE_ARRAY, 0);
}

static void check_custom(struct sample s, char kind, int64_t expected)
{
	char found;
	int64_t number;
	good(&s);
	assert_int_equal(snap_marshal_tag(&s.value, s.value.root), SNAP_TAG_CUSTOM);
	assert_true(snap_marshal_custom(&s.value, s.value.root, &found, &number));
	assert_int_equal(found, kind);
	assert_int_equal(number, expected);
	assert_int_equal(s.value.objects, 1);
	not_block(&s.value, s.value.root);
	not_int(&s.value, s.value.root);
	not_string(&s.value, s.value.root);
	release(&s);
}

static void customs(void **state)
{
	(void)state;
	check_custom(READ(STANDARD, 1, "\x12_j\0\x80\0\0\0\0\0\0\1"), 'j', INT64_MIN + 1);
	check_custom(READ(STANDARD, 1, "\x12_i\0\xff\xff\xff\xfe"), 'i', -2);
	check_custom(READ(STANDARD, 1, "\x12_n\0\1\xff\xff\xff\xfd"), 'n', -3);
	check_custom(READ(STANDARD, 1, "\x12_n\0\2\0\0\0\1\0\0\0\0"), 'n', INT64_C(1) << 32);
	check_custom(READ(IDS_01, 1, "\x12_j\0\0\0\0\0\0\0\0\7" P), 'j', 7);
	check_custom(READ(IDS_02, 1, "\x12_i\0\0\0\0\7" P), 'i', 7);
	check_custom(READ(IDS_01, 1, "\x12_n\0\2\0\0\0\0\0\0\0\7" P), 'n', 7);
	bad(READ(STANDARD, 1, "\x12_k\0\0\0\0\0\0\0\0\7"), DATA + 1, "\"_k\"");
	bad(READ(STANDARD, 1, "\x12_bigarray\0\0\0\0\0"), DATA + 1, "\"_bigarray\"");
	bad(READ(STANDARD, 1, "\x12\0\0\0\0\0"), DATA + 1, "\"\"");
	/* A hostile name does not reach the terminal as it is. */
	bad(READ(STANDARD, 1, "\x12\x1b[31m\n\0\0\0\0\0"), DATA + 1, "\"?[31m?\"");
	bad(READ(STANDARD, 1, "\x12_n\0\3\0\0\0\0\0\0\0\7"), DATA + 1, "nativeint");
	bad(READ(STANDARD, 1, "\x12_jjjjjjj"), DATA + 1, "inside");
	bad(READ(IDS_01, 1, "\x12_j\0\0\0\0\0\0\0\0\7\1\2"), DATA + 12, "inside");
}

/* A block of tag 'tag' whose fields are the integers 0, 1, ... */
static void check_block(struct sample s, int tag, uint32_t size)
{
	int64_t number;
	good(&s);
	assert_int_equal(snap_marshal_tag(&s.value, s.value.root), tag);
	assert_int_equal(snap_marshal_size(&s.value, s.value.root), size);
	for (uint32_t i = 0; i < size; i++) {
		struct snap_value field = snap_marshal_field(&s.value, s.value.root, i);
		assert_true(snap_marshal_int(&s.value, field, &number));
		assert_int_equal(number, i);
	}
	assert_true(snap_value_absent(snap_marshal_field(&s.value, s.value.root, size)));
	assert_true(snap_value_absent(snap_marshal_field(&s.value, s.value.root, UINT64_MAX)));
	assert_int_equal(s.value.objects, size > 0);
	not_int(&s.value, s.value.root);
	not_string(&s.value, s.value.root);
	not_number(&s.value, s.value.root);
	release(&s);
}

static void blocks(void **state)
{
	(void)state;
	check_block(READ(STANDARD, 0, "\x80"), 0, 0);
	check_block(READ(STANDARD, 0, "\x8f"), 15, 0);
	check_block(READ(STANDARD, 1, "\xa3\x40\x41"), 3, 2);
	check_block(READ(STANDARD, 1, "\xff\x40\x41\x42\x43\x44\x45\x46"), 15, 7);
	check_block(READ(STANDARD, 1, "\x08\0\0\x08\xf6\x40\x41"), 246, 2);
	check_block(READ(STANDARD, 0, "\x08\0\0\0\x05"), 5, 0);
	check_block(READ(STANDARD, 1, "\x13\0\0\0\0\0\0\x0c\xf8\x40\x41\x42"), 248, 3);
	/* An id of 21 bits all set, of 0.2 in the standard format. */
	check_block(READ(STANDARD, 1, "\x13\xff\xff\xf8\0\0\0\x08\1\x40\x41"), 1, 2);
	check_block(READ(IDS_01, 0, "\x80"), 0, 0);
	check_block(READ(IDS_01, 1, "\xa3" P "\x40\x41"), 3, 2);
	check_block(READ(IDS_02, 1, "\x08\0\0\x08\2\x40\x41"), 2, 2);
	check_block(READ(IDS_02, 1, "\x13\0\2\x30\0\0\0\x08\0\x40\x41"), 0, 2);
	check_block(READ(IDS_01, 0, "\x13\0\2\x30\0\0\0\0\0"), 0, 0);
}

static void nested(void **state)
{
	(void)state;
	/* ("a", [1; (2.. with tag 1)], 9) */
	struct sample s = READ(STANDARD, 4,
		"\xb0\x21"
		"a\xa0\x41\x91\x42\x49");
	const struct snap_marshal *m = &s.value;
	int64_t number;
	good(&s);
	struct snap_value list = snap_marshal_field(m, m->root, 1);
	struct snap_value inner = snap_marshal_field(m, list, 1);
	assert_int_equal(snap_marshal_tag(m, inner), 1);
	/* Behind the last field of one block lies the header of the next. */
	assert_true(snap_value_absent(snap_marshal_field(m, m->root, 3)));
	assert_true(snap_value_absent(snap_marshal_field(m, list, 2)));
	assert_true(snap_marshal_int(m, snap_marshal_field(m, inner, 0), &number));
	assert_int_equal(number, 2);
	assert_true(snap_marshal_int(m, snap_marshal_field(m, m->root, 2), &number));
	assert_int_equal(number, 9);
	assert_int_equal(m->offset, LEAD);
	release(&s);
}

static void sharing(void **state)
{
	(void)state;
	/* Objects: 1 the root, 2 "a", 3 an atom is none, 3 1.5; then references of every width. */
	struct sample s = READ(STANDARD, 3,
		"\xf0\x21"
		"a\x80\x0b" BIG "\x04\2\x05\0\1\x06\0\0\0\3\x40");
	const struct snap_marshal *m = &s.value;
	good(&s);
	struct snap_value fields[7];
	for (uint32_t i = 0; i < 7; i++)
		fields[i] = snap_marshal_field(m, m->root, i);
	assert_true(snap_value_same(fields[3], fields[0]));
	assert_true(snap_value_same(fields[4], fields[2]));
	assert_true(snap_value_same(fields[5], m->root));
	release(&s);
}

static void cycles(void **state)
{
	(void)state;
	/* let rec x = 1 :: x */
	struct sample s = READ(STANDARD, 1, "\xa0\x41\x04\1");
	good(&s);
	assert_true(snap_value_same(snap_marshal_field(&s.value, s.value.root, 1), s.value.root));
	release(&s);
	s = READ(IDS_02, 2, "\x90" P "\x90" P "\x04\2");
	good(&s);
	struct snap_value inner = snap_marshal_field(&s.value, s.value.root, 0);
	assert_true(snap_value_same(snap_marshal_field(&s.value, inner, 0), s.value.root));
	release(&s);
	bad(READ(STANDARD, 1, "\xa0\x41\x04\2"), DATA + 2, "2 objects back where there are 1");
	bad(READ(STANDARD, 1, "\xa0\x41\x04\0"), DATA + 2, "0 objects back");
	bad(READ(STANDARD, 0, "\x06\xff\xff\xff\xff"), DATA, "objects back");
}

#define MD5 "0123456789abcdef"

static void closures(void **state)
{
	(void)state;
	/* (closure of 2 fields, infix pointer to it by reference) */
	struct sample s = READ(IDS_01, 2,
		"\xa0" P "\x13\0\0\0\0\0\0\x08\xf7\x10\0\0\0\7" MD5 "\x42\x11\0\0\0\x10\x04\1");
	const struct snap_marshal *m = &s.value;
	good(&s);
	struct snap_value closure = snap_marshal_field(m, m->root, 0);
	struct snap_value code = snap_marshal_field(m, closure, 0);
	assert_int_equal(snap_marshal_tag(m, closure), 247);
	assert_false(snap_value_absent(code));
	assert_int_equal(snap_marshal_tag(m, code), -1);
	assert_int_equal(snap_marshal_size(m, code), 0);
	not_int(m, code);
	not_block(m, code);
	not_string(m, code);
	assert_true(snap_value_same(snap_marshal_field(m, m->root, 1), closure));
	release(&s);
	bad(READ(STANDARD, 0, "\x10\0\0\0\7" MD5 "x"), DATA + 21, "left over");
	bad(READ(STANDARD, 0,
		    "\x10\0\0\0\7"
		    "0123456789abcde"),
		DATA + 1, "inside");
	bad(READ(STANDARD, 0, "\x11\0\0\0"), DATA + 1, "inside");
	bad(READ(STANDARD, 0, "\x11\0\0\0\x08"), DATA + 5, "inside");
	bad(READ(STANDARD, 0, "\x11\0\0\0\x08\x11\0\0\0\x08"), DATA + 10, "inside");
}

static void absent(void **state)
{
	(void)state;
	struct sample s = READ(STANDARD, 1, "\x90\x40");
	struct snap_value none = {0};
	good(&s);
	not_block(&s.value, none);
	not_int(&s.value, none);
	not_string(&s.value, none);
	not_number(&s.value, none);
	assert_int_equal(snap_marshal_tag(&s.value, none), -1);
	assert_int_equal(snap_marshal_size(&s.value, none), 0);
	release(&s);
}

static void headers(void **state)
{
	(void)state;
	bad(READ(0x8495A6BD, 0, "\x40"), LEAD, "0x8495a6bd");
	bad(READ(0x42000000, 0, "\x40"), LEAD, "magic");
	bad(READ(STANDARD, 0, ""), DATA, "inside");
	bad(READ(STANDARD, 1, "\x40"), LEAD + 8, "says 1 objects, 0");
	bad(READ(STANDARD, 0, "\x20"), DATA, "more than the 0 objects");
	bad(READ(STANDARD, 1, "\xa0\x20\x20"), DATA + 1, "more than the 1 objects");
	bad(READ(STANDARD, 2, "\x90\x40"), LEAD + 8, "says 2 objects, 1");
	bad(READ(STANDARD, 3, "\x90\x40"), LEAD + 8, "3 objects in 2 bytes");
	bad(READ(STANDARD, 0xffffffff, "\x90\x40"), LEAD + 8, "4294967295 objects");
	bad(READ(STANDARD, 0, "\x40\x40"), DATA + 1, "left over");
	bad(read_claiming(STANDARD, "\x40", 1, 2, 0, 10), LEAD, "2 bytes where 1");
	bad(read_claiming(STANDARD, "\x40", 1, 0xffffffff, 0, 10), LEAD, "4294967295 bytes");
	bad(read_claiming(STANDARD, "\xa0\x40\x41", 3, 2, 1, 10), DATA, "a block of 2 fields");
	bad(read_claiming(STANDARD, "\xa0\x40\x41", 3, 3, 1, 2), DATA, "larger than its header");
	struct sample s = read_claiming(STANDARD, "\xa0\x40\x41", 3, 3, 1, 3);
	good(&s);
	release(&s);
	/* What follows the value is not touched. */
	s = read_claiming(STANDARD, "\x40\x41", 2, 1, 0, 0);
	assert_int_equal(s.status, HG_OK);
	assert_int_equal(base_cursor_offset(&s.cursor), DATA + 1);
	release(&s);
	for (size_t size = 0; size < HEADER; size++) {
		struct base_pool pool = {0};
		struct snap_marshal value;
		struct hg_error error;
		uint8_t *bytes = calloc(1, HEADER);
		struct base_cursor c = base_cursor_over(bytes, size);
		assert_int_equal(snap_marshal_read(&c, &pool, &value, &error), HG_ERROR_INPUT);
		assert_int_equal(error.offset, 0);
		assert_int_equal(pool.bytes, 0);
		free(bytes);
	}
}

/* Numbers in the data that promise more than there is. */
static void lies(void **state)
{
	(void)state;
	bad(READ(STANDARD, 1, "\x08\xff\xff\xfc\0\x40"), DATA, "4194303 fields");
	bad(READ(STANDARD, 1, "\x13\0\0\x07\xff\xff\xff\xfc\0\x40"), DATA, "8589934591 fields");
	bad(READ(STANDARD, 1, "\x0a\xff\xff\xff\xff"), DATA + 5, "inside");
	bad(READ(STANDARD, 1, "\x07\xff\xff\xff\xff"), DATA + 5, "inside");
	bad(READ(STANDARD, 1, "\x09\x05zzzz"), DATA + 2, "inside");
	bad(READ(IDS_01, 1, "\x09\x04\1\2\3zzz"), DATA + 5, "inside");
	bad(READ(IDS_01, 1, "\x21\1\2"), DATA + 1, "inside");
	bad(READ(IDS_01, 1, "\x90\1\2"), DATA + 1, "inside");
	/* Every level says "two", only the innermost is there. */
	bad(READ(STANDARD, 3, "\xa0\xa0\xa0\x40\x40"), DATA + 2, "and 2 others to come");
	bad(READ(STANDARD, 1, "\x08\0\0\x04\xfc\x40"), DATA, "tag 252");
	bad(READ(STANDARD, 1, "\x08\0\0\x04\xfb\x40"), DATA, "tag 251");
	for (unsigned code = 0x16; code < 0x20; code++) {
		if (code == 0x19) /* custom blocks of fixed length */
			continue;
		uint8_t data[9] = {(uint8_t)code};
		bad(read_data(STANDARD, 1, data, sizeof(data)), DATA, "code 0x");
	}
	static const char wide[] = "\x00\x01\x02\x03\x04\x05\x06\x0b\x0c\x0d\x0e\x0f\x07\x08\x09"
				   "\x0a\x10\x11\x12\x13\x21\x90";
	for (size_t i = 0; i < sizeof(wide) - 1; i++) {
		struct sample s = read_data(STANDARD, 1, wide + i, 1);
		assert_int_equal(s.status, HG_ERROR_INPUT);
		release(&s);
	}
}

/* Depth is bounded by memory, not by the C stack: pairs nested to the left, then a long list. */
static void deep(void **state)
{
	(void)state;
	enum { DEPTH = 1000000 };
	uint8_t *data = malloc(2 * DEPTH + 1);
	assert_non_null(data);
	memset(data, 0xa0, DEPTH);
	memset(data + DEPTH, 0x40, DEPTH + 1);
	struct sample s =
		read_claiming(STANDARD, data, 2 * DEPTH + 1, 2 * DEPTH + 1, DEPTH, 3 * DEPTH);
	good(&s);
	struct snap_value value = s.value.root;
	uint32_t depth = 0;
	for (; !snap_marshal_is_int(&s.value, value); depth++)
		value = snap_marshal_field(&s.value, value, 0);
	assert_int_equal(depth, DEPTH);
	assert_true(s.pool.bytes <= 3 * 4 * (uint64_t)DEPTH + 8);
	release(&s);
	for (size_t i = 0; i < 2 * DEPTH; i++)
		data[i] = i & 1 ? 0x41 : 0xa0;
	s = read_claiming(STANDARD, data, 2 * DEPTH + 1, 2 * DEPTH + 1, DEPTH, 3 * DEPTH);
	good(&s);
	value = s.value.root;
	for (depth = 0; !snap_marshal_is_int(&s.value, value); depth++)
		value = snap_marshal_field(&s.value, value, 1);
	assert_int_equal(depth, DEPTH);
	release(&s);
	free(data);
}

/* Memory follows the bytes there, whatever the header promises. */
static void memory(void **state)
{
	(void)state;
	struct sample s = read_claiming(STANDARD, "\x90\x40", 2, 2, 1, 0xffffffff);
	good(&s);
	assert_true(s.pool.bytes <= 5 * 4 + 8);
	release(&s);
}

static size_t load_file(const char *path, uint8_t **bytes)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return 0;
	fseek(file, 0, SEEK_END);
	size_t size = (size_t)ftell(file);
	rewind(file);
	*bytes = malloc(size ? size : 1);
	assert_int_equal(fread(*bytes, 1, size, file), size);
	fclose(file);
	return size;
}

/* Asks every question down to some depth. */
static uint64_t walk_fields(const struct snap_marshal *m, struct snap_value value, unsigned depth)
{
	uint64_t met = 1;
	for (uint32_t i = 0; depth && i < snap_marshal_size(m, value); i++)
		met += walk_fields(m, snap_marshal_field(m, value, i), depth - 1);
	return met;
}

static void real_file(const char *path, unsigned values, uint32_t objects)
{
	uint8_t *bytes;
	size_t size = load_file(path, &bytes);
	if (!size) {
		print_message("no %s\n", path);
		return;
	}
	struct base_cursor c = base_cursor_over(bytes, size);
	struct base_pool pool = {0};
	struct snap_marshal m;
	struct hg_error error;
	unsigned read = 0;
	uint32_t met = 0;
	for (; base_cursor_left(&c); read++) {
		if (snap_marshal_read(&c, &pool, &m, &error) != HG_OK)
			fail_msg("%s: offset %llu: %s", path, (unsigned long long)error.offset,
				error.message);
		assert_true(walk_fields(&m, m.root, 6) > 0);
		met += m.objects;
	}
	assert_int_equal(read, values);
	assert_int_equal(met, objects);
	base_pool_release(&pool);
	free(bytes);
}

static void real_files(void **state)
{
	(void)state;
	real_file(FIXTURES "/v01/tiny/t1.prof", 1, 0x2dc);
	real_file(FIXTURES "/v01/stdmagic/variants.prof", 1, 0x99c);
	real_file(FIXTURES "/v02/objs-opt/memprof.28958.locations", 17, 711);
	real_file(FIXTURES "/v02/objs-byte/memprof.28910.locations", 1, 1720);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers),
		cmocka_unit_test(strings),
		cmocka_unit_test(doubles),
		cmocka_unit_test(customs),
		cmocka_unit_test(blocks),
		cmocka_unit_test(nested),
		cmocka_unit_test(sharing),
		cmocka_unit_test(cycles),
		cmocka_unit_test(closures),
		cmocka_unit_test(absent),
		cmocka_unit_test(headers),
		cmocka_unit_test(lies),
		cmocka_unit_test(deep),
		cmocka_unit_test(memory),
		cmocka_unit_test(real_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
