/*
 * Growing paths that are one leak: values that a table and a list hold are below neither, so that
 * they, the cells of the list and those of the table grow each by itself.
 */
#ifndef QUERY_RETENTION_JOINING_H
#define QUERY_RETENTION_JOINING_H

#include "query/retention/series.h"

/*
 * Once it is known which rows grow: of each of them the one that stands for all which grow with it,
 * itself if it is alone, and of arrays the one that they became larger for; QUERY_NO_ROW of all
 * other rows.  'leaders' has room for all of them.
 *
 * A path is joined with another if blocks of it hold what the other has (sharing.h), and their
 * blocks become more in step.  What stands for them grew most of those that are no plain strings or
 * numbers.  Rows by other keys are never joined.
 */
enum hg_status query_join_growing(const struct hg_series *series, uint32_t *leaders);

#endif
