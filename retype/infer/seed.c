/* Which seeds are taken: those that are as sure as the stratum, and whose origins are not guilty.
 */
#include "retype/infer/seed.h"

#include "base/assert.h"

/* Numbers of origins within a family. */
enum { FAMILY_SHIFT = 27, UNREACHED_SHIFT = 31 };
_Static_assert(INFER_MOST_FAMILIES < 1 << (UNREACHED_SHIFT - FAMILY_SHIFT), "origins have room");

/* What is said of blocks that nothing reaches is an origin of its own: what they run into is no
 * fault of what is said of others. */
static uint32_t origin_of(const struct infer_seeder *seeder, uint32_t number, uint32_t rank)
{
	base_assert(seeder->family < INFER_MOST_FAMILIES);
	return (uint32_t)infer_is_unreached(seeder->in, rank) << UNREACHED_SHIFT |
	       (seeder->family + 1) << FAMILY_SHIFT | (number & ((1u << FAMILY_SHIFT) - 1));
}

/* What nothing reaches tells only of what nothing reaches either. */
static bool may_tell(const struct infer_seeder *seeder, uint32_t rank)
{
	return seeder->source == RETYPE_NO_HOLDER ||
	       !infer_is_unreached(seeder->in, seeder->source) ||
	       infer_is_unreached(seeder->in, rank);
}

void infer_seed(struct infer_seeder *seeder, enum hg_confidence sure, uint32_t origin,
	uint32_t rank, struct snap_header_address header, struct retype_term type)
{
	origin = origin_of(seeder, origin, rank);
	if (sure != seeder->sure || !type.n || !may_tell(seeder, rank) ||
		infer_is_guilty(seeder->blame, origin))
		return;
	type = retype_instance(seeder->in->types, type, NULL, 0);
	base_assert(rank < seeder->in->snap->block_count && seeder->take);
	base_assert(retype_is_closed(seeder->in->types, type));
	struct infer_shape shape = infer_read_shape(seeder->heap, rank, header);
	if (seeder->refuses_misfits && infer_is_misfit(seeder->fits, type, shape.tag, shape.wosize))
		return;
	seeder->take(seeder->taker, origin, rank, header, type);
}

void infer_seed_value(struct infer_seeder *seeder, enum hg_confidence sure, uint32_t origin,
	uint64_t value, struct retype_term type)
{
	struct infer_target to;
	if (!infer_resolve(seeder->in->snap, value, &to))
		return;
	if (to.is_infix)
		type = infer_any_function(seeder->in);
	infer_seed(seeder, sure, origin, to.rank, to.header, type);
}
