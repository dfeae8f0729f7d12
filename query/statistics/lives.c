/* Lives of blocks. */
#include "query/statistics/lives.h"

#include "base/search.h"

#include <stdlib.h>
#include <string.h>

void query_lives_release(struct query_lives *lives)
{
	query_pass_release(&lives->pass);
	base_arena_release(&lives->arena);
	*lives = (struct query_lives){0};
}

enum hg_status query_lives_begin(struct query_lives *lives)
{
	query_pass_release(&lives->pass);
	lives->tick = lives->last = lives->last_allocation = lives->unknown = 0;
	memset(lives->states, 0, memtrace_objects(lives->trace->reader));
	for (uint64_t i = 0; lives->times && i < lives->count; i++)
		lives->times[i] |= 1;
	return query_pass_begin(
		&lives->pass, lives->trace, lives->as_notebooks ? NULL : &lives->trace->filter);
}

enum hg_status query_lives_end(struct query_lives *lives, struct hg_trace_losses *losses)
{
	return query_pass_end(&lives->pass, lives->unknown, losses);
}

/* The event before which nothing of its time was given away in the order of the file. */
static uint64_t tick_of_life(struct query_lives *lives, uint64_t time)
{
	if (!lives->times)
		return lives->tick++;
	uint64_t at = BASE_FIRST_NUMBER_FROM(lives->times, lives->count, 2 * time + 1);
	if (at < lives->count) /* else the file has changed, which the end of the pass says */
		lives->times[at]--;
	return at;
}

/* Whether something of a life is in the event. */
static bool follow_life(struct query_lives *lives, struct query_life *life)
{
	const struct memtrace_event *event = &lives->event;
	uint8_t *state = &lives->states[event->object];
	if (event->kind == MEMTRACE_ALLOCATION) {
		life->met = event;
		life->begins = !lives->late || event->source != MEMTRACE_MINOR;
		*state = life->begins ? QUERY_LIFE_GOES_ON : QUERY_LIFE_HELD;
		return true;
	}
	if (!*state || *state >= QUERY_LIFE_ENDED) {
		lives->unknown++;
		return false;
	}
	bool was_held = *state == QUERY_LIFE_HELD, promoted = event->kind == MEMTRACE_PROMOTION;
	life->begins = promoted && was_held;
	life->ends = !promoted && !was_held;
	if (life->begins)
		*state = QUERY_LIFE_GOES_ON;
	else if (!promoted)
		*state = was_held ? QUERY_LIFE_MISSED : QUERY_LIFE_ENDED;
	return life->begins || life->ends;
}

bool query_lives_next(struct query_lives *lives, struct query_life *life)
{
	const uint64_t most = UINT64_C(1) << 62;
	while (query_pass_next(&lives->pass, &lives->event)) {
		const struct memtrace_event *event = &lives->event;
		uint64_t time = event->time < most ? event->time : most - 1;
		if (event->kind == MEMTRACE_ALLOCATION)
			lives->last_allocation = time;
		if (lives->as_notebooks)
			time = lives->last_allocation;
		*life = (struct query_life){.object = event->object, .time = time};
		bool is_life = follow_life(lives, life);
		bool is_tick = life->begins || (life->ends && lives->count_ends);
		if (time > lives->latest && (is_tick || !lives->as_notebooks))
			lives->latest = time;
		if (is_tick)
			life->tick = tick_of_life(lives, time);
		if (is_life)
			return true;
	}
	return false;
}

static int compare_life_times(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

static bool is_life_tick(const struct query_lives *lives, const struct query_life *life)
{
	return life->begins || (life->ends && lives->count_ends);
}

static enum hg_status sort_life_times(struct query_lives *lives)
{
	struct query_life life;
	void *memory;
	BASE_TRY(base_arena_alloc(&lives->arena, lives->count, sizeof(*lives->times), &memory,
		&lives->trace->session->error));
	uint64_t *times = memset(memory, 0xFF, lives->count * sizeof(*times));
	BASE_TRY(query_lives_begin(lives));
	while (query_lives_next(lives, &life))
		if (is_life_tick(lives, &life) && life.tick < lives->count)
			times[life.tick] = 2 * life.time + 1;
	BASE_TRY(lives->pass.status);
	qsort(times, lives->count, sizeof(*times), compare_life_times);
	lives->times = times;
	return HG_OK;
}

/* The latest time of all events, also of what does not count. */
static enum hg_status find_latest_event(struct query_lives *lives)
{
	struct memtrace_event event;
	struct query_pass all;
	BASE_TRY(query_pass_begin(&all, lives->trace, NULL));
	while (query_pass_next(&all, &event))
		if (event.time > lives->latest)
			lives->latest = event.time;
	return all.status;
}

enum hg_status query_lives_init(
	struct query_lives *lives, struct hg_trace *trace, bool count_ends, bool as_notebooks)
{
	struct hg_error *error = &trace->session->error;
	struct query_life life;
	void *states;
	*lives = (struct query_lives){
		.trace = trace,
		.count_ends = count_ends,
		.as_notebooks = as_notebooks,
		.late = as_notebooks || query_filter_without(&trace->filter, HG_TRACE_MINOR_HEAP),
	};
	BASE_TRY(base_arena_init(
		&lives->arena, &trace->session->budget, "objects of the trace", error));
	BASE_TRY(base_arena_zalloc(
		&lives->arena, memtrace_objects(trace->reader), 1, &states, error));
	lives->states = states;
	BASE_TRY(query_lives_begin(lives));
	while (query_lives_next(lives, &life))
		if (is_life_tick(lives, &life)) {
			lives->disorder |= life.time < lives->last;
			lives->last = life.time;
		}
	BASE_TRY(lives->pass.status);
	lives->count = lives->tick;
	if (trace->filter.set && !as_notebooks)
		BASE_TRY(find_latest_event(lives));
	return lives->disorder && !as_notebooks ? sort_life_times(lives) : HG_OK;
}
