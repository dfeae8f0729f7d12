/*
 * The whole way: bytes -> a file -> loader -> analysis -> every question, and what must be true of
 * the answers whatever the bytes are.
 *
 * Input: byte 0 says how to open the file (bits 0 and 1: the format, 0 to recognise it; bit 2: a
 * file cut short is accepted; bits 4 and 5: threads - 1), byte 1 limits the memory (in units of 64
 * KiB; 0: no limit), the rest is the file.
 */
#include "tests/fuzz/answers.h"

enum { FORMAT_BITS = 3, PARTIAL_BIT = 4, THREADS_SHIFT = 4, MEMORY_SHIFT = 16 };

/*
 * Location sources of a few entries, so that none is looked for in folders.  Each has a.ml:1:1-2
 * and b.ml:2:1-5, as ids 0x1001 and 0x201000 (bit 21 of which is lost), 1024 and 1025, or 0 and 1.
 */
#define PLACE_A                                                                                    \
	"\xb0\xc0\x24"                                                                             \
	"a.ml\x41\x40\x41\xc0\x04\x02\x41\x40\x42\x40"
#define PLACE_B                                                                                    \
	"\xb0\xc0\x24"                                                                             \
	"b.ml\x42\x40\x41\xc0\x04\x02\x42\x40\x45\x40"
#define ENTRY(place) "\xa0\xa0" place "\x40\x40"

static const char values01[] =
	"\xa0\x42\x90\xb0\x01\x10\x01" PLACE_A "\xb0\x02\x00\x20\x10\x00" PLACE_B "\x40";
static const char values02[] = "\xa0" PLACE_A PLACE_B;
static const char values2014[] = "\x91\xd0\x40\x40\x40\x40\xa0" ENTRY(PLACE_A) ENTRY(PLACE_B);

static struct memory_file dump, sources[3];

static void append(const struct memory_file *file, const void *bytes, size_t size)
{
	CHECK(write(file->fd, bytes, size) == (ssize_t)size);
}

/* A standard marshalled value, with more words than it has. */
static void append_value(
	const struct memory_file *file, const char *data, size_t size, uint8_t objects)
{
	uint8_t header[20] = {0x84, 0x95, 0xa6, 0xbe, 0, 0, 0, (uint8_t)size, 0, 0, 0, objects};
	header[15] = header[19] = 0xff;
	append(file, header, sizeof(header));
	append(file, data, size);
}

static void create_files(void)
{
	uint8_t bytes[4] = {(uint8_t)(20 + sizeof(values2014) - 1)};
	dump = create();
	for (unsigned i = 0; i < 3; i++)
		sources[i] = create();
	append_value(&sources[0], values01, sizeof(values01) - 1, 12);
	append_value(&sources[1], values02, sizeof(values02) - 1, 9);
	append(&sources[2], "OCP-2017P001LOCS", 16);
	append(&sources[2], bytes, sizeof(bytes));
	append_value(&sources[2], values2014, sizeof(values2014) - 1, 15);
}

/* The source that the loader will understand. */
static const char *source_for(const char *format, const uint8_t *data, size_t size)
{
	if (format && strcmp(format, "memprof02") == 0)
		return sources[1].path;
	if (format ? strcmp(format, "ocp2014") == 0 : size >= 4 && memcmp(data, "OCP-", 4) == 0)
		return sources[2].path;
	return sources[0].path;
}

/* By the first bits of an input; none is to be recognised. */
static const char *const formats[FORMAT_BITS + 1] = {NULL, "ocp2014", "memprof01", "memprof02"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	if (!dump.path[0])
		create_files();
	set_file(&dump, data + 2, size - 2);
	struct hg_options options = {.size = sizeof(options),
		.threads = (data[0] >> THREADS_SHIFT & 3u) + 1,
		.max_memory = (uint64_t)data[1] << MEMORY_SHIFT};
	unsigned format = data[0] & FORMAT_BITS;
	struct hg_input input = {.size = sizeof(input), .path = dump.path};
	input.format = formats[format];
	input.partial = data[0] & PARTIAL_BIT;
	input.profile = source_for(input.format, data + 2, size - 2);
	ask_everything(&options, &input);
	return 0;
}
