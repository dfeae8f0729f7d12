/* Opening of profiles over time. */
#include "query/trace/trace.h"

#include <stdlib.h>
#include <string.h>

enum hg_status query_trace_begin(struct hg_trace *trace, void *out)
{
	void *none = NULL;
	if (out)
		memcpy(out, &none, sizeof(none));
	if (!trace)
		return HG_ERROR_USAGE;
	base_error_clear(&trace->session->error);
	if (!out)
		return base_fail(&trace->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no place for the result");
	return memtrace_rewind(trace->reader, &trace->session->error);
}

enum hg_status query_trace_failed(struct hg_trace *trace, enum hg_status status)
{
	base_error_file(&trace->session->error, trace->path);
	return status;
}

static void copy_losses(const struct memtrace_losses *from, struct hg_trace_losses *to)
{
	*to = (struct hg_trace_losses){.cut_bytes = from->cut_bytes,
		.skipped_bytes = from->skipped_bytes,
		.damaged_packets = from->damaged_packets,
		.foreign_packets = from->foreign_packets,
		.missing_objects = from->missing_objects,
		.clamped_times = from->clamped_times,
		.recovered_places = from->recovered_places,
		.suspect_backtraces = from->suspect_backtraces,
		.unverified_packets = from->unverified_packets,
		.first = from->first,
		.first_offset = from->first_offset};
}

enum hg_status query_trace_end(
	struct hg_trace *trace, uint64_t unknown_objects, struct hg_trace_losses *losses)
{
	struct hg_error *error = &trace->session->error;
	enum hg_status status = memtrace_status(trace->reader, error);
	if (status == HG_OK)
		status = base_file_check(&trace->file, trace->path, error);
	if (status != HG_OK)
		return query_trace_failed(trace, status);
	copy_losses(memtrace_lost(trace->reader), &trace->losses);
	trace->losses.unknown_objects = unknown_objects;
	if (unknown_objects && !trace->losses.first) {
		trace->losses.first = "an object that was never allocated, or collected before";
		trace->losses.first_offset = HG_NO_OFFSET;
	}
	*losses = trace->losses;
	return HG_OK;
}

enum hg_status query_trace_progress(struct hg_trace *trace)
{
	return base_progress(trace->session, "reading the trace", memtrace_offset(trace->reader),
		trace->file.size);
}

bool hg_is_trace(struct hg_session *session, const char *path)
{
	struct base_file file;
	struct hg_error error;
	base_error_clear(&error);
	if (!session || !path)
		return false;
	if (base_file_open(&file, path, &session->unpack, &error) != HG_OK)
		return false;
	bool is_trace = memtrace_begins(file.bytes, file.size);
	base_file_close(&file);
	return is_trace;
}

static void fill_trace_header(struct hg_trace *trace)
{
	const struct memtrace_info *from = memtrace_about(trace->reader);
	trace->header = (struct hg_trace_info){.path = trace->path,
		.version = from->version,
		.file_bytes = trace->file.size,
		.executable = from->executable,
		.host = from->host,
		.parameters = from->parameters,
		.context = from->context,
		.pid = from->pid,
		.start_us = from->start_time,
		.rate = from->sample_rate,
		.word_bytes = from->word_bytes,
		.packets = memtrace_packets(trace->reader)};
}

static enum hg_status open_trace_file(struct hg_trace *trace, const char *path, bool strict)
{
	struct hg_error *error = &trace->session->error;
	trace->path = strdup(path);
	if (!trace->path)
		return base_no_memory(error, strlen(path));
	BASE_TRY(base_file_open(&trace->file, path, &trace->session->unpack, error));
	enum hg_status status =
		memtrace_open(&trace->reader, trace->file.bytes, trace->file.size, strict, error);
	if (status != HG_OK) {
		base_file_close(&trace->file);
		return query_trace_failed(trace, status);
	}
	fill_trace_header(trace);
	return HG_OK;
}

enum hg_status hg_trace_open(struct hg_session *session, const char *path,
	const struct hg_trace_options *options, struct hg_trace **out)
{
	struct hg_trace_options o = {0};
	if (out)
		*out = NULL;
	if (!session)
		return HG_ERROR_USAGE;
	base_error_clear(&session->error);
	if (!out || !path || (options && options->size < sizeof(options->size)))
		return base_fail(&session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"no trace, or no place for it");
	if (options)
		memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	struct hg_trace *trace = calloc(1, sizeof(*trace));
	if (!trace)
		return base_no_memory(&session->error, sizeof(*trace));
	trace->session = session;
	enum hg_status status = open_trace_file(trace, path, o.strict);
	if (status != HG_OK) {
		free(trace->path);
		free(trace);
		return status;
	}
	*out = trace;
	return HG_OK;
}

const struct hg_trace_info *hg_trace_header(const struct hg_trace *trace)
{
	return trace ? &trace->header : NULL;
}

const struct hg_trace_losses *hg_trace_last_losses(const struct hg_trace *trace)
{
	return trace ? &trace->losses : NULL;
}

void hg_trace_close(struct hg_trace *trace)
{
	if (!trace)
		return;
	memtrace_close(trace->reader);
	base_file_close(&trace->file);
	free(trace->path);
	free(trace);
}
