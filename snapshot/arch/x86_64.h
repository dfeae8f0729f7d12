/* x86-64: its row, and what its two files share. */
#ifndef SNAPSHOT_ARCH_X86_64_H
#define SNAPSHOT_ARCH_X86_64_H

#include "snapshot/arch/arch.h"

extern const struct snap_arch snap_x86_64;

/* As snap_copied_from() (x86_64_copies.c). */
enum hg_status snap_x86_64_copied_from(const struct snap_image *image, struct snap_range code,
	struct snap_range to, uint64_t initialize, uint64_t *sources, struct hg_error *error);

#endif
