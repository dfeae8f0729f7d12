/* What is lost of a trace. */
#include "trace/memtrace/state.h"

void memtrace_note_loss(
	struct memtrace *trace, uint64_t *count, uint64_t by, uint64_t offset, const char *what)
{
	*count += by;
	if (!trace->losses.first) {
		trace->losses.first = what;
		trace->losses.first_offset = offset;
	}
	if (trace->strict && trace->status == HG_OK)
		trace->status = base_corrupt(&trace->error, offset, "%s", what);
}
