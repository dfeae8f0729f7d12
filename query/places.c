/*
 * Where in the source values of a type are made: all places, or the best of them in a few words.
 */
#include "query/places/places.h"
#include "query/places/index.h"
#include "query/shared/result.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum hg_status list_places(
	struct hg_snapshot *snapshot, uint32_t type, struct hg_places *out)
{
	struct query_place *places;
	struct hg_place *rows;
	uint64_t count;
	out->type = type;
	BASE_TRY(query_places_of(snapshot, type, &places, &count));
	enum hg_status status = query_alloc(snapshot, count, sizeof(*rows), (void **)&rows);
	for (uint64_t i = 0; i < count && status == HG_OK; i++)
		rows[i] = (struct hg_place){.file = places[i].file,
			.line = places[i].line,
			.own = places[i].own,
			.exact = places[i].exact,
			.direct = places[i].direct,
			.kind = places[i].kind,
			.located_blocks = places[i].blocks,
			.located_bytes = places[i].bytes};
	free(places);
	BASE_TRY(status);
	out->count = count;
	return query_keep_rows(snapshot, out, rows, count, sizeof(*rows), &out->rows);
}

enum hg_status hg_list_places(struct hg_snapshot *snapshot, uint32_t type, struct hg_places **out)
{
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	enum hg_status status = list_places(snapshot, type, *out);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_places_release(struct hg_places **places)
{
	query_free(places);
}

/* In few words */

/* How good a place is; the less the better. */
enum place_sort { SORT_LOCATED, SORT_MADE, SORT_GENERAL, SORT_CALLED, SORTS, SORT_NONE = SORTS };

/* The places of one part that are told. */
struct told_part {
	bool own;
	bool has_exact;     /* some place of it makes just this type, itself */
	bool made_by_calls; /* libraries make such values, so that calls may bring them */
	bool too_many;
	enum place_sort sort; /* theirs */
	uint64_t count;       /* how many they are; if they are too many, of all of this sort */
};

/*
 * A call is no place of its own where what it calls is listed: in the program, if libraries make no
 * values of the type, and something in the program makes just this one.
 */
static enum place_sort sort_of_place(const struct query_place *place, const struct told_part *part)
{
	if (place->own != part->own)
		return SORT_NONE;
	if (place->bytes)
		return SORT_LOCATED;
	if (place->direct)
		return place->exact ? SORT_MADE : SORT_GENERAL;
	bool counts = part->own && (part->made_by_calls || !part->has_exact);
	return place->exact && counts ? SORT_MADE : SORT_CALLED;
}

static struct told_part begin_part(const struct query_place *places, uint64_t count, bool own)
{
	struct told_part part = {.own = own};
	for (uint64_t i = 0; i < count; i++) {
		bool direct = places[i].direct && places[i].kind[0];
		part.has_exact |= direct && places[i].exact && places[i].own == own;
		part.made_by_calls |= direct && !places[i].own;
	}
	return part;
}

/* Of the located places, those that make most of their bytes. */
static uint64_t count_main(const struct query_place *places, uint64_t count, bool own)
{
	uint64_t all = 0, some = 0, kept = 0;
	for (uint64_t i = 0; i < count; i++)
		if (places[i].own == own)
			all += places[i].bytes;
	for (uint64_t i = 0; i < count && places[i].bytes; i++) {
		if (places[i].own != own)
			continue;
		if (kept && some >= all - all / 20)
			break;
		some += places[i].bytes;
		kept++;
	}
	return kept;
}

/* Places of the best sort only, or, if they are too many, their number. */
static struct told_part choose_places(
	const struct query_place *places, uint64_t count, bool own, unsigned most)
{
	struct told_part part = begin_part(places, count, own);
	uint64_t counts[SORTS + 1] = {0};
	unsigned sort = 0;
	for (uint64_t i = 0; i < count; i++)
		counts[sort_of_place(&places[i], &part)]++;
	while (sort < SORTS && counts[sort] == 0)
		sort++;
	part.sort = (enum place_sort)sort;
	part.count = sort == SORTS          ? 0
		     : sort == SORT_LOCATED ? count_main(places, count, own)
					    : counts[sort];
	part.too_many = most && part.count > most;
	if (part.too_many)
		part.count = counts[sort];
	return part;
}

struct places_text {
	char *buffer;
	size_t size, length;
};

static void put_place(struct places_text *text, const struct query_place *place)
{
	size_t room = text->length < text->size ? text->size - text->length : 0;
	int length = snprintf(room ? text->buffer + text->length : NULL, room, "%s%s:%u",
		text->length ? ";" : "", place->file, place->line);
	text->length += length < 0 ? 0 : (size_t)length;
}

static void put_part(struct places_text *text, const struct query_place *places, uint64_t count,
	const struct told_part *part)
{
	uint64_t told = 0;
	for (uint64_t i = 0; i < count && told < part->count; i++) {
		if (sort_of_place(&places[i], part) != part->sort)
			continue;
		put_place(text, &places[i]);
		told++;
	}
}

static void put_places(struct places_text *text, const struct query_place *places, uint64_t count,
	enum hg_made_part wanted, unsigned most)
{
	struct told_part own = choose_places(places, count, true, most);
	struct told_part others = choose_places(places, count, false, most);
	/* Libraries come last, and not with what is less to the point. */
	if (wanted == HG_MADE_IN_PROGRAM || (own.count && others.sort > own.sort))
		others.count = 0;
	if (wanted == HG_MADE_IN_LIBRARIES)
		own.count = 0;
	bool fits = !most || own.count + others.count <= most;
	if (own.count && (own.too_many || others.too_many || !fits))
		others.count = 0;
	const struct told_part *first = own.count ? &own : &others;
	if (first->too_many) {
		int length = snprintf(
			text->buffer, text->size, "%llu places", (unsigned long long)first->count);
		text->length = length < 0 ? 0 : (size_t)length;
		return;
	}
	put_part(text, places, count, &own);
	put_part(text, places, count, &others);
}

/* The text is made once and kept: trees ask for the same types again and again. */
static enum hg_status tell_places(struct hg_snapshot *snapshot, uint32_t type,
	enum hg_made_part part, unsigned most, const char **out)
{
	struct hg_error *error = &snapshot->session->error;
	struct query_place *places;
	struct places_text text = {NULL, 0, 0};
	uint64_t count, known, key = (uint64_t)type << 32 | (uint64_t)part << 30 | most;
	void *room = NULL;
	if (snapshot->places && base_map_get(&snapshot->places->told, key, &known)) {
		*out = (const char *)(uintptr_t)known;
		return HG_OK;
	}
	BASE_TRY(query_places_of(snapshot, type, &places, &count));
	put_places(&text, places, count, part, most);
	size_t size = text.length + 1;
	struct query_places *index = snapshot->places;
	enum hg_status status = base_pool_alloc(&index->pool, size, 1, &room, error);
	if (status == HG_OK) {
		text = (struct places_text){room, size, 0};
		put_places(&text, places, count, part, most);
		status = base_map_set(&index->told, key, (uint64_t)(uintptr_t)room, error);
	}
	free(places);
	*out = room;
	return status;
}

size_t hg_made_at(struct hg_snapshot *snapshot, uint32_t type, enum hg_made_part part,
	unsigned most, char *buffer, size_t size)
{
	const char *text = "";
	size = query_room(buffer, size);
	if (size)
		buffer[0] = '\0';
	if (query_begin(snapshot) != HG_OK || type == 0 ||
		type >= retype_term_count(&snapshot->retype.types))
		return 0;
	if ((unsigned)part > HG_MADE_IN_LIBRARIES) {
		base_fail(&snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"there is no part %u of places", (unsigned)part);
		return 0;
	}
	if (tell_places(snapshot, type, part, most < 1 << 30 ? most : 0, &text) != HG_OK) {
		snapshot->lost = true;
		return 0;
	}
	int length = snprintf(buffer, size, "%s", text);
	return length < 0 ? 0 : (size_t)length;
}
