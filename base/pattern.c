/* Regular expressions of the C library, whose lack of memory is told from "no match". */
#include "base/pattern.h"

#include <errno.h>

enum hg_status base_pattern_compile(
	struct base_pattern *pattern, const char *text, struct hg_error *error)
{
	char message[200];
	int trouble = regcomp(&pattern->regex, text, REG_EXTENDED | REG_NOSUB);
	pattern->is_compiled = trouble == 0;
	if (!trouble)
		return HG_OK;
	regerror(trouble, &pattern->regex, message, sizeof(message));
	if (trouble == REG_ESPACE)
		return base_fail(
			error, HG_ERROR_LIMIT, HG_NO_OFFSET, "'%.200s': %s", text, message);
	return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
		"'%.200s' is no regular expression: %s", text, message);
}

void base_pattern_release(struct base_pattern *pattern)
{
	if (pattern->is_compiled)
		regfree(&pattern->regex);
	pattern->is_compiled = false;
}

/* glibc's regexec() returns REG_NOMATCH for whatever goes wrong; its malloc() leaves a trace. */
enum hg_status base_pattern_match(
	const struct base_pattern *pattern, const char *name, bool *matches, struct hg_error *error)
{
	errno = 0;
	int result = regexec(&pattern->regex, name, 0, NULL, 0);
	*matches = result == 0;
	if (result == 0 || (result == REG_NOMATCH && errno != ENOMEM))
		return HG_OK;
	return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
		"out of memory while a regular expression was matched");
}
