/*
 * Snapshots.  Entries and totals of one that is as programs write it are read twice from the file,
 * first to see that it is so, then to give them out; of any other one they are gathered from the
 * whole value.
 */
#include "trace/spacetime/snapshot.h"

#include "trace/spacetime/stream.h"

static enum hg_status wrong_snapshot(const struct snap_marshal *m, struct hg_error *error)
{
	return base_corrupt(error, m->offset, "a snapshot that is not one of Spacetime");
}

/*
 * Annotations are the numbers of allocation points, of which each takes bytes of the file: larger
 * ones would only be large tables.
 */
static bool read_annotation(const struct spacetime_snapshot *snapshot, const struct snap_marshal *m,
	struct snap_value value, uint32_t *annotation)
{
	int64_t number;
	if (!snap_marshal_int(m, value, &number) || number < 0 ||
		(uint64_t)number >= snapshot->annotation_end)
		return false;
	*annotation = (uint32_t)number;
	return true;
}

static enum hg_status read_entries(const struct snap_marshal *m, struct snap_value entries,
	struct spacetime_snapshot *out, struct hg_error *error)
{
	uint32_t fields = snap_marshal_size(m, entries);
	void *memory;
	if (fields % 3 != 0 || snap_marshal_tag(m, entries) != 0)
		return wrong_snapshot(m, error);
	BASE_TRY(base_pool_alloc(&out->pool, fields / 3, sizeof(*out->entries), &memory, error));
	out->entries = memory;
	for (uint32_t i = 0; i < fields; i += 3) {
		struct spacetime_entry *entry = &out->entries[out->entry_count++];
		if (!read_annotation(
			    out, m, snap_marshal_field(m, entries, i), &entry->annotation) ||
			!snap_marshal_int(
				m, snap_marshal_field(m, entries, i + 1), &entry->blocks) ||
			!snap_marshal_int(m, snap_marshal_field(m, entries, i + 2), &entry->words))
			return wrong_snapshot(m, error);
	}
	return HG_OK;
}

static enum hg_status read_totals(const struct snap_marshal *m, struct snap_value list,
	struct spacetime_snapshot *out, struct hg_error *error)
{
	void *memory;
	uint64_t count = 0;
	for (struct snap_value at = list; !snap_marshal_is_int(m, at);
		at = snap_marshal_field(m, at, 2))
		if (++count > m->objects || snap_marshal_size(m, at) != 3)
			return wrong_snapshot(m, error);
	BASE_TRY(base_pool_alloc(&out->pool, count, sizeof(*out->totals), &memory, error));
	out->totals = memory;
	for (; out->total_count < count; list = snap_marshal_field(m, list, 2)) {
		struct spacetime_total *total = &out->totals[out->total_count++];
		if (!read_annotation(out, m, snap_marshal_field(m, list, 0), &total->annotation) ||
			!snap_marshal_int(m, snap_marshal_field(m, list, 1), &total->words))
			return wrong_snapshot(m, error);
	}
	return HG_OK;
}

static enum hg_status read_snapshot_value(
	const struct snap_marshal *m, struct spacetime_snapshot *out, struct hg_error *error)
{
	enum { TIME, GC, ENTRIES, SCANNED, ANNOTATED, TOTALS, FIELDS };
	struct snap_value gc = snap_marshal_field(m, m->root, GC);
	if (snap_marshal_size(m, m->root) != FIELDS ||
		!snap_marshal_double(m, snap_marshal_field(m, m->root, TIME), 0, &out->time) ||
		!snap_marshal_int(m, snap_marshal_field(m, m->root, SCANNED), &out->scanned) ||
		!snap_marshal_int(m, snap_marshal_field(m, m->root, ANNOTATED), &out->annotated))
		return wrong_snapshot(m, error);
	for (unsigned i = 0; i < SPACETIME_GC_NUMBERS; i++)
		if (!snap_marshal_int(m, snap_marshal_field(m, gc, i), &out->gc[i]))
			return wrong_snapshot(m, error);
	BASE_TRY(read_entries(m, snap_marshal_field(m, m->root, ENTRIES), out, error));
	return read_totals(m, snap_marshal_field(m, m->root, TOTALS), out, error);
}

enum { TOTAL_FIELDS = 3, ENTRY_FIELDS = 3 };

static bool is_annotation(const struct spacetime_snapshot *snapshot, int64_t number)
{
	return (uint64_t)number < snapshot->annotation_end;
}

static struct spacetime_entry stream_entry(struct spacetime_stream *s)
{
	struct spacetime_entry entry = {.annotation = (uint32_t)spacetime_stream_int(s)};
	entry.blocks = spacetime_stream_int(s);
	entry.words = spacetime_stream_int(s);
	return entry;
}

/* All but the rest of the list. */
static struct spacetime_total stream_total(struct spacetime_stream *s)
{
	spacetime_stream_need_block(s, 0, TOTAL_FIELDS);
	struct spacetime_total total = {.annotation = (uint32_t)spacetime_stream_int(s)};
	total.words = spacetime_stream_int(s);
	return total;
}

/* Where entries and totals begin; false if the snapshot is not as programs write it. */
static bool scan_snapshot(struct spacetime_stream *s, struct spacetime_snapshot *out,
	struct spacetime_stream *entries, struct spacetime_stream *totals)
{
	enum { FIELDS = 6 };
	spacetime_stream_need_block(s, 0, FIELDS);
	const struct snap_item time = spacetime_stream_item(s, SNAP_ITEM_DOUBLES);
	if (!s->usual || time.tag != SNAP_TAG_DOUBLE || !time.little)
		return false;
	const uint64_t bits = base_load_u64le(time.bytes);
	memcpy(&out->time, &bits, sizeof(out->time));
	if (spacetime_stream_large_block(s) != SPACETIME_GC_NUMBERS)
		return false;
	for (unsigned i = 0; i < SPACETIME_GC_NUMBERS; i++)
		out->gc[i] = spacetime_stream_int(s);
	const uint64_t fields = spacetime_stream_large_block(s);
	*entries = *s;
	for (uint64_t i = 0; i < fields / ENTRY_FIELDS && s->usual; i++) {
		s->usual = is_annotation(out, spacetime_stream_int(s)) && s->usual;
		spacetime_stream_int(s);
		spacetime_stream_int(s);
	}
	out->entry_count = fields / ENTRY_FIELDS;
	out->scanned = spacetime_stream_int(s);
	out->annotated = spacetime_stream_int(s);
	*totals = *s;
	for (; spacetime_stream_block(s, 0, TOTAL_FIELDS) && s->usual; out->total_count++) {
		s->usual = is_annotation(out, spacetime_stream_int(s)) && s->usual;
		spacetime_stream_int(s);
	}
	spacetime_stream_int(s); /* the end of the list */
	return fields % ENTRY_FIELDS == 0 && spacetime_stream_ends(s);
}

enum { AT_A_TIME = 128 };

static enum hg_status visit_entries(
	struct spacetime_stream *s, uint64_t count, const struct spacetime_visitor *visitor)
{
	struct spacetime_entry entries[AT_A_TIME];
	while (count) {
		const uint64_t some = count < AT_A_TIME ? count : AT_A_TIME;
		for (uint64_t i = 0; i < some; i++)
			entries[i] = stream_entry(s);
		BASE_TRY(visitor->entries(visitor->data, entries, some));
		count -= some;
	}
	return HG_OK;
}

static enum hg_status visit_totals(
	struct spacetime_stream *s, uint64_t count, const struct spacetime_visitor *visitor)
{
	struct spacetime_total totals[AT_A_TIME];
	while (count) {
		const uint64_t some = count < AT_A_TIME ? count : AT_A_TIME;
		for (uint64_t i = 0; i < some; i++)
			totals[i] = stream_total(s);
		BASE_TRY(visitor->totals(visitor->data, totals, some));
		count -= some;
	}
	return HG_OK;
}

static struct spacetime_snapshot empty_snapshot(const struct spacetime_series *series)
{
	const uint64_t bytes = (uint64_t)(series->file.end - series->file.start);
	return (struct spacetime_snapshot){
		.annotation_end = bytes < UINT32_MAX ? bytes : UINT32_MAX};
}

/* The value as a whole. */
static enum hg_status read_unusual_snapshot(const struct spacetime_series *series, uint64_t offset,
	struct spacetime_snapshot *snapshot, struct hg_error *error)
{
	struct base_pool pool = {0};
	struct snap_marshal value;
	*snapshot = empty_snapshot(series);
	enum hg_status status = spacetime_value_at(series, offset, &pool, &value, error);
	if (status == HG_OK)
		status = read_snapshot_value(&value, snapshot, error);
	base_pool_release(&pool);
	return status;
}

enum hg_status spacetime_visit_snapshot(const struct spacetime_series *series,
	const struct spacetime_moment *moment, const struct spacetime_visitor *visitor,
	struct spacetime_snapshot *snapshot, struct hg_error *error)
{
	struct spacetime_stream s = spacetime_stream_at(series, moment->offset), entries, totals;
	*snapshot = empty_snapshot(series);
	if (scan_snapshot(&s, snapshot, &entries, &totals)) {
		BASE_TRY(visit_entries(&entries, snapshot->entry_count, visitor));
		return visit_totals(&totals, snapshot->total_count, visitor);
	}
	BASE_TRY(read_unusual_snapshot(series, moment->offset, snapshot, error));
	BASE_TRY(visitor->entries(visitor->data, snapshot->entries, snapshot->entry_count));
	return visitor->totals(visitor->data, snapshot->totals, snapshot->total_count);
}

static enum hg_status keep_entries_and_totals(struct spacetime_stream *entries,
	struct spacetime_stream *totals, struct spacetime_snapshot *out, struct hg_error *error)
{
	void *memory;
	BASE_TRY(base_pool_alloc(
		&out->pool, out->entry_count, sizeof(*out->entries), &memory, error));
	out->entries = memory;
	BASE_TRY(base_pool_alloc(
		&out->pool, out->total_count, sizeof(*out->totals), &memory, error));
	out->totals = memory;
	for (uint64_t i = 0; i < out->entry_count; i++)
		out->entries[i] = stream_entry(entries);
	for (uint64_t i = 0; i < out->total_count; i++)
		out->totals[i] = stream_total(totals);
	return HG_OK;
}

enum hg_status spacetime_read_snapshot(const struct spacetime_series *series,
	const struct spacetime_moment *moment, struct spacetime_snapshot *snapshot,
	struct hg_error *error)
{
	struct spacetime_stream s = spacetime_stream_at(series, moment->offset), entries, totals;
	*snapshot = empty_snapshot(series);
	return scan_snapshot(&s, snapshot, &entries, &totals)
		       ? keep_entries_and_totals(&entries, &totals, snapshot, error)
		       : read_unusual_snapshot(series, moment->offset, snapshot, error);
}

void spacetime_snapshot_release(struct spacetime_snapshot *snapshot)
{
	base_pool_release(&snapshot->pool);
	*snapshot = (struct spacetime_snapshot){0};
}
