#!/bin/bash
# 'why': patterns that match nothing and the names that are near, on a small core whose source,
# tests/fixtures/cores/tiny.ml, says what there is; merged paths, and who points to blocks.
# shellcheck disable=SC2016 # programs of jq
. tests/cli/lib.sh

core=$fixtures/cores/tiny-5.3.0.core.zst
zstd -dqf "$fixtures/cores/tiny-5.3.0.prof.zst" -o "$work/exe.prof"
typed=(--prof "$work/exe.prof" "$core")

# near NAME PATTERN NAME...: nothing matches, and these are named, in this order.
near() {
	local name=$1 pattern=$2 list='' one
	shift 2
	for one; do
		list="$list, '$one'"
	done
	refuses "$name: exit 2" 2 why "$pattern" "${typed[@]}"
	check_equal "$name: the nearest" \
		"$(sed -nE "s/.*; the nearest (is|are)(.*)/,\2/p" "$work/err")" "$list"
}

near 'a letter is missing' Tiny.itm Tiny.item 'Tiny.item Map.Make(String).t' \
	'Tiny.item Map.Make(String).t ref' 'Tiny.item option'
near 'letters of a type in the wrong order' type:Tiny.itme Tiny.item \
	'Tiny.item Map.Make(String).t' 'Tiny.item Map.Make(String).t ref' 'Tiny.item option'
near 'small and capital letters' type:tiny.ITEM Tiny.item 'Tiny.item Map.Make(String).t' \
	'Tiny.item Map.Make(String).t ref' 'Tiny.item option'
near 'a global' root:tiny.tabel root:Tiny.table
near 'a global instead of a type' Tiny.tabl root:Tiny.table
near 'nothing like it' xyzzyxyzzy
for format in csv json; do
	refuses "$format: nothing is written" 2 why Tiny.itm --format $format "${typed[@]}"
done
# What is named selects something.
run why Tiny.itm "${typed[@]}"
grep -oE "'[^']*'" "$work/err" | tr -d "'" | tail -n +2 >"$work/names"
while IFS= read -r one; do
	check_run "'$one' is a pattern" 0 why "$one" "${typed[@]}"
done <"$work/names"
for verb in tree 'tree --blocks' dot 'dot --blocks'; do
	# shellcheck disable=SC2086 # a verb with an option
	refuses "$verb --from: exit 2" 2 $verb --from Tiny.itm "${typed[@]}"
	check "$verb --from: the nearest" grep -qF \
		"nothing matches 'Tiny.itm'; the nearest are 'Tiny.item', " "$work/err"
done
refuses 'historical, by location: exit 2' 2 why cache.ml:999 "$cache0"
check 'historical, by location: the nearest' grep -qE "the nearest are 'cache\.ml:[0-9]+:" "$work/err"

# Merged: 200 items in a map, of which every second is the option 'next' of another one; the map has
# inner nodes and leaves of one class.  Of these only the nodes that are on a shortest path count.
run why Tiny.item --format json "${typed[@]}"
cp "$work/out" "$work/json"
check_equal 'rows of one type each, recursion folded' \
	"$(jq -r '.rows[] | "\(.depth) \(.name) \(.nodes) \(.targets)"' "$work/json")" \
	"0 global Tiny.table 1 200
1 Tiny.item Map.Make(String).t ref 1 200
2 Tiny.item Map.Make(String).t 195 200
3 Tiny.item 200 200"
check_equal 'what the path of the first repeats is one run, the block itself alone' \
	"$(jq -r '[.steps[-1].type, .runs[-1].steps, .runs[-1].name] | join(" ")' "$work/json")" \
	'Tiny.item 1 Tiny.item'
check 'runs are all steps, one after the other' jq -e '
	([.runs[].steps] | add) == (.steps | length) and
	all(range(1; .runs | length) as $i | .runs[$i].first == .runs[$i - 1].first + .runs[$i - 1].steps; .)' \
	"$work/json"
run why '(int -> int) list' --format json "${typed[@]}"
check_equal 'a list is one row' \
	"$(jq -r '.rows[] | "\(.depth) \(.name) \(.nodes)"' "$work/out")" \
	"0 global Tiny.handlers 1
1 (int -> int) list ref 1
2 (int -> int) list 20"
# The end of the list: 19 cells before it, which people see as one row.
run objects --format csv "${typed[@]}"
end=$(columns address type retained_bytes <"$work/out" |
	awk -F '\t' '$2 == "(int -> int) list" { print $3, $1 }' | sort -n | head -n 1 | cut -d ' ' -f 2)
run why "$end" "${typed[@]}"
check 'to the end of the list' grep -qE '\.contents  \(int -> int\) list x 19$' "$work/out"
check_equal 'in four rows' "$(awk '/root or block/ { on = 1; next } /^$/ { on = 0 } on' "$work/out" | wc -l)" 4
check 'with the end itself' grep -qF " $end (int -> int) list, 2 words" "$work/out"

# The list that the stack holds, and nothing else: no lasting root is named.
run roots --format csv "${typed[@]}"
held=$(columns kind address <"$work/out" | awk -F '\t' '$1 == "stack" { print $2; exit }')
run why "$held" --format json "${typed[@]}"
check 'only the stack holds it' jq -e '.rows[0].name | startswith("stack Tiny.wait")' "$work/out"

# Who points to blocks of a type: as all pointers and all blocks say.
referrers() {
	local name=$1 type=$2
	shift 2
	run edges --format csv "$@"
	cp "$work/out" "$work/edges"
	run objects --format csv "$@"
	cp "$work/out" "$work/objects"
	check_run "$name: who points to $type" 0 why --referrers --format csv "$type" "$@"
	cp "$work/out" "$work/referrers"
	check "$name: holders of $type" python3 tests/cli/referrers.py \
		"$work/referrers" "$work/edges" "$work/objects" "$type"
	check "$name: there are some" test "$(wc -l <"$work/referrers")" -gt 1
}

for version in 4.13.1 5.3.0; do
	zstd -dqf "$fixtures/cores/tiny-$version.prof.zst" -o "$work/$version.prof"
	for type in Tiny.item string; do
		referrers "$version" "$type" --prof "$work/$version.prof" \
			"$fixtures/cores/tiny-$version.core.zst"
	done
done
referrers 'cache' Cache.session "$cache0"
referrers 'cache, later' string "$cache5"
referrers 'cache, all roots alike' string --roots all "$cache5"
run why --referrers Tiny.item "${typed[@]}"
check 'text: which field' grep -qE '^ +200 +200 +200 +101 .* Node\.d +Tiny\.item Map' "$work/out"
check_equal 'text: --limit' \
	"$("$hg" why --referrers string --limit 3 "${typed[@]}" | grep -c 'more rows; --limit 0 shows all')" 1
refuses 'nothing matches' 2 why --referrers Tiny.itm "${typed[@]}"
