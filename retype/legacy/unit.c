/*
 * Magic numbers, marshalled values, and what cmt_infos says of the unit.
 */
#include "retype/legacy/unit.h"

#include "retype/legacy/files.h"

#include <stdio.h>
#include <string.h>

#define MAGIC_SIZE 12u
#define MAGIC_CMI "Caml1999I014"
#define MAGIC_CMT "Caml2012T001"
#define MARSHAL_HEADER 20u

/* Of Cmt_format.cmt_infos. */
enum {
	INFO_MODULE,
	INFO_TREE,
	INFO_SOURCE = 4,
	INFO_BUILDDIR = 5,
	INFO_SOURCE_DIGEST = 7,
	INFO_IMPORTS = 9,
	INFO_DIGEST = 10,
	INFO_FIELDS = 12
};

/* Of Cmt_format.binary_annots. */
enum { PACKED, IMPLEMENTATION, INTERFACE, PARTIAL_IMPLEMENTATION, PARTIAL_INTERFACE };

void cmt_unit_release(struct cmt_unit *unit)
{
	base_pool_release(&unit->cells);
	base_file_close(&unit->file);
}

static void read_digest(const struct snap_marshal *m, struct snap_value value, char out[33])
{
	const uint8_t *bytes;
	uint32_t length;
	if (snap_marshal_string(m, value, &bytes, &length) && length == 16)
		for (unsigned i = 0; i < 16; i++)
			snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

/* Goes to the end of a marshalled value that nobody wants. */
static enum hg_status skip_value(struct base_cursor *c, struct hg_error *error)
{
	struct base_cursor header = *c;
	uint64_t magic, length;
	if (!base_cursor_be(&header, 4, &magic) || !base_cursor_be(&header, 4, &length) ||
		!base_cursor_skip(c, MARSHAL_HEADER) || !base_cursor_skip(c, length))
		return base_corrupt(error, base_cursor_offset(c),
			"it ends inside the interface in front of the typed tree");
	return HG_OK;
}

static bool has_magic(const struct base_cursor *c, const char *magic)
{
	return base_cursor_left(c) >= MAGIC_SIZE && memcmp(c->next, magic, MAGIC_SIZE) == 0;
}

static enum hg_status other_magic(
	struct cmt_unit *unit, const struct base_cursor *c, struct hg_error *error)
{
	uint64_t offset = base_cursor_offset(c);
	if (base_cursor_left(c) < MAGIC_SIZE)
		return base_corrupt(error, offset, "it is cut short");
	if (memcmp(c->next, "Caml2012T", 9) == 0 || memcmp(c->next, "Caml1999I", 9) == 0) {
		char shown[MAGIC_SIZE + 1] = {0};
		for (unsigned i = 0; i < MAGIC_SIZE; i++)
			shown[i] = c->next[i] >= ' ' && c->next[i] < 127 ? (char)c->next[i] : '?';
		unit->is_of_other_version = true;
		return base_corrupt(error, offset, "it is of another version of OCaml (%s)", shown);
	}
	return base_corrupt(error, offset, "it has not the magic of a .cmt file");
}

/* The interface is read for a .cmi only; a .cmt tells it better itself. */
static enum hg_status read_interface(
	struct cmt_reader *r, struct cmt_unit *unit, struct base_cursor *c, struct hg_error *error)
{
	base_cursor_skip(c, MAGIC_SIZE);
	BASE_TRY(snap_marshal_read(c, &unit->cells, &unit->m, error));
	unit->is_interface = true;
	unit->name = cmt_string(r, &unit->m, snap_marshal_field(&unit->m, unit->m.root, 0));
	unit->facade = snap_marshal_field(&unit->m, unit->m.root, 1);
	if (!unit->name)
		return base_corrupt(error, unit->m.offset, "it names no module");
	return HG_OK;
}

static void read_tree(struct cmt_unit *unit, struct snap_value annots)
{
	const struct snap_marshal *m = &unit->m;
	struct snap_value first = snap_marshal_field(m, annots, 0);
	switch (snap_marshal_tag(m, annots)) {
	case PACKED:
		unit->is_pack = true;
		unit->facade = first;
		unit->members = snap_marshal_field(m, annots, 1);
		break;
	case IMPLEMENTATION:
		unit->tree = first;
		unit->facade = snap_marshal_field(m, first, 1);
		break;
	case INTERFACE:
		unit->is_interface = true;
		unit->facade = snap_marshal_field(m, first, 1);
		break;
	case PARTIAL_IMPLEMENTATION:
		unit->is_partial = true;
		unit->tree = first;
		break;
	default:
		unit->is_interface = true;
		break;
	}
}

static enum hg_status read_infos(
	struct cmt_reader *r, struct cmt_unit *unit, struct base_cursor *c, struct hg_error *error)
{
	base_cursor_skip(c, MAGIC_SIZE);
	BASE_TRY(snap_marshal_read(c, &unit->cells, &unit->m, error));
	const struct snap_marshal *m = &unit->m;
	if (base_cursor_left(c))
		return base_corrupt(error, base_cursor_offset(c),
			"%zu bytes are left over behind the typed tree", base_cursor_left(c));
	unit->name = cmt_string(r, m, snap_marshal_field(m, m->root, INFO_MODULE));
	if (snap_marshal_size(m, m->root) != INFO_FIELDS || !unit->name)
		return base_corrupt(error, m->offset, "its value is no cmt_infos of 4.00.1");
	unit->source = cmt_string(r, m, cmt_some(m, snap_marshal_field(m, m->root, INFO_SOURCE)));
	unit->builddir = cmt_string(r, m, snap_marshal_field(m, m->root, INFO_BUILDDIR));
	unit->imports = snap_marshal_field(m, m->root, INFO_IMPORTS);
	read_digest(m, cmt_some(m, snap_marshal_field(m, m->root, INFO_DIGEST)), unit->digest);
	read_digest(m, cmt_some(m, snap_marshal_field(m, m->root, INFO_SOURCE_DIGEST)),
		unit->source_digest);
	read_tree(unit, snap_marshal_field(m, m->root, INFO_TREE));
	return HG_OK;
}

static enum hg_status read_cmt_unit(
	struct cmt_reader *r, struct cmt_unit *unit, bool is_cmi, struct hg_error *error)
{
	struct base_cursor c = base_cursor_over(unit->file.bytes, unit->file.size);
	unit->source = unit->builddir = "";
	unit->scope = RETYPE_NONE;
	if (is_cmi)
		return has_magic(&c, MAGIC_CMI) ? read_interface(r, unit, &c, error)
						: other_magic(unit, &c, error);
	if (has_magic(&c, MAGIC_CMI)) {
		base_cursor_skip(&c, MAGIC_SIZE);
		for (unsigned i = 0; i < 3; i++)
			BASE_TRY(skip_value(&c, error));
		unit->has_no_interface = true;
	}
	if (!has_magic(&c, MAGIC_CMT))
		return other_magic(unit, &c, error);
	enum hg_status status = read_infos(r, unit, &c, error);
	if (!unit->source)
		unit->source = "";
	if (!unit->builddir)
		unit->builddir = "";
	return status;
}

static enum hg_status add_cmt_unit(
	struct cmt_reader *r, struct cmt_file *file, struct cmt_unit **out)
{
	void *memory;
	BASE_TRY(base_grow(
		&r->units, r->unit_count, &r->unit_capacity, sizeof(struct cmt_unit *), r->error));
	BASE_TRY(base_pool_alloc(r->pool, 1, sizeof(struct cmt_unit), &memory, r->error));
	*out = memory;
	(*out)->path = file->path;
	file->unit = (uint32_t)r->unit_count;
	return HG_OK;
}

enum hg_status cmt_open_file(struct cmt_reader *r, uint32_t number, uint32_t *out)
{
	base_assert(number < r->file_count);
	struct cmt_file *file = &r->files[number];
	struct hg_error trouble;
	struct cmt_unit *unit;
	*out = file->state == CMT_READ ? file->unit : RETYPE_NONE;
	if (file->state != CMT_UNREAD)
		return HG_OK;
	file->state = CMT_UNUSABLE;
	base_error_clear(&trouble);
	enum hg_status status = add_cmt_unit(r, file, &unit);
	if (status != HG_OK)
		return status;
	status = base_file_open(&unit->file, file->path, &r->snap->session->unpack, &trouble);
	if (status == HG_OK) {
		status = read_cmt_unit(r, unit, file->suffix == CMT_CMI, &trouble);
		if (status == HG_OK) {
			base_assert(file->unit == r->unit_count);
			r->units[r->unit_count++] = unit;
			file->state = CMT_READ;
			*out = file->unit;
			return HG_OK;
		}
		cmt_unit_release(unit);
	}
	if (unit->is_of_other_version && file->root == CMT_BY_CHANCE)
		return HG_OK;
	/* What the file says is at an offset; a want of memory is not. */
	if (status == HG_ERROR_LIMIT && trouble.offset == HG_NO_OFFSET) {
		*r->error = trouble;
		return status;
	}
	return cmt_note(r, file->path, trouble.offset, trouble.message);
}

/* The digest of the interface of a unit that another was compiled with; "" unknown. */
static void imported_digest(const struct cmt_unit *user, const char *name, char digest[33])
{
	struct cmt_list list = cmt_read_list(&user->m, user->imports);
	struct snap_value import;
	digest[0] = '\0';
	while (cmt_next(&list, &import)) {
		const uint8_t *bytes;
		uint32_t length;
		if (snap_marshal_string(
			    &user->m, snap_marshal_field(&user->m, import, 0), &bytes, &length) &&
			length == strlen(name) && memcmp(bytes, name, length) == 0)
			read_digest(&user->m, snap_marshal_field(&user->m, import, 1), digest);
	}
}

static bool is_same_digest(const char *a, const char *b)
{
	return !a[0] || !b[0] || strcmp(a, b) == 0;
}

static uint32_t search_unit(
	struct cmt_reader *r, const char *name, const char *digest, enum cmt_suffix suffix)
{
	for (uint32_t i = 0; i < r->file_count && r->status == HG_OK; i++) {
		uint32_t unit;
		if (r->files[i].suffix != suffix ||
			!cmt_same_module(r->files[i].stem, name, strlen(name)))
			continue;
		r->status = cmt_open_file(r, i, &unit);
		if (r->status == HG_OK && unit != RETYPE_NONE &&
			strcmp(r->units[unit]->name, name) == 0 &&
			is_same_digest(r->units[unit]->digest, digest))
			return unit;
	}
	return RETYPE_NONE;
}

uint32_t cmt_unit_named(struct cmt_reader *r, const char *name, uint32_t user)
{
	char digest[33] = "";
	if (user != RETYPE_NONE) {
		base_assert(user < r->unit_count);
		if (strcmp(r->units[user]->name, name) == 0)
			return user;
		imported_digest(r->units[user], name, digest);
	}
	uint64_t key = cmt_key_string(1, name);
	key = cmt_key_string(key, digest);
	uint32_t unit;
	if (base_map_number(&r->by_unit, key, &unit))
		return unit;
	unit = search_unit(r, name, digest, CMT_CMT);
	if (unit == RETYPE_NONE)
		unit = search_unit(r, name, digest, CMT_CMTI);
	if (unit == RETYPE_NONE)
		unit = search_unit(r, name, digest, CMT_CMI);
	if (r->status == HG_OK)
		r->status = base_map_set(&r->by_unit, key, unit, r->error);
	return unit;
}
