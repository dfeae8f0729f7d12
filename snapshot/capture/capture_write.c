/* What goes into the file of a capture, and what its writer says when it fails. */
#include "snapshot/capture/capture.h"

#include "base/proc.h"

#include <errno.h>
#include <string.h>

enum hg_status snap_capture_check(struct snap_capture *capture, struct hg_error *error)
{
	capture->is_cancelled |= snap_signal_waits();
	if (capture->is_cancelled)
		return base_fail(error, HG_ERROR_CANCELLED, HG_NO_OFFSET, "cancelled");
	return HG_OK;
}

/* Rather than have the system kill somebody for lack of memory. */
enum hg_status snap_capture_check_memory(const struct snap_capture *capture, struct hg_error *error)
{
	if (capture->lacking_bytes == 0)
		return HG_OK;
	return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
		"a copy of process %d may need %llu MB of memory more than there are",
		(int)capture->process->live.process,
		(unsigned long long)capture->lacking_bytes >> 20);
}

/* Says what the writer of a file could not do. */
enum hg_status snap_capture_failed(struct snap_capture *capture, const struct snap_core *core,
	int number, struct hg_error *error)
{
	if (number == ECANCELED)
		return base_fail(error, HG_ERROR_CANCELLED, HG_NO_OFFSET, "cancelled");
	if (number == ESRCH)
		return snap_trace_lost(capture->process->live.process, error);
	base_fail(error, number == ENOMEM ? HG_ERROR_LIMIT : HG_ERROR_OUTPUT, HG_NO_OFFSET,
		"%s: %s", core->failed, strerror(number));
	base_error_file(error, capture->result->path);
	return error->status;
}

static size_t read_memory(void *data, uint64_t address, void *buffer, size_t size)
{
	struct snap_capture *capture = data;
	struct hg_error unused;
	pid_t from = capture->child ? capture->child : capture->process->live.process;
	/* Telling of progress may take long, with the process stopped too long. */
	if (capture->child && base_progress(capture->process->session, "capture",
				      capture->core.written_bytes, 0) != HG_OK)
		capture->is_cancelled = true;
	if (snap_capture_check(capture, &unused) != HG_OK)
		return SNAP_CORE_STOP;
	return base_proc_read_memory(from, address, buffer, size);
}

const struct snap_core_process *snap_capture_describe(struct snap_capture *capture)
{
	pid_t origin = capture->process->live.process;
	capture->described =
		(struct snap_core_process){.id = capture->child ? capture->child : origin,
			.origin = origin,
			.threads = capture->registers,
			.thread_count = capture->thread_count,
			.read = read_memory,
			.read_data = capture};
	return &capture->described;
}

static int finish_capture(struct snap_capture *capture, struct snap_core *core)
{
	const struct snap_live *live = &capture->process->live;
	struct snap_core_facts facts = {.time = capture->time,
		.index = capture->result->index,
		.trigger = capture->options->trigger,
		.method = hg_capture_method_name(capture->result->method),
		.consistency = hg_moment_name(capture->result->moment),
		.ocaml_version = *live->ocaml_version ? live->ocaml_version : NULL,
		.not_inherited_bytes = capture->not_inherited_bytes,
		.memory = capture->memory,
		.bytecode_fd = live->bytecode.fd,
		.bytecode_start = live->bytecode.start,
		.bytecode_size = live->bytecode.size,
		.bytecode_path = live->bytecode.path};
	int status = snap_core_finish(core, &facts);
	capture->result->missing_bytes = core->unreadable_bytes + capture->not_inherited_bytes;
	return status;
}

/* What takes long, when the process runs again. */
enum hg_status snap_capture_write(struct snap_capture *capture, struct hg_error *error)
{
	int number;
	if (!capture->child) {
		number = finish_capture(capture, &capture->copy);
		if (number)
			return snap_capture_failed(capture, &capture->copy, number, error);
		number = snap_core_take(&capture->core, &capture->copy);
		return number ? snap_capture_failed(capture, &capture->core, number, error) : HG_OK;
	}
	number = snap_core_write_memory(&capture->core, snap_capture_describe(capture));
	if (number == 0)
		number = finish_capture(capture, &capture->core);
	if (number)
		return snap_capture_failed(capture, &capture->core, number, error);
	if (snap_live_start_time(capture->child))
		return HG_OK;
	return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
		"the copy of process %d was killed, for lack of memory perhaps",
		(int)capture->process->live.process);
}
