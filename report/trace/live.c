/* What is alive over time, as a table. */
#include "report/trace/trace.h"

static const struct rep_column columns_of_live[] = {
	{"time_us", "microseconds", REP_COUNT, 0},
	{"live_samples", NULL, REP_COUNT, 0},
	{"live_bytes", "alive", REP_BYTES, 0},
	{"bytes_error", "+-", REP_BYTES, 0},
	{"bytes", "allocated so far", REP_BYTES, 0},
	{"share", "  of the peak", REP_SHARE, REP_NOT_CSV},
};

static void write_live_head(struct rep_trace_context *context, const struct hg_trace_course *course)
{
	struct rep_emitter *emitter = context->emitter;
	const struct hg_trace_info *info = hg_trace_header(context->trace);
	struct rep_text line = {0};
	rep_prose(emitter, REP_BOLD, "Alive over time");
	rep_text_put(&line, ": at most ");
	rep_text_size(&line, rep_trace_bytes(info, course->peak));
	rep_text_put(&line, " +- ");
	rep_text_size(&line, rep_trace_error(info, course->peak));
	rep_text_put(&line, " at microsecond ");
	rep_text_count(&line, course->peak_us);
	rep_prose(emitter, REP_PLAIN, "%s\n", rep_text_string(&line));
	rep_text_release(&line);
	rep_value_number(emitter, "peak_samples", NULL, REP_COUNT, course->peak);
	rep_value_number(
		emitter, "peak_bytes", NULL, REP_BYTES, rep_trace_bytes(info, course->peak));
	rep_value_number(emitter, "peak_us", NULL, REP_COUNT, course->peak_us);
}

enum hg_status rep_trace_live(struct rep_trace_context *context, uint64_t points)
{
	struct rep_emitter *emitter = context->emitter;
	const struct hg_trace_info *info = hg_trace_header(context->trace);
	struct hg_trace_course *course;
	enum hg_status status = hg_list_trace_course(context->trace, points, &course);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	rep_document_begin(emitter, "trace live");
	write_live_head(context, course);
	rep_trace_say_filtered(context);
	rep_table_begin(emitter, "rows", columns_of_live,
		sizeof(columns_of_live) / sizeof(columns_of_live[0]));
	for (size_t i = 0; i < course->count && !rep_emitter_broken(emitter); i++) {
		const struct hg_trace_moment *moment = course->rows[i];
		rep_cell_number(emitter, moment->time_us);
		rep_cell_number(emitter, moment->live);
		rep_cell_number(emitter, rep_trace_bytes(info, moment->live));
		rep_cell_number(emitter, rep_trace_error(info, moment->live));
		rep_cell_number(emitter, rep_trace_bytes(info, moment->allocated));
		rep_cell_share(emitter, moment->live, course->peak);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
	rep_document_end(emitter);
	rep_trace_note(context, &course->losses);
	hg_trace_course_release(&course);
	return HG_OK;
}
