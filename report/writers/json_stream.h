/*
 * Writes one JSON value to a stream as it is described, without keeping any of it.  Integers and
 * strings only: no floats.  Members come in the order of the calls.  Values below an 'inline'
 * object or array are written on one line, so that a table has one line per row.
 *
 * Errors of the stream stay with it (ferror); the writer has none of its own.
 */
#ifndef REPORT_WRITERS_JSON_STREAM_H
#define REPORT_WRITERS_JSON_STREAM_H

#include "report/writers/spelling.h"

#include <stdio.h>

struct rep_json {
	FILE *stream;
	unsigned depth;
	unsigned inline_depth; /* depth at which one-line writing began, 0: not in one line */
	bool empty;            /* nothing was written yet at this depth */
	bool after_key;
	struct rep_text scratch;
};

void rep_json_init(struct rep_json *json, FILE *stream);
/* Ends the document with a newline and frees. */
void rep_json_release(struct rep_json *json);

void rep_json_key(struct rep_json *json, const char *key);
void rep_json_begin(struct rep_json *json, char bracket, bool in_line); /* '{' or '[' */
void rep_json_end(struct rep_json *json, char bracket);                 /* '}' or ']' */

void rep_json_string(struct rep_json *json, const char *bytes, size_t length);
void rep_json_unsigned(struct rep_json *json, uint64_t number);
void rep_json_signed(struct rep_json *json, int64_t number);
void rep_json_address(struct rep_json *json, uint64_t address); /* "0x7f12" */
void rep_json_bool(struct rep_json *json, bool value);
void rep_json_null(struct rep_json *json);

#endif
