/*
 * A marking of an OCaml heap by what struct snap_runtime says, for tests: slow, and on purpose
 * nothing that the program shares.
 */
#ifndef TESTS_UNIT_MARKING_H
#define TESTS_UNIT_MARKING_H

#include "snapshot/runtime/runtime.h"

#include <assert.h>
#include <stdlib.h>

/* Addresses to numbers, open addressing; 0 is no address. */
struct table {
	uint64_t *keys, *values;
	uint64_t mask, count;
};

static inline uint64_t *table_slot(struct table *t, uint64_t key)
{
	uint64_t i = key * UINT64_C(0x9e3779b97f4a7c15) >> 24 & t->mask;
	while (t->keys[i] && t->keys[i] != key)
		i = (i + 1) & t->mask;
	return &t->keys[i];
}

static inline bool table_has(struct table *t, uint64_t key, uint64_t *value)
{
	uint64_t *slot = t->keys ? table_slot(t, key) : NULL;
	if (!slot || !*slot)
		return false;
	if (value)
		*value = t->values[slot - t->keys];
	return true;
}

static inline void table_put(struct table *t, uint64_t key, uint64_t value)
{
	if (!t->keys || 2 * t->count > t->mask) {
		struct table bigger = {.mask = t->keys ? 2 * t->mask + 1 : 0xffff};
		bigger.keys = calloc(bigger.mask + 1, 8);
		bigger.values = calloc(bigger.mask + 1, 8);
		if (!bigger.keys || !bigger.values)
			abort();
		for (uint64_t i = 0; t->keys && i <= t->mask; i++)
			if (t->keys[i]) {
				uint64_t *slot = table_slot(&bigger, t->keys[i]);
				*slot = t->keys[i];
				bigger.values[slot - bigger.keys] = t->values[i];
			}
		bigger.count = t->count;
		free(t->keys);
		free(t->values);
		*t = bigger;
	}
	uint64_t *slot = table_slot(t, key);
	t->count += *slot == 0;
	*slot = key;
	t->values[slot - t->keys] = value;
}

static inline void table_release(struct table *t)
{
	free(t->keys);
	free(t->values);
	*t = (struct table){0};
}

struct tally {
	uint64_t blocks, words; /* headers included */
};

struct marking {
	struct snap_runtime *rt;
	struct table blocks;    /* of the heap: address to wosize */
	struct table originals; /* promoted block to its old copy, in a minor collection */
	struct table marks;
	uint64_t *stack, stack_count, stack_capacity;
	struct tally live, young; /* of the walk */
	uint64_t large, forwarded;
	struct tally heap, minor, statics; /* marked */
	uint64_t bad, wild;                /* into the heap but at no block; to nowhere */
	uint64_t conts, cont_frames, broken_fibers;
	bool strict; /* as Obj.reachable_words: no stacks */
};

static inline uint64_t word_at(const struct marking *m, uint64_t address)
{
	uint64_t word = 0;
	return snap_image_u64(m->rt->image, address, &word) ? word : 0;
}

static inline void add_live(struct marking *m, uint64_t block, uint64_t header, struct tally *tally)
{
	uint64_t wosize = snap_runtime_wosize(m->rt, header);
	table_put(&m->blocks, block, wosize);
	tally->blocks++;
	tally->words += wosize + 1;
}

static inline void walk_area(struct marking *m, const struct snap_area *area)
{
	unsigned garbage = m->rt->garbage_colour;
	for (uint64_t at = area->start; at < area->end;) {
		uint64_t header = word_at(m, at), words = snap_runtime_wosize(m->rt, header) + 1;
		unsigned colour = (unsigned)(header >> 8) & 3;
		switch (area->kind) {
		case SNAP_AREA_CHUNK:
			if (colour != 2 && words > 1)
				add_live(m, at + 8, header, &m->live);
			break;
		case SNAP_AREA_POOL:
			/* Of 5.5, of free slots: how many follow (POOL_FREE_HEADER). */
			words = area->slot_words * (colour == 3 ? words : 1);
			if (header && colour != garbage && colour != 3)
				add_live(m, at + 8, header, &m->live);
			break;
		case SNAP_AREA_LARGE:
			m->large++;
			if (colour != garbage)
				add_live(m, at + 8, header, &m->live);
			break;
		default:
			if (header == 0) {
				uint64_t copy = word_at(m, at + 8);
				m->forwarded++;
				table_put(&m->originals, copy, at + 8);
				table_put(&m->blocks, at + 8, 0);
				words = snap_runtime_wosize(m->rt, word_at(m, copy - 8)) + 1;
			} else {
				add_live(m, at + 8, header, &m->young);
			}
		}
		at += 8 * words;
	}
}

static inline void marking_init(struct marking *m, struct snap_runtime *rt)
{
	*m = (struct marking){.rt = rt};
	for (uint64_t i = 0; i < rt->area_count; i++)
		walk_area(m, &rt->areas[i]);
}

static inline void marking_release(struct marking *m)
{
	table_release(&m->blocks);
	table_release(&m->originals);
	table_release(&m->marks);
	free(m->stack);
}

static inline void push(struct marking *m, uint64_t block)
{
	if (m->stack_count == m->stack_capacity) {
		m->stack_capacity = m->stack_capacity ? 2 * m->stack_capacity : 4096;
		m->stack = realloc(m->stack, 8 * m->stack_capacity);
		if (!m->stack)
			abort();
	}
	m->stack[m->stack_count++] = block;
}

static inline bool in_heap(const struct marking *m, uint64_t address)
{
	return snap_runtime_area(m->rt, address) ||
	       (address >= m->rt->minor_heaps.start && address < m->rt->minor_heaps.end);
}

/* Data of units and of plugins: black blocks outside the heap, mapped to their end. */
static inline bool is_static(const struct marking *m, uint64_t block)
{
	uint64_t header = word_at(m, block - 8), wosize = snap_runtime_wosize(m->rt, header), last;
	if (block - 8 >= m->rt->atoms.start && block - 8 < m->rt->atoms.end)
		return true;
	if ((header >> 8 & 3) != 3 || wosize >= 1 << 24)
		return false;
	return wosize == 0 || snap_image_u64(m->rt->image, block + 8 * (wosize - 1), &last);
}

/* Of a pointer, the block; through infix headers and to promoted copies. 0: none. */
static inline uint64_t block_of(struct marking *m, uint64_t value)
{
	for (unsigned n = 0; n < 3; n++) {
		uint64_t header = word_at(m, value - 8);
		const struct snap_area *area = snap_runtime_area(m->rt, value - 8);
		if (header == 0 && area && area->kind == SNAP_AREA_MINOR)
			value = word_at(m, value);
		else if ((header & 0xff) == 249)
			value -= 8 * snap_runtime_wosize(m->rt, header);
		else
			break;
	}
	if (in_heap(m, value - 8))
		return table_has(&m->blocks, value, NULL) ? value : 0;
	return is_static(m, value) ? value : 0;
}

static inline void visit(struct marking *m, uint64_t value)
{
	if (value & 1 || value == 0)
		return;
	uint64_t block = value % 8 ? 0 : block_of(m, value);
	if (!block) {
		if (in_heap(m, value))
			m->bad++;
		else
			m->wild++;
		return;
	}
	if (table_has(&m->marks, block, NULL))
		return;
	table_put(&m->marks, block, 0);
	const struct snap_area *area = snap_runtime_area(m->rt, block - 8);
	struct tally *tally = !area                           ? &m->statics
			      : area->kind == SNAP_AREA_MINOR ? &m->minor
							      : &m->heap;
	tally->blocks++;
	tally->words += snap_runtime_wosize(m->rt, word_at(m, block - 8)) + 1;
	push(m, block);
}

static inline void scan_continuation(struct marking *m, uint64_t block)
{
	struct snap_runtime_roots roots = {0};
	uint64_t stack = word_at(m, block), frames = 0;
	if (stack <= 1)
		return;
	m->conts++;
	m->broken_fibers += !snap_runtime_fiber(m->rt, stack - 1, &roots, &frames, NULL);
	m->cont_frames += frames;
	for (uint64_t i = 0; i < roots.count; i++)
		visit(m, roots.items[i].value);
	snap_roots_release(&roots);
}

static inline void scan(struct marking *m, uint64_t block)
{
	uint64_t header = word_at(m, block - 8), wosize = snap_runtime_wosize(m->rt, header);
	uint64_t original = block, first = 0;
	unsigned tag = header & 0xff;
	if (tag >= 251)
		return;
	/* Of a promoted block only field 0 is sure to be written. */
	table_has(&m->originals, block, &original);
	if (tag == 247 && wosize >= 2)
		first = word_at(m, original + 8) << 8 >> 9;
	for (uint64_t i = first; i < wosize; i++)
		if (tag != 245 || !m->rt->is_5 || i > 0)
			visit(m, word_at(m, (i ? original : block) + 8 * i));
	if (tag == 245 && m->rt->is_5 && !m->strict)
		scan_continuation(m, block);
}

static inline void drain(struct marking *m)
{
	while (m->stack_count)
		scan(m, m->stack[--m->stack_count]);
}

static inline void mark_roots(struct marking *m, bool last)
{
	for (uint64_t i = 0; i < m->rt->roots.count; i++) {
		const struct snap_runtime_root *root = &m->rt->roots.items[i];
		if (root->last != last)
			continue;
		if (root->conservative && !table_has(&m->blocks, root->value, NULL))
			continue;
		visit(m, root->value);
		drain(m);
	}
}

static inline bool key_is_live(struct marking *m, uint64_t key)
{
	if (key & 1 || key == 0 || key == m->rt->ephemeron_none)
		return true;
	uint64_t block = block_of(m, key);
	return !block || !in_heap(m, block - 8) || table_has(&m->marks, block, NULL);
}

/* Returns how many data were found reachable. */
static inline uint64_t mark_ephemerons(struct marking *m)
{
	struct table done = {0};
	uint64_t before;
	do {
		before = done.count;
		for (uint64_t i = 0; i < m->rt->ephemeron_count; i++) {
			uint64_t e = m->rt->ephemerons[i].a;
			uint64_t wosize = snap_runtime_wosize(m->rt, word_at(m, e - 8));
			bool live = table_has(&m->marks, e, NULL) && !table_has(&done, e, NULL) &&
				    word_at(m, e + 8) != m->rt->ephemeron_none;
			for (uint64_t k = 2; live && k < wosize; k++)
				live = key_is_live(m, word_at(m, e + 8 * k));
			if (!live)
				continue;
			table_put(&done, e, 0);
			visit(m, word_at(m, e + 8));
			drain(m);
		}
	} while (done.count != before);
	table_release(&done);
	return before;
}

/* Blocks of the heap that are marked and have this size. */
static inline uint64_t marked_of_size(struct marking *m, uint64_t wosize)
{
	uint64_t count = 0;
	for (uint64_t i = 0; m->marks.keys && i <= m->marks.mask; i++)
		if (m->marks.keys[i] && in_heap(m, m->marks.keys[i] - 8))
			count += snap_runtime_wosize(m->rt, word_at(m, m->marks.keys[i] - 8)) ==
				 wosize;
	return count;
}

#endif
