/* Shapes of the variables of the runtimes of 4.x; see shapes.h. */
#include "snapshot/runtime/found/shapes.h"

#include <math.h>
#include <string.h>

enum { MOST_CHUNKS = 1 << 20, SKIPPED_BYTES = 8 * 600, PAGE = 4096 };

/* The domain state is not static, and says where the minor heap is. */
static bool is_state_4(const struct snap_found *found, uint64_t state)
{
	const struct snap_layout *l = found->layout;
	uint64_t start = snap_found_word(found, state + l->caml_domain_state_young_start);
	uint64_t end = snap_found_word(found, state + l->caml_domain_state_young_end);
	uint64_t pointer = snap_found_word(found, state + l->caml_domain_state_young_ptr);
	uint64_t first = snap_found_word(found, state + l->caml_domain_state_young_alloc_start);
	uint64_t last = snap_found_word(found, state + l->caml_domain_state_young_alloc_end);
	uint64_t words = snap_found_word(found, state + l->caml_domain_state_stat_heap_wsz);
	uint64_t chunks = snap_found_word(found, state + l->caml_domain_state_stat_heap_chunks);
	return start % 8 == 0 && start >= SNAP_ADDRESS_FIRST && start < end && end % 8 == 0 &&
	       end < SNAP_ADDRESS_LIMIT && first >= start && last <= end && first < last &&
	       pointer + SKIPPED_BYTES >= first && pointer <= last && chunks > 0 &&
	       chunks < MOST_CHUNKS && words > 0 && words < SNAP_ADDRESS_LIMIT / 8 &&
	       snap_found_half(found, state + l->caml_domain_state_in_minor_collection) <= 1;
}

static bool fits_state(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	(void)out;
	return snap_found_is_outside(found, word) && is_state_4(found, word);
}

static enum hg_status use_state(struct snap_found *found, uint64_t address, struct hg_error *error)
{
	(void)error;
	found->domain_state = snap_found_word(found, address);
	return HG_OK;
}

/*
 * The first chunk of the heap: as many as the domain counts, in order of addresses, with as many
 * bytes.  Of one that is just being added the bytes, or it itself, are counted later.
 */
static bool fits_heap(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	const struct snap_layout *l = found->layout;
	uint64_t state = found->domain_state, bytes = 0, count = 0, before = 0;
	uint64_t counted = snap_found_word(found, state + l->caml_domain_state_stat_heap_chunks);
	uint64_t known = 8 * snap_found_word(found, state + l->caml_domain_state_stat_heap_wsz);
	bool is_one_more = false;
	for (uint64_t chunk = word; chunk; count++) {
		uint64_t head = chunk - l->sizeof_heap_chunk_head;
		uint64_t size = snap_found_word(found, head + l->heap_chunk_head_size);
		if (chunk <= before || count > counted || !snap_found_is_outside(found, chunk) ||
			size == 0 || size % PAGE || size >= SNAP_ADDRESS_LIMIT)
			return false;
		bytes += size;
		before = chunk;
		chunk = snap_found_word(found, head + l->heap_chunk_head_next);
	}
	for (uint64_t chunk = word; chunk && !is_one_more;) {
		uint64_t head = chunk - l->sizeof_heap_chunk_head;
		is_one_more =
			bytes - known == snap_found_word(found, head + l->heap_chunk_head_size);
		chunk = snap_found_word(found, head + l->heap_chunk_head_next);
	}
	bool is_exact = count == counted && bytes == known;
	out->weight = is_exact ? 2 : 1;
	return count > 0 && (is_exact || (count >= counted && is_one_more));
}

static bool fits_atoms_4(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	(void)out;
	return snap_found_is_there(found, word) && snap_is_atom_table(found, word);
}

/* struct page_table of runtime/memory.c: size, shift, mask, occupancy, entries. */
static bool fits_page_table(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	const struct snap_layout *l = found->layout;
	uint64_t fields[5];
	(void)word;
	if (!found->read(found->data, out->address, fields, sizeof(fields)))
		return false;
	uint64_t size = fields[0], entries = fields[l->page_table_entries / 8];
	out->says = out->address;
	return size >= 2 && (size & (size - 1)) == 0 && size >> 40 == 0 &&
	       (uint32_t)fields[1] == 64 - (unsigned)__builtin_ctzll(size) &&
	       fields[2] == size - 1 && fields[3] > 0 && fields[3] <= size &&
	       snap_found_is_there(found, entries) &&
	       snap_found_is_there(found, entries + 8 * (size - 1));
}

/* Threads */

/* The thread has the identifier 0 that was there before there were others. */
static bool is_first_thread(const struct snap_found *found, uint64_t thread)
{
	uint64_t descriptor =
		snap_found_word(found, thread + found->layout->caml_thread_struct_descr);
	return snap_found_word(found, descriptor) == 1;
}

/*
 * Of a ring, the thread on whose stack the domain is, whose own copy of that is old: each knows the
 * top of its stack but for the first one.
 */
static uint64_t running_thread(const struct snap_found *found, uint64_t ring)
{
	const struct snap_layout *l = found->layout;
	const uint64_t most = (uint64_t)1 << 32; /* of a stack */
	uint64_t sp =
		snap_found_word(found, found->domain_state + l->caml_domain_state_bottom_of_stack);
	uint64_t running = 0, nearest = most, first = 0, thread = ring;
	do {
		/* The word before the saved stack pointer. */
		uint64_t top =
			snap_found_word(found, thread + l->caml_thread_struct_bottom_of_stack - 8);
		if (is_first_thread(found, thread)) {
			first = thread;
		} else if (top >= sp && top - sp < nearest) {
			nearest = top - sp;
			running = thread;
		}
		thread = snap_found_word(found, thread + l->caml_thread_struct_next);
	} while (thread != ring);
	uint64_t bottom =
		first ? snap_found_word(found, first + l->caml_thread_struct_bottom_of_stack) : 0;
	/* The stack of the first may be below that of another. */
	if (!running || (bottom >= sp && bottom - sp < nearest))
		return first;
	return running;
}

static bool fits_thread_4(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	(void)out;
	return snap_found_is_outside(found, word) && snap_is_thread_ring(found, word, 0) &&
	       running_thread(found, word) == word;
}

/* Finalisers, ephemerons */

static bool fits_finalisable(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	uint64_t count;
	return snap_found_is_there(found, word) &&
	       snap_is_finalisable(found, out->address, &count) && count > 0;
}

/* A list of finalisers that wait; the last one is known, too. */
static bool fits_to_do(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	const struct snap_layout *l = found->layout;
	struct snap_found_list list = {0};
	for (; word; word = snap_found_word(found, word + l->final_todo_next)) {
		uint64_t size = snap_found_half(found, word + l->final_todo_size);
		if (!snap_found_is_outside(found, word) || !snap_found_goes_on(&list, word) ||
			size == 0 ||
			!snap_is_finaliser_table(found, word + l->final_todo_item, size))
			return false;
	}
	out->weight = list.count;
	return list.count > 0;
}

static bool fits_ephemerons(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	out->weight = snap_ephemeron_list_length(found, word);
	return out->weight > 0;
}

/* The value of fields that are empty: what they have that is static and no block of a unit. */
static enum hg_status use_ephemerons(
	struct snap_found *found, uint64_t address, struct hg_error *error)
{
	uint64_t first = snap_found_word(found, address);
	(void)error;
	for (; first && first % 2 == 0; first = snap_found_word(found, first)) {
		uint64_t words = snap_found_word(found, snap_pointed_header(first).a) >> 10;
		for (uint64_t i = SNAP_EPHEMERON_DATA; i < words; i++) {
			uint64_t value = snap_found_word(found, first + 8 * i);
			if (value % 8 == 0 && snap_found_is_data(found, value) &&
				snap_found_word(found, value) == 0 &&
				!snap_found_is_block(found, value, -1, 1))
				found->ephemeron_none = value;
		}
	}
	return HG_OK;
}

static bool fits_ephemeron_none(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	(void)out;
	return word != 0 && word == found->ephemeron_none;
}

/* Gc.Memprof */

/*
 * struct entry_array: table, least length, length of the table, used part, two positions in it.
 * One without a table has nothing in it, and looks like much else.
 */
static bool is_entry_array(const struct snap_found *found, uint64_t address, uint64_t least)
{
	const struct snap_layout *l = found->layout;
	uint64_t table = snap_found_word(found, address + l->entry_array_t);
	uint64_t room = snap_found_word(found, address + l->entry_array_alloc_len);
	uint64_t used = snap_found_word(found, address + l->entry_array_len);
	if (snap_found_word(found, address + l->entry_array_alloc_len - 8) != least ||
		used > room || room >> 40 ||
		snap_found_word(found, address + l->entry_array_len + 8) > used ||
		snap_found_word(found, address + l->entry_array_len + 16) > used)
		return false;
	return room >= least && snap_found_is_outside(found, table) &&
	       snap_found_is_there(found, table + room * l->sizeof_tracked - 8);
}

static bool fits_entries(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	enum { LEAST = 128 };
	(void)word;
	out->says = out->address;
	return is_entry_array(found, out->address, LEAST);
}

/* struct caml_memprof_th_ctx: suspended, the number of the callback that runs, or less than 0. */
static bool fits_context(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	enum { LEAST = 16, STATES = 3 };
	int64_t status = (int64_t)snap_found_word(found, out->address + 8);
	out->says = out->address;
	return word <= 1 && status >= -STATES && status >> 40 <= 0 &&
	       is_entry_array(
		       found, out->address + found->layout->caml_memprof_th_ctx_entries, LEAST);
}

/* The rate of sampling: near it the runtime keeps what it computes from it. */
static bool fits_rate(struct snap_found *found, uint64_t word, struct snap_candidate *out)
{
	enum { NEAR = 256 };
	double rate;
	uint8_t bytes[2 * NEAR];
	memcpy(&rate, &word, sizeof(rate));
	if (!(rate > 1e-100 && rate < 1) ||
		!found->read(found->data, out->address - NEAR, bytes, sizeof(bytes)))
		return false;
	const double wanted = 1 / log1p(-rate);
	for (unsigned at = 0; at + sizeof(float) <= sizeof(bytes); at += sizeof(float)) {
		float computed;
		memcpy(&computed, bytes + at, sizeof(computed));
		if (fabs(computed - wanted) <= fabs(wanted) * 1e-6)
			return true;
	}
	return false;
}

/* Caml_state is the first, as other files know. */
const struct snap_shape snap_shapes_4[] = {
	{{"Caml_state"}, .fits = fits_state, .is_needed = true, .use = use_state},
	{{"caml_heap_start"}, .fits = fits_heap, .is_needed = true, .takes_most = true},
	{{"caml_atom_table"}, .fits = fits_atoms_4},
	{{"caml_page_table"}, .fits = fits_page_table},
	{{"named_value_table"}, .fits = snap_fits_named_values, .holds = "named values"},
	{{"caml_global_roots", "caml_global_roots_young", "caml_global_roots_old"},
		.fits = snap_fits_c_roots, .holds = "values of C code"},
	{{"curr_thread"}, .fits = fits_thread_4, .holds = "threads"},
	{{"finalisable_first", "finalisable_last"}, .fits = fits_finalisable,
		.holds = "finalisers"},
	{{"to_do_hd"}, .fits = fits_to_do, .takes_most = true},
	{{"caml_ephe_list_head"}, .fits = fits_ephemerons, .takes_most = true,
		.holds = "ephemerons", .use = use_ephemerons},
	{{"caml_ephe_none"}, .fits = fits_ephemeron_none},
	{{"entries_global"}, .fits = fits_entries, .holds = "profiled blocks"},
	{{"caml_memprof_main_ctx"}, .fits = fits_context},
	{{"lambda of Gc.Memprof"}, .fits = fits_rate},
	{.fits = NULL},
};
