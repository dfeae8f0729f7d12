/*
 * Notes of core files, for their reader (image_open.c) and for the writer of ours: where in the
 * kernel's notes things are, and what our own one is called.  It stands for itself alone, as the
 * writer does.
 */
#ifndef SNAPSHOT_IMAGE_CORE_NOTE_H
#define SNAPSHOT_IMAGE_CORE_NOTE_H

/* Owner and type of the note of ours; tools that do not know the owner know no such type either. */
#define SNAP_CORE_OWNER "heapgraph"
enum { SNAP_CORE_NOTE = 0x68670001, SNAP_CORE_VERSION = 1 };
/* Another one, at the end: which private memory was resident, {start, end} of each run of pages. */
enum { SNAP_CORE_RESIDENT_NOTE = 0x68670002 };

/* struct elf_prstatus and struct elf_prpsinfo of 64-bit machines (sys/procfs.h): bytes. */
enum {
	SNAP_STATUS_SIGNAL = 12, /* 16 bits */
	SNAP_STATUS_ID = 32,
	SNAP_STATUS_REGISTERS = 112,
	SNAP_PROCESS_LETTER = 1, /* state, as a letter */
	SNAP_PROCESS_ID = 24,
	SNAP_PROCESS_NAME = 40,
	SNAP_PROCESS_ARGUMENTS = 56,
	SNAP_PROCESS_SIZE = 136,
};

/* Of struct elf_prstatus, of a machine with so many registers. */
#define SNAP_STATUS_SIZE(registers) (SNAP_STATUS_REGISTERS + 8 * (registers) + 8)

#endif
