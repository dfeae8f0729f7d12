/*
 * Runs a fuzz target over inputs that are kept: files, and all files below folders, given as
 * arguments; without any, tests/fuzz/corpus/TARGET for a program named fuzz_replay_TARGET.  Each
 * runs in a process of its own, so that one that crashes or hangs is told by name and the others
 * are run all the same.  The last lines are like those of cmocka's programs.
 */
#include "tests/fuzz/fuzz.h"

#include <ftw.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 60, DEPTH = 16 };

#define PROGRAM "fuzz_replay_"

static unsigned passed, failed;

/* Exactly as long as the input, so that sanitizers see a read behind its end. */
static void run_file(const char *path, size_t size)
{
	uint8_t *data = malloc(size ? size : 1);
	FILE *file = fopen(path, "rb");
	if (!data || !file || fread(data, 1, size, file) != size) {
		perror(path);
		exit(2);
	}
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
}

static void run_apart(const char *path, size_t size)
{
	int status = -1;
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		alarm(SECONDS);
		run_file(path, size);
		exit(0);
	}
	if (child > 0 && waitpid(child, &status, 0) == child && status == 0) {
		passed++;
		return;
	}
	failed++;
	if (child > 0 && WIFSIGNALED(status))
		printf("%s: %s\n", path, strsignal(WTERMSIG(status)));
	else
		printf("%s: exit status %d\n", path, WEXITSTATUS(status));
}

static int visit(const char *path, const struct stat *about, int type, struct FTW *at)
{
	(void)at;
	if (type == FTW_F)
		run_apart(path, (size_t)about->st_size);
	return type == FTW_DNR || type == FTW_NS;
}

static void run_all(const char *path)
{
	if (nftw(path, visit, DEPTH, FTW_PHYS)) {
		printf("%s: cannot be read\n", path);
		failed++;
	}
}

static void run_corpus(const char *program)
{
	char folder[256];
	const char *target = strstr(program, PROGRAM);
	if (!target) {
		printf("usage: %s FILE...\n", program);
		failed++;
		return;
	}
	snprintf(folder, sizeof(folder), "tests/fuzz/corpus/%s", target + strlen(PROGRAM));
	run_all(folder);
}

int main(int count, char **arguments)
{
	for (int i = 1; i < count; i++)
		run_all(arguments[i]);
	if (count < 2)
		run_corpus(arguments[0]);
	if (passed)
		printf("[  PASSED  ] %u test(s).\n", passed);
	if (failed)
		printf("[  FAILED  ] %u test(s).\n", failed);
	return failed || !passed;
}
