/*
 * OCP-2014D001 dumps: built by hand for every form the format has, damaged in every way we can
 * think of, and two real ones against the facts an independent reader counted in them.  What files
 * are called is tried here too.
 */
#include "snapshot/mark.h"
#include "snapshot/walk.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef FIXTURES
#define FIXTURES "tests/fixtures"
#endif

/* Damaged files tried by flipping bytes. */
#ifndef FLIPS
#define FLIPS 3000
#endif

/* Where the chunks of hand-built dumps lie: far from both ends of the address space. */
#define HEAP ((uint64_t)0x7f0000000000)

/* Bytes under construction. */
struct bytes {
	uint8_t data[1 << 16];
	size_t count;
};

static void put_bytes(struct bytes *b, const void *data, size_t count)
{
	assert_true(count <= sizeof(b->data) - b->count);
	memcpy(b->data + b->count, data, count);
	b->count += count;
}

static void put(struct bytes *b, unsigned byte)
{
	uint8_t value = (uint8_t)byte;
	put_bytes(b, &value, 1);
}

static void put_be(struct bytes *b, uint64_t value, unsigned count)
{
	while (count--)
		put(b, value >> (8 * count) & 255);
}

static void put_word(struct bytes *b, uint64_t word)
{
	for (unsigned i = 0; i < 64; i += 8)
		put(b, word >> i & 255);
}

static void put_uint(struct bytes *b, uint64_t value)
{
	for (; value >> 7; value >>= 7)
		put(b, value & 127);
	put(b, (unsigned)value | 128);
}

static void put_text(struct bytes *b, const char *text)
{
	put_uint(b, strlen(text));
	put_bytes(b, text, strlen(text));
}

enum { BLKS, STRS, CHKS, ROOT, WEAK, FINA, INFO, SECTIONS };

/* A dump in pieces, so that a test can spoil one of them. */
struct dump {
	unsigned id_bits, native, version;
	const char *name;
	struct bytes sections[SECTIONS];
};

static void put_block4(struct dump *d, uint64_t size, uint64_t id, uint64_t tag)
{
	put_be(&d->sections[BLKS], 2ull << 29 | size << (4 + d->id_bits) | id << 4 | tag, 4);
}

static void put_block5(struct dump *d, uint64_t size, uint64_t id, uint64_t tag)
{
	put_be(&d->sections[BLKS], 3ull << 37 | size << (8 + d->id_bits) | id << 8 | tag, 5);
}

static void put_block8(struct dump *d, uint64_t size, uint64_t id, uint64_t tag)
{
	put_be(&d->sections[BLKS], size << 30 | id << 8 | tag, 8);
}

static void put_free(struct dump *d, uint64_t size)
{
	struct bytes *b = &d->sections[BLKS];
	put(b, 0x80 | (size < 127 ? (unsigned)size : 127));
	if (size >= 127)
		put_word(b, size);
}

/* The forms of an offset: bytes, significant bits, what the first byte begins with. */
static const struct form {
	unsigned bytes, bits;
	uint64_t prefix;
} forms[] = {{1, 7, 0}, {2, 14, 0x80}, {3, 21, 0xc0}, {4, 28, 0xe0}, {5, 34, 0xf8}, {6, 41, 0xfc},
	{7, 48, 0xfe}, {9, 64, 0xff}};

enum { FORMS = sizeof(forms) / sizeof(*forms) };

static void put_offset(struct dump *d, unsigned form, int64_t offset)
{
	const struct form *f = &forms[form];
	uint64_t bits = (uint64_t)offset;
	if (f->bits == 64) {
		put(&d->sections[BLKS], 0xff);
		put_be(&d->sections[BLKS], bits, 8);
		return;
	}
	bits &= ((uint64_t)1 << f->bits) - 1;
	put_be(&d->sections[BLKS], bits | f->prefix << (8 * (f->bytes - 1)), f->bytes);
}

static void put_chunks(struct dump *d, uint64_t blocks, bool graph, uint64_t count)
{
	struct bytes *b = &d->sections[CHKS];
	put_word(b, blocks);
	put(b, graph);
	put_word(b, count);
}

static void put_chunk(struct dump *d, uint64_t address, uint64_t words)
{
	put_word(&d->sections[CHKS], address);
	put_word(&d->sections[CHKS], words * 8);
}

static void put_slot(struct bytes *b, uint64_t slot, uint64_t value)
{
	put_word(b, slot);
	put_word(b, value);
}

/* Marshalled (pid, number, kind, Gc.stat, start, end); the times and three fields are floats. */
static void put_info(struct dump *d, uint64_t kind, uint64_t live_words, uint64_t live_blocks)
{
	static struct bytes data;
	struct bytes *b = &d->sections[INFO];
	data.count = 0;
	put(&data, 0x80 | 6 << 4);
	for (unsigned i = 0; i < 3; i++) {
		put(&data, 0x02);
		put_be(&data, i == 0 ? 4711 : i == 1 ? 12 : kind, 4);
	}
	put(&data, 0x08);
	put_be(&data, 16 << 10, 4);
	for (unsigned i = 0; i < 18; i++) {
		bool real = i < 3 || i > 15;
		put(&data, real ? 0x0c : 0x02);
		put_be(&data, i == 7 ? live_words : i == 8 ? live_blocks : 0, real ? 8 : 4);
	}
	static const uint64_t header[] = {0x8495a6be, 0, 7, 39, 34};
	for (unsigned i = 0; i < 5; i++)
		put_be(b, i == 1 ? data.count : header[i], 4);
	put_bytes(b, data.data, data.count);
}

static void start(struct dump *d, unsigned id_bits)
{
	d->id_bits = id_bits;
	d->native = 0;
	d->version = 1;
	d->name = "mine";
	for (unsigned i = 0; i < SECTIONS; i++)
		d->sections[i].count = 0;
	put_word(&d->sections[STRS], 8);
	put_word(&d->sections[WEAK], 0);
	for (unsigned i = 0; i < 5; i++)
		put_uint(&d->sections[FINA], 0);
}

/* No root but the globals of bytecode. */
static void put_no_roots(struct dump *d, uint64_t globals)
{
	struct bytes *b = &d->sections[ROOT];
	put_word(b, globals);
	put(b, 2);
	put_uint(b, 0);
	put_uint(b, 0);
	for (unsigned i = 0; i < 6; i++)
		put_word(b, 0);
}

static const char section_names[SECTIONS][5] = {
	"BLKS", "STRS", "CHKS", "ROOT", "WEAK", "FINA", "INFO"};

static void assemble(const struct dump *d, struct bytes *out)
{
	uint64_t starts[SECTIONS];
	out->count = 0;
	put_bytes(out, "OCP-2014D001", 12);
	put(out, 64);
	put(out, d->id_bits);
	put(out, d->native);
	put(out, d->version);
	if (d->version)
		put_text(out, d->name);
	for (unsigned i = 0; i < SECTIONS; i++) {
		starts[i] = out->count;
		put_bytes(out, d->sections[i].data, d->sections[i].count);
	}
	for (unsigned i = 0; i < SECTIONS; i++) {
		put_bytes(out, section_names[i], 4);
		put_word(out, starts[i]);
	}
	put_word(out, SECTIONS);
}

/* Everything a test needs; static, because the buffers are large. */
static struct world {
	struct hg_session *session;
	char folder[64];
	char path[PATH_MAX];
	struct hg_error error;
	struct dump dump;
	struct bytes file;
	struct snap snap;
} world;

static int open_world(void **state)
{
	(void)state;
	snprintf(world.folder, sizeof(world.folder), "/tmp/test_ocp2014.XXXXXX");
	if (!mkdtemp(world.folder))
		return 1;
	snprintf(world.path, sizeof(world.path), "%s/memprof.9.8.from.name.dump", world.folder);
	return hg_session_open(NULL, &world.session) != HG_OK;
}

static int close_world(void **state)
{
	(void)state;
	hg_session_close(world.session);
	unlink(world.path);
	return rmdir(world.folder);
}

static void write_file(const char *path, const void *bytes, size_t count)
{
	FILE *stream = fopen(path, "w");
	assert_non_null(stream);
	assert_int_equal(fwrite(bytes, 1, count, stream), count);
	assert_int_equal(fclose(stream), 0);
}

static enum hg_status open_path(const char *path, bool partial)
{
	struct hg_input input = {.size = sizeof(input), .path = path, .partial = partial};
	input.format = "ocp2014";
	base_error_clear(&world.error);
	return snap_open(&world.snap, world.session, &input, &world.error);
}

static enum hg_status open_bytes(const struct bytes *file)
{
	write_file(world.path, file->data, file->count);
	return open_path(world.path, false);
}

/* The dump as it stands must open. */
static struct snap *open_dump(void)
{
	assemble(&world.dump, &world.file);
	if (open_bytes(&world.file) != HG_OK)
		fail_msg("%s (offset %llu)", world.error.message,
			(unsigned long long)world.error.offset);
	return &world.snap;
}

/* ... or must not, with this said about it. */
static void expect_refused(const char *message)
{
	assemble(&world.dump, &world.file);
	assert_int_equal(open_bytes(&world.file), HG_ERROR_INPUT);
	if (!strstr(world.error.message, message))
		fail_msg("'%s' instead of '%s'", world.error.message, message);
	assert_true(strstr(world.error.file, "memprof.9.8"));
	assert_true(world.error.offset <= world.file.count);
}

/* A block as the walk gives it, with the values of its fields. */
struct seen {
	struct snap_cell cell;
	uint32_t id;
	uint64_t fields[64];
};

enum { MOST_SEEN = 600 };
static struct seen seen[MOST_SEEN];

static unsigned walk_all(const struct snap *snap)
{
	struct snap_walk walk;
	struct snap_run run;
	unsigned count = 0;
	assert_int_equal(snap_walk_init(&walk, snap, &world.error), HG_OK);
	snap_walk_range(&walk, 0, snap->entry_count);
	while (snap_walk_next(&walk, &run)) {
		struct snap_scan scan = snap_scan_run(snap, &run);
		struct snap_cell cell;
		while (snap_scan_next(&scan, &cell)) {
			struct seen *s = &seen[count++];
			assert_true(count <= MOST_SEEN);
			s->cell = cell;
			s->id = snap_header_reserved(cell.header, snap->reserved);
			for (uint64_t i = 0; i < cell.field_count && i < 64; i++)
				s->fields[i] = cell.fields[i];
		}
	}
	snap_walk_release(&walk);
	assert_int_equal(count, snap->block_count);
	return count;
}

static void check_block(unsigned i, uint64_t address, uint64_t wosize, unsigned tag, uint32_t id)
{
	assert_int_equal(seen[i].cell.address.a, address);
	assert_int_equal(seen[i].cell.wosize, wosize);
	assert_int_equal(seen[i].cell.tag, tag);
	assert_int_equal(seen[i].id, id);
}

static void every_header_form(void **state)
{
	(void)state;
	static const unsigned widths[] = {0, 1, 3, 10, 22};
	for (unsigned w = 0; w < sizeof(widths) / sizeof(*widths); w++) {
		struct dump *d = &world.dump;
		uint32_t id = (uint32_t)((1u << widths[w]) - 1);
		start(d, widths[w]);
		put_block4(d, 1, id, 15);
		put(&d->sections[BLKS], 0xf0);
		put_block4(d, 7, 0, 0);
		put(&d->sections[BLKS], 0xf3);
		put(&d->sections[BLKS], 0xf2);
		put_block5(d, 127, id, 255);
		put_block5(d, 2, id >> 1, 247);
		put(&d->sections[BLKS], 0xf1);
		put_block8(d, 70000, id, 254);
		put_block8(d, 1, (1u << 22) - 1, 253);
		put_chunks(d, 6, true, 1);
		put_chunk(d, HEAP, 2 + 8 + 128 + 3 + 70001 + 2);
		put_no_roots(d, HEAP + 8);
		put_info(d, 2, 0, 0);
		struct snap *snap = open_dump();
		assert_int_equal(walk_all(snap), 6);
		check_block(0, HEAP, 1, 15, id);
		check_block(1, HEAP + 16, 7, 0, 0);
		check_block(2, HEAP + 80, 127, 255, id);
		check_block(3, HEAP + 80 + 1024, 2, 247, id >> 1);
		check_block(4, HEAP + 104 + 1024, 70000, 254, id);
		check_block(5, HEAP + 104 + 1024 + 560008, 1, 253, (1u << 22) - 1);
		assert_int_equal(snap->word_count, 2 + 8 + 128 + 3 + 70001 + 2);
		assert_int_equal(snap->field_count, 10);
		assert_int_equal(snap->accounts.free, 0);
		assert_int_equal(snap->reserved, 22);
		snap_release(snap);
	}
}

/* A size that needs all 32 bits, in a chunk of 32 GiB of which nothing is stored. */
static void longest_block(void **state)
{
	(void)state;
	struct dump *d = &world.dump;
	start(d, 0);
	put_block8(d, UINT32_MAX, 5, 252);
	memcpy(d->sections[STRS].data + d->sections[STRS].count, "12345678", 8);
	d->sections[STRS].count += 8;
	put_chunks(d, 1, true, 1);
	put_chunk(d, HEAP, (uint64_t)1 << 32);
	put_no_roots(d, HEAP + 8);
	put_info(d, 0, 0, 0);
	struct snap *snap = open_dump();
	assert_int_equal(walk_all(snap), 1);
	check_block(0, HEAP, UINT32_MAX, 252, 5);
	assert_int_equal(snap_rank_blocks(snap, &world.error), HG_OK);
	assert_int_equal(snap_resolve_node(snap, HEAP + 8), 0);
	snap_release(snap);
}

static void every_offset_length(void **state)
{
	(void)state;
	struct dump *d = &world.dump;
	int64_t offsets[3 * FORMS];
	start(d, 3);
	put_block5(d, 3 * FORMS, 1, 0);
	for (unsigned i = 0; i < FORMS; i++) {
		/* The longest forms reach beyond all addresses. */
		int64_t most = (int64_t)1 << (forms[i].bits < 43 ? forms[i].bits - 1 : 43);
		offsets[3 * i] = most - 1;
		offsets[3 * i + 1] = -most;
		offsets[3 * i + 2] = -1;
		for (unsigned j = 3 * i; j < 3 * i + 3; j++)
			put_offset(d, i, offsets[j]);
	}
	put_chunks(d, 1, true, 1);
	put_chunk(d, HEAP, 3 * FORMS + 1);
	put_no_roots(d, HEAP + 8);
	put_info(d, 0, 0, 0);
	struct snap *snap = open_dump();
	assert_int_equal(walk_all(snap), 1);
	for (unsigned i = 0; i < 3 * FORMS; i++)
		assert_int_equal(seen[0].fields[i], HEAP + 8 + (uint64_t)offsets[i] * 8);
	snap_release(snap);
}

static void every_kind_of_field(void **state)
{
	(void)state;
	static const uint8_t codes[] = {0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7};
	struct dump *d = &world.dump;
	start(d, 3);
	put_block5(d, 16, 1, 0);
	put_bytes(&d->sections[BLKS], codes, sizeof(codes));
	put_offset(d, 0, 0);  /* to the block itself */
	put_offset(d, 0, 17); /* to the next block */
	put_block4(d, 1, 1, 0);
	put_offset(d, 1, 1); /* to the free block, which is none */
	put_free(d, 0);
	put_chunks(d, 2, true, 1);
	put_chunk(d, HEAP, 20);
	put_no_roots(d, HEAP + 8);
	put_info(d, 0, 0, 0);
	struct snap *snap = open_dump();
	assert_false(snap->integers_recorded);
	assert_int_equal(walk_all(snap), 2);
	static const enum snap_outcome outcomes[] = {
		SNAP_OUTSIDE, SNAP_OUTSIDE, SNAP_CODE, SNAP_CODE, SNAP_BLOCK, SNAP_BLOCK};
	struct snap_header_address header;
	assert_int_equal(snap_rank_blocks(snap, &world.error), HG_OK);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(seen[0].fields[i], 1);
	for (unsigned i = 10; i < 16; i++) {
		assert_int_equal(seen[0].fields[i] % 8, 0);
		assert_int_equal(snap_resolve(snap, seen[0].fields[i], &header), outcomes[i - 10]);
	}
	assert_int_equal(seen[0].fields[12], snap->codes[0].start);
	assert_int_equal(seen[0].fields[13], snap->codes[1].start);
	assert_int_equal(snap_resolve_node(snap, seen[0].fields[14]), 0);
	assert_int_equal(snap_resolve_node(snap, seen[0].fields[15]), 1);
	assert_int_equal(snap_resolve(snap, seen[1].fields[0], &header), SNAP_DANGLING);
	snap_release(snap);
}

/* Free memory before, between and behind blocks, over several index entries and chunks. */
static void free_memory(void **state)
{
	(void)state;
	enum { BLOCKS = 500 };
	static uint64_t addresses[BLOCKS];
	struct dump *d = &world.dump;
	uint64_t words = 0, free_words = 0, first = 0;
	start(d, 3);
	put_chunks(d, BLOCKS, true, 2);
	for (unsigned i = 0; i < BLOCKS; i++) {
		uint64_t size = i % 5 == 0 ? 126 : i % 7 == 0 ? 127 : 0;
		if (i == BLOCKS / 2) {
			put_free(d, 3);
			words += 4;
			free_words += 4;
			/* The chunk of the first half lies above that of the second. */
			put_chunk(d, HEAP + (1 << 24), words);
			first = words;
			words = 0;
		}
		if (i % 5 == 0 || i % 7 == 0 || i % 11 == 0) {
			put_free(d, size);
			free_words += size + 1;
			words += size + 1;
		}
		addresses[i] = (i < BLOCKS / 2 ? HEAP + (1 << 24) : HEAP) + 8 * words;
		put_block4(d, 2, i % 8, i % 16);
		put(&d->sections[BLKS], 0xf1);
		words += 3;
	}
	put_chunk(d, HEAP, words);
	put_no_roots(d, HEAP + (1 << 24) + 8);
	put_info(d, 0, 0, 0);
	struct snap *snap = open_dump();
	assert_int_equal(snap->accounts.free, free_words * 8);
	assert_int_equal(snap->word_count * 8 + snap->accounts.free, (first + words) * 8);
	assert_int_equal(walk_all(snap), BLOCKS);
	for (unsigned i = 0; i < BLOCKS; i++) {
		unsigned k = (i + BLOCKS / 2) % BLOCKS;
		check_block(i, addresses[k], 2, k % 16, k % 8);
	}
	struct snap_walk walk;
	struct snap_cell cell;
	assert_int_equal(snap_walk_init(&walk, snap, &world.error), HG_OK);
	for (unsigned i = 0; i < BLOCKS; i += 17) {
		assert_true(snap_block(&walk, (struct snap_rank){i}, &cell));
		assert_int_equal(cell.address.a, addresses[(i + BLOCKS / 2) % BLOCKS]);
	}
	snap_walk_release(&walk);
	assert_int_equal(snap_rank_blocks(snap, &world.error), HG_OK);
	snap_release(snap);
}

/* Sixteen blocks of two words for the roots to hold; block i is at BLOCK(i). */
#define BLOCK(i) (HEAP + 24 * (uint64_t)(i) + 8)

static struct dump *start_rooted(unsigned native)
{
	struct dump *d = &world.dump;
	start(d, 3);
	d->native = native;
	for (unsigned i = 0; i < 16; i++) {
		put_block4(d, 2, 1, 0);
		put(&d->sections[BLKS], 0xf1);
	}
	put_chunks(d, 16, true, 1);
	put_chunk(d, HEAP, 48);
	put_info(d, 2, 48, 16);
	return d;
}

static void put_frame(struct bytes *b, uint64_t sp, uint64_t size, const char *file, uint64_t line)
{
	put(b, 1);
	put_word(b, sp);
	put_uint(b, size);
	put(b, file != NULL);
	if (!file)
		return;
	put_text(b, file);
	put_uint(b, line);
	put_uint(b, 4);
	put_uint(b, 300);
}

/* Every group of roots of a native dump, frames, threads, names. */
static void put_native_roots(struct dump *d)
{
	struct bytes *b = &d->sections[ROOT];
	put_word(b, 2); /* a module with one field in the heap */
	put_word(b, 1);
	put_word(b, BLOCK(0));
	put_word(b, 0);
	put_word(b, 1);
	put_word(b, 0x400010);
	put_word(b, BLOCK(1)); /* dynamic globals */
	put_word(b, 0x400010);
	put_slot(b, 0x5008, BLOCK(2)); /* stack: in a frame, in one without place, in none */
	put_slot(b, 0x5048, BLOCK(3));
	put_slot(b, 0x9000, BLOCK(4));
	put_slot(b, 0x601000, BLOCK(5)); /* C */
	put_slot(b, 0x600ff0, BLOCK(6));
	put_word(b, BLOCK(7)); /* finalised */
	put_word(b, BLOCK(8));
	put_slot(b, 0x700000, BLOCK(9)); /* hook: one of nobody, two threads of two */
	put_slot(b, 0x800000, BLOCK(10));
	put_slot(b, 0x800118, BLOCK(11));
	put_slot(b, 0x900018, BLOCK(12));
	put_slot(b, 0x900020, BLOCK(13));
	put_frame(b, 0x5020, 0x20, "src/main.ml", 700);
	put_frame(b, 0x5000, 0x20, "src/list.ml", 12);
	put_frame(b, 0x5040, 0x10, NULL, 0);
	put(b, 2);
	put_uint(b, 8); /* thread 7 */
	put_uint(b, 3);
	put_uint(b, 5);
	put(b, 0); /* a stack that grows upwards */
	put_frame(b, 0x900020, 0x10, "t.ml", 1);
	put(b, 2);
	put_uint(b, 1); /* thread 0 */
	put_uint(b, 1);
	put_uint(b, 3);
	put_frame(b, 0x800100, 0x20, "t.ml", 2);
	put(b, 2);
	put_uint(b, 0);
	put_uint(b, 1 + 10);
	put_bytes(b, "Unix.error", 10);
	put_word(b, 0x600ff0);
	put_uint(b, 1 + 7); /* one that is not in the heap */
	put_bytes(b, "nowhere", 7);
	put_word(b, 0x123456);
	put_uint(b, 0);
	static const uint64_t counts[] = {3, 2, 3, 2, 2, 5};
	for (unsigned i = 0; i < 6; i++)
		put_word(b, counts[i]);
	b = &d->sections[FINA];
	put_word(b, BLOCK(7)); /* function and value; a value alone; what ROOT has too */
	put_word(b, BLOCK(14));
	put_word(b, BLOCK(15));
	put_word(b, BLOCK(8));
	b = &d->sections[WEAK];
	b->count = 0;
	put_word(b, BLOCK(3));
	put_uint(b, 4);
	put_uint(b, 2);
	put_word(b, BLOCK(4));
	put_word(b, BLOCK(5));
	put_word(b, 0);
}

static void native_roots(void **state)
{
	(void)state;
	static const struct snap_root expected[] = {
		{BLOCK(0), "module[0].field", 1, HG_ROOT_GLOBAL, false},
		{BLOCK(1), "dynamic_global", 0, HG_ROOT_GLOBAL, false},
		{BLOCK(2), "src/list.ml:12:4-300", 1, HG_ROOT_STACK, false},
		{BLOCK(3), "entry", 1, HG_ROOT_STACK, false},
		{BLOCK(4), "entry", 2, HG_ROOT_STACK, false},
		{BLOCK(5), "slot", 0, HG_ROOT_C_GLOBAL, false},
		{BLOCK(6), "Unix.error", HG_UNKNOWN, HG_ROOT_NAMED_VALUE, false},
		{BLOCK(7), "function", 0, HG_ROOT_FINALISER, false},
		{BLOCK(8), "function", 1, HG_ROOT_FINALISER, false},
		{BLOCK(9), "hook", 0, HG_ROOT_OTHER, false},
		{BLOCK(10), "thread 0", 0, HG_ROOT_STACK, false},
		{BLOCK(11), "t.ml:2:4-300", 3, HG_ROOT_STACK, false},
		{BLOCK(12), "t.ml:1:4-300", 0, HG_ROOT_STACK, false},
		{BLOCK(13), "t.ml:1:4-300", 1, HG_ROOT_STACK, false},
		{BLOCK(14), "value", 0, HG_ROOT_FINALISER, false},
		{BLOCK(15), "value", 1, HG_ROOT_FINALISER, false},
	};
	put_native_roots(start_rooted(1));
	struct snap *snap = open_dump();
	assert_true(snap->native);
	assert_int_equal(snap->root_count, sizeof(expected) / sizeof(*expected));
	for (uint64_t i = 0; i < snap->root_count; i++) {
		assert_int_equal(snap->roots[i].value, expected[i].value);
		assert_string_equal(snap->roots[i].name, expected[i].name);
		assert_int_equal(snap->roots[i].index, expected[i].index);
		assert_int_equal(snap->roots[i].kind, expected[i].kind);
	}
	assert_int_equal(snap->live_words, 48);
	assert_int_equal(snap->live_blocks, 16);
	assert_int_equal(snap->accounts.free, 0);
	snap_release(snap);
}

/* Where names and numbers come from. */
static void what_the_file_says(void **state)
{
	(void)state;
	static const char *const kinds[] = {"after_major_collection", "signal", "user", "record"};
	put_no_roots(start_rooted(0), 1);
	struct snap *snap = open_dump();
	assert_string_equal(snap->trigger, "mine");
	assert_int_equal(snap->pid, 4711);
	assert_int_equal(snap->index, 12);
	assert_int_equal(snap->root_count, 0);
	snap_release(snap);
	world.dump.version = 0;
	snap = open_dump();
	assert_string_equal(snap->trigger, "from.name");
	snap_release(snap);
	world.dump.version = 1;
	world.dump.name = "";
	for (unsigned i = 0; i < 4; i++) {
		world.dump.sections[INFO].count = 0;
		put_info(&world.dump, i, 0, 0);
		snap = open_dump();
		assert_string_equal(snap->trigger, kinds[i]);
		snap_release(snap);
	}
}

/* Without the graph, blocks have neither fields nor strings. */
static void no_graph(void **state)
{
	(void)state;
	struct dump *d = &world.dump;
	start(d, 3);
	put_block4(d, 2, 1, 0);
	put_block5(d, 1, 2, 252);
	put_free(d, 200);
	put_block8(d, 100000, 3, 247);
	put_chunks(d, 3, false, 1);
	put_chunk(d, HEAP, 3 + 2 + 201 + 100001);
	put_no_roots(d, HEAP + 8);
	put_info(d, 1, 0, 0);
	struct snap *snap = open_dump();
	assert_true(snap->no_fields);
	assert_int_equal(walk_all(snap), 3);
	check_block(0, HEAP, 2, 0, 1);
	check_block(1, HEAP + 24, 1, 252, 2);
	check_block(2, HEAP + 40 + 1608, 100000, 247, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(seen[i].cell.field_count, 0);
	assert_int_equal(snap->field_count, 0);
	assert_int_equal(snap->word_count, 3 + 2 + 100001);
	assert_int_equal(snap_rank_blocks(snap, &world.error), HG_OK);
	assert_int_equal(snap_resolve_node(snap, HEAP + 40 + 1608 + 8), 2);
	const uint8_t *bytes;
	bool cut;
	assert_int_equal(snap->format->content(snap, (struct snap_rank){1}, 100, &bytes, &cut), 0);
	snap_release(snap);
}

static void check_content(
	const struct snap *snap, uint32_t rank, uint64_t most, const char *text, bool cut)
{
	const uint8_t *bytes;
	bool said_cut;
	assert_int_equal(
		snap->format->content(snap, (struct snap_rank){rank}, most, &bytes, &said_cut),
		strlen(text));
	assert_memory_equal(bytes, text, strlen(text));
	assert_int_equal(said_cut, cut);
}

static void strings(void **state)
{
	(void)state;
	struct dump *d = &world.dump;
	start(d, 3);
	put_chunks(d, 4, true, 2);
	put_chunk(d, HEAP + 4096, 2 + 2);
	put_block5(d, 1, 1, 252);
	put_block5(d, 1, 1, 253);
	put_chunk(d, HEAP, 6 + 2);
	put_block5(d, 5, 1, 252);
	put_block5(d, 1, 1, 252);
	put_bytes(&d->sections[STRS], "hello\0\0\0longtext\0\0\0\0\0\0\0\0", 24);
	put_no_roots(d, HEAP + 8);
	put_info(d, 1, 0, 0);
	struct snap *snap = open_dump();
	assert_int_equal(snap_rank_blocks(snap, &world.error), HG_OK);
	check_content(snap, 0, 100, "longtext", true);
	check_content(snap, 0, 3, "lon", true);
	check_content(snap, 2, 100, "hello", false);
	check_content(snap, 2, 2, "he", true);
	const uint8_t *bytes;
	bool cut = true;
	assert_int_equal(
		snap->format->content(snap, (struct snap_rank){1}, 8, &bytes, &cut), 0); /* empty */
	assert_false(cut);
	assert_int_equal(snap->format->content(snap, (struct snap_rank){3}, 8, &bytes, &cut),
		0); /* no string */
	snap_release(snap);
	world.dump.sections[STRS].count -= 8;
	expect_refused("2 strings where 3 should be");
}

/* Spoils one thing of a good dump. */
static void patch_word(struct bytes *b, size_t offset, uint64_t word)
{
	struct bytes patch = {.count = 0};
	put_word(&patch, word);
	assert_true(offset + 8 <= b->count);
	memcpy(b->data + offset, patch.data, 8);
}

static void damaged_headers(void **state)
{
	(void)state;
	static const struct {
		size_t offset;
		uint8_t value;
		const char *message;
	} cases[] = {
		{0, 'X', "does not begin with"},
		{12, 32, "words of 32 bits"},
		{13, 23, "location ids of 23 bits"},
		{14, 2, "bytecode"},
		{15, 2, "version 2"},
		{16, 0xff, "bytes of the name of the dump"},
		{16, 0x85, "the first section at"},
	};
	put_no_roots(start_rooted(0), BLOCK(0));
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		world.dump.name = "mine";
		assemble(&world.dump, &world.file);
		world.file.data[cases[i].offset] = cases[i].value;
		/* A length of more than the file holds. */
		if (cases[i].value == 0xff)
			memcpy(world.file.data + 16, "\x7f\x7f\x7f\x7f\x81", 5);
		assert_int_equal(open_bytes(&world.file), HG_ERROR_INPUT);
		assert_non_null(strstr(world.error.message, cases[i].message));
	}
}

/* The word of a section's offset in the footer, from the end of the file. */
static void spoil_footer(unsigned section, int64_t by, const char *message)
{
	assemble(&world.dump, &world.file);
	size_t at = world.file.count - 8 - (size_t)12 * (SECTIONS - section) + 4;
	uint64_t old = base_load_u64le(world.file.data + at);
	patch_word(&world.file, at, old + (uint64_t)by);
	assert_int_equal(open_bytes(&world.file), HG_ERROR_INPUT);
	assert_non_null(strstr(world.error.message, message));
}

static void damaged_footers(void **state)
{
	(void)state;
	put_no_roots(start_rooted(0), BLOCK(0));
	spoil_footer(BLKS, 1, "the first section at");
	spoil_footer(BLKS, -1, "the first section at");
	spoil_footer(INFO, 1 << 20, "a section that begins at");
	spoil_footer(INFO, INT64_MIN, "a section that begins at");
	spoil_footer(CHKS, 1000, "a section that begins at");
	spoil_footer(STRS, -200, "a section that begins at");
	spoil_footer(ROOT, 1, "1 bytes more at the end of CHKS");
	static const uint64_t counts[] = {0, 17, 1 << 20, UINT64_MAX, (uint64_t)1 << 61};
	for (unsigned i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		assemble(&world.dump, &world.file);
		patch_word(&world.file, world.file.count - 8, counts[i]);
		assert_int_equal(open_bytes(&world.file), HG_ERROR_INPUT);
		assert_non_null(strstr(world.error.message, "cut short"));
	}
	assemble(&world.dump, &world.file);
	memcpy(world.file.data + world.file.count - 8 - 12, "XXXX", 4);
	assert_int_equal(open_bytes(&world.file), HG_ERROR_INPUT);
	assert_non_null(strstr(world.error.message, "no section INFO"));
	memcpy(world.file.data + world.file.count - 8 - 12, "FINA", 4);
	assert_int_equal(open_bytes(&world.file), HG_ERROR_INPUT);
	assert_non_null(strstr(world.error.message, "a second section FINA"));
}

/* One bad chunk, or a good chunk with bad contents. */
static void refused_blocks(uint64_t address, uint64_t words, uint64_t blocks,
	void (*fill)(struct dump *d), const char *message)
{
	struct dump *d = &world.dump;
	start(d, 3);
	fill(d);
	put_chunks(d, blocks, true, 1);
	put_chunk(d, address, words);
	put_no_roots(d, 1);
	put_info(d, 0, 0, 0);
	expect_refused(message);
}

static void fill_pair(struct dump *d)
{
	put_block4(d, 2, 1, 0);
	put(&d->sections[BLKS], 0xf1);
}

static void fill_empty_block(struct dump *d)
{
	put_block4(d, 0, 1, 0);
}

static void fill_long_integers(struct dump *d)
{
	put_block4(d, 2, 1, 0);
	put(&d->sections[BLKS], 0xf2);
}

static void fill_pointer_up(struct dump *d)
{
	put_block4(d, 1, 1, 0);
	put_offset(d, FORMS - 1, (int64_t)1 << 45);
}

static void fill_pointer_down(struct dump *d)
{
	put_block4(d, 1, 1, 0);
	put_offset(d, FORMS - 1, -(int64_t)(HEAP / 8));
}

static void fill_pointer_around(struct dump *d)
{
	put_block4(d, 1, 1, 0);
	put_offset(d, FORMS - 1, INT64_MIN + 1);
}

static void fill_free(struct dump *d)
{
	put_free(d, UINT64_MAX);
}

static void fill_cut_field(struct dump *d)
{
	put_block4(d, 2, 1, 0);
	put(&d->sections[BLKS], 0xf0);
	put_be(&d->sections[BLKS], 0xff00, 2);
}

static void damaged_blocks(void **state)
{
	(void)state;
	refused_blocks(HEAP, 2, 1, fill_pair, "a block of 2 words at");
	refused_blocks(HEAP, 4, 1, fill_pair, "the section ends");
	refused_blocks(HEAP, 0, 1, fill_pair, "5 bytes more at the end of BLKS");
	refused_blocks(HEAP, 3, 2, fill_pair, "1 blocks, but CHKS says 2");
	refused_blocks(HEAP, 3, UINT64_MAX, fill_pair, "1 blocks, but CHKS says");
	refused_blocks(HEAP + 4, 3, 1, fill_pair, "no range of words");
	refused_blocks(0xff8, 3, 1, fill_pair, "a chunk of 24 bytes");
	refused_blocks((uint64_t)1 << 48, 3, 1, fill_pair, "no range of words");
	refused_blocks(UINT64_MAX - 7, 3, 1, fill_pair, "no range of words");
	refused_blocks(HEAP, (uint64_t)1 << 60, 1, fill_pair, "a chunk of");
	refused_blocks(HEAP, 1, 1, fill_empty_block, "a block of 0 words");
	refused_blocks(HEAP, 3, 1, fill_long_integers, "more fields than the block");
	refused_blocks(HEAP, 2, 1, fill_pointer_up, "a pointer from the block");
	refused_blocks(HEAP, 2, 1, fill_pointer_down, "a pointer from the block");
	refused_blocks(HEAP, 2, 1, fill_pointer_around, "a pointer from the block");
	refused_blocks(HEAP, 100, 0, fill_free, "free memory of");
	refused_blocks(HEAP, 3, 1, fill_cut_field, "in the middle of a field");
}

static void damaged_chunks(void **state)
{
	(void)state;
	struct dump *d = &world.dump;
	put_no_roots(start_rooted(0), BLOCK(0));
	patch_word(&d->sections[CHKS], 9, 2);
	expect_refused("2 chunks, more than");
	patch_word(&d->sections[CHKS], 9, UINT64_MAX / 16 + 2);
	expect_refused("chunks, more than");
	patch_word(&d->sections[CHKS], 9, 0);
	expect_refused("16 bytes more at the end of CHKS");
	patch_word(&d->sections[CHKS], 9, 1);
	d->sections[CHKS].data[8] = 2;
	expect_refused("with the graph");
	d->sections[CHKS].count = 0;
	put_chunks(d, 16, true, 2);
	put_chunk(d, HEAP, 24);
	put_chunk(d, HEAP + 8 * 23, 24);
	expect_refused("overlaps");
}

/* ROOT of the native dump with one byte or word changed. */
static void refused_root(size_t offset, uint64_t word, const char *message)
{
	struct dump *d = start_rooted(1);
	put_native_roots(d);
	patch_word(&d->sections[ROOT], offset, word);
	expect_refused(message);
}

static void damaged_roots(void **state)
{
	(void)state;
	struct dump *d = start_rooted(1);
	put_native_roots(d);
	size_t counts = d->sections[ROOT].count - 48;
	for (unsigned i = 0; i < 6; i++) {
		refused_root(counts + 8 * i, UINT64_MAX, "more than the section holds");
		refused_root(counts + 8 * i, 0, "");
		refused_root(counts + 8 * i, 6, "");
	}
	refused_root(0, (uint64_t)1 << 61, "a module of");
	refused_root(9 * 8, 8, "outside of every chunk");
	refused_root(9 * 8, BLOCK(0) | 1, "outside of every chunk");
	d = start_rooted(0);
	put_no_roots(d, BLOCK(0));
	d->sections[ROOT].data[8] = 3;
	expect_refused("an unknown code 0x03 in a stack");
	d = start_rooted(0);
	put_no_roots(d, BLOCK(0));
	d->sections[ROOT].count = 40;
	expect_refused("in the middle of the numbers of roots");
}

static void damaged_threads(void **state)
{
	(void)state;
	static const uint64_t ranges[][2] = {{0, 1}, {1, 0}, {5, 5}, {0, UINT64_MAX}};
	for (unsigned i = 0; i < 4; i++) {
		struct dump *d = start_rooted(0);
		struct bytes *b = &d->sections[ROOT];
		put_word(b, BLOCK(0));
		put(b, 2);
		put_uint(b, 3);
		put_uint(b, ranges[i][0]);
		put_uint(b, ranges[i][1]);
		put(b, 2);
		put_uint(b, 0);
		put_uint(b, 0);
		for (unsigned j = 0; j < 6; j++)
			put_word(b, 0);
		expect_refused("a thread with roots");
	}
}

static void damaged_rest(void **state)
{
	(void)state;
	struct dump *d = start_rooted(1);
	put_native_roots(d);
	patch_word(&d->sections[WEAK], 0, 16);
	expect_refused("a weak array, 0x10, outside");
	patch_word(&d->sections[WEAK], 0, BLOCK(0));
	patch_word(&d->sections[WEAK], 10, 16);
	expect_refused("a weak pointer");
	d->sections[WEAK].data[9] = 0x85;
	expect_refused("a weak array of 4 words with 5 pointers");
	d->sections[WEAK].count = 0;
	put_word(&d->sections[WEAK], 0);
	patch_word(&d->sections[FINA], 5, 16);
	expect_refused("outside of every chunk");
	d->sections[FINA].count = 9;
	expect_refused("in the middle of a finalised value");
	d->sections[FINA].count = 4;
	expect_refused("in the middle of its numbers");
	memset(d->sections[FINA].data, 0x7f, 15);
	d->sections[FINA].count = 15;
	expect_refused("more than 64 bits");
	d->sections[FINA].count = 0;
	for (unsigned i = 0; i < 5; i++)
		put_uint(&d->sections[FINA], UINT64_MAX);
	d->sections[INFO].data[20] = 0x40;
	expect_refused("");
	d->sections[INFO].count = 0;
	put_info(d, 0, 1, 1);
	put(&d->sections[INFO], 0);
	expect_refused("1 bytes more at the end of INFO");
	d->sections[INFO].count = 0;
	put_info(d, 0, UINT32_MAX, 1); /* -1 */
	expect_refused("INFO does not hold");
	patch_word(&d->sections[STRS], 0, 16);
	expect_refused("bytes of strings");
}

static void cut_anywhere(void **state)
{
	(void)state;
	put_native_roots(start_rooted(1));
	assemble(&world.dump, &world.file);
	size_t whole = world.file.count;
	for (size_t size = 0; size < whole; size++) {
		write_file(world.path, world.file.data, size);
		assert_int_equal(open_path(world.path, size % 2), HG_ERROR_INPUT);
		assert_true(world.error.offset <= size);
	}
	assert_non_null(strstr(world.error.message, "cut short"));
}

/* Everything that can be asked of a snapshot that opened. */
static void use(struct snap *snap)
{
	struct snap_header_address header;
	uint64_t fields = 0;
	const uint8_t *bytes;
	bool cut;
	if (snap_rank_blocks(snap, &world.error) != HG_OK)
		return;
	walk_all(snap);
	for (uint32_t i = 0; i < snap->block_count; i++) {
		fields += seen[i].cell.field_count;
		for (uint64_t j = 0; j < seen[i].cell.field_count && j < 64; j++)
			snap_resolve(snap, seen[i].fields[j], &header);
		size_t size = snap->format->content(snap, (struct snap_rank){i}, 8, &bytes, &cut);
		for (size_t j = 0; j < size; j++)
			fields += bytes[j] == 0;
	}
	for (uint64_t i = 0; i < snap->root_count; i++)
		fields += strlen(snap->roots[i].name);
	assert_true(fields < UINT64_MAX);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* One to four bytes changed: the file opens or is refused, nothing else. */
static void flipped_bytes(void **state)
{
	(void)state;
	static uint8_t good[sizeof(world.file.data)];
	uint64_t seed = 2014;
	unsigned opened = 0;
	struct dump *d = start_rooted(1);
	put_native_roots(d);
	put_block5(d, 1, 1, 252);
	put_block5(d, 9, 1, 0);
	put_offset(d, 3, 500);
	put_bytes(&d->sections[BLKS], "\xf4\xf5\xf6\xf7\xf3", 5);
	put_free(d, 130);
	put_bytes(&d->sections[STRS], "a string", 8);
	d->sections[CHKS].count = 0;
	put_chunks(d, 18, true, 1);
	put_chunk(d, HEAP, 48 + 2 + 10 + 131);
	snap_release(open_dump());
	size_t size = world.file.count;
	memcpy(good, world.file.data, size);
	for (unsigned i = 0; i < FLIPS; i++) {
		memcpy(world.file.data, good, size);
		for (uint64_t n = 1 + next_random(&seed) % 4; n; n--)
			world.file.data[next_random(&seed) % size] = (uint8_t)next_random(&seed);
		enum hg_status status = open_bytes(&world.file);
		if (status == HG_OK) {
			opened++;
			use(&world.snap);
			snap_release(&world.snap);
		} else if (status != HG_ERROR_INPUT && status != HG_ERROR_LIMIT) {
			fail_msg("status %d: %s", status, world.error.message);
		}
	}
	assert_true(opened < FLIPS);
}

/* Facts of a real dump: lines of words between tabs. */
static char facts[1 << 16];

static void read_facts(const char *path)
{
	FILE *stream = fopen(path, "r");
	assert_non_null(stream);
	facts[0] = '\n';
	facts[1 + fread(facts + 1, 1, sizeof(facts) - 2, stream)] = '\0';
	fclose(stream);
}

/* The text behind "\nkey\t". */
static const char *find_fact(const char *key)
{
	char line[64];
	snprintf(line, sizeof(line), "\n%s\t", key);
	const char *found = strstr(facts, line);
	return found ? found + strlen(line) : NULL;
}

static uint64_t fact(const char *key)
{
	const char *found = find_fact(key);
	return found ? strtoull(found, NULL, 10) : 0;
}

/* What one walk over a dump counts. */
struct counts {
	uint64_t tags[256];
	uint64_t sites[8][256], site_words[8][256]; /* by id and tag */
	uint64_t integers, pointers, code, restart, others;
};

static void count_block(const struct snap *snap, const struct snap_cell *cell, struct counts *n)
{
	uint32_t id = snap_header_reserved(cell->header, snap->reserved);
	struct snap_header_address header;
	assert_true(id < 8);
	n->tags[cell->tag]++;
	n->sites[id][cell->tag]++;
	n->site_words[id][cell->tag] += cell->wosize + 1;
	for (uint64_t i = 0; i < cell->field_count; i++) {
		uint64_t value = cell->fields[i];
		if (value == 1)
			n->integers++;
		else if (value == snap->codes[0].start)
			n->code++;
		else if (value == snap->codes[1].start)
			n->restart++;
		else if (value < 0x1000)
			n->others++;
		else
			n->pointers += snap_resolve(snap, value, &header) == SNAP_BLOCK;
	}
}

static void count_all(const struct snap *snap, struct counts *n)
{
	struct snap_walk walk;
	struct snap_run run;
	memset(n, 0, sizeof(*n));
	assert_int_equal(snap_walk_init(&walk, snap, &world.error), HG_OK);
	snap_walk_range(&walk, 0, snap->entry_count);
	while (snap_walk_next(&walk, &run)) {
		struct snap_scan scan = snap_scan_run(snap, &run);
		struct snap_cell cell;
		while (snap_scan_next(&scan, &cell))
			count_block(snap, &cell, n);
	}
	snap_walk_release(&walk);
}

static void check_sites(const struct counts *n)
{
	unsigned lines = 0, sites = 0;
	const char *line = facts;
	while ((line = strstr(line, "\nsite\t"))) {
		unsigned long long blocks, words;
		unsigned id, tag;
		line += 6;
		assert_int_equal(
			sscanf(line, "%llu %llu %u %*s %u", &blocks, &words, &id, &tag), 4);
		assert_true(id < 8 && tag < 256);
		assert_int_equal(n->sites[id][tag], blocks);
		assert_int_equal(n->site_words[id][tag], words);
		lines++;
	}
	for (unsigned id = 0; id < 8; id++)
		for (unsigned tag = 0; tag < 256; tag++)
			sites += n->sites[id][tag] != 0;
	assert_int_equal(sites, lines);
}

static void check_roots(const struct snap *snap)
{
	struct snap_header_address header;
	uint64_t kinds[HG_ROOT_KINDS] = {0}, names = 0;
	for (uint64_t i = 0; i < snap->root_count; i++) {
		kinds[snap->roots[i].kind]++;
		assert_int_equal(snap_resolve(snap, snap->roots[i].value, &header), SNAP_BLOCK);
	}
	for (const char *at = facts; (at = strstr(at, "\nnamed_value\t")); at++)
		names++;
	assert_int_equal(kinds[HG_ROOT_GLOBAL], 1);
	assert_int_equal(kinds[HG_ROOT_STACK], fact("roots\tstack"));
	assert_int_equal(kinds[HG_ROOT_NAMED_VALUE], names);
	assert_int_equal(kinds[HG_ROOT_C_GLOBAL] + names, fact("roots\tc"));
	/* FINA has functions and values: 5 small numbers, then words. */
	assert_int_equal(kinds[HG_ROOT_FINALISER], (fact("fina_bytes") - 5) / 8);
	assert_int_equal(kinds[HG_ROOT_FINALISER], 2 * fact("roots\tfinal"));
	assert_int_equal(kinds[HG_ROOT_OTHER], 0);
	for (uint64_t i = 0; i < snap->root_count; i++) {
		const struct snap_root *root = &snap->roots[i];
		char line[64];
		snprintf(line, sizeof(line), "\nnamed_value\t%s\n", root->name);
		assert_true(root->kind != HG_ROOT_NAMED_VALUE || strstr(facts, line));
		/* A finaliser's function is a closure, its value a record. */
		struct snap_walk walk;
		struct snap_cell cell;
		if (root->kind != HG_ROOT_FINALISER)
			continue;
		assert_int_equal(snap_walk_init(&walk, snap, &world.error), HG_OK);
		struct snap_rank rank = {snap_resolve_node(snap, root->value)};
		assert_true(snap_block(&walk, rank, &cell));
		assert_int_equal(
			cell.tag, strcmp(root->name, "function") == 0 ? SNAP_TAG_CLOSURE : 0);
		snap_walk_release(&walk);
	}
}

static void check_totals(const struct snap *snap)
{
	uint64_t chunk_bytes = 0;
	for (uint64_t i = 0; i < snap->chunk_count; i++)
		chunk_bytes += snap->chunks[i].end - snap->chunks[i].start;
	assert_int_equal(snap->chunk_count, fact("chunks"));
	assert_int_equal(chunk_bytes, fact("chunk_bytes"));
	assert_int_equal(snap->block_count, fact("blocks"));
	assert_int_equal(snap->word_count, fact("words"));
	assert_int_equal(snap->live_words, fact("gc_stat\tlive_words"));
	assert_int_equal(snap->live_blocks, fact("gc_stat\tlive_blocks"));
	assert_int_equal(snap->live_words, snap->word_count);
	assert_int_equal(snap->live_blocks, snap->block_count);
	assert_int_equal(snap->accounts.free,
		8 * (fact("gc_stat\tfree_words") + fact("gc_stat\tfragments")));
	assert_int_equal(snap->word_count * 8 + snap->accounts.free, chunk_bytes);
	assert_int_equal(snap->index, fact("info_heap_number"));
	assert_int_equal(snap->pid, 8911);
	assert_false(snap->native);
	assert_string_equal(snap->trigger, "after_major_collection");
}

static void real_dump(unsigned number)
{
	static struct counts n;
	char path[PATH_MAX], key[32];
	snprintf(path, sizeof(path), FIXTURES "/ocp/byte-noloc/expected/indep-%u.txt", number);
	read_facts(path);
	snprintf(path, sizeof(path),
		FIXTURES "/ocp/byte-noloc/memprof.8911.%u.after_major_collection.dump", number);
	if (open_path(path, false) != HG_OK)
		fail_msg("%s", world.error.message);
	struct snap *snap = &world.snap;
	check_totals(snap);
	assert_int_equal(snap_rank_blocks(snap, &world.error), HG_OK);
	count_all(snap, &n);
	for (unsigned tag = 0; tag < 256; tag++) {
		snprintf(key, sizeof(key), "tag\t%u", tag);
		assert_int_equal(n.tags[tag], fact(key));
	}
	assert_int_equal(
		n.integers + n.pointers + n.code + n.restart + n.others, snap->field_count);
	assert_int_equal(n.pointers, fact("field\tptr"));
	assert_int_equal(n.code, fact("field\tfun"));
	assert_int_equal(n.restart, fact("field\trestart"));
	assert_int_equal(n.others, fact("field\tstatic") + fact("field\tnotvalue"));
	assert_int_equal(n.integers, fact("field\tint"));
	check_sites(&n);
	check_roots(snap);
	snap_release(snap);
}

static void real_dumps(void **state)
{
	(void)state;
	real_dump(0);
	real_dump(9);
}

static void check_identity(const void *bytes, size_t count, const char *expected)
{
	char line[256];
	write_file(world.path, bytes, count);
	assert_int_equal(hg_identify(world.session, world.path, line, sizeof(line)), HG_OK);
	assert_string_equal(line, expected);
}

static void identities(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t count;
		const char *expected;
	} cases[] = {
		{"", 0, "empty file"},
		{"OCP-2014D001@", 13, "OCP-2014D001 heap dump"},
		{"\10\5\0\0\0\0\0\0\0cache", 14, "OCamlmemprof 0.2 heap dump"},
		{"OCP-2014C001", 12, "OCP log of heap compactions"},
		{"Caml1999I014", 12, "OCaml compiled interface (.cmi), version 014"},
		{"Caml1999T030", 12, "OCaml typed tree (.cmt), version 030"},
		{"\x1f\x8b\10", 3, "gzip-compressed data"},
		{"hgprof 1\n", 9, "heapgraph type table (hgprof 1)"},
		{"JOB \"Types\"", 11, "heap profile for hp2ps (.hp)"},
		{"{\"snapshot\":{}", 14, "V8 heap snapshot (JSON)"},
		{"\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0\76\0", 20, "ELF core file, 64-bit x86-64"},
		{"\1\2\3", 3, "data of an unknown kind, 3 bytes, beginning with 01 02 03"},
		{"\x28\xb5\x2f\xfd", 4, "zstd-compressed data that does not decompress"},
		/* zstd of "OCP-2014D001@" in one raw block */
		{"\x28\xb5\x2f\xfd\x20\x0d\x69\0\0OCP-2014D001@", 22,
			"zstd-compressed OCP-2014D001 heap dump"},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_identity(cases[i].bytes, cases[i].count, cases[i].expected);
	char line[64];
	assert_int_equal(hg_identify(world.session, "/dev/null", line, sizeof(line)), HG_OK);
	assert_string_equal(line, "character device");
	assert_int_equal(hg_identify(world.session, world.folder, line, 5), HG_OK);
	assert_string_equal(line, "dire");
	assert_int_equal(hg_identify(world.session, "/dev/null/no", line, 64), HG_ERROR_INPUT);
	assert_string_equal(hg_session_error(world.session)->file, "/dev/null/no");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_header_form),
		cmocka_unit_test(longest_block),
		cmocka_unit_test(every_offset_length),
		cmocka_unit_test(every_kind_of_field),
		cmocka_unit_test(free_memory),
		cmocka_unit_test(native_roots),
		cmocka_unit_test(what_the_file_says),
		cmocka_unit_test(no_graph),
		cmocka_unit_test(strings),
		cmocka_unit_test(damaged_headers),
		cmocka_unit_test(damaged_footers),
		cmocka_unit_test(damaged_blocks),
		cmocka_unit_test(damaged_chunks),
		cmocka_unit_test(damaged_roots),
		cmocka_unit_test(damaged_threads),
		cmocka_unit_test(damaged_rest),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(flipped_bytes),
		cmocka_unit_test(real_dumps),
		cmocka_unit_test(identities),
	};
	return cmocka_run_group_tests(tests, open_world, close_world);
}
