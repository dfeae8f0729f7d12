/* JSON as it is described, value by value. */
#include "report/writers/json_stream.h"

#include "report/writers/escape.h"

#include <string.h>

void rep_json_init(struct rep_json *json, FILE *stream)
{
	*json = (struct rep_json){.stream = stream, .empty = true};
}

void rep_json_release(struct rep_json *json)
{
	putc_unlocked('\n', json->stream);
	rep_text_release(&json->scratch);
}

static void flush_json(struct rep_json *json)
{
	fwrite_unlocked(rep_text_string(&json->scratch), 1, json->scratch.length, json->stream);
	rep_text_clear(&json->scratch);
}

static void break_json_line(struct rep_json *json)
{
	putc_unlocked('\n', json->stream);
	for (unsigned i = 0; i < json->depth; i++)
		fputs_unlocked("  ", json->stream);
}

/* What stands between the last item and the next one. */
static void separate_json(struct rep_json *json)
{
	if (json->after_key) {
		json->after_key = false;
		return;
	}
	if (!json->empty)
		putc_unlocked(',', json->stream);
	if (json->inline_depth) {
		if (!json->empty)
			putc_unlocked(' ', json->stream);
	} else if (json->depth) {
		break_json_line(json);
	}
	json->empty = false;
}

void rep_json_key(struct rep_json *json, const char *key)
{
	rep_json_string(json, key, strlen(key));
	fputs_unlocked(": ", json->stream);
	json->after_key = true;
}

void rep_json_begin(struct rep_json *json, char bracket, bool in_line)
{
	separate_json(json);
	putc_unlocked(bracket, json->stream);
	json->depth++;
	if (in_line && !json->inline_depth)
		json->inline_depth = json->depth;
	json->empty = true;
}

void rep_json_end(struct rep_json *json, char bracket)
{
	bool in_line = json->inline_depth != 0;
	if (json->inline_depth == json->depth)
		json->inline_depth = 0;
	json->depth--;
	if (!json->empty && !in_line)
		break_json_line(json);
	putc_unlocked(bracket, json->stream);
	json->empty = false;
}

void rep_json_string(struct rep_json *json, const char *bytes, size_t length)
{
	separate_json(json);
	putc_unlocked('"', json->stream);
	rep_text_escape_json(&json->scratch, bytes, length);
	flush_json(json);
	putc_unlocked('"', json->stream);
}

void rep_json_unsigned(struct rep_json *json, uint64_t number)
{
	separate_json(json);
	rep_text_number(&json->scratch, number);
	flush_json(json);
}

void rep_json_signed(struct rep_json *json, int64_t number)
{
	separate_json(json);
	if (number < 0)
		putc_unlocked('-', json->stream);
	rep_text_number(&json->scratch, number < 0 ? -(uint64_t)number : (uint64_t)number);
	flush_json(json);
}

void rep_json_address(struct rep_json *json, uint64_t address)
{
	separate_json(json);
	putc_unlocked('"', json->stream);
	rep_text_address(&json->scratch, address);
	flush_json(json);
	putc_unlocked('"', json->stream);
}

void rep_json_bool(struct rep_json *json, bool value)
{
	separate_json(json);
	fputs_unlocked(value ? "true" : "false", json->stream);
}

void rep_json_null(struct rep_json *json)
{
	separate_json(json);
	fputs_unlocked("null", json->stream);
}
