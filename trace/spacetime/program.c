/*
 * Voting on where a program was loaded: the series has addresses of functions, but not the load
 * address.  caml_start_program is a function with one indirect call; every such function says where
 * the program would be if it were that one, and all others say whether it is so.
 */
#include "trace/spacetime/program.h"

#include <stdlib.h>

enum { PAGE_BYTES = 4096, MOST_CANDIDATES = 4096, MOST_VOTERS = 4096 };

void spacetime_program_close(struct spacetime_program *program)
{
	if (program)
		snap_elf_close(&program->elf);
	free(program);
}

static bool begins_function(struct spacetime_program *program, uint64_t address)
{
	struct snap_elf_symbol symbol;
	return snap_elf_symbol_at(&program->elf, address, &symbol) && symbol.value == address;
}

/* Functions that are symbols if the program is moved by that, of those at equal distances. */
static uint64_t count_votes(
	struct spacetime_program *program, const struct spacetime_tables *tables, uint64_t bias)
{
	uint64_t step = 1 + tables->shape_count / MOST_VOTERS, votes = 0;
	for (uint64_t i = 0; i < tables->shape_count; i += step)
		votes += begins_function(program, tables->functions[i] - bias);
	return votes;
}

static bool may_be_start(const struct spacetime_tables *tables, uint64_t shape)
{
	return tables->shapes[shape].count == 1 &&
	       tables->parts[tables->shapes[shape].first].kind == SPACETIME_INDIRECT;
}

static bool find_bias(struct spacetime_program *program, const struct spacetime_tables *tables)
{
	struct snap_elf_symbol start;
	uint64_t step = 1 + tables->shape_count / MOST_VOTERS, most = 0;
	uint64_t voters = (tables->shape_count + step - 1) / step;
	if (!snap_elf_find_symbol(&program->elf, "caml_start_program", &start))
		return false;
	for (uint64_t i = 0, tried = 0; i < tables->shape_count && tried < MOST_CANDIDATES; i++) {
		uint64_t bias = tables->functions[i] - start.value;
		if (!may_be_start(tables, i) || bias % PAGE_BYTES)
			continue;
		tried++;
		uint64_t votes = count_votes(program, tables, bias);
		if (votes <= most)
			continue;
		most = votes;
		program->bias = bias;
	}
	return 2 * most > voters;
}

static enum hg_status read_program(const struct spacetime_series *series, const char *path,
	const struct base_unpack_limits *limits, struct spacetime_program *program,
	struct hg_error *error)
{
	struct base_file file;
	struct spacetime_tables tables;
	BASE_TRY(base_file_open(&file, path, limits, error));
	BASE_TRY(snap_elf_open(&program->elf, &file, error));
	if (!snap_elf_has_symbols(&program->elf))
		return base_corrupt(error, HG_NO_OFFSET, "the program has no symbols");
	enum hg_status status = spacetime_read_tables(series, &tables, error);
	if (status == HG_OK && !find_bias(program, &tables))
		status = base_corrupt(error, HG_NO_OFFSET,
			"not the program that wrote the series: its symbols are not the functions "
			"of the series");
	spacetime_tables_release(&tables);
	return status;
}

enum hg_status spacetime_program_open(const struct spacetime_series *series, const char *path,
	const struct base_unpack_limits *limits, struct spacetime_program **out,
	struct hg_error *error)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return base_no_memory(error, sizeof(**out));
	enum hg_status status = read_program(series, path, limits, *out, error);
	if (status == HG_OK)
		return HG_OK;
	spacetime_program_close(*out);
	*out = NULL;
	return status;
}

const char *spacetime_program_symbol(struct spacetime_program *program, uint64_t address)
{
	struct snap_elf_symbol symbol;
	return snap_elf_symbol_at(&program->elf, address - program->bias, &symbol) ? symbol.name
										   : NULL;
}
