/*
 * The typed trees of OCaml 4.00.1.  Input: one byte that says for which unit the file is (modulo 4:
 * t1, recty, variants, objs of tests/fixtures/v01), then the file, which is read for a snapshot
 * with locations of that unit.
 */
#include "tests/fuzz/fuzz.h"

#include "retype/legacy/cmt400.h"

#include <fcntl.h>
#include <unistd.h>

struct place {
	int32_t line;
	uint32_t start, end;
};

static const struct unit {
	const char *stem, *file;
	struct place places[8];
} units[] = {
	{"t1.cmt", "t1.ml", {{3, 7, 72}, {4, 8, 14}, {6, 25, 35}}},
	{"recty.cmt", "recty.ml", {{2, 7, 64}, {5, 33, 45}, {5, 52, 78}, {3, 8, 14}}},
	{"variants.cmt", "variants.ml",
		{{20, 28, 34}, {27, 25, 38}, {33, 9, 25}, {35, 14, 46}, {45, 13, 40}, {36, 57, 67},
			{52, 14, 36}}},
	{"objs.cmt", "objs.ml",
		{{15, 27, 37}, {30, 29, 53}, {33, 40, 46}, {39, 36, 42}, {47, 19, 35}, {56, 14, 97},
			{21, 14, 60}, {54, 14, 30}}},
};

static char folder[] = "/tmp/fuzz_cmt400.XXXXXX";
static char path[sizeof(folder) + 16];

static void remove_folder(void)
{
	unlink(path);
	rmdir(folder);
}

static void make_folder(void)
{
	static pid_t made_by;
	if (made_by == getpid())
		return;
	made_by = getpid();
	strcpy(folder, "/tmp/fuzz_cmt400.XXXXXX");
	CHECK(mkdtemp(folder));
	atexit(remove_folder);
}

static void write_unit(const struct unit *unit, const uint8_t *data, size_t size)
{
	unlink(path);
	snprintf(path, sizeof(path), "%s/%s", folder, unit->stem);
	FILE *file = fopen(path, "wb");
	CHECK(file);
	CHECK(fwrite(data, 1, size, file) == size);
	CHECK(fclose(file) == 0);
}

static void check_field(struct retype_types *types, const struct retype_field *field)
{
	char name[256];
	CHECK(field->name);
	CHECK(field->type.n < retype_term_count(types));
	retype_name(types, field->type, name, sizeof(name));
}

static void check_fields(
	struct retype_types *types, const struct retype_field *fields, uint32_t count)
{
	CHECK(fields || count == 0);
	for (uint32_t i = 0; i < count; i++)
		check_field(types, &fields[i]);
}

static void check_declarations(struct retype_types *types)
{
	for (uint32_t i = 0; i < types->declaration_count; i++) {
		const struct retype_declaration *d = &types->declarations[i];
		CHECK(d->name);
		CHECK(d->origin == RETYPE_NONE || d->origin < types->declaration_count);
		check_fields(types, d->fields, d->field_count);
		for (uint32_t j = 0; j < d->constructor_count; j++) {
			CHECK(d->constructors[j].name);
			check_fields(
				types, d->constructors[j].fields, d->constructors[j].field_count);
		}
	}
}

/* Blocks of some shapes, by the types of a place. */
static void fit_blocks(struct retype_types *types, struct retype_term type)
{
	static const unsigned tags[] = {0, 1, 246, 247, 248, 252};
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		for (uint64_t wosize = 1; wosize < 4; wosize++) {
			struct retype_fit fit = retype_find_fit(types, type, tags[i], wosize);
			check_fields(types, fit.fields, fit.field_count);
		}
}

static void check_places(struct retype_types *types)
{
	for (uint32_t i = 0; i < types->location_count; i++) {
		uint32_t count;
		const struct retype_location *place = &types->locations[i];
		const struct retype_made *made = retype_location_made(types, place, &count);
		CHECK(i == 0 || strcmp(place[-1].file, place->file) < 0 ||
			place[-1].line <= place->line);
		for (uint32_t j = 0; j < count; j++) {
			struct retype_field field = {.name = made[j].kind, .type = made[j].type};
			check_field(types, &field);
			fit_blocks(types, retype_instance(types, made[j].type, NULL, 0));
		}
	}
}

static void check_all(struct retype_types *types, const struct snap *snap)
{
	for (unsigned i = 0; i < snap->note_count; i++)
		check_line(snap->notes[i], 8192);
	check_declarations(types);
	for (uint32_t i = 0; i < types->unit_count; i++)
		check_fields(types, types->units[i].fields, types->units[i].field_count);
	for (uint32_t i = 0; i < types->extension_count; i++)
		check_fields(types, types->extensions[i].fields, types->extensions[i].field_count);
	for (uint32_t i = 0; i < types->layout_count; i++)
		check_fields(types, types->layouts[i].fields, types->layouts[i].field_count);
	check_places(types);
	CHECK(types->status == HG_OK);
}

static void add_places(struct snap *snap, const struct unit *unit)
{
	struct hg_error error;
	CHECK(snap_locations_init(&snap->locations, &error) == HG_OK);
	for (unsigned i = 0; i < 8 && unit->places[i].line; i++) {
		const struct place *place = &unit->places[i];
		struct snap_location location = {.file = unit->file,
			.line = place->line,
			.start = place->start,
			.end = place->end};
		uint32_t number;
		CHECK(snap_locations_add(&snap->locations, &location, &number, &error) == HG_OK);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hg_session session = {.threads = 1};
	struct snap snap = {.path = path, .session = &session};
	struct retype_types types;
	struct hg_error error;
	const char *source;
	if (size == 0)
		return 0;
	const struct unit *unit = &units[data[0] % 4];
	make_folder();
	write_unit(unit, data + 1, size - 1);
	base_error_clear(&error);
	add_places(&snap, unit);
	CHECK(retype_types_init(&types, &error) == HG_OK);
	/* In the folder nothing else is found. */
	int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(before >= 0 && chdir(folder) == 0);
	CHECK(retype_cmt400_read(&types, NULL, 0, &snap, &source, &error) == HG_OK);
	CHECK(fchdir(before) == 0 && close(before) == 0);
	check_all(&types, &snap);
	retype_types_release(&types);
	snap_locations_release(&snap.locations);
	base_pool_release(&snap.pool);
	return 0;
}
