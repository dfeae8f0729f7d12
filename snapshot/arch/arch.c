/* The table of processors, and what is asked of the one that an image is of. */
#include "snapshot/arch/arch.h"

#include "base/assert.h"
#include "snapshot/arch/aarch64.h"
#include "snapshot/arch/x86_64.h"

static const struct snap_arch *const rows[] = {&snap_x86_64, &snap_aarch64};

static const struct snap_arch *arch_of_machine(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i]->machine == machine)
			return rows[i];
	/* Files of other machines are refused when they are opened. */
	base_assert(machine == rows[0]->machine);
	return rows[0];
}

const struct snap_arch *snap_arch_of(const struct snap_image *image)
{
	return arch_of_machine(image->view.header.e_machine);
}

enum hg_status snap_operands(struct snap_image *image, uint64_t function, uint64_t size,
	struct snap_operand *out, size_t capacity, size_t *count, struct hg_error *error)
{
	return snap_arch_of(image)->operands(image, function, size, out, capacity, count, error);
}

enum hg_status snap_copied_from(const struct snap_image *image, struct snap_range code,
	struct snap_range to, uint64_t initialize, uint64_t *sources, struct hg_error *error)
{
	return snap_arch_of(image)->copied_from(image, code, to, initialize, sources, error);
}

enum hg_status snap_constant_function(struct snap_image *image, uint64_t function, uint64_t *value,
	bool *found, struct hg_error *error)
{
	return snap_arch_of(image)->constant_function(image, function, value, found, error);
}

uint64_t snap_taken_by_code(const struct snap_image *image, uint64_t pc)
{
	return snap_arch_of(image)->taken_by_code(image, pc);
}

bool snap_thread_local_offset(const struct snap_elf_view *view, uint64_t inside, int64_t *offset)
{
	Elf64_Phdr tls;
	if (!snap_elf_segment(view, PT_TLS, &tls))
		return false;
	uint64_t align = tls.p_align ? tls.p_align : 1;
	if (align & (align - 1) || tls.p_memsz > UINT64_MAX - align || inside >= tls.p_memsz)
		return false;
	const struct snap_arch *arch = arch_of_machine(view->header.e_machine);
	*offset = arch->thread_local_offset(tls.p_memsz, align, inside);
	return true;
}

uint64_t snap_thread_pointer(const struct snap_image *image, const struct snap_thread *thread)
{
	return thread->registers[snap_arch_of(image)->thread_pointer];
}

/* What is read in the place of the executable may be a library that it has loaded. */
static bool main_is_executable(const struct snap_image *image)
{
	const struct snap_elf_view *view = &image->main->elf.view;
	Elf64_Phdr linker;
	uint64_t entry;
	return view->header.e_type == ET_EXEC || snap_elf_segment(view, PT_INTERP, &linker) ||
	       (snap_image_auxv(image, AT_ENTRY, &entry) &&
		       entry == view->header.e_entry + image->main->bias);
}

bool snap_thread_variable(const struct snap_image *image, const struct snap_thread *thread,
	const struct snap_symbol *symbol, uint64_t *address)
{
	int64_t offset;
	uint64_t own = snap_thread_pointer(image, thread);
	if (own == 0 || !symbol->is_tls || symbol->file != image->main ||
		!main_is_executable(image) ||
		!snap_thread_local_offset(&image->main->elf.view, symbol->address, &offset))
		return false;
	*address = own + (uint64_t)offset;
	return true;
}
