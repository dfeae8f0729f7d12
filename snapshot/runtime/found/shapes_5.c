/* Shapes of the variables of the runtimes of 5.x; see shapes.h. */
#include "snapshot/runtime/found/shapes.h"

#include "base/grow.h"

enum { MOST_DOMAINS = 4096, SKIPPED_BYTES = 8 * 600, PAGE = 4096 };

/* Domains */

/* The state of a domain that runs: it has a minor heap, a stack, and pools. */
static bool is_state_5(const struct snap_found *found, uint64_t state)
{
	const struct snap_layout *l = found->layout;
	uint64_t start = snap_found_word(found, state + l->caml_domain_state_young_start);
	uint64_t end = snap_found_word(found, state + l->caml_domain_state_young_end);
	uint64_t pointer = snap_found_word(found, state + l->caml_domain_state_young_ptr);
	return snap_found_is_there(found, state) && start % 8 == 0 && end % 8 == 0 &&
	       start >= SNAP_ADDRESS_FIRST && start < end && end < SNAP_ADDRESS_LIMIT &&
	       pointer + SKIPPED_BYTES >= start && pointer <= end &&
	       snap_found_is_there(
		       found, snap_found_word(found, state + l->caml_domain_state_shared_heap)) &&
	       snap_found_is_there(
		       found, snap_found_word(found, state + l->caml_domain_state_current_stack));
}

/* dom_internal begins with the number of the domain, which its state has, too. */
static bool is_domain_5(const struct snap_found *found, uint64_t domain)
{
	const struct snap_layout *l = found->layout;
	uint64_t state = snap_found_word(found, domain + l->dom_internal_state);
	return is_state_5(found, state) &&
	       snap_found_half(found, domain) ==
		       snap_found_half(found, state + l->caml_domain_state_id);
}

static uint64_t domains_of(const struct snap_found *found, uint64_t stw)
{
	const struct snap_layout *l = found->layout;
	uint64_t domains = stw + l->stw_domains_domains;
	return l->domains_by_pointer ? snap_found_word(found, domains) : domains;
}

/*
 * How many words from 'array' on point to elements of the array of all domains, each number once:
 * those that run first, 'count' of them, then those that may be used yet.
 */
static uint64_t permuted_domains(const struct snap_found *found, uint64_t array, uint64_t count)
{
	const uint64_t size = found->layout->sizeof_dom_internal;
	uint64_t first = snap_found_word(found, array);
	uint64_t base = first - size * snap_found_half(found, first);
	uint64_t seen[MOST_DOMAINS / 64] = {0}, all = 0;
	for (; all < MOST_DOMAINS; all++) {
		uint64_t domain = snap_found_word(found, array + 8 * all);
		uint64_t number = (domain - base) / size;
		if (domain < base || (domain - base) % size || number >= MOST_DOMAINS ||
			seen[number / 64] >> (number % 64) & 1 ||
			snap_found_half(found, domain) != number ||
			(all < count && !is_domain_5(found, domain)))
			break;
		seen[number / 64] |= (uint64_t)1 << (number % 64);
	}
	return all;
}

/* Those that take part in stop-the-world sections, which are all that run. */
static bool fits_stw(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	const struct snap_layout *l = found->layout;
	uint64_t count = (uint32_t)word;
	if (count == 0 || count > MOST_DOMAINS)
		return false;
	uint64_t array = domains_of(found, out->address);
	if (array % 8 || !is_domain_5(found, snap_found_word(found, array)))
		return false;
	out->weight = permuted_domains(found, array, count);
	out->says = 0;
	for (uint64_t i = 0; i < count; i++)
		out->says += snap_found_word(
			found, snap_found_word(found, array + 8 * i) + l->dom_internal_state);
	return out->weight >= count;
}

/*
 * Threads: of each domain that runs, by its number, the ring of its threads, and then the lock of
 * the domain, which begins with whether it was initialised (systhreads/st_pthreads.h).
 */
static bool is_thread_table(const struct snap_found *found, uint64_t table, uint64_t *says)
{
	const struct snap_layout *l = found->layout;
	for (uint64_t i = 0; i < found->state_count; i++) {
		uint64_t id = snap_found_half(found, found->states[i] + l->caml_domain_state_id);
		uint64_t at = table + id * l->sizeof_caml_thread_table +
			      l->caml_thread_table_active_thread;
		uint64_t thread = snap_found_word(found, at);
		/* A domain has no threads when it has just begun. */
		if (thread == 0 && id != 0)
			continue;
		if ((uint8_t)snap_found_half(found, at + 8) != 1 ||
			!snap_found_is_outside(found, thread) ||
			!snap_is_thread_ring(found, thread, id))
			return false;
	}
	*says = table;
	return true;
}

static bool fits_threads_5(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	bool by_pointer = found->layout->domains_by_pointer;
	return snap_found_is_outside(found, word) &&
	       is_thread_table(found, by_pointer ? word : out->address, &out->says);
}

/* The heap */

/* The colors of the blocks of a pool that has been swept, into found->colours. */
static void look_at_pool(struct snap_found *found, uint64_t pool, uint32_t size_class)
{
	const struct snap_layout *l = found->layout;
	uint64_t step, words = l->size_classes[size_class];
	for (uint64_t at = snap_layout_first_slot(l, size_class); at + 8 * words <= SNAP_POOL_BYTES;
		at += step) {
		uint64_t header = snap_found_word(found, pool + at);
		step = 8 * words;
		/* Free slots of 5.5 know how many follow. */
		if (snap_header_color(header) == SNAP_COLOR_BLACK)
			step *= (header >> 10) % (SNAP_POOL_BYTES / 8) + 1;
		else if (header)
			found->colours |= 1u << snap_header_color(header);
	}
}

/* As many pools as it takes to see two colors, or some of each list. */
static void look_at_pools(struct snap_found *found, uint64_t heads)
{
	enum { ENOUGH = 64 };
	for (uint32_t i = 0; i < SNAP_SIZE_CLASSES; i++) {
		uint64_t pool = snap_found_word(found, heads + 8 * (uint64_t)i);
		for (unsigned n = 0; n < ENOUGH && snap_found_is_there(found, pool) &&
				     __builtin_popcount(found->colours) < 2;
			n++) {
			look_at_pool(found, pool, i);
			pool = snap_found_word(found, pool + found->layout->pool_next);
		}
	}
}

/* The colors of the blocks that globals point to, which are no garbage, into found->colours. */
static void look_at_globals(struct snap_found *found)
{
	for (uint64_t i = 0; i < found->unit_count; i++) {
		uint64_t block, list = snap_found_word(found, found->globals + 8 * i);
		for (; (block = snap_found_word(found, list)) != 0; list += 8) {
			uint64_t words = snap_found_word(found, snap_pointed_header(block).a) >> 10;
			for (uint64_t k = 0; k < words && snap_found_is_data(found, block); k++) {
				uint64_t value = snap_found_word(found, block + 8 * k);
				uint64_t header = value % 8 ? 0
							    : snap_found_word(found,
								      snap_pointed_header(value).a);
				if (header && snap_found_is_outside(found, value) &&
					snap_header_tag(header) != SNAP_TAG_INFIX &&
					!snap_found_is_young(found, value))
					found->colours |= 1u << snap_header_color(header);
			}
		}
	}
}

static enum hg_status use_stw(struct snap_found *found, uint64_t address, struct hg_error *error)
{
	uint64_t array = domains_of(found, address);
	uint64_t count =
		snap_found_half(found, address + found->layout->stw_domains_participating_domains);
	for (uint64_t i = 0; i < count && i < MOST_DOMAINS; i++) {
		BASE_TRY(base_grow(&found->states, found->state_count, &found->state_capacity,
			sizeof(*found->states), error));
		uint64_t state = snap_found_word(found,
			snap_found_word(found, array + 8 * i) + found->layout->dom_internal_state);
		uint64_t heap = snap_found_word(
			found, state + found->layout->caml_domain_state_shared_heap);
		found->states[found->state_count++] = state;
		look_at_pools(found, heap + found->layout->caml_heap_state_avail_pools);
		look_at_pools(found, heap + found->layout->caml_heap_state_full_pools);
	}
	look_at_globals(found);
	return HG_OK;
}

/*
 * Colors of headers that mean marked, unmarked, garbage: they take turns.  A word before or after
 * them may continue that, but no block that was swept, or is held, is garbage.
 */
static bool fits_colours(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	uint64_t others[2];
	if (word & ~(uint64_t)0x300 || word == 0x300 || out->address % found->alignment ||
		!found->read(found->data, out->address + 8, others, sizeof(others)))
		return false;
	out->says = others[1];
	return others[0] == (word + 0x100) % 0x300 && others[1] == (word + 0x200) % 0x300 &&
	       !(found->colours >> snap_header_color(others[1]) & 1);
}

/* Pools of one size class in a list, that no domain owns; false if it is something else. */
static bool is_pool_list(const struct snap_found *found, uint64_t pool, uint64_t size_class)
{
	const struct snap_layout *l = found->layout;
	struct snap_found_list list = {0};
	for (; pool; pool = snap_found_word(found, pool + l->pool_next)) {
		uint8_t class;
		if (pool % PAGE || !snap_found_is_there(found, pool) ||
			!snap_found_goes_on(&list, pool) ||
			!found->read(found->data, pool + l->pool_sz, &class, 1) ||
			class != size_class || snap_found_word(found, pool + l->pool_owner) != 0)
			return false;
	}
	return true;
}

static bool is_large_list(const struct snap_found *found, uint64_t large)
{
	const struct snap_layout *l = found->layout;
	struct snap_found_list list = {0};
	for (; large; large = snap_found_word(found, large + l->large_alloc_next))
		if (!snap_found_goes_on(&list, large) ||
			!snap_found_is_block(found, large + l->sizeof_large_alloc + 8, -1,
				l->size_classes[SNAP_SIZE_CLASSES - 1]))
			return false;
	return true;
}

/* Its lists, of which at least one has something; and the words in them were counted. */
static bool is_freelist(const struct snap_found *found, uint64_t freelist)
{
	const struct snap_layout *l = found->layout;
	uint64_t stats = freelist + l->pool_freelist_stats;
	uint64_t pool_words = snap_found_word(found, stats + l->heap_stats_pool_words);
	uint64_t large_words = snap_found_word(found, stats + l->heap_stats_large_words);
	uint64_t large = snap_found_word(found, freelist + l->pool_freelist_global_large);
	uint64_t pools = 0;
	for (uint64_t i = 0; i < SNAP_SIZE_CLASSES; i++) {
		uint64_t avail = snap_found_word(
			found, freelist + l->pool_freelist_global_avail_pools + 8 * i);
		uint64_t full = snap_found_word(
			found, freelist + l->pool_freelist_global_full_pools + 8 * i);
		pools |= avail | full;
		if (!is_pool_list(found, avail, i) || !is_pool_list(found, full, i))
			return false;
	}
	return snap_found_word(found, freelist + l->pool_freelist_free) % PAGE == 0 &&
	       pool_words < SNAP_ADDRESS_LIMIT / 8 && large_words < SNAP_ADDRESS_LIMIT / 8 &&
	       (pools == 0 || pool_words > 0) && (large == 0 || large_words > 0) &&
	       is_large_list(found, large);
}

/*
 * What ended domains left is known by one of its lists: of pools, at a place that depends on their
 * size class, or of large blocks.  One that is empty holds nothing.
 */
static bool fits_freelist(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	const struct snap_layout *l = found->layout;
	const uint64_t at = out->address;
	uint8_t class;
	if (!snap_found_is_outside(found, word))
		return false;
	const uint64_t large = at - l->pool_freelist_global_large;
	bool is_pool = word % PAGE == 0 && found->read(found->data, word + l->pool_sz, &class, 1) &&
		       class < SNAP_SIZE_CLASSES;
	const uint64_t avail = at - l->pool_freelist_global_avail_pools - (is_pool ? 8 * class : 0);
	const uint64_t full = at - l->pool_freelist_global_full_pools - (is_pool ? 8 * class : 0);
	if (is_pool && is_freelist(found, avail))
		out->address = avail;
	else if (is_pool && is_freelist(found, full))
		out->address = full;
	else if (is_large_list(found, word) && is_freelist(found, large))
		out->address = large;
	else
		return false;
	out->says = out->address;
	return true;
}

/* Its lists are no other lists. */
static enum hg_status use_freelist(
	struct snap_found *found, uint64_t address, struct hg_error *error)
{
	const struct snap_layout *l = found->layout;
	(void)error;
	found->taken = (struct snap_range){address, address + l->pool_freelist_global_large + 8};
	return HG_OK;
}

static bool fits_atoms_5(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	(void)out;
	return word == (uint64_t)SNAP_COLOR_BLACK << 8 && snap_is_atom_table(found, out->address);
}

/* Ephemerons and finalisers */

/* A header of a block without fields, and (), in the data of runtime/weak.c. */
static bool is_weak_dummy(const struct snap_found *found, uint64_t value)
{
	const uint64_t header = (uint64_t)SNAP_COLOR_BLACK << 8 | SNAP_TAG_ABSTRACT;
	return value % 8 == 0 && snap_found_is_data(found, value) &&
	       snap_found_word(found, value) == 1 &&
	       snap_found_word(found, snap_pointed_header(value).a) == header;
}

/* From 5.4 on a second one follows, which is caml_ephe_locked. */
static bool fits_none(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	(void)out;
	return is_weak_dummy(found, word) && !is_weak_dummy(found, word - 16);
}

static bool is_final_info(const struct snap_found *found, uint64_t info)
{
	const struct snap_layout *l = found->layout;
	uint64_t first, last;
	return snap_found_is_outside(found, info) &&
	       snap_is_finalisable(found, info + l->caml_final_info_first, &first) &&
	       snap_is_finalisable(found, info + l->caml_final_info_last, &last) &&
	       (first || last || snap_found_word(found, info + l->caml_final_info_todo_head));
}

/* What domains that have ended left of both, side by side. */
static bool fits_orphans(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	const struct snap_layout *l = found->layout;
	if (!snap_found_is_there(found, word))
		return false;
	if (is_final_info(found, word)) {
		out->address -= l->orph_structs_final_info;
		uint64_t list =
			snap_found_word(found, out->address + l->orph_structs_ephe_list_live);
		if (list && snap_ephemeron_list_length(found, list) == 0)
			return false;
	} else {
		uint64_t info = snap_found_word(found,
			out->address - l->orph_structs_ephe_list_live + l->orph_structs_final_info);
		out->address -= l->orph_structs_ephe_list_live;
		if (snap_ephemeron_list_length(found, word) == 0 ||
			(info && !is_final_info(found, info)))
			return false;
	}
	out->says = out->address;
	return true;
}

/* Gc.Memprof: tables of entries that ended domains left. */
static bool fits_profiles(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	const struct snap_layout *l = found->layout;
	struct snap_found_list list = {0};
	if (l->memprof_domain_s_entries == SNAP_ABSENT)
		return false;
	for (; word; word = snap_found_word(found, word + l->memprof_orphan_table_s_next)) {
		uint64_t table = snap_found_word(found, word + l->entry_array_t);
		uint64_t room = snap_found_word(found, word + l->entry_array_alloc_len);
		uint64_t used = snap_found_word(found, word + l->entry_array_len);
		if (!snap_found_is_outside(found, word) || !snap_found_goes_on(&list, word) ||
			used == 0 || used > room || room >> 32 ||
			!snap_found_is_there(found, table) ||
			!snap_found_is_there(found, table + l->sizeof_tracked * room - 8) ||
			!snap_found_is_block(
				found, snap_found_word(found, word + l->entries_s_config), 0, 3))
			return false;
	}
	out->weight = list.count;
	return list.count > 0;
}

const struct snap_shape snap_shapes_5[] = {
	{{"stw_domains"}, .fits = fits_stw, .is_needed = true, .takes_most = true, .use = use_stw},
	{{"caml_global_heap_state"}, .fits = fits_colours, .is_needed = true},
	{{"atoms"}, .fits = fits_atoms_5, .is_constant = true},
	{{"pool_freelist"}, .fits = fits_freelist, .use = use_freelist},
	{{"named_value_table"}, .fits = snap_fits_named_values, .holds = "named values"},
	{{"caml_global_roots", "caml_global_roots_young", "caml_global_roots_old"},
		.fits = snap_fits_c_roots, .holds = "values of C code"},
	{{"thread_table"}, .fits = fits_threads_5, .holds = "threads of domains"},
	{{"caml_ephe_none"}, .fits = fits_none},
	{{"orph_structs"}, .fits = fits_orphans,
		.holds = "finalisers and ephemerons of ended domains"},
	{{"orphans"}, .fits = fits_profiles, .takes_most = true,
		.holds = "profiles of ended domains"},
	{.fits = NULL},
};
