/*
 * A series read from the JSON that trend writes, so that nobody need keep the snapshots.
 *
 * Two passes: where the members of the document lie, whose order is anybody's, then one object at a
 * time (query/shared/json_layout.h).  'names' says how rows hang together, 'sharing' which of them
 * hold the same, 'rows' what they have in each of the 'snapshots'.  Of paths it must add up as in
 * a snapshot: what a row retains is its own bytes and what its children retain, and what all roots
 * retain is what the snapshot says is reachable.
 */
#include "query/retention/series.h"
#include "query/retention/tree.h"
#include "query/shared/json_fields.h"

#include "base/file.h"
#include "base/grow.h"
#include "base/session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REMEDY "make it anew with 'heapgraph trend --format json'"

enum { SCHEMA_VERSION = 2, MOST_SNAPSHOTS = 100000, MOST_NAMES = 1 << 24 };

/* Rows times snapshots, which are expanded one row at a time. */
#define MOST_POINTS (UINT64_C(1) << 30)

/* Members of the document that are read. */
enum part { SCHEMA, VERB, BY, COMPLETE, PROGRAM, SNAPSHOTS, NAMES, ROWS, SHARING, PARTS };

static const char *const part_names[PARTS] = {"\"schema_version\"", "\"verb\"", "\"by\"",
	"\"complete\"", "\"program\"", "\"snapshots\"", "\"names\"", "\"rows\"", "\"sharing\""};

struct reading {
	struct hg_series *series;
	struct query_series *all;
	struct hg_session *session;
	const struct hg_baseline_options *options;
	const char *path;
	struct base_file file;
	struct query_json json;
	struct base_pool scratch; /* of strings that the series does not keep */
	struct query_json_part parts[PARTS];
	const char *program;

	struct moment {
		struct hg_info info;
		uint64_t blocks, bytes, reachable_blocks, reachable_bytes, offheap_bytes;
	} * moments;
	uint64_t moment_count, moment_capacity;

	/* What the file calls a row; parents come before their children. */
	struct name {
		uint32_t parent, row;      /* in the file; in the series */
		uint64_t sum, sum_offheap; /* of the moment that is checked: of its children */
		const char *made_at, *defined_at, *held_by;
	} * names;
	uint64_t name_count, name_capacity;
	uint64_t path_bytes; /* of all paths, which are spelled out later */

	struct point {
		uint32_t moment, name;
		struct hg_measure measure;
	} * points; /* by moment, then name, once sorted */
	uint64_t point_count, point_capacity;
};

static enum hg_status refuse_baseline(const struct reading *r, uint64_t offset, const char *what)
{
	return base_corrupt(r->json.error, offset, "%s: " REMEDY, what);
}

static bool is_part(const struct reading *r, const struct query_json_part *part, const char *text)
{
	uint64_t length = part->end - part->start;
	return length == strlen(text) && memcmp(r->json.bytes + part->start, text, length) == 0;
}

static enum hg_status find_parts(struct reading *r)
{
	struct query_json_part key, value;
	uint64_t at = 0;
	bool more = true;
	while (more) {
		BASE_TRY(query_json_member(&r->json, &at, &key, &value, &more));
		for (unsigned i = 0; i < PARTS && more; i++) {
			if (!is_part(r, &key, part_names[i]))
				continue;
			if (r->parts[i].end)
				return base_corrupt(r->json.error, key.start,
					"the JSON has %s twice", part_names[i]);
			r->parts[i] = value;
		}
	}
	return HG_OK;
}

/* The text of a part for a message. */
static void quote_part(const struct reading *r, enum part part, char *text, size_t size)
{
	const struct query_json_part *at = &r->parts[part];
	uint64_t length = at->end - at->start;
	snprintf(text, size, "%.*s", (int)(length < 40 ? length : 40),
		(const char *)r->json.bytes + at->start);
}

/* What the document says of itself. */
static enum hg_status check_document(struct reading *r)
{
	const struct hg_series_options *options = &r->series->options;
	const char *by = options->by_key ? hg_key_name(options->key) : "path";
	struct hg_error *error = r->json.error;
	char text[48], wanted[64];
	if (!r->parts[SCHEMA].end || !r->parts[VERB].end)
		return refuse_baseline(r, 0, "it is JSON, but not of heapgraph");
	quote_part(r, VERB, text, sizeof(text));
	if (!is_part(r, &r->parts[VERB], "\"trend\""))
		return base_corrupt(error, r->parts[VERB].start,
			"it is of the verb %s, and only trend makes baselines: " REMEDY, text);
	quote_part(r, SCHEMA, text, sizeof(text));
	if (!is_part(r, &r->parts[SCHEMA], "2"))
		return base_corrupt(error, r->parts[SCHEMA].start,
			"its schema_version is %s, not %d: " REMEDY, text, SCHEMA_VERSION);
	if (r->parts[COMPLETE].end && !is_part(r, &r->parts[COMPLETE], "true"))
		return base_corrupt(error, r->parts[COMPLETE].start,
			"it lacks rows, as it was made with --limit, --min or --type: make it "
			"anew without");
	for (unsigned i = 0; i < PARTS; i++)
		if (!r->parts[i].end && i != SHARING)
			return base_corrupt(error, 0, "it has no %s: " REMEDY, part_names[i]);
	snprintf(wanted, sizeof(wanted), "\"%s\"", by);
	quote_part(r, BY, text, sizeof(text));
	if (!is_part(r, &r->parts[BY], wanted))
		return base_corrupt(error, r->parts[BY].start,
			"its rows are by %s, and %s are compared: " REMEDY " --by %s", text, wanted,
			by);
	return HG_OK;
}

static enum hg_status read_program(struct reading *r)
{
	struct query_fields fields;
	BASE_TRY(query_fields_open(&fields, &r->json, &r->all->pool, &r->parts[PROGRAM]));
	enum hg_status status = query_value_exact(&fields, "program", &r->program);
	query_fields_close(&fields);
	return status;
}

static enum hg_status read_format(const struct query_fields *f, struct hg_info *info)
{
	const char *name;
	BASE_TRY(query_field_string(f, "format", &name));
	for (unsigned i = 0; hg_format_name(i); i++) {
		if (strcmp(hg_format_name(i), name) != 0)
			continue;
		info->format = (enum hg_format)i;
		return HG_OK;
	}
	return base_corrupt(f->json->error, f->offset, "'format' is none that is known");
}

static enum hg_status read_layout(const struct query_fields *f, struct hg_info *info)
{
	enum { MOST_BITS = 64 };
	uint64_t word_size, reserved_bits;
	const char *roots;
	BASE_TRY(query_field_number(f, "word_size", MOST_BITS, &word_size));
	BASE_TRY(query_field_number(f, "reserved_bits", MOST_BITS, &reserved_bits));
	BASE_TRY(query_field_string(f, "roots", &roots));
	info->word_size = (unsigned)word_size;
	info->reserved_bits = (unsigned)reserved_bits;
	info->all_roots_alike = strcmp(roots, "all") == 0;
	if (!info->all_roots_alike && strcmp(roots, "lasting") != 0)
		return base_corrupt(
			f->json->error, f->offset, "'roots' is neither \"lasting\" nor \"all\"");
	return HG_OK;
}

static enum hg_status read_info(const struct query_fields *f, struct hg_info *info)
{
	static const struct {
		const char *name;
		size_t offset;
	} strings[] = {{"file", offsetof(struct hg_info, path)},
		{"title", offsetof(struct hg_info, title)},
		{"program", offsetof(struct hg_info, program)},
		{"trigger", offsetof(struct hg_info, trigger)},
		{"ocaml_version", offsetof(struct hg_info, ocaml_version)},
		{"location_source", offsetof(struct hg_info, profile)},
		{"location_note", offsetof(struct hg_info, profile_note)},
		{"type_source", offsetof(struct hg_info, type_profile)},
		{"type_note", offsetof(struct hg_info, type_note)},
		{"partial", offsetof(struct hg_info, partial)}};
	*info = (struct hg_info){.path = ""};
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		BASE_TRY(query_field_string(f, strings[i].name,
			(const char **)(void *)((char *)info + strings[i].offset)));
	BASE_TRY(read_format(f, info));
	BASE_TRY(read_layout(f, info));
	BASE_TRY(query_field_bool(f, "native", &info->native));
	BASE_TRY(query_field_known(f, "pid", INT64_MAX, &info->pid));
	BASE_TRY(query_field_known(f, "index", INT64_MAX, &info->index));
	BASE_TRY(query_field_known(f, "time_ns", INT64_MAX, &info->time_ns));
	BASE_TRY(query_field_known(f, "file_bytes", INT64_MAX, &info->file_bytes));
	return query_field_known(f, "partial_offset", INT64_MAX, &info->partial_offset);
}

static enum hg_status check_moment(
	const struct reading *r, const struct query_fields *f, const struct moment *moment)
{
	uint64_t position;
	BASE_TRY(query_field_number(f, "position", QUERY_JSON_MOST, &position));
	if (position != r->moment_count)
		return refuse_baseline(r, f->offset, "its snapshots are not in order");
	if (r->moment_count >= MOST_SNAPSHOTS)
		return base_fail(r->json.error, HG_ERROR_LIMIT, f->offset,
			"it has more than %d snapshots", MOST_SNAPSHOTS);
	if (*moment->info.partial && !r->options->partial)
		return base_corrupt(r->json.error, f->offset,
			"it is of a snapshot that was cut short (--partial accepts it)");
	return HG_OK;
}

static enum hg_status read_moment(struct reading *r, const struct query_fields *f)
{
	struct moment moment;
	BASE_TRY(read_info(f, &moment.info));
	BASE_TRY(query_field_number(f, "blocks", QUERY_JSON_MOST, &moment.blocks));
	BASE_TRY(query_field_number(f, "bytes", QUERY_JSON_MOST, &moment.bytes));
	BASE_TRY(query_field_number(
		f, "reachable_blocks", QUERY_JSON_MOST, &moment.reachable_blocks));
	BASE_TRY(
		query_field_number(f, "reachable_bytes", QUERY_JSON_MOST, &moment.reachable_bytes));
	BASE_TRY(query_field_number(f, "offheap_bytes", QUERY_JSON_MOST, &moment.offheap_bytes));
	BASE_TRY(check_moment(r, f, &moment));
	BASE_TRY(base_grow(&r->moments, r->moment_count, &r->moment_capacity, sizeof(*r->moments),
		r->json.error));
	r->moments[r->moment_count++] = moment;
	return HG_OK;
}

/* A path at most as deep as those of snapshots are, and with the others no longer than the file. */
static enum hg_status check_length(struct reading *r, const struct query_fields *f,
	const struct query_series_row *row, const char *name)
{
	enum { JOINT_AND_QUOTES = 5, AT_LEAST = 1 << 20, LONGER = 4 };
	if (row->shown.depth > QUERY_DEEPEST_PATH)
		return refuse_baseline(r, f->offset, "it has a path that is too deep");
	uint64_t length = strlen(name) + JOINT_AND_QUOTES;
	for (uint32_t above = row->parent; above != QUERY_NO_ROW;
		above = r->all->rows[above].parent)
		length += strlen(r->all->rows[above].own_name) + JOINT_AND_QUOTES;
	r->path_bytes += length;
	if (r->path_bytes / LONGER > r->json.size + AT_LEAST)
		return refuse_baseline(r, f->offset, "its rows do not have their paths");
	return HG_OK;
}

static enum hg_status read_flags(
	const struct query_fields *f, struct query_series_row *row, struct name *name)
{
	uint64_t is_root, passes, is_memprof, is_inside;
	BASE_TRY(query_field_number(f, "is_root", 1, &is_root));
	BASE_TRY(query_field_number(f, "passes", 1, &passes));
	BASE_TRY(query_field_number(f, "memprof", 1, &is_memprof));
	BASE_TRY(query_field_number(f, "is_inside", 1, &is_inside));
	BASE_TRY(query_field_exact(f, "made_at", &name->made_at));
	BASE_TRY(query_field_exact(f, "defined_at", &name->defined_at));
	BASE_TRY(query_field_exact(f, "held_by", &name->held_by));
	row->is_root = is_root;
	row->passes = passes;
	row->shown.is_memprof = is_memprof;
	row->shown.is_inside |= is_inside;
	return HG_OK;
}

/* All but the first hang below one before them; by other keys than paths none does. */
static enum hg_status read_parent(struct reading *r, const struct query_fields *f, uint32_t *out)
{
	bool by_path = !r->series->options.by_key;
	uint64_t number, parent;
	BASE_TRY(query_field_number(f, "row", QUERY_JSON_MOST, &number));
	BASE_TRY(query_field_known(f, "parent", QUERY_JSON_MOST, &parent));
	if (number != r->name_count)
		return refuse_baseline(r, f->offset, "its names are not in order of their rows");
	if (number >= MOST_NAMES)
		return base_fail(r->json.error, HG_ERROR_LIMIT, f->offset,
			"it has more than %d rows", MOST_NAMES);
	bool wants_parent = by_path && number > 0;
	if (wants_parent != (parent != HG_UNKNOWN) || (wants_parent && parent >= number))
		return refuse_baseline(
			r, f->offset, "it has a name whose parent does not stand before it");
	*out = wants_parent ? (uint32_t)parent : QUERY_NO_ROW;
	return HG_OK;
}

static enum hg_status read_name(struct reading *r, const struct query_fields *f)
{
	struct name name = {0};
	const char *kind, *own;
	BASE_TRY(read_parent(r, f, &name.parent));
	BASE_TRY(query_field_exact(f, "kind", &kind));
	BASE_TRY(query_field_exact(f, "name", &own));
	bool below = name.parent != QUERY_NO_ROW;
	uint32_t parent = below ? r->names[name.parent].row : QUERY_NO_ROW;
	BASE_TRY(query_series_find(r->all, parent, kind, own, &name.row));
	struct query_series_row *row = &r->all->rows[name.row];
	row->shown.depth = below ? r->all->rows[parent].shown.depth + 1 : 0;
	BASE_TRY(check_length(r, f, row, own));
	BASE_TRY(read_flags(f, row, &name));
	BASE_TRY(base_grow(
		&r->names, r->name_count, &r->name_capacity, sizeof(*r->names), r->json.error));
	r->names[r->name_count++] = name;
	return HG_OK;
}

static enum hg_status read_point(struct reading *r, const struct query_fields *f)
{
	struct point point = {0};
	struct hg_measure *m = &point.measure;
	uint64_t moment, name;
	BASE_TRY(query_field_number(f, "index", QUERY_JSON_MOST, &moment));
	BASE_TRY(query_field_number(f, "row", QUERY_JSON_MOST, &name));
	BASE_TRY(query_field_number(f, "blocks", QUERY_JSON_MOST, &m->blocks));
	BASE_TRY(query_field_number(f, "bytes", QUERY_JSON_MOST, &m->bytes));
	BASE_TRY(query_field_number(f, "retained_bytes", QUERY_JSON_MOST, &m->retained_bytes));
	BASE_TRY(query_field_number(f, "offheap_bytes", QUERY_JSON_MOST, &m->offheap_bytes));
	BASE_TRY(query_field_number(
		f, "retained_offheap_bytes", QUERY_JSON_MOST, &m->retained_offheap_bytes));
	if (moment >= r->moment_count || name >= r->name_count ||
		(name == 0 && !r->series->options.by_key))
		return refuse_baseline(
			r, f->offset, "it has a row of a snapshot or name that there is not");
	point.moment = (uint32_t)moment;
	point.name = (uint32_t)name;
	BASE_TRY(base_grow(
		&r->points, r->point_count, &r->point_capacity, sizeof(*r->points), r->json.error));
	r->points[r->point_count++] = point;
	return HG_OK;
}

/* Which rows hold the same; older files do not say it, and then no paths are one leak. */
static enum hg_status read_sharing(struct reading *r, const struct query_fields *f)
{
	uint64_t shared, holder;
	BASE_TRY(query_field_number(f, "row", QUERY_JSON_MOST, &shared));
	BASE_TRY(query_field_number(f, "holder", QUERY_JSON_MOST, &holder));
	if (shared == 0 || shared >= r->name_count || holder >= r->name_count)
		return refuse_baseline(r, f->offset, "it has no name for a row that is shared");
	return query_series_share(r->all, r->names[shared].row, r->names[holder].row);
}

/* What is held of the file, which is charged to nobody's budget, must not exceed it either. */
static enum hg_status check_memory(const struct reading *r)
{
	uint64_t bytes = r->point_count * 2 * sizeof(*r->points) + r->scratch.bytes +
			 r->all->pool.bytes +
			 r->name_count * (sizeof(*r->names) + 2 * sizeof(*r->all->rows));
	if (!r->session->budget.limit || bytes <= r->session->budget.limit)
		return HG_OK;
	return base_fail(r->json.error, HG_ERROR_LIMIT, HG_NO_OFFSET,
		"needs %llu bytes and more, the limit is %llu", (unsigned long long)bytes,
		(unsigned long long)r->session->budget.limit);
}

typedef enum hg_status read_object_fn(struct reading *r, const struct query_fields *fields);

static enum hg_status read_array(
	struct reading *r, enum part part, struct base_pool *pool, read_object_fn *read)
{
	enum { CHECK_EVERY = 1 << 14 };
	uint64_t at = 0, count = 0;
	for (;;) {
		struct query_json_part object;
		struct query_fields fields;
		bool more;
		BASE_TRY(query_json_element(&r->json, &r->parts[part], &at, &object, &more));
		if (!more)
			return check_memory(r);
		BASE_TRY(query_fields_open(&fields, &r->json, pool, &object));
		enum hg_status status = read(r, &fields);
		query_fields_close(&fields);
		BASE_TRY(status);
		if (++count % CHECK_EVERY)
			continue;
		BASE_TRY(check_memory(r));
		BASE_TRY(base_progress(r->session, "reading baseline", object.end, r->json.size));
	}
}

/* Two names of the file may not be one row of the series. */
static enum hg_status check_names(const struct reading *r)
{
	bool *met = calloc((uint64_t)r->all->row_count + 1, sizeof(*met));
	enum hg_status status = HG_OK;
	if (!met)
		return base_no_memory(r->json.error, r->all->row_count);
	for (uint64_t i = 0; i < r->name_count && status == HG_OK; i++) {
		if (met[r->names[i].row])
			status = refuse_baseline(
				r, r->parts[NAMES].start, "it has two rows of one name");
		met[r->names[i].row] = true;
	}
	free(met);
	return status;
}

static int compare_points(const void *a, const void *b)
{
	const struct point *x = a, *y = b;
	if (x->moment != y->moment)
		return x->moment < y->moment ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static enum hg_status sort_points(struct reading *r)
{
	if (r->point_count)
		qsort(r->points, r->point_count, sizeof(*r->points), compare_points);
	for (uint64_t i = 1; i < r->point_count; i++)
		if (compare_points(&r->points[i - 1], &r->points[i]) == 0)
			return refuse_baseline(
				r, r->parts[ROWS].start, "it has the same row of a snapshot twice");
	if (r->name_count * r->moment_count > MOST_POINTS)
		return base_fail(r->json.error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"it has too many rows and snapshots");
	return HG_OK;
}

/* Adds what a row has to what its parent retains. */
static bool add_to_parent(struct name *names, const struct name *name)
{
	struct name *parent = &names[name->parent];
	if (name->parent == QUERY_NO_ROW)
		return true;
	parent->sum += name->sum;
	parent->sum_offheap += name->sum_offheap;
	return parent->sum <= QUERY_JSON_MOST && parent->sum_offheap <= QUERY_JSON_MOST;
}

/* Whether rows of paths add up to what the snapshot has; what all roots have goes to 'top'. */
static bool adds_up(
	struct reading *r, uint32_t moment, uint64_t first, uint64_t end, struct hg_measure *top)
{
	struct name *names = r->names;
	for (uint64_t i = 0; i < r->name_count; i++)
		names[i].sum = names[i].sum_offheap = 0;
	for (uint64_t i = r->name_count; i-- > 0;) {
		static const struct hg_measure nothing;
		const struct hg_measure *m = &nothing;
		if (end > first && r->points[end - 1].name == i)
			m = &r->points[--end].measure;
		names[i].sum += m->bytes;
		names[i].sum_offheap += m->offheap_bytes;
		bool told = i == 0 || (names[i].sum == m->retained_bytes &&
					      names[i].sum_offheap == m->retained_offheap_bytes);
		if (!told || !add_to_parent(names, &names[i]))
			return false;
	}
	if (r->name_count == 0 || names[0].sum != r->moments[moment].reachable_bytes)
		return false;
	*top = (struct hg_measure){
		.retained_bytes = names[0].sum, .retained_offheap_bytes = names[0].sum_offheap};
	return true;
}

static enum hg_status begin_moment(struct reading *r, uint32_t moment, bool is_first)
{
	const struct moment *m = &r->moments[moment];
	struct query_addition addition = {.info = &m->info,
		.program = r->program,
		.source = r->path,
		.device = is_first ? r->file.device : 0,
		.inode = is_first ? r->file.inode : 0,
		.blocks = m->blocks,
		.bytes = m->bytes,
		.reachable_blocks = m->reachable_blocks,
		.reachable_bytes = m->reachable_bytes,
		.offheap_bytes = m->offheap_bytes};
	return query_series_begin_moment(r->series, &addition);
}

/* Points 'first' to 'end' are of this moment. */
static enum hg_status add_moment(
	struct reading *r, uint32_t moment, uint64_t first, uint64_t end, bool is_first)
{
	struct hg_measure top = {0};
	bool by_path = !r->series->options.by_key;
	if (by_path && !adds_up(r, moment, first, end, &top))
		return refuse_baseline(
			r, r->parts[ROWS].start, "its rows do not add up to its snapshots");
	BASE_TRY(begin_moment(r, moment, is_first));
	if (by_path)
		BASE_TRY(query_series_add(r->all, r->names[0].row, &top));
	for (uint64_t i = first; i < end; i++)
		BASE_TRY(query_series_add(
			r->all, r->names[r->points[i].name].row, &r->points[i].measure));
	BASE_TRY(query_series_end_moment(r->all));
	for (uint64_t i = first; i < end; i++) {
		const struct name *name = &r->names[r->points[i].name];
		BASE_TRY(query_series_describe(
			r->all, &r->all->rows[name->row], name->made_at, name->defined_at));
		if (*name->held_by)
			BASE_TRY(query_series_hold(r->all, name->row, name->held_by));
	}
	return HG_OK;
}

static enum hg_status add_moments(struct reading *r)
{
	uint64_t first = 0, end = 0;
	bool is_first = true;
	for (uint32_t moment = 0; moment < r->moment_count; moment++, first = end) {
		while (end < r->point_count && r->points[end].moment == moment)
			end++;
		if (r->options->only_last && moment + 1 < r->moment_count)
			continue;
		BASE_TRY(add_moment(r, moment, first, end, is_first));
		is_first = false;
	}
	return HG_OK;
}

static enum hg_status read_document(struct reading *r)
{
	BASE_TRY(find_parts(r));
	BASE_TRY(check_document(r));
	BASE_TRY(read_program(r));
	BASE_TRY(read_array(r, SNAPSHOTS, &r->all->pool, read_moment));
	if (r->moment_count == 0)
		return refuse_baseline(r, r->parts[SNAPSHOTS].start, "it has no snapshots");
	BASE_TRY(read_array(r, NAMES, &r->scratch, read_name));
	BASE_TRY(check_names(r));
	if (r->parts[SHARING].end)
		BASE_TRY(read_array(r, SHARING, &r->scratch, read_sharing));
	BASE_TRY(read_array(r, ROWS, &r->scratch, read_point));
	BASE_TRY(sort_points(r));
	return add_moments(r);
}

static enum hg_status read_baseline(struct reading *r)
{
	BASE_TRY(base_file_open(&r->file, r->path, &r->session->unpack, r->json.error));
	r->json.bytes = r->file.bytes;
	r->json.size = r->file.size;
	enum hg_status status = read_document(r);
	if (status == HG_OK)
		status = base_file_check(&r->file, r->path, r->json.error);
	if (status != HG_OK)
		base_error_file(r->json.error, r->path);
	base_file_close(&r->file);
	return status;
}

/* What the first of them that was cut short says. */
static const char *find_partial(const struct reading *r)
{
	uint64_t first = r->options->only_last ? r->moment_count - 1 : 0;
	for (uint64_t i = first; i < r->moment_count; i++)
		if (*r->moments[i].info.partial)
			return r->moments[i].info.partial;
	return "";
}

enum hg_status hg_series_read(struct hg_series *series, const char *path,
	const struct hg_baseline_options *options, const char **partial)
{
	struct hg_session *session = series && !series->is_finished ? series->session : NULL;
	struct hg_baseline_options given = {0};
	if (partial)
		*partial = "";
	if (!session)
		return HG_ERROR_USAGE;
	base_error_clear(&session->error);
	if (!path)
		return base_fail(&session->error, HG_ERROR_USAGE, HG_NO_OFFSET, "no path is given");
	if (options)
		memcpy(&given, options,
			options->size < sizeof(given) ? options->size : sizeof(given));
	struct reading r = {.series = series,
		.all = &series->all,
		.session = session,
		.options = &given,
		.path = path,
		.json = {.error = &session->error}};
	r.all->error = &session->error;
	enum hg_status status = read_baseline(&r);
	r.all->error = NULL;
	if (status == HG_OK && partial)
		*partial = find_partial(&r);
	base_pool_release(&r.scratch);
	free(r.moments);
	free(r.names);
	free(r.points);
	return status;
}

/* Looks at the first bytes, and refuses the rest of them. */
static enum hg_status judge_baseline(
	void *data, const uint8_t *bytes, size_t size, struct hg_error *error)
{
	*(bool *)data = query_json_is_object(bytes, size);
	return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET, "enough was seen");
}

bool hg_is_baseline(struct hg_session *session, const char *path)
{
	uint8_t start[4096];
	struct base_file file;
	struct stat about;
	struct hg_error error;
	bool is_baseline = false;
	int fd;
	if (!session || !path || base_file_descriptor(path, &fd, &about, &error) != HG_OK)
		return false;
	ssize_t got = read(fd, start, sizeof(start));
	close(fd);
	size_t size = got > 0 ? (size_t)got : 0;
	if (!base_is_packed(start, size))
		return query_json_is_object(start, size);
	base_file_open_judged(&file, path, &session->unpack, judge_baseline, &is_baseline, &error);
	return is_baseline;
}
