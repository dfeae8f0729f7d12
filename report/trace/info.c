/* What a trace is, with every figure that memtrace's identify prints. */
#include "report/trace/trace.h"

#include <time.h>

/* "3.3 MB", of 1024 kB, as identify rounds: one decimal below 10. */
static void put_identified_bytes(struct rep_text *text, double bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	unsigned unit = 0;
	while (bytes >= 1000 && unit < 4) {
		bytes /= 1024;
		unit++;
	}
	rep_text_printf(text, "%.*f %s", unit && bytes < 10 ? 1 : 0, bytes, units[unit]);
}

static double share_of(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

static void write_trace_file(struct rep_emitter *emitter, const struct hg_trace_info *info)
{
	char when[40] = "";
	struct tm parts;
	time_t seconds = (time_t)(info->start_us / 1000000);
	struct rep_text line = {0};
	rep_section_begin(emitter, "trace", "Trace of memtrace");
	rep_value_string(emitter, "file", "file", REP_PATH, info->path);
	rep_value_string(emitter, "format", NULL, REP_WORD, "memtrace");
	rep_value_number(emitter, "version", "version", REP_NUMBER, info->version);
	rep_value_number(emitter, "file_bytes", "size", REP_BYTES, info->file_bytes);
	rep_value_string(emitter, "program", "program", REP_PATH, info->executable);
	rep_value_string(emitter, "host", "host", REP_NAME, info->host);
	rep_value_number(emitter, "pid", "process", REP_NUMBER, info->pid);
	rep_value_number(emitter, "start_us", NULL, REP_NUMBER, info->start_us);
	if (gmtime_r(&seconds, &parts) &&
		strftime(when, sizeof(when), "%a %b %-d %H:%M:%S %Y UTC", &parts))
		rep_value_string(emitter, NULL, "begins", REP_WORD, when);
	rep_value_number(emitter, "word_bits", "bits of a word", REP_NUMBER, 8 * info->word_bytes);
	rep_text_printf(&line, "%.1e", info->rate);
	rep_value_string(emitter, NULL, "sample rate", REP_WORD, rep_text_string(&line));
	rep_text_clear(&line);
	rep_text_printf(&line, "%.17g", info->rate);
	rep_value_string(emitter, "rate", NULL, REP_WORD, rep_text_string(&line));
	rep_value_string(emitter, "parameters", "GC parameters", REP_NAME, info->parameters);
	if (*info->context)
		rep_value_string(emitter, "context", "context", REP_NAME, info->context);
	rep_section_end(emitter);
	rep_text_release(&line);
}

static void write_trace_rates(struct rep_emitter *emitter, const struct hg_trace_info *info)
{
	double seconds = (double)info->end_us * 1e-6, byte = info->word_bytes / info->rate;
	double minor = (double)info->minor_samples * byte;
	double direct = (double)(info->samples - info->minor_samples) * byte;
	double promoted = (double)info->promoted_samples * byte;
	double collected = (double)info->major_collected_samples * byte;
	struct rep_text line = {0};
	if (seconds <= 0)
		return;
	rep_section_begin(emitter, "rates", "Rates");
	put_identified_bytes(&line, minor / seconds);
	rep_text_printf(&line, "/s allocated, %.1f%% promoted", share_of(promoted, minor));
	rep_value_string(emitter, NULL, "minor heap", REP_WORD, rep_text_string(&line));
	rep_text_clear(&line);
	put_identified_bytes(&line, (direct + promoted) / seconds);
	rep_text_put(&line, "/s allocated (");
	put_identified_bytes(&line, direct / seconds);
	rep_text_put(&line, "/s direct), ");
	put_identified_bytes(&line, collected / seconds);
	rep_text_put(&line, "/s collected");
	rep_value_string(emitter, NULL, "major heap", REP_WORD, rep_text_string(&line));
	rep_text_clear(&line);
	rep_text_printf(&line, "%.0f%% <= 4 words, %.0f%% <= 16, %.0f%% <= 256, the largest ",
		share_of((double)info->samples_to_4, (double)info->samples),
		share_of((double)info->samples_to_16, (double)info->samples),
		share_of((double)info->samples_to_256, (double)info->samples));
	put_identified_bytes(&line, (double)info->longest * info->word_bytes);
	rep_value_string(emitter, NULL, "sizes", REP_WORD, rep_text_string(&line));
	rep_text_clear(&line);
	rep_text_printf(&line, "%.3f s", seconds);
	rep_value_string(emitter, NULL, "run time", REP_WORD, rep_text_string(&line));
	rep_text_release(&line);
	rep_section_end(emitter);
}

static void write_sampled(struct rep_emitter *emitter, const struct hg_trace_info *info,
	const char *key, const char *label, uint64_t samples)
{
	struct rep_text line = {0};
	rep_value_number(emitter, key, NULL, REP_COUNT, samples);
	rep_text_size(&line, rep_trace_bytes(info, samples));
	rep_text_put(&line, " +- ");
	rep_text_size(&line, rep_trace_error(info, samples));
	rep_text_put(&line, ", ");
	rep_text_count(&line, samples);
	rep_text_put(&line, samples == 1 ? " sample" : " samples");
	rep_value_string(emitter, NULL, label, REP_WORD, rep_text_string(&line));
	rep_text_release(&line);
}

static void write_trace_totals(struct rep_emitter *emitter, const struct hg_trace_info *info)
{
	rep_section_begin(emitter, "totals", "Totals (95 % lie within twice the standard error)");
	write_sampled(emitter, info, "samples", "allocated", info->samples);
	write_sampled(emitter, info, "peak_samples", "most alive", info->peak_samples);
	rep_value_number(emitter, "peak_us", "at microsecond", REP_COUNT, info->peak_us);
	write_sampled(emitter, info, "live_samples", "alive at the end", info->live_samples);
	rep_value_number(emitter, "end_us", "ends at microsecond", REP_COUNT, info->end_us);
	rep_value_number(emitter, "allocations", "blocks sampled", REP_COUNT, info->allocations);
	rep_value_number(emitter, "minor_allocations", "in the minor heap", REP_COUNT,
		info->minor_allocations);
	rep_value_number(emitter, "major_allocations", "in the major heap", REP_COUNT,
		info->major_allocations);
	rep_value_number(emitter, "external_allocations", "outside the heap", REP_COUNT,
		info->external_allocations);
	rep_value_number(emitter, "promotions", "promoted", REP_COUNT, info->promotions);
	rep_value_number(emitter, "collections", "collected", REP_COUNT, info->collections);
	rep_value_number(emitter, "packets", "packets", REP_COUNT, info->packets);
	rep_value_number(emitter, "domains", "domains", REP_COUNT, info->domains);
	rep_value_number(emitter, "frames", "frames of backtraces", REP_COUNT, info->frames);
	rep_value_number(
		emitter, "deepest_backtrace", "deepest backtrace", REP_COUNT, info->deepest);
	rep_value_number(emitter, "truncated_backtraces", "backtraces cut short", REP_COUNT,
		info->truncated_backtraces);
	rep_section_end(emitter);
}

/* People see those that there are. */
static void write_trace_losses(struct rep_emitter *emitter, const struct hg_trace_losses *losses)
{
	const struct {
		const char *key, *label;
		uint64_t count;
	} rows[] = {
		{"cut_bytes", "bytes of a packet cut short", losses->cut_bytes},
		{"skipped_bytes", "bytes between packets", losses->skipped_bytes},
		{"damaged_packets", "damaged packets", losses->damaged_packets},
		{"foreign_packets", "packets of other processes", losses->foreign_packets},
		{"missing_objects", "blocks missing", losses->missing_objects},
		{"unknown_objects", "events of blocks not known", losses->unknown_objects},
		{"clamped_times", "events with a wrong time", losses->clamped_times},
		{"recovered_locations", "locations spoilt by long lines", losses->recovered_places},
		{"suspect_backtraces", "backtraces that may be wrong", losses->suspect_backtraces},
		{"unverified_packets", "packets with another cache", losses->unverified_packets},
	};
	rep_section_begin(emitter, "losses", losses->first ? "Lost or damaged" : NULL);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		rep_value_number(emitter, rows[i].key, rows[i].count ? rows[i].label : NULL,
			REP_COUNT, rows[i].count);
	rep_section_end(emitter);
}

enum hg_status rep_trace_info(struct rep_trace_context *context)
{
	const struct hg_trace_info *info;
	enum hg_status status = hg_describe_trace(context->trace, &info);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	rep_document_begin(context->emitter, "trace info");
	write_trace_file(context->emitter, info);
	write_trace_totals(context->emitter, info);
	write_trace_rates(context->emitter, info);
	write_trace_losses(context->emitter, &info->losses);
	rep_document_end(context->emitter);
	rep_trace_note(context, &info->losses);
	return HG_OK;
}
