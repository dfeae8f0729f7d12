/*
 * The marks of a chart's axes, at round numbers: of bytes in units of 1024, as text writes them, of
 * time in units that people count in, of snapshots by their number.
 */
#ifndef REPORT_OUTPUTS_AXIS_H
#define REPORT_OUTPUTS_AXIS_H

#include <stddef.h>
#include <stdint.h>

enum { REP_MOST_TICKS = 16, REP_TICK_SIZE = 32 };

struct rep_axis {
	uint64_t end;     /* where the axis ends, at or behind the last mark */
	const char *unit; /* of time: "minutes"; else NULL */
	unsigned count;
	struct {
		uint64_t at;
		char label[REP_TICK_SIZE];
	} ticks[REP_MOST_TICKS];
};

/* From 0 to a mark that is 'most' or above, with the unit in each label: "1.5 MB". */
struct rep_axis rep_axis_of_bytes(uint64_t most);
/* The same of things, in units of 10: "1,500". */
struct rep_axis rep_axis_of_counts(uint64_t most);
/* From 0 to 'span', which is above 0. */
struct rep_axis rep_axis_of_time(uint64_t span_ns);
/* Of 'count' snapshots, numbered from 0 and all as far apart: 0 to count - 1. */
struct rep_axis rep_axis_of_numbers(size_t count);

#endif
