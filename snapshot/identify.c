/*
 * What a file is, told from its first bytes: heap snapshots and everything that lies about beside
 * them, so that a mistaken argument is answered by a name and not by an offset.
 *
 * Facts: file(1)'s database for the foreign formats, utils/config.mlp of OCaml for its own magic
 * numbers (a letter for the kind of file, then three digits of version).
 */
#include "snapshot/identify.h"

#include "base/cursor.h"
#include "snapshot/formats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* How much of a file is looked at, compressed and not. */
enum { HEAD_BYTES = 4096 };

/* The beginning of a file. */
struct head {
	const char *name; /* of the file, without its folders */
	uint8_t *bytes;
	size_t count;
	uint64_t size; /* of all of it; HG_UNKNOWN if only decompression would tell */
	const struct snap_format *format; /* that has more to say of it; or NULL */
};

/* Where the line goes; cut at the end of the buffer. */
struct line {
	char *text;
	size_t size, used;
};

static void add_words(struct line *line, const char *format, ...) BASE_PRINTF(2, 3);

static void add_words(struct line *line, const char *format, ...)
{
	va_list arguments;
	if (line->used >= line->size)
		return;
	va_start(arguments, format);
	int length = vsnprintf(line->text + line->used, line->size - line->used, format, arguments);
	va_end(arguments);
	if (length > 0)
		line->used += (size_t)length;
}

static struct base_cursor over(const struct head *head)
{
	return base_cursor_over(head->bytes, head->count);
}

/* A number of the ELF header, in its own byte order; 0 if the file ends before. */
static uint64_t elf_number(const struct head *head, uint64_t offset, unsigned bytes)
{
	struct base_cursor c = over(head);
	const uint8_t *p;
	uint64_t value = 0;
	bool big;
	if (head->count < 6 || !base_cursor_seek(&c, offset) || !base_cursor_bytes(&c, bytes, &p))
		return 0;
	big = head->bytes[5] == 2;
	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | p[big ? i : bytes - 1 - i];
	return value;
}

/* Programs that ask for an interpreter are executables, though linked like shared objects. */
static bool elf_has_interpreter(const struct head *head, unsigned bits)
{
	enum { PT_INTERP = 3 };
	uint64_t start = bits == 64 ? elf_number(head, 32, 8) : elf_number(head, 28, 4);
	uint64_t size = elf_number(head, bits == 64 ? 54 : 42, 2);
	uint64_t count = elf_number(head, bits == 64 ? 56 : 44, 2);
	for (uint64_t i = 0; i < count && start < HEAD_BYTES; i++, start += size)
		if (elf_number(head, start, 4) == PT_INTERP)
			return true;
	return false;
}

static void describe_elf(const struct head *head, struct line *line)
{
	static const struct {
		uint16_t machine;
		const char *name;
	} machines[] = {{3, "x86"}, {20, "PowerPC"}, {21, "PowerPC"}, {22, "S/390"}, {40, "ARM"},
		{62, "x86-64"}, {183, "AArch64"}, {243, "RISC-V"}};
	static const char *const types[] = {"file of unknown type", "relocatable object",
		"executable", "shared object", "core file"};
	unsigned bits = elf_number(head, 4, 1) == 1 ? 32 : 64;
	uint64_t type = elf_number(head, 16, 2), machine = elf_number(head, 18, 2);
	if (type == 3 && elf_has_interpreter(head, bits))
		type = 2;
	add_words(line, "%s, %u-bit", types[type < 5 ? type : 0], bits);
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].machine == machine)
			add_words(line, " %s", machines[i].name);
}

static void describe_trace(const struct head *head, struct line *line)
{
	struct base_cursor c = over(head);
	const uint8_t *version;
	if (base_cursor_skip(&c, 28) && base_cursor_bytes(&c, 2, &version))
		add_words(line, ", version %u", version[0] | (unsigned)version[1] << 8);
}

static void describe_version(const struct head *head, struct line *line)
{
	struct base_cursor c = over(head);
	const uint8_t *digits;
	if (base_cursor_skip(&c, 9) && base_cursor_bytes(&c, 3, &digits) && digits[0] >= '0' &&
		digits[0] <= '9' && digits[1] >= '0' && digits[1] <= '9' && digits[2] >= '0' &&
		digits[2] <= '9')
		add_words(line, ", version %.3s", (const char *)digits);
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name), tail = strlen(suffix);
	if (length > 4 && strcmp(name + length - 4, ".zst") == 0)
		length -= 4;
	return length > tail && memcmp(name + length - tail, suffix, tail) == 0;
}

/* A .cmt without .mli has the interface in front of what makes it a .cmt. */
static void describe_interface(const struct head *head, struct line *line)
{
	if (has_suffix(head->name, ".cmt") || has_suffix(head->name, ".cmti"))
		add_words(line, "OCaml typed tree (.cmt), the compiled interface first");
	else
		add_words(line, "OCaml compiled interface (.cmi)");
	describe_version(head, line);
}

/* Shape of the item under the cursor of marshalled data; size 0 for what is no block. */
struct shape {
	uint64_t size;
	unsigned tag;
	bool integer;
};

static struct shape read_shape(struct base_cursor *c, bool ids)
{
	struct shape shape = {0};
	uint64_t header;
	uint8_t code;
	if (!base_cursor_u8(c, &code))
		return shape;
	if (code >= 0x80) {
		shape.size = code >> 4 & 7;
		shape.tag = code & 15;
		if (ids && shape.size)
			base_cursor_skip(c, 3);
	} else if (code >= 0x40) {
		shape.integer = true;
	} else if (code <= 3) {
		shape.integer = base_cursor_skip(c, (uint64_t)1 << code);
	} else if ((code == 0x08 && base_cursor_be(c, 4, &header)) ||
		   (code == 0x13 && base_cursor_be(c, 8, &header))) {
		shape.size = header >> 10 & (((uint64_t)1 << 33) - 1);
		shape.tag = header & 255;
	}
	return shape;
}

/*
 * A location table of 0.1 is a hash table [size; buckets; seed; initial size], one of 0.2 an array
 * of locations [start; end; ghost] whose ends are positions [file; line; ...] of 4 fields.
 */
static void describe_marshal(const struct head *head, struct line *line)
{
	enum { HEADER_BYTES = 20 };
	struct base_cursor c = over(head);
	bool ids = head->bytes[3] != 0xBE;
	if (!base_cursor_skip(&c, HEADER_BYTES))
		return;
	struct shape outer = read_shape(&c, ids), first = read_shape(&c, ids);
	struct shape second = read_shape(&c, ids);
	if (outer.tag == 0 && outer.size == 4 && first.integer && second.tag == 0 &&
		second.size > 1)
		add_words(line, ", likely the location table of OCamlmemprof 0.1 (.prof)");
	else if (outer.tag == 0 && outer.size && first.tag == 0 && first.size == 3 &&
		 second.tag == 0 && second.size == 4)
		add_words(line, ", likely the location table of OCamlmemprof 0.2 (.locations)");
}

/* A row: what the bytes at the offset say, and perhaps a function that says more. */
#define MAGIC(offset, bytes, description, more)                                                    \
	{                                                                                          \
		offset, sizeof(bytes) - 1, bytes, description, more                                \
	}

static const struct magic {
	uint16_t offset, length;
	const char *bytes;
	const char *description;
	void (*more)(const struct head *head, struct line *line);
} magics[] = {
	MAGIC(0, "\177ELF", "ELF ", describe_elf),
	MAGIC(0, "\xc1\x1f\xfc\xc1", "memtrace trace (CTF)", describe_trace),
	MAGIC(0, "OCP-2017P001", "location tables of OCP heap dumps (process_info)", NULL),
	MAGIC(0, "OCP-2014C001", "OCP log of heap compactions", NULL),
	MAGIC(0, "\x84\x95\xa6\xbe", "OCaml marshalled data", describe_marshal),
	MAGIC(0, "\x84\x95\xa6\xbf",
		"OCaml marshalled data with location ids (OCamlmemprof 0.2) or of more than 4 GB",
		describe_marshal),
	MAGIC(0, "\0\0\0\x42", "OCaml marshalled data with location ids (OCamlmemprof 0.1)",
		describe_marshal),
	MAGIC(0, "Caml1999I", "", describe_interface),
	MAGIC(0, "Caml1999T", "OCaml typed tree (.cmt)", describe_version),
	MAGIC(0, "Caml2012T", "OCaml typed tree (.cmt)", describe_version),
	MAGIC(0, "Caml1999O", "OCaml bytecode object (.cmo)", describe_version),
	MAGIC(0, "Caml1999A", "OCaml bytecode library (.cma)", describe_version),
	MAGIC(0, "Caml1999Y", "OCaml native object (.cmx)", describe_version),
	MAGIC(0, "Caml1999y", "OCaml native object (.cmx of flambda)", describe_version),
	MAGIC(0, "Caml1999Z", "OCaml native library (.cmxa)", describe_version),
	MAGIC(0, "Caml1999z", "OCaml native library (.cmxa of flambda)", describe_version),
	MAGIC(0, "hgprof 1", "heapgraph type table (hgprof 1)", NULL),
	MAGIC(0, "JOB \"", "heap profile for hp2ps (.hp)", NULL),
	MAGIC(0, "{\n  \"schema_version\":", "JSON that heapgraph wrote", NULL),
	MAGIC(0, "{\"snapshot\":", "V8 heap snapshot (JSON)", NULL),
	MAGIC(0, "JAVA PROFILE 1.0", "Java heap dump (HPROF)", NULL),
	MAGIC(0, "\x1f\x8b", "gzip-compressed data", NULL),
	MAGIC(0, "\xfd\x37zXZ", "xz-compressed data", NULL),
	MAGIC(0, "BZh", "bzip2-compressed data", NULL),
	MAGIC(0, "\x04\x22\x4d\x18", "lz4-compressed data", NULL),
	MAGIC(0, "\x28\xb5\x2f\xfd", "zstd-compressed data", NULL),
	MAGIC(0, "PK\3\4", "zip archive", NULL),
	MAGIC(257, "ustar", "tar archive", NULL),
	MAGIC(0, "#!", "script, or OCaml bytecode program", NULL),
};

static bool matches(const struct head *head, const struct magic *magic)
{
	struct base_cursor c = over(head);
	const uint8_t *bytes;
	return base_cursor_skip(&c, magic->offset) &&
	       base_cursor_bytes(&c, magic->length, &bytes) &&
	       memcmp(bytes, magic->bytes, magic->length) == 0;
}

static void describe_unknown(const struct head *head, struct line *line)
{
	struct base_cursor c = over(head);
	uint8_t byte;
	add_words(line, "data of an unknown kind");
	if (head->size != HG_UNKNOWN)
		add_words(line, ", %llu bytes", (unsigned long long)head->size);
	add_words(line, ", beginning with");
	for (unsigned i = 0; i < 8 && base_cursor_u8(&c, &byte); i++)
		add_words(line, " %02x", byte);
}

static void describe_file(struct head *head, struct line *line)
{
	struct base_file file = {.bytes = head->bytes, .size = head->count};
	if (head->count == 0) {
		add_words(line, "empty file");
		return;
	}
	const struct snap_format *format = snap_format_of(head->name, &file);
	if (format && !format->describe) {
		add_words(line, "%s", format->title);
		return;
	}
	head->format = format;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++) {
		if (!matches(head, &magics[i]))
			continue;
		add_words(line, "%s", magics[i].description);
		if (magics[i].more)
			magics[i].more(head, line);
		return;
	}
	describe_unknown(head, line);
}

/* Bytes of the file up to its end, at most 'size'. */
static enum hg_status read_bytes(
	int fd, uint8_t *bytes, size_t size, size_t *count, struct hg_error *error)
{
	*count = 0;
	while (*count < size) {
		ssize_t part = read(fd, bytes + *count, size - *count);
		if (part < 0 && errno == EINTR)
			continue;
		if (part < 0)
			return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET, "cannot be read: %s",
				strerror(errno));
		if (part == 0)
			break;
		*count += (size_t)part;
	}
	return HG_OK;
}

/* Decompresses up to the end of 'head'; 'fine' is false if that is not possible. */
static enum hg_status decompress(const uint8_t *packed, size_t packed_size, struct head *head,
	bool *fine, struct hg_error *error)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = {packed, packed_size, 0};
	ZSTD_outBuffer out = {head->bytes, HEAD_BYTES, 0};
	size_t hint = 1;
	while (stream && in.pos < in.size && out.pos < out.size) {
		hint = ZSTD_decompressStream(stream, &out, &in);
		if (ZSTD_isError(hint))
			break;
	}
	ZSTD_freeDStream(stream);
	head->count = out.pos;
	*fine = !ZSTD_isError(hint) && (out.pos || hint == 0);
	if (!stream || base_zstd_lacks_memory(hint))
		return base_no_memory(error, ZSTD_DStreamOutSize());
	return HG_OK;
}

static enum hg_status describe_packed(const uint8_t *packed, size_t packed_size, struct head *head,
	struct line *line, struct hg_error *error)
{
	bool fine;
	unsigned long long size = ZSTD_getFrameContentSize(packed, packed_size);
	bool known = size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR;
	head->size = known ? size : HG_UNKNOWN;
	add_words(line, "zstd-compressed ");
	BASE_TRY(decompress(packed, packed_size, head, &fine, error));
	if (fine)
		describe_file(head, line);
	else
		add_words(line, "data that does not decompress");
	return HG_OK;
}

/* The first block of compressed data has at most ZSTD_BLOCKSIZE_MAX bytes, after short headers. */
static enum hg_status identify_file(
	int fd, struct head *head, struct line *line, struct hg_error *error)
{
	enum { PACKED_BYTES = 2 * ZSTD_BLOCKSIZE_MAX };
	struct magic zstd = {.length = 4, .bytes = "\x28\xb5\x2f\xfd"};
	size_t count;
	uint8_t *packed = malloc(PACKED_BYTES);
	if (!packed)
		return base_no_memory(error, PACKED_BYTES);
	enum hg_status status = read_bytes(fd, head->bytes, HEAD_BYTES, &head->count, error);
	if (status == HG_OK && !matches(head, &zstd)) {
		describe_file(head, line);
	} else if (status == HG_OK) {
		memcpy(packed, head->bytes, head->count);
		status = read_bytes(
			fd, packed + head->count, PACKED_BYTES - head->count, &count, error);
		if (status == HG_OK)
			status = describe_packed(packed, head->count + count, head, line, error);
	}
	free(packed);
	return status;
}

static enum hg_status identify_path(const struct hg_session *session, const char *path,
	struct line *line, struct hg_error *error)
{
	uint8_t bytes[HEAD_BYTES];
	const char *kind, *slash = strrchr(path, '/');
	struct head head = {.name = slash ? slash + 1 : path, .bytes = bytes};
	struct stat about;
	BASE_TRY(base_file_kind(path, &kind, error));
	if (kind) {
		add_words(line, "%s", kind);
		return HG_OK;
	}
	int fd;
	BASE_TRY(base_file_descriptor(path, &fd, &about, error));
	head.size = (uint64_t)about.st_size;
	enum hg_status status = identify_file(fd, &head, line, error);
	close(fd);
	if (status == HG_OK && head.format && line->size)
		status = head.format->describe(session, path, line->text, line->size, error);
	return status;
}

enum hg_status snap_identify(const struct hg_session *session, const char *path, char *buffer,
	size_t size, struct hg_error *error)
{
	struct line line = {buffer, size, 0};
	if (size)
		buffer[0] = '\0';
	enum hg_status status = identify_path(session, path, &line, error);
	if (status != HG_OK)
		base_error_file(error, path);
	return status;
}
