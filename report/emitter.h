/*
 * The one way out for reports: a document of sections with key and value, and of tables, written
 * as text for people, as CSV or as JSON by the same calls.
 *
 *     rep_emitter_init(&emitter, stream, format, style);
 *     rep_document_begin(&emitter, "top");
 *     rep_table_begin(&emitter, "rows", columns, count);
 *     rep_cell_name(...); rep_cell_number(...); rep_row_end(&emitter);
 *     rep_table_end(&emitter);
 *     rep_document_end(&emitter);
 *     rep_emitter_release(&emitter);
 *
 * A column says of what kind its cells are; escaping, units and alignment follow from the kind and
 * the format, never from the report.  Text holds back the first rows of a table to find the widths
 * and streams the rest, so that a table may have any number of rows.
 *
 * Errors of the stream stay with it; rep_emitter_broken() lets long tables stop early.
 */
#ifndef REPORT_EMITTER_H
#define REPORT_EMITTER_H

#include "report/json.h"
#include "report/text.h"

enum rep_format { REP_FORMAT_TEXT, REP_FORMAT_CSV, REP_FORMAT_JSON, REP_FORMATS };

/* "text", "csv", "json"; NULL past the end. */
const char *rep_format_name(unsigned format);

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
	REP_HEAD = 4,    /* text: of a long name its beginning is shown, not its end */
	REP_LABEL = 8,   /* text: made of several names, each cut by itself */
};

struct rep_column {
	const char *key;   /* CSV header and JSON member; NULL: in text only */
	const char *title; /* header in text; NULL: not in text */
	enum rep_kind kind;
	unsigned flags;
};

enum { REP_MAX_COLUMNS = 24 };

enum rep_style { REP_PLAIN, REP_BOLD, REP_DIM, REP_GOOD, REP_BAD, REP_BAR };

struct rep_held_cell {
	size_t offset, length, columns;
};

struct rep_emitter {
	FILE *stream;
	enum rep_format format;
	bool colour;
	bool redact;       /* contents of blocks are not to be shown */
	bool has_contents; /* some were shown: what is written is for the user only */
	bool failed;       /* out of memory: the output is not complete */
	bool csv_header;   /* the header of sections was written */
	struct rep_json json;
	const char *section;
	unsigned label_width;

	/* the table being written */
	const struct rep_column *columns;
	unsigned columns_count;
	unsigned column;      /* of the next cell */
	bool csv_started;     /* this row has a field already */
	struct rep_text cell; /* the cell being formatted */
	struct rep_text held; /* text: cells of the rows held back, with the header first */
	struct rep_held_cell *cells;
	size_t cells_count, cells_capacity;
	size_t widths[REP_MAX_COLUMNS];
	bool streaming; /* text: widths are settled */
};

void rep_emitter_init(
	struct rep_emitter *emitter, FILE *stream, enum rep_format format, bool colour);
void rep_emitter_release(struct rep_emitter *emitter);

/* Whether writing has failed for good: the stream has an error or memory ran out. */
bool rep_emitter_broken(const struct rep_emitter *emitter);

/* JSON: the object with schema_version and verb.  CSV and text have no frame. */
void rep_document_begin(struct rep_emitter *emitter, const char *verb);
void rep_document_end(struct rep_emitter *emitter);

/*
 * Sections: a member of that key in JSON, a headline in text (NULL: none), and rows
 * "section,name,value" in CSV.  Values with a NULL label are not in text.
 */
void rep_section_begin(struct rep_emitter *emitter, const char *key, const char *title);
void rep_section_end(struct rep_emitter *emitter);

void rep_value_string(struct rep_emitter *emitter, const char *key, const char *label,
	enum rep_kind kind, const char *string);
void rep_value_number(struct rep_emitter *emitter, const char *key, const char *label,
	enum rep_kind kind, uint64_t number);
void rep_value_bool(struct rep_emitter *emitter, const char *key, const char *label, bool value);

/* Text only: a headline, prose, and one line "label  prose".  Arguments must be escaped. */
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
void rep_cell_bytes(struct rep_emitter *emitter, const char *bytes, size_t length);
/* Text for people in one format and for machines in the others. */
void rep_cell_labelled(struct rep_emitter *emitter, const char *string, const char *text_label);
void rep_cell_number(struct rep_emitter *emitter, uint64_t number);
void rep_cell_change(struct rep_emitter *emitter, uint64_t from, uint64_t to);
void rep_cell_share(struct rep_emitter *emitter, uint64_t part, uint64_t whole);
void rep_cell_none(struct rep_emitter *emitter); /* blank, empty, null */
void rep_row_end(struct rep_emitter *emitter);

/* Text only: a row with nothing but this in the last column. */
void rep_row_remark(struct rep_emitter *emitter, const char *remark);

#endif
