/*
 * What is only in the runtimes of 4.x: one domain, a heap of chunks in a list and one minor heap,
 * threads in a ring.
 */
#include "snapshot/runtime/runtime.h"

#include "snapshot/bytecode/interpreter.h"
#include "snapshot/runtime/reader.h"

/* The domain, and its counters */

static void read_statistics_4(struct snap_runtime *runtime)
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

static enum hg_status read_domain_4(struct snap_runtime *runtime, struct hg_error *error)
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
	read_statistics_4(runtime);
	return HG_OK;
}

/* The heap */

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

static enum hg_status read_areas_4(struct snap_runtime *runtime, struct hg_error *error)
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

/* Roots */

/* The bounds of a stack of bytecode, and where its stack pointer was saved. */
static enum hg_status read_bytecode_stack_4(struct snap_runtime *runtime, uint32_t systhread,
	struct snap_range words, uint64_t sp, uint64_t local_roots, bool several,
	struct hg_error *error)
{
	uint32_t index;
	BASE_TRY(snap_new_stack(runtime, 0, systhread, &index, error));
	const char *name = runtime->stacks[index].name;
	struct snap_stack_walk walk = {.roots = &runtime->roots,
		.count_slots = true,
		.suffix = several ? snap_print(runtime, " (%s)", name) : "",
		.stack = index,
		.is_current = systhread == 0};
	bool complete;
	BASE_TRY(snap_walk_bytecode(runtime, &walk, words, sp, &complete, error));
	struct snap_stack *stack = &runtime->stacks[index];
	stack->frames = walk.frames;
	stack->complete = complete;
	return snap_read_local_roots(runtime, local_roots, name, index, error);
}

static enum hg_status read_stack_4(struct snap_runtime *runtime, uint32_t systhread, uint64_t sp,
	uint64_t return_address, uint64_t gc_regs, uint64_t local_roots, bool several,
	struct hg_error *error)
{
	uint32_t index;
	const struct snap_innermost *inner = systhread ? NULL : runtime->domains[0].innermost;
	BASE_TRY(snap_new_stack(runtime, 0, systhread, &index, error));
	const char *name = runtime->stacks[index].name;
	struct snap_stack_walk walk = {.roots = &runtime->roots,
		.count_slots = true,
		.suffix = several ? snap_print(runtime, " (%s)", name) : "",
		.stack = index};
	bool complete, repaired = inner && inner->is_repaired;
	if (repaired) {
		BASE_TRY(snap_add_conservative(runtime, &walk, inner, error));
		sp = inner->start_sp;
		return_address = inner->start_return;
		gc_regs = inner->is_leaving ? 0 : gc_regs;
	}
	BASE_TRY(snap_walk_stack4(runtime, &walk, sp, return_address, gc_regs, &complete, error));
	struct snap_stack *stack = &runtime->stacks[index];
	stack->frames = walk.frames;
	stack->repaired = repaired;
	stack->complete = complete;
	return snap_read_local_roots(runtime, local_roots, name, index, error);
}

/* That of Caml_state, on which the current thread runs. */
static enum hg_status read_current_stack_4(
	struct snap_runtime *runtime, bool several, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t state = runtime->domains[0].state;
	uint64_t local_roots = snap_word(runtime, state + l->caml_domain_state_local_roots);
	if (runtime->bytecode) {
		struct snap_range words = {
			snap_word(runtime, state + l->caml_domain_state_stack_low),
			snap_word(runtime, state + l->caml_domain_state_stack_high)};
		return read_bytecode_stack_4(runtime, 0, words,
			snap_word(runtime, state + l->caml_domain_state_extern_sp), local_roots,
			several, error);
	}
	return read_stack_4(runtime, 0,
		snap_word(runtime, state + l->caml_domain_state_bottom_of_stack),
		snap_word(runtime, state + l->caml_domain_state_last_return_address),
		snap_word(runtime, state + l->caml_domain_state_gc_regs), local_roots, several,
		error);
}

/* That of a thread which waits. */
static enum hg_status read_waiting_stack_4(
	struct snap_runtime *runtime, uint32_t k, uint64_t thread, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t local_roots = snap_word(runtime, thread + l->caml_thread_struct_local_roots);
	if (runtime->bytecode) {
		struct snap_range words = {
			snap_word(runtime, thread + l->caml_thread_struct_stack_low),
			snap_word(runtime, thread + l->caml_thread_struct_stack_high)};
		return read_bytecode_stack_4(runtime, k, words,
			snap_word(runtime, thread + l->caml_thread_struct_sp), local_roots, true,
			error);
	}
	return read_stack_4(runtime, k,
		snap_word(runtime, thread + l->caml_thread_struct_bottom_of_stack),
		snap_word(runtime, thread + l->caml_thread_struct_last_retaddr),
		snap_word(runtime, thread + l->caml_thread_struct_gc_regs), local_roots, true,
		error);
}

static enum hg_status read_threads_4(struct snap_runtime *runtime, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t current = snap_variable_word(runtime, "curr_thread");
	uint64_t thread = current ? snap_word(runtime, current + l->caml_thread_struct_next) : 0;
	bool several = current && thread != current;
	BASE_TRY(read_current_stack_4(runtime, several, error));
	if (!current)
		return HG_OK;
	BASE_TRY(snap_read_thread_roots(runtime, current, error));
	struct snap_list walk = {.words = SNAP_THREAD_WORDS};
	for (uint32_t k = 1; thread != current && snap_list_goes_on(runtime, &walk, thread); k++) {
		BASE_TRY(snap_read_thread_roots(runtime, thread, error));
		BASE_TRY(read_waiting_stack_4(runtime, k, thread, error));
		BASE_TRY(snap_read_memprof4_thread(runtime,
			snap_word(runtime, thread + l->caml_thread_struct_memprof_ctx), error));
		thread = snap_word(runtime, thread + l->caml_thread_struct_next);
	}
	return HG_OK;
}

static enum hg_status read_finalisers_4(struct snap_runtime *runtime, struct hg_error *error)
{
	static const struct {
		const char *variable, *name;
	} tables[] = {
		{"finalisable_first", "Gc.finalise"}, {"finalisable_last", "Gc.finalise_last"}};
	const struct snap_layout *l = runtime->layout;
	for (size_t i = 0; i < 2; i++) {
		uint64_t table = snap_variable(runtime, tables[i].variable);
		/* Both look alike. */
		const char *name = runtime->found ? "Gc.finalise or finalise_last" : tables[i].name;
		if (table)
			BASE_TRY(snap_read_finalisers(runtime,
				snap_word(runtime, table + l->finalisable_table),
				snap_word(runtime, table + l->finalisable_young), name, false,
				error));
	}
	return snap_read_finaliser_queue(
		runtime, snap_variable_word(runtime, "to_do_hd"), "Gc.finalise, waiting", error);
}

static enum hg_status read_roots_4(struct snap_runtime *runtime, struct hg_error *error)
{
	BASE_TRY(read_threads_4(runtime, error));
	BASE_TRY(read_finalisers_4(runtime, error));
	BASE_TRY(snap_add_ephemerons(
		runtime, snap_variable_word(runtime, "caml_ephe_list_head"), error));
	return snap_read_memprof4(runtime, error);
}

const struct snap_family snap_family_4 = {read_domain_4, read_areas_4, read_roots_4};
