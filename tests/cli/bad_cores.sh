#!/bin/bash
# Cores that cannot be read, or not all of them: the exact line on stderr, exit 3, and nothing on
# stdout; or exit 4 with what is there when that is asked for.
. tests/cli/lib.sh

cores=tests/fuzz/cores # small ones, made by tests/fuzz/make_core.py
bad=$work/bad.core
supported='supported are 4.13, 4.14 and 5.0 to 5.5'

# says NAME STATUS LINE ARGUMENT...: heapgraph fails so.
says() {
	local name=$1 wanted=$2 line=$3
	shift 3
	refuses "$name" "$wanted" "$@"
	check_equal "$name: what it says" "$(sed 's/^heapgraph: //' "$work/err")" "$line"
}

# patched VERSION OFFSET: a core with stdin written over it there.
patched() {
	cp "$cores/$1.core" "$bad"
	dd of="$bad" bs=1 seek="$2" conv=notrunc status=none
}

# offset_of VERSION SYMBOL: where a variable is in the core; the program's data are at 0x2000.
offset_of() {
	echo $((0x$(nm "$cores/$1.exe" | sed -n "s/^\([0-9a-f]*\) . $2\$/\1/p") - 0x400000))
}

# version_at VERSION TEXT: where the program's data have it in the core.
version_at() {
	grep -obUa "$2" "$cores/$1.core" | head -n 1 | cut -d : -f 1
}

four=$cores/4.13.exe five=$cores/5.3.exe
for version in 4.13 5.3; do
	check_run "control: the core of $version is read" 0 summary --exe "$cores/$version.exe" \
		"$cores/$version.core"
	check "control: $version: sums" bash -c "! grep -q MISMATCH '$work/out'"
	run objects --format csv --exe "$cores/$version.exe" "$cores/$version.core"
	cp "$work/out" "$work/objects-$version"
	zstd -q "$cores/$version.core" -o "$work/$version.core.zst"
	run objects --format csv --exe "$cores/$version.exe" "$work/$version.core.zst"
	check_same "control: the core of $version is read when compressed" "$work/out" \
		"$work/objects-$version"
done
check_equal 'control: blocks of 4.13' "$(wc -l <"$work/objects-4.13")" 12
check_equal 'control: blocks of 5.3' "$(wc -l <"$work/objects-5.3")" 12

# Its runtime has counted nothing, which a reader of a wrong layout could meet.
run info --exe $five $cores/5.3.core
check 'what was found beside what the runtime counts: words of pools' grep -qF \
	'the runtime counts 0 words of pools, but 8192 were found: 8192 too many' "$work/out"
check 'what was found beside what the runtime counts: blocks' grep -qF \
	'the runtime counts 0 blocks in pools, but 7 were found: 7 too many' "$work/out"
run summary --exe $five $cores/5.3.core
check 'what was found beside what the runtime counts: a summary says it' grep -qF \
	'the runtime counts 0 blocks in pools, but 7 were found: 7 too many' "$work/out"
run summary --format json --exe $five $cores/5.3.core
check_equal 'what was found beside what the runtime counts: in JSON, too' \
	"$(jq '[.not_read[].note | select(test("the runtime counts 0 "))] | length' "$work/out")" 2

# Versions
printf '4.12.1' | patched 4.13 "$(version_at 4.13 4.13.1)"
says 'OCaml 4.12' 3 "$bad: 'program' is of OCaml 4.12.1; $supported" summary --exe $four "$bad"
sed 's/camlStdlib__Sys/camlStdlib__sys/' $four >"$work/lower"
says 'OCaml 4.12, whose Stdlib.Sys has another symbol' 3 "$bad: 'program' is of OCaml 4.12.1; \
$supported" summary --exe "$work/lower" "$bad"
sed 's/camlStdlib__Sys/camlStdlib__Fun/' $four >"$work/unsaid"
says 'before 4.13, without Stdlib.Sys' 3 "$bad: 'program' is of OCaml 4.10 to 4.12; $supported" \
	summary --exe "$work/unsaid" "$bad"
printf '5.6.0' | patched 5.3 "$(version_at 5.3 5.3.0)"
says 'OCaml 5.6' 3 "$bad: 'program' is of OCaml 5.6.0; $supported: a newer heapgraph may read it" summary --exe $five "$bad"

# The executable
core=$work/heap.core
cp $cores/4.13.core "$core"
says 'no executable' 3 "$core: the executable of the process, /synthetic/program, is not here; \
name it with --exe" summary "$core"
says 'the executable of another program' 3 "$five: is not the file of the process: its build-id is \
0505050505050505050505050505050505050505, in the core it is \
0404040404040404040404040404040404040404" summary --exe $five "$core"
cp $five "$work/program"
says 'another program in the place of the executable' 3 "$work/program: is not the file of the \
process: its build-id is 0505050505050505050505050505050505050505, in the core it is \
0404040404040404040404040404040404040404" summary "$core"
cp $four "$work/program"
check_run 'the executable beside the core' 0 summary "$core"
mkdir "$work/libraries"
mv "$work/program" "$work/libraries"
check_run 'the executable among the libraries' 0 summary --libraries "$work/libraries" "$core"
says 'an executable that is none' 3 "LICENSE: is not an ELF file, at offset 0" summary \
	--exe LICENSE "$core"
says 'a core as executable' 3 "$core: is neither an executable nor a shared library, at offset 16" \
	summary --exe "$core" "$core"
says 'an executable that is missing' 3 "$work/none: cannot be opened: No such file or directory" \
	summary --exe "$work/none" "$core"
head -c 21000 $four >"$work/cut.exe"
refuses 'an executable that is cut short' 3 summary --exe "$work/cut.exe" "$core"
says 'an executable as core' 3 "$four: is an ELF executable, not a core file, at offset 16" \
	summary --as elfcore --exe $four $four

# Cut short
size=$(wc -c <$cores/4.13.core)
head -c $((size - 3000)) $cores/4.13.core >"$bad"
says 'cut short' 3 "$bad: the core is cut short: the segment at 0x7ffd00000000 is to end at offset \
$size (--partial reads what is there), at offset $((size - 3000))" summary --exe $four "$bad"
check_run 'cut short, --partial: exit status' 4 summary --partial --exe $four "$bad"
check_equal 'cut short, --partial: what it says' "$(head -n 1 "$work/out")" \
	"PARTIAL: the file ends in the middle of the memory of the process, at offset $((size - 3000))"
failed='' statuses='' every=2039
! is_thorough || every=1021
for version in 4.13 5.3; do
	size=$(wc -c <$cores/$version.core)
	for ((cut = 1; cut < size; cut += every)); do
		head -c "$cut" $cores/$version.core >"$bad"
		run summary --as elfcore --exe $cores/$version.exe "$bad"
		[ "$status" -eq 3 ] && one_line && [ ! -s "$work/out" ] || failed="$failed $cut:$status"
		run summary --as elfcore --partial --exe $cores/$version.exe "$bad"
		case $status in
		4) statuses="$statuses 4" ;;
		3) one_line || failed="$failed $cut:partial" ;;
		*) failed="$failed $cut:partial:$status" ;;
		esac
	done
done
check_equal "cut at every ${every}th byte" "$failed" ''
check 'cut: often there is something to see' test "${#statuses}" -gt 25

# Bigarrays that lie.  The one of each core has one dimension of 4096 bytes (uint8, managed) at
# 0x30000000, where there is nothing.
# lies VERSION NAME BYTES FILES DATA DIMENSIONS FLAGS PROXY DIMENSION: what heapgraph then makes of it.
lies() {
	local version=$1 name=$2 wanted="$3 $4" at
	shift 4
	at=$(LC_ALL=C grep -obUaP '\x00\x00\x00\x30\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x03\x02' \
		"$cores/$version.core" | head -n 1 | cut -d : -f 1)
	words "$@" | patched "$version" "$at"
	check_run "$version: a Bigarray $name" 0 summary --format json --exe "$cores/$version.exe" "$bad"
	check_equal "$version: a Bigarray $name: bytes" \
		"$(jq -r '.totals | "\(.offheap_bytes // 0) \(.mapped_file_bytes)"' "$work/out")" "$wanted"
	check_equal "$version: a Bigarray $name: sums" "$(jq '[.reconciliation[]] | all' "$work/out")" true
}
for version in 4.13 5.3; do
	heap=$((0x10000100))
	[ $version = 4.13 ] || heap=$((0x20000000))
	data=$((0x403000))
	lies $version 'that is right' 256 0 $data 1 $((0x203)) 0 256
	lies $version 'of 16 dimensions, of which the block has one' 0 0 $data 16 $((0x203)) 0 256
	lies $version 'of a file' 0 256 $data 1 $((0x403)) 0 256
	lies $version 'of somebody else' 0 0 $data 1 3 0 256
	lies $version 'of no kind' 0 0 $data 1 $((0x2ff)) 0 256
	lies $version 'of more bytes than there are addresses' 0 0 $data 1 $((0x20b)) 0 $((1 << 60))
	lies $version 'that is not mapped' 0 0 $((0x30000000)) 1 $((0x203)) 0 4096
	lies $version 'that is not mapped to its end' 0 0 $data 1 $((0x203)) 0 $((1 << 20))
	lies $version 'in the heap' 0 0 $heap 1 $((0x203)) 0 64
	lies $version 'at the end of all addresses' 0 0 $((-8)) 1 $((0x203)) 0 4096
	lies $version 'whose proxy is nowhere' 256 0 $data 1 $((0x203)) $((0x7ff000)) 256
	lies $version 'whose proxy is itself' 16 0 $((data + 16)) 1 $((0x203)) $((data + 16)) 16
done

# A suspended fiber that only garbage holds: field 5 of the module and field 2 of a young block.
run objects --format csv --exe $five $cores/5.3.core
continuation=$(columns address tag <"$work/out" | sed -n 's/\t245$//p')
escaped=$(word $((continuation)) | od -An -tx1 | tr -d ' \n' | sed 's/../\\x&/g')
sed "s/$escaped/\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00/g" $cores/5.3.core >"$bad"
check_run 'a fiber that only garbage holds' 0 top --by root --format csv --exe $five "$bad"
check_equal 'a fiber that only garbage holds: its row' "$(grep fiber "$work/out")" \
	'stack,"suspended fiber, Prog.f prog.ml:7:2-10",0,0,0,exact,,,0,0'
run objects --format csv --exe $five "$bad"
check_equal 'a fiber that only garbage holds: its continuation' \
	"$(columns tag reachable <"$work/out" | grep '^245')" $'245\t0'

# Headers and notes
printf '\1' | patched 4.13 4
says '32 bits' 3 "$bad: is an ELF file for 32 bits, not for 64 bits, at offset 4" summary \
	--exe $four "$bad"
printf '\2' | patched 4.13 5
says 'big endian' 3 "$bad: is a big-endian ELF file, not a little-endian one, at offset 5" summary \
	--as elfcore --exe $four "$bad"
# foreign CLASS ORDER MACHINE NAME: a core of another machine, two bytes of it in the order of the file.
foreign() {
	printf '%b' "$1$2" | patched 4.13 4
	printf '%b' "$3" | dd of="$bad" bs=1 seek=18 conv=notrunc status=none
	says "a core of $4" 3 "$bad: is for $4; x86-64 and arm64 can be read, at offset 18" summary \
		--as elfcore --exe $four "$bad"
}
foreign '\02' '\01' '\0363\0' RISC-V
foreign '\02' '\01' '\025\0' POWER
foreign '\02' '\02' '\0\025' POWER
foreign '\02' '\02' '\0\026' 'IBM Z'
foreign '\01' '\01' '\03\0' i386
foreign '\01' '\01' '\050\0' '32-bit ARM'
printf '\377\177' | patched 4.13 18
says 'a machine without a name' 3 "$bad: is for machine 32767; x86-64 and arm64 can be read, at \
offset 18" summary --exe $four "$bad"
printf '\267' | patched 4.13 18
says 'notes of another machine' 3 "$bad: note on a thread has 336 bytes, not 392, at offset 456" \
	summary --exe $four "$bad"
cp $four "$work/arm64.exe"
printf '\267' | dd of="$work/arm64.exe" bs=1 seek=18 conv=notrunc status=none
says 'an executable of another machine' 3 "$work/arm64.exe: is not the file of the process: it is for \
arm64, the core is of x86-64, at offset 18" summary --exe "$work/arm64.exe" $cores/4.13.core
printf '\377' | patched 4.13 57
refuses 'program headers past the end' 3 offset summary --exe $four "$bad"
word 0x7fff00000000 | patched 4.13 $((64 + 2 * 56 + 40))
says 'a segment over others' 3 "$bad: segments overlap: 0x10000000 lies in the one at 0x402000, at \
offset 20480" summary --exe $four "$bad"
word -4096 | patched 4.13 $((64 + 2 * 56 + 16))
word -1 | dd of="$bad" bs=1 seek=$((64 + 2 * 56 + 40)) conv=notrunc status=none
says 'a segment around the end of the address space' 3 "$bad: segment at 0xfffffffffffff000 wraps \
around, at offset 176" summary --exe $four "$bad"
notes=$((64 + 7 * 56))
word -1 | patched 4.13 $notes
refuses 'a note of 2^32 bytes' 3 offset summary --exe $four "$bad"
word 0x700000005 | patched 4.13 $((notes + 4))
refuses 'a note on a thread of another kind' 3 summary --exe $four "$bad"

# What the runtime says: the rest is read, or it is said why not.
word 0 | patched 4.13 "$(offset_of 4.13 Caml_state)"
says '4.13: not started' 3 "$bad: the OCaml runtime of 'program' has not started, or its data are \
missing" summary --exe $four "$bad"
word 0 | patched 5.3 $(($(offset_of 5.3 stw_domains)))
check_run '5.3: without its list of domains' 0 summary --exe $five "$bad"
# Of the values one in five, of each variable others, unless all are wanted.
failed='' tried=0
for version in 4.13 5.3; do
	for name in caml_data_segments caml_code_segments caml_globals caml_frametable caml_heap_start \
		caml_ephe_list_head curr_thread entries_global to_do_hd named_value_table \
		caml_global_roots finalisable_first caml_page_table stw_domains pool_freelist \
		thread_table orphans orph_structs current_frame_descrs code_fragments_by_pc; do
		at=$(offset_of $version $name)
		[ "$at" -gt 0 ] || continue
		for value in -1 1 $((0x402000)) $((0x7ffd00000000)) $((1 << 47)) $((1 << 39)); do
			for second in "$value" 0x7ffffffff000; do
				tried=$((tried + 1))
				is_thorough || [ $((tried % 5)) -eq 0 ] || continue
				words "$value" $((second)) | patched $version "$at"
				run summary --max-memory 256M --exe $cores/$version.exe "$bad"
				case $status in
				0) ! grep -q MISMATCH "$work/out" || failed="$failed $name=$value:sums" ;;
				3 | 5) one_line || failed="$failed $name=$value:lines" ;;
				*) failed="$failed $name=$value:$status" ;;
				esac
			done
		done
	done
done
check_equal 'variables of the runtime that lie' "$failed" ''

# The minor heap's segment begins at 0xf800 instead, where no heap can be: a field of the module
# leads to a static block there, whose header is at 0xfff8.
run objects --format csv --exe $five $cores/5.3.core
grep -v ,minor, "$work/out" | columns address >"$work/without-minor"
words $((0x10000)) | patched 5.3 $(($(offset_of 5.3 camlProg) + 16))
words $((0xf800)) $((0xf800)) | dd of="$bad" bs=1 seek=$((64 + 4 * 56 + 16)) conv=notrunc status=none
words $((1 << 10 | 3 << 8)) 1 | dd of="$bad" bs=1 seek=$((0x18000 + 0x7f8)) conv=notrunc status=none
run objects --format csv --exe $five "$bad"
check_equal 'a static block where no heap can be is none' "$(columns address <"$work/out")" \
	"$(cat "$work/without-minor")"

# The stack becomes 64 TiB of memory without bytes, and says so of the heap's only chunk.
word $((1 << 46)) | patched 4.13 $((64 + 6 * 56 + 40))
words 0 0 $((1 << 45)) 0 | dd of="$bad" bs=1 seek=$((0x5000 + 0x100 - 48)) conv=notrunc status=none
if is_sanitized; then
	skip 'a heap of 32 TiB costs nothing' 'AddressSanitizer needs address space'
elif is_emulated; then
	skip 'a heap of 32 TiB costs nothing' 'qemu-user needs address space'
else
	check 'a heap of 32 TiB costs nothing' bash -c "ulimit -v 400000; \
		'$hg' summary --max-memory 64M --exe $four '$bad'"
fi

# Programs that are not of ocamlopt: symbols are given names of the same length.
cp $cores/4.13.core "$bad"
sed 's/[cC]aml/cxml/g' $four >"$work/cxx"
says 'no symbol of OCaml' 3 "$bad: 'program' is no OCaml program: it has no symbol of the OCaml \
runtime, and no tables of OCaml code" summary --exe "$work/cxx" "$bad"
sed 's/caml_frametable/caml_interprete/' $four >"$work/bytecode"
says 'an interpreter without bytecode' 3 "$bad: 'program' interprets bytecode, but has loaded \
none: not started, or its data are missing" summary --exe "$work/bytecode" "$bad"
sed 's/Caml_state/Camm_state/' $four >"$work/old"
says 'before 4.10' 3 "$bad: 'program' is of an OCaml before 4.10; $supported" summary \
	--exe "$work/old" "$bad"
sed 's/caml_sys_const_max_wosize/caml_sys_const_max_wosizf/' $four >"$work/layout"
says 'an unknown layout of headers' 3 "$bad: the layout of headers cannot be told: \
caml_sys_const_max_wosize is missing" summary --exe "$work/layout" "$bad"
cp $four "$work/stripped"
word 0 | dd of="$work/stripped" bs=1 seek=40 conv=notrunc status=none
printf '\0\0\0\0' | dd of="$work/stripped" bs=1 seek=60 conv=notrunc status=none
says 'static and stripped, without tables' 3 "$bad: 'program' is no OCaml program: it has no symbol \
of the OCaml runtime, and no tables of OCaml code" summary --exe "$work/stripped" "$bad"

# The same with real programs.
# dumped NAME COMMAND...: a core of a program that waits for its input, by gdb.
dumped() {
	local name=$1 process
	shift
	rm -f "$work/in"
	mkfifo "$work/in"
	: >"$work/said" # READY of an earlier one does not count
	"$@" <"$work/in" >"$work/said" 2>&1 &
	process=$!
	exec 3>"$work/in"
	until grep -q READY "$work/said" || ! kill -0 "$process"; do
		sleep 0.05
	done
	gcore -o "$work/$name" "$process" >"$work/gcore.out" 2>&1
	exec 3>&-
	wait "$process" || true
	mv "$work/$name.$process" "$work/$name.core"
}

cat >"$work/plain.c" <<'END'
#include <stdio.h>
int main(void)
{
	puts("READY");
	fflush(stdout);
	return getchar() == 'x';
}
END
cat >"$work/program.ml" <<'END'
let () =
  print_endline "READY";
  try ignore (read_line ()) with End_of_file -> ()
END
if ! command -v gcore >/dev/null || ! ${CC:-cc} -o "$work/plain" "$work/plain.c" ||
	! dumped plain "$work/plain"; then
	skip 'real programs' 'no gcore here'
else
	says 'a program in C' 3 "$work/plain.core: 'plain' is no OCaml program: it has no symbol of the \
OCaml runtime, and no tables of OCaml code" summary "$work/plain.core"
	if ${CC:-cc} -static -s -o "$work/static" "$work/plain.c" && dumped static "$work/static"; then
		says 'a static and stripped program in C' 3 "$work/static.core: 'static' is no OCaml \
program: it has no symbol of the OCaml runtime, and no tables of OCaml code" summary "$work/static.core"
	fi
	if ! command -v ocamlc >/dev/null; then
		skip 'real bytecode' 'no ocamlc'
	else
		echo 'let () = print_endline "other"' >"$work/other.ml"
		(cd "$work" && ocamlc -o script program.ml && ocamlc -o other other.ml)
		dumped script ocamlrun "$work/script"
		refuses 'bytecode of another program' 3 summary --exe "$work/other" "$work/script.core"
		check 'bytecode of another program: says which' grep -q \
			"^heapgraph: $work/other: is not the bytecode of the process" "$work/err"
	fi
fi
