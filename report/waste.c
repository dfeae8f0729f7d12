/*
 * What could be saved, section by section: the sums first, as sections overlap, then their rows.
 * Programs get all rows in one table.
 */
#include "report/report.h"

#include "report/common.h"

#include <string.h>

enum { SECTION, TYPE, ADDRESS, BLOCKS, BYTES, SAVED, GROUPS, OUTER, ROOM, USED, LONGEST, CONTENT };
enum { WASTE_COLUMNS = CONTENT + 1 };

static const struct rep_column columns[WASTE_COLUMNS] = {
	[SECTION] = {"section", NULL, REP_WORD, 0},
	[TYPE] = {"type", "type", REP_NAME, REP_LAST | REP_HEAD},
	[ADDRESS] = {"address", NULL, REP_ADDRESS, 0},
	[BLOCKS] = {"blocks", "blocks", REP_COUNT, 0},
	[BYTES] = {"bytes", NULL, REP_BYTES, 0},
	[SAVED] = {"saved_bytes", "to save", REP_BYTES, 0},
	[GROUPS] = {"groups", NULL, REP_COUNT, 0},
	[OUTER] = {"outer", NULL, REP_COUNT, 0},
	[ROOM] = {"room", NULL, REP_COUNT, 0},
	[USED] = {"used", NULL, REP_COUNT, 0},
	[LONGEST] = {"longest", NULL, REP_COUNT, 0},
	[CONTENT] = {"content", NULL, REP_CONTENT, REP_LAST | REP_HEAD},
};

/* What people are told of a section, and under which names they see columns. */
struct section_text {
	const char *name, *headline, *meaning;
	const char *blocks, *groups, *outer, *room, *used, *longest;
	bool has_content, has_address;
};

static const struct section_text texts[HG_WASTE_SECTIONS] = {
	[HG_WASTE_STRINGS] = {.name = "equal strings",
		.headline = "Equal strings, a row for each content",
		.meaning = "if one of each were kept",
		.blocks = "there are",
		.has_content = true},
	[HG_WASTE_BYTES] = {.name = "equal bytes",
		.headline = "Equal bytes, a row for each content",
		.meaning = "if they were strings, which can be shared",
		.blocks = "there are",
		.has_content = true},
	[HG_WASTE_VALUES] = {.name = "equal values",
		.headline = "Equal immutable values, by type",
		.meaning = "if one of each were kept; equal strings are among them",
		.blocks = "copies",
		.groups = "of values",
		.outer = "no part of another",
		.has_content = true},
	[HG_WASTE_TABLES] = {.name = "empty buckets",
		.headline = "Hash tables, those with most empty buckets first",
		.meaning = "if there were no empty buckets",
		.blocks = "bindings",
		.room = "buckets",
		.used = "in use",
		.longest = "longest chain",
		.has_address = true},
	[HG_WASTE_TAILS] = {.name = "unused tails",
		.headline = "Buffers and arrays that grow, with unused tails",
		.meaning = "if they ended where they are used",
		.blocks = NULL,
		.room = "room",
		.used = "used",
		.has_address = true},
	[HG_WASTE_NUMBERS] = {.name = "boxed numbers",
		.headline = "Boxed numbers, by the array or list they are in",
		.meaning = "in arrays that hold the numbers themselves",
		.blocks = "numbers"},
	[HG_WASTE_OPTIONS] = {.name = "options",
		.headline = "Blocks of Some, by type",
		.meaning = "with a value of the type itself for None",
		.blocks = "blocks",
		.used = "of integers",
		.has_content = true},
	[HG_WASTE_BOXES] = {.name = "one-field blocks",
		.headline = "Immutable blocks of one field, by type",
		.meaning = "with [@unboxed] at the declaration",
		.blocks = "blocks",
		.has_content = true},
	[HG_WASTE_UNREACHABLE] = {.name = "unreachable",
		.headline = "Unreachable blocks, by type",
		.meaning = "by the collector, when it comes to them",
		.blocks = "blocks"},
};

static void content_cell(struct rep_context *context, const struct hg_waste_row *row)
{
	struct rep_text value = {0};
	struct hg_text_options options = {
		.size = sizeof(options), .depth = 4, .redact = context->emitter->redact};
	bool is_shown = texts[row->section].has_content && !context->emitter->redact;
	if (is_shown)
		rep_name_value(&value, context->snapshot, row->example, &options);
	rep_cell_string(context->emitter, rep_text_string(&value));
	context->emitter->failed |= value.failed;
	rep_text_release(&value);
}

static void write_waste_row(struct rep_context *context, const struct hg_waste_row *row)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_text type = {0};
	rep_name_type(&type, context->snapshot, row->type);
	rep_cell_string(emitter, hg_waste_section_name(row->section));
	rep_cell_labelled(
		emitter, rep_text_string(&type), row->type ? rep_text_string(&type) : "unknown");
	rep_cell_number(emitter, hg_describe_block(context->snapshot, row->example)->address);
	rep_cell_number(emitter, row->blocks);
	rep_cell_number(emitter, row->bytes);
	rep_cell_number(emitter, row->saved_bytes);
	rep_cell_number(emitter, row->groups);
	rep_cell_number(emitter, row->outer);
	rep_cell_number(emitter, row->room);
	rep_cell_number(emitter, row->used);
	rep_cell_number(emitter, row->longest);
	content_cell(context, row);
	rep_row_end(emitter);
	emitter->failed |= type.failed;
	rep_text_release(&type);
}

/* The sums of all sections, for people and, as another table, for programs. */
static void write_waste_sums(
	struct rep_context *context, const struct hg_waste *waste, const struct hg_totals *totals)
{
	static const struct rep_column sum_columns[] = {
		{"section", NULL, REP_WORD, 0},
		{"rows", "rows", REP_COUNT, 0},
		{"blocks", NULL, REP_COUNT, 0},
		{"bytes", NULL, REP_BYTES, 0},
		{"saved_bytes", "to save", REP_BYTES, 0},
		{NULL, "  share", REP_SHARE, 0},
		{"missing", NULL, REP_WORD, 0},
		{NULL, "what", REP_WORD, REP_LAST},
		{NULL, "how", REP_WORD, REP_LAST},
	};
	struct rep_emitter *emitter = context->emitter;
	if (emitter->writer->one_part)
		return;
	rep_prose(emitter, REP_BOLD, "Memory that could be saved\n");
	rep_prose(emitter, REP_PLAIN,
		"The sections overlap: do not add them up.  Shares are of all "
		"bytes of the heap's blocks.\n");
	rep_table_begin(
		emitter, "sections", sum_columns, sizeof(sum_columns) / sizeof(sum_columns[0]));
	for (size_t i = 0; i < waste->sums_count; i++) {
		const struct hg_waste_sum *sum = waste->sums[i];
		rep_cell_string(emitter, hg_waste_section_name((enum hg_waste_section)i));
		rep_cell_number(emitter, sum->rows);
		rep_cell_number(emitter, sum->blocks);
		rep_cell_number(emitter, sum->bytes);
		rep_cell_number(emitter, sum->saved_bytes);
		rep_cell_share(emitter, sum->saved_bytes, totals->bytes);
		if (sum->missing)
			rep_cell_string(emitter, sum->missing);
		else
			rep_cell_none(emitter);
		rep_cell_string(emitter, texts[i].name);
		rep_cell_string(emitter, sum->missing ? sum->missing : texts[i].meaning);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
}

static void fill_waste_columns(
	const struct section_text *text, bool redact, struct rep_column *filled)
{
	memcpy(filled, columns, sizeof(columns));
	filled[BLOCKS].title = text->blocks;
	filled[GROUPS].title = text->groups;
	filled[OUTER].title = text->outer;
	filled[ROOM].title = text->room;
	filled[USED].title = text->used;
	filled[LONGEST].title = text->longest;
	filled[ADDRESS].title = text->has_address ? "first" : NULL;
	filled[CONTENT].title = text->has_content && !redact ? "for example" : NULL;
	if (text->has_address)
		filled[ADDRESS].title = "address";
}

/* People see the first rows of each section under its headline. */
static void write_waste_section(struct rep_context *context, const struct hg_waste *waste,
	enum hg_waste_section section, size_t first, uint64_t limit)
{
	struct rep_emitter *emitter = context->emitter;
	struct rep_column filled[WASTE_COLUMNS];
	uint64_t count = waste->sums[section]->rows;
	uint64_t shown = limit && limit < count ? limit : count;
	if (count == 0)
		return;
	fill_waste_columns(&texts[section], emitter->redact, filled);
	rep_headline(emitter, texts[section].headline);
	rep_table_begin(emitter, "rows", filled, WASTE_COLUMNS);
	for (uint64_t i = 0; i < shown && !rep_emitter_broken(emitter); i++)
		write_waste_row(context, waste->rows[first + i]);
	rep_table_end(emitter);
	rep_more_rows(emitter, count - shown, "rows", "--limit 0");
}

static void write_all_waste(
	struct rep_context *context, const struct hg_waste *waste, uint64_t limit)
{
	struct rep_emitter *emitter = context->emitter;
	size_t first = 0;
	if (emitter->writer->for_people) {
		for (unsigned i = 0; i < HG_WASTE_SECTIONS; i++) {
			write_waste_section(context, waste, (enum hg_waste_section)i, first, limit);
			first += waste->sums[i]->rows;
		}
		return;
	}
	rep_table_begin(emitter, "rows", columns, WASTE_COLUMNS);
	for (size_t i = 0; i < waste->count && !rep_emitter_broken(emitter); i++) {
		/* The limit is that of each section. */
		bool begins = i == 0 || waste->rows[i]->section != waste->rows[i - 1]->section;
		first = begins ? i : first;
		if (!limit || i - first < limit)
			write_waste_row(context, waste->rows[i]);
	}
	rep_table_end(emitter);
}

enum hg_status rep_waste(struct rep_context *context, uint64_t limit)
{
	const struct hg_totals *totals;
	struct hg_waste *waste = NULL;
	enum hg_status status = hg_count_totals(context->snapshot, &totals);
	if (status == HG_OK)
		status = hg_list_waste(context->snapshot, &waste);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	rep_begin(context, "waste");
	write_waste_sums(context, waste, totals);
	write_all_waste(context, waste, limit);
	rep_document_end(context->emitter);
	hg_waste_release(&waste);
	return HG_OK;
}
