/* The verb man: the manual page as mdoc source, its verbs and options from the tables. */
#include "cli/verbs.h"

#include <string.h>

/* Prose of the manual page; the verbs and their options come from the tables. */

static const char head[] =
	".Dd November 21, 2026\n"
	".Dt HEAPGRAPH 1\n"
	".Os\n"
	".Sh NAME\n"
	".Nm heapgraph\n"
	".Nd what fills the memory of an OCaml program\n"
	".Sh SYNOPSIS\n"
	".Nm\n"
	".Ar verb\n"
	".Op Ar options\n"
	".Ar snapshot ...\n"
	".Nm\n"
	".Ar snapshot\n"
	".Nm\n"
	".Op Fl v Ar n\n"
	".Op Fl loc\n"
	".Op Fl prof Ar file\n"
	".Fl heap Ar file | Fl heaps Ar pid\n"
	".Sh DESCRIPTION\n"
	".Nm\n"
	"reads a snapshot of the heap of an OCaml program and says what is in it,\n"
	"what holds it, of what types it is,\n"
	"where it was allocated, and what grew between two snapshots.\n"
	"It computes which blocks can be reached from the roots, the immediate\n"
	"dominator of every\n"
	"block, and how much memory it retains.\n"
	".Pp\n"
	"Snapshots are ELF core files of programs of OCaml 4.13, 4.14 and 5.0 to\n"
	"5.5 on x86-64 and arm64 Linux, as\n"
	".Cm capture ,\n"
	"the OCaml library (on x86-64)\n"
	".Pq Pa heap.dump.PID.N ,\n"
	"the kernel and\n"
	".Xr gcore 1\n"
	"write them;\n"
	"and heap dumps of OCamlmemprof 0.1\n"
	".Pq Pa heap.dump.PID.N\n"
	"and 0.2\n"
	".Pq Pa memprof.PID.N.dump ,\n"
	"and of the OCP heap dumper of 2014.\n"
	"A snapshot compressed with\n"
	".Xr zstd 1\n"
	"is read as it is.\n"
	"A baseline, which\n"
	".Cm trend\n"
	"writes as JSON, can be given to\n"
	".Cm check ,\n"
	".Cm diff\n"
	"and\n"
	".Cm trend\n"
	"in place of the snapshots that it was made of.\n"
	".Pp\n"
	"The words of all reports:\n"
	".Bl -tag -width Ds\n"
	".It block\n"
	"An object of the heap: a header word and its fields.\n"
	"Its address is that of field 0.\n"
	".It location\n"
	"Where a block was allocated:\n"
	".Ar file : Ns Ar line : Ns Ar start Ns - Ns Ar end ,\n"
	"columns counted from 0 and the end from the beginning of the same line.\n"
	"Names in brackets stand for allocations by the runtime.\n"
	".It type\n"
	"An OCaml type, as far as it is known: from the profile that\n"
	".Cm heapgraph-prof\n"
	"writes of the program, along the pointers from global values, places of\n"
	"allocation and closures.\n"
	"Its confidence is exact, inferred, guessed or unknown.\n"
	".It root\n"
	"A place outside the heap that holds a block: global data, a stack slot, a\n"
	"finaliser.\n"
	"Stack slots, registers and local roots of C pass: they hold only what no\n"
	"lasting root holds, so that a list belongs to its global although a function\n"
	"is just working on it; values of finalisers, and globals that hold no more than\n"
	"what other globals are, like the block of an inner module, come after them.\n"
	".Fl -roots Cm all\n"
	"counts those that pass among the lasting ones.\n"
	".It path\n"
	"Of the retention tree: the name of a root, and the types of what holds what\n"
	"from there on.\n"
	"All blocks with one path are one row.\n"
	".It reachable\n"
	"A block that a path of pointers leads to from a root.\n"
	"All others are garbage that the collector has not freed yet.\n"
	".It bytes\n"
	"The memory of a block itself, its header included.\n"
	".It retained\n"
	"What would be freed with it: its own bytes and those of everything that is\n"
	"reachable\n"
	"through it only.\n"
	".It dominator\n"
	"Of a block: what lies on every path to it from the roots.\n"
	"The immediate dominator is the nearest one.\n"
	".El\n"
	".Pp\n"
	"Sizes in text are in units of 1024 bytes.\n";

static const char verbs_head[] =
	".Sh VERBS\n"
	"Options and operands may be mixed;\n"
	".Fl Fl\n"
	"ends the options.\n"
	"Names of options are matched exactly, never by prefix; a value follows as\n"
	"the next\n"
	"argument or after an equals sign.\n";

static const char historical[] =
	".Sh HISTORICAL OPTIONS\n"
	"With one of these options as the first argument,\n"
	".Nm\n"
	"is called as the profiler of OCamlmemprof was, the options in any order:\n"
	".Bl -tag -width Ds\n"
	".It Fl heap Ar file\n"
	"Print the summary of a snapshot and the table of its blocks by type, or by tag\n"
	"if no types are known.\n"
	".It Fl heaps Ar pid\n"
	"Print the trend of the snapshots of a process in the current folder, by\n"
	"number.\n"
	".It Fl I Ar dir\n"
	"Folder with the\n"
	".Pa .cmt\n"
	"files of the program; may be repeated.\n"
	".It Fl bytes\n"
	"Bytes in the\n"
	".Pa .hp\n"
	"file instead of blocks.\n"
	".It Fl loc\n"
	"By type and location of allocation, or by location.\n"
	".It Fl prof Ar file\n"
	"Where locations or types come from, as\n"
	".Fl Fl prof .\n"
	".It Fl v Ar n\n"
	"From 1, print the equivalent command of today on stderr; from 2, the phases\n"
	"of the work\n"
	"and the time they took.\n"
	".El\n"
	".Pp\n"
	"Both write\n"
	".Pa PID.hp\n"
	"to the current folder, a heap profile as that of\n"
	".Cm hp ,\n"
	"and draw it with\n"
	".Ic hp2ps\n"
	"if that is installed.\n";

static const char formats[] =
	".Sh OUTPUT FORMATS\n"
	"Standard output is data only; progress, notes and errors go to standard error.\n"
	".Bl -tag -width Ds\n"
	".It text\n"
	"For people.\n"
	"Columns, human sizes and percentages; colour only on a terminal and without\n"
	".Ev NO_COLOR .\n"
	"On a terminal no line is wider than it: bars are dropped, long names lose their\n"
	"middle, and columns that there is no room for are named below the table.\n"
	"In a pipe or a file everything is whole.\n"
	"Control characters and bytes that are not UTF-8 are shown as \\ex and two\n"
	"hexadecimal\n"
	"digits.\n"
	".It csv\n"
	"RFC 4180 with a header line; names verbatim, integers only, sizes in bytes,\n"
	"addresses in\n"
	"hexadecimal.\n"
	"The columns are:\n"
	".Bl -tag -width objects\n"
	".It objects\n"
	"address, tag, words, bytes, type, location, reachable, retained_bytes, idom,\n"
	"segment, confidence, offheap_bytes, root\n"
	".It edges\n"
	"from, field, to, kind, from_node, to_node\n"
	".It waste\n"
	"section, type, address, blocks, bytes, saved_bytes, groups, outer, room, used,\n"
	"longest, content\n"
	".It top\n"
	"the key, blocks, bytes, retained_bytes, confidence, estimated_bytes,\n"
	"estimated_error, offheap_bytes, retained_offheap_bytes; by type and by\n"
	"function also made_at\n"
	".It roots\n"
	"kind, name, address, type, location, targets, bytes, retained_bytes,\n"
	"reachable, confidence, offheap_bytes, retained_offheap_bytes\n"
	".It tree\n"
	"depth, path, blocks, bytes, retained_bytes, offheap_bytes,\n"
	"retained_offheap_bytes, made_at; with\n"
	".Fl -blocks :\n"
	"depth, address, type, location, bytes, retained_bytes, children; the last\n"
	"row is\n"
	"(unreachable)\n"
	".It diff\n"
	"the key, blocks_old, blocks_new, bytes_old, bytes_new, bytes_delta,\n"
	"retained_old,\n"
	"retained_new, retained_delta, offheap_delta, retained_offheap_delta,\n"
	"growth_share, made_at\n"
	".It trend\n"
	"index (position of the snapshot, from 0), the key, blocks, bytes,\n"
	"retained_bytes, offheap_bytes, retained_offheap_bytes, grows, growth_share,\n"
	"made_at\n"
	".It holders\n"
	"root, path, blocks, retained_bytes, retained_offheap_bytes, made_of,\n"
	"made_of_bytes, made_at, defined_at\n"
	".It check\n"
	"path, blocks_first, blocks_last, retained_first, retained_last,\n"
	"growth_share, made_at, defined_at, limit\n"
	".It why\n"
	"depth, address, tag, location, nodes, targets, bytes, type, offheap_bytes,\n"
	"name\n"
	".It why --referrers\n"
	"holder, field, field_name, pointers, holders, targets, dominated, address\n"
	".It retained\n"
	"part, name, nodes, reachable, blocks, bytes, offheap_bytes, retained_blocks,\n"
	"retained_bytes, retained_offheap_bytes, shared_blocks, shared_bytes,\n"
	"shared_offheap_bytes, largest\n"
	".It object\n"
	"index, kind, value, address, tag, location, bytes, retained_bytes, code,\n"
	"name, type, text: one row for each field\n"
	".It types\n"
	"type, kind, unit, blocks, bytes, layout, made_at, offheap_bytes; with\n"
	".Fl -places :\n"
	"type, place, own, exact, direct, kind, located_blocks, located_bytes\n"
	".It summary , info\n"
	"section, name, value\n"
	".El\n"
	".Pp\n"
	"The key is type, location, module, tag, callstack, function, or two columns:\n"
	"type and location, or for roots kind and name.\n"
	"Column words leaves the header out, bytes counts it.\n"
	".It json\n"
	"One object with schema_version 2, the verb, and the same names; no floats,\n"
	"percentages "
	"in\n"
	"basis points, bytes that are not UTF-8 as U+FFFD.\n"
	"A member\n"
	".Ql partial\n"
	"says that the snapshot was cut short, and where.\n"
	".El\n";

static const char tail[] =
	".Sh ENVIRONMENT\n"
	".Bl -tag -width NO_COLOR\n"
	".It Ev COLUMNS\n"
	"How wide lines may be on a terminal, if not as wide as it says it is.\n"
	".It Ev LC_ALL , LC_CTYPE , LANG\n"
	"Whether it has more characters than ASCII.\n"
	".It Ev NO_COLOR\n"
	"If set to anything, no colour.\n"
	".It Ev TERM\n"
	"No colour and no progress line if it is\n"
	".Ql dumb .\n"
	".It Ev TMPDIR\n"
	"Folder for decompressed snapshots, if not\n"
	".Pa /tmp .\n"
	".El\n"
	".Sh FILES\n"
	"If\n"
	".Fl Fl prof\n"
	"does not name one, a source of locations is looked for beside the snapshot\n"
	"and then in\n"
	"the current folder:\n"
	".Pa PROGRAM.prof\n"
	"for OCamlmemprof 0.1,\n"
	".Pa memprof.PID.locations\n"
	"for 0.2 and\n"
	".Pa memprof.PID.process_info\n"
	"for OCP dumps.\n"
	"So is a profile of types,\n"
	".Pa exe.prof\n"
	"or\n"
	".Pa PROGRAM.prof .\n"
	"Reports say which one was used.\n"
	".Sh EXIT STATUS\n"
	".Bl -tag -width Ds -compact\n"
	".It 0\n"
	"fine\n"
	".It 1\n"
	"a check failed\n"
	".It 2\n"
	"usage: an unknown option, a bad value, an address without a block\n"
	".It 3\n"
	"a snapshot or location source that cannot be read or contradicts its format\n"
	".It 4\n"
	"the result is partial, as the snapshot was cut short and\n"
	".Fl Fl partial\n"
	"was given\n"
	".It 5\n"
	"a limit: memory, or output that cannot be written\n"
	".It 70\n"
	"a mistake in\n"
	".Nm\n"
	"itself\n"
	".It 130\n"
	"interrupted\n"
	".El\n"
	".Pp\n"
	"On failure nothing is written to standard output or the file of\n"
	".Fl o ,\n"
	"except by\n"
	".Cm info ,\n"
	"which says what a file is that it refuses.\n"
	".Sh EXAMPLES\n"
	"What is in this snapshot?\n"
	".Dl heapgraph heap.dump.8975.5\n"
	".Pp\n"
	"The same with types, which the first two commands write down:\n"
	".Dl dune build @check\n"
	".Dl heapgraph-prof -o exe.prof _build/default\n"
	".Dl heapgraph top --prof exe.prof heap.dump.8975.5\n"
	".Pp\n"
	"Which locations hold most, as a spreadsheet reads it?\n"
	".Dl heapgraph top --by location --format csv -o top.csv heap.dump.8975.5\n"
	".Pp\n"
	"Why are the blocks allocated in cache.ml still alive?\n"
	".Dl heapgraph why loc:cache.ml heap.dump.8975.5\n"
	".Pp\n"
	"A picture of what holds the memory:\n"
	".Dl heapgraph dot -o heap.svg heap.dump.8975.5\n"
	".Pp\n"
	"What grew?\n"
	".Dl heapgraph diff heap.dump.8975.0 heap.dump.8975.5\n"
	".Sh SEE ALSO\n"
	".Xr dot 1 ,\n"
	".Xr zstd 1\n";

enum { LINE_COLUMNS = 78 };

/* A word of running text: a dot or quote at the start of a line would begin a macro. */
static void print_mdoc_word(FILE *stream, const char *word, size_t length, bool starts_line)
{
	if (starts_line && (*word == '.' || *word == '\''))
		fputs("\\&", stream);
	for (size_t i = 0; i < length; i++) {
		if (word[i] == '\\')
			fputs("\\e", stream);
		else
			putc(word[i], stream);
	}
}

/*
 * Running text: words up to the margin, a new line after each sentence (which two spaces end), a
 * new paragraph after an empty line, a full stop at the end.
 */
static void print_prose(FILE *stream, const char *text)
{
	size_t column = 0;
	while (*text) {
		size_t length = strcspn(text, " \n");
		if (column && column + 1 + length > LINE_COLUMNS) {
			putc('\n', stream);
			column = 0;
		}
		if (column)
			column += (size_t)fprintf(stream, " ");
		print_mdoc_word(stream, text, length, column == 0);
		column += length;
		text += length;
		if (strncmp(text, "\n\n", 2) == 0 || strncmp(text, "  ", 2) == 0) {
			fputs(*text == '\n' ? "\n.Pp\n" : "\n", stream);
			column = 0;
		}
		text += strspn(text, " \n");
	}
	fputs(text[-1] == '.' ? "\n" : ".\n", stream);
}

static void print_option_item(FILE *stream, const struct cli_option *option)
{
	fputs(".It ", stream);
	if (option->letter)
		fprintf(stream, "Fl %c%s%s , ", option->letter, option->argument ? " Ar " : "",
			option->argument ? option->argument : "");
	fprintf(stream, "Fl Fl %s", option->name);
	if (option->argument)
		fprintf(stream, " Ar %s", option->argument);
	putc('\n', stream);
	print_prose(stream, option->help);
	if (!cli_values_need_list(option))
		return;
	fputs("Values:", stream);
	for (unsigned i = 0; option->choice(i); i++)
		fprintf(stream, "%s %s", i ? "," : "", option->choice(i));
	fputs(".\n", stream);
}

/* Shared options are explained once, below the verbs. */
static bool is_shared(const struct cli_option *table)
{
	return table == cli_input_options || table == cli_work_options ||
	       table == cli_format_options || table == cli_output_options ||
	       table == cli_limit_options || table == cli_help_options;
}

static void print_own_options(FILE *stream, const struct cli_verb *verb)
{
	bool any = false;
	for (const struct cli_option *const *table = verb->tables; *table; table++) {
		if (is_shared(*table))
			continue;
		if (!any)
			fputs(".Bl -tag -width Ds\n", stream);
		any = true;
		for (const struct cli_option *option = *table; option->name; option++)
			print_option_item(stream, option);
	}
	if (any)
		fputs(".El\n", stream);
}

static void print_shared_names(FILE *stream, const struct cli_verb *verb)
{
	bool any = false;
	for (const struct cli_option *const *table = verb->tables; *table; table++) {
		if (!is_shared(*table) || *table == cli_help_options)
			continue;
		for (const struct cli_option *option = *table; option->name; option++) {
			fprintf(stream, "%s.Fl Fl %s", any ? " ,\n" : ".Pp\nCommon options:\n",
				option->name);
			any = true;
		}
	}
	if (any)
		fputs(" .\n", stream);
}

static void print_operands(FILE *stream, const char *operands)
{
	if (!*operands)
		return;
	fputs(".Ar ", stream);
	for (; *operands; operands++)
		fputs(*operands == '-' ? "\\-" : (char[]){*operands, '\0'}, stream);
	putc('\n', stream);
}

static void print_verb_section(FILE *stream, const struct cli_verb *verb)
{
	fprintf(stream, ".Ss %s\n.Nm\n.Cm %s\n", verb->name, verb->name);
	if (verb->tables[1])
		fputs(".Op Ar options\n", stream);
	print_operands(stream, verb->operands);
	fputs(".Pp\n", stream);
	print_prose(stream, verb->description);
	print_own_options(stream, verb);
	print_shared_names(stream, verb);
}

static void print_common_options(FILE *stream)
{
	static const struct cli_option *const tables[] = {cli_format_options, cli_output_options,
		cli_limit_options, cli_input_options, cli_work_options, cli_help_options, NULL};
	fputs(".Sh COMMON OPTIONS\n.Bl -tag -width Ds\n", stream);
	for (const struct cli_option *const *table = tables; *table; table++)
		for (const struct cli_option *option = *table; option->name; option++)
			print_option_item(stream, option);
	fputs(".It Fl Fl version\nPrint the version.\n.El\n", stream);
}

static enum hg_status run_man(struct cli_run *run)
{
	BASE_TRY(cli_sink_open(&run->sink, NULL, &run->error));
	FILE *stream = run->sink.stream;
	fputs(".\\\" Written by 'heapgraph man' from the tables of options.\n", stream);
	fputs(head, stream);
	fputs(verbs_head, stream);
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++)
		if (!(*verb)->hidden)
			print_verb_section(stream, *verb);
	print_common_options(stream);
	fputs(historical, stream);
	fputs(formats, stream);
	fputs(tail, stream);
	return HG_OK;
}

static const struct cli_option *const tables[] = {cli_help_options, NULL};

const struct cli_verb cli_verb_man = {
	.name = "man",
	.operands = "",
	.summary = "the manual page as mdoc source",
	.description = "Writes the source of heapgraph(1).",
	.tables = tables,
	.hidden = true,
	.run = run_man,
};
