/* Where bytecode is from: section DBUG of programs linked with -g. */
#include "snapshot/bytecode/program.h"

#include "base/grow.h"

#include <stdlib.h>

static bool event_text(
	const struct snap_marshal *m, struct snap_value value, struct snap_bytecode_text *out)
{
	return snap_marshal_string(m, value, &out->bytes, &out->length);
}

/* Lexing.position: its line, the offset of that line, the offset. */
static bool read_place(const struct snap_marshal *m, struct snap_value place, int64_t *line,
	int64_t *bol, int64_t *at)
{
	return snap_marshal_int(m, snap_marshal_field(m, place, 1), line) &&
	       snap_marshal_int(m, snap_marshal_field(m, place, 2), bol) &&
	       snap_marshal_int(m, snap_marshal_field(m, place, 3), at);
}

static uint32_t column_of(int64_t at, int64_t line)
{
	uint64_t column = (uint64_t)at - (uint64_t)line;
	return column > INT32_MAX ? 0 : (uint32_t)column;
}

/* Variables */

/* Ident.t: Local of {name; stamp} or Scoped of {name; stamp; scope}; others are no variables. */
static bool read_variable(const struct snap_marshal *m, struct snap_value ident,
	struct snap_value place, struct snap_bytecode_variable *out)
{
	int64_t stamp, number;
	int tag = snap_marshal_tag(m, ident);
	*out = (struct snap_bytecode_variable){0};
	if ((tag != 0 && tag != 1) || !event_text(m, snap_marshal_field(m, ident, 0), &out->name) ||
		!snap_marshal_int(m, snap_marshal_field(m, ident, 1), &stamp) ||
		!snap_marshal_int(m, place, &number) || stamp < 0 || stamp > INT32_MAX ||
		number < 0 || number > INT32_MAX)
		return false;
	out->stamp = (uint32_t)stamp;
	out->place = (uint32_t)number;
	return true;
}

/* closure_entry of 5.2: Free_variable of int, or Function of int; before that an integer. */
static struct snap_value place_of_entry(const struct snap_marshal *m, struct snap_value entry)
{
	if (!snap_value_is_block(entry))
		return entry;
	return snap_marshal_tag(m, entry) == 0 ? snap_marshal_field(m, entry, 0)
					       : (struct snap_value){0};
}

/*
 * The data of {ident; data; previous}, or of {ident; name; stamp; data; previous} from 5.5 on
 * (typing/ident.ml).
 */
static struct snap_value data_of_variable(const struct snap_marshal *m, struct snap_value variable)
{
	enum { FIELDS_SINCE_5_5 = 5 };
	return snap_marshal_field(
		m, variable, snap_marshal_size(m, variable) == FIELDS_SINCE_5_5 ? 3 : 1);
}

/*
 * Ident.tbl: Empty, or Node of {left; variable; right; height}.  What contradicts it is left out:
 * the values may be cyclic, and tables shared, so that the walk has a budget.
 */
static enum hg_status add_variables(const struct snap_marshal *m, struct snap_value node,
	uint64_t *budget, struct snap_bytecode_variables *variables, struct hg_error *error)
{
	enum { MOST_DEPTH = 64, NODE_FIELDS = 4, LEFT = 0, VARIABLE = 1, RIGHT = 2 };
	struct snap_value waiting[MOST_DEPTH];
	struct snap_bytecode_variable variable;
	unsigned depth = 0;
	for (; *budget > 0; --*budget) {
		while (!snap_value_is_block(node) && depth > 0)
			node = waiting[--depth];
		if (snap_marshal_size(m, node) != NODE_FIELDS || depth == MOST_DEPTH)
			break;
		struct snap_value named = snap_marshal_field(m, node, VARIABLE);
		struct snap_value entry = data_of_variable(m, named);
		if (read_variable(m, snap_marshal_field(m, named, 0), place_of_entry(m, entry),
			    &variable)) {
			BASE_TRY(base_grow(&variables->items, variables->count,
				&variables->capacity, sizeof(*variables->items), error));
			variables->items[variables->count++] = variable;
		}
		waiting[depth++] = snap_marshal_field(m, node, RIGHT);
		node = snap_marshal_field(m, node, LEFT);
	}
	return HG_OK;
}

/* Events */

enum { POSITION, MODULE, PLACE, KIND, DEFINITION, INFO, TYPES, SUBSTITUTION, VARIABLES };

/*
 * compilation_env: {stack; heap; functions} up to 5.1, where places are counted from the function,
 * and {stack; Not_in_closure, or In_closure of {entries; place of the function}} from 5.2 on, where
 * they are counted from the first one's.
 */
static struct snap_value captured_of(const struct snap_marshal *m, struct snap_value event)
{
	struct snap_value variables = snap_marshal_field(m, event, VARIABLES);
	struct snap_value heap = snap_marshal_field(m, variables, 1);
	return snap_marshal_size(m, variables) == 3 ? heap : snap_marshal_field(m, heap, 0);
}

/* False if it is no event; one without a place in the source has line 0. */
static bool read_event(const struct snap_marshal *m, struct snap_value event, uint64_t origin,
	struct snap_bytecode_event *out)
{
	struct snap_value place = snap_marshal_field(m, event, PLACE);
	struct snap_value start = snap_marshal_field(m, place, 0);
	int64_t position, line, bol, at, end_line, end_bol, end;
	*out = (struct snap_bytecode_event){0};
	if (!snap_marshal_int(m, snap_marshal_field(m, event, POSITION), &position) ||
		position < 0 || (uint64_t)position > UINT32_MAX - origin ||
		!event_text(m, snap_marshal_field(m, event, MODULE), &out->unit) ||
		!read_place(m, start, &line, &bol, &at) ||
		!read_place(m, snap_marshal_field(m, place, 1), &end_line, &end_bol, &end))
		return false;
	out->position = (uint32_t)(origin + (uint64_t)position);
	out->is_function = snap_value_is_zero(snap_marshal_field(m, event, INFO));
	(void)event_text(m, snap_marshal_field(m, event, DEFINITION), &out->function);
	if (line > 0 && line <= INT32_MAX &&
		event_text(m, snap_marshal_field(m, start, 0), &out->file)) {
		out->line = (uint32_t)line;
		out->start = column_of(at, bol);
		out->end = column_of(end, bol);
	}
	return true;
}

/* The events of one unit: a list, and then one of folders. */
static enum hg_status read_unit_events(struct base_cursor *c, uint64_t origin,
	struct base_pool *pool, struct snap_bytecode_events *events, struct hg_error *error)
{
	struct snap_marshal m;
	struct snap_bytecode_event event;
	BASE_TRY(snap_marshal_read(c, pool, &m, error));
	struct snap_value list = m.root;
	uint32_t left = m.objects;
	/* Each has tables of its own. */
	uint64_t budget = 2 * (uint64_t)m.objects;
	for (; snap_marshal_size(&m, list) == 2 && left > 0; left--) {
		if (!read_event(&m, snap_marshal_field(&m, list, 0), origin, &event))
			return base_corrupt(error, m.offset, "has damaged debug information");
		event.first_captured = events->captured.count;
		if (event.is_function)
			BASE_TRY(add_variables(&m, captured_of(&m, snap_marshal_field(&m, list, 0)),
				&budget, &events->captured, error));
		event.captured_count = (uint32_t)(events->captured.count - event.first_captured);
		BASE_TRY(base_grow(&events->items, events->count, &events->capacity,
			sizeof(*events->items), error));
		events->items[events->count++] = event;
		list = snap_marshal_field(&m, list, 1);
	}
	if (!snap_value_is_zero(list))
		return base_corrupt(error, m.offset, "has damaged debug information");
	return snap_marshal_skip(c, error);
}

static int events_by_position(const void *a, const void *b)
{
	const struct snap_bytecode_event *x = a, *y = b;
	if (x->position != y->position)
		return x->position < y->position ? -1 : 1;
	/* Of several at one place, that of a function says most. */
	if (x->is_function != y->is_function)
		return x->is_function ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

enum hg_status snap_bytecode_read_events(
	struct base_cursor section, struct snap_bytecode_events *events, struct hg_error *error)
{
	struct base_cursor c = section;
	uint64_t count, origin;
	*events = (struct snap_bytecode_events){0};
	if (!base_cursor_be(&c, 4, &count))
		return base_corrupt(error, base_cursor_offset(&c), "has no debug information");
	for (uint64_t i = 0; i < count; i++) {
		/* Of a unit's events most is types, which are not kept. */
		struct base_pool pool = {0};
		if (!base_cursor_be(&c, 4, &origin))
			return base_corrupt(
				error, base_cursor_offset(&c), "has debug information that is cut");
		enum hg_status status = read_unit_events(&c, origin, &pool, events, error);
		base_pool_release(&pool);
		BASE_TRY(status);
	}
	if (events->count)
		qsort(events->items, events->count, sizeof(*events->items), events_by_position);
	return HG_OK;
}

/* The variables on the stack, of the unit's event at a position. */
static enum hg_status read_unit_frame(struct base_cursor *c, uint64_t origin, uint32_t position,
	struct snap_bytecode_variables *variables, struct hg_error *error)
{
	struct base_pool pool = {0};
	struct snap_marshal m;
	struct snap_bytecode_event event;
	enum hg_status status = snap_marshal_read(c, &pool, &m, error);
	struct snap_value list = status == HG_OK ? m.root : (struct snap_value){0};
	for (uint32_t left = status == HG_OK ? m.objects : 0; left > 0; left--) {
		struct snap_value first = snap_marshal_field(&m, list, 0);
		if (!read_event(&m, first, origin, &event))
			break;
		if (event.position == position) {
			struct snap_value all = snap_marshal_field(&m, first, VARIABLES);
			uint64_t budget = m.objects;
			status = add_variables(
				&m, snap_marshal_field(&m, all, 0), &budget, variables, error);
			break;
		}
		list = snap_marshal_field(&m, list, 1);
	}
	base_pool_release(&pool);
	return status;
}

enum hg_status snap_bytecode_read_frame(struct base_cursor section, uint32_t position,
	struct snap_bytecode_variables *variables, struct hg_error *error)
{
	struct base_cursor c = section, unit = {0};
	uint64_t count, origin, best = 0;
	*variables = (struct snap_bytecode_variables){0};
	if (!base_cursor_be(&c, 4, &count))
		return base_corrupt(error, base_cursor_offset(&c), "has no debug information");
	for (uint64_t i = 0; i < count; i++) {
		if (!base_cursor_be(&c, 4, &origin))
			return base_corrupt(
				error, base_cursor_offset(&c), "has debug information that is cut");
		if (origin <= position && (!unit.next || origin >= best)) {
			unit = c;
			best = origin;
		}
		/* The events, and folders. */
		BASE_TRY(snap_marshal_skip(&c, error));
		BASE_TRY(snap_marshal_skip(&c, error));
	}
	return unit.next ? read_unit_frame(&unit, best, position, variables, error) : HG_OK;
}
