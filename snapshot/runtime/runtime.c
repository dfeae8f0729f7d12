/* Which OCaml a program is of, and opening its runtime part by part. */
#include "snapshot/runtime/runtime.h"

#include "snapshot/arch/arch.h"
#include "snapshot/bytecode/interpreter.h"
#include "snapshot/bytecode/process.h"
#include "snapshot/runtime/found/found.h"
#include "snapshot/runtime/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Detection */

static bool image_has_symbol(void *image, const char *name)
{
	struct snap_symbol symbol;
	return snap_image_symbol(image, name, &symbol);
}

/*
 * A program may have loaded libraries with an OCaml runtime each (ocamlopt -output-complete-obj):
 * symbols must not be taken from one and from another.  That of the executable, or of the library
 * that was named in its place, is the one that is read.
 */
static enum hg_status find_one_runtime(struct snap_runtime *runtime, struct hg_error *error)
{
	struct snap_image *image = runtime->image;
	static const char table[] = "caml_frametable"; /* of programs, and not of plugins */
	struct snap_symbol symbol;
	const char *first = NULL;
	bool is_in_main = snap_image_main_symbol(image, table, &symbol);
	for (uint32_t i = 0; i < image->file_count; i++) {
		struct snap_image_file *file = &image->files[i];
		if (file == image->main || !snap_image_file_symbol(file, table, &symbol))
			continue;
		file->is_foreign = is_in_main;
		if (is_in_main)
			snap_note_line(runtime,
				"'%s' has an OCaml runtime of its own, which --exe '%s' reads",
				file->path, file->path);
		else if (first)
			return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
				"there are several OCaml runtimes, in '%s' and in '%s': say with "
				"--exe which one is meant",
				first, file->path);
		first = file->path;
	}
	return HG_OK;
}

/* Why a program has none of the symbols of a native runtime with a domain state. */
static enum hg_status no_runtime(struct snap_image *image, struct hg_error *error)
{
	if (image_has_symbol(image, "caml_frametable"))
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"'%s' is of an OCaml before 4.10; supported are " SNAP_OCAML_SUPPORTED,
			image->program);
	return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
		"'%s' is no OCaml program: it has no symbol of the OCaml runtime, and no tables of "
		"OCaml code",
		image->program);
}

/* Which family it is of is known by its version. */
static enum hg_status find_family_without_symbols(
	struct snap_runtime *runtime, struct hg_error *error)
{
	if (!image_has_symbol(runtime->image, "caml_frametable"))
		BASE_TRY(snap_find_tables(runtime, error));
	return runtime->found ? HG_OK : no_runtime(runtime->image, error);
}

static enum hg_status find_family(struct snap_runtime *runtime, struct hg_error *error)
{
	struct snap_image *image = runtime->image;
	struct snap_symbol symbol;
	if (snap_image_symbol(image, "Caml_state", &symbol))
		runtime->is_5 = false;
	else if (snap_image_symbol(image, "caml_state", &symbol) && symbol.is_tls)
		runtime->is_5 = true;
	else
		return find_family_without_symbols(runtime, error);
	if (image_has_symbol(image, "caml_frametable"))
		return HG_OK;
	if (!snap_has_interpreter(image_has_symbol, image))
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"'%s' has an OCaml runtime but no code of ocamlopt", image->program);
	return snap_find_bytecode(runtime, error);
}

/* The user may have named a script, which is bytecode if anything, in the executable's place. */
static enum hg_status check_kind_of_code(const struct snap_runtime *runtime, struct hg_error *error)
{
	const struct snap_image *image = runtime->image;
	if (!image->bytecode || runtime->bytecode)
		return HG_OK;
	base_fail(error, HG_ERROR_INPUT, 0,
		"is not an ELF file, nor is it the bytecode of '%s', which is native code",
		image->program);
	base_error_file(error, image->bytecode);
	return HG_ERROR_INPUT;
}

/*
 * runtime/sys.c: caml_sys_const_max_wosize returns Val_long(Max_wosize), and Max_wosize is
 * 2^(54 - reserved bits) - 1.
 */
static enum hg_status find_reserved_bits(struct snap_runtime *runtime, struct hg_error *error)
{
	struct snap_symbol symbol;
	uint64_t value;
	/* Hardly any program has some: when its heap is known, its headers are looked at. */
	if (runtime->found)
		return HG_OK;
	bool found = snap_image_symbol(runtime->image, "caml_sys_const_max_wosize", &symbol);
	if (found)
		BASE_TRY(snap_constant_function(
			runtime->image, symbol.address, &value, &found, error));
	if (!found)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"the layout of headers cannot be told: caml_sys_const_max_wosize is "
			"missing");
	uint64_t most = value >> 1;
	unsigned bits = 0;
	while (bits < 64 && most >> bits)
		bits++;
	if (bits < 23 || bits > 54 || most + 1 != (uint64_t)1 << bits)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"the layout of headers is unknown: blocks have up to %llu words",
			(unsigned long long)most);
	runtime->reserved_bits = 54 - bits;
	return HG_OK;
}

/* Stdlib.Sys.ocaml_version: the only string of that form in the block of the module. */
static bool version_of_stdlib(struct snap_runtime *runtime, char *text, size_t size)
{
	struct snap_symbol symbol;
	uint64_t field, header;
	unsigned name = 0;
	while (snap_sys_symbol(name) &&
		!snap_image_symbol(runtime->image, snap_sys_symbol(name), &symbol))
		name++;
	if (!snap_sys_symbol(name))
		return false;
	for (uint64_t i = 0; i < 64; i++) {
		if (!snap_image_u64(runtime->image, symbol.address + 8 * i, &field))
			return false;
		if (field % 8 == 0 && field != 0 &&
			snap_image_u64(runtime->image, snap_pointed_header(field).a, &header) &&
			(header & 0xff) == SNAP_TAG_STRING &&
			snap_image_string(runtime->image, field, text, size) &&
			snap_is_version(text))
			return true;
	}
	return false;
}

static bool has_text(
	const struct snap_elf_view *view, uint64_t offset, uint64_t size, const char *text)
{
	return offset <= view->size && size <= view->size - offset &&
	       memmem(view->bytes + offset, size, text, strlen(text));
}

/*
 * By its dynamic linker, which a program that is linked statically has within: by what its
 * strerror() says of 0 (musl's src/errno/__strerror.h), for it may be stripped.
 */
static bool uses_musl(struct snap_image *image)
{
	const struct snap_elf_view *view = &image->main->elf.view;
	Elf64_Phdr path;
	return snap_elf_segment(view, PT_INTERP, &path)
		       ? has_text(view, path.p_offset, path.p_filesz, "/ld-musl-")
		       : has_text(view, 0, view->size, "No error information");
}

static enum hg_status find_runtime_version(struct snap_runtime *runtime, struct hg_error *error)
{
	char text[64];
	if (runtime->found && !runtime->found->version[0])
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"'%s' has neither symbols nor Stdlib.Sys: which OCaml it is of cannot be "
			"told",
			runtime->image->program);
	bool found = runtime->bytecode
			     ? snap_bytecode_version(runtime, text, sizeof(text))
			     : !runtime->found && version_of_stdlib(runtime, text, sizeof(text));
	if (runtime->found)
		snprintf(text, sizeof(text), "%s", runtime->found->version);
	else if (!found) {
		snprintf(text, sizeof(text), "%s",
			snap_version_of_symbols(runtime->is_5, image_has_symbol, runtime->image));
		snap_note_line(runtime,
			"the program has no Stdlib.Sys: taken for OCaml %s by its symbols", text);
	}
	BASE_TRY(base_pool_string(&runtime->pool, text, strlen(text), &runtime->version, error));
	runtime->layout = snap_layout_of(text);
	if (runtime->found && runtime->layout)
		runtime->is_5 = runtime->layout->version >= SNAP_OCAML_5_0;
	if (!runtime->layout || (runtime->layout->version >= SNAP_OCAML_5_0) != runtime->is_5)
		return base_fail(error, HG_ERROR_INPUT, HG_NO_OFFSET,
			"'%s' is of OCaml %s; supported are " SNAP_OCAML_SUPPORTED "%s",
			runtime->image->program, text, snap_layout_remedy(text));
	const unsigned musl_mutex_bytes = 40; /* on every processor of 64 bits */
	runtime->own_layout = snap_layout_with_mutex(runtime->layout,
		uses_musl(runtime->image) ? musl_mutex_bytes
					  : snap_arch_of(runtime->image)->mutex_bytes);
	runtime->layout = &runtime->own_layout;
	return HG_OK;
}

/* Opening */

static enum hg_status read_runtime(struct snap_runtime *runtime, struct hg_error *error)
{
	BASE_TRY(find_one_runtime(runtime, error));
	BASE_TRY(find_family(runtime, error));
	BASE_TRY(check_kind_of_code(runtime, error));
	BASE_TRY(find_reserved_bits(runtime, error));
	BASE_TRY(find_runtime_version(runtime, error));
	if (runtime->found)
		BASE_TRY(snap_find_variables(runtime, error));
	runtime->ephemeron_none = snap_variable_word(runtime, "caml_ephe_none");
	BASE_TRY(snap_read_ranges(runtime, error));
	BASE_TRY(snap_read_frame_tables(runtime, error));
	const struct snap_family *family = runtime->is_5 ? &snap_family_5 : &snap_family_4;
	BASE_TRY(family->read_domains(runtime, error));
	BASE_TRY(runtime->bytecode ? snap_find_interpreters(runtime, error)
				   : snap_find_innermost(runtime, error));
	BASE_TRY(family->read_areas(runtime, error));
	if (runtime->found)
		BASE_TRY(snap_check_headers(runtime, error));
	BASE_TRY(runtime->bytecode ? snap_read_bytecode_units(runtime, error)
				   : snap_read_units(runtime, error));
	BASE_TRY(snap_read_named_values(runtime, error));
	BASE_TRY(snap_read_c_roots(runtime, error));
	BASE_TRY(family->read_roots(runtime, error));
	snap_sort_roots(runtime);
	return HG_OK;
}

enum hg_status snap_runtime_open(
	struct snap_runtime *runtime, struct snap_image *image, struct hg_error *error)
{
	enum { LEAST_BUDGET = 65536 };
	*runtime = (struct snap_runtime){
		.image = image, .budget = snap_image_bytes(image) / 8 + LEAST_BUDGET};
	enum hg_status status = read_runtime(runtime, error);
	if (status != HG_OK)
		snap_runtime_close(runtime);
	return status;
}

void snap_runtime_close(struct snap_runtime *runtime)
{
	snap_release_frame_tables(runtime);
	snap_release_found(runtime);
	snap_release_bytecode(runtime);
	base_map_release(&runtime->strings);
	base_map_release(&runtime->custom_kinds);
	free(runtime->areas);
	free(runtime->units);
	snap_roots_release(&runtime->roots);
	free(runtime->stacks);
	free(runtime->ephemerons);
	free(runtime->samples);
	base_pool_release(&runtime->pool);
	*runtime = (struct snap_runtime){0};
}
