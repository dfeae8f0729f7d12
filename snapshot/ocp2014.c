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
#include "base/grow.h"
#include "snapshot/file_names.h"
#include "snapshot/marshal.h"
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

/* No chunk and no pointer lies lower, so that the words below cannot be mistaken for addresses. */
#define LOWEST_ADDRESS ((uint64_t)0x1000)

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

enum section { BLKS, STRS, CHKS, ROOT, WEAK, FINA, INFO, SECTIONS };
static const char section_names[SECTIONS][5] = {
	"BLKS", "STRS", "CHKS", "ROOT", "WEAK", "FINA", "INFO"};

/* A string block whose beginning is recorded. */
struct string {
	uint64_t address; /* of the header */
	uint32_t number;  /* in the table of STRS */
	bool longer;      /* than what is recorded */
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
	struct base_cursor *c, uint8_t first, uint64_t address, uint64_t *value)
{
	int64_t offset;
	if (!read_offset(c, first, &offset))
		return false;
	*value = address + 8 * (uint64_t)offset + 8;
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
static inline bool read_fields(
	struct base_cursor *c, uint64_t address, uint64_t wosize, uint64_t *out)
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

/* A frame of a native stack, with the place in the source that its code comes from. */
struct frame {
	uint64_t start, bytes; /* of the stack */
	const uint8_t *file;
	uint64_t file_length;
	uint64_t line, first, last; /* columns */
	const char *name;           /* once a root has asked for it */
};

/* A group of roots of the form { word address of the slot, word value }, all of which are kept. */
struct slots {
	uint64_t count;
	uint64_t root;         /* number of the first */
	struct base_cursor at; /* the first in the file */
};

struct loader {
	struct snap *snap;
	struct ocp *ocp;
	/* From the start of the file to the end of the section, so that offsets are the file's. */
	struct base_cursor sections[SECTIONS];
	uint64_t block_count;  /* as CHKS says */
	uint64_t string_count; /* met in BLKS */
	struct frame *frames;  /* of one stack, by start */
	uint64_t frame_count, frame_capacity;
	struct hg_error *error;
};

static enum hg_status ends_inside(
	const struct loader *l, const struct base_cursor *c, const char *what)
{
	return base_corrupt(
		l->error, base_cursor_offset(c), "the section ends in the middle of %s", what);
}

static enum hg_status read_word(
	const struct loader *l, struct base_cursor *c, const char *what, uint64_t *out)
{
	*out = 0;
	return base_cursor_u64le(c, out) ? HG_OK : ends_inside(l, c, what);
}

static enum hg_status read_uint(
	const struct loader *l, struct base_cursor *c, const char *what, uint64_t *out)
{
	uint64_t value = 0;
	*out = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;
		if (!base_cursor_u8(c, &byte))
			return ends_inside(l, c, what);
		uint64_t bits = byte & 0x7f;
		if (bits << shift >> shift != bits)
			break;
		value |= bits << shift;
		if (byte & 0x80) {
			*out = value;
			return HG_OK;
		}
	}
	return base_corrupt(
		l->error, base_cursor_offset(c) - 1, "a number of more than 64 bits in %s", what);
}

static enum hg_status read_text(const struct loader *l, struct base_cursor *c, const char *what,
	uint64_t length, const uint8_t **bytes)
{
	*bytes = NULL;
	if (base_cursor_bytes(c, length, bytes))
		return HG_OK;
	return base_corrupt(l->error, base_cursor_offset(c), "%llu bytes of %s where %zu are left",
		(unsigned long long)length, what, base_cursor_left(c));
}

static enum hg_status expect_end(const struct loader *l, enum section section)
{
	const struct base_cursor *c = &l->sections[section];
	if (base_cursor_left(c) == 0)
		return HG_OK;
	return base_corrupt(l->error, base_cursor_offset(c), "%zu bytes more at the end of %s",
		base_cursor_left(c), section_names[section]);
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

static enum hg_status load_dump_name(struct loader *l, struct base_cursor *c)
{
	uint64_t length;
	const uint8_t *bytes;
	BASE_TRY(read_uint(l, c, "the name of the dump", &length));
	BASE_TRY(read_text(l, c, "the name of the dump", length, &bytes));
	return base_pool_string(&l->snap->pool, bytes, length, &l->snap->trigger, l->error);
}

static enum hg_status load_header(struct loader *l, struct base_cursor *c)
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
	struct loader *l, const char *name, uint64_t offset, uint64_t start, uint64_t end)
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
static enum hg_status read_footer(const struct loader *l, uint64_t body, struct footer *f)
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

static enum hg_status check_footer(const struct loader *l, uint64_t body, const struct footer *f)
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

static enum hg_status load_footer(struct loader *l, uint64_t body)
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

static enum hg_status load_chunk(struct loader *l, struct base_cursor *c)
{
	uint64_t offset = base_cursor_offset(c), start, bytes;
	BASE_TRY(read_word(l, c, "a chunk", &start));
	BASE_TRY(read_word(l, c, "a chunk", &bytes));
	if (start < LOWEST_ADDRESS || bytes > SNAP_ADDRESS_LIMIT)
		return base_corrupt(l->error, offset, "a chunk of %llu bytes at 0x%llx",
			(unsigned long long)bytes, (unsigned long long)start);
	return snap_add_chunk(l->snap, start, start + bytes, offset, l->error);
}

static enum hg_status load_chunks(struct loader *l)
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
		BASE_TRY(load_chunk(l, c));
	return expect_end(l, CHKS);
}

/* The size of the table is checked against BLKS when that has been read. */
static enum hg_status prepare_strings(struct loader *l)
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
static void note_string(struct loader *l, uint64_t address, uint64_t wosize)
{
	uint64_t number = l->string_count++;
	if (number < l->ocp->string_count)
		l->ocp->strings[number] = (struct string){address, (uint32_t)number, wosize > 1};
}

static int strings_by_address(const void *a, const void *b)
{
	const struct string *x = a, *y = b;
	return (x->address > y->address) - (x->address < y->address);
}

static enum hg_status end_strings(struct loader *l)
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
static enum hg_status refuse_field(const struct loader *l, uint64_t block)
{
	struct base_cursor c = l->sections[BLKS];
	uint64_t offset = base_cursor_offset(&c);
	int64_t distance;
	uint8_t first;
	if (!base_cursor_u8(&c, &first))
		return ends_inside(l, &c, "a block");
	if (is_kind(first))
		return base_corrupt(l->error, offset, "more fields than the block at 0x%llx has",
			(unsigned long long)block);
	if (!read_offset(&c, first, &distance))
		return ends_inside(l, &c, "a field");
	return base_corrupt(l->error, offset,
		"a pointer from the block at 0x%llx over %lld words, out of the address space",
		(unsigned long long)block, (long long)distance);
}

/* One entry of BLKS at 'address'; *bytes of it are taken in a chunk that ends at 'end'. */
static enum hg_status load_entry(
	struct loader *l, uint64_t address, uint64_t end, bool *apart, uint64_t *bytes)
{
	struct snap *snap = l->snap;
	struct base_cursor *c = &l->sections[BLKS];
	uint64_t offset = base_cursor_offset(c);
	struct entry e;
	if (!read_entry(c, l->ocp->id_bits, &e))
		return ends_inside(l, c, "the blocks");
	if (e.wosize >= (end - address) / 8) {
		uint64_t block = address + 8;
		return base_corrupt(l->error, offset,
			"%s of %llu words at 0x%llx, in a chunk that ends at 0x%llx",
			e.free ? "free memory" : "a block", (unsigned long long)e.wosize,
			(unsigned long long)block, (unsigned long long)end);
	}
	*bytes = 8 * (e.wosize + 1);
	if (e.free) {
		snap->free_bytes += *bytes;
		return HG_OK;
	}
	if (e.wosize == 0)
		return base_corrupt(l->error, offset, "a block of 0 words");
	if (!snap->no_fields && snap_tag_has_fields(e.tag) &&
		!read_fields(c, address, e.wosize, NULL))
		return refuse_field(l, address + 8);
	if (e.tag == SNAP_TAG_STRING)
		note_string(l, address, e.wosize);
	/* Without the graph no block has fields to number. */
	unsigned tag = snap->no_fields ? SNAP_TAG_ABSTRACT : e.tag;
	BASE_TRY(snap_add_block(snap, address, offset, e.wosize, tag, *apart, l->error));
	*apart = snap_tag_has_fields(tag) && e.wosize >= SNAP_STRETCH_WORDS;
	return HG_OK;
}

static enum hg_status load_blocks(struct loader *l)
{
	struct snap *snap = l->snap;
	struct base_cursor *c = &l->sections[BLKS];
	uint64_t told = 0;
	snap->free_bytes = 0;
	for (uint64_t i = 0; i < snap->chunk_count; i++) {
		uint64_t end = snap->chunks[i].end, bytes = 0;
		bool apart = true;
		for (uint64_t address = snap->chunks[i].start; address < end; address += bytes) {
			BASE_TRY(load_entry(l, address, end, &apart, &bytes));
			uint64_t offset = base_cursor_offset(c);
			if (offset >> 24 == told)
				continue;
			told = offset >> 24;
			BASE_TRY(base_progress(
				snap->session, "reading blocks", offset, snap->file.size));
		}
	}
	BASE_TRY(expect_end(l, BLKS));
	if (snap->block_count != l->block_count)
		return base_corrupt(l->error, base_cursor_offset(c),
			"%llu blocks, but CHKS says %llu", (unsigned long long)snap->block_count,
			(unsigned long long)l->block_count);
	BASE_TRY(end_strings(l));
	return snap_end_blocks(snap, l->error);
}

/* The writer has checked these words to lie in the heap. */
static enum hg_status add_root(struct loader *l, const struct base_cursor *behind,
	enum hg_root_kind kind, const char *name, uint64_t index, uint64_t value)
{
	if (value & 1 || !snap_in_chunk(l->snap, value))
		return base_corrupt(l->error, base_cursor_offset(behind) - 8,
			"a root to 0x%llx, outside of every chunk", (unsigned long long)value);
	return snap_add_root(l->snap, kind, name, index, value, l->error);
}

/* Words of which the writer has kept those too that do not lead into the heap. */
static enum hg_status load_globals(
	struct loader *l, struct base_cursor *c, uint64_t count, const char *name)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t value;
		BASE_TRY(read_word(l, c, "the globals", &value));
		if (!(value & 1) && snap_in_chunk(l->snap, value))
			BASE_TRY(snap_add_root(l->snap, HG_ROOT_GLOBAL, name, i, value, l->error));
	}
	return HG_OK;
}

static enum hg_status load_modules(struct loader *l, struct base_cursor *c, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t fields;
		const char *name;
		char text[48];
		BASE_TRY(read_word(l, c, "a module", &fields));
		if (fields > base_cursor_left(c) / 8)
			return base_corrupt(l->error, base_cursor_offset(c) - 8,
				"a module of %llu fields, more than the section holds",
				(unsigned long long)fields);
		int length =
			snprintf(text, sizeof(text), "module[%llu].field", (unsigned long long)i);
		BASE_TRY(base_pool_string(&l->snap->pool, text, (uint64_t)length, &name, l->error));
		BASE_TRY(load_globals(l, c, fields, name));
	}
	return HG_OK;
}

static enum hg_status load_bytecode_globals(struct loader *l, struct base_cursor *c)
{
	uint64_t value;
	BASE_TRY(read_word(l, c, "the globals", &value));
	/* The table of globals is not in the heap before the program has any. */
	if (value & 1 || !snap_in_chunk(l->snap, value))
		return HG_OK;
	return snap_add_root(
		l->snap, HG_ROOT_GLOBAL, "caml_global_data", HG_UNKNOWN, value, l->error);
}

static enum hg_status load_slots(struct loader *l, struct base_cursor *c, uint64_t count,
	enum hg_root_kind kind, const char *name, struct slots *out)
{
	*out = (struct slots){count, l->snap->root_count, *c};
	for (uint64_t i = 0; i < count; i++) {
		uint64_t slot, value;
		BASE_TRY(read_word(l, c, "a root", &slot));
		BASE_TRY(read_word(l, c, "a root", &value));
		BASE_TRY(add_root(l, c, kind, name, i, value));
	}
	return HG_OK;
}

/* Address of a slot that has been read already. */
static uint64_t slot_address(const struct slots *slots, uint64_t i)
{
	struct base_cursor c = slots->at;
	uint64_t address = 0;
	if (base_cursor_skip(&c, 16 * i))
		base_cursor_u64le(&c, &address);
	return address;
}

static int frames_by_start(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

enum { FRAMES_UPWARDS, FRAMES_FRAME, FRAMES_END };

static enum hg_status load_frame(struct loader *l, struct base_cursor *c, bool upwards)
{
	struct frame f = {0};
	uint8_t has_location;
	BASE_TRY(read_word(l, c, "a frame", &f.start));
	BASE_TRY(read_uint(l, c, "a frame", &f.bytes));
	if (!base_cursor_u8(c, &has_location))
		return ends_inside(l, c, "a frame");
	if (upwards)
		f.start -= f.bytes - 8; /* slots are counted down from the first word */
	if (!has_location)
		return HG_OK;
	BASE_TRY(read_uint(l, c, "a frame", &f.file_length));
	BASE_TRY(read_text(l, c, "a file name", f.file_length, &f.file));
	BASE_TRY(read_uint(l, c, "a frame", &f.line));
	BASE_TRY(read_uint(l, c, "a frame", &f.first));
	BASE_TRY(read_uint(l, c, "a frame", &f.last));
	BASE_TRY(base_grow(
		&l->frames, l->frame_count, &l->frame_capacity, sizeof(*l->frames), l->error));
	l->frames[l->frame_count++] = f;
	return HG_OK;
}

/* The frames of one stack, in the place of those before. */
static enum hg_status load_backtrace(struct loader *l, struct base_cursor *c)
{
	bool upwards = false;
	l->frame_count = 0;
	for (;;) {
		uint8_t code;
		if (!base_cursor_u8(c, &code))
			return ends_inside(l, c, "a stack");
		if (code == FRAMES_END)
			break;
		if (code == FRAMES_UPWARDS)
			upwards = true;
		else if (code == FRAMES_FRAME)
			BASE_TRY(load_frame(l, c, upwards));
		else
			return base_corrupt(l->error, base_cursor_offset(c) - 1,
				"an unknown code 0x%02x in a stack", code);
	}
	if (l->frame_count)
		qsort(l->frames, l->frame_count, sizeof(*l->frames), frames_by_start);
	return HG_OK;
}

/* The last frame that begins at or before the slot, if it reaches that far. */
static struct frame *find_frame(const struct loader *l, uint64_t slot)
{
	uint64_t low = 0, high = l->frame_count;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (l->frames[middle].start <= slot)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || slot - l->frames[low - 1].start >= l->frames[low - 1].bytes)
		return NULL;
	return &l->frames[low - 1];
}

static enum hg_status name_frame(struct loader *l, struct frame *f)
{
	char text[1024];
	if (f->name)
		return HG_OK;
	int most = f->file_length < 900 ? (int)f->file_length : 900;
	int length = snprintf(text, sizeof(text), "%.*s:%llu:%llu-%llu", most,
		(const char *)f->file, (unsigned long long)f->line, (unsigned long long)f->first,
		(unsigned long long)f->last);
	return base_pool_string(&l->snap->pool, text, (uint64_t)length, &f->name, l->error);
}

/* Names the roots [from, to) of a group after their frames, where these have a location. */
static enum hg_status name_by_frames(
	struct loader *l, const struct slots *slots, uint64_t from, uint64_t to)
{
	if (l->frame_count == 0)
		return HG_OK;
	for (uint64_t i = from; i < to; i++) {
		uint64_t slot = slot_address(slots, i);
		struct frame *frame = find_frame(l, slot);
		if (!frame)
			continue;
		BASE_TRY(name_frame(l, frame));
		struct snap_root *root = &l->snap->roots[slots->root + i];
		root->name = frame->name;
		root->index = (slot - frame->start) / 8;
	}
	return HG_OK;
}

/* Roots [from, to) of the hook are those of a thread that did not run. */
static enum hg_status name_thread(
	struct loader *l, const struct slots *hook, uint64_t id, uint64_t from, uint64_t to)
{
	char text[32];
	const char *name;
	if (from >= to)
		return HG_OK;
	int length = snprintf(text, sizeof(text), "thread %llu", (unsigned long long)id);
	BASE_TRY(base_pool_string(&l->snap->pool, text, (uint64_t)length, &name, l->error));
	for (uint64_t i = from; i < to; i++) {
		struct snap_root *root = &l->snap->roots[hook->root + i];
		root->kind = HG_ROOT_STACK;
		root->name = name;
		root->index = i - from;
	}
	return name_by_frames(l, hook, from, to);
}

/* The writer lists threads from the last to the first, so that their roots come downwards. */
static enum hg_status load_threads(
	struct loader *l, struct base_cursor *c, const struct slots *hook)
{
	uint64_t limit = hook->count;
	for (;;) {
		uint64_t offset = base_cursor_offset(c), id, begin, end;
		BASE_TRY(read_uint(l, c, "a thread", &id));
		if (id == 0)
			return HG_OK;
		BASE_TRY(read_uint(l, c, "a thread", &begin));
		BASE_TRY(read_uint(l, c, "a thread", &end));
		if (begin > end || end > limit)
			return base_corrupt(l->error, offset,
				"a thread with roots %llu to %llu of the %llu left to threads",
				(unsigned long long)begin, (unsigned long long)end,
				(unsigned long long)limit);
		BASE_TRY(load_backtrace(l, c));
		BASE_TRY(name_thread(l, hook, id - 1, begin, end));
		limit = begin;
	}
}

/* A slot of a C root, to be looked up by its address. */
struct c_slot {
	uint64_t address;
	uint64_t root;
};

static int c_slots_by_address(const void *a, const void *b)
{
	const struct c_slot *x = a, *y = b;
	return (x->address > y->address) - (x->address < y->address);
}

static enum hg_status name_c_root(struct loader *l, const struct c_slot *slots, uint64_t count,
	uint64_t address, const uint8_t *name, uint64_t length)
{
	struct c_slot key = {.address = address};
	const struct c_slot *found =
		count ? bsearch(&key, slots, count, sizeof(key), c_slots_by_address) : NULL;
	if (!found)
		return HG_OK;
	struct snap_root *root = &l->snap->roots[found->root];
	root->kind = HG_ROOT_NAMED_VALUE;
	root->index = HG_UNKNOWN;
	return base_pool_string(&l->snap->pool, name, length, &root->name, l->error);
}

/*
 * A named value is a C root too; its entry tells the address of the slot, not the value.  One that
 * is not in the heap has no root.
 */
static enum hg_status load_named_values(
	struct loader *l, struct base_cursor *c, const struct slots *roots)
{
	struct c_slot *slots;
	BASE_TRY(base_pool_alloc(
		&l->snap->pool, roots->count, sizeof(*slots), (void **)&slots, l->error));
	for (uint64_t i = 0; i < roots->count; i++)
		slots[i] = (struct c_slot){slot_address(roots, i), roots->root + i};
	if (roots->count)
		qsort(slots, roots->count, sizeof(*slots), c_slots_by_address);
	for (;;) {
		uint64_t length, slot;
		const uint8_t *name;
		BASE_TRY(read_uint(l, c, "a named value", &length));
		if (length-- == 0)
			return HG_OK;
		BASE_TRY(read_text(l, c, "the name of a value", length, &name));
		BASE_TRY(read_word(l, c, "a named value", &slot));
		BASE_TRY(name_c_root(l, slots, roots->count, slot, name, length));
	}
}

enum root_group { GLOBALS, DYNAMIC, STACK, C_ROOTS, FINALISED, HOOK, ROOT_GROUPS };

/* Cuts the counts off the end of ROOT. */
static enum hg_status read_root_counts(
	struct loader *l, struct base_cursor *c, uint64_t counts[ROOT_GROUPS])
{
	static const uint8_t least_bytes[ROOT_GROUPS] = {8, 8, 16, 16, 8, 16};
	struct base_cursor tail = *c;
	uint64_t left = base_cursor_left(c), bytes = 8 * ROOT_GROUPS;
	if (left < bytes)
		return ends_inside(l, c, "the numbers of roots");
	c->end -= bytes;
	base_cursor_skip(&tail, left - bytes);
	for (unsigned i = 0; i < ROOT_GROUPS; i++) {
		base_cursor_u64le(&tail, &counts[i]);
		if (counts[i] > (left - bytes) / least_bytes[i])
			return base_corrupt(l->error, base_cursor_offset(&tail) - 8,
				"%llu roots, more than the section holds",
				(unsigned long long)counts[i]);
	}
	return HG_OK;
}

static enum hg_status load_roots(struct loader *l, struct slots *finalised)
{
	struct base_cursor *c = &l->sections[ROOT];
	uint64_t counts[ROOT_GROUPS] = {0};
	struct slots stack, c_roots, hook;
	BASE_TRY(read_root_counts(l, c, counts));
	BASE_TRY(l->snap->native ? load_modules(l, c, counts[GLOBALS])
				 : load_bytecode_globals(l, c));
	BASE_TRY(load_globals(l, c, counts[DYNAMIC], "dynamic_global"));
	BASE_TRY(load_slots(l, c, counts[STACK], HG_ROOT_STACK, "entry", &stack));
	BASE_TRY(load_slots(l, c, counts[C_ROOTS], HG_ROOT_C_GLOBAL, "slot", &c_roots));
	*finalised = (struct slots){counts[FINALISED], l->snap->root_count, *c};
	for (uint64_t i = 0; i < counts[FINALISED]; i++) {
		uint64_t value;
		BASE_TRY(read_word(l, c, "a root", &value));
		BASE_TRY(add_root(l, c, HG_ROOT_FINALISER, "function", i, value));
	}
	BASE_TRY(load_slots(l, c, counts[HOOK], HG_ROOT_OTHER, "hook", &hook));
	BASE_TRY(load_backtrace(l, c));
	BASE_TRY(name_by_frames(l, &stack, 0, stack.count));
	BASE_TRY(load_threads(l, c, &hook));
	BASE_TRY(load_named_values(l, c, &c_roots));
	return expect_end(l, ROOT);
}

static enum hg_status read_heap_word(
	const struct loader *l, struct base_cursor *c, const char *what, uint64_t *out)
{
	BASE_TRY(read_word(l, c, what, out));
	if (*out & 1 || !snap_in_chunk(l->snap, *out))
		return base_corrupt(l->error, base_cursor_offset(c) - 8,
			"%s, 0x%llx, outside of every chunk", what, (unsigned long long)*out);
	return HG_OK;
}

/*
 * { word weak array, uint size, uint n, n words that it refers to } until a word 0.  What is weak
 * holds nothing: it is checked only.
 */
static enum hg_status check_weak(struct loader *l)
{
	struct base_cursor *c = &l->sections[WEAK];
	for (;;) {
		struct base_cursor before = *c;
		uint64_t word, size, count;
		BASE_TRY(read_word(l, c, "a weak array", &word));
		if (word == 0)
			return expect_end(l, WEAK);
		BASE_TRY(read_heap_word(l, &before, "a weak array", &word));
		BASE_TRY(read_uint(l, c, "a weak array", &size));
		BASE_TRY(read_uint(l, c, "a weak array", &count));
		if (count > size || count > base_cursor_left(c) / 8)
			return base_corrupt(l->error, base_cursor_offset(&before) - 8,
				"a weak array of %llu words with %llu pointers",
				(unsigned long long)size, (unsigned long long)count);
		while (count--)
			BASE_TRY(read_heap_word(l, c, "a weak pointer", &word));
	}
}

/* Gc.finalise keeps a value that nothing else holds until its function has been called. */
static enum hg_status add_finalised(
	struct loader *l, struct base_cursor *c, uint64_t index, uint64_t value)
{
	struct snap *snap = l->snap;
	uint64_t before = snap->root_count;
	BASE_TRY(add_root(l, c, HG_ROOT_FINALISER, "value", index, value));
	if (snap->root_count > before)
		snap->roots[before].last = true;
	return HG_OK;
}

/*
 * Five numbers, the first of which the writer never resets, then the finalisation functions and
 * their values, function first, except those outside of the heap.  ROOT has told the functions, and
 * what waits for its call, in this order: the others are the values.
 */
static enum hg_status load_finalised(struct loader *l, const struct slots *finalised)
{
	struct base_cursor *c = &l->sections[FINA];
	uint64_t known = 0, values = 0, word;
	for (unsigned i = 0; i < 5; i++)
		BASE_TRY(read_uint(l, c, "its numbers", &word));
	while (base_cursor_left(c)) {
		BASE_TRY(read_word(l, c, "a finalised value", &word));
		if (known < finalised->count &&
			l->snap->roots[finalised->root + known].value == word)
			known++;
		else
			BASE_TRY(add_finalised(l, c, values++, word));
	}
	return HG_OK;
}

/* (pid, number, kind, Gc.stat, start, end); in Gc.stat come three floats first. */
static enum hg_status load_info(struct loader *l)
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

static enum hg_status load_all(struct loader *l)
{
	struct base_cursor c = base_cursor_over(l->snap->file.bytes, l->snap->file.size);
	struct slots finalised;
	BASE_TRY(load_header(l, &c));
	BASE_TRY(load_footer(l, base_cursor_offset(&c)));
	BASE_TRY(load_chunks(l));
	BASE_TRY(prepare_strings(l));
	BASE_TRY(load_blocks(l));
	BASE_TRY(load_roots(l, &finalised));
	BASE_TRY(check_weak(l));
	BASE_TRY(load_finalised(l, &finalised));
	return load_info(l);
}

static enum hg_status load(struct snap *snap, struct hg_error *error)
{
	struct loader l = {.snap = snap, .error = error};
	BASE_TRY(base_pool_alloc(&snap->pool, 1, sizeof(*l.ocp), (void **)&l.ocp, error));
	snap->format_data = l.ocp;
	snap->reserved = RESERVED;
	snap->integers_recorded = false;
	snap->code_start = STAND_IN_CODE;
	snap->code_end = STAND_IN_RESTART;
	BASE_TRY(read_file_name(snap, error));
	enum hg_status status = load_all(&l);
	free(l.frames);
	return status;
}

static bool recognise(const char *name, const struct base_file *file)
{
	(void)name;
	struct base_cursor c = base_cursor_over(file->bytes, file->size);
	const uint8_t *magic;
	return base_cursor_bytes(&c, MAGIC_BYTES, &magic) && memcmp(magic, MAGIC, MAGIC_BYTES) == 0;
}

/* One block into the scratch; false when the file is not what the loader has checked. */
static inline bool copy_block(struct base_cursor *c, const struct entry *e, uint64_t address,
	uint64_t fields, uint64_t *out)
{
	*out = snap_header_make(RESERVED, e->id, e->wosize, e->tag);
	return read_fields(c, address, fields, out + 1);
}

/*
 * Gathers blocks into the scratch until free memory leaves a gap.  Everything is checked again, as
 * a file may change under its mapping.
 */
static bool next_run(struct snap_walk *walk, struct snap_run *run)
{
	const struct ocp *ocp = walk->snap->format_data;
	bool no_fields = walk->snap->no_fields;
	struct base_cursor c = walk->cursor;
	uint64_t address = walk->address;
	size_t used = 0;
	while (walk->blocks_left) {
		const uint8_t *start = c.next;
		struct entry e;
		/* Only a file that changes under its mapping gets out of bounds here. */
		if (!read_entry(&c, ocp->id_bits, &e) ||
			e.wosize >= (SNAP_ADDRESS_LIMIT - address) / 8) {
			walk->blocks_left = 0;
			break;
		}
		if (e.free) {
			address += 8 * (e.wosize + 1);
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
			run->address = address;
		used += 1 + fields;
		address += 8 * (e.wosize + 1);
		walk->blocks_left--;
	}
	walk->cursor = c;
	walk->address = address;
	run->words = walk->scratch;
	run->count = used;
	run->elided = true;
	return used != 0;
}

/*
 * The first 8 bytes of strings, padded with NULs: those at the end of a shorter string cannot be
 * told from its own.
 */
static size_t content(const struct snap *snap, struct snap_rank rank, uint64_t bytes,
	const uint8_t **out, bool *cut)
{
	const struct ocp *ocp = snap->format_data;
	struct string key = {.address = snap_ranks_word(&snap->ranks, rank) << 3};
	const struct string *s = ocp->string_count ? bsearch(&key, ocp->strings, ocp->string_count,
							     sizeof(key), strings_by_address)
						   : NULL;
	struct base_cursor c = base_cursor_over(snap->file.bytes, snap->file.size);
	if (!s || !base_cursor_seek(&c, ocp->strings_offset) ||
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
	.recognise = recognise,
	.load = load,
	.next_run = next_run,
	.content = content,
	.ids = SNAP_IDS_OCP2014,
};
