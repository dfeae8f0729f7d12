/*
 * The only way to touch bytes of a file we did not write: a window [start, end) and a position in
 * it.  Every read checks the bytes left and returns false, without moving, when there are too few;
 * the caller then reports base_cursor_offset().  The window belongs to somebody else (a mapping).
 */
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct base_cursor {
	const uint8_t *start;
	const uint8_t *next;
	const uint8_t *end;
};

/* NULL and no bytes give an empty window, whose pointers lead somewhere: 0 is added to them. */
static inline struct base_cursor base_cursor_over(const void *bytes, size_t size)
{
	static const uint8_t none[1];
	const uint8_t *start = bytes ? bytes : none;
	return (struct base_cursor){start, start, start + size};
}

static inline uint64_t base_cursor_offset(const struct base_cursor *c)
{
	return (uint64_t)(c->next - c->start);
}

static inline size_t base_cursor_left(const struct base_cursor *c)
{
	return (size_t)(c->end - c->next);
}

/* Moves to an absolute offset; false when it lies past the end. */
static inline bool base_cursor_seek(struct base_cursor *c, uint64_t offset)
{
	if (offset > (uint64_t)(c->end - c->start))
		return false;
	c->next = c->start + offset;
	return true;
}

static inline bool base_cursor_skip(struct base_cursor *c, uint64_t size)
{
	if (size > base_cursor_left(c))
		return false;
	c->next += size;
	return true;
}

/* Hands out 'size' bytes where they lie; they live as long as the window. */
static inline bool base_cursor_bytes(struct base_cursor *c, uint64_t size, const uint8_t **out)
{
	if (size > base_cursor_left(c))
		return false;
	*out = c->next;
	c->next += size;
	return true;
}

static inline bool base_cursor_u8(struct base_cursor *c, uint8_t *out)
{
	if (c->next == c->end)
		return false;
	*out = *c->next++;
	return true;
}

/* Unaligned loads; the callers have checked the bounds.  Big endian ones are for Marshal. */
static inline uint16_t base_load_u16le(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t base_load_u32le(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t base_load_u64le(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static inline bool base_cursor_u64le(struct base_cursor *c, uint64_t *out)
{
	if (base_cursor_left(c) < 8)
		return false;
	*out = base_load_u64le(c->next);
	c->next += 8;
	return true;
}

static inline bool base_cursor_u16le(struct base_cursor *c, uint16_t *out)
{
	if (base_cursor_left(c) < 2)
		return false;
	*out = base_load_u16le(c->next);
	c->next += 2;
	return true;
}

static inline bool base_cursor_u32le(struct base_cursor *c, uint32_t *out)
{
	if (base_cursor_left(c) < 4)
		return false;
	*out = base_load_u32le(c->next);
	c->next += 4;
	return true;
}

/* Bytes up to a NUL, which is skipped; false if there is none. */
static inline bool base_cursor_string(struct base_cursor *c, const uint8_t **out, size_t *length)
{
	const uint8_t *end = memchr(c->next, 0, base_cursor_left(c));
	if (!end)
		return false;
	*out = c->next;
	*length = (size_t)(end - c->next);
	c->next = end + 1;
	return true;
}

/* A big-endian number of 1 to 8 bytes. */
static inline bool base_cursor_be(struct base_cursor *c, unsigned bytes, uint64_t *out)
{
	if (base_cursor_left(c) < bytes)
		return false;
	uint64_t v = 0;
	if (base_cursor_left(c) >= 8 && bytes > 0)
		v = __builtin_bswap64(base_load_u64le(c->next)) >> (64 - 8 * bytes);
	else
		for (unsigned i = 0; i < bytes; i++)
			v = v << 8 | c->next[i];
	c->next += bytes;
	*out = v;
	return true;
}

#endif
