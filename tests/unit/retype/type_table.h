/*
 * A table of types for tests: some declarations of each form, and short names for making terms.
 */
#ifndef TESTS_UNIT_RETYPE_TYPE_TABLE_H
#define TESTS_UNIT_RETYPE_TYPE_TABLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "retype/types/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
	struct retype_types types;
	struct hg_error error;
	uint32_t option, list, colour, tree, point, wrapped, boxed, expr, ext, abstract_a,
		abstract_b, phantom, words, self, body_set, set_1, set_2, grown, layout_a, layout_b;
};

#define NOTHING RETYPE_NOTHING

static inline struct retype_term var(struct table *t, uint32_t i)
{
	return retype_variable(&t->types, i);
}

static inline struct retype_term app0(struct table *t, uint32_t declaration)
{
	return retype_constructed(&t->types, declaration, NULL, 0);
}

static inline struct retype_term app1(struct table *t, uint32_t declaration, struct retype_term a)
{
	return retype_constructed(&t->types, declaration, &a, 1);
}

static inline struct retype_term app2(
	struct table *t, uint32_t declaration, struct retype_term a, struct retype_term b)
{
	return retype_constructed(&t->types, declaration, (struct retype_term[]){a, b}, 2);
}

static inline struct retype_term base(struct table *t, const char *name)
{
	return retype_base(&t->types, name);
}

static inline struct retype_term pair(struct table *t, struct retype_term a, struct retype_term b)
{
	return retype_tuple(&t->types, (struct retype_term[]){a, b}, 2);
}

static inline struct retype_term list_of(struct table *t, struct retype_term a)
{
	return app1(t, t->list, a);
}

static inline struct retype_term array_of(struct table *t, struct retype_term a)
{
	return app1(t, retype_base_declaration("array"), a);
}

static inline struct retype_term lazy_of(struct table *t, struct retype_term a)
{
	return app1(t, retype_base_declaration("lazy"), a);
}

static inline struct retype_term arrow(
	struct table *t, const char *label, struct retype_term a, struct retype_term b)
{
	return retype_arrow(&t->types, label, a, b);
}

static inline struct retype_term join(struct table *t, struct retype_term a, struct retype_term b)
{
	return retype_join(&t->types, a, b, NULL);
}

static inline void *copied(struct table *t, const void *bytes, size_t size)
{
	void *memory;
	assert_int_equal(base_pool_alloc(&t->types.pool, 1, size, &memory, &t->error), HG_OK);
	memcpy(memory, bytes, size);
	return memory;
}

/* Fields, living as long as the table. */
#define FIELDS(t, ...)                                                                             \
	copied(t, (struct retype_field[]){__VA_ARGS__},                                            \
		sizeof((struct retype_field[]){__VA_ARGS__}))
#define CONSTRUCTORS(t, ...)                                                                       \
	copied(t, (struct retype_constructor[]){__VA_ARGS__},                                      \
		sizeof((struct retype_constructor[]){__VA_ARGS__}))
#define RESULT(t, ...)                                                                             \
	copied(t, (struct retype_term[]){__VA_ARGS__}, sizeof((struct retype_term[]){__VA_ARGS__}))

static inline uint32_t declare(
	struct table *t, const char *name, uint32_t parameters, enum retype_form form)
{
	return retype_declare(&t->types, &(struct retype_declaration){.name = name,
						 .parameters = parameters,
						 .form = form,
						 .origin = RETYPE_NONE});
}

static inline struct retype_declaration *declaration(struct table *t, uint32_t number)
{
	return &t->types.declarations[number];
}

static inline void declare_variants(struct table *t)
{
	struct retype_term integer = base(t, "int"), string = base(t, "string");
	struct retype_term a = var(t, 0);
	t->option = declare(t, "option", 1, RETYPE_VARIANT);
	declaration(t, t->option)->constructor_count = 2;
	declaration(t, t->option)->constructors =
		CONSTRUCTORS(t, {.name = "None", .is_constant = true},
			{.name = "Some", .field_count = 1, .fields = FIELDS(t, {"", a, false})});
	t->list = declare(t, "list", 1, RETYPE_VARIANT);
	declaration(t, t->list)->constructor_count = 2;
	declaration(t, t->list)->constructors = CONSTRUCTORS(t, {.name = "[]", .is_constant = true},
		{.name = "::",
			.field_count = 2,
			.fields = FIELDS(t, {"", a, false}, {"", app1(t, t->list, a), false})});
	t->colour = declare(t, "Small.colour", 0, RETYPE_VARIANT);
	declaration(t, t->colour)->constructor_count = 5;
	declaration(t, t->colour)->constructors = CONSTRUCTORS(t,
		{.name = "Red", .is_constant = true},
		{.name = "Rgb", .field_count = 1, .fields = FIELDS(t, {"", integer, false})},
		{.name = "Green", .is_constant = true},
		{.name = "Named",
			.field_count = 2,
			.fields = FIELDS(t, {"", string, false}, {"", integer, false})},
		{.name = "Tinted",
			.is_record = true,
			.field_count = 2,
			.fields = FIELDS(t, {"by", string, true}, {"like", integer, false})});
	t->tree = declare(t, "Small.tree", 1, RETYPE_RECORD);
	declaration(t, t->tree)->field_count = 2;
	declaration(t, t->tree)->fields =
		FIELDS(t, {"value", a, true}, {"below", array_of(t, app1(t, t->tree, a)), false});
	t->point = declare(t, "Small.point", 0, RETYPE_FLOAT_RECORD);
	declaration(t, t->point)->field_count = 2;
	declaration(t, t->point)->fields =
		FIELDS(t, {"x", base(t, "float"), false}, {"y", base(t, "float"), false});
}

/* type _ expr = Int : int -> int expr | Pair : 'a expr * 'b expr -> ('a * 'b) expr
 *             | Any : 'a -> 'b expr */
static inline void declare_gadt(struct table *t)
{
	struct retype_term a = var(t, 0), b = var(t, 1), integer = base(t, "int");
	t->expr = declare(t, "Small.expr", 1, RETYPE_VARIANT);
	declaration(t, t->expr)->constructor_count = 3;
	declaration(t, t->expr)->constructors = CONSTRUCTORS(t,
		{.name = "Int",
			.is_gadt = true,
			.result_count = 1,
			.result = RESULT(t, integer),
			.field_count = 1,
			.fields = FIELDS(t, {"", integer, false})},
		{.name = "Pair",
			.is_gadt = true,
			.result_count = 1,
			.result = RESULT(t, pair(t, a, b)),
			.field_count = 2,
			.fields = FIELDS(t, {"", app1(t, t->expr, a), false},
				{"", app1(t, t->expr, b), false})},
		{.name = "Any",
			.is_gadt = true,
			.result_count = 1,
			.result = RESULT(t, b),
			.field_count = 1,
			.fields = FIELDS(t, {"", a, false})});
}

static inline void declare_others(struct table *t)
{
	struct retype_term string = base(t, "string"), integer = base(t, "int");
	t->wrapped = declare(t, "Small.wrapped", 0, RETYPE_UNBOXED);
	declaration(t, t->wrapped)->inner = list_of(t, integer);
	t->boxed = declare(t, "Small.boxed", 0, RETYPE_UNBOXED);
	declaration(t, t->boxed)->inner = app0(t, t->wrapped);
	t->ext = declare(t, "Small.ext", 0, RETYPE_EXTENSIBLE);
	t->abstract_a = declare(t, "A.t", 0, RETYPE_ABSTRACT);
	t->abstract_b = declare(t, "B.t", 1, RETYPE_ABSTRACT);
	t->phantom = declare(t, "Small.phantom", 1, RETYPE_ALIAS);
	declaration(t, t->phantom)->inner = var(t, 0);
	t->words = declare(t, "Small.words", 0, RETYPE_ALIAS);
	declaration(t, t->words)->inner = list_of(t, string);
	t->self = declare(t, "Small.self", 0, RETYPE_ALIAS);
	declaration(t, t->self)->inner = app0(t, t->self);
	t->grown = declare(t, "Small.grown", 1, RETYPE_ALIAS);
	declaration(t, t->grown)->inner = app1(t, t->grown, list_of(t, var(t, 0)));
	uint32_t *const sets[] = {&t->body_set, &t->set_1, &t->set_2};
	static const char *const names[] = {"Set.Make.t", "Set.Make(String).t", "Set.Make(Int).t"};
	for (unsigned i = 0; i < 3; i++) {
		*sets[i] = declare(t, names[i], 1, RETYPE_RECORD);
		declaration(t, *sets[i])->origin = 77;
		declaration(t, *sets[i])->is_instance = i > 0;
		declaration(t, *sets[i])->field_count = 1;
		declaration(t, *sets[i])->fields = FIELDS(t, {"root", var(t, 0), false});
	}
	t->layout_a = retype_add_layout(&t->types,
		&(struct retype_layout){.name = "Alpha",
			.field_count = 2,
			.fields = FIELDS(t, {"f", string, false}, {"g", integer, false})});
	t->layout_b = retype_add_layout(&t->types, &(struct retype_layout){.name = "Beta"});
}

static inline void table_open(struct table *t)
{
	memset(t, 0, sizeof(*t));
	assert_int_equal(retype_types_init(&t->types, &t->error), HG_OK);
	declare_variants(t);
	declare_gadt(t);
	declare_others(t);
	assert_int_equal(t->types.status, HG_OK);
}

static inline void table_close(struct table *t)
{
	assert_int_equal(t->types.status, HG_OK);
	retype_types_release(&t->types);
}

static inline void check_name(struct table *t, struct retype_term term, const char *expected)
{
	char name[4096];
	size_t length = retype_name(&t->types, term, name, sizeof(name));
	assert_string_equal(name, expected);
	assert_int_equal(length, strlen(expected));
}

static inline void check_same(struct table *t, struct retype_term a, struct retype_term b)
{
	char left[4096], right[4096];
	if (retype_is(a, b))
		return;
	retype_name(&t->types, a, left, sizeof(left));
	retype_name(&t->types, b, right, sizeof(right));
	fail_msg("%s (%u) is not %s (%u)", left, a.n, right, b.n);
}

#endif
