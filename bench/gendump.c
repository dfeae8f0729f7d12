/*
 * gendump - writes a made-up v0.1 heap dump, for benchmarks and tests.
 *
 *	gendump SHAPE BLOCKS SEED OUT
 *
 * builds a heap of about BLOCKS blocks and writes it to OUT.  The same arguments give the same
 * bytes everywhere.  Shapes:
 *
 *	mix		48 data structures of all sorts growing at the same time, 2 to 3 % garbage
 *	shuffled	mix, each block at a random place
 *	list		one list of integers, boxed values and leaves shared with others
 *	tree		one balanced tree
 *	share		a list of records that mostly hold shared leaves
 *	cyc		one doubly linked ring with shortcuts
 *	hash		one hash table
 *	clos		a chain of closures, some of them mutually recursive
 *	table		one array of BLOCKS values: the one shape with fewer blocks, a third
 *	listtab		a list of floats, with all the floats in an array, too
 *	listfirst	a list with the tail in front of the value, with all the cells in an array
 *	deeplist	a list of exactly BLOCKS cells of integers
 *	deeptree	a left-leaning tree of depth BLOCKS, one right subtree in 16 not empty
 *
 * It prints what it wrote: blocks, words (with headers), edges (fields that point to a block),
 * roots (entries of the roots list) and bytes of the file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BASE UINT64_C(0x7f1200000000)
#define MIB (UINT64_C(1) << 20)
#define CHUNK_BYTES (32 * MIB)

/* The bytecode lies elsewhere; dumps know only these two addresses of it. */
#define CODE_START UINT64_C(0x55d0c0de0650)
#define CODE_END UINT64_C(0x55d0c0df12fc)
/* The empty array is static data of the runtime, outside the heap. */
#define EMPTY_ARRAY UINT64_C(0x55d0c0a04008)

#define MAX_BUILDERS 48
#define WINDOW 256 /* the ring's shortcuts go back no more than that */
#define MAX_LEAVES (1u << 17)
#define SITES_PER_KIND 24
#define MAX_MODULES 32
#define MODULE_FIELDS 16
#define STACK_ENTRIES 6

enum {
	TAG_LAZY = 246,
	TAG_CLOSURE,
	TAG_OBJECT,
	TAG_INFIX,
	TAG_FORWARD,
	TAG_ABSTRACT,
	TAG_STRING,
	TAG_DOUBLE,
	TAG_DOUBLE_ARRAY,
	TAG_CUSTOM
};

/* Location ids that the runtime gives */
enum {
	ID_STRING = 10,
	ID_INT64 = 30,
	ID_FLOAT = 50,
	ID_ARRAY = 70,
	ID_DOUBLE_ARRAY = 80,
	ID_CONSTANT = 101,
	ID_GLOBALS = 119
};

/*
 * A value while the heap is being built: odd numbers are integers, even ones below RAW are
 * references (the index of field 0 in gen.words, times 8), the rest is written as it is.
 * References become addresses when the blocks get their places.
 */
typedef uint64_t value;
#define RAW (UINT64_C(1) << 40)
#define EMPTY 1 /* the empty list, None, false, 0 */

enum kind {
	LIST,
	TREE,
	HASH,
	SHARE,
	RING,
	CLOSURES,
	TABLE,
	LIST_TABLE, /* from here on, not part of mix */
	TABLE_OF_CELLS,
	DEEP_LIST,
	DEEP_TREE,
	KINDS
};
#define MIX_KINDS LIST_TABLE

/* A data structure that grows block by block. */
struct builder {
	enum kind kind;
	uint64_t made, target; /* blocks */
	bool garbage;          /* nothing will hold it */
	value head;            /* what holds the rest */
	value table;           /* hash table, table */
	uint64_t slots, used;  /* of the table */
	uint32_t site[3];      /* location ids */
	value subtree[64];     /* tree: finished ones, not joined yet */
	unsigned height[64], subtrees;
	value window[WINDOW]; /* ring: the last nodes */
	uint64_t nodes;
};

struct values {
	value *data;
	uint64_t count, capacity;
};

struct chunk {
	uint64_t start, end;
};

struct gen {
	uint64_t random;
	uint64_t limit; /* blocks wanted */
	/* Header words are those of the format; free blocks have the colour blue. */
	value *words;
	uint64_t word_count, word_capacity;
	uint64_t blocks; /* without the free ones */
	uint64_t garbage;

	uint32_t sites[KINDS + 1][SITES_PER_KIND]; /* the last row is for leaves */
	value *leaves; /* shared by many holders, the first ones by the most */
	uint64_t leaf_count;
	struct builder builders[MAX_BUILDERS];
	unsigned builder_count;

	value globals, registry;
	value infix; /* the last pointer to an infix header made, or 0 */
	uint64_t module_count, slots_used;
	struct values stack, roots;

	uint32_t *order; /* header indexes in order of address, NULL: as made */
	uint64_t order_count;
	uint32_t *place; /* by index of field 0: words from CHUNK_BASE */
	struct chunk *chunks;
	uint64_t chunk_count, chunk_capacity;
};

static _Noreturn void fail(const char *what, const char *detail)
{
	fprintf(stderr, "gendump: %s%s%s\n", what, detail ? ": " : "", detail ? detail : "");
	exit(1);
}

static void *resize(void *memory, uint64_t count, size_t size)
{
	memory = realloc(memory, (count ? count : 1) * size);
	if (!memory)
		fail("out of memory", NULL);
	return memory;
}

/* splitmix64 */
static uint64_t random_word(struct gen *g)
{
	uint64_t z = g->random += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

/* A number below n, n <= 2^32. */
static uint64_t below(struct gen *g, uint64_t n)
{
	return (random_word(g) >> 32) * n >> 32;
}

static bool one_in(struct gen *g, uint64_t n)
{
	return below(g, n) == 0;
}

static void push(struct values *values, value v)
{
	if (values->count == values->capacity) {
		values->capacity = values->capacity ? 2 * values->capacity : 256;
		values->data = resize(values->data, values->capacity, sizeof(value));
	}
	values->data[values->count++] = v;
}

/* Blocks */

static bool is_reference(value v)
{
	return !(v & 1) && v < RAW;
}

static uint64_t size_of_header(uint64_t header)
{
	return header >> 10 & ((UINT64_C(1) << 33) - 1);
}

static unsigned tag_of_header(uint64_t header)
{
	return header & 0xFF;
}

static bool is_free(uint64_t header)
{
	return (header >> 8 & 3) == 2;
}

static void set(struct gen *g, value block, uint64_t field, value v)
{
	g->words[(block >> 3) + field] = v;
}

static value get(const struct gen *g, value block, uint64_t field)
{
	return g->words[(block >> 3) + field];
}

static value reserve(struct gen *g, uint64_t size, uint64_t header)
{
	uint64_t index = g->word_count + 1;

	g->word_count += size + 1;
	if (g->word_count > g->word_capacity) {
		/* Untouched memory costs nothing on the systems this is meant for. */
		g->word_capacity = g->word_count + g->word_count / 2;
		g->words = resize(g->words, g->word_capacity, sizeof(value));
	}
	if (g->word_count >= UINT32_MAX)
		fail("too many blocks", NULL);
	g->words[index - 1] = size << 10 | header;
	return index << 3;
}

/* All fields of the new block are 0, as an OCaml integer. */
static value make(struct gen *g, uint64_t size, unsigned tag, uint32_t site)
{
	value block = reserve(g, size, (uint64_t)site << 43 | tag);

	if (tag < TAG_ABSTRACT)
		for (uint64_t i = 0; i < size; i++)
			set(g, block, i, EMPTY);
	g->blocks++;
	return block;
}

static value make_pair(struct gen *g, value first, value second, uint32_t site)
{
	value block = make(g, 2, 0, site);

	set(g, block, 0, first);
	set(g, block, 1, second);
	return block;
}

static void leave_free_space(struct gen *g, uint64_t size)
{
	reserve(g, size, 2 << 8);
}

static uint32_t any_site(struct gen *g, enum kind kind)
{
	return g->sites[kind][below(g, SITES_PER_KIND)];
}

/* Values for the structures to hold */

static value integer(struct gen *g)
{
	return below(g, 1000) << 1 | 1;
}

static value make_leaf(struct gen *g)
{
	uint64_t pick = below(g, 100);
	unsigned tag;
	value leaf;

	if (pick < 52)
		return make(g, 1 + below(g, 2), TAG_STRING, ID_STRING);
	if (pick < 80)
		return make(g, 1, TAG_DOUBLE, ID_FLOAT);
	if (pick < 83)
		return make(g, 2, TAG_CUSTOM, ID_INT64);
	if (pick == 83 && one_in(g, 8))
		return make(g, 8 + below(g, 120), TAG_DOUBLE_ARRAY, ID_DOUBLE_ARRAY);
	if (pick == 84 && one_in(g, 4))
		return make(g, 3, TAG_OBJECT, ID_CONSTANT);
	tag = (unsigned)below(g, 3);
	leaf = make(g, 2, tag, any_site(g, KINDS));
	set(g, leaf, 0, integer(g));
	set(g, leaf, 1, integer(g));
	return leaf;
}

static uint64_t bit_length(uint64_t n)
{
	uint64_t length = 0;

	for (; n; n >>= 1)
		length++;
	return length;
}

/* About like Zipf's law: as often one of the first two leaves as one of the next two, four... */
static value shared_leaf(struct gen *g)
{
	uint64_t range;

	if (g->leaf_count < MAX_LEAVES && one_in(g, 400))
		return g->leaves[g->leaf_count++] = make_leaf(g);
	range = UINT64_C(2) << below(g, bit_length(g->leaf_count));
	return g->leaves[below(g, range < g->leaf_count ? range : g->leaf_count)];
}

static value any_value(struct gen *g)
{
	uint64_t pick = below(g, 400);

	if (pick == 0)
		return EMPTY_ARRAY;
	if (pick < 140)
		return integer(g);
	return pick < 260 ? make_leaf(g) : shared_leaf(g);
}

/* List: [value; tail] */

static void list_step(struct gen *g, struct builder *b)
{
	value v = any_value(g);

	b->head = make_pair(g, v, b->head, b->site[0]);
}

/* Balanced tree, as in Map: [left; key; data; right; height] */

static value make_node(struct gen *g, struct builder *b, value left, value right, unsigned height)
{
	value key = any_value(g);
	value data = any_value(g);
	value node = make(g, 5, 0, b->site[height > 1]);

	set(g, node, 0, left);
	set(g, node, 1, key);
	set(g, node, 2, data);
	set(g, node, 3, right);
	set(g, node, 4, (value)height << 1 | 1);
	return node;
}

/* The two last subtrees become one. */
static void join_subtrees(struct gen *g, struct builder *b)
{
	unsigned last = --b->subtrees;
	unsigned height =
		b->height[last - 1] > b->height[last] ? b->height[last - 1] : b->height[last];

	b->height[last - 1] = height + 1;
	b->subtree[last - 1] = make_node(g, b, b->subtree[last - 1], b->subtree[last], height + 1);
}

static void tree_step(struct gen *g, struct builder *b)
{
	unsigned n = b->subtrees;

	if (n >= 2 && b->height[n - 1] == b->height[n - 2]) {
		join_subtrees(g, b);
	} else {
		b->subtree[n] = make_node(g, b, EMPTY, EMPTY, 1);
		b->height[n] = 1;
		b->subtrees++;
	}
	b->head = b->subtree[0];
}

static void tree_finish(struct gen *g, struct builder *b)
{
	while (b->subtrees > 1)
		join_subtrees(g, b);
	b->head = b->subtrees ? b->subtree[0] : EMPTY;
}

/* Hash table: [size; data; seed; initial size], data = array of [key; data; next] */

static void hash_start(struct gen *g, struct builder *b)
{
	b->slots = 16;
	while (b->slots < b->target / 3 && b->slots < 1u << 22)
		b->slots *= 2;
	b->table = make(g, b->slots, 0, ID_ARRAY);
	b->head = make(g, 4, 0, b->site[0]);
	set(g, b->head, 1, b->table);
	set(g, b->head, 3, 16 << 1 | 1);
}

static void hash_step(struct gen *g, struct builder *b)
{
	value key = make_leaf(g);
	value data = any_value(g);
	uint64_t slot = below(g, b->slots);
	value cell = make(g, 3, 0, b->site[1]);

	set(g, cell, 0, key);
	set(g, cell, 1, data);
	set(g, cell, 2, get(g, b->table, slot));
	set(g, b->table, slot, cell);
	set(g, b->head, 0, get(g, b->head, 0) + 2);
}

/* List of [leaf; leaf; value] */

static void share_step(struct gen *g, struct builder *b)
{
	value first = shared_leaf(g);
	value second = shared_leaf(g);
	value third = any_value(g);
	value record = make(g, 3, 1, b->site[0]);

	set(g, record, 0, first);
	set(g, record, 1, second);
	set(g, record, 2, third);
	b->head = make_pair(g, record, b->head, b->site[1]);
}

/* Ring: [previous; next; value] */

static value recent_node(struct gen *g, const struct builder *b)
{
	return b->window[below(g, b->nodes < WINDOW ? b->nodes : WINDOW)];
}

static void ring_step(struct gen *g, struct builder *b)
{
	value content = b->nodes && one_in(g, 8) ? recent_node(g, b) : any_value(g);
	value node = make(g, 3, 0, b->site[0]);

	set(g, node, 2, content);
	if (b->nodes) {
		value previous = b->window[(b->nodes - 1) % WINDOW];
		value other = recent_node(g, b);

		set(g, node, 0, previous);
		set(g, previous, 1, node);
		/* Forward, too, where nothing gets lost by it. */
		if (one_in(g, 4) && get(g, other, 2) & 1)
			set(g, other, 2, node);
	} else {
		b->head = node;
	}
	b->window[b->nodes++ % WINDOW] = node;
}

static void ring_finish(struct gen *g, struct builder *b)
{
	value last;

	if (!b->nodes)
		return;
	last = b->window[(b->nodes - 1) % WINDOW];
	set(g, last, 1, b->head);
	set(g, b->head, 0, last);
}

/* Closures: [code; variables], or [code; infix header; code; ...; variables] */

static value make_recursive_closure(struct gen *g, struct builder *b, uint64_t functions)
{
	value content = any_value(g);
	value closure = make(g, 2 * functions + 1, TAG_CLOSURE, b->site[1]);

	set(g, closure, 0, CODE_START);
	for (uint64_t i = 1; i < functions; i++) {
		uint64_t header = (2 * i) << 10 | TAG_INFIX | (uint64_t)b->site[1] << 43;

		set(g, closure, 2 * i - 1, header);
		set(g, closure, 2 * i, CODE_START);
	}
	set(g, closure, 2 * functions - 1, content);
	set(g, closure, 2 * functions, b->head);
	return closure;
}

static void closures_step(struct gen *g, struct builder *b)
{
	uint64_t pick = below(g, 24);
	value first, second, closure;

	if (pick < 3) {
		uint64_t functions = 2 + below(g, 2);

		closure = make_recursive_closure(g, b, functions);
		g->infix = closure + 8 * 2 * (functions - 1);
		b->head = make_pair(g, g->infix, closure, b->site[2]);
		return;
	}
	first = any_value(g);
	if (pick < 12) {
		closure = make(g, 3, TAG_CLOSURE, b->site[0]);
		/* A partial application starts at RESTART. */
		set(g, closure, 0, pick == 3 ? CODE_END : CODE_START);
	} else {
		second = any_value(g);
		closure = make(g, 4, TAG_CLOSURE, b->site[1]);
		set(g, closure, 0, CODE_START);
		set(g, closure, 3, second);
	}
	set(g, closure, 1, b->head);
	set(g, closure, 2, first);
	b->head = closure;
}

/* Array of values */

static void table_start(struct gen *g, struct builder *b)
{
	b->slots = b->target;
	b->head = make(g, b->slots, 0, ID_ARRAY);
}

static void table_step(struct gen *g, struct builder *b)
{
	uint64_t before = g->blocks;

	set(g, b->head, b->used++, any_value(g));
	/* Each slot counts, so that the end comes no later than that of the array. */
	if (g->blocks == before)
		b->made++;
}

/* List of floats that are also in an array, or with cells that are also in an array */

static void list_table_start(struct gen *g, struct builder *b)
{
	b->slots = (b->target + 1) / 2;
	b->table = make(g, b->slots, 0, ID_ARRAY);
}

static void list_table_step(struct gen *g, struct builder *b)
{
	value boxed = make(g, 1, TAG_DOUBLE, ID_FLOAT);
	bool cells = b->kind == TABLE_OF_CELLS;

	b->head = cells ? make_pair(g, b->head, boxed, b->site[0])
			: make_pair(g, boxed, b->head, b->site[0]);
	if (b->used < b->slots)
		set(g, b->table, b->used++, cells ? b->head : boxed);
}

static void list_table_finish(struct gen *g, struct builder *b)
{
	b->head = make_pair(g, b->head, b->table, b->site[1]);
}

static void deep_list_step(struct gen *g, struct builder *b)
{
	b->head = make_pair(g, integer(g), b->head, b->site[0]);
}

static void deep_tree_step(struct gen *g, struct builder *b)
{
	value right = EMPTY;
	value node;

	if (b->nodes++ % 16 == 15) {
		right = make(g, 3, 0, b->site[1]);
		set(g, right, 1, integer(g));
		b->made--; /* only the spine is counted */
	}
	node = make(g, 3, 0, b->site[0]);
	set(g, node, 0, b->head);
	set(g, node, 1, integer(g));
	set(g, node, 2, right);
	b->head = node;
}

static const struct {
	const char *name;
	void (*start)(struct gen *g, struct builder *b);
	void (*step)(struct gen *g, struct builder *b);
	void (*finish)(struct gen *g, struct builder *b);
} kinds[KINDS] = {
	[LIST] = {"list", NULL, list_step, NULL},
	[TREE] = {"tree", NULL, tree_step, tree_finish},
	[HASH] = {"hash", hash_start, hash_step, NULL},
	[SHARE] = {"share", NULL, share_step, NULL},
	[RING] = {"cyc", NULL, ring_step, ring_finish},
	[CLOSURES] = {"clos", NULL, closures_step, NULL},
	[TABLE] = {"table", table_start, table_step, NULL},
	[LIST_TABLE] = {"listtab", list_table_start, list_table_step, list_table_finish},
	[TABLE_OF_CELLS] = {"listfirst", list_table_start, list_table_step, list_table_finish},
	[DEEP_LIST] = {"deeplist", NULL, deep_list_step, NULL},
	[DEEP_TREE] = {"deeptree", NULL, deep_tree_step, NULL},
};

static void start(struct gen *g, struct builder *b, enum kind kind, uint64_t target)
{
	uint64_t before = g->blocks;

	*b = (struct builder){.kind = kind, .head = EMPTY, .target = target};
	for (int i = 0; i < 3; i++)
		b->site[i] = any_site(g, kind);
	if (kinds[kind].start)
		kinds[kind].start(g, b);
	b->made = g->blocks - before;
}

static void step(struct gen *g, struct builder *b)
{
	uint64_t before = g->blocks;

	kinds[b->kind].step(g, b);
	b->made += g->blocks - before;
}

static void finish(struct gen *g, struct builder *b)
{
	if (kinds[b->kind].finish)
		kinds[b->kind].finish(g, b);
}

/* The program around the structures */

static void draw_sites(struct gen *g)
{
	for (int kind = 0; kind <= KINDS; kind++)
		for (int i = 0; i < SITES_PER_KIND; i++)
			g->sites[kind][i] = (uint32_t)(256 + below(g, (1u << 21) - 256));
}

/* The table of globals, the modules in it and the registry that one of them starts with. */
static void make_globals(struct gen *g)
{
	g->module_count = g->limit / 1024;
	if (g->module_count > MAX_MODULES)
		g->module_count = MAX_MODULES;
	if (g->module_count < 1)
		g->module_count = 1;
	g->globals = make(g, g->module_count, 0, ID_GLOBALS);
	for (uint64_t i = 0; i < g->module_count; i++)
		set(g, g->globals, i, make(g, MODULE_FIELDS, 0, ID_CONSTANT));
	g->registry = EMPTY;
	g->slots_used = 1;
}

static void fill_module_slot(struct gen *g, uint64_t slot, value v)
{
	value module = get(g, g->globals, slot % g->module_count);

	set(g, module, slot / g->module_count, v);
}

static void add_root(struct gen *g, value v)
{
	if (is_reference(v))
		push(&g->roots, v);
}

/* Makes the program hold a finished structure: in a global, in the registry or by a root. */
static void hold(struct gen *g, value v)
{
	uint64_t pick = below(g, 100);

	if (pick < 10)
		add_root(g, v);
	else if (pick < 50 && g->slots_used < g->module_count * MODULE_FIELDS)
		fill_module_slot(g, g->slots_used++, v);
	else
		g->registry = make_pair(g, v, g->registry, g->sites[KINDS][0]);
}

static void finish_in_mix(struct gen *g, struct builder *b)
{
	finish(g, b);
	if (!b->garbage)
		hold(g, b->head);
}

static void fill_stack(struct gen *g)
{
	for (unsigned i = 0; i < g->builder_count / 16; i++)
		if (!g->builders[i].garbage && is_reference(g->builders[i].head))
			push(&g->stack, g->builders[i].head);
	if (g->infix)
		push(&g->stack, g->infix);
	while (g->stack.count < STACK_ENTRIES)
		push(&g->stack, g->leaf_count ? shared_leaf(g) : make_leaf(g));
}

static void make_leaves(struct gen *g)
{
	uint64_t first = g->limit / 16;

	if (first > 256)
		first = 256;
	g->leaves = resize(NULL, MAX_LEAVES, sizeof(value));
	do {
		g->leaves[g->leaf_count++] = make_leaf(g);
	} while (g->leaf_count < first);
}

static void restart(struct gen *g, struct builder *b)
{
	uint64_t target = UINT64_C(16) << below(g, 20);

	if (target > g->limit / g->builder_count)
		target = g->limit / g->builder_count;
	if (target < 4)
		target = 4;
	/* The last kind, arrays, half as often as the others */
	start(g, b, (enum kind)(below(g, 2 * MIX_KINDS - 1) / 2), target);
	if (one_in(g, 2) && (g->garbage + target) * 1000 < g->limit * 28) {
		b->garbage = true;
		g->garbage += target;
	}
}

static void build_mix(struct gen *g)
{
	g->builder_count =
		g->limit / 64 < MAX_BUILDERS ? (unsigned)(g->limit / 64) + 1 : MAX_BUILDERS;
	make_leaves(g);
	for (unsigned i = 0; i < g->builder_count; i++)
		restart(g, &g->builders[i]);
	while (g->blocks < g->limit) {
		struct builder *b = &g->builders[below(g, g->builder_count)];

		for (uint64_t burst = 1 + below(g, 24); burst && b->made < b->target; burst--)
			step(g, b);
		if (!b->garbage && one_in(g, 1500))
			add_root(g, b->head);
		if (one_in(g, 40))
			leave_free_space(g, below(g, 12));
		if (b->made >= b->target) {
			finish_in_mix(g, b);
			restart(g, b);
		}
	}
	for (unsigned i = 0; i < g->builder_count; i++) {
		finish_in_mix(g, &g->builders[i]);
	}
	fill_module_slot(g, 0, g->registry);
}

static void build_single(struct gen *g, enum kind kind)
{
	struct builder *b = &g->builders[0];

	g->builder_count = 1;
	if (kind < MIX_KINDS)
		make_leaves(g);
	start(g, b, kind, g->limit);
	while (b->made < b->target)
		step(g, b);
	finish(g, b);
	fill_module_slot(g, 0, b->head);
}

/* Addresses */

/* Index of the header after that at *cursor in order of address; false at the end. */
static bool next_block(const struct gen *g, uint64_t *cursor, uint64_t *header)
{
	if (*cursor == (g->order ? g->order_count : g->word_count))
		return false;
	*header = g->order ? g->order[*cursor] : *cursor;
	*cursor += g->order ? 1 : 1 + size_of_header(g->words[*header]);
	return true;
}

static void shuffle(struct gen *g)
{
	uint64_t cursor = 0, header, count = 0;
	uint32_t *order = NULL;

	while (next_block(g, &cursor, &header))
		count++;
	order = resize(NULL, count, sizeof(*order));
	cursor = count = 0;
	while (next_block(g, &cursor, &header))
		order[count++] = (uint32_t)header;
	for (uint64_t i = count - 1; i > 0; i--) {
		uint64_t other = below(g, i + 1);
		uint32_t moved = order[i];

		order[i] = order[other];
		order[other] = moved;
	}
	g->order = order;
	g->order_count = count;
}

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + MIB - 1) / MIB * MIB;
}

static void add_chunk(struct gen *g, uint64_t start_at, uint64_t bytes)
{
	if (g->chunk_count == g->chunk_capacity) {
		g->chunk_capacity = g->chunk_capacity ? 2 * g->chunk_capacity : 64;
		g->chunks = resize(g->chunks, g->chunk_capacity, sizeof(*g->chunks));
	}
	g->chunks[g->chunk_count++] = (struct chunk){start_at, start_at + bytes};
}

static void place_blocks(struct gen *g)
{
	uint64_t cursor = 0, header, at = CHUNK_BASE, end = CHUNK_BASE;

	g->place = resize(NULL, g->word_count, sizeof(*g->place));
	while (next_block(g, &cursor, &header)) {
		uint64_t size = size_of_header(g->words[header]);
		/* References into closures need places, too. */
		uint64_t places = tag_of_header(g->words[header]) == TAG_CLOSURE ? size : 1;

		if (end - at < (size + 1) * 8) {
			uint64_t bytes = round_up((size + 1) * 8);

			at = end + (end > CHUNK_BASE ? below(g, 4) * MIB : 0);
			add_chunk(g, at, bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES);
			end = g->chunks[g->chunk_count - 1].end;
			if ((end - CHUNK_BASE) / 8 > UINT32_MAX)
				fail("too many blocks", NULL);
		}
		for (uint64_t i = 0; i < places && i < size; i++)
			g->place[header + 1 + i] = (uint32_t)((at - CHUNK_BASE) / 8 + 1 + i);
		at += (size + 1) * 8;
	}
	g->chunks[g->chunk_count - 1].end = round_up(at);
}

static uint64_t address(const struct gen *g, value reference)
{
	return CHUNK_BASE + (uint64_t)g->place[reference >> 3] * 8;
}

/* Output */

struct output {
	FILE *file;
	const char *path;
	uint64_t bytes, words, edges;
	size_t used;
	uint8_t buffer[1 << 20];
};

static void flush(struct output *out)
{
	if (fwrite(out->buffer, 1, out->used, out->file) != out->used)
		fail(out->path, strerror(errno));
	out->bytes += out->used;
	out->used = 0;
}

static void put_byte(struct output *out, unsigned byte)
{
	if (out->used == sizeof(out->buffer))
		flush(out);
	out->buffer[out->used++] = (uint8_t)byte;
}

static void put_word(struct output *out, uint64_t word)
{
	if (sizeof(out->buffer) - out->used < 8)
		flush(out);
	for (int i = 0; i < 8; i++)
		out->buffer[out->used++] = (uint8_t)(word >> 8 * i);
}

static void write_block(const struct gen *g, struct output *out, uint64_t index)
{
	uint64_t header = g->words[index];
	uint64_t size = size_of_header(header);

	put_byte(out, 0x01);
	put_word(out, address(g, (index + 1) << 3));
	put_byte(out, tag_of_header(header));
	put_word(out, size);
	put_word(out, header >> 43);
	out->words += size + 1;
	if (tag_of_header(header) >= TAG_ABSTRACT)
		return;
	for (uint64_t i = index + 1; i <= index + size; i++) {
		value v = g->words[i];

		if (is_reference(v)) {
			out->edges++;
			v = address(g, v);
		}
		put_word(out, v);
	}
}

static void write_records(const struct gen *g, struct output *out)
{
	uint64_t cursor = 0, header, chunk = 0;

	while (next_block(g, &cursor, &header)) {
		if (is_free(g->words[header]))
			continue;
		while (chunk < g->chunk_count &&
			g->chunks[chunk].start < address(g, (header + 1) << 3)) {
			put_byte(out, 0x00);
			put_word(out, g->chunks[chunk].start);
			put_word(out, g->chunks[chunk++].end);
		}
		write_block(g, out, header);
	}
	put_byte(out, 0xFF);
}

static void write_dump(const struct gen *g, struct output *out)
{
	static const char program[] = "./gendump";

	put_byte(out, 8);
	put_word(out, sizeof(program) - 1);
	for (size_t i = 0; i < sizeof(program) - 1; i++)
		put_byte(out, (unsigned char)program[i]);
	write_records(g, out);
	put_word(out, CODE_START);
	put_word(out, CODE_END);
	put_word(out, 3); /* bytecode */
	put_word(out, address(g, g->globals));
	put_word(out, 2 * g->stack.count + 1);
	for (uint64_t i = 0; i < g->stack.count; i++) {
		put_word(out, 1);
		put_word(out, address(g, g->stack.data[i]));
	}
	put_word(out, 0);
	put_word(out, address(g, g->globals));
	for (uint64_t i = 0; i < g->stack.count; i++)
		put_word(out, address(g, g->stack.data[i]));
	for (uint64_t i = 0; i < g->roots.count; i++)
		put_word(out, address(g, g->roots.data[i]));
	put_word(out, 1);
	flush(out);
}

static void write_file(const struct gen *g, const char *path)
{
	static struct output out;

	out.path = path;
	out.file = fopen(path, "wb");
	if (!out.file)
		fail(path, strerror(errno));
	setvbuf(out.file, NULL, _IONBF, 0);
	write_dump(g, &out);
	if (fclose(out.file))
		fail(path, strerror(errno));
	printf("blocks=%" PRIu64 " words=%" PRIu64 " edges=%" PRIu64 " roots=%" PRIu64
	       " bytes=%" PRIu64 "\n",
		g->blocks, out.words, out.edges, 1 + g->stack.count + g->roots.count, out.bytes);
}

static uint64_t parse_number(const char *text)
{
	char *end;
	uint64_t number;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-')
		fail("not a number", text);
	return number;
}

static void build(struct gen *g, const char *shape)
{
	make_globals(g);
	if (!strcmp(shape, "mix") || !strcmp(shape, "shuffled")) {
		build_mix(g);
	} else {
		int kind = 0;

		while (kind < KINDS && strcmp(shape, kinds[kind].name))
			kind++;
		if (kind == KINDS)
			fail("unknown shape", shape);
		build_single(g, (enum kind)kind);
	}
	fill_stack(g);
	if (!strcmp(shape, "shuffled"))
		shuffle(g);
	place_blocks(g);
}

int main(int argc, char **argv)
{
	static struct gen g;

	if (argc != 5) {
		fputs("usage: gendump SHAPE BLOCKS SEED OUT\n"
		      "shapes: mix shuffled list tree share cyc hash clos table listtab listfirst\n"
		      "        deeplist deeptree\n",
			stderr);
		return 1;
	}
	g.limit = parse_number(argv[2]);
	g.random = parse_number(argv[3]);
	if (g.limit < 1 || g.limit > UINT32_MAX)
		fail("impossible number of blocks", argv[2]);
	draw_sites(&g);
	build(&g, argv[1]);
	write_file(&g, argv[4]);
	free(g.words);
	free(g.leaves);
	free(g.order);
	free(g.place);
	free(g.chunks);
	free(g.stack.data);
	free(g.roots.data);
	return 0;
}
