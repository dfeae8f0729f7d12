/*
 * The roots of an OCP-2014D001 dump: globals, stacks, and what waits for finalisers.
 */
#ifndef SNAPSHOT_LEGACY_OCP2014_ROOTS_H
#define SNAPSHOT_LEGACY_OCP2014_ROOTS_H

#include "snapshot/legacy/ocp2014_sections.h"

/* ROOT, WEAK and FINA: roots of all kinds, after the blocks. */
enum hg_status snap_ocp_load_roots(struct snap_ocp_loader *l);

#endif
