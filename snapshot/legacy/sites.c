#include "snapshot/legacy/sites.h"

#include "base/hash.h"
#include "snapshot/marshal.h"
#include "snapshot/legacy/site_names.h"

#include <stdlib.h>

#define KEY_LIMIT_01 (1 << 22)          /* keys of a 0.1 source lie below */
#define LOST_BIT_01 (UINT32_C(1) << 21) /* bit of the key that block headers do not hold */
/* Below are those of the runtime (byterun/profiling_ids.h). */
#define FIRST_ID_01 256u
#define FIRST_ID_02 1024u
/* Native 0.2 code without debug information, and every closure, carries base of the unit + 3. */
#define STRAY_ENTRY_02 3u

#define CLOSURE_TAG 247u
#define OCP_MAGIC "OCP-2017P001"
#define NONE_FILE "_none_"    /* of Location.none */
#define FILE_NAME_LIMIT 4096u /* bytes; so that comparing names stays cheap */
#define LOCATION_LIMIT (UINT32_C(1) << 30)

/* Hash tables */

/* In by_id: an id, and location << 2 | confidence.  Elsewhere: a hash, and a number. */
struct snap_site_slot {
	uint32_t key;
	uint32_t value; /* 0: free */
};

static uint32_t pack(uint32_t location, enum hg_confidence confidence)
{
	return location << 2 | (uint32_t)confidence;
}

static inline uint32_t home(const struct snap_site_table *table, uint32_t key)
{
	return (uint32_t)base_hash(base_secret(), key) & table->mask;
}

static enum hg_status resize(struct snap_site_table *table, uint64_t size, struct hg_error *error)
{
	struct snap_site_table larger = *table;
	if (size > UINT32_MAX)
		return base_no_memory(error, size * sizeof(*larger.slots));
	larger.mask = (uint32_t)size - 1;
	larger.slots = calloc(size, sizeof(*larger.slots));
	if (!larger.slots)
		return base_no_memory(error, size * sizeof(*larger.slots));
	for (uint64_t i = 0; table->slots && i <= table->mask; i++) {
		struct snap_site_slot slot = table->slots[i];
		uint32_t at = home(&larger, slot.key);
		if (!slot.value)
			continue;
		while (larger.slots[at].value)
			at = (at + 1) & larger.mask;
		larger.slots[at] = slot;
	}
	free(table->slots);
	*table = larger;
	return HG_OK;
}

/* Room for one more, so that a free slot always ends a search. */
static enum hg_status reserve(struct snap_site_table *table, struct hg_error *error)
{
	uint64_t size = table->slots ? (uint64_t)table->mask + 1 : 0;
	if (2 * ((uint64_t)table->used + 1) <= size)
		return HG_OK;
	return resize(table, size ? 2 * size : 64, error);
}

static enum hg_status open_table(struct snap_site_table *table, struct hg_error *error)
{
	*table = (struct snap_site_table){0};
	return reserve(table, error);
}

/* The slot of an id, or the free one where it belongs. */
static struct snap_site_slot *slot_of(const struct snap_site_table *table, uint32_t id)
{
	uint32_t at = home(table, id);
	while (table->slots[at].value && table->slots[at].key != id)
		at = (at + 1) & table->mask;
	return &table->slots[at];
}

static void fill(
	struct snap_site_table *table, struct snap_site_slot *slot, uint32_t key, uint32_t value)
{
	if (!slot->value)
		table->used++;
	*slot = (struct snap_site_slot){key, value};
}

/* Locations */

static enum hg_status add_location(struct snap_sites *sites, struct snap_location location,
	uint32_t *number, struct hg_error *error)
{
	if (sites->count == sites->capacity) {
		uint32_t capacity = sites->capacity ? 2 * sites->capacity : 64;
		if (capacity > LOCATION_LIMIT)
			return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "too many locations");
		struct snap_location *locations =
			realloc(sites->locations, capacity * sizeof(*locations));
		if (!locations)
			return base_no_memory(error, capacity * sizeof(*locations));
		sites->locations = locations;
		sites->capacity = capacity;
	}
	*number = sites->count++;
	sites->locations[*number] = location;
	return HG_OK;
}

static enum hg_status add_predefined(
	struct snap_sites *sites, const struct snap_site_name *known, struct hg_error *error)
{
	uint32_t number = 1;
	while (number < sites->count && strcmp(sites->locations[number].name, known->name) != 0)
		number++;
	if (number == sites->count) {
		struct snap_location location = {.name = known->name};
		BASE_TRY(add_location(sites, location, &number, error));
	}
	BASE_TRY(reserve(&sites->by_id, error));
	fill(&sites->by_id, slot_of(&sites->by_id, known->id), known->id, pack(number, HG_EXACT));
	return HG_OK;
}

static enum hg_status init(struct snap_sites *sites, struct hg_error *error)
{
	uint32_t none;
	size_t known;
	const struct snap_site_name *names = snap_site_names(sites->ids, &known);
	BASE_TRY(open_table(&sites->by_id, error));
	BASE_TRY(add_location(sites, (struct snap_location){0}, &none, error));
	for (size_t i = 0; i < known; i++)
		BASE_TRY(add_predefined(sites, &names[i], error));
	return HG_OK;
}

enum hg_status snap_sites_init(
	struct snap_sites *sites, enum snap_ids ids, bool native, struct hg_error *error)
{
	*sites = (struct snap_sites){.ids = ids, .native = native};
	enum hg_status status = init(sites, error);
	if (status != HG_OK)
		snap_sites_release(sites);
	return status;
}

void snap_sites_release(struct snap_sites *sites)
{
	free(sites->locations);
	free(sites->by_id.slots);
	base_pool_release(&sites->pool);
	*sites = (struct snap_sites){0};
}

/* Reading a source */

struct loader {
	struct snap_sites *sites;
	struct snap_marshal value;    /* the one being read */
	struct base_pool cells;       /* of the values */
	struct snap_site_table files; /* hash of a name -> its position in names + 1 */
	const char **names;           /* each once, in sites->pool */
	uint32_t names_count, names_capacity;
	struct snap_site_table places; /* hash of a location -> its number */
	const uint8_t *last_bytes;     /* the name seen last; names are mostly shared */
	const char *last_file;
	struct hg_error *error;
};

static enum hg_status add_name(
	struct loader *l, const uint8_t *bytes, uint32_t length, const char **out)
{
	if (l->names_count == l->names_capacity) {
		uint32_t capacity = l->names_capacity ? 2 * l->names_capacity : 16;
		const char **names = realloc(l->names, capacity * sizeof(*names));
		if (!names)
			return base_no_memory(l->error, capacity * sizeof(*names));
		l->names = names;
		l->names_capacity = capacity;
	}
	BASE_TRY(base_pool_string(&l->sites->pool, bytes, length, out, l->error));
	l->names[l->names_count++] = *out;
	return HG_OK;
}

/* The one copy of a file name; 'bytes' hold no NUL. */
static enum hg_status intern_file(
	struct loader *l, const uint8_t *bytes, uint32_t length, const char **out)
{
	BASE_TRY(reserve(&l->files, l->error));
	struct snap_site_table *table = &l->files;
	uint32_t hash = (uint32_t)base_hash_bytes(base_secret(), bytes, length);
	uint32_t at = home(table, hash);
	for (; table->slots[at].value; at = (at + 1) & table->mask) {
		const char *name = l->names[table->slots[at].value - 1];
		if (table->slots[at].key == hash &&
			strncmp(name, (const char *)bytes, length) == 0 && name[length] == '\0') {
			*out = name;
			return HG_OK;
		}
	}
	BASE_TRY(add_name(l, bytes, length, out));
	fill(table, &table->slots[at], hash, l->names_count);
	return HG_OK;
}

/* The number of a location; its file is interned. */
static enum hg_status intern_location(
	struct loader *l, const struct snap_location *location, uint32_t *number)
{
	BASE_TRY(reserve(&l->places, l->error));
	struct snap_site_table *table = &l->places;
	const struct base_secret *secret = base_secret();
	uint64_t hash = base_hash(secret, (uintptr_t)location->file);
	hash = base_hash_join(secret, hash, (uint32_t)location->line);
	uint64_t columns = (uint64_t)location->start << 32 | location->end;
	uint32_t key = (uint32_t)base_hash_join(secret, hash, columns);
	uint32_t at = home(table, key);
	for (; table->slots[at].value; at = (at + 1) & table->mask) {
		const struct snap_location *other = &l->sites->locations[table->slots[at].value];
		if (other->file == location->file && other->line == location->line &&
			other->start == location->start && other->end == location->end) {
			*number = table->slots[at].value;
			return HG_OK;
		}
	}
	BASE_TRY(add_location(l->sites, *location, number, l->error));
	fill(table, &table->slots[at], key, *number);
	return HG_OK;
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

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* Numbers beyond a location's range (line directives can make any) go to the end of it. */
static enum hg_status place(struct loader *l, const struct position *start,
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
		.line = (int32_t)clamp(start->line, INT32_MIN, INT32_MAX),
		.start = (uint32_t)clamp(start->cnum - start->bol, 0, UINT32_MAX),
		.end = (uint32_t)clamp(end->cnum - start->bol, 0, UINT32_MAX),
	};
	return intern_location(l, &location, number);
}

/* Location.t: start, end, ghost. */
static enum hg_status read_location(struct loader *l, struct snap_value value, uint32_t *number)
{
	const struct snap_marshal *m = &l->value;
	struct position start, end;
	if (snap_marshal_tag(m, value) != 0 || snap_marshal_size(m, value) != 3 ||
		!read_position(m, snap_marshal_field(m, value, 0), &start) ||
		!read_position(m, snap_marshal_field(m, value, 1), &end) ||
		!snap_marshal_is_int(m, snap_marshal_field(m, value, 2)))
		return base_corrupt(l->error, m->offset,
			"entry %u of the location source is not a location", l->sites->entries);
	return place(l, &start, &end, number);
}

static enum hg_status count_entry(struct loader *l)
{
	if (l->sites->entries == UINT32_MAX)
		return base_fail(l->error, HG_ERROR_LIMIT, l->value.offset, "too many locations");
	l->sites->entries++;
	return HG_OK;
}

/* The .prof file of 0.1: one (int, Location.t) Hashtbl.t */

/* Of two entries that the header cannot tell apart: only when they agree the answer is exact. */
static void doubt(struct snap_sites *sites, struct snap_site_slot *slot, uint32_t location)
{
	uint32_t known = slot->value >> 2;
	if (known != location && !sites->locations[known].name)
		slot->value = pack(known, HG_GUESSED);
}

static enum hg_status add_key(struct loader *l, uint32_t key, uint32_t location)
{
	struct snap_sites *sites = l->sites;
	BASE_TRY(count_entry(l));
	BASE_TRY(reserve(&sites->by_id, l->error));
	struct snap_site_slot *own = slot_of(&sites->by_id, key);
	if (own->value) {
		/* The first of a bucket is the one that Hashtbl.find returns. */
		sites->conflicts++;
		doubt(sites, own, location);
		return HG_OK;
	}
	fill(&sites->by_id, own, key, pack(location, HG_EXACT));
	struct snap_site_slot *twin = slot_of(&sites->by_id, key ^ LOST_BIT_01);
	if (twin->value) {
		sites->conflicts++;
		doubt(sites, twin, location);
		doubt(sites, own, twin->value >> 2);
	}
	return HG_OK;
}

/* Entries are lists of [key; location; next]. */
static enum hg_status load_bucket(struct loader *l, struct snap_value entry)
{
	const struct snap_marshal *m = &l->value;
	for (; !snap_marshal_is_int(m, entry); entry = snap_marshal_field(m, entry, 2)) {
		int64_t key;
		uint32_t location;
		if (snap_marshal_tag(m, entry) != 0 || snap_marshal_size(m, entry) != 3 ||
			!snap_marshal_int(m, snap_marshal_field(m, entry, 0), &key))
			return base_corrupt(l->error, m->offset,
				"entry %u of the location table is not one", l->sites->entries);
		if (key < 0 || key >= KEY_LIMIT_01)
			return base_corrupt(
				l->error, m->offset, "%lld is not a location id", (long long)key);
		/* Each entry is an object of its own, seen once. */
		if (l->sites->entries == m->objects)
			return base_corrupt(l->error, m->offset,
				"the lists of the location table run in circles");
		BASE_TRY(read_location(l, snap_marshal_field(m, entry, 1), &location));
		BASE_TRY(add_key(l, (uint32_t)key, location));
	}
	return HG_OK;
}

/*
 * Blocks carry the low 21 bits of a key: the low bits of a key that has bit 21 get an entry of
 * their own unless they are a key or a predefined id themselves.  So one probe answers every
 * question.
 */
static enum hg_status restore_lost_bit(struct snap_site_table *table, struct hg_error *error)
{
	uint64_t size = (uint64_t)table->mask + 1;
	while (size < 4 * (uint64_t)table->used)
		size *= 2;
	BASE_TRY(resize(table, size, error));
	for (uint64_t i = 0; i < size; i++) {
		struct snap_site_slot slot = table->slots[i];
		uint32_t low = slot.key ^ LOST_BIT_01;
		/* Id 0 is that of blocks without one. */
		if (!slot.value || !(slot.key & LOST_BIT_01) || !low)
			continue;
		struct snap_site_slot *own = slot_of(table, low);
		bool guessed = (slot.value & 3) == HG_GUESSED;
		if (!own->value)
			fill(table, own, low,
				pack(slot.value >> 2, guessed ? HG_GUESSED : HG_INFERRED));
	}
	return HG_OK;
}

static enum hg_status load_prof(struct loader *l, struct base_cursor *c)
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
	if (size != l->sites->entries)
		return base_corrupt(l->error, m->offset,
			"the location table says %lld entries, %u are there", (long long)size,
			l->sites->entries);
	return restore_lost_bit(&l->sites->by_id, l->error);
}

/* Tables whose entries have the ids first, first + 1, ... */

/* Makes an id a guess, whether its entry comes before or after. */
static enum hg_status mark_stray(struct loader *l, uint64_t id)
{
	struct snap_site_table *table = &l->sites->by_id;
	if (id > UINT32_MAX)
		return HG_OK;
	BASE_TRY(reserve(table, l->error));
	struct snap_site_slot *slot = slot_of(table, (uint32_t)id);
	fill(table, slot, (uint32_t)id, pack(slot->value >> 2, HG_GUESSED));
	return HG_OK;
}

static enum hg_status add_next(struct loader *l, uint64_t first, struct snap_value location)
{
	struct snap_sites *sites = l->sites;
	uint64_t id = first + sites->entries;
	uint32_t number;
	BASE_TRY(read_location(l, location, &number));
	BASE_TRY(count_entry(l));
	if (id > UINT32_MAX)
		return HG_OK; /* no header holds it */
	BASE_TRY(reserve(&sites->by_id, l->error));
	struct snap_site_slot *slot = slot_of(&sites->by_id, (uint32_t)id);
	fill(&sites->by_id, slot, (uint32_t)id, pack(number, slot->value ? HG_GUESSED : HG_EXACT));
	return HG_OK;
}

/* The .locations file of 0.2: a Location.t array for bytecode, one per unit for native code. */
static enum hg_status load_locations(struct loader *l, struct base_cursor *c)
{
	const struct snap_marshal *m = &l->value;
	do {
		BASE_TRY(snap_marshal_read(c, &l->cells, &l->value, l->error));
		if (snap_marshal_tag(m, m->root) != 0)
			return base_corrupt(l->error, m->offset, "not an array of locations");
		if (l->sites->native)
			BASE_TRY(mark_stray(
				l, (uint64_t)FIRST_ID_02 + l->sites->entries + STRAY_ENTRY_02));
		for (uint32_t i = 0; i < snap_marshal_size(m, m->root); i++)
			BASE_TRY(add_next(l, FIRST_ID_02, snap_marshal_field(m, m->root, i)));
	} while (base_cursor_left(c));
	return HG_OK;
}

/*
 * A LOCS chunk of process_info: one constructor around a record whose field 4 is the array; an
 * entry of that is [[location; path]; description].
 */
static enum hg_status load_locs(struct loader *l, struct base_cursor *c)
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

static enum hg_status load_process_info(struct loader *l, struct base_cursor *c)
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

static enum hg_status load(struct loader *l, struct base_cursor *c)
{
	BASE_TRY(open_table(&l->files, l->error));
	BASE_TRY(open_table(&l->places, l->error));
	switch (l->sites->ids) {
	case SNAP_IDS_MEMPROF01:
		return load_prof(l, c);
	case SNAP_IDS_MEMPROF02:
		return load_locations(l, c);
	default:
		return load_process_info(l, c);
	}
}

bool snap_sites_is_source(const uint8_t *bytes, size_t size)
{
	size_t length = strlen(OCP_MAGIC);
	return snap_marshal_begins(bytes, size) ||
	       (size >= length && memcmp(bytes, OCP_MAGIC, length) == 0);
}

enum hg_status snap_sites_add(struct snap_sites *sites, const struct snap_location *location,
	uint32_t *number, struct hg_error *error)
{
	sites->entries++;
	return add_location(sites, *location, number, error);
}

enum hg_status snap_sites_load(
	struct snap_sites *sites, const uint8_t *bytes, size_t size, struct hg_error *error)
{
	struct base_cursor cursor = base_cursor_over(bytes, size);
	struct loader l = {.sites = sites, .error = error};
	enum hg_status status = load(&l, &cursor);
	free(l.files.slots);
	free(l.places.slots);
	free(l.names);
	base_pool_release(&l.cells);
	if (status != HG_OK) {
		enum snap_ids ids = sites->ids;
		bool native = sites->native;
		snap_sites_release(sites);
		/* For want of memory even the predefined ids may be forgotten. */
		snap_sites_init(sites, ids, native, NULL);
	}
	return status;
}

uint32_t snap_sites_find(
	const struct snap_sites *sites, uint32_t id, unsigned tag, enum hg_confidence *confidence)
{
	uint32_t value = sites->by_id.slots ? slot_of(&sites->by_id, id)->value : 0;
	uint32_t location = value >> 2;
	*confidence = (enum hg_confidence)(value & 3);
	if (!location)
		*confidence = HG_UNKNOWN_ORIGIN;
	else if (sites->native && sites->ids == SNAP_IDS_MEMPROF02 && tag == CLOSURE_TAG &&
		 id >= FIRST_ID_02)
		*confidence = HG_GUESSED;
	return location;
}

bool snap_sites_knows(const struct snap_sites *sites, uint32_t id)
{
	static const uint32_t first[] = {[SNAP_IDS_NONE] = UINT32_MAX,
		[SNAP_IDS_MEMPROF01] = FIRST_ID_01,
		[SNAP_IDS_MEMPROF02] = FIRST_ID_02,
		[SNAP_IDS_OCP2014] = 0};
	return id < first[sites->ids] ||
	       (sites->by_id.slots && slot_of(&sites->by_id, id)->value != 0);
}
