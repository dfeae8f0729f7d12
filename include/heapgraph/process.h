/*
 * Of heapgraph.h: snapshots of running programs.
 */
#ifndef HEAPGRAPH_PROCESS_H
#define HEAPGRAPH_PROCESS_H

#include "heapgraph/snapshot.h"

/* A native OCaml program, of the same user or for root; opening it neither stops nor changes it. */
struct hg_process;

/* Fails with HG_ERROR_INPUT, which says why or what to do, when it cannot be captured. */
HG_API enum hg_status hg_process_open(struct hg_session *session, int pid, struct hg_process **out);
HG_API void hg_process_close(struct hg_process *process);

/*
 * Why files of the process will not be read by this library, as a sentence: it is of an OCaml that
 * is not known.  "" if they will.  Lives as long as the process is open.
 */
HG_API const char *hg_process_unreadable(const struct hg_process *process);

/* What the program counts, read without stopping it; HG_UNKNOWN for what cannot be told. */
struct hg_counters {
	uint64_t major_collections; /* finished */
	uint64_t heap_bytes;        /* of OCaml 4: the major heap; of 5: all private memory */
};

/* NULL when the process has ended; valid until the next call with it. */
HG_API const struct hg_counters *hg_process_counters(struct hg_process *process);

struct hg_capture_options {
	size_t size;
	const char *path; /* a file, which is replaced; or a folder (NULL: the current one), for
			     heap.dump.PID.N with the next free N */
	enum hg_capture_method method;
	const char *trigger; /* what made you do it, for the note in the file; may be NULL */
};

struct hg_capture {
	char path[4096];
	uint64_t index;            /* N; 0 if the file was named */
	uint64_t pause_ns;         /* from the first thread stopped to the last one resumed */
	uint64_t stops;            /* 1, or more when it was amid a minor collection before */
	uint64_t earlier_pause_ns; /* of the stops before, together */
	uint64_t written_bytes;    /* to the file, which is sparse */
	uint64_t missing_bytes;    /* of memory that could not be read */
	enum hg_capture_method method;
	enum hg_moment moment; /* that it was stopped at */
	bool left_zombie;  /* the forked child could not be waited for: the process did not stop */
	char instead[512]; /* HG_CAPTURE_ANY: why there was no fork, as a sentence; or "" */
};

/*
 * Writes a core file of the process, which goes on unharmed; also after every failure, and when the
 * caller is killed (docs/capture.md).  What was written is valid until the next call with the
 * process, and told of a failure too, as far as it went.  It uses a thread and a process of its
 * own, which have ended when it returns.  While it works, signals of the calling thread wait;
 * SIGINT, SIGTERM and SIGHUP end it as HG_ERROR_CANCELLED.
 */
HG_API enum hg_status hg_capture_process(struct hg_process *process,
	const struct hg_capture_options *options, const struct hg_capture **out);

#endif
