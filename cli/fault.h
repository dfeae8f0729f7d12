/*
 * Input is mapped.  A file that somebody cuts short while it is read, or whose disk fails, has no
 * bytes where they are read then: the kernel sends SIGBUS to the thread that reads them, of which
 * there may be several.  The command ends then as it does for any input that cannot be read.
 */
#ifndef CLI_FAULT_H
#define CLI_FAULT_H

/* Installs the handler; once, at the start of the program. */
void cli_fault_init(void);

#endif
