/*
 * Making a stopped process do system calls: to fork, and later to wait for its copy.
 *
 * While a thread of it runs on registers that are not its own, it has a net (net.h): should
 * this program be killed or the tracing thread end, it gets back to its own by itself, and a copy
 * that is not ready ends.  So giving up is to let go: 'must_end' of the trace.
 */
#ifndef SNAPSHOT_CAPTURE_FORK_H
#define SNAPSHOT_CAPTURE_FORK_H

#include "snapshot/arch/net.h"
#include "snapshot/capture/room.h"
#include "snapshot/capture/trace.h"

/* What is found out before the process is stopped. */
struct snap_fork_means {
	struct snap_net_code code;
	bool has_code;
	const struct snap_fibers *fibers;
};

void snap_fork_prepare(
	struct snap_fork_means *means, pid_t process, const struct snap_fibers *fibers);

/* Whether a stopped process cannot be forked now, but perhaps at another moment. */
bool snap_fork_must_wait(const struct snap_trace *trace, const struct snap_fork_means *means);

/*
 * Makes one of the stopped threads fork.  *child is a stopped copy that never runs; it is killed
 * when the calling thread ends.  HG_ERROR_LIMIT when it cannot be forked, and lies still as it was.
 */
enum hg_status snap_fork(struct snap_trace *trace, const struct snap_fork_means *means,
	pid_t *child, struct hg_error *error);

/*
 * Kills the copy and makes its parent, which runs, wait for it, and then for copies that earlier
 * captures have left when they were killed, so that no zombie stays; for each of the two one of its
 * threads is stopped once more.  False when its own copy stays.  Sets *must_end as in a trace.
 */
bool snap_fork_end_child(
	pid_t process, pid_t child, const struct snap_fork_means *means, bool *must_end);

#endif
