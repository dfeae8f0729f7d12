/*
 * POSIX extended regular expressions for names, unanchored (regex(7)).
 *
 * regexec() of the C library says "no match" also when its memory runs out; here that is a failure
 * like any other.
 */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include "base/error.h"

#include <regex.h>
#include <stdbool.h>

struct base_pattern {
	regex_t regex;
	bool is_compiled;
};

/* HG_ERROR_USAGE if 'text' is no expression. */
enum hg_status base_pattern_compile(
	struct base_pattern *pattern, const char *text, struct hg_error *error);

/* Ignores one that was only zero-initialised, or could not be compiled. */
void base_pattern_release(struct base_pattern *pattern);

enum hg_status base_pattern_match(const struct base_pattern *pattern, const char *name,
	bool *matches, struct hg_error *error);

#endif
