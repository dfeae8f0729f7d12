/*
 * JUnit XML, as continuous integration reads it: a suite with a test case for each row of check,
 * failed, or skipped if it is suppressed; or one case that has passed.
 */
#include "report/outputs/outputs.h"

#include "report/growth/growth.h"

#include <string.h>

static void put_attribute(FILE *stream, const char *name, const char *value)
{
	struct rep_text escaped = {0};
	rep_text_escape_xml(&escaped, value, strlen(value));
	fprintf(stream, " %s=\"%s\"", name, rep_text_string(&escaped));
	rep_text_release(&escaped);
}

static void put_text(FILE *stream, const char *before, const char *text)
{
	struct rep_text escaped = {0};
	rep_text_escape_xml(&escaped, text, strlen(text));
	fprintf(stream, "%s%s", before, rep_text_string(&escaped));
	rep_text_release(&escaped);
}

static void write_parts(
	FILE *stream, const struct hg_series *series, const struct hg_check_row *row)
{
	size_t count = row->kind == HG_CHECK_GROWS ? hg_series_count(series) : 0;
	for (size_t i = 0; (i = rep_growth_next_part(series, row->number, i)) < count; i++) {
		struct rep_text part = {0};
		rep_growth_part(&part, hg_series_at(series, i));
		put_text(stream, "\nin step with it ", rep_text_string(&part));
		rep_text_release(&part);
	}
}

static void write_case(FILE *stream, const struct hg_series *series, const struct hg_check_row *row)
{
	struct rep_text reason = {0};
	rep_check_reason(&reason, row);
	fputs("    <testcase classname=\"heapgraph.check\"", stream);
	put_attribute(stream, "name", row->path);
	fputs(">\n", stream);
	if (row->suppressed) {
		fputs("      <skipped", stream);
		put_attribute(stream, "message", row->suppressed->reason);
		fputs("/>\n", stream);
	} else {
		fputs("      <failure type=\"limit\"", stream);
		put_attribute(stream, "message", rep_text_string(&reason));
		fputs(">", stream);
		put_text(stream, "", row->path);
		if (*row->made_at)
			put_text(stream, "\nmade at ", row->made_at);
		if (*row->held_by)
			put_text(stream, "\nheld by ", row->held_by);
		write_parts(stream, series, row);
		fputs("</failure>\n", stream);
	}
	fputs("    </testcase>\n", stream);
	rep_text_release(&reason);
}

enum hg_status rep_junit(struct rep_context *context, const struct hg_series *series,
	const struct hg_check *check, FILE *stream)
{
	size_t cases = check->count ? check->count : 1;
	fprintf(stream,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n"
		"  <testsuite name=\"heapgraph check\" tests=\"%zu\" failures=\"%zu\" "
		"errors=\"0\" skipped=\"%zu\">\n",
		cases, check->failures, cases, check->failures, check->count - check->failures);
	for (size_t i = 0; i < check->count; i++)
		write_case(stream, series, check->rows[i]);
	if (check->count == 0)
		fputs("    <testcase classname=\"heapgraph.check\" name=\"limits\"/>\n", stream);
	fputs("  </testsuite>\n</testsuites>\n", stream);
	if (rep_text_lost())
		return base_fail(context->error, HG_ERROR_LIMIT, HG_NO_OFFSET, "out of memory");
	return HG_OK;
}
