/*
 * Propagation of types over small heaps with known answers, and over random ones in several orders.
 *
 * Heaps are dumps of OCamlmemprof; where blocks were allocated is said by ids in their headers,
 * which are exact, or by samples, which are put into the snapshot directly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bits.h"
#include "snapshot/mark.h"
#include "retype/retype.h"
#include "tests/unit/dump.h"

#define BASE ((uint64_t)0x7f1200000000)

/*
 * Lines 1 to 8 allocate: 1 a string list, 2 a pair of int and string, 3 an array of these pairs, 4
 * a record r, 5 a pair or a record of the same shape, 6 a list of pairs, 7 what a call returned, 8
 * a list of records, 9 several types, as the '# line' of a generated parser have it, 10 bytes, 11 a
 * record of a string and bytes, 12 a list of a variant with a name, 13 the same without; from 14 on
 * each is a call that returns a string with a pair of strings.
 */
enum { LINES = 64, FIRST_CALL = 14 };
static const char profile[] = "hgprof 1 ocaml 4.13.1 word 64\n"
			      "u Test 00000000000000000000000000000000 test.ml /src cmt\n"
			      "D 0 string 0/0/0 B string\n"
			      "D 1 int 0/1/0 B int\n"
			      "D 2 list 1/2/0 V 2\n"
			      "k [] c\n"
			      "k %3a%3a b %:3 %:4\n"
			      "D 3 array 1/3/0 B array\n"
			      "D 4 r 0/4/0 R name:0 next:m8\n"
			      "D 5 option 1/5/0 V 2\n"
			      "k None c\n"
			      "k Some b %:3\n"
			      "D 6 float 0/6/0 B float\n"
			      "D 7 pair 0/7/0 R left:1 right:6\n"
			      "t 0 c 0\n"
			      "t 1 c 1\n"
			      "t 2 c 2 0\n"
			      "t 3 v 0\n"
			      "t 4 c 2 3\n"
			      "t 5 T 1 0\n"
			      "t 6 c 6\n"
			      "t 7 c 4\n"
			      "t 8 c 5 7\n"
			      "t 9 c 3 5\n"
			      "t 10 c 7\n"
			      "t 11 c 2 5\n"
			      "t 12 T 0 0\n"
			      "D 8 note 0/8/0 R size:1 text:0\n"
			      "t 13 c 8\n"
			      "t 14 c 2 13\n"
			      "t 15 ? abstract\n"
			      "t 16 c 2 15\n"
			      "t 17 T 0 0 0\n"
			      "t 18 T 0 12\n"
			      "D 9 bytes 0/9/0 B bytes\n"
			      "t 19 c 9\n"
			      "D 10 both 0/10/0 R text:0 raw:19\n"
			      "t 20 c 10\n"
			      "t 21 P A:0 B:1\n"
			      "D 11 named 0/11/0 A 21\n"
			      "t 22 c 11\n"
			      "t 23 c 2 22\n"
			      "t 24 c 2 21\n"
			      "f 0 test.ml Test\n"
			      "L 0 1 0 5 1 5 @-1 con.%3a%3a:2\n"
			      "L 0 2 0 5 2 5 @-1 tuple:5\n"
			      "L 0 3 0 5 3 5 @-1 array:9\n"
			      "L 0 4 0 5 4 5 @-1 record:7\n"
			      "L 0 5 0 5 5 5 @-1 tuple:5 record:10\n"
			      "L 0 6 0 5 6 5 @-1 con.%3a%3a:11\n"
			      "L 0 7 0 5 7 5 @-1 call:12\n"
			      "L 0 8 0 5 8 5 @-1 con.%3a%3a:14\n"
			      "L 0 9 0 5 9 5 @-1 con.Some:8 tuple:17 con.%3a%3a:16 con.%3a%3a:2\n"
			      "L 0 10 0 5 10 5 @-1 prim.caml_create_bytes:19\n"
			      "L 0 11 0 5 11 5 @-1 record:20\n"
			      "L 0 12 0 5 12 5 @-1 con.%3a%3a:23\n"
			      "L 0 13 0 5 13 5 @-1 con.%3a%3a:24\n";

static const char profile_of_units[] =
	"hgprof 1 ocaml 4.13.1 word 64\n"
	"u Test 00000000000000000000000000000000 test.ml /src cmt\n"
	"u Other 00000000000000000000000000000000 other.ml /src cmt\n"
	"D 0 int 0/0/0 B int\n"
	"t 0 c 0\n"
	"g Test 1 a:0 b:0 c:0\n"
	"g Other 1 a:0\n";

struct heap {
	struct dump dump;
	uint64_t next; /* address of the next header */
	uint64_t root;
	struct snap_sampled sampled[64];
	unsigned lines[64];
	unsigned sampled_count;
	struct {
		uint64_t block;
		unsigned line;
	} located[64]; /* by ids */
	unsigned located_count;
	char profile_path[64];
	struct hg_session *session;
	struct snap snap;
	struct retype retype;
	struct hg_error error;
};

static void heap_start(struct heap *h)
{
	*h = (struct heap){.next = BASE};
	dump_start(&h->dump, "program");
	dump_chunk(&h->dump, BASE, BASE + ((uint64_t)1 << 30));
}

/* Each block has an id of its own, of which most mean nothing. */
static uint64_t id_of(uint64_t block)
{
	return (block - BASE) / 8;
}

/* Fields, if the tag has such, follow as words. */
static uint64_t heap_block(struct heap *h, unsigned tag, uint64_t wosize)
{
	uint64_t block = h->next + 8;
	dump_block(&h->dump, block, tag, wosize, id_of(block));
	h->next += 8 * (wosize + 1);
	return block;
}

static uint64_t heap_pair(struct heap *h, uint64_t first, uint64_t second)
{
	uint64_t block = heap_block(h, 0, 2);
	dump_word(&h->dump, first);
	dump_word(&h->dump, second);
	return block;
}

static uint64_t heap_string(struct heap *h)
{
	return heap_block(h, 252, 1);
}

static void heap_sample(struct heap *h, uint64_t block, unsigned line)
{
	h->lines[h->sampled_count] = line;
	h->sampled[h->sampled_count++].address = snap_pointed_header(block);
}

static void heap_locate(struct heap *h, uint64_t block, unsigned line)
{
	h->located[h->located_count].block = block;
	h->located[h->located_count++].line = line;
}

static int by_address(const void *a, const void *b)
{
	const struct snap_sampled *x = a, *y = b;
	return (x->address.a > y->address.a) - (x->address.a < y->address.a);
}

static void write_profile(struct heap *h, const char *text, bool is_whole)
{
	size_t lines = 0;
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	snprintf(h->profile_path, sizeof(h->profile_path), "/tmp/heapgraph-prof.XXXXXX");
	int fd = mkstemp(h->profile_path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file)
		abort();
	fputs(text, file);
	for (unsigned line = FIRST_CALL; text == profile && line < LINES; line++, lines++)
		fprintf(file, "L 0 %u 0 5 %u 5 @-1 call:18\n", line, line);
	if (is_whole)
		fprintf(file, "z %zu\n", lines);
	fclose(file);
}

/* Writes, loads and samples the heap. */
static void heap_load(struct heap *h)
{
	struct hg_input input = {.size = sizeof(input), .format = "memprof01"};
	uint32_t locations[LINES];
	dump_roots(&h->dump, 1, &h->root, 1, NULL, 0);
	dump_write(&h->dump);
	input.path = h->dump.path;
	assert_int_equal(hg_session_open(NULL, &h->session), HG_OK);
	assert_int_equal(snap_open(&h->snap, h->session, &input, &h->error), HG_OK);
	assert_int_equal(snap_rank_blocks(&h->snap, &h->error), HG_OK);
	for (unsigned line = 1; line < LINES; line++) {
		struct snap_location at = {.file = "test.ml", .line = (int32_t)line, .end = 5};
		assert_int_equal(
			snap_locations_add(&h->snap.locations, &at, &locations[line], &h->error),
			HG_OK);
	}
	for (unsigned i = 0; i < h->sampled_count; i++)
		h->sampled[i].location = locations[h->lines[i]];
	for (unsigned i = 0; i < h->located_count; i++) {
		struct snap_meaning meaning = {locations[h->located[i].line], HG_EXACT};
		assert_int_equal(snap_locations_set(&h->snap.locations,
					 (uint32_t)id_of(h->located[i].block), meaning, &h->error),
			HG_OK);
	}
	h->snap.sampled = calloc(64, sizeof(*h->snap.sampled));
	assert_non_null(h->snap.sampled);
	memcpy(h->snap.sampled, h->sampled, sizeof(h->sampled));
	qsort(h->snap.sampled, h->sampled_count, sizeof(*h->snap.sampled), by_address);
	h->snap.sampled_count = h->sampled_count;
}

static void heap_type_with(struct heap *h, struct retype_options options)
{
	if (!h->profile_path[0])
		write_profile(h, profile, true);
	options.profile = h->profile_path;
	if (retype_open(&h->retype, &h->snap, &options, &h->error) != HG_OK)
		fail_msg("%s: %s", h->error.file, h->error.message);
	assert_int_equal(retype_run(&h->retype, &h->snap, &options, &h->error), HG_OK);
}

static void heap_type(struct heap *h)
{
	heap_load(h);
	heap_type_with(h, (struct retype_options){0});
}

static void heap_release(struct heap *h)
{
	retype_release(&h->retype);
	snap_release(&h->snap);
	hg_session_close(h->session);
	if (h->profile_path[0])
		unlink(h->profile_path);
	dump_release(&h->dump);
}

static void assert_type(struct heap *h, uint64_t block, const char *name, enum hg_confidence wanted)
{
	char found[256];
	struct snap_walk walk;
	struct snap_cell cell;
	enum hg_confidence sure;
	struct snap_rank rank = {snap_resolve_node(&h->snap, block)};
	assert_int_not_equal(rank.n, HG_NO_NODE);
	assert_int_equal(snap_walk_init(&walk, &h->snap, &h->error), HG_OK);
	assert_true(snap_block(&walk, rank, &cell));
	struct retype_term type = retype_of(&h->retype, rank.n, cell.tag, &sure);
	retype_name(&h->retype.types, type, found, sizeof(found));
	snap_walk_release(&walk);
	assert_string_equal(found, name);
	assert_int_equal(sure, wanted);
}

/* Words of the blocks that have a type, headers included. */
static uint64_t typed_words(struct heap *h)
{
	struct snap_walk walk;
	struct snap_run run;
	struct snap_cell cell;
	enum hg_confidence sure;
	uint64_t words = 0;
	uint32_t rank = 0;
	assert_int_equal(snap_walk_init(&walk, &h->snap, &h->error), HG_OK);
	snap_walk_range(&walk, 0, h->snap.entry_count);
	while (snap_walk_next(&walk, &run)) {
		struct snap_scan scan = snap_scan_run(&h->snap, &run);
		while (snap_scan_next(&scan, &cell))
			if (retype_of(&h->retype, rank++, cell.tag, &sure).n)
				words += cell.wosize + 1;
	}
	snap_walk_release(&walk);
	return words;
}

static void types_along_fields(void **state)
{
	(void)state;
	struct heap h;
	heap_start(&h);
	uint64_t name = heap_string(&h), other = heap_string(&h), lost = heap_pair(&h, 3, 5);
	uint64_t pair = heap_pair(&h, 85, name);
	uint64_t inner = heap_pair(&h, other, 1);
	uint64_t outer = heap_pair(&h, name, inner);
	uint64_t array = heap_block(&h, 0, 3);
	dump_word(&h.dump, pair);
	dump_word(&h.dump, 7);
	dump_word(&h.dump, pair);
	uint64_t some = heap_block(&h, 0, 1), record;
	dump_word(&h.dump, h.next + 8);
	record = heap_pair(&h, other, some);
	h.root = array;
	heap_sample(&h, outer, 1);
	heap_sample(&h, array, 3);
	heap_sample(&h, record, 4);
	heap_type(&h);
	assert_type(&h, outer, "string list", HG_EXACT);
	assert_type(&h, inner, "string list", HG_EXACT);
	assert_type(&h, array, "(int * string) array", HG_EXACT);
	assert_type(&h, pair, "int * string", HG_EXACT);
	assert_type(&h, record, "r", HG_EXACT);
	assert_type(&h, some, "r option", HG_EXACT);
	assert_type(&h, name, "string", HG_EXACT);
	assert_type(&h, lost, "", HG_UNKNOWN_ORIGIN);
	assert_int_equal(typed_words(&h), 3 + 3 + 3 + 4 + 2 + 3 + 2 + 2);
	assert_int_equal(h.retype.counts.shape_clashes, 0);
	assert_int_equal(h.retype.counts.seeds, 3);
	heap_release(&h);
}

/* Exact seeds are kept, and what they run into is counted. */
static void clashes_of_exact_seeds(void **state)
{
	(void)state;
	struct heap h;
	heap_start(&h);
	uint64_t text = heap_string(&h);
	uint64_t wrong = heap_pair(&h, text, text);
	uint64_t list = heap_pair(&h, wrong, 1);
	heap_locate(&h, list, 1);
	h.root = list;
	heap_type(&h);
	assert_type(&h, list, "string list", HG_EXACT);
	assert_type(&h, wrong, "", HG_UNKNOWN_ORIGIN);
	assert_int_equal(h.retype.counts.shape_clashes, 1);
	assert_int_equal(h.retype.counts.undone_seeds, 0);
	heap_release(&h);
}

/* Two exact seeds that do not agree make a block both. */
static void conflicts_of_exact_seeds(void **state)
{
	(void)state;
	struct heap h;
	heap_start(&h);
	uint64_t text = heap_string(&h);
	uint64_t shared = heap_pair(&h, 7, text);
	uint64_t notes = heap_pair(&h, shared, 1);
	heap_locate(&h, shared, 2);
	heap_locate(&h, notes, 8);
	h.root = notes;
	heap_type(&h);
	assert_type(&h, notes, "note list", HG_EXACT);
	assert_type(&h, shared, "(note | (int * string))", HG_EXACT);
	assert_int_equal(h.retype.counts.type_conflicts, 1);
	assert_int_equal(h.retype.counts.static_conflicts, 0);
	assert_int_equal(h.retype.counts.shape_clashes, 0);
	assert_type(&h, text, "string", HG_EXACT);
	heap_release(&h);
}

/* Unless what the block holds contradicts one of them: neither field is what a pair has. */
static void fields_decide_between_types(void **state)
{
	(void)state;
	struct heap h;
	heap_start(&h);
	uint64_t text = heap_string(&h);
	uint64_t shared = heap_pair(&h, text, 1);
	uint64_t pairs = heap_pair(&h, shared, 1);
	heap_locate(&h, shared, 1);
	heap_locate(&h, pairs, 6);
	h.root = pairs;
	heap_type(&h);
	assert_type(&h, shared, "string list", HG_EXACT);
	assert_int_equal(h.retype.counts.type_conflicts, 0);
	assert_int_equal(h.retype.counts.shape_clashes, 2);
	heap_release(&h);
}

/* What holds a block tells what it is now; where it was made tells that of others. */
static void holders_tell_more_than_samples(void **state)
{
	(void)state;
	struct heap h;
	heap_start(&h);
	uint64_t text = heap_string(&h);
	uint64_t shared = heap_pair(&h, 7, text), alone = heap_pair(&h, 9, text);
	uint64_t notes = heap_pair(&h, shared, 1), other = heap_pair(&h, text, 1);
	heap_locate(&h, notes, 8);
	heap_sample(&h, shared, 2);
	heap_sample(&h, other, 1);
	h.root = notes;
	heap_type(&h);
	assert_type(&h, notes, "note list", HG_EXACT);
	assert_type(&h, shared, "note", HG_EXACT);
	assert_type(&h, alone, "", HG_UNKNOWN_ORIGIN);
	assert_type(&h, other, "string list", HG_EXACT);
	assert_int_equal(h.retype.counts.type_conflicts, 0);
	assert_int_equal(h.retype.counts.undone_seeds, 1);
	heap_release(&h);
}

/* Strings are made as bytes: that they were tells nothing.  A block may well be held as both. */
static void strings_and_bytes_go_together(void **state)
{
	(void)state;
	struct heap h;
	heap_start(&h);
	uint64_t made = heap_string(&h), alone = heap_string(&h), shared = heap_string(&h);
	uint64_t held = heap_pair(&h, made, 1), both = heap_pair(&h, shared, shared);
	heap_sample(&h, made, 10);
	heap_sample(&h, alone, 10);
	heap_sample(&h, shared, 10);
	heap_sample(&h, held, 1);
	heap_sample(&h, both, 11);
	h.root = held;
	heap_type(&h);
	assert_type(&h, held, "string list", HG_EXACT);
	assert_type(&h, made, "string", HG_EXACT);
	assert_type(&h, alone, "string", HG_EXACT);
	assert_type(&h, both, "both", HG_EXACT);
	assert_type(&h, shared, "(bytes | string)", HG_EXACT);
	assert_int_equal(h.retype.counts.type_conflicts, 0);
	assert_int_equal(h.retype.counts.undone_seeds, 0);
	heap_release(&h);
}

/* A sample that says no more than the name of a variant does leaves the name. */
static void samples_leave_names(void **state)
{
	(void)state;
	struct heap h;
	heap_start(&h);
	uint64_t text = heap_string(&h), variant = heap_pair(&h, 2 * 65 + 1, text);
	uint64_t list = heap_pair(&h, variant, 1), other = heap_pair(&h, variant, 1);
	heap_locate(&h, list, 12);
	heap_sample(&h, list, 13);
	heap_sample(&h, other, 13);
	h.root = list;
	heap_type(&h);
	assert_type(&h, list, "named list", HG_EXACT);
	assert_type(&h, variant, "named", HG_EXACT);
	assert_type(&h, other, "[ `A of string | `B of int ] list", HG_EXACT);
	heap_release(&h);
}

/* Of the types of a place the one that fits is exact; a call's result is not. */
static void sureness_of_places(void **state)
{
	(void)state;
	struct heap h;
	heap_start(&h);
	uint64_t text = heap_string(&h);
	uint64_t two = heap_pair(&h, text, text);
	uint64_t deep = heap_pair(&h, text, text);
	uint64_t both = heap_pair(&h, deep, 3);
	heap_sample(&h, two, 7);
	heap_sample(&h, both, 5);
	h.root = both;
	heap_type(&h);
	assert_type(&h, two, "string * string", HG_INFERRED);
	/* Tuple and record have the same shape, and neither is believed. */
	assert_type(&h, both, "", HG_UNKNOWN_ORIGIN);
	heap_release(&h);
}

/* Of many types of a place a block's shape chooses; of those that fit, one may know more. */
static void shapes_choose_between_types(void **state)
{
	(void)state;
	struct heap h;
	heap_start(&h);
	uint64_t text = heap_string(&h);
	uint64_t record = heap_pair(&h, text, 1);
	uint64_t some = heap_block(&h, 0, 1);
	dump_word(&h.dump, record);
	uint64_t list = heap_pair(&h, text, 1);
	uint64_t three = heap_block(&h, 0, 3);
	for (unsigned i = 0; i < 3; i++)
		dump_word(&h.dump, text);
	uint64_t none = heap_block(&h, 0, 4);
	dump_word(&h.dump, some);
	dump_word(&h.dump, list);
	dump_word(&h.dump, three);
	dump_word(&h.dump, 1);
	heap_sample(&h, some, 9);
	heap_sample(&h, list, 9);
	heap_sample(&h, three, 9);
	heap_sample(&h, none, 9);
	h.root = none;
	heap_type(&h);
	assert_type(&h, some, "r option", HG_EXACT);
	assert_type(&h, record, "r", HG_EXACT);
	assert_type(&h, three, "string * string * string", HG_EXACT);
	assert_type(&h, list, "string list", HG_INFERRED);
	assert_type(&h, none, "", HG_UNKNOWN_ORIGIN);
	assert_int_equal(h.retype.counts.shape_clashes, 0);
	heap_release(&h);
}

/* A seed that is not exact is undone with all that came of it when it runs into a wrong shape. */
static void undoes_wrong_seeds(void **state)
{
	(void)state;
	struct heap h;
	heap_start(&h);
	uint64_t text = heap_string(&h), number = heap_block(&h, 253, 1);
	uint64_t good = heap_pair(&h, text, text);
	uint64_t bad = heap_pair(&h, text, number);
	heap_sample(&h, good, 7);
	h.root = bad;
	heap_type(&h);
	assert_type(&h, good, "string * string", HG_INFERRED);
	assert_int_equal(h.retype.counts.undone_seeds, 0);
	heap_release(&h);

	heap_start(&h);
	text = heap_string(&h);
	number = heap_block(&h, 253, 1);
	good = heap_pair(&h, text, text);
	bad = heap_pair(&h, text, number);
	heap_sample(&h, good, 7);
	heap_sample(&h, bad, 7);
	h.root = bad;
	heap_type(&h);
	/* Both are from one place, which is wrong. */
	assert_type(&h, good, "", HG_UNKNOWN_ORIGIN);
	assert_type(&h, bad, "", HG_UNKNOWN_ORIGIN);
	assert_type(&h, text, "string", HG_EXACT);
	assert_int_equal(h.retype.counts.undone_seeds, 1);
	assert_int_equal(h.retype.counts.shape_clashes, 0);
	heap_release(&h);
}

/*
 * Many calls lead to one block of another shape; that they do is found of one after the other, 16
 * times.  What then is given up is all that leads there, and nothing else.
 */
static void gives_up_what_leads_to_wrong_shapes(void **state)
{
	enum { MOST = 16, MOST_WRONG = 40 };
	(void)state;
	for (unsigned wrong = MOST - 2; wrong <= MOST_WRONG; wrong += wrong <= MOST ? 1 : 23) {
		struct heap h;
		uint64_t others[MOST_WRONG];
		heap_start(&h);
		uint64_t text = heap_string(&h), number = heap_block(&h, 253, 1);
		uint64_t good = heap_pair(&h, text, text), shared = heap_pair(&h, text, number);
		uint64_t apart = heap_pair(&h, text, heap_pair(&h, text, text));
		for (unsigned i = 0; i < wrong; i++) {
			others[i] = heap_pair(&h, text, shared);
			heap_sample(&h, others[i], FIRST_CALL + i);
		}
		heap_sample(&h, good, 7);
		heap_sample(&h, apart, LINES - 1);
		h.root = shared;
		heap_type(&h);
		assert_type(&h, good, "string * string", HG_INFERRED);
		assert_type(&h, apart, "string * (string * string)", HG_INFERRED);
		assert_type(&h, shared, "", HG_UNKNOWN_ORIGIN);
		for (unsigned i = 0; i < wrong; i++)
			assert_type(&h, others[i], "", HG_UNKNOWN_ORIGIN);
		assert_int_equal(h.retype.counts.shape_clashes, 0);
		assert_int_equal(h.retype.counts.undone_seeds, wrong);
		/* Those that were left in the last of these runs, and what they share. */
		assert_int_equal(h.retype.counts.given_up, wrong > MOST ? wrong - MOST + 1 + 1 : 0);
		heap_release(&h);
	}
}

/* What leads to the same block as what is wrong is given up too, and counted. */
static void counts_what_was_given_up(void **state)
{
	enum { WRONG = 17 };
	(void)state;
	struct heap h;
	heap_start(&h);
	uint64_t text = heap_string(&h), number = heap_block(&h, 253, 1);
	uint64_t shared = heap_pair(&h, text, number);
	uint64_t touched = heap_pair(&h, text, text);
	uint64_t innocent = heap_pair(&h, text, touched);
	for (unsigned i = 0; i < WRONG; i++)
		heap_sample(&h, heap_pair(&h, text, shared), FIRST_CALL + i);
	/* The 16th that is found leads there first. */
	heap_sample(&h, heap_pair(&h, text, touched), FIRST_CALL + WRONG - 2);
	heap_sample(&h, innocent, LINES - 1);
	h.root = shared;
	heap_type(&h);
	assert_type(&h, innocent, "", HG_UNKNOWN_ORIGIN);
	assert_type(&h, touched, "", HG_UNKNOWN_ORIGIN);
	assert_int_equal(h.retype.counts.undone_seeds, WRONG + 1);
	/* Two wrong ones and what they share; the other one of the 16th place. */
	assert_int_equal(h.retype.counts.given_up, 3 + 1 + 2);
	for (unsigned order = 1; order < 4; order++) {
		retype_release(&h.retype);
		heap_type_with(&h, (struct retype_options){
					   .reversed = order & 1, .shuffled = order / 2 * 7919});
		assert_type(&h, innocent, "", HG_UNKNOWN_ORIGIN);
		assert_int_equal(h.retype.counts.given_up, 3 + 1 + 2);
	}
	heap_release(&h);
}

/* One block a round, and all blocks in one. */
static void long_lists_and_wide_arrays(void **state)
{
	enum { LENGTH = 50000 };
	(void)state;
	struct heap h;
	heap_start(&h);
	uint64_t next = 1, first = h.next + 8, text = heap_string(&h);
	for (unsigned i = 0; i < LENGTH; i++)
		next = heap_pair(&h, text, next);
	uint64_t pairs = h.next + 8;
	for (unsigned i = 0; i < LENGTH; i++)
		heap_pair(&h, 1, text);
	uint64_t array = heap_block(&h, 0, LENGTH);
	for (uint64_t i = 0; i < LENGTH; i++)
		dump_word(&h.dump, pairs + 24 * i);
	heap_sample(&h, next, 1);
	heap_sample(&h, array, 3);
	h.root = next;
	heap_type(&h);
	assert_type(&h, next, "string list", HG_EXACT);
	assert_type(&h, first + 16, "string list", HG_EXACT);
	assert_type(&h, pairs, "int * string", HG_EXACT);
	assert_type(&h, pairs + 24 * (uint64_t)(LENGTH - 1), "int * string", HG_EXACT);
	assert_int_equal(typed_words(&h), 3 * 2 * LENGTH + LENGTH + 1 + 2);
	assert_true(h.retype.counts.rounds >= LENGTH);
	heap_release(&h);
}

/* Random graphs, in which seeds contradict each other: all orders give the same. */
static void same_in_any_order(void **state)
{
	enum { BLOCKS = 6000 };
	(void)state;
	struct heap h;
	static uint32_t types[4][BLOCKS], sure[4][BLOCKS];
	struct retype_counts counts[4];
	uint64_t edges = 0, conflicts = 0, clashes = 0, undone = 0;
	for (unsigned seed = 1; seed <= 12; seed++) {
		srand(seed);
		heap_start(&h);
		uint64_t text = heap_string(&h), block = text;
		static uint64_t blocks[BLOCKS];
		for (unsigned i = 1; i < BLOCKS; i++) {
			uint64_t near = i > 40 ? blocks[i - 1 - (unsigned)rand() % 40] : text;
			uint64_t far = i > 1 ? blocks[1 + (unsigned)rand() % (i - 1)] : text;
			uint64_t firsts[] = {text, 3, text, near, far, 5};
			uint64_t seconds[] = {far, text, 1, near};
			uint64_t one = firsts[rand() % 6],
				 two = seconds[rand() % 60 < 57 ? 3 : rand() % 3];
			blocks[i] = block = heap_pair(&h, one, two);
		}
		for (unsigned i = 0; i < 60; i++)
			(i % 2 ? heap_sample : heap_locate)(
				&h, blocks[i * 97 + 1], 1 + (unsigned)rand() % 8);
		h.root = block;
		heap_load(&h);
		for (unsigned order = 0; order < 4; order++) {
			heap_type_with(&h, (struct retype_options){.reversed = order & 1,
						   .shuffled = order / 2 * 7919});
			/* Names of terms are numbers in the order of their making: compare text. */
			for (uint32_t i = 0; i < BLOCKS; i++) {
				char name[4096];
				struct retype_term type = {h.retype.blocks[i].type};
				size_t length =
					retype_name(&h.retype.types, type, name, sizeof(name));
				uint32_t hash = (uint32_t)length;
				for (char *c = name; *c; c++)
					hash = hash * 31 + (unsigned char)*c;
				types[order][i] = hash;
				sure[order][i] = h.retype.blocks[i].confidence;
			}
			counts[order] = h.retype.counts;
			retype_release(&h.retype);
			assert_memory_equal(types[order], types[0], sizeof(types[0]));
			assert_memory_equal(sure[order], sure[0], sizeof(sure[0]));
			assert_memory_equal(&counts[order], &counts[0], sizeof(counts[0]));
		}
		edges += counts[0].edges;
		conflicts += counts[0].type_conflicts;
		clashes += counts[0].shape_clashes;
		undone += counts[0].undone_seeds;
		heap_release(&h);
	}
	assert_true(edges > 2000 && conflicts > 0 && clashes > 0 && undone > 0);
}

/* What nothing reaches says nothing of what is reached, but of the rest of what is not; so what is
 * reached is no reason to doubt it. */
static void garbage_tells_garbage(void **state)
{
	(void)state;
	struct heap h;
	heap_start(&h);
	uint64_t text = heap_string(&h), live = heap_pair(&h, text, 1);
	uint64_t root = heap_pair(&h, live, 1), dead = heap_pair(&h, text, live);
	uint64_t last = heap_pair(&h, text, 1), first = heap_pair(&h, text, last);
	uint64_t number = heap_block(&h, 253, 1), lying = heap_pair(&h, text, number);
	root = heap_pair(&h, lying, heap_pair(&h, root, number));
	uint64_t honest = heap_pair(&h, text, number);
	heap_locate(&h, dead, 1);
	heap_locate(&h, first, 1);
	heap_sample(&h, lying, FIRST_CALL);
	heap_sample(&h, honest, FIRST_CALL + 1);
	h.root = root;
	heap_load(&h);
	uint64_t unreached = (uint64_t)1 << snap_resolve_node(&h.snap, dead) |
			     (uint64_t)1 << snap_resolve_node(&h.snap, last) |
			     (uint64_t)1 << snap_resolve_node(&h.snap, first) |
			     (uint64_t)1 << snap_resolve_node(&h.snap, honest);
	for (unsigned known = 0; known < 2; known++) {
		heap_type_with(&h, (struct retype_options){.unreached = known ? &unreached : NULL});
		assert_type(&h, dead, "string list", HG_EXACT);
		assert_type(&h, first, "string list", HG_EXACT);
		assert_type(&h, last, "string list", HG_EXACT);
		assert_type(&h, lying, "", HG_UNKNOWN_ORIGIN);
		if (known) {
			assert_type(&h, live, "", HG_UNKNOWN_ORIGIN);
			assert_type(&h, honest, "string * (string * string)", HG_INFERRED);
		} else {
			assert_type(&h, live, "string list", HG_EXACT);
			assert_type(&h, honest, "", HG_UNKNOWN_ORIGIN);
		}
		retype_release(&h.retype);
	}
	heap_release(&h);
}

enum { MIXED_BLOCKS = 4000, MIXED_HELD = 40, MIXED_SEEDS = 60 };

/* A random graph of pairs, and an array of some of them; nothing else is reached. */
struct mixed {
	uint64_t blocks[MIXED_BLOCKS], fields[MIXED_BLOCKS][2], held[MIXED_HELD];
	uint64_t unreached[MIXED_BLOCKS / 64 + 1]; /* bits by rank */
};

static void build_mixed(struct mixed *m, struct heap *h)
{
	uint64_t text = m->blocks[0] = heap_string(h);
	m->fields[0][0] = m->fields[0][1] = 1;
	for (unsigned i = 1; i < MIXED_BLOCKS; i++) {
		uint64_t near = i > 40 ? m->blocks[i - 1 - (unsigned)rand() % 40] : text;
		uint64_t far = m->blocks[(unsigned)rand() % i];
		uint64_t some[] = {text, 3, near, far, near, 1};
		m->fields[i][0] = some[rand() % 6];
		m->fields[i][1] = some[rand() % 30 < 27 ? 4 : rand() % 6];
		m->blocks[i] = heap_pair(h, m->fields[i][0], m->fields[i][1]);
	}
	h->root = heap_block(h, 0, MIXED_HELD);
	for (unsigned i = 0; i < MIXED_HELD; i++) {
		m->held[i] = m->blocks[(unsigned)rand() % MIXED_BLOCKS];
		dump_word(&h->dump, m->held[i]);
	}
}

static unsigned number_of_mixed(const struct mixed *m, uint64_t block)
{
	unsigned low = 0, high = MIXED_BLOCKS;
	while (high - low > 1)
		*(m->blocks[(low + high) / 2] <= block ? &low : &high) = (low + high) / 2;
	assert_int_equal(m->blocks[low], block);
	return low;
}

/* Blocks are in order of addresses, so that their numbers are ranks, and lead to earlier ones. */
static void mark_mixed(struct mixed *m)
{
	memset(m->unreached, 0xff, sizeof(m->unreached));
	base_bit_clear(m->unreached, MIXED_BLOCKS);
	for (unsigned i = 0; i < MIXED_HELD; i++)
		base_bit_clear(m->unreached, number_of_mixed(m, m->held[i]));
	for (unsigned i = MIXED_BLOCKS; i-- > 0;)
		for (unsigned j = 0; j < 2 && !base_bit(m->unreached, i); j++)
			if (!(m->fields[i][j] & 1))
				base_bit_clear(m->unreached, number_of_mixed(m, m->fields[i][j]));
}

static void seed_mixed(const struct mixed *m, struct heap *h, bool also_garbage)
{
	for (unsigned i = 0; i < MIXED_SEEDS; i++) {
		unsigned number = (unsigned)rand() % MIXED_BLOCKS, line = 1 + (unsigned)rand() % 8;
		if (also_garbage || !base_bit(m->unreached, number))
			(i % 2 ? heap_sample : heap_locate)(h, m->blocks[number], line);
	}
}

/*
 * What is reached has the same types whether anything is known of the garbage or not, also where
 * that makes seeds clash.
 */
static void same_with_any_garbage(void **state)
{
	(void)state;
	static struct mixed m;
	static char names[MIXED_BLOCKS][64];
	struct heap h;
	uint64_t typed = 0, undone[2] = {0};
	for (unsigned seed = 1; seed <= 24; seed++)
		for (unsigned without = 0; without < 2; without++) {
			srand(seed);
			heap_start(&h);
			build_mixed(&m, &h);
			mark_mixed(&m);
			seed_mixed(&m, &h, !without);
			heap_load(&h);
			heap_type_with(&h, (struct retype_options){.unreached = m.unreached});
			undone[without] += h.retype.counts.undone_seeds;
			for (uint32_t i = 0; i < MIXED_BLOCKS; i++) {
				char name[64];
				struct retype_term type = {h.retype.blocks[i].type};
				retype_name(&h.retype.types, type, name, sizeof(name));
				if (!without)
					memcpy(names[i], name, sizeof(name));
				else if (!base_bit(m.unreached, i))
					assert_string_equal(name, names[i]);
				typed += without && type.n && !base_bit(m.unreached, i);
			}
			heap_release(&h);
		}
	assert_true(typed > 500 && undone[0] > undone[1] && undone[1] > 0);
}

static void refuses_bad_profiles(void **state)
{
	(void)state;
	struct heap h;
	struct retype retype;
	struct retype_options options = {0};
	heap_start(&h);
	h.root = heap_pair(&h, 1, 1);
	heap_load(&h);
	write_profile(&h, profile, false);
	options.profile = h.profile_path;
	assert_int_equal(retype_open(&retype, &h.snap, &options, &h.error), HG_ERROR_INPUT);
	assert_string_equal(h.error.file, h.profile_path);
	unlink(h.profile_path);
	write_profile(&h, "something else\n", false);
	options.profile = h.profile_path;
	assert_int_equal(retype_open(&retype, &h.snap, &options, &h.error), HG_ERROR_INPUT);
	unlink(h.profile_path);
	options.profile = "/nonexistent/exe.prof";
	assert_int_equal(retype_open(&retype, &h.snap, &options, &h.error), HG_ERROR_INPUT);
	h.profile_path[0] = '\0';
	heap_release(&h);
}

/* A program with these units and little else, and a profile that may be of it. */
static void start_program(struct heap *h, struct snap_unit *units, uint64_t count, const char *text,
	struct retype_options *options)
{
	heap_start(h);
	h->root = heap_pair(h, 1, 1);
	heap_load(h);
	write_profile(h, text, true);
	options->profile = h->profile_path;
	h->snap.units = units;
	h->snap.unit_count = count;
}

/* Of another program, by the digests of interfaces; or built again, by the sizes of blocks. */
static void compares_units(void **state)
{
	(void)state;
	static const char crc[] = "00000000000000000000000000000000";
	struct snap_unit units[] = {{"Test", {BASE}, 3, crc}, {"Other", {BASE}, 1, crc}};
	struct retype_options options = {0};
	struct retype retype;
	struct heap h;
	start_program(&h, units, 2, profile_of_units, &options);
	assert_int_equal(retype_open(&retype, &h.snap, &options, &h.error), HG_OK);
	assert_string_equal(retype.note, "");
	retype_release(&retype);
	units[1].wosize = 7;
	assert_int_equal(retype_open(&retype, &h.snap, &options, &h.error), HG_OK);
	assert_non_null(strstr(retype.note, "Other"));
	retype_release(&retype);
	units[0].crc = units[1].crc = "ffffffffffffffffffffffffffffffff";
	assert_int_equal(retype_open(&retype, &h.snap, &options, &h.error), HG_ERROR_INPUT);
	assert_non_null(strstr(h.error.message, "Test"));
	assert_string_equal(h.error.file, h.profile_path);
	units[0].name = units[1].name = "Stranger";
	assert_int_equal(retype_open(&retype, &h.snap, &options, &h.error), HG_ERROR_INPUT);
	heap_release(&h);
}

static const char profile_of_parts[] = "hgprof 1 ocaml 4.13.1 word 64\n"
				       "u Test 00000000000000000000000000000000 test.ml /s cmt\n"
				       "u Lib__Other 00000000000000000000000000000000 o.ml /s cmt\n"
				       "D 0 int 0/0/0 B int\n"
				       "D 1 Lib.Other.r 0/1/0 R a:0 b:0\n"
				       "D 2 Lib.Others.r 0/2/0 R a:0 b:0\n"
				       "t 0 c 0\n"
				       "t 1 c 1\n"
				       "g Test 1 a:1\n"
				       "g Lib__Other 1 a:0\n"
				       "v Test x_1 0\n"
				       "x Lib.Other.E %:0\n"
				       "x Test.E %:0\n"
				       "C Lib.Other.c m ; v:0\n"
				       "f 0 o.ml Lib__Other\n"
				       "f 1 test.ml Test\n"
				       "F 0 Lib__Other f_12 0 1 0 5 1 5 1 0 x:0\n"
				       "F 1 Test f_12 1 1 0 5 1 5 1 0 x:0\n"
				       "L 0 1 0 5 1 5 @0 record:1\n"
				       "L 1 1 0 5 1 5 @1 record:1\n";

static const struct retype_declaration *declaration_of(
	const struct retype *retype, const char *name)
{
	for (uint32_t i = 0; i < retype->types.declaration_count; i++)
		if (strcmp(retype->types.declarations[i].name, name) == 0)
			return &retype->types.declarations[i];
	fail_msg("no declaration %s", name);
	return NULL;
}

static uint32_t made_in(struct retype *retype, const char *file)
{
	uint32_t places, made = 0;
	const struct retype_location *place =
		retype_locations_at(&retype->types, file, 1, 0, 5, false, &places);
	assert_non_null(place);
	assert_int_equal(places, 1);
	retype_location_made(&retype->types, place, &made);
	return made;
}

/* One unit has another interface: what it says is not believed, what others say is. */
static void distrusts_stale_units(void **state)
{
	(void)state;
	static const char same[] = "00000000000000000000000000000000";
	struct snap_unit units[] = {{"Test", {BASE}, 1, same}, {"Lib__Other", {BASE}, 1, same}};
	struct retype_options options = {0};
	struct retype retype;
	struct heap h;
	start_program(&h, units, 2, profile_of_parts, &options);
	for (unsigned is_stale = 0; is_stale < 2; is_stale++) {
		enum retype_form form = is_stale ? RETYPE_ABSTRACT : RETYPE_RECORD;
		units[1].crc = is_stale ? "ffffffffffffffffffffffffffffffff" : same;
		assert_int_equal(retype_open(&retype, &h.snap, &options, &h.error), HG_OK);
		const struct retype_types *types = &retype.types;
		assert_int_equal(declaration_of(&retype, "Lib.Other.r")->form, form);
		assert_int_equal(declaration_of(&retype, "Lib.Others.r")->form, RETYPE_RECORD);
		assert_int_equal(made_in(&retype, "o.ml"), is_stale ? 0 : 1);
		assert_int_equal(made_in(&retype, "test.ml"), 1);
		assert_int_equal(!retype_function_symbol(types, "Lib__Other__f_12"), is_stale);
		assert_non_null(retype_function_symbol(types, "Test__f_12"));
		assert_int_equal(!retype_extension_named(types, "Lib.Other.E"), is_stale);
		assert_non_null(retype_extension_named(types, "Test.E"));
		assert_int_equal(types->class_count, is_stale ? 0 : 1);
		assert_int_equal(types->value_count, 1);
		assert_int_equal(retype.state, is_stale ? HG_TYPES_STALE : HG_TYPES_FRESH);
		assert_int_equal(strncmp(retype.reason, "unit Lib__Other of", 18) == 0, is_stale);
		assert_int_equal(strncmp(retype.note, "stale: unit Lib__Other", 22) == 0, is_stale);
		assert_int_equal(retype.note[0] == '\0', !is_stale);
		retype_release(&retype);
	}
	options.required = true;
	assert_int_equal(retype_open(&retype, &h.snap, &options, &h.error), HG_ERROR_INPUT);
	assert_memory_equal(
		h.error.message, "has no reliable types: stale: unit Lib__Other of", 48);
	heap_release(&h);
}

/* Without a profile only tags tell, and the state, its reason and the note say why. */
static void does_without_profile(void **state)
{
	(void)state;
	struct heap h;
	struct retype_options options = {0};
	heap_start(&h);
	uint64_t text = heap_string(&h), pair = heap_pair(&h, text, 1);
	h.root = pair;
	heap_load(&h);
	assert_int_equal(retype_open(&h.retype, &h.snap, &options, &h.error), HG_OK);
	assert_int_equal(retype_run(&h.retype, &h.snap, &options, &h.error), HG_OK);
	assert_false(h.retype.has_types);
	assert_int_equal(h.retype.state, HG_TYPES_ABSENT);
	assert_string_equal(h.retype.reason, "no locations, which lead to types");
	assert_string_equal(h.retype.note, "none: no locations, which lead to types");
	assert_type(&h, text, "string", HG_EXACT);
	assert_type(&h, pair, "", HG_UNKNOWN_ORIGIN);
	assert_int_equal(typed_words(&h), 2);
	retype_release(&h.retype);
	options.required = true;
	assert_int_equal(retype_open(&h.retype, &h.snap, &options, &h.error), HG_ERROR_INPUT);
	assert_string_equal(h.error.message, "has no types: no locations, which lead to types");
	heap_release(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_along_fields),
		cmocka_unit_test(clashes_of_exact_seeds),
		cmocka_unit_test(conflicts_of_exact_seeds),
		cmocka_unit_test(fields_decide_between_types),
		cmocka_unit_test(holders_tell_more_than_samples),
		cmocka_unit_test(strings_and_bytes_go_together),
		cmocka_unit_test(samples_leave_names),
		cmocka_unit_test(sureness_of_places),
		cmocka_unit_test(shapes_choose_between_types),
		cmocka_unit_test(undoes_wrong_seeds),
		cmocka_unit_test(gives_up_what_leads_to_wrong_shapes),
		cmocka_unit_test(counts_what_was_given_up),
		cmocka_unit_test(long_lists_and_wide_arrays),
		cmocka_unit_test(same_in_any_order),
		cmocka_unit_test(garbage_tells_garbage),
		cmocka_unit_test(same_with_any_garbage),
		cmocka_unit_test(refuses_bad_profiles),
		cmocka_unit_test(compares_units),
		cmocka_unit_test(distrusts_stale_units),
		cmocka_unit_test(does_without_profile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
