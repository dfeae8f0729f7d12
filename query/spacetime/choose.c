/* Which snapshot of a series is meant. */
#include "query/spacetime/spacetime.h"

#include <string.h>

/* Of what cannot be read nothing is alive. */
static enum hg_status words_alive(
	struct hg_trace *trace, const struct spacetime_moment *moment, int64_t *words)
{
	struct spacetime_snapshot snapshot;
	enum hg_status status =
		spacetime_read_snapshot(&trace->series, moment, &snapshot, &trace->session->error);
	*words = status == HG_OK ? snapshot.annotated : -1;
	spacetime_snapshot_release(&snapshot);
	return query_spacetime_skip(
		trace, status, moment->offset, "a snapshot that cannot be read");
}

static enum hg_status find_peak(struct hg_trace *trace, uint64_t *found)
{
	const struct spacetime_series *series = &trace->series;
	int64_t most = -1, words;
	for (uint64_t i = 0; i < series->moment_count; i++) {
		if (series->moments[i].is_event)
			continue;
		BASE_TRY(words_alive(trace, &series->moments[i], &words));
		if (words > most || *found == series->moment_count) {
			most = words;
			*found = i;
		}
	}
	return HG_OK;
}

static enum hg_status find_after_event(struct hg_trace *trace, const char *name, uint64_t *found)
{
	const struct spacetime_series *series = &trace->series;
	bool seen = false;
	for (uint64_t i = 0; i < series->moment_count; i++) {
		const struct spacetime_moment *moment = &series->moments[i];
		if (!moment->is_event)
			*found = i;
		if (!moment->is_event && seen)
			return HG_OK;
		seen = seen || (moment->is_event && !strcmp(moment->name, name));
	}
	return seen ? HG_OK
		    : base_fail(&trace->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			      "no event '%s': 'trace info' lists them", name);
}

static enum hg_status find_number(struct hg_trace *trace, uint64_t number, uint64_t *found)
{
	const struct spacetime_series *series = &trace->series;
	for (uint64_t i = 0, snapshots = 0; i < series->moment_count; i++) {
		if (series->moments[i].is_event || snapshots++ != number)
			continue;
		*found = i;
		return HG_OK;
	}
	return base_fail(&trace->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
		"no snapshot %llu: there are %llu, numbered from 0", (unsigned long long)number,
		(unsigned long long)series->snapshot_count);
}

enum hg_status query_spacetime_choose(struct hg_trace *trace,
	const struct hg_spacetime_choice *choice, const struct spacetime_moment **moment,
	uint64_t *number)
{
	const struct spacetime_series *series = &trace->series;
	uint64_t found = series->moment_count;
	*moment = NULL;
	*number = 0;
	switch (choice->of) {
	case HG_SPACETIME_END:
	case HG_SPACETIME_LAST:
		for (uint64_t i = 0; i < series->moment_count; i++)
			found = series->moments[i].is_event ? found : i;
		break;
	case HG_SPACETIME_NUMBER:
		BASE_TRY(find_number(trace, choice->number, &found));
		break;
	case HG_SPACETIME_PEAK:
		BASE_TRY(find_peak(trace, &found));
		break;
	case HG_SPACETIME_AFTER_EVENT:
		BASE_TRY(find_after_event(trace, choice->event ? choice->event : "", &found));
		break;
	default:
		return base_fail(&trace->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no such choice of a snapshot");
	}
	if (found == series->moment_count)
		return HG_OK;
	*moment = &series->moments[found];
	for (uint64_t i = 0; i < found; i++)
		*number += !series->moments[i].is_event;
	return HG_OK;
}
