/*
 * Decompression of zstd data that nobody trusts: 100 KB of it may stand for gigabytes.
 */
#ifndef BASE_UNPACK_H
#define BASE_UNPACK_H

#include "base/error.h"

#include <stdbool.h>

/* What compressed data may decompress to, in bytes with zeros; 0: not said. */
struct base_unpack_limits {
	uint64_t asked; /* what the user allows, instead of what is allowed unasked */
	uint64_t most;  /* beyond which the data is of no use; 64 times the memory allowed */
};

/* What looks at the first bytes, as far as they go, and refuses the rest. */
typedef enum hg_status base_judge_fn(
	void *data, const uint8_t *bytes, size_t size, struct hg_error *error);

/* Whether what a function of zstd returned says that memory ran out, and nothing of the data. */
bool base_zstd_lacks_memory(size_t result);

bool base_is_packed(const uint8_t *bytes, size_t size);

/*
 * Decompresses into a file without a name (in $TMPDIR, else /tmp; pages of zeros become holes) that
 * the caller closes.  'limits' and 'judge' may be NULL.  Allowed unasked are 1000 times the size of
 * the packed bytes, or 256 MiB, and 16 GiB with zeros, if these are more: dumps that were measured
 * shrink to a 30th at most without their zeros.  Nine tenths of the free room of the folder are not
 * exceeded.  Fails with HG_ERROR_INPUT for damaged data, with HG_ERROR_LIMIT beyond a limit.
 */
enum hg_status base_unpack(const uint8_t *packed, size_t packed_size,
	const struct base_unpack_limits *limits, base_judge_fn *judge, void *judge_data, int *fd,
	uint64_t *size, struct hg_error *error);

#endif
