/*
 * Sets of small numbers as arrays of bits, 64 to a word.  Whoever allocates one asks for
 * base_bit_words() words of zeros; there is nothing else to it.
 */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* Words for the numbers below 'count'. */
static inline uint64_t base_bit_words(uint64_t count)
{
	return count / 64 + (count % 64 != 0);
}

static inline bool base_bit(const uint64_t *bits, uint64_t number)
{
	return bits[number >> 6] >> (number & 63) & 1;
}

static inline void base_bit_set(uint64_t *bits, uint64_t number)
{
	bits[number >> 6] |= (uint64_t)1 << (number & 63);
}

static inline void base_bit_clear(uint64_t *bits, uint64_t number)
{
	bits[number >> 6] &= ~((uint64_t)1 << (number & 63));
}

#endif
