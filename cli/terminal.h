/* What the terminal that a report is written to can show. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Whether standard output is a terminal that wants colour. */
bool cli_terminal_has_colour(void);

/* Whether the user's locale has more than ASCII. */
bool cli_terminal_has_utf8(void);

/* Columns of the terminal that standard output is: 0 if it is none. */
size_t cli_terminal_columns(void);

#endif
