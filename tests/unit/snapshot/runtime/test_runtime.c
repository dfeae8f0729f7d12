/* What the runtime of real programs holds, by name; and programs that have none to read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <sys/mman.h>

#include "snapshot/runtime/runtime.h"
#include "tests/unit/core.h"
#include "tests/unit/subject.h"

static uint64_t area_words(const struct snap_runtime *rt, enum snap_area_kind kind)
{
	uint64_t words = 0;
	for (uint64_t i = 0; i < rt->area_count; i++)
		if (rt->areas[i].kind == kind)
			words += (rt->areas[i].end - rt->areas[i].start) / 8;
	return words;
}

static uint64_t count_named(const struct snap_runtime *rt, enum hg_root_kind kind, const char *name)
{
	uint64_t count = 0;
	for (uint64_t i = 0; i < rt->roots.count; i++)
		count += rt->roots.items[i].kind == kind &&
			 (!name || strcmp(rt->roots.items[i].name, name) == 0);
	return count;
}

static const struct snap_runtime_root *find_root(
	const struct snap_runtime *rt, const char *name, uint64_t index)
{
	for (uint64_t i = 0; i < rt->roots.count; i++)
		if (strcmp(rt->roots.items[i].name, name) == 0 && rt->roots.items[i].index == index)
			return &rt->roots.items[i];
	return NULL;
}

static void detects_versions(void **state)
{
	(void)state;
	static const struct {
		const char *core, *executable, *version;
		bool is_5;
	} cases[] = {
		{"413-cache/core", "413-cache/cache", "4.13.1", false},
		{"413-cache/core", "413-cache/cache.stripped", "4.13.1", false},
		{"53-fib/core", "53-fib/fib.stripped", "5.3.0", true},
		{"53-mprof/core.gcore", "53-mprof/mprof", "5.3.0", true},
		{"53-mprof/core.fork", "53-mprof/mprof", "5.3.0", true},
		{"zoo-4.13.1", NULL, "4.13.1", false},
		{"zoo-5.3.0", NULL, "5.3.0", true},
		{"fibers-5.3.0", NULL, "5.3.0", true},
		{"zoo-5.4.1", NULL, "5.4.1", true},
		{"fibers-5.5.2", NULL, "5.5.2", true},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct subject s;
		if (!has_core(cases[i].core))
			continue;
		subject_open(&s, cases[i].core, cases[i].executable);
		assert_string_equal(s.rt.version, cases[i].version);
		assert_int_equal(s.rt.is_5, cases[i].is_5);
		assert_int_equal(s.rt.reserved_bits, 0);
		assert_int_equal(s.rt.note_count, 0);
		assert_int_equal(s.rt.statistics.compactions, 0);
		assert_true(s.rt.atoms.start != 0);
		subject_close(&s);
	}
}

/* Slots by kind: figures of the prototype, which were compared with Gc.stat. */
static void counts_roots(void **state)
{
	(void)state;
	static const struct {
		const char *core, *executable;
		uint64_t globals, stack, local, c_global, finaliser, named, memprof;
		uint64_t stacks, ephemerons, samples;
	} cases[] = {
		{"413-cache/core", "413-cache/cache", 1649, 4, 4, 8, 8, 6, 0, 4, 5, 0},
		{"413-cache/core", "413-cache/cache.stripped", 1649, 4, 4, 8, 8, 6, 0, 4, 5, 0},
		{"53-cache/core", "53-cache/cache", 1867, 4 + 12, 4, 11, 8, 6, 5, 4, 5, 0},
		{"53-cache/core", "53-cache/cache.stripped", 1867, 4 + 12, 4, 11, 8, 6, 5, 4, 5, 0},
		{"53-fib/core", "53-fib/fib", 1719, 6 + 21, 0, 16, 0, 7, 8, 4, 1, 0},
		{"53-fib/core", "53-fib/fib.stripped", 1719, 6 + 21, 0, 16, 0, 7, 8, 4, 1, 0},
		{"413-dyn/core", "413-dyn/maind", 5158 + 2, 0, 0, 5, 0, 5, 0, 1, 0, 0},
		{"413-mprof/core", "413-mprof/mprof", 1484, 0, 0, 6, 0, 5, 3073, 1, 0, 3073},
		{"413-mprof/core.gcore", "413-mprof/mprof", 1484, 0, 0, 6, 0, 5, 3073, 1, 0, 3073},
		{"413-mprof/core.fork", "413-mprof/mprof", 1484, 0, 0, 6, 0, 5, 3073, 1, 0, 3073},
		{"53-mprof/core", "53-mprof/mprof", 1699, 3, 0, 8, 0, 5, 2 + 2958, 1, 0, 2958},
		{"53-mprof/core.gcore", "53-mprof/mprof", 1699, 3, 0, 8, 0, 5, 2 + 2958, 1, 0,
			2958},
		/*
		 * Fixtures.  Global fields of 4.13 and 5.3 are as many as gdb counts in
		 * caml_globals of the same program; stacks, finalisers, one more named value and
		 * samples are as many as the programs make.  Slots of stacks, local and C roots,
		 * and ephemerons are what heapgraph said, and so are those of 5.4 and 5.5: they
		 * tell when that changes, not that it is right.  What hangs on them is compared
		 * with Obj.reachable_words by tests/cli/cores.sh.
		 */
		{"zoo-4.13.1", NULL, 1685, 183, 7, 8, 4, 6, 0, 4, 254, 0},
		{"zoo-5.3.0", NULL, 1911, 183 + 12, 7, 11, 4, 6, 5, 4, 281, 0},
		{"fibers-5.3.0", NULL, 1714, 8 + 21, 3, 16, 0, 7, 8, 4, 0, 0},
		{"sampled-5.3.0", NULL, 1704, 3, 0, 8, 0, 5, 2 + 339, 1, 0, 339},
		{"zoo-5.4.1", NULL, 1980, 183 + 12, 7, 11, 4, 6, 5, 4, 277, 0},
		{"fibers-5.5.2", NULL, 1880, 8 + 21, 3, 16, 0, 7, 8, 4, 0, 0},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct subject s;
		if (!has_core(cases[i].core))
			continue;
		subject_open(&s, cases[i].core, cases[i].executable);
		const uint64_t *slots = s.rt.root_slots;
		if (slots[HG_ROOT_GLOBAL] != cases[i].globals ||
			slots[HG_ROOT_STACK] != cases[i].stack ||
			slots[HG_ROOT_LOCAL] != cases[i].local ||
			slots[HG_ROOT_C_GLOBAL] != cases[i].c_global ||
			slots[HG_ROOT_FINALISER] != cases[i].finaliser ||
			slots[HG_ROOT_NAMED_VALUE] != cases[i].named ||
			slots[HG_ROOT_MEMPROF] != cases[i].memprof ||
			s.rt.stack_count != cases[i].stacks ||
			s.rt.ephemeron_count != cases[i].ephemerons ||
			s.rt.sample_count != cases[i].samples)
			fail_msg("%s: %ju %ju %ju %ju %ju %ju %ju, %ju %ju %ju", cases[i].core,
				slots[HG_ROOT_GLOBAL], slots[HG_ROOT_STACK], slots[HG_ROOT_LOCAL],
				slots[HG_ROOT_C_GLOBAL], slots[HG_ROOT_FINALISER],
				slots[HG_ROOT_NAMED_VALUE], slots[HG_ROOT_MEMPROF],
				(uintmax_t)s.rt.stack_count, (uintmax_t)s.rt.ephemeron_count,
				(uintmax_t)s.rt.sample_count);
		subject_close(&s);
	}
}

static void assert_areas_equal(const struct snap_runtime *a, const struct snap_runtime *b)
{
	assert_int_equal(a->area_count, b->area_count);
	for (uint64_t i = 0; i < a->area_count; i++) {
		assert_int_equal(a->areas[i].start, b->areas[i].start);
		assert_int_equal(a->areas[i].end, b->areas[i].end);
		assert_int_equal(a->areas[i].kind, b->areas[i].kind);
		assert_int_equal(a->areas[i].slot_words, b->areas[i].slot_words);
	}
}

/* One process in one state, dumped by the kernel, by gcore and by a forked child. */
static void captures_agree(void **state)
{
	(void)state;
	static const char *const cores[][3] = {
		{"413-mprof/core", "413-mprof/core.gcore", "413-mprof/core.fork"},
		{"53-mprof/core", "53-mprof/core.gcore", "53-mprof/core.fork"}};
	need_real_cores();
	for (size_t i = 0; i < LENGTH(cores); i++) {
		struct subject first, other;
		const char *executable = i ? "53-mprof/mprof" : "413-mprof/mprof";
		subject_open(&first, cores[i][0], executable);
		for (size_t c = 1; c < 3; c++) {
			subject_open(&other, cores[i][c], executable);
			assert_areas_equal(&first.rt, &other.rt);
			assert_int_equal(first.rt.roots.count, other.rt.roots.count);
			for (uint64_t r = 0; r < first.rt.roots.count; r++) {
				const struct snap_runtime_root *a = &first.rt.roots.items[r];
				const struct snap_runtime_root *b = &other.rt.roots.items[r];
				assert_int_equal(a->slot_address, b->slot_address);
				assert_int_equal(a->value, b->value);
				assert_string_equal(a->name, b->name);
			}
			assert_int_equal(first.rt.sample_count, other.rt.sample_count);
			for (uint64_t k = 0; k < first.rt.sample_count; k++) {
				const struct snap_sample *a = &first.rt.samples[k];
				const struct snap_sample *b = &other.rt.samples[k];
				assert_int_equal(a->block, b->block);
				assert_int_equal(a->samples, b->samples);
				assert_int_equal(a->user_data, b->user_data);
			}
			subject_close(&other);
		}
		subject_close(&first);
	}
}

/* Everything but the names of C roots. */
static void stripping_loses_nothing(void **state)
{
	(void)state;
	static const char *const cases[][3] = {
		{"413-cache/core", "413-cache/cache", "413-cache/cache.stripped"},
		{"53-cache/core", "53-cache/cache", "53-cache/cache.stripped"},
		{"53-fib/core", "53-fib/fib", "53-fib/fib.stripped"}};
	need_real_cores();
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct subject whole, bare;
		subject_open(&whole, cases[i][0], cases[i][1]);
		subject_open(&bare, cases[i][0], cases[i][2]);
		assert_memory_equal(
			whole.rt.areas, bare.rt.areas, bare.rt.area_count * sizeof(*bare.rt.areas));
		assert_int_equal(whole.rt.roots.count, bare.rt.roots.count);
		for (uint64_t r = 0; r < bare.rt.roots.count; r++) {
			const struct snap_runtime_root *a = &whole.rt.roots.items[r];
			const struct snap_runtime_root *b = &bare.rt.roots.items[r];
			assert_int_equal(a->kind, b->kind);
			assert_int_equal(a->slot_address, b->slot_address);
			assert_int_equal(a->value, b->value);
			assert_int_equal(a->index, b->index);
			if (a->kind != HG_ROOT_C_GLOBAL)
				assert_string_equal(a->name, b->name);
		}
		assert_int_equal(whole.rt.ephemeron_count, bare.rt.ephemeron_count);
		assert_int_equal(whole.rt.code_count, bare.rt.code_count);
		assert_int_equal(whole.rt.atoms.start, bare.rt.atoms.start);
		assert_int_equal(whole.rt.page_table_entries, bare.rt.page_table_entries);
		assert_int_equal(bare.rt.note_count, 0);
		subject_close(&bare);
		subject_close(&whole);
	}
}

static void names_roots(void **state)
{
	(void)state;
	static const struct {
		const char *core, *executable;
		const char *module; /* the first field that is no function */
		uint64_t field, value;
		const char *waiting; /* frame of a thread, and how many slots it has */
		uint64_t slots;
		const char *generational, *old_style, *named;
		uint64_t finalisers;
		unsigned main_frames, thread_frames; /* of the fixtures: as heapgraph said */
	} cases[] = {
		{"413-cache/core", "413-cache/cache", "Cache", 2, 0x7f806feadef0,
			"Cache.(fun).deep cache.ml:73:36-56 (thread 2)", 1, "g_root1", "g_root2",
			"my.named", 8, 5, 53},
		{"53-cache/core", "53-cache/cache", "Cache", 2, 0x7f082202ef40,
			"Cache.(fun).deep cache.ml:73:36-56 (thread 2)", 1, "g_root1", "g_root2",
			"my.named", 8, 5, 53},
		{"zoo-4.13.1", NULL, "Zoo", 2, 0x7f5fe7157e10,
			"Zoo.descend zoo.ml:213:4-20 (thread 2)", 1, "generational", "old_style",
			"heapgraph.tests.named", 4, 4, 62},
		{"zoo-5.3.0", NULL, "Zoo", 2, 0x7f7018563f68,
			"Zoo.descend zoo.ml:213:4-20 (thread 2)", 1, "generational", "old_style",
			"heapgraph.tests.named", 4, 4, 62},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct subject s;
		if (!has_core(cases[i].core))
			continue;
		subject_open(&s, cases[i].core, cases[i].executable);
		const struct snap_runtime_root *field =
			find_root(&s.rt, cases[i].module, cases[i].field);
		assert_non_null(field);
		assert_int_equal(field->kind, HG_ROOT_GLOBAL);
		assert_int_equal(field->value, cases[i].value);
		assert_non_null(find_root(&s.rt, "Stdlib__Sys", 0));
		assert_int_equal(
			count_named(&s.rt, HG_ROOT_STACK, cases[i].waiting), cases[i].slots);
		assert_int_equal(count_named(&s.rt, HG_ROOT_C_GLOBAL, cases[i].generational), 1);
		assert_int_equal(count_named(&s.rt, HG_ROOT_C_GLOBAL, cases[i].old_style), 1);
		assert_int_equal(count_named(&s.rt, HG_ROOT_NAMED_VALUE, cases[i].named), 1);
		assert_int_equal(count_named(&s.rt, HG_ROOT_FINALISER, NULL), cases[i].finalisers);
		assert_int_equal(count_named(&s.rt, HG_ROOT_OTHER, "thread descriptor"), 4);
		/* The slots of named values are roots of C code too, and appear once. */
		for (uint64_t r = 1; r < s.rt.roots.count; r++)
			assert_true(s.rt.roots.items[r - 1].slot_address <
				    s.rt.roots.items[r].slot_address);
		for (uint64_t k = 0; k < s.rt.stack_count; k++) {
			assert_true(s.rt.stacks[k].complete);
			assert_int_equal(s.rt.stacks[k].frames,
				k == 0 ? cases[i].main_frames : cases[i].thread_frames);
		}
		subject_close(&s);
	}
}

/* Stops where the saved state is stale, and one where nothing needs repair. */
static void repairs_stacks(void **state)
{
	(void)state;
	static const struct {
		const char *core, *executable;
		bool repaired, minor;
	} cases[] = {
		{"413-gt/gt1.ocaml.core", "413-gt/gt1", true, false},
		{"413-gt/gt1.sweep.core", "413-gt/gt1", false, false},
		{"413-gt/gt1.minor.core", "413-gt/gt1", false, true},
		{"413-gt/gtt.ocaml.core", "413-gt/gtt", true, false},
		{"413-gt/gth.noalloc-a.core", "413-gt/gth", true, false},
		{"53-gt/gt1.ocaml.core", "53-gt/gt1", true, false},
		{"53-gt/gt1.minor.core", "53-gt/gt1", false, true},
		{"53-gt/gth.noalloc-a.core", "53-gt/gth", true, false},
	};
	need_real_cores();
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct subject s;
		bool repaired = false;
		subject_open(&s, cases[i].core, cases[i].executable);
		for (uint64_t k = 0; k < s.rt.stack_count; k++)
			repaired |= s.rt.stacks[k].repaired;
		if (repaired != cases[i].repaired || s.rt.in_minor_collection != cases[i].minor)
			fail_msg("%s", cases[i].core);
		assert_false(s.rt.in_compaction);
		subject_close(&s);
	}
}

/* What is true of the areas of every heap of 4.x. */
static void check_chunks(struct snap_runtime *rt, uint64_t minor_words)
{
	assert_int_equal(area_words(rt, SNAP_AREA_CHUNK), rt->statistics.heap_words);
	assert_int_equal(area_words(rt, SNAP_AREA_MINOR), minor_words);
	uint64_t heap_pages = 0, inside = 0;
	for (uint64_t i = 0; i < rt->area_count; i++) {
		const struct snap_area *a = &rt->areas[i];
		assert_ptr_equal(snap_runtime_area(rt, a->start), a);
		assert_ptr_equal(snap_runtime_area(rt, a->end - 1), a);
		assert_true(i == 0 || a->start >= rt->areas[i - 1].end);
		if (a->kind != SNAP_AREA_CHUNK)
			continue;
		for (uint64_t page = a->start; page < a->end; page += 4096) {
			heap_pages++;
			inside += (snap_runtime_page(rt, page) & SNAP_PAGE_HEAP) != 0;
		}
	}
	/* The page table knows exactly the chunks. */
	assert_int_equal(heap_pages, inside);
	assert_int_equal(heap_pages * 512, rt->statistics.heap_words);
	assert_int_equal(
		snap_runtime_page(rt, rt->minor_heaps.start) & SNAP_PAGE_YOUNG, SNAP_PAGE_YOUNG);
	assert_true(snap_runtime_page(rt, rt->statics[0].start) & SNAP_PAGE_STATIC);
	assert_int_equal(snap_runtime_page(rt, 0x1000), 0);
	assert_null(snap_runtime_area(rt, 0));
	assert_null(snap_runtime_area(rt, UINT64_MAX));
}

/* Of 5.x: a domain has ended before; the others have adopted its pools, or have not. */
static void check_pools(const struct snap_runtime *rt)
{
	uint64_t orphaned = 0, large = 0;
	for (uint64_t i = 0; i < rt->area_count; i++) {
		large += rt->areas[i].kind == SNAP_AREA_LARGE;
		orphaned += rt->areas[i].domain == SNAP_NO_INDEX;
	}
	assert_int_equal(rt->domain_count, 4);
	assert_int_equal(area_words(rt, SNAP_AREA_LARGE) + 2 * large, rt->statistics.large_words);
	assert_true(orphaned < rt->area_count);
}

static void areas(void **state)
{
	(void)state;
	static const struct {
		const char *core, *executable;
		uint64_t minor_words; /* 4.x */
	} cases[] = {
		{"413-cache/core", "413-cache/cache", 1363},
		{"53-fib/core", "53-fib/fib", 0},
		{"zoo-4.13.1", NULL, 1990},
		{"fibers-5.3.0", NULL, 0},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct subject s;
		if (!has_core(cases[i].core))
			continue;
		subject_open(&s, cases[i].core, cases[i].executable);
		if (s.rt.is_5)
			check_pools(&s.rt);
		else
			check_chunks(&s.rt, cases[i].minor_words);
		subject_close(&s);
	}
}

static void samples_have_call_stacks(void **state)
{
	(void)state;
	static const struct {
		const char *core, *executable;
		uint64_t samples;
		const char *file, *function;
		uint32_t line, start, end; /* of the call that made most_frequent of them */
		uint64_t most_frequent, custom;
	} cases[] = {
		{"413-mprof/core", "413-mprof/mprof", 3073, "mprof.ml", "Mprof.arrays.(fun)", 6, 38,
			53, 1004, 1},
		{"53-mprof/core", "53-mprof/mprof", 2958, "mprof.ml", "Mprof.arrays.(fun)", 6, 38,
			53, 945, 1},
		{"sampled-5.3.0", NULL, 339, "sampled.ml", "Sampled.tree", 34, 30, 78, 305, 1},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct subject s;
		struct snap_code_location at[8];
		uint64_t slots[64], count, decoded = 0, frequent = 0, custom = 0, equal = 0, header;
		if (!has_core(cases[i].core))
			continue;
		subject_open(&s, cases[i].core, cases[i].executable);
		assert_int_equal(s.rt.sample_count, cases[i].samples);
		for (uint64_t k = 0; k < s.rt.sample_count; k++) {
			const struct snap_sample *sample = &s.rt.samples[k];
			assert_true(snap_image_u64(&s.image, sample->block - 8, &header));
			equal += snap_runtime_wosize(&s.rt, header) == sample->wosize;
			custom += sample->source == SNAP_SAMPLE_CUSTOM;
			assert_true(sample->samples > 0);
			assert_int_equal(sample->stash, 0);
			if (!snap_runtime_callstack(&s.rt, sample->user_data, slots, 64, &count))
				continue;
			decoded++;
			assert_true(count <= 20);
			assert_true(snap_runtime_locations(&s.rt, slots[0], at, 8) > 0);
			assert_true(at[0].line > 0 && at[0].end > at[0].start);
			frequent += strcmp(at[0].file, cases[i].file) == 0 &&
				    at[0].line == cases[i].line && at[0].start == cases[i].start &&
				    at[0].end == cases[i].end &&
				    strcmp(at[0].function, cases[i].function) == 0;
		}
		assert_int_equal(decoded, cases[i].samples);
		assert_int_equal(custom, cases[i].custom);
		assert_int_equal(equal, cases[i].samples - custom);
		assert_int_equal(frequent, cases[i].most_frequent);
		assert_false(snap_runtime_callstack(&s.rt, 1, slots, 64, &count));
		assert_false(
			snap_runtime_callstack(&s.rt, s.rt.samples[0].block, slots, 64, &count));
		assert_int_equal(snap_runtime_locations(&s.rt, 1, at, 8), 0);
		subject_close(&s);
	}
}

struct customs {
	uint64_t ours, int64s, bigarrays, bigarray_bytes;
};

static void count_custom(struct snap_runtime *rt, struct snap_header_address at, uint64_t wosize,
	const char *identifier, struct customs *count)
{
	struct snap_custom custom;
	snap_runtime_custom(rt, snap_block_of(at), wosize, &custom);
	count->ours += strcmp(custom.identifier, identifier) == 0;
	count->int64s += strcmp(custom.identifier, "_j") == 0;
	if (strcmp(custom.identifier, "_bigarr02") == 0) {
		count->bigarrays++;
		count->bigarray_bytes += custom.bytes;
		assert_int_equal(custom.offheap, SNAP_OFFHEAP_MALLOC);
	}
}

static void count_customs_in(struct subject *s, const struct snap_area *area,
	const char *identifier, struct customs *count)
{
	uint64_t header;
	for (uint64_t at = area->start; at < area->end;) {
		assert_true(snap_image_u64(&s->image, at, &header));
		uint64_t wosize = snap_runtime_wosize(&s->rt, header);
		bool is_free = area->kind == SNAP_AREA_POOL ? header == 0 : (header >> 8 & 3) == 2;
		if (!is_free && (header & 0xff) == 255 && wosize)
			count_custom(&s->rt, (struct snap_header_address){at}, wosize, identifier,
				count);
		at += 8 * (area->slot_words ? area->slot_words : wosize + 1);
	}
}

/* Every custom block in the heap: the sources of the programs say how many they make. */
static void custom_blocks(void **state)
{
	(void)state;
	static const struct {
		const char *core, *executable, *identifier;
		struct customs count;
	} cases[] = {
		{"413-cache/core", "413-cache/cache", "heapgraph.test", {100, 100, 4, 4 * 8000}},
		{"53-cache/core", "53-cache/cache", "heapgraph.test", {100, 100, 4, 4 * 8000}},
		{"zoo-4.13.1", NULL, "heapgraph.tests.handle", {3, 3, 10, 15 * (800 + 1000)}},
		{"zoo-5.3.0", NULL, "heapgraph.tests.handle", {3, 3, 10, 15 * (800 + 1000)}},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct subject s;
		struct customs count = {0};
		if (!has_core(cases[i].core))
			continue;
		subject_open(&s, cases[i].core, cases[i].executable);
		for (uint64_t a = 0; a < s.rt.area_count; a++)
			count_customs_in(&s, &s.rt.areas[a], cases[i].identifier, &count);
		assert_int_equal(count.bigarrays, cases[i].count.bigarrays);
		assert_int_equal(count.bigarray_bytes, cases[i].count.bigarray_bytes);
		assert_int_equal(count.ours, cases[i].count.ours);
		assert_int_equal(count.int64s, cases[i].count.int64s);
		subject_close(&s);
	}
}

static void names_code(void **state)
{
	(void)state;
	static const struct {
		const char *core, *executable, *module, *function, *symbol;
		uint64_t field; /* a closure: its field 0 is the code of the function */
	} cases[] = {{"413-cache/core", "413-cache/cache", "Cache", "Cache.even",
			     "camlCache__code_begin", 17},
		{"53-cache/core", "53-cache/cache", "Cache", "Cache.even", "camlCache.code_begin",
			17},
		{"zoo-4.13.1", NULL, "Zoo", "Zoo.is_even", "camlZoo__code_begin", 44},
		{"zoo-5.3.0", NULL, "Zoo", "Zoo.is_even", "camlZoo.code_begin", 44}};
	char name[64];
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct subject s;
		struct snap_symbol symbol;
		if (!has_core(cases[i].core))
			continue;
		subject_open(&s, cases[i].core, cases[i].executable);
		const struct snap_runtime_root *even =
			find_root(&s.rt, cases[i].module, cases[i].field);
		uint64_t code;
		assert_non_null(even);
		assert_true(snap_image_u64(&s.image, even->value, &code));
		assert_true(snap_runtime_is_code(&s.rt, code));
		assert_true(snap_runtime_is_static(&s.rt, even->value));
		assert_true(snap_runtime_function(&s.rt, code, name, sizeof(name)));
		assert_string_equal(name, cases[i].function);
		assert_true(snap_image_symbol(&s.image, "caml_c_call", &symbol));
		assert_false(snap_runtime_is_code(&s.rt, symbol.address));
		assert_true(snap_runtime_function(&s.rt, symbol.address, name, sizeof(name)));
		assert_string_equal(name, "caml_c_call");
		assert_true(snap_image_symbol(&s.image, cases[i].symbol, &symbol));
		assert_true(snap_runtime_is_code(&s.rt, symbol.address));
		subject_close(&s);
	}
}

/* Figures of the prototype, where the plugin of the last has a table of its own; and of gdb. */
static void frame_tables(void **state)
{
	(void)state;
	static const struct {
		const char *core, *executable;
		uint64_t tables, descriptors;
	} cases[] = {{"413-cache/core", "413-cache/cache", 48, 4884},
		{"53-cache/core", "53-cache/cache", 47, 5400},
		{"413-dyn/core", "413-dyn/maind", 133, 13724},
		/* As gdb counts them through caml_frametable of the same programs. */
		{"zoo-4.13.1", NULL, 48, 4919}, {"zoo-5.3.0", NULL, 48, 5459},
		{"fibers-5.3.0", NULL, 44, 4506}, {"sampled-5.3.0", NULL, 44, 4443}};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct subject s;
		if (!has_core(cases[i].core))
			continue;
		subject_open(&s, cases[i].core, cases[i].executable);
		assert_int_equal(snap_frame_table_count(&s.rt), cases[i].tables);
		assert_int_equal(snap_descriptor_count(&s.rt), cases[i].descriptors);
		subject_close(&s);
	}
}

/* Programs that cannot be read */

static const uint8_t max_wosize[] = {0x48, 0xb8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0xc3};

/* Of a process with these symbols; its data are zero. */
static void must_refuse(const struct exe_symbol *symbols, size_t count, const char *message)
{
	struct process p;
	struct snap_image image;
	struct snap_runtime rt;
	struct hg_error error;
	process_start(&p);
	put(&p.exe, EXE_TEXT, max_wosize, sizeof(max_wosize));
	put_symbols(&p.exe, symbols, count);
	core_build(&p, NULL);
	process_write(&p);
	struct snap_image_options options = {.core = p.core_path};
	if (snap_image_open(&image, &options, &error) != HG_OK)
		fail_msg("%s", error.message);
	assert_int_equal(snap_runtime_open(&rt, &image, &error), HG_ERROR_INPUT);
	if (!strstr(error.message, message))
		fail_msg("'%s', not '%s'", error.message, message);
	snap_image_close(&image);
	process_release(&p);
}

static void refuses_others(void **state)
{
	(void)state;
	const struct exe_symbol none[] = {{"main", EXE_TEXT, 16, STT_FUNC, STB_GLOBAL, 1}};
	const struct exe_symbol bytecode[] = {
		{"Caml_state", EXE_DATA, 8, STT_OBJECT, STB_GLOBAL, 2},
		{"caml_interprete", EXE_TEXT, 16, STT_FUNC, STB_GLOBAL, 1}};
	const struct exe_symbol bytecode5[] = {{"caml_state", 0x10, 8, STT_TLS, STB_GLOBAL, 2},
		{"caml_bytecode_interpreter", EXE_TEXT, 16, STT_FUNC, STB_GLOBAL, 1}};
	const struct exe_symbol old[] = {
		{"caml_frametable", EXE_DATA, 8, STT_OBJECT, STB_GLOBAL, 2}};
	const struct exe_symbol library[] = {
		{"Caml_state", EXE_DATA, 8, STT_OBJECT, STB_GLOBAL, 2}};
	const struct exe_symbol older[] = {{"Caml_state", EXE_DATA, 8, STT_OBJECT, STB_GLOBAL, 2},
		{"caml_frametable", EXE_DATA, 8, STT_OBJECT, STB_GLOBAL, 2},
		{"caml_sys_const_max_wosize", EXE_TEXT, 16, STT_FUNC, STB_GLOBAL, 1}};
	const struct exe_symbol fresh[] = {{"Caml_state", EXE_DATA, 8, STT_OBJECT, STB_GLOBAL, 2},
		{"caml_frametable", EXE_DATA, 8, STT_OBJECT, STB_GLOBAL, 2},
		{"caml_do_exit", EXE_TEXT + 0x40, 16, STT_FUNC, STB_GLOBAL, 1},
		{"caml_sys_const_max_wosize", EXE_TEXT, 16, STT_FUNC, STB_GLOBAL, 1}};
	const struct exe_symbol unclear[] = {{"Caml_state", EXE_DATA, 8, STT_OBJECT, STB_GLOBAL, 2},
		{"caml_frametable", EXE_DATA, 8, STT_OBJECT, STB_GLOBAL, 2}};
	must_refuse(none, LENGTH(none), "is no OCaml program");
	must_refuse(bytecode, LENGTH(bytecode), "interprets bytecode, but has loaded none");
	must_refuse(bytecode5, LENGTH(bytecode5), "interprets bytecode, but has loaded none");
	must_refuse(old, LENGTH(old), "before 4.10");
	must_refuse(older, LENGTH(older), "is of OCaml 4.10 to 4.12; supported are");
	must_refuse(library, LENGTH(library), "no code of ocamlopt");
	must_refuse(fresh, LENGTH(fresh), "has not started");
	must_refuse(unclear, LENGTH(unclear), "layout of headers cannot be told");
}

/* What waits to begin has a name that begins like what has begun. */
static void tells_moments(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum snap_moment moment;
		bool is_ahead;
	} functions[] = {
		{"caml_empty_minor_heap_promote", SNAP_MOMENT_MINOR_COLLECTION, false},
		{"caml_empty_minor_heaps_once", SNAP_MOMENT_MINOR_COLLECTION, true},
		{"caml_empty_minor_heap", SNAP_MOMENT_MINOR_COLLECTION, true},
		{"oldify_mopup", SNAP_MOMENT_MINOR_COLLECTION, false},
		{"compact_update_ephe_list", SNAP_MOMENT_COMPACTION, false},
		{"caml_uniform_array_make", SNAP_MOMENT_FILLING, false},
		{"caml_alloc_shr", SNAP_MOMENT_NONE, false},
		{"caml_empty_minor", SNAP_MOMENT_NONE, false},
		{"", SNAP_MOMENT_NONE, false},
	};
	for (size_t i = 0; i < LENGTH(functions); i++) {
		bool is_ahead = !functions[i].is_ahead;
		assert_int_equal(
			snap_moment_of_function(functions[i].name, &is_ahead), functions[i].moment);
		assert_int_equal(is_ahead, functions[i].is_ahead);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(detects_versions),
		cmocka_unit_test(counts_roots),
		cmocka_unit_test(captures_agree),
		cmocka_unit_test(stripping_loses_nothing),
		cmocka_unit_test(names_roots),
		cmocka_unit_test(repairs_stacks),
		cmocka_unit_test(areas),
		cmocka_unit_test(samples_have_call_stacks),
		cmocka_unit_test(custom_blocks),
		cmocka_unit_test(names_code),
		cmocka_unit_test(frame_tables),
		cmocka_unit_test(refuses_others),
		cmocka_unit_test(tells_moments),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
