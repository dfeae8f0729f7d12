/*
 * genseries - writes a made-up series of Spacetime as OCaml 4.11 does, for benchmarks.
 *
 *	genseries FUNCTIONS NODES SNAPSHOTS SEED OUT
 *
 * A tree of NODES calls over FUNCTIONS functions of up to 24 calls and allocation points each, of
 * which most were never reached, as in the series that the compiler writes of itself.  The same
 * arguments give the same bytes everywhere.
 */
#include "bench/draw.h"
#include "tests/unit/trace/series_encoder.h"

#include <inttypes.h>
#include <stdio.h>

enum { DIRECT, INDIRECT, ALLOCATION, MOST_PARTS = 24, SLOTS = 6 };

static const uint64_t code_start = UINT64_C(0x55d0c0de0000);
struct function {
	unsigned count;
	uint8_t kinds[MOST_PARTS];
	uint32_t callees[MOST_PARTS];
};

static struct {
	struct function *functions;
	uint64_t function_count;
	uint64_t nodes;  /* that may still be made */
	uint32_t points; /* annotations given away */
	struct object *last_point;
	uint32_t last_index;
	struct waiting {
		struct object *node;
		const struct function *function;
	} * waiting; /* nodes whose parts are not made yet */
	uint64_t waiting_count;
} s;

static uint64_t address_of(uint64_t function)
{
	return code_start + 1024 * function;
}

static uint64_t pc_of(uint64_t function, unsigned part)
{
	return address_of(function) + 16 + 24 * part;
}

static struct field word_field(uint64_t word)
{
	return int_field((int64_t)word >> 1);
}

static void make_functions(uint64_t count)
{
	s.function_count = count;
	s.functions = calloc(count, sizeof(*s.functions));
	if (!s.functions)
		exit(1);
	for (uint64_t i = 0; i < count; i++) {
		struct function *function = &s.functions[i];
		function->count = 2 + (unsigned)draw(MOST_PARTS - 1);
		for (unsigned j = 0; j < function->count; j++) {
			unsigned kind = (unsigned)draw(10);
			function->kinds[j] = kind < 6 ? DIRECT : kind < 7 ? INDIRECT : ALLOCATION;
			function->callees[j] = (uint32_t)draw(count);
		}
	}
}

static struct field make_node(uint64_t number)
{
	static const unsigned words[] = {2, 1, 3};
	const struct function *function = &s.functions[number];
	uint64_t size = 2;
	for (unsigned i = 0; i < function->count; i++)
		size += words[function->kinds[i]];
	struct object *node = make_object(OBJECT_BLOCK, 0, size);
	node->fields[0] = word_field(address_of(number) | 1);
	node->fields[1] = to_object(node);
	s.waiting[s.waiting_count++] = (struct waiting){node, function};
	s.nodes -= s.nodes > 0;
	return to_object(node);
}

static void make_point(struct object *node, uint32_t at)
{
	node->fields[at] =
		word_field((uint64_t)++s.points << 38 | (at + UINT64_C(1)) << 10 | 0x3F9);
	node->fields[at + 1] = int_field((int64_t)(1 + draw(draw(8) ? 50 : 100000)));
	if (s.last_point)
		node->fields[at + 2] = (struct field){.to = s.last_point, .into = s.last_index};
	s.last_point = node;
	s.last_index = at + 1;
}

static struct field make_callee(uint64_t number)
{
	struct object *callee = make_object(OBJECT_BLOCK, 1, 5);
	callee->fields[0] = word_field(address_of(number) << 2 | 3);
	callee->fields[1] = make_node(number);
	callee->fields[2] = int_field((int64_t)draw(100000));
	return to_object(callee);
}

/* One in three points was reached, and about as many calls. */
static void make_parts(const struct waiting *w)
{
	uint32_t at = 2;
	for (unsigned i = 0; i < w->function->count; i++) {
		bool used = draw(3) == 0;
		switch (w->function->kinds[i]) {
		case DIRECT:
			if (used && s.nodes) {
				w->node->fields[at] = make_node(w->function->callees[i]);
				w->node->fields[at + 1] = int_field((int64_t)draw(100000));
			}
			at += 2;
			break;
		case INDIRECT:
			if (used && s.nodes)
				w->node->fields[at] = make_callee(draw(s.function_count));
			at++;
			break;
		default:
			if (used)
				make_point(w->node, at);
			at += 3;
		}
	}
}

static struct field make_trie(uint64_t nodes)
{
	s.nodes = nodes;
	s.waiting = calloc(nodes + MOST_PARTS, sizeof(*s.waiting));
	if (!s.waiting)
		exit(1);
	struct field root = make_node(0);
	while (s.waiting_count) {
		/* Mostly the last one, so that the tree is deep; now and then any, so that it goes
		 * on. */
		uint64_t pick = draw(4) ? s.waiting_count - 1 : draw(s.waiting_count);
		struct waiting next = s.waiting[pick];
		s.waiting[pick] = s.waiting[--s.waiting_count];
		make_parts(&next);
	}
	free(s.waiting);
	return root;
}

static struct field make_frames(void)
{
	static char names[64][24];
	struct field list = int_field(0);
	for (uint64_t i = 0; i < s.function_count; i++) {
		for (unsigned j = 0; j < SLOTS && j < s.functions[i].count; j++) {
			struct object *location = make_object(OBJECT_BLOCK, 0, 5);
			char *name = names[i % 64];
			int length = snprintf(
				name, sizeof(names[0]), "typing/part%" PRIu64 ".ml", i % 64);
			location->fields[1] = to_object(make_string(name, (size_t)length));
			location->fields[2] = int_field((int64_t)(i % 3000));
			location->fields[3] = int_field((int64_t)(2 * j));
			location->fields[4] = int_field((int64_t)(70 + j));
			list = to_object(make_pair(
				to_object(make_pair(to_object(make_int64(pc_of(i, j))),
					to_object(make_pair(to_object(location), int_field(0))))),
				list));
		}
	}
	return list;
}

static struct field make_shapes(void)
{
	struct field list = int_field(0);
	for (uint64_t i = 0; i < s.function_count; i++) {
		const struct function *function = &s.functions[i];
		struct field parts = int_field(0);
		for (unsigned j = function->count; j-- > 0;) {
			bool direct = function->kinds[j] == DIRECT;
			struct object *part =
				make_object(OBJECT_BLOCK, function->kinds[j], direct ? 2 : 1);
			part->fields[0] = to_object(make_int64(pc_of(i, j)));
			if (direct)
				part->fields[1] =
					to_object(make_int64(address_of(function->callees[j])));
			parts = to_object(make_pair(to_object(part), parts));
		}
		list = to_object(make_pair(
			to_object(make_pair(to_object(make_int64(address_of(i))), parts)), list));
	}
	return list;
}

/* Of the first half of all points, of which one in four has something alive. */
static void encode_snapshot(struct encoded *to, uint32_t points, uint64_t number)
{
	struct object *snapshot = make_object(OBJECT_BLOCK, 0, 6),
		      *gc = make_object(OBJECT_BLOCK, 0, 9);
	struct object *entries = make_object(OBJECT_BLOCK, 0, 3 * (uint64_t)(points / 4));
	struct field totals = int_field(0);
	int64_t words = 0;
	for (uint32_t i = 0; i < points / 4; i++) {
		entries->fields[3 * i] = int_field(4 * (int64_t)i + 1);
		entries->fields[3 * i + 1] = int_field(1 + (int64_t)draw(9));
		entries->fields[3 * i + 2] = int_field(2 + (int64_t)draw(90));
		words += entries->fields[3 * i + 2].number;
	}
	for (uint32_t i = points; i > 0; i--) {
		struct object *total = make_object(OBJECT_BLOCK, 0, 3);
		total->fields[0] = int_field(i);
		total->fields[2] = totals;
		totals = to_object(total);
	}
	snapshot->fields[0] = to_object(make_float(0.25 * (double)number));
	snapshot->fields[1] = to_object(gc);
	snapshot->fields[2] = to_object(entries);
	snapshot->fields[3] = snapshot->fields[4] = int_field(words);
	snapshot->fields[5] = totals;
	encode_value(to, int_field(0), true);
	encode_value(to, to_object(snapshot), true);
}

static bool write_series(const char *path, struct field trie, uint64_t snapshots)
{
	struct encoded bytes = {0};
	encode_mark(&bytes, true);
	for (uint64_t i = 0; i < snapshots; i++)
		encode_snapshot(&bytes, s.points / 2, i);
	encode_value(&bytes, int_field(1), true);
	encode_value(&bytes, to_object(make_float(9)), true);
	encode_value(&bytes, make_frames(), true);
	encode_value(&bytes, make_shapes(), true);
	encode_value(&bytes, int_field(1), true);
	encode_value(&bytes, trie, true);
	encode_value(&bytes, int_field(0), true);
	FILE *out = fopen(path, "wb");
	bool good = out && fwrite(bytes.bytes, 1, bytes.size, out) == bytes.size;
	free(bytes.bytes);
	return out && fclose(out) == 0 && good;
}

int main(int argc, char **argv)
{
	if (argc != 6) {
		fprintf(stderr, "usage: genseries FUNCTIONS NODES SNAPSHOTS SEED OUT\n");
		return 2;
	}
	draw_state = strtoull(argv[4], NULL, 10);
	make_functions(strtoull(argv[1], NULL, 10));
	struct field trie = make_trie(strtoull(argv[2], NULL, 10));
	bool good = write_series(argv[5], trie, strtoull(argv[3], NULL, 10));
	free_objects();
	free(s.functions);
	if (!good)
		fprintf(stderr, "genseries: %s cannot be written\n", argv[5]);
	return !good;
}
