/*
 * A verb from its options to the exit code: session, snapshots, output, messages; and the tables of
 * options that verbs share.
 */
#include "cli/run.h"

#include "base/arena.h"
#include "cli/extension.h"
#include "cli/terminal.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VALUE(member) offsetof(struct cli_values, member)

/* What --roots takes. */
enum cli_roots { CLI_ROOTS_LASTING, CLI_ROOTS_ALL, CLI_ROOTS };

static const char *roots_choice(unsigned index)
{
	return index < CLI_ROOTS ? rep_roots_word(index == CLI_ROOTS_ALL) : NULL;
}

const struct cli_option cli_input_options[] = {
	{"prof", 0, CLI_FILES, VALUE(profiles), "FILE", NULL,
		"what tells types (an exe.prof that heapgraph-prof wrote) or locations (a .prof, "
		".locations or process_info file); one of each may be given.  Looked for beside "
		"the snapshot and in the current folder if not given"},
	{"memtrace", 0, CLI_FILE, VALUE(memtrace), "FILE", NULL,
		"trace of memtrace (.ctf) of the same run: it tells where the blocks of a core "
		"were allocated that Gc.Memprof samples for memtrace"},
	{"include", 'I', CLI_FILES, VALUE(directories), "DIR", NULL,
		"folder with the .cmt files of the program of a historical dump; may be repeated"},
	{"require-types", 0, CLI_FLAG, VALUE(require_types), NULL, NULL,
		"fail (exit code 3) rather than go on without types"},
	{"redact", 0, CLI_FLAG, VALUE(redact), NULL, NULL,
		"leave out what the program's strings and numbers are"},
	{"exe", 0, CLI_FILE, VALUE(executable), "FILE", NULL,
		"the executable of a core; where the core says if not given"},
	{"libraries", 0, CLI_FILE, VALUE(libraries), "DIR", NULL,
		"folder with the executable and libraries of the machine that a core comes from, "
		"by full path below it or by name"},
	{"no-host-files", 0, CLI_FLAG, VALUE(no_host_files), NULL, NULL,
		"use nothing but the snapshot and the files that options name: none that a core "
		"names, and none that lies beside the snapshot or in the current folder"},
	{"as", 0, CLI_CHOICE, VALUE(as), "FORMAT", hg_format_name,
		"read the snapshot as this format; recognised by name and content if not given"},
	{"roots", 0, CLI_CHOICE, VALUE(roots), "WHICH", roots_choice,
		"which roots count in full: lasting (the default), so that stack slots, registers "
		"and local roots, which pass, hold only what no other root does; or all alike"},
	{"partial", 0, CLI_FLAG, VALUE(partial), NULL, NULL,
		"accept a snapshot that was cut short and analyse what is there (exit code 4)"},
	{0},
};

const struct cli_option cli_work_options[] = {
	{"threads", 0, CLI_NUMBER, VALUE(threads), "N", NULL,
		"threads for the passes over the heap: default 1, 0 for one per processor"},
	{"max-memory", 0, CLI_SIZE, VALUE(max_memory), "SIZE", NULL,
		"give up (exit code 5) rather than use more memory than this, like 512M or 4G"},
	{"max-decompressed", 0, CLI_SIZE, VALUE(max_decompressed), "SIZE", NULL,
		"give up (exit code 5) on a compressed file of more than this when decompressed, "
		"like 40G; if not given, 1000 times its size (but at least 256M) not counting "
		"zeros, and at least 16G with them"},
	{"progress", 0, CLI_CHOICE, VALUE(progress), "WHEN", cli_progress_name,
		"progress on stderr: auto (on a terminal, the default), always or never"},
	{0},
};

const struct cli_option cli_format_options[] = {
	{"format", 0, CLI_CHOICE, VALUE(format), "FORMAT", rep_writer_name,
		"text for people (the default), csv or json for programs"},
	{0},
};

const char *const cli_chart_extensions[] = {"svg", "png", "pdf", NULL};

const struct cli_option cli_chart_options[] = {
	{"output", 'o', CLI_FILE, VALUE(output), "FILE", NULL,
		"write to this file, which appears whole or not at all, instead of stdout; a name "
		"that ends in a format, like .csv, chooses it unless --format does, and one in "
		".svg, .png or .pdf is a chart, drawn by Graphviz"},
	{0},
};

const struct cli_option cli_output_options[] = {
	{"output", 'o', CLI_FILE, VALUE(output), "FILE", NULL,
		"write to this file, which appears whole or not at all, instead of stdout; a name "
		"that ends in a format, like .csv, chooses it unless --format does"},
	{0},
};

const struct cli_option cli_limit_options[] = {
	{"limit", 0, CLI_NUMBER, VALUE(limit), "N", NULL,
		"rows to show: default 20 for text, all for csv and json; 0 shows all"},
	{0},
};

static const char *weight_name(unsigned index)
{
	static const char *const names[] = {[HG_WEIGHT_TOTAL] = "total", [HG_WEIGHT_HEAP] = "heap"};
	return index < sizeof(names) / sizeof(*names) ? names[index] : NULL;
}

const struct cli_option cli_weight_options[] = {
	{"weight", 0, CLI_CHOICE, VALUE(weight), "WEIGHT", weight_name,
		"what order and shares go by: total (the default), bytes of the heap and what "
		"blocks own outside it; or heap, these alone"},
	{0},
};

const struct cli_option cli_help_options[] = {
	{"help", 'h', CLI_FLAG, VALUE(help), NULL, NULL, "explain the command and its options"},
	{0},
};

const char *cli_key_choice(unsigned index)
{
	return index < HG_KEYS ? hg_key_name((enum hg_key)index) : NULL;
}

enum hg_key cli_key(const struct cli_run *run, const struct hg_snapshot *other)
{
	const struct cli_values *values = &run->values;
	bool typed = hg_has_types(run->context.snapshot) && (!other || hg_has_types(other));
	bool historical = values->heap || values->heaps != CLI_UNSET;
	if (values->by != CLI_UNSET)
		return (enum hg_key)values->by;
	if (!historical)
		return typed ? HG_BY_TYPE : HG_BY_LOCATION;
	if (values->with_locations)
		return typed ? HG_BY_TYPE_LOCATION : HG_BY_LOCATION;
	return typed ? HG_BY_TYPE : HG_BY_TAG;
}

uint64_t cli_number(uint64_t value, uint64_t fallback)
{
	return value == CLI_UNSET ? fallback : value;
}

static const struct rep_writer *chosen_writer(const struct cli_run *run)
{
	return rep_writer_at((unsigned)cli_number(run->values.format, 0));
}

uint64_t cli_limit(const struct cli_run *run, uint64_t text_default)
{
	return cli_number(run->values.limit, cli_for_people(run) ? text_default : 0);
}

enum rep_sort cli_sort(const struct cli_run *run, const struct cli_column *columns)
{
	uint64_t chosen = run->values.sort;
	return chosen == CLI_UNSET ? REP_SORT_DEFAULT : columns[chosen].sort;
}

bool cli_for_people(const struct cli_run *run)
{
	return chosen_writer(run)->for_people;
}

enum hg_status cli_library_failed(struct cli_run *run, enum hg_status status)
{
	run->error = *hg_session_error(run->session);
	run->error.status = status;
	return status;
}

enum hg_status cli_usage_error(struct cli_run *run, const char *format, ...)
{
	char message[sizeof(run->error.message)];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return base_fail(&run->error, HG_ERROR_USAGE, HG_NO_OFFSET, "%s", message);
}

static void add_escaped_to_line(struct rep_text *line, const char *string)
{
	rep_text_escape_terminal(line, string, strlen(string));
}

/* Takes no memory, as it also says that there is none. */
void cli_print_note(const char *file, const char *message)
{
	char buffer[4 * (2 * PATH_MAX + 1024)];
	struct rep_text line = rep_text_over(buffer, sizeof(buffer));
	rep_text_put(&line, "heapgraph: ");
	if (*file) {
		add_escaped_to_line(&line, file);
		rep_text_put(&line, ": ");
	}
	add_escaped_to_line(&line, message);
	fprintf(stderr, "%s\n", rep_text_string(&line));
}

void cli_print_error(const struct hg_error *error)
{
	char buffer[sizeof(error->message) + 64];
	struct rep_text message = rep_text_over(buffer, sizeof(buffer));
	rep_text_put(&message, *error->message ? error->message : "unknown failure");
	if (error->offset != HG_NO_OFFSET)
		rep_text_printf(&message, ", at offset %llu", (unsigned long long)error->offset);
	cli_print_note(error->file, rep_text_string(&message));
}

/* One process wants at least one thread, and no kernel gives a million. */
static unsigned thread_count(const struct cli_values *values)
{
	uint64_t threads = cli_number(values->threads, 1);
	if (threads == 0) {
		long processors = sysconf(_SC_NPROCESSORS_ONLN);
		threads = processors > 0 ? (uint64_t)processors : 1;
	}
	return threads < 256 ? (unsigned)threads : 256;
}

static enum hg_status open_session(struct cli_run *run)
{
	cli_progress_init(&run->progress,
		(enum cli_progress_when)cli_number(run->values.progress, CLI_PROGRESS_AUTO),
		cli_number(run->values.verbosity, 0) >= 2);
	run->progress.log_items = cli_number(run->values.verbosity, 0) >= 1;
	struct hg_options options = {.size = sizeof(options),
		.threads = thread_count(&run->values),
		.max_memory = cli_number(run->values.max_memory, 0),
		.max_decompressed = cli_number(run->values.max_decompressed, 0),
		.no_host_files = run->values.no_host_files,
		.weight = (enum hg_weight)cli_number(run->values.weight, HG_WEIGHT_TOTAL),
		.progress = cli_progress_report,
		.progress_data = &run->progress};
	enum hg_status status = hg_session_open(&options, &run->session);
	if (status != HG_OK)
		return base_fail(&run->error, status, HG_NO_OFFSET, "no session can be opened");
	return HG_OK;
}

static enum hg_status check_output(struct cli_run *run, const char *option, const char *path)
{
	const struct cli_values *values = &run->values;
	const char *const others[] = {values->executable, values->suppress, values->memtrace};
	bool is_read = false;
	if (!path)
		return HG_OK;
	for (int i = 0; i < run->operand_count; i++)
		is_read |= cli_same_file(path, run->operands[i]);
	for (unsigned i = 0; i < values->profiles.count; i++)
		is_read |= cli_same_file(path, values->profiles.names[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		is_read |= others[i] && cli_same_file(path, others[i]);
	return is_read ? cli_usage_error(
				 run, "%s: '%s' is read, and not written over", option, path)
		       : HG_OK;
}

/* A slip of the hand must cost no snapshot. */
static enum hg_status check_outputs(struct cli_run *run)
{
	const char *output = run->values.output, *junit = run->values.junit;
	BASE_TRY(check_output(run, "-o", output));
	BASE_TRY(check_output(run, "--junit", junit));
	if (!junit || (output ? strcmp(junit, output) != 0 && !cli_same_file(junit, output)
			      : strcmp(junit, "-") != 0))
		return HG_OK;
	return cli_usage_error(run, "--junit: '%s' is where the other output goes", junit);
}

enum hg_status cli_begin(struct cli_run *run)
{
	BASE_TRY(check_outputs(run));
	BASE_TRY(cli_sink_open(&run->sink, run->values.output, &run->error));
	bool is_screen = run->sink.stream == stdout;
	if (!rep_emitter_init(&run->emitter, run->sink.stream, chosen_writer(run),
		    is_screen && cli_terminal_has_colour()))
		return base_no_memory(&run->error, chosen_writer(run)->state_size);
	run->emitter.redact = run->values.redact;
	run->emitter.utf8 = cli_terminal_has_utf8();
	run->emitter.room = is_screen ? cli_terminal_columns() : 0;
	BASE_TRY(open_session(run));
	run->context = (struct rep_context){.session = run->session,
		.emitter = &run->emitter,
		.error = &run->error,
		.weight = (enum hg_weight)cli_number(run->values.weight, HG_WEIGHT_TOTAL)};
	return HG_OK;
}

/* Whether --prof names a source of locations. */
static bool names_locations(const struct cli_run *run)
{
	return run->locations != NULL;
}

/* "types from FILE; NOTE", or "types: NOTE" without a file. */
static void print_source(
	const struct hg_info *info, const char *what, const char *file, const char *note)
{
	struct rep_text text = {0};
	rep_text_printf(&text, "%s%s%s%s%s", what, *file ? " from " : ": ", file,
		*file && *note ? "; " : "", note);
	cli_print_note(info->path, rep_text_string(&text));
	rep_text_release(&text);
}

/* Types that are not as one would wish are said with every verb, a profile found by itself too. */
static void say_types(const struct cli_run *run, const struct hg_info *info)
{
	if (run->verb->tells & CLI_TELLS_TYPES || !cli_for_people(run))
		return;
	bool chosen = *info->type_profile && !run->types;
	/* That there is no profile is what most users have, and no news. */
	bool odd = info->type_state == HG_TYPES_REFUSED || info->type_state == HG_TYPES_STALE;
	if (odd || (chosen && isatty(STDERR_FILENO)))
		print_source(info, "types", info->type_profile, info->type_note);
}

void cli_say_partial(const struct hg_info *info)
{
	struct rep_text reason = {0};
	if (!*info->partial)
		return;
	rep_text_put(&reason, "PARTIAL: ");
	rep_partial_reason(&reason, info);
	cli_print_note(info->path, rep_text_string(&reason));
	rep_text_release(&reason);
}

/* What a user has to know about a snapshot and does not find in the report itself. */
static void say_about_sources(struct cli_run *run, const struct hg_info *info)
{
	if (chosen_writer(run)->one_part)
		cli_say_partial(info);
	say_types(run, info);
	if (run->verb->tells & CLI_TELLS_LOCATIONS || names_locations(run) || !cli_for_people(run))
		return;
	if (*info->profile_note || (*info->profile && isatty(STDERR_FILENO)))
		print_source(info, "locations", info->profile, info->profile_note);
}

void cli_say_losses(const char *path, const struct hg_trace_losses *losses)
{
	struct rep_text text = {0};
	rep_text_printf(&text, "PARTIAL: %s", losses->first);
	if (losses->first_offset != HG_NO_OFFSET)
		rep_text_printf(
			&text, ", at offset %llu", (unsigned long long)losses->first_offset);
	rep_text_put(&text, "; the rest was read (trace info counts what was lost)");
	cli_print_note(path, rep_text_string(&text));
	rep_text_release(&text);
}

/*
 * Of the trace beside the snapshot: whether it is all there, which counts for the exit code, and
 * whether it has all blocks, unless the report tells that.
 */
static void say_join(struct cli_run *run)
{
	const struct hg_join *join = hg_snapshot_join(run->context.snapshot);
	struct rep_text text = {0};
	if (!join)
		return;
	if (join->losses.first) {
		cli_say_losses(join->trace, &join->losses);
		run->partial = true;
	}
	if (run->verb->tells & CLI_TELLS_LOCATIONS || !cli_for_people(run) ||
		join->placed == join->ids)
		return;
	rep_put_join(&text, join);
	cli_print_note(join->trace, rep_text_string(&text));
	rep_text_release(&text);
}

/* Both kinds of profiles have the same name: the bytes tell. */
static enum hg_status sort_profiles(struct cli_run *run)
{
	const struct cli_files *files = &run->values.profiles;
	run->types = run->locations = NULL;
	for (unsigned i = 0; i < files->count; i++) {
		enum hg_profile_kind kind;
		enum hg_status status = hg_identify_profile(run->session, files->names[i], &kind);
		if (status != HG_OK)
			return cli_library_failed(run, status);
		const char **place = kind == HG_PROFILE_TYPES ? &run->types : &run->locations;
		if (*place)
			return cli_usage_error(run, "--prof: '%s' and '%s' both tell %s", *place,
				files->names[i], kind == HG_PROFILE_TYPES ? "types" : "locations");
		*place = files->names[i];
	}
	return HG_OK;
}

/* Rows by what types say nothing of, of blocks of all types: looking for types takes time.  With
 * types go the names of the values that roots are. */
static bool needs_no_types(const struct cli_values *values)
{
	enum hg_key key = (enum hg_key)values->by;
	return values->by != CLI_UNSET && key != HG_BY_TYPE && key != HG_BY_TYPE_LOCATION &&
	       key != HG_BY_FUNCTION && key != HG_BY_ROOT && !values->type;
}

static void put_option(struct rep_text *words, const char *name, const char *value)
{
	rep_text_printf(words, " --%s", name);
	if (value) {
		rep_text_put(words, " ");
		rep_text_escape_shell(words, value);
	}
}

static void put_given_option(
	struct rep_text *words, const struct cli_option *option, const struct cli_values *values)
{
	const char *place = (const char *)values + option->offset;
	const struct cli_files *files = (const void *)place;
	switch (option->kind) {
	case CLI_FLAG:
		if (*(const bool *)place)
			put_option(words, option->name, NULL);
		break;
	case CLI_FILES:
		for (unsigned i = 0; i < files->count; i++)
			put_option(words, option->name, files->names[i]);
		break;
	case CLI_FILE:
		if (*(const char *const *)(const void *)place)
			put_option(words, option->name, *(const char *const *)(const void *)place);
		break;
	case CLI_CHOICE: {
		uint64_t index = *(const uint64_t *)(const void *)place;
		if (index != CLI_UNSET)
			put_option(words, option->name, option->choice((unsigned)index));
		break;
	}
	default:
		break;
	}
}

/* What a command line about this snapshot needs, so that it can be pasted as it is. */
static void note_words(struct cli_run *run, const char *path)
{
	rep_text_clear(&run->words);
	for (const struct cli_option *option = cli_input_options; option->name; option++)
		put_given_option(&run->words, option, &run->values);
	rep_text_put(&run->words, " ");
	if (*path == '-')
		rep_text_put(&run->words, "./");
	rep_text_escape_shell(&run->words, path);
	run->context.words = rep_text_string(&run->words);
}

enum hg_status cli_open(struct cli_run *run, const char *path, bool analyse)
{
	BASE_TRY(sort_profiles(run));
	struct hg_snapshot *snapshot = NULL;
	struct hg_info info;
	unsigned notes = 0;
	struct hg_input input = {.size = sizeof(input),
		.path = path,
		.profile = run->locations,
		.types = run->types,
		.directories = run->values.directories.names,
		.directory_count = run->values.directories.count,
		.require_types = run->values.require_types,
		.without_types = needs_no_types(&run->values),
		.partial = run->values.partial,
		.all_roots_alike = run->values.roots == CLI_ROOTS_ALL,
		.in_series = run->in_series,
		.memtrace = run->values.memtrace,
		.executable = run->values.executable,
		.libraries = run->values.libraries};
	if (run->values.as != CLI_UNSET)
		input.format = hg_format_name((unsigned)run->values.as);
	enum hg_status status = hg_snapshot_open(run->session, &input, &snapshot);
	if (status == HG_OK) {
		info = *hg_snapshot_info(snapshot);
		notes = info.note_count;
	}
	if (status == HG_OK && analyse)
		status = hg_snapshot_analyse(snapshot);
	cli_progress_end(&run->progress);
	if (status != HG_OK) {
		cli_library_failed(run, status);
		base_error_file(&run->error, path);
		hg_snapshot_close(snapshot);
		return status;
	}
	run->context.snapshot = snapshot;
	note_words(run, path);
	info = *hg_snapshot_info(snapshot);
	run->partial |= *info.partial != '\0';
	/* What the file itself lacks, info tells; this is about the files that tell types. */
	for (; notes < info.note_count; notes++)
		cli_print_note("", info.notes[notes]);
	say_about_sources(run, &info);
	say_join(run);
	return HG_OK;
}

/* That something was left out of what was said, when nothing else went wrong. */
static enum hg_status check_complete(struct cli_run *run, enum hg_status status)
{
	struct hg_snapshot *snapshot = run->context.snapshot;
	if (status != HG_OK || !snapshot || hg_snapshot_complete(snapshot) == HG_OK)
		return status;
	return cli_library_failed(run, HG_ERROR_LIMIT);
}

void cli_close(struct cli_run *run, struct hg_snapshot *next)
{
	run->incomplete = check_complete(run, run->incomplete);
	hg_snapshot_close(run->context.snapshot);
	run->context.snapshot = next;
}

enum hg_status cli_begin_with_snapshot(struct cli_run *run)
{
	BASE_TRY(cli_begin(run));
	return cli_open(run, run->operands[run->operand_count - 1], true);
}

enum hg_status cli_from_node(struct cli_run *run, hg_node *node)
{
	struct hg_selection *selection = NULL;
	uint64_t most = 0;
	*node = HG_NO_NODE;
	if (!run->values.from)
		return HG_OK;
	enum hg_status status = hg_select(run->context.snapshot, run->values.from, &selection);
	if (status != HG_OK)
		return cli_library_failed(run, status);
	for (size_t i = 0; i < selection->count; i++) {
		struct hg_block block =
			*hg_describe_block(run->context.snapshot, selection->nodes[i]);
		if (block.reachable && (*node == HG_NO_NODE || block.retained_bytes > most)) {
			*node = selection->nodes[i];
			most = block.retained_bytes;
		}
	}
	if (selection->count == 0)
		status = rep_nothing_matches(&run->context, "--from", run->values.from);
	else if (*node == HG_NO_NODE)
		status = cli_usage_error(
			run, "--from: nothing that matches '%s' is reachable", run->values.from);
	hg_selection_release(&selection);
	return status;
}

static int exit_code(const struct cli_run *run, enum hg_status status)
{
	switch (status) {
	case HG_OK:
		if (run->has_exit)
			return run->exit;
		return run->partial ? CLI_EXIT_PARTIAL : CLI_EXIT_FINE;
	case HG_ERROR_USAGE:
		return CLI_EXIT_USAGE;
	case HG_ERROR_INPUT:
		return CLI_EXIT_INPUT;
	case HG_ERROR_OUTPUT:
	case HG_ERROR_LIMIT:
		return CLI_EXIT_RESOURCE;
	case HG_ERROR_CANCELLED:
		return CLI_EXIT_CANCELLED;
	default:
		return CLI_EXIT_INTERNAL;
	}
}

/* Closes the output; a failure to write counts unless there was another one before. */
static enum hg_status finish_output(struct cli_run *run, enum hg_status status)
{
	bool written_wrong = run->sink.stream && run->emitter.stream &&
			     rep_emitter_broken(&run->emitter) && !ferror(run->sink.stream);
	run->sink.file.is_private = run->emitter.has_contents;
	rep_emitter_release(&run->emitter);
	if (status == HG_OK)
		status = check_complete(run, run->incomplete);
	if ((status == HG_OK || run->keep_output) && (written_wrong || rep_text_lost())) {
		run->keep_output = false;
		status = base_fail(&run->error, HG_ERROR_LIMIT, HG_NO_OFFSET,
			"out of memory for the text of the report");
	}
	if (status != HG_OK && !run->keep_output) {
		cli_sink_abandon(&run->sink);
		return status;
	}
	struct hg_error error;
	base_error_clear(&error);
	enum hg_status written = cli_sink_commit(&run->sink, &error);
	if (status == HG_OK && written != HG_OK) {
		run->error = error;
		status = written;
	}
	return status;
}

int cli_execute(struct cli_run *run)
{
	base_error_clear(&run->error);
	enum hg_status status = base_arena_check(&run->error);
	if (status == HG_OK)
		status = cli_choose_format(run);
	if (status == HG_OK)
		status = run->verb->run(run);
	status = finish_output(run, status);
	cli_progress_end(&run->progress);
	rep_text_release(&run->words);
	if (run->context.snapshot)
		hg_snapshot_close(run->context.snapshot);
	if (run->session)
		hg_session_close(run->session);
	if (status != HG_OK && !cli_reader_gone())
		cli_print_error(&run->error);
	return exit_code(run, status);
}
