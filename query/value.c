/*
 * Values as OCaml's toplevel prints them, in one line.  Depth, parts, bytes and the number of
 * values are bounded, so that cyclic and shared values end; what is left out is "...".
 */
#include "query/shared/types.h"

#include "base/assert.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 50, MOST_PARTS = 1000 };

struct printer {
	struct hg_snapshot *snapshot;
	struct hg_text_options options;
	char *buffer;
	size_t size, length;
	uint32_t values_left;
	uint32_t path[MOST_DEPTH + 2]; /* blocks that are being printed */
	unsigned depth;
};

static void put_bytes(struct printer *p, const char *bytes, size_t length)
{
	if (p->length + 1 < p->size) {
		size_t room = p->size - 1 - p->length;
		memcpy(p->buffer + p->length, bytes, length < room ? length : room);
	}
	p->length += length;
}

static void put_string(struct printer *p, const char *string)
{
	put_bytes(p, string, strlen(string));
}

static void print_word(struct printer *p, uint64_t word, struct retype_term type, bool as_argument);

/* Whether immediates of a type are numbers or text, and no constructors of the program. */
static bool is_plain(const struct printer *p, struct retype_term type)
{
	const struct retype_types *types = &p->snapshot->retype.types;
	if (type.n == 0)
		return true;
	struct retype_view view = retype_view_of(types, type);
	if (view.kind == RETYPE_POLY_VARIANT)
		return false;
	if (view.kind != RETYPE_CONSTRUCTED)
		return true;
	const struct retype_declaration *declaration = &types->declarations[view.number];
	return declaration->base ? strcmp(declaration->base, "unit") != 0
				 : declaration->form != RETYPE_VARIANT;
}

static void print_immediate(
	struct printer *p, int64_t value, struct retype_term type, bool as_argument)
{
	char name[512] = "";
	if (!p->snapshot->snap.integers_recorded || (p->options.redact && is_plain(p, type))) {
		put_string(p, "_");
		return;
	}
	if (type.n)
		retype_immediate(&p->snapshot->retype.types, type, value, name, sizeof(name));
	if (!*name)
		snprintf(name, sizeof(name), "%" PRId64, value);
	bool negative = as_argument && *name == '-';
	put_string(p, negative ? "(" : "");
	put_string(p, name);
	put_string(p, negative ? ")" : "");
}

/* The shortest of the usual precisions that reads back the same, and never like an integer. */
static void print_number(struct printer *p, const uint8_t *bytes, bool as_argument)
{
	char text[64];
	double number;
	memcpy(&number, bytes, sizeof(number));
	if (isnan(number)) {
		put_string(p, "nan");
		return;
	}
	if (isinf(number)) {
		put_string(p, number > 0 ? "infinity" : "neg_infinity");
		return;
	}
	for (int digits = 12; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (strtod(text, NULL) == number)
			break;
	}
	bool negative = as_argument && *text == '-';
	put_string(p, negative ? "(" : "");
	put_string(p, text);
	put_string(p, strpbrk(text, ".e") ? "" : ".");
	put_string(p, negative ? ")" : "");
}

static size_t utf8_length(const uint8_t *bytes, size_t length)
{
	size_t size = bytes[0] < 0xc2 ? 0 : bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
	if (bytes[0] >= 0xf5 || size == 0 || size > length)
		return 0;
	for (size_t i = 1; i < size; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	return size;
}

/* One character of a string as String.escaped writes it; letters of UTF-8 stay. */
static size_t print_character(struct printer *p, const uint8_t *bytes, size_t length)
{
	static const char escaped[] = "\"\\\n\t\b\r", letters[] = "\"\\ntbr";
	char text[8];
	const char *found = *bytes ? strchr(escaped, *bytes) : NULL;
	size_t size = 1;
	if (found) {
		snprintf(text, sizeof(text), "\\%c", letters[found - escaped]);
	} else if (*bytes >= ' ' && *bytes <= '~') {
		snprintf(text, sizeof(text), "%c", *bytes);
	} else if (*bytes >= 0x80 && (size = utf8_length(bytes, length)) != 0) {
		put_bytes(p, (const char *)bytes, size);
		return size;
	} else {
		snprintf(text, sizeof(text), "\\%03u", *bytes);
		size = 1;
	}
	put_string(p, text);
	return size;
}

static void print_string(struct printer *p, const uint8_t *bytes, size_t length, bool cut)
{
	size_t shown = length < p->options.most_bytes ? length : p->options.most_bytes, at = 0;
	if (p->options.redact) {
		put_string(p, "\"...\"");
		return;
	}
	put_string(p, "\"");
	while (at < shown)
		at += print_character(p, bytes + at, length - at);
	put_string(p, "\"");
	put_string(p, cut || at < length ? "..." : "");
}

static void print_numbers(struct printer *p, const uint8_t *bytes, size_t size, uint64_t count)
{
	put_string(p, "[|");
	for (uint64_t i = 0; i < count; i++) {
		put_string(p, i ? "; " : "");
		if (i >= p->options.most_parts || 8 * (i + 1) > size) {
			put_string(p, "...");
			break;
		}
		print_number(p, bytes + 8 * i, false);
	}
	put_string(p, "|]");
}

/* A record of floats only. */
static void print_float_record(
	struct printer *p, const struct query_shape *shape, const uint8_t *bytes, size_t size)
{
	put_string(p, "{");
	for (uint32_t i = 0; i < shape->fit.field_count; i++) {
		put_string(p, i ? "; " : "");
		if (i >= p->options.most_parts || 8 * (i + 1) > size) {
			put_string(p, "...");
			break;
		}
		put_string(p, shape->fit.fields[i].name);
		put_string(p, " = ");
		if (p->options.redact)
			put_string(p, "_");
		else
			print_number(p, bytes + 8 * i, false);
	}
	put_string(p, "}");
}

/* Blocks about which nothing is to be printed but what they are: "<Unix.Dir_handle.t>". */
static void print_opaque(struct printer *p, const struct query_shape *shape, const char *otherwise)
{
	char name[256];
	put_string(p, "<");
	if (shape->type.n &&
		hg_type_name(p->snapshot, shape->type.n, name, sizeof(name)) < sizeof(name) &&
		*name)
		put_string(p, name);
	else
		put_string(p, otherwise);
	put_string(p, ">");
}

/* int64, int32 and nativeint, by the identifiers of their operations (runtime/ints.c). */
static void print_custom(struct printer *p, const struct query_shape *shape, const uint8_t *bytes,
	size_t size, bool as_argument)
{
	char kind[64] = "", text[32];
	int64_t number = 0;
	hg_custom_name(p->snapshot, shape->rank, kind, sizeof(kind));
	bool is_short = strcmp(kind, "_i") == 0;
	bool is_number = is_short || strcmp(kind, "_j") == 0 || strcmp(kind, "_n") == 0;
	if (!is_number || size < 16) {
		print_opaque(p, shape, *kind ? kind : "custom");
		return;
	}
	if (p->options.redact) {
		put_string(p, "_");
		return;
	}
	memcpy(&number, bytes + 8, sizeof(number));
	if (is_short)
		number = (int32_t)number;
	const char *suffix = is_short ? "l" : kind[1] == 'j' ? "L" : "n";
	bool negative = as_argument && number < 0;
	snprintf(
		text, sizeof(text), negative ? "(%" PRId64 "%s)" : "%" PRId64 "%s", number, suffix);
	put_string(p, text);
}

/* Strings, floats, custom and abstract blocks. */
static void print_leaf(struct printer *p, const struct query_shape *shape, bool as_argument)
{
	const uint8_t *bytes;
	bool cut;
	size_t size =
		query_content(p->snapshot, shape->rank, shape->tag, shape->wosize, &bytes, &cut);
	bool has_content = size > 0 || (shape->tag == SNAP_TAG_STRING && shape->wosize == 1 &&
					       p->snapshot->snap.format->content);
	if (shape->tag == SNAP_TAG_CUSTOM)
		print_custom(p, shape, bytes, size, as_argument);
	else if (shape->tag == SNAP_TAG_ABSTRACT)
		print_opaque(p, shape, "abstract");
	else if (!has_content)
		put_string(p, "_");
	else if (shape->tag == SNAP_TAG_STRING)
		print_string(p, bytes, size, cut);
	else if (shape->tag == SNAP_TAG_DOUBLE_ARRAY && shape->fit.field_count)
		print_float_record(p, shape, bytes, size);
	else if (p->options.redact)
		put_string(p, shape->tag == SNAP_TAG_DOUBLE ? "_" : "[|...|]");
	else if (shape->tag == SNAP_TAG_DOUBLE && size >= 8)
		print_number(p, bytes, as_argument);
	else
		print_numbers(p, bytes, size, shape->wosize);
}

static void print_field(
	struct printer *p, const struct query_shape *shape, uint64_t field, bool as_argument)
{
	print_word(p, query_word(p->snapshot, shape->rank, field), query_field(shape, field).type,
		as_argument);
}

/* How the names of fields are written: "a = 1", or as labels of a tuple, "~a:1". */
enum naming { NAMED_FIELDS, NAMED_LABELS };

/* Fields from 'first' on, separated by 'between', named if they have names. */
static void print_fields(struct printer *p, const struct query_shape *shape, uint64_t first,
	uint64_t end, const char *between, enum naming naming)
{
	for (uint64_t i = first; i < end; i++) {
		const char *name = query_field(shape, i).name;
		bool is_label = *name && naming == NAMED_LABELS;
		put_string(p, i > first ? between : "");
		if (i - first >= p->options.most_parts || p->values_left == 0) {
			put_string(p, "...");
			return;
		}
		if (*name) {
			put_string(p, is_label ? "~" : "");
			put_string(p, name);
			put_string(p, is_label ? ":" : " = ");
		}
		print_field(p, shape, i, is_label);
	}
}

/* The cells of a list from this one on; ends at a cell met before, as cells may be cyclic. */
static void print_list(struct printer *p, const struct query_shape *first)
{
	struct query_shape cell = *first;
	struct retype_term type = query_field(first, 1).type;
	put_string(p, "[");
	for (uint32_t i = 0;; i++) {
		print_field(p, &cell, 0, false);
		uint64_t word = query_word(p->snapshot, cell.rank, 1);
		if (word & 1)
			break;
		uint32_t next = snap_resolve_node(&p->snapshot->snap, word);
		put_string(p, "; ");
		if (next == first->rank) {
			put_string(p, "<cycle>");
			break;
		}
		if (i + 1 >= p->options.most_parts || p->values_left == 0 || next == HG_NO_NODE ||
			!query_read_shape(p->snapshot, next, type, &cell)) {
			put_string(p, "...");
			break;
		}
		if (!query_is_list(&cell)) {
			print_word(p, word, type, false);
			break;
		}
	}
	put_string(p, "]");
}

/* Behind the name of a constructor: "(1, 2)", "{a = 1}" or an argument alone. */
static void print_arguments(
	struct printer *p, const struct query_shape *shape, uint64_t first, uint64_t end)
{
	bool record = first < end && *query_field(shape, first).name;
	if (first >= end)
		return;
	put_string(p, " ");
	if (end - first == 1 && !record) {
		print_field(p, shape, first, true);
		return;
	}
	put_string(p, record ? "{" : "(");
	print_fields(p, shape, first, end, record ? "; " : ", ", NAMED_FIELDS);
	put_string(p, record ? "}" : ")");
}

static void print_application(struct printer *p, const struct query_shape *shape, const char *name,
	uint64_t first, uint64_t end, bool as_argument)
{
	bool enclosed = as_argument && first < end;
	put_string(p, enclosed ? "(" : "");
	put_string(p, name);
	print_arguments(p, shape, first, end);
	put_string(p, enclosed ? ")" : "");
}

static void print_module(struct printer *p, const struct query_shape *shape)
{
	const struct retype_types *types = &p->snapshot->retype.types;
	struct retype_view view = retype_view_of(types, shape->type);
	put_string(p, "<module");
	if (view.kind == RETYPE_MODULE && *types->layouts[view.number].name) {
		put_string(p, " ");
		put_string(p, types->layouts[view.number].name);
	}
	put_string(p, ">");
}

/* An unforced one holds a function. */
static void print_lazy(struct printer *p, const struct query_shape *shape, bool as_argument)
{
	if (shape->tag == SNAP_TAG_FORWARD)
		print_application(p, shape, "lazy", 0, 1, as_argument);
	else
		put_string(p, "<lazy>");
}

/* The one field without a name, that is neither of a constructor nor of a tuple. */
static bool is_atomic(const struct query_shape *shape)
{
	return shape->fit.field_count == 1 && !*shape->fit.constructor &&
	       !*shape->fit.fields[0].name;
}

static void print_tuple(struct printer *p, const struct query_shape *shape, uint64_t end)
{
	put_string(p, "(");
	print_fields(p, shape, 0, end, ", ", NAMED_LABELS);
	put_string(p, ")");
}

static void print_typed_fields(struct printer *p, const struct query_shape *shape, bool as_argument)
{
	const struct retype_fit *fit = &shape->fit;
	uint64_t end =
		fit->field_count < shape->field_count ? fit->field_count : shape->field_count;
	struct retype_types *types = &p->snapshot->retype.types;
	struct retype_term type = retype_expand(types, shape->type, RETYPE_DEEPEST);
	struct retype_view view = retype_view_of(types, type);
	if (view.kind == RETYPE_MODULE) {
		print_module(p, shape);
	} else if (view.kind == RETYPE_TUPLE) {
		print_tuple(p, shape, end);
	} else if (query_is_lazy(shape)) {
		print_lazy(p, shape, as_argument);
	} else if (is_atomic(shape)) {
		print_application(p, shape, "Atomic.make", 0, end, as_argument);
	} else if (query_is_list(shape)) {
		print_list(p, shape);
	} else if (*fit->constructor) {
		print_application(p, shape, fit->constructor, 0, end, as_argument);
	} else {
		bool record = end && *fit->fields[0].name;
		put_string(p, record ? "{" : "(");
		print_fields(p, shape, 0, end, record ? "; " : ", ", NAMED_FIELDS);
		put_string(p, record ? "}" : ")");
	}
}

static void print_elements(struct printer *p, const struct query_shape *shape)
{
	put_string(p, "[|");
	print_fields(p, shape, 0, shape->field_count, "; ", NAMED_FIELDS);
	put_string(p, "|]");
}

/* The function of a closure that begins at a field. */
static void print_function(struct printer *p, uint32_t rank, uint64_t field)
{
	char name[256];
	uint64_t code = query_code(p->snapshot, rank, field);
	put_string(p, "<fun");
	if (hg_code_name(p->snapshot, code, name, sizeof(name)) &&
		strlen(name) + 1 < sizeof(name)) {
		put_string(p, " ");
		put_string(p, query_spell(name));
	}
	put_string(p, ">");
}

static void print_extension(struct printer *p, const struct query_shape *shape, bool as_argument)
{
	char name[256];
	bool is_slot = shape->tag == SNAP_TAG_OBJECT;
	if (!query_extension_name(p->snapshot, shape, false, name, sizeof(name)))
		put_string(p, "_");
	else
		print_application(p, shape, name, 1, is_slot ? 1 : shape->field_count, as_argument);
}

static void print_tagged(struct printer *p, const struct query_shape *shape, bool as_argument)
{
	char name[256];
	snprintf(name, sizeof(name), "`%s", shape->tag_name ? shape->tag_name : "_");
	print_application(p, shape, name, 1, shape->field_count, as_argument);
}

static void print_shape(struct printer *p, const struct query_shape *shape, bool as_argument)
{
	switch (shape->fit.match) {
	case RETYPE_FIELDS:
		print_typed_fields(p, shape, as_argument);
		break;
	case RETYPE_ELEMENTS:
		print_elements(p, shape);
		break;
	case RETYPE_TAGGED:
		print_tagged(p, shape, as_argument);
		break;
	case RETYPE_EXTENSION:
		print_extension(p, shape, as_argument);
		break;
	case RETYPE_INSTANCE:
		put_string(p, "<obj");
		/* Immediate objects have no name. */
		if (shape->class && *shape->class->name != '<') {
			put_string(p, " ");
			put_string(p, shape->class->name);
		}
		put_string(p, ">");
		break;
	case RETYPE_LEAF:
	case RETYPE_WEAKLY:
		print_opaque(p, shape, "abstract");
		break;
	default:
		put_string(p, "_");
	}
}

/* What stands around a value because of unboxed types. */
struct wrapping {
	char closing[64]; /* in reverse */
	unsigned count;
	bool as_argument; /* of what is inside */
};

/*
 * Opens "C " and "{field = " for each unboxed type around the one that the value is of, which
 * *type becomes.
 */
static struct wrapping open_wrapping(struct printer *p, struct retype_term *type, bool as_argument)
{
	struct retype_types *types = &p->snapshot->retype.types;
	struct wrapping w = {.as_argument = as_argument};
	const struct retype_declaration *declaration;
	while (w.count + 1 < sizeof(w.closing) &&
		(declaration = query_unboxed(p->snapshot, *type))) {
		const char *name = declaration->unboxed.name;
		bool is_constructor = isupper((unsigned char)*name);
		if (!*name) {
			/* An abstract type hides what is inside: nothing stands around it. */
		} else if (!is_constructor) {
			put_string(p, "{");
			put_string(p, name);
			put_string(p, " = ");
			w.closing[w.count++] = '}';
		} else {
			put_string(p, w.as_argument ? "(" : "");
			if (w.as_argument)
				w.closing[w.count++] = ')';
			put_string(p, name);
			put_string(p, " ");
		}
		if (*name)
			w.as_argument = is_constructor;
		struct retype_view view = retype_view_of(types, *type);
		struct retype_term arguments[16];
		uint32_t count = view.count < 16 ? view.count : 16;
		if (count)
			memcpy(arguments, view.arguments, count * sizeof(*arguments));
		*type = retype_instance(types, declaration->inner, arguments, count);
	}
	return w;
}

static void close_wrapping(struct printer *p, struct wrapping *w)
{
	while (w->count)
		put_bytes(p, &w->closing[--w->count], 1);
}

static void print_block(
	struct printer *p, uint32_t rank, struct retype_term expected, bool as_argument)
{
	struct query_shape shape;
	for (unsigned i = 0; i < p->depth; i++) {
		if (p->path[i] == rank) {
			put_string(p, "<cycle>");
			return;
		}
	}
	if (!query_read_shape(p->snapshot, rank, expected, &shape)) {
		put_string(p, "_");
		return;
	}
	struct wrapping wrapping = open_wrapping(p, &shape.type, as_argument);
	as_argument = wrapping.as_argument;
	if (!snap_tag_has_fields(shape.tag)) {
		print_leaf(p, &shape, as_argument);
	} else if (shape.tag == SNAP_TAG_CLOSURE) {
		print_function(p, rank, 0);
	} else if (p->depth >= p->options.depth) {
		put_string(p, "...");
	} else {
		base_assert(p->depth < MOST_DEPTH);
		p->path[p->depth++] = rank;
		print_shape(p, &shape, as_argument);
		p->depth--;
	}
	close_wrapping(p, &wrapping);
}

/* Atoms that lie in data of the program. */
static bool is_empty_array(const struct snap *snap, uint64_t word)
{
	uint64_t header;
	return snap_process_word(snap, snap_pointed_header(word).a, &header) &&
	       snap_header_tag(header) == 0 && snap_header_wosize(header, snap->reserved) == 0;
}

static void print_word(struct printer *p, uint64_t word, struct retype_term type, bool as_argument)
{
	const struct snap *snap = &p->snapshot->snap;
	struct snap_header_address header;
	if (p->values_left == 0) {
		put_string(p, "...");
		return;
	}
	base_assert(p->depth <= p->options.depth);
	p->values_left--;
	if (word & 1) {
		struct wrapping wrapping = open_wrapping(p, &type, as_argument);
		print_immediate(p, (int64_t)word >> 1, type, wrapping.as_argument);
		close_wrapping(p, &wrapping);
		return;
	}
	switch (snap_resolve(snap, word, &header)) {
	case SNAP_INFIX:
		print_function(
			p, snap_resolve_node(snap, word), (word - snap_block_of(header).a) / 8);
		break;
	case SNAP_BLOCK:
	case SNAP_FORWARDED:
		print_block(p, snap_resolve_node(snap, word), type, as_argument);
		break;
	case SNAP_ATOM:
		put_string(p, "[||]");
		break;
	case SNAP_CODE:
		put_string(p, "<code>");
		break;
	default:
		put_string(p, is_empty_array(snap, word) ? "[||]" : "<abstract>");
	}
}

static struct printer start_printer(struct hg_snapshot *snapshot,
	const struct hg_text_options *options, char *buffer, size_t size)
{
	struct printer p = {
		.snapshot = snapshot, .buffer = buffer, .size = query_room(buffer, size)};
	struct hg_text_options *o = &p.options;
	if (options)
		memcpy(o, options, options->size < sizeof(*o) ? options->size : sizeof(*o));
	o->depth = !o->depth ? 10 : o->depth < MOST_DEPTH ? o->depth : MOST_DEPTH;
	o->most_parts = !o->most_parts               ? 20
			: o->most_parts < MOST_PARTS ? o->most_parts
						     : MOST_PARTS;
	o->most_bytes = o->most_bytes ? o->most_bytes : 60;
	p.values_left = o->most_values ? o->most_values : 100;
	return p;
}

static size_t end_value(struct printer *p)
{
	base_assert(p->depth == 0);
	if (p->size)
		p->buffer[p->length < p->size ? p->length : p->size - 1] = '\0';
	return p->length;
}

size_t hg_value_text(struct hg_snapshot *snapshot, hg_node node,
	const struct hg_text_options *options, char *buffer, size_t size)
{
	struct printer p = start_printer(snapshot, options, buffer, size);
	if (query_begin(snapshot) != HG_OK || node >= snap_virtual_root(&snapshot->snap))
		return end_value(&p);
	const struct snap *snap = &snapshot->snap;
	if (node < snap->block_count)
		print_block(&p, node, RETYPE_NOTHING, false);
	else
		print_word(&p, snap->roots[node - snap->block_count].value, RETYPE_NOTHING, false);
	return end_value(&p);
}

size_t hg_field_text(struct hg_snapshot *snapshot, hg_node node, uint64_t field,
	const struct hg_text_options *options, char *buffer, size_t size)
{
	struct printer p = start_printer(snapshot, options, buffer, size);
	struct query_shape shape;
	if (query_begin(snapshot) != HG_OK || node >= snapshot->snap.block_count ||
		!query_read_shape(snapshot, node, RETYPE_NOTHING, &shape) ||
		field >= shape.field_count)
		return end_value(&p);
	/* Levels count from the field. */
	print_field(&p, &shape, field, false);
	return end_value(&p);
}
