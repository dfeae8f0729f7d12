/* What the terminal is, from its device and the environment. */
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_COLUMNS = 80, FEWEST_COLUMNS = 20, MOST_COLUMNS = 10000 };

bool cli_terminal_has_colour(void)
{
	const char *terminal = getenv("TERM"), *refused = getenv("NO_COLOR");
	return isatty(STDOUT_FILENO) && !(refused && *refused) && terminal &&
	       strcmp(terminal, "dumb") != 0;
}

bool cli_terminal_has_utf8(void)
{
	/* In the order in which the C library asks; nothing else depends on the locale. */
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *locale = getenv(variables[i]);
		if (!locale || !*locale)
			continue;
		const char *charset = strchr(locale, '.');
		return charset && (strncasecmp(charset, ".UTF-8", 6) == 0 ||
					  strncasecmp(charset, ".utf8", 5) == 0);
	}
	return false;
}

/* As POSIX has it: what the user says comes before what the device says. */
static long chosen_columns(void)
{
	const char *columns = getenv("COLUMNS");
	char *end = NULL;
	long number = columns ? strtol(columns, &end, 10) : 0;
	return columns && end != columns && !*end ? number : 0;
}

size_t cli_terminal_columns(void)
{
	struct winsize size = {0};
	if (!isatty(STDOUT_FILENO))
		return 0;
	long columns = chosen_columns();
	if (columns <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		columns = size.ws_col;
	if (columns <= 0)
		columns = USUAL_COLUMNS;
	if (columns < FEWEST_COLUMNS)
		columns = FEWEST_COLUMNS;
	return columns < MOST_COLUMNS ? (size_t)columns : MOST_COLUMNS;
}
