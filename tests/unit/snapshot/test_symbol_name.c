/* What symbols of functions say, of all versions and with flambda. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "snapshot/symbol_name.h"

static void says(const char *symbol, const char *wanted)
{
	struct snap_symbol_name name;
	char text[256] = "";
	if (snap_split_symbol(symbol, &name))
		snprintf(text, sizeof(text), "%.*s %.*s", (int)name.unit_length, name.unit,
			(int)name.function_length, name.function);
	assert_string_equal(text, wanted);
}

static void test_names(void **state)
{
	(void)state;
	says("camlStdlib__List__map_481", "Stdlib__List map");
	says("camlStdlib__list__map_481", "Stdlib__list map");
	says("camlStdlib__List.map_481", "Stdlib__List map");
	says("camlCache__fun_12", "Cache fun");
	says("camlCache.add_2_12", "Cache add_2");
	says("camlCache__entry", "Cache entry");
	says("caml_alloc", "");
	says("camlCache", "");
}

static void test_without_name(void **state)
{
	(void)state;
	says("camlMade__anon_fn$5bmade$2eml$3a53$2c4$2d$2d42$5d_306", "Made fun");
	says("camlMade.anon_fn$5bmade$2eml$3a53$2c4$2d$2d42$5d_306_code", "Made fun");
	says("camlMade__anon_fn_306", "Made anon_fn");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_without_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
