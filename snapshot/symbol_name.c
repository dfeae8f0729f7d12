/* Where the name of a unit ends. */
#include "snapshot/symbol_name.h"

#include <string.h>

/*
 * Symbols are caml, the unit, "." (5.1 on) or "__", the function and a number.  A unit's parts
 * begin with capitals and the names of functions with small letters, except functors: the first
 * "__" that is not followed by a capital ends the unit.  The units of the standard library of 4.07
 * to 4.12 have a small letter there: camlStdlib__list__map_481.
 */
static const char *end_of_unit(const char *name, size_t *separator)
{
	static const char standard[] = "Stdlib__";
	const char *dot = strchr(name, '.');
	*separator = 1;
	if (dot)
		return dot;
	*separator = 2;
	const char *at = strstr(name, "__");
	if (at && strncmp(name, standard, sizeof(standard) - 1) == 0 && strstr(at + 2, "__"))
		at = strstr(at + 2, "__");
	for (; at; at = strstr(at + 2, "__"))
		if (at[2] < 'A' || at[2] > 'Z')
			return at;
	return NULL;
}

/* With flambda "anon_fn[cache.ml:53,4--42]" (middle_end/internal_variable_names.ml), as symbols are
 * spelled. */
static bool is_without_name(const char *function)
{
	static const char start[] = "anon_fn$5b";
	return strncmp(function, start, sizeof(start) - 1) == 0;
}

bool snap_split_symbol(const char *symbol, struct snap_symbol_name *out)
{
	size_t separator;
	if (strncmp(symbol, "caml", 4) != 0 || symbol[4] < 'A' || symbol[4] > 'Z')
		return false;
	out->unit = symbol + 4;
	const char *end = end_of_unit(out->unit, &separator);
	if (!end)
		return false;
	out->unit_length = (size_t)(end - out->unit);
	out->function = end + separator;
	const char *number = strrchr(out->function, '_');
	out->function_length = strlen(out->function);
	if (number && number != out->function && number[1] &&
		strspn(number + 1, "0123456789") == strlen(number + 1))
		out->function_length = (size_t)(number - out->function);
	if (is_without_name(out->function)) {
		out->function = "fun";
		out->function_length = strlen(out->function);
	}
	return true;
}
