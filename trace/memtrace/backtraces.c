/* The cache of codes of a domain, and its last backtrace. */
#include "trace/memtrace/backtraces.h"

#include "base/grow.h"

enum hg_status memtrace_domain_open(struct memtrace_domain **domain, struct hg_error *error)
{
	struct memtrace_domain *new = calloc(1, sizeof(*new));
	*domain = NULL;
	if (!new)
		return base_no_memory(error, sizeof(*new));
	new->cache = calloc(MEMTRACE_SLOTS, sizeof(*new->cache));
	if (!new->cache) {
		free(new);
		return base_no_memory(error, MEMTRACE_SLOTS * sizeof(*new->cache));
	}
	memtrace_recent_init(&new->recent);
	*domain = new;
	return HG_OK;
}

void memtrace_domain_close(struct memtrace_domain *domain)
{
	if (!domain)
		return;
	free(domain->stack);
	free(domain->cache);
	free(domain);
}

bool memtrace_domain_agrees(const struct memtrace_domain *domain,
	const struct memtrace_locations *locations, const struct memtrace_verifier *verifier)
{
	if (verifier->slot == MEMTRACE_NO_SLOT)
		return true;
	if (verifier->slot >= MEMTRACE_SLOTS)
		return false;
	const struct memtrace_slot *slot = &domain->cache[verifier->slot];
	return slot->next == verifier->next && locations->codes[slot->code].code == verifier->code;
}

static enum hg_status make_room_for_frames(struct memtrace_batch *batch, struct hg_error *error)
{
	return base_grow_by(&batch->frames, batch->frame_count, MEMTRACE_FRAMES_OF_WORD,
		&batch->frame_capacity, sizeof(*batch->frames), error);
}

/* The frames of one word. */
static enum hg_status read_frames(struct memtrace_domain *domain,
	struct memtrace_locations *locations, struct base_cursor *cursor, uint32_t *previous,
	uint64_t *depth, struct memtrace_batch *batch, bool *good, struct hg_error *error)
{
	struct memtrace_slot *cache = domain->cache;
	uint16_t word;
	uint8_t predicted = 0;
	uint64_t code;
	*good = base_cursor_u16le(cursor, &word);
	if (!*good)
		return HG_OK;
	uint32_t slot = word >> 2, tag = word & 3;
	cache[*previous].next = (uint16_t)slot;
	if (tag == MEMTRACE_MISS && (*good = base_cursor_u64le(cursor, &code)))
		BASE_TRY(memtrace_code_number(locations, code, &cache[slot].code, error));
	else if (tag == MEMTRACE_PREDICT_ONE)
		predicted = 1;
	else if (tag == MEMTRACE_PREDICT_MORE)
		*good = base_cursor_u8(cursor, &predicted);
	if (!*good)
		return HG_OK;
	BASE_TRY(make_room_for_frames(batch, error));
	for (;; predicted--) {
		batch->frames[batch->frame_count++] =
			(struct memtrace_frame){cache[slot].code, (uint32_t)(*depth)++};
		*previous = slot;
		if (!predicted)
			return HG_OK;
		slot = cache[slot].next;
	}
}

enum hg_status memtrace_read_backtrace(struct memtrace_domain *domain,
	struct memtrace_locations *locations, struct base_cursor *at, uint64_t common,
	unsigned words, struct memtrace_batch *batch, bool *good, struct hg_error *error)
{
	const bool truncated = common > domain->depth;
	const uint64_t kept = truncated ? domain->depth : common;
	const uint32_t before = batch->frame_count;
	uint64_t depth = kept;
	uint32_t previous = 0;
	*good = true;
	/* One more event adds 2^24 at most. */
	if (depth > MEMTRACE_DEEPEST)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"a backtrace of more than %d frames", MEMTRACE_DEEPEST);
	for (unsigned i = 0; i < words && *good; i++)
		BASE_TRY(read_frames(domain, locations, at, &previous, &depth, batch, good, error));
	if (!*good)
		return HG_OK;
	if (truncated) {
		batch->frame_count = before;
		depth = kept;
	}
	if (batch->frame_count == before) {
		BASE_TRY(make_room_for_frames(batch, error));
		batch->frames[batch->frame_count++] =
			(struct memtrace_frame){MEMTRACE_NO_FRAME, (uint32_t)kept};
	}
	domain->depth = depth;
	return HG_OK;
}
