/*
 * A real core with its runtime open, for tests; cmocka.h and core.h must be included before.
 */
#ifndef TESTS_UNIT_SUBJECT_H
#define TESTS_UNIT_SUBJECT_H

#include "snapshot/runtime/runtime.h"

struct subject {
	struct snap_image image;
	struct snap_runtime rt;
};

static inline void subject_open(struct subject *s, const char *core, const char *executable)
{
	char core_path[512], exe_path[512];
	snprintf(core_path, sizeof(core_path), CORES "/%s.zst", core);
	snprintf(exe_path, sizeof(exe_path), CORES "/%s.zst", executable);
	struct snap_image_options options = {
		.core = core_path, .executable = exe_path, .libraries = CORES "/lib"};
	struct hg_error error;
	if (snap_image_open(&s->image, &options, &error) != HG_OK ||
		snap_runtime_open(&s->rt, &s->image, &error) != HG_OK)
		fail_msg("%s: %s: %s", core, error.file, error.message);
}

static inline void subject_close(struct subject *s)
{
	snap_runtime_close(&s->rt);
	snap_image_close(&s->image);
}

#endif
