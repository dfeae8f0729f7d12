/* Types of historical programs: typed trees of OCaml 4.00.1, whole, damaged, and made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "retype/legacy/cmt400.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef FIXTURES
#define FIXTURES "tests/fixtures"
#endif

/* A dump, its locations, and the type table that a folder of .cmt files gives. */
struct subject {
	struct hg_session *session;
	struct snap snap;
	struct retype_types types;
	struct hg_error error;
	const char *source;
};

static void open_subject(struct subject *s, const char *dump, const char *profile,
	const char *const *directories, size_t count)
{
	struct hg_input input = {.size = sizeof(input), .path = dump, .profile = profile};
	memset(s, 0, sizeof(*s));
	assert_int_equal(hg_session_open(NULL, &s->session), HG_OK);
	assert_int_equal(snap_open(&s->snap, s->session, &input, &s->error), HG_OK);
	assert_int_equal(retype_types_init(&s->types, &s->error), HG_OK);
	assert_int_equal(
		retype_cmt400_read(&s->types, directories, count, &s->snap, &s->source, &s->error),
		HG_OK);
}

static void close_subject(struct subject *s)
{
	retype_types_release(&s->types);
	snap_release(&s->snap);
	hg_session_close(s->session);
}

/* "KIND: TYPE | KIND: TYPE" of a place, in the order of the file. */
static const char *made_at(
	struct subject *s, const char *file, uint32_t line, uint32_t start, uint32_t end)
{
	static char text[8192];
	char name[4096];
	uint32_t places, count;
	const struct retype_location *place =
		retype_locations_at(&s->types, file, line, start, end, false, &places);
	text[0] = '\0';
	for (uint32_t i = 0; i < places; i++) {
		const struct retype_made *made = retype_location_made(&s->types, &place[i], &count);
		for (uint32_t j = 0; j < count; j++) {
			size_t length = strlen(text);
			retype_name(&s->types, made[j].type, name, sizeof(name));
			snprintf(text + length, sizeof(text) - length, "%s%s: %s",
				length ? " | " : "", made[j].kind, name);
		}
	}
	return text;
}

static const struct retype_declaration *declared(struct subject *s, const char *name)
{
	for (uint32_t i = 0; i < s->types.declaration_count; i++)
		if (strcmp(s->types.declarations[i].name, name) == 0)
			return &s->types.declarations[i];
	return NULL;
}

/* "name:TYPE; ..." of fields. */
static const char *fields_of(struct subject *s, const struct retype_field *fields, uint32_t count)
{
	static char text[8192];
	char name[4096];
	text[0] = '\0';
	for (uint32_t i = 0; i < count; i++) {
		size_t length = strlen(text);
		retype_name(&s->types, fields[i].type, name, sizeof(name));
		snprintf(text + length, sizeof(text) - length, "%s%s%s:%s", i ? "; " : "",
			fields[i].mutability == RETYPE_MUTABLE ? "mutable " : "", fields[i].name,
			name);
	}
	return text;
}

static void read_cache(struct subject *s)
{
	open_subject(s, FIXTURES "/v01/cache-dump/heap.dump.8975.0",
		FIXTURES "/v01/cache-dump/cache.prof", NULL, 0);
}

static void test_places_of_records_and_constructors(void **state)
{
	struct subject s;
	(void)state;
	read_cache(&s);
	assert_int_equal(s.snap.note_count, 0);
	assert_string_equal(made_at(&s, "cache.ml", 28, 49, 57), "con.Editor: Cache.role");
	assert_string_equal(made_at(&s, "cache.ml", 28, 65, 83), "con.Guest: Cache.role");
	assert_string_equal(made_at(&s, "cache.ml", 30, 19, 50), "con.::: string list");
	assert_string_equal(made_at(&s, "cache.ml", 21, 33, 39), "record: Cache.scratch list ref");
	assert_string_equal(made_at(&s, "cache.ml", 23, 17, 315), "closure: int -> Cache.session");
	assert_string_equal(made_at(&s, "cache.ml", 28, 49, 58), "");
	close_subject(&s);
}

static void test_declarations(void **state)
{
	struct subject s;
	(void)state;
	read_cache(&s);
	const struct retype_declaration *session = declared(&s, "Cache.session");
	const struct retype_declaration *role = declared(&s, "Cache.role");
	assert_non_null(session);
	assert_non_null(role);
	assert_int_equal(session->form, RETYPE_RECORD);
	assert_string_equal(fields_of(&s, session->fields, session->field_count),
		"user:string; token:string; mutable hits:int; role:Cache.role; score:float; "
		"tags:string list");
	assert_int_equal(role->form, RETYPE_VARIANT);
	assert_int_equal(role->constructor_count, 3);
	assert_true(role->constructors[0].is_constant);
	assert_string_equal(role->constructors[0].name, "Admin");
	assert_false(role->constructors[2].is_constant);
	assert_string_equal(fields_of(&s, role->constructors[2].fields, 1), ":string");
	close_subject(&s);
}

static void test_hidden_types_of_the_library(void **state)
{
	struct subject s;
	(void)state;
	read_cache(&s);
	const struct retype_declaration *table = declared(&s, "Hashtbl.t");
	assert_non_null(table);
	assert_int_equal(table->parameters, 2);
	assert_string_equal(fields_of(&s, table->fields, table->field_count),
		"mutable size:int; mutable data:('a, 'b) Hashtbl.bucketlist array; "
		"mutable seed:int; initial_size:int");
	close_subject(&s);
}

static void test_fields_of_a_unit(void **state)
{
	struct subject s;
	(void)state;
	read_cache(&s);
	uint32_t number = retype_unit_named(&s.types, "Cache");
	assert_true(number != RETYPE_NONE);
	const struct retype_unit *unit = &s.types.units[number];
	assert_string_equal(unit->source, "cache.ml");
	assert_string_equal(unit->crc, "10de4b85de3a5db6f7ce54d08e2d9781");
	/* The primitive dump_heap has no field. */
	assert_int_equal(unit->field_count, 5);
	assert_string_equal(unit->fields[0].name, "cache");
	assert_string_equal(fields_of(&s, unit->fields, 2),
		"cache:(string, Cache.session) Hashtbl.t; scratch:Cache.scratch list ref");
	close_subject(&s);
}

static void test_variants_and_exceptions_in_both_dialects(void **state)
{
	static const char *const sets[] = {"variants-dump/heap.dump.8993.0",
		"variants-dump/variants.prof", "stdmagic/heap.dump.26626.0",
		"stdmagic/variants.prof"};
	(void)state;
	for (size_t i = 0; i < 4; i += 2) {
		char dump[200], profile[200];
		struct subject s;
		snprintf(dump, sizeof(dump), FIXTURES "/v01/%s", sets[i]);
		snprintf(profile, sizeof(profile), FIXTURES "/v01/%s", sets[i + 1]);
		open_subject(&s, dump, profile, NULL, 0);
		assert_int_equal(s.snap.note_count, 0);
		assert_string_equal(
			made_at(&s, "variants.ml", 45, 13, 40), "pvar: string Variants.event");
		assert_string_equal(made_at(&s, "variants.ml", 28, 51, 74), "exn.Timeout: exn");
		assert_string_equal(
			made_at(&s, "variants.ml", 52, 14, 36), "closure: Variants.shape -> float");
		const struct retype_extension *timeout =
			retype_extension_named(&s.types, "Variants.Timeout");
		assert_non_null(timeout);
		assert_string_equal(
			fields_of(&s, timeout->fields, timeout->field_count), ":int; :string");
		assert_non_null(retype_extension_named(&s.types, "Variants.Plain"));
		close_subject(&s);
	}
}

static void test_objects_lazy_values_and_modules(void **state)
{
	struct subject s;
	(void)state;
	open_subject(&s, FIXTURES "/v01/objs-dump/heap.dump.9001.0",
		FIXTURES "/v01/objs-dump/objs.prof", NULL, 0);
	/* The cell, and the lazy block and its thunk, which have the location of what is delayed.
	 */
	assert_string_equal(made_at(&s, "objs.ml", 47, 19, 35),
		"lazy: int list Lazy.t | closure: unit -> int list | con.::: int list");
	assert_string_equal(made_at(&s, "objs.ml", 30, 29, 53), "closure: int -> Objs.counter");
	assert_string_equal(
		made_at(&s, "objs.ml", 39, 36, 42), "record: (module Objs.SHOW) list ref");
	assert_string_equal(made_at(&s, "objs.ml", 15, 27, 37), "con.::: _ list");
	close_subject(&s);
}

static void test_recursive_object_ends(void **state)
{
	struct subject s;
	(void)state;
	open_subject(&s, FIXTURES "/v01/recty/heap.dump.30155.0", FIXTURES "/v01/recty/recty.prof",
		NULL, 0);
	assert_string_equal(made_at(&s, "recty.ml", 5, 33, 45), "con.::: < me : _; v : int > list");
	close_subject(&s);
}

/* Copies of files, changed, in a folder of their own. */
struct folder {
	char path[64];
	char file[160];
};

static void make_folder(struct folder *folder, const char *file)
{
	strcpy(folder->path, "/tmp/test_cmt400.XXXXXX");
	assert_non_null(mkdtemp(folder->path));
	snprintf(folder->file, sizeof(folder->file), "%s/%s", folder->path, file);
}

static void remove_folder(struct folder *folder)
{
	unlink(folder->file);
	rmdir(folder->path);
}

static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *stream = fopen(path, "rb");
	assert_non_null(stream);
	uint8_t *bytes = malloc(1 << 20);
	assert_non_null(bytes);
	*size = fread(bytes, 1, 1 << 20, stream);
	fclose(stream);
	return bytes;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *stream = fopen(path, "wb");
	assert_non_null(stream);
	assert_int_equal(fwrite(bytes, 1, size, stream), size);
	assert_int_equal(fclose(stream), 0);
}

/* Where the typed tree's marshalled value begins. */
static size_t tree_at(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i + 12 < size; i++)
		if (memcmp(bytes + i, "Caml2012T001", 12) == 0)
			return i + 12;
	fail();
	return 0;
}

#define TINY FIXTURES "/v01/tiny/heap.dump.29370.0"
#define TINY_PROFILE FIXTURES "/v01/tiny/t1.prof"

/* Reads the dump of v01/tiny with the .cmt in this folder only. */
static void open_tiny(struct subject *s, const struct folder *folder)
{
	const char *directories[] = {folder->path};
	open_subject(s, TINY, TINY_PROFILE, directories, 1);
}

static void test_other_version_is_noted(void **state)
{
	struct folder folder;
	struct subject s;
	size_t size;
	(void)state;
	uint8_t *bytes = read_file(FIXTURES "/v01/tiny/t1.cmt", &size);
	make_folder(&folder, "t1.cmt");
	memcpy(bytes + tree_at(bytes, size) - 4, "T030", 4);
	write_file(folder.file, bytes, size);
	open_tiny(&s, &folder);
	assert_int_equal(s.snap.note_count, 1);
	assert_non_null(strstr(s.snap.notes[0], folder.file));
	assert_non_null(strstr(s.snap.notes[0], "another version of OCaml (Caml2012T030)"));
	assert_non_null(strstr(s.snap.notes[0], "at offset "));
	/* The one beside the dump tells the types. */
	assert_string_equal(made_at(&s, "t1.ml", 6, 25, 35), "con.::: T1.r list");
	close_subject(&s);
	remove_folder(&folder);
	free(bytes);
}

static void test_damage_is_noted_everywhere(void **state)
{
	struct folder folder;
	size_t size;
	(void)state;
	uint8_t *bytes = read_file(FIXTURES "/v01/tiny/t1.cmt", &size);
	make_folder(&folder, "t1.cmt");
	for (size_t cut = 0; cut < size; cut += 97) {
		struct subject s;
		write_file(folder.file, bytes, cut);
		open_tiny(&s, &folder);
		assert_int_equal(s.snap.note_count, 1);
		assert_non_null(strstr(s.snap.notes[0], folder.file));
		assert_string_equal(made_at(&s, "t1.ml", 6, 25, 35), "con.::: T1.r list");
		close_subject(&s);
	}
	remove_folder(&folder);
	free(bytes);
}

static void put_be32(uint8_t *at, uint32_t number)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(number >> (24 - 8 * i));
}

static uint32_t be32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/*
 * The annotations of t1.cmt, Implementation [structure], made Partial_implementation [| Partial_
 * structure structure |], as the compiler writes it for a unit with an error: two more blocks.
 * Nothing in the structure refers to what comes before it in the file.
 */
static uint8_t *make_partial(const uint8_t *bytes, size_t *size)
{
	static const uint8_t inserted[] = {0x93, 0, 0, 0, 0x90, 0, 0, 0, 0x90, 0, 0, 0};
	size_t tree = tree_at(bytes, *size);
	uint8_t *out = malloc(*size + 8);
	assert_non_null(out);
	/* header, code and id of cmt_infos (9 bytes, 12 fields), the name "T1" with its id */
	size_t at = tree + 20 + 9 + 1 + 3 + 2;
	assert_int_equal(bytes[at], 0x91);
	memcpy(out, bytes, at);
	memcpy(out + at, inserted, sizeof(inserted));
	memcpy(out + at + sizeof(inserted), bytes + at + 4, *size - at - 4);
	put_be32(out + tree + 4, be32(bytes + tree + 4) + 8);
	put_be32(out + tree + 8, be32(bytes + tree + 8) + 2);
	put_be32(out + tree + 12, be32(bytes + tree + 12) + 4);
	put_be32(out + tree + 16, be32(bytes + tree + 16) + 4);
	*size += 8;
	return out;
}

static void test_partial_implementation(void **state)
{
	struct folder folder;
	struct subject s;
	size_t size;
	(void)state;
	uint8_t *bytes = read_file(FIXTURES "/v01/tiny/t1.cmt", &size);
	uint8_t *partial = make_partial(bytes, &size);
	make_folder(&folder, "t1.cmt");
	write_file(folder.file, partial, size);
	open_tiny(&s, &folder);
	assert_int_equal(s.snap.note_count, 0);
	assert_string_equal(made_at(&s, "t1.ml", 6, 25, 35), "con.::: T1.r list");
	const struct retype_declaration *r = declared(&s, "T1.r");
	assert_non_null(r);
	assert_string_equal(fields_of(&s, r->fields, r->field_count),
		"name:string; v:float; mutable next:T1.r option");
	close_subject(&s);
	remove_folder(&folder);
	free(partial);
	free(bytes);
}

/* objs.ml is not the source of Obj, whatever a file of that name holds. */
static void test_name_of_another_unit(void **state)
{
	struct folder folder;
	struct subject s;
	size_t size;
	(void)state;
	uint8_t *bytes = read_file(FIXTURES "/v01/tiny/t1.cmt", &size);
	make_folder(&folder, "obj.cmt");
	write_file(folder.file, bytes, size);
	const char *directories[] = {folder.path};
	open_subject(&s, FIXTURES "/v01/objs-dump/heap.dump.9001.0",
		FIXTURES "/v01/objs-dump/objs.prof", directories, 1);
	assert_string_equal(made_at(&s, "objs.ml", 53, 14, 26), "tuple: int * float");
	close_subject(&s);
	remove_folder(&folder);
	free(bytes);
}

/* A marshalled value that is being written, as OCaml writes it. */
struct written {
	uint8_t bytes[1 << 20];
	size_t size;
	uint32_t objects, words;
};

static void put_number(struct written *w, uint8_t code, uint32_t number)
{
	assert_true(w->size + 5 <= sizeof(w->bytes));
	w->bytes[w->size] = code;
	put_be32(w->bytes + w->size + 1, number);
	w->size += 5;
}

static void put_block(struct written *w, uint32_t tag, uint32_t size)
{
	put_number(w, 0x08, size << 10 | tag);
	w->objects++;
	w->words += 1 + size;
}

/* A block that there is already, by how many objects there were before it. */
static void put_shared(struct written *w, uint32_t object)
{
	put_number(w, 0x06, w->objects - object);
}

static void put_zeros(struct written *w, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		put_number(w, 0x02, 0);
}

static void put_string(struct written *w, const char *string)
{
	size_t length = strlen(string);
	assert_true(length < 8 && w->size + 8 <= sizeof(w->bytes));
	w->bytes[w->size++] = (uint8_t)(0x20 | length);
	memcpy(w->bytes + w->size, string, length);
	w->size += length;
	w->objects++;
	w->words += 2;
}

/* cmt_infos of T1 up to the list of structure items, and what comes after it. */
static void begin_tiny(struct written *w)
{
	memset(w, 0, sizeof(*w));
	w->size = 12 + 20;
	put_block(w, 0, 12);
	put_string(w, "T1");
	put_block(w, 1, 1);
	put_block(w, 0, 3);
}

static void end_tiny(struct written *w)
{
	static const uint8_t begin[] = "Caml2012T001\x84\x95\xa6\xbe";
	put_zeros(w, 2 + 2);
	put_block(w, 0, 1);
	put_string(w, "t1.ml");
	put_string(w, "/");
	put_zeros(w, 6);
	memcpy(w->bytes, begin, 16);
	put_be32(w->bytes + 16, (uint32_t)w->size - 32);
	put_be32(w->bytes + 20, w->objects);
	put_be32(w->bytes + 24, w->words);
	put_be32(w->bytes + 28, w->words);
}

/* An expression, a tuple of more and more, each of which is a tuple of all that come after it. */
static void write_tuples(struct written *w, uint32_t count)
{
	begin_tiny(w);
	put_block(w, 0, 2);
	put_block(w, 0, 2);
	put_block(w, 0, 1);
	put_block(w, 0, 5);
	put_block(w, 7, 1);
	uint32_t first = w->objects;
	for (uint32_t i = 0; i < count; i++) {
		put_block(w, 0, 2);
		put_block(w, 0, 5);
		put_block(w, 7, 1);
	}
	put_zeros(w, 1);
	for (uint32_t i = count; i-- > 0;) {
		put_zeros(w, 4);
		if (i + 1 == count)
			put_zeros(w, 1);
		else
			put_shared(w, first + 3 * (i + 1));
	}
	put_zeros(w, 4 + 1 + 1);
	end_tiny(w);
}

/* Definitions of types, each together with all that come before it. */
static void write_types(struct written *w, uint32_t count)
{
	uint32_t list = 0;
	begin_tiny(w);
	for (uint32_t i = 0; i < count; i++) {
		put_block(w, 0, 2);
		put_block(w, 0, 2);
		put_block(w, 3, 1);
		uint32_t before = list;
		list = w->objects;
		put_block(w, 0, 2);
		put_block(w, 0, 3);
		put_block(w, 0, 3);
		put_zeros(w, 1);
		put_string(w, "t");
		put_zeros(w, 1 + 2);
		if (i == 0)
			put_zeros(w, 1);
		else
			put_shared(w, before);
		put_zeros(w, 1);
	}
	put_zeros(w, 1);
	end_tiny(w);
}

static long peak_megabytes(void)
{
	struct rusage usage;
	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss >> 10;
}

/* Lists that share their ends are gone through once, not each from its beginning. */
static void test_lists_that_end_alike(void **state)
{
	static struct written w;
	static void (*const writers[])(struct written * w, uint32_t count) = {
		write_tuples, write_types};
	struct folder folder;
	(void)state;
	make_folder(&folder, "t1.cmt");
	for (size_t i = 0; i < 2; i++) {
		struct subject s;
		long before = peak_megabytes();
		writers[i](&w, 12000);
		write_file(folder.file, w.bytes, w.size);
		open_tiny(&s, &folder);
		assert_int_equal(s.snap.note_count, 0);
		assert_non_null(strstr(s.source, folder.file));
		assert_true(peak_megabytes() - before <= 100);
		close_subject(&s);
	}
	remove_folder(&folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places_of_records_and_constructors),
		cmocka_unit_test(test_declarations),
		cmocka_unit_test(test_hidden_types_of_the_library),
		cmocka_unit_test(test_fields_of_a_unit),
		cmocka_unit_test(test_variants_and_exceptions_in_both_dialects),
		cmocka_unit_test(test_objects_lazy_values_and_modules),
		cmocka_unit_test(test_recursive_object_ends),
		cmocka_unit_test(test_other_version_is_noted),
		cmocka_unit_test(test_damage_is_noted_everywhere),
		cmocka_unit_test(test_partial_implementation),
		cmocka_unit_test(test_name_of_another_unit),
		cmocka_unit_test(test_lists_that_end_alike),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
