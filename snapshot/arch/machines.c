/* The tables of machines: those that can be read, and names (<elf.h>, EM_...). */
#include "snapshot/arch/machines.h"

#include "snapshot/arch/registers.h"

#include <elf.h>
#include <stddef.h>

static const struct snap_machine machines[] = {
	{.number = SNAP_MACHINE_X86_64,
		.register_count = SNAP_X86_64_PLACES,
		.thread_pointer = SNAP_USER_FS_BASE,
		/* By its ABI for arrays; gcc does so for structs, too. */
		.struct_alignment = 16},
	/*
	 * Addresses of user programs have 48 bits.  Those above are signatures of return addresses
	 * (pointer authentication), and from OCaml 5.5 on bit 60 marks frames that were scanned
	 * (runtime/caml/stack.h, CODE_POINTER_MARK_BIT).
	 */
	{.number = SNAP_MACHINE_AARCH64,
		.register_count = SNAP_AARCH64_GIVEN,
		.thread_pointer = SNAP_USER_A64_TP,
		.thread_note = NT_ARM_TLS,
		.signatures_note = NT_ARM_PAC_MASK,
		.struct_alignment = 8,
		.no_address_bits = (uint64_t)0xffff << 48},
};

static const struct {
	uint16_t number;
	const char *name;
} names[] = {
	{EM_386, "i386"},
	{EM_ARM, "32-bit ARM"},
	{EM_MIPS, "MIPS"},
	{EM_PPC, "32-bit POWER"},
	{EM_PPC64, "POWER"},
	{EM_RISCV, "RISC-V"},
	{EM_S390, "IBM Z"},
	{EM_SPARCV9, "SPARC"},
	{EM_X86_64, "x86-64"},
	{EM_AARCH64, "arm64"},
	{EM_LOONGARCH, "LoongArch"},
};

const struct snap_machine *snap_machine_of(uint16_t number)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].number == number)
			return &machines[i];
	return NULL;
}

const char *snap_machine_name(uint16_t number)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].number == number)
			return names[i].name;
	return NULL;
}
