/*
 * One block: its fields, what points to it, and what keeps it alive.  People see the ends of long
 * lists, and values where types tell them; programs everything.
 */
#include "report/report.h"

#include "report/common.h"

#include <string.h>

enum {
	TAG_ABSTRACT = 251,
	TAG_STRING = 252,
	TAG_DOUBLE = 253,
	TAG_DOUBLE_ARRAY = 254,
	TAG_CUSTOM = 255
};
enum { CONTENT_SHOWN = 200, NUMBERS_SHOWN = 8 };

static const char *value_kind_name(enum hg_value_kind kind)
{
	static const char *const names[] = {
		"int", "some_int", "block", "code", "outside", "dangling", "raw", "atom"};
	return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

static const char *value_kind_text(enum hg_value_kind kind)
{
	static const char *const texts[] = {"integer", "integer, not recorded", "pointer",
		"code pointer", "pointer out of the heap", "pointer to no block", "no value",
		"block without fields"};
	return (size_t)kind < sizeof(texts) / sizeof(texts[0]) ? texts[kind] : "unknown";
}

/* In text with types: the names and values of fields, not the words in them. */
enum { FIELD_KIND = 1, FIELD_VALUE = 2, FIELD_NAME = 9, FIELD_TEXT = 12, FIELD_COLUMNS };

static const struct rep_column field_columns[FIELD_COLUMNS] = {
	{"index", "field", REP_NUMBER, 0},
	{"kind", "kind", REP_WORD, 0},
	{"value", "value", REP_CONTENT, 0},
	{"address", NULL, REP_NAME, 0},
	{"tag", NULL, REP_NUMBER, 0},
	{"location", NULL, REP_NAME, 0},
	{"bytes", NULL, REP_BYTES, 0},
	{"retained_bytes", "retained", REP_BYTES, 0},
	{"code", NULL, REP_NAME, 0},
	{"name", NULL, REP_NAME, 0},
	{"type", NULL, REP_NAME, 0},
	{NULL, "leads to", REP_NAME, REP_LAST | REP_LABEL},
	{"text", NULL, REP_CONTENT, REP_LAST | REP_HEAD},
};

static const struct rep_column referrer_columns[] = {
	{"address", NULL, REP_NAME, 0},
	{"field", NULL, REP_NUMBER, 0},
	{"location", NULL, REP_NAME, 0},
	{"retained_bytes", "retained", REP_BYTES, 0},
	{"field_name", "through", REP_NAME, 0},
	{"type", NULL, REP_NAME, 0},
	{NULL, "of", REP_NAME, REP_LAST | REP_LABEL},
};

static const struct rep_column dominator_columns[] = {
	{"address", NULL, REP_NAME, 0},
	{"location", NULL, REP_NAME, 0},
	{"retained_bytes", "retained", REP_BYTES, 0},
	{"type", NULL, REP_NAME, 0},
	{NULL, "root or block", REP_NAME, REP_LAST | REP_LABEL},
};

/* The answer while it is written. */
struct answer {
	struct hg_object *object;
	const struct hg_totals *totals;
	struct hg_text_options values; /* how values are printed */
};

/* Integers are signed, everything else is a raw word and is written as an address. */
static void value_cell(struct rep_emitter *emitter, const struct hg_field *field)
{
	struct rep_text value = {0};
	if (field->kind == HG_VALUE_SOME_INT) {
		rep_cell_none(emitter);
		return;
	}
	if (field->kind == HG_VALUE_INT)
		rep_text_printf(&value, "%lld", (long long)field->value);
	else
		rep_text_address(&value, (uint64_t)field->value);
	rep_cell_string(emitter, rep_text_string(&value));
	rep_text_release(&value);
}

/* The name of a field as it is declared: "" if the type does not tell. */
static void declared_name_cell(struct rep_context *context, hg_node node, uint64_t field)
{
	char name[1024];
	size_t length = hg_field_name(context->snapshot, node, field, name, sizeof(name));
	rep_cell_string(context->emitter, length < sizeof(name) ? name : "");
}

/* Values are worth a column when types tell what is in the fields. */
static void field_text_cell(
	struct rep_context *context, const struct answer *answer, const struct hg_field *field)
{
	struct rep_text text = {0};
	bool is_value = field->kind != HG_VALUE_RAW && field->kind != HG_VALUE_CODE;
	if (hg_has_types(context->snapshot) && is_value)
		rep_name_field_value(&text, context->snapshot, answer->object->block->node,
			field->index, &answer->values);
	else if (context->emitter->writer->for_people)
		rep_text_printf(&text, "(%s)", value_kind_text(field->kind));
	rep_cell_string(context->emitter, rep_text_string(&text));
	rep_text_release(&text);
}

static void write_field(
	struct rep_context *context, const struct answer *answer, const struct hg_field *field)
{
	hg_node self = answer->object->block->node;
	char code[1024];
	bool is_code = field->kind == HG_VALUE_CODE &&
		       hg_code_name(context->snapshot, (uint64_t)field->value, code, sizeof(code));
	struct hg_block block = {.node = HG_NO_NODE};
	struct rep_emitter *emitter = context->emitter;
	rep_cell_number(emitter, field->index);
	rep_cell_labelled(emitter, value_kind_name(field->kind), value_kind_text(field->kind));
	value_cell(emitter, field);
	if (field->node == HG_NO_NODE) {
		for (unsigned i = 3; i < 8; i++)
			rep_cell_none(emitter);
	} else {
		block = *hg_describe_block(context->snapshot, field->node);
		rep_cell_node(context, field->node);
		rep_cell_number(emitter, block.tag);
		rep_cell_location(context, block.location);
		rep_cell_number(emitter, block.bytes);
		rep_cell_number(emitter, block.retained_bytes);
	}
	if (is_code)
		rep_cell_string(emitter, code);
	else
		rep_cell_none(emitter);
	declared_name_cell(context, self, field->index);
	rep_cell_type(context, field->type);
	if (field->node != HG_NO_NODE)
		rep_cell_label(context, &block);
	else if (is_code)
		rep_cell_string(emitter, code);
	else
		rep_cell_none(emitter);
	field_text_cell(context, answer, field);
	rep_row_end(emitter);
}

static void fill_field_columns(struct rep_context *context, struct rep_column *columns)
{
	memcpy(columns, field_columns, sizeof(field_columns));
	/* What is printed without contents is names only. */
	if (context->emitter->redact)
		columns[FIELD_TEXT].kind = REP_NAME;
	if (!hg_has_types(context->snapshot))
		return;
	columns[FIELD_KIND].title = NULL;
	columns[FIELD_VALUE].title = NULL;
	columns[FIELD_NAME].title = "name";
	columns[FIELD_TEXT].title = "value";
}

static void write_fields(struct rep_context *context, const struct answer *answer)
{
	struct rep_emitter *emitter = context->emitter;
	const struct hg_object *object = answer->object;
	struct rep_column columns[FIELD_COLUMNS];
	if (emitter->writer->for_people && object->fields_count == 0) {
		if (!object->block->is_root && !object->fields_recorded &&
			object->content_size == 0)
			rep_prose(emitter, REP_PLAIN, "\nThe file does not hold its fields.\n");
		return;
	}
	rep_headline(emitter, "Fields");
	fill_field_columns(context, columns);
	rep_table_begin(emitter, "fields", columns, FIELD_COLUMNS);
	for (size_t i = 0; i < object->fields_count && !rep_emitter_broken(emitter); i++)
		write_field(context, answer, object->fields[i]);
	rep_table_end(emitter);
	if (!object->block->is_root && object->block->words > object->fields_count)
		rep_more_rows(emitter, object->block->words - object->fields_count, "words",
			"--fields 0");
}

/* A row of dominator_columns. */
static void write_dominator(struct rep_context *context, hg_node node)
{
	struct hg_block block = *hg_describe_block(context->snapshot, node);
	rep_cell_node(context, node);
	rep_cell_location(context, block.location);
	rep_cell_number(context->emitter, block.retained_bytes);
	rep_cell_type(context, block.type);
	rep_cell_label(context, &block);
	rep_row_end(context->emitter);
}

/* What a block holds besides its fields: a continuation its fiber, a key its ephemerons' data. */
static void write_holds(struct rep_context *context, const struct hg_object *object)
{
	struct rep_emitter *emitter = context->emitter;
	if (emitter->writer->one_part || object->holds_count == 0)
		return;
	rep_headline(emitter, "Holds besides its fields");
	rep_table_begin(emitter, "holds", dominator_columns, 5);
	for (size_t i = 0; i < object->holds_count; i++)
		write_dominator(context, object->holds[i]);
	rep_table_end(emitter);
}

static void referrer_field_cell(struct rep_context *context, const struct hg_referrer *referrer)
{
	struct rep_text name = {0};
	if (referrer->field != HG_UNKNOWN)
		rep_name_field(&name, context->snapshot, referrer->node, referrer->field);
	rep_cell_string(context->emitter, rep_text_string(&name));
	rep_text_release(&name);
}

static void write_referrers(struct rep_context *context, const struct hg_object *object)
{
	struct rep_emitter *emitter = context->emitter;
	if (emitter->writer->one_part)
		return;
	rep_headline(emitter, object->referrers_total ? "Pointed to by" : "Nothing points to it");
	if (emitter->writer->for_people && object->referrers_count == 0)
		return;
	rep_table_begin(emitter, "referrers", referrer_columns, 7);
	for (size_t i = 0; i < object->referrers_count; i++) {
		struct hg_block block =
			*hg_describe_block(context->snapshot, object->referrers[i]->node);
		rep_cell_node(context, block.node);
		rep_cell_known(emitter, object->referrers[i]->field);
		rep_cell_location(context, block.location);
		rep_cell_number(emitter, block.retained_bytes);
		referrer_field_cell(context, object->referrers[i]);
		rep_cell_type(context, block.type);
		rep_cell_label(context, &block);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
	rep_more_rows(emitter, object->referrers_total - object->referrers_count, "referrers",
		"--referrers 0");
}

/* Chains of dominators may be millions long: people see both ends. */
enum { NEAREST_SHOWN = 10, FARTHEST_SHOWN = 5 };

static void leave_out_dominators(struct rep_emitter *emitter, size_t count)
{
	struct rep_text text = {0};
	rep_text_put(&text, "... ");
	rep_text_count(&text, count);
	rep_text_put(&text, " more");
	for (unsigned i = 0; i < 4; i++)
		rep_cell_none(emitter);
	rep_cell_string(emitter, rep_text_string(&text));
	rep_row_end(emitter);
	rep_text_release(&text);
}

static void write_object_dominators(struct rep_context *context, const struct hg_object *object)
{
	struct rep_emitter *emitter = context->emitter;
	hg_node top = hg_virtual_root(context->snapshot);
	size_t count = object->dominators_count;
	size_t rest = count > NEAREST_SHOWN + FARTHEST_SHOWN ? count - FARTHEST_SHOWN : 0;
	if (emitter->writer->one_part)
		return;
	if (emitter->writer->for_people && !object->block->reachable)
		return;
	rep_headline(emitter, "Kept alive by, from the nearest: freed with any one of these");
	rep_table_begin(emitter, "dominators", dominator_columns, 5);
	for (size_t i = 0; i < object->dominators_count; i++) {
		if (emitter->writer->for_people && object->dominators[i] == top &&
			object->dominators_count > 1)
			continue;
		if (emitter->writer->for_people && i == NEAREST_SHOWN && i < rest) {
			leave_out_dominators(emitter, rest - i);
			i = rest;
		}
		write_dominator(context, object->dominators[i]);
	}
	rep_table_end(emitter);
}

static void write_content_values(struct rep_context *context, const struct hg_object *object)
{
	struct rep_emitter *emitter = context->emitter;
	if (emitter->redact || object->content_size == 0)
		return;
	rep_value_bytes(emitter, "content", NULL, REP_CONTENT, (const char *)object->content,
		object->content_size);
	rep_value_bool(emitter, "content_cut", NULL, object->content_cut);
}

/* A name as a value, made by one of the functions of names.h. */
static void put_spelled_value(struct rep_emitter *emitter, const char *key, struct rep_text *name)
{
	rep_value_string(emitter, key, NULL, REP_NAME, rep_text_string(name));
	rep_text_release(name);
}

/* What only some blocks have: a kind of custom blocks, a number of the program's own profiler. */
static void write_rare_values(struct rep_context *context, const struct hg_block *block)
{
	char custom[256];
	int64_t id;
	if (hg_custom_name(context->snapshot, block->node, custom, sizeof(custom)))
		rep_value_string(context->emitter, "custom", NULL, REP_NAME, custom);
	if (hg_sample_id(context->snapshot, block->node, &id))
		rep_value_number(context->emitter, "sample_id", NULL, REP_NUMBER, (uint64_t)id);
	rep_value_number(context->emitter, "offheap_bytes", NULL, REP_BYTES, block->offheap_bytes);
	rep_value_number(context->emitter, "retained_offheap_bytes", NULL, REP_BYTES,
		block->retained_offheap_bytes);
}

static void write_block_values(struct rep_context *context, const struct answer *answer)
{
	struct rep_emitter *emitter = context->emitter;
	const struct hg_object *object = answer->object;
	const struct hg_block *block = object->block;
	struct rep_text name = {0}, type = {0}, location = {0}, idom = {0}, text = {0};
	rep_name_node(&name, context->snapshot, block->node);
	rep_name_location(&location, context->snapshot, block->location);
	rep_name_type(&type, context->snapshot, block->type);
	rep_name_value(&text, context->snapshot, block->node, &answer->values);
	if (block->idom != HG_NO_NODE)
		rep_name_node(&idom, context->snapshot, block->idom);
	rep_section_begin(emitter, "object", NULL);
	put_spelled_value(emitter, "address", &name);
	rep_value_number(emitter, "tag", NULL, REP_NUMBER, block->tag);
	rep_value_number(emitter, "words", NULL, REP_COUNT, block->words);
	rep_value_number(emitter, "bytes", NULL, REP_BYTES, block->bytes);
	put_spelled_value(emitter, "type", &type);
	put_spelled_value(emitter, "location", &location);
	rep_value_number(emitter, "reachable", NULL, REP_NUMBER, block->reachable);
	rep_value_number(emitter, "retained_bytes", NULL, REP_BYTES, block->retained_bytes);
	put_spelled_value(emitter, "idom", &idom);
	rep_value_string(emitter, "segment", NULL, REP_WORD, hg_segment_name(block->segment));
	rep_value_string(
		emitter, "confidence", NULL, REP_WORD, hg_confidence_name(block->type_confidence));
	rep_value_string(emitter, "location_confidence", NULL, REP_WORD,
		hg_confidence_name(block->location_confidence));
	rep_value_bool(emitter, "fields_recorded", NULL, object->fields_recorded);
	rep_value_number(emitter, "referrers_total", NULL, REP_COUNT, object->referrers_total);
	write_rare_values(context, block);
	rep_value_string(emitter, "value", NULL, emitter->redact ? REP_NAME : REP_CONTENT,
		rep_text_string(&text));
	write_content_values(context, object);
	rep_section_end(emitter);
	rep_text_release(&text);
}

static void write_block_text(
	struct rep_context *context, const struct hg_object *object, const struct hg_totals *totals)
{
	struct rep_emitter *emitter = context->emitter;
	const struct hg_block *block = object->block;
	struct rep_text label = {0}, line = {0};
	rep_name_label(&line, context->snapshot, block);
	rep_prose(emitter, REP_BOLD, "%s\n", rep_escaped(&label, rep_text_string(&line)));
	rep_text_clear(&line);
	if (!block->is_root) {
		rep_text_size(&line, block->bytes);
		static const char *const segments[] = {
			"in the major heap", "in a minor heap", "in static data"};
		rep_text_printf(&line, " with its header; tag %u; %s; ", block->tag,
			segments[block->segment]);
	}
	if (block->reachable) {
		rep_text_put(&line, "retains ");
		rep_text_size(&line, block->retained_bytes);
		rep_put_offheap(&line, block->retained_offheap_bytes);
		rep_text_put(&line, " (");
		rep_text_percent(&line,
			rep_weigh(context, block->retained_bytes, block->retained_offheap_bytes),
			rep_weigh_all(context, totals));
		rep_text_put(&line, " of the reachable memory)");
	} else {
		rep_text_put(&line, "UNREACHABLE: no root holds it");
	}
	rep_prose(emitter, REP_PLAIN, "%s\n", rep_text_string(&line));
	rep_text_release(&line);
	rep_text_release(&label);
}

/* How sure the type is, if that needs to be said, and what the block is as a value. */
static void write_value_text(struct rep_context *context, const struct answer *answer)
{
	struct rep_emitter *emitter = context->emitter;
	const struct hg_block *block = answer->object->block;
	struct rep_text value = {0}, escaped = {0};
	if (!hg_has_types(context->snapshot) || !block->type)
		return;
	if (block->type_confidence == HG_GUESSED || block->type_confidence == HG_INFERRED)
		rep_prose(emitter, REP_PLAIN, "the type is %s\n",
			block->type_confidence == HG_GUESSED ? "a guess" : "inferred");
	if (block->tag < TAG_ABSTRACT || block->tag == TAG_CUSTOM) {
		rep_name_value(&value, context->snapshot, block->node, &answer->values);
		rep_prose(emitter, REP_PLAIN, "value: %s\n",
			rep_escaped(&escaped, rep_text_string(&value)));
	}
	rep_text_release(&value);
	rep_text_release(&escaped);
}

static void write_numbers(struct rep_emitter *emitter, const struct hg_object *object)
{
	struct rep_text text = {0};
	size_t count = object->content_size / sizeof(double);
	for (size_t i = 0; i < count && i < NUMBERS_SHOWN; i++) {
		double number;
		memcpy(&number, object->content + i * sizeof(number), sizeof(number));
		rep_text_printf(&text, "%s%.17g", i ? "; " : "", number);
	}
	rep_prose(emitter, REP_PLAIN, "content: %s%s\n", rep_text_string(&text),
		count > NUMBERS_SHOWN ? "; ..." : "");
	rep_text_release(&text);
}

static void write_content(struct rep_emitter *emitter, const struct hg_object *object)
{
	struct rep_text text = {0}, size = {0};
	if (object->content_size == 0)
		return;
	if (emitter->redact) {
		rep_prose(emitter, REP_PLAIN, "content: not shown (--redact)\n");
		return;
	}
	if (object->block->tag == TAG_DOUBLE || object->block->tag == TAG_DOUBLE_ARRAY) {
		write_numbers(emitter, object);
		return;
	}
	if (object->block->tag != TAG_STRING)
		return;
	size_t shown = object->content_size < CONTENT_SHOWN ? object->content_size : CONTENT_SHOWN;
	rep_text_escape_terminal(&text, (const char *)object->content, shown);
	rep_text_size(&size, object->content_size);
	rep_prose(emitter, REP_PLAIN, "content: \"%s\"%s (%s%s)\n", rep_text_string(&text),
		shown < object->content_size || object->content_cut ? "..." : "",
		rep_text_string(&size), object->content_cut ? " of it in the file" : "");
	rep_text_release(&text);
	rep_text_release(&size);
}

/* Of a custom block. */
static void write_kind(struct rep_context *context, const struct hg_object *object)
{
	char name[256];
	struct rep_text text = {0};
	if (!hg_custom_name(context->snapshot, object->block->node, name, sizeof(name)))
		return;
	rep_prose(context->emitter, REP_PLAIN, "custom block of kind %s", rep_escaped(&text, name));
	if (object->block->offheap_bytes) {
		rep_text_clear(&text);
		rep_text_size(&text, object->block->offheap_bytes);
		rep_prose(context->emitter, REP_PLAIN, ", owns %s outside the heap",
			rep_text_string(&text));
	}
	rep_prose(context->emitter, REP_PLAIN, "\n");
	rep_text_release(&text);
}

static const struct rep_column frame_columns[] = {{"frame", "function", REP_NAME, REP_LAST}};

/* Of a block that Gc.Memprof tracks. */
static void write_call_stack(struct rep_context *context, const struct hg_object *object)
{
	struct rep_emitter *emitter = context->emitter;
	const struct hg_snapshot *snapshot = context->snapshot;
	hg_node node = object->block->node;
	char name[1024];
	if (!hg_call_frame(snapshot, node, 0, name, sizeof(name)))
		return;
	rep_headline(emitter, "Allocated by, innermost first");
	rep_table_begin(emitter, "call_stack", frame_columns, 1);
	for (uint64_t i = 0; hg_call_frame(snapshot, node, i, name, sizeof(name)); i++) {
		rep_cell_string(emitter, name);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
}

static void write_object(struct rep_context *context, const struct answer *answer)
{
	struct rep_emitter *emitter = context->emitter;
	const struct hg_object *object = answer->object;
	rep_begin(context, "object");
	emitter->has_contents |= !emitter->redact;
	if (emitter->writer->tells_all) {
		write_block_values(context, answer);
		write_call_stack(context, object);
	}
	if (emitter->writer->for_people) {
		write_block_text(context, object, answer->totals);
		write_value_text(context, answer);
		write_content(emitter, object);
		write_kind(context, object);
		write_call_stack(context, object);
		write_object_dominators(context, object);
	}
	write_fields(context, answer);
	write_holds(context, object);
	write_referrers(context, object);
	if (emitter->writer->tells_all)
		write_object_dominators(context, object);
	rep_document_end(emitter);
}

enum hg_status rep_object(struct rep_context *context, const struct rep_object_request *request)
{
	struct answer answer = {.values = {.size = sizeof(answer.values),
					.depth = request->depth,
					.redact = context->emitter->redact}};
	enum hg_status status = hg_count_totals(context->snapshot, &answer.totals);
	if (status == HG_OK)
		status = hg_describe_object(context->snapshot, request->node, request->max_fields,
			request->max_referrers, &answer.object);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	write_object(context, &answer);
	hg_object_release(&answer.object);
	return HG_OK;
}
