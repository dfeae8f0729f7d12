/* Work whose result depends on every register of a thread; registers_NAME.c for each processor. */
#ifndef TESTS_TARGETS_REGISTERS_H
#define TESTS_TARGETS_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Fills all vector registers that the processor has (SSE, AVX or AVX-512 with its mask registers,
 * one of the x87; on arm64 those of 128 bits) and their control registers, the general registers,
 * the flags and, where there is one, the red zone; computes with the general registers for a while;
 * false if anything is not as it should be then.
 */
bool registers_survive(uint64_t seed);

#endif
