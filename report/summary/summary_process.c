/* Of the summary: how the memory of the process behind a core adds up. */
#include "report/summary/summary.h"

#include "report/common.h"

static const struct rep_column memory_columns[] = {
	{NULL, "", REP_WORD, 0},
	{NULL, "bytes", REP_BYTES, 0},
	{NULL, "  share", REP_SHARE, 0},
	{NULL, "", REP_WORD, REP_LAST},
};

/* A part that is nothing is left out. */
static void memory_row(struct rep_emitter *emitter, const char *name, uint64_t bytes,
	uint64_t total, const char *remark)
{
	if (bytes == 0)
		return;
	rep_cell_string(emitter, name);
	rep_cell_number(emitter, bytes);
	rep_cell_share(emitter, bytes, total);
	rep_cell_string(emitter, remark);
	rep_row_end(emitter);
}

/* "12.0 MB more were never touched". */
static const char *absent_remark(
	struct rep_text *text, const struct hg_memory *memory, uint64_t absent, const char *what)
{
	rep_text_put(text, what);
	if (absent == 0)
		return rep_text_string(text);
	rep_text_put(text, *what ? "; " : "");
	rep_text_size(text, absent);
	rep_text_put(text, memory->is_resident ? " more of it are not in memory"
					       : " more of it are not in the core");
	return rep_text_string(text);
}

static void write_uncounted(struct rep_emitter *emitter, const struct hg_memory *memory)
{
	struct rep_text text = {0};
	bool more = memory->uncounted != 0;
	if (!more && memory->overcounted == 0)
		return;
	rep_text_count(&text, more ? memory->uncounted : memory->overcounted);
	rep_prose(emitter, REP_PLAIN,
		"  The kernel counts %s bytes %s than its list of pages has.\n",
		rep_text_string(&text), more ? "more" : "less");
	rep_text_release(&text);
}

void rep_summary_process(struct rep_emitter *emitter, const struct summary *summary)
{
	const struct hg_memory *memory = summary->memory;
	if (!memory)
		return;
	struct rep_text heap = {0}, offheap = {0}, total = {0};
	uint64_t all = memory->total;
	if (memory->peak != HG_UNKNOWN) {
		rep_text_put(&total, "at most ");
		rep_text_size(&total, memory->peak);
		rep_text_put(&total, " so far");
	}
	if (memory->swapped != HG_UNKNOWN && memory->swapped) {
		rep_text_put(&total, "; besides, ");
		rep_text_size(&total, memory->swapped);
		rep_text_put(&total, " are swapped out");
	}
	rep_headline(emitter, memory->is_resident
				      ? "The process: what its resident memory is used for"
				      : "The process: what the memory in the core was used for "
					"(whether it was resident, nobody noted)");
	rep_table_begin(emitter, "process_parts", memory_columns, 4);
	memory_row(emitter, memory->is_resident ? "resident" : "in the core", all, all,
		rep_text_string(&total));
	memory_row(emitter, "OCaml heap", memory->heap, all,
		absent_remark(&heap, memory, memory->heap_absent, "live, free and minor heaps"));
	memory_row(emitter, "off-heap", memory->offheap, all,
		absent_remark(&offheap, memory, memory->offheap_absent, "owned by blocks"));
	memory_row(emitter, "stacks", memory->stacks, all, "");
	memory_row(emitter, "data", memory->data, all,
		"variables of the program and its libraries, static blocks");
	memory_row(emitter, "files", memory->files, all, "code and other mapped files");
	memory_row(emitter, "shared", memory->shared, all, "with other processes");
	memory_row(emitter, "the rest", memory->rest, all,
		"malloc() of C and of the runtime: of what in it blocks own nothing is known");
	rep_table_end(emitter);
	write_uncounted(emitter, memory);
	rep_text_release(&heap);
	rep_text_release(&offheap);
	rep_text_release(&total);
}

void rep_summary_process_values(struct rep_emitter *emitter, const struct summary *summary)
{
	const struct hg_memory *memory = summary->memory;
	if (!memory)
		return;
	const struct {
		const char *key;
		uint64_t number;
	} values[] = {
		{"total_bytes", memory->total},
		{"heap_bytes", memory->heap},
		{"offheap_bytes", memory->offheap},
		{"stack_bytes", memory->stacks},
		{"data_bytes", memory->data},
		{"file_bytes", memory->files},
		{"shared_bytes", memory->shared},
		{"rest_bytes", memory->rest},
		{"uncounted_bytes", memory->uncounted},
		{"overcounted_bytes", memory->overcounted},
		{"peak_bytes", memory->peak},
		{"swapped_bytes", memory->swapped},
		{"heap_absent_bytes", memory->heap_absent},
		{"offheap_absent_bytes", memory->offheap_absent},
		{"offheap_unplaced_bytes", memory->offheap_unplaced},
	};
	rep_section_begin(emitter, "process", NULL);
	rep_value_bool(emitter, "resident", NULL, memory->is_resident);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		rep_value_known(emitter, values[i].key, NULL, REP_NUMBER, values[i].number);
	rep_section_end(emitter);
}
