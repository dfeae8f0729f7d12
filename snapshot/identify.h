/*
 * What a file is, for people: a line of text.
 */
#ifndef SNAPSHOT_IDENTIFY_H
#define SNAPSHOT_IDENTIFY_H

#include "base/session.h"

/* The text goes to the buffer, cut as by snprintf(3); the error names the path. */
enum hg_status snap_identify(const struct hg_session *session, const char *path, char *buffer,
	size_t size, struct hg_error *error);

#endif
