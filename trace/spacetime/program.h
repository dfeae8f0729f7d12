/*
 * The program that wrote a series, for names of functions where the series has no places.
 */
#ifndef TRACE_SPACETIME_PROGRAM_H
#define TRACE_SPACETIME_PROGRAM_H

#include "snapshot/image/elf_file.h"
#include "trace/spacetime/tables.h"

struct spacetime_program {
	struct snap_elf elf;
	uint64_t bias; /* addresses in the process are so much above those in the file */
};

/*
 * An ELF executable.  How far it was moved in memory is that at which the functions of the series
 * are symbols of it; HG_ERROR_INPUT if there is no such place, or the file has no symbols.
 */
enum hg_status spacetime_program_open(const struct spacetime_series *series, const char *path,
	const struct base_unpack_limits *limits, struct spacetime_program **out,
	struct hg_error *error);
/* May be NULL. */
void spacetime_program_close(struct spacetime_program *program);

/* The symbol that holds an address of the process; NULL if there is none. */
const char *spacetime_program_symbol(struct spacetime_program *program, uint64_t address);

#endif
