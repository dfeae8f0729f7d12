/*
 * Reports of profiles over time: as those of report.h, of a trace instead of a snapshot.
 */
#ifndef REPORT_TRACE_TRACE_H
#define REPORT_TRACE_TRACE_H

#include "report/report.h"

struct rep_trace_context {
	struct hg_session *session;
	struct hg_trace *trace;
	struct rep_emitter *emitter;
	struct hg_error *error;
	bool filtered; /* not all allocations count */
	bool lost; /* set: something of the file was left out, and 'first' of the losses says what
		    */
	struct hg_trace_losses losses;
};

/* What the file is, and its totals. */
enum hg_status rep_trace_info(struct rep_trace_context *context);
/* The same of a series of Spacetime. */
enum hg_status rep_trace_series(struct rep_trace_context *context);

/* Locations or functions by what they allocate; limit 0 shows all. */
enum hg_status rep_trace_rows(
	struct rep_trace_context *context, enum hg_trace_key key, uint64_t limit);

/* Places of a series, by what is alive at a snapshot; limit 0 shows all. */
enum hg_status rep_series_sites(struct rep_trace_context *context,
	const struct hg_spacetime_choice *choice, uint64_t limit);

/* How often which place of a series calls which function; limit 0 shows all. */
enum hg_status rep_series_calls(struct rep_trace_context *context, uint64_t limit);

/* How places of a series grow over its snapshots; a limit is of what grows and of what else
 * changed.
 */
enum hg_status rep_series_trend(
	struct rep_trace_context *context, enum hg_spacetime_count count, uint64_t limit);
/* The same as a chart: "svg", "png" or "pdf". */
enum hg_status rep_series_chart(struct rep_trace_context *context, enum hg_spacetime_count count,
	const char *picture, FILE *stream);

/* The tree of calls of a series, from the outermost one inwards, and from the inside out. */
enum hg_status rep_series_tree(
	struct rep_trace_context *context, const struct hg_spacetime_view *view, uint64_t limit);
enum hg_status rep_series_callers(struct rep_trace_context *context,
	const struct hg_spacetime_view *view, const struct hg_trace_callers_options *options);
/* The name of an enum hg_spacetime_count; NULL behind the last. */
const char *rep_series_count_name(unsigned count);

/* What is alive over time. */
enum hg_status rep_trace_live(struct rep_trace_context *context, uint64_t points);

/* The same by location as a chart: "svg", "png" or "pdf"; 0 points: as many as the chart shows. */
enum hg_status rep_trace_chart(
	struct rep_trace_context *context, uint64_t points, const char *picture, FILE *stream);

/* The same by location, for hp2ps; 'most' as of hg_list_trace_bands(). */
enum hg_status rep_trace_hp(
	struct rep_trace_context *context, uint64_t points, uint64_t most, FILE *stream);

/*
 * Sizes and lifetimes of blocks.  'table' is one of those that the functions below name, by index;
 * of REP_NO_TABLE people get some of them, CSV one, JSON all.
 */
#define REP_NO_TABLE UINT64_MAX
struct rep_distribution_request {
	bool as_notebooks; /* of ocaml-alloc-stats */
	uint64_t table;
};
enum hg_status rep_trace_sizes(
	struct rep_trace_context *context, const struct rep_distribution_request *request);
enum hg_status rep_trace_lifetimes(
	struct rep_trace_context *context, const struct rep_distribution_request *request);
/* NULL behind the last. */
const char *rep_sizes_table(unsigned index);
const char *rep_lifetimes_table(unsigned index);

/*
 * The same of a series, a sample for each snapshot and a mark for each event.  'most' places stand
 * for themselves, those with most over all snapshots; 0: all.
 */
enum hg_status rep_series_hp(struct rep_trace_context *context, enum hg_spacetime_count count,
	uint64_t most, FILE *stream);
/* Pieces of such files: an identifier, a line with a string, and one with a time in seconds. */
void rep_trace_hp_name(FILE *stream, const char *name);
void rep_trace_hp_string(FILE *stream, const char *head, const char *string);
void rep_trace_hp_time(FILE *stream, const char *head, uint64_t us);

/* What memtrace's hotspots prints, in its words. */
enum hg_status rep_trace_hotspots(struct rep_trace_context *context, FILE *stream);

/* The tree of calls; of a limit the largest. */
enum hg_status rep_trace_tree(
	struct rep_trace_context *context, uint64_t min_samples, uint64_t limit);

/* Runs of calls. */
enum hg_status rep_trace_hot_paths(struct rep_trace_context *context, uint64_t limit);

/* From the inside out. */
enum hg_status rep_trace_callers(
	struct rep_trace_context *context, const struct hg_trace_callers_options *options);

/*
 * What changed between two traces, or series: rows and nodes whose count changed by 'min' or more;
 * of a limit the largest.  The newer context's emitter is written to.
 */
struct rep_trace_diff_request {
	struct hg_trace_diff_options options;
	uint64_t min, limit;
};
enum hg_status rep_trace_diff(struct rep_trace_context *older, struct rep_trace_context *newer,
	const struct rep_trace_diff_request *request);
/* The names of enum hg_trace_diff_key and hg_trace_diff_measure; NULL behind the last. */
const char *rep_trace_diff_key_name(unsigned key);
const char *rep_trace_diff_measure_name(unsigned measure);

/* When something is alive. */
struct rep_trace_moment {
	enum hg_trace_moment_of of;
	uint64_t time_us;                     /* of HG_TRACE_AT_TIME */
	const struct hg_spacetime_view *view; /* instead, of a series */
};

/*
 * Call stacks for viewers of other people: folded ("outer;inner SAMPLES", a line for each), a
 * profile for pprof, and one for speedscope.  The latter have what is alive at a moment too.
 */
typedef enum hg_status rep_trace_stacks_fn(
	struct rep_trace_context *context, const struct rep_trace_moment *moment, FILE *stream);
/* The stacks of either format, and what tells their units. */
enum hg_status rep_trace_stacks(struct rep_trace_context *context,
	const struct rep_trace_moment *moment, struct hg_trace_stacks **stacks);

rep_trace_stacks_fn rep_trace_folded, rep_trace_pprof, rep_trace_speedscope;

/* The text of all events. */
enum hg_status rep_trace_dump(struct rep_trace_context *context, FILE *stream);

/* The columns of what is allocated, and their cells but for the share. */
enum { REP_TRACE_AMOUNTS = 6 };
extern const struct rep_column rep_trace_amount_columns[REP_TRACE_AMOUNTS];
void rep_trace_amount_cells(struct rep_emitter *emitter, const struct hg_trace_info *info,
	const struct hg_trace_amounts *amounts);

/* The name of a call in a tree, which people see indented; 'label' is room for that. */
void rep_trace_cell_call(
	struct rep_emitter *emitter, uint32_t depth, const char *name, struct rep_text *label);

/* Samples as bytes that they stand for, rounded; and the standard error of that. */
uint64_t rep_trace_bytes(const struct hg_trace_info *info, uint64_t samples);
uint64_t rep_trace_error(const struct hg_trace_info *info, uint64_t samples);

/* For people, below the head: that not all counts, if so. */
void rep_trace_say_filtered(struct rep_trace_context *context);

/* Takes over the session's error. */
enum hg_status rep_trace_failed(struct rep_trace_context *context, enum hg_status status);
/* Notes what a pass lost. */
void rep_trace_note(struct rep_trace_context *context, const struct hg_trace_losses *losses);

#endif
