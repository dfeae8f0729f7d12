/* Round numbers for the axes of charts. */
#include "report/outputs/axis.h"

#include "report/writers/spelling.h"

enum { BYTES_STEPS = 7, TIME_STEPS = 10, NUMBER_STEPS = 12, TENTHS = 10 };

__extension__ typedef unsigned __int128 wide;

/* 1, 2, 5, 10, 20, 50, ...: the next of these. */
static uint64_t next_round(uint64_t step)
{
	uint64_t power = 1;
	while (power <= step / 10)
		power *= 10;
	return step / power == 2 ? step / 2 * 5 : step * 2;
}

static void add_tick(struct rep_axis *axis, uint64_t at, const struct rep_text *label)
{
	if (axis->count == REP_MOST_TICKS)
		return;
	struct rep_text kept = rep_text_over(axis->ticks[axis->count].label, REP_TICK_SIZE);
	rep_text_put(&kept, rep_text_string(label));
	axis->ticks[axis->count++].at = at;
}

/* A number of tenths of a unit: "1.5 MB", where the step has no tenths "2 MB"; of nothing "0". */
static void label_bytes(struct rep_text *text, uint64_t tenths, uint64_t step, unsigned unit)
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
	rep_text_clear(text);
	rep_text_count(text, tenths / TENTHS);
	if (tenths == 0)
		return;
	if (step < TENTHS)
		rep_text_printf(text, ".%u", (unsigned)(tenths % TENTHS));
	rep_text_printf(text, " %s", units[unit]);
}

struct rep_axis rep_axis_of_bytes(uint64_t most)
{
	char buffer[REP_TICK_SIZE];
	struct rep_text label = rep_text_over(buffer, sizeof(buffer));
	struct rep_axis axis = {0};
	unsigned unit = 0;
	while (unit < 6 && most >> (10 * (unit + 1)))
		unit++;
	wide scale = (wide)1 << (10 * unit), tenths = (wide)most * TENTHS;
	/* There are no tenths of a byte. */
	uint64_t step = unit ? 1 : TENTHS, steps = 1;
	while (step * BYTES_STEPS * scale < tenths)
		step = next_round(step);
	while (steps * step * scale < tenths)
		steps++;
	for (uint64_t i = 0; i <= steps; i++) {
		wide at = i * step * scale / TENTHS;
		axis.end = at > UINT64_MAX ? UINT64_MAX : (uint64_t)at;
		label_bytes(&label, i * step, step, unit);
		add_tick(&axis, axis.end, &label);
	}
	return axis;
}

static const struct time_unit {
	uint64_t ns;
	const char *name;
	unsigned steps[8]; /* that are round besides 1, 2, 5, ...; 0: the end */
} time_units[] = {
	{UINT64_C(86400000000000), "days", {0}},
	{UINT64_C(3600000000000), "hours", {1, 2, 3, 6, 12, 24, 0}},
	{UINT64_C(60000000000), "minutes", {1, 2, 5, 10, 15, 30, 60, 0}},
	{UINT64_C(1000000000), "seconds", {1, 2, 5, 10, 15, 30, 60, 0}},
	{UINT64_C(1000000), "milliseconds", {0}},
	{UINT64_C(1000), "microseconds", {0}},
	{1, "nanoseconds", {0}},
};

static uint64_t step_of_time(const struct time_unit *unit, uint64_t units)
{
	uint64_t step = 1;
	for (unsigned i = 0; unit->steps[i]; i++)
		if (units / unit->steps[i] <= TIME_STEPS)
			return unit->steps[i];
	while (units / step > TIME_STEPS)
		step = next_round(step);
	return step;
}

static void add_number_ticks(struct rep_axis *axis, uint64_t last, uint64_t step, uint64_t scale)
{
	char buffer[REP_TICK_SIZE];
	struct rep_text label = rep_text_over(buffer, sizeof(buffer));
	for (uint64_t i = 0; i <= last / step; i++) {
		rep_text_clear(&label);
		rep_text_count(&label, i * step);
		add_tick(axis, i * step * scale, &label);
	}
}

struct rep_axis rep_axis_of_time(uint64_t span_ns)
{
	/* Two of a unit, so that there are three marks at least. */
	const struct time_unit *unit = time_units;
	while (unit->ns > 1 && span_ns / unit->ns < 2)
		unit++;
	struct rep_axis axis = {.end = span_ns, .unit = unit->name};
	uint64_t units = span_ns / unit->ns;
	add_number_ticks(&axis, units, step_of_time(unit, units), unit->ns);
	return axis;
}

struct rep_axis rep_axis_of_counts(uint64_t most)
{
	uint64_t step = 1, least = most / BYTES_STEPS + (most % BYTES_STEPS != 0);
	struct rep_axis axis = {.end = most};
	while (step < least)
		step = next_round(step);
	if (most % step)
		axis.end = most - most % step + step;
	if (axis.end < most)
		axis.end = UINT64_MAX;
	add_number_ticks(&axis, axis.end, step, 1);
	return axis;
}

struct rep_axis rep_axis_of_numbers(size_t count)
{
	struct rep_axis axis = {.end = count ? count - 1 : 0};
	uint64_t step = 1;
	while (axis.end / step > NUMBER_STEPS)
		step = next_round(step);
	add_number_ticks(&axis, axis.end, step, 1);
	return axis;
}
