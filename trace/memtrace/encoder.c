/* Encoding of backtraces. */
#include "trace/memtrace/encoder.h"

#include "base/grow.h"

#include <string.h>

enum { TAG_HIT = 0, TAG_ONE = 1, TAG_MANY = 2, TAG_MISS = 3, MOST_PREDICTED = 255 };
enum { WORD_BYTES = 2, COUNT_BYTES = 1, CODE_BYTES = 8 };

void memtrace_encoder_release(struct memtrace_encoder *encoder)
{
	free(encoder->last);
	base_map_release(&encoder->slot_of);
	encoder->last = NULL;
}

static uint64_t count_common(
	const struct memtrace_encoder *encoder, const uint64_t *codes, uint64_t depth)
{
	uint64_t most = depth < encoder->depth ? depth : encoder->depth, common = 0;
	while (common < most && encoder->last[common] == codes[common])
		common++;
	return common;
}

/* Room in front of a word's bytes. */
struct code_output {
	uint8_t *bytes;
	unsigned length, words;
};

static void put_word(struct code_output *out, unsigned slot, unsigned tag)
{
	unsigned word = slot << 2 | tag;
	out->bytes[out->length++] = (uint8_t)word;
	out->bytes[out->length++] = (uint8_t)(word >> 8);
	out->words++;
}

/* A frame whose code is in a slot, and those behind it that its slots predict; how many in all. */
static uint64_t put_hit(struct memtrace_encoder *encoder, struct code_output *out, unsigned slot,
	unsigned *previous, const uint64_t *codes, uint64_t left)
{
	uint64_t predicted = 0;
	encoder->slots[*previous].next = (uint16_t)slot;
	*previous = slot;
	while (predicted < MOST_PREDICTED && predicted + 1 < left) {
		unsigned next = encoder->slots[*previous].next;
		if (encoder->slots[next].code != codes[predicted + 1])
			break;
		*previous = next;
		predicted++;
	}
	put_word(out, slot, predicted > 1 ? TAG_MANY : (unsigned)predicted);
	if (predicted > 1)
		out->bytes[out->length++] = (uint8_t)predicted;
	return predicted + 1;
}

static enum hg_status put_miss(struct memtrace_encoder *encoder, struct code_output *out,
	unsigned *previous, uint64_t code, struct hg_error *error)
{
	unsigned slot = encoder->victim;
	encoder->victim = (uint16_t)((slot + 1) % MEMTRACE_SLOTS);
	encoder->slots[*previous].next = (uint16_t)slot;
	encoder->slots[slot].code = code;
	*previous = slot;
	put_word(out, slot, TAG_MISS);
	for (unsigned i = 0; i < CODE_BYTES; i++)
		out->bytes[out->length++] = (uint8_t)(code >> 8 * i);
	return base_map_set(&encoder->slot_of, code, slot, error);
}

static enum hg_status keep_backtrace(struct memtrace_encoder *encoder, const uint64_t *codes,
	uint64_t depth, uint64_t common, struct hg_error *error)
{
	BASE_TRY(base_grow_by(
		&encoder->last, 0, depth, &encoder->capacity, sizeof(*encoder->last), error));
	if (depth > common)
		memcpy(encoder->last + common, codes + common,
			(depth - common) * sizeof(*encoder->last));
	encoder->depth = depth;
	return HG_OK;
}

enum hg_status memtrace_encode(struct memtrace_encoder *encoder, const uint64_t *codes,
	uint64_t depth, uint64_t *common, uint8_t *bytes, unsigned *length, unsigned *words,
	memtrace_new_code_fn *is_new, void *data, struct hg_error *error)
{
	struct code_output out = {.bytes = bytes};
	unsigned previous = 0;
	uint64_t slot;
	*common = count_common(encoder, codes, depth);
	for (uint64_t i = *common; i < depth;) {
		if (out.length + WORD_BYTES + CODE_BYTES > MEMTRACE_MOST_CODE)
			break;
		if (base_map_get(&encoder->slot_of, codes[i], &slot) &&
			encoder->slots[slot].code == codes[i]) {
			i += put_hit(
				encoder, &out, (unsigned)slot, &previous, codes + i, depth - i);
			continue;
		}
		BASE_TRY(is_new(data, codes[i], error));
		BASE_TRY(put_miss(encoder, &out, &previous, codes[i], error));
		i++;
	}
	*length = out.length;
	*words = out.words;
	return keep_backtrace(encoder, codes, depth, *common, error);
}
