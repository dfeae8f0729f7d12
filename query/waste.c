/* Memory that could be saved: what the passes find, in order, with sums. */
#include "query/shared/result.h"
#include "query/waste/find.h"

#include "base/assert.h"

#include <stdlib.h>

const char *hg_waste_section_name(enum hg_waste_section section)
{
	static const char *const names[HG_WASTE_SECTIONS] = {"strings", "bytes", "values", "tables",
		"tails", "numbers", "options", "boxes", "unreachable"};
	return section < HG_WASTE_SECTIONS ? names[section] : "?";
}

static int compare_waste(const void *left, const void *right)
{
	const struct hg_waste_row *a = left, *b = right;
	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	if (a->saved_bytes != b->saved_bytes)
		return a->saved_bytes > b->saved_bytes ? -1 : 1;
	return (a->example > b->example) - (a->example < b->example);
}

/* Why a section has no answer, or a part of one; NULL if it has. */
static const char *missing_for(const struct hg_snapshot *snapshot, enum hg_waste_section section)
{
	bool has_types = snapshot->retype.has_types;
	switch (section) {
	case HG_WASTE_STRINGS:
		return snapshot->snap.format->content ? NULL : "the file has no contents";
	case HG_WASTE_BYTES:
		return !snapshot->snap.format->content ? "the file has no contents"
		       : has_types                     ? NULL
						       : "without types they are among strings";
	case HG_WASTE_TAILS:
		return !has_types                         ? "types are not known"
		       : snapshot->snap.integers_recorded ? NULL
							  : "the file has no integers";
	case HG_WASTE_VALUES:
		return !has_types                          ? "types are not known"
		       : !snapshot->snap.integers_recorded ? "the file has no integers"
							   : NULL;
	case HG_WASTE_UNREACHABLE:
		return NULL;
	default:
		return has_types ? NULL : "types are not known";
	}
}

static enum hg_status add_sums(struct waste *waste, struct hg_waste *out)
{
	struct hg_waste_sum *sums;
	BASE_TRY(query_alloc(waste->snapshot, HG_WASTE_SECTIONS, sizeof(*sums), (void **)&sums));
	for (unsigned i = 0; i < HG_WASTE_SECTIONS; i++) {
		sums[i].missing = missing_for(waste->snapshot, (enum hg_waste_section)i);
		sums[i].answered = !sums[i].missing;
	}
	for (uint64_t i = 0; i < waste->count; i++) {
		const struct hg_waste_row *row = &waste->rows[i];
		struct hg_waste_sum *sum = &sums[row->section];
		sum->rows++;
		sum->blocks += row->blocks;
		sum->bytes += row->bytes;
		sum->saved_bytes += row->saved_bytes;
	}
	out->sums_count = HG_WASTE_SECTIONS;
	return query_keep_rows(
		waste->snapshot, out, sums, HG_WASTE_SECTIONS, sizeof(*sums), &out->sums);
}

/* Sections that the file or its types cannot answer have no rows. */
static void drop_unanswered(struct waste *waste)
{
	uint64_t kept = 0;
	for (uint64_t i = 0; i < waste->count; i++)
		if (!missing_for(waste->snapshot, waste->rows[i].section))
			waste->rows[kept++] = waste->rows[i];
	waste->count = kept;
}

static enum hg_status find_waste(struct waste *waste, struct hg_waste *out)
{
	BASE_TRY(query_types_by_name(waste->snapshot, &waste->kinds));
	BASE_TRY(waste_find_equal(waste));
	BASE_TRY(waste_find_shapes(waste));
	drop_unanswered(waste);
	if (waste->count)
		qsort(waste->rows, waste->count, sizeof(*waste->rows), compare_waste);
	BASE_TRY(add_sums(waste, out));
	struct hg_waste_row *rows = waste->rows;
	waste->rows = NULL;
	out->count = waste->count;
	return query_keep_rows(waste->snapshot, out, rows, out->count, sizeof(*rows), &out->rows);
}

enum hg_status hg_list_waste(struct hg_snapshot *snapshot, struct hg_waste **out)
{
	struct waste waste = {.snapshot = snapshot};
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	enum hg_status status = base_arena_init(
		&waste.arena, &snapshot->session->budget, "waste", &snapshot->session->error);
	if (status == HG_OK) {
		status = find_waste(&waste, *out);
		base_arena_release(&waste.arena);
	}
	free(waste.kinds);
	free(waste.rows);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_waste_release(struct hg_waste **waste)
{
	query_free(waste);
}
