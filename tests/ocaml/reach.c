/*
 * reach CORE BLOCKS RESERVED-BITS STATIC ADDRESS... - words reachable from each address, one number
 * a line, counted as Obj.reachable_words counts: a block is its fields and its header, once.
 *
 * BLOCKS has a line "0xADDRESS WORDS SEGMENT" for every block, by address, as heapgraph lists them;
 * everything else is read from the memory in the ELF core file by itself, with nothing of the
 * library.  STATIC is 1 when static blocks count and are followed (OCaml 5), else 0.
 *
 * Fails when a header in memory and the list disagree about the size of a block.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TAG_CLOSURE = 247, TAG_INFIX = 249, TAG_NO_SCAN = 251 };

struct piece {
	uint64_t start, end; /* addresses */
	const uint8_t *bytes;
};

struct block {
	uint64_t address, words;
	bool is_static;
	bool visited;
};

struct heap {
	struct piece *pieces;
	size_t pieces_count;
	struct block *blocks;
	size_t blocks_count;
	unsigned reserved_bits;
	bool counts_static;
	size_t *stack; /* room for every block */
	uint64_t atoms[256];
	size_t atoms_count;
};

static void die(const char *what, uint64_t address)
{
	fprintf(stderr, "reach: %s (0x%" PRIx64 ")\n", what, address);
	exit(1);
}

static void *room_for(size_t count, size_t size)
{
	void *room = calloc(count + 1, size);
	if (!room)
		die("no memory", count);
	return room;
}

static void open_core(struct heap *heap, const char *path)
{
	struct stat about;
	int file = open(path, O_RDONLY);
	if (file < 0 || fstat(file, &about) != 0)
		die(strerror(errno), 0);
	const uint8_t *bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (bytes == MAP_FAILED)
		die(strerror(errno), 0);
	const Elf64_Ehdr *elf = (const void *)bytes;
	const Elf64_Phdr *segment = (const void *)(bytes + elf->e_phoff);
	heap->pieces = room_for(elf->e_phnum, sizeof(*heap->pieces));
	for (unsigned i = 0; i < elf->e_phnum; i++, segment++) {
		if (segment->p_type != PT_LOAD || segment->p_filesz == 0)
			continue;
		if (segment->p_offset + segment->p_filesz > (uint64_t)about.st_size)
			die("the core is cut short", segment->p_vaddr);
		heap->pieces[heap->pieces_count++] = (struct piece){segment->p_vaddr,
			segment->p_vaddr + segment->p_filesz, bytes + segment->p_offset};
	}
}

static bool read_word(const struct heap *heap, uint64_t address, uint64_t *word)
{
	size_t low = 0, high = heap->pieces_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct piece *piece = &heap->pieces[middle];
		if (address < piece->start) {
			high = middle;
		} else if (address >= piece->end) {
			low = middle + 1;
		} else {
			if (piece->end - address < 8)
				return false;
			memcpy(word, piece->bytes + (address - piece->start), 8);
			return true;
		}
	}
	return false;
}

static uint64_t words_of(const struct heap *heap, uint64_t header)
{
	return (header << heap->reserved_bits) >> (heap->reserved_bits + 10);
}

static void read_blocks(struct heap *heap, const char *path)
{
	FILE *file = fopen(path, "r");
	if (!file)
		die(strerror(errno), 0);
	size_t room = 0;
	struct block block = {0};
	char segment[32];
	while (fscanf(file, "%" SCNx64 " %" SCNu64 " %31s", &block.address, &block.words,
		       segment) == 3) {
		if (heap->blocks_count == room) {
			room = room * 2 + 1024;
			heap->blocks = realloc(heap->blocks, room * sizeof(block));
			if (!heap->blocks)
				die("no memory", room);
		}
		block.is_static = strcmp(segment, "static") == 0;
		if (heap->blocks_count > 0 &&
			heap->blocks[heap->blocks_count - 1].address >= block.address)
			die("the blocks are not in order", block.address);
		heap->blocks[heap->blocks_count++] = block;
	}
	if (!feof(file))
		die("a line of the list of blocks cannot be read", heap->blocks_count);
	fclose(file);
	heap->stack = room_for(heap->blocks_count, sizeof(*heap->stack));
}

/* The block that a value leads to, or NULL. */
static struct block *block_of(const struct heap *heap, uint64_t value)
{
	uint64_t header;
	if ((value & 7) != 0 || value == 0 || !read_word(heap, value - 8, &header))
		return NULL;
	if ((header & 0xff) == TAG_INFIX)
		value -= 8 * words_of(heap, header);
	size_t low = 0, high = heap->blocks_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (heap->blocks[middle].address == value)
			return &heap->blocks[middle];
		if (heap->blocks[middle].address < value)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* A pointer to no block of the list: a block without fields, whose header the core may not hold. */
static void visit_atom(struct heap *heap, uint64_t value)
{
	uint64_t header;
	bool is_empty = !read_word(heap, value - 8, &header) || words_of(heap, header) == 0;
	if ((value & 7) != 0 || value == 0 || !heap->counts_static || !is_empty)
		return;
	for (size_t i = 0; i < heap->atoms_count; i++)
		if (heap->atoms[i] == value)
			return;
	if (heap->atoms_count == sizeof(heap->atoms) / sizeof(heap->atoms[0]))
		die("more blocks without fields than there are", value);
	heap->atoms[heap->atoms_count++] = value;
}

static void visit(struct heap *heap, uint64_t value, size_t *depth)
{
	struct block *block = block_of(heap, value);
	if (!block)
		visit_atom(heap, value);
	if (!block || block->visited || (block->is_static && !heap->counts_static))
		return;
	block->visited = true;
	heap->stack[(*depth)++] = (size_t)(block - heap->blocks);
}

static uint64_t word_at(const struct heap *heap, uint64_t address)
{
	uint64_t word;
	if (!read_word(heap, address, &word))
		die("a word of a block is not in the core", address);
	return word;
}

static void visit_fields(struct heap *heap, const struct block *block, size_t *depth)
{
	uint64_t header = word_at(heap, block->address - 8), first = 0;
	if (words_of(heap, header) != block->words)
		die("the header says another size than the list", block->address);
	if ((header & 0xff) >= TAG_NO_SCAN)
		return;
	/* Before the environment of a closure are code pointers and arities. */
	if ((header & 0xff) == TAG_CLOSURE)
		first = (word_at(heap, block->address + 8) << 8) >> 9;
	for (uint64_t i = first; i < block->words; i++)
		visit(heap, word_at(heap, block->address + 8 * i), depth);
}

static uint64_t reachable_words(struct heap *heap, uint64_t value)
{
	uint64_t words = 0;
	size_t depth = 0;
	heap->atoms_count = 0;
	for (size_t i = 0; i < heap->blocks_count; i++)
		heap->blocks[i].visited = false;
	visit(heap, value, &depth);
	while (depth > 0) {
		const struct block *block = &heap->blocks[heap->stack[--depth]];
		words += 1 + block->words;
		visit_fields(heap, block, &depth);
	}
	return words + heap->atoms_count;
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fprintf(stderr, "usage: reach CORE BLOCKS RESERVED-BITS STATIC ADDRESS...\n");
		return 2;
	}
	struct heap heap = {
		.reserved_bits = (unsigned)strtoul(argv[3], NULL, 10),
		.counts_static = strcmp(argv[4], "1") == 0,
	};
	open_core(&heap, argv[1]);
	read_blocks(&heap, argv[2]);
	for (int i = 5; i < argc; i++)
		printf("%" PRIu64 "\n", reachable_words(&heap, strtoull(argv[i], NULL, 16)));
	free(heap.pieces);
	free(heap.blocks);
	free(heap.stack);
	return 0;
}
