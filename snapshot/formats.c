/* The table of formats. */
#include "snapshot/formats.h"

#include <string.h>

/* Each is the last definition of its loader. */
extern const struct snap_format snap_elfcore;                                 /* core/ */
extern const struct snap_format snap_memprof01, snap_memprof02, snap_ocp2014; /* legacy/ */

/* The first that recognises a file has it. */
static const struct snap_format *const formats[] = {
	&snap_elfcore, &snap_ocp2014, &snap_memprof01, &snap_memprof02};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const struct snap_format *snap_format_row(unsigned index)
{
	return index < FORMATS ? formats[index] : NULL;
}

const struct snap_format *snap_format_named(const char *name)
{
	for (unsigned i = 0; i < FORMATS; i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

const struct snap_format *snap_format_of(const char *name, const struct base_file *file)
{
	for (unsigned i = 0; i < FORMATS; i++)
		if (formats[i]->recognise(name, file))
			return formats[i];
	return NULL;
}

bool snap_is_location_source(const uint8_t *bytes, size_t size)
{
	for (unsigned i = 0; i < FORMATS; i++)
		if (formats[i]->is_location_source && formats[i]->is_location_source(bytes, size))
			return true;
	return false;
}
