/* What a pattern that selects nothing may have been meant for: the names nearest to it. */
#include "query/shared/result.h"
#include "query/shared/types.h"

#include "base/assert.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NEAREST = 5, LONGEST_WORD = 64, LONGEST_TOLD = 200, NOT_NEAR = UINT16_MAX };

/* Nearer to 0 is nearer; names of one distance are in the order in which they came. */
struct near {
	unsigned distance;
	char pattern[LONGEST_TOLD];
};

struct nearest {
	struct hg_snapshot *snapshot;
	char word[LONGEST_WORD]; /* of the pattern, in small letters and without what is no name */
	bool with_types, with_locations, with_globals, with_other_roots;
	struct near best[MOST_NEAREST];
	unsigned count;
};

static char small(char c)
{
	return (char)tolower((unsigned char)c);
}

static void keep_letters(const char *text, char *word)
{
	size_t length = 0;
	for (; *text && length + 1 < LONGEST_WORD; text++)
		if (!strchr("^$\\()[]{}*+?|", *text))
			word[length++] = small(*text);
	word[length] = '\0';
}

static bool skip_prefix(const char **text, const char *prefix)
{
	size_t length = strlen(prefix);
	if (strncmp(*text, prefix, length) != 0)
		return false;
	*text += length;
	return true;
}

/* Of what kind the names are that a pattern can select; bare ones may mean a global, too. */
static void read_wanted(struct nearest *n, const char *text)
{
	bool has_types = n->snapshot->retype.has_types;
	if (skip_prefix(&text, "type:")) {
		n->with_types = true;
	} else if (skip_prefix(&text, "loc:")) {
		n->with_locations = true;
	} else if (skip_prefix(&text, "root:")) {
		n->with_globals = n->with_other_roots = true;
	} else {
		n->with_types = has_types;
		n->with_locations = !has_types || strchr(text, ':');
		n->with_globals = true;
	}
	keep_letters(text, n->word);
}

/* Letters to insert, take out or replace. */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned row[LONGEST_WORD + 1];
	size_t length = strlen(a);
	base_assert(length < LONGEST_WORD);
	for (unsigned i = 0; i <= length; i++)
		row[i] = i;
	for (; *b; b++) {
		unsigned diagonal = row[0]++;
		for (size_t i = 1; i <= length; i++) {
			unsigned replaced = diagonal + (a[i - 1] != *b);
			unsigned other = (row[i] < row[i - 1] ? row[i] : row[i - 1]) + 1;
			diagonal = row[i];
			row[i] = replaced < other ? replaced : other;
		}
	}
	return row[length];
}

/* Where the name, or a part of it, is nearest: "enrty" is near to "Server.entry list". */
static unsigned distance_to_parts(const char *word, const char *name)
{
	unsigned best = NOT_NEAR;
	char part[LONGEST_WORD];
	for (const char *at = name; *at; at++) {
		if (at != name && !strchr(". (,:/", at[-1]))
			continue;
		size_t length = 0;
		unsigned dots = 0;
		for (; at[length] && length + 1 < sizeof(part); length++) {
			dots += at[length] == '.';
			if (strchr(" (,):", at[length]) || (dots && !strchr(word, '.')))
				break;
			part[length] = at[length];
		}
		part[length] = '\0';
		unsigned distance = length ? edit_distance(word, part) : NOT_NEAR;
		best = distance < best ? distance : best;
	}
	return best;
}

static unsigned distance_to(const char *word, const char *name)
{
	char lower[QUERY_LONGEST_NAME];
	size_t length = 0, all = strlen(word);
	for (; name[length] && length + 1 < sizeof(lower); length++)
		lower[length] = small(name[length]);
	lower[length] = '\0';
	if (strstr(lower, word))
		return 0;
	unsigned distance = distance_to_parts(word, lower);
	if (distance <= (all + 2) / 3)
		return distance;
	return length > 3 && strstr(word, lower) ? (unsigned)all : NOT_NEAR;
}

static void add_nearest(struct nearest *n, const char *name, const char *pattern)
{
	unsigned distance = *name ? distance_to(n->word, name) : NOT_NEAR, at = n->count;
	if (distance == NOT_NEAR || strlen(pattern) >= LONGEST_TOLD)
		return;
	for (unsigned i = 0; i < n->count; i++)
		if (strcmp(n->best[i].pattern, pattern) == 0)
			return;
	while (at > 0 && n->best[at - 1].distance > distance)
		at--;
	if (at == MOST_NEAREST)
		return;
	n->count += n->count < MOST_NEAREST;
	for (unsigned i = n->count - 1; i > at; i--)
		n->best[i] = n->best[i - 1];
	n->best[at].distance = distance;
	snprintf(n->best[at].pattern, sizeof(n->best[at].pattern), "%s", pattern);
}

static enum hg_status add_nearest_types(struct nearest *n)
{
	char name[QUERY_LONGEST_NAME];
	bool *met;
	uint32_t count = retype_term_count(&n->snapshot->retype.types);
	BASE_TRY(query_types_met(n->snapshot, &met));
	for (uint32_t i = 1; i < count; i++) {
		if (!met[i])
			continue;
		hg_type_name(n->snapshot, i, name, sizeof(name));
		add_nearest(n, name, name);
	}
	free(met);
	return HG_OK;
}

static void add_nearest_locations(struct nearest *n)
{
	char name[QUERY_LONGEST_NAME];
	for (uint32_t i = 1; i < n->snapshot->snap.locations.count; i++) {
		hg_location_name(n->snapshot, i, name, sizeof(name));
		add_nearest(n, name, name);
	}
}

/* As an expression that matches this name: "root:Cache\[2\]". */
static void pattern_of_root(const char *name, char *pattern, size_t size)
{
	size_t length = (size_t)snprintf(pattern, size, "root:");
	for (; *name && length + 3 < size; name++) {
		if (strchr("^$\\()[]{}*+?|", *name))
			pattern[length++] = '\\';
		pattern[length++] = *name;
	}
	pattern[length] = '\0';
}

static void add_nearest_roots(struct nearest *n)
{
	const struct snap *snap = &n->snapshot->snap;
	const char *last = NULL;
	for (uint64_t i = 0; i < snap->root_count; i++) {
		const struct snap_root *root = &snap->roots[i];
		char name[QUERY_LONGEST_NAME], pattern[2 * QUERY_LONGEST_NAME];
		bool is_global = root->kind == HG_ROOT_GLOBAL || root->kind == HG_ROOT_C_GLOBAL ||
				 root->kind == HG_ROOT_NAMED_VALUE;
		/* Slots of one array share the string that is their name. */
		bool is_slot = root->kind != HG_ROOT_GLOBAL && root->name == last;
		last = root->name;
		if (is_slot || !(is_global ? n->with_globals : n->with_other_roots))
			continue;
		if (root->kind == HG_ROOT_GLOBAL)
			hg_root_name(n->snapshot, snap_root_node(snap, i), name, sizeof(name));
		else
			snprintf(name, sizeof(name), "%s", root->name);
		pattern_of_root(name, pattern, sizeof(pattern));
		add_nearest(n, name, pattern);
	}
}

/* Beside a name that is near, those that are hardly so only distract. */
static void leave_out_far(struct nearest *n)
{
	unsigned most = n->count ? n->best[0].distance : 0;
	most += most == 1;
	while (n->count && n->best[n->count - 1].distance > most)
		n->count--;
}

/* "nothing matches 'x'; the nearest are 'y', 'z'", as far as a message goes. */
static enum hg_status tell_nearest(
	const struct nearest *n, const char *pattern, struct hg_nearest *out)
{
	enum { ROOM = 480 };
	char *text;
	const char *is = n->count == 1 ? "is" : "are";
	BASE_TRY(query_alloc(n->snapshot, ROOM, 1, (void **)&text));
	query_keep(out, text);
	out->message = text;
	size_t length = (size_t)snprintf(text, ROOM, "nothing matches '%.200s'%s", pattern,
		n->snapshot->retype.has_types ? "" : "; the types are not known");
	for (unsigned i = 0; i < n->count; i++) {
		const char *near = n->best[i].pattern;
		if (length + strlen(near) + sizeof("; the nearest are ''") > ROOM)
			return HG_OK;
		if (i == 0)
			length += (size_t)snprintf(
				text + length, ROOM - length, "; the nearest %s '%s'", is, near);
		else
			length += (size_t)snprintf(text + length, ROOM - length, ", '%s'", near);
	}
	return HG_OK;
}

static enum hg_status keep_nearest(
	const struct nearest *n, const char *pattern, struct hg_nearest *out)
{
	char(*texts)[LONGEST_TOLD];
	BASE_TRY(tell_nearest(n, pattern, out));
	BASE_TRY(query_alloc(n->snapshot, MOST_NEAREST, sizeof(*texts), (void **)&texts));
	for (unsigned i = 0; i < n->count; i++)
		memcpy(texts[i], n->best[i].pattern, sizeof(texts[i]));
	out->count = n->count;
	return query_keep_rows(
		n->snapshot, out, texts, n->count, sizeof(*texts), (void *)&out->patterns);
}

static enum hg_status find_nearest(struct nearest *n, const char *pattern)
{
	read_wanted(n, pattern);
	if (!*n->word)
		return HG_OK;
	if (n->with_globals || n->with_other_roots)
		add_nearest_roots(n);
	if (n->with_types)
		BASE_TRY(add_nearest_types(n));
	if (n->with_locations)
		add_nearest_locations(n);
	leave_out_far(n);
	return HG_OK;
}

enum hg_status hg_find_nearest(
	struct hg_snapshot *snapshot, const char *pattern, struct hg_nearest **out)
{
	struct nearest n = {.snapshot = snapshot};
	BASE_TRY(query_answer(snapshot, sizeof(**out), out));
	if (!pattern)
		pattern = "";
	enum hg_status status = find_nearest(&n, pattern);
	if (status == HG_OK)
		status = keep_nearest(&n, pattern, *out);
	if (status != HG_OK)
		query_free(out);
	return status;
}

enum hg_status query_nothing_matches(struct hg_snapshot *snapshot, const char *pattern)
{
	struct hg_nearest *nearest;
	BASE_TRY(hg_find_nearest(snapshot, pattern, &nearest));
	enum hg_status status = base_fail(
		&snapshot->session->error, HG_ERROR_USAGE, HG_NO_OFFSET, "%s", nearest->message);
	query_free(&nearest);
	return status;
}

void hg_nearest_release(struct hg_nearest **nearest)
{
	query_free(nearest);
}
