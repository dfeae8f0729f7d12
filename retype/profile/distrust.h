/*
 * What is said of units that the program has otherwise is forgotten.
 */
#ifndef RETYPE_PROFILE_DISTRUST_H
#define RETYPE_PROFILE_DISTRUST_H

#include "retype/types/types.h"

/* After retype_check_program(), before types are asked for. */
enum hg_status retype_distrust(struct retype_types *types);

#endif
