/* Cores whose data structures were damaged: they open, or fail with a message, and end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/core.h"
#include "tests/unit/subject.h"

/* A copy of a core that is not compressed, to write into. */
struct copy {
	char path[32];
	FILE *file;
	struct bytes bytes;
};

static void copy_open(struct copy *c, const struct snap_image *image)
{
	*c = (struct copy){.path = "/tmp/heapgraph.XXXXXX"};
	int descriptor = mkstemp(c->path);
	assert_true(descriptor >= 0);
	c->file = fdopen(descriptor, "r+b");
	assert_non_null(c->file);
	assert_int_equal(fwrite(image->core.bytes, 1, image->core.size, c->file), image->core.size);
	fflush(c->file);
}

static void copy_word(struct copy *c, uint64_t offset, uint64_t word)
{
	assert_int_equal(fseek(c->file, (long)offset, SEEK_SET), 0);
	assert_int_equal(fwrite(&word, 1, sizeof(word), c->file), sizeof(word));
	fflush(c->file);
}

static void copy_close(struct copy *c)
{
	fclose(c->file);
	unlink(c->path);
}

/* Where the bytes of an address are in the core; UINT64_MAX if they are not. */
static uint64_t offset_of(const struct snap_image *image, uint64_t address)
{
	const struct snap_load *load = snap_image_load(image, address);
	return load && address - load->address < load->held
		       ? load->offset + (address - load->address)
		       : UINT64_MAX;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Something that a careless reader believes. */
static uint64_t bad_word(uint64_t *random, uint64_t old, uint64_t somewhere)
{
	switch (next_random(random) % 6) {
	case 0:
		return UINT64_MAX;
	case 1:
		return somewhere; /* lists that end in others, or in themselves */
	case 2:
		return old ^ (uint64_t)1 << next_random(random) % 64;
	case 3:
		return next_random(random) >> next_random(random) % 48;
	case 4:
		return old + 8;
	default:
		return 0;
	}
}

/* Addresses of what is read: variables of the runtime, the state of the domain, and their lists. */
static size_t collect(struct subject *s, uint64_t *out, size_t capacity)
{
	static const char *const variables[] = {"caml_globals", "caml_data_segments",
		"caml_code_segments", "caml_frametable", "caml_global_roots",
		"caml_global_roots_old", "caml_global_roots_young", "named_value_table",
		"caml_heap_start", "curr_thread", "finalisable_first", "to_do_hd", "entries_global",
		"caml_ephe_list_head", "caml_page_table", "stw_domains", "all_domains",
		"thread_table", "pool_freelist", "orph_structs", "orphans", "current_frame_descrs",
		"code_fragments_by_pc", "caml_atom_table", "caml_minor_heaps_start",
		"caml_minor_heaps_end"};
	size_t count = 0;
	for (size_t i = 0; i < LENGTH(variables); i++) {
		struct snap_symbol symbol;
		if (!snap_image_symbol(&s->image, variables[i], &symbol))
			continue;
		for (uint64_t k = 0; k < 6 && count + 7 < capacity; k++) {
			uint64_t pointer;
			out[count++] = symbol.address + 8 * k;
			if (snap_image_u64(&s->image, symbol.address + 8 * k, &pointer) &&
				offset_of(&s->image, pointer) != UINT64_MAX)
				out[count++] = pointer;
		}
	}
	for (uint64_t k = 0; k < 64 && count + 1 < capacity; k++)
		out[count++] = s->rt.domains[0].state + 8 * k;
	for (uint64_t i = 0; i < s->rt.area_count && count + 5 < capacity; i++)
		for (uint64_t k = 0; k < 5; k++)
			out[count++] = (s->rt.areas[i].start & ~(uint64_t)0xfff) + 8 * k;
	return count;
}

/* Does nothing if the core is not there. */
static void damage(const char *core, const char *executable, uint64_t seed, unsigned rounds)
{
	static uint64_t places[4096];
	struct subject s;
	struct copy c;
	char core_path[512], exe_path[512];
	struct snap_image_options options;
	unsigned opened = 0, refused = 0;
	if (!has_core(core))
		return;
	subject_open(&s, core, executable);
	size_t count = collect(&s, places, LENGTH(places));
	assert_true(count > 100);
	copy_open(&c, &s.image);
	subject_options(&options, core_path, exe_path, core, executable);
	options.core = c.path;
	for (unsigned round = 0; round < rounds; round++) {
		uint64_t offsets[8], before[8];
		struct snap_image image;
		struct snap_runtime rt;
		struct hg_error error;
		for (unsigned i = 0; i < 8; i++) {
			uint64_t address = places[next_random(&seed) % count];
			before[i] = 0;
			offsets[i] = offset_of(&s.image, address);
			if (offsets[i] == UINT64_MAX)
				continue;
			(void)snap_image_u64(&s.image, address, &before[i]);
			copy_word(&c, offsets[i],
				bad_word(&seed, before[i], places[next_random(&seed) % count]));
		}
		assert_int_equal(snap_image_open(&image, &options, &error), HG_OK);
		if (snap_runtime_open(&rt, &image, &error) == HG_OK) {
			opened++;
			for (uint64_t i = 1; i < rt.area_count; i++)
				assert_true(rt.areas[i].start >= rt.areas[i - 1].end);
			snap_runtime_close(&rt);
		} else {
			refused++;
			assert_true(error.message[0] != '\0');
		}
		snap_image_close(&image);
		for (unsigned i = 0; i < 8; i++)
			if (offsets[i] != UINT64_MAX)
				copy_word(&c, offsets[i], before[i]);
	}
	/* Mostly something is left to be read. */
	assert_true(opened > refused);
	copy_close(&c);
	subject_close(&s);
}

static void damaged_4(void **state)
{
	(void)state;
	damage("zoo-4.13.1", NULL, 41, 60);
	damage("413-gt/gt1.minor.core", "413-gt/gt1", 42, 60);
	damage("413-gt/gtt.ocaml.core", "413-gt/gtt", 43, 30);
}

static void damaged_5(void **state)
{
	(void)state;
	damage("zoo-5.3.0", NULL, 46, 30);
	damage("fibers-5.3.0", NULL, 47, 30);
	damage("53-gt/gtd.ocaml.core", "53-gt/gtd", 44, 60);
	damage("53-gt/gth.noalloc-a.core", "53-gt/gth", 45, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_4),
		cmocka_unit_test(damaged_5),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
