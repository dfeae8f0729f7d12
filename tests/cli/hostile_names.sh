#!/bin/bash
# Names with control bytes, quotes, markup, formulas, no UTF-8 or what joins paths, as types, fields, globals,
# sources, programs, files, patterns and reasons: every output is read back by a parser that is not ours.
. tests/cli/lib.sh

# With sanitizers, where runs take long, only names of odd bytes and lengths.
! is_brief || export EVERY=11 ONLY='no UTF-8|long ones'
tests/cli/hostile_names.py "$hg" "$work"
