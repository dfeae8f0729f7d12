/*
 * Of heapgraph.h: sessions, and what a failure says.
 */
#ifndef HEAPGRAPH_SESSION_H
#define HEAPGRAPH_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HG_API __attribute__((visibility("default")))

/* Of the library that runs, and what serves its memory: "0.1.0 (jemalloc 5.3.0-0)". */
HG_API void hg_version(char *buffer, size_t size);

enum hg_status {
	HG_OK = 0,
	HG_ERROR_USAGE,     /* an argument: unknown format, bad pattern, no such block */
	HG_ERROR_INPUT,     /* a file that cannot be read, or contradicts its format */
	HG_ERROR_OUTPUT,    /* a file that cannot be written */
	HG_ERROR_LIMIT,     /* memory, or a size beyond what the program can hold */
	HG_ERROR_CANCELLED, /* the progress callback said so */
	HG_ERROR_INTERNAL
};

/* "ok", "usage", "input", "output", "limit", "cancelled", "internal" */
HG_API const char *hg_status_name(enum hg_status status);

#define HG_UNKNOWN UINT64_MAX /* for numbers */
#define HG_NO_OFFSET UINT64_MAX

struct hg_error {
	enum hg_status status;
	uint64_t offset;   /* in bytes from the start of the file, or HG_NO_OFFSET */
	char file[4096];   /* empty when no file is concerned */
	char message[512]; /* one line, lower case, without file and offset */
};

struct hg_session;

/*
 * Called from time to time during long work with the name of the phase and how much of it is done;
 * 'total' is 0 when unknown.  Returning true cancels the work (HG_ERROR_CANCELLED).
 */
typedef bool hg_progress_fn(void *data, const char *phase, uint64_t done, uint64_t total);

/* What the rows of tables are ordered by, and shares are shares of. */
enum hg_weight {
	HG_WEIGHT_TOTAL, /* heap and off-heap bytes */
	HG_WEIGHT_HEAP
};

struct hg_options {
	size_t size;
	unsigned threads;    /* for the passes over the heap; 0 means 1 */
	uint64_t max_memory; /* bytes of anonymous memory the session may use; 0: no limit */
	hg_progress_fn *progress;
	void *progress_data;
	uint64_t max_decompressed; /* bytes, zeros included, that a compressed file may decompress
				      to; 0: 1000 times its size, at least 256 MiB, and with zeros
				      at least 16 GiB */
	bool no_host_files; /* use only files that the caller names, and what is in them: none that
			       a core names, and none that lies beside the snapshot */
	enum hg_weight weight; /* of retained bytes that order rows */
};

/* On failure only the status tells why. */
HG_API enum hg_status hg_session_open(const struct hg_options *options, struct hg_session **out);
HG_API void hg_session_close(struct hg_session *session);

/* The last failure of this session; valid until its next call.  NULL of none. */
HG_API const struct hg_error *hg_session_error(const struct hg_session *session);

/* Bytes of big arrays now, and at most so far. */
HG_API void hg_session_memory(const struct hg_session *session, uint64_t *used, uint64_t *peak);

#endif
