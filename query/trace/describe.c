/* What a trace is, and its totals: one pass over all events. */
#include "query/trace/trace.h"

#include "query/trace/alive.h"
#include "query/trace/pass.h"

struct description {
	struct hg_trace_info *info;
	struct query_alive alive;
	uint8_t *in_major; /* of each object: 1 if it is in the major heap, or outside */
};

static void describe_allocation(struct description *d, const struct memtrace_event *event)
{
	struct hg_trace_info *info = d->info;
	info->allocations++;
	info->samples += event->samples;
	info->minor_allocations += event->source == MEMTRACE_MINOR;
	info->major_allocations += event->source == MEMTRACE_MAJOR;
	info->external_allocations += event->source == MEMTRACE_EXTERNAL;
	info->minor_samples += event->source == MEMTRACE_MINOR ? event->samples : 0;
	info->samples_to_4 += event->length <= 4 ? event->samples : 0;
	info->samples_to_16 += event->length <= 16 ? event->samples : 0;
	info->samples_to_256 += event->length <= 256 ? event->samples : 0;
	info->frames += event->depth;
	info->truncated_backtraces += event->truncated;
	if (info->longest < event->length)
		info->longest = event->length;
	if (info->deepest < event->depth)
		info->deepest = event->depth;
	d->in_major[event->object] = event->source != MEMTRACE_MINOR;
}

static enum hg_status describe_event(
	struct description *d, const struct memtrace_event *event, struct hg_error *error)
{
	struct hg_trace_info *info = d->info;
	info->end_us = event->time;
	if (event->kind == MEMTRACE_ALLOCATION) {
		describe_allocation(d, event);
	} else if (event->kind == MEMTRACE_PROMOTION) {
		info->promotions++;
		d->in_major[event->object] = 1;
	} else {
		info->collections++;
		if (d->in_major[event->object] && d->alive.states[event->object] & QUERY_IS_ALIVE)
			info->major_collected_samples +=
				query_alive_samples(&d->alive, event->object);
	}
	return query_alive_add(&d->alive, event, 0, error);
}

static enum hg_status describe_events(struct hg_trace *trace, struct description *d)
{
	struct query_pass pass;
	const struct memtrace_batch *batch;
	void *in_major;
	BASE_TRY(base_arena_zalloc(
		&d->alive.arena, d->alive.object_count, 1, &in_major, &trace->session->error));
	d->in_major = in_major;
	enum hg_status status = query_pass_begin(&pass, trace, NULL);
	while (status == HG_OK && query_pass_next_batch(&pass, &batch)) {
		if (batch->domain_index >= d->info->domains)
			d->info->domains = batch->domain_index + UINT64_C(1);
		for (uint32_t i = 0; i < batch->count && status == HG_OK; i++)
			status = describe_event(d, &batch->events[i], &trace->session->error);
	}
	if (status == HG_OK)
		status = query_pass_end(&pass, d->alive.unknown, &d->info->losses);
	query_pass_release(&pass);
	return status;
}

enum hg_status hg_describe_trace(struct hg_trace *trace, const struct hg_trace_info **out)
{
	BASE_TRY(query_trace_begin(trace, (void *)out));
	struct description d = {.info = &trace->info};
	if (!trace->described) {
		trace->info = trace->header;
		enum hg_status status = query_alive_init(&d.alive, trace, NULL, false);
		if (status == HG_OK)
			status = describe_events(trace, &d);
		trace->info.peak_samples = d.alive.totals.peak;
		trace->info.peak_us = d.alive.peak_time;
		trace->info.promoted_samples = d.alive.totals.promoted;
		trace->info.live_samples = d.alive.totals.live;
		query_alive_release(&d.alive);
		BASE_TRY(status);
		trace->described = true;
	}
	*out = &trace->info;
	return HG_OK;
}
