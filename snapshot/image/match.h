/*
 * Whether a file is the one that a process ran, where no build-id tells (musl-gcc, for one, writes
 * none): by what the core itself has of the pages that nobody writes to.
 */
#ifndef SNAPSHOT_IMAGE_MATCH_H
#define SNAPSHOT_IMAGE_MATCH_H

#include "snapshot/image/image.h"

/*
 * The file is open, and its bias known.  HG_ERROR_INPUT, with the name of the file: it is another
 * one.  HG_OK if the core has nothing to compare, too.
 */
enum hg_status snap_match_file(
	const struct snap_image *image, const struct snap_image_file *file, struct hg_error *error);

#endif
