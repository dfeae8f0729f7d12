/* What several reports share: heads, columns and cells of classes, and the choice of rows. */
#include "report/common.h"

#include <stdlib.h>
#include <string.h>

enum hg_status rep_library_failed(struct rep_context *context, enum hg_status status)
{
	*context->error = *hg_session_error(context->session);
	context->error->status = status;
	return status;
}

enum hg_status rep_nothing_matches(
	struct rep_context *context, const char *option, const char *pattern)
{
	struct hg_nearest *nearest;
	enum hg_status status = hg_find_nearest(context->snapshot, pattern, &nearest);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	status = base_fail(context->error, HG_ERROR_USAGE, HG_NO_OFFSET, "%s%s%s",
		option ? option : "", option ? ": " : "", nearest->message);
	hg_nearest_release(&nearest);
	return status;
}

enum hg_status rep_no_memory(struct rep_context *context)
{
	return base_fail(context->error, HG_ERROR_LIMIT, HG_NO_OFFSET, "out of memory");
}

uint64_t rep_part_of(uint64_t whole, uint64_t parts_per_million)
{
	__extension__ unsigned __int128 scaled = whole;
	return (uint64_t)(scaled * parts_per_million / 1000000);
}

uint64_t rep_share_bytes(const struct hg_totals *totals, uint64_t parts_per_million)
{
	return rep_part_of(totals->retained_bytes, parts_per_million);
}

uint64_t rep_weigh(const struct rep_context *context, uint64_t heap_bytes, uint64_t offheap_bytes)
{
	return heap_bytes + (context->weight == HG_WEIGHT_TOTAL ? offheap_bytes : 0);
}

uint64_t rep_weigh_all(const struct rep_context *context, const struct hg_totals *totals)
{
	return rep_weigh(context, totals->retained_bytes, totals->retained_offheap_bytes);
}

bool rep_has_offheap(struct hg_snapshot *snapshot)
{
	return hg_describe_block(snapshot, hg_virtual_root(snapshot))->retained_offheap_bytes != 0;
}

struct rep_column rep_offheap_column(bool in_text)
{
	return (struct rep_column){"offheap_bytes", in_text ? "off-heap" : NULL, REP_BYTES, 0};
}

struct rep_column rep_retained_offheap_column(bool in_text)
{
	return (struct rep_column){
		"retained_offheap_bytes", in_text ? "+ off-heap" : NULL, REP_BYTES, 0};
}

void rep_put_offheap(struct rep_text *text, uint64_t bytes)
{
	if (!bytes)
		return;
	rep_text_put(text, " and ");
	rep_text_size(text, bytes);
	rep_text_put(text, " off-heap");
}

const char *rep_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

const char *rep_escaped(struct rep_text *text, const char *name)
{
	rep_text_clear(text);
	rep_text_escape_terminal(text, name, strlen(name));
	return rep_text_string(text);
}

static void string_if_known(
	struct rep_emitter *emitter, const char *key, enum rep_kind kind, const char *string)
{
	if (*string)
		rep_value_string(emitter, key, NULL, kind, string);
}

void rep_value_known(struct rep_emitter *emitter, const char *key, const char *label,
	enum rep_kind kind, uint64_t number)
{
	if (number != HG_UNKNOWN)
		rep_value_number(emitter, key, label, kind, number);
}

const char *rep_roots_word(bool all_alike)
{
	return all_alike ? "all" : "lasting";
}

void rep_snapshot_values(struct rep_emitter *emitter, const struct hg_info *info)
{
	string_if_known(emitter, "file", REP_PATH, info->path);
	string_if_known(emitter, "format", REP_WORD, hg_format_name(info->format));
	string_if_known(emitter, "title", REP_WORD, info->title);
	string_if_known(emitter, "program", REP_PATH, info->program);
	string_if_known(emitter, "trigger", REP_NAME, info->trigger);
	string_if_known(emitter, "ocaml_version", REP_WORD, info->ocaml_version);
	rep_value_bool(emitter, "native", NULL, info->native);
	rep_value_known(emitter, "pid", NULL, REP_NUMBER, info->pid);
	rep_value_known(emitter, "index", NULL, REP_NUMBER, info->index);
	rep_value_known(emitter, "reserved_bits", NULL, REP_NUMBER, info->reserved_bits);
	rep_value_known(emitter, "word_size", NULL, REP_NUMBER, info->word_size);
	rep_value_known(emitter, "file_bytes", NULL, REP_BYTES, info->file_bytes);
	string_if_known(emitter, "location_source", REP_PATH, info->profile);
	string_if_known(emitter, "location_note", REP_WORD, info->profile_note);
	string_if_known(emitter, "type_source", REP_PATH, info->type_profile);
	string_if_known(emitter, "type_note", REP_WORD, info->type_note);
	rep_value_string(emitter, "roots", NULL, REP_WORD, rep_roots_word(info->all_roots_alike));
}

void rep_partial_reason(struct rep_text *text, const struct hg_info *info)
{
	rep_text_printf(text, "the file ends in the middle of %s", info->partial);
	if (info->partial_offset != HG_NO_OFFSET)
		rep_text_printf(text, ", at offset %llu", (unsigned long long)info->partial_offset);
}

static void write_partial(struct rep_emitter *emitter, const struct hg_info *info, bool named)
{
	struct rep_text reason = {0}, file = {0}, escaped = {0};
	if (!*info->partial)
		return;
	rep_partial_reason(&reason, info);
	rep_value_string(emitter, "partial", NULL, REP_WORD, rep_text_string(&reason));
	rep_prose(emitter, REP_BAD, "PARTIAL: %s%s%s\n",
		named ? rep_escaped(&file, info->path) : "", named ? ": " : "",
		rep_escaped(&escaped, rep_text_string(&reason)));
	rep_text_release(&reason);
	rep_text_release(&file);
	rep_text_release(&escaped);
}

static void write_snapshot_section(
	struct rep_emitter *emitter, const char *key, const struct hg_info *info)
{
	if (!emitter->writer->tells_all)
		return;
	rep_section_begin(emitter, key, NULL);
	rep_snapshot_values(emitter, info);
	rep_section_end(emitter);
}

void rep_begin(struct rep_context *context, const char *verb)
{
	const struct hg_info *info = hg_snapshot_info(context->snapshot);
	rep_document_begin(context->emitter, verb);
	write_partial(context->emitter, info, false);
	write_snapshot_section(context->emitter, "snapshot", info);
}

void rep_begin_pair(struct rep_context *context, const char *verb, const struct hg_info *older,
	const struct hg_info *newer)
{
	struct rep_emitter *emitter = context->emitter;
	rep_document_begin(emitter, verb);
	/* One member 'partial', whichever of the two it is. */
	if (!emitter->writer->tells_all || !*newer->partial)
		write_partial(emitter, older, true);
	write_partial(emitter, newer, true);
	write_snapshot_section(emitter, "old_snapshot", older);
	write_snapshot_section(emitter, "new_snapshot", newer);
}

const char *rep_key_plural(enum hg_key key)
{
	static const char *const plurals[] = {"locations", "tags", "modules", "roots", "types",
		"types and locations", "call stacks", "functions"};
	return key < HG_KEYS ? plurals[key] : "";
}

unsigned rep_key_columns(enum hg_key key, struct rep_column *columns)
{
	if (key == HG_BY_ROOT) {
		columns[0] = (struct rep_column){"kind", NULL, REP_WORD, 0};
		columns[1] = (struct rep_column){"name", "root", REP_NAME, REP_LAST};
		return 2;
	}
	if (key == HG_BY_TYPE_LOCATION) {
		columns[0] = (struct rep_column){"type", "type", REP_NAME, REP_LAST | REP_HEAD};
		columns[1] = (struct rep_column){"location", "location", REP_NAME, REP_LAST};
		return 2;
	}
	const char *name = hg_key_name(key);
	columns[0] = (struct rep_column){name, name, key == HG_BY_TAG ? REP_NUMBER : REP_NAME,
		key == HG_BY_TYPE ? REP_LAST | REP_HEAD : REP_LAST};
	return 1;
}

static void label_for_text(
	struct rep_text *label, enum hg_key key, const char *kind, const char *name)
{
	if (key == HG_BY_ROOT)
		rep_text_printf(label, "%s %s", kind, name);
	else if (key == HG_BY_TAG)
		rep_text_printf(
			label, "%3s  %s", name, rep_tag_word((unsigned)strtoul(name, NULL, 10)));
	else if (*name || key == HG_BY_TYPE_LOCATION)
		rep_text_put(label, name);
	else if (key == HG_BY_TYPE)
		rep_text_put(label, "unknown");
	else
		rep_text_printf(label, "(no %s known)", hg_key_name(key));
}

void rep_key_cells(struct rep_emitter *emitter, enum hg_key key, const char *kind, const char *name)
{
	if (key == HG_BY_ROOT)
		rep_cell_string(emitter, kind);
	else if (key == HG_BY_TYPE_LOCATION)
		rep_cell_labelled(emitter, kind, *kind ? kind : "unknown");
	if (emitter->writer->for_people) {
		struct rep_text label = {0};
		label_for_text(&label, key, kind, name);
		emitter->failed |= label.failed;
		rep_cell_string(emitter, rep_text_string(&label));
		rep_text_release(&label);
	} else if (key == HG_BY_TAG) {
		rep_cell_number(emitter, strtoull(name, NULL, 10));
	} else {
		rep_cell_string(emitter, name);
	}
}

void rep_class_cells(struct rep_emitter *emitter, const struct hg_snapshot *snapshot,
	enum hg_key key, uint32_t id, enum hg_confidence confidence)
{
	struct rep_text kind = {0}, name = {0};
	rep_class_names(snapshot, key, id, &kind, &name);
	if (emitter->writer->for_people && confidence == HG_GUESSED)
		rep_text_put(key == HG_BY_TYPE_LOCATION ? &kind : &name, REP_GUESS_MARK);
	emitter->failed |= name.failed || kind.failed;
	rep_key_cells(emitter, key, rep_text_string(&kind), rep_text_string(&name));
	rep_text_release(&kind);
	rep_text_release(&name);
}

void rep_class_names(const struct hg_snapshot *snapshot, enum hg_key key, uint32_t id,
	struct rep_text *kind, struct rep_text *name)
{
	uint32_t type, location;
	switch (key) {
	case HG_BY_TYPE_LOCATION:
		hg_class_parts(snapshot, id, &type, &location);
		rep_name_type(kind, snapshot, type);
		rep_name_location(name, snapshot, location);
		break;
	case HG_BY_ROOT:
		rep_text_put(kind, hg_root_kind_name(hg_kind_of_root(snapshot, id)));
		rep_name_root(name, snapshot, id);
		break;
	default:
		rep_name_class(name, snapshot, key, id);
	}
}

char *rep_sort_name(const struct hg_snapshot *snapshot, enum hg_key key, uint32_t id)
{
	struct rep_text name = {0}, second = {0};
	rep_class_names(snapshot, key, id, &name, &second);
	rep_text_printf(&name, " %s", rep_text_string(&second));
	if (key == HG_BY_TAG) {
		unsigned long tag = strtoul(rep_text_string(&second), NULL, 10);
		rep_text_clear(&name);
		rep_text_printf(&name, "%03lu", tag);
	}
	char *copy = name.failed || second.failed ? NULL : strdup(rep_text_string(&name));
	rep_text_release(&name);
	rep_text_release(&second);
	return copy;
}

/* Writes what was spelled into 'text' as the next cell, and frees it. */
static void spelled_cell(struct rep_context *context, struct rep_text *text)
{
	rep_cell_string(context->emitter, rep_text_string(text));
	rep_text_release(text);
}

void rep_cell_node(struct rep_context *context, hg_node node)
{
	struct rep_text name = {0};
	rep_name_node(&name, context->snapshot, node);
	spelled_cell(context, &name);
}

void rep_cell_type(struct rep_context *context, uint32_t type)
{
	struct rep_text name = {0};
	rep_name_type(&name, context->snapshot, type);
	spelled_cell(context, &name);
}

void rep_cell_location(struct rep_context *context, uint32_t location)
{
	struct rep_text name = {0};
	rep_name_location(&name, context->snapshot, location);
	spelled_cell(context, &name);
}

void rep_cell_label(struct rep_context *context, const struct hg_block *block)
{
	struct rep_text label = {0};
	rep_name_label(&label, context->snapshot, block);
	spelled_cell(context, &label);
}

void rep_cell_known(struct rep_emitter *emitter, uint64_t number)
{
	if (number == HG_UNKNOWN)
		rep_cell_none(emitter);
	else
		rep_cell_number(emitter, number);
}

bool rep_look_the_same(const struct hg_block *a, const struct hg_block *b)
{
	return !a->is_root && !b->is_root && a->tag == b->tag && a->words == b->words &&
	       a->location == b->location && a->type == b->type;
}

void rep_sampling_rate(struct rep_text *text, const struct hg_info *info)
{
	uint64_t rate = info->sampling_rate_ppb, all = 1000000000;
	if (rate == HG_UNKNOWN || rate == 0) {
		rep_text_put(text, "some words, at a rate that is not known");
	} else if (rate > all / 2) {
		rep_text_percent(text, rate, all);
		rep_text_put(text, " of all words");
	} else {
		rep_text_put(text, "one of ");
		rep_text_count(text, (all + rate / 2) / rate);
		rep_text_put(text, " words");
	}
}

bool rep_is_sampled(enum hg_key key, const struct hg_totals *totals)
{
	return totals->sampled_blocks &&
	       (key == HG_BY_LOCATION || key == HG_BY_MODULE || key == HG_BY_TYPE_LOCATION ||
		       key == HG_BY_CALL_STACK);
}

struct rep_column rep_estimated_column(bool in_text)
{
	return (struct rep_column){"estimated_bytes", in_text ? "estimated" : NULL, REP_BYTES, 0};
}

struct rep_column rep_error_column(bool in_text)
{
	return (struct rep_column){"estimated_error", in_text ? "+-" : NULL, REP_BYTES, 0};
}

void rep_estimate_cells(struct rep_emitter *emitter, const struct hg_class *row)
{
	rep_cell_known(emitter, row->estimated_bytes);
	rep_cell_known(emitter, row->estimated_error);
}

void rep_coverage(struct rep_text *text, const struct hg_totals *totals)
{
	rep_text_percent(text, totals->typed_blocks, totals->blocks - totals->memprof_blocks);
	rep_text_put(text, " of blocks (");
	rep_text_percent(text, totals->typed_bytes, totals->bytes - totals->memprof_bytes);
	rep_text_put(text,
		totals->memprof_blocks ? " of bytes) but for Gc.Memprof's own, " : " of bytes), ");
	rep_name_amount(text, totals->shape_clashes, "shape clash", "shape clashes");
	if (totals->type_conflicts) {
		rep_text_put(text, ", ");
		rep_name_amount(
			text, totals->type_conflicts, "block of two types", "blocks of two types");
	}
	if (totals->given_up_blocks) {
		rep_text_put(text, ", ");
		rep_name_amount(text, totals->given_up_blocks, "block given up", "blocks given up");
	}
}

static int compare_ranked(const void *left, const void *right)
{
	const struct rep_ranked *a = left, *b = right;
	if (a->amount != b->amount)
		return a->amount > b->amount ? -1 : 1;
	int names = a->name && b->name ? strcmp(a->name, b->name) : 0;
	return names ? names : (a->position > b->position) - (a->position < b->position);
}

void rep_rank(struct rep_ranked *rows, size_t count)
{
	if (count)
		qsort(rows, count, sizeof(*rows), compare_ranked);
}

void rep_ranked_free(struct rep_ranked *rows, size_t count)
{
	if (!rows)
		return;
	for (size_t i = 0; i < count; i++)
		free(rows[i].name);
	free(rows);
}

bool rep_keep_largest(const uint64_t *amounts, size_t count, uint64_t limit, bool *kept)
{
	bool all = limit == 0 || limit >= count;
	for (size_t i = 0; i < count; i++)
		kept[i] = all;
	if (all || count == 0)
		return true;
	struct rep_ranked *rows = calloc(count, sizeof(*rows));
	if (!rows)
		return false;
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct rep_ranked){.amount = amounts[i], .position = i};
	rep_rank(rows, count);
	for (size_t i = 0; i < limit; i++)
		kept[rows[i].position] = true;
	free(rows);
	return true;
}

void rep_more_rows(
	struct rep_emitter *emitter, uint64_t hidden, const char *what, const char *options)
{
	if (hidden == 0 || !emitter->writer->for_people)
		return;
	struct rep_text count = {0};
	rep_text_count(&count, hidden);
	rep_prose(emitter, REP_DIM, "  (%s more %s; %s shows all)\n", rep_text_string(&count), what,
		options);
	rep_text_release(&count);
}

static uint64_t height_at(const void *first, size_t stride, size_t index)
{
	uint64_t height;
	memcpy(&height, (const char *)first + index * stride, sizeof(height));
	return height;
}

void rep_curve(struct rep_text *text, const void *first, size_t stride, size_t count)
{
	enum { CURVE_COLUMNS = 32 };
	static const char levels[] = " .:-=+*#";
	size_t columns = count < CURVE_COLUMNS ? count : CURVE_COLUMNS, next = 0;
	uint64_t most = 1;
	for (size_t i = 0; i < count; i++)
		if (height_at(first, stride, i) > most)
			most = height_at(first, stride, i);
	for (size_t column = 0; column < columns; column++) {
		uint64_t height = 0;
		for (; next < (column + 1) * count / columns; next++) {
			uint64_t at = height_at(first, stride, next);
			height = at > height ? at : height;
		}
		uint64_t points = rep_basis_points(height, most);
		rep_text_add(text, &levels[height ? 1 + points * 6 / 10000 : 0], 1);
	}
}

static const struct rep_column note_columns[] = {{"note", "note", REP_WORD, REP_LAST}};

void rep_not_read(struct rep_emitter *emitter, const struct hg_info *info)
{
	if (info->note_count == 0 || emitter->writer->one_part)
		return;
	rep_headline(emitter, "What could not be read as usual");
	rep_table_begin(emitter, "not_read", note_columns, 1);
	for (unsigned i = 0; i < info->note_count; i++) {
		rep_cell_string(emitter, info->notes[i]);
		rep_row_end(emitter);
	}
	rep_table_end(emitter);
}
