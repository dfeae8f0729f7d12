#!/bin/bash
# Cores of programs that said what is true of them, of OCaml 5.4 and 5.5 and of arm64: a folder for each
# version.
. tests/cli/lib.sh

versions=../shared/data/versions

# printed NAME: a number that the program said.
printed() {
	sed -n "s/^$1 //p" "$truth"
}

# Declared types that the program has so many values of; New54.point is a tuple.
check_counts() {
	local type count counted
	run top --limit 0 --format csv "${options[@]}" "$1"
	columns type blocks <"$work/out" >"$work/types"
	while read -r _ type count; do
		counted=$(awk -F '\t' -v type="$type" '$1 == type { print $2 }' "$work/types")
		check_equal "$name: blocks of $type" "$counted" "$count"
	done < <(grep -E '^truth [A-Z][A-Za-z0-9]*\.[A-Za-z0-9.]+ [0-9]+$' "$truth" | grep -v New54.point)
}

# check_sample FOLDER PROGRAM
check_sample() {
	local core=$1/$2.core.zst options=()
	name=${1##*/}/$2
	truth=$1/$2.truth
	[ -e "$truth" ] || truth=$1/c_$2.truth
	[ ! -e "$1/$2.exe.zst" ] || options+=(--exe "$1/$2.exe.zst")
	[ ! -d "$1/lib" ] || options+=(--libraries "$1/lib")
	[ ! -e "$1/$2.exe.prof.zst" ] || options+=(--prof "$1/$2.exe.prof.zst")
	summarize "$name" "${options[@]}" "$core"
	check_equal "$name: version" "$(jq -r .snapshot.ocaml_version "$work/summary")" "$(printed version)"
	check_equal "$name: live blocks" "$(total live_blocks)" "$(printed live_blocks)"
	check_equal "$name: live words" "$(total live_words)" "$(printed live_words)"
	check_equal "$name: heap bytes" "$(total heap_bytes)" $((8 * $(printed heap_words)))
	run info --format json "${options[@]}" "$core"
	check_equal "$name: what could not be read" "$(jq -r '.not_read[]?.note' "$work/out")" ''
	[ -e "$1/$2.exe.prof.zst" ] || return 0
	check_equal "$name: 99 % of blocks have a type" \
		"$(jq '.totals | .typed_blocks >= (.blocks - .memprof_blocks) * 0.99' "$work/summary")" true
	check_counts "$core"
}

if [ ! -d "$versions" ]; then
	skip 'cores of 5.4, 5.5 and arm64' "none in $versions"
	exit 0
fi
for core in "$versions"/[0-9]*/*.core.zst "$versions"/aarch64-*/*.core.zst; do
	check_sample "$(dirname "$core")" "$(basename "$core" .core.zst)"
done
