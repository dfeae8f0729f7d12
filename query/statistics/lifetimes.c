/* How long blocks live: histograms and moments, in microseconds and in ticks. */
#include "query/trace/trace.h"

#include "query/statistics/distribution.h"
#include "query/statistics/lives.h"

#include "query/shared/result.h"

#include <stdlib.h>

/*
 * The lifetimes of all objects are found first, so that ranges are known when the trace is read
 * once more for what they count for.  16 bytes an object.
 */
struct lifetimes {
	struct hg_trace *trace;
	struct hg_error *error;
	struct query_lives lives;
	bool as_notebooks;
	struct base_arena arena;
	struct lifetime {
		int64_t us;     /* when it began, until it ends */
		uint64_t ticks; /* the same */
	} * objects;
	uint64_t object_count;
	struct lifetime_unit {
		struct query_moments moments;
		int64_t least, most;
	} us, ticks;
	struct query_weight all;
	uint64_t alive;
};

static bool has_lifetime(const struct lifetimes *l, uint64_t object)
{
	uint8_t state = l->lives.states[object];
	return state == QUERY_LIFE_GOES_ON || state == QUERY_LIFE_ENDED;
}

/* Nothing ends before it begins, but as notebooks that may be. */
static void end_lifetime(
	const struct lifetimes *l, struct lifetime *object, uint64_t time, uint64_t tick)
{
	object->us = (int64_t)time - object->us;
	if (object->us < 0 && !l->as_notebooks)
		object->us = 0;
	object->ticks = tick > object->ticks ? tick - object->ticks : 0;
}

static enum hg_status follow_lifetimes(struct lifetimes *l, struct hg_trace_losses *losses)
{
	struct query_life life;
	BASE_TRY(query_lives_begin(&l->lives));
	while (query_lives_next(&l->lives, &life)) {
		struct lifetime *object = &l->objects[life.object];
		if (life.begins)
			*object = (struct lifetime){(int64_t)life.time, life.tick};
		else if (life.ends)
			end_lifetime(l, object, life.time, life.tick);
	}
	return query_lives_end(&l->lives, losses);
}

static void measure_lifetime(
	struct lifetime_unit *unit, int64_t value, const struct query_weight *one)
{
	if (!unit->moments.weight.events) {
		unit->least = unit->most = value;
		unit->moments.shift = 0;
	}
	unit->least = value < unit->least ? value : unit->least;
	unit->most = value > unit->most ? value : unit->most;
	query_moments_add(&unit->moments, value, one);
}

static void shift_lifetimes(struct lifetime_unit *unit)
{
	const struct query_moments *m = &unit->moments;
	long double mean =
		m->weight.events ? m->by[HG_TRACE_WEIGH_EVENTS].sum / m->weight.events : 0;
	unit->moments = (struct query_moments){.shift = mean};
}

/* What goes on ends with the trace; ranges and means of all are known then. */
static void end_lifetimes(struct lifetimes *l)
{
	const struct query_weight one = {.events = 1};
	for (uint64_t i = 0; i < l->object_count; i++) {
		struct lifetime *object = &l->objects[i];
		if (!has_lifetime(l, i))
			continue;
		if (l->lives.states[i] == QUERY_LIFE_GOES_ON)
			end_lifetime(l, object, l->lives.latest, l->lives.count);
		measure_lifetime(&l->us, object->us, &one);
		measure_lifetime(&l->ticks, (int64_t)object->ticks, &one);
	}
	shift_lifetimes(&l->us);
	shift_lifetimes(&l->ticks);
}

enum { LIFETIME_POWERS, LIFETIME_TICKS, LIFETIME_US, LIFETIME_HISTOGRAMS };

static void add_lifetime(
	struct lifetimes *l, const struct memtrace_event *event, struct query_histogram *histograms)
{
	const struct lifetime *object = &l->objects[event->object];
	if (event->kind != MEMTRACE_ALLOCATION || !has_lifetime(l, event->object))
		return;
	const struct query_weight weight =
		query_weight_of(event->samples, event->length, event->source == MEMTRACE_EXTERNAL);
	uint64_t alive = l->lives.states[event->object] == QUERY_LIFE_GOES_ON;
	query_add_weight(&l->all, &weight);
	l->alive += alive;
	query_moments_add(&l->us.moments, object->us, &weight);
	query_moments_add(&l->ticks.moments, (int64_t)object->ticks, &weight);
	query_histogram_add(&histograms[LIFETIME_POWERS], object->us, &weight, alive);
	query_histogram_add(&histograms[LIFETIME_US], object->us, &weight, alive);
	query_histogram_add(&histograms[LIFETIME_TICKS], (int64_t)object->ticks, &weight, alive);
}

static enum hg_status weigh_lifetimes(struct lifetimes *l, struct query_histogram *histograms)
{
	struct memtrace_event event;
	struct query_pass pass;
	size_t first = l->as_notebooks ? LIFETIME_TICKS : LIFETIME_POWERS;
	for (size_t i = first; i < LIFETIME_HISTOGRAMS; i++)
		BASE_TRY(query_histogram_init(&histograms[i], l->error));
	BASE_TRY(query_pass_begin(&pass, l->trace, NULL));
	while (query_pass_next(&pass, &event))
		add_lifetime(l, &event, histograms);
	return pass.status;
}

static enum hg_status make_lifetime_parts(struct lifetimes *l, struct hg_trace_distribution *out)
{
	double rate = l->trace->header.rate;
	struct hg_trace_part *parts = calloc(2, sizeof(*parts));
	if (!parts)
		return base_no_memory(l->error, 2 * sizeof(*parts));
	parts[0].name = "microseconds";
	parts[1].name = "ticks";
	query_moments_end(&l->us.moments, rate, &parts[0]);
	query_moments_end(&l->ticks.moments, rate, &parts[1]);
	out->counts = query_counts_of(&l->all, rate);
	out->ticks = l->lives.count;
	out->alive = l->alive;
	out->end_us = l->lives.latest;
	out->part_count = 2;
	return query_keep_rows_of(l->error, out, parts, 2, sizeof(*parts), &out->parts);
}

static enum hg_status make_lifetime_histograms(
	struct lifetimes *l, struct hg_trace_distribution *out)
{
	bool is_any = l->lives.count > 0;
	struct query_histogram histograms[LIFETIME_HISTOGRAMS] = {
		[LIFETIME_POWERS] = {.name = "powers", .high = l->us.most, .powers = is_any},
		[LIFETIME_TICKS] = {.name = "ticks", .high = 32, .count = 32},
		[LIFETIME_US] = {.name = "microseconds",
			.low = l->us.least,
			.high = l->us.most,
			.count = is_any ? 100 : 0,
			.of_range = is_any},
	};
	size_t first = l->as_notebooks ? LIFETIME_TICKS : LIFETIME_POWERS;
	for (size_t i = 0; i < LIFETIME_HISTOGRAMS; i++)
		histograms[i].as_notebooks = l->as_notebooks;
	enum hg_status status = weigh_lifetimes(l, histograms);
	if (status == HG_OK)
		status = make_lifetime_parts(l, out);
	if (status == HG_OK)
		status = query_keep_histograms(out, histograms + first, LIFETIME_HISTOGRAMS - first,
			l->trace->header.rate, l->error);
	for (size_t i = 0; i < LIFETIME_HISTOGRAMS; i++)
		free(histograms[i].bins);
	return status;
}

static enum hg_status fill_lifetimes(struct lifetimes *l, struct hg_trace_distribution *out)
{
	struct hg_trace *trace = l->trace;
	void *objects;
	BASE_TRY(query_lives_init(&l->lives, trace, true, l->as_notebooks));
	BASE_TRY(base_arena_init(
		&l->arena, &trace->session->budget, "lifetimes of the trace", l->error));
	l->object_count = memtrace_objects(trace->reader);
	BASE_TRY(base_arena_zalloc(
		&l->arena, l->object_count, sizeof(*l->objects), &objects, l->error));
	l->objects = objects;
	BASE_TRY(follow_lifetimes(l, &out->losses));
	end_lifetimes(l);
	return make_lifetime_histograms(l, out);
}

enum hg_status hg_list_trace_lifetimes(struct hg_trace *trace,
	const struct hg_trace_statistics_options *options, struct hg_trace_distribution **out)
{
	struct lifetimes l = {.trace = trace};
	BASE_TRY(query_distribution_begin(trace, options, out, &l.as_notebooks));
	l.error = &trace->session->error;
	enum hg_status status = fill_lifetimes(&l, *out);
	query_lives_release(&l.lives);
	base_arena_release(&l.arena);
	if (status != HG_OK)
		hg_trace_distribution_release(out);
	return status;
}
