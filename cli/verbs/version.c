/* The verb version. */
#include "cli/verbs.h"

static enum hg_status run_version(struct cli_run *run)
{
	char version[256];
	BASE_TRY(cli_sink_open(&run->sink, NULL, &run->error));
	hg_version(version, sizeof(version));
	fprintf(run->sink.stream, "heapgraph %s%s\n", version,
		rep_can_draw() ? "" : ", without Graphviz: draws no pictures");
	return HG_OK;
}

static const struct cli_option *const tables[] = {cli_help_options, NULL};

const struct cli_verb cli_verb_version = {
	.name = "version",
	.operands = "",
	.summary = "the version, and what serves the memory of big arrays",
	.description = "'heapgraph --version' is the same.",
	.tables = tables,
	.run = run_version,
};
