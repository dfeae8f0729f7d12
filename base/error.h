/*
 * Failure reports.  A function that can fail returns an hg_status and, when it is not HG_OK, has
 * filled the one struct hg_error that travels down the call chain.  The innermost function knows
 * what went wrong and at which offset; the one that opened the file adds its name.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "heapgraph.h"

#include <stdarg.h>
#include <stdbool.h>

#define BASE_PRINTF(position, first) __attribute__((format(printf, position, first)))

/* Forwards a failure to the caller. */
#define BASE_TRY(call)                                                                             \
	do {                                                                                       \
		enum hg_status base_try_status = (call);                                           \
		if (base_try_status != HG_OK)                                                      \
			return base_try_status;                                                    \
	} while (0)

/* Puts '?' for control characters, which names of programs and files may hold. */
void base_one_line(char *text);

/* Fills 'error' (may be NULL) and returns 'status'.  'offset' is HG_NO_OFFSET for none. */
enum hg_status base_fail(struct hg_error *error, enum hg_status status, uint64_t offset,
	const char *format, ...) BASE_PRINTF(4, 5);

/* Input that contradicts its format at 'offset': the most frequent failure. */
enum hg_status base_corrupt(struct hg_error *error, uint64_t offset, const char *format, ...)
	BASE_PRINTF(3, 4);

/* "out of memory" for 'bytes' more bytes. */
enum hg_status base_no_memory(struct hg_error *error, uint64_t bytes);

/* Whether a number of errno is about the machine and not about the file: HG_ERROR_LIMIT. */
bool base_is_shortage(int number);

/* Describes a failed call of the system; 'otherwise' is the status unless it was a shortage. */
enum hg_status base_system_failure(
	struct hg_error *error, enum hg_status otherwise, const char *path, const char *what);

/* Names the file an error is about, unless it has a name already. */
void base_error_file(struct hg_error *error, const char *file);

/* Forgets an earlier failure. */
void base_error_clear(struct hg_error *error);

#endif
