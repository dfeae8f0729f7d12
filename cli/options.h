/*
 * Options of the command line: tables that say what there is, and one parser that reads them.
 * Parsing, --help, the manual page and the completion all come from the same tables.
 *
 * Names match exactly, never by prefix.  "--name VALUE", "--name=VALUE", "-o VALUE"; "--" ends the
 * options; options and operands may be mixed.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of a number or choice that was not given. */
#define CLI_UNSET UINT64_MAX

/* The values of an option that can be given several times, in their order. */
enum { CLI_MOST_FILES = 64 };
struct cli_files {
	const char *names[CLI_MOST_FILES];
	unsigned count;
};

/* Values of all options of all verbs; see cli_values_init(). */
struct cli_values {
	/* the input */
	struct cli_files profiles, directories;
	const char *executable, *libraries, *memtrace;
	uint64_t as;    /* index for hg_format_name() */
	uint64_t roots; /* enum cli_roots */

	/* the work */
	uint64_t threads, max_memory, max_decompressed;
	uint64_t progress; /* enum cli_progress_when */

	/* the output */
	uint64_t format; /* index for rep_writer_at() */
	const char *output;
	uint64_t limit;
	uint64_t sort;   /* index into the columns of the verb, for cli_sort() */
	uint64_t weight; /* enum hg_weight */

	/* of single verbs */
	uint64_t by;        /* enum hg_key */
	uint64_t growth_by; /* 0: paths; else an enum hg_key + 1 */
	uint64_t depth, children;
	uint64_t min;      /* parts per million */
	uint64_t min_size; /* bytes */
	const char *from, *type;
	uint64_t nodes, fields, referrers;

	/* of capture */
	uint64_t pid, method; /* the number of a method, from 0 for the first one */
	uint64_t every;       /* milliseconds */
	uint64_t count;
	uint64_t when_grown; /* parts per million */

	/* of trace */
	uint64_t points;
	uint64_t table;        /* of several, by index */
	bool as_printed;       /* as the tool that is replaced has it, mistakes and all */
	const char *in_use_at; /* 'at' where it leaves nothing out */
	const char *at, *alive, *allocated, *collected, *lifetime, *block_size;
	struct cli_files inside, inside_containing, not_inside, not_inside_containing;
	struct cli_files hide, hide_containing, not_on;
	uint64_t on; /* enum hg_trace_heap */
	const char *of;
	uint64_t one_in, seed;
	uint64_t min_samples, begin_at; /* begin_at: 0 main, 1 allocation */
	uint64_t counted;               /* enum hg_spacetime_count, hg_trace_diff_measure */
	struct cli_files programs;
	bool all_frames;

	/* of the historical grammar */
	uint64_t verbosity;
	const char *heap;
	uint64_t heaps;

	/* flags of all of them */
	bool blocks; /* block by block, not merged by class */
	bool keep_order;
	struct cli_files max_paths, max_types;     /* of check, as they were given */
	const char *max_growth, *suppress, *junit; /* the same */
	uint64_t max_total;
	bool help, partial, require_types, redact, no_host_files, all, clashes, outside, sums;
	bool places;
	bool on_major_gc, with_locations, in_bytes, draw;
	bool who_points; /* of why */
	bool strict;     /* of trace */
};

enum cli_value_kind {
	CLI_FLAG,
	CLI_NUMBER,  /* digits */
	CLI_SIZE,    /* digits, then K, M, G or T of 1024 */
	CLI_TIME,    /* digits, then ms, s, m or h, seconds without; milliseconds */
	CLI_PERCENT, /* up to 100, with up to four decimals; parts per million */
	CLI_CHOICE,  /* one of the names of 'choice' */
	CLI_FILE,
	CLI_FILES, /* the same, several times */
	CLI_STRING
};

/* The names of a choice by index; NULL at the end. */
typedef const char *cli_choice_fn(unsigned index);

struct cli_option {
	const char *name; /* without dashes; NULL ends a table */
	char letter;      /* of the short form, or 0 */
	enum cli_value_kind kind;
	size_t offset;        /* of the value in struct cli_values */
	const char *argument; /* how help calls the value; NULL for flags */
	cli_choice_fn *choice;
	const char *help; /* one sentence without full stop */
};

struct cli_parse {
	const struct cli_option *const *tables; /* own and shared; NULL at the end */
	bool single_dash;      /* the historical grammar: -name VALUE, and no operands */
	const char **operands; /* room for all arguments */
	int operand_count;
};

void cli_values_init(struct cli_values *values);

/*
 * Reads 'count' arguments.  HG_ERROR_USAGE with a message that names the argument; the values are
 * then undefined.
 */
enum hg_status cli_parse_options(struct cli_parse *parse, struct cli_values *values, int count,
	char *const *arguments, struct hg_error *error);

/* Values of options that are made of several: "512M", "10MB"; digits; "5%", "0.5", parts per
 * million. */
bool cli_read_size(const char *text, uint64_t *size);
bool cli_read_number(const char *text, uint64_t *number);
bool cli_read_percent(const char *text, uint64_t most, uint64_t *parts);

const struct cli_option *cli_find_option(
	const struct cli_option *const *tables, const char *name, size_t length);

#endif
