/* Loads the record stream of OCamlmemprof in one pass over the file. */
#include "snapshot/legacy/memprof.h"

#include "base/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_CHUNK = 0x00, CODE_NOTHING = 0x0A, CODE_END = 0xFF };

/* Longer program names are taken for damage when nothing else tells the format. */
enum { LONGEST_NAME = 4096 };

enum { PROGRESS_BYTES = 16 << 20 };

struct block_record {
	struct snap_header_address address;
	uint64_t wosize, id;
	unsigned tag;
};

/* The caller has checked that SNAP_RECORD_BYTES are there. */
static inline struct block_record read_block(const uint8_t *p)
{
	return (struct block_record){.address = snap_pointed_header(base_load_u64le(p + 1)),
		.tag = p[9],
		.wosize = base_load_u64le(p + 10),
		.id = base_load_u64le(p + 18)};
}

struct record_loader {
	struct snap *snap;
	struct base_cursor in;
	uint64_t chunk_end; /* of the current chunk */
	uint64_t next_free; /* address after the last block; the chunk's start at first */
	uint64_t told;      /* offset at the last report of progress */
	struct hg_error *error;
};

static enum hg_status cut_records(struct record_loader *l, const char *what)
{
	return snap_cut_short(l->snap, base_cursor_offset(&l->in), what, l->error);
}

/* Reads a word; *ok is false when the file ends and that is accepted. */
static enum hg_status read_record_word(
	struct record_loader *l, const char *what, uint64_t *word, bool *ok)
{
	*word = 0;
	*ok = base_cursor_u64le(&l->in, word);
	return *ok ? HG_OK : cut_records(l, what);
}

static enum hg_status load_program_name(struct record_loader *l, bool *ok)
{
	uint8_t word_size;
	uint64_t length;
	const uint8_t *name;
	*ok = true;
	if (!base_cursor_u8(&l->in, &word_size))
		return base_corrupt(l->error, 0, "is empty");
	if (word_size != 8)
		return base_corrupt(l->error, 0,
			"a word size of %u bytes; only dumps of 64-bit programs exist", word_size);
	BASE_TRY(read_record_word(l, "the program name", &length, ok));
	if (!*ok)
		return HG_OK;
	if (length > LONGEST_NAME)
		return base_corrupt(
			l->error, 1, "a program name of %llu bytes", (unsigned long long)length);
	if (!base_cursor_bytes(&l->in, length, &name)) {
		*ok = false;
		return cut_records(l, "the program name");
	}
	return base_pool_string(&l->snap->pool, name, length, &l->snap->program, l->error);
}

static enum hg_status load_chunk_record(struct record_loader *l, uint64_t offset, bool *ok)
{
	uint64_t start, end;
	BASE_TRY(read_record_word(l, "a chunk record", &start, ok));
	if (*ok)
		BASE_TRY(read_record_word(l, "a chunk record", &end, ok));
	if (!*ok)
		return HG_OK;
	BASE_TRY(snap_add_chunk(l->snap, start, end, HG_SEGMENT_HEAP, offset, l->error));
	l->next_free = start;
	l->chunk_end = end;
	return HG_OK;
}

/* Says which rule a block record breaks. */
static enum hg_status refuse_block(
	const struct record_loader *l, const struct block_record *b, uint64_t offset)
{
	if (b->wosize == 0 || b->wosize > snap_header_max_wosize(SNAP_RECORD_RESERVED))
		return base_corrupt(
			l->error, offset, "a block of %llu words", (unsigned long long)b->wosize);
	if (b->id >> SNAP_RECORD_RESERVED)
		return base_corrupt(l->error, offset, "a location id of more than %d bits",
			SNAP_RECORD_RESERVED);
	if (b->address.a % 8)
		return base_corrupt(l->error, offset, "a block at 0x%llx, which is no word address",
			(unsigned long long)snap_block_of(b->address).a);
	if (l->snap->chunk_count == 0)
		return base_corrupt(l->error, offset, "a block before the first chunk");
	const struct snap_chunk *chunk = &l->snap->chunks[l->snap->chunk_count - 1];
	if (b->address.a >= chunk->start && b->address.a < l->next_free)
		return base_corrupt(l->error, offset,
			"the block at 0x%llx overlaps the one before it",
			(unsigned long long)snap_block_of(b->address).a);
	return base_corrupt(l->error, offset,
		"the block at 0x%llx of %llu words lies outside its chunk, 0x%llx to 0x%llx",
		(unsigned long long)snap_block_of(b->address).a, (unsigned long long)b->wosize,
		(unsigned long long)chunk->start, (unsigned long long)chunk->end);
}

static inline bool block_is_sound(const struct record_loader *l, const struct block_record *b)
{
	/* wosize has 33 bits and addresses 48, so that nothing here overflows. */
	return b->wosize != 0 && b->wosize <= snap_header_max_wosize(SNAP_RECORD_RESERVED) &&
	       !(b->id >> SNAP_RECORD_RESERVED) && b->address.a % 8 == 0 &&
	       b->address.a >= l->next_free && b->address.a < l->chunk_end &&
	       snap_block_bytes(b->wosize) <= l->chunk_end - b->address.a;
}

/*
 * Reads block records one after the other, which is nearly all of a dump, and stops before anything
 * else: another record, one that is not sound, the end, or after PROGRESS_BYTES.
 */
static enum hg_status load_block_records(struct record_loader *l)
{
	struct snap_adder adder = snap_adder_start(l->snap);
	const uint8_t *p = l->in.next, *end = l->in.end, *start = l->in.start;
	const uint8_t *pause = end - p > PROGRESS_BYTES ? p + PROGRESS_BYTES : end;
	enum hg_status status = HG_OK;
	while (p < pause && status == HG_OK && *p == SNAP_RECORD_BLOCK &&
		end - p >= SNAP_RECORD_BYTES) {
		struct block_record b = read_block(p);
		uint64_t fields = snap_tag_has_fields(b.tag) ? b.wosize : 0;
		if (!block_is_sound(l, &b) || fields > (size_t)(end - p - SNAP_RECORD_BYTES) / 8)
			break;
		status = snap_adder_block(
			&adder, b.address, (uint64_t)(p - start), b.wosize, b.tag, l->error);
		l->next_free = snap_field_address(b.address, b.wosize);
		p += SNAP_RECORD_BYTES + 8 * fields;
	}
	snap_adder_end(&adder);
	l->in.next = p;
	return status;
}

/* A block record, after its code, that load_block_records() has left alone: what is wrong. */
static enum hg_status refuse_record(struct record_loader *l, uint64_t offset, bool *ok)
{
	const uint8_t *p;
	*ok = false;
	if (!base_cursor_bytes(&l->in, SNAP_RECORD_BYTES - 1, &p))
		return cut_records(l, "a block record");
	struct block_record b = read_block(p - 1);
	if (!block_is_sound(l, &b))
		return refuse_block(l, &b, offset);
	return cut_records(l, "the fields of a block");
}

static enum hg_status load_records(struct record_loader *l, bool *ok)
{
	for (*ok = true; *ok;) {
		uint8_t code;
		BASE_TRY(load_block_records(l));
		uint64_t offset = base_cursor_offset(&l->in);
		if (offset >= l->told + PROGRESS_BYTES) {
			l->told = offset;
			BASE_TRY(base_progress(
				l->snap->session, "reading blocks", offset, l->snap->file.size));
			continue;
		}
		if (!base_cursor_u8(&l->in, &code)) {
			*ok = false;
			return cut_records(l, "the block records");
		}
		if (code == SNAP_RECORD_BLOCK)
			BASE_TRY(refuse_record(l, offset, ok));
		else if (code == CODE_CHUNK)
			BASE_TRY(load_chunk_record(l, offset, ok));
		else if (code == CODE_END)
			return HG_OK;
		else if (code != CODE_NOTHING)
			return base_corrupt(l->error, offset, "an unknown record 0x%02x", code);
	}
	return HG_OK;
}

/* Every root the writers record has been checked by them to lie in the heap. */
static enum hg_status add_record_root(struct record_loader *l, enum hg_root_kind kind,
	const char *name, uint64_t index, uint64_t value)
{
	uint64_t offset = base_cursor_offset(&l->in) - 8;
	if (value & 1 || !snap_chunk_at(l->snap, value))
		return base_corrupt(l->error, offset, "a root to 0x%llx, outside of every chunk",
			(unsigned long long)value);
	return snap_add_root(l->snap, kind, name, index, value, l->error);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Roots read before the list of roots, by value, and how many of each value the list repeated. */
struct known_roots {
	uint64_t count;
	uint64_t *values;
	uint32_t *repeated; /* at the first of equal values */
};

/*
 * The list of roots begins with the globals and the stack, which have been read already as what
 * they are: one entry of the list is dropped for each.
 */
static bool take_known(struct known_roots *known, uint64_t value)
{
	uint64_t first = BASE_FIRST_NUMBER_FROM(known->values, known->count, value);
	if (first == known->count)
		return false;
	uint64_t next = first + known->repeated[first];
	if (next >= known->count || known->values[next] != value)
		return false;
	known->repeated[first]++;
	return true;
}

static enum hg_status load_root_list(struct record_loader *l, struct known_roots *known, bool *ok)
{
	uint64_t value;
	for (uint64_t index = 0;; index++) {
		BASE_TRY(read_record_word(l, "the roots", &value, ok));
		if (!*ok || value == 1)
			return HG_OK;
		if (!take_known(known, value))
			BASE_TRY(add_record_root(l, HG_ROOT_OTHER, "root", index, value));
	}
}

/* local and global C roots, finalised values: nothing in the file separates them. */
static enum hg_status load_record_roots(struct record_loader *l, bool *ok)
{
	struct known_roots known = {.count = l->snap->root_count};
	BASE_TRY(base_pool_alloc(&l->snap->pool, known.count, sizeof(*known.values),
		(void **)&known.values, l->error));
	BASE_TRY(base_pool_alloc(&l->snap->pool, known.count, sizeof(*known.repeated),
		(void **)&known.repeated, l->error));
	for (uint64_t i = 0; i < known.count; i++)
		known.values[i] = l->snap->roots[i].value;
	if (known.count)
		qsort(known.values, known.count, sizeof(*known.values), by_value);
	return load_root_list(l, &known, ok);
}

static enum hg_status expect_word(
	struct record_loader *l, uint64_t expected, const char *what, bool *ok)
{
	uint64_t word;
	BASE_TRY(read_record_word(l, what, &word, ok));
	if (*ok && word != expected)
		return base_corrupt(l->error, base_cursor_offset(&l->in) - 8,
			"0x%llx where %s should be", (unsigned long long)word, what);
	return HG_OK;
}

static enum hg_status load_stack(struct record_loader *l, bool *ok)
{
	uint64_t tagged, value;
	BASE_TRY(read_record_word(l, "the size of the stack", &tagged, ok));
	if (!*ok)
		return HG_OK;
	uint64_t count = tagged >> 1;
	if (!(tagged & 1))
		return base_corrupt(l->error, base_cursor_offset(&l->in) - 8,
			"0x%llx where the size of the stack should be", (unsigned long long)tagged);
	if (count > base_cursor_left(&l->in) / 16 && !l->snap->accept_partial)
		return base_corrupt(l->error, base_cursor_offset(&l->in) - 8,
			"a stack of %llu entries, more than the file holds",
			(unsigned long long)count);
	for (uint64_t i = 0; i < count; i++) {
		BASE_TRY(expect_word(l, 1, "a stack entry", ok));
		if (*ok)
			BASE_TRY(read_record_word(l, "the stack", &value, ok));
		if (!*ok)
			return HG_OK;
		BASE_TRY(add_record_root(l, HG_ROOT_STACK, "entry", i, value));
	}
	return expect_word(l, 0, "the end of the stack", ok);
}

static enum hg_status load_bytecode(struct record_loader *l, bool *ok)
{
	uint64_t globals;
	BASE_TRY(read_record_word(l, "the globals", &globals, ok));
	if (!*ok)
		return HG_OK;
	/* The table of globals is not in the heap before the program has any. */
	if (!(globals & 1) && snap_chunk_at(l->snap, globals))
		BASE_TRY(add_record_root(
			l, HG_ROOT_GLOBAL, "caml_global_data", HG_UNKNOWN, globals));
	BASE_TRY(load_stack(l, ok));
	return *ok ? load_record_roots(l, ok) : HG_OK;
}

/* Fields of a module's block that lead into the heap; the block itself is static data. */
static enum hg_status load_module(struct record_loader *l, uint64_t number, bool *ok)
{
	uint64_t wosize, value;
	const char *name;
	char text[48];
	BASE_TRY(read_record_word(l, "a module", &wosize, ok));
	if (!*ok)
		return HG_OK;
	if (wosize > base_cursor_left(&l->in) / 8 && !l->snap->accept_partial)
		return base_corrupt(l->error, base_cursor_offset(&l->in) - 8,
			"a module of %llu fields, more than the file holds",
			(unsigned long long)wosize);
	int length = snprintf(text, sizeof(text), "module[%llu].field", (unsigned long long)number);
	BASE_TRY(base_pool_string(&l->snap->pool, text, (uint64_t)length, &name, l->error));
	for (uint64_t i = 0; i < wosize; i++) {
		BASE_TRY(read_record_word(l, "the fields of a module", &value, ok));
		if (!*ok)
			return HG_OK;
		if (!(value & 1) && snap_chunk_at(l->snap, value))
			BASE_TRY(add_record_root(l, HG_ROOT_GLOBAL, name, i, value));
	}
	return HG_OK;
}

/* Entries that begin with 1 until a 0: of modules, or of infos. */
static enum hg_status next_entry(struct record_loader *l, const char *what, bool *more, bool *ok)
{
	uint64_t word;
	BASE_TRY(read_record_word(l, what, &word, ok));
	*more = *ok && word == 1;
	if (*ok && word > 1)
		return base_corrupt(l->error, base_cursor_offset(&l->in) - 8,
			"0x%llx where %s should be", (unsigned long long)word, what);
	return HG_OK;
}

static enum hg_status load_module_records(struct record_loader *l, bool *ok)
{
	uint64_t module;
	for (uint64_t number = 0;; number++) {
		bool more;
		BASE_TRY(next_entry(l, "a module or the end of the modules", &more, ok));
		if (!more)
			return HG_OK;
		BASE_TRY(read_record_word(l, "a module", &module, ok));
		if (*ok && module != 0)
			BASE_TRY(load_module(l, number, ok));
		if (!*ok)
			return HG_OK;
	}
}

/* The writers never fill this table; its entries are opaque. */
static enum hg_status skip_infos(struct record_loader *l, bool *ok)
{
	uint64_t length;
	for (;;) {
		bool more;
		BASE_TRY(next_entry(l, "an info or the end of the infos", &more, ok));
		if (!more)
			return HG_OK;
		BASE_TRY(read_record_word(l, "an info", &length, ok));
		if (*ok && !base_cursor_skip(&l->in, length)) {
			*ok = false;
			return cut_records(l, "an info");
		}
		if (!*ok)
			return HG_OK;
	}
}

static enum hg_status load_native(struct record_loader *l, bool *ok)
{
	l->snap->native = true;
	BASE_TRY(load_module_records(l, ok));
	if (*ok)
		BASE_TRY(skip_infos(l, ok));
	return *ok ? load_record_roots(l, ok) : HG_OK;
}

/* No range ends after the last of all numbers; that is odd, and no pointer. */
static enum hg_status add_code(struct snap *snap, uint64_t value, struct hg_error *error)
{
	return value < UINT64_MAX ? snap_add_code(snap, value, value + 1, error) : HG_OK;
}

/* The writers tell two values that stand for code. */
static enum hg_status add_codes(
	struct snap *snap, uint64_t one, uint64_t other, struct hg_error *error)
{
	uint64_t low = one < other ? one : other, high = one < other ? other : one;
	if (high == 0)
		return HG_OK;
	BASE_TRY(add_code(snap, low, error));
	return high > low ? add_code(snap, high, error) : HG_OK;
}

static enum hg_status load_rest(struct record_loader *l, bool *ok)
{
	struct snap *snap = l->snap;
	uint64_t start, end = 0, bytecode = 0;
	BASE_TRY(read_record_word(l, "the code area", &start, ok));
	if (*ok)
		BASE_TRY(read_record_word(l, "the code area", &end, ok));
	if (*ok)
		BASE_TRY(read_record_word(l, "the kind of code", &bytecode, ok));
	if (!*ok)
		return HG_OK;
	if (bytecode != 0 && bytecode != 3)
		return base_corrupt(l->error, base_cursor_offset(&l->in) - 8,
			"0x%llx where 3 (bytecode) or 0 (native) should be",
			(unsigned long long)bytecode);
	BASE_TRY(add_codes(snap, start, end, l->error));
	BASE_TRY(bytecode ? load_bytecode(l, ok) : load_native(l, ok));
	if (*ok && base_cursor_left(&l->in))
		return base_corrupt(l->error, base_cursor_offset(&l->in),
			"%zu bytes more after the end", base_cursor_left(&l->in));
	return HG_OK;
}

enum hg_status snap_records_load(struct snap *snap, struct hg_error *error)
{
	struct record_loader l = {.snap = snap,
		.in = base_cursor_over(snap->file.bytes, snap->file.size),
		.error = error};
	bool ok;
	snap->reserved = SNAP_RECORD_RESERVED;
	BASE_TRY(load_program_name(&l, &ok));
	if (ok)
		BASE_TRY(load_records(&l, &ok));
	/* Roots are looked up among the chunks. */
	BASE_TRY(snap_end_blocks(snap, error));
	/* Blocks are read where they lie. */
	snap->largest_block = 0;
	return ok ? load_rest(&l, &ok) : HG_OK;
}

bool snap_records_recognise(const struct base_file *file)
{
	struct base_cursor c = base_cursor_over(file->bytes, file->size);
	uint8_t word_size;
	uint64_t length;
	return base_cursor_u8(&c, &word_size) && (word_size == 8 || word_size == 4) &&
	       base_cursor_u64le(&c, &length) && length > 0 && length <= LONGEST_NAME;
}

bool snap_records_next_run(struct snap_walk *walk, struct snap_run *run)
{
	*run = (struct snap_run){.records = walk->cursor.next,
		.records_end = walk->cursor.end,
		.record_count = walk->blocks_left};
	walk->blocks_left = 0;
	return true;
}
