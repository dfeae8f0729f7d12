/* Parts of a series. */
#include "trace/spacetime/series.h"

#include "base/grow.h"

#include <string.h>

enum { NEXT_IS_SNAPSHOT, NEXT_IS_TRIE, NEXT_IS_EVENT };

static const uint32_t series_mark = 0xace00ace;
static const char unreadable_value[] = "a value that cannot be read"; /* strictly: why */

bool spacetime_begins(const uint8_t *bytes, size_t size)
{
	static const uint8_t header[] = {0x84, 0x95, 0xa6, 0xbe, 0, 0, 0, 9};
	static const uint8_t mark[] = {0xac, 0xe0, 0x0a, 0xce};
	enum { CODE = 20, LOW = 25, END = 29 };
	return size >= END && memcmp(bytes, header, sizeof(header)) == 0 && bytes[CODE] == 3 &&
	       memcmp(bytes + LOW, mark, sizeof(mark)) == 0;
}

/* Reads the next value of a sequence, of which nothing is kept but what 'pool' has. */
static enum hg_status next_value(struct base_cursor *c, struct base_pool *pool,
	struct snap_marshal *value, struct hg_error *error)
{
	return snap_marshal_read(c, pool, value, error);
}

static enum hg_status next_int(struct base_cursor *c, int64_t *number, struct hg_error *error)
{
	struct base_pool pool = {0};
	struct snap_marshal value;
	uint64_t offset = base_cursor_offset(c);
	enum hg_status status = next_value(c, &pool, &value, error);
	if (status == HG_OK && !snap_marshal_int(&value, value.root, number))
		status = base_corrupt(error, offset, "no number where one is expected");
	base_pool_release(&pool);
	return status;
}

static enum hg_status next_double(struct base_cursor *c, double *number, struct hg_error *error)
{
	struct base_pool pool = {0};
	struct snap_marshal value;
	uint64_t offset = base_cursor_offset(c);
	enum hg_status status = next_value(c, &pool, &value, error);
	if (status == HG_OK && !snap_marshal_double(&value, value.root, 0, number))
		status = base_corrupt(error, offset, "no time where one is expected");
	base_pool_release(&pool);
	return status;
}

static enum hg_status read_mark(
	struct spacetime_series *series, struct base_cursor *c, struct hg_error *error)
{
	int64_t mark;
	if (!base_cursor_left(c))
		return base_corrupt(error, HG_NO_OFFSET,
			"the file is empty: a program under Spacetime that is killed leaves that");
	BASE_TRY(next_int(c, &mark, error));
	unsigned version = (uint64_t)mark >> 32 & 0xffff, features = (uint64_t)mark >> 48 & 0x7fff;
	if ((uint32_t)mark != series_mark)
		return base_corrupt(error, 0, "not a series of Spacetime");
	if (version != 0 || features > 1)
		return base_corrupt(error, 20,
			"series of Spacetime of version %u with features %u: known are version 0 "
			"with features 0 and 1 (OCaml 4.04 to 4.11)",
			version, features);
	series->call_counts = features == 1;
	return HG_OK;
}

/* Passes over a value without a look at it. */
static enum hg_status skip_value(struct base_cursor *c, uint64_t *offset, struct hg_error *error)
{
	*offset = base_cursor_offset(c);
	return snap_marshal_skip(c, error);
}

static enum hg_status add_moment(struct spacetime_series *series,
	const struct spacetime_moment *moment, struct hg_error *error)
{
	BASE_TRY(base_grow(&series->moments, series->moment_count, &series->moment_capacity,
		sizeof(*series->moments), error));
	series->moments[series->moment_count++] = *moment;
	series->snapshot_count += !moment->is_event;
	series->event_count += moment->is_event;
	return HG_OK;
}

static enum hg_status read_event(
	struct spacetime_series *series, struct base_cursor *c, struct hg_error *error)
{
	struct spacetime_moment event = {.is_event = true, .offset = base_cursor_offset(c)};
	struct base_pool pool = {0};
	struct snap_marshal value;
	const uint8_t *bytes;
	uint32_t length;
	enum hg_status status = next_value(c, &pool, &value, error);
	if (status == HG_OK && !snap_marshal_string(&value, value.root, &bytes, &length))
		status = base_corrupt(error, event.offset, "no name where an event has one");
	base_pool_release(&pool);
	BASE_TRY(status);
	event.name_length = length;
	BASE_TRY(base_pool_string(&series->pool, bytes, length, &event.name, error));
	BASE_TRY(next_double(c, &event.time, error));
	return add_moment(series, &event, error);
}

/* Of a snapshot the first field alone, its time. */
static enum hg_status read_time_of_snapshot(
	struct spacetime_series *series, struct base_cursor *c, struct hg_error *error)
{
	struct spacetime_moment moment = {0};
	struct base_cursor whole = *c;
	BASE_TRY(skip_value(c, &moment.offset, error));
	whole.end = c->next;
	if (!snap_marshal_first_double(whole, &moment.time))
		return base_corrupt(error, moment.offset, "a snapshot without a time");
	return add_moment(series, &moment, error);
}

static enum hg_status read_end_of_series(
	struct spacetime_series *series, struct base_cursor *c, struct hg_error *error)
{
	int64_t threads;
	void *tries;
	BASE_TRY(next_double(c, &series->close_time, error));
	BASE_TRY(skip_value(c, &series->frames, error));
	BASE_TRY(skip_value(c, &series->shapes, error));
	uint64_t offset = base_cursor_offset(c);
	BASE_TRY(next_int(c, &threads, error));
	if (threads < 0 || threads > SPACETIME_MOST_THREADS)
		return base_corrupt(error, offset, "tries of %lld threads", (long long)threads);
	BASE_TRY(base_pool_alloc(
		&series->pool, 2 * (uint64_t)threads, sizeof(*series->tries), &tries, error));
	series->tries = tries;
	for (int64_t i = 0; i < 2 * threads; i++)
		BASE_TRY(skip_value(c, &series->tries[i], error));
	series->thread_count = (uint64_t)threads;
	series->complete = true;
	return HG_OK;
}

/* One turn of what a series is made of; *end after its last part. */
static enum hg_status read_part(
	struct spacetime_series *series, struct base_cursor *c, bool *end, struct hg_error *error)
{
	int64_t next;
	uint64_t offset = base_cursor_offset(c);
	BASE_TRY(next_int(c, &next, error));
	switch (next) {
	case NEXT_IS_SNAPSHOT:
		return read_time_of_snapshot(series, c, error);
	case NEXT_IS_EVENT:
		return read_event(series, c, error);
	case NEXT_IS_TRIE:
		*end = true;
		return read_end_of_series(series, c, error);
	default:
		return base_corrupt(error, offset, "a series goes on with 0, 1 or 2, not with %lld",
			(long long)next);
	}
}

/* What is whole is kept. */
static void note_lost_parts(
	struct spacetime_series *series, const struct base_cursor *c, const struct hg_error *error)
{
	uint64_t left = base_cursor_left(c);
	struct base_cursor failed = series->file;
	bool is_cut = error->offset == HG_NO_OFFSET || !base_cursor_seek(&failed, error->offset) ||
		      snap_marshal_is_cut(failed);
	series->lost_offset = base_cursor_offset(c);
	series->lost_bytes = left;
	if (series->complete)
		series->lost = "bytes behind the end of the series";
	else if (!left)
		series->lost = "the file ends without the tables and call tries that a program "
			       "writes when it ends by itself";
	else if (is_cut)
		series->lost = "the file ends within this part";
	else
		series->lost = unreadable_value;
}

static enum hg_status read_parts(
	struct spacetime_series *series, bool strict, struct hg_error *error)
{
	struct base_cursor c = series->file, whole;
	struct hg_error why = {.offset = HG_NO_OFFSET};
	enum hg_status status = HG_OK;
	bool end = false;
	BASE_TRY(read_mark(series, &c, error));
	do {
		whole = c;
		status = base_cursor_left(&c) ? read_part(series, &c, &end, &why) : HG_ERROR_INPUT;
	} while (status == HG_OK && !end);
	if (status != HG_OK && status != HG_ERROR_INPUT) {
		*error = why;
		return status;
	}
	if (status == HG_OK && !base_cursor_left(&c))
		return HG_OK;
	note_lost_parts(series, status == HG_OK ? &c : &whole, &why);
	if (!strict)
		return HG_OK;
	if (series->lost == unreadable_value)
		return base_corrupt(error, why.offset, "%s", why.message);
	return base_corrupt(error, series->lost_offset, "%s", series->lost);
}

enum hg_status spacetime_open(struct spacetime_series *series, const uint8_t *bytes, size_t size,
	bool strict, struct hg_error *error)
{
	*series = (struct spacetime_series){.file = base_cursor_over(bytes, size)};
	enum hg_status status = read_parts(series, strict, error);
	if (status != HG_OK)
		spacetime_close(series);
	return status;
}

void spacetime_close(struct spacetime_series *series)
{
	base_pool_release(&series->pool);
	free(series->moments);
	*series = (struct spacetime_series){0};
}

enum hg_status spacetime_value_at(const struct spacetime_series *series, uint64_t offset,
	struct base_pool *pool, struct snap_marshal *value, struct hg_error *error)
{
	struct base_cursor c = series->file;
	if (!base_cursor_seek(&c, offset))
		return base_corrupt(error, offset, "the file was cut meanwhile");
	return snap_marshal_read(&c, pool, value, error);
}
