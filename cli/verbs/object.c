/* The verb object. */
#include "cli/verbs.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 50 };

static bool read_address(const char *text, uint64_t *address)
{
	char *end;
	if (strncmp(text, "addr:", 5) == 0)
		text += 5;
	if (text[0] != '0' || text[1] != 'x' || !isxdigit((unsigned char)text[2]))
		return false;
	errno = 0;
	*address = strtoull(text + 2, &end, 16);
	return errno == 0 && *end == '\0';
}

static enum hg_status run_object(struct cli_run *run)
{
	uint64_t address;
	/* The address can be told from the file whatever the order. */
	if (!read_address(run->operands[0], &address)) {
		const char *file = run->operands[0];
		if (!read_address(run->operands[1], &address))
			return cli_usage_error(run, "'%s' is not an address like 0x7f12a8", file);
		run->operands[0] = run->operands[1];
		run->operands[1] = file;
	}
	uint64_t depth = cli_number(run->values.depth, 0);
	if (depth > MOST_DEPTH)
		return cli_usage_error(run, "--depth: at most %d", MOST_DEPTH);
	BASE_TRY(cli_begin_with_snapshot(run));
	hg_node node = hg_block_at(run->context.snapshot, address);
	if (node == HG_NO_NODE)
		return cli_usage_error(run, "no block at %s", run->operands[0]);
	bool text = cli_for_people(run);
	struct rep_object_request request = {.node = node,
		.max_fields = cli_number(run->values.fields, text ? 32 : 0),
		.max_referrers = cli_number(run->values.referrers, text ? 10 : 0),
		.depth = (uint32_t)depth};
	return rep_object(&run->context, &request);
}

static const struct cli_option own[] = {
	{"fields", 0, CLI_NUMBER, offsetof(struct cli_values, fields), "N", NULL,
		"fields to show: default 32 for text, all for csv and json; 0 shows all"},
	{"referrers", 0, CLI_NUMBER, offsetof(struct cli_values, referrers), "N", NULL,
		"blocks that point to it to show: default 10 for text, all for csv and json; 0 "
		"shows all"},
	{"depth", 0, CLI_NUMBER, offsetof(struct cli_values, depth), "N", NULL,
		"levels of blocks to print of values whose types are known: default 10, at most "
		"50"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_format_options, cli_output_options,
	cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_object = {
	.name = "object",
	.operands = "ADDRESS SNAPSHOT",
	.min_operands = 2,
	.max_operands = 2,
	.summary = "one block: its fields, what points to it, what keeps it alive",
	.description =
		"ADDRESS is 0x and hexadecimal digits: the address of the block's first field, "
		"as other reports print it, or any address inside the block.  If its type is known "
		"it is printed as OCaml's toplevel prints a value, cut where it is long.",
	.tables = tables,
	.run = run_object,
};
