/*
 * oracle - slow and simple analyser of historical OCaml heap dumps.
 *
 *	oracle [--v02] [--roots-all] [--naive | --chk] FILE	one CSV row per block
 *	oracle [--v02] --totals FILE	blocks bytes reachable_blocks reachable_bytes
 *	oracle [--v02] [--roots-all] --without ADDRESSES FILE	blocks bytes
 *
 * --without takes the blocks away that the file ADDRESSES names, one a line, and prints how much
 * the roots no longer reach.
 *
 * --naive finds the dominators by taking each block away in turn, --chk by the iteration of
 * Cooper, Harvey and Kennedy; without either, the first up to 4096 reachable blocks.
 *
 * It shares no code with heapgraph and is what heapgraph's answers are compared with, so each
 * step is the obvious one, not the fast one.  It reads the v0.1 dumps, the v0.2 dumps (bytecode
 * and native) and OCP-2014D001.  All of them are told apart by their contents; --v02 is accepted
 * because a bytecode dump of v0.2 cannot be told from one of v0.1, but they are read alike.
 *
 * Roots have tiers: lasting ones, stacks, values of finalisers.  A block belongs to the first tier
 * that reaches it together with those before, and what holds a block of an earlier tier does not
 * count: these edges are taken away before anything is asked about dominators.  --roots-all puts
 * the stacks into the first tier.
 *
 * Rows are sorted by address.  "words" leaves the header out, "bytes" counts it.  A block that
 * no root reaches has retained_bytes 0 and an empty idom; otherwise idom is the address of the
 * immediate dominator, or "root": the virtual root, or the one root slot that holds the block.
 * Slots have no size and nothing but the virtual root points to them, so leaving them out of the
 * graph changes neither the dominating blocks nor the sizes.
 *
 * Exit status: 0 done, 1 wrong usage or no such file, 2 the file is damaged.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define NAIVE_LIMIT 4096
#define TAG_CLOSURE 247
#define TAG_INFIX 249
#define TAG_NO_SCAN 251
#define OCP_MAGIC "OCP-2014D001"

struct block {
	uint64_t addr;         /* of field 0 */
	uint64_t words;        /* without the header */
	const uint8_t *fields; /* raw words in the file, NULL when it does not hold them */
	uint64_t first_target; /* the block's span in heap.targets */
	uint64_t target_count;
	unsigned tag;
};

struct words {
	uint64_t *data;
	uint64_t count, capacity;
};

enum tier { LASTING, PASSING, LAST, TIERS };

struct heap {
	uint8_t *file;
	struct block *blocks;
	uint64_t block_count, block_capacity;
	struct words targets;      /* field values that may be pointers, as addresses */
	struct words roots[TIERS]; /* the same for the root slots */
	uint64_t code_start, code_end;
};

struct reader {
	const uint8_t *start, *next, *end;
};

/* The blocks are nodes 0..block_count-1. */
struct graph {
	uint32_t node_count;
	uint64_t *first_edge; /* node_count + 1 of them */
	uint32_t *edges;
	uint32_t *roots;
	uint64_t root_count;
	bool *reachable;
	uint32_t reachable_count;
	uint32_t *idom; /* NONE: the virtual root */
	uint64_t *retained;
};

static _Noreturn void fail(int status, const char *format, ...)
{
	va_list args;

	fputs("oracle: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

static _Noreturn void damaged(const struct reader *r, const char *what)
{
	fail(2, "%s, before byte %td", what, r->next - r->start);
}

static void *allocate(uint64_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		fail(1, "out of memory");
	return memory;
}

static void *grow(void *memory, uint64_t *capacity, size_t size)
{
	*capacity = *capacity ? *capacity * 2 : 1024;
	memory = realloc(memory, *capacity * size);
	if (!memory)
		fail(1, "out of memory");
	return memory;
}

static void push_word(struct words *words, uint64_t word)
{
	if (words->count == words->capacity)
		words->data = grow(words->data, &words->capacity, sizeof(*words->data));
	words->data[words->count++] = word;
}

/* Integers are odd, everything else is looked at again once all blocks are known. */
static void push_value(struct words *words, uint64_t value)
{
	if (!(value & 1))
		push_word(words, value);
}

static struct block *push_block(struct heap *heap, uint64_t addr, uint64_t words, unsigned tag)
{
	struct block *block;

	if (heap->block_count == heap->block_capacity)
		heap->blocks = grow(heap->blocks, &heap->block_capacity, sizeof(*heap->blocks));
	block = &heap->blocks[heap->block_count++];
	*block = (struct block){
		.addr = addr, .words = words, .tag = tag, .first_target = heap->targets.count};
	return block;
}

static const uint8_t *take(struct reader *r, uint64_t count)
{
	const uint8_t *bytes = r->next;

	if (count > (uint64_t)(r->end - r->next))
		damaged(r, "truncated");
	r->next += count;
	return bytes;
}

static unsigned read_byte(struct reader *r)
{
	return *take(r, 1);
}

static uint64_t little_endian(const uint8_t *bytes)
{
	uint64_t word = 0;

	for (int i = 7; i >= 0; i--)
		word = word << 8 | bytes[i];
	return word;
}

static uint64_t read_word(struct reader *r)
{
	return little_endian(take(r, 8));
}

static uint64_t read_big_endian(struct reader *r, int count)
{
	uint64_t word = 0;

	while (count--)
		word = word << 8 | read_byte(r);
	return word;
}

static void expect_end(const struct reader *r, const char *what)
{
	if (r->next != r->end)
		damaged(r, what);
}

static void check_size(const struct reader *r, uint64_t words)
{
	if (words >> 54)
		damaged(r, "impossible block size");
}

/* v0.1 and v0.2 */

static void read_classic_block(struct reader *r, struct heap *heap)
{
	uint64_t addr = read_word(r);
	unsigned tag = read_byte(r);
	uint64_t words = read_word(r);
	struct block *block;

	read_word(r); /* location id */
	check_size(r, words);
	block = push_block(heap, addr, words, tag);
	if (tag >= TAG_NO_SCAN)
		return;
	block->fields = take(r, words * 8);
	for (uint64_t i = 0; i < words; i++)
		push_value(&heap->targets, little_endian(block->fields + 8 * i));
	block->target_count = heap->targets.count - block->first_target;
}

static void read_classic_records(struct reader *r, struct heap *heap)
{
	for (;;) {
		unsigned kind = read_byte(r);

		if (kind == 0x01)
			read_classic_block(r, heap);
		else if (kind == 0x00)
			take(r, 16); /* bounds of a chunk */
		else if (kind == 0xFF)
			return;
		else if (kind != 0x0A)
			damaged(r, "unknown record");
	}
}

static void read_classic_stack(struct reader *r, struct heap *heap)
{
	uint64_t announced = read_word(r);
	uint64_t seen = 0, more;

	while ((more = read_word(r)) == 1) {
		push_value(&heap->roots[PASSING], read_word(r));
		seen++;
	}
	if (more != 0)
		damaged(r, "bad stack entry");
	if (announced != 2 * seen + 1)
		damaged(r, "the stack is not as long as announced");
}

static void read_native_modules(struct reader *r, struct heap *heap)
{
	uint64_t more;

	while ((more = read_word(r)) == 1) {
		uint64_t module = read_word(r);
		uint64_t count = module ? read_word(r) : 0;

		while (count--)
			push_value(&heap->roots[LASTING], read_word(r));
	}
	if (more != 0)
		damaged(r, "bad module");
	while ((more = read_word(r)) == 1)
		take(r, read_word(r));
	if (more != 0)
		damaged(r, "bad module information");
}

static bool take_away(uint64_t *words, uint64_t *count, uint64_t word)
{
	for (uint64_t i = 0; i < *count; i++) {
		if (words[i] != word)
			continue;
		words[i] = words[--*count];
		return true;
	}
	return false;
}

/* The list of all roots repeats the globals and the stack: one for one. */
static void read_classic(struct reader *r, struct heap *heap)
{
	uint64_t kind, root, known_count = 0;
	uint64_t *known;

	if (read_byte(r) != 8)
		damaged(r, "not a heap dump of a 64-bit program");
	take(r, read_word(r)); /* name of the program */
	read_classic_records(r, heap);
	heap->code_start = read_word(r);
	heap->code_end = read_word(r);
	kind = read_word(r);
	if (kind == 3) {
		push_value(&heap->roots[LASTING], read_word(r)); /* caml_global_data */
		read_classic_stack(r, heap);
	} else if (kind == 0) {
		read_native_modules(r, heap);
	} else {
		damaged(r, "neither bytecode nor native");
	}
	known = allocate(heap->roots[LASTING].count + heap->roots[PASSING].count, sizeof(*known));
	for (int tier = LASTING; tier <= PASSING; tier++)
		for (uint64_t i = 0; i < heap->roots[tier].count; i++)
			known[known_count++] = heap->roots[tier].data[i];
	while ((root = read_word(r)) != 1)
		if (!take_away(known, &known_count, root))
			push_value(&heap->roots[LASTING], root);
	free(known);
	expect_end(r, "bytes after the end of the roots");
}

/* OCP-2014D001 */

struct ocp {
	struct reader file;
	struct heap *heap;
	unsigned location_bits;
	bool native, has_graph;
};

/* 7 bits a byte, low ones first; the last byte is the one with bit 7. */
static uint64_t read_uint(struct reader *r)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 63; shift += 7) {
		unsigned byte = read_byte(r);

		value |= (uint64_t)(byte & 0x7F) << shift;
		if (byte & 0x80)
			return value;
	}
	damaged(r, "number too long");
}

/* The sections are found through the footer at the end of the file. */
static struct reader ocp_section(const struct ocp *dump, const char *name)
{
	struct reader footer = dump->file;
	uint64_t size = (uint64_t)(dump->file.end - dump->file.start);
	uint64_t count, from = 0, to = 0;
	bool found = false;

	take(&footer, size - 8);
	count = read_word(&footer);
	if (count > (size - 8) / 12)
		damaged(&footer, "bad footer");
	footer.next = footer.end - 8 - 12 * count;
	to = size - 8 - 12 * count;
	for (uint64_t i = 0; i < count; i++) {
		const uint8_t *entry_name = take(&footer, 4);
		uint64_t offset = read_word(&footer);

		if (found) {
			to = offset;
			break;
		}
		found = !memcmp(entry_name, name, 4);
		from = offset;
	}
	if (!found || from > to || to > size)
		damaged(&footer, "section missing or misplaced");
	return (struct reader){dump->file.start, dump->file.start + from, dump->file.start + to};
}

/*
 * A prefix of the first byte says how long the offset is; the bits after it, and the bytes
 * that follow, are a signed number, high byte first.
 */
static int64_t read_ocp_offset(struct reader *r, unsigned first)
{
	static const struct {
		unsigned mask, prefix;
		int more_bytes, bits;
	} forms[] = {
		{0x80, 0x00, 0, 7},
		{0xC0, 0x80, 1, 14},
		{0xE0, 0xC0, 2, 21},
		{0xF0, 0xE0, 3, 28},
		{0xFC, 0xF8, 4, 34},
		{0xFE, 0xFC, 5, 41},
		{0xFF, 0xFE, 6, 48},
		{0xFF, 0xFF, 8, 64},
	};
	size_t i = 0;
	uint64_t raw, sign;

	while (i < 7 && (first & forms[i].mask) != forms[i].prefix)
		i++;
	raw = first & ~forms[i].mask;
	for (int byte = 0; byte < forms[i].more_bytes; byte++)
		raw = raw << 8 | read_byte(r);
	sign = UINT64_C(1) << (forms[i].bits - 1);
	return (int64_t)((raw ^ sign) - sign);
}

static void read_ocp_fields(const struct ocp *dump, struct reader *r, struct block *block)
{
	struct words *targets = &dump->heap->targets;
	uint64_t left = block->words;

	while (left) {
		unsigned first = read_byte(r);
		uint64_t fields = 1;

		if (first >= 0xF0 && first <= 0xF3)
			fields = first - 0xF0 + 1;
		else if (first < 0xF0 || first > 0xF7)
			push_value(targets, block->addr + 8 * (uint64_t)read_ocp_offset(r, first));
		if (fields > left)
			damaged(r, "more fields than the block has");
		left -= fields;
	}
	block->target_count = targets->count - block->first_target;
}

/* Reads the entry of the block whose header is at addr; its size in words with the header. */
static uint64_t read_ocp_entry(const struct ocp *dump, struct reader *r, uint64_t addr)
{
	unsigned first = *take(r, 1);
	unsigned tag;
	uint64_t words, bits;

	if (first & 0x80) {
		words = first & 0x7F;
		if (words == 0x7F)
			words = read_word(r);
		check_size(r, words);
		return words + 1;
	}
	r->next--;
	if (first >> 5 == 2) {
		bits = read_big_endian(r, 4);
		tag = bits & 0xF;
		words = (bits & 0x1FFFFFFF) >> 4 >> dump->location_bits;
	} else if (first >> 5 == 3) {
		bits = read_big_endian(r, 5);
		tag = bits & 0xFF;
		words = (bits & UINT64_C(0x1FFFFFFFFF)) >> 8 >> dump->location_bits;
	} else {
		bits = read_big_endian(r, 8);
		tag = bits & 0xFF;
		words = bits >> 30;
	}
	push_block(dump->heap, addr + 8, words, tag);
	if (dump->has_graph && tag < TAG_NO_SCAN)
		read_ocp_fields(dump, r, &dump->heap->blocks[dump->heap->block_count - 1]);
	return words + 1;
}

static void read_ocp_blocks(struct ocp *dump)
{
	struct reader chunks = ocp_section(dump, "CHKS");
	struct reader blocks = ocp_section(dump, "BLKS");
	uint64_t announced = read_word(&chunks);
	uint64_t chunk_count;

	dump->has_graph = read_byte(&chunks) != 0;
	chunk_count = read_word(&chunks);
	while (chunk_count--) {
		uint64_t addr = read_word(&chunks);
		uint64_t left = read_word(&chunks) / 8;

		while (left) {
			uint64_t size = read_ocp_entry(dump, &blocks, addr);

			if (size > left)
				damaged(&blocks, "block beyond the end of its chunk");
			addr += size * 8;
			left -= size;
		}
	}
	expect_end(&chunks, "bytes after the last chunk");
	expect_end(&blocks, "bytes after the last block");
	if (announced != dump->heap->block_count)
		damaged(&blocks, "another number of blocks than announced");
}

static void skip_backtrace(struct reader *r)
{
	for (;;) {
		unsigned opcode = read_byte(r);

		if (opcode == 2 || opcode == 0)
			return;
		if (opcode != 1)
			damaged(r, "bad backtrace");
		read_word(r);
		read_uint(r);
		if (read_byte(r)) {
			take(r, read_uint(r));
			read_uint(r);
			read_uint(r);
			read_uint(r);
		}
	}
}

static void read_root_words(struct reader *r, struct words *roots, uint64_t count, bool slots)
{
	while (count--) {
		if (slots)
			read_word(r); /* address of the slot */
		push_value(roots, read_word(r));
	}
}

/* Part of the roots before the backtrace; the counts are the last words of the section. */
static void read_ocp_root_lists(const struct ocp *dump, struct reader *r, struct words *hook)
{
	enum { GLOBALS, DYNAMIC, STACK, C_ROOTS, FINAL, HOOK, COUNTS };
	struct words *roots = &dump->heap->roots[LASTING];
	struct reader tail = *r;
	uint64_t counts[COUNTS];

	if (r->end - r->next < COUNTS * 8)
		damaged(r, "roots too short");
	r->end -= COUNTS * 8;
	tail.next = r->end;
	for (int i = 0; i < COUNTS; i++)
		counts[i] = read_word(&tail);
	if (!dump->native)
		push_value(roots, read_word(r)); /* caml_global_data */
	else
		for (uint64_t i = 0; i < counts[GLOBALS]; i++)
			read_root_words(r, roots, read_word(r), false);
	read_root_words(r, roots, counts[DYNAMIC], false);
	read_root_words(r, &dump->heap->roots[PASSING], counts[STACK], true);
	read_root_words(r, roots, counts[C_ROOTS], true);
	read_root_words(r, roots, counts[FINAL], false);
	/* Integers stay in this list: threads count them. */
	while (counts[HOOK]--) {
		read_word(r); /* address of the slot */
		push_word(hook, read_word(r));
	}
}

/* The hook's slots: those of threads that did not run are stack, whatever else it is is kept. */
static void read_ocp_threads(const struct ocp *dump, struct reader *r, const struct words *hook)
{
	bool *is_stack = allocate(hook->count, sizeof(*is_stack));

	while (read_uint(r)) {
		uint64_t begin = read_uint(r), end = read_uint(r);

		for (uint64_t i = begin; i < end && i < hook->count; i++)
			is_stack[i] = true;
		skip_backtrace(r);
	}
	for (uint64_t i = 0; i < hook->count; i++)
		push_value(&dump->heap->roots[is_stack[i] ? PASSING : LASTING], hook->data[i]);
	free(is_stack);
}

static void read_ocp_roots(const struct ocp *dump)
{
	struct reader r = ocp_section(dump, "ROOT");
	struct words hook = {0};
	uint64_t length;

	read_ocp_root_lists(dump, &r, &hook);
	skip_backtrace(&r);
	read_ocp_threads(dump, &r, &hook);
	free(hook.data);
	while ((length = read_uint(&r))) { /* named values */
		take(&r, length - 1);
		push_value(&dump->heap->roots[LASTING], read_word(&r));
	}
	expect_end(&r, "bytes after the roots");
}

static void read_ocp_finalised(const struct ocp *dump)
{
	struct reader r = ocp_section(dump, "FINA");

	for (int i = 0; i < 5; i++)
		read_uint(&r);
	/* The first of these counts cannot be trusted, the length of the section can. */
	while (r.next != r.end)
		push_value(&dump->heap->roots[LAST], read_word(&r));
}

static void read_ocp(struct reader *r, struct heap *heap)
{
	struct ocp dump = {.file = *r, .heap = heap};

	take(r, strlen(OCP_MAGIC));
	if (read_byte(r) != 64)
		damaged(r, "not a heap dump of a 64-bit program");
	dump.location_bits = read_byte(r);
	if (dump.location_bits > 25)
		damaged(r, "too many bits of location");
	dump.native = read_byte(r) != 0;
	if (read_byte(r) > 0)
		take(r, read_uint(r)); /* name of the dump */
	read_ocp_blocks(&dump);
	read_ocp_roots(&dump);
	read_ocp_finalised(&dump);
}

/* From addresses to nodes */

static int compare_blocks(const void *left, const void *right)
{
	const struct block *a = left, *b = right;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

static void sort_blocks(struct heap *heap)
{
	if (heap->block_count >= NONE)
		fail(1, "too many blocks");
	if (heap->block_count)
		qsort(heap->blocks, heap->block_count, sizeof(*heap->blocks), compare_blocks);
	for (uint64_t i = 1; i < heap->block_count; i++) {
		const struct block *before = &heap->blocks[i - 1];

		if (heap->blocks[i].addr - before->addr < (before->words + 1) * 8)
			fail(2, "the block at 0x%" PRIx64 " overlaps the one before it",
				heap->blocks[i].addr);
	}
}

/* Is there an infix header right before this address, and does it lead back to the block? */
static bool is_infix_pointer(const struct block *block, uint64_t addr)
{
	uint64_t distance = addr - block->addr;
	uint64_t header;

	if (block->tag != TAG_CLOSURE || distance >= block->words * 8 || distance % 8)
		return false;
	/* OCP dumps do not hold these headers: nothing else points inside a closure. */
	if (!block->fields)
		return true;
	header = little_endian(block->fields + distance - 8);
	return (header & 0xFF) == TAG_INFIX &&
	       (header >> 10 & ((UINT64_C(1) << 33) - 1)) * 8 == distance;
}

static uint32_t resolve(const struct heap *heap, uint64_t addr)
{
	uint64_t low = 0, high = heap->block_count;

	if (addr >= heap->code_start && addr <= heap->code_end)
		return NONE;
	/* Invariant: blocks before low start at or before addr, blocks from high on after it. */
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (heap->blocks[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NONE;
	if (heap->blocks[low - 1].addr != addr && !is_infix_pointer(&heap->blocks[low - 1], addr))
		return NONE;
	return (uint32_t)(low - 1);
}

static void build_graph(const struct heap *heap, struct graph *graph)
{
	uint64_t edge_count = 0;
	uint32_t target;

	graph->node_count = (uint32_t)heap->block_count;
	graph->first_edge = allocate(heap->block_count + 1, sizeof(*graph->first_edge));
	graph->edges = allocate(heap->targets.count, sizeof(*graph->edges));
	graph->roots = allocate(
		heap->roots[LASTING].count + heap->roots[PASSING].count + heap->roots[LAST].count,
		sizeof(*graph->roots));
	for (uint64_t i = 0; i < heap->block_count; i++) {
		const struct block *block = &heap->blocks[i];

		graph->first_edge[i] = edge_count;
		for (uint64_t j = 0; j < block->target_count; j++) {
			target = resolve(heap, heap->targets.data[block->first_target + j]);
			if (target != NONE)
				graph->edges[edge_count++] = target;
		}
	}
	graph->first_edge[heap->block_count] = edge_count;
}

/*
 * Marks in seen what the roots reach without passing through the node banned (NONE: nothing is
 * banned) and returns how much that is.  seen is all false at the start; queue has room for all
 * nodes and holds the nodes found, in the order of discovery.
 */
static uint32_t search(const struct graph *graph, uint32_t banned, bool *seen, uint32_t *queue)
{
	uint32_t found = 0;

	for (uint64_t i = 0; i < graph->root_count; i++) {
		uint32_t node = graph->roots[i];

		if (node != banned && !seen[node]) {
			seen[node] = true;
			queue[found++] = node;
		}
	}
	for (uint32_t next = 0; next < found; next++) {
		uint64_t end = graph->first_edge[queue[next] + 1];

		for (uint64_t i = graph->first_edge[queue[next]]; i < end; i++) {
			uint32_t node = graph->edges[i];

			if (node != banned && !seen[node]) {
				seen[node] = true;
				queue[found++] = node;
			}
		}
	}
	return found;
}

/* Adds the roots of a tier, but for those whose block is of an earlier one. */
static void add_roots(
	const struct heap *heap, struct graph *graph, const struct words *roots, const bool *before)
{
	for (uint64_t i = 0; i < roots->count; i++) {
		uint32_t target = resolve(heap, roots->data[i]);

		if (target != NONE && !(before && before[target]))
			graph->roots[graph->root_count++] = target;
	}
}

/* Takes away the edges that lead from a block to one of an earlier tier. */
static void forget_edges(struct graph *graph, bool *const seen[TIERS])
{
	uint64_t kept = 0, next = 0;

	for (uint32_t node = 0; node < graph->node_count; node++) {
		uint64_t end = graph->first_edge[node + 1];

		graph->first_edge[node] = kept;
		for (; next < end; next++) {
			uint32_t target = graph->edges[next];
			bool drop = false;

			for (int tier = LASTING; tier < LAST; tier++)
				drop |= seen[tier][target] && !seen[tier][node];
			if (!drop)
				graph->edges[kept++] = target;
		}
	}
	graph->first_edge[graph->node_count] = kept;
}

static void find_reachable(const struct heap *heap, struct graph *graph, bool all_roots_alike)
{
	uint32_t *queue = allocate(graph->node_count, sizeof(*queue));
	bool *seen[TIERS];

	for (int tier = LASTING; tier < TIERS; tier++) {
		add_roots(heap, graph, &heap->roots[tier], tier ? seen[tier - 1] : NULL);
		if (tier == LASTING && all_roots_alike)
			add_roots(heap, graph, &heap->roots[PASSING], NULL);
		seen[tier] = allocate(graph->node_count, sizeof(**seen));
		graph->reachable_count = search(graph, NONE, seen[tier], queue);
	}
	forget_edges(graph, seen);
	graph->reachable = seen[LAST];
	free(seen[LASTING]);
	free(seen[PASSING]);
	free(queue);
}

static uint64_t block_bytes(const struct heap *heap, uint64_t node)
{
	return (heap->blocks[node].words + 1) * 8;
}

/*
 * By definition: a node dominates what can no longer be reached once it is removed.  The
 * dominators of a node form a chain, so its immediate one is that which dominates the fewest.
 */
static void dominators_by_removal(const struct heap *heap, struct graph *graph)
{
	uint32_t count = graph->node_count;
	bool *seen = allocate(count, sizeof(*seen));
	uint32_t *queue = allocate(count, sizeof(*queue));
	uint32_t *fewest = allocate(count, sizeof(*fewest));

	memset(fewest, 0xFF, count * sizeof(*fewest));
	for (uint32_t removed = 0; removed < count; removed++) {
		uint32_t dominated;

		if (!graph->reachable[removed])
			continue;
		memset(seen, 0, count * sizeof(*seen));
		dominated = graph->reachable_count - search(graph, removed, seen, queue);
		for (uint32_t node = 0; node < count; node++) {
			if (seen[node] || !graph->reachable[node])
				continue;
			graph->retained[removed] += block_bytes(heap, node);
			if (node != removed && dominated < fewest[node]) {
				fewest[node] = dominated;
				graph->idom[node] = removed;
			}
		}
	}
	free(seen);
	free(queue);
	free(fewest);
}

/*
 * Cooper, Harvey and Kennedy.  Inside, nodes are called by their position in reverse
 * postorder, and position 0 is the virtual root.
 */
struct chk {
	uint32_t count;     /* positions, with that of the virtual root */
	uint32_t *node_at;  /* position -> node; [0] is not used */
	uint32_t *position; /* node -> position, 0 for unreachable nodes */
	uint64_t *first_pred;
	uint32_t *preds;
	uint32_t *idom; /* NONE: not known yet */
};

/* Depth first search from one root; gives out positions from *next downwards. */
static void number_from(const struct graph *graph, uint32_t root, struct chk *chk, bool *seen,
	uint32_t *stack, uint64_t *cursor, uint32_t *next)
{
	uint32_t depth = 1;

	seen[root] = true;
	stack[0] = root;
	while (depth) {
		uint32_t node = stack[depth - 1];
		uint32_t child;

		if (graph->first_edge[node] + cursor[node] == graph->first_edge[node + 1]) {
			chk->position[node] = *next;
			chk->node_at[(*next)--] = node;
			depth--;
			continue;
		}
		child = graph->edges[graph->first_edge[node] + cursor[node]++];
		if (!seen[child]) {
			seen[child] = true;
			stack[depth++] = child;
		}
	}
}

static void number_nodes(const struct graph *graph, struct chk *chk)
{
	bool *seen = allocate(graph->node_count, sizeof(*seen));
	uint32_t *stack = allocate(graph->node_count, sizeof(*stack));
	uint64_t *cursor = allocate(graph->node_count, sizeof(*cursor));
	uint32_t next = graph->reachable_count;

	chk->count = graph->reachable_count + 1;
	chk->node_at = allocate(chk->count, sizeof(*chk->node_at));
	chk->position = allocate(graph->node_count, sizeof(*chk->position));
	for (uint64_t i = 0; i < graph->root_count; i++)
		if (!seen[graph->roots[i]])
			number_from(graph, graph->roots[i], chk, seen, stack, cursor, &next);
	free(seen);
	free(stack);
	free(cursor);
}

/* The first round counts the predecessors of each position, the second one stores them. */
static void collect_predecessors(const struct graph *graph, struct chk *chk)
{
	uint64_t *fill = allocate((uint64_t)chk->count + 1, sizeof(*fill));

	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < graph->root_count; i++) {
			uint64_t at = fill[chk->position[graph->roots[i]]]++;

			if (round)
				chk->preds[at] = 0;
		}
		for (uint32_t from = 1; from < chk->count; from++) {
			uint32_t node = chk->node_at[from];
			uint64_t end = graph->first_edge[node + 1];

			for (uint64_t i = graph->first_edge[node]; i < end; i++) {
				uint64_t at = fill[chk->position[graph->edges[i]]]++;

				if (round)
					chk->preds[at] = from;
			}
		}
		if (round)
			break;
		chk->first_pred = allocate((uint64_t)chk->count + 1, sizeof(*chk->first_pred));
		for (uint32_t i = 0; i < chk->count; i++)
			chk->first_pred[i + 1] = chk->first_pred[i] + fill[i];
		memcpy(fill, chk->first_pred, chk->count * sizeof(*fill));
		chk->preds = allocate(chk->first_pred[chk->count], sizeof(*chk->preds));
	}
	free(fill);
}

/* Lowest common ancestor in the tree so far; parents have the smaller positions. */
static uint32_t intersect(const uint32_t *idom, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (a > b)
			a = idom[a];
		while (b > a)
			b = idom[b];
	}
	return a;
}

static void iterate_to_fixpoint(struct chk *chk)
{
	bool changed = true;

	chk->idom = allocate(chk->count, sizeof(*chk->idom));
	memset(chk->idom, 0xFF, chk->count * sizeof(*chk->idom));
	chk->idom[0] = 0;
	while (changed) {
		changed = false;
		for (uint32_t at = 1; at < chk->count; at++) {
			uint32_t common = NONE;

			for (uint64_t i = chk->first_pred[at]; i < chk->first_pred[at + 1]; i++) {
				uint32_t pred = chk->preds[i];

				if (chk->idom[pred] == NONE)
					continue;
				common = common == NONE ? pred : intersect(chk->idom, common, pred);
			}
			changed |= chk->idom[at] != common;
			chk->idom[at] = common;
		}
	}
}

static void dominators_by_iteration(const struct heap *heap, struct graph *graph)
{
	struct chk chk = {0};

	number_nodes(graph, &chk);
	collect_predecessors(graph, &chk);
	iterate_to_fixpoint(&chk);
	/* Backwards: all a node dominates has been added to it before it is passed on. */
	for (uint32_t at = chk.count - 1; at > 0; at--) {
		uint32_t node = chk.node_at[at];

		graph->retained[node] += block_bytes(heap, node);
		if (chk.idom[at]) {
			graph->idom[node] = chk.node_at[chk.idom[at]];
			graph->retained[graph->idom[node]] += graph->retained[node];
		}
	}
	free(chk.node_at);
	free(chk.position);
	free(chk.first_pred);
	free(chk.preds);
	free(chk.idom);
}

/* Output */

static void print_totals(const struct heap *heap, const struct graph *graph)
{
	uint64_t bytes = 0, reachable_bytes = 0;

	for (uint32_t i = 0; i < graph->node_count; i++) {
		bytes += block_bytes(heap, i);
		if (graph->reachable[i])
			reachable_bytes += block_bytes(heap, i);
	}
	printf("%" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu64 "\n", graph->node_count, bytes,
		graph->reachable_count, reachable_bytes);
}

static void print_rows(const struct heap *heap, const struct graph *graph)
{
	puts("address,tag,words,bytes,reachable,retained_bytes,idom");
	for (uint32_t i = 0; i < graph->node_count; i++) {
		const struct block *block = &heap->blocks[i];

		printf("0x%" PRIx64 ",%u,%" PRIu64 ",%" PRIu64 ",%d,%" PRIu64 ",", block->addr,
			block->tag, block->words, block_bytes(heap, i), graph->reachable[i],
			graph->retained[i]);
		if (!graph->reachable[i])
			puts("");
		else if (graph->idom[i] == NONE)
			puts("root");
		else
			printf("0x%" PRIx64 "\n", heap->blocks[graph->idom[i]].addr);
	}
}

/* Those named in the file seem to have been seen, so that the search goes around them. */
static void print_lost(const struct heap *heap, const struct graph *graph, const char *addresses)
{
	bool *seen = allocate(graph->node_count, sizeof(*seen));
	uint32_t *queue = allocate(graph->node_count, sizeof(*queue));
	bool *found = allocate(graph->node_count, sizeof(*found));
	FILE *file = fopen(addresses, "r");
	uint64_t address, bytes = 0;
	uint32_t blocks = 0;

	if (!file)
		fail(1, "cannot open %s", addresses);
	while (fscanf(file, "%" SCNx64, &address) == 1) {
		uint32_t node = resolve(heap, address);

		if (node == NONE)
			fail(1, "no block at 0x%" PRIx64, address);
		seen[node] = true;
	}
	fclose(file);
	for (uint32_t i = search(graph, NONE, seen, queue); i-- > 0;)
		found[queue[i]] = true;
	for (uint32_t i = 0; i < graph->node_count; i++) {
		if (graph->reachable[i] && !found[i]) {
			blocks++;
			bytes += block_bytes(heap, i);
		}
	}
	printf("%" PRIu32 " %" PRIu64 "\n", blocks, bytes);
	free(seen);
	free(queue);
	free(found);
}

static struct reader load(const char *path, struct heap *heap)
{
	FILE *file = fopen(path, "rb");
	uint64_t size = 0, capacity = 0;

	if (!file)
		fail(1, "cannot open %s", path);
	do {
		if (size == capacity)
			heap->file = grow(heap->file, &capacity, 1);
		size += fread(heap->file + size, 1, capacity - size, file);
	} while (size == capacity);
	if (ferror(file))
		fail(1, "cannot read %s", path);
	fclose(file);
	return (struct reader){heap->file, heap->file, heap->file + size};
}

static void read_heap(const char *path, struct heap *heap)
{
	struct reader r = load(path, heap);
	size_t magic = strlen(OCP_MAGIC);

	if ((size_t)(r.end - r.start) > magic && !memcmp(r.start, OCP_MAGIC, magic))
		read_ocp(&r, heap);
	else
		read_classic(&r, heap);
	sort_blocks(heap);
}

static _Noreturn void usage(void)
{
	fputs("usage: oracle [--v02] [--roots-all] [--totals | --naive | --chk | --without "
	      "ADDRESSES] FILE\n",
		stderr);
	exit(1);
}

static void analyse(const struct heap *heap, struct graph *graph, bool naive, bool chk)
{
	graph->retained = allocate(graph->node_count, sizeof(*graph->retained));
	graph->idom = allocate(graph->node_count, sizeof(*graph->idom));
	memset(graph->idom, 0xFF, graph->node_count * sizeof(*graph->idom));
	if (naive || (!chk && graph->reachable_count <= NAIVE_LIMIT))
		dominators_by_removal(heap, graph);
	else
		dominators_by_iteration(heap, graph);
}

/* So that leak checkers have nothing to say. */
static void release(struct heap *heap, struct graph *graph)
{
	free(heap->file);
	free(heap->blocks);
	free(heap->targets.data);
	for (int tier = LASTING; tier < TIERS; tier++)
		free(heap->roots[tier].data);
	free(graph->first_edge);
	free(graph->edges);
	free(graph->roots);
	free(graph->reachable);
	free(graph->idom);
	free(graph->retained);
}

int main(int argc, char **argv)
{
	struct heap heap = {0};
	struct graph graph = {0};
	bool totals = false, naive = false, chk = false, all_roots_alike = false;
	const char *without = NULL;
	int i = 1;

	for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
		if (!strcmp(argv[i], "--totals"))
			totals = true;
		else if (!strcmp(argv[i], "--naive"))
			naive = true;
		else if (!strcmp(argv[i], "--chk"))
			chk = true;
		else if (!strcmp(argv[i], "--roots-all"))
			all_roots_alike = true;
		else if (!strcmp(argv[i], "--without") && i + 1 < argc)
			without = argv[++i];
		else if (strcmp(argv[i], "--v02"))
			usage();
	}
	if (i + 1 != argc || totals + naive + chk + !!without > 1)
		usage();
	read_heap(argv[i], &heap);
	build_graph(&heap, &graph);
	find_reachable(&heap, &graph, all_roots_alike);
	if (totals) {
		print_totals(&heap, &graph);
	} else if (without) {
		print_lost(&heap, &graph, without);
	} else {
		analyse(&heap, &graph, naive, chk);
		print_rows(&heap, &graph);
	}
	release(&heap, &graph);
	if (fflush(stdout) || ferror(stdout))
		fail(1, "cannot write");
	return 0;
}
