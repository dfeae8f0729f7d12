#!/bin/bash
# Edges: as many as summary counts, and what objects says follows from them by brute force.
. tests/cli/lib.sh

# edges NAME MOST ARGUMENT...: MOST as edges.py takes it, and ' copies' behind it.
edges() {
	local name=$1 most=$2
	shift 2
	run edges --format csv "$@"
	check_equal "$name: fine" "$status" 0
	mv "$work/out" "$work/edges"
	"$hg" objects --format csv "$@" >"$work/objects" 2>"$work/err"
	"$hg" summary --format json "$@" >"$work/summary" 2>"$work/err"
	check_equal "$name: fields as summary counts pointers" \
		"$(columns kind <"$work/edges" | grep -c '^field$')" "$(jq .totals.pointers "$work/summary")"
	"$hg" roots --format csv "$@" 2>"$work/err" | columns kind name address |
		awk -F '\t' '$3 != "" { print $1 " " $2 "\t" $3 }' | sort >"$work/wanted"
	columns from to from_node <"$work/edges" | awk -F '\t' -v n="$(wc -l <"$work/objects")" '
		$3 >= n - 1 { print $1 "\t" $2 }' | sort >"$work/got"
	check_equal "$name: what roots point to as roots says" \
		"$(comm -13 "$work/got" "$work/wanted" | head -n 3)" ''
	# shellcheck disable=SC2086 # one word or two
	check "$name: reachable, dominators and retained bytes by brute force" \
		python3 tests/cli/edges.py "$work/edges" "$work/objects" $most
	check "$name: JSON has the same" sh -c \
		"'$hg' edges --format json $(printf "'%s' " "$@") | jq -r '.rows[] |
		[.from, .field, .to, .kind, .from_node, .to_node] | @csv' | tr -d '\"' >'$work/json' &&
		tail -n +2 '$work/edges' | tr -d '\"\r' | diff - '$work/json'"
	"$hg" edges --threads 3 --format csv "$@" >"$work/again" 2>"$work/err"
	check_same "$name: the same with threads" "$work/again" "$work/edges"
}

edges 'dump 0.1' all $tiny
edges 'dump 0.1, cache' 60 $cache0
edges 'dump 0.2' 60 $fixtures/v02/objs-opt/memprof.28958.0.dump
edges 'ocp' 60 $fixtures/ocp/byte-noloc/memprof.8911.0.after_major_collection.dump
for core in tiny-4.13.1 tiny-5.3.0 fibers-5.3.0 zoo-4.13.1 zoo-5.3.0; do
	zstd -qdf "$fixtures/cores/$core.core.zst" -o "$work/core"
	case $core in tiny*) most=all ;; *) most=150 ;; esac
	edges "$core" "$most copies" "$work/core"
	edges "$core, all roots alike" 60 --roots all "$work/core"
done

run edges $tiny
check 'text: a part' grep -q 'more edges; --limit 0 shows all' "$work/out"
check_equal 'limit' "$("$hg" edges --format csv --limit 3 $tiny | wc -l)" 4
