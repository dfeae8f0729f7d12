#include <heapgraph.h>
#include <stdio.h>

/* The three classes that retain most: by type if types are known, else by location. */
static enum hg_status print_top(struct hg_snapshot *snapshot)
{
	struct hg_top *top;
	char name[256];
	enum hg_key key = hg_has_types(snapshot) ? HG_BY_TYPE : HG_BY_LOCATION;
	enum hg_status status = hg_list_top(snapshot, key, NULL, &top);
	if (status != HG_OK)
		return status;
	for (size_t i = 0; i < top->count && i < 3; i++) {
		size_t length = hg_class_name(snapshot, key, top->rows[i]->id, name, sizeof(name));
		printf("%10ju bytes retained by %s\n", top->rows[i]->retained_bytes,
			length ? name : "blocks of which nothing is known");
	}
	hg_top_release(&top);
	return HG_OK;
}

int main(int count, char **arguments)
{
	struct hg_input input = {.size = sizeof(input), .path = arguments[1]};
	struct hg_session *session;
	struct hg_snapshot *snapshot = NULL;
	if (count != 2) {
		fprintf(stderr, "usage: %s SNAPSHOT\n", arguments[0]);
		return 2;
	}
	if (hg_session_open(NULL, &session) != HG_OK)
		return 1;
	enum hg_status status = hg_snapshot_open(session, &input, &snapshot);
	if (status == HG_OK)
		status = hg_snapshot_analyse(snapshot);
	if (status == HG_OK)
		status = print_top(snapshot);
	if (status != HG_OK) {
		const struct hg_error *error = hg_session_error(session);
		fprintf(stderr, "%s: %s\n", arguments[1], error->message);
	}
	if (snapshot)
		hg_snapshot_close(snapshot);
	hg_session_close(session);
	return status == HG_OK ? 0 : 1;
}
