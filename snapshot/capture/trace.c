/* All threads of a process: stopped one after the other, until no new ones turn up. */
#include "snapshot/capture/trace.h"

#include "base/folder.h"
#include "base/grow.h"
#include "base/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

enum hg_status snap_trace_lost(pid_t process, struct hg_error *error)
{
	const char *what =
		base_proc_has_ended(process, 0) ? "has ended" : "cannot be stopped any more";
	return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET, "process %d %s", (int)process, what);
}

static enum hg_status not_permitted(struct hg_error *error, pid_t process)
{
	int scope = 0;
	uint64_t tracer = base_proc_number(process, 0, "status", "TracerPid");
	if (tracer && tracer != BASE_PROC_UNKNOWN)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"process %d is traced by process %llu, a debugger perhaps: end that first",
			(int)process, (unsigned long long)tracer);
	FILE *file = base_proc_open(0, 0, "sys/kernel/yama/ptrace_scope");
	if (file && fscanf(file, "%d", &scope) != 1)
		scope = 0;
	if (file)
		fclose(file);
	return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
		"not permitted to trace process %d: be the same user or root, or have "
		"CAP_SYS_PTRACE%s",
		(int)process,
		scope ? "; or, as root, write 0 to /proc/sys/kernel/yama/ptrace_scope" : "");
}

static struct snap_traced *find_thread(const struct snap_trace *trace, pid_t id)
{
	for (uint64_t i = 0; i < trace->count; i++)
		if (trace->threads[i].id == id)
			return &trace->threads[i];
	return NULL;
}

static enum hg_status seize(struct snap_trace *trace, pid_t id, struct hg_error *error)
{
	BASE_TRY(base_grow(
		&trace->threads, trace->count, &trace->capacity, sizeof(*trace->threads), error));
	if (ptrace(PTRACE_SEIZE, id, NULL, NULL) == 0) {
		trace->threads[trace->count++] = (struct snap_traced){.id = id};
		ptrace(PTRACE_INTERRUPT, id, NULL, NULL);
		return HG_OK;
	}
	if (errno == ESRCH || base_proc_has_ended(trace->process, id))
		return HG_OK;
	return not_permitted(error, trace->process);
}

/* Seizes the threads that are new; how many were. */
static enum hg_status seize_new(struct snap_trace *trace, uint64_t *news, struct hg_error *error)
{
	char path[BASE_PROC_PATH];
	struct base_folder folder;
	struct dirent *entry;
	uint64_t before = trace->count;
	base_proc_path(path, trace->process, 0, "task");
	BASE_TRY(base_folder_open(&folder, path, error));
	if (!folder.stream)
		return snap_trace_lost(trace->process, error);
	enum hg_status status = base_folder_next(&folder, &entry, error);
	while (status == HG_OK && entry) {
		pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
		if (id > 0 && !find_thread(trace, id))
			status = seize(trace, id, error);
		if (status == HG_OK)
			status = base_folder_next(&folder, &entry, error);
	}
	base_folder_close(&folder);
	*news = trace->count - before;
	return status;
}

/* Why a thread does not stop within seconds. */
static enum hg_status does_not_stop(
	const struct snap_trace *trace, pid_t id, struct hg_error *error)
{
	if (snap_signal_waits())
		return base_fail(error, HG_ERROR_CANCELLED, HG_NO_OFFSET, "cancelled");
	return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
		"thread %d of process %d does not stop: the kernel keeps it busy, or its cgroup is "
		"frozen",
		(int)id, (int)trace->process);
}

static enum hg_status wait_stopped(
	struct snap_trace *trace, struct snap_traced *thread, struct hg_error *error)
{
	int status = 0;
	enum snap_wait got = snap_traced_await_stop(thread->id, SNAP_TRACE_LIMIT, &status);
	thread->stopped = got == SNAP_WAIT_STOPPED;
	thread->gone = got == SNAP_WAIT_GONE;
	if (got != SNAP_WAIT_NOTHING)
		return HG_OK;
	return does_not_stop(trace, thread->id, error);
}

/* Drops threads that have ended, and reads the registers of the others. */
static enum hg_status read_registers(struct snap_trace *trace, struct hg_error *error)
{
	uint64_t kept = 0;
	for (uint64_t i = 0; i < trace->count; i++)
		if (!trace->threads[i].gone)
			trace->threads[kept++] = trace->threads[i];
	trace->count = kept;
	for (uint64_t i = 0; i < kept; i++) {
		BASE_TRY(base_grow(&trace->registers, i, &trace->registers_capacity,
			sizeof(*trace->registers), error));
		trace->registers[i].id = (uint32_t)trace->threads[i].id;
		if (!snap_traced_registers(trace->threads[i].id, trace->registers[i].registers))
			return snap_trace_lost(trace->process, error);
	}
	return kept ? HG_OK : snap_trace_lost(trace->process, error);
}

static enum hg_status stop_all(struct snap_trace *trace, struct hg_error *error)
{
	uint64_t news = 0, done = 0;
	do {
		BASE_TRY(seize_new(trace, &news, error));
		for (; done < trace->count; done++)
			BASE_TRY(wait_stopped(trace, &trace->threads[done], error));
	} while (news);
	return read_registers(trace, error);
}

enum hg_status snap_trace_stop(struct snap_trace *trace, pid_t process, struct hg_error *error)
{
	*trace = (struct snap_trace){.process = process};
	enum hg_status status = stop_all(trace, error);
	if (status != HG_OK)
		snap_trace_release(trace);
	return status;
}

void snap_trace_release(struct snap_trace *trace)
{
	bool must_end = trace->must_end;
	for (uint64_t i = 0; i < trace->count; i++) {
		const struct snap_traced *thread = &trace->threads[i];
		if (thread->stopped)
			ptrace(PTRACE_DETACH, thread->id, NULL, NULL);
		else
			must_end |= !thread->gone;
	}
	free(trace->threads);
	free(trace->registers);
	*trace = (struct snap_trace){.process = trace->process, .must_end = must_end};
}

bool snap_trace_stop_one(struct snap_traced *thread, struct snap_time_limit limit)
{
	int status = 0;
	if (ptrace(PTRACE_SEIZE, thread->id, NULL, NULL) != 0)
		return false;
	ptrace(PTRACE_INTERRUPT, thread->id, NULL, NULL);
	enum snap_wait got = snap_traced_await_stop(thread->id, limit, &status);
	thread->stopped = got == SNAP_WAIT_STOPPED;
	thread->gone = got == SNAP_WAIT_GONE;
	return thread->stopped;
}
