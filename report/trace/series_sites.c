/* Places of allocation of a series of Spacetime, by what is alive at a snapshot. */
#include "report/trace/trace.h"

#include "report/common.h"

enum { SITE_WORD_BYTES = 8 };

static const struct rep_column site_columns[] = {
	{"location", "place", REP_NAME, REP_LAST},
	{"in_c", NULL, REP_NUMBER, 0},
	{"live_bytes", "live", REP_BYTES, 0},
	{"blocks", "blocks", REP_COUNT, 0},
	{"allocated_bytes", "allocated", REP_BYTES, 0},
	{"survival", "survives", REP_SHARE, REP_NOT_CSV},
	{"ever_allocated_bytes", "to the end", REP_BYTES, 0},
	{"points", "points", REP_COUNT, 0},
	{"share", "  share", REP_SHARE, REP_NOT_CSV},
	{"c_function", NULL, REP_NAME, 0},
};

static void write_site(struct rep_emitter *emitter, const struct hg_spacetime_site *site,
	const struct hg_spacetime_sites *sites, struct rep_text *label)
{
	rep_text_clear(label);
	rep_text_put(label, *site->location ? site->location : "(no place known)");
	if (*site->c_function)
		rep_text_printf(label, " (in C: %s)", site->c_function);
	else if (site->in_c)
		rep_text_put(label, " (in C)");
	rep_cell_labelled(emitter, site->location, rep_text_string(label));
	rep_cell_bool(emitter, site->in_c);
	rep_cell_number(emitter, SITE_WORD_BYTES * site->words);
	rep_cell_number(emitter, site->blocks);
	rep_cell_number(emitter, SITE_WORD_BYTES * site->allocated);
	rep_cell_share(emitter, site->words, site->allocated);
	rep_cell_number(emitter, SITE_WORD_BYTES * site->ever_allocated);
	rep_cell_number(emitter, site->points);
	rep_cell_share(emitter, site->words, sites->totals.words);
	rep_cell_string(emitter, site->c_function);
	rep_row_end(emitter);
}

static void write_sites_head(struct rep_emitter *emitter, const struct hg_spacetime_sites *sites)
{
	struct rep_text line = {0};
	rep_prose(emitter, REP_BOLD, "Places of allocation");
	if (sites->any_snapshot) {
		rep_text_printf(&line, " by what is alive in snapshot %llu (%.6g s): ",
			(unsigned long long)sites->snapshot, sites->time);
		rep_text_size(&line, SITE_WORD_BYTES * sites->totals.words);
		rep_text_put(&line, " alive, ");
		rep_text_size(&line, SITE_WORD_BYTES * sites->unknown);
		rep_text_put(&line, " without a place, ");
		rep_text_size(&line, SITE_WORD_BYTES * sites->totals.allocated);
		rep_text_put(&line, " allocated by then");
	} else {
		rep_text_put(&line, " of the whole run: there is no snapshot; ");
		rep_text_size(&line, SITE_WORD_BYTES * sites->totals.ever_allocated);
		rep_text_put(&line, " allocated");
	}
	rep_prose(emitter, REP_PLAIN, "%s\n", rep_text_string(&line));
	rep_text_clear(&line);
	rep_value_bool(emitter, "any_snapshot", NULL, sites->any_snapshot);
	rep_value_number(emitter, "snapshot", NULL, REP_COUNT, sites->snapshot);
	rep_text_printf(&line, "%.6g", sites->time);
	rep_value_string(emitter, "time", NULL, REP_WORD, rep_text_string(&line));
	rep_value_number(emitter, "live_bytes_total", NULL, REP_BYTES,
		SITE_WORD_BYTES * sites->totals.words);
	rep_value_number(
		emitter, "unknown_bytes", NULL, REP_BYTES, SITE_WORD_BYTES * sites->unknown);
	rep_value_number(emitter, "allocated_bytes_total", NULL, REP_BYTES,
		SITE_WORD_BYTES * sites->totals.allocated);
	rep_value_number(emitter, "ever_allocated_bytes_total", NULL, REP_BYTES,
		SITE_WORD_BYTES * sites->totals.ever_allocated);
	rep_value_number(emitter, "rows_total", NULL, REP_COUNT, sites->count);
	rep_text_release(&line);
}

enum hg_status rep_series_sites(
	struct rep_trace_context *context, const struct hg_spacetime_choice *choice, uint64_t limit)
{
	struct rep_emitter *emitter = context->emitter;
	struct hg_spacetime_sites *sites;
	struct rep_text label = {0};
	enum hg_status status = hg_list_spacetime_sites(context->trace, choice, &sites);
	if (status != HG_OK)
		return rep_trace_failed(context, status);
	size_t shown = limit && limit < sites->count ? (size_t)limit : sites->count;
	rep_document_begin(emitter, "trace top");
	write_sites_head(emitter, sites);
	rep_table_begin(
		emitter, "rows", site_columns, sizeof(site_columns) / sizeof(site_columns[0]));
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++)
		write_site(emitter, sites->rows[i], sites, &label);
	rep_table_end(emitter);
	rep_more_rows(emitter, sites->count - shown, "places", "--limit 0");
	rep_document_end(emitter);
	rep_text_release(&label);
	rep_trace_note(context, &sites->losses);
	hg_spacetime_sites_release(&sites);
	return HG_OK;
}
