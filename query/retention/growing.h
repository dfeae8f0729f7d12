/*
 * What grew in a series: where the number of blocks grows in every step, and of all such paths
 * those whose parent does not grow so, as what hangs on growing blocks grows with them.  (Shark's
 * heap growth, square/leakcanary: docs/heap-growth.md, keeps what grows at each step of a repeated
 * scenario.)
 */
#ifndef QUERY_RETENTION_GROWING_H
#define QUERY_RETENTION_GROWING_H

#include "query/retention/series.h"

/* Of all that was added: sorts the snapshots, finds what grew, and orders the rows. */
enum hg_status query_series_judge(struct hg_series *series);

/* What a row is in each snapshot, in their order, once judged. */
void query_series_read(const struct hg_series *series, uint32_t row, struct hg_measure *points);

#endif
