/* What standard error says of a profile over time: what was lost, and what a snapshot has of it. */
#ifndef CLI_LOSSES_H
#define CLI_LOSSES_H

#include "cli/run.h"

/* Something was: "FILE: PARTIAL: ...". */
void cli_say_losses(const char *path, const struct hg_trace_losses *losses);

/*
 * Of the trace beside the snapshot that is open, if there is one: whether it is all there, which
 * counts for the exit code, and whether it has all blocks, unless the report tells that.
 */
void cli_say_join(struct cli_run *run);

#endif
