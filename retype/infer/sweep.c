/* Sweeps by ranks where a block is found by its address, else by walks. */
#include "retype/infer/sweep.h"

#include "base/assert.h"

enum { GRANULES_PER_REPORT = 1 << 13 };

enum hg_status infer_sweeper_init(struct infer_sweeper *sweeper, const struct infer_input *in,
	struct infer_heap *heap, const struct infer_undo *undo, const struct infer_failure *failure,
	struct base_arena *arena)
{
	uint64_t words = base_bit_words(in->snap->block_count);
	*sweeper = (struct infer_sweeper){.in = in, .heap = heap, .undo = undo, .failure = failure};
	BASE_TRY(base_arena_zalloc(arena, words, sizeof(*sweeper->candidates),
		(void **)&sweeper->candidates, failure->error));
	return base_arena_zalloc(arena, words, sizeof(*sweeper->described),
		(void **)&sweeper->described, failure->error);
}

/* Blocks that are looked for by their tag. */
static bool is_described(unsigned tag)
{
	return tag == SNAP_TAG_CLOSURE || tag == SNAP_TAG_OBJECT || tag == SNAP_TAG_CUSTOM;
}

static bool any_bit(const uint64_t *bits, uint64_t first, uint64_t end)
{
	for (uint64_t i = first / 64; i <= (end - 1) / 64; i++) {
		uint64_t word = bits[i];
		if (i == first / 64)
			word &= UINT64_MAX << (first & 63);
		if (i == (end - 1) / 64)
			word &= UINT64_MAX >> (63 - ((end - 1) & 63));
		if (word)
			return true;
	}
	return false;
}

static void sweep_entry(struct infer_sweeper *s, uint64_t number, const uint64_t *bits,
	infer_visit_fn *visit, void *context)
{
	struct snap_walk *walk = &s->heap->finder.walk;
	const struct snap *snap = s->in->snap;
	uint32_t rank = snap->entries[number].first_rank;
	struct snap_run run;
	snap_walk_range(walk, number, number + 1);
	while (snap_walk_next(walk, &run)) {
		struct snap_scan scan = snap_scan_run(snap, &run);
		struct snap_cell cell;
		while (rank < snap->block_count && snap_scan_next(&scan, &cell)) {
			if (!bits || base_bit(bits, rank))
				visit(context, rank, &cell);
			rank++;
		}
	}
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

uint64_t infer_reorder(const struct infer_input *in, uint64_t i, uint64_t count)
{
	base_assert(i < count);
	if (in->reversed)
		i = count - 1 - i;
	if (in->shuffled) {
		/* Steps of a length without a common divisor come by all. */
		uint64_t step = in->shuffled;
		while (divisor(count, step) != 1)
			step++;
		i = (uint64_t)((unsigned __int128)i * step % count);
	}
	return i;
}

/* Blocks of a sweep, found while their memory is fetched. */
enum { SWEEP_AHEAD = 8 };
struct sweep {
	struct snap_finder *finder;
	infer_visit_fn *visit;
	void *context;
	struct {
		struct snap_header_address header; /* 0: none */
		uint32_t rank;
	} ahead[SWEEP_AHEAD];
	unsigned count;
};

/* Looks at the block that has waited longest, for which another one comes; address 0: none. */
static void visit_next(struct sweep *s, uint32_t rank, struct snap_header_address header)
{
	struct snap_cell cell;
	unsigned at = s->count++ % SWEEP_AHEAD;
	uint32_t now_rank = s->ahead[at].rank;
	struct snap_header_address now = s->ahead[at].header;
	s->ahead[at].rank = rank;
	s->ahead[at].header = header;
	if (now.a && snap_find(s->finder, (struct snap_rank){now_rank}, now, &cell))
		s->visit(s->context, now_rank, &cell);
}

/* The blocks that begin in one line of the ranks. */
static void sweep_line(
	struct sweep *s, const struct snap_line *line, uint64_t word, const uint64_t *bits)
{
	uint64_t headers = line->header & line->kept;
	uint32_t rank = line->blocks_before, shift = rank & 63;
	unsigned count = (unsigned)__builtin_popcountll(headers);
	if (count == 0)
		return;
	uint64_t chosen = bits[rank >> 6] >> shift;
	if (count + shift > 64)
		chosen |= bits[(rank >> 6) + 1] << (64 - shift);
	if (count < 64)
		chosen &= ((uint64_t)1 << count) - 1;
	for (; chosen; chosen >>= 1, headers &= headers - 1, rank++) {
		struct snap_header_address at =
			snap_word_header(word + (uint64_t)__builtin_ctzll(headers));
		if (!(chosen & 1))
			continue;
		snap_find_soon(s->finder, at);
		visit_next(s, rank, at);
	}
}

/* Some blocks, where each is found by its address: the ranks tell that without the heap. */
static enum hg_status sweep_lines(
	struct infer_sweeper *sweeper, const uint64_t *bits, infer_visit_fn *visit, void *context)
{
	const struct infer_input *in = sweeper->in;
	struct sweep s = {.finder = &sweeper->heap->finder, .visit = visit, .context = context};
	const struct snap_ranks *ranks = &in->snap->ranks;
	uint64_t count = ranks->granule_count - 1;
	for (uint64_t i = 0; i < count && sweeper->failure->status == HG_OK; i++) {
		uint64_t granule = 1 + (infer_is_reordered(in) ? infer_reorder(in, i, count) : i);
		uint64_t word = (uint64_t)ranks->numbers[granule] << (SNAP_GRANULE_SHIFT - 3);
		const struct snap_line *lines = ranks->lines + granule * SNAP_GRANULE_LINES;
		if (i % GRANULES_PER_REPORT == 0)
			BASE_TRY(base_progress(in->snap->session, "typing", i, count));
		for (unsigned l = 0; l < SNAP_GRANULE_LINES; l++)
			if (lines[l].header)
				sweep_line(&s, &lines[l], word + 64 * l, bits);
	}
	for (unsigned i = 0; i < SWEEP_AHEAD; i++)
		visit_next(&s, 0, (struct snap_header_address){0});
	return sweeper->failure->status;
}

enum hg_status infer_sweep(
	struct infer_sweeper *sweeper, const uint64_t *bits, infer_visit_fn *visit, void *context)
{
	enum { ENTRIES_PER_REPORT = 1 << 14 };
	const struct infer_input *in = sweeper->in;
	const struct snap *snap = in->snap;
	uint64_t count = snap->entry_count;
	if (bits && snap->process)
		return sweep_lines(sweeper, bits, visit, context);
	infer_forget_walk(&sweeper->heap->finder);
	for (uint64_t i = 0; i < count && sweeper->failure->status == HG_OK; i++) {
		uint64_t number = infer_is_reordered(in) ? infer_reorder(in, i, count) : i;
		const struct snap_index_entry *entry = &snap->entries[number];
		if (i % ENTRIES_PER_REPORT == 0)
			BASE_TRY(base_progress(snap->session, "typing", i, count));
		uint64_t end = (uint64_t)entry->first_rank + entry->blocks;
		base_assert(end <= snap->block_count);
		if (entry->blocks && (!bits || any_bit(bits, entry->first_rank, end)))
			sweep_entry(sweeper, number, bits, visit, context);
	}
	return sweeper->failure->status;
}

/* Shapes */

/* Where shapes are noted. */
struct shapes {
	struct snap_finder *finder;
	struct retype_block *blocks;
	uint64_t *described;
};

static inline void note_shape(struct shapes *s, uint32_t rank, unsigned tag, uint64_t wosize)
{
	uint64_t size = wosize < RETYPE_LONG ? wosize : RETYPE_LONG;
	s->blocks[rank].shape = (uint16_t)(size << 8 | tag);
	if (is_described(tag))
		base_bit_set(s->described, rank);
}

static void note_cell(void *context, uint32_t rank, const struct snap_cell *cell)
{
	note_shape(context, rank, cell->tag, cell->wosize);
}

/* The blocks that begin in one line of the ranks. */
static void note_line(struct shapes *s, const struct snap_line *line, uint64_t word)
{
	uint64_t left = line->header & line->kept;
	uint32_t rank = line->blocks_before;
	unsigned reserved = s->finder->snap->reserved;
	const snap_field *words =
		left ? snap_find_words(s->finder, snap_word_header(word).a, 64) : NULL;
	struct snap_cell cell;
	for (; left; left &= left - 1, rank++) {
		unsigned at = (unsigned)__builtin_ctzll(left);
		if (words)
			note_shape(s, rank, snap_header_tag(words[at]),
				snap_header_wosize(words[at], reserved));
		else if (snap_find(s->finder, (struct snap_rank){rank}, snap_word_header(word + at),
				 &cell))
			note_shape(s, rank, cell.tag, cell.wosize);
	}
	base_assert(rank <= s->finder->snap->block_count);
}

enum hg_status infer_note_shapes(struct infer_sweeper *sweeper, struct retype_block *blocks)
{
	const struct snap *snap = sweeper->in->snap;
	const struct snap_ranks *ranks = &snap->ranks;
	struct shapes s = {&sweeper->heap->finder, blocks, sweeper->described};
	if (!snap->process)
		return infer_sweep(sweeper, NULL, note_cell, &s);
	for (uint64_t granule = 1; granule < ranks->granule_count; granule++) {
		uint64_t word = (uint64_t)ranks->numbers[granule] << (SNAP_GRANULE_SHIFT - 3);
		const struct snap_line *lines = ranks->lines + granule * SNAP_GRANULE_LINES;
		if (granule % GRANULES_PER_REPORT == 0)
			BASE_TRY(base_progress(
				snap->session, "typing", granule, ranks->granule_count));
		for (unsigned l = 0; l < SNAP_GRANULE_LINES; l++)
			note_line(&s, &lines[l], word + 64 * l);
	}
	return HG_OK;
}

/* Those of 64 blocks that have a tag. */
static uint64_t choose_tag(const struct infer_sweeper *s, unsigned tag, uint64_t first)
{
	const struct retype_block *blocks = s->heap->blocks + first;
	uint64_t count = s->in->snap->block_count - first, bits = 0;
	uint64_t may_be = is_described(tag) ? s->described[first / 64] : UINT64_MAX;
	for (uint64_t i = 0; may_be && i < count && i < 64; i++)
		bits |= (uint64_t)((blocks[i].shape & 255) == tag) << i;
	return bits;
}

/* Those of them that have no type, or had none before the stratum. */
static uint64_t choose_untyped(const struct infer_sweeper *s, unsigned tag, uint64_t first)
{
	const struct retype_block *blocks = s->heap->blocks + first;
	uint64_t count = s->in->snap->block_count - first, bits = 0;
	uint64_t tagged = choose_tag(s, tag, first);
	for (uint64_t i = 0; tagged && i < count && i < 64; i++)
		bits |= (uint64_t)(blocks[i].type == 0) << i;
	for (uint64_t left = tagged & s->undo->changed[first / 64]; left; left &= left - 1) {
		uint64_t i = (uint64_t)__builtin_ctzll(left);
		if (infer_type_before(s->undo, (uint32_t)(first + i)) == 0)
			bits |= (uint64_t)1 << i;
	}
	return bits & tagged;
}

enum hg_status infer_sweep_tag(
	struct infer_sweeper *s, unsigned tag, infer_visit_fn *visit, void *context)
{
	uint64_t any = 0;
	for (uint64_t first = 0; first < s->in->snap->block_count; first += 64)
		any |= s->candidates[first / 64] = choose_tag(s, tag, first);
	return any ? infer_sweep(s, s->candidates, visit, context) : HG_OK;
}

enum hg_status infer_sweep_untyped(
	struct infer_sweeper *s, unsigned tag, infer_visit_fn *visit, void *context)
{
	uint64_t any = 0;
	for (uint64_t first = 0; first < s->in->snap->block_count; first += 64)
		any |= s->candidates[first / 64] = choose_untyped(s, tag, first);
	return any ? infer_sweep(s, s->candidates, visit, context) : HG_OK;
}
