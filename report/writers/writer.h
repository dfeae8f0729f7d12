/*
 * How a document is written in one output format.  Every format is one struct rep_writer in a file
 * of its own, and a row of the table in writer.c: nothing else knows it by name.  Reports use the
 * calls of emitter.h, and where people and programs are told different things they ask for the
 * traits here.
 */
#ifndef REPORT_WRITERS_WRITER_H
#define REPORT_WRITERS_WRITER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a value is; escaping, units and alignment follow from it and the format. */
enum rep_kind {
	REP_WORD,    /* a word of ours: "int", "heap", "exact" */
	REP_NAME,    /* a name out of the snapshot: location, module, root, type */
	REP_CONTENT, /* bytes out of the heap: left out if contents are not to be shown */
	REP_PATH,    /* a file of the user's machine */
	REP_ADDRESS,
	REP_BYTES,        /* text: 1.2 MB */
	REP_COUNT,        /* text: 1,234 */
	REP_CHANGE_BYTES, /* signed: +1.2 MB */
	REP_CHANGE_COUNT,
	REP_NUMBER, /* an identifying number: tag, field, index */
	REP_SHARE   /* text: 12.3 % and a bar; JSON: basis points */
};

enum rep_column_flags {
	REP_LAST = 1,    /* text: right of all other columns, any length */
	REP_NOT_CSV = 2, /* not part of the CSV contract */
	REP_HEAD = 4,    /* terminal: what is cut out of a long name is nearer to its end */
	REP_LABEL = 8,   /* terminal: names behind an indentation, which stays if they are cut */
	REP_DRAWING = 16 /* terminal: left out first where there is no room for all columns */
};

struct rep_column {
	const char *key;   /* CSV header and JSON member; NULL: in text only */
	const char *title; /* header in text; NULL: not in text */
	enum rep_kind kind;
	unsigned flags;
};

enum { REP_MAX_COLUMNS = 32 };

enum rep_style { REP_PLAIN, REP_BOLD, REP_DIM, REP_GOOD, REP_BAD, REP_BAR };

/* What a cell of a table, or a value of a section, holds. */
enum rep_value_type {
	REP_VALUE_NONE, /* blank, empty, null */
	REP_VALUE_STRING,
	REP_VALUE_NUMBER,
	REP_VALUE_BOOL,
	REP_VALUE_CHANGE,
	REP_VALUE_SHARE
};

struct rep_value {
	enum rep_value_type type;
	enum rep_kind kind;
	union {
		struct {
			const char *bytes;
			size_t length;
		} string;
		uint64_t number;
		bool is_true;
		struct {
			uint64_t from, to;
		} change;
		struct {
			uint64_t part, whole;
		} share;
	};
};

struct rep_emitter;

struct rep_writer {
	const char *name; /* of the format, as --format takes it */

	/* Prose, headlines and marks of guesses; the largest rows only, unless told otherwise. */
	bool for_people;
	/* A document has one table or sections only: what stands beside its main part is left out.
	 */
	bool one_part;
	/* Says of what snapshots a document is, and all values: programs need no other source. */
	bool tells_all;

	size_t state_size; /* of emitter->state, which begins as zeros */

	/* Each of these may be NULL: the format has no such thing. */
	void (*release)(void *state); /* of what the state owns, not of itself */
	void (*document_begin)(struct rep_emitter *emitter, const char *verb);
	void (*document_end)(struct rep_emitter *emitter);
	void (*section_begin)(struct rep_emitter *emitter, const char *key, const char *title);
	void (*section_end)(struct rep_emitter *emitter);
	void (*prose)(struct rep_emitter *emitter, enum rep_style style, const char *format,
		va_list arguments);
	void (*row_begin)(struct rep_emitter *emitter);
	void (*table_end)(struct rep_emitter *emitter);

	/*
	 * All formats have these.  Of key and label one may be NULL: the value is for people only,
	 * or for programs only.  The columns are emitter->columns.
	 */
	void (*value)(struct rep_emitter *emitter, const char *key, const char *label,
		const struct rep_value *value);
	void (*table_begin)(struct rep_emitter *emitter, const char *key);
	void (*cell)(struct rep_emitter *emitter, const struct rep_column *column,
		const struct rep_value *value);
	void (*row_end)(struct rep_emitter *emitter);
};

extern const struct rep_writer rep_writer_text, rep_writer_csv, rep_writer_json;

/* In the order of help, the default first; NULL past the end. */
const struct rep_writer *rep_writer_at(unsigned index);
const char *rep_writer_name(unsigned index);

#endif
