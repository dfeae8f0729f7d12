/*
 * Text that has to fit a terminal: columns of tables get the room that there is, names that are too
 * long lose their middle, and prose goes on in the next line.
 */
#ifndef REPORT_WRITERS_FIT_H
#define REPORT_WRITERS_FIT_H

#include "report/writers/spelling.h"
#include "report/writers/writer.h"

/* Columns between those of a table, and before the first one. */
enum { REP_GAP_COLUMNS = 2 };

/* Whether the cells of a column may be cut: those of all others are numbers. */
bool rep_fit_may_cut(const struct rep_column *column);

/*
 * Makes 'widths', what the cells need, small enough for lines of 'room' columns: first drawings go,
 * then long names are cut, then columns are left out, whose width is then 0.  Those that text does
 * not show have no width before.
 */
void rep_fit_columns(const struct rep_column *columns, unsigned count, size_t room, size_t *widths);

/* Length of the beginning of UTF-8 text that takes at most so many columns. */
size_t rep_fit_prefix(const char *bytes, size_t length, size_t columns);

/*
 * Adds UTF-8 text of which the middle is left out if it takes more columns.  'flags' are those of a
 * column; 'ellipsis' is not longer than 3 columns.
 */
void rep_fit_cut(struct rep_text *text, const char *bytes, size_t length, size_t columns,
	unsigned flags, const char *ellipsis);

/* A piece of a line that was too long. */
struct rep_fit_piece {
	size_t start, end; /* its bytes */
	size_t indent;     /* blanks before it */
	bool cut;          /* a word that takes more than a line */
	bool goes_on;      /* of a command: a backslash has to say that there is more */
};

/*
 * The piece of a line that begins at 'start' (0 for the first): as many words as there is room for.
 * What begins with the name of this program, alone or behind a colon, is a command, which can be
 * pasted: it is not broken inside quotes, and none of its words is cut.
 */
struct rep_fit_piece rep_fit_next(const char *line, size_t length, size_t start, size_t room);

#endif
