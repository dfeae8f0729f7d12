/* Dynamic programming over parts and the width of the gaps before them, from the last part on. */
#include "trace/spacetime/fit.h"

#include <stdlib.h>

/* Of all nodes: a second. */
#define MOST_WORK (UINT64_C(1) << 26)
enum { MOST_CHOICES = 1 << 22, NODE_HEAD = 2, IMPOSSIBLE = INT32_MAX };

struct fit {
	const struct spacetime_tables *tables;
	const struct snap_sparse *trie;
	struct snap_field *fields; /* of the node */
	const struct spacetime_part *parts;
	uint32_t count, size, hole;
	struct fit_choice {
		int32_t gaps;  /* fewest from this part on */
		uint32_t more; /* of the gap before it */
	} * choices;           /* by part, and the width of all gaps before */
	uint32_t *starts;      /* of parts without gaps */
	uint64_t *work;
};

static bool field_as_int(const struct fit *fit, uint32_t at, int64_t *number)
{
	*number = fit->fields[at].number;
	return fit->fields[at].kind == SNAP_FIELD_INT;
}

/* Whether a field is a used allocation point, which names its own place. */
static bool is_anchor(const struct fit *fit, uint32_t at)
{
	int64_t number;
	if (at + 2 >= fit->size || !field_as_int(fit, at, &number))
		return false;
	uint64_t word = spacetime_word(number);
	return (word & 1023) == 0x3F9 && (word >> 10 & 0xfffffff) == (uint64_t)at + 1;
}

/* 0, or a pointer that is none any more. */
static bool is_empty_int(int64_t number)
{
	return number == 0 || number >> 20 != 0;
}

static bool is_dead(const struct fit *fit, uint32_t at)
{
	int64_t number;
	return field_as_int(fit, at, &number) && is_empty_int(number) && !is_anchor(fit, at);
}

static bool is_zero(const struct fit *fit, uint32_t at)
{
	int64_t number;
	return field_as_int(fit, at, &number) && number == 0;
}

/* What a field leads to; of nothing the tag is -1. */
static struct snap_object object_in(const struct fit *fit, uint32_t at)
{
	const struct snap_field *field = &fit->fields[at];
	return field->kind == SNAP_FIELD_OBJECT ? snap_sparse_object(fit->trie, field->object)
						: (struct snap_object){.tag = -1};
}

static bool fits_direct_call(const struct fit *fit, const struct spacetime_part *part, uint32_t at)
{
	int64_t number;
	if (fit->tables->call_counts &&
		!(field_as_int(fit, at + 1, &number) && number >= 0 && number >> 48 == 0))
		return false;
	if (field_as_int(fit, at, &number))
		return is_empty_int(number);
	struct snap_object callee = object_in(fit, at);
	uint64_t shape;
	if (callee.tag == 1) /* in C, which has no shapes */
		return !base_map_get(&fit->tables->shape_of, part->callee, &shape);
	if (!callee.fields.size)
		return false;
	const struct snap_field address = snap_sparse_next(fit->trie, &callee.fields);
	return address.kind == SNAP_FIELD_INT &&
	       (spacetime_word(address.number) & ~UINT64_C(1)) == part->callee;
}

static bool fits_part(const struct fit *fit, const struct spacetime_part *part, uint32_t at)
{
	if (part->kind == SPACETIME_ALLOCATION)
		return is_anchor(fit, at) ||
		       (is_zero(fit, at) && is_zero(fit, at + 1) && is_zero(fit, at + 2));
	if (is_anchor(fit, at))
		return false;
	if (part->kind == SPACETIME_DIRECT)
		return fits_direct_call(fit, part, at);
	return is_zero(fit, at) || object_in(fit, at).tag == 1;
}

static struct fit_choice *choice_at(const struct fit *fit, uint32_t part, uint32_t gap)
{
	return &fit->choices[(uint64_t)part * (fit->hole + 1) + gap];
}

/* Behind the last part all fields are dead: by the width of the gaps before, the widest first. */
static void end_parts(const struct fit *fit)
{
	bool dead = true;
	for (uint32_t gap = fit->hole + 1; gap-- > 0;) {
		dead = dead && (gap == fit->hole || is_dead(fit, fit->starts[fit->count] + gap));
		choice_at(fit, fit->count, gap)->gaps = dead ? gap < fit->hole : IMPOSSIBLE;
	}
}

static struct fit_choice best_gap(const struct fit *fit, uint32_t i, uint32_t gap)
{
	struct fit_choice best = {IMPOSSIBLE, 0};
	uint32_t at = fit->starts[i] + gap;
	uint32_t words = spacetime_part_words(fit->tables, &fit->parts[i]);
	for (uint32_t more = 0; more <= fit->hole - gap; more++) {
		if (++*fit->work > MOST_WORK || (more && !is_dead(fit, at + more - 1)))
			break;
		int32_t rest = choice_at(fit, i + 1, gap + more)->gaps;
		if (rest == IMPOSSIBLE || at + more + words > fit->size ||
			rest + (more > 0) >= best.gaps ||
			!fits_part(fit, &fit->parts[i], at + more))
			continue;
		best = (struct fit_choice){rest + (more > 0), more};
	}
	return best;
}

static bool choose_gaps(const struct fit *fit, uint32_t *places)
{
	end_parts(fit);
	for (uint32_t i = fit->count; i-- > 0;)
		for (uint32_t gap = 0; gap <= fit->hole; gap++)
			*choice_at(fit, i, gap) = best_gap(fit, i, gap);
	if (*fit->work > MOST_WORK || choice_at(fit, 0, 0)->gaps == IMPOSSIBLE)
		return false;
	for (uint32_t i = 0, gap = 0; i < fit->count; i++) {
		gap += choice_at(fit, i, gap)->more;
		places[i] = fit->starts[i] + gap;
	}
	return true;
}

static void read_fields_of_node(const struct fit *fit, const struct snap_object *node)
{
	struct snap_fields fields = node->fields;
	for (uint32_t i = 0; i < fit->size; i++)
		fit->fields[i] = snap_sparse_field(fit->trie, &fields, i);
}

bool spacetime_fit(const struct spacetime_tables *tables, const struct snap_sparse *trie,
	const struct snap_object *node, const struct spacetime_shape *shape, uint64_t *work,
	uint32_t *places)
{
	struct fit fit = {.tables = tables,
		.trie = trie,
		.parts = tables->parts + shape->first,
		.count = shape->count,
		.size = node->fields.size,
		.work = work};
	const uint64_t need = NODE_HEAD + shape->words;
	if (need > fit.size || *work > MOST_WORK ||
		(fit.size - need + 1) * (fit.count + UINT64_C(1)) > MOST_CHOICES)
		return false;
	fit.hole = fit.size - (uint32_t)need;
	fit.choices =
		calloc((fit.hole + UINT64_C(1)) * (fit.count + UINT64_C(1)), sizeof(*fit.choices));
	fit.starts = calloc(fit.count + UINT64_C(1), sizeof(*fit.starts));
	fit.fields = calloc(fit.size, sizeof(*fit.fields));
	bool fits = fit.choices && fit.starts && fit.fields;
	if (fits) {
		read_fields_of_node(&fit, node);
		fit.starts[0] = NODE_HEAD;
		for (uint32_t i = 0; i < fit.count; i++)
			fit.starts[i + 1] =
				fit.starts[i] + spacetime_part_words(tables, &fit.parts[i]);
		fits = choose_gaps(&fit, places);
	}
	free(fit.choices);
	free(fit.starts);
	free(fit.fields);
	return fits;
}
