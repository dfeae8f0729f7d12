/* Type expressions: that equal ones are one, what they are called, instances, and the join. */
#include "tests/unit/retype/type_table.h"

static void equal_terms_are_one(void **state)
{
	struct table t;
	(void)state;
	table_open(&t);
	struct retype_term string = base(&t, "string");
	assert_true(retype_is(list_of(&t, string), list_of(&t, string)));
	assert_false(retype_is(list_of(&t, string), list_of(&t, base(&t, "int"))));
	assert_false(retype_is(string, base(&t, "bytes")));
	assert_true(retype_is(base(&t, "nonesuch"), NOTHING));
	assert_int_equal(retype_base_declaration("nonesuch"), RETYPE_NONE);
	assert_false(retype_is(arrow(&t, "", string, string), arrow(&t, "l", string, string)));
	const char *const tags[] = {"B", "A", "B"}, *const ordered[] = {"A", "B"};
	struct retype_term arguments[] = {string, NOTHING, NOTHING};
	struct retype_term expected[] = {NOTHING, string};
	check_same(&t, retype_poly_variant(&t.types, tags, arguments, 3),
		retype_poly_variant(&t.types, ordered, expected, 2));
	check_same(&t, retype_object(&t.types, tags, arguments, 3),
		retype_object(&t.types, ordered, expected, 2));
	struct retype_view view = retype_view_of(&t.types, pair(&t, string, NOTHING));
	assert_int_equal(view.kind, RETYPE_TUPLE);
	assert_int_equal(view.count, 2);
	assert_true(retype_is(view.arguments[0], string));
	/* Arguments may be those of another term, wherever they are moved to. */
	struct retype_term term = pair(&t, string, base(&t, "int"));
	for (unsigned i = 0; i < 5000; i++) {
		struct retype_term inner = term;
		view = retype_view_of(&t.types, inner);
		term = retype_tuple(
			&t.types, (struct retype_term[]){inner, view.arguments[i % 2]}, 2);
		view = retype_view_of(&t.types, term);
		retype_constructed(&t.types, t.list, view.arguments, 2);
	}
	table_close(&t);
}

static void names_are_those_of_ocaml(void **state)
{
	struct table t;
	(void)state;
	table_open(&t);
	struct retype_term string = base(&t, "string"), integer = base(&t, "int");
	struct retype_term both = pair(&t, integer, string);
	struct retype_term function = arrow(&t, "", string, integer);
	check_name(&t, NOTHING, "");
	check_name(&t, RETYPE_TOO_MANY, "(...)");
	check_name(&t, list_of(&t, NOTHING), "_ list");
	check_name(&t, app2(&t, t.tree, string, list_of(&t, integer)),
		"(string, int list) Small.tree");
	check_name(&t, list_of(&t, both), "(int * string) list");
	check_name(&t, list_of(&t, function), "(string -> int) list");
	check_name(&t, pair(&t, both, function), "(int * string) * (string -> int)");
	check_name(
		&t, app2(&t, t.tree, both, function), "(int * string, string -> int) Small.tree");
	check_name(&t, arrow(&t, "", both, both), "int * string -> int * string");
	check_name(&t, arrow(&t, "", function, function), "(string -> int) -> string -> int");
	check_name(&t, arrow(&t, "f", function, base(&t, "unit")), "f:(string -> int) -> unit");
	check_name(&t, arrow(&t, "?f", app1(&t, t.option, function), base(&t, "unit")),
		"?f:(string -> int) -> unit");
	check_name(&t, arrow(&t, "?n", NOTHING, base(&t, "unit")), "?n:_ -> unit");
	check_name(&t, pair(&t, var(&t, 0), var(&t, 27)), "'a * 'a27");
	check_name(&t, retype_module(&t.types, t.layout_a), "(module Alpha)");
	const char *const names[] = {"set", "get"};
	struct retype_term parts[] = {arrow(&t, "", integer, base(&t, "unit")), integer};
	check_name(
		&t, retype_object(&t.types, names, parts, 2), "< get : int; set : int -> unit >");
	check_name(&t, retype_object(&t.types, NULL, NULL, 0), "< >");
	const char *const tags[] = {"A", "B"};
	check_name(&t,
		retype_poly_variant(&t.types, tags, (struct retype_term[]){integer, NOTHING}, 2),
		"[ `A of int | `B ]");
	/* The hash of the longer one is the smaller one. */
	const char *const words[] = {"Human", "Bot"};
	assert_true(retype_hash_name("Human") < retype_hash_name("Bot"));
	check_name(&t,
		retype_poly_variant(&t.types, words, (struct retype_term[]){integer, NOTHING}, 2),
		"[ `Bot | `Human of int ]");
	check_name(&t, list_of(&t, join(&t, string, integer)), "(int | string) list");
	const char *const labels[] = {"x", ""};
	struct retype_term labelled =
		retype_labelled_tuple(&t.types, labels, (struct retype_term[]){both, function}, 2);
	check_name(&t, list_of(&t, labelled), "(x:(int * string) * (string -> int)) list");
	check_name(&t, arrow(&t, "", join(&t, string, integer), integer), "(int | string) -> int");
	table_close(&t);
}

static void labels_tell_tuples_apart(void **state)
{
	struct table t;
	(void)state;
	table_open(&t);
	struct retype_term string = base(&t, "string"), integer = base(&t, "int");
	struct retype_term parts[] = {integer, var(&t, 0)}, others[] = {NOTHING, string};
	struct retype_term plain = pair(&t, integer, string);
	const char *const none[] = {"", ""}, *const xy[] = {"x", "y"}, *const x[] = {"x", ""};
	check_same(&t,
		retype_labelled_tuple(&t.types, none, (struct retype_term[]){integer, string}, 2),
		plain);
	struct retype_term open = retype_labelled_tuple(&t.types, xy, parts, 2);
	struct retype_term closed = retype_instance(&t.types, open, &string, 1);
	check_name(&t, closed, "x:int * y:string");
	check_name(&t, join(&t, closed, retype_labelled_tuple(&t.types, xy, others, 2)),
		"x:int * y:string");
	struct retype_term half = retype_labelled_tuple(&t.types, x, others, 2);
	check_name(&t, join(&t, join(&t, closed, half), plain),
		"((int * string) | (x:_ * string) | (x:int * y:string))");
	assert_true(retype_is(retype_bind(&t.types, open, plain), NOTHING));
	check_name(&t, retype_bind(&t.types, pair(&t, integer, var(&t, 0)), plain), "string");
	struct retype_fit fit = retype_find_fit(&t.types, closed, 0, 2);
	assert_int_equal(fit.match, RETYPE_FIELDS);
	assert_string_equal(fit.fields[1].name, "y");
	assert_string_equal(retype_find_fit(&t.types, plain, 0, 2).fields[1].name, "");
	table_close(&t);
}

static void long_names_are_cut(void **state)
{
	struct table t;
	char name[8192], small[8];
	(void)state;
	table_open(&t);
	struct retype_term term = base(&t, "int");
	for (unsigned i = 0; i < 100; i++)
		term = list_of(&t, term);
	check_name(&t, term, "... list list list list list list list list");
	/* 2^24 leaves, and each level has every level below it ten times. */
	for (unsigned i = 0; i < 24; i++) {
		struct retype_term ten[10];
		for (unsigned j = 0; j < 10; j++)
			ten[j] = term;
		term = retype_tuple(&t.types, ten, 10);
	}
	size_t length = retype_name(&t.types, term, name, sizeof(name));
	assert_true(length >= 2000 && length <= 3000);
	assert_non_null(strstr(name, "..."));
	assert_int_equal(retype_name(&t.types, base(&t, "nativeint"), small, sizeof(small)), 9);
	assert_string_equal(small, "nativei");
	assert_int_equal(retype_name(&t.types, base(&t, "int"), NULL, 0), 3);
	table_close(&t);
}

static unsigned depth_of(struct table *t, struct retype_term term)
{
	unsigned depth = 0;
	while (!retype_is(term, NOTHING)) {
		struct retype_view view = retype_view_of(&t->types, term);
		depth += view.kind != RETYPE_SET;
		term = view.count ? view.arguments[view.count - 1] : NOTHING;
	}
	return depth;
}

static void instances(void **state)
{
	struct table t;
	(void)state;
	table_open(&t);
	struct retype_term string = base(&t, "string"), integer = base(&t, "int");
	struct retype_term open =
		pair(&t, list_of(&t, var(&t, 0)), arrow(&t, "", var(&t, 1), string));
	struct retype_term arguments[] = {string, integer};
	check_name(
		&t, retype_instance(&t.types, open, arguments, 2), "string list * (int -> string)");
	check_name(
		&t, retype_instance(&t.types, open, arguments, 1), "string list * (_ -> string)");
	check_name(&t, retype_instance(&t.types, open, NULL, 0), "_ list * (_ -> string)");
	check_same(&t, retype_instance(&t.types, string, arguments, 2), string);
	check_same(&t, retype_instance(&t.types, var(&t, 1), arguments, 2), integer);
	/* A view's arguments can be passed as they are. */
	struct retype_view view = retype_view_of(&t.types, pair(&t, string, integer));
	check_name(&t, retype_instance(&t.types, open, view.arguments, view.count),
		"string list * (int -> string)");
	struct retype_term deep = list_of(&t, var(&t, 0)), closed = string;
	for (unsigned i = 0; i < 20; i++)
		deep = list_of(&t, deep);
	assert_int_equal(depth_of(&t, retype_instance(&t.types, deep, &closed, 1)), 22);
	for (unsigned i = 0; i < 1000; i++)
		closed = retype_instance(&t.types, list_of(&t, var(&t, 0)), &closed, 1);
	assert_int_equal(depth_of(&t, closed), RETYPE_DEEPEST);
	closed = retype_instance(&t.types, deep, &closed, 1);
	assert_int_equal(depth_of(&t, closed), RETYPE_DEEPEST);
	for (unsigned i = 0; i < 300; i++)
		deep = list_of(&t, deep);
	assert_int_equal(depth_of(&t, retype_instance(&t.types, deep, &string, 1)), RETYPE_DEEPEST);
	table_close(&t);
}

static void what_is_more_specific_wins(void **state)
{
	struct table t;
	bool conflict = false;
	(void)state;
	table_open(&t);
	struct retype_term string = base(&t, "string"), integer = base(&t, "int");
	struct retype_term ints = list_of(&t, integer), slot = base(&t, "extcon");
	check_same(&t, join(&t, list_of(&t, NOTHING), ints), ints);
	check_same(&t, join(&t, app0(&t, t.wrapped), ints), app0(&t, t.wrapped));
	check_same(&t, join(&t, app0(&t, t.wrapped), app0(&t, t.boxed)), app0(&t, t.boxed));
	check_same(&t, join(&t, ints, app0(&t, t.boxed)), app0(&t, t.boxed));
	check_same(&t, join(&t, app1(&t, t.set_1, string), app1(&t, t.body_set, NOTHING)),
		app1(&t, t.set_1, string));
	check_same(&t, join(&t, app0(&t, t.abstract_a), string), string);
	check_same(&t, join(&t, base(&t, "any"), string), string);
	check_same(&t, join(&t, slot, base(&t, "exn")), base(&t, "exn"));
	check_same(&t, join(&t, app0(&t, t.ext), slot), app0(&t, t.ext));
	check_same(&t, join(&t, app0(&t, t.words), list_of(&t, string)), list_of(&t, string));
	check_same(&t, join(&t, app1(&t, t.phantom, string), string), string);
	check_same(&t, join(&t, app1(&t, t.phantom, NOTHING), string), string);
	check_same(&t, join(&t, app0(&t, t.words), app0(&t, t.words)), app0(&t, t.words));
	retype_join(&t.types, app0(&t, t.self), app1(&t, t.grown, string), &conflict);
	check_name(&t, join(&t, app0(&t, t.abstract_a), app1(&t, t.abstract_b, string)),
		"(A.t | string B.t)");
	assert_false(conflict);
	retype_join(&t.types, app1(&t, t.set_1, string), app1(&t, t.body_set, NOTHING), &conflict);
	assert_false(conflict);
	uint32_t digest = retype_declare(&t.types, &(struct retype_declaration){.name = "Digest.t",
							   .base = "string",
							   .form = RETYPE_STRING,
							   .origin = RETYPE_NONE});
	check_same(&t, join(&t, list_of(&t, string), list_of(&t, app0(&t, digest))),
		list_of(&t, app0(&t, digest)));
	retype_join(&t.types, app0(&t, digest), string, &conflict);
	assert_false(conflict);
	retype_join(&t.types, app0(&t, digest), base(&t, "bytes"), &conflict);
	assert_true(conflict);
	conflict = false;
	retype_join(&t.types, app1(&t, t.set_1, string), app1(&t, t.set_2, NOTHING), &conflict);
	assert_true(conflict);
	table_close(&t);
}

static uint32_t declare_hidden(struct table *t, const char *name, const char *constructor)
{
	return retype_declare(&t->types, &(struct retype_declaration){.name = name,
						 .form = RETYPE_UNBOXED,
						 .parameters = 1,
						 .origin = RETYPE_NONE,
						 .unboxed = {.name = constructor},
						 .inner = app2(t, t->tree, var(t, 0), NOTHING)});
}

/* Abstract types that hide one type are seen as the first one; others do not go together. */
static void hidden_types_are_one(void **state)
{
	struct table t;
	bool conflict = false;
	(void)state;
	table_open(&t);
	struct retype_term string = base(&t, "string");
	uint32_t promise = declare_hidden(&t, "Lwt.t", "");
	uint32_t other = declare_hidden(&t, "Other.t", "Other");
	uint32_t resolver = declare_hidden(&t, "Lwt.u", "");
	struct retype_term seen = app1(&t, promise, string),
			   inside = app2(&t, t.tree, string, NOTHING);
	check_same(&t, join(&t, app1(&t, resolver, string), seen), seen);
	check_same(&t, join(&t, seen, inside), seen);
	check_same(&t, join(&t, app1(&t, resolver, string), inside), app1(&t, resolver, string));
	retype_join(&t.types, seen, app1(&t, resolver, string), &conflict);
	assert_false(conflict);
	retype_join(&t.types, seen, app1(&t, other, string), &conflict);
	assert_true(conflict);
	table_close(&t);
}

static void alternatives_are_kept_and_counted(void **state)
{
	struct table t;
	bool conflict = false;
	(void)state;
	table_open(&t);
	struct retype_term all[5] = {base(&t, "string"), list_of(&t, base(&t, "int")),
		base(&t, "float"), app1(&t, t.option, NOTHING), pair(&t, NOTHING, NOTHING)};
	struct retype_term set = NOTHING;
	for (unsigned i = 0; i < 4; i++)
		set = join(&t, set, all[i]);
	check_name(&t, set, "(float | int list | _ option | string)");
	check_same(&t, retype_join(&t.types, set, all[2], &conflict), set);
	assert_false(conflict);
	check_name(&t, join(&t, set, list_of(&t, base(&t, "string"))),
		"(float | (int | string) list | _ option | string)");
	check_same(&t, retype_join(&t.types, set, all[4], &conflict), RETYPE_TOO_MANY);
	assert_true(conflict);
	check_same(&t, join(&t, RETYPE_TOO_MANY, all[0]), RETYPE_TOO_MANY);
	const char *const left[] = {"A", "B"}, *const right[] = {"B", "C"};
	struct retype_term x =
		retype_poly_variant(&t.types, left, (struct retype_term[]){all[0], NOTHING}, 2);
	struct retype_term y = retype_poly_variant(
		&t.types, right, (struct retype_term[]){base(&t, "int"), NOTHING}, 2);
	conflict = false;
	check_name(&t, retype_join(&t.types, x, y, &conflict), "[ `A of string | `B of int | `C ]");
	check_name(&t,
		retype_join(&t.types, retype_object(&t.types, left, all, 2),
			retype_object(&t.types, right, all, 2), &conflict),
		"< A : string; B : (int list | string); C : int list >");
	assert_true(conflict);
	table_close(&t);
}

/* The laws */

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(random_state >> 33) % limit;
}

static struct retype_term random_term(struct table *t, unsigned depth, bool open);

static struct retype_term random_named(struct table *t, unsigned depth, bool open)
{
	static const char *const names[] = {"get", "set", "run", "stop"};
	const char *chosen[4];
	struct retype_term parts[4];
	uint32_t count = random_below(4);
	for (uint32_t i = 0; i < count; i++) {
		chosen[i] = names[random_below(4)];
		parts[i] = random_term(t, depth, open);
	}
	return random_below(2) ? retype_object(&t->types, chosen, parts, count)
			       : retype_poly_variant(&t->types, chosen, parts, count);
}

static struct retype_term random_leaf(struct table *t, bool open)
{
	static const char *const bases[] = {
		"int", "string", "float", "exn", "extcon", "any", "bytes"};
	const uint32_t declarations[] = {t->colour, t->point, t->wrapped, t->boxed, t->ext,
		t->abstract_a, t->words, t->self};
	/* Substitution does not go together with aliases, which a join replaces. */
	uint32_t choice = random_below(open ? 12 : 19);
	if (choice < 7)
		return base(t, bases[choice]);
	if (choice < 9)
		return retype_module(&t->types, choice == 7 ? t->layout_a : t->layout_b);
	if (choice == 9)
		return open ? var(t, random_below(2)) : NOTHING;
	if (choice == 10)
		return open ? NOTHING : RETYPE_TOO_MANY;
	return app0(t, declarations[random_below(open ? 5 : 8)]);
}

static struct retype_term random_term(struct table *t, unsigned depth, bool open)
{
	const uint32_t unary[] = {t->list, t->option, t->body_set, t->set_1, t->set_2,
		t->abstract_b, t->phantom, t->grown};
	if (depth == 0)
		return random_leaf(t, open);
	struct retype_term a = random_term(t, depth - 1, open);
	struct retype_term b = random_term(t, depth - 1, open);
	switch (random_below(8)) {
	case 0:
		return pair(t, a, b);
	case 1:
		return arrow(t, random_below(3) ? "" : "l", a, b);
	case 2:
		return random_named(t, depth - 1, open);
	case 3:
		return open ? list_of(t, a) : join(t, a, b);
	case 4:
		return random_leaf(t, open);
	case 5:
		return array_of(t, a);
	default:
		return app1(t, unary[random_below(open ? 6 : 8)], a);
	}
}

static void check_laws(
	struct table *t, struct retype_term x, struct retype_term y, struct retype_term z)
{
	struct retype_term xy = join(t, x, y);
	check_same(t, join(t, x, x), x);
	check_same(t, xy, join(t, y, x));
	check_same(t, join(t, xy, z), join(t, x, join(t, y, z)));
	check_same(t, join(t, xy, x), xy);
	check_same(t, join(t, xy, y), xy);
	check_same(t, join(t, x, NOTHING), x);
	check_same(t, join(t, RETYPE_TOO_MANY, x), RETYPE_TOO_MANY);
}

static void join_is_a_join(void **state)
{
	struct table t;
	(void)state;
	for (unsigned round = 0; round < 40; round++) {
		table_open(&t);
		random_state = round;
		/* Few shallow terms, of which many agree in part, and some deep ones. */
		for (unsigned i = 0; i < 1000; i++) {
			unsigned depth = i % 10 == 9 ? 5 : i % 4;
			check_laws(&t, random_term(&t, depth, false), random_term(&t, depth, false),
				random_term(&t, depth, false));
		}
		table_close(&t);
	}
}

/* Sets larger than what is kept, in every order, with all that may take another's place. */
static void order_does_not_matter(void **state)
{
	struct table t;
	(void)state;
	table_open(&t);
	random_state = 4711;
	for (unsigned i = 0; i < 3000; i++) {
		struct retype_term terms[8], joined[2] = {NOTHING, NOTHING};
		unsigned count = 2 + random_below(7);
		for (unsigned j = 0; j < count; j++)
			terms[j] = random_term(&t, random_below(2), false);
		for (unsigned j = 0; j < count; j++)
			joined[0] = join(&t, joined[0], terms[j]);
		for (unsigned j = count; j > 1; j--) {
			unsigned other = random_below(j);
			struct retype_term swapped = terms[j - 1];
			terms[j - 1] = terms[other];
			terms[other] = swapped;
		}
		struct retype_term half = NOTHING;
		for (unsigned j = 0; j < count; j++)
			if (j % 2)
				half = join(&t, terms[j], half);
			else
				joined[1] = join(&t, terms[j], joined[1]);
		joined[1] = join(&t, half, joined[1]);
		check_same(&t, joined[0], joined[1]);
	}
	table_close(&t);
}

static void result_does_not_depend_on_numbers(void **state)
{
	static const char *const expected = "(float | int list | string | (_ * _))";
	struct table t;
	(void)state;
	for (unsigned order = 0; order < 24; order++) {
		table_open(&t);
		struct retype_term set = NOTHING;
		unsigned left[4] = {0, 1, 2, 3}, choice = order;
		for (unsigned i = 0; i < 4; i++) {
			unsigned at = choice % (4 - i), made = left[at];
			choice /= 4 - i;
			for (unsigned j = at; j + 1 < 4 - i; j++)
				left[j] = left[j + 1];
			set = join(&t, set,
				made == 0   ? base(&t, "string")
				: made == 1 ? list_of(&t, base(&t, "int"))
				: made == 2 ? base(&t, "float")
					    : pair(&t, NOTHING, NOTHING));
		}
		check_name(&t, set, expected);
		table_close(&t);
	}
}

static void instances_of_joins_are_joins_of_instances(void **state)
{
	struct table t;
	(void)state;
	table_open(&t);
	random_state = 99;
	for (unsigned i = 0; i < 20000; i++) {
		struct retype_term open = random_term(&t, 3, true), x[2], y[2], both[2];
		for (unsigned j = 0; j < 2; j++) {
			x[j] = random_term(&t, 2, false);
			y[j] = random_term(&t, 2, false);
			both[j] = join(&t, x[j], y[j]);
		}
		check_same(&t, retype_instance(&t.types, open, both, 2),
			join(&t, retype_instance(&t.types, open, x, 2),
				retype_instance(&t.types, open, y, 2)));
	}
	table_close(&t);
}

static void depth_is_bounded(void **state)
{
	struct table t;
	(void)state;
	table_open(&t);
	struct retype_term x = base(&t, "int"), y = base(&t, "string"), z = NOTHING;
	/* As trees these have 2^RETYPE_DEEPEST leaves; deeper ones, from files, are cut. */
	for (unsigned i = 0; i < RETYPE_DEEPEST - 1; i++) {
		x = pair(&t, x, x);
		y = pair(&t, y, y);
		z = list_of(&t, z);
	}
	assert_int_equal(depth_of(&t, join(&t, x, y)), RETYPE_DEEPEST);
	check_laws(&t, x, y, z);
	for (unsigned i = 0; i < 500; i++) {
		x = pair(&t, x, x);
		y = pair(&t, y, y);
	}
	check_laws(&t, x, y, z);
	assert_int_equal(depth_of(&t, join(&t, x, y)), RETYPE_DEEPEST);
	/* An alias in a deep place that stands for something deeper. */
	struct retype_term alias = app0(&t, t.words), inner = list_of(&t, base(&t, "string"));
	struct retype_term other = list_of(&t, base(&t, "int"));
	for (unsigned i = 0; i < RETYPE_DEEPEST - 1; i++) {
		alias = app1(&t, t.option, alias);
		inner = app1(&t, t.option, inner);
		other = app1(&t, t.option, other);
	}
	check_name(&t, join(&t, app0(&t, t.words), list_of(&t, NOTHING)), "string list");
	assert_int_equal(depth_of(&t, join(&t, alias, other)), RETYPE_DEEPEST);
	check_laws(&t, alias, inner, other);
	check_laws(&t, other, alias, alias);
	table_close(&t);
}

/* Alternatives at the last position that is kept are all kept, beside what is cut. */
static void sets_have_no_depth(void **state)
{
	struct table t;
	(void)state;
	table_open(&t);
	struct retype_term deep = list_of(&t, list_of(&t, base(&t, "int")));
	struct retype_term term = pair(&t, NOTHING, join(&t, base(&t, "string"), deep));
	for (unsigned i = 0; i < RETYPE_DEEPEST - 2; i++)
		term = pair(&t, NOTHING, term);
	term = retype_instance(&t.types, term, NULL, 0);
	assert_int_equal(depth_of(&t, term), RETYPE_DEEPEST);
	for (unsigned i = 0; i < RETYPE_DEEPEST - 2; i++)
		term = retype_view_of(&t.types, term).arguments[1];
	check_name(&t, term, "_ * (_ list | string)");
	table_close(&t);
}

/* Unboxed types that are made of each other, and functors' bodies and instances that are unboxed:
 * nothing stands above itself, and the laws hold. */
static void odd_declarations(void **state)
{
	struct table t;
	(void)state;
	table_open(&t);
	uint32_t odd[6];
	for (unsigned i = 0; i < 6; i++) {
		char name[8];
		snprintf(name, sizeof(name), "Odd.%c", 'a' + (char)i);
		odd[i] =
			declare(&t, retype_intern(&t.types, name, strlen(name)), 0, RETYPE_UNBOXED);
	}
	declaration(&t, odd[0])->inner = app0(&t, odd[1]);
	declaration(&t, odd[1])->inner = app0(&t, odd[2]);
	declaration(&t, odd[2])->inner = app0(&t, odd[0]);
	declaration(&t, odd[3])->inner = app0(&t, odd[1]);
	declaration(&t, odd[4])->inner = base(&t, "string");
	declaration(&t, odd[5])->inner = list_of(&t, NOTHING);
	declaration(&t, odd[4])->origin = declaration(&t, odd[5])->origin = 99;
	declaration(&t, odd[4])->is_instance = true;
	struct retype_term terms[9] = {base(&t, "string"), list_of(&t, NOTHING), NOTHING};
	for (unsigned i = 0; i < 6; i++)
		terms[3 + i] = app0(&t, odd[i]);
	for (unsigned i = 0; i < 9 * 9 * 9; i++)
		check_laws(&t, terms[i % 9], terms[i / 9 % 9], terms[i / 81]);
	for (unsigned i = 0; i < 9; i++)
		retype_find_fit(&t.types, terms[i], 0, 2);
	assert_int_equal(retype_find_fit(&t.types, terms[3], 0, 2).match, RETYPE_UNTOLD);
	table_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_terms_are_one),
		cmocka_unit_test(names_are_those_of_ocaml),
		cmocka_unit_test(labels_tell_tuples_apart),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(instances),
		cmocka_unit_test(what_is_more_specific_wins),
		cmocka_unit_test(hidden_types_are_one),
		cmocka_unit_test(alternatives_are_kept_and_counted),
		cmocka_unit_test(join_is_a_join),
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(result_does_not_depend_on_numbers),
		cmocka_unit_test(instances_of_joins_are_joins_of_instances),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(sets_have_no_depth),
		cmocka_unit_test(odd_declarations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
