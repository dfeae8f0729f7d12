/* What the reports of traces share. */
#include "report/trace/trace.h"

#include <math.h>

enum hg_status rep_trace_failed(struct rep_trace_context *context, enum hg_status status)
{
	*context->error = *hg_session_error(context->session);
	context->error->status = status;
	return status;
}

enum hg_status rep_trace_stacks(struct rep_trace_context *context,
	const struct rep_trace_moment *moment, struct hg_trace_stacks **stacks)
{
	enum hg_status status =
		moment->view
			? hg_list_spacetime_stacks(context->trace, moment->view, stacks)
			: hg_list_trace_stacks(context->trace, moment->of, moment->time_us, stacks);
	return status == HG_OK ? HG_OK : rep_trace_failed(context, status);
}

void rep_trace_note(struct rep_trace_context *context, const struct hg_trace_losses *losses)
{
	context->losses = *losses;
	context->lost = losses->first != NULL;
}

uint64_t rep_trace_bytes(const struct hg_trace_info *info, uint64_t samples)
{
	double bytes = (double)samples / info->rate * info->word_bytes;
	return bytes < 9e18 ? (uint64_t)llround(bytes) : UINT64_MAX;
}

/*
 * Each word is a sample with probability 'rate', independently: of n samples the variance is
 * n * (1 - rate) / rate^2 words.
 */
uint64_t rep_trace_error(const struct hg_trace_info *info, uint64_t samples)
{
	double bytes = sqrt((double)samples * (1 - info->rate)) / info->rate * info->word_bytes;
	return bytes < 9e18 ? (uint64_t)llround(bytes) : UINT64_MAX;
}

void rep_trace_say_filtered(struct rep_trace_context *context)
{
	if (context->filtered)
		rep_prose(context->emitter, REP_PLAIN,
			"Only allocations that the options select count.\n");
}

const struct rep_column rep_trace_amount_columns[REP_TRACE_AMOUNTS] = {
	{"samples", "samples", REP_COUNT, 0},
	{"bytes", "allocated", REP_BYTES, 0},
	{"bytes_error", "+-", REP_BYTES, 0},
	{"live_bytes", "live at end", REP_BYTES, 0},
	{"peak_bytes", "live at peak", REP_BYTES, 0},
	{"promoted_bytes", "promoted", REP_BYTES, 0},
};

void rep_trace_amount_cells(struct rep_emitter *emitter, const struct hg_trace_info *info,
	const struct hg_trace_amounts *amounts)
{
	rep_cell_number(emitter, amounts->samples);
	rep_cell_number(emitter, rep_trace_bytes(info, amounts->samples));
	rep_cell_number(emitter, rep_trace_error(info, amounts->samples));
	rep_cell_number(emitter, rep_trace_bytes(info, amounts->live));
	rep_cell_number(emitter, rep_trace_bytes(info, amounts->peak));
	rep_cell_number(emitter, rep_trace_bytes(info, amounts->promoted));
}

void rep_trace_cell_call(
	struct rep_emitter *emitter, uint32_t depth, const char *name, struct rep_text *label)
{
	enum { INDENTED_CALLS = 24 };
	rep_text_clear(label);
	for (uint32_t i = 0; i < depth && i < INDENTED_CALLS; i++)
		rep_text_put(label, "  ");
	if (depth > INDENTED_CALLS)
		rep_text_printf(label, "(depth %u) ", depth);
	rep_text_put(label, depth ? name : "(all)");
	rep_cell_labelled(emitter, name, rep_text_string(label));
}
