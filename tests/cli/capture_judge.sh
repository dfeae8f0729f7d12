#!/bin/bash
# The judge of make stress-capture notices each of the faults that a saboteur plants in place of
# heapgraph, and no others.
# Waits: it waits a second for what a sound capture does at once.
. tests/cli/lib.sh

# judge NAME=VALUE...: the table of one program that nobody kills captures of is in $work/table.
judge() {
	env "$@" CAPTURER="$BUILD/saboteur" TARGETS=C-busy CAPTURES=1 KILLS_RANDOM=0 KILLS_PAUSE=0 \
		SLOW_SECONDS=0 LOAD_SECONDS=0 tests/stress/capture >"$work/table" 2>"$work/err" \
		</dev/null || true
}

# column NAME: the sum of a column of the table.
column() {
	awk -v name="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
		$NF == "fine" || $NF == "FAILED" || $NF == "too-few-kills" { sum += $column }
		END { print sum + 0 }' "$work/table"
}

judge FAULT=none
check 'no fault is planted: none is found' grep -q '^1 passed, 0 failed$' "$work/table"
for pair in refuse:refused kill:killed stop:stuck mask:mask general:torn vector:torn copy:copies \
	zombie:unreaped stack:stack stuck:stuck sum:torn; do
	judge FAULT="${pair%:*}" PATIENCE=1
	check "planted fault ${pair%:*}: column ${pair#*:}" test "$(column "${pair#*:}")" -gt 0
	check "planted fault ${pair%:*}: fails" grep -q '^0 passed, 1 failed$' "$work/table"
done
