/* Sessions: options, the budget, the last failure; and the version of the library. */
#include "base/session.h"

#include "base/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hg_version(char *buffer, size_t size)
{
	char backend[48];
	base_arena_backend(backend, sizeof(backend));
	snprintf(buffer, buffer ? size : 0, "%s (%s)", HG_VERSION, backend);
}

/* The bitmaps are useless without a fast population count; every x86-64 since 2008 has it. */
static bool machine_is_supported(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	return __builtin_cpu_supports("popcnt");
#else
	return true;
#endif
}

const char *hg_status_name(enum hg_status status)
{
	static const char *const names[] = {
		"ok", "usage", "input", "output", "limit", "cancelled", "internal"};
	return (unsigned)status < sizeof(names) / sizeof(*names) ? names[status] : "?";
}

enum hg_status hg_session_open(const struct hg_options *options, struct hg_session **out)
{
	if (!out)
		return HG_ERROR_USAGE;
	*out = NULL;
	struct hg_options o = {0};
	if (options) {
		if (options->size < sizeof(options->size))
			return HG_ERROR_USAGE;
		memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
	}
	if (!machine_is_supported())
		return HG_ERROR_LIMIT;
	struct hg_session *session = calloc(1, sizeof(*session));
	if (!session)
		return HG_ERROR_LIMIT;
	session->budget.limit = o.max_memory;
	/* A file of more than 64 times the memory cannot be analysed in it: ranks need more. */
	session->unpack.most = o.max_memory > UINT64_MAX / 64 ? 0 : 64 * o.max_memory;
	session->unpack.asked = o.max_decompressed;
	session->no_host_files = o.no_host_files;
	session->weight = o.weight;
	session->threads = o.threads ? o.threads : 1;
	if (session->threads > BASE_MOST_SLICES)
		session->threads = BASE_MOST_SLICES;
	session->progress = o.progress;
	session->progress_data = o.progress_data;
	base_error_clear(&session->error);
	*out = session;
	return HG_OK;
}

void hg_session_close(struct hg_session *session)
{
	free(session);
}

const struct hg_error *hg_session_error(const struct hg_session *session)
{
	return session ? &session->error : NULL;
}

void hg_session_memory(const struct hg_session *session, uint64_t *used, uint64_t *peak)
{
	if (used)
		*used = session ? session->budget.used : 0;
	if (peak)
		*peak = session ? session->budget.peak : 0;
}

enum hg_status base_progress(
	struct hg_session *session, const char *phase, uint64_t done, uint64_t total)
{
	if (session->progress && session->progress(session->progress_data, phase, done, total))
		return base_fail(&session->error, HG_ERROR_CANCELLED, HG_NO_OFFSET,
			"cancelled in '%s'", phase);
	return HG_OK;
}
