/*
 * Progress of long work on stderr: one line that appears after half a second, is redrawn at most
 * six times a second and is erased at the end.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum cli_progress_when { CLI_PROGRESS_AUTO, CLI_PROGRESS_ALWAYS, CLI_PROGRESS_NEVER };

/* "auto", "always", "never"; NULL past the end. */
const char *cli_progress_name(unsigned index);

struct cli_progress {
	bool shown;      /* to be shown at all */
	bool terminal;   /* redrawn in place; else a line each time */
	bool log_items;  /* a line for each file of a series */
	bool log_phases; /* every phase with the time it took, in lines that stay */
	const char *phase;
	int item_number, item_count;
	uint64_t started, phase_started, last_drawn; /* milliseconds */
};

void cli_progress_init(struct cli_progress *progress, enum cli_progress_when when, bool log_phases);
/* What follows is about one of a series of files. */
void cli_progress_item(struct cli_progress *progress, const char *name, int number, int count);
void cli_progress_end(struct cli_progress *progress);

/* An hg_progress_fn; 'data' is the struct. */
bool cli_progress_report(void *data, const char *phase, uint64_t done, uint64_t total);

/* Erases the line, also from within a signal handler. */
void cli_progress_erase_now(void);

#endif
