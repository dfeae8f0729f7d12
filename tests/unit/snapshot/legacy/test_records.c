/* Dumps of 0.1 and 0.2: what is read from good ones, and that bad ones are refused where they err.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "heapgraph.h"
#include "tests/unit/dump.h"

#ifndef FIXTURES
#define FIXTURES "tests/fixtures"
#endif

#define BASE ((uint64_t)0x7f1200000000)
#define CHUNK ((uint64_t)0x100000)

struct opened {
	struct hg_session *session;
	struct hg_snapshot *snapshot;
	enum hg_status status;
	struct hg_error error;
};

static struct opened open_path(const char *path, bool partial)
{
	struct opened o = {0};
	struct hg_input input = {
		.size = sizeof(input), .path = path, .format = "memprof01", .partial = partial};
	assert_int_equal(hg_session_open(NULL, &o.session), HG_OK);
	o.status = hg_snapshot_open(o.session, &input, &o.snapshot);
	if (o.status == HG_OK)
		o.status = hg_snapshot_analyse(o.snapshot);
	o.error = *hg_session_error(o.session);
	return o;
}

static void close_opened(struct opened *o)
{
	hg_snapshot_close(o->snapshot);
	hg_session_close(o->session);
}

/* A dump that must be refused, at an offset, with a message that has 'what' in it. */
static void refuse_strictly(struct dump *d, uint64_t offset, const char *what)
{
	dump_write(d);
	struct opened o = open_path(d->path, false);
	assert_int_equal(o.status, HG_ERROR_INPUT);
	assert_string_equal(o.error.file, d->path);
	if (!strstr(o.error.message, what))
		fail_msg("'%s' does not say '%s'", o.error.message, what);
	assert_int_equal(o.error.offset, offset);
	close_opened(&o);
}

/* The same, also when a file cut short would do. */
static void refuse(struct dump *d, uint64_t offset, const char *what)
{
	refuse_strictly(d, offset, what);
	struct opened o = open_path(d->path, true);
	assert_int_equal(o.status, HG_ERROR_INPUT);
	close_opened(&o);
}

/* The beginning that all dumps here share; the next byte is at offset 17 + 8 + ... = START. */
enum { START = 1 + 8 + 3 + 17, BLOCK = 26 };

static void start(struct dump *d)
{
	dump_start(d, "./p");
	dump_chunk(d, BASE, BASE + CHUNK);
}

static void finish(struct dump *d)
{
	dump_roots(d, 1, NULL, 0, NULL, 0);
}

static void bad_blocks(void **state)
{
	struct dump d = {0};
	(void)state;
	start(&d);
	dump_block(&d, BASE + 8, 252, 0, 10);
	finish(&d);
	refuse(&d, START, "a block of 0 words");
	start(&d);
	dump_block(&d, BASE + 8, 252, (uint64_t)1 << 33, 10);
	finish(&d);
	refuse(&d, START, "words");
	start(&d);
	dump_block(&d, BASE + 8, 252, 1, (uint64_t)1 << 21);
	finish(&d);
	refuse(&d, START, "location id");
	start(&d);
	dump_block(&d, BASE + 12, 252, 1, 10);
	finish(&d);
	refuse(&d, START, "no word address");
	start(&d);
	dump_block(&d, BASE - 8, 252, 1, 10);
	finish(&d);
	refuse(&d, START, "outside its chunk");
	start(&d);
	dump_block(&d, BASE + CHUNK - 8, 252, 1, 10);
	dump_block(&d, BASE + CHUNK + 8, 252, 1, 10);
	finish(&d);
	refuse(&d, START + BLOCK, "outside its chunk");
	start(&d);
	dump_block(&d, BASE + 8, 252, 1 + CHUNK / 8, 10);
	finish(&d);
	refuse(&d, START, "outside its chunk");
	start(&d);
	dump_block(&d, BASE + 8, 252, 4, 10);
	dump_block(&d, BASE + 40, 252, 4, 10);
	finish(&d);
	refuse(&d, START + BLOCK, "overlaps the one before");
	dump_start(&d, "./p");
	dump_block(&d, BASE + 8, 252, 4, 10);
	finish(&d);
	refuse(&d, START - 17, "before the first chunk");
	dump_release(&d);
}

static void bad_chunks(void **state)
{
	struct dump d = {0};
	(void)state;
	start(&d);
	dump_chunk(&d, BASE + CHUNK / 2, BASE + 2 * CHUNK);
	finish(&d);
	refuse(&d, START, "overlaps");
	start(&d);
	dump_chunk(&d, BASE - CHUNK, BASE + 8);
	finish(&d);
	refuse(&d, START - 17, "overlaps");
	start(&d);
	dump_chunk(&d, BASE + 2 * CHUNK, BASE + CHUNK);
	finish(&d);
	refuse(&d, START, "no range");
	start(&d);
	dump_chunk(&d, BASE + 2 * CHUNK, UINT64_MAX & ~(uint64_t)7);
	finish(&d);
	refuse(&d, START, "no range");
	start(&d);
	dump_u8(&d, 0x42);
	finish(&d);
	refuse(&d, START, "unknown record 0x42");
	dump_release(&d);
}

static void bad_tails(void **state)
{
	struct dump d = {0};
	uint64_t nowhere = BASE + 4 * CHUNK;
	(void)state;
	start(&d);
	dump_roots(&d, 1, NULL, 0, &nowhere, 1);
	refuse(&d, d.size - 16, "a root to");
	start(&d);
	dump_roots(&d, 1, &nowhere, 1, NULL, 0);
	refuse(&d, START + 33 + 16, "a root to");
	start(&d);
	dump_end_blocks(&d, 1);
	dump_word(&d, ((uint64_t)1 << 40) + 1);
	dump_word(&d, 1);
	refuse_strictly(&d, START + 33, "a stack of 549755813888 entries");
	start(&d);
	dump_end_blocks(&d, 1);
	dump_word(&d, 2);
	refuse(&d, START + 33, "size of the stack");
	start(&d);
	finish(&d);
	dump_u8(&d, 0);
	refuse(&d, d.size - 1, "1 bytes more");
	d.size--;
	d.bytes[START + 17] = 7;
	refuse(&d, START + 17, "bytecode");
	dump_release(&d);
}

static void bad_starts(void **state)
{
	struct dump d = {0};
	(void)state;
	refuse(&d, 0, "is empty");
	dump_u8(&d, 4);
	dump_word(&d, 1);
	refuse(&d, 0, "64-bit programs");
	d.size = 0;
	dump_u8(&d, 8);
	dump_word(&d, (uint64_t)1 << 60);
	refuse(&d, 1, "a program name of");
	dump_release(&d);
}

static void read_file(const char *path, struct dump *d)
{
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	d->size = 0;
	for (int c; (c = getc(file)) != EOF;)
		dump_u8(d, (unsigned)c);
	fclose(file);
}

/*
 * Prefixes of a real dump are refused as cut short, and readable in part.  A prime stride meets
 * every field of records in turn.
 */
static void truncations(void **state)
{
	struct dump d = {0};
	uint64_t most = 0;
	size_t step = is_thorough() ? 1 : 7;
	(void)state;
	read_file(FIXTURES "/v01/tiny/heap.dump.29370.0", &d);
	for (size_t size = 0; size < d.size; size += step) {
		dump_write_part(&d, size);
		struct opened o = open_path(d.path, false);
		assert_int_equal(o.status, HG_ERROR_INPUT);
		assert_int_equal(o.error.offset <= size, 1);
		close_opened(&o);
		if (size % 7)
			continue;
		o = open_path(d.path, true);
		if (size == 0) {
			assert_int_equal(o.status, HG_ERROR_INPUT);
		} else {
			struct hg_info info;
			assert_int_equal(o.status, HG_OK);
			info = *hg_snapshot_info(o.snapshot);
			assert_true(info.partial[0]);
			assert_true(info.partial_offset <= size);
			assert_true(info.blocks >= most);
			most = info.blocks;
		}
		close_opened(&o);
	}
	assert_int_equal(most, 247);
	dump_release(&d);
}

/* Any byte of a real dump may be anything: an answer or a refusal, never a crash. */
static void flipped_bits(void **state)
{
	struct dump d = {0};
	unsigned refused = 0, read = 0;
	size_t step = is_thorough() ? 1 : 3;
	(void)state;
	read_file(FIXTURES "/v01/tiny/heap.dump.29370.0", &d);
	for (size_t i = 0; i < d.size; i += step) {
		uint8_t old = d.bytes[i];
		d.bytes[i] ^= (uint8_t)(1 << i % 8);
		dump_write(&d);
		struct opened o = open_path(d.path, i % 2);
		if (o.status == HG_OK)
			read++;
		else
			refused++;
		assert_true(o.status == HG_OK || o.status == HG_ERROR_INPUT);
		close_opened(&o);
		d.bytes[i] = old;
	}
	assert_true(refused > 1000 / step && read > 1000 / step);
	dump_release(&d);
}

/* A record may claim 2^33 words; it costs what its bytes cost. */
static void huge_claims_cost_nothing(void **state)
{
	struct dump d = {0};
	uint64_t used, peak, big = ((uint64_t)1 << 33) - 1;
	const struct hg_totals *totals;
	(void)state;
	dump_start(&d, "./p");
	dump_chunk(&d, BASE, BASE + 8 * (big + 1) + 64);
	dump_block(&d, BASE + 8, 252, big, 10);
	dump_block(&d, BASE + 8 + 8 * (big + 1), 0, 1, 70);
	dump_word(&d, BASE + 8);
	dump_roots(&d, BASE + 8 + 8 * (big + 1), NULL, 0, NULL, 0);
	dump_write(&d);
	struct opened o = open_path(d.path, false);
	assert_int_equal(o.status, HG_OK);
	hg_session_memory(o.session, &used, &peak);
	assert_true(peak < 1 << 20);
	assert_int_equal(hg_count_totals(o.snapshot, &totals), HG_OK);
	assert_int_equal(totals->reachable_blocks, 2);
	assert_int_equal(totals->reachable_bytes, 8 * (big + 1) + 16);
	assert_int_equal(totals->retained_bytes, 8 * (big + 1) + 16);
	close_opened(&o);
	dump_release(&d);
}

/* Strewn blocks would need memory out of proportion to the file. */
static void strewn_blocks_are_refused(void **state)
{
	struct dump d = {0};
	uint64_t address = BASE;
	uint64_t used, peak;
	(void)state;
	dump_start(&d, "./p");
	dump_chunk(&d, BASE, (uint64_t)1 << 47);
	for (unsigned i = 0; i < 100000 && address < ((uint64_t)1 << 47) - (1 << 28); i++) {
		dump_block(&d, address + 8, 252, 1, 10);
		address += 1 << 27;
	}
	finish(&d);
	dump_write(&d);
	struct opened o = open_path(d.path, false);
	hg_session_memory(o.session, &used, &peak);
	assert_true(peak < ((uint64_t)1 << 27) + 64 * d.size);
	close_opened(&o);
	dump_release(&d);
}

/* Chunks may come in any order, blocks are numbered by address all the same. */
static void chunks_in_any_order(void **state)
{
	struct dump d = {0};
	struct hg_block block;
	(void)state;
	dump_start(&d, "./p");
	dump_chunk(&d, BASE + 8 * CHUNK, BASE + 9 * CHUNK);
	dump_block(&d, BASE + 8 * CHUNK + 8, 0, 1, 10);
	dump_word(&d, BASE + 8);
	dump_u8(&d, 0x0a);
	dump_block(&d, BASE + 8 * CHUNK + 24, 0, 1, 10);
	dump_word(&d, 3);
	dump_chunk(&d, BASE, BASE + CHUNK);
	dump_block(&d, BASE + 8, 0, 2, 10);
	dump_word(&d, BASE + 8 * CHUNK + 24);
	dump_word(&d, 5);
	dump_roots(&d, BASE + 8 * CHUNK + 8, NULL, 0, NULL, 0);
	dump_write(&d);
	struct opened o = open_path(d.path, false);
	assert_int_equal(o.status, HG_OK);
	block = *hg_describe_block(o.snapshot, 0);
	assert_int_equal(block.address, BASE + 8);
	assert_int_equal(block.retained_bytes, 24 + 16);
	assert_int_equal(block.idom, 1);
	block = *hg_describe_block(o.snapshot, 1);
	assert_int_equal(block.retained_bytes, 16 + 24 + 16);
	close_opened(&o);
	dump_release(&d);
}

/* A pointer to the second of two functions that share a closure is a pointer to the closure. */
static void infix_pointers(void **state)
{
	struct dump d = {0};
	const struct hg_totals *totals;
	struct hg_object *object;
	uint64_t closure = BASE + 8, other = closure + 8 * 8, code = 0x1000;
	uint64_t into = closure + 3 * 8;
	(void)state;
	start(&d);
	dump_block(&d, closure, 247, 7, 5);
	dump_word(&d, code);
	dump_word(&d, 3);
	dump_word(&d, (3 << 10 | 249) + ((uint64_t)5 << 43));
	dump_word(&d, code);
	dump_word(&d, 5);
	/* Looks like an infix header, but not at its distance. */
	dump_word(&d, 2 << 10 | 249);
	dump_word(&d, closure + 6 * 8);
	dump_block(&d, other, 0, 1, 5);
	dump_word(&d, into);
	dump_roots(&d, other, NULL, 0, &into, 1);
	dump_write(&d);
	struct opened o = open_path(d.path, false);
	assert_int_equal(o.status, HG_OK);
	assert_int_equal(hg_count_totals(o.snapshot, &totals), HG_OK);
	assert_int_equal(totals->infix_pointers, 1);
	assert_int_equal(totals->code_pointers, 2);
	assert_int_equal(totals->dangling_pointers, 1);
	assert_int_equal(totals->immediates, 4);
	assert_int_equal(totals->root_targets, 2);
	assert_int_equal(hg_describe_object(o.snapshot, 0, 0, 0, &object), HG_OK);
	assert_int_equal(object->referrers_total, 2);
	assert_int_equal(object->fields[2]->kind, HG_VALUE_RAW);
	assert_int_equal(object->fields[5]->kind, HG_VALUE_INT);
	assert_int_equal(object->fields[6]->kind, HG_VALUE_DANGLING);
	hg_object_release(&object);
	assert_int_equal(hg_block_at(o.snapshot, into), 0);
	assert_int_equal(hg_block_at(o.snapshot, other + 8), HG_NO_NODE);
	close_opened(&o);
	dump_release(&d);
}

/* The two values that stand for code may be any: beside the last of all numbers the other counts.
 */
static void code_at_the_end_of_all_numbers(void **state)
{
	struct dump d = {0};
	const struct hg_totals *totals;
	(void)state;
	start(&d);
	dump_block(&d, BASE + 8, 0, 1, 5);
	dump_word(&d, 0x1000);
	dump_u8(&d, 0xff);
	dump_word(&d, 0x1000);
	dump_word(&d, UINT64_MAX);
	dump_word(&d, 3); /* bytecode, no globals, no stack, no roots */
	dump_word(&d, 1);
	dump_word(&d, 1);
	dump_word(&d, 0);
	dump_word(&d, 1);
	dump_write(&d);
	struct opened o = open_path(d.path, false);
	assert_int_equal(o.status, HG_OK);
	assert_int_equal(hg_count_totals(o.snapshot, &totals), HG_OK);
	assert_int_equal(totals->code_pointers, 1);
	assert_int_equal(totals->outside_pointers, 0);
	close_opened(&o);
	dump_release(&d);
}

/* The list of roots repeats globals and stack: one root per slot. */
static void roots_are_counted_once(void **state)
{
	struct dump d = {0};
	struct hg_info info;
	uint64_t block = BASE + 8, stack[] = {block, block + 16, block};
	uint64_t others[] = {block, block + 16, block + 32};
	(void)state;
	start(&d);
	for (unsigned i = 0; i < 3; i++) {
		dump_block(&d, block + 16 * i, 0, 1, 5);
		dump_word(&d, 1);
	}
	dump_roots(&d, block + 32, stack, 3, others, 3);
	dump_write(&d);
	struct opened o = open_path(d.path, false);
	assert_int_equal(o.status, HG_OK);
	info = *hg_snapshot_info(o.snapshot);
	assert_int_equal(info.roots[HG_ROOT_GLOBAL], 1);
	assert_int_equal(info.roots[HG_ROOT_STACK], 3);
	assert_int_equal(info.roots[HG_ROOT_OTHER], 3);
	close_opened(&o);
	dump_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_starts),
		cmocka_unit_test(bad_chunks),
		cmocka_unit_test(bad_blocks),
		cmocka_unit_test(bad_tails),
		cmocka_unit_test(truncations),
		cmocka_unit_test(flipped_bits),
		cmocka_unit_test(huge_claims_cost_nothing),
		cmocka_unit_test(strewn_blocks_are_refused),
		cmocka_unit_test(chunks_in_any_order),
		cmocka_unit_test(infix_pointers),
		cmocka_unit_test(code_at_the_end_of_all_numbers),
		cmocka_unit_test(roots_are_counted_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
