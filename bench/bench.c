/*
 * bench SNAPSHOT RUNS THREADS: from mapped file to the retained sizes of all blocks, again and
 * again.  Prints a line of medians over the runs: nanoseconds of process CPU per block by phase,
 * and the peak of anonymous memory in bytes per block, of the analysis and of all of it.  The first
 * run warms up and does not count; a second thread looks at the memory every millisecond while it
 * lasts.
 */
#include "bench/measure.h"
#include "heapgraph.h"

#include <sys/mman.h>

/* Those of the analysis, all of it, and what comes after it where it is asked for. */
enum { TOTAL = 7, TREE, CROSS, PHASES };

static const char *const phases[PHASES] = {"opening", "ranking", "linking", "searching", "grouping",
	"dominators", "summing", "total", "retention tree", "cross edges"};

struct clock {
	unsigned phase;
	double since;
	double *seconds; /* of this run, by phase */
};

static void end_phase(struct clock *clock, unsigned next)
{
	clock->seconds[clock->phase] += cpu_seconds() - clock->since;
	clock->phase = next;
	clock->since = cpu_seconds();
}

static bool on_progress(void *data, const char *phase, uint64_t done, uint64_t total)
{
	struct clock *clock = data;
	(void)done;
	(void)total;
	for (unsigned i = 1; i < TOTAL; i++)
		if (strcmp(phase, phases[i]) == 0 && i != clock->phase)
			end_phase(clock, i);
	return false;
}

static void fail(const struct hg_session *session)
{
	const struct hg_error *error = hg_session_error(session);
	fprintf(stderr, "bench: %s: %s\n", error->file, error->message);
	exit(1);
}

/*
 * Takes and gives back twice the memory that a run needs.  Under a hypervisor that reclaims free
 * pages the first touch of a page may cost fifteen times what it costs otherwise, and that is
 * nothing the program could do about; pages just freed are there.
 */
static void warm_memory(size_t bytes)
{
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	madvise(memory, bytes, MADV_HUGEPAGE);
	for (size_t i = 0; i < bytes; i += 4096)
		memory[i] = 1;
	munmap(memory, bytes);
}

static void ask_retention(struct hg_snapshot *snapshot, struct hg_session *session, double *seconds)
{
	struct hg_retention *tree;
	struct hg_cross_edges *edges;
	double before = cpu_seconds();
	if (hg_retention_open(snapshot, NULL, &tree) != HG_OK)
		fail(session);
	seconds[TREE] = cpu_seconds() - before;
	before = cpu_seconds();
	if (hg_list_cross_edges(tree, &edges) != HG_OK)
		fail(session);
	seconds[CROSS] = cpu_seconds() - before;
	hg_cross_edges_release(&edges);
	hg_retention_close(tree);
}

static uint64_t run(const char *path, unsigned threads, bool with_tree, double *seconds)
{
	struct clock clock = {0, cpu_seconds(), seconds};
	struct hg_options options = {.size = sizeof(options),
		.threads = threads,
		.progress = on_progress,
		.progress_data = &clock};
	struct hg_input input = {.size = sizeof(input), .path = path};
	struct hg_session *session;
	struct hg_snapshot *snapshot;
	struct hg_info info;
	double before = cpu_seconds();
	if (hg_session_open(&options, &session) != HG_OK)
		exit(1);
	if (hg_snapshot_open(session, &input, &snapshot) != HG_OK ||
		hg_snapshot_analyse(snapshot) != HG_OK)
		fail(session);
	end_phase(&clock, TOTAL);
	seconds[TOTAL] = cpu_seconds() - before;
	if (with_tree)
		ask_retention(snapshot, session, seconds);
	info = *hg_snapshot_info(snapshot);
	hg_snapshot_close(snapshot);
	hg_session_close(session);
	return info.blocks;
}

static double median(double (*all)[PHASES], unsigned runs, unsigned phase)
{
	double column[MOST_RUNS];
	for (unsigned i = 0; i < runs; i++)
		column[i] = all[i][phase];
	return median_of(column, runs);
}

int main(int count, char **arguments)
{
	static double all[MOST_RUNS][PHASES], warm_up[PHASES];
	struct sampler sampler;
	if (count != 4) {
		fprintf(stderr, "usage: bench SNAPSHOT RUNS THREADS\n");
		return 2;
	}
	unsigned runs = (unsigned)atoi(arguments[2]), threads = (unsigned)atoi(arguments[3]);
	if (runs < 1 || runs > MOST_RUNS)
		return 2;
	/* What the program and its libraries take before the work begins is not of the heap. */
	double before = anonymous_bytes();
	sampler_start(&sampler);
	uint64_t blocks = run(arguments[1], threads, false, warm_up);
	sampler_stop(&sampler);
	double peak = sampler.peak - before;
	sampler_start(&sampler);
	run(arguments[1], threads, true, warm_up);
	sampler_stop(&sampler);
	for (unsigned i = 0; i < runs; i++) {
		warm_memory(2 * (size_t)(sampler.peak - before));
		run(arguments[1], threads, true, all[i]);
	}
	printf("%llu", (unsigned long long)blocks);
	for (unsigned p = 0; p < PHASES; p++)
		printf(" %.1f", 1e9 * median(all, runs, p) / (double)blocks);
	printf(" %.1f %.1f\n", peak / (double)blocks, (sampler.peak - before) / (double)blocks);
	return 0;
}
