/* What a file is, snapshot or not: the question of the library, answered where formats are. */
#include "snapshot/identify.h"

enum hg_status hg_identify(struct hg_session *session, const char *path, char *buffer, size_t size)
{
	if (!session)
		return HG_ERROR_USAGE;
	base_error_clear(&session->error);
	if (!path)
		return base_fail(&session->error, HG_ERROR_USAGE, HG_NO_OFFSET, "no path is given");
	return snap_identify(session, path, buffer, buffer ? size : 0, &session->error);
}
