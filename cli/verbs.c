/* The table of verbs. */
#include "cli/verbs.h"

#include <string.h>

const struct cli_verb *const cli_verbs[] = {&cli_verb_summary, &cli_verb_info, &cli_verb_top,
	&cli_verb_roots, &cli_verb_holders, &cli_verb_tree, &cli_verb_why, &cli_verb_retained,
	&cli_verb_object, &cli_verb_objects, &cli_verb_edges, &cli_verb_dot, &cli_verb_types,
	&cli_verb_waste, &cli_verb_diff, &cli_verb_trend, &cli_verb_check, &cli_verb_hp,
	&cli_verb_capture, &cli_verb_trace_info, &cli_verb_trace_sites, &cli_verb_trace_functions,
	&cli_verb_trace_hotspots, &cli_verb_trace_top, &cli_verb_trace_trend, &cli_verb_trace_calls,
	&cli_verb_trace_tree, &cli_verb_trace_callers, &cli_verb_trace_hot_paths,
	&cli_verb_trace_live, &cli_verb_trace_diff, &cli_verb_trace_sizes,
	&cli_verb_trace_lifetimes, &cli_verb_trace_hp, &cli_verb_trace_dump,
	&cli_verb_trace_subsample, &cli_verb_trace_anonymise, &cli_verb_help, &cli_verb_version,
	&cli_verb_completion, &cli_verb_man, NULL};

const struct cli_verb *cli_find_verb_words(int count, char *const *words, int *used)
{
	for (const struct cli_verb *const *verb = cli_verbs; *verb && count > 1; verb++) {
		const char *space = strchr((*verb)->name, ' ');
		size_t length = space ? (size_t)(space - (*verb)->name) : 0;
		if (!space || strncmp(words[0], (*verb)->name, length) != 0 ||
			words[0][length] != '\0' || strcmp(words[1], space + 1) != 0)
			continue;
		*used = 2;
		return *verb;
	}
	*used = 1;
	return count > 0 ? cli_find_verb(words[0]) : NULL;
}

bool cli_begins_verb(const char *word)
{
	size_t length = strlen(word);
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++)
		if (strncmp((*verb)->name, word, length) == 0 && (*verb)->name[length] == ' ')
			return true;
	return false;
}

const struct cli_verb *cli_find_verb(const char *name)
{
	for (const struct cli_verb *const *verb = cli_verbs; *verb; verb++)
		if (strcmp((*verb)->name, name) == 0)
			return *verb;
	return NULL;
}
