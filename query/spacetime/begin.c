/* What answers about series have in common. */
#include "query/spacetime/spacetime.h"

enum hg_status query_spacetime_begin(struct hg_trace *trace, void *out)
{
	BASE_TRY(query_trace_ask(trace, HG_TRACE_SPACETIME, out));
	trace->losses = (struct hg_trace_losses){.cut_bytes = trace->series.lost_bytes,
		.first = trace->series.lost,
		.first_offset = trace->series.lost_offset};
	return HG_OK;
}

enum hg_status query_spacetime_need_calls(struct hg_trace *trace, bool counted)
{
	struct hg_error *error = &trace->session->error;
	if (counted && !trace->series.call_counts)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"the series has no counts of calls, as OCaml 4.06 to 4.11 write them");
	if (!trace->series.complete)
		return query_trace_failed(
			trace, base_fail(error, HG_ERROR_INPUT, trace->series.lost_offset,
				       "the series has no calls: %s", trace->series.lost));
	return HG_OK;
}

static void note_series_loss(struct hg_trace *trace, uint64_t offset, const char *what)
{
	if (trace->losses.first)
		return;
	trace->losses.first = what;
	trace->losses.first_offset = offset;
}

enum hg_status query_spacetime_skip(
	struct hg_trace *trace, enum hg_status status, uint64_t offset, const char *what)
{
	if (status != HG_ERROR_INPUT || trace->strict)
		return status;
	trace->losses.damaged_values++;
	note_series_loss(trace, offset, what);
	base_error_clear(&trace->session->error);
	return HG_OK;
}

enum hg_status query_spacetime_note_walk(struct hg_trace *trace, const struct spacetime_walk *walk)
{
	const char *what = walk->damaged ? "a node of calls that leads nowhere"
					 : "a node of calls whose fields are not known";
	trace->losses.unknown_nodes = walk->misfits;
	trace->losses.damaged_nodes = walk->damaged;
	if (!walk->misfits && !walk->damaged)
		return HG_OK;
	note_series_loss(trace, walk->first_damage, what);
	return trace->strict ? base_corrupt(&trace->session->error, walk->first_damage, "%s", what)
			     : HG_OK;
}

enum hg_status query_spacetime_end(struct hg_trace *trace, struct hg_trace_losses *losses)
{
	enum hg_status status = base_file_check(&trace->file, trace->path, &trace->session->error);
	*losses = trace->losses;
	return status;
}

enum hg_status hg_spacetime_set_program(struct hg_trace *trace, const char *path)
{
	struct spacetime_program *program;
	BASE_TRY(query_spacetime_begin(trace, (void *)&program));
	struct hg_error *error = &trace->session->error;
	if (!path)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "no program");
	if (!trace->series.complete)
		return query_trace_failed(
			trace, base_fail(error, HG_ERROR_INPUT, trace->series.lost_offset,
				       "the series has no functions: %s", trace->series.lost));
	enum hg_status status = spacetime_program_open(
		&trace->series, path, &trace->session->unpack, &program, error);
	if (status != HG_OK)
		return query_file_failed(trace, path, status);
	spacetime_program_close(trace->program);
	trace->program = program;
	return HG_OK;
}
