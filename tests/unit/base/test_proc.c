/* What /proc tells of processes, and its lines of mappings, also such as no kernel writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/proc.h"
#include "tests/unit/emulated.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void paths(void **state)
{
	(void)state;
	char path[BASE_PROC_PATH];
	base_proc_path(path, 0, 0, "meminfo");
	assert_string_equal(path, "/proc/meminfo");
	base_proc_path(path, 12, 0, "maps");
	assert_string_equal(path, "/proc/12/maps");
	base_proc_path(path, 12, 34, "stat");
	assert_string_equal(path, "/proc/12/task/34/stat");
}

static void lines_of_mappings(void **state)
{
	(void)state;
	static char longer[6000];
	memset(longer, 'x', sizeof(longer) - 1);
	FILE *maps = tmpfile();
	assert_non_null(maps);
	fprintf(maps, "1000-3000 r-xp 00001000 fe:01 77                 /usr/lib/a b.so\n");
	fprintf(maps, "4000-5000 rw-p 00000000 00:00 0 \n");
	fprintf(maps, "no line of mappings\n");
	fprintf(maps, "6000-7000 ---p 00000000 fe:01 78                 /%s\n", longer);
	fprintf(maps, "7ffff0000000-7ffff0001000 rw-p 00000000 00:00 0  [stack]");
	rewind(maps);
	struct base_proc_map map;
	assert_true(base_proc_next_map(maps, &map));
	assert_int_equal(map.start, 0x1000);
	assert_int_equal(map.end, 0x3000);
	assert_string_equal(map.permissions, "r-xp");
	assert_string_equal(map.name, "/usr/lib/a b.so");
	assert_true(base_proc_next_map(maps, &map));
	assert_int_equal(map.end, 0x5000);
	assert_string_equal(map.name, "");
	/* A line of any length is one. */
	assert_true(base_proc_next_map(maps, &map));
	assert_int_equal(map.start, 0x6000);
	assert_int_equal(strncmp(map.name, "/xxx", 4), 0);
	assert_true(base_proc_next_map(maps, &map));
	assert_int_equal(map.start, 0x7ffff0000000);
	assert_string_equal(map.name, "[stack]");
	assert_false(base_proc_next_map(maps, &map));
	fclose(maps);
}

static void own_process(void **state)
{
	(void)state;
	struct base_proc_map map;
	struct base_proc_stat stat;
	bool found = false;
	FILE *maps = base_proc_open(getpid(), 0, "maps");
	assert_non_null(maps);
	uint64_t here = (uintptr_t)&own_process;
	while (!found && base_proc_next_map(maps, &map))
		found = map.start <= here && here < map.end;
	fclose(maps);
	assert_true(found);
	assert_string_equal(map.permissions, "r-xp");
	assert_non_null(strstr(map.name, "test_proc"));
	assert_true(base_proc_read_stat(getpid(), 0, &stat));
	assert_int_equal(stat.parent, getppid());
	assert_false(base_proc_has_ended(getpid(), 0));
	assert_true(base_proc_number(0, 0, "meminfo", "MemTotal") < BASE_PROC_UNKNOWN);
	assert_true(base_proc_number(0, 0, "meminfo", "NoSuchKey") == BASE_PROC_UNKNOWN);
}

/* Two pages, of which the second is absent. */
static void own_memory(void **state)
{
	(void)state;
	skip_if_emulated("own_memory");
	enum { PAGE = 4096 };
	uint8_t read[64] = {0};
	uint8_t *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(pages != MAP_FAILED);
	memset(pages, 7, PAGE);
	munmap(pages + PAGE, PAGE);
	uint64_t at = (uintptr_t)pages + PAGE - 48;
	assert_int_equal(base_proc_read_memory(getpid(), at, read, 48), 48);
	assert_int_equal(read[0] + read[47] + read[48], 14);
	assert_true(base_proc_read_memory(getpid(), at, read, 64) <= 48);
	assert_int_equal(base_proc_read_memory(getpid(), at + 48, read, 1), 0);
	assert_int_equal(base_proc_read_memory(999999999, at, read, 1), 0);
	munmap(pages, PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),
		cmocka_unit_test(lines_of_mappings),
		cmocka_unit_test(own_process),
		cmocka_unit_test(own_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
