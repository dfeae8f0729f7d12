/*
 * One pass over the events of a trace that count:
 *
 *     query_pass_begin(&pass, trace, &trace->filter);
 *     while (query_pass_next(&pass, &event))
 *             ...
 *     status = query_pass_end(&pass, unknown, &losses);
 *
 * and query_pass_release() whatever happened.  Where the filter asks what becomes of objects, all
 * events are read once before.
 */
#ifndef QUERY_TRACE_PASS_H
#define QUERY_TRACE_PASS_H

#include "query/trace/trace.h"

/* 1 byte an object; 16 more where fates count; 8 a code, and a frame of the deepest stacks. */
struct query_pass {
	struct hg_trace *trace;
	const struct query_filter *filter; /* NULL: all events count */
	uint64_t events;
	enum hg_status status;
	struct base_arena arena;
	uint8_t *states;          /* of objects: what has happened to them */
	struct query_fate *fates; /* NULL if nobody asks */
	struct query_trace_times times;
	uint64_t object_count, unknown;
	struct memtrace_batch selected; /* of events that the filter lets through */

	/* clauses of functions that fit: of each code, and along the last stack of each domain */
	struct query_code_fits {
		uint64_t clauses;
		bool known;
	} * codes;
	uint64_t code_count, code_capacity;
	struct query_pass_domain {
		uint64_t *clauses; /* of the first frames; none at 0 */
		uint64_t capacity;
		uint64_t kept; /* frames that are those of the last event that was selected */
	} * domains;
	uint64_t domain_count, domain_capacity;
};

/* 'filter' may be NULL. */
enum hg_status query_pass_begin(
	struct query_pass *pass, struct hg_trace *trace, const struct query_filter *filter);
void query_pass_release(struct query_pass *pass);

/* Whether an event counts; it may be made another one where some heaps do not count. */
bool query_pass_selects(struct query_pass *pass, struct memtrace_event *event);
/* Tells how far the pass is; false if it is to end. */
bool query_pass_goes_on(struct query_pass *pass);

enum { QUERY_EVENTS_AT_ONCE = 1 << 18 };

static inline bool query_pass_next(struct query_pass *pass, struct memtrace_event *event)
{
	while (pass->status == HG_OK && memtrace_next(pass->trace->reader, event)) {
		if (++pass->events % QUERY_EVENTS_AT_ONCE == 0 && !query_pass_goes_on(pass))
			return false;
		if (!pass->filter || query_pass_selects(pass, event))
			return true;
	}
	return false;
}

/* The same, many at once, for those who do not ask for whole stacks. */
bool query_pass_next_batch(struct query_pass *pass, const struct memtrace_batch **batch);

/* 'unknown' are events of objects that were not there, besides those that the filter met. */
enum hg_status query_pass_end(
	struct query_pass *pass, uint64_t unknown, struct hg_trace_losses *losses);

/* Whether the innermost location of a code is hidden by the trace's filter. */
bool query_hides_code(const struct hg_trace *trace, uint32_t number);

#endif
