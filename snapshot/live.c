/*
 * Captures of running programs: stop, look, fork or copy, resume, write.
 */
#include "base/session.h"
#include "snapshot/core_writer.h"
#include "snapshot/file_names.h"
#include "snapshot/live_state.h"
#include "snapshot/live_trace.h"

#include <dirent.h>
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
	struct snap_trace trace;
	struct snap_core core;              /* the file */
	struct snap_core_thread *registers; /* of all threads, when they were stopped */
	uint64_t thread_count;
	uint64_t stopped_at; /* ns */
	uint64_t time;       /* ns since 1970 */
	uint64_t instruction;
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

/* The number behind the highest heap.dump.PID.N in a folder. */
static uint64_t next_index(const char *folder, pid_t pid)
{
	uint64_t next = 0, number, id;
	DIR *list = opendir(folder);
	struct dirent *entry;
	while (list && (entry = readdir(list))) {
		struct snap_name name = snap_name_split(entry->d_name);
		if (name.count == 4 && snap_name_part_is(&name, 0, "heap") &&
			snap_name_part_is(&name, 1, "dump") &&
			snap_name_part_number(&name, 2, &id) && id == (uint64_t)pid &&
			snap_name_part_number(&name, 3, &number) && number >= next &&
			number < UINT64_MAX)
			next = number + 1;
	}
	if (list)
		closedir(list);
	return next;
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
		result->index = next_index(path ? path : ".", pid);
		length = snprintf(result->path, sizeof(result->path), "%s%sheap.dump.%d.%llu",
			path ? path : "", path ? "/" : "", pid, (unsigned long long)result->index);
	}
	if (length < 0 || (size_t)length >= sizeof(result->path))
		return base_fail(error, HG_ERROR_OUTPUT, HG_NO_OFFSET, "the path is too long");
	return HG_OK;
}

static enum hg_status has_ended(const struct work *work, struct hg_error *error)
{
	return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET, "process %d has ended",
		(int)work->process->live.process);
}

/* Says what the writer of a file could not do. */
static enum hg_status writing_failed(
	struct work *work, const struct snap_core *core, int number, struct hg_error *error)
{
	if (number == ECANCELED)
		return base_fail(error, HG_ERROR_CANCELLED, HG_NO_OFFSET, "cancelled");
	if (number == ESRCH)
		return has_ended(work, error);
	base_fail(error, number == ENOMEM ? HG_ERROR_LIMIT : HG_ERROR_OUTPUT, HG_NO_OFFSET,
		"%s: %s", core->failed, strerror(number));
	base_error_file(error, work->result->path);
	return error->status;
}

/* Stopping and resuming */

static bool signals_pending(void)
{
	sigset_t pending;
	sigpending(&pending);
	return sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
	       sigismember(&pending, SIGHUP) || sigismember(&pending, SIGQUIT);
}

static enum hg_status check_cancelled(struct work *work, struct hg_error *error)
{
	work->is_cancelled |= signals_pending();
	if (work->is_cancelled)
		return base_fail(error, HG_ERROR_CANCELLED, HG_NO_OFFSET, "cancelled");
	return HG_OK;
}

/* Lets the process go on; how long it stood still. */
static uint64_t resume(struct work *work)
{
	snap_trace_release(&work->trace);
	return clock_ns(CLOCK_MONOTONIC) - work->stopped_at;
}

/* Stops the process at a good moment, or after some attempts at any. */
static enum hg_status stop_well(struct work *work, struct hg_error *error)
{
	struct hg_process *process = work->process;
	struct hg_capture *result = work->result;
	for (;;) {
		BASE_TRY(check_cancelled(work, error));
		if (!snap_live_is_there(&process->live))
			return has_ended(work, error);
		work->instruction = snap_trace_find_syscall(process->live.process);
		work->stopped_at = clock_ns(CLOCK_MONOTONIC);
		work->time = clock_ns(CLOCK_REALTIME);
		BASE_TRY(snap_trace_stop(&work->trace, process->live.process, error));
		result->stops++;
		result->consistency = snap_live_consistency(&process->live, &work->trace);
		bool compacts = strcmp(result->consistency, "compaction") == 0;
		if (strcmp(result->consistency, "clean") == 0 ||
			result->stops >= (compacts ? MOST_STOPS_COMPACTION : MOST_STOPS))
			break;
		result->earlier_pause_ns += resume(work);
		long ms = compacts ? BETWEEN_STOPS_COMPACTION_MS : BETWEEN_STOPS_MS;
		nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
	}
	/* They are needed when the threads run again. */
	work->registers = work->trace.registers;
	work->thread_count = work->trace.count;
	work->trace.registers = NULL;
	return HG_OK;
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

static FILE *open_maps(pid_t process)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)process);
	return fopen(path, "re");
}

/* Both lie still.  Mappings are inherited whole or not at all (MADV_DONTFORK). */
static uint64_t not_inherited(pid_t process, pid_t child)
{
	FILE *all = open_maps(process), *copied = open_maps(child);
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

static struct snap_core_process described(struct work *work)
{
	pid_t origin = work->process->live.process;
	return (struct snap_core_process){.id = work->child ? work->child : origin,
		.origin = origin,
		.threads = work->registers,
		.thread_count = work->thread_count,
		.read = read_memory,
		.read_data = work};
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

static enum hg_status by_fork(struct work *work, struct hg_error *error)
{
	struct hg_capture *result = work->result;
	pid_t origin = work->process->live.process;
	enum hg_status status =
		snap_trace_fork(&work->trace, work->instruction, &work->child, error);
	if (status != HG_OK && !work->child)
		return status;
	if (status == HG_OK)
		work->not_inherited_bytes = not_inherited(origin, work->child);
	result->pause_ns = resume(work);
	result->method = "fork";
	struct snap_core_process process = described(work);
	int number = 0;
	if (status == HG_OK)
		number = snap_core_write_memory(&work->core, &process);
	if (status == HG_OK && number == 0)
		number = finish(work, &work->core);
	if (status == HG_OK && number == 0 && !snap_live_start_time(work->child))
		status = base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"the copy of process %d was killed, for lack of memory perhaps",
			(int)origin);
	result->left_zombie = !snap_trace_end_child(origin, work->child, work->instruction);
	return number ? writing_failed(work, &work->core, number, error) : status;
}

/* A number of kilobytes behind a key; 0 if it is not there. */
static uint64_t kilobytes(const char *path, const char *key)
{
	char line[256];
	unsigned long long number = 0;
	size_t length = strlen(key);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, key, length) == 0)
			number = strtoull(line + length, NULL, 10);
	if (file)
		fclose(file);
	return number;
}

/* Rather than have the system kill somebody for lack of memory. */
static enum hg_status check_memory(const struct work *work, struct hg_error *error)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/status", (int)work->process->live.process);
	uint64_t needed = kilobytes(path, "VmRSS:") + kilobytes(path, "VmSwap:");
	uint64_t available = kilobytes("/proc/meminfo", "MemAvailable:");
	if (available == 0 || needed < available)
		return HG_OK;
	return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
		"a copy of process %d may need %llu MB of memory, of which there are %llu",
		(int)work->process->live.process, (unsigned long long)needed / 1024,
		(unsigned long long)available / 1024);
}

/* Into memory while it is stopped, from there to the file. */
static enum hg_status by_reading(struct work *work, struct hg_error *error)
{
	struct snap_core copy;
	int fd = memfd_create("heapgraph capture", MFD_CLOEXEC);
	if (fd < 0)
		return base_no_memory(error, 0);
	work->result->method = "vmread";
	int number = snap_core_open_fd(&copy, fd);
	close(fd);
	struct snap_core_process process = described(work);
	if (number == 0)
		number = snap_core_write_memory(&copy, &process);
	if (number == 0 && !snap_live_is_there(&work->process->live))
		number = ESRCH;
	work->result->pause_ns = resume(work);
	if (number == 0)
		number = finish(work, &copy);
	enum hg_status status = number ? writing_failed(work, &copy, number, error) : HG_OK;
	if (status == HG_OK && (number = snap_core_take(&work->core, &copy)))
		status = writing_failed(work, &work->core, number, error);
	snap_core_abandon(&copy);
	return status;
}

static enum hg_status capture_stopped(struct work *work, struct hg_error *error)
{
	enum hg_capture_method method = work->options->method;
	if (method == HG_CAPTURE_FORK && work->process->live.is_filtered)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"process %d has a seccomp filter, which might end it for a fork; "
			"--method vmread does without",
			(int)work->process->live.process);
	if (method == HG_CAPTURE_VMREAD || work->process->live.is_filtered)
		return by_reading(work, error);
	enum hg_status status = by_fork(work, error);
	if (status != HG_ERROR_LIMIT || method != HG_CAPTURE_ANY || work->result->method)
		return status;
	base_error_clear(error);
	BASE_TRY(check_memory(work, error));
	return by_reading(work, error);
}

static enum hg_status capture(struct work *work, struct hg_error *error)
{
	bool replace;
	BASE_TRY(name_file(work, &replace, error));
	if (work->options->method == HG_CAPTURE_VMREAD || work->process->live.is_filtered)
		BASE_TRY(check_memory(work, error));
	int number = snap_core_open(&work->core, work->result->path, replace);
	enum hg_status status =
		number ? writing_failed(work, &work->core, number, error) : stop_well(work, error);
	if (status == HG_OK)
		status = capture_stopped(work, error);
	snap_trace_release(&work->trace);
	if (status == HG_OK)
		status = check_cancelled(work, error);
	if (status == HG_OK && (number = snap_core_commit(&work->core)))
		status = writing_failed(work, &work->core, number, error);
	work->result->written_bytes = work->core.written_bytes;
	if (status != HG_OK)
		snap_core_abandon(&work->core);
	free(work->registers);
	return status;
}

enum hg_status hg_capture(struct hg_process *process, const struct hg_capture_options *options,
	struct hg_capture *out)
{
	struct hg_error *error = &process->session->error;
	struct hg_capture_options o = {.method = HG_CAPTURE_ANY};
	struct work work = {.process = process, .options = &o, .result = out};
	sigset_t all, before, too_big;
	base_error_clear(error);
	*out = (struct hg_capture){0};
	if (options)
		memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	if (o.method != HG_CAPTURE_ANY && !hg_capture_method_name(o.method))
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"there is no capture method %u", (unsigned)o.method);
	/* Were we stopped or ended now, the program would stand still or be torn. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	enum hg_status status = capture(&work, error);
	/* A limit on the size of files, of which the error tells already. */
	sigemptyset(&too_big);
	sigaddset(&too_big, SIGXFSZ);
	if (status == HG_ERROR_OUTPUT && !sigismember(&before, SIGXFSZ))
		sigtimedwait(&too_big, NULL, &(struct timespec){0});
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}
