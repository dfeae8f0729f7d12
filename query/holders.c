/* Holders: the rows below all roots that retain much, and where what they hold is gathered. */
#include "query/retention/view.h"

#include "base/assert.h"
#include "query/shared/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOLDER_SHARE = 10, GATHERED_TENTHS = 7, FEW_BLOCKS = 10 };

/*
 * Rows follow their parent, the heaviest child first.  Where blocks become many, as the cells of a
 * list do, is where it is gathered: what each of them holds says no more about that.
 */
static uint32_t find_accumulation(const struct hg_retention *r, uint32_t row)
{
	while (r->rows[row].children && r->rows[row].blocks <= FEW_BLOCKS &&
		10 * r->rows[row + 1].weight >= GATHERED_TENTHS * r->rows[row].weight)
		row++;
	return row;
}

/* Puts a class among those with most bytes, if it is one of them; 'row' is the first of it. */
static void add_part(struct hg_holder *holder, uint32_t row, uint64_t own)
{
	uint32_t at = holder->part_count;
	while (at > 0 && holder->part_bytes[at - 1] < own)
		at--;
	if (at == HG_HOLDER_PARTS)
		return;
	if (holder->part_count < HG_HOLDER_PARTS)
		holder->part_count++;
	for (uint32_t i = holder->part_count - 1; i > at; i--) {
		holder->parts[i] = holder->parts[i - 1];
		holder->part_bytes[i] = holder->part_bytes[i - 1];
	}
	holder->parts[at] = row;
	holder->part_bytes[at] = own;
}

/* The classes of a subtree with most bytes of their own; 'bytes' has a zero for each class. */
static void find_parts(const struct hg_retention *r, struct hg_holder *holder, uint64_t *bytes)
{
	uint32_t end = query_retention_end(r, holder->accumulation);
	for (uint32_t row = holder->accumulation; row < end; row++)
		bytes[query_class_of_row(r, row)] += base_weigh(r->snapshot->session->weight,
			r->rows[row].bytes, r->rows[row].offheap_bytes);
	for (uint32_t row = holder->accumulation; row < end; row++) {
		uint64_t *own = &bytes[query_class_of_row(r, row)];
		if (*own)
			add_part(holder, row, *own);
		*own = 0;
	}
}

/* A tenth each: there are at most ten, in the order of the rows. */
static uint32_t find_holders(const struct hg_retention *r, uint64_t threshold,
	struct hg_holder *holders, uint64_t *bytes)
{
	uint32_t count = 0;
	for (uint32_t row = 1; row < r->tree.count; row++) {
		if (r->rows[row].depth != 1 || r->rows[row].weight < threshold)
			continue;
		base_assert(count < HOLDER_SHARE);
		holders[count] = (struct hg_holder){.row = row,
			.accumulation = find_accumulation(r, row),
			.retained_bytes = r->rows[row].retained_bytes,
			.retained_offheap_bytes = r->rows[row].retained_offheap_bytes};
		find_parts(r, &holders[count++], bytes);
	}
	return count;
}

static enum hg_status list_holders(struct hg_retention *r, struct hg_holders *out)
{
	uint64_t total = r->rows[0].weight, *bytes;
	struct hg_holder *holders;
	out->threshold = total / HOLDER_SHARE + (total % HOLDER_SHARE != 0);
	BASE_TRY(query_alloc(r->snapshot, r->tree.classes.count, sizeof(*bytes), (void **)&bytes));
	enum hg_status status =
		query_alloc(r->snapshot, HOLDER_SHARE, sizeof(*holders), (void **)&holders);
	if (status == HG_OK && total)
		out->count = find_holders(r, out->threshold, holders, bytes);
	free(bytes);
	BASE_TRY(status);
	return query_keep_rows(r->snapshot, out, holders, out->count, sizeof(*holders), &out->rows);
}

enum hg_status hg_list_holders(struct hg_retention *retention, struct hg_holders **out)
{
	BASE_TRY(query_retention_answer(retention, out, sizeof(**out)));
	enum hg_status status = list_holders(retention, *out);
	if (status != HG_OK)
		query_free(out);
	return status;
}

void hg_holders_release(struct hg_holders **holders)
{
	query_free(holders);
}

/* Of arrays the index says nothing: "[12]" becomes "[]". */
static void forget_index(char *field)
{
	size_t length = strlen(field);
	if (length > 2 && field[0] == '[' && strspn(field + 1, "0123456789") == length - 2)
		memcpy(field, "[]", sizeof("[]"));
}

size_t hg_retention_field(
	const struct hg_retention *retention, size_t row, char *buffer, size_t size)
{
	char field[1024] = "";
	size = query_room(buffer, size);
	const struct hg_retention_row *at = hg_retention_at(retention, row);
	if (at && at->depth > 1 && at->largest != HG_NO_NODE && !at->is_root) {
		struct hg_snapshot *snapshot = retention->snapshot;
		struct hg_block block;
		query_block(snapshot, at->largest, &block);
		uint64_t number = block.idom == HG_NO_NODE
					  ? HG_UNKNOWN
					  : query_field_to(snapshot, block.idom, at->largest);
		if (number != HG_UNKNOWN)
			hg_field_name(snapshot, block.idom, number, field, sizeof(field));
		forget_index(field);
	}
	int length = snprintf(buffer, size, "%s", field);
	return length < 0 ? 0 : (size_t)length;
}

/* A character that an expression would not take as itself. */
static bool is_special(char c)
{
	return c && strchr(".[]{}()\\*+?|^$", c);
}

size_t hg_retention_pattern(
	const struct hg_retention *retention, size_t row, char *buffer, size_t size)
{
	const struct hg_retention_row *at = hg_retention_at(retention, row);
	size = query_room(buffer, size);
	if (size)
		buffer[0] = '\0';
	if (!at || at->depth != 1 || (!at->is_root && !at->type))
		return 0;
	size_t length = (size_t)snprintf(buffer, size, at->is_root ? "root:^" : "type:^");
	for (const char *c = at->name; *c; c++) {
		char part[3] = {'\\', *c, '\0'};
		char *rest = length < size ? buffer + length : NULL;
		length += (size_t)snprintf(
			rest, rest ? size - length : 0, "%s", is_special(*c) ? part : part + 1);
	}
	/* Slots of one name have their numbers after it. */
	bool open = at->is_root && at->kind != HG_ROOT_GLOBAL;
	char *rest = length < size ? buffer + length : NULL;
	length += (size_t)snprintf(rest, rest ? size - length : 0, open ? "(\\[[0-9]+\\])?$" : "$");
	return length;
}
