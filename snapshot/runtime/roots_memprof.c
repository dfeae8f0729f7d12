/* Blocks that Gc.Memprof tracks (runtime/memprof.c of 4.13, 4.14 and 5.3). */
#include "snapshot/runtime/roots.h"

#include "snapshot/runtime/frames.h"
#include "snapshot/runtime/reader.h"

#include <string.h>

enum { MOST_SLOTS = 1 << 20, ALLOCATION_CALLBACK_RAN = 1 << 9 };

static const struct snap_root_source user_data = {
	.kind = HG_ROOT_MEMPROF, .name = "Gc.Memprof tracker", .stack = SNAP_NO_INDEX};

/* A pointer in its place is less than any rate, by hundreds of orders of magnitude. */
static double rate_of(uint64_t bits)
{
	double rate;
	memcpy(&rate, &bits, sizeof(rate));
	return rate > 1e-100 && rate <= 1 ? rate : 0;
}

/* 4.x: one variable, static, and under a name that others may use too. */
static double rate4(struct snap_runtime *runtime)
{
	static const char *const names[] = {"lambda of Gc.Memprof", "lambda"};
	for (unsigned i = 0; i < 2 && !runtime->sought_sampling_rate; i++) {
		uint64_t variable = snap_variable(runtime, names[i]);
		if (variable && runtime->sampling_rate == 0)
			runtime->sampling_rate = rate_of(snap_word(runtime, variable));
	}
	runtime->sought_sampling_rate = true;
	return runtime->sampling_rate;
}

/* 5.3: a number in the configuration of the profile that the entries are of. */
static double rate5(struct snap_runtime *runtime, uint64_t entries)
{
	enum { LAMBDA = 1 };
	uint64_t config = snap_word(runtime, entries + runtime->layout->entries_s_config);
	if (config % 8 || config == 0)
		return 0;
	uint64_t lambda = snap_word(runtime, config + 8 * LAMBDA);
	if (lambda % 8 || lambda == 0 ||
		snap_header_tag(snap_word(runtime, snap_pointed_header(lambda).a)) !=
			SNAP_TAG_DOUBLE)
		return 0;
	return rate_of(snap_word(runtime, lambda));
}

static enum hg_status add_tracked(
	struct snap_runtime *runtime, uint64_t entry, double rate, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t flags = snap_half(runtime, entry + l->tracked_flags);
	if (flags >> l->memprof_deleted_bit & 1)
		return HG_OK;
	uint64_t slot = entry + l->tracked_user_data, data = snap_word(runtime, slot);
	struct snap_sample sample = {.block = snap_word(runtime, entry + l->tracked_block),
		.samples = snap_word(runtime, entry + l->tracked_n_samples),
		.wosize = snap_word(runtime, entry + l->tracked_wosize),
		.user_data = data,
		.rate = rate,
		.source = (enum snap_sample_source)(flags >> l->memprof_source_shift & 3)};
	bool has_run = !runtime->is_5 || flags & ALLOCATION_CALLBACK_RAN;
	/* 5.3: until the callback has run, a call stack in C memory, disguised as an integer. */
	if (!has_run && data & 1 && data > 1)
		sample.stash = data - 1;
	/* While a callback runs the user data is (). */
	sample.is_settled = has_run && snap_word(runtime, entry + l->tracked_running) == 0;
	BASE_TRY(base_grow(&runtime->samples, runtime->sample_count, &runtime->sample_capacity,
		sizeof(*runtime->samples), error));
	if (!(flags >> l->memprof_deallocated_bit & 1))
		runtime->samples[runtime->sample_count++] = sample;
	return snap_read_root(runtime, &user_data, slot, HG_UNKNOWN, error);
}

static enum hg_status read_entries(
	struct snap_runtime *runtime, uint64_t entries, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t table = snap_word(runtime, entries + l->entry_array_t);
	uint64_t count = snap_word(runtime, entries + l->entry_array_len);
	if (count == 0)
		return HG_OK;
	if (count >> 40 || snap_image_present(runtime->image, table, count * l->sizeof_tracked) <
				   count * l->sizeof_tracked) {
		snap_note_line(runtime, "a table of profiled blocks is damaged");
		return HG_OK;
	}
	double rate = runtime->is_5 ? rate5(runtime, entries) : rate4(runtime);
	/* Many lists may have the same table. */
	for (uint64_t i = 0; i < count && snap_spend(runtime, l->sizeof_tracked / 8); i++)
		BASE_TRY(add_tracked(runtime, table + i * l->sizeof_tracked, rate, error));
	return HG_OK;
}

enum hg_status snap_read_memprof4_thread(
	struct snap_runtime *runtime, uint64_t context, struct hg_error *error)
{
	if (!context || context == snap_variable(runtime, "caml_memprof_main_ctx"))
		return HG_OK;
	return read_entries(runtime, context + runtime->layout->caml_memprof_th_ctx_entries, error);
}

enum hg_status snap_read_memprof4(struct snap_runtime *runtime, struct hg_error *error)
{
	uint64_t global = snap_variable(runtime, "entries_global");
	uint64_t context = snap_variable(runtime, "caml_memprof_main_ctx");
	if (global)
		BASE_TRY(read_entries(runtime, global, error));
	if (!context)
		return HG_OK;
	return read_entries(runtime, context + runtime->layout->caml_memprof_th_ctx_entries, error);
}

static enum hg_status read_profile5(
	struct snap_runtime *runtime, uint64_t entries, struct hg_error *error)
{
	struct snap_root_source config = user_data;
	config.name = SNAP_NAME_OF_PROFILE;
	BASE_TRY(snap_read_root(
		runtime, &config, entries + runtime->layout->entries_s_config, HG_UNKNOWN, error));
	return read_entries(runtime, entries, error);
}

enum hg_status snap_read_memprof5_orphans(
	struct snap_runtime *runtime, uint64_t list, struct hg_error *error)
{
	struct snap_list walk = {.words = SNAP_THREAD_WORDS};
	for (; snap_list_goes_on(runtime, &walk, list);
		list = snap_word(runtime, list + runtime->layout->memprof_orphan_table_s_next))
		BASE_TRY(read_profile5(runtime, list, error));
	return HG_OK;
}

enum hg_status snap_read_memprof5(
	struct snap_runtime *runtime, uint64_t memprof, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	struct snap_list walk = {.words = SNAP_THREAD_WORDS};
	if (!memprof)
		return HG_OK;
	BASE_TRY(read_profile5(runtime, memprof + l->memprof_domain_s_entries, error));
	BASE_TRY(snap_read_memprof5_orphans(
		runtime, snap_word(runtime, memprof + l->memprof_domain_s_orphans), error));
	uint64_t thread = snap_word(runtime, memprof + l->memprof_domain_s_threads);
	for (; snap_list_goes_on(runtime, &walk, thread);
		thread = snap_word(runtime, thread + l->memprof_thread_s_next))
		BASE_TRY(read_profile5(runtime, thread + l->memprof_thread_s_entries, error));
	return HG_OK;
}

/* Call stacks */

/* A slot is a frame's descriptor or, of an allocation of several blocks, the debug information of
 * one of them. */
static bool is_descriptor_slot(struct snap_runtime *runtime, uint64_t slot)
{
	uint64_t word = slot & ~(uint64_t)1, probe;
	struct snap_descriptor descriptor;
	return slot & 1 && word != 0 && snap_image_u64(runtime->image, word, &probe) &&
	       snap_find_descriptor(runtime, probe, &descriptor) && descriptor.address == word;
}

static bool is_callstack_slot(struct snap_runtime *runtime, uint64_t slot)
{
	uint64_t word = slot & ~(uint64_t)1, probe;
	if (slot & 1 && word & 2)
		return word % 4 == 2 && snap_image_u64(runtime->image, word - 2, &probe);
	return is_descriptor_slot(runtime, slot);
}

bool snap_runtime_is_callstack(
	struct snap_runtime *runtime, const uint64_t *slots, uint64_t count, bool is_likely)
{
	if (count == 0 || count > MOST_SLOTS || !is_callstack_slot(runtime, slots[0]))
		return false;
	for (uint64_t i = 1; i < count; i++)
		if (!is_descriptor_slot(runtime, slots[i]))
			return false;
	return count > 1 || is_likely || is_descriptor_slot(runtime, slots[0]);
}

static bool copy_slots(struct snap_runtime *runtime, uint64_t from, uint64_t count,
	uint64_t disguise, uint64_t *slots, uint64_t capacity)
{
	uint64_t slot;
	if (count > MOST_SLOTS)
		return false;
	if (snap_image_present(runtime->image, from, 8 * count) < 8 * count)
		return false;
	for (uint64_t i = 0; i < count && i < capacity + SNAP_PROOF_SLOTS; i++) {
		if (!snap_image_u64(runtime->image, from + 8 * i, &slot))
			return false;
		slot |= disguise;
		if (!is_callstack_slot(runtime, slot))
			return false;
		if (i < capacity)
			slots[i] = slot;
	}
	return true;
}

bool snap_runtime_callstack(struct snap_runtime *runtime, uint64_t value, uint64_t *slots,
	uint64_t capacity, uint64_t *count)
{
	uint64_t header;
	*count = 0;
	if (value % 8 || value == 0 ||
		!snap_image_u64(runtime->image, snap_pointed_header(value).a, &header) ||
		(header & 0xff) != 0)
		return false;
	*count = snap_runtime_wosize(runtime, header);
	return *count > 0 && copy_slots(runtime, value, *count, 0, slots, capacity);
}

bool snap_runtime_stash(struct snap_runtime *runtime, uint64_t stash, uint64_t *slots,
	uint64_t capacity, uint64_t *count)
{
	*count = 0;
	return snap_image_u64(runtime->image, stash, count) && *count > 0 &&
	       copy_slots(runtime, stash + 8, *count, 1, slots, capacity);
}
