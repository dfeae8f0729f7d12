/* The verb tree: people get a part of it, programs everything unless they ask for less. */
#include "cli/verbs.h"

enum { TEXT_DEPTH = 10, TEXT_CHILDREN = 6, TEXT_LIMIT = 20 };
#define TEXT_MIN 5000 /* parts per million: 0.5 % */

static enum hg_status depth_out_of_range(struct cli_run *run)
{
	return cli_usage_error(run, "--depth and --children: at most %u", UINT32_MAX);
}

static enum hg_status run_tree(struct cli_run *run)
{
	const struct cli_values *values = &run->values;
	/* Programs get everything unless they ask for less. */
	bool text = cli_for_people(run);
	uint64_t depth = cli_number(values->depth, text ? TEXT_DEPTH : 0);
	uint64_t children = cli_number(values->children, text ? TEXT_CHILDREN : 0);
	if (depth > UINT32_MAX || children > UINT32_MAX)
		return depth_out_of_range(run);
	struct rep_tree_blocks_request blocks = {
		.max_depth = (uint32_t)depth,
		.max_children = (uint32_t)children,
		.min_share = cli_number(values->min, text ? TEXT_MIN : 0),
		.limit = cli_limit(run, TEXT_LIMIT),
	};
	struct rep_tree_request request = {values->from, blocks.max_depth, blocks.max_children,
		blocks.min_share, blocks.limit};
	BASE_TRY(cli_begin_with_snapshot(run));
	if (!values->blocks)
		return rep_tree(&run->context, &request);
	BASE_TRY(cli_from_node(run, &blocks.from));
	return rep_tree_blocks(&run->context, &blocks);
}

static const struct cli_option own[] = {
	{"blocks", 0, CLI_FLAG, offsetof(struct cli_values, blocks), NULL, NULL,
		"the dominator tree block by block, with addresses"},
	{"depth", 0, CLI_NUMBER, offsetof(struct cli_values, depth), "N", NULL,
		"levels to show: default 10 for text, all for csv and json; 0 shows all"},
	{"children", 0, CLI_NUMBER, offsetof(struct cli_values, children), "N", NULL,
		"children to show of a node, the largest first: default 6 for text, all for csv "
		"and json; 0 shows all"},
	{"min", 0, CLI_PERCENT, offsetof(struct cli_values, min), "PERCENT", NULL,
		"leave out what retains less than this share of the reachable memory: default "
		"0.5 for text, 0 for csv and json"},
	{"from", 0, CLI_STRING, offsetof(struct cli_values, from), "PATTERN", NULL,
		"show what blocks or roots hold that match: 0x1234, type:RE, root:RE or loc:RE; "
		"with --blocks, of several the one that retains most"},
	{"limit", 0, CLI_NUMBER, offsetof(struct cli_values, limit), "N", NULL,
		"nodes to show, those that retain most: default 20 for text, all for csv and "
		"json; 0 shows all"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_weight_options, cli_format_options,
	cli_output_options, cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_tree = {
	.name = "tree",
	.operands = "SNAPSHOT",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "what holds what: the retention tree, by root and class",
	.description =
		"A block stands below the one that alone keeps it alive: were that one freed, "
		"everything indented below it would be freed, too.  Blocks of one type below "
		"one parent are one row, and so are roots of one name; a block whose type "
		"already stands above it belongs to that row, so that a list or a tree of any "
		"length is one.  'retained' is the memory of a row with all that stands below "
		"it, 'own bytes' that of its own blocks.  What several roots hold together "
		"stands at the top, with who points to it.",
	.tables = tables,
	.run = run_tree,
};
