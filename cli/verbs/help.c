/* The verb help, and the help of every verb, from the tables of verbs and options. */
#include "cli/verbs.h"

#include <string.h>

enum { HELP_COLUMNS = 79 };

/* Prints words up to the margin, later lines indented; two newlines begin a paragraph. */
static void print_wrapped(FILE *stream, const char *text, size_t column, size_t indent)
{
	while (*text) {
		size_t length = strcspn(text, " \n");
		if (length && column > indent && column + 1 + length > HELP_COLUMNS) {
			fprintf(stream, "\n%*s", (int)indent, "");
			column = indent;
		} else if (length && column > indent) {
			putc(' ', stream);
			column++;
		}
		fwrite(text, 1, length, stream);
		column += length;
		text += length;
		if (*text == '\n') {
			fprintf(stream, "\n\n%*s", (int)indent, "");
			column = indent;
		}
		text += strspn(text, " \n");
	}
	putc('\n', stream);
}

bool cli_values_need_list(const struct cli_option *option)
{
	if (!option->choice)
		return false;
	for (unsigned i = 0; option->choice(i); i++)
		if (strstr(option->help, option->choice(i)))
			return false;
	return true;
}

static void print_option_help(const struct cli_option *option, FILE *stream)
{
	enum { INDENT = 24 };
	int width = 2;
	fputs("  ", stream);
	if (option->letter)
		width += fprintf(stream, "-%c, ", option->letter);
	width += fprintf(stream, "--%s", option->name);
	if (option->argument)
		width += fprintf(stream, " %s", option->argument);
	if (width < INDENT)
		fprintf(stream, "%*s", INDENT - width, "");
	else
		fprintf(stream, "\n%*s", INDENT, "");
	print_wrapped(stream, option->help, INDENT, INDENT);
	if (!cli_values_need_list(option))
		return;
	fprintf(stream, "%*s", INDENT, "");
	for (unsigned i = 0; option->choice(i); i++)
		fprintf(stream, "%s%s", i ? ", " : "", option->choice(i));
	putc('\n', stream);
}

static void print_verb_help(const struct cli_verb *verb, FILE *stream)
{
	fprintf(stream, "heapgraph %s%s%s%s\n", verb->name, verb->tables[1] ? " [options]" : "",
		*verb->operands ? " " : "", verb->operands);
	fprintf(stream, "    %s\n\n", verb->summary);
	print_wrapped(stream, verb->description, 0, 0);
	fputs("\nOptions:\n", stream);
	for (const struct cli_option *const *table = verb->tables; *table; table++)
		for (const struct cli_option *option = *table; option->name; option++)
			print_option_help(option, stream);
}

/* Those whose names begin so. */
static void print_verbs(FILE *stream, const char *first)
{
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++)
		if (!(*verb)->hidden && strncmp((*verb)->name, first, strlen(first)) == 0)
			fprintf(stream, "  %-*s %s\n", strchr((*verb)->name, ' ') ? 16 : 11,
				(*verb)->name, (*verb)->summary);
}

/* The verbs that begin with a word that is none alone. */
static void print_verbs_of(const char *word, FILE *stream)
{
	fprintf(stream, "heapgraph %s VERB [options] FILE...\n\nVerbs:\n", word);
	print_verbs(stream, word);
	fprintf(stream, "\n'heapgraph help %s VERB' explains a verb.\n", word);
}

void cli_print_overview(FILE *stream)
{
	fputs("heapgraph: what fills the memory of an OCaml program, from snapshots of it\n\n"
	      "  heapgraph VERB [options] SNAPSHOT...\n"
	      "  heapgraph SNAPSHOT                    the same as summary\n"
	      "  heapgraph [-loc] [-prof FILE] (-heap FILE | -heaps PID)\n"
	      "                                        as the historical profiler\n\n"
	      "Verbs:\n",
		stream);
	print_verbs(stream, "");
	fputs("\n'heapgraph help VERB' explains a verb, heapgraph(1) everything.\n", stream);
}

static enum hg_status run_help(struct cli_run *run)
{
	BASE_TRY(cli_sink_open(&run->sink, NULL, &run->error));
	if (run->operand_count == 0) {
		cli_print_overview(run->sink.stream);
		return HG_OK;
	}
	if (run->operand_count == 1 && cli_begins_verb(run->operands[0])) {
		print_verbs_of(run->operands[0], run->sink.stream);
		return HG_OK;
	}
	int used;
	const struct cli_verb *verb =
		cli_find_verb_words(run->operand_count, (char *const *)run->operands, &used);
	if (!verb || used < run->operand_count)
		return cli_usage_error(run, "'%s%s%s' is not a verb (see heapgraph help)",
			run->operands[0], run->operand_count > 1 ? " " : "",
			run->operand_count > 1 ? run->operands[1] : "");
	print_verb_help(verb, run->sink.stream);
	return HG_OK;
}

static const struct cli_option *const tables[] = {cli_help_options, NULL};

const struct cli_verb cli_verb_help = {
	.name = "help",
	.operands = "[VERB]",
	.max_operands = 2,
	.operand_kind = CLI_OPERAND_VERB,
	.summary = "the list of verbs, or one of them explained",
	.description = "'heapgraph VERB --help' is the same.",
	.tables = tables,
	.run = run_help,
};
