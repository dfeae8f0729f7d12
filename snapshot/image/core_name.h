/*
 * Whose core an ELF core file is, for `heapgraph info`.
 */
#ifndef SNAPSHOT_IMAGE_CORE_NAME_H
#define SNAPSHOT_IMAGE_CORE_NAME_H

#include "base/session.h"

#include <stddef.h>

/*
 * Adds program, threads, process and OCaml runtime to the text in the buffer, as far as the core
 * and the executable it names tell; nothing if they cannot be read.  Fails only if memory runs out.
 */
enum hg_status snap_core_describe(const struct hg_session *session, const char *path, char *buffer,
	size_t size, struct hg_error *error);

#endif
