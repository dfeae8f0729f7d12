/* The verb dot: the name of the output file says what kind of picture it is. */
#include "cli/extension.h"
#include "cli/verbs.h"

/* Parts per million. */
#define PATHS_MIN 10000
#define BLOCKS_MIN 5000

/* DOT is written by ourselves, all others are drawn. */
static const char *const picture_extensions[] = {"dot", "svg", "png", "pdf", NULL};

static enum hg_status run_dot(struct cli_run *run)
{
	const struct cli_values *values = &run->values;
	uint64_t nodes = cli_number(values->nodes, values->blocks ? 80 : 36);
	if (nodes == 0 || nodes > 100000)
		return cli_usage_error(run, "--nodes: from 1 to 100000");
	struct rep_dot_request request = {
		.from = values->from,
		.max_nodes = (uint32_t)nodes,
		.min_share = cli_number(values->min, PATHS_MIN),
		.picture = run->extension == picture_extensions[0] ? NULL : run->extension,
	};
	struct rep_dot_blocks_request blocks = {
		.max_nodes = request.max_nodes,
		.min_share = cli_number(values->min, BLOCKS_MIN),
		.picture = request.picture,
	};
	BASE_TRY(cli_check_drawing(run));
	BASE_TRY(cli_begin_with_snapshot(run));
	if (values->blocks)
		BASE_TRY(cli_from_node(run, &blocks.from));
	/* It stands in the title of the picture, and is said here, too. */
	struct hg_info info = *hg_snapshot_info(run->context.snapshot);
	cli_say_partial(&info);
	return values->blocks ? rep_dot_blocks(&run->context, &blocks, run->sink.stream)
			      : rep_dot(&run->context, &request, run->sink.stream);
}

static const struct cli_option own[] = {
	{"output", 'o', CLI_FILE, offsetof(struct cli_values, output), "FILE", NULL,
		"write to this file, which appears whole or not at all; names that end in .svg, "
		".png or .pdf are drawn by Graphviz, all others and stdout get DOT text"},
	{"blocks", 0, CLI_FLAG, offsetof(struct cli_values, blocks), NULL, NULL,
		"the dominator tree block by block, with addresses as names of nodes"},
	{"nodes", 0, CLI_NUMBER, offsetof(struct cli_values, nodes), "N", NULL,
		"boxes to draw at most, those that retain most: default 36, with --blocks 80; the "
		"others are folded into one note for each holder, and with --blocks so are "
		"siblings that look alike, from the fifth on"},
	{"min", 0, CLI_PERCENT, offsetof(struct cli_values, min), "PERCENT", NULL,
		"leave out what retains less than this share of the reachable memory: default 1, "
		"with --blocks 0.5"},
	{"from", 0, CLI_STRING, offsetof(struct cli_values, from), "PATTERN", NULL,
		"draw what blocks or roots hold that match: 0x1234, type:RE, root:RE or loc:RE; "
		"with --blocks, of several the one that retains most"},
	{0},
};

static const struct cli_option *const tables[] = {
	own, cli_weight_options, cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_dot = {
	.name = "dot",
	.operands = "SNAPSHOT",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "a picture of what holds the memory: DOT, SVG, PNG or PDF",
	.description =
		"Draws the top of the retention tree: roots, and to the right of them or below "
		"what they hold, the blocks of one type on one path as one box, with what would "
		"be freed with them, how many they are, and a line that makes them where they "
		"are many.  Arrows tell the field; dashed grey ones, with a number of pointers, "
		"who points there besides.  The colour grows with the share of the memory.  "
		"With --blocks every box is a block, or a chain of like ones: dashed arrows "
		"then lead to what a block holds through several others, thin grey ones to what "
		"others hold, too.",
	.tables = tables,
	.extensions = picture_extensions,
	.run = run_dot,
};
