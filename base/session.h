/*
 * What every layer may need of the session it works for: the budget of its arrays, the number of
 * threads, and whom to tell about progress.  Owned by whoever called hg_session_open().
 */
#ifndef BASE_SESSION_H
#define BASE_SESSION_H

#include "base/arena.h"
#include "base/unpack.h"

struct hg_session {
	struct base_budget budget;
	unsigned snapshots;               /* open; without one, nothing of the budget is used */
	struct base_unpack_limits unpack; /* of all compressed files of input */
	bool no_host_files; /* only files that the caller named, and what is in them, are used */
	enum hg_weight weight;
	unsigned threads; /* at least 1 */
	hg_progress_fn *progress;
	void *progress_data;
	struct hg_error error;
};

/* What rows go by. */
static inline uint64_t base_weigh(
	enum hg_weight weight, uint64_t heap_bytes, uint64_t offheap_bytes)
{
	return heap_bytes + (weight == HG_WEIGHT_TOTAL ? offheap_bytes : 0);
}

/* Tells how far a phase is; HG_ERROR_CANCELLED when the user has had enough. */
enum hg_status base_progress(
	struct hg_session *session, const char *phase, uint64_t done, uint64_t total);

#endif
