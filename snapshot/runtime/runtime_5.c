/*
 * What is only in the runtimes of 5.x: many domains, each with threads, finalisers and ephemerons
 * of its own, and what ended ones left behind.  Their heaps are read in areas_5.c.
 */
#include "snapshot/runtime/runtime.h"

#include "snapshot/runtime/reader.h"

#include <stdlib.h>

/* Domains */

enum { MOST_DOMAINS = 4096 };

struct states {
	uint64_t items[MOST_DOMAINS];
	uint32_t count;
	struct base_map seen;
};

static enum hg_status add_state(const struct snap_runtime *runtime, struct states *states,
	uint64_t state, struct hg_error *error)
{
	uint64_t probe;
	bool added;
	if (!state || states->count == MOST_DOMAINS ||
		!snap_image_u64(runtime->image, state, &probe))
		return HG_OK;
	BASE_TRY(base_map_note(&states->seen, state, &added, error));
	if (added)
		states->items[states->count++] = state;
	return HG_OK;
}

/* Those that take part in stop-the-world sections: all that run. */
static enum hg_status participating_domains(
	struct snap_runtime *runtime, struct states *states, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t stw = snap_variable(runtime, "stw_domains");
	if (!stw)
		return HG_OK;
	uint32_t count = snap_half(runtime, stw + l->stw_domains_participating_domains);
	uint64_t array = stw + l->stw_domains_domains;
	if (l->domains_by_pointer)
		array = snap_word(runtime, array);
	for (uint32_t i = 0; i < count && i < MOST_DOMAINS; i++) {
		uint64_t domain = snap_word(runtime, array + 8 * (uint64_t)i);
		if (domain)
			BASE_TRY(add_state(runtime, states,
				snap_word(runtime, domain + l->dom_internal_state), error));
	}
	return HG_OK;
}

/* Of threads: a thread that waits in a blocking section has NULL. */
static enum hg_status domains_of_threads(
	struct snap_runtime *runtime, struct states *states, struct hg_error *error)
{
	struct snap_symbol symbol;
	uint64_t address;
	if (!snap_image_main_symbol(runtime->image, "caml_state", &symbol))
		return HG_OK;
	for (uint64_t i = 0; i < runtime->image->thread_count; i++)
		if (snap_thread_variable(
			    runtime->image, &runtime->image->threads[i], &symbol, &address))
			BASE_TRY(add_state(runtime, states, snap_word(runtime, address), error));
	return HG_OK;
}

static enum hg_status find_domains(struct snap_runtime *runtime, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	struct states *states = calloc(1, sizeof(*states));
	void *domains;
	if (!states)
		return base_no_memory(error, sizeof(*states));
	enum hg_status status = participating_domains(runtime, states, error);
	if (status == HG_OK)
		status = domains_of_threads(runtime, states, error);
	if (status == HG_OK)
		status = base_pool_alloc(
			&runtime->pool, states->count, sizeof(struct snap_domain), &domains, error);
	if (status == HG_OK && states->count == 0)
		status = base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"the OCaml runtime of '%s' has no domain: not started, or its data are "
			"missing",
			runtime->image->program);
	if (status == HG_OK)
		runtime->domains = domains;
	for (uint32_t i = 0; status == HG_OK && i < states->count; i++) {
		uint64_t state = states->items[i];
		runtime->domains[i] = (struct snap_domain){.state = state,
			.id = snap_half(runtime, state + l->caml_domain_state_id),
			.minor = {snap_word(runtime, state + l->caml_domain_state_young_start),
				snap_word(runtime, state + l->caml_domain_state_young_end)}};
	}
	runtime->domain_count = status == HG_OK ? states->count : 0;
	base_map_release(&states->seen);
	free(states);
	return status;
}

/* Counters */

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

static void read_statistics_5(struct snap_runtime *runtime)
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

static enum hg_status read_domains_5(struct snap_runtime *runtime, struct hg_error *error)
{
	BASE_TRY(find_domains(runtime, error));
	read_statistics_5(runtime);
	return HG_OK;
}

/* Roots */

/* One stack of a domain, and the local roots of the C code on it. */
struct stack_source {
	uint32_t domain, systhread;
	uint64_t stack, gc_regs, local_roots;
	bool several;
};

static enum hg_status read_stack_5(
	struct snap_runtime *runtime, const struct stack_source *source, struct hg_error *error)
{
	uint32_t index;
	const struct snap_innermost *inner =
		source->systhread ? NULL : runtime->domains[source->domain].innermost;
	BASE_TRY(snap_new_stack(runtime, source->domain, source->systhread, &index, error));
	const char *name = runtime->stacks[index].name;
	struct snap_stack_walk walk = {.roots = &runtime->roots,
		.count_slots = true,
		.suffix = source->several ? snap_print(runtime, " (%s)", name) : "",
		.stack = index,
		.is_current = source->systhread == 0};
	bool complete, repaired = inner && inner->is_repaired;
	if (repaired)
		BASE_TRY(snap_add_conservative(runtime, &walk, inner, error));
	uint64_t gc_regs = repaired && inner->is_leaving ? 0 : source->gc_regs;
	BASE_TRY(snap_walk_stack5(
		runtime, &walk, source->stack, gc_regs, repaired ? inner : NULL, &complete, error));
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

static enum hg_status read_threads_5(
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
	BASE_TRY(read_stack_5(runtime, &source, error));
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
		BASE_TRY(read_stack_5(runtime, &source, error));
		thread = snap_word(runtime, thread + l->caml_thread_struct_next);
	}
	return HG_OK;
}

static enum hg_status read_finalisers_5(
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
	BASE_TRY(read_threads_5(runtime, domain, error));
	BASE_TRY(snap_read_root(
		runtime, &source, state + l->caml_domain_state_dls_root, HG_UNKNOWN, error));
	source.name = "last exception";
	BASE_TRY(snap_read_root(runtime, &source, state + l->caml_domain_state_backtrace_last_exn,
		HG_UNKNOWN, error));
	uint64_t finalisers = snap_word(runtime, state + l->caml_domain_state_final_info);
	if (finalisers)
		BASE_TRY(read_finalisers_5(runtime, finalisers, error));
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
			BASE_TRY(read_finalisers_5(runtime, info, error));
	}
	if (l->memprof_domain_s_entries == SNAP_ABSENT)
		return HG_OK;
	return snap_read_memprof5_orphans(runtime, snap_variable_word(runtime, "orphans"), error);
}

static enum hg_status read_roots_5(struct snap_runtime *runtime, struct hg_error *error)
{
	for (uint32_t i = 0; i < runtime->domain_count; i++)
		BASE_TRY(read_domain(runtime, i, error));
	return read_orphans(runtime, error);
}

const struct snap_family snap_family_5 = {read_domains_5, snap_read_areas_5, read_roots_5};
