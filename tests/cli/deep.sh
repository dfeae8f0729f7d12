#!/bin/bash
# A list of a million cells and a tree a million deep in a stack of 256 KB; ten million by make bench.
# Needs 120 MB of disk in TMPDIR.
. tests/cli/lib.sh

blocks=${DEEP_BLOCKS:-1000000}
if is_sanitized; then
	blocks=200000
fi

need=$((blocks * 13 / 100))
if [ "$(df -Pk "$work" | awk 'NR == 2 { print $4 }')" -lt $need ]; then
	skip "deep heaps of $blocks blocks" "less than $need KB in $work"
	exit 0
fi

# deep ARGUMENT...: heapgraph in a small stack.
deep() {
	status=0
	(
		ulimit -s 256
		exec timeout 300 "$hg" "$@" "$work/heap.dump.1.0"
	) >"$work/out" 2>"$work/err" </dev/null || status=$?
}

for shape in deeplist deeptree; do
	"$BUILD/gendump" $shape "$blocks" 1 "$work/heap.dump.1.0" >"$work/said"
	deep summary --format json
	check_equal "$shape of $blocks blocks: exit status" "$status" 0
	check "$shape: everything is reachable, and adds up" jq -e "
		.totals.reachable_blocks >= $blocks and .totals.retained_bytes ==
		.totals.reachable_bytes and (.reconciliation | all)" "$work/out"
	check "$shape: the first block retains the rest" jq -e '
		.dominators[0].retained_bytes * 10 > .totals.retained_bytes * 9' "$work/out"
	address=$("$hg" objects --format csv "$work/heap.dump.1.0" 2>"$work/said" |
		sed -n '2{s/,.*//p;q;}')
	for verb in tree 'tree --blocks' dot 'dot --blocks' "why $address" "object $address"; do
		# shellcheck disable=SC2086 # words
		deep $verb
		check_equal "$shape: exit status of ${verb%% *} in a small stack" "$status" 0
	done
done

deep top --by tag --format csv --progress always
cp "$work/out" "$work/once"
deep top --by tag --format csv --progress never
check_same 'progress changes nothing on stdout' "$work/once" "$work/out"
check 'no progress when it is not wanted' test ! -s "$work/err"
for signal in INT TERM; do
	rm -f "$work/rows"
	status=0
	timeout -s $signal 0.2 "$hg" objects --format csv -o "$work/rows" "$work/heap.dump.1.0" \
		>"$work/out" 2>"$work/err" || status=$?
	# A machine that is done by then has the whole file.
	[ $status -ne 0 ] || rm "$work/rows"
	check "SIG$signal leaves no half-written file" test -z "$(find "$work" -name 'rows*')"
done
