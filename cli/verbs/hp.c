/* Heap profiles in the format of hp2ps: the verb, and the file that -heap and -heaps write. */
#include "cli/verbs.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Says so if it fails; that it is not installed is no failure.  What it prints goes to stderr. */
static void draw_with_hp2ps(const char *path)
{
	char *const arguments[] = {(char *)"hp2ps", (char *)path, NULL};
	posix_spawn_file_actions_t actions;
	pid_t child;
	int result = posix_spawn_file_actions_init(&actions);
	if (result)
		return;
	result = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	fflush(NULL);
	if (!result)
		result = posix_spawnp(&child, "hp2ps", &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (result) {
		if (result != ENOENT)
			cli_print_note("hp2ps", strerror(result));
		return;
	}
	int status = 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		cli_print_note(path, "hp2ps could not draw it");
}

enum hg_status cli_write_hp(struct cli_run *run, struct rep_hp *hp, const char *path)
{
	struct cli_sink sink;
	BASE_TRY(cli_sink_open(&sink, path, &run->error));
	enum hg_status status = rep_hp_write(hp, &run->context, sink.stream);
	if (status != HG_OK) {
		cli_sink_abandon(&sink);
		return status;
	}
	BASE_TRY(cli_sink_commit(&sink, &run->error));
	cli_print_note(path, "written: blocks by type, for hp2ps and other viewers of .hp");
	draw_with_hp2ps(path);
	return HG_OK;
}

static enum hg_status add_all_to_hp(struct cli_run *run, struct rep_hp *hp)
{
	for (int i = 0; i < run->operand_count; i++) {
		cli_progress_item(&run->progress, run->operands[i], i + 1, run->operand_count);
		BASE_TRY(cli_open(run, run->operands[i], true));
		BASE_TRY(rep_hp_add(hp, &run->context));
		cli_close(run, NULL);
	}
	return HG_OK;
}

static enum hg_status run_hp(struct cli_run *run)
{
	if (run->values.draw && !run->values.output)
		return cli_usage_error(run, "--ps needs -o FILE");
	BASE_TRY(cli_begin(run));
	struct rep_hp *hp = rep_hp_begin(run->values.with_locations, run->values.in_bytes);
	if (!hp)
		return base_no_memory(&run->error, 0);
	enum hg_status status = add_all_to_hp(run, hp);
	if (status == HG_OK && run->values.draw) {
		/* hp2ps reads the file, which has to be there before. */
		cli_sink_abandon(&run->sink);
		status = cli_write_hp(run, hp, run->values.output);
	} else if (status == HG_OK) {
		status = rep_hp_write(hp, &run->context, run->sink.stream);
	}
	rep_hp_release(hp);
	return status;
}

static const char *const hp_extensions[] = {"hp", NULL};

static const struct cli_option own[] = {
	{"loc", 0, CLI_FLAG, offsetof(struct cli_values, with_locations), NULL, NULL,
		"by type and location of allocation: TYPE::FILE[LINE][START-END]"},
	{"bytes", 0, CLI_FLAG, offsetof(struct cli_values, in_bytes), NULL, NULL,
		"count bytes, headers included, instead of blocks"},
	{"ps", 0, CLI_FLAG, offsetof(struct cli_values, draw), NULL, NULL,
		"draw the file with hp2ps, if that is installed"},
	{0},
};

static const struct cli_option *const tables[] = {
	own, cli_output_options, cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_hp = {
	.name = "hp",
	.operands = "SNAPSHOT...",
	.min_operands = 1,
	.max_operands = INT32_MAX,
	.summary = "blocks by type over time, as a .hp file for hp2ps",
	.description =
		"Writes a heap profile in the format that hp2ps and its relatives draw: a sample "
		"for each snapshot, in the order given, with a line for every type.  A single "
		"snapshot is written twice, as hp2ps needs two samples.  Types are named as in "
		"the module that allocates their blocks; blocks of unknown type are called after "
		"what the runtime made them for, else \"unknown\".",
	.tables = tables,
	.extensions = hp_extensions,
	.run = run_hp,
};
