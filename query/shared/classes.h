/*
 * Classes: a number for every block by some key, and what the blocks of each number come to.
 */
#ifndef QUERY_SHARED_CLASSES_H
#define QUERY_SHARED_CLASSES_H

#include "query/shared/query.h"

struct query_classes {
	struct base_arena arena;
	uint32_t count;
	uint64_t capacity;     /* of rows */
	uint32_t *of_position; /* 4 bytes per live node; QUERY_NO_CLASS for roots */
	struct hg_class *rows; /* by class number */
};

/*
 * By any key but roots.  The numbers are those of hg_class_name(); those of types with one name are
 * one class.  'wanted' NULL, or by number of type whether its blocks count.
 */
enum hg_status query_classes_open(struct query_classes *classes, struct hg_snapshot *snapshot,
	enum hg_key key, const bool *wanted);
void query_classes_close(struct query_classes *classes);

#endif
