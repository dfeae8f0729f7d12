/* The verb trend; -heaps of the historical grammar runs it, too. */
#include "cli/verbs.h"

/* One snapshot is open at a time, so that a long series takes no more memory than its largest. */
static enum hg_status add_all_to_trend(struct cli_run *run, struct rep_trend **trend, int count,
	const char *const *paths, struct rep_hp *hp)
{
	struct hg_info before = {.pid = HG_UNKNOWN, .index = 0}, now;
	for (int i = 0; i < count; i++) {
		cli_progress_item(&run->progress, paths[i], i + 1, count);
		BASE_TRY(cli_open(run, paths[i], true));
		/* What is followed depends on what the first one has. */
		run->values.by = cli_key(run, NULL);
		if (!*trend)
			*trend = rep_trend_begin((enum hg_key)run->values.by);
		if (!*trend)
			return base_no_memory(&run->error, 0);
		now = *hg_snapshot_info(run->context.snapshot);
		if (now.pid != HG_UNKNOWN && now.pid == before.pid && now.index < before.index)
			cli_print_note(paths[i], "comes after a later dump of the same process");
		before = now;
		BASE_TRY(rep_trend_add(*trend, &run->context));
		if (hp)
			BASE_TRY(rep_hp_add(hp, &run->context));
		cli_close(run, NULL);
	}
	return HG_OK;
}

enum hg_status cli_run_trend(
	struct cli_run *run, int count, const char *const *paths, struct rep_hp *hp)
{
	struct rep_trend *trend = NULL;
	enum hg_status status = add_all_to_trend(run, &trend, count, paths, hp);
	if (status == HG_OK && trend)
		status = rep_trend_write(trend, &run->context, cli_limit(run, 20));
	rep_trend_release(trend);
	return status;
}

static enum hg_status run_trend(struct cli_run *run)
{
	BASE_TRY(cli_begin(run));
	return cli_run_trend(run, run->operand_count, run->operands, NULL);
}

static const struct cli_option own[] = {
	{"by", 0, CLI_CHOICE, offsetof(struct cli_values, by), "KEY", cli_key_choice,
		"what is followed: type (the default if types are known), location (else), "
		"type,location, tag, module, root or callstack"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_limit_options, cli_format_options,
	cli_output_options, cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_trend = {
	.name = "trend",
	.operands = "SNAPSHOT...",
	.min_operands = 1,
	.max_operands = INT32_MAX,
	.summary = "growth over a series of snapshots",
	.description = "Reads snapshots of one program in the order given and follows every type "
		       "(location, tag, module, root): bytes in the first and in the last, in how "
		       "many of the "
		       "steps they grew, and the curve.  What grows in every step deserves a look.",
	.tables = tables,
	.run = run_trend,
};
