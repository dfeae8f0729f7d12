/* Sources of locations: where they are looked for, what they hold, and files that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "snapshot/marshal/marshal.h"
#include "snapshot/legacy/location_names.h"
#include "snapshot/legacy/location_source.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef FIXTURES
#define FIXTURES "tests/fixtures"
#endif

#define LOST_BIT (1u << 21)

/* A location source made by hand, in the standard marshal format. */
struct writer {
	uint8_t bytes[1 << 16];
	size_t size;
	size_t header; /* of the value being written */
	uint32_t objects;
};

static void put(struct writer *w, const void *bytes, size_t size)
{
	assert_true(size <= sizeof(w->bytes) - w->size);
	memcpy(w->bytes + w->size, bytes, size);
	w->size += size;
}

static void put_byte(struct writer *w, unsigned byte)
{
	uint8_t b = (uint8_t)byte;
	put(w, &b, 1);
}

static void put_be(struct writer *w, uint32_t number)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		put_byte(w, number >> shift & 255);
}

static void put_int(struct writer *w, int32_t number)
{
	put_byte(w, 0x02);
	put_be(w, (uint32_t)number);
}

static void put_string(struct writer *w, const char *text)
{
	put_byte(w, 0x0a);
	put_be(w, (uint32_t)strlen(text));
	put(w, text, strlen(text));
	w->objects++;
}

static void put_block(struct writer *w, unsigned tag, uint32_t size)
{
	put_byte(w, 0x08);
	put_be(w, size << 10 | tag);
	w->objects += size > 0;
}

/* A reference to an object by its number from the start of the value. */
static void put_shared(struct writer *w, uint32_t object)
{
	put_byte(w, 0x06);
	put_be(w, w->objects - object);
}

static void begin_value(struct writer *w)
{
	static const uint8_t zeros[20];
	w->header = w->size;
	w->objects = 0;
	put(w, zeros, sizeof(zeros));
}

static void end_value(struct writer *w)
{
	size_t end = w->size;
	w->size = w->header;
	put_be(w, 0x8495A6BE);
	put_be(w, (uint32_t)(end - w->header - 20));
	put_be(w, w->objects);
	put_be(w, 1000000);
	put_be(w, 1000000);
	w->size = end;
}

static void put_position(
	struct writer *w, const char *file, int32_t line, int32_t bol, int32_t cnum)
{
	put_block(w, 0, 4);
	put_string(w, file);
	put_int(w, line);
	put_int(w, bol);
	put_int(w, cnum);
}

/* file:line:start-end, where the line begins at character 100. */
static void put_location(
	struct writer *w, const char *file, int32_t line, int32_t start, int32_t end)
{
	put_block(w, 0, 3);
	put_position(w, file, line, 100, 100 + start);
	put_position(w, file, line, 100, 100 + end);
	put_int(w, 0);
}

static void put_none(struct writer *w)
{
	put_block(w, 0, 3);
	put_position(w, "_none_", 1, 0, -1);
	put_position(w, "_none_", 1, 0, -1);
	put_int(w, 1);
}

/* A table of 'size' entries with 'buckets' buckets; then entries and integers, then end_table(). */
static void begin_table(struct writer *w, int32_t size, uint32_t buckets)
{
	w->size = 0;
	begin_value(w);
	put_block(w, 0, 4);
	put_int(w, size);
	put_block(w, 0, buckets);
}

static void end_table(struct writer *w)
{
	put_int(w, 0);
	put_int(w, 16);
	end_value(w);
}

static void put_entry(struct writer *w, int32_t key)
{
	put_block(w, 0, 3);
	put_int(w, key);
}

/* Loads from a heap copy of just the bytes, so that the sanitizers see every overrun. */
static enum hg_status load_as(struct snap_locations *locations, enum snap_ids ids, bool native,
	const uint8_t *bytes, size_t size, struct hg_error *error)
{
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, bytes, size);
	base_error_clear(error);
	assert_int_equal(snap_source_init(locations, ids, native, error), HG_OK);
	enum hg_status status = snap_source_load(locations, ids, native, copy, size, error);
	free(copy);
	return status;
}

static void load(
	struct snap_locations *locations, enum snap_ids ids, bool native, const struct writer *w)
{
	struct hg_error error;
	if (load_as(locations, ids, native, w->bytes, w->size, &error) != HG_OK)
		fail_msg("offset %llu: %s", (unsigned long long)error.offset, error.message);
}

static void refuse(enum snap_ids ids, const struct writer *w, uint64_t offset, const char *message)
{
	struct snap_locations locations;
	struct hg_error error;
	enum hg_confidence sure;
	assert_int_equal(
		load_as(&locations, ids, false, w->bytes, w->size, &error), HG_ERROR_INPUT);
	assert_int_equal(error.offset, offset);
	if (!strstr(error.message, message))
		fail_msg("\"%s\" does not hold \"%s\"", error.message, message);
	/* Nothing of the source stays, the predefined ids do. */
	assert_int_equal(locations.entries, 0);
	assert_int_equal(snap_locations_find(&locations, 1024, 0, &sure), 0);
	assert_int_equal(
		snap_locations_find(&locations, 1, 0, &sure) != 0, ids != SNAP_IDS_OCP2014);
	snap_locations_release(&locations);
}

static void check_find(const struct snap_locations *locations, uint32_t id, unsigned tag,
	const char *expected, enum hg_confidence confidence)
{
	enum hg_confidence sure;
	uint32_t number = snap_locations_find(locations, id, tag, &sure);
	assert_true(number < locations->count);
	const struct snap_location *l = &locations->items[number];
	char text[5000] = "";
	if (l->name)
		snprintf(text, sizeof(text), "[%s]", l->name);
	else if (l->file)
		snprintf(text, sizeof(text), "%s:%d:%u-%u", l->file, l->line, l->start, l->end);
	if (strcmp(text, expected) != 0 || sure != confidence)
		fail_msg("id %u, tag %u: \"%s\" (%d) instead of \"%s\" (%d)", id, tag, text,
			(int)sure, expected, (int)confidence);
}

static void predefined(void **state)
{
	(void)state;
	struct snap_locations locations = {0};
	struct hg_error error;
	enum hg_confidence sure;
	assert_int_equal(snap_locations_find(&locations, 10, 0, &sure), 0);
	assert_int_equal(sure, HG_UNKNOWN_ORIGIN);
	assert_int_equal(snap_source_init(&locations, SNAP_IDS_MEMPROF01, false, &error), HG_OK);
	check_find(&locations, 0, 0, "", HG_UNKNOWN_ORIGIN);
	check_find(&locations, 3, 0, "", HG_UNKNOWN_ORIGIN);
	check_find(&locations, 10, 252, "[string]", HG_EXACT);
	check_find(&locations, 40, 255, "[native_integer]", HG_EXACT);
	check_find(&locations, 172, 247, "[dynlink]", HG_EXACT);
	check_find(&locations, 255, 0, "", HG_UNKNOWN_ORIGIN);
	check_find(&locations, UINT32_MAX, 0, "", HG_UNKNOWN_ORIGIN);
	assert_int_equal(snap_locations_find(&locations, 50, 0, &sure),
		snap_locations_find(&locations, 51, 0, &sure));
	assert_int_equal(locations.count, 1 + 50); /* 51 ids, two of them "float" */
	snap_locations_release(&locations);
	assert_int_equal(locations.count, 0);
	snap_locations_release(&locations);
	assert_int_equal(snap_source_init(&locations, SNAP_IDS_MEMPROF02, true, &error), HG_OK);
	check_find(&locations, 3, 247, "[cons]", HG_EXACT);
	check_find(&locations, 10, 252, "[format_int64]", HG_EXACT);
	check_find(&locations, 65, 0, "", HG_UNKNOWN_ORIGIN);
	check_find(&locations, 87, 252, "[copy_string]", HG_EXACT);
	check_find(&locations, 1024, 0, "", HG_UNKNOWN_ORIGIN);
	snap_locations_release(&locations);
	assert_int_equal(snap_source_init(&locations, SNAP_IDS_OCP2014, false, &error), HG_OK);
	assert_int_equal(locations.count, 1);
	check_find(&locations, 10, 252, "", HG_UNKNOWN_ORIGIN);
	snap_locations_release(&locations);
}

static void name_tables(void **state)
{
	(void)state;
	for (int ids = SNAP_IDS_MEMPROF01; ids <= SNAP_IDS_MEMPROF02; ids++) {
		size_t count;
		const struct snap_predefined *names =
			snap_predefined_locations((enum snap_ids)ids, &count);
		for (size_t i = 0; i < count; i++) {
			assert_true(i == 0 || names[i].id > names[i - 1].id);
			assert_true(names[i].id < (ids == SNAP_IDS_MEMPROF01 ? 256 : 1024));
			assert_int_equal(
				strspn(names[i].name, "abcdefghijklmnopqrstuvwxyz_0123456789"),
				strlen(names[i].name));
		}
	}
}

static void profile(void **state)
{
	(void)state;
	static struct writer w;
	struct snap_locations locations;
	enum hg_confidence sure;
	begin_table(&w, 6, 3);
	put_entry(&w, 1000);
	put_location(&w, "a.ml", 7, 3, 9);
	put_entry(&w, 2000 | (int32_t)LOST_BIT);
	put_location(&w, "b.ml", 8, 0, 200);
	put_int(&w, 0);
	put_int(&w, 0);
	put_entry(&w, 3000);
	put_none(&w);
	put_entry(&w, 4000);
	put_location(&w, "a.ml", 7, 3, 9);
	put_entry(&w, 5000);
	put_location(&w, "a.ml", 7, 3, 10);
	put_entry(&w, 77);
	put_location(&w, "c.ml", 1, -5, 1);
	put_int(&w, 0);
	end_table(&w);
	load(&locations, SNAP_IDS_MEMPROF01, false, &w);
	assert_int_equal(locations.entries, 6);
	assert_int_equal(locations.conflicts, 0);
	check_find(&locations, 1000, 0, "a.ml:7:3-9", HG_EXACT);
	check_find(&locations, 2000, 0, "b.ml:8:0-200", HG_INFERRED);
	check_find(&locations, 2000 | LOST_BIT, 0, "b.ml:8:0-200", HG_EXACT);
	check_find(&locations, 3000, 0, "", HG_UNKNOWN_ORIGIN);
	check_find(&locations, 5000, 247, "a.ml:7:3-10", HG_EXACT);
	check_find(&locations, 6000, 0, "", HG_UNKNOWN_ORIGIN);
	check_find(&locations, 10, 0, "[string]", HG_EXACT);
	check_find(&locations, 77, 0, "c.ml:1:0-1", HG_EXACT);
	assert_int_equal(snap_locations_find(&locations, 1000, 0, &sure),
		snap_locations_find(&locations, 4000, 0, &sure));
	assert_int_equal(locations.count, 1 + 50 + 4);
	snap_locations_release(&locations);
}

static void conflicts(void **state)
{
	(void)state;
	static struct writer w;
	struct snap_locations locations;
	static const int32_t keys[] = {1000, 1000 | LOST_BIT, 2000, 2000 | LOST_BIT, 3000, 3000, 10,
		101 | LOST_BIT, 4000 | LOST_BIT, 4000 | LOST_BIT};
	static const int32_t lines[] = {1, 2, 3, 3, 4, 5, 6, 7, 8, 9};
	begin_table(&w, 10, 1);
	for (size_t i = 0; i < 10; i++) {
		put_entry(&w, keys[i]);
		put_location(&w, "a.ml", lines[i], 0, 1);
	}
	put_int(&w, 0);
	end_table(&w);
	load(&locations, SNAP_IDS_MEMPROF01, false, &w);
	assert_int_equal(locations.entries, 10);
	assert_int_equal(locations.conflicts, 6);
	check_find(&locations, 1000, 0, "a.ml:1:0-1", HG_GUESSED);
	check_find(&locations, 1000 | LOST_BIT, 0, "a.ml:2:0-1", HG_GUESSED);
	check_find(&locations, 2000, 0, "a.ml:3:0-1", HG_EXACT);
	check_find(&locations, 3000, 0, "a.ml:4:0-1", HG_GUESSED);
	check_find(&locations, 4000, 0, "a.ml:8:0-1", HG_GUESSED);
	check_find(&locations, 10, 0, "[string]", HG_EXACT);
	check_find(&locations, 101, 0, "[obj]", HG_EXACT);
	snap_locations_release(&locations);
}

static void bad_profiles(void **state)
{
	(void)state;
	static struct writer w;
	/* Objects: 0 the table, 1 the array, 2 the entry, 3 to 7 its location. */
	begin_table(&w, 1, 1);
	put_entry(&w, 1000);
	put_location(&w, "a.ml", 1, 0, 1);
	put_shared(&w, 2);
	end_table(&w);
	refuse(SNAP_IDS_MEMPROF01, &w, 0, "circles");
	begin_table(&w, 1, 2);
	put_entry(&w, 1000);
	put_location(&w, "a.ml", 1, 0, 1);
	put_int(&w, 0);
	put_shared(&w, 2);
	end_table(&w);
	refuse(SNAP_IDS_MEMPROF01, &w, 0, "says 1 entries, 2");
	begin_table(&w, 2, 1);
	put_int(&w, 0);
	end_table(&w);
	refuse(SNAP_IDS_MEMPROF01, &w, 0, "says 2 entries, 0");
	begin_table(&w, 1, 1);
	put_entry(&w, 1 << 22);
	put_location(&w, "a.ml", 1, 0, 1);
	put_int(&w, 0);
	end_table(&w);
	refuse(SNAP_IDS_MEMPROF01, &w, 0, "4194304 is not");
	begin_table(&w, 1, 1);
	put_entry(&w, -1);
	put_location(&w, "a.ml", 1, 0, 1);
	put_int(&w, 0);
	end_table(&w);
	refuse(SNAP_IDS_MEMPROF01, &w, 0, "-1 is not");
	begin_table(&w, 1, 1);
	put_entry(&w, 1000);
	put_int(&w, 0);
	put_int(&w, 0);
	end_table(&w);
	refuse(SNAP_IDS_MEMPROF01, &w, 0, "not a location");
	begin_table(&w, 1, 1);
	put_string(&w, "x");
	end_table(&w);
	refuse(SNAP_IDS_MEMPROF01, &w, 0, "entry 0");
	/* A table whose array of buckets is the table itself. */
	w.size = 0;
	begin_value(&w);
	put_block(&w, 0, 4);
	put_int(&w, 1);
	put_shared(&w, 0);
	end_table(&w);
	refuse(SNAP_IDS_MEMPROF01, &w, 0, "entry 0");
	w.size = 0;
	begin_value(&w);
	put_int(&w, 1);
	end_value(&w);
	refuse(SNAP_IDS_MEMPROF01, &w, 0, "not a table");
	begin_table(&w, 0, 0);
	end_table(&w);
	put_byte(&w, 0);
	refuse(SNAP_IDS_MEMPROF01, &w, w.size - 1, "1 bytes follow");
}

/* Many buckets that all lead to one long list would take their product in time. */
static void shared_lists(void **state)
{
	(void)state;
	static struct writer w;
	enum { BUCKETS = 2000, ENTRIES = 2000 };
	begin_table(&w, BUCKETS * ENTRIES, BUCKETS);
	for (int i = 0; i < ENTRIES; i++) {
		put_entry(&w, 1000 + i);
		if (i == 0)
			put_location(&w, "a.ml", 1, 0, 1);
		else
			put_shared(&w, 3);
	}
	put_int(&w, 0);
	for (int i = 1; i < BUCKETS; i++)
		put_shared(&w, 2);
	end_table(&w);
	refuse(SNAP_IDS_MEMPROF01, &w, 0, "circles");
}

static void file_names(void **state)
{
	(void)state;
	static struct writer w;
	struct snap_locations locations;
	struct hg_error error;
	char name[4200];
	memset(name, 'n', sizeof(name));
	for (size_t length = 4096; length <= 4097; length++) {
		name[length] = '\0';
		w.size = 0;
		begin_value(&w);
		put_block(&w, 0, 1);
		put_location(&w, name, 3, 4, 5);
		end_value(&w);
		enum hg_status status =
			load_as(&locations, SNAP_IDS_MEMPROF02, false, w.bytes, w.size, &error);
		assert_int_equal(status, length > 4096 ? HG_ERROR_INPUT : HG_OK);
		if (status == HG_OK) {
			strcpy(name + length, ":3:4-5");
			check_find(&locations, 1024, 0, name, HG_EXACT);
		}
		snap_locations_release(&locations);
		memset(name, 'n', sizeof(name));
	}
}

/* Many different names and lines: growth of all tables. */
static void many(void **state)
{
	(void)state;
	static struct writer w;
	struct snap_locations locations;
	w.size = 0;
	begin_value(&w);
	put_block(&w, 0, 700);
	for (int i = 0; i < 700; i++) {
		char name[16];
		snprintf(name, sizeof(name), "file%d.ml", i % 350);
		put_location(&w, name, i % 350, 0, 1);
	}
	end_value(&w);
	load(&locations, SNAP_IDS_MEMPROF02, false, &w);
	assert_int_equal(locations.entries, 700);
	for (uint32_t i = 0; i < 700; i++) {
		char text[32];
		snprintf(text, sizeof(text), "file%u.ml:%u:0-1", i % 350, i % 350);
		check_find(&locations, 1024 + i, 0, text, HG_EXACT);
	}
	snap_locations_release(&locations);
}

/* Native tables of 5, 0, 1 and 4 entries: base + 3 lies in another unit's table for two of them. */
static void native_tables(void **state)
{
	(void)state;
	static struct writer w;
	struct snap_locations locations;
	static const uint32_t sizes[] = {5, 0, 1, 4};
	int32_t line = 0;
	w.size = 0;
	for (size_t i = 0; i < 4; i++) {
		begin_value(&w);
		put_block(&w, 0, sizes[i]);
		for (uint32_t j = 0; j < sizes[i]; j++)
			put_location(&w, "a.ml", line++, 0, 1);
		end_value(&w);
	}
	static const bool stray[10] = {[3] = true, [5 + 3] = true, [6 + 3] = true};
	for (int native = 0; native < 2; native++) {
		load(&locations, SNAP_IDS_MEMPROF02, native, &w);
		assert_int_equal(locations.entries, 10);
		for (uint32_t i = 0; i < 10; i++) {
			char text[32];
			snprintf(text, sizeof(text), "a.ml:%u:0-1", i);
			check_find(&locations, 1024 + i, 0, text,
				native && stray[i] ? HG_GUESSED : HG_EXACT);
			check_find(&locations, 1024 + i, 247, text, native ? HG_GUESSED : HG_EXACT);
		}
		check_find(&locations, 1034, 247, "", HG_UNKNOWN_ORIGIN);
		check_find(&locations, 1, 247, "[dummy]", HG_EXACT);
		snap_locations_release(&locations);
	}
	/* The mark of a table at the end lies behind all entries. */
	begin_value(&w);
	put_block(&w, 0, 0);
	end_value(&w);
	load(&locations, SNAP_IDS_MEMPROF02, true, &w);
	check_find(&locations, 1024 + 10 + 3, 0, "", HG_UNKNOWN_ORIGIN);
	snap_locations_release(&locations);
}

static void bad_locations(void **state)
{
	(void)state;
	static struct writer w;
	w.size = 0;
	refuse(SNAP_IDS_MEMPROF02, &w, 0, "0 bytes");
	begin_value(&w);
	put_block(&w, 0, 1);
	put_location(&w, "a.ml", 1, 0, 1);
	end_value(&w);
	size_t second = w.size;
	begin_value(&w);
	put_int(&w, 1);
	end_value(&w);
	refuse(SNAP_IDS_MEMPROF02, &w, second, "not an array");
	w.size = second;
	begin_value(&w);
	put_block(&w, 0, 1);
	put_int(&w, 1);
	end_value(&w);
	refuse(SNAP_IDS_MEMPROF02, &w, second, "entry 1");
	w.size = second;
	put_byte(&w, 0x84);
	refuse(SNAP_IDS_MEMPROF02, &w, second, "too few");
}

static void put_chunk(struct writer *w, const char *name, uint32_t size)
{
	put(w, name, 4);
	for (int shift = 0; shift < 32; shift += 8)
		put_byte(w, size >> shift & 255);
}

/* A table with one location, in constructor 'tag', followed by 'extra' bytes. */
static void put_locs(struct writer *w, unsigned tag, int32_t line, size_t extra)
{
	size_t start = w->size;
	put_chunk(w, "LOCS", 0);
	begin_value(w);
	put_block(w, tag, 1);
	put_block(w, 0, 7);
	put_string(w, "Unit");
	for (int i = 1; i < 4; i++)
		put_int(w, 0);
	put_block(w, 0, 1);
	put_block(w, 0, 2);
	put_block(w, 0, 2);
	put_location(w, "u.ml", line, 2, 3);
	put_int(w, 0);
	put_int(w, 0);
	put_int(w, 0);
	put_int(w, 0);
	end_value(w);
	while (extra--)
		put_byte(w, 0);
	size_t end = w->size;
	w->size = start;
	put_chunk(w, "LOCS", (uint32_t)(end - start - 8));
	w->size = end;
}

static void process_info(void **state)
{
	(void)state;
	static struct writer w;
	struct snap_locations locations;
	put(&w, "OCP-2017P001", 12);
	load(&locations, SNAP_IDS_OCP2014, false, &w);
	assert_int_equal(locations.entries, 0);
	snap_locations_release(&locations);
	put_locs(&w, 1, 10, 0);
	put_chunk(&w, "SEED", 3);
	put(&w, "abc", 3);
	put_locs(&w, 3, -1, 0);
	load(&locations, SNAP_IDS_OCP2014, false, &w);
	assert_int_equal(locations.entries, 2);
	check_find(&locations, 0, 0, "u.ml:10:2-3", HG_EXACT);
	check_find(&locations, 1, 247, "u.ml:-1:2-3", HG_EXACT);
	snap_locations_release(&locations);
	size_t good = w.size;
	put_locs(&w, 2, 1, 0);
	refuse(SNAP_IDS_OCP2014, &w, good + 8, "not a table");
	w.size = good;
	put_locs(&w, 3, 1, 1);
	refuse(SNAP_IDS_OCP2014, &w, w.size - 1, "1 bytes follow");
	w.size = good;
	put_chunk(&w, "DUMP", 0xffffffff);
	refuse(SNAP_IDS_OCP2014, &w, good, "4294967295 bytes");
	w.size = good + 7;
	refuse(SNAP_IDS_OCP2014, &w, good, "inside a chunk");
	w.size = 11;
	refuse(SNAP_IDS_OCP2014, &w, 0, "OCP-2017P001");
	w.size = good;
	w.bytes[11] = '2';
	refuse(SNAP_IDS_OCP2014, &w, 0, "OCP-2017P001");
}

/* Files */

static size_t read_file(const char *path, uint8_t **bytes)
{
	FILE *file = fopen(path, "rb");
	if (!file) {
		print_message("no %s\n", path);
		return 0;
	}
	fseek(file, 0, SEEK_END);
	size_t size = (size_t)ftell(file);
	rewind(file);
	*bytes = calloc(1, size + 1);
	assert_non_null(*bytes);
	assert_int_equal(fread(*bytes, 1, size, file), size);
	fclose(file);
	return size;
}

struct set {
	const char *source;
	const char *facts; /* what an independent reader found in a dump of the same run */
	enum snap_ids ids;
	unsigned lines; /* compared */
};

static const struct set sets[] = {
	{FIXTURES "/v01/tiny/t1.prof", FIXTURES "/v01/tiny/expected/indep-0.txt",
		SNAP_IDS_MEMPROF01, 132},
	{FIXTURES "/v01/stdmagic/variants.prof", FIXTURES "/v01/stdmagic/expected/indep-0.txt",
		SNAP_IDS_MEMPROF01, 406},
	{FIXTURES "/v02/objs-byte/memprof.28910.locations",
		FIXTURES "/v02/objs-byte/expected/indep-0.txt", SNAP_IDS_MEMPROF02, 326},
	{FIXTURES "/v02/objs-opt/memprof.28958.locations",
		FIXTURES "/v02/objs-opt/expected/indep-0.txt", SNAP_IDS_MEMPROF02, 55},
	{FIXTURES "/ocp/byte-noloc/memprof.8911.process_info",
		FIXTURES "/ocp/byte-noloc/expected/indep-0.txt", SNAP_IDS_OCP2014, 22},
};
enum { SETS = sizeof(sets) / sizeof(sets[0]) };

/* Facts: tab separated columns, name first. */
enum { COLUMNS = 8 };

static int split(char *line, char **columns)
{
	int count = 0;
	while (line && count < COLUMNS) {
		columns[count++] = line;
		line = strchr(line, '\t');
		if (line)
			*line++ = '\0';
	}
	return count;
}

/* Is an id that of entry 3 after the base of a unit, given the sizes of the tables? */
static bool is_stray(const char *tables, uint32_t id)
{
	uint32_t base = 1024;
	while (*tables) {
		char *end;
		if (id == base + 3)
			return true;
		base += (uint32_t)strtoul(tables, &end, 10);
		tables = end + strspn(end, " ");
	}
	return false;
}

static void check_site(const struct snap_locations *locations, const struct set *set,
	char **columns, const char *tables)
{
	bool ocp = set->ids == SNAP_IDS_OCP2014;
	const char *how = ocp ? "exact" : columns[4];
	uint32_t id = (uint32_t)strtoul(columns[ocp ? 3 : 5], NULL, 10);
	const char *location = columns[ocp ? 4 : 6];
	unsigned tag = (unsigned)strtoul(columns[ocp ? 5 : 7], NULL, 10);
	enum hg_confidence expected = HG_EXACT, sure;
	if (strcmp(how, "predefined") == 0) {
		uint32_t number = snap_locations_find(locations, id, tag, &sure);
		assert_int_equal(sure, id ? HG_EXACT : HG_UNKNOWN_ORIGIN);
		assert_int_equal(locations->items[number].name != NULL, id != 0);
		return;
	}
	if (strcmp(how, "bit21") == 0) {
		assert_true(id & LOST_BIT);
		id ^= LOST_BIT;
		expected = HG_INFERRED;
	} else {
		assert_string_equal(how, "exact");
	}
	if (locations->wrong_closures_from != UINT32_MAX && (tag == 247 || is_stray(tables, id)))
		expected = HG_GUESSED;
	if (strcmp(location, "none") == 0)
		check_find(locations, id, tag, "", HG_UNKNOWN_ORIGIN);
	else
		check_find(locations, id, tag, location, expected);
}

/* Keys of a .prof that the header cannot hold. */
static unsigned count_large_keys(const uint8_t *bytes, size_t size)
{
	struct base_cursor c = base_cursor_over(bytes, size);
	struct base_pool pool = {0};
	struct snap_marshal m;
	unsigned count = 0;
	assert_int_equal(snap_marshal_read(&c, &pool, &m, NULL), HG_OK);
	struct snap_value buckets = snap_marshal_field(&m, m.root, 1);
	for (uint32_t i = 0; i < snap_marshal_size(&m, buckets); i++) {
		struct snap_value entry = snap_marshal_field(&m, buckets, i);
		for (; !snap_marshal_is_int(&m, entry); entry = snap_marshal_field(&m, entry, 2)) {
			int64_t key;
			assert_true(snap_marshal_int(&m, snap_marshal_field(&m, entry, 0), &key));
			count += key >= LOST_BIT;
		}
	}
	base_pool_release(&pool);
	return count;
}

static void check_set(const struct set *set)
{
	uint8_t *bytes, *facts;
	size_t size = read_file(set->source, &bytes);
	if (!size)
		return;
	assert_true(read_file(set->facts, &facts) > 0);
	bool native = strstr((char *)facts, "mode\tnative") != NULL;
	struct snap_locations locations;
	struct hg_error error;
	if (load_as(&locations, set->ids, native, bytes, size, &error) != HG_OK)
		fail_msg("%s: offset %llu: %s", set->source, (unsigned long long)error.offset,
			error.message);
	assert_int_equal(locations.conflicts, 0);
	const char *tables = "";
	unsigned compared = 0;
	char *next;
	for (char *line = strtok_r((char *)facts, "\n", &next); line;
		line = strtok_r(NULL, "\n", &next)) {
		char *columns[COLUMNS];
		if (split(line, columns) < 2)
			continue;
		if (strcmp(columns[0], "table_entries") == 0)
			assert_int_equal(locations.entries, strtoul(columns[1], NULL, 10));
		else if (strcmp(columns[0], "table_ids_ge_2^21") == 0)
			assert_int_equal(
				count_large_keys(bytes, size), strtoul(columns[1], NULL, 10));
		else if (strcmp(columns[0], "tables") == 0)
			tables = columns[1];
		else if (strcmp(columns[0], "site") == 0) {
			check_site(&locations, set, columns, tables);
			compared++;
		}
	}
	if (compared != set->lines)
		fail_msg("%s: %u lines compared", set->source, compared);
	snap_locations_release(&locations);
	free(bytes);
	free(facts);
}

static void real_sources(void **state)
{
	(void)state;
	for (size_t i = 0; i < SETS; i++)
		check_set(&sets[i]);
}

/* Is this the end of a whole value or chunk of the source, so that a shorter one is well formed? */
static bool is_boundary(const struct set *set, const uint8_t *bytes, size_t size)
{
	size_t at = set->ids == SNAP_IDS_OCP2014 ? 12 : 0;
	if (set->ids == SNAP_IDS_MEMPROF01)
		return false;
	while (at < size) {
		const uint8_t *p = bytes + at;
		if (set->ids == SNAP_IDS_OCP2014)
			at += 8 + ((size_t)p[4] | (size_t)p[5] << 8 | (size_t)p[6] << 16);
		else
			at += 20 + ((size_t)p[5] << 16 | (size_t)p[6] << 8 | p[7]);
	}
	return at == size && size > 0;
}

static void truncations(void **state)
{
	(void)state;
	for (size_t i = 0; i < SETS; i++) {
		uint8_t *bytes;
		size_t size = read_file(sets[i].source, &bytes);
		for (size_t cut = 0; cut < size; cut++) {
			struct snap_locations locations;
			struct hg_error error;
			bool whole = is_boundary(&sets[i], bytes, cut);
			enum hg_status status =
				load_as(&locations, sets[i].ids, true, bytes, cut, &error);
			assert_int_equal(status, whole ? HG_OK : HG_ERROR_INPUT);
			assert_true(whole || error.offset <= cut);
			snap_locations_release(&locations);
		}
		if (size)
			free(bytes);
	}
}

/* A source read as one of the other kinds is refused, or at least does no harm. */
static void other_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < SETS; i++) {
		uint8_t *bytes;
		size_t size = read_file(sets[i].source, &bytes);
		if (!size)
			continue;
		for (int ids = SNAP_IDS_MEMPROF01; ids <= SNAP_IDS_OCP2014; ids++) {
			struct snap_locations locations;
			struct hg_error error;
			enum hg_status status =
				load_as(&locations, (enum snap_ids)ids, false, bytes, size, &error);
			assert_int_equal(status, ids == (int)sets[i].ids ? HG_OK : HG_ERROR_INPUT);
			snap_locations_release(&locations);
		}
		free(bytes);
	}
}

/* Damage: any answer will do that the sanitizers do not mind. */
static void damage(void **state)
{
	(void)state;
	uint64_t random = 1;
	for (size_t i = 0; i < SETS; i++) {
		uint8_t *bytes;
		size_t size = read_file(sets[i].source, &bytes);
		for (int round = 0; size && round < 1000; round++) {
			struct snap_locations locations;
			struct hg_error error;
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			size_t at = (size_t)(random >> 33) % size;
			uint8_t old = bytes[at];
			bytes[at] = (uint8_t)(random >> 24);
			enum hg_status status =
				load_as(&locations, sets[i].ids, true, bytes, size, &error);
			assert_true(status == HG_OK || status == HG_ERROR_INPUT);
			assert_true(status == HG_OK || error.offset <= size);
			bytes[at] = old;
			snap_locations_release(&locations);
		}
		if (size)
			free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(predefined),
		cmocka_unit_test(name_tables),
		cmocka_unit_test(profile),
		cmocka_unit_test(conflicts),
		cmocka_unit_test(bad_profiles),
		cmocka_unit_test(shared_lists),
		cmocka_unit_test(file_names),
		cmocka_unit_test(many),
		cmocka_unit_test(native_tables),
		cmocka_unit_test(bad_locations),
		cmocka_unit_test(process_info),
		cmocka_unit_test(real_sources),
		cmocka_unit_test(truncations),
		cmocka_unit_test(other_kinds),
		cmocka_unit_test(damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
