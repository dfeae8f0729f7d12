/*
 * From the locations of a snapshot to the expressions there, and to the types of these.
 */
#include "retype/legacy/locations.h"

#include "retype/legacy/files.h"
#include "retype/legacy/terms.h"
#include "retype/legacy/unit.h"
#include "retype/legacy/walk.h"

#include <stdio.h>
#include <string.h>

/* Fields of Typedtree.expression. */
enum { EXPRESSION_DESC, EXPRESSION_LOC, EXPRESSION_TYPE = 3 };

/* Of Typedtree.expression_desc, what allocates. */
enum {
	EXP_IDENT = 0,
	EXP_FUNCTION = 3,
	EXP_APPLY = 4,
	EXP_TUPLE = 7,
	EXP_CONSTRUCT = 8,
	EXP_VARIANT = 9,
	EXP_RECORD = 10,
	EXP_FIELD = 11,
	EXP_ARRAY = 13,
	EXP_SEND = 19,
	EXP_NEW = 20,
	EXP_OVERRIDE = 23,
	EXP_LAZY = 26,
	EXP_OBJECT = 27,
	EXP_PACK = 28
};

static uint64_t location_key(const char *file, uint32_t line, uint32_t start, uint32_t end)
{
	uint64_t key = cmt_key_string(line, file);
	return cmt_key(key, (uint64_t)start << 32 | end);
}

static bool is_wanted_at(const struct cmt_wanted *wanted, const char *file, uint32_t line,
	uint32_t start, uint32_t end)
{
	return wanted->line == line && wanted->start == start && wanted->end == end &&
	       strcmp(wanted->file, file) == 0;
}

static enum hg_status want_location(struct cmt_reader *r, const struct snap_location *location)
{
	struct cmt_wanted wanted = {
		.line = (uint32_t)location->line, .start = location->start, .end = location->end};
	wanted.file = retype_intern(r->types, location->file, strlen(location->file));
	uint64_t key = location_key(wanted.file, wanted.line, wanted.start, wanted.end);
	uint32_t number;
	for (; base_map_number(&r->locations, key, &number); key++)
		if (is_wanted_at(
			    &r->wanted[number], wanted.file, wanted.line, wanted.start, wanted.end))
			return HG_OK;
	base_assert(r->wanted_count < UINT32_MAX);
	BASE_TRY(base_grow(
		&r->wanted, r->wanted_count, &r->wanted_capacity, sizeof(*r->wanted), r->error));
	BASE_TRY(base_map_set(&r->locations, key, (uint32_t)r->wanted_count, r->error));
	r->wanted[r->wanted_count++] = wanted;
	return HG_OK;
}

enum hg_status cmt_want_locations(struct cmt_reader *r)
{
	const struct snap_locations *locations = &r->snap->locations;
	for (uint32_t i = 1; i < locations->count; i++)
		if (locations->items[i].file && locations->items[i].line > 0)
			BASE_TRY(want_location(r, &locations->items[i]));
	return r->types->status;
}

/* Location.t: two positions (file, line, offset of the line, offset) and whether it is made up. */
static bool read_typed_location(struct cmt_reader *r, const struct snap_marshal *m,
	struct snap_value location, struct cmt_wanted *out)
{
	struct snap_value from = snap_marshal_field(m, location, 0);
	struct snap_value to = snap_marshal_field(m, location, 1);
	int64_t line = cmt_int(m, from, 1, -1), end_line = cmt_int(m, to, 1, -1);
	int64_t start = cmt_int(m, from, 3, -1) - cmt_int(m, from, 2, 0);
	int64_t end = cmt_int(m, to, 3, -1) - cmt_int(m, from, 2, 0);
	int64_t end_column = cmt_int(m, to, 3, -1) - cmt_int(m, to, 2, 0);
	if (line <= 0 || line > INT32_MAX || start < 0 || start > INT32_MAX || end < 0 ||
		end > INT32_MAX)
		return false;
	bool is_end =
		end_line > 0 && end_line <= INT32_MAX && end_column >= 0 && end_column <= INT32_MAX;
	*out = (struct cmt_wanted){.file = cmt_string(r, m, snap_marshal_field(m, from, 0)),
		.line = (uint32_t)line,
		.start = (uint32_t)start,
		.end = (uint32_t)end,
		.end_line = is_end ? (uint32_t)end_line : (uint32_t)line,
		.end_column = is_end ? (uint32_t)end_column : (uint32_t)end};
	return out->file != NULL;
}

/* The number of a location that the snapshot names. */
bool cmt_find_wanted(struct cmt_reader *r, const struct snap_marshal *m, struct snap_value location,
	uint32_t *number)
{
	struct cmt_wanted found;
	if (!read_typed_location(r, m, location, &found))
		return false;
	uint64_t key = location_key(found.file, found.line, found.start, found.end);
	for (; base_map_number(&r->locations, key, number); key++) {
		base_assert(*number < r->wanted_count);
		struct cmt_wanted *wanted = &r->wanted[*number];
		if (!is_wanted_at(wanted, found.file, found.line, found.start, found.end))
			continue;
		wanted->end_line = found.end_line;
		wanted->end_column = found.end_column;
		return true;
	}
	return false;
}

/* "con.Some": the last name of a path. */
static const char *constructor_kind(struct cmt_reader *r, const struct snap_marshal *m,
	struct snap_value path, const char *prefix)
{
	char text[256];
	bool is_ident = snap_marshal_tag(m, path) == 0;
	struct snap_value last = snap_marshal_field(m, path, is_ident ? 0 : 1);
	const char *name = cmt_string(r, m, is_ident ? snap_marshal_field(m, last, 1) : last);
	int length = snprintf(text, sizeof(text), "%s.%s", prefix, name ? name : "");
	size_t size = length < 0                      ? 0
		      : (size_t)length < sizeof(text) ? (size_t)length
						      : sizeof(text) - 1;
	return retype_intern(r->types, text, size);
}

/* Of constructor_description: field 4 is the tag, 2 of an exception. */
static const char *construct_kind(
	struct cmt_reader *r, const struct snap_marshal *m, struct snap_value desc)
{
	struct snap_value constructor = snap_marshal_field(m, desc, 2);
	bool is_exception = snap_marshal_tag(m, snap_marshal_field(m, constructor, 4)) == 2;
	if (snap_marshal_tag(m, snap_marshal_field(m, desc, 3)) < 0)
		return NULL;
	return constructor_kind(r, m, snap_marshal_field(m, desc, 0), is_exception ? "exn" : "con");
}

/* 'ref' is a primitive that makes a record; what others return they have made themselves. */
static const char *apply_kind(
	struct cmt_reader *r, const struct snap_marshal *m, struct snap_value desc)
{
	struct snap_value function =
		snap_marshal_field(m, snap_marshal_field(m, desc, 0), EXPRESSION_DESC);
	struct snap_value value = snap_marshal_field(m, function, 2);
	struct snap_value kind = snap_marshal_field(m, value, 1);
	if (snap_marshal_tag(m, function) != EXP_IDENT || snap_marshal_tag(m, kind) != 0)
		return "call";
	const char *name =
		cmt_string(r, m, snap_marshal_field(m, snap_marshal_field(m, kind, 0), 0));
	return name && strcmp(name, "%makemutable") == 0 ? "record" : "call";
}

/* What the expression allocates at its location; NULL: nothing. */
static const char *kind_of_expression(
	struct cmt_reader *r, const struct snap_marshal *m, struct snap_value expression)
{
	struct snap_value desc = snap_marshal_field(m, expression, EXPRESSION_DESC);
	switch (snap_marshal_tag(m, desc)) {
	case EXP_FUNCTION:
		return "closure";
	case EXP_APPLY:
		return apply_kind(r, m, desc);
	case EXP_TUPLE:
		return "tuple";
	case EXP_CONSTRUCT:
		return construct_kind(r, m, desc);
	case EXP_VARIANT:
		return snap_marshal_tag(m, snap_marshal_field(m, desc, 1)) < 0 ? NULL : "pvar";
	case EXP_RECORD:
		return "record";
	case EXP_FIELD: /* label_description: field 6 is the representation, 1 of floats */
		return cmt_int(m, snap_marshal_field(m, desc, 3), 6, 0) == 1 ? "boxfloat" : NULL;
	case EXP_ARRAY:
		return "array";
	case EXP_SEND:
		return "call";
	case EXP_NEW:
		return "new";
	case EXP_OVERRIDE:
		return "override";
	case EXP_LAZY:
		return "lazy";
	case EXP_OBJECT:
		return "object";
	case EXP_PACK:
		return "pack";
	default:
		return NULL;
	}
}

static void add_found(struct cmt_reader *r, struct cmt_found found)
{
	if (r->status == HG_OK)
		r->status = base_grow(
			&r->found, r->found_count, &r->found_capacity, sizeof(*r->found), r->error);
	if (r->status == HG_OK)
		r->found[r->found_count++] = found;
}

static void meet_expression(struct cmt_reader *r, uint32_t unit, struct snap_value expression)
{
	const struct snap_marshal *m = &r->units[unit]->m;
	struct snap_value location = snap_marshal_field(m, expression, EXPRESSION_LOC);
	struct snap_value desc = snap_marshal_field(m, expression, EXPRESSION_DESC);
	uint32_t number;
	const char *kind = kind_of_expression(r, m, expression);
	if (kind && cmt_find_wanted(r, m, location, &number))
		add_found(r, (struct cmt_found){unit, number, expression, kind, false, 0});
	if (snap_marshal_tag(m, desc) != EXP_LAZY)
		return;
	/* The block of a lazy value and its thunk have the location of what is delayed. */
	struct snap_value delayed = snap_marshal_field(m, desc, 0);
	location = snap_marshal_field(m, delayed, EXPRESSION_LOC);
	if (!cmt_find_wanted(r, m, location, &number))
		return;
	add_found(r, (struct cmt_found){unit, number, expression, "lazy", false, 0});
	add_found(r, (struct cmt_found){unit, number, delayed, "closure", true, 0});
}

/* Units */

/* The base name of a source without what follows its first or its last dot. */
static size_t stem_of(const char *file, bool first, const char **stem)
{
	const char *slash = strrchr(file, '/');
	*stem = slash ? slash + 1 : file;
	const char *dot = first ? strchr(*stem, '.') : strrchr(*stem, '.');
	return dot ? (size_t)(dot - *stem) : strlen(*stem);
}

/* 2: the same path, 1: the same name elsewhere, 0: another source. */
static unsigned likeness(const char *source, const char *file)
{
	const char *source_stem, *file_stem;
	if (strcmp(source, file) == 0)
		return 2;
	if (!source[0])
		return 1;
	size_t a = stem_of(source, false, &source_stem), b = stem_of(file, false, &file_stem);
	size_t c = stem_of(file, true, &file_stem);
	return (a == b || a == c) && strncmp(source_stem, file_stem, a) == 0;
}

/* The same unit may be found in the folder where it was made and where it was installed. */
static bool is_duplicate(const struct cmt_reader *r, const struct cmt_unit *unit)
{
	for (uint64_t i = 0; i < r->unit_count; i++) {
		const struct cmt_unit *other = r->units[i];
		if (other != unit && other->is_registered && other->source_digest[0] &&
			strcmp(other->name, unit->name) == 0 &&
			strcmp(other->source_digest, unit->source_digest) == 0 &&
			strcmp(other->digest, unit->digest) == 0)
			return true;
	}
	return false;
}

/* The best of what may be the unit of a source: how alike, and in which of the folders. */
struct best {
	unsigned like;
	uint32_t root;
};

/* Opens what may be the unit of a source; to find the best, or to take it. */
static void open_candidates(
	struct cmt_reader *r, const char *file, bool first, struct best *best, bool take)
{
	const char *stem;
	size_t length = stem_of(file, first, &stem);
	for (uint32_t i = 0; i < r->file_count && r->status == HG_OK; i++) {
		uint32_t unit;
		if (r->files[i].suffix != CMT_CMT ||
			!cmt_same_module(r->files[i].stem, stem, length))
			continue;
		r->status = cmt_open_file(r, i, &unit);
		if (r->status != HG_OK || unit == RETYPE_NONE)
			continue;
		const struct cmt_unit *u = r->units[unit];
		unsigned like = likeness(u->source, file);
		if (!take && like > best->like)
			*best = (struct best){like, r->files[i].root};
		else if (take && like == best->like && r->files[i].root == best->root &&
			 !u->is_registered && !is_duplicate(r, u))
			cmt_walk(r, unit, meet_expression);
	}
}

/*
 * All units whose source has the path of the location are taken; if there is none, those whose
 * source has its name, as the compiler may have been called from elsewhere.
 */
static void open_units_of_source(struct cmt_reader *r, const char *file)
{
	for (unsigned first = 0; first < 2; first++) {
		struct best best = {0, 0};
		open_candidates(r, file, first, &best, false);
		if (best.like) {
			open_candidates(r, file, first, &best, true);
			break;
		}
	}
}

enum hg_status cmt_find_locations(struct cmt_reader *r)
{
	struct base_map done = {0};
	for (uint64_t i = 0; i < r->wanted_count && r->status == HG_OK; i++) {
		const char *file = r->wanted[i].file;
		uint32_t number;
		if (base_map_number(&done, (uintptr_t)file, &number))
			continue;
		r->status = base_map_set(&done, (uintptr_t)file, 0, r->error);
		if (r->status == HG_OK)
			open_units_of_source(r, file);
	}
	base_map_release(&done);
	return r->status;
}

/* Types of locations */

static struct retype_term term_of_found(
	struct cmt_reader *r, struct cmt_context *context, const struct cmt_found *found)
{
	const struct snap_marshal *m = &r->units[found->unit]->m;
	struct retype_term type =
		cmt_term(r, context, snap_marshal_field(m, found->expression, EXPRESSION_TYPE));
	if (found->thunk)
		return retype_arrow(r->types, "", retype_base(r->types, "unit"), type);
	/* Of fields only those of records of floats are found, which box what they read. */
	struct snap_value desc = snap_marshal_field(m, found->expression, EXPRESSION_DESC);
	if (snap_marshal_tag(m, desc) == EXP_FIELD)
		return retype_base(r->types, "float");
	return type;
}

/* By unit and location; of equal ones in the order in which they were met. */
static int by_unit_and_location(const void *left, const void *right)
{
	const struct cmt_found *a = left, *b = right;
	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	if (a->wanted != b->wanted)
		return a->wanted < b->wanted ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int by_file_and_position(const void *left, const void *right)
{
	const struct retype_location *a = left, *b = right;
	int order = strcmp(a->file, b->file);
	if (order)
		return order;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* One location from the findings [first, end), which are of it and of one unit. */
static void make_location(struct cmt_reader *r, struct cmt_context *context, uint64_t first,
	uint64_t end, struct retype_location *out)
{
	const struct cmt_wanted *wanted = &r->wanted[r->found[first].wanted];
	base_assert(first < end && end <= r->found_count);
	struct retype_made *made = cmt_alloc(r, end - first, sizeof(*made));
	uint32_t count = 0;
	for (uint64_t i = first; made && i < end; i++) {
		struct retype_term type = term_of_found(r, context, &r->found[i]);
		bool is_known = false;
		for (uint32_t j = 0; j < count; j++)
			is_known |= retype_is(made[j].type, type) &&
				    strcmp(made[j].kind, r->found[i].kind) == 0;
		if (!is_known)
			made[count++] = (struct retype_made){
				r->found[i].kind, type, retype_maker_of(r->found[i].kind)};
	}
	*out = (struct retype_location){.file = wanted->file,
		.line = wanted->line,
		.start = wanted->start,
		.end = wanted->end,
		.end_line = wanted->end_line,
		.end_column = wanted->end_column,
		.function = RETYPE_NONE,
		.made_count = count};
	out->made = made;
}

void cmt_make_locations(struct cmt_reader *r)
{
	struct retype_location *locations = cmt_alloc(r, r->found_count, sizeof(*locations));
	struct cmt_context context = {0};
	uint32_t count = 0, unit = RETYPE_NONE;
	for (uint64_t i = 0; i < r->found_count; i++)
		r->found[i].order = (uint32_t)i;
	if (r->found_count)
		qsort(r->found, r->found_count, sizeof(*r->found), by_unit_and_location);
	for (uint64_t i = 1; i < r->found_count; i++)
		base_assert(by_unit_and_location(&r->found[i - 1], &r->found[i]) < 0);
	for (uint64_t first = 0, end; locations && first < r->found_count; first = end) {
		for (end = first + 1; end < r->found_count &&
				      r->found[end].wanted == r->found[first].wanted &&
				      r->found[end].unit == r->found[first].unit;)
			end++;
		if (r->found[first].unit != unit) {
			unit = r->found[first].unit;
			context = cmt_new_context(r, unit, RETYPE_NONE);
		}
		make_location(r, &context, first, end, &locations[count++]);
	}
	if (count)
		qsort(locations, count, sizeof(*locations), by_file_and_position);
	for (uint32_t i = 1; i < count; i++)
		base_assert(by_file_and_position(&locations[i - 1], &locations[i]) <= 0);
	r->types->locations = locations;
	r->types->location_count = count;
}
