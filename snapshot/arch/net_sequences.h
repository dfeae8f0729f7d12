/* Between net.c and the file of a processor: the code that is looked for, and writing to memory. */
#ifndef SNAPSHOT_ARCH_NET_SEQUENCES_H
#define SNAPSHOT_ARCH_NET_SEQUENCES_H

#include "snapshot/arch/net.h"

#include <stddef.h>

/* Instructions, as bytes. */
struct snap_net_sequence {
	const char *bytes;
	size_t size;
};

struct snap_net_sequences {
	struct snap_net_sequence call; /* a system call, and the return to what the frame says */
	struct snap_net_sequence return_from_signal;
};

/* Of the processor that this is compiled for. */
extern const struct snap_net_sequences snap_net_sequences;

/* False unless all of it could be written.  Guard pages are not written to. */
bool snap_net_write(pid_t process, uint64_t address, const void *bytes, size_t size);

#endif
