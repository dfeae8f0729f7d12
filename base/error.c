/* Messages of failures: one line, in the one struct that travels down the calls. */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void base_one_line(char *text)
{
	for (unsigned char *c = (unsigned char *)text; *c; c++)
		if (*c < ' ' || *c == 127)
			*c = '?';
}

static enum hg_status fail(struct hg_error *error, enum hg_status status, uint64_t offset,
	const char *format, va_list arguments)
{
	if (error) {
		error->status = status;
		error->offset = offset;
		error->file[0] = '\0';
		vsnprintf(error->message, sizeof(error->message), format, arguments);
		base_one_line(error->message);
	}
	return status;
}

enum hg_status base_fail(
	struct hg_error *error, enum hg_status status, uint64_t offset, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fail(error, status, offset, format, arguments);
	va_end(arguments);
	return status;
}

enum hg_status base_corrupt(struct hg_error *error, uint64_t offset, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fail(error, HG_ERROR_INPUT, offset, format, arguments);
	va_end(arguments);
	return HG_ERROR_INPUT;
}

enum hg_status base_no_memory(struct hg_error *error, uint64_t bytes)
{
	return base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET,
		"out of memory: %llu more bytes are needed", (unsigned long long)bytes);
}

bool base_is_shortage(int number)
{
	return number == ENOMEM || number == EMFILE || number == ENFILE || number == ENOBUFS ||
	       number == EAGAIN;
}

enum hg_status base_system_failure(
	struct hg_error *error, enum hg_status otherwise, const char *path, const char *what)
{
	int number = errno;
	enum hg_status status = base_is_shortage(number) ? HG_ERROR_LIMIT : otherwise;
	base_fail(error, status, HG_NO_OFFSET, "%s: %s", what, strerror(number));
	base_error_file(error, path);
	return status;
}

void base_error_file(struct hg_error *error, const char *file)
{
	if (error && !error->file[0])
		snprintf(error->file, sizeof(error->file), "%s", file);
}

void base_error_clear(struct hg_error *error)
{
	memset(error, 0, sizeof(*error));
	error->offset = HG_NO_OFFSET;
}
