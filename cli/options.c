/* Reads arguments by the tables of options. */
#include "cli/options.h"

#include "report/writers/escape.h"

#include <string.h>

void cli_values_init(struct cli_values *values)
{
	*values = (struct cli_values){
		.as = CLI_UNSET,
		.roots = CLI_UNSET,
		.threads = CLI_UNSET,
		.max_memory = CLI_UNSET,
		.max_decompressed = CLI_UNSET,
		.progress = CLI_UNSET,
		.format = CLI_UNSET,
		.limit = CLI_UNSET,
		.sort = CLI_UNSET,
		.weight = CLI_UNSET,
		.points = CLI_UNSET,
		.table = CLI_UNSET,
		.on = CLI_UNSET,
		.min_samples = CLI_UNSET,
		.one_in = CLI_UNSET,
		.seed = CLI_UNSET,
		.begin_at = CLI_UNSET,
		.counted = CLI_UNSET,
		.by = CLI_UNSET,
		.growth_by = CLI_UNSET,
		.min_size = CLI_UNSET,
		.max_total = CLI_UNSET,
		.depth = CLI_UNSET,
		.children = CLI_UNSET,
		.min = CLI_UNSET,
		.nodes = CLI_UNSET,
		.fields = CLI_UNSET,
		.referrers = CLI_UNSET,
		.pid = CLI_UNSET,
		.method = CLI_UNSET,
		.every = CLI_UNSET,
		.count = CLI_UNSET,
		.when_grown = CLI_UNSET,
		.verbosity = CLI_UNSET,
		.heaps = CLI_UNSET,
	};
}

const struct cli_option *cli_find_option(
	const struct cli_option *const *tables, const char *name, size_t length)
{
	for (; *tables; tables++)
		for (const struct cli_option *option = *tables; option->name; option++)
			if (strlen(option->name) == length &&
				memcmp(option->name, name, length) == 0)
				return option;
	return NULL;
}

static const struct cli_option *find_letter(const struct cli_option *const *tables, char letter)
{
	for (; *tables; tables++)
		for (const struct cli_option *option = *tables; option->name; option++)
			if (option->letter && option->letter == letter)
				return option;
	return NULL;
}

/* A usage error about what the user wrote; whoever prints it escapes it. */
static enum hg_status refuse_argument(
	struct hg_error *error, const char *before, const char *given, const char *after)
{
	return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "%s'%s'%s", before, given, after);
}

/* Digits up to the first other character; false without any or on overflow. */
static bool read_value_digits(const char **text, uint64_t *number)
{
	const char *at = *text;
	uint64_t value = 0;
	for (; *at >= '0' && *at <= '9'; at++) {
		unsigned digit = (unsigned)(*at - '0');
		if (value > (UINT64_MAX - 1 - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	bool any = at != *text;
	*text = at;
	*number = value;
	return any;
}

bool cli_read_number(const char *text, uint64_t *number)
{
	return read_value_digits(&text, number) && *text == '\0';
}

bool cli_read_size(const char *text, uint64_t *size)
{
	static const char units[] = "KMGT";
	if (!read_value_digits(&text, size))
		return false;
	const char *unit = *text ? strchr(units, *text) : NULL;
	if (unit) {
		unsigned shift = 10 * (unsigned)(unit - units + 1);
		if (*size > (UINT64_MAX - 1) >> shift)
			return false;
		*size <<= shift;
		text++;
	}
	text += *text == 'B';
	return *text == '\0';
}

static bool read_time_value(const char *text, uint64_t *milliseconds)
{
	static const struct {
		const char *name;
		uint64_t milliseconds;
	} units[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {"h", 3600000}};
	if (!read_value_digits(&text, milliseconds))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(text, units[i].name) == 0)
			return !__builtin_mul_overflow(
				*milliseconds, units[i].milliseconds, milliseconds);
	return false;
}

bool cli_read_percent(const char *text, uint64_t most, uint64_t *parts)
{
	uint64_t whole, unit = 1000;
	if (!read_value_digits(&text, &whole) || whole > most)
		return false;
	*parts = whole * 10000;
	if (*text == '.') {
		text++;
		if (*text < '0' || *text > '9')
			return false;
		for (; *text >= '0' && *text <= '9'; text++, unit /= 10) {
			if (unit == 0)
				return false;
			*parts += unit * (uint64_t)(*text - '0');
		}
	}
	if (*text == '%')
		text++;
	return *text == '\0' && *parts <= most * 10000;
}

static bool read_choice_value(cli_choice_fn *choice, const char *text, uint64_t *index)
{
	for (unsigned i = 0; choice(i); i++) {
		if (strcmp(choice(i), text) == 0) {
			*index = i;
			return true;
		}
	}
	return false;
}

/* What a value must look like, for messages. */
static void describe_values(struct rep_text *text, const struct cli_option *option)
{
	switch (option->kind) {
	case CLI_NUMBER:
		rep_text_put(text, "a number");
		break;
	case CLI_SIZE:
		rep_text_put(text, "a size like 512M or 4G");
		break;
	case CLI_TIME:
		rep_text_put(text, "a time like 30s, 500ms, 5m or 1h");
		break;
	case CLI_PERCENT:
		rep_text_put(text, "a percentage from 0 to 100, like 0.5");
		break;
	default:
		rep_text_put(text, "one of ");
		for (unsigned i = 0; option->choice && option->choice(i); i++)
			rep_text_printf(text, "%s%s", i ? ", " : "", option->choice(i));
	}
}

static enum hg_status refuse_value(const struct cli_option *option, const char *dashes,
	const char *value, struct hg_error *error)
{
	struct rep_text wanted = {0};
	describe_values(&wanted, option);
	base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "%s%s: '%s' is not %s", dashes, option->name,
		value, rep_text_string(&wanted));
	rep_text_release(&wanted);
	return HG_ERROR_USAGE;
}

static enum hg_status store_file(const struct cli_option *option, const char *dashes,
	const char *value, struct cli_files *files, struct hg_error *error)
{
	if (!*value)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "%s%s: the value is empty",
			dashes, option->name);
	if (files->count == CLI_MOST_FILES)
		return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET, "%s%s: at most %d of them",
			dashes, option->name, CLI_MOST_FILES);
	files->names[files->count++] = value;
	return HG_OK;
}

static enum hg_status store_value(const struct cli_option *option, const char *dashes,
	const char *value, struct cli_values *values, struct hg_error *error)
{
	char *place = (char *)values + option->offset;
	uint64_t number = 0;
	bool fine = true;
	switch (option->kind) {
	case CLI_FLAG:
		memcpy(place, &(bool){true}, sizeof(bool));
		return HG_OK;
	case CLI_FILE:
	case CLI_STRING:
		if (!*value)
			return base_fail(error, HG_ERROR_USAGE, HG_NO_OFFSET,
				"%s%s: the value is empty", dashes, option->name);
		memcpy(place, &value, sizeof(value));
		return HG_OK;
	case CLI_FILES:
		return store_file(option, dashes, value, (struct cli_files *)(void *)place, error);
	case CLI_NUMBER:
		fine = cli_read_number(value, &number);
		break;
	case CLI_SIZE:
		fine = cli_read_size(value, &number);
		break;
	case CLI_TIME:
		fine = read_time_value(value, &number);
		break;
	case CLI_PERCENT:
		fine = cli_read_percent(value, 100, &number);
		break;
	case CLI_CHOICE:
		fine = read_choice_value(option->choice, value, &number);
		break;
	}
	if (!fine)
		return refuse_value(option, dashes, value, error);
	memcpy(place, &number, sizeof(number));
	return HG_OK;
}

/* The option an argument names, or NULL; 'value' becomes what comes after '=', or NULL. */
static const struct cli_option *recognise_option(
	const struct cli_parse *parse, const char *argument, const char **value)
{
	bool is_long = argument[1] == '-' && !parse->single_dash;
	const char *name = argument + (is_long ? 2 : 1);
	const char *equals = is_long ? strchr(name, '=') : NULL;
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	*value = equals ? equals + 1 : NULL;
	if (is_long || parse->single_dash)
		return cli_find_option(parse->tables, name, length);
	return length == 1 ? find_letter(parse->tables, *name) : NULL;
}

enum hg_status cli_parse_options(struct cli_parse *parse, struct cli_values *values, int count,
	char *const *arguments, struct hg_error *error)
{
	bool only_operands = false;
	parse->operand_count = 0;
	for (int i = 0; i < count; i++) {
		const char *argument = arguments[i];
		if (only_operands || argument[0] != '-' || argument[1] == '\0') {
			if (parse->single_dash)
				return refuse_argument(error, "unexpected argument ", argument, "");
			parse->operands[parse->operand_count++] = argument;
			continue;
		}
		if (strcmp(argument, "--") == 0 && !parse->single_dash) {
			only_operands = true;
			continue;
		}
		const char *value;
		const struct cli_option *option = recognise_option(parse, argument, &value);
		if (!option)
			return refuse_argument(error, "unknown option ", argument, "");
		if (option->kind == CLI_FLAG && value)
			return refuse_argument(error, "", argument, ": the option takes no value");
		if (option->kind != CLI_FLAG && !value) {
			if (i + 1 == count)
				return refuse_argument(error, "", argument, " needs a value");
			value = arguments[++i];
		}
		BASE_TRY(
			store_value(option, parse->single_dash ? "-" : "--", value, values, error));
	}
	return HG_OK;
}
