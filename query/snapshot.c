/*
 * Snapshots from hg_snapshot_open() to hg_snapshot_close(): what the file says of itself, the order
 * of the analysis, and the totals.
 */
#include "query/join/join.h"
#include "query/shared/memprof.h"
#include "query/places/index.h"
#include "query/shared/query.h"

#include "base/assert.h"
#include "base/grow.h"
#include "retype/profile/hgprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *hg_format_name(enum hg_format format)
{
	const struct snap_format *row = snap_format_row((unsigned)format);
	return row ? row->name : NULL;
}

static enum hg_status keep_string(
	struct hg_snapshot *snapshot, const char *string, const char **out)
{
	if (!string)
		return HG_OK;
	return base_pool_string(
		&snapshot->snap.pool, string, strlen(string), out, &snapshot->session->error);
}

/* What is needed of the input when the blocks are typed, which the caller may have freed then. */
static enum hg_status keep_options(struct hg_snapshot *snapshot, const struct hg_input *in)
{
	struct retype_options *options = &snapshot->retype_options;
	const char **directories;
	for (size_t i = 0; i < in->directory_count; i++)
		if (!in->directories || !in->directories[i])
			return base_fail(&snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
				"a directory of .cmt files is missing");
	BASE_TRY(base_pool_alloc(&snapshot->snap.pool, in->directory_count + 1, sizeof(char *),
		(void **)&directories, &snapshot->session->error));
	for (size_t i = 0; i < in->directory_count; i++)
		BASE_TRY(keep_string(snapshot, in->directories[i], &directories[i]));
	options->directories = directories;
	options->directory_count = in->directory_count;
	options->required = in->require_types;
	options->unneeded = in->without_types;
	options->without_samples = in->in_series;
	return keep_string(snapshot, in->types, &options->profile);
}

static void describe_chunks(const struct snap *snap, struct hg_info *out)
{
	for (uint64_t i = 0; i < snap->chunk_count; i++) {
		if (snap->chunks[i].segment != HG_SEGMENT_HEAP)
			continue;
		base_assert(snap->chunks[i].start < snap->chunks[i].end);
		out->chunks++;
		out->chunk_bytes += snap->chunks[i].end - snap->chunks[i].start;
	}
}

/* The number of the format's row in the table is that of the constant. */
static enum hg_format format_of(const struct snap *snap)
{
	unsigned index = 0;
	while (index < HG_FORMATS && snap_format_row(index) != snap->format)
		index++;
	base_assert(index < HG_FORMATS);
	return (enum hg_format)index;
}

static void fill_info(struct hg_snapshot *snapshot)
{
	const struct snap *snap = &snapshot->snap;
	struct hg_info *out = &snapshot->info;
	*out = (struct hg_info){
		.path = snap->path,
		.format = format_of(snap),
		.title = snap->format->title,
		.program = snap->program,
		.trigger = snap->trigger,
		.method = snap->method,
		.capture_consistency = snap->capture_consistency,
		.time_ns = snap->time,
		.ocaml_version = snap->ocaml_version,
		.profile = snap->profile,
		.profile_note = snap->profile_note,
		.partial = snap->partial ? snap->partial : "",
		.partial_offset = snap->partial ? snap->partial_offset : HG_NO_OFFSET,
		.native = snap->native,
		.word_size = 8,
		.reserved_bits = snap->reserved,
		.pid = snap->pid,
		.index = snap->index,
		.file_bytes = snap->file.size,
		.blocks = snap->block_count,
		.bytes = 8 * snap->word_count,
		.free_bytes = snap->accounts.free,
		.live_words = snap->live_words,
		.live_blocks = snap->live_blocks,
		.heap_bytes = snap->accounts.heap,
		.free_blocks = snap->accounts.free_blocks,
		.fragment_bytes = snap->accounts.fragments,
		.damaged_bytes = snap->accounts.damaged,
		.large_blocks = snap->accounts.large_blocks,
		.minor_bytes = snap->accounts.minor,
		.static_blocks = snap->static_count,
		.note_count = snap->note_count,
		.notes = snap->notes,
		.locations = snap->locations.entries,
		.location_conflicts = snap->locations.conflicts,
		.has_types = snapshot->retype.has_types,
		.type_profile = snapshot->retype.path ? snapshot->retype.path : "",
		.type_note = snapshot->retype.note ? snapshot->retype.note : "",
		.samples = snap->tracked_count,
		.samples_with_stack = snap->tracked_stacks,
		.sampling_rate_ppb = HG_UNKNOWN,
		.root_kinds = HG_ROOT_KINDS,
		.roots = snapshot->root_counts,
		.moment = snap->moment,
		.capture_moment = snap->capture_moment,
		.capture_method = snap->capture_method,
		.type_state = snapshot->analysed ? snapshot->retype.state : HG_TYPES_UNREAD,
		.all_roots_alike = snap->all_roots_alike,
	};
	if (snap->sampling_rate > 0)
		out->sampling_rate_ppb = (uint64_t)(snap->sampling_rate * 1e9 + 0.5);
	describe_chunks(snap, out);
	memset(snapshot->root_counts, 0, sizeof(snapshot->root_counts));
	for (uint64_t i = 0; i < snap->root_count; i++)
		snapshot->root_counts[snap->roots[i].kind]++;
}

/* Whatever the analysis and the questions took of the budget has come back. */
static void leave_session(struct hg_session *session)
{
	base_assert(session->snapshots > 0);
	session->snapshots--;
	base_assert(session->snapshots > 0 || session->budget.used == 0);
}

const struct hg_info *hg_snapshot_info(const struct hg_snapshot *snapshot)
{
	return snapshot ? &snapshot->info : NULL;
}

enum hg_status hg_snapshot_open(
	struct hg_session *session, const struct hg_input *input, struct hg_snapshot **out)
{
	struct hg_input in = {0};
	if (out)
		*out = NULL;
	if (!session)
		return HG_ERROR_USAGE;
	base_error_clear(&session->error);
	if (!out)
		return base_fail(
			&session->error, HG_ERROR_USAGE, HG_NO_OFFSET, "no place for the snapshot");
	if (input && input->size >= offsetof(struct hg_input, format))
		memcpy(&in, input, input->size < sizeof(in) ? input->size : sizeof(in));
	if (!in.path)
		return base_fail(&session->error, HG_ERROR_USAGE, HG_NO_OFFSET, "no path is given");
	struct hg_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	if (!snapshot)
		return base_no_memory(&session->error, sizeof(*snapshot));
	snapshot->session = session;
	session->snapshots++;
	enum hg_status status = snap_open(&snapshot->snap, session, &in, &session->error);
	if (status == HG_OK) {
		status = keep_options(snapshot, &in);
		if (status == HG_OK && in.memtrace)
			status = query_join_open(snapshot, in.memtrace);
		if (status != HG_OK)
			snap_release(&snapshot->snap);
	}
	if (status == HG_OK) {
		fill_info(snapshot);
		*out = snapshot;
	} else {
		query_join_release(snapshot->join);
		leave_session(session);
		free(snapshot);
	}
	return status;
}

struct told {
	enum hg_profile_kind kind;
	bool is_known;
};

/* The first bytes tell: the file need not be opened further. */
static enum hg_status tell_profile(
	void *data, const uint8_t *bytes, size_t size, struct hg_error *error)
{
	struct told *told = data;
	told->is_known = true;
	told->kind = retype_is_hgprof(bytes, size) ? HG_PROFILE_TYPES : HG_PROFILE_LOCATIONS;
	return base_fail(error, HG_ERROR_CANCELLED, HG_NO_OFFSET, "told");
}

enum hg_status hg_identify_profile(
	struct hg_session *session, const char *path, enum hg_profile_kind *out)
{
	struct base_file file;
	struct told told = {.is_known = false};
	if (!session)
		return HG_ERROR_USAGE;
	base_error_clear(&session->error);
	if (!path || !out)
		return base_fail(&session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			path ? "no place for the kind" : "no path is given");
	enum hg_status status = base_file_open_judged(
		&file, path, &session->unpack, tell_profile, &told, &session->error);
	if (!told.is_known)
		return status;
	base_error_clear(&session->error);
	*out = told.kind;
	return HG_OK;
}

void hg_snapshot_close(struct hg_snapshot *snapshot)
{
	if (!snapshot)
		return;
	query_pairs_release(&snapshot->classes);
	query_places_release(snapshot->places);
	free(snapshot->memprof_own);
	query_functions_release(&snapshot->functions);
	query_join_release(snapshot->join);
	retype_release(&snapshot->retype);
	snap_walk_release(&snapshot->lookup);
	graph_close(&snapshot->graph);
	snap_release(&snapshot->snap);
	leave_session(snapshot->session);
	free(snapshot);
}

enum hg_status hg_snapshot_complete(struct hg_snapshot *snapshot)
{
	if (!snapshot)
		return HG_ERROR_USAGE;
	const struct snap *snap = &snapshot->snap;
	bool lost = snapshot->lost || snapshot->retype.types.status == HG_ERROR_LIMIT ||
		    snap_process_lost(snap);
	if (!lost)
		return HG_OK;
	base_fail(&snapshot->session->error, HG_ERROR_LIMIT, HG_NO_OFFSET,
		"out of memory for what the report says of blocks and types");
	base_error_file(&snapshot->session->error, snap->path);
	return HG_ERROR_LIMIT;
}

const struct hg_chunk *hg_snapshot_chunk(struct hg_snapshot *snapshot, uint64_t index)
{
	if (!snapshot || index >= snapshot->snap.chunk_count)
		return NULL;
	const struct snap_chunk *chunk = &snapshot->snap.chunks[index];
	snapshot->chunk =
		(struct hg_chunk){chunk->start, chunk->end - chunk->start, chunk->segment};
	return &snapshot->chunk;
}

/*
 * The largest of the phases (graph.h): search and dominators hold about 34 bytes per block, and
 * 8 for each pointer; most pointers are in the search tree and cost less.
 */
uint64_t hg_snapshot_estimate(const struct hg_snapshot *snapshot)
{
	if (!snapshot)
		return 0;
	const struct snap *snap = &snapshot->snap;
	uint64_t granules = snap->granules.count + snap->ranks.granule_count;
	return granules * SNAP_GRANULE_LINES * sizeof(struct snap_line) + 34 * snap->block_count +
	       4 * snap->field_count + ((uint64_t)8 << 20);
}

static enum hg_status check_budget(const struct hg_snapshot *snapshot)
{
	const struct base_budget *budget = &snapshot->session->budget;
	uint64_t needed = budget->used + hg_snapshot_estimate(snapshot);
	if (budget->limit == 0 || needed <= budget->limit)
		return HG_OK;
	struct hg_error *error = &snapshot->session->error;
	base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
		"needs about %llu KB of memory, more than the limit of %llu KB",
		(unsigned long long)(needed >> 10), (unsigned long long)(budget->limit >> 10));
	base_error_file(error, snapshot->snap.path);
	return HG_ERROR_LIMIT;
}

static enum hg_status type_blocks(struct hg_snapshot *snapshot)
{
	struct hg_error *error = &snapshot->session->error;
	struct retype_options options = snapshot->retype_options;
	struct base_arena arena;
	uint64_t *unreached = NULL;
	BASE_TRY(retype_open(&snapshot->retype, &snapshot->snap, &options, error));
	BASE_TRY(base_arena_init(&arena, &snapshot->session->budget, "types", error));
	enum hg_status status = HG_OK;
	if (snapshot->retype.has_types)
		status = graph_unreached(&snapshot->graph, &arena, &unreached, error);
	options.unreached = unreached;
	if (status == HG_OK)
		status = retype_run(&snapshot->retype, &snapshot->snap, &options, error);
	base_arena_release(&arena);
	return status;
}

enum hg_status hg_snapshot_analyse(struct hg_snapshot *snapshot)
{
	if (!snapshot)
		return HG_ERROR_USAGE;
	struct hg_error *error = &snapshot->session->error;
	if (snapshot->analysed)
		return HG_OK;
	base_error_clear(error);
	if (snapshot->spent)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
			"an analysis of this snapshot failed; open it again");
	BASE_TRY(check_budget(snapshot));
	snapshot->spent = true;
	enum hg_status status = graph_open(&snapshot->graph, &snapshot->snap, error);
	if (status == HG_OK)
		status = snap_walk_init(&snapshot->lookup, &snapshot->snap, error);
	if (status == HG_OK)
		status = query_join_read(snapshot);
	if (status == HG_OK)
		status = type_blocks(snapshot);
	if (status == HG_OK)
		status = query_find_memprof(snapshot);
	if (status == HG_OK)
		status = snap_check_file(&snapshot->snap, error);
	if (status != HG_OK)
		base_error_file(error, snapshot->snap.path);
	snapshot->analysed = status == HG_OK;
	fill_info(snapshot);
	return status;
}

enum hg_status query_begin(struct hg_snapshot *snapshot)
{
	if (!snapshot)
		return HG_ERROR_USAGE;
	base_error_clear(&snapshot->session->error);
	if (snapshot->analysed)
		return HG_OK;
	return base_fail(&snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
		"the snapshot has not been analysed");
}

enum hg_status query_no_place(struct hg_snapshot *snapshot)
{
	BASE_TRY(query_begin(snapshot));
	return base_fail(&snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
		"there is no place for the result");
}

enum hg_status query_alloc(struct hg_snapshot *snapshot, uint64_t count, size_t size, void **out)
{
	*out = count > SIZE_MAX / 2 / size ? NULL : calloc(count ? count : 1, size);
	if (!*out)
		return base_no_memory(&snapshot->session->error, count * size);
	return HG_OK;
}

enum hg_status query_grow(
	struct hg_snapshot *snapshot, void *array, uint64_t count, uint64_t *capacity, size_t size)
{
	return base_grow(array, count, capacity, size, &snapshot->session->error);
}

/* Blocks come in order of addresses: the chunk is mostly that of the one before. */
static enum hg_segment count_segment(const struct snap *snap, uint64_t address, uint64_t bytes,
	const struct snap_chunk **chunk, struct hg_totals *out)
{
	if (!*chunk || address >= (*chunk)->end)
		*chunk = snap_chunk_at(snap, address);
	if (*chunk && (*chunk)->segment == HG_SEGMENT_STATIC) {
		out->static_blocks++;
		out->static_bytes += bytes;
	} else if (*chunk && (*chunk)->segment == HG_SEGMENT_MINOR) {
		out->minor_blocks++;
		out->minor_bytes += bytes;
	}
	return *chunk ? (*chunk)->segment : HG_SEGMENT_HEAP;
}

/*
 * Sums from the headers in the file: an account that owes nothing to the search and the dominator
 * tree, so that comparing the two means something.
 */
static enum hg_status count_all_blocks(struct hg_snapshot *snapshot, struct hg_totals *out)
{
	struct snap *snap = &snapshot->snap;
	struct snap_walk walk;
	struct snap_run run;
	uint32_t rank = 0;
	const struct snap_chunk *chunk = NULL;
	BASE_TRY(snap_walk_init(&walk, snap, &snapshot->session->error));
	snap_walk_range(&walk, 0, snap->entry_count);
	while (snap_walk_next(&walk, &run)) {
		struct snap_scan scan = snap_scan_run(snap, &run);
		struct snap_cell cell;
		while (rank < snap->block_count && snap_scan_next(&scan, &cell)) {
			uint64_t bytes = snap_block_bytes(cell.wosize);
			enum hg_confidence confidence;
			if (retype_of(&snapshot->retype, rank, cell.tag, &confidence).n) {
				out->typed_blocks++;
				out->typed_bytes += bytes;
			} else if (query_is_memprof_own(snapshot, rank)) {
				out->memprof_blocks++;
				out->memprof_bytes += bytes;
			}
			bool reachable = graph_reaches(snapshot->graph.position[rank++]);
			enum hg_segment segment =
				count_segment(snap, cell.address.a, bytes, &chunk, out);
			out->unreachable_heap_blocks += !reachable && segment == HG_SEGMENT_HEAP;
			*(reachable ? &out->reachable_blocks : &out->unreachable_blocks) += 1;
			*(reachable ? &out->reachable_bytes : &out->unreachable_bytes) += bytes;
			if (query_location(snap, &cell, &confidence) == 0)
				continue;
			out->located_blocks++;
			out->located_bytes += bytes;
			out->recovered_blocks += confidence == HG_INFERRED;
		}
	}
	snap_walk_release(&walk);
	base_assert(out->reachable_blocks + out->unreachable_blocks == rank);
	base_assert(out->typed_blocks + out->memprof_blocks <= rank);
	base_assert(out->recovered_blocks <= out->located_blocks);
	return HG_OK;
}

static enum hg_status count_totals(struct hg_snapshot *snapshot, struct hg_totals *out)
{
	const struct snap *snap = &snapshot->snap;
	const struct graph *g = &snapshot->graph;
	*out = (struct hg_totals){0};
	const uint64_t *outcomes = g->census.outcomes;
	out->blocks = snap->block_count;
	out->bytes = 8 * snap->word_count;
	out->retained_bytes = graph_retained(g, (struct graph_position){0});
	out->pointers = outcomes[SNAP_BLOCK] + outcomes[SNAP_INFIX] + outcomes[SNAP_FORWARDED];
	out->forwarded_pointers = outcomes[SNAP_FORWARDED];
	out->atom_pointers = outcomes[SNAP_ATOM];
	out->infix_pointers = outcomes[SNAP_INFIX];
	out->code_pointers = outcomes[SNAP_CODE];
	out->outside_pointers = outcomes[SNAP_OUTSIDE];
	base_assert(g->dangling_reached <= outcomes[SNAP_DANGLING]);
	out->dangling_pointers = g->dangling_reached;
	out->unreachable_dangling_pointers = outcomes[SNAP_DANGLING] - g->dangling_reached;
	out->immediates = g->census.immediates;
	out->roots = snap->root_count;
	for (uint64_t i = 0; i < snap->root_count; i++)
		out->root_targets += snap_resolve_node(snap, snap->roots[i].value) != HG_NO_NODE;
	out->shape_clashes = snapshot->retype.counts.shape_clashes;
	out->type_conflicts = snapshot->retype.counts.type_conflicts;
	out->static_conflicts = snapshot->retype.counts.static_conflicts;
	out->given_up_blocks = snapshot->retype.counts.given_up;
	out->sampled_blocks = snap->sampled_count;
	out->offheap_bytes = snap->offheap_count ? 0 : HG_UNKNOWN;
	for (uint64_t i = 0; i < snap->offheap_count; i++)
		out->offheap_bytes += snap->offheap[i].bytes;
	out->retained_offheap_bytes = graph_retained_offheap(g, (struct graph_position){0});
	out->mapped_file_bytes = snap->mapped_bytes;
	return count_all_blocks(snapshot, out);
}

enum hg_status hg_reconcile_memory(struct hg_snapshot *snapshot, const struct hg_memory **out)
{
	if (!out)
		return query_no_place(snapshot);
	*out = NULL;
	BASE_TRY(query_begin(snapshot));
	const struct snap *snap = &snapshot->snap;
	if (!snap->process)
		return HG_OK;
	if (!snapshot->reconciled)
		BASE_TRY(snap->process->memory(snap, &snapshot->memory, &snapshot->session->error));
	snapshot->reconciled = true;
	*out = &snapshot->memory;
	return HG_OK;
}

enum hg_status hg_count_totals(struct hg_snapshot *snapshot, const struct hg_totals **out)
{
	if (!out)
		return query_no_place(snapshot);
	*out = NULL;
	BASE_TRY(query_begin(snapshot));
	if (!snapshot->counted)
		BASE_TRY(count_totals(snapshot, &snapshot->totals));
	snapshot->counted = true;
	*out = &snapshot->totals;
	return HG_OK;
}
