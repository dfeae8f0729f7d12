/* Frames and shapes, lists in the order of a hash table; of what comes twice the later one counts.
 */
#include "trace/spacetime/tables.h"

#include "trace/spacetime/stream.h"

#include "base/grow.h"

static enum hg_status wrong_table(
	const struct snap_marshal *m, const char *what, struct hg_error *error)
{
	return base_corrupt(error, m->offset, "a table of %s that is not one of Spacetime", what);
}

static bool table_address(const struct snap_marshal *m, struct snap_value value, uint64_t *address)
{
	char kind;
	int64_t number;
	if (!snap_marshal_custom(m, value, &kind, &number) || kind != 'j')
		return false;
	*address = (uint64_t)number;
	return true;
}

static bool is_cell(const struct snap_marshal *m, struct snap_value list)
{
	return snap_marshal_size(m, list) == 2 && snap_marshal_tag(m, list) == 0;
}

static bool read_location_fields(const struct snap_marshal *m, struct snap_value value,
	struct spacetime_location *location, struct snap_value *file)
{
	enum { IS_RAISE, FILE_NAME, LINE, START, END, FIELDS };
	int64_t is_raise;
	*location = (struct spacetime_location){.known = snap_marshal_size(m, value) == FIELDS};
	if ((!location->known && snap_marshal_size(m, value) != 1) ||
		!snap_marshal_int(m, snap_marshal_field(m, value, IS_RAISE), &is_raise))
		return false;
	location->is_raise = is_raise != 0;
	*file = snap_marshal_field(m, value, FILE_NAME);
	return !location->known ||
	       (snap_marshal_int(m, snap_marshal_field(m, value, LINE), &location->line) &&
		       snap_marshal_int(m, snap_marshal_field(m, value, START), &location->start) &&
		       snap_marshal_int(m, snap_marshal_field(m, value, END), &location->end));
}

static enum hg_status keep_location(struct spacetime_tables *tables,
	const struct spacetime_location *location, struct hg_error *error)
{
	BASE_TRY(base_grow(&tables->locations, tables->location_count, &tables->location_capacity,
		sizeof(*tables->locations), error));
	tables->locations[tables->location_count++] = *location;
	return HG_OK;
}

static enum hg_status add_location_of_frame(struct spacetime_tables *tables,
	const struct snap_marshal *m, struct snap_value value, struct hg_error *error)
{
	struct spacetime_location location;
	struct snap_value file;
	const uint8_t *bytes;
	uint32_t length;
	if (!read_location_fields(m, value, &location, &file))
		return wrong_table(m, "frames", error);
	if (location.known) {
		if (!snap_marshal_string(m, file, &bytes, &length))
			return wrong_table(m, "frames", error);
		BASE_TRY(trace_names_add(&tables->files, bytes, length, &location.file, error));
	}
	return keep_location(tables, &location, error);
}

/* The file has them outermost first. */
static void turn_locations_around(struct spacetime_tables *tables, uint64_t first)
{
	for (uint64_t i = first, j = tables->location_count; i + 1 < j; i++) {
		struct spacetime_location other = tables->locations[--j];
		tables->locations[j] = tables->locations[i];
		tables->locations[i] = other;
	}
}

/* Its locations are those from 'first' on. */
static enum hg_status keep_frame(
	struct spacetime_tables *tables, uint64_t address, uint64_t first, struct hg_error *error)
{
	turn_locations_around(tables, first);
	BASE_TRY(base_map_set(&tables->frame_of, address, tables->frame_count, error));
	BASE_TRY(base_grow(&tables->frames, tables->frame_count, &tables->frame_capacity,
		sizeof(*tables->frames), error));
	tables->frames[tables->frame_count++] = (struct spacetime_span){
		(uint32_t)first, (uint32_t)(tables->location_count - first)};
	return HG_OK;
}

static enum hg_status add_spacetime_frame(struct spacetime_tables *tables,
	const struct snap_marshal *m, struct snap_value pair, struct hg_error *error)
{
	uint64_t address, first = tables->location_count;
	struct snap_value slots = snap_marshal_field(m, pair, 1);
	if (!is_cell(m, pair) || !table_address(m, snap_marshal_field(m, pair, 0), &address))
		return wrong_table(m, "frames", error);
	for (uint64_t seen = 0; !snap_marshal_is_int(m, slots); seen++) {
		if (!is_cell(m, slots) || seen > m->objects ||
			tables->location_count > (uint64_t)(m->data.end - m->data.start))
			return wrong_table(m, "frames", error);
		BASE_TRY(add_location_of_frame(tables, m, snap_marshal_field(m, slots, 0), error));
		slots = snap_marshal_field(m, slots, 1);
	}
	return keep_frame(tables, address, first, error);
}

static enum hg_status keep_part(
	struct spacetime_tables *tables, const struct spacetime_part *part, struct hg_error *error)
{
	BASE_TRY(base_grow(&tables->parts, tables->part_count, &tables->part_capacity,
		sizeof(*tables->parts), error));
	BASE_TRY(base_grow(&tables->forms, tables->part_count, &tables->form_capacity,
		sizeof(*tables->forms), error));
	tables->forms[tables->part_count] =
		(uint8_t)(spacetime_part_words(tables, part) << 2 | part->kind);
	tables->parts[tables->part_count++] = *part;
	return HG_OK;
}

static enum hg_status add_part_of_shape(struct spacetime_tables *tables,
	const struct snap_marshal *m, struct snap_value value, struct hg_error *error)
{
	int tag = snap_marshal_tag(m, value);
	struct spacetime_part part;
	if (tag < SPACETIME_DIRECT || tag > SPACETIME_ALLOCATION ||
		snap_marshal_size(m, value) != (tag == SPACETIME_DIRECT ? 2 : 1))
		return wrong_table(m, "shapes", error);
	part = (struct spacetime_part){.kind = (enum spacetime_part_kind)tag};
	if (!table_address(m, snap_marshal_field(m, value, 0), &part.pc) ||
		(part.kind == SPACETIME_DIRECT &&
			!table_address(m, snap_marshal_field(m, value, 1), &part.callee)))
		return wrong_table(m, "shapes", error);
	return keep_part(tables, &part, error);
}

/* Its parts are those from 'first' on. */
static enum hg_status keep_shape(
	struct spacetime_tables *tables, uint64_t address, uint64_t first, struct hg_error *error)
{
	BASE_TRY(base_map_set(&tables->shape_of, address, tables->shape_count, error));
	BASE_TRY(base_grow(&tables->functions, tables->shape_count, &tables->function_capacity,
		sizeof(*tables->functions), error));
	BASE_TRY(base_grow(&tables->shapes, tables->shape_count, &tables->shape_capacity,
		sizeof(*tables->shapes), error));
	struct spacetime_shape shape = {(uint32_t)first, (uint32_t)(tables->part_count - first), 0};
	for (uint64_t i = first; i < tables->part_count; i++)
		shape.words += spacetime_form_words(tables->forms[i]);
	tables->functions[tables->shape_count] = address;
	tables->shapes[tables->shape_count++] = shape;
	return HG_OK;
}

static enum hg_status add_spacetime_shape(struct spacetime_tables *tables,
	const struct snap_marshal *m, struct snap_value pair, struct hg_error *error)
{
	uint64_t address, first = tables->part_count;
	struct snap_value parts = snap_marshal_field(m, pair, 1);
	if (!is_cell(m, pair) || !table_address(m, snap_marshal_field(m, pair, 0), &address))
		return wrong_table(m, "shapes", error);
	for (uint64_t seen = 0; !snap_marshal_is_int(m, parts); seen++) {
		if (!is_cell(m, parts) || seen > m->objects ||
			tables->part_count > (uint64_t)(m->data.end - m->data.start))
			return wrong_table(m, "shapes", error);
		BASE_TRY(add_part_of_shape(tables, m, snap_marshal_field(m, parts, 0), error));
		parts = snap_marshal_field(m, parts, 1);
	}
	return keep_shape(tables, address, first, error);
}

typedef enum hg_status add_row_fn(struct spacetime_tables *tables, const struct snap_marshal *m,
	struct snap_value row, struct hg_error *error);

/* Sharing may make a short value a long table: rows are at most so many as there are bytes. */
static enum hg_status read_table(const struct spacetime_series *series, uint64_t offset,
	struct spacetime_tables *tables, add_row_fn *add, const char *what, struct hg_error *error)
{
	struct base_pool pool = {0};
	struct snap_marshal m;
	enum hg_status status = spacetime_value_at(series, offset, &pool, &m, error);
	if (status == HG_OK) {
		struct snap_value list = m.root;
		for (uint64_t rows = 0; status == HG_OK && !snap_marshal_is_int(&m, list); rows++) {
			if (!is_cell(&m, list) || rows > m.objects)
				status = wrong_table(&m, what, error);
			else
				status = add(tables, &m, snap_marshal_field(&m, list, 0), error);
			list = snap_marshal_field(&m, list, 1);
		}
	}
	base_pool_release(&pool);
	return status;
}

/* Cells of lists, and pairs. */
static bool stream_pair(struct spacetime_stream *s)
{
	return spacetime_stream_block(s, 0, 2);
}

static enum hg_status stream_location(
	struct spacetime_stream *s, struct spacetime_tables *tables, struct hg_error *error)
{
	struct spacetime_location location = {.known = spacetime_stream_block(s, 0, 5)};
	struct snap_item file = {0};
	if (!location.known)
		spacetime_stream_need_block(s, 1, 1);
	location.is_raise = spacetime_stream_int(s) != 0;
	if (location.known) {
		file = spacetime_stream_item(s, SNAP_ITEM_STRING);
		location.line = spacetime_stream_int(s);
		location.start = spacetime_stream_int(s);
		location.end = spacetime_stream_int(s);
	}
	if (!tables || !s->usual)
		return HG_OK;
	if (location.known)
		BASE_TRY(trace_names_add(
			&tables->files, file.bytes, file.count, &location.file, error));
	return keep_location(tables, &location, error);
}

/* Counts frames, and keeps them in tables, if there are any. */
static enum hg_status stream_frames(struct spacetime_stream *s, struct spacetime_tables *tables,
	uint64_t *count, struct hg_error *error)
{
	for (*count = 0; s->usual && stream_pair(s); ++*count) {
		const uint64_t first = tables ? tables->location_count : 0;
		s->usual = stream_pair(s) && s->usual;
		const uint64_t address = spacetime_stream_address(s);
		while (s->usual && stream_pair(s))
			BASE_TRY(stream_location(s, tables, error));
		spacetime_stream_int(s);
		if (tables && s->usual)
			BASE_TRY(keep_frame(tables, address, first, error));
	}
	spacetime_stream_int(s);
	return HG_OK;
}

static enum hg_status stream_part(
	struct spacetime_stream *s, struct spacetime_tables *tables, struct hg_error *error)
{
	struct spacetime_part part = {.kind = SPACETIME_DIRECT};
	if (spacetime_stream_block(s, SPACETIME_ALLOCATION, 1))
		part.kind = SPACETIME_ALLOCATION;
	else if (spacetime_stream_block(s, SPACETIME_INDIRECT, 1))
		part.kind = SPACETIME_INDIRECT;
	else
		spacetime_stream_need_block(s, SPACETIME_DIRECT, 2);
	part.pc = spacetime_stream_address(s);
	if (part.kind == SPACETIME_DIRECT)
		part.callee = spacetime_stream_address(s);
	return s->usual ? keep_part(tables, &part, error) : HG_OK;
}

static enum hg_status stream_shapes(
	struct spacetime_stream *s, struct spacetime_tables *tables, struct hg_error *error)
{
	while (s->usual && stream_pair(s)) {
		const uint64_t first = tables->part_count;
		s->usual = stream_pair(s) && s->usual;
		const uint64_t address = spacetime_stream_address(s);
		while (s->usual && stream_pair(s))
			BASE_TRY(stream_part(s, tables, error));
		spacetime_stream_int(s);
		if (s->usual)
			BASE_TRY(keep_shape(tables, address, first, error));
	}
	spacetime_stream_int(s);
	return HG_OK;
}

/* What was kept before it turned out that the table is not as programs write it. */
static void forget_frames(struct spacetime_tables *tables)
{
	tables->frame_count = tables->location_count = 0;
	base_map_release(&tables->frame_of);
	trace_names_release(&tables->files);
}

static void forget_shapes(struct spacetime_tables *tables)
{
	tables->shape_count = tables->part_count = 0;
	base_map_release(&tables->shape_of);
}

static enum hg_status read_frames(const struct spacetime_series *series,
	struct spacetime_tables *tables, struct hg_error *error)
{
	struct spacetime_stream s = spacetime_stream_at(series, series->frames);
	uint64_t count;
	BASE_TRY(stream_frames(&s, tables, &count, error));
	if (spacetime_stream_ends(&s))
		return HG_OK;
	forget_frames(tables);
	return read_table(series, series->frames, tables, add_spacetime_frame, "frames", error);
}

static enum hg_status read_shapes(const struct spacetime_series *series,
	struct spacetime_tables *tables, struct hg_error *error)
{
	enum { PART_OBJECTS = 3 }; /* at least: in the list, itself, and its address */
	struct spacetime_stream s = spacetime_stream_at(series, series->shapes);
	const uint64_t most = s.usual ? s.header.objects / PART_OBJECTS : 0;
	tables->parts = most ? base_huge_alloc(most, sizeof(*tables->parts)) : NULL;
	if (most && !tables->parts)
		return base_no_memory(error, most * sizeof(*tables->parts));
	tables->part_capacity = most;
	BASE_TRY(base_grow_by(
		&tables->forms, 0, most, &tables->form_capacity, sizeof(*tables->forms), error));
	BASE_TRY(stream_shapes(&s, tables, error));
	if (spacetime_stream_ends(&s))
		return HG_OK;
	forget_shapes(tables);
	return read_table(series, series->shapes, tables, add_spacetime_shape, "shapes", error);
}

enum hg_status spacetime_read_tables(const struct spacetime_series *series,
	struct spacetime_tables *tables, struct hg_error *error)
{
	*tables = (struct spacetime_tables){.call_counts = series->call_counts};
	BASE_TRY(read_frames(series, tables, error));
	return read_shapes(series, tables, error);
}

enum hg_status spacetime_read_shapes(const struct spacetime_series *series,
	struct spacetime_tables *tables, struct hg_error *error)
{
	struct spacetime_stream s = spacetime_stream_at(series, series->frames);
	uint64_t count;
	*tables = (struct spacetime_tables){.call_counts = series->call_counts};
	BASE_TRY(stream_frames(&s, NULL, &count, error));
	if (spacetime_stream_ends(&s))
		tables->frame_count = count;
	else
		BASE_TRY(read_frames(series, tables, error));
	return read_shapes(series, tables, error);
}

void spacetime_tables_release(struct spacetime_tables *tables)
{
	trace_names_release(&tables->files);
	base_map_release(&tables->frame_of);
	base_map_release(&tables->shape_of);
	free(tables->frames);
	free(tables->locations);
	free(tables->shapes);
	free(tables->functions);
	free(tables->parts);
	free(tables->forms);
	*tables = (struct spacetime_tables){0};
}
