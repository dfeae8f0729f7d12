/* Of instructions of arm64: registers, bytes, and words that the linker has written. */
#include "snapshot/arch/aarch64.h"

unsigned snap_aarch64_register_of(unsigned reg)
{
	if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
		return reg - ARM64_REG_X0;
	if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
		return reg - ARM64_REG_W0;
	if (reg == ARM64_REG_X29)
		return SNAP_A64_X29;
	return reg == ARM64_REG_X30 ? SNAP_A64_X30 : SNAP_A64_SP;
}

uint8_t snap_aarch64_register_bytes(unsigned reg)
{
	if (reg == ARM64_REG_WZR || (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30) ||
		(reg >= ARM64_REG_S0 && reg <= ARM64_REG_S31))
		return 4;
	if (reg >= ARM64_REG_Q0 && reg <= ARM64_REG_Q31)
		return 16;
	if (reg >= ARM64_REG_H0 && reg <= ARM64_REG_H31)
		return 2;
	if (reg >= ARM64_REG_B0 && reg <= ARM64_REG_B31)
		return 1;
	return 8;
}

uint8_t snap_aarch64_access_bytes(const cs_insn *insn)
{
	const cs_arm64 *arm = &insn->detail->arm64;
	switch (insn->id) {
	case ARM64_INS_LDRB:
	case ARM64_INS_LDRSB:
	case ARM64_INS_LDURB:
	case ARM64_INS_LDURSB:
	case ARM64_INS_LDARB:
	case ARM64_INS_LDAXRB:
	case ARM64_INS_LDXRB:
	case ARM64_INS_STRB:
	case ARM64_INS_STURB:
	case ARM64_INS_STLRB:
	case ARM64_INS_STLXRB:
	case ARM64_INS_STXRB:
		return 1;
	case ARM64_INS_LDRH:
	case ARM64_INS_LDRSH:
	case ARM64_INS_LDURH:
	case ARM64_INS_LDURSH:
	case ARM64_INS_LDARH:
	case ARM64_INS_STRH:
	case ARM64_INS_STURH:
	case ARM64_INS_STLRH:
		return 2;
	case ARM64_INS_LDRSW:
	case ARM64_INS_LDURSW:
	case ARM64_INS_LDPSW:
		return 4;
	case ARM64_INS_STXR:
	case ARM64_INS_STLXR:
		return snap_aarch64_register_bytes((unsigned)arm->operands[1].reg);
	case ARM64_INS_LDR:
	case ARM64_INS_LDUR:
	case ARM64_INS_LDP:
	case ARM64_INS_LDNP:
	case ARM64_INS_LDAR:
	case ARM64_INS_LDXR:
	case ARM64_INS_LDAXR:
	case ARM64_INS_STR:
	case ARM64_INS_STUR:
	case ARM64_INS_STP:
	case ARM64_INS_STNP:
	case ARM64_INS_STLR:
		return snap_aarch64_register_bytes((unsigned)arm->operands[0].reg);
	default:
		return 0;
	}
}

bool snap_aarch64_linked_address(const struct snap_image *image, uint64_t address, uint64_t *linked)
{
	const struct snap_image_file *main = image->main;
	uint64_t inside = address - main->bias;
	Elf64_Phdr relro;
	return snap_elf_segment(&main->elf.view, PT_GNU_RELRO, &relro) && inside % 8 == 0 &&
	       inside >= relro.p_vaddr && inside - relro.p_vaddr < relro.p_memsz &&
	       snap_image_u64(image, address, linked);
}
