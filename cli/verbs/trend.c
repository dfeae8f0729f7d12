/* The verb trend; -heaps of the historical grammar runs it, too. */
#include "cli/verbs.h"

/* One snapshot is open at a time, so that a long series takes no more memory than its largest. */
static enum hg_status add_all_to_trend(struct cli_run *run, struct rep_growth_request *request,
	int count, const char *const *paths, struct rep_hp *hp)
{
	/*
	 * A document that tells all serves as a baseline: it has what did not change, too.  So has
	 * a chart, which shows all of the memory.
	 */
	const struct hg_series_options options = {
		.keep_order = run->values.keep_order || hp,
		.distinct = !hp,
		.unchanged = run->emitter.writer->tells_all || run->extension,
		.describe = run->emitter.writer->tells_all,
	};
	if (!hp)
		BASE_TRY(cli_open_series(run, request, &options));
	for (int i = 0; i < count; i++) {
		cli_progress_item(&run->progress, paths[i], i + 1, count);
		if (!hp && hg_is_baseline(run->session, paths[i])) {
			BASE_TRY(cli_add_baseline(run, request, paths[i], false));
			continue;
		}
		BASE_TRY(cli_open(run, paths[i], true));
		if (run->extension) {
			struct hg_info info = *hg_snapshot_info(run->context.snapshot);
			cli_say_partial(&info);
		}
		/* The historical grammar: what is followed depends on what the first one has. */
		if (hp && !request->series) {
			run->values.by = cli_key(run, NULL);
			request->by_path = false;
			request->key = (enum hg_key)run->values.by;
			BASE_TRY(cli_open_series(run, request, &options));
		}
		BASE_TRY(cli_add_to_series(run, request));
		if (hp)
			BASE_TRY(rep_hp_add(hp, &run->context));
		cli_close(run, NULL);
	}
	return cli_finish_series(run, request);
}

enum hg_status cli_run_trend(
	struct cli_run *run, int count, const char *const *paths, struct rep_hp *hp)
{
	struct rep_growth_request request = cli_growth_request(run);
	enum hg_status status = add_all_to_trend(run, &request, count, paths, hp);
	if (status == HG_OK)
		status = run->extension ? rep_trend_chart(&run->context, &request, run->extension,
						  run->sink.stream)
					: rep_trend(&run->context, &request);
	hg_series_close(request.series);
	return status;
}

static enum hg_status run_trend(struct cli_run *run)
{
	BASE_TRY(cli_begin(run));
	return cli_run_trend(run, run->operand_count, run->operands, NULL);
}

static const struct cli_option own[] = {
	{"keep-order", 0, CLI_FLAG, offsetof(struct cli_values, keep_order), NULL, NULL,
		"the snapshots stay in the order given: else they are sorted by the time that "
		"they tell, or if they do not by the number of the dump"},
	{0},
};

static const struct cli_option *const tables[] = {cli_growth_options, cli_weight_options, own,
	cli_chart_options, cli_limit_options, cli_format_options, cli_input_options,
	cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_trend = {
	.name = "trend",
	.operands = "SNAPSHOT...",
	.min_operands = 1,
	.max_operands = INT32_MAX,
	.summary = "growth over a series of snapshots: what leaks",
	.description =
		"Reads snapshots of one program and follows every path of the retention tree (or "
		"type, location, ..., with --by).  A path whose blocks grow at every step, while "
		"those that hold it do not, is most likely a leak; it is told first, with the "
		"lines that make its blocks.  What holds the same values and grows in step with "
		"it, as a list beside a table, is told with it: together they are one leak.  It "
		"takes three snapshots to tell, best of moments when the program has the same to "
		"do.\n\n"
		"A chart (-o x.svg) shows them as areas over time, at most ten: first what grows "
		"at every step, then what was largest, and the rest.  What a path retains has all "
		"that hangs below it, so no area leads to another, and together they are what all "
		"roots retain.\n\n"
		"What it writes as JSON is a baseline: -o base.json; check, diff and trend take it "
		"in place of the snapshots that it was made of, one or several.",
	.tables = tables,
	.extensions = cli_chart_extensions,
	.run = run_trend,
};
