/*
 * Text under construction: a string that grows, and the spelling of numbers for people.
 *
 * A rep_text starts as {0} and is freed by rep_text_release().  When memory runs out 'failed' is
 * set and further additions are dropped.  Many texts are short-lived: that any of them was lost,
 * for good, says rep_text_lost(), and what was written with it is no answer.
 */
#ifndef REPORT_WRITERS_SPELLING_H
#define REPORT_WRITERS_SPELLING_H

#include "base/error.h"

#include <stdarg.h>
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
void rep_text_vprintf(struct rep_text *text, const char *format, va_list arguments)
	BASE_PRINTF(2, 0);

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

/* How far apart two numbers are. */
uint64_t rep_difference(uint64_t from, uint64_t to);

#endif
