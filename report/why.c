/* Shortest paths from the roots to the blocks that a pattern selects. */
#include "report/report.h"

#include "report/common.h"

#include <stdlib.h>
#include <string.h>

enum { INDENTED_LEVELS = 24 };

static const struct rep_column step_columns[] = {
	{"address", NULL, REP_NAME, 0},
	{"field", NULL, REP_NUMBER, 0},
	{"location", NULL, REP_NAME, 0},
	{"tag", NULL, REP_NUMBER, 0},
	{"retained_bytes", "retained", REP_BYTES, 0},
	{NULL, "through", REP_WORD, 0},
	{"type", NULL, REP_NAME, 0},
	{"field_name", NULL, REP_NAME, 0},
	{NULL, "root or block", REP_NAME, REP_LAST | REP_LABEL},
	{"retained_offheap_bytes", NULL, REP_BYTES, 0},
};
enum { STEP_COLUMNS = sizeof(step_columns) / sizeof(step_columns[0]) };

static const struct rep_column path_columns[] = {
	{"depth", NULL, REP_NUMBER, 0},
	{"address", NULL, REP_NAME, 0},
	{"tag", NULL, REP_NUMBER, 0},
	{"location", NULL, REP_NAME, 0},
	{"nodes", NULL, REP_COUNT, 0},
	{"targets", "reaches", REP_COUNT, 0},
	{"bytes", "bytes", REP_BYTES, 0},
	{NULL, "  share", REP_SHARE, 0},
	{"type", NULL, REP_NAME, 0},
	{NULL, "path", REP_NAME, REP_LAST | REP_LABEL},
	{"offheap_bytes", NULL, REP_BYTES, 0},
	{"name", NULL, REP_NAME, 0},
};
enum { OFFHEAP_OF_PATH = 10 };
enum { PATH_COLUMNS = sizeof(path_columns) / sizeof(path_columns[0]) };

struct answer {
	const char *pattern;
	struct hg_selection *selection;
	uint64_t reached, unreachable; /* of it */
	struct hg_why *why;
	bool *kept;
	size_t kept_count;
};

static void tag_cell(struct rep_emitter *emitter, const struct hg_block *block)
{
	if (block->is_root)
		rep_cell_none(emitter);
	else
		rep_cell_number(emitter, block->tag);
}

/* 'holder' is the step before, NULL for the first. */
static void write_step(
	struct rep_context *context, const struct hg_step *step, const struct hg_step *holder)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_text through = {0};
	struct hg_block block = *hg_describe_block(context->snapshot, step->node);
	if (holder && step->field != HG_UNKNOWN)
		rep_name_field(&through, context->snapshot, holder->node, step->field);
	rep_cell_node(context, step->node);
	rep_cell_known(emitter, step->field);
	rep_cell_location(context, block.location);
	tag_cell(emitter, &block);
	rep_cell_number(emitter, block.retained_bytes);
	rep_cell_string(emitter, rep_text_string(&through));
	rep_cell_type(context, block.type);
	rep_cell_string(emitter, rep_text_string(&through));
	rep_cell_label(context, &block);
	rep_cell_number(emitter, block.retained_offheap_bytes);
	rep_row_end(emitter);
	rep_text_release(&through);
}

enum { FIRST_STEPS = 10, LAST_STEPS = 10 };

/* "Cache.entry list -> Cache.entry" */
static void name_run(struct rep_text *text, const struct hg_why *why, const struct hg_step_run *run)
{
	for (size_t i = 0; i < run->period; i++)
		rep_text_printf(text, "%s%s", i ? " -> " : "", why->steps[run->first + i]->name);
}

/* Steps that repeat themselves are one row, with what the first of them retains. */
static void write_run(
	struct rep_context *context, const struct hg_why *why, const struct hg_step_run *run)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_text name = {0}, through = {0};
	const struct hg_step *step = why->steps[run->first];
	struct hg_block block = *hg_describe_block(context->snapshot, step->node);
	if (run->first && step->field != HG_UNKNOWN)
		rep_name_field(
			&through, context->snapshot, why->steps[run->first - 1]->node, step->field);
	name_run(&name, why, run);
	rep_text_put(&name, " x ");
	rep_text_count(&name, run->times);
	rep_cell_node(context, step->node);
	rep_cell_known(emitter, step->field);
	rep_cell_none(emitter);
	rep_cell_none(emitter);
	rep_cell_number(emitter, block.retained_bytes);
	rep_cell_string(emitter, rep_text_string(&through));
	rep_cell_none(emitter);
	rep_cell_none(emitter);
	rep_cell_string(emitter, rep_text_string(&name));
	rep_cell_number(emitter, block.retained_offheap_bytes);
	rep_row_end(emitter);
	rep_text_release(&through);
	rep_text_release(&name);
}

static void leave_out_steps(struct rep_emitter *emitter, size_t count)
{
	struct rep_text text = {0};
	rep_text_put(&text, "... ");
	rep_text_count(&text, count);
	rep_text_put(&text, " more");
	for (unsigned i = 0; i < 8; i++)
		rep_cell_none(emitter);
	rep_cell_string(emitter, rep_text_string(&text));
	rep_cell_none(emitter);
	rep_row_end(emitter);
	rep_text_release(&text);
}

/* For people: both ends of a path that is long although what repeats itself is one row. */
static void write_runs(struct rep_context *context, const struct hg_why *why)
{
	size_t count = why->runs_count;
	for (size_t i = 0; i < count; i++) {
		const struct hg_step_run *run = why->runs[i];
		if (i == FIRST_STEPS && count > FIRST_STEPS + LAST_STEPS) {
			size_t next = count - LAST_STEPS;
			leave_out_steps(context->emitter, why->runs[next]->first - run->first);
			run = why->runs[i = next];
		}
		if (run->times > 1)
			write_run(context, why, run);
		else
			write_step(context, why->steps[run->first],
				run->first ? why->steps[run->first - 1] : NULL);
	}
}

static void write_steps(struct rep_context *context, const struct answer *answer)
{
	const struct hg_why *why = answer->why;
	struct rep_column columns[STEP_COLUMNS];
	memcpy(columns, step_columns, sizeof(columns));
	columns[STEP_COLUMNS - 1] =
		rep_retained_offheap_column(answer->selection->retained_offheap_bytes);
	if (context->emitter->writer->one_part)
		return;
	if (context->emitter->writer->for_people && why->steps_count == 0)
		return;
	rep_headline(context->emitter, "Shortest path from the roots to the one that retains most");
	rep_table_begin(context->emitter, "steps", columns, STEP_COLUMNS);
	if (context->emitter->writer->for_people)
		write_runs(context, why);
	else
		for (size_t i = 0; i < why->steps_count; i++)
			write_step(context, why->steps[i], i ? why->steps[i - 1] : NULL);
	rep_table_end(context->emitter);
}

static const struct rep_column run_columns[] = {
	{"first", NULL, REP_NUMBER, 0},
	{"steps", NULL, REP_NUMBER, 0},
	{"times", NULL, REP_NUMBER, 0},
	{"name", NULL, REP_NAME, 0},
};

/* What people see as one row each. */
static void write_runs_for_programs(struct rep_emitter *emitter, const struct hg_why *why)
{
	if (!emitter->writer->tells_all)
		return;
	rep_table_begin(emitter, "runs", run_columns, 4);
	for (size_t i = 0; i < why->runs_count; i++) {
		const struct hg_step_run *run = why->runs[i];
		struct rep_text name = {0};
		name_run(&name, why, run);
		rep_cell_number(emitter, run->first);
		rep_cell_number(emitter, run->period * run->times);
		rep_cell_number(emitter, run->times);
		rep_cell_string(emitter, rep_text_string(&name));
		rep_row_end(emitter);
		rep_text_release(&name);
	}
	rep_table_end(emitter);
}

static const struct rep_column also_columns[] = {
	{"root", NULL, REP_NAME, 0},
	{"roots", NULL, REP_NUMBER, 0},
};

enum { ALSO_TOLD = 3, ALSO_LISTED = 10 };

static void list_also_held(struct rep_emitter *emitter, const struct hg_why *why)
{
	rep_value_number(emitter, "also_held_roots", NULL, REP_COUNT, why->also_held_roots);
	rep_table_begin(emitter, "also_held", also_columns, 2);
	for (size_t i = 0; i < why->also_held_count && i < ALSO_LISTED; i++) {
		rep_cell_string(emitter, why->also_held[i]->name);
		rep_cell_number(emitter, why->also_held[i]->roots);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
}

/* Roots that hold it only until a call returns. */
static void write_also_held(struct rep_emitter *emitter, const struct hg_why *why)
{
	uint64_t told = 0;
	if (emitter->writer->tells_all) {
		list_also_held(emitter, why);
		return;
	}
	if (!emitter->writer->for_people || why->also_held_count == 0)
		return;
	struct rep_text text = {0}, name = {0};
	for (size_t i = 0; i < why->also_held_count && i < ALSO_TOLD; i++) {
		rep_text_printf(
			&text, "%s%s", i ? "; " : "", rep_escaped(&name, why->also_held[i]->name));
		told += why->also_held[i]->roots;
	}
	if (told < why->also_held_roots) {
		rep_text_put(&text, "; and ");
		rep_name_amount(&text, why->also_held_roots - told, "more slot of a stack",
			"more slots of stacks");
	}
	rep_prose(emitter, REP_PLAIN, "also held by %s\n", rep_text_string(&text));
	rep_text_release(&text);
	rep_text_release(&name);
}

/* A single node by its name; of several merged ones what they have in common. */
static void path_label(struct rep_text *label, struct rep_context *context,
	const struct hg_path_row *row, const struct hg_block *block)
{
	uint32_t levels = row->depth < INDENTED_LEVELS ? row->depth : INDENTED_LEVELS;
	for (uint32_t i = 0; i < levels; i++)
		rep_text_put(label, "  ");
	if (row->nodes == 1) {
		rep_name_label(label, context->snapshot, block);
		return;
	}
	rep_text_count(label, row->nodes);
	if (row->type) {
		rep_text_put(label, " of type ");
		rep_name_type(label, context->snapshot, row->type);
		if (row->location)
			rep_text_put(label, " at ");
		rep_name_location(label, context->snapshot, row->location);
	} else {
		rep_text_printf(label, " x %s", row->name);
	}
	if (block->is_root)
		return;
	rep_text_put(label, ", first ");
	rep_name_node(label, context->snapshot, row->node);
}

static void write_path(
	struct rep_context *context, const struct answer *answer, const struct hg_path_row *row)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_text label = {0};
	struct hg_block block = *hg_describe_block(context->snapshot, row->node);
	path_label(&label, context, row, &block);
	rep_cell_number(emitter, row->depth);
	rep_cell_node(context, row->node);
	tag_cell(emitter, &block);
	rep_cell_location(context, row->location);
	rep_cell_number(emitter, row->nodes);
	rep_cell_number(emitter, row->targets);
	rep_cell_number(emitter, row->bytes);
	rep_cell_share(emitter, row->targets, answer->why->reached);
	rep_cell_type(context, row->type);
	rep_cell_string(emitter, rep_text_string(&label));
	rep_cell_number(emitter, row->offheap_bytes);
	rep_cell_string(emitter, row->name);
	rep_row_end(emitter);
	rep_text_release(&label);
}

static void write_paths(struct rep_context *context, const struct answer *answer)
{
	struct rep_emitter *emitter = context->emitter;
	const struct hg_why *why = answer->why;
	struct rep_column columns[PATH_COLUMNS];
	memcpy(columns, path_columns, sizeof(columns));
	columns[OFFHEAP_OF_PATH] = rep_offheap_column(answer->selection->offheap_bytes);
	if (emitter->writer->for_people && why->rows_count == 0)
		return;
	rep_headline(emitter, "Shortest paths to all of them, merged where they look the same");
	rep_table_begin(emitter, "rows", columns, PATH_COLUMNS);
	for (size_t i = 0; i < why->rows_count && !rep_emitter_broken(emitter); i++)
		if (answer->kept[i])
			write_path(context, answer, why->rows[i]);
	rep_table_end(emitter);
	rep_more_rows(emitter, why->rows_count - answer->kept_count, "steps", "--limit 0");
}

static void write_selection_text(struct rep_emitter *emitter, const struct answer *answer)
{
	const struct hg_selection *selection = answer->selection;
	struct rep_text text = {0}, pattern = {0};
	if (!emitter->writer->for_people)
		return;
	if (selection->count == selection->blocks)
		rep_name_amount(&text, selection->blocks, "block", "blocks");
	else
		rep_name_amount(&text, selection->count, "root", "roots");
	rep_prose(emitter, REP_BOLD, "%s: %s", rep_escaped(&pattern, answer->pattern),
		rep_text_string(&text));
	rep_text_clear(&text);
	rep_text_put(&text, ", ");
	rep_text_size(&text, selection->bytes);
	rep_put_offheap(&text, selection->offheap_bytes);
	rep_text_put(&text, "; they retain ");
	rep_text_size(&text, selection->retained_bytes);
	rep_put_offheap(&text, selection->retained_offheap_bytes);
	rep_text_put(&text, "; ");
	if (answer->unreachable == 0) {
		rep_text_put(&text, "all reachable");
	} else {
		rep_text_count(&text, answer->unreachable);
		rep_text_put(&text, " unreachable: no root holds them");
	}
	rep_prose(emitter, REP_PLAIN, "%s\n", rep_text_string(&text));
	rep_text_release(&text);
	rep_text_release(&pattern);
}

static void write_selection(struct rep_emitter *emitter, const struct answer *answer)
{
	const struct hg_selection *selection = answer->selection;
	if (!emitter->writer->tells_all)
		return;
	rep_section_begin(emitter, "selection", NULL);
	rep_value_string(emitter, "pattern", NULL, REP_NAME, answer->pattern);
	rep_value_number(emitter, "nodes", NULL, REP_COUNT, selection->count);
	rep_value_number(emitter, "blocks", NULL, REP_COUNT, selection->blocks);
	rep_value_number(emitter, "bytes", NULL, REP_BYTES, selection->bytes);
	rep_value_number(emitter, "retained_bytes", NULL, REP_BYTES, selection->retained_bytes);
	rep_value_number(emitter, "reached", NULL, REP_COUNT, answer->reached);
	rep_value_number(emitter, "unreachable", NULL, REP_COUNT, answer->unreachable);
	rep_value_number(emitter, "offheap_bytes", NULL, REP_BYTES, selection->offheap_bytes);
	rep_value_number(emitter, "retained_offheap_bytes", NULL, REP_BYTES,
		selection->retained_offheap_bytes);
	rep_section_end(emitter);
}

/* A step reaches at most what the step above it reaches, so the largest rows hang together. */
static bool keep_path_rows(struct answer *answer, uint64_t limit)
{
	size_t count = answer->why->rows_count;
	uint64_t *amounts = calloc(count ? count : 1, sizeof(*amounts));
	answer->kept = calloc(count ? count : 1, sizeof(*answer->kept));
	bool fine = amounts && answer->kept;
	if (fine) {
		for (size_t i = 0; i < count; i++)
			amounts[i] = answer->why->rows[i]->targets;
		fine = rep_keep_largest(amounts, count, limit, answer->kept);
		answer->kept_count = limit && limit < count ? (size_t)limit : count;
	}
	free(amounts);
	return fine;
}

static void write_why(struct rep_context *context, const struct answer *answer)
{
	rep_begin(context, "why");
	write_selection_text(context->emitter, answer);
	write_selection(context->emitter, answer);
	write_steps(context, answer);
	write_runs_for_programs(context->emitter, answer->why);
	write_also_held(context->emitter, answer->why);
	write_paths(context, answer);
	rep_document_end(context->emitter);
}

static const struct rep_column referrer_columns[] = {
	{"holder", NULL, REP_NAME, 0},
	{"field", NULL, REP_NUMBER, 0},
	{"field_name", NULL, REP_NAME, 0},
	{"pointers", "pointers", REP_COUNT, 0},
	{"holders", "holders", REP_COUNT, 0},
	{"targets", "lead to", REP_COUNT, 0},
	{"dominated", "dominate", REP_COUNT, 0},
	{"address", "first", REP_NAME, 0},
	{NULL, "through", REP_WORD, 0},
	{NULL, "of", REP_NAME, REP_LAST | REP_LABEL},
};

/* A row of roots or fibers has no field; the fields of arrays have one name. */
static void write_referring(struct rep_context *context, const struct hg_referring *row)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_text field = {0}, first = {0};
	if (row->is_element)
		rep_text_put(&field, "[]");
	else if (row->field != HG_UNKNOWN)
		rep_name_field(&field, context->snapshot, row->node, row->field);
	rep_cell_string(emitter, row->name);
	rep_cell_known(emitter, row->is_element ? HG_UNKNOWN : row->field);
	rep_cell_string(emitter, rep_text_string(&field));
	rep_cell_number(emitter, row->pointers);
	rep_cell_number(emitter, row->holders);
	rep_cell_number(emitter, row->targets);
	rep_cell_number(emitter, row->dominated);
	rep_name_node(&first, context->snapshot, row->node);
	rep_cell_labelled(
		emitter, rep_text_string(&first), row->is_root ? "" : rep_text_string(&first));
	rep_cell_string(emitter, rep_text_string(&field));
	rep_cell_string(emitter, row->name);
	rep_row_end(emitter);
	rep_text_release(&field);
	rep_text_release(&first);
}

static void write_referrers(struct rep_context *context, const struct answer *answer,
	const struct hg_referrers *referrers, uint64_t limit)
{
	struct rep_emitter *emitter = context->emitter;
	size_t shown = limit && limit < referrers->count ? (size_t)limit : referrers->count;
	rep_begin(context, "why");
	write_selection_text(emitter, answer);
	write_selection(emitter, answer);
	rep_headline(emitter, "Who points to them; 'dominate': and alone keeps so many alive");
	rep_table_begin(emitter, "referrers", referrer_columns,
		sizeof(referrer_columns) / sizeof(referrer_columns[0]));
	for (size_t i = 0; i < shown && !rep_emitter_broken(emitter); i++)
		write_referring(context, referrers->rows[i]);
	rep_table_end(emitter);
	rep_more_rows(emitter, referrers->count - shown, "rows", "--limit 0");
	rep_document_end(emitter);
}

static enum hg_status explain_answer(
	struct rep_context *context, struct answer *answer, uint64_t limit)
{
	enum hg_status status = hg_explain_nodes(context->snapshot, answer->selection->nodes,
		answer->selection->count, &answer->why);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	answer->reached = answer->why->reached;
	answer->unreachable = answer->why->unreachable;
	if (!keep_path_rows(answer, limit))
		status = rep_no_memory(context);
	else
		write_why(context, answer);
	free(answer->kept);
	hg_why_release(&answer->why);
	return status;
}

static enum hg_status list_referrers(
	struct rep_context *context, struct answer *answer, uint64_t limit)
{
	struct hg_referrers *referrers;
	enum hg_status status = hg_list_referrers(
		context->snapshot, answer->selection->nodes, answer->selection->count, &referrers);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	answer->reached = referrers->reached;
	answer->unreachable = referrers->unreachable;
	write_referrers(context, answer, referrers, limit);
	hg_referrers_release(&referrers);
	return HG_OK;
}

enum hg_status rep_why(
	struct rep_context *context, const char *pattern, bool referrers, uint64_t limit)
{
	struct answer answer = {.pattern = pattern};
	enum hg_status status = hg_select(context->snapshot, pattern, &answer.selection);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	if (answer.selection->count == 0)
		status = rep_nothing_matches(context, NULL, pattern);
	else if (referrers)
		status = list_referrers(context, &answer, limit);
	else
		status = explain_answer(context, &answer, limit);
	hg_selection_release(&answer.selection);
	return status;
}
