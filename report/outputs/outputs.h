/*
 * Outputs in the formats of other programs, a file each: hp2ps, Graphviz.  They write to a stream
 * of their own, without the emitter.
 */
#ifndef REPORT_OUTPUTS_OUTPUTS_H
#define REPORT_OUTPUTS_OUTPUTS_H

#include "report/report.h"

/*
 * A heap profile in the format of hp2ps, a sample for each snapshot: begin, add them in order of
 * time, then write or only release.  In blocks or bytes; with locations by type and location.
 */
struct rep_hp;
struct rep_hp *rep_hp_begin(bool with_locations, bool in_bytes);
enum hg_status rep_hp_add(struct rep_hp *hp, struct rep_context *context);
enum hg_status rep_hp_write(struct rep_hp *hp, struct rep_context *context, FILE *stream);
void rep_hp_release(struct rep_hp *hp);

/* Whether this command was built with Graphviz: only then any picture below can be asked for. */
bool rep_can_draw(void);

/*
 * A series of snapshots as stacked areas over time ("svg", "png" or "pdf"): what grows, then what
 * is largest, and the rest.  Its rows are also those that never changed.
 */
enum hg_status rep_trend_chart(struct rep_context *context,
	const struct rep_growth_request *request, const char *picture, FILE *stream);

/* The outcome of check as JUnit XML: a test case for each row, or one that has passed. */
enum hg_status rep_junit(struct rep_context *context, const struct hg_series *series,
	const struct hg_check *check, FILE *stream);

/* What holds the memory, by path: the rows of the retention tree that retain most. */
struct rep_dot_request {
	const char *from; /* a pattern, or NULL: everything */
	uint32_t max_nodes;
	uint64_t min_share;  /* in parts per million */
	const char *picture; /* "svg", "png", "pdf"; NULL writes DOT */
};
enum hg_status rep_dot(
	struct rep_context *context, const struct rep_dot_request *request, FILE *stream);

/* The same block by block. */
struct rep_dot_blocks_request {
	hg_node from; /* HG_NO_NODE: the virtual root */
	uint32_t max_nodes;
	uint64_t min_share;
	const char *picture;
};
enum hg_status rep_dot_blocks(
	struct rep_context *context, const struct rep_dot_blocks_request *request, FILE *stream);

#endif
