/* The verbs, each in a file of its own, and the table of them. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/run.h"
#include "report/outputs/outputs.h"

extern const struct cli_verb cli_verb_summary, cli_verb_info, cli_verb_top, cli_verb_roots,
	cli_verb_tree, cli_verb_why, cli_verb_retained, cli_verb_object, cli_verb_objects,
	cli_verb_edges, cli_verb_waste, cli_verb_dot, cli_verb_diff, cli_verb_trend, cli_verb_help,
	cli_verb_version, cli_verb_completion, cli_verb_man, cli_verb_capture, cli_verb_types,
	cli_verb_hp, cli_verb_check, cli_verb_holders, cli_verb_trace_info, cli_verb_trace_sites,
	cli_verb_trace_functions, cli_verb_trace_top, cli_verb_trace_trend, cli_verb_trace_calls,
	cli_verb_trace_tree, cli_verb_trace_callers, cli_verb_trace_hot_paths, cli_verb_trace_dump,
	cli_verb_trace_subsample, cli_verb_trace_anonymise, cli_verb_trace_hp,
	cli_verb_trace_hotspots, cli_verb_trace_live, cli_verb_trace_diff, cli_verb_trace_sizes,
	cli_verb_trace_lifetimes;

/* In the order of help; NULL at the end. */
extern const struct cli_verb *const cli_verbs[];

const struct cli_verb *cli_find_verb(const char *name);
/* The same of the first words of a command line, one or two of which are its name. */
const struct cli_verb *cli_find_verb_words(int count, char *const *words, int *used);
/* Whether there are verbs of two words whose first one this is. */
bool cli_begins_verb(const char *word);

/* The list of verbs. */
void cli_print_overview(FILE *stream);

/* Whether help must list the values of a choice, as its sentence does not name them. */
bool cli_values_need_list(const struct cli_option *option);

/* Options of the verbs about several snapshots, what they ask for, and the series of these. */
extern const struct cli_option cli_growth_options[];
struct rep_growth_request cli_growth_request(const struct cli_run *run);
enum hg_status cli_open_series(struct cli_run *run, struct rep_growth_request *request,
	const struct hg_series_options *wanted);
/* context.snapshot; then, after the last one. */
enum hg_status cli_add_to_series(struct cli_run *run, const struct rep_growth_request *request);
/* A baseline instead of it, or of that the last snapshot only. */
enum hg_status cli_add_baseline(struct cli_run *run, const struct rep_growth_request *request,
	const char *path, bool only_last);
enum hg_status cli_finish_series(struct cli_run *run, const struct rep_growth_request *request);

/*
 * trend over snapshots given by name, for the verb and for -heaps; each is also added to a heap
 * profile if there is one.
 */
enum hg_status cli_run_trend(
	struct cli_run *run, int count, const char *const *paths, struct rep_hp *hp);

/* Writes a heap profile to a file, says so on stderr, and has hp2ps draw it if it is installed. */
enum hg_status cli_write_hp(struct cli_run *run, struct rep_hp *hp, const char *path);

/* The historical grammar: whether an argument is one of its options, and running it. */
bool cli_is_historical(const char *argument);
int cli_run_historical(int count, char *const *arguments);

#endif
