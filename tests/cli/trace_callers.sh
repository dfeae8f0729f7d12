#!/bin/bash
# Trees of traces from the inside out: against folded stacks and the events of the dump.
# shellcheck disable=SC2016 # programs of awk
. tests/cli/lib.sh

trace=$fixtures/memtrace/leak-1e-4.ctf
deep=$fixtures/memtrace/deep-1e-1.ctf
more_traces=${MORE_TRACES:-../shared/data/memtrace}

# paths COLUMN: of a tree as CSV, "path TAB samples" for each node, the root left out.
paths() {
	columns depth function samples | awk -F '\t' -v OFS='\t' '
		$1 > 0 { path[$1] = $1 > 1 ? path[$1 - 1] ";" $2 : $2; print path[$1], $3 }' | LC_ALL=C sort
}

# suffixes: of "frame;frame;...;frame TAB samples", outermost first, the same from the inside out.
suffixes() {
	awk -F '\t' -v OFS='\t' '{
			n = split($1, frame, ";"); path = ""
			for (i = n; i > 0; i--) { path = path == "" ? frame[i] : path ";" frame[i]; sum[path] += $2 }
		} END { for (path in sum) print path, sum[path] }' | LC_ALL=C sort
}

# Every stack of the tree is a stack of its callers.
"$hg" trace tree --format csv $trace | columns depth function own_bytes |
	awk -F '\t' -v OFS='\t' '$1 > 0 { path[$1] = $1 > 1 ? path[$1 - 1] ";" $2 : $2
		if ($3 > 0) print path[$1], $3 / 80000 }' >"$work/stacks"
check_run 'callers' 0 trace callers --format csv $trace
paths <"$work/out" >"$work/got"
suffixes <"$work/stacks" >"$work/wanted"
check_same 'callers: as the stacks say' "$work/got" "$work/wanted"
check 'callers: more than one' test "$(wc -l <"$work/got")" -gt 50

# The largest are the same, whether the others are made or not.
check_run 'callers: the largest' 0 trace callers --format csv --limit 25 $trace
check_equal 'callers: so many' "$(wc -l <"$work/out")" 26
columns samples <"$work/out" | sort -rn >"$work/largest"
"$hg" trace callers --format csv $trace | columns samples | sort -rn | head -n 25 >"$work/wanted"
check_same 'callers: the largest of all' "$work/largest" "$work/wanted"
check_run 'callers: large ones' 0 trace callers --format csv --min-samples 1000 $trace
paths <"$work/out" >"$work/large"
awk -F '\t' '$2 >= 1000' "$work/got" >"$work/wanted"
check_same 'callers: large ones of all' "$work/large" "$work/wanted"

# Of one function, with all below it.
check_run 'callers of a function' 0 trace callers --format csv --of Stdlib__List.mapi $trace
paths <"$work/out" >"$work/got"
awk -F '\t' -v OFS='\t' '{ n = split($1, frame, ";"); path = ""
		for (i = 1; i <= n; i++) { path = path == "" ? frame[i] : path ";" frame[i]
			if (frame[i] == "Stdlib__List.mapi") print path, $2 } }' "$work/stacks" | suffixes >"$work/wanted"
check_same 'callers of a function: as the stacks say' "$work/got" "$work/wanted"
check_run 'callers of nothing' 2 trace callers --of no_such_function $trace

# From the place of allocation, what is alive: every slot of every stack.
alive() {
	"$hg" trace dump "$2" | awk -v OFS='\t' -v at="$1" '
		$3 ~ /^alloc/ { samples[$2] = $4; time[$2] = $1 + 0; gone[$2] = 1e18
			stack = substr($0, index($0, ": ") + 2); gsub(" ", ";", stack); stacks[$2] = stack }
		$3 == "collect" { gone[$2] = $1 + 0 }
		END { for (id in samples) if (time[id] <= at && gone[id] > at) print stacks[id], samples[id] }'
}
alive 1e17 $trace | suffixes >"$work/wanted"
check_run 'from allocation' 0 trace tree --from allocation --format csv $trace
paths <"$work/out" >"$work/got"
check_same 'from allocation: what is alive at the end' "$work/got" "$work/wanted"
alive 200000 $trace | suffixes >"$work/wanted"
check_run 'from allocation at a time' 0 trace tree --from allocation --at 200ms --format csv $trace
paths <"$work/out" >"$work/got"
check_same 'from allocation: what is alive then' "$work/got" "$work/wanted"
check_run 'from allocation: the largest of stacks of 12,000 frames' 0 trace tree --from allocation $deep
check 'from allocation: the rest is said' grep -q '^(smaller ones are left out: --limit 0 --min-samples 1 shows all)' "$work/out"
check_run 'from allocation: not folded' 2 trace tree --from allocation --format folded $trace
check_run 'from allocation: JSON' 0 trace tree --from allocation --min-samples 200 --format json $trace
check 'from allocation: JSON: the large ones' jq -e '.samples_total == 1715 and (.rows | length) == 9 and .verb == "trace tree"' "$work/out"

# The other direction leaves small ones out too.
check_run 'tree: large ones' 0 trace tree --min-samples 1000 --format csv $trace
columns samples <"$work/out" >"$work/got"
"$hg" trace tree --format csv $trace | columns samples | awk '$1 >= 1000' >"$work/wanted"
check_same 'tree: large ones of all' "$work/got" "$work/wanted"

# Runs of calls, by brute force over all stacks; the rest of each stack's own share is at its node.
# own_stacks FILE BYTES: "frame;frame TAB samples", where a sample stands for so many bytes.
own_stacks() {
	"$hg" trace tree --format csv "$1" | columns depth function own_bytes |
		awk -F '\t' -v OFS='\t' -v bytes="$2" '{ path[$1] = $1 > 1 ? path[$1 - 1] ";" $2 : $2
			if ($3 > 0) print ($1 > 0 ? path[$1] : ""), int($3 / bytes + 0.5) }'
}
# as_brute_force FILE BYTES: those that account for as much may come in another order.
as_brute_force() {
	local name
	name=$(basename "$1" .ctf)
	check_run "$name: hot paths" 0 trace hot-paths --format csv "$1"
	columns path samples <"$work/out" >"$work/rows"
	check "$name: hot paths: the most first" sort -t $'\t' -k 2,2rn -s -c "$work/rows"
	LC_ALL=C sort "$work/rows" >"$work/got"
	own_stacks "$1" "$2" | tests/cli/trace_hot_paths.py | LC_ALL=C sort >"$work/wanted"
	check_same "$name: hot paths as brute force" "$work/got" "$work/wanted"
	check "$name: hot paths: there are some" test -s "$work/got"
}
as_brute_force $trace 80000
as_brute_force $fixtures/memtrace/trees-1e-6.ctf 8000000
if [ ! -d "$more_traces" ]; then
	skip 'traces of real programs' "no $more_traces"
	exit 0
fi
as_brute_force "$more_traces/json-1e-3.ctf" 8000
as_brute_force "$more_traces/maps-1e-3.ctf" 8000
as_brute_force "$more_traces/v3-leak-1e-3-dom4.ctf" 8000
