#!/bin/bash
# Cores of programs that were stopped at an arbitrary moment: expected.tsv beside them says how many
# blocks of a size are reachable, all of them from nowhere but running stacks in gt*.  The counts
# hold only if stacks are unwound and what a minor collection or a slice has half done is repaired.
. tests/cli/lib.sh

if ! has_cores; then
	skip 'cores of stopped programs' "none in $cores"
	exit 0
fi

# dangling_limit CORE: pointers to no block that may be left in reachable blocks: to one that a minor
# collection had half copied, by README.md there.
dangling_limit() {
	case $1 in
	*.minor-1bad.core | 53-busy/big.minor.core) echo 1 ;;
	*) echo 0 ;;
	esac
}

# check_stop CORE EXECUTABLE WOSIZE MINIMUM MAXIMUM
check_stop() {
	local name=$1 wosize=$3 minimum=$4 maximum=$5 found dangling
	local from=(--exe "$work/$2" --libraries "$work/lib" "$work/$1")
	run objects --format csv "${from[@]}"
	found=$(columns words segment reachable <"$work/out" |
		awk -v wosize="$wosize" '$1 == wosize && $2 != "static" && $3' | wc -l)
	if [ "$found" -ge "$minimum" ] && [ "$found" -le "$maximum" ]; then
		ok "$name: $found blocks of $wosize words"
	else
		not_ok "$name" "$found blocks of $wosize words, not $minimum to $maximum: $(gist "$work/err")"
	fi
	run summary --format json "${from[@]}"
	dangling=$(jq .totals.dangling_pointers "$work/out")
	check "$name: $dangling pointers to no block" test "$dangling" -le "$(dangling_limit "$name")"
	check_equal "$name: reconciliation" "$(jq '[.reconciliation[]] | all' "$work/out")" true
}

unpack_cores lib 413-gt 413-busy 53-gt 53-busy
while IFS=$'\t' read -r core executable wosize minimum maximum; do
	case $core in
	'#'*) ;;
	*) check_stop "$core" "$executable" "$wosize" "$minimum" "$maximum" ;;
	esac
done <"$cores/expected.tsv"
check_equal 'stops that are expected' "$(grep -vc '^#' "$cores/expected.tsv")" 21
