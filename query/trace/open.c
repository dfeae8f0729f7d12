/* Opening of profiles over time. */
#include "query/trace/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum hg_status query_trace_ask(struct hg_trace *trace, enum hg_trace_format format, void *out)
{
	void *none = NULL;
	if (out)
		memcpy(out, &none, sizeof(none));
	if (!trace)
		return HG_ERROR_USAGE;
	struct hg_error *error = &trace->session->error;
	base_error_clear(error);
	if (!out)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "no place for the result");
	if (trace->header.format == format)
		return HG_OK;
	return query_trace_failed(trace,
		base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
			format == HG_TRACE_MEMTRACE
				? "this is answered for traces of memtrace alone, and the file is "
				  "a series of Spacetime"
				: "this is answered for series of Spacetime alone, and the file is "
				  "a trace of memtrace"));
}

enum hg_status query_trace_begin(struct hg_trace *trace, void *out)
{
	BASE_TRY(query_trace_ask(trace, HG_TRACE_MEMTRACE, out));
	return memtrace_rewind(trace->reader, &trace->session->error);
}

enum hg_status query_file_failed(struct hg_trace *trace, const char *path, enum hg_status status)
{
	base_error_file(&trace->session->error, path);
	return status;
}

enum hg_status query_trace_failed(struct hg_trace *trace, enum hg_status status)
{
	return query_file_failed(trace, trace->path, status);
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
	if (unknown_objects && trace->strict)
		return query_trace_failed(
			trace, base_corrupt(error, HG_NO_OFFSET, "%s", trace->losses.first));
	*losses = trace->losses;
	return HG_OK;
}

enum hg_status query_trace_progress(struct hg_trace *trace)
{
	return base_progress(trace->session, "reading the trace", memtrace_offset(trace->reader),
		trace->file.size);
}

/* The first bytes of a file that may be compressed; it is not mapped, as it may be no trace. */
static size_t read_beginning(const char *path, uint8_t *bytes, size_t size)
{
	enum { MOST_PACKED = 1 << 17 }; /* of the block of zstd that has them */
	struct stat about;
	struct hg_error error;
	int fd;
	if (base_file_descriptor(path, &fd, &about, &error) != HG_OK)
		return 0;
	uint8_t *packed = malloc(MOST_PACKED);
	ssize_t count = packed ? pread(fd, packed, MOST_PACKED, 0) : -1;
	ZSTD_outBuffer out = {bytes, size, 0};
	close(fd);
	if (count > 0 && base_is_packed(packed, (size_t)count)) {
		ZSTD_inBuffer in = {packed, (size_t)count, 0};
		ZSTD_DStream *stream = ZSTD_createDStream();
		if (stream && ZSTD_isError(ZSTD_decompressStream(stream, &out, &in)))
			out.pos = 0;
		ZSTD_freeDStream(stream);
	} else if (count > 0) {
		out.pos = (size_t)count < size ? (size_t)count : size;
		memcpy(bytes, packed, out.pos);
	}
	free(packed);
	return out.pos;
}

bool hg_is_trace(struct hg_session *session, const char *path)
{
	uint8_t bytes[32];
	size_t size = session && path ? read_beginning(path, bytes, sizeof(bytes)) : 0;
	return memtrace_begins(bytes, size) || spacetime_begins(bytes, size);
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

static void close_trace_file(struct hg_trace *trace)
{
	base_file_close(&trace->file);
	if (trace->descriptor >= 0)
		close(trace->descriptor);
	trace->descriptor = -1;
}

static enum hg_status open_trace_file(struct hg_trace *trace, const char *path, bool strict)
{
	struct hg_error *error = &trace->session->error;
	trace->path = strdup(path);
	if (!trace->path)
		return base_no_memory(error, strlen(path));
	BASE_TRY(base_file_open(&trace->file, path, &trace->session->unpack, error));
	const uint8_t *bytes = trace->file.bytes;
	size_t size = trace->file.size;
	if (!size) {
		base_file_close(&trace->file);
		return query_trace_failed(trace,
			base_corrupt(error, HG_NO_OFFSET,
				"the file is empty: that is what a program leaves that is killed "
				"early under Spacetime"));
	}
	bool is_series = spacetime_begins(bytes, size);
	trace->strict = strict;
	trace->descriptor = is_series ? -1 : base_file_reopen(&trace->file, path);
	enum hg_status status = is_series
					? spacetime_open(&trace->series, bytes, size, strict, error)
					: memtrace_open(&trace->reader, bytes, size,
						  trace->descriptor, strict, error);
	if (status != HG_OK) {
		close_trace_file(trace);
		return query_trace_failed(trace, status);
	}
	if (is_series)
		trace->header = (struct hg_trace_info){.path = trace->path,
			.format = HG_TRACE_SPACETIME,
			.file_bytes = size,
			.executable = "",
			.host = "",
			.parameters = "",
			.context = "",
			.rate = 1,
			.word_bytes = 8};
	else
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

enum hg_status hg_trace_set_filter(struct hg_trace *trace, const struct hg_trace_filter *filter)
{
	if (!trace)
		return HG_ERROR_USAGE;
	struct hg_error *error = &trace->session->error;
	base_error_clear(error);
	if (filter && filter->size < sizeof(filter->size))
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "no filter");
	if (filter && !trace->reader)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"a series of Spacetime has no filters");
	return query_filter_set(&trace->filter, filter, error);
}

void hg_trace_close(struct hg_trace *trace)
{
	if (!trace)
		return;
	memtrace_close(trace->reader);
	spacetime_close(&trace->series);
	spacetime_program_close(trace->program);
	base_pool_release(&trace->series_pool);
	trace_names_release(&trace->names);
	query_filter_release(&trace->filter);
	close_trace_file(trace);
	free(trace->path);
	free(trace);
}
