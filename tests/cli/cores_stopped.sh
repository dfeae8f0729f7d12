#!/bin/bash
# Cores of programs that were stopped at an arbitrary moment: how many blocks of a size are reachable,
# all of them from nowhere but running stacks, is known.  The counts hold only if stacks are unwound
# and what a minor collection or a slice has half done is repaired.  One is stopped here, by gdb in
# functions of its runtime; of others there are cores, and expected.tsv beside them says the counts.
. tests/cli/lib.sh

# Stops a program in functions of the runtime: 4.13 to 5.3 have some of them each.
functions='caml_oldify_one caml_oldify_local_roots caml_empty_minor_heap caml_darken_all_roots_start
	caml_major_collection_slice caml_alloc_small_dispatch caml_alloc_shr mark_slice sweep_slice
	oldify_one pool_sweep'

# dump_stops PROGRAM PROCESS: cores $work/stop.1 to 4, in those that are called first, a later call.
dump_stops() {
	local i name
	nm "$1" >"$work/symbols"
	{
		for name in $functions; do
			! grep -q " [Tt] $name\$" "$work/symbols" || printf '%s\n' "break *$name" "ignore \$bpnum 20"
		done
		for i in 1 2 3 4; do
			printf '%s\n' continue "gcore $work/stop.$i" "info symbol \$pc" "clear *\$pc"
		done
	} >"$work/commands"
	timeout 120 gdb -nx -batch -p "$2" -x "$work/commands" >"$work/gdb" 2>&1 </dev/null || true
}

# A program with 500 blocks of 97 words on its stack, which allocates (tests/ocaml/programs).
check_live() {
	local process core name stops=0
	cp tests/ocaml/programs/{workers,busy}.ml "$work"
	(cd "$work" && ocamlopt -g -I +unix -I +threads unix.cmxa threads.cmxa workers.ml busy.ml \
		-o busy) >"$work/log" 2>&1 || {
		not_ok 'a program is compiled' "$(gist "$work/log")"
		return
	}
	"$work/busy" 500 churn >"$work/said" 2>&1 </dev/null &
	process=$!
	until grep -q READY "$work/said" || ! kill -0 "$process" 2>/dev/null; do
		sleep 0.05
	done
	dump_stops "$work/busy" "$process"
	kill -KILL "$process"
	wait "$process" 2>/dev/null || true
	sed -n 's/^\(.*\) in section .*/\1/p' "$work/gdb" >"$work/functions"
	for core in "$work"/stop.*; do
		[ -e "$core" ] || continue
		stops=$((stops + 1))
		run objects --format csv --exe "$work/busy" "$core"
		name="stop ${core##*.}, $(sed -n "${core##*.}p" "$work/functions")"
		check_equal "$name: blocks that only the stack holds" "$(columns \
			tag words segment reachable <"$work/out" |
			awk '$1 == 0 && $2 == 97 && $3 != "static" && $4 == 1' | wc -l)" 500
		run summary --format json --exe "$work/busy" "$core"
		check_equal "$name: reconciliation" \
			"$(jq '[.reconciliation[]] | all' "$work/out")" true
		# What is reachable points to a block that is half copied, or to the few that are taken for parts of
		# another one, where an allocation that has begun left old words before the first block.
		check "$name: pointers to no block in reachable blocks, at most 8" test \
			"$(jq .totals.dangling_pointers "$work/out")" -le 8
	done
	check_equal 'functions of the runtime in which it was stopped' "$stops" 4
}

if command -v gdb >/dev/null && command -v ocamlopt >/dev/null; then
	check_live
else
	skip 'a program that is stopped here' 'no gdb or no ocamlopt'
fi

if ! has_cores; then
	skip 'more stopped programs' "none in $cores"
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
