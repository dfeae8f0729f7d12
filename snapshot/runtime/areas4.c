/* The heap of 4.x: chunks in a list, and one minor heap. */
#include "snapshot/runtime/parts.h"

static enum hg_status read_chunks(struct snap_runtime *runtime, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t chunk = snap_variable_word(runtime, "caml_heap_start");
	struct snap_list walk = {0};
	while (snap_list_goes_on(runtime, &walk, chunk)) {
		uint64_t head = chunk - l->sizeof_heap_chunk_head;
		uint64_t size = snap_word(runtime, head + l->heap_chunk_head_size);
		uint64_t there =
			chunk % 8 ? 0
				  : snap_image_present(runtime->image, chunk, size) & ~(uint64_t)7;
		if (there < size)
			snap_note_line(runtime,
				"of the heap chunk at 0x%llx %llu of %llu bytes are missing",
				(unsigned long long)chunk, (unsigned long long)(size - there),
				(unsigned long long)size);
		struct snap_area area = {
			.start = chunk, .end = chunk + there, .kind = SNAP_AREA_CHUNK, .domain = 0};
		BASE_TRY(snap_add_area(runtime, &area, error));
		chunk = snap_word(runtime, head + l->heap_chunk_head_next);
	}
	return HG_OK;
}

enum hg_status snap_read_areas4(struct snap_runtime *runtime, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	struct snap_domain *domain = &runtime->domains[0];
	uint64_t state = domain->state;
	BASE_TRY(read_chunks(runtime, error));
	snap_sort_areas(runtime);
	domain->minor =
		(struct snap_range){snap_word(runtime, state + l->caml_domain_state_young_start),
			snap_word(runtime, state + l->caml_domain_state_young_end)};
	runtime->minor_heaps = domain->minor;
	BASE_TRY(snap_add_minor_area(runtime, 0,
		snap_word(runtime, state + l->caml_domain_state_young_ptr),
		snap_word(runtime, state + l->caml_domain_state_young_alloc_end), error));
	snap_sort_areas(runtime);
	return HG_OK;
}
