/* The roots of an OCP-2014D001 dump: sections ROOT, WEAK and FINA (docs/formats.md). */
#include "snapshot/legacy/ocp2014_roots.h"

#include "base/grow.h"
#include "base/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The writer has checked these words to lie in the heap. */
static enum hg_status add_ocp_root(struct snap_ocp_loader *l, const struct base_cursor *after,
	enum hg_root_kind kind, const char *name, uint64_t index, uint64_t value)
{
	if (value & 1 || !snap_chunk_at(l->snap, value))
		return base_corrupt(l->error, base_cursor_offset(after) - 8,
			"a root to 0x%llx, outside of every chunk", (unsigned long long)value);
	return snap_add_root(l->snap, kind, name, index, value, l->error);
}

/* Words of which the writer has kept those too that do not lead into the heap. */
static enum hg_status load_globals(
	struct snap_ocp_loader *l, struct base_cursor *c, uint64_t count, const char *name)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t value;
		BASE_TRY(read_word(l, c, "the globals", &value));
		if (!(value & 1) && snap_chunk_at(l->snap, value))
			BASE_TRY(snap_add_root(l->snap, HG_ROOT_GLOBAL, name, i, value, l->error));
	}
	return HG_OK;
}

static enum hg_status load_ocp_modules(
	struct snap_ocp_loader *l, struct base_cursor *c, uint64_t count)
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

static enum hg_status load_bytecode_globals(struct snap_ocp_loader *l, struct base_cursor *c)
{
	uint64_t value;
	BASE_TRY(read_word(l, c, "the globals", &value));
	/* The table of globals is not in the heap before the program has any. */
	if (value & 1 || !snap_chunk_at(l->snap, value))
		return HG_OK;
	return snap_add_root(
		l->snap, HG_ROOT_GLOBAL, "caml_global_data", HG_UNKNOWN, value, l->error);
}

static enum hg_status load_slots(struct snap_ocp_loader *l, struct base_cursor *c, uint64_t count,
	enum hg_root_kind kind, const char *name, struct slots *out)
{
	*out = (struct slots){count, l->snap->root_count, *c};
	for (uint64_t i = 0; i < count; i++) {
		uint64_t slot, value;
		BASE_TRY(read_word(l, c, "a root", &slot));
		BASE_TRY(read_word(l, c, "a root", &value));
		BASE_TRY(add_ocp_root(l, c, kind, name, i, value));
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

static enum hg_status load_frame(struct snap_ocp_loader *l, struct base_cursor *c, bool upwards)
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
static enum hg_status load_backtrace(struct snap_ocp_loader *l, struct base_cursor *c)
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
static struct frame *find_ocp_frame(const struct snap_ocp_loader *l, uint64_t slot)
{
	uint64_t i = BASE_FIRST_ABOVE(l->frames, l->frame_count, start, slot);
	if (i == 0 || slot - l->frames[i - 1].start >= l->frames[i - 1].bytes)
		return NULL;
	return &l->frames[i - 1];
}

static enum hg_status name_frame(struct snap_ocp_loader *l, struct frame *f)
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
	struct snap_ocp_loader *l, const struct slots *slots, uint64_t from, uint64_t to)
{
	if (l->frame_count == 0)
		return HG_OK;
	for (uint64_t i = from; i < to; i++) {
		uint64_t slot = slot_address(slots, i);
		struct frame *frame = find_ocp_frame(l, slot);
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
static enum hg_status name_thread(struct snap_ocp_loader *l, const struct slots *hook, uint64_t id,
	uint64_t from, uint64_t to)
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
	struct snap_ocp_loader *l, struct base_cursor *c, const struct slots *hook)
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
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->root > y->root) - (x->root < y->root);
}

static enum hg_status name_c_root(struct snap_ocp_loader *l, const struct c_slot *slots,
	uint64_t count, uint64_t address, const uint8_t *name, uint64_t length)
{
	uint64_t i = BASE_FIRST_FROM(slots, count, address, address);
	if (i == count || slots[i].address != address)
		return HG_OK;
	struct snap_root *root = &l->snap->roots[slots[i].root];
	root->kind = HG_ROOT_NAMED_VALUE;
	root->index = HG_UNKNOWN;
	return base_pool_string(&l->snap->pool, name, length, &root->name, l->error);
}

/*
 * A named value is a C root too; its entry tells the address of the slot, not the value.  One that
 * is not in the heap has no root.
 */
static enum hg_status load_named_values(
	struct snap_ocp_loader *l, struct base_cursor *c, const struct slots *roots)
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
	struct snap_ocp_loader *l, struct base_cursor *c, uint64_t counts[ROOT_GROUPS])
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

static enum hg_status load_ocp_roots(struct snap_ocp_loader *l, struct slots *finalised)
{
	struct base_cursor *c = &l->sections[ROOT];
	uint64_t counts[ROOT_GROUPS] = {0};
	struct slots stack, c_roots, hook;
	BASE_TRY(read_root_counts(l, c, counts));
	BASE_TRY(l->snap->native ? load_ocp_modules(l, c, counts[GLOBALS])
				 : load_bytecode_globals(l, c));
	BASE_TRY(load_globals(l, c, counts[DYNAMIC], "dynamic_global"));
	BASE_TRY(load_slots(l, c, counts[STACK], HG_ROOT_STACK, "entry", &stack));
	BASE_TRY(load_slots(l, c, counts[C_ROOTS], HG_ROOT_C_GLOBAL, "slot", &c_roots));
	*finalised = (struct slots){counts[FINALISED], l->snap->root_count, *c};
	for (uint64_t i = 0; i < counts[FINALISED]; i++) {
		uint64_t value;
		BASE_TRY(read_word(l, c, "a root", &value));
		BASE_TRY(add_ocp_root(l, c, HG_ROOT_FINALISER, "function", i, value));
	}
	BASE_TRY(load_slots(l, c, counts[HOOK], HG_ROOT_OTHER, "hook", &hook));
	BASE_TRY(load_backtrace(l, c));
	BASE_TRY(name_by_frames(l, &stack, 0, stack.count));
	BASE_TRY(load_threads(l, c, &hook));
	BASE_TRY(load_named_values(l, c, &c_roots));
	return expect_end(l, ROOT);
}

static enum hg_status read_heap_word(
	const struct snap_ocp_loader *l, struct base_cursor *c, const char *what, uint64_t *out)
{
	BASE_TRY(read_word(l, c, what, out));
	if (*out & 1 || !snap_chunk_at(l->snap, *out))
		return base_corrupt(l->error, base_cursor_offset(c) - 8,
			"%s, 0x%llx, outside of every chunk", what, (unsigned long long)*out);
	return HG_OK;
}

/*
 * { word weak array, uint size, uint n, n words that it refers to } until a word 0.  What is weak
 * holds nothing: it is checked only.
 */
static enum hg_status check_weak(struct snap_ocp_loader *l)
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
	struct snap_ocp_loader *l, struct base_cursor *c, uint64_t index, uint64_t value)
{
	struct snap *snap = l->snap;
	uint64_t before = snap->root_count;
	BASE_TRY(add_ocp_root(l, c, HG_ROOT_FINALISER, "value", index, value));
	if (snap->root_count > before)
		snap->roots[before].hold = SNAP_HOLD_LAST;
	return HG_OK;
}

/*
 * Five numbers, the first of which the writer never resets, then the finalisation functions and
 * their values, function first, except those outside of the heap.  ROOT has told the functions, and
 * what waits for its call, in this order: the others are the values.
 */
static enum hg_status load_finalised(struct snap_ocp_loader *l, const struct slots *finalised)
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

enum hg_status snap_ocp_load_roots(struct snap_ocp_loader *l)
{
	struct slots finalised;
	BASE_TRY(load_ocp_roots(l, &finalised));
	BASE_TRY(check_weak(l));
	return load_finalised(l, &finalised);
}
