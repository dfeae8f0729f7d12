/*
 * What grew in a series: where the number of blocks grows in every step, and of all such paths
 * those whose parent does not grow so, as what hangs on growing blocks grows with them.  (Shark's
 * heap growth, square/leakcanary: docs/heap-growth.md, keeps what grows at each step of a repeated
 * scenario.)
 */
#ifndef QUERY_RETENTION_JUDGING_H
#define QUERY_RETENTION_JUDGING_H

#include "query/retention/series.h"

/* Of rows that are measured, and of totals: which grow, and the share that each has. */
enum hg_status query_judge_rows(struct hg_series *series);

#endif
