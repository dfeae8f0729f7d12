/*
 * machine: what this machine's memory does, to compare figures of benchmarks of two machines by.
 * Prints one line: GB/s of reading 256 MB in order, and nanoseconds of a load that depends on the
 * one before it, at random in 8 MB and in 64 MB.  Best of several, process CPU, one thread.
 */
#include "bench/measure.h"

#include <stdint.h>
#include <sys/mman.h>

enum { ROUNDS = 5, LOADS = 2000000 };

static uint64_t *memory(size_t words)
{
	uint64_t *all =
		mmap(NULL, 8 * words, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED) {
		perror("machine: mmap");
		exit(1);
	}
	madvise(all, 8 * words, MADV_HUGEPAGE);
	return all;
}

static double read_rate(size_t words)
{
	uint64_t *all = memory(words), sum = 0;
	double best = 1e9;
	for (size_t i = 0; i < words; i++)
		all[i] = i;
	for (int round = 0; round < ROUNDS; round++) {
		double before = cpu_seconds();
		for (size_t i = 0; i < words; i++)
			sum += all[i];
		double took = cpu_seconds() - before;
		best = took < best ? took : best;
	}
	munmap(all, 8 * words);
	return sum ? 8e-9 * (double)words / best : 0;
}

/* One cycle through all places, in random order (Sattolo, 1986). */
static void make_cycle(uint64_t *all, size_t words)
{
	uint64_t random = 88172645463325252u;
	for (size_t i = 0; i < words; i++)
		all[i] = i;
	for (size_t i = words - 1; i > 0; i--) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		size_t other = random % i;
		uint64_t swapped = all[i];
		all[i] = all[other];
		all[other] = swapped;
	}
}

static double dependent_load(size_t words)
{
	uint64_t *all = memory(words), at = 0;
	double best = 1e9;
	make_cycle(all, words);
	for (int round = 0; round < ROUNDS; round++) {
		double before = cpu_seconds();
		for (int i = 0; i < LOADS; i++)
			at = all[at];
		double took = cpu_seconds() - before;
		best = took < best ? took : best;
	}
	munmap(all, 8 * words);
	return at < words ? 1e9 * best / (double)LOADS : 0;
}

int main(void)
{
	printf("%.1f %.0f %.0f\n", read_rate((size_t)1 << 25), dependent_load((size_t)1 << 20),
		dependent_load((size_t)1 << 23));
	return 0;
}
