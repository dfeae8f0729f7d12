/* The extensions of output files. */
#include "cli/extension.h"

#include "report/outputs/outputs.h"

#include <string.h>
#include <strings.h>

/* Other names of formats. */
static const struct {
	const char *extension, *format;
} aliases[] = {{"txt", "text"}, {"gv", "dot"}, {"pb", "pprof"}};

/* What a reader of the name would take the file for. */
static const char *const formats_of_others[] = {"text", "csv", "json", "html", "htm", "xhtml",
	"xml", "xlsx", "xls", "ods", "tsv", "md", "markdown", "rst", "tex", "rtf", "odt", "doc",
	"docx", "yaml", "yml", "toml", "ndjson", "jsonl", "sqlite", "sqlite3", "db", "parquet",
	"arrow", "dot", "gexf", "graphml", "gml", "svg", "png", "pdf", "jpg", "jpeg", "gif", "webp",
	"bmp", "tif", "tiff", "eps", "ps", "hp", "pb", "pprof", "folded", "collapsed", "speedscope",
	"heapsnapshot", "hprof", "ctf", "zip", "gz", "bz2", "xz", "zst", "lz4", "7z", "tar"};

/* The name of the format that a file's name ends in, or NULL. */
static const char *format_of_file(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	if (!dot || dot == base)
		return NULL;
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strcasecmp(dot + 1, aliases[i].extension) == 0)
			return aliases[i].format;
	return dot + 1;
}

static bool is_format_of_others(const char *format)
{
	for (size_t i = 0; i < sizeof(formats_of_others) / sizeof(formats_of_others[0]); i++)
		if (strcasecmp(format, formats_of_others[i]) == 0)
			return true;
	return false;
}

/* ".csv, .json, .txt": what the verb writes. */
static void list_extensions(
	struct rep_text *text, const struct cli_verb *verb, const struct cli_option *format)
{
	for (unsigned i = 0; format && format->choice(i); i++) {
		const char *name = format->choice(i);
		for (size_t j = 0; j < sizeof(aliases) / sizeof(aliases[0]); j++)
			if (strcmp(name, aliases[j].format) == 0)
				name = aliases[j].extension;
		rep_text_printf(text, "%s.%s", text->length ? ", " : "", name);
	}
	for (unsigned i = 0; verb->extensions && verb->extensions[i]; i++)
		rep_text_printf(text, "%s.%s", text->length ? ", " : "", verb->extensions[i]);
}

enum hg_status cli_check_drawing(struct cli_run *run)
{
	return rep_can_draw()
		       ? HG_OK
		       : base_fail(&run->error, HG_ERROR_USAGE, HG_NO_OFFSET,
				 "this heapgraph was built without Graphviz: draw on another "
				 "machine, of the same snapshot");
}

static enum hg_status refuse_extension(
	struct cli_run *run, const struct cli_option *format, const char *given)
{
	struct rep_text known = {0};
	list_extensions(&known, run->verb, format);
	base_fail(&run->error, HG_ERROR_USAGE, HG_NO_OFFSET,
		"-o: %s does not write .%s files, only %s%s", run->verb->name, given,
		rep_text_string(&known), format ? " (--format goes before the name)" : "");
	rep_text_release(&known);
	return HG_ERROR_USAGE;
}

enum hg_status cli_choose_format(struct cli_run *run)
{
	const struct cli_verb *verb = run->verb;
	const struct cli_option *format = cli_find_option(verb->tables, "format", 6);
	const char *given = run->values.output ? format_of_file(run->values.output) : NULL;
	if (!given || run->values.format != CLI_UNSET || !(format || verb->extensions))
		return HG_OK;
	for (unsigned i = 0; verb->extensions && verb->extensions[i]; i++) {
		if (strcasecmp(verb->extensions[i], given) == 0) {
			run->extension = verb->extensions[i];
			BASE_TRY(cli_check_drawing(run));
			return HG_OK;
		}
	}
	for (unsigned i = 0; format && format->choice(i); i++) {
		if (strcasecmp(format->choice(i), given) == 0) {
			run->values.format = i;
			return HG_OK;
		}
	}
	return is_format_of_others(given) ? refuse_extension(run, format, given) : HG_OK;
}
