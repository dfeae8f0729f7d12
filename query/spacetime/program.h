/*
 * The program that wrote a series, for names of functions where the series has no places.
 */
#ifndef QUERY_SPACETIME_PROGRAM_H
#define QUERY_SPACETIME_PROGRAM_H

#include "snapshot/image/elf_file.h"
#include "trace/spacetime/tables.h"

struct query_spacetime_program {
	struct snap_elf elf;
	uint64_t bias; /* addresses in the process are so much above those in the file */
};

/*
 * Finds how far a program was moved in memory: that at which the functions of the series are
 * symbols of it.  False if there is no such place.
 */
bool query_spacetime_find_bias(
	struct query_spacetime_program *program, const struct spacetime_tables *tables);

/* May be NULL. */
void query_spacetime_program_close(struct query_spacetime_program *program);

#endif
