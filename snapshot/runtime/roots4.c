/* Roots of 4.x besides those that it shares with 5.x: one domain, threads in a ring. */
#include "snapshot/runtime/parts.h"

static enum hg_status read_stack(struct snap_runtime *runtime, uint32_t systhread, uint64_t sp,
	uint64_t return_address, uint64_t gc_regs, uint64_t local_roots, bool several,
	struct hg_error *error)
{
	uint32_t index;
	const struct snap_thread_top *top = systhread ? NULL : runtime->domains[0].top;
	BASE_TRY(snap_new_stack(runtime, 0, systhread, &index, error));
	const char *name = runtime->stacks[index].name;
	struct snap_stack_walk walk = {.roots = &runtime->roots,
		.count_slots = true,
		.suffix = several ? snap_print(runtime, " (%s)", name) : "",
		.stack = index};
	bool complete, repaired = top && top->is_repaired;
	if (repaired) {
		BASE_TRY(snap_add_conservative(runtime, &walk, top, error));
		sp = top->start_sp;
		return_address = top->start_return;
		gc_regs = top->is_leaving ? 0 : gc_regs;
	}
	BASE_TRY(snap_walk_stack4(runtime, &walk, sp, return_address, gc_regs, &complete, error));
	struct snap_stack *stack = &runtime->stacks[index];
	stack->frames = walk.frames;
	stack->repaired = repaired;
	stack->complete = complete;
	return snap_read_local_roots(runtime, local_roots, name, index, error);
}

static enum hg_status read_threads(struct snap_runtime *runtime, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t state = runtime->domains[0].state;
	uint64_t current = snap_variable_word(runtime, "curr_thread");
	uint64_t thread = current ? snap_word(runtime, current + l->caml_thread_struct_next) : 0;
	bool several = current && thread != current;
	BASE_TRY(read_stack(runtime, 0,
		snap_word(runtime, state + l->caml_domain_state_bottom_of_stack),
		snap_word(runtime, state + l->caml_domain_state_last_return_address),
		snap_word(runtime, state + l->caml_domain_state_gc_regs),
		snap_word(runtime, state + l->caml_domain_state_local_roots), several, error));
	if (!current)
		return HG_OK;
	BASE_TRY(snap_read_thread_roots(runtime, current, error));
	struct snap_list walk = {.words = SNAP_THREAD_WORDS};
	for (uint32_t k = 1; thread != current && snap_list_goes_on(runtime, &walk, thread); k++) {
		BASE_TRY(snap_read_thread_roots(runtime, thread, error));
		BASE_TRY(read_stack(runtime, k,
			snap_word(runtime, thread + l->caml_thread_struct_bottom_of_stack),
			snap_word(runtime, thread + l->caml_thread_struct_last_retaddr),
			snap_word(runtime, thread + l->caml_thread_struct_gc_regs),
			snap_word(runtime, thread + l->caml_thread_struct_local_roots), true,
			error));
		BASE_TRY(snap_read_memprof4_thread(runtime,
			snap_word(runtime, thread + l->caml_thread_struct_memprof_ctx), error));
		thread = snap_word(runtime, thread + l->caml_thread_struct_next);
	}
	return HG_OK;
}

static enum hg_status read_finalisers(struct snap_runtime *runtime, struct hg_error *error)
{
	static const struct {
		const char *variable, *name;
	} tables[] = {
		{"finalisable_first", "Gc.finalise"}, {"finalisable_last", "Gc.finalise_last"}};
	const struct snap_layout *l = runtime->layout;
	for (size_t i = 0; i < 2; i++) {
		uint64_t table = snap_variable(runtime, tables[i].variable);
		if (table)
			BASE_TRY(snap_read_finalisers(runtime,
				snap_word(runtime, table + l->finalisable_table),
				snap_word(runtime, table + l->finalisable_young), tables[i].name,
				false, error));
	}
	return snap_read_finaliser_queue(
		runtime, snap_variable_word(runtime, "to_do_hd"), "Gc.finalise, waiting", error);
}

enum hg_status snap_read_roots4(struct snap_runtime *runtime, struct hg_error *error)
{
	BASE_TRY(read_threads(runtime, error));
	BASE_TRY(read_finalisers(runtime, error));
	BASE_TRY(snap_add_ephemerons(
		runtime, snap_variable_word(runtime, "caml_ephe_list_head"), error));
	return snap_read_memprof4(runtime, error);
}
