/* arm64: its row, and what its files share. */
#ifndef SNAPSHOT_ARCH_AARCH64_H
#define SNAPSHOT_ARCH_AARCH64_H

#include "snapshot/arch/arch.h"
#include "snapshot/arch/disassembler.h"

extern const struct snap_arch snap_aarch64;

/* As snap_operands() (aarch64_operands.c). */
enum hg_status snap_aarch64_operands(struct snap_image *image, uint64_t function, uint64_t size,
	struct snap_operand *out, size_t capacity, size_t *count, struct hg_error *error);

/* As snap_copied_from() (aarch64_copies.c). */
enum hg_status snap_aarch64_copied_from(const struct snap_image *image, struct snap_range code,
	struct snap_range to, uint64_t initialize, uint64_t *sources, struct hg_error *error);

/* Of instructions (aarch64_code.c): the number in DWARF of a general register of Capstone's, of
   whichever width; SNAP_A64_SP and above: of none. */
unsigned snap_aarch64_register_of(unsigned reg);

/* Bytes of a register of Capstone's: w 4, s 4, q 16, h 2, b 1, others 8. */
uint8_t snap_aarch64_register_bytes(unsigned reg);

/* Bytes that a load or a store moves for each of its registers; 0 if it is neither. */
uint8_t snap_aarch64_access_bytes(const cs_insn *insn);

/*
 * Whether an address of the executable holds one of another place, which the linker or the dynamic
 * linker has written there (the global offset table, which is read-only from then on); and which.
 */
bool snap_aarch64_linked_address(
	const struct snap_image *image, uint64_t address, uint64_t *linked);

#endif
