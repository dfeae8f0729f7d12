/* The standard library of OCaml, by the names of its units and files. */
#include "retype/types/standard.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

static bool begins_with(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

bool retype_is_standard_unit(const char *name)
{
	return strcmp(name, "Stdlib") == 0 || begins_with(name, "Stdlib__") ||
	       begins_with(name, "Stdlib.") || begins_with(name, "Camlinternal") ||
	       strcmp(name, "Std_exit") == 0;
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool retype_is_standard_file(const char *file)
{
	static const char *const names[] = {"arg.ml", "array.ml", "arrayLabels.ml", "atomic.ml",
		"bigarray.ml", "bool.ml", "buffer.ml", "bytes.ml", "bytesLabels.ml", "callback.ml",
		"camlinternalAtomic.ml", "camlinternalFormat.ml", "camlinternalLazy.ml",
		"camlinternalMod.ml", "camlinternalOO.ml", "char.ml", "complex.ml", "condition.ml",
		"digest.ml", "domain.ml", "dynarray.ml", "effect.ml", "either.ml", "ephemeron.ml",
		"filename.ml", "float.ml", "format.ml", "fun.ml", "gc.ml", "genlex.ml",
		"hashtbl.ml", "in_channel.ml", "int.ml", "int32.ml", "int64.ml", "lazy.ml",
		"lexing.ml", "list.ml", "listLabels.ml", "map.ml", "marshal.ml", "moreLabels.ml",
		"mutex.ml", "nativeint.ml", "obj.ml", "oo.ml", "option.ml", "out_channel.ml",
		"parsing.ml", "pervasives.ml", "printexc.ml", "printf.ml", "queue.ml", "random.ml",
		"result.ml", "scanf.ml", "semaphore.ml", "seq.ml", "set.ml", "sort.ml", "stack.ml",
		"std_exit.ml", "stdlib.ml", "stream.ml", "string.ml", "stringLabels.ml", "sys.ml",
		"type.ml", "uchar.ml", "unit.ml", "weak.ml"};
	const char *name = base_file_name(file);
	return bsearch(&name, names, sizeof(names) / sizeof(*names), sizeof(*names),
		       compare_strings) != NULL;
}
