/* The verb dot: the name of the output file says what kind of picture it is. */
#include "cli/verbs.h"

/* DOT is written by ourselves, all others are drawn. */
static const char *const picture_extensions[] = {"dot", "svg", "png", "pdf", NULL};

/* A picture is not a table: that it is partial stands in its title, and is said here, too. */
static void say_partial_picture(struct cli_run *run)
{
	struct rep_text reason = {0};
	if (!run->partial)
		return;
	struct hg_info info = *hg_snapshot_info(run->context.snapshot);
	rep_text_put(&reason, "PARTIAL: ");
	rep_partial_reason(&reason, &info);
	cli_print_note(info.path, rep_text_string(&reason));
	rep_text_release(&reason);
}

static enum hg_status run_dot(struct cli_run *run)
{
	const struct cli_values *values = &run->values;
	uint64_t nodes = cli_number(values->nodes, 80);
	if (nodes == 0 || nodes > 100000)
		return cli_usage_error(run, "--nodes: from 1 to 100000");
	struct rep_dot_request request = {
		.max_nodes = (uint32_t)nodes,
		.min_share = cli_number(values->min, 5000),
	};
	if (run->extension != picture_extensions[0])
		request.picture = run->extension;
	BASE_TRY(cli_begin_with_snapshot(run));
	BASE_TRY(cli_from_node(run, &request.from));
	say_partial_picture(run);
	return rep_dot(&run->context, &request, run->sink.stream);
}

static const struct cli_option own[] = {
	{"output", 'o', CLI_FILE, offsetof(struct cli_values, output), "FILE", NULL,
		"write to this file, which appears whole or not at all; names that end in .svg, "
		".png or .pdf are drawn by Graphviz, all others and stdout get DOT text"},
	{"nodes", 0, CLI_NUMBER, offsetof(struct cli_values, nodes), "N", NULL,
		"blocks and roots to draw at most, those that retain most: default 80; the others "
		"are folded into one note for each holder, and so are siblings that look alike, "
		"from the fifth on"},
	{"min", 0, CLI_PERCENT, offsetof(struct cli_values, min), "PERCENT", NULL,
		"fold what retains less than this share of the reachable memory: default 0.5"},
	{"from", 0, CLI_STRING, offsetof(struct cli_values, from), "PATTERN", NULL,
		"draw what this block or root holds: 0x1234, type:RE, root:RE or loc:RE; of "
		"several the one that retains most"},
	{0},
};

static const struct cli_option *const tables[] = {
	own, cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_dot = {
	.name = "dot",
	.operands = "SNAPSHOT",
	.min_operands = 1,
	.max_operands = 1,
	.summary = "a picture of what holds the memory: DOT, SVG, PNG or PDF",
	.description =
		"Draws the top of the dominator tree: an arrow leads from a block to one that it "
		"alone keeps alive.  Dashed arrows: it does so through several others; thin grey "
		"ones: it points there, but others do, too.  Colour and size of letters grow "
		"with the share of the memory.",
	.tables = tables,
	.extensions = picture_extensions,
	.run = run_dot,
};
