/* A trace beside a snapshot: whether they belong together, and one pass over its events. */
#include "query/join/join.h"

#include "query/trace/pass.h"

#include "base/grow.h"

#include <string.h>

static enum hg_status refuse_join(
	struct hg_snapshot *snapshot, enum hg_status status, const char *why)
{
	struct hg_error *error = &snapshot->session->error;
	base_fail(error, status, HG_NO_OFFSET, "%s", why);
	base_error_file(error, snapshot->join->path);
	return status;
}

static enum hg_status check_joined(struct hg_snapshot *snapshot, const struct hg_trace_info *trace)
{
	const struct snap *snap = &snapshot->snap;
	struct hg_error *error = &snapshot->session->error;
	if (trace->format != HG_TRACE_MEMTRACE)
		return refuse_join(snapshot, HG_ERROR_USAGE,
			"a series of Spacetime has no object ids: a trace of memtrace is needed");
	if (!snap->process)
		return refuse_join(snapshot, HG_ERROR_USAGE,
			"a trace goes with a core, as only cores have what Gc.Memprof keeps; the "
			"snapshot is none");
	if (snap->pid == HG_UNKNOWN || snap->pid == trace->pid)
		return HG_OK;
	base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
		"the trace is of process %llu, and the snapshot of process %llu",
		(unsigned long long)trace->pid, (unsigned long long)snap->pid);
	base_error_file(error, snapshot->join->path);
	return HG_ERROR_INPUT;
}

enum hg_status query_join_open(struct hg_snapshot *snapshot, const char *path)
{
	struct hg_error *error = &snapshot->session->error;
	struct query_join *join = calloc(1, sizeof(*join));
	if (!join)
		return base_no_memory(error, sizeof(*join));
	snapshot->join = join;
	join->path = strdup(path);
	if (!join->path)
		return base_no_memory(error, strlen(path));
	join->result.trace = join->path;
	BASE_TRY(hg_trace_open(snapshot->session, path, NULL, &join->trace));
	return check_joined(snapshot, hg_trace_header(join->trace));
}

void query_join_release(struct query_join *join)
{
	if (!join)
		return;
	hg_trace_close(join->trace);
	free(join->path);
	free(join);
}

const struct hg_join *hg_snapshot_join(const struct hg_snapshot *snapshot)
{
	return snapshot && snapshot->join && snapshot->join->is_read ? &snapshot->join->result
								     : NULL;
}

/* The blocks with an id; of a block that is tracked twice the first one. */
static enum hg_status collect_ids(struct query_joining *j)
{
	const struct snap *snap = &j->snapshot->snap;
	struct snap_tracked tracked;
	for (uint64_t i = 0; snap_process_tracked(snap, i, &tracked); i++) {
		uint64_t number = j->count;
		bool added;
		if (!tracked.has_id || (j->count && j->blocks[j->count - 1].tracked.address.a ==
							    tracked.address.a))
			continue;
		BASE_TRY(base_grow(
			&j->blocks, j->count, &j->capacity, sizeof(*j->blocks), j->error));
		j->blocks[j->count++] = (struct query_joined){.tracked = tracked};
		BASE_TRY(base_map_add(&j->by_id, (uint64_t)tracked.id, &number, &added, j->error));
		/* memtrace gives each number once. */
		if (!added)
			j->blocks[j->count - 1].state = QUERY_JOIN_DIFFERS;
	}
	if (j->count)
		return HG_OK;
	return refuse_join(j->snapshot, HG_ERROR_INPUT,
		snap->tracked_stacks
			? "the snapshot has the call stacks that Gc.Memprof keeps, "
			  "and no object ids of memtrace: it needs no trace"
			: "Gc.Memprof keeps no object ids of memtrace in the snapshot");
}

static enum hg_status name_codes(struct query_joining *j)
{
	uint64_t count = memtrace_places(j->trace->reader)->code_count;
	while (j->code_count < count) {
		BASE_TRY(base_grow(
			&j->codes, j->code_count, &j->code_capacity, sizeof(*j->codes), j->error));
		j->codes[j->code_count] = (uint32_t)j->code_count;
		j->code_count++;
	}
	j->calls.functions = j->codes;
	return HG_OK;
}

/* The innermost location; NULL if there is none. */
static const struct memtrace_location *place_of_event(
	const struct memtrace_locations *locations, const struct memtrace_event *event)
{
	if (event->truncated || event->depth == 0)
		return NULL;
	const struct memtrace_code *code = &locations->codes[event->stack[event->depth - 1]];
	return code->count ? &locations->locations[code->first + code->count - 1] : NULL;
}

static enum hg_status join_allocation(struct query_joining *j, const struct memtrace_event *event)
{
	uint32_t node;
	uint64_t number;
	BASE_TRY(name_codes(j));
	BASE_TRY(query_calls_node(&j->calls, event, &node, j->error));
	if (!base_map_get(&j->by_id, event->object, &number) ||
		j->blocks[number].state != QUERY_JOIN_MISSING)
		return HG_OK;
	struct query_joined *block = &j->blocks[number];
	if (event->length != block->tracked.wosize || event->samples != block->tracked.samples) {
		block->state = QUERY_JOIN_DIFFERS;
	} else if (!place_of_event(j->calls.locations, event)) {
		block->state = QUERY_JOIN_UNPLACED;
	} else {
		block->state = QUERY_JOIN_PLACED;
		block->node = node;
		block->code = event->stack[event->depth - 1];
	}
	return HG_OK;
}

static enum hg_status pass_over_trace(struct query_joining *j)
{
	struct query_pass pass;
	struct memtrace_event event;
	struct hg_trace_losses losses;
	BASE_TRY(query_pass_begin(&pass, j->trace, NULL));
	while (query_pass_next(&pass, &event)) {
		if (event.kind == MEMTRACE_ALLOCATION)
			pass.status = join_allocation(j, &event);
	}
	enum hg_status status = query_pass_end(&pass, 0, &losses);
	query_pass_release(&pass);
	if (status == HG_OK)
		j->snapshot->join->result.losses = losses;
	return status;
}

static enum hg_status judge_join(struct query_joining *j)
{
	struct hg_join *result = &j->snapshot->join->result;
	uint64_t counts[QUERY_JOIN_PLACED + 1] = {0};
	for (uint64_t i = 0; i < j->count; i++)
		counts[j->blocks[i].state]++;
	result->ids = j->count;
	result->placed = counts[QUERY_JOIN_PLACED];
	result->unplaced = counts[QUERY_JOIN_UNPLACED];
	result->missing = counts[QUERY_JOIN_MISSING];
	result->differing = counts[QUERY_JOIN_DIFFERS];
	uint64_t found = result->placed + result->unplaced;
	/* Sizes agree by chance, too, in a program that makes few: nearly all must. */
	if (found > 20 * result->differing)
		return HG_OK;
	base_fail(j->error, HG_ERROR_INPUT, HG_NO_OFFSET,
		"the trace is not of this run: of %llu object ids in the snapshot %llu are in it, "
		"and %llu have another size there",
		(unsigned long long)result->ids, (unsigned long long)(found + result->differing),
		(unsigned long long)result->differing);
	return query_trace_failed(j->trace, HG_ERROR_INPUT);
}

static enum hg_status join_with_trace(struct query_joining *j)
{
	BASE_TRY(collect_ids(j));
	BASE_TRY(query_calls_init(&j->calls, memtrace_places(j->trace->reader),
		&j->trace->session->budget, QUERY_PLACES, NULL, j->error));
	BASE_TRY(name_codes(j));
	BASE_TRY(pass_over_trace(j));
	BASE_TRY(judge_join(j));
	return query_join_place(j);
}

enum hg_status query_join_read(struct hg_snapshot *snapshot)
{
	struct query_join *join = snapshot->join;
	if (!join)
		return HG_OK;
	struct query_joining joining = {
		.snapshot = snapshot, .trace = join->trace, .error = &snapshot->session->error};
	enum hg_status status = join_with_trace(&joining);
	free(joining.blocks);
	free(joining.codes);
	base_map_release(&joining.by_id);
	query_calls_release(&joining.calls);
	hg_trace_close(join->trace);
	join->trace = NULL;
	join->is_read = status == HG_OK;
	return status;
}
