/* Events of code that was loaded by the program: read where they are asked for. */
#include "snapshot/bytecode/loaded.h"

#include "snapshot/runtime/reader.h"

/* struct ext_table (runtime/caml/misc.h): two numbers of 32 bits, and an array of pointers */
enum { CONTENTS_OFFSET = 8, MOST_TABLES = 1 << 16, MOST_EVENTS = 1 << 26 };

struct loaded {
	uint64_t events, count;
};

static bool find_loaded(struct snap_runtime *runtime, uint64_t code, struct loaded *out)
{
	const struct snap_layout *l = runtime->layout;
	uint64_t table = snap_variable(runtime, "caml_debug_info");
	uint32_t size = table ? snap_half(runtime, table) : 0;
	uint64_t contents = table ? snap_word(runtime, table + CONTENTS_OFFSET) : 0;
	for (uint32_t i = 0; i < size && i < MOST_TABLES && snap_spend(runtime, 1); i++) {
		uint64_t info = snap_word(runtime, contents + 8 * (uint64_t)i);
		uint64_t start = snap_word(runtime, info + l->debug_info_start);
		uint64_t end = snap_word(runtime, info + l->debug_info_end);
		*out = (struct loaded){.events = snap_word(runtime, info + l->debug_info_events),
			.count = snap_word(runtime, info + l->debug_info_num_events)};
		if (info && code >= start && code < end)
			return out->events && out->count && out->count < MOST_EVENTS;
	}
	return false;
}

static uint64_t address_of_event(
	const struct snap_runtime *runtime, const struct loaded *loaded, uint64_t i)
{
	const struct snap_layout *l = runtime->layout;
	return snap_word(runtime, loaded->events + i * l->sizeof_ev_info + l->ev_info_ev_pc);
}

/* The first event at an address or above; their number if there is none. */
static uint64_t first_loaded_event(
	const struct snap_runtime *runtime, const struct loaded *loaded, uint64_t code)
{
	uint64_t low = 0, high = loaded->count;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (address_of_event(runtime, loaded, middle) < code)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const char *loaded_text(struct snap_runtime *runtime, uint64_t pointer)
{
	char text[4096];
	uint64_t address = snap_word(runtime, pointer);
	bool found = address && snap_image_string(runtime->image, address, text, sizeof(text));
	return found ? snap_print(runtime, "%s", text) : "";
}

bool snap_find_loaded_event(struct snap_runtime *runtime, const struct snap_loaded_query *query,
	struct snap_code_location *out)
{
	const struct snap_layout *l = runtime->layout;
	struct loaded loaded;
	if (!find_loaded(runtime, query->code, &loaded))
		return false;
	uint64_t i = first_loaded_event(runtime, &loaded, query->code);
	bool is_here = i < loaded.count &&
		       address_of_event(runtime, &loaded, i) - query->code <= query->most;
	if (!is_here && (!query->is_last || i-- == 0))
		return false;
	uint64_t event = loaded.events + i * l->sizeof_ev_info;
	*out = (struct snap_code_location){
		.file = loaded_text(runtime, event + l->ev_info_ev_filename),
		.function = loaded_text(runtime, event + l->ev_info_ev_defname),
		.line = snap_half(runtime, event + l->ev_info_ev_lnum),
		.start = snap_half(runtime, event + l->ev_info_ev_startchr),
		.end = snap_half(runtime, event + l->ev_info_ev_endchr)};
	return out->line <= INT32_MAX;
}
