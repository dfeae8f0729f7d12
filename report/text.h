/*
 * Text under construction: a growable string, the spelling of numbers for people, and the escapes
 * of each sink.  Names in a snapshot can be any bytes; nothing of them reaches a terminal, a table
 * or a picture but through one of the rep_text_escape functions.
 *
 * A rep_text starts as {0} and is freed by rep_text_release().  When memory runs out 'failed' is
 * set and further additions are dropped.  Many texts are short-lived: that any of them was lost,
 * for good, says rep_text_lost(), and what was written with it is no answer.
 */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rep_text {
	char *bytes; /* NUL-terminated once anything was added */
	size_t length, capacity;
	bool failed;
	bool is_fixed; /* the bytes are the caller's and do not grow */
};

/* Whether memory ran out under any text of this process that grows. */
bool rep_text_lost(void);

/* A text in the caller's buffer, which takes no memory; what does not fit is dropped. */
struct rep_text rep_text_over(char *buffer, size_t size);

void rep_text_release(struct rep_text *text);
void rep_text_clear(struct rep_text *text);

/* The text as a string, "" for none; valid until the next addition. */
const char *rep_text_string(const struct rep_text *text);

void rep_text_add(struct rep_text *text, const char *bytes, size_t length);
void rep_text_put(struct rep_text *text, const char *string);
void rep_text_printf(struct rep_text *text, const char *format, ...) BASE_PRINTF(2, 3);

/*
 * Room for at least 'length' more bytes and a NUL, for functions that fill a buffer themselves;
 * rep_text_filled() then says how many were used.  NULL when memory runs out.
 */
char *rep_text_room(struct rep_text *text, size_t length);
void rep_text_filled(struct rep_text *text, size_t length);

void rep_text_number(struct rep_text *text, uint64_t number);   /* 1234567 */
void rep_text_count(struct rep_text *text, uint64_t number);    /* 1,234,567 */
void rep_text_size(struct rep_text *text, uint64_t bytes);      /* 1.2 MB, of 1024 KB */
void rep_text_address(struct rep_text *text, uint64_t address); /* 0x7f12 */
void rep_text_percent(struct rep_text *text, uint64_t part, uint64_t whole); /* 12.3 % */

/* part of whole in basis points, rounded; 0 of 0 is 0. */
uint64_t rep_basis_points(uint64_t part, uint64_t whole);

/* For terminals: control bytes, invisible or turning characters and invalid UTF-8 as \xNN. */
void rep_text_escape_terminal(struct rep_text *text, const char *bytes, size_t length);

/* A CSV field by RFC 4180: verbatim, in quotes when it must be. */
void rep_text_escape_csv(struct rep_text *text, const char *bytes, size_t length);

/* The inside of a JSON string; bytes that are not UTF-8 become U+FFFD. */
void rep_text_escape_json(struct rep_text *text, const char *bytes, size_t length);

/* A part of a Graphviz label that shall be drawn as it is; the caller's own "\n" stays outside. */
void rep_text_escape_dot(struct rep_text *text, const char *bytes, size_t length);

/* Columns that UTF-8 text takes on a terminal: its characters. */
size_t rep_text_columns(const char *bytes, size_t length);

/* Behind a location or a type in text that may be wrong. */
#define REP_GUESS_MARK " ?"

/*
 * Cuts the end of what is behind 'start' if it takes more columns, 3 of which are "..." then; a
 * 'mark' that it ends with stays.
 */
void rep_text_shorten(struct rep_text *text, size_t start, size_t columns, const char *mark);

/* Bytes of the valid UTF-8 character at 'bytes', 0 if there is none. */
size_t rep_utf8_character(const uint8_t *bytes, size_t length, uint32_t *character);

#endif
