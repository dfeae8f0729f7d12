/*
 * Types along the fields of blocks, round by round.
 *
 * A round looks at the blocks whose type changed in the round before, with the types they had when
 * it began, and joins what they say of the blocks they hold.  Joins commute, so that the order
 * within a round does not matter.
 */
#include "retype/parts.h"

#include <string.h>

/* A part of the blocks: rounds of more are sweeps over the heap.  Each listed block takes 16 bytes,
 * in two lists. */
enum { LISTED_PART = 64, LISTED_LEAST = 1024 };

/* A short-cut leads to another one at most so often. */
enum { MOST_SHORT_CUTS = 20 };

static uint64_t bit_words(const struct retyping *r)
{
	return r->snap->block_count / 64 + 1;
}

static enum hg_status make_bits(struct retyping *r, uint64_t **bits)
{
	return base_arena_zalloc(&r->arena, bit_words(r), sizeof(**bits), (void **)bits, r->error);
}

static void note_shape(
	struct retyping *r, uint32_t rank, const struct snap_cell *cell, void *context)
{
	(void)context;
	uint64_t size = cell->wosize < RETYPE_LONG ? cell->wosize : RETYPE_LONG;
	r->shapes[rank] = (uint16_t)(size << 8 | cell->tag);
}

static enum hg_status make_arrays(struct retyping *r)
{
	struct base_arena *arena = &r->arena, *kept = &r->retype->arena;
	uint64_t blocks = r->snap->block_count;
	r->listed_most = blocks / LISTED_PART + LISTED_LEAST;
	BASE_TRY(base_arena_zalloc(
		kept, blocks, sizeof(*r->type), (void **)&r->retype->type, r->error));
	BASE_TRY(base_arena_zalloc(kept, blocks, sizeof(*r->retype->confidence),
		(void **)&r->retype->confidence, r->error));
	r->type = r->retype->type;
	BASE_TRY(
		base_arena_alloc(arena, blocks, sizeof(*r->shapes), (void **)&r->shapes, r->error));
	BASE_TRY(base_arena_reserve(
		arena, blocks, sizeof(*r->round_types), (void **)&r->round_types, r->error));
	BASE_TRY(base_arena_reserve(
		arena, blocks, sizeof(*r->types_before), (void **)&r->types_before, r->error));
	BASE_TRY(base_arena_alloc(
		arena, r->listed_most, sizeof(*r->now.listed), (void **)&r->now.listed, r->error));
	BASE_TRY(base_arena_alloc(arena, r->listed_most, sizeof(*r->next.listed),
		(void **)&r->next.listed, r->error));
	BASE_TRY(make_bits(r, &r->now.bits));
	BASE_TRY(make_bits(r, &r->next.bits));
	BASE_TRY(make_bits(r, &r->changed));
	BASE_TRY(make_bits(r, &r->candidates));
	BASE_TRY(make_bits(r, &r->weighed));
	BASE_TRY(make_bits(r, &r->lied));
	BASE_TRY(base_arena_zalloc(
		arena, RETYPE_FIT_ENTRIES, sizeof(*r->fits), (void **)&r->fits, r->error));
	return base_arena_zalloc(
		arena, RETYPE_JOIN_ENTRIES, sizeof(*r->joins), (void **)&r->joins, r->error);
}

enum hg_status retyping_init(struct retyping *r, struct retype *retype, struct snap *snap,
	const struct retype_options *options, struct hg_error *error)
{
	*r = (struct retyping){.retype = retype,
		.types = &retype->types,
		.snap = snap,
		.options = options,
		.error = error};
	BASE_TRY(base_arena_init(&r->arena, &snap->session->budget, "types", error));
	BASE_TRY(snap_finder_init(&r->finder, snap, error));
	BASE_TRY(snap_finder_init(&r->aside, snap, error));
	BASE_TRY(snap_finder_init(&r->inside, snap, error));
	BASE_TRY(make_arrays(r));
	r->any_function = retype_arrow(r->types, "", RETYPE_NOTHING, RETYPE_NOTHING);
	return retyping_sweep(r, NULL, note_shape, NULL);
}

void retyping_release(struct retyping *r)
{
	snap_finder_release(&r->finder);
	snap_finder_release(&r->aside);
	snap_finder_release(&r->inside);
	retype_map_clear(&r->extensions);
	retype_map_clear(&r->classes);
	retype_map_clear(&r->lies);
	base_arena_release(&r->arena);
}

/* Blocks */

uint32_t retyping_rank(const struct retyping *r, uint64_t word)
{
	return snap_line_rank(snap_ranks_line(&r->snap->ranks, word), word).n;
}

bool retyping_resolve(
	const struct retyping *r, uint64_t value, uint32_t *rank, uint64_t *word, bool *is_infix)
{
	const struct snap *snap = r->snap;
	*is_infix = false;
	if (value & 7)
		return false;
	*word = (value >> 3) - 1;
	if (!snap_ranks_spans(&snap->ranks, *word))
		return false;
	const struct snap_line *line = snap_ranks_line(&snap->ranks, *word);
	if (__builtin_expect(snap_line_is_block(line, *word), 1)) {
		*rank = snap_line_rank(line, *word).n;
		return true;
	}
	enum snap_outcome outcome = snap_resolve(snap, value, word);
	if (!snap_outcome_is_block(outcome))
		return false;
	*is_infix = outcome == SNAP_INFIX;
	*rank = retyping_rank(r, *word);
	return true;
}

void retyping_shape(
	struct retyping *r, uint32_t rank, uint64_t word, unsigned *tag, uint64_t *wosize)
{
	struct snap_cell cell;
	*tag = r->shapes[rank] & 255;
	*wosize = r->shapes[rank] >> 8;
	if (*wosize == RETYPE_LONG && snap_find(&r->aside, (struct snap_rank){rank}, word, &cell))
		*wosize = cell.wosize;
}

bool retyping_is_static(const struct retyping *r, uint64_t word)
{
	const struct snap_chunk *chunk = snap_chunk_at(r->snap, 8 * word);
	return chunk && chunk->segment == HG_SEGMENT_STATIC;
}

bool retyping_is_set(const struct retyping *r, struct retype_term type)
{
	enum retype_kind kind = retype_view(r->types, type).kind;
	return kind == RETYPE_SET || kind == RETYPE_MANY;
}

/* Fits and joins, the last ones of which are kept */

static struct retype_term narrow(
	struct retyping *r, struct retype_term type, unsigned tag, uint64_t wosize)
{
	struct retype_term some[RETYPE_MOST_ALTERNATIVES], kept = RETYPE_NOTHING;
	struct retype_view view = retype_view(r->types, type);
	uint32_t count =
		view.count < RETYPE_MOST_ALTERNATIVES ? view.count : RETYPE_MOST_ALTERNATIVES;
	if (view.kind != RETYPE_SET)
		return type;
	memcpy(some, view.arguments, count * sizeof(*some));
	for (uint32_t i = 0; i < count; i++)
		if (retype_fit(r->types, some[i], tag, wosize).match != RETYPE_MISFIT)
			kept = retype_join(r->types, kept, some[i], NULL);
	return kept.n ? kept : type;
}

static const struct retype_fit_entry *entry_of(
	struct retyping *r, struct retype_term type, unsigned tag, uint64_t wosize)
{
	/* No type of a block is term 0, so that no key is 0. */
	uint64_t key = wosize >> 24 ? 0 : (uint64_t)type.n << 32 | wosize << 8 | tag;
	uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (RETYPE_FIT_ENTRIES - 1);
	struct retype_fit_entry *entry = &r->fits[at];
	if (entry->key == key && key)
		return entry;
	struct retype_term narrowed = narrow(r, type, tag, wosize);
	*entry = (struct retype_fit_entry){
		key, retype_fit(r->types, narrowed, tag, wosize), narrowed};
	return entry;
}

static const struct retype_fit *fit_of(
	struct retyping *r, struct retype_term type, unsigned tag, uint64_t wosize)
{
	return &entry_of(r, type, tag, wosize)->fit;
}

struct retype_fit retyping_fit(
	struct retyping *r, struct retype_term *type, unsigned tag, uint64_t wosize)
{
	const struct retype_fit_entry *entry = entry_of(r, *type, tag, wosize);
	for (unsigned i = 0; i < MOST_SHORT_CUTS && entry->fit.match == RETYPE_INNER; i++) {
		*type = entry->fit.inner;
		if (!type->n)
			return (struct retype_fit){.match = RETYPE_UNTOLD};
		entry = entry_of(r, *type, tag, wosize);
	}
	*type = entry->narrowed;
	return entry->fit;
}

static const struct retype_join_entry *join(
	struct retyping *r, struct retype_term a, struct retype_term b)
{
	uint64_t at = ((uint64_t)a.n * UINT64_C(0x9e3779b97f4a7c15) >> 32 ^ b.n) &
		      (RETYPE_JOIN_ENTRIES - 1);
	struct retype_join_entry *entry = &r->joins[at];
	if (entry->a == a.n && entry->b == b.n)
		return entry;
	*entry = (struct retype_join_entry){a.n, b.n, retype_join(r->types, a, b, NULL).n};
	return entry;
}

/* Proposals */

static bool leads_on(enum retype_match match)
{
	return match == RETYPE_FIELDS || match == RETYPE_ELEMENTS || match == RETYPE_TAGGED ||
	       match == RETYPE_EXTENSION || match == RETYPE_INSTANCE;
}

static void put_into_next(struct retyping *r, uint32_t rank, uint64_t word)
{
	struct retype_round *next = &r->next;
	if (retyping_bit(next->bits, rank))
		return;
	retyping_set_bit(next->bits, rank);
	if (next->count == r->listed_most)
		next->dense = true;
	else
		next->listed[next->count++] = (struct retype_front){rank, RETYPE_NOTHING, word};
}

static void change(struct retyping *r, uint32_t rank, struct retype_term type)
{
	if (!r->undoable) {
		r->retype->confidence[rank] = HG_EXACT;
	} else if (!retyping_bit(r->changed, rank)) {
		retyping_set_bit(r->changed, rank);
		r->types_before[rank] = r->type[rank];
	}
	r->type[rank] = type.n;
}

/* What is abstract says less than the tag of a block that describes itself. */
static bool says_nothing(const struct retyping *r, struct retype_term type, unsigned tag)
{
	enum retype_kind kind = retype_view(r->types, type).kind;
	return kind == RETYPE_UNKNOWN || kind == RETYPE_VARIABLE || r->retype->by_tag[tag];
}

/*
 * Whether what a block holds contradicts a type.  Of the types of a block the one that it
 * contradicts most counts, so that those which say less of the same count nothing more.
 */
static bool lies(struct retyping *r, uint32_t rank, uint64_t word, struct retype_term type)
{
	uint64_t key = (uint64_t)rank + 1, counted = 0;
	unsigned misfits = retyping_misfits(r, rank, word, type);
	if (misfits == 0)
		return false;
	if (!retype_map_get(&r->lies, key, &counted))
		counted = 0;
	if (misfits > counted && r->status == HG_OK) {
		r->counts.shape_clashes += misfits - counted;
		r->status = retype_map_set(&r->lies, key, misfits, r->error);
	}
	return true;
}

/*
 * What a block that has a type becomes by another one.  Where neither says all that the other does,
 * what the fields hold decides: types that it contradicts were lies (Obj.magic) or came from such,
 * and count only if there are no others.
 */
static struct retype_term decide(
	struct retyping *r, uint32_t rank, uint64_t word, struct retype_term type)
{
	struct retype_term old = {r->type[rank]};
	struct retype_term joined = {join(r, old, type)->joined};
	if (retype_is(joined, old) || retype_is(joined, type) ||
		(r->shapes[rank] & 255) == SNAP_TAG_CLOSURE)
		return joined;
	if (!retyping_bit(r->weighed, rank)) {
		retyping_set_bit(r->weighed, rank);
		if (lies(r, rank, word, old))
			retyping_set_bit(r->lied, rank);
	}
	bool has_lied = retyping_bit(r->lied, rank);
	if (lies(r, rank, word, type) == has_lied)
		return joined;
	retyping_clear_bit(r->lied, rank);
	return has_lied ? type : old;
}

static void take(struct retyping *r, uint32_t rank, uint64_t word, struct retype_term type,
	unsigned tag, uint64_t wosize)
{
	if (r->type[rank])
		type = decide(r, rank, word, type);
	if (type.n == r->type[rank])
		return;
	change(r, rank, type);
	if (leads_on(fit_of(r, type, tag, wosize)->match))
		put_into_next(r, rank, word);
}

void retyping_propose(struct retyping *r, uint32_t rank, uint64_t word, struct retype_term type)
{
	unsigned tag;
	uint64_t wosize;
	if (r->watch == NULL && r->type[rank] == type.n)
		return;
	retyping_shape(r, rank, word, &tag, &wosize);
	enum retype_match match = retyping_fit(r, &type, tag, wosize).match;
	if (!type.n || (match == RETYPE_UNTOLD && says_nothing(r, type, tag)))
		return;
	if (r->watch) {
		/* What was refused is not in the type that the block has. */
		struct retype_term old = {r->type[rank]};
		r->watch(r, rank, word,
			match != RETYPE_MISFIT && join(r, old, type)->joined == old.n);
	} else if (match == RETYPE_MISFIT) {
		r->counts.shape_clashes++;
	} else {
		take(r, rank, word, type, tag, wosize);
	}
}

/* The type may be of a function in a closure, and not of the closure's first one. */
static bool resolve(struct retyping *r, struct retype_waiting *waiting)
{
	uint64_t word;
	bool is_infix;
	if (!retyping_resolve(r, waiting->value, &waiting->rank, &word, &is_infix))
		return false;
	r->counts.edges++;
	waiting->value = word;
	if (is_infix)
		waiting->type = r->any_function;
	return true;
}

void retyping_propose_value(struct retyping *r, uint64_t value, struct retype_term type)
{
	struct retype_waiting now = {.value = value, .type = type};
	if (type.n && resolve(r, &now))
		retyping_propose(r, now.rank, now.value, now.type);
}

/* Lets a proposal wait, and goes on with the one that has waited longest in its place. */
static inline void wait_with(struct retyping *r, uint64_t value, struct retype_term type)
{
	const struct snap_ranks *ranks = &r->snap->ranks;
	uint64_t word = (value >> 3) - 1;
	if (value & 7 || !snap_ranks_spans(ranks, word))
		return;
	unsigned at = r->waiting++ % RETYPE_WAITING;
	struct retype_waiting next = r->unresolved[at], done = r->resolved[at];
	r->unresolved[at] = (struct retype_waiting){.value = value, .type = type, .is_there = true};
	__builtin_prefetch(snap_ranks_line(ranks, word));
	next.is_there = next.is_there && resolve(r, &next);
	r->resolved[at] = next;
	if (next.is_there) {
		__builtin_prefetch(&r->type[next.rank]);
		__builtin_prefetch(&r->shapes[next.rank]);
	}
	if (done.is_there)
		retyping_propose(r, done.rank, done.value, done.type);
}

static void end_waiting(struct retyping *r)
{
	unsigned count = r->waiting < RETYPE_WAITING ? r->waiting : RETYPE_WAITING;
	for (unsigned i = 0; i < count; i++) {
		struct retype_waiting *done = &r->resolved[i], *next = &r->unresolved[i];
		if (done->is_there)
			retyping_propose(r, done->rank, done->value, done->type);
		if (next->is_there)
			retyping_propose_value(r, next->value, next->type);
		done->is_there = next->is_there = false;
	}
	r->waiting = 0;
}

static inline void propose_field(struct retyping *r, uint64_t value, struct retype_term type)
{
	if (r->watch)
		retyping_propose_value(r, value, type);
	else if (type.n)
		wait_with(r, value, type);
}

/* Fields */

static void spread_fields(struct retyping *r, const struct retype_field *fields, uint64_t count,
	const snap_field *values, uint64_t value_count)
{
	for (uint64_t i = 0; i < count && i < value_count; i++)
		propose_field(r, values[i], fields[i].type);
}

static void spread_elements(
	struct retyping *r, struct retype_term inner, const struct snap_cell *cell)
{
	for (uint64_t i = 0; i < cell->field_count; i++)
		propose_field(r, cell->fields[i], inner);
}

static void spread_tagged(struct retyping *r, struct retype_term type, const struct snap_cell *cell)
{
	if (cell->field_count != 2 || !(cell->fields[0] & 1))
		return;
	int64_t hash = (int64_t)cell->fields[0] >> 1;
	struct retype_term argument = retype_tagged(r->types, type, hash, NULL);
	propose_field(r, cell->fields[1], argument);
}

/* A slot leads nowhere; a value with arguments begins with its slot. */
static void spread_extension(struct retyping *r, const struct snap_cell *cell)
{
	if (cell->tag != 0 || cell->field_count < 2)
		return;
	const struct retype_extension *extension = retyping_extension(r, cell->fields[0]);
	if (extension && extension->field_count == cell->field_count - 1)
		spread_fields(r, extension->fields, extension->field_count, cell->fields + 1,
			cell->field_count - 1);
}

/* An object is the table of its methods, its number, and its variables (CamlinternalOO). */
static void spread_object(struct retyping *r, const struct snap_cell *cell)
{
	enum { VARIABLES = 2 };
	const struct retype_class *class = retyping_class(r, cell);
	if (class && cell->field_count > VARIABLES)
		spread_fields(r, class->fields, class->field_count, cell->fields + VARIABLES,
			cell->field_count - VARIABLES);
}

void retyping_spread(
	struct retyping *r, uint32_t rank, struct retype_term type, const struct snap_cell *cell)
{
	(void)rank;
	const struct retype_fit fit = *fit_of(r, type, cell->tag, cell->wosize);
	switch (fit.match) {
	case RETYPE_FIELDS:
		spread_fields(r, fit.fields, fit.field_count, cell->fields, cell->field_count);
		break;
	case RETYPE_ELEMENTS:
		spread_elements(r, fit.inner, cell);
		break;
	case RETYPE_TAGGED:
		spread_tagged(r, type, cell);
		break;
	case RETYPE_EXTENSION:
		spread_extension(r, cell);
		break;
	case RETYPE_INSTANCE:
		spread_object(r, cell);
		break;
	case RETYPE_MISFIT:
	case RETYPE_UNTOLD:
	case RETYPE_LEAF:
	case RETYPE_INNER:
	case RETYPE_FUNCTION:
		break;
	}
}

/* Sweeps */

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

/* The i-th of the numbers 0 .. count - 1, in the order that is asked for. */
static uint64_t in_order(const struct retyping *r, uint64_t i, uint64_t count)
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
	if (now.word && snap_find(&s->r->finder, (struct snap_rank){now.rank}, now.word, &cell))
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
		uint64_t at = word + (uint64_t)__builtin_ctzll(headers);
		if (!(chosen & 1))
			continue;
		snap_find_soon(&s->r->finder, at);
		visit_next(s, (struct retype_front){.rank = rank, .word = at});
	}
}

/* Some blocks, where each is found by its address: the ranks tell that without the heap. */
static enum hg_status sweep_lines(
	struct retyping *r, const uint64_t *bits, retyping_visit_fn *visit, void *context)
{
	enum { GRANULES_PER_REPORT = 1 << 13 };
	struct sweeping s = {.r = r, .visit = visit, .context = context};
	const struct snap_ranks *ranks = &r->snap->ranks;
	uint64_t count = ranks->granule_count - 1;
	for (uint64_t i = 0; i < count && r->status == HG_OK; i++) {
		uint64_t granule = 1 + in_order(r, i, count);
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
		uint64_t number = in_order(r, i, count);
		const struct snap_stretch *stretch = &snap->stretches[number];
		if (i % STRETCHES_PER_REPORT == 0)
			BASE_TRY(base_progress(snap->session, "typing", i, count));
		uint64_t end = (uint64_t)stretch->first_rank + stretch->blocks;
		if (stretch->blocks && (!bits || any_bit(bits, stretch->first_rank, end)))
			sweep_stretch(r, number, bits, visit, context);
	}
	return r->status;
}

enum hg_status retyping_sweep_tag(struct retyping *r, unsigned tag, bool untyped_only,
	retyping_visit_fn *visit, void *context)
{
	uint64_t blocks = r->snap->block_count, any = 0;
	for (uint64_t first = 0; first < blocks; first += 64) {
		uint64_t end = first + 64 < blocks ? first + 64 : blocks, bits = 0;
		for (uint64_t i = first; i < end; i++)
			bits |= (uint64_t)((r->shapes[i] & 255) == tag) << (i & 63);
		for (uint64_t left = untyped_only ? bits : 0; left; left &= left - 1) {
			uint64_t i = first + (uint64_t)__builtin_ctzll(left);
			if (retyping_type_before(r, (uint32_t)i))
				bits &= ~((uint64_t)1 << (i & 63));
		}
		r->candidates[first / 64] = bits;
		any |= bits;
	}
	return any ? retyping_sweep(r, r->candidates, visit, context) : HG_OK;
}

/* Rounds */

static int by_rank(const void *a, const void *b)
{
	const struct retype_front *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Where blocks are found by walking, in order of addresses, so that one walk finds many. */
static void sort_listed(const struct retyping *r, struct retype_round *round)
{
	if (r->snap->format->extent)
		return;
	for (uint64_t i = 1; i < round->count; i++)
		if (round->listed[i].rank < round->listed[i - 1].rank) {
			qsort(round->listed, round->count, sizeof(*round->listed), by_rank);
			return;
		}
}

static void begin_dense(struct retyping *r)
{
	for (uint64_t i = 0; i < bit_words(r); i++)
		for (uint64_t left = r->now.bits[i]; left; left &= left - 1) {
			uint64_t rank = 64 * i + (uint64_t)__builtin_ctzll(left);
			r->round_types[rank] = r->type[rank];
		}
}

static void begin_listed(struct retyping *r)
{
	struct retype_round *now = &r->now;
	sort_listed(r, now);
	for (uint64_t i = 0; i < now->count; i++) {
		uint32_t rank = now->listed[i].rank;
		now->listed[i].type.n = r->type[rank];
		now->bits[rank >> 6] &= ~((uint64_t)1 << (rank & 63));
	}
}

static void visit_dense(
	struct retyping *r, uint32_t rank, const struct snap_cell *cell, void *context)
{
	(void)context;
	retyping_spread(r, rank, (struct retype_term){r->round_types[rank]}, cell);
}

static void round_listed(struct retyping *r)
{
	enum { AHEAD = 12 };
	struct snap_cell cell;
	for (uint64_t i = 0; i < r->now.count; i++) {
		const struct retype_front *front = &r->now.listed[in_order(r, i, r->now.count)];
		if (i + AHEAD < r->now.count)
			snap_find_soon(&r->finder, r->now.listed[i + AHEAD].word);
		if (snap_find(&r->finder, (struct snap_rank){front->rank}, front->word, &cell))
			retyping_spread(r, front->rank, front->type, &cell);
	}
	end_waiting(r);
}

static enum hg_status round_dense(struct retyping *r)
{
	BASE_TRY(retyping_sweep(r, r->now.bits, visit_dense, NULL));
	end_waiting(r);
	memset(r->now.bits, 0, bit_words(r) * sizeof(*r->now.bits));
	return HG_OK;
}

enum hg_status retyping_settle(struct retyping *r)
{
	enum { ROUNDS_PER_REPORT = 1 << 12 };
	while (r->next.count && r->status == HG_OK && r->types->status == HG_OK) {
		struct retype_round done = r->now;
		r->now = r->next;
		r->next = done;
		r->next.count = 0;
		r->next.dense = false;
		if (r->counts.rounds++ % ROUNDS_PER_REPORT == 0)
			BASE_TRY(base_progress(r->snap->session, "typing", 0, 0));
		if (r->now.dense) {
			begin_dense(r);
			BASE_TRY(round_dense(r));
		} else {
			begin_listed(r);
			round_listed(r);
		}
	}
	return r->types->status != HG_OK ? r->types->status : r->status;
}
