/*
 * libheapgraph: what fills the memory of an OCaml program.
 *
 * The library opens a heap snapshot, computes reachability, immediate dominators and retained
 * sizes of every block, and answers questions about them.  The order of calls:
 *
 *     hg_session_open()  ->  hg_snapshot_open()  ->  hg_snapshot_analyse()  ->  hg_list_top(), ...
 *
 * Words: a block is a heap object, header and fields; a location is where a block was allocated; a
 * root is a place outside the heap that holds a block; retained bytes of a block are what would be
 * freed with it.  Sizes are bytes unless a name says words.  Addresses are those of field 0.
 * HG_UNKNOWN stands for a number that is not known.
 *
 * Errors: functions that can fail return an hg_status; hg_session_error() then tells what, in
 * which file and at which offset.  Of two snapshots it is the session of the second one, the new
 * one, that tells.  Nothing prints, exits or aborts; there are no globals.
 *
 * Ownership: a snapshot belongs to its session and must be closed before it.  What a function hands
 * out through its last argument is the caller's, who may change what is in it: results are freed by
 * hg_X_release(), which sets the pointer to NULL, handles by hg_X_close(); both take NULL.  After a
 * failure the pointer is NULL.  What is 'const' is not the caller's: it belongs to what it was
 * asked of, and is valid as long as that, or as its comment says.
 *
 * Arguments: structs of options begin with their size and may be NULL, or shorter than this header
 * has them: the rest is as if zero, or what their comments say.  Handles and places for results
 * that are NULL, values that no enum has, strings that are NULL where the comment does not allow it
 * are HG_ERROR_USAGE; functions without a status return what they do for a thing that there is not:
 * false, 0, NULL or HG_NO_NODE, the text "", or "?" for the names of constants.  Those that are
 * asked for the text of a key or part that there is not set the session's error as well.
 *
 * Text: results hold numbers, whose names are asked for.  Functions that take a buffer and its size
 * cut and count as snprintf(3); a buffer that is NULL has no room.
 *
 * Growth: what is compiled with this header goes on working with every later library of the same
 * soname (libheapgraph.so.0), which changes when one of these rules is broken.  Structs grow at
 * their end only: those that the caller makes begin with their size; all others come from the
 * library by pointer, rows of arrays too, so that nobody needs to know how long they are.  Enums
 * get further constants after the last one, so that a value may come which the header does not
 * have; the constants HG_KEYS, HG_FORMATS, ... that count them are those of the header.  Functions
 * keep their arguments and meaning; new ones are added.  Text (names, messages) may change.
 *
 * Files of input are mapped and must stay as they are while a snapshot is open.  The thread that
 * reads one which somebody cuts short gets SIGBUS.  The library installs no handler of signals: a
 * program that must outlive that, as the command ends with a message, installs its own.
 *
 * Threads: one session is used by one thread at a time; sessions do not share anything.
 *
 * The declarations are in heapgraph/, by subject; this header is the one to include.
 */
#ifndef HEAPGRAPH_H
#define HEAPGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of this header. */
#define HG_VERSION "0.1.0"
#define HG_VERSION_MAJOR 0
#define HG_VERSION_MINOR 1
#define HG_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

#include "heapgraph/session.h"
#include "heapgraph/snapshot.h"
#include "heapgraph/nodes.h"
#include "heapgraph/classes.h"
#include "heapgraph/growth.h"
#include "heapgraph/tree.h"
#include "heapgraph/retention.h"
#include "heapgraph/paths.h"
#include "heapgraph/sets.h"
#include "heapgraph/object.h"
#include "heapgraph/waste.h"
#include "heapgraph/places.h"
#include "heapgraph/process.h"
#include "heapgraph/trace.h"
#include "heapgraph/trace_statistics.h"
#include "heapgraph/spacetime.h"
#include "heapgraph/trace_diff.h"
#include "heapgraph/join.h"

#ifdef __cplusplus
}
#endif

#endif
