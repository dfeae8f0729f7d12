/*
 * A name that would not be told from several stands in quotation marks, and those in it are
 * doubled: one that holds what joins names, that ends like its beginning, or that begins with a
 * quotation mark.
 */
#include "query/retention/path_text.h"

#include "query/shared/query.h"

#include <string.h>

static bool needs_quotes(const char *name)
{
	static const char cut_joint[] = " /";
	size_t length = strlen(name), cut = strlen(cut_joint);
	return *name == '"' || strstr(name, QUERY_PATH_JOINT) ||
	       (length >= cut && strcmp(name + length - cut, cut_joint) == 0);
}

static void put_byte(char *buffer, size_t size, size_t *length, char byte)
{
	if (*length + 1 < size)
		buffer[*length] = byte;
	++*length;
}

size_t query_path_name(const char *name, char *buffer, size_t size)
{
	size_t length = 0;
	bool quoted = needs_quotes(name);
	if (quoted)
		put_byte(buffer, size, &length, '"');
	for (; *name; name++) {
		put_byte(buffer, size, &length, *name);
		if (quoted && *name == '"')
			put_byte(buffer, size, &length, '"');
	}
	if (quoted)
		put_byte(buffer, size, &length, '"');
	if (size)
		buffer[length < size ? length : size - 1] = '\0';
	return length;
}

size_t hg_path_first_name(const char *path)
{
	const char *at = path;
	if (!path)
		return 0;
	if (*at == '"')
		for (at++; *at && (*at != '"' || at[1] == '"'); at++)
			at += *at == '"';
	const char *end = strstr(at, QUERY_PATH_JOINT);
	return end ? (size_t)(end - path) : strlen(path);
}

static bool continues_character(const char *text)
{
	return ((unsigned char)*text & 0xc0) == 0x80;
}

/* Only the last '*' is ever tried again: what it takes more can be taken from no earlier one. */
bool query_glob_matches(const char *glob, const char *text, size_t length)
{
	const char *end = text + length, *after_star = NULL, *taken = NULL;
	while (text < end || *glob) {
		if (*glob == '*') {
			after_star = ++glob;
			taken = text;
		} else if (*glob == '?' && text < end) {
			glob++;
			do
				text++;
			while (text < end && continues_character(text));
		} else if (text < end && *glob == *text) {
			glob++;
			text++;
		} else if (after_star && taken < end) {
			glob = after_star;
			text = ++taken;
		} else {
			return false;
		}
	}
	return true;
}

bool query_glob_matches_above(const char *glob, const char *path)
{
	for (size_t at = hg_path_first_name(path); path[at];) {
		if (query_glob_matches(glob, path, at))
			return true;
		at += strlen(QUERY_PATH_JOINT);
		at += hg_path_first_name(path + at);
	}
	return false;
}
