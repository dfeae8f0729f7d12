/*
 * Sweeps: every block of a snapshot, or some by their bits, in order of addresses; and the shapes
 * of all, which are noted first, so that few proposals have to go to the heap.
 */
#include "retype/infer/parts.h"

enum { GRANULES_PER_REPORT = 1 << 13 };

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

static void sweep_stretch(struct retyping *r, uint64_t number, const uint64_t *bits,
	retyping_visit_fn *visit, void *context)
{
	struct snap_walk *walk = &r->finder.walk;
	uint32_t rank = r->snap->stretches[number].first_rank;
	struct snap_run run;
	snap_walk_range(walk, number, number + 1);
	while (snap_walk_next(walk, &run)) {
		struct snap_scan scan = snap_scan_run(r->snap, &run);
		struct snap_cell cell;
		while (rank < r->snap->block_count && snap_scan_next(&scan, &cell)) {
			if (!bits || retyping_bit(bits, rank))
				visit(r, rank, &cell, context);
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

uint64_t retyping_step(const struct retyping *r, uint64_t i, uint64_t count)
{
	if (r->options->reversed)
		i = count - 1 - i;
	if (r->options->shuffled) {
		/* Steps of a length without a common divisor come by all. */
		uint64_t step = r->options->shuffled;
		while (divisor(count, step) != 1)
			step++;
		i = (uint64_t)((unsigned __int128)i * step % count);
	}
	return i;
}

/* Blocks of a sweep, found while their memory is fetched. */
enum { SWEEP_AHEAD = 8 };
struct sweeping {
	struct retyping *r;
	retyping_visit_fn *visit;
	void *context;
	struct retype_front ahead[SWEEP_AHEAD];
	unsigned count;
};

static void visit_next(struct sweeping *s, struct retype_front later)
{
	struct retype_front *place = &s->ahead[s->count++ % SWEEP_AHEAD], now = *place;
	struct snap_cell cell;
	*place = later;
	if (now.header.a &&
		snap_find(&s->r->finder, (struct snap_rank){now.rank}, now.header, &cell))
		s->visit(s->r, now.rank, &cell, s->context);
}

/* The blocks that begin in one line of the ranks. */
static void sweep_line(
	struct sweeping *s, const struct snap_line *line, uint64_t word, const uint64_t *bits)
{
	uint64_t headers = line->header & line->kept;
	uint32_t rank = line->blocks_before, shift = rank & 63;
	unsigned count = (unsigned)__builtin_popcountll(headers);
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
		snap_find_soon(&s->r->finder, at);
		visit_next(s, (struct retype_front){.rank = rank, .header = at});
	}
}

/* Some blocks, where each is found by its address: the ranks tell that without the heap. */
static enum hg_status sweep_lines(
	struct retyping *r, const uint64_t *bits, retyping_visit_fn *visit, void *context)
{
	struct sweeping s = {.r = r, .visit = visit, .context = context};
	const struct snap_ranks *ranks = &r->snap->ranks;
	uint64_t count = ranks->granule_count - 1;
	for (uint64_t i = 0; i < count && r->status == HG_OK; i++) {
		uint64_t granule = 1 + retyping_in_order(r, i, count);
		uint64_t word = (uint64_t)ranks->numbers[granule] << (SNAP_GRANULE_SHIFT - 3);
		const struct snap_line *lines = ranks->lines + granule * SNAP_GRANULE_LINES;
		if (i % GRANULES_PER_REPORT == 0)
			BASE_TRY(base_progress(r->snap->session, "typing", i, count));
		for (unsigned l = 0; l < SNAP_GRANULE_LINES; l++)
			if (lines[l].header)
				sweep_line(&s, &lines[l], word + 64 * l, bits);
	}
	for (unsigned i = 0; i < SWEEP_AHEAD; i++)
		visit_next(&s, (struct retype_front){0});
	return r->status;
}

enum hg_status retyping_sweep(
	struct retyping *r, const uint64_t *bits, retyping_visit_fn *visit, void *context)
{
	enum { STRETCHES_PER_REPORT = 1 << 14 };
	const struct snap *snap = r->snap;
	uint64_t count = snap->stretch_count;
	if (bits && snap->format->extent)
		return sweep_lines(r, bits, visit, context);
	/* What the finder keeps is of a walk that is used here. */
	r->finder.count = 0;
	for (uint64_t i = 0; i < count && r->status == HG_OK; i++) {
		uint64_t number = retyping_in_order(r, i, count);
		const struct snap_stretch *stretch = &snap->stretches[number];
		if (i % STRETCHES_PER_REPORT == 0)
			BASE_TRY(base_progress(snap->session, "typing", i, count));
		uint64_t end = (uint64_t)stretch->first_rank + stretch->blocks;
		if (stretch->blocks && (!bits || any_bit(bits, stretch->first_rank, end)))
			sweep_stretch(r, number, bits, visit, context);
	}
	return r->status;
}

/* Shapes */

static inline void note(struct retyping *r, uint32_t rank, unsigned tag, uint64_t wosize)
{
	uint64_t size = wosize < RETYPE_LONG ? wosize : RETYPE_LONG;
	r->blocks[rank].shape = (uint16_t)(size << 8 | tag);
	if (is_described(tag))
		retyping_set_bit(r->described, rank);
}

static void note_shape(
	struct retyping *r, uint32_t rank, const struct snap_cell *cell, void *context)
{
	(void)context;
	note(r, rank, cell->tag, cell->wosize);
}

/* The blocks that begin in one line of the ranks. */
static void note_line(struct retyping *r, const struct snap_line *line, uint64_t word)
{
	uint64_t left = line->header & line->kept;
	uint32_t rank = line->blocks_before;
	unsigned reserved = r->snap->reserved;
	const snap_field *words =
		left ? snap_find_words(&r->finder, snap_word_header(word).a, 64) : NULL;
	struct snap_cell cell;
	for (; left; left &= left - 1, rank++) {
		unsigned at = (unsigned)__builtin_ctzll(left);
		if (words)
			note(r, rank, snap_header_tag(words[at]),
				snap_header_wosize(words[at], reserved));
		else if (snap_find(&r->finder, (struct snap_rank){rank},
				 snap_word_header(word + at), &cell))
			note(r, rank, cell.tag, cell.wosize);
	}
}

enum hg_status retyping_note_shapes(struct retyping *r)
{
	const struct snap_ranks *ranks = &r->snap->ranks;
	if (!r->snap->format->extent)
		return retyping_sweep(r, NULL, note_shape, NULL);
	for (uint64_t granule = 1; granule < ranks->granule_count; granule++) {
		uint64_t word = (uint64_t)ranks->numbers[granule] << (SNAP_GRANULE_SHIFT - 3);
		const struct snap_line *lines = ranks->lines + granule * SNAP_GRANULE_LINES;
		if (granule % GRANULES_PER_REPORT == 0)
			BASE_TRY(base_progress(
				r->snap->session, "typing", granule, ranks->granule_count));
		for (unsigned l = 0; l < SNAP_GRANULE_LINES; l++)
			note_line(r, &lines[l], word + 64 * l);
	}
	return HG_OK;
}

/* Those of 64 blocks that have a tag; untyped ones, or that had no type before the stratum. */
static uint64_t with_tag(const struct retyping *r, unsigned tag, bool untyped_only, uint64_t first)
{
	const struct retype_block *blocks = r->blocks + first;
	uint64_t count = r->snap->block_count - first, bits = 0;
	uint64_t may_be = is_described(tag) ? r->described[first / 64] : UINT64_MAX;
	if (count > 64)
		count = 64;
	for (uint64_t i = 0; may_be && i < count; i++) {
		bool fits = (blocks[i].shape & 255) == tag;
		bits |= (uint64_t)(fits & (!untyped_only | (blocks[i].type == 0))) << i;
	}
	for (uint64_t left = untyped_only ? may_be & r->changed[first / 64] : 0; left;
		left &= left - 1) {
		uint64_t i = (uint64_t)__builtin_ctzll(left);
		bool fits = (blocks[i].shape & 255) == tag;
		if (fits && retyping_type_before(r, (uint32_t)(first + i)) == 0)
			bits |= (uint64_t)1 << i;
	}
	return bits;
}

enum hg_status retyping_sweep_tag(struct retyping *r, unsigned tag, bool untyped_only,
	retyping_visit_fn *visit, void *context)
{
	uint64_t any = 0;
	for (uint64_t first = 0; first < r->snap->block_count; first += 64) {
		uint64_t bits = with_tag(r, tag, untyped_only, first);
		r->candidates[first / 64] = bits;
		any |= bits;
	}
	return any ? retyping_sweep(r, r->candidates, visit, context) : HG_OK;
}
