/*
 * Questions about traces and series, with filters.  Input: four bytes, then the file.
 *
 *     0  bit 0 'strict', the other bits the question, so many turns round the list
 *     1  a bit for each clause of the filter, of series the count and the moment
 *     2  numbers in clauses; how many samples a copy keeps
 *     3  heaps left out; the order, the moment
 */
#include "tests/fuzz/fuzz.h"

#include "base/error.h"
#include "heapgraph.h"

#include <sys/mman.h>
#include <unistd.h>

struct asking {
	struct hg_session *session;
	struct hg_trace *trace;
	const uint8_t *choice;
	uint64_t bytes; /* written */
};

struct written {
	uint8_t *bytes;
	size_t length;
};

static struct hg_session *open_fuzz_session(void)
{
	struct hg_options options = {.size = sizeof(options), .max_memory = UINT64_C(1) << 28};
	struct hg_session *session;
	CHECK(hg_session_open(&options, &session) == HG_OK);
	return session;
}

static struct hg_trace *open_bytes(
	struct hg_session *session, const uint8_t *data, size_t size, bool strict)
{
	struct hg_trace_options options = {.size = sizeof(options), .strict = strict};
	struct hg_trace *trace;
	char path[64];
	int fd = memfd_create("trace", MFD_CLOEXEC);
	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	enum hg_status status = hg_trace_open(session, path, &options, &trace);
	close(fd);
	CHECK((status == HG_OK) == (trace != NULL));
	return trace;
}

static void judge_answer(const struct asking *a, enum hg_status status)
{
	const struct hg_error *error = hg_session_error(a->session);
	if (status == HG_OK)
		return;
	CHECK(status == HG_ERROR_INPUT || status == HG_ERROR_LIMIT || status == HG_ERROR_USAGE);
	check_line(error->message, sizeof(error->message));
}

static bool count_bytes(void *data, const char *bytes, size_t length)
{
	struct asking *a = data;
	(void)bytes;
	a->bytes += length;
	return a->bytes < 1 << 20;
}

static bool keep_bytes(void *data, const char *bytes, size_t length)
{
	struct written *to = data;
	to->bytes = realloc(to->bytes, to->length + length + 1);
	CHECK(to->bytes);
	memcpy(to->bytes + to->length, bytes, length);
	to->length += length;
	return true;
}

static void check_amounts(const struct hg_trace_amounts *part, const struct hg_trace_amounts *whole)
{
	CHECK(part->samples <= whole->samples && part->live <= whole->live);
	CHECK(part->peak <= whole->peak && part->promoted <= whole->promoted);
}

/* Children come behind their parents, and have no more than they. */
static void check_tree(struct hg_trace_tree **tree, enum hg_status status, bool sums)
{
	if (status != HG_OK) {
		CHECK(!*tree);
		return;
	}
	for (size_t i = 1; i < (*tree)->count; i++) {
		const struct hg_trace_node *node = (*tree)->nodes[i];
		CHECK(node->parent < i && node->name);
		const struct hg_trace_node *parent = (*tree)->nodes[node->parent];
		CHECK(node->depth == parent->depth + 1);
		if (sums)
			check_amounts(&node->total, &parent->total);
	}
	hg_trace_tree_release(tree);
}

static void check_stacks(struct hg_trace_stacks **stacks, enum hg_status status)
{
	if (status != HG_OK) {
		CHECK(!*stacks);
		return;
	}
	for (size_t i = 1; i < (*stacks)->count; i++) {
		const struct hg_trace_stack *stack = (*stacks)->stacks[i];
		CHECK(stack->parent < i && stack->frame < (*stacks)->frame_count);
		CHECK((*stacks)->frames[stack->frame]->function);
	}
	hg_trace_stacks_release(stacks);
}

static enum hg_status ask_description(struct asking *a)
{
	const struct hg_trace_info *info;
	enum hg_status status = hg_describe_trace(a->trace, &info);
	if (status == HG_OK)
		CHECK(info->live_samples <= info->peak_samples &&
			info->peak_samples <= info->samples);
	return status;
}

static enum hg_status ask_rows(struct asking *a)
{
	struct hg_trace_rows *rows;
	struct hg_trace_amounts sum = {0};
	bool by_location = a->choice[3] & 8;
	enum hg_status status = hg_list_trace(
		a->trace, by_location ? HG_TRACE_BY_LOCATION : HG_TRACE_BY_FUNCTION, &rows);
	if (status != HG_OK)
		return status;
	CHECK(rows->totals.live <= rows->totals.peak && rows->totals.peak <= rows->totals.samples);
	for (size_t i = 0; i < rows->count; i++) {
		check_amounts(&rows->rows[i]->amounts, &rows->totals);
		sum.samples += rows->rows[i]->amounts.samples;
		sum.live += rows->rows[i]->amounts.live;
		sum.peak += rows->rows[i]->amounts.peak;
	}
	CHECK(!by_location ||
		(sum.samples == rows->totals.samples && sum.live == rows->totals.live &&
			sum.peak == rows->totals.peak));
	hg_trace_rows_release(&rows);
	return HG_OK;
}

static enum hg_status ask_calls(struct asking *a)
{
	struct hg_trace_tree *tree;
	enum hg_status status = hg_list_trace_calls(
		a->trace, a->choice[3] & 8 ? HG_TRACE_BY_NAME : HG_TRACE_BY_SAMPLES, &tree);
	check_tree(&tree, status, true);
	return status;
}

static struct hg_trace_callers_options callers_wanted(const struct asking *a)
{
	return (struct hg_trace_callers_options){.size = sizeof(struct hg_trace_callers_options),
		.of = a->choice[3] & 8 ? "Trees.make" : NULL,
		.places = a->choice[3] & 16,
		.min_samples = a->choice[3] & 32 ? a->choice[2] : 0,
		.limit = a->choice[3] & 64 ? a->choice[2] : 0};
}

static enum hg_status ask_callers(struct asking *a)
{
	struct hg_trace_tree *tree;
	struct hg_trace_callers_options options = callers_wanted(a);
	enum hg_status status = hg_list_trace_callers(a->trace, &options, &tree);
	check_tree(&tree, status, true);
	return status;
}

static enum hg_status ask_hot_paths(struct asking *a)
{
	struct hg_hot_paths *paths;
	BASE_TRY(hg_list_hot_paths(a->trace, &paths));
	for (size_t i = 0; i < paths->count; i++) {
		check_amounts(&paths->rows[i]->amounts, &paths->totals);
		CHECK(paths->rows[i]->length > 0);
	}
	hg_hot_paths_release(&paths);
	return HG_OK;
}

static enum hg_status ask_hotspots(struct asking *a)
{
	struct hg_hotspots *hotspots;
	BASE_TRY(hg_list_hotspots(a->trace, &hotspots));
	for (size_t i = 0; i < hotspots->count; i++)
		CHECK(hotspots->rows[i]->samples <= hotspots->samples);
	hg_hotspots_release(&hotspots);
	return HG_OK;
}

static enum hg_status ask_course(struct asking *a)
{
	struct hg_trace_course *course;
	BASE_TRY(hg_list_trace_course(a->trace, a->choice[3], &course));
	for (size_t i = 0; i < course->count; i++) {
		CHECK(course->rows[i]->live <= course->peak);
		CHECK(course->rows[i]->live <= course->rows[i]->allocated);
	}
	hg_trace_course_release(&course);
	return HG_OK;
}

static enum hg_status ask_bands(struct asking *a)
{
	struct hg_trace_bands *bands;
	BASE_TRY(hg_list_trace_bands(a->trace, a->choice[3], a->choice[2], &bands));
	for (size_t point = 0; point < bands->point_count; point++) {
		uint64_t sum = 0;
		for (size_t i = 0; i < bands->count; i++)
			sum += bands->rows[i]->alive[point];
		CHECK(sum <= bands->peak && sum <= bands->all[point]);
	}
	hg_trace_bands_release(&bands);
	return HG_OK;
}

static enum hg_status ask_stacks(struct asking *a)
{
	struct hg_trace_stacks *stacks;
	enum hg_status status = hg_list_trace_stacks(a->trace,
		(enum hg_trace_moment_of)((a->choice[3] >> 3) % 3), a->choice[2], &stacks);
	check_stacks(&stacks, status);
	return status;
}

/* What is written is a trace without any damage, with the same numbers if nothing was left out. */
static void read_again(const struct written *written, const struct hg_trace_rows *before)
{
	struct asking copy = {.session = open_fuzz_session()};
	struct hg_trace_rows *rows;
	copy.trace = open_bytes(copy.session, written->bytes, written->length, true);
	CHECK(copy.trace);
	CHECK(hg_list_trace(copy.trace, HG_TRACE_BY_LOCATION, &rows) == HG_OK);
	CHECK(!before || (rows->totals.samples == before->totals.samples &&
				 rows->totals.live == before->totals.live &&
				 rows->totals.peak == before->totals.peak));
	hg_trace_rows_release(&rows);
	hg_trace_close(copy.trace);
	hg_session_close(copy.session);
}

static enum hg_status ask_copy(struct asking *a)
{
	struct written written = {0};
	struct hg_trace_rows *rows;
	struct hg_trace_copy_options options = {.size = sizeof(options),
		.one_in = a->choice[3] & 8 ? a->choice[2] : 1,
		.seed = a->choice[2],
		.anonymous = a->choice[3] & 16};
	BASE_TRY(hg_list_trace(a->trace, HG_TRACE_BY_LOCATION, &rows));
	enum hg_status status = hg_copy_trace(a->trace, &options, keep_bytes, &written);
	/* Blocks that come when they are promoted are written as they were allocated. */
	bool same = options.one_in == 1 && !(a->choice[1] & 128);
	if (status == HG_OK)
		read_again(&written, same ? rows : NULL);
	hg_trace_rows_release(&rows);
	free(written.bytes);
	return status;
}

static enum hg_status ask_dump(struct asking *a)
{
	enum hg_status status = hg_trace_header(a->trace)->format == HG_TRACE_SPACETIME
					? hg_dump_spacetime(a->trace, count_bytes, a)
					: hg_dump_trace(a->trace, count_bytes, a);
	return status == HG_ERROR_OUTPUT && a->bytes >= 1 << 20 ? HG_OK : status;
}

static struct hg_spacetime_choice moment_wanted(const struct asking *a)
{
	return (struct hg_spacetime_choice){
		.of = (enum hg_spacetime_snapshot_of)((a->choice[1] >> 3) % 5),
		.number = a->choice[2],
		.event = "event"};
}

static struct hg_spacetime_view view_wanted(const struct asking *a)
{
	return (struct hg_spacetime_view){.size = sizeof(struct hg_spacetime_view),
		.at = moment_wanted(a),
		.count = (enum hg_spacetime_count)((a->choice[1] & 7) % 5),
		.all_frames = a->choice[3] & 128};
}

static enum hg_status ask_series(struct asking *a)
{
	const struct hg_spacetime_info *info;
	BASE_TRY(hg_describe_spacetime(a->trace, &info));
	CHECK(info->snapshot_count + info->event_count == info->moment_count);
	return HG_OK;
}

static enum hg_status ask_series_sites(struct asking *a)
{
	struct hg_spacetime_sites *sites;
	struct hg_spacetime_choice choice = moment_wanted(a);
	BASE_TRY(hg_list_spacetime_sites(a->trace, &choice, &sites));
	for (size_t i = 0; i < sites->count; i++)
		CHECK(sites->rows[i]->location);
	hg_spacetime_sites_release(&sites);
	return HG_OK;
}

/* Amounts in series are not samples that add up: a file may say anything of each point. */
static enum hg_status ask_series_calls(struct asking *a)
{
	struct hg_trace_tree *tree;
	struct hg_spacetime_view view = view_wanted(a);
	enum hg_status status = hg_list_spacetime_calls(
		a->trace, &view, a->choice[3] & 8 ? HG_TRACE_BY_NAME : HG_TRACE_BY_SAMPLES, &tree);
	check_tree(&tree, status, false);
	return status;
}

static enum hg_status ask_series_callers(struct asking *a)
{
	struct hg_trace_tree *tree;
	struct hg_spacetime_view view = view_wanted(a);
	struct hg_trace_callers_options options = callers_wanted(a);
	options.of = a->choice[3] & 8 ? "a.ml:3:1-9" : NULL;
	enum hg_status status = hg_list_spacetime_callers(a->trace, &view, &options, &tree);
	check_tree(&tree, status, false);
	return status;
}

static enum hg_status ask_series_stacks(struct asking *a)
{
	struct hg_trace_stacks *stacks;
	struct hg_spacetime_view view = view_wanted(a);
	enum hg_status status = hg_list_spacetime_stacks(a->trace, &view, &stacks);
	check_stacks(&stacks, status);
	return status;
}

typedef enum hg_status ask_fn(struct asking *a);

static void set_fuzz_filter(const struct asking *a)
{
	const struct hg_trace_function_filter functions[] = {
		{a->choice[3] & 1 ? HG_TRACE_INSIDE : HG_TRACE_NOT_INSIDE, true, "make"},
		{HG_TRACE_HIDE, true, "Trees"}};
	const struct hg_trace_range low = {0, UINT64_C(1) << (a->choice[2] & 31)};
	const struct hg_trace_range high = {UINT64_C(1) << (a->choice[2] & 31), UINT64_MAX};
	struct hg_trace_filter filter;
	const uint8_t set = a->choice[1];
	hg_trace_filter_init(&filter);
	if (set & 1)
		filter.allocated = low;
	if (set & 2)
		filter.collected = high;
	if (set & 4)
		filter.alive = low;
	filter.alive_at_peak = set & 8 && a->choice[2] & 128;
	filter.alive_at_end = set & 8 && !(a->choice[2] & 128);
	if (set & 16)
		filter.block_bytes = high;
	if (set & 32)
		filter.lifetime = high;
	filter.functions = functions;
	filter.function_count = set & 64 ? 2 : 0;
	filter.without = set & 128 ? a->choice[3] & 7 : 0;
	judge_answer(a, hg_trace_set_filter(a->trace, set ? &filter : NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { CHOICES = 4 };
	static ask_fn *const of_traces[] = {ask_description, ask_rows, ask_calls, ask_callers,
		ask_hot_paths, ask_hotspots, ask_course, ask_bands, ask_stacks, ask_copy, ask_dump};
	static ask_fn *const of_series[] = {ask_series, ask_series_sites, ask_series_calls,
		ask_series_callers, ask_series_stacks, ask_dump};
	if (size < CHOICES)
		return 0;
	struct asking a = {.session = open_fuzz_session(), .choice = data};
	a.trace = open_bytes(a.session, data + CHOICES, size - CHOICES, data[0] & 1);
	if (!a.trace) {
		judge_answer(&a, hg_session_error(a.session)->status);
		hg_session_close(a.session);
		return 0;
	}
	unsigned question = data[0] >> 1;
	if (hg_trace_header(a.trace)->format == HG_TRACE_SPACETIME) {
		judge_answer(
			&a, of_series[question % (sizeof(of_series) / sizeof(*of_series))](&a));
	} else {
		set_fuzz_filter(&a);
		judge_answer(
			&a, of_traces[question % (sizeof(of_traces) / sizeof(*of_traces))](&a));
	}
	hg_trace_close(a.trace);
	hg_session_close(a.session);
	return 0;
}
