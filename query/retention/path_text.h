/* Paths of the retention tree as text: names in quotation marks where that is needed, and globs. */
#ifndef QUERY_RETENTION_PATH_TEXT_H
#define QUERY_RETENTION_PATH_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Between the names of a path. */
#define QUERY_PATH_JOINT " / "

/* A name as it stands in a path.  As snprintf(). */
size_t query_path_name(const char *name, char *buffer, size_t size);

/* Whether a glob matches all of these bytes: '*' any characters, '?' one, others themselves. */
bool query_glob_matches(const char *glob, const char *text, size_t length);

/* Whether it matches one of the paths that this one hangs below. */
bool query_glob_matches_above(const char *glob, const char *path);

#endif
