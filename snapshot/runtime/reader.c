/* What the parts of the reader share: the work budget, notes for the user, strings to keep. */
#include "snapshot/runtime/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void snap_note_line(struct snap_runtime *runtime, const char *format, ...)
{
	char line[256];
	struct hg_error unused;
	if (runtime->note_count == sizeof(runtime->notes) / sizeof(runtime->notes[0]))
		return;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	const char *text;
	base_error_clear(&unused);
	if (base_pool_string(&runtime->pool, line, strlen(line), &text, &unused) == HG_OK)
		runtime->notes[runtime->note_count++] = text;
	else
		runtime->image->lost = true;
}

const char *snap_print(struct snap_runtime *runtime, const char *format, ...)
{
	char text[1024];
	const char *kept;
	struct hg_error unused;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	base_error_clear(&unused);
	/* Millions of structures may lead to one long name, which is copied for each. */
	size_t length = strlen(text);
	if (!snap_spend(runtime, length / 8))
		return "";
	if (base_pool_string(&runtime->pool, text, length, &kept, &unused) != HG_OK) {
		runtime->image->lost = true;
		return "";
	}
	return kept;
}

bool snap_spend(struct snap_runtime *runtime, uint64_t items)
{
	if (items <= runtime->budget) {
		runtime->budget -= items;
		return true;
	}
	if (!runtime->gave_up)
		snap_note_line(runtime, "lists of the runtime lead to the same places again and "
					"again: not all was followed");
	runtime->budget = 0;
	runtime->gave_up = true;
	return false;
}
