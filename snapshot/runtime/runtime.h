/*
 * What the runtime of an OCaml program knows, read out of the image of its process: where
 * its heap is, what its roots are, which blocks are ephemerons or profiled.  OCaml 4.13, 4.14 and
 * 5.0 to 5.5 of x86-64 Linux, stripped or not.
 *
 * Nothing here is trusted: every pointer is followed through snap_image_*, lists that do not end
 * and counts beyond what the image can hold are cut.  What is damaged or missing is left out and
 * said in 'notes', so that a heap can be seen even if a list of the runtime was in the middle of a
 * change.  Only an image that is not such a program fails to open.
 *
 * The runtime keeps using the image, and belongs to one thread at a time.
 *
 * Here is how it is opened, by parts that each have a header of their own; which of them read what
 * is in one table for each family of versions (runtime_4.c, runtime_5.c).
 */
#ifndef SNAPSHOT_RUNTIME_RUNTIME_H
#define SNAPSHOT_RUNTIME_RUNTIME_H

#include "snapshot/runtime/areas.h"
#include "snapshot/runtime/custom.h"
#include "snapshot/runtime/frames.h"
#include "snapshot/runtime/roots.h"
#include "snapshot/runtime/stacks.h"
#include "snapshot/runtime/state.h"

/*
 * On failure *runtime needs no release, and the error says in a line why the image has no heap that
 * can be read: no OCaml, an unsupported version, no symbols.
 */
enum hg_status snap_runtime_open(
	struct snap_runtime *runtime, struct snap_image *image, struct hg_error *error);
void snap_runtime_close(struct snap_runtime *runtime);

/*
 * What the families of runtimes do not share, in the order in which it is read: domains with the
 * counters of the runtime, then the areas of the heap, then roots.
 */
struct snap_family {
	enum hg_status (*read_domains)(struct snap_runtime *runtime, struct hg_error *error);
	enum hg_status (*read_areas)(struct snap_runtime *runtime, struct hg_error *error);
	enum hg_status (*read_roots)(struct snap_runtime *runtime, struct hg_error *error);
};
extern const struct snap_family snap_family_4, snap_family_5;

#endif
