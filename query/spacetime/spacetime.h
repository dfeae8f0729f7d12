/*
 * Answers about series of Spacetime.  What can be read is: a value that cannot, or a node that is
 * damaged, is left out and noted in the losses, unless the trace was opened as strict.
 */
#ifndef QUERY_SPACETIME_SPACETIME_H
#define QUERY_SPACETIME_SPACETIME_H

#include "query/trace/trace.h"
#include "trace/spacetime/snapshot.h"
#include "trace/spacetime/walk.h"

/* HG_ERROR_USAGE unless there is a series and a place for the result, which is set to NULL. */
enum hg_status query_spacetime_begin(struct hg_trace *trace, void *out);

/* Notes what stands behind a failure to read a value at 'offset'; other failures than of input
 * pass. */
enum hg_status query_spacetime_skip(
	struct hg_trace *trace, enum hg_status status, uint64_t offset, const char *what);

/* At the end of an answer: that the file is as it was, and what was lost. */
enum hg_status query_spacetime_end(struct hg_trace *trace, struct hg_trace_losses *losses);

/* *moment is NULL where there is no snapshot at all; *number is its place among them. */
enum hg_status query_spacetime_choose(struct hg_trace *trace,
	const struct hg_spacetime_choice *choice, const struct spacetime_moment **moment,
	uint64_t *number);

/* HG_ERROR_INPUT if the series has no calls; HG_ERROR_USAGE if they are to be counted and were not.
 */
enum hg_status query_spacetime_need_calls(struct hg_trace *trace, bool counted);

/* What the walk over all tries left out. */
enum hg_status query_spacetime_note_walk(struct hg_trace *trace, const struct spacetime_walk *walk);

#endif
