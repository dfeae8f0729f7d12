/* Of the summary: what the snapshot is, how much there is, and how that adds up. */
#include "report/summary/summary.h"

#include "report/common.h"

struct check {
	const char *key, *name;
	const char *text;
	uint64_t left[8]; /* those after the first may be 0 */
	uint64_t right;
};

static void describe_program(struct rep_text *line, const struct hg_info *info)
{
	if (*info->program)
		rep_text_printf(line, "%s, ", info->program);
	rep_text_put(line, info->native ? "native code" : "bytecode");
	if (*info->ocaml_version)
		rep_text_printf(line, ", OCaml %s", info->ocaml_version);
	if (info->pid != HG_UNKNOWN)
		rep_text_printf(line, "; process %llu", (unsigned long long)info->pid);
	if (info->index != HG_UNKNOWN)
		rep_text_printf(line, ", dump %llu", (unsigned long long)info->index);
	if (*info->trigger)
		rep_text_printf(line, ", %s", info->trigger);
}

static void describe_locations(struct rep_text *line, const struct hg_info *info)
{
	if (!*info->profile) {
		rep_text_put(line, *info->profile_note ? info->profile_note : "none");
		return;
	}
	rep_text_printf(line, "%s, ", info->profile);
	rep_name_amount(line, info->locations, "location", "locations");
	if (info->location_conflicts) {
		rep_text_put(line, ", of which ");
		rep_text_count(line, info->location_conflicts);
		rep_text_put(line, " share an id");
	}
	if (*info->profile_note)
		rep_text_printf(line, "; %s", info->profile_note);
}

/* Of a core: blocks have a location if the program profiled itself. */
static void describe_samples(struct rep_text *line, const struct summary *summary)
{
	const struct hg_info *info = &summary->info;
	const struct hg_totals *totals = summary->totals;
	if (summary->join) {
		rep_text_printf(line, "%s tells ", summary->join->trace);
		rep_put_join(line, summary->join);
		rep_text_put(line, "; sampling ");
		rep_sampling_rate(line, info);
		return;
	}
	if (totals->located_blocks == 0) {
		rep_text_put(line, "none: Gc.Memprof tracks no block with its call stack");
		return;
	}
	rep_text_put(line, "of ");
	rep_name_amount(line, totals->located_blocks, "block", "blocks");
	rep_text_put(line, " that Gc.Memprof tracks, sampling ");
	rep_sampling_rate(line, info);
}

static void describe_types(
	struct rep_text *line, const struct hg_info *info, const struct hg_totals *totals)
{
	if (!info->has_types) {
		rep_text_put(line, info->type_note);
		return;
	}
	rep_coverage(line, totals);
	if (*info->type_profile)
		rep_text_printf(line, ", profile %s", info->type_profile);
	if (*info->type_note)
		rep_text_printf(line, "; %s", info->type_note);
}

/* Which roots hold what others hold, too. */
static void describe_roots(struct rep_text *line, const struct hg_info *info)
{
	uint64_t all = 0, passing = info->roots[HG_ROOT_STACK] + info->roots[HG_ROOT_LOCAL];
	for (size_t kind = 0; kind < info->root_kinds; kind++)
		all += info->roots[kind];
	if (info->all_roots_alike || passing == 0) {
		rep_text_count(line, all);
		rep_text_put(line, info->all_roots_alike ? ", all alike" : ", all lasting");
		return;
	}
	rep_text_count(line, all - passing);
	rep_text_put(line, " lasting; ");
	rep_text_count(line, passing);
	rep_text_put(line, " that pass (stack, local) count last, with '--roots all' alike");
}

void rep_summary_head(struct rep_emitter *emitter, const struct summary *summary)
{
	const struct hg_info *info = &summary->info;
	struct rep_text line = {0}, escaped = {0};
	rep_text_printf(&line, "%s: %s", rep_base_name(info->path), info->title);
	rep_prose(emitter, REP_BOLD, "%s\n", rep_escaped(&escaped, rep_text_string(&line)));
	rep_text_clear(&line);
	describe_program(&line, info);
	rep_prose(emitter, REP_PLAIN, "  program    %s\n",
		rep_escaped(&escaped, rep_text_string(&line)));
	rep_text_clear(&line);
	if (info->heap_bytes == HG_UNKNOWN)
		describe_locations(&line, info);
	else
		describe_samples(&line, summary);
	rep_prose(emitter, REP_PLAIN, "  locations  %s\n",
		rep_escaped(&escaped, rep_text_string(&line)));
	rep_text_clear(&line);
	describe_types(&line, info, summary->totals);
	if (line.length)
		rep_prose(emitter, REP_PLAIN, "  types      %s\n",
			rep_escaped(&escaped, rep_text_string(&line)));
	rep_text_clear(&line);
	describe_roots(&line, info);
	rep_prose(emitter, REP_PLAIN, "  roots      %s\n", rep_text_string(&line));
	rep_text_release(&line);
	rep_text_release(&escaped);
}

static const struct rep_column total_columns[] = {
	{NULL, "", REP_WORD, 0},
	{NULL, "blocks", REP_COUNT, 0},
	{NULL, "bytes", REP_BYTES, 0},
	{NULL, "  share", REP_SHARE, 0},
	{NULL, "", REP_WORD, REP_LAST},
};

static void total_row(struct rep_emitter *emitter, const char *name, uint64_t blocks,
	uint64_t bytes, uint64_t all_bytes, const char *remark)
{
	rep_cell_string(emitter, name);
	if (blocks == HG_UNKNOWN)
		rep_cell_none(emitter);
	else
		rep_cell_number(emitter, blocks);
	rep_cell_number(emitter, bytes);
	rep_cell_share(emitter, bytes, all_bytes);
	rep_cell_string(emitter, remark);
	rep_row_end(emitter);
}

/* Of a core: the parts of the process, in the terms of Gc.stat. */
static void write_heap_rows(struct rep_emitter *emitter, const struct summary *summary)
{
	const struct hg_totals *totals = summary->totals;
	const struct hg_info *info = &summary->info;
	struct rep_text large = {0};
	rep_text_put(&large, "of the major heap");
	if (info->large_blocks) {
		rep_text_put(&large, "; Gc.stat counts 2 words more for ");
		rep_name_amount(&large, info->large_blocks, "large block", "large blocks");
	}
	total_row(emitter, "in static data", totals->static_blocks, totals->static_bytes,
		totals->bytes, "");
	total_row(emitter, "in minor heaps", totals->minor_blocks, totals->minor_bytes,
		totals->bytes, "");
	total_row(emitter, "live for Gc.stat", info->live_blocks, 8 * info->live_words,
		info->heap_bytes, rep_text_string(&large));
	total_row(emitter, "free", info->free_blocks, info->free_bytes, info->heap_bytes,
		"of the major heap");
	total_row(emitter, "fragments", HG_UNKNOWN, info->fragment_bytes, info->heap_bytes,
		"of the major heap");
	if (info->damaged_bytes)
		total_row(emitter, "unreadable", HG_UNKNOWN, info->damaged_bytes, info->heap_bytes,
			"of the major heap");
	if (totals->offheap_bytes != HG_UNKNOWN)
		total_row(emitter, "off-heap", HG_UNKNOWN, totals->offheap_bytes,
			totals->bytes + totals->offheap_bytes,
			"besides all of this, of both: Bigarray data, channels");
	rep_text_release(&large);
}

/* Of a core: what no root holds is all young, with the static data that only it leads to. */
static bool is_young_garbage(const struct summary *summary)
{
	return summary->info.heap_bytes != HG_UNKNOWN &&
	       summary->totals->unreachable_heap_blocks == 0;
}

void rep_summary_table(struct rep_emitter *emitter, const struct summary *summary)
{
	const struct hg_totals *totals = summary->totals;
	bool partial = *summary->info.partial != '\0';
	struct rep_text recovered = {0};
	if (totals->recovered_blocks) {
		rep_text_count(&recovered, totals->recovered_blocks);
		rep_text_put(&recovered, " of them through the restored id bit");
	}
	rep_prose(emitter, REP_PLAIN, "\n");
	rep_table_begin(emitter, "totals", total_columns, 5);
	total_row(emitter, "all blocks", totals->blocks, totals->bytes, totals->bytes, "");
	total_row(emitter, "reachable", totals->reachable_blocks, totals->reachable_bytes,
		totals->bytes, partial ? "from the roots that were read" : "from the roots");
	total_row(emitter, "unreachable", totals->unreachable_blocks, totals->unreachable_bytes,
		totals->bytes,
		!totals->unreachable_blocks ? ""
		: partial                   ? "from those: the file was cut short"
		: is_young_garbage(summary)
			? "none of it in the major heap: garbage of the minor heaps"
			: "from no recorded root");
	total_row(emitter, "with a location", totals->located_blocks, totals->located_bytes,
		totals->bytes, rep_text_string(&recovered));
	if (totals->memprof_blocks)
		total_row(emitter, "of Gc.Memprof", totals->memprof_blocks, totals->memprof_bytes,
			totals->bytes, "call stacks of samples: neither with a type nor without");
	if (summary->info.has_types)
		total_row(emitter, "with a type", totals->typed_blocks, totals->typed_bytes,
			totals->bytes, "");
	if (summary->info.heap_bytes != HG_UNKNOWN)
		write_heap_rows(emitter, summary);
	else if (summary->info.free_bytes != HG_UNKNOWN && summary->info.free_bytes)
		total_row(emitter, "free in the heap", HG_UNKNOWN, summary->info.free_bytes,
			summary->info.chunk_bytes, "of the heap's chunks");
	rep_table_end(emitter);
	rep_text_release(&recovered);
}

/*
 * A dump made at an arbitrary point misses the stack, or the young blocks that hold the rest: what
 * follows is then about a small part, which must be said.
 */
void rep_summary_warning(struct rep_emitter *emitter, const struct summary *summary)
{
	const struct hg_totals *totals = summary->totals;
	struct rep_text line = {0};
	if (2 * totals->unreachable_bytes <= totals->bytes)
		return;
	rep_text_percent(&line, totals->unreachable_bytes, totals->bytes);
	rep_text_put(&line, " of the memory hangs from no recorded root");
	if (totals->outside_pointers) {
		rep_text_put(&line, "; ");
		rep_name_amount(&line, totals->outside_pointers, "pointer leads", "pointers lead");
		rep_text_put(
			&line, " out of the recorded heap ('summary --outside' says where to)");
	}
	rep_prose(emitter, REP_BOLD, "\n  NOTE      %s.\n", rep_text_string(&line));
	rep_prose(emitter, REP_PLAIN,
		"            Retained sizes below are of the other part; 'top --sort bytes' ranks "
		"all of it.\n");
	rep_text_release(&line);
}

void rep_summary_values(struct rep_emitter *emitter, const struct summary *summary)
{
	const struct hg_totals *totals = summary->totals;
	const struct hg_info *info = &summary->info;
	const struct {
		const char *key;
		uint64_t number;
	} values[] = {
		{"blocks", totals->blocks},
		{"bytes", totals->bytes},
		{"reachable_blocks", totals->reachable_blocks},
		{"reachable_bytes", totals->reachable_bytes},
		{"unreachable_blocks", totals->unreachable_blocks},
		{"unreachable_bytes", totals->unreachable_bytes},
		{"unreachable_heap_blocks", totals->unreachable_heap_blocks},
		{"static_blocks", totals->static_blocks},
		{"static_bytes", totals->static_bytes},
		{"minor_blocks", totals->minor_blocks},
		{"minor_bytes", totals->minor_bytes},
		{"retained_bytes", totals->retained_bytes},
		{"live_blocks", info->live_blocks},
		{"live_words", info->live_words},
		{"free_bytes", info->free_bytes},
		{"free_blocks", info->free_blocks},
		{"fragment_bytes", info->fragment_bytes},
		{"damaged_bytes", info->damaged_bytes},
		{"heap_bytes", info->heap_bytes},
		{"large_blocks", info->large_blocks},
		{"chunk_bytes", info->chunk_bytes},
		{"offheap_bytes", totals->offheap_bytes},
		{"located_blocks", totals->located_blocks},
		{"located_bytes", totals->located_bytes},
		{"recovered_blocks", totals->recovered_blocks},
		{"roots", totals->roots},
		{"root_targets", totals->root_targets},
		{"pointers", totals->pointers},
		{"infix_pointers", totals->infix_pointers},
		{"code_pointers", totals->code_pointers},
		{"outside_pointers", totals->outside_pointers},
		{"atom_pointers", totals->atom_pointers},
		{"forwarded_pointers", totals->forwarded_pointers},
		{"dangling_pointers", totals->dangling_pointers},
		{"unreachable_dangling_pointers", totals->unreachable_dangling_pointers},
		{"immediates", totals->immediates},
		{"typed_blocks", totals->typed_blocks},
		{"typed_bytes", totals->typed_bytes},
		{"shape_clashes", totals->shape_clashes},
		{"type_conflicts", totals->type_conflicts},
		{"static_type_conflicts", totals->static_conflicts},
		{"given_up_blocks", totals->given_up_blocks},
		{"sampled_blocks", totals->sampled_blocks},
		{"retained_offheap_bytes", totals->retained_offheap_bytes},
		{"mapped_file_bytes", totals->mapped_file_bytes},
		{"memprof_blocks", totals->memprof_blocks},
		{"memprof_bytes", totals->memprof_bytes},
	};
	rep_section_begin(emitter, "totals", NULL);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		rep_value_known(emitter, values[i].key, NULL, REP_COUNT, values[i].number);
	rep_section_end(emitter);
}

static bool adds_up(const struct check *check)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < 8; i++)
		sum += check->left[i];
	return sum == check->right;
}

static void write_check_text(struct rep_emitter *emitter, const struct check *check)
{
	struct rep_text sum = {0};
	rep_text_count(&sum, check->left[0]);
	for (unsigned i = 1; i < 8; i++) {
		if (!check->left[i])
			continue;
		rep_text_put(&sum, " + ");
		rep_text_count(&sum, check->left[i]);
	}
	rep_text_put(&sum, adds_up(check) ? " = " : " is not ");
	rep_text_count(&sum, check->right);
	rep_prose(emitter, adds_up(check) ? REP_GOOD : REP_BAD, "  %-8s",
		adds_up(check) ? "OK" : "MISMATCH");
	rep_prose(emitter, REP_PLAIN, "  %s: %s\n", check->text, rep_text_string(&sum));
	rep_text_release(&sum);
}

/* All of them in a line. */
static void write_agreement(struct rep_emitter *emitter, const struct check *checks, size_t count)
{
	struct rep_text names = {0};
	for (size_t i = 0; i < count; i++)
		rep_text_printf(
			&names, "%s%s", i ? i + 1 == count ? " and " : ", " : "", checks[i].name);
	rep_prose(emitter, REP_GOOD, "OK");
	rep_prose(emitter, REP_PLAIN, ": the sums of %s agree (--sums shows them)\n",
		rep_text_string(&names));
	rep_text_release(&names);
}

/* Writes how the numbers add up; false if they do not. */
bool rep_summary_checks(struct rep_emitter *emitter, const struct summary *summary, bool sums)
{
	const struct hg_totals *totals = summary->totals;
	const struct hg_info *info = &summary->info;
	const struct hg_memory memory = summary->memory ? *summary->memory : (struct hg_memory){0};
	const struct check checks[] = {
		{"blocks", "blocks", "reachable + unreachable = all blocks of the file",
			{totals->reachable_blocks, totals->unreachable_blocks},
			summary->info.blocks},
		{"bytes", "bytes", "the same in bytes",
			{totals->reachable_bytes, totals->unreachable_bytes}, summary->info.bytes},
		{"retained", "retained bytes",
			"sum of shallow bytes of reachable = retained by the virtual root",
			{totals->reachable_bytes, 0}, totals->retained_bytes},
		{"retention_tree", "the retention tree",
			"own bytes of all nodes of the retention tree = reachable",
			{summary->tree_bytes}, totals->reachable_bytes},
		{"segments", "parts of the heap", "live for Gc.stat + minor + static = all blocks",
			{info->live_blocks, totals->minor_blocks, totals->static_blocks},
			info->blocks},
		{"major_heap", "the major heap",
			"live + free + fragments = the major heap, in bytes",
			{8 * info->live_words, info->free_bytes, info->fragment_bytes,
				info->damaged_bytes},
			info->heap_bytes},
		{"process", "the process", "the parts of the process = its memory",
			{memory.heap, memory.offheap, memory.stacks, memory.data, memory.files,
				memory.shared, memory.rest, memory.uncounted},
			memory.total + memory.overcounted},
	};
	/* The parts of the heap, and the process, are known of cores only. */
	size_t count = info->heap_bytes == HG_UNKNOWN ? 4 : summary->memory ? 7 : 6;
	bool fine = true;
	for (size_t i = 0; i < count; i++)
		fine &= adds_up(&checks[i]);
	rep_prose(emitter, REP_PLAIN, "\n");
	rep_section_begin(emitter, "reconciliation", NULL);
	for (size_t i = 0; i < count; i++) {
		if (sums || !fine)
			write_check_text(emitter, &checks[i]);
		rep_value_bool(emitter, checks[i].key, NULL, adds_up(&checks[i]));
	}
	rep_section_end(emitter);
	if (fine && !sums)
		write_agreement(emitter, checks, count);
	return fine;
}
