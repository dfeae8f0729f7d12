/* Writing of Protocol Buffers. */
#include "report/trace/protobuf.h"

#include <stdlib.h>
#include <string.h>

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

void rep_message_release(struct rep_message *message)
{
	free(message->bytes);
	*message = (struct rep_message){0};
}

static void add_to_message(struct rep_message *message, const void *bytes, uint64_t length)
{
	if (length > message->room - message->length && !message->failed) {
		uint64_t room = 2 * (message->length + length) + 64;
		void *bigger =
			room < length || room > SIZE_MAX / 2 ? NULL : realloc(message->bytes, room);
		message->failed = !bigger;
		message->bytes = bigger ? bigger : message->bytes;
		message->room = bigger ? room : message->room;
	}
	if (message->failed || !length)
		return;
	memcpy(message->bytes + message->length, bytes, length);
	message->length += length;
}

void rep_message_varint(struct rep_message *message, uint64_t number)
{
	uint8_t bytes[10];
	unsigned count = 0;
	for (; number >= 0x80; number >>= 7)
		bytes[count++] = (uint8_t)(number | 0x80);
	bytes[count++] = (uint8_t)number;
	add_to_message(message, bytes, count);
}

void rep_message_number(struct rep_message *message, unsigned field, uint64_t number)
{
	if (!number)
		return;
	rep_message_varint(message, field << 3 | WIRE_VARINT);
	rep_message_varint(message, number);
}

void rep_message_bytes(
	struct rep_message *message, unsigned field, const void *bytes, uint64_t length)
{
	rep_message_varint(message, field << 3 | WIRE_BYTES);
	rep_message_varint(message, length);
	add_to_message(message, bytes, length);
}

void rep_message_put(struct rep_message *message, unsigned field, struct rep_message *inner)
{
	rep_message_bytes(message, field, inner->bytes, inner->length);
	message->failed |= inner->failed;
	inner->length = 0;
}
