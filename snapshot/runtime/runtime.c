#include "snapshot/runtime/parts.h"

#include "snapshot/runtime/version.h"

#include <stdarg.h>
#include <stdio.h>

void snap_note_line(struct snap_runtime *runtime, const char *format, ...)
{
	char line[256];
	struct hg_error unused;
	if (runtime->note_count == sizeof(runtime->notes) / sizeof(runtime->notes[0])) {
		runtime->notes_more++;
		return;
	}
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	const char *text;
	base_error_clear(&unused);
	if (base_pool_string(&runtime->pool, line, strlen(line), &text, &unused) == HG_OK)
		runtime->notes[runtime->note_count++] = text;
	else
		runtime->image->lost = true;
}

const char *snap_print(struct snap_runtime *runtime, const char *format, ...)
{
	char text[1024];
	const char *kept;
	struct hg_error unused;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	base_error_clear(&unused);
	/* Millions of structures may lead to one long name, which is copied for each. */
	size_t length = strlen(text);
	if (!snap_spend(runtime, length / 8))
		return "";
	if (base_pool_string(&runtime->pool, text, length, &kept, &unused) != HG_OK) {
		runtime->image->lost = true;
		return "";
	}
	return kept;
}

bool snap_spend(struct snap_runtime *runtime, uint64_t items)
{
	if (items <= runtime->patience) {
		runtime->patience -= items;
		return true;
	}
	if (!runtime->gave_up)
		snap_note_line(runtime, "lists of the runtime lead to the same places again and "
					"again: not all was followed");
	runtime->patience = 0;
	runtime->gave_up = true;
	return false;
}

uint64_t snap_runtime_wosize(const struct snap_runtime *runtime, uint64_t header)
{
	return (header << runtime->reserved_bits) >> (runtime->reserved_bits + 10);
}

uint64_t snap_variable_word(struct snap_runtime *runtime, const char *name)
{
	uint64_t address = snap_variable(runtime, name);
	return address ? snap_word(runtime, address) : 0;
}

/* Detection */

static bool has(void *image, const char *name)
{
	struct snap_symbol symbol;
	return snap_image_symbol(image, name, &symbol);
}

/* Why a program has none of the symbols of a native runtime with a domain state. */
static enum hg_status no_runtime(struct snap_image *image, struct hg_error *error)
{
	if (has(image, "caml_frametable"))
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"'%s' is of an OCaml before 4.10; supported are " SNAP_OCAML_SUPPORTED,
			image->program);
	return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
		"'%s' is no OCaml program: it has no symbol of the OCaml runtime", image->program);
}

static enum hg_status find_family(struct snap_runtime *runtime, struct hg_error *error)
{
	struct snap_image *image = runtime->image;
	struct snap_symbol symbol;
	if (snap_has_interpreter(has, image) && !has(image, "caml_frametable"))
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"'%s' runs OCaml bytecode; only programs of ocamlopt can be read",
			image->program);
	if (snap_image_symbol(image, "Caml_state", &symbol))
		runtime->is_5 = false;
	else if (snap_image_symbol(image, "caml_state", &symbol) && symbol.is_tls)
		runtime->is_5 = true;
	else
		return no_runtime(image, error);
	if (!has(image, "caml_frametable"))
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"'%s' has an OCaml runtime but no code of ocamlopt", image->program);
	return HG_OK;
}

/*
 * runtime/sys.c: caml_sys_const_max_wosize returns Val_long(Max_wosize), and Max_wosize is
 * 2^(54 - reserved bits) - 1.
 */
static enum hg_status find_reserved_bits(struct snap_runtime *runtime, struct hg_error *error)
{
	struct snap_symbol symbol;
	uint64_t value;
	bool found = snap_image_symbol(runtime->image, "caml_sys_const_max_wosize", &symbol);
	if (found)
		BASE_TRY(snap_constant_function(
			runtime->image, symbol.address, &value, &found, error));
	if (!found)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"the layout of headers cannot be told: caml_sys_const_max_wosize is "
			"missing");
	uint64_t most = value >> 1;
	unsigned bits = 0;
	while (bits < 64 && most >> bits)
		bits++;
	if (bits < 23 || bits > 54 || most + 1 != (uint64_t)1 << bits)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"the layout of headers is unknown: blocks have up to %llu words",
			(unsigned long long)most);
	runtime->reserved_bits = 54 - bits;
	return HG_OK;
}

/* Stdlib.Sys.ocaml_version: the only string of that form in the block of the module. */
static bool version_of_stdlib(struct snap_runtime *runtime, char *text, size_t size)
{
	struct snap_symbol symbol;
	uint64_t field, header;
	unsigned name = 0;
	while (snap_sys_symbol(name) &&
		!snap_image_symbol(runtime->image, snap_sys_symbol(name), &symbol))
		name++;
	if (!snap_sys_symbol(name))
		return false;
	for (uint64_t i = 0; i < 64; i++) {
		if (!snap_image_u64(runtime->image, symbol.address + 8 * i, &field))
			return false;
		if (field % 8 == 0 && field != 0 &&
			snap_image_u64(runtime->image, snap_pointed_header(field).a, &header) &&
			(header & 0xff) == SNAP_TAG_STRING &&
			snap_image_string(runtime->image, field, text, size) &&
			snap_is_version(text))
			return true;
	}
	return false;
}

static enum hg_status find_version(struct snap_runtime *runtime, struct hg_error *error)
{
	char text[64];
	if (!version_of_stdlib(runtime, text, sizeof(text))) {
		snprintf(text, sizeof(text), "%s",
			snap_version_of_symbols(runtime->is_5, has, runtime->image));
		snap_note_line(runtime,
			"the program has no Stdlib.Sys: taken for OCaml %s by its symbols", text);
	}
	BASE_TRY(base_pool_string(&runtime->pool, text, strlen(text), &runtime->version, error));
	runtime->layout = snap_layout_of(text);
	if (!runtime->layout || (runtime->layout->version >= SNAP_OCAML_5_0) != runtime->is_5)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"'%s' is of OCaml %s; supported are " SNAP_OCAML_SUPPORTED,
			runtime->image->program, text);
	return HG_OK;
}

/* Statistics */

static void read_statistics4(struct snap_runtime *runtime)
{
	const struct snap_layout *l = runtime->layout;
	struct snap_runtime_statistics *s = &runtime->statistics;
	uint64_t state = runtime->domains[0].state;
	s->heap_words = snap_word(runtime, state + l->caml_domain_state_stat_heap_wsz);
	s->top_heap_words = snap_word(runtime, state + l->caml_domain_state_stat_top_heap_wsz);
	s->heap_chunks = snap_word(runtime, state + l->caml_domain_state_stat_heap_chunks);
	s->minor_collections =
		snap_word(runtime, state + l->caml_domain_state_stat_minor_collections);
	s->major_collections =
		snap_word(runtime, state + l->caml_domain_state_stat_major_collections);
	s->compactions = snap_word(runtime, state + l->caml_domain_state_stat_compactions);
	runtime->in_minor_collection =
		snap_word(runtime, state + l->caml_domain_state_in_minor_collection) != 0;
}

static void add_heap_stats(struct snap_runtime *runtime, uint64_t stats)
{
	const struct snap_layout *l = runtime->layout;
	struct snap_runtime_statistics *s = &runtime->statistics;
	s->pool_words += snap_word(runtime, stats + l->heap_stats_pool_words);
	s->pool_live_words += snap_word(runtime, stats + l->heap_stats_pool_live_words);
	s->pool_live_blocks += snap_word(runtime, stats + l->heap_stats_pool_live_blocks);
	s->pool_frag_words += snap_word(runtime, stats + l->heap_stats_pool_frag_words);
	s->large_words += snap_word(runtime, stats + l->heap_stats_large_words);
	s->large_blocks += snap_word(runtime, stats + l->heap_stats_large_blocks);
}

static uint64_t counter(struct snap_runtime *runtime, const char *name)
{
	uint64_t value, address = snap_variable(runtime, name);
	return address && snap_image_u64(runtime->image, address, &value) ? value : HG_UNKNOWN;
}

static void read_statistics5(struct snap_runtime *runtime)
{
	const struct snap_layout *l = runtime->layout;
	struct snap_runtime_statistics *s = &runtime->statistics;
	*s = (struct snap_runtime_statistics){
		.top_heap_words = HG_UNKNOWN, .heap_chunks = HG_UNKNOWN};
	for (uint32_t i = 0; i < runtime->domain_count; i++) {
		uint64_t heap = snap_word(
			runtime, runtime->domains[i].state + l->caml_domain_state_shared_heap);
		if (heap)
			add_heap_stats(runtime, heap + l->caml_heap_state_stats);
	}
	uint64_t freelist = snap_variable(runtime, "pool_freelist");
	if (freelist)
		add_heap_stats(runtime, freelist + l->pool_freelist_stats);
	s->heap_words = s->pool_words + s->large_words;
	s->minor_collections =
		l->caml_domain_state_stat_minor_collections == SNAP_ABSENT
			? counter(runtime, "caml_minor_collections_count")
			: snap_word(runtime, runtime->domains[0].state +
						     l->caml_domain_state_stat_minor_collections);
	s->major_collections = counter(runtime, "caml_major_cycles_completed");
	s->compactions = counter(runtime, "caml_compactions_count");
}

/* Opening */

static enum hg_status read_4(struct snap_runtime *runtime, struct hg_error *error)
{
	void *domain;
	BASE_TRY(base_pool_alloc(&runtime->pool, 1, sizeof(struct snap_domain), &domain, error));
	runtime->domains = domain;
	runtime->domains[0].state = snap_variable_word(runtime, "Caml_state");
	runtime->domain_count = 1;
	if (runtime->domains[0].state == 0)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"the OCaml runtime of '%s' has not started, or its data are missing",
			runtime->image->program);
	read_statistics4(runtime);
	BASE_TRY(snap_read_tops(runtime, error));
	BASE_TRY(snap_read_areas4(runtime, error));
	BASE_TRY(snap_read_common_roots(runtime, error));
	return snap_read_roots4(runtime, error);
}

static enum hg_status read_5(struct snap_runtime *runtime, struct hg_error *error)
{
	BASE_TRY(snap_read_domains5(runtime, error));
	read_statistics5(runtime);
	BASE_TRY(snap_read_tops(runtime, error));
	BASE_TRY(snap_read_areas5(runtime, error));
	BASE_TRY(snap_read_common_roots(runtime, error));
	return snap_read_roots5(runtime, error);
}

static enum hg_status read_all(struct snap_runtime *runtime, struct hg_error *error)
{
	BASE_TRY(find_family(runtime, error));
	BASE_TRY(find_reserved_bits(runtime, error));
	BASE_TRY(find_version(runtime, error));
	runtime->gc_phase = snap_half(runtime, snap_variable(runtime, "caml_gc_phase"));
	runtime->ephemeron_none = snap_variable_word(runtime, "caml_ephe_none");
	BASE_TRY(snap_read_ranges(runtime, error));
	BASE_TRY(snap_read_frame_tables(runtime, error));
	BASE_TRY(runtime->is_5 ? read_5(runtime, error) : read_4(runtime, error));
	snap_settle_roots(runtime);
	return HG_OK;
}

enum hg_status snap_runtime_open(
	struct snap_runtime *runtime, struct snap_image *image, struct hg_error *error)
{
	enum { LEAST_PATIENCE = 65536 };
	*runtime = (struct snap_runtime){
		.image = image, .patience = snap_image_bytes(image) / 8 + LEAST_PATIENCE};
	enum hg_status status = read_all(runtime, error);
	if (status != HG_OK)
		snap_runtime_close(runtime);
	return status;
}

void snap_roots_release(struct snap_runtime_roots *roots)
{
	free(roots->items);
	*roots = (struct snap_runtime_roots){0};
}

void snap_runtime_close(struct snap_runtime *runtime)
{
	snap_release_frame_tables(runtime);
	base_map_release(&runtime->strings);
	base_map_release(&runtime->custom_kinds);
	free(runtime->areas);
	free(runtime->units);
	snap_roots_release(&runtime->roots);
	free(runtime->stacks);
	free(runtime->ephemerons);
	free(runtime->samples);
	base_pool_release(&runtime->pool);
	*runtime = (struct snap_runtime){0};
}
