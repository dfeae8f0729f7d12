/* The table of output formats. */
#include "report/writers/writer.h"

static const struct rep_writer *const writers[] = {
	&rep_writer_text, &rep_writer_csv, &rep_writer_json};

const struct rep_writer *rep_writer_at(unsigned index)
{
	return index < sizeof(writers) / sizeof(*writers) ? writers[index] : NULL;
}

const char *rep_writer_name(unsigned index)
{
	const struct rep_writer *writer = rep_writer_at(index);
	return writer ? writer->name : NULL;
}
