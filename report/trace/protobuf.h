/*
 * Messages of Protocol Buffers, as far as writing a profile needs them: fields with varints,
 * strings, packed varints and messages.
 *
 * Source of the encoding: https://protobuf.dev/programming-guides/encoding/
 */
#ifndef REPORT_TRACE_PROTOBUF_H
#define REPORT_TRACE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message that grows; a zeroed one is empty. */
struct rep_message {
	uint8_t *bytes;
	uint64_t length, room;
	bool failed; /* no memory: it is not all there */
};

void rep_message_release(struct rep_message *message);

/* Field by number; a varint of 0 is left out, as that is what a reader takes it for. */
void rep_message_number(struct rep_message *message, unsigned field, uint64_t number);
void rep_message_bytes(
	struct rep_message *message, unsigned field, const void *bytes, uint64_t length);
/* A number alone: of a packed field, whose bytes it is added to. */
void rep_message_varint(struct rep_message *message, uint64_t number);
/* A message within, which is empty afterwards. */
void rep_message_put(struct rep_message *message, unsigned field, struct rep_message *inner);

#endif
