/*
 * What the file says of itself, section by section; or, of a file that no loader takes, what it is
 * and why it was refused.
 */
#include "report/report.h"

#include "report/common.h"

#include <string.h>
#include <time.h>

static void file_lines(struct rep_emitter *emitter, const struct hg_info *info)
{
	rep_value_string(emitter, "file", "file", REP_PATH, info->path);
	rep_value_string(emitter, "format", NULL, REP_WORD, hg_format_name(info->format));
	rep_value_string(emitter, "title", "what", REP_WORD, info->title);
	rep_value_number(emitter, "file_bytes", "size", REP_BYTES, info->file_bytes);
}

/* Of cores that heapgraph wrote itself. */
static void capture_lines(struct rep_emitter *emitter, const struct hg_info *info)
{
	char when[32] = "";
	struct tm parts;
	time_t seconds = (time_t)(info->time_ns / 1000000000);
	if (info->time_ns != HG_UNKNOWN) {
		rep_value_number(emitter, "time_ns", NULL, REP_NUMBER, info->time_ns);
		if (gmtime_r(&seconds, &parts))
			strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &parts);
		rep_value_string(emitter, NULL, "time", REP_WORD, when);
	}
	if (*info->method)
		rep_value_string(emitter, "capture_method", "method", REP_WORD, info->method);
	if (*info->capture_consistency)
		rep_value_string(emitter, "capture_consistency", "consistency", REP_WORD,
			info->capture_consistency);
}

static void program_lines(struct rep_emitter *emitter, const struct hg_info *info)
{
	if (*info->program)
		rep_value_string(emitter, "program", "program", REP_PATH, info->program);
	rep_value_bool(emitter, "native", NULL, info->native);
	rep_value_string(
		emitter, NULL, "code", REP_WORD, info->native ? "native code" : "bytecode");
	if (*info->ocaml_version)
		rep_value_string(
			emitter, "ocaml_version", "OCaml version", REP_WORD, info->ocaml_version);
	if (info->pid != HG_UNKNOWN)
		rep_value_number(emitter, "pid", "process", REP_NUMBER, info->pid);
	if (info->index != HG_UNKNOWN)
		rep_value_number(emitter, "index", "number of the dump", REP_NUMBER, info->index);
	if (*info->trigger)
		rep_value_string(emitter, "trigger", "written by", REP_NAME, info->trigger);
	const char *amid = info->moment == HG_MOMENT_COMPACTION         ? "a compaction"
			   : info->moment == HG_MOMENT_MINOR_COLLECTION ? "a minor collection"
									: NULL;
	if (amid)
		rep_value_string(emitter, "consistency", "stopped in", REP_WORD, amid);
	capture_lines(emitter, info);
}

/* The parts of a header word, as they are drawn in the runtime's documentation. */
static void header_lines(struct rep_emitter *emitter, const struct hg_info *info)
{
	unsigned bits = info->word_size * 8;
	struct rep_text parts = {0};
	rep_value_number(emitter, "word_size", NULL, REP_BYTES, info->word_size);
	rep_value_number(emitter, "reserved_bits", NULL, REP_NUMBER, info->reserved_bits);
	rep_text_printf(&parts, "%u bits: ", bits);
	if (info->reserved_bits)
		rep_text_printf(&parts, "%u reserved, ", info->reserved_bits);
	rep_text_printf(&parts, "%u size in words, 2 colour, 8 tag",
		bits > 10 + info->reserved_bits ? bits - 10 - info->reserved_bits : 0);
	rep_value_string(emitter, NULL, "header", REP_WORD, rep_text_string(&parts));
	rep_text_release(&parts);
}

static void heap_lines(struct rep_emitter *emitter, const struct hg_info *info)
{
	rep_value_number(emitter, "chunks", "chunks of memory", REP_COUNT, info->chunks);
	rep_value_number(emitter, "chunk_bytes", "size of chunks", REP_BYTES, info->chunk_bytes);
	rep_value_number(emitter, "blocks", "blocks", REP_COUNT, info->blocks);
	rep_value_number(emitter, "bytes", "size of blocks", REP_BYTES, info->bytes);
	rep_value_known(emitter, "heap_bytes", "major heap", REP_BYTES, info->heap_bytes);
	rep_value_known(emitter, "free_bytes", "free in it", REP_BYTES, info->free_bytes);
	rep_value_known(emitter, "free_blocks", "free blocks", REP_COUNT, info->free_blocks);
	rep_value_known(emitter, "fragment_bytes", "fragments", REP_BYTES, info->fragment_bytes);
	if (info->static_blocks)
		rep_value_number(emitter, "static_blocks", "blocks in static data", REP_COUNT,
			info->static_blocks);
	rep_value_known(emitter, "minor_bytes", "minor heaps in use", REP_BYTES, info->minor_bytes);
	if (info->damaged_bytes != HG_UNKNOWN && info->damaged_bytes)
		rep_value_number(
			emitter, "damaged_bytes", "unreadable", REP_BYTES, info->damaged_bytes);
	if (info->live_blocks != HG_UNKNOWN)
		rep_value_number(emitter, "live_blocks", "Gc.stat live blocks", REP_COUNT,
			info->live_blocks);
	if (info->live_words != HG_UNKNOWN)
		rep_value_number(
			emitter, "live_words", "Gc.stat live words", REP_COUNT, info->live_words);
}

/* Of a core: what Gc.Memprof tracks has its location. */
static void sample_lines(struct rep_emitter *emitter, const struct hg_info *info)
{
	struct rep_text rate = {0};
	rep_value_number(emitter, "samples_with_stack", "with a call stack", REP_COUNT,
		info->samples_with_stack);
	rep_value_known(emitter, "sampling_rate_ppb", NULL, REP_NUMBER, info->sampling_rate_ppb);
	rep_sampling_rate(&rate, info);
	rep_value_string(emitter, NULL, "sampled", REP_WORD, rep_text_string(&rate));
	rep_text_release(&rate);
}

static void location_lines(struct rep_emitter *emitter, const struct hg_info *info)
{
	if (*info->profile) {
		rep_value_string(emitter, "location_source", "source", REP_PATH, info->profile);
		rep_value_number(
			emitter, "locations", "locations in it", REP_COUNT, info->locations);
	}
	rep_value_known(emitter, "samples", "tracked blocks", REP_COUNT, info->samples);
	if (info->samples != HG_UNKNOWN && info->samples)
		sample_lines(emitter, info);
	if (info->location_conflicts)
		rep_value_number(emitter, "location_conflicts", "ids not unique", REP_COUNT,
			info->location_conflicts);
	if (*info->profile_note)
		rep_value_string(emitter, "location_note", "note", REP_WORD, info->profile_note);
	else if (!*info->profile && (info->samples == HG_UNKNOWN || !info->samples_with_stack))
		rep_prose(emitter, REP_PLAIN, "  none found: blocks have no location\n");
}

static void root_lines(struct rep_emitter *emitter, const struct hg_info *info)
{
	for (unsigned kind = 0; kind < HG_ROOT_KINDS; kind++) {
		const char *name = hg_root_kind_name((enum hg_root_kind)kind);
		if (info->roots[kind])
			rep_value_number(emitter, name, name, REP_COUNT, info->roots[kind]);
	}
}

static const struct rep_column chunk_columns[] = {
	{"address", "address", REP_ADDRESS, 0},
	{"bytes", "bytes", REP_BYTES, 0},
	{"segment", "segment", REP_WORD, 0},
};

/* JSON: every chunk, so that a reader can draw the address space. */
static void chunk_table(struct rep_context *context)
{
	const struct hg_chunk *chunk;
	if (!context->emitter->writer->tells_all)
		return;
	rep_table_begin(context->emitter, "chunk_list", chunk_columns, 3);
	for (uint64_t i = 0; (chunk = hg_snapshot_chunk(context->snapshot, i)); i++) {
		rep_cell_number(context->emitter, chunk->address);
		rep_cell_number(context->emitter, chunk->bytes);
		rep_cell_string(context->emitter, hg_segment_name(chunk->segment));
		rep_row_end(context->emitter);
	}
	rep_table_end(context->emitter);
}

enum hg_status rep_info(struct rep_context *context)
{
	struct rep_emitter *emitter = context->emitter;
	struct hg_info info = *hg_snapshot_info(context->snapshot);
	rep_begin(context, "info");
	rep_section_begin(emitter, "file", NULL);
	file_lines(emitter, &info);
	rep_section_end(emitter);
	rep_section_begin(emitter, "producer", "Written by");
	program_lines(emitter, &info);
	rep_section_end(emitter);
	rep_section_begin(emitter, "heap", "Heap");
	header_lines(emitter, &info);
	heap_lines(emitter, &info);
	rep_section_end(emitter);
	rep_section_begin(emitter, "locations", "Locations of allocation");
	location_lines(emitter, &info);
	rep_section_end(emitter);
	rep_section_begin(emitter, "roots", "Roots by kind");
	root_lines(emitter, &info);
	rep_section_end(emitter);
	rep_not_read(emitter, &info);
	chunk_table(context);
	rep_document_end(emitter);
	return HG_OK;
}

void rep_info_refused(struct rep_context *context, const char *path, const char *identity,
	const struct hg_error *reason)
{
	struct rep_emitter *emitter = context->emitter;
	rep_document_begin(emitter, "info");
	rep_section_begin(emitter, "refused", NULL);
	rep_value_string(emitter, "file", "file", REP_PATH, path);
	rep_value_string(emitter, "identity", "what", REP_WORD, identity);
	rep_value_string(emitter, "error", NULL, REP_WORD, reason->message);
	if (reason->offset != HG_NO_OFFSET)
		rep_value_number(emitter, "offset", NULL, REP_NUMBER, reason->offset);
	rep_section_end(emitter);
	rep_document_end(emitter);
}
