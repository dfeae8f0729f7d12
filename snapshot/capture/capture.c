/*
 * Captures of running programs, hg_process_open() to hg_capture_process() of heapgraph.h: the file,
 * and the order of stop, copy and writing.
 */
#include "snapshot/capture/capture.h"

#include "base/folder.h"
#include "base/proc.h"
#include "snapshot/file_names.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The process */

enum hg_status hg_process_open(struct hg_session *session, int pid, struct hg_process **out)
{
	if (out)
		*out = NULL;
	if (!session)
		return HG_ERROR_USAGE;
	base_error_clear(&session->error);
	if (!out)
		return base_fail(
			&session->error, HG_ERROR_USAGE, HG_NO_OFFSET, "no place for the process");
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

const char *hg_process_unreadable(const struct hg_process *process)
{
	return process ? process->live.unreadable : "";
}

const struct hg_counters *hg_process_counters(struct hg_process *process)
{
	if (!process)
		return NULL;
	process->counters.major_collections = snap_live_major_collections(&process->live);
	process->counters.heap_bytes = snap_live_heap_bytes(&process->live);
	return snap_live_is_there(&process->live) ? &process->counters : NULL;
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

/* The number after the highest heap.dump.PID.N in a folder. */
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

static enum hg_status name_file(struct snap_capture *capture, bool *replace, struct hg_error *error)
{
	struct stat about;
	const char *path = capture->options->path;
	struct hg_capture *result = capture->result;
	bool is_folder = !path || (stat(path, &about) == 0 && S_ISDIR(about.st_mode));
	int length;
	*replace = !is_folder;
	if (!is_folder) {
		length = snprintf(result->path, sizeof(result->path), "%s", path);
	} else {
		int pid = (int)capture->process->live.process;
		BASE_TRY(find_next_index(path ? path : ".", pid, &result->index, error));
		length = snprintf(result->path, sizeof(result->path), "%s%sheap.dump.%d.%llu",
			path ? path : "", path ? "/" : "", pid, (unsigned long long)result->index);
	}
	if (length < 0 || (size_t)length >= sizeof(result->path))
		return base_fail(error, HG_ERROR_OUTPUT, HG_NO_OFFSET, "the path is too long");
	return HG_OK;
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
static enum hg_status prepare_capture(struct snap_capture *capture, struct hg_error *error)
{
	const struct snap_live *live = &capture->process->live;
	bool replace;
	BASE_TRY(name_file(capture, &replace, error));
	int number = snap_core_open(&capture->core, capture->result->path, replace);
	if (number)
		return snap_capture_failed(capture, &capture->core, number, error);
	capture->lacking_bytes = lacking_memory(live->process);
	if (capture->options->method == HG_CAPTURE_VMREAD)
		BASE_TRY(snap_capture_check_memory(capture, error));
	snap_fork_prepare(&capture->means, live->process, &live->fibers);
	snap_watch_open(&capture->watch);
	return snap_tracer_open(&capture->tracer, error);
}

/* In the calling thread while the other one works. */
static void heed_signals(void *data)
{
	struct snap_capture *capture = data;
	snap_watch_heed(&capture->watch);
}

static enum hg_status run_stages(struct snap_capture *capture, struct hg_error *error)
{
	BASE_TRY(prepare_capture(capture, error));
	capture->tracer.meanwhile = heed_signals;
	snap_tracer_run(&capture->tracer, snap_capture_take, capture);
	if (capture->status == HG_OK)
		capture->status = snap_capture_write(capture, error);
	if (capture->child)
		snap_tracer_run(&capture->tracer, snap_capture_end_child, capture);
	snap_tracer_close(&capture->tracer);
	BASE_TRY(capture->status);
	BASE_TRY(snap_capture_check(capture, error));
	int number = snap_core_commit(&capture->core);
	return number ? snap_capture_failed(capture, &capture->core, number, error) : HG_OK;
}

static void release_capture(struct snap_capture *capture, enum hg_status status)
{
	snap_tracer_close(&capture->tracer);
	snap_watch_close(&capture->watch);
	snap_core_abandon(&capture->copy);
	if (status != HG_OK)
		snap_core_abandon(&capture->core);
	free(capture->registers);
}

static enum hg_status capture_as(
	struct hg_process *process, const struct hg_capture_options *options)
{
	struct hg_error *error = &process->session->error;
	struct hg_capture_options wanted = {.method = HG_CAPTURE_ANY};
	struct snap_capture capture = {.process = process,
		.options = &wanted,
		.result = &process->result,
		.error = error,
		.watch = {.pipe = -1},
		.core = SNAP_CORE_NONE,
		.copy = SNAP_CORE_NONE};
	sigset_t all, before, too_big;
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
	enum hg_status status = run_stages(&capture, error);
	process->result.written_bytes = capture.core.written_bytes;
	release_capture(&capture, status);
	/* A limit on the size of files, of which the error tells already. */
	sigemptyset(&too_big);
	sigaddset(&too_big, SIGXFSZ);
	if (status == HG_ERROR_OUTPUT && !sigismember(&before, SIGXFSZ))
		sigtimedwait(&too_big, NULL, &(struct timespec){0});
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}

enum hg_status hg_capture_process(struct hg_process *process,
	const struct hg_capture_options *options, const struct hg_capture **out)
{
	if (out)
		*out = NULL;
	if (!process)
		return HG_ERROR_USAGE;
	base_error_clear(&process->session->error);
	if (!out)
		return base_fail(&process->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no place for what was captured");
	process->result = (struct hg_capture){0};
	*out = &process->result;
	return capture_as(process, options);
}
