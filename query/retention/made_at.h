/*
 * Where the blocks of a node of the retention tree are made, in lines of the source; and where the
 * root above it is defined, or the frame is whose stack slot that is.
 */
#ifndef QUERY_RETENTION_MADE_AT_H
#define QUERY_RETENTION_MADE_AT_H

#include "query/retention/tree.h"

enum { QUERY_LONGEST_MADE_AT = 4096 };

/*
 * "file:line"s joined by ";": first lines of the program's own source, where the class is made, or
 * if that is in libraries only, where the class below it is made that retains most; then the
 * definition of the root; lines of libraries last.  Of a class without a type it is what samples of
 * its blocks tell, or ids in their headers.  "" if none is known.  Needs graph_nodes().
 */
void query_made_at(struct hg_snapshot *snapshot, const struct query_retention *tree, uint32_t node,
	char *buffer, size_t size);

/*
 * The definition of the root above the node, or that it is; see hg_defined_at().  If there is none
 * those of the roots that hold it, once query_find_sharing() was called.
 */
/* Adds that to a text unless it is there; of a node that no root is above nothing. */
void query_add_definition(struct hg_snapshot *snapshot, const struct query_retention *tree,
	uint32_t node, char *buffer, size_t size);
void query_defined_at(struct hg_snapshot *snapshot, const struct query_retention *tree,
	uint32_t node, char *buffer, size_t size);

#endif
