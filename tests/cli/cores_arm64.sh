#!/bin/bash
# Small cores of arm64 (tests/fixtures/arm64/make): what the program said of itself, its
# stacks, and the same without the symbols that stripping takes.
. tests/cli/lib.sh

check_arm64() {
	name=$(basename "$1" .core.zst)
	truth=${1%.core.zst}.txt
	local exe=${1%.core.zst}.exe.zst
	summarize "$name" --exe "$exe" "$1"
	check_equal "$name: version" "arm64-$(jq -r .snapshot.ocaml_version "$work/summary")" "$name"
	check_statistics
	run top --by root --format csv --exe "$exe" "$1"
	check_equal "$name: slots of the stack, with file and line" \
		"$(columns name bytes <"$work/out" | sed -n 's/^Tiny.wait tiny.ml:26:26-47\[0\]\t//p' | xargs)" \
		'24 24 24 24 24'
	run objects --format csv --exe "$exe" "$1"
	columns segment reachable <"$work/out" >"$work/blocks"
	check_equal "$name: blocks of the heap that are not reached" \
		"$(awk '$1 == "heap" && $2 == 0' "$work/blocks")" ''
}

for core in "$fixtures"/arm64/arm64-*.core.zst; do
	check_arm64 "$core"
done

# In a C function that does not allocate, the stack pointer of OCaml code is in a register, which is another
# one since 5.4; what hangs from there is young.
for core in "$fixtures"/arm64/noalloc-*.core.zst; do
	name=$(basename "$core" .core.zst)
	run objects --format csv --exe "${core%.core.zst}.exe.zst" "$core"
	check_equal "$name: blocks that only the stack holds" \
		"$(columns tag words segment reachable <"$work/out" |
			awk '$1 == 0 && $2 == 4 && $3 == "minor" && $4 == 1' | wc -l)" 100
done

# The executable of another machine is none of the process.
refuses 'the executable of another machine' 3 summary --exe tests/fuzz/cores/5.3.exe "$core"
check 'the executable of another machine: it is said' grep -q \
	'is not the file of the process: it is for x86-64, the core is of arm64' "$work/err"
