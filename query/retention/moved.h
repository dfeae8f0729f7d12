/*
 * What frames hold for a moment of what else a lasting path holds.  While a table is made larger
 * the cells that are not moved yet hang below the frame that moves them, and a queue that is worked
 * off below the one that goes over it: a snapshot then has less of the path, which grows all the
 * same.
 */
#ifndef QUERY_RETENTION_MOVED_H
#define QUERY_RETENTION_MOVED_H

#include "query/retention/series.h"

/*
 * Once rows are measured: a path below lasting roots whose blocks grow at every step only if those
 * of their kind below passing ones are counted with them counts as growing at every step, and
 * 'moved' of its row is what these grew by.
 *
 * Of its kind are blocks of the same size and the same type, or of no known one: below a frame
 * types are seldom known.  The sum must grow at every step: had they not been moved but made
 * besides, as a copy or for another purpose, the snapshot would have more than the next one has.
 * What grows at every step below a frame itself is not there for a moment, and is counted with
 * nothing else.
 */
enum hg_status query_find_moved(struct hg_series *series);

#endif
