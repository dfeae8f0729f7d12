#include "report/report.h"

#include "report/common.h"

#include <stdlib.h>

enum { SHOWN_LOCATIONS = 8, SHOWN_DOMINATORS = 5, SHOWN_SUSPECTS = 3, SHORTEST_CHAIN = 16 };

/* All that the summary asks of the library, so that nothing is written before it is complete. */
struct findings {
	struct hg_info info;
	struct hg_totals totals;
	struct hg_top types, locations, roots;
	struct hg_tree dominators;
	struct hg_suspects suspects;
};

struct check {
	const char *key;
	const char *text;
	uint64_t left[4]; /* those behind the first may be 0 */
	uint64_t right;
};

static enum hg_status ask(struct rep_context *context, struct findings *findings)
{
	struct hg_snapshot *snapshot = context->snapshot;
	struct hg_tree_options shallow = {.size = sizeof(shallow),
		.from = HG_NO_NODE,
		.max_depth = 1,
		.max_children = SHOWN_DOMINATORS};
	hg_snapshot_info(snapshot, &findings->info);
	enum hg_status status = hg_totals(snapshot, &findings->totals);
	if (status == HG_OK)
		status = hg_top(snapshot, HG_BY_LOCATION, &findings->locations);
	if (status == HG_OK && findings->info.has_types)
		status = hg_top(snapshot, HG_BY_TYPE, &findings->types);
	if (status == HG_OK)
		status = hg_top(snapshot, HG_BY_ROOT, &findings->roots);
	if (status == HG_OK)
		status = hg_tree(snapshot, &shallow, &findings->dominators);
	if (status == HG_OK)
		status = hg_suspects(snapshot, &findings->suspects);
	return status == HG_OK ? HG_OK : rep_library_failed(context, status);
}

static void release(struct findings *findings)
{
	hg_top_release(&findings->types);
	hg_top_release(&findings->locations);
	hg_top_release(&findings->roots);
	hg_tree_release(&findings->dominators);
	hg_suspects_release(&findings->suspects);
}

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
static void describe_samples(
	struct rep_text *line, const struct hg_info *info, const struct hg_totals *totals)
{
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

static void write_head(struct rep_emitter *emitter, const struct findings *findings)
{
	const struct hg_info *info = &findings->info;
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
		describe_samples(&line, info, &findings->totals);
	rep_prose(emitter, REP_PLAIN, "  locations  %s\n",
		rep_escaped(&escaped, rep_text_string(&line)));
	rep_text_clear(&line);
	describe_types(&line, info, &findings->totals);
	if (line.length)
		rep_prose(emitter, REP_PLAIN, "  types      %s\n",
			rep_escaped(&escaped, rep_text_string(&line)));
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
static void write_heap_rows(struct rep_emitter *emitter, const struct findings *findings)
{
	const struct hg_totals *totals = &findings->totals;
	const struct hg_info *info = &findings->info;
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
		total_row(emitter, "off-heap", HG_UNKNOWN, totals->offheap_bytes, totals->bytes,
			"besides all of this: Bigarray data");
	rep_text_release(&large);
}

/* Of a core: what no root holds is all young, with the static data that only it leads to. */
static bool is_young_garbage(const struct findings *findings)
{
	return findings->info.heap_bytes != HG_UNKNOWN &&
	       findings->totals.unreachable_heap_blocks == 0;
}

static void write_total_table(struct rep_emitter *emitter, const struct findings *findings)
{
	const struct hg_totals *totals = &findings->totals;
	bool partial = *findings->info.partial != '\0';
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
		: is_young_garbage(findings)
			? "none of it in the major heap: garbage of the minor heaps"
			: "from no recorded root");
	total_row(emitter, "with a location", totals->located_blocks, totals->located_bytes,
		totals->bytes, rep_text_string(&recovered));
	if (findings->info.has_types)
		total_row(emitter, "with a type", totals->typed_blocks, totals->typed_bytes,
			totals->bytes, "");
	if (findings->info.heap_bytes != HG_UNKNOWN)
		write_heap_rows(emitter, findings);
	else if (findings->info.free_bytes != HG_UNKNOWN && findings->info.free_bytes)
		total_row(emitter, "free in the heap", HG_UNKNOWN, findings->info.free_bytes,
			findings->info.chunk_bytes, "of the heap's chunks");
	rep_table_end(emitter);
	rep_text_release(&recovered);
}

/*
 * A dump made at an arbitrary point misses the stack, or the young blocks that hold the rest: what
 * follows is then about a small part, which must be said.
 */
static void write_warning(struct rep_emitter *emitter, const struct findings *findings)
{
	const struct hg_totals *totals = &findings->totals;
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

static void known_total(struct rep_emitter *emitter, const char *key, uint64_t number)
{
	if (number != HG_UNKNOWN)
		rep_value_number(emitter, key, NULL, REP_COUNT, number);
}

static void write_total_values(struct rep_emitter *emitter, const struct findings *findings)
{
	const struct hg_totals *totals = &findings->totals;
	const struct hg_info *info = &findings->info;
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
	};
	rep_section_begin(emitter, "totals", NULL);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		known_total(emitter, values[i].key, values[i].number);
	rep_section_end(emitter);
}

static bool adds_up(const struct check *check)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < 4; i++)
		sum += check->left[i];
	return sum == check->right;
}

static void write_check_text(struct rep_emitter *emitter, const struct check *check)
{
	struct rep_text sum = {0};
	rep_text_count(&sum, check->left[0]);
	for (unsigned i = 1; i < 4; i++) {
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

/* Writes how the numbers add up; false if they do not. */
static bool write_reconciliation(struct rep_emitter *emitter, const struct findings *findings)
{
	const struct hg_totals *totals = &findings->totals;
	const struct hg_info *info = &findings->info;
	const struct check checks[] = {
		{"blocks", "reachable + unreachable = all blocks of the file",
			{totals->reachable_blocks, totals->unreachable_blocks},
			findings->info.blocks},
		{"bytes", "the same in bytes", {totals->reachable_bytes, totals->unreachable_bytes},
			findings->info.bytes},
		{"retained", "sum of shallow bytes of reachable = retained by the virtual root",
			{totals->reachable_bytes, 0}, totals->retained_bytes},
		{"segments", "live for Gc.stat + minor + static = all blocks",
			{info->live_blocks, totals->minor_blocks, totals->static_blocks},
			info->blocks},
		{"major_heap", "live + free + fragments = the major heap, in bytes",
			{8 * info->live_words, info->free_bytes, info->fragment_bytes,
				info->damaged_bytes},
			info->heap_bytes},
	};
	/* The parts of the heap are known of cores only. */
	size_t count = info->heap_bytes == HG_UNKNOWN ? 3 : 5;
	bool fine = true;
	rep_prose(emitter, REP_PLAIN, "\n");
	rep_section_begin(emitter, "reconciliation", NULL);
	for (size_t i = 0; i < count; i++) {
		write_check_text(emitter, &checks[i]);
		rep_value_bool(emitter, checks[i].key, NULL, adds_up(&checks[i]));
		fine &= adds_up(&checks[i]);
	}
	rep_section_end(emitter);
	return fine;
}

/* The rows of 'top' that retain most. */
static void write_classes(struct rep_context *context, const struct findings *findings,
	const struct hg_top *top, const char *member)
{
	struct rep_emitter *emitter = context->emitter;
	const char *key = hg_key_name(top->key);
	bool sampled = rep_is_sampled(top->key, &findings->totals);
	const struct rep_column columns[] = {
		{key, key, REP_NAME, top->key == HG_BY_TYPE ? REP_LAST | REP_HEAD : REP_LAST},
		{"blocks", "blocks", REP_COUNT, 0},
		{"bytes", "bytes", REP_BYTES, 0},
		{"retained_bytes", "retained", REP_BYTES, 0},
		{"retained_share", "  share", REP_SHARE, 0},
		rep_estimated_column(sampled),
		rep_error_column(sampled),
	};
	size_t shown = top->count < SHOWN_LOCATIONS ? top->count : SHOWN_LOCATIONS;
	rep_table_begin(emitter, member, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < shown; i++) {
		const struct hg_class *row = &top->rows[i];
		rep_class_cells(emitter, context->snapshot, top->key, row->id, row->confidence);
		rep_cell_number(emitter, row->blocks);
		rep_cell_number(emitter, row->bytes);
		rep_cell_number(emitter, row->retained_bytes);
		rep_cell_share(emitter, row->retained_bytes, findings->totals.retained_bytes);
		rep_estimate_cells(emitter, row);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
	if (sampled)
		rep_prose(emitter, REP_PLAIN, "%s", REP_ESTIMATE_MEANING);
}

/* People see types, or locations if there are none; programs both. */
static void write_largest(struct rep_context *context, const struct findings *findings)
{
	bool text = context->emitter->writer->for_people;
	bool locations = findings->totals.located_blocks || findings->info.heap_bytes == HG_UNKNOWN;
	if (findings->info.has_types) {
		rep_headline(context->emitter, "What fills the memory: types that retain most");
		write_classes(context, findings, &findings->types, "types");
		locations &= !text;
	}
	if (!locations && text)
		return;
	rep_headline(
		context->emitter, "Where the memory was allocated: locations that retain most");
	write_classes(context, findings, &findings->locations, "locations");
}

static const struct rep_column dominator_columns[] = {
	{"address", NULL, REP_NAME, 0},
	{"location", NULL, REP_NAME, 0},
	{"children", "holds", REP_COUNT, 0},
	{"retained_bytes", "retained", REP_BYTES, 0},
	{"retained_share", "  share", REP_SHARE, 0},
	{"type", NULL, REP_NAME, 0},
	{NULL, "root or block", REP_NAME, REP_LAST | REP_LABEL},
};

static void dominator_row(
	struct rep_context *context, const struct hg_tree_row *row, uint64_t total)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_text name = {0}, location = {0}, label = {0}, type = {0};
	struct hg_block block;
	hg_block(context->snapshot, row->node, &block);
	rep_name_type(&type, context->snapshot, block.type);
	rep_name_node(&name, context->snapshot, row->node);
	rep_name_location(&location, context->snapshot, block.location);
	if (row->depth > 1)
		rep_text_put(&label, "  ");
	rep_name_label(&label, context->snapshot, &block);
	rep_cell_string(emitter, rep_text_string(&name));
	rep_cell_string(emitter, rep_text_string(&location));
	rep_cell_number(emitter, row->children);
	rep_cell_number(emitter, block.retained_bytes);
	rep_cell_share(emitter, block.retained_bytes, total);
	rep_cell_string(emitter, rep_text_string(&type));
	rep_cell_string(emitter, rep_text_string(&label));
	rep_row_end(emitter);
	rep_text_release(&type);
	rep_text_release(&name);
	rep_text_release(&location);
	rep_text_release(&label);
}

static void write_dominators(struct rep_context *context, const struct findings *findings)
{
	const struct hg_tree *tree = &findings->dominators;
	rep_headline(context->emitter, "Who holds it: what would be freed with a root or block");
	rep_table_begin(context->emitter, "dominators", dominator_columns, 7);
	for (size_t i = 1; i < tree->count; i++)
		if (tree->rows[i].depth == 1)
			dominator_row(context, &tree->rows[i], findings->totals.retained_bytes);
	rep_table_end(context->emitter);
}

struct kind_sums {
	uint64_t roots[HG_ROOT_KINDS], bytes[HG_ROOT_KINDS];
	uint64_t shared_bytes; /* held by several roots together, by none alone */
};

static struct kind_sums sum_kinds(struct rep_context *context, const struct findings *findings)
{
	struct kind_sums sums = {.shared_bytes = findings->totals.retained_bytes};
	for (size_t i = 0; i < findings->roots.count; i++) {
		const struct hg_class *row = &findings->roots.rows[i];
		enum hg_root_kind kind = hg_root_kind(context->snapshot, row->id);
		if (kind >= HG_ROOT_KINDS)
			continue;
		sums.roots[kind]++;
		sums.bytes[kind] += row->retained_bytes;
		sums.shared_bytes -= row->retained_bytes;
	}
	return sums;
}

static void write_kinds(struct rep_context *context, const struct findings *findings)
{
	static const struct rep_column columns[] = {
		{"kind", NULL, REP_WORD, 0},
		{"roots", "roots", REP_COUNT, 0},
		{"retained_bytes", "retained", REP_BYTES, 0},
		{"retained_share", "  share", REP_SHARE, 0},
		{NULL, "kind of root", REP_WORD, REP_LAST},
	};
	struct rep_emitter *emitter = context->emitter;
	struct kind_sums sums = sum_kinds(context, findings);
	uint64_t total = findings->totals.retained_bytes;
	rep_headline(emitter, "Roots by kind");
	rep_table_begin(emitter, "roots", columns, 5);
	for (unsigned i = 0; i <= HG_ROOT_KINDS; i++) {
		bool shared = i == HG_ROOT_KINDS;
		if (shared ? !sums.shared_bytes : !sums.roots[i])
			continue;
		const char *name = shared ? "shared" : hg_root_kind_name((enum hg_root_kind)i);
		rep_cell_string(emitter, name);
		if (shared && emitter->writer->for_people)
			rep_cell_none(emitter);
		else
			rep_cell_number(emitter, shared ? 0 : sums.roots[i]);
		rep_cell_number(emitter, shared ? sums.shared_bytes : sums.bytes[i]);
		rep_cell_share(emitter, shared ? sums.shared_bytes : sums.bytes[i], total);
		rep_cell_string(emitter, shared ? "(held by several roots)" : name);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
}

/* What most of it has in common; below a tenth it explains nothing. */
static void suspect_part(struct rep_context *context, const struct hg_suspect *suspect,
	const char *how, const struct rep_text *name, uint64_t bytes)
{
	struct rep_text escaped = {0}, size = {0};
	if (name->length == 0 || 10 * bytes < suspect->retained_bytes)
		return;
	bool most = 2 * bytes > suspect->retained_bytes;
	rep_text_size(&size, bytes);
	rep_prose(context->emitter, REP_PLAIN, "    %s %s %s (%s)\n",
		most ? "most of it" : "the largest known part", how,
		rep_escaped(&escaped, rep_text_string(name)), rep_text_string(&size));
	rep_text_release(&escaped);
	rep_text_release(&size);
}

static void suspect_text(
	struct rep_context *context, const struct hg_suspect *suspect, uint64_t total)
{
	struct rep_text line = {0}, escaped = {0};
	struct hg_block block;
	hg_block(context->snapshot, suspect->node, &block);
	rep_name_label(&line, context->snapshot, &block);
	rep_text_put(&line, " keeps ");
	rep_text_size(&line, suspect->retained_bytes);
	rep_text_put(&line, " (");
	rep_text_percent(&line, suspect->retained_bytes, total);
	rep_text_put(&line, ") alive");
	rep_prose(context->emitter, REP_PLAIN, "  * %s\n",
		rep_escaped(&escaped, rep_text_string(&line)));
	rep_text_clear(&line);
	hg_block(context->snapshot, suspect->accumulation, &block);
	if (suspect->accumulation == suspect->node) {
		rep_text_put(&line, "it holds ");
	} else {
		rep_text_put(&line, "gathered in ");
		rep_name_label(&line, context->snapshot, &block);
		rep_text_put(&line, ", which holds ");
	}
	rep_name_amount(&line, suspect->children, "block", "blocks");
	if (suspect->chain >= SHORTEST_CHAIN) {
		rep_text_put(&line, " and is the first of ");
		rep_name_amount(&line, suspect->chain, "block", "blocks");
		if (suspect->chain == HG_LONGEST_CHAIN)
			rep_text_put(&line, " or more");
		rep_text_put(&line, " alike, each holding the next");
	}
	rep_prose(context->emitter, REP_PLAIN, "    %s\n",
		rep_escaped(&escaped, rep_text_string(&line)));
	rep_text_clear(&line);
	rep_name_type(&line, context->snapshot, suspect->type);
	suspect_part(context, suspect, "under blocks of type", &line, suspect->type_bytes);
	rep_text_clear(&line);
	rep_name_location(&line, context->snapshot, suspect->location);
	suspect_part(context, suspect, "allocated at", &line, suspect->location_bytes);
	rep_text_clear(&line);
	rep_text_put(&line, "heapgraph why ");
	rep_name_node(&line, context->snapshot, suspect->node);
	rep_prose(context->emitter, REP_PLAIN, "    who holds it: %s SNAPSHOT\n",
		rep_text_string(&line));
	rep_text_release(&line);
	rep_text_release(&escaped);
}

static void node_cell(struct rep_context *context, hg_node node)
{
	struct rep_text name = {0};
	rep_name_node(&name, context->snapshot, node);
	rep_cell_string(context->emitter, rep_text_string(&name));
	rep_text_release(&name);
}

static void suspect_row(struct rep_context *context, const struct hg_suspect *suspect)
{
	struct rep_text location = {0}, type = {0};
	node_cell(context, suspect->node);
	node_cell(context, suspect->accumulation);
	rep_cell_number(context->emitter, suspect->retained_bytes);
	rep_cell_number(context->emitter, suspect->chain);
	rep_cell_number(context->emitter, suspect->children);
	rep_name_location(&location, context->snapshot, suspect->location);
	rep_cell_string(context->emitter, rep_text_string(&location));
	rep_cell_number(context->emitter, suspect->location_bytes);
	rep_name_type(&type, context->snapshot, suspect->type);
	rep_cell_string(context->emitter, rep_text_string(&type));
	rep_cell_number(context->emitter, suspect->type_bytes);
	rep_row_end(context->emitter);
	rep_text_release(&type);
	rep_text_release(&location);
}

static void write_suspects(struct rep_context *context, const struct findings *findings)
{
	static const struct rep_column columns[] = {
		{"address", NULL, REP_NAME, 0},
		{"accumulation", NULL, REP_NAME, 0},
		{"retained_bytes", NULL, REP_BYTES, 0},
		{"chain", NULL, REP_COUNT, 0},
		{"children", NULL, REP_COUNT, 0},
		{"location", NULL, REP_NAME, 0},
		{"location_bytes", NULL, REP_BYTES, 0},
		{"type", NULL, REP_NAME, 0},
		{"type_bytes", NULL, REP_BYTES, 0},
	};
	const struct hg_suspects *suspects = &findings->suspects;
	if (context->emitter->writer->tells_all) {
		rep_table_begin(context->emitter, "suspects", columns, 9);
		for (size_t i = 0; i < suspects->count; i++)
			suspect_row(context, &suspects->rows[i]);
		rep_table_end(context->emitter);
		return;
	}
	rep_headline(context->emitter, "Suspects: a tenth or more of the memory under one thing");
	if (suspects->count == 0)
		rep_prose(context->emitter, REP_PLAIN, "  none\n");
	for (size_t i = 0; i < suspects->count && i < SHOWN_SUSPECTS; i++)
		suspect_text(context, &suspects->rows[i], findings->totals.retained_bytes);
}

/* Sections only: the CSV of tables has other columns, and other verbs. */
static void write_csv(struct rep_emitter *emitter, const struct findings *findings)
{
	rep_section_begin(emitter, "snapshot", NULL);
	rep_snapshot_values(emitter, &findings->info);
	rep_section_end(emitter);
}

static const struct rep_column outside_columns[] = {
	{"pointers", "pointers", REP_COUNT, 0},
	{"address", "lowest", REP_ADDRESS, 0},
	{"holder", "first block", REP_ADDRESS, 0},
	{"place", "lead to", REP_PATH, REP_LAST},
};

/* Where the pointers lead that lead to no block. */
static enum hg_status write_outside(struct rep_context *context)
{
	struct rep_emitter *emitter = context->emitter;
	struct hg_outside outside;
	char name[1024];
	enum { TEXT_ROWS = 20 };
	enum hg_status status = hg_outside(context->snapshot, &outside);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	bool is_text = emitter->writer->for_people;
	size_t shown = is_text && outside.count > TEXT_ROWS ? TEXT_ROWS : outside.count;
	rep_headline(emitter, "Pointers to no block");
	rep_table_begin(emitter, "outside", outside_columns,
		sizeof(outside_columns) / sizeof(outside_columns[0]));
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++) {
		const struct hg_outside_row *row = &outside.rows[i];
		hg_outside_name(context->snapshot, row->address, name, sizeof(name));
		rep_cell_number(emitter, row->pointers);
		rep_cell_number(emitter, row->address);
		rep_cell_number(emitter, row->holder);
		rep_cell_string(emitter, name);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
	rep_more_rows(emitter, outside.count - shown, "places", "--format csv");
	hg_outside_release(&outside);
	return HG_OK;
}

enum hg_status rep_summary(struct rep_context *context, bool with_outside)
{
	struct findings findings = {0};
	struct rep_emitter *emitter = context->emitter;
	if (with_outside && emitter->writer->one_part)
		return write_outside(context);
	enum hg_status status = ask(context, &findings);
	if (status == HG_OK) {
		rep_begin(context, "summary", NULL);
		if (emitter->writer->one_part) {
			write_csv(emitter, &findings);
			write_total_values(emitter, &findings);
		} else if (emitter->writer->tells_all) {
			write_total_values(emitter, &findings);
		} else {
			write_head(emitter, &findings);
			write_total_table(emitter, &findings);
			write_warning(emitter, &findings);
		}
		if (!write_reconciliation(emitter, &findings))
			status = base_fail(context->error, HG_ERROR_INTERNAL, HG_NO_OFFSET,
				"the totals of the analysis do not add up");
		if (!emitter->writer->one_part) {
			write_largest(context, &findings);
			write_dominators(context, &findings);
			write_kinds(context, &findings);
			write_suspects(context, &findings);
		}
		if (with_outside && status == HG_OK)
			status = write_outside(context);
		rep_document_end(emitter);
	}
	release(&findings);
	return status;
}
