/* Which words were written by one copy, and by nothing else that was seen. */
#include "snapshot/arch/copies.h"

#include "base/bits.h"

#include <stdlib.h>
#include <string.h>

/* Of a word that is written: by which instructions. */
struct snap_writer {
	uint32_t writes;     /* that were seen */
	uint32_t first, end; /* in the function: what led to the last of them, and its end */
};

void snap_copies_forget(struct snap_copies *c)
{
	memset(c->registers, 0, sizeof(c->registers));
	c->has_table = false;
}

void snap_copies_target(struct snap_copies *c, uint64_t address)
{
	if (address - c->code.start >= c->code.end - c->code.start)
		return;
	base_bit_set(c->targets, address - c->code.start);
}

void snap_copies_write(struct snap_copies *c, const cs_insn *insn, const struct snap_content *to,
	const struct snap_content *what, uint64_t bytes)
{
	int64_t size = (int64_t)(c->to.end - c->to.start);
	int64_t at = (int64_t)(to->address - c->to.start);
	if (at >= size || at + (int64_t)bytes <= 0)
		return;
	uint64_t last = (uint64_t)(at + (int64_t)bytes - 1) / 8;
	uint64_t index = at < 0 ? 0 : (uint64_t)at / 8;
	bool is_copy = at >= 0 && at % 8 == 0 && bytes == 8 && what->kind == SNAP_CONTENT_WORD;
	struct snap_writer *writer = &c->writers[index];
	if (!is_copy) {
		for (uint64_t i = index; i < (uint64_t)size / 8 && i <= last; i++)
			c->writers[i].writes = UINT32_MAX;
		return;
	}
	uint64_t first = what->since < to->since ? what->since : to->since;
	if (writer->writes < UINT32_MAX)
		writer->writes++;
	writer->first = (uint32_t)(first - c->code.start);
	writer->end = (uint32_t)(insn->address + insn->size - c->code.start);
	c->sources[index] = what->address;
}

/* Compilers put the instructions of a copy side by side. */
enum { MOST_BYTES = 256 };

static bool is_straight(const struct snap_copies *c, const struct snap_writer *writer)
{
	if (writer->end - writer->first > MOST_BYTES)
		return false;
	for (uint32_t at = writer->first + 1; at < writer->end; at++)
		if (base_bit(c->targets, at))
			return false;
	return true;
}

/* Leaves the sources of words that one copy was seen of, into which no jump leads. */
static void keep_certain_sources(struct snap_copies *c, bool is_whole)
{
	for (uint64_t i = 0; i < (c->to.end - c->to.start) / 8; i++) {
		const struct snap_writer *writer = &c->writers[i];
		if (!is_whole || c->goes_astray || writer->writes != 1 || !is_straight(c, writer))
			c->sources[i] = 0;
	}
}

static enum hg_status follow_code(const struct snap_copies_code *how, struct snap_copies *c,
	const uint8_t *code, struct hg_error *error)
{
	uint64_t address = c->code.start;
	size_t left = (size_t)(c->code.end - c->code.start);
	struct snap_disassembler d;
	BASE_TRY(snap_disassembler_open(&d, how->arch, how->mode, error));
	while (left) {
		if (snap_disassembler_next(&d, &code, &left, &address)) {
			how->follow(c, d.insn);
			continue;
		}
		if (how->step == 0 || left < how->step)
			break;
		snap_copies_forget(c);
		code += how->step;
		left -= how->step;
		address += how->step;
	}
	keep_certain_sources(c, left == 0);
	snap_disassembler_close(&d);
	return HG_OK;
}

enum hg_status snap_copies_find(const struct snap_copies_code *how, const struct snap_image *image,
	struct snap_range code, struct snap_range to, uint64_t initialize, uint64_t *sources,
	struct hg_error *error)
{
	uint64_t words = (to.end - to.start) / 8, size = code.end - code.start;
	struct snap_copies c = {.image = image,
		.code = code,
		.to = to,
		.initialize = initialize,
		.sources = sources,
		.entries = size};
	size_t got;
	memset(sources, 0, words * sizeof(*sources));
	if (size == 0 || size >= UINT32_MAX || words == 0)
		return HG_OK;
	/* Code lies in one piece of a file; what is shorter is not all there. */
	const uint8_t *bytes = snap_image_at(image, code.start, (size_t)size, &got);
	if (got < size)
		return HG_OK;
	c.writers = calloc(words, sizeof(*c.writers));
	c.targets = calloc(base_bit_words(size), sizeof(*c.targets));
	enum hg_status status = c.writers && c.targets
					? follow_code(how, &c, bytes, error)
					: base_no_memory(error, words * sizeof(*c.writers));
	free(c.writers);
	free(c.targets);
	return status;
}
