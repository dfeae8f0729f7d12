/* Headers of packets: 66 bytes, from version 3 on with the domain 68. */
#include "trace/memtrace/packets.h"

enum { FIRST_WITH_DOMAIN = 3, BITS = 8 };

/* MEMTRACE_MAGIC as it stands in the file. */
static const uint8_t magic_bytes[] = {0xc1, 0x1f, 0xfc, 0xc1};

static bool read_packet_header(struct base_cursor *c, struct memtrace_packet *packet)
{
	uint32_t magic, bits, flush_duration;
	uint16_t version;
	if (!base_cursor_u32le(c, &magic) || magic != MEMTRACE_MAGIC ||
		!base_cursor_u32le(c, &bits) || !base_cursor_u64le(c, &packet->begin) ||
		!base_cursor_u64le(c, &packet->end) || !base_cursor_u32le(c, &flush_duration) ||
		!base_cursor_u16le(c, &version) || !base_cursor_u64le(c, &packet->pid))
		return false;
	packet->size = bits / BITS;
	packet->version = version;
	packet->domain = 0;
	return (version < FIRST_WITH_DOMAIN || base_cursor_u16le(c, &packet->domain)) &&
	       base_cursor_u16le(c, &packet->verifier.slot) &&
	       base_cursor_u16le(c, &packet->verifier.next) &&
	       base_cursor_u64le(c, &packet->verifier.code) &&
	       base_cursor_u64le(c, &packet->first_object) &&
	       base_cursor_u64le(c, &packet->end_object) && bits % BITS == 0;
}

/* The packet that begins at 'c', behind which the file has 'left' bytes. */
static enum memtrace_found judge_packet(
	struct base_cursor c, uint64_t offset, uint64_t left, struct memtrace_packet *packet)
{
	const uint8_t *first, *start = c.next;
	*packet = (struct memtrace_packet){.offset = offset};
	if (!left)
		return MEMTRACE_END;
	const size_t known = left < sizeof(magic_bytes) ? (size_t)left : sizeof(magic_bytes);
	struct base_cursor magic = c;
	if (!base_cursor_bytes(&magic, known, &first) || memcmp(first, magic_bytes, known) != 0)
		return MEMTRACE_NO_PACKET;
	if (!read_packet_header(&c, packet))
		return left < MEMTRACE_HEADER_V1 + 2 ? MEMTRACE_CUT : MEMTRACE_NO_PACKET;
	packet->header_size = (uint64_t)(c.next - start);
	if (packet->size < packet->header_size)
		return MEMTRACE_NO_PACKET;
	return packet->size > left ? MEMTRACE_CUT : MEMTRACE_PACKET;
}

enum memtrace_found memtrace_packet_at(struct memtrace_window *window, uint64_t offset,
	struct memtrace_packet *packet, struct hg_error *error)
{
	struct base_cursor c, rest = window->file;
	*packet = (struct memtrace_packet){.offset = offset};
	if (!base_cursor_seek(&rest, offset))
		return MEMTRACE_END;
	if (memtrace_window_at(window, offset, MEMTRACE_HEADER_V1 + 2, &c, error) != HG_OK)
		return MEMTRACE_UNREADABLE;
	return judge_packet(c, offset, base_cursor_left(&rest), packet);
}

bool memtrace_packet_behind(struct base_cursor file, uint64_t offset, unsigned version,
	uint64_t pid, struct memtrace_packet *packet)
{
	struct base_cursor c = file;
	while (base_cursor_seek(&c, offset)) {
		const uint8_t *found =
			memmem(c.next, base_cursor_left(&c), magic_bytes, sizeof(magic_bytes));
		if (!found)
			return false;
		offset = (uint64_t)(found - file.start);
		c.next = found;
		if (judge_packet(c, offset, base_cursor_left(&c), packet) == MEMTRACE_PACKET &&
			packet->version == version && packet->pid == pid)
			return true;
		offset++;
	}
	return false;
}
