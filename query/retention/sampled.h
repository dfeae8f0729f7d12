/*
 * The samples of Gc.Memprof by the node of the retention tree that their blocks belong to: of what
 * has no type they say where it is made.
 */
#ifndef QUERY_RETENTION_SAMPLED_H
#define QUERY_RETENTION_SAMPLED_H

#include "query/shared/query.h"

struct query_sampled_block {
	uint32_t node, rank;
};

/* Sorted by node; 8 bytes for each sample of a live block. */
struct query_sampled {
	struct query_sampled_block *blocks; /* from malloc */
	uint64_t count;
};

/* 'of_position' has the node of each live position, or QUERY_NO_CLASS. */
enum hg_status query_sampled_init(
	struct query_sampled *sampled, struct hg_snapshot *snapshot, const uint32_t *of_position);
void query_sampled_release(struct query_sampled *sampled);

/*
 * "cache.ml:30;cache.ml:41": the lines that most samples of a node tell, three at the most: those
 * of the program's own source where blocks were allocated or what allocated them was called, or if
 * 'own' is false those in libraries.  "" if there are none.
 */
void query_sampled_lines(const struct query_sampled *sampled, struct hg_snapshot *snapshot,
	uint32_t node, bool own, char *buffer, size_t size);

#endif
