/* Reading exe.prof: what the exporter wrote of tests/fixtures/types/small.ml, what leads to types,
 * and that files that are not as they should be are refused where they err. */
#include "tests/unit/retype/type_table.h"

#include "retype/profile/hgprof.h"
#include "retype/profile/owners.h"

#include "base/file.h"

#ifndef FIXTURES
#define FIXTURES "tests/fixtures"
#endif

struct profile {
	struct retype_types types;
	struct hg_error error;
	enum hg_status status;
	char *text;
};

static struct profile read_text(const char *text, size_t size)
{
	struct profile p = {0};
	/* A copy of just that size, so that tools see a byte read behind it. */
	p.text = malloc(size ? size : 1);
	assert_non_null(p.text);
	memcpy(p.text, text, size);
	return p;
}

static void profile_open(struct profile *p, const char *text, size_t size)
{
	*p = read_text(text, size);
	base_error_clear(&p->error);
	assert_int_equal(retype_types_init(&p->types, &p->error), HG_OK);
	p->status = retype_hgprof_read(&p->types, (const uint8_t *)p->text, size, &p->error);
}

static void profile_close(struct profile *p)
{
	retype_types_release(&p->types);
	free(p->text);
}

static void open_small(struct profile *p)
{
	struct base_file file;
	struct hg_error error;
	assert_int_equal(base_file_open(&file, FIXTURES "/types/small.prof", 0, &error), HG_OK);
	profile_open(p, (const char *)file.bytes, file.size);
	base_file_close(&file);
	if (p->status != HG_OK)
		fail_msg("%s", p->error.message);
}

static const char *name_of(struct profile *p, struct retype_term term)
{
	static char name[512];
	retype_name(&p->types, term, name, sizeof(name));
	return name;
}

static const struct retype_field *global(struct profile *p, const char *name)
{
	uint32_t number = retype_unit_named(&p->types, "Small");
	assert_int_not_equal(number, RETYPE_NONE);
	const struct retype_unit *unit = &p->types.units[number];
	/* The last one of that name: what is below may shadow what is above. */
	for (uint32_t i = unit->field_count; i-- > 0;)
		if (strcmp(unit->fields[i].name, name) == 0)
			return &unit->fields[i];
	fail_msg("no global %s", name);
	return NULL;
}

static void units_and_their_globals(void **state)
{
	static const char *const expected[][2] = {
		{"table", "(Small.colour * Small.point option) array"},
		{"tree", "string Small.tree"},
		{"More", "extension_constructor"},
		{"strings", "Small.Ordered(Small.Text).set"},
		{"shapes", "Small.shape list"},
		{"counter", "Small.counter"},
		{"apply", "f:(int -> _ * _ -> _) -> ?times:int -> _ -> (_ -> _) list"},
		{"Strings", "(module Small.Strings)"},
	};
	struct profile p;
	(void)state;
	open_small(&p);
	assert_string_equal(p.types.ocaml_version, "4.13.1");
	assert_int_equal(p.types.unit_count, 1);
	const struct retype_unit *unit = &p.types.units[0];
	assert_string_equal(unit->source, "small.ml");
	assert_int_equal(strlen(unit->crc), 32);
	assert_int_equal(unit->exported, 2);
	assert_false(unit->from_interface);
	for (unsigned i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		assert_string_equal(name_of(&p, global(&p, expected[i][0])->type), expected[i][1]);
	assert_int_equal(retype_unit_named(&p.types, "Smal"), RETYPE_NONE);
	/* Predefined types are those of the table. */
	struct retype_view view = retype_view_of(&p.types, global(&p, "tree")->type);
	assert_true(retype_is(view.arguments[0], retype_base(&p.types, "string")));
	profile_close(&p);
}

static void declarations_become_layouts(void **state)
{
	struct profile p;
	(void)state;
	open_small(&p);
	struct retype_types *types = &p.types;
	struct retype_fit fit = retype_find_fit(types, global(&p, "tree")->type, 0, 3);
	assert_int_equal(fit.match, RETYPE_FIELDS);
	assert_string_equal(fit.constructor, "Node");
	assert_string_equal(fit.fields[1].name, "value");
	assert_string_equal(name_of(&p, fit.fields[1].type), "string");
	assert_int_equal(fit.fields[2].mutability, RETYPE_MUTABLE);
	assert_int_equal(fit.fields[0].mutability, RETYPE_IMMUTABLE);
	struct retype_term strings = global(&p, "strings")->type;
	fit = retype_find_fit(types, strings, 0, 2);
	assert_string_equal(name_of(&p, fit.fields[0].type), "string");
	/* What a functor's body makes is what its instance is, when that is known. */
	struct retype_term body = NOTHING;
	for (uint32_t i = 0; i < types->declaration_count; i++)
		if (strcmp(types->declarations[i].name, "Small.Ordered.set") == 0)
			body = retype_constructed(types, i, NULL, 0);
	assert_false(retype_is(body, NOTHING));
	assert_true(retype_is(retype_join(types, body, strings, NULL), strings));
	struct retype_term shapes = global(&p, "shapes")->type;
	fit = retype_find_fit(types, shapes, 0, 2);
	assert_int_equal(retype_find_fit(types, fit.fields[0].type, 0, 2).match, RETYPE_TAGGED);
	assert_string_equal(name_of(&p, retype_tagged(types, fit.fields[0].type,
						retype_hash_name("Square"), NULL)),
		"int * int");
	struct retype_term table = retype_find_fit(types, global(&p, "table")->type, 0, 9).inner;
	struct retype_term point = retype_find_fit(types, table, 0, 2).fields[1].type;
	point = retype_find_fit(types, point, 0, 1).fields[0].type;
	assert_int_equal(retype_find_fit(types, point, 254, 2).match, RETYPE_LEAF);
	profile_close(&p);
}

static void extensions_functions_and_values(void **state)
{
	struct profile p;
	(void)state;
	open_small(&p);
	const struct retype_extension *extension =
		retype_extension_named(&p.types, "Small__Failed");
	assert_non_null(extension);
	assert_string_equal(extension->name, "Small.Failed");
	assert_string_equal(name_of(&p, extension->fields[0].type), "Small.colour list");
	assert_non_null(retype_extension_named(&p.types, "Small.More"));
	assert_null(retype_extension_named(&p.types, "Small.Mor"));
	assert_null(retype_extension_named(&p.types, "Small.Failed.More"));
	assert_null(retype_extension_named(&p.types, ""));
	const struct retype_function *function = retype_function_symbol(&p.types, "Small__add_31");
	assert_non_null(function);
	assert_ptr_equal(retype_function_symbol(&p.types, "Small.add_31"), function);
	assert_string_equal(function->file, "small.ml");
	assert_int_equal(function->line, 20);
	assert_int_equal(function->arity, 2);
	assert_int_equal(function->parameter_count, 2);
	assert_string_equal(name_of(&p, function->parameters[1]), "Small.Ordered.set");
	assert_null(retype_function_symbol(&p.types, "Small__add_3"));
	assert_null(retype_function_symbol(&p.types, "Small_add_31"));
	assert_null(retype_function_symbol(&p.types, "Small__fun"));
	assert_int_equal(p.types.functions[5].capture_count, 3);
	assert_string_equal(p.types.functions[5].captures[1].name, "times");
	const struct retype_value *value = p.types.values;
	while (value < p.types.values + p.types.value_count && strcmp(value->ident, "tree_66") != 0)
		value++;
	assert_true(value < p.types.values + p.types.value_count);
	assert_string_equal(name_of(&p, value->type), "string Small.tree");
	profile_close(&p);
}

static void check_made(struct profile *p, const struct retype_location *place, uint32_t i,
	const char *kind, const char *type)
{
	uint32_t count;
	assert_non_null(place);
	const struct retype_made *made = retype_location_made(&p->types, place, &count);
	assert_true(i < count);
	assert_string_equal(made[i].kind, kind);
	assert_string_equal(name_of(p, made[i].type), type);
	assert_int_equal(made[i].maker, retype_maker_of(kind));
	assert_ptr_equal(retype_location_made(&p->types, place, &count), made);
}

/* Of the words of the format only these say that a block is not made by the expression itself. */
static void makers(void **state)
{
	(void)state;
	assert_int_equal(retype_maker_of("tuple"), RETYPE_MADE_HERE);
	assert_int_equal(retype_maker_of("con.call"), RETYPE_MADE_HERE);
	assert_int_equal(retype_maker_of(""), RETYPE_MADE_HERE);
	assert_int_equal(retype_maker_of("con.prim.input_value"), RETYPE_MADE_HERE);
	assert_int_equal(retype_maker_of("call"), RETYPE_MADE_BY_CALL);
	assert_int_equal(retype_maker_of("prim.caml_make_vect"), RETYPE_MADE_BY_PRIMITIVE);
	assert_int_equal(retype_maker_of("prim.caml_input_value"), RETYPE_MADE_BY_READER);
	assert_int_equal(
		retype_maker_of("prim.caml_input_value_from_bytes"), RETYPE_MADE_BY_READER);
	assert_int_equal(retype_maker_of("prim.unmarshal"), RETYPE_MADE_BY_READER);
}

static void places(void **state)
{
	struct profile p;
	uint32_t count;
	(void)state;
	open_small(&p);
	const struct retype_location *place =
		retype_locations_at(&p.types, "small.ml", 43, 15, 56, false, &count);
	assert_int_equal(count, 1);
	check_made(&p, place, 0, "tuple", "Small.colour * Small.point option");
	assert_int_equal(place->function, RETYPE_NONE);
	place = retype_locations_at(&p.types, "small.ml", 32, 16, 23, true, &count);
	check_made(&p, place, 0, "con.::", "string list");
	place = retype_locations_at(&p.types, "small.ml", 20, 16, 30, true, &count);
	check_made(&p, place, 0, "con.Some_of", "Small.Ordered.set");
	assert_int_equal(place->function, 0);
	assert_null(retype_locations_at(&p.types, "small.ml", 20, 16, 31, true, &count));
	assert_int_equal(count, 0);
	assert_null(retype_locations_at(&p.types, "other.ml", 20, 16, 30, true, &count));
	assert_null(retype_locations_at(&p.types, "small.ml", 0, 0, 0, false, &count));
	profile_close(&p);
}

/* Profiles written here; '|' is a newline, the last line is added. */
static size_t written(const char *lines, char *text, size_t size)
{
	unsigned count = 1;
	size_t length = (size_t)snprintf(text, size, "hgprof 1 ocaml 5.3.0 word 64\n%s", lines);
	for (char *c = text; *c; c++)
		if (*c == '|')
			*c = '\n';
	for (char *c = text; *c; c++)
		count += *c == '\n' && c[1];
	return length + (size_t)snprintf(text + length, size - length, "z %u\n", count);
}

static void open_lines(struct profile *p, const char *lines)
{
	char text[8192];
	size_t size = written(lines, text, sizeof(text));
	profile_open(p, text, size);
}

static void open_good(struct profile *p, const char *lines)
{
	open_lines(p, lines);
	if (p->status != HG_OK)
		fail_msg("%s", p->error.message);
}

#define UNITS "u A - a.ml . cmt|u B__C - c.ml . cmi|"
#define STRINGS "t 0 c 0|D 0 string 0/0/0 B string|"

static void places_with_large_numbers(void **state)
{
	struct profile p;
	uint32_t count;
	(void)state;
	/* Two units with one file name, places out of order, several kinds at one place. */
	open_good(&p, UNITS STRINGS "f 1 x.ml B__C|f 0 x.ml A|f 2 y.ml A|"
				    "L 1 7 300 2000 9 1 @-1 tuple:0|"
				    "L 0 7 300 2000 9 1 @-1 array:0 con.%3a%3a:0|"
				    "L 2 1 1 1 1 1 @-1 call:0|"
				    "L 0 7 260 1500 9 1 @-1 closure:0|"
				    "L 0 2000000 3 4 2000000 4 @-1 lazy:0|"
				    "L 0 3 4 5 3 5 @-1 record:0|");
	retype_locations_at(&p.types, "x.ml", 7, 300, 2000, false, &count);
	assert_int_equal(count, 2);
	const struct retype_location *all =
		retype_locations_at(&p.types, "x.ml", 7, 255, 1023, true, &count);
	assert_int_equal(count, 3);
	check_made(&p, &all[0], 0, "closure", "string");
	check_made(&p, &all[1], 1, "con.::", "string");
	check_made(&p, &all[2], 0, "tuple", "string");
	assert_string_equal(p.types.units[all[2].unit].name, "B__C");
	check_made(&p, retype_locations_at(&p.types, "x.ml", 0xfffff, 3, 4, true, &count), 0,
		"lazy", "string");
	assert_null(retype_locations_at(&p.types, "x.ml", 0xfffff, 3, 4, false, &count));
	check_made(&p, retype_locations_at(&p.types, "x.ml", 3, 4, 5, false, &count), 0, "record",
		"string");
	check_made(&p, retype_locations_at(&p.types, "y.ml", 1, 1, 1, false, &count), 0, "call",
		"string");
	profile_close(&p);
}

/* Fields that readers of before skip: whose a unit is, and where what it has is defined. */
static void owners_and_definitions(void **state)
{
	struct profile p;
	(void)state;
	open_good(&p, "u A - a.ml . cmt own later|u B - b.ml . cmi lib|u C - c.ml . cmt|" STRINGS
		      "f 0 x.ml A|f 1 x.mly A|g A 1 x:0 y:0 z:0|d A 0:12 - 1:7|g B 1 x:0|"
		      "v A x_1 0 0:12 later|v A y_2 0 -|v A z_3 0|");
	const struct retype_unit *units = p.types.units;
	assert_int_equal(units[0].owner, RETYPE_OWN);
	assert_int_equal(units[1].owner, RETYPE_LIBRARY);
	assert_int_equal(units[2].owner, RETYPE_OWNER_UNTOLD);
	assert_int_equal(units[0].place_count, 3);
	assert_string_equal(units[0].places[0].file, "x.ml");
	assert_int_equal(units[0].places[0].line, 12);
	assert_null(units[0].places[1].file);
	assert_string_equal(units[0].places[2].file, "x.mly");
	assert_int_equal(units[0].places[2].line, 7);
	assert_int_equal(units[1].place_count, 0);
	assert_string_equal(p.types.values[0].place.file, "x.ml");
	assert_int_equal(p.types.values[0].place.line, 12);
	assert_null(p.types.values[1].place.file);
	assert_null(p.types.values[2].place.file);
	profile_close(&p);
}

/* Where a profile does not say it: by names, and by the folder of the unit that is linked last. */
static void owners_of_old_profiles(void **state)
{
	static const struct snap_unit linked[] = {{.name = "Stdlib"}, {.name = "Lib"},
		{.name = "Own"}, {.name = "Main"}, {.name = "Std_exit"}, {.name = "Plugin"}};
	static const struct {
		const char *unit;
		enum retype_owner owner;
	} expected[] = {{"CamlinternalFormat", RETYPE_LIBRARY}, {"Lib", RETYPE_LIBRARY},
		{"Main", RETYPE_OWN}, {"Own", RETYPE_OWN}, {"Plugin", RETYPE_LIBRARY},
		{"Said", RETYPE_OWN}, {"Std_exit", RETYPE_LIBRARY},
		{"Stdlib__List", RETYPE_LIBRARY}, {"Unfound", RETYPE_OWN}};
	struct snap snap = {.units = linked, .unit_count = sizeof(linked) / sizeof(*linked)};
	struct profile p;
	(void)state;
	open_good(&p,
		"u Main - main.ml /build/me cmt|u Lib - lib.ml /usr/src/lib cmt|"
		"u Own - own.ml /build/me cmt|u Plugin - p.ml /tmp/p cmt|"
		"u Said - said.ml /usr/src/lib cmt own|u Stdlib__List - list.ml /build/me cmt|"
		"u CamlinternalFormat - c.ml /build/me cmt|u Std_exit - e.ml /build/me cmt|"
		"u Unfound - % % none|");
	retype_find_owners(&p.types, &snap);
	assert_int_equal(p.types.unit_count, sizeof(expected) / sizeof(*expected));
	for (unsigned i = 0; i < p.types.unit_count; i++) {
		assert_string_equal(p.types.units[i].name, expected[i].unit);
		assert_int_equal(p.types.units[i].owner, expected[i].owner);
	}
	profile_close(&p);
	assert_true(retype_is_standard_file("list.ml"));
	assert_true(retype_is_standard_file("/build/stdlib/weak.ml"));
	assert_true(retype_is_standard_file("stdlib/arg.ml"));
	assert_false(retype_is_standard_file("list.mli"));
	assert_false(retype_is_standard_file("my_list.ml"));
	assert_false(retype_is_standard_file(""));
}

static void symbols_of_all_kinds(void **state)
{
	struct profile p;
	(void)state;
	open_good(&p,
		UNITS STRINGS "f 0 x.ml A|"
			      "F 0 A x'_12 0 1 0 1 1 1 1 0|F 1 A ++_13 0 1 1 2 1 2 1 0|"
			      "F 2 B__C _tmp__y_14 0 1 2 3 1 3 1 0|F 3 A d_1 0 1 3 4 1 4 1 0|"
			      "F 4 B__C fun 0 1 0 -1 1 -1 1 -|F 5 A %2e@_3 0 1 0 9 1 9 2 0,0 k:0|");
	assert_string_equal(retype_function_symbol(&p.types, "A__x$27_12")->ident, "x'_12");
	assert_string_equal(retype_function_symbol(&p.types, "A.$2b$2b_13")->ident, "++_13");
	assert_string_equal(
		retype_function_symbol(&p.types, "B__C___tmp__y_14")->ident, "_tmp__y_14");
	assert_string_equal(
		retype_function_symbol(&p.types, "B__C._tmp__y_14")->ident, "_tmp__y_14");
	assert_null(retype_function_symbol(&p.types, "B.C._tmp__y_14"));
	assert_null(retype_function_symbol(&p.types, "A_d_1"));
	assert_null(retype_function_symbol(&p.types, ""));
	assert_null(retype_function_symbol(&p.types, "B__C__fun"));
	assert_int_equal(retype_function_symbol(&p.types, "A__$2e$40_3")->parameter_count, 2);
	profile_close(&p);
}

/* Records of before have no types with variables. */
static void functions_with_variables(void **state)
{
	struct profile p;
	(void)state;
	open_good(&p, UNITS STRINGS "t 1 v 0|t 2 F % 1 1|t 3 T 1 1|t 4 e|f 0 x.ml A|"
				    "F 0 A f_1 0 1 0 1 1 1 1 4 x:4|G 0 2 x:3|"
				    "F 1 A g_2 0 2 0 1 1 1 1 4 x:4|");
	const struct retype_function *f = retype_function_symbol(&p.types, "A__f_1");
	const struct retype_function *g = retype_function_symbol(&p.types, "A__g_2");
	assert_false(retype_is_closed(&p.types, f->general));
	assert_false(retype_is_closed(&p.types, f->general_captures[0].type));
	assert_true(retype_is_closed(&p.types, f->captures[0].type));
	assert_int_equal(g->general.n, 0);
	assert_null(g->general_captures);
	profile_close(&p);
}

static int compare_hashes(const void *a, const void *b)
{
	return *(const int32_t *)a < *(const int32_t *)b ? -1 : 1;
}

static void classes_by_their_methods(void **state)
{
	struct profile p;
	(void)state;
	open_good(&p, STRINGS "C one get set ; x:0|C two set get ; x:0 y:m0|C other get ;|"
			      "C nothing ;|");
	int32_t hashes[] = {retype_hash_name("get"), retype_hash_name("set")};
	qsort(hashes, 2, sizeof(*hashes), compare_hashes);
	assert_string_equal(retype_class_of(&p.types, hashes, 2, 0)->name, "one");
	assert_string_equal(retype_class_of(&p.types, hashes, 2, 2)->name, "two");
	assert_null(retype_class_of(&p.types, hashes, 2, 3));
	int32_t get = retype_hash_name("get"), run = retype_hash_name("run");
	assert_string_equal(retype_class_of(&p.types, &get, 1, 5)->name, "other");
	assert_null(retype_class_of(&p.types, &run, 1, 0));
	assert_string_equal(retype_class_of(&p.types, NULL, 0, 0)->name, "nothing");
	profile_close(&p);
}

/* Where namesakes and classes with the same methods differ, no type is right. */
static void namesakes_have_what_all_have(void **state)
{
	struct profile p;
	(void)state;
	open_good(&p, STRINGS "t 1 T 0 0|x E %:0 a:0|x E %:1 b:0|x E %:1|x Test.E %:0|"
			      "C one get ; x:0 y:0|C two get ; z:0 y:1|C three get ; x:0|"
			      "C same put ; x:0|C same put ; x:0|");
	const struct retype_extension *extension = retype_extension_named(&p.types, "E");
	assert_int_equal(extension->field_count, 2);
	assert_string_equal(name_of(&p, extension->fields[0].type), "");
	assert_string_equal(name_of(&p, extension->fields[1].type), "string");
	assert_string_equal(extension->fields[1].name, "");
	extension = retype_extension_named(&p.types, "Test.E");
	assert_string_equal(name_of(&p, extension->fields[0].type), "string");
	int32_t get = retype_hash_name("get"), put = retype_hash_name("put");
	const struct retype_class *class = retype_class_of(&p.types, &get, 1, 2);
	assert_string_equal(class->name, "<object>");
	assert_string_equal(name_of(&p, class->fields[0].type), "string");
	assert_string_equal(class->fields[0].name, "");
	assert_string_equal(name_of(&p, class->fields[1].type), "");
	assert_string_equal(class->fields[1].name, "y");
	class = retype_class_of(&p.types, &get, 1, 1);
	assert_string_equal(class->name, "three");
	class = retype_class_of(&p.types, &put, 1, 1);
	assert_string_equal(class->name, "same");
	assert_string_equal(name_of(&p, class->fields[0].type), "string");
	profile_close(&p);
}

static void forms_of_declarations(void **state)
{
	struct profile p;
	(void)state;
	open_good(&p, "q what this is nobody knows yet|"
		      "t 5 c 7|t 0 v 0|t 1 c 2 4|t 2 ? because|t 3 T 0 0|t 4 c 0|"
		      "t 6 P A:4 B|t 7 O m:4 l:3|t 8 F ?l 4 5|t 9 M 0|t 10 e|t 11 c 6 6|"
		      "D 0 string 0/0/0 B string ignored|D 1 bool 0/1/0 V 2|k false c|k true c|"
		      "D 2 A.alias 1/2/0 A 3|D 3 A.unboxed 0/3/0 U Box 1|"
		      "D 4 A.file_descr 0/4/0 B int|D 5 A.gadt 1/5/0 V 3|"
		      "k First b = 4 ; %:0 %:0|rrr an unknown record|k Second c = 0 ;|"
		      "k With r = 0 ; a:m0 b:a0 c:0|"
		      "D 6 A.hidden 1/6/0 O no reason|D 7 exn 0/7/0 X|D 8 A.any 0/8/0 U Any 0 = 10|"
		      "m 0 A%20B f:5 g:8|");
	struct retype_types *types = &p.types;
	assert_string_equal(types->layouts[0].name, "A B");
	assert_string_equal(name_of(&p, types->layouts[0].fields[1].type), "?l:string -> exn");
	uint32_t first = retype_base_declaration("unknown") + 1;
	assert_int_equal(types->declaration_count, first + 6);
	const struct retype_declaration *d = &types->declarations[first];
	assert_int_equal(d[0].form, RETYPE_ALIAS);
	assert_string_equal(name_of(&p, d[0].inner), "'a * 'a");
	assert_int_equal(d[1].form, RETYPE_UNBOXED);
	assert_string_equal(d[1].unboxed.name, "Box");
	assert_int_equal(d[2].form, RETYPE_IMMEDIATE);
	assert_string_equal(d[2].base, "int");
	assert_int_equal(d[3].constructor_count, 3);
	assert_true(d[3].constructors[1].is_constant);
	assert_true(d[3].constructors[2].is_record);
	const struct retype_field *fields = d[3].constructors[2].fields;
	assert_int_equal(fields[0].mutability, RETYPE_MUTABLE);
	assert_int_equal(fields[1].mutability, RETYPE_ATOMIC_FIELD);
	assert_int_equal(fields[2].mutability, RETYPE_IMMUTABLE);
	assert_int_equal(d[3].constructors[0].field_count, 2);
	assert_int_equal(d[4].form, RETYPE_ABSTRACT);
	assert_true(d[5].unboxed.is_gadt);
	struct retype_term file = retype_constructed(types, first + 2, NULL, 0);
	assert_int_equal(retype_find_fit(types, file, 0, 1).match, RETYPE_MISFIT);
	struct retype_term unboxed = retype_constructed(types, first + 1, NULL, 0);
	struct retype_fit fit = retype_find_fit(types, unboxed, 0, 2);
	assert_int_equal(fit.match, RETYPE_FIELDS);
	assert_string_equal(name_of(&p, fit.fields[0].type), "string");
	profile_close(&p);
}

static void labels_of_tuples(void **state)
{
	struct profile p;
	(void)state;
	open_good(&p, "t 0 c 0|t 1 T 0 0|l x %|t 2 T 0 0|t 3 T 1 2|l % %|D 0 string 0/0/0 B string|"
		      "m 0 A f:1 g:2 h:3|");
	const struct retype_field *fields = p.types.layouts[0].fields;
	assert_string_equal(name_of(&p, fields[0].type), "x:string * string");
	assert_string_equal(name_of(&p, fields[1].type), "string * string");
	assert_string_equal(name_of(&p, fields[2].type), "(x:string * string) * (string * string)");
	profile_close(&p);
}

/* The type of some blocks of a type that is either of two, narrowed to what they look like. */
static void types_that_are_either(void **state)
{
	struct profile p;
	(void)state;
	open_good(&p, "t 0 c 0|t 1 v 0|t 2 O|t 3 c 1 0|t 4 c 1 5|t 5 e|t 6 c 2|t 7 c 1 8|t 8 c 3|"
		      "D 0 string 0/0/0 B string|D 1 A.slot 1/1/0 E 1 2|D 2 A.self 0/2/0 E 6 2|"
		      "D 3 int 0/3/0 B int|m 0 A f:3 g:4 h:6 i:7|");
	struct retype_types *types = &p.types;
	const struct retype_field *fields = types->layouts[0].fields;
	struct retype_term slot = fields[0].type;
	assert_string_equal(name_of(&p, slot), "string A.slot");
	assert_string_equal(name_of(&p, retype_alternatives(types, slot)), "(string | < >)");
	assert_int_equal(retype_find_fit(types, slot, 252, 1).match, RETYPE_LEAF);
	assert_int_equal(retype_find_fit(types, slot, 248, 2).match, RETYPE_INSTANCE);
	assert_int_equal(retype_find_fit(types, slot, 0, 2).match, RETYPE_MISFIT);
	/* Of what is not known, nothing is known. */
	assert_true(retype_is(retype_alternatives(types, fields[1].type), RETYPE_NOTHING));
	assert_int_equal(retype_find_fit(types, fields[1].type, 248, 2).match, RETYPE_UNTOLD);
	/* A type that is made of itself ends somewhere. */
	assert_int_equal(retype_find_fit(types, fields[2].type, 248, 2).match, RETYPE_INSTANCE);
	char name[32];
	retype_immediate(types, fields[3].type, 7, name, sizeof(name));
	assert_string_equal(name, "7");
	profile_close(&p);
}

/* Refused, at a line and with a message that has 'what' in it. */
static void refuse_text(const char *text, unsigned line, const char *what)
{
	struct profile p;
	char prefix[32];
	profile_open(&p, text, strlen(text));
	snprintf(prefix, sizeof(prefix), "line %u: ", line);
	assert_int_equal(p.status, HG_ERROR_INPUT);
	if (strncmp(p.error.message, prefix, strlen(prefix)) != 0 || !strstr(p.error.message, what))
		fail_msg("%s: '%s' does not say '%s%s'", text, p.error.message, prefix, what);
	assert_true(p.error.offset <= strlen(text));
	/* The end of the text belongs to its last line. */
	unsigned newlines = 1;
	for (size_t i = 0; i < p.error.offset; i++)
		newlines += text[i] == '\n' && text[i + 1];
	assert_int_equal(newlines, line);
	profile_close(&p);
}

static void refuse(const char *lines, unsigned line, const char *what)
{
	char text[8192];
	written(lines, text, sizeof(text));
	refuse_text(text, line, what);
}

static void bad_records(void **state)
{
	(void)state;
	refuse("t x c 0|", 2, "'x' is no number");
	refuse("t 1 e|", 2, "number 1, but there are only 1");
	refuse("t 0 e|t 0 e|", 3, "defines 0, as line 2 does");
	refuse("t 0 e|t 4294967295 e|", 3, "out of range");
	refuse("t 0 e|t 18446744073709551617 e|", 3, "out of range");
	refuse("t 0 c 1|D 0 a 0/0/0 X|", 2, "1 is out of range for a declaration, there are 1");
	refuse("t 0 T 0|", 2, "a part of itself");
	refuse("t 0 T 1|t 1 T 2|t 2 T 0|", 4, "a part of itself");
	refuse("t 0 T 7|", 2, "out of range for a term");
	refuse("t 0 F % 0|", 2, "a function without result");
	refuse("t 0 v 1024|", 2, "out of range for a parameter");
	refuse("t 0 y|", 2, "a term of unknown kind");
	refuse("t 0|", 2, "a term of no kind");
	refuse("t 0 M 0|", 2, "out of range for a layout");
	refuse("t 0 O a|", 2, "a name without a term");
	refuse("t 0 e|t 1 T 0 0|l x|", 4, "1 labels for 2 parts of a tuple");
	refuse("t 0 e|t 1 T 0|l x y|", 4, "2 labels for 1 parts of a tuple");
	refuse("t 0 e|t 1 T 0|l x%zz|", 4, "a bad escape");
	refuse("t 0 e|D 0 a 0/0/0 E 1|", 3, "out of range for a term");
	refuse("t 0 P a%zz|", 2, "a bad escape");
	refuse("t 0 P a%0|", 2, "a bad escape");
	refuse("t 0 P a%00|", 2, "a bad escape");
	refuse("D 0 a 0/0|", 2, "no PARAMS/ORIGIN/SPEC");
	refuse("D 0 a 0/0/0|", 2, "a declaration of no kind");
	refuse("D 0 a 5000/0/0 X|", 2, "out of range");
	refuse("D 0 a 0/0/0 B nonesuch|", 2, "no predefined representation");
	refuse("D 0 a 0/0/0 Q|", 2, "a declaration of unknown kind");
	refuse("D 0 a 0/0/0 V 2|k A c|D 1 b 0/1/0 V 1|k B c|", 4, "constructors of the type");
	refuse("D 0 a 0/0/0 V 4000000000|k A c|", 2, "out of range for a constructor");
	refuse("D 0 a 0/0/0 V 1|t 0 e|k A c|", 3, "constructors of the type");
	refuse("D 0 a 0/0/0 V 1|k A x|", 3, "a constructor of no kind");
	refuse("D 0 a 0/0/0 R x|", 2, "a field without a term");
	refuse("D 0 a 0/0/0 R x:m|t 0 e|", 2, "is no number");
	refuse("D 0 a 0/0/0 R x:ma0|t 0 e|", 2, "is no number");
	refuse("D 0 a 0/0/0 R x:1|t 0 e|", 2, "out of range for a term");
}

static void bad_uses(void **state)
{
	(void)state;
	refuse("u A|", 2, "a unit without CRC");
	refuse("u A 12 a . cmt|", 2, "a CRC is");
	refuse("g A 0|", 2, "the unit 'A' has no record u");
	refuse(UNITS "g A 1|", 4, "1 of 0 fields");
	refuse(UNITS "v A x_1 0|", 4, "out of range for a term");
	refuse(UNITS "f 0 a.ml D|", 4, "the unit 'D' has no record u");
	refuse(UNITS "F 0 A x 0 1 1 1 1 1 1 -|", 4, "out of range for a file");
	refuse(UNITS STRINGS "f 0 a A|F 0 A x 0 1 1 1 1 1 1 0,|", 7, "is no number");
	refuse(UNITS "d D -|", 4, "the unit 'D' has no record u");
	refuse(UNITS "d A 0:1|", 4, "out of range for a file");
	refuse(UNITS "f 0 a A|d A - 0:1 0|", 5, "a definition is FILE:LINE");
	refuse(UNITS "f 0 a A|d A 0:x|", 5, "is no number of a line");
	refuse(UNITS STRINGS "f 0 a A|v A x_1 0 0:4294967295|", 7, "out of range for a line");
	refuse("t 0 e|G 0 0|", 3, "out of range for a function");
	refuse(UNITS STRINGS "f 0 a A|F 0 A x 0 1 1 1 1 1 1 0 y:0|G 0 0|", 8,
		"0 captured variables of a function of 1");
	refuse(UNITS STRINGS "f 0 a A|F 0 A x 0 1 1 1 1 1 1 0 y:0|G 0 1 y:0|", 8,
		"out of range for a term");
	refuse("x A.E %:0|", 2, "out of range for a term");
	refuse("C c a b ; x|", 2, "a field without a term");
	refuse("L 0 1 1 1 1 1 @-1|", 2, "out of range for a file");
	refuse(UNITS "f 0 a A|L 0 1 1 1 1 @-1|", 5, "a place has six numbers");
	refuse(UNITS "f 0 a A|L 0 1 1 1 1 99999999999 @-1|", 5, "a place has six numbers");
	refuse(UNITS "f 0 a A|L 0 1 1 1 1 1 -1|", 5, "a place without its function");
	refuse(UNITS "f 0 a A|L 0 1 1 1 1 1 @0|", 5, "out of range for a function");
	refuse(UNITS "f 0 a A|L 0 1 1 1 1 1 @-1 tuple:0|", 5, "out of range for a term");
	refuse(UNITS "f 0 a A|L 0 1 1 1 1 1 @-1 tuple|", 5, "a kind without a term");
	refuse(UNITS "f 0 a A|L 0 1 1 1 1 1 @-1 tuple:x|", 5, "KIND:TERM");
}

static void bad_beginnings_and_ends(void **state)
{
	(void)state;
	refuse_text("", 1, "no profile");
	refuse_text("hgprof", 1, "no profile");
	refuse_text("hgprof 2 whatever\nz 1\n", 1, "format hgprof 2; this program reads hgprof 1");
	refuse_text("hgprof 1\nz 1\n", 1, "no version of OCaml");
	refuse_text("hgprof 1 ocaml 5.3.0 word 32\nz 1\n", 1, "32-bit words");
	refuse_text("hgprof 1 ocaml 5.3.0 word 64", 1, "cut short");
	refuse_text("hgprof 1 ocaml 5.3.0 word 64\n", 1, "cut short");
	refuse_text("hgprof 1 ocaml 5.3.0 word 64\nt 0 e\n", 2, "cut short");
	refuse_text("hgprof 1 ocaml 5.3.0 word 64\nt 0 e\nz 2", 3, "cut short");
	refuse_text("hgprof 1 ocaml 5.3.0 word 64\nt 0 e\nz 3\n", 3, "there are 2 lines");
	refuse_text("hgprof 1 ocaml 5.3.0 word 64\nz 1\nt 0 e\n", 3, "behind the line 'z'");
	assert_true(retype_is_hgprof((const uint8_t *)"hgprof 7", 8));
	assert_false(retype_is_hgprof((const uint8_t *)"hgprof x", 8));
	assert_false(retype_is_hgprof((const uint8_t *)"hgprof ", 7));
}

/* A profile that was cut anywhere is refused, and one with a byte changed is read or refused. */
static void cuts_and_changes(void **state)
{
	struct base_file file;
	struct hg_error error;
	struct profile p;
	(void)state;
	assert_int_equal(base_file_open(&file, FIXTURES "/types/small.prof", 0, &error), HG_OK);
	for (size_t size = 0; size < file.size; size++) {
		profile_open(&p, (const char *)file.bytes, size);
		assert_int_equal(p.status, HG_ERROR_INPUT);
		profile_close(&p);
	}
	char *changed = malloc(file.size);
	assert_non_null(changed);
	for (size_t at = 0; at < file.size; at++) {
		memcpy(changed, file.bytes, file.size);
		changed[at] = "0 :9-%\n"[at % 7];
		profile_open(&p, changed, file.size);
		assert_true(p.status == HG_OK || p.status == HG_ERROR_INPUT);
		profile_close(&p);
	}
	free(changed);
	base_file_close(&file);
}

/* Terms may be nested as deep as a file is long, in any order. */
static void deep_terms(void **state)
{
	enum { DEEP = 100000 };
	struct profile p;
	(void)state;
	for (unsigned order = 0; order < 2; order++) {
		size_t size = (size_t)DEEP * 24, length = 0;
		char *text = malloc(size);
		assert_non_null(text);
		length += (size_t)snprintf(
			text, size, "hgprof 1 ocaml 5.3.0 word 64\nt %u e\nu A - a . cmt\n", DEEP);
		for (unsigned i = 0; i < DEEP; i++)
			length += (size_t)snprintf(text + length, size - length, "t %u T %u\n",
				order ? DEEP - 1 - i : i, order ? DEEP - i : i + 1);
		length += (size_t)snprintf(
			text + length, size - length, "g A 1 deep:0\nz %u\n", DEEP + 4);
		profile_open(&p, text, length);
		assert_int_equal(p.status, HG_OK);
		const struct retype_field *deep = &p.types.units[0].fields[0];
		assert_int_equal(retype_find_fit(&p.types, deep->type, 0, 1).match, RETYPE_FIELDS);
		profile_close(&p);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_and_their_globals),
		cmocka_unit_test(declarations_become_layouts),
		cmocka_unit_test(extensions_functions_and_values),
		cmocka_unit_test(places),
		cmocka_unit_test(places_with_large_numbers),
		cmocka_unit_test(makers),
		cmocka_unit_test(owners_and_definitions),
		cmocka_unit_test(owners_of_old_profiles),
		cmocka_unit_test(functions_with_variables),
		cmocka_unit_test(symbols_of_all_kinds),
		cmocka_unit_test(classes_by_their_methods),
		cmocka_unit_test(namesakes_have_what_all_have),
		cmocka_unit_test(forms_of_declarations),
		cmocka_unit_test(labels_of_tuples),
		cmocka_unit_test(types_that_are_either),
		cmocka_unit_test(bad_records),
		cmocka_unit_test(bad_uses),
		cmocka_unit_test(bad_beginnings_and_ends),
		cmocka_unit_test(cuts_and_changes),
		cmocka_unit_test(deep_terms),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
