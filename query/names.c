/* Names of constants, locations, types, roots, nodes and classes, and what cores tell besides. */
#include "query/shared/types.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *hg_root_kind_name(enum hg_root_kind kind)
{
	static const char *const names[HG_ROOT_KINDS] = {"global", "stack", "local", "C global",
		"finaliser", "named value", "ephemeron", "memprof", "other"};
	return (unsigned)kind < HG_ROOT_KINDS ? names[kind] : "?";
}

const char *hg_segment_name(enum hg_segment segment)
{
	static const char *const names[] = {"heap", "minor", "static"};
	return (unsigned)segment < 3 ? names[segment] : "?";
}

const char *hg_confidence_name(enum hg_confidence confidence)
{
	static const char *const names[] = {"unknown", "guessed", "inferred", "exact"};
	return (unsigned)confidence < 4 ? names[confidence] : "?";
}

static const char *const key_names[HG_KEYS] = {
	"location", "tag", "module", "root", "type", "type,location", "callstack", "function"};

const char *hg_key_name(enum hg_key key)
{
	return (unsigned)key < HG_KEYS ? key_names[key] : "?";
}

bool hg_key_parse(const char *name, enum hg_key *out)
{
	for (unsigned i = 0; name && out && i < HG_KEYS; i++) {
		if (strcmp(name, key_names[i]) == 0) {
			*out = (enum hg_key)i;
			return true;
		}
	}
	return false;
}

static size_t length_of_text(int length)
{
	return length < 0 ? 0 : (size_t)length;
}

/* What is left of a place after text of some length, which may have been cut; nothing of NULL. */
static char *rest_of_text(char *buffer, size_t *size, size_t length)
{
	size_t used = length < *size ? length : *size;
	*size -= used;
	return used ? buffer + used : buffer;
}

size_t hg_location_name(
	const struct hg_snapshot *snapshot, uint32_t location, char *buffer, size_t size)
{
	const struct snap_locations *locations = snapshot ? &snapshot->snap.locations : NULL;
	const struct snap_location *l =
		locations && location < locations->count ? &locations->items[location] : NULL;
	size = query_room(buffer, size);
	if (l && l->file)
		return length_of_text(
			snprintf(buffer, size, "%s:%d:%u-%u", l->file, l->line, l->start, l->end));
	if (l && l->name)
		return length_of_text(snprintf(buffer, size, "[%s]", l->name));
	return length_of_text(snprintf(buffer, size, "%s", ""));
}

bool hg_has_types(const struct hg_snapshot *snapshot)
{
	return snapshot && snapshot->retype.has_types;
}

size_t hg_type_name(const struct hg_snapshot *snapshot, uint32_t type, char *buffer, size_t size)
{
	const struct retype_types *types = snapshot ? &snapshot->retype.types : NULL;
	size = query_room(buffer, size);
	if (type == 0 || !types || !snapshot->analysed || type >= retype_term_count(types))
		return length_of_text(snprintf(buffer, size, "%s", ""));
	return retype_name(types, (struct retype_term){type}, buffer, size);
}

/* The root that a node is, or NULL. */
static const struct snap_root *root_of(const struct hg_snapshot *snapshot, hg_node node)
{
	if (!snapshot || node < snapshot->snap.block_count)
		return NULL;
	uint64_t number = node - snapshot->snap.block_count;
	return number < snapshot->snap.root_count ? &snapshot->snap.roots[number] : NULL;
}

enum hg_root_kind hg_kind_of_root(const struct hg_snapshot *snapshot, hg_node node)
{
	const struct snap_root *root = root_of(snapshot, node);
	return root ? root->kind : HG_ROOT_OTHER;
}

hg_node hg_root_target(const struct hg_snapshot *snapshot, hg_node node)
{
	const struct snap_root *root = root_of(snapshot, node);
	/* Before the analysis there are no numbers of blocks. */
	return root && snapshot->analysed ? snap_resolve_node(&snapshot->snap, root->value)
					  : HG_NO_NODE;
}

/* A root in the block of a unit by the value's name; "" if the profile does not tell. */
static const char *name_of_value(const struct hg_snapshot *snapshot, const struct snap_root *root)
{
	const struct retype_types *types = &snapshot->retype.types;
	if (!snapshot->retype.has_types || root->kind != HG_ROOT_GLOBAL ||
		root->index == HG_UNKNOWN)
		return "";
	uint32_t number = retype_unit_named(types, root->name);
	const struct retype_unit *unit = number == RETYPE_NONE ? NULL : &types->units[number];
	if (!unit || !unit->fields || root->index >= unit->field_count)
		return "";
	return unit->fields[root->index].name;
}

/* "Cache.sessions" */
static size_t put_value(
	const char *unit, const char *name, size_t length, char *buffer, size_t size)
{
	char spelled[1024];
	snprintf(spelled, sizeof(spelled), "%s", unit);
	return length_of_text(
		snprintf(buffer, size, "%s.%.*s", query_spell(spelled), (int)length, name));
}

size_t hg_root_name(const struct hg_snapshot *snapshot, hg_node node, char *buffer, size_t size)
{
	const struct snap_root *root = root_of(snapshot, node);
	size = query_room(buffer, size);
	if (!root)
		return length_of_text(snprintf(buffer, size, "%s", ""));
	const char *field = name_of_value(snapshot, root);
	if (*field)
		return put_value(root->name, field, strlen(field), buffer, size);
	const struct infer_value_block *value =
		root->kind == HG_ROOT_GLOBAL
			? infer_value_of_block(&snapshot->retype.value_blocks, root->name)
			: NULL;
	if (value)
		return put_value(snapshot->retype.types.units[value->unit].name, value->name,
			value->name_length, buffer, size);
	if (root->index == HG_UNKNOWN)
		return length_of_text(snprintf(buffer, size, "%s", root->name));
	return length_of_text(
		snprintf(buffer, size, "%s[%llu]", root->name, (unsigned long long)root->index));
}

hg_node hg_virtual_root(const struct hg_snapshot *snapshot)
{
	return snapshot ? snap_virtual_root(&snapshot->snap) : HG_NO_NODE;
}

size_t hg_node_name(const struct hg_snapshot *snapshot, hg_node node, char *buffer, size_t size)
{
	size = query_room(buffer, size);
	if (!snapshot)
		return length_of_text(snprintf(buffer, size, "%s", ""));
	const struct snap *snap = &snapshot->snap;
	if (node < snap->block_count && snap->ranks.lines) {
		struct snap_header_address header =
			snap_ranks_header(&snap->ranks, (struct snap_rank){node});
		return length_of_text(snprintf(
			buffer, size, "0x%llx", (unsigned long long)snap_block_of(header).a));
	}
	if (node >= snap->block_count && node < snap_virtual_root(snap)) {
		int kind = snprintf(
			buffer, size, "%s ", hg_root_kind_name(hg_kind_of_root(snapshot, node)));
		char *rest = rest_of_text(buffer, &size, length_of_text(kind));
		return length_of_text(kind) + hg_root_name(snapshot, node, rest, size);
	}
	bool is_virtual_root = node == snap_virtual_root(snap);
	return length_of_text(snprintf(buffer, size, "%s", is_virtual_root ? "root" : ""));
}

/* "dir/hashtbl.ml" -> "Hashtbl": the unit the compiler makes of a source file. */
static size_t name_of_module(const char *file, char *buffer, size_t size)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash ? slash + 1 : file;
	size_t stem = strcspn(base, ".");
	int length = snprintf(buffer, size, "%.*s", (int)stem, base);
	if (size && length > 0)
		buffer[0] = (char)toupper((unsigned char)buffer[0]);
	return length_of_text(length);
}

void hg_class_parts(
	const struct hg_snapshot *snapshot, uint32_t id, uint32_t *type, uint32_t *location)
{
	static const struct query_pair none = {0, 0};
	const struct query_pairs *classes = snapshot ? &snapshot->classes : NULL;
	const struct query_pair *pair =
		classes && id < classes->count ? &classes->pairs[id] : &none;
	if (type)
		*type = pair->first;
	if (location)
		*location = pair->second;
}

/* "TYPE @ LOCATION", either of which may be empty. */
static size_t pair_name(const struct hg_snapshot *snapshot, uint32_t id, char *buffer, size_t size)
{
	uint32_t type, location;
	hg_class_parts(snapshot, id, &type, &location);
	static const char between[] = " @ ";
	size_t length = hg_type_name(snapshot, type, buffer, size);
	char *rest = rest_of_text(buffer, &size, length);
	snprintf(rest, size, "%s", between);
	rest = rest_of_text(rest, &size, strlen(between));
	return length + strlen(between) + hg_location_name(snapshot, location, rest, size);
}

/* Numbers are those of samples from 1 on; 0: not tracked, or without a call stack. */
static size_t call_stack_name(
	const struct hg_snapshot *snapshot, uint32_t id, char *buffer, size_t size)
{
	const struct snap *snap = &snapshot->snap;
	if (size)
		buffer[0] = '\0';
	if (id == 0 || id > snap->sampled_count)
		return 0;
	return snap_process_call_stack(snap, snap->sampled[id - 1].address, buffer, size);
}

enum hg_status query_check_key(const struct hg_snapshot *snapshot, enum hg_key key)
{
	if ((unsigned)key < HG_KEYS)
		return HG_OK;
	return base_fail(&snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
		"there is no key %u", (unsigned)key);
}

size_t hg_class_name(
	const struct hg_snapshot *snapshot, enum hg_key key, uint32_t id, char *buffer, size_t size)
{
	size = query_room(buffer, size);
	if (!snapshot)
		return length_of_text(snprintf(buffer, size, "%s", ""));
	const struct snap_locations *locations = &snapshot->snap.locations;
	switch (key) {
	case HG_BY_LOCATION:
		return hg_location_name(snapshot, id, buffer, size);
	case HG_BY_TAG:
		return length_of_text(snprintf(buffer, size, "%u", id));
	case HG_BY_MODULE:
		if (id < locations->count && locations->items[id].file)
			return name_of_module(locations->items[id].file, buffer, size);
		return length_of_text(snprintf(buffer, size, "%s", id ? "[runtime]" : ""));
	case HG_BY_TYPE:
		return hg_type_name(snapshot, id, buffer, size);
	case HG_BY_TYPE_LOCATION:
		return pair_name(snapshot, id, buffer, size);
	case HG_BY_ROOT:
		return hg_node_name(snapshot, id, buffer, size);
	case HG_BY_CALL_STACK:
		return call_stack_name(snapshot, id, buffer, size);
	case HG_BY_FUNCTION:
		return length_of_text(snprintf(buffer, size, "%s",
			id < snapshot->functions.codes.count ? snapshot->functions.all[id].name
							     : ""));
	default:
		query_check_key(snapshot, key);
		return length_of_text(snprintf(buffer, size, "%s", ""));
	}
}

size_t hg_code_name(const struct hg_snapshot *snapshot, uint64_t address, char *buffer, size_t size)
{
	size = query_room(buffer, size);
	if (size)
		buffer[0] = '\0';
	if (!snapshot)
		return 0;
	const struct snap *snap = &snapshot->snap;
	return snap_process_code_name(snap, address, buffer, size);
}

static bool is_block_node(const struct hg_snapshot *snapshot, hg_node node)
{
	return snapshot && snapshot->analysed && node < snapshot->snap.block_count;
}

size_t hg_custom_name(const struct hg_snapshot *snapshot, hg_node node, char *buffer, size_t size)
{
	size = query_room(buffer, size);
	if (size)
		buffer[0] = '\0';
	const struct snap *snap = is_block_node(snapshot, node) ? &snapshot->snap : NULL;
	if (!snap)
		return 0;
	return snap_process_custom_name(snap, (struct snap_rank){node}, buffer, size);
}

size_t hg_call_frame(
	const struct hg_snapshot *snapshot, hg_node node, uint64_t frame, char *buffer, size_t size)
{
	size = query_room(buffer, size);
	if (size)
		buffer[0] = '\0';
	const struct snap *snap = is_block_node(snapshot, node) ? &snapshot->snap : NULL;
	if (!snap)
		return 0;
	return snap_process_call_frame(snap, (struct snap_rank){node}, frame, buffer, size);
}

bool hg_sample_id(const struct hg_snapshot *snapshot, hg_node node, int64_t *id)
{
	const struct snap *snap = is_block_node(snapshot, node) && id ? &snapshot->snap : NULL;
	return snap && snap_process_sample_id(snap, (struct snap_rank){node}, id);
}
