/* What the reports of traces share. */
#include "report/trace/trace.h"

#include <math.h>

enum hg_status rep_trace_failed(struct rep_trace_context *context, enum hg_status status)
{
	*context->error = *hg_session_error(context->session);
	context->error->status = status;
	return status;
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
