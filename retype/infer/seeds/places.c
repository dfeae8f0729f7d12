/*
 * Seeds from the places where blocks were allocated: location ids in their headers, and samples of
 * Gc.Memprof.
 *
 * A place may make blocks of several types; those that fit the block are considered.  A primitive
 * or a call may make many blocks at its one place, of which only the one that holds the others has
 * its type (input_value).
 */
#include "retype/infer/parts.h"

#include <string.h>

/* Of how many blocks the type of a place is. */
enum makes {
	MAKES_EACH,  /* of each */
	MAKES_FIRST, /* of the one that holds the others, if there are any */
	MAKES_VALUE, /* the same, and there are as many as anybody likes */
};

/* What a place says of blocks of one shape. */
struct verdict {
	struct retype_term type;
	enum hg_confidence sure;
	enum makes makes;
};

struct places {
	struct retyping *r;
	struct retype_map verdicts;
	uint64_t *held;    /* bits by rank: in a block from a place that makes many; or NULL */
	bool second_sweep; /* for the blocks that are not */
	bool sampled;
};

static bool is_call(const char *kind)
{
	return strcmp(kind, "call") == 0;
}

static enum makes makes_of(const char *kind)
{
	if (is_call(kind))
		return MAKES_FIRST;
	if (strncmp(kind, "prim.", 5) != 0)
		return MAKES_EACH;
	bool reads = strstr(kind, "input_value") || strstr(kind, "unmarshal");
	return reads ? MAKES_VALUE : MAKES_FIRST;
}

/* Takes one of the types that a place makes, if a block of this shape can be of it. */
static void consider(struct retyping *r, const struct retype_made *made, unsigned tag,
	uint64_t wosize, struct verdict *out, bool *untold)
{
	struct retype_term type = retype_instance(r->types, made->type, NULL, 0);
	struct retype_term shape = type;
	if (!type.n)
		return;
	struct retype_fit fit = retyping_fit(r, &shape, tag, wosize);
	if (fit.match == RETYPE_MISFIT || !shape.n)
		return;
	if (out->type.n && fit.match == RETYPE_UNTOLD)
		return;
	if (!out->type.n || *untold) {
		*out = (struct verdict){type, HG_EXACT, MAKES_EACH};
		*untold = fit.match == RETYPE_UNTOLD;
	} else if (!retype_is(out->type, type)) {
		out->type = retype_join(r->types, out->type, type, NULL);
		out->sure = HG_INFERRED;
	}
	enum makes makes = makes_of(made->kind);
	if (is_call(made->kind) || makes == MAKES_VALUE)
		out->sure = HG_INFERRED;
	if (makes > out->makes)
		out->makes = makes;
}

static struct verdict judge(
	struct retyping *r, const struct snap_location *at, unsigned tag, uint64_t wosize)
{
	struct verdict verdict = {.sure = HG_EXACT};
	uint32_t places, count;
	bool untold = false;
	const struct retype_location *place = retype_locations_at(r->types, at->file,
		(uint32_t)at->line, at->start, at->end, r->snap->clamped_places, &places);
	/* What a call returns was made elsewhere, unless C code made it. */
	for (unsigned calls = 0; calls < 2 && !verdict.type.n; calls++)
		for (uint32_t i = 0; i < places; i++) {
			const struct retype_made *made =
				retype_location_made(r->types, &place[i], &count);
			for (uint32_t j = 0; j < count; j++)
				if (is_call(made[j].kind) == (calls == 1))
					consider(r, &made[j], tag, wosize, &verdict, &untold);
		}
	if (verdict.type.n && retyping_is_set(r, verdict.type))
		verdict.type = RETYPE_NOTHING;
	return verdict;
}

/* The verdict on blocks of a place and shape, which is kept. */
static struct verdict verdict_of(struct places *p, uint32_t site, unsigned tag, uint64_t wosize)
{
	struct retyping *r = p->r;
	struct verdict verdict;
	uint64_t known, key = (uint64_t)site << 32 | (wosize & 0xffffff) << 8 | tag;
	bool keep = wosize <= 0xffffff;
	if (keep && retype_map_get(&p->verdicts, key, &known))
		return (struct verdict){{(uint32_t)known}, (enum hg_confidence)(known >> 32 & 255),
			(enum makes)(known >> 40)};
	const struct snap_location *at = &r->snap->sites.locations[site];
	verdict = at->file && at->line > 0 ? judge(r, at, tag, wosize)
					   : (struct verdict){.sure = HG_EXACT};
	known = verdict.type.n | (uint64_t)verdict.sure << 32 | (uint64_t)verdict.makes << 40;
	if (keep && r->status == HG_OK)
		r->status = retype_map_set(&p->verdicts, key, known, r->error);
	return verdict;
}

static void hold_fields(struct places *p, const struct snap_cell *cell)
{
	struct retyping *r = p->r;
	uint32_t rank;
	struct snap_header_address header;
	bool is_infix;
	if (!p->held && r->status == HG_OK)
		r->status = base_arena_zalloc(&r->arena, r->snap->block_count / 64 + 1,
			sizeof(*p->held), (void **)&p->held, r->error);
	for (uint64_t i = 0; i < cell->field_count && r->status == HG_OK; i++)
		if (retyping_resolve(r, cell->fields[i], &rank, &header, &is_infix))
			retyping_set_bit(p->held, rank);
}

static void seed_block(struct places *p, uint32_t rank, const struct snap_cell *cell, uint32_t site,
	enum hg_confidence located)
{
	struct retyping *r = p->r;
	struct verdict verdict = verdict_of(p, site, cell->tag, cell->wosize);
	enum hg_confidence sure = verdict.sure < located ? verdict.sure : located;
	if (!verdict.type.n)
		return;
	if (verdict.makes != MAKES_EACH && !p->sampled) {
		if (!p->second_sweep) {
			hold_fields(p, cell);
			return;
		}
		if (p->held && retyping_bit(p->held, rank))
			return;
	} else if (p->second_sweep) {
		return;
	}
	retyping_seed(r, sure, site, rank, cell->address, verdict.type);
}

static void visit(struct retyping *r, uint32_t rank, const struct snap_cell *cell, void *context)
{
	struct places *p = context;
	enum hg_confidence located;
	uint32_t id = snap_header_reserved(cell->header, r->snap->reserved);
	uint32_t site = snap_sites_find(&r->snap->sites, id, cell->tag, &located);
	if (site)
		seed_block(p, rank, cell, site, located);
}

/* A sample may be of any block that a reader of values made. */
static void seed_sampled(struct places *p)
{
	struct retyping *r = p->r;
	const struct snap *snap = r->snap;
	struct snap_cell cell;
	p->sampled = true;
	for (uint64_t i = 0; i < snap->sampled_count && r->status == HG_OK; i++) {
		struct snap_header_address header = snap->sampled[i].address;
		uint32_t rank = retyping_rank(r, header);
		if (!snap_find(&r->finder, (struct snap_rank){rank}, header, &cell))
			continue;
		struct verdict verdict =
			verdict_of(p, snap->sampled[i].site, cell.tag, cell.wosize);
		if (verdict.makes == MAKES_VALUE)
			continue;
		seed_block(p, rank, &cell, snap->sampled[i].site, HG_EXACT);
	}
}

enum hg_status retyping_seed_places(struct retyping *r)
{
	struct places p = {.r = r};
	const struct snap *snap = r->snap;
	enum hg_status status = HG_OK;
	if (r->types->location_count == 0)
		return HG_OK;
	r->finder.count = 0;
	if (snap->format->ids != SNAP_IDS_NONE && snap->sites.count > 1) {
		status = retyping_sweep(r, NULL, visit, &p);
		p.second_sweep = true;
		if (status == HG_OK && p.held)
			status = retyping_sweep(r, NULL, visit, &p);
		p.second_sweep = false;
	}
	if (status == HG_OK)
		seed_sampled(&p);
	retype_map_clear(&p.verdicts);
	base_arena_free(&r->arena, p.held);
	return status != HG_OK ? status : r->status;
}
