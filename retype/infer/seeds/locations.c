/*
 * Seeds from the locations where blocks were allocated: location ids in their headers, and samples
 * of Gc.Memprof.
 *
 * A location may make blocks of several types; those that fit the block are considered.  A
 * primitive or a call may make many blocks at its one location, of which only the one that holds
 * the others has its type (input_value).
 */
#include "retype/infer/seeds/seeds.h"

#include "base/assert.h"

/* Of how many blocks the type of a location is. */
enum makes {
	MAKES_EACH,  /* of each */
	MAKES_FIRST, /* of the one that holds the others, if there are any */
	MAKES_VALUE, /* the same, and there are as many as anybody likes */
};

static const enum makes makes_of[] = {
	[RETYPE_MADE_HERE] = MAKES_EACH,
	[RETYPE_MADE_BY_CALL] = MAKES_FIRST,
	[RETYPE_MADE_BY_PRIMITIVE] = MAKES_FIRST,
	[RETYPE_MADE_BY_READER] = MAKES_VALUE,
};

/* What a location says of blocks of one shape. */
struct verdict {
	struct retype_term type;
	enum hg_confidence sure;
	enum makes makes;
};

struct locations {
	struct infer_seeder *seeder;
	struct base_map verdicts;
	uint64_t *held; /* bits by rank: in a block from a location that makes many; or NULL */
};

/* Takes one of the types that a location makes, if a block of this shape can be of it. */
static void consider_made(struct infer_seeder *seeder, const struct retype_made *made, unsigned tag,
	uint64_t wosize, struct verdict *out, bool *untold)
{
	struct retype_term type = retype_instance(seeder->in->types, made->type, NULL, 0);
	struct retype_term shape = type;
	if (!type.n)
		return;
	struct retype_fit fit = infer_fit_copy(seeder->fits, &shape, tag, wosize);
	if (fit.match == RETYPE_MISFIT || !shape.n)
		return;
	if (out->type.n && fit.match == RETYPE_UNTOLD)
		return;
	if (!out->type.n || *untold) {
		*out = (struct verdict){type, HG_EXACT, MAKES_EACH};
		*untold = fit.match == RETYPE_UNTOLD;
	} else if (!retype_is(out->type, type)) {
		out->type = retype_join(seeder->in->types, out->type, type, NULL);
		out->sure = HG_INFERRED;
	}
	enum makes makes = makes_of[made->maker];
	if (made->maker == RETYPE_MADE_BY_CALL || makes == MAKES_VALUE)
		out->sure = HG_INFERRED;
	if (makes > out->makes)
		out->makes = makes;
}

static struct verdict judge_location(
	struct infer_seeder *seeder, const struct snap_location *at, unsigned tag, uint64_t wosize)
{
	struct verdict verdict = {.sure = HG_EXACT};
	uint32_t found, count;
	bool untold = false;
	const struct retype_location *location =
		retype_locations_at(seeder->in->types, at->file, (uint32_t)at->line, at->start,
			at->end, seeder->in->snap->clamped_locations, &found);
	/* What a call returns was made elsewhere, unless C code made it. */
	for (unsigned calls = 0; calls < 2 && !verdict.type.n; calls++)
		for (uint32_t i = 0; i < found; i++) {
			const struct retype_made *made =
				retype_location_made(seeder->in->types, &location[i], &count);
			for (uint32_t j = 0; j < count; j++)
				if ((made[j].maker == RETYPE_MADE_BY_CALL) == (calls == 1))
					consider_made(
						seeder, &made[j], tag, wosize, &verdict, &untold);
		}
	if (verdict.type.n && infer_is_set(seeder->in->types, verdict.type))
		verdict.type = RETYPE_NOTHING;
	return verdict;
}

/* The verdict on blocks of a location and shape, which is kept. */
static struct verdict verdict_of(
	struct locations *l, uint32_t location, unsigned tag, uint64_t wosize)
{
	struct infer_seeder *seeder = l->seeder;
	struct verdict verdict;
	uint64_t known, key = (uint64_t)location << 32 | (wosize & 0xffffff) << 8 | tag;
	bool keep = wosize <= 0xffffff;
	if (keep && base_map_get(&l->verdicts, key, &known))
		return (struct verdict){{(uint32_t)known}, (enum hg_confidence)(known >> 32 & 255),
			(enum makes)(known >> 40)};
	base_assert(location < seeder->in->snap->locations.count);
	const struct snap_location *at = &seeder->in->snap->locations.items[location];
	verdict = at->file && at->line > 0 ? judge_location(seeder, at, tag, wosize)
					   : (struct verdict){.sure = HG_EXACT};
	known = verdict.type.n | (uint64_t)verdict.sure << 32 | (uint64_t)verdict.makes << 40;
	if (keep && seeder->failure->status == HG_OK)
		seeder->failure->status =
			base_map_set(&l->verdicts, key, known, seeder->failure->error);
	return verdict;
}

static void hold_fields(struct locations *l, const struct snap_cell *cell)
{
	struct infer_seeder *seeder = l->seeder;
	struct infer_target to;
	if (!l->held && seeder->failure->status == HG_OK)
		seeder->failure->status = base_arena_zalloc(seeder->arena,
			base_bit_words(seeder->in->snap->block_count), sizeof(*l->held),
			(void **)&l->held, seeder->failure->error);
	for (uint64_t i = 0; i < cell->field_count && seeder->failure->status == HG_OK; i++)
		if (infer_resolve(seeder->in->snap, cell->fields[i], &to))
			base_bit_set(l->held, to.rank);
}

/* What the id in the header of a block says; no type if it says nothing. */
static struct verdict verdict_by_id(
	struct locations *l, const struct snap_cell *cell, uint32_t *location)
{
	const struct snap *snap = l->seeder->in->snap;
	enum hg_confidence located;
	uint32_t id = snap_header_reserved(cell->header, snap->reserved);
	*location = snap_locations_find(&snap->locations, id, cell->tag, &located);
	if (*location == 0)
		return (struct verdict){.type = RETYPE_NOTHING};
	struct verdict verdict = verdict_of(l, *location, cell->tag, cell->wosize);
	if (located < verdict.sure)
		verdict.sure = located;
	return verdict;
}

/* The first sweep: blocks that are all that their location makes. */
static void seed_each(void *context, uint32_t rank, const struct snap_cell *cell)
{
	struct locations *l = context;
	uint32_t location;
	struct verdict verdict = verdict_by_id(l, cell, &location);
	if (!verdict.type.n)
		return;
	if (verdict.makes == MAKES_EACH)
		infer_seed(l->seeder, verdict.sure, location, rank, cell->address, verdict.type);
	else
		hold_fields(l, cell);
}

/* The second one: of blocks that were made with others those that no other one holds. */
static void seed_first(void *context, uint32_t rank, const struct snap_cell *cell)
{
	struct locations *l = context;
	uint32_t location;
	struct verdict verdict = verdict_by_id(l, cell, &location);
	if (verdict.type.n && verdict.makes != MAKES_EACH && !base_bit(l->held, rank))
		infer_seed(l->seeder, verdict.sure, location, rank, cell->address, verdict.type);
}

static enum hg_status seed_by_ids(struct locations *l)
{
	struct infer_sweeper *sweeper = l->seeder->sweeper;
	BASE_TRY(infer_sweep(sweeper, NULL, seed_each, l));
	return l->held ? infer_sweep(sweeper, NULL, seed_first, l) : HG_OK;
}

/*
 * What is made as bytes is a string by now more often than not (Bytes.unsafe_to_string), and what
 * is made as a Bigarray of any dimension is one of a known one.
 */
static bool is_told_by_holder(unsigned tag)
{
	return tag == SNAP_TAG_STRING || tag == SNAP_TAG_CUSTOM;
}

/* A sample may be of any block that a reader of values made. */
static void seed_sampled(struct locations *l)
{
	struct infer_seeder *seeder = l->seeder;
	const struct snap *snap = seeder->in->snap;
	struct snap_cell cell;
	for (uint64_t i = 0; i < snap->sampled_count && seeder->failure->status == HG_OK; i++) {
		struct snap_header_address header = snap->sampled[i].address;
		uint32_t rank = infer_rank(snap, header), location = snap->sampled[i].location;
		if (!snap_find(&seeder->heap->finder, (struct snap_rank){rank}, header, &cell) ||
			is_told_by_holder(cell.tag))
			continue;
		struct verdict verdict = verdict_of(l, location, cell.tag, cell.wosize);
		if (verdict.type.n && verdict.makes != MAKES_VALUE)
			infer_seed(
				seeder, verdict.sure, location, rank, cell.address, verdict.type);
	}
}

enum hg_status seeds_locations(struct infer_seeder *seeder)
{
	struct locations l = {.seeder = seeder};
	const struct snap *snap = seeder->in->snap;
	if (seeder->in->types->location_count == 0 || snap->format->ids == SNAP_IDS_NONE ||
		snap->locations.count <= 1)
		return HG_OK;
	infer_forget_walk(&seeder->heap->finder);
	enum hg_status status = seed_by_ids(&l);
	base_map_release(&l.verdicts);
	base_arena_free(seeder->arena, l.held);
	return status != HG_OK ? status : seeder->failure->status;
}

enum hg_status seeds_samples(struct infer_seeder *seeder)
{
	struct locations l = {.seeder = seeder};
	if (seeder->in->types->location_count == 0 || seeder->in->snap->sampled_count == 0 ||
		seeder->in->without_samples)
		return HG_OK;
	infer_forget_walk(&seeder->heap->finder);
	seed_sampled(&l);
	base_map_release(&l.verdicts);
	return seeder->failure->status;
}
