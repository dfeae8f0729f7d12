/* Custom blocks (runtime/caml/custom.h, bigarray.h, io.h). */
#include "snapshot/runtime/custom.h"

#include "snapshot/runtime/reader.h"

#include <string.h>

/* struct caml_ba_array after the operations: data, num_dims, flags, proxy, dim[] */
enum { DATA = 8, DIMENSIONS = 16, FLAGS = 24, PROXY = 32, DIMENSION = 40, MOST_DIMENSIONS = 16 };

enum { KIND_MASK = 0xff, MANAGED_MASK = 0x600, MANAGED = 0x200, MAPPED_FILE = 0x400 };

/* struct caml_ba_proxy: refcount, data, size (of files only) */
enum { PROXY_DATA = 8 };

/* By kind: float32, float64, int8, uint8, int16, uint16, int32, int64, int, nativeint, complex32,
   complex64, char, and from 5.2 on float16 */
static const uint8_t element_bytes[] = {4, 8, 1, 1, 2, 2, 4, 8, 8, 8, 8, 16, 1, 2};

static bool bytes_of_bigarray(const struct snap_runtime *runtime, struct snap_block_address block,
	uint64_t wosize, uint64_t *bytes)
{
	uint64_t dimensions = snap_word(runtime, block.a + DIMENSIONS), size;
	uint64_t kind = snap_word(runtime, block.a + FLAGS) & KIND_MASK;
	if (dimensions > MOST_DIMENSIONS || wosize < DIMENSION / 8 + dimensions ||
		kind >= sizeof(element_bytes))
		return false;
	*bytes = element_bytes[kind];
	for (uint64_t i = 0; i < dimensions; i++)
		if (!snap_image_u64(runtime->image, block.a + DIMENSION + 8 * i, &size) ||
			__builtin_mul_overflow(*bytes, size, bytes))
			return false;
	return true;
}

static void add_memory(struct snap_custom *out, uint64_t start, uint64_t bytes)
{
	uint64_t end;
	if (bytes == 0 || __builtin_add_overflow(start, bytes, &end) || end > SNAP_ADDRESS_LIMIT)
		return;
	out->memory[out->memory_count++] = (struct snap_range){start, end};
}

static void read_bigarray(const struct snap_runtime *runtime, struct snap_block_address block,
	uint64_t wosize, struct snap_custom *out)
{
	uint64_t bytes;
	if (!bytes_of_bigarray(runtime, block, wosize, &bytes))
		return;
	uint64_t managed = snap_word(runtime, block.a + FLAGS) & MANAGED_MASK;
	out->bytes = bytes;
	/* Parts of a bigarray share its data through a proxy. */
	out->owner = snap_word(runtime, block.a + PROXY);
	if (out->owner)
		out->owner_data = snap_word(runtime, out->owner + PROXY_DATA);
	out->offheap = managed == MANAGED       ? SNAP_OFFHEAP_MALLOC
		       : managed == MAPPED_FILE ? SNAP_OFFHEAP_MAPPED
						: SNAP_OFFHEAP_ALIEN;
	add_memory(out, snap_word(runtime, block.a + DATA), bytes);
}

/*
 * struct channel (runtime/caml/io.h): fd, offset, end, ...; the buffer ends at 'end', and lies in
 * it, before the name, or is of its own from 5.3 on.
 */
static void read_channel(const struct snap_runtime *runtime, struct snap_block_address block,
	struct snap_custom *out)
{
	enum {
		END = 16,
		BUFFER = 1 << 16,
		MOST_FIELDS = 256,
		FIELDS_OF_5_3 = 128,
		BUFFER_OF_5_3 = 112
	};
	uint64_t channel = snap_word(runtime, block.a + DATA);
	uint64_t end = snap_word(runtime, channel + END), buffer = end - BUFFER;
	if (channel % 8 || channel == 0 || end < BUFFER)
		return;
	out->offheap = SNAP_OFFHEAP_MALLOC;
	if (buffer > channel && buffer - channel < MOST_FIELDS) {
		add_memory(out, channel, end + 8 - channel);
	} else if (snap_word(runtime, channel + BUFFER_OF_5_3) == buffer) {
		add_memory(out, channel, FIELDS_OF_5_3);
		add_memory(out, buffer, BUFFER);
	}
	out->bytes = 0;
	for (unsigned i = 0; i < out->memory_count; i++)
		out->bytes += out->memory[i].end - out->memory[i].start;
}

/* Blocks that hold the address of a structure of glibc, or of the library of threads. */
static void read_fixed(const struct snap_runtime *runtime, struct snap_block_address block,
	struct snap_custom *out)
{
	static const struct {
		const char *identifier;
		uint64_t bytes;
	} kinds[] = {{"_mutex", 40}, {"_condition", 48}, {"_threadstatus", 96}};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(out->identifier, kinds[i].identifier) != 0)
			continue;
		out->offheap = SNAP_OFFHEAP_MALLOC;
		out->bytes = kinds[i].bytes;
		add_memory(out, snap_word(runtime, block.a + DATA), out->bytes);
	}
}

/* Of the operations at an address; read once, for there may be millions of blocks with them. */
static const char *read_identifier(struct snap_runtime *runtime, uint64_t operations)
{
	enum { MOST_KINDS = 16384 };
	char text[128];
	struct hg_error unused;
	uint64_t kept;
	bool added;
	if (base_map_get(&runtime->custom_kinds, operations, &kept))
		return (const char *)(uintptr_t)kept;
	/* No program has so many. */
	if (runtime->custom_kinds.count == MOST_KINDS)
		return "";
	uint64_t address =
		snap_word(runtime, operations + runtime->layout->custom_operations_identifier);
	if (!snap_image_string(runtime->image, address, text, sizeof(text)))
		return "";
	/* They are few, and off-heap bytes hang on them: no work budget is asked. */
	const char *identifier;
	base_error_clear(&unused);
	if (base_pool_string(&runtime->pool, text, strlen(text), &identifier, &unused) != HG_OK) {
		runtime->image->lost = true;
		return "";
	}
	kept = (uintptr_t)identifier;
	(void)base_map_add(&runtime->custom_kinds, operations, &kept, &added, &unused);
	return identifier;
}

void snap_runtime_custom(struct snap_runtime *runtime, struct snap_block_address block,
	uint64_t wosize, struct snap_custom *out)
{
	*out = (struct snap_custom){
		.identifier = read_identifier(runtime, snap_word(runtime, block.a))};
	if (strncmp(out->identifier, "_bigarr", 7) == 0)
		read_bigarray(runtime, block, wosize, out);
	else if (wosize >= 2 && strcmp(out->identifier, "_chan") == 0)
		read_channel(runtime, block, out);
	else if (wosize >= 2 && out->identifier[0] == '_' && strchr("mct", out->identifier[1]))
		read_fixed(runtime, block, out);
}
