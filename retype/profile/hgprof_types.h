/*
 * Terms, declarations and layouts of exe.prof.
 */
#ifndef RETYPE_PROFILE_HGPROF_TYPES_H
#define RETYPE_PROFILE_HGPROF_TYPES_H

#include "retype/profile/hgprof_reader.h"

enum hg_status hgprof_read_types(struct hgprof_reader *reader);

/* The fields NAME:TERM in the rest of a line, with the closed terms or the open ones. */
enum hg_status hgprof_fields(const struct hgprof_reader *reader, struct hgprof_line *line,
	bool closed, const struct retype_field **fields, uint32_t *count);

#endif
