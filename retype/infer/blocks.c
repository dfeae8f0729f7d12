/* What blocks tell of themselves: extension constructors by name, objects by their methods, and
 * whether what fields hold has the shape that a type says. */
#include "retype/infer/parts.h"

#include <string.h>

/* The block a value leads to, through the finder for such questions. */
static bool find_value(struct retyping *r, uint64_t value, uint32_t *rank, struct snap_cell *cell)
{
	struct snap_header_address header;
	bool is_infix;
	return retyping_resolve(r, value, rank, &header, &is_infix) &&
	       snap_find(&r->aside, (struct snap_rank){*rank}, header, cell);
}

/* Slots have tag 248 and two fields; in 4.00.1 tag 0 and one. */
static bool looks_like_slot(struct retyping *r, uint64_t value)
{
	uint32_t rank;
	struct snap_header_address header;
	bool is_infix;
	if (!retyping_resolve(r, value, &rank, &header, &is_infix))
		return false;
	return r->blocks[rank].shape == (r->types->is_400 ? 1 << 8 : 2 << 8 | SNAP_TAG_OBJECT);
}

/* The string in field 0 of a slot. */
static bool slot_name(struct retyping *r, uint64_t slot, uint32_t *name, uint64_t *bytes)
{
	struct snap_cell cell;
	uint32_t rank;
	if (!looks_like_slot(r, slot) || !find_value(r, slot, &rank, &cell) ||
		!find_value(r, cell.fields[0], name, &cell))
		return false;
	*bytes = 8 * cell.wosize;
	return cell.tag == SNAP_TAG_STRING;
}

bool retyping_is_slot(struct retyping *r, uint64_t value)
{
	uint32_t name;
	uint64_t bytes;
	return slot_name(r, value, &name, &bytes);
}

/*
 * Names in the heap are paths of modules, whose parts may be joined by "__" and which may have the
 * arguments of functors: "Lib__Ring(E).Empty" is "Lib.Ring.Empty" in the profile.
 */
static void simplify_path(const uint8_t *from, size_t size, char *to)
{
	size_t length = 0, depth = 0;
	for (size_t i = 0; i < size; i++) {
		bool joint = i > 0 && i + 2 < size && from[i] == '_' && from[i + 1] == '_' &&
			     from[i + 2] >= 'A' && from[i + 2] <= 'Z';
		depth += from[i] == '(';
		if (depth == 0)
			to[length++] = joint ? '.' : (char)from[i];
		depth -= from[i] == ')' && depth > 0;
		i += joint;
	}
	to[length] = '\0';
}

static const struct retype_extension *extension_named(
	struct retyping *r, uint32_t rank, uint64_t bytes)
{
	const uint8_t *content;
	char name[1024];
	bool cut;
	size_t size =
		r->snap->format->content(r->snap, (struct snap_rank){rank}, bytes, &content, &cut);
	if (size == 0 || cut || size >= sizeof(name) || memchr(content, 0, size))
		return NULL;
	memcpy(name, content, size);
	name[size] = '\0';
	const struct retype_extension *extension = retype_extension_named(r->types, name);
	if (extension)
		return extension;
	simplify_path(content, size, name);
	return retype_extension_named(r->types, name);
}

const struct retype_extension *retyping_extension(struct retyping *r, uint64_t slot)
{
	uint64_t known, bytes;
	uint32_t name;
	if (!looks_like_slot(r, slot) || !r->snap->format->content)
		return NULL;
	if (retype_map_get(&r->extensions, slot, &known))
		return known ? &r->types->extensions[known - 1] : NULL;
	const struct retype_extension *extension =
		slot_name(r, slot, &name, &bytes) ? extension_named(r, name, bytes) : NULL;
	uint64_t number = extension ? (uint64_t)(extension - r->types->extensions) + 1 : 0;
	if (r->status == HG_OK)
		r->status = retype_map_set(&r->extensions, slot, number, r->error);
	return extension;
}

/* Shapes */

static bool may_be_immediate(const struct retype_types *types, struct retype_term term)
{
	struct retype_view view = retype_view(types, term);
	if (view.kind == RETYPE_TUPLE || view.kind == RETYPE_ARROW || view.kind == RETYPE_OBJECT ||
		view.kind == RETYPE_MODULE)
		return false;
	if (view.kind != RETYPE_CONSTRUCTED)
		return true;
	switch (types->declarations[view.number].form) {
	case RETYPE_RECORD:
	case RETYPE_FLOAT_RECORD:
	case RETYPE_STRING:
	case RETYPE_FLOAT:
	case RETYPE_FLOAT_ARRAY:
	case RETYPE_CUSTOM:
	case RETYPE_ARRAY:
	case RETYPE_WEAK:
	case RETYPE_EPHEMERON:
	case RETYPE_SLOT:
		return false;
	default:
		return true;
	}
}

bool retyping_is_immediate(const struct retyping *r, struct retype_term type)
{
	struct retype_view view = retype_view(r->types, type);
	return view.kind == RETYPE_CONSTRUCTED &&
	       r->types->declarations[view.number].form == RETYPE_IMMEDIATE;
}

bool retyping_may_be(struct retyping *r, uint64_t value, struct retype_term type)
{
	uint32_t rank;
	struct snap_header_address header;
	uint64_t wosize;
	unsigned tag;
	bool is_infix;
	if (value & 1)
		return may_be_immediate(r->types, type);
	if (retyping_is_immediate(r, type))
		return false;
	if (!retyping_resolve(r, value, &rank, &header, &is_infix))
		return true;
	retyping_shape(r, rank, header, &tag, &wosize);
	return !type.n || retyping_fit(r, &type, tag, wosize).match != RETYPE_MISFIT;
}

/* Of what the fields of a block have as types, NOTHING where that is not known. */
static struct retype_term type_of_field(const struct retype_fit *fit, uint64_t field)
{
	if (fit->match == RETYPE_ELEMENTS)
		return fit->inner;
	bool is_known = fit->match == RETYPE_FIELDS && field < fit->field_count;
	return is_known ? fit->fields[field].type : RETYPE_NOTHING;
}

unsigned retyping_misfits(struct retyping *r, uint32_t rank, struct snap_header_address header,
	struct retype_term type)
{
	enum { MOST_FIELDS = 32 };
	struct snap_cell cell;
	unsigned misfits = 0;
	if (!snap_find(&r->inside, (struct snap_rank){rank}, header, &cell))
		return 0;
	struct retype_fit fit = retyping_fit(r, &type, cell.tag, cell.wosize);
	for (uint64_t i = 0; i < cell.field_count && i < MOST_FIELDS; i++) {
		struct retype_term inner = type_of_field(&fit, i);
		if (inner.n && !retyping_may_be(r, cell.fields[i], inner))
			misfits++;
	}
	return misfits;
}

/* Objects */

/*
 * The table of methods that field 0 of an object leads to (CamlinternalOO): the count as an
 * integer, a mask, then for each method its closure and the hash of its name.
 */
enum { METHODS = 2, MOST_METHODS = 4096 };

static int by_hash(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

static const struct retype_class *class_of_table(
	struct retyping *r, const struct snap_cell *table, uint64_t variables)
{
	int32_t hashes[MOST_METHODS];
	if (table->tag != 0 || table->field_count < METHODS || !(table->fields[0] & 1))
		return NULL;
	uint64_t count = table->fields[0] >> 1;
	if (count > MOST_METHODS || count > (table->field_count - METHODS) / 2)
		return NULL;
	for (uint64_t i = 0; i < count; i++)
		hashes[i] = (int32_t)((int64_t)table->fields[METHODS + 2 * i + 1] >> 1);
	qsort(hashes, count, sizeof(*hashes), by_hash);
	return retype_class_of(r->types, hashes, (uint32_t)count, variables);
}

const struct retype_class *retyping_class(struct retyping *r, const struct snap_cell *object)
{
	enum { VARIABLES = 2 };
	struct snap_cell table;
	uint64_t known;
	uint32_t rank;
	if (object->tag != SNAP_TAG_OBJECT || object->field_count < VARIABLES)
		return NULL;
	uint64_t methods = object->fields[0];
	uint64_t variables = object->field_count - VARIABLES;
	/* Objects of a class have the same table and the same size. */
	uint64_t key = methods ^ variables << 48;
	if (retype_map_get(&r->classes, key, &known))
		return known ? &r->types->classes[known - 1] : NULL;
	const struct retype_class *class =
		find_value(r, methods, &rank, &table) ? class_of_table(r, &table, variables) : NULL;
	uint64_t number = class ? (uint64_t)(class - r->types->classes) + 1 : 0;
	if (key && r->status == HG_OK)
		r->status = retype_map_set(&r->classes, key, number, r->error);
	return class;
}
