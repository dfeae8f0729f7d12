#!/bin/bash
# What does not go together is shown with its place: types and blocks, and pointers to no block.
. tests/cli/lib.sh

# sum COLUMN: of a CSV on stdin.
sum() {
	columns "$1" | awk '{ n += $1 } END { print n + 0 }'
}

# A profile that says the price of an item (tests/fixtures/cores/tiny.ml) is a string: each of the
# 200 items leads to a float.
for version in 4.13.1 5.3.0; do
	core=tests/fixtures/cores/tiny-$version.core.zst
	zstd -dcq "tests/fixtures/cores/tiny-$version.prof.zst" >"$work/right.prof"
	string=$(sed -n 's/^D [0-9]* Tiny\.item .* name:\([0-9]*\) .*/\1/p' "$work/right.prof")
	sed "/^D [0-9]* Tiny\.item /s/price:[0-9]*/price:$string/" "$work/right.prof" >"$work/wrong.prof"

	run types --clashes --format csv --prof "$work/right.prof" "$core"
	check_equal "$version: no clashes" "$(cat "$work/out")" \
		type,holder,location,found,tag,words,clashes,address
	run types --clashes --prof "$work/right.prof" "$core"
	check_equal "$version: no clashes, in text" "$(tail -n 1 "$work/out")" '  (none)'
	run types --clashes --format csv --prof "$work/wrong.prof" "$core"
	cp "$work/out" "$work/clashes"
	columns type holder found tag words clashes <"$work/clashes" >"$work/got"
	check "$version: the price is no string" \
		grep -qx $'string\tTiny.item\tfloat\t253\t1\t200' "$work/got"
	run types --format json --prof "$work/wrong.prof" "$core"
	check_equal "$version: rows are all clashes" "$(sum clashes <"$work/clashes")" \
		"$(jq .shape_clashes "$work/out")"
	run types --clashes --format json --prof "$work/wrong.prof" "$core"
	check_equal "$version: JSON has the same" \
		"$(jq -r '[.clashes[].clashes] | add' "$work/out")" "$(sum clashes <"$work/clashes")"
	run types --clashes --prof "$work/wrong.prof" "$core"
	check "$version: text, too" grep -qE '^ +string +Tiny\.item +float +253 +1 +200 +0x' "$work/out"
	address=$(columns address type <"$work/clashes" | sed -n 's/\tstring$//p' | head -n 1)
	check_run "$version: the first of them is a block" 0 object "$address" \
		--prof "$work/wrong.prof" "$core"
	check "$version: of that shape" grep -q 'float' "$work/out"
done
refuses 'clashes of some types' 2 types --clashes '^Tiny' --prof "$work/wrong.prof" "$core"

# outside NAME ARGUMENT...: rows add up to the totals, in CSV and JSON.
outside() {
	local name=$1
	shift
	run summary --outside --format json "$@"
	local wanted
	wanted=$(jq '.totals | .outside_pointers + .dangling_pointers + .unreachable_dangling_pointers' \
		"$work/out")
	check_equal "$name: JSON: rows are all of them" "$(jq '[.outside[].pointers] | add // 0' "$work/out")" \
		"$wanted"
	run summary --outside --format csv "$@"
	check_equal "$name: CSV: rows are all of them" "$(sum pointers <"$work/out")" "$wanted"
}

for dump in "$tiny" "$cache5" "$fixtures"/ocp/byte-noloc/memprof.8911.0.*; do
	outside "${dump##*/}" "$dump"
done
for version in 4.13.1 5.3.0; do
	outside "core of $version" "tests/fixtures/cores/tiny-$version.core.zst"
done
four=tests/fuzz/cores/4.13
outside 'a core with one' --exe $four.exe $four.core
check_equal 'it leads into the program' "$(columns pointers address place <"$work/out")" \
	$'1\t0x404f00\t/synthetic/program'
run summary --outside --exe $four.exe $four.core
check 'and text says so' grep -qE '^ +1 +0x404f00 +0x[0-9a-f]+ +/synthetic/program$' "$work/out"
