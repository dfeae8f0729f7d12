/* Roots of 5.x besides those that it shares with 4.x: per domain, and per thread of a domain. */
#include "snapshot/runtime/parts.h"

/* One stack of a domain, and the local roots of the C code on it. */
struct stack_source {
	uint32_t domain, systhread;
	uint64_t stack, gc_regs, local_roots;
	bool several;
};

static enum hg_status read_stack(
	struct snap_runtime *runtime, const struct stack_source *source, struct hg_error *error)
{
	uint32_t index;
	const struct snap_thread_top *top =
		source->systhread ? NULL : runtime->domains[source->domain].top;
	BASE_TRY(snap_new_stack(runtime, source->domain, source->systhread, &index, error));
	const char *name = runtime->stacks[index].name;
	struct snap_stack_walk walk = {.roots = &runtime->roots,
		.count_slots = true,
		.suffix = source->several ? snap_print(runtime, " (%s)", name) : "",
		.stack = index};
	bool complete, repaired = top && top->is_repaired;
	if (repaired)
		BASE_TRY(snap_add_conservative(runtime, &walk, top, error));
	uint64_t gc_regs = repaired && top->is_leaving ? 0 : source->gc_regs;
	BASE_TRY(snap_walk_stack5(
		runtime, &walk, source->stack, gc_regs, repaired ? top : NULL, &complete, error));
	struct snap_stack *stack = &runtime->stacks[index];
	stack->frames = walk.frames;
	stack->fibers = walk.fibers;
	stack->repaired = repaired;
	stack->complete = complete;
	return snap_read_local_roots(runtime, source->local_roots, name, index, error);
}

/* thread_table: per domain, by its number, a ring of threads that begins with the active one. */
static uint64_t active_thread(struct snap_runtime *runtime, uint32_t domain)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t table = snap_variable(runtime, "thread_table");
	if (table && l->domains_by_pointer)
		table = snap_word(runtime, table);
	if (!table)
		return 0;
	return snap_word(
		runtime, table + runtime->domains[domain].id * l->sizeof_caml_thread_table +
				 l->caml_thread_table_active_thread);
}

static enum hg_status read_threads(
	struct snap_runtime *runtime, uint32_t domain, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t state = runtime->domains[domain].state;
	uint64_t active = active_thread(runtime, domain);
	uint64_t thread = active ? snap_word(runtime, active + l->caml_thread_struct_next) : 0;
	struct stack_source source = {.domain = domain,
		.stack = snap_word(runtime, state + l->caml_domain_state_current_stack),
		.gc_regs = snap_word(runtime, state + l->caml_domain_state_gc_regs),
		.local_roots = snap_word(runtime, state + l->caml_domain_state_local_roots),
		.several = runtime->domain_count > 1 || (active && thread != active)};
	BASE_TRY(read_stack(runtime, &source, error));
	if (!active)
		return HG_OK;
	BASE_TRY(snap_read_thread_roots(runtime, active, error));
	struct snap_list walk = {.words = SNAP_THREAD_WORDS};
	for (source.systhread = 1; thread != active && snap_list_goes_on(runtime, &walk, thread);
		source.systhread++) {
		BASE_TRY(snap_read_thread_roots(runtime, thread, error));
		source.stack = snap_word(runtime, thread + l->caml_thread_struct_current_stack);
		source.gc_regs = snap_word(runtime, thread + l->caml_thread_struct_gc_regs);
		source.local_roots = snap_word(runtime, thread + l->caml_thread_struct_local_roots);
		BASE_TRY(read_stack(runtime, &source, error));
		thread = snap_word(runtime, thread + l->caml_thread_struct_next);
	}
	return HG_OK;
}

static enum hg_status read_finalisers(
	struct snap_runtime *runtime, uint64_t info, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t first = info + l->caml_final_info_first, last = info + l->caml_final_info_last;
	BASE_TRY(snap_read_finalisers(runtime, snap_word(runtime, first + l->finalisable_table),
		snap_word(runtime, first + l->finalisable_young), "Gc.finalise", false, error));
	BASE_TRY(snap_read_finalisers(runtime, snap_word(runtime, last + l->finalisable_table),
		snap_word(runtime, last + l->finalisable_young), "Gc.finalise_last", false, error));
	return snap_read_finaliser_queue(runtime,
		snap_word(runtime, info + l->caml_final_info_todo_head), "Gc.finalise, waiting",
		error);
}

static enum hg_status read_domain(
	struct snap_runtime *runtime, uint32_t domain, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t state = runtime->domains[domain].state;
	struct snap_root_source source = {
		.kind = HG_ROOT_OTHER, .name = "Domain.DLS", .stack = SNAP_NO_INDEX};
	if (runtime->domain_count > 1)
		source.name = snap_print(runtime, "Domain.DLS (domain %llu)",
			(unsigned long long)runtime->domains[domain].id);
	BASE_TRY(read_threads(runtime, domain, error));
	BASE_TRY(snap_read_root(
		runtime, &source, state + l->caml_domain_state_dls_root, HG_UNKNOWN, error));
	source.name = "last exception";
	BASE_TRY(snap_read_root(runtime, &source, state + l->caml_domain_state_backtrace_last_exn,
		HG_UNKNOWN, error));
	uint64_t finalisers = snap_word(runtime, state + l->caml_domain_state_final_info);
	if (finalisers)
		BASE_TRY(read_finalisers(runtime, finalisers, error));
	uint64_t ephemerons = snap_word(runtime, state + l->caml_domain_state_ephe_info);
	if (ephemerons) {
		BASE_TRY(snap_add_ephemerons(
			runtime, snap_word(runtime, ephemerons + l->caml_ephe_info_todo), error));
		BASE_TRY(snap_add_ephemerons(
			runtime, snap_word(runtime, ephemerons + l->caml_ephe_info_live), error));
	}
	if (l->memprof_domain_s_entries == SNAP_ABSENT)
		return HG_OK;
	return snap_read_memprof5(
		runtime, snap_word(runtime, state + l->caml_domain_state_memprof), error);
}

/* What domains that have ended left behind, until a domain adopts it. */
static enum hg_status read_orphans(struct snap_runtime *runtime, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t orphans = snap_variable(runtime, "orph_structs");
	if (orphans) {
		struct snap_list walk = {.words = SNAP_THREAD_WORDS};
		BASE_TRY(snap_add_ephemerons(runtime,
			snap_word(runtime, orphans + l->orph_structs_ephe_list_live), error));
		uint64_t info = snap_word(runtime, orphans + l->orph_structs_final_info);
		for (; snap_list_goes_on(runtime, &walk, info);
			info = snap_word(runtime, info + l->caml_final_info_next))
			BASE_TRY(read_finalisers(runtime, info, error));
	}
	if (l->memprof_domain_s_entries == SNAP_ABSENT)
		return HG_OK;
	return snap_read_memprof5_orphans(runtime, snap_variable_word(runtime, "orphans"), error);
}

enum hg_status snap_read_roots5(struct snap_runtime *runtime, struct hg_error *error)
{
	for (uint32_t i = 0; i < runtime->domain_count; i++)
		BASE_TRY(read_domain(runtime, i, error));
	return read_orphans(runtime, error);
}
