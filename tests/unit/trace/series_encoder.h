/*
 * Series of Spacetime with known content, for tests and benchmarks: a graph of objects is written
 * as OCaml's Marshal writes it, with sharing and pointers into the middle of blocks.  The writer
 * shares no code with the reader.
 */
#ifndef TESTS_SERIES_ENCODER_H
#define TESTS_SERIES_ENCODER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that grow. */
struct encoded {
	uint8_t *bytes;
	size_t size, room;
};

static inline void encode_bytes(struct encoded *to, const void *bytes, size_t size)
{
	if (size > to->room - to->size) {
		to->room = 2 * (to->room + size);
		to->bytes = realloc(to->bytes, to->room);
		if (!to->bytes)
			abort();
	}
	memcpy(to->bytes + to->size, bytes, size);
	to->size += size;
}

static inline void encode_be(struct encoded *to, uint64_t value, unsigned bytes)
{
	uint8_t text[8];
	for (unsigned i = 0; i < bytes; i++)
		text[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	encode_bytes(to, text, bytes);
}

enum object_kind { OBJECT_BLOCK, OBJECT_STRING, OBJECT_FLOAT, OBJECT_INT64 };

/* A field: an int, or a pointer, maybe 'into' words behind the beginning of its object. */
struct field {
	struct object *to;
	int64_t number;
	uint32_t into;
};

struct object {
	enum object_kind kind;
	uint8_t tag;
	uint64_t count; /* of fields, or bytes of a string */
	struct field *fields;
	const char *string;
	double real;
	int64_t number;
	uint64_t index;      /* + 1, in the value that is being written */
	void *about;         /* whatever the user of this wants */
	struct object *next; /* of all that were made */
};

static struct object *objects_made;

static inline struct object *make_object(enum object_kind kind, uint8_t tag, uint64_t count)
{
	struct object *object = calloc(1, sizeof(*object));
	if (!object)
		abort();
	*object = (struct object){.kind = kind, .tag = tag, .count = count, .next = objects_made};
	objects_made = object;
	if (kind == OBJECT_BLOCK && !(object->fields = calloc(count + 1, sizeof(struct field))))
		abort();
	return object;
}

static inline void free_objects(void)
{
	while (objects_made) {
		struct object *next = objects_made->next;
		free(objects_made->fields);
		free(objects_made);
		objects_made = next;
	}
}

static inline struct field int_field(int64_t number)
{
	return (struct field){.number = number};
}

static inline struct field to_object(struct object *object)
{
	return (struct field){.to = object};
}

static inline struct object *make_int64(uint64_t number)
{
	struct object *object = make_object(OBJECT_INT64, 0, 0);
	object->number = (int64_t)number;
	return object;
}

static inline struct object *make_float(double real)
{
	struct object *object = make_object(OBJECT_FLOAT, 0, 0);
	object->real = real;
	return object;
}

static inline struct object *make_string(const char *string, size_t length)
{
	struct object *object = make_object(OBJECT_STRING, 0, length);
	object->string = string;
	return object;
}

static inline struct object *make_pair(struct field first, struct field second)
{
	struct object *object = make_object(OBJECT_BLOCK, 0, 2);
	object->fields[0] = first;
	object->fields[1] = second;
	return object;
}

/* The value being written; fields that are still to be written are on a stack. */
struct value_writer {
	struct encoded data;
	uint64_t objects, words;
	bool fixed_custom;    /* as from 4.08 on */
	struct field **stack; /* next field of each block that is begun */
	uint64_t *left;
	size_t depth, room;
};

static inline void encode_int(struct encoded *to, int64_t number)
{
	if (number >= 0 && number < 64) {
		encode_be(to, 0x40 + (uint64_t)number, 1);
		return;
	}
	unsigned code = number == (int8_t)number    ? 0
			: number == (int16_t)number ? 1
			: number == (int32_t)number ? 2
						    : 3;
	encode_be(to, code, 1);
	encode_be(to, (uint64_t)number, 1u << code);
}

static inline void encode_reference(struct encoded *to, uint64_t back)
{
	unsigned code = back < 0x100 ? 0 : back < 0x10000 ? 1 : 2;
	encode_be(to, 4 + code, 1);
	encode_be(to, back, 1u << code);
}

static inline void push_fields(struct value_writer *w, struct object *object)
{
	if (w->depth == w->room) {
		w->room = 2 * (w->room + 32);
		w->stack = realloc(w->stack, w->room * sizeof(struct field *));
		w->left = realloc(w->left, w->room * sizeof(*w->left));
		if (!w->stack || !w->left)
			abort();
	}
	w->stack[w->depth] = object->fields;
	w->left[w->depth++] = object->count;
}

static inline void encode_new_block(struct value_writer *w, struct object *object)
{
	if (object->tag < 16 && object->count < 8) {
		encode_be(&w->data, 0x80 + object->tag + 16 * object->count, 1);
	} else {
		encode_be(&w->data, 0x08, 1);
		encode_be(&w->data, object->count << 10 | object->tag, 4);
	}
	w->words += object->count + 1;
	push_fields(w, object);
}

static inline void encode_new_object(struct value_writer *w, struct object *object)
{
	static const char custom[] = "_j";
	struct encoded *to = &w->data;
	uint64_t bits;
	object->index = ++w->objects;
	switch (object->kind) {
	case OBJECT_BLOCK:
		encode_new_block(w, object);
		return;
	case OBJECT_STRING:
		w->words += object->count / 8 + 2;
		if (object->count < 32) {
			encode_be(to, 0x20 + object->count, 1);
		} else {
			encode_be(to, object->count < 256 ? 0x09 : 0x0A, 1);
			encode_be(to, object->count, object->count < 256 ? 1 : 4);
		}
		encode_bytes(to, object->string, object->count);
		return;
	case OBJECT_FLOAT:
		w->words += 2;
		encode_be(to, 0x0C, 1);
		memcpy(&bits, &object->real, sizeof(bits));
		for (unsigned i = 0; i < 8; i++)
			encode_be(to, bits >> 8 * i & 0xFF, 1);
		return;
	case OBJECT_INT64:
		w->words += 3;
		encode_be(to, w->fixed_custom ? 0x19 : 0x12, 1);
		encode_bytes(to, custom, sizeof(custom));
		encode_be(to, (uint64_t)object->number, 8);
		return;
	}
}

static inline void encode_field(struct value_writer *w, struct field field)
{
	if (!field.to) {
		encode_int(&w->data, field.number);
		return;
	}
	if (field.into) {
		encode_be(&w->data, 0x11, 1);
		encode_be(&w->data, 8 * field.into, 4);
	}
	if (field.to->index)
		encode_reference(&w->data, w->objects + 1 - field.to->index);
	else if (field.to->kind == OBJECT_BLOCK && !field.to->count)
		encode_be(&w->data, 0x80 + field.to->tag, 1);
	else
		encode_new_object(w, field.to);
}

/* Appends a value with its header. */
static inline void encode_value(struct encoded *to, struct field root, bool fixed_custom)
{
	struct value_writer w = {.fixed_custom = fixed_custom};
	encode_field(&w, root);
	while (w.depth) {
		if (!w.left[w.depth - 1]) {
			w.depth--;
			continue;
		}
		w.left[w.depth - 1]--;
		encode_field(&w, *w.stack[w.depth - 1]++);
	}
	encode_be(to, 0x8495A6BE, 4);
	encode_be(to, w.data.size, 4);
	encode_be(to, w.objects, 4);
	encode_be(to, w.words, 4);
	encode_be(to, w.words, 4);
	encode_bytes(to, w.data.bytes, w.data.size);
	free(w.data.bytes);
	free(w.stack);
	free(w.left);
	for (struct object *object = objects_made; object; object = object->next)
		object->index = 0;
}

/* The first value of a series: always of nine bytes. */
static inline void encode_mark(struct encoded *to, bool call_counts)
{
	const uint64_t mark = (uint64_t)call_counts << 48 | 0xace00ace;
	encode_be(to, 0x8495A6BE, 4);
	encode_be(to, 9, 4);
	encode_be(to, 0, 4);
	encode_be(to, 0, 4);
	encode_be(to, 0, 4);
	encode_be(to, 3, 1);
	encode_be(to, mark, 8);
}

#endif
