/* Options that say which allocations of a trace count. */
#include "cli/trace/trace.h"

#include <stdlib.h>
#include <string.h>

static const char *const heap_names[] = {"minor", "major", "external", NULL};

static const char *heap_name(unsigned index)
{
	return heap_names[index];
}

#define OPTION_OF(name, kind, member, argument, choice, help)                                      \
	{                                                                                          \
		name, 0, kind, offsetof(struct cli_values, member), argument, choice, help         \
	}
#define RANGE "RANGE"

const struct cli_option cli_trace_filter_options[] = {
	OPTION_OF("at", CLI_STRING, at, "TIME|peak|end", NULL,
		"count only what is alive at this time since the start, like 1.5s, 20ms or 300us; "
		"when most was alive; or at the end.  All such options must hold"),
	OPTION_OF("alive", CLI_STRING, alive, RANGE, NULL,
		"count only what is alive at some time between, like 1s..2.5s, 1s.. or ..2s; both "
		"ends included"),
	OPTION_OF("allocated", CLI_STRING, allocated, RANGE, NULL,
		"count only what is allocated then"),
	OPTION_OF("collected", CLI_STRING, collected, RANGE, NULL,
		"count only what is collected then; what is alive at the end, at the end"),
	OPTION_OF("lifetime", CLI_STRING, lifetime, RANGE, NULL,
		"count only what lives so long; what is alive at the end, up to the end"),
	OPTION_OF("block-size", CLI_STRING, block_size, RANGE, NULL,
		"count only blocks of so many bytes without header, like 1K..64K"),
	OPTION_OF("inside", CLI_FILES, inside, "FUNCTION", NULL,
		"count only what is allocated inside a call to this function; may be repeated"),
	OPTION_OF("inside-containing", CLI_FILES, inside_containing, "TEXT", NULL,
		"the same of functions with this text in their name"),
	OPTION_OF("not-inside", CLI_FILES, not_inside, "FUNCTION", NULL,
		"leave out what is allocated inside a call to this function; may be repeated"),
	OPTION_OF("not-inside-containing", CLI_FILES, not_inside_containing, "TEXT", NULL,
		"the same of functions with this text in their name"),
	OPTION_OF("hide", CLI_FILES, hide, "FUNCTION", NULL,
		"leave this function out of call stacks, but not what it allocates; may be "
		"repeated"),
	OPTION_OF("hide-containing", CLI_FILES, hide_containing, "TEXT", NULL,
		"the same of functions with this text in their name"),
	OPTION_OF("on", CLI_CHOICE, on, "HEAP", heap_name,
		"count only what is on the minor, major or external heap: without the minor one "
		"blocks come when they are promoted, without the major one they are gone then"),
	OPTION_OF("not-on", CLI_FILES, not_on, "HEAP", NULL, "leave a heap out; may be repeated"),
	{0},
};

/* Digits, perhaps with decimals, and a unit, from *text on; microseconds. */
static bool read_trace_time(const char *text, uint64_t *time)
{
	static const struct {
		const char *name;
		double microseconds;
	} units[] = {{"", 1e6}, {"s", 1e6}, {"ms", 1e3}, {"us", 1}, {"m", 60e6}, {"h", 3600e6}};
	size_t digits = strspn(text, "0123456789."), i = 0;
	char number[32], *end;
	if (!digits || digits >= sizeof(number))
		return false;
	memcpy(number, text, digits);
	number[digits] = '\0';
	double value = strtod(number, &end);
	while (i < sizeof(units) / sizeof(*units) && strcmp(text + digits, units[i].name) != 0)
		i++;
	if (*end || i == sizeof(units) / sizeof(*units) || value * units[i].microseconds > 9e15)
		return false;
	*time = (uint64_t)(value * units[i].microseconds + 0.5);
	return true;
}

typedef bool read_bound_fn(const char *text, uint64_t *value);

/* "FROM..TO", of which one may be missing. */
static bool read_trace_range(const char *text, read_bound_fn *read, struct hg_trace_range *range)
{
	const char *dots = strstr(text, "..");
	char from[32];
	if (!dots || (size_t)(dots - text) >= sizeof(from) || !strcmp(text, ".."))
		return false;
	memcpy(from, text, (size_t)(dots - text));
	from[dots - text] = '\0';
	return (!*from || read(from, &range->from)) && (!dots[2] || read(dots + 2, &range->to)) &&
	       range->from <= range->to;
}

static enum hg_status refuse_filter(
	struct cli_run *run, const char *option, const char *value, const char *wanted)
{
	return base_fail(&run->error, HG_ERROR_USAGE, HG_NO_OFFSET, "--%s: '%s' is not %s", option,
		value, wanted);
}

static enum hg_status fill_filter_ranges(struct cli_run *run, struct hg_trace_filter *filter)
{
	static const char times[] = "a range of times like 1s..2.5s, 20ms.. or ..300us";
	const struct cli_values *v = &run->values;
	const struct {
		const char *option, *value, *wanted;
		read_bound_fn *read;
		struct hg_trace_range *range;
	} ranges[] = {{"alive", v->alive, times, read_trace_time, &filter->alive},
		{"allocated", v->allocated, times, read_trace_time, &filter->allocated},
		{"collected", v->collected, times, read_trace_time, &filter->collected},
		{"lifetime", v->lifetime, times, read_trace_time, &filter->lifetime},
		{"block-size", v->block_size, "a range of sizes like 1K..64K, 100.. or ..1M",
			cli_read_size, &filter->block_bytes}};
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (ranges[i].value &&
			!read_trace_range(ranges[i].value, ranges[i].read, ranges[i].range))
			return refuse_filter(
				run, ranges[i].option, ranges[i].value, ranges[i].wanted);
	return HG_OK;
}

enum hg_status cli_read_trace_moment(
	struct cli_run *run, const char *at, struct rep_trace_moment *moment)
{
	*moment = (struct rep_trace_moment){.of = HG_TRACE_AT_END};
	if (!at || !strcmp(at, "end"))
		return HG_OK;
	moment->of = strcmp(at, "peak") ? HG_TRACE_AT_TIME : HG_TRACE_AT_PEAK;
	if (moment->of == HG_TRACE_AT_TIME && !read_trace_time(at, &moment->time_us))
		return refuse_filter(run, "at", at, "a time like 1.5s, 20ms or 300us, peak or end");
	return HG_OK;
}

/* --at is one more time at which what counts is alive. */
static enum hg_status fill_filter_moment(struct cli_run *run, struct hg_trace_filter *filter)
{
	struct rep_trace_moment moment;
	BASE_TRY(cli_read_trace_moment(run, run->values.at, &moment));
	if (!run->values.at)
		return HG_OK;
	filter->alive_at_peak = moment.of == HG_TRACE_AT_PEAK;
	filter->alive_at_end = moment.of == HG_TRACE_AT_END;
	if (moment.of != HG_TRACE_AT_TIME)
		return HG_OK;
	if (run->values.alive)
		return base_fail(&run->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"--at with a time and --alive exclude each other");
	filter->alive = (struct hg_trace_range){moment.time_us, moment.time_us};
	return HG_OK;
}

static enum hg_status fill_filter_heaps(struct cli_run *run, struct hg_trace_filter *filter)
{
	const struct cli_values *v = &run->values;
	if (v->on != CLI_UNSET)
		filter->without = 7u & ~(1u << v->on);
	for (unsigned i = 0; i < v->not_on.count; i++) {
		unsigned heap = 0;
		while (heap_names[heap] && strcmp(v->not_on.names[i], heap_names[heap]) != 0)
			heap++;
		if (!heap_names[heap])
			return refuse_filter(
				run, "not-on", v->not_on.names[i], "minor, major or external");
		filter->without |= 1u << heap;
	}
	return HG_OK;
}

static void fill_filter_functions(const struct cli_values *v, struct hg_trace_filter *filter,
	struct hg_trace_function_filter *functions)
{
	const struct {
		const struct cli_files *names;
		enum hg_trace_clause clause;
		bool contains;
	} lists[] = {{&v->inside, HG_TRACE_INSIDE, false},
		{&v->inside_containing, HG_TRACE_INSIDE, true},
		{&v->not_inside, HG_TRACE_NOT_INSIDE, false},
		{&v->not_inside_containing, HG_TRACE_NOT_INSIDE, true},
		{&v->hide, HG_TRACE_HIDE, false}, {&v->hide_containing, HG_TRACE_HIDE, true}};
	filter->functions = functions;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		for (unsigned j = 0; j < lists[i].names->count; j++)
			functions[filter->function_count++] = (struct hg_trace_function_filter){
				lists[i].clause, lists[i].contains, lists[i].names->names[j]};
}

/* Nothing of all this is given by default; --at of a series chooses a snapshot. */
static bool is_filtered(const struct cli_values *v, bool is_series)
{
	return (v->at && !is_series) || v->alive || v->allocated || v->collected || v->lifetime ||
	       v->block_size || v->inside.count || v->inside_containing.count ||
	       v->not_inside.count || v->not_inside_containing.count || v->hide.count ||
	       v->hide_containing.count || v->on != CLI_UNSET || v->not_on.count;
}

enum hg_status cli_filter_trace(struct cli_run *run, struct rep_trace_context *context)
{
	enum { MOST_FUNCTIONS = 6 * CLI_MOST_FILES };
	struct hg_trace_function_filter functions[MOST_FUNCTIONS];
	struct hg_trace_filter filter;
	bool is_series = hg_trace_header(context->trace)->format == HG_TRACE_SPACETIME;
	if (!is_filtered(&run->values, is_series))
		return HG_OK;
	hg_trace_filter_init(&filter);
	BASE_TRY(fill_filter_ranges(run, &filter));
	BASE_TRY(fill_filter_moment(run, &filter));
	BASE_TRY(fill_filter_heaps(run, &filter));
	fill_filter_functions(&run->values, &filter, functions);
	context->filtered = true;
	enum hg_status status = hg_trace_set_filter(context->trace, &filter);
	return status == HG_OK ? HG_OK : cli_library_failed(run, status);
}
