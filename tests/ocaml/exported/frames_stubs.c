// Every place that allocates, as native code's frame tables have it: file, line, first column, and
// the end as this version of OCaml records it; or 'none'.
#define CAML_INTERNALS
#include <caml/backtrace_prim.h>
#include <caml/mlvalues.h>
#include <caml/stack.h>
#include <caml/version.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Not in the headers of all versions.
extern intnat *caml_frametable[];

enum { HAS_DEBUG = 1, HAS_ALLOCATIONS = 2, IN_C = 0xFFFF };

static void print_place(const unsigned char *where)
{
	uint32_t offset;
	memcpy(&offset, where, sizeof offset);
	if (offset == 0) {
		puts("none");
		return;
	}
	struct caml_loc_info place;
	caml_debuginfo_location((debuginfo)(where + offset), &place);
#if OCAML_VERSION >= 50200
	printf("%s\t%d\t%d\t%d\t%d\n", place.loc_filename, place.loc_start_lnum,
		place.loc_start_chr, place.loc_end_lnum, place.loc_end_chr);
#else
	printf("%s\t%d\t%d\t%d\n", place.loc_filename, place.loc_lnum, place.loc_startchr,
		place.loc_endchr);
#endif
}

// A return address, 16 bits of size and flags, the count of live values and 16 bits for each;
// lengths of allocations with their count, a byte each; aligned to 4, an offset of debug
// information for each allocation, or one; aligned to 8.
static const unsigned char *print_frame(const unsigned char *at)
{
	uint16_t flags, live;
	memcpy(&flags, at + 8, sizeof flags);
	memcpy(&live, at + 10, sizeof live);
	at += 12 + 2 * (size_t)live;
	if (flags == IN_C)
		flags = 0;
	unsigned allocations = 0;
	if (flags & HAS_ALLOCATIONS) {
		allocations = *at;
		at += 1 + allocations;
	}
	if (flags & HAS_DEBUG) {
		at = (const unsigned char *)(((uintptr_t)at + 3) & ~(uintptr_t)3);
		for (unsigned i = 0; i < allocations; i++)
			print_place(at + 4 * i);
		at += 4 * (flags & HAS_ALLOCATIONS ? allocations : 1);
	}
	return (const unsigned char *)(((uintptr_t)at + 7) & ~(uintptr_t)7);
}

value print_frames(value unit)
{
	for (size_t i = 0; caml_frametable[i] != NULL; i++) {
		const unsigned char *at = (const unsigned char *)(caml_frametable[i] + 1);
		for (intnat count = caml_frametable[i][0]; count > 0; count--)
			at = print_frame(at);
	}
	fflush(stdout);
	return unit;
}
