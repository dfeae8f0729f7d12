/*
 * A capture under way: stop, look, fork or copy, resume, write.  capture.c is the interface of
 * heapgraph.h and the order of it all; capture_stop.c what is done while the process stands still;
 * capture_write.c what goes into the file.
 */
#ifndef SNAPSHOT_CAPTURE_CAPTURE_H
#define SNAPSHOT_CAPTURE_CAPTURE_H

#include "base/session.h"
#include "snapshot/capture/core_writer.h"
#include "snapshot/capture/fork.h"
#include "snapshot/capture/live.h"
#include "snapshot/capture/trace.h"
#include "snapshot/capture/tracer.h"
#include "snapshot/capture/watch.h"

struct hg_process {
	struct hg_session *session;
	struct snap_live live;
	struct hg_counters counters; /* read last */
	struct hg_capture result;    /* of the last capture */
};

/* A capture under way. */
struct snap_capture {
	struct hg_process *process;
	const struct hg_capture_options *options;
	struct hg_capture *result;
	struct hg_error *error;
	enum hg_status status;
	struct snap_tracer tracer; /* all that concerns the stopped process is done there */
	struct snap_watch watch;
	struct snap_trace trace;
	struct snap_fork_means means;
	struct snap_core_process described; /* for the writer */
	struct snap_core core;              /* the file */
	struct snap_core copy;              /* what was read while it was stopped, in memory */
	struct snap_core_thread *registers; /* of all threads, when they were stopped */
	uint64_t thread_count;
	uint64_t stopped_at;    /* ns */
	uint64_t time;          /* ns since 1970 */
	uint64_t lacking_bytes; /* of memory for a copy in memory; 0 */
	uint64_t not_inherited_bytes;
	struct snap_core_memory memory; /* when it was stopped */
	pid_t child;
	enum snap_moment moment; /* what it was amid at the last stop */
	bool is_cancelled;
};

/* HG_ERROR_CANCELLED once somebody wants it to end. */
enum hg_status snap_capture_check(struct snap_capture *capture, struct hg_error *error);

/* Whether there is memory for a copy in memory. */
enum hg_status snap_capture_check_memory(
	const struct snap_capture *capture, struct hg_error *error);

/* Says what the writer of a file could not do. */
enum hg_status snap_capture_failed(struct snap_capture *capture, const struct snap_core *core,
	int number, struct hg_error *error);

/* Whose memory the writer is to read. */
const struct snap_core_process *snap_capture_describe(struct snap_capture *capture);

/* What takes long, when the process runs again. */
enum hg_status snap_capture_write(struct snap_capture *capture, struct hg_error *error);

/* For the tracing thread: all from the first thread stopped to the last one that goes on. */
bool snap_capture_take(void *capture);
/* For the same thread, when all is written. */
bool snap_capture_end_child(void *capture);

#endif
