/*
 * Growth over series of small heaps at random, against the rule as docs/outputs.md says it, stated
 * here anew over lists of blocks; limits of a check, and the dates of suppressions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "heapgraph.h"
#include "tests/unit/dump.h"

#include <inttypes.h>
#include <math.h>

enum {
	SITES = 9,
	MOST_WORDS = 40,
	MOST_BLOCKS = 3000,
	MOST_MOMENTS = 6,
	MOST_ROWS = 100,
	MOST_PATH = 400,
	TOLD_WORDS = 16 /* sizes above are one class */
};

static const uint64_t base = 0x7f0000000000;

/* Numbers that are the same on every machine. */
static uint64_t state;
static unsigned draw(unsigned below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(state >> 33) % below;
}

/* What holds blocks of a site: another site, a root, a frame, or two roots, so that neither does.
 */
enum { FROM_ROOT = -1, FROM_STACK = -2, FROM_TWO = -3 };

struct site {
	int parent; /* number, or as above */
	unsigned tag, words;
	unsigned counts[MOST_MOMENTS];
};

struct heap_block {
	unsigned site;
	struct heap_block *holders[2]; /* NULL: none */
	struct heap_block *parent;     /* what dominates it; NULL: 'root' */
	int root;
	uint64_t address, fields[MOST_WORDS];
	unsigned used;
	unsigned row;
};

struct heap {
	struct heap_block blocks[MOST_BLOCKS];
	unsigned count;
	uint64_t end;
};

/* A path, and what it has in each snapshot. */
struct truth_row {
	char path[MOST_PATH];
	int above; /* -1: all roots */
	bool passes;
	uint64_t blocks[MOST_MOMENTS], bytes[MOST_MOMENTS], retained[MOST_MOMENTS];
	bool rises, grows, is_part;
	int64_t moved; /* what frames came to hold of it */
	int64_t share, alone;
	unsigned leader;            /* of what grows: the row that stands for it */
	bool holds[MOST_ROWS];      /* blocks of that row, which are not below it */
	bool is_held_by[MOST_ROWS]; /* by what is below that row of roots, or such, when last told
				     */
};

struct truth {
	struct truth_row rows[MOST_ROWS];
	unsigned count, moments;
};

struct world {
	struct site sites[SITES];
	int also[SITES]; /* number of a site whose blocks hold those of this one, too; 0: none */
	struct heap *heap;
	struct truth truth;
	char folder[40];
	struct hg_session *session;
};

static void invent_counts(unsigned counts[MOST_MOMENTS])
{
	unsigned kind = draw(5), now = draw(40), step = 1 + draw(25);
	for (unsigned i = 0; i < MOST_MOMENTS; i++) {
		counts[i] = now;
		if (kind <= 1)
			now += step;
		else if (kind == 2)
			now = now > step ? now - step : 0;
		else if (kind == 3)
			now = draw(60);
	}
}

/* What one site has at a step another one has of it: they hold it by turns. */
static void divide_counts(struct site *site, struct site *frame, int parent)
{
	for (unsigned i = 0; i < MOST_MOMENTS; i++) {
		unsigned moved = draw(3) ? 0 : draw(site->counts[i] + 1);
		site->counts[i] -= moved;
		frame->counts[i] = moved;
	}
	frame->tag = site->tag;
	frame->words = site->words;
	frame->parent = parent;
}

/* Both hold the same blocks, if nothing passes. */
static void invent_sharing(struct world *w, int number)
{
	struct site *site = &w->sites[number];
	int also = (int)draw((unsigned)number);
	for (int at = number; at >= 0; at = w->sites[at].parent)
		if (w->sites[at].parent == FROM_STACK)
			return;
	for (int at = also; at >= 0; at = w->sites[at].parent)
		if (w->sites[at].parent == FROM_STACK)
			return;
	if (site->parent >= 0 && also > 0)
		w->also[number] = also;
}

/* A record of a table and a list, the cells of which hold the same; some are in step. */
static void invent_two_structures(struct world *w)
{
	static const struct site sites[] = {{FROM_ROOT, 0, MOST_WORDS, {1, 1, 1, 1, 1, 1}},
		{0, 0, 30, {5, 5, 5, 5, 5, 5}}, {0, 1, 30, {5, 5, 5, 5, 5, 5}}, {1, 0, 16, {0}},
		{2, 1, 16, {0}}, {3, 2, 16, {0}}};
	unsigned per_step[] = {5 + draw(10), 5 + draw(20), 5 + draw(10)}, odd = draw(12);
	bool in_step = draw(3) > 0;
	memcpy(w->sites, sites, sizeof(sites));
	memset(w->also, 0, sizeof(sites) / sizeof(*sites) * sizeof(*w->also));
	w->also[5] = 4;
	for (unsigned i = 0; i < MOST_MOMENTS; i++)
		for (unsigned k = 0; k < 3; k++)
			w->sites[3 + k].counts[i] = (i + 1) * (in_step ? per_step[0] : per_step[k]);
	if (odd < MOST_MOMENTS)
		w->sites[5].counts[odd] /= 2;
}

static void invent_sites(struct world *w)
{
	static const unsigned sizes[] = {2, 3, 8, 16, 16, 30, MOST_WORDS, MOST_WORDS};
	for (int i = 0; i < SITES; i++) {
		struct site *site = &w->sites[i];
		site->parent = i < 2 || draw(4) == 0 ? -1 - (int)draw(3) : (int)draw((unsigned)i);
		site->tag = draw(3);
		site->words = sizes[draw(sizeof(sizes) / sizeof(*sizes))];
		w->also[i] = 0;
		invent_counts(site->counts);
		if (i > 1 && draw(2))
			invent_sharing(w, i);
	}
	if (draw(2)) {
		invent_two_structures(w);
		return;
	}
	if (draw(2)) {
		w->sites[0].parent = FROM_ROOT;
		for (unsigned i = 0; i < MOST_MOMENTS; i++)
			w->sites[0].counts[i] = 10 + 30 * i;
		divide_counts(&w->sites[0], &w->sites[SITES - 1], FROM_STACK);
	}
}

/* A block of that site with room for one more pointer, or NULL. */
static struct heap_block *some_parent(struct heap *heap, int site)
{
	unsigned from = draw(heap->count + 1);
	for (unsigned i = 0; i < heap->count; i++) {
		struct heap_block *b = &heap->blocks[(from + i) % heap->count];
		if ((int)b->site == site && b->used < MOST_WORDS)
			return b;
	}
	return NULL;
}

static void point_to(struct world *w, struct heap_block *holder, const struct heap_block *b)
{
	/* What is no room for pointers counts as used. */
	holder->fields[holder->used++ - (MOST_WORDS - w->sites[holder->site].words)] = b->address;
}

/* The nearest block that is above or is both, else NULL. */
static struct heap_block *common_holder(struct heap_block *x, struct heap_block *y)
{
	for (struct heap_block *one = x; one; one = one->parent)
		for (struct heap_block *other = y; other; other = other->parent)
			if (one == other)
				return one;
	return NULL;
}

static void add_block(struct world *w, unsigned number, struct heap_block *holder)
{
	struct heap *heap = w->heap;
	const struct site *site = &w->sites[number];
	struct heap_block *b = &heap->blocks[heap->count++];
	*b = (struct heap_block){.site = number,
		.holders = {holder},
		.parent = holder,
		.root = site->parent,
		.address = heap->end + 8,
		.used = MOST_WORDS - site->words};
	heap->end += 8 * (1 + (uint64_t)site->words);
	if (!holder)
		return;
	point_to(w, holder, b);
	struct heap_block *also = w->also[number] ? some_parent(heap, w->also[number]) : NULL;
	if (!also || also == holder)
		return;
	point_to(w, also, b);
	b->holders[1] = also;
	b->parent = common_holder(holder, also);
	b->root = FROM_TWO;
}

static void make_heap(struct world *w, unsigned moment)
{
	struct heap *heap = w->heap;
	heap->count = 0;
	heap->end = base;
	for (unsigned i = 0; i < SITES; i++) {
		const struct site *site = &w->sites[i];
		for (unsigned n = 0; n < site->counts[moment] && heap->count < MOST_BLOCKS; n++) {
			struct heap_block *holder = NULL;
			if (site->parent >= 0 && !(holder = some_parent(heap, site->parent)))
				break;
			add_block(w, i, holder);
		}
	}
}

static void write_heap(struct world *w, unsigned moment)
{
	struct dump d = {0};
	struct heap *heap = w->heap;
	uint64_t stack[MOST_BLOCKS], others[2 * MOST_BLOCKS];
	size_t stacks = 0, other = 0;
	dump_start(&d, "series");
	dump_chunk(&d, base, base + 8 * (uint64_t)MOST_BLOCKS * (MOST_WORDS + 1));
	for (unsigned i = 0; i < heap->count; i++) {
		const struct heap_block *b = &heap->blocks[i];
		const struct site *site = &w->sites[b->site];
		dump_block(&d, b->address, site->tag, site->words, 0);
		/* What is in strings and numbers is not dumped. */
		for (unsigned f = 0; f < site->words && site->tag < 251; f++)
			dump_word(&d, b->fields[f] ? b->fields[f] : 1);
		if (site->parent == FROM_STACK)
			stack[stacks++] = b->address;
		for (int n = 0; n < (site->parent == FROM_ROOT         ? 1
					    : site->parent == FROM_TWO ? 2
								       : 0);
			n++)
			others[other++] = b->address;
	}
	dump_roots(&d, 0, stack, stacks, others, other);
	snprintf(d.path, sizeof(d.path), "%s/heap.dump.7.%u", w->folder, moment);
	dump_write(&d);
	d.path[0] = '\0';
	dump_release(&d);
}

/* The truth */

static unsigned find_row(struct truth *t, int above, const char *path, bool passes)
{
	for (unsigned i = 0; i < t->count; i++)
		if (strcmp(t->rows[i].path, path) == 0)
			return i;
	assert_true(t->count < MOST_ROWS);
	struct truth_row *row = &t->rows[t->count];
	*row = (struct truth_row){.above = above, .passes = passes};
	snprintf(row->path, sizeof(row->path), "%s", path);
	return t->count++;
}

static const char *last_name(const char *path)
{
	const char *joint = NULL, *last = path;
	while ((joint = strstr(last, " / ")))
		last = joint + 3;
	return last;
}

static unsigned row_of_root(struct truth *t, int root)
{
	return find_row(
		t, -1, root == FROM_STACK ? "stack entry" : "other root", root == FROM_STACK);
}

static unsigned row_of_block(struct world *w, const struct heap_block *b)
{
	const struct site *site = &w->sites[b->site];
	struct truth *t = &w->truth;
	char name[60], path[MOST_PATH];
	int above = -1;
	if (site->words > TOLD_WORDS)
		snprintf(name, sizeof(name), "tag %u, more than 16 words", site->tag);
	else
		snprintf(name, sizeof(name), "tag %u, %u words", site->tag, site->words);
	if (b->parent)
		above = (int)b->parent->row;
	else if (b->root == FROM_TWO)
		row_of_root(t, FROM_ROOT); /* which retains nothing of it */
	else
		above = (int)row_of_root(t, b->root);
	/* A class that stands on the path already is that row. */
	for (int at = above; at >= 0; at = t->rows[at].above)
		if (strcmp(last_name(t->rows[at].path), name) == 0)
			return (unsigned)at;
	if (above >= 0)
		snprintf(path, sizeof(path), "%.300s / %s", t->rows[above].path, name);
	else
		snprintf(path, sizeof(path), "%s", name);
	return find_row(t, above, path, above >= 0 && t->rows[above].passes);
}

/* The row above a block that its dominator is of. */
static int row_above(struct truth *t, const struct heap_block *b)
{
	if (b->parent)
		return (int)b->parent->row;
	return b->root == FROM_TWO ? -1 : (int)row_of_root(t, b->root);
}

static unsigned top_row(const struct truth *t, unsigned row)
{
	while (t->rows[row].above >= 0)
		row = (unsigned)t->rows[row].above;
	return row;
}

static void find_tops_that_hold(
	struct truth *t, unsigned row, unsigned pointers[MOST_ROWS][MOST_ROWS])
{
	if (t->rows[row].above >= 0 || strncmp(t->rows[row].path, "tag ", 4) != 0)
		return;
	memset(t->rows[row].is_held_by, 0, sizeof(t->rows[row].is_held_by));
	for (unsigned i = 0; i < t->count; i++)
		if (pointers[i][row] && top_row(t, i) != row)
			t->rows[row].is_held_by[top_row(t, i)] = true;
}

/*
 * Which rows hold blocks of others: of those that are of a row by their dominator a sixteenth or
 * more, where it is 4096 bytes and a ten-thousandth of all.
 */
static void count_sharing(struct world *w, unsigned moment)
{
	static unsigned pointers[MOST_ROWS][MOST_ROWS], shared[MOST_ROWS];
	struct truth *t = &w->truth;
	uint64_t all = 0;
	memset(pointers, 0, sizeof(pointers));
	memset(shared, 0, sizeof(shared));
	for (unsigned i = 0; i < w->heap->count; i++) {
		const struct heap_block *b = &w->heap->blocks[i];
		all += 8 * (1 + (uint64_t)w->sites[b->site].words);
		if (t->rows[b->row].above != row_above(t, b))
			continue;
		shared[b->row]++;
		for (unsigned k = 0; k < 2 && b->holders[k]; k++)
			pointers[b->holders[k]->row][b->row]++;
		if (!b->holders[0] && b->root == FROM_TWO)
			pointers[row_of_root(t, FROM_ROOT)][b->row] += 2;
	}
	for (unsigned i = 0; i < t->count; i++) {
		uint64_t bytes = t->rows[i].retained[moment];
		if (bytes >= 4096 && bytes >= all / 10000 && shared[i])
			find_tops_that_hold(t, i, pointers);
		for (unsigned k = 0; k < t->count && bytes >= 4096 && bytes >= all / 10000; k++)
			if (k != i && (int)k != t->rows[i].above && pointers[k][i] &&
				16 * pointers[k][i] >= shared[i])
				t->rows[k].holds[i] = true;
	}
}

static void count_heap(struct world *w, unsigned moment)
{
	struct truth *t = &w->truth;
	for (unsigned i = 0; i < w->heap->count; i++) {
		struct heap_block *b = &w->heap->blocks[i];
		uint64_t bytes = 8 * (1 + (uint64_t)w->sites[b->site].words);
		b->row = row_of_block(w, b);
		t->rows[b->row].blocks[moment]++;
		t->rows[b->row].bytes[moment] += bytes;
		for (int at = (int)b->row; at >= 0; at = t->rows[at].above)
			t->rows[at].retained[moment] += bytes;
	}
	count_sharing(w, moment);
}

static int64_t delta(const struct truth *t, const uint64_t numbers[MOST_MOMENTS])
{
	return (int64_t)numbers[t->moments - 1] - (int64_t)numbers[0];
}

static int64_t rise(const struct truth *t, const uint64_t numbers[MOST_MOMENTS])
{
	int64_t by = delta(t, numbers);
	return by > 0 ? by : 0;
}

static bool goes_up(const struct truth *t, const uint64_t numbers[MOST_MOMENTS])
{
	for (unsigned i = 1; i < t->moments; i++)
		if (numbers[i] <= numbers[i - 1])
			return false;
	return true;
}

static bool is_below(const struct truth *t, unsigned row, unsigned above)
{
	for (int at = t->rows[row].above; at >= 0; at = t->rows[at].above)
		if (at == (int)above)
			return true;
	return false;
}

static bool is_in_growing(const struct truth *t, unsigned row)
{
	for (unsigned i = 0; i < t->count; i++)
		if (t->rows[i].grows && is_below(t, row, i))
			return true;
	return false;
}

/* Bytes of each block, if all are alike. */
static uint64_t block_size(const struct truth *t, const struct truth_row *row)
{
	uint64_t size = 0;
	for (unsigned i = 0; i < t->moments; i++) {
		if (row->blocks[i] == 0)
			continue;
		if (row->bytes[i] % row->blocks[i])
			return 0;
		if (size && size != row->bytes[i] / row->blocks[i])
			return 0;
		size = row->bytes[i] / row->blocks[i];
	}
	return size;
}

static bool changes(const struct truth *t, const struct truth_row *row)
{
	bool changed = false;
	for (unsigned i = 1; i < t->moments; i++)
		changed |= row->blocks[i] != row->blocks[0] || row->bytes[i] != row->bytes[0] ||
			   row->retained[i] != row->retained[0];
	return changed;
}

/* A row below a frame that is there for a moment, with blocks of that size. */
static bool is_of_moment(const struct truth *t, unsigned number, uint64_t size)
{
	const struct truth_row *row = &t->rows[number];
	uint64_t most = 0;
	for (unsigned i = 0; i < t->moments; i++)
		most = row->retained[i] > most ? row->retained[i] : most;
	for (int at = (int)number; at >= 0; at = t->rows[at].above)
		if (goes_up(t, t->rows[at].blocks))
			return false;
	return row->passes && size && block_size(t, row) == size && most >= 4096 && changes(t, row);
}

/* Counted with blocks of one size below frames, does it go up? */
static void count_moved(struct truth *t, unsigned number)
{
	struct truth_row *row = &t->rows[number];
	uint64_t size = block_size(t, row), blocks[MOST_MOMENTS], held[MOST_MOMENTS] = {0};
	bool rose_once = false, any = false;
	memcpy(blocks, row->blocks, sizeof(blocks));
	for (unsigned i = 1; i < t->moments; i++)
		rose_once |= row->blocks[i] > row->blocks[i - 1];
	for (unsigned k = 0; k < t->count; k++) {
		if (!is_of_moment(t, k, size))
			continue;
		bool is_outer = true;
		any = true;
		for (int at = t->rows[k].above; at >= 0; at = t->rows[at].above)
			is_outer &= block_size(t, &t->rows[at]) != size;
		for (unsigned i = 0; i < t->moments; i++) {
			blocks[i] += t->rows[k].blocks[i];
			held[i] += is_outer ? t->rows[k].retained[i] : 0;
		}
	}
	if (any && rose_once && !row->passes && goes_up(t, blocks)) {
		row->rises = true;
		row->moved = delta(t, held);
	}
}

static int64_t grown(const struct truth *t, unsigned number)
{
	return delta(t, t->rows[number].retained) + t->rows[number].moved;
}

/* In each snapshot as many of these for each of those, but for a sixteenth; and not too heavy. */
static bool may_be_made_of(const struct truth *t, unsigned copy, unsigned of)
{
	const uint64_t *x = t->rows[copy].blocks, *y = t->rows[of].blocks;
	unsigned last = t->moments - 1;
	for (unsigned i = 0; i < last; i++) {
		int64_t apart = (int64_t)(x[i] * y[last]) - (int64_t)(y[i] * x[last]);
		if (llabs(apart) * 16 > (int64_t)(x[last] * y[last]))
			return false;
	}
	return grown(t, copy) / 16 <= grown(t, of);
}

/* Marks what grows of one sort of paths, if shares are of this much: how many.  Those above are
 * before those below. */
static unsigned mark(struct truth *t, int64_t whole, bool below_frames)
{
	unsigned count = 0;
	for (unsigned i = 0; i < t->count; i++) {
		struct truth_row *row = &t->rows[i];
		int64_t own = grown(t, i);
		if (row->passes != below_frames)
			continue;
		row->grows = t->moments >= 3 && row->rises &&
			     !(row->above >= 0 && t->rows[row->above].rises) && own >= 4096 &&
			     (whole <= 0 || own * 100 >= whole) && !is_in_growing(t, i);
		for (unsigned k = 0; k < t->count && below_frames; k++)
			if (t->rows[k].grows && !t->rows[k].passes && may_be_made_of(t, i, k))
				row->grows = false;
		count += row->grows;
	}
	return count;
}

static unsigned growing_below(const struct truth *t, unsigned above)
{
	unsigned count = 0;
	for (unsigned i = 0; i < t->count; i++)
		count += t->rows[i].grows && is_below(t, i, above);
	return count;
}

/* Of a growing row, with what alone leads to it. */
static int64_t growth_told(const struct truth *t, unsigned number)
{
	int64_t own = grown(t, number);
	for (int at = t->rows[number].above; at >= 0; at = t->rows[at].above) {
		if (growing_below(t, (unsigned)at) > 1)
			break;
		own += rise(t, t->rows[at].bytes);
	}
	return own;
}

static bool is_plain(const char *path)
{
	return strncmp(last_name(path), "tag 25", 6) == 0;
}

/* As often as not more than a sixteenth off, the whole being this. */
static bool is_close(double x, double y, double whole)
{
	return fabs(x - y) * 16 <= whole;
}

/* From one moment to another, with so many between that may be off. */
static bool steps_alike(const uint64_t *x, const uint64_t *y, unsigned from, unsigned to, int off)
{
	double grown_x = (double)x[to] - (double)x[from], grown_y = (double)y[to] - (double)y[from];
	if (grown_x <= 0 || grown_y <= 0)
		return false;
	for (unsigned i = from + 1; i < to; i++)
		off -= !is_close(((double)x[i] - (double)x[from]) / grown_x,
			((double)y[i] - (double)y[from]) / grown_y, 1);
	return off >= 0;
}

static bool steps_together(const struct truth *t, unsigned x, unsigned y)
{
	const uint64_t *a = t->rows[x].blocks, *b = t->rows[y].blocks;
	unsigned last = t->moments - 1;
	return steps_alike(a, b, 0, last, t->moments > 3) ||
	       (t->moments > 3 &&
		       (steps_alike(a, b, 1, last, 0) || steps_alike(a, b, 0, last - 1, 0)));
}

/* Other values than strings that became more. */
static bool has_values(const struct truth *t, unsigned row)
{
	for (unsigned i = 0; i < t->count; i++)
		if (is_below(t, i, row) && !is_plain(t->rows[i].path) &&
			delta(t, t->rows[i].bytes) > 0)
			return true;
	return false;
}

static bool holds_directly(const struct truth *t, unsigned holder, unsigned shared)
{
	return t->rows[holder].grows && t->rows[holder].holds[shared] &&
	       steps_together(t, holder, shared);
}

/* Whether a growing row, or what is below it, holds what another one is. */
static bool holds_any(const struct truth *t, unsigned holder, unsigned shared)
{
	bool holds = t->rows[holder].holds[shared];
	for (unsigned i = 0; i < t->count; i++)
		holds |= t->rows[i].holds[shared] && is_below(t, i, holder);
	return holds;
}

/* So that they are one leak: strings only what has no values, and one that has some. */
static bool holds_values(const struct truth *t, unsigned holder, unsigned shared)
{
	unsigned with_values = 0;
	if (!is_plain(t->rows[shared].path))
		return holds_any(t, holder, shared);
	for (unsigned i = 0; i < t->count; i++)
		with_values += holds_directly(t, i, shared) && has_values(t, i);
	return holds_directly(t, holder, shared) && (!has_values(t, holder) || with_values == 1);
}

static bool stands_for(const struct truth *t, unsigned x, unsigned y)
{
	bool plain = is_plain(t->rows[x].path);
	if (plain != is_plain(t->rows[y].path))
		return !plain;
	if (grown(t, x) != grown(t, y))
		return grown(t, x) > grown(t, y);
	return strcmp(last_name(t->rows[x].path), last_name(t->rows[y].path)) < 0;
}

static bool are_one_leak(const struct truth *t, unsigned x, unsigned y)
{
	return t->rows[x].grows && t->rows[y].grows &&
	       (holds_values(t, x, y) || holds_values(t, y, x)) && steps_together(t, x, y);
}

/* Strings that are by themselves go to what holds them and grew most. */
static void join_strings(const struct truth *t, unsigned sets[MOST_ROWS])
{
	for (unsigned i = 0; i < t->count; i++) {
		unsigned best = i, alike = 0;
		for (unsigned k = 0; k < t->count; k++)
			alike += t->rows[k].grows && sets[k] == sets[i];
		for (unsigned k = 0; k < t->count; k++)
			if (k != i && t->rows[k].grows && holds_any(t, k, i) &&
				steps_together(t, k, i) && (best == i || stands_for(t, k, best)))
				best = k;
		if (t->rows[i].grows && is_plain(t->rows[i].path) && alike == 1)
			sets[i] = sets[best];
	}
}

/* Sets of growing rows, by number until nothing changes; then who is first in each. */
static void find_leaders(struct truth *t)
{
	unsigned sets[MOST_ROWS];
	bool changed = true;
	for (unsigned i = 0; i < t->count; i++)
		sets[i] = i;
	while (changed) {
		changed = false;
		for (unsigned x = 0; x < t->count; x++)
			for (unsigned y = 0; y < t->count; y++) {
				if (sets[x] <= sets[y] || !are_one_leak(t, x, y))
					continue;
				sets[x] = sets[y];
				changed = true;
			}
	}
	join_strings(t, sets);
	for (unsigned i = 0; i < t->count; i++) {
		t->rows[i].leader = i;
		for (unsigned k = 0; k < t->count; k++)
			if (t->rows[i].grows && t->rows[k].grows && sets[k] == sets[i] &&
				stands_for(t, k, t->rows[i].leader))
				t->rows[i].leader = k;
	}
}

/*
 * The path that an array became larger for: it holds what that has, and nothing that grows hangs
 * below it; -1 if there is none.
 */
static int array_of(const struct truth *t, unsigned row)
{
	const struct truth_row *array = &t->rows[row];
	int leader = -1;
	if (array->blocks[0] != array->blocks[t->moments - 1] || delta(t, array->bytes) <= 0 ||
		array->grows || is_in_growing(t, row) || growing_below(t, row))
		return -1;
	for (unsigned i = 0; i < t->count; i++)
		if (t->rows[i].grows && array->holds[i] && array->passes == t->rows[i].passes &&
			(leader < 0 || (t->rows[i].leader != (unsigned)leader &&
					       stands_for(t, t->rows[i].leader, (unsigned)leader))))
			leader = (int)t->rows[i].leader;
	return leader;
}

/* What a leader stands for, with what alone leads to it. */
static int64_t growth_joined(const struct truth *t, unsigned leader)
{
	int64_t sum = 0;
	for (unsigned i = 0; i < t->count; i++) {
		bool all = growing_below(t, i) > 1;
		for (unsigned k = 0; k < t->count; k++)
			all &= !t->rows[k].grows || !is_below(t, k, i) ||
			       t->rows[k].leader == leader;
		if (t->rows[i].grows && t->rows[i].leader == leader)
			sum += growth_told(t, i);
		else if ((all && !t->rows[i].grows) || array_of(t, i) == (int)leader)
			sum += rise(t, t->rows[i].bytes);
	}
	return sum;
}

/* Marks all, and returns of what shares are; *named is the growth of what is marked. */
static int64_t mark_all(struct truth *t, int64_t growth, bool with_frames, int64_t *named)
{
	int64_t whole = growth;
	for (int round = 0; round < 2; round++) {
		int64_t more = 0, risen = 0;
		for (unsigned i = 0; i < t->count; i++)
			t->rows[i].grows = false;
		mark(t, whole, false);
		if (with_frames)
			mark(t, whole, true);
		find_leaders(t);
		*named = 0;
		for (unsigned i = 0; i < t->count; i++)
			if (t->rows[i].grows && t->rows[i].leader == i)
				*named += growth_joined(t, i);
		for (unsigned i = 0; i < t->count; i++) {
			int64_t own = delta(t, t->rows[i].bytes);
			if (own > 0 && (with_frames || !t->rows[i].passes))
				risen += own;
			if (t->rows[i].grows)
				more += with_frames ? 0 : t->rows[i].moved;
		}
		whole = growth + more;
		if (*named > 0 && *named > whole)
			whole = risen + (more > 0 ? more : 0);
		if (*named > whole && *named > 0)
			whole = *named;
	}
	return whole;
}

static void judge(struct truth *t)
{
	int64_t all = 0, frames = 0, named;
	for (unsigned i = 0; i < t->count; i++) {
		struct truth_row *row = &t->rows[i];
		all += delta(t, row->bytes);
		frames += row->passes ? delta(t, row->bytes) : 0;
		row->rises = goes_up(t, row->blocks);
		row->moved = 0;
	}
	for (unsigned i = 0; i < t->count && t->moments >= 3; i++)
		if (!goes_up(t, t->rows[i].blocks))
			count_moved(t, i);
	int64_t whole = mark_all(t, all - frames, false, &named);
	if (named <= whole / 2 || named == 0 || mark(t, all, true) > 0)
		whole = mark_all(t, all, true, &named);
	for (unsigned i = 0; i < t->count; i++) {
		struct truth_row *row = &t->rows[i];
		int64_t alone = row->grows ? growth_told(t, i) : 0;
		int64_t own = row->grows ? alone : delta(t, row->retained);
		if (row->grows && row->leader == i)
			own = growth_joined(t, i);
		if (array_of(t, i) >= 0)
			own = alone = delta(t, row->bytes);
		row->alone = whole ? alone * 10000 / whole : 0;
		row->share = whole ? own * 10000 / whole : 0;
		assert_true(!row->grows || row->share <= 10000);
	}
	for (unsigned i = 0; i < t->count; i++) {
		struct truth_row *row = &t->rows[i];
		row->is_part = array_of(t, i) >= 0 || (row->grows && row->leader != i);
		if (array_of(t, i) >= 0)
			row->leader = (unsigned)array_of(t, i);
	}
	for (unsigned i = 0; i < t->count; i++)
		t->rows[i].grows = t->rows[i].grows && !t->rows[i].is_part;
}

static void invent_series(struct world *w, unsigned seed, unsigned moments)
{
	state = seed;
	w->truth.count = 0;
	w->truth.moments = moments;
	invent_sites(w);
	for (unsigned i = 0; i < moments; i++) {
		make_heap(w, i);
		write_heap(w, i);
		count_heap(w, i);
	}
	judge(&w->truth);
}

/* What heapgraph says */

static enum hg_status add_moment(struct world *w, struct hg_series *series, unsigned number)
{
	char path[64];
	struct hg_snapshot *snapshot;
	snprintf(path, sizeof(path), "%s/heap.dump.7.%u", w->folder, number);
	struct hg_input input = {.size = sizeof(input), .path = path};
	if (hg_snapshot_open(w->session, &input, &snapshot) != HG_OK)
		fail_msg("%s", hg_session_error(w->session)->message);
	assert_int_equal(hg_snapshot_analyse(snapshot), HG_OK);
	enum hg_status status = hg_series_add(series, snapshot);
	hg_snapshot_close(snapshot);
	return status;
}

/* The series of these snapshots, in the order in which they are named. */
static struct hg_series *series_of(struct world *w, const struct hg_series_options *options,
	const unsigned *order, unsigned count)
{
	struct hg_series *series;
	assert_int_equal(hg_series_open(w->session, options, &series), HG_OK);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(add_moment(w, series, order[i]), HG_OK);
	assert_int_equal(hg_series_finish(series), HG_OK);
	return series;
}

static void shuffle(unsigned *order, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		order[i] = i;
	for (unsigned i = count; i > 1; i--) {
		unsigned other = draw(i), kept = order[i - 1];
		order[i - 1] = order[other];
		order[other] = kept;
	}
}

static const struct truth_row *truth_of(const struct truth *t, const char *path)
{
	for (unsigned i = 0; i < t->count; i++)
		if (strcmp(t->rows[i].path, path) == 0)
			return &t->rows[i];
	fail_msg("there is no path %s", path);
	return NULL;
}

/* What begins with no root is told what holds it, if it ever was not tiny: three of them. */
static void compare_holders(const struct truth *t, const struct truth_row *row, const char *held_by)
{
	const struct truth_row *top = &t->rows[top_row(t, (unsigned)(row - t->rows))];
	char list[MOST_PATH];
	unsigned wanted = 0, told = 0;
	for (unsigned i = 0; i < t->count; i++)
		wanted += top->is_held_by[i];
	snprintf(list, sizeof(list), ";%s;", held_by);
	for (unsigned i = 0; i < t->count; i++) {
		char name[MOST_PATH];
		snprintf(name, sizeof(name), ";%.300s;", t->rows[i].path);
		told += top->is_held_by[i] && strstr(list, name);
	}
	snprintf(list, sizeof(list), ";%u more", wanted > 3 ? wanted - 3 : 0);
	assert_int_equal(told, wanted > 3 ? 3 : wanted);
	assert_int_equal(strstr(held_by, list) != NULL, wanted > 3);
	assert_int_equal(!*held_by, wanted == 0);
}

/* The path that stands for another one is found by its number. */
static void compare_leader(const struct truth *t, const struct hg_series *series,
	const struct hg_series_row *row, const struct truth_row *true_row)
{
	struct hg_series_link link;
	assert_int_equal(row->part_of != UINT32_MAX, true_row->is_part);
	if (!true_row->is_part)
		return;
	assert_true(hg_series_link_at(series, row->part_of, &link));
	assert_string_equal(link.row->name, t->rows[true_row->leader].path);
	assert_true(link.row->grows);
}

static void compare_row(const struct world *w, const struct hg_series *series, size_t number)
{
	const struct hg_series_row *row = hg_series_at(series, number);
	const struct truth_row *true_row = truth_of(&w->truth, row->name);
	struct hg_measure points[MOST_MOMENTS];
	assert_true(hg_series_points(series, number, points));
	for (unsigned i = 0; i < w->truth.moments; i++) {
		assert_int_equal(points[i].blocks, true_row->blocks[i]);
		assert_int_equal(points[i].bytes, true_row->bytes[i]);
		assert_int_equal(points[i].retained_bytes, true_row->retained[i]);
	}
	if (row->grows != true_row->grows || row->growth_share != true_row->share)
		fail_msg("%s: grows %d, share %" PRId64 ", not %d, %" PRId64, row->name, row->grows,
			row->growth_share, true_row->grows, true_row->share);
	assert_int_equal(row->alone_share, true_row->alone);
	compare_leader(&w->truth, series, row, true_row);
	assert_int_equal(row->changed, changes(&w->truth, true_row));
	compare_holders(&w->truth, true_row, row->held_by);
}

/* What grows first, then what changed most, then by name. */
static void check_order(const struct hg_series *series)
{
	for (size_t i = 1; i < hg_series_count(series); i++) {
		const struct hg_series_row *x = hg_series_at(series, i - 1),
					   *y = hg_series_at(series, i);
		int64_t left = (int64_t)(x->last.retained_bytes - x->first.retained_bytes);
		int64_t right = (int64_t)(y->last.retained_bytes - y->first.retained_bytes);
		left = left < 0 ? -left : left;
		right = right < 0 ? -right : right;
		assert_true(x->grows >= y->grows);
		if (x->grows == y->grows)
			assert_true(
				left > right || (left == right && strcmp(x->name, y->name) < 0));
	}
}

static void compare_series(const struct world *w, const struct hg_series *series, bool unchanged)
{
	size_t wanted = 0;
	for (unsigned i = 0; i < w->truth.count; i++)
		wanted += unchanged || changes(&w->truth, &w->truth.rows[i]);
	assert_int_equal(hg_series_count(series), wanted);
	for (size_t i = 0; i < wanted; i++)
		compare_row(w, series, i);
	check_order(series);
}

static unsigned rounds(void)
{
	return is_thorough() ? 1000 : 120;
}

/* Growing paths of which frames held a part, paths below frames that are made of others, and those
 * that are one leak with another. */
static void count_kinds(const struct truth *t, unsigned *moved, unsigned *made, unsigned *parts)
{
	for (unsigned i = 0; i < t->count; i++) {
		*moved += t->rows[i].grows && !goes_up(t, t->rows[i].blocks);
		*parts += t->rows[i].is_part;
		for (unsigned k = 0; k < t->count && t->rows[i].passes && t->rows[i].rises; k++)
			*made += t->rows[k].grows && !t->rows[k].passes && may_be_made_of(t, i, k);
	}
}

static void what_grows(void **data)
{
	struct world *w = *data;
	unsigned growing = 0, frames = 0, moved = 0, made = 0, parts = 0;
	for (unsigned seed = 1; seed <= rounds(); seed++) {
		unsigned order[MOST_MOMENTS], moments = 2 + seed % (MOST_MOMENTS - 1);
		invent_series(w, seed, moments);
		shuffle(order, moments);
		bool is_sorted = false;
		for (unsigned i = 0; i < moments; i++)
			is_sorted |= order[i] != i;
		const struct hg_series_options options = {
			.size = sizeof(options), .unchanged = seed % 2};
		struct hg_series *series = series_of(w, &options, order, moments);
		assert_int_equal(hg_series_moments(series), moments);
		assert_int_equal(hg_series_is_sorted(series), is_sorted);
		for (unsigned i = 0; i < moments; i++)
			assert_int_equal(hg_series_moment_at(series, i)->index, i);
		compare_series(w, series, options.unchanged);
		for (size_t i = 0; i < hg_series_count(series); i++) {
			growing += hg_series_at(series, i)->grows;
			frames += hg_series_at(series, i)->grows &&
				  strncmp(hg_series_at(series, i)->name, "stack", 5) == 0;
		}
		count_kinds(&w->truth, &moved, &made, &parts);
		hg_series_close(series);
	}
	assert_true(moved > rounds() / 60 && made > rounds() / 60);
	assert_true(parts > rounds() / 12);
	/* The series are no empty ones. */
	assert_true(growing > rounds() / 4);
	assert_true(frames > 0 && frames < growing / 2);
}

static size_t failures_of(struct hg_series *series, struct hg_check_options options)
{
	struct hg_check *check;
	options.size = sizeof(options);
	assert_int_equal(hg_check_series(series, &options, &check), HG_OK);
	size_t failures = check->failures;
	assert_true(failures <= check->count);
	hg_check_release(&check);
	return failures;
}

static const struct hg_check_options no_limits = {
	.growth_bytes = HG_UNKNOWN, .growth_parts = HG_UNKNOWN, .total_bytes = HG_UNKNOWN};

/* What leaks is site 0 below a root; the others are what stands beside it. */
static void what_hides_a_leak(void **data)
{
	struct world *w = *data;
	static const char leak[] = "other root / tag 0, 3 words";
	static const char frame[] = "stack entry / tag 1, 8 words";
	static const struct {
		struct site sites[2];
		const char *named; /* NULL: nothing */
		int64_t share;
	} cases[] = {
		/* A part is below a frame, in the middle, at the end, at the beginning, always. */
		{{{FROM_ROOT, 0, 3, {200, 300, 50, 500}}, {FROM_STACK, 0, 3, {0, 0, 350, 0}}}, leak,
			10000},
		{{{FROM_ROOT, 0, 3, {200, 300, 400, 50}}, {FROM_STACK, 0, 3, {0, 0, 0, 450}}}, leak,
			10000},
		{{{FROM_ROOT, 0, 3, {150, 20, 400, 500}}, {FROM_STACK, 0, 3, {0, 280, 0, 0}}}, leak,
			10000},
		{{{FROM_ROOT, 0, 3, {150, 20, 60, 40}}, {FROM_STACK, 0, 3, {50, 280, 340, 460}}},
			"stack entry / tag 0, 3 words", 10000},
		{{{FROM_ROOT, 0, 3, {150, 20, 360, 40}}, {FROM_STACK, 0, 3, {50, 280, 40, 460}}},
			leak, 10000},
		/* A copy, at the end and always; of another size than the rest; too heavy for one.
		 */
		{{{FROM_ROOT, 0, 3, {100, 300, 400, 500}}, {FROM_STACK, 1, 8, {0, 0, 0, 500}}},
			leak, 10000},
		{{{FROM_ROOT, 0, 3, {100, 300, 400, 500}},
			 {FROM_STACK, 1, 8, {101, 301, 401, 501}}},
			leak, 10000},
		{{{FROM_ROOT, 0, 3, {200, 300, 50, 500}}, {FROM_STACK, 1, 8, {0, 0, 350, 0}}}, NULL,
			0},
		{{{FROM_ROOT, 0, 3, {50, 60, 70, 100}}, {FROM_STACK, 1, 8, {5, 205, 405, 500}}},
			frame, 9570},
		/* Something else is flushed. */
		{{{FROM_ROOT, 0, 3, {100, 200, 300, 400}}, {FROM_ROOT, 2, 16, {900, 900, 0, 900}}},
			leak, 10000},
		{{{FROM_ROOT, 0, 3, {100, 200, 300, 400}}, {FROM_ROOT, 2, 16, {900, 900, 900, 2}}},
			leak, 10000},
		{{{FROM_ROOT, 0, 3, {100, 200, 300, 400}}, {FROM_STACK, 2, 16, {900, 900, 900, 2}}},
			leak, 10000},
		/* Healthy: by turns below a root and a frame. */
		{{{FROM_ROOT, 0, 3, {500, 100, 400, 200}}, {FROM_STACK, 0, 3, {0, 400, 100, 300}}},
			NULL, 0},
		{{{FROM_ROOT, 0, 3, {400, 100, 390, 510}}, {FROM_STACK, 0, 3, {0, 250, 100, 0}}},
			NULL, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memset(w->sites, 0, sizeof(w->sites));
		memset(w->also, 0, sizeof(w->also));
		memcpy(w->sites, cases[i].sites, sizeof(cases[i].sites));
		for (unsigned m = 0; m < 4; m++) {
			make_heap(w, m);
			write_heap(w, m);
		}
		const struct hg_series_options options = {
			.size = sizeof(options), .keep_order = true};
		struct hg_series *series =
			series_of(w, &options, (const unsigned[]){0, 1, 2, 3}, 4);
		size_t named = 0;
		for (size_t k = 0; k < hg_series_count(series); k++) {
			const struct hg_series_row *row = hg_series_at(series, k);
			if (!row->grows)
				continue;
			named++;
			if (!cases[i].named || strcmp(row->name, cases[i].named) != 0 ||
				row->growth_share != cases[i].share)
				fail_msg("case %zu: %s, share %" PRId64, i, row->name,
					row->growth_share);
		}
		if (named != (cases[i].named != NULL))
			fail_msg("case %zu: %zu paths", i, named);
		struct hg_check_options o = no_limits;
		assert_int_equal(failures_of(series, o), named);
		hg_series_close(series);
	}
}

/* Cells of a table and of a list that hold the same, or records that do; how many paths grow. */
static void one_leak_in_two_structures(void **data)
{
	struct world *w = *data;
	enum { RECORD = 16, CELLS = 3, VALUES = 5, RECORDS = 5, FLAT = 0, BY_RECORDS = 2 };
	static const char table[] = "other root / tag 0, more than 16 words / tag 0, 16 words";
	static const char values[] = "other root / tag 0, more than 16 words / tag 2, 16 words";
	static const struct {
		int kind;
		unsigned tag, counts[3][4]; /* of the cells of either, and of the values */
		const char *first;          /* that grows */
		unsigned growing, parts;
	} cases[] = {
		{FLAT, 2, {{9, 18, 27, 36}, {9, 18, 27, 36}, {9, 18, 27, 36}}, table, 1, 2},
		{FLAT, 2, {{9, 18, 27, 36}, {9, 18, 27, 36}, {18, 36, 54, 72}}, values, 1, 2},
		/* Strings: what holds them stands for them. */
		{FLAT, 252, {{9, 18, 27, 36}, {9, 18, 27, 36}, {18, 36, 54, 72}}, table, 1, 2},
		/* One moment off; two. */
		{FLAT, 2, {{9, 18, 27, 36}, {9, 18, 27, 36}, {18, 36, 41, 72}}, values, 1, 2},
		{FLAT, 2, {{2, 18, 27, 36}, {9, 18, 27, 36}, {18, 36, 54, 72}}, values, 1, 2},
		{FLAT, 2, {{9, 18, 27, 36}, {9, 18, 27, 36}, {18, 19, 70, 72}}, values, 3, 0},
		/* Many for each of the other. */
		{FLAT, 2, {{9, 18, 27, 36}, {9, 18, 27, 36}, {50, 100, 150, 200}}, values, 1, 2},
		/* Records of each that hold the same strings, and the same of something else. */
		{BY_RECORDS, 252, {{9, 18, 27, 36}, {9, 18, 27, 36}, {9, 18, 27, 36}}, table, 2, 1},
		{BY_RECORDS, 2, {{9, 18, 27, 36}, {9, 18, 27, 36}, {9, 18, 27, 36}}, table, 1, 2},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unsigned growing = 0, parts = 0;
		unsigned last = VALUES + (unsigned)cases[i].kind;
		static const struct site outer[] = {{FROM_ROOT, 0, MOST_WORDS, {1, 1, 1, 1}},
			{0, 0, 30, {9, 9, 9, 9}}, {0, 1, 30, {9, 9, 9, 9}}, {1, 0, 16, {0}},
			{2, 1, 16, {0}}, {3, 2, 3, {0}}, {4, 2, 3, {0}}};
		memset(w->sites, 0, sizeof(w->sites));
		memset(w->also, 0, sizeof(w->also));
		memcpy(w->sites, outer, sizeof(outer));
		w->sites[last] = (struct site){(int)last - 2, cases[i].tag, RECORD, {0}};
		w->also[last] = (int)last - 1;
		for (unsigned m = 0; m < 4; m++) {
			for (unsigned k = 0; k < 2; k++)
				w->sites[CELLS + k].counts[m] = 2 * cases[i].counts[k][m];
			for (unsigned k = 0; k < 2 && cases[i].kind == BY_RECORDS; k++)
				w->sites[RECORDS + k].counts[m] = 2 * cases[i].counts[k][m];
			w->sites[last].counts[m] = 2 * cases[i].counts[2][m];
			state = m;
			make_heap(w, m);
			write_heap(w, m);
		}
		const struct hg_series_options options = {.size = sizeof(options)};
		struct hg_series *series =
			series_of(w, &options, (const unsigned[]){0, 1, 2, 3}, 4);
		for (size_t k = 0; k < hg_series_count(series); k++) {
			growing += hg_series_at(series, k)->grows;
			parts += hg_series_at(series, k)->part_of != UINT32_MAX;
		}
		const struct hg_series_row *first = hg_series_at(series, 0);
		if (growing != cases[i].growing || parts != cases[i].parts)
			fail_msg("case %zu: %u paths, %u parts", i, growing, parts);
		if (strcmp(first->name, cases[i].first) != 0)
			fail_msg("case %zu: %s", i, first->name);
		assert_true(growing > 1 || first->growth_share == 10000);
		hg_series_close(series);
	}
}

/* In the order given, whatever the numbers are: as if they had been made so. */
static void order_that_is_kept(void **data)
{
	struct world *w = *data;
	for (unsigned seed = 1; seed <= rounds() / 3; seed++) {
		unsigned order[MOST_MOMENTS];
		invent_series(w, seed, 4);
		shuffle(order, 4);
		for (unsigned i = 0; i < w->truth.count; i++) {
			struct truth_row *row = &w->truth.rows[i], old = *row;
			for (unsigned m = 0; m < 4; m++) {
				row->blocks[m] = old.blocks[order[m]];
				row->bytes[m] = old.bytes[order[m]];
				row->retained[m] = old.retained[order[m]];
			}
		}
		judge(&w->truth);
		const struct hg_series_options options = {
			.size = sizeof(options), .keep_order = true};
		struct hg_series *series = series_of(w, &options, order, 4);
		assert_false(hg_series_is_sorted(series));
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(hg_series_moment_at(series, i)->index, order[i]);
		compare_series(w, series, false);
		hg_series_close(series);
	}
}

static void there_and_back(void **data)
{
	struct world *w = *data;
	const struct hg_series_options options = {.size = sizeof(options), .keep_order = true};
	for (unsigned seed = 1; seed <= rounds() / 3; seed++) {
		static const unsigned forth[] = {0, 1}, back[] = {1, 0}, same[] = {1, 1};
		invent_series(w, seed, 2);
		struct hg_series *there = series_of(w, &options, forth, 2);
		struct hg_series *again = series_of(w, &options, back, 2);
		struct hg_series *nothing = series_of(w, &options, same, 2);
		assert_int_equal(hg_series_count(nothing), 0);
		assert_int_equal(hg_series_count(there), hg_series_count(again));
		for (size_t i = 0; i < hg_series_count(there); i++) {
			const struct hg_series_row *x = hg_series_at(there, i);
			const struct hg_series_row *y = hg_series_at(again, i);
			assert_string_equal(x->name, y->name);
			assert_memory_equal(&x->first, &y->last, sizeof(x->first));
			assert_memory_equal(&x->last, &y->first, sizeof(x->first));
			/* Both are of a growth of the other sign. */
			assert_int_equal(x->growth_share, y->growth_share);
		}
		hg_series_close(there);
		hg_series_close(again);
		hg_series_close(nothing);
	}
}

static void classes_by_tag(void **data)
{
	struct world *w = *data;
	const unsigned order[] = {0, 1, 2};
	const struct hg_series_options options = {
		.size = sizeof(options), .by_key = true, .key = HG_BY_TAG, .unchanged = true};
	for (unsigned seed = 1; seed <= rounds() / 3; seed++) {
		uint64_t blocks[3][3] = {{0}}, bytes[3][3] = {{0}};
		invent_series(w, seed, 3);
		for (unsigned m = 0; m < 3; m++) {
			state = seed + m;
			make_heap(w, m);
			for (unsigned i = 0; i < w->heap->count; i++) {
				const struct site *site = &w->sites[w->heap->blocks[i].site];
				blocks[site->tag][m]++;
				bytes[site->tag][m] += 8 * (1 + (uint64_t)site->words);
			}
			write_heap(w, m);
		}
		struct hg_series *series = series_of(w, &options, order, 3);
		for (size_t i = 0; i < hg_series_count(series); i++) {
			const struct hg_series_row *row = hg_series_at(series, i);
			unsigned tag = (unsigned)(row->name[0] - '0');
			struct hg_measure points[3];
			assert_true(
				tag < 3 && !row->name[1] && hg_series_points(series, i, points));
			bool all_up = true;
			for (unsigned m = 0; m < 3; m++) {
				assert_int_equal(points[m].blocks, blocks[tag][m]);
				assert_int_equal(points[m].bytes, bytes[tag][m]);
				all_up &= m == 0 || blocks[tag][m] > blocks[tag][m - 1];
			}
			assert_true(all_up || !row->grows);
			assert_int_equal(row->part_of, UINT32_MAX);
		}
		hg_series_close(series);
	}
}

static void what_does_not_go_together(void **data)
{
	struct world *w = *data;
	struct hg_series *series;
	const struct hg_series_options options = {.size = sizeof(options), .distinct = true};
	invent_series(w, 1, 2);
	assert_int_equal(hg_series_open(w->session, &options, &series), HG_OK);
	assert_int_equal(add_moment(w, series, 0), HG_OK);
	assert_int_equal(add_moment(w, series, 1), HG_OK);
	assert_int_equal(add_moment(w, series, 0), HG_ERROR_INPUT);
	assert_non_null(strstr(hg_session_error(w->session)->message, "the same file"));
	hg_series_close(series);
	/* A series of nothing, and of one. */
	assert_int_equal(hg_series_open(w->session, NULL, &series), HG_OK);
	assert_int_equal(hg_series_finish(series), HG_OK);
	assert_int_equal(hg_series_count(series), 0);
	hg_series_close(series);
	series = series_of(w, NULL, (const unsigned[]){0}, 1);
	assert_int_equal(hg_series_count(series), 0);
	hg_series_close(series);
}

/* Checks */

static void totals_to_the_byte(void **data)
{
	struct world *w = *data;
	const struct hg_series_options all = {
		.size = sizeof(all), .keep_order = true, .unchanged = true};
	for (unsigned seed = 1; seed <= rounds() / 3; seed++) {
		uint64_t before = 0, after = 0;
		invent_series(w, seed, 3);
		for (unsigned i = 0; i < w->truth.count; i++) {
			before += w->truth.rows[i].bytes[1];
			after += w->truth.rows[i].bytes[2];
		}
		struct hg_series *series = series_of(w, &all, (const unsigned[]){0, 1, 2}, 3);
		struct hg_check_options o = no_limits;
		o.total_bytes = after;
		assert_int_equal(failures_of(series, o), 0);
		o.total_bytes = after ? after - 1 : 0;
		assert_int_equal(failures_of(series, o), after > 0);
		o = no_limits;
		uint64_t growth = after > before ? after - before : 0;
		o.growth_bytes = growth;
		assert_int_equal(failures_of(series, o), 0);
		o.growth_bytes = growth ? growth - 1 : 0;
		assert_int_equal(failures_of(series, o), growth > 0);
		o = no_limits;
		/* The largest limit in millionths that is exceeded, and the next one. */
		for (uint64_t parts = 0; parts <= 2000000; parts += 99999) {
			o.growth_parts = parts;
			assert_int_equal(failures_of(series, o), growth * 1000000 > before * parts);
		}
		hg_series_close(series);
	}
}

/* Of paths that match, those below another one that does say nothing. */
static bool fails_for(const struct truth *t, unsigned row, const char *end, uint64_t limit)
{
	const char *path = t->rows[row].path;
	size_t length = strlen(path), tail = strlen(end);
	for (int at = t->rows[row].above; at >= 0; at = t->rows[at].above) {
		const char *above = t->rows[at].path;
		size_t size = strlen(above);
		if (size >= tail && strcmp(above + size - tail, end) == 0)
			return false;
	}
	return length >= tail && strcmp(path + length - tail, end) == 0 &&
	       t->rows[row].retained[1] > limit;
}

static void paths_to_the_byte(void **data)
{
	struct world *w = *data;
	static const char *const ends[] = {
		"words", "16 words", "tag 1, 16 words", "root", "2 words", ""};
	const struct hg_series_options all = {
		.size = sizeof(all), .keep_order = true, .unchanged = true};
	for (unsigned seed = 1; seed <= rounds() / 3; seed++) {
		invent_series(w, seed, 2);
		struct hg_series *series = series_of(w, &all, (const unsigned[]){0, 1}, 2);
		for (unsigned i = 0; i < w->truth.count; i++) {
			char glob[32] = "*";
			const char *end = ends[i % 6];
			strcat(glob, end);
			for (unsigned less = 0; less < 2; less++) {
				uint64_t bytes = w->truth.rows[i].retained[1] - less;
				struct hg_path_limit limit = {glob, bytes};
				struct hg_check_options o = no_limits;
				size_t wanted = 0;
				if (w->truth.rows[i].retained[1] == 0)
					continue;
				for (unsigned j = 0; j < w->truth.count; j++)
					wanted += fails_for(&w->truth, j, end, bytes);
				o.paths = &limit;
				o.path_count = 1;
				assert_int_equal(failures_of(series, o), wanted);
			}
		}
		hg_series_close(series);
	}
}

static void globs(void **data)
{
	struct world *w = *data;
	static const struct {
		const char *glob;
		bool matches; /* "other root / tag 0, 2 words" */
	} cases[] = {{"other root / tag 0, 2 words", true}, {"other root / tag 0, 2 word", false},
		{"other root / tag 0, 2 wordss", false}, {"*", true}, {"**", true}, {"***s", true},
		{"*t", true}, {"* / tag ?, ? words", true}, {"?ther root / *", true}, {"?", false},
		{"", false}, {"* / * / *", false}, {"other root", true}, {"other", false},
		{"other*w*w*", false}, {"o*t*r*t*0*2*s", true}, {"[o]ther root / *", false},
		{"\\other root / *", false}, {"*[!x]", false},
		{"*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", false}};
	memset(w->sites, 0, sizeof(w->sites));
	w->sites[0] = (struct site){.parent = FROM_ROOT, .words = 2, .counts = {1, 2}};
	for (unsigned m = 0; m < 2; m++) {
		make_heap(w, m);
		write_heap(w, m);
	}
	const struct hg_series_options all = {
		.size = sizeof(all), .keep_order = true, .unchanged = true};
	struct hg_series *series = series_of(w, &all, (const unsigned[]){0, 1}, 2);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hg_path_limit limit = {cases[i].glob, 0};
		struct hg_suppression known = {cases[i].glob, "known", 100};
		struct hg_path_limit every = {"* / *", 0};
		struct hg_check_options o = no_limits;
		o.paths = &limit;
		o.path_count = 1;
		if ((failures_of(series, o) > 0) != cases[i].matches)
			fail_msg("glob '%s'", cases[i].glob);
		o.paths = &every;
		o.suppressions = &known;
		o.suppression_count = 1;
		o.now = 100;
		if ((failures_of(series, o) == 0) != cases[i].matches)
			fail_msg("suppression '%s'", cases[i].glob);
		o.now = 101; /* a second late */
		assert_int_equal(failures_of(series, o), 1);
	}
	hg_series_close(series);
}

static void what_fails_without_limits(void **data)
{
	struct world *w = *data;
	const struct hg_series_options all = {
		.size = sizeof(all), .keep_order = true, .unchanged = true};
	for (unsigned seed = 1; seed <= rounds(); seed++) {
		struct hg_check *check;
		size_t wanted = 0;
		invent_series(w, seed, 3);
		struct hg_series *series = series_of(w, &all, (const unsigned[]){0, 1, 2}, 3);
		for (unsigned i = 0; i < w->truth.count; i++)
			wanted += w->truth.rows[i].grows && w->truth.rows[i].share >= 500;
		/* One that nothing needs, and one that all below the root need. */
		const struct hg_suppression known[] = {
			{"nothing", "none", 5}, {"other root", "known", 5}};
		struct hg_check_options o = no_limits;
		o.size = sizeof(o);
		assert_int_equal(failures_of(series, o), wanted);
		o.suppressions = known;
		o.suppression_count = 2;
		o.now = 5;
		assert_int_equal(hg_check_series(series, &o, &check), HG_OK);
		assert_int_equal(check->count, wanted);
		for (size_t i = 0; i < check->count; i++) {
			bool is_known = strncmp(check->rows[i]->path, "other root / ", 13) == 0;
			assert_int_equal(check->rows[i]->suppressed != NULL, is_known);
			assert_true(i >= check->failures || !is_known);
		}
		assert_int_equal(check->unused, 1 + (check->failures == check->count));
		hg_check_release(&check);
		hg_series_close(series);
	}
}

static void dates(void **data)
{
	struct world *w = *data;
	/* Seconds as 'date -u -d "DAY 23:59:59" +%s' says. */
	static const struct {
		const char *day;
		uint64_t until; /* 0: there is no such day */
	} cases[] = {{"1970-01-01", 86399}, {"2024-02-29", 1709251199}, {"2026-02-29", 0},
		{"2026-02-30", 0}, {"2100-02-28", 4107542399}, {"2100-02-29", 0},
		{"2026-11-23", 1795478399}, {"2026-11-31", 0}, {"2026-13-01", 0}, {"2026-00-10", 0},
		{"2026-01-00", 0}, {"1969-12-31", 0}, {"9999-12-31", UINT64_C(253402300799)},
		{"99999-01-01", 0}, {"2026-1-1", 0}, {"-026-01-01", 0}, {"2026-11-2", 0}, {"", 0},
		{"tomorrow", 0}};
	char path[64];
	snprintf(path, sizeof(path), "%s/known", w->folder);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hg_suppressions *known;
		FILE *file = fopen(path, "w");
		assert_non_null(file);
		fprintf(file, "# a comment\n\na until b / * until %s:  why: so \r\n", cases[i].day);
		assert_int_equal(fclose(file), 0);
		enum hg_status status = hg_suppressions_read(w->session, path, &known);
		assert_int_equal(status, cases[i].until ? HG_OK : HG_ERROR_INPUT);
		if (status != HG_OK) {
			assert_null(known);
			assert_non_null(strstr(hg_session_error(w->session)->message, "line 3 "));
			continue;
		}
		assert_int_equal(known->count, 1);
		assert_string_equal(known->rows[0].path, "a until b / *");
		assert_string_equal(known->rows[0].reason, "why: so");
		assert_int_equal(known->rows[0].until, cases[i].until);
		hg_suppressions_release(&known);
	}
	unlink(path);
}

static int begin(void **data)
{
	static struct world w;
	w.heap = calloc(1, sizeof(*w.heap));
	snprintf(w.folder, sizeof(w.folder), "/tmp/heapgraph-test.XXXXXX");
	*data = &w;
	return w.heap && mkdtemp(w.folder) && hg_session_open(NULL, &w.session) == HG_OK ? 0 : -1;
}

static int end(void **data)
{
	struct world *w = *data;
	for (unsigned i = 0; i < MOST_MOMENTS; i++) {
		char path[64];
		snprintf(path, sizeof(path), "%s/heap.dump.7.%u", w->folder, i);
		unlink(path);
	}
	rmdir(w->folder);
	hg_session_close(w->session);
	free(w->heap);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_grows),
		cmocka_unit_test(what_hides_a_leak),
		cmocka_unit_test(order_that_is_kept),
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(one_leak_in_two_structures),
		cmocka_unit_test(classes_by_tag),
		cmocka_unit_test(what_does_not_go_together),
		cmocka_unit_test(totals_to_the_byte),
		cmocka_unit_test(paths_to_the_byte),
		cmocka_unit_test(globs),
		cmocka_unit_test(what_fails_without_limits),
		cmocka_unit_test(dates),
	};
	return cmocka_run_group_tests_name("series", tests, begin, end);
}
