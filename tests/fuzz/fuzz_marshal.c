/*
 * Marshalled values: reads all that the bytes hold, one behind the other, and asks every question
 * of every value in them.
 */
#include "tests/fuzz/fuzz.h"

#include "snapshot/marshal/marshal.h"

/* Fields looked at in one value: it may be cyclic, and one field may be asked for often. */
enum { MOST_VISITS = 20000, MOST_NUMBERS = 64 };

/* Whether it is a float or an array of them, all of which are there. */
static unsigned ask_numbers(
	const struct snap_marshal *m, struct snap_value value, int tag, uint32_t size)
{
	double number;
	bool has_numbers = tag == SNAP_TAG_DOUBLE || tag == SNAP_TAG_DOUBLE_ARRAY;
	uint32_t count = has_numbers ? size : 0;
	for (uint32_t i = 0; i < count && i < MOST_NUMBERS; i++)
		CHECK(snap_marshal_double(m, value, i, &number));
	CHECK(!count || snap_marshal_double(m, value, count - 1, &number));
	CHECK(!snap_marshal_double(m, value, count, &number));
	return has_numbers;
}

/* At most one of the kinds of value that exclude each other; returns the fields it has. */
static uint32_t ask(const struct snap_marshal *m, struct snap_value value)
{
	const uint8_t *bytes = NULL;
	uint32_t length = 0;
	int64_t number;
	char kind = '\0';
	unsigned kinds = 0;
	int tag = snap_marshal_tag(m, value);
	uint32_t size = snap_marshal_size(m, value);
	CHECK(!snap_value_absent(value));
	CHECK(snap_value_same(value, value));
	CHECK(tag >= -1 && tag <= SNAP_TAG_CUSTOM);
	CHECK(snap_marshal_is_int(m, value) == snap_marshal_int(m, value, &number));
	if (snap_marshal_int(m, value, &number)) {
		kinds++;
		CHECK(tag == -1 && size == 0);
		CHECK(number == (int64_t)((uint64_t)number << 1) >> 1);
	}
	if (snap_marshal_string(m, value, &bytes, &length)) {
		kinds++;
		CHECK(tag == SNAP_TAG_STRING && size == 0);
		CHECK(bytes >= m->data.next && length <= (size_t)(m->data.end - bytes));
	}
	if (snap_marshal_custom(m, value, &kind, &number)) {
		kinds++;
		CHECK(tag == SNAP_TAG_CUSTOM && size == 0);
		CHECK(kind == 'i' || kind == 'j' || kind == 'n');
	}
	kinds += ask_numbers(m, value, tag, size);
	CHECK(snap_value_absent(snap_marshal_field(m, value, size)));
	CHECK(snap_value_absent(snap_marshal_field(m, value, UINT64_MAX)));
	CHECK(kinds <= 1);
	return kinds ? 0 : size;
}

struct visit {
	struct snap_value value;
	uint32_t next; /* field */
};

/* Down along the first fields, then along the next ones: the stack is bounded by the visits. */
static void ask_all(const struct snap_marshal *m)
{
	struct visit *stack = malloc((MOST_VISITS + 1) * sizeof(*stack));
	size_t depth = 1;
	unsigned visits = 0;
	CHECK(stack);
	stack[0] = (struct visit){m->root, 0};
	ask(m, m->root);
	while (depth && visits < MOST_VISITS) {
		struct visit *top = &stack[depth - 1];
		struct snap_value field = snap_marshal_field(m, top->value, top->next++);
		if (snap_value_absent(field)) {
			depth--;
			continue;
		}
		visits++;
		if (ask(m, field))
			stack[depth++] = (struct visit){field, 0};
	}
	free(stack);
}

static void ask_nothing(const struct snap_marshal *m)
{
	struct snap_value absent = {0};
	int64_t number;
	CHECK(snap_marshal_tag(m, absent) == -1);
	CHECK(snap_marshal_size(m, absent) == 0);
	CHECK(!snap_marshal_int(m, absent, &number));
	CHECK(snap_value_absent(snap_marshal_field(m, absent, 0)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct base_cursor cursor = base_cursor_over(data, size);
	for (enum hg_status status = HG_OK; status == HG_OK;) {
		struct base_pool pool = {0};
		struct snap_marshal m;
		struct hg_error error;
		uint64_t offset = base_cursor_offset(&cursor);
		base_error_clear(&error);
		status = snap_marshal_read(&cursor, &pool, &m, &error);
		uint64_t end = base_cursor_offset(&cursor);
		if (status == HG_OK) {
			CHECK(end > offset && m.offset == offset && m.objects <= end - offset);
			CHECK(pool.bytes <= 24 * (end - offset) + 64);
			ask_nothing(&m);
			ask_all(&m);
		} else {
			CHECK(status == HG_ERROR_INPUT || status == HG_ERROR_LIMIT);
			CHECK(error.status == status && error.offset <= size);
			CHECK(end == offset);
			check_line(error.message, sizeof(error.message));
		}
		base_pool_release(&pool);
	}
	return 0;
}
