/*
 * Heap profiles (.hp) as the historical profiler wrote them for hp2ps:
 *
 *     JOB "Types"
 *     DATE "---"
 *     SAMPLE_UNIT "GC"
 *     VALUE_UNIT "Values"
 *     BEGIN_SAMPLE 0.
 *       string_list::cache.ml[30][19-50] 3000
 *     END_SAMPLE 0.
 *
 * A line has a name without spaces and a number.  Here every block is in one line, those without a
 * type, too; a name is in one line of a sample only; and lines are in an order of their own.
 */
#include "report/outputs/outputs.h"

#include "report/common.h"

#include <stdlib.h>
#include <string.h>

/* hp2ps reads identifiers into 5,000 bytes. */
enum { LONGEST_NAME = 4000, MOST_MODULE = 256 };

struct rep_hp {
	bool with_locations, in_bytes;
	struct rep_text samples;
	uint64_t count;       /* of samples */
	uint64_t last_index;  /* of the last one */
	struct rep_text last; /* its lines */
};

/* Blocks that share type and location, and what their line is called. */
struct line {
	uint32_t type, location;
	uint64_t amount;
	char *name;
};

struct lines {
	struct line *lines;
	size_t count;
};

static void release_lines(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->lines[i].name);
	free(lines->lines);
}

static bool is_name_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '\'' || c == '.';
}

/*
 * A type as one writes it in this module: without "Module." in front of its own names.  An empty
 * module leaves it as it is.
 */
static void put_type_in_module(struct rep_text *out, const char *type, const char *module)
{
	size_t length = strlen(module);
	for (const char *at = type; *at;) {
		bool begins = at == type || !is_name_character(at[-1]);
		if (length && begins && strncmp(at, module, length) == 0 && at[length] == '.')
			at += length + 1;
		else
			rep_text_add(out, at++, 1);
	}
}

/* A location's parts, "FILE:LINE:START-END"; false for other names. */
struct location {
	char file[4096];
	unsigned long long line;
	char columns[48]; /* "START-END" */
};

static bool split_location(const char *name, struct location *out)
{
	const char *last = strrchr(name, ':'), *middle = last;
	if (!last || strlen(last + 1) >= sizeof(out->columns))
		return false;
	while (middle > name && *--middle != ':')
		;
	if (*middle != ':' || (size_t)(middle - name) >= sizeof(out->file))
		return false;
	memcpy(out->file, name, (size_t)(middle - name));
	out->file[middle - name] = '\0';
	out->line = strtoull(middle + 1, NULL, 10);
	memcpy(out->columns, last + 1, strlen(last + 1) + 1);
	return true;
}

/* The module of a source: "Cache" of "src/cache.ml". */
static void module_of(const char *file, char module[MOST_MODULE])
{
	const char *name = rep_base_name(file);
	size_t length = strcspn(name, ".");
	if (length >= MOST_MODULE)
		length = 0;
	memcpy(module, name, length);
	module[length] = '\0';
	if (module[0] >= 'a' && module[0] <= 'z')
		module[0] = (char)(module[0] - 'a' + 'A');
}

/* What hp2ps takes as one word. */
static char *finish_name(struct rep_text *text)
{
	char *name = text->failed ? NULL : strdup(rep_text_string(text));
	for (char *at = name; at && *at; at++)
		if ((unsigned char)*at <= ' ' || *at == 127)
			*at = '_';
	if (name && strlen(name) > LONGEST_NAME)
		memcpy(name + LONGEST_NAME - 3, "...", 4);
	return name;
}

/* "[array]": blocks of the runtime go by the label that the historical profiler gave them. */
static bool is_predefined(const char *location)
{
	return location[0] == '[';
}

/* Custom blocks are better told by what made them, if that is known. */
static bool is_untold(const char *type)
{
	return type[0] == '\0' || strcmp(type, "custom") == 0;
}

/* The module that allocates, "" if the location does not tell. */
static void module_at(const char *location, char module[MOST_MODULE])
{
	struct location parts;
	module[0] = '\0';
	if (split_location(location, &parts))
		module_of(parts.file, module);
}

/* A type as its module writes it, or in full. */
static void name_type(
	struct rep_text *out, const char *type, const char *location, const char *module)
{
	if (is_predefined(location) && is_untold(type))
		rep_text_add(out, location + 1, strlen(location) - 2);
	else
		put_type_in_module(out, type[0] ? type : "unknown", module);
}

static void put_location(struct rep_text *out, const char *location)
{
	struct location parts;
	if (split_location(location, &parts))
		rep_text_printf(out, "::%s[%llu][%s]", parts.file, parts.line, parts.columns);
}

static int compare_line_names(const void *left, const void *right)
{
	return strcmp(((const struct line *)left)->name, ((const struct line *)right)->name);
}

/* Largest first. */
static int compare_line_amounts(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	if (a->amount != b->amount)
		return a->amount > b->amount ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Lines of one name become one. */
static void merge_lines(struct lines *lines)
{
	size_t kept = 0;
	qsort(lines->lines, lines->count, sizeof(*lines->lines), compare_line_names);
	for (size_t i = 0; i < lines->count; i++) {
		struct line line = lines->lines[i];
		if (kept && strcmp(lines->lines[kept - 1].name, line.name) == 0) {
			lines->lines[kept - 1].amount += line.amount;
			free(line.name);
		} else {
			lines->lines[kept++] = line;
		}
	}
	lines->count = kept;
	qsort(lines->lines, lines->count, sizeof(*lines->lines), compare_line_amounts);
}

/* What is being named: buffers for the parts. */
struct names {
	const struct hg_snapshot *snapshot;
	struct rep_text type, location, line;
};

static bool read_parts(struct names *names, const struct line *line)
{
	rep_text_clear(&names->type);
	rep_text_clear(&names->location);
	rep_text_clear(&names->line);
	rep_name_type(&names->type, names->snapshot, line->type);
	rep_name_location(&names->location, names->snapshot, line->location);
	return !names->type.failed && !names->location.failed;
}

static bool set_name(struct names *names, struct line *line, const char *module, bool with_place)
{
	if (!read_parts(names, line))
		return false;
	const char *location = rep_text_string(&names->location);
	name_type(&names->line, rep_text_string(&names->type), location, module);
	if (with_place)
		put_location(&names->line, location);
	free(line->name);
	line->name = finish_name(&names->line);
	return line->name != NULL;
}

/* With locations every line is named as in the module of its location. */
static bool name_with_locations(struct names *names, struct lines *lines)
{
	char module[MOST_MODULE];
	bool fine = true;
	for (size_t i = 0; fine && i < lines->count; i++) {
		fine = read_parts(names, &lines->lines[i]);
		if (!fine)
			break;
		module_at(rep_text_string(&names->location), module);
		fine = set_name(names, &lines->lines[i], module, true);
	}
	return fine;
}

static int compare_line_types(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return a->location < b->location ? -1 : a->location > b->location;
}

/* The one module that allocates blocks of the lines [first, end); "" if there are several. */
static bool common_module(struct names *names, const struct lines *lines, size_t first, size_t end,
	char common[MOST_MODULE])
{
	char module[MOST_MODULE];
	common[0] = '\0';
	for (size_t i = first; i < end; i++) {
		if (!read_parts(names, &lines->lines[i]))
			return false;
		module_at(rep_text_string(&names->location), module);
		if (module[0] && common[0] && strcmp(module, common) != 0) {
			common[0] = '\0';
			return true;
		}
		if (module[0])
			memcpy(common, module, sizeof(module));
	}
	return true;
}

/* Types of several modules that would have one name are told apart. */
static bool tell_types_apart(struct names *names, struct lines *lines)
{
	bool fine = true;
	qsort(lines->lines, lines->count, sizeof(*lines->lines), compare_line_names);
	for (size_t first = 0, end; fine && first < lines->count; first = end) {
		bool differ = false;
		for (end = first + 1; end < lines->count &&
				      strcmp(lines->lines[end].name, lines->lines[first].name) == 0;
			end++)
			differ |= lines->lines[end].type != lines->lines[first].type;
		for (size_t i = first; fine && differ && i < end; i++)
			fine = set_name(names, &lines->lines[i], "", false);
	}
	return fine;
}

/* Without locations a type is named as in the one module that allocates its blocks. */
static bool name_without_locations(struct names *names, struct lines *lines)
{
	char module[MOST_MODULE];
	bool fine = true;
	qsort(lines->lines, lines->count, sizeof(*lines->lines), compare_line_types);
	for (size_t first = 0, end; fine && first < lines->count; first = end) {
		for (end = first + 1;
			end < lines->count && lines->lines[end].type == lines->lines[first].type;)
			end++;
		fine = common_module(names, lines, first, end, module);
		for (size_t i = first; fine && i < end; i++)
			fine = set_name(names, &lines->lines[i], module, false);
	}
	return fine && tell_types_apart(names, lines);
}

static bool make_lines(struct lines *lines, const struct rep_hp *hp,
	const struct hg_snapshot *snapshot, const struct hg_top *top)
{
	struct names names = {.snapshot = snapshot};
	lines->lines = calloc(top->count ? top->count : 1, sizeof(*lines->lines));
	if (!lines->lines)
		return false;
	for (; lines->count < top->count; lines->count++) {
		const struct hg_class *row = top->rows[lines->count];
		struct line *line = &lines->lines[lines->count];
		line->amount = hp->in_bytes ? row->bytes : row->blocks;
		hg_class_parts(snapshot, row->id, &line->type, &line->location);
	}
	bool fine = hp->with_locations ? name_with_locations(&names, lines)
				       : name_without_locations(&names, lines);
	rep_text_release(&names.type);
	rep_text_release(&names.location);
	rep_text_release(&names.line);
	if (fine)
		merge_lines(lines);
	return fine;
}

static void put_sample(struct rep_text *out, uint64_t index, const char *lines)
{
	rep_text_printf(out, "BEGIN_SAMPLE %llu.\n", (unsigned long long)index);
	rep_text_put(out, lines);
	rep_text_printf(out, "END_SAMPLE %llu.\n", (unsigned long long)index);
}

/* The numbers of samples ascend; they are those of the dumps as long as these do. */
static uint64_t index_of(const struct rep_hp *hp, const struct hg_snapshot *snapshot)
{
	struct hg_info info = *hg_snapshot_info(snapshot);
	if (info.index != HG_UNKNOWN && (hp->count == 0 || info.index > hp->last_index))
		return info.index;
	return hp->count == 0 ? 0 : hp->last_index + 1;
}

struct rep_hp *rep_hp_begin(bool with_locations, bool in_bytes)
{
	struct rep_hp *hp = calloc(1, sizeof(*hp));
	if (hp)
		*hp = (struct rep_hp){.with_locations = with_locations, .in_bytes = in_bytes};
	return hp;
}

void rep_hp_release(struct rep_hp *hp)
{
	if (!hp)
		return;
	rep_text_release(&hp->samples);
	rep_text_release(&hp->last);
	free(hp);
}

enum hg_status rep_hp_add(struct rep_hp *hp, struct rep_context *context)
{
	struct hg_top *top = NULL;
	struct lines lines = {0};
	enum hg_status status = hg_list_top(context->snapshot, HG_BY_TYPE_LOCATION, NULL, &top);
	if (status != HG_OK)
		return rep_library_failed(context, status);
	bool fine = make_lines(&lines, hp, context->snapshot, top);
	hg_top_release(&top);
	rep_text_clear(&hp->last);
	for (size_t i = 0; fine && i < lines.count; i++)
		rep_text_printf(&hp->last, "  %s %llu\n", lines.lines[i].name,
			(unsigned long long)lines.lines[i].amount);
	release_lines(&lines);
	hp->last_index = index_of(hp, context->snapshot);
	hp->count++;
	put_sample(&hp->samples, hp->last_index, rep_text_string(&hp->last));
	return fine && !hp->samples.failed && !hp->last.failed ? HG_OK : rep_no_memory(context);
}

/* One sample is no curve: hp2ps needs two, so that a single one is written twice. */
enum hg_status rep_hp_write(struct rep_hp *hp, struct rep_context *context, FILE *stream)
{
	struct rep_text out = {0};
	rep_text_printf(&out,
		"JOB \"Types\"\nDATE \"---\"\nSAMPLE_UNIT \"GC\"\nVALUE_UNIT \"%s\"\n",
		hp->in_bytes ? "bytes" : "Values");
	if (hp->count == 1) {
		put_sample(&out, 0, rep_text_string(&hp->last));
		put_sample(&out, 1, rep_text_string(&hp->last));
	} else {
		rep_text_put(&out, rep_text_string(&hp->samples));
	}
	enum hg_status status = out.failed ? rep_no_memory(context) : HG_OK;
	/* Failures to write are those of the stream, which is looked at when it is closed. */
	if (status == HG_OK)
		fputs(rep_text_string(&out), stream);
	rep_text_release(&out);
	return status;
}
