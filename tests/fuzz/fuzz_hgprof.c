/*
 * Profiles of types.  Input: one byte, then a profile; without bit 0 in that byte, only what is
 * between its first and its last line, which are added.
 */
#include "tests/fuzz/fuzz.h"

#include "retype/profile/hgprof.h"

enum { WHOLE = 1, MOST_TERMS = 24, MOST_PLACES = 200 };

static size_t complete(const uint8_t *data, size_t size, char **text)
{
	static const char first[] = "hgprof 1 ocaml 5.3.0 word 64\n";
	size_t length = sizeof(first) - 1, lines = 1;
	*text = malloc(size + 128);
	CHECK(*text);
	memcpy(*text, first, length);
	memcpy(*text + length, data, size);
	length += size;
	if ((*text)[length - 1] != '\n')
		(*text)[length++] = '\n';
	for (size_t i = sizeof(first) - 1; i < length; i++)
		lines += (*text)[i] == '\n';
	return length + (size_t)snprintf(*text + length, 64, "z %zu\n", lines);
}

static void check_name(const struct retype_types *types, struct retype_term term)
{
	char name[4096];
	size_t length = retype_name(types, term, name, sizeof(name));
	CHECK(strlen(name) == (length < sizeof(name) ? length : sizeof(name) - 1));
	CHECK((length == 0) == retype_is(term, RETYPE_NOTHING));
}

static bool is_field_match(enum retype_match match)
{
	return match == RETYPE_FIELDS || match == RETYPE_LEAF;
}

static void fit_all(struct retype_types *types, struct retype_term term)
{
	static const unsigned tags[] = {
		0, 1, 2, 244, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255};
	char text[64];
	for (unsigned i = 0; i < sizeof(tags) / sizeof(*tags); i++)
		for (uint64_t wosize = 1; wosize < 5; wosize++) {
			struct retype_fit fit = retype_find_fit(types, term, tags[i], wosize);
			CHECK(fit.constructor);
			CHECK(fit.field_count == 0 || is_field_match(fit.match));
			CHECK(fit.field_count <= wosize);
			for (uint32_t f = 0; f < fit.field_count; f++)
				check_name(types, fit.fields[f].type);
			if (fit.match == RETYPE_TAGGED)
				retype_tagged(types, term, (int64_t)wosize, NULL);
		}
	for (int64_t value = -1; value < 4; value++)
		CHECK(retype_immediate(types, term, value, text, sizeof(text)) < 10000);
}

/* Instances of terms are closed and not too deep; of these a join is a join. */
static void join_all(struct retype_types *types)
{
	uint32_t count = retype_term_count(types);
	uint32_t step = count / MOST_TERMS + 1, closed_count = 0;
	struct retype_term closed[MOST_TERMS + 2];
	for (uint32_t n = 0; n < count && closed_count < MOST_TERMS; n += step)
		closed[closed_count++] = retype_instance(types, (struct retype_term){n}, NULL, 0);
	for (uint32_t i = 0; i < closed_count; i++) {
		check_name(types, closed[i]);
		CHECK(retype_is(retype_instance(types, closed[i], NULL, 0), closed[i]));
		fit_all(types, closed[i]);
		for (uint32_t j = 0; j <= i; j++) {
			struct retype_term both = retype_join(types, closed[i], closed[j], NULL);
			check_name(types, both);
			CHECK(retype_is(both, retype_join(types, closed[j], closed[i], NULL)));
			struct retype_term third = closed[(i + j) / 2], other;
			other = retype_join(types, closed[j], third, NULL);
			CHECK(retype_is(retype_join(types, both, third, NULL),
				retype_join(types, closed[i], other, NULL)));
		}
	}
}

/* What variables of functions stand for puts closed terms in their places. */
static void bind_all(struct retype_types *types)
{
	uint32_t count = retype_term_count(types), step = count / MOST_TERMS + 1;
	for (uint32_t i = 0; i < types->function_count && i < MOST_TERMS; i++) {
		const struct retype_function *f = &types->functions[i];
		CHECK((f->general.n == 0) || f->capture_count == 0 || f->general_captures);
		for (uint32_t n = 0; f->general.n && n < count; n += step) {
			struct retype_term closed =
				retype_instance(types, (struct retype_term){n}, NULL, 0);
			struct retype_term bound = retype_bind(types, f->general, closed);
			CHECK(retype_is_closed(types, bound));
			for (uint32_t c = 0; bound.n && c < f->capture_count && c < 4; c++)
				CHECK(retype_is_closed(
					types, retype_apply(types, f->general_captures[c].type,
						       bound, RETYPE_DEEPEST)));
			if (bound.n)
				bound = retype_narrow_bindings(
					types, bound, f->general_captures, f->capture_count);
			CHECK(retype_is_closed(types, bound));
		}
	}
}

static void look_up_all(struct retype_types *types)
{
	for (uint32_t i = 0; i < types->unit_count; i++)
		CHECK(retype_unit_named(types, types->units[i].name) != RETYPE_NONE);
	for (uint32_t i = 0; i < types->extension_count && i < 50; i++)
		CHECK(retype_extension_named(types, types->extensions[i].name));
	for (uint32_t i = 0; i < types->function_count; i++) {
		char symbol[600];
		snprintf(symbol, sizeof(symbol), "%s.%s",
			types->units[types->functions[i].unit].name, types->functions[i].ident);
		const struct retype_function *found = retype_function_symbol(types, symbol);
		CHECK(!found || found->unit < types->unit_count);
	}
	retype_class_of(types, NULL, 0, 0);
	for (uint32_t i = 0; i < types->location_count && i < MOST_PLACES; i++) {
		const struct retype_location *place = &types->locations[i];
		uint32_t count, made_count;
		CHECK(retype_locations_at(
			types, place->file, place->line, place->start, place->end, i % 2, &count));
		CHECK(count > 0);
		const struct retype_made *made = retype_location_made(types, place, &made_count);
		for (uint32_t j = 0; j < made_count; j++)
			check_name(types, made[j].type);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct retype_types types;
	struct hg_error error;
	char *text = NULL;
	if (size == 0)
		return 0;
	bool whole = data[0] & WHOLE;
	const uint8_t *bytes = data + 1;
	size--;
	if (!whole) {
		size = complete(bytes, size, &text);
		bytes = (const uint8_t *)text;
	}
	base_error_clear(&error);
	CHECK(retype_types_init(&types, &error) == HG_OK);
	enum hg_status status = retype_hgprof_read(&types, bytes, size, &error);
	CHECK(status == HG_OK || status == HG_ERROR_INPUT);
	if (status == HG_OK) {
		join_all(&types);
		bind_all(&types);
		look_up_all(&types);
		CHECK(types.status == HG_OK);
	} else {
		check_line(error.message, sizeof(error.message));
		CHECK(error.offset <= size);
	}
	retype_types_release(&types);
	free(text);
	return 0;
}
