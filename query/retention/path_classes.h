/*
 * Classes that paths of the retention tree are made of, each with a name that holds in every
 * snapshot of one program: no address, no number of a slot.
 *
 * A block is of the class of its type; where that is unknown, of its tag and size, closures of
 * their function, and of its location if it has one.  Roots are of their kind and name without the
 * index: all slots of one array of roots are one class, and stack slots those of one call in one
 * function.  Fields of a unit's block are globals of their own, whatever they are called.
 */
#ifndef QUERY_RETENTION_PATH_CLASSES_H
#define QUERY_RETENTION_PATH_CLASSES_H

#include "query/retention/path_text.h"
#include "query/shared/query.h"

#include "base/pool.h"

/* What was looked up last, by some bits of a hash of the key: neighbours in the heap are alike. */
enum { QUERY_RECENT_SHIFT = 10, QUERY_RECENT = 1 << QUERY_RECENT_SHIFT };
struct query_recent {
	struct {
		uint64_t key; /* + 1; 0: none */
		uint32_t number;
	} entries[QUERY_RECENT];
};

static inline uint32_t query_recent_slot(uint64_t key)
{
	/* The highest bits, as only these depend on all of the key. */
	return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - QUERY_RECENT_SHIFT));
}

static inline bool query_recent_get(
	const struct query_recent *recent, uint64_t key, uint32_t *number)
{
	uint32_t slot = query_recent_slot(key);
	if (recent->entries[slot].key != key + 1)
		return false;
	*number = recent->entries[slot].number;
	return true;
}

static inline void query_recent_set(struct query_recent *recent, uint64_t key, uint32_t number)
{
	uint32_t slot = query_recent_slot(key);
	recent->entries[slot].key = key + 1;
	recent->entries[slot].number = number;
}

struct query_path_class {
	const char *name;
	uint32_t type; /* 0: unknown, or a root */
	bool is_root;
	enum hg_root_kind kind; /* of roots */
	uint32_t next;          /* of the same hash; QUERY_NO_CLASS */
};

/* Zeros but for the snapshot are no classes yet. */
struct query_path_classes {
	struct hg_snapshot *snapshot;
	bool in_series; /* names are compared with those of other snapshots */
	struct base_pool names;
	struct query_path_class *all;
	uint32_t count;
	uint64_t capacity;
	uint32_t *of_type; /* by number of a type: the class + 1, 0 before one was met */
	struct base_map by_key, by_name;
	struct base_map closures;   /* by code: closure_classes.h */
	struct query_recent recent; /* by what query_path_class_key() says */
};

enum hg_status query_path_classes_init(
	struct query_path_classes *classes, struct hg_snapshot *snapshot);
void query_path_classes_release(struct query_path_classes *classes);

/*
 * What most blocks of a class have in common: the type, or if there is none, the header without its
 * color; types have a bit of the color set.  0 where more must be asked: of closures, and where
 * samples tell the location.
 */
static inline uint64_t query_path_class_key(
	const struct query_path_classes *classes, const struct snap_cell *cell, uint32_t type)
{
	const uint64_t color = 3 << 8;
	if (cell->tag == SNAP_TAG_CLOSURE || (!type && classes->snapshot->snap.sampled_count))
		return 0;
	return type ? (uint64_t)type << 10 | 1 << 8 : cell->header & ~color;
}

/* The class of a block of this type that is not among the recent ones. */
enum hg_status query_find_path_class(struct query_path_classes *classes, uint32_t rank,
	const struct snap_cell *cell, uint32_t type, uint32_t *out);

/* The class of a block that a walk has come to, or of a root slot of the file. */
static inline enum hg_status query_path_class_of_block(struct query_path_classes *classes,
	uint32_t rank, const struct snap_cell *cell, uint32_t *out)
{
	enum hg_confidence confidence;
	uint32_t type = query_type(classes->snapshot, rank, cell->tag, &confidence).n;
	uint64_t key = query_path_class_key(classes, cell, type);
	if (key && query_recent_get(&classes->recent, key, out))
		return HG_OK;
	BASE_TRY(query_find_path_class(classes, rank, cell, type, out));
	if (key)
		query_recent_set(&classes->recent, key, *out);
	return HG_OK;
}

enum hg_status query_path_class_of_root(
	struct query_path_classes *classes, uint64_t root, uint32_t *out);

/* The name of a root without its kind, as it stands in paths; of stacks in a series the function.
 */
size_t query_root_class_name(const struct hg_snapshot *snapshot, hg_node root, bool in_series,
	char *buffer, size_t size);

/* Whether it is one of roots that pass: they hold only what no lasting root does. */
static inline bool query_path_class_passes(
	const struct hg_snapshot *snapshot, const struct query_path_class *class)
{
	return class->is_root && !snapshot->snap.all_roots_alike &&
	       (class->kind == HG_ROOT_STACK || class->kind == HG_ROOT_LOCAL);
}

/* One for what has no other, by name. */
enum hg_status query_path_class_named(
	struct query_path_classes *classes, const char *name, uint32_t *out);

#endif
