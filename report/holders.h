/*
 * Holders as people read them, for the verb and the summary.
 */
#ifndef REPORT_HOLDERS_H
#define REPORT_HOLDERS_H

#include "report/common.h"

/* For people: each with its path, what it is made of, where, and what to do; at most 'limit'. */
void rep_holders_prose(struct rep_context *context, const struct hg_retention *tree,
	const struct hg_holders *holders, uint64_t limit);

/* The same as a table, for programs. */
void rep_holders_table(struct rep_context *context, const char *member,
	const struct hg_retention *tree, const struct hg_holders *holders, uint64_t limit);

#endif
