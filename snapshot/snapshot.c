/*
 * A snapshot: what loaders add to it, how it is opened, and where words in it lead.
 */
#include "snapshot/snapshot.h"

#include "base/assert.h"
#include "base/search.h"
#include "base/grow.h"

#include <string.h>

enum hg_status snap_add_chunk(struct snap *snap, uint64_t start, uint64_t end,
	enum hg_segment segment, uint64_t offset, struct hg_error *error)
{
	if (start < SNAP_ADDRESS_FIRST)
		return base_corrupt(error, offset, "a chunk at 0x%llx, where no heap can be",
			(unsigned long long)start);
	if (start > end || start % 8 || end % 8 || end > SNAP_ADDRESS_LIMIT)
		return base_corrupt(error, offset,
			"a chunk from 0x%llx to 0x%llx, which is no range of words",
			(unsigned long long)start, (unsigned long long)end);
	BASE_TRY(base_grow(&snap->chunks, snap->chunk_count, &snap->chunk_capacity,
		sizeof(*snap->chunks), error));
	snap->chunks[snap->chunk_count++] = (struct snap_chunk){start, end, offset, segment};
	return HG_OK;
}

enum hg_status snap_add_code(
	struct snap *snap, uint64_t start, uint64_t end, struct hg_error *error)
{
	base_assert(start < end);
	base_assert(!snap->code_count || snap->codes[snap->code_count - 1].end <= start);
	BASE_TRY(base_grow(
		&snap->codes, snap->code_count, &snap->code_capacity, sizeof(*snap->codes), error));
	snap->codes[snap->code_count++] = (struct snap_range){start, end};
	return HG_OK;
}

enum hg_status snap_add_link(struct snap *snap, uint32_t from, uint32_t to, struct hg_error *error)
{
	base_assert(from < snap_virtual_root(snap) && to < snap_virtual_root(snap));
	BASE_TRY(base_grow(
		&snap->links, snap->link_count, &snap->link_capacity, sizeof(*snap->links), error));
	snap->links[snap->link_count++] = (struct snap_link){from, to};
	return HG_OK;
}

enum hg_status snap_add_root(struct snap *snap, enum hg_root_kind kind, const char *name,
	uint64_t index, uint64_t value, struct hg_error *error)
{
	BASE_TRY(base_grow(
		&snap->roots, snap->root_count, &snap->root_capacity, sizeof(*snap->roots), error));
	snap->roots[snap->root_count++] =
		(struct snap_root){value, name, index, kind, SNAP_HOLD_ALWAYS};
	return HG_OK;
}

enum hg_status snap_add_entry(struct snap *snap, struct snap_header_address address,
	uint64_t offset, struct hg_error *error)
{
	/* Node numbers and ranks are 32 bits; the last ones mean "none". */
	if (snap->block_count > UINT32_MAX - 2 * SNAP_ENTRY_BLOCKS)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"more blocks than the 2^32 that this version can number");
	BASE_TRY(base_grow(&snap->entries, snap->entry_count, &snap->entry_capacity,
		sizeof(*snap->entries), error));
	snap->entries[snap->entry_count++] =
		(struct snap_index_entry){address, offset, 0, SNAP_ENTRY_BLOCKS};
	return HG_OK;
}

/* Loaders mostly meet index entries in order already. */
static bool entries_are_sorted(const struct snap *snap)
{
	for (uint64_t i = 1; i < snap->entry_count; i++)
		if (snap->entries[i].address.a < snap->entries[i - 1].address.a)
			return false;
	return true;
}

static int chunks_by_address(const void *a, const void *b)
{
	const struct snap_chunk *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int entries_by_address(const void *a, const void *b)
{
	const struct snap_index_entry *x = a, *y = b;
	return (x->address.a > y->address.a) - (x->address.a < y->address.a);
}

enum hg_status snap_end_blocks(struct snap *snap, struct hg_error *error)
{
	if (snap->chunk_count)
		qsort(snap->chunks, snap->chunk_count, sizeof(*snap->chunks), chunks_by_address);
	for (uint64_t i = 1; i < snap->chunk_count; i++) {
		const struct snap_chunk *chunk = &snap->chunks[i];
		if (chunk->start < chunk[-1].end)
			return base_corrupt(error, chunk->offset,
				"the chunk at 0x%llx overlaps the one at 0x%llx",
				(unsigned long long)chunk->start,
				(unsigned long long)chunk[-1].start);
	}
	if (!entries_are_sorted(snap))
		qsort(snap->entries, snap->entry_count, sizeof(*snap->entries), entries_by_address);
	base_assert(entries_are_sorted(snap));
	uint32_t rank = 0;
	for (uint64_t i = 0; i < snap->entry_count; i++) {
		base_assert(snap->entries[i].blocks >= 1 &&
			    snap->entries[i].blocks <= SNAP_ENTRY_BLOCKS);
		snap->entries[i].first_rank = rank;
		rank += snap->entries[i].blocks;
	}
	base_assert(rank == snap->block_count);
	return HG_OK;
}

enum hg_status snap_cut_short(
	struct snap *snap, uint64_t offset, const char *what, struct hg_error *error)
{
	if (!snap->accept_partial)
		return base_corrupt(error, offset,
			"the file ends in the middle of %s "
			"(--partial reads what is there)",
			what);
	snap->partial = what;
	snap->partial_offset = offset;
	return HG_OK;
}

const struct snap_chunk *snap_chunk_at(const struct snap *snap, uint64_t address)
{
	uint64_t i = BASE_FIRST_ABOVE(snap->chunks, snap->chunk_count, end, address);
	bool inside = i < snap->chunk_count && snap->chunks[i].start <= address;
	return inside ? &snap->chunks[i] : NULL;
}

static bool is_code(const struct snap *snap, uint64_t address)
{
	uint64_t i = BASE_FIRST_ABOVE(snap->codes, snap->code_count, end, address);
	return i < snap->code_count && snap->codes[i].start <= address;
}

/* Infix headers have a header bit of their own: the block is the last one before. */
static bool resolve_infix(const struct snap *snap, struct snap_header_address infix,
	struct snap_header_address *header)
{
	uint64_t word = snap_header_word(infix);
	const struct snap_line *line = snap_ranks_line(&snap->ranks, word);
	struct snap_rank rank;
	if (!((line->header & ~line->kept) >> (word & 63) & 1))
		return false;
	if (!snap_ranks_block_before(&snap->ranks, infix.a, &rank))
		return false;
	*header = snap_ranks_header(&snap->ranks, rank);
	base_assert(header->a < infix.a);
	return true;
}

/* Where a block went is a block that is no longer moved. */
static bool resolve_forward(const struct snap *snap, struct snap_header_address left,
	struct snap_header_address *header)
{
	uint64_t i = BASE_FIRST_FROM(snap->forwards, snap->forward_count, from, left.a);
	if (i == snap->forward_count || snap->forwards[i].from.a != left.a)
		return false;
	*header = snap->forwards[i].to;
	return snap_line_is_block(snap_ranks_line_of(&snap->ranks, *header), *header);
}

enum snap_outcome snap_resolve_stray(const struct snap *snap, uint64_t value)
{
	if (is_code(snap, value))
		return SNAP_CODE;
	uint64_t header = snap_pointed_header(value).a;
	if (header - snap->atoms.start < snap->atoms.end - snap->atoms.start)
		return SNAP_ATOM;
	/* Where its header would be: a static block without fields may end where a chunk begins. */
	return snap_chunk_at(snap, header) ? SNAP_DANGLING : SNAP_OUTSIDE;
}

enum snap_outcome snap_resolve(
	const struct snap *snap, uint64_t value, struct snap_header_address *header)
{
	struct snap_header_address pointed = snap_pointed_header(value);
	if (value % 8 == 0 && snap_ranks_spans(&snap->ranks, pointed)) {
		if (snap_line_is_block(snap_ranks_line_of(&snap->ranks, pointed), pointed)) {
			*header = pointed;
			return SNAP_BLOCK;
		}
		if (resolve_infix(snap, pointed, header))
			return SNAP_INFIX;
		if (snap->forward_count && resolve_forward(snap, pointed, header))
			return SNAP_FORWARDED;
	}
	return snap_resolve_stray(snap, value);
}

uint32_t snap_resolve_node(const struct snap *snap, uint64_t value)
{
	struct snap_header_address header = {0};
	if (value & 1 || !snap_outcome_is_block(snap_resolve(snap, value, &header)))
		return HG_NO_NODE;
	uint32_t node = snap_line_rank(snap_ranks_line_of(&snap->ranks, header), header).n;
	base_assert(node < snap->block_count);
	return node;
}

void snap_census_add(struct snap_census *to, const struct snap_census *from)
{
	for (unsigned i = 0; i < SNAP_OUTCOMES; i++)
		to->outcomes[i] += from->outcomes[i];
	to->immediates += from->immediates;
}

/* First link from a node not below the given one. */
static uint64_t links_from(const struct snap *snap, uint64_t node)
{
	return BASE_FIRST_FROM(snap->links, snap->link_count, from, node);
}

void snap_links(const struct snap *snap, uint32_t node, uint64_t *first, uint64_t *end)
{
	base_assert(node <= snap_virtual_root(snap));
	*first = links_from(snap, node);
	*end = links_from(snap, (uint64_t)node + 1);
	base_assert(*first <= *end && *end <= snap->link_count);
}

static const struct snap_sampled *find_sampled(
	const struct snap *snap, struct snap_header_address address)
{
	uint64_t i = BASE_FIRST_FROM(snap->sampled, snap->sampled_count, address, address.a);
	base_assert(i == 0 || snap->sampled[i - 1].address.a < address.a);
	bool found = i < snap->sampled_count && snap->sampled[i].address.a == address.a;
	return found ? &snap->sampled[i] : NULL;
}

uint32_t snap_sampled_location(const struct snap *snap, struct snap_header_address address)
{
	const struct snap_sampled *sampled = find_sampled(snap, address);
	return sampled ? sampled->location : 0;
}

uint32_t snap_sampled_call(const struct snap *snap, struct snap_header_address address)
{
	const struct snap_sampled *sampled =
		snap->told.call_count ? find_sampled(snap, address) : NULL;
	return sampled ? sampled->call : 0;
}

/* What the format is told by: the first bytes of a file that is still compressed. */
struct candidate {
	struct snap *snap;
	const char *named;
};

static enum hg_status choose_format(
	void *data, const uint8_t *bytes, size_t size, struct hg_error *error)
{
	const struct candidate *candidate = data;
	struct snap *snap = candidate->snap;
	const struct base_file head = {.bytes = bytes, .size = size};
	const char *name = base_file_name(snap->path), *named = candidate->named;
	snap->format = named ? snap_format_named(named) : snap_format_of(name, &head);
	if (snap->format)
		return HG_OK;
	if (named)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "unknown format '%s'", named);
	if (size == 0)
		return base_corrupt(error, 0, "is empty");
	return base_corrupt(error, 0,
		"is no heap snapshot of a known format ('heapgraph info' says what it is)");
}

/* The error of the check is that of the file, not what follows from it. */
enum hg_status snap_check_file(const struct snap *snap, struct hg_error *error)
{
	struct hg_error changed;
	base_error_clear(&changed);
	if (snap->file.compressed || base_file_check(&snap->file, snap->path, &changed) == HG_OK)
		return HG_OK;
	*error = changed;
	return HG_ERROR_INPUT;
}

/* The format needs no source of locations: one is passed over, anything else is a mistake. */
static enum hg_status judge_unneeded(
	void *data, const uint8_t *bytes, size_t size, struct hg_error *error)
{
	(void)data;
	if (snap_is_location_source(bytes, size))
		return HG_OK;
	return base_fail(error, HG_ERROR_INPUT, 0,
		"is no profile: those of types begin with 'hgprof 1', heapgraph-prof writes them");
}

static enum hg_status check_unneeded(
	const struct snap *snap, const char *named, struct hg_error *error)
{
	struct base_file file;
	BASE_TRY(base_file_open_judged(
		&file, named, &snap->session->unpack, judge_unneeded, NULL, error));
	base_file_close(&file);
	return HG_OK;
}

static enum hg_status load_snapshot(
	struct snap *snap, const struct hg_input *input, struct hg_error *error)
{
	BASE_TRY(base_arena_init(&snap->arena, &snap->session->budget, "snapshot", error));
	struct candidate candidate = {snap, input->format};
	BASE_TRY(base_file_open_judged(
		&snap->file, snap->path, &snap->session->unpack, choose_format, &candidate, error));
	base_file_sequential(&snap->file);
	enum hg_status status = snap->format->load(snap, input, error);
	/* What looks damaged may be what somebody does to the file. */
	if (status == HG_OK || status == HG_ERROR_INPUT)
		BASE_TRY(snap_check_file(snap, error));
	if (status != HG_OK)
		return status;
	if (snap->block_count + snap->root_count >= UINT32_MAX - 1)
		return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"more blocks and roots than the 2^32 that this version can number");
	if (snap->format->load_locations)
		return snap->format->load_locations(snap, input->profile, error);
	BASE_TRY(snap_locations_init(&snap->locations, error));
	return input->profile ? check_unneeded(snap, input->profile, error) : HG_OK;
}

enum hg_status snap_open(struct snap *snap, struct hg_session *session,
	const struct hg_input *input, struct hg_error *error)
{
	*snap = (struct snap){
		.session = session,
		.accept_partial = input->partial,
		.all_roots_alike = input->all_roots_alike,
		.integers_recorded = true,
		.program = "",
		.executable = "",
		.trigger = "",
		.method = "",
		.capture_consistency = "",
		.time = HG_UNKNOWN,
		.ocaml_version = "",
		.profile = "",
		.profile_note = "",
		.pid = HG_UNKNOWN,
		.index = HG_UNKNOWN,
		.tracked_count = HG_UNKNOWN,
		.tracked_stacks = HG_UNKNOWN,
		.live_words = HG_UNKNOWN,
		.live_blocks = HG_UNKNOWN,
		.accounts = {.free = HG_UNKNOWN,
			.free_blocks = HG_UNKNOWN,
			.fragments = HG_UNKNOWN,
			.heap = HG_UNKNOWN,
			.minor = HG_UNKNOWN,
			.damaged = HG_UNKNOWN,
			.large_blocks = HG_UNKNOWN},
	};
	enum hg_status status =
		base_pool_string(&snap->pool, input->path, strlen(input->path), &snap->path, error);
	if (status == HG_OK)
		status = load_snapshot(snap, input, error);
	if (status != HG_OK) {
		if (status != HG_ERROR_USAGE)
			base_error_file(error, input->path);
		snap_release(snap);
	}
	return status;
}

void snap_release(struct snap *snap)
{
	if (snap->format && snap->format->release)
		snap->format->release(snap);
	free(snap->chunks);
	free(snap->codes);
	free(snap->ephemerons);
	free(snap->ephemeron_keys);
	free(snap->sampled);
	snap_told_release(&snap->told);
	free(snap->forwards);
	free(snap->entries);
	free(snap->roots);
	free(snap->links);
	free(snap->outside);
	free(snap->offheap);
	snap_granules_release(&snap->granules);
	snap_locations_release(&snap->locations);
	base_file_close(&snap->file);
	base_arena_release(&snap->arena);
	base_pool_release(&snap->pool);
	*snap = (struct snap){0};
}
