/*
 * Amounts of functions with all that they call, of random traces, are those that are counted one
 * object after the other from what the trace was made of: for peaks by looking at all objects
 * again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heapgraph/trace.h"
#include "trace/memtrace/writer.h"

/* Code n is a call of function n; the last ones say several functions, or none. */
enum { FUNCTIONS = 3000, FEW = 12, INLINED = 40, CODES = FUNCTIONS + INLINED, MOST_DEPTH = 14 };
enum { MOST_PLACES = 3, ALLOCATIONS = 150000 };
enum { START_TIME = 1700000000 };

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (random_state >> 20) % below;
}

/* Functions that a code says, outermost first. */
static size_t functions_of_code(uint64_t code, uint64_t *functions)
{
	size_t count = code < FUNCTIONS ? 1 : code % (MOST_PLACES + 1);
	for (size_t i = 0; i < count; i++)
		functions[i] = code < FUNCTIONS ? code : (code * 5 + i * 3) % FEW;
	return count;
}

static size_t places_of_code(void *data, uint64_t code, const struct memtrace_place **places)
{
	static struct memtrace_place list[MOST_PLACES];
	static char names[MOST_PLACES][16];
	uint64_t functions[MOST_PLACES];
	size_t count = functions_of_code(code - 1, functions);
	(void)data;
	for (size_t i = 0; i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "F%u", (unsigned)functions[i]);
		list[i] = (struct memtrace_place){"file.ml", names[i], 1, 2, 3};
	}
	*places = list;
	return count;
}

static bool write_to_file(void *data, const void *bytes, size_t size)
{
	return fwrite(bytes, 1, size, data) == size;
}

struct made_object {
	uint64_t codes[MOST_DEPTH], depth, samples, id;
	uint64_t birth, death; /* by number of the event; UINT64_MAX: it never came */
	bool promoted;
};

struct made_trace {
	struct made_object *objects;
	size_t count;
	struct memtrace_writer *writer;
	uint64_t time, events, live;
	uint64_t peak, peak_event; /* the first at which the most was alive */
};

/* All stacks begin with one function, which calls all others; few of them call each other. */
static void draw_stack(struct made_object *object)
{
	object->depth = draw(200) ? 1 + draw(MOST_DEPTH) : 0;
	for (uint64_t i = 0; i < object->depth; i++)
		object->codes[i] = 1 + (i == 0                ? 0
					       : i == 1       ? draw(FUNCTIONS)
					       : draw(8) == 0 ? FUNCTIONS + draw(INLINED)
							      : draw(FEW));
}

static void allocate(struct made_trace *made, uint64_t samples)
{
	struct made_object *object = &made->objects[made->count++];
	struct hg_error error;
	*object = (struct made_object){
		.samples = samples, .birth = ++made->events, .death = UINT64_MAX};
	draw_stack(object);
	struct memtrace_allocation allocation = {.time = made->time += draw(3),
		.length = 1 + draw(20),
		.samples = samples,
		.codes = object->codes,
		.depth = object->depth};
	assert_int_equal(
		memtrace_write_allocation(made->writer, 0, &allocation, &object->id, &error),
		HG_OK);
	made->live += samples;
	if (made->live <= made->peak)
		return;
	made->peak = made->live;
	made->peak_event = made->events;
}

static void end_object(struct made_trace *made, struct made_object *object, bool promote)
{
	struct hg_error error;
	enum memtrace_kind kind = promote ? MEMTRACE_PROMOTION : MEMTRACE_COLLECTION;
	if (object->death != UINT64_MAX || (promote && object->promoted))
		return;
	assert_int_equal(memtrace_write_end(
				 made->writer, 0, kind, made->time += draw(2), object->id, &error),
		HG_OK);
	made->events++;
	object->promoted |= promote;
	if (promote)
		return;
	object->death = made->events;
	made->live -= object->samples;
}

/* Where the most is alive early, all that comes after it is less than that. */
static void make_events(struct made_trace *made, bool early)
{
	static const uint64_t samples[] = {1, 1, 1, 1, 2, 3, 62, 63, 64, 255, 256, 70000};
	for (unsigned i = 0; early && i < 1000; i++)
		allocate(made, UINT64_C(1) << 30);
	for (unsigned i = 0; i < made->count; i++)
		end_object(made, &made->objects[i], i % 3 == 0);
	while (made->count < ALLOCATIONS) {
		uint64_t young = draw(300);
		allocate(made, samples[draw(sizeof(samples) / sizeof(*samples))]);
		end_object(
			made, &made->objects[made->count - 1 - young % made->count], draw(4) == 0);
		if (draw(20) == 0)
			end_object(made, &made->objects[draw(made->count)], false);
	}
}

static void make_trace(struct made_trace *made, const char *path, uint64_t seed, bool early)
{
	const struct memtrace_info info = {.version = 2,
		.sample_rate = 0.01,
		.word_bytes = 8,
		.start_time = START_TIME,
		.executable = "",
		.host = "",
		.parameters = "",
		.context = ""};
	FILE *file = fopen(path, "wb");
	struct memtrace_writer_options options = {
		.info = &info, .write = write_to_file, .places = places_of_code, .data = file};
	struct hg_error error;
	random_state = seed;
	*made = (struct made_trace){.time = START_TIME};
	made->objects = calloc(ALLOCATIONS + 1000, sizeof(*made->objects));
	assert_non_null(file);
	assert_non_null(made->objects);
	assert_int_equal(memtrace_writer_open(&made->writer, &options, &error), HG_OK);
	make_events(made, early);
	assert_int_equal(memtrace_writer_close(made->writer, &error), HG_OK);
	assert_int_equal(fclose(file), 0);
}

static void add_to_function(const struct made_trace *made, const struct made_object *object,
	struct hg_trace_amounts *amounts)
{
	amounts->samples += object->samples;
	amounts->promoted += object->promoted ? object->samples : 0;
	amounts->live += object->death == UINT64_MAX ? object->samples : 0;
	if (object->birth <= made->peak_event && object->death > made->peak_event)
		amounts->peak += object->samples;
}

/* Each function that is on a stack counts once. */
static void count_object(const struct made_trace *made, const struct made_object *object,
	struct hg_trace_amounts *amounts)
{
	uint64_t met[MOST_DEPTH * MOST_PLACES], functions[MOST_PLACES];
	size_t met_count = 0;
	for (uint64_t i = 0; i < object->depth; i++) {
		size_t count = functions_of_code(object->codes[i] - 1, functions);
		for (size_t j = 0, k; j < count; j++) {
			for (k = 0; k < met_count && met[k] != functions[j];)
				k++;
			if (k < met_count)
				continue;
			met[met_count++] = functions[j];
			add_to_function(made, object, &amounts[functions[j]]);
		}
	}
	if (!met_count)
		add_to_function(made, object, &amounts[FUNCTIONS]);
}

static void check_row(const struct hg_trace_row *row, struct hg_trace_amounts *amounts)
{
	unsigned function = FUNCTIONS;
	if (*row->name)
		assert_int_equal(sscanf(row->name, "F%u", &function), 1);
	assert_true(function <= FUNCTIONS);
	assert_memory_equal(&row->amounts, &amounts[function], sizeof(row->amounts));
	amounts[function] = (struct hg_trace_amounts){0};
}

static void check_functions(struct hg_trace *trace, struct hg_trace_amounts *amounts)
{
	struct hg_trace_rows *rows;
	assert_int_equal(hg_list_trace(trace, HG_TRACE_BY_FUNCTION, &rows), HG_OK);
	assert_true(rows->count > FUNCTIONS / 2);
	for (size_t i = 0; i < rows->count; i++)
		check_row(rows->rows[i], amounts);
	for (size_t i = 0; i <= FUNCTIONS; i++)
		assert_int_equal(amounts[i].samples, 0);
	hg_trace_rows_release(&rows);
}

/* No function is below another one twice: siblings, by name, differ. */
static void check_tree(struct hg_trace *trace)
{
	enum { MOST_NODES_DEEP = MOST_DEPTH * MOST_PLACES + 1 };
	const struct hg_trace_node *last[MOST_NODES_DEEP + 1] = {0};
	struct hg_trace_tree *tree;
	size_t widest = 0;
	assert_int_equal(hg_list_trace_calls(trace, HG_TRACE_BY_NAME, &tree), HG_OK);
	for (size_t i = 1; i < tree->count; i++) {
		const struct hg_trace_node *node = tree->nodes[i];
		assert_true(node->depth >= 1 && node->depth <= MOST_NODES_DEEP);
		const struct hg_trace_node *before = last[node->depth];
		if (before && before->parent == node->parent)
			assert_true(strcmp(before->name, node->name) < 0);
		last[node->depth] = node;
		widest += node->depth == 2;
	}
	assert_true(widest > FUNCTIONS / 2);
	hg_trace_tree_release(&tree);
}

static void check_trace(const char *path, struct hg_trace_amounts *amounts)
{
	struct hg_session *session;
	struct hg_trace *trace;
	assert_int_equal(hg_session_open(NULL, &session), HG_OK);
	assert_int_equal(hg_trace_open(session, path, NULL, &trace), HG_OK);
	check_functions(trace, amounts);
	check_tree(trace);
	hg_trace_close(trace);
	hg_session_close(session);
}

static void check_random_trace(uint64_t seed, bool early)
{
	char path[] = "/tmp/heapgraph-test-XXXXXX";
	struct hg_trace_amounts *amounts = calloc(FUNCTIONS + 1, sizeof(*amounts));
	struct made_trace made;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	assert_non_null(amounts);
	make_trace(&made, path, seed, early);
	for (size_t i = 0; i < made.count; i++)
		count_object(&made, &made.objects[i], amounts);
	check_trace(path, amounts);
	unlink(path);
	free(made.objects);
	free(amounts);
}

static void peak_at_the_end(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++)
		check_random_trace(seed, false);
}

/* More changes than are kept come after it. */
static void peak_at_the_start(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++)
		check_random_trace(seed, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peak_at_the_end),
		cmocka_unit_test(peak_at_the_start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
