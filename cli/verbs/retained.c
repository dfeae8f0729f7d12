/* The verb retained. */
#include "cli/verbs.h"

#include <stdlib.h>
#include <unistd.h>

/* The file may stand first, too: which operand it is can be seen, if only one is there. */
static void move_file_last(struct cli_run *run)
{
	int last = run->operand_count - 1;
	const char *file = run->operands[0];
	if (access(run->operands[last], F_OK) == 0 || access(file, F_OK) != 0)
		return;
	for (int i = 0; i < last; i++)
		run->operands[i] = run->operands[i + 1];
	run->operands[last] = file;
}

static enum hg_status select_sets(struct cli_run *run, struct hg_selection **selections, int count)
{
	for (int i = 0; i < count; i++) {
		enum hg_status status =
			hg_select(run->context.snapshot, run->operands[i], &selections[i]);
		if (status != HG_OK)
			return cli_library_failed(run, status);
		if (selections[i]->count == 0)
			return rep_nothing_matches(&run->context, NULL, run->operands[i]);
	}
	return HG_OK;
}

static enum hg_status report_sets(
	struct cli_run *run, struct hg_selection **selections, struct hg_set *sets, int count)
{
	BASE_TRY(select_sets(run, selections, count));
	for (int i = 0; i < count; i++)
		sets[i] = (struct hg_set){selections[i]->nodes, selections[i]->count};
	struct rep_retained_request request = {run->operands, sets, (size_t)count};
	return rep_retained(&run->context, &request, cli_limit(run, 10));
}

static enum hg_status run_retained(struct cli_run *run)
{
	int count = run->operand_count - 1;
	move_file_last(run);
	BASE_TRY(cli_begin(run));
	BASE_TRY(cli_open(run, run->operands[count], true));
	struct hg_selection **selections = calloc((size_t)count, sizeof(*selections));
	struct hg_set *sets = calloc((size_t)count, sizeof(*sets));
	enum hg_status status = selections && sets ? report_sets(run, selections, sets, count)
						   : base_no_memory(&run->error, (uint64_t)count);
	for (int i = 0; selections && i < count; i++)
		hg_selection_release(&selections[i]);
	free(selections);
	free(sets);
	return status;
}

static const struct cli_option *const tables[] = {cli_weight_options, cli_limit_options,
	cli_format_options, cli_output_options, cli_input_options, cli_work_options,
	cli_help_options, NULL};

const struct cli_verb cli_verb_retained = {
	.name = "retained",
	.operands = "PATTERN... SNAPSHOT",
	.min_operands = 2,
	.max_operands = INT32_MAX,
	.summary = "what sets of blocks retain, each as a whole",
	.description =
		"PATTERN selects a set of blocks or roots, as of 'why'.  What a set retains is "
		"what "
		"would be freed if all of it were removed at once: more than the sum of what its "
		"blocks retain one by one, where several of them hold the same.  What it shares is "
		"what it leads to that others hold, too.\n\n"
		"Of several patterns each set is shown by itself, then all together, and what they "
		"retain only together: freed with all of them, with none alone.\n\n"
		"Then, of all sets: the immediate dominators of their blocks by class, that is "
		"whose "
		"pointer every path from the roots passes last; and who else holds what is shared: "
		"of what it leads to, the last one on a shortest path around the sets, by class.",
	.tables = tables,
	.run = run_retained,
};
