/*
 * A profile over time that is open: what its file is, and who reads it.
 */
#ifndef QUERY_TRACE_TRACE_H
#define QUERY_TRACE_TRACE_H

#include "base/file.h"
#include "base/session.h"
#include "query/trace/filter.h"
#include "trace/memtrace/reader.h"
#include "trace/spacetime/program.h"

struct hg_trace {
	struct hg_session *session;
	char *path;
	struct base_file file;
	int descriptor;          /* of the file, for the reader; -1: none */
	struct memtrace *reader; /* NULL: it is a series */
	struct spacetime_series series;
	struct hg_spacetime_info *series_info; /* made when first asked for */
	struct base_pool series_pool;          /* of that */
	struct spacetime_program *program;     /* of a series; mostly NULL */
	bool strict;
	struct hg_trace_info header, info;
	struct hg_trace_losses losses;
	struct trace_names names;   /* in results, which may outlive what they were made with */
	struct query_filter filter; /* of all but the description */
	bool described;
};

/*
 * HG_ERROR_USAGE unless there is a trace of the format and a place for the result, a pointer, which
 * is set to NULL.
 */
enum hg_status query_trace_ask(struct hg_trace *trace, enum hg_trace_format format, void *out);
/* The same for a trace of memtrace, which is read from its start again. */
enum hg_status query_trace_begin(struct hg_trace *trace, void *out);

/* Names the file and returns the status. */
enum hg_status query_trace_failed(struct hg_trace *trace, enum hg_status status);
/* The same of another file. */
enum hg_status query_file_failed(struct hg_trace *trace, const char *path, enum hg_status status);

/* At the end of a pass: what the reader says, that the file is as it was, and what was lost. */
enum hg_status query_trace_end(
	struct hg_trace *trace, uint64_t unknown_objects, struct hg_trace_losses *losses);

/* Tells how far a pass is; from time to time. */
enum hg_status query_trace_progress(struct hg_trace *trace);

#endif
