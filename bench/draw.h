/* Numbers for what is made up: the same state, the same numbers everywhere. */
#ifndef BENCH_DRAW_H
#define BENCH_DRAW_H

#include <stdint.h>

static uint64_t draw_state;

/* Below a number; splitmix64, by Sebastiano Vigna: public domain. */
static uint64_t draw(uint64_t below)
{
	uint64_t z = draw_state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % below;
}

#endif
