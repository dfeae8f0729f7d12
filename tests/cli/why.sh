#!/bin/bash
# 'why': patterns that match nothing and the names that are near, on a small core whose source,
# tests/fixtures/cores/tiny.ml, says what there is.
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
for verb in tree 'tree --blocks' dot; do
	# shellcheck disable=SC2086 # a verb with an option
	refuses "$verb --from: exit 2" 2 $verb --from Tiny.itm "${typed[@]}"
	check "$verb --from: the nearest" grep -qF \
		"nothing matches 'Tiny.itm'; the nearest are 'Tiny.item', " "$work/err"
done
refuses 'historical, by location: exit 2' 2 why cache.ml:999 "$cache0"
check 'historical, by location: the nearest' grep -qE "the nearest are 'cache\.ml:[0-9]+:" "$work/err"
