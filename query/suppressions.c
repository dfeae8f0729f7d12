/*
 * Files of suppressions: which paths are known to grow, until when, and why.  A line each,
 *
 *     GLOB until YYYY-MM-DD: REASON
 *
 * and lines that are empty or begin with '#'.
 */
#include "query/shared/result.h"

#include "base/assert.h"
#include "base/file.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct reading {
	char *text; /* of the file, cut into strings; the result's */
	struct hg_suppression *rows;
	uint64_t count, capacity;
	struct hg_error *error;
};

/* Exactly so many digits; -1 if there are others. */
static int read_digits(const char *text, unsigned digits)
{
	int number = 0;
	for (unsigned i = 0; i < digits; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		number = 10 * number + (text[i] - '0');
	}
	return number;
}

/* The last second of a day, by UTC. */
static bool read_day(const char *text, uint64_t *seconds)
{
	struct tm day = {.tm_hour = 23, .tm_min = 59, .tm_sec = 59};
	if (strlen(text) < 10 || text[4] != '-' || text[7] != '-')
		return false;
	int year = read_digits(text, 4), month = read_digits(text + 5, 2);
	int date = read_digits(text + 8, 2);
	day.tm_year = year - 1900;
	day.tm_mon = month - 1;
	day.tm_mday = date;
	time_t time = timegm(&day);
	if (year < 1970 || time == (time_t)-1 || day.tm_mon != month - 1 || day.tm_mday != date)
		return false;
	*seconds = (uint64_t)time;
	return true;
}

/* Where the date begins: after the last " until " that one follows; NULL. */
static char *find_until(char *line)
{
	static const char until[] = " until ";
	char *found = NULL;
	uint64_t seconds;
	for (char *at = line; (at = strstr(at, until)); at++)
		if (read_day(at + strlen(until), &seconds) && at[strlen(until) + 10] == ':')
			found = at;
	return found ? found + strlen(until) : NULL;
}

static enum hg_status read_suppression(struct reading *r, char *line, uint64_t number)
{
	static const size_t until = sizeof(" until ") - 1;
	char *date = find_until(line);
	struct hg_suppression row = {.path = line};
	if (!date || date == line + until)
		return base_fail(r->error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"line %llu is not 'PATH until YYYY-MM-DD: REASON'",
			(unsigned long long)number);
	read_day(date, &row.until);
	date[-(ptrdiff_t)until] = '\0';
	row.reason = date + strlen("YYYY-MM-DD:");
	while (*row.reason == ' ')
		row.reason++;
	if (!*row.reason)
		return base_fail(r->error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"line %llu gives no reason", (unsigned long long)number);
	BASE_TRY(base_grow(&r->rows, r->count, &r->capacity, sizeof(*r->rows), r->error));
	if (r->rows)
		r->rows[r->count++] = row;
	return HG_OK;
}

static enum hg_status read_lines(struct reading *r)
{
	static const char mark[] = "\xef\xbb\xbf"; /* that some editors begin UTF-8 with */
	uint64_t number = 0;
	bool is_marked = strncmp(r->text, mark, strlen(mark)) == 0;
	for (char *line = r->text + (is_marked ? strlen(mark) : 0), *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		number++;
		size_t length = strlen(line);
		while (length && (line[length - 1] == ' ' || line[length - 1] == '\r'))
			line[--length] = '\0';
		if (*line && *line != '#')
			BASE_TRY(read_suppression(r, line, number));
	}
	return HG_OK;
}

static enum hg_status read_file(struct reading *r, const char *path)
{
	struct base_file file;
	BASE_TRY(base_file_open(&file, path, NULL, r->error));
	enum hg_status status = HG_OK;
	if (memchr(file.bytes, '\0', file.size))
		status = base_fail(r->error, HG_ERROR_INPUT, HG_NO_OFFSET, "it is no text");
	r->text = status == HG_OK ? malloc(file.size + 1) : NULL;
	if (status == HG_OK && !r->text)
		status = base_no_memory(r->error, file.size + 1);
	if (status == HG_OK) {
		memcpy(r->text, file.bytes, file.size);
		r->text[file.size] = '\0';
		status = read_lines(r);
	}
	base_file_close(&file);
	if (status != HG_OK)
		base_error_file(r->error, path);
	return status;
}

enum hg_status hg_suppressions_read(
	struct hg_session *session, const char *path, struct hg_suppressions **out)
{
	if (out)
		*out = NULL;
	if (!session)
		return HG_ERROR_USAGE;
	base_error_clear(&session->error);
	if (!path || !out)
		return base_fail(&session->error, HG_ERROR_USAGE, HG_NO_OFFSET,
			path ? "no place for the result is given" : "no path is given");
	struct reading r = {.error = &session->error};
	BASE_TRY(query_answer_of(r.error, sizeof(**out), out));
	enum hg_status status = read_file(&r, path);
	if (r.text)
		query_keep(*out, r.text);
	if (r.rows)
		query_keep(*out, r.rows);
	(*out)->count = r.count;
	(*out)->rows = r.rows;
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_suppressions_release(struct hg_suppressions **suppressions)
{
	query_free(suppressions);
}
