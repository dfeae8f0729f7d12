/* Heaps of real programs against what the programs themselves said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>

#include "tests/unit/core.h"
#include "tests/unit/marking.h"
#include "tests/unit/subject.h"

/* A case is a folder of CORES with a program in it, or one of the fixtures. */
static void open_case(struct subject *s, const char *folder, const char *program)
{
	char core[64], executable[64];
	snprintf(core, sizeof(core), program ? "%s/core" : "%s", folder);
	snprintf(executable, sizeof(executable), "%s/%s", folder, program ? program : "");
	subject_open(s, core, executable);
}

static bool has_case(const char *program)
{
	return !program || has_core(CORES "/");
}

static void read_output(const char *folder, const char *program, char *text, size_t size)
{
	char path[512];
	snprintf(path, sizeof(path), program ? CORES "/%s/out.txt" : "tests/fixtures/cores/%s.txt",
		folder);
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
}

/* The number behind the first "NAME=" of a line that begins with a word. */
static uint64_t said(const char *text, const char *line, const char *name, int base)
{
	char key[64];
	snprintf(key, sizeof(key), " %s=", name);
	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		const char *end = strchr(at, '\n'), *found;
		if (strncmp(at, line, strlen(line)) != 0)
			continue;
		found = strstr(at, key);
		if (found && (!end || found < end))
			return strtoull(found + strlen(key), NULL, base);
	}
	fail_msg("no %s in %s", name, line);
	return 0;
}

/* 5.x counts the two words before each large block as live. */
static void equals_gc_stat(void **state)
{
	(void)state;
	static const struct {
		const char *folder, *program;
		uint64_t unreached, later_blocks, later_words;
	} cases[] = {
		{"413-cache", "cache", 0, 0, 0},
		{"53-cache", "cache", 0, 0, 0},
		{"53-fib", "fib", 0, 0, 0},
		{"53-mprof", "mprof", 0, 0, 0},
		/* dropped call stacks; blocks allocated after the program printed its count */
		{"413-mprof", "mprof", 968, 3, 19},
		{"413-dyn", "maind", 0, 0, 0},
		{"zoo-4.13.1", NULL, 0, 0, 0},
		{"zoo-5.3.0", NULL, 0, 0, 0},
		{"fibers-5.3.0", NULL, 0, 0, 0},
		{"sampled-5.3.0", NULL, 0, 0, 0},
		{"tiny-4.13.1", NULL, 0, 0, 0},
		{"tiny-5.3.0", NULL, 0, 0, 0},
		{"zoo-5.4.1", NULL, 0, 0, 0},
		{"tiny-5.4.1", NULL, 0, 0, 0},
		{"fibers-5.5.2", NULL, 0, 0, 0},
		{"tiny-5.5.2", NULL, 0, 0, 0},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		char text[4096];
		struct subject s;
		struct marking m;
		if (!has_case(cases[i].program))
			continue;
		read_output(cases[i].folder, cases[i].program, text, sizeof(text));
		open_case(&s, cases[i].folder, cases[i].program);
		marking_init(&m, &s.rt);
		uint64_t extra = s.rt.is_5 ? 2 * m.large : 0;
		assert_int_equal(m.live.blocks - cases[i].later_blocks,
			said(text, "STAT", "live_blocks", 10));
		assert_int_equal(m.live.words + extra - cases[i].later_words,
			said(text, "STAT", "live_words", 10));
		assert_int_equal(s.rt.statistics.heap_words, said(text, "STAT", "heap_words", 10));
		if (strstr(text, "\nQSTAT ")) {
			assert_int_equal(s.rt.statistics.minor_collections,
				said(text, "QSTAT", "minor_collections", 10));
			assert_int_equal(s.rt.statistics.major_collections,
				said(text, "QSTAT", "major_collections", 10));
		}
		mark_roots(&m, false);
		mark_ephemerons(&m);
		mark_roots(&m, true);
		assert_int_equal(m.bad, 0);
		assert_int_equal(m.wild, 0);
		assert_int_equal(m.broken_fibers, 0);
		assert_int_equal(m.live.blocks - m.heap.blocks, cases[i].unreached);
		assert_int_equal(s.rt.note_count, 0);
		marking_release(&m);
		subject_close(&s);
	}
}

/* Obj.reachable_words: 4.x leaves out static data. */
static void equals_reachable_words(void **state)
{
	(void)state;
	static const struct {
		const char *folder, *program, *names;
	} cases[] = {
		{"413-cache", "cache",
			"cache index handlers lazies objects floats bigs customs boxed "
			"static_const even"},
		{"53-cache", "cache",
			"cache index handlers lazies objects floats bigs customs boxed "
			"static_const even"},
		{"53-fib", "fib", "orphan tbls suspended nested"},
		{"413-dyn", "maind", "kept f"},
		{"zoo-4.13.1", NULL,
			"catalogue by_number boxes variants animals lazies exceptions functions "
			"float_arrays boxed matrices handles cycles weak pairs motto is_even"},
		{"zoo-5.3.0", NULL,
			"catalogue by_number boxes variants animals lazies exceptions functions "
			"float_arrays boxed matrices handles cycles weak pairs motto is_even"},
		{"zoo-5.4.1", NULL,
			"catalogue by_number boxes variants animals lazies exceptions functions "
			"float_arrays boxed matrices handles cycles weak pairs motto is_even"},
		{"fibers-5.3.0", NULL, "left asking crossing"},
		{"fibers-5.5.2", NULL, "left asking crossing"},
		{"sampled-5.3.0", NULL, "grown words rows large copy outside"},
	};
	unsigned compared = 0;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		char text[4096], names[192], line[64];
		struct subject s;
		if (!has_case(cases[i].program))
			continue;
		read_output(cases[i].folder, cases[i].program, text, sizeof(text));
		open_case(&s, cases[i].folder, cases[i].program);
		snprintf(names, sizeof(names), "%s", cases[i].names);
		for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
			struct marking m;
			marking_init(&m, &s.rt);
			m.strict = true;
			snprintf(line, sizeof(line), "ADDR %s=", name);
			visit(&m, said(text, line, name, 16));
			drain(&m);
			uint64_t words =
				m.heap.words + m.minor.words + (s.rt.is_5 ? m.statics.words : 0);
			snprintf(
				line, sizeof(line), cases[i].program ? "REACH" : "REACH %s=", name);
			assert_int_equal(words, said(text, line, name, 10));
			compared++;
			marking_release(&m);
		}
		subject_close(&s);
	}
	assert_int_equal(compared, 63 + (has_core(CORES "/") ? 28 : 0));
}

/*
 * Programs stopped anywhere, whose threads hold blocks of one size that only their stacks and
 * registers lead to.  A stop in the middle of a promotion may leave one bad pointer.
 */
static void marks_what_only_stacks_hold(void **state)
{
	(void)state;
	char line[256], core[128], executable[128];
	uint64_t wosize, least, most;
	unsigned cores = 0, bad = 0;
	need_real_cores();
	FILE *file = fopen(CORES "/expected.tsv", "rb");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		struct subject s;
		struct marking m;
		if (line[0] == '#' || sscanf(line, "%127s %127s %" SCNu64 " %" SCNu64 " %" SCNu64,
					      core, executable, &wosize, &least, &most) != 5)
			continue;
		subject_open(&s, core, executable);
		marking_init(&m, &s.rt);
		mark_roots(&m, false);
		mark_ephemerons(&m);
		mark_roots(&m, true);
		uint64_t marked = marked_of_size(&m, wosize);
		if (marked < least || marked > most || m.bad > 1 || m.wild > 1)
			fail_msg("%s: %" PRIu64 " marked, %" PRIu64 " bad, %" PRIu64 " wild", core,
				marked, m.bad, m.wild);
		bad += (m.bad | m.wild) != 0;
		assert_true(s.rt.in_minor_collection || m.forwarded == 0);
		for (uint64_t i = 0; i < s.rt.stack_count; i++)
			assert_true(s.rt.stacks[i].complete);
		marking_release(&m);
		subject_close(&s);
		cores++;
	}
	fclose(file);
	assert_int_equal(cores, 21);
	assert_true(bad <= 4);
}

static void continuations(void **state)
{
	(void)state;
	static const struct {
		const char *folder, *program;
		uint64_t continuations, least_frames;
	} cases[] = {
		/* 300 suspended, 150 of two stacks each; deep_yield has i mod 40 frames and more */
		{"53-fib", "fib", 450, 300 * 19 + 1},
		/* three suspended and two of two stacks each; descend has 1 to 3 frames and more */
		{"fibers-5.3.0", NULL, 5, 6 + 2 * 2},
		{"fibers-5.5.2", NULL, 5, 6 + 2 * 2},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct subject s;
		struct marking m;
		if (!has_case(cases[i].program))
			continue;
		open_case(&s, cases[i].folder, cases[i].program);
		marking_init(&m, &s.rt);
		mark_roots(&m, false);
		assert_int_equal(m.conts, cases[i].continuations);
		assert_true(m.cont_frames >= cases[i].least_frames);
		marking_release(&m);
		subject_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_gc_stat),
		cmocka_unit_test(equals_reachable_words),
		cmocka_unit_test(marks_what_only_stacks_hold),
		cmocka_unit_test(continuations),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
