/*
 * types PROFILE RUNS: how long exe.prof takes to be read.  Prints its size in bytes, the median
 * over the runs in microseconds of process CPU, and the kilobytes of anonymous memory that the
 * first run, which does not count, has taken.
 */
#include "base/file.h"
#include "bench/measure.h"
#include "retype/profile/hgprof.h"

static void run(const struct base_file *file, double *seconds, double *kilobytes)
{
	struct retype_types types;
	struct hg_error error;
	double before = anonymous_bytes() / 1024, start = cpu_seconds();
	enum hg_status status = retype_types_init(&types, &error);
	if (status == HG_OK)
		status = retype_hgprof_read(&types, file->bytes, file->size, &error);
	*seconds = cpu_seconds() - start;
	*kilobytes = anonymous_bytes() / 1024 - before;
	if (status != HG_OK) {
		fprintf(stderr, "types: %s\n", error.message);
		exit(1);
	}
	retype_types_release(&types);
}

int main(int argc, char **argv)
{
	double seconds[MOST_RUNS], first, ignored, kilobytes;
	struct base_file file;
	struct hg_error error;
	int runs = argc == 3 ? atoi(argv[2]) : 0;
	if (runs < 1 || runs > MOST_RUNS) {
		fprintf(stderr, "usage: types PROFILE RUNS\n");
		return 2;
	}
	if (base_file_open(&file, argv[1], 0, &error) != HG_OK) {
		fprintf(stderr, "types: %s: %s\n", argv[1], error.message);
		return 1;
	}
	run(&file, &first, &kilobytes);
	for (int i = 0; i < runs; i++)
		run(&file, &seconds[i], &ignored);
	printf("%zu %.0f %.0f\n", file.size, 1e6 * median_of(seconds, (unsigned)runs), kilobytes);
	base_file_close(&file);
	return 0;
}
