/*
 * Types along the fields of blocks, round by round.
 *
 * A round looks at the blocks whose type changed in the round before, with the types they had when
 * it began, and joins what they say of the blocks they hold.  Joins commute, so that the order
 * within a round does not matter.
 */
#include "retype/infer/parts.h"

#include "base/grow.h"

#include <string.h>

/* A part of the blocks: rounds of more are sweeps over the heap.  Each listed block takes 16 bytes,
 * in two lists. */
enum { LISTED_PART = 64, LISTED_LEAST = 1024 };

/* A short-cut leads to another one at most so often. */
enum { MOST_SHORT_CUTS = 20 };

static enum hg_status make_bits(struct retyping *r, uint64_t **bits)
{
	return base_arena_zalloc(
		&r->arena, retyping_bit_words(r), sizeof(**bits), (void **)bits, r->error);
}

static enum hg_status make_arrays(struct retyping *r)
{
	struct base_arena *arena = &r->arena, *kept = &r->retype->arena;
	uint64_t blocks = r->snap->block_count;
	r->listed_most = blocks / LISTED_PART + LISTED_LEAST;
	BASE_TRY(base_arena_zalloc(
		kept, blocks, sizeof(*r->blocks), (void **)&r->retype->blocks, r->error));
	r->blocks = r->retype->blocks;
	BASE_TRY(base_arena_alloc(
		arena, r->listed_most, sizeof(*r->now.listed), (void **)&r->now.listed, r->error));
	BASE_TRY(base_arena_alloc(arena, r->listed_most, sizeof(*r->next.listed),
		(void **)&r->next.listed, r->error));
	BASE_TRY(make_bits(r, &r->now.bits));
	BASE_TRY(make_bits(r, &r->next.bits));
	BASE_TRY(make_bits(r, &r->changed));
	BASE_TRY(make_bits(r, &r->candidates));
	BASE_TRY(make_bits(r, &r->described));
	BASE_TRY(make_bits(r, &r->disputed));
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
		.holder = RETYPE_NO_HOLDER,
		.error = error};
	BASE_TRY(base_arena_init(&r->arena, &snap->session->budget, "types", error));
	BASE_TRY(snap_finder_init(&r->finder, snap, error));
	BASE_TRY(snap_finder_init(&r->aside, snap, error));
	BASE_TRY(snap_finder_init(&r->inside, snap, error));
	BASE_TRY(make_arrays(r));
	r->any_function = retype_arrow(r->types, "", RETYPE_NOTHING, RETYPE_NOTHING);
	return retyping_note_shapes(r);
}

void retyping_release(struct retyping *r)
{
	snap_finder_release(&r->finder);
	snap_finder_release(&r->aside);
	snap_finder_release(&r->inside);
	retype_map_clear(&r->extensions);
	retype_map_clear(&r->classes);
	retype_map_clear(&r->lied);
	retype_map_clear(&r->lies);
	retype_map_clear(&r->round_types);
	retype_map_clear(&r->types_before);
	free(r->disputes);
	base_arena_release(&r->arena);
}

/* Blocks */

uint32_t retyping_rank(const struct retyping *r, struct snap_header_address header)
{
	return snap_line_rank(snap_ranks_line_of(&r->snap->ranks, header), header).n;
}

/* Where a value leads that is not the address of field 0 of a block. */
static bool resolve_stray(const struct retyping *r, uint64_t value, uint32_t *rank,
	struct snap_header_address *header, bool *is_infix)
{
	enum snap_outcome outcome = snap_resolve(r->snap, value, header);
	if (!snap_outcome_is_block(outcome))
		return false;
	*is_infix = outcome == SNAP_INFIX;
	*rank = retyping_rank(r, *header);
	return true;
}

bool retyping_resolve(const struct retyping *r, uint64_t value, uint32_t *rank,
	struct snap_header_address *header, bool *is_infix)
{
	const struct snap *snap = r->snap;
	*is_infix = false;
	if (value & 7)
		return false;
	*header = snap_pointed_header(value);
	if (!snap_ranks_spans(&snap->ranks, *header))
		return false;
	const struct snap_line *line = snap_ranks_line_of(&snap->ranks, *header);
	if (!snap_line_is_block(line, *header))
		return resolve_stray(r, value, rank, header, is_infix);
	*rank = snap_line_rank(line, *header).n;
	return true;
}

void retyping_shape(struct retyping *r, uint32_t rank, struct snap_header_address header,
	unsigned *tag, uint64_t *wosize)
{
	struct snap_cell cell;
	*tag = r->blocks[rank].shape & 255;
	*wosize = r->blocks[rank].shape >> 8;
	if (*wosize == RETYPE_LONG && snap_find(&r->aside, (struct snap_rank){rank}, header, &cell))
		*wosize = cell.wosize;
}

bool retyping_is_static(const struct retyping *r, struct snap_header_address header)
{
	const struct snap_chunk *chunk = snap_chunk_at(r->snap, header.a);
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

static bool leads_on(enum retype_match match)
{
	return match == RETYPE_FIELDS || match == RETYPE_ELEMENTS || match == RETYPE_TAGGED ||
	       match == RETYPE_EXTENSION || match == RETYPE_INSTANCE || match == RETYPE_WEAKLY;
}

static bool fits_plainly(enum retype_match match)
{
	return match == RETYPE_LEAF || match == RETYPE_FUNCTION || leads_on(match);
}

static uint64_t place_of(uint64_t key)
{
	return key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - RETYPE_FIT_SHIFT);
}

static const struct retype_fit_entry *fill(struct retyping *r, struct retype_fit_entry *entry,
	uint64_t key, struct retype_term type, unsigned tag, uint64_t wosize)
{
	struct retype_term narrowed = narrow(r, type, tag, wosize);
	struct retype_fit fit = retype_fit(r->types, narrowed, tag, wosize);
	*entry = (struct retype_fit_entry){key, fit, narrowed, leads_on(fit.match),
		.is_plain = fits_plainly(fit.match) && wosize < RETYPE_LONG};
	return entry;
}

/* It lives until the next call. */
static inline const struct retype_fit_entry *entry_of(
	struct retyping *r, struct retype_term type, unsigned tag, uint64_t wosize)
{
	/* No type of a block is term 0, so that no key is 0. */
	uint64_t key = wosize >> 24 ? 0 : (uint64_t)type.n << 32 | wosize << 8 | tag;
	struct retype_fit_entry *entry = &r->fits[place_of(key)];
	if (entry->key == key && key)
		return entry;
	return fill(r, entry, key, type, tag, wosize);
}

/* Through short-cuts to the type it is then; NULL if that is not known. */
static inline const struct retype_fit_entry *entry_within(
	struct retyping *r, struct retype_term type, unsigned tag, uint64_t wosize)
{
	const struct retype_fit_entry *entry = entry_of(r, type, tag, wosize);
	for (unsigned i = 0; i < MOST_SHORT_CUTS && entry->fit.match == RETYPE_INNER; i++) {
		if (!entry->fit.inner.n)
			return NULL;
		entry = entry_of(r, entry->fit.inner, tag, wosize);
	}
	return entry;
}

struct retype_fit retyping_fit(
	struct retyping *r, struct retype_term *type, unsigned tag, uint64_t wosize)
{
	const struct retype_fit_entry *entry = entry_within(r, *type, tag, wosize);
	*type = entry ? entry->narrowed : RETYPE_NOTHING;
	return entry ? entry->fit : (struct retype_fit){.match = RETYPE_UNTOLD};
}

struct retype_term retyping_join(struct retyping *r, struct retype_term a, struct retype_term b)
{
	uint64_t at = ((uint64_t)a.n * UINT64_C(0x9e3779b97f4a7c15) >> 32 ^ b.n) &
		      (RETYPE_JOIN_ENTRIES - 1);
	struct retype_join_entry *entry = &r->joins[at];
	if (entry->a != a.n || entry->b != b.n)
		*entry = (struct retype_join_entry){a.n, b.n, retype_join(r->types, a, b, NULL).n};
	return (struct retype_term){entry->joined};
}

/* Proposals */

static void put_into_next(struct retyping *r, uint32_t rank, struct snap_header_address header)
{
	struct retype_round *next = &r->next;
	if (retyping_bit(next->bits, rank))
		return;
	retyping_set_bit(next->bits, rank);
	if (next->count == r->listed_most)
		next->dense = true;
	else
		next->listed[next->count++] = (struct retype_front){rank, RETYPE_NOTHING, header};
}

static void keep_type(struct retyping *r, struct retype_map *kept, uint32_t rank)
{
	if (r->status == HG_OK)
		r->status = retype_map_set(kept, rank, r->blocks[rank].type, r->error);
}

static void change(struct retyping *r, uint32_t rank, struct retype_term type)
{
	struct retype_block *block = &r->blocks[rank];
	uint32_t kept;
	if (block->type && r->now.dense && retyping_bit(r->now.bits, rank) &&
		!retype_map_number(&r->round_types, rank, &kept))
		keep_type(r, &r->round_types, rank);
	if (!r->undoable) {
		block->confidence = HG_EXACT;
	} else if (!retyping_bit(r->changed, rank)) {
		retyping_set_bit(r->changed, rank);
		if (block->type)
			keep_type(r, &r->types_before, rank);
	}
	block->type = type.n;
}

/* What is abstract says less than the tag of a block that describes itself. */
static bool says_nothing(const struct retyping *r, struct retype_term type, unsigned tag)
{
	enum retype_kind kind = retype_view(r->types, type).kind;
	return kind == RETYPE_UNKNOWN || kind == RETYPE_VARIABLE || r->retype->by_tag[tag];
}

void retyping_change(struct retyping *r, uint32_t rank, struct snap_header_address header,
	struct retype_term type)
{
	unsigned tag;
	uint64_t wosize;
	if (type.n == r->blocks[rank].type)
		return;
	change(r, rank, type);
	retyping_shape(r, rank, header, &tag, &wosize);
	if (entry_of(r, type, tag, wosize)->leads_on)
		put_into_next(r, rank, header);
}

/* A type for a block that has one: both, or what says all that the other does. */
static void add_type(struct retyping *r, uint32_t rank, struct snap_header_address header,
	struct retype_term type)
{
	struct retype_term old = {r->blocks[rank].type};
	struct retype_term joined = retyping_join(r, old, type);
	bool is_closure = (r->blocks[rank].shape & 255) == SNAP_TAG_CLOSURE;
	bool is_agreed = is_closure || retype_is(joined, old) || retype_is(joined, type);
	if (is_agreed && !retyping_bit(r->disputed, rank))
		retyping_change(r, rank, header, joined);
	else
		retyping_dispute(r, rank, header, type);
}

static void take(struct retyping *r, uint32_t rank, struct snap_header_address header,
	const struct retype_fit_entry *entry)
{
	bool leads_on = entry->leads_on;
	if (r->blocks[rank].type) {
		add_type(r, rank, header, entry->narrowed);
		return;
	}
	change(r, rank, entry->narrowed);
	if (leads_on)
		put_into_next(r, rank, header);
}

/* What was refused is not in the type that the block has. */
static void report(struct retyping *r, uint32_t rank, struct snap_header_address header,
	const struct retype_fit_entry *entry)
{
	struct retype_term old = {r->blocks[rank].type}, type = entry->narrowed;
	bool is_in =
		entry->fit.match != RETYPE_MISFIT && retype_is(retyping_join(r, old, type), old);
	r->watch(r, rank, header, is_in);
}

void retyping_clash(
	struct retyping *r, uint32_t rank, struct retype_term type, uint32_t holder, unsigned count)
{
	/* 16 bytes each; with so many the types are of another program. */
	enum { MOST_NOTED = 1 << 20 };
	struct retype *retype = r->retype;
	r->counts.shape_clashes += count;
	if (retype->clash_count == MOST_NOTED || r->status != HG_OK)
		return;
	r->status = base_grow(&retype->clashes, retype->clash_count, &retype->clash_capacity,
		sizeof(*retype->clashes), r->error);
	if (r->status == HG_OK)
		retype->clashes[retype->clash_count++] =
			(struct retype_clash){rank, type.n, holder, count};
}

void retyping_propose(struct retyping *r, uint32_t rank, struct snap_header_address header,
	struct retype_term type)
{
	unsigned tag;
	uint64_t wosize;
	if (r->watch == NULL && r->blocks[rank].type == type.n)
		return;
	retyping_shape(r, rank, header, &tag, &wosize);
	const struct retype_fit_entry *entry = entry_within(r, type, tag, wosize);
	if (!entry || (entry->fit.match == RETYPE_UNTOLD && says_nothing(r, entry->narrowed, tag)))
		return;
	if (r->watch)
		report(r, rank, header, entry);
	else if (entry->fit.match == RETYPE_MISFIT)
		retyping_clash(r, rank, type, r->holder, 1);
	else
		take(r, rank, header, entry);
}

/* What most proposals are: exact ones, that fit a block which had no type.  False: look closer. */
static inline bool take_plainly(struct retyping *r, const struct retype_waiting *now)
{
	struct retype_block *block = &r->blocks[now->rank];
	uint64_t key = (uint64_t)now->type.n << 32 | block->shape;
	const struct retype_fit_entry *entry = &r->fits[place_of(key)];
	if (block->type == now->type.n)
		return true;
	if (block->type || entry->key != key || !entry->is_plain || r->undoable)
		return false;
	block->type = entry->narrowed.n;
	block->confidence = HG_EXACT;
	if (entry->leads_on)
		put_into_next(r, now->rank, now->header);
	return true;
}

/* The type may be of a function in a closure, and not of the closure's first one. */
void retyping_propose_value(struct retyping *r, uint64_t value, struct retype_term type)
{
	uint32_t rank;
	struct snap_header_address header;
	bool is_infix;
	if (!type.n || !retyping_resolve(r, value, &rank, &header, &is_infix))
		return;
	r->counts.edges++;
	retyping_propose(r, rank, header, is_infix ? r->any_function : type);
}

/* Proposes what waits: all ask for the memory of their blocks first. */
static void end_waiting(struct retyping *r)
{
	unsigned count = 0;
	bool is_infix;
	for (unsigned i = 0; i < r->waiting_count; i++) {
		const struct snap_line *line = r->waiting[i].line;
		struct retype_term type = r->waiting[i].type;
		struct snap_header_address header = r->waiting[i].header;
		uint32_t rank;
		if (snap_line_is_block(line, header))
			rank = snap_line_rank(line, header).n;
		else if (!resolve_stray(r, snap_block_of(header).a, &rank, &header, &is_infix))
			continue;
		else if (is_infix)
			type = r->any_function;
		__builtin_prefetch(&r->blocks[rank], 1);
		if (r->is_short)
			snap_find_soon(&r->finder, header);
		/* One by one: the processor waits when it reads together what it wrote apart. */
		r->waiting[count].header = header;
		r->waiting[count].type = type;
		r->waiting[count].holder = r->waiting[i].holder;
		r->waiting[count++].rank = rank;
	}
	const uint32_t holder = r->holder;
	r->counts.edges += count;
	r->waiting_count = 0;
	for (unsigned i = 0; i < count; i++) {
		const struct retype_waiting *now = &r->waiting[i];
		r->holder = now->holder;
		if (!take_plainly(r, now))
			retyping_propose(r, now->rank, now->header, now->type);
	}
	r->holder = holder;
}

static inline void wait_with(struct retyping *r, uint64_t value, struct retype_term type)
{
	const struct snap_ranks *ranks = &r->snap->ranks;
	struct snap_header_address header = snap_pointed_header(value);
	if (value & 7 || !snap_ranks_spans(ranks, header))
		return;
	const struct snap_line *line = snap_ranks_line_of(ranks, header);
	__builtin_prefetch(line);
	r->waiting[r->waiting_count++] = (struct retype_waiting){
		.line = line, .header = header, .type = type, .holder = r->holder};
	if (r->waiting_count == RETYPE_WAITING)
		end_waiting(r);
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

/* An ephemeron's words are no fields.  Empty ones lead to no block. */
static void spread_ephemeron(
	struct retyping *r, const struct retype_fit *fit, const struct snap_cell *cell)
{
	const struct snap *snap = r->snap;
	uint64_t value;
	if (!snap->format->word_at || fit->field_count == 0)
		return;
	for (uint64_t i = SNAP_EPHEMERON_DATA; i < cell->wosize; i++) {
		uint64_t key = i - SNAP_EPHEMERON_FIRST_KEY;
		uint64_t last = fit->field_count - 1;
		struct retype_term type = i == SNAP_EPHEMERON_DATA
						  ? fit->inner
						  : fit->fields[key < last ? key : last].type;
		if (snap->format->word_at(snap, snap_field_address(cell->address, i), &value))
			propose_field(r, value, type);
	}
}

void retyping_spread(
	struct retyping *r, uint32_t rank, struct retype_term type, const struct snap_cell *cell)
{
	const struct retype_fit fit = entry_of(r, type, cell->tag, cell->wosize)->fit;
	r->holder = rank;
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
	case RETYPE_WEAKLY:
		spread_ephemeron(r, &fit, cell);
		break;
	case RETYPE_MISFIT:
	case RETYPE_UNTOLD:
	case RETYPE_LEAF:
	case RETYPE_INNER:
	case RETYPE_FUNCTION:
		break;
	}
	r->holder = RETYPE_NO_HOLDER;
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

static void begin_listed(struct retyping *r)
{
	struct retype_round *now = &r->now;
	sort_listed(r, now);
	for (uint64_t i = 0; i < now->count; i++) {
		uint32_t rank = now->listed[i].rank;
		now->listed[i].type.n = r->blocks[rank].type;
		now->bits[rank >> 6] &= ~((uint64_t)1 << (rank & 63));
	}
}

static void visit_dense(
	struct retyping *r, uint32_t rank, const struct snap_cell *cell, void *context)
{
	(void)context;
	struct retype_term type = {r->blocks[rank].type};
	retype_map_number(&r->round_types, rank, &type.n);
	retyping_spread(r, rank, type, cell);
}

static void round_listed(struct retyping *r)
{
	enum { AHEAD = 12, SHORT = 1 << 8 };
	struct snap_cell cell;
	r->is_short = r->now.count <= SHORT;
	for (uint64_t i = 0; i < r->now.count; i++) {
		const struct retype_front *front =
			&r->now.listed[retyping_in_order(r, i, r->now.count)];
		if (i + AHEAD < r->now.count)
			snap_find_soon(&r->finder, r->now.listed[i + AHEAD].header);
		if (snap_find(&r->finder, (struct snap_rank){front->rank}, front->header, &cell))
			retyping_spread(r, front->rank, front->type, &cell);
	}
	end_waiting(r);
	retyping_settle_disputes(r);
}

static enum hg_status round_dense(struct retyping *r)
{
	r->is_short = false;
	BASE_TRY(retyping_sweep(r, r->now.bits, visit_dense, NULL));
	end_waiting(r);
	memset(r->now.bits, 0, retyping_bit_words(r) * sizeof(*r->now.bits));
	retype_map_clear(&r->round_types);
	retyping_settle_disputes(r);
	return HG_OK;
}

enum hg_status retyping_settle(struct retyping *r)
{
	enum { ROUNDS_PER_REPORT = 1 << 12 };
	retyping_settle_disputes(r);
	while (r->next.count && r->status == HG_OK && r->types->status == HG_OK) {
		struct retype_round done = r->now;
		r->now = r->next;
		r->next = done;
		r->next.count = 0;
		r->next.dense = false;
		if (r->counts.rounds++ % ROUNDS_PER_REPORT == 0)
			BASE_TRY(base_progress(r->snap->session, "typing", 0, 0));
		if (r->now.dense) {
			BASE_TRY(round_dense(r));
		} else {
			begin_listed(r);
			round_listed(r);
		}
	}
	return r->types->status != HG_OK ? r->types->status : r->status;
}
