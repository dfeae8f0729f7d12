/*
 * The parts of the summary: totals and how they add up (summary_totals.c), and what fills and holds
 * the memory (summary_largest.c).
 */
#ifndef REPORT_SUMMARY_SUMMARY_H
#define REPORT_SUMMARY_SUMMARY_H

#include "report/report.h"

enum { SUMMARY_DOMINATORS = 5 };

/* All that the summary asks of the library, so that nothing is written before it is complete. */
struct summary {
	struct hg_info info;
	const struct hg_totals *totals;
	struct hg_top *types, *locations, *roots;
	struct hg_tree *dominators;
	struct hg_suspects *suspects;
	struct hg_retention *tree;
	uint64_t tree_bytes; /* own ones of all its rows */
	struct hg_holders *holders;
	const struct hg_join *join;     /* NULL without a trace */
	struct hg_join_sites *sites;    /* the same */
	const struct hg_memory *memory; /* NULL if there is no process behind the file */
};

void rep_summary_head(struct rep_emitter *emitter, const struct summary *summary);
void rep_summary_table(struct rep_emitter *emitter, const struct summary *summary);

/* That most of the memory hangs from no root, if it does. */
void rep_summary_warning(struct rep_emitter *emitter, const struct summary *summary);

/* All totals, as a section. */
void rep_summary_values(struct rep_emitter *emitter, const struct summary *summary);

/* How the memory of the process adds up (summary_process.c): for people, and as a section. */
void rep_summary_process(struct rep_emitter *emitter, const struct summary *summary);
void rep_summary_process_values(struct rep_emitter *emitter, const struct summary *summary);

/* How the numbers add up, in a line if they do and 'sums' are not asked for; false if not. */
bool rep_summary_checks(struct rep_emitter *emitter, const struct summary *summary, bool sums);

void rep_summary_largest(struct rep_context *context, const struct summary *summary);
void rep_summary_dominators(struct rep_context *context, const struct summary *summary);
void rep_summary_kinds(struct rep_context *context, const struct summary *summary);
void rep_summary_suspects(struct rep_context *context, const struct summary *summary);
/* The retention tree, and what holds much. */
void rep_summary_tree(struct rep_context *context, const struct summary *summary);
void rep_summary_holders(struct rep_context *context, const struct summary *summary);

#endif
