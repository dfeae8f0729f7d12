/*
 * The escapes of each sink, all in one place.  Names in a snapshot can be any bytes; nothing of
 * them reaches a terminal, a table or a picture but through one of the rep_text_escape functions.
 */
#ifndef REPORT_WRITERS_ESCAPE_H
#define REPORT_WRITERS_ESCAPE_H

#include "report/writers/spelling.h"

/* For terminals: control bytes, invisible or turning characters and invalid UTF-8 as \xNN. */
void rep_text_escape_terminal(struct rep_text *text, const char *bytes, size_t length);

/* A CSV field by RFC 4180: verbatim, in quotes when it must be. */
void rep_text_escape_csv(struct rep_text *text, const char *bytes, size_t length);

/* A word of a command line for POSIX shells; safe on a terminal, too. */
void rep_text_escape_shell(struct rep_text *text, const char *word);

/* Of XML text or an attribute; what XML cannot hold becomes U+FFFD. */
void rep_text_escape_xml(struct rep_text *text, const char *bytes, size_t length);

/* The inside of a JSON string; bytes that are not UTF-8 become U+FFFD. */
void rep_text_escape_json(struct rep_text *text, const char *bytes, size_t length);

/*
 * What can be turned back into the same bytes, though JSON has no bytes that are not UTF-8: these
 * as \xHH, and \ doubled.
 */
void rep_text_escape_exact(struct rep_text *text, const char *bytes, size_t length);

/* A part of a Graphviz label that shall be drawn as it is; the caller's own "\n" stays outside. */
void rep_text_escape_dot(struct rep_text *text, const char *bytes, size_t length);
/* The same of a tooltip. */
void rep_text_escape_tooltip(struct rep_text *text, const char *bytes, size_t length);

/* With 'mask' for each byte that a terminal would not show as it is. */
void rep_text_mask(struct rep_text *text, const char *bytes, size_t length, char mask);

/* Columns that UTF-8 text takes on a terminal: one for a character, two for a wide one. */
size_t rep_text_width(const char *bytes, size_t length);

/* The characters of UTF-8 text. */
size_t rep_text_columns(const char *bytes, size_t length);

/* After a location or a type in text that may be wrong. */
#define REP_GUESS_MARK " ?"

/*
 * Cuts the end of what comes after 'start' if it takes more columns, 3 of which are "..." then; a
 * 'mark' that it ends with stays.
 */
void rep_text_shorten(struct rep_text *text, size_t start, size_t columns, const char *mark);

#endif
