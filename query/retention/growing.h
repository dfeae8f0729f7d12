/* Of all that was added to a series: its order, its totals, and the order of its rows. */
#ifndef QUERY_RETENTION_GROWING_H
#define QUERY_RETENTION_GROWING_H

#include "query/retention/series.h"

/* Of all that was added: sorts the snapshots, finds what grew, and orders the rows. */
enum hg_status query_series_judge(struct hg_series *series);

#endif
