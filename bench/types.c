/*
 * types PROFILE RUNS: how long exe.prof takes to be read.  Prints its size in bytes, the median
 * over the runs in microseconds of process CPU, and the kilobytes of anonymous memory that the
 * first run, which does not count, has taken.
 */
#include "base/file.h"
#include "retype/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RUNS = 99 };

static double cpu_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double anonymous_kilobytes(void)
{
	char line[256];
	double kilobytes = 0;
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof(line), status))
		if (strncmp(line, "RssAnon:", 8) == 0)
			kilobytes = strtod(line + 8, NULL);
	if (status)
		fclose(status);
	return kilobytes;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void run(const struct base_file *file, double *seconds, double *kilobytes)
{
	struct retype_types types;
	struct hg_error error;
	double before = anonymous_kilobytes(), start = cpu_seconds();
	enum hg_status status = retype_types_init(&types, &error);
	if (status == HG_OK)
		status = retype_hgprof_read(&types, file->bytes, file->size, &error);
	*seconds = cpu_seconds() - start;
	*kilobytes = anonymous_kilobytes() - before;
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
	qsort(seconds, (size_t)runs, sizeof(*seconds), compare);
	printf("%zu %.0f %.0f\n", file.size, 1e6 * seconds[runs / 2], kilobytes);
	base_file_close(&file);
	return 0;
}
