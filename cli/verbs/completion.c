/* The verb completion: a script for bash from the tables of verbs and options. */
#include "cli/verbs.h"

#include <string.h>

static void print_words(FILE *stream, cli_choice_fn *choice)
{
	for (unsigned i = 0; choice(i); i++)
		fprintf(stream, "%s%s", i ? " " : "", choice(i));
}

/* The case that offers the values of an option after it. */
static void print_value_case(
	FILE *stream, const struct cli_verb *verb, const struct cli_option *option)
{
	if (option->kind == CLI_FLAG)
		return;
	fprintf(stream, "\t'%s':--%s", verb->name, option->name);
	if (option->letter)
		fprintf(stream, "|'%s':-%c", verb->name, option->letter);
	fputs(")", stream);
	if (option->kind == CLI_FILE || option->kind == CLI_FILES) {
		fputs(" compopt -o default; return", stream);
	} else if (option->kind == CLI_CHOICE) {
		fputs(" words=\"", stream);
		print_words(stream, option->choice);
		fputs("\"", stream);
	} else {
		fputs(" return", stream);
	}
	fputs(" ;;\n", stream);
}

static void print_value_cases(FILE *stream)
{
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++)
		for (const struct cli_option *const *table = (*verb)->tables; *table; table++)
			for (const struct cli_option *option = *table; option->name; option++)
				print_value_case(stream, *verb, option);
}

static void print_option_case(FILE *stream, const struct cli_verb *verb)
{
	fprintf(stream, "\t'%s') words=\"", verb->name);
	const char *separator = "";
	for (const struct cli_option *const *table = verb->tables; *table; table++) {
		for (const struct cli_option *option = *table; option->name; option++) {
			fprintf(stream, "%s--%s", separator, option->name);
			separator = " ";
		}
	}
	fputs("\" ;;\n", stream);
}

/* The first words of verbs, each once: those of two words stand together. */
static void print_verbs(FILE *stream)
{
	const char *separator = "", *last = "";
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++) {
		const char *name = (*verb)->name;
		size_t length = strcspn(name, " ");
		if ((*verb)->hidden || (name[length] && strncmp(name, last, length + 1) == 0))
			continue;
		fprintf(stream, "%s%.*s", separator, (int)length, name);
		separator = " ";
		last = name;
	}
}

/* What follows the first word of verbs of two. */
static void print_second_words(FILE *stream)
{
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++) {
		const char *space = strchr((*verb)->name, ' ');
		if (!space)
			continue;
		int first = (int)(space - (*verb)->name);
		fprintf(stream, "\t\t%.*s) words=\"$words %s\" ;;&\n", first, (*verb)->name,
			space + 1);
	}
}

/* From the third word on the first two are the verb. */
static void print_first_words(FILE *stream)
{
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++) {
		const char *name = (*verb)->name;
		size_t length = strcspn(name, " ");
		if (name[length] &&
			(verb == cli_verbs || strncmp(name, verb[-1]->name, length + 1) != 0))
			fprintf(stream, "\t\t%.*s) verb+=\" ${COMP_WORDS[2]}\" ;;\n", (int)length,
				name);
	}
}

static void write_bash(FILE *stream);

/* The shells that there is completion for. */
static const struct {
	const char *name;
	void (*write)(FILE *stream);
} shells[] = {
	{"bash", write_bash},
};
enum { SHELLS = sizeof(shells) / sizeof(shells[0]) };

/* What a verb takes as operand, where that is no file. */
static void print_operand_cases(FILE *stream)
{
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++) {
		if ((*verb)->operand_kind == CLI_OPERAND_SNAPSHOT)
			continue;
		fprintf(stream, "\t\t%s) words=", (*verb)->name);
		if ((*verb)->operand_kind == CLI_OPERAND_VERB) {
			fputs("\"", stream);
			print_verbs(stream);
			fputs("\"", stream);
		}
		for (int i = 0; (*verb)->operand_kind == CLI_OPERAND_SHELL && i < SHELLS; i++)
			fprintf(stream, "%s%s", i ? " " : "", shells[i].name);
		fputs(" ;;\n", stream);
	}
}

static void write_bash(FILE *stream)
{
	fputs("# bash completion for heapgraph, written by 'heapgraph completion bash'\n"
	      "_heapgraph()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tlocal verb=${COMP_WORDS[1]} words=\n"
	      "\t# --name=value comes as three words\n"
	      "\tif [[ $cur == = ]]; then cur=\n"
	      "\telif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
	      "\tcompopt +o default\n"
	      "\tif ((COMP_CWORD == 1)); then\n"
	      "\t\tif [[ $cur == -* ]]; then words=\"--help --version -heap -heaps -loc -prof "
	      "-v\"\n"
	      "\t\telse compopt -o default; words=\"",
		stream);
	print_verbs(stream);
	fputs("\"; fi\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\t[[ $verb == -* ]] && { compopt -o default; return; }\n"
	      "\tif ((COMP_CWORD == 2)); then\n"
	      "\t\tcase $verb in\n",
		stream);
	print_second_words(stream);
	fputs("\t\tesac\n"
	      "\t\tif [[ -n $words ]]; then\n"
	      "\t\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "\t\t\treturn\n"
	      "\t\tfi\n"
	      "\telse\n"
	      "\t\tcase $verb in\n",
		stream);
	print_first_words(stream);
	fputs("\t\tesac\n"
	      "\tfi\n"
	      "\tcase $verb:$prev in\n",
		stream);
	print_value_cases(stream);
	fputs("\tesac\n"
	      "\tif [[ -n $words ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tif [[ $cur != -* ]]; then\n"
	      "\t\tcase $verb in\n",
		stream);
	print_operand_cases(stream);
	fputs("\t\t*) compopt -o default; return ;;\n"
	      "\t\tesac\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tcase $verb in\n",
		stream);
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++)
		if (!(*verb)->hidden)
			print_option_case(stream, *verb);
	fputs("\tesac\n"
	      "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "}\n"
	      "complete -F _heapgraph heapgraph\n",
		stream);
}

static enum hg_status run_completion(struct cli_run *run)
{
	for (int i = 0; i < SHELLS; i++) {
		if (strcmp(run->operands[0], shells[i].name) != 0)
			continue;
		BASE_TRY(cli_sink_open(&run->sink, NULL, &run->error));
		shells[i].write(run->sink.stream);
		return HG_OK;
	}
	return cli_usage_error(run, "completion: '%s' is not bash", run->operands[0]);
}

static const struct cli_option *const tables[] = {cli_help_options, NULL};

const struct cli_verb cli_verb_completion = {
	.name = "completion",
	.operands = "bash",
	.min_operands = 1,
	.max_operands = 1,
	.operand_kind = CLI_OPERAND_SHELL,
	.summary = "completion of verbs, options and values for bash",
	.description = "Use it with: source <(heapgraph completion bash)",
	.tables = tables,
	.run = run_completion,
};
