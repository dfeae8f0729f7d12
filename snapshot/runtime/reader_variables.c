/*
 * Where the runtime's variables are.  Exported ones have symbols in every executable, because
 * ocamlopt links with -Wl,-E; static ones lose theirs when it is stripped, but exported functions
 * use them.  Programs without any symbols: found/found.h.
 */
#include "snapshot/runtime/reader.h"

#include "snapshot/arch/arch.h"
#include "snapshot/runtime/found/found.h"

/*
 * In 'function', an operand that uses an address in writable data in this way, with this many bytes
 * (0: any), is the variable plus 'offset'.
 */
struct recovery {
	const char *variable, *function;
	enum snap_use use;
	uint8_t bytes;
	bool last;     /* the last such operand, not the first */
	bool last_new; /* the last whose address none before it has */
	uint8_t offset;
	bool constant; /* read-only data, which on arm64 lie in the segment of the code */
	bool called;   /* in the first function that 'function' calls */
};

static const struct recovery recoveries[] = {
	/* 4.x */
	{"finalisable_first", "caml_final_register", .use = SNAP_USE_ADDRESS},
	{"finalisable_last", "caml_final_register_called_without_value", .use = SNAP_USE_ADDRESS},
	{"to_do_hd", "caml_final_do_roots", .use = SNAP_USE_READ, .bytes = 8, .last = true},
	{"entries_global", "caml_memprof_do_roots", .use = SNAP_USE_ADDRESS},
	{"curr_thread", "caml_thread_self", .use = SNAP_USE_READ, .bytes = 8},
	{"lambda of Gc.Memprof", "caml_memprof_track_alloc_shr", .use = SNAP_USE_READ, .bytes = 8},
	{"caml_dyn_globals", "caml_register_dyn_global", .use = SNAP_USE_WRITE, .bytes = 8},
	{"caml_page_table", "caml_page_table_lookup", .use = SNAP_USE_READ, .bytes = 4,
		.offset = 8 /* shift */},
	{"frametables", "caml_unregister_frametable", .use = SNAP_USE_READ, .bytes = 8},
	/* both: 5.x takes the address of a lock first, and again behind it with gcc 16 */
	{"named_value_table", "caml_named_value", .use = SNAP_USE_ADDRESS, .last_new = true},
	{"code_fragments_by_pc", "caml_find_code_fragment_by_pc", .use = SNAP_USE_ADDRESS},
	/* 5.x */
	{"caml_dyn_globals", "caml_register_dyn_globals", .use = SNAP_USE_WRITE, .bytes = 8},
	/* of bytecode: static from 5.0 on */
	{"caml_section_table", "caml_init_section_table", .use = SNAP_USE_WRITE, .bytes = 8},
	{"caml_section_table_size", "caml_init_section_table", .use = SNAP_USE_WRITE, .bytes = 8,
		.last = true},
	{"current_frame_descrs", "caml_get_frame_descrs", .use = SNAP_USE_ADDRESS},
	{"pool_freelist", "caml_accum_orphan_heap_stats", .use = SNAP_USE_ADDRESS},
	{"pool_freelist", "caml_teardown_shared_heap", .use = SNAP_USE_ADDRESS},
	{"stw_domains", "caml_try_run_on_all_domains_with_spin_work", .use = SNAP_USE_READ,
		.bytes = 4},
	/* a pointer from 5.3 on, before that an array */
	{"thread_table", "caml_thread_self", .use = SNAP_USE_READ, .bytes = 8, .last = true},
	{"thread_table", "caml_thread_self", .use = SNAP_USE_ADDRESS, .last = true},
	{"orph_structs", "caml_orphan_ephemerons", .use = SNAP_USE_UPDATE, .bytes = 8,
		.last = true},
	{"atoms", "caml_atom", .use = SNAP_USE_ADDRESS, .constant = true},
	{"orphans", "caml_memprof_after_minor_gc", .use = SNAP_USE_WRITE, .bytes = 8,
		.called = true},
};

enum { MOST_OPERANDS = 128, CALLED_BYTES = 256 };

/* Of the file that the function is in: that of threads is a library where ocamlrun loads it. */
static bool is_variable_data(
	const struct snap_runtime *runtime, uint64_t function, uint64_t address)
{
	const struct snap_load *load = snap_image_load(runtime->image, address);
	return load && (load->flags & PF_W) &&
	       snap_image_file_at(runtime->image, address) ==
		       snap_image_file_at(runtime->image, function);
}

static size_t read_operands(struct snap_runtime *runtime, uint64_t function, uint64_t size,
	struct snap_operand operands[MOST_OPERANDS])
{
	struct hg_error unused;
	size_t count = 0;
	base_error_clear(&unused);
	/* The operands before what cannot be decoded are as good. */
	enum hg_status status = snap_operands(
		runtime->image, function, size, operands, MOST_OPERANDS, &count, &unused);
	runtime->image->lost |= status == HG_ERROR_LIMIT;
	return count < MOST_OPERANDS ? count : MOST_OPERANDS;
}

static bool is_such_operand(const struct snap_operand *operand, const struct recovery *recovery)
{
	return operand->use == recovery->use &&
	       (recovery->bytes == 0 || operand->bytes == recovery->bytes);
}

static bool has_address_before(const struct snap_operand *operands, size_t i)
{
	size_t before = 0;
	while (before < i && operands[before].address != operands[i].address)
		before++;
	return before < i;
}

static uint64_t recover_variable(struct snap_runtime *runtime, const struct recovery *recovery)
{
	struct snap_operand operands[MOST_OPERANDS];
	struct snap_symbol function;
	uint64_t found = 0;
	if (!snap_image_symbol(runtime->image, recovery->function, &function))
		return 0;
	size_t count = read_operands(runtime, function.address, function.size, operands);
	if (recovery->called) {
		size_t call = 0;
		while (call < count && operands[call].use != SNAP_USE_CALL)
			call++;
		if (call == count)
			return 0;
		count = read_operands(runtime, operands[call].address, CALLED_BYTES, operands);
	}
	bool goes_on = recovery->last || recovery->last_new;
	for (size_t i = 0; i < count && (!found || goes_on); i++)
		if (is_such_operand(&operands[i], recovery) &&
			!(recovery->last_new && has_address_before(operands, i)) &&
			(recovery->constant ||
				is_variable_data(runtime, function.address, operands[i].address)))
			found = operands[i].address - recovery->offset;
	return found;
}

uint64_t snap_variable(struct snap_runtime *runtime, const char *name)
{
	struct snap_symbol symbol;
	/* Libraries may have symbols of these names. */
	if (runtime->found)
		return snap_found_variable(runtime->found, name);
	if (snap_image_symbol(runtime->image, name, &symbol) && !symbol.is_tls)
		return symbol.address;
	for (size_t i = 0; i < sizeof(recoveries) / sizeof(recoveries[0]); i++) {
		if (strcmp(recoveries[i].variable, name) != 0)
			continue;
		uint64_t address = recover_variable(runtime, &recoveries[i]);
		if (address)
			return address;
	}
	return 0;
}

uint64_t snap_variable_or_note(struct snap_runtime *runtime, const char *name)
{
	uint64_t address = snap_variable(runtime, name);
	if (!address && !runtime->found)
		snap_note_line(runtime, "%s is missing", name);
	return address;
}

uint64_t snap_variable_word(struct snap_runtime *runtime, const char *name)
{
	uint64_t address = snap_variable(runtime, name);
	return address ? snap_word(runtime, address) : 0;
}
