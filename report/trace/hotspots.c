/*
 * Hotspots as text, to the byte what memtrace's tool of that name prints.
 */
#include "report/trace/trace.h"

#include <inttypes.h>

/* "0.2 GB" in at least four places; words are 8 bytes here, whatever the trace says. */
static void print_hot_bytes(FILE *stream, double samples, double rate)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	double bytes = samples / rate * 8.;
	unsigned unit = 0;
	while (unit < 4 && !(bytes < 100)) {
		bytes /= 1024.;
		unit++;
	}
	fprintf(stream, unit ? "%4.1f %s" : "%4.0f %s", bytes, units[unit]);
}

static void print_hot_places(FILE *stream, const struct hg_hotspot *hotspot)
{
	enum { MOST_PLACES = 3 };
	fprintf(stream, " (%s:", hotspot->file);
	for (size_t i = 0; i < hotspot->place_count && i < MOST_PLACES; i++)
		fprintf(stream, "%s%" PRIu32 ":%u-%u", i ? ", " : "", hotspot->places[i].line,
			hotspot->places[i].start, hotspot->places[i].end);
	fputs(hotspot->place_count > MOST_PLACES ? "...)\n" : ")\n", stream);
}

static void print_hotspot(FILE *stream, const struct hg_hotspot *hotspot, uint64_t all, double rate)
{
	print_hot_bytes(stream, (double)hotspot->samples, rate);
	fprintf(stream, " (%4.1f%%) at %s", 100. * ((double)hotspot->samples / (double)all),
		hotspot->function);
	print_hot_places(stream, hotspot);
	if (hotspot->caller_count)
		fputs("      including:\n", stream);
	for (size_t i = 0; i < hotspot->caller_count; i++) {
		const struct hg_hotspot_caller *caller = &hotspot->callers[i];
		fputs("    ", stream);
		print_hot_bytes(stream, (double)caller->events, rate);
		fprintf(stream, " via %s (%.0f%% of this)\n", caller->function,
			100. * ((double)caller->events / (double)caller->samples));
	}
	fputs("\n", stream);
}

enum hg_status rep_trace_hotspots(struct rep_trace_context *context, FILE *stream)
{
	const struct hg_trace_info *info = hg_trace_header(context->trace);
	struct hg_hotspots *hotspots;
	enum hg_status status = hg_list_hotspots(context->trace, &hotspots);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	fprintf(stream, "Trace for %s [%" PRIu64 "]:\n   %" PRIu64 " samples of ", info->executable,
		info->pid, hotspots->samples);
	print_hot_bytes(stream, (double)hotspots->samples, info->rate);
	fputs(" allocations\n\n", stream);
	for (size_t i = 0; i < hotspots->count; i++)
		print_hotspot(stream, hotspots->rows[i], hotspots->samples, info->rate);
	rep_trace_note(context, &hotspots->losses);
	hg_hotspots_release(&hotspots);
	return HG_OK;
}
