/* Slots of extension constructors, tables of methods, and fields beside the types they should have.
 */
#include "retype/infer/blocks.h"

#include "base/assert.h"

#include <string.h>

void infer_blocks_init(struct infer_blocks *b, const struct infer_input *in,
	struct infer_heap *heap, struct infer_fits *fits, struct infer_failure *failure)
{
	*b = (struct infer_blocks){.in = in, .heap = heap, .fits = fits, .failure = failure};
}

void infer_blocks_release(struct infer_blocks *b)
{
	base_map_release(&b->extensions);
	base_map_release(&b->classes);
}

static void keep_number(struct infer_blocks *b, struct base_map *map, uint64_t key, uint64_t number)
{
	if (b->failure->status == HG_OK)
		b->failure->status = base_map_set(map, key, number, b->failure->error);
}

/* Extension constructors */

/* Slots have tag 248 and two fields; in 4.00.1 tag 0 and one. */
static bool looks_like_slot(struct infer_blocks *b, uint64_t value)
{
	struct infer_target target;
	if (!infer_resolve(b->in->snap, value, &target))
		return false;
	return b->heap->blocks[target.rank].shape ==
	       (b->in->types->is_400 ? 1 << 8 : 2 << 8 | SNAP_TAG_OBJECT);
}

/* The string in field 0 of a slot. */
static bool find_slot_name(
	struct infer_blocks *b, uint64_t slot, struct infer_target *name, uint64_t *bytes)
{
	struct snap_cell cell;
	struct infer_target target;
	if (!looks_like_slot(b, slot) || !infer_find(&b->heap->aside, slot, &target, &cell) ||
		!infer_find(&b->heap->aside, cell.fields[0], name, &cell))
		return false;
	*bytes = 8 * cell.wosize;
	return cell.tag == SNAP_TAG_STRING;
}

bool infer_is_extension_slot(struct infer_blocks *b, uint64_t value)
{
	struct infer_target name;
	uint64_t bytes;
	return find_slot_name(b, value, &name, &bytes);
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
	base_assert(length <= size);
	to[length] = '\0';
}

static const struct retype_extension *find_extension_named(
	struct infer_blocks *b, uint32_t rank, uint64_t bytes)
{
	const struct snap *snap = b->in->snap;
	const uint8_t *content;
	char name[1024];
	bool cut;
	size_t size = snap->format->content(snap, (struct snap_rank){rank}, bytes, &content, &cut);
	if (size == 0 || cut || size >= sizeof(name) || memchr(content, 0, size))
		return NULL;
	memcpy(name, content, size);
	name[size] = '\0';
	const struct retype_extension *extension = retype_extension_named(b->in->types, name);
	if (extension)
		return extension;
	simplify_path(content, size, name);
	return retype_extension_named(b->in->types, name);
}

const struct retype_extension *infer_extension(struct infer_blocks *b, uint64_t slot)
{
	const struct retype_types *types = b->in->types;
	uint64_t known, bytes;
	struct infer_target name;
	if (!looks_like_slot(b, slot) || !b->in->snap->format->content)
		return NULL;
	if (base_map_get(&b->extensions, slot, &known)) {
		base_assert(known <= types->extension_count);
		return known ? &types->extensions[known - 1] : NULL;
	}
	const struct retype_extension *extension =
		find_slot_name(b, slot, &name, &bytes) ? find_extension_named(b, name.rank, bytes)
						       : NULL;
	keep_number(b, &b->extensions, slot,
		extension ? (uint64_t)(extension - types->extensions) + 1 : 0);
	return extension;
}

/* Shapes */

static bool may_be_immediate(const struct retype_types *types, struct retype_term term)
{
	struct retype_view view = retype_view_of(types, term);
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

bool infer_is_immediate(const struct retype_types *types, struct retype_term type)
{
	struct retype_view view = retype_view_of(types, type);
	return view.kind == RETYPE_CONSTRUCTED &&
	       types->declarations[view.number].form == RETYPE_IMMEDIATE;
}

bool infer_may_be(struct infer_blocks *b, uint64_t value, struct retype_term type)
{
	struct infer_target target;
	if (value & 1)
		return may_be_immediate(b->in->types, type);
	if (infer_is_immediate(b->in->types, type))
		return false;
	if (!infer_resolve(b->in->snap, value, &target))
		return true;
	struct infer_shape shape = infer_read_shape(b->heap, target.rank, target.header);
	return !type.n || !infer_is_misfit(b->fits, type, shape.tag, shape.wosize);
}

/* Of what the fields of a block have as types, NOTHING where that is not known. */
static struct retype_term type_of_field(const struct retype_fit *fit, uint64_t field)
{
	if (fit->match == RETYPE_ELEMENTS)
		return fit->inner;
	bool is_known = fit->match == RETYPE_FIELDS && field < fit->field_count;
	return is_known ? fit->fields[field].type : RETYPE_NOTHING;
}

unsigned infer_count_misfits(struct infer_blocks *b, uint32_t rank,
	struct snap_header_address header, struct retype_term type)
{
	enum { MOST_FIELDS = 32 };
	struct snap_cell cell;
	unsigned misfits = 0;
	if (!snap_find(&b->heap->inside, (struct snap_rank){rank}, header, &cell))
		return 0;
	struct retype_fit fit = infer_fit_copy(b->fits, &type, cell.tag, cell.wosize);
	for (uint64_t i = 0; i < cell.field_count && i < MOST_FIELDS; i++) {
		struct retype_term inner = type_of_field(&fit, i);
		if (inner.n && !infer_may_be(b, cell.fields[i], inner))
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

static const struct retype_class *class_of_table(
	const struct retype_types *types, const struct snap_cell *table, uint64_t variables)
{
	int32_t hashes[MOST_METHODS];
	if (table->tag != 0 || table->field_count < METHODS || !(table->fields[0] & 1))
		return NULL;
	uint64_t count = table->fields[0] >> 1;
	if (count > MOST_METHODS || count > (table->field_count - METHODS) / 2)
		return NULL;
	for (uint64_t i = 0; i < count; i++)
		hashes[i] = (int32_t)((int64_t)table->fields[METHODS + 2 * i + 1] >> 1);
	return retype_class_of(types, hashes, (uint32_t)count, variables);
}

const struct retype_class *infer_class(struct infer_blocks *b, const struct snap_cell *object)
{
	enum { VARIABLES = 2 };
	const struct retype_types *types = b->in->types;
	struct snap_cell table;
	struct infer_target target;
	uint64_t known;
	if (object->tag != SNAP_TAG_OBJECT || object->field_count < VARIABLES)
		return NULL;
	uint64_t methods = object->fields[0];
	uint64_t variables = object->field_count - VARIABLES;
	/* Objects of a class have the same table and the same size. */
	uint64_t key = methods ^ variables << 48;
	if (base_map_get(&b->classes, key, &known)) {
		base_assert(known <= types->class_count);
		return known ? &types->classes[known - 1] : NULL;
	}
	const struct retype_class *class = infer_find(&b->heap->aside, methods, &target, &table)
						   ? class_of_table(types, &table, variables)
						   : NULL;
	if (key)
		keep_number(
			b, &b->classes, key, class ? (uint64_t)(class - types->classes) + 1 : 0);
	return class;
}
