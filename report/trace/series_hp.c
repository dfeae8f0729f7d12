/*
 * Places of a series over its snapshots, as a heap profile for hp2ps (hp.c has the format): a
 * sample for each snapshot, and before it "MARK 1.363000" for each event.
 */
#include "report/trace/trace.h"

#include "report/common.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PROFILE_WORD_BYTES = 8 };

struct series_hp {
	const struct hg_spacetime_trend *trend;
	enum hg_spacetime_count count;
	FILE *stream;
	struct rep_ranked *ranked; /* rows, those with most over all snapshots first */
	bool *is_band;             /* by row: it stands for itself */
	/* What there is in each snapshot, of all rows in their order. */
	struct series_hp_amount {
		size_t row;
		uint64_t amount;
	} * amounts;
	size_t *ends;     /* of each snapshot among the amounts */
	uint64_t time_us; /* of the latest sample */
};

static uint64_t amount_in_hp(
	const struct series_hp *hp, uint64_t blocks, uint64_t words, uint64_t allocated)
{
	return hp->count == HG_SPACETIME_BLOCKS ? blocks
	       : hp->count == HG_SPACETIME_LIVE ? PROFILE_WORD_BYTES * words
						: PROFILE_WORD_BYTES * allocated;
}

static uint64_t amount_of_trend_point(
	const struct series_hp *hp, const struct hg_spacetime_trend_point *point)
{
	return amount_in_hp(hp, point->blocks, point->words, point->allocated);
}

/* Counted by snapshot first, so that each finds its own. */
static bool spread_amounts(struct series_hp *hp)
{
	const struct hg_spacetime_trend *trend = hp->trend;
	size_t all = 0;
	for (size_t i = 0; i < trend->count; i++) {
		all += trend->rows[i]->point_count;
		for (size_t j = 0; j < trend->rows[i]->point_count; j++)
			hp->ends[trend->rows[i]->points[j].snapshot + 1]++;
	}
	hp->amounts = calloc(all + 1, sizeof(*hp->amounts));
	if (!hp->amounts)
		return false;
	for (size_t i = 0; i < trend->moment_count; i++)
		hp->ends[i + 1] += hp->ends[i];
	for (size_t i = 0; i < trend->count; i++)
		for (size_t j = 0; j < trend->rows[i]->point_count; j++) {
			const struct hg_spacetime_trend_point *point = &trend->rows[i]->points[j];
			hp->amounts[hp->ends[point->snapshot]++] =
				(struct series_hp_amount){i, amount_of_trend_point(hp, point)};
			hp->ranked[i].amount += amount_of_trend_point(hp, point);
		}
	return true;
}

static bool choose_series_bands(struct series_hp *hp, uint64_t most)
{
	size_t count = hp->trend->count;
	hp->ranked = calloc(count + 1, sizeof(*hp->ranked));
	hp->is_band = calloc(count + 1, sizeof(*hp->is_band));
	hp->ends = calloc(hp->trend->moment_count + 2, sizeof(*hp->ends));
	if (!hp->ranked || !hp->is_band || !hp->ends || !spread_amounts(hp))
		return false;
	for (size_t i = 0; i < count; i++)
		hp->ranked[i].position = i;
	rep_rank(hp->ranked, count);
	for (size_t i = 0; i < count && (!most || i < most); i++)
		hp->is_band[hp->ranked[i].position] = true;
	return true;
}

/*
 * Microseconds.  Times may be of the program's own: those that are no times, or steps back behind
 * the latest sample, do not count.
 */
static uint64_t time_from(const struct series_hp *hp, double time)
{
	static const double microseconds = 1e6, latest = 1e12;
	uint64_t us = time > 0 && time < latest ? (uint64_t)(time * microseconds) : 0;
	return us > hp->time_us ? us : hp->time_us;
}

/* Between the samples in front of it and behind it, whatever its own time is. */
static void write_series_mark(struct series_hp *hp, const struct hg_spacetime_trend_event *event)
{
	uint64_t time = time_from(hp, event->time);
	if (event->snapshot < hp->trend->moment_count) {
		uint64_t next = time_from(hp, hp->trend->moments[event->snapshot]->time);
		time = time < next ? time : next;
	}
	rep_trace_hp_time(hp->stream, "MARK", time);
}

static void put_series_amount(struct series_hp *hp, const struct hg_spacetime_trend_row *row,
	const char *instead, uint64_t amount)
{
	if (!amount)
		return;
	fputs("  ", hp->stream);
	if (row && *row->location)
		rep_trace_hp_name(hp->stream, row->location);
	else
		fputs(row ? "(no_place_known)" : instead, hp->stream);
	fprintf(hp->stream, "%s %" PRIu64 "\n", row && row->in_c ? "_(in_C)" : "", amount);
}

static void write_series_sample(struct series_hp *hp, size_t snapshot)
{
	const struct hg_spacetime_trend_moment *moment = hp->trend->moments[snapshot];
	uint64_t time = time_from(hp, moment->time), others = 0;
	hp->time_us = time;
	rep_trace_hp_time(hp->stream, "BEGIN_SAMPLE", time);
	for (size_t i = snapshot ? hp->ends[snapshot - 1] : 0; i < hp->ends[snapshot]; i++) {
		const struct series_hp_amount *at = &hp->amounts[i];
		if (hp->is_band[at->row])
			put_series_amount(hp, hp->trend->rows[at->row], NULL, at->amount);
		else
			others += at->amount;
	}
	put_series_amount(hp, NULL, "(others)", others);
	if (hp->count == HG_SPACETIME_LIVE)
		put_series_amount(hp, NULL, "(unknown)", PROFILE_WORD_BYTES * moment->unknown);
	rep_trace_hp_time(hp->stream, "END_SAMPLE", time);
}

static void write_series_profile(struct series_hp *hp, const char *path)
{
	const struct hg_spacetime_trend *trend = hp->trend;
	size_t event = 0;
	rep_trace_hp_string(hp->stream, "JOB", rep_base_name(path));
	rep_trace_hp_string(hp->stream, "DATE", "---");
	rep_trace_hp_string(hp->stream, "SAMPLE_UNIT", "CPU seconds");
	rep_trace_hp_string(
		hp->stream, "VALUE_UNIT", hp->count == HG_SPACETIME_BLOCKS ? "blocks" : "bytes");
	rep_trace_hp_time(hp->stream, "BEGIN_SAMPLE", 0);
	rep_trace_hp_time(hp->stream, "END_SAMPLE", 0);
	for (size_t i = 0; i <= trend->moment_count && !ferror(hp->stream); i++) {
		for (; event < trend->event_count && trend->events[event]->snapshot == i; event++)
			write_series_mark(hp, trend->events[event]);
		if (i < trend->moment_count && trend->moments[i]->readable)
			write_series_sample(hp, i);
	}
}

enum hg_status rep_series_hp(struct rep_trace_context *context, enum hg_spacetime_count count,
	uint64_t most, FILE *stream)
{
	struct hg_spacetime_trend *trend;
	enum hg_status status = hg_list_spacetime_trend(context->trace, count, &trend);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	struct series_hp hp = {.trend = trend, .count = count, .stream = stream};
	if (choose_series_bands(&hp, most))
		write_series_profile(&hp, hg_trace_header(context->trace)->path);
	else
		status = base_no_memory(context->error, trend->count * sizeof(*hp.ranked));
	free(hp.ranked);
	free(hp.is_band);
	free(hp.amounts);
	free(hp.ends);
	rep_trace_note(context, &trend->losses);
	hg_spacetime_trend_release(&trend);
	return status;
}
