/*
 * What the two halves of the OCP-2014D001 loader share: sections as cursors, and the reading of
 * words and numbers in them.  ocp2014.c reads blocks, ocp2014_roots.c what holds them.
 */
#ifndef SNAPSHOT_LEGACY_OCP2014_SECTIONS_H
#define SNAPSHOT_LEGACY_OCP2014_SECTIONS_H

#include "base/cursor.h"
#include "snapshot/snapshot.h"

/* No chunk and no pointer lies lower, so that the words below cannot be mistaken for addresses. */
#define LOWEST_ADDRESS ((uint64_t)0x1000)

enum section { BLKS, STRS, CHKS, ROOT, WEAK, FINA, INFO, SECTIONS };
static const char section_names[SECTIONS][5] = {
	"BLKS", "STRS", "CHKS", "ROOT", "WEAK", "FINA", "INFO"};

/* A frame of a native stack, with the place in the source that its code comes from. */
struct frame {
	uint64_t start, bytes; /* of the stack */
	const uint8_t *file;
	uint64_t file_length;
	uint64_t line, first, last; /* columns */
	const char *name;           /* once a root has asked for it */
};

/* A group of roots of the form { word address of the slot, word value }, all of which are kept. */
struct slots {
	uint64_t count;
	uint64_t root;         /* number of the first */
	struct base_cursor at; /* the first in the file */
};

struct snap_ocp_loader {
	struct snap *snap;
	struct ocp *ocp;
	/* From the start of the file to the end of the section, so that offsets are the file's. */
	struct base_cursor sections[SECTIONS];
	uint64_t block_count;  /* as CHKS says */
	uint64_t string_count; /* met in BLKS */
	struct frame *frames;  /* of one stack, by start */
	uint64_t frame_count, frame_capacity;
	struct hg_error *error;
};

static inline enum hg_status ends_inside(
	const struct snap_ocp_loader *l, const struct base_cursor *c, const char *what)
{
	return base_corrupt(
		l->error, base_cursor_offset(c), "the section ends in the middle of %s", what);
}

static inline enum hg_status read_word(
	const struct snap_ocp_loader *l, struct base_cursor *c, const char *what, uint64_t *out)
{
	*out = 0;
	return base_cursor_u64le(c, out) ? HG_OK : ends_inside(l, c, what);
}

static inline enum hg_status read_uint(
	const struct snap_ocp_loader *l, struct base_cursor *c, const char *what, uint64_t *out)
{
	uint64_t value = 0;
	*out = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte;
		if (!base_cursor_u8(c, &byte))
			return ends_inside(l, c, what);
		uint64_t bits = byte & 0x7f;
		if (bits << shift >> shift != bits)
			break;
		value |= bits << shift;
		if (byte & 0x80) {
			*out = value;
			return HG_OK;
		}
	}
	return base_corrupt(
		l->error, base_cursor_offset(c) - 1, "a number of more than 64 bits in %s", what);
}

static inline enum hg_status read_text(const struct snap_ocp_loader *l, struct base_cursor *c,
	const char *what, uint64_t length, const uint8_t **bytes)
{
	*bytes = NULL;
	if (base_cursor_bytes(c, length, bytes))
		return HG_OK;
	return base_corrupt(l->error, base_cursor_offset(c), "%llu bytes of %s where %zu are left",
		(unsigned long long)length, what, base_cursor_left(c));
}

static inline enum hg_status expect_end(const struct snap_ocp_loader *l, enum section section)
{
	const struct base_cursor *c = &l->sections[section];
	if (base_cursor_left(c) == 0)
		return HG_OK;
	return base_corrupt(l->error, base_cursor_offset(c), "%zu bytes more at the end of %s",
		base_cursor_left(c), section_names[section]);
}

#endif
