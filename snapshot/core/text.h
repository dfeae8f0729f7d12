/*
 * Words about blocks of a core, for the table of its process (process.h).
 */
#ifndef SNAPSHOT_CORE_TEXT_H
#define SNAPSHOT_CORE_TEXT_H

#include "snapshot/core/state.h"
#include "snapshot/process.h"

size_t elfcore_code_name(const struct snap *snap, uint64_t value, char *buffer, size_t size);
size_t elfcore_custom_name(
	const struct snap *snap, struct snap_rank rank, char *buffer, size_t size);
size_t elfcore_call_frame(
	const struct snap *snap, struct snap_rank rank, uint64_t frame, char *buffer, size_t size);
uint64_t elfcore_call_locations(const struct snap *snap, struct snap_rank rank,
	struct snap_location *out, uint64_t capacity);
size_t elfcore_call_stack(
	const struct snap *snap, struct snap_header_address address, char *buffer, size_t size);
bool elfcore_code_symbol(const struct snap *snap, uint64_t address, struct snap_code_symbol *out);
uint64_t elfcore_code_locations(const struct snap *snap, struct snap_range code,
	struct snap_location *out, uint64_t capacity);
bool elfcore_code_line(const struct snap *snap, uint64_t address, struct snap_location *out);
bool elfcore_captured(
	const struct snap *snap, uint64_t code, uint64_t field, struct snap_captured *out);
bool elfcore_is_call_stack(const struct snap *snap, const struct snap_cell *cell, bool is_likely);
bool elfcore_sample_id(const struct snap *snap, struct snap_rank rank, int64_t *id);
bool elfcore_tracked(const struct snap *snap, uint64_t index, struct snap_tracked *out);

#endif
