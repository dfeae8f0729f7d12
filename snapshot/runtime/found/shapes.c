/* Variables of the runtime, found by their shapes: the search, and shapes that all versions have.
 */
#include "snapshot/runtime/found/shapes.h"

#include <string.h>

enum { MOST_CANDIDATES = 16, MOST_NODES = 1 << 20 };

/* Lists */

bool snap_found_goes_on(struct snap_found_list *list, uint64_t at)
{
	if (at == list->kept || list->count == MOST_NODES)
		return false;
	/* Those after 1, 2, 4, ... steps are kept: a circle is noticed after three times round. */
	if ((list->count & (list->count + 1)) == 0)
		list->kept = at;
	list->count++;
	return true;
}

/* Shapes */

bool snap_is_atom_table(const struct snap_found *found, uint64_t address)
{
	for (uint64_t tag = 0; tag < 256; tag++)
		if (snap_found_word(found, address + 8 * tag) !=
			((uint64_t)SNAP_COLOR_BLACK << 8 | tag))
			return false;
	return true;
}

/* runtime/callback.c: the sum of 4.x, that of 5.x. */
static unsigned hash_of_name(const char *name, bool is_5)
{
	unsigned hash = is_5 ? 5381 : 0;
	for (; *name; name++)
		hash = hash * (is_5 ? 33 : 19) + (unsigned)*name;
	return hash;
}

/* The text at an address, as far as a page is there; false if it does not end. */
static bool read_text(const struct snap_found *found, uint64_t address, char *out, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!found->read(found->data, address + i, out + i, 1))
			return false;
		if (out[i] == '\0')
			return i > 0;
	}
	return false;
}

bool snap_found_is_young(const struct snap_found *found, uint64_t address)
{
	const struct snap_layout *l = found->layout;
	const uint64_t *states = found->is_5 ? found->states : &found->domain_state;
	uint64_t count = found->is_5 ? found->state_count : 1;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t start =
			snap_found_word(found, states[i] + l->caml_domain_state_young_start);
		uint64_t end = snap_found_word(found, states[i] + l->caml_domain_state_young_end);
		if (address >= start && address < end)
			return true;
	}
	return false;
}

/*
 * What a named value or a root of C code holds: an integer, nothing yet, or a block, static or of
 * the heap.  Blocks of the heap have fields, are not free (4.x), and can be marked (5.x).
 */
static bool is_value_of_c(const struct snap_found *found, uint64_t value)
{
	uint64_t header;
	if (value == 0 || value % 2)
		return true;
	if (snap_found_is_data(found, value) || snap_found_is_young(found, value))
		return snap_found_is_block(found, value, -1, 0);
	if (!snap_found_is_outside(found, value) ||
		!found->read(found->data, snap_pointed_header(value).a, &header, sizeof(header)))
		return false;
	uint64_t words = header >> 10;
	if (snap_header_tag(header) == SNAP_TAG_INFIX)
		return snap_found_is_there(found, value - 8 * words);
	return snap_header_color(header) != (found->is_5 ? SNAP_COLOR_BLACK : SNAP_COLOR_BLUE) &&
	       words > 0 && words < SNAP_ADDRESS_LIMIT / 8 &&
	       snap_found_is_there(found, value + 8 * (words - 1));
}

/*
 * 13 lists of names and their values; one is in that list which the hash of its name tells. Stdlib,
 * in which the version was found, has registered one.
 */
bool snap_fits_named_values(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	enum { LISTS = 13 };
	const struct snap_layout *l = found->layout;
	bool has_stdlib = false;
	char name[1024];
	(void)word;
	for (uint64_t i = 0; i < LISTS; i++) {
		uint64_t node = snap_found_word(found, out->address + 8 * i);
		struct snap_found_list list = {0};
		for (; node; node = snap_found_word(found, node + l->named_value_next)) {
			if (!snap_found_is_there(found, node) || !snap_found_goes_on(&list, node) ||
				!read_text(found, node + l->named_value_name, name, sizeof(name)) ||
				hash_of_name(name, found->is_5) % LISTS != i ||
				!is_value_of_c(
					found, snap_found_word(found, node + l->named_value_val)))
				return false;
			has_stdlib |= strcmp(name, "Pervasives.do_at_exit") == 0;
		}
	}
	out->says = out->address;
	return has_stdlib;
}

/*
 * A pool of 5.x that is free begins with a link to the next and has no owner: a list of one cell,
 * whose key is that next pool.
 */
static bool is_free_pool(const struct snap_found *found, uint64_t cell)
{
	enum { PAGE = 4096 };
	const struct snap_layout *l = found->layout;
	return found->is_5 && cell % PAGE == 0 &&
	       snap_found_word(found, cell + l->pool_next) % PAGE == 0 &&
	       snap_found_word(found, cell + l->pool_owner) == 0;
}

/*
 * struct skiplist: 17 lists of cells, of which those at higher levels are parts of those below, and
 * the level.  The keys of cells are addresses of values, in order, and their data are 0, or 1 for
 * one that was deleted.
 */
bool snap_fits_c_roots(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	enum { LEVELS = 17 };
	const struct snap_layout *l = found->layout;
	uint64_t heads[LEVELS], level, key = 0, count = 0;
	uint64_t list = out->address + l->skiplist_forward;
	if (!snap_found_is_there(found, word) || is_free_pool(found, word) ||
		!found->read(found->data, list, heads, sizeof(heads)))
		return false;
	level = snap_found_half(found, list + sizeof(heads));
	if (level >= LEVELS)
		return false;
	for (unsigned i = 0; i < LEVELS; i++)
		if ((heads[i] != 0) != (i <= level))
			return false;
	unsigned seen = 0;
	for (uint64_t cell = word; cell; count++) {
		uint64_t next_key = snap_found_word(found, cell + l->skipcell_key);
		if (!snap_found_is_there(found, cell) || next_key <= key || count > MOST_NODES ||
			!snap_found_is_there(found, next_key) ||
			!is_value_of_c(found, snap_found_word(found, next_key)) ||
			snap_found_word(found, cell + l->skipcell_data) > 1)
			return false;
		for (unsigned i = 0; i <= level; i++)
			seen += heads[i] == cell;
		key = next_key;
		cell = snap_found_word(found, cell + l->skipcell_forward);
	}
	out->says = out->address;
	return seen == level + 1;
}

bool snap_is_thread_ring(const struct snap_found *found, uint64_t thread, uint64_t domain)
{
	enum { DESCRIPTOR_WORDS = 3, DOMAIN = 16 /* after the link to the next */ };
	const uint64_t next_at = found->layout->caml_thread_struct_next;
	uint64_t at = thread, count = 0;
	do {
		uint64_t next = snap_found_word(found, at + next_at);
		uint64_t descriptor =
			snap_found_word(found, at + found->layout->caml_thread_struct_descr);
		if (!snap_found_is_there(found, at) || !snap_found_is_there(found, next) ||
			snap_found_word(found, next + next_at + 8) != at ||
			!snap_found_is_block(found, descriptor, 0, DESCRIPTOR_WORDS) ||
			(found->is_5 && snap_found_half(found, at + next_at + DOMAIN) != domain))
			return false;
		at = next;
	} while (at != thread && ++count < MOST_NODES);
	return at == thread;
}

/* A closure, or one amid others in a block; they may be static. */
static bool is_function(const struct snap_found *found, uint64_t value)
{
	return snap_found_is_block(found, value, SNAP_TAG_CLOSURE, 2) ||
	       snap_found_is_block(found, value, SNAP_TAG_INFIX, 0);
}

bool snap_is_finaliser_table(const struct snap_found *found, uint64_t table, uint64_t count)
{
	const struct snap_layout *l = found->layout;
	if (!snap_found_is_there(found, table) || count > MOST_NODES)
		return false;
	for (uint64_t i = 0; i < count; i++, table += l->sizeof_final) {
		uint64_t value = snap_found_word(found, table + l->final_val);
		if (!is_function(found, snap_found_word(found, table + l->final_fun)) ||
			(value % 2 == 0 && !snap_found_is_there(found, value)))
			return false;
	}
	return true;
}

bool snap_is_finalisable(const struct snap_found *found, uint64_t address, uint64_t *count)
{
	const struct snap_layout *l = found->layout;
	uint64_t table = snap_found_word(found, address + l->finalisable_table);
	uint64_t old = snap_found_word(found, address + l->finalisable_young - 8);
	uint64_t young = snap_found_word(found, address + l->finalisable_young);
	uint64_t size = snap_found_word(found, address + l->finalisable_size);
	*count = young;
	if (table == 0)
		return old == 0 && young == 0 && size == 0;
	return old <= young && young <= size && size > 0 &&
	       snap_is_finaliser_table(found, table, young) &&
	       (size == 0 || snap_found_is_there(found, table + l->sizeof_final * size - 8));
}

uint64_t snap_ephemeron_list_length(const struct snap_found *found, uint64_t first)
{
	struct snap_found_list list = {0};
	for (; first && first % 2 == 0; first = snap_found_word(found, first)) {
		uint64_t header = snap_found_word(found, snap_pointed_header(first).a);
		/* Blocks of 4.x that are blue are free. */
		if (!snap_found_goes_on(&list, first) || !snap_found_is_outside(found, first) ||
			!snap_found_is_block(
				found, first, SNAP_TAG_ABSTRACT, SNAP_EPHEMERON_FIRST_KEY) ||
			(!found->is_5 && snap_header_color(header) == SNAP_COLOR_BLUE))
			return 0;
	}
	return list.count;
}

/* The search */

struct candidates {
	const struct snap_shape *shape;
	struct snap_candidate items[MOST_CANDIDATES];
	unsigned count;
	bool too_many;
};

static unsigned names_of(const struct snap_shape *shape)
{
	unsigned count = 0;
	while (count < sizeof(shape->names) / sizeof(*shape->names) && shape->names[count])
		count++;
	return count;
}

static bool look_for_shape(struct snap_found *found, uint64_t address, uint64_t word, void *data)
{
	struct candidates *all = data;
	struct snap_candidate candidate = {address, word, 1};
	if (address >= found->taken.start && address < found->taken.end)
		return true;
	if (!all->shape->fits(found, word, &candidate))
		return true;
	/* What leads to less is dropped: old copies of words lie about. */
	if (all->shape->takes_most && all->count && candidate.weight != all->items[0].weight) {
		if (candidate.weight < all->items[0].weight)
			return true;
		all->count = 0;
		all->too_many = false;
	}
	for (unsigned i = 0; i < all->count; i++)
		if (names_of(all->shape) > 1 ? all->items[i].address == candidate.address
					     : all->items[i].says == candidate.says)
			return true;
	all->too_many |= all->count == MOST_CANDIDATES;
	if (all->count < MOST_CANDIDATES)
		all->items[all->count++] = candidate;
	return true;
}

/* The data of C code: what lies between that of the units. */
static void scan_data_of_c(struct snap_found *found, struct candidates *all)
{
	for (uint64_t i = 0; i < found->space_count; i++) {
		struct snap_range left = found->spaces[i].range;
		if (found->spaces[i].is_writable == all->shape->is_constant)
			continue;
		for (uint64_t k = 0; k < found->static_count; k++) {
			const struct snap_range *units = &found->statics[k];
			if (units->end <= left.start || units->start >= left.end)
				continue;
			if (units->start > left.start)
				snap_found_scan(found,
					(struct snap_range){left.start, units->start},
					look_for_shape, all);
			left.start = units->end;
		}
		if (left.start < left.end)
			snap_found_scan(found, left, look_for_shape, all);
	}
}

/* 'All' are more than the shape has names; those with one say different things. */
static enum hg_status refuse_candidates(
	struct snap_found *found, const struct candidates *all, struct hg_error *error)
{
	return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
		"'%s' has no symbols, and %s places in its data look like '%s' of the OCaml "
		"runtime, at 0x%llx and 0x%llx: which it is cannot be told",
		found->program, all->count > 2 ? "several" : "two", all->shape->names[0],
		(unsigned long long)all->items[0].address,
		(unsigned long long)all->items[1].address);
}

static enum hg_status find_shape(
	struct snap_found *found, const struct snap_shape *shape, struct hg_error *error)
{
	struct candidates all = {.shape = shape};
	unsigned names = names_of(shape);
	scan_data_of_c(found, &all);
	if (all.count == 0 && shape->is_needed)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"'%s' has no symbols, and nothing in its data looks like '%s' of the "
			"runtime of OCaml %s: not started, or its data are missing",
			found->program, shape->names[0], found->layout->name);
	if (all.count == 0) {
		if (shape->holds)
			found->missing[found->missing_count++] = shape->holds;
		return HG_OK;
	}
	if (all.too_many || all.count > names)
		return refuse_candidates(found, &all, error);
	for (unsigned i = 0; i < all.count; i++)
		BASE_TRY(snap_found_name(found, shape->names[i], all.items[i].address, error));
	return shape->use ? shape->use(found, all.items[0].address, error) : HG_OK;
}

enum hg_status snap_found_domain_state(
	struct snap_found *found, const struct snap_layout *layout, struct hg_error *error)
{
	found->layout = layout;
	return find_shape(found, &snap_shapes_4[0], error);
}

enum hg_status snap_found_variables(
	struct snap_found *found, const struct snap_layout *layout, struct hg_error *error)
{
	found->layout = layout;
	found->is_5 = layout->version >= SNAP_OCAML_5_0;
	const struct snap_shape *shape = found->is_5 ? snap_shapes_5 : snap_shapes_4;
	for (; shape->names[0]; shape++)
		BASE_TRY(find_shape(found, shape, error));
	return HG_OK;
}
