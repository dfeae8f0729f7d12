/*
 * The file of the bytecode that a process runs, found while it runs: the end of its executable, or
 * what the command line names, as the process itself sees it.  Cores get a copy of its sections, as
 * no memory of the process has the names in them.
 */
#ifndef SNAPSHOT_CAPTURE_BYTECODE_FILE_H
#define SNAPSHOT_CAPTURE_BYTECODE_FILE_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

struct snap_bytecode_file {
	int fd;
	uint64_t start, size; /* of the sections; size 0: none was found, and nothing is open */
	char path[PATH_MAX];  /* as the process has it */
};

void snap_bytecode_file_open(struct snap_bytecode_file *file, pid_t process);
void snap_bytecode_file_close(struct snap_bytecode_file *file);

#endif
