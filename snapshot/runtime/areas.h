/*
 * Which parts of the address space are what: areas of the heap; static data, code and the other
 * ranges that the runtime knows of (areas_ranges.c).
 */
#ifndef SNAPSHOT_RUNTIME_AREAS_H
#define SNAPSHOT_RUNTIME_AREAS_H

#include "snapshot/runtime/state.h"

/* The area, static data or code that holds an address; NULL or false if none does. */
const struct snap_area *snap_runtime_area(const struct snap_runtime *runtime, uint64_t address);
bool snap_runtime_is_static(const struct snap_runtime *runtime, uint64_t address);
bool snap_runtime_is_code(const struct snap_runtime *runtime, uint64_t address);

/* What 4.x' page table says of an address; 0 for everything outside, and on 5.x. */
enum { SNAP_PAGE_HEAP = 1, SNAP_PAGE_YOUNG = 2, SNAP_PAGE_STATIC = 4, SNAP_PAGE_CODE = 8 };
unsigned snap_runtime_page(struct snap_runtime *runtime, uint64_t address);

/* Pools and large blocks of 5.x, and its minor heaps (areas_5.c). */
enum hg_status snap_read_areas_5(struct snap_runtime *runtime, struct hg_error *error);

/* Adds to the list of areas, which is to be sorted before it is searched. */
enum hg_status snap_add_area(
	struct snap_runtime *runtime, const struct snap_area *area, struct hg_error *error);
/* The used part of a minor heap: from 'young_ptr', or what a running thread has in its register. */
enum hg_status snap_add_minor_area(struct snap_runtime *runtime, uint32_t domain,
	uint64_t young_ptr, uint64_t end, struct hg_error *error);
/* Areas that overlap others are left out. */
void snap_sort_areas(struct snap_runtime *runtime);

/* Ranges of code and static data; atoms; page table. */
enum hg_status snap_read_ranges(struct snap_runtime *runtime, struct hg_error *error);

#endif
