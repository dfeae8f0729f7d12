/*
 * The index: what each location of the profile makes, by the head of its type (its declaration, the
 * number of parts of a tuple, ...), and in it by the type, so that a question compares each
 * different type once.
 */
#include "query/places/places.h"
#include "query/shared/walk.h"

#include "query/places/agree.h"
#include "query/places/index.h"
#include "query/shared/types.h"

#include "base/assert.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COMPARED = 2000, MOST_FRAMES = 64 };

/* What expressions make */

enum making { MAKES_NOTHING, MAKES_BY_CALL, MAKES_DIRECTLY };

static bool is_number_type(const struct retype_types *types, struct retype_term type)
{
	struct retype_view view = retype_view_of(types, type);
	return view.kind == RETYPE_CONSTRUCTED &&
	       (view.number == RETYPE_BASE_FLOAT || view.number == RETYPE_BASE_INT32 ||
		       view.number == RETYPE_BASE_INT64 || view.number == RETYPE_BASE_NATIVEINT);
}

/* Primitives of the compiler's own: most only read; numbers they put into blocks. */
static enum making making_of_primitive(
	const struct retype_types *types, const char *name, struct retype_term type)
{
	static const char *const calls[] = {"%apply", "%revapply", "%lazy_force", "%perform",
		"%resume", "%runstack", "%reperform", "%send", "%sendself", "%sendcache"};
	if (name[0] != '%' || strcmp(name, "%makemutable") == 0 || is_number_type(types, type))
		return MAKES_DIRECTLY;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (strcmp(name, calls[i]) == 0)
			return MAKES_BY_CALL;
	return MAKES_NOTHING;
}

/* "exn.Match_failure": where nothing matches there is an exception, but hardly ever. */
static enum making making_of(
	const struct retype_types *types, const char *kind, struct retype_term type)
{
	static const char primitive[] = "prim.", failure[] = "exn.";
	if (strncmp(kind, primitive, strlen(primitive)) == 0)
		return making_of_primitive(types, kind + strlen(primitive), type);
	if (retype_maker_of(kind) == RETYPE_MADE_BY_CALL ||
		strncmp(kind, failure, strlen(failure)) == 0)
		return MAKES_BY_CALL;
	return MAKES_DIRECTLY;
}

/* A function of which neither parameter nor result is known: it says nothing. */
static bool is_some_function(const struct retype_types *types, struct retype_term type)
{
	struct retype_view view = retype_view_of(types, type);
	return view.kind == RETYPE_ARROW && view.count == 2 && view.arguments[0].n == 0 &&
	       view.arguments[1].n == 0;
}

/* The index */

static int compare_made(const void *a, const void *b)
{
	const struct query_made *x = a, *y = b;
	if (x->head != y->head)
		return x->head < y->head ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->location != y->location)
		return x->location < y->location ? -1 : 1;
	return strcmp(x->kind, y->kind);
}

static enum hg_status add_made(struct hg_snapshot *snapshot, struct query_places *places,
	uint64_t *capacity, uint32_t location, const struct retype_made *made)
{
	struct retype_types *types = &snapshot->retype.types;
	struct retype_term type =
		query_bare_type(types, retype_instance(types, made->type, NULL, 0));
	enum making making = making_of(types, made->kind, type);
	struct query_made entry = {.head = query_type_head(types, type),
		.type = type.n,
		.location = location,
		.direct = making == MAKES_DIRECTLY,
		.kind = made->kind};
	if (entry.head == 0 || making == MAKES_NOTHING || is_some_function(types, type))
		return HG_OK;
	BASE_TRY(query_grow(
		snapshot, &places->made, places->made_count, capacity, sizeof(*places->made)));
	places->made[places->made_count++] = entry;
	return HG_OK;
}

/*
 * Which units of the profile are in the program: it may have those of other programs, too.  All, if
 * that is not known of some: stripped programs have no names for them.
 */
static enum hg_status find_linked(struct hg_snapshot *snapshot, bool **out)
{
	const struct snap *snap = &snapshot->snap;
	const struct retype_types *types = &snapshot->retype.types;
	bool any = false, nameless = false;
	BASE_TRY(query_alloc(
		snapshot, (uint64_t)types->unit_count + 1, sizeof(**out), (void **)out));
	for (uint64_t i = 0; i < snap->unit_count; i++) {
		uint32_t number = retype_unit_named(types, snap->units[i].name);
		nameless |= strncmp(snap->units[i].name, "module 0x", 9) == 0;
		any |= number != RETYPE_NONE;
		if (number != RETYPE_NONE)
			(*out)[number] = true;
	}
	if (!any || nameless)
		memset(*out, true, types->unit_count);
	return HG_OK;
}

static enum hg_status index_location(struct hg_snapshot *snapshot, struct query_places *places,
	uint64_t *capacity, const bool *linked, uint32_t number)
{
	struct retype_types *types = &snapshot->retype.types;
	const struct retype_location *location = &types->locations[number];
	uint32_t count;
	if (location->line == 0 || (location->unit < types->unit_count && !linked[location->unit]))
		return HG_OK;
	const struct retype_made *made = retype_location_made(types, location, &count);
	for (uint32_t i = 0; i < count; i++)
		BASE_TRY(add_made(snapshot, places, capacity, number, &made[i]));
	return HG_OK;
}

static enum hg_status index_made(struct hg_snapshot *snapshot, struct query_places *places)
{
	struct retype_types *types = &snapshot->retype.types;
	uint64_t capacity = 0;
	bool *linked;
	BASE_TRY(find_linked(snapshot, &linked));
	enum hg_status status = HG_OK;
	for (uint32_t i = 0; i < types->location_count && status == HG_OK; i++)
		status = index_location(snapshot, places, &capacity, linked, i);
	free(linked);
	BASE_TRY(status);
	if (places->made_count)
		qsort(places->made, places->made_count, sizeof(*places->made), compare_made);
	return types->status;
}

static enum hg_status index_owners(struct hg_snapshot *snapshot, struct query_places *places)
{
	const struct retype_types *types = &snapshot->retype.types;
	const char *last = NULL;
	for (uint32_t i = 0; i < types->location_count; i++) {
		const struct retype_location *location = &types->locations[i];
		if (location->file == last || location->unit >= types->unit_count)
			continue;
		uint64_t key = (uint64_t)(uintptr_t)location->file, own;
		last = location->file;
		if (!base_map_get(&places->own, key, &own))
			own = false;
		own |= types->units[location->unit].owner != RETYPE_LIBRARY;
		BASE_TRY(base_map_set(&places->own, key, own, &snapshot->session->error));
	}
	return HG_OK;
}

/* Names of files are those of the profile where it has them, so that equal ones are one pointer. */
static bool is_own_file(
	const struct hg_snapshot *snapshot, const struct query_places *places, const char **file)
{
	const char *known = retype_interned(&snapshot->retype.types, *file);
	uint64_t own;
	if (known)
		*file = known;
	if (known && base_map_get(&places->own, (uint64_t)(uintptr_t)known, &own))
		return own;
	return !retype_is_standard_file(*file);
}

/* What blocks say */

static enum hg_status number_line(struct hg_snapshot *snapshot, struct query_places *places,
	const char *file, uint32_t line, uint32_t *out)
{
	struct hg_error *error = &snapshot->session->error;
	uint64_t number = places->file_count;
	bool is_new;
	BASE_TRY(base_map_add(
		&places->file_numbers, (uint64_t)(uintptr_t)file, &number, &is_new, error));
	if (is_new) {
		BASE_TRY(query_grow(snapshot, &places->files, number, &places->file_capacity,
			sizeof(*places->files)));
		places->files[places->file_count++] = file;
	}
	return query_pairs_number(&places->lines, (uint32_t)number, line, out, error);
}

/* A block of a type that was allocated at a line, or by what is called there. */
static enum hg_status add_located(struct hg_snapshot *snapshot, struct query_places *places,
	uint32_t type, const struct snap_location *at, bool by_call, uint64_t bytes)
{
	uint32_t line, number, before = places->pairs.count;
	const char *file = at->file;
	is_own_file(snapshot, places, &file);
	BASE_TRY(number_line(snapshot, places, file, (uint32_t)at->line, &line));
	BASE_TRY(query_pairs_number(&places->pairs, places->same[type], 2 * line + by_call, &number,
		&snapshot->session->error));
	if (places->pairs.count > before) {
		BASE_TRY(query_grow(snapshot, &places->located, before, &places->located_capacity,
			sizeof(*places->located)));
		places->located[number] = (struct query_located){0};
	}
	places->located[number].blocks++;
	places->located[number].bytes += bytes;
	return HG_OK;
}

/* In a library: where the program called it, as the call stack tells. */
static const struct snap_location *innermost_own(struct hg_snapshot *snapshot,
	const struct query_places *places, uint32_t rank, struct snap_location frames[MOST_FRAMES])
{
	uint64_t count = snap_process_call_locations(
		&snapshot->snap, (struct snap_rank){rank}, frames, MOST_FRAMES);
	for (uint64_t i = 0; i < count && i < MOST_FRAMES; i++) {
		const char *file = frames[i].file;
		if (frames[i].line > 0 && is_own_file(snapshot, places, &file))
			return &frames[i];
	}
	return NULL;
}

static enum hg_status locate_block(struct hg_snapshot *snapshot, struct query_places *places,
	uint32_t rank, const struct snap_cell *cell)
{
	enum hg_confidence confidence;
	const struct snap *snap = &snapshot->snap;
	uint32_t location = query_location(snap, cell, &confidence);
	uint32_t type = query_type(snapshot, rank, cell->tag, &confidence).n;
	const struct snap_location *at = &snap->locations.items[location];
	uint64_t bytes = snap_block_bytes(cell->wosize);
	if (location == 0 || type == 0 || !at->file || at->line <= 0)
		return HG_OK;
	base_assert(type < places->same_count);
	const char *file = at->file;
	BASE_TRY(add_located(snapshot, places, type, at, false, bytes));
	if (!snap->sampled_count || is_own_file(snapshot, places, &file))
		return HG_OK;
	struct snap_location frames[MOST_FRAMES];
	const struct snap_location *caller = innermost_own(snapshot, places, rank, frames);
	return caller ? add_located(snapshot, places, type, caller, true, bytes) : HG_OK;
}

static enum hg_status locate_sampled(struct hg_snapshot *snapshot, struct query_places *places)
{
	const struct snap *snap = &snapshot->snap;
	struct snap_cell cell;
	for (uint64_t i = 0; i < snap->sampled_count; i++) {
		uint32_t rank = snap_resolve_node(snap, snap_block_of(snap->sampled[i].address).a);
		if (rank == HG_NO_NODE ||
			!snap_block(&snapshot->lookup, (struct snap_rank){rank}, &cell) ||
			cell.address.a != snap->sampled[i].address.a)
			continue;
		BASE_TRY(locate_block(snapshot, places, rank, &cell));
	}
	return HG_OK;
}

static enum hg_status locate_by_ids(struct hg_snapshot *snapshot, struct query_places *places)
{
	struct query_walk walk;
	struct snap_cell cell;
	uint32_t rank;
	enum hg_status status = HG_OK;
	BASE_TRY(query_walk_open(&walk, snapshot));
	while (status == HG_OK && query_walk_next(&walk, &rank, &cell))
		status = locate_block(snapshot, places, rank, &cell);
	query_walk_close(&walk);
	return status;
}

static enum hg_status index_located(struct hg_snapshot *snapshot, struct query_places *places)
{
	const struct snap *snap = &snapshot->snap;
	BASE_TRY(query_types_by_name(snapshot, &places->same));
	places->same_count = retype_term_count(&snapshot->retype.types);
	if (snap->sampled_count)
		BASE_TRY(locate_sampled(snapshot, places));
	else if (snap->format->ids != SNAP_IDS_NONE && snap->locations.count > 1)
		BASE_TRY(locate_by_ids(snapshot, places));
	uint32_t count = places->pairs.count;
	BASE_TRY(query_alloc(snapshot, count, sizeof(uint32_t), (void **)&places->next_located));
	BASE_TRY(query_alloc(snapshot, (uint64_t)places->same_count + 1, sizeof(uint32_t),
		(void **)&places->first_located));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t type = places->pairs.pairs[i].first;
		places->next_located[i] = places->first_located[type];
		places->first_located[type] = i + 1;
	}
	return HG_OK;
}

/* The index of a snapshot that has been analysed. */
static enum hg_status index_places(struct hg_snapshot *snapshot, struct query_places **out)
{
	struct query_places *places = snapshot->places;
	if (!places) {
		BASE_TRY(query_alloc(snapshot, 1, sizeof(*places), (void **)&places));
		enum hg_status status = index_owners(snapshot, places);
		if (status == HG_OK)
			status = index_located(snapshot, places);
		if (status == HG_OK)
			status = index_made(snapshot, places);
		if (status != HG_OK) {
			query_places_release(places);
			return status;
		}
		snapshot->places = places;
	}
	*out = places;
	return HG_OK;
}

/* One question */

struct places_answer {
	struct hg_snapshot *snapshot;
	const struct query_places *index;
	struct query_place *rows;
	uint64_t count, capacity;
};

static enum hg_status add_place(struct places_answer *a, const struct query_place *place)
{
	BASE_TRY(query_grow(a->snapshot, &a->rows, a->count, &a->capacity, sizeof(*a->rows)));
	a->rows[a->count++] = *place;
	return HG_OK;
}

/* Places of types with heads in this range. */
static enum hg_status add_made_range(
	struct places_answer *a, struct retype_term wanted, uint64_t head, uint64_t last_head)
{
	struct retype_types *types = &a->snapshot->retype.types;
	const struct query_places *index = a->index;
	uint64_t i = BASE_FIRST_FROM(index->made, index->made_count, head, head);
	enum query_agreement found = QUERY_DISAGREES;
	uint32_t last = 0;
	for (; i < index->made_count && index->made[i].head <= last_head; i++) {
		const struct query_made *entry = &index->made[i];
		const struct retype_location *location = &types->locations[entry->location];
		unsigned work = MOST_COMPARED;
		if (entry->type != last)
			found = query_agree_bare(
				types, wanted, (struct retype_term){entry->type}, &work);
		last = entry->type;
		if (found == QUERY_DISAGREES)
			continue;
		bool own = location->unit >= types->unit_count ||
			   types->units[location->unit].owner != RETYPE_LIBRARY;
		struct query_place place = {.file = location->file,
			.line = location->line,
			.own = own,
			.exact = found == QUERY_AGREES,
			.direct = entry->direct,
			.kind = entry->kind};
		BASE_TRY(add_place(a, &place));
	}
	return HG_OK;
}

static enum hg_status add_made_places(struct places_answer *a, struct retype_term type)
{
	struct retype_types *types = &a->snapshot->retype.types;
	struct retype_term wanted = query_bare_type(types, type);
	uint64_t head = query_type_head(types, wanted), general = query_general_head(head);
	if (head == 0)
		return HG_OK;
	BASE_TRY(add_made_range(a, wanted, head, query_last_head(head)));
	return general == head ? HG_OK : add_made_range(a, wanted, general, general);
}

static enum hg_status add_located_place(struct places_answer *a, uint32_t pair)
{
	const struct query_places *index = a->index;
	uint32_t second = index->pairs.pairs[pair].second;
	const struct query_pair *line = &index->lines.pairs[second / 2];
	struct query_place place = {.file = index->files[line->first],
		.line = line->second,
		.exact = true,
		.direct = second % 2 == 0,
		.kind = "",
		.blocks = index->located[pair].blocks,
		.bytes = index->located[pair].bytes};
	place.own = is_own_file(a->snapshot, index, &place.file);
	return add_place(a, &place);
}

/* Of a type that no block has: of all blocks that are more exactly of it, "int list" of "_ list".
 */
static enum hg_status add_located_instances(struct places_answer *a, struct retype_term type)
{
	struct retype_types *types = &a->snapshot->retype.types;
	for (uint32_t i = 0; i < a->index->pairs.count; i++) {
		unsigned work = MOST_COMPARED;
		struct retype_term instance = {a->index->pairs.pairs[i].first};
		if (query_agree(types, type, instance, &work) == QUERY_AGREES)
			BASE_TRY(add_located_place(a, i));
	}
	return HG_OK;
}

static int compare_files(const char *a, const char *b)
{
	return a == b ? 0 : strcmp(a, b);
}

static int compare_flags(bool a, bool b)
{
	return (int)b - (int)a;
}

/* Rows of one line together, what tells most first. */
static int compare_lines(const void *left, const void *right)
{
	const struct query_place *a = left, *b = right;
	int order = compare_files(a->file, b->file);
	if (order == 0)
		order = (a->line > b->line) - (a->line < b->line);
	if (order == 0) /* what only blocks tell comes last */
		order = compare_flags(a->kind[0], b->kind[0]);
	if (order == 0)
		order = compare_flags(a->exact, b->exact);
	if (order == 0)
		order = compare_flags(a->direct, b->direct);
	return order ? order : strcmp(a->kind, b->kind);
}

static int compare_places(const void *left, const void *right)
{
	const struct query_place *a = left, *b = right;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	int order = compare_flags(a->own, b->own);
	if (order == 0)
		order = compare_flags(a->exact, b->exact);
	if (order == 0)
		order = compare_flags(a->direct, b->direct);
	if (order == 0)
		order = compare_files(a->file, b->file);
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* One row for each line. */
static void merge_places(struct places_answer *a)
{
	uint64_t kept = 0;
	if (a->count)
		qsort(a->rows, a->count, sizeof(*a->rows), compare_lines);
	for (uint64_t i = 0; i < a->count; i++) {
		struct query_place *last = kept ? &a->rows[kept - 1] : NULL, *row = &a->rows[i];
		if (!last || compare_files(last->file, row->file) || last->line != row->line) {
			a->rows[kept++] = *row;
			continue;
		}
		last->own |= row->own;
		last->blocks += row->blocks;
		last->bytes += row->bytes;
	}
	base_assert(kept <= a->count);
	a->count = kept;
	if (a->count)
		qsort(a->rows, a->count, sizeof(*a->rows), compare_places);
}

/* All types of one name, which are one class to people. */
static enum hg_status gather_places(struct places_answer *a, uint32_t type)
{
	const struct query_places *index = a->index;
	uint32_t same = type < index->same_count ? index->same[type] : 0;
	if (same == 0) {
		BASE_TRY(add_made_places(a, (struct retype_term){type}));
		return add_located_instances(a, (struct retype_term){type});
	}
	for (uint32_t i = same; i < index->same_count; i++)
		if (index->same[i] == same)
			BASE_TRY(add_made_places(a, (struct retype_term){i}));
	for (uint32_t i = index->first_located[same]; i; i = index->next_located[i - 1])
		BASE_TRY(add_located_place(a, i - 1));
	return HG_OK;
}

enum hg_status query_places_of(
	struct hg_snapshot *snapshot, uint32_t type, struct query_place **out, uint64_t *count)
{
	struct query_places *index;
	*out = NULL;
	*count = 0;
	if (type == 0 || type >= retype_term_count(&snapshot->retype.types))
		return HG_OK;
	BASE_TRY(index_places(snapshot, &index));
	struct places_answer a = {.snapshot = snapshot, .index = index};
	enum hg_status status = gather_places(&a, type);
	if (status != HG_OK) {
		free(a.rows);
		return status;
	}
	merge_places(&a);
	*out = a.rows;
	*count = a.count;
	return HG_OK;
}

bool query_line_of_sample(
	struct hg_snapshot *snapshot, uint32_t rank, bool own, struct query_sample_line *out)
{
	struct query_places *index;
	struct snap_cell cell;
	struct snap_location frames[MOST_FRAMES];
	enum hg_confidence confidence;
	if (index_places(snapshot, &index) != HG_OK ||
		!snap_block(&snapshot->lookup, (struct snap_rank){rank}, &cell))
		return false;
	const struct snap *snap = &snapshot->snap;
	const struct snap_location *at =
		&snap->locations.items[query_location(snap, &cell, &confidence)];
	const char *file = at->file;
	bool is_line = file && at->line > 0;
	bool is_own = is_line && is_own_file(snapshot, index, &file);
	if (own && !is_own)
		at = innermost_own(snapshot, index, rank, frames);
	else if (is_own != own || !is_line)
		return false;
	if (!at)
		return false;
	file = at->file;
	is_own_file(snapshot, index, &file);
	*out = (struct query_sample_line){file, (uint32_t)at->line};
	return true;
}
