/*
 * Baselines.  Input: a byte, then a document; bit 0 of the byte: a series by type, bit 1: the last
 * snapshot only, bit 2: partial ones are accepted, bit 3: it is read after itself.
 */
#include "tests/fuzz/fuzz.h"

#include "base/file.h"

#include <unistd.h>

enum { BY_TYPE = 1, ONLY_LAST = 2, ACCEPT_PARTIAL = 4, AFTER_ITSELF = 8 };

/* The input as a file, the same for all of them. */
static const char *written(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;
	if (fd < 0) {
		snprintf(path, sizeof(path), "/tmp/fuzz_baseline.XXXXXX");
		fd = mkstemp(path);
		CHECK(fd >= 0);
		unlink(path);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	CHECK(ftruncate(fd, 0) == 0);
	CHECK(pwrite(fd, data, size, 0) == (ssize_t)size);
	return path;
}

/* Names are found again, parents stand before them, and strings end. */
static void check_links(const struct hg_series *series)
{
	struct hg_series_link link;
	for (uint32_t i = 0; i < hg_series_links(series); i++) {
		CHECK(hg_series_link_at(series, i, &link));
		CHECK(link.parent == UINT32_MAX || link.parent < i);
		CHECK(link.row->depth <= 500);
		CHECK(strlen(link.name) + strlen(link.made_at) + strlen(link.defined_at) < 1 << 20);
	}
}

static void check_series(struct hg_series *series)
{
	size_t moments = hg_series_moments(series);
	struct hg_measure *points = calloc(moments + 1, sizeof(*points));
	struct hg_check_options limits = {
		.size = sizeof(limits), .growth_bytes = 1, .growth_parts = 1, .total_bytes = 1};
	struct hg_check *check;
	CHECK(points);
	check_links(series);
	for (size_t i = 0; i < hg_series_count(series); i++) {
		const struct hg_series_row *row = hg_series_at(series, i);
		CHECK(hg_series_points(series, i, points));
		CHECK(points[0].bytes == row->first.bytes);
		CHECK(points[moments - 1].bytes == row->last.bytes);
		CHECK(strlen(row->name) < 1 << 24);
	}
	free(points);
	if (moments > 1) {
		CHECK(hg_check_series(series, &limits, &check) == HG_OK);
		hg_check_release(&check);
	}
}

static void read_input(struct hg_session *session, const char *path, unsigned bits)
{
	const struct hg_series_options options = {.size = sizeof(options),
		.by_key = bits & BY_TYPE,
		.key = HG_BY_TYPE,
		.unchanged = true};
	const struct hg_baseline_options how = {.size = sizeof(how),
		.partial = bits & ACCEPT_PARTIAL,
		.only_last = bits & ONLY_LAST};
	struct hg_series *series;
	const char *partial;
	CHECK(hg_series_open(session, &options, &series) == HG_OK);
	enum hg_status status = hg_series_read(series, path, &how, &partial);
	if (status == HG_OK && (bits & AFTER_ITSELF))
		status = hg_series_read(series, path, &how, &partial);
	if (status == HG_OK) {
		CHECK(hg_series_finish(series) == HG_OK);
		check_series(series);
	} else {
		const struct hg_error *error = hg_session_error(session);
		CHECK(status == HG_ERROR_INPUT || status == HG_ERROR_LIMIT);
		check_line(error->message, sizeof(error->message));
	}
	hg_series_close(series);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hg_session *session;
	if (size == 0)
		return 0;
	CHECK(hg_session_open(NULL, &session) == HG_OK);
	const char *path = written(data + 1, size - 1);
	hg_is_baseline(session, path);
	read_input(session, path, data[0]);
	hg_session_close(session);
	return 0;
}
