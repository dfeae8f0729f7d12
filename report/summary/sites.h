/*
 * What a trace beside the snapshot tells: how much of it there is, as values, and the table of the
 * places where sampled blocks were made.  Nothing without a trace.
 */
#ifndef REPORT_SUMMARY_SITES_H
#define REPORT_SUMMARY_SITES_H

#include "report/summary/summary.h"

void rep_summary_join_values(struct rep_emitter *emitter, const struct summary *summary);
void rep_summary_join(struct rep_context *context, const struct summary *summary);

#endif
