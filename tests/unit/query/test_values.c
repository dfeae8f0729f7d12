/* Types and values through the public interface: a small core of a program whose source is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "heapgraph.h"

#include <stdlib.h>
#include <string.h>

#ifndef FIXTURES
#define FIXTURES "tests/fixtures"
#endif

#define CORE FIXTURES "/cores/tiny-4.13.1.core.zst"
#define PROFILE FIXTURES "/cores/tiny-4.13.1.prof.zst"
#define ITEM "{name = \"102\"; price = 102.; next = Some {name = \"51\"; price = 51.; next = None}}"

struct subject {
	struct hg_session *session;
	struct hg_snapshot *snapshot;
	hg_node item; /* number 102 */
};

static hg_node find_item(struct hg_snapshot *snapshot)
{
	struct hg_selection *selection;
	char text[256];
	hg_node found = HG_NO_NODE;
	assert_int_equal(hg_select(snapshot, "Tiny.item", &selection), HG_OK);
	assert_int_equal(selection->count, 200);
	for (size_t i = 0; i < selection->count; i++) {
		hg_value_text(snapshot, selection->nodes[i], NULL, text, sizeof(text));
		if (strncmp(text, "{name = \"102\";", 14) == 0)
			found = selection->nodes[i];
	}
	hg_selection_release(&selection);
	return found;
}

static int open_subject(void **state)
{
	struct subject *s = calloc(1, sizeof(*s));
	char path[] = PROFILE;
	struct hg_input input = {.size = sizeof(input), .path = CORE, .types = path};
	if (!s || hg_session_open(NULL, &s->session) != HG_OK ||
		hg_snapshot_open(s->session, &input, &s->snapshot) != HG_OK)
		return -1;
	/* What was given need not live until it is used. */
	memset(path, 'x', sizeof(path) - 1);
	if (hg_snapshot_analyse(s->snapshot) != HG_OK)
		return -1;
	s->item = find_item(s->snapshot);
	*state = s;
	return 0;
}

static int close_subject(void **state)
{
	struct subject *s = *state;
	hg_snapshot_close(s->snapshot);
	hg_session_close(s->session);
	free(s);
	return 0;
}

static void profiles_are_told_by_their_bytes(void **state)
{
	struct hg_session *session = ((struct subject *)*state)->session;
	enum hg_profile_kind kind;
	assert_int_equal(hg_identify_profile(session, PROFILE, &kind), HG_OK);
	assert_int_equal(kind, HG_PROFILE_TYPES);
	assert_int_equal(hg_identify_profile(session, FIXTURES "/v01/tiny/t1.prof", &kind), HG_OK);
	assert_int_equal(kind, HG_PROFILE_LOCATIONS);
	assert_int_equal(
		hg_identify_profile(session, "/nonexistent/exe.prof", &kind), HG_ERROR_INPUT);
	assert_string_equal(hg_session_error(session)->file, "/nonexistent/exe.prof");
}

static void types_can_be_required(void **state)
{
	struct hg_session *session = ((struct subject *)*state)->session;
	struct hg_input input = {.size = sizeof(input), .path = CORE, .require_types = true};
	struct hg_snapshot *snapshot;
	assert_int_equal(hg_snapshot_open(session, &input, &snapshot), HG_OK);
	assert_int_equal(hg_snapshot_analyse(snapshot), HG_ERROR_INPUT);
	hg_snapshot_close(snapshot);
}

static void assert_text(struct subject *s, struct hg_text_options options, const char *wanted)
{
	char text[256];
	options.size = sizeof(options);
	size_t length = hg_value_text(s->snapshot, s->item, &options, text, sizeof(text));
	assert_string_equal(text, wanted);
	assert_int_equal(length, strlen(wanted));
}

static void values_have_limits(void **state)
{
	struct subject *s = *state;
	assert_text(s, (struct hg_text_options){0}, ITEM);
	assert_text(s, (struct hg_text_options){.depth = 1},
		"{name = \"102\"; price = 102.; next = ...}");
	assert_text(s, (struct hg_text_options){.depth = 2},
		"{name = \"102\"; price = 102.; next = Some ...}");
	assert_text(s, (struct hg_text_options){.depth = 1, .most_bytes = 2},
		"{name = \"10\"...; price = 102.; next = ...}");
	assert_text(s, (struct hg_text_options){.most_parts = 1}, "{name = \"102\"; ...}");
	assert_text(s, (struct hg_text_options){.most_values = 2},
		"{name = \"102\"; price = 102.; ...}");
	assert_text(s, (struct hg_text_options){.redact = true},
		"{name = \"...\"; price = _; next = Some {name = \"...\"; price = _; next = "
		"None}}");
}

/* Every size gets the beginning, and a NUL. */
static void texts_are_cut_as_by_snprintf(void **state)
{
	struct subject *s = *state;
	char text[sizeof(ITEM) + 1];
	assert_int_equal(hg_value_text(s->snapshot, s->item, NULL, NULL, 0), strlen(ITEM));
	for (size_t size = 1; size <= sizeof(text); size++) {
		memset(text, '#', sizeof(text));
		assert_int_equal(
			hg_value_text(s->snapshot, s->item, NULL, text, size), strlen(ITEM));
		size_t shown = size - 1 < strlen(ITEM) ? size - 1 : strlen(ITEM);
		assert_memory_equal(text, ITEM, shown);
		assert_int_equal(text[shown], '\0');
		for (size_t i = shown + 1; i < sizeof(text); i++)
			assert_int_equal(text[i], '#');
	}
}

static void fields_have_names_and_values(void **state)
{
	static const char *const names[] = {".name", ".price", ".next"};
	static const char *const values[] = {
		"\"102\"", "102.", "Some {name = \"51\"; price = 51.; next = None}"};
	static const char *const types[] = {"string", "float", "Tiny.item option"};
	struct subject *s = *state;
	struct hg_object *object;
	char text[256];
	assert_int_equal(hg_describe_object(s->snapshot, s->item, 0, 0, &object), HG_OK);
	assert_int_equal(object->fields_count, 3);
	for (uint64_t i = 0; i < 3; i++) {
		hg_field_name(s->snapshot, s->item, i, text, sizeof(text));
		assert_string_equal(text, names[i]);
		hg_field_text(s->snapshot, s->item, i, NULL, text, sizeof(text));
		assert_string_equal(text, values[i]);
		hg_type_name(s->snapshot, object->fields[i]->type, text, sizeof(text));
		assert_string_equal(text, types[i]);
	}
	hg_node option = object->fields[2]->node;
	hg_object_release(&object);
	hg_field_name(s->snapshot, option, 0, text, sizeof(text));
	assert_string_equal(text, "Some.0");
	assert_int_equal(hg_field_name(s->snapshot, s->item, 3, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	assert_int_equal(hg_field_text(s->snapshot, s->item, 3, NULL, text, sizeof(text)), 0);
	assert_int_equal(
		hg_field_name(s->snapshot, hg_virtual_root(s->snapshot), 0, text, sizeof(text)), 0);
	assert_int_equal(hg_type_name(s->snapshot, UINT32_MAX, text, sizeof(text)), 0);
}

/* The number of the type of this name. */
static uint32_t type_named(struct hg_snapshot *snapshot, const char *name)
{
	struct hg_top *top;
	uint32_t type = 0;
	char text[256];
	assert_int_equal(hg_list_top(snapshot, HG_BY_TYPE, NULL, &top), HG_OK);
	for (size_t i = 0; i < top->count; i++) {
		hg_type_name(snapshot, top->rows[i]->id, text, sizeof(text));
		if (strcmp(text, name) == 0)
			type = top->rows[i]->id;
	}
	hg_top_release(&top);
	assert_int_not_equal(type, 0);
	return type;
}

/* Lines of tests/fixtures/cores/tiny.ml. */
static void places_are_lines_of_the_source(void **state)
{
	static const struct {
		const char *type, *all, *own;
	} expected[] = {
		{"Tiny.item", "tiny.ml:16", "tiny.ml:16"},
		/* Of a functor's instance: only the call is of the program. */
		{"Tiny.item Map.Make(String).t", "tiny.ml:18", "tiny.ml:18"},
		{"(int -> int) list ref", "tiny.ml:12", "tiny.ml:12"},
		{"(int -> int) list", "tiny.ml:19", "tiny.ml:19"},
		/* string_of_int in four lines. */
		{"string", "4 places", "4 places"},
	};
	struct subject *s = *state;
	char text[256];
	for (unsigned i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		uint32_t type = type_named(s->snapshot, expected[i].type);
		hg_made_at(s->snapshot, type, HG_MADE_ANYWHERE, 3, text, sizeof(text));
		assert_string_equal(text, expected[i].all);
		hg_made_at(s->snapshot, type, HG_MADE_IN_PROGRAM, 3, text, sizeof(text));
		assert_string_equal(text, expected[i].own);
		/* The second time. */
		hg_made_at(s->snapshot, type, HG_MADE_IN_PROGRAM, 3, text, sizeof(text));
		assert_string_equal(text, expected[i].own);
	}
	uint32_t strings = type_named(s->snapshot, "string");
	hg_made_at(s->snapshot, strings, HG_MADE_IN_PROGRAM, 0, text, sizeof(text));
	assert_string_equal(text, "tiny.ml:16;tiny.ml:17;tiny.ml:22;tiny.ml:30");
}

static void every_line_is_listed_once(void **state)
{
	struct subject *s = *state;
	struct hg_places *places;
	uint32_t type = type_named(s->snapshot, "Tiny.item Map.Make(String).t");
	bool library = false;
	assert_int_equal(hg_list_places(s->snapshot, type, &places), HG_OK);
	assert_true(places->count >= 5 && places->count <= 100);
	assert_int_equal(places->type, type);
	const struct hg_place *first = places->rows[0];
	assert_true(first->own && first->exact && !first->direct);
	assert_string_equal(first->kind, "call");
	for (size_t i = 0; i < places->count; i++) {
		const struct hg_place *row = places->rows[i];
		assert_int_equal(row->located_blocks, 0);
		assert_true(row->own == (strcmp(row->file, "tiny.ml") == 0));
		assert_true(row->own || strcmp(row->file, "map.ml") == 0);
		assert_false(row->own && library);
		library |= !row->own;
		for (size_t j = 0; j < i; j++)
			assert_false(places->rows[j]->line == row->line &&
				     strcmp(places->rows[j]->file, row->file) == 0);
	}
	hg_places_release(&places);
	assert_null(places);
}

static void closures_have_the_line_of_their_function(void **state)
{
	struct subject *s = *state;
	struct hg_selection *selection;
	char place[256], name[256];
	bool own;
	uint64_t found = 0;
	assert_int_equal(hg_select(s->snapshot, "type:^int -> int$", &selection), HG_OK);
	for (size_t i = 0; i < selection->count; i++) {
		hg_node node = selection->nodes[i];
		uint64_t code = hg_function_code(s->snapshot, node);
		assert_int_not_equal(code, 0);
		hg_code_name(s->snapshot, code, name, sizeof(name));
		if (strncmp(name, "Tiny.", 5) != 0)
			continue;
		hg_function_place(s->snapshot, node, place, sizeof(place), &own);
		assert_string_equal(place, "tiny.ml:19");
		assert_true(own);
		found++;
	}
	assert_int_equal(found, 20);
	hg_selection_release(&selection);
}

static void root_slots_point_to_matching_types(void **state)
{
	struct subject *s = *state;
	struct hg_root_slots *slots, *all;
	assert_int_equal(hg_list_root_slots(s->snapshot, "(", &slots), HG_ERROR_USAGE);
	assert_int_equal(hg_list_root_slots(s->snapshot, "no such", &slots), HG_OK);
	assert_int_equal(slots->count, 0);
	hg_root_slots_release(&slots);
	assert_int_equal(hg_list_root_slots(s->snapshot, NULL, &all), HG_OK);
	assert_int_equal(hg_list_root_slots(s->snapshot, "Tiny[.]item", &slots), HG_OK);
	assert_true(slots->count >= 1 && slots->count < all->count);
	assert_int_equal(slots->with_target, slots->count);
	for (size_t i = 0; i < slots->count; i++) {
		struct hg_block block;
		char name[256];
		block = *hg_describe_block(s->snapshot, slots->rows[i]->target);
		hg_type_name(s->snapshot, block.type, name, sizeof(name));
		assert_non_null(strstr(name, "Tiny.item"));
		assert_true(i == 0 ||
			    slots->rows[i - 1]->retained_bytes >= slots->rows[i]->retained_bytes);
	}
	hg_root_slots_release(&slots);
	hg_root_slots_release(&all);
	hg_root_slots_release(&all);
}

static void classes_are_of_matching_types(void **state)
{
	struct subject *s = *state;
	struct hg_top *top;
	char name[256];
	assert_int_equal(hg_list_top(s->snapshot, HG_BY_TYPE, "(", &top), HG_ERROR_USAGE);
	assert_int_equal(hg_list_top(s->snapshot, HG_BY_TYPE, "", &top), HG_ERROR_USAGE);
	assert_int_equal(hg_list_top(s->snapshot, HG_BY_TYPE, "no such", &top), HG_OK);
	assert_int_equal(top->count, 0);
	hg_top_release(&top);
	assert_int_equal(hg_list_top(s->snapshot, HG_BY_TYPE, "Tiny[.]item", &top), HG_OK);
	uint64_t blocks = 0;
	for (size_t i = 0; i < top->count; i++) {
		hg_class_name(s->snapshot, HG_BY_TYPE, top->rows[i]->id, name, sizeof(name));
		assert_non_null(strstr(name, "Tiny.item"));
		blocks += top->rows[i]->blocks;
	}
	assert_int_equal(blocks, top->blocks);
	hg_top_release(&top);
	/* Twice the same numbers: classes by two keys are kept. */
	for (unsigned again = 0; again < 2; again++) {
		uint32_t type, location;
		assert_int_equal(
			hg_list_top(s->snapshot, HG_BY_TYPE_LOCATION, "^Tiny[.]item$", &top),
			HG_OK);
		assert_int_equal(top->count, 1);
		assert_int_equal(top->rows[0]->blocks, 200);
		hg_class_parts(s->snapshot, top->rows[0]->id, &type, &location);
		hg_type_name(s->snapshot, type, name, sizeof(name));
		assert_string_equal(name, "Tiny.item");
		assert_int_equal(location, 0);
		hg_class_name(
			s->snapshot, HG_BY_TYPE_LOCATION, top->rows[0]->id, name, sizeof(name));
		assert_string_equal(name, "Tiny.item @ ");
		hg_top_release(&top);
	}
}

static void declared_types_are_all_typed_blocks(void **state)
{
	struct subject *s = *state;
	struct hg_types *types;
	const struct hg_totals *totals;
	char text[256];
	assert_int_equal(hg_count_totals(s->snapshot, &totals), HG_OK);
	assert_int_equal(hg_list_types(s->snapshot, false, &types), HG_OK);
	uint64_t blocks = 0, bytes = 0;
	bool found = false;
	for (size_t i = 0; i < types->count; i++) {
		uint32_t id = types->rows[i]->id;
		blocks += types->rows[i]->blocks;
		bytes += types->rows[i]->bytes;
		hg_declared_text(s->snapshot, id, HG_DECLARED_NAME, text, sizeof(text));
		if (strcmp(text, "Tiny.item") != 0)
			continue;
		found = true;
		hg_declared_text(s->snapshot, id, HG_DECLARED_KIND, text, sizeof(text));
		assert_string_equal(text, "record");
		assert_int_equal(hg_declared_text(s->snapshot, id, HG_DECLARED_UNIT, text, 3), 4);
		assert_string_equal(text, "Ti");
	}
	assert_true(found);
	assert_int_equal(blocks, totals->typed_blocks);
	assert_int_equal(bytes, totals->typed_bytes);
	hg_types_release(&types);
	hg_types_release(&types);
	assert_int_equal(
		hg_declared_text(s->snapshot, UINT32_MAX, HG_DECLARED_NAME, text, sizeof(text)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profiles_are_told_by_their_bytes),
		cmocka_unit_test(types_can_be_required),
		cmocka_unit_test(values_have_limits),
		cmocka_unit_test(texts_are_cut_as_by_snprintf),
		cmocka_unit_test(fields_have_names_and_values),
		cmocka_unit_test(places_are_lines_of_the_source),
		cmocka_unit_test(every_line_is_listed_once),
		cmocka_unit_test(closures_have_the_line_of_their_function),
		cmocka_unit_test(root_slots_point_to_matching_types),
		cmocka_unit_test(classes_are_of_matching_types),
		cmocka_unit_test(declared_types_are_all_typed_blocks),
	};
	return cmocka_run_group_tests(tests, open_subject, close_subject);
}
