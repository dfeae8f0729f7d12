/*
 * What is alive over time by place of allocation, as a heap profile for hp2ps:
 *
 *     JOB "program"
 *     DATE "2026-01-31 12:00:00 UTC"
 *     SAMPLE_UNIT "seconds"
 *     VALUE_UNIT "bytes"
 *     BEGIN_SAMPLE 0.000000
 *       Leak.lookup@leak.ml:14:54-98 102400
 *     END_SAMPLE 0.000000
 *
 * A line has a name without spaces and a number.
 */
#include "report/trace/trace.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* hp2ps reads identifiers into 5,000 bytes. */
enum { LONGEST_BAND = 4000, MICROSECONDS = 1000000 };

void rep_trace_hp_name(FILE *stream, const char *name)
{
	for (size_t i = 0; name[i] && i < LONGEST_BAND; i++)
		fputc((unsigned char)name[i] <= ' ' || name[i] == 127 ? '_' : name[i], stream);
}

static void put_band_name(FILE *stream, const struct hg_trace_band *band)
{
	const char *unnamed = band->is_rest ? "(others)" : "(not_told_by_the_backtrace)";
	rep_trace_hp_name(stream, *band->name ? band->name : unnamed);
}

void rep_trace_hp_string(FILE *stream, const char *head, const char *string)
{
	fprintf(stream, "%s \"", head);
	for (; *string; string++)
		fputc((unsigned char)*string < ' ' || *string == '"' ? '_' : *string, stream);
	fputs("\"\n", stream);
}

static void write_hp_head(const struct hg_trace_info *info, FILE *stream)
{
	time_t start = (time_t)(info->start_us / MICROSECONDS);
	struct tm utc;
	char date[64] = "";
	if (gmtime_r(&start, &utc))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &utc);
	rep_trace_hp_string(stream, "JOB", info->executable);
	rep_trace_hp_string(stream, "DATE", date);
	rep_trace_hp_string(stream, "SAMPLE_UNIT", "seconds");
	rep_trace_hp_string(stream, "VALUE_UNIT", "bytes");
}

void rep_trace_hp_time(FILE *stream, const char *head, uint64_t us)
{
	fprintf(stream, "%s %" PRIu64 ".%06" PRIu64 "\n", head, us / MICROSECONDS,
		us % MICROSECONDS);
}

enum hg_status rep_trace_hp(
	struct rep_trace_context *context, uint64_t points, uint64_t most, FILE *stream)
{
	const struct hg_trace_info *info = hg_trace_header(context->trace);
	struct hg_trace_bands *bands;
	enum hg_status status = hg_list_trace_bands(context->trace, points, most, &bands);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	write_hp_head(info, stream);
	rep_trace_hp_time(stream, "BEGIN_SAMPLE", 0);
	rep_trace_hp_time(stream, "END_SAMPLE", 0);
	for (size_t point = 0; point < bands->point_count && !ferror(stream); point++) {
		rep_trace_hp_time(stream, "BEGIN_SAMPLE", bands->times_us[point]);
		for (size_t i = 0; i < bands->count; i++) {
			if (!bands->rows[i]->alive[point])
				continue;
			fputs("  ", stream);
			put_band_name(stream, bands->rows[i]);
			fprintf(stream, " %" PRIu64 "\n",
				rep_trace_bytes(info, bands->rows[i]->alive[point]));
		}
		rep_trace_hp_time(stream, "END_SAMPLE", bands->times_us[point]);
	}
	rep_trace_note(context, &bands->losses);
	hg_trace_bands_release(&bands);
	return HG_OK;
}
