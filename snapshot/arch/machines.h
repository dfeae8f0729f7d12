/*
 * The machines of ELF files: what core files have of those that can be read, and the names of
 * others for messages.  Only the headers of files need it; what else differs is in arch.h.
 */
#ifndef SNAPSHOT_ARCH_MACHINES_H
#define SNAPSHOT_ARCH_MACHINES_H

#include <stdbool.h>
#include <stdint.h>

struct snap_machine {
	uint16_t number;          /* e_machine */
	uint8_t register_count;   /* in the kernel's notes on threads */
	uint8_t thread_pointer;   /* its place among struct snap_thread's registers */
	uint32_t thread_note;     /* type of the kernel's note that has it; 0: it is one of these */
	uint32_t signatures_note; /* type of the note with the bits of signatures; 0: there is none
				   */
	uint8_t struct_alignment; /* of static structs and arrays of two words or more */
	uint64_t no_address_bits; /* which a return address may have set and a place of code not */
};

/* NULL for a machine whose files cannot be read. */
const struct snap_machine *snap_machine_of(uint16_t number);

/* "RISC-V"; NULL for one that has no name here. */
const char *snap_machine_name(uint16_t number);

/* For messages: what snap_machine_of() knows. */
#define SNAP_KNOWN_MACHINES "x86-64 and arm64"

#endif
