/*
 * Work that other people's libraries do, in a process of its own: Graphviz and what it draws with
 * end the process that they are in, by a signal or exit(), when memory runs out, and some pictures
 * are too much for them.
 *
 * The process is forked, and starts no program: it has what its parent read.  Its standard streams
 * lead nowhere, and it dies with its parent.  No other thread may run when it is made, as locks
 * that one holds would never be released in it.
 */
#ifndef REPORT_APART_H
#define REPORT_APART_H

#include "base/error.h"

#include <stdio.h>

/* Writes its result to 'out'; the detail of a failure goes to 'error'. */
typedef enum hg_status rep_apart_fn(void *data, FILE *out, struct hg_error *error);

/*
 * Runs it apart and copies the whole of its result to 'stream'; nothing is written unless it ended
 * well.  'what' begins the message when it did not: "Graphviz".
 */
enum hg_status rep_apart(
	rep_apart_fn *run, void *data, const char *what, FILE *stream, struct hg_error *error);

#endif
