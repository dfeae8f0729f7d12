/* Progress on stderr, redrawn in place on a terminal. */
#include "cli/progress.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DELAY_MS = 500, INTERVAL_MS = 167 };

static volatile sig_atomic_t line_is_drawn;

const char *cli_progress_name(unsigned index)
{
	static const char *const names[] = {"auto", "always", "never"};
	return index <= CLI_PROGRESS_NEVER ? names[index] : NULL;
}

static uint64_t milliseconds_now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static bool stderr_is_terminal(void)
{
	const char *terminal = getenv("TERM");
	return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

void cli_progress_init(struct cli_progress *progress, enum cli_progress_when when, bool log_phases)
{
	*progress = (struct cli_progress){.terminal = stderr_is_terminal(),
		.log_phases = log_phases,
		.started = milliseconds_now()};
	progress->shown =
		when == CLI_PROGRESS_ALWAYS || (when == CLI_PROGRESS_AUTO && progress->terminal);
}

void cli_progress_erase_now(void)
{
	static const char erase[] = "\r\033[K";
	if (!line_is_drawn)
		return;
	line_is_drawn = 0;
	if (write(STDERR_FILENO, erase, sizeof(erase) - 1) < 0)
		return; /* nothing better to do about it */
}

static void end_progress_phase(struct cli_progress *progress, uint64_t time)
{
	if (!progress->log_phases || !progress->phase)
		return;
	cli_progress_erase_now();
	uint64_t took = time - progress->phase_started;
	fprintf(stderr, "heapgraph: %s: %u.%03u s\n", progress->phase, (unsigned)(took / 1000),
		(unsigned)(took % 1000));
}

static void draw_progress(struct cli_progress *progress, uint64_t done, uint64_t total)
{
	char item[48] = "", line[120];
	if (progress->item_count > 1)
		snprintf(item, sizeof(item), "snapshot %d of %d: ", progress->item_number,
			progress->item_count);
	int length =
		total ? snprintf(line, sizeof(line), "heapgraph: %s%s %u %%", item, progress->phase,
				(unsigned)(100.0 * (double)done / (double)total))
		      : snprintf(line, sizeof(line), "heapgraph: %s%s", item, progress->phase);
	if (length < 0)
		return;
	if (progress->terminal) {
		line_is_drawn = 1;
		fprintf(stderr, "\r%s\033[K", line);
	} else {
		fprintf(stderr, "%s\n", line);
	}
	fflush(stderr);
}

bool cli_progress_report(void *data, const char *phase, uint64_t done, uint64_t total)
{
	struct cli_progress *progress = data;
	uint64_t time = milliseconds_now();
	if (!progress->phase || strcmp(progress->phase, phase) != 0) {
		end_progress_phase(progress, time);
		progress->phase = phase;
		progress->phase_started = time;
	}
	if (progress->shown && time - progress->started >= DELAY_MS &&
		time - progress->last_drawn >= INTERVAL_MS) {
		progress->last_drawn = time;
		draw_progress(progress, done, total);
	}
	return false;
}

void cli_progress_item(struct cli_progress *progress, const char *name, int number, int count)
{
	progress->item_number = number;
	progress->item_count = count;
	if (!progress->log_items)
		return;
	cli_progress_erase_now();
	fprintf(stderr, "heapgraph: %s, %d of %d\n", name, number, count);
}

void cli_progress_end(struct cli_progress *progress)
{
	end_progress_phase(progress, milliseconds_now());
	progress->phase = NULL;
	cli_progress_erase_now();
}
