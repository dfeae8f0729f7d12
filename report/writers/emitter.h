/*
 * The one way out for reports: a document of sections with key and value, and of tables, written
 * by the same calls in every format of the table of writers.
 *
 *     rep_emitter_init(&emitter, stream, writer, colour);
 *     rep_document_begin(&emitter, "top");
 *     rep_table_begin(&emitter, "rows", columns, count);
 *     rep_cell_string(...); rep_cell_number(...); rep_row_end(&emitter);
 *     rep_table_end(&emitter);
 *     rep_document_end(&emitter);
 *     rep_emitter_release(&emitter);
 *
 * A column says of what kind its cells are.  Contents of blocks are left out here, and nowhere
 * else, when they are not to be shown; escaping, units and alignment are the writer's.
 *
 * Errors of the stream stay with it; rep_emitter_broken() lets long tables stop early.
 */
#ifndef REPORT_WRITERS_EMITTER_H
#define REPORT_WRITERS_EMITTER_H

#include "report/writers/spelling.h"
#include "report/writers/writer.h"

#include <stdio.h>

struct rep_emitter {
	FILE *stream;
	const struct rep_writer *writer;
	void *state; /* the writer's */
	bool colour;
	bool utf8;         /* the reader's terminal has more than ASCII */
	size_t room;       /* columns of that terminal; 0: lines may be of any length */
	bool redact;       /* contents of blocks are not to be shown */
	bool has_contents; /* some were shown: what is written is for the user only */
	bool failed;       /* out of memory: the output is not complete */
	const char *section;

	/* the table being written */
	const struct rep_column *columns;
	unsigned columns_count;
	unsigned column; /* of the next cell */
};

/* False when memory runs out. */
bool rep_emitter_init(
	struct rep_emitter *emitter, FILE *stream, const struct rep_writer *writer, bool colour);
void rep_emitter_release(struct rep_emitter *emitter);

/* Whether writing has failed for good: the stream has an error or memory ran out. */
bool rep_emitter_broken(const struct rep_emitter *emitter);

/* What frames a document: in JSON the object with schema_version and verb. */
void rep_document_begin(struct rep_emitter *emitter, const char *verb);
void rep_document_end(struct rep_emitter *emitter);

/*
 * Sections: a member of that key in JSON, a headline in text (NULL: none), and rows
 * "section,name,value" in CSV.
 */
void rep_section_begin(struct rep_emitter *emitter, const char *key, const char *title);
void rep_section_end(struct rep_emitter *emitter);

/*
 * Values of a section, or outside of all sections of the document itself, which CSV has no room
 * for.  As with columns, text has only those with a label, programs get only those with a key.
 */
void rep_value_string(struct rep_emitter *emitter, const char *key, const char *label,
	enum rep_kind kind, const char *string);
void rep_value_bytes(struct rep_emitter *emitter, const char *key, const char *label,
	enum rep_kind kind, const char *bytes, size_t length);
void rep_value_number(struct rep_emitter *emitter, const char *key, const char *label,
	enum rep_kind kind, uint64_t number);
void rep_value_bool(struct rep_emitter *emitter, const char *key, const char *label, bool value);

/* For people only: a headline, and prose.  Arguments must be escaped. */
void rep_headline(struct rep_emitter *emitter, const char *title);
void rep_prose(struct rep_emitter *emitter, enum rep_style style, const char *format, ...)
	BASE_PRINTF(3, 4);

/*
 * Tables.  Cells come in the order of the columns, one call for each column, whatever the format;
 * cells of columns that the format leaves out are skipped.  'columns' must outlive the table.
 */
void rep_table_begin(struct rep_emitter *emitter, const char *key, const struct rep_column *columns,
	unsigned count);
void rep_table_end(struct rep_emitter *emitter);

void rep_cell_string(struct rep_emitter *emitter, const char *string);
/* One string for programs and another for people. */
void rep_cell_labelled(struct rep_emitter *emitter, const char *string, const char *label);
void rep_cell_number(struct rep_emitter *emitter, uint64_t number);
void rep_cell_bool(struct rep_emitter *emitter, bool value);
void rep_cell_change(struct rep_emitter *emitter, uint64_t from, uint64_t to);
void rep_cell_share(struct rep_emitter *emitter, uint64_t part, uint64_t whole);
void rep_cell_none(struct rep_emitter *emitter); /* blank, empty, null */
void rep_row_end(struct rep_emitter *emitter);

/* For people only: a row with nothing but this in the last column. */
void rep_row_remark(struct rep_emitter *emitter, const char *remark);

#endif
