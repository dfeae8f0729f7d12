/*
 * What fuzz targets share.  A target is one LLVMFuzzerTestOneInput(), linked with libFuzzer to look
 * for bad inputs, or with standalone.c to replay those that are kept.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An assertion that no build leaves out. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);  \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* A message for people is one line of text. */
static inline void check_line(const char *line, size_t size)
{
	CHECK(memchr(line, '\0', size));
	CHECK(line[0] != '\0');
	for (const char *c = line; *c; c++)
		CHECK((unsigned char)*c >= ' ' && *c != 127);
}

#endif
