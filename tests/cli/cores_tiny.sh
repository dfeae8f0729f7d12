#!/bin/bash
# Two small cores of a program that said what is true of itself (tests/fixtures/cores): read without
# anything beside them, as they hold the parts of the executable that are needed.
. tests/cli/lib.sh

# root NAME COLUMN: of the roots of that name, a line each.
root() {
	columns name "$2" <"$work/roots" | awk -F '\t' -v name="$1" '$1 == name { print $2 }'
}

# The table and the list of handlers each hang on a reference, a block of a word, in the module; the
# handlers hold nothing of the table.
check_module() {
	local retained
	retained=$(columns name retained_bytes <"$work/roots" | sed -nE 's/^Tiny\[[0-9]+\]\t//p')
	for value in table handlers; do
		check "$name: $value, retained by its global" \
			grep -qx $((8 * ($(said REACH $value) + 2))) <<<"$retained"
	done
}

check_core() {
	name=$(basename "$1" .core.zst)
	truth=${1%.core.zst}.txt
	summarize "$name" "$1"
	run top --by root --format csv "$1"
	cp "$work/out" "$work/roots"
	check_equal "$name: version" "tiny-$(jq -r .snapshot.ocaml_version "$work/summary")" "$name"
	check_statistics
	check_module
	check_equal "$name: slots of the stack" "$(root 'Tiny.wait tiny.ml:26:26-47[0]' bytes | xargs)" \
		'24 24 24 24 24'
	run objects --format csv "$1"
	columns tag address segment reachable words <"$work/out" >"$work/blocks"
	check_equal "$name: blocks of the heap that are not reached" \
		"$(awk '$3 == "heap" && $4 == 0' "$work/blocks")" ''
	check_handler "$1"
}

# A closure of fill: its code has a name, its environment is the integer.
check_handler() {
	local address
	awk '$1 == 247 && $3 == "heap" { print $2 }' "$work/blocks" >"$work/addresses"
	while read -r address; do
		run object "$address" "$1"
		cat "$work/out"
	done <"$work/addresses" >"$work/closures"
	check_equal "$name: code of the handlers" "$(grep -c ' Tiny.\(fun\|(fun)\)' "$work/closures")" 20
}

for core in "$fixtures"/cores/tiny-*.core.zst; do
	check_core "$core"
done

# Capstone is loaded for cores alone.
mkdir "$work/libraries"
for version in 3 4 5 6; do
	: >"$work/libraries/libcapstone.so.$version"
done
export LD_LIBRARY_PATH=$work/libraries
check_run 'without Capstone: a dump' 0 summary "$cache0"
refuses 'without Capstone: a core' 5 summary "$core"
check 'without Capstone: it is said' grep -q \
	'the library that reads machine code, Capstone, cannot be loaded: .*libcapstone' "$work/err"
