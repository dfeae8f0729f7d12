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

/*
 * One of tests/fixtures/cores, which hold what is needed of files, has no folder in its name; the
 * others are in CORES.
 */
static inline bool is_fixture(const char *core)
{
	return !strchr(core, '/');
}

/* Those in CORES may not be there; then tests do with the fixtures. */
static inline bool has_core(const char *core)
{
	return is_fixture(core) || access(CORES "/README.md", R_OK) == 0;
}

static inline void subject_options(struct snap_image_options *options, char core_path[512],
	char exe_path[512], const char *core, const char *executable)
{
	bool fixture = is_fixture(core);
	snprintf(core_path, 512, fixture ? "tests/fixtures/cores/%s.core.zst" : CORES "/%s.zst",
		core);
	snprintf(exe_path, 512, CORES "/%s.zst", executable ? executable : "");
	*options = (struct snap_image_options){.core = core_path,
		.executable = fixture ? NULL : exe_path,
		.libraries = fixture ? NULL : CORES "/lib"};
}

static inline void subject_open(struct subject *s, const char *core, const char *executable)
{
	char core_path[512], exe_path[512];
	struct snap_image_options options;
	struct hg_error error;
	subject_options(&options, core_path, exe_path, core, executable);
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
