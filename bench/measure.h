/* What the programs here measure with. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RUNS = 99 };

/* Of the process. */
static inline double cpu_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double anonymous_bytes(void)
{
	char line[256];
	double kilobytes = 0;
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof(line), status))
		if (strncmp(line, "RssAnon:", 8) == 0)
			kilobytes = strtod(line + 8, NULL);
	if (status)
		fclose(status);
	return 1024 * kilobytes;
}

/* A thread that looks at the anonymous memory every millisecond. */
struct sampler {
	pthread_t thread;
	atomic_bool stop;
	double peak; /* bytes */
};

static inline void *sampler_run(void *argument)
{
	struct sampler *sampler = argument;
	while (!sampler->stop) {
		double bytes = anonymous_bytes();
		if (bytes > sampler->peak)
			sampler->peak = bytes;
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
	return NULL;
}

static inline void sampler_start(struct sampler *sampler)
{
	sampler->stop = false;
	sampler->peak = 0;
	if (pthread_create(&sampler->thread, NULL, sampler_run, sampler))
		exit(1);
}

/* Ends it; returns the most that it has seen. */
static inline double sampler_stop(struct sampler *sampler)
{
	sampler->stop = true;
	pthread_join(sampler->thread, NULL);
	return sampler->peak;
}

static inline int measure_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Sorts the values. */
static inline double median_of(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), measure_compare);
	return values[count / 2];
}

#endif
