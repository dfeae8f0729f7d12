/*
 * Numbers that go by the same name: the lowest one stands for all of them.
 */
#ifndef QUERY_SHARED_ALIASES_H
#define QUERY_SHARED_ALIASES_H

#include "query/shared/query.h"

struct query_alias {
	char *name;
	uint32_t number;
};

/* Zeros are an empty list. */
struct query_aliases {
	struct query_alias *all;
	uint64_t count, capacity;
};

enum hg_status query_aliases_add(struct hg_snapshot *snapshot, struct query_aliases *aliases,
	const char *name, uint32_t number);

/* Sets representative[number] for each number of the list. */
void query_aliases_resolve(struct query_aliases *aliases, uint32_t *representative);

void query_aliases_release(struct query_aliases *aliases);

#endif
