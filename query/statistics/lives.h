/*
 * What counts of a trace, as lives of blocks: when each begins and ends, and the number of that
 * event in the order of time.
 *
 *     query_lives_init(&lives, trace, true, false);
 *     query_lives_begin(&lives);
 *     while (query_lives_next(&lives, &life))
 *             ...
 *     status = query_lives_end(&lives, &losses);
 *
 * and query_lives_release() whatever happened.  They may be begun again.
 *
 * Events of one domain stand in the file in the order of time, those of several do not.  So their
 * times are sorted first where that is so; events of one microsecond stay in the order of the file.
 */
#ifndef QUERY_STATISTICS_LIVES_H
#define QUERY_STATISTICS_LIVES_H

#include "query/trace/pass.h"

/* Of an object: 0 is not known, or does not count. */
enum query_life_state {
	QUERY_LIFE_HELD = 1, /* may begin */
	QUERY_LIFE_GOES_ON,
	QUERY_LIFE_ENDED,
	QUERY_LIFE_MISSED /* gone before it began */
};

struct query_life {
	const struct memtrace_event *met; /* the allocation, which may begin later; else NULL */
	bool begins, ends;
	uint64_t object;
	uint64_t time; /* below 2^62 */
	uint64_t tick; /* of what begins or ends; counted from 0 */
};

/* 1 byte an object, besides what a pass takes; 8 for each event that is not in the order of time.
 */
struct query_lives {
	struct hg_trace *trace;
	struct query_pass pass;
	struct base_arena arena;
	struct memtrace_event event;
	uint8_t *states;   /* of objects, enum query_life_state */
	bool count_ends;   /* ends are ticks too */
	bool as_notebooks; /* see hg_trace_statistics_options */
	bool late;         /* what is allocated in the minor heap begins when it is promoted */
	bool disorder;
	uint64_t count;  /* of ticks */
	uint64_t latest; /* time of the latest event; as notebooks, of what counts */
	uint64_t tick, last, last_allocation, unknown;
	uint64_t *times; /* of ticks, sorted: twice the time, + 1 until it is given away; or NULL */
};

/* Reads the trace: 'count' and 'latest' are right then. */
enum hg_status query_lives_init(
	struct query_lives *lives, struct hg_trace *trace, bool count_ends, bool as_notebooks);
void query_lives_release(struct query_lives *lives);

enum hg_status query_lives_begin(struct query_lives *lives);
bool query_lives_next(struct query_lives *lives, struct query_life *life);
enum hg_status query_lives_end(struct query_lives *lives, struct hg_trace_losses *losses);

#endif
