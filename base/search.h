/*
 * Binary search in arrays sorted by a number, the one spelling of it:
 *
 *     uint64_t i = BASE_FIRST_FROM(chunks, count, start, address);
 *
 * is the number of the first entry whose member 'start' is at least 'address', 'count' if there is
 * none; BASE_FIRST_ABOVE() that of the first one whose member is above it.  Members are unsigned
 * numbers of 32 or 64 bits, or structs that hold one of these only.
 */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The entries whose number is below 'limit', or equal to it if 'inclusive': how many they are. */
static inline __attribute__((always_inline)) uint64_t base_search(const void *entries,
	uint64_t count, size_t stride, size_t offset, size_t width, uint64_t limit, int inclusive)
{
	const unsigned char *bytes = entries;
	uint64_t low = 0, high = count;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2, number;
		uint32_t narrow;
		if (width == sizeof(narrow)) {
			memcpy(&narrow, bytes + middle * stride + offset, sizeof(narrow));
			number = narrow;
		} else {
			memcpy(&number, bytes + middle * stride + offset, sizeof(number));
		}
		if (number < limit || (inclusive && number == limit))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* An array without entries may be NULL, to which nothing can be added: not even 0. */
#define BASE_SEARCH(array, count, member, limit, inclusive)                                        \
	base_search((array), (count), sizeof(*(array)), offsetof(__typeof__(*(array)), member),    \
		sizeof((array)->member), (limit), (inclusive))

#define BASE_FIRST_FROM(array, count, member, limit) BASE_SEARCH(array, count, member, limit, 0)
#define BASE_FIRST_ABOVE(array, count, member, limit) BASE_SEARCH(array, count, member, limit, 1)

/* The same in an array of plain numbers. */
#define BASE_SEARCH_NUMBERS(array, count, limit, inclusive)                                        \
	base_search((array), (count), sizeof(*(array)), 0, sizeof(*(array)), (limit), (inclusive))
#define BASE_FIRST_NUMBER_FROM(array, count, limit) BASE_SEARCH_NUMBERS(array, count, limit, 0)
#define BASE_FIRST_NUMBER_ABOVE(array, count, limit) BASE_SEARCH_NUMBERS(array, count, limit, 1)

#endif
