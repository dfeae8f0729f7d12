/*
 * The command line of the historical profiler: exact names with one dash, in any order.
 */
#include "base/folder.h"
#include "cli/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option historical_options[] = {
	{"v", 0, CLI_NUMBER, offsetof(struct cli_values, verbosity), "N", NULL,
		"1: print the equivalent command; 2: also the phases of the work"},
	{"I", 0, CLI_FILES, offsetof(struct cli_values, directories), "DIR", NULL,
		"folder with .cmt files; may be repeated"},
	{"bytes", 0, CLI_FLAG, offsetof(struct cli_values, in_bytes), NULL, NULL,
		"bytes in the .hp file instead of blocks"},
	{"loc", 0, CLI_FLAG, offsetof(struct cli_values, with_locations), NULL, NULL,
		"by location of allocation"},
	{"prof", 0, CLI_FILES, offsetof(struct cli_values, profiles), "FILE", NULL,
		"where locations or types come from"},
	{"heap", 0, CLI_FILE, offsetof(struct cli_values, heap), "FILE", NULL, "one snapshot"},
	{"heaps", 0, CLI_NUMBER, offsetof(struct cli_values, heaps), "PID", NULL,
		"the snapshots of a process in the current folder"},
	{0},
};

static const struct cli_option *const tables[] = {historical_options, NULL};

bool cli_is_historical(const char *argument)
{
	return argument[0] == '-' &&
	       cli_find_option(tables, argument + 1, strlen(argument + 1)) != NULL;
}

/* A snapshot of the series: its number in the name, and the name. */
struct member {
	uint64_t number;
	char *name;
};

struct series {
	struct member *members;
	size_t count, capacity;
};

static void release_series(struct series *series)
{
	for (size_t i = 0; i < series->count; i++)
		free(series->members[i].name);
	free(series->members);
}

/* Skips 'prefix' and a number equal to 'pid' and a dot; NULL if the name begins otherwise. */
static const char *skip_pid(const char *name, const char *prefix, uint64_t pid)
{
	char digits[32];
	size_t length = strlen(prefix);
	if (strncmp(name, prefix, length) != 0)
		return NULL;
	name += length;
	length = (size_t)snprintf(digits, sizeof(digits), "%llu.", (unsigned long long)pid);
	return strncmp(name, digits, length) == 0 ? name + length : NULL;
}

/* A name of digits only, up to 'end'. */
static bool read_number_part(const char *part, const char *end, uint64_t *number)
{
	if (part == end || end - part > 18)
		return false;
	*number = 0;
	for (; part < end; part++) {
		if (*part < '0' || *part > '9')
			return false;
		*number = *number * 10 + (uint64_t)(*part - '0');
	}
	return true;
}

/* The first part between dots that is a number: N of "N", "NAME.N" and "N.NAME". */
static bool find_number(const char *parts, const char *end, uint64_t *number)
{
	while (parts < end) {
		const char *dot = memchr(parts, '.', (size_t)(end - parts));
		const char *stop = dot ? dot : end;
		if (read_number_part(parts, stop, number))
			return true;
		parts = stop + 1;
	}
	return false;
}

/* heap.dump.PID.N, memprof.PID.[NAME.]N[.NAME].dump, each also compressed (.zst). */
static bool is_member(const char *name, uint64_t pid, uint64_t *number)
{
	const char *end = name + strlen(name);
	if (end - name > 4 && strcmp(end - 4, ".zst") == 0)
		end -= 4;
	const char *rest = skip_pid(name, "heap.dump.", pid);
	if (rest)
		return rest < end && read_number_part(rest, end, number);
	rest = skip_pid(name, "memprof.", pid);
	if (!rest || end - rest <= 5 || strncmp(end - 5, ".dump", 5) != 0)
		return false;
	return find_number(rest, end - 5, number);
}

static int compare_members(const void *left, const void *right)
{
	const struct member *a = left, *b = right;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return strcmp(a->name, b->name);
}

static bool add_member(struct series *series, uint64_t number, const char *name)
{
	if (series->count == series->capacity) {
		size_t capacity = series->capacity ? series->capacity * 2 : 16;
		struct member *members = realloc(series->members, capacity * sizeof(*members));
		if (!members)
			return false;
		series->members = members;
		series->capacity = capacity;
	}
	char *copy = strdup(name);
	if (copy)
		series->members[series->count++] = (struct member){number, copy};
	return copy != NULL;
}

static enum hg_status find_series(struct cli_run *run, struct series *series)
{
	uint64_t pid = run->values.heaps, number;
	struct dirent *entry = NULL;
	struct base_folder folder;
	BASE_TRY(base_folder_open(&folder, ".", &run->error));
	if (!folder.stream)
		return base_fail(&run->error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"the current folder cannot be read: %s", strerror(errno));
	enum hg_status status = base_folder_next(&folder, &entry, &run->error);
	while (status == HG_OK && entry) {
		if (is_member(entry->d_name, pid, &number) &&
			!add_member(series, number, entry->d_name))
			status = base_no_memory(&run->error, sizeof(*series->members));
		if (status == HG_OK)
			status = base_folder_next(&folder, &entry, &run->error);
	}
	base_folder_close(&folder);
	if (status != HG_OK)
		return status;
	if (series->count)
		qsort(series->members, series->count, sizeof(*series->members), compare_members);
	return HG_OK;
}

static void print_quoted(const char *argument)
{
	struct rep_text text = {0};
	rep_text_escape_shell(&text, argument);
	fprintf(stderr, " %s", rep_text_string(&text));
	rep_text_release(&text);
}

/* With -v: what one would type today, so that the old form can be left behind. */
static void print_equivalent(
	const struct cli_run *run, const char *verb, const char *by, const struct series *series)
{
	if (cli_number(run->values.verbosity, 0) < 1)
		return;
	fprintf(stderr, "heapgraph: the same today: heapgraph %s", verb);
	if (by)
		fprintf(stderr, " --by %s", by);
	for (unsigned i = 0; i < run->values.profiles.count; i++) {
		fputs(" --prof", stderr);
		print_quoted(run->values.profiles.names[i]);
	}
	if (!series)
		print_quoted(run->values.heap);
	for (size_t i = 0; series && i < series->count; i++)
		print_quoted(series->members[i].name);
	putc('\n', stderr);
}

/* Where the original wrote it: PID.hp in the current folder. */
static enum hg_status write_profile(struct cli_run *run, struct rep_hp *hp, uint64_t pid)
{
	char path[64];
	snprintf(path, sizeof(path), "%llu.hp", (unsigned long long)pid);
	run->keep_output = true;
	return cli_write_hp(run, hp, path);
}

/* The number of the process, as the name of the dump tells it. */
static enum hg_status write_profile_of_one(struct cli_run *run)
{
	struct hg_info info = *hg_snapshot_info(run->context.snapshot);
	if (info.pid == HG_UNKNOWN) {
		cli_print_note(info.path, "has no process number in its name: no .hp is written; "
					  "heapgraph hp -o FILE.hp writes one");
		return HG_OK;
	}
	struct rep_hp *hp = rep_hp_begin(run->values.with_locations, run->values.in_bytes);
	if (!hp)
		return base_no_memory(&run->error, 0);
	enum hg_status status = rep_hp_add(hp, &run->context);
	if (status == HG_OK)
		status = write_profile(run, hp, info.pid);
	rep_hp_release(hp);
	return status;
}

static enum hg_status run_heap(struct cli_run *run)
{
	BASE_TRY(cli_begin(run));
	BASE_TRY(cli_open(run, run->values.heap, true));
	struct rep_top_request request = {.key = cli_key(run, NULL), .limit = cli_limit(run, 20)};
	print_equivalent(run, "summary", NULL, NULL);
	print_equivalent(run, "top", hg_key_name(request.key), NULL);
	BASE_TRY(rep_summary(&run->context, &(struct rep_summary_request){0}));
	rep_prose(&run->emitter, REP_PLAIN, "\n");
	BASE_TRY(rep_top(&run->context, &request));
	return write_profile_of_one(run);
}

static enum hg_status run_series(struct cli_run *run, const struct series *series)
{
	struct rep_hp *hp = rep_hp_begin(run->values.with_locations, run->values.in_bytes);
	const char **names = calloc(series->count + 1, sizeof(*names));
	if (!names || !hp) {
		rep_hp_release(hp);
		free(names);
		return base_no_memory(&run->error, 0);
	}
	for (size_t i = 0; i < series->count; i++)
		names[i] = series->members[i].name;
	enum hg_status status = cli_begin(run);
	if (status == HG_OK)
		status = cli_run_trend(run, (int)series->count, names, hp);
	if (run->values.by != CLI_UNSET)
		print_equivalent(run, "trend", hg_key_name((enum hg_key)run->values.by), series);
	if (status == HG_OK)
		status = write_profile(run, hp, run->values.heaps);
	rep_hp_release(hp);
	free(names);
	return status;
}

static enum hg_status run_heaps(struct cli_run *run)
{
	unsigned long long pid = run->values.heaps;
	struct series series = {0};
	enum hg_status status = find_series(run, &series);
	if (status == HG_OK && series.count == 0)
		status = base_fail(&run->error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"no heap.dump.%llu.N or memprof.%llu.N.dump in the current folder", pid,
			pid);
	else if (status == HG_OK)
		status = run_series(run, &series);
	release_series(&series);
	return status;
}

static enum hg_status run_historical(struct cli_run *run)
{
	bool one = run->values.heap != NULL, many = run->values.heaps != CLI_UNSET;
	if (one == many)
		return cli_usage_error(run, one ? "-heap and -heaps exclude each other"
						: "-heap FILE or -heaps PID is missing");
	return one ? run_heap(run) : run_heaps(run);
}

static const struct cli_verb verb = {
	.name = "summary", /* what it prints first, and stands in messages for it */
	.operands = "",
	.summary = "",
	.description = "",
	.tables = tables,
	.tells = CLI_TELLS_TYPES | CLI_TELLS_LOCATIONS,
	.hidden = true,
	.run = run_historical,
};

int cli_run_historical(int count, char *const *arguments)
{
	struct cli_run run = {.verb = &verb};
	struct cli_parse parse = {.tables = tables, .single_dash = true};
	cli_values_init(&run.values);
	base_error_clear(&run.error);
	if (cli_parse_options(&parse, &run.values, count, arguments, &run.error) != HG_OK) {
		cli_print_error(&run.error);
		return CLI_EXIT_USAGE;
	}
	return cli_execute(&run);
}
