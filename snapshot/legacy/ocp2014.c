/*
 * The heap dumper of OCP's memory profiler (2014 to 2017, on compilers up to 4.05):
 * memprof.PID.N[.NAME].dump, with ids from memprof.PID.process_info.
 *
 *     "OCP-2014D001", u8 64 (bits of a word), u8 L (bits of a location id), u8 native, u8 version
 *     version > 0: uint n, n bytes of name
 *     sections BLKS STRS CHKS ROOT WEAK FINA INFO, back to back
 *     footer: { 4 bytes of name, word offset } per section, word number of sections
 *
 * Words are little endian.  A uint has 7 bits per byte, the low ones first, and bit 7 set in its
 * last byte.  Everything is found from the end of the file, so that one cut short is lost.
 *
 * Blocks carry neither addresses nor values of integers: a walk counts addresses up from the start
 * of the chunk and writes words of its own (enum stand_in) where only a kind is recorded.
 *
 * Facts: ocamlpro/lib-heapdump/c_heapprof.c, byterun/finalise.c and byterun/caml/ocp_memprof.h of
 * github.com/lefessan/ocaml; those on native code are read there only, no such dump is known.
 * docs/formats.md tells more.
 */
#include "snapshot/legacy/ocp2014_roots.h"

#include "base/search.h"
#include "snapshot/file_names.h"
#include "snapshot/formats.h"
#include "snapshot/legacy/location_files.h"
#include "snapshot/legacy/location_source.h"
#include "snapshot/marshal/marshal.h"
#include "snapshot/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "OCP-2014D001"

enum {
	MAGIC_BYTES = sizeof(MAGIC) - 1,
	/* Bits of a location id in a block's longest header; shorter ones have L of them. */
	RESERVED = 22,
	NEWEST_VERSION = 1,
	FOOTER_ENTRY_BYTES = 4 + 8,
	MOST_SECTIONS = 16, /* of the writer */
	STRING_BYTES = 8,   /* recorded of each string */
	MOST_STRINGS = 65535
};

/* Words that take the place of fields of which only the kind is recorded. */
enum stand_in {
	STAND_IN_INTEGER = 1,
	STAND_IN_CODE = 0x10,
	STAND_IN_RESTART = 0x20, /* these two are code_start and code_end */
	STAND_IN_STATIC = 0x30,
	STAND_IN_FOREIGN = 0x40 /* even, but no pointer of OCaml's: code of native programs */
};

/* First bytes of a field; all others begin an offset. */
enum {
	FIELD_INTEGER = 0xF0, /* to 0xF3: 1 to 4 integers in a row */
	FIELD_STATIC = 0xF4,
	FIELD_FOREIGN = 0xF5,
	FIELD_CODE = 0xF6,
	FIELD_RESTART = 0xF7
};

/* A string block whose beginning is recorded. */
struct string {
	struct snap_header_address address;
	uint32_t number; /* in the table of STRS */
	bool longer;     /* than what is recorded */
};

/* What walks and questions need after loading. */
struct ocp {
	unsigned id_bits;
	uint64_t strings_offset; /* of the table in the file */
	uint32_t string_count;
	struct string *strings; /* by address */
};

struct entry {
	bool free;
	uint8_t tag;
	uint32_t id;
	uint64_t wosize;
};

/* Stays where it is when the bytes are too few. */
static inline bool read_entry(struct base_cursor *cursor, unsigned id_bits, struct entry *e)
{
	struct base_cursor c = *cursor;
	uint64_t ids = ((uint64_t)1 << id_bits) - 1, bits;
	uint8_t first;
	if (!base_cursor_u8(&c, &first))
		return false;
	if (first & 0x80) {
		*e = (struct entry){.free = true, .wosize = first & 0x7f};
		if (e->wosize == 0x7f && !base_cursor_u64le(&c, &e->wosize))
			return false;
	} else if (first >> 5 == 2) {
		if (!base_cursor_be(&c, 3, &bits))
			return false;
		bits |= (uint64_t)(first & 0x1f) << 24;
		*e = (struct entry){
			false, bits & 15, (uint32_t)(bits >> 4 & ids), bits >> (4 + id_bits)};
	} else if (first >> 5 == 3) {
		if (!base_cursor_be(&c, 4, &bits))
			return false;
		bits |= (uint64_t)(first & 0x1f) << 32;
		*e = (struct entry){
			false, bits & 255, (uint32_t)(bits >> 8 & ids), bits >> (8 + id_bits)};
	} else {
		if (!base_cursor_be(&c, 7, &bits))
			return false;
		bits |= (uint64_t)first << 56;
		*e = (struct entry){false, bits & 255,
			(uint32_t)(bits >> 8) & ((1u << RESERVED) - 1), bits >> (8 + RESERVED)};
	}
	*cursor = c;
	return true;
}

/*
 * An offset: as many leading ones as in the table, then a signed number in the bits left of the
 * first byte and in the bytes that follow.
 */
static inline bool read_offset(struct base_cursor *c, uint8_t first, int64_t *out)
{
	static const uint8_t bytes_behind[] = {0, 1, 2, 3, 0, 4, 5, 6, 8};
	static const uint8_t significant[] = {7, 14, 21, 28, 0, 34, 41, 48, 64};
	unsigned ones = (unsigned)__builtin_clz(~((unsigned)first << 24));
	uint64_t bits;
	if (!base_cursor_be(c, bytes_behind[ones], &bits))
		return false;
	if (ones < 8)
		bits |= (uint64_t)(first & (0x7f >> ones)) << (8 * bytes_behind[ones]);
	unsigned unused = 64 - significant[ones];
	*out = (int64_t)(bits << unused) >> unused;
	return true;
}

/* A pointer by its offset, which counts words from header to header. */
static inline bool read_pointer(
	struct base_cursor *c, uint8_t first, struct snap_header_address address, uint64_t *value)
{
	int64_t offset;
	if (!read_offset(c, first, &offset))
		return false;
	*value = snap_field_address(address, (uint64_t)offset);
	int64_t most = (int64_t)(SNAP_ADDRESS_LIMIT / 8);
	return offset > -most && offset < most &&
	       *value - LOWEST_ADDRESS < SNAP_ADDRESS_LIMIT - LOWEST_ADDRESS;
}

static inline bool is_kind(uint8_t first)
{
	return first >= FIELD_INTEGER && first <= FIELD_RESTART;
}

/*
 * The fields of the block whose header is at 'address', written to 'out' unless that is NULL.  On
 * failure the cursor is at the one that is wrong or cut short.
 */
static inline bool read_ocp_fields(
	struct base_cursor *c, struct snap_header_address address, uint64_t wosize, uint64_t *out)
{
	static const uint64_t words[] = {
		STAND_IN_STATIC, STAND_IN_FOREIGN, STAND_IN_CODE, STAND_IN_RESTART};
	for (uint64_t left = wosize; left;) {
		const uint8_t *start = c->next;
		uint64_t value = STAND_IN_INTEGER, count = 1;
		uint8_t first;
		bool sound = base_cursor_u8(c, &first);
		if (sound && !is_kind(first))
			sound = read_pointer(c, first, address, &value);
		else if (sound && first >= FIELD_STATIC)
			value = words[first - FIELD_STATIC];
		else if (sound)
			count = (uint64_t)(first - FIELD_INTEGER) + 1;
		if (!sound || count > left) {
			c->next = start;
			return false;
		}
		left -= count;
		for (; out && count; count--)
			*out++ = value;
	}
	return true;
}

/* memprof . PID . N [. NAME] . dump; the name may hold dots itself. */
static enum hg_status read_file_name(struct snap *snap, struct hg_error *error)
{
	struct snap_name name = snap_name_split(snap->path);
	if (name.count < 4 || !snap_name_part_is(&name, 0, "memprof"))
		return HG_OK;
	snap_name_part_number(&name, 1, &snap->pid);
	snap_name_part_number(&name, 2, &snap->index);
	if (name.count == 4)
		return HG_OK;
	const char *start = name.parts[3], *end = name.parts[name.count - 1] - 1;
	return base_pool_string(&snap->pool, start, (uint64_t)(end - start), &snap->trigger, error);
}

static enum hg_status load_dump_name(struct snap_ocp_loader *l, struct base_cursor *c)
{
	uint64_t length;
	const uint8_t *bytes;
	BASE_TRY(read_uint(l, c, "the name of the dump", &length));
	BASE_TRY(read_text(l, c, "the name of the dump", length, &bytes));
	return base_pool_string(&l->snap->pool, bytes, length, &l->snap->trigger, l->error);
}

static enum hg_status load_header(struct snap_ocp_loader *l, struct base_cursor *c)
{
	const uint8_t *magic, *p;
	if (!base_cursor_bytes(c, MAGIC_BYTES, &magic) || memcmp(magic, MAGIC, MAGIC_BYTES) != 0)
		return base_corrupt(l->error, 0, "does not begin with %s", MAGIC);
	if (!base_cursor_bytes(c, 4, &p))
		return base_corrupt(l->error, MAGIC_BYTES, "the file ends in its header");
	if (p[0] != 64)
		return base_corrupt(l->error, MAGIC_BYTES,
			"words of %u bits; only dumps of 64-bit programs are read", p[0]);
	if (p[1] > RESERVED)
		return base_corrupt(l->error, MAGIC_BYTES + 1,
			"location ids of %u bits, more than %d", p[1], RESERVED);
	if (p[2] > 1)
		return base_corrupt(l->error, MAGIC_BYTES + 2,
			"%u where 0 (bytecode) or 1 (native) should be", p[2]);
	if (p[3] > NEWEST_VERSION)
		return base_corrupt(l->error, MAGIC_BYTES + 3,
			"version %u of the format; known are 0 and %d", p[3], NEWEST_VERSION);
	l->ocp->id_bits = p[1];
	l->snap->native = p[2] != 0;
	return p[3] > 0 ? load_dump_name(l, c) : HG_OK;
}

static enum hg_status add_section(
	struct snap_ocp_loader *l, const char *name, uint64_t offset, uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < SECTIONS; i++) {
		struct base_cursor *c = &l->sections[i];
		if (memcmp(name, section_names[i], 4) != 0)
			continue;
		if (c->start)
			return base_corrupt(
				l->error, offset, "a second section %s", section_names[i]);
		*c = base_cursor_over(l->snap->file.bytes, (size_t)end);
		base_cursor_seek(c, start);
	}
	return HG_OK; /* sections with other names are not ours */
}

/* Where sections start; names[i] ends at starts[i + 1]. */
struct footer {
	uint64_t count;
	char names[MOST_SECTIONS][4];
	uint64_t starts[MOST_SECTIONS + 1];
	uint64_t offset;
};

/* 'body' is where the header ends. */
static enum hg_status read_footer(const struct snap_ocp_loader *l, uint64_t body, struct footer *f)
{
	uint64_t size = l->snap->file.size;
	struct base_cursor c = base_cursor_over(l->snap->file.bytes, size);
	if (size < body + 8 || !base_cursor_seek(&c, size - 8) ||
		!base_cursor_u64le(&c, &f->count) || f->count == 0 || f->count > MOST_SECTIONS ||
		f->count * FOOTER_ENTRY_BYTES > size - 8 - body)
		return base_corrupt(l->error, size,
			"ends without the table of its sections: it was cut short, and such a dump "
			"cannot be read without its end, not even in part");
	f->offset = size - 8 - f->count * FOOTER_ENTRY_BYTES;
	base_cursor_seek(&c, f->offset);
	for (uint64_t i = 0; i < f->count; i++) {
		const uint8_t *name;
		if (!base_cursor_bytes(&c, 4, &name) || !base_cursor_u64le(&c, &f->starts[i]))
			return ends_inside(l, &c, "the table of sections");
		memcpy(f->names[i], name, 4);
	}
	f->starts[f->count] = f->offset;
	return HG_OK;
}

static enum hg_status check_footer(
	const struct snap_ocp_loader *l, uint64_t body, const struct footer *f)
{
	if (f->starts[0] != body)
		return base_corrupt(l->error, f->offset + 4,
			"the first section at %llu, but the header ends at %llu",
			(unsigned long long)f->starts[0], (unsigned long long)body);
	for (uint64_t i = 0; i < f->count; i++)
		if (f->starts[i] > f->starts[i + 1] || f->starts[i + 1] > f->offset)
			return base_corrupt(l->error, f->offset + i * FOOTER_ENTRY_BYTES,
				"a section that begins at %llu and ends at %llu",
				(unsigned long long)f->starts[i],
				(unsigned long long)f->starts[i + 1]);
	return HG_OK;
}

static enum hg_status load_footer(struct snap_ocp_loader *l, uint64_t body)
{
	struct footer f = {0};
	BASE_TRY(read_footer(l, body, &f));
	BASE_TRY(check_footer(l, body, &f));
	for (uint64_t i = 0; i < f.count; i++)
		BASE_TRY(add_section(l, f.names[i], f.offset + i * FOOTER_ENTRY_BYTES, f.starts[i],
			f.starts[i + 1]));
	for (unsigned i = 0; i < SECTIONS; i++)
		if (!l->sections[i].start)
			return base_corrupt(
				l->error, f.offset, "there is no section %s", section_names[i]);
	return HG_OK;
}

static enum hg_status load_ocp_chunk(struct snap_ocp_loader *l, struct base_cursor *c)
{
	uint64_t offset = base_cursor_offset(c), start, bytes;
	BASE_TRY(read_word(l, c, "a chunk", &start));
	BASE_TRY(read_word(l, c, "a chunk", &bytes));
	if (start < LOWEST_ADDRESS || bytes > SNAP_ADDRESS_LIMIT)
		return base_corrupt(l->error, offset, "a chunk of %llu bytes at 0x%llx",
			(unsigned long long)bytes, (unsigned long long)start);
	return snap_add_chunk(l->snap, start, start + bytes, HG_SEGMENT_HEAP, offset, l->error);
}

static enum hg_status load_chunks(struct snap_ocp_loader *l)
{
	struct base_cursor *c = &l->sections[CHKS];
	uint8_t graph;
	uint64_t count;
	BASE_TRY(read_word(l, c, "the number of blocks", &l->block_count));
	if (!base_cursor_u8(c, &graph))
		return ends_inside(l, c, "its header");
	if (graph > 1)
		return base_corrupt(l->error, base_cursor_offset(c) - 1,
			"%u where 1 (with the graph) or 0 (without) should be", graph);
	l->snap->no_fields = !graph;
	BASE_TRY(read_word(l, c, "the number of chunks", &count));
	if (count > base_cursor_left(c) / 16)
		return base_corrupt(l->error, base_cursor_offset(c) - 8,
			"%llu chunks, more than the section holds", (unsigned long long)count);
	while (count--)
		BASE_TRY(load_ocp_chunk(l, c));
	return expect_end(l, CHKS);
}

/* The size of the table is checked against BLKS when that has been read. */
static enum hg_status prepare_strings(struct snap_ocp_loader *l)
{
	struct base_cursor *c = &l->sections[STRS];
	uint64_t offset = base_cursor_offset(c), bytes;
	BASE_TRY(read_word(l, c, "its header", &bytes));
	uint64_t left = base_cursor_left(c);
	if (bytes != STRING_BYTES || left % STRING_BYTES || left / STRING_BYTES > MOST_STRINGS)
		return base_corrupt(l->error, offset, "%llu bytes of strings, %llu bytes of each",
			(unsigned long long)left, (unsigned long long)bytes);
	l->ocp->strings_offset = base_cursor_offset(c);
	l->ocp->string_count = (uint32_t)(left / STRING_BYTES);
	return base_pool_alloc(&l->snap->pool, l->ocp->string_count, sizeof(struct string),
		(void **)&l->ocp->strings, l->error);
}

/* A string of one word has at most 7 bytes, so that the table holds all of it. */
static void note_string(
	struct snap_ocp_loader *l, struct snap_header_address address, uint64_t wosize)
{
	uint64_t number = l->string_count++;
	if (number < l->ocp->string_count)
		l->ocp->strings[number] = (struct string){address, (uint32_t)number, wosize > 1};
}

static int strings_by_address(const void *a, const void *b)
{
	const struct string *x = a, *y = b;
	return (x->address.a > y->address.a) - (x->address.a < y->address.a);
}

static enum hg_status end_strings(struct snap_ocp_loader *l)
{
	struct ocp *ocp = l->ocp;
	uint64_t expected = l->string_count < MOST_STRINGS ? l->string_count : MOST_STRINGS;
	if (l->snap->no_fields)
		expected = 0;
	if (ocp->string_count != expected)
		return base_corrupt(l->error, ocp->strings_offset,
			"%u strings where %llu should be", ocp->string_count,
			(unsigned long long)expected);
	if (ocp->string_count)
		qsort(ocp->strings, ocp->string_count, sizeof(*ocp->strings), strings_by_address);
	return HG_OK;
}

/* Says what is wrong with the field under the cursor of BLKS. */
static enum hg_status refuse_field(const struct snap_ocp_loader *l, struct snap_block_address block)
{
	struct base_cursor c = l->sections[BLKS];
	uint64_t offset = base_cursor_offset(&c);
	int64_t distance;
	uint8_t first;
	if (!base_cursor_u8(&c, &first))
		return ends_inside(l, &c, "a block");
	if (is_kind(first))
		return base_corrupt(l->error, offset, "more fields than the block at 0x%llx has",
			(unsigned long long)block.a);
	if (!read_offset(&c, first, &distance))
		return ends_inside(l, &c, "a field");
	return base_corrupt(l->error, offset,
		"a pointer from the block at 0x%llx over %lld words, out of the address space",
		(unsigned long long)block.a, (long long)distance);
}

/* One entry of BLKS at 'address'; *bytes of it are taken in a chunk that ends at 'end'. */
static enum hg_status load_entry(struct snap_ocp_loader *l, struct snap_adder *adder,
	struct snap_header_address address, uint64_t end, uint64_t *bytes)
{
	struct snap *snap = l->snap;
	struct base_cursor *c = &l->sections[BLKS];
	uint64_t offset = base_cursor_offset(c);
	struct entry e;
	if (!read_entry(c, l->ocp->id_bits, &e))
		return ends_inside(l, c, "the blocks");
	if (e.wosize >= (end - address.a) / 8) {
		return base_corrupt(l->error, offset,
			"%s of %llu words at 0x%llx, in a chunk that ends at 0x%llx",
			e.free ? "free memory" : "a block", (unsigned long long)e.wosize,
			(unsigned long long)snap_block_of(address).a, (unsigned long long)end);
	}
	*bytes = snap_block_bytes(e.wosize);
	if (e.free) {
		snap->accounts.free += *bytes;
		return HG_OK;
	}
	if (e.wosize == 0)
		return base_corrupt(l->error, offset, "a block of 0 words");
	if (!snap->no_fields && snap_tag_has_fields(e.tag) &&
		!read_ocp_fields(c, address, e.wosize, NULL))
		return refuse_field(l, snap_block_of(address));
	if (e.tag == SNAP_TAG_STRING)
		note_string(l, address, e.wosize);
	/* Without the graph no block has fields to number. */
	unsigned tag = snap->no_fields ? SNAP_TAG_ABSTRACT : e.tag;
	return snap_adder_block(adder, address, offset, e.wosize, tag, l->error);
}

static enum hg_status load_ocp_blocks(struct snap_ocp_loader *l)
{
	struct snap *snap = l->snap;
	struct base_cursor *c = &l->sections[BLKS];
	struct snap_adder adder = snap_adder_start(snap);
	uint64_t told = 0;
	snap->accounts.free = 0;
	for (uint64_t i = 0; i < snap->chunk_count; i++) {
		uint64_t end = snap->chunks[i].end, bytes = 0;
		struct snap_header_address address = {snap->chunks[i].start};
		for (; address.a < end; address.a += bytes) {
			BASE_TRY(load_entry(l, &adder, address, end, &bytes));
			uint64_t offset = base_cursor_offset(c);
			if (offset >> 24 == told)
				continue;
			told = offset >> 24;
			BASE_TRY(base_progress(
				snap->session, "reading blocks", offset, snap->file.size));
		}
		snap_adder_end(&adder);
	}
	BASE_TRY(expect_end(l, BLKS));
	if (snap->block_count != l->block_count)
		return base_corrupt(l->error, base_cursor_offset(c),
			"%llu blocks, but CHKS says %llu", (unsigned long long)snap->block_count,
			(unsigned long long)l->block_count);
	BASE_TRY(end_strings(l));
	return snap_end_blocks(snap, l->error);
}

/* (pid, number, kind, Gc.stat, start, end); in Gc.stat come three floats first. */
static enum hg_status load_info(struct snap_ocp_loader *l)
{
	static const char *const kinds[] = {"after_major_collection", "signal", "user", "record"};
	enum { PID, NUMBER, KIND, STAT, LIVE_WORDS = 7, LIVE_BLOCKS = 8 };
	struct snap *snap = l->snap;
	uint64_t offset = base_cursor_offset(&l->sections[INFO]);
	struct snap_marshal m;
	int64_t pid, number, kind, words, blocks;
	BASE_TRY(snap_marshal_read(&l->sections[INFO], &snap->pool, &m, l->error));
	BASE_TRY(expect_end(l, INFO));
	struct snap_value stat = snap_marshal_field(&m, m.root, STAT);
	if (!snap_marshal_int(&m, snap_marshal_field(&m, m.root, PID), &pid) ||
		!snap_marshal_int(&m, snap_marshal_field(&m, m.root, NUMBER), &number) ||
		!snap_marshal_int(&m, snap_marshal_field(&m, m.root, KIND), &kind) ||
		!snap_marshal_int(&m, snap_marshal_field(&m, stat, LIVE_WORDS), &words) ||
		!snap_marshal_int(&m, snap_marshal_field(&m, stat, LIVE_BLOCKS), &blocks) ||
		pid < 0 || number < 0 || words < 0 || blocks < 0)
		return base_corrupt(l->error, offset,
			"INFO does not hold the process, the number of the dump and Gc.stat");
	snap->pid = (uint64_t)pid;
	snap->index = (uint64_t)number;
	snap->live_words = (uint64_t)words;
	snap->live_blocks = (uint64_t)blocks;
	if (!snap->trigger[0] && kind >= 0 && kind < (int64_t)(sizeof(kinds) / sizeof(*kinds)))
		snap->trigger = kinds[kind];
	return HG_OK;
}

static enum hg_status load_sections(struct snap_ocp_loader *l)
{
	struct base_cursor c = base_cursor_over(l->snap->file.bytes, l->snap->file.size);
	BASE_TRY(load_header(l, &c));
	BASE_TRY(load_footer(l, base_cursor_offset(&c)));
	BASE_TRY(load_chunks(l));
	BASE_TRY(prepare_strings(l));
	BASE_TRY(load_ocp_blocks(l));
	BASE_TRY(snap_ocp_load_roots(l));
	return load_info(l);
}

static enum hg_status load_ocp(
	struct snap *snap, const struct hg_input *input, struct hg_error *error)
{
	(void)input;
	struct snap_ocp_loader l = {.snap = snap, .error = error};
	BASE_TRY(base_pool_alloc(&snap->pool, 1, sizeof(*l.ocp), (void **)&l.ocp, error));
	snap->format_data = l.ocp;
	snap->reserved = RESERVED;
	snap->integers_recorded = false;
	BASE_TRY(snap_add_code(snap, STAND_IN_CODE, STAND_IN_CODE + 1, error));
	BASE_TRY(snap_add_code(snap, STAND_IN_RESTART, STAND_IN_RESTART + 1, error));
	BASE_TRY(read_file_name(snap, error));
	enum hg_status status = load_sections(&l);
	free(l.frames);
	return status;
}

static bool recognise_ocp(const char *name, const struct base_file *file)
{
	(void)name;
	struct base_cursor c = base_cursor_over(file->bytes, file->size);
	const uint8_t *magic;
	return base_cursor_bytes(&c, MAGIC_BYTES, &magic) && memcmp(magic, MAGIC, MAGIC_BYTES) == 0;
}

/* One block into the scratch; false when the file is not what the loader has checked. */
static inline bool copy_block(struct base_cursor *c, const struct entry *e,
	struct snap_header_address address, uint64_t fields, uint64_t *out)
{
	*out = snap_header_make(RESERVED, e->id, e->wosize, e->tag);
	return read_ocp_fields(c, address, fields, out + 1);
}

/*
 * Gathers blocks into the scratch until free memory leaves a gap.  Everything is checked again, as
 * a file may change under its mapping.
 */
static bool next_ocp_run(struct snap_walk *walk, struct snap_run *run)
{
	const struct ocp *ocp = walk->snap->format_data;
	bool no_fields = walk->snap->no_fields;
	struct base_cursor c = walk->cursor;
	struct snap_header_address address = walk->address, first = address;
	size_t used = 0;
	while (walk->blocks_left) {
		const uint8_t *start = c.next;
		struct entry e;
		/* Only a file that changes under its mapping gets out of bounds here. */
		if (!read_entry(&c, ocp->id_bits, &e) ||
			e.wosize >= (SNAP_ADDRESS_LIMIT - address.a) / 8) {
			walk->blocks_left = 0;
			break;
		}
		if (e.free) {
			address.a = snap_field_address(address, e.wosize);
			if (used)
				break;
			continue;
		}
		uint64_t fields = no_fields || !snap_tag_has_fields(e.tag) ? 0 : e.wosize;
		if (fields >= walk->scratch_words - used && used) {
			c.next = start;
			break;
		}
		if (fields >= walk->scratch_words - used ||
			!copy_block(&c, &e, address, fields, walk->scratch + used)) {
			walk->blocks_left = 0;
			break;
		}
		if (used == 0)
			first = address;
		used += 1 + fields;
		address.a = snap_field_address(address, e.wosize);
		walk->blocks_left--;
	}
	walk->cursor = c;
	walk->address = address;
	*run = (struct snap_run){
		.address = first, .words = walk->scratch, .count = used, .elided = true};
	return used != 0;
}

/*
 * The first 8 bytes of strings, padded with NULs: those at the end of a shorter string cannot be
 * told from its own.
 */
static size_t ocp_content(const struct snap *snap, struct snap_rank rank, uint64_t bytes,
	const uint8_t **out, bool *cut)
{
	const struct ocp *ocp = snap->format_data;
	struct snap_header_address address = snap_ranks_header(&snap->ranks, rank);
	uint64_t i = BASE_FIRST_FROM(ocp->strings, ocp->string_count, address, address.a);
	if (i == ocp->string_count || ocp->strings[i].address.a != address.a)
		return 0;
	const struct string *s = &ocp->strings[i];
	struct base_cursor c = base_cursor_over(snap->file.bytes, snap->file.size);
	if (!base_cursor_seek(&c, ocp->strings_offset) ||
		!base_cursor_skip(&c, (uint64_t)s->number * STRING_BYTES) ||
		!base_cursor_bytes(&c, STRING_BYTES, out))
		return 0;
	size_t length = STRING_BYTES;
	while (!s->longer && length && (*out)[length - 1] == 0)
		length--;
	*cut = s->longer || length > bytes;
	return length > bytes ? (size_t)bytes : length;
}

const struct snap_format snap_ocp2014 = {
	.name = "ocp2014",
	.title = "OCP-2014D001 heap dump",
	.recognise = recognise_ocp,
	.load = load_ocp,
	.next_run = next_ocp_run,
	.content = ocp_content,
	.ids = SNAP_IDS_OCP2014,
	.load_locations = snap_load_location_file,
	.is_location_source = snap_source_begins,
};
