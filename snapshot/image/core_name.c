/* What `heapgraph info` shows of a core: program, threads, runtime, what a capture noted. */
#include "snapshot/image/core_name.h"

#include "snapshot/image/image.h"
#include "snapshot/image/capture_note.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void append_text(char *buffer, size_t size, const char *format, ...) BASE_PRINTF(3, 4);

static void append_text(char *buffer, size_t size, const char *format, ...)
{
	size_t used = strnlen(buffer, size);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(buffer + used, size - used, format, arguments);
	va_end(arguments);
}

/* Symbols that every native runtime of the version exports (runtime/domain.c). */
static const char *runtime_name(struct snap_image *image)
{
	struct snap_symbol symbol;
	if (snap_image_main_symbol(image, "Caml_state", &symbol))
		return ", native code of OCaml 4";
	if (snap_image_main_symbol(image, "caml_state", &symbol) && symbol.is_tls)
		return ", native code of OCaml 5";
	return "";
}

static void append_capture(const struct snap_capture_note *capture, char *buffer, size_t size)
{
	char when[32] = "";
	time_t seconds = (time_t)(capture->time / 1000000000);
	struct tm parts;
	if (!capture->is_ours)
		return;
	if (capture->time != HG_UNKNOWN && gmtime_r(&seconds, &parts))
		strftime(when, sizeof(when), " on %Y-%m-%d at %H:%M:%S UTC", &parts);
	append_text(buffer, size, ", written by heapgraph%s", when);
	if (*capture->trigger)
		append_text(buffer, size, ", trigger '%.100s'", capture->trigger);
	if (*capture->method)
		append_text(buffer, size, ", method %.40s", capture->method);
	if (*capture->consistency)
		append_text(buffer, size, ", consistency %.100s", capture->consistency);
}

enum hg_status snap_core_describe(const struct hg_session *session, const char *path, char *buffer,
	size_t size, struct hg_error *error)
{
	struct snap_image_options options = {.core = path,
		.partial = true,
		.unpack = &session->unpack,
		.no_host_files = session->no_host_files};
	struct snap_image image;
	if (size == 0)
		return HG_OK;
	enum hg_status status = snap_image_open(&image, &options, error);
	if (status != HG_OK)
		return status == HG_ERROR_LIMIT ? status : HG_OK;
	append_text(buffer, size, ", of '%s', %llu thread%s", image.program,
		(unsigned long long)image.thread_count, image.thread_count == 1 ? "" : "s");
	if (image.pid != HG_UNKNOWN)
		append_text(buffer, size, ", process %llu", (unsigned long long)image.pid);
	append_text(buffer, size, "%s", runtime_name(&image));
	append_capture(image.capture, buffer, size);
	base_one_line(buffer);
	if (snap_image_lost(&image))
		status =
			base_fail(error, HG_ERROR_LIMIT, HG_NO_OFFSET, "out of memory for symbols");
	snap_image_close(&image);
	return status;
}
