/* The cache of codes of a domain, and its last backtrace. */
#include "trace/memtrace/backtraces.h"

#include "base/grow.h"

/* No program was seen with more than 12,000; with 16 bytes a frame this is a stack of 1 GiB. */
enum { DEEPEST_BACKTRACE = 1 << 26 };

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

/* Room for the frames of one word of code: itself and 255 that are predicted. */
enum { MOST_FRAMES = 256 };

static enum hg_status make_room_for_frames(
	struct memtrace_domain *domain, uint64_t depth, struct hg_error *error)
{
	return base_grow_by(&domain->stack, depth, MOST_FRAMES, &domain->capacity,
		sizeof(*domain->stack), error);
}

enum hg_status memtrace_read_backtrace(struct memtrace_domain *domain,
	struct memtrace_locations *locations, struct base_cursor *at, uint64_t common,
	unsigned words, bool *truncated, bool *good, struct hg_error *error)
{
	enum { PREDICT_ONE = 1, PREDICT_MORE, MISS };
	struct base_cursor cursor = *at;
	struct memtrace_slot *cache = domain->cache;
	uint64_t depth = common < domain->depth ? common : domain->depth;
	const uint64_t kept = domain->depth;
	uint32_t previous = 0;
	*truncated = common > kept;
	*good = false;
	/* One more event adds 2^24 at most. */
	if (depth > DEEPEST_BACKTRACE)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"a backtrace of more than %d frames", DEEPEST_BACKTRACE);
	for (unsigned i = 0; i < words; i++) {
		uint16_t word;
		uint8_t predicted = 0;
		if (!base_cursor_u16le(&cursor, &word))
			return HG_OK;
		uint32_t slot = word >> 2;
		unsigned tag = word & 3;
		cache[previous].next = (uint16_t)slot;
		if (tag == MISS) {
			uint64_t code;
			if (!base_cursor_u64le(&cursor, &code))
				return HG_OK;
			BASE_TRY(memtrace_code_number(locations, code, &cache[slot].code, error));
		} else if (tag == PREDICT_ONE) {
			predicted = 1;
		} else if (tag == PREDICT_MORE && !base_cursor_u8(&cursor, &predicted)) {
			return HG_OK;
		}
		if (depth + MOST_FRAMES > domain->capacity)
			BASE_TRY(make_room_for_frames(domain, depth, error));
		uint32_t *stack = domain->stack;
		stack[depth++] = cache[slot].code;
		previous = slot;
		for (; predicted; predicted--) {
			previous = cache[previous].next;
			stack[depth++] = cache[previous].code;
		}
	}
	*good = true;
	*at = cursor;
	domain->depth = *truncated ? kept : depth;
	return HG_OK;
}
