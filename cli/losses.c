/* Notes about profiles over time. */
#include "cli/losses.h"

void cli_say_losses(const char *path, const struct hg_trace_losses *losses)
{
	struct rep_text text = {0};
	rep_text_printf(&text, "PARTIAL: %s", losses->first);
	if (losses->first_offset != HG_NO_OFFSET)
		rep_text_printf(
			&text, ", at offset %llu", (unsigned long long)losses->first_offset);
	rep_text_put(&text, "; the rest was read (trace info counts what was lost)");
	cli_print_note(path, rep_text_string(&text));
	rep_text_release(&text);
}

void cli_say_join(struct cli_run *run)
{
	const struct hg_join *join = hg_snapshot_join(run->context.snapshot);
	struct rep_text text = {0};
	if (!join)
		return;
	if (join->losses.first) {
		cli_say_losses(join->trace, &join->losses);
		run->partial = true;
	}
	if (run->verb->tells & CLI_TELLS_LOCATIONS || !cli_for_people(run) ||
		join->placed == join->ids)
		return;
	rep_put_join(&text, join);
	cli_print_note(join->trace, rep_text_string(&text));
	rep_text_release(&text);
}
