/* The stop of a process: when, how often, and what is done while it stands still. */
#include "snapshot/capture/capture.h"

#include "base/proc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/*
 * How often a process is stopped until a bad moment is taken after all, and how long it runs
 * between. Amid a minor collection its heap can be read nevertheless, amid a compaction of 4.x it
 * cannot.
 */
enum {
	MOST_STOPS = 10,
	BETWEEN_STOPS_MS = 5,
	MOST_STOPS_COMPACTION = 100,
	BETWEEN_STOPS_COMPACTION_MS = 50
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Stopping and resuming */

/* Lets the process go on; how long it stood still. */
static uint64_t resume_process(struct snap_capture *capture)
{
	snap_trace_release(&capture->trace);
	uint64_t pause_ns = clock_ns(CLOCK_MONOTONIC) - capture->stopped_at;
	snap_watch_stands(&capture->watch, false);
	return pause_ns;
}

static enum hg_status stop_process(struct snap_capture *capture, struct hg_error *error)
{
	struct hg_process *process = capture->process;
	BASE_TRY(snap_capture_check(capture, error));
	if (!snap_live_is_there(&process->live))
		return snap_trace_lost(process->live.process, error);
	snap_watch_stands(&capture->watch, true);
	capture->stopped_at = clock_ns(CLOCK_MONOTONIC);
	capture->time = clock_ns(CLOCK_REALTIME);
	enum hg_status status = snap_trace_stop(&capture->trace, process->live.process, error);
	if (status != HG_OK)
		snap_watch_stands(&capture->watch, false);
	return status;
}

/* Whether the heap can be read as it is, and a fork be made if one is wanted. */
static bool is_good_moment(const struct snap_capture *capture)
{
	return capture->moment == SNAP_MOMENT_NONE &&
	       (capture->options->method == HG_CAPTURE_VMREAD ||
		       !snap_fork_must_wait(&capture->trace, &capture->means));
}

/* Stops the process at a good moment, or after some attempts at any. */
static enum hg_status stop_well(struct snap_capture *capture, struct hg_error *error)
{
	static const enum hg_moment moments[] = {[SNAP_MOMENT_NONE] = HG_MOMENT_CLEAN,
		[SNAP_MOMENT_MINOR_COLLECTION] = HG_MOMENT_MINOR_COLLECTION,
		[SNAP_MOMENT_COMPACTION] = HG_MOMENT_COMPACTION,
		[SNAP_MOMENT_FILLING] = HG_MOMENT_FILLING};
	struct hg_process *process = capture->process;
	struct hg_capture *result = capture->result;
	for (;;) {
		BASE_TRY(stop_process(capture, error));
		result->stops++;
		capture->moment = snap_live_moment(&process->live, &capture->trace);
		result->moment = moments[capture->moment];
		/* Nothing names the functions that it may be in. */
		if (process->live.has_no_symbols && capture->moment == SNAP_MOMENT_NONE)
			result->moment = HG_MOMENT_UNKNOWN;
		bool compacts = capture->moment == SNAP_MOMENT_COMPACTION;
		if (is_good_moment(capture) ||
			result->stops >= (compacts ? MOST_STOPS_COMPACTION : MOST_STOPS))
			break;
		result->earlier_pause_ns += resume_process(capture);
		long ms = compacts ? BETWEEN_STOPS_COMPACTION_MS : BETWEEN_STOPS_MS;
		nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
	}
	return HG_OK;
}

/* They are needed when the threads run again. */
static void keep_registers(struct snap_capture *capture)
{
	capture->registers = capture->trace.registers;
	capture->thread_count = capture->trace.count;
	capture->trace.registers = NULL;
}

/* Memory that a fork does not inherit */

/* The next mapping that is memory of the program. */
static bool next_range(FILE *maps, uint64_t *start, uint64_t *end)
{
	struct base_proc_map map;
	bool found = false;
	while (!found && base_proc_next_map(maps, &map))
		found = map.permissions[0] == 'r' && !strstr(map.name, "[v");
	*start = found ? map.start : UINT64_MAX;
	*end = found ? map.end : UINT64_MAX;
	return found;
}

/* Pages of all mappings. */
static uint64_t mapped_pages(pid_t process)
{
	unsigned long long pages = 0;
	FILE *file = base_proc_open(process, 0, "statm");
	if (file && fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages;
}

/*
 * Both lie still.  Mappings are inherited whole or not at all (MADV_DONTFORK), mostly all of them,
 * which is told at a glance.
 */
static uint64_t not_inherited(pid_t process, pid_t child)
{
	if (mapped_pages(process) == mapped_pages(child))
		return 0;
	FILE *all = base_proc_open(process, 0, "maps"), *copied = base_proc_open(child, 0, "maps");
	uint64_t start, end, copied_start = 0, copied_end = 0, bytes = 0;
	while (all && copied && next_range(all, &start, &end)) {
		while (copied_end <= start && copied_end != UINT64_MAX)
			next_range(copied, &copied_start, &copied_end);
		if (copied_start > start)
			bytes += end - start;
	}
	if (all)
		fclose(all);
	if (copied)
		fclose(copied);
	return bytes;
}

/* The two methods */

/* By fork: the copy is stopped for good, and the process goes on. */
static enum hg_status fork_stopped(struct snap_capture *capture, struct hg_error *error)
{
	pid_t origin = capture->process->live.process;
	BASE_TRY(snap_fork(&capture->trace, &capture->means, &capture->child, error));
	keep_registers(capture);
	capture->not_inherited_bytes = not_inherited(origin, capture->child);
	snap_core_read_memory(origin, &capture->memory);
	capture->result->method = HG_CAPTURE_FORK;
	capture->result->pause_ns = resume_process(capture);
	return HG_OK;
}

/* Into memory while it is stopped. */
static enum hg_status copy_stopped(struct snap_capture *capture, struct hg_error *error)
{
	BASE_TRY(snap_capture_check_memory(capture, error));
	keep_registers(capture);
	snap_tracer_unhurry(); /* it may take seconds */
	int fd = memfd_create("heapgraph capture", MFD_CLOEXEC);
	if (fd < 0)
		return base_no_memory(error, 0);
	capture->result->method = HG_CAPTURE_VMREAD;
	snap_core_read_memory(capture->process->live.process, &capture->memory);
	int number = snap_core_open_fd(&capture->copy, fd);
	close(fd);
	if (number == 0)
		number = snap_core_write_memory(&capture->copy, snap_capture_describe(capture));
	if (number == 0 && !snap_live_is_there(&capture->process->live))
		number = ESRCH;
	capture->result->pause_ns = resume_process(capture);
	return number ? snap_capture_failed(capture, &capture->copy, number, error) : HG_OK;
}

static enum hg_status read_stopped(struct snap_capture *capture, struct hg_error *error)
{
	if (capture->options->method == HG_CAPTURE_VMREAD)
		return copy_stopped(capture, error);
	enum hg_status status = fork_stopped(capture, error);
	if (status != HG_ERROR_LIMIT || capture->trace.must_end)
		return status;
	snprintf(capture->result->instead, sizeof(capture->result->instead), "%s", error->message);
	if (capture->options->method == HG_CAPTURE_FORK)
		return base_fail(error, status, HG_NO_OFFSET, "%s; --method vmread does without",
			capture->result->instead);
	base_error_clear(error);
	return copy_stopped(capture, error);
}

/* In the tracing thread: from the first thread stopped to the last one that goes on. */
bool snap_capture_take(void *data)
{
	struct snap_capture *capture = data;
	snap_tracer_hurry();
	capture->status = stop_well(capture, capture->error);
	if (capture->status == HG_OK)
		capture->status = read_stopped(capture, capture->error);
	/* Nothing stands still after this, whatever happened. */
	snap_trace_release(&capture->trace);
	snap_watch_stands(&capture->watch, capture->trace.must_end);
	snap_tracer_unhurry();
	return !capture->trace.must_end;
}

/* In the same thread. */
bool snap_capture_end_child(void *data)
{
	struct snap_capture *capture = data;
	bool must_end = false;
	snap_watch_stands(&capture->watch, true);
	capture->result->left_zombie = !snap_fork_end_child(
		capture->process->live.process, capture->child, &capture->means, &must_end);
	snap_watch_stands(&capture->watch, must_end);
	return !must_end;
}
