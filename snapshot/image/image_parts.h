/*
 * What image.c (the core, and reading) and image_files.c (the files that were mapped) share.
 */
#ifndef SNAPSHOT_IMAGE_IMAGE_PARTS_H
#define SNAPSHOT_IMAGE_IMAGE_PARTS_H

#include "snapshot/image/image.h"

/*
 * Of disjoint ranges in order of addresses, the first that ends behind an address.  Loads, pieces
 * and mappings all begin with their start and end.
 */
static inline uint64_t snap_find_range(
	const void *ranges, uint64_t count, size_t stride, uint64_t address)
{
	const uint8_t *bytes = ranges;
	uint64_t low = 0, high = count, end;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		memcpy(&end, bytes + middle * stride + sizeof(end), sizeof(end));
		if (end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static inline bool snap_map_holds(const struct snap_file_map *map, uint64_t address)
{
	return address >= map->start && address < map->end;
}

/* Bytes that the core itself holds, up to the end of their segment; NULL and 0 if it has none. */
const uint8_t *snap_core_bytes(const struct snap_image *image, uint64_t address, uint64_t *size);

/* Puts mappings in order of addresses; fails when they overlap. */
enum hg_status snap_sort_maps(struct snap_image *image, struct hg_error *error);

/* After the core has been read: finds and opens the files it maps, and lays out the pieces. */
enum hg_status snap_image_find_files(
	struct snap_image *image, const struct snap_image_options *options, struct hg_error *error);

#endif
