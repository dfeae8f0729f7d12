/*
 * The kinds of terms, each made of its parts.  Tags of poly variants are sorted by their hashes, as
 * the compiler sorts them, methods by their names; of equal names the first one stays.
 */
#include "retype/types/terms.h"

#include "retype/types/nodes.h"
#include "retype/types/strings.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

struct retype_term retype_variable(struct retype_types *types, uint32_t index)
{
	if (index >= RETYPE_MOST_VARIABLES)
		return RETYPE_NOTHING;
	return retype_make(types, RETYPE_VARIABLE, index, NULL, NULL, 0);
}

struct retype_term retype_constructed(struct retype_types *types, uint32_t declaration,
	const struct retype_term *arguments, uint32_t count)
{
	return retype_make(types, RETYPE_CONSTRUCTED, declaration, NULL, arguments, count);
}

struct retype_term retype_tuple(
	struct retype_types *types, const struct retype_term *parts, uint32_t count)
{
	return retype_make(types, RETYPE_TUPLE, 0, NULL, parts, count);
}

struct retype_term retype_labelled_tuple(struct retype_types *types, const char *const *labels,
	const struct retype_term *parts, uint32_t count)
{
	bool any = false;
	const char **names = calloc((size_t)count + 1, sizeof(*names));
	if (!names) {
		retype_keep_status(types, base_no_memory(types->error, count * sizeof(*names)));
		return RETYPE_NOTHING;
	}
	for (uint32_t i = 0; i < count; i++) {
		names[i] = retype_intern(types, labels[i], strlen(labels[i]));
		any |= labels[i][0] != '\0';
	}
	struct retype_term made =
		retype_make(types, RETYPE_TUPLE, 0, any ? names : NULL, parts, count);
	free(names);
	return made;
}

struct retype_term retype_arrow(struct retype_types *types, const char *label,
	struct retype_term parameter, struct retype_term result)
{
	const char *name = retype_intern(types, label, strlen(label));
	return retype_make(
		types, RETYPE_ARROW, 0, &name, (struct retype_term[]){parameter, result}, 2);
}

struct retype_term retype_module(struct retype_types *types, uint32_t layout)
{
	return retype_make(types, RETYPE_MODULE, layout, NULL, NULL, 0);
}

struct named {
	const char *name;
	int32_t hash;
	uint32_t order;
	struct retype_term term;
};

static int compare_tags(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	int names = strcmp(x->name, y->name);
	return names ? names : (x->order > y->order) - (x->order < y->order);
}

/* Poly variants (by hash) and objects (hashes 0: by name), each name once: what was given first. */
static struct retype_term make_named(
	struct retype_types *types, enum retype_kind kind, struct named *all, uint32_t count)
{
	uint32_t kept = 0;
	if (count > 0)
		qsort(all, count, sizeof(*all), compare_tags);
	for (uint32_t i = 1; i < count; i++)
		base_assert(compare_tags(&all[i - 1], &all[i]) < 0);
	for (uint32_t i = 0; i < count; i++)
		if (kept == 0 || all[kept - 1].name != all[i].name)
			all[kept++] = all[i];
	const char **names = calloc((size_t)kept + 1, sizeof(*names));
	struct retype_term *terms = calloc((size_t)kept + 1, sizeof(*terms));
	struct retype_term made = RETYPE_NOTHING;
	for (uint32_t i = 0; names && terms && i < kept; i++) {
		names[i] = all[i].name;
		terms[i] = all[i].term;
	}
	if (names && terms)
		made = retype_make(types, kind, 0, names, terms, kept);
	else
		retype_keep_status(types, base_no_memory(types->error, kept * sizeof(*names)));
	free(names);
	free(terms);
	return made;
}

static struct retype_term sort_named(struct retype_types *types, enum retype_kind kind,
	const char *const *names, const struct retype_term *terms, uint32_t count)
{
	struct named *all = calloc((size_t)count + 1, sizeof(*all));
	if (!all) {
		retype_keep_status(types, base_no_memory(types->error, count * sizeof(*all)));
		return RETYPE_NOTHING;
	}
	for (uint32_t i = 0; i < count; i++) {
		const char *name = retype_intern(types, names[i], strlen(names[i]));
		int32_t hash = kind == RETYPE_POLY_VARIANT ? retype_hash_name(name) : 0;
		all[i] = (struct named){name, hash, i, terms[i]};
	}
	struct retype_term made = make_named(types, kind, all, count);
	free(all);
	return made;
}

struct retype_term retype_poly_variant(struct retype_types *types, const char *const *tags,
	const struct retype_term *arguments, uint32_t count)
{
	return sort_named(types, RETYPE_POLY_VARIANT, tags, arguments, count);
}

struct retype_term retype_object(struct retype_types *types, const char *const *methods,
	const struct retype_term *results, uint32_t count)
{
	return sort_named(types, RETYPE_OBJECT, methods, results, count);
}

uint32_t retype_term_count(const struct retype_types *types)
{
	return (uint32_t)types->nodes->count;
}

bool retype_is_closed(const struct retype_types *types, struct retype_term term)
{
	return term.n < types->nodes->count && !types->nodes->all[term.n].is_open;
}

struct retype_view retype_view_of(const struct retype_types *types, struct retype_term term)
{
	const struct retype_node *node = retype_node_of(types, term);
	return (struct retype_view){
		.kind = (enum retype_kind)node->kind,
		.number = node->number,
		.count = node->count,
		.arguments = node->count ? types->nodes->arguments + node->first : NULL,
		.names = node->names,
	};
}

/* h * 223 + c over the bytes, 31 bits of it with their sign (Btype.hash_variant). */
int32_t retype_hash_name(const char *name)
{
	uint32_t hash = 0;
	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		hash = hash * 223 + *c;
	return (int32_t)(hash << 1) >> 1;
}
