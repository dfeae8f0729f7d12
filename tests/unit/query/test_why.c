/*
 * Paths over chains whose classes repeat themselves: what is one run of steps and one row, whom the
 * first step names, and who else holds the end of the chain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "heapgraph.h"
#include "tests/unit/dump.h"

#define BASE 0x7f1200000000u

enum { MOST_LINKS = 400, LARGEST_PERIOD = 4 };

/* A chain of blocks whose sizes, and so their classes, come again after 'period' of them. */
struct chain {
	unsigned period, links;
	uint64_t address[MOST_LINKS];
	struct dump dump;
	struct hg_session *session;
	struct hg_snapshot *snapshot;
};

static uint64_t words_of_link(const struct chain *c, unsigned link)
{
	/* The last one is of a size that no other has. */
	return link + 1 == c->links ? 2 + LARGEST_PERIOD : 2 + link % c->period;
}

/* The links that the globals lead to (-1: none) and the stack. */
static void open_chain(struct chain *c, const unsigned *stack, size_t stack_count, int global)
{
	uint64_t held[8], next = BASE + 8;
	for (unsigned i = 0; i < c->links; i++) {
		c->address[i] = next;
		next += 8 * (1 + words_of_link(c, i));
	}
	dump_start(&c->dump, "./chain");
	dump_chunk(&c->dump, BASE, next - 8);
	for (unsigned i = 0; i < c->links; i++) {
		uint64_t words = words_of_link(c, i);
		dump_block(&c->dump, c->address[i], 0, words, 0);
		dump_word(&c->dump, i + 1 < c->links ? c->address[i + 1] : 1);
		while (--words)
			dump_word(&c->dump, 1);
	}
	for (size_t i = 0; i < stack_count; i++)
		held[i] = c->address[stack[i]];
	dump_roots(&c->dump, global < 0 ? 1 : c->address[global], held, stack_count, NULL, 0);
	dump_write(&c->dump);
	struct hg_input input = {
		.size = sizeof(input), .path = c->dump.path, .format = "memprof01"};
	assert_int_equal(hg_session_open(NULL, &c->session), HG_OK);
	assert_int_equal(hg_snapshot_open(c->session, &input, &c->snapshot), HG_OK);
	assert_int_equal(hg_snapshot_analyse(c->snapshot), HG_OK);
}

static void close_chain(struct chain *c)
{
	hg_snapshot_close(c->snapshot);
	hg_session_close(c->session);
	dump_release(&c->dump);
}

static struct hg_why *explain_link(const struct chain *c, unsigned link)
{
	struct hg_why *why;
	hg_node node = hg_block_at(c->snapshot, c->address[link]);
	assert_int_equal(hg_explain_nodes(c->snapshot, &node, 1, &why), HG_OK);
	assert_int_equal(why->reached, 1);
	return why;
}

static void check_run(const struct hg_step_run *run, size_t first, size_t period, size_t times)
{
	assert_int_equal(run->first, first);
	assert_int_equal(run->period, period);
	assert_int_equal(run->times, times);
}

/* The root, so many times the period, what is left of it, and the end. */
static void runs_of_steps(void **state)
{
	(void)state;
	for (unsigned period = 1; period <= 3; period++) {
		for (unsigned left = 0; left < period; left++) {
			const unsigned times = 50;
			struct chain c = {.period = period, .links = period * times + left + 1};
			open_chain(&c, NULL, 0, 0);
			struct hg_why *why = explain_link(&c, c.links - 1);
			assert_int_equal(why->steps_count, 1 + c.links);
			assert_int_equal(why->runs_count, 3 + left);
			check_run(why->runs[0], 0, 1, 1);
			check_run(why->runs[1], 1, period, times);
			for (unsigned i = 0; i <= left; i++)
				check_run(why->runs[2 + i], 1 + period * times + i, 1, 1);
			/* The root, the classes down to that which holds the end, and the end. */
			assert_int_equal(why->rows_count, 2 + (left ? left : period));
			for (size_t i = 0; i < why->rows_count; i++) {
				assert_int_equal(why->rows[i]->targets, 1);
				assert_int_equal(why->rows[i]->depth, i);
			}
			hg_why_release(&why);
			close_chain(&c);
		}
	}
}

/* Longer periods are shown step by step, and so is what comes twice only. */
static void what_is_no_run(void **state)
{
	(void)state;
	struct chain c = {.period = 4, .links = 41};
	open_chain(&c, NULL, 0, 0);
	struct hg_why *why = explain_link(&c, 40);
	assert_int_equal(why->runs_count, why->steps_count);
	hg_why_release(&why);
	close_chain(&c);
	c = (struct chain){.period = 1, .links = 3};
	open_chain(&c, NULL, 0, 0);
	why = explain_link(&c, 2);
	assert_int_equal(why->runs_count, why->steps_count);
	hg_why_release(&why);
	close_chain(&c);
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* A stack slot is nearer to the end than the globals are, but the globals last. */
static void lasting_roots_come_first(void **state)
{
	static const unsigned stack[] = {7, 90, 90};
	struct chain c = {.period = 1, .links = 100};
	(void)state;
	open_chain(&c, stack, 3, 0);
	struct hg_why *why = explain_link(&c, 99);
	assert_int_equal(why->steps_count, 101);
	assert_true(begins(why->steps[0]->name, "global "));
	assert_int_equal(why->also_held_count, 1);
	assert_true(begins(why->also_held[0]->name, "stack "));
	assert_int_equal(why->also_held[0]->roots, 3);
	assert_int_equal(why->also_held_roots, 3);
	hg_why_release(&why);
	/* Of a link before the second slot's only the first one leads on. */
	why = explain_link(&c, 80);
	assert_int_equal(why->also_held_roots, 1);
	hg_why_release(&why);
	why = explain_link(&c, 5);
	assert_int_equal(why->also_held_count, 0);
	assert_int_equal(why->also_held_roots, 0);
	hg_why_release(&why);
	close_chain(&c);
}

/* Nothing lasts: the nearest slot is named, and the others, too; equal slots are one row. */
static void only_the_stack(void **state)
{
	static const unsigned stack[] = {0, 50, 0, 50};
	struct chain c = {.period = 1, .links = 100};
	struct hg_why *why;
	hg_node nodes[100];
	(void)state;
	open_chain(&c, stack, 4, -1);
	why = explain_link(&c, 99);
	assert_int_equal(why->steps_count, 51);
	assert_true(begins(why->steps[0]->name, "stack "));
	assert_int_equal(why->also_held_roots, 3);
	hg_why_release(&why);
	for (unsigned i = 0; i < 100; i++)
		nodes[i] = i;
	assert_int_equal(hg_explain_nodes(c.snapshot, nodes, 100, &why), HG_OK);
	/* One row of slots, one of all links but the last. */
	assert_int_equal(why->rows_count, 3);
	assert_int_equal(why->rows[0]->nodes, 2);
	assert_int_equal(why->rows[0]->targets, 100);
	assert_int_equal(why->rows[1]->nodes, 99);
	assert_int_equal(why->rows[2]->nodes, 1);
	hg_why_release(&why);
	close_chain(&c);
}

/* Their rows are the first, however little they reach. */
static void rows_of_lasting_roots(void **state)
{
	static const unsigned stack[] = {0};
	struct chain c = {.period = 1, .links = 100};
	struct hg_why *why;
	hg_node nodes[100];
	(void)state;
	open_chain(&c, stack, 1, 99);
	for (unsigned i = 0; i < 100; i++)
		nodes[i] = i;
	assert_int_equal(hg_explain_nodes(c.snapshot, nodes, 100, &why), HG_OK);
	assert_int_equal(why->rows_count, 4);
	assert_true(begins(why->rows[0]->name, "global "));
	assert_int_equal(why->rows[0]->targets, 1);
	assert_true(begins(why->rows[2]->name, "stack "));
	assert_int_equal(why->rows[2]->targets, 99);
	hg_why_release(&why);
	close_chain(&c);
}

/* The virtual root is no block of a path. */
static void nodes_without_a_path(void **state)
{
	struct chain c = {.period = 1, .links = 5};
	struct hg_why *why;
	(void)state;
	open_chain(&c, NULL, 0, 0);
	hg_node top = hg_virtual_root(c.snapshot);
	assert_int_equal(hg_explain_nodes(c.snapshot, &top, 1, &why), HG_OK);
	assert_int_equal(why->rows_count, 0);
	assert_int_equal(why->runs_count, 0);
	hg_why_release(&why);
	close_chain(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_of_steps),
		cmocka_unit_test(what_is_no_run),
		cmocka_unit_test(lasting_roots_come_first),
		cmocka_unit_test(only_the_stack),
		cmocka_unit_test(rows_of_lasting_roots),
		cmocka_unit_test(nodes_without_a_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
