/* Whose memory outside the heap is. */
#include "snapshot/offheap.h"

#include "base/grow.h"
#include "base/search.h"

#include <stdlib.h>

static int compare_outside(const void *a, const void *b)
{
	const struct snap_outside *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (x->view != y->view)
		return x->view > y->view ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

void snap_sort_outside(struct snap *snap)
{
	if (snap->outside_count)
		qsort(snap->outside, snap->outside_count, sizeof(*snap->outside), compare_outside);
}

static int offheap_by_rank(const void *a, const void *b)
{
	const struct snap_offheap *x = a, *y = b;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Those of a block become one entry. */
static void merge_ranks(struct snap *snap)
{
	uint64_t kept = 0;
	if (snap->offheap_count == 0)
		return;
	qsort(snap->offheap, snap->offheap_count, sizeof(*snap->offheap), offheap_by_rank);
	for (uint64_t i = 1; i < snap->offheap_count; i++) {
		if (snap->offheap[i].rank == snap->offheap[kept].rank)
			snap->offheap[kept].bytes += snap->offheap[i].bytes;
		else
			snap->offheap[++kept] = snap->offheap[i];
	}
	snap->offheap_count = kept + 1;
}

static enum hg_status add_offheap(
	struct snap *snap, uint32_t rank, uint64_t bytes, struct hg_error *error)
{
	BASE_TRY(base_grow(&snap->offheap, snap->offheap_count, &snap->offheap_capacity,
		sizeof(*snap->offheap), error));
	snap->offheap[snap->offheap_count++] = (struct snap_offheap){rank, bytes};
	return HG_OK;
}

enum hg_status snap_settle_offheap(
	struct snap *snap, snap_reached_fn *reached, const void *data, struct hg_error *error)
{
	uint64_t covered = 0, i = 0;
	for (; i < snap->outside_count && snap->outside[i].end == 0; i++) {
		BASE_TRY(add_offheap(snap, snap->outside[i].rank, snap->outside[i].view, error));
		snap->unplaced_bytes += snap->outside[i].view;
	}
	for (uint64_t end; i < snap->outside_count; i = end) {
		const struct snap_outside *first = &snap->outside[i], *owner = NULL;
		for (end = i;
			end < snap->outside_count && snap->outside[end].start == first->start &&
			snap->outside[end].end == first->end;
			end++)
			if (!owner && reached(data, snap->outside[end].rank))
				owner = &snap->outside[end];
		if (!owner)
			owner = first;
		/* Memory that overlaps is shared, too: somebody made blocks for it by himself. */
		uint64_t from = first->start > covered ? first->start : covered;
		if (first->end <= from)
			continue;
		covered = first->end;
		if (owner->is_file) {
			snap->mapped_bytes += first->end - from;
			continue;
		}
		BASE_TRY(add_offheap(snap, owner->rank, first->end - from, error));
	}
	merge_ranks(snap);
	return HG_OK;
}

uint64_t snap_offheap_bytes(const struct snap *snap, uint32_t rank)
{
	uint64_t i = BASE_FIRST_FROM(snap->offheap, snap->offheap_count, rank, rank);
	return i < snap->offheap_count && snap->offheap[i].rank == rank ? snap->offheap[i].bytes
									: 0;
}
