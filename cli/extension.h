/* What the name of an output file says about its format. */
#ifndef CLI_EXTENSION_H
#define CLI_EXTENSION_H

#include "cli/run.h"

/*
 * Chooses the format that the name of -o asks for, unless --format was given: values.format, or
 * run->extension if it is one of those of the verb.  HG_ERROR_USAGE for the name of a format that
 * the verb does not write, which would be a file of text with a misleading name.  Any other name
 * says nothing.
 */
enum hg_status cli_choose_format(struct cli_run *run);

/* HG_ERROR_USAGE if this command was built without Graphviz; before the snapshot is opened. */
enum hg_status cli_check_drawing(struct cli_run *run);

#endif
