/* Reads what ids of locations mean: .prof of 0.1, .locations of 0.2, process_info of OCP. */
#include "snapshot/legacy/location_source.h"

#include "base/grow.h"
#include "snapshot/marshal/marshal.h"
#include "snapshot/legacy/location_names.h"

#include <stdlib.h>

#define KEY_LIMIT_01 (1 << 22)          /* keys of a 0.1 source lie below */
#define LOST_BIT_01 (UINT32_C(1) << 21) /* bit of the key that block headers do not hold */
/* Below are those of the runtime (byterun/profiling_ids.h). */
#define FIRST_ID_01 256u
#define FIRST_ID_02 1024u
/* Native 0.2 code without debug information, and every closure, carries base of the unit + 3. */
#define STRAY_ENTRY_02 3u

#define OCP_MAGIC "OCP-2017P001"
#define NONE_FILE "_none_"    /* of Location.none */
#define FILE_NAME_LIMIT 4096u /* bytes; so that comparing names stays cheap */

static enum hg_status add_predefined(struct snap_locations *locations,
	const struct snap_predefined *known, struct hg_error *error)
{
	uint32_t number = 1;
	while (number < locations->count && strcmp(locations->items[number].name, known->name) != 0)
		number++;
	if (number == locations->count) {
		struct snap_location location = {.name = known->name};
		BASE_TRY(snap_locations_add(locations, &location, &number, error));
	}
	return snap_locations_set(
		locations, known->id, (struct snap_meaning){number, HG_EXACT}, error);
}

static enum hg_status fill_predefined(
	struct snap_locations *locations, enum snap_ids ids, bool native, struct hg_error *error)
{
	size_t known;
	const struct snap_predefined *names = snap_predefined_locations(ids, &known);
	BASE_TRY(snap_locations_init(locations, error));
	locations->first_id = ids == SNAP_IDS_MEMPROF01   ? FIRST_ID_01
			      : ids == SNAP_IDS_MEMPROF02 ? FIRST_ID_02
							  : 0;
	/* Defect 1 of the writer. */
	if (native && ids == SNAP_IDS_MEMPROF02)
		locations->wrong_closures_from = FIRST_ID_02;
	for (size_t i = 0; i < known; i++)
		BASE_TRY(add_predefined(locations, &names[i], error));
	return HG_OK;
}

enum hg_status snap_source_init(
	struct snap_locations *locations, enum snap_ids ids, bool native, struct hg_error *error)
{
	enum hg_status status = fill_predefined(locations, ids, native, error);
	if (status != HG_OK)
		snap_locations_release(locations);
	return status;
}

/* Reading a source */

struct source_reader {
	struct snap_locations *locations;
	bool native;
	struct snap_marshal value; /* the one being read */
	struct base_pool cells;    /* of the values */
	struct base_map by_name;   /* hash of a name -> its position in names */
	const char **names;        /* each once, in locations->pool */
	uint64_t name_count, name_capacity;
	struct base_map by_location; /* hash of a location -> its number */
	const uint8_t *last_bytes;   /* the name seen last; names are mostly shared */
	const char *last_file;
	struct hg_error *error;
};

static enum hg_status add_name(
	struct source_reader *l, const uint8_t *bytes, uint32_t length, const char **out)
{
	BASE_TRY(base_grow(
		&l->names, l->name_count, &l->name_capacity, sizeof(*l->names), l->error));
	BASE_TRY(base_pool_string(&l->locations->pool, bytes, length, out, l->error));
	l->names[l->name_count++] = *out;
	return HG_OK;
}

static bool is_name(const char *name, const uint8_t *bytes, uint32_t length)
{
	return strncmp(name, (const char *)bytes, length) == 0 && name[length] == '\0';
}

/* The one copy of a file name; 'bytes' hold no NUL.  Names with one hash have keys side by side. */
static enum hg_status intern_file(
	struct source_reader *l, const uint8_t *bytes, uint32_t length, const char **out)
{
	for (uint64_t key = base_hash_bytes(base_process_secret(), bytes, length);; key++) {
		uint64_t number = l->name_count;
		bool added;
		BASE_TRY(base_map_add(&l->by_name, key, &number, &added, l->error));
		if (added)
			return add_name(l, bytes, length, out);
		if (is_name(l->names[number], bytes, length)) {
			*out = l->names[number];
			return HG_OK;
		}
	}
}

static uint64_t hash_location(const struct snap_location *location)
{
	const struct base_secret *secret = base_process_secret();
	uint64_t hash = base_hash(secret, (uintptr_t)location->file);
	hash = base_hash_join(secret, hash, (uint32_t)location->line);
	return base_hash_join(secret, hash, (uint64_t)location->start << 32 | location->end);
}

/* The number of a location; its file is interned. */
static enum hg_status intern_location(
	struct source_reader *l, const struct snap_location *location, uint32_t *number)
{
	for (uint64_t key = hash_location(location);; key++) {
		uint64_t known = l->locations->count;
		bool added;
		BASE_TRY(base_map_add(&l->by_location, key, &known, &added, l->error));
		if (added)
			return snap_locations_add(l->locations, location, number, l->error);
		const struct snap_location *other = &l->locations->items[known];
		if (other->file == location->file && other->line == location->line &&
			other->start == location->start && other->end == location->end) {
			*number = (uint32_t)known;
			return HG_OK;
		}
	}
}

/* Lexing.position: columns are cnum - bol. */
struct position {
	const uint8_t *file;
	uint32_t length; /* of its name */
	int64_t line, bol, cnum;
};

static bool read_position(
	const struct snap_marshal *m, struct snap_value value, struct position *out)
{
	return snap_marshal_tag(m, value) == 0 && snap_marshal_size(m, value) == 4 &&
	       snap_marshal_string(m, snap_marshal_field(m, value, 0), &out->file, &out->length) &&
	       snap_marshal_int(m, snap_marshal_field(m, value, 1), &out->line) &&
	       snap_marshal_int(m, snap_marshal_field(m, value, 2), &out->bol) &&
	       snap_marshal_int(m, snap_marshal_field(m, value, 3), &out->cnum);
}

static int64_t clamp_number(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* Numbers beyond a location's range (line directives can make any) go to the end of it. */
static enum hg_status place_location(struct source_reader *l, const struct position *start,
	const struct position *end, uint32_t *number)
{
	uint32_t length = (uint32_t)strnlen((const char *)start->file, start->length);
	if (length > FILE_NAME_LIMIT)
		return base_corrupt(l->error, l->value.offset, "a file name of %u bytes", length);
	if (start->file != l->last_bytes) {
		BASE_TRY(intern_file(l, start->file, length, &l->last_file));
		l->last_bytes = start->file;
	}
	*number = 0;
	if (strcmp(l->last_file, NONE_FILE) == 0)
		return HG_OK;
	/* Differences of 63-bit integers fit. */
	struct snap_location location = {
		.file = l->last_file,
		.line = (int32_t)clamp_number(start->line, INT32_MIN, INT32_MAX),
		.start = (uint32_t)clamp_number(start->cnum - start->bol, 0, UINT32_MAX),
		.end = (uint32_t)clamp_number(end->cnum - start->bol, 0, UINT32_MAX),
	};
	return intern_location(l, &location, number);
}

/* Location.t: start, end, ghost. */
static enum hg_status read_location(
	struct source_reader *l, struct snap_value value, uint32_t *number)
{
	const struct snap_marshal *m = &l->value;
	struct position start, end;
	if (snap_marshal_tag(m, value) != 0 || snap_marshal_size(m, value) != 3 ||
		!read_position(m, snap_marshal_field(m, value, 0), &start) ||
		!read_position(m, snap_marshal_field(m, value, 1), &end) ||
		!snap_marshal_is_int(m, snap_marshal_field(m, value, 2)))
		return base_corrupt(l->error, m->offset,
			"entry %u of the location source is not a location", l->locations->entries);
	return place_location(l, &start, &end, number);
}

static enum hg_status count_entry(struct source_reader *l)
{
	if (l->locations->entries == UINT32_MAX)
		return base_fail(l->error, HG_ERROR_LIMIT, l->value.offset, "too many locations");
	l->locations->entries++;
	return HG_OK;
}

/* The .prof file of 0.1: one (int, Location.t) Hashtbl.t */

/* Of two entries that the header cannot tell apart: only when they agree the answer is exact. */
static enum hg_status doubt(
	struct source_reader *l, uint32_t key, struct snap_meaning known, uint32_t location)
{
	if (known.location == location || l->locations->items[known.location].name)
		return HG_OK;
	known.confidence = HG_GUESSED;
	return snap_locations_set(l->locations, key, known, l->error);
}

static enum hg_status add_key(struct source_reader *l, uint32_t key, uint32_t location)
{
	struct snap_locations *locations = l->locations;
	struct snap_meaning own = {location, HG_EXACT}, known, twin;
	BASE_TRY(count_entry(l));
	if (snap_locations_get(locations, key, &known)) {
		/* The first of a bucket is the one that Hashtbl.find returns. */
		locations->conflicts++;
		return doubt(l, key, known, location);
	}
	BASE_TRY(snap_locations_set(locations, key, own, l->error));
	if (!snap_locations_get(locations, key ^ LOST_BIT_01, &twin))
		return HG_OK;
	locations->conflicts++;
	BASE_TRY(doubt(l, key ^ LOST_BIT_01, twin, location));
	return doubt(l, key, own, twin.location);
}

/* Entries are lists of [key; location; next]. */
static enum hg_status load_bucket(struct source_reader *l, struct snap_value entry)
{
	const struct snap_marshal *m = &l->value;
	for (; !snap_marshal_is_int(m, entry); entry = snap_marshal_field(m, entry, 2)) {
		int64_t key;
		uint32_t location;
		if (snap_marshal_tag(m, entry) != 0 || snap_marshal_size(m, entry) != 3 ||
			!snap_marshal_int(m, snap_marshal_field(m, entry, 0), &key))
			return base_corrupt(l->error, m->offset,
				"entry %u of the location table is not one", l->locations->entries);
		if (key < 0 || key >= KEY_LIMIT_01)
			return base_corrupt(
				l->error, m->offset, "%lld is not a location id", (long long)key);
		/* Each entry is an object of its own, seen once. */
		if (l->locations->entries == m->objects)
			return base_corrupt(l->error, m->offset,
				"the lists of the location table run in circles");
		BASE_TRY(read_location(l, snap_marshal_field(m, entry, 1), &location));
		BASE_TRY(add_key(l, (uint32_t)key, location));
	}
	return HG_OK;
}

/*
 * Blocks carry the low 21 bits of a key: the low bits of a key that has bit 21 get a meaning of
 * their own unless they are a key or a predefined id themselves.  So one probe answers every
 * question.
 */
static enum hg_status restore_lost_bit(struct snap_locations *locations, const uint64_t *keys,
	uint64_t count, struct hg_error *error)
{
	for (uint64_t i = 0; i < count; i++) {
		struct snap_meaning meaning, own;
		uint32_t key = (uint32_t)keys[i], low = key ^ LOST_BIT_01;
		/* Id 0 is that of blocks without one. */
		if (!low || !snap_locations_get(locations, key, &meaning) ||
			snap_locations_get(locations, low, &own))
			continue;
		if (meaning.confidence != HG_GUESSED)
			meaning.confidence = HG_INFERRED;
		BASE_TRY(snap_locations_set(locations, low, meaning, error));
	}
	return HG_OK;
}

/* The keys that a header cannot hold. */
static enum hg_status list_large_keys(
	const struct base_map *by_id, uint64_t **keys, uint64_t *count, struct hg_error *error)
{
	*count = 0;
	*keys = calloc(by_id->count + 1, sizeof(**keys));
	if (!*keys)
		return base_no_memory(error, (by_id->count + 1) * sizeof(**keys));
	for (uint64_t i = 0; by_id->slots && i <= by_id->mask; i++)
		if (by_id->slots[i].value && by_id->slots[i].key & LOST_BIT_01)
			(*keys)[(*count)++] = by_id->slots[i].key;
	return HG_OK;
}

static enum hg_status restore_lost_bits(struct snap_locations *locations, struct hg_error *error)
{
	uint64_t *keys, count;
	BASE_TRY(list_large_keys(&locations->by_id, &keys, &count, error));
	enum hg_status status = restore_lost_bit(locations, keys, count, error);
	free(keys);
	return status;
}

static enum hg_status load_prof(struct source_reader *l, struct base_cursor *c)
{
	struct snap_marshal *m = &l->value;
	BASE_TRY(snap_marshal_read(c, &l->cells, m, l->error));
	if (base_cursor_left(c))
		return base_corrupt(l->error, base_cursor_offset(c),
			"%zu bytes follow the location table", base_cursor_left(c));
	int64_t size;
	struct snap_value buckets = snap_marshal_field(m, m->root, 1);
	if (snap_marshal_tag(m, m->root) != 0 || snap_marshal_tag(m, buckets) != 0 ||
		!snap_marshal_int(m, snap_marshal_field(m, m->root, 0), &size))
		return base_corrupt(l->error, m->offset, "not a table of location ids");
	for (uint32_t i = 0; i < snap_marshal_size(m, buckets); i++)
		BASE_TRY(load_bucket(l, snap_marshal_field(m, buckets, i)));
	if (size != l->locations->entries)
		return base_corrupt(l->error, m->offset,
			"the location table says %lld entries, %u are there", (long long)size,
			l->locations->entries);
	return restore_lost_bits(l->locations, l->error);
}

/* Tables whose entries have the ids first, first + 1, ... */

/* Makes an id a guess, whether its entry comes before or after. */
static enum hg_status mark_stray(struct source_reader *l, uint64_t id)
{
	struct snap_meaning meaning = {0};
	if (id > UINT32_MAX)
		return HG_OK;
	snap_locations_get(l->locations, (uint32_t)id, &meaning);
	meaning.confidence = HG_GUESSED;
	return snap_locations_set(l->locations, (uint32_t)id, meaning, l->error);
}

static enum hg_status add_next(struct source_reader *l, uint64_t first, struct snap_value location)
{
	struct snap_locations *locations = l->locations;
	uint64_t id = first + locations->entries;
	struct snap_meaning known, meaning = {0, HG_EXACT};
	BASE_TRY(read_location(l, location, &meaning.location));
	BASE_TRY(count_entry(l));
	if (id > UINT32_MAX)
		return HG_OK; /* no header holds it */
	if (snap_locations_get(locations, (uint32_t)id, &known))
		meaning.confidence = HG_GUESSED;
	return snap_locations_set(locations, (uint32_t)id, meaning, l->error);
}

/* The .locations file of 0.2: a Location.t array for bytecode, one per unit for native code. */
static enum hg_status load_locations(struct source_reader *l, struct base_cursor *c)
{
	const struct snap_marshal *m = &l->value;
	do {
		BASE_TRY(snap_marshal_read(c, &l->cells, &l->value, l->error));
		if (snap_marshal_tag(m, m->root) != 0)
			return base_corrupt(l->error, m->offset, "not an array of locations");
		if (l->native)
			BASE_TRY(mark_stray(
				l, (uint64_t)FIRST_ID_02 + l->locations->entries + STRAY_ENTRY_02));
		for (uint32_t i = 0; i < snap_marshal_size(m, m->root); i++)
			BASE_TRY(add_next(l, FIRST_ID_02, snap_marshal_field(m, m->root, i)));
	} while (base_cursor_left(c));
	return HG_OK;
}

/*
 * A LOCS chunk of process_info: one constructor around a record whose field 4 is the array; an
 * entry of that is [[location; path]; description].
 */
static enum hg_status load_locs(struct source_reader *l, struct base_cursor *c)
{
	const struct snap_marshal *m = &l->value;
	BASE_TRY(snap_marshal_read(c, &l->cells, &l->value, l->error));
	if (base_cursor_left(c))
		return base_corrupt(l->error, base_cursor_offset(c),
			"%zu bytes follow a location table", base_cursor_left(c));
	struct snap_value table = snap_marshal_field(m, m->root, 0);
	struct snap_value array = snap_marshal_field(m, table, 4);
	int tag = snap_marshal_tag(m, m->root);
	if ((tag != 1 && tag != 3) || snap_marshal_tag(m, array) != 0)
		return base_corrupt(l->error, m->offset, "not a table of locations");
	for (uint32_t i = 0; i < snap_marshal_size(m, array); i++) {
		struct snap_value entry = snap_marshal_field(m, array, i);
		struct snap_value pair = snap_marshal_field(m, entry, 0);
		BASE_TRY(add_next(l, 0, snap_marshal_field(m, pair, 0)));
	}
	return HG_OK;
}

static enum hg_status load_process_info(struct source_reader *l, struct base_cursor *c)
{
	const uint8_t *bytes;
	if (!base_cursor_bytes(c, strlen(OCP_MAGIC), &bytes) ||
		memcmp(bytes, OCP_MAGIC, strlen(OCP_MAGIC)) != 0)
		return base_corrupt(l->error, 0, "not a process_info file (%s)", OCP_MAGIC);
	while (base_cursor_left(c)) {
		uint64_t offset = base_cursor_offset(c);
		const uint8_t *name;
		uint32_t size;
		if (!base_cursor_bytes(c, 4, &name) || !base_cursor_u32le(c, &size))
			return base_corrupt(l->error, offset, "the file ends inside a chunk");
		struct base_cursor chunk = {c->start, c->next, c->next};
		if (!base_cursor_skip(c, size))
			return base_corrupt(l->error, offset, "a chunk of %u bytes, %zu are left",
				size, base_cursor_left(c));
		chunk.end = c->next;
		if (memcmp(name, "LOCS", 4) == 0)
			BASE_TRY(load_locs(l, &chunk));
	}
	return HG_OK;
}

static enum hg_status load_source(struct source_reader *l, enum snap_ids ids, struct base_cursor *c)
{
	switch (ids) {
	case SNAP_IDS_MEMPROF01:
		return load_prof(l, c);
	case SNAP_IDS_MEMPROF02:
		return load_locations(l, c);
	default:
		return load_process_info(l, c);
	}
}

bool snap_source_begins(const uint8_t *bytes, size_t size)
{
	size_t length = strlen(OCP_MAGIC);
	return snap_marshal_begins(bytes, size) ||
	       (size >= length && memcmp(bytes, OCP_MAGIC, length) == 0);
}

enum hg_status snap_source_load(struct snap_locations *locations, enum snap_ids ids, bool native,
	const uint8_t *bytes, size_t size, struct hg_error *error)
{
	struct base_cursor cursor = base_cursor_over(bytes, size);
	struct source_reader l = {.locations = locations, .native = native, .error = error};
	enum hg_status status = load_source(&l, ids, &cursor);
	base_map_release(&l.by_name);
	base_map_release(&l.by_location);
	free(l.names);
	base_pool_release(&l.cells);
	if (status != HG_OK) {
		snap_locations_release(locations);
		/* For want of memory even the predefined ids may be forgotten. */
		snap_source_init(locations, ids, native, NULL);
	}
	return status;
}
