/* What the type of a block tells of its fields. */
#include "query/shared/types.h"

#include "base/assert.h"

#include <stdio.h>
#include <string.h>

enum { MOST_INNER = 20, LONGEST_EXTENSION = 1024 };

uint64_t query_word(struct hg_snapshot *snapshot, uint32_t rank, uint64_t field)
{
	struct snap_cell cell;
	if (!snap_block(&snapshot->lookup, (struct snap_rank){rank}, &cell) ||
		field >= cell.field_count)
		return 1;
	return cell.fields[field];
}

size_t query_content(struct hg_snapshot *snapshot, uint32_t rank, unsigned tag, uint64_t wosize,
	const uint8_t **out, bool *cut)
{
	const struct snap_format *format = snapshot->snap.format;
	*cut = false;
	if (!format->content || snap_tag_has_fields(tag))
		return 0;
	return format->content(&snapshot->snap, (struct snap_rank){rank}, 8 * wosize, out, cut);
}

/* The slot of an extension constructor: itself, or what field 0 leads to. */
static uint32_t slot_of_extension(struct hg_snapshot *snapshot, const struct query_shape *shape)
{
	bool is_400 = snapshot->retype.types.is_400;
	if (shape->tag == SNAP_TAG_OBJECT || (is_400 && shape->wosize == 1))
		return shape->rank;
	uint64_t word = query_word(snapshot, shape->rank, 0);
	return word & 1 ? HG_NO_NODE : snap_resolve_node(&snapshot->snap, word);
}

/* The "__" between the parts of a unit's name. */
static bool is_joint(const char *name, const char *at)
{
	return at != name && at[0] == '_' && at[1] == '_' && at[2] >= 'A' && at[2] <= 'Z';
}

const char *query_spell(char *name)
{
	char *to = name;
	for (const char *from = name; *from; from++) {
		bool joint = is_joint(name, from);
		*to++ = joint ? '.' : *from;
		from += joint;
	}
	*to = '\0';
	static const char *const dropped[] = {"Stdlib.", "Dune__exe."};
	for (size_t i = 0; i < sizeof(dropped) / sizeof(*dropped); i++)
		if (strncmp(name, dropped[i], strlen(dropped[i])) == 0)
			return name + strlen(dropped[i]);
	return name;
}

bool query_extension_name(struct hg_snapshot *snapshot, const struct query_shape *shape, bool raw,
	char *buffer, size_t size)
{
	struct snap_cell cell;
	const uint8_t *bytes;
	char name[LONGEST_EXTENSION];
	bool cut;
	if (shape->extension && !raw) {
		snprintf(name, sizeof(name), "%s", shape->extension->name);
		snprintf(buffer, size, "%s", query_spell(name));
		return true;
	}
	uint32_t slot = slot_of_extension(snapshot, shape);
	uint64_t word = slot == HG_NO_NODE ? 1 : query_word(snapshot, slot, 0);
	uint32_t string = word & 1 ? HG_NO_NODE : snap_resolve_node(&snapshot->snap, word);
	if (string == HG_NO_NODE ||
		!snap_block(&snapshot->lookup, (struct snap_rank){string}, &cell) ||
		cell.tag != SNAP_TAG_STRING)
		return false;
	size_t length = query_content(snapshot, string, cell.tag, cell.wosize, &bytes, &cut);
	if (length == 0 || length >= sizeof(name) || cut || memchr(bytes, 0, length))
		return false;
	memcpy(name, bytes, length);
	name[length] = '\0';
	snprintf(buffer, size, "%s", raw ? name : query_spell(name));
	return true;
}

static void find_extension(struct hg_snapshot *snapshot, struct query_shape *shape)
{
	char name[LONGEST_EXTENSION], dotted[LONGEST_EXTENSION];
	size_t length = 0;
	if (!query_extension_name(snapshot, shape, true, name, sizeof(name)))
		return;
	shape->extension = retype_extension_named(&snapshot->retype.types, name);
	if (shape->extension)
		return;
	/* The table has "." for "__", and functors without their parameters. */
	unsigned nested = 0;
	for (const char *c = name; *c; c++) {
		bool joint = is_joint(name, c);
		nested += *c == '(';
		if (!nested)
			dotted[length++] = joint ? '.' : *c;
		nested -= nested && *c == ')';
		c += joint;
	}
	dotted[length] = '\0';
	shape->extension = retype_extension_named(&snapshot->retype.types, dotted);
}

/*
 * Field 0 of an object leads to its methods: their count, a mask, then for each its closure and the
 * hash of its name (CamlinternalOO).
 */
static const struct retype_class *find_class(
	struct hg_snapshot *snapshot, const struct query_shape *shape)
{
	enum { METHODS = 2, MOST_METHODS = 1024 };
	int32_t hashes[MOST_METHODS];
	struct snap_cell table;
	uint64_t word = query_word(snapshot, shape->rank, 0);
	uint32_t rank = word & 1 ? HG_NO_NODE : snap_resolve_node(&snapshot->snap, word);
	if (rank == HG_NO_NODE || shape->field_count < QUERY_FIRST_VARIABLE ||
		!snap_block(&snapshot->lookup, (struct snap_rank){rank}, &table) ||
		table.tag != 0 || table.field_count < METHODS || !(table.fields[0] & 1))
		return NULL;
	uint64_t count = table.fields[0] >> 1;
	if (count > MOST_METHODS || count > (table.field_count - METHODS) / 2)
		return NULL;
	for (uint64_t i = 0; i < count; i++)
		hashes[i] = (int32_t)((int64_t)table.fields[METHODS + 2 * i + 1] >> 1);
	return retype_class_of(&snapshot->retype.types, hashes, (uint32_t)count,
		shape->field_count - QUERY_FIRST_VARIABLE);
}

static struct retype_fit fit_inner(
	struct retype_types *types, struct retype_term *type, const struct snap_cell *cell)
{
	struct retype_fit found = retype_find_fit(types, *type, cell->tag, cell->wosize);
	for (unsigned i = 0; i < MOST_INNER && found.match == RETYPE_INNER; i++) {
		*type = found.inner;
		found = retype_find_fit(types, *type, cell->tag, cell->wosize);
	}
	return found;
}

uint64_t query_code(struct hg_snapshot *snapshot, uint32_t rank, uint64_t field)
{
	uint64_t info = query_word(snapshot, rank, field + 1);
	int64_t arity = snapshot->snap.has_closinfo ? (int64_t)info >> 56 : 1;
	return query_word(snapshot, rank, arity == 0 || arity == 1 ? field : field + 2);
}

/*
 * Flambda captures in an order of its own, which the profile does not know: it shows in units whose
 * blocks have no more than their interfaces say.  Bytecode captures more.
 */
static bool has_order_of_captures(const struct hg_snapshot *snapshot)
{
	const struct retype_types *types = &snapshot->retype.types;
	if (!snapshot->snap.native)
		return false;
	for (uint64_t i = 0; i < snapshot->snap.unit_count; i++) {
		const struct snap_unit *block = &snapshot->snap.units[i];
		uint32_t number = retype_unit_named(types, block->name);
		const struct retype_unit *unit =
			number == RETYPE_NONE ? NULL : &types->units[number];
		if (unit && unit->field_count > unit->exported)
			return block->wosize == unit->field_count;
	}
	return true;
}

/* Whether what is captured looks like what the function should have captured, all of it. */
static bool captures_fit(struct hg_snapshot *snapshot, const struct query_shape *shape,
	const struct retype_function *function)
{
	for (uint32_t i = 0; i < function->capture_count; i++) {
		struct snap_cell cell;
		uint64_t word = query_word(snapshot, shape->rank, shape->first_capture + i);
		uint32_t rank = word & 1 ? HG_NO_NODE : snap_resolve_node(&snapshot->snap, word);
		struct retype_term type = function->captures[i].type;
		if (rank != HG_NO_NODE && type.n &&
			snap_block(&snapshot->lookup, (struct snap_rank){rank}, &cell) &&
			fit_inner(&snapshot->retype.types, &type, &cell).match == RETYPE_MISFIT)
			return false;
	}
	return true;
}

static const struct retype_function *find_function(
	struct hg_snapshot *snapshot, const struct query_shape *shape)
{
	const struct snap *snap = &snapshot->snap;
	struct snap_code_symbol symbol;
	uint64_t code = query_code(snapshot, shape->rank, 0);
	if (shape->first_capture >= shape->field_count ||
		!snap_process_code_symbol(snap, code, &symbol) ||
		strncmp(symbol.name, "caml", 4) != 0)
		return NULL;
	const struct retype_function *function =
		retype_function_symbol(&snapshot->retype.types, symbol.name + 4);
	if (!function || function->capture_count != shape->field_count - shape->first_capture ||
		!has_order_of_captures(snapshot) || !captures_fit(snapshot, shape, function))
		return NULL;
	return function;
}

/* Whether a type is, or has in it, several that do not go together. */
static bool is_ambiguous(const struct retype_types *types, struct retype_term type, unsigned room)
{
	if (type.n == 0 || room == 0)
		return false;
	struct retype_view view = retype_view_of(types, type);
	bool found = view.kind == RETYPE_SET || view.kind == RETYPE_MANY;
	for (uint32_t i = 0; i < view.count && !found; i++)
		found = is_ambiguous(types, retype_view_of(types, type).arguments[i], room - 1);
	return found;
}

const struct retype_declaration *query_unboxed(
	const struct hg_snapshot *snapshot, struct retype_term type)
{
	const struct retype_types *types = &snapshot->retype.types;
	if (type.n == 0)
		return NULL;
	struct retype_view view = retype_view_of(types, type);
	const struct retype_declaration *declaration =
		view.kind == RETYPE_CONSTRUCTED ? &types->declarations[view.number] : NULL;
	return declaration && declaration->form == RETYPE_UNBOXED ? declaration : NULL;
}

bool query_read_shape(struct hg_snapshot *snapshot, uint32_t rank, struct retype_term expected,
	struct query_shape *out)
{
	enum { NESTED = 6 };
	struct retype_types *types = &snapshot->retype.types;
	struct snap_cell cell;
	enum hg_confidence confidence;
	*out = (struct query_shape){.rank = rank, .fit = {.constructor = ""}};
	if (!snap_block(&snapshot->lookup, (struct snap_rank){rank}, &cell))
		return false;
	uint64_t first_value = snap_first_value(&snapshot->snap, &cell);
	out->tag = cell.tag;
	out->wosize = cell.wosize;
	out->field_count = cell.field_count;
	base_assert(out->field_count <= out->wosize);
	out->type = query_type(snapshot, rank, cell.tag, &confidence);
	if (out->type.n == 0)
		return true;
	base_assert(out->type.n < retype_term_count(types));
	struct retype_term type = out->type;
	out->fit = fit_inner(types, &type, &cell);
	if (expected.n && expected.n != out->type.n &&
		(is_ambiguous(types, out->type, NESTED) || query_unboxed(snapshot, out->type))) {
		struct retype_term inner = expected;
		struct retype_fit other = fit_inner(types, &inner, &cell);
		if (other.match != RETYPE_MISFIT && other.match != RETYPE_UNTOLD) {
			out->type = expected;
			out->fit = other;
			type = inner;
		}
	}
	if (out->fit.match == RETYPE_EXTENSION)
		find_extension(snapshot, out);
	if (out->fit.match == RETYPE_TAGGED)
		out->tag_type = retype_tagged(
			types, type, (int64_t)query_word(snapshot, rank, 0) >> 1, &out->tag_name);
	if (out->fit.match == RETYPE_FUNCTION) {
		out->first_capture = first_value;
		out->function = find_function(snapshot, out);
	}
	if (out->fit.match == RETYPE_INSTANCE)
		out->class = find_class(snapshot, out);
	return true;
}

bool query_is_list(const struct query_shape *shape)
{
	return shape->fit.match == RETYPE_FIELDS && strcmp(shape->fit.constructor, "::") == 0 &&
	       shape->wosize == 2;
}

bool query_is_lazy(const struct query_shape *shape)
{
	enum { TAG_FORCING = 244, TAG_LAZY = 246 };
	return shape->fit.match == RETYPE_FIELDS &&
	       (shape->tag == SNAP_TAG_FORWARD || shape->tag == TAG_LAZY ||
		       shape->tag == TAG_FORCING);
}

struct retype_field query_field(const struct query_shape *shape, uint64_t field)
{
	struct retype_field none = {.name = ""};
	const struct retype_fit *fit = &shape->fit;
	switch (fit->match) {
	case RETYPE_FIELDS:
		return field < fit->field_count ? fit->fields[field] : none;
	case RETYPE_ELEMENTS:
		none.type = fit->inner;
		return none;
	case RETYPE_TAGGED:
		if (field == 1)
			none.type = shape->tag_type;
		return none;
	case RETYPE_EXTENSION:
		if (field && shape->extension && field <= shape->extension->field_count)
			return shape->extension->fields[field - 1];
		return none;
	case RETYPE_FUNCTION:
		if (shape->function && field >= shape->first_capture &&
			field - shape->first_capture < shape->function->capture_count)
			return shape->function->captures[field - shape->first_capture];
		return none;
	case RETYPE_INSTANCE:
		if (shape->class && field >= QUERY_FIRST_VARIABLE &&
			field - QUERY_FIRST_VARIABLE < shape->class->field_count)
			return shape->class->fields[field - QUERY_FIRST_VARIABLE];
		return none;
	default:
		return none;
	}
}

static size_t text_size(int length)
{
	return length < 0 ? 0 : (size_t)length;
}

static size_t name_in_constructor(const struct query_shape *shape, const char *constructor,
	const char *name, uint64_t field, char *buffer, size_t size)
{
	if (query_is_lazy(shape))
		return text_size(snprintf(buffer, size, "lazy"));
	if (query_is_list(shape))
		return text_size(snprintf(buffer, size, "%s", field ? "tl" : "hd"));
	if (*name)
		return text_size(snprintf(buffer, size, "%s.%s", constructor, name));
	return text_size(snprintf(buffer, size, "%s.%llu", constructor, (unsigned long long)field));
}

size_t hg_field_name(
	struct hg_snapshot *snapshot, hg_node node, uint64_t field, char *buffer, size_t size)
{
	struct query_shape shape;
	char extension[LONGEST_EXTENSION];
	size = query_room(buffer, size);
	if (size)
		buffer[0] = '\0';
	if (query_begin(snapshot) != HG_OK || node >= snapshot->snap.block_count ||
		!query_read_shape(snapshot, node, RETYPE_NOTHING, &shape) ||
		field >= shape.field_count)
		return 0;
	const char *name = query_field(&shape, field).name;
	switch (shape.fit.match) {
	case RETYPE_FIELDS:
		if (field >= shape.fit.field_count)
			return 0;
		return name_in_constructor(
			&shape, shape.fit.constructor, name, field, buffer, size);
	case RETYPE_ELEMENTS:
		return text_size(snprintf(buffer, size, "[%llu]", (unsigned long long)field));
	case RETYPE_TAGGED:
		if (field == 0 || !shape.tag_name)
			return 0;
		return text_size(snprintf(buffer, size, "`%s.0", shape.tag_name));
	case RETYPE_EXTENSION:
		if (field == 0 || shape.tag == SNAP_TAG_OBJECT ||
			!query_extension_name(
				snapshot, &shape, false, extension, sizeof(extension)))
			return 0;
		return name_in_constructor(&shape, extension, name, field - 1, buffer, size);
	case RETYPE_FUNCTION:
	case RETYPE_INSTANCE:
		return *name ? text_size(snprintf(buffer, size, ".%s", name)) : 0;
	default:
		return 0;
	}
}
