/*
 * Series with random content: what they hold is printed from the objects that they were made of, by
 * a walk that recurses, and must be what the library prints.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "heapgraph.h"
#include "tests/unit/trace/series_encoder.h"

enum { MOST_PARTS = 12, MOST_FUNCTIONS = 24, MOST_DEPTH = 40 };

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (random_state >> 20) % below;
}

enum part_kind { DIRECT, INDIRECT, ALLOCATION };

struct function {
	uint64_t address;
	unsigned count;
	bool has_shape;
	struct {
		enum part_kind kind;
		uint64_t pc, callee; /* callee: in C if it is odd */
		unsigned function;   /* of others */
	} parts[MOST_PARTS];
};

/* What a node of an OCaml function was made of. */
struct node_parts {
	const struct function *function;
	uint64_t places[MOST_PARTS];
	unsigned trie; /* that the printer met it in */
};

static struct {
	bool counts, holes;
	bool shares; /* values are not quite as programs write them: with more in common */
	struct object *names[2], *addresses[MOST_FUNCTIONS]; /* then: of which there is one */
	struct function functions[MOST_FUNCTIONS];
	unsigned function_count;
	uint32_t points; /* annotations given away */
	struct object *last_point;
	uint32_t last_index;
	unsigned nodes; /* that may still be made */

	FILE *text;
	unsigned trie;
	uint64_t allocations, calls;
	uint64_t seen[1 << 16];
	size_t seen_count;
} s;

static int64_t int_of_word(uint64_t word)
{
	return (int64_t)word >> 1;
}

static unsigned part_words(enum part_kind kind)
{
	return kind == ALLOCATION ? 3 : kind == DIRECT && s.counts ? 2 : 1;
}

/* Functions call each a function, and with holes but one other that a C node leads to. */
static void make_functions(void)
{
	uint64_t pc = UINT64_C(0x7f0000400001);
	s.function_count = 2 + (unsigned)draw(MOST_FUNCTIONS - 2);
	for (unsigned i = 0; i < s.function_count; i++) {
		struct function *function = &s.functions[i];
		bool to_c = false, called[MOST_FUNCTIONS] = {false};
		*function = (struct function){.address = UINT64_C(0x7f0000400000) + 64 * i,
			.count = (unsigned)draw(MOST_PARTS + 1),
			.has_shape = s.holes || draw(12) > 0};
		for (unsigned j = 0; j < function->count; j++) {
			unsigned callee = (unsigned)draw(s.function_count);
			unsigned kind = (unsigned)draw(4);
			if (kind == DIRECT && called[callee])
				kind = ALLOCATION;
			if ((kind == INDIRECT || kind == 3) && s.holes && to_c)
				kind = ALLOCATION;
			to_c = to_c || kind == INDIRECT || kind == 3;
			called[callee] = called[callee] || kind == DIRECT;
			function->parts[j].kind = kind == 3 ? DIRECT : (enum part_kind)kind;
			function->parts[j].callee =
				kind == 3 ? 0xC001 + 2 * callee
					  : UINT64_C(0x7f0000400000) + 64 * callee;
			function->parts[j].function = callee;
			function->parts[j].pc = pc += 2 + draw(50);
		}
	}
}

static int64_t point_word(uint64_t index)
{
	return int_of_word((uint64_t)++s.points << 38 | (index + 1) << 10 | 0x3F9);
}

/* A used point at fields[index...]; it leads to the point before. */
static void make_point(struct object *object, uint32_t index, uint32_t words_at, uint32_t link_at)
{
	object->fields[index] = int_field(point_word(index));
	object->fields[words_at] = int_field((int64_t)draw(draw(4) ? 100 : 100000000));
	if (s.last_point)
		object->fields[link_at] = (struct field){.to = s.last_point, .into = s.last_index};
	s.last_point = object;
	s.last_index = words_at;
}

static struct object *make_node(const struct function *function, unsigned depth);

/* A list of C nodes; by indirect calls, or below a C function. */
static struct object *make_c_nodes(unsigned depth, bool indirect)
{
	struct object *list = NULL;
	for (uint64_t left = 1 + draw(3); left; left--) {
		struct object *node = make_object(OBJECT_BLOCK, 1, 5);
		uint64_t address = UINT64_C(0x5500001000) + draw(100000);
		bool allocates = !indirect && draw(3) == 0;
		node->fields[0] = int_field(int_of_word(address << 2 | (allocates ? 1 : 3)));
		if (allocates) {
			make_point(node, 1, 2, 3);
		} else {
			if (s.nodes && depth < MOST_DEPTH && draw(4)) {
				const struct function *callee =
					&s.functions[draw(s.function_count)];
				node->fields[1] =
					to_object(draw(3) ? make_node(callee, depth + 1)
							  : make_c_nodes(depth + 1, false));
			}
			node->fields[2] = int_field(s.counts ? (int64_t)draw(1000) : 0);
		}
		node->fields[4] = list ? to_object(list) : int_field(0);
		list = node;
	}
	return list;
}

static void fill_part(struct object *node, const struct function *function, unsigned part,
	uint32_t at, unsigned depth)
{
	bool used = draw(3) > 0, goes_on = s.nodes && depth < MOST_DEPTH;
	if (function->parts[part].kind == ALLOCATION) {
		/* Next to a hole, one that was not used could be any of those around. */
		if (used || s.holes)
			make_point(node, at, at + 1, at + 2);
		return;
	}
	if (!used || !goes_on)
		return;
	if (function->parts[part].kind == INDIRECT) {
		node->fields[at] = to_object(make_c_nodes(depth + 1, true));
		return;
	}
	if (function->parts[part].callee & 1)
		node->fields[at] = to_object(make_c_nodes(depth + 1, false));
	else
		node->fields[at] = to_object(
			make_node(&s.functions[function->parts[part].function], depth + 1));
	if (s.counts)
		node->fields[at + 1] = int_field((int64_t)draw(draw(2) ? 10 : 1 << 30));
}

static struct object *make_node(const struct function *function, unsigned depth)
{
	static struct node_parts all[1 << 16];
	static size_t used;
	struct node_parts *parts = &all[used++ % (1 << 16)];
	uint64_t size = 2;
	s.nodes -= s.nodes > 0;
	*parts = (struct node_parts){.function = function};
	for (unsigned i = 0; i < function->count && function->has_shape; i++) {
		size += s.holes && draw(6) == 0 ? 1 + draw(4) : 0;
		parts->places[i] = size;
		size += part_words(function->parts[i].kind);
	}
	size += s.holes && draw(6) == 0 && function->has_shape ? 1 + draw(4) : 0;
	struct object *node = make_object(OBJECT_BLOCK, 0, size);
	node->about = parts;
	node->fields[0] = int_field(int_of_word(function->address | 1));
	node->fields[1] = to_object(node);
	for (unsigned i = 0; i < function->count && function->has_shape; i++)
		fill_part(node, function, i, (uint32_t)parts->places[i], depth);
	if (draw(5) == 0 && s.nodes) {
		struct object *other = make_node(&s.functions[draw(s.function_count)], depth);
		struct field link = node->fields[1];
		node->fields[1] = other->fields[1];
		other->fields[1] = link;
	}
	return node;
}

/* Backtraces as the printer has them. */
struct trail {
	uint64_t pc;
	const struct trail *outer;
};

static void print_trail(const struct trail *trail)
{
	fprintf(s.text, " :");
	if (!trail)
		fprintf(s.text, " ");
	for (; trail; trail = trail->outer)
		fprintf(s.text, " %" PRIx64, trail->pc);
	fprintf(s.text, "\n");
}

static const char *trie_name(void)
{
	return s.trie == 1 ? "normal0" : "finaliser0";
}

static void print_any(const struct field *field, const struct trail *trail);
static void print_node(struct object *node, const struct trail *trail);

static uint32_t annotation_of(const struct field *field)
{
	return (uint32_t)((2 * (uint64_t)field->number + 1) >> 38);
}

static void print_c_list(const struct object *list, const struct trail *trail)
{
	for (; list; list = list->fields[4].to) {
		uint64_t word = 2 * (uint64_t)list->fields[0].number + 1;
		const struct trail here = {word >> 2, trail};
		if (word & 2) {
			s.calls++;
			fprintf(s.text, "%s ccall", trie_name());
			print_trail(&here);
			print_any(&list->fields[1], &here);
		} else {
			s.allocations++;
			fprintf(s.text, "%s calloc %" PRIu32 " %" PRId64, trie_name(),
				annotation_of(&list->fields[1]), list->fields[2].number);
			print_trail(&here);
		}
	}
}

static void print_any(const struct field *field, const struct trail *trail)
{
	if (field->to && field->to->tag == 0)
		print_node(field->to, trail);
	else if (field->to)
		print_c_list(field->to, trail);
}

static void print_call(const char *kind, int64_t count, uint64_t callee, const struct trail *trail)
{
	s.calls++;
	if (s.counts)
		fprintf(s.text, "%s %s %" PRId64 " callee %" PRIx64, trie_name(), kind, count,
			callee);
	else
		fprintf(s.text, "%s %s - callee %" PRIx64, trie_name(), kind, callee);
	print_trail(trail);
}

static void print_part(const struct object *node, const struct function *function, unsigned i,
	const struct trail *trail)
{
	const struct field *field =
		&node->fields[((const struct node_parts *)node->about)->places[i]];
	const struct trail here = {function->parts[i].pc, trail};
	if (function->parts[i].kind != ALLOCATION && !field->to)
		return;
	s.seen[s.seen_count++] = here.pc;
	if (function->parts[i].kind == ALLOCATION) {
		s.allocations++;
		fprintf(s.text, "%s alloc %" PRIu32 " %" PRId64, trie_name(),
			field->number ? annotation_of(field) : 0, field[1].number);
		print_trail(&here);
	} else if (function->parts[i].kind == DIRECT) {
		print_call(field->to->tag ? "foreign" : "direct", s.counts ? field[1].number : 0,
			function->parts[i].callee, &here);
		print_any(field, &here);
	} else {
		for (const struct object *c = field->to; c; c = c->fields[4].to) {
			print_call("indirect", c->fields[1].to ? c->fields[2].number : 0,
				(2 * (uint64_t)c->fields[0].number + 1) >> 2, &here);
			print_any(&c->fields[1], &here);
		}
	}
}

static void print_node(struct object *node, const struct trail *trail)
{
	struct node_parts *parts = node->about;
	if (parts->trie == s.trie)
		return;
	parts->trie = s.trie;
	fprintf(s.text, "%s node %" PRIx64, trie_name(), parts->function->address);
	print_trail(trail);
	print_node(node->fields[1].to, trail);
	for (unsigned i = 0; i < parts->function->count && parts->function->has_shape; i++)
		print_part(node, parts->function, i, trail);
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* The frames of a return address, which follow from it; some have none. */
static unsigned location_count(uint64_t pc)
{
	return pc % 7 == 3 ? 0 : 1 + (pc % 5 == 0);
}

static void print_frames(void)
{
	qsort(s.seen, s.seen_count, sizeof(*s.seen), compare_numbers);
	for (size_t i = 0; i < s.seen_count; i++) {
		uint64_t pc = s.seen[i];
		if (i && pc == s.seen[i - 1])
			continue;
		fprintf(s.text, "frame %" PRIx64 "%s", pc, location_count(pc) ? "" : " unknown");
		for (unsigned j = 0; j < location_count(pc); j++) {
			fprintf(s.text, "%s", j ? "; " : " ");
			if (pc % 11 == 0)
				fprintf(s.text, "none%s", pc % 2 ? " raise" : "");
			else
				fprintf(s.text, "file%u.ml:%" PRIu64 ":%" PRIu64 "-%" PRIu64 "%s",
					j, pc % 3000, pc % 80, pc % 1023, pc % 2 ? " raise" : "");
		}
		fprintf(s.text, "\n");
	}
	fprintf(s.text, "sum allocs %" PRIu64 " calls %" PRIu64 "\n", s.allocations, s.calls);
}

/* Or the one that there is. */
static struct field name_of_file(unsigned number)
{
	static const char *const files[] = {"file0.ml", "file1.ml"};
	if (!s.names[number] || !s.shares)
		s.names[number] = make_string(files[number], 8);
	return to_object(s.names[number]);
}

static struct field address_in_shapes(unsigned function, uint64_t address)
{
	if (address % 2 || !s.shares)
		return to_object(make_int64(address));
	if (!s.addresses[function])
		s.addresses[function] = make_int64(address);
	return to_object(s.addresses[function]);
}

static struct object *make_location(uint64_t pc, unsigned number)
{
	struct object *location;
	if (pc % 11 == 0) {
		location = make_object(OBJECT_BLOCK, 1, 1);
		location->fields[0] = int_field(pc % 2);
		return location;
	}
	location = make_object(OBJECT_BLOCK, 0, 5);
	location->fields[0] = int_field(pc % 2);
	location->fields[1] = name_of_file(number);
	location->fields[2] = int_field((int64_t)(pc % 3000));
	location->fields[3] = int_field((int64_t)(pc % 80));
	location->fields[4] = int_field((int64_t)(pc % 1023));
	return location;
}

static struct field make_frames(void)
{
	struct field list = int_field(0);
	for (unsigned i = 0; i < s.function_count; i++)
		for (unsigned j = 0; j < s.functions[i].count; j++) {
			uint64_t pc = s.functions[i].parts[j].pc;
			struct field slots = int_field(0);
			if (!location_count(pc))
				continue;
			for (unsigned k = 0; k < location_count(pc); k++)
				slots = to_object(
					make_pair(to_object(make_location(pc, k)), slots));
			list = to_object(make_pair(
				to_object(make_pair(to_object(make_int64(pc)), slots)), list));
		}
	return list;
}

static struct field make_shapes(void)
{
	struct field list = int_field(0);
	for (unsigned i = 0; i < s.function_count; i++) {
		const struct function *function = &s.functions[i];
		struct field parts = int_field(0);
		if (!function->has_shape)
			continue;
		for (unsigned j = function->count; j-- > 0;) {
			bool direct = function->parts[j].kind == DIRECT;
			struct object *part = make_object(
				OBJECT_BLOCK, (uint8_t)function->parts[j].kind, direct ? 2 : 1);
			part->fields[0] = to_object(make_int64(function->parts[j].pc));
			if (direct)
				part->fields[1] = address_in_shapes(
					function->parts[j].function, function->parts[j].callee);
			parts = to_object(make_pair(to_object(part), parts));
		}
		list = to_object(make_pair(
			to_object(make_pair(address_in_shapes(i, function->address), parts)),
			list));
	}
	return list;
}

static void encode_snapshot(struct encoded *to, unsigned number, bool fixed)
{
	struct object *snapshot = make_object(OBJECT_BLOCK, 0, 6),
		      *gc = make_object(OBJECT_BLOCK, 0, s.shares ? 10 : 9);
	uint64_t count = draw(20);
	struct object *entries = make_object(OBJECT_BLOCK, 0, 3 * count);
	double time = (double)draw(1000000) / 977;
	int64_t words = 0;
	fprintf(s.text, "snapshot %u %a gc", number, time);
	for (unsigned i = 0; i < 9; i++) {
		gc->fields[i] = int_field((int64_t)draw(UINT64_C(1) << (4 * i)));
		fprintf(s.text, " %" PRId64, gc->fields[i].number);
	}
	for (uint64_t i = 0; i < count; i++) {
		entries->fields[3 * i] = int_field((int64_t)(3 * i + 1));
		entries->fields[3 * i + 1] = int_field((int64_t)draw(1000));
		entries->fields[3 * i + 2] = int_field((int64_t)draw(UINT64_C(1) << 40));
		words += entries->fields[3 * i + 2].number;
	}
	fprintf(s.text, " scanned %" PRId64 " with %" PRId64 "\n", words + 7, words);
	for (uint64_t i = 0; i < count; i++)
		fprintf(s.text, "live %u %" PRId64 " %" PRId64 " %" PRId64 "\n", number,
			entries->fields[3 * i].number, entries->fields[3 * i + 1].number,
			entries->fields[3 * i + 2].number);
	struct field totals = int_field(0);
	for (int64_t i = (int64_t)draw(30); i > 0; i--) {
		struct object *total = make_object(OBJECT_BLOCK, 0, 3);
		total->fields[0] = int_field(i);
		total->fields[1] = int_field(1000 * i + number);
		total->fields[2] = totals;
		totals = to_object(total);
	}
	for (const struct object *t = totals.to; t; t = t->fields[2].to)
		fprintf(s.text, "total %u %" PRId64 " %" PRId64 "\n", number, t->fields[0].number,
			t->fields[1].number);
	snapshot->fields[0] = to_object(make_float(time));
	snapshot->fields[1] = to_object(gc);
	snapshot->fields[2] = to_object(entries);
	snapshot->fields[3] = int_field(words + 7);
	snapshot->fields[4] = int_field(words);
	snapshot->fields[5] = totals;
	encode_value(to, int_field(0), fixed);
	encode_value(to, to_object(snapshot), fixed);
}

/* Events stand between snapshots, but in the text before them. */
static void encode_event(struct encoded *to, bool fixed)
{
	static const char name[] = "caf\303\251 \"x\"\n\001\\",
			  quoted[] = "caf\\195\\169 \\\"x\\\"\\n\\001\\\\";
	fprintf(s.text, "event 0x1.8p+1 \"%s\"\n", quoted);
	encode_value(to, int_field(2), fixed);
	encode_value(to, to_object(make_string(name, sizeof(name) - 1)), fixed);
	encode_value(to, to_object(make_float(3)), fixed);
}

static void encode_tries(struct encoded *to, bool fixed)
{
	struct field tries[2];
	for (unsigned i = 0; i < 2; i++) {
		s.nodes = (unsigned)draw(i ? 20 : 400);
		tries[i] = draw(8) == 0   ? int_field(0)
			   : draw(2) == 0 ? to_object(make_c_nodes(0, false))
					  : to_object(make_node(&s.functions[0], 0));
	}
	encode_value(to, int_field(1), fixed);
	encode_value(to, tries[0], fixed);
	encode_value(to, tries[1], fixed);
	for (s.trie = 1; s.trie <= 2; s.trie++)
		if (tries[s.trie - 1].to)
			print_any(&tries[s.trie - 1], NULL);
		else
			fprintf(s.text, "%s no trie\n", trie_name());
}

/* All of a series; *end_of_snapshots is where what a killed program writes ends. */
static struct encoded encode_series(uint64_t seed, size_t *end_of_snapshots)
{
	struct encoded bytes = {0};
	random_state = seed;
	bool fixed = draw(2);
	s.counts = draw(3) > 0;
	s.holes = draw(2);
	s.shares = seed % 3 == 0;
	memset(s.names, 0, sizeof(s.names));
	memset(s.addresses, 0, sizeof(s.addresses));
	s.points = 0;
	s.last_point = NULL;
	s.allocations = s.calls = s.seen_count = 0;
	encode_mark(&bytes, s.counts);
	fprintf(s.text, "call counts %s\nclose 0x1.4p+3\n", s.counts ? "true" : "false");
	if (draw(2))
		encode_event(&bytes, fixed);
	for (unsigned i = 0; i < seed % 4; i++)
		encode_snapshot(&bytes, i, fixed);
	*end_of_snapshots = bytes.size;
	make_functions();
	encode_value(&bytes, int_field(1), fixed);
	encode_value(&bytes, to_object(make_float(10)), fixed);
	encode_value(&bytes, make_frames(), fixed);
	encode_value(&bytes, make_shapes(), fixed);
	fprintf(s.text, "threads 1\n");
	encode_tries(&bytes, fixed);
	print_frames();
	return bytes;
}

static bool keep_text(void *data, const char *bytes, size_t length)
{
	return fwrite(bytes, 1, length, data) == length;
}

/* The status of reading a file of these bytes; its text at *text. */
static enum hg_status dump_bytes(
	const uint8_t *bytes, size_t size, char **text, struct hg_trace_losses *losses)
{
	char path[] = "/tmp/heapgraph-series-XXXXXX";
	size_t length;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	close(fd);
	struct hg_session *session;
	struct hg_trace *trace;
	assert_int_equal(hg_session_open(NULL, &session), HG_OK);
	FILE *stream = open_memstream(text, &length);
	assert_non_null(stream);
	enum hg_status status = hg_trace_open(session, path, NULL, &trace);
	if (status == HG_OK) {
		const struct hg_spacetime_info *info;
		status = hg_dump_spacetime(trace, keep_text, stream);
		*losses = *hg_trace_last_losses(trace);
		if (status == HG_OK)
			assert_int_equal(hg_describe_spacetime(trace, &info), HG_OK);
		hg_trace_close(trace);
	}
	fclose(stream);
	hg_session_close(session);
	unlink(path);
	return status;
}

static void random_series_are_read_as_they_were_meant(void **state)
{
	(void)state;
	unsigned with_holes = 0;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		char *wanted, *text;
		size_t length, end_of_snapshots;
		struct hg_trace_losses losses;
		s.text = open_memstream(&wanted, &length);
		assert_non_null(s.text);
		struct encoded bytes = encode_series(seed, &end_of_snapshots);
		fclose(s.text);
		assert_int_equal(dump_bytes(bytes.bytes, bytes.size, &text, &losses), HG_OK);
		assert_null(losses.first);
		if (strcmp(text, wanted) != 0)
			fail_msg(
				"the series of seed %" PRIu64 " is not read as it was meant", seed);
		with_holes += s.holes;
		free(text);
		free(wanted);
		free(bytes.bytes);
		free_objects();
	}
	assert_true(with_holes > 40);
}

/* Cut anywhere: what is whole is kept, and what is missing is said. */
static void series_may_end_anywhere(void **state)
{
	(void)state;
	char *wanted, *text;
	size_t length, end_of_snapshots;
	struct hg_trace_losses losses;
	s.text = open_memstream(&wanted, &length);
	assert_non_null(s.text);
	struct encoded bytes = encode_series(7, &end_of_snapshots);
	fclose(s.text);
	for (size_t size = 0; size < bytes.size; size += 1 + size / 60) {
		enum hg_status status = dump_bytes(bytes.bytes, size, &text, &losses);
		if (size < 29) {
			assert_int_equal(status, HG_ERROR_INPUT);
		} else {
			assert_int_equal(status, HG_OK);
			assert_non_null(losses.first);
			unsigned snapshots = 0;
			for (const char *at = text; (at = strstr(at, "\nsnapshot ")); at++)
				snapshots++;
			if (size >= end_of_snapshots)
				assert_int_equal(snapshots, 3);
		}
		free(text);
	}
	free(wanted);
	free(bytes.bytes);
	free_objects();
}

/* Bytes that are others: whatever is read, it ends. */
static void damaged_series_end(void **state)
{
	(void)state;
	char *wanted, *text;
	size_t length, end_of_snapshots;
	unsigned refused = 0;
	struct hg_trace_losses losses;
	s.text = open_memstream(&wanted, &length);
	assert_non_null(s.text);
	struct encoded bytes = encode_series(11, &end_of_snapshots);
	fclose(s.text);
	for (unsigned i = 0; i < 1500; i++) {
		size_t at = 29 + draw(bytes.size - 29);
		uint8_t was = bytes.bytes[at];
		bytes.bytes[at] = (uint8_t)draw(256);
		enum hg_status status = dump_bytes(bytes.bytes, bytes.size, &text, &losses);
		assert_true(
			status == HG_OK || status == HG_ERROR_INPUT || status == HG_ERROR_LIMIT);
		refused += status != HG_OK || losses.first;
		bytes.bytes[at] = was;
		free(text);
	}
	assert_true(refused > 100);
	free(wanted);
	free(bytes.bytes);
	free_objects();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_series_are_read_as_they_were_meant),
		cmocka_unit_test(series_may_end_anywhere),
		cmocka_unit_test(damaged_series_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
