/*
 * Charts of series: their areas add up to what the snapshots have, by every key, and the marks of
 * their axes are round.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/growth/areas.h"
#include "report/outputs/axis.h"

#include <stdio.h>
#include <string.h>

#ifndef FIXTURES
#define FIXTURES "tests/fixtures"
#endif

static const char *const dumps[] = {FIXTURES "/v01/cache-dump/heap.dump.8975.0",
	FIXTURES "/v01/cache-dump/heap.dump.8975.2.zst",
	FIXTURES "/v01/cache-dump/heap.dump.8975.5.zst", NULL};
static const char *const cores[] = {
	FIXTURES "/cores/tiny-4.13.1.core.zst", FIXTURES "/cores/tiny-5.3.0.core.zst", NULL};

struct charted {
	struct hg_session *session;
	struct hg_error error;
	struct rep_context context;
	struct rep_growth_request request;
};

static void add_to_series(struct charted *c, const char *path)
{
	struct hg_input input = {.size = sizeof(input), .path = path};
	struct hg_snapshot *snapshot;
	assert_int_equal(hg_snapshot_open(c->session, &input, &snapshot), HG_OK);
	assert_int_equal(hg_snapshot_analyse(snapshot), HG_OK);
	assert_int_equal(hg_series_add(c->request.series, snapshot), HG_OK);
	hg_snapshot_close(snapshot);
}

/* By path, or by key number 'by' - 1. */
static void open_charted(
	struct charted *c, const char *const *paths, unsigned by, enum hg_weight weight)
{
	struct hg_options options = {.size = sizeof(options), .threads = 1, .weight = weight};
	*c = (struct charted){
		.request = {.by_path = by == 0, .key = by ? (enum hg_key)(by - 1) : 0}};
	c->context = (struct rep_context){.error = &c->error, .weight = weight};
	assert_int_equal(hg_session_open(&options, &c->session), HG_OK);
	c->context.session = c->session;
	struct hg_series_options series = {.size = sizeof(series),
		.by_key = by > 0,
		.key = c->request.key,
		.any_program = true,
		.unchanged = true};
	assert_int_equal(hg_series_open(c->session, &series, &c->request.series), HG_OK);
	for (; *paths; paths++)
		add_to_series(c, *paths);
	assert_int_equal(hg_series_finish(c->request.series), HG_OK);
}

static void close_charted(struct charted *c)
{
	hg_series_close(c->request.series);
	hg_session_close(c->session);
}

static uint64_t weigh(const struct charted *c, uint64_t heap, uint64_t outside)
{
	return c->context.weight == HG_WEIGHT_HEAP ? heap : heap + outside;
}

/* What the library itself says of the row, which is not how the areas are summed. */
static void check_area(const struct charted *c, const struct rep_areas *areas, size_t area)
{
	struct hg_measure points[4];
	assert_true(areas->moments <= 4);
	assert_true(hg_series_points(c->request.series, areas->rows[area], points));
	for (size_t i = 0; i < areas->moments; i++)
		assert_int_equal(rep_area_amounts(areas, area)[i],
			areas->retained ? weigh(c, points[i].retained_bytes,
						  points[i].retained_offheap_bytes)
					: weigh(c, points[i].bytes, points[i].offheap_bytes));
}

static void check_sums(const struct charted *c, const struct rep_areas *areas)
{
	for (size_t i = 0; i < areas->moments; i++) {
		const struct hg_series_moment *moment = hg_series_moment_at(c->request.series, i);
		struct hg_measure total;
		uint64_t sum = 0;
		for (size_t area = 0; area <= areas->count; area++)
			sum += rep_area_amounts(areas, area)[i];
		assert_int_equal(sum, areas->totals[i]);
		assert_true(hg_series_total(c->request.series, i, &total));
		if (areas->retained)
			assert_int_equal(
				sum, weigh(c, total.retained_bytes, total.retained_offheap_bytes));
		else if (c->request.key != HG_BY_FUNCTION)
			assert_int_equal(sum, weigh(c, moment->bytes, moment->offheap_bytes));
	}
}

/* The row that another hangs below; NULL: all roots, or none. */
static const struct hg_series_row *row_above(
	const struct charted *c, const struct hg_series_row *row, struct hg_series_link *link)
{
	assert_true(hg_series_link_at(c->request.series, row->number, link));
	if (!hg_series_link_at(c->request.series, link->parent, link) || link->row->depth == 0)
		return NULL;
	return link->row;
}

static void check_apart(const struct charted *c, const struct rep_areas *areas)
{
	for (size_t i = 0; i < areas->count; i++) {
		struct hg_series_link link;
		const struct hg_series_row *row = hg_series_at(c->request.series, areas->rows[i]);
		while ((row = row_above(c, row, &link)))
			for (size_t j = 0; j < areas->count; j++)
				assert_ptr_not_equal(
					hg_series_at(c->request.series, areas->rows[j]), row);
	}
}

static void areas_add_up(void **state)
{
	(void)state;
	for (unsigned by = 0; by <= HG_KEYS; by++) {
		for (unsigned i = 0; i < 4; i++) {
			struct charted c;
			struct rep_areas areas;
			open_charted(&c, i & 1 ? dumps : cores, by,
				i & 2 ? HG_WEIGHT_HEAP : HG_WEIGHT_TOTAL);
			for (c.request.limit = 0; c.request.limit < 3; c.request.limit++) {
				assert_int_equal(
					rep_choose_areas(&c.context, &c.request, &areas), HG_OK);
				assert_true(areas.count > 0);
				assert_true(!c.request.limit || areas.count <= c.request.limit);
				for (size_t area = 0; area < areas.count; area++)
					check_area(&c, &areas, area);
				check_sums(&c, &areas);
				check_apart(&c, &areas);
				rep_areas_release(&areas);
			}
			close_charted(&c);
		}
	}
}

static void what_grows_comes_first(void **state)
{
	(void)state;
	struct charted c;
	struct rep_areas areas;
	open_charted(&c, dumps, 0, HG_WEIGHT_TOTAL);
	assert_int_equal(rep_choose_areas(&c.context, &c.request, &areas), HG_OK);
	assert_true(areas.count > 2);
	assert_int_equal(areas.growing_left, 0);
	uint64_t before = UINT64_MAX;
	for (size_t i = 0; i < areas.count; i++) {
		const struct hg_series_row *row = hg_series_at(c.request.series, areas.rows[i]);
		uint64_t most = 0;
		for (size_t j = 0; j < areas.moments; j++)
			most = rep_area_amounts(&areas, i)[j] > most
				       ? rep_area_amounts(&areas, i)[j]
				       : most;
		if (i == 0)
			assert_true(row->grows);
		if (row->grows)
			continue;
		assert_true(most <= before && most > areas.totals[2] / 1000);
		before = most;
	}
	rep_areas_release(&areas);
	/* Of paths below others one that is asked for by name is an area. */
	c.request.type = "Cache|tag 0, 3 words";
	assert_int_equal(rep_choose_areas(&c.context, &c.request, &areas), HG_OK);
	assert_true(areas.count > 0);
	check_sums(&c, &areas);
	rep_areas_release(&areas);
	c.request.type = "(";
	assert_int_equal(rep_choose_areas(&c.context, &c.request, &areas), HG_ERROR_USAGE);
	close_charted(&c);
}

static void check_axis(const struct rep_axis *axis, const char *labels)
{
	char all[512] = "";
	for (unsigned i = 0; i < axis->count; i++) {
		assert_true(i == 0 || axis->ticks[i].at > axis->ticks[i - 1].at);
		assert_true(axis->ticks[i].at <= axis->end);
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? "|" : "",
			axis->ticks[i].label);
	}
	assert_string_equal(all, labels);
}

static void marks_of_bytes_are_round(void **state)
{
	(void)state;
	static const struct {
		uint64_t most, end;
		const char *labels;
	} cases[] = {
		{0, 1, "0|1 B"},
		{7, 7, "0|1 B|2 B|3 B|4 B|5 B|6 B|7 B"},
		{8, 8, "0|2 B|4 B|6 B|8 B"},
		{1023, 1200, "0|200 B|400 B|600 B|800 B|1,000 B|1,200 B"},
		{1024, 1024, "0|0.2 KB|0.4 KB|0.6 KB|0.8 KB|1.0 KB"},
		{5 << 20, 5 << 20, "0|1 MB|2 MB|3 MB|4 MB|5 MB"},
		{(5 << 20) + 1, 6 << 20, "0|1 MB|2 MB|3 MB|4 MB|5 MB|6 MB"},
		{UINT64_C(3) << 30, UINT64_C(3) << 30,
			"0|0.5 GB|1.0 GB|1.5 GB|2.0 GB|2.5 GB|3.0 GB"},

	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rep_axis axis = rep_axis_of_bytes(cases[i].most);
		assert_int_equal(axis.end, cases[i].end);
		check_axis(&axis, cases[i].labels);
	}
	for (unsigned shift = 0; shift < 64; shift++) {
		struct rep_axis axis = rep_axis_of_bytes(UINT64_MAX >> shift);
		assert_true(axis.end >= UINT64_MAX >> shift);
		assert_true(axis.count >= 2 && axis.count <= 9);
		assert_true(axis.end >> 1 <= UINT64_MAX >> shift);
	}
}

static void marks_of_counts_are_round(void **state)
{
	(void)state;
	static const struct {
		uint64_t most, end;
		const char *labels;
	} cases[] = {
		{0, 0, "0"},
		{7, 7, "0|1|2|3|4|5|6|7"},
		{8, 8, "0|2|4|6|8"},
		{1023, 1200, "0|200|400|600|800|1,000|1,200"},
		{6000000, 6000000, "0|1,000,000|2,000,000|3,000,000|4,000,000|5,000,000|6,000,000"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rep_axis axis = rep_axis_of_counts(cases[i].most);
		assert_int_equal(axis.end, cases[i].end);
		check_axis(&axis, cases[i].labels);
	}
	for (unsigned shift = 0; shift < 64; shift++) {
		struct rep_axis axis = rep_axis_of_counts(UINT64_MAX >> shift);
		assert_true(axis.end >= UINT64_MAX >> shift);
		assert_true(axis.count >= 2 && axis.count <= 9);
	}
}

static void marks_of_time_are_those_of_clocks(void **state)
{
	(void)state;
	static const struct {
		uint64_t span;
		const char *unit, *labels;
	} cases[] = {
		{1, "nanoseconds", "0|1"},
		{258 * 1000000, "milliseconds", "0|50|100|150|200|250"},
		{2 * UINT64_C(1000000000), "seconds", "0|1|2"},
		{95 * UINT64_C(1000000000), "seconds", "0|10|20|30|40|50|60|70|80|90"},
		{119 * UINT64_C(60000000000), "minutes", "0|15|30|45|60|75|90|105"},
		{47 * UINT64_C(3600000000000), "hours", "0|6|12|18|24|30|36|42"},
		{365 * UINT64_C(86400000000000), "days", "0|50|100|150|200|250|300|350"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rep_axis axis = rep_axis_of_time(cases[i].span);
		assert_int_equal(axis.end, cases[i].span);
		assert_string_equal(axis.unit, cases[i].unit);
		check_axis(&axis, cases[i].labels);
	}
	for (unsigned shift = 0; shift < 64; shift++)
		assert_true(rep_axis_of_time(UINT64_MAX >> shift).count <= REP_MOST_TICKS);
}

static void marks_of_snapshots_are_numbers(void **state)
{
	(void)state;
	struct rep_axis axis = rep_axis_of_numbers(1);
	check_axis(&axis, "0");
	axis = rep_axis_of_numbers(3);
	check_axis(&axis, "0|1|2");
	axis = rep_axis_of_numbers(40);
	check_axis(&axis, "0|5|10|15|20|25|30|35");
	axis = rep_axis_of_numbers(1000000);
	assert_int_equal(axis.end, 999999);
	assert_true(axis.count <= REP_MOST_TICKS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(areas_add_up),
		cmocka_unit_test(what_grows_comes_first),
		cmocka_unit_test(marks_of_bytes_are_round),
		cmocka_unit_test(marks_of_counts_are_round),
		cmocka_unit_test(marks_of_time_are_those_of_clocks),
		cmocka_unit_test(marks_of_snapshots_are_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
