/*
 * Backtraces as code: what the reader in backtraces.h decodes.  The encoder has the same cache, and
 * knows for each code the slot that it is in.
 */
#ifndef TRACE_MEMTRACE_ENCODER_H
#define TRACE_MEMTRACE_ENCODER_H

#include "base/hash.h"
#include "trace/memtrace/backtraces.h"

/* 230 KB, and 8 bytes a frame of the deepest backtrace. */
struct memtrace_encoder {
	struct memtrace_encoder_slot {
		uint64_t code;
		uint16_t next; /* the slot that was used after this one */
	} slots[MEMTRACE_SLOTS];
	uint64_t *last; /* the last backtrace, all of it */
	uint64_t depth, capacity;
	struct base_map slot_of; /* by code; may be out of date */
	uint16_t victim;         /* the slot that the next new code takes */
};

enum { MEMTRACE_MOST_CODE = 4096 }; /* bytes of a backtrace's code */

void memtrace_encoder_release(struct memtrace_encoder *encoder);

/*
 * Appends the code of a backtrace's frames behind the first *common ones, which are those of the
 * last one, to 'bytes', of which there is room for MEMTRACE_MOST_CODE, and says how many bytes and
 * words of code there are.  What does not fit is left out, the innermost frames.  *is_new is told
 * of each code that is not in the cache.
 */
typedef enum hg_status memtrace_new_code_fn(void *data, uint64_t code, struct hg_error *error);
enum hg_status memtrace_encode(struct memtrace_encoder *encoder, const uint64_t *codes,
	uint64_t depth, uint64_t *common, uint8_t *bytes, unsigned *length, unsigned *words,
	memtrace_new_code_fn *is_new, void *data, struct hg_error *error);

#endif
