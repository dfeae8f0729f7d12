/*
 * The neutral calls: they keep count of columns, leave out what is not to be shown, and hand every
 * value to the writer of the format.
 */
#include "report/writers/emitter.h"

#include <stdlib.h>
#include <string.h>

bool rep_emitter_init(
	struct rep_emitter *emitter, FILE *stream, const struct rep_writer *writer, bool colour)
{
	void *state = calloc(1, writer->state_size ? writer->state_size : 1);
	*emitter = (struct rep_emitter){0};
	if (!state)
		return false;
	*emitter = (struct rep_emitter){
		.stream = stream, .writer = writer, .state = state, .colour = colour};
	return true;
}

void rep_emitter_release(struct rep_emitter *emitter)
{
	if (emitter->state && emitter->writer->release)
		emitter->writer->release(emitter->state);
	free(emitter->state);
	*emitter = (struct rep_emitter){0};
}

bool rep_emitter_broken(const struct rep_emitter *emitter)
{
	return emitter->failed || rep_text_lost() || ferror(emitter->stream);
}

void rep_document_begin(struct rep_emitter *emitter, const char *verb)
{
	if (emitter->writer->document_begin)
		emitter->writer->document_begin(emitter, verb);
}

void rep_document_end(struct rep_emitter *emitter)
{
	if (emitter->writer->document_end)
		emitter->writer->document_end(emitter);
}

void rep_section_begin(struct rep_emitter *emitter, const char *key, const char *title)
{
	emitter->section = key;
	if (emitter->writer->section_begin)
		emitter->writer->section_begin(emitter, key, title);
}

void rep_section_end(struct rep_emitter *emitter)
{
	emitter->section = NULL;
	if (emitter->writer->section_end)
		emitter->writer->section_end(emitter);
}

void rep_value_bytes(struct rep_emitter *emitter, const char *key, const char *label,
	enum rep_kind kind, const char *bytes, size_t length)
{
	if (emitter->redact && kind == REP_CONTENT)
		return;
	emitter->has_contents |= kind == REP_CONTENT;
	emitter->writer->value(emitter, key, label,
		&(struct rep_value){
			.type = REP_VALUE_STRING, .kind = kind, .string = {bytes, length}});
}

void rep_value_string(struct rep_emitter *emitter, const char *key, const char *label,
	enum rep_kind kind, const char *string)
{
	rep_value_bytes(emitter, key, label, kind, string, strlen(string));
}

void rep_value_number(struct rep_emitter *emitter, const char *key, const char *label,
	enum rep_kind kind, uint64_t number)
{
	emitter->writer->value(emitter, key, label,
		&(struct rep_value){.type = REP_VALUE_NUMBER, .kind = kind, .number = number});
}

void rep_value_bool(struct rep_emitter *emitter, const char *key, const char *label, bool value)
{
	emitter->writer->value(emitter, key, label,
		&(struct rep_value){.type = REP_VALUE_BOOL, .kind = REP_WORD, .is_true = value});
}

void rep_headline(struct rep_emitter *emitter, const char *title)
{
	rep_prose(emitter, REP_PLAIN, "\n");
	rep_prose(emitter, REP_BOLD, "%s\n", title);
}

void rep_prose(struct rep_emitter *emitter, enum rep_style style, const char *format, ...)
{
	va_list arguments;
	if (!emitter->writer->prose)
		return;
	va_start(arguments, format);
	emitter->writer->prose(emitter, style, format, arguments);
	va_end(arguments);
}

void rep_table_begin(struct rep_emitter *emitter, const char *key, const struct rep_column *columns,
	unsigned count)
{
	emitter->columns = columns;
	emitter->columns_count = count < REP_MAX_COLUMNS ? count : REP_MAX_COLUMNS;
	emitter->column = 0;
	for (unsigned i = 0; i < emitter->columns_count; i++)
		emitter->has_contents |= columns[i].kind == REP_CONTENT && !emitter->redact;
	emitter->writer->table_begin(emitter, key);
}

void rep_table_end(struct rep_emitter *emitter)
{
	if (emitter->writer->table_end)
		emitter->writer->table_end(emitter);
}

/* Hands over the next cell, of the kind of its column. */
static void put_cell(struct rep_emitter *emitter, struct rep_value *value)
{
	const struct rep_column *column = &emitter->columns[emitter->column];
	if (emitter->column == 0 && emitter->writer->row_begin)
		emitter->writer->row_begin(emitter);
	emitter->column++;
	value->kind = column->kind;
	if (emitter->redact && column->kind == REP_CONTENT)
		value->type = REP_VALUE_NONE;
	emitter->writer->cell(emitter, column, value);
}

void rep_cell_string(struct rep_emitter *emitter, const char *string)
{
	put_cell(emitter,
		&(struct rep_value){.type = REP_VALUE_STRING, .string = {string, strlen(string)}});
}

void rep_cell_labelled(struct rep_emitter *emitter, const char *string, const char *label)
{
	rep_cell_string(emitter, emitter->writer->for_people ? label : string);
}

void rep_cell_number(struct rep_emitter *emitter, uint64_t number)
{
	put_cell(emitter, &(struct rep_value){.type = REP_VALUE_NUMBER, .number = number});
}

void rep_cell_bool(struct rep_emitter *emitter, bool value)
{
	put_cell(emitter, &(struct rep_value){.type = REP_VALUE_BOOL, .is_true = value});
}

void rep_cell_change(struct rep_emitter *emitter, uint64_t from, uint64_t to)
{
	put_cell(emitter, &(struct rep_value){.type = REP_VALUE_CHANGE, .change = {from, to}});
}

void rep_cell_share(struct rep_emitter *emitter, uint64_t part, uint64_t whole)
{
	put_cell(emitter, &(struct rep_value){.type = REP_VALUE_SHARE, .share = {part, whole}});
}

void rep_cell_none(struct rep_emitter *emitter)
{
	put_cell(emitter, &(struct rep_value){.type = REP_VALUE_NONE});
}

void rep_row_end(struct rep_emitter *emitter)
{
	emitter->column = 0;
	emitter->writer->row_end(emitter);
}

void rep_row_remark(struct rep_emitter *emitter, const char *remark)
{
	if (!emitter->writer->for_people)
		return;
	while (emitter->column < emitter->columns_count) {
		if (emitter->columns[emitter->column].flags & REP_LAST)
			rep_cell_string(emitter, remark);
		else
			rep_cell_none(emitter);
	}
	rep_row_end(emitter);
}
