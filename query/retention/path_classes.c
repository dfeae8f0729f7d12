/* Names of classes, made when the first of a class is met and found again by what tells it. */
#include "query/retention/path_classes.h"

#include "base/assert.h"
#include "base/grow.h"
#include "query/retention/closure_classes.h"
#include "query/shared/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks of unknown type with more words are one class: arrays grow. */
enum { MOST_WORDS_TOLD = 16 };

/* In of_type[], of types of functions that nothing is known of. */
#define TELLS_NOTHING UINT32_MAX

/* What the keys of classes that have no type begin with. */
enum { KEY_OF_BLOCK = 1, KEY_OF_CODE, KEY_OF_ROOT };
#define KEY(kind, rest) ((uint64_t)(kind) << 60 | ((rest) & (((uint64_t)1 << 60) - 1)))

enum hg_status query_path_classes_init(
	struct query_path_classes *classes, struct hg_snapshot *snapshot)
{
	*classes = (struct query_path_classes){.snapshot = snapshot};
	uint64_t types = (uint64_t)retype_term_count(&snapshot->retype.types) + 1;
	BASE_TRY(query_alloc(
		snapshot, types, sizeof(*classes->of_type), (void **)&classes->of_type));
	return query_count_closures(snapshot, &classes->closures);
}

void query_path_classes_release(struct query_path_classes *classes)
{
	base_pool_release(&classes->names);
	free(classes->all);
	free(classes->of_type);
	base_map_release(&classes->by_key);
	base_map_release(&classes->by_name);
	base_map_release(&classes->closures);
	*classes = (struct query_path_classes){0};
}

/* The class of this name, a new one if there is none yet. */
static enum hg_status intern_class(
	struct query_path_classes *c, const struct query_path_class *wanted, uint32_t *out)
{
	struct hg_error *error = &c->snapshot->session->error;
	size_t length = strlen(wanted->name);
	uint64_t first = c->count;
	bool is_new;
	BASE_TRY(base_map_add(&c->by_name,
		base_hash_bytes(base_process_secret(), wanted->name, length), &first, &is_new,
		error));
	for (uint32_t i = (uint32_t)first; !is_new && i != QUERY_NO_CLASS; i = c->all[i].next) {
		if (c->all[i].is_root == wanted->is_root &&
			strcmp(c->all[i].name, wanted->name) == 0) {
			*out = i;
			return HG_OK;
		}
	}
	if (c->count == QUERY_NO_CLASS - 1)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many names of classes");
	BASE_TRY(base_grow(&c->all, c->count, &c->capacity, sizeof(*c->all), error));
	struct query_path_class *class = &c->all[c->count];
	*class = *wanted;
	class->next = QUERY_NO_CLASS;
	BASE_TRY(base_pool_string(&c->names, wanted->name, length, &class->name, error));
	if (!is_new) {
		class->next = c->all[first].next;
		c->all[first].next = c->count;
	}
	*out = c->count++;
	return HG_OK;
}

enum hg_status query_path_class_named(
	struct query_path_classes *classes, const char *name, uint32_t *out)
{
	return intern_class(classes, &(struct query_path_class){.name = name}, out);
}

/* "closure of Foo.bar" */
static void name_of_closure(
	const struct query_path_classes *c, uint64_t code, char *buffer, size_t size)
{
	char function[QUERY_LONGEST_NAME];
	hg_code_name(c->snapshot, code, function, sizeof(function));
	snprintf(buffer, size, *function ? "closure of %s" : "closure%s", function);
}

/* "tag 0, 3 words @ foo.ml:12:3-8" */
static void name_of_unknown(const struct query_path_classes *c, const struct snap_cell *cell,
	uint32_t location, char *buffer, size_t size)
{
	char place[QUERY_LONGEST_NAME];
	const char *unit = cell->wosize == 1 ? "" : "s";
	hg_location_name(c->snapshot, location, place, sizeof(place));
	const char *at = *place ? " @ " : "";
	if (cell->wosize <= MOST_WORDS_TOLD)
		snprintf(buffer, size, "tag %u, %u word%s%s%s", cell->tag, (unsigned)cell->wosize,
			unit, at, place);
	else
		snprintf(buffer, size, "tag %u, more than %d words%s%s", cell->tag, MOST_WORDS_TOLD,
			at, place);
}

/* What leads to the location: where samples do not tell, the id in the header, which costs less. */
static uint64_t key_of_location(const struct snap *snap, const struct snap_cell *cell)
{
	enum hg_confidence confidence;
	if (snap->sampled_count)
		return query_location(snap, cell, &confidence);
	return snap_header_reserved(cell->header, snap->reserved);
}

static enum hg_status new_unknown_class(struct query_path_classes *c, uint64_t code,
	const struct snap_cell *cell, uint64_t key, uint32_t *out)
{
	char name[2 * QUERY_LONGEST_NAME];
	enum hg_confidence confidence;
	uint32_t location = query_location(&c->snapshot->snap, cell, &confidence);
	if (code)
		name_of_closure(c, code, name, sizeof(name));
	else
		name_of_unknown(c, cell, location, name, sizeof(name));
	BASE_TRY(query_path_class_named(c, name, out));
	return base_map_set(&c->by_key, key, *out, &c->snapshot->session->error);
}

static enum hg_status class_of_unknown(
	struct query_path_classes *c, uint32_t rank, const struct snap_cell *cell, uint32_t *out)
{
	uint64_t code =
		cell->tag == SNAP_TAG_CLOSURE ? query_code_of_cell(c->snapshot, rank, cell) : 0;
	uint64_t words = cell->wosize <= MOST_WORDS_TOLD ? cell->wosize : MOST_WORDS_TOLD + 1;
	uint64_t key = code ? KEY(KEY_OF_CODE, code)
			    : KEY(KEY_OF_BLOCK, words << 48 | (uint64_t)cell->tag << 40 |
							key_of_location(&c->snapshot->snap, cell));
	if (base_map_number(&c->by_key, key, out))
		return HG_OK;
	return new_unknown_class(c, code, cell, key, out);
}

/* By the name of the type, unless that tells nothing: then it is as if it were unknown. */
static enum hg_status class_of_type(struct query_path_classes *c, uint32_t rank,
	const struct snap_cell *cell, uint32_t type, uint32_t *out)
{
	char name[QUERY_LONGEST_NAME];
	hg_type_name(c->snapshot, type, name, sizeof(name));
	if (cell->tag == SNAP_TAG_CLOSURE && query_tells_nothing(name)) {
		c->of_type[type] = TELLS_NOTHING;
		return class_of_unknown(c, rank, cell, out);
	}
	BASE_TRY(intern_class(c, &(struct query_path_class){.name = name, .type = type}, out));
	c->of_type[type] = *out + 1;
	return HG_OK;
}

enum hg_status query_find_path_class(struct query_path_classes *classes, uint32_t rank,
	const struct snap_cell *cell, uint32_t type, uint32_t *out)
{
	uint32_t known = classes->of_type[type];
	if (type == 0 || known == TELLS_NOTHING ||
		(cell->tag == SNAP_TAG_CLOSURE &&
			query_is_by_function(classes->snapshot, &classes->closures, rank, cell)))
		return class_of_unknown(classes, rank, cell, out);
	if (!known)
		return class_of_type(classes, rank, cell, type, out);
	*out = known - 1;
	return HG_OK;
}

/*
 * Which thread it was, " (main)" or " (thread 2)", says nothing of another snapshot: threads take
 * turns.  Nor does the call site in a series: a function that goes on is elsewhere then.
 */
static void forget_moment(char *name, bool in_series)
{
	size_t length = strlen(name);
	char *thread = strrchr(name, ' ');
	while (thread && thread > name && strncmp(thread, " (", 2) != 0)
		thread = memrchr(name, ' ', (size_t)(thread - name));
	if (thread && length && name[length - 1] == ')' &&
		(strncmp(thread, " (main", 6) == 0 || strncmp(thread, " (thread", 8) == 0))
		*thread = '\0';
	char *site = in_series ? strrchr(name, ' ') : NULL;
	if (site && strchr(site, ':'))
		*site = '\0';
}

size_t query_root_class_name(
	const struct hg_snapshot *snapshot, hg_node root, bool in_series, char *buffer, size_t size)
{
	const struct snap_root *slot =
		&snapshot->snap.roots[root - (hg_node)snapshot->snap.block_count];
	char name[QUERY_LONGEST_NAME];
	if (slot->kind == HG_ROOT_GLOBAL)
		return hg_root_name(snapshot, root, buffer, size);
	snprintf(name, sizeof(name), "%s", slot->name);
	if (slot->kind == HG_ROOT_STACK)
		forget_moment(name, in_series);
	int length = snprintf(buffer, size, "%s", name);
	return length < 0 ? 0 : (size_t)length;
}

/* Kind and name; slots of globals keep their number, which is that of the unit's field. */
static enum hg_status intern_root(struct query_path_classes *c, uint64_t root, uint32_t *out)
{
	const struct snap *snap = &c->snapshot->snap;
	enum hg_root_kind kind = snap->roots[root].kind;
	char name[QUERY_LONGEST_NAME];
	int length = snprintf(name, sizeof(name), "%s ", hg_root_kind_name(kind));
	query_root_class_name(c->snapshot, snap_root_node(snap, root), c->in_series, name + length,
		sizeof(name) - (size_t)length);
	return intern_class(
		c, &(struct query_path_class){.name = name, .is_root = true, .kind = kind}, out);
}

enum hg_status query_path_class_of_root(
	struct query_path_classes *classes, uint64_t root, uint32_t *out)
{
	const struct snap_root *slot = &classes->snapshot->snap.roots[root];
	if (slot->kind == HG_ROOT_GLOBAL)
		return intern_root(classes, root, out);
	/* Slots of one array share the string that is their name. */
	uint64_t key =
		KEY(KEY_OF_ROOT, (uint64_t)slot->kind << 48 ^ (uint64_t)(uintptr_t)slot->name);
	if (base_map_number(&classes->by_key, key, out))
		return HG_OK;
	BASE_TRY(intern_root(classes, root, out));
	return base_map_set(&classes->by_key, key, *out, &classes->snapshot->session->error);
}
