/*
 * The table: a type of the library by its printed name, and how it is represented, in words.
 */
#include "retype/legacy/stdlib.h"

#include "base/assert.h"

#include <stdio.h>
#include <string.h>

static const struct known {
	const char *name;
	uint32_t parameters;
	const char *text;
} known[] = {
	{"list", 1, "| [] | :: 0 $"},
	{"option", 1, "| None | Some 0"},
	{"format6", 6, "string"},
	{"ref", 1, "{ !contents 0 }"},
	{"in_channel", 0, "custom"},
	{"out_channel", 0, "custom"},
	{"format4", 4, "string"},
	{"format", 3, "string"},
	{"Hashtbl.t", 2,
		"{ !size int !data ( array ( Hashtbl.bucketlist 0 1 ) ) !seed int initial_size int "
		"}"},
	{"Hashtbl.bucketlist", 2, "| Empty | Cons 0 1 $"},
	{"Hashtbl.Make.t", 1, "= ( Hashtbl.t @key 0 )"},
	{"Hashtbl.MakeSeeded.t", 1, "= ( Hashtbl.t @key 0 )"},
	{"Map.Make.t", 1, "| Empty | Node $ @key 0 $ int"},
	{"Set.Make.t", 0, "| Empty | Node $ @elt $ int"},
	{"Queue.t", 1, "{ !length int !tail ( Queue.cell 0 ) }"},
	{"Queue.cell", 1, "{ content 0 !next $ }"},
	{"Stack.t", 1, "{ !c ( list 0 ) }"},
	{"Buffer.t", 0, "{ !buffer string !position int !length int initial_buffer string }"},
	{"Random.State.t", 0, "{ st ( array int ) !idx int }"},
	{"Lazy.t", 1, "= ( lazy_t 0 )"},
	{"Weak.t", 1, "weak"},
	{"Obj.t", 0, "any"},
	{"Int32.t", 0, "= int32"},
	{"Int64.t", 0, "= int64"},
	{"Nativeint.t", 0, "= nativeint"},
	{"Char.t", 0, "= char"},
	{"String.t", 0, "= string"},
	{"Digest.t", 0, "= string"},
	{"Lexing.position", 0, "{ pos_fname string pos_lnum int pos_bol int pos_cnum int }"},
	{"Lexing.lexbuf", 0,
		"{ refill_buff _ !lex_buffer string !lex_buffer_len int !lex_abs_pos int "
		"!lex_start_pos int !lex_curr_pos int !lex_last_pos int !lex_last_action int "
		"!lex_eof_reached bool !lex_mem ( array int ) !lex_start_p Lexing.position "
		"!lex_curr_p Lexing.position }"},
	{"Bigarray.Genarray.t", 3, "custom"},
	{"Bigarray.Array1.t", 3, "custom"},
	{"Bigarray.Array2.t", 3, "custom"},
	{"Bigarray.Array3.t", 3, "custom"},
	{"Unix.file_descr", 0, "int"},
	{"Unix.inet_addr", 0, "string"},
};

enum { KNOWN = sizeof(known) / sizeof(*known) };

uint32_t cmt_stdlib_index(const char *name)
{
	for (uint32_t i = 0; i < KNOWN; i++)
		if (strcmp(known[i].name, name) == 0)
			return i;
	return RETYPE_NONE;
}

uint32_t cmt_stdlib_made(const char *made_by, const char *type)
{
	char name[64];
	int length = snprintf(name, sizeof(name), "%s.%s", made_by, type);
	return length > 0 && (size_t)length < sizeof(name) ? cmt_stdlib_index(name) : RETYPE_NONE;
}

uint32_t cmt_stdlib_parameters(uint32_t index)
{
	base_assert(index < KNOWN);
	return known[index].parameters;
}

const char *cmt_stdlib_text(uint32_t index)
{
	base_assert(index < KNOWN);
	return known[index].text;
}
