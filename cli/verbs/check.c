/* The verb check: a gate for continuous integration. */
#include "cli/verbs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The limits, with what they point to. */
struct limits {
	struct hg_check_options options;
	struct hg_path_limit *paths;
	struct hg_type_limit *types;
	char **names; /* copies of globs and expressions, without their limits */
	size_t name_count;
	struct hg_suppressions *suppressions;
};

static void release_limits(struct limits *limits)
{
	for (size_t i = 0; i < limits->name_count; i++)
		free(limits->names[i]);
	free(limits->names);
	free(limits->paths);
	free(limits->types);
	hg_suppressions_release(&limits->suppressions);
}

/* What stands before the last '=', and where the limit begins; NULL if there is none. */
static const char *split_limit(struct limits *limits, const char *text, char **name)
{
	const char *equals = strrchr(text, '=');
	if (!equals || equals == text)
		return NULL;
	*name = strndup(text, (size_t)(equals - text));
	if (*name)
		limits->names[limits->name_count++] = *name;
	return *name ? equals + 1 : NULL;
}

static enum hg_status read_growth(struct cli_run *run, struct hg_check_options *options)
{
	const char *text = run->values.max_growth;
	if (!text)
		return HG_OK;
	enum { MOST_PERCENT = 1000000 };
	bool percent = *text && text[strlen(text) - 1] == '%';
	bool fine = percent ? cli_read_percent(text, MOST_PERCENT, &options->growth_parts)
			    : cli_read_size(text, &options->growth_bytes);
	return fine ? HG_OK
		    : cli_usage_error(run,
			      "--max-growth: '%s' is neither a percentage like 5%% nor a size "
			      "like 10MB",
			      text);
}

static enum hg_status read_path_limits(struct cli_run *run, struct limits *limits)
{
	const struct cli_files *given = &run->values.max_paths;
	for (unsigned i = 0; i < given->count; i++) {
		char *glob;
		const char *size = split_limit(limits, given->names[i], &glob);
		if (!size || !cli_read_size(size, &limits->paths[i].bytes))
			return cli_usage_error(run,
				"--max-path: '%s' is not GLOB=SIZE like "
				"'global Cache.* / *=10MB'",
				given->names[i]);
		limits->paths[i].path = glob;
	}
	limits->options.paths = limits->paths;
	limits->options.path_count = given->count;
	return HG_OK;
}

static enum hg_status read_type_limits(struct cli_run *run, struct limits *limits)
{
	const struct cli_files *given = &run->values.max_types;
	for (unsigned i = 0; i < given->count; i++) {
		char *type;
		const char *number = split_limit(limits, given->names[i], &type);
		if (!number || !cli_read_number(number, &limits->types[i].most))
			return cli_usage_error(run,
				"--max-type: '%s' is not RE=NUMBER like '^Cache.session$=1000'",
				given->names[i]);
		limits->types[i].type = type;
	}
	limits->options.types = limits->types;
	limits->options.type_count = given->count;
	return HG_OK;
}

static enum hg_status read_limits(struct cli_run *run, struct limits *limits)
{
	const struct cli_values *values = &run->values;
	unsigned paths = values->max_paths.count, types = values->max_types.count;
	limits->options = (struct hg_check_options){.size = sizeof(limits->options),
		.growth_bytes = HG_UNKNOWN,
		.growth_parts = HG_UNKNOWN,
		.total_bytes = cli_number(values->max_total, HG_UNKNOWN),
		.now = (uint64_t)time(NULL)};
	limits->names = calloc((size_t)paths + types + 1, sizeof(*limits->names));
	limits->paths = calloc((size_t)paths + 1, sizeof(*limits->paths));
	limits->types = calloc((size_t)types + 1, sizeof(*limits->types));
	if (!limits->names || !limits->paths || !limits->types)
		return base_no_memory(&run->error, 0);
	BASE_TRY(read_growth(run, &limits->options));
	BASE_TRY(read_path_limits(run, limits));
	BASE_TRY(read_type_limits(run, limits));
	if (!values->suppress)
		return HG_OK;
	enum hg_status status =
		hg_suppressions_read(run->session, values->suppress, &limits->suppressions);
	if (status != HG_OK)
		return cli_library_failed(run, status);
	limits->options.suppressions = limits->suppressions->rows;
	limits->options.suppression_count = limits->suppressions->count;
	return HG_OK;
}

/* A name that is spelled wrong, or without types, would be a limit that nothing exceeds. */
static void note_idle(const char *what, const char *name)
{
	struct rep_text text = {0};
	rep_text_printf(&text, "%s '%s'", what, name);
	cli_print_note("", rep_text_string(&text));
	rep_text_release(&text);
}

/* Blocks of the types in the snapshot that is open. */
static enum hg_status count_types(struct cli_run *run, struct limits *limits)
{
	for (size_t i = 0; i < limits->options.type_count; i++) {
		struct hg_top *top;
		enum hg_status status =
			hg_list_top(run->context.snapshot, HG_BY_TYPE, limits->types[i].type, &top);
		if (status != HG_OK)
			return cli_library_failed(run, status);
		limits->types[i].found = top->blocks;
		if (top->blocks == 0)
			note_idle("--max-type: no block has a type that matches",
				limits->types[i].type);
		hg_top_release(&top);
	}
	return HG_OK;
}

/* A baseline tells of paths only. */
static enum hg_status add_base(struct cli_run *run, const struct rep_growth_request *request,
	const struct limits *limits, int number)
{
	if (limits->options.type_count && number == run->operand_count - 1)
		return cli_usage_error(run,
			"--max-type: '%s' is a baseline, which does not tell types of blocks",
			run->operands[number]);
	return cli_add_baseline(run, request, run->operands[number], false);
}

static enum hg_status add_all(
	struct cli_run *run, struct rep_growth_request *request, struct limits *limits)
{
	/* What is limited need not have changed. */
	const struct hg_series_options options = {
		.keep_order = true, .distinct = true, .unchanged = true};
	int count = run->operand_count;
	BASE_TRY(cli_open_series(run, request, &options));
	for (int i = 0; i < count; i++) {
		cli_progress_item(&run->progress, run->operands[i], i + 1, count);
		if (hg_is_baseline(run->session, run->operands[i])) {
			BASE_TRY(add_base(run, request, limits, i));
			continue;
		}
		BASE_TRY(cli_open(run, run->operands[i], true));
		BASE_TRY(cli_add_to_series(run, request));
		if (i == count - 1)
			BASE_TRY(count_types(run, limits));
		cli_close(run, NULL);
	}
	return cli_finish_series(run, request);
}

static enum hg_status write_junit(struct cli_run *run, const struct hg_series *series,
	const struct hg_check *check, struct cli_sink *sink)
{
	BASE_TRY(rep_junit(&run->context, series, check, sink->stream));
	return cli_sink_commit(sink, &run->error);
}

static enum hg_status tell_check(struct cli_run *run, const struct rep_growth_request *request,
	const struct limits *limits, struct cli_sink *junit)
{
	struct hg_check *check;
	enum hg_status status = hg_check_series(request->series, &limits->options, &check);
	if (status != HG_OK)
		return cli_library_failed(run, status);
	for (size_t i = 0; i < check->idle_count; i++)
		note_idle("--max-path: no path matches", check->idle[i]);
	/* First what can fail, so that nothing is said then. */
	if (run->values.junit)
		status = write_junit(run, request->series, check, junit);
	if (status == HG_OK)
		rep_check(&run->context, request, check);
	if (check->failures) {
		run->has_exit = true;
		run->exit = CLI_EXIT_CHECK;
	}
	hg_check_release(&check);
	return status;
}

static enum hg_status run_check(struct cli_run *run)
{
	struct rep_growth_request request = {.by_path = true};
	struct limits limits = {.name_count = 0};
	struct cli_sink junit = {.stream = NULL};
	BASE_TRY(cli_begin(run));
	if (run->values.junit)
		BASE_TRY(cli_sink_open(&junit, run->values.junit, &run->error));
	enum hg_status status = read_limits(run, &limits);
	if (status == HG_OK)
		status = add_all(run, &request, &limits);
	if (status == HG_OK)
		status = tell_check(run, &request, &limits, &junit);
	hg_series_close(request.series);
	release_limits(&limits);
	if (junit.stream)
		cli_sink_abandon(&junit);
	return status;
}

static const struct cli_option own[] = {
	{"max-growth", 0, CLI_STRING, offsetof(struct cli_values, max_growth), "LIMIT", NULL,
		"what all roots retain may grow by this from the last BASE to NEW: 5%, 10MB"},
	{"max-total", 0, CLI_SIZE, offsetof(struct cli_values, max_total), "SIZE", NULL,
		"what all roots retain in NEW"},
	{"max-path", 0, CLI_FILES, offsetof(struct cli_values, max_paths), "GLOB=SIZE", NULL,
		"what a path that matches may retain in NEW; * stands for any characters"},
	{"max-type", 0, CLI_FILES, offsetof(struct cli_values, max_types), "RE=NUMBER", NULL,
		"blocks that NEW may have of the types that match"},
	{"suppress", 0, CLI_FILE, offsetof(struct cli_values, suppress), "FILE", NULL,
		"paths that are known, a line each: 'GLOB until YYYY-MM-DD: REASON'"},
	{"junit", 0, CLI_FILE, offsetof(struct cli_values, junit), "FILE", NULL,
		"write the outcome there, too, as JUnit XML"},
	{0},
};

static const struct cli_option *const tables[] = {own, cli_format_options, cli_output_options,
	cli_input_options, cli_work_options, cli_help_options, NULL};

const struct cli_verb cli_verb_check = {
	.name = "check",
	.operands = "BASE... NEW",
	.min_operands = 2,
	.max_operands = INT32_MAX,
	.summary = "a gate for tests: fails where memory grows or exceeds limits",
	.description =
		"Without limits: fails on every path of the retention tree whose blocks grow at "
		"every step, while those of what holds them do not, with 5 % of the growth or "
		"more, with what holds the same values and grows in step; it takes three "
		"snapshots.  With limits only these count; several bases are a warm-up, and growth "
		"is measured from the last of them.\n\n"
		"A BASE can be a baseline, the JSON of trend, which stands for all snapshots that "
		"it was made of: these hold contents and need not be kept.\n\n"
		"Ends with 1 if anything fails, with 3 if the snapshots cannot be compared, as "
		"those of different programs.",
	.tables = tables,
	.run = run_check,
};
