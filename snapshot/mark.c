/* A pass of all threads over the heap, each over a slice of its index. */
#include "snapshot/mark.h"

#include "base/assert.h"
#include "base/threads.h"
#include "snapshot/walk.h"

/* Bits of one line, gathered before they go to memory that threads share. */
struct marker {
	const struct snap *snap;
	struct snap_ranks ranks; /* a copy: nothing written here can change it */
	bool shared;             /* other threads write to the same lines */
	uint64_t at;             /* number of the line: word >> 6 */
	uint64_t header, kept;
	struct snap_census strays;
};

static inline void flush_marks(struct marker *m)
{
	if (!(m->header | m->kept))
		return;
	struct snap_line *line = snap_ranks_line(&m->ranks, m->at << 6);
	if (m->shared) {
		__atomic_fetch_or(&line->header, m->header, __ATOMIC_RELAXED);
		__atomic_fetch_or(&line->kept, m->kept, __ATOMIC_RELAXED);
	} else {
		line->header |= m->header;
		line->kept |= m->kept;
	}
	m->header = m->kept = 0;
}

static inline void move_marks(struct marker *m, uint64_t word)
{
	if (word >> 6 != m->at) {
		flush_marks(m);
		m->at = word >> 6;
	}
}

/* Functions that share a closure: their headers are found by address, but are not kept. */
static void mark_infixes(struct marker *m, const struct snap_cell *cell, unsigned reserved)
{
	for (uint64_t j = 1; j < cell->field_count; j++) {
		if (!snap_is_infix_header(cell->fields[j], j, reserved))
			continue;
		uint64_t word = snap_header_word(cell->address) + 1 + j;
		move_marks(m, word);
		m->header |= (uint64_t)1 << (word & 63);
	}
}

/* Even words that cannot lead to a block are few: looked at closely here, and not kept. */
static void count_strays(struct marker *m, const snap_field *fields, uint64_t count)
{
	for (uint64_t j = 0; j < count; j++) {
		uint64_t value = fields[j];
		if (value & 1)
			continue;
		if ((value & 7) || !snap_ranks_spans(&m->ranks, snap_pointed_header(value)))
			m->strays.outcomes[snap_resolve_stray(m->snap, value)]++;
	}
}

/*
 * Marks the fields that may be pointers, a line at a time and without branches: whether a field is
 * an integer or a pointer is nothing a processor could predict.  Turned right by 3 bits, a word
 * that is no word address becomes a huge number, so that one comparison tells both.
 */
static inline void mark_fields(
	struct marker *m, uint64_t word, const snap_field *fields, uint64_t count)
{
	uint64_t first = m->ranks.first_word + 1, span = m->ranks.word_span;
	uint64_t immediates = 0, candidates = 0;
	for (uint64_t j = 0; j < count;) {
		move_marks(m, word + j);
		uint64_t bit = (uint64_t)1 << ((word + j) & 63), kept = 0;
		do {
			uint64_t value = fields[j++];
			uint64_t turned = value >> 3 | value << 61;
			immediates += value & 1;
			kept |= turned - first < span ? bit : 0;
			bit <<= 1;
		} while (bit && j < count);
		candidates += (uint64_t)__builtin_popcountll(kept);
		m->kept |= kept;
	}
	m->strays.immediates += immediates;
	if (immediates + candidates != count)
		count_strays(m, fields, count);
}

static inline void mark_block(struct marker *m, const struct snap_cell *cell)
{
	uint64_t word = snap_header_word(cell->address);
	move_marks(m, word);
	m->header |= (uint64_t)1 << (word & 63);
	m->kept |= (uint64_t)1 << (word & 63);
	uint64_t first = snap_first_value(m->snap, cell);
	mark_fields(m, word + 1 + first, cell->fields + first, cell->field_count - first);
}

struct marking {
	struct snap *snap;
	struct snap_walk *walks; /* one per slice */
	struct snap_census *strays;
};

static void mark_slice(void *context, unsigned slice, unsigned slices)
{
	struct marking *marking = context;
	struct snap *snap = marking->snap;
	struct snap_walk *walk = &marking->walks[slice];
	struct marker m = {.snap = snap, .ranks = snap->ranks, .shared = slices > 1};
	struct snap_run run;
	uint64_t n = snap->entry_count;
	snap_walk_range(walk, n * slice / slices, n * (slice + 1) / slices);
	while (snap_walk_next(walk, &run)) {
		struct snap_scan scan = snap_scan_run(snap, &run);
		struct snap_cell cell;
		while (snap_scan_next(&scan, &cell)) {
			mark_block(&m, &cell);
			if (cell.tag == SNAP_TAG_CLOSURE)
				mark_infixes(&m, &cell, snap->reserved);
		}
	}
	flush_marks(&m);
	marking->strays[slice] = m.strays;
}

/* The loader adds what needs ranks. */
static enum hg_status finalise_snapshot(struct snap *snap, struct hg_error *error)
{
	return snap->format->finalise ? snap->format->finalise(snap, error) : HG_OK;
}

enum hg_status snap_rank_blocks(struct snap *snap, struct hg_error *error)
{
	struct snap_census strays[BASE_MOST_SLICES] = {0};
	struct marking marking = {.snap = snap, .strays = strays};
	unsigned threads = snap->session->threads;
	BASE_TRY(snap_ranks_init(
		&snap->ranks, &snap->granules, &snap->arena, snap->block_count, error));
	BASE_TRY(snap_walks_open(snap, threads, &marking.walks, error));
	base_run_slices(threads, mark_slice, &marking);
	snap_walks_close(marking.walks, threads);
	for (unsigned i = 0; i < threads; i++)
		snap_census_add(&snap->strays, &strays[i]);
	uint64_t blocks;
	BASE_TRY(snap_ranks_count(&snap->ranks, &blocks, error));
	if (blocks != snap->block_count)
		return base_corrupt(error, HG_NO_OFFSET, "changed while it was read");
	base_assert(BASE_IS_SORTED(snap->forwards, snap->forward_count, from.a));
	BASE_TRY(finalise_snapshot(snap, error));
	base_assert(BASE_IS_SORTED(snap->links, snap->link_count, from));
	base_assert(BASE_IS_SORTED(snap->offheap, snap->offheap_count, rank));
	base_assert(BASE_IS_SORTED(snap->sampled, snap->sampled_count, address.a));
	return HG_OK;
}
