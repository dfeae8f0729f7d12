#!/bin/bash
# Root slots: what they retain by other verbs, what they point to by the list of all blocks.
# shellcheck disable=SC2016 # programs of awk and jq
. tests/cli/lib.sh

# rows ARGUMENT...: CSV of the roots, as wide as it is.
rows() {
	run roots --format csv "$@"
	cp "$work/out" "$work/roots"
}

# agree NAME ARGUMENT...: with what top, tree, summary and objects say.
agree() {
	local name=$1
	shift
	rows "$@"
	check_equal "$name: fine" "$status" 0

	columns kind name targets bytes retained_bytes <"$work/roots" | sort >"$work/got"
	"$hg" top --by root --format csv "$@" 2>"$work/err" |
		columns kind name blocks bytes retained_bytes | sort >"$work/wanted"
	check_same "$name: kinds, names and sizes as in top --by root" "$work/got" "$work/wanted"
	check "$name: there are roots" test -s "$work/got"

	columns kind name retained_bytes <"$work/roots" |
		awk -F '\t' '$3 { print $1 " " $2 "\t" $3 }' | sort >"$work/got"
	# A stack that a continuation holds is not right below the virtual root.
	"$hg" tree --blocks --format csv "$@" 2>"$work/err" | columns depth address retained_bytes |
		awk -F '\t' '$1 && $2 !~ /^0x/ && $3 { print $2 "\t" $3 }' | sort >"$work/wanted"
	check_same "$name: what they retain as in tree" "$work/got" "$work/wanted"

	# What a suspended fiber retains is retained by the holder of its continuation.
	columns kind retained_bytes name <"$work/roots" |
		awk -F '\t' '{ roots[$1]++; bytes[$1] += $3 ~ /^suspended fiber/ ? 0 : $2 }
			END { for (kind in roots) print kind "\t" roots[kind] "\t" bytes[kind] }' |
		sort >"$work/got"
	"$hg" summary --format json "$@" >"$work/summary" 2>"$work/err"
	jq -r '.roots[] | select(.kind != "shared") | [.kind, .roots, .retained_bytes] | @tsv' \
		"$work/summary" | sort >"$work/wanted"
	check_same "$name: sums by kind as in summary" "$work/got" "$work/wanted"
	check "$name: they add up to what all roots retain" jq -e \
		'([.roots[].retained_bytes] | add) == .totals.retained_bytes' "$work/summary"

	# Of a block that is none of the list, nothing is known.
	columns address type location confidence targets bytes <"$work/roots" |
		awk -F '\t' '$1 != ""' | sort -u >"$work/got"
	"$hg" objects --format csv "$@" 2>"$work/err" |
		columns address type location confidence reachable bytes |
		awk -F '\t' -v OFS='\t' '
			NR == FNR { wanted[$1]; next }
			$1 in wanted { print $1, $2, $3, $4, $5, $5 ? $6 : 0 }' "$work/got" - |
		sort -u >"$work/wanted"
	check_same "$name: what they point to as in objects" "$work/got" "$work/wanted"

	# The blocks that one root alone holds are what it retains.
	"$hg" objects --format csv "$@" 2>"$work/err" | columns bytes root idom address |
		tee "$work/held" | awk -F '\t' '$2 != "" { bytes[$2] += $1 }
			END { for (root in bytes) print root "\t" bytes[root] }' | sort >"$work/got"
	columns kind name retained_bytes <"$work/roots" | awk -F '\t' '
		$3 && $2 !~ /^suspended fiber/ { bytes[$1 " " $2] += $3 }
		END { for (root in bytes) print root "\t" bytes[root] }' | sort >"$work/wanted"
	check_same "$name: what they retain as by the column root of objects" "$work/got" "$work/wanted"
	# A block and its dominator have the same.
	check "$name: one root for all below a block" awk -F '\t' '
		NR == FNR { root[$4] = $2; next }
		$3 ~ /^0x/ && $2 != root[$3] { print; wrong = 1 }
		END { exit wrong }' "$work/held" "$work/held"
	check "$name: largest first" sort -c -t "$(printf '\t')" -k 1,1nr \
		<(columns retained_bytes retained_offheap_bytes <"$work/roots" | awk '{ print $1 + $2 }')
}

# alike NAME ARGUMENT...: JSON and text have the rows of CSV.
alike() {
	local name=$1
	shift
	rows "$@"
	columns kind name address type location targets bytes retained_bytes reachable confidence \
		<"$work/roots" >"$work/wanted"
	run roots --format json "$@"
	jq -r '.rows[] | [.kind, .name, .address // "", .type, .location, .targets, .bytes,
		.retained_bytes, .reachable, .confidence] | map(tostring) | join("\t")' \
		"$work/out" >"$work/got"
	check_same "$name: JSON as CSV" "$work/got" "$work/wanted"
	check "$name: JSON counts them" jq -e '.rows_total == (.rows | length) and .roots >= .rows_total
		and .with_target == ([.rows[] | select(.address or .targets > 0)] | length)' "$work/out"
	run roots --format text --limit 0 "$@"
	columns kind name <"$work/roots" | tr '\t' ' ' >"$work/wanted"
	# Names are cut where they are long, so each is looked for by its beginning, line by line.
	grep -E '^  +(0x[0-9a-f]+ |[0-9])' "$work/out" | grep -v '^  0 B ' >"$work/got"
	check "$name: text has them in this order" awk '
		NR == FNR { name[NR] = $0; next }
		!index($0, substr(name[FNR], 1, 40)) { print FNR ": " name[FNR]; exit 1 }
		END { exit FNR == 0 }' "$work/wanted" "$work/got"
	check_equal "$name: as many lines" "$(wc -l <"$work/got")" "$(wc -l <"$work/wanted")"
	check_equal "$name: why some retain nothing" "$(grep -c '^  0 B are retained where' "$work/out")" \
		"$(columns targets retained_bytes <"$work/roots" | grep -c -m 1 -P '^[1-9]\d*\t0$')"
}

agree 'dump 0.1' $tiny
agree 'dump 0.1, larger' $cache0
agree 'dump 0.2' $fixtures/v02/objs-opt/memprof.28958.0.dump
agree 'ocp' $fixtures/ocp/byte-noloc/memprof.8911.0.after_major_collection.dump
alike 'dump 0.1' $cache0
for core in "$fixtures"/cores/tiny-*.core.zst; do
	version=${core##*/tiny-}
	typed=(--prof "${core%.core.zst}.prof.zst" "$core")
	agree "core ${version%.core.zst}" "${typed[@]}"
	alike "core ${version%.core.zst}" "${typed[@]}"
done
agree 'core with fibers' "$fixtures/cores/fibers-5.3.0.core.zst"
check 'stacks of fibers lead to several blocks' awk '$1 == "" && $2 > 1 { found++ } END { exit !found }' \
	FS='\t' <(columns address targets <"$work/roots")
if has_cores; then
	# Fibers: their stacks are roots that several blocks hang from, held by a block.
	for name in 53-fib/fib 53-mprof/mprof 413-cache/cache; do
		agree "$name" "$cores/${name%/*}/core.zst" --exe "$cores/$name.zst" \
			--libraries "$cores/lib"
	done
else
	skip 'roots of cores of real programs' "none in $cores"
fi

# Options, by the rows without them.
rows "${typed[@]}"
columns type kind name <"$work/roots" | awk -F '\t' '$1 ~ /Tiny/' >"$work/wanted"
cp "$work/roots" "$work/all"
rows --type Tiny "${typed[@]}"
columns type kind name <"$work/roots" >"$work/got"
check_same '--type' "$work/got" "$work/wanted"
check '--type: there are some, not all' test "$(wc -l <"$work/got")" -gt 1 -a \
	"$(wc -l <"$work/got")" -lt "$(wc -l <"$work/all")"
rows --sort name "${typed[@]}"
columns kind name <"$work/roots" | tr '\t' ' ' >"$work/got"
check '--sort name' sort -c "$work/got"
check_equal '--sort name: none is lost' "$(wc -l <"$work/roots")" "$(wc -l <"$work/all")"
rows --sort bytes "${typed[@]}"
check '--sort bytes' sort -c -nr <(columns bytes <"$work/roots")
rows --limit 3 "${typed[@]}"
check_same '--limit' "$work/roots" <(head -n 4 "$work/all")
run roots "${typed[@]}"
total=$(($(wc -l <"$work/all") - 1))
check 'text: twenty rows, and how many more' grep -q "^  ($((total - 20)) more roots; --limit 0" \
	"$work/out"
check 'text: how many there are' grep -q "^Roots by what they alone keep: $total roots, " "$work/out"
run roots --type Tiny "${typed[@]}"
check 'text: of how many' grep -q "of $total roots, " "$work/out"
run roots --type 'no such type' "${typed[@]}"
check_equal 'no root is no failure' "$status" 0
check 'and said' grep -q '(none)' "$work/out"

# Order of the file among equals: that of the nodes, which object and dot have too.
rows $cache0
columns retained_bytes kind name <"$work/roots" | awk -F '\t' '$1 == 0' | sort -u >"$work/got"
check 'roots that share what they hold retain nothing' test -s "$work/got"

# Roots that pass hold only what lasting ones do not: of the fields of a list that both have, nothing.
# 'held' of tiny.ml is on the stack only, the table in a global only.
kept() {
	columns kind retained_bytes <"$work/roots" | awk -F '\t' -v kind="$1" '$1 == kind { sum += $2 }
		END { print sum + 0 }'
}
for core in "$fixtures"/cores/zoo-*.core.zst; do
	name=${core##*/}
	rows "$core"
	lasting=$(kept global)
	passing=$(kept stack)
	rows --roots all "$core"
	check "$name: globals keep no less than with all roots alike" test "$lasting" -ge "$(kept global)"
	check "$name: stacks keep something" test "$passing" -gt 0
done
lines() {
	run summary "$@"
	sed -n 's/^  roots      //p' "$work/out"
}
check_equal 'summary says which roots count' "$(lines $cache0)" \
	"4 lasting; 5 that pass (stack, local) count last, with '--roots all' alike"
check_equal 'with all roots alike' "$(lines --roots all $cache0)" '9, all alike'
check_equal 'without roots that pass' \
	"$(lines "$fixtures/v02/objs-opt/memprof.28958.0.dump" | sed 's/[0-9,]* //')" 'all lasting'
for which in lasting all; do
	run summary --roots $which --format json $cache0
	check_equal "$which: JSON says so" "$(jq -r .snapshot.roots "$work/out")" $which
done
refuses 'no such roots' 2 roots --roots some $tiny

refuses 'an empty pattern' 2 roots --type '' $tiny
refuses 'a bad pattern' 2 roots --type '(' $tiny
refuses 'no such column' 2 roots --sort nonsense $tiny
refuses 'two snapshots' 2 roots $tiny $tiny
head -c 100000 $cache0 >"$work/heap.dump.8975.0"
refuses 'cut short' 3 roots "$work/heap.dump.8975.0"
run roots --partial "$work/heap.dump.8975.0"
check_equal 'cut short, accepted: exit code' "$status" 4
check 'cut short, accepted: said first' sh -c "head -n 1 '$work/out' | grep -q '^PARTIAL: '"
