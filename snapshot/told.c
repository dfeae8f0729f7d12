/* Call stacks that are told, as text. */
#include "snapshot/told.h"

#include "base/assert.h"

#include <stdio.h>

static const char between[] = " < ";

static size_t told_length(int length)
{
	return length > 0 ? (size_t)length : 0;
}

size_t snap_put_frame(
	const char *function, const struct snap_location *at, char *buffer, size_t size)
{
	return told_length(snprintf(buffer, size, "%s%s%s:%d:%u-%u", function,
		function[0] ? " " : "", at->file, at->line, at->start, at->end));
}

/* Where a line of this length goes on, and how much room there is. */
static char *told_end(char *buffer, size_t size, size_t length, size_t *left)
{
	*left = length < size ? size - length : 0;
	return *left ? buffer + length : NULL;
}

void snap_append_frame(const char *function, const struct snap_location *at, char *buffer,
	size_t size, size_t *length)
{
	size_t left;
	char *end = told_end(buffer, size, *length, &left);
	if (*length) {
		*length += told_length(snprintf(end, left, "%s", between));
		end = told_end(buffer, size, *length, &left);
	}
	*length += snap_put_frame(function, at, end, left);
}

void snap_append_rest(char *buffer, size_t size, size_t *length)
{
	size_t left;
	char *end = told_end(buffer, size, *length, &left);
	*length += told_length(snprintf(end, left, "%s...", between));
}

/* The frames of a stack, one after the other. */
struct told_walk {
	const struct snap_told *told;
	uint32_t call, frame; /* of its place */
	unsigned calls;       /* that were begun */
};

static const struct snap_told_frame *next_told_frame(struct told_walk *walk)
{
	const struct snap_told *told = walk->told;
	while (walk->call && walk->calls < SNAP_MOST_CALLS) {
		base_assert(walk->call < told->call_count);
		const struct snap_told_call *call = &told->calls[walk->call];
		const struct snap_told_place *place = &told->places[call->place];
		if (walk->frame < place->count)
			return &told->frames[place->first + walk->frame++];
		base_assert(call->caller < walk->call);
		walk->call = call->caller;
		walk->frame = 0;
		walk->calls++;
	}
	return NULL;
}

size_t snap_put_told_frame(
	const struct snap_told *told, uint32_t call, uint64_t frame, char *buffer, size_t size)
{
	struct told_walk walk = {.told = told, .call = call};
	const struct snap_told_frame *at = next_told_frame(&walk);
	for (uint64_t i = 0; at && i < frame; i++)
		at = next_told_frame(&walk);
	return at ? snap_put_frame(at->function, &at->at, buffer, size) : 0;
}

size_t snap_put_told_stack(const struct snap_told *told, uint32_t call, char *buffer, size_t size)
{
	struct told_walk walk = {.told = told, .call = call};
	const struct snap_told_frame *frame;
	size_t length = 0;
	while ((frame = next_told_frame(&walk)))
		snap_append_frame(frame->function, &frame->at, buffer, size, &length);
	if (walk.call)
		snap_append_rest(buffer, size, &length);
	return length;
}

uint64_t snap_told_locations(
	const struct snap_told *told, uint32_t call, struct snap_location *out, uint64_t capacity)
{
	struct told_walk walk = {.told = told, .call = call};
	const struct snap_told_frame *frame;
	uint64_t found = 0;
	while ((frame = next_told_frame(&walk))) {
		if (!frame->at.file[0])
			continue;
		if (found < capacity)
			out[found] = frame->at;
		found++;
	}
	return found;
}
