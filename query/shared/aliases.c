/* Numbers that go by the same name: a list that is sorted by name and number. */
#include "query/shared/aliases.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

static int compare_aliases(const void *a, const void *b)
{
	const struct query_alias *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : (x->number > y->number) - (x->number < y->number);
}

enum hg_status query_aliases_add(struct hg_snapshot *snapshot, struct query_aliases *aliases,
	const char *name, uint32_t number)
{
	BASE_TRY(query_grow(snapshot, &aliases->all, aliases->count, &aliases->capacity,
		sizeof(*aliases->all)));
	char *copy = strdup(name);
	if (!copy)
		return base_no_memory(&snapshot->session->error, strlen(name));
	aliases->all[aliases->count++] = (struct query_alias){copy, number};
	return HG_OK;
}

void query_aliases_resolve(struct query_aliases *aliases, uint32_t *representative)
{
	const struct query_alias *all = aliases->all, *first = all;
	if (!all)
		return;
	qsort(aliases->all, aliases->count, sizeof(*all), compare_aliases);
	for (uint64_t i = 0; i < aliases->count; i++) {
		base_assert(strcmp(first->name, all[i].name) <= 0);
		if (strcmp(all[i].name, first->name) != 0)
			first = &all[i];
		base_assert(first->number <= all[i].number);
		representative[all[i].number] = first->number;
	}
}

void query_aliases_release(struct query_aliases *aliases)
{
	for (uint64_t i = 0; i < aliases->count; i++)
		free(aliases->all[i].name);
	free(aliases->all);
	*aliases = (struct query_aliases){0};
}
