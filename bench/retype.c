/*
 * retype SNAPSHOT PROFILE RUNS: what it costs to type the blocks of a snapshot.  Prints a line:
 * blocks, edges along which types went, the median over the runs of nanoseconds of process CPU for
 * each edge, bytes of anonymous memory at the peak for each block (what stays and what is needed
 * meanwhile; not the profile), percent of blocks with a type, shape clashes.
 */
#include "bench/measure.h"
#include "query/shared/query.h"

static void fail(const struct hg_error *error)
{
	fprintf(stderr, "retype: %s: %s\n", error->file, error->message);
	exit(1);
}

/* Types anew: the profile is read each time, but that does not count. */
static double type_blocks(struct hg_snapshot *snapshot, double *bytes)
{
	struct hg_error *error = &snapshot->session->error;
	struct retype_options options = snapshot->retype_options;
	struct base_arena arena;
	struct sampler sampler;
	uint64_t *unreached = NULL;
	retype_release(&snapshot->retype);
	if (retype_open(&snapshot->retype, &snapshot->snap, &snapshot->retype_options, error) !=
		HG_OK)
		fail(error);
	double before = anonymous_bytes();
	sampler_start(&sampler);
	double start = cpu_seconds();
	if (base_arena_init(&arena, &snapshot->session->budget, "types", error) != HG_OK ||
		graph_unreached(&snapshot->graph, &arena, &unreached, error) != HG_OK)
		fail(error);
	options.unreached = unreached;
	if (retype_run(&snapshot->retype, &snapshot->snap, &options, error) != HG_OK)
		fail(error);
	double seconds = cpu_seconds() - start;
	*bytes = sampler_stop(&sampler) - before;
	base_arena_release(&arena);
	return seconds;
}

int main(int count, char **arguments)
{
	struct hg_session *session;
	struct hg_snapshot *snapshot;
	double seconds[MOST_RUNS], bytes, most = 0;
	int runs = count == 4 ? atoi(arguments[3]) : 0;
	if (runs < 1 || runs > MOST_RUNS) {
		fprintf(stderr, "usage: retype SNAPSHOT PROFILE RUNS\n");
		return 2;
	}
	struct hg_input input = {
		.size = sizeof(input), .path = arguments[1], .types = arguments[2]};
	if (hg_session_open(NULL, &session) != HG_OK)
		return 1;
	if (hg_snapshot_open(session, &input, &snapshot) != HG_OK ||
		hg_snapshot_analyse(snapshot) != HG_OK)
		fail(hg_session_error(session));
	for (int i = 0; i < runs; i++) {
		seconds[i] = type_blocks(snapshot, &bytes);
		most = bytes > most ? bytes : most;
	}
	const struct retype_counts *counts = &snapshot->retype.counts;
	const struct hg_totals *totals;
	if (hg_count_totals(snapshot, &totals) != HG_OK)
		fail(hg_session_error(session));
	double blocks = (double)snapshot->snap.block_count;
	printf("%.0f %llu %.1f %.1f %.2f %llu\n", blocks, (unsigned long long)counts->edges,
		1e9 * median_of(seconds, (unsigned)runs) / (double)counts->edges, most / blocks,
		100 * (double)totals->typed_blocks / blocks,
		(unsigned long long)counts->shape_clashes);
	hg_snapshot_close(snapshot);
	hg_session_close(session);
	return 0;
}
