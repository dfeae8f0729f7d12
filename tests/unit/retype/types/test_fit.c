/* Which blocks are of a type, what their fields then are, and what integers stand for. */
#include "tests/unit/retype/type_table.h"

enum { TAG_LAZY = 246, TAG_CLOSURE, TAG_OBJECT, TAG_INFIX, TAG_FORWARD, TAG_ABSTRACT, TAG_STRING };
enum { TAG_DOUBLE = 253, TAG_DOUBLE_ARRAY, TAG_CUSTOM };

static struct retype_fit check_fit(struct table *t, struct retype_term term, unsigned tag,
	uint64_t wosize, enum retype_match match)
{
	struct retype_fit fit = retype_find_fit(&t->types, term, tag, wosize);
	if (fit.match != match) {
		char name[256];
		retype_name(&t->types, term, name, sizeof(name));
		fail_msg("%s, tag %u, %u words: %d is not %d", name, tag, (unsigned)wosize,
			(int)fit.match, (int)match);
	}
	assert_non_null(fit.constructor);
	return fit;
}

static void check_field(
	struct table *t, struct retype_fit fit, uint32_t i, const char *name, const char *type)
{
	assert_true(i < fit.field_count);
	assert_string_equal(fit.fields[i].name, name);
	check_name(t, fit.fields[i].type, type);
}

static void what_tags_tell(void **state)
{
	static const struct {
		const char *base;
		unsigned tag;
		uint64_t wosize;
		enum retype_match match;
	} cases[] = {
		{"int", 0, 1, RETYPE_MISFIT},
		{"unit", TAG_STRING, 1, RETYPE_MISFIT},
		{"string", TAG_STRING, 100, RETYPE_LEAF},
		{"bytes", TAG_STRING, 1, RETYPE_LEAF},
		{"string", 0, 1, RETYPE_MISFIT},
		{"float", TAG_DOUBLE, 1, RETYPE_LEAF},
		{"float", TAG_DOUBLE_ARRAY, 1, RETYPE_MISFIT},
		{"floatarray", TAG_DOUBLE_ARRAY, 7, RETYPE_LEAF},
		{"int64", TAG_CUSTOM, 2, RETYPE_LEAF},
		{"int64", TAG_STRING, 2, RETYPE_MISFIT},
		{"weak", TAG_ABSTRACT, 9, RETYPE_WEAKLY},
		{"ephemeron", TAG_ABSTRACT, 3, RETYPE_LEAF},
		{"weak", 0, 9, RETYPE_MISFIT},
		{"cont", 245, 2, RETYPE_LEAF},
		{"cont", 0, 2, RETYPE_MISFIT},
		{"any", 17, 3, RETYPE_UNTOLD},
		{"unknown", 17, 3, RETYPE_UNTOLD},
		{"object", TAG_OBJECT, 2, RETYPE_INSTANCE},
		{"object", 0, 2, RETYPE_MISFIT},
		{"exn", TAG_OBJECT, 2, RETYPE_EXTENSION},
		{"exn", TAG_OBJECT, 3, RETYPE_MISFIT},
		{"exn", 0, 4, RETYPE_EXTENSION},
		{"exn", 1, 4, RETYPE_MISFIT},
		{"extcon", TAG_OBJECT, 2, RETYPE_EXTENSION},
		{"extcon", 0, 2, RETYPE_MISFIT},
		{"array", 0, 1000, RETYPE_ELEMENTS},
		{"array", TAG_DOUBLE_ARRAY, 1000, RETYPE_LEAF},
		{"array", 1, 1000, RETYPE_MISFIT},
	};
	struct table t;
	(void)state;
	table_open(&t);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (unsigned again = 0; again < 2; again++)
			check_fit(&t, base(&t, cases[i].base), cases[i].tag, cases[i].wosize,
				cases[i].match);
	check_fit(&t, NOTHING, 0, 1, RETYPE_UNTOLD);
	check_fit(&t, RETYPE_TOO_MANY, 0, 1, RETYPE_UNTOLD);
	check_fit(&t, app0(&t, t.abstract_a), 3, 1, RETYPE_UNTOLD);
	check_fit(&t, app0(&t, t.self), 3, 1, RETYPE_UNTOLD);
	check_fit(&t, app1(&t, t.grown, NOTHING), 3, 1, RETYPE_UNTOLD);
	struct retype_term function = arrow(&t, "", NOTHING, NOTHING);
	check_fit(&t, function, TAG_CLOSURE, 4, RETYPE_FUNCTION);
	check_fit(&t, function, TAG_INFIX, 2, RETYPE_FUNCTION);
	check_fit(&t, function, 0, 4, RETYPE_MISFIT);
	/* Before OCaml 4.02 a slot was a block with its name. */
	t.types.is_400 = true;
	check_fit(&t, base(&t, "exn"), 0, 1, RETYPE_EXTENSION);
	check_fit(&t, base(&t, "extcon"), 0, 1, RETYPE_EXTENSION);
	check_fit(&t, base(&t, "exn"), TAG_OBJECT, 2, RETYPE_MISFIT);
	table_close(&t);
}

static void constructors_are_numbered_apart(void **state)
{
	struct table t;
	(void)state;
	table_open(&t);
	struct retype_term colour = app0(&t, t.colour), ints = list_of(&t, base(&t, "int"));
	struct retype_fit fit = check_fit(&t, colour, 0, 1, RETYPE_FIELDS);
	assert_string_equal(fit.constructor, "Rgb");
	check_field(&t, fit, 0, "", "int");
	fit = check_fit(&t, colour, 1, 2, RETYPE_FIELDS);
	assert_string_equal(fit.constructor, "Named");
	fit = check_fit(&t, colour, 2, 2, RETYPE_FIELDS);
	assert_string_equal(fit.constructor, "Tinted");
	check_field(&t, fit, 0, "by", "string");
	assert_int_equal(fit.fields[0].mutability, RETYPE_MUTABLE);
	check_fit(&t, colour, 3, 2, RETYPE_MISFIT);
	check_fit(&t, colour, 0, 2, RETYPE_MISFIT);
	fit = check_fit(&t, ints, 0, 2, RETYPE_FIELDS);
	assert_string_equal(fit.constructor, "::");
	check_field(&t, fit, 0, "", "int");
	check_field(&t, fit, 1, "", "int list");
	const struct retype_field *fields = fit.fields;
	assert_ptr_equal(retype_find_fit(&t.types, ints, 0, 2).fields, fields);
	table_close(&t);
}

static void records_tuples_and_modules(void **state)
{
	struct table t;
	(void)state;
	table_open(&t);
	struct retype_term string = base(&t, "string");
	struct retype_fit fit = check_fit(&t, app1(&t, t.tree, string), 0, 2, RETYPE_FIELDS);
	check_field(&t, fit, 0, "value", "string");
	check_field(&t, fit, 1, "below", "string Small.tree array");
	check_fit(&t, app1(&t, t.tree, string), 0, 3, RETYPE_MISFIT);
	fit = check_fit(&t, app0(&t, t.point), TAG_DOUBLE_ARRAY, 2, RETYPE_LEAF);
	check_field(&t, fit, 1, "y", "float");
	check_fit(&t, app0(&t, t.point), TAG_DOUBLE_ARRAY, 3, RETYPE_MISFIT);
	check_fit(&t, app0(&t, t.point), 0, 2, RETYPE_MISFIT);
	fit = check_fit(&t, pair(&t, string, NOTHING), 0, 2, RETYPE_FIELDS);
	check_field(&t, fit, 0, "", "string");
	check_field(&t, fit, 1, "", "");
	check_fit(&t, pair(&t, string, NOTHING), 0, 3, RETYPE_MISFIT);
	fit = check_fit(&t, retype_module(&t.types, t.layout_a), 0, 2, RETYPE_FIELDS);
	check_field(&t, fit, 0, "f", "string");
	check_fit(&t, retype_module(&t.types, t.layout_a), 0, 1, RETYPE_MISFIT);
	fit = check_fit(
		&t, app1(&t, retype_base_declaration("atomic"), string), 0, 1, RETYPE_FIELDS);
	check_field(&t, fit, 0, "", "string");
	/* Aliases and unboxed types are as what they stand for. */
	fit = check_fit(&t, app0(&t, t.words), 0, 2, RETYPE_FIELDS);
	check_field(&t, fit, 1, "", "string list");
	fit = check_fit(&t, app0(&t, t.boxed), 0, 2, RETYPE_FIELDS);
	check_field(&t, fit, 0, "", "int");
	check_fit(&t, app1(&t, t.phantom, string), TAG_STRING, 2, RETYPE_LEAF);
	table_close(&t);
}

static void arrays_and_lazies(void **state)
{
	struct table t;
	(void)state;
	table_open(&t);
	struct retype_term string = base(&t, "string"), floats = array_of(&t, base(&t, "float"));
	struct retype_fit fit = check_fit(&t, array_of(&t, string), 0, 3, RETYPE_ELEMENTS);
	check_same(&t, fit.inner, string);
	check_fit(&t, array_of(&t, string), TAG_DOUBLE_ARRAY, 3, RETYPE_MISFIT);
	check_fit(&t, floats, TAG_DOUBLE_ARRAY, 3, RETYPE_LEAF);
	check_fit(&t, array_of(&t, app0(&t, t.abstract_a)), TAG_DOUBLE_ARRAY, 3, RETYPE_LEAF);
	check_fit(&t, array_of(&t, app1(&t, t.phantom, base(&t, "float"))), TAG_DOUBLE_ARRAY, 3,
		RETYPE_LEAF);
	check_fit(&t, array_of(&t, join(&t, string, base(&t, "float"))), TAG_DOUBLE_ARRAY, 3,
		RETYPE_LEAF);
	check_fit(&t, array_of(&t, app0(&t, t.wrapped)), TAG_DOUBLE_ARRAY, 3, RETYPE_MISFIT);
	struct retype_term later = lazy_of(&t, string);
	fit = check_fit(&t, later, TAG_LAZY, 1, RETYPE_FIELDS);
	check_field(&t, fit, 0, "", "unit -> string");
	fit = check_fit(&t, later, TAG_FORWARD, 1, RETYPE_FIELDS);
	check_field(&t, fit, 0, "", "string");
	fit = check_fit(&t, later, 244, 1, RETYPE_FIELDS);
	check_field(&t, fit, 0, "", "unit -> string");
	fit = check_fit(&t, later, TAG_STRING, 5, RETYPE_INNER);
	check_same(&t, fit.inner, string);
	check_fit(&t, later, TAG_LAZY, 2, RETYPE_MISFIT);
	table_close(&t);
}

static void gadts_by_their_results(void **state)
{
	struct table t;
	(void)state;
	table_open(&t);
	struct retype_term integer = base(&t, "int"), string = base(&t, "string");
	struct retype_term of_int = app1(&t, t.expr, integer);
	struct retype_term of_pair = app1(&t, t.expr, pair(&t, integer, list_of(&t, string)));
	check_field(&t, check_fit(&t, of_int, 0, 1, RETYPE_FIELDS), 0, "", "int");
	check_fit(&t, of_int, 1, 2, RETYPE_MISFIT);
	struct retype_fit fit = check_fit(&t, of_pair, 1, 2, RETYPE_FIELDS);
	check_field(&t, fit, 0, "", "int Small.expr");
	check_field(&t, fit, 1, "", "string list Small.expr");
	check_fit(&t, of_pair, 0, 1, RETYPE_MISFIT);
	check_field(&t, check_fit(&t, of_pair, 2, 1, RETYPE_FIELDS), 0, "", "");
	/* What is not known, or may be equal to what it is not called, excludes nothing. */
	fit = check_fit(&t, app1(&t, t.expr, NOTHING), 1, 2, RETYPE_FIELDS);
	check_field(&t, fit, 1, "", "_ Small.expr");
	check_fit(&t, app1(&t, t.expr, app0(&t, t.abstract_a)), 0, 1, RETYPE_FIELDS);
	check_fit(&t, app1(&t, t.expr, join(&t, integer, string)), 1, 2, RETYPE_FIELDS);
	check_fit(&t, app1(&t, t.expr, app1(&t, t.phantom, integer)), 0, 1, RETYPE_FIELDS);
	check_fit(&t, app1(&t, t.expr, string), 0, 1, RETYPE_MISFIT);
	table_close(&t);
}

static void sets_fit_as_their_members_do(void **state)
{
	struct table t;
	(void)state;
	table_open(&t);
	struct retype_term string = base(&t, "string"), integer = base(&t, "int");
	struct retype_term set = join(&t, app1(&t, t.option, integer), base(&t, "float"));
	set = join(&t, set, app1(&t, t.set_1, string));
	struct retype_fit fit = check_fit(&t, set, 0, 1, RETYPE_FIELDS);
	assert_string_equal(fit.constructor, "");
	check_field(&t, fit, 0, "root", "(int | string)");
	check_fit(&t, set, TAG_DOUBLE, 1, RETYPE_LEAF);
	check_fit(&t, set, 1, 1, RETYPE_MISFIT);
	set = join(&t, array_of(&t, string), pair(&t, integer, NOTHING));
	fit = check_fit(&t, set, 0, 2, RETYPE_FIELDS);
	check_field(&t, fit, 0, "", "(int | string)");
	check_field(&t, fit, 1, "", "string");
	fit = check_fit(&t, set, 0, 3, RETYPE_ELEMENTS);
	check_same(&t, fit.inner, string);
	check_fit(&t, join(&t, app0(&t, t.abstract_a), app1(&t, t.abstract_b, string)), 0, 3,
		RETYPE_UNTOLD);
	table_close(&t);
}

static void poly_variants(void **state)
{
	struct table t;
	const char *name, *const tags[] = {"Circle", "Empty", "Square"};
	(void)state;
	table_open(&t);
	/* As OCaml computes them: (Obj.magic `Circle : int) and so on. */
	assert_int_equal(retype_hash_name("Empty"), 50834029);
	assert_int_equal(retype_hash_name("Triangle"), -411600152);
	assert_int_equal(retype_hash_name(""), 0);
	assert_int_equal(retype_hash_name("A"), 65);
	struct retype_term parts[] = {base(&t, "float"), NOTHING, base(&t, "string")};
	struct retype_term shape = retype_poly_variant(&t.types, tags, parts, 3);
	check_fit(&t, shape, 0, 2, RETYPE_TAGGED);
	check_fit(&t, shape, 0, 1, RETYPE_MISFIT);
	check_same(&t, retype_tagged(&t.types, shape, retype_hash_name("Square"), &name), parts[2]);
	assert_string_equal(name, "Square");
	check_same(&t, retype_tagged(&t.types, shape, 5, &name), NOTHING);
	assert_null(name);
	struct retype_term set = join(&t, shape, base(&t, "string"));
	check_same(&t, retype_tagged(&t.types, set, retype_hash_name("Circle"), NULL), parts[0]);
	check_fit(&t, set, 0, 2, RETYPE_TAGGED);
	table_close(&t);
}

static void check_immediate(
	struct table *t, struct retype_term term, int64_t value, const char *expected)
{
	char text[64];
	size_t length = retype_immediate(&t->types, term, value, text, sizeof(text));
	assert_string_equal(text, expected);
	assert_int_equal(length, strlen(expected));
}

static void immediates(void **state)
{
	struct table t;
	const char *const tags[] = {"Circle", "Empty"};
	(void)state;
	table_open(&t);
	struct retype_term integer = base(&t, "int");
	check_immediate(&t, integer, -42, "-42");
	check_immediate(&t, base(&t, "bool"), 0, "false");
	check_immediate(&t, base(&t, "bool"), 1, "true");
	check_immediate(&t, base(&t, "bool"), 2, "");
	check_immediate(&t, base(&t, "unit"), 0, "()");
	check_immediate(&t, base(&t, "char"), 'a', "'a'");
	check_immediate(&t, base(&t, "char"), '\'', "'\\''");
	check_immediate(&t, base(&t, "char"), '"', "'\"'");
	check_immediate(&t, base(&t, "char"), '\n', "'\\n'");
	check_immediate(&t, base(&t, "char"), 0, "'\\000'");
	check_immediate(&t, base(&t, "char"), 233, "'\\233'");
	check_immediate(&t, base(&t, "char"), 256, "");
	check_immediate(&t, app0(&t, t.colour), 0, "Red");
	check_immediate(&t, app0(&t, t.colour), 1, "Green");
	check_immediate(&t, app0(&t, t.colour), 2, "");
	check_immediate(&t, app0(&t, t.colour), -1, "");
	check_immediate(&t, list_of(&t, integer), 0, "[]");
	check_immediate(&t, app0(&t, t.boxed), 0, "[]");
	check_immediate(&t, app0(&t, t.words), 0, "[]");
	check_immediate(&t, lazy_of(&t, base(&t, "bool")), 1, "true");
	check_immediate(&t, app0(&t, t.self), 1, "");
	check_immediate(&t, base(&t, "string"), 1, "");
	check_immediate(&t, NOTHING, 1, "");
	check_immediate(&t, join(&t, app1(&t, t.option, integer), base(&t, "string")), 0, "None");
	struct retype_term shape =
		retype_poly_variant(&t.types, tags, (struct retype_term[]){integer, NOTHING}, 2);
	check_immediate(&t, shape, retype_hash_name("Empty"), "`Empty");
	check_immediate(&t, shape, 7, "");
	table_close(&t);
}

/* What an open type's variables stand for in an instance of it. */
static void instances_bind_variables(void **state)
{
	struct table t;
	(void)state;
	table_open(&t);
	struct retype_term integer = base(&t, "int"), string = base(&t, "string");
	struct retype_term words = app0(&t, t.words), listed = list_of(&t, string);
	struct retype_term from = var(&t, 0), to = var(&t, 1);
	struct retype_term open = arrow(&t, "", from, arrow(&t, "", list_of(&t, from), to));
	struct retype_term closed =
		arrow(&t, "", string, arrow(&t, "", list_of(&t, NOTHING), integer));
	struct retype_term bound = retype_bind(&t.types, open, closed);
	check_same(&t, retype_apply(&t.types, pair(&t, from, to), bound, RETYPE_DEEPEST),
		pair(&t, string, integer));
	/* An alias is what it stands for, and in the place of a variable it keeps its name. */
	bound = retype_bind(
		&t.types, arrow(&t, "", list_of(&t, from), to), arrow(&t, "", words, words));
	check_same(&t, retype_apply(&t.types, pair(&t, from, to), bound, RETYPE_DEEPEST),
		pair(&t, string, words));
	/* No instances: labels, other types, two types for one variable. */
	assert_int_equal(retype_bind(&t.types, arrow(&t, "l", from, to), closed).n, 0);
	assert_int_equal(retype_bind(&t.types, arrow(&t, "", listed, to), closed).n, 0);
	assert_int_equal(
		retype_bind(&t.types, arrow(&t, "", from, from), arrow(&t, "", string, integer)).n,
		0);
	/* What is several types tells nothing, and neither does what is not known. */
	struct retype_term several = join(&t, string, integer);
	bound = retype_bind(
		&t.types, arrow(&t, "", from, to), arrow(&t, "", list_of(&t, several), integer));
	check_same(&t, retype_apply(&t.types, pair(&t, from, to), bound, RETYPE_DEEPEST),
		pair(&t, NOTHING, integer));
	assert_int_equal(retype_bind(&t.types, open, arrow(&t, "", NOTHING, NOTHING)).n, 0);
	assert_int_equal(retype_bind(&t.types, arrow(&t, "", integer, string), closed).n, 0);
	/* Only the variables of what a closure has captured. */
	const struct retype_field captured[] = {{"", list_of(&t, to), false}};
	bound = retype_bind(&t.types, open, closed);
	bound = retype_narrow_bindings(&t.types, bound, captured, 1);
	check_same(&t, retype_apply(&t.types, pair(&t, from, to), bound, RETYPE_DEEPEST),
		pair(&t, NOTHING, integer));
	assert_int_equal(retype_narrow_bindings(&t.types, bound, captured, 0).n, 0);
	table_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_tags_tell),
		cmocka_unit_test(constructors_are_numbered_apart),
		cmocka_unit_test(records_tuples_and_modules),
		cmocka_unit_test(arrays_and_lazies),
		cmocka_unit_test(gadts_by_their_results),
		cmocka_unit_test(sets_fit_as_their_members_do),
		cmocka_unit_test(poly_variants),
		cmocka_unit_test(immediates),
		cmocka_unit_test(instances_bind_variables),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
