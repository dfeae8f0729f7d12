/* Roots, and what 4.x and 5.x share of them: C roots, named values, local roots. */
#include "snapshot/runtime/roots.h"

#include "base/assert.h"
#include "snapshot/runtime/reader.h"

#include <stdlib.h>
#include <string.h>

enum { NAMED_VALUE_LISTS = 13, MOST_TABLES = 5 };

/* Every slot is a word of the core; more are tables that were made to overlap. */
static enum hg_status check_root_count(
	struct snap_runtime *runtime, uint64_t count, struct hg_error *error)
{
	if (count > runtime->image->core.size / 8 + 65536)
		return base_corrupt(error, HG_NO_OFFSET, "the lists of roots do not end");
	return HG_OK;
}

enum hg_status snap_count_slot(
	struct snap_runtime *runtime, enum hg_root_kind kind, struct hg_error *error)
{
	return check_root_count(runtime, ++runtime->root_slots[kind], error);
}

enum hg_status snap_push_root(struct snap_runtime *runtime, struct snap_runtime_roots *roots,
	const struct snap_runtime_root *root, struct hg_error *error)
{
	BASE_TRY(check_root_count(runtime, roots->count, error));
	BASE_TRY(base_grow(
		&roots->items, roots->count, &roots->capacity, sizeof(*roots->items), error));
	roots->items[roots->count++] = *root;
	return HG_OK;
}

enum hg_status snap_read_root(struct snap_runtime *runtime, const struct snap_root_source *source,
	uint64_t slot_address, uint64_t index, struct hg_error *error)
{
	uint64_t value;
	if (!snap_image_u64(runtime->image, slot_address, &value))
		return HG_OK;
	BASE_TRY(snap_count_slot(runtime, source->kind, error));
	if (value & 1 || value == 0)
		return HG_OK;
	struct snap_runtime_root root = {.kind = source->kind,
		.last = source->last,
		.stack = source->stack,
		.name = source->name,
		.index = index,
		.slot_address = slot_address,
		.value = value};
	return snap_push_root(runtime, &runtime->roots, &root, error);
}

/* Roots of C code: skip lists by address of the root. */

/* Without a symbol, as in a stripped program, the place in its file. */
static const char *name_of_slot(struct snap_runtime *runtime, uint64_t slot)
{
	struct snap_symbol symbol;
	uint64_t offset;
	if (snap_image_symbol_at(runtime->image, slot, &symbol, &offset) && offset < symbol.size)
		return offset ? snap_print(runtime, "%s+0x%llx", symbol.name,
					(unsigned long long)offset)
			      : snap_print(runtime, "%s", symbol.name);
	const struct snap_image_file *file = snap_image_file_at(runtime->image, slot);
	if (!file)
		return "C root";
	const char *name = strrchr(file->path, '/');
	return snap_print(runtime, "%s+0x%llx", name ? name + 1 : file->path,
		(unsigned long long)(slot - file->bias));
}

static enum hg_status read_c_list(
	struct snap_runtime *runtime, const char *variable, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	struct snap_root_source source = {.kind = HG_ROOT_C_GLOBAL, .stack = SNAP_NO_INDEX};
	uint64_t list = snap_variable_or_note(runtime, variable);
	struct snap_list walk = {.words = SNAP_CELL_WORDS};
	if (!list)
		return HG_OK;
	uint64_t cell = snap_word(runtime, list + l->skiplist_forward);
	for (; snap_list_goes_on(runtime, &walk, cell);
		cell = snap_word(runtime, cell + l->skipcell_forward)) {
		uint64_t slot = snap_word(runtime, cell + l->skipcell_key);
		source.name = name_of_slot(runtime, slot);
		BASE_TRY(snap_read_root(runtime, &source, slot, HG_UNKNOWN, error));
	}
	return HG_OK;
}

enum hg_status snap_read_named_values(struct snap_runtime *runtime, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	struct snap_root_source source = {.kind = HG_ROOT_NAMED_VALUE, .stack = SNAP_NO_INDEX};
	uint64_t table = snap_variable(runtime, "named_value_table");
	char name[1024];
	for (uint64_t i = 0; table && i < NAMED_VALUE_LISTS; i++) {
		uint64_t value = snap_word(runtime, table + 8 * i);
		struct snap_list walk = {.words = SNAP_CELL_WORDS};
		for (; snap_list_goes_on(runtime, &walk, value);
			value = snap_word(runtime, value + l->named_value_next)) {
			if (!snap_image_string(runtime->image, value + l->named_value_name, name,
				    sizeof(name)))
				name[0] = '\0';
			source.name = name[0] ? snap_print(runtime, "%s", name) : "(no name)";
			BASE_TRY(snap_read_root(
				runtime, &source, value + l->named_value_val, HG_UNKNOWN, error));
		}
	}
	return HG_OK;
}

enum hg_status snap_read_c_roots(struct snap_runtime *runtime, struct hg_error *error)
{
	BASE_TRY(read_c_list(runtime, "caml_global_roots", error));
	BASE_TRY(read_c_list(runtime, "caml_global_roots_young", error));
	return read_c_list(runtime, "caml_global_roots_old", error);
}

/* CAMLparam and CAMLlocal: tables of pointers to arrays of values on the C stack. */
enum hg_status snap_read_local_roots(struct snap_runtime *runtime, uint64_t local_roots,
	const char *name, uint32_t stack, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	struct snap_root_source source = {.kind = HG_ROOT_LOCAL, .name = name, .stack = stack};
	struct snap_list walk = {.words = SNAP_CELL_WORDS};
	for (; snap_list_goes_on(runtime, &walk, local_roots);
		local_roots = snap_word(runtime, local_roots + l->caml__roots_block_next)) {
		uint64_t tables = snap_word(runtime, local_roots + l->caml__roots_block_ntables);
		uint64_t items = snap_word(runtime, local_roots + l->caml__roots_block_nitems);
		for (uint64_t t = 0; t < tables && t < MOST_TABLES; t++) {
			uint64_t table = snap_word(
				runtime, local_roots + l->caml__roots_block_tables + 8 * t);
			if (items >> 40 ||
				snap_image_present(runtime->image, table, 8 * items) < 8 * items) {
				snap_note_line(runtime, "a table of local roots is damaged");
				continue;
			}
			for (uint64_t i = 0; i < items; i++)
				BASE_TRY(snap_read_root(
					runtime, &source, table + 8 * i, HG_UNKNOWN, error));
		}
	}
	return HG_OK;
}

/* struct caml_thread_struct of the library systhreads */
enum hg_status snap_read_thread_roots(
	struct snap_runtime *runtime, uint64_t thread, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	struct snap_root_source source = {
		.kind = HG_ROOT_OTHER, .name = "thread descriptor", .stack = SNAP_NO_INDEX};
	BASE_TRY(snap_read_root(
		runtime, &source, thread + l->caml_thread_struct_descr, HG_UNKNOWN, error));
	source.name = "last exception";
	return snap_read_root(runtime, &source, thread + l->caml_thread_struct_backtrace_last_exn,
		HG_UNKNOWN, error);
}

/* Finalisers */

enum hg_status snap_read_finalisers(struct snap_runtime *runtime, uint64_t table, uint64_t count,
	const char *name, bool waiting, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	struct snap_root_source function = {
		.kind = HG_ROOT_FINALISER, .name = name, .stack = SNAP_NO_INDEX};
	struct snap_root_source value = function;
	value.last = !waiting;
	if (count >> 40 || snap_image_present(runtime->image, table, count * l->sizeof_final) <
				   count * l->sizeof_final) {
		snap_note_line(runtime, "a table of finalisers is damaged");
		return HG_OK;
	}
	for (uint64_t i = 0; i < count; i++, table += l->sizeof_final) {
		BASE_TRY(snap_read_root(runtime, &function, table + l->final_fun, i, error));
		BASE_TRY(snap_read_root(runtime, &value, table + l->final_val, i, error));
	}
	return HG_OK;
}

/* Those whose values were found dead, and whose functions wait to be run. */
enum hg_status snap_read_finaliser_queue(
	struct snap_runtime *runtime, uint64_t head, const char *name, struct hg_error *error)
{
	const struct snap_layout *l = runtime->layout;
	struct snap_list walk = {.words = SNAP_CELL_WORDS};
	for (; snap_list_goes_on(runtime, &walk, head);
		head = snap_word(runtime, head + l->final_todo_next))
		BASE_TRY(snap_read_finalisers(runtime, head + l->final_todo_item,
			snap_half(runtime, head + l->final_todo_size), name, true, error));
	return HG_OK;
}

/* Field 0 of an ephemeron is the next one; the list ends with 0 or an integer. */
enum hg_status snap_add_ephemerons(
	struct snap_runtime *runtime, uint64_t list, struct hg_error *error)
{
	struct snap_list walk = {.words = SNAP_CELL_WORDS};
	for (; list % 8 == 0 && snap_list_goes_on(runtime, &walk, list);
		list = snap_word(runtime, list)) {
		BASE_TRY(base_grow(&runtime->ephemerons, runtime->ephemeron_count,
			&runtime->ephemeron_capacity, sizeof(*runtime->ephemerons), error));
		runtime->ephemerons[runtime->ephemeron_count++] = (struct snap_block_address){list};
	}
	return HG_OK;
}

/* One root per slot */

/* What says most about a slot comes first. */
static int rank_of_kind(const struct snap_runtime_root *root)
{
	static const int ranks[HG_ROOT_KINDS] = {[HG_ROOT_NAMED_VALUE] = 0,
		[HG_ROOT_MEMPROF] = 1,
		[HG_ROOT_FINALISER] = 2,
		[HG_ROOT_GLOBAL] = 3,
		[HG_ROOT_EPHEMERON] = 4,
		[HG_ROOT_STACK] = 5,
		[HG_ROOT_LOCAL] = 6,
		[HG_ROOT_OTHER] = 7,
		[HG_ROOT_C_GLOBAL] = 8};
	return ranks[root->kind] + (root->conservative ? HG_ROOT_KINDS : 0);
}

static int compare_roots(const void *a, const void *b)
{
	const struct snap_runtime_root *x = a, *y = b;
	if (x->slot_address != y->slot_address)
		return x->slot_address > y->slot_address ? 1 : -1;
	if (rank_of_kind(x) != rank_of_kind(y))
		return rank_of_kind(x) > rank_of_kind(y) ? 1 : -1;
	if (x->value != y->value)
		return x->value > y->value ? 1 : -1;
	if (x->stack != y->stack)
		return x->stack > y->stack ? 1 : -1;
	return (x->index > y->index) - (x->index < y->index);
}

void snap_sort_roots(struct snap_runtime *runtime)
{
	struct snap_runtime_root *items = runtime->roots.items;
	uint64_t kept = 0;
	if (runtime->roots.count)
		qsort(items, runtime->roots.count, sizeof(*items), compare_roots);
	for (uint64_t i = 0; i < runtime->roots.count; i++) {
		bool again = kept && items[i].slot_address == items[kept - 1].slot_address &&
			     (items[i].slot_address != HG_UNKNOWN ||
				     (items[i].value == items[kept - 1].value &&
					     items[i].stack == items[kept - 1].stack));
		if (!again)
			items[kept++] = items[i];
	}
	runtime->roots.count = kept;
	base_assert(BASE_IS_SORTED(items, kept, slot_address));
}

void snap_roots_release(struct snap_runtime_roots *roots)
{
	free(roots->items);
	*roots = (struct snap_runtime_roots){0};
}
