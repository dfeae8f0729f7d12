/*
 * Captures of running programs: stop, look, fork or copy, resume, write.
 */
#include "base/folder.h"
#include "base/proc.h"
#include "base/session.h"
#include "snapshot/capture/core_writer.h"
#include "snapshot/file_names.h"
#include "snapshot/capture/fork.h"
#include "snapshot/capture/state.h"
#include "snapshot/capture/trace.h"
#include "snapshot/capture/tracer.h"
#include "snapshot/capture/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

struct hg_process {
	struct hg_session *session;
	struct snap_live live;
};

/* A capture under way. */
struct work {
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
	pid_t child;
	bool is_cancelled;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The process */

enum hg_status hg_process_open(struct hg_session *session, int pid, struct hg_process **out)
{
	base_error_clear(&session->error);
	*out = NULL;
	struct hg_process *process = calloc(1, sizeof(*process));
	if (!process)
		return base_no_memory(&session->error, sizeof(*process));
	process->session = session;
	enum hg_status status = snap_live_open(&process->live, pid, &session->error);
	if (status == HG_OK)
		*out = process;
	else
		free(process);
	return status;
}

void hg_process_close(struct hg_process *process)
{
	if (process)
		snap_live_close(&process->live);
	free(process);
}

bool hg_process_counters(const struct hg_process *process, struct hg_counters *out)
{
	out->major_collections = snap_live_major_collections(&process->live);
	out->heap_bytes = snap_live_heap_bytes(&process->live);
	return snap_live_is_there(&process->live);
}

const char *hg_capture_method_name(enum hg_capture_method method)
{
	static const char *const names[HG_CAPTURE_METHODS] = {
		[HG_CAPTURE_FORK] = "fork", [HG_CAPTURE_VMREAD] = "vmread"};
	return method < HG_CAPTURE_METHODS ? names[method] : NULL;
}

/* Where to */

/* Whether a name is heap.dump.PID.N of this process. */
static bool is_earlier_name(const char *text, pid_t pid, uint64_t *number)
{
	uint64_t id;
	struct snap_name name = snap_name_split(text);
	return name.count == 4 && snap_name_part_is(&name, 0, "heap") &&
	       snap_name_part_is(&name, 1, "dump") && snap_name_part_number(&name, 2, &id) &&
	       id == (uint64_t)pid && snap_name_part_number(&name, 3, number);
}

/* The number behind the highest heap.dump.PID.N in a folder. */
static enum hg_status find_next_index(
	const char *path, pid_t pid, uint64_t *next, struct hg_error *error)
{
	uint64_t number;
	struct base_folder folder;
	struct dirent *entry;
	*next = 0;
	enum hg_status status = base_folder_open(&folder, path, error);
	while (!status && !(status = base_folder_next(&folder, &entry, error)) && entry)
		if (is_earlier_name(entry->d_name, pid, &number) && number >= *next &&
			number < UINT64_MAX)
			*next = number + 1;
	base_folder_close(&folder);
	return status;
}

static enum hg_status name_file(struct work *work, bool *replace, struct hg_error *error)
{
	struct stat about;
	const char *path = work->options->path;
	struct hg_capture *result = work->result;
	bool is_folder = !path || (stat(path, &about) == 0 && S_ISDIR(about.st_mode));
	int length;
	*replace = !is_folder;
	if (!is_folder) {
		length = snprintf(result->path, sizeof(result->path), "%s", path);
	} else {
		int pid = (int)work->process->live.process;
		BASE_TRY(find_next_index(path ? path : ".", pid, &result->index, error));
		length = snprintf(result->path, sizeof(result->path), "%s%sheap.dump.%d.%llu",
			path ? path : "", path ? "/" : "", pid, (unsigned long long)result->index);
	}
	if (length < 0 || (size_t)length >= sizeof(result->path))
		return base_fail(error, HG_ERROR_OUTPUT, HG_NO_OFFSET, "the path is too long");
	return HG_OK;
}

/* Says what the writer of a file could not do. */
static enum hg_status writing_failed(
	struct work *work, const struct snap_core *core, int number, struct hg_error *error)
{
	if (number == ECANCELED)
		return base_fail(error, HG_ERROR_CANCELLED, HG_NO_OFFSET, "cancelled");
	if (number == ESRCH)
		return snap_trace_lost(work->process->live.process, error);
	base_fail(error, number == ENOMEM ? HG_ERROR_LIMIT : HG_ERROR_OUTPUT, HG_NO_OFFSET,
		"%s: %s", core->failed, strerror(number));
	base_error_file(error, work->result->path);
	return error->status;
}

/* Stopping and resuming */

static enum hg_status check_cancelled(struct work *work, struct hg_error *error)
{
	work->is_cancelled |= snap_signal_waits();
	if (work->is_cancelled)
		return base_fail(error, HG_ERROR_CANCELLED, HG_NO_OFFSET, "cancelled");
	return HG_OK;
}

/* Lets the process go on; how long it stood still. */
static uint64_t resume(struct work *work)
{
	snap_trace_release(&work->trace);
	uint64_t pause_ns = clock_ns(CLOCK_MONOTONIC) - work->stopped_at;
	snap_watch_stands(&work->watch, false);
	return pause_ns;
}

static enum hg_status stop(struct work *work, struct hg_error *error)
{
	struct hg_process *process = work->process;
	BASE_TRY(check_cancelled(work, error));
	if (!snap_live_is_there(&process->live))
		return snap_trace_lost(process->live.process, error);
	snap_watch_stands(&work->watch, true);
	work->stopped_at = clock_ns(CLOCK_MONOTONIC);
	work->time = clock_ns(CLOCK_REALTIME);
	enum hg_status status = snap_trace_stop(&work->trace, process->live.process, error);
	if (status != HG_OK)
		snap_watch_stands(&work->watch, false);
	return status;
}

/* Whether the heap can be read as it is, and a fork be made if one is wanted. */
static bool is_good_moment(const struct work *work)
{
	return strcmp(work->result->consistency, "clean") == 0 &&
	       (work->options->method == HG_CAPTURE_VMREAD ||
		       !snap_fork_must_wait(&work->trace, &work->means));
}

/* Stops the process at a good moment, or after some attempts at any. */
static enum hg_status stop_well(struct work *work, struct hg_error *error)
{
	struct hg_process *process = work->process;
	struct hg_capture *result = work->result;
	for (;;) {
		BASE_TRY(stop(work, error));
		result->stops++;
		result->consistency = snap_live_consistency(&process->live, &work->trace);
		bool compacts = strcmp(result->consistency, "compaction") == 0;
		if (is_good_moment(work) ||
			result->stops >= (compacts ? MOST_STOPS_COMPACTION : MOST_STOPS))
			break;
		result->earlier_pause_ns += resume(work);
		long ms = compacts ? BETWEEN_STOPS_COMPACTION_MS : BETWEEN_STOPS_MS;
		nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
	}
	return HG_OK;
}

/* They are needed when the threads run again. */
static void keep_registers(struct work *work)
{
	work->registers = work->trace.registers;
	work->thread_count = work->trace.count;
	work->trace.registers = NULL;
}

/* Memory that a fork does not inherit */

/* The next line of maps that is memory of the program. */
static bool next_range(FILE *maps, uint64_t *start, uint64_t *end)
{
	char line[256], permissions[5];
	unsigned long from, to;
	bool found = false;
	while (!found && fgets(line, sizeof(line), maps)) {
		found = sscanf(line, "%lx-%lx %4s", &from, &to, permissions) == 3 &&
			permissions[0] == 'r' && !strstr(line, "[v");
		while (!strchr(line, '\n') && fgets(line, sizeof(line), maps))
			continue;
	}
	*start = found ? from : UINT64_MAX;
	*end = found ? to : UINT64_MAX;
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

static size_t read_memory(void *data, uint64_t address, void *buffer, size_t size)
{
	struct work *work = data;
	struct hg_error unused;
	pid_t from = work->child ? work->child : work->process->live.process;
	/* Telling of progress may take long, with the process stopped too long. */
	if (work->child && base_progress(work->process->session, "capture",
				   work->core.written_bytes, 0) != HG_OK)
		work->is_cancelled = true;
	if (check_cancelled(work, &unused) != HG_OK)
		return SNAP_CORE_STOP;
	return snap_core_read_process(&from, address, buffer, size);
}

static const struct snap_core_process *describe(struct work *work)
{
	pid_t origin = work->process->live.process;
	work->described = (struct snap_core_process){.id = work->child ? work->child : origin,
		.origin = origin,
		.threads = work->registers,
		.thread_count = work->thread_count,
		.read = read_memory,
		.read_data = work};
	return &work->described;
}

static int finish(struct work *work, struct snap_core *core)
{
	const struct snap_live *live = &work->process->live;
	struct snap_core_facts facts = {.time = work->time,
		.index = work->result->index,
		.trigger = work->options->trigger,
		.method = work->result->method,
		.consistency = work->result->consistency,
		.ocaml_version = *live->ocaml_version ? live->ocaml_version : NULL,
		.not_inherited_bytes = work->not_inherited_bytes};
	int status = snap_core_finish(core, &facts);
	work->result->missing_bytes = core->unreadable_bytes + work->not_inherited_bytes;
	return status;
}

/* By fork: the copy is stopped for good, and the process goes on. */
static enum hg_status fork_stopped(struct work *work, struct hg_error *error)
{
	pid_t origin = work->process->live.process;
	BASE_TRY(snap_fork(&work->trace, &work->means, &work->child, error));
	keep_registers(work);
	work->not_inherited_bytes = not_inherited(origin, work->child);
	work->result->method = hg_capture_method_name(HG_CAPTURE_FORK);
	work->result->pause_ns = resume(work);
	return HG_OK;
}

/* Rather than have the system kill somebody for lack of memory. */
static enum hg_status check_memory(const struct work *work, struct hg_error *error)
{
	if (work->lacking_bytes == 0)
		return HG_OK;
	return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
		"a copy of process %d may need %llu MB of memory more than there are",
		(int)work->process->live.process, (unsigned long long)work->lacking_bytes >> 20);
}

/* Into memory while it is stopped. */
static enum hg_status copy_stopped(struct work *work, struct hg_error *error)
{
	BASE_TRY(check_memory(work, error));
	keep_registers(work);
	snap_tracer_unhurry(); /* it may take seconds */
	int fd = memfd_create("heapgraph capture", MFD_CLOEXEC);
	if (fd < 0)
		return base_no_memory(error, 0);
	work->result->method = hg_capture_method_name(HG_CAPTURE_VMREAD);
	int number = snap_core_open_fd(&work->copy, fd);
	close(fd);
	if (number == 0)
		number = snap_core_write_memory(&work->copy, describe(work));
	if (number == 0 && !snap_live_is_there(&work->process->live))
		number = ESRCH;
	work->result->pause_ns = resume(work);
	return number ? writing_failed(work, &work->copy, number, error) : HG_OK;
}

static enum hg_status read_stopped(struct work *work, struct hg_error *error)
{
	if (work->options->method == HG_CAPTURE_VMREAD)
		return copy_stopped(work, error);
	enum hg_status status = fork_stopped(work, error);
	if (status != HG_ERROR_LIMIT || work->trace.must_end)
		return status;
	snprintf(work->result->instead, sizeof(work->result->instead), "%s", error->message);
	if (work->options->method == HG_CAPTURE_FORK)
		return base_fail(error, status, HG_NO_OFFSET, "%s; --method vmread does without",
			work->result->instead);
	base_error_clear(error);
	return copy_stopped(work, error);
}

/* In the tracing thread: from the first thread stopped to the last one that goes on. */
static bool take(void *data)
{
	struct work *work = data;
	snap_tracer_hurry();
	work->status = stop_well(work, work->error);
	if (work->status == HG_OK)
		work->status = read_stopped(work, work->error);
	/* Nothing stands still after this, whatever happened. */
	snap_trace_release(&work->trace);
	snap_watch_stands(&work->watch, work->trace.must_end);
	snap_tracer_unhurry();
	return !work->trace.must_end;
}

/* In the same thread. */
static bool end_child(void *data)
{
	struct work *work = data;
	bool must_end = false;
	snap_watch_stands(&work->watch, true);
	work->result->left_zombie = !snap_fork_end_child(
		work->process->live.process, work->child, &work->means, &must_end);
	snap_watch_stands(&work->watch, must_end);
	return !must_end;
}

/* What takes long, when the process runs again. */
static enum hg_status write_file(struct work *work, struct hg_error *error)
{
	int number;
	if (!work->child) {
		number = finish(work, &work->copy);
		if (number)
			return writing_failed(work, &work->copy, number, error);
		number = snap_core_take(&work->core, &work->copy);
		return number ? writing_failed(work, &work->core, number, error) : HG_OK;
	}
	number = snap_core_write_memory(&work->core, describe(work));
	if (number == 0)
		number = finish(work, &work->core);
	if (number)
		return writing_failed(work, &work->core, number, error);
	if (snap_live_start_time(work->child))
		return HG_OK;
	return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
		"the copy of process %d was killed, for lack of memory perhaps",
		(int)work->process->live.process);
}

/* How much memory a copy of all would need beyond what there is; bytes. */
static uint64_t lacking_memory(pid_t process)
{
	static const char *const keys[] = {"VmRSS", "VmSwap"};
	uint64_t needed = 0, available = base_proc_number(0, 0, "meminfo", "MemAvailable");
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		uint64_t kilobytes = base_proc_number(process, 0, "status", keys[i]);
		needed += kilobytes == BASE_PROC_UNKNOWN ? 0 : kilobytes;
	}
	return available == BASE_PROC_UNKNOWN || needed < available ? 0
								    : (needed - available) << 10;
}

/* What can be known before the process is stopped. */
static enum hg_status prepare(struct work *work, struct hg_error *error)
{
	const struct snap_live *live = &work->process->live;
	bool replace;
	BASE_TRY(name_file(work, &replace, error));
	int number = snap_core_open(&work->core, work->result->path, replace);
	if (number)
		return writing_failed(work, &work->core, number, error);
	work->lacking_bytes = lacking_memory(live->process);
	if (work->options->method == HG_CAPTURE_VMREAD)
		BASE_TRY(check_memory(work, error));
	snap_fork_prepare(&work->means, live->process, &live->fibers);
	snap_watch_open(&work->watch);
	return snap_tracer_open(&work->tracer, error);
}

/* In the calling thread while the other one works. */
static void heed_signals(void *data)
{
	struct work *work = data;
	snap_watch_heed(&work->watch);
}

static enum hg_status capture(struct work *work, struct hg_error *error)
{
	BASE_TRY(prepare(work, error));
	work->tracer.meanwhile = heed_signals;
	snap_tracer_run(&work->tracer, take, work);
	if (work->status == HG_OK)
		work->status = write_file(work, error);
	if (work->child)
		snap_tracer_run(&work->tracer, end_child, work);
	snap_tracer_close(&work->tracer);
	BASE_TRY(work->status);
	BASE_TRY(check_cancelled(work, error));
	int number = snap_core_commit(&work->core);
	return number ? writing_failed(work, &work->core, number, error) : HG_OK;
}

static void release(struct work *work, enum hg_status status)
{
	snap_tracer_close(&work->tracer);
	snap_watch_close(&work->watch);
	snap_core_abandon(&work->copy);
	if (status != HG_OK)
		snap_core_abandon(&work->core);
	free(work->registers);
}

enum hg_status hg_capture(struct hg_process *process, const struct hg_capture_options *options,
	struct hg_capture *out)
{
	struct hg_error *error = &process->session->error;
	struct hg_capture_options wanted = {.method = HG_CAPTURE_ANY};
	struct work work = {.process = process,
		.options = &wanted,
		.result = out,
		.error = error,
		.watch = {.pipe = -1},
		.core = SNAP_CORE_NONE,
		.copy = SNAP_CORE_NONE};
	sigset_t all, before, too_big;
	base_error_clear(error);
	*out = (struct hg_capture){0};
	if (options)
		memcpy(&wanted, options,
			options->size < sizeof(wanted) ? options->size : sizeof(wanted));
	if (wanted.method != HG_CAPTURE_ANY && !hg_capture_method_name(wanted.method))
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"there is no capture method %u", (unsigned)wanted.method);
	sigfillset(&all);
	/* Of a file that is cut while it is mapped; blocked, it would end us without a word. */
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	enum hg_status status = capture(&work, error);
	out->written_bytes = work.core.written_bytes;
	release(&work, status);
	/* A limit on the size of files, of which the error tells already. */
	sigemptyset(&too_big);
	sigaddset(&too_big, SIGXFSZ);
	if (status == HG_ERROR_OUTPUT && !sigismember(&before, SIGXFSZ))
		sigtimedwait(&too_big, NULL, &(struct timespec){0});
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}
