/* What the verbs about several snapshots share: their options, and gathering the series. */
#include "cli/verbs.h"

/* Paths are the first choice, then the keys. */
static const char *growth_choice(unsigned index)
{
	return index == 0 ? "path" : cli_key_choice(index - 1);
}

static const struct cli_column columns[] = {
	{"retained_bytes", REP_SORT_RETAINED},
	{"bytes", REP_SORT_BYTES},
	{"blocks", REP_SORT_BLOCKS},
	{"name", REP_SORT_NAME},
	/* As the columns of diff are called. */
	{"retained_delta", REP_SORT_RETAINED},
	{"bytes_delta", REP_SORT_BYTES},
	{"blocks_delta", REP_SORT_BLOCKS},
	{0},
};

static const char *growth_column_name(unsigned index)
{
	return columns[index].name;
}

const struct cli_option cli_growth_options[] = {
	{"by", 0, CLI_CHOICE, offsetof(struct cli_values, growth_by), "KEY", growth_choice,
		"what is compared: path (of the retention tree, the default), or a key of top"},
	{"sort", 0, CLI_CHOICE, offsetof(struct cli_values, sort), "COLUMN", growth_column_name,
		"order of the rows, by how much the column changed: retained_bytes, bytes, "
		"blocks, or by name; by default what grows at every step, then retained_bytes"},
	{"type", 0, CLI_STRING, offsetof(struct cli_values, type), "RE", NULL,
		"only rows whose path, type or other name matches"},
	{"min", 0, CLI_SIZE, offsetof(struct cli_values, min_size), "SIZE", NULL,
		"leave out rows whose retained bytes changed by less: 100K, 2M"},
	{0},
};

struct rep_growth_request cli_growth_request(const struct cli_run *run)
{
	const struct cli_values *values = &run->values;
	struct rep_growth_request request = {
		.by_path = true,
		.sort = cli_sort(run, columns),
		.type = values->type,
		.min_bytes = cli_number(values->min_size, 0),
		.limit = cli_limit(run, 20),
	};
	if (values->growth_by != CLI_UNSET && values->growth_by > 0) {
		request.by_path = false;
		request.key = (enum hg_key)(values->growth_by - 1);
	}
	return request;
}

enum hg_status cli_open_series(struct cli_run *run, struct rep_growth_request *request,
	const struct hg_series_options *wanted)
{
	struct hg_series_options options = *wanted;
	options.size = sizeof(options);
	options.by_key = !request->by_path;
	options.key = request->key;
	run->in_series = true;
	enum hg_status status = hg_series_open(run->session, &options, &request->series);
	return status == HG_OK ? HG_OK : cli_library_failed(run, status);
}

enum hg_status cli_add_to_series(struct cli_run *run, const struct rep_growth_request *request)
{
	enum hg_status status = hg_series_add(request->series, run->context.snapshot);
	return status == HG_OK ? HG_OK : cli_library_failed(run, status);
}

/* That it is partial is said where the report has no place for it, as of snapshots. */
static void say_partial_baseline(struct cli_run *run, const char *path, const char *partial)
{
	struct rep_text reason = {0};
	run->partial |= *partial != '\0';
	if (*partial && run->emitter.writer->one_part) {
		rep_text_printf(&reason,
			"PARTIAL: the file of one of its snapshots ends in the middle of %s",
			partial);
		cli_print_note(path, rep_text_string(&reason));
	}
	rep_text_release(&reason);
}

enum hg_status cli_add_baseline(struct cli_run *run, const struct rep_growth_request *request,
	const char *path, bool only_last)
{
	const struct hg_baseline_options options = {
		.size = sizeof(options), .partial = run->values.partial, .only_last = only_last};
	const char *partial;
	enum hg_status status = hg_series_read(request->series, path, &options, &partial);
	cli_progress_end(&run->progress);
	if (status != HG_OK)
		return cli_library_failed(run, status);
	say_partial_baseline(run, path, partial);
	return HG_OK;
}

enum hg_status cli_finish_series(struct cli_run *run, const struct rep_growth_request *request)
{
	enum hg_status status = hg_series_finish(request->series);
	return status == HG_OK ? HG_OK : cli_library_failed(run, status);
}
