#include <heapgraph.h>
#include <stdio.h>

int main(int count, char **arguments)
{
	struct hg_input input = {.size = sizeof(input), .path = count > 1 ? arguments[1] : ""};
	struct hg_session *session;
	struct hg_snapshot *snapshot = NULL;
	struct hg_top top = {0};
	char name[256];
	if (hg_session_open(NULL, &session) != HG_OK)
		return 1;
	if (hg_snapshot_open(session, &input, &snapshot) == HG_OK &&
		hg_snapshot_analyse(snapshot) == HG_OK)
		hg_top(snapshot, HG_BY_LOCATION, &top);
	for (size_t i = 0; i < top.count && i < 3; i++) {
		hg_class_name(snapshot, HG_BY_LOCATION, top.rows[i].id, name, sizeof(name));
		printf("%10ju bytes retained by %s\n", top.rows[i].retained_bytes, name);
	}
	if (*hg_session_error(session)->message)
		fprintf(stderr, "%s\n", hg_session_error(session)->message);
	hg_top_release(&top);
	if (snapshot)
		hg_snapshot_close(snapshot);
	hg_session_close(session);
	return 0;
}
